/* Slices that a user lists (vocab/vb_own.c): expressions for lexemes that his grammars will have.
 *
 * A state whose lexemes absorb a slice reads all tokens of it. That is decided on expressions: is there a beginning of a text of the slice
 * after which the state is dead? The automaton of the slice and the lexer are followed side by side, as far as that takes little; else the
 * answer is no. No slice is used where a state reads much besides: there shapes, or the slice of plain tokens, say more.
 *
 * To prepare them is to make the lexeme-internal masks of the states of
 * these lexemes, as long as they are found with the vocabulary by structure. */
#include "mk.h"

enum { /* to see whether a state absorbs a slice: */
    OWN_PAIRS = 500,         /* how many are followed */
    OWN_COST = 1000,         /* how many derivatives that may take */
    OWN_WORK = 1 << 17,
    /* what a state begins with besides is at most one in so many of the nodes of the vocabulary with which the slice begins */
    OWN_BESIDE = 4,
    PREPARED_STATES = 16     /* of a lexeme: as many are looked at */
};

typedef struct own_pair {
    u32 own, state;
} own_pair;

/* Does the state begin as the slice does, and with little besides? */
static bool may_contain(ge_engine *e, u32 state, u32 hub, const vb_own *s, bool *answer) {
    const byte_set *first = lx_first(&e->lx, state);
    const u32 *weight = e->v->hubs[hub].weight;
    u32 inside = 0, beside = 0;
    *answer = true;
    for (u32 byte = 0; first && byte < 256; byte++) {
        bool has = set_has(first, byte);
        *answer &= has || !set_has(&s->first, byte);
        if (set_has(&s->first, byte)) inside += weight[byte];
        else if (has) beside += weight[byte];
    }
    for (u32 h = 1; first && h < e->v->n_hubs && hub == 0; h++) /* they weigh nothing */
        *answer &= set_has(&s->first, e->v->hubs[h].byte) || !set_has(first, e->v->hubs[h].byte);
    *answer &= OWN_BESIDE * (u64)beside <= inside;
    return first != NULL;
}

/* False: failure. */
static bool follow_own(ge_engine *e, u32 state, const vb_own *s, bool *answer) {
    VEC(own_pair) pairs = {0};
    word_map seen = {0};
    u64 enough = e->lx.x.derivatives + OWN_COST;
    bool ok = vec_push(&e->b, &pairs, ((own_pair){VB_OWN_START, state}));
    *answer = true;
    for (u32 i = 0; ok && *answer && i < pairs.n; i++) {
        own_pair at = pairs.at[i];
        *answer = e->lx.x.derivatives < enough;
        for (u32 byte = 0, before = NONE; ok && *answer && byte < 256; byte++) {
            u32 own = s->next.at[at.own * s->n_classes + s->class_of[byte]], c = e->lx.x.class_of[byte], alike = own << 8 | c;
            if (own == VB_OWN_DEAD || alike == before) continue; /* mostly it is as with the byte before */
            before = alike;
            u32 to = lx_step(&e->lx, at.state, c);
            ok = to != NONE;
            *answer = to != LX_DEAD && pairs.n < OWN_PAIRS;
            u64 key = (u64)own << 32 | to;
            if (!ok || !*answer || map_get(&seen, key) != NONE) continue;
            ok = map_put(&e->b, &seen, key, 0) && vec_push(&e->b, &pairs, ((own_pair){own, to}));
        }
    }
    vec_drop(&e->b, &pairs);
    map_drop(&e->b, &seen);
    return ok;
}

bool mk_find_own(ge_engine *e, u32 state, u32 hub, u32 most_rest, const vb_own **own) {
    const ge_vocab *v = e->v;
    u32 most = 0;
    *own = NULL;
    for (u32 i = 0; i < v->n_own && !e->g->g.has_distinct && !(e->switches & GE_NO_SLICES); i++) {
        const vb_own_part *part = &v->own[i].parts[hub];
        bool answer = part->n_tokens > most && part->rest.byte.n <= most_rest;
        if (answer && !may_contain(e, state, hub, &v->own[i], &answer)) return false;
        if (!answer) continue;
        budget_part work = budget_begin_part(&e->b, OWN_WORK);
        bool ok = follow_own(e, state, &v->own[i], &answer);
        if (budget_end_part(&e->b, work) || (ok && !answer)) continue;
        if (!ok) return false;
        most = part->n_tokens;
        *own = &v->own[i];
    }
    return true;
}

bool mk_add_by_own(ge_engine *e, cf_alternative a, u32 hub, const vb_own *own, mk_found *found) {
    const tt_trie *trie = &e->v->trie;
    u32 root = e->v->hubs[hub].node, config = cf_single(e, a), n;
    e->stats.slice_hits++;
    mk_add_bits(e, found, own->parts[hub].bits.at);
    bool ok = config != NONE && mk_add(e, &own->parts[hub].rest, hub ? 1 : 0, a, NULL, found);
    for (u32 i = trie->first.at[root]; ok && i < trie->first.at[root + 1]; i++) {
        if (set_has(&own->first, trie->byte.at[i])) continue;
        u32 to = cf_step(e, config, e->lx.x.class_of[trie->byte.at[i]]);
        ok = to != NONE;
        if (!ok || to == CF_DEAD) continue;
        const u32 *tokens = tt_tokens(trie, i, i + 1, &n);
        ok = mk_add_listed(e, found, tokens, n) && mk_walk(e, trie, i, to, found);
    }
    return ok;
}

