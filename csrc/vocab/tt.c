#include "tt.h"

static int compare_items(const void *a, const void *b) {
    const tt_item *p = a, *q = b;
    u32 n = min_u32(p->n, q->n);
    int c = n ? memcmp(p->at, q->at, n) : 0;
    if (c) return c;
    if (p->n != q->n) return p->n < q->n ? -1 : 1;
    return p->token < q->token ? -1 : p->token > q->token;
}

/* The items [from, to) that begin with the bytes of a node, which has this depth. */
typedef struct range {
    u32 from, to, depth;
} range;

/* The token or tokens of a node: items [from, to), all of the same bytes. */
static u32 add_twins(tt_trie *t, budget *b, const tt_item *items, u32 from, u32 to) {
    if (to - from == 1) return items[from].token;
    u32 head = t->twins.n;
    for (u32 i = from; i < to; i++) {
        tt_twin twin = {.token = items[i].token, .next = i + 1 < to ? t->twins.n + 1 : NONE};
        if (!vec_push(b, &t->twins, twin)) return NONE;
    }
    return TT_MANY | head;
}

bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n) {
    VEC(range) nodes = {0};
    bool ok = true;
    memset(t, 0, sizeof *t);
    if (n) qsort(items, n, sizeof *items, compare_items);
    u32 from = 0;
    while (from < n && items[from].n == 0) from++;
    ok = vec_push(b, &nodes, ((range){from, n, 0})) && vec_push(b, &t->byte, 0);
    for (u32 i = 0; ok && i < nodes.n; i++) {
        range at = nodes.at[i];
        u32 end = at.from, next; /* items [at.from, end) end here */
        while (end < at.to && items[end].n == at.depth) end++;
        u32 token = end > at.from && at.depth ? add_twins(t, b, items, at.from, end) : NONE;
        ok = vec_push(b, &t->token, token) && vec_push(b, &t->first, nodes.n) && b->status == GE_OK;
        for (u32 k = end; ok && k < at.to; k = next) {
            u8 byte = items[k].at[at.depth];
            for (next = k + 1; next < at.to && items[next].at[at.depth] == byte;) next++;
            ok = vec_push(b, &nodes, ((range){k, next, at.depth + 1})) && vec_push(b, &t->byte, byte);
        }
    }
    ok = ok && vec_push(b, &t->first, nodes.n);
    vec_drop(b, &nodes);
    if (!ok) tt_drop(t, b);
    return ok;
}

void tt_drop(tt_trie *t, budget *b) {
    vec_drop(b, &t->byte);
    vec_drop(b, &t->first);
    vec_drop(b, &t->token);
    vec_drop(b, &t->twins);
}
