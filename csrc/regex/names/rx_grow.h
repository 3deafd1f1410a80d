/* Labels that take fewer octets than a beginning of them, or no more. See rx_grow.c. */
#ifndef GE_RX_GROW_H
#define GE_RX_GROW_H

#include "rx_label.h"
#include "rx_ulabel.h"

typedef struct grow_question { /* labels */
    const label_text *text; /* that begin with it */
    ulabel_state state;     /* behind it */
    ulabel_set set;
    u32 low, high;          /* and go on with one of these: no character of ASCII, or any */
    u32 room;               /* in so many octets at most, behind `xn--` */
} grow_question;

/* Is there one? *first: its next character. Exact, unless the budget fails. */
bool label_can_grow(budget *b, const grow_question *q, u32 *first);

/* False => no text fits that goes on with any characters, whatever is asked of labels. */
bool label_may_grow(const label_text *t, u32 room);

/* What is known of the bias before a number: it, or that the number before
 * it, which is not the first of a text, has 1, 2, 3, or more digits. */
enum { GROW_KNOWN, GROW_MANY = 4, GROW_N_BEFORE, GROW_MOST_DIGITS = 6, GROW_MOST_IN_ALL = 8 };

/* The least number that is too great: of so many digits; for the sum of any numbers, or of two
 * or more, by how many digits the last has, and all have together. 0: there is no such number. */
extern const u32 grow_one[GROW_N_BEFORE][GROW_MOST_DIGITS + 1];
extern const u32 grow_any[GROW_N_BEFORE][GROW_N_BEFORE][GROW_MOST_IN_ALL + 1];
extern const u32 grow_several[GROW_N_BEFORE][GROW_N_BEFORE][GROW_MOST_IN_ALL + 1];

#endif
