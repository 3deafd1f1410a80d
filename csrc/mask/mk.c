/* Masks: which tokens a configuration can read.
 *
 * This file decides how a mask is made that is not kept (mk_keep.c) nor in a table (mk_table.c). In this order:
 *
 *     distinct values under way      the mask of the twin, but for suspects                  build_from_twin
 *     names that are barred          between two masks (mk_bar.c)                            build_between
 *     names with bounds, regular     what a wider configuration reads, but for tokens        build_from_wider
 *       expressions as texts,          that this one does not (mk_name.c, mk_syntax.c,
 *       counted text near its bound    mk_near.c)
 *     little, and spelt out          two tries side by side (mk_literals.c)                  compute_alone
 *     much                           taken apart into units (mk_unit.c), which are new,      ...
 *                                      and a close heir: its mask, and a walk (mk_heir.c)
 *                                    else unit by unit: the lexeme-internal mask and the     ...
 *                                      tails of what leaves it; a slice; a walk (mk_parts.c)
 *     little                         an outline, or a walk (mk_outline.c, mk_walk.c)         ...
 *
 * Then what was left to hubs of the trie is added. lexing="longest" has ways of its own (mk_longest.c).
 *
 * A mask here is of texts alone: which tokens end one, and where, matchers know (match/mt.c).
 *
 * Texts. A configuration with texts (en.h) has the mask of its twin, where texts are unknown, but for *suspects*: tokens that end one
 * distinct member and are then, within the next, at a place where the value that was just written might be all that is left. The walk
 * finds them (cf_record.unsure), and each is read from the configuration itself. There are few: a token has to hold the end of one member
 * and the beginning of the next, and leave no choice. */
#include "mk_make.h"

enum {
    MIN_WORDS = 64, /* of masks: where they are shorter, bits are no more than a list */
    CHEAP = 200     /* nodes that are visited to make a mask from another one: a unit of one that costs more counts for half of MK_OFTEN */
};

static bool build(ge_engine *e, u32 config);

bool mk_load_or_build(ge_engine *e, u32 config) { return mk_load(e, config, &e->mk.found) || build(e, config); }

static bool compute_alone(ge_engine *e, u32 config);

/* By the core: that of the configuration without lexemes that read little, and where these make a difference. */
static bool compute_by_core(ge_engine *e, u32 config, const mk_parts *parts, bool *done) {
    u32 core;
    *done = false;
    if (!mk_find_core(e, config, 0, parts, &core)) return false;
    if (core == config) return true;
    return *done = compute_alone(e, core) && mk_add_hubs(e, 0) && mk_differ_from_core(e, config, core, 0);
}

/* But for what is below hubs. */
static bool compute_alone(ge_engine *e, u32 config) {
    mk_parts_vec parts = {0};
    bool wide, done = false, ignored, is_large = e->v->n_words >= MIN_WORDS;
    mk_begin(e, &e->mk.found, is_large);
    if (!mk_by_literals(e, config, &e->mk.found, &done) || done) return done;
    u64 before = e->stats.trie_nodes;
    bool ok = mk_split_all(e, config, 0, &parts, &wide);
    if (ok && wide) ok = e->g->longest ? compute_by_core(e, config, parts.at, &done) : mk_by_heir(e, config, &parts, &done);
    if (ok && done && e->stats.trie_nodes - before > CHEAP) ok = mk_are_new(e, &parts, MK_OFTEN / 2, &ignored);
    if (ok && !done) {
        mk_begin(e, &e->mk.found, is_large);
        ok = mk_add_split(e, config, 0, &parts, wide);
    }
    vec_drop(&e->b, &parts);
    return ok;
}

static bool add_below_hub(ge_engine *e, u32 config, u32 hub);

bool mk_add_hubs(ge_engine *e, u32 from) {
    while (e->mk.at_hubs.n > from) {
        mk_place at = e->mk.at_hubs.at[--e->mk.at_hubs.n];
        if (!add_below_hub(e, at.config, at.node)) return false;
    }
    return true;
}

/* The tokens below a hub other than the root. */
static bool add_below_hub(ge_engine *e, u32 config, u32 hub) {
    mk_parts_vec parts = {0};
    bool wide;
    u32 nested;
    if (!mk_find_nested(e, config, &nested)) return false;
    if (nested != CF_DEAD) return add_below_hub(e, nested, hub) && mk_put_on_top(e, config, nested, hub);
    u32 core = config, from = e->mk.at_hubs.n;
    bool ok = mk_split_all(e, config, hub, &parts, &wide) && (!wide || !e->g->longest || mk_find_core(e, config, hub, &parts.at[0], &core));
    if (ok && core == config) ok = mk_add_split(e, config, hub, &parts, wide);
    else if (ok) ok = add_below_hub(e, core, hub) && mk_add_hubs(e, from) && mk_differ_from_core(e, config, core, hub);
    vec_drop(&e->b, &parts);
    return ok;
}

