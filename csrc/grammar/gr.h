/* gr: the rules of a grammar, compiled. Immutable after gr_compile; a parser (parser/ep.h) grows its own copy.
 *
 * Idea. What the parser handles are not rules but *suffixes* of rules: "what is still to come". A suffix is a node of a hash-consed
 * linked list, so equal suffixes are one node, equal rules are one rule, and to advance over a symbol is to follow `next`.
 *
 *     list: item tail          a: [item]--+             node 0 is the empty suffix, the end of every rule
 *     tail: sep item tail      b: [sep]---[item]---[tail]---0
 *
 * Only suffixes with the same owner are shared. The owner, a nonterminal of the IR, says for `explain` whose suffix it is.
 *
 * Nullable symbols. A node knows whether its symbol may be stepped over (it can be empty), and whether all of the suffix can be. So
 * the parser never sees an empty rule, and none is stored: that a nonterminal may be empty is a flag.
 *
 * Invariants. Every nonterminal with alternatives derives some text that is not empty; symbols that derive only "" are left out of
 * the rules. Every symbol in a node is productive and reachable: an item is never a dead end. `next` is smaller than its node.
 *
 * Lists. list(item, separator, min, max) is a template, expanded by the parser when it is first predicted:
 *
 *     list    ->  item tail(1)                       if max >= 1
 *     tail(k) ->  separator item tail(k + 1)         if k < max; tail(max) is left out
 *     list may be empty if min == 0, tail(k) if k >= min; without upper bound k stops at min
 *
 * A *loose* list is one whose item may be empty, and the separator too or there is none: stepping over them would predict tail(1),
 * tail(2), ... all at once. But a unit (separator item) that is empty says nothing: leaving it out gives a shorter list of the same
 * text, and adding empty units gives a list of min. So the texts are those of 0..max items *none of which is empty*: min becomes 0, and
 * the node of the unit is marked as one that can not be stepped over. As the parser never completes an empty rule (see ep.h), that
 * is all it takes. If there is a separator, a unit is a nonterminal of its own with the rule: separator item.
 *
 * Bags. bag(ways, slots, separator) is a template too: members in any order, or by rank, each one of the ways. A way raises slots, and
 * a slot has bounds. Its states (how often each slot was raised) are made when a text reaches them; see gr_bag.h and parser/ep_make.c.
 *
 *     bag      ->  key_w value_w tail(s)             for each way w that leads to a state s that can still be finished
 *     tail(s)  ->  separator rest(s)                 may be empty if s has reached all lower bounds
 *     rest(s)  ->  key_w value_w tail(s + w)         for each such way; what follows the key is made when the key has been read */
#ifndef GE_GR_H
#define GE_GR_H

#include "../base/base.h"

enum {
    GR_LEXEME_EMPTY = 1,    /* denotes no text: can never occur */
    GR_LEXEME_NULLABLE = 2, /* also matches "" */
    GR_LEXEME_MARKED = 4    /* is lazy, a skip, or begins an array whose items differ */
};

enum {
    GR_STEP = 1,          /* the symbol may be stepped over */
    GR_REST_NULLABLE = 2, /* the whole suffix may be */
    GR_HOLE = 4           /* stands for what follows a key of a bag: `symbol` is the way (NONE: any), `next` the state before it */
};

enum { GR_END = 0 }; /* the empty suffix */

typedef struct gr_node {
    u32 symbol; /* as in the IR: lexeme * 2, nonterminal * 2 + 1; NONE in GR_END */
    u32 next;   /* node: the suffix after the symbol */
    u32 owner;  /* nonterminal of the IR, or NONE */
    u32 flags;
} gr_node;

typedef enum gr_kind { GR_RULES, GR_LIST, GR_BAG, GR_BAG_TAIL, GR_BAG_REST } gr_kind;

typedef struct gr_nonterminal {
    u32 first;    /* alternatives: nodes, in `alternatives` from here; NONE: a template that is not expanded yet */
    u32 n;        /* how many */
    u32 kind;     /* gr_kind */
    u32 template; /* list or bag */
    u32 state;    /* list: 0 is the list, otherwise tail(state); tail and rest of a bag: the state */
    u32 tail;     /* tail of a list: the node of the suffix that consists of it alone */
    u32 owner;    /* nonterminal of the IR, or NONE */
    u32 nullable; /* 0 or 1 */
} gr_nonterminal;

