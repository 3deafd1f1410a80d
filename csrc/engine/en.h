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
 * Arrays whose items all differ, where these may be arrays or objects. Alternatives have a *track* beside their row (un.h). The twin of
 * such a configuration has none; nor has what is made for masks, where rows and lexer states are all that matters.
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
#include "../closing/cl_state.h"
#include "../mask/mk_state.h"
#include "un.h"

enum { CF_DEAD, CF_START }; /* configurations that always exist */
#define CF_READS (NONE - 1) /* one that is not dead, but has not been made yet */

typedef struct cf_alternative {
    u32 row;
    u32 state; /* lexer state * 2 + fresh */
    union {
        u32 depth; /* lexing="longest": nesting under the alternative whose longer match would end this one; else 0 */
        u32 track; /* of a grammar with arrays whose items all differ (un.h) */
    };
    u32 text;  /* of the lexeme that is under way, if that is distinct (id in texts); else one of these: */
} cf_alternative;

/* Rows that stand for others in walks (mk_outline.c): any row in which a lexer state begins, any row of a ring (mk_ring.c), and what comes
 * after these when a set of lexemes has matched. Nothing can be read in the latter. */
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

typedef struct cf_end { /* scratch: a lexeme has ended */
    u32 track, row;
} cf_end;

enum { CF_UNTOLD = 0, CF_UNFORCED = 257 };
/* Of cf_record.closes. CF_DETOUR, a bit: no tokens spell the shortest text,
 * so these are the tokens of a longer one. CF_NO_CLOSING: none is known. */
enum { CF_DETOUR = 0x8000, CF_NO_CLOSING = 0xffff };

typedef struct cf_record {
    u32 _Atomic *next;    /* by byte class: configuration, CF_DEAD, CF_READS, or NONE (not computed yet) */
    u64 _Atomic mask;     /* [ stamp of the mask:32 | its index + 1:32 ], 0 = none is kept */
    union {
        u32 twin;          /* of a grammar with values: the same with unknown texts, and bare; NONE: not made yet */
        u32 _Atomic label; /* of others: its state in e->table; NONE: not known */
    };
    u32 suspects, n_suspects; /* tokens in all_suspects: the mask has them, a configuration with texts may not */
    u32 _Atomic most;         /* 1 + what cl_most tells, more than RX_LONG for nothing; CF_UNTOLD */
    u16 _Atomic forced;       /* 1 + the only byte that it can read, or CF_UNFORCED; CF_UNTOLD */
    u16 _Atomic closes;       /* 1 + the tokens that spell its closing, if they are few; CF_UNTOLD */
    u32 _Atomic clamped;      /* of counted text (cf_clamp.c): the same with e->room; NONE: not made yet */
    u32 room;                 /* ... so many characters may come; of other text 0 */
    u8 counted;               /* rx_counted: is it counted text, and which? */
    bool complete;        /* the text may end here */
    bool unsure;          /* abstract, and no alternative is alive for sure */
    bool ends;            /* some row is ended, or one of a ring has begun */
} cf_record;

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
    u32 _Atomic *no_next;     /* transitions of all configurations with texts or tracks: none is known */
    un_state un;              /* tracks */
    VEC(cf_end) ends;         /* scratch: rows in which no lexeme is under way, with tracks */
    VEC(u32) removed;         /* scratch of lexing="longest" */
    u32 max_alternatives;

    mk_state mk; /* masks: mask/mk_state.h */
    cl_state cl; /* closings: closing/cl_state.h */

    ge_stats stats; /* counters that are not sizes */
    bool _Atomic went_ahead; /* see mk_ahead.c */
    u32 _Atomic n_texts;     /* that were begun; see mk_table.c */
    u32 room;           /* characters of a clamped counted text, no fewer than any token takes; 0: none is clamped */
    bool has_clamped;
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
    return (cf_alternative){.row = words[0], .state = words[1], .depth = words[2], .text = words[3]};
}

/* All of these are called with the lock held, and return NONE / false with the budget failed. */
u32 cf_step(ge_engine *e, u32 config, u32 byte_class); /* the configuration after one byte, or CF_DEAD */
/* Whether a byte can be read, where that is not known. Of what comes after a lexeme it is asked
 * only whether there is anything, and so there is: no row is made. Not with distinct lexemes. */
bool cf_reads(ge_engine *e, u32 config, u32 byte_class, bool *answer);
bool cf_first(ge_engine *e, u32 config, byte_set *set); /* bytes outside of which the configuration reads none */
/* *out = bytes after any other of which the two can read the same texts. */
bool cf_differ(ge_engine *e, u32 a, u32 b, byte_set *out);
u32 cf_single(ge_engine *e, cf_alternative a);         /* the configuration of one alternative */
u32 cf_with_states(ge_engine *e, u32 config, const u32 *states); /* ... with other lexer states, one for each alternative */
u32 cf_after(ge_engine *e, cf_alternative a, const u32 *lexemes, u32 n, bool skip); /* ... after these (and a skip) matched in a's row */
u32 cf_begin(ge_engine *e, u32 row);                   /* the lexer state of what a row allows */
u32 cf_row_after(ge_engine *e, u32 row, const u32 *lexemes, u32 n, bool skip); /* every split, nothing distinct: the row after these */
u32 cf_go(ge_engine *e, u32 row, u32 accepts);         /* ... after this set of lexemes */
/* the configuration with these rows for the open ones that all its rows come from */
u32 cf_close(ge_engine *e, u32 config, const u32 *rows);
u32 cf_twin(ge_engine *e, u32 config);                 /* itself if that is what it is, or there are no values */
/* Arrays whose items all differ: a step after which no text may go on, if alternatives of the configuration are held; one alternative
 * with its track; *answer: can that be completed (cf_alive.c)? */
u32 cf_step_on(ge_engine *e, u32 config, u32 byte);
u32 cf_tracked(ge_engine *e, cf_alternative a);
u32 cf_reduced(ge_engine *e, u32 config); /* with reduced tracks (un.h) */
u32 cf_shortened(ge_engine *e, u32 config); /* with shortened ones */
bool cf_is_alive(ge_engine *e, cf_alternative a, bool *answer);
/* Has the grammar values on which what may come next depends? */
static inline bool cf_has_values(const ge_engine *e) { return e->g->g.has_distinct || e->g->has_unique; }
/* lexing="longest": the configuration of all that is nested under the first alternative; CF_DEAD: there are others, or none. */
u32 cf_nested(ge_engine *e, u32 config);
/* Counted text to which few characters are missing (cf_clamp.c): an expression; the
 * configuration in e->alts. *room = 0 if it is none. RX_UNCOUNTED may be a failure. */
rx_counted cf_count_of(ge_engine *e, rx_id expr, u32 *room);
rx_counted cf_find_count(ge_engine *e, u32 *room);
u32 cf_clamped(ge_engine *e, u32 config);                     /* of counted text: the one with e->room */
u32 cf_with_room(ge_engine *e, u32 config, u32 room);         /* ... the one with so much, two or more */
u32 cf_symbol(const ge_engine *e, u32 config);         /* of the IR, that it is in, for errors; NONE: none that is known */
bool cf_init(ge_engine *e);                            /* CF_DEAD and CF_START */
void cf_drop(ge_engine *e);

/* The transition if it is known, else NONE. No lock needed. */
static inline u32 cf_warm(const ge_engine *e, u32 config, u32 byte_class) {
    u32 to = atomic_load_explicit(&cf_at(e, config)->next[byte_class], memory_order_acquire);
    return to == CF_READS ? NONE : to;
}

#endif
