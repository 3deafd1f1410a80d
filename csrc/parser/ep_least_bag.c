/* ep_least_bag: the least length of the members that a bag still asks for.
 *
 * Greedy. A slot takes the cheapest of its ways, again and again: first until nothing is missing, then, over all slots that have room,
 * until the total is reached. A way always costs the same, but for distinct ones, whose values cost more and more (lx_cheapest). So costs
 * never fall, and greedy is exact. Distinct ways with one lexeme are a *group*, which takes from one list of values; those of several slots
 * only if these have no other ways, else it would matter which slot takes which. Groups that have values in common, as positions of an
 * array may, are priced as if they had not, but for the first value of each, which all but one have to do without: then all lengths are
 * lower bounds (`least_is_bound`).
 *
 * Conditions. A way that meets one may be more expensive than another, so the greedy length is only a lower bound, and the members are
 * found by a search (A*) over the counts. Each member but the first raises something that is missing, so the search ends, also where a
 * condition cannot be met: during the passes of ep_least.c, while no text is known of what would. The order of members does not matter: by
 * rank, they are written in that order. Of ways that differ in nothing but that each may come once, as listed values do, the cheaper ones
 * go first: else all sets of them would be tried. */
#include "../grammar/gr_bag.h"
#include "ep_parts.h"

typedef struct bag_way {
    u32 length;  /* of the next member of this way, its separator included */
    u32 rest;    /* ... without the distinct value */
    u32 group;   /* the first way of its group */
    u32 used;    /* values of that lexeme that are taken or passed over; of the group's way */
    u32 value;   /* the next one; of the group's way */
    /* the one that was the next at first, and the length of a member with it; NONE: it has not been taken. Of the group's way */
    u32 first, first_length;
    u32 before;  /* in a search: a way that does the same, may come once, and costs no more: it goes first. NONE: there is none */
    bool open;   /* no bound forbids it now */
} bag_way;

typedef struct bag_costs {
    const gr_bag *bag;
    u32 values; /* set of those that are taken */
    u32 rank;
    VEC(bag_way) ways;
    VEC(u32) best; /* by slot: the cheapest way that has it as its own, or NONE */
    VEC(u32) left; /* by slot: members that it has room for */
} bag_costs;

enum {
    COMMON_PART = 256, /* part of the work of an operation for the question whether two lexemes have values in common */
    PLACE_WORK = 4,    /* of a place of a search, besides its ways */
    MANY_GROUPS = 64   /* distinct lexemes of a bag: of more it is not asked */
};

enum { NOT_ASKED, APART, COMMON }; /* of a bag: have its distinct lexemes values in common? */

static bool is_distinct(const ep_parser *p, const bag_costs *c, u32 way) { return p->g->ways.at[c->bag->ways + way].flags & GR_DISTINCT; }

static u32 lexeme_of(const ep_parser *p, const bag_costs *c, u32 way) {
    return p->g->bag_words.at[p->g->ways.at[c->bag->ways + way].symbols] >> 1;
}
static u32 own_slot(const ep_parser *p, const bag_costs *c, u32 way) { return p->g->bag_words.at[p->g->ways.at[c->bag->ways + way].slots]; }

/* The lengths of all ways of a group, whose first value that is not taken is looked for from `used` on. */
static bool price_group(ep_parser *p, bag_costs *c, u32 group) {
    u32 lexeme = lexeme_of(p, c, group);
    lx_cheap value;
    for (bag_way *first = &c->ways.at[group];; first->used++) {
        if (!lx_cheapest(p->lx, lexeme, first->used, &value)) return false;
        if (value.length == RX_NO_LENGTH || !lx_values_have(p->lx, c->values, value.value)) break;
    }
    c->ways.at[group].value = value.value;
    for (u32 way = group; way < c->bag->n_ways; way++)
        if (c->ways.at[way].group == group) c->ways.at[way].length = rx_add_lengths(c->ways.at[way].rest, value.length);
    return true;
}

/* Does another way have the lexeme of a distinct one, and another own slot? */
static bool spans_slots(const ep_parser *p, const bag_costs *c, u32 group) {
    for (u32 way = group; way < c->bag->n_ways; way++)
        if (c->ways.at[way].group == group && own_slot(p, c, way) != own_slot(p, c, group)) return true;
    return false;
}

