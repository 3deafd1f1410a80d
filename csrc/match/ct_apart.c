/* What is left of a string with several conditions takes at least what each of them takes alone: see ct.h.
 *
 * Idea. A string of which patterns and lengths are asked is an intersection, and has as many derivatives as all of them have together: soon too many for
 * ct_lexeme.c. Each condition alone has few. Of a union only those count that all its parts have in common:
 *
 *     (QUOTE(p & q) | QUOTE(p & r)) t     is within     QUOTE(p) t
 *
 * And a string goes on to a quotation mark. So the last token of a text that ends in one has a mark in it, and few tokens have. */
#include "ct_rows.h"

enum {
    CT_CONDITIONS = 4, /* of a string, that are looked at */
    CT_ALONE = 8       /* of the work of a search, one in so many: from there on no condition is looked at for the first time */
};

/* Parts of a union, and what stands behind it; or an expression as the only part. */
static const rx_id *union_of(const rx_arena *x, rx_id *id, rx_id *behind, u32 *n) {
    const u32 *node = intern_words(&x->nodes, *id);
    *behind = RX_ID_EMPTY;
    if (node[0] == RX_CONCAT && rx_kind_of(x, node[1]) == RX_OR) {
        *id = node[1];
        *behind = node[2];
    }
    bool has_many = rx_kind_of(x, *id) == RX_OR;
    *n = has_many ? intern_length(&x->nodes, *id) - 1 : 1;
    return has_many ? intern_words(&x->nodes, *id) + 1 : id;
}

/* Writes supersets of an expression, each with one condition of its string; how many, or NONE on failure. */
static u32 find_conditions(rx_arena *x, rx_id id, rx_id out[CT_CONDITIONS]) {
    u32 n_parts, n = 0, node[5];
    rx_id behind;
    const rx_id *parts = union_of(x, &id, &behind, &n_parts);
    rx_arm first = rx_arm_of(x, &parts[0]);
    if (!first.quote || (n_parts == 1 && first.n == 1)) return 0;
    for (u32 k = 0; k < first.n && n < CT_CONDITIONS; k++) {
        bool common = true;
        for (u32 i = 1; i < n_parts && common; i++) {
            rx_arm other = rx_arm_of(x, &parts[i]);
            common = rx_arms_are_akin(&first, &other) && rx_arm_has(&other, first.all[k]);
        }
        if (common) out[n++] = first.all[k];
    }
    memcpy(node, first.quote, sizeof node); /* the pool may move below */
    rx_id tail = n ? rx_concat(x, first.tail, behind) : RX_ID_EMPTY;
    for (u32 i = 0; i < n; i++)
        if (tail == NONE || (out[i] = rx_concat(x, rx_quote_again(x, out[i], node), tail)) == NONE) return NONE;
    return n;
}

static u32 cost_of_condition(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id condition) {
    ct_table *t = &e->fewest;
    u32 known = map_get(&t->condition_of, condition), least;
    ct_costs c;
    if (known != NONE) {
        c = t->conditions.at[known];
    } else {
        u64 before = t->work;
        if (t->apart / CT_NODES > e->b.limits.max_step_work / CT_ALONE || !ct_cost_expression(e, t, condition, 0, CT_DERIVED, &c, &least)) return 0;
        t->apart += t->work - before;
        if (least != CT_NEVER) memset(&c, 0, sizeof c); /* it is not known at all seams */
        if (!vec_push(&e->b, &t->conditions, c) || !map_put(&e->b, &t->condition_of, condition, t->conditions.n - 1)) return 0;
    }
    if (c.at[0] == 0) return 0;
    ct_prune(t, &c);
    ct_follow_skips(e, &c);
    return ct_cost_behind(e, a, lexeme, &c);
}

u32 ct_cost_apart(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest) {
    rx_id conditions[CT_CONDITIONS], few = ct_fine(e, rest);
    u32 n = few == NONE ? NONE : find_conditions(&e->lx.x, few, conditions), least = 0;
    for (u32 i = 0; n != NONE && i < n && e->b.status == GE_OK; i++) least = max_u32(least, cost_of_condition(e, a, lexeme, conditions[i]));
    return least;
}

static bool goes_to_mark(const rx_arena *x, rx_id id) {
    u32 n;
    rx_id behind;
    const rx_id *parts = union_of(x, &id, &behind, &n);
    for (u32 i = 0; i < n; i++) {
        rx_arm arm = rx_arm_of(x, &parts[i]);
        if (!arm.quote || !rx_begins_with_mark(x, arm.tail)) return false;
    }
    return true;
}

bool ct_ends_by_mark(ge_engine *e, u32 config) {
    bool ok = true;
    for (u32 i = 0, n = cf_count(e, config); i < n && ok; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1) && ok; k++) {
            id_vec pairs = {0};
            ok = lx_pairs(&e->lx, a.state >> 1, k, &pairs);
            for (u32 j = 0; j < pairs.n && ok; j += 2) ok = goes_to_mark(&e->lx.x, pairs.at[j + 1]);
            vec_drop(&e->b, &pairs);
        }
    }
    return ok;
}
