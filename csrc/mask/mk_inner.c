/* Lexeme-internal masks: the part of a mask that does not depend on the parser, computed once per *structure* of a unit (mk_unit.c).
 *
 * Idea. A token is allowed at (row, unit) if it stays inside the lexemes of the unit, or if it leaves them at some byte where they
 * match, and the row after them reads the rest. The first is a bitset that is the same for every row; for the second the store keeps
 * what is left of each such token after each place where it may leave (vb.h). So a mask is: copy the bits, walk the tails that begin with
 * a byte that may come.
 *
 * Exactness. bits: the lexemes of a unit are all allowed by its row, and no regex of it is empty, so a token that stays inside is
 * always allowed. exits: a token is left out of the tails only if it is in bits. With lexing="longest" only the last match on the way
 * counts, because an earlier one was dropped when the later was found. A clamped unit stands for all from which it was made if each
 * state that a token leads to can be finished before their bounds; tokens beyond its tier are walked in addition (mk_unit.c).
 *
 * Where a text is one lexeme, as under a regular expression, nothing leaves it, and there are no exits.
 *
 * mk_key.c says how a mask is found again. */
#include "../regex/names/rx_unbound.h"
#include "mk.h"

static void done_with(ge_engine *e, const vb_inner *inner) {
    if (inner && !(e->switches & GE_NO_SHARED_INNER)) vb_release(e->v, inner);
    else if (inner) {
        budget own = {.bytes = inner->bytes};
        vb_inner_free(&own, (vb_inner *)(uintptr_t)inner);
    }
}

static bool give_back(ge_engine *e, const vb_inner **inner) {
    done_with(e, *inner);
    *inner = NULL;
    return false;
}

/* *key: what a counted state is with few repeats, in a view. NONE: it is no such state. Along the last characters of a counted text the
 * tokens that are too long for it leave it at each of their characters. Where too many do that for an analysis, they do it at the next
 * character again. */
static bool key_of_counts(ge_engine *e, u32 state, u32 view, u64 *key) {
    rx_id expr = lx_count(&e->lx, state) == 1 ? lx_rest_at(&e->lx, state, 0) : RX_ID_NEVER, few = rx_few(&e->lx.x, expr);
    *key = few == expr ? NONE : (u64)few << 32 | view;
    return few != NONE;
}

/* The lexeme-internal mask of a lexer state in a view: kept with the vocabulary, or computed if `make` says so. *inner = NULL: there is
 * none, as on failure, here and below. It is given back by done_with. */
static bool obtain(ge_engine *e, u32 state, u32 view, bool make, const vb_inner **inner) {
    mk_key *key = mk_key_of(e, state, view);
    *inner = NULL;
    if (!key) return false;
    if (key->refused) return true;
    bool shared = !(e->switches & GE_NO_SHARED_INNER);
    if (shared) *inner = vb_find(e->v, key->hash);
    if (!*inner && !make) return true;
    if (!mk_spell_key(e, state, view, key)) return give_back(e, inner);
    if (*inner && mk_has_key(e, *inner, key)) return e->stats.inner_hits++, true;
    give_back(e, inner);
    if (!make || key->refused) return true;
    u64 counts;
    if (!key_of_counts(e, state, view, &counts)) return false;
    if (counts != NONE && map_get(&e->mk.left_much, counts) != NONE) return key->refused = key->leaves_much = true;
    budget own;
    budget_init_unlimited(&own);
    bool leaves_much = false;
    vb_inner *made = mk_analyse(e, state, view, *key, &own, &leaves_much);
    e->mk.analysed = true;
    if (!made) {
        key->refused = e->b.status == GE_OK;
        key->leaves_much = leaves_much;
        return e->b.status == GE_OK && (counts == NONE || !leaves_much || map_put(&e->b, &e->mk.left_much, counts, 1));
    }
    *inner = shared ? vb_add(e->v, made) : made;
    return true;
}

/* Can a clamped unit stand for `unit` at all? Each of its states is to be finished before the bounds:
 * it itself, and in quotation marks where an escape has begun, \u0041, which takes 3 bytes more. */
