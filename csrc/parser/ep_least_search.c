/* ep_least_search: the least length of the members that a bag with conditions still asks for.
 *
 * A way that meets a condition may be more expensive than another, so the greedy length (ep_least_bag.c) is only a lower bound, and the
 * members are found by a search (A*) over the counts. Each member but the first raises something that is missing, so the search ends, also
 * where a condition cannot be met: during the passes of ep_least.c, while no text is known of what would. The order of members does not
 * matter: by rank, they are written in that order. Of ways that differ in nothing but that each may come once, as listed values do, the
 * cheaper ones go first: else all sets of them would be tried. So do values that several positions of an array share, of those that may
 * stand at the same ones: else all ways to give some to the positions would be. */
#include "ep_costs.h"

enum { PLACE_WORK = 4 }; /* of a place of a search, besides its ways */

typedef struct bag_place { /* counts, then `used` of each way, then whether a member must come in any case, are interned */
    u32 length;   /* of the members that lead here */
    u32 expected; /* with a lower bound of those that follow; NONE: all of this has been looked at */
    u32 next;     /* way that is to be tried */
} bag_place;

/* a place that was reached, and what was expected then: more is known of it, or it is done, where that is no longer so */
typedef struct bag_open {
    u32 expected, state;
} bag_open;

typedef struct bag_search {
    intern_table states;
    VEC(bag_place) places; /* by state */
    VEC(bag_open) open;    /* a heap */
    VEC(u32) words;        /* scratch: a state */
} bag_search;

/* The least expected goes first; of equals the newest, which has the most members. */
static bool goes_first(bag_open a, bag_open b) { return a.expected != b.expected ? a.expected < b.expected : a.state > b.state; }

static bool push_open(ep_parser *p, bag_search *s, u32 state) {
    bag_open added = {s->places.at[state].expected, state};
    if (added.expected == RX_NO_LENGTH) return true;
    if (!vec_push(p->b, &s->open, added)) return false;
    u32 at = s->open.n - 1;
    for (; at && goes_first(added, s->open.at[(at - 1) / 2]); at = (at - 1) / 2) s->open.at[at] = s->open.at[(at - 1) / 2];
    s->open.at[at] = added;
    return true;
}

static void pop_open(bag_search *s) {
    bag_open last = s->open.at[--s->open.n];
    u32 at = 0, n = s->open.n;
    for (u32 child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && goes_first(s->open.at[child + 1], s->open.at[child]);
        if (!goes_first(s->open.at[child], last)) break;
        s->open.at[at] = s->open.at[child];
    }
    s->open.at[at] = last;
}

/* The place that is gone on from. NONE: there is none. */
static u32 best_place(bag_search *s) {
    while (s->open.n && s->places.at[s->open.at[0].state].expected != s->open.at[0].expected) pop_open(s);
    return s->open.n ? s->open.at[0].state : NONE;
}

/* *to = the place of the state in `words`, to which members of this length lead. */
static bool reach_counts(ep_parser *p, ep_bag_costs *c, bag_search *s, u32 length, u32 *to) {
    u32 n = c->bag->n_words;
    bool fresh;
    *to = vec_reserve(p->b, &s->places, 1) ? intern(p->b, &s->states, s->words.at, s->words.n, &fresh) : NONE;
    if (*to == NONE) return false;
    if (fresh) s->places.at[s->places.n++] = (bag_place){RX_NO_LENGTH, NONE, 0};
    if (s->places.at[*to].length <= length) return true;
    for (u32 way = 0; way < c->bag->n_ways; way++) c->ways.at[way].used = s->words.at[n + way];
    u32 rest = ep_greedy_length(p, c, s->words.at, s->words.at[n + c->bag->n_ways]);
    s->places.at[*to] = (bag_place){length, rx_add_lengths(length, rest), 0};
    return p->b->status == GE_OK && budget_work(p->b, PLACE_WORK + c->bag->n_ways) && push_open(p, s, *to);
}

static void load_state(bag_search *s, u32 state) { memcpy(s->words.at, intern_words(&s->states, state), s->words.n * sizeof *s->words.at); }

typedef struct alike_way { /* a way that may come once, and what else it does */
    const u32 *slots; /* n: those beside its own */
    u32 n, rank, length, way;
} alike_way;

static int compare_what_else(const alike_way *a, const alike_way *b) {
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    return memcmp(a->slots, b->slots, a->n * sizeof *a->slots);
}

static int compare_alike(const void *left, const void *right) {
    const alike_way *a = left, *b = right;
    int what_else = compare_what_else(a, b);
    if (what_else) return what_else;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return a->way < b->way ? -1 : 1;
}

