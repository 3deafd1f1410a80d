/* ir: reads the records of grammar_engine/ir.py. Stage 2 to 3: data -> expressions and rules.
 *
 * The records are data from outside: every operand is checked here, and trusted afterwards. */
#ifndef GE_IR_H
#define GE_IR_H

#include "../base/lock.h"
#include "../lexer/lx.h"
#include "gr.h"

struct ge_ir {
    budget b;
    rx_arena x;
    id_vec exprs;           /* node of each expression */
    intern_table fragments; /* operands of each OP_FRAGMENT */
    id_vec fragment_nodes;  /* its node */
    bool taken;             /* a grammar has taken the arena */
};

struct ge_grammar {
    ge_shares shares; /* engines own their grammar too */
    budget b;
    rx_arena x; /* classes frozen */
    lx_lexeme *lexemes;
    u32 n_lexemes;
    gr_grammar g;
    bool longest;
    bool has_unique; /* some lexeme begins an array whose items are compared */
    bool has_repeated; /* ... of which two are equal */
};

#endif
