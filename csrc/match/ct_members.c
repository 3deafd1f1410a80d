/* What lists and bags cost in tokens: see ct.h and ct_rows.h.
 *
 * Members of a bag are followed one at a time, rank by rank. Which one comes when is not kept: costs would be of each set of members that may
 * have been before. So in a rank of several members, the cheapest of them would be taken again and again. Prices see to it that this is of no
 * use: each needed member is made dearer by what the dearest of them takes more than it at least, and what all of them were made dearer is
 * taken off in the end. Whatever the prices, a text in which each of them comes as often as it must costs what it did; so the least of all
 * is a lower bound (Lagrangian relaxation: Held and Karp 1970). */
#include "../grammar/gr_bag.h"
#include "../parser/ep_parts.h"
#include "ct_rows.h"

/* --- lists --------------------------------------------------------------------------------------------------------------- */

static void follow_unit(ge_engine *e, const gr_list *l, ct_costs *c) {
    if (!l->loose && l->separator != NONE) ct_follow(e, CT_OF_SYMBOL, l->separator, c);
    ct_follow(e, CT_OF_SYMBOL, l->loose ? l->unit : l->item, c);
}

void ct_follow_list(ge_engine *e, gr_nonterminal nt, ct_costs *c) {
    const gr_list *l = &e->ep.g->lists.at[nt.template];
    u32 missing = l->minimum > nt.state ? l->minimum - nt.state : 0;
    if (nt.state == 0) {
        ct_follow(e, CT_OF_SYMBOL, l->item, c);
        missing -= missing > 0;
    }
    for (missing = min_u32(missing, CT_TIMES); missing; missing--) follow_unit(e, l, c);
    for (bool again = true; again;) {
        ct_costs before = *c, more = *c;
        follow_unit(e, l, &more);
        ct_improve(c, &more);
        again = memcmp(&before, c, sizeof before) != 0;
    }
}

/* --- the members of a rank ----------------------------------------------------------------------------------------------- */

typedef struct members { /* of a bag: the costs behind none and behind some */
    const gr_bag *bag;
    const u32 *counts;
    u32 rank;
    bool separated; /* the first has a separator before it, too */
    ct_costs none, some;
} members;

enum { WAY_OPTIONAL = 1, WAY_NEEDED = 2 }; /* kinds; both, or none: it is not admitted */

typedef struct rank_ways { /* the ways [from, to) */
    u32 from, to;
    u8 *kinds;      /* by way */
    u32 *prices;    /* by way, of needed members */
    u32 dearest;    /* price and member together take so much or more */
    u32 n_needed;   /* ways */
    u32 missing;    /* members, CT_TIMES at most */
    bool more;      /* are missing than that */
    bool repeats;   /* optional members may come more than once */
} rank_ways;

static u32 slot_of_way(const ge_engine *e, const members *m, u32 way) {
    return e->ep.g->bag_words.at[e->ep.g->ways.at[m->bag->ways + way].slots];
}

static u32 missing_of(const ge_engine *e, const members *m, u32 slot) {
    const gr_slot *s = &e->ep.g->slots.at[m->bag->slots + slot];
    if (s->place == NONE || s->last_rank == NONE) return 0;
    return gr_bag_missing(m->bag, s, m->counts);
}

/* Is a slot filled by ways of one rank alone, and something missing in it? */
static bool is_needed(const ge_engine *e, const members *m, const rank_ways *r, u32 way) {
    const gr_way *ways = &e->ep.g->ways.at[m->bag->ways];
    u32 slot = slot_of_way(e, m, way);
    if (!missing_of(e, m, slot)) return false;
    for (u32 other = 0; other < m->bag->n_ways; other++)
        if ((other < r->from || other >= r->to) && slot_of_way(e, m, other) == slot && !(ways[other].flags & GR_DEAD)) return false;
    return true;
}

/* What one member more begins with. */
static ct_costs before_member(ge_engine *e, const members *m) {
    ct_costs before = m->some, first = m->none;
    if (m->bag->separator != NONE) {
        ct_follow(e, CT_OF_SYMBOL, m->bag->separator, &before);
        if (m->separated) ct_follow(e, CT_OF_SYMBOL, m->bag->separator, &first);
    }
    ct_improve(&before, &first);
    return before;
}

static void follow_way(ge_engine *e, const members *m, u32 way, ct_costs *c) {
    gr_way w = e->ep.g->ways.at[m->bag->ways + way];
    ct_follow_symbols(e, e->ep.g->bag_words.at + w.symbols, w.n_symbols, c);
}

