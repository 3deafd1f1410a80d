/* mk_state: what an engine has found out for its masks, and what is noted
 * while one is made. A part of the engine (engine/en.h), grown under its lock.
 *
 * Grouped by the file that it belongs to. *Scratch* has a meaning only while one mask is made. */
#ifndef GE_MK_STATE_H
#define GE_MK_STATE_H

#include "../vocab/vb.h"

/* Tokens: a list while they are few, or few beside those of a base; else bits. Which,
 * depends only on how they were found: equal masks may be kept in several ways. */
typedef struct mk_found {
    u32 *bits; /* n_words, not meaningful while listed */
    VEC(u32) list;
    bool listed;
    const vb_inner *base; /* of a list: the bits of this lexeme-internal mask, too; held. NULL: none */
} mk_found;

typedef struct mk_mask { /* a kept mask; see mk_keep.c for how readers and eviction get along */
    u32 *words;  /* bits, or tokens; NULL: the slot is free */
    u32 n_words; /* of a free slot: the next one, or NONE */
    bool listed; /* tokens */
    const vb_inner *base; /* as in mk_found */
    u32 model; /* the index of the mask that this one is but for these tokens, its own if it is a model; or NONE */
    u64 hash;
    bool _Atomic recent; /* read since the hand last came by */
    u32 _Atomic readers;
    u32 _Atomic stamp; /* changes whenever the slot gets another mask; odd: the slot is free */
} mk_mask;

typedef struct mk_place { /* in a walk: a node of a trie, and where the automaton is there */
    u32 node, config;
} mk_place;

typedef struct mk_run { /* in a walk: nodes side by side, [from, to), at which the automaton is in one configuration */
    u32 from, to, config;
} mk_run;

typedef struct mk_loops { /* of an expression: the kinds of bytes (vocab/vb_shapes.c) whose derivatives it is itself */
    u64 known, kinds;
} mk_loops;

typedef struct mk_beyond { /* of characters beyond ASCII: tokens that are one or a part of one, and then the places where one is complete */
    u32 tokens, n_tokens; /* in beyond_words */
    u32 n_places;         /* NONE: they are too many */
} mk_beyond;

enum { MK_UNITS = 8 };

typedef struct mk_parts { /* a lexer state: units, which read much each, and a state of all that does not, or LX_DEAD */
    u32 unit[MK_UNITS];
    u32 n;
    u32 rest;
} mk_parts;

typedef struct mk_key { /* of a unit that is looked up in the vocabulary */
    u32 at, n; /* in key_words; at NONE: not spelt out */
    u64 hash;
    bool refused;     /* it has no lexeme-internal mask */
    bool leaves_much; /* for the number of tokens that leave it */
} mk_key;

typedef struct mk_counted { /* open units that differ in the upper bounds of repeats */
    u32 most; /* the one with the greatest bounds so far, as a lexer state */
    enum { COUNTED_UNKNOWN, COUNTED_ALIKE, COUNTED_APART } verdict; /* on it and the one with the smallest */
} mk_counted;

typedef struct mk_use { /* of a lexeme */
    bool asked;
    const vb_inner *automaton; /* held; NULL: it has none */
} mk_use;

typedef struct mk_ending { /* of a configuration: bytes that end a lexeme */
    u32 at, n; /* in ending_bytes */
    u32 least; /* a string in quotes goes on for so many characters at least */
    bool known;
} mk_ending;

typedef struct mk_outline { /* of a walk. Indices in outline_words */
    u32 tokens, n_tokens;
    u32 *bits; /* those are more; or NULL */
    const vb_inner *inner; /* that it was taken from, held, which may have more as bits; or NULL */
    u32 exits, n_exits; /* pairs: a set of lexemes, and the places where it has matched */
    u32 hubs, n_hubs;   /* pairs: the hub, or VB_HUBS and the opening of blanks, and the configuration there */
} mk_outline;

typedef struct mk_recent mk_recent; /* what tasks asked for lately; see mk_outline.c */

typedef struct mk_end { /* a set of lexemes has matched in a walk with an open row; trie NULL: has been dealt with */
    const tt_trie *trie;
    u32 node, accepts;
} mk_end;

