/* Rows of costs in tokens: see ct.h and ct_rows.h.
 *
 * Rows are made when they are asked for: of a symbol behind a seam, of what follows a key of a bag, of an expression. Those of nonterminals
 * are a least fixed point: new rows begin with "never", and passes over them go on until none becomes cheaper; older ones are final. */
#include "ct_rows.h"

enum {
    CT_NESTED = 100, /* rows that are begun within each other */
    CT_ROW_WORK = 4, /* nodes of a trie that could be visited instead */
    CT_PASS_WORK = 64 /* the same, for a row in a pass */
};

static bool cost_row(ge_engine *e, u64 key, ct_costs *c);

ct_costs ct_row(ge_engine *e, u32 kind, u32 id, u32 seam) {
    ct_table *t = &e->fewest;
    u64 key = ct_row_key(kind, id, seam);
    u32 row = map_get(&t->row_of, key);
    if (row != NONE) return t->rows.at[row];
    ct_costs costs = ct_never();
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
void ct_follow(ge_engine *e, u32 kind, u32 id, ct_costs *c) {
    ct_costs sum = ct_never();
    for (u32 seam = 0; seam < e->fewest.seams.n; seam++) {
        if (c->at[seam] == CT_NEVER || !ct_spend(e, &e->fewest, CT_ROW_WORK)) continue;
        ct_costs row = ct_row(e, kind, id, seam);
        ct_add_to_all(&row, c->at[seam]);
        ct_improve(&sum, &row);
    }
    *c = sum;
}

void ct_follow_symbols(ge_engine *e, const u32 *symbols, u32 n, ct_costs *c) {
    for (u32 i = 0; i < n; i++) ct_follow(e, CT_OF_SYMBOL, symbols[i], c);
}

void ct_follow_skips(ge_engine *e, ct_costs *c) {
    for (bool again = e->skips.n > 0; again;) {
        ct_costs before = *c;
        for (u32 i = 0; i < e->skips.n; i++) {
            ct_costs more = *c;
            ct_follow(e, CT_OF_EXPRESSION, e->lx.lexemes.at[e->skips.at[i]].expr, &more);
            ct_improve(c, &more);
        }
        again = memcmp(&before, c, sizeof before) != 0;
    }
}

void ct_follow_suffix(ge_engine *e, u32 node, ct_costs *c) {
    for (; node != GR_END && !ct_is_never(c); node = e->ep.nodes.at[node].next) {
        gr_node n = e->ep.nodes.at[node];
        if (n.flags & GR_HOLE) {
            ct_follow(e, CT_OF_HOLE, node, c);
            return;
        }
        ct_follow(e, CT_OF_SYMBOL, n.symbol, c); /* what may be empty costs nothing */
    }
}

/* --- the fixed point ----------------------------------------------------------------------------------------------------- */

static void follow_nonterminal(ge_engine *e, u32 x, ct_costs *c) {
    gr_nonterminal nt = e->ep.nonterminals.at[x];
    ct_costs before = *c;
    switch ((gr_kind)nt.kind) {
    case GR_RULES:
        *c = ct_never();
        for (u32 i = 0; i < nt.n; i++) {
            ct_costs way = before;
            ct_follow_suffix(e, e->ep.alternatives.at[nt.first + i], &way);
            ct_improve(c, &way);
        }
        break;
    case GR_LIST: ct_follow_list(e, nt, c); break;
    case GR_BAG: ct_follow_new_bag(e, nt.template, c); break;
    case GR_BAG_TAIL: ct_follow_state(e, nt.state, true, c); break;
    case GR_BAG_REST: ct_follow_state(e, nt.state, false, c); break;
    }
    if (nt.nullable) ct_improve(c, &before);
}

/* The costs that a row has, by those that others have now. */
static bool cost_row(ge_engine *e, u64 key, ct_costs *c) {
    u32 kind = (u32)(key >> 62), id = (u32)(key >> 8), seam = (u32)key & 0xff;
    *c = ct_never();
    c->at[seam] = 0;
    if (kind == CT_OF_HOLE) {
        gr_node hole = e->ep.nodes.at[id];
        ct_follow_key(e, hole.next, hole.symbol, c);
    } else if (kind == CT_OF_SYMBOL && id & 1) {
        follow_nonterminal(e, id >> 1, c);
    } else {
        ct_follow(e, CT_OF_EXPRESSION, e->lx.lexemes.at[id >> 1].expr, c);
        ct_follow_skips(e, c);
    }
    return e->b.status == GE_OK;
}

bool ct_settle(ge_engine *e) {
    ct_table *t = &e->fewest;
    for (bool again = t->settled < t->rows.n; again;) {
        again = false;
        for (u32 row = t->rows.n; row-- > t->settled;) { /* those that others have asked for come first */
            u64 key = t->keys.at[row];
            u32 n = t->rows.n;
            ct_costs c;
            if (key >> 62 == CT_OF_EXPRESSION) continue;
            if (!ct_charge(e, t, CT_PASS_WORK) || !cost_row(e, key, &c)) return false;
            ct_improve(&c, &t->rows.at[row]); /* what ct_members.c makes of cheaper rows need not be cheaper */
            again |= t->rows.n > n || memcmp(&c, &t->rows.at[row], sizeof c) != 0;
            t->rows.at[row] = c;
        }
    }
    t->settled = t->rows.n;
    return e->b.status == GE_OK;
}
