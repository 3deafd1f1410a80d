/* What ct.c and the files of the table behind it need of each other: the least number of tokens that may still come.
 *
 * ct_lexeme.c tells what expressions cost, ct_rows.c what symbols do, ct_members.c what lists and bags do, ct_order.c what members in any
 * order do, ct_least.c what is left of a text, ct_apart.c what is left of a string with several conditions.
 *
 * A *seam* is a place between two lexemes. A token may end there, or it goes on: then it is at a node of the vocabulary's trie. What a
 * text costs is the number of tokens that begin in it, and that depends on where a token is at the seam before it and on where one is to
 * be at the seam behind it. So the cost of a symbol is a matrix, and that of a sequence their product over (min, +):
 *
 *     {   "name"   :   ""   }         between lexemes, `{"` `name` `":""` `}`
 *       ^        ^   ^    ^           seams: in the token {  in the token "  in ":  at the end of a token
 *
 * Seams are to be few. A node counts as a suffix of it below which there is the same, as far as it can follow: whatever goes on from the
 * one goes on from the other. So `x":` is `":`. And a node that ends in white space counts as a suffix below which there is the same and
 * more, mostly that white space alone: there are many such nodes, and texts of few tokens hardly have any. That, and what else is
 * left out (ct_least.c), makes texts cheaper, never more expensive: the costs are lower bounds.
 *
 * A seam *covers* another if what follows there follows here, too; the end of a token does if tokens of their own do the same, for one
 * token more. Where a covering seam costs no more, the other is left out (ct_prune): whatever text goes on from there goes on as cheaply
 * from here. So of a hundred seams two to five are left at a place. */
#ifndef GE_CT_H
#define GE_CT_H

#include "../regex/rx.h" /* en.h includes this */

enum {
    CT_SEAMS = 256, /* at most; the first is the end of a token */
    CT_NODES = 21,  /* nodes of a trie that are visited for a unit of work */
    CT_DERIVED = 4096 /* derivatives of an expression that are looked at, before a looser one is */
};

#define CT_NEVER UINT16_MAX
#define CT_MANY (UINT16_MAX - 1) /* or more */

typedef struct ct_costs { /* by seam */
    u16 at[CT_SEAMS];
} ct_costs;

typedef struct ct_walk {      /* what one token leads to, from an expression and a node */
    u64 ends[CT_SEAMS / 64];  /* a bit for each seam behind the expression that it may be at */
    u32 next, n_next;         /* in nexts: what is left of the expression where it ends before that */
} ct_walk;

typedef struct ct_derived { /* derivatives found last, by a hash */
    u32 id, byte_class, to;
} ct_derived;

typedef struct ct_told { /* of a row that is not final */
    u64 key;
    u32 first, n;      /* rows that it was made of, in `made_of` */
    u32 made, changed; /* when, by `clock`; 0: never */
} ct_told;

enum {
    CT_KINDS = 12, /* of a plan (ct_order.c) */
    CT_NO_KIND = UINT16_MAX
};

typedef struct ct_member { /* a way of a plan (ct_order.c) */
    u32 first;     /* of the ways of its slot in the plan, which is where the others look for these: */
    u16 kind;      /* CT_NO_KIND: it need not come */
    u16 extra;     /* tokens that it takes beside what is counted of its kind */
    bool optional; /* it may come, also where it need not */
    bool dead;
} ct_member;

typedef struct ct_plan {     /* for the ways [from, to) of a bag, members of which come in any order */
    u32 from, to, separator;
    u32 first_member;        /* by way, in members */
    u32 first_kind, n_kinds; /* ids of kinds; one more for those that are optional */
    /* ids of places: numbers of members that are left, a digit for each kind and for the total, which is the highest */
    u32 first_place;
    /* by kind: members that may be left, and one more; behind the kinds, the same of members that make up the total of the bag */
    u32 sizes[CT_KINDS + 1];
    bool has_optional;
} ct_plan;

