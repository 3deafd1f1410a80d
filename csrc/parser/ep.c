/* ep: Earley rows, interned by content. Stage 4 of 7: lexemes -> rows.
 *
 * Idea. Earley (1970) keeps a set of items per position of the text and lets items refer to positions. Here a set of items is interned
 * by content and items refer to interned sets, so that a row is a function of what may still come and not of what has been: rows recur,
 * and the step from row to row is computed once, for all texts. (Known relatives: Leermakers' recursive ascent, lazy LR generation by
 * Heering, Klint and Rekers, the interned sets of YAEP, the lookahead automata of ALL(*).)
 *
 *     item          (return point, node)     the suffix `node` is to come (gr.h), then what the return point says
 *     set           [accepts | items]        the text may end, or go on with any of the items
 *     return point  a set with a name        what may come after a nonterminal that is called
 *     row           a set and its closure    by prediction: which lexemes may come, and the items after each
 *
 * goto(row, lexeme) takes the row's items after that lexeme; items that end, or may, are followed into the set of their return point
 * (*completion*, ep_complete.c); the result, sorted, is interned; if it is new, it becomes a row, which knows its lexemes (ep_first.c). The
 * items after them are made by *prediction* (ep_predict.c) when the first goto from that row asks for them.
 *
 * What identifies a row. Two sets of equal content have equal futures, as each future step is a function of the content. So it is sound
 * to leave out all that is a function of the rest, and all that has no future: predicted items are a function of the set; a finished
 * item has had its effect once completion has added the set of its return point (or "accepts", which is in the identity); a nonterminal
 * is not named, since whom to return to is all that matters of it (only the owner of a node is, for `explain`).
 *
 * Nullable symbols (Aycock, Horspool 2002). Walks step over symbols that may be empty, and completion treats a suffix that may be empty
 * as one that ends. So every symbol that is completed has read at least one lexeme, no empty rule exists here, and a node that is not to
 * be stepped over (gr.h, loose lists) is one whose symbol must not be empty.
 *
 * Return points. When the row predicts a nonterminal X, the return point of X is the set of what comes after X: for each item that waits
 * for X (its node after X, its own return point), closed under completion. As it is interned by content,
 *   - rows that differ elsewhere share everything below the call;
 *   - a *tail call* needs no code: if the waiting items end after X, the new set is the union of the sets of their return points, and if
 *     that is one point's set, it is that point. So right recursion takes constant space (Leo 1991), through chains of predictions and
 *     with several waiting items too.
 *
 * Cycles. In left recursion (X -> X a) a waiting item's return point is the one that is being made. Such a strongly connected system of
 * return points is interned as a whole, with numbers for references into itself: finite, and equal systems are one. Further, for a
 * system of one point s with content C(s): if there is a point q with C(q) == C(s)[s := q], then s and q are equal, since they solve the
 * same equations: replacing s by q throughout a derivation of a text from s gives one from q, and conversely each item of q has an item
 * of s (itself, or one with s for q) that goes the same way; by induction on the length of the text, the futures are equal. Such q is
 * looked for among the return points in C(s) itself. That makes `S -> S S | a` and `E -> E + E | n` take constant space.
 *
 * Invariants (checked by test/t_parser.c).
 *   - The items of a set are ascending and distinct; points and nodes exist; in a row's set no node is GR_END, but at stubs (ep_cut.c).
 *   - set_point and set_row are NONE or refer back to the set.
 *   - lexemes of a row ascend; each has at least one item.
 *
 * Failure. Whatever ep_start and ep_goto add is taken back if they fail, except what stands by itself: rules made on demand, predictions.
 *
 * Cost. A row: linear in its items, and sorting; its prediction the same (ep_predict.c). Sets, rows and points are only ever added. */
#include "ep_parts.h"

typedef struct mark {
    u32 sets, points, cut_points, cycles, lexemes, starts, scans; /* not rows: ep_row_of_set makes one, as its last act */
} mark;

static mark take_mark(const ep_parser *p) {
    return (mark){intern_count(&p->sets), p->points.n, p->n_cut_points, intern_count(&p->cycles), p->lexemes.n, p->starts.n, p->scans.n};
}

