/* What the files of the regular expression parser share.
 *
 *     rx_read.c     pattern text -> code points, escapes, classes
 *     rx_parse.c    pattern text -> operands
 *     rx_operand.c  operands on a stack -> expressions
 *     rx_class.c    sets of code points: \d \w \s \p{...}, case folding, complement
 *     rx_anchor.c   languages with conditions on the text around them: ^ $ \b ...
 *     rx_future.c   all that may follow, to the end of the text
 *     rx_look.c     look-around: what sees no further than its branch becomes an operand
 *     rx_ahead.c    ... and what sees further waits until all that follows is known
 */
#ifndef GE_RX_PARSE_H
#define GE_RX_PARSE_H

#include "../rx.h"

enum { /* dialects: ir.py */
    RX_ECMA_SEARCH,
    RX_PYTHON_FULL,
    RX_ECMA_FULL,
    RX_N_DIALECTS
};

enum { /* flags: ir.py */
    RX_IGNORE_CASE = 1,
    RX_MULTI_LINE = 2,
    RX_DOT_ALL = 4,
    RX_VERBOSE = 8,
    RX_ASCII = 16
};

/* --- sets of code points ---------------------------------------------------------------------------------------------- */

bool rx_ranges_add(budget *b, rx_ranges *r, u32 low, u32 high);
void rx_ranges_sort(rx_ranges *r);
bool rx_ranges_invert(budget *b, rx_ranges *r);                        /* sorts first */
bool rx_ranges_fold(budget *b, rx_ranges *r, u32 dialect, u32 flags);  /* adds what is equal but for case, if flags say so; sorts */

/* Appends to r what \d, \w, \s (or a capital) means. */
bool rx_ranges_escape(budget *b, rx_ranges *r, u32 letter, u32 dialect, u32 flags);

/* Appends to r what \p{name} means; name is without braces. *known = 0: there is no such property. */
bool rx_ranges_property(budget *b, rx_ranges *r, const u8 *name, size_t n, bool *known);

/* Appends to r the code points that end a line, for . ^ $. */
bool rx_ranges_line_ends(budget *b, rx_ranges *r, u32 dialect);

/* --- languages with conditions ---------------------------------------------------------------------------------------- */

/* What must hold of the text before (after) a string. Each implies the ones above it, but WORD and those below it exclude each other. */
enum {
    RX_ANY,   /* nothing */
    RX_WORD,  /* it ends (begins) with a word character */
    RX_OTHER, /* it does not: it is empty or ends (begins) with another character */
    RX_LINE,  /* it is empty or ends (begins) with a line end */
    RX_FINAL, /* it is empty or one "\n" (after only) */
    RX_EDGE,  /* it is empty */
    RX_N_CONDITIONS,
    /* Of the text before only, for what does not hold of it. WORD, EDGE
     * and these two exclude each other, and every text is one of the four. */
    RX_LINE_END = RX_N_CONDITIONS, /* it ends with a line end */
    RX_MARK,                       /* it ends with a character that is no line end and no word character, as far as they are told apart */
    RX_N_BEFORE
};

/* at[a][b]: strings that match where a holds of the text before them and b of the text after them. */
typedef struct rx_ways {
    rx_id at[RX_N_CONDITIONS][RX_N_CONDITIONS];
} rx_ways;

typedef struct rx_context {
    rx_arena *x;
    rx_id word, other;   /* one character that \w matches, and any other one; NEVER until \b is met */
    rx_id line, no_line; /* one character that ends a line, and any other one; NEVER until ^ or $ in MULTI_LINE is met */
    rx_id mark, no_mark; /* one character that RX_MARK is about, and any other one; NEVER until a complement asks for them */
    word_map restricted; /* (expression, condition, which end) -> what is left of it */
} rx_context;

u32 rx_meet(u32 a, u32 b); /* both conditions at once; NONE: they exclude each other */
/* s restricted so that a holds of what comes after it; without "", if a is not ANY */
rx_id rx_ends(rx_context *c, rx_id s, u32 a);
rx_id rx_around(rx_context *c, u32 condition, bool before);   /* texts that the condition holds of, before (after) a match */

void rx_ways_clear(rx_ways *w);                                   /* the empty set */
bool rx_ways_add(rx_context *c, rx_ways *w, u32 a, u32 b, rx_id id);
bool rx_ways_concat(rx_context *c, const rx_ways *left, const rx_ways *right, rx_ways *out);

/* out = w{low,high}. *refused: the conditions in w are of a kind that cannot be counted that far. */
bool rx_ways_repeat(rx_context *c, const rx_ways *w, u32 low, u32 high, rx_ways *out, bool *refused);

rx_id rx_ways_full(rx_context *c, const rx_ways *w);   /* strings that match with nothing around them */
rx_id rx_ways_search(rx_context *c, const rx_ways *w); /* texts with a match in them */

/* --- all that follows --------------------------------------------------------------------------------------------------- */

/* at[a]: what may follow to the end of the text where a holds of the text before. */
typedef struct rx_future {
    rx_id at[RX_N_BEFORE];
} rx_future;

rx_future rx_future_of(rx_id id); /* id, whatever was before */
bool rx_future_is(const rx_future *f, const rx_future *g);
bool rx_future_onto(rx_context *c, const rx_ways *w, const rx_future *after, rx_future *out); /* out = w and then `after` */
bool rx_future_or(rx_context *c, const rx_future *parts, u32 n, rx_future *out);
bool rx_future_and(rx_context *c, const rx_future *f, const rx_future *g, rx_future *out);
bool rx_future_not(rx_context *c, const rx_future *f, rx_future *out);
rx_id rx_future_full(rx_context *c, const rx_future *f);   /* with nothing before */
rx_id rx_future_search(rx_context *c, const rx_future *f); /* after any text */

#endif
