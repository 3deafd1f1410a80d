/* rx: regular expressions over bytes as hash-consed nodes, with derivatives. Stage 3 of 7: expressions -> automaton states.
 *
 * Idea (Brzozowski 1964; Owens, Reppy, Turon 2009). d(L, c) = { s : cs in L }. A node is interned by its content, and constructors
 * apply the laws of similarity, so the derivatives of one expression are finitely many and mostly few: they *are* the states of its
 * automaton. A node is never changed and never freed before its arena.
 *
 * Invariants of the normal form (what constructors return):
 *   - CONCAT's head is no CONCAT: sequences nest to the right. NEVER and EMPTY do not occur in it.
 *   - OR and AND have >= 2 operands, sorted by id, distinct, none of the same kind; OR holds at most one SET.
 *   - NOT's operand is no NOT. REPEAT's operand is no nullable one with minimum > 0; (1, 1), (0, 0), (0, 1) do not occur.
 *
 * Depth. `depth` of a node counts nesting except along the tail of CONCAT; it is at most 4 limits.max_regex_nesting + 50 (derivatives
 * add to what the source had), and recursion goes no deeper than that. */
#ifndef GE_RX_H
#define GE_RX_H

#include "../base/intern.h"

typedef u32 rx_id;

enum { /* ids that always exist */
    RX_ID_NEVER, /* the empty set */
    RX_ID_EMPTY, /* { "" } */
    RX_ID_ALL    /* all byte strings */
};

#define RX_DEPTH_CEILING 5000 /* what recursion can do in 8 MB of stack, whatever the limit says */

typedef enum rx_kind {
    RX_NEVER,
    RX_EMPTY,
    RX_ALL,
    RX_SET,     /* id of a byte set */
    RX_CONCAT,  /* head, tail */
    RX_OR,      /* operands */
    RX_AND,     /* operands */
    RX_NOT,     /* operand */
    RX_REPEAT,  /* operand, minimum, maximum (NONE: unbounded) */
    RX_QUOTE,   /* operand, escapes, phase, accumulator: JSON string encodings of the operand; see rx_quote.c */
    RX_MULTIPLE, /* distance, then the rest of a struct multiple: decimal multiples in a range; see rx_multiple.c */
    RX_PUNYCODE, /* a text: what follows it in labels in Punycode; see rx_punycode.c */
    RX_NAME,    /* a struct rx_name: internationalised host names; see rx_name.c */
    RX_SYNTAX,  /* struct syntax: what may follow a text in regular expressions of ECMA-262; see rx_syntax.h */
    RX_FORK,    /* two operands: a union that is a tree; see rx_fork.c */
    RX_TAG,     /* operand, number */
    RX_REST     /* a FORK, number: what may follow so many of the sets with which all its parts begin */
} rx_kind;

enum {                /* flags, fixed at creation */
    RX_NULLABLE = 1,  /* contains "" (exact) */
    RX_INHABITED = 2, /* set => contains something; not set => unknown */
    RX_TEXT = 4,      /* set => every string is valid UTF-8; not set => unknown */
    RX_FINITE = 8,    /* set => finitely many strings; not set => unknown */
    RX_COUNTED = 16,  /* rx_clamp may change it: a repeat with an upper bound is in it, not inside a complement (exact) */
    RX_NAMED = 32,    /* rx_unbound changes it: a bounded NAME is in it, not inside a complement (exact) */
    RX_FIRST_EXACT = 64,     /* set => with each byte that rx_first finds some string begins; not set => unknown */
    RX_BARRED = 128          /* a bounded NAME is in it, inside just one complement (exact); see rx_barred.c */
};

#define RX_NOT_COUNTED UINT8_MAX

typedef enum rx_verdict { RX_UNKNOWN, RX_IS_EMPTY, RX_IS_INHABITED } rx_verdict;

typedef struct rx_meta {
    u8 flags;
    u8 verdict; /* on its being empty, as far as it was asked: a rx_verdict */
    u16 depth;
    u16 distance; /* a guess at the length of the shortest string: where the search for one looks first */
    u8 shared;    /* of a FORK, see rx_fork.c; RX_NOT_COUNTED until it was asked for */
    u8 least;     /* no string is shorter, by structure; 255 stands for all that is longer */
} rx_meta;

