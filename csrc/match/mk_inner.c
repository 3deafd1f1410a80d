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

enum {
    MAX_KEY_NODES = 200, /* larger units are taken to be particular to one grammar */
    MAX_TAILS = 30000,   /* a unit from which more tokens leave is better walked */
    MAX_FINISH = 16      /* bytes; a clamped unit with states that are further from an end stands for no other */
};

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
        case RX_OR: case RX_AND: last = n; break;
        case RX_NOT: case RX_REPEAT: case RX_QUOTE: last = 2; break;
        case RX_MULTIPLE: return number->n = MAX_KEY_NODES + 1, false; /* its bounds are not in the node */
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
    out->made = true;
    map_drop(&e->b, &number);
    vec_drop(&e->b, &todo);
    return ok;
}

/* The key of a lexer state in a view. Until the next call. */
static mk_key *key_of(ge_engine *e, u32 state, u32 view) {
    u32 index = state * MK_VIEWS + view;
    while (e->keys.n <= index)
        if (!vec_push(&e->b, &e->keys, ((mk_key){0}))) return NULL;
    mk_key made = {0};
    if (!e->keys.at[index].made) {
        if (!make_key(e, state, view, &made)) return NULL;
        e->keys.at[index] = made;
    }
    return &e->keys.at[index];
}

/* --- analysis ------------------------------------------------------------------------------------------------------------ */

/* One tail: token `item.token` leaves the lexemes of exit `exit` and has the bytes of `item` left. */
typedef struct tail {
    u32 exit;
    tt_item item;
} tail;

/* A place in the walk: a node of the trie, the lexer state there, and the last match on the path to it. */
typedef struct inner_place {
    u32 node, state, match;
} inner_place;

typedef struct inner_match {
    u32 depth, state;
    u32 before; /* the match before it on the path, or NONE */
} inner_match;

typedef struct analysis {
    ge_engine *e;
    budget *b; /* of the result */
    u32 start, view;     /* the lexer state; which tokens are decided */
    const tt_trie *trie; /* what is walked */
    vb_inner *inner;
    VEC(u32) matched; /* per exit: the lexer state in which it was first met */
    VEC(tail) tails;
    VEC(inner_place) walk;
    VEC(inner_match) matches;
    bool given_up;  /* too many tails, or a clamped unit that cannot be finished soon */
} analysis;

/* The exit for what matches in `state`. NONE on failure. */
static u32 exit_of(analysis *a, u32 state) {
    const lx_lexer *l = &a->e->lx;
    lx_state info = l->info.at[state];
    for (u32 i = 0; i < a->matched.n; i++) {
        lx_state other = l->info.at[a->matched.at[i]];
        if (other.accepts == info.accepts && other.skips == info.skips) return i;
    }
    vb_exit exit = {0};
    bool ok = true;
    for (u32 i = 0, k = 0, n = lx_count(l, a->start); ok && i < n && info.accepts != NONE; i++) {
        if (k >= intern_length(&l->accepts, info.accepts)) break;
        if (lx_lexeme_at(l, a->start, i) != intern_words(&l->accepts, info.accepts)[k]) continue;
        ok = vec_push(a->b, &exit.places, i);
        k++;
    }
    if (ok && info.skips) ok = vec_push(a->b, &exit.places, NONE);
    ok = ok && vec_push(&a->e->b, &a->matched, state) && vec_push(a->b, &a->inner->exits, exit);
    if (!ok) vec_drop(a->b, &exit.places);
    return ok ? a->matched.n - 1 : NONE;
}

/* The lexer died on the way to `node`: each token there and below leaves at the matches on the path, or not at all. */
static bool add_tails(analysis *a, u32 node, u32 match) {
    ge_engine *e = a->e;
    u32 from = node, to = node + 1;
    if (match == NONE) return true;
    do {
        for (u32 i = from; i < to; i++)
            for (u32 next, token = tt_token(a->trie, i, &next); token != NONE; token = tt_more(a->trie, &next)) {
                const u8 *bytes = e->v->text + e->v->offsets[token];
                u32 n = e->v->offsets[token + 1] - e->v->offsets[token];
                for (u32 m = match; m != NONE; m = e->g->longest ? NONE : a->matches.at[m].before) {
                    u32 exit = exit_of(a, a->matches.at[m].state), depth = a->matches.at[m].depth;
                    tail t = {.exit = exit, .item = {.at = bytes + depth, .n = n - depth, .token = token}};
                    if (exit == NONE || !vec_push(&e->b, &a->tails, t)) return false;
                    if (a->tails.n > MAX_TAILS) return a->given_up = true, false;
                }
            }
    } while (tt_below(a->trie, &from, &to));
    return true;
}

