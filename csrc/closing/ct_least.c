/* The least number of tokens that may still come: see ct.h.
 *
 * What comes behind a lexeme that is under way is what is left of the items that wait for it, and
 * then what their return points say. That is asked for by seams, and kept by return point and seam.
 *
 * What is left out, so that costs are lower bounds: upper bounds of lists; of bags conditions that members of several slots may meet, but
 * for one member, and the total where bags have many ways, that optional members come but once where they come in any order, and that
 * values differ. And lexing="longest".
 *
 * A lexeme under way is looked at by a few of its derivatives. What it says of the seams behind it is only used where it knows all of them;
 * what its conditions say, each alone, where it does not (ct_apart.c). */
#include "../parser/ep_parts.h"
#include "ct_rows.h"

enum {
    CT_DEPTH = 500,     /* return points in each other; what is behind them costs nothing */
    CT_DERIVATIVES = 64, /* of a lexeme that is under way */
    /* of the work of a search, one in so many: from there on such lexemes take a token at least, and no more is known; */
    CT_LATE = 24,
    CT_LATE_LARGE = 4      /* of a large table */
};

static u32 cost_of_point(ge_engine *e, u32 point, u32 seam, u32 depth);

/* Up to the end of the sentence: what is left of an item, then what its return point says. */
static u32 cost_of_item(ge_engine *e, ep_item item, const ct_costs *before, u32 depth) {
    u32 settled, least = CT_NEVER;
    ct_costs c;
    do { /* until all that was asked for is settled */
        settled = e->cl.fewest.settled;
        c = *before;
        ct_follow_suffix(e, ep_item_node(item), &c);
        if (!ct_settle(e)) return 0;
    } while (e->cl.fewest.settled > settled);
    for (u32 seam = 0; seam < e->cl.fewest.seams.n; seam++) {
        if (c.at[seam] < least) least = min_u32(least, ct_add(c.at[seam], cost_of_point(e, ep_item_point(item), seam, depth)));
    }
    return least;
}

static u32 cost_of_point(ge_engine *e, u32 point, u32 seam, u32 depth) {
    u64 key = (u64)point << 8 | seam;
    u32 least = map_get(&e->cl.fewest.point_costs, key), set = e->ep.points.at[point];
    ct_costs before = ct_never();
    if (least != NONE) return least;
    /* 0, too, where it is met in itself: left recursion */
    if (depth == CT_DEPTH || !map_put(&e->b, &e->cl.fewest.point_costs, key, 0)) return 0;
    least = ep_set_accepts(&e->ep, set) && seam == 0 ? 0 : CT_NEVER;
    before.at[seam] = 0;
    for (u32 i = 0; i < ep_set_size(&e->ep, set) && least; i++)
        least = min_u32(least, cost_of_item(e, ep_set_item(&e->ep, set, i), &before, depth + 1));
    map_put(&e->b, &e->cl.fewest.point_costs, key, e->b.status == GE_OK ? least : NONE);
    return least;
}