typedef struct char_range {
    u32 low, high; /* inclusive code points */
} char_range;

/* In any order and overlapping, until rx_ranges_sort: then sorted, disjoint, not adjacent. */
typedef VEC(char_range) rx_ranges;

typedef struct rx_n_chars { /* characters of a string */
    u32 least, most;
} rx_n_chars;

/* of a short string the first byte, and what is left of the expression; next NONE: none was found, `byte` tells how */
typedef struct rx_ending {
    rx_id next;
    u32 byte;
} rx_ending;

typedef struct rx_arena {
    /* All that owns memory, in front of `b` (rx_copy). */
    intern_table nodes; /* words: kind, operands */
    VEC(rx_meta) meta;  /* by node */
    intern_table sets;  /* byte sets, 8 words each */
    word_map memo;      /* (node, byte class) -> derivative */
    VEC(u32) first;     /* by node: id of the set that rx_first found, NONE until it was asked for */
    VEC(u32) local_of;  /* by node: id in local, NONE until it was asked for */
    intern_table local; /* sets of sets; see rx_local.c */
    word_map same_of;   /* id in local, once classes are frozen -> index in same */
    VEC(u8) same;       /* `same` and `next` of rx_local_classes */
    VEC(u32) must_of;   /* by node: id in must, NONE until it was asked for */
    intern_table must;  /* see rx_must.c */
    word_map clamped;   /* (node, number of bytes) -> what rx_clamp made of it */
    word_map widened;   /* node -> what rx_widen made of it */
    word_map finish;    /* node -> what rx_finish found */
    word_map least;     /* (node, in quotes) -> what rx_least found */
    word_map bounds_of; /* the same -> a bound (rx_least.c), while one is asked for */
    VEC(u8) bounds;     /* digits of the bounds of multiples */
    intern_table labels; /* what was read of labels: (all but the last character, the last one) */
    intern_table cells;  /* ropes and lists of regular expressions that are read; see rx_syntax.h */
    rx_ranges id_start, id_continue; /* what is in their names; empty unless there are such */
    word_map beyond;    /* node -> what rx_beyond found */
    word_map apart;     /* FORK -> what may follow all the sets with which its parts begin */
    word_map among;     /* two parts of a union -> whether the strings of the one are among those of the other; see rx_loop.c */
    word_map unbound;   /* (node, name_change) -> what is left of it without bounds of names; see rx_unbound.c */
    VEC(rx_n_chars) chars; /* by node, least = NONE until it was asked for; see rx_length.c */
    word_map ending_of;    /* node -> index in endings; see rx_ending.c */
    VEC(rx_ending) endings;

    budget *b;          /* borrowed */
    rx_id text;         /* valid UTF-8, NONE until rx_text() was asked for */
    rx_id of_byte[256]; /* the node of each single byte, RX_ID_NEVER until it was asked for */
    u32 local_escape;   /* id in local of what is inside an escape, NONE until it was asked for */
    u32 n_bounds;       /* how many were asked for (bounds_of) */
    u64 derivatives;    /* computed so far */

    /* Byte classes: bytes that no set of the arena tells apart. Valid while class_sets == number of sets, or for good once frozen. */
    u8 class_of[256];
    u8 class_byte[256]; /* a byte of each class */
    u32 n_classes;
    u32 class_sets;
    bool frozen;
    bool has_name;
    /* an intersection or a complement has a bounded NAME in it: whether it holds anything may depend on how long names are */
    bool has_mixed_name;
    bool on_way; /* a label is looked through, see rx_punycode.c: not within that again */
    bool has_quote, has_multiple, has_punycode, has_syntax;         /* such nodes exist: their bytes are told apart too */
    bool split_quote, split_multiple, split_punycode, split_syntax; /* ... and that has been done */
} rx_arena;

bool rx_init(rx_arena *x, budget *b);
bool rx_copy(rx_arena *x, budget *b, const rx_arena *from);
void rx_drop(rx_arena *x);