static bool compute_over(ge_engine *e, u32 config, u32 nested) {
    return mk_load_or_build(e, nested) && mk_put_on_top(e, config, nested, 0);
}

static bool compute_once(ge_engine *e, u32 config) {
    u32 nested;
    e->mk.at_hubs.n = 0;
    if (!mk_find_nested(e, config, &nested)) return false;
    bool ok = nested == CF_DEAD ? compute_alone(e, config) : compute_over(e, config, nested);
    return ok && mk_add_hubs(e, 0);
}

/* Where a core was of no use, or limits do not suffice for what no text of the grammar comes to: again without. */
static bool compute(ge_engine *e, u32 config) {
    u64 work = e->b.work;
    e->mk.tried_core = false;
    if (compute_once(e, config)) return true;
    if (!e->mk.tried_core || e->mk.without_cores || (e->b.status != GE_OK && e->b.status != GE_E_LIMIT)) return false;
    e->b.status = GE_OK;
    e->b.symbol = NONE;
    e->b.work = work;
    e->mk.without_cores = true;
    bool ok = compute_once(e, config);
    e->mk.without_cores = false;
    return ok;
}

/* Keeps the suspects that were found with the configuration. */
static bool keep_suspects(ge_engine *e, u32 config) {
    cf_record *record = cf_at(e, config);
    if (e->mk.suspects.n == 0 || record->n_suspects) return true;
    if (!vec_reserve(&e->b, &e->mk.all_suspects, e->mk.suspects.n)) return false;
    record->suspects = e->mk.all_suspects.n;
    record->n_suspects = e->mk.suspects.n;
    memcpy(e->mk.all_suspects.at + e->mk.all_suspects.n, e->mk.suspects.at, e->mk.suspects.n * sizeof *e->mk.suspects.at);
    e->mk.all_suspects.n += e->mk.suspects.n;
    return true;
}

static bool is_none(const ge_engine *e) {
    if (e->mk.found.listed && e->mk.found.list.n) return false;
    const u32 *bits = e->mk.found.base ? e->mk.found.base->bits : e->mk.found.bits;
    if (e->mk.found.listed && !e->mk.found.base) return true;
    for (u32 i = 0; i < e->v->n_words; i++)
        if (bits[i]) return false;
    return true;
}

/* Keeps the mask that was found. */
static void keep_found(ge_engine *e, u32 config) {
    /* where a text must go on, it is an error each time */
    if (e->switches & GE_NO_MASK_CACHE || (is_none(e) && !cf_at(e, config)->complete)) return;
    mk_keep(e, config, &e->mk.found);
    e->b.status = GE_OK; /* a mask that could not be kept is still right */
}

/* Whether the configuration can read a token, in *answer. */
bool mk_reads_token(ge_engine *e, u32 config, u32 token, bool *answer) {
    for (u32 at = e->v->offsets[token]; at < e->v->offsets[token + 1] && config != CF_DEAD && config != NONE; at++)
        config = cf_step(e, config, e->lx.x.class_of[e->v->text[at]]);
    *answer = config != CF_DEAD;
    return config != NONE;
}

/* The mask of a configuration with long texts, from that with shortened ones (un.h): no token tells them apart. Where a search is unsure
 * that is not so; then what was made of the shortened ones this time may be wrong, and nobody asks for these any more. */
static bool build_from_shortened(ge_engine *e, u32 config, bool *done) {
    *done = false;
    if (!e->g->has_unique || e->un.is_unsure || e->switches & GE_NO_CLAMPING) return true;
    u32 shortened = cf_shortened(e, config);
    if (shortened == config || shortened == NONE) return shortened != NONE;
    if (!mk_load_or_build(e, shortened)) return false;
    *done = !e->un.is_unsure;
    if (*done) atomic_store(&cf_at(e, config)->mask, atomic_load(&cf_at(e, shortened)->mask));
    return true;
}

/* The mask of a configuration with values, from that of its twin. */
static bool build_from_twin(ge_engine *e, u32 config, u32 twin) {
    bool done;
    if (!build_from_shortened(e, config, &done)) return false;
    if (done) return true;
    if (!mk_load_or_build(e, twin)) return false;
    mk_make_bits(e, &e->mk.found);
    cf_record *record = cf_at(e, twin);
    bool same = true, changed = false;
    for (u32 i = 0; i < record->n_suspects; i++) {
        bool is_read;
        u32 token = e->mk.all_suspects.at[record->suspects + i];
        if (!mk_reads_token(e, config, token, &is_read)) return false;
        if (is_read) continue;
        e->mk.found.bits[token >> 5] &= ~((u32)1 << (token & 31));
        same = false;
    }
    if (e->g->has_unique && !mk_keep_unique(e, config, twin, e->mk.found.bits, &changed)) return false;
    if (same && !changed) atomic_store(&cf_at(e, config)->mask, atomic_load(&record->mask));
    else keep_found(e, config);
    return true;
}