typedef struct mk_state {
    /* mk.c: the mask that is being made */
    mk_found found;                 /* scratch */
    bool analysed;                  /* a lexeme-internal mask was made for it */
    bool for_heir;                  /* it is that of an heir (mk_heir.c) */
    bool tried_core, without_cores; /* it was tried by a core; it is to be made without (mk_longest.c) */
    VEC(u32) suspects;              /* scratch: what it has found of them */
    VEC(u32) all_suspects;          /* of all configurations that have some */
    byte_vec unit_seen;             /* by lexer state: how many masks were asked for in which it was a unit, as far as that is counted */

    /* mk_keep.c, mk_model.c: kept masks (e->masks). Their budget is max_mask_bytes */
    word_map mask_of_hash;
    u32 free_mask; /* the first free slot of masks, or NONE */
    u32 mask_hand; /* where the hand of evictions is */
    size_t mask_bytes;
    id_vec models;    /* masks that others are kept by ... */
    id_vec samples;   /* ... and parts of these */
    id_vec differing; /* scratch: the tokens in which a mask differs from a model */

    /* mk_heir.c, mk_longest.c */
    u32 class_weight[256]; /* by byte class: nodes of the vocabulary's trie below its bytes */
    u32 plain_class;       /* the byte class of most plain characters of ASCII */
    id_vec far_cores;      /* by lexer state: NONE, or it was tried by its core, and both differ in much */

    /* mk_walk.c, mk_slice.c, mk_loops.c, mk_beyond.c */
    VEC(mk_place) walk;    /* scratch: what is still to be visited, place by place */
    VEC(mk_run) runs;      /* scratch: ... run by run */
    const byte_set *begins; /* a walk from the root on is of tokens that begin with these; NULL: of all */
    /* scratch: where a walk has come to hubs: (index of the hub, configuration); an outline that is made: also to openings, VB_HUBS ... */
    VEC(mk_place) at_hubs;
    VEC(mk_place) at_openings; /* scratch: ... and to openings */
    id_vec perils_of;      /* by lexer state: index in `perils`; NONE: not known yet */
    VEC(rx_perils) perils;
    id_vec looping;        /* by lexer state: an expression of it that may loop, or none: RX_ID_NEVER; NONE: not known yet */
    word_map loops_of;     /* expression -> index in loops */
    VEC(mk_loops) loops;
    word_map beyond_of; /* characters -> index in beyond */
    VEC(mk_beyond) beyond;
    id_vec beyond_words;

    /* mk_unit.c: into what alternatives are taken apart */
    word_map parts_of; /* (lexer state, hub) -> index in parts */
    VEC(mk_parts) parts;
    id_vec apart_at; /* by lexer state: where its parts are in apart, or NONE: not asked for yet */
    id_vec apart;    /* [ n | states ... ] */
    byte_vec reads;  /* by lexeme: how much it reads, as far as that was asked for */

    /* mk_inner.c, mk_key.c: lexeme-internal masks of units */
    VEC(mk_key) keys;
    word_map key_of; /* lexer state and view (mk.h) -> index in keys */
    id_vec key_words;
    id_vec number;      /* scratch, by expression: its number in the key that is being spelt out, or NONE */
    VEC(u64) structure; /* by expression: the hash of its structure, as far as it was asked for */
    id_vec unit_views;  /* by lexer state: the view by which its mask was found, or NONE: not known yet */

    /* mk_room.c: counted text */
    id_vec unit_open;    /* by lexer state: what mk_open_unit made of it, NONE: it was not asked */
    word_map counted_of; /* open unit with few repeats -> index in counted */
    word_map left_much;  /* expression with few repeats and view -> 1: of one that differs in counts too many tokens leave it */
    word_map opened_at;  /* its expression -> the unit that a text came to first */
    VEC(mk_counted) counted;
    byte_vec opened; /* by lexeme: has an open unit of it a mask? */

    /* mk_tails.c */
    byte_set behind_words; /* bytes beyond ASCII that can be read behind words */
    u32 n_behind_words;    /* NONE: not asked for yet */

    /* mk_lexeme.c, mk_share.c: automata and outlines that are held */
    VEC(mk_use) uses; /* by lexeme */
    u32 n_held;       /* how many of them have an automaton */
    id_vec place_of;  /* by lexer state of one lexeme: its state in the automaton, as far as that was asked for */
    u32 n_shared;     /* outlines of the vocabulary that are held */

    /* mk_outline.c, mk_exits.c, mk_ring.c */
    intern_table places;           /* [ trie | nodes ... ] */
    VEC(byte_set) places_below;    /* by these, as far as they were asked for: bytes of children */
    VEC(const tt_trie *) tries;
    VEC(const vb_inner *) trie_inner; /* of which they are; held. NULL: of the vocabulary */
    word_map trie_of;         /* address -> index in tries */
    intern_table origins;     /* [ lexer state | that in which the row begins ] where these differ */
    intern_table rings;
    id_vec ring;              /* scratch: one */
    word_map outline_of;      /* (lexer state, or CF_OPEN_ROW + origin, or CF_RING_ROW + twice the ring; places) -> index in outlines */
    mk_recent *recent;        /* NULL: there are few outlines */
    VEC(mk_outline) outlines;
    id_vec outline_words;
    VEC(mk_end) ends;         /* scratch: of the outline that is being made */
    /* scratch: the nodes at which its ring has come to its first row again; all others, as bits, which are set between walks ... */
    id_vec rounds, no_round;
    bool limits_ends;         /* is an outline that has too many given up? */
    const tt_trie *rounds_in; /* ... of the trie that it begins in */
    mk_found outline;         /* scratch: its tokens */
    u32 *spread;              /* scratch: these as bits (mk_exits.c); zeros. NULL: not needed so far */
    bool cuts_much;           /* outlines do not pay */
    bool leaves_openings;     /* an outline is being made: what is behind blanks may be left to the tasks of masks */

    /* mk_name.c, mk_syntax.c */
    VEC(mk_ending) endings;
    id_vec ending_of; /* by configuration: index in endings, NONE: not asked for yet */
    byte_vec ending_bytes;
    id_vec marked; /* tokens that may differ where regular expressions are loose */
    u32 n_marked;  /* ... without lengths */
    bool has_marked;
} mk_state;

#endif