typedef struct value_taker { /* a way to write a value that several positions share: its position, and what it costs there */
    u32 own, rank, length, way;
} value_taker;

typedef struct shared_value {
    const value_taker *takers;
    u32 n, slot; /* which may be raised once, and is the own one of no way */
} shared_value;

static int compare_positions(const shared_value *a, const shared_value *b) {
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (u32 i = 0; i < a->n; i++) {
        if (a->takers[i].own != b->takers[i].own) return a->takers[i].own < b->takers[i].own ? -1 : 1;
        if (a->takers[i].rank != b->takers[i].rank) return a->takers[i].rank < b->takers[i].rank ? -1 : 1;
    }
    return 0;
}

static int compare_values(const void *left, const void *right) {
    const shared_value *a = left, *b = right;
    int positions = compare_positions(a, b);
    if (positions) return positions;
    for (u32 i = 0; i < a->n; i++)
        if (a->takers[i].length != b->takers[i].length) return a->takers[i].length < b->takers[i].length ? -1 : 1;
    return a->slot < b->slot ? -1 : 1;
}

/* Values that may stand at the same positions, the first of which costs no more at any. */
static bool is_no_dearer(const shared_value *a, const shared_value *b) {
    bool before = compare_positions(a, b) == 0;
    for (u32 i = 0; before && i < a->n; i++) before = a->takers[i].length <= b->takers[i].length;
    return before;
}

/* Of values that may stand at the same positions each gets the one before it. An array that has a value without the one before it costs no
 * less than with that one instead; and of the members of the others those with the values before may be looked for first. `c->left`: how
 * many ways have a slot as their own. */
static bool order_values(ep_parser *p, ep_bag_costs *c) {
    const gr_bag *bag = c->bag;
    VEC(value_taker) takers = {0};
    VEC(shared_value) values = {0};
    id_vec ends = {0}; /* by slot: how many ways raise it beside their own; then, where these end among the takers. NONE: it is no value */
    bool ok = vec_reserve(p->b, &takers, bag->n_ways) && vec_reserve(p->b, &values, bag->n_slots) && vec_reserve(p->b, &ends, bag->n_slots);
    for (u32 i = 0; ok && i < bag->n_slots; i++) {
        gr_slot slot = p->g->slots.at[bag->slots + i];
        ends.at[i] = slot.minimum || slot.maximum != 1 || c->left.at[i] || i == bag->total ? NONE : 0;
    }
    for (u32 way = 0; ok && way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        for (u32 k = 1; k < w.n_slots && !(w.flags & GR_DEAD); k++) {
            u32 *n = &ends.at[p->g->bag_words.at[w.slots + k]];
            if (w.n_slots > 2 || w.flags & GR_DISTINCT) *n = NONE;
            else if (*n != NONE) ++*n;
        }
    }
    for (u32 i = 0; ok && i < bag->n_slots; i++) {
        if (ends.at[i] == NONE || !ends.at[i]) continue;
        values.at[values.n++] = (shared_value){takers.at + takers.n, ends.at[i], i};
        ends.at[i] = takers.n;
        takers.n += values.at[values.n - 1].n;
    }
    for (u32 way = 0; values.n && way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        u32 slot = w.n_slots == 2 && !(w.flags & GR_DEAD) ? p->g->bag_words.at[w.slots + 1] : NONE;
        if (slot == NONE || ends.at[slot] == NONE) continue;
        takers.at[ends.at[slot]++] = (value_taker){ep_own_slot(p, c, way), w.rank, c->ways.at[way].length, way};
    }
    if (values.n) qsort(values.at, values.n, sizeof *values.at, compare_values);
    for (u32 i = 1; i < values.n; i++)
        for (u32 k = 0; k < values.at[i].n && is_no_dearer(&values.at[i - 1], &values.at[i]); k++)
            c->ways.at[values.at[i].takers[k].way].before = values.at[i - 1].slot;
    vec_drop(p->b, &takers);
    vec_drop(p->b, &values);
    vec_drop(p->b, &ends);
    return ok;
}

/* Of ways that are alike each gets the one before it in the order of their lengths. Not where keys ask for others, which tells them
 * apart. */