static void find_best(const ep_parser *p, bag_costs *c, u32 slot) { /* NONE: of all slots */
    for (u32 i = 0; i < c->bag->n_slots; i++)
        if (slot == NONE || slot == i) c->best.at[i] = NONE;
    for (u32 way = 0; way < c->bag->n_ways; way++) {
        u32 own = own_slot(p, c, way);
        if (!c->ways.at[way].open || (slot != NONE && slot != own)) continue;
        u32 *best = &c->best.at[own];
        if (*best == NONE || c->ways.at[way].length < c->ways.at[*best].length) *best = way;
    }
}

/* Has the slot of a distinct way another way, with another lexeme? */
static bool has_alternative(const ep_parser *p, const bag_costs *c, u32 way) {
    for (u32 other = 0; other < c->bag->n_ways; other++) {
        bool is_same = is_distinct(p, c, other) && lexeme_of(p, c, other) == lexeme_of(p, c, way);
        if (!is_same && own_slot(p, c, other) == own_slot(p, c, way) && !(p->g->ways.at[c->bag->ways + other].flags & GR_DEAD)) return true;
    }
    return false;
}

static bool take_from_one_list(const ep_parser *p, const bag_costs *c, u32 way, u32 other) {
    if (!is_distinct(p, c, way) || !is_distinct(p, c, other) || lexeme_of(p, c, way) != lexeme_of(p, c, other)) return false;
    return own_slot(p, c, way) == own_slot(p, c, other) || (!has_alternative(p, c, way) && !has_alternative(p, c, other));
}

static bool is_first_of_group(const ep_parser *p, const bag_costs *c, u32 way) {
    return is_distinct(p, c, way) && c->ways.at[way].group == way && !(p->g->ways.at[c->bag->ways + way].flags & GR_DEAD);
}

/* Errs towards yes, if it takes long to tell. */
static bool have_values_in_common(ep_parser *p, u32 lexeme, u32 other) {
    rx_arena *x = &p->lx->x;
    budget_part part = budget_begin_part(p->b, p->b->limits.max_step_work / COMMON_PART);
    rx_id both = rx_and(x, (rx_id[]){p->lx->lexemes.at[lexeme].expr, p->lx->lexemes.at[other].expr}, 2);
    bool is_empty = both != NONE && rx_is_empty(x, both);
    return budget_end_part(p->b, part) || !is_empty;
}

/* Notes that lengths are lower bounds, if distinct ways of the bag with several lexemes have values in common. Asked once for each bag. */
static bool note_common_values(ep_parser *p, const bag_costs *c) {
    u32 bag = (u32)(c->bag - p->g->bags.at), n_groups = 0;
    bool common = false;
    while (p->common.n <= bag)
        if (!vec_push(p->b, &p->common, NOT_ASKED)) return false;
    if (p->common.at[bag] != NOT_ASKED) return true;
    for (u32 a = 0; a < c->bag->n_ways && !common; a++) {
        if (!is_first_of_group(p, c, a)) continue;
        common = ++n_groups > MANY_GROUPS;
        for (u32 b = 0; b < a && !common; b++)
            common = is_first_of_group(p, c, b) && have_values_in_common(p, lexeme_of(p, c, a), lexeme_of(p, c, b));
    }
    if (p->b->status != GE_OK) return false;
    p->common.at[bag] = common ? COMMON : APART;
    p->least_is_bound |= common;
    return true;
}

static bool begin_costs(ep_parser *p, bag_costs *c) {
    const gr_bag *bag = c->bag;
    u32 separator = bag->separator == NONE ? 0 : ep_least_symbol(p, bag->separator);
    if (!vec_reserve(p->b, &c->ways, bag->n_ways) || !vec_reserve(p->b, &c->best, bag->n_slots) ||
        !vec_reserve(p->b, &c->left, bag->n_slots))
        return false;
    for (u32 way = 0; way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        bag_way made = {.rest = separator, .group = way, .first = NONE, .before = NONE};
        const u32 *symbols = p->g->bag_words.at + w.symbols;
        bool distinct = w.flags & GR_DISTINCT;
        if (w.flags & GR_DEAD) distinct = false, made.rest = RX_NO_LENGTH;
        for (u32 k = distinct; k < w.n_symbols; k++) made.rest = rx_add_lengths(made.rest, ep_least_symbol(p, symbols[k]));
        for (u32 other = 0; distinct && other < way && made.group == way; other++)
            if (c->ways.at[other].group == other && take_from_one_list(p, c, other, way)) made.group = other;
        made.length = made.rest;
        c->ways.at[c->ways.n++] = made;
    }
    return p->b->status == GE_OK && note_common_values(p, c);
}

