/* Code points as UTF-8, and large sets of literals. Both become tries whose ends are shared by hash-consing. */
#include "rx.h"
#include "utf8.h"

/* --- code points ------------------------------------------------------------------------------------------------------ */

typedef VEC(byte_run) run_vec;

static bool add_runs(rx_arena *x, run_vec *runs, u32 low, u32 high) {
    while (low <= high) {
        byte_run run;
        low = next_run(low, high, &run) + 1;
        if (!vec_push(x->b, runs, run)) return false;
    }
    return true;
}

/* Union of runs[0..n), whose first `depth` bytes are equal: one branch per distinct range of the next byte. */
static rx_id join_runs(rx_arena *x, const byte_run *runs, u32 n, u32 depth) {
    if (depth == 4 || runs[0].n == depth) return RX_ID_EMPTY;
    VEC(u32) branches = {0};
    rx_id id = NONE;
    for (u32 i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && runs[j].low[depth] == runs[i].low[depth] && runs[j].high[depth] == runs[i].high[depth]; j++)
            if (runs[j].n != runs[i].n) break;
        byte_set set = {{0}};
        set_add_range(&set, runs[i].low[depth], runs[i].high[depth]);
        rx_id branch = rx_concat(x, rx_set(x, &set), join_runs(x, runs + i, j - i, depth + 1)); /* at most 4 deep */
        if (branch == NONE || !vec_push(x->b, &branches, branch)) goto done;
    }
    id = rx_or(x, branches.at, branches.n);
done:
    vec_drop(x->b, &branches);
    return id;
}

rx_id rx_chars(rx_arena *x, const char_range *ranges, u32 n) {
    static const char_range lengths[] = {{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xd7ff}, {0xe000, 0xffff}, {0x10000, 0x10ffff}};
    run_vec runs = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < n; i++)
        for (u32 k = 0; ok && k < 5; k++) {
            u32 low = max_u32(ranges[i].low, lengths[k].low), high = min_u32(ranges[i].high, lengths[k].high);
            if (low <= high) ok = add_runs(x, &runs, low, high);
        }
    rx_id id = !ok ? NONE : runs.n ? join_runs(x, runs.at, runs.n, 0) : RX_ID_NEVER;
    vec_drop(x->b, &runs);
    if (id != NONE) x->meta.at[id].flags |= RX_TEXT;
    return id;
}

rx_id rx_text(rx_arena *x) {
    if (x->text == NONE) x->text = rx_repeat(x, rx_chars(x, &(char_range){0, 0x10ffff}, 1), 0, NONE);
    return x->text;
}

/* --- literals --------------------------------------------------------------------------------------------------------- */

/* The trie of sorted literals, closed from the right: `arms` holds the finished branches of all open nodes, `open[d]` says where those
 * of the node at depth d begin. Going to the next literal closes the nodes below the common prefix. */
rx_id rx_literals(rx_arena *x, const literal *literals, u32 n) {
    VEC(u32) arms = {0};
    VEC(u32) open = {0};
    bool ok = vec_push(x->b, &open, 0);
    for (u32 i = 0; ok && i <= n; i++) {
        const literal *previous = i ? &literals[i - 1] : NULL, *next = i < n ? &literals[i] : NULL;
        u32 common = 0;
        if (previous && next)
            while (common < previous->n && common < next->n && previous->at[common] == next->at[common]) common++;
        while (ok && previous && open.n - 1 > common) { /* close the node at depth open.n - 1 */
            u32 from = open.at[--open.n];
            rx_id node = rx_or(x, arms.at + from, arms.n - from);
            arms.n = from;
            rx_id branch = rx_concat(x, rx_byte(x, previous->at[open.n - 1]), node);
            ok = branch != NONE && vec_push(x->b, &arms, branch);
        }
        if (!next) break;
        for (u32 d = common; ok && d < next->n; d++) ok = vec_push(x->b, &open, arms.n);
        ok = ok && vec_push(x->b, &arms, RX_ID_EMPTY); /* the literal ends here */
    }
    rx_id id = ok ? rx_or(x, arms.at, arms.n) : NONE;
    vec_drop(x->b, &arms);
    vec_drop(x->b, &open);
    return id;
}
