/* en: the engine of one grammar and one vocabulary: everything that is grown lazily and shared by all matchers. Stage 6 of 7.
 *
 *     lexer (lx.h)  ->  parser (ep.h)  ->  configurations (cf.c)  ->  masks (mk.c)
 *
 * A *configuration* is all that the future depends on: the set of alternatives that are alive. An alternative is (row, lexer state):
 * the parser is in `row`, and since then the bytes that led the lexer to `state` have been read. Alternatives are several only where a
 * lexeme may end here and may also go on, or where lexemes overlap; ways of cutting the text that end a lexeme at the same place are
 * joined into one row, so there are never more alternatives than places where a lexeme that is under way may have begun. Configurations
 * are interned, and have a table of transitions by byte class. So a matcher is one id, and two texts with equal futures are in the same
 * configuration, whoever wrote them.
 *
 * The bit *fresh* of an alternative: no lexeme is under way and the row may end the sentence. (The lexer state alone cannot say that:
 * after an `a` of a*b it is the initial one again.) Where the row may not end, a fresh alternative behaves like any other, and
 * the bit is left out so that more configurations are equal.
 *
 * Distinct members (grammar/gr.h). What may come after one depends on its value, so an alternative in which a distinct lexeme is under
 * way also has the *text* of that lexeme so far. Such configurations are many and recur little: they have no table of transitions. Their
 * masks are those of their *twin*, in which all texts are unknown (CF_ABSTRACT), but for a few tokens; see mk.c.
 *
 * Threads. Records and their transition tables never move; a transition is published with release order and read with acquire order,
 * without a lock. All else is grown under `lock`. */
#ifndef GE_EN_H
#define GE_EN_H

#include "../base/lock.h"
#include "../base/stable.h"
#include "../grammar/ir.h"
#include "../parser/ep.h"
#include "../vocab/vb.h"
#include "../closing/ct.h"

enum { CF_DEAD, CF_START }; /* configurations that always exist */
#define CF_READS (NONE - 1) /* one that is not dead, but has not been made yet */

typedef struct cf_alternative {
    u32 row;
    u32 state; /* lexer state * 2 + fresh */
    u32 depth; /* lexing="longest": nesting under the alternative whose longer match would end this one; else 0 */
    u32 text;  /* of the lexeme that is under way, if that is distinct (id in texts); else one of these: */
} cf_alternative;

/* Rows that stand for others in walks (mk_outline.c): any row in which a lexer state begins, any row of a ring (mk_ring.c), and what comes after these
 * when a set of lexemes has matched. Nothing can be read in the latter. */
#define CF_OPEN_ROW 0x80000000u  /* plus the lexer state */
#define CF_RING_ROW 0xa0000000u  /* plus twice the ring, plus which of its rows */
#define CF_ENDED_ROW 0xc0000000u /* plus the set, as in lx_state.accepts, plus CF_SECOND if that was in the second row of a ring */
#define CF_SECOND 0x20000000u

static inline bool cf_is_open(u32 row) { return row >= CF_OPEN_ROW; }
static inline bool cf_is_ring(u32 row) { return row >= CF_RING_ROW && row < CF_ENDED_ROW; }
static inline bool cf_is_ended(u32 row) { return row >= CF_ENDED_ROW; }

#define CF_NO_TEXT NONE
#define CF_ABSTRACT (NONE - 1) /* for masks: whatever the texts are */
#define CF_SUSPECT (NONE - 2)  /* for masks: alive only if two values differ that are not known */

enum { CF_ALTERNATIVE_WORDS = 4, CF_EMPTY_TEXT = 0 };

static inline bool cf_is_abstract(u32 text) { return text == CF_ABSTRACT || text == CF_SUSPECT; }

enum { CF_UNTOLD = 0, CF_UNFORCED = 257 };
enum { CF_DETOUR = 0x8000, CF_NO_CLOSING = 0xffff }; /* of cf_record.closes: a bit, not by the way that cl_close finds; and: none is known */