static void end_costs(ep_parser *p, bag_costs *c) {
    vec_drop(p->b, &c->ways);
    vec_drop(p->b, &c->best);
    vec_drop(p->b, &c->left);
}

/* Takes at most n members of the cheapest way of a slot; as many as cost the same at once. False on failure. */
static bool take_member(ep_parser *p, bag_costs *c, u32 slot, u32 n, u32 *sum, u32 *taken) {
    u32 way = c->best.at[slot];
    bool distinct = is_distinct(p, c, way);
    bag_way *group = &c->ways.at[c->ways.at[way].group];
    if (distinct && group->first == NONE) group->first = group->value, group->first_length = c->ways.at[way].length;
    *taken = distinct ? 1 : n;
    *sum = rx_add_lengths(*sum, rx_times_length(*taken, c->ways.at[way].length));
    if (c->left.at[slot] != NONE) c->left.at[slot] -= *taken;
    if (!budget_work(p->b, 1)) return false;
    if (!distinct) return true;
    c->ways.at[c->ways.at[way].group].used++;
    if (!price_group(p, c, c->ways.at[way].group)) return false;
    find_best(p, c, spans_slots(p, c, c->ways.at[way].group) ? NONE : slot);
    return true;
}

/* What a group has to pay more if it does without its first value: it takes
 * one that costs no less than the cheapest way that is left to its slots. */
static u32 price_without_first(const ep_parser *p, const bag_costs *c, u32 group) {
    u32 least = RX_NO_LENGTH;
    for (u32 way = group; way < c->bag->n_ways; way++) {
        u32 best = c->ways.at[way].group == group ? c->best.at[own_slot(p, c, way)] : NONE;
        if (best != NONE) least = min_u32(least, c->ways.at[best].length);
    }
    return least == RX_NO_LENGTH ? least : least - min_u32(least, c->ways.at[group].first_length);
}

/* What all groups have to pay more since a value that is the first of several is taken once. */
static u32 price_of_common_values(const ep_parser *p, const bag_costs *c) {
    u32 sum = 0;
    for (u32 a = 0; a < c->bag->n_ways; a++) {
        u32 first = c->ways.at[a].first, all = 0, most = 0;
        bool is_first = first != NONE;
        for (u32 b = 0; b < c->bag->n_ways && is_first; b++) {
            if (c->ways.at[b].first != first) continue;
            is_first = b >= a; /* else it was counted there */
            u32 price = price_without_first(p, c, b);
            all = rx_add_lengths(all, price);
            most = max_u32(most, price);
        }
        if (is_first && all < RX_NO_LENGTH) sum = rx_add_lengths(sum, all - most);
    }
    return sum;
}

static const gr_slot *slot_at(const ep_parser *p, const bag_costs *c, u32 slot) { return &p->g->slots.at[c->bag->slots + slot]; }

static u32 price_of_slot(const bag_costs *c, u32 slot) {
    return c->best.at[slot] == NONE ? RX_NO_LENGTH : c->ways.at[c->best.at[slot]].length;
}

/* Adds what choices cost beside keys that are there, if there are any. */
static bool add_choices(ep_parser *p, const bag_costs *c, const u32 *keys, u32 *sum) {
    id_vec prices = {0};
    u32 least = 0;
    if (!c->bag->n_choices || *sum >= RX_LONG) return true;
    bool ok = vec_reserve(p->b, &prices, 32 * c->bag->n_bit_words + 1);
    for (u32 i = 0; ok && i < c->bag->n_slots; i++)
        if (slot_at(p, c, i)->place < c->bag->n_bits) prices.at[slot_at(p, c, i)->place] = price_of_slot(c, i);
    ok = ok && ep_least_choice(p, c->bag, keys, prices.at, &least);
    *sum = rx_add_lengths(*sum, least);
    vec_drop(p->b, &prices);
    return ok;
}

