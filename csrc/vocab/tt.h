/* tt: a trie of byte strings, flat in breadth-first order. Stage 5 of 7: the vocabulary as something an automaton can walk.
 *
 *     strings  a b, a b c, a d, e          node    0   1   2   3   4   5      0 is the root
 *                                          byte    -   a   e   b   d   c
 *          0 --- a(1) --- b*(3) --- c*(5)  first   1   3   5   5   6   6   6  children of i: first[i] .. first[i + 1]
 *           \       \---- d*(4)            token   -   -   e   ab  ad  abc
 *            \-- e*(2)
 *
 * Children stand side by side, and so do the children of neighbours. A walk reads the bytes of all children of a node from one or two
 * cache lines and looks further only at those that the automaton can read; and what is below a run of nodes is one run in each level.
 * Several tokens may have the same bytes: the node then leads to a list of them in `twins`.
 *
 * Invariants: first is ascending, and has one entry more than there are nodes; children of a node have distinct bytes, ascending. */
#ifndef GE_TT_H
#define GE_TT_H

#include "../base/base.h"

typedef struct tt_item {
    const u8 *at; /* borrowed while building */
    u32 n;
    u32 token;
} tt_item;

typedef struct tt_twin {
    u32 token, next; /* index into twins, or NONE */
} tt_twin;

typedef struct tt_trie {
    VEC(u8) byte;
    VEC(u32) first;
    VEC(u32) parent;    /* of the root: 0 */
    VEC(u32) token;     /* the token that ends at the node; with TT_MANY, an index into twins; or NONE */
    VEC(tt_twin) twins; /* lists of tokens with the same bytes */
} tt_trie;

/* token[i] with this bit set is an index into twins, a list of all tokens of the node. */
#define TT_MANY ((u32)1 << 31)
#define TT_MAX_BYTES 65535 /* longest byte string */

/* Sorts the items in place, by their bytes; those with the same bytes keep their order. Empty byte strings are left out. */
bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n);
void tt_drop(tt_trie *t, budget *b);

/* The tokens of a node, one after the other: for (u32 next, token = tt_token(t, node, &next); token != NONE; token = tt_more(t, &next)). */
static inline u32 tt_more(const tt_trie *t, u32 *next) {
    if (*next == NONE) return NONE;
    tt_twin twin = t->twins.at[*next];
    *next = twin.next;
    return twin.token;
}

static inline u32 tt_token(const tt_trie *t, u32 node, u32 *next) {
    u32 token = t->token.at[node];
    *next = NONE;
    if (token == NONE || !(token & TT_MANY)) return token;
    *next = token & ~TT_MANY;
    return tt_more(t, next);
}

/* The nodes [*from, *to) of one level, and after a call all that is below them in the next. False: nothing is. */
static inline bool tt_below(const tt_trie *t, u32 *from, u32 *to) {
    u32 n = t->token.n;
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
