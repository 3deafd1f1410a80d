/* lx: the lexer, an automaton that is built as it is read. Stage 4 of 7: allowed lexemes + bytes -> matched lexemes.
 *
 * Idea. A state is an interned list of (lexeme, regex): what is left of each lexeme that is under way. A transition derives every
 * regex by one byte and keeps those that are not empty. A lexeme matches on arrival in a state where its regex is nullable; whether it
 * also goes on is a matter of the same state. Where to begin is the parser's business: `lx_begin` takes the lexemes that a row allows.
 *
 *     state   [ lexeme, regex | lexeme, regex | ... ]   sorted by lexeme, each at most once
 *     next    state x byte class -> state, LX_DEAD, or NONE (not computed yet)
 *
 * Invariants. No regex of a state is empty (exact), so a state that is not LX_DEAD can still match, or has just matched. A lazy lexeme
 * that has matched is left with EMPTY: it has no way on. The expressions of lexemes are not nullable.
 *
 * Some lexemes are made while texts are read: a *distinct* one is a lexeme of the grammar without the values that were there before
 * (lx_value.c); a *group* is any of many lexemes of the grammar (lx_union.c). A state has one pair for a group; what matches is told as the
 * lexemes of the grammar. */
#ifndef GE_LX_H
#define GE_LX_H

#include "../base/stable.h"
#include "../regex/rx.h"

enum {
    LX_LAZY = 1, LX_SKIP = 2, /* flags of a lexeme, as in the IR */
    LX_UNIQUE = 4,            /* ... the array that it begins has no two items that are equal (engine/un.h) */
    LX_DISTINCT = 8,          /* made by lx_distinct: the parser asks for its value */
    LX_TAINTED = 16,          /* ... and it may still have one that is not known */
    LX_GROUP = 32,            /* made by lx_group */
    LX_REPEATED = 64          /* as in the IR: the array that it begins has two items that are equal */
};

typedef struct lx_lexeme {
    rx_id expr; /* never nullable; NEVER = cannot occur */
    u32 flags;
    u32 origin; /* lexeme of the grammar; of a group: NONE */
} lx_lexeme;

typedef struct lx_cheap { /* a value of a lexeme */
    u32 value, length; /* of its shortest text; RX_NO_LENGTH: there are no more values */
    u32 set;           /* of values: this one and all that are cheaper */
} lx_cheap;

enum { LX_DEAD, LX_IDLE }; /* states that always exist: no way on; nothing under way (not dead: the text may end here) */

typedef struct lx_state {
    u32 accepts; /* set of matched lexemes that are no skips (id in lx_lexer.accepts), NONE = none */
    bool skips;  /* a skip lexeme has matched */
    bool live;   /* some lexeme goes on */
    bool distinct; /* some lexeme is distinct */
    bool has_skip; /* some lexeme is a skip */
    u32 first;     /* id of the set that lx_first found, NONE until it was asked for */
    bool narrow;   /* ... and it has few bytes */
    u8 asked;      /* transitions that were computed by themselves, up to a few */
    u8 by;         /* the state was first come to by this byte ... */
    u32 same;      /* of lx_same, NONE until it was asked for */
    u32 from;      /* ... from this one; NONE: it was made by its pairs */
    u8 sure;       /* see lx_is_sure: 0 not asked, 1 no, 2 yes */
} lx_state;

typedef struct lx_lexer {
    budget *b;
    rx_arena x;
    VEC(lx_lexeme) lexemes; /* a copy of the grammar's, then `any_group`; grown by lx_distinct and lx_group */
    u32 any_group;          /* stands in states for all groups together: they differ in what they begin with, and only in that */
    intern_table states;
    VEC(lx_state) info;
    stable_array next;    /* by state: a row of n_classes */
    intern_table accepts; /* sorted lexemes */
    VEC(u32) scratch;
    id_vec matched;       /* scratch: lexemes that a new state has matched */
    bool no_cache;
    /* lx_value.c */
    intern_table values;     /* canonical form: number of bytes, bytes */
    intern_table value_sets; /* as in lx_union.c; 0 is the empty set */
    intern_table distinct;   /* (lexeme, value set, tainted) ... */
    VEC(u32) distinct_lexeme; /* ... -> lexeme */
    intern_table blocks;      /* lx_union.c: kind, then (block, mask) pairs ... */
    VEC(rx_id) block_union;   /* ... -> union */
    word_map group_of;        /* union -> lexeme */
    word_map cheap_of;        /* lx_least.c: (lexeme, number) -> index in cheap */
    VEC(lx_cheap) cheap;
} lx_lexer;

