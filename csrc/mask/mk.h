/* mk: what the files of this room share.
 *
 *     mk.c         which way a mask is made (mk_make.h)
 *     mk_parts.c     by its parts
 *     mk_heir.c      ... by its difference from another one
 *     mk_longest.c   ... with lexing="longest"
 *     mk_state.h   what an engine has found out for its masks
 *     mk_slice.c     what a state reads of all plain text
 *     mk_own.c       ... and of slices that the user lists
 *     mk_loops.c     what below a node of the trie stays inside a lexeme
 *     mk_beyond.c    what begins beyond ASCII
 *     mk_open.c      what begins a string within a token, and white space
 *     mk_literals.c  what is spelt out
 *     mk_walk.c      walks of the vocabulary with the configuration automaton
 *     mk_outline.c   ... that are made once for many rows
 *     mk_exits.c     ... where lexemes end in these
 *     mk_share.c     ... and kept with the vocabulary
 *     mk_lexeme.c    ... by the token automata of lexemes that many grammars share
 *     mk_ring.c      outlines whose rows come back to themselves
 *     mk_unit.c      into what an alternative is taken apart
 *     mk_inner.c     lexeme-internal masks of units: what does not depend on the parser
 *     mk_room.c      ... of counted text, wherever its end is
 *     mk_tails.c     ... and what is left of tokens that no row can read
 *     mk_key.c       ... how they are found again
 *     mk_analyse.c   ... how they are made, node by node (mk_analysis.h)
 *     mk_shapes.c    ... and before that by shapes of tokens
 *     mk_plain.c     ... or by the plain tokens that are not read
 *     mk_name.c    masks where names have a bound
 *     mk_bar.c     masks where names are barred
 *     mk_syntax.c  masks within regular expressions as texts
 *     mk_keep.c    masks that are kept
 *     mk_model.c     ... as another one, but for a few tokens
 *     mk_ahead.c   ... before they are asked for
 *     mk_table.c   masks that were made ahead of time */
#ifndef GE_MK_H
#define GE_MK_H

#include "../base/wide.h"
#include "../regex/utf8.h"
#include "../engine/en.h"

/* Sets the bits of the tokens below a node that the configuration can read, or lists them (mk_found). Where a walk of the vocabulary from
 * its root comes to another hub (vocab/vb.h), it does not go on, but notes that in e->mk.at_hubs. */
bool mk_walk(ge_engine *e, const tt_trie *trie, u32 node, u32 config, mk_found *found);
/* From the root of the vocabulary's trie on, tokens that begin with some
 * bytes, outside of which the configuration reads none or none is asked for. */
bool mk_walk_bytes(ge_engine *e, u32 config, const byte_set *first, mk_found *found);
bool mk_walk_places(ge_engine *e, const tt_trie *trie, const u32 *nodes, u32 n, u32 config, mk_found *found); /* below several nodes */
/* The same for an alternative, by outlines. `inner`: the lexeme-internal mask of which the trie is one of the tails, else NULL. */
bool mk_add(ge_engine *e, const tt_trie *trie, u32 node, cf_alternative a, const vb_inner *inner, mk_found *found);
bool mk_has_outlines(const ge_engine *e);
/* Outlines that are kept with the vocabulary, from the root on (mk_share.c). */
bool mk_may_share(const ge_engine *e);
/* *found: the outline of a lexer state is one of these, and *to, empty before, is that. */
bool mk_take_shared(ge_engine *e, u32 state, mk_outline *to, bool *found);
/* Walks from the root on, but for what is in such outlines. */
bool mk_walk_shared(ge_engine *e, u32 config, mk_found *found);
/* *answer: is a state within a lexeme that has a token automaton (mk_lexeme.c)? If so, *place = that of the state in it, or NONE. */
bool mk_has_automaton(ge_engine *e, u32 state, bool *answer);
bool mk_place_of(ge_engine *e, u32 state, const vb_inner **automaton, u32 *place);
vb_inner *mk_new_entry(budget *own); /* an empty one for the store, and the budget it is counted in; NULL: no memory */
void mk_drop_lexemes(ge_engine *e);
u32 mk_outline_of_state(ge_engine *e, u32 state); /* its index; NONE: failure */
/* The same of tokens that begin with some bytes, and not kept. */
bool mk_make_outline(ge_engine *e, u32 state, const byte_set *first, mk_outline *made);
u32 mk_trie_index(ge_engine *e, const tt_trie *trie); /* of one of the vocabulary's, in places; NONE: failure */
/* A walk with an open row has come to a place where lexemes end. */
bool mk_note_ends(ge_engine *e, const tt_trie *trie, mk_place at);
/* Appends the exits of the outline, of which e->mk.ends are the places: those with the same lexemes in the same trie together. */
bool mk_add_exits(ge_engine *e, mk_outline *to);
void mk_drop_outlines(ge_engine *e);
/* The row after a set of lexemes, and the lexer state in which it begins; LX_IDLE where it leaves (parser/ep_cut.c). False: failure. */
bool mk_go(ge_engine *e, u32 row, u32 accepts, u32 *to, u32 *begin);
/* *ring = that of rows[0], which begins in the lexer state `begin`, by the sets of lexemes that are the exits of an outline of that state;
 * NONE: it is not seen to be of one. Then rows[1] = the other row of the ring, or NONE. */
