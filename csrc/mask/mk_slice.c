/* Slices: does any text of a kind leave a lexer state alive? Then all tokens
 * of that kind are allowed, and only the rest of the vocabulary is walked.
 *
 *     by the structure of an expression that absorbs the slice (rx_absorb.c)
 *     else by the perils of plain text, if it is seen that there are none (rx_survive.c)
 *     else by following plain text from state to state, as far as that takes little, and not where characters or words are counted
 *
 * Slices that a user lists: mk_own.c.
 *
 * All of it errs towards no. */
#include "mk.h"

enum { /* to see whether plain text leaves all states alive: */
    ABSORBING = 64,            /* how many are followed */
    ABSORBING_COST = 1000,     /* how many derivatives that may take */
    ABSORBING_WORDS = 16,      /* words of a letter, after which a state is to recur */
    ABSORBING_WORK = 1 << 17   /* and how much work, since it may be hard to tell that a state is dead to which no token leads */
};

/* The bytes [from, to) with which plain text may go on, some perhaps not. */
static u32 plain_from(u32 phase) { return phase == UTF8_START ? 0x20 : 0x80; }
static u32 plain_to(u32 phase) { return phase == UTF8_START ? 0xf5 : 0xc0; }

/* False: some byte of plain text is known to be none that can come next. */
static bool may_absorb(ge_engine *e, u32 state, const byte_set *but, u32 phase, bool *answer) {
    const byte_set *first = lx_first(&e->lx, state);
    if (!first) return false;
    *answer = true;
    for (u32 byte = plain_from(phase); byte < plain_to(phase); byte++)
        *answer &= set_has(first, byte) || set_has(but, byte) || mk_plain_step(phase, byte) == UTF8_DEAD;
    return true;
}

/* By following it: pairs (lexer state, what is left of a character in UTF-8). */
static bool follow_plain(ge_engine *e, u32 state, const byte_set *but, id_vec *reached, bool *answer) {
    id_vec phases = {0};
    word_map seen = {0};
    bool ok =
        vec_push(&e->b, reached, state) && vec_push(&e->b, &phases, UTF8_START) && map_put(&e->b, &seen, (u64)state << 8 | UTF8_START, 0);
    u64 enough = e->lx.x.derivatives + ABSORBING_COST;
    *answer = true;
    for (u32 i = 0; ok && *answer && i < phases.n; i++) {
        ok = may_absorb(e, reached->at[i], but, phases.at[i], answer);
        *answer &= e->lx.x.derivatives < enough;
        for (u32 byte = plain_from(phases.at[i]), end = plain_to(phases.at[i]), before = NONE; ok && *answer && byte < end; byte++) {
            u32 phase = mk_plain_step(phases.at[i], byte), c = e->lx.x.class_of[byte], alike = phase << 8 | c;
            if (phase == UTF8_DEAD || alike == before || set_has(but, byte)) continue; /* mostly it is as with the byte before */
            before = alike;
            u32 to = lx_step(&e->lx, reached->at[i], c);
            ok = to != NONE;
            *answer = to != LX_DEAD && phases.n < ABSORBING;
            u64 key = (u64)to << 8 | phase;
            if (!ok || !*answer || map_get(&seen, key) != NONE) continue;
            ok = map_put(&e->b, &seen, key, 0) && vec_push(&e->b, reached, to) && vec_push(&e->b, &phases, phase);
        }
    }
    vec_drop(&e->b, &phases);
    map_drop(&e->b, &seen);
    return ok;
}

/* Is there a most of characters for what is left of each lexeme? Then a long text leaves none alive, and is not to be followed there. */
static bool is_counted(const ge_engine *e, u32 state) {
    bool counted = true;
    for (u32 k = 0, n = lx_count(&e->lx, state), chars; counted && k < n; k++) {
        rx_id expr = lx_rest_at(&e->lx, state, k);
        counted = rx_counts_plain(&e->lx.x, expr, &chars) || rx_room(&e->lx.x, expr) != NONE;
    }
    return counted;
}

/* *answer: does a state recur along the text ` a a a a`? Where words or
 * characters are counted none does, or they die, and so it is seen soon. */
static bool recurs(ge_engine *e, u32 state, bool *answer) {
    u32 seen[ABSORBING_WORDS], n = 0;
    for (*answer = false; !*answer && n < ABSORBING_WORDS && state != LX_DEAD;) {
        seen[n++] = state;
        state = lx_step(&e->lx, state, e->lx.x.class_of[' ']);
        if (state != NONE && state != LX_DEAD) state = lx_step(&e->lx, state, e->lx.x.class_of['a']);
        if (state == NONE) return false;
        for (u32 i = 0; i < n && !*answer; i++) *answer = seen[i] == state;
    }
    return true;
}