/* Constructors. All return NONE on failure (sticky in the budget) and when an operand is NONE. */
rx_id rx_set(rx_arena *x, const byte_set *set);
rx_id rx_byte(rx_arena *x, u32 byte);
rx_id rx_bytes(rx_arena *x, const u8 *bytes, size_t n); /* one literal byte string */
rx_id rx_concat(rx_arena *x, rx_id head, rx_id tail);
rx_id rx_or(rx_arena *x, const rx_id *parts, u32 n); /* n may be 0 or 1 */
rx_id rx_or2(rx_arena *x, rx_id a, rx_id b);
rx_id rx_and(rx_arena *x, const rx_id *parts, u32 n);
rx_id rx_not(rx_arena *x, rx_id part);
/* A union or an intersection of what `change` makes of its parts; `how` is handed on. */
rx_id rx_change_parts(rx_arena *x, rx_id id, rx_id (*change)(rx_arena *x, rx_id part, u32 how), u32 how);
rx_id rx_repeat(rx_arena *x, rx_id part, u32 minimum, u32 maximum); /* NONE: unbounded */
rx_id rx_quote(rx_arena *x, rx_id part, u32 escapes);

rx_id rx_fork(rx_arena *x, rx_id a, rx_id b);         /* a | b, see rx_fork.c */
rx_id rx_tag(rx_arena *x, rx_id part, u32 tag);
/* the set with which all parts of a FORK or a REST begin, NONE: they begin with several */
u32 rx_shared(rx_arena *x, rx_id id);
rx_id rx_rest(rx_arena *x, rx_id id, u32 n);          /* what may follow n sets that rx_shared gives, one after the other */

/* One code point out of sorted, disjoint ranges, as UTF-8. Surrogates are left out. */
rx_id rx_chars(rx_arena *x, const char_range *ranges, u32 n);
rx_id rx_text(rx_arena *x); /* all valid UTF-8 */

typedef struct literal {
    const u8 *at;
    u32 n;
} literal;

/* Any of n byte strings (sorted, distinct), as a trie with shared ends. */
rx_id rx_literals(rx_arena *x, const literal *literals, u32 n);

#define RX_MAX_DIVISOR 1000 /* digits */

/* Multiples of divisor / 10^scale from low / 10^scale to high / 10^scale. The divisor is from 1 to RX_MAX_DIVISOR digits without leading
 * zeros. Bounds are digits, more than `scale` of them and without leading zeros beyond that; a high bound without digits is none. See
 * rx_multiple.c. */
rx_id rx_multiple(rx_arena *x, literal divisor, u32 scale, literal low, literal high);

/* What follows `xn--` in A-labels. See rx_punycode.c. */
rx_id rx_punycode(rx_arena *x);

/* Internationalised host names: with all the dots of RFC 3490, section 3.1, or with `.`; in normalisation form C, or any; of at most 253
 * octets and 63 in each label, or of any length. RX_LATE, with bounds: octets are counted at the end of a label, so a node may be empty.
 * RX_OF_MAIL: domains of RFC 6531, section 3.3, of at most 255 octets. See rx_name.c. */
enum { RX_ALL_DOTS = 1, RX_ANY_FORM = 2, RX_BOUNDED = 4, RX_LATE = 8, RX_OF_MAIL = 16 };
rx_id rx_host_name(rx_arena *x, u32 options);

/* The texts that are regular expressions of ECMA-262 with the flag u. See rx_syntax.h. */
rx_id rx_syntax(rx_arena *x);

/* Regular expression text (UTF-8, NULs are legal) in a dialect of ir.py with its flags. On a syntax error or a refused construct
 * fails the budget with GE_E_SYNTAX / GE_E_UNSUPPORTED and fills err->offset and err->text. */
rx_id rx_parse(rx_arena *x, const u8 *pattern, size_t n, u32 dialect, u32 flags, ge_err *err);

