/* Masks: which tokens a configuration can read.
 *
 * Cold: the trie of the vocabulary is walked with the configuration automaton (mk_walk.c). A configuration that can read much is shortened
 * in one of three ways. Its alternatives are taken apart into units (mk_unit.c); the lexeme-internal mask of a unit is copied and only the
 * tails of the tokens that leave the lexeme are walked (mk_inner.c). Where such a mask is not known yet and most bytes lead to one other
 * configuration, its *heir*, the mask is the heir's but for the parts of the vocabulary in which they differ: of two that any plain text
 * leaves alive, the tokens that are not plain. Where a unit has no lexeme-internal mask, a slice of the vocabulary that it absorbs is copied and
 * only the other tokens are walked.
 *
 * lexing="longest". What is nested under the first alternative counts where that has no longer match, so it is found first. Of units only the core is
 * analysed (mk_unit.c): the mask is that of the configuration without the other lexemes, but for where these make a difference. Where that is a large one,
 * the unit is analysed after all.
 *
 * Names of bounded length (mk_name.c). Their mask is that of the configuration in which they have any length, but for tokens that are too long.
 *
 * Texts. A configuration with texts (en.h) has the mask of its twin, where texts are unknown, but for *suspects*: tokens that end one
 * distinct member and are then, within the next, at a place where the value that was just written might be all that is left. The walk
 * finds them (cf_record.unsure), and each is read from the configuration itself. There are few: a token has to hold the end of one member
 * and the beginning of the next, and leave no choice. */
#include "mk.h"

enum {
    MIN_WORDS = 64, /* of masks: where they are shorter, bits are no more than a list */
    OFTEN = 32,     /* a unit is asked for: then its analysis pays, if there is an heir */
    CHEAP = 200,    /* nodes that are visited to make a mask from that of its heir: one that costs more counts for half of OFTEN */
    CLOSE = 16,     /* an heir that differs behind bytes with more than one in so many nodes of the vocabulary is taken only if units can not be analysed */
    PUT_OFF = 8,    /* times that a unit is not analysed where all plain tokens have been found */
    MOST_APART = 8192, /* nodes: where a configuration and its core differ in more, its units are analysed */
    NESTED = 8      /* alternatives of lexing="longest": more are walked together */
};

/* Have all plain tokens been found? */
static bool has_all_plain(const ge_engine *e) {
    const mk_found *found = &e->found;
    const u32 *plain = e->v->slices[VB_PLAIN].bits, *bits = found->listed ? (found->base ? found->base->bits : NULL) : found->bits;
    for (u32 i = 0; bits && i < e->v->n_words; i++)
        if (plain[i] & ~bits[i]) return false;
    return bits != NULL;
}

/* Counts how often a unit is asked for, up to OFTEN; *before = the count so far. */
static bool count_unit(ge_engine *e, u32 unit, u32 weight, u32 *before) {
    while (e->unit_seen.n <= unit)
        if (!vec_push(&e->b, &e->unit_seen, 0)) return false;
    *before = e->unit_seen.at[unit];
    e->unit_seen.at[unit] = (u8)min_u32(*before + weight, OFTEN);
    return true;
}

/* Is the analysis of a unit to be put off? It is, if all plain tokens have been found by other units, so that few are left to walk: always if an
 * analysis was made for this mask already, else a few times. Patterns that are not anchored, and overlap, make such units of keys: each is a long
 * analysis, and some unit reads any key. */
static bool is_put_off(ge_engine *e, u32 unit, u32 hub, bool *answer) {
    bool known;
    u32 seen = 0;
    *answer = false;
    if (hub || e->switches & GE_NO_SLICES || !has_all_plain(e)) return true;
    if (!mk_is_known(e, unit, hub, false, &known)) return false;
    if (!known && !e->analysed && !count_unit(e, unit, OFTEN / PUT_OFF, &seen)) return false;
    *answer = !known && seen < OFTEN;
    return true;
}

