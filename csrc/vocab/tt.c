#include "tt.h"

enum { FEW = 24 }; /* items that are sorted by insertion */

/* Where an item goes among those that have its first `depth` bytes: first those that end there, then by the next byte. */
static u32 place_of(const tt_item *item, u32 depth) { return item->n == depth ? 0 : item->at[depth] + 1u; }

/* Sorts items of the same first `depth` bytes by place. Stable; all items that share a place stay together. spare: room for n. */
static void sort_items(tt_item *items, u32 n, u32 depth, tt_item *spare) {
    u32 sorted = 1;
    while (sorted < n && place_of(&items[sorted - 1], depth) <= place_of(&items[sorted], depth)) sorted++;
    if (sorted >= n) return; /* nearly always: one item, or tokens that were sorted for another trie */
    if (n <= FEW) {
        for (u32 i = sorted, k; i < n; i++) {
            tt_item item = items[i];
            for (k = i; k && place_of(&items[k - 1], depth) > place_of(&item, depth); k--) items[k] = items[k - 1];
            items[k] = item;
        }
        return;
    }
    u32 begin[258] = {0};
    for (u32 i = 0; i < n; i++) begin[place_of(&items[i], depth) + 1]++;
    for (u32 i = 1; i < 258; i++) begin[i] += begin[i - 1];
    for (u32 i = 0; i < n; i++) spare[begin[place_of(&items[i], depth)]++] = items[i];
    memcpy(items, spare, n * sizeof *items);
}

/* The items [from, to) that begin with the bytes of a node, which has this depth. */
typedef struct range {
    u32 from, to, depth;
} range;

bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n) {
    VEC(range) nodes = {0};
    memset(t, 0, sizeof *t);
    tt_item *spare = mem_resize(b, NULL, 0, (n + 1u) * sizeof *spare);
    bool ok = spare && vec_push(b, &nodes, ((range){0, n, 0})) && vec_push(b, &t->byte, 0) && vec_push(b, &t->parent, 0);
    for (u32 i = 0; ok && i < nodes.n; i++) {
        range at = nodes.at[i];
        sort_items(items + at.from, at.to - at.from, at.depth, spare);
        u32 end = at.from, next; /* items [at.from, end) end here */
        while (end < at.to && items[end].n == at.depth) end++;
        ok = vec_push(b, &t->token_from, t->tokens.n) && vec_push(b, &t->first, nodes.n);
        for (u32 k = at.from; ok && at.depth && k < end; k++) ok = vec_push(b, &t->tokens, items[k].token);
        for (u32 k = end; ok && k < at.to; k = next) {
            u8 byte = items[k].at[at.depth];
            for (next = k + 1; next < at.to && items[next].at[at.depth] == byte;) next++;
            ok = vec_push(b, &nodes, ((range){k, next, at.depth + 1})) && vec_push(b, &t->byte, byte) && vec_push(b, &t->parent, i);
        }
    }
    ok = ok && vec_push(b, &t->first, nodes.n) && vec_push(b, &t->token_from, t->tokens.n) && vec_push(b, &t->tokens, 0);
    ok = ok && vec_fit(b, &t->byte) && vec_fit(b, &t->first) && vec_fit(b, &t->parent) && vec_fit(b, &t->token_from) &&
         vec_fit(b, &t->tokens);
    if (spare) mem_resize(b, spare, (n + 1u) * sizeof *spare, 0);
    vec_drop(b, &nodes);
    if (!ok) tt_drop(t, b);
    return ok;
}

void tt_drop(tt_trie *t, budget *b) {
    vec_drop(b, &t->byte);
    vec_drop(b, &t->first);
    vec_drop(b, &t->parent);
    vec_drop(b, &t->token_from);
    vec_drop(b, &t->tokens);
}
