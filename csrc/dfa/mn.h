/* mn: minimisation of partial deterministic automata.
 *
 *     transitions (from, label, to), at most one per (from, label); no transition = dead
 *
 * Two states are equal if both accept or neither does, and each label that leads on from one leads on from the other, to equal states. No
 * state is taken to be dead by itself: one that has transitions but reaches no accepting state is told from a missing transition.
 *
 * The method is that of Valmari (2012), "Fast brief practical DFA minimization": two partitions, of states into blocks and of
 * transitions into cords, refine each other; of the two parts of a set that is split, the smaller gets the new name. O(m log m) for m
 * transitions, whatever the number of labels. */
#ifndef GE_MN_H
#define GE_MN_H

#include "../base/base.h"

typedef struct mn_transition {
    u32 from, label, to;
} mn_transition;

/* Sorts by a field, whose values are below n_keys; what is equal keeps its order. */
enum { MN_BY_FROM, MN_BY_LABEL };
bool mn_sort(budget *b, mn_transition *all, u32 n, int field, u32 n_keys);

/* block[s] = the block of state s, numbered from 0 in no particular order; *n_blocks = their number. Sorts `all` by label. */
bool mn_minimise(budget *b, mn_transition *all, u32 n, u32 n_labels, const bool *accepts, u32 n_states, u32 *block, u32 *n_blocks);

#endif
