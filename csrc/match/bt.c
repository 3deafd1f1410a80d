/* bt: batches, one step of many texts in one call.
 *
 *     1. the calling thread does every item that is warm, and takes no lock for it
 *     2. what is left is cold: sorted by engine, a group for each
 *
 *           engine A: 3 9 12   engine B: 0 7   engine C: 5        up to n_threads at once; each takes a group, does it, takes the next
 *
 * Items of one engine would take turns at its lock, so a group is the work of one thread, and a batch over one grammar that of the calling
 * thread. A warm mask is a copy: to hand it to another thread costs more than to make it.
 *
 * Threads are begun by the call that has groups for them and end with it. To begin and to await one costs as much as a small cold mask or
 * two. So the calling thread begins alone, and begins the others once what it has seen says that they are worth it: as long as the items so
 * far took, those that are left will take. One that cannot be begun is done without. */
#include <time.h>

#include "../base/threads.h"
#include "mt.h"

enum {
    BT_WORTH = 250,    /* microseconds of work that threads are begun for */
    BT_STACK = 1 << 23 /* bytes: where the system's default is small, regular expressions nest deeper than it holds */
};

typedef struct bt_item {
    const ge_engine *engine;
    u32 index; /* in the batch */
} bt_item;

typedef struct bt_work {
    const ge_batch *batch;
    bt_item *cold; /* by engine */
    u32 n_cold;
    u32 *group; /* [i] = index in cold of the first item of group i; [n_groups] = n_cold */
    u32 n_groups;
    u32 _Atomic next; /* group that nobody has taken */
    thread_team others;
} bt_work;

/* False: the item, or what is left of it, is cold; only if warm_only. */
static bool do_item(const ge_batch *b, size_t i, bool warm_only) {
    ge_err err;
    int32_t result = 0;
    if (b->tokens && b->tokens[i] != INT64_MIN && !b->accepted[i]) {
        result = mt_accept_token(b->matchers[i], b->tokens[i], warm_only, &err);
        if (result == EN_COLD) return false;
        b->accepted[i] = result > 0;
    }
    if (result >= 0) result = mt_fill_mask(b->matchers[i], b->masks, b->rows[i], b->n_words, warm_only, &err);
    if (result == EN_COLD) return false;
    b->failed[i] = result < 0;
    b->needed[i] = result < 0 || !(result & GE_MASK_ALL);
    b->changed[i] = result < 0 || !(result & GE_MASK_SAME);
    return true;
}

static int compare_items(const void *left, const void *right) {
    const bt_item *a = left, *b = right;
    if (a->engine != b->engine) return (uintptr_t)a->engine < (uintptr_t)b->engine ? -1 : 1;
    return a->index < b->index ? -1 : 1; /* a group in the order of the batch */
}

static void find_groups(bt_work *w) {
    qsort(w->cold, w->n_cold, sizeof *w->cold, compare_items);
    for (u32 i = 0; i < w->n_cold; i++)
        if (!i || w->cold[i].engine != w->cold[i - 1].engine) w->group[w->n_groups++] = i;
    w->group[w->n_groups] = w->n_cold;
}

static void *do_groups(void *work) {
    bt_work *w = work;
    for (u32 g; (g = atomic_fetch_add(&w->next, 1)) < w->n_groups;)
        for (u32 i = w->group[g]; i < w->group[g + 1]; i++) (void)do_item(w->batch, w->cold[i].index, false);
    return NULL;
}

static u64 now(void) { /* microseconds */
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

static void do_cold(bt_work *w) {
    u32 most = w->batch->n_threads - 1, i = 0;
    u64 begin = now();
    for (u32 g = 0; g < w->n_groups && !w->others.n; g++) {
        atomic_store(&w->next, g + 1);
        while (i < w->group[g + 1]) {
            (void)do_item(w->batch, w->cold[i++].index, false);
            u32 mine = g + (i == w->group[g + 1]); /* the group that this thread does next */
            if (w->others.n || mine + 1 >= w->n_groups) continue;
            if ((now() - begin) * (w->n_cold - i) / i >= BT_WORTH)
                team_begin(&w->others, min_u32(most, w->n_groups - mine - 1), BT_STACK, do_groups, w, 0);
        }
    }
    (void)do_groups(w);
    team_join(&w->others);
}

size_t ge_batch_run(const ge_batch *batch) {
    bt_work w = {.batch = batch};
    size_t n_failed = 0;
    bool room = batch->n_threads > 1;
    for (size_t i = 0; i < batch->n; i++) {
        batch->accepted[i] = false;
        if (do_item(batch, i, room)) continue;
        if (!w.cold) {
            w.cold = malloc((batch->n - i) * sizeof *w.cold);
            w.group = malloc((batch->n - i + 1) * sizeof *w.group);
            room = w.cold && w.group;
        }
        if (room) w.cold[w.n_cold++] = (bt_item){mt_engine(batch->matchers[i]), (u32)i};
        else (void)do_item(batch, i, false);
    }
    if (w.n_cold) {
        find_groups(&w);
        do_cold(&w);
    }
    free(w.cold);
    free(w.group);
    for (size_t i = 0; i < batch->n; i++) n_failed += batch->failed[i];
    return n_failed;
}