static void go_back(ep_parser *p, mark m) {
    for (u32 i = m.points; i < p->points.n; i++) {
        u32 *of = &p->set_point.at[p->points.at[i]];
        if (*of != NONE && *of >= m.points) *of = NONE;
    }
    while (intern_count(&p->sets) > m.sets) intern_undo(&p->sets);
    while (intern_count(&p->cycles) > m.cycles) intern_undo(&p->cycles);
    p->set_point.n = p->set_row.n = m.sets;
    p->cycle_point.n = m.cycles;
    p->points.n = m.points;
    p->n_cut_points = m.cut_points;
    p->lexemes.n = m.lexemes;
    p->starts.n = m.starts;
    p->scans.n = m.scans;
}

/* The row of what has been collected; takes everything since m back on failure. */
static u32 finish(ep_parser *p, bool ok, mark m) {
    u32 set = ok && ep_collect_end(p, NONE) ? ep_set_of_items(p) : NONE;
    u32 row = set == NONE ? NONE : ep_row_of_set(p, set);
    if (row == NONE) go_back(p, m);
    p->n_rows = p->rows.n;
    p->n_points = p->points.n;
    p->n_rule_symbols = p->nodes.n - 1;
    if (row != NONE) p->max_items = max_u32(p->max_items, p->rows.at[row].items);
    return row;
}

/* Before anything is stamped: one operation can not use up the other half of the numbers. */
static void renew_stamps(ep_parser *p) {
    if (p->stamp < 1u << 31) return;
    memset(p->node_stamp.at, 0, p->node_stamp.n * sizeof *p->node_stamp.at);
    memset(p->nonterminal_stamp.at, 0, p->nonterminal_stamp.n * sizeof *p->nonterminal_stamp.at);
    memset(p->point_stamp.at, 0, p->point_stamp.n * sizeof *p->point_stamp.at);
    p->stamp = 0;
}

/* What comes after the lexemes of a row, if it is not known yet. */
static bool predict(ep_parser *p, u32 row) {
    p->for_cut = p->rows.at[row].is_cut;
    if (p->rows.at[row].starts != NONE) return true;
    mark m = take_mark(p);
    renew_stamps(p);
    if (!ep_predict(p, row)) return go_back(p, m), false;
    p->n_points = p->points.n;
    p->n_rule_symbols = p->nodes.n - 1;
    p->max_items = max_u32(p->max_items, p->rows.at[row].items);
    return true;
}

/* Return point 0, the end of the sentence, and copies of the growing parts of the grammar. */
static bool set_up(ep_parser *p) {
    const gr_grammar *g = p->g;
    if (!vec_copy(p->b, &p->nodes, &g->nodes) || !vec_copy(p->b, &p->nonterminals, &g->nonterminals)) return false;
    if (!vec_copy(p->b, &p->alternatives, &g->alternatives) || !ep_fit(p, &p->node_stamp, g->nodes.n)) return false;
    /* + 1: these exist even if there are no nonterminals */
    if (!ep_fit(p, &p->nonterminal_stamp, g->nonterminals.n + 1) || !ep_fit(p, &p->call_of, g->nonterminals.n + 1)) return false;
    p->accepts = 1;
    u32 set = ep_set_of_items(p);
    if (set == NONE || ep_point_of_set(p, set) == NONE) return false;
    p->n_points = 1;
    p->n_rule_symbols = p->nodes.n - 1;
    return true;
}

bool ep_init(ep_parser *p, budget *b, const gr_grammar *g, lx_lexer *lx) {
    memset(p, 0, sizeof *p);
    p->b = b;
    p->g = g;
    p->lx = lx;
    p->first_stub = EP_NO_STUBS;
    if (set_up(p)) return true;
    ep_drop(p);
    return false;
}