typedef struct ct_table { /* of an engine */
    bool is_large;        /* larger shares of the work of a search may be spent on expressions */
    bool known, off;      /* it was begun; it has taken too much, and is not asked any more */
    u32 nested;           /* rows that are being begun */
    u64 work, spent;      /* on it; by all searches: each in nodes that are visited, or what takes as long */
    u64 limit;            /* units of work that a search may take */
    u64 late;             /* of work: on lexemes under way */
    u64 apart;            /* the same, on their conditions alone */
    byte_set first;       /* bytes with which lexemes begin */
    id_vec seams;         /* seam -> node */
    word_map seam_of;     /* node -> seam; CT_SEAMS: nothing can follow */
    u64 covers[CT_SEAMS][CT_SEAMS / 64]; /* by seam, bits: what follows there follows here, too (of the first: in a token of its own) */
    VEC(u32) special;     /* by node, bits: some token at or below it is not plain */
    byte_vec loops;       /* by expression: does plain text lead nowhere but back? 0: not known (ct_lexeme.c) */
    VEC(ct_derived) derived;
    word_map walk_of;     /* (expression, node) -> index in walks */
    VEC(ct_walk) walks;
    id_vec walked;        /* by expression: the last walk that has come to it */
    u32 n_begun;          /* walks */
    id_vec nexts;
    word_map row_of;      /* what a row is of (ct_row_key) -> index in rows */
    VEC(ct_costs) rows;
    VEC(ct_told) told;    /* by row */
    id_vec made_of;       /* of these: rows */
    id_vec asked;         /* scratch: rows that those which are being made have asked for */
    u32 clock;            /* counts rows that are made, and changes */
    VEC(ct_plan) plans;   /* of members in any order, by place */
    VEC(ct_member) members;
    word_map plan_of;     /* first way -> plan */
    id_vec kind_plan;     /* kind -> its plan */
    u32 n_places;
    u32 settled;          /* rows before this one are final */
    word_map condition_of; /* an expression of one condition (ct_apart.c) -> index in conditions */
    VEC(ct_costs) conditions;
    word_map point_costs; /* (return point, seam) -> tokens up to the end of the sentence */
    word_map least_of;    /* configuration -> what ct_least says; CT_NEVER: there is no way */
} ct_table;

/* ct_lexeme.c. All return false, NONE or nothing of use with the budget failed or the table off. */
bool ct_begin(ge_engine *e, ct_table *t);
/* *out = the costs of an expression behind a seam, or lower bounds. With `most` derivatives looked at, perhaps not even all seams are
 * known: then *least is what the expression takes at least; else CT_NEVER. */
bool ct_cost_expression(ge_engine *e, ct_table *t, rx_id id, u32 seam, u32 most, ct_costs *out, u32 *least);
rx_id ct_fine(ge_engine *e, rx_id id); /* a superset that costs about the same, and has fewer derivatives */
/* Does each character of plain text (vocab/vb.h) lead back to where it came from? */
typedef u32 ct_step(ge_engine *e, u32 from, u32 byte);
bool ct_is_plain_loop(ge_engine *e, ct_step *step, u32 from);
bool ct_is_special(const ct_table *t, u32 node);
bool ct_charge(ge_engine *e, ct_table *t, u64 nodes); /* on the table */
bool ct_spend(ge_engine *e, ct_table *t, u64 nodes);

/* ct_least.c: at least so many tokens complete a configuration; NONE: none do. 0 on failure. */
u32 ct_least(ge_engine *e, u32 config);
void ct_drop(ge_engine *e);
void ct_begin_anew(ge_engine *e, bool is_large); /* another table, of which nothing is known yet */

/* ct_apart.c */
bool ct_ends_by_mark(ge_engine *e, u32 config); /* is a string under way, whatever it is? */

typedef struct ct_conditions { /* of a string that is under way: those that are not met yet */
    u32 n;
    u32 together, highest; /* tokens that they take each alone: the sum, and the most */
    u64 which;             /* a hash of them, but for those that finitely many texts meet, such as lengths */
} ct_conditions;
ct_conditions ct_conditions_of(ge_engine *e, u32 config); /* n = 0: no string is under way, or on failure */
u32 ct_most_conditions(ge_engine *e); /* that a string of the grammar has; 0 on failure */

enum ct_order {      /* of a search, by what goes first: */
    CT_BY_BYTES,     /* the fewest bytes. Asks for no table, and soon gives up */
    /* the fewest bytes that must come. This one and the next two are narrow: of those of as many tokens, few are gone on from */
    CT_BY_LEAST,
    CT_BY_SHORTEST,  /* the shortest closing */
    CT_BY_CONDITIONS, /* the fewest tokens that conditions of a string take together */
    CT_BY_TOKENS     /* the fewest tokens */
};
/* ct.c: one search, as ct_close. *over: what was not found is not there, which a narrow search never tells. */
bool ct_search_once(ge_engine *e, u32 config, u32 most, enum ct_order order, id_vec *out, bool *found, bool *over);

static inline u32 ct_add(u32 a, u32 b) { return a == CT_NEVER || b == CT_NEVER ? CT_NEVER : min_u32(a + b, CT_MANY); }

#endif
