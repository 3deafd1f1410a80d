/* U-labels: the labels of internationalised host names that have characters outside ASCII (RFC 5890, section 2.3.2.1).
 *
 * Idea. What RFC 5891 to 5893 ask of a label is an automaton of a hundred states over some thirty *kinds* of characters, and normalisation
 * form C, a rule about neighbours: marks in the order of their combining classes, and no two characters that would be composed. The tables are
 * generated (tools/make_ulabels.py), and the same for all grammars: nothing is built when a grammar is compiled. */
#ifndef GE_RX_ULABEL_H
#define GE_RX_ULABEL_H

#include "../base/base.h"

enum { ULABEL_FIRST_CODE = 0x80, ULABEL_LAST_CODE = 0x10ffff }; /* of characters outside ASCII */
enum { ULABEL_LONGEST = 59 }; /* characters: each takes an octet at least of the 63 of an A-label, and `xn--` takes 4 */

typedef enum ulabel_set { /* states of the automaton */
    ULABEL_ANY = 1,
    ULABEL_LEFT /* without characters that are written from right to left */
} ulabel_set;

typedef struct ulabel { /* or some of its characters */
    u32 n;
    u32 code[ULABEL_LONGEST + 1];
    u8 class[ULABEL_LONGEST + 1];
} ulabel;

u8 ulabel_class_of(u32 code); /* 0: in no label */
u32 ulabel_next_code(u32 code); /* the first from there on that is in some label; NONE: there is none */
bool ulabel_insert(ulabel *l, u32 at, u32 code); /* false: in no label */
bool ulabel_is_in(const ulabel *l, ulabel_set set);
bool ulabel_may_be_in(const ulabel *l, ulabel_set set); /* false: not with any insertions, for its directions are not those of the set */

/* Which characters may still be inserted. */
typedef struct ulabel_room {
    u32 code, index; /* outside ASCII: those above `code` anywhere, and `code` itself from there on */
    bool plain;      /* only such that normalisation has nothing to do with, for kinds that have such */
    u32 most;        /* so many in all */
} ulabel_room;

/* Some insertions of characters outside ASCII, one at least and as few as possible, that make a label of the set but perhaps for
 * normalisation: *out, of which `fresh` tells what was inserted. False: there are none, or failure of the budget. Of what was inserted nothing is asked as to
 * normalisation; mostly it is all plain, and there is nothing to ask. */
bool ulabel_complete(budget *b, const ulabel *l, ulabel_set set, ulabel_room room, ulabel *out, bool *fresh);

#endif