void ep_drop(ep_parser *p) {
    budget *b = p->b;
    if (!b) return;
    vec_drop(b, &p->nodes);
    vec_drop(b, &p->nonterminals);
    vec_drop(b, &p->alternatives);
    map_drop(b, &p->tails);
    intern_drop(b, &p->states);
    vec_drop(b, &p->state_tail);
    map_drop(b, &p->filled);
    vec_drop(b, &p->offers);
    vec_drop(b, &p->parts);
    vec_drop(b, &p->grouped);
    intern_drop(b, &p->sets);
    vec_drop(b, &p->set_point);
    vec_drop(b, &p->set_row);
    vec_drop(b, &p->points);
    intern_drop(b, &p->cycles);
    vec_drop(b, &p->cycle_point);
    vec_drop(b, &p->rows);
    vec_drop(b, &p->lexemes);
    vec_drop(b, &p->starts);
    vec_drop(b, &p->scans);
    vec_drop(b, &p->node_first);
    vec_drop(b, &p->firsts);
    map_drop(b, &p->resumed);
    vec_drop(b, &p->least_lexeme);
    vec_drop(b, &p->least_nonterminal);
    vec_drop(b, &p->least_node);
    vec_drop(b, &p->least_point);
    intern_drop(b, &p->taken);
    vec_drop(b, &p->least_taken);
    vec_drop(b, &p->common);
    vec_drop(b, &p->bag_sums);
    vec_drop(b, &p->slot_price);
    vec_drop(b, &p->least_missing);
    vec_drop(b, &p->node_stamp);
    vec_drop(b, &p->nonterminal_stamp);
    vec_drop(b, &p->point_stamp);
    vec_drop(b, &p->call_of);
    vec_drop(b, &p->calls);
    vec_drop(b, &p->waiters);
    vec_drop(b, &p->scanned);
    vec_drop(b, &p->waiter_order);
    vec_drop(b, &p->component);
    vec_drop(b, &p->todo);
    vec_drop(b, &p->words);
    vec_drop(b, &p->system);
    vec_drop(b, &p->items);
    vec_drop(b, &p->sorting);
    vec_drop(b, &p->merged);
    vec_drop(b, &p->following);
    memset(p, 0, sizeof *p);
}

u32 ep_start(ep_parser *p) {
    mark m = take_mark(p);
    renew_stamps(p);
    p->for_cut = false;
    ep_collect_begin(p);
    return finish(p, ep_collect(p, EP_END_POINT, p->g->start), m);
}

/* `at`: of the group, in p->starts. */
static bool follow_group(ep_parser *p, u32 at, u32 lexeme) {
    for (u32 k = p->starts.at[at]; k < p->starts.at[at + 1]; k++) {
        ep_item item = p->scans.at[k];
        if (!ep_part_hole(p, ep_item_node(item), lexeme)) return false;
        for (u32 i = 0; i < p->offers.n; i++)
            if (!vec_push(p->b, &p->following, ep_item_make(ep_item_point(item), p->offers.at[i]))) return false;
    }
    return true;
}

bool ep_follow(ep_parser *p, u32 row, u32 lexeme) {
    if (!predict(p, row)) return false;
    u32 first = p->rows.at[row].first, end = first + p->rows.at[row].n_lexemes, at = first, starts = p->rows.at[row].starts;
    p->following.n = 0;
    for (u32 high = end; at < high;) {
        u32 middle = at + (high - at) / 2;
        if (p->lexemes.at[middle] < lexeme) at = middle + 1;
        else high = middle;
    }
    if (p->lexemes.at[at] == lexeme) { /* or a larger one, or the NONE at the end */
        u32 begin = p->starts.at[starts + at - first], n = p->starts.at[starts + at - first + 1] - begin;
        if (!vec_reserve(p->b, &p->following, n)) return false;
        memcpy(p->following.at, p->scans.at + begin, n * sizeof *p->following.at);
        p->following.n = n;
    }
    for (u32 k = end; k-- > first && p->lexemes.at[k] >= p->g->n_lexemes;) /* what is made on demand has the highest numbers */
        if (lexeme < p->g->n_lexemes && p->lx->lexemes.at[p->lexemes.at[k]].flags & LX_GROUP &&
            !follow_group(p, starts + k - first, lexeme))
            return false;
    return p->following.n || budget_fail(p->b, GE_E_ARGUMENT);
}

u32 ep_goto(ep_parser *p, u32 row, const u32 *lexemes, u32 n, u32 value) {
    if (!predict(p, row)) return NONE;
    mark m = take_mark(p);
    renew_stamps(p);
    ep_collect_begin(p);
    bool ok = true;
    for (u32 i = 0; i < n && ok; i++) {
        ok = ep_follow(p, row, lexemes[i]);
        for (u32 k = 0; ok && k < p->following.n; k++) {
            u32 node = ep_item_node(p->following.at[k]);
            if (p->nodes.at[node].flags & GR_HOLE) node = ep_fill(p, node, value);
            ok = node != NONE && ep_collect(p, ep_item_point(p->following.at[k]), node);
        }
    }
    return finish(p, ok, m);
}

