/* Masks where names with bounds are barred (regex/names/rx_name.c): what is to be no host name, say.
 *
 * What was read of a label tells configurations apart, so nearly each token would lead to one of its own. But whether a text is a name
 * within its bounds is mostly asked only where the string ends. So the mask lies between those of two configurations, which recur:
 *
 *     less      names of any length are barred     what it reads, the configuration does, too
 *     more      no names are barred, and others    what the configuration reads, it does, too
 *               have any length
 *
 * and the tokens between them are read from the configuration itself: those behind which the string
 * has ended, and was a name but for its length. Beside other conditions there may be more of them.
 *
 * Not with `longest`, where what is read is not the less for less that matches. */
#include "../regex/names/rx_unbound.h"
#include "mk.h"

static rx_id less_of(rx_arena *x, rx_id id) { return rx_change_names(x, id, BARRED_UNBOUND); }
static rx_id more_of(rx_arena *x, rx_id id) { return rx_change_names(x, rx_unbound(x, id), BARRED_NONE); }

bool mk_bars(ge_engine *e, u32 config, u32 *less, u32 *more) {
    *less = *more = config;
    if (!e->lx.x.has_name || e->g->longest || e->g->g.has_distinct || e->switches & GE_NO_CLAMPING) return true;
    return mk_change(e, config, less_of, less) && (*less == config || mk_change(e, config, more_of, more));
}

bool mk_add_between(ge_engine *e, u32 config, const u32 *more) {
    for (u32 i = 0; i < e->v->n_words; i++)
        for (u32 left = more[i] & ~e->mk.found.bits[i]; left; left &= left - 1) {
            u32 token = 32 * i + (u32)__builtin_ctz(left), n = e->v->offsets[token + 1] - e->v->offsets[token];
            bool reads = false;
            if (n && !mk_reads(e, config, e->v->text + e->v->offsets[token], n, &reads)) return false;
            if (reads) e->mk.found.bits[i] |= left & -left;
        }
    return true;
}