static bool may_stand_for(ge_engine *e, u32 clamped, u32 unit, u32 n_bytes, bool *answer) {
    u32 finish = 0;
    for (u32 i = 0, n = lx_count(&e->lx, clamped); i < n; i++) {
        rx_id expr = lx_rest_at(&e->lx, clamped, i);
        const u32 *node = intern_words(&e->lx.x.nodes, expr), *head = node[0] == RX_CONCAT ? intern_words(&e->lx.x.nodes, node[1]) : node;
        u32 bytes = head[0] == RX_QUOTE ? 3 : 0, least = rx_finish(&e->lx.x, expr, MK_FINISH);
        if (least == NONE) return false;
        finish = max_u32(finish, least + bytes);
    }
    u32 again = mk_clamp(e, unit, n_bytes + finish);
    *answer = again == clamped;
    return again != NONE;
}

/* Tries a view that clamps the unit. *inner = NULL: it cannot be finished before the bounds, or is not known, and not to be made, or so
 * many tokens leave it that *hopeless is set: as many leave the unit itself. */
static bool obtain_clamped(ge_engine *e, u32 unit, u32 view, bool make, const vb_inner **inner, bool *hopeless) {
    u32 bytes = e->v->tiers[mk_tier_of(view)].bytes, clamped = mk_clamp(e, unit, bytes + 1);
    if (clamped == NONE || !obtain(e, clamped, view, false, inner)) return false;
    if (!*inner && make && (!may_stand_for(e, clamped, unit, bytes, &make) || (make && !obtain(e, clamped, view, true, inner))))
        return false;
    if (!*inner) {
        const mk_key *key = mk_key_of(e, clamped, view);
        *hopeless = key && key->leaves_much;
        return key != NULL;
    }
    u32 again = mk_clamp(e, unit, bytes + (*inner)->finish);
    if (again != clamped) give_back(e, inner);
    return again != NONE;
}

/* Is it worth while to try and clamp a unit? Not the last characters of a counted text: each of these states serves all grammars as it is.
 * And not what cannot be finished soon after whatever token; nor within A-labels, where each text is a state of its own. */
static bool may_clamp(const ge_engine *e, u32 unit) {
    const rx_arena *x = &e->lx.x;
    u32 n = lx_count(&e->lx, unit), chars;
    if (e->switches & GE_NO_CLAMPING) return false;
    if (n == 1 && rx_counts_plain(x, lx_rest_at(&e->lx, unit, 0), &chars) && chars < 2 * VB_SHORT) return false;
    for (u32 i = 0; i < n; i++) {
        rx_id expr = lx_rest_at(&e->lx, unit, i);
        if (rx_length_bound(x, expr) > MK_FINISH + 1 || (x->has_punycode && rx_begins_with_punycode(x, expr))) return false;
    }
    return true;
}

/* The lexeme-internal mask of an open unit: that of the one with few repeats, where those with as many, and more, have the same. */
static bool obtain_counted(ge_engine *e, u32 open, bool make, const vb_inner **inner) {
    u32 few = mk_few(e, open);
    if (few == NONE) return false;
    if (few == open) return obtain(e, open, MK_OPEN, make, inner);
    u32 index = map_get(&e->mk.counted_of, few);
    if (index == NONE) {
        if (!obtain(e, open, MK_OPEN, make, inner) || !*inner) return e->b.status == GE_OK;
        bool ok = vec_push(&e->b, &e->mk.counted, ((mk_counted){open, COUNTED_UNKNOWN})) &&
                  map_put(&e->b, &e->mk.counted_of, few, e->mk.counted.n - 1);
        return ok || give_back(e, inner);
    }
    mk_counted *counted = &e->mk.counted.at[index];
    if (mk_is_within(e, open, counted->most) && open != counted->most) {
        if (counted->verdict == COUNTED_UNKNOWN && make) {
            const vb_inner *low, *high = NULL;
            bool ok = obtain(e, few, MK_OPEN, true, &low) && obtain(e, counted->most, MK_OPEN, true, &high);
            counted->verdict = ok && low && high && mk_alike(low, high) ? COUNTED_ALIKE : COUNTED_APART;
            done_with(e, high);
            done_with(e, low);
            if (!ok) return false;
        }
        return obtain(e, counted->verdict == COUNTED_ALIKE ? few : open, MK_OPEN, make, inner);
    }
    if (open != counted->most && mk_is_within(e, counted->most, open)) *counted = (mk_counted){open, COUNTED_UNKNOWN};
    return obtain(e, open, MK_OPEN, make, inner);
}

