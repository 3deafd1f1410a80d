/* What lists and bags cost in tokens: see ct.h and ct_rows.h.
 *
 * Members of a bag are followed rank by rank; where a rank has several ways, their members come in any order (ct_order.c). */
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

/* One member more, by a way. */
static void follow_one(ge_engine *e, ct_members *m, u32 way) {
    ct_costs before = m->some, first = m->none;
    if (m->bag->separator != NONE) {
        ct_follow(e, CT_OF_SYMBOL, m->bag->separator, &before);
        if (m->separated) ct_follow(e, CT_OF_SYMBOL, m->bag->separator, &first);
    }
    ct_improve(&before, &first);
    ct_follow_way(e, way, &before);
    m->some = before;
}

/* Any number of members more, or one. */
static void follow_more(ge_engine *e, ct_members *m, u32 way, bool repeats) {
    for (bool again = true; again; again = again && repeats) {
        ct_costs before = m->some;
        follow_one(e, m, way);
        ct_improve(&m->some, &before);
        ct_prune(&e->cl.fewest, &m->some);
        again = memcmp(&before, &m->some, sizeof before) != 0;
    }
}

static const gr_slot *raised_by(const ge_engine *e, const ct_members *m, u32 way, u32 i) {
    return &e->ep.g->slots.at[m->bag->slots + e->ep.g->bag_words.at[e->ep.g->ways.at[way].slots + i]];
}

/* How often a way may raise a slot still. NONE: any number of times. */
static u32 room_for(const ge_engine *e, const ct_members *m, u32 way, const gr_slot *slot) {
    bool raises = false;
    u32 room = NONE;
    if (!gr_bag_admits(e->ep.g, m->bag, m->counts, m->rank, way)) return 0;
    for (u32 i = 0; i < e->ep.g->ways.at[way].n_slots; i++) {
        const gr_slot *raised = raised_by(e, m, way, i);
        raises |= raised == slot;
        if (raised->maximum != NONE) room = min_u32(room, raised->maximum - gr_bag_count(m->bag, raised, m->counts));
    }
    return raises ? room : 0;
}

/* What the slot lacks, without what other ways can give. Of many ways it is not asked: they can give much. */
u32 ct_needed(const ge_engine *e, const ct_members *m, u32 slot, u32 from, u32 to) {
    const gr_slot *s = &e->ep.g->slots.at[m->bag->slots + slot];
    u32 lacks = m->bag->n_ways <= CT_TIMES ? min_u32(gr_bag_missing(m->bag, s, m->counts), CT_TIMES) : 0;
    for (u32 way = m->bag->ways; way < m->bag->ways + m->bag->n_ways && lacks; way++)
        if (way < from || way >= to) lacks -= min_u32(lacks, room_for(e, m, way, s));
    return lacks;
}

/* A rank that has one way. */
static void follow_alone(ge_engine *e, ct_members *m, u32 way) {
    u32 slot = e->ep.g->bag_words.at[e->ep.g->ways.at[way].slots], missing = 0;
    const gr_slot *s = &e->ep.g->slots.at[m->bag->slots + slot];
    if (!gr_bag_admits(e->ep.g, m->bag, m->counts, m->rank, way)) return;
    if (ct_is_filled_by(e, m->bag, slot, way, way + 1)) missing = gr_bag_missing(m->bag, s, m->counts);
    bool may_repeat = s->maximum != 1, is_optional = !missing || s->maximum != s->minimum || missing > CT_TIMES;
    if (is_optional) follow_more(e, m, way, may_repeat);
    for (u32 i = 0; i < e->ep.g->ways.at[way].n_slots; i++)
        missing = max_u32(missing, ct_needed(e, m, e->ep.g->bag_words.at[e->ep.g->ways.at[way].slots + i], way, way + 1));
    for (missing = min_u32(missing, CT_TIMES); missing; missing--) {
        follow_one(e, m, way);
        m->none = ct_never();
        if (is_optional) follow_more(e, m, way, may_repeat);
    }
}

/* --- bags ---------------------------------------------------------------------------------------------------------------- */

/* *c = the costs behind the members that are left; with `one`, at least one. */
static void follow_bag(ge_engine *e, const gr_bag *bag, const u32 *counts, u32 rank, bool separated, bool one, ct_costs *c) {
    ct_members m = {bag, counts, rank, separated, *c, ct_never()};
    const gr_way *ways = &e->ep.g->ways.at[bag->ways];
    bool in_order = bag->ranked;
    for (u32 way = 1; way < bag->n_ways; way++) in_order = in_order && ways[way - 1].rank <= ways[way].rank;
    for (u32 from = 0, to; from < bag->n_ways; from = to) {
        for (to = from + 1; to < bag->n_ways && (!in_order || ways[to].rank == ways[from].rank); to++) {}
        if (in_order && ways[from].rank < rank) continue;
        if (to == from + 1) follow_alone(e, &m, bag->ways + from);
        else ct_follow_any_order(e, &m, bag->ways + from, bag->ways + to);
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
