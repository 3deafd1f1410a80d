/* un: arrays whose items all differ (`uniqueItems`), where items are arrays or objects; and arrays of which that is not so, two items are
 * equal. Stage 6 of 7, beside configurations.
 *
 * Idea. The rules say nothing of which items are equal; they are those of the array without that. What a text has so far of such an array
 * is its *track*: the values of the items, and of the item under way what was read. It is fed each byte, reads JSON by itself, and refuses
 * the byte with which an item turns out to be equal to one before. An alternative of a configuration has a track beside its row and its
 * lexer state (en.h), so whatever does not look at tracks is as it would be without: a configuration without them is *bare*.
 *
 *     [ {"a": 1}, {"a        unique {values: {"a": 1}}  <-  object {may equal: {"a": 1}}  <-  key a, may equal: a
 *
 * A track is a stack of what is open, the innermost on top. Each part of it knows which values of earlier items, or of parts of these, it
 * may still become equal to: usually soon none, and then all is as if it were bare. As long as there are some, it is *held*, and whether
 * the text can be completed at all is a search (cf_alive.c): behind `[{"a": 1}, {"a": ` no `1` may come if nothing else may come behind it.
 *
 * Where an array of this kind begins, its lexeme says (LX_UNIQUE): the bracket is its first byte, and white space may follow. Where one
 * begins that has two equal items (LX_REPEATED), the track refuses its end as long as there are none, and then it is as any other array.
 *
 * Equality is that of JSON Schema: numbers by value, strings by characters, objects by members in any order. No key comes twice in an
 * object of an item: which of its values counted, each reader says for himself.
 *
 * Invariant. How many values there are to choose from, the front end knows: an array never asks for an item where all are used up. So a
 * text in which nothing is held can be completed. Where two items are to be equal, any number may come, and the last one may be repeated.
 * Of reduced tracks that are held there are finitely many for each set of earlier items and each lexeme of numbers that has few values.
 *
 * A long string need not be known by all of it: which tokens may come depends on what it may still equal, and on as much of it as a token
 * may repeat behind its end. So masks are those of a track with a *shortened* text, the first bytes and a *cut*, which no string has.
 * Whether something else can still come may depend on more of it, where few values are left: a search that comes to the cut says so.
 *
 * Cost. A byte: a look-up, and in proportion to the values that what begins with it may equal. Texts differ in their tracks, so
 * configurations with these recur little, and have no table of transitions. */
#ifndef GE_UN_H
#define GE_UN_H

#include "../base/intern.h"
#include "../lexer/lx.h"

enum { UN_BARE /* no track at all: masks are made so */, UN_OUTSIDE /* in no array of this kind */ };
#define UN_HIT (NONE - 1) /* an item is equal to one before, or a key; or no item is, where two have to be */

typedef enum un_kind { UN_UNIQUE, UN_REPEATED, UN_ARRAY, UN_OBJECT, UN_STRING, UN_KEY, UN_WORD } un_kind; /* of what is open */

typedef struct un_track {
    u32 up;      /* what it is in, as that was when it began */
    u32 kind;
    u32 values;  /* of the items that are compared; a set. Of a text: its bytes; from u->reach on, that + the text of the first ones */
    u32 equal;   /* the values that it may become; a set */
    u32 content; /* of a scalar or key: its text, strings decoded; of others their items or members (cells) */
    u32 n;       /* of these; of a string those that are compared so far, 0 if it can equal nothing */
    u32 key;     /* UN_OBJECT: of the member under way, NONE: none is; UN_STRING, UN_KEY: what is read of an escape (un.c) */
} un_track;

enum { UN_TRACK_WORDS = 7 };

typedef struct un_crossing {
    const u8 *text; /* in the vocabulary */
    u32 n, token, how;
} un_crossing;

typedef struct un_state {
    budget *b;
    lx_lexer *lx;           /* has the values of scalars */
    u32 reach;              /* no token that has a quotation mark is longer */
    bool is_unsure;         /* a search came to a cut: no text is shortened from now on */
    intern_table tracks;    /* the first two stand for UN_BARE and UN_OUTSIDE */
    intern_table composites; /* un_kind, then items, or keys and values in the order of these */
    intern_table sets;      /* of values, ascending; the first is empty */
    intern_table texts;     /* (text before, byte); the first is empty */
    intern_table cells;     /* (cell before, key, value); the first is none */
    word_map steps;         /* (track, byte) -> track, UN_HIT */
    word_map alive;         /* configuration of one alternative that is held -> whether it can be completed */
    VEC(un_crossing) crossing; /* tokens that may end an item and go into the next, in the order of their texts: mask/mk_unique.c */
    bool has_crossing;      /* that is known */
    byte_vec text;          /* scratch */
    id_vec found, members;  /* scratch */
} un_state;

bool un_init(un_state *u, budget *b, lx_lexer *lx, u32 reach);
void un_drop(un_state *u);

static inline un_track un_at(const un_state *u, u32 track) {
    const u32 *w = intern_words(&u->tracks, track);
    return (un_track){w[0], w[1], w[2], w[3], w[4], w[5], w[6]};
}

/* The track one byte later; UN_HIT: the byte is refused. NONE: failure. */
u32 un_step(un_state *u, u32 track, u32 byte);
/* The array that has just begun is of this kind, UN_UNIQUE or UN_REPEATED. NONE: failure. */
u32 un_begin(un_state *u, u32 track, un_kind kind);

/* The same for what may still come, as long as it is held: of the spellings of a number so far, one. NONE: failure. */
u32 un_reduced(un_state *u, u32 track);

/* The same for what a token may tell of it: with a shortened text. NONE: failure. */
u32 un_shortened(un_state *u, u32 track);
/* Is what comes next in a value that a text may equal the cut of a shortened one? */
bool un_is_at_cut(const un_state *u, u32 track);

/* Adds the bytes by which a text under way may stay held, or end. False: it is none, or within an escape; or failure. */
bool un_held_bytes(const un_state *u, u32 track, byte_set *bytes);

/* May what is under way still become equal to something? */
static inline bool un_is_held(const un_state *u, u32 track) { return track > UN_OUTSIDE && intern_length(&u->sets, un_at(u, track).equal); }

#endif