/* *answer: has a text come to another unit with the same open one, up to counts? Or was another of its lexeme made? In the last words of a
 * counted text their number makes a difference, and so each is met for the first time. */
static bool is_met_again(ge_engine *e, u32 unit, u32 open, bool *answer) {
    u32 few = mk_few(e, open), lexeme = lx_lexeme_at(&e->lx, unit, 0);
    if (few == NONE) return false;
    rx_id expr = lx_rest_at(&e->lx, few, 0);
    u32 first = map_get(&e->mk.opened_at, expr);
    *answer = (first != NONE && first != unit) || (lexeme < e->mk.opened.n && e->mk.opened.at[lexeme]);
    return first != NONE || map_put(&e->b, &e->mk.opened_at, expr, unit);
}

bool mk_is_opened(ge_engine *e, u32 unit, bool *answer) {
    u32 open;
    *answer = false;
    if (mk_room(e, unit) == NONE) return true;
    if (!mk_open_unit(e, unit, &open)) return false;
    if (open == unit) return true;
    const mk_key *key = mk_key_of(e, open, MK_OPEN);
    bool refused = key && key->refused;
    if (!key || !is_met_again(e, unit, open, answer)) return false;
    *answer &= !refused;
    return true;
}

/* The lexeme-internal mask of a unit as an open one. *inner = NULL: there is none; *answer: perhaps it can be made. */
static bool obtain_open(ge_engine *e, u32 unit, bool make, const vb_inner **inner, bool *answer) {
    u32 open;
    *inner = NULL;
    *answer = false;
    if (!mk_open_unit(e, unit, &open)) return false;
    if (open == unit) return true;
    if (!obtain_counted(e, open, false, inner)) return false;
    if (!*inner) {
        bool again;
        if (!is_met_again(e, unit, open, &again)) return false;
        if (!again || (make && !obtain_counted(e, open, true, inner))) return e->b.status == GE_OK;
    }
    const mk_key *key = mk_key_of(e, open, MK_OPEN);
    *answer = key && !key->refused;
    return key || give_back(e, inner);
}

static bool note_opened(ge_engine *e, u32 unit) {
    u32 lexeme = lx_lexeme_at(&e->lx, unit, 0);
    while (e->mk.opened.n <= lexeme)
        if (!vec_push(&e->b, &e->mk.opened, false)) return false;
    e->mk.opened.at[lexeme] = true;
    return true;
}

/* The lexeme-internal mask of a unit below a hub, and its view: clamped as much as is right, so that other units share it, and with as few
 * tokens beyond the tier as that allows. */
static bool obtain_unit(ge_engine *e, u32 unit, u32 hub, bool make, const vb_inner **inner, u32 *view) {
    if (!vec_reach(&e->b, &e->mk.unit_views, unit)) return false;
    u32 known = e->mk.unit_views.at[unit];
    bool hopeless = false;
    *inner = NULL;
    if (hub == 0 && known < VB_TIERS) {
        *view = known;
        return obtain_clamped(e, unit, known, make, inner, &hopeless);
    }
    if (hub == 0 && (known == NONE || known == MK_OPEN)) {
        bool open;
        if (!obtain_open(e, unit, make, inner, &open)) return false;
        *view = MK_OPEN;
        if (*inner) return e->mk.unit_views.at[unit] = MK_OPEN, note_opened(e, unit) || give_back(e, inner);
        if (open && !make) return true;
    }
    /* mk_over_nested clears longer tokens, below the hub or not */
    bool clamps = (hub ? !e->g->longest : known == NONE) && may_clamp(e, unit);
    for (u32 like = VB_TIERS; like-- > 0 && clamps;) {
        u32 clamped = mk_clamp(e, unit, e->v->tiers[like].bytes + 1); /* by the tier that drops the most bounds; then by others */
        if (clamped == NONE) return false;
        if (clamped == unit) break;
        for (u32 tier = 0; tier <= like; tier++) {
            u32 other = mk_clamp(e, unit, e->v->tiers[tier].bytes + 1);
            if (other == NONE) return false;
            if (other != clamped) continue;
            *view = mk_view_of(tier, hub);
            if (!obtain_clamped(e, unit, *view, make, inner, &hopeless)) return false;
            if (hopeless) return true;
            if (*inner && hub == 0) e->mk.unit_views.at[unit] = *view;
            if (*inner || !make) return true;
        }
    }
    /* one of many along a counted text */
    if (hub && mk_clamp(e, unit, e->v->tiers[VB_TIERS - 1].bytes + 1) != unit) return e->b.status == GE_OK;
    *view = VB_TIERS + hub;
    if (hub == 0) e->mk.unit_views.at[unit] = VB_TIERS;
    return obtain(e, unit, *view, make, inner);
}

