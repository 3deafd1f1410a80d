/* mk_table: an engine with a token automaton (dfa/td.h) of its grammar and vocabulary takes masks from there.
 *
 * A configuration that has a *label*, a state of the automaton, has that state's mask. The start has one, and it is passed on: if a token leads
 * from a labelled configuration to another one, then that one's label is where the automaton goes with it. Both automata are exact and the
 * configuration is all that the future depends on, so whichever way leads to a configuration, its label is the same.
 *
 * A matcher brings an automaton (TokenDFA), and takes it along when it moves to the engine of another generation. Or an engine makes its own:
 * once its walks have visited more nodes than making one costs, it tries to close its configurations. A grammar with more than some states is
 * left as it is. */
#include "../dfa/td.h"
#include "mk.h"

/* When an engine tries to make an automaton by itself: at most so many states, once as many nodes were visited as in so many walks of the whole
 * vocabulary (1 ms each, for 131,072 tokens). So what was spent before is in proportion to what it takes. */
typedef struct table_try {
    u32 states, walks;
} table_try;

static const table_try TRIES[] = {{32, 4}, {256, 10}};

enum {
    N_TRIES = sizeof TRIES / sizeof *TRIES,
    LEAST_VISITS = 100000, /* where the vocabulary is small nothing is slow */
    MAX_STEPS = 4096       /* transitions computed to close the configurations: those of grammars that are not regular do not end */
};

static void set_label(ge_engine *e, u32 config, u32 state) {
    if (config > CF_DEAD && state != NONE) atomic_store_explicit(&cf_at(e, config)->label, state, memory_order_relaxed);
}

bool mk_by_table(ge_engine *e, u32 config, u32 *out, bool *all) {
    const ge_dfa *table = atomic_load_explicit(&e->table, memory_order_acquire);
    u32 state = table ? atomic_load_explicit(&cf_at(e, config)->label, memory_order_relaxed) : NONE;
    if (state == NONE) return false;
    td_fill(table, state, out, all);
    return true;
}

void mk_go_by_table(ge_engine *e, const ge_dfa *table, u32 from, u64 token, u32 to) {
    u32 state = atomic_load_explicit(&cf_at(e, from)->label, memory_order_relaxed);
    if (state != NONE) set_label(e, to, td_next(table, state, token));
}

/* With the lock held. The first one stays. */
static void use_table(ge_engine *e, ge_dfa *table) {
    if (atomic_load(&e->table) || !table->exact || e->g->g.has_distinct) return; /* texts: a configuration is not met again */
    share_take(&table->shares);
    set_label(e, CF_START, 0);
    atomic_store_explicit(&e->table, table, memory_order_release);
}

void ge_engine_use(ge_engine *e, ge_dfa *dfa) {
    lock_take(&e->lock);
    use_table(e, dfa);
    lock_release(&e->lock);
}

void mk_pass_table(const ge_engine *from, ge_engine *to) {
    ge_dfa *table = atomic_load_explicit(&from->table, memory_order_acquire);
    if (table && from->g == to->g && from->v == to->v) ge_engine_use(to, table);
}

static bool is_worth(const ge_engine *e) {
    const u32 off = GE_NO_TABLE | GE_NO_MASK_CACHE | GE_NO_STATE_CACHE;
    if (e->table_tries == N_TRIES || e->switches & off || e->g->g.has_distinct || e->table) return false;
    u64 visits = e->stats.trie_nodes;
    return visits >= LEAST_VISITS && visits >= TRIES[e->table_tries].walks * (u64)e->v->trie.token.n;
}

void mk_try_table(ge_engine *e) {
    if (!is_worth(e)) return;
    id_vec byte_state_of = {0}, state_of = {0};
    ba_automaton a = {0};
    budget b;
    budget_init(&b, &e->b.limits);
    ba_bounds bounds = {TRIES[e->table_tries++].states, MAX_STEPS};
    ge_dfa *table = ba_build(&a, &b, e, bounds, &byte_state_of) ? td_make(&b, &a, e->v, &state_of) : NULL;
    if (table) {
        use_table(e, table);
        for (u32 config = 0; config < byte_state_of.n; config++)
            if (byte_state_of.at[config] != NONE) set_label(e, config, state_of.at[byte_state_of.at[config]]);
        ge_dfa_free(table);
        e->stats.tables++;
    }
    budget_begin(&e->b); /* not to have one is no failure */
    vec_drop(&b, &byte_state_of);
    vec_drop(&b, &state_of);
    ba_drop(&a, &b);
}