/* Questions. */
static inline rx_kind rx_kind_of(const rx_arena *x, rx_id id) { return (rx_kind)intern_words(&x->nodes, id)[0]; }
/* node = the kind of a node and its first operands, 0 where it has no more: a copy, since the pool moves when others are made. */
static inline void rx_copy_node(const rx_arena *x, rx_id id, u32 node[5]) {
    memset(node, 0, 5 * sizeof *node);
    memcpy(node, intern_words(&x->nodes, id), min_u32(intern_length(&x->nodes, id), 5) * sizeof *node);
}

/* The operands of a union, *n of them; anything else is its own only one. */
static inline const rx_id *rx_choices(const rx_arena *x, const rx_id *id, u32 *n) {
    bool is_union = rx_kind_of(x, *id) == RX_OR;
    *n = is_union ? intern_length(&x->nodes, *id) - 1 : 1;
    return is_union ? intern_words(&x->nodes, *id) + 1 : id;
}
static inline bool rx_nullable(const rx_arena *x, rx_id id) { return x->meta.at[id].flags & RX_NULLABLE; }
static inline u32 rx_length_bound(const rx_arena *x, rx_id id) { return x->meta.at[id].least; }
static inline const byte_set *rx_set_of(const rx_arena *x, u32 set) { return (const byte_set *)(const void *)intern_words(&x->sets, set); }

rx_id rx_derive(rx_arena *x, rx_id id, u32 byte); /* normal form of d(id, byte); may be empty without being NEVER */
bool rx_is_empty(rx_arena *x, rx_id id);          /* exact; meaningless (and the budget failed) on failure */
/* Appends (tag, operand) of the TAGs in a tree of FORKs, with `nullable` of those that contain "". False on failure. */
bool rx_tags(const rx_arena *x, rx_id id, bool nullable, id_vec *out);
bool rx_count(rx_arena *x, rx_id id, u64 limit, u64 *count); /* number of strings, at most limit; false on failure (rx_count.c) */
void rx_refresh_classes(rx_arena *x);             /* brings class_of up to date */
bool rx_freeze_classes(rx_arena *x, const rx_id *roots, u32 n); /* classes of what is reachable from roots, for good */

/* Is it a number of characters, perhaps behind the rest of one? *least, *most: so many of them (rx_length.c). */
bool rx_is_length(const rx_arena *x, rx_id id, u32 *least, u32 *most);

/* How many characters the strings of an expression have, by its structure: no fewer, no more than that (RX_NO_LENGTH: any number). */
rx_n_chars rx_count_chars(rx_arena *x, rx_id id);
bool rx_is_too_long(rx_arena *x, rx_id id); /* would they need more characters than they may have? */

/* *out = a set outside of which no string of `id` begins (rx_first.c). False on failure. */
bool rx_first(rx_arena *x, rx_id id, byte_set *out);
/* Does a string of `id` begin with a byte, if there is any string? true => it does; false => maybe, or rx_first was not asked. */
bool rx_surely_begins(const rx_arena *x, rx_id id, u32 byte);
static inline bool rx_may_begin(rx_arena *x, rx_id id, u32 byte, bool *answer) { /* is a byte in that set? */
    byte_set first;
    bool known = id < x->first.n && x->first.at[id] != NONE;
    if (!known && !rx_first(x, id, &first)) return false;
    return *answer = set_has(known ? rx_set_of(x, x->first.at[id]) : &first, byte), true;
}

/* The characters beyond ASCII with which strings of `id` begin, as an
 * expression (rx_beyond.c); RX_ANY_BEYOND: that is not seen. NONE: failure. */
#define RX_ANY_BEYOND RX_ID_ALL
rx_id rx_beyond(rx_arena *x, rx_id id);

/* *out = bytes after any other of which the two are the same language (rx_differ.c). False on failure. */
bool rx_differ(rx_arena *x, rx_id a, rx_id b, byte_set *out);

/* *out = a set outside of which no string of `id` has a byte (rx_must.c). False on failure. */
bool rx_may(rx_arena *x, rx_id id, byte_set *out);

/* *answer => an intersection that has no string, since one operand needs a byte
 * that another one cannot have (rx_must.c). Not => maybe. False on failure. */
bool rx_is_contradiction(rx_arena *x, rx_id id, bool *answer);