bool mk_is_known(ge_engine *e, u32 unit, u32 hub, bool make, bool *known) {
    const vb_inner *inner;
    u32 view;
    if (!obtain_unit(e, unit, hub, make, &inner, &view)) return false;
    *known = inner != NULL;
    done_with(e, inner);
    return true;
}

bool mk_has_plain(ge_engine *e, u32 unit, bool *known, bool *plain) {
    const vb_inner *inner;
    u32 view;
    if (!obtain_unit(e, unit, 0, true, &inner, &view)) return false;
    *plain = *known = inner != NULL;
    for (u32 i = 0; i < e->v->n_words && *plain; i++) *plain = !(e->v->slices[VB_PLAIN].bits[i] & ~inner->bits[i]);
    done_with(e, inner);
    return true;
}

bool mk_prepare(ge_engine *e, u32 unit, u32 hub) {
    const vb_inner *inner;
    u32 view;
    if (!obtain_unit(e, unit, hub, true, &inner, &view)) return false;
    bool ok = true;
    for (u32 i = 0; inner && ok && i < inner->exits.n; i++)
        ok = inner->exits.at[i].tails[VB_MARKS].n == 0 || vb_tails(e->v, inner, i, VB_MARKS);
    done_with(e, inner);
    return ok || budget_fail(&e->b, GE_E_MEMORY);
}

bool mk_is_refused(ge_engine *e, u32 unit, bool *answer) {
    mk_key *key = mk_key_of(e, unit, VB_TIERS);
    if (!key || !mk_spell_key(e, unit, VB_TIERS, key)) return false;
    *answer = key->refused;
    return true;
}

bool mk_is_left_much(ge_engine *e, u32 unit, bool *answer) {
    u64 counts;
    const mk_key *key = mk_key_of(e, unit, VB_TIERS);
    if (!key) return false;
    *answer = key->leaves_much;
    if (!*answer) return true;
    if (!key_of_counts(e, unit, VB_TIERS, &counts)) return false;
    *answer = counts != NONE;
    return true;
}

/* What a configuration, or with outlines an alternative, can read of the tails of an exit; `first`: outside of which it reads no byte. */
static bool add_tails(ge_engine *e, cf_alternative a, u32 config, byte_set first, const vb_inner *inner, u32 exit, mk_found *found) {
    for (u32 sort = 0; sort < VB_SORTS; sort++) {
        if (!set_meets(&inner->exits.at[exit].begins[sort], &first)) continue;
        const tt_trie *tails;
        if (!mk_tails(e, inner, exit, sort, &tails)) return false;
        if (tails == NULL) continue;
        if (config == NONE ? !mk_add(e, tails, 0, a, inner, found) : !mk_walk(e, tails, 0, config, found)) return false;
    }
    return true;
}

/* What can be read of the tails of an exit of the unit of `a`, after its lexemes. */
static bool add_after(ge_engine *e, cf_alternative a, const u32 *lexemes, u32 n, bool skip, const vb_inner *inner, u32 exit,
                      mk_found *found) {
    byte_set first;
    if (!e->g->longest && !e->g->g.has_distinct) {
        u32 row = cf_row_after(e, a.row, lexemes, n, skip), begin = row == NONE ? NONE : cf_begin(e, row);
        const byte_set *of = begin == NONE ? NULL : lx_first(&e->lx, begin);
        return of && add_tails(e, (cf_alternative){.row = row, .state = 2 * begin, .text = CF_NO_TEXT}, NONE, *of, inner, exit, found);
    }
    u32 config = cf_after(e, a, lexemes, n, skip);
    return config != NONE && cf_first(e, config, &first) && add_tails(e, a, config, first, inner, exit, found);
}