/* One member and the keys that it asks for, and the choices that it leaves, where nothing is missing. `keys`: scratch. False on failure. */
static bool least_of_one(ep_parser *p, const bag_costs *c, const u32 *counts, u32 *keys, u32 *least) {
    bool ok = true;
    *least = RX_NO_LENGTH;
    for (u32 way = 0; ok && way < c->bag->n_ways; way++) {
        u32 own = own_slot(p, c, way), sum = c->ways.at[way].open ? c->ways.at[way].length : RX_NO_LENGTH;
        const gr_slot *slot = slot_at(p, c, own);
        memcpy(keys, counts, c->bag->n_bit_words * sizeof *keys);
        if (slot->place < c->bag->n_bits) keys[slot->place / 32] |= (u32)1 << slot->place % 32;
        for (u32 i = 0; i < slot->n_asks; i++) {
            u32 other = p->g->bag_words.at[slot->asks + i], place = slot_at(p, c, other)->place, bit = (u32)1 << place % 32;
            if (!(keys[place / 32] & bit)) sum = rx_add_lengths(sum, price_of_slot(c, other));
            keys[place / 32] |= bit;
        }
        ok = sum >= *least || add_choices(p, c, keys, &sum);
        *least = min_u32(*least, sum);
    }
    return ok;
}

/* With the choices, where `sum` is what is missing beside them; with `one`, nothing is, and a member must come. */
static u32 with_choices(ep_parser *p, const bag_costs *c, const u32 *counts, u32 sum, bool one) {
    id_vec keys = {0};
    u32 n = c->bag->n_bit_words, beside = sum;
    bool ok = vec_reserve(p->b, &keys, n + 1);
    if (ok) memcpy(keys.at, counts, n * sizeof *counts);
    for (u32 i = 0; ok && i < c->bag->n_slots; i++) {
        const gr_slot *slot = slot_at(p, c, i);
        if (slot->place < c->bag->n_bits && gr_bag_missing(c->bag, slot, counts)) keys.at[slot->place / 32] |= (u32)1 << slot->place % 32;
    }
    ok = ok && add_choices(p, c, keys.at, &sum);
    if (ok && one && sum == beside) ok = least_of_one(p, c, counts, keys.at, &sum);
    vec_drop(p->b, &keys);
    return ok ? sum : RX_NO_LENGTH;
}

/* The least length of `wanted` members, or more, that meet a condition: so many raise its slot, all cost what the cheapest do. 0: it is
 * met. To be asked before members are taken, as those of distinct ways then cost more. */
static u32 least_for_condition(const ep_parser *p, const bag_costs *c, const u32 *counts, u32 slot, u32 wanted) {
    u32 need = gr_bag_missing(c->bag, &p->g->slots.at[c->bag->slots + slot], counts), raising = RX_NO_LENGTH, any = RX_NO_LENGTH;
    if (!need) return 0;
    for (u32 way = 0; way < c->bag->n_ways; way++) {
        gr_way w = p->g->ways.at[c->bag->ways + way];
        if (!c->ways.at[way].open) continue;
        any = min_u32(any, c->ways.at[way].length);
        for (u32 i = 0; i < w.n_slots; i++)
            if (p->g->bag_words.at[w.slots + i] == slot) raising = min_u32(raising, c->ways.at[way].length);
    }
    return rx_add_lengths(rx_times_length(need, raising), rx_times_length(wanted - min_u32(wanted, need), any));
}

