/* Heirs: the mask of a configuration by its difference from that of another one.
 *
 * After `{"n` nearly every byte leads to the state of any other key, whose mask is known, and by most bytes both lead to the same place. So
 * the mask is the other one's but for the parts of the vocabulary in which they differ. An heir is *plain* if any plain text leaves both
 * alive: then they differ only in the tokens that are not plain.
 *
 * Units that are met again and again are worth an analysis, if it helps; those of one place in one grammar are not. Where there is a plain
 * heir it is not even asked whether they are known: a key beside a hundred named ones is hashed name by name.
 *
 * The mask of an heir is made without heirs. If it is made from that of a wider configuration (mk.c), white space may lead from there back
 * to the heir: to the row as it is in the grammar, with the bounds that the wider one is without. Each would wait for the other. */
#include "mk_make.h"

/* An heir that differs behind bytes with more than one in so many nodes of the vocabulary is taken only if units cannot be analysed. */
enum { CLOSE = 16 };

/* *heir = the configuration to which the larger part of what `config` can read leads by a first byte of ASCII, if by most bytes both go to
 * the same place; or NONE. *close: they go there by nearly all. By the vote of Boyer and Moore (1991), bytes weighted by what of the
 * vocabulary begins with them. (Other bytes only begin a character.) */
static bool find_heir(ge_engine *e, u32 config, u32 *heir, bool *close) {
    const rx_arena *x = &e->lx.x;
    byte_set first, differ;
    u64 lead = 0, alike = 0, total = 0;
    *heir = NONE;
    if (!cf_first(e, config, &first)) return false;
    for (u32 c = 0; c < x->n_classes; c++) {
        if (!e->mk.class_weight[c] || x->class_byte[c] >= 0x80 || !set_has(&first, x->class_byte[c])) continue;
        u32 to = cf_step(e, config, c);
        if (to == NONE) return false;
        if (to == CF_DEAD) continue;
        if (to == *heir) lead += e->mk.class_weight[c];
        else if (lead >= e->mk.class_weight[c]) lead -= e->mk.class_weight[c];
        else lead = e->mk.class_weight[c] - lead, *heir = to;
    }
    if (*heir == NONE) return true;
    if (!cf_differ(e, config, *heir, &differ)) return false;
    for (u32 c = 0; c < x->n_classes; c++) {
        if (!e->mk.class_weight[c]) continue;
        total += e->mk.class_weight[c];
        if (set_has(&differ, x->class_byte[c])) {
            u32 to = cf_step(e, config, c), other = cf_step(e, *heir, c);
            if (to == NONE || other == NONE) return false;
            if (to != other) continue;
        }
        alike += e->mk.class_weight[c];
    }
    if (2 * alike <= total) *heir = NONE;
    *close = CLOSE * (total - alike) <= total;
    return true;
}

/* Whether any plain text leaves the configuration alive. */
static bool absorbs_plain(const ge_engine *e, u32 config) {
    for (u32 i = 0; i < cf_count(e, config); i++)
        if (mk_cut_by_structure(e, cf_alternative_at(e, config, i).state >> 1).bits == e->v->slices[VB_PLAIN].bits) return true;
    return false;
}

/* *heir = the configuration to which the plain characters lead that are told apart least, if it
 * stays there and any plain text leaves both alive; or NONE. All plain tokens are alike, then. */
static bool find_plain_heir(ge_engine *e, u32 config, u32 *heir) {
    *heir = NONE;
    if (e->switches & GE_NO_SLICES || !absorbs_plain(e, config)) return true;
    u32 to = cf_step(e, config, e->mk.plain_class), next = to == NONE ? NONE : cf_step(e, to, e->mk.plain_class);
    if (next == to && to != CF_DEAD && next != NONE && absorbs_plain(e, to)) *heir = to;
    return next != NONE;
}

bool mk_are_new(ge_engine *e, const mk_parts_vec *parts, u32 weight, bool *answer) {
    *answer = false;
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n; k++) {
            u32 unit = parts->at[i].unit[k], seen;
            bool refused = false;
            if (!mk_count_unit(e, unit, weight, &seen) || (seen >= MK_OFTEN && !mk_is_refused(e, unit, &refused))) return false;
            *answer |= seen < MK_OFTEN || refused;
        }
    return true;
}

/* *enough: are the lexeme-internal masks of all units known, or made now?
 * Or some that have all plain tokens, so that few are left to be walked? */