/* The bits, and the tails of the tokens that leave the unit of `a`; of an open one, those for which there is room. */
static bool apply(ge_engine *e, cf_alternative a, const vb_inner *inner, mk_found *found) {
    u32 room = inner->needs ? mk_room(e, a.state >> 1) : NONE;
    mk_add_fitting(e, found, inner, room);
    id_vec lexemes = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < inner->exits.n; i++) {
        const vb_exit *exit = &inner->exits.at[i];
        bool skip = false;
        if (exit->room > room) continue;
        lexemes.n = 0;
        for (u32 k = 0; ok && k < exit->places.n; k++) {
            if (exit->places.at[k] == NONE) skip = true;
            else ok = vec_push(&e->b, &lexemes, lx_lexeme_at(&e->lx, a.state >> 1, exit->places.at[k]));
        }
        ok = ok && add_after(e, a, lexemes.at, lexemes.n, skip, inner, i, found);
    }
    vec_drop(&e->b, &lexemes);
    return ok;
}

/* The tokens that a view does not speak of since they are too long: those at a node of a trie and below. NULL: none. */
static const tt_trie *longer_than(const ge_engine *e, u32 view, u32 *node) {
    const tt_trie *longer = mk_tier_of(view) != NONE ? &e->v->tiers[mk_tier_of(view)].longer : NULL;
    *node = 0;
    if (!longer || longer->byte.n < 2) return NULL;
    if (mk_hub_of(view) == 0) return longer;
    for (*node = longer->first.at[0]; *node < longer->first.at[1]; ++*node)
        if (longer->byte.at[*node] == e->v->hubs[mk_hub_of(view)].byte) return longer;
    return NULL;
}

bool mk_over_nested(ge_engine *e, u32 config, u32 hub, mk_found *found, bool *done) {
    cf_alternative a = cf_alternative_at(e, config, 0);
    const vb_inner *inner;
    u32 view;
    *done = false;
    if (!obtain_unit(e, a.state >> 1, hub, true, &inner, &view)) return false;
    if (!inner) return true;
    u32 node;
    const tt_trie *longer = longer_than(e, view, &node);
    for (u32 i = 0; i < VB_SORTS * inner->exits.n; i++) {
        const vb_exit *exit = &inner->exits.at[i / VB_SORTS];
        u32 sort = i % VB_SORTS, n = exit->tails[sort].n;
        if (n) mk_make_bits(e, found);
        for (u32 k = 0; k < n; k++) mk_clear_token(e, found, exit->tails[sort].at[k].token);
    }
    if (longer) mk_clear_tokens(e, longer, 0, longer->byte.n, found);
    *done = apply(e, a, inner, found) && (!longer || mk_walk(e, longer, node, config, found));
    done_with(e, inner);
    return *done;
}

bool mk_by_inner(ge_engine *e, cf_alternative a, u32 hub, mk_found *found, bool *done) {
    const vb_inner *inner;
    u32 view;
    *done = false;
    if (!obtain_unit(e, a.state >> 1, hub, true, &inner, &view)) return false;
    if (!inner) return true;
    u32 node;
    const tt_trie *longer = longer_than(e, view, &node);
    u32 config = longer ? cf_single(e, a) : CF_DEAD;
    *done = config != NONE && apply(e, a, inner, found) && (!longer || mk_walk(e, longer, node, config, found));
    done_with(e, inner);
    return *done;
}

void mk_drop_units(ge_engine *e) {
    vec_drop(&e->b, &e->mk.keys);
    map_drop(&e->b, &e->mk.key_of);
    vec_drop(&e->b, &e->mk.key_words);
    vec_drop(&e->b, &e->mk.number);
    vec_drop(&e->b, &e->mk.structure);
    vec_drop(&e->b, &e->mk.unit_views);
    vec_drop(&e->b, &e->mk.unit_open);
    map_drop(&e->b, &e->mk.counted_of);
    map_drop(&e->b, &e->mk.left_much);
    map_drop(&e->b, &e->mk.opened_at);
    vec_drop(&e->b, &e->mk.counted);
    vec_drop(&e->b, &e->mk.opened);
}