/* What is missing, where the `used` of groups are already taken; with `one`, at least one member. RX_NO_LENGTH: hopeless, or failure. */
static u32 greedy(ep_parser *p, bag_costs *c, const u32 *counts, bool one) {
    const gr_bag *bag = c->bag;
    u32 sum = 0, members = 0, taken, wanted = one, least = 0;
    for (u32 way = 0; way < bag->n_ways; way++) {
        c->ways.at[way].open = gr_bag_admits(p->g, bag, counts, c->rank, bag->ways + way);
        c->ways.at[way].first = NONE;
        if (c->ways.at[way].group == way && is_distinct(p, c, way) && c->ways.at[way].rest != RX_NO_LENGTH && !price_group(p, c, way))
            return RX_NO_LENGTH;
    }
    find_best(p, c, NONE);
    if (bag->total != NONE) wanted = max_u32(wanted, gr_bag_missing(bag, &p->g->slots.at[bag->slots + bag->total], counts));
    for (u32 i = 0; bag->conditions && i < bag->n_slots; i++)
        if (p->g->slots.at[bag->slots + i].last_rank == NONE && i != bag->total)
            least = max_u32(least, least_for_condition(p, c, counts, i, wanted));
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = &p->g->slots.at[bag->slots + i];
        c->left.at[i] = slot->maximum == NONE ? NONE : slot->maximum - gr_bag_count(bag, slot, counts);
    }
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = &p->g->slots.at[bag->slots + i];
        u32 need = gr_bag_missing(bag, slot, counts);
        if (i == bag->total || (bag->conditions && slot->last_rank == NONE)) continue;
        for (; need; need -= taken, members += taken) {
            if (c->best.at[i] == NONE) return RX_NO_LENGTH;
            if (!take_member(p, c, i, need, &sum, &taken)) return RX_NO_LENGTH;
        }
    }
    if (p->common.at[bag - p->g->bags.at] == COMMON) sum = rx_add_lengths(sum, price_of_common_values(p, c));
    one = one && !members;
    if (bag->n_choices || (one && bag->n_mark_words > bag->n_bit_words)) return with_choices(p, c, counts, sum, one);
    for (; members < wanted; members += taken) {
        u32 slot = NONE, length = RX_NO_LENGTH;
        for (u32 i = 0; i < bag->n_slots; i++) {
            u32 way = c->best.at[i];
            if (c->left.at[i] && way != NONE && c->ways.at[way].length < length) slot = i, length = c->ways.at[way].length;
        }
        if (slot == NONE) return RX_NO_LENGTH;
        if (!take_member(p, c, slot, min_u32(wanted - members, c->left.at[slot]), &sum, &taken)) return RX_NO_LENGTH;
    }
    return max_u32(sum, least);
}