/* Local classes (rx_local.c): the sets that tell the derivatives of `id` apart, as an id in `local`, NONE on failure; adds them to `sets`;
 * the id of `sets`, which it sorts; same[c] = the first class that they do not tell from c, next[c] = the next one, in a ring. */
u32 rx_local(rx_arena *x, rx_id id);
bool rx_add_local(rx_arena *x, rx_id id, id_vec *sets);
u32 rx_intern_local(rx_arena *x, id_vec *sets);
void rx_local_classes(const rx_arena *x, u32 local, u8 *same, u8 *next);
u32 rx_classes_at(rx_arena *x, u32 local); /* where x->same has them, whose classes are frozen. NONE on failure */
/* A byte that may begin a short string: of what is asked at once that which asks for most, of alternatives the shortest. Just a guess. */
u32 rx_near_byte(const rx_arena *x, rx_id id);
bool rx_told_apart(rx_arena *x, rx_id id, u8 *same); /* `same` of rx_local_classes. False on failure */

/* True => after any text of at most n_chars characters that JSON allows raw in a string,
 * something of `id` is still possible. False => maybe. n_chars NONE: any number. See rx_absorb.c. */
bool rx_absorbs_plain(const rx_arena *x, rx_id id, u32 n_chars);

/* What plain text must be to kill an expression: longer than n_bytes, and
 * with bytes of all these kinds (bits). Of several perils, one or another. */
typedef struct rx_peril {
    u32 n_bytes;
    u64 kinds;
} rx_peril;

enum { RX_PERILS = 4 };

typedef struct rx_perils {
    u32 n;
    rx_peril of[RX_PERILS];
} rx_perils;

/* *out = the perils of `id`, where kind_of has 64 kinds of bytes at most.
 * None => any plain text leaves it alive. See rx_survive.c. False on failure. */
bool rx_find_perils(rx_arena *x, rx_id id, const u8 *kind_of, rx_perils *out);

/* True => any text in quotes whose number of characters has no most, and then what is not empty. False => maybe. */
bool rx_is_any_text(const rx_arena *x, rx_id id);
bool rx_escapes_any_text(const rx_arena *x, rx_id id); /* the same behind a backslash, or `\u` */

/* True => of the texts of plain characters, exactly those of at most *n_chars leave something of `id` possible. False => maybe. */
bool rx_counts_plain(const rx_arena *x, rx_id id, u32 *n_chars);
/* Counted text: QUOTE(r p{least,room}) t, where p are single characters, r is what is left of one or nothing, and t begins with a quotation
 * mark (rx_room.c). The same with another room, two or more and no less than `least`: NONE on failure. */
typedef enum rx_counted {
    RX_UNCOUNTED,
    RX_IN_CHAR,    /* something of a character was read, or of an escape */
    RX_OWES_CHARS, /* nothing was, and the text may not end here, as characters are missing */
    RX_AT_CHAR,
    RX_AT_ANY_CHAR /* ... and any character may come */
} rx_counted;

rx_counted rx_counts_chars(rx_arena *x, rx_id id, u32 *least, u32 *room);
rx_id rx_with_room(rx_arena *x, rx_id id, u32 room);

/* `id` with the bounds dropped of repeats that n_bytes cannot fill: the same
 * strings of at most so many bytes, and perhaps more of longer ones (rx_clamp.c). */
rx_id rx_clamp(rx_arena *x, rx_id id, u32 n_bytes);
rx_id rx_few(rx_arena *x, rx_id id); /* a subset of `id`: upper bounds of repeats become 2, but none inside a complement. NONE on failure */
bool rx_is_within(const rx_arena *x, rx_id a, rx_id b); /* true => `a` is a subset: `b` with other bounds of repeats. False => maybe */

/* The most characters that `id` may have, if it is the rest of a string in quotes of
 * which more is asked; else NONE (rx_room.c). `id` without that: NONE on failure. */
u32 rx_room(const rx_arena *x, rx_id id);
/* the same, if nothing else that is asked bounds the characters, as far as structure tells; else NONE */
u32 rx_only_room(rx_arena *x, rx_id id);
rx_id rx_without_room(rx_arena *x, rx_id id);
/* Of what is left of that: false: it is not seen to be the rest of such a string. *raw: it is not within an escape, nor behind the string.
 * Does a character begin there with a byte? *least = the characters that must still begin in it, NONE: that is not seen (false:
 * failure). */
