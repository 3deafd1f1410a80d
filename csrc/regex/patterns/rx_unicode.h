/* Unicode data for regular expressions: property tables and simple case folding. The tables are generated: tools/make_unicode.py.
 *
 * A *table* is a set of code points. Table t is rx_unicode_data[starts[t] .. starts[t + 1]): for each range the distance of its start
 * from the end of the previous range (exclusive), then its length - 1; 7 bits a byte, low bits first, the top bit says that more follow.
 *
 * Names are in capitals without "_", "-", " ", sorted within each space. A category or binary property is the union of `count` tables
 * from `first` (categories are ordered so that groups are runs); a script is table `first`, with extensions table `count`.
 *
 * Folds are rings: following `next` from a code point visits all that are equal to it but for case (CaseFolding.txt, C + S) and comes
 * back. Code points that are alone are left out. */
#ifndef GE_RX_UNICODE_H
#define GE_RX_UNICODE_H

#include "../../base/base.h"

enum { RX_NAME_CATEGORY, RX_NAME_BINARY, RX_NAME_SCRIPT };

typedef struct rx_unicode_name {
    const char *name;
    u16 space, first, count;
} rx_unicode_name;

typedef struct rx_fold {
    u32 code, next;
} rx_fold;

extern const rx_unicode_name rx_unicode_names[];
extern const u32 rx_unicode_n_names;
extern const u32 rx_unicode_starts[];
extern const u8 rx_unicode_data[];
extern const rx_fold rx_unicode_folds[]; /* sorted by code */
extern const u32 rx_unicode_n_folds;

enum { /* tables with fixed numbers: general categories that the parser itself needs */
    RX_TABLE_LETTERS = 0,  /* Lu Ll Lt Lm Lo */
    RX_N_LETTERS = 5,
    RX_TABLE_NUMBERS = 8,  /* Nd Nl No */
    RX_N_NUMBERS = 3,
    RX_TABLE_DIGITS = 8,   /* Nd */
    RX_TABLE_SPACES = 22   /* Zs */
};

#endif
