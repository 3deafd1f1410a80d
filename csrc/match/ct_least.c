/* The least number of tokens that may still come: see ct.h.
 *
 * Rows of costs are made when they are asked for: of a symbol behind a seam, of what follows a key of a bag. Those of nonterminals are a
 * least fixed point: new rows begin with "never", and passes over them go on until none becomes cheaper; older ones are final. What comes
 * behind a return point is asked for by seams in the same way.
 *
 * What is left out, so that costs are lower bounds: upper bounds of lists; of bags the order of ranks that have several members,
 * conditions, totals, and that values differ. And lexing="longest". */
#include "../grammar/gr_bag.h"
#include "../parser/ep_parts.h"
#include "en.h"

enum {
    CT_OF_SYMBOL,       /* kinds of keys */
    CT_OF_HOLE,
    CT_OF_EXPRESSION,
    CT_TIMES = 64,      /* members or items of which there are more are not counted */
    CT_NESTED = 100,    /* rows that are begun within each other */
    CT_ROW_WORK = 4,    /* nodes of a trie that could be visited instead */
    CT_DEPTH = 500,     /* return points in each other; what is behind them costs nothing */
    CT_DERIVATIVES = 64 /* of a lexeme that is under way */
};

static u64 row_key(u32 kind, u32 id, u32 seam) { return (u64)kind << 62 | (u64)id << 8 | seam; }

static ct_costs never(void) {
    ct_costs c;
    memset(&c, 0xff, sizeof c);
    return c;
}

static void improve(ct_costs *c, const ct_costs *more) {
    for (u32 i = 0; i < CT_SEAMS; i++) c->at[i] = c->at[i] < more->at[i] ? c->at[i] : more->at[i];
}

static bool is_never(const ge_engine *e, const ct_costs *c) {
    for (u32 i = 0; i < e->fewest.seams.n; i++)
        if (c->at[i] != CT_NEVER) return false;
    return true;
}

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

static bool cost_row(ge_engine *e, u64 key, ct_costs *c);

/* The row as far as it is known. A new one is computed by what is known of others, and is to be settled. */
static ct_costs row_of(ge_engine *e, u32 kind, u32 id, u32 seam) {
    ct_table *t = &e->fewest;
    u64 key = row_key(kind, id, seam);
    u32 row = map_get(&t->row_of, key);
    if (row != NONE) return t->rows.at[row];
    ct_costs costs = never();
    bool known = true;
    if (kind == CT_OF_EXPRESSION && !ct_cost_expression(e, t, id, seam, NONE, &costs, &known)) return costs;
    row = t->rows.n;
    if (!vec_reserve(&e->b, &t->rows, 1) || !vec_reserve(&e->b, &t->keys, 1) || !map_put(&e->b, &t->row_of, key, row)) return costs;
    t->rows.at[t->rows.n++] = costs;
    t->keys.at[t->keys.n++] = key;
    if (kind == CT_OF_EXPRESSION || t->nested == CT_NESTED) return costs;
    t->nested++;
    if (cost_row(e, key, &costs)) t->rows.at[row] = costs;
    t->nested--;
    return costs;
}

/* *c = the costs behind c and a symbol (or what else has rows). */
static void follow_row(ge_engine *e, u32 kind, u32 id, ct_costs *c) {
    ct_costs sum = never();
    for (u32 seam = 0; seam < e->fewest.seams.n; seam++) {
        if (c->at[seam] == CT_NEVER || !ct_spend(e, &e->fewest, CT_ROW_WORK)) continue;
        ct_costs row = row_of(e, kind, id, seam);
        for (u32 i = 0; i < CT_SEAMS; i++) {
            u32 cost = ct_add(c->at[seam], row.at[i]);
            if (cost < sum.at[i]) sum.at[i] = (u16)cost;
        }
    }
    *c = sum;
}

static void follow_symbols(ge_engine *e, const u32 *symbols, u32 n, ct_costs *c) {
    for (u32 i = 0; i < n; i++) follow_row(e, CT_OF_SYMBOL, symbols[i], c);
}

