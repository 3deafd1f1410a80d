#include "lx.h"

enum { NARROW = 8 }; /* bytes: where no more are possible, the transition by each is computed by itself */

/* Interns the (lexeme, regex) pairs in scratch. */
static u32 intern_state(lx_lexer *l) {
    bool fresh;
    u32 id = intern(l->b, &l->states, l->scratch.at, l->scratch.n, &fresh);
    if (id == NONE || !fresh) return id;
    lx_state info = {.accepts = NONE, .first = NONE, .same = NONE};
    u32 n = l->scratch.n / 2, k = 0;
    bool ok = id < l->b->limits.max_lexer_states || budget_limit(l->b, LIMIT(max_lexer_states));
    for (u32 i = 0; ok && i < n; i++) {
        u32 lexeme = l->scratch.at[2 * i], expr = l->scratch.at[2 * i + 1];
        info.live |= expr != RX_ID_EMPTY;
        info.distinct |= (l->lexemes.at[lexeme].flags & LX_DISTINCT) != 0;
        if (!rx_nullable(&l->x, expr)) continue;
        if (l->lexemes.at[lexeme].flags & LX_SKIP) info.skips = true;
        else l->scratch.at[k++] = lexeme; /* k <= 2 i: the pairs behind are read already */
    }
    if (ok && k) ok = (info.accepts = intern(l->b, &l->accepts, l->scratch.at, k, NULL)) != NONE;
    ok = ok && vec_reserve(l->b, &l->info, 1);
    void *row = ok ? stable_push(l->b, &l->next) : NULL;
    if (!row) {
        intern_undo(&l->states);
        return NONE;
    }
    memset(row, 0xff, l->next.element);
    l->info.at[l->info.n++] = info;
    return id;
}

bool lx_init(lx_lexer *l, budget *b, const rx_arena *x, const lx_lexeme *lexemes, u32 n) {
    memset(l, 0, sizeof *l);
    l->b = b;
    l->next.element = x->n_classes * (u32)sizeof(u32);
    if (!rx_copy(&l->x, b, x) || !vec_reserve(b, &l->lexemes, n + 1u)) return false;
    for (u32 i = 0; i < n; i++) l->lexemes.at[l->lexemes.n++] = lexemes[i];
    if (intern(b, &l->value_sets, l->scratch.at, 0, NULL) != 0) return false;
    /* LX_DEAD needs content that no other state has; LX_IDLE is the empty list. */
    if (!vec_push(b, &l->scratch, 0) || !vec_push(b, &l->scratch, RX_ID_NEVER)) return false;
    if (intern_state(l) != LX_DEAD) return false;
    l->info.at[LX_DEAD] = (lx_state){.accepts = NONE, .first = NONE, .same = NONE};
    l->scratch.n = 0;
    return intern_state(l) == LX_IDLE;
}

void lx_drop(lx_lexer *l) {
    if (!l->b) return;
    rx_drop(&l->x);
    intern_drop(l->b, &l->states);
    vec_drop(l->b, &l->info);
    stable_drop(l->b, &l->next);
    intern_drop(l->b, &l->accepts);
    vec_drop(l->b, &l->scratch);
    map_drop(l->b, &l->same_of);
    vec_drop(l->b, &l->same);
    vec_drop(l->b, &l->lexemes);
    intern_drop(l->b, &l->values);
    vec_drop(l->b, &l->spellings);
    intern_drop(l->b, &l->value_sets);
    intern_drop(l->b, &l->distinct);
    vec_drop(l->b, &l->distinct_lexeme);
    map_drop(l->b, &l->cheap_of);
    vec_drop(l->b, &l->cheap);
}

u32 lx_begin(lx_lexer *l, const u32 *lexemes, u32 n) {
    l->scratch.n = 0;
    for (u32 i = 0; i < n; i++)
        if (!vec_push(l->b, &l->scratch, lexemes[i]) || !vec_push(l->b, &l->scratch, l->lexemes.at[lexemes[i]].expr)) return NONE;
    return intern_state(l);
}

