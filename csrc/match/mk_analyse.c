/* The analysis of a unit: its lexeme-internal mask, from a walk of the vocabulary with the lexer alone (mk_inner.c says what it is for).
 *
 * The trie is gone through level by level, a state of the lexer for each node. A token that ends where the state is alive stays inside. Where
 * the lexer dies, each token at the node and below leaves at the places above where a lexeme ends: what is left of it after each of
 * them is a *tail*.
 *
 * Cost: about 6 ns a node; for 131,072 tokens 1 to 2 ms with all tails, once for a vocabulary. */
#include "mk.h"

enum {
    MAX_TAILS = 30000, /* a unit from which more tokens leave is better walked */
    MAX_FINISH = 16    /* bytes; a clamped unit with states that are further from an end stands for no other */
};

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

vb_inner *mk_analyse(ge_engine *e, u32 state, u32 view, mk_key key, budget *b, bool *leaves_much) {
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
    u32 n_tails = a.tails.n;
    vec_drop(&e->b, &a.matched);
    vec_drop(&e->b, &a.tails);
    vec_drop(&e->b, &a.states);
    vec_drop(&e->b, &a.next);
    vec_drop(&e->b, &a.ends);
    vec_drop(&e->b, &a.numbers);
    e->stats.inner_builds++;
    *leaves_much = n_tails > MAX_TAILS;
    if (ok) {
        a.inner->hash = key.hash;
        a.inner->bytes = b->bytes;
        return a.inner;
    }
    vb_inner_free(b, a.inner);
    if (!a.given_up && e->b.status == GE_OK) budget_fail(&e->b, b->status);
    return NULL;
}
