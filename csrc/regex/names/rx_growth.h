/* What the files of rx_grow share.
 *
 *     rx_grow_digits.c   how great numbers in so many digits can be
 *     rx_grow_rest.c     what is left of a beginning takes at least
 *     rx_grow.c          the search, and what is asked */
#ifndef GE_RX_GROWTH_H
#define GE_RX_GROWTH_H

#include "punycode.h"
#include "rx_grow.h"

enum { GROW_FIRST_VALID = 0xb7, GROW_NEVER_FITS = 1000, GROW_MEMO_BITS = 8, GROW_LONGEST = LABEL_OCTETS + 1 };

typedef struct span {
    u32 low, high;
} span;

/* --- numbers ------------------------------------------------------------------------------------------------------------------ */

/* The greatest number of so many digits, at the best of some biases; the least one that takes so many; the fewest digits of a number. */
u64 grow_most_number(u32 digits, span bias);
u64 grow_least_number(u32 digits, span bias);
u32 grow_best_digits(u64 number, span bias);

/* What is known of the bias behind a number of so many digits. */
static inline u32 grow_before_of(u32 digits) { return min_u32(digits, GROW_MANY); }

/* Of each number of digits the least number that is too great for it; out has GROW_MOST_DIGITS + 1 places. */
void grow_find_too_great(span bias, u32 *out);

/* The digits of some numbers that make at least that sum, the last of which has `last` digits. */
u32 grow_least_after(u32 before, u64 sum, u32 last);
/* ... of two or more, where the numbers too great for the first are known: those behind so many digits, unless it is GROW_KNOWN. */
u32 grow_least_of_several(u32 before, const u32 *too_great_here, u64 sum, u32 last);
u32 grow_least_of_one(const u32 *too_great_here, u64 number);

/* --- a beginning, and what is appended to it ------------------------------------------------------------------------------ */

typedef struct insertion { /* any of these characters at any of these ranks */
    span code, rank;
} insertion;

typedef struct growth {
    budget *b;                     /* NULL: it is only asked for texts, labels or not */
    u32 n_tried;
    ulabel_state state;
    ulabel_set set;
    span asked;                    /* the first character that is appended is one of these */
    u32 first;
    u32 n, n_plain;                /* characters of the text outside ASCII; others */
    u32 code[GROW_LONGEST + 1];         /* in the order of insertion, behind the one before the first */
    u32 index[GROW_LONGEST + 1];        /* behind them */
    u64 number[GROW_LONGEST + 1];       /* as they are if nothing is appended */
    u32 rest[GROW_LONGEST + 1][GROW_N_BEFORE][2]; /* what it and those behind it take at least; is one of those asked for there? */
    u32 n_ascii, n_inserted;       /* appended so far */
    insertion inserted[GROW_LONGEST];
    u32 n_found;                   /* texts, of which perhaps none is a label */
    struct memo {
        u32 key, left;             /* with no more octets left it came to no text */
    } memo[1 << GROW_MEMO_BITS];
} growth;

void grow_read(growth *g, const label_text *t);
static inline u32 grow_gap(const growth *g, u32 k) { return g->code[k + 1] - g->code[k]; }
static inline u64 grow_number(const growth *g, u32 k, u32 n_more) { return g->number[k] + (u64)grow_gap(g, k) * n_more; }
u32 grow_bias(const growth *g, u32 k, u32 n_more); /* before the k-th, if nothing was inserted between the two before it */
/* The code points that may come between two characters of the text, or behind the last. */
static inline span grow_room(const growth *g, u32 k) {
    return (span){max_u32(GROW_FIRST_VALID, g->code[k]), k < g->n ? g->code[k + 1] - 1 : ULABEL_LAST_CODE};
}

/* --- bounds --------------------------------------------------------------------------------------------------------------- */

void grow_find_rest(growth *g, u32 most); /* g->rest, where at most so many are appended */
u32 grow_roughly_least(const growth *g, u32 most);
/* What those from the k-th on take at least, at some biases. */
u32 grow_rest_from(const growth *g, u32 k, u32 n_more, span bias, bool is_there);
/* ... and others before it, of which perhaps one is asked for. */
u32 grow_least_with_more(const growth *g, u32 k, u64 number, u32 before, const u32 *too_great_here, bool is_there);

#endif