static bool are_enough_known(ge_engine *e, const mk_parts_vec *parts, bool *enough) {
    bool all = !(e->switches & GE_NO_INNER_MASKS), any_plain = false;
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n && all; k++) {
            bool plain;
            if (!mk_has_plain(e, parts->at[i].unit[k], &all, &plain)) return false;
            any_plain |= plain;
        }
    *enough = all || (any_plain && !(e->switches & GE_NO_SLICES));
    return true;
}

/* As mk_by_heir. `heir`: the plain one; NONE: there is none, and it is looked for. *done = false: it has none that is its own heir, or one
 * that is not close while the units can be analysed. (Where heirs go on and on, as while characters are counted, the two differ
 * everywhere.) */
static bool by_difference(ge_engine *e, u32 config, const mk_parts_vec *parts, u32 heir, bool *done) {
    const tt_trie *trie = &e->v->slices[VB_PLAIN].rest;
    u32 next;
    bool close = true, enough = false, ignored;
    *done = false;
    if (heir == NONE) {
        trie = &e->v->trie;
        if (!find_heir(e, config, &heir, &close)) return false;
        if (heir == NONE || heir == config) return true;
        if (!find_heir(e, heir, &next, &ignored)) return false;
        if (next != heir) return true;
        if (!close && !are_enough_known(e, parts, &enough)) return false;
        if (enough) return true;
    }
    if (heir == config) return true;
    e->mk.for_heir = true;
    bool ok = mk_load_or_build(e, heir);
    e->mk.for_heir = false;
    if (!ok) return false;
    e->mk.at_hubs.n = 0;
    e->stats.heirs++;
    return *done = mk_walk_difference(e, trie, 0, config, heir, &e->mk.found);
}

/* *answer: below a hub where a configuration differs from its heir, some unit is one of many along a counted text. It has no
 * lexeme-internal mask there (mk_inner.c), and a walk may go through half the vocabulary. */
static bool are_counted_below(ge_engine *e, bool *answer) {
    mk_parts_vec parts = {0};
    bool wide, ok = true;
    *answer = false;
    for (u32 i = 0; ok && i < e->mk.at_hubs.n; i++)
        ok = mk_split_all(e, e->mk.at_hubs.at[i].config, e->mk.at_hubs.at[i].node, &parts, &wide);
    for (u32 i = 0; ok && i < parts.n; i++)
        for (u32 k = 0; ok && k < parts.at[i].n; k++) {
            u32 unit = parts.at[i].unit[k], clamped = mk_clamp(e, unit, e->v->tiers[VB_TIERS - 1].bytes + 1);
            ok = clamped != NONE;
            *answer |= clamped != unit;
        }
    vec_drop(&e->b, &parts);
    return ok;
}

/* Is the way of the heir, which has been gone so far, to be given up, since that is so,
 * and the units can be analysed? Clamped, that serves all places along the counted text. */
static bool is_better_analysed(ge_engine *e, const mk_parts_vec *parts, bool *answer) {
    *answer = false;
    if (e->switches & GE_NO_CLAMPING || !e->mk.at_hubs.n) return true;
    if (!are_counted_below(e, answer) || (*answer && !mk_are_known(e, parts, true, answer))) return false;
    if (*answer) e->mk.at_hubs.n = 0;
    return true;
}

/* *answer: is some unit a counted text that is analysed as an open one? It needs no heir. */
static bool are_opened(ge_engine *e, const mk_parts_vec *parts, bool *answer) {
    *answer = false;
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n && !*answer; k++)
            if (!mk_is_opened(e, parts->at[i].unit[k], answer)) return false;
    return true;
}

bool mk_by_heir(ge_engine *e, u32 config, const mk_parts_vec *parts, bool *done) {
    bool opened, known = false, new = false, better = false;
    u32 heir;
    *done = false;
    if (e->switches & GE_NO_HEIRS || e->g->g.has_distinct || e->mk.for_heir) return true;
    if (!are_opened(e, parts, &opened)) return false;
    if (opened) return true;
    if (!find_plain_heir(e, config, &heir)) return false;
    if ((heir == NONE || heir == config) && !mk_are_known(e, parts, false, &known)) return false;
    if (!known && !mk_are_new(e, parts, 1, &new)) return false;
    if (!new) return true;
    if (!by_difference(e, config, parts, heir, done) || (*done && !is_better_analysed(e, parts, &better))) return false;
    *done &= !better;
    return true;
}
