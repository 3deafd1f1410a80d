/* The operands of the parser of patterns: shift and reduce. See rx_operand.c. */
#ifndef GE_RX_OPERAND_H
#define GE_RX_OPERAND_H

#include "rx_read.h"

typedef enum rx_value_kind {
    V_CHAR,  /* code point */
    V_PLAIN, /* expression without conditions */
    V_WAYS,  /* index into `ways` */
    V_PART,  /* index into `parts` */
    V_BYTES  /* a finished branch that is a literal: offset and length in `bytes` */
} rx_value_kind;

typedef enum rx_value_role {
    R_ATOM,
    R_ASSERTION, /* ^ $ \b ...: cannot be repeated as such */
    R_REPEATED   /* has a quantifier */
} rx_value_role;

typedef struct rx_value {
    u8 kind, role;
    u32 id, n;
} rx_value;

typedef enum rx_look {
    RX_NO_LOOK,
    RX_AHEAD,     /* (?=...) */
    RX_NOT_AHEAD, /* (?!...) */
    RX_BEHIND,    /* (?<=...) */
    RX_NOT_BEHIND /* (?<!...) */
} rx_look;

typedef enum rx_part_kind {
    P_LOOK,     /* look-around; one member, its body */
    P_SEQUENCE, /* members one after the other */
    P_CHOICE,   /* one of the members */
    P_REPEAT    /* so often its one member */
} rx_part_kind;

/* A part of the pattern with look-around that sees further than the part. */
typedef struct rx_part {
    u8 kind, look;
    u32 first, n;  /* members */
    u32 low, high; /* of P_REPEAT */
    u32 offset;    /* of the first look-around in it */
    u32 depth;     /* how deep parts are nested in it; at most RX_DEPTH_CEILING */
} rx_part;

typedef struct rx_frame {
    u32 open;   /* offset of the "(" */
    u32 look;   /* what it opens, an rx_look */
    u32 flags;  /* to be restored at the ")" */
    u32 first;  /* values: the finished branches begin */
    u32 branch; /* values: the branch at hand begins */
    u32 bytes;  /* bytes: the literals of this group begin */
} rx_frame;

typedef struct rx_parser {
    rx_arena *x;
    budget *b; /* of x */
    rx_reader in;
    rx_context context;
    VEC(rx_value) values;
    VEC(rx_frame) frames;
    VEC(u8) bytes;
    VEC(rx_ways) ways;
    VEC(rx_part) parts;
    VEC(rx_value) members; /* of parts */
    u32 n_visits;          /* of parts, see rx_ahead.c */
    intern_table sources;  /* flags and texts of classes met so far ... */
    VEC(rx_id) source_ids; /* ... and what they became */
    VEC(u32) source;       /* one of them, or a name */
    intern_table names;    /* of groups */
    u32 word_flags;        /* those that \b was first used with; NONE before */
    size_t flags_end;      /* of the last (?i) */
} rx_parser;

/* --- a new operand; false after a failure ------------------------------------------------------------------------------- */

bool rx_push(rx_parser *p, rx_value_kind kind, rx_value_role role, u32 id);
bool rx_push_ways(rx_parser *p, const rx_ways *w, rx_value_role role);
bool rx_push_code(rx_parser *p, u32 code);
bool rx_push_class(rx_parser *p, bool negated); /* what is in p->in.set and p->in.fixed */
bool rx_push_dot(rx_parser *p);
/* An assertion: "" where a holds before and b after, or where c holds before and d after. */
bool rx_push_assertion(rx_parser *p, u32 a, u32 b, u32 c, u32 d);
bool rx_push_line_anchor(rx_parser *p, bool start);
bool rx_push_word_boundary(rx_parser *p, size_t offset, bool negated);

/* --- what operands are put together to ---------------------------------------------------------------------------------- */

rx_id rx_plain_id(rx_parser *p, rx_value v); /* not of V_WAYS, V_PART */
bool rx_ways_of(rx_parser *p, rx_value v, rx_ways *out); /* not of V_PART */
rx_id rx_prepend(rx_parser *p, rx_value head, rx_id tail); /* head tail; head is V_CHAR or V_PLAIN */
/* The operands of the branch at hand -> one value in their place. */
bool rx_reduce_branch(rx_parser *p);
/* The branches of the innermost frame, the one at hand last, -> one value in their place. The frame stays. */
bool rx_reduce_group(rx_parser *p);

#endif
