/* What is left of a string with several conditions takes at least what each of them takes alone: see ct.h.
 *
 * Idea. A string of which patterns and lengths are asked is an intersection, and has as many derivatives as all of them have together: soon
 * too many for ct_lexeme.c. Each condition alone has few. Where all are asked, what is left takes the most that one of them takes, seam by
 * seam; of a union, the least that a part takes:
 *
 *     QUOTE(p & (q | r)) t     takes     max(QUOTE(p) t, min(QUOTE(q) t, QUOTE(r) t))
 *
 * That is a bound, and a poor guess: of ten patterns that are still to come it tells what one takes. What they take together tells how far
 * a text has got, and one narrow search goes by that. (The additive heuristic of planning: Bonet, Geffner 2001.)
 *
 * And a string goes on to a quotation mark. So the last token of a text that ends in one has a mark in it, and few tokens have. */
#include "ct_rows.h"

enum {
    CT_CONDITIONS = 256, /* of a string, that are looked at, */
    CT_WITHIN = 4,       /* so deep within each other; */
    CT_LOOK = 8,         /* nodes of a trie that could be visited instead */
    CT_ALONE = 8         /* of the work of a search, one in so many: from there on no condition is looked at for the first time */
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

/* Of a string under one condition, and what stands behind it. */
static ct_costs cost_of_condition(ge_engine *e, rx_id string) {
    ct_table *t = &e->cl.fewest;
    u32 known = map_get(&t->condition_of, string), least;
    ct_costs c = {0};
    if (known != NONE) return t->conditions.at[known];
    u64 before = t->work;
    if (t->apart / CT_NODES > t->limit / CT_ALONE || !ct_cost_expression(e, t, string, 0, CT_DERIVED, &c, &least)) return (ct_costs){0};
    t->apart += t->work - before;
    if (least != CT_NEVER) memset(&c, 0, sizeof c); /* it is not known at all seams */
    if (vec_push(&e->b, &t->conditions, c)) map_put(&e->b, &t->condition_of, string, t->conditions.n - 1);
    return c;
}

typedef struct string_costs { /* a string, by its conditions */
    u32 quote[5];      /* the node of which they are the operand */
    rx_id tail;
    u32 left;          /* that may still be looked at */
} string_costs;

static ct_conditions no_way(void) { return (ct_conditions){.together = CT_NEVER, .highest = CT_NEVER}; }

/* All of `one` is asked beside what `c` asks, or instead of it. */
static void join_conditions(ct_conditions *c, ct_conditions one, bool all) {
    u64 which = c->which + one.which;
    u32 highest = all ? max_u32(c->highest, one.highest) : min_u32(c->highest, one.highest);
    if (all) *c = (ct_conditions){c->n + one.n, c->together + one.together, 0, 0};
    else if (one.together < c->together) *c = one;
    c->highest = highest;
    c->which = which;
}

/* Of a condition that is no more than one. */
static ct_conditions one_condition(const rx_arena *x, rx_id id, const ct_costs *c) {
    u32 least = CT_NEVER;
    for (u32 i = 0; i < CT_SEAMS; i++) least = min_u32(least, c->at[i]);
    bool is_length = x->meta.at[id].flags & RX_FINITE; /* mostly that, and then another one behind each character */
    return (ct_conditions){1, least, least, is_length ? 0 : mix_u64(id)};
}

/* Of a string under a condition, which may be all of several, or one of several; they are counted in *need. */
static ct_costs cost_of_string(ge_engine *e, string_costs *of, rx_id condition, u32 depth, ct_conditions *need) {
    rx_arena *x = &e->lx.x;
    bool all = rx_kind_of(x, condition) == RX_AND;
    ct_costs c = {0};
    *need = (ct_conditions){.n = 1};
    if (depth && (all || rx_kind_of(x, condition) == RX_OR)) {
        if (!all) c = ct_never();
        *need = all ? (ct_conditions){0} : no_way();
        for (u32 i = 1, n = intern_length(&x->nodes, condition); i < n; i++) {
            ct_conditions more;
            ct_costs one = cost_of_string(e, of, intern_words(&x->nodes, condition)[i], depth - 1, &more);
            for (u32 k = 0; k < CT_SEAMS; k++) c.at[k] = all == (one.at[k] > c.at[k]) ? one.at[k] : c.at[k];
            join_conditions(need, more, all);
        }
        return c;
    }
    if (!of->left || !ct_spend(e, &e->cl.fewest, CT_LOOK)) return c;
    of->left--;
    rx_id string = rx_quote_again(x, condition, of->quote);
    if (string != NONE) string = rx_concat(x, string, of->tail);
    if (string != NONE) c = cost_of_condition(e, string), *need = one_condition(x, condition, &c);
    return c;
}

/* The same of what is left of a lexeme. False if that is no string, or on failure. */
static bool cost_of_rest(ge_engine *e, rx_id rest, ct_costs *c, ct_conditions *need) {
    rx_arena *x = &e->lx.x;
    rx_id parts_of = ct_fine(e, rest), behind;
    u32 n;
    string_costs of = {.left = CT_CONDITIONS};
    *c = ct_never();
    *need = no_way();
    if (parts_of == NONE) return false;
    union_of(x, &parts_of, &behind, &n);
    for (u32 i = 0; i < n && e->b.status == GE_OK; i++) {
        rx_id part = n == 1 ? parts_of : intern_words(&x->nodes, parts_of)[1 + i]; /* anew: the pool may have moved */
        rx_arm arm = rx_arm_of(x, &part);
        if (!arm.quote) return false;
        memcpy(of.quote, arm.quote, sizeof of.quote);
        of.tail = rx_concat(x, arm.tail, behind);
        if (of.tail == NONE) return false;
        ct_conditions more;
        ct_costs one = cost_of_string(e, &of, of.quote[1], CT_WITHIN, &more);
        ct_improve(c, &one);
        join_conditions(need, more, false);
    }
    return e->b.status == GE_OK;
}

u32 ct_cost_apart(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest) {
    ct_costs c;
    ct_conditions need;
    if (!cost_of_rest(e, rest, &c, &need) || c.at[0] == 0) return 0;
    ct_prune(&e->cl.fewest, &c);
    ct_follow_skips(e, &c);
    return ct_cost_behind(e, a, lexeme, &c);
}

ct_conditions ct_conditions_of(ge_engine *e, u32 config) {
    id_vec ways = {0};
    ct_conditions sum = no_way();
    bool ok = ct_under_way(e, config, &ways);
    for (u32 i = 0; i < ways.n && ok; i += CT_WAY_WORDS) {
        ct_costs c;
        ct_conditions need;
        if (cost_of_rest(e, ways.at[i + 2], &c, &need)) join_conditions(&sum, need, false); /* else it is white space, say */
        ok = e->b.status == GE_OK;
    }
    vec_drop(&e->b, &ways);
    return ok && sum.together != CT_NEVER ? sum : (ct_conditions){.which = mix_u64(config)};
}

/* That may have to be met by one string. */
static u32 count_conditions(const rx_arena *x, rx_id id, u32 depth, u32 *left) {
    bool all = rx_kind_of(x, id) == RX_AND;
    u32 n = 0;
    if (!depth || !*left || (!all && rx_kind_of(x, id) != RX_OR)) {
        if (*left) --*left;
        return 1;
    }
    for (u32 i = 1; i < intern_length(&x->nodes, id) && *left; i++) {
        u32 one = count_conditions(x, intern_words(&x->nodes, id)[i], depth - 1, left);
        n = all ? n + one : max_u32(n, one);
    }
    return n;
}

u32 ct_most_conditions(ge_engine *e) {
    rx_arena *x = &e->lx.x;
    u32 most = 0;
    for (u32 i = 0; i < e->g->n_lexemes; i++) {
        rx_id rest = rx_derive(x, e->lx.lexemes.at[i].expr, '"'), behind;
        if (rest == NONE) return 0;
        u32 n, left = CT_CONDITIONS;
        const rx_id *parts = union_of(x, &rest, &behind, &n);
        for (u32 k = 0; k < n && left; k++) {
            rx_arm arm = rx_arm_of(x, &parts[k]);
            if (arm.quote) most = max_u32(most, count_conditions(x, arm.quote[1], CT_WITHIN, &left));
        }
    }
    return most;
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
    id_vec ways = {0};
    bool ok = ct_under_way(e, config, &ways);
    for (u32 i = 0; i < ways.n && ok; i += CT_WAY_WORDS) ok = goes_to_mark(&e->lx.x, ways.at[i + 2]);
    vec_drop(&e->b, &ways);
    return ok;
}
