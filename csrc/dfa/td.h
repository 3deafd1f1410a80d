/* td: token automata, made ahead of time. For a grammar with finitely many configurations all masks can be known before the first
 * token. Stage 7 of 7.
 *
 *     grammar --- ba.c: all configurations, minimised ---> byte automaton      (byte classes; dead bytes)
 *     vocabulary --- vocab/fd.c: folded by those classes ---> trie of class strings
 *     both --- td_behave.c ---> behaviours: token -> the map (state -> state) of its bytes; equal maps are one class of tokens
 *          --- td_reduce.c ---> what tokens reach, minimised again; equal columns joined
 *          --- td_pack.c ---> the tables below
 *
 * Serving copies a row, and a transition is a search in a short list: no lock, no growth. The tables are flat and hold indices only, so
 * that a file of them (td_file.c) is used where it lies.
 *
 *     token -> class           by token; or only of live tokens, found in a list of their ids or by rank among bits: whichever is smallest
 *     state, class -> state    the classes of a state lie side by side, ascending
 *     state -> mask            masks by content: a row of bits, or no row, and a short list of the tokens in which the mask differs
 *                              from that
 *     byte -> class            of the token that is this byte; or, where some byte is no token, the byte automaton besides
 *
 * State 0 is the start; n_states stands for a text that an end-of-text token has
 * ended. Invariant: a token is in the mask of a state if and only if td_next leads on. */
#ifndef GE_TD_H
#define GE_TD_H

#include "ba.h"
#include "mn.h"

/* Words of bits; beyond them all are 0. */
typedef struct td_row {
    u32 at, n; /* in mask_words */
} td_row;

/* The tokens in which a mask differs from its row, or from nothing: the gaps between them, the first from 0. */
typedef struct td_mask {
    u32 at; /* in mask_gaps */
    u16 n;
    u16 all; /* all bits are set */
} td_mask;

#define TD_GAP UINT16_MAX /* so far, and no token there */

/* A table of numbers, as narrow as they are. */
typedef struct td_ids {
    void *at;
    u32 bytes; /* of each: 1, 2 or 4; all ones stand for NONE */
} td_ids;

static inline u32 td_id(td_ids ids, size_t i) {
    u32 id;
    if (ids.bytes == sizeof(u32)) return ((const u32 *)ids.at)[i];
    if (ids.bytes == sizeof(u16)) return (id = ((const u16 *)ids.at)[i]) == UINT16_MAX ? NONE : id;
    return (id = ((const u8 *)ids.at)[i]) == UINT8_MAX ? NONE : id;
}

/* Transitions by state, and by ascending class within one. */
typedef struct td_rows {
    u32 n; /* transitions */
    td_ids at; /* state -> its first one; one entry more than there are states */
    td_ids class, to;
} td_rows;

struct ge_dfa {
    ge_shares shares; /* engines own the automaton too */
    budget b;
    u32 n_states, n_classes;
    u32 n_tokens, width, n_words, n_eos;
    u32 n_live;  /* 0: each token has its entry in class_of */
    u32 by_rank; /* which tokens are live: bits and ranks, or a list */
    u32 n_masks, n_rows, n_mask_words, n_mask_gaps;
    u32 exact; /* 0: literals are coalesced */
    u32 *eos;
    td_ids live;     /* not by_rank: [n_live] tokens, ascending */
    u64 *live_bits;  /* by_rank: a bit for each token; td_n_rank_words of them */
    td_ids rank;     /* by_rank: live tokens before each word of those */
    td_ids class_of; /* [n_live or n_tokens], NONE: no state can read the token */
    td_rows rows;
    td_ids mask_of; /* [n_states] */
    td_mask *mask;
    td_ids row_of; /* [n_masks], NONE: no row, the list is all of the mask */
    td_row *row;
    u32 *mask_words;
    u16 *mask_gaps;
    bool *accepts; /* [n_states] */
    /* The byte automaton: what a grammar is made from where there is none (TokenDFA.load). Where
     * has_bytes, as nearly always, it is in the tables above, of those tokens that are one byte. */
    u32 has_bytes;
    u32 n_byte_states, n_byte_classes;
    td_ids byte_class_of; /* [256], NONE: no text holds the byte. has_bytes: the class of tokens */
    td_rows byte_rows;    /* not has_bytes */
    bool *byte_accepts;   /* not has_bytes */
    const u8 *note; /* of whoever saved the file */
    u32 n_note;
    void *map; /* the file that all tables above lie in, read only; NULL: they are blocks of their own */
    size_t map_size;
};

static inline u32 td_n_rank_words(const ge_dfa *t) { return t->n_tokens / 64 + 1; }

/* What stands between the stages. */
typedef struct td_draft {
    budget *b;
    const ba_automaton *a;
    ge_vocab *v;
    bool has_bytes; /* no literal is coalesced, and some token is one byte of each class; so the automaton is minimal over tokens, too */
    u32 n_states, n_classes; /* classes are numbered from 0 by their smallest token */
    id_vec tokens;           /* ascending: those that some state can read */
    id_vec class_of;         /* ... and the class of each */
    VEC(mn_transition) all;  /* label: class */
    VEC(bool) accepts;
    id_vec state_of;         /* byte state -> state or NONE: no text that tokens spell leads there */
} td_draft;

/* A transition by one token, where the byte automaton of the draft has none; see td_runs.c. */
typedef struct td_edge {
    u32 token, from, to;
} td_edge;

typedef VEC(td_edge) td_edges;

/* Literal runs: bytes that must come one after the other. */
typedef struct td_runs {
    VEC(u8) text;   /* of all runs */
    id_vec at;      /* run -> its bytes: text[at[r] .. at[r + 1]) */
    id_vec states;  /* by byte of text, and one more for each run: where it is, from states[at[r] + r] on */
} td_runs;

bool td_find_runs(td_runs *runs, budget *b, const ba_automaton *a);
void td_drop_runs(td_runs *runs, budget *b);
/* Takes the runs that are spelt out of the automaton, and puts the tokens of their spelling in their place. spelling_at[r]: as td_runs.at,
 * into spelling; a run with no tokens stays as it is. *wrong = the first run whose tokens spell something else, or NONE. */
bool td_mute_runs(const td_runs *runs, budget *b, ba_automaton *a, const ge_vocab *v, const u32 *spelling, const u32 *spelling_at,
                  td_edges *edges, u32 *wrong);

/* Each stage works on the draft, and fails with its budget. `edges`: sorted by token and state. */
bool td_behave(td_draft *d, const td_edges *edges, u32 n_threads);
bool td_reduce(td_draft *d, u32 *stuck); /* *stuck = a byte state from which no token leads on, though it must; else NONE */
bool td_pack(td_draft *d, const ba_automaton *whole, ge_dfa *dfa); /* whole: with all literals */

/* The state after a token, or NONE. */
u32 td_next(const ge_dfa *dfa, u32 state, u64 token);
/* Writes the mask of a state. */
void td_fill(const ge_dfa *dfa, u32 state, u32 *out, bool *all);

/* The automaton of a byte automaton and a vocabulary; state_of: as in a draft, empty before. NULL: failure, of b; or no token leads on
 * from some state. */
ge_dfa *td_make(budget *b, const ba_automaton *a, ge_vocab *v, id_vec *state_of);

ge_dfa *td_new(const ge_limits *limits); /* empty; NULL: out of memory */
void td_drop_draft(td_draft *d);
void td_unmap(ge_dfa *dfa);

#endif
