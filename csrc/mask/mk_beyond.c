/* Tokens that begin beyond ASCII, where a text is one lexeme.
 *
 * The characters beyond ASCII with which what is left of the lexeme may begin are an expression of their own (regex/rx_beyond.c), and many
 * states have the same: all within `\d{4}-\d{2}`. With it the vocabulary is walked once. A token that is one of those characters, or a part
 * of one, is read in each of these states, and at the *places* where one is complete and longer tokens go on, the walk of a state goes on
 * by itself.
 *
 *     \d{2}-    tokens   D9, D9 A3, EF BC 93, ...     of each of the other digits, and their first bytes
 *               places   EF BC 93, ...                where there are tokens like it and one more character
 *
 * Exactness. A string of the lexeme with a first byte from 0x80 on begins with one of
 * those characters, and each of them begins one, since nothing of a lexer state is empty. */
#include "mk.h"

/* on the way to complete characters, and below; with more, as for text in any script, states are analysed instead */
enum { MAX_BEYOND_NODES = 2000 };

/* Walks the vocabulary with the characters. of->n_places NONE: they are too many. */
static bool outline_chars(ge_engine *e, rx_id chars, mk_beyond *of) {
    const tt_trie *trie = &e->v->trie;
    rx_arena *x = &e->lx.x;
    VEC(mk_place) queue = {0}; /* .config: what is left of the characters */
    id_vec places = {0}, *words = &e->mk.beyond_words;
    bool ok = vec_push(&e->b, &queue, ((mk_place){0, chars}));
    u32 n_nodes = 0, n;
    of->tokens = words->n;
    for (u32 i = 0; ok && i < queue.n && n_nodes < MAX_BEYOND_NODES; i++) {
        mk_place at = queue.at[i];
        for (u32 child = trie->first.at[at.node], end = trie->first.at[at.node + 1]; ok && child < end && n_nodes < MAX_BEYOND_NODES;
             child++) {
            rx_id left = rx_derive(x, at.config, x->class_byte[x->class_of[trie->byte.at[child]]]);
            ok = left != NONE;
            if (!ok || left == RX_ID_NEVER) continue;
            const u32 *tokens = tt_tokens(trie, child, child + 1, &n);
            for (u32 k = 0; ok && k < n; k++) ok = vec_push(&e->b, words, tokens[k]);
            if (!ok || trie->first.at[child] == trie->first.at[child + 1]) continue;
            ok = left == RX_ID_EMPTY ? vec_push(&e->b, &places, child) : vec_push(&e->b, &queue, ((mk_place){child, left}));
            n_nodes += left == RX_ID_EMPTY ? tt_size(trie, child) : 1;
        }
        e->stats.trie_nodes += trie->first.at[at.node + 1] - trie->first.at[at.node];
    }
    of->n_tokens = words->n - of->tokens;
    of->n_places = n_nodes < MAX_BEYOND_NODES ? places.n : NONE;
    for (u32 i = 0; ok && i < places.n; i++) ok = vec_push(&e->b, words, places.at[i]);
    vec_drop(&e->b, &queue);
    vec_drop(&e->b, &places);
    return ok;
}

/* *of = what the vocabulary has of the characters beyond ASCII with which
 * an expression may begin; of->n_places NONE: not seen, or too many. */
static bool find_chars(ge_engine *e, rx_id chars, mk_beyond *of) {
    *of = (mk_beyond){.n_places = chars == RX_ANY_BEYOND ? NONE : 0};
    if (chars == RX_ANY_BEYOND || chars == RX_ID_NEVER) return true;
    u32 index = map_get(&e->mk.beyond_of, chars);
    if (index == NONE) {
        index = e->mk.beyond.n;
        if (!outline_chars(e, chars, of) || !vec_push(&e->b, &e->mk.beyond, *of) || !map_put(&e->b, &e->mk.beyond_of, chars, index))
            return false;
    }
    *of = e->mk.beyond.at[index];
    return true;
}

/* Those with which an expression of a lexer state may begin. NONE: failure. */
static rx_id chars_beyond(ge_engine *e, rx_id expr) {
    bool may_know = e->is_one_lexeme && !e->g->longest && !(e->switches & GE_NO_SLICES) && e->lx.x.meta.at[expr].flags & RX_FIRST_EXACT;
    return may_know ? rx_beyond(&e->lx.x, expr) : RX_ANY_BEYOND;
}

bool mk_knows_beyond(ge_engine *e, rx_id expr, bool *answer) {
    mk_beyond of;
    rx_id chars = chars_beyond(e, expr);
    if (chars == NONE || !find_chars(e, chars, &of)) return false;
    *answer = of.n_places != NONE;
    return true;
}

/* ... and those with which the configuration may begin. */
static rx_id chars_of_config(ge_engine *e, u32 config) {
    rx_id chars = RX_ID_NEVER;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state); k++) {
            rx_id more = chars_beyond(e, lx_rest_at(&e->lx, state, k));
            if (more == NONE || more == RX_ANY_BEYOND) return more;
            if (more != chars && (chars = rx_or2(&e->lx.x, chars, more)) == NONE) return NONE;
        }
    }
    return chars;
}

/* The configuration at a place. */
static u32 config_at(ge_engine *e, u32 config, u32 node) {
    const tt_trie *trie = &e->v->trie;
    u8 bytes[4];
    u32 n = 0;
    for (; node; node = trie->parent.at[node]) bytes[n++] = trie->byte.at[node];
    while (n && config != NONE) config = cf_step(e, config, e->lx.x.class_of[bytes[--n]]);
    return config;
}

bool mk_add_beyond(ge_engine *e, u32 config, mk_found *found, bool *done) {
    rx_id chars = chars_of_config(e, config);
    mk_beyond of;
    if (chars == NONE || !find_chars(e, chars, &of)) return false;
    *done = of.n_places != NONE;
    if (!*done) return true;
    if (!mk_add_listed(e, found, e->mk.beyond_words.at + of.tokens, of.n_tokens) || !vec_reserve(&e->b, &e->mk.runs, of.n_places))
        return false;
    for (u32 i = 0; i < of.n_places; i++) {
        u32 node = e->mk.beyond_words.at[of.tokens + of.n_tokens + i], to = config_at(e, config, node);
        if (to == NONE) return false;
        e->mk.runs.at[e->mk.runs.n++] = (mk_run){node, node + 1, to};
    }
    return true;
}