typedef struct gr_list {
    u32 item, separator; /* symbols; separator of a loose list: NONE */
    u32 unit;            /* symbol, loose lists only: what follows the first item, again and again */
    u32 minimum, maximum; /* maximum NONE: unbounded */
    u32 loose;           /* 0 or 1 */
    u32 owner;
} gr_list;

enum {
    GR_DISTINCT = 1, /* the values of the first lexeme are all different */
    GR_DEAD = 2      /* derives no text */
};

typedef struct gr_way {
    u32 symbols, n_symbols; /* in bag_words; the first never derives "" */
    u32 slots, n_slots;     /* in bag_words: slots of the bag; the first is its own */
    u32 rank;
    u32 flags;
} gr_way;

typedef struct gr_slot {
    u32 minimum, maximum; /* maximum NONE: unbounded */
    u32 last_rank;        /* the highest rank of a way that has it as its own; NONE: it is no way's own */
    u32 place;            /* of its count in a state: see gr_bag.h; NONE if it has no bounds */
    u32 asks, n_asks;     /* of a key, in bag_words: slots of keys that have to be raised if it is, with all that those ask for */
} gr_slot;

/* One of several sets of keys, all of which have to be raised: always, or if a key is. */
typedef struct gr_choice {
    u32 place;        /* of that key, among the bits of a state; NONE: always */
    u32 next;         /* another choice of the same key; NONE: there is none */
    u32 sets, n_sets; /* in bag_words: for each a number of keys, and their places */
} gr_choice;

#define GR_ALWAYS (NONE - 1)

/* Conditions are slots that ways raise beside their own and the total. */
typedef enum gr_conditions {
    GR_NO_CONDITIONS,
    GR_OPEN_CONDITIONS,   /* none of them has a maximum */
    GR_BOUNDED_CONDITIONS /* some has one */
} gr_conditions;

typedef struct gr_bag {
    u32 ways, n_ways;    /* in `ways` */
    u32 slots, n_slots;  /* in `slots` */
    u32 choices, n_choices; /* in `choices` */
    u32 n_set_words;     /* of the sets of all choices */
    u32 choice_of;       /* in bag_words, if there are choices: by place of a bit, its first choice, or NONE */
    u32 n_words;         /* of the counts of a state: first the bits, then the words */
    u32 n_bits, n_bit_words;
    u32 n_mark_words;    /* of bits: twice n_bit_words where keys ask for others */
    /* By place of a bit, in bag_words: */
    u32 ranks;           /* ascending; 0 if the bag is not ranked */
    u32 lexemes;         /* that its ways begin with */
    u32 first_way;       /* in by_place; one more at the end */
    u32 asked_until;     /* the highest rank of a key that asks for it; NONE: none does; GR_ALWAYS: a choice depends on it */
    bool lexemes_ascend;
    /* ... as bits: */
    u32 required;        /* those with a minimum */
    u32 open;            /* those with a way that is not dead */
    u32 asking;          /* those that ask for others, or for one of several sets */
    /* Also in bag_words: */
    u32 by_place;        /* ways: those of bits in the order of their places, then the others */
    u32 counted;         /* n_slots - n_bits slots: those that are no bits */
    u32 total;           /* the slot that all ways raise beside their own, or NONE */
    u32 conditions;      /* which slots ways raise beside these: a gr_conditions */
    u32 ranked;          /* 0 or 1 */
    u32 separator;       /* symbol, or NONE */
    u32 owner;
} gr_bag;

typedef struct gr_grammar {
    VEC(gr_node) nodes;
    VEC(gr_nonterminal) nonterminals; /* those of the IR under their ids, then auxiliary ones */
    VEC(u32) alternatives;
    VEC(gr_list) lists;
    VEC(gr_bag) bags;
    VEC(gr_way) ways;
    VEC(gr_slot) slots;
    VEC(gr_choice) choices;
    VEC(u32) bag_words;
    bool has_distinct; /* some way is distinct */
    u32 start; /* node: the suffix to parse */
    u32 n_lexemes;
} gr_grammar;

/* Compiles; borrows everything. On failure *g is empty again. A nonterminal may have rules or be one list, not both. */
bool gr_compile(gr_grammar *g, budget *b, const ge_rules *rules, const u8 *lexeme_flags);
void gr_drop(gr_grammar *g, budget *b);

static inline u32 gr_suffix_flags(const gr_node *nodes, u32 next, bool may_step) {
    return may_step ? GR_STEP | (nodes[next].flags & GR_REST_NULLABLE) : 0;
}

#endif
