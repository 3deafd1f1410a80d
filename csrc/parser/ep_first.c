/* ep_first: the lexemes that a set may begin with, which is all that is asked of most rows.
 *
 * Half of the rows that masks make are asked which lexemes may come, and not what comes after one: tokens end there. The first is a union
 * over the items of what their suffixes may begin with, whatever their return points; of a suffix it is found once. So a row is made
 * without prediction (ep_predict.c), which is done when it is asked what comes after a lexeme. */
#include "ep_parts.h"

/* Adds the lexemes that a suffix may begin with to p->merged, and nonterminals that were not met before to p->todo. */
static bool first_of_suffix(ep_parser *p, u32 node, u32 stamp) {
    for (; node != GR_END; node = p->nodes.at[node].next) {
        gr_node n = p->nodes.at[node];
        u32 x = n.symbol >> 1;
        if (!(n.symbol & 1)) return vec_push(p->b, &p->merged, x);
        if (p->nonterminal_stamp.at[x] != stamp) {
            p->nonterminal_stamp.at[x] = stamp;
            if (!vec_push(p->b, &p->todo, x)) return false;
        }
        if (!(n.flags & GR_STEP)) return true;
    }
    return true;
}

/* The index in p->firsts of what the suffix may begin with; NONE on failure. */
static u32 first_of_node(ep_parser *p, u32 node) {
    if (!vec_reach(p->b, &p->node_first, node)) return NONE;
    if (p->node_first.at[node] != NONE) return p->node_first.at[node];
    u32 stamp = ep_next_stamp(p), at = p->firsts.n, n;
    p->merged.n = p->todo.n = 0;
    if (!first_of_suffix(p, node, stamp)) return NONE;
    for (u32 i = 0; i < p->todo.n; i++) {
        u32 x = p->todo.at[i];
        if (p->nonterminals.at[x].first == NONE && !ep_expand(p, x)) return NONE;
        for (u32 k = 0; k < p->nonterminals.at[x].n; k++)
            if (!first_of_suffix(p, p->alternatives.at[p->nonterminals.at[x].first + k], stamp)) return NONE;
        if (!ep_work(p, p->nonterminals.at[x].n)) return NONE;
    }
    n = p->merged.n;
    if (!ep_sort(p, p->merged.at, &n) || !vec_reserve(p->b, &p->firsts, n + 1)) return NONE;
    p->firsts.at[p->firsts.n++] = n;
    for (u32 i = 0; i < n; i++) p->firsts.at[p->firsts.n++] = (u32)p->merged.at[i];
    return p->node_first.at[node] = at;
}

/* Appends what the set may begin with to p->lexemes. */
static bool add_lexemes(ep_parser *p, u32 set) {
    u32 n_nodes = 0, first = NONE, size = ep_set_size(p, set), n;
    for (u32 i = 0; i < size; i++) /* all that is not known yet, which takes stamps and scratch of its own */
        if (first_of_node(p, ep_item_node(ep_set_item(p, set, i))) == NONE) return false;
    u32 stamp = ep_next_stamp(p);
    p->merged.n = 0;
    for (u32 i = 0; i < size; i++) {
        u32 node = ep_item_node(ep_set_item(p, set, i));
        if (p->node_stamp.at[node] == stamp) continue;
        p->node_stamp.at[node] = stamp;
        first = p->node_first.at[node];
        n_nodes++;
        if (!vec_reserve(p->b, &p->merged, p->firsts.at[first])) return false;
        for (u32 k = 1; k <= p->firsts.at[first]; k++) p->merged.at[p->merged.n++] = p->firsts.at[first + k];
    }
    n = p->merged.n;
    if ((n_nodes > 1 && !ep_sort(p, p->merged.at, &n)) || !vec_reserve(p->b, &p->lexemes, n + 1)) return false;
    for (u32 i = 0; i < n; i++) p->lexemes.at[p->lexemes.n++] = (u32)p->merged.at[i];
    p->lexemes.at[p->lexemes.n++] = NONE;
    return ep_work(p, n);
}

u32 ep_row_of_set(ep_parser *p, u32 set) {
    u32 known = p->set_row.at[set];
    if (known != NONE && (p->for_cut || !p->rows.at[known].is_cut)) return known;
    if (!p->for_cut && p->rows.n - p->n_cut_rows >= p->b->limits.max_rows) return ep_limit(p, LIMIT(max_rows), ep_set_owner(p, set)), NONE;
    if (known != NONE) {
        p->rows.at[known].is_cut = 0;
        p->n_cut_rows--;
        return known;
    }
    u32 leaves = 0;
    for (u32 i = 0; i < ep_set_size(p, set); i++) leaves |= ep_item_node(ep_set_item(p, set, i)) == GR_END;
    ep_row row = {.set = set, .first = p->lexemes.n, .accepts = ep_set_accepts(p, set), .leaves = leaves, .is_cut = p->for_cut};
    row.starts = NONE;
    row.items = ep_set_size(p, set);
    memset(row.cuts, 0xff, sizeof row.cuts);
    if (!add_lexemes(p, set)) return NONE;
    row.n_lexemes = p->lexemes.n - row.first - 1;
    if (!vec_push(p->b, &p->rows, row)) return NONE;
    p->n_cut_rows += p->for_cut;
    return p->set_row.at[set] = p->rows.n - 1;
}
