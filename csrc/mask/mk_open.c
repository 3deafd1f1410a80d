/* Slices below quotation marks and blanks (vocab/vb_open.c): what a string may
 * begin with that is opened within a token, after `:` or `[` say, and white space.
 *
 * A walk that comes to such a mark in a configuration that any plain text leaves alive does not go on there, but notes the place. Later all
 * tokens whose rests are plain are taken as a whole, and the others are walked from that configuration by their rests. So the states of a
 * string, its escapes and characters beyond ASCII, need not be made to see that it can begin. The same where it comes to a blank in a
 * configuration that blanks leave what it is: that is so wherever a grammar admits white space of any length. */
#include "mk.h"

/* Does any plain text of so many characters leave the configuration alive? Errs
 * towards no. A lazy lexeme dies at its first match: not as its regex does. */
static bool absorbs_chars(const ge_engine *e, u32 config, u32 chars) {
    const lx_lexer *l = &e->lx;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        const u32 *pairs = intern_words(&l->states, state);
        for (u32 k = 0; k < lx_count(l, state); k++) {
            bool lazy = l->lexemes.at[pairs[2 * k]].flags & LX_LAZY;
            if (!lazy && rx_absorbs_plain(&l->x, pairs[2 * k + 1], chars)) return true;
        }
    }
    return false;
}

/* *answer: do blanks leave the configuration what it is? Then all that may come after one may come after many. (Not where a lexeme has
 * ended, in an outline: a row reads on from there, and what it reads by the second blank is not what it reads by the first.) */
static bool loops_by_blanks(ge_engine *e, u32 config, bool *answer) {
    *answer = !cf_at(e, config)->unsure && !cf_at(e, config)->ends;
    for (u32 k = 0; k < VB_BLANKS && *answer; k++) {
        u32 to = cf_step(e, config, e->lx.x.class_of[vb_blanks[k]]);
        if (to == NONE) return false;
        *answer = to == config;
    }
    return true;
}

bool mk_stop_at_opening(ge_engine *e, u32 node, u32 config, bool *stopped) {
    *stopped = false;
    if (e->switches & GE_NO_SLICES) return true;
    for (u32 k = 0; k < e->v->n_openings; k++) {
        const vb_opening *opening = &e->v->openings[k];
        if (opening->node != node) continue;
        if (!opening->blank) *stopped = !e->g->longest && !e->g->g.has_distinct && absorbs_chars(e, config, opening->chars);
        else if (!loops_by_blanks(e, config, stopped)) return false;
        return !*stopped || vec_push(&e->b, &e->mk.at_openings, ((mk_place){k, config}));
    }
    return true;
}

bool mk_add_opening(ge_engine *e, const vb_opening *opening, mk_found *found) {
    e->stats.slice_hits++;
    return mk_add_listed(e, found, opening->plain.at, opening->plain.n);
}
