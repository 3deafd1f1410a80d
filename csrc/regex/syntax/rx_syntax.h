/* SYNTAX: the texts that are regular expressions of ECMA-262 (edition of 2025) with the flag u, without annex B.
 *
 * Idea. A node is what was read, reduced to what matters for what may come: the place in a term, the groups that are open, and what the
 * pattern as a whole has to make good, so many more capturing groups (\3) and these names (\k<x>). Each rule that can be broken is broken
 * at a character, so a text that has broken none can be completed: by the rest of the term, a `)` for each open group, and empty groups
 * `()`, `(?<x>)` for what is missing. So every node is inhabited, and how long its shortest string is is a sum (rx_syntax_node.c).
 *
 *     ^(?<y>\d{4})-[a-f     in a class, behind `a-f`; 1 group, named y
 *     (a\2(?:b|\k<x         in the name of a reference; open: `(?:`, `(`; one more group is needed, and what will be read must be named
 *
 * Names may be defined twice in different alternatives only. Of each it is known at which depth its alternative is, and whether that is
 * still being read (*active*): a `|` at that depth ends it, and where a group is closed its names go to the alternative around it.
 *
 * Ropes and lists are interned cells, of three words each, in x->cells: equal content is an equal id. The names of properties are in
 * rx_syntax_names.h, the characters of group names in the tables of rx_unicode.h. */
#ifndef GE_RX_SYNTAX_H
#define GE_RX_SYNTAX_H

#include "../rx.h"

#define SYNTAX_MOST_GROUPS (NONE - 1) /* ECMA-262, 22.2.1.1: fewer than 2^32 - 1 */

typedef enum syntax_phase {
    SYNTAX_TERM,       /* behind what takes no quantifier */
    SYNTAX_ATOM,       /* behind what takes one */
    SYNTAX_QUANTIFIED, /* behind one that may still be made lazy */
    SYNTAX_REFERENCE,  /* \N, value = N: digits may follow */
    SYNTAX_ZERO,       /* \0: no digit may follow, also in a class */
    SYNTAX_OPENED,     /* [ */
    SYNTAX_CLASS,      /* between the atoms of a class */
    SYNTAX_NAME,       /* between the characters of a name */
    SYNTAX_PAREN, SYNTAX_QUESTION, SYNTAX_LESS, SYNTAX_FLAGS, /* (  (?  (?<  (?i */
    SYNTAX_COUNT, SYNTAX_LOW, SYNTAX_COMMA, SYNTAX_HIGH,      /* {  {1  {1,  {1,2 */
    SYNTAX_ESCAPE, SYNTAX_CONTROL, SYNTAX_HEX, SYNTAX_UNICODE, SYNTAX_BRACE, SYNTAX_BRACED, /* \  \c  \x  \u  \u{  \u{1 */
    SYNTAX_PROPERTY, SYNTAX_PROPERTY_NAME, SYNTAX_NAMED       /* \p  \p{  \k */
} syntax_phase;

typedef enum syntax_place { SYNTAX_OUTSIDE, SYNTAX_IN_CLASS, SYNTAX_IN_GROUP_NAME, SYNTAX_IN_REFERENCE_NAME } syntax_place;

/* in a class: an atom that may begin a range; and its dash. In a name, FIRST: it has characters */
enum { SYNTAX_NO_RANGE, SYNTAX_FIRST, SYNTAX_DASH };
enum { SYNTAX_SET = 0x110000 }; /* an atom that is more than one character, and so in no range */
enum { SYNTAX_ACTIVE = 1 };     /* of a name, beside twice its depth */

typedef struct syntax { /* a node, word by word. Fields that do not matter are 0 or, if they are ids, NONE */
    u32 kind;
    u8 phase, place, range;
    u8 left;   /* HEX: digits to come; PROPERTY_NAME: characters of the name that were read */
    u16 lead;  /* a surrogate \uD800 ... \uDBFF that was the last atom, or 0 */
    u8 flags;  /* FLAGS: those that were read, and 8 for the dash */
    u8 loose;  /* see rx_loosen */
    u32 begun; /* bytes of a character; or what utf8_step makes of them, where it does not matter which character it is */
    u32 value; /* REFERENCE, HEX, BRACED: the number so far; PROPERTY_NAME: index of the first name that begins so, and the list << 16 */
    u32 low;   /* FIRST, DASH: the atom; HIGH: the digits, a rope */
    u32 depth; /* open groups */
    /* of the innermost of them, up to 32, the innermost lowest: does it take a quantifier? And those around them, a list */
    u32 closers, below;
    u32 n_groups, needed; /* capturing groups; more that must come */
    u32 names;  /* a list: the name, a rope, and 2 * depth + SYNTAX_ACTIVE */
    u32 wanted; /* names that must be defined, a list */
    u32 text;   /* a name, or LOW, COMMA, HIGH: the digits, without zeros in front; a rope */
} syntax;

enum { SYNTAX_WORDS = sizeof(syntax) / sizeof(u32) };

bool syntax_step(rx_arena *x, syntax *s, u32 byte); /* false: no pattern begins so; or failure of the budget */
bool syntax_may_end(const syntax *s);
u32 syntax_compare(const rx_arena *x, u32 a, u32 b); /* ropes of equal length: 0 equal, 1 a is less, 2 a is greater */
u32 syntax_utf8_phase(const syntax *s);              /* of the character that has begun */
u32 syntax_name_rest(u32 value, u32 length);         /* the fewest bytes that complete the name of a property, with its brace */
static inline const u32 *syntax_cell(const rx_arena *x, u32 cell) { return intern_words(&x->cells, cell); }
static inline u32 syntax_length(const rx_arena *x, u32 rope) { return rope == NONE ? 0 : syntax_cell(x, rope)[2]; }

#endif
