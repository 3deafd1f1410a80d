/* Masks with lexing="longest".
 *
 * What is nested under the first alternative counts where that has no longer match, so it is found first, and the first goes on top of it.
 * Of units only the *core* is analysed (mk_unit.c): the mask is that of the configuration without the other lexemes, but for where these
 * make a difference. Key words that begin as names do make a unit of each place; its core is the name, and the two differ only along the
 * key words. Where the difference is a large one, the unit is analysed after all. */
#include "mk_make.h"

enum {
    MOST_APART = 8192, /* nodes: where a configuration and its core differ in more, its units are analysed */
    NESTED = 8         /* alternatives: more are walked together */
};

/* *answer: are the lexeme-internal masks of all units below a hub known that have several lexemes? */
static bool are_mixtures_known(ge_engine *e, const mk_parts *parts, u32 hub, bool *answer) {
    *answer = true;
    for (u32 i = 0; i < parts->n && *answer; i++)
        if (lx_count(&e->lx, parts->unit[i]) > 1 && !mk_is_known(e, parts->unit[i], hub, false, answer)) return false;
    return true;
}

bool mk_find_core(ge_engine *e, u32 config, u32 hub, const mk_parts *parts, u32 *core) {
    u32 state = cf_alternative_at(e, config, 0).state >> 1, states[NESTED], n = cf_count(e, config);
    bool known;
    *core = config;
    if (e->switches & (GE_NO_HEIRS | GE_NO_INNER_MASKS) || e->mk.without_cores || lx_count(&e->lx, state) == 1) return true;
    if (state < e->mk.far_cores.n && e->mk.far_cores.at[state] != NONE) return true;
    if (!are_mixtures_known(e, parts, hub, &known)) return false;
    if (known) return true;
    assert(n <= NESTED); /* else they are walked together */
    for (u32 i = 1; i < n; i++) states[i] = cf_alternative_at(e, config, i).state >> 1;
    if ((states[0] = mk_core(e, state, hub, parts->rest)) == NONE) return false;
    if (states[0] == state) return true;
    e->mk.tried_core = true;
    return (*core = cf_with_states(e, config, states)) != NONE;
}

bool mk_differ_from_core(ge_engine *e, u32 config, u32 core, u32 hub) {
    u32 state = cf_alternative_at(e, config, 0).state >> 1;
    bool far;
    e->stats.heirs++;
    if (!mk_walk_near(e, e->v->hubs[hub].node, config, core, MOST_APART, &e->mk.found, &far)) return false;
    if (!far) return true;
    if (vec_reach(&e->b, &e->mk.far_cores, state)) e->mk.far_cores.at[state] = 1;
    return false;
}

bool mk_find_nested(ge_engine *e, u32 config, u32 *nested) {
    *nested = CF_DEAD;
    u32 n = cf_count(e, config);
    if (!e->g->longest || n == 1 || n > NESTED || e->switches & GE_NO_HEIRS) return true;
    return (*nested = cf_nested(e, config)) != NONE;
}

bool mk_put_on_top(ge_engine *e, u32 config, u32 nested, u32 hub) {
    mk_parts parts;
    bool done = false;
    u32 core = config, from = e->mk.at_hubs.n, state = cf_alternative_at(e, config, 0).state >> 1;
    mk_parts whole = {.unit = {state}, .n = 1, .rest = LX_DEAD}; /* on top of another mask it is one unit */
    if (!mk_split(e, state, hub, &parts) || (parts.n && !mk_find_core(e, config, hub, &whole, &core))) return false;
    if (core != config) return mk_put_on_top(e, core, nested, hub) && mk_add_hubs(e, from) && mk_differ_from_core(e, config, core, hub);
    if (parts.n && !(e->switches & GE_NO_INNER_MASKS) && !mk_over_nested(e, config, hub, &e->mk.found, &done)) return false;
    return done || mk_walk_difference(e, &e->v->trie, e->v->hubs[hub].node, config, nested, &e->mk.found);
}
