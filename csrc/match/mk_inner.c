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

/* --- analysis ------------------------------------------------------------------------------------------------------------ */

/* One tail: token `item.token` leaves the lexemes of exit `exit` and has the bytes of `item` left. */
typedef struct tail {
    u32 exit;
    tt_item item;
} tail;

/* The states of an analysis have small numbers of their own, in the order in which they are met, so that their transitions lie close together. */
enum { DEAD, START, MAX_STATES = 60000, UNKNOWN = UINT16_MAX };
enum { ON_PATH = 1, HERE = 2 }; /* does a lexeme end above the node, or at it? */

typedef struct analysis {
    ge_engine *e;
    budget *b; /* of the result */
    u32 start, view;     /* the lexer state; which tokens are decided */
    const tt_trie *trie; /* what is walked */
    vb_inner *inner;
    VEC(u32) matched; /* per exit: the lexer state in which it was first met */
    VEC(tail) tails;
    VEC(u32) states;  /* by number: lexer state */
    VEC(u16) next;    /* by number and byte class: number, or UNKNOWN */
    VEC(u8) ends;     /* by number: ON_PATH | HERE if it ends a lexeme, else 0 */
    VEC(u16) numbers; /* by lexer state: its number, or DEAD: none yet */
    u16 *at;          /* by node: number of the state there */
    u8 *end;          /* by node */
    bool given_up;    /* too many tails or states, or a clamped unit that cannot be finished soon */
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

/* The lexer died on the way to `node` of this depth: each token there and below leaves where a lexeme ends on the path, or not at all. */
static bool add_tails(analysis *a, u32 node, u32 depth) {
    ge_engine *e = a->e;
    u32 from = node, to = node + 1;
    do {
        for (u32 i = from; i < to; i++)
            for (u32 next, token = tt_token(a->trie, i, &next); token != NONE; token = tt_more(a->trie, &next)) {
                const u8 *bytes = e->v->text + e->v->offsets[token];
                u32 n = e->v->offsets[token + 1] - e->v->offsets[token], above = a->trie->parent.at[node], d = depth - 1;
                for (; a->end[above]; above = a->trie->parent.at[above], d--) {
                    if (!(a->end[above] & HERE)) continue;
                    u32 exit = exit_of(a, a->states.at[a->at[above]]);
                    tail t = {.exit = exit, .item = {.at = bytes + d, .n = n - d, .token = token}};
                    if (exit == NONE || !vec_push(&e->b, &a->tails, t)) return false;
                    if (a->tails.n > MAX_TAILS) return a->given_up = true, false;
                    if (e->g->longest) break;
                }
            }
    } while (tt_below(a->trie, &from, &to));
    return true;
}

static bool build_tries(analysis *a) {
    VEC(tt_item) items = {0}; /* of one exit after the other */
    id_vec end = {0};         /* of each exit's items, where they are put so far */
    u32 n_exits = a->inner->exits.n, sum = 0;
    bool ok = vec_reserve(&a->e->b, &items, a->tails.n) && vec_reserve(&a->e->b, &end, n_exits + 1);
    if (ok) memset(end.at, 0, (n_exits + 1) * sizeof *end.at);
    for (u32 i = 0; ok && i < a->tails.n; i++) end.at[a->tails.at[i].exit + 1]++;
    for (u32 k = 0; ok && k < n_exits; k++) end.at[k] = sum += end.at[k];
    for (u32 i = 0; ok && i < a->tails.n; i++) items.at[end.at[a->tails.at[i].exit]++] = a->tails.at[i].item;
    for (u32 k = 0; ok && k < n_exits; k++) {
        u32 begin = k ? end.at[k - 1] : 0;
        ok = tt_build(&a->inner->exits.at[k].tails, a->b, items.at + begin, end.at[k] - begin);
    }
    vec_drop(&a->e->b, &items);
    vec_drop(&a->e->b, &end);
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

/* The number of a lexer state. NONE: failure, or given up. */
static u32 number_of(analysis *a, u32 state) {
    budget *b = &a->e->b;
    u32 n = a->states.n, n_classes = a->e->lx.x.n_classes;
    while (a->numbers.n <= state)
        if (!vec_push(b, &a->numbers, DEAD)) return NONE;
    if (state == LX_DEAD && n) return DEAD;
    if (a->numbers.at[state] != DEAD) return a->numbers.at[state];
    if (n == MAX_STATES) return a->given_up = true, NONE;
    if (n > DEAD && a->view < VB_TIERS && !note_finish(a, state)) return NONE;
    lx_state info = a->e->lx.info.at[state];
    bool ends = n > START && (info.accepts != NONE || info.skips); /* not where nothing has been read yet */
    if (!vec_push(b, &a->states, state) || !vec_push(b, &a->ends, ends ? ON_PATH | HERE : 0) || !vec_reserve(b, &a->next, n_classes)) return NONE;
    memset(a->next.at + a->next.n, n == DEAD ? 0 : 0xff, n_classes * sizeof *a->next.at);
    a->next.n += n_classes;
    if (n > START) a->numbers.at[state] = (u16)n; /* the start has no number: to come back to it is to have read something */
    return n;
}

/* The transition of a state, which is not known yet. NONE: failure, or given up. */
static u32 step_first(analysis *a, u32 from, u32 c) {
    u32 state = lx_step(&a->e->lx, a->states.at[from], c), to = state == NONE ? NONE : number_of(a, state);
    if (to == NONE) return NONE;
    return a->next.at[from * a->e->lx.x.n_classes + c] = (u16)to;
}

static void set_twins(const tt_trie *trie, u32 node, u32 *bits) {
    for (u32 more, token = tt_token(trie, node, &more); token != NONE; token = tt_more(trie, &more))
        bits[token >> 5] |= (u32)1 << (token & 31);
}

/* The nodes [*from, *to) of one depth, all of whose parents have been visited; then *from and *to are those between which some are alive. No
 * branch depends on whether a node is a token or the state is dead: both come in no order, and a dead state is a state like others. */
static bool walk_level(analysis *a, u32 *from, u32 *to, u32 depth) {
    const u32 *parent = a->trie->parent.at, *tokens = a->trie->token.at, n_classes = a->e->lx.x.n_classes;
    const u8 *class_of = a->e->lx.x.class_of, *bytes = a->trie->byte.at, *ends = a->ends.at;
    const u16 *next = a->next.at;
    u32 *bits = a->inner->bits, nowhere = 0, live_from = NONE, live_to = 0;
    u16 *at = a->at;
    u8 *end = a->end;
    for (u32 i = *from; i < *to; i++) {
        u32 above = parent[i], c = class_of[bytes[i]], token = tokens[i], state = next[at[above] * n_classes + c];
        if (state == UNKNOWN) {
            if ((state = step_first(a, at[above], c)) == NONE) return false;
            next = a->next.at;
            ends = a->ends.at;
        }
        bool alive = state != DEAD;
        at[i] = (u16)state;
        end[i] = (u8)((end[above] & ON_PATH) | ends[state]);
        u32 *word = !alive || token & TT_MANY ? &nowhere : &bits[token >> 5];
        *word |= (u32)1 << (token & 31);
        live_to = alive ? i + 1 : live_to;
        live_from = alive && live_from == NONE ? i : live_from;
        if (token & TT_MANY && token != NONE && alive) set_twins(a->trie, i, bits);
        if (end[above] && !alive) {
            end[i] = 0;
            if (at[above] != DEAD && !add_tails(a, i, depth)) return false;
        }
    }
    *from = live_from == NONE ? 0 : live_from;
    *to = live_to;
    return true;
}

/* Walks all tokens below a hub, or those that are not in a slice that stays inside, level by level. */
static bool walk_lexer(analysis *a) {
    ge_engine *e = a->e;
    bool is_clamped = a->view < VB_TIERS;
    u32 hub = is_clamped ? 0 : a->view - VB_TIERS, node = e->v->hubs[hub].node, max_depth = is_clamped ? e->v->tiers[a->view].bytes : NONE;
    vb_cut cut;
    id_vec reached = {0}; /* by the tokens of a slice, which are not walked: a clamped unit has to be finished from there, too */
    bool ok = mk_cut(e, a->start, hub, &cut, is_clamped ? &reached : NULL) && number_of(a, LX_DEAD) != NONE && number_of(a, a->start) != NONE;
    for (u32 i = 0; ok && cut.bits && i < reached.n; i++) ok = note_finish(a, reached.at[i]);
    vec_drop(&e->b, &reached);
    if (!ok) return false;
    if (cut.bits) memcpy(a->inner->bits, cut.bits, e->v->n_words * sizeof(u32));
    a->trie = cut.rest;
    u32 n = a->trie->byte.n, from = node, to = node + 1;
    a->at = mem_resize(a->b, NULL, 0, n * sizeof *a->at);
    a->end = mem_resize(a->b, NULL, 0, n);
    ok = a->at && a->end;
    if (ok) {
        a->at[node] = START;
        a->end[node] = 0;
    }
    for (u32 depth = hub ? 2 : 1; ok && depth <= max_depth && from < to && tt_below(a->trie, &from, &to); depth++) {
        e->stats.trie_nodes += to - from;
        ok = walk_level(a, &from, &to, depth);
    }
    if (a->at) mem_resize(a->b, a->at, n * sizeof *a->at, 0);
    if (a->end) mem_resize(a->b, a->end, n, 0);
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
    vec_drop(&e->b, &a.states);
    vec_drop(&e->b, &a.next);
    vec_drop(&e->b, &a.ends);
    vec_drop(&e->b, &a.numbers);
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

/* Tries a view that clamps the unit. *inner = NULL: it cannot be finished before the bounds (or is not known, and not to be made). */
static bool obtain_clamped(ge_engine *e, u32 unit, u32 view, bool make, const vb_inner **inner) {
    u32 bytes = e->v->tiers[view].bytes, clamped = mk_clamp(e, unit, bytes + 1);
    if (clamped == NONE || !obtain(e, clamped, view, make, inner)) return false;
    if (!*inner) return true;
    u32 again = mk_clamp(e, unit, bytes + (*inner)->finish);
    if (again != clamped) {
        done_with(e, *inner);
        *inner = NULL;
    }
    return again != NONE;
}

/* The lexeme-internal mask of a unit below a hub, and its view: clamped as much as is right, so that other units share it, and with as few
 * tokens beyond the tier as that allows. */
static bool obtain_unit(ge_engine *e, u32 unit, u32 hub, bool make, const vb_inner **inner, u32 *view) {
    while (e->unit_views.n <= unit)
        if (!vec_push(&e->b, &e->unit_views, NONE)) return false;
    u32 known = e->unit_views.at[unit];
    *inner = NULL;
    if (hub == 0 && known < VB_TIERS) {
        *view = known;
        return obtain_clamped(e, unit, known, make, inner);
    }
    for (u32 like = VB_TIERS; like-- > 0 && hub == 0 && known == NONE && !(e->switches & GE_NO_CLAMPING);) {
        u32 clamped = mk_clamp(e, unit, e->v->tiers[like].bytes + 1); /* by the tier that drops the most bounds; then by others */
        if (clamped == NONE) return false;
        if (clamped == unit) break;
        for (*view = 0; *view <= like; ++*view) {
            u32 other = mk_clamp(e, unit, e->v->tiers[*view].bytes + 1);
            if (other == NONE) return false;
            if (other != clamped) continue;
            if (!obtain_clamped(e, unit, *view, make, inner)) return false;
            if (*inner) return e->unit_views.at[unit] = *view, true;
            if (!make) return true;
        }
    }
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
