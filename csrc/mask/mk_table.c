/* mk_table: an engine with a token automaton (dfa/td.h) of its grammar and vocabulary takes masks from there.
 *
 * A configuration that has a *label*, a state of the automaton, has that state's mask. The start has one, and it is passed on: if a token
 * leads from a labelled configuration to another one, then that one's label is where the automaton goes with it. Both automata are exact
 * and the configuration is all that the future depends on, so whichever way leads to a configuration, its label is the same.
 *
 * A matcher brings an automaton (TokenDFA), and takes it along when it moves to the engine of another generation. Or an engine makes its
 * own, when so many texts have begun that it seems to serve a pattern again and again, and all of them have led to few configurations: then
 * it tries to close these. With the table it grows no more, whatever the texts are, and no mask has to be walked for. That is done when a
 * matcher is made, never between tokens, and tried once: a grammar that has more states, or is not regular, is left as it is. */
#include "../dfa/td.h"
#include "mk.h"

enum {
    TABLE_TEXTS = 16,       /* it is tried when so many matchers have been made */
    TABLE_STATES = 512,     /* configurations; mostly a table takes 0.1 to 10 ms, over 200,000 tokens up to 20 */
    TABLE_STEPS = 4096,     /* transitions computed: those of a grammar that is not regular do not end */
    TABLE_WORK = 5000,      /* derivatives, and two items each, besides the usual dozen of a transition (dfa/ba.c) */
    /* of a table, and of what it is made from, each; what takes time takes memory, too: an attempt in vain takes up to 8 ms */
    TABLE_BYTES = 8 << 20,
    TABLE_SHARE = 8         /* nor more than one in so many bytes of what limits leave */
};

static void set_label(ge_engine *e, u32 config, u32 state) {
    if (config > CF_DEAD && state != NONE) atomic_store_explicit(&cf_at(e, config)->label, state, memory_order_relaxed);
}

/* Its masks have the tokens that end texts, which are no text; those of an engine have not. */
bool mk_by_table(ge_engine *e, u32 config, u32 *out) {
    bool ignored;
    const ge_dfa *table = atomic_load_explicit(&e->table, memory_order_acquire);
    u32 state = table ? atomic_load_explicit(&cf_at(e, config)->label, memory_order_relaxed) : NONE;
    if (state == NONE) return false;
    td_fill(table, state, out, &ignored);
    for (u32 i = 0; i < table->n_eos; i++) out[table->eos[i] >> 5] &= ~((u32)1 << (table->eos[i] & 31));
    return true;
}

void mk_go_by_table(ge_engine *e, const ge_dfa *table, u32 from, u64 token, u32 to) {
    /* mostly: where the engine has made the table, always */
    if (atomic_load_explicit(&cf_at(e, to)->label, memory_order_relaxed) != NONE) return;
    u32 state = atomic_load_explicit(&cf_at(e, from)->label, memory_order_relaxed);
    if (state != NONE) set_label(e, to, td_next(table, state, token));
}

/* With the lock held. The first one stays. */
static void use_table(ge_engine *e, ge_dfa *table) {
    if (atomic_load(&e->table) || !table->exact || cf_has_values(e)) return; /* then a configuration is not met again */
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

static bool is_small(const ge_engine *e) {
    const u32 off = GE_NO_TABLE | GE_NO_MASK_CACHE | GE_NO_STATE_CACHE;
    return !(e->switches & off) && !cf_has_values(e) && !e->has_clamped && !e->table && intern_count(&e->configs) <= TABLE_STATES;
}

static void make_table(ge_engine *e) {
    id_vec byte_state_of = {0}, state_of = {0};
    ba_automaton a = {0};
    budget b;
    ge_limits limits = e->b.limits;
    limits.max_memory_bytes -= e->b.bytes;
    budget_init(&b, &limits);
    ge_dfa *table = ba_build(&a, &b, e, (ba_bounds){TABLE_STATES, TABLE_STEPS}, &byte_state_of) ? td_make(&b, &a, e->v, &state_of) : NULL;
    if (table) {
        use_table(e, table);
        e->table_bytes = ge_dfa_bytes(table);
        for (u32 config = 0; config < byte_state_of.n; config++)
            if (byte_state_of.at[config] != NONE) set_label(e, config, state_of.at[byte_state_of.at[config]]);
        ge_dfa_free(table);
        e->stats.tables++;
    }
    vec_drop(&b, &byte_state_of);
    vec_drop(&b, &state_of);
    ba_drop(&a, &b);
}

/* The limits of an attempt: never so much that the generation is full. */
static ge_limits few_of(ge_limits limits, u64 bytes) {
    u64 most = limits.max_memory_bytes < limits.max_generation_bytes ? limits.max_memory_bytes : limits.max_generation_bytes;
    u64 left = most > bytes ? (most - bytes) / TABLE_SHARE : 0;
    limits.max_memory_bytes = bytes + (left < TABLE_BYTES ? left : TABLE_BYTES);
    if (limits.max_configurations > 2 * TABLE_STATES) limits.max_configurations = 2 * TABLE_STATES;
    if (limits.max_step_work > TABLE_WORK) limits.max_step_work = TABLE_WORK;
    return limits;
}

void mk_try_table(ge_engine *e) {
    if (atomic_fetch_add(&e->n_texts, 1) + 1 != TABLE_TEXTS) return;
    ge_err ignored;
    en_begin(e);
    if (is_small(e)) {
        ge_limits limits = e->b.limits;
        e->b.limits = few_of(limits, e->b.bytes);
        make_table(e);
        e->b.limits = limits;
        budget_begin(&e->b); /* not to have one is no failure */
    }
    (void)en_end(e, &ignored);
}
