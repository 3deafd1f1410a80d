#include "tt.h"

static int compare_items(const void *a, const void *b) {
    const tt_item *p = a, *q = b;
    u32 n = min_u32(p->n, q->n);
    int c = n ? memcmp(p->at, q->at, n) : 0;
    if (c) return c;
    if (p->n != q->n) return p->n < q->n ? -1 : 1;
    return p->token < q->token ? -1 : p->token > q->token;
}

/* One more token of the node `at`. */
static bool add_twin(tt_trie *t, budget *b, u32 at, u32 token) {
    u32 *head = &t->nodes.at[at].token;
    u32 first = t->twins.n;
    if (!(*head & TT_MANY)) {
        tt_twin only = {.token = *head, .next = NONE};
        if (!vec_push(b, &t->twins, only)) return false;
        *head = TT_MANY | first;
    }
    tt_twin more = {.token = token, .next = *head & ~TT_MANY};
    u32 index = t->twins.n;
    if (!vec_push(b, &t->twins, more)) return false;
    *head = TT_MANY | index;
    return true;
}

bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n) {
    VEC(u32) path = {0}; /* open nodes, by depth - 1 */
    const tt_item *previous = NULL;
    bool ok = true;
    memset(t, 0, sizeof *t);
    if (n) qsort(items, n, sizeof *items, compare_items);
    for (u32 i = 0; ok && i < n; i++) {
        const tt_item *item = &items[i];
        if (item->n == 0) continue;
        u32 common = 0;
        if (previous)
            while (common < previous->n && common < item->n && previous->at[common] == item->at[common]) common++;
        if (previous && common == item->n && common == previous->n) {
            ok = add_twin(t, b, path.at[path.n - 1], item->token);
            continue;
        }
        while (path.n > common) t->nodes.at[path.at[--path.n]].end = t->nodes.n;
        for (u32 d = common; ok && d < item->n; d++) {
            tt_node node = {.token = d + 1 == item->n ? item->token : NONE, .depth = (u16)(d + 1), .byte = item->at[d]};
            ok = vec_push(b, &path, t->nodes.n) && vec_push(b, &t->nodes, node);
        }
        t->max_depth = max_u32(t->max_depth, item->n);
        previous = item;
    }
    while (path.n) t->nodes.at[path.at[--path.n]].end = t->nodes.n;
    vec_drop(b, &path);
    if (!ok) tt_drop(t, b);
    return ok;
}

void tt_drop(tt_trie *t, budget *b) {
    vec_drop(b, &t->nodes);
    vec_drop(b, &t->twins);
}
