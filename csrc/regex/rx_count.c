/* How many strings an expression has, up to a limit.
 *
 * The derivatives that are not empty are walked depth-first. One that is met again while it is under way leads back to itself, so there
 * is no end of strings. Otherwise they form an acyclic graph, and a node has as many strings as its derivatives together, and one more
 * if it contains "". Sums stop at the limit. */
#include "rx.h"

typedef struct visit {
    rx_id id;
    u32 next_class;
    u64 sum;
} visit;

#define UNDER_WAY (NONE - 1) /* as an index of counts */

bool rx_count(rx_arena *x, rx_id start, u64 limit, u64 *count) {
    VEC(visit) path = {0};
    VEC(u64) counts = {0};
    word_map known = {0}; /* node -> index in counts, or UNDER_WAY */
    u64 sizes[256] = {0}; /* of classes */
    bool ok, endless = false;
    *count = 0;
    rx_refresh_classes(x);
    for (u32 byte = 0; byte < 256; byte++) sizes[x->class_of[byte]]++;
    if (rx_is_empty(x, start) || x->b->status != GE_OK) return x->b->status == GE_OK;
    ok = vec_push(x->b, &path, ((visit){start, 0, rx_nullable(x, start)})) && map_put(x->b, &known, start, UNDER_WAY);
    while (ok && path.n && !endless) {
        visit *at = &path.at[path.n - 1];
        if (at->next_class == x->n_classes || at->sum >= limit) {
            ok = map_put(x->b, &known, at->id, counts.n) && vec_push(x->b, &counts, at->sum);
            u64 sum = at->sum;
            path.n--;
            if (path.n == 0) *count = sum;
            else {
                visit *above = &path.at[path.n - 1];
                u64 size = sizes[above->next_class++];
                above->sum = sum > (limit - above->sum) / size ? limit : above->sum + sum * size;
            }
            continue;
        }
        rx_id next = rx_derive(x, at->id, x->class_byte[at->next_class]);
        ok = next != NONE && budget_work(x->b, 1);
        bool empty = ok && rx_is_empty(x, next);
        ok = ok && x->b->status == GE_OK;
        if (!ok) break;
        u32 index = empty ? NONE : map_get(&known, next);
        endless = index == UNDER_WAY;
        if (empty) {
            at->next_class++;
        } else if (index != NONE && !endless) {
            u64 sum = counts.at[index], size = sizes[at->next_class++];
            at->sum = sum > (limit - at->sum) / size ? limit : at->sum + sum * size;
        } else if (!endless) {
            ok = vec_push(x->b, &path, ((visit){next, 0, rx_nullable(x, next)})) && map_put(x->b, &known, next, UNDER_WAY);
        }
    }
    if (endless || *count > limit) *count = limit;
    vec_drop(x->b, &path);
    vec_drop(x->b, &counts);
    map_drop(x->b, &known);
    return ok;
}