bool rx_sees_room(const rx_arena *x, rx_id id, bool *raw);
bool rx_begins_char(u32 byte);
bool rx_least_to_begin(rx_arena *x, rx_id id, u32 *least);

/* A superset of `id` with few derivatives: behind `xn--`, any characters of labels (rx_widen.c). NONE on failure. */
rx_id rx_widen(rx_arena *x, rx_id id);
/* `id` without the lower bound of the repeat at its end: strings with the same beginnings. NONE on failure. */
rx_id rx_without_minimum(rx_arena *x, rx_id id);
/* The length of a short string of `id`, or n_bytes + 1 if none of at most n_bytes was found. NONE on failure. */
u32 rx_finish(rx_arena *x, rx_id id, u32 n_bytes);

/* The length of the shortest string of `id`, exact (rx_least.c); RX_LONG stands for
 * all that is longer. RX_NO_LENGTH: there is no string; or failure of the budget. */
#define RX_NO_LENGTH NONE
#define RX_LONG ((u32)1 << 30)
u32 rx_least(rx_arena *x, rx_id id);
u32 rx_least_seen(rx_arena *x, rx_id id); /* the same, if it is seen by structure; else RX_NO_LENGTH */
u32 rx_least_bound(rx_arena *x, rx_id id); /* no string is shorter: what is known without a search */
u32 rx_least_quoted(rx_arena *x, rx_id id); /* the same two of the spellings in JSON, without escapes that are not needed */
u32 rx_bound_quoted(rx_arena *x, rx_id id);
u32 rx_add_lengths(u32 a, u32 b);
u32 rx_times_length(u32 n, u32 length); /* no times no length is 0 */
/* appends the first of the shortest strings. `id` is not empty. False on failure */
bool rx_least_text(rx_arena *x, rx_id id, byte_vec *out);

/* What stands for the JSON spelling of a regular expression under way where groups are counted, names are told apart and ranges are
 * compared in no token: it has all beginnings that `id` has, and more of those only for which rx_loose_differs. `id` itself, if it is none.
 * NONE on failure. */
rx_id rx_loosen(rx_arena *x, rx_id id);
typedef struct rx_loose { /* where an expression stands that rx_loosen changes */
    bool in_class, in_group, in_escape;
    bool has_length, is_far; /* the length is bounded; but the bound is far away */
} rx_loose;
rx_loose rx_loose_of(const rx_arena *x, rx_id id);
bool rx_loose_differs(rx_loose at, const u8 *token, u32 n); /* may it? */

/* A part of a union: the conditions on what stands before a tail (rx_narrow.c). */
typedef struct rx_arm {
    rx_id id, tail;
    const u32 *quote; /* the node of which they are the operand; NULL: none */
    const rx_id *all; /* sorted */
    u32 n;
} rx_arm;

rx_arm rx_arm_of(const rx_arena *x, const rx_id *id); /* *id has to stay where it is: it may be pointed to */

/* For constructors: interns a node (rx_arena.c). */
rx_id rx_intern(rx_arena *x, const u32 *words, u32 n, u32 flags, u32 depth);
void rx_note_mixed(rx_arena *x, u32 kind, u32 flags); /* of a node that is there: has_mixed_name */
void rx_drop_contained(rx_arena *x, id_vec *parts); /* drops parts of a union that a loop among them contains (rx_loop.c) */
/* drops parts of a union that are others with more conditions (rx_narrow.c); false: too much work */
bool rx_drop_narrower(rx_arena *x, id_vec *parts);
rx_id rx_quote_again(rx_arena *x, rx_id part, const u32 *node); /* a RX_QUOTE node with another operand */
rx_id rx_quote_step(rx_arena *x, const u32 *node, u32 byte);    /* derivative of a RX_QUOTE node */
u32 rx_quote_least(const u32 *node, u32 of_part);               /* within an escape, as `of_part` for its operand: no string is shorter */
u32 rx_quote_rest(rx_arena *x, const u32 *node);                /* within an escape: the length of the shortest string, exact */
/* *out = the bytes with which the strings of a RX_QUOTE node begin, if
 * those of its operand begin with `of_part`; within an escape, some more. */
