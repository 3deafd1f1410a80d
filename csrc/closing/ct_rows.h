/* What ct_rows.c, ct_members.c, ct_least.c and ct_apart.c need of each other:
 * rows of costs, and how costs are followed along what a grammar says.
 *
 * A *row* is what a symbol costs behind a seam, by the seams behind it. To *follow* something is to turn the costs in front of it into
 * those behind it; none of these fails, and what they say means nothing where the budget has failed. */
#ifndef GE_CT_ROWS_H
#define GE_CT_ROWS_H

#include "cl.h"

enum {
    CT_OF_SYMBOL, /* kinds of rows */
    CT_OF_HOLE,
    CT_OF_EXPRESSION,
    CT_OF_WAY,   /* a member of a bag */
    CT_OF_KIND, /* of members in any order (ct_order.c): one of them */
    CT_OF_PLACE, /* ... all that are left */
    CT_TIMES = 64 /* members or items of which there are more are not counted */
};

static inline u64 ct_row_key(u32 kind, u32 id, u32 seam) { return (u64)kind << 56 | (u64)id << 8 | seam; }

static inline ct_costs ct_never(void) {
    ct_costs c;
    memset(&c, 0xff, sizeof c);
    return c;
}

static inline bool ct_is_never(const ct_costs *c) {
    u16 all = CT_NEVER;
    for (u32 i = 0; i < CT_SEAMS; i++) all &= c->at[i];
    return all == CT_NEVER;
}

static inline void ct_improve(ct_costs *c, const ct_costs *more) {
    for (u32 i = 0; i < CT_SEAMS; i++) c->at[i] = c->at[i] < more->at[i] ? c->at[i] : more->at[i];
}

/* ct_add, in a form that compilers make vectors of */
static inline u16 ct_sum(u16 a, u32 cost) {
    u16 sum = (u16)(a < CT_MANY - cost ? a + cost : CT_MANY);
    return a == CT_NEVER ? CT_NEVER : sum;
}

/* ct_rows.c */
void ct_follow(ge_engine *e, u32 kind, u32 id, ct_costs *c);
void ct_follow_symbols(ge_engine *e, const u32 *symbols, u32 n, ct_costs *c);
void ct_prune(const ct_table *t, ct_costs *c); /* without the seams at which nothing can be cheaper than at another one */
void ct_follow_skips(ge_engine *e, ct_costs *c); /* any number */
void ct_follow_suffix(ge_engine *e, u32 node, ct_costs *c);
bool ct_settle(ge_engine *e); /* all rows are final then; false on failure */

typedef struct ct_members { /* what has come of a bag: the costs behind no member and behind some */
    const gr_bag *bag;
    const u32 *counts;
    u32 rank;
    bool separated; /* the first has a separator before it, too */
    ct_costs none, some;
} ct_members;

/* ct_members.c */
/* so many members by the ways [from, to) a slot asks for, at least */
u32 ct_needed(const ge_engine *e, const ct_members *m, u32 slot, u32 from, u32 to);
void ct_follow_list(ge_engine *e, gr_nonterminal nt, ct_costs *c);
void ct_follow_new_bag(ge_engine *e, u32 bag, ct_costs *c);
/* a tail, whose members have separators before them; or a rest */
void ct_follow_state(ge_engine *e, u32 state, bool separated, ct_costs *c);
void ct_follow_key(ge_engine *e, u32 state, u32 way, ct_costs *c);

/* ct_order.c */
void ct_follow_way(ge_engine *e, u32 way, ct_costs *c);
void ct_follow_symbols_of_way(ge_engine *e, u32 way, ct_costs *c); /* the same, for its row */
void ct_follow_kind(ge_engine *e, u32 id, ct_costs *c);
void ct_follow_place(ge_engine *e, u32 id, ct_costs *c);
/* are members of a slot those of the ways [from, to) alone? */
bool ct_is_filled_by(const ge_engine *e, const gr_bag *bag, u32 slot, u32 from, u32 to);
/* members of the ways [from, to), all that must come and any number more */
void ct_follow_any_order(ge_engine *e, ct_members *m, u32 from, u32 to);

/* ct_least.c: behind a lexeme in an alternative, where its end has these costs. */
u32 ct_cost_behind(ge_engine *e, const cf_alternative *a, u32 lexeme, const ct_costs *c);
/* ct_apart.c: what is left of a lexeme in an alternative takes so much, with
 * what is behind it, by its conditions each alone. 0: nothing is known. */
u32 ct_cost_apart(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest);

/* ct_least.c: appends for each lexeme that may be under way its alternative, itself, and what is left of it. */
enum { CT_WAY_WORDS = 3 };
bool ct_under_way(ge_engine *e, u32 config, id_vec *out);

#endif