bool mk_find_ring(ge_engine *e, u32 begin, const mk_outline *outline, u32 *rows, u32 *ring);
/* The same where `found` holds what `base` can read. It stops at hubs below which the two may differ. */
bool mk_walk_difference(ge_engine *e, const tt_trie *trie, u32 node, u32 config, u32 base, mk_found *found);
/* The same below a node of the vocabulary's trie. *far: it was given up after so many nodes, and `found` is of no use. */
bool mk_walk_near(ge_engine *e, u32 node, u32 config, u32 base, u32 most, mk_found *found, bool *far);

/* Whether the configuration can read all that is below a run of the vocabulary's trie, since that stays
 * inside one lexeme. Errs towards no. To be asked only if mk_may_stay, which is the same for all runs. */
bool mk_may_stay(const ge_engine *e);
bool mk_stays_below(ge_engine *e, mk_run run);

/* Adds what the configuration reads that begins beyond ASCII, and to e->mk.runs the places from which on that is to be walked, if it is
 * known of other configurations. *done = false: it is not (nothing was changed). */
bool mk_add_beyond(ge_engine *e, u32 config, mk_found *found, bool *done);
/* *answer: is it, wherever this is the rest of the lexeme? */
bool mk_knows_beyond(ge_engine *e, rx_id expr, bool *answer);

/* Adds what the configuration reads, if that is spelt out and little. *done = false: it is not, and `found` has some of it. */
bool mk_by_literals(ge_engine *e, u32 config, mk_found *found, bool *done);

/* Is a node of the vocabulary's trie a quotation mark or a blank below which a slice says most of what the configuration can read? Then
 * that is noted in e->mk.at_openings, and to be added: the tokens of the slice, and what a walk of the other rests finds. */
bool mk_stop_at_opening(ge_engine *e, u32 node, u32 config, bool *stopped);
bool mk_add_opening(ge_engine *e, const vb_opening *opening, mk_found *found);

/* Begins with nothing found, as a list or as bits; a list goes over into bits by itself when it is long. */
void mk_begin(ge_engine *e, mk_found *found, bool listed);
void mk_make_bits(ge_engine *e, mk_found *found);
bool mk_add_listed(ge_engine *e, mk_found *found, const u32 *tokens, u32 n);
void mk_clear_token(ge_engine *e, mk_found *found, u32 token);
void mk_clear_tokens(ge_engine *e, const tt_trie *trie, u32 from, u32 to, mk_found *found); /* those of the nodes [from, to) */
void mk_add_bits(ge_engine *e, mk_found *found, const u32 *bits);
void mk_add_inner(ge_engine *e, mk_found *found, const vb_inner *inner);
void mk_release_base(ge_engine *e, mk_found *found);
/* a row is written, or combined with another */
static inline void mk_note_copy(ge_engine *e) { e->stats.bytes_copied += e->v->n_words * sizeof(u32); }

