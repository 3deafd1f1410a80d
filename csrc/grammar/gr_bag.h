/* Bags: how often each slot has been raised, and whether a state can still be finished.
 *
 * The counts of a state are `n_words` words. First a bit for each *key*: a slot that may be raised once, by ways that all begin with one
 * lexeme and have one rank. There may be thousands of them, so what is asked of all of them is asked of 32 at a time; their places ascend
 * by rank, so those that are behind us are the first ones. A key may *ask* for others, which then have to come, too, or to have come: where
 * there are such keys, a second bit for each key says that it is asked for and has not come. And a key, or the bag itself, may leave a
 * *choice* between several sets of keys, one of which has to come. Then a word for each other slot with bounds. A
 * slot without maximum stops counting at its minimum, and by rank, slots that are behind us are forgotten, so that states with equal
 * futures are equal (but for keys that others ask for, and those on which choices depend).
 *
 * *Finished* is a state in which every slot has reached its minimum. A state is *alive* if some members lead from it to a finished one;
 * a way is offered only if the state after it is alive, so a text never runs into a dead end. Which is decided exactly:
 *
 *   - Without conditions (slots that are neither a way's own nor the total) by arithmetic: what is missing must fit under the maximum
 *     of the total, what may still come must reach its minimum, and no way that is missing may be ranked behind us. A key that asks for
 *     others is offered if that is so after it. (The total has no minimum then: how many may come would depend on which.) Of a choice
 *     that nothing has met one set must be able to come; choices do not come into each other's way, as more keys never hurt (there is no
 *     total then), and whatever the keys of a set ask for is in the set.
 *   - With conditions by a search for members that meet them, one missing slot at a time. Ways that raise the same slot are tried in
 *     ascending order only, since the order of members does not matter to counts. It is charged to the budget of the step. */
#ifndef GE_GR_BAG_H
#define GE_GR_BAG_H

#include "gr.h"

/* Lays out the bag, whose slots and ways have been read (gr_lay.c). False on failure. */
bool gr_bag_lay_out(gr_grammar *g, budget *b, gr_bag *bag, const u8 *lexeme_flags);

u32 gr_bag_count(const gr_bag *bag, const gr_slot *slot, const u32 *counts);   /* how often the slot was raised */
u32 gr_bag_missing(const gr_bag *bag, const gr_slot *slot, const u32 *counts); /* how often it has to be, yet */
/* Is a key, by its place, among some? */
static inline bool gr_has_key(const u32 *keys, u32 place) { return keys[place / 32] >> place % 32 & 1; }

/* Is one of the sets of a choice among some keys (NULL: is one empty)? And if not, does it ask for one beside these? */
bool gr_bag_has_set(const gr_grammar *g, const gr_choice *choice, const u32 *keys);
bool gr_bag_must_choose(const gr_grammar *g, const gr_choice *choice, const u32 *keys);
bool gr_bag_is_finished(const gr_grammar *g, const gr_bag *bag, const u32 *counts);
bool gr_bag_admits(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, u32 way); /* no bound forbids it now */
bool gr_bag_lacks(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 way);             /* it raises something that is missing */
/* In a ranked bag: makes the counts of slots that no way from `rank` on has as its own the same, whatever they were. The state is alive. */
void gr_bag_forget(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 rank);
void gr_bag_raise(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way);
/* The same, but only of slots that are missing, and what the way asks for is not: whatever may follow after that may follow after this,
 * and no more has to. (With choices, just the same.) */
void gr_bag_raise_needed(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way);

/* What is asked: a state of a bag of a grammar. */
typedef struct gr_bag_state {
    const gr_grammar *g;
    const gr_bag *bag;
    const u32 *counts;
    u32 rank; /* of its last member; 0 if there is none yet, or the bag is not ranked */
} gr_bag_state;

/* Whether the state is alive, in *answer; false on failure of the budget. */
bool gr_bag_is_alive(budget *b, const gr_bag_state *s, bool *answer);

/* Of a state that is alive. False on failure of the budget. */
bool gr_bag_has_offers(budget *b, const gr_bag_state *s, bool *answer);
/* Appends the ways that it offers. If they are those of `many` keys or more, *n_keys of them are set in keys (n_bit_words) in their
 * stead. */
bool gr_bag_offers(budget *b, const gr_bag_state *s, u32 many, u32 *keys, u32 *n_keys, id_vec *ways);
/* Does a key begin with a lexeme, in any state? Errs towards yes. */
bool gr_bag_may_begin(const gr_grammar *g, const gr_bag *bag, u32 lexeme);
/* Appends those of keys that begin with a lexeme. */
bool gr_bag_offers_by(budget *b, const gr_bag_state *s, u32 lexeme, id_vec *ways);

#endif
