#include "lx.h"

/* Interns the (lexeme, regex) pairs in scratch. */
static u32 intern_state(lx_lexer *l) {
    bool fresh;
    u32 id = intern(l->b, &l->states, l->scratch.at, l->scratch.n, &fresh);
    if (id == NONE || !fresh) return id;
    lx_state info = {.accepts = NONE};
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
    u32 row = l->x.n_classes;
    ok = ok && vec_reserve(l->b, &l->next, row) && vec_push(l->b, &l->info, info);
    if (!ok) {
        intern_undo(&l->states);
        return NONE;
    }
    memset(l->next.at + l->next.n, 0xff, row * sizeof *l->next.at);
    l->next.n += row;
    return id;
}

bool lx_init(lx_lexer *l, budget *b, const rx_arena *x, const lx_lexeme *lexemes, u32 n) {
    memset(l, 0, sizeof *l);
    l->b = b;
    if (!rx_copy(&l->x, b, x) || !vec_reserve(b, &l->lexemes, n + 1u)) return false;
    for (u32 i = 0; i < n; i++) l->lexemes.at[l->lexemes.n++] = lexemes[i];
    if (intern(b, &l->value_sets, l->scratch.at, 0, NULL) != 0) return false;
    /* LX_DEAD needs content that no other state has; LX_IDLE is the empty list. */
    if (!vec_push(b, &l->scratch, 0) || !vec_push(b, &l->scratch, RX_ID_NEVER)) return false;
    if (intern_state(l) != LX_DEAD) return false;
    l->info.at[LX_DEAD] = (lx_state){.accepts = NONE};
    l->scratch.n = 0;
    return intern_state(l) == LX_IDLE;
}

void lx_drop(lx_lexer *l) {
    if (!l->b) return;
    rx_drop(&l->x);
    intern_drop(l->b, &l->states);
    vec_drop(l->b, &l->info);
    vec_drop(l->b, &l->next);
    intern_drop(l->b, &l->accepts);
    vec_drop(l->b, &l->scratch);
    vec_drop(l->b, &l->lexemes);
    intern_drop(l->b, &l->values);
    vec_drop(l->b, &l->spellings);
    intern_drop(l->b, &l->value_sets);
    intern_drop(l->b, &l->distinct);
    vec_drop(l->b, &l->distinct_lexeme);
}

u32 lx_begin(lx_lexer *l, const u32 *lexemes, u32 n) {
    l->scratch.n = 0;
    for (u32 i = 0; i < n; i++)
        if (!vec_push(l->b, &l->scratch, lexemes[i]) || !vec_push(l->b, &l->scratch, l->lexemes.at[lexemes[i]].expr)) return NONE;
    return intern_state(l);
}

u32 lx_step(lx_lexer *l, u32 state, u32 byte_class) {
    u64 slot = (u64)state * l->x.n_classes + byte_class;
    if (!l->no_cache && l->next.at[slot] != NONE) return l->next.at[slot];
    u32 n = lx_count(l, state), byte = l->x.class_byte[byte_class], to = LX_DEAD;
    if (!budget_work(l->b, n)) return NONE;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    for (u32 i = 0; i < n; i++) {
        u32 lexeme = lx_lexeme_at(l, state, i);
        rx_id expr = rx_derive(&l->x, intern_words(&l->states, state)[2 * i + 1], byte);
        if (expr == NONE) return NONE;
        bool empty = rx_is_empty(&l->x, expr);
        if (l->b->status != GE_OK) return NONE;
        if (empty) continue;
        if (l->lexemes.at[lexeme].flags & LX_LAZY && rx_nullable(&l->x, expr)) expr = RX_ID_EMPTY;
        l->scratch.at[l->scratch.n++] = lexeme;
        l->scratch.at[l->scratch.n++] = expr;
    }
    if (l->scratch.n) to = intern_state(l);
    if (to != NONE) l->next.at[slot] = to;
    return to;
}
