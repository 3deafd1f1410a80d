/* Exits of outlines (mk_outline.c): the places of a trie at which a set of lexemes has matched.
 *
 * Idea. Each split counts, so a name ends at each of its letters: behind a tab there are 500 places at which one has ended and something is
 * below. What a row reads from there on is more names, mostly, and what is below has been found already, since it stays inside the first
 * one. So a place below which all tokens have been found is no exit: of the 500 some ten are left, with a `(` or a letter beyond ASCII
 * somewhere below them.
 *
 * Exactness. A row adds tokens below the places of an exit and takes none away, and it always has the tokens of the outline.
 *
 * Cost. Some instructions for each child of a place. */
#include "mk.h"

#define LEFT_OUT ((u32)1 << 31) /* of a node of a trie, which has fewer */

/* Merges the runs [0, middle) and [middle, n), which ascend; `left`: room for the first. */
static void merge_nodes(u32 *nodes, u32 middle, u32 n, u32 *left) {
    memcpy(left, nodes, middle * sizeof *nodes);
    for (u32 i = 0, k = middle, to = 0; i < middle; to++) nodes[to] = k < n && nodes[k] < left[i] ? nodes[k++] : left[i++];
}

/* Nodes ascending, each once: a walk from several places may come to one
 * on several ways. They are a few ascending runs. *n = how many are left. */
static bool sort_nodes(ge_engine *e, u32 *nodes, u32 *n) {
    id_vec left = {0};
    u32 kept = 0, from = 0; /* [0, from) ascends, and then the run that begins there */
    bool ok = true;
    for (u32 i = 1; ok && i <= *n; i++) {
        if (i < *n && nodes[i - 1] <= nodes[i]) continue;
        if (from && (ok = vec_reserve(&e->b, &left, from))) merge_nodes(nodes, from, i, left.at);
        from = i;
    }
    for (u32 i = 0; i < *n; i++)
        if (!kept || nodes[kept - 1] != nodes[i]) nodes[kept++] = nodes[i];
    *n = kept;
    vec_drop(&e->b, &left);
    return ok;
}

/* Have the tokens of a node been found? */
static bool is_found(const tt_trie *trie, u32 node, const u32 *bits) {
    u32 n;
    const u32 *tokens = tt_tokens(trie, node, node + 1, &n);
    for (u32 i = 0; i < n; i++)
        if (!(bits[tokens[i] >> 5] >> (tokens[i] & 31) & 1)) return false;
    return true;
}

/* Leaves out the nodes, of ascending ones, below which all tokens have been found. Errs towards keeping them: of a child that has something
 * below it that is known if it is one of the nodes. So the last node comes first, and the children that are looked up descend, too. */
static void leave_out_found(const tt_trie *trie, u32 *nodes, u32 *n, const u32 *bits) {
    const u32 *first = trie->first.at;
    u32 kept = *n;
    for (u32 i = *n, k = *n; i-- > 0;) {
        u32 node = nodes[i];
        bool all = true;
        for (u32 child = first[node + 1]; all && child-- > first[node];) {
            all = is_found(trie, child, bits);
            if (!all || first[child] == first[child + 1]) continue;
            while (k > 0 && (nodes[k - 1] & ~LEFT_OUT) > child) k--;
            all = k > 0 && nodes[k - 1] == (child | LEFT_OUT);
        }
        if (all) nodes[i] |= LEFT_OUT, kept--;
    }
    if (kept == *n) return;
    for (u32 i = 0, to = 0; to < kept; i++)
        if (!(nodes[i] & LEFT_OUT)) nodes[to++] = nodes[i];
    *n = kept;
}

/* The tokens of the outline as bits; NULL: failure. To write a row for each of many small outlines
 * would take longer than these, so those of a list are set in a row of zeros, and taken out again. */
static const u32 *spread_tokens(ge_engine *e) {
    size_t size = e->v->n_words * sizeof(u32);
    if (!e->mk.outline.listed) return e->mk.outline.bits;
    if (!e->mk.spread) {
        if (!(e->mk.spread = mem_resize(&e->b, NULL, 0, size))) return NULL;
        memset(e->mk.spread, 0, size);
    }
    for (u32 i = 0; i < e->mk.outline.list.n; i++) e->mk.spread[e->mk.outline.list.at[i] >> 5] |= (u32)1 << (e->mk.outline.list.at[i] & 31);
    return e->mk.spread;
}

static void gather_tokens(ge_engine *e) {
    for (u32 i = 0; e->mk.outline.listed && i < e->mk.outline.list.n; i++) e->mk.spread[e->mk.outline.list.at[i] >> 5] = 0;
}

bool mk_add_exits(ge_engine *e, mk_outline *to) {
    to->exits = e->mk.outline_words.n;
    if (!e->mk.ends.n) return true;
    id_vec words = {0};
    const u32 *bits = spread_tokens(e);
    bool ok = bits != NULL;
    for (u32 i = 0; ok && i < e->mk.ends.n; i++) {
        mk_end first = e->mk.ends.at[i];
        if (!first.trie) continue;
        u32 index = mk_trie_index(e, first.trie);
        words.n = 0;
        ok = index != NONE && vec_push(&e->b, &words, index);
        for (u32 k = i; ok && k < e->mk.ends.n; k++) {
            mk_end *end = &e->mk.ends.at[k];
            if (end->trie != first.trie || end->accepts != first.accepts) continue;
            ok = vec_push(&e->b, &words, end->node);
            end->trie = NULL;
        }
        u32 n = words.n - 1;
        ok = ok && sort_nodes(e, words.at + 1, &n);
        if (ok) leave_out_found(first.trie, words.at + 1, &n, bits);
        if (ok && n == 0) continue;
        words.n = 1 + n;
        u32 places = ok ? intern(&e->b, &e->mk.places, words.at, words.n, NULL) : NONE;
        ok = places != NONE && vec_push(&e->b, &e->mk.outline_words, first.accepts) && vec_push(&e->b, &e->mk.outline_words, places);
        to->n_exits++;
    }
    vec_drop(&e->b, &words);
    if (bits) gather_tokens(e);
    return ok;
}