static int compare_exits(const void *p, const void *q) {
    u32 a = ((const tail *)p)->exit, b = ((const tail *)q)->exit;
    return a < b ? -1 : a > b;
}

static bool build_tries(analysis *a) {
    VEC(tt_item) items = {0};
    if (a->tails.n) qsort(a->tails.at, a->tails.n, sizeof *a->tails.at, compare_exits);
    bool ok = true;
    for (u32 i = 0; ok && i < a->tails.n;) {
        u32 exit = a->tails.at[i].exit;
        items.n = 0;
        for (; ok && i < a->tails.n && a->tails.at[i].exit == exit; i++) ok = vec_push(&a->e->b, &items, a->tails.at[i].item);
        ok = ok && tt_build(&a->inner->exits.at[exit].tails, a->b, items.at, items.n);
    }
    vec_drop(&a->e->b, &items);
    return ok;
}

/* Notes how far a state is from an end. */
static bool note_finish(analysis *a, u32 state) {
    ge_engine *e = a->e;
    for (u32 i = 0, n = lx_count(&e->lx, state); i < n; i++) {
        u32 bytes = rx_finish(&e->lx.x, intern_words(&e->lx.states, state)[2 * i + 1], MAX_FINISH);
        if (bytes == NONE) return false;
        if (bytes > MAX_FINISH) return a->given_up = true, false;
        a->inner->finish = max_u32(a->inner->finish, bytes);
    }
    return true;
}

/* Walks all tokens, or those that are not in a slice that stays inside, breadth first: walk[level_end ...] is deeper than walk[head]. */
static bool walk_lexer(analysis *a) {
    ge_engine *e = a->e;
    bool is_clamped = a->view < VB_TIERS;
    u32 hub = is_clamped ? 0 : a->view - VB_TIERS, node = e->v->hubs[hub].node, max_depth = is_clamped ? e->v->tiers[a->view].bytes : NONE;
    vb_cut cut = hub ? (vb_cut){NULL, &e->v->trie} : mk_cut(e, a->start);
    const tt_trie *trie = a->trie = cut.rest;
    const u32 *first = trie->first.at;
    const u8 *class_of = e->lx.x.class_of;
    VEC(bool) noted = {0}; /* by lexer state: its finish */
    bool ok = vec_push(&e->b, &a->walk, ((inner_place){node, a->start, NONE})) && (!is_clamped || note_finish(a, a->start));
    if (cut.bits) memcpy(a->inner->bits, cut.bits, e->v->n_words * sizeof(u32));
    for (u32 head = 0, depth = hub ? 1 : 0, level_end = 0; ok && head < a->walk.n; head++) {
        if (head == level_end) depth++, level_end = a->walk.n;
        if (depth > max_depth) break;
        inner_place at = a->walk.at[head];
        const u32 *next = lx_row(&e->lx, at.state);
        u32 end = first[at.node + 1];
        e->stats.trie_nodes += end - first[at.node];
        ok = vec_reserve(&e->b, &a->walk, end - first[at.node]);
        for (u32 i = first[at.node]; ok && i < end; i++) {
            u32 c = class_of[trie->byte.at[i]], to = next[c], match = at.match;
            if (to == NONE) to = lx_step(&e->lx, at.state, c);
            if (to == LX_DEAD || to == NONE) {
                ok = to == LX_DEAD && (match == NONE || add_tails(a, i, match));
                continue;
            }
            if (is_clamped) {
                for (; ok && noted.n <= to;) ok = vec_push(&e->b, &noted, false);
                if (ok && !noted.at[to]) ok = noted.at[to] = note_finish(a, to);
            }
            if (trie->token.at[i] != NONE)
                for (u32 more, token = tt_token(trie, i, &more); token != NONE; token = tt_more(trie, &more))
                    a->inner->bits[token >> 5] |= (u32)1 << (token & 31);
            if (first[i] == first[i + 1]) continue;
            lx_state info = e->lx.info.at[to];
            if (info.accepts != NONE || info.skips) {
                ok = ok && vec_push(&e->b, &a->matches, ((inner_match){depth, to, match}));
                match = a->matches.n - 1;
            }
            a->walk.at[a->walk.n++] = (inner_place){i, to, match};
        }
    }
    vec_drop(&e->b, &noted);
    return ok;
}

