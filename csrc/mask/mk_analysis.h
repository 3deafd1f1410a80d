/* mk_analysis: what the two walks of an analysis share: mk_analyse.c, node by node of the trie, and mk_shapes.c, shape by shape. */
#ifndef GE_MK_ANALYSIS_H
#define GE_MK_ANALYSIS_H

#include "mk.h"

/* The states of an analysis have small numbers of their own, in the order
 * in which they are met, so that their transitions lie close together. */
enum { AN_DEAD, AN_START, AN_MAX_STATES = 60000, AN_UNKNOWN = UINT16_MAX };
enum { AN_ON_PATH = 1, AN_HERE = 2 }; /* does a lexeme end above the node, or at it? */

typedef struct an_places { /* what is known of each node of what is walked */
    u32 n;
    const u32 *parent;
    const u8 *label;   /* the last byte, or its kind ... */
    const u8 *kind_of; /* ... which this tells of bytes; NULL: the label is the kind */
    u16 *at; /* number of the state there */
    u8 *begun; /* characters that have begun on the way there, if the unit is open; else NULL */
    u8 *end; /* AN_ON_PATH | AN_HERE */
} an_places;

typedef struct analysis {
    ge_engine *e;
    budget *b;         /* of the result */
    u32 start, view;   /* the lexer state; which tokens are decided */
    vb_inner *inner;
    VEC(u32) matched;  /* per exit: the lexer state in which it was first met */
    u32 n_tails;
    u8 sort_of[64];    /* by kind: of tails (vocab/vb_tails.c) */
    VEC(u32) states;   /* by number: lexer state */
    VEC(u16) next;     /* by number and byte class: number, or AN_UNKNOWN */
    VEC(u8) ends;      /* by number: AN_ON_PATH | AN_HERE if it ends a lexeme, else 0 */
    bool has_ended;    /* is it not 0 for some? */
    VEC(u16) numbers;  /* by lexer state: its number, or AN_DEAD: none yet */
    byte_vec least;    /* of an open unit, by number: characters that must still begin, VB_DEAD: it is not known yet */
    u32 least_work;    /* ... spent on that */
    byte_vec raw;      /* ... by number: 1 if characters begin that are no escapes, else 0 */
    u8 begins[256];    /* ... by byte class: does a character begin with it there? */
    /* too many tails or states, or a clamped unit that cannot be finished soon, or an open one of which that is hard to tell */
    bool given_up;
} analysis;

/* The number of the state that follows. NONE: failure, or given up. */
static inline u32 an_known(const analysis *a, u32 from, u32 c) { return a->next.at[from * a->e->lx.x.n_classes + c]; }
u32 an_step(analysis *a, u32 from, u32 c);
/* Tokens at a node of this depth or below leave wherever a lexeme ends, from the node above it on, up to the root. */
bool an_leave(analysis *a, const an_places *p, const u32 *tokens, u32 n, u32 node, u32 depth);

/* Of an open unit (mk_room.c): before and after the walk; a state gets the next number; the characters that have begun behind a byte of a
 * class; the tokens that lead to where a state has a number stay inside; the characters that must still begin there, as they are asked for.
 * False: failure, or given up. */
bool an_begin_room(analysis *a);
void an_end_room(analysis *a);
bool an_number_room(analysis *a, u32 state);
static inline u8 an_begun(const analysis *a, const an_places *p, u32 above, u32 c) {
    return (u8)(p->begun[above] + (a->raw.at[p->at[above]] & a->begins[c]));
}
bool an_find_least(analysis *a, u32 number);
static inline bool an_note_needs(analysis *a, const u32 *tokens, u32 n, u32 number, u32 begun) {
    if (!n) return true;
    if (a->least.at[number] == VB_DEAD && !an_find_least(a, number)) return false;
    u32 need = begun + a->least.at[number];
    u8 *needs = a->inner->needs;
    for (u32 i = 0; i < n; i++) needs[tokens[i]] = (u8)need;
    return true;
}

bool an_begin(analysis *a, an_places *p, u32 n);
void an_end(analysis *a, an_places *p);
typedef struct an_run { /* nodes [from, to) of one depth */
    u32 from, to;
} an_run;

typedef VEC(an_run) an_runs;

/* Adds a run, or makes the last one longer. */
bool an_put_run(analysis *a, const an_places *p, const tt_trie *trie, an_runs *runs, an_run run);
/* Walks runs of one depth, whose parents have been visited, and what is below them; then there are none. */
bool an_walk_runs(analysis *a, an_places *p, const tt_trie *trie, an_runs *runs, u32 depth, u32 max_depth);

/* The same for all that begins with the byte of a hub, the only one of its kind, by shapes. */
bool an_walk_shapes(analysis *a, u32 hub, u32 max_depth);

/* Finds the plain tokens that stay inside, if they are told apart nearly everywhere
 * and none leaves a lexeme: *done, and the others are still to be walked. */
bool an_walk_dense(analysis *a, u32 max_depth, bool *done);

/* Finds the plain tokens that stay inside, if that is most of them and none leaves a lexeme: *done, and the others are still to be
 * walked. */
bool an_walk_plain(analysis *a, bool *done);

#endif