/* The costs behind one member more, of a kind. */
static ct_costs one_member(ge_engine *e, const members *m, const rank_ways *r, u8 kind) {
    ct_costs before = before_member(e, m), sum = ct_never();
    for (u32 way = r->from; way < r->to && !ct_is_never(&before); way++) {
        if (!(r->kinds[way - r->from] & kind)) continue;
        ct_costs behind = before;
        follow_way(e, m, way, &behind);
        if (kind == WAY_NEEDED) ct_add_to_all(&behind, r->prices[way - r->from]);
        ct_improve(&sum, &behind);
    }
    return sum;
}

static void take_off(ct_costs *c, int64_t cost) {
    for (u32 i = 0; i < CT_SEAMS; i++) {
        int64_t left = c->at[i] - cost;
        if (c->at[i] != CT_NEVER) c->at[i] = (u16)(left < 0 ? 0 : left > CT_MANY ? CT_MANY : left);
    }
}

/* Any number of members more, or one; each takes so much less. */
static void follow_more(ge_engine *e, members *m, const rank_ways *r, u8 kind, u32 less, bool repeats) {
    for (bool again = true; again; again = again && repeats) {
        ct_costs before = m->some, more = one_member(e, m, r, kind);
        take_off(&more, less);
        ct_improve(&m->some, &more);
        again = memcmp(&before, &m->some, sizeof before) != 0;
    }
}

static bool fills(const ge_engine *e, const members *m, const rank_ways *r, u32 way, u32 slot) {
    return r->kinds[way - r->from] & WAY_NEEDED && slot_of_way(e, m, way) == slot;
}

static bool is_first_of_slot(const ge_engine *e, const members *m, const rank_ways *r, u32 way) {
    u32 slot = slot_of_way(e, m, way), other = r->from;
    while (other < way && !fills(e, m, r, other, slot)) other++;
    return other == way;
}

static void sort_ways(ge_engine *e, const members *m, rank_ways *r) {
    const gr_grammar *g = e->ep.g;
    u32 n_optional = 0;
    for (u32 way = r->from; way < r->to; way++) {
        u32 slot = slot_of_way(e, m, way);
        const gr_slot *s = &g->slots.at[m->bag->slots + slot];
        u8 *kind = &r->kinds[way - r->from];
        *kind = 0;
        if (!gr_bag_admits(g, m->bag, m->counts, m->rank, m->bag->ways + way)) continue;
        if (is_needed(e, m, r, way)) {
            if (is_first_of_slot(e, m, r, way)) r->missing += min_u32(missing_of(e, m, slot), CT_TIMES + 1);
            r->n_needed++;
            *kind = WAY_NEEDED;
        }
        if (*kind && s->maximum == s->minimum) continue;
        *kind |= WAY_OPTIONAL;
        r->repeats |= n_optional++ || s->maximum != 1;
    }
    r->more = r->missing > CT_TIMES;
    r->missing = min_u32(r->missing, CT_TIMES);
}

/* r->prices and r->dearest, by what a needed member, or another one of its slot, takes at least, wherever it may begin. What is to be taken off. */
static int64_t set_prices(ge_engine *e, const members *m, rank_ways *r) {
    members all = *m;
    follow_more(e, &all, r, WAY_OPTIONAL | WAY_NEEDED, 0, true);
    ct_costs anywhere = before_member(e, &all);
    for (u32 i = 0; i < CT_SEAMS; i++) anywhere.at[i] = anywhere.at[i] == CT_NEVER ? CT_NEVER : 0;
    for (u32 way = r->from; way < r->to; way++) {
        u32 least = CT_NEVER;
        ct_costs behind = anywhere;
        if (!(r->kinds[way - r->from] & WAY_NEEDED)) continue;
        follow_way(e, m, way, &behind);
        for (u32 i = 0; i < CT_SEAMS; i++) least = min_u32(least, behind.at[i]);
        r->prices[way - r->from] = least == CT_NEVER ? 0 : least;
    }
    int64_t off = 0;
    for (u32 way = r->from; way < r->to; way++) {
        if (!(r->kinds[way - r->from] & WAY_NEEDED) || !is_first_of_slot(e, m, r, way)) continue;
        u32 slot = slot_of_way(e, m, way), least = r->prices[way - r->from];
        for (u32 other = way; other < r->to; other++)
            if (fills(e, m, r, other, slot)) least = min_u32(least, r->prices[other - r->from]);
        for (u32 other = way; other < r->to; other++)
            if (fills(e, m, r, other, slot)) r->prices[other - r->from] = least;
        r->dearest = max_u32(r->dearest, least);
        off -= (int64_t)missing_of(e, m, slot) * least;
    }
    for (u32 way = r->from; way < r->to; way++) r->prices[way - r->from] = r->dearest - r->prices[way - r->from];
    return off + (int64_t)r->missing * r->dearest;
}