bool mk_change(ge_engine *e, u32 config, rx_id (*change)(rx_arena *x, rx_id id), u32 *changed) {
    id_vec pairs = {0}, states = {0};
    bool ok = true, is_other = false;
    for (u32 i = 0, n = cf_count(e, config); ok && i < n; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        pairs.n = 0;
        for (u32 k = 0; ok && k < lx_count(&e->lx, state); k++) {
            rx_id expr = lx_rest_at(&e->lx, state, k), other = change(&e->lx.x, expr);
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

/* The mask of a configuration in which names have a bound, regular expressions are exact, or counted text is near its bound, from that of
 * the one in which they have not, are loose, or it is far from it: only one of them may be another one. */
static bool build_from_wider(ge_engine *e, u32 config, u32 unbound, u32 loose, u32 roomier) {
    bool all;
    u32 wider = unbound != config ? unbound : loose != config ? loose : roomier;
    if (!mk_load_or_build(e, wider)) return false;
    mk_make_bits(e, &e->mk.found);
    bool ok = unbound != config ? mk_keep_names(e, config, unbound, &all)
              : loose != config ? mk_keep_exact(e, config, &all)
                                : mk_keep_near(e, config, &all);
    if (!ok) return false;
    cf_record *record = cf_at(e, config), *from = cf_at(e, wider);
    record->suspects = from->suspects;
    record->n_suspects = from->n_suspects;
    if (all) atomic_store(&record->mask, atomic_load(&from->mask));
    else keep_found(e, config);
    return true;
}

static bool load_bits(ge_engine *e, u32 config) {
    bool ok = mk_load_or_build(e, config);
    if (ok) mk_make_bits(e, &e->mk.found);
    return ok;
}

/* The mask of a configuration in which names are barred, from those of two between which it lies. */
static bool build_between(ge_engine *e, u32 config, u32 less, u32 more) {
    size_t size = e->v->n_words * sizeof *e->mk.found.bits;
    u32 *bits = mem_resize(&e->b, NULL, 0, size);
    if (!bits) return false;
    bool ok = load_bits(e, more);
    if (ok) memcpy(bits, e->mk.found.bits, size), mk_note_copy(e);
    ok = ok && load_bits(e, less) && mk_add_between(e, config, bits);
    mem_resize(&e->b, bits, size, 0);
    if (ok) keep_found(e, config);
    return ok;
}

/* e->mk.found = the mask, which is kept. */
static bool build(ge_engine *e, u32 config) {
    u32 twin = cf_twin(e, config), unbound, loose, roomier, less, more;
    if (twin != config) return twin != NONE && build_from_twin(e, config, twin);
    if (!mk_unbound(e, config, &unbound) || !mk_loosen(e, config, &loose) || !mk_roomier(e, config, &roomier)) return false;
    if (!mk_bars(e, config, &less, &more)) return false;
    if (more != config) return build_between(e, config, less, more);
    if (unbound != config || loose != config || roomier != config) return build_from_wider(e, config, unbound, loose, roomier);
    e->mk.suspects.n = 0;
    if (!compute(e, config) || !keep_suspects(e, config)) return false;
    e->stats.mask_builds++;
    keep_found(e, config);
    return true;
}

/* The same for a mask that is asked for from outside: there is room for its bits, and nothing was analysed for it yet. */
static bool build_found(ge_engine *e, u32 config) {
    if (!e->mk.found.bits) {
        e->mk.found.bits = mem_resize(&e->b, NULL, 0, e->v->n_words * sizeof *e->mk.found.bits);
        if (!e->mk.found.bits) return false;
    }
    e->mk.analysed = false;
    return build(e, config);
}

bool mk_build(ge_engine *e, u32 config) {
    bool ok = build_found(e, config);
    mk_release_base(e, &e->mk.found);
    return ok;
}

bool mk_cold(ge_engine *e, u32 config, u32 *out) {
    if (mk_by_table(e, config, out)) return true;
    if (!build_found(e, config)) return false;
    mk_note_copy(e);
    if (e->mk.found.listed) mk_write_listed(e, e->mk.found.base, e->mk.found.list.at, e->mk.found.list.n, out);
    else wide_copy(out, e->mk.found.bits, e->v->n_words);
    mk_release_base(e, &e->mk.found);
    return true;
}

void mk_drop(ge_engine *e) {
    mk_drop_kept(e);
    mk_release_base(e, &e->mk.found);
    if (e->mk.found.bits) mem_resize(&e->b, e->mk.found.bits, e->v->n_words * sizeof *e->mk.found.bits, 0);
    vec_drop(&e->b, &e->mk.found.list);
    vec_drop(&e->b, &e->mk.suspects);
    vec_drop(&e->b, &e->mk.all_suspects);
    vec_drop(&e->b, &e->mk.unit_seen);
    vec_drop(&e->b, &e->mk.far_cores);
    mk_drop_walks(e);
    mk_drop_parts(e);
    mk_drop_units(e);
    mk_drop_lexemes(e);
    mk_drop_outlines(e);
    mk_drop_names(e);
}