u32 lx_state_of(lx_lexer *l, const u32 *pairs, u32 n) {
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    memcpy(l->scratch.at, pairs, 2 * n * sizeof *pairs);
    l->scratch.n = 2 * n;
    return intern_state(l);
}

u32 lx_step(lx_lexer *l, u32 state, u32 byte_class) {
    u32 *next = stable_at(&l->next, state);
    if (next[byte_class] != NONE) return next[byte_class];
    u32 n = lx_count(l, state), byte = l->x.class_byte[byte_class], to = LX_DEAD;
    if (!budget_work(l->b, n)) return NONE;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    for (u32 i = 0; i < n; i++) {
        u32 lexeme = lx_lexeme_at(l, state, i);
        rx_id expr = intern_words(&l->states, state)[2 * i + 1];
        byte_set first;
        if (!rx_first(&l->x, expr, &first)) return NONE;
        if (!set_has(&first, byte)) continue; /* most lexemes of a row go on with another byte: no derivative for them */
        expr = rx_derive(&l->x, expr, byte);
        if (expr == NONE) return NONE;
        bool empty = rx_is_empty(&l->x, expr);
        if (l->b->status != GE_OK) return NONE;
        if (empty) continue;
        if (l->lexemes.at[lexeme].flags & LX_LAZY && rx_nullable(&l->x, expr)) expr = RX_ID_EMPTY;
        l->scratch.at[l->scratch.n++] = lexeme;
        l->scratch.at[l->scratch.n++] = expr;
    }
    if (l->scratch.n) to = intern_state(l);
    if (to == NONE || l->no_cache) return to;
    bool narrow;
    lx_classes alike;
    if (!lx_is_narrow(l, state, &narrow)) return NONE;
    if (narrow) return next[byte_class] = to;
    if (!lx_same(l, state, &alike)) return NONE;
    u32 c = byte_class;
    do next[c] = to;
    while ((c = alike.next[c]) != byte_class);
    return to;
}

bool lx_same(lx_lexer *l, u32 state, lx_classes *out) {
    u32 n = l->x.n_classes;
    if (l->info.at[state].same == NONE) {
        id_vec sets = {0};
        bool ok = true;
        for (u32 i = 0; ok && i < lx_count(l, state); i++) ok = rx_add_local(&l->x, intern_words(&l->states, state)[2 * i + 1], &sets);
        u32 local = ok ? rx_intern_local(&l->x, &sets) : NONE;
        vec_drop(l->b, &sets);
        if (local == NONE) return false;
        u32 at = map_get(&l->same_of, local);
        if (at == NONE) {
            at = l->same.n;
            if (!vec_reserve(l->b, &l->same, 2 * n) || !map_put(l->b, &l->same_of, local, at)) return false;
            rx_local_classes(&l->x, local, l->same.at + at, l->same.at + at + n);
            l->same.n += 2 * n;
        }
        l->info.at[state].same = at;
    }
    out->same = l->same.at + l->info.at[state].same;
    out->next = out->same + n;
    return true;
}

bool lx_first(lx_lexer *l, u32 state, byte_set *out) {
    memset(out, 0, sizeof *out);
    if (state == LX_DEAD) return true;
    if (l->info.at[state].first != NONE) return *out = *rx_set_of(&l->x, l->info.at[state].first), true;
    for (u32 i = 0; i < lx_count(l, state); i++) {
        byte_set first;
        if (!rx_first(&l->x, intern_words(&l->states, state)[2 * i + 1], &first)) return false;
        for (u32 k = 0; k < 8; k++) out->w[k] |= first.w[k];
    }
    u32 n_bytes = 0;
    for (u32 k = 0; k < 8; k++) n_bytes += (u32)__builtin_popcount(out->w[k]);
    l->info.at[state].narrow = n_bytes <= NARROW;
    return (l->info.at[state].first = intern(l->b, &l->x.sets, out->w, 8, NULL)) != NONE;
}

bool lx_is_narrow(lx_lexer *l, u32 state, bool *narrow) {
    byte_set first;
    if (!lx_first(l, state, &first)) return false;
    *narrow = l->info.at[state].narrow;
    return true;
}
