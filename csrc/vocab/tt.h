/* tt: a trie of byte strings, flat in depth-first order. Stage 5 of 6: the vocabulary as something an automaton can walk.
 *
 *     strings  a b, a b c, a d, e          nodes in order   a   b   c   d   e
 *                                          depth            1   2   3   2   1
 *        a ----- b* --- c*                 end              4   3   3   4   5     (index after the node's subtree)
 *         \----- d*                        token            -   ab  abc ad  e
 *     e*
 *
 * A walk goes through the nodes in order with a stack of states by depth. Where the automaton dies it jumps to `end`.
 * Several tokens may have the same bytes: the node then leads to a list of them in `twins`.
 *
 * Invariants: nodes[i].end > i; children of a node have distinct bytes, ascending; depth <= max_depth. */
#ifndef GE_TT_H
#define GE_TT_H

#include "../base/base.h"

typedef struct tt_node {
    u32 end;   /* index of the first node that is not in the subtree of this one */
    u32 token; /* the token that ends here; with TT_MANY, an index into twins; or NONE */
    u16 depth; /* from 1 */
    u8 byte;
} tt_node;

typedef struct tt_item {
    const u8 *at; /* borrowed while building */
    u32 n;
    u32 token;
} tt_item;

typedef struct tt_twin {
    u32 token, next; /* index into twins, or NONE */
} tt_twin;

typedef struct tt_trie {
    VEC(tt_node) nodes;
    VEC(tt_twin) twins; /* lists of tokens with the same bytes */
    u32 max_depth;
} tt_trie;

/* nodes[i].token with this bit set is an index into twins, a list of all tokens of the node. */
#define TT_MANY ((u32)1 << 31)
#define TT_MAX_BYTES 65535 /* longest byte string */

/* Items may be in any order and are sorted in place; empty byte strings are left out. */
bool tt_build(tt_trie *t, budget *b, tt_item *items, u32 n);
void tt_drop(tt_trie *t, budget *b);
static inline size_t tt_bytes(const tt_trie *t) { return vec_bytes(&t->nodes) + vec_bytes(&t->twins); }

/* Sets the bit of every token of a node. */
static inline void tt_set_bits(const tt_trie *t, u32 token, u32 *mask) {
    if (token & TT_MANY) {
        for (u32 i = token & ~TT_MANY; i != NONE; i = t->twins.at[i].next)
            mask[t->twins.at[i].token >> 5] |= (u32)1 << (t->twins.at[i].token & 31);
    } else {
        mask[token >> 5] |= (u32)1 << (token & 31);
    }
}

#endif