bool mk_absorbs(ge_engine *e, u32 state, const byte_set *but, id_vec *reached, bool *answer) {
    *answer = false;
    if (is_counted(e, state)) return true;
    budget_part part = budget_begin_part(&e->b, ABSORBING_WORK);
    bool ok = set_has(but, ' ') || set_has(but, 'a') ? *answer = true : recurs(e, state, answer);
    if (ok && *answer) ok = follow_plain(e, state, but, reached, answer);
    if (!budget_end_part(&e->b, part)) return ok;
    *answer = false;
    return true;
}

/* A lazy lexeme dies at its first match: not as its regex does. */
static bool is_lazy(const ge_engine *e, u32 state, u32 k) { return e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, k)].flags & LX_LAZY; }

bool mk_survives_plain(ge_engine *e, u32 state, u32 n_bytes, u64 kinds, bool *answer) {
    *answer = false;
    if (!vec_reach(&e->b, &e->mk.perils_of, state)) return false;
    u32 index = e->mk.perils_of.at[state];
    if (index != NONE && mk_outlives(&e->mk.perils.at[index], n_bytes, kinds)) return *answer = true;
    const byte_set *first = lx_first(&e->lx, state);
    if (!first) return false;
    if (n_bytes && !set_has(first, 0xe4)) return true; /* most states read no character beyond ASCII */
    for (u32 k = 0, n = lx_count(&e->lx, state); k < n && !*answer; k++)
        *answer = !is_lazy(e, state, k) && rx_absorbs_plain(&e->lx.x, lx_rest_at(&e->lx, state, k), n_bytes);
    if (*answer || index != NONE) return true;
    rx_perils perils;
    if (!mk_find_perils(e, state, &perils) || !vec_push(&e->b, &e->mk.perils, perils)) return false;
    e->mk.perils_of.at[state] = e->mk.perils.n - 1;
    *answer = mk_outlives(&perils, n_bytes, kinds);
    return true;
}

/* The largest slice that stays inside by the structure of some regex of the state. */
vb_cut mk_cut_by_structure(const ge_engine *e, u32 state) {
    const ge_vocab *v = e->v;
    const rx_arena *x = &e->lx.x;
    const u32 *pairs = intern_words(&e->lx.states, state);
    u32 n = lx_count(&e->lx, state), chars;
    for (u32 k = 0; k < n; k++)
        if (is_lazy(e, state, k)) return (vb_cut){NULL, &v->trie};
    for (u32 i = 0; i < VB_N_SLICES; i++)
        for (u32 k = 0; k < n; k++)
            if (rx_absorbs_plain(x, pairs[2 * k + 1], v->slices[i].max_chars)) return (vb_cut){v->slices[i].bits, &v->slices[i].rest};
    if (n == 1 && rx_counts_plain(x, pairs[1], &chars) && chars < VB_SHORT) return (vb_cut){v->up_to[chars], &v->slices[VB_PLAIN].rest};
    return (vb_cut){NULL, &v->trie};
}

bool mk_find_perils(ge_engine *e, u32 state, rx_perils *out) {
    *out = (rx_perils){1, {{0, 0}}};
    for (u32 k = 0, n = lx_count(&e->lx, state); k < n && out->n; k++) {
        if (is_lazy(e, state, k)) continue;
        if (!rx_find_perils(&e->lx.x, lx_rest_at(&e->lx, state, k), e->v->shapes.kind_of, out)) return false;
    }
    return true;
}

/* *answer: may any text come next, of which only the fewest characters are asked? Then `reached` gets, of the states to which plain text
 * leads, those that are the furthest from an end: this one, and the one behind the first byte of the longest character. */
static bool reach_any_text(ge_engine *e, u32 state, id_vec *reached, bool *answer) {
    *answer = lx_count(&e->lx, state) == 1 && !is_lazy(e, state, 0) && rx_is_any_text(&e->lx.x, lx_rest_at(&e->lx, state, 0));
    if (!*answer) return true;
    u32 within = lx_step(&e->lx, state, e->lx.x.class_of[0xf1]);
    return within != NONE && vec_push(&e->b, reached, state) && vec_push(&e->b, reached, within);
}

bool mk_cut(ge_engine *e, u32 state, u32 hub, vb_cut *cut, id_vec *reached) {
    static const byte_set none;
    id_vec states = {0};
    rx_perils perils = {.n = 1};
    bool answer = false, ok = true;
    *cut = (vb_cut){NULL, &e->v->trie};
    if (hub || e->switches & GE_NO_SLICES) return true;
    if (!reached) *cut = mk_cut_by_structure(e, state);
    if (!cut->bits && !reached) ok = mk_find_perils(e, state, &perils);
    answer = perils.n == 0;
    if (reached) ok = reach_any_text(e, state, reached, &answer);
    if (ok && !cut->bits && !answer) ok = mk_absorbs(e, state, &none, reached ? reached : &states, &answer);
    if (ok && answer) *cut = (vb_cut){e->v->slices[VB_PLAIN].bits, &e->v->slices[VB_PLAIN].rest};
    vec_drop(&e->b, &states);
    return ok;
}
