/* Rows of costs in tokens: see ct.h and ct_rows.h.
 *
 * Rows are made when they are asked for: of a symbol behind a seam, of what follows a key of a bag, of an expression, of members in any
 * order. Those of nonterminals are a least fixed point: new rows begin with "never", and passes over them go on until none becomes cheaper;
 * older ones are final. A row is made again only if one has changed of those that it was made of. */
#include "ct_rows.h"

enum {
    CT_SIDE = 32,    /* seams that are looked at side by side */
    CT_NESTED = 100, /* rows that are begun within each other */
    CT_ROW_WORK = 4, /* nodes of a trie that could be visited instead */
    CT_PASS_WORK = 64 /* the same, for a row that is made */
};

static bool make_row(ge_engine *e, u32 row, bool *changed);

/* The index of a row, with what is known of it so far; a new one is to be settled. NONE on failure. */
static u32 row_of_costs(ge_engine *e, u32 kind, u32 id, u32 seam) {
    ct_table *t = &e->cl.fewest;
    u64 key = ct_row_key(kind, id, seam);
    u32 row = map_get(&t->row_of, key);
    if (row == NONE) {
        ct_costs costs = ct_never();
        bool changed;
        u32 least;
        if (kind == CT_OF_EXPRESSION && !ct_cost_expression(e, t, id, seam, CT_DERIVED, &costs, &least)) return NONE;
        row = t->rows.n;
        if (!vec_reserve(&e->b, &t->rows, 1) || !vec_reserve(&e->b, &t->told, 1) || !map_put(&e->b, &t->row_of, key, row)) return NONE;
        t->rows.at[t->rows.n++] = costs;
        t->told.at[t->told.n++] = (ct_told){.key = key};
        if (kind != CT_OF_EXPRESSION && t->nested < CT_NESTED) {
            t->nested++;
            make_row(e, row, &changed);
            t->nested--;
        }
    }
    bool is_final = row < t->settled || kind == CT_OF_EXPRESSION;
    return is_final || vec_push(&e->b, &t->asked, row) ? row : NONE;
}

/* See ct.h. What is cheapest behind each seam that is left, or behind one that
 * covers it, is as cheap as before: by induction along a text, so is what follows. */
void ct_prune(const ct_table *t, ct_costs *c) {
    u32 n = t->seams.n;
    for (u32 seam = 0; seam < n; seam++) {
        u32 cost = c->at[seam] + (seam == 0 ? 1u : 0u); /* the first covers what a token of its own does */
        if (c->at[seam] == CT_NEVER) continue;
        for (u32 i = 0; i * 64 < n; i++)
            for (u64 left = t->covers[seam][i]; left; left &= left - 1) {
                u32 other = i * 64 + (u32)__builtin_ctzll(left);
                if (c->at[other] >= cost) c->at[other] = CT_NEVER;
            }
    }
}

/* *c = the costs behind c and a symbol (or what else has rows). */
void ct_follow(ge_engine *e, u32 kind, u32 id, ct_costs *c) {
    ct_costs sum = ct_never();
    for (u32 seam = 0; seam < e->cl.fewest.seams.n; seam++) {
        if (c->at[seam] == CT_NEVER || !ct_spend(e, &e->cl.fewest, CT_ROW_WORK)) continue;
        u32 row = row_of_costs(e, kind, id, seam), cost = c->at[seam];
        if (row == NONE) continue;
        const u16 *more = e->cl.fewest.rows.at[row].at;
        for (u32 i = 0, n = (e->cl.fewest.seams.n + CT_SIDE - 1) / CT_SIDE * CT_SIDE; i < n; i++) {
            u16 way = ct_sum(more[i], cost);
            sum.at[i] = sum.at[i] < way ? sum.at[i] : way;
        }
    }
    ct_prune(&e->cl.fewest, &sum);
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
    ct_prune(&e->cl.fewest, c);
}

/* The costs that a row has, by those that others have now. */
static bool cost_row(ge_engine *e, u64 key, ct_costs *c) {
    u32 kind = (u32)(key >> 56), id = (u32)(key >> 8), seam = (u32)key & 0xff;
    *c = ct_never();
    c->at[seam] = 0;
    if (kind == CT_OF_HOLE) {
        gr_node hole = e->ep.nodes.at[id];
        ct_follow_key(e, hole.next, hole.symbol, c);
    } else if (kind == CT_OF_WAY) {
        ct_follow_symbols_of_way(e, id, c);
    } else if (kind == CT_OF_KIND) {
        ct_follow_kind(e, id, c);
    } else if (kind == CT_OF_PLACE) {
        ct_follow_place(e, id, c);
    } else if (id & 1) {
        follow_nonterminal(e, id >> 1, c);
    } else {
        ct_follow(e, CT_OF_EXPRESSION, e->lx.lexemes.at[id >> 1].expr, c);
        ct_follow_skips(e, c);
    }
    return e->b.status == GE_OK;
}

/* Makes a row by those that others have now, and notes which. */
static bool make_row(ge_engine *e, u32 row, bool *changed) {
    ct_table *t = &e->cl.fewest;
    u32 n_asked = t->asked.n, made = ++t->clock;
    ct_costs c;
    if (!ct_charge(e, t, CT_PASS_WORK) || !cost_row(e, t->told.at[row].key, &c)) return false;
    ct_improve(&c, &t->rows.at[row]); /* what is made of cheaper rows need not be cheaper */
    u32 n = t->asked.n - n_asked;
    if (!vec_reserve(&e->b, &t->made_of, n)) return false;
    if (n) memcpy(t->made_of.at + t->made_of.n, t->asked.at + n_asked, n * sizeof *t->asked.at);
    ct_told *told = &t->told.at[row];
    *changed = memcmp(&c, &t->rows.at[row], sizeof c) != 0;
    *told = (ct_told){told->key, t->made_of.n, n, made, *changed ? ++t->clock : told->changed};
    t->made_of.n += n;
    t->asked.n = n_asked;
    t->rows.at[row] = c;
    return true;
}

/* Has a row changed, of which this was made? */
static bool is_old(const ct_table *t, const ct_told *told) {
    bool old = !told->made;
    for (u32 i = 0; i < told->n && !old; i++) old = t->told.at[t->made_of.at[told->first + i]].changed > told->made;
    return old;
}

bool ct_settle(ge_engine *e) {
    ct_table *t = &e->cl.fewest;
    for (bool again = t->settled < t->rows.n; again;) {
        u32 n = t->rows.n;
        again = false;
        for (u32 row = n; row-- > t->settled;) { /* those that others have asked for come first */
            bool changed;
            if (t->told.at[row].key >> 56 == CT_OF_EXPRESSION || !is_old(t, &t->told.at[row])) continue;
            if (!ct_spend(e, t, CT_ROW_WORK) || !make_row(e, row, &changed)) return false;
            again |= changed;
        }
        again |= t->rows.n > n; /* those that were begun meanwhile need not be made yet: CT_NESTED */
    }
    t->settled = t->rows.n;
    t->made_of.n = t->asked.n = 0;
    return e->b.status == GE_OK;
}
