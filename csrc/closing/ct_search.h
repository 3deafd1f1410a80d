/* What ct.c, ct_next.c and ct_values.c need of each other: a search for a closing of few tokens. */
#ifndef GE_CT_SEARCH_H
#define GE_CT_SEARCH_H

#include "cl.h"

typedef struct ct_way { /* where a text leads to */
    u32 config;
    u32 loose;  /* the same where no value of a distinct member is known; NONE: not followed */
    u32 values; /* those that were read, the last one in `read`; NONE: none */
} ct_way;

typedef struct ct_place { /* a way, and how it was reached */
    ct_way way;
    u32 before, token, depth;
    u64 cost;
} ct_place;

typedef struct ct_visit { /* a node of the trie, and where a token has come there */
    u32 node;
    bool is_twin; /* way.config is but the twin: within a string, where texts like this are mostly spare (ct_values.c) */
    ct_way way;
} ct_visit;

typedef struct ct_read { /* values that were read, the last one first */
    u32 value, before;
    u32 config; /* where it was read; NONE: others were, too */
} ct_read;

typedef struct ct_kept { /* of texts that are alike, one that is searched: see ct_values.c */
    u32 depth, next;
    u32 text, values; /* what it has in common with none of the others: one of these */
} ct_kept;

typedef struct ct_search {
    VEC(ct_place) places;
    id_vec heap;        /* of places: the one of the least cost is on top; of equal ones the first */
    word_map depths;    /* configuration -> the least so far */
    id_vec loops;       /* configuration -> plain text leads nowhere but back: 0 or 1; NONE: not known */
    id_vec noted;       /* configuration -> the last walk that has noted it */
    u32 n_walks;
    VEC(mk_place) walk; /* nodes that are still to be visited */
    VEC(ct_visit) visits; /* the same, where values are read */
    byte_vec bytes;     /* scratch */
    u32 most;           /* tokens */
    u32 longest;        /* bytes of a token */
    enum ct_order order; /* which search it is */
    u64 visited;        /* nodes */
    u64 enough_nodes, enough_places; /* then it gives up */
    /* ct_values.c */
    bool has_values;    /* some members are distinct */
    bool strings;       /* ... and all their values strings */
    word_map all_spare; /* twin -> the least depth at which all that goes on within the string is spare */
    id_vec spare_from;  /* twin -> the least depth from which on texts with it are known to be spare, or NONE */
    u32 in_token;       /* values that a token may have at most */
    VEC(ct_read) read;
    byte_vec text;      /* scratch */
    word_map closed;    /* (twin, value that was read) -> the least depth so far */
    word_map alike;     /* what texts that are alike have in common -> the last of them in `kept` */
    VEC(ct_kept) kept;
} ct_search;

static inline bool ct_is_tired(const ge_engine *e, const ct_search *s) {
    if (s->order != CT_BY_BYTES) return e->cl.fewest.is_large && e->cl.fewest.off; /* it is to be searched with the usual table, or was */
    return s->visited > s->enough_nodes || s->places.n > s->enough_places;
}

/* ct.c: notes where tokens have led, if no fewer have led there and the end may be reached in time. */
bool ct_note_place(ge_engine *e, ct_search *s, ct_way way, u32 before, u32 token, u32 depth);
/* ct_next.c: notes what one token more leads to, or part of it where that is of no more use. */
bool ct_note_next(ge_engine *e, ct_search *s, u32 from);

/* ct_values.c */
bool ct_begin_values(ge_engine *e, ct_search *s, ct_way *start); /* false on failure; so does ct_step_way */
/* enough others are alike; else, with `keep`, it is one of them */
bool ct_is_spare(ge_engine *e, ct_search *s, ct_way way, u32 depth, bool keep);
/* it differs from another one in how a value is written alone */
bool ct_is_reread(ge_engine *e, ct_search *s, ct_way way, u32 depth);
bool ct_step_way(ge_engine *e, ct_search *s, ct_way *way, u32 byte);            /* way->config is CF_DEAD where it ends */
bool ct_is_spare_twin(ge_engine *e, ct_search *s, u32 twin, u32 depth); /* the same of texts with a lexeme under way */
bool ct_is_within_string(ge_engine *e, ct_search *s, u32 config);  /* of a distinct member */
void ct_end_values(ge_engine *e, ct_search *s);

#endif
