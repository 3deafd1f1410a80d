/* tt: a trie of byte strings, flat in breadth-first order. Stage 5 of 7: the vocabulary as something an automaton can walk.
 *
 *     strings  a b, a b c, a d, e          node        0   1   2   3   4   5      0 is the root
 *                                          byte        -   a   e   b   d   c
 *          0 --- a(1) --- b*(3) --- c*(5)  first       1   3   5   5   6   6   6  children of i: first[i] .. first[i + 1]
 *           \       \---- d*(4)            token_from  0   0   0   1   2   3   4  of i: from token_from[i] to token_from[i + 1] in
 *            \-- e*(2)                     tokens      e   ab  ad  abc
 *
 * Children stand side by side, and so do the children of neighbours. A walk reads the bytes of all children of a node from one or two cache
 * lines and looks further only at those that the automaton can read; what is below a run of nodes is one run in each level, and the tokens
 * of a run stand side by side, too. Several tokens may have the same bytes, and so the same node.
 *
 * Invariants: first and token_from ascend, and have one entry more than there are nodes; children of a node have distinct bytes, ascending.
 * So has tokens one more than there are tokens: of any node its first may be read. */
#ifndef GE_TT_H
#define GE_TT_H

#include "../base/base.h"

typedef struct tt_item {
    const u8 *at; /* borrowed while building */
    u32 n;
    u32 token;
} tt_item;

typedef struct tt_trie {
    VEC(u8) byte;
    VEC(u32) first;
    VEC(u32) parent; /* of the root: 0 */
    VEC(u32) token_from;
    VEC(u32) tokens;
} tt_trie;

#define TT_MAX_BYTES 65535 /* longest byte string */

/* Sorts the items in place, by their bytes; those with the same bytes keep their order. Empty byte strings are left out. */
bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n);
void tt_drop(tt_trie *t, budget *b);

static inline bool tt_has_token(const tt_trie *t, u32 node) { return t->token_from.at[node] < t->token_from.at[node + 1]; }

/* The first token of a node, or NONE. */
static inline u32 tt_token(const tt_trie *t, u32 node) { return tt_has_token(t, node) ? t->tokens.at[t->token_from.at[node]] : NONE; }

/* *n = how many tokens the nodes [from, to) have; returns these. */
static inline const u32 *tt_tokens(const tt_trie *t, u32 from, u32 to, u32 *n) {
    *n = t->token_from.at[to] - t->token_from.at[from];
    return t->tokens.at + t->token_from.at[from];
}

/* The nodes [*from, *to) of one level, and after a call all that is below them in the next. False: nothing is. */
static inline bool tt_below(const tt_trie *t, u32 *from, u32 *to) {
    u32 n = t->byte.n;
    *from = *from < n ? t->first.at[*from] : n;
    *to = *to < n ? t->first.at[*to] : n;
    return *from < *to;
}

/* The number of nodes below a node, and itself. */
static inline u32 tt_size(const tt_trie *t, u32 node) {
    u32 from = node, to = node + 1, size = 0;
    do size += to - from;
    while (tt_below(t, &from, &to));
    return size;
}

#endif
