/* ep_least: the length of the shortest text that may still come, in bytes, exact: of a row, and of a row after one of its lexemes.
 *
 * Nonterminals of the grammar: the least fixed point of "an alternative is as long as its symbols together", found by passes over all of
 * them, there and back, until none becomes shorter (that of Bellman and Ford, on hyperedges). Lists are arithmetic, bags greedy
 * (ep_least_bag.c). What is made on demand (tails of lists and bags, suffixes) is computed when it is asked for.
 *
 * Return points refer to older ones, but for left recursion, where a system of them was made together. So one pass in the order of their
 * ids serves, and more where it met a reference ahead. A way round such a cycle makes no text shorter.
 *
 * Lexemes of which the shortest text takes a long search (a number of six digits that is a multiple of nothing, say) may be on no shortest
 * way. So a search ends after a part of the work, with a lower bound, and all lengths are lower bounds then (`least_is_bound`).
 *
 * Distinct members: what a member under way will take away from those after it is not known before its end. If some must come after it, the
 * length is a lower bound until then; it is exact between members, and where none must come. With lexing="longest" all of this is a lower
 * bound. (closing/cl.c searches where it must.)
 *
 * Cost: each nonterminal, suffix and return point once, for all texts. */
#include "ep_parts.h"

#define NOT_LEARNED (NONE - 1)
enum { LEAST_PART = 64 }; /* part of the work of an operation that the shortest text of a lexeme may take */

static bool fit_unknown(ep_parser *p, void *vec, u32 n) {
    id_vec *v = vec;
    if (n <= v->n) return true;
    if (!vec_reserve(p->b, v, n - v->n)) return false;
    while (v->n < n) v->at[v->n++] = NOT_LEARNED;
    return true;
}

static u32 least_of_lexeme(ep_parser *p, u32 lexeme) {
    if (!fit_unknown(p, &p->least_lexeme, p->lx->lexemes.n)) return RX_NO_LENGTH;
    if (p->least_lexeme.at[lexeme] != NOT_LEARNED) return p->least_lexeme.at[lexeme];
    rx_id expr = p->lx->lexemes.at[lexeme].expr;
    budget_part part = budget_begin_part(p->b, p->b->limits.max_step_work / LEAST_PART);
    u32 least = rx_least(&p->lx->x, expr);
    if (budget_end_part(p->b, part)) {
        least = rx_least_bound(&p->lx->x, expr);
        p->least_is_bound = true;
    }
    return p->b->status == GE_OK ? p->least_lexeme.at[lexeme] = least : RX_NO_LENGTH;
}

static u32 least_of_tail(ep_parser *p, gr_nonterminal nt) {
    const gr_list *l = &p->g->lists.at[nt.template];
    u32 separator = l->separator == NONE ? 0 : ep_least_symbol(p, l->separator), item = ep_least_symbol(p, l->item);
    u32 missing = l->minimum > nt.state ? l->minimum - nt.state : 0;
    u32 units = nt.state || !missing ? missing : missing - 1; /* the first item has no separator */
    u32 sum = rx_times_length(units, rx_add_lengths(item, separator));
    return units == missing ? sum : rx_add_lengths(sum, item);
}

static u32 least_of_alternatives(ep_parser *p, gr_nonterminal nt) {
    u32 least = RX_NO_LENGTH;
    for (u32 i = 0; i < nt.n; i++) {
        u32 sum = 0;
        for (u32 node = p->alternatives.at[nt.first + i]; node != GR_END && sum < least; node = p->nodes.at[node].next)
            if (!(p->nodes.at[node].flags & GR_STEP)) sum = rx_add_lengths(sum, ep_least_symbol(p, p->nodes.at[node].symbol));
        least = min_u32(least, sum);
    }
    return least;
}

static u32 least_of_nonterminal(ep_parser *p, u32 x) {
    gr_nonterminal nt = p->nonterminals.at[x];
    if (nt.nullable) return 0;
    switch ((gr_kind)nt.kind) {
    case GR_RULES: return least_of_alternatives(p, nt);
    case GR_LIST: return least_of_tail(p, nt);
    case GR_BAG: return ep_least_of_new_bag(p, nt.template);
    case GR_BAG_TAIL: return ep_least_of_state(p, nt.state, true);
    case GR_BAG_REST: return ep_least_of_state(p, nt.state, false);
    }
    return RX_NO_LENGTH;
}

/* A failure is told with the place of the nonterminal, unless it has one. */
static void blame(ep_parser *p, u32 x) {
    u32 owner = p->nonterminals.at[x].owner;
    if (p->b->symbol == NONE && owner != NONE) p->b->symbol = 2 * owner + 1;
}

/* The fixed point, over the nonterminals of the grammar. */
static bool learn_least(ep_parser *p) {
    u32 n = p->g->nonterminals.n;
    if (!fit_unknown(p, &p->least_nonterminal, n)) return false;
    if (n) memset(p->least_nonterminal.at, 0xff, n * sizeof *p->least_nonterminal.at); /* no text, as far as is known */
    bool up = false;
    for (bool again = true; again; up = !up) {
        again = false;
        if (!budget_work(p->b, n)) return false;
        for (u32 i = 0; i < n; i++) {
            u32 x = up ? i : n - 1 - i, least = least_of_nonterminal(p, x);
            if (p->b->status != GE_OK) return blame(p, x), false;
            again |= least < p->least_nonterminal.at[x];
            p->least_nonterminal.at[x] = min_u32(least, p->least_nonterminal.at[x]);
        }
    }
    return p->knows_least = true;
}

bool ep_least_begin(ep_parser *p) { return p->knows_least || learn_least(p); }