static bool order_alike(ep_parser *p, ep_bag_costs *c) {
    const gr_bag *bag = c->bag;
    VEC(alike_way) ways = {0};
    if (bag->n_mark_words > bag->n_bit_words) return true;
    for (u32 i = 0; i < bag->n_slots; i++) c->left.at[i] = 0; /* how many ways have it as their own */
    for (u32 way = 0; way < bag->n_ways; way++) c->left.at[ep_own_slot(p, c, way)]++;
    bool ok = vec_reserve(p->b, &ways, bag->n_ways);
    for (u32 way = 0; ok && way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        gr_slot own = p->g->slots.at[bag->slots + ep_own_slot(p, c, way)];
        if (w.flags & (GR_DISTINCT | GR_DEAD) || own.minimum || own.maximum != 1 || c->left.at[ep_own_slot(p, c, way)] != 1) continue;
        ways.at[ways.n++] = (alike_way){p->g->bag_words.at + w.slots + 1, w.n_slots - 1, w.rank, c->ways.at[way].length, way};
    }
    if (ways.n) qsort(ways.at, ways.n, sizeof *ways.at, compare_alike);
    for (u32 i = 1; ok && i < ways.n; i++)
        if (compare_what_else(&ways.at[i - 1], &ways.at[i]) == 0) c->ways.at[ways.at[i].way].before = ep_own_slot(p, c, ways.at[i - 1].way);
    vec_drop(p->b, &ways);
    return ok && order_values(p, c);
}

/* One more member, by a way. *to: NONE if it is not allowed, or not needed. */
static bool reach_by(ep_parser *p, ep_bag_costs *c, bag_search *s, u32 state, u32 way, u32 *to) {
    u32 n = c->bag->n_words, n_ways = c->bag->n_ways, group = c->ways.at[way].group, of_way = c->ways.at[way].rest,
        before = c->ways.at[way].before;
    *to = NONE;
    load_state(s, state);
    if (before != NONE && !gr_bag_count(c->bag, &p->g->slots.at[c->bag->slots + before], s->words.at)) return true;
    bool first = s->words.at[n + n_ways];
    if (!gr_bag_admits(p->g, c->bag, s->words.at, c->rank, c->bag->ways + way)) return true;
    if (!first && !gr_bag_lacks(p->g, c->bag, s->words.at, c->bag->ways + way)) return true; /* without it the rest is as good */
    if (ep_is_distinct(p, c, way)) {
        c->ways.at[group].used = s->words.at[n + group];
        if (!ep_price_group(p, c, group)) return false;
        of_way = c->ways.at[way].length;
        s->words.at[n + group] = c->ways.at[group].used + 1;
    }
    if (of_way == RX_NO_LENGTH) return true;
    gr_bag_raise(p->g, c->bag, s->words.at, c->bag->ways + way);
    s->words.at[n + n_ways] = false;
    return reach_counts(p, c, s, rx_add_lengths(s->places.at[state].length, of_way), to);
}

/* Tries the ways from a place until one leads to where no more is expected: that is gone on from first, since many ways cost the same. */
static bool try_ways(ep_parser *p, ep_bag_costs *c, bag_search *s, u32 state) {
    u32 expected = s->places.at[state].expected, to;
    for (u32 way; (way = s->places.at[state].next) < c->bag->n_ways;) {
        s->places.at[state].next++;
        if (!reach_by(p, c, s, state, way, &to)) return false;
        if (to != NONE && s->places.at[to].expected <= expected) return true;
    }
    s->places.at[state].expected = NONE;
    return true;
}

u32 ep_search_members(ep_parser *p, ep_bag_costs *c, const u32 *counts, bool one) {
    bag_search s = {0};
    u32 n = c->bag->n_words, n_ways = c->bag->n_ways, found = RX_NO_LENGTH, state;
    bool ok = vec_reserve(p->b, &s.words, n + n_ways + 1) && order_alike(p, c);
    if (ok) {
        memcpy(s.words.at, counts, n * sizeof *counts);
        memset(s.words.at + n, 0, n_ways * sizeof *counts);
        s.words.at[n + n_ways] = one; /* a first member may raise nothing: then the counts are as they were */
        s.words.n = n + n_ways + 1;
        ok = reach_counts(p, c, &s, 0, &state);
    }
    while (ok && found == RX_NO_LENGTH && (state = best_place(&s)) != NONE) {
        load_state(&s, state);
        if (!s.words.at[n + n_ways] && gr_bag_is_finished(p->g, c->bag, s.words.at)) found = s.places.at[state].length;
        else ok = try_ways(p, c, &s, state);
    }
    intern_drop(p->b, &s.states);
    vec_drop(p->b, &s.places);
    vec_drop(p->b, &s.open);
    vec_drop(p->b, &s.words);
    return ok ? found : RX_NO_LENGTH;
}