/* Any number of skips. */
static void follow_skips(ge_engine *e, ct_costs *c) {
    for (bool again = e->skips.n > 0; again;) {
        ct_costs before = *c;
        for (u32 i = 0; i < e->skips.n; i++) {
            ct_costs more = *c;
            follow_row(e, CT_OF_EXPRESSION, e->lx.lexemes.at[e->skips.at[i]].expr, &more);
            improve(c, &more);
        }
        again = memcmp(&before, c, sizeof before) != 0;
    }
}

static void follow_suffix(ge_engine *e, u32 node, ct_costs *c) {
    for (; node != GR_END && !is_never(e, c); node = e->ep.nodes.at[node].next) {
        gr_node n = e->ep.nodes.at[node];
        if (n.flags & GR_HOLE) {
            follow_row(e, CT_OF_HOLE, node, c);
            return;
        }
        follow_row(e, CT_OF_SYMBOL, n.symbol, c); /* what may be empty costs nothing */
    }
}

/* --- lists and bags ------------------------------------------------------------------------------------------------------ */

static void follow_unit(ge_engine *e, const gr_list *l, ct_costs *c) {
    if (!l->loose && l->separator != NONE) follow_row(e, CT_OF_SYMBOL, l->separator, c);
    follow_row(e, CT_OF_SYMBOL, l->loose ? l->unit : l->item, c);
}

static void follow_list(ge_engine *e, gr_nonterminal nt, ct_costs *c) {
    const gr_list *l = &e->ep.g->lists.at[nt.template];
    u32 missing = l->minimum > nt.state ? l->minimum - nt.state : 0;
    if (nt.state == 0) {
        follow_row(e, CT_OF_SYMBOL, l->item, c);
        missing -= missing > 0;
    }
    for (missing = min_u32(missing, CT_TIMES); missing; missing--) follow_unit(e, l, c);
    for (bool again = true; again;) {
        ct_costs before = *c, more = *c;
        follow_unit(e, l, &more);
        improve(c, &more);
        again = memcmp(&before, c, sizeof before) != 0;
    }
}

typedef struct members { /* of a bag: the costs behind none and behind some */
    const gr_bag *bag;
    const u32 *counts;
    u32 rank;
    bool separated; /* the first has a separator before it, too */
    ct_costs none, some;
} members;

static u32 slot_of_way(const ge_engine *e, const members *m, u32 way) {
    return e->ep.g->bag_words.at[e->ep.g->ways.at[m->bag->ways + way].slots];
}

static u32 missing_of(const ge_engine *e, const members *m, u32 slot) {
    const gr_slot *s = &e->ep.g->slots.at[m->bag->slots + slot];
    if (s->place == NONE || s->last_rank == NONE) return 0;
    u32 count = s->maximum == 1 ? m->counts[s->place >> 5] >> (s->place & 31) & 1 : m->counts[m->bag->n_bit_words + s->place];
    return s->minimum > count ? s->minimum - count : 0;
}

/* Is a slot filled by ways of one rank alone, and something missing in it? */
static bool is_needed(const ge_engine *e, const members *m, u32 from, u32 to, u32 way) {
    const gr_way *ways = &e->ep.g->ways.at[m->bag->ways];
    u32 slot = slot_of_way(e, m, way);
    if (!missing_of(e, m, slot)) return false;
    for (u32 other = 0; other < m->bag->n_ways; other++)
        if ((other < from || other >= to) && slot_of_way(e, m, other) == slot && !(ways[other].flags & GR_DEAD)) return false;
    return true;
}

enum { WAY_OPTIONAL = 1, WAY_NEEDED = 2 }; /* kinds; both, or none: it is not admitted */

/* The costs behind one member more, of the ways [from, to) of a kind. */
static ct_costs one_member(ge_engine *e, const members *m, u32 from, u32 to, const u8 *kinds, u8 kind) {
    const gr_grammar *g = e->ep.g;
    ct_costs before = m->some, sum = never(), first = m->none;
    if (m->bag->separator != NONE) {
        follow_row(e, CT_OF_SYMBOL, m->bag->separator, &before);
        if (m->separated) follow_row(e, CT_OF_SYMBOL, m->bag->separator, &first);
    }
    improve(&before, &first);
    for (u32 way = from; way < to && !is_never(e, &before); way++) {
        if (!(kinds[way - from] & kind)) continue;
        gr_way w = g->ways.at[m->bag->ways + way];
        ct_costs behind = before;
        follow_symbols(e, g->bag_words.at + w.symbols, w.n_symbols, &behind);
        improve(&sum, &behind);
    }
    return sum;
}

