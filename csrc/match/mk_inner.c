/* Lexeme-internal masks: the part of a mask that does not depend on the parser, computed once per lexer state *structure*.
 *
 * Idea. A token is allowed at (row, state) if it stays inside the lexemes of the state, or if it leaves them at some byte where they
 * match, and the row after them reads the rest. The first is a bitset that is the same for every row; for the second the store keeps
 * what is left of each such token after each place where it may leave (vb.h). So a mask is: copy the bits, walk the tails.
 *
 * Exactness. bits: the lexemes of a state are all allowed by its row, and no regex of it is empty, so a token that stays inside is
 * always allowed. exits: a token is left out of the tails only if it is in bits. With lexing="longest" only the last match on the way
 * counts, because an earlier one was dropped when the later was found.
 *
 * Key. The regexes of the state as a directed acyclic graph, numbered in post-order, with flags of the lexemes and the discipline. */
#include "en.h"

enum {
    MAX_KEY_NODES = 200, /* larger states are taken to be particular to one grammar */
    MAX_TAILS = 30000    /* a state from which more tokens leave is better walked */
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

/* e->key = the key of the state; empty if the state is too large to be shared. */
static bool make_key(ge_engine *e, u32 state) {
    word_map number = {0};
    id_vec todo = {0}, key = {0};
    u32 n = lx_count(&e->lx, state);
    bool ok = vec_push(&e->b, &key, e->g->longest) && vec_push(&e->b, &key, n);
    for (u32 i = 0; ok && i < n; i++) {
        u32 lexeme = lx_lexeme_at(&e->lx, state, i), expr = intern_words(&e->lx.states, state)[2 * i + 1];
        ok = add_structure(&e->b, &e->lx.x, expr, &number, &todo, &key);
        ok = ok && vec_push(&e->b, &key, map_get(&number, expr)) && vec_push(&e->b, &key, e->lx.lexemes.at[lexeme].flags & (LX_LAZY | LX_SKIP));
    }
    if (number.n > MAX_KEY_NODES) {
        ok = e->b.status == GE_OK;
        key.n = 0;
    }
    map_drop(&e->b, &number);
    vec_drop(&e->b, &todo);
    vec_drop(&e->b, &e->key);
    e->key.at = key.at;
    e->key.n = key.n;
    e->key.cap = key.cap;
    return ok;
}

static u64 hash_key(const u32 *words, u32 n) {
    u64 h = n;
    for (u32 i = 0; i < n; i++) h = mix_u64(h ^ words[i]);
    return h;
}

/* --- analysis ------------------------------------------------------------------------------------------------------------ */

/* One tail: token `item.token` leaves the lexemes of exit `exit` and has the bytes of `item` left. */
typedef struct tail {
    u32 exit;
    tt_item item;
} tail;

typedef struct analysis {
    ge_engine *e;
    budget *b; /* of the result */
    u32 start;
    const tt_trie *trie; /* what is walked */
    vb_inner *inner;
    VEC(u32) matched; /* per exit: the lexer state in which it was first met */
    VEC(tail) tails;
    bool too_many; /* tails: given up */
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

/* The lexer died below depth `depth` of the path: each token in nodes [from, to) leaves at the matches on the path, or not at all. */
static bool add_tails(analysis *a, u32 depth, u32 from, u32 to) {
    ge_engine *e = a->e;
    const tt_trie *trie = a->trie;
    u32 deepest = e->walk_exits.at[depth]; /* of the matches on the path; 0: none */
    if (deepest == 0) return true;
    for (u32 i = from; i < to; i++) {
        u32 token = trie->nodes.at[i].token;
        if (token == NONE) continue;
        u32 twin = token & TT_MANY ? token & ~TT_MANY : NONE;
        do {
            if (twin != NONE) {
                token = trie->twins.at[twin].token;
                twin = trie->twins.at[twin].next;
            }
            const u8 *bytes = e->v->text + e->v->offsets[token];
            u32 n = e->v->offsets[token + 1] - e->v->offsets[token];
            for (u32 d = deepest; d > 0; d = e->walk_exits.at[d - 1]) {
                u32 exit = exit_of(a, e->walk_states.at[d]);
                tail t = {.exit = exit, .item = {.at = bytes + d, .n = n - d, .token = token}};
                if (exit == NONE || !vec_push(&e->b, &a->tails, t)) return false;
                if (a->tails.n > MAX_TAILS) return a->too_many = true, false;
                if (e->g->longest) break;
            }
        } while (twin != NONE);
    }
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

/* Walks all tokens, or those that are not in a slice that stays inside.
 * walk_states[d]: the lexer state after d bytes of the path. walk_exits[d]: the largest d' <= d with a match after d' bytes, or 0. */
static bool walk_lexer(analysis *a) {
    ge_engine *e = a->e;
    vb_cut cut = mk_cut(e, a->start);
    const tt_trie *trie = a->trie = cut.rest;
    if (cut.bits) memcpy(a->inner->bits, cut.bits, e->v->n_words * sizeof(u32));
    e->walk_states.n = e->walk_exits.n = 0;
    if (!vec_reserve(&e->b, &e->walk_states, trie->max_depth + 1) || !vec_reserve(&e->b, &e->walk_exits, trie->max_depth + 1)) return false;
    u32 *states = e->walk_states.at, *exits = e->walk_exits.at;
    const u8 *class_of = e->lx.x.class_of;
    states[0] = a->start;
    exits[0] = 0;
    for (u32 i = 0; i < trie->nodes.n;) {
        const tt_node *node = &trie->nodes.at[i];
        u32 depth = node->depth, to = lx_step(&e->lx, states[depth - 1], class_of[node->byte]);
        e->stats.trie_nodes++;
        if (to == NONE) return false;
        if (to == LX_DEAD) {
            if (!add_tails(a, depth - 1, i, node->end)) return false;
            i = node->end;
            continue;
        }
        lx_state info = e->lx.info.at[to];
        states[depth] = to;
        exits[depth] = info.accepts != NONE || info.skips ? depth : exits[depth - 1];
        if (node->token != NONE) tt_set_bits(trie, node->token, a->inner->bits);
        i++;
    }
    return true;
}

/* Analyses a state. The result is counted in `b`. NULL if it does not pay, or on failure (of the engine's budget, then). */
static vb_inner *analyse(ge_engine *e, u32 state, budget *b) {
    analysis a = {.e = e, .b = b, .start = state};
    a.inner = mem_resize(b, NULL, 0, sizeof *a.inner);
    if (!a.inner) return NULL;
    memset(a.inner, 0, sizeof *a.inner);
    a.inner->n_words = e->v->n_words;
    a.inner->bits = mem_resize(b, NULL, 0, e->v->n_words * sizeof(u32));
    bool ok = a.inner->bits != NULL && vec_copy(b, &a.inner->key, &e->key);
    if (ok) memset(a.inner->bits, 0, e->v->n_words * sizeof(u32));
    ok = ok && walk_lexer(&a) && build_tries(&a);
    vec_drop(&e->b, &a.matched);
    vec_drop(&e->b, &a.tails);
    e->stats.inner_builds++;
    if (ok) {
        a.inner->hash = hash_key(e->key.at, e->key.n);
        a.inner->bytes = b->bytes;
        return a.inner;
    }
    vb_inner_free(b, a.inner);
    if (!a.too_many && e->b.status == GE_OK) budget_fail(&e->b, b->status);
    return NULL;
}

/* --- use ----------------------------------------------------------------------------------------------------------------- */

static bool apply(ge_engine *e, cf_alternative a, const vb_inner *inner, u32 *mask) {
    for (u32 i = 0; i < inner->n_words; i++) mask[i] |= inner->bits[i];
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
        ok = config != NONE && (config == CF_DEAD || mk_walk(e, &exit->tails, config, mask));
    }
    vec_drop(&e->b, &lexemes);
    return ok;
}

bool mk_by_inner(ge_engine *e, cf_alternative a, bool analysis_pays, u32 *mask, bool *done) {
    *done = false;
    if (!make_key(e, a.state >> 1)) return false;
    if (e->key.n == 0) return true;
    bool shared = !(e->switches & GE_NO_SHARED_INNER);
    const vb_inner *inner = shared ? vb_find(e->v, e->key.at, e->key.n, hash_key(e->key.at, e->key.n)) : NULL;
    if (inner) {
        e->stats.inner_hits++;
        *done = apply(e, a, inner, mask);
        vb_release(e->v, inner);
        return *done;
    }
    if (!analysis_pays) return true;
    budget own;
    ge_limits limits;
    memset(&limits, 0xff, sizeof limits);
    budget_init(&own, &limits);
    vb_inner *made = analyse(e, a.state >> 1, &own);
    if (!made) return e->b.status == GE_OK;
    *done = apply(e, a, made, mask);
    const vb_inner *kept = shared ? vb_add(e->v, made) : NULL;
    if (kept) vb_release(e->v, kept);
    if (!shared) vb_inner_free(&own, made);
    return *done;
}