/* The tokens below a hub that an alternative can read in a unit of its state. */
static bool add_unit(ge_engine *e, cf_alternative a, u32 unit, u32 hub) {
    bool done = false, put_off = false;
    a.state = 2 * unit;
    if (!(e->switches & GE_NO_INNER_MASKS) && !is_put_off(e, unit, hub, &put_off)) return false;
    if (put_off) return mk_add(e, &e->v->slices[VB_PLAIN].rest, 0, a, NULL, &e->found);
    if (!(e->switches & GE_NO_INNER_MASKS) && !mk_by_inner(e, a, hub, &e->found, &done)) return false;
    if (done) return true;
    vb_cut cut;
    const vb_own *own = NULL;
    if (!mk_cut(e, unit, hub, &cut, NULL) || (!cut.bits && !mk_find_own(e, unit, hub, NONE, &own))) return false;
    if (own) return mk_add_by_own(e, a, hub, own, &e->found);
    if (cut.bits) {
        e->stats.slice_hits++;
        mk_add_bits(e, &e->found, cut.bits);
    }
    return mk_add(e, cut.rest, e->v->hubs[hub].node, a, NULL, &e->found);
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
    return mk_add(e, &e->v->trie, e->v->hubs[hub].node, a, NULL, &e->found);
}

typedef VEC(mk_parts) parts_vec;

/* The parts of all alternatives; *wide: there are units. */
static bool split(ge_engine *e, u32 config, u32 hub, parts_vec *parts, bool *wide) {
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

/* *known: are the lexeme-internal masks of all units? Those that are not are made if `make` says so, and if they can be. */
static bool are_known(ge_engine *e, const parts_vec *parts, bool make, bool *known) {
    *known = !(e->switches & GE_NO_INNER_MASKS);
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n && *known; k++)
            if (!mk_is_known(e, parts->at[i].unit[k], 0, make, known)) return false;
    return true;
}

/* The tokens below a hub that a configuration can read, by its parts. */
static bool add_split(ge_engine *e, u32 config, u32 hub, const parts_vec *parts, bool wide) {
    if (!wide && !mk_has_outlines(e)) return hub ? mk_walk(e, &e->v->trie, e->v->hubs[hub].node, config, &e->found) : mk_walk_shared(e, config, &e->found);
    for (u32 i = 0; i < parts->n; i++)
        if (!add_parts(e, cf_alternative_at(e, config, i), &parts->at[i], hub)) return false;
    return true;
}

/* *heir = the configuration to which the larger part of what `config` can read leads by a first byte of ASCII, if by most bytes both go to the
 * same place; or NONE. *close: they go there by nearly all. By the vote of Boyer and Moore (1991), bytes weighted by what of the vocabulary begins with
 * them. (Other bytes only begin a character.) */
