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
 * Cost. One visit for each node of the vocabulary's trie that is reached by bytes with classes: at most 6 ms for 131,072 tokens. */
#ifndef GE_FD_H
#define GE_FD_H

#include "tt.h"

typedef struct fd_fold {
    u16 class_of[256]; /* of bytes, or FD_NO_CLASS: the key */
    VEC(u8) class;     /* node -> its class */
    VEC(u32) first;    /* children of i: first[i] .. first[i + 1] */
    VEC(bool) ends;    /* node -> some token ends there */
    byte_vec gaps;     /* from token to token, ascending, the first from 0: seven bits in a byte, the lowest first; the highest bit: more follow */
    id_vec node_of;    /* the nodes where they end */
    u32 users;         /* readers at this moment */
    u64 used;          /* time of the last use */
    size_t bytes;
} fd_fold;

#define FD_NO_CLASS UINT16_MAX

/* The tokens that are folded, ascending: for (fd_cursor at = {0}; (token = fd_next_token(f, &at)) != NONE;), and at.node. */
typedef struct fd_cursor {
    u32 n_gaps, n_tokens; /* bytes that were read; tokens that were met */
    u32 token, node;      /* the last one */
} fd_cursor;

static inline u32 fd_next_token(const fd_fold *f, fd_cursor *at) {
    if (at->n_tokens == f->node_of.n) return NONE;
    u8 byte;
    u32 shift = 0;
    do {
        byte = f->gaps.at[at->n_gaps++];
        at->token += (u32)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    at->node = f->node_of.at[at->n_tokens++];
    return at->token;
}

/* The ids of the trie's tokens are below n_tokens. */
bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]);
void fd_drop(fd_fold *f, budget *b);

#endif