static void follow_optional(ge_engine *e, members *m, u32 from, u32 to, const u8 *kinds, bool repeats) {
    for (bool again = true; again; again = again && repeats) {
        ct_costs before = m->some, more = one_member(e, m, from, to, kinds, WAY_OPTIONAL);
        improve(&m->some, &more);
        again = memcmp(&before, &m->some, sizeof before) != 0;
    }
}

/* kinds = of the ways [from, to). How many members are needed; *repeats: others may come more than once. */
static u32 sort_ways(ge_engine *e, const members *m, u32 from, u32 to, u8 *kinds, bool *repeats) {
    const gr_grammar *g = e->ep.g;
    u32 n_optional = 0, missing = 0;
    *repeats = false;
    for (u32 way = from; way < to; way++) {
        u32 slot = slot_of_way(e, m, way);
        const gr_slot *s = &g->slots.at[m->bag->slots + slot];
        u8 *kind = &kinds[way - from];
        *kind = 0;
        if (!gr_bag_admits(g, m->bag, m->counts, m->rank, m->bag->ways + way)) continue;
        if (is_needed(e, m, from, to, way)) {
            bool is_first = true;
            for (u32 i = 0; i < way - from && is_first; i++) is_first = !(kinds[i] & WAY_NEEDED) || slot_of_way(e, m, from + i) != slot;
            if (is_first) missing += min_u32(missing_of(e, m, slot), CT_TIMES);
            *kind = WAY_NEEDED;
        }
        if (*kind && s->maximum == s->minimum) continue;
        *kind |= WAY_OPTIONAL;
        *repeats |= n_optional++ || s->maximum != 1;
    }
    return min_u32(missing, CT_TIMES);
}

/* The members of one rank, or of all where they may come in any order. */
static void follow_rank(ge_engine *e, members *m, u32 from, u32 to) {
    byte_vec kinds = {0};
    bool repeats;
    if (!vec_reserve(&e->b, &kinds, to - from)) return;
    u32 missing = sort_ways(e, m, from, to, kinds.at, &repeats);
    follow_optional(e, m, from, to, kinds.at, repeats);
    for (; missing; missing--) {
        m->some = one_member(e, m, from, to, kinds.at, WAY_NEEDED);
        m->none = never();
        follow_optional(e, m, from, to, kinds.at, repeats);
    }
    vec_drop(&e->b, &kinds);
}

/* *c = the costs behind the members that are left; with `one`, at least one. */
static void follow_bag(ge_engine *e, const gr_bag *bag, const u32 *counts, u32 rank, bool separated, bool one, ct_costs *c) {
    members m = {bag, counts, rank, separated, *c, never()};
    const gr_way *ways = &e->ep.g->ways.at[bag->ways];
    bool in_order = bag->ranked;
    for (u32 way = 1; way < bag->n_ways; way++) in_order = in_order && ways[way - 1].rank <= ways[way].rank;
    for (u32 from = 0, to; from < bag->n_ways; from = to) {
        for (to = from + 1; to < bag->n_ways && (!in_order || ways[to].rank == ways[from].rank); to++) {}
        if (!in_order || ways[from].rank >= rank) follow_rank(e, &m, from, to);
    }
    *c = m.some;
    if (!one) improve(c, &m.none);
}

static void follow_state(ge_engine *e, u32 state, bool separated, ct_costs *c) {
    const u32 *words = intern_words(&e->ep.states, state);
    follow_bag(e, &e->ep.g->bags.at[words[EP_STATE_BAG]], words + EP_STATE_COUNTS, words[EP_STATE_RANK], separated, !separated, c);
}

static void follow_new_bag(ge_engine *e, u32 bag, ct_costs *c) {
    const gr_bag *of = &e->ep.g->bags.at[bag];
    id_vec counts = {0};
    if (vec_reserve(&e->b, &counts, of->n_words + 1u)) {
        memset(counts.at, 0, (of->n_words + 1u) * sizeof *counts.at);
        follow_bag(e, of, counts.at, 0, false, true, c);
    }
    vec_drop(&e->b, &counts);
}

