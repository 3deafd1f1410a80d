/* Lexeme-internal masks: the part of a mask that does not depend on the parser, computed once per *structure* of a unit (mk_unit.c).
 *
 * Idea. A token is allowed at (row, unit) if it stays inside the lexemes of the unit, or if it leaves them at some byte where they
 * match, and the row after them reads the rest. The first is a bitset that is the same for every row; for the second the store keeps
 * what is left of each such token after each place where it may leave (vb.h). So a mask is: copy the bits, walk the tails.
 *
 * Exactness. bits: the lexemes of a unit are all allowed by its row, and no regex of it is empty, so a token that stays inside is
 * always allowed. exits: a token is left out of the tails only if it is in bits. With lexing="longest" only the last match on the way
 * counts, because an earlier one was dropped when the later was found. A clamped unit stands for all from which it was made if each
 * state that a token leads to can be finished before their bounds; tokens beyond its tier are walked in addition (mk_unit.c).
 *
 * Key. The regexes of the unit as a directed acyclic graph, numbered in post-order, with flags of the lexemes, the discipline, and the
 * view: the tokens that are decided. */
#include "mk.h"

enum { MAX_KEY_NODES = 200 }; /* larger units are taken to be particular to one grammar */

/* --- the key ------------------------------------------------------------------------------------------------------------- */

/* Appends the nodes below `root` that are not numbered yet. number: node -> number in the key. */
static bool add_structure(budget *b, const rx_arena *x, rx_id root, word_map *number, id_vec *todo, id_vec *key) {
    if (!vec_push(b, todo, root)) return false;
    while (todo->n) {
        rx_id id = todo->at[todo->n - 1];
        if (map_get(number, id) != NONE) {
            todo->n--;
            continue;
        }
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = intern_length(&x->nodes, id), last = 1; /* operands that are nodes: [1, last) */
        switch ((rx_kind)node[0]) {
        case RX_CONCAT: last = 3; break;
        case RX_OR: case RX_AND: case RX_FORK: last = n; break;
        case RX_NOT: case RX_REPEAT: case RX_QUOTE: last = 2; break;
        case RX_MULTIPLE: return number->n = MAX_KEY_NODES + 1, false; /* its bounds are not in the node */
        case RX_TAG: return number->n = MAX_KEY_NODES + 1, false; /* a lexeme of one grammar */
        case RX_PUNYCODE:
            if (node[2]) return number->n = MAX_KEY_NODES + 1, false; /* the text is one of many */
            break;
        default: break;
        }
        bool ready = true;
        for (u32 i = 1; i < last; i++)
            if (map_get(number, node[i]) == NONE) {
                ready = false;
                if (!vec_push(b, todo, node[i])) return false;
            }
        if (!ready) continue;
        todo->n--;
        if (number->n > MAX_KEY_NODES) return false;
        if (!map_put(b, number, id, number->n) || !vec_push(b, key, node[0] << 16 | n)) return false;
        if (node[0] == RX_SET) {
            for (u32 i = 0; i < 8; i++)
                if (!vec_push(b, key, rx_set_of(x, node[1])->w[i])) return false;
            continue;
        }
        for (u32 i = 1; i < n; i++)
            if (!vec_push(b, key, i < last ? map_get(number, node[i]) : node[i])) return false;
    }
    return true;
}

/* Makes the key of a lexer state in a view. It has none if it is too large to be shared. */
static bool make_key(ge_engine *e, u32 state, u32 view, mk_key *out) {
    word_map number = {0};
    id_vec todo = {0};
    u32 n = lx_count(&e->lx, state), begin = e->key_words.n;
    bool ok = vec_push(&e->b, &e->key_words, e->g->longest) && vec_push(&e->b, &e->key_words, view) && vec_push(&e->b, &e->key_words, n);
    for (u32 i = 0; ok && i < n; i++) {
        u32 lexeme = lx_lexeme_at(&e->lx, state, i), expr = intern_words(&e->lx.states, state)[2 * i + 1];
        ok = add_structure(&e->b, &e->lx.x, expr, &number, &todo, &e->key_words);
        ok = ok && vec_push(&e->b, &e->key_words, map_get(&number, expr));
        ok = ok && vec_push(&e->b, &e->key_words, e->lx.lexemes.at[lexeme].flags & (LX_LAZY | LX_SKIP));
    }
    out->refused = number.n > MAX_KEY_NODES;
    if (out->refused) {
        ok = e->b.status == GE_OK;
        e->key_words.n = begin;
    }
    out->at = begin;
    out->n = e->key_words.n - begin;
    out->hash = out->n;
    for (u32 i = begin; i < e->key_words.n; i++) out->hash = mix_u64(out->hash ^ e->key_words.at[i]);
    if (out->hash == UINT64_MAX) out->hash = 0;
    map_drop(&e->b, &number);
    vec_drop(&e->b, &todo);
    return ok;
}