static bool find_heir(ge_engine *e, u32 config, u32 *heir, bool *close) {
    const rx_arena *x = &e->lx.x;
    byte_set first, differ;
    u64 lead = 0, alike = 0, total = 0;
    *heir = NONE;
    if (!cf_first(e, config, &first)) return false;
    for (u32 c = 0; c < x->n_classes; c++) {
        if (!e->class_weight[c] || x->class_byte[c] >= 0x80 || !set_has(&first, x->class_byte[c])) continue;
        u32 to = cf_step(e, config, c);
        if (to == NONE) return false;
        if (to == CF_DEAD) continue;
        if (to == *heir) lead += e->class_weight[c];
        else if (lead >= e->class_weight[c]) lead -= e->class_weight[c];
        else lead = e->class_weight[c] - lead, *heir = to;
    }
    if (*heir == NONE) return true;
    if (!cf_differ(e, config, *heir, &differ)) return false;
    for (u32 c = 0; c < x->n_classes; c++) {
        if (!e->class_weight[c]) continue;
        total += e->class_weight[c];
        if (set_has(&differ, x->class_byte[c])) {
            u32 to = cf_step(e, config, c), other = cf_step(e, *heir, c);
            if (to == NONE || other == NONE) return false;
            if (to != other) continue;
        }
        alike += e->class_weight[c];
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

/* *heir = the configuration to which the plain characters lead that are told apart least, if it stays there and any plain text leaves both alive;
 * or NONE. All plain tokens are alike, then. */
static bool find_plain_heir(ge_engine *e, u32 config, u32 *heir) {
    *heir = NONE;
    if (e->switches & GE_NO_SLICES || !absorbs_plain(e, config)) return true;
    u32 to = cf_step(e, config, e->plain_class), next = to == NONE ? NONE : cf_step(e, to, e->plain_class);
    if (next == to && to != CF_DEAD && next != NONE && absorbs_plain(e, to)) *heir = to;
    return next != NONE;
}

static bool build(ge_engine *e, u32 config);

/* The mask by its difference from that of an heir, but for what is below hubs. `heir`: the plain one; NONE: there is none, and it is looked for.
 * *done = false: it has none that is its own heir, or one that is not close while the units can be analysed. (Where heirs go on and on, as while
 * characters are counted, the two differ everywhere.) */
static bool compute_by_heir(ge_engine *e, u32 config, const parts_vec *parts, u32 heir, bool *done) {
    const tt_trie *trie = &e->v->slices[VB_PLAIN].rest;
    u32 next;
    bool close = true, known = false, ignored;
    *done = false;
    for (u32 i = 0; i < e->v->n_eos; i++) /* one that is text, too, would not be told from the end of the text */
        if (e->v->offsets[e->v->eos[i]] != e->v->offsets[e->v->eos[i] + 1]) return true;
    if (heir == NONE) {
        trie = &e->v->trie;
        if (!find_heir(e, config, &heir, &close)) return false;
        if (heir == NONE || heir == config) return true;
        if (!find_heir(e, heir, &next, &ignored)) return false;
        if (next != heir) return true;
        if (!close && !are_known(e, parts, true, &known)) return false;
        if (known) return true;
    }
    if (heir == config) return true;
    if (!mk_load(e, heir, &e->found) && !build(e, heir)) return false;
    e->at_hubs.n = 0;
    for (u32 i = 0; i < e->v->n_eos; i++) mk_clear_token(e, &e->found, e->v->eos[i]);
    e->stats.heirs++;
    return *done = mk_walk_difference(e, trie, 0, config, heir, &e->found);
}

/* Has one of the units been asked for only a few times, or turned out to have no lexeme-internal mask? This time counts for `weight`. */
static bool are_new(ge_engine *e, const parts_vec *parts, u32 weight, bool *answer) {
    *answer = false;
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n; k++) {
            u32 unit = parts->at[i].unit[k], seen;
            bool refused = false;
            if (!count_unit(e, unit, weight, &seen) || (seen >= OFTEN && !mk_is_refused(e, unit, &refused))) return false;
            *answer |= seen < OFTEN || refused;
        }
    return true;
}

/* *answer: below a hub where a configuration differs from its heir, some unit is one of many along a counted text. It has no lexeme-internal
 * mask there (mk_inner.c), and a walk may go through half the vocabulary. */
static bool are_counted_below(ge_engine *e, bool *answer) {
    parts_vec parts = {0};
    bool wide, ok = true;
    *answer = false;
    for (u32 i = 0; ok && i < e->at_hubs.n; i++) ok = split(e, e->at_hubs.at[i].config, e->at_hubs.at[i].node, &parts, &wide);
    for (u32 i = 0; ok && i < parts.n; i++)
        for (u32 k = 0; ok && k < parts.at[i].n; k++) {
            u32 unit = parts.at[i].unit[k], clamped = mk_clamp(e, unit, e->v->tiers[VB_TIERS - 1].bytes + 1);
            ok = clamped != NONE;
            *answer |= clamped != unit;
        }
    vec_drop(&e->b, &parts);
    return ok;
}

/* Is the way of the heir, which has been gone so far, to be given up, since that is so, and the units can be analysed? Clamped, that serves all
 * places along the counted text. */
static bool is_better_analysed(ge_engine *e, const parts_vec *parts, bool *answer) {
    *answer = false;
    if (e->switches & GE_NO_CLAMPING || !e->at_hubs.n) return true;
    if (!are_counted_below(e, answer) || (*answer && !are_known(e, parts, true, answer))) return false;
    if (*answer) e->at_hubs.n = 0;
    return true;
}

/* *answer: is some unit a counted text that is analysed as an open one? It needs no heir. */
static bool are_opened(ge_engine *e, const parts_vec *parts, bool *answer) {
    *answer = false;
    for (u32 i = 0; i < parts->n; i++)
        for (u32 k = 0; k < parts->at[i].n && !*answer; k++)
            if (!mk_is_opened(e, parts->at[i].unit[k], answer)) return false;
    return true;
}

/* *answer: are the lexeme-internal masks of all units below a hub known that have several lexemes? */
static bool are_mixtures_known(ge_engine *e, const mk_parts *parts, u32 hub, bool *answer) {
    *answer = true;
    for (u32 i = 0; i < parts->n && *answer; i++)
        if (lx_count(&e->lx, parts->unit[i]) > 1 && !mk_is_known(e, parts->unit[i], hub, false, answer)) return false;
    return true;
}

/* lexing="longest": *core = the configuration without the lexemes of its first alternative that read little, but for those of `parts->rest`; or itself.
 * Key words that begin as names do make a unit of each place; its core is the name, and the two differ only along the key words. */
static bool find_core(ge_engine *e, u32 config, u32 hub, const mk_parts *parts, u32 *core) {
    u32 state = cf_alternative_at(e, config, 0).state >> 1, states[NESTED], n = cf_count(e, config);
    bool known;
    *core = config;
    if (e->switches & (GE_NO_HEIRS | GE_NO_INNER_MASKS) || e->without_cores || lx_count(&e->lx, state) == 1) return true;
    if (state < e->dear_cores.n && e->dear_cores.at[state] != NONE) return true;
    if (!are_mixtures_known(e, parts, hub, &known)) return false;
    if (known) return true;
    assert(n <= NESTED); /* else they are walked together */
    for (u32 i = 1; i < n; i++) states[i] = cf_alternative_at(e, config, i).state >> 1;
    if ((states[0] = mk_core(e, state, hub, parts->rest)) == NONE) return false;
    if (states[0] == state) return true;
    e->tried_core = true;
    return (*core = cf_with_states(e, config, states)) != NONE;
}

/* From what the core reads below a hub to what the configuration does. False without a failure: they differ in much, which is noted. */
static bool differ_from_core(ge_engine *e, u32 config, u32 core, u32 hub) {
    u32 state = cf_alternative_at(e, config, 0).state >> 1;
    bool far;
    e->stats.heirs++;
    if (!mk_walk_near(e, e->v->hubs[hub].node, config, core, MOST_APART, &e->found, &far)) return false;
    if (!far) return true;
    if (vec_reach(&e->b, &e->dear_cores, state)) e->dear_cores.at[state] = 1;
    return false;
}

static bool add_below_hub(ge_engine *e, u32 config, u32 hub);

/* Adds what was noted to be below hubs, from the last one down to `from`. */
static bool add_hubs(ge_engine *e, u32 from) {
    while (e->at_hubs.n > from) {
        mk_place at = e->at_hubs.at[--e->at_hubs.n];
        if (!add_below_hub(e, at.config, at.node)) return false;
    }
    return true;
}

/* Units that are met again and again are worth the analysis, if it helps; those of one place in one grammar are not. Where there is a plain heir it is
 * not even asked whether they are known: a key beside a hundred named ones is hashed name by name. */
static bool compute_alone(ge_engine *e, u32 config) {
    parts_vec parts = {0};
    bool wide, known = false, new = false, done = false, better = false, is_large = e->v->n_words >= MIN_WORDS;
    mk_begin(e, &e->found, is_large);
    if (!mk_by_literals(e, config, &e->found, &done) || done) return done;
    bool ok = split(e, config, 0, &parts, &wide);
    u32 heir = NONE;
    bool opened = false, may_inherit = !(e->switches & GE_NO_HEIRS) && !e->g->g.has_distinct && wide;
    may_inherit &= !e->g->longest; /* it might be nested under its heir */
    ok = ok && (!may_inherit || are_opened(e, &parts, &opened));
    if (may_inherit && !opened) {
        ok = ok && find_plain_heir(e, config, &heir);
        if (ok && (heir == NONE || heir == config)) ok = are_known(e, &parts, false, &known);
        if (ok && !known) ok = are_new(e, &parts, 1, &new);
    }
    u64 before = e->stats.trie_nodes;
    u32 core = config;
    if (ok && wide && e->g->longest) ok = find_core(e, config, 0, &parts.at[0], &core);
    if (ok && core != config) ok = done = compute_alone(e, core) && add_hubs(e, 0) && differ_from_core(e, config, core, 0);
    if (ok && new) ok = compute_by_heir(e, config, &parts, heir, &done);
    if (ok && done) ok = is_better_analysed(e, &parts, &better);
    done &= !better;
    if (ok && done && e->stats.trie_nodes - before > CHEAP) ok = are_new(e, &parts, OFTEN / 2, &new);
    if (ok && !done) {
        mk_begin(e, &e->found, is_large);
        ok = add_split(e, config, 0, &parts, wide);
    }
    vec_drop(&e->b, &parts);
    return ok;
}

/* lexing="longest": *nested = what is nested under the first alternative, if that helps; or CF_DEAD. */
static bool find_nested(ge_engine *e, u32 config, u32 *nested) {
    *nested = CF_DEAD;
    u32 n = cf_count(e, config);
    if (!e->g->longest || n == 1 || n > NESTED || e->switches & GE_NO_HEIRS) return true;
    return (*nested = cf_nested(e, config)) != NONE;
}

/* A match of the first alternative drops those that are nested under it, so what they read, which has been found, counts for tokens in which it
 * finds none. It goes on top of that: by its lexeme-internal mask if it reads much, else by the difference that it makes. */
static bool put_on_top(ge_engine *e, u32 config, u32 nested, u32 hub) {
    mk_parts parts;
    bool done = false;
    u32 core = config, from = e->at_hubs.n, state = cf_alternative_at(e, config, 0).state >> 1;
    mk_parts whole = {.unit = {state}, .n = 1, .rest = LX_DEAD}; /* on top of another mask it is one unit */
    if (!mk_split(e, state, hub, &parts) || (parts.n && !find_core(e, config, hub, &whole, &core))) return false;
    if (core != config) return put_on_top(e, core, nested, hub) && add_hubs(e, from) && differ_from_core(e, config, core, hub);
    if (parts.n && !(e->switches & GE_NO_INNER_MASKS) && !mk_over_nested(e, config, hub, &e->found, &done)) return false;
    return done || mk_walk_difference(e, &e->v->trie, e->v->hubs[hub].node, config, nested, &e->found);
}

/* Where what is nested may end the text, so may the configuration: the base needs no change for that. */
static bool compute_over(ge_engine *e, u32 config, u32 nested) {
    return (mk_load(e, nested, &e->found) || build(e, nested)) && put_on_top(e, config, nested, 0);
}

/* The tokens below a hub other than the root. */
static bool add_below_hub(ge_engine *e, u32 config, u32 hub) {
    parts_vec parts = {0};
    bool wide;
    u32 nested;
    if (!find_nested(e, config, &nested)) return false;
    if (nested != CF_DEAD) return add_below_hub(e, nested, hub) && put_on_top(e, config, nested, hub);
    u32 core = config, from = e->at_hubs.n;
    bool ok = split(e, config, hub, &parts, &wide) && (!wide || !e->g->longest || find_core(e, config, hub, &parts.at[0], &core));
    if (ok && core == config) ok = add_split(e, config, hub, &parts, wide);
    else if (ok) ok = add_below_hub(e, core, hub) && add_hubs(e, from) && differ_from_core(e, config, core, hub);
    vec_drop(&e->b, &parts);
    return ok;
}

static bool compute_once(ge_engine *e, u32 config) {
    u32 nested;
    e->at_hubs.n = 0;
    if (!find_nested(e, config, &nested)) return false;
    bool ok = nested == CF_DEAD ? compute_alone(e, config) : compute_over(e, config, nested);
    return ok && add_hubs(e, 0);
}

/* Where a core was of no use, or limits do not suffice for what no text of the grammar comes to: again without. */
static bool compute(ge_engine *e, u32 config) {
    u64 work = e->b.work;
    e->tried_core = false;
    if (compute_once(e, config)) return true;
    if (!e->tried_core || e->without_cores || (e->b.status != GE_OK && e->b.status != GE_E_LIMIT)) return false;
    e->b.status = GE_OK;
    e->b.symbol = NONE;
    e->b.work = work;
    e->without_cores = true;
    bool ok = compute_once(e, config);
    e->without_cores = false;
    return ok;
}

/* Keeps the suspects that were found with the configuration. */
static bool keep_suspects(ge_engine *e, u32 config) {
    cf_record *record = cf_at(e, config);
    if (e->suspects.n == 0 || record->n_suspects) return true;
    if (!vec_reserve(&e->b, &e->all_suspects, e->suspects.n)) return false;
    record->suspects = e->all_suspects.n;
    record->n_suspects = e->suspects.n;
    memcpy(e->all_suspects.at + e->all_suspects.n, e->suspects.at, e->suspects.n * sizeof *e->suspects.at);
    e->all_suspects.n += e->suspects.n;
    return true;
}

/* Whether all ids of the logits are allowed. */
static bool is_all(const ge_engine *e) {
    if (e->found.listed) return false; /* see settle */
    for (u32 i = 0; i < e->v->n_words; i++) {
        u32 rest = e->v->width - 32 * i;
        if (e->found.bits[i] != (rest >= 32 ? UINT32_MAX : ((u32)1 << rest) - 1)) return false;
    }
    return true;
}

static bool is_none(const ge_engine *e) {
    if (e->found.listed && e->found.list.n) return false;
    const u32 *bits = e->found.base ? e->found.base->bits : e->found.bits;
    if (e->found.listed && !e->found.base) return true;
    for (u32 i = 0; i < e->v->n_words; i++)
        if (bits[i]) return false;
    return true;
}

/* Where tokens added to a base may make it all, bits tell. */
static void settle(ge_engine *e) {
    u32 missing = 0, added = e->found.list.n + 32; /* the last word may have bits beyond the last id */
    if (!e->found.base) return;
    for (u32 i = 0; i < e->v->n_words && missing <= added; i++) missing += (u32)__builtin_popcount(~e->found.base->bits[i]);
    if (missing <= added) mk_make_bits(e, &e->found);
}

/* Keeps the mask that was found. */
static void keep_found(ge_engine *e, u32 config) {
    if (e->switches & GE_NO_MASK_CACHE || is_none(e)) return; /* an empty one is an error each time */
    mk_keep(e, config, &e->found, is_all(e));
    e->b.status = GE_OK; /* a mask that could not be kept is still right */
}

/* Whether the configuration can read a token, in *answer. */
static bool reads(ge_engine *e, u32 config, u32 token, bool *answer) {
    for (u32 at = e->v->offsets[token]; at < e->v->offsets[token + 1] && config != CF_DEAD && config != NONE; at++)
        config = cf_step(e, config, e->lx.x.class_of[e->v->text[at]]);
    *answer = config != CF_DEAD;
    return config != NONE;
}

/* The mask of a configuration that is not abstract, from that of its twin. */
static bool build_from_twin(ge_engine *e, u32 config, u32 twin) {
    if (!mk_load(e, twin, &e->found) && !build(e, twin)) return false;
    mk_make_bits(e, &e->found);
    cf_record *record = cf_at(e, twin);
    bool same = true;
    for (u32 i = 0; i < record->n_suspects; i++) {
        bool is_read;
        u32 token = e->all_suspects.at[record->suspects + i];
        if (!reads(e, config, token, &is_read)) return false;
        if (is_read) continue;
        e->found.bits[token >> 5] &= ~((u32)1 << (token & 31));
        same = false;
    }
    if (same) atomic_store(&cf_at(e, config)->mask, atomic_load(&record->mask));
    else keep_found(e, config);
    return true;
}

/* The end of the text, if it may come. */
static bool add_eos(ge_engine *e, u32 config) {
    for (u32 i = 0; cf_at(e, config)->complete && i < e->v->n_eos; i++) {
        bool known = false; /* it is text, too */
        for (u32 k = 0; e->found.listed && k < e->found.list.n && !known; k++) known = e->found.list.at[k] == e->v->eos[i];
        if (!known && !mk_add_token(e, &e->found, e->v->eos[i])) return false;
    }
    return true;
}

bool mk_change(ge_engine *e, u32 config, rx_id (*change)(rx_arena *x, rx_id id), u32 *changed) {
    id_vec pairs = {0}, states = {0};
    bool ok = true, is_other = false;
    for (u32 i = 0, n = cf_count(e, config); ok && i < n; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        pairs.n = 0;
        for (u32 k = 0; ok && k < lx_count(&e->lx, state); k++) {
            rx_id expr = intern_words(&e->lx.states, state)[2 * k + 1], other = change(&e->lx.x, expr);
            is_other |= other != expr;
            ok = other != NONE && vec_push(&e->b, &pairs, lx_lexeme_at(&e->lx, state, k)) && vec_push(&e->b, &pairs, other);
        }
        u32 to = !ok ? NONE : pairs.n ? lx_state_of(&e->lx, pairs.at, pairs.n / 2) : state;
        ok = to != NONE && vec_push(&e->b, &states, to);
    }
    *changed = config;
    if (ok && is_other) ok = (*changed = cf_with_states(e, config, states.at)) != NONE;
    vec_drop(&e->b, &pairs);
    vec_drop(&e->b, &states);
    return ok;
}

/* The mask of a configuration in which names have a bound, or regular expressions are exact, from that of the one in which they have not, or are
 * loose. */
static bool build_from_wider(ge_engine *e, u32 config, u32 unbound, u32 loose) {
    bool all;
    u32 wider = unbound != config ? unbound : loose;
    if (!mk_load(e, wider, &e->found) && !build(e, wider)) return false;
    mk_make_bits(e, &e->found);
    if (!(unbound != config ? mk_keep_names(e, config, unbound, &all) : mk_keep_exact(e, config, &all)) || !add_eos(e, config)) return false;
    cf_record *record = cf_at(e, config), *from = cf_at(e, wider);
    record->suspects = from->suspects;
    record->n_suspects = from->n_suspects;
    if (all) atomic_store(&record->mask, atomic_load(&from->mask));
    else keep_found(e, config);
    return true;
}

static bool load_bits(ge_engine *e, u32 config) {
    bool ok = mk_load(e, config, &e->found) || build(e, config);
    if (ok) mk_make_bits(e, &e->found);
    return ok;
}

/* The mask of a configuration in which names are barred, from those of two between which it lies. */
static bool build_between(ge_engine *e, u32 config, u32 less, u32 more) {
    size_t size = e->v->n_words * sizeof *e->found.bits;
    u32 *bits = mem_resize(&e->b, NULL, 0, size);
    if (!bits) return false;
    bool ok = load_bits(e, more);
    if (ok) memcpy(bits, e->found.bits, size), mk_note_copy(e);
    ok = ok && load_bits(e, less) && mk_add_between(e, config, bits) && add_eos(e, config);
    mem_resize(&e->b, bits, size, 0);
    if (ok) keep_found(e, config);
    return ok;
}

/* e->found = the mask, which is kept. */
static bool build(ge_engine *e, u32 config) {
    u32 twin = cf_twin(e, config), unbound, loose, less, more;
    if (twin == NONE || !mk_unbound(e, config, &unbound) || !mk_loosen(e, config, &loose)) return false;
    if (twin != config) return build_from_twin(e, config, twin);
    if (!mk_bars(e, config, &less, &more)) return false;
    if (more != config) return build_between(e, config, less, more);
    if (unbound != config || loose != config) return build_from_wider(e, config, unbound, loose);
    e->suspects.n = 0;
    if (!compute(e, config) || !keep_suspects(e, config)) return false;
    e->stats.mask_builds++;
    if (!add_eos(e, config)) return false;
    settle(e);
    keep_found(e, config);
    return true;
}

/* e->found = the mask, which is kept. */
static bool build_found(ge_engine *e, u32 config) {
    if (!e->found.bits) {
        e->found.bits = mem_resize(&e->b, NULL, 0, e->v->n_words * sizeof *e->found.bits);
        if (!e->found.bits) return false;
    }
    e->analysed = false;
    return build(e, config);
}

bool mk_build(ge_engine *e, u32 config) {
    bool ok = build_found(e, config);
    mk_release_base(e, &e->found);
    return ok;
}

bool mk_cold(ge_engine *e, u32 config, u32 *out, bool *all) {
    if (mk_by_table(e, config, out, all)) return true;
    if (!build_found(e, config)) return false;
    mk_note_copy(e);
    if (e->found.listed) mk_write_listed(e, e->found.base, e->found.list.at, e->found.list.n, out);
    else memcpy(out, e->found.bits, e->v->n_words * sizeof *out);
    *all = is_all(e);
    mk_release_base(e, &e->found);
    return true;
}

void mk_drop(ge_engine *e) {
    for (u32 i = 0; i < e->masks.n; i++) mk_release_kept(e, stable_at(&e->masks, i));
    mk_release_base(e, &e->found);
    mk_drop_outlines(e);
    mk_drop_lexemes(e);
    stable_drop(&e->b, &e->masks);
    map_drop(&e->b, &e->mask_of_hash);
    vec_drop(&e->b, &e->models);
    vec_drop(&e->b, &e->samples);
    vec_drop(&e->b, &e->dear_cores);
    map_drop(&e->b, &e->parts_of);
    vec_drop(&e->b, &e->parts);
    vec_drop(&e->b, &e->differing);
    if (e->found.bits) mem_resize(&e->b, e->found.bits, e->v->n_words * sizeof *e->found.bits, 0);
    vec_drop(&e->b, &e->found.list);
    vec_drop(&e->b, &e->suspects);
    vec_drop(&e->b, &e->all_suspects);
    vec_drop(&e->b, &e->walk);
    vec_drop(&e->b, &e->runs);
    vec_drop(&e->b, &e->looping);
    vec_drop(&e->b, &e->absorbing);
    map_drop(&e->b, &e->loops_of);
    vec_drop(&e->b, &e->loops);
    map_drop(&e->b, &e->beyond_of);
    vec_drop(&e->b, &e->beyond);
    vec_drop(&e->b, &e->beyond_words);
    vec_drop(&e->b, &e->keys);
    map_drop(&e->b, &e->key_of);
    vec_drop(&e->b, &e->key_words);
    vec_drop(&e->b, &e->number);
    vec_drop(&e->b, &e->structure);
    vec_drop(&e->b, &e->unit_views);
    vec_drop(&e->b, &e->unit_open);
    map_drop(&e->b, &e->counted_of);
    map_drop(&e->b, &e->opened_at);
    vec_drop(&e->b, &e->counted);
    vec_drop(&e->b, &e->opened);
    vec_drop(&e->b, &e->unit_seen);
    vec_drop(&e->b, &e->at_hubs);
    vec_drop(&e->b, &e->at_openings);
    vec_drop(&e->b, &e->endings);
    vec_drop(&e->b, &e->ending_of);
    vec_drop(&e->b, &e->ending_bytes);
    vec_drop(&e->b, &e->marked);
}