u32 ct_cost_behind(ge_engine *e, const cf_alternative *a, u32 lexeme, const ct_costs *c) {
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

static bool is_spent_late(const ge_engine *e) {
    const ct_table *t = &e->cl.fewest;
    return t->late / CT_NODES > t->limit / (t->is_large ? CT_LATE_LARGE : CT_LATE);
}

static bool cost_late(ge_engine *e, rx_id rest, ct_costs *c, u32 *least) {
    u64 before = e->cl.fewest.work;
    bool ok = ct_cost_expression(e, &e->cl.fewest, rest, 0, CT_DERIVATIVES, c, least);
    e->cl.fewest.late += e->cl.fewest.work - before;
    return ok;
}

/* Of one pair of a lexer state. */
static u32 cost_of_pair(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest) {
    ct_table *t = &e->cl.fewest;
    u64 key = ct_row_key(CT_OF_EXPRESSION, rest, 0);
    ct_costs c;
    u32 row = map_get(&t->row_of, key), least = CT_NEVER;
    if (row != NONE) c = t->rows.at[row];
    else if (is_spent_late(e)) return max_u32(!rx_nullable(&e->lx.x, rest), ct_cost_apart(e, a, lexeme, rest));
    else if (!cost_late(e, rest, &c, &least)) return 0;
    if (least != CT_NEVER) { /* to follow a bound from each seam is not worth while */
        for (u32 i = 0; i < CT_SEAMS; i++) least = min_u32(least, c.at[i]);
        return max_u32(least, ct_cost_apart(e, a, lexeme, rest));
    }
    ct_prune(t, &c);
    ct_follow_skips(e, &c);
    return ct_cost_behind(e, a, lexeme, &c);
}

bool ct_under_way(ge_engine *e, u32 config, id_vec *out) {
    id_vec pairs = {0};
    bool ok = true;
    for (u32 i = 0, n = cf_count(e, config); i < n && ok; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state) && ok; k++) {
            pairs.n = 0;
            ok = lx_pairs(&e->lx, state, k, &pairs);
            for (u32 j = 0; j < pairs.n && ok; j += 2)
                ok = vec_push(&e->b, out, i) && vec_push(&e->b, out, pairs.at[j]) && vec_push(&e->b, out, pairs.at[j + 1]);
        }
    }
    vec_drop(&e->b, &pairs);
    return ok;
}

static u32 least_of(ge_engine *e, u32 config) {
    id_vec ways = {0};
    u32 least = ct_under_way(e, config, &ways) ? CT_NEVER : 0;
    for (u32 i = 0; i < ways.n && least; i += CT_WAY_WORDS) {
        cf_alternative a = cf_alternative_at(e, config, ways.at[i]);
        least = min_u32(least, cost_of_pair(e, &a, ways.at[i + 1], ways.at[i + 2]));
    }
    vec_drop(&e->b, &ways);
    return least;
}

u32 ct_least(ge_engine *e, u32 config) {
    ct_table *t = &e->cl.fewest;
    /* texts of values do not matter here */
    if (cf_at(e, config)->complete || !ct_begin(e, t) || (config = cf_twin(e, config)) == NONE) return 0;
    u32 least = map_get(&t->least_of, config);
    if (least == NONE) {
        least = least_of(e, config);
        if (t->off || e->b.status != GE_OK || !map_put(&e->b, &t->least_of, config, least)) return 0;
    }
    return least == CT_NEVER ? NONE : least;
}

void ct_drop(ge_engine *e) {
    ct_table *t = &e->cl.fewest;
    vec_drop(&e->b, &t->seams);
    vec_drop(&e->b, &t->conditions);
    map_drop(&e->b, &t->condition_of);
    map_drop(&e->b, &t->seam_of);
    vec_drop(&e->b, &t->special);
    vec_drop(&e->b, &t->loops);
    vec_drop(&e->b, &t->derived);
    vec_drop(&e->b, &t->walked);
    map_drop(&e->b, &t->walk_of);
    vec_drop(&e->b, &t->walks);
    vec_drop(&e->b, &t->nexts);
    map_drop(&e->b, &t->row_of);
    vec_drop(&e->b, &t->rows);
    vec_drop(&e->b, &t->told);
    vec_drop(&e->b, &t->made_of);
    vec_drop(&e->b, &t->asked);
    vec_drop(&e->b, &t->plans);
    vec_drop(&e->b, &t->members);
    map_drop(&e->b, &t->plan_of);
    vec_drop(&e->b, &t->kind_plan);
    map_drop(&e->b, &t->point_costs);
    map_drop(&e->b, &t->least_of);
}

void ct_begin_anew(ge_engine *e, bool is_large) {
    ct_drop(e);
    e->cl.fewest = (ct_table){.is_large = is_large};
}