/* A view: which tokens a lexeme-internal mask speaks of. Below VB_TIERS: those of a tier, and the lexer state is clamped; from there on:
 * all below the hub view - VB_TIERS. MK_OPEN: all, and the lexer state is open (mk_room.c). MK_LEXEME: none, it is an automaton
 * (mk_lexeme.c). From MK_HUB_TIERS on: those of a tier that are below a hub, clamped, too. */
enum { MK_OPEN = VB_TIERS + VB_HUBS, MK_LEXEME, MK_HUB_TIERS, MK_VIEWS = MK_HUB_TIERS + VB_HUBS * VB_TIERS };
static inline u32 mk_view_of(u32 tier, u32 hub) { return hub ? MK_HUB_TIERS + hub * VB_TIERS + tier : tier; }
static inline u32 mk_tier_of(u32 view) { /* NONE: the lexer state is not clamped */
    return view < VB_TIERS ? view : view >= MK_HUB_TIERS ? (view - MK_HUB_TIERS) % VB_TIERS : NONE;
}
static inline u32 mk_hub_of(u32 view) {
    return view >= MK_HUB_TIERS ? (view - MK_HUB_TIERS) / VB_TIERS : view >= VB_TIERS && view < MK_OPEN ? view - VB_TIERS : 0;
}

enum { MK_FINISH = 16 }; /* bytes; a clamped unit with states that are further from an end stands for no other */

bool mk_split(ge_engine *e, u32 state, u32 hub, mk_parts *parts);
/* A state without the lexemes that read little, but for those of `rest` (or LX_DEAD). NONE: failure. */
u32 mk_core(ge_engine *e, u32 state, u32 hub, u32 rest);
/* *states = a state in parts: each lexeme that begins in it and reads more
 * than a few tokens, and all others; until the next call. For outlines. */
bool mk_apart(ge_engine *e, u32 state, const u32 **states, u32 *n);
/* *answer: does a lexeme begin in the state, beside others, that reads much? */
bool mk_has_wide(ge_engine *e, u32 state, bool *answer);
/* The unit without the bounds that n_bytes cannot reach. NONE: failure. */
u32 mk_clamp(ge_engine *e, u32 unit, u32 n_bytes);

/* The characters that may still come in a unit, if it is a counted text;
 * else NONE. *open = the unit without that bound, or itself. False: failure. */
u32 mk_room(const ge_engine *e, u32 unit);
bool mk_open_unit(ge_engine *e, u32 unit, u32 *open);
/* *answer: is that analysed in its place? */
bool mk_is_opened(ge_engine *e, u32 unit, bool *answer);
/* The open unit with few repeats: NONE on failure. Is one open unit within another? Are their masks alike? */
u32 mk_few(ge_engine *e, u32 open);
bool mk_is_within(const ge_engine *e, u32 open, u32 other);
bool mk_alike(const vb_inner *a, const vb_inner *b);
/* Adds the tokens that stay inside an open unit, where so many characters may come. */
void mk_add_fitting(ge_engine *e, mk_found *found, const vb_inner *inner, u32 room);

/* Analyses a lexer state in a view. The result is counted in `b`. NULL if it does not pay
 * (*leaves_much: since too many tokens leave it), or on failure (of the engine's budget, then). */
vb_inner *mk_analyse(ge_engine *e, u32 state, u32 view, mk_key key, budget *b, bool *leaves_much);

/* *known: is the lexeme-internal mask of the unit kept with the vocabulary, or, if `make` says so, can it be made? */
bool mk_is_known(ge_engine *e, u32 unit, u32 hub, bool make, bool *known);
/* The same, made if it can be; *plain: it has all plain tokens. */
bool mk_has_plain(ge_engine *e, u32 unit, bool *known, bool *plain);
/* Makes it, if it can be made, and the tries of tails that begin with marks, which nearly all rows read. */
bool mk_prepare(ge_engine *e, u32 unit, u32 hub);
/* *answer: is it known that the unit has none? */
bool mk_is_refused(ge_engine *e, u32 unit, bool *answer);
bool mk_is_left_much(ge_engine *e, u32 unit, bool *answer); /* is it refused since too many tokens leave it, along a counted text? */
/* The key of a lexer state in a view, until the next call; NULL: failure. It is spelt out on demand, which may refuse it. False:
 * failure. */