u32 ep_least_symbol(ep_parser *p, u32 symbol) {
    if (!(symbol & 1)) return least_of_lexeme(p, symbol >> 1);
    u32 x = symbol >> 1;
    if (!fit_unknown(p, &p->least_nonterminal, x + 1)) return RX_NO_LENGTH;
    if (p->least_nonterminal.at[x] != NOT_LEARNED) return p->least_nonterminal.at[x];
    u32 least = least_of_nonterminal(p, x);
    return p->b->status == GE_OK ? p->least_nonterminal.at[x] = least : RX_NO_LENGTH;
}

/* From the end, so that each suffix is known. */
static u32 least_of_suffix(ep_parser *p, u32 node) {
    if (node == GR_END) return 0;
    if (!fit_unknown(p, &p->least_node, p->nodes.n)) return RX_NO_LENGTH;
    if (p->least_node.at[node] != NOT_LEARNED) return p->least_node.at[node];
    id_vec chain = {0};
    u32 least = 0, at = node;
    bool ok = true;
    for (; ok && at != GR_END && p->least_node.at[at] == NOT_LEARNED; at = p->nodes.at[at].flags & GR_HOLE ? GR_END : p->nodes.at[at].next)
        ok = vec_push(p->b, &chain, at);
    if (at != GR_END) least = p->least_node.at[at];
    while (ok && chain.n) {
        at = chain.at[--chain.n];
        gr_node n = p->nodes.at[at];
        if (n.flags & GR_HOLE) least = ep_least_after_key(p, n.next, n.symbol);
        else if (!(n.flags & GR_STEP)) least = rx_add_lengths(least, ep_least_symbol(p, n.symbol));
        ok = p->b->status == GE_OK;
        if (ok) p->least_node.at[at] = least;
    }
    vec_drop(p->b, &chain);
    return ok ? least : RX_NO_LENGTH;
}

/* Of the items of a set; those whose point has no length yet count as endless, and *ahead tells of them. */
static u32 least_of_set(ep_parser *p, u32 set, bool *ahead) {
    if (ep_set_accepts(p, set)) return 0;
    u32 least = RX_NO_LENGTH;
    for (u32 i = 0; i < ep_set_size(p, set); i++) {
        ep_item item = ep_set_item(p, set, i);
        u32 point = p->least_point.at[ep_item_point(item)];
        if (point == NOT_LEARNED) *ahead = true;
        else least = min_u32(least, rx_add_lengths(least_of_suffix(p, ep_item_node(item)), point));
    }
    return least;
}

/* All points, up to the newest. */
static bool learn_points(ep_parser *p) {
    u32 first = p->least_point.n, n = p->points.n;
    bool ahead = false;
    if (!fit_unknown(p, &p->least_point, n)) return false;
    for (bool again = first < n; again;) {
        again = false;
        for (u32 point = first; point < n; point++) {
            bool incomplete = false;
            u32 least = least_of_set(p, p->points.at[point], &incomplete), *known = &p->least_point.at[point];
            if (p->b->status != GE_OK) return p->least_point.n = first, false;
            ahead |= incomplete;
            if (incomplete && least == RX_NO_LENGTH) continue;
            again |= ahead && least < *known;
            *known = min_u32(least, *known);
        }
    }
    return true;
}

u32 ep_least_row(ep_parser *p, u32 row) {
    bool ahead = false;
    return learn_points(p) ? least_of_set(p, p->rows.at[row].set, &ahead) : RX_NO_LENGTH;
}

static u32 least_of_item(ep_parser *p, ep_item item) {
    return rx_add_lengths(least_of_suffix(p, ep_item_node(item)), p->least_point.at[ep_item_point(item)]);
}

u32 ep_least_after(ep_parser *p, u32 row, u32 lexeme) {
    u32 least = RX_NO_LENGTH;
    if (!ep_follow(p, row, lexeme) || !learn_points(p)) return least; /* in this order: to follow may make points */
    for (u32 k = 0; k < p->following.n; k++) least = min_u32(least, least_of_item(p, p->following.at[k]));
    return least;
}

u32 ep_least_after_bound(ep_parser *p, u32 row, u32 lexeme) {
    u32 least = RX_NO_LENGTH;
    if (!ep_follow(p, row, lexeme) || !learn_points(p)) return 0;
    for (u32 k = 0; k < p->following.n; k++) {
        ep_item item = p->following.at[k];
        u32 node = ep_item_node(item);
        bool is_new =
            node != GR_END && p->nodes.at[node].flags & GR_HOLE && (node >= p->least_node.n || p->least_node.at[node] == NOT_LEARNED);
        u32 suffix = is_new ? ep_least_after_key_bound(p, p->nodes.at[node].next, p->nodes.at[node].symbol) : least_of_suffix(p, node);
        least = min_u32(least, rx_add_lengths(suffix, p->least_point.at[ep_item_point(item)]));
    }
    return least;
}

/* Do members have to follow whose values must differ from that of the distinct one that the item waits for? */
static bool value_matters(ep_parser *p, ep_item item) {
    gr_node n = p->nodes.at[ep_item_node(item)];
    return n.flags & GR_HOLE && p->g->ways.at[n.symbol].flags & GR_DISTINCT && ep_asks_for_values(p, n.next, n.symbol);
}

u32 ep_least_without(ep_parser *p, u32 row, u32 lexeme, u32 *bound) {
    u32 least = *bound = RX_NO_LENGTH;
    if (!ep_follow(p, row, lexeme) || !learn_points(p)) return least;
    for (u32 k = 0; k < p->following.n; k++) {
        ep_item item = p->following.at[k];
        u32 *of = value_matters(p, item) ? bound : &least;
        *of = min_u32(*of, least_of_item(p, item));
    }
    return least;
}