static_assert(VB_OWN_STATES == 1000 && VB_MOST_OWN == 16, "two messages below say so");

/* The automaton of a lexeme. *fault: why it is no slice, which is no failure of a budget. */
static bool read_automaton(ge_engine *e, u32 lexeme, budget *b, vb_own *s, const char **fault) {
    lx_lexer *l = &e->lx;
    id_vec states = {0}, numbers = {0};
    u32 pair[] = {lexeme, l->lexemes.at[lexeme].expr}, n_classes = l->x.n_classes, begin = LX_DEAD;
    bool ok = pair[1] == RX_ID_NEVER || (begin = lx_state_of(l, pair, 1)) != NONE;
    memcpy(s->class_of, l->x.class_of, sizeof s->class_of);
    s->n_classes = n_classes;
    ok = ok && vec_push(&e->b, &states, LX_DEAD) && vec_push(&e->b, &states, begin);
    for (u32 i = 0; ok && i < states.n; i++)
        for (u32 c = 0; ok && c < n_classes; c++) {
            u32 to = i == VB_OWN_DEAD || states.at[i] == LX_DEAD ? LX_DEAD : lx_step(l, states.at[i], c), number = VB_OWN_DEAD;
            ok = to != NONE && (to == LX_DEAD || vec_reach(&e->b, &numbers, to));
            if (ok && to != LX_DEAD) {
                if (numbers.at[to] == NONE) {
                    numbers.at[to] = states.n;
                    ok = vec_push(&e->b, &states, to);
                }
                number = numbers.at[to];
            }
            if (ok && states.n > VB_OWN_STATES) *fault = "it has more than 1,000 states", ok = false;
            ok = ok && vec_push(b, &s->next, (u16)number);
        }
    if (ok && begin == LX_DEAD) *fault = "it matches no text, or only the empty one", ok = false;
    vec_drop(&e->b, &states);
    vec_drop(&e->b, &numbers);
    return ok;
}

ge_status ge_vocab_slice(ge_engine *e, uint32_t n, uint32_t *faulty, ge_err *err) {
    ge_vocab *v = e->v;
    const char *fault = n > VB_MOST_OWN ? "there are more than 16" : NULL;
    if (v->n_own) return GE_OK; /* an earlier call has made them; what came after it may have failed */
    vb_own *own = calloc(n ? n : 1, sizeof *own);
    u32 i = 0;
    en_begin(e);
    lock_take(&v->lock);
    budget_begin(&v->b);
    bool ok = own && !fault;
    for (; ok && i < n; i += ok) {
        budget_begin(&e->b); /* each may take as long as one step of a matcher */
        ok = read_automaton(e, i, &v->b, &own[i], &fault) && vb_own_build(v, &v->b, &own[i]);
        if (ok && !own[i].parts[0].n_tokens) fault = "no token of the vocabulary begins a text of it", ok = false;
    }
    *faulty = i;
    if (ok) v->own = own, v->n_own = n;
    for (u32 k = 0; own && !ok && k < n; k++) vb_own_drop(&own[k], &v->b);
    if (!ok) free(own);
    ge_status status = !own ? GE_E_MEMORY : v->b.status;
    lock_release(&v->lock);
    ge_status other = en_end(e, err);
    if (other != GE_OK || ok) return other;
    return fault ? err_set(err, GE_E_ARGUMENT, fault) : (err->status = status);
}

/* The lexeme-internal masks of a state, at the root and, where a lexeme begins, below hubs. */
static bool prepare_state(ge_engine *e, u32 state, bool begins) {
    for (u32 hub = 0; hub < (begins ? e->v->n_hubs : 1); hub++) {
        mk_parts parts;
        if (!mk_split(e, state, hub, &parts)) return false;
        for (u32 i = 0; i < parts.n; i++)
            if (!mk_prepare(e, parts.unit[i], hub)) return false;
    }
    return true;
}

static bool prepare_lexeme(ge_engine *e, u32 lexeme) {
    lx_lexer *l = &e->lx;
    u32 pair[] = {lexeme, l->lexemes.at[lexeme].expr}, begin = pair[1] == RX_ID_NEVER ? LX_DEAD : lx_state_of(l, pair, 1);
    id_vec states = {0};
    bool ok = begin != NONE && vec_push(&e->b, &states, begin);
    for (u32 i = 0; ok && i < states.n && begin != LX_DEAD; i++) {
        ok = prepare_state(e, states.at[i], i == 0);
        for (u32 c = 0; ok && c < l->x.n_classes && states.n < PREPARED_STATES; c++) {
            u32 to = lx_step(l, states.at[i], c), k = 0;
            ok = to != NONE;
            while (k < states.n && states.at[k] != to) k++;
            if (ok && to != LX_DEAD && k == states.n) ok = vec_push(&e->b, &states, to);
        }
    }
    vec_drop(&e->b, &states);
    return ok;
}

ge_status ge_vocab_prepare(ge_engine *e, ge_err *err) {
    en_begin(e);
    bool ok = true;
    for (u32 i = 0; ok && i < e->g->n_lexemes; i++) ok = prepare_lexeme(e, i);
    return en_end(e, err);
}