void rx_quote_first(const u32 *node, const byte_set *of_part, byte_set *out);
/* `from` without the strings of `taken`, where both are spellings and then a quotation mark. False: they are not. *out = NONE: failure. */
bool rx_quote_minus(rx_arena *x, rx_id from, rx_id taken, rx_id *out);
bool rx_begins_with_mark(const rx_arena *x, rx_id id);          /* a quotation mark, and perhaps more */
bool rx_quote_is_empty(rx_arena *x, const u32 *node);           /* its emptiness, from that of its operand */
rx_id rx_multiple_step(rx_arena *x, const u32 *node, u32 byte); /* derivative of a RX_MULTIPLE node */
u32 rx_multiple_least(const u32 *node, bool *exact); /* no string of a RX_MULTIPLE node is shorter, if "" is none; *exact: one is as long */
u32 rx_multiple_sort(const rx_arena *x, const u32 *node, u32 digit); /* digits with equal answers have the same derivative */
rx_id rx_punycode_step(rx_arena *x, const u32 *node, u32 byte); /* derivative of a RX_PUNYCODE node */
rx_id rx_name_step(rx_arena *x, rx_id id, u32 byte);            /* derivative of a RX_NAME node */
rx_id rx_name_unbound(rx_arena *x, rx_id id);                   /* a RX_NAME node without bounds */
rx_id rx_name_late(rx_arena *x, rx_id id);                      /* ... with bounds that are asked for late */
u32 rx_name_least(const rx_arena *x, rx_id id);                 /* no string of a RX_NAME node is shorter */
void rx_name_first(const rx_arena *x, rx_id id, byte_set *out);
enum { RX_NAME_SETS = 9 };
byte_set rx_name_bytes(u32 index); /* so many sets by which RX_NAME nodes tell bytes apart */
rx_id rx_syntax_step(rx_arena *x, const u32 *node, u32 byte);   /* derivative of a RX_SYNTAX node */
bool rx_syntax_first(rx_arena *x, const u32 *node, byte_set *out); /* adds its first bytes. False on failure */
/* in ASCII, bytes that it tells from all others; NULL: all. *far: outside of it, by UTF-8; else none may come */
const char *rx_syntax_apart(const u32 *node, bool *far);
u32 rx_syntax_least(const rx_arena *x, const u32 *node, bool *exact); /* as rx_multiple_least */
/* the byte that ends a count, where a RX_SYNTAX node, or one that is met with others, is in one; else 0 */
u32 rx_syntax_way_out(const rx_arena *x, rx_id id);
/* By a smaller digit of the n of {n,m}, or of \N, some shorter string or one of the same length is come to, if one is by this byte. */
bool rx_syntax_is_outdone(rx_arena *x, rx_id id, u32 byte);
void rx_syntax_must(const u32 *node, byte_set *out); /* adds bytes that each of its strings has */
bool rx_syntax_is_structure(const u32 *node); /* no word of it is an id */

/* Of an intersection of lengths and of what begins with a label in Punycode. Meaningless when the budget failed. */
rx_verdict rx_punycode_verdict(rx_arena *x, rx_id id);
rx_verdict rx_length_verdict(rx_arena *x, rx_id id);   /* of an AND, of numbers of characters and one other part; never RX_IS_EMPTY */
rx_verdict rx_multiple_verdict(rx_arena *x, rx_id id); /* of an AND; never RX_IS_EMPTY */
rx_verdict rx_name_verdict(rx_arena *x, rx_id id);     /* of what is RX_NAMED, or of an AND: whether it is empty, if that is easy to see */
/* of what is RX_BARRED: whether it is empty, if that does not depend on how long names are */
rx_verdict rx_barred_verdict(rx_arena *x, rx_id id);
rx_verdict rx_syntax_verdict(const rx_arena *x, rx_id id); /* of an AND */

#endif