typedef struct cf_record {
    u32 _Atomic *next;    /* by byte class: configuration, CF_DEAD, CF_READS, or NONE (not computed yet) */
    u64 _Atomic mask;     /* [ stamp of the mask:32 | its index + 1:32 ], 0 = none is kept */
    union {
        u32 twin;          /* of a grammar with distinct lexemes: the same with unknown texts; NONE: not made yet */
        u32 _Atomic label; /* of others: its state in e->table; NONE: not known */
    };
    u32 suspects, n_suspects; /* tokens in all_suspects: the mask has them, a configuration with texts may not */
    u32 _Atomic most;         /* 1 + what cl_most tells, more than RX_LONG for nothing; CF_UNTOLD */
    u16 _Atomic forced;       /* 1 + the only byte that it can read, or CF_UNFORCED; CF_UNTOLD */
    u16 _Atomic closes;       /* 1 + the tokens that spell its closing, if they are few; CF_UNTOLD */
    bool complete;        /* the text may end here */
    bool unsure;          /* abstract, and no alternative is alive for sure */
    bool ends;            /* some row is ended, or one of a ring has begun */
} cf_record;

/* Tokens: a list while they are few, or few beside those of a base; else bits. Which, depends only on how they were found: equal masks may be
 * kept in several ways. */
typedef struct mk_found {
    u32 *bits; /* n_words, not meaningful while listed */
    VEC(u32) list;
    bool listed;
    const vb_inner *base; /* of a list: the bits of this lexeme-internal mask, too; held. NULL: none */
} mk_found;

enum { CL_END = 256 };

typedef struct cl_known { /* of the way from a configuration to the end; see cl.c */
    u32 least; /* no way is shorter */
    u32 byte;  /* the first one of the shortest way, of that length; NONE: none is known; CL_END: it has no bytes */
} cl_known;

typedef struct mk_counted { /* open units that differ in the upper bounds of repeats; see mk_room.c */
    u32 most; /* the one with the greatest bounds so far, as a lexer state */
    enum { COUNTED_UNKNOWN, COUNTED_ALIKE, COUNTED_APART } verdict; /* on it and the one with the smallest */
} mk_counted;

typedef struct mk_key { /* of a unit that is looked up in the vocabulary; see mk_key.c */
    u32 at, n; /* in key_words; at NONE: not spelt out */
    u64 hash;
    bool refused;     /* it has no lexeme-internal mask */
    bool leaves_much; /* for the number of tokens that leave it */
} mk_key;

typedef struct mk_use { /* of a lexeme; see mk_lexeme.c */
    bool asked;
    const vb_inner *automaton; /* held; NULL: it has none */
} mk_use;

typedef struct mk_loops { /* of an expression: the kinds of bytes (vocab/vb_shapes.c) whose derivatives it is itself; see mk_loops.c */
    u64 known, kinds;
} mk_loops;

typedef struct mk_beyond { /* of characters beyond ASCII: tokens that are one or a part of one, and then the places where one is complete; see mk_beyond.c */
    u32 tokens, n_tokens; /* in beyond_words */
    u32 n_places;         /* NONE: they are too many */
} mk_beyond;

typedef struct mk_ending { /* of a configuration: bytes that end a lexeme; see mk_name.c */
    u32 at, n; /* in ending_bytes */
    u32 least; /* a string in quotes goes on for so many characters at least */
    bool known;
} mk_ending;

typedef struct mk_place { /* in a walk: a node of a trie, and where the automaton is there */
    u32 node, config;
} mk_place;

typedef struct mk_run { /* in a walk: nodes side by side, [from, to), at which the automaton is in one configuration */
    u32 from, to, config;
} mk_run;

enum { MK_UNITS = 8 };

typedef struct mk_parts { /* a lexer state: units, which read much each, and a state of all that does not, or LX_DEAD; see mk_unit.c */
    u32 unit[MK_UNITS];
    u32 n;
    u32 rest;
} mk_parts;