/* The key of a lexer state in a view. Until the next call. */
static mk_key *key_of(ge_engine *e, u32 state, u32 view) {
    u64 name = (u64)state * MK_VIEWS + view;
    u32 index = map_get(&e->key_of, name);
    if (index != NONE) return &e->keys.at[index];
    mk_key made = {0};
    if (!make_key(e, state, view, &made) || !vec_push(&e->b, &e->keys, made) || !map_put(&e->b, &e->key_of, name, e->keys.n - 1)) return NULL;
    return &e->keys.at[e->keys.n - 1];
}

/* The lexeme-internal mask of a lexer state in a view: kept with the vocabulary, or computed if `make` says so. *inner = NULL: there is
 * none. It is given back by done_with. */
static bool obtain(ge_engine *e, u32 state, u32 view, bool make, const vb_inner **inner) {
    mk_key *at = key_of(e, state, view);
    *inner = NULL;
    if (!at) return false;
    mk_key key = *at;
    if (key.refused) return true;
    bool shared = !(e->switches & GE_NO_SHARED_INNER);
    if (shared) *inner = vb_find(e->v, e->key_words.at + key.at, key.n, key.hash);
    if (*inner) e->stats.inner_hits++;
    if (*inner || !make) return true;
    budget own;
    ge_limits limits;
    memset(&limits, 0xff, sizeof limits);
    budget_init(&own, &limits);
    bool leaves_much = false;
    vb_inner *made = mk_analyse(e, state, view, key, &own, &leaves_much);
    if (!made) {
        at = key_of(e, state, view);
        if (at) at->refused = e->b.status == GE_OK;
        if (at) at->leaves_much = leaves_much;
        return e->b.status == GE_OK;
    }
    *inner = shared ? vb_add(e->v, made) : made;
    return true;
}

static void done_with(ge_engine *e, const vb_inner *inner) {
    if (inner && !(e->switches & GE_NO_SHARED_INNER)) vb_release(e->v, inner);
    else if (inner) {
        budget own = {.bytes = inner->bytes};
        vb_inner_free(&own, (vb_inner *)(uintptr_t)inner);
    }
}

/* Tries a view that clamps the unit. *inner = NULL: it cannot be finished before the bounds, or is not known, and not to be made, or so many
 * tokens leave it that *hopeless is set: as many leave the unit itself. */
static bool obtain_clamped(ge_engine *e, u32 unit, u32 view, bool make, const vb_inner **inner, bool *hopeless) {
    u32 bytes = e->v->tiers[view].bytes, clamped = mk_clamp(e, unit, bytes + 1);
    if (clamped == NONE || !obtain(e, clamped, view, make, inner)) return false;
    if (!*inner) {
        const mk_key *key = key_of(e, clamped, view);
        *hopeless = key && key->leaves_much;
        return key != NULL;
    }
    u32 again = mk_clamp(e, unit, bytes + (*inner)->finish);
    if (again != clamped) {
        done_with(e, *inner);
        *inner = NULL;
    }
    return again != NONE;
}

/* Is it worth while to try and clamp a unit? Not the last characters of a counted text: each of these states serves all grammars as it is. And
 * not what cannot be finished soon after whatever token. */
static bool may_clamp(const ge_engine *e, u32 unit) {
    const rx_arena *x = &e->lx.x;
    u32 n = lx_count(&e->lx, unit), chars;
    if (e->switches & GE_NO_CLAMPING) return false;
    if (n == 1 && rx_counts_plain(x, intern_words(&e->lx.states, unit)[1], &chars) && chars < 2 * VB_SHORT) return false;
    for (u32 i = 0; i < n; i++)
        if (rx_length_bound(x, intern_words(&e->lx.states, unit)[2 * i + 1], MK_FINISH + 2) > MK_FINISH + 1) return false;
    return true;
}

