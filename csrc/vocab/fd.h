/* fd: a vocabulary folded by classes of bytes. Where an automaton does not tell some bytes apart, tokens with equal strings of classes behave
 * alike from every state.
 *
 *     classes  [a-z] = 0, [0-9] = 1        token  a  bc  x7  zz  -y      strings  0   00      01
 *                                                                                 a   bc zz   x7       (-y holds a byte without a class)
 *
 * A fold is the trie of those strings, flat in breadth-first order as in tt.h, and a list of the tokens with the node of each. Tokens that hold
 * a byte without a class are not in it. It depends on the classes alone, so it is kept with the vocabulary, for all automata with the same
 * classes. Classes are numbered by their smallest byte; so equal partitions are equal keys.
 *
 * Cost. One visit for each node of the vocabulary's trie that is reached by bytes with classes: at most 13 ms for 131,072 tokens. */
#ifndef GE_FD_H
#define GE_FD_H

#include "tt.h"

typedef struct fd_fold {
    u16 class_of[256]; /* of bytes, or FD_NO_CLASS: the key */
    VEC(u8) class;     /* node -> its class */
    VEC(u32) first;    /* children of i: first[i] .. first[i + 1] */
    VEC(bool) ends;    /* node -> some token ends there */
    id_vec tokens;     /* ascending */
    id_vec node_of;    /* ... and the node where each ends */
    u32 users;         /* readers at this moment */
    u64 used;          /* time of the last use */
    size_t bytes;
} fd_fold;

#define FD_NO_CLASS UINT16_MAX

/* The ids of the trie's tokens are below n_tokens. */
bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]);
void fd_drop(fd_fold *f, budget *b);

#endif