/* Takes back what a slice has decided of tokens beyond the tier. */
static void clear_longer(const tt_trie *longer, u32 *bits) {
    for (u32 i = 0; i < longer->token.n; i++)
        for (u32 next, token = tt_token(longer, i, &next); token != NONE; token = tt_more(longer, &next))
            bits[token >> 5] &= ~((u32)1 << (token & 31));
}

/* Analyses a lexer state in a view. The result is counted in `b`. NULL if it does not pay, or on failure (of the engine's budget, then). */
static vb_inner *analyse(ge_engine *e, u32 state, u32 view, mk_key key, budget *b) {
    analysis a = {.e = e, .b = b, .start = state, .view = view};
    a.inner = mem_resize(b, NULL, 0, sizeof *a.inner);
    if (!a.inner) return budget_fail(&e->b, b->status), NULL;
    memset(a.inner, 0, sizeof *a.inner);
    a.inner->n_words = e->v->n_words;
    a.inner->bits = mem_resize(b, NULL, 0, e->v->n_words * sizeof(u32));
    bool ok = a.inner->bits != NULL && vec_reserve(b, &a.inner->key, key.n);
    if (ok) memset(a.inner->bits, 0, e->v->n_words * sizeof(u32));
    if (ok) memcpy(a.inner->key.at, e->key_words.at + key.at, key.n * sizeof(u32));
    if (ok) a.inner->key.n = key.n;
    ok = ok && walk_lexer(&a) && build_tries(&a);
    if (ok && view < VB_TIERS) clear_longer(&e->v->tiers[view].longer, a.inner->bits);
    vec_drop(&e->b, &a.matched);
    vec_drop(&e->b, &a.tails);
    vec_drop(&e->b, &a.walk);
    vec_drop(&e->b, &a.matches);
    e->stats.inner_builds++;
    if (ok) {
        a.inner->hash = key.hash;
        a.inner->bytes = b->bytes;
        return a.inner;
    }
    vb_inner_free(b, a.inner);
    if (!a.given_up && e->b.status == GE_OK) budget_fail(&e->b, b->status);
    return NULL;
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
    vb_inner *made = analyse(e, state, view, key, &own);
    if (!made) {
        at = key_of(e, state, view);
        if (at) at->refused = e->b.status == GE_OK;
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

/* The lexeme-internal mask of a unit below a hub, clamped where that is right, and its view. */
static bool obtain_unit(ge_engine *e, u32 unit, u32 hub, bool make, const vb_inner **inner, u32 *view) {
    while (e->unit_views.n <= unit)
        if (!vec_push(&e->b, &e->unit_views, NONE)) return false;
    u32 known = e->unit_views.at[unit];
    bool clamp = hub == 0 && !(e->switches & GE_NO_CLAMPING);
    for (*view = known == NONE ? 0 : known; clamp && *view < VB_TIERS; ++*view) {
        u32 bytes = e->v->tiers[*view].bytes, clamped = mk_clamp(e, unit, bytes + 1);
        if (clamped == NONE) return false;
        if (clamped == unit) continue;
        if (!obtain(e, clamped, *view, make, inner)) return false;
        if (!*inner && !make) return true;
        u32 again = *inner ? mk_clamp(e, unit, bytes + (*inner)->finish) : NONE;
        if (*inner && again == NONE) return done_with(e, *inner), false;
        if (*inner && again == clamped) return e->unit_views.at[unit] = *view, true;
        done_with(e, *inner);
    }
    *view = VB_TIERS + hub;
    if (clamp) e->unit_views.at[unit] = VB_TIERS;
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

static bool apply(ge_engine *e, cf_alternative a, const vb_inner *inner, u32 view, mk_found *found) {
    for (u32 i = 0; i < inner->n_words; i++) found->bits[i] |= inner->bits[i];
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
