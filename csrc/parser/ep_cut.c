/* ep_cut: rows that are cut off below, so that rows which differ only there have one in common.
 *
 * Idea. What comes after an operator is an operand, whatever is around the expression; only what comes after that depends on it. So where
 * something must be read in a row before anything returns, its return points are replaced by *stubs*, points of which nothing is known:
 *
 *     row        (P, product + sum) (Q, product + sum) (R, cast)    the points with the same nodes are one stub, in the order of the nodes
 *     cut row    (stub 0, cast) (stub 1, product + sum)
 *
 * What comes after a cut row may be cut again, with stubs of their own
 * (*depth*): the rows after an operator within brackets are cut rows, too.
 *
 * Prediction, scanning and completion take a stub as any point, but that it has no set to go on with: where something returns to it, the
 * finished item is kept, and the row *leaves*. What it says of what may come is not all then, and the row that was cut is asked for the
 * sets of its points: they take the place of the finished items (*resumed*).
 *
 * Exactness. All that is done with an item is to go on with its node, and with the set of its point where that is over. So as long as no
 * row leaves, the rows that come after a cut row by some lexemes are those after the row itself, with stubs for points, and the same
 * lexemes may come in both. A stub is the same points wherever it is met, whose items have gone the same way; so to go on with their sets
 * is right however many steps later.
 *
 * The set of a stub looks as if the sentence may end there. Only cut rows
 * have such points, and nobody asks those how soon they can end (ep_least.c).
 *
 * Cost. Linear in the items, with the first nodes of points sorted. */
#include "ep_parts.h"

enum { ACCEPTS_STUB = 2 /* in front of a stub's set, plus its number: no other set is like it */ };

typedef struct same_point { /* items of a set with one point: [from, to) */
    u32 from, to;
} same_point;

bool ep_is_stub(const ep_parser *p, u32 point) { return point - p->first_stub < EP_CUTS * EP_STUBS; }

static bool make_stubs(ep_parser *p) {
    u32 first = p->points.n;
    if (p->first_stub != EP_NO_STUBS) return true;
    for (u32 k = 0; k < EP_CUTS * EP_STUBS; k++) {
        p->words.n = 0;
        if (!vec_push(p->b, &p->words, ACCEPTS_STUB + k)) return false;
        u32 set = ep_set_of_words(p);
        if (set == NONE || ep_point_of_set(p, set) == NONE) return false;
    }
    p->first_stub = first;
    return true;
}

static int compare_nodes(const ep_parser *p, u32 set, same_point a, same_point b) {
    for (u32 i = 0; a.from + i < a.to && b.from + i < b.to; i++) {
        u32 x = ep_item_node(ep_set_item(p, set, a.from + i)), y = ep_item_node(ep_set_item(p, set, b.from + i));
        if (x != y) return x < y ? -1 : 1;
    }
    return (a.to - a.from > b.to - b.from) - (a.to - a.from < b.to - b.from);
}

/* stubs = the items of each stub. False: nothing must come, or there are too many. */
static bool find_stubs(const ep_parser *p, u32 set, same_point *stubs, u32 *n) {
    u32 size = ep_set_size(p, set);
    *n = 0;
    for (u32 from = 0, to; from < size; from = to) {
        for (to = from; to < size && ep_item_point(ep_set_item(p, set, to)) == ep_item_point(ep_set_item(p, set, from)); to++)
            if (p->nodes.at[ep_item_node(ep_set_item(p, set, to))].flags & GR_REST_NULLABLE) return false;
        same_point made = {from, to};
        u32 k = *n;
        int order = 1;
        while (k > 0 && (order = compare_nodes(p, set, stubs[k - 1], made)) > 0) k--;
        if (k > 0 && order == 0) continue;
        if (*n == EP_STUBS) return false;
        memmove(stubs + k + 1, stubs + k, ((*n)++ - k) * sizeof *stubs);
        stubs[k] = made;
    }
    return size > 0;
}

u32 ep_make_cut(ep_parser *p, u32 row, u32 depth) {
    ep_row made = p->rows.at[row];
    same_point stubs[EP_STUBS];
    u32 n;
    if (!find_stubs(p, made.set, stubs, &n)) return row;
    u32 size = ep_set_size(p, made.set);
    if (!make_stubs(p) || !ep_work(p, size) || !vec_reserve(p->b, &p->items, size)) return NONE;
    p->accepts = p->items.n = 0;
    for (u32 k = 0; k < n; k++)
        for (u32 i = stubs[k].from; i < stubs[k].to; i++)
            p->items.at[p->items.n++] = ep_item_make(p->first_stub + depth * EP_STUBS + k, ep_item_node(ep_set_item(p, made.set, i)));
    u32 set = ep_set_of_items(p);
    if (set == NONE || p->set_row.at[set] != NONE) return set == NONE ? NONE : p->set_row.at[set];
    made.set = set;
    made.accepts = 0;
    made.is_cut = 1;
    made.starts = NONE;
    made.items = p->items.n;
    memset(made.cuts, 0xff, sizeof made.cuts);
    if (!vec_push(p->b, &p->rows, made)) return NONE;
    p->n_cut_rows++;
    return p->set_row.at[set] = p->rows.n - 1;
}

/* Collects the points of a row for which a stub stands. */
static bool collect_stub(ep_parser *p, u32 set, same_point stub) {
    u32 size = ep_set_size(p, set);
    for (u32 from = 0, to; from < size; from = to) {
        u32 point = ep_item_point(ep_set_item(p, set, from));
        for (to = from + 1; to < size && ep_item_point(ep_set_item(p, set, to)) == point;) to++;
        if (compare_nodes(p, set, stub, (same_point){from, to}) == 0 && !ep_collect(p, point, GR_END)) return false;
    }
    return true;
}

bool ep_collect_resumed(ep_parser *p, u32 row, u32 base, u32 depth) {
    u32 set = p->rows.at[row].set, base_set = p->rows.at[base].set, n;
    same_point stubs[EP_STUBS];
    if (!find_stubs(p, base_set, stubs, &n)) return budget_fail(p->b, GE_E_ARGUMENT);
    ep_collect_begin(p);
    p->accepts = ep_set_accepts(p, set);
    for (u32 i = 0; i < ep_set_size(p, set); i++) {
        ep_item item = ep_set_item(p, set, i);
        u32 k = ep_item_point(item) - p->first_stub - depth * EP_STUBS;
        bool returns = ep_item_node(item) == GR_END && k < n;
        if (returns ? !collect_stub(p, base_set, stubs[k]) : !vec_push(p->b, &p->items, item)) return false;
    }
    return true;
}