/* --- with conditions ----------------------------------------------------------------------------------------------------- */

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
static bool reach_counts(ep_parser *p, bag_costs *c, bag_search *s, u32 length, u32 *to) {
    u32 n = c->bag->n_words;
    bool fresh;
    *to = vec_reserve(p->b, &s->places, 1) ? intern(p->b, &s->states, s->words.at, s->words.n, &fresh) : NONE;
    if (*to == NONE) return false;
    if (fresh) s->places.at[s->places.n++] = (bag_place){RX_NO_LENGTH, NONE, 0};
    if (s->places.at[*to].length <= length) return true;
    for (u32 way = 0; way < c->bag->n_ways; way++) c->ways.at[way].used = s->words.at[n + way];
    u32 rest = greedy(p, c, s->words.at, s->words.at[n + c->bag->n_ways]);
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

/* Of ways that are alike each gets the one before it in the order of their lengths. Not where keys ask for others, which tells them
 * apart. */
static bool order_alike(ep_parser *p, bag_costs *c) {
    const gr_bag *bag = c->bag;
    VEC(alike_way) ways = {0};
    if (bag->n_mark_words > bag->n_bit_words) return true;
    for (u32 i = 0; i < bag->n_slots; i++) c->left.at[i] = 0; /* how many ways have it as their own */
    for (u32 way = 0; way < bag->n_ways; way++) c->left.at[own_slot(p, c, way)]++;
    bool ok = vec_reserve(p->b, &ways, bag->n_ways);
    for (u32 way = 0; ok && way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        gr_slot own = p->g->slots.at[bag->slots + own_slot(p, c, way)];
        if (w.flags & (GR_DISTINCT | GR_DEAD) || own.minimum || own.maximum != 1 || c->left.at[own_slot(p, c, way)] != 1) continue;
        ways.at[ways.n++] = (alike_way){p->g->bag_words.at + w.slots + 1, w.n_slots - 1, w.rank, c->ways.at[way].length, way};
    }
    if (ways.n) qsort(ways.at, ways.n, sizeof *ways.at, compare_alike);
    for (u32 i = 1; ok && i < ways.n; i++)
        if (compare_what_else(&ways.at[i - 1], &ways.at[i]) == 0) c->ways.at[ways.at[i].way].before = ways.at[i - 1].way;
    vec_drop(p->b, &ways);
    return ok;
}

/* One more member, by a way. *to: NONE if it is not allowed, or not needed. */
static bool reach_by(ep_parser *p, bag_costs *c, bag_search *s, u32 state, u32 way, u32 *to) {
    u32 n = c->bag->n_words, n_ways = c->bag->n_ways, group = c->ways.at[way].group, of_way = c->ways.at[way].rest,
        before = c->ways.at[way].before;
    *to = NONE;
    load_state(s, state);
    if (before != NONE && !gr_bag_count(c->bag, &p->g->slots.at[c->bag->slots + own_slot(p, c, before)], s->words.at)) return true;
    bool first = s->words.at[n + n_ways];
    if (!gr_bag_admits(p->g, c->bag, s->words.at, c->rank, c->bag->ways + way)) return true;
    if (!first && !gr_bag_lacks(p->g, c->bag, s->words.at, c->bag->ways + way)) return true; /* without it the rest is as good */
    if (is_distinct(p, c, way)) {
        c->ways.at[group].used = s->words.at[n + group];
        if (!price_group(p, c, group)) return false;
        of_way = c->ways.at[way].length;
        s->words.at[n + group] = c->ways.at[group].used + 1;
    }
    if (of_way == RX_NO_LENGTH) return true;
    gr_bag_raise(p->g, c->bag, s->words.at, c->bag->ways + way);
    s->words.at[n + n_ways] = false;
    return reach_counts(p, c, s, rx_add_lengths(s->places.at[state].length, of_way), to);
}

/* Tries the ways from a place until one leads to where no more is expected: that is gone on from first, since many ways cost the same. */
static bool try_ways(ep_parser *p, bag_costs *c, bag_search *s, u32 state) {
    u32 expected = s->places.at[state].expected, to;
    for (u32 way; (way = s->places.at[state].next) < c->bag->n_ways;) {
        s->places.at[state].next++;
        if (!reach_by(p, c, s, state, way, &to)) return false;
        if (to != NONE && s->places.at[to].expected <= expected) return true;
    }
    s->places.at[state].expected = NONE;
    return true;
}

static u32 search_members(ep_parser *p, bag_costs *c, const u32 *counts, bool one) {
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

/* --- questions ----------------------------------------------------------------------------------------------------------- */

/* Members with a separator before each, or before each but the first, of which there must then be one. */
static u32 least_of_members(ep_parser *p, const gr_bag *bag, const u32 *counts, u32 rank, u32 values, bool separated) {
    bag_costs c = {.bag = bag, .values = values, .rank = rank};
    u32 least = RX_NO_LENGTH;
    if (begin_costs(p, &c)) least = bag->conditions ? search_members(p, &c, counts, !separated) : greedy(p, &c, counts, !separated);
    end_costs(p, &c);
    if (least == RX_NO_LENGTH || separated || bag->separator == NONE) return least;
    return least >= RX_LONG ? least : least - ep_least_symbol(p, bag->separator);
}

u32 ep_least_of_new_bag(ep_parser *p, u32 bag) {
    const gr_bag *of = &p->g->bags.at[bag];
    id_vec counts = {0};
    u32 least = RX_NO_LENGTH;
    if (vec_reserve(p->b, &counts, of->n_words + 1u)) {
        memset(counts.at, 0, (of->n_words + 1u) * sizeof *counts.at);
        least = least_of_members(p, of, counts.at, 0, 0, false);
    }
    vec_drop(p->b, &counts);
    return least;
}

u32 ep_least_of_state(ep_parser *p, u32 state, bool separated) {
    u32 least;
    if (separated && ep_least_by_slots(p, state, &least)) return least;
    const u32 *words = intern_words(&p->states, state);
    return least_of_members(p, &p->g->bags.at[words[EP_STATE_BAG]], words + EP_STATE_COUNTS, words[EP_STATE_RANK], words[EP_STATE_VALUES],
                            separated);
}

/* The counts after a member of a way. False on failure. */
static bool raise_counts(ep_parser *p, const u32 *words, u32 way, id_vec *counts) {
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    if (!vec_reserve(p->b, counts, bag->n_words + 1u)) return false;
    memcpy(counts->at, words + EP_STATE_COUNTS, bag->n_words * sizeof *counts->at);
    gr_bag_raise(p->g, bag, counts->at, way);
    return true;
}

/* What is left of a member after its key, and then so much. */
static u32 least_behind_key(ep_parser *p, u32 way, u32 least) {
    gr_way w = p->g->ways.at[way];
    for (u32 k = 1; k < w.n_symbols; k++) least = rx_add_lengths(least, ep_least_symbol(p, p->g->bag_words.at[w.symbols + k]));
    return least;
}

u32 ep_least_after_key_bound(ep_parser *p, u32 state, u32 way) {
    u32 least;
    if (ep_least_by_slots_after(p, state, way, &least)) return least_behind_key(p, way, least);
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    gr_way w = p->g->ways.at[way];
    u32 id = NONE, n = 3 + bag->n_words, head[] = {words[EP_STATE_BAG], bag->ranked ? w.rank : 0, words[EP_STATE_VALUES]};
    id_vec key = {0}; /* [ bag | rank | values | counts ... ] */
    bool fresh = false;
    least = 0;
    if (vec_reserve(p->b, &key, n) && vec_reserve(p->b, &p->least_taken, 1)) {
        memcpy(key.at, head, sizeof head);
        memcpy(key.at + 3, words + EP_STATE_COUNTS, bag->n_words * sizeof *key.at);
        gr_bag_raise_needed(p->g, bag, key.at + 3, way);
        id = intern(p->b, &p->taken, key.at, n, &fresh);
    }
    if (id != NONE && fresh) {
        p->least_taken.at[p->least_taken.n++] = 0; /* where it cannot be told, no bound */
        if (!gr_bag_is_finished(p->g, bag, key.at + 3)) least = least_of_members(p, bag, key.at + 3, head[1], head[2], true);
        if (p->b->status == GE_OK) p->least_taken.at[id] = least;
    } else if (id != NONE)
        least = p->least_taken.at[id];
    vec_drop(p->b, &key);
    return least_behind_key(p, way, least);
}

/* May a member of the slot be a distinct one? */
static bool takes_values(const ep_parser *p, const gr_bag *bag, u32 slot) {
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++)
        if (p->g->ways.at[way].flags & GR_DISTINCT && p->g->bag_words.at[p->g->ways.at[way].slots] == slot) return true;
    return false;
}

/* Where the counts ask for members by slot alone, those are all that the shortest texts have. */
static bool asks_for_values(const ep_parser *p, const gr_bag *bag, const u32 *counts) {
    u32 members = 0;
    if (bag->conditions) return !gr_bag_is_finished(p->g, bag, counts);
    for (u32 i = 0; i < bag->n_slots; i++) {
        u32 need = i == bag->total ? 0 : gr_bag_missing(bag, &p->g->slots.at[bag->slots + i], counts);
        if (need && takes_values(p, bag, i)) return true;
        members += need;
    }
    if (bag->total == NONE) return false;
    const gr_slot *total = &p->g->slots.at[bag->slots + bag->total];
    return gr_bag_count(bag, total, counts) + members < total->minimum;
}

bool ep_asks_for_values(ep_parser *p, u32 state, u32 way) {
    const u32 *words = intern_words(&p->states, state);
    id_vec counts = {0};
    bool asks = !raise_counts(p, words, way, &counts) || asks_for_values(p, &p->g->bags.at[words[EP_STATE_BAG]], counts.at);
    vec_drop(p->b, &counts);
    return asks;
}

u32 ep_least_after_key(ep_parser *p, u32 state, u32 way) {
    u32 least;
    if (ep_least_by_slots_after(p, state, way, &least)) return least_behind_key(p, way, least);
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    gr_way w = p->g->ways.at[way];
    id_vec counts = {0};
    least = RX_NO_LENGTH;
    if (raise_counts(p, words, way, &counts)) {
        least = 0;
        if (!gr_bag_is_finished(p->g, bag, counts.at))
            least = least_of_members(p, bag, counts.at, bag->ranked ? w.rank : 0, words[EP_STATE_VALUES], true);
        least = least_behind_key(p, way, least);
    }
    vec_drop(p->b, &counts);
    return least;
}
