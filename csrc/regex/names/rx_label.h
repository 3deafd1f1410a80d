/* How many octets Punycode takes for a U-label (RFC 3492): an A-label has at most 63 of them (RFC 5890, section 2.3.2.1).
 *
 * Idea. Of what was read of a label, the places of its characters of ASCII matter, and the code points of the others. How many octets there
 * are is computed only where it is in doubt: few characters fit whatever they are (label_most_plain).
 *
 * A label *fits* if there is room for its octets. What does not fit may go on all the same, for more characters can take fewer octets,
 * since how a number is written depends on the one before. But it is rare: odd mixtures of scripts, an octet or two (rx_grow.c). */
#ifndef GE_RX_LABEL_H
#define GE_RX_LABEL_H

#include "../rx.h"

/* of any label; `xn--`; what is behind it at most */
enum { LABEL_OCTETS = 63, LABEL_PREFIX = 4, LABEL_LONGEST = LABEL_OCTETS - LABEL_PREFIX };

/* By the highest code point (below U+0800, U+10000, any) and the number of characters outside ASCII: so many of ASCII may be beside them,
 * whatever they are and wherever they stand. Proved by going through all that Punycode can do (test/t_label.c). */
enum { LABEL_SURE = 21 };
extern const signed char label_most_plain[3][LABEL_SURE];

typedef struct label_text {
    u32 n;                       /* characters */
    u32 n_far;                   /* of them outside ASCII */
    u32 sort;                    /* of the highest: 0, 1, 2 as in label_most_plain */
    u64 plain;                   /* bit i: character i is of ASCII */
    u32 code[LABEL_OCTETS + 1]; /* of characters outside ASCII */
    u8 order[LABEL_OCTETS + 1]; /* ... where they stand, by code point */
} label_text;

enum { PLAIN = 'a', FIRST_FAR = 0x80 }; /* stands for all of ASCII; the first code point that Punycode encodes */

void label_append(label_text *t, u32 code); /* there is room for it */
u32 label_octets(const label_text *t);      /* of Punycode, behind `xn--` */
bool label_fits(const label_text *t, u32 room);                             /* so many octets at most */

/* A text that is being encoded: the code points in their order, and of each its places. */
typedef struct label_encoder {
    u64 present; /* characters that are there by now */
    u32 n, octets;
    u32 code, index, bias; /* where the last one went */
} label_encoder;

typedef struct label_outlook { /* of a text that one more character may be appended to */
    const label_text *text;
    label_encoder before[LABEL_OCTETS + 1]; /* by index in the order of insertion: the text without it and those behind it */
    u32 behind[LABEL_OCTETS + 2];           /* ... what it and those behind it take at least, where the one before it may take anything */
} label_outlook;

void label_look(const label_text *t, label_outlook *out);
bool label_may_fit_with(const label_outlook *o, u32 low, u32 high, u32 room); /* false: not with one more character from a range */

static inline u32 label_sort(u32 code) { return code < 0x800 ? 0 : code < 0x10000 ? 1 : 2; }

/* True => any labels of at most so many characters fit, and the parts of them. */
static inline bool label_is_sure(u32 n_plain, u32 n_far, u32 sort) {
    return n_far < LABEL_SURE && (int)n_plain <= label_most_plain[sort][n_far];
}

#endif