mk_key *mk_key_of(ge_engine *e, u32 state, u32 view);
bool mk_spell_key(ge_engine *e, u32 state, u32 view, mk_key *key);
bool mk_has_key(const ge_engine *e, const vb_inner *inner, const mk_key *key); /* a key that was spelt out */
/* Sets the bits of all tokens below a hub that a row can read in a unit, by its lexeme-internal
 * mask, which is computed if it is not known. *done = false: it has none (nothing was set). */
bool mk_by_inner(ge_engine *e, cf_alternative in_unit, u32 hub, mk_found *found, bool *done);
/* *tails = those of a sort of an exit as a trie, or those of them that may be read in some row; NULL: none may. */
bool mk_tails(ge_engine *e, const vb_inner *inner, u32 exit, u32 sort, const tt_trie **tails);
/* `found` holds what all that is nested under the first alternative can read below a hub. Adds what the first reads there, and takes away
 * what it keeps from them. *done = false: the first has no lexeme-internal mask (nothing was changed). */
bool mk_over_nested(ge_engine *e, u32 config, u32 hub, mk_found *found, bool *done);
/* The perils of a state for which plain text may kill it; of one of its
 * lexemes, since it lives as long as any of them does. False: failure. */
bool mk_find_perils(ge_engine *e, u32 state, rx_perils *out);
/* What is left of a character (regex/utf8.h) of plain text after another byte. */
static inline u32 mk_plain_step(u32 phase, u32 byte) {
    return byte < 0x20 || byte == '"' || byte == '\\' ? UTF8_DEAD : utf8_step(phase, byte);
}

/* What slices say of a state below a hub: the tokens in bits stay inside some lexeme of it; those in neither bits nor rest neither do nor
 * leave one. reached (may be NULL): the states to which the tokens in bits lead are added to it. */
bool mk_cut(ge_engine *e, u32 state, u32 hub, vb_cut *cut, id_vec *reached);
vb_cut mk_cut_by_structure(const ge_engine *e, u32 state); /* the same, as far as structure tells */

/* *own = of the slices that the user lists the largest one with which the state stays alive, if
 * it begins with little besides, and the trie of the rest has at most so many nodes; or NULL. */
bool mk_find_own(ge_engine *e, u32 state, u32 hub, u32 most_rest, const vb_own **own);
/* Adds what an alternative can read below a hub, by such a slice. */
bool mk_add_by_own(ge_engine *e, cf_alternative a, u32 hub, const vb_own *own, mk_found *found);

/* *answer: does any plain text without some bytes of ASCII leave the lexer state alive?
 * Errs towards no. Adds the states to which it leads to `reached`, some more than once. */
bool mk_absorbs(ge_engine *e, u32 state, const byte_set *but, id_vec *reached, bool *answer);

/* Do all texts of these kinds of bytes, and of at most so many (NONE: any), leave alive what these are the perils of? */
static inline bool mk_outlives(const rx_perils *perils, u32 n_bytes, u64 kinds) {
    for (u32 i = 0; i < perils->n; i++)
        if (perils->of[i].n_bytes < n_bytes && !(perils->of[i].kinds & ~kinds)) return false;
    return true;
}

/* *answer: does all such text that is plain leave the lexer state alive? By structure, or by its perils, which are kept. Errs towards
 * no. */
bool mk_survives_plain(ge_engine *e, u32 state, u32 n_bytes, u64 kinds, bool *answer);

