/* ep_complete: sets of items, closed under completion.
 *
 * When an item's suffix is over, or may be, everything in the set of its return point comes next as well. The collector follows that:
 * each return point is expanded once (stamped), so the cost is the sum of the sizes of the distinct sets that are met.
 *
 * A finished item (point, GR_END) says no more than "and all of that point's set", so it is not kept but replaced by that set: sets that
 * mean the same come out the same, and tail calls need no code (ep.c). But a set that is long and is copied into many others would cost
 * their product; the set of a *return point* therefore copies only sets of at most EP_FLAT items and refers to longer ones by keeping
 * the finished item. The set of a *row* has no finished items, but those at stubs (ep_cut.c). */
#include "ep_parts.h"

enum { SHORT = 64 }; /* items: what insertion sorts in fewer steps than counting bytes takes */

void ep_collect_begin(ep_parser *p) {
    ep_next_stamp(p);
    p->items.n = 0;
    p->todo.n = 0;
    p->accepts = 0;
}

static bool want_point(ep_parser *p, u32 point) {
    if (p->point_stamp.at[point] == p->stamp) return true;
    p->point_stamp.at[point] = p->stamp;
    return vec_push(p->b, &p->todo, point);
}

/* `point` may be EP_LOCAL + member: it has no set yet, so a finished item is kept. */
bool ep_collect(ep_parser *p, u32 point, u32 node) {
    if (node != GR_END && !vec_push(p->b, &p->items, ep_item_make(point, node))) return false;
    if (!(p->nodes.at[node].flags & GR_REST_NULLABLE)) return true;
    return point < EP_LOCAL ? want_point(p, point) : vec_push(p->b, &p->items, ep_item_make(point, GR_END));
}

/* Moves the first n items behind the others. Return points grow, so sets that were copied mostly go before what was collected before
 * them. */
static bool move_behind(ep_parser *p, u32 n) {
    ep_item *items = p->items.at;
    u32 others = p->items.n - n;
    if (!n || !others || items[0] < items[n]) return true;
    if (!vec_reserve(p->b, &p->sorting, n)) return false;
    memcpy(p->sorting.at, items, n * sizeof *items);
    memmove(items, items + n, others * sizeof *items);
    memcpy(items + others, p->sorting.at, n * sizeof *items);
    return true;
}

bool ep_collect_end(ep_parser *p, u32 flat) {
    u32 own = p->items.n;
    while (p->todo.n) {
        u32 point = p->todo.at[--p->todo.n], set = p->points.at[point], n = ep_set_size(p, set);
        if (n > flat || ep_is_stub(p, point)) {
            if (!vec_push(p->b, &p->items, ep_item_make(point, GR_END))) return false;
            continue;
        }
        if (ep_set_accepts(p, set)) p->accepts = 1;
        if (!vec_reserve(p->b, &p->items, n)) return false;
        for (u32 i = 0; i < n; i++) {
            ep_item item = ep_set_item(p, set, i);
            if (ep_item_node(item) != GR_END)
                p->items.at[p->items.n++] = item;
            else if (!want_point(p, ep_item_point(item)))
                return false;
        }
        if (p->items.n > p->b->limits.max_row_items) {
            if (!ep_sort(p, p->items.at, &p->items.n)) return false;
            own = 0;
            if (p->items.n > p->b->limits.max_row_items) return ep_limit(p, LIMIT(max_row_items), ep_set_owner(p, set));
        }
    }
    return ep_work(p, p->items.n) && move_behind(p, own) && ep_sort(p, p->items.at, &p->items.n);
}

/* Insertion for short arrays, which are mostly a few sorted runs; else radix sort by
 * bytes, least significant first, without the bytes that are the same everywhere. */
bool ep_sort(ep_parser *p, ep_item *items, u32 *n) {
    u32 count = *n, kept = 0, sorted = 1;
    while (sorted < count && items[sorted - 1] < items[sorted]) sorted++;
    if (sorted >= count) return true;
    if (count <= SHORT) {
        for (u32 i = sorted; i < count; i++) {
            ep_item item = items[i];
            u32 k = i;
            for (; k && items[k - 1] > item; k--) items[k] = items[k - 1];
            items[k] = item;
        }
    } else {
        if (!vec_reserve(p->b, &p->sorting, count)) return false;
        ep_item all = items[0], any = items[0], *from = items, *to = p->sorting.at;
        for (u32 i = 1; i < count; i++) all &= items[i], any |= items[i];
        for (u32 shift = 0; shift < 64; shift += 8) {
            if (((all ^ any) >> shift & 255) == 0) continue;
            u32 place[257] = {0};
            for (u32 i = 0; i < count; i++) place[(from[i] >> shift & 255) + 1]++;
            for (u32 v = 0; v < 256; v++) place[v + 1] += place[v];
            for (u32 i = 0; i < count; i++) to[place[from[i] >> shift & 255]++] = from[i];
            ep_item *swap = from;
            from = to;
            to = swap;
        }
        if (from != items) memcpy(items, from, count * sizeof *items);
    }
    for (u32 i = 0; i < count; i++)
        if (i == 0 || items[i] != items[i - 1]) items[kept++] = items[i];
    *n = kept;
    return true;
}

u32 ep_set_of_words(ep_parser *p) {
    if (!vec_reserve(p->b, &p->set_point, 1) || !vec_reserve(p->b, &p->set_row, 1)) return NONE;
    bool fresh;
    u32 set = intern(p->b, &p->sets, p->words.at, p->words.n, &fresh);
    if (set == NONE || !fresh) return set;
    p->set_point.at[p->set_point.n++] = NONE;
    p->set_row.at[p->set_row.n++] = NONE;
    return set;
}

u32 ep_set_of_items(ep_parser *p) {
    p->words.n = 0;
    if (!vec_reserve(p->b, &p->words, 1 + 2 * (u64)p->items.n)) return NONE;
    p->words.at[p->words.n++] = p->accepts;
    for (u32 i = 0; i < p->items.n; i++) {
        p->words.at[p->words.n++] = ep_item_point(p->items.at[i]);
        p->words.at[p->words.n++] = ep_item_node(p->items.at[i]);
    }
    return ep_set_of_words(p);
}

u32 ep_point_of_set(ep_parser *p, u32 set) {
    if (p->set_point.at[set] != NONE) return p->set_point.at[set];
    u32 point = p->points.n;
    if (!ep_may_add_points(p, 1)) return ep_limit(p, LIMIT(max_rows), ep_set_owner(p, set)), NONE;
    if (!ep_fit(p, &p->point_stamp, point + 1) || !vec_push(p->b, &p->points, set)) return NONE;
    p->n_cut_points += p->for_cut;
    return p->set_point.at[set] = point;
}
