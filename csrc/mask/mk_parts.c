/* A mask by its parts: units by their lexeme-internal masks, slices or walks; the rest by outlines or walks.
 *
 * Units that are known go first, so that the analysis of others may be put off. */
#include "mk_make.h"

enum { PUT_OFF = 8 /* times that a unit is not analysed where all plain tokens have been found */ };

/* Have all plain tokens been found? */
static bool has_all_plain(const ge_engine *e) {
    const mk_found *found = &e->mk.found;
    const u32 *plain = e->v->slices[VB_PLAIN].bits, *bits = found->listed ? (found->base ? found->base->bits : NULL) : found->bits;
    for (u32 i = 0; bits && i < e->v->n_words; i++)
        if (plain[i] & ~bits[i]) return false;
    return bits != NULL;
}

bool mk_count_unit(ge_engine *e, u32 unit, u32 weight, u32 *before) {
    while (e->mk.unit_seen.n <= unit)
        if (!vec_push(&e->b, &e->mk.unit_seen, 0)) return false;
    *before = e->mk.unit_seen.at[unit];
    e->mk.unit_seen.at[unit] = (u8)min_u32(*before + weight, MK_OFTEN);
    return true;
}

/* Is the analysis of a unit to be put off? It is, if all plain tokens have been found by other units, so that few are left to walk: always
 * if an analysis was made for this mask already, else a few times. Patterns that are not anchored, and overlap, make such units of keys:
 * each is a long analysis, and some unit reads any key. One that cannot be analysed is always put off. */
static bool is_put_off(ge_engine *e, u32 unit, u32 hub, bool *answer) {
    bool known, refused = false;
    u32 seen = 0;
    *answer = false;
    if (hub || e->switches & GE_NO_SLICES || !has_all_plain(e)) return true;
    if (!mk_is_known(e, unit, hub, false, &known) || (!known && !mk_is_refused(e, unit, &refused))) return false;
    if (refused) return *answer = true;
    if (!known && !e->mk.analysed && !mk_count_unit(e, unit, MK_OFTEN / PUT_OFF, &seen)) return false;
    *answer = !known && seen < MK_OFTEN;
    return true;
}

/* The tokens below a hub that an alternative can read in a unit of its state. */
static bool add_unit(ge_engine *e, cf_alternative a, u32 unit, u32 hub) {
    bool done = false, put_off = false;
    a.state = 2 * unit;
    if (!(e->switches & GE_NO_INNER_MASKS) && !is_put_off(e, unit, hub, &put_off)) return false;
    if (put_off) return mk_add(e, &e->v->slices[VB_PLAIN].rest, 0, a, NULL, &e->mk.found);
    if (!(e->switches & GE_NO_INNER_MASKS) && !mk_by_inner(e, a, hub, &e->mk.found, &done)) return false;
    if (done) return true;
    vb_cut cut;
    const vb_own *own = NULL;
    if (!mk_cut(e, unit, hub, &cut, NULL) || (!cut.bits && !mk_find_own(e, unit, hub, NONE, &own))) return false;
    if (own) return mk_add_by_own(e, a, hub, own, &e->mk.found);
    if (cut.bits) {
        e->stats.slice_hits++;
        mk_add_bits(e, &e->mk.found, cut.bits);
    }
    bool left_much;
    if (!mk_is_left_much(e, unit, &left_much)) return false;
    if (!left_much) return mk_add(e, cut.rest, e->v->hubs[hub].node, a, NULL, &e->mk.found);
    u32 config = cf_single(e, a); /* an outline would have all the places at which it is left */
    return config != NONE && mk_walk(e, cut.rest, e->v->hubs[hub].node, config, &e->mk.found);
}

/* The tokens below a hub that an alternative can read. */
static bool add_parts(ge_engine *e, cf_alternative a, const mk_parts *parts, u32 hub) {
    bool known[MK_UNITS] = {false}; /* these first, so that others may be put off */
    for (u32 i = 0; i < parts->n && parts->n > 1 && !(e->switches & GE_NO_INNER_MASKS); i++)
        if (!mk_is_known(e, parts->unit[i], hub, false, &known[i])) return false;
    for (u32 i = 0; i < 2 * parts->n; i++) {
        u32 k = i % parts->n;
        if (known[k] == (i < parts->n) && !add_unit(e, a, parts->unit[k], hub)) return false;
    }
    if (parts->rest == LX_DEAD) return true;
    a.state = 2 * parts->rest;
    return mk_add(e, &e->v->trie, e->v->hubs[hub].node, a, NULL, &e->mk.found);
}

bool mk_split_all(ge_engine *e, u32 config, u32 hub, mk_parts_vec *parts, bool *wide) {
    u32 n = cf_count(e, config);
    *wide = false;
    if (n > 1 && e->g->longest) return true; /* the alternatives depend on each other */
    for (u32 i = 0; i < n; i++) {
        mk_parts of;
        if (!mk_split(e, cf_alternative_at(e, config, i).state >> 1, hub, &of) || !vec_push(&e->b, parts, of)) return false;
        *wide |= of.n > 0;
    }
    return true;
}

bool mk_are_known(ge_engine *e, const mk_parts_vec *parts, bool make, bool *known) {
    *known = !(e->switches & GE_NO_INNER_MASKS);
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n && *known; k++)
            if (!mk_is_known(e, parts->at[i].unit[k], 0, make, known)) return false;
    return true;
}

bool mk_add_split(ge_engine *e, u32 config, u32 hub, const mk_parts_vec *parts, bool wide) {
    if (!wide && !mk_has_outlines(e))
        return hub ? mk_walk(e, &e->v->trie, e->v->hubs[hub].node, config, &e->mk.found) : mk_walk_shared(e, config, &e->mk.found);
    for (u32 i = 0; i < parts->n; i++)
        if (!add_parts(e, cf_alternative_at(e, config, i), &parts->at[i], hub)) return false;
    return true;
}