/* The lexeme-internal mask of a unit below a hub, and its view: clamped as much as is right, so that other units share it, and with as few
 * tokens beyond the tier as that allows. */
static bool obtain_unit(ge_engine *e, u32 unit, u32 hub, bool make, const vb_inner **inner, u32 *view) {
    while (e->unit_views.n <= unit)
        if (!vec_push(&e->b, &e->unit_views, NONE)) return false;
    u32 known = e->unit_views.at[unit];
    bool hopeless = false;
    *inner = NULL;
    if (hub == 0 && known < VB_TIERS) {
        *view = known;
        return obtain_clamped(e, unit, known, make, inner, &hopeless);
    }
    bool clamps = hub == 0 && known == NONE && may_clamp(e, unit);
    for (u32 like = VB_TIERS; like-- > 0 && clamps;) {
        u32 clamped = mk_clamp(e, unit, e->v->tiers[like].bytes + 1); /* by the tier that drops the most bounds; then by others */
        if (clamped == NONE) return false;
        if (clamped == unit) break;
        for (*view = 0; *view <= like; ++*view) {
            u32 other = mk_clamp(e, unit, e->v->tiers[*view].bytes + 1);
            if (other == NONE) return false;
            if (other != clamped) continue;
            if (!obtain_clamped(e, unit, *view, make, inner, &hopeless)) return false;
            if (hopeless) return true;
            if (*inner) return e->unit_views.at[unit] = *view, true;
            if (!make) return true;
        }
    }
    if (hub && mk_clamp(e, unit, e->v->tiers[VB_TIERS - 1].bytes + 1) != unit) return e->b.status == GE_OK; /* one of many along a counted text */
    *view = VB_TIERS + hub;
    if (hub == 0) e->unit_views.at[unit] = VB_TIERS;
    return obtain(e, unit, *view, make, inner);
}

bool mk_is_known(ge_engine *e, u32 unit, u32 hub, bool *known) {
    const vb_inner *inner;
    u32 view;
    if (!obtain_unit(e, unit, hub, false, &inner, &view)) return false;
    *known = inner != NULL;
    done_with(e, inner);
    return true;
}

bool mk_is_refused(const ge_engine *e, u32 unit) {
    u32 index = map_get(&e->key_of, (u64)unit * MK_VIEWS + VB_TIERS);
    return index != NONE && e->keys.at[index].refused;
}

static bool apply(ge_engine *e, cf_alternative a, const vb_inner *inner, u32 view, mk_found *found) {
    mk_add_inner(e, found, inner);
    id_vec lexemes = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < inner->exits.n; i++) {
        const vb_exit *exit = &inner->exits.at[i];
        bool skip = false;
        lexemes.n = 0;
        for (u32 k = 0; ok && k < exit->places.n; k++) {
            if (exit->places.at[k] == NONE) skip = true;
            else ok = vec_push(&e->b, &lexemes, lx_lexeme_at(&e->lx, a.state >> 1, exit->places.at[k]));
        }
        u32 config = ok ? cf_after(e, a, lexemes.at, lexemes.n, skip) : NONE;
        ok = config != NONE && (config == CF_DEAD || mk_walk(e, &exit->tails, 0, config, found));
    }
    vec_drop(&e->b, &lexemes);
    if (!ok || view >= VB_TIERS || e->v->tiers[view].longer.token.n == 1) return ok;
    u32 config = cf_single(e, a);
    return config != NONE && mk_walk(e, &e->v->tiers[view].longer, 0, config, found);
}

bool mk_by_inner(ge_engine *e, cf_alternative a, u32 hub, mk_found *found, bool *done) {
    const vb_inner *inner;
    u32 view;
    *done = false;
    if (!obtain_unit(e, a.state >> 1, hub, true, &inner, &view)) return false;
    if (!inner) return true;
    *done = apply(e, a, inner, view, found);
    done_with(e, inner);
    return *done;
}
