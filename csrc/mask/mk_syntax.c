/* Masks within regular expressions as texts (regex/syntax/rx_syntax.h): from the mask of a looser configuration.
 *
 * How many groups there are, which names, and with which character a range begins: that tells configurations apart, in a name nearly each
 * token. Only few tokens depend on it. So the vocabulary is read from a configuration without it (rx_loosen), which recurs and has a mask
 * that is kept with the vocabulary; that allows all that may be allowed. Of those tokens the ones that may differ (rx_loose_differs) are
 * read from the configuration itself: where they hold the end of the string or of a name, or a range.
 *
 * What is to be no regular expression is any text in a loose configuration: only the end of the string tells. Beside a bound on the length
 * that is near, the loose configuration keeps it, and only a pattern that owes nothing has one, and tokens are read that may owe something;
 * beside one that is far away, it is left out, and tokens that are long are read, too. */
#include "mk.h"

bool mk_loosen(ge_engine *e, u32 config, u32 *loose) {
    *loose = config;
    if (!e->lx.x.has_syntax || e->g->longest || e->g->g.has_distinct || e->switches & GE_NO_CLAMPING) return true;
    return mk_change(e, config, rx_loosen, loose);
}

typedef VEC(rx_loose) loose_vec;

/* Where the expressions of a configuration stand that rx_loosen changes. */
static bool collect_loose(ge_engine *e, u32 config, loose_vec *out) {
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state); k++) {
            rx_id expr = lx_rest_at(&e->lx, state, k);
            if (rx_loosen(&e->lx.x, expr) != expr && !vec_push(&e->b, out, rx_loose_of(&e->lx.x, expr))) return false;
        }
    }
    return e->b.status == GE_OK;
}

/* The tokens that may differ somewhere, first those that may do so without lengths. Collected once. */
static bool find_marked(ge_engine *e) {
    rx_loose anywhere = {.in_class = true, .in_group = true, .in_escape = true}, in_lengths = anywhere;
    id_vec others = {0};
    bool ok = true;
    in_lengths.has_length = in_lengths.is_far = true;
    for (u32 token = 0; ok && token < e->v->n_tokens; token++) {
        const u8 *at = e->v->text + e->v->offsets[token];
        u32 n = e->v->offsets[token + 1] - e->v->offsets[token];
        if (!rx_loose_differs(in_lengths, at, n)) continue;
        ok = vec_push(&e->b, rx_loose_differs(anywhere, at, n) ? &e->mk.marked : &others, token);
    }
    e->mk.n_marked = e->mk.marked.n;
    for (u32 i = 0; ok && i < others.n; i++) ok = vec_push(&e->b, &e->mk.marked, others.at[i]);
    vec_drop(&e->b, &others);
    if (!ok) e->mk.marked.n = 0;
    return e->mk.has_marked = ok;
}

bool mk_keep_exact(ge_engine *e, u32 config, bool *all) {
    loose_vec places = {0};
    bool ok = (e->mk.has_marked || find_marked(e)) && collect_loose(e, config, &places), has_length = false, reads;
    *all = true;
    for (u32 k = 0; k < places.n; k++) has_length |= places.at[k].has_length;
    for (u32 i = 0; ok && i < (has_length ? e->mk.marked.n : e->mk.n_marked); i++) {
        u32 token = e->mk.marked.at[i], n = e->v->offsets[token + 1] - e->v->offsets[token];
        const u8 *at = e->v->text + e->v->offsets[token];
        bool differs = false;
        if (!(e->mk.found.bits[token >> 5] >> (token & 31) & 1)) continue;
        for (u32 k = 0; k < places.n && !differs; k++) differs = rx_loose_differs(places.at[k], at, n);
        if (!differs) continue;
        ok = mk_reads(e, config, at, n, &reads);
        if (!ok || reads) continue;
        e->mk.found.bits[token >> 5] &= ~((u32)1 << (token & 31));
        *all = false;
    }
    vec_drop(&e->b, &places);
    return ok;
}