bool lx_init(lx_lexer *l, budget *b, const rx_arena *x, const lx_lexeme *lexemes, u32 n); /* copies all */
void lx_drop(lx_lexer *l);

u32 lx_begin(lx_lexer *l, const u32 *lexemes, u32 n); /* state before any byte; lexemes sorted, distinct; n may be 0. NONE: failure */
u32 lx_state_of(lx_lexer *l, const u32 *pairs, u32 n); /* the state of n pairs (lexeme, regex), sorted by lexeme. NONE: failure */
u32 lx_step(lx_lexer *l, u32 state, u32 byte_class);   /* next state or LX_DEAD; NONE: failure */

/* a set outside of which the state reads no byte, until the next is made. NULL: failure */
const byte_set *lx_first(lx_lexer *l, u32 state);
/* *out = bytes after any other of which the two states can read the same texts, by the same lexemes. False: failure. */
bool lx_differ(lx_lexer *l, u32 a, u32 b, byte_set *out);
bool lx_surely_reads(const lx_lexer *l, u32 state, u32 byte); /* true => it does, which is seen without a derivative; false => maybe */
bool lx_is_narrow(lx_lexer *l, u32 state, bool *narrow); /* few bytes, or few were asked for: lx_same does not pay. False: failure */

/* Classes by which a state goes to the same state for sure: same[c] is the first of those of c, next[c] leads round all of them. */
typedef struct lx_classes {
    const u8 *same, *next;
} lx_classes;

bool lx_same(lx_lexer *l, u32 state, lx_classes *out); /* valid until the next call. False: failure */

/* The value of a text of a distinct lexeme; a set of values and one more; a lexeme of the grammar without a set of values. NONE:
 * failure. */
#define VALUE_UNKNOWN NONE
u32 lx_value(lx_lexer *l, const u8 *text, u32 n);
u32 lx_value_of_string(lx_lexer *l, const u8 *chars, u32 n); /* of one that was decoded */
u32 lx_values_with(lx_lexer *l, u32 set, u32 value);
bool lx_values_have(const lx_lexer *l, u32 set, u32 value);
u32 lx_distinct(lx_lexer *l, u32 lexeme, u32 set, bool tainted);

/* Any of n lexemes of the grammar without flags, ascending, as one lexeme. NONE: failure. */
u32 lx_group(lx_lexer *l, const u32 *lexemes, u32 n);
/* Appends the i-th pair of a state, or of a group the pairs (lexeme of the grammar, regex) that are left of it. False: failure. */
bool lx_pairs(const lx_lexer *l, u32 state, u32 i, id_vec *out);

/* The union of what the ids of a set stand for: lexemes, tagged; values that are strings; all other values. NONE: failure. */
typedef enum lx_union { LX_TAGGED, LX_STRINGS, LX_OTHERS } lx_union;
rx_id lx_union_of(lx_lexer *l, lx_union kind, const u32 *set, u32 n_words);
/* For that: the characters of a string, or all spellings of another value; RX_ID_NEVER if the value is of the other sort. NONE: failure. */
rx_id lx_value_part(lx_lexer *l, u32 value, bool of_strings);

/* The n-th value of a lexeme of the grammar, from 0, by the length of its shortest text (lx_least.c). False: failure. */
bool lx_cheapest(lx_lexer *l, u32 lexeme, u32 n, lx_cheap *out);

/* Can the state, in which a lexeme may still have one value that is not known, go on whatever that value is? Errs towards no. */
bool lx_is_sure(lx_lexer *l, u32 state);

static inline u32 lx_count(const lx_lexer *l, u32 state) { return intern_length(&l->states, state) / 2; }
static inline u32 lx_lexeme_at(const lx_lexer *l, u32 state, u32 i) { return intern_words(&l->states, state)[2 * i]; }
/* of that lexeme */
static inline rx_id lx_rest_at(const lx_lexer *l, u32 state, u32 i) { return intern_words(&l->states, state)[2 * i + 1]; }

#endif
