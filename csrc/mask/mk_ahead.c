/* Masks that are made before they are asked for.
 *
 * Where a text is one lexeme, as under a regular expression or a list of choices, mostly few tokens are allowed: a mask takes a microsecond
 * or ten. But a text comes to a new one at nearly each token, and the next grammar has others. So an engine, when the first matcher is made
 * over it, makes as many masks as mostly take a tenth of a millisecond or two, those first to which the fewest bytes lead: all of a date, a
 * time, an IPv4 address, most of a UUID, and the one with which each text begins. As long as few tokens are allowed it goes on to twice as
 * much: a telephone number. That is when a prompt is still to be read, and takes little more than the masks that a text would ask for.
 *
 * Only bytes of ASCII are followed: a text is hardly ever between the bytes of another character when its next token is asked for.
 *
 * Nothing of that can fail. What is not made is made when it is asked for, and what goes wrong is then told. */
#include "mk.h"

enum {
    AHEAD_WORK = 15500, /* nodes visited; and these count as so many: */
    PER_DERIVATIVE = 30,
    PER_STATE = 30,
    FEW_WORK = 36000,   /* the same in all, as long as few tokens are allowed; then a mask that is kept counts, too: */
    PER_MASK = 40,
    MASK_WORK = 1000,   /* steps of work for one mask; the first may take more */
    SHARE = 16          /* of what each limit allows, no more than one in so many is taken */
};

static u64 work_of(const ge_engine *e) {
    return e->stats.trie_nodes + PER_DERIVATIVE * e->lx.x.derivatives + PER_STATE * (u64)intern_count(&e->lx.states);
}

static ge_limits part_of_limits(ge_limits limits) {
    limits.max_expressions /= SHARE;
    limits.max_lexer_states /= SHARE;
    limits.max_configurations /= SHARE;
    limits.max_rows /= SHARE;
    limits.max_memory_bytes /= SHARE;
    limits.max_step_work /= SHARE;
    return limits;
}

/* Adds the configurations to which a byte of ASCII leads, each once. */
static bool queue_next(ge_engine *e, u32 config, id_vec *queue, id_vec *seen) {
    byte_set first;
    u32 last = NONE;
    if (!cf_first(e, config, &first)) return false;
    for (u32 k = 0; k < 4; k++) {
        for (u32 left = first.w[k]; left; left &= left - 1) {
            u32 byte_class = e->lx.x.class_of[32 * k + (u32)__builtin_ctz(left)], to;
            if (byte_class == last) continue;
            last = byte_class;
            if ((to = cf_step(e, config, byte_class)) == NONE || !vec_reach(&e->b, seen, to)) return false;
            if (to == CF_DEAD || seen->at[to] != NONE) continue;
            seen->at[to] = 0;
            if (!vec_push(&e->b, queue, to)) return false;
        }
    }
    return true;
}

/* Has that been enough? After a mask that is a list, as of choices and of digits, the next ones take a microsecond each. */
static bool is_enough(ge_engine *e, u32 config) {
    u64 work = work_of(e), few_work = work + PER_MASK * e->stats.mask_builds;
    return work >= AHEAD_WORK && (few_work >= FEW_WORK || !mk_load(e, config, &e->mk.found) || !e->mk.found.listed || e->mk.found.base);
}

/* Makes masks, until there are none that are near, or one would take too much. */
static bool make_near_masks(ge_engine *e, id_vec *queue, id_vec *seen) {
    u64 most = MASK_WORK < e->b.limits.max_step_work ? MASK_WORK : e->b.limits.max_step_work;
    bool ok = vec_reach(&e->b, seen, CF_START) && vec_push(&e->b, queue, CF_START);
    if (ok) seen->at[CF_START] = 0;
    for (u32 i = 0; ok && i < queue->n && (i == 0 || !is_enough(e, queue->at[i - 1])); i++) {
        if (e->mk.mask_bytes >= e->b.limits.max_mask_bytes / SHARE || e->b.bytes >= e->b.limits.max_generation_bytes / SHARE) return true;
        e->b.work = 0; /* the limit is on each mask */
        ok = mk_build(e, queue->at[i]) && queue_next(e, queue->at[i], queue, seen);
        e->b.limits.max_step_work = most;
    }
    return ok;
}

void mk_go_ahead(ge_engine *e) {
    const u32 off = GE_NO_AHEAD | GE_NO_MASK_CACHE | GE_NO_STATE_CACHE;
    id_vec queue = {0}, seen = {0}; /* by configuration: 0, or NONE */
    if (e->switches & off || !e->is_one_lexeme || atomic_load(&e->table) || atomic_exchange(&e->went_ahead, true)) return;
    ge_err ignored;
    en_begin(e);
    ge_limits limits = e->b.limits;
    e->b.limits = part_of_limits(limits);
    (void)make_near_masks(e, &queue, &seen);
    e->b.limits = limits;
    vec_drop(&e->b, &queue);
    vec_drop(&e->b, &seen);
    budget_begin(&e->b);
    (void)en_end(e, &ignored);
}
