/* ep: Earley rows, interned by content. The algorithm is told at the top of ep.c.
 *
 * An *item* is (return point, node): the suffix `node` is still to come, then the text returns to the point. A *set* is an interned sorted
 * set of items with one bit: may the sentence end here. A *return point* is a set under an id of its own; a *row* is a set with the lexemes
 * that may come, and with all that prediction adds once that is asked for. Ids are dense from 0 and stay valid as long as the parser; the
 * arrays behind them may move. */
#ifndef GE_EP_H
#define GE_EP_H

#include "../base/base.h"
#include "../base/intern.h"
#include "../grammar/gr.h"
#include "../lexer/lx.h"

typedef u64 ep_item; /* [ return point:32 | node:32 ] */

enum { EP_CUTS = 2 }; /* depths (ep_cut.c) */

typedef struct ep_row {
    u32 set;
    u32 first;     /* its lexemes in `lexemes`, one more at the end */
    u32 n_lexemes;
    u32 accepts;   /* 0 or 1 */
    u32 leaves;    /* 0 or 1: returns to a stub (ep_cut.c) */
    u32 is_cut;    /* 0 or 1: made by a cut, or after one */
    u32 starts;    /* what comes after each of them, in `starts`, one more at the end; NONE: has not been asked for */
    u32 items;     /* number; with these, predictions included */
    u32 cuts[EP_CUTS]; /* by depth: the cut row; NONE: has not been asked for */
} ep_row;

typedef struct ep_call { /* scratch: a nonterminal called in the row that is being made */
    u32 nonterminal;
    u32 first;      /* its waiters, in waiter_order from here */
    u32 point;      /* its return point, once known */
    u32 index, low; /* of Tarjan's algorithm; index 0: not visited */
    u32 next;       /* of Tarjan's algorithm: waiter to look at; later: position in its component */
    u32 caller;     /* of Tarjan's algorithm: the call that it was reached from */
} ep_call;

typedef struct ep_waiter { /* scratch: after symbol comes node, then source */
    u32 symbol; /* a call, or a lexeme */
    u32 node;
    u32 source; /* return point, or EP_LOCAL + call: the return point of that call */
} ep_waiter;

typedef struct ep_parser {
    budget *b;
    const gr_grammar *g;
    lx_lexer *lx; /* makes the lexemes of distinct ways, and of groups */
    /* rules: a copy of g's, grown by lists and bags (ep_make.c) */
    VEC(gr_node) nodes;
    VEC(gr_nonterminal) nonterminals;
    VEC(u32) alternatives;
    word_map tails; /* (list, count) -> nonterminal */
    intern_table states; /* of bags */
    VEC(u32) state_tail; /* per state: the node of the suffix that consists of its tail, or NONE */
    word_map filled;     /* (hole, value) -> node; (hole of a group, lexeme) -> index in parts */
    VEC(u32) parts;      /* number, holes */
    id_vec offers;       /* scratch: ways, or holes of some */
    id_vec grouped;      /* scratch: lexemes */
    /* sets, return points, rows */
    intern_table sets;   /* accepts, then (point, node) pairs, ascending */
    VEC(u32) set_point;  /* per set: a return point with this content, or NONE */
    VEC(u32) set_row;    /* per set: its row, or NONE */
    VEC(u32) points;     /* per return point: its set */
    intern_table cycles; /* systems of return points that refer to each other (left recursion) */
    VEC(u32) cycle_point; /* per cycle: its first return point */
    VEC(ep_row) rows;
    VEC(u32) lexemes;    /* of rows: ascending, then NONE */
    VEC(u32) starts;     /* of rows, by lexeme: where the items after it start in `scans` */
    VEC(ep_item) scans;
    id_vec node_first;   /* per node: what its suffix may begin with, in `firsts`; NONE: not known yet */
    id_vec firsts;       /* number, lexemes */
    /* ep_cut.c */
    u32 first_stub;
    bool for_cut; /* what is made is for rows that are cut */
    u32 n_cut_rows, n_cut_points; /* made for these: not counted for max_rows */
    word_map resumed; /* (row that leaves; row that was cut, and depth) -> row */
    /* ep_least.c */
    id_vec least_lexeme, least_nonterminal, least_node, least_point;
    intern_table taken; /* [ bag | rank | values | counts after a member, of what is needed ... ] ... */
    id_vec least_taken; /* ... and the least that must come then */
    byte_vec bag_sums; /* by bag: is what is missing a sum over slots, as far as that was asked? See ep_least_slots.c */
    id_vec slot_price; /* by slot of such a bag: the least length of a member */
    id_vec least_missing; /* by state of such a bag: the sum */
    byte_vec common; /* by bag: have its distinct lexemes values in common, as far as that was asked? See ep_costs.c */
    bool knows_least, least_is_bound; /* ... of all nonterminals; of some lexeme or bag it is a lower bound */
    /* scratch */
    u32 stamp;
    VEC(u32) node_stamp, nonterminal_stamp, point_stamp; /* == stamp: seen */
    VEC(u32) call_of; /* per nonterminal, if stamped: call */
    VEC(ep_call) calls;
    VEC(ep_waiter) waiters, scanned;
    VEC(u32) waiter_order, component, todo, words, system;
    VEC(ep_item) items, sorting, merged, following;
    u32 accepts; /* beside items */
    /* counters (ge_stats) */
    u32 n_rows, n_points, n_rule_symbols, max_items;
} ep_parser;