typedef struct mk_outline { /* of a walk; see mk_outline.c. Indices in outline_words */
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

typedef struct mk_mask { /* a kept mask; see mk_keep.c for how readers and eviction get along */
    u32 *words;  /* bits, or tokens; NULL: the slot is free */
    u32 n_words; /* of a free slot: the next one, or NONE */
    bool listed; /* tokens */
    const vb_inner *base; /* as in mk_found */
    u32 model; /* the index of the mask that this one is but for these tokens, its own if it is a model; or NONE */
    bool all;
    u64 hash;
    bool _Atomic recent; /* read since the hand last came by */
    u32 _Atomic readers;
    u32 _Atomic stamp; /* changes whenever the slot gets another mask; odd: the slot is free */
} mk_mask;

struct ge_engine {
    ge_shares shares; /* matchers own their engine too */
    u32 switches;
    ge_grammar *g;
    ge_vocab *v;
    ge_dfa *_Atomic table; /* a token automaton with all masks, or NULL; see mk_table.c */
    size_t table_bytes;    /* of one that the engine has made */
    stable_array records;  /* cf_record; with what comes before, and masks, all that a turn looks at where all is known: side by side */
    stable_array masks;    /* mk_mask */
    budget b;              /* automata; guarded by lock */
    ge_lock lock;

    lx_lexer lx;
    ep_parser ep;
    word_map go;           /* (row, accept set) -> row */
    intern_table go_value; /* (row, accept set, value) ... */
    VEC(u32) go_value_row; /* ... -> row */
    id_vec values_read;    /* of distinct members, by the last step that was computed (ct_values.c) */
    VEC(u32) row_begin;    /* row -> lexer state of its allowed lexemes, or NONE */
    intern_table joins;    /* sets of rows in which the parser is at the same place of the text */
    VEC(u32) joined;       /* ... and the row of all that may come in them */
    VEC(u32) skips;        /* skip lexemes: allowed in every row */
    VEC(u32) row_lexemes;  /* scratch */

    intern_table configs;  /* cf_alternative sequences */
    stable_array tables;   /* their transitions: n_classes each */
    VEC(cf_alternative) alts; /* scratch: the configuration that is being made */
    VEC(u32) ended;           /* scratch: rows in which no lexeme is under way */
    VEC(u32) ended_suspect;   /* scratch: those of suspect alternatives */
    intern_table texts;       /* (text before, byte) */
    VEC(u8) text;             /* scratch: the bytes of one */
    u32 _Atomic *no_next;     /* transitions of all configurations with texts: none is known */
    VEC(u32) removed;         /* scratch of lexing="longest" */
    u32 max_alternatives;

    /* masks; the budget of these is max_mask_bytes */
    word_map mask_of_hash;
    u32 free_mask; /* the first free slot of masks, or NONE */
    u32 mask_hand; /* where the hand of evictions is */
    size_t mask_bytes;
    id_vec models;         /* masks that others are kept by ... */
    id_vec samples;        /* ... and parts of these */
    id_vec differing;      /* scratch: the tokens in which a mask differs from a model */
    mk_found found;        /* scratch: the mask that is being made */
    bool analysed;         /* ... and a lexeme-internal mask was made for it */
    bool tried_core, without_cores; /* ... and it was tried by a core; it is to be made without (mk.c) */
    id_vec dear_cores;     /* by lexer state: NONE, or it was tried by its core, and both differ in much */
    u32 class_weight[256]; /* by byte class: nodes of the vocabulary's trie below its bytes */
    u32 plain_class;       /* the byte class of most plain characters of ASCII */
    VEC(u32) suspects;     /* scratch: found by the mask that is being made */
    VEC(u32) all_suspects; /* of all configurations that have some */
    VEC(mk_place) walk; /* scratch: what is still to be visited, place by place */
    VEC(mk_run) runs;   /* scratch: ... run by run */
    const byte_set *begins; /* a walk from the root on is of tokens that begin with these; NULL: of all */
    id_vec absorbing;    /* by lexer state: does any plain text leave it alive? NONE: not known yet */
    id_vec looping;      /* by lexer state: an expression of it that may loop, or none: RX_ID_NEVER; NONE: not known yet */
    word_map loops_of;   /* expression -> index in loops */
    VEC(mk_loops) loops;
    word_map beyond_of; /* characters -> index in beyond */
    VEC(mk_beyond) beyond;
    id_vec beyond_words;
    VEC(mk_key) keys;
    word_map key_of;      /* lexer state and view (mk.h) -> index in keys */
    id_vec key_words;
    id_vec number;        /* scratch, by expression: its number in the key that is being spelt out, or NONE */
    VEC(u64) structure;   /* by expression: the hash of its structure, as far as it was asked for; see mk_key.c */
    VEC(mk_use) uses;     /* by lexeme */
    u32 n_held;           /* how many of them have an automaton */
    id_vec place_of;      /* by lexer state of one lexeme: its state in the automaton, as far as that was asked for */
    u32 n_shared;         /* outlines of the vocabulary that are held */
    id_vec unit_views;    /* by lexer state: the view by which its mask was found, or NONE: not known yet */
    id_vec unit_open;     /* by lexer state: what mk_open_unit made of it, NONE: it was not asked */
    word_map counted_of;  /* open unit with few repeats -> index in counted */
    word_map opened_at;   /* its expression -> the unit that a text came to first */
    VEC(mk_counted) counted;
    byte_vec opened;      /* by lexeme: has an open unit of it a mask? */
    byte_vec unit_seen;   /* by lexer state: how many masks were asked for in which it was a unit, as far as that is counted */
    VEC(mk_place) at_hubs; /* scratch: where a walk has come to hubs: (index of the hub, configuration); an outline that is made: also to openings, VB_HUBS + ... */
    VEC(mk_place) at_openings; /* scratch: ... and to openings */
    VEC(mk_ending) endings;
    id_vec ending_of;      /* by configuration: index in endings, NONE: not asked for yet */
    byte_vec ending_bytes;
    id_vec marked; /* tokens that may differ where regular expressions are loose; see mk_syntax.c */
    u32 n_marked;  /* ... without lengths */
    bool has_marked;
    byte_set behind_words; /* bytes beyond ASCII that can be read behind words; see mk_tails.c */
    u32 n_behind_words;    /* NONE: not asked for yet */
    intern_table places;      /* [ trie | nodes ... ]; see mk_outline.c */
    VEC(byte_set) places_below; /* by these, as far as they were asked for: bytes of children */
    VEC(const tt_trie *) tries;
    VEC(const vb_inner *) trie_inner; /* of which they are; held. NULL: of the vocabulary */
    word_map trie_of;         /* address -> index in tries */
    intern_table origins;     /* [ lexer state | that in which the row begins ] where these differ */
    intern_table rings;       /* see mk_ring.c */
    id_vec ring;              /* scratch: one */
    word_map outline_of;      /* (lexer state, or CF_OPEN_ROW + origin, or CF_RING_ROW + twice the ring; places) -> index in outlines */
    mk_recent *recent;        /* NULL: there are few outlines */
    VEC(mk_outline) outlines;
    id_vec outline_words;
    VEC(mk_end) ends;         /* scratch: of the outline that is being made */
    id_vec rounds;            /* scratch: the nodes at which its ring has come to its first row again ... */
    const tt_trie *rounds_in; /* ... of the trie that it begins in */
    mk_found outline;         /* scratch: its tokens */
    u32 *spread;              /* scratch: these as bits (mk_exits.c); zeros. NULL: not needed so far */
    bool cuts_much;           /* outlines do not pay */
    bool leaves_openings;     /* an outline is being made: what is behind blanks may be left to the tasks of masks */
    word_map parts_of;        /* (lexer state, hub) -> index in parts; see mk_unit.c */
    VEC(mk_parts) parts;
    id_vec apart_at;          /* by lexer state: where its parts are in apart, or NONE: not asked for yet; see mk_unit.c */
    id_vec apart;             /* [ n | states ... ] */
    byte_vec reads;           /* by lexeme: how much it reads, as far as that was asked for */

    VEC(cl_known) closings;
    word_map closing_of;  /* (configuration, set of places in tokens) -> index in closings */
    intern_table in_tokens; /* sets of nodes of the vocabulary's trie; the first stands for "anywhere" */
    enum { CL_NOT_ASKED, CL_SPELLS_ANY, CL_SPELLS_SOME } spells; /* whether each byte that a closing may have is a token */

    ct_table fewest; /* tokens that may still come */

    ge_stats stats; /* counters that are not sizes */
    bool _Atomic went_ahead; /* see mk_ahead.c */
    u32 _Atomic n_texts;     /* that were begun; see mk_table.c */
    bool is_one_lexeme; /* a text is: nothing may come after a lexeme, nor around it */
    bool full;      /* a ceiling on what the engine holds was met: new matchers are to begin in a fresh one */
};

/* Begins and ends an operation that may grow the automata. en_end fills err and releases the lock. */
void en_begin(ge_engine *e);
ge_status en_end(ge_engine *e, ge_err *err);

enum { EN_COLD = 1 << 8 }; /* what calls with warm_only return beside the results of others: nothing was done, since it takes the lock */

static inline cf_record *cf_at(const ge_engine *e, u32 config) { return stable_at(&e->records, config); }
static inline bool cf_is_complete(const ge_engine *e, u32 config) { return cf_at(e, config)->complete; }
static inline u32 cf_count(const ge_engine *e, u32 config) { return intern_length(&e->configs, config) / CF_ALTERNATIVE_WORDS; }
static inline cf_alternative cf_alternative_at(const ge_engine *e, u32 config, u32 i) {
    const u32 *words = intern_words(&e->configs, config) + CF_ALTERNATIVE_WORDS * i;
    return (cf_alternative){words[0], words[1], words[2], words[3]};
}

/* All of these are called with the lock held, and return NONE / false with the budget failed. */
u32 cf_step(ge_engine *e, u32 config, u32 byte_class); /* the configuration after one byte, or CF_DEAD */
/* Whether a byte can be read, where that is not known. Of what comes after a lexeme it is asked only whether there is anything, and so there is: no
 * row is made. Not with distinct lexemes. */
bool cf_reads(ge_engine *e, u32 config, u32 byte_class, bool *answer);
bool cf_first(ge_engine *e, u32 config, byte_set *set); /* bytes outside of which the configuration reads none */
/* *out = bytes after any other of which the two can read the same texts. */
bool cf_differ(ge_engine *e, u32 a, u32 b, byte_set *out);
u32 cf_fresh(ge_engine *e, u32 row);                   /* the configuration {row, nothing under way} */
u32 cf_single(ge_engine *e, cf_alternative a);         /* the configuration of one alternative */
u32 cf_with_states(ge_engine *e, u32 config, const u32 *states); /* ... with other lexer states, one for each alternative */
u32 cf_after(ge_engine *e, cf_alternative a, const u32 *lexemes, u32 n, bool skip); /* ... after these (and a skip) matched in a's row */
u32 cf_begin(ge_engine *e, u32 row);                   /* the lexer state of what a row allows */
u32 cf_row_after(ge_engine *e, u32 row, const u32 *lexemes, u32 n, bool skip); /* every split, nothing distinct: the row after these */
u32 cf_go(ge_engine *e, u32 row, u32 accepts);         /* ... after this set of lexemes */
u32 cf_close(ge_engine *e, u32 config, const u32 *rows); /* the configuration with these rows for the open ones that all its rows come from */
u32 cf_twin(ge_engine *e, u32 config);                 /* itself if it is abstract or there are no distinct lexemes */
/* lexing="longest": the configuration of all that is nested under the first alternative; CF_DEAD: there are others, or none. */
u32 cf_nested(ge_engine *e, u32 config);
u32 cf_symbol(const ge_engine *e, u32 config);         /* of the IR, that it is in, for errors; NONE: none that is known */
bool cf_init(ge_engine *e);                            /* CF_DEAD and CF_START */
void cf_drop(ge_engine *e);

/* The transition if it is known, else NONE. No lock needed. */
static inline u32 cf_warm(const ge_engine *e, u32 config, u32 byte_class) {
    u32 to = atomic_load_explicit(&cf_at(e, config)->next[byte_class], memory_order_acquire);
    return to == CF_READS ? NONE : to;
}

/* The lexer state in which a row of a ring begins, and the row to which it goes; see mk_ring.c. */
u32 mk_ring_begin(const ge_engine *e, u32 row);
u32 mk_go_round(const ge_engine *e, u32 row, u32 accepts);

/* Appends the first of the shortest texts from a configuration to the end of a sentence; with `spelt`, of those that tokens can spell: to be
 * asked after the first, *found: there is one that is not much longer. False: failure. */
bool cl_close(ge_engine *e, u32 config, bool spelt, byte_vec *out, bool *found);
/* The length of that text, as far as it is foretold: a lower bound. On failure any. */
u32 cl_foretold(ge_engine *e, u32 config);
/* The length of a text to the end, where one is foretold surely and any text is spelt by tokens: mostly of that one. NONE: elsewhere, or failure. */
u32 cl_most(ge_engine *e, u32 config);
/* The fewest tokens that spell the text that cl_close finds, the end of text not counted; NONE: none do, or it is not told so. False: failure. */
bool cl_count(ge_engine *e, u32 config, u32 *count);
/* The end is no nearer: the least length of what comes behind the lexemes that are under way. On failure any. */
u32 cl_least_behind(ge_engine *e, u32 config);
/* Appends at most `most` tokens that lead to the end of a sentence, *found: there are any. False: failure. For where ct_search_once with CT_BY_BYTES gives up. */
bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found);
void cl_drop(ge_engine *e);

/* Copies the mask of a configuration. mk_warm: false if none is kept (no lock). mk_cold: computes it, with the lock held. */
bool mk_warm(ge_engine *e, u32 config, u32 *out, bool *all);
bool mk_cold(ge_engine *e, u32 config, u32 *out, bool *all);
void mk_drop(ge_engine *e);

#endif
