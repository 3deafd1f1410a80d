/* U-labels: the labels of internationalised host names that have characters outside ASCII (RFC 5890, section 2.3.2.1).
 *
 * Idea. What RFC 5891 to 5893 ask of a label is an automaton of a hundred states over some thirty *kinds* of characters, and normalisation
 * form C, a rule about neighbours: marks in the order of their combining classes, and no two characters that would be composed. The tables
 * are generated (tools/make_ulabels.py), and the same for all grammars: nothing is built when a grammar is compiled. */
#ifndef GE_RX_ULABEL_H
#define GE_RX_ULABEL_H

#include "../../base/base.h"

enum { ULABEL_FIRST_CODE = 0x80, ULABEL_LAST_CODE = 0x10ffff }; /* of characters outside ASCII */
enum { ULABEL_LONGEST = 59 }; /* characters: each takes an octet at least of the 63 of an A-label, and `xn--` takes 4 */

typedef enum ulabel_set { /* states of the automaton */
    ULABEL_ANY = 1,
    ULABEL_LEFT, /* without characters that are written from right to left */
    ULABEL_MIXED /* of names with such characters: RFC 5893 asks something of all labels */
} ulabel_set;

typedef enum ulabel_verdict {
    ULABEL_NONE,      /* no label of the set */
    ULABEL_IS_LEFT,   /* from left to right, and no label from right to left may stand beside it */
    ULABEL_IS_EITHER, /* from left to right, beside any */
    ULABEL_IS_RIGHT   /* from right to left */
} ulabel_verdict;

typedef struct ulabel { /* or some of its characters */
    u32 n;
    u32 code[ULABEL_LONGEST + 1];
    u8 class[ULABEL_LONGEST + 1];
} ulabel;

/* Which labels may stand beside one of a set, for which there is a verdict. */
static inline ulabel_set ulabel_beside(ulabel_set set, ulabel_verdict v) {
    return v == ULABEL_IS_LEFT ? ULABEL_LEFT : v == ULABEL_IS_RIGHT ? ULABEL_MIXED : set;
}

/* What matters of the beginning of a label for what may follow. `order` is the combining class of the last character; `first` the seconds
 * with which the last character of class 0 is composed, as far as such can still come: a row of the tables. */
typedef struct ulabel_state {
    u8 at, first, order;
} ulabel_state;

static inline ulabel_state ulabel_start(ulabel_set set) { return (ulabel_state){(u8)set, 0, 0}; }
/* false: no label begins like that. Else some does, with ULABEL_MORE characters more at most */
bool ulabel_step(ulabel_state *s, u32 code);
ulabel_verdict ulabel_end(ulabel_state s, ulabel_set set);
u32 ulabel_following(ulabel_state s); /* a character on a shortest way to an end, in names of any kind; 0: it is one */
u32 ulabel_n_missing(ulabel_state s, ulabel_set set); /* so many characters make a label of it, mostly the fewest */

enum { ULABEL_MORE = 2 };

/* True => behind a label, or at the beginning of one, any character like it leads to a label, if to anything. */
bool ulabel_keeps_ends(u32 code);

u8 ulabel_class_of(u32 code); /* 0: in no label */
u8 ulabel_class_until(u32 code, u32 *last); /* ... and the last of the characters from there on that have it */
u32 ulabel_next_code(u32 code); /* the first from there on that is in some label; NONE: there is none */
bool ulabel_insert(ulabel *l, u32 at, u32 code); /* false: in no label */
ulabel_verdict ulabel_is_in(const ulabel *l, ulabel_set set);
bool ulabel_may_be_in(const ulabel *l, ulabel_set set); /* false: not with any insertions, for its directions are not those of the set */

/* Which characters may still be inserted. */
typedef struct ulabel_room {
    u32 code, index; /* outside ASCII: those above `code` anywhere, and `code` itself from there on */
    bool plain;      /* only such that normalisation has nothing to do with, for kinds that have such */
    u32 most;        /* so many in all */
} ulabel_room;

/* Some insertions of characters outside ASCII, one at least and as few as possible, that make a label of the set but perhaps for
 * normalisation: *out, of which `fresh` tells what was inserted. False: there are none, or failure of the budget. Of what was inserted
 * nothing is asked as to normalisation; mostly it is all plain, and there is nothing to ask. */
bool ulabel_complete(budget *b, const ulabel *l, ulabel_set set, ulabel_room room, ulabel *out, bool *fresh);

/* --- other forms ---------------------------------------------------------------------------------------------------------- */

/* Characters that normalisation form C has not decided on: the last one of combining class 0 and what
 * follows, decomposed and in order. Without such a character in front if it is composed with none. */
enum { ULABEL_OPEN = 64 }; /* more are in no label */
typedef struct ulabel_open {
    u32 n, code[ULABEL_OPEN];
} ulabel_open;

/* Reads a character. Appends those that are decided to `out`, in which there is room for 4. False: no label has it there, in whatever
 * form. */
bool ulabel_normalise(ulabel_open *open, u32 code, u32 *out, u32 *n_out);
u32 ulabel_close(const ulabel_open *open, u32 *out); /* what it is if nothing follows: *out has room for ULABEL_OPEN */

/* The first character above `code` that what is open may be composed with. NONE: there is none. */
u32 ulabel_next_second(const ulabel_open *open, u32 code);
enum { ULABEL_MOST = 3 };
u32 ulabel_n_parts(u32 code, u32 *highest); /* so many characters come of one: ULABEL_MOST at most; the highest of them */
bool ulabel_is_second(u32 code);            /* of some that are composed: a higher one may come of them */

/* It is the first letter of a syllable of Hangul, which may come. */
bool ulabel_is_syllable_begun(const ulabel_open *open, ulabel_state s);
void ulabel_simplify(ulabel_open *open); /* takes one syllable of Hangul for another, where they are alike but for their octets */

/* Is normalisation done with these when one of them is read? With what is open when one of them comes, as it is composed with none? */
bool ulabel_are_closed(u32 low, u32 high);
bool ulabel_are_starters(u32 low, u32 high);
bool ulabel_is_starter_class(u8 class);
u32 ulabel_next_unstable(u32 code); /* the first from there on that is no starter, or of which others come; NONE: there is none */

#endif