/* The parser keeps pointers to all; g and lx (NULL: no distinct ways, no groups) must outlive it. On failure *p is empty. */
bool ep_init(ep_parser *p, budget *b, const gr_grammar *g, lx_lexer *lx);
void ep_drop(ep_parser *p);

u32 ep_start(ep_parser *p); /* the first row; NONE on failure */

/* The row after any of these lexemes (n >= 1, ascending, each allowed in row). NONE only on failure of the budget; the parser is then
 * as before but for templates that were expanded. `value` is that of the text, for distinct lexemes. Not cached. */
u32 ep_goto(ep_parser *p, u32 row, const u32 *lexemes, u32 n, u32 value);

/* The row of all that may come in any of these rows (n >= 1). NONE only on failure, as ep_goto. Not cached. */
u32 ep_join(ep_parser *p, const u32 *rows, u32 n);

/* The row in which nothing is known of return points (ep_cut.c): the same for rows that differ only in these. It never may end the
 * sentence. The row itself where something may return at once, and where there are as many cut rows as there may be others; the steps of
 * those that are there go on. What comes after a cut row may be cut again, at the next depth. NONE only on failure. */
u32 ep_cut(ep_parser *p, u32 row, u32 depth);
/* A row that leaves, any steps after ep_cut(base, depth): with the sets of the points to which it returns at that depth. Stubs stay where
 * nothing returns yet, so rows after it may leave, too. NONE only on failure. */
u32 ep_resume(ep_parser *p, u32 row, u32 base, u32 depth);
bool ep_row_leaves(const ep_parser *p, u32 row); /* after a cut row: what came before that may end here, so more may come than is known */

const u32 *ep_row_lexemes(const ep_parser *p, u32 row, u32 *n); /* allowed, ascending; valid until the next ep_goto or ep_start */
bool ep_row_accepts(const ep_parser *p, u32 row);               /* a sentence may end here */

/* Lengths of shortest texts (ep_least.c): first ep_least_begin, false on failure. Of a row; of what
 * follows an allowed lexeme. RX_NO_LENGTH on failure: they are asked of rows, which are alive. */
bool ep_least_begin(ep_parser *p);
u32 ep_least_row(ep_parser *p, u32 row);
u32 ep_least_after(ep_parser *p, u32 row, u32 lexeme);
u32 ep_least_after_bound(ep_parser *p, u32 row, u32 lexeme); /* no more than that; told once for all values that may come */
/* Behind a distinct lexeme that is under way; *bound = of the ways on which members have to follow
 * whose values must differ from its own: a lower bound. The length of the others is returned. */
u32 ep_least_without(ep_parser *p, u32 row, u32 lexeme, u32 *bound);

/* The nonterminals of the IR that are under way in the row: the first of them, or NONE; all that are not in `out` yet are appended to
 * it. */
u32 ep_row_owner(const ep_parser *p, u32 row);
bool ep_row_nonterminals(const ep_parser *p, u32 row, id_vec *out);

#endif