static void follow_key(ge_engine *e, u32 state, u32 way, ct_costs *c) {
    const u32 *words = intern_words(&e->ep.states, state);
    const gr_bag *bag = &e->ep.g->bags.at[words[EP_STATE_BAG]];
    gr_way w = e->ep.g->ways.at[way];
    id_vec counts = {0};
    if (vec_reserve(&e->b, &counts, bag->n_words + 1u)) {
        memcpy(counts.at, words + EP_STATE_COUNTS, bag->n_words * sizeof *counts.at);
        gr_bag_raise(e->ep.g, bag, counts.at, way);
        follow_symbols(e, e->ep.g->bag_words.at + w.symbols + 1, w.n_symbols - 1, c);
        follow_bag(e, bag, counts.at, bag->ranked ? w.rank : 0, true, false, c);
    }
    vec_drop(&e->b, &counts);
}

/* --- the fixed point ----------------------------------------------------------------------------------------------------- */

static void follow_nonterminal(ge_engine *e, u32 x, ct_costs *c) {
    gr_nonterminal nt = e->ep.nonterminals.at[x];
    ct_costs before = *c;
    switch ((gr_kind)nt.kind) {
    case GR_RULES:
        *c = never();
        for (u32 i = 0; i < nt.n; i++) {
            ct_costs way = before;
            follow_suffix(e, e->ep.alternatives.at[nt.first + i], &way);
            improve(c, &way);
        }
        break;
    case GR_LIST: follow_list(e, nt, c); break;
    case GR_BAG: follow_new_bag(e, nt.template, c); break;
    case GR_BAG_TAIL: follow_state(e, nt.state, true, c); break;
    case GR_BAG_REST: follow_state(e, nt.state, false, c); break;
    }
    if (nt.nullable) improve(c, &before);
}

/* The costs that a row has, by those that others have now. */
static bool cost_row(ge_engine *e, u64 key, ct_costs *c) {
    u32 kind = (u32)(key >> 62), id = (u32)(key >> 8), seam = (u32)key & 0xff;
    *c = never();
    c->at[seam] = 0;
    if (kind == CT_OF_HOLE) {
        gr_node hole = e->ep.nodes.at[id];
        follow_key(e, hole.next, hole.symbol, c);
    } else if (kind == CT_OF_SYMBOL && id & 1) {
        follow_nonterminal(e, id >> 1, c);
    } else {
        follow_row(e, CT_OF_EXPRESSION, e->lx.lexemes.at[id >> 1].expr, c);
        follow_skips(e, c);
    }
    return e->b.status == GE_OK;
}

static bool settle_rows(ge_engine *e) {
    ct_table *t = &e->fewest;
    for (bool again = t->settled < t->rows.n; again;) {
        again = false;
        for (u32 row = t->rows.n; row-- > t->settled;) { /* those that others have asked for come first */
            u64 key = t->keys.at[row];
            u32 n = t->rows.n;
            ct_costs c;
            if (key >> 62 == CT_OF_EXPRESSION) continue;
            if (!ct_charge(e, t, CT_SEAMS) || !cost_row(e, key, &c)) return false;
            again |= t->rows.n > n || memcmp(&c, &t->rows.at[row], sizeof c) != 0;
            t->rows.at[row] = c;
        }
    }
    t->settled = t->rows.n;
    return e->b.status == GE_OK;
}

/* --- what is behind a row of the parser ------------------------------------------------------------------------------------ */

static u32 cost_of_point(ge_engine *e, u32 point, u32 seam, u32 depth);

/* Up to the end of the sentence: what is left of an item, then what its return point says. */
static u32 cost_of_item(ge_engine *e, ep_item item, const ct_costs *before, u32 depth) {
    u32 settled, least = CT_NEVER;
    ct_costs c;
    do { /* until all that was asked for is settled */
        settled = e->fewest.settled;
        c = *before;
        follow_suffix(e, ep_item_node(item), &c);
        if (!settle_rows(e)) return 0;
    } while (e->fewest.settled > settled);
    for (u32 seam = 0; seam < e->fewest.seams.n; seam++) {
        if (c.at[seam] < least) least = min_u32(least, ct_add(c.at[seam], cost_of_point(e, ep_item_point(item), seam, depth)));
    }
    return least;
}

