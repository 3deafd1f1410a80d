/* fd: a vocabulary folded by classes of bytes. Where an automaton does not tell some
 * bytes apart, tokens with equal strings of classes behave alike from every state.
 *
 *     classes  [a-z] = 0, [0-9] = 1        token  a  bc  x7  zz  -y      strings  0   00      01
 *                                                                                 a   bc zz   x7       (-y holds a byte without a class)
 *
 * A fold is the trie of those strings, flat in breadth-first order as in tt.h, but for the order of siblings, and the node of each token.
 * Tokens that hold a byte without a class are not in it. It depends on the classes alone, so it is kept with the vocabulary, for all
 * automata with the same classes. Classes are numbered by their smallest byte; so equal partitions are equal keys.
 *
 * It is kept small, two bytes a node, and a token takes the bits of a node's number: it is only walked level by level, so where the
 * children of a node are need not be kept, and nearly all tokens are in the fold, or few.
 *
 * Cost. One visit for each node of the vocabulary's trie that is reached by bytes with classes: at most 6 ms for 131,072 tokens. */
#ifndef GE_FD_H
#define GE_FD_H

#include "tt.h"

typedef struct fd_many {
    u32 node, below;
} fd_many;

typedef struct fd_fold {
    u16 class_of[256]; /* of bytes, or FD_NO_CLASS: the key */
    VEC(u8) class;     /* node -> its class */
    VEC(u8) below;     /* node -> [ number of children | 1: some token ends there ], or FD_MANY; read by fd_n_children, fd_ends */
    VEC(fd_many) many; /* those nodes, ascending */
    u32 n_tokens;      /* that are folded */
    /* of them, ascending: [ tokens left out before | 1: more than one ], and then how many more. Seven bits in a byte, the lowest first; */
    byte_vec runs;
                       /* the highest bit: more follow */
    id_vec node_of;    /* the nodes where they end, of node_bits each, the lowest first; and a word behind them */
    u32 node_bits;
    u32 users;         /* readers at this moment */
    u64 used;          /* time of the last use */
    size_t bytes;
} fd_fold;

#define FD_NO_CLASS UINT16_MAX

#define FD_MANY UINT8_MAX

u32 fd_below_many(const fd_fold *f, u32 node);
static inline u32 fd_below(const fd_fold *f, u32 node) { return f->below.at[node] == FD_MANY ? fd_below_many(f, node) : f->below.at[node]; }
static inline u32 fd_n_children(const fd_fold *f, u32 node) { return fd_below(f, node) >> 1; }
static inline bool fd_ends(const fd_fold *f, u32 node) { return fd_below(f, node) & 1; }

/* The nodes of a level, and among them those below some children of the root, which lie side by side. */
typedef struct fd_level {
    u32 begin, end;
    u32 from, to;
} fd_level;

/* Level 1, and the children of the root from number `from` to number `to`. */
static inline fd_level fd_first_level(const fd_fold *f, u32 from, u32 to) {
    return (fd_level){1, 1 + fd_n_children(f, 0), 1 + from, 1 + to};
}
fd_level fd_next_level(const fd_fold *f, fd_level level);

/* The tokens that are folded, ascending: for (fd_cursor at = {0}; (token = fd_next_token(f, &at)) != NONE;), and at.node. */
typedef struct fd_cursor {
    u32 n_bytes, n_tokens; /* bytes of `runs` that were read; tokens that were met */
    u32 next, more;        /* the token behind the last one; how many of its run are left */
    u32 node;              /* of the last one */
} fd_cursor;

static inline u32 fd_read_number(const fd_fold *f, fd_cursor *at) {
    u8 byte;
    u32 number = 0, shift = 0;
    do {
        byte = f->runs.at[at->n_bytes++];
        number |= (u32)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    return number;
}

static inline u32 fd_next_token(const fd_fold *f, fd_cursor *at) {
    if (at->n_tokens == f->n_tokens) return NONE;
    if (at->more) {
        at->more--;
    } else {
        u32 head = fd_read_number(f, at);
        at->next += head >> 1;
        at->more = head & 1 ? fd_read_number(f, at) : 0;
    }
    u64 bit = (u64)at->n_tokens++ * f->node_bits;
    const u32 *words = f->node_of.at + bit / 32;
    at->node = (u32)(((u64)words[1] << 32 | words[0]) >> bit % 32 & (((u64)1 << f->node_bits) - 1));
    return at->next++;
}

/* The ids of the trie's tokens are below n_tokens. */
bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]);
void fd_drop(fd_fold *f, budget *b);

#endif