/* *changed = the configuration in which each expression is what `change` makes of it: itself if that is the expression. */
bool mk_change(ge_engine *e, u32 config, rx_id (*change)(rx_arena *x, rx_id id), u32 *changed);
/* *unbound = the configuration in which names have any length: itself if it has none. */
bool mk_unbound(ge_engine *e, u32 config, u32 *unbound);
/* *less, *more = configurations in which names of any length are barred, or none are (mk_bar.c): itself if none with bounds is. */
bool mk_bars(ge_engine *e, u32 config, u32 *less, u32 *more);
/* Adds to e->mk.found, bits of what reads less, the tokens of `more` that `config` can read. */
bool mk_add_between(ge_engine *e, u32 config, const u32 *more);
/* *reads: can the configuration read a token? Mostly by derivatives, without states on the way. */
bool mk_reads(ge_engine *e, u32 config, const u8 *token, u32 n, bool *reads);
/* *loose = the configuration in which regular expressions that are read are loose (mk_syntax.c): itself if it has none. */
bool mk_loosen(ge_engine *e, u32 config, u32 *loose);
/* Takes from e->mk.found, bits that it can read, what `config` cannot. *all: that was nothing. */
bool mk_keep_exact(ge_engine *e, u32 config, bool *all);
/* *roomier = of counted text near its bound, where there is room for any token (mk_near.c): itself if it is none. */
bool mk_roomier(ge_engine *e, u32 config, u32 *roomier);
bool mk_keep_near(ge_engine *e, u32 config, bool *all); /* as mk_keep_exact */
/* Takes from e->mk.found, bits that `unbound` can read, what `config` cannot. *all: that was nothing. */
bool mk_keep_names(ge_engine *e, u32 config, u32 unbound, bool *all);

/* Makes the mask of a configuration, and keeps it. */
bool mk_build(ge_engine *e, u32 config);
/* Makes masks that will be asked for, once, as far as that takes little. Takes the lock. */
void mk_go_ahead(ge_engine *e);

/* Writes the mask of a configuration, if there is a token automaton that knows it. No lock needed. */
bool mk_by_table(ge_engine *e, u32 config, u32 *out);
/* A token has led from one configuration to another. No lock needed. */
void mk_go_by_table(ge_engine *e, const ge_dfa *table, u32 from, u64 token, u32 to);
static inline void mk_follow_table(ge_engine *e, u32 from, u64 token, u32 to) {
    const ge_dfa *table = atomic_load_explicit(&e->table, memory_order_acquire);
    if (table) mk_go_by_table(e, table, from, token, to);
}
/* A text is begun. Makes a token automaton, once, if there were many and the grammar has proved small. Takes the lock. */
void mk_try_table(ge_engine *e);
/* The engine of another generation gets the automaton of this one, if there is one. Takes the lock of `to`. */
void mk_pass_table(const ge_engine *from, ge_engine *to);

/* Writes the tokens of a list and those of its base. */
static inline void mk_write_listed(const ge_engine *e, const vb_inner *base, const u32 *tokens, u32 n, u32 *out) {
    if (base) wide_copy(out, base->bits, e->v->n_words);
    else wide_clear(out, e->v->n_words);
    for (u32 i = 0; i < n; i++) out[tokens[i] >> 5] |= (u32)1 << (tokens[i] & 31);
}

/* Keeps a mask for the configuration, if there is room. Never fails: not to keep a mask costs only time. */
void mk_keep(ge_engine *e, u32 config, const mk_found *found);
/* Where the bits of `mask` are near those of a model, it gets that, and as its
 * words the tokens in which they differ, until the next call. False: failure. */
bool mk_find_model(ge_engine *e, mk_mask *mask);
/* A mask that is kept, as bits, becomes a model, if there is room for one more. */
void mk_try_model(ge_engine *e, u32 index);
/* Writes a mask that is kept as bits, or by a model. Takes no lock. */
void mk_write_by_model(const ge_engine *e, const mk_mask *kept, u32 *out);
/* found = the mask that is kept for the configuration; false if there is none. */
bool mk_load(ge_engine *e, u32 config, mk_found *found);

/* Copies the mask of a configuration. mk_warm: false if none is kept (no lock). mk_cold: computes it, with the lock held. */
bool mk_warm(ge_engine *e, u32 config, u32 *out);
bool mk_cold(ge_engine *e, u32 config, u32 *out);
void mk_drop(ge_engine *e);
void mk_drop_kept(ge_engine *e); /* these are parts of it */
void mk_drop_walks(ge_engine *e);
void mk_drop_parts(ge_engine *e);
void mk_drop_units(ge_engine *e);
void mk_drop_names(ge_engine *e);

/* The lexer state in which a row of a ring begins, and the row to which it goes; see mk_ring.c. */
u32 mk_ring_begin(const ge_engine *e, u32 row);
u32 mk_go_round(const ge_engine *e, u32 row, u32 accepts);

#endif
