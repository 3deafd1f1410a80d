/* fd: a vocabulary folded by classes of bytes. Where an automaton does not tell some bytes apart, tokens with equal strings of classes behave
 * alike from every state.
 *
 *     classes  [a-z] = 0, [0-9] = 1        token  a  bc  x7  zz  -y      strings  0   00      01
 *                                                                                 a   bc zz   x7       (-y holds a byte without a class)
 *
 * A fold is the trie of those strings, flat in breadth-first order as in tt.h, but for the order of siblings, and the node of each token. Tokens
 * that hold a byte without a class are not in it. It depends on the classes alone, so it is kept with the vocabulary, for all automata with the
 * same classes. Classes are numbered by their smallest byte; so equal partitions are equal keys.
 *
 * It is kept small, 3 bytes a node and 4 a token: it is only walked level by level, so where the children of a node are need not be kept.
 *
 * Cost. One visit for each node of the vocabulary's trie that is reached by bytes with classes: at most 6 ms for 131,072 tokens. */
#ifndef GE_FD_H
#define GE_FD_H

#include "tt.h"

typedef struct fd_fold {
    u16 class_of[256]; /* of bytes, or FD_NO_CLASS: the key */
    VEC(u8) class;     /* node -> its class */
    VEC(u16) below;    /* node -> [ number of children | 1: some token ends there ]; read by fd_n_children, fd_ends */
    u32 n_tokens;      /* that are folded */
    byte_vec gaps;     /* from token to token, ascending, the first from 0: seven bits in a byte, the lowest first; the highest bit: more follow */
    byte_vec node_of;  /* the nodes where they end, of node_bytes each, the lowest first */
    u32 node_bytes;
    u32 users;         /* readers at this moment */
    u64 used;          /* time of the last use */
    size_t bytes;
} fd_fold;

#define FD_NO_CLASS UINT16_MAX

static inline u32 fd_n_children(const fd_fold *f, u32 node) { return f->below.at[node] >> 1; }
static inline bool fd_ends(const fd_fold *f, u32 node) { return f->below.at[node] & 1; }

/* The nodes of a level, and among them those below some children of the root, which lie side by side. */
typedef struct fd_level {
    u32 begin, end;
    u32 from, to;
} fd_level;

/* Level 1, and the children of the root from number `from` to number `to`. */
static inline fd_level fd_first_level(const fd_fold *f, u32 from, u32 to) { return (fd_level){1, 1 + fd_n_children(f, 0), 1 + from, 1 + to}; }
fd_level fd_next_level(const fd_fold *f, fd_level level);

/* The tokens that are folded, ascending: for (fd_cursor at = {0}; (token = fd_next_token(f, &at)) != NONE;), and at.node. */
typedef struct fd_cursor {
    u32 n_gaps, n_tokens; /* bytes that were read; tokens that were met */
    u32 token, node;      /* the last one */
} fd_cursor;

static inline u32 fd_next_token(const fd_fold *f, fd_cursor *at) {
    if (at->n_tokens == f->n_tokens) return NONE;
    u8 byte;
    u32 shift = 0;
    do {
        byte = f->gaps.at[at->n_gaps++];
        at->token += (u32)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    const u8 *node = f->node_of.at + (size_t)at->n_tokens++ * f->node_bytes;
    at->node = 0;
    for (u32 k = f->node_bytes; k-- > 0;) at->node = at->node << 8 | node[k];
    return at->token;
}

/* The ids of the trie's tokens are below n_tokens. */
bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]);
void fd_drop(fd_fold *f, budget *b);

#endif