static u32 cost_of_point(ge_engine *e, u32 point, u32 seam, u32 depth) {
    u64 key = (u64)point << 8 | seam;
    u32 least = map_get(&e->fewest.point_costs, key), set = e->ep.points.at[point];
    ct_costs before = never();
    if (least != NONE) return least;
    /* 0, too, where it is met in itself: left recursion */
    if (depth == CT_DEPTH || !map_put(&e->b, &e->fewest.point_costs, key, 0)) return 0;
    least = ep_set_accepts(&e->ep, set) && seam == 0 ? 0 : CT_NEVER;
    before.at[seam] = 0;
    for (u32 i = 0; i < ep_set_size(&e->ep, set) && least; i++)
        least = min_u32(least, cost_of_item(e, ep_set_item(&e->ep, set, i), &before, depth + 1));
    map_put(&e->b, &e->fewest.point_costs, key, e->b.status == GE_OK ? least : NONE);
    return least;
}

/* Behind a lexeme in an alternative, where its end has these costs. */
static u32 cost_behind(ge_engine *e, const cf_alternative *a, u32 lexeme, const ct_costs *c) {
    ep_parser *p = &e->ep;
    u32 least = CT_NEVER;
    if (!(e->lx.lexemes.at[lexeme].flags & LX_SKIP)) {
        if (!ep_follow(p, a->row, lexeme)) return 0;
        for (u32 i = 0; i < p->following.n; i++) least = min_u32(least, cost_of_item(e, p->following.at[i], c, 0));
        return least;
    }
    u32 set = p->rows.at[a->row].set;
    if (ep_set_accepts(p, set)) least = c->at[0];
    for (u32 i = 0; i < ep_set_size(p, set); i++) least = min_u32(least, cost_of_item(e, ep_set_item(p, set, i), c, 0));
    return least;
}

/* Of one pair of a lexer state; 0 where it is not known. */
static u32 cost_of_pair(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest) {
    ct_table *t = &e->fewest;
    u64 key = row_key(CT_OF_EXPRESSION, rest, 0);
    ct_costs c;
    bool known = map_get(&t->row_of, key) != NONE;
    if (known) c = row_of(e, CT_OF_EXPRESSION, rest, 0);
    else if (!ct_cost_expression(e, t, rest, 0, CT_DERIVATIVES, &c, &known) || !known) return 0;
    follow_skips(e, &c);
    return cost_behind(e, a, lexeme, &c);
}

u32 ct_least(ge_engine *e, u32 config) {
    ct_table *t = &e->fewest;
    u32 least = CT_NEVER;
    if (cf_at(e, config)->complete || !ct_begin(e, t)) return 0;
    for (u32 i = 0, n = cf_count(e, config); i < n && least; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1) && least; k++) {
            id_vec pairs = {0};
            if (!lx_pairs(&e->lx, a.state >> 1, k, &pairs)) least = 0;
            for (u32 j = 0; j < pairs.n && least; j += 2) least = min_u32(least, cost_of_pair(e, &a, pairs.at[j], pairs.at[j + 1]));
            vec_drop(&e->b, &pairs);
        }
    }
    if (t->off || e->b.status != GE_OK) return 0;
    return least == CT_NEVER ? NONE : least;
}

void ct_drop(ge_engine *e) {
    ct_table *t = &e->fewest;
    vec_drop(&e->b, &t->seams);
    map_drop(&e->b, &t->seam_of);
    vec_drop(&e->b, &t->special);
    map_drop(&e->b, &t->loops);
    map_drop(&e->b, &t->walk_of);
    vec_drop(&e->b, &t->walks);
    vec_drop(&e->b, &t->nexts);
    map_drop(&e->b, &t->row_of);
    vec_drop(&e->b, &t->rows);
    vec_drop(&e->b, &t->keys);
    map_drop(&e->b, &t->point_costs);
}