bool ep_limit(ep_parser *p, u32 limit, u32 owner) {
    if (p->b->status == GE_OK && owner != NONE) p->b->symbol = 2 * owner + 1;
    return budget_limit(p->b, limit);
}

u32 ep_set_owner(const ep_parser *p, u32 set) {
    u32 owner = NONE;
    for (u32 i = 0; i < ep_set_size(p, set) && owner == NONE; i++) owner = p->nodes.at[ep_item_node(ep_set_item(p, set, i))].owner;
    return owner;
}

u32 ep_row_owner(const ep_parser *p, u32 row) { return ep_set_owner(p, p->rows.at[row].set); }

/* A union of closed sets is closed, and each item's future is its own: nothing but the union is to be made. */
u32 ep_join(ep_parser *p, const u32 *rows, u32 n) {
    mark m = take_mark(p);
    renew_stamps(p);
    p->for_cut = false;
    ep_collect_begin(p);
    bool ok = true;
    for (u32 i = 0; i < n && ok; i++) {
        u32 set = p->rows.at[rows[i]].set, size = ep_set_size(p, set);
        p->accepts |= ep_set_accepts(p, set);
        ok = vec_reserve(p->b, &p->items, size);
        for (u32 k = 0; k < size && ok; k++) p->items.at[p->items.n++] = ep_set_item(p, set, k);
        if (ok && p->items.n > p->b->limits.max_row_items) ok = ep_limit(p, LIMIT(max_row_items), ep_set_owner(p, set));
    }
    return finish(p, ok, m);
}

u32 ep_cut(ep_parser *p, u32 row, u32 depth) {
    u64 most = p->b->limits.max_rows;
    if (p->n_cut_rows >= most || p->n_cut_points >= most) return row; /* so there are hardly more */
    if (p->rows.at[row].cuts[depth] != NONE) return p->rows.at[row].cuts[depth];
    mark m = take_mark(p);
    p->for_cut = true;
    u32 cut = ep_make_cut(p, row, depth);
    if (cut == NONE) {
        go_back(p, m);
        if (p->first_stub >= p->points.n) p->first_stub = EP_NO_STUBS; /* the stubs went with it */
        return NONE;
    }
    p->n_rows = p->rows.n;
    p->n_points = p->points.n;
    return p->rows.at[row].cuts[depth] = cut;
}

u32 ep_resume(ep_parser *p, u32 row, u32 base, u32 depth) {
    u64 key = (u64)row << 32 | (base * EP_CUTS + depth);
    u32 known = map_get(&p->resumed, key);
    if (known != NONE) return known;
    mark m = take_mark(p);
    renew_stamps(p);
    p->for_cut = true;
    u32 made = finish(p, ep_collect_resumed(p, row, base, depth), m);
    return made == NONE || !map_put(p->b, &p->resumed, key, made) ? NONE : made;
}

bool ep_row_leaves(const ep_parser *p, u32 row) { return p->rows.at[row].leaves != 0; }

const u32 *ep_row_lexemes(const ep_parser *p, u32 row, u32 *n) {
    *n = p->rows.at[row].n_lexemes;
    return p->lexemes.at + p->rows.at[row].first;
}

bool ep_row_accepts(const ep_parser *p, u32 row) { return p->rows.at[row].accepts != 0; }

/* In proportion to items * distinct owners; there are few owners. */
bool ep_row_nonterminals(const ep_parser *p, u32 row, id_vec *out) {
    u32 set = p->rows.at[row].set;
    for (u32 i = 0; i < ep_set_size(p, set); i++) {
        u32 owner = p->nodes.at[ep_item_node(ep_set_item(p, set, i))].owner;
        bool known = owner == NONE;
        for (u32 k = 0; k < out->n && !known; k++) known = out->at[k] == owner;
        if (!known && !vec_push(p->b, out, owner)) return false;
    }
    return true;
}
