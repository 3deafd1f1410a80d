/* How many strings an expression has, up to a limit. Sums stop at it.
 *
 * The derivatives that are not empty are walked depth-first. One that is met again while it is under way leads back to itself, so there
 * is no end of strings. Otherwise they form an acyclic graph, and a node has as many strings as its derivatives together, and one more
 * if it contains "".
 *
 * Where that takes many steps (a million characters, say), strings are counted by their length before it goes on, those of ASCII first:
 * most sets have many short ones, however long the longest may be. */
#include "rx.h"

enum { STEPS_AT_FIRST = 1024, STEPS_BY_LENGTH = 8192 };

typedef struct one_length { /* strings of it */
    rx_id rest;             /* what may be behind them */
    u64 n;
} one_length;

typedef struct visit {
    rx_id id;
    u32 next_class;
    u64 sum;
} visit;

#define UNDER_WAY (NONE - 1) /* as an index of counts */

/* sum + n * size */
static u64 add_times(u64 sum, u64 n, u64 size, u64 limit) { return n > (limit - sum) / size ? limit : sum + n * size; }

/* Adds up the strings of some classes (those with a size), by length: *is_told if they reach the limit in few steps. */
static bool reach_by_length(rx_arena *x, rx_id start, u64 limit, const u64 *sizes, bool *is_told) {
    u64 count = 0;
    VEC(one_length) levels[2] = {0};
    word_map known = {0}; /* rest -> index in the level of the longer ones */
    u32 steps = 0, at = 0;
    bool ok = vec_push(x->b, &levels[0], ((one_length){start, 1}));
    for (; ok && levels[at].n && count < limit && steps < STEPS_BY_LENGTH; at ^= 1) {
        levels[at ^ 1].n = 0;
        map_drop(x->b, &known);
        for (u32 i = 0; ok && i < levels[at].n; i++) {
            one_length these = levels[at].at[i];
            if (rx_nullable(x, these.rest)) count = add_times(count, these.n, 1, limit);
            for (u32 c = 0; ok && c < x->n_classes; c++) {
                if (sizes[c] == 0) continue;
                steps++;
                rx_id rest = rx_derive(x, these.rest, x->class_byte[c]);
                ok = rest != NONE && budget_work(x->b, 1);
                bool empty = ok && rx_is_empty(x, rest);
                ok = ok && x->b->status == GE_OK;
                if (!ok || empty) continue;
                u32 index = map_get(&known, rest);
                if (index == NONE) {
                    index = levels[at ^ 1].n;
                    ok = map_put(x->b, &known, rest, index) && vec_push(x->b, &levels[at ^ 1], ((one_length){rest, 0}));
                }
                if (ok) levels[at ^ 1].at[index].n = add_times(levels[at ^ 1].at[index].n, these.n, sizes[c], limit);
            }
        }
    }
    *is_told = ok && count >= limit;
    vec_drop(x->b, &levels[0]);
    vec_drop(x->b, &levels[1]);
    map_drop(x->b, &known);
    return ok;
}

/* The same by what is behind a string, depth-first. */
static bool count_by_rest(rx_arena *x, rx_id start, u64 limit, const u64 *sizes, u64 most_steps, u64 *count, bool *is_told) {
    VEC(visit) path = {0};
    VEC(u64) counts = {0};
    word_map known = {0}; /* node -> index in counts, or UNDER_WAY */
    bool endless = false, ok = vec_push(x->b, &path, ((visit){start, 0, rx_nullable(x, start)})) && map_put(x->b, &known, start, UNDER_WAY);
    for (u64 steps = 0; ok && path.n && !endless && steps < most_steps; steps++) {
        visit *at = &path.at[path.n - 1];
        if (at->next_class == x->n_classes || at->sum >= limit) {
            ok = map_put(x->b, &known, at->id, counts.n) && vec_push(x->b, &counts, at->sum);
            u64 sum = at->sum;
            path.n--;
            if (path.n == 0) *count = sum;
            else {
                visit *above = &path.at[path.n - 1];
                u64 size = sizes[above->next_class++];
                above->sum = add_times(above->sum, sum, size, limit);
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
            at->sum = add_times(at->sum, sum, size, limit);
        } else if (!endless) {
            ok = vec_push(x->b, &path, ((visit){next, 0, rx_nullable(x, next)})) && map_put(x->b, &known, next, UNDER_WAY);
        }
    }
    if (endless || *count > limit) *count = limit;
    *is_told = ok && (endless || path.n == 0);
    vec_drop(x->b, &path);
    vec_drop(x->b, &counts);
    map_drop(x->b, &known);
    return ok;
}

bool rx_count(rx_arena *x, rx_id id, u64 limit, u64 *count) {
    u64 sizes[256] = {0}, in_ascii[256] = {0}; /* of classes */
    bool is_told = false;
    *count = 0;
    rx_refresh_classes(x);
    for (u32 byte = 0; byte < 256; byte++) sizes[x->class_of[byte]]++, in_ascii[x->class_of[byte]] += byte < 0x80;
    if (rx_is_empty(x, id) || x->b->status != GE_OK) return x->b->status == GE_OK;
    if (!count_by_rest(x, id, limit, sizes, STEPS_AT_FIRST, count, &is_told) || is_told) return x->b->status == GE_OK;
    if (!reach_by_length(x, id, limit, in_ascii, &is_told) || (!is_told && !reach_by_length(x, id, limit, sizes, &is_told))) return false;
    if (is_told) return *count = limit, true;
    return count_by_rest(x, id, limit, sizes, UINT64_MAX, count, &is_told);
}
