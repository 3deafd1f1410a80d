/* ba: the byte automaton of a grammar with finitely many configurations:
 * closed, minimal, over classes of bytes that it does not tell apart.
 *
 *     configurations (engine/en.h)  --- all that can be reached --->  states  --- minimise --->  states and classes, each as few as can be
 *
 * State 0 is the start. States are numbered in the order in which a breadth-first walk by ascending classes meets them, and classes by
 * their smallest byte; so equal languages have equal automata. Bytes that no text holds have no class. */
#ifndef GE_BA_H
#define GE_BA_H

#include "../engine/en.h"

typedef struct ba_automaton {
    u32 n_states, n_classes;
    u16 class_of[256]; /* or BA_NO_CLASS */
    u32 *next;         /* n_states * n_classes; NONE: the text cannot go on so */
    bool *accepts;
} ba_automaton;

#define BA_NO_CLASS UINT16_MAX

typedef struct ba_bounds {
    u32 states;
    u64 steps; /* transitions that are computed: neither known before, nor refused by first bytes */
} ba_bounds;

/* Closes the configurations of an engine, whose lock is held; within the bounds, or GE_E_LIMIT (max_configurations). state_of (may be
 * NULL): configuration -> state or NONE, as far as configurations go. Memory and failures are those of b; then n_states is how many states
 * had been followed. */
bool ba_build(ba_automaton *a, budget *b, ge_engine *e, ba_bounds bounds, id_vec *state_of);
/* Joins classes with equal columns, and drops those that lead nowhere. */
bool ba_join_classes(ba_automaton *a, budget *b);
bool ba_copy(ba_automaton *to, budget *b, const ba_automaton *from);
void ba_drop(ba_automaton *a, budget *b);

#endif