/* The members of one rank, or of all where they may come in any order. */
static void follow_rank(ge_engine *e, members *m, u32 from, u32 to) {
    byte_vec kinds = {0};
    id_vec prices = {0};
    if (vec_reserve(&e->b, &kinds, to - from) && vec_reserve(&e->b, &prices, to - from)) {
        rank_ways r = {.from = from, .to = to, .kinds = kinds.at, .prices = prices.at};
        sort_ways(e, m, &r);
        memset(r.prices, 0, (to - from) * sizeof *r.prices);
        int64_t off = r.n_needed > 1 ? set_prices(e, m, &r) : 0;
        follow_more(e, m, &r, WAY_OPTIONAL, 0, r.repeats);
        for (u32 i = 0; i < r.missing; i++) {
            m->some = one_member(e, m, &r, WAY_NEEDED);
            m->none = ct_never();
            follow_more(e, m, &r, WAY_OPTIONAL, 0, r.repeats);
        }
        for (bool again = r.more; again;) { /* those beyond CT_TIMES: any number, which take nothing but what is above the least */
            ct_costs before = m->some;
            follow_more(e, m, &r, WAY_NEEDED, r.dearest, true);
            follow_more(e, m, &r, WAY_OPTIONAL, 0, r.repeats);
            again = memcmp(&before, &m->some, sizeof before) != 0;
        }
        take_off(&m->some, off);
    }
    vec_drop(&e->b, &kinds);
    vec_drop(&e->b, &prices);
}

/* --- bags ---------------------------------------------------------------------------------------------------------------- */

/* *c = the costs behind the members that are left; with `one`, at least one. */
static void follow_bag(ge_engine *e, const gr_bag *bag, const u32 *counts, u32 rank, bool separated, bool one, ct_costs *c) {
    members m = {bag, counts, rank, separated, *c, ct_never()};
    const gr_way *ways = &e->ep.g->ways.at[bag->ways];
    bool in_order = bag->ranked;
    for (u32 way = 1; way < bag->n_ways; way++) in_order = in_order && ways[way - 1].rank <= ways[way].rank;
    for (u32 from = 0, to; from < bag->n_ways; from = to) {
        for (to = from + 1; to < bag->n_ways && (!in_order || ways[to].rank == ways[from].rank); to++) {}
        if (!in_order || ways[from].rank >= rank) follow_rank(e, &m, from, to);
    }
    *c = m.some;
    if (!one && gr_bag_is_finished(e->ep.g, bag, counts)) ct_improve(c, &m.none); /* a condition may ask for one more */
}

void ct_follow_state(ge_engine *e, u32 state, bool separated, ct_costs *c) {
    const u32 *words = intern_words(&e->ep.states, state);
    follow_bag(e, &e->ep.g->bags.at[words[EP_STATE_BAG]], words + EP_STATE_COUNTS, words[EP_STATE_RANK], separated, !separated, c);
}

void ct_follow_new_bag(ge_engine *e, u32 bag, ct_costs *c) {
    const gr_bag *of = &e->ep.g->bags.at[bag];
    id_vec counts = {0};
    if (vec_reserve(&e->b, &counts, of->n_words + 1u)) {
        memset(counts.at, 0, (of->n_words + 1u) * sizeof *counts.at);
        follow_bag(e, of, counts.at, 0, false, true, c);
    }
    vec_drop(&e->b, &counts);
}

void ct_follow_key(ge_engine *e, u32 state, u32 way, ct_costs *c) {
    const u32 *words = intern_words(&e->ep.states, state);
    const gr_bag *bag = &e->ep.g->bags.at[words[EP_STATE_BAG]];
    gr_way w = e->ep.g->ways.at[way];
    id_vec counts = {0};
    if (vec_reserve(&e->b, &counts, bag->n_words + 1u)) {
        memcpy(counts.at, words + EP_STATE_COUNTS, bag->n_words * sizeof *counts.at);
        gr_bag_raise(e->ep.g, bag, counts.at, way);
        ct_follow_symbols(e, e->ep.g->bag_words.at + w.symbols + 1, w.n_symbols - 1, c);
        follow_bag(e, bag, counts.at, bag->ranked ? w.rank : 0, true, false, c);
    }
    vec_drop(&e->b, &counts);
}
