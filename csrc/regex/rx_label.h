/* Labels of at most 63 octets: how many octets Punycode takes for a U-label (RFC 3492, RFC 5890, section 2.3.2.1).
 *
 * Idea. Of what was read of a label, the places of its characters of ASCII matter, and the code points of the others. How many octets there are is
 * computed only where it is in doubt: few characters fit whatever they are (label_most_plain).
 *
 * A label *fits* if it takes at most 63 octets, and each beginning of it does. That is not the same: more characters can take fewer octets, since how
 * a number is written depends on the one before. But it is rare (odd mixtures of scripts, an octet or two), and so what does not fit has no future. */
#ifndef GE_RX_LABEL_H
#define GE_RX_LABEL_H

#include "rx.h"

enum { LABEL_LONGEST = 59 }; /* octets behind `xn--`, and so characters */

/* By the highest code point (below U+0800, U+10000, any) and the number of characters outside ASCII: so many of ASCII may be beside them, whatever
 * they are and wherever they stand. Proved by going through all that Punycode can do (test/t_label.c). */
enum { LABEL_SURE = 21 };
extern const signed char label_most_plain[3][LABEL_SURE];

typedef struct label_text {
    u32 n;                       /* characters */
    u32 n_far;                   /* of them outside ASCII */
    u32 sort;                    /* of the highest: 0, 1, 2 as in label_most_plain */
    u64 plain;                   /* bit i: character i is of ASCII */
    u32 code[LABEL_LONGEST + 1]; /* of characters outside ASCII */
    u8 order[LABEL_LONGEST + 1]; /* ... where they stand, by code point */
} label_text;

void label_append(label_text *t, u32 code); /* there is room for it */
bool label_fits(const label_text *t);       /* all but the last character do */
bool label_fits_with_one(const label_text *t, u32 low, u32 high); /* ... with one more character, from a range */
u32 label_octets(const label_text *t);      /* behind `xn--` */

static inline u32 label_sort(u32 code) { return code < 0x800 ? 0 : code < 0x10000 ? 1 : 2; }

/* True => any labels of at most so many characters fit, and the parts of them. */
static inline bool label_is_sure(u32 n_plain, u32 n_far, u32 sort) {
    return n_far < LABEL_SURE && (int)n_plain <= label_most_plain[sort][n_far];
}

void rx_label_text(const rx_arena *x, u32 label, label_text *out); /* the text of an id in `labels` */

#endif
