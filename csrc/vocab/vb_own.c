/* vb_own: slices that a user lists, expressions for lexemes that the grammars to come will have.
 *
 * Such a slice is the set of tokens with which some text of its expression begins, at the root and below each hub (behind a space, say).
 * Where a lexer state stays alive whatever the slice does, which mask/mk_own.c decides by the automaton of the expression, those tokens are
 * allowed at once. Of the others, those that begin with the same bytes are a trie of their own, and what begins otherwise is found in that
 * of all tokens.
 *
 * Cost: 2 to 4 ms and 0.1 to 0.6 MB for 131,072 tokens. */
#include "vb.h"

void vb_own_drop(vb_own *s, budget *b) {
    for (u32 h = 0; h < VB_HUBS; h++) {
        tt_drop(&s->parts[h].rest, b);
        vec_drop(b, &s->parts[h].bits);
    }
    vec_drop(b, &s->next);
}

/* Which nodes below a hub are to be in the rest: tokens that are not in the
 * slice, and what leads to them, behind the bytes with which the slice begins. */
static bool find_rest(const ge_vocab *v, budget *b, const vb_own *s, u32 hub, byte_vec *keep) {
    const tt_trie *trie = &v->trie;
    const u32 *bits = s->parts[hub].bits.at, *parent = trie->parent.at;
    u32 n = trie->byte.n, root = v->hubs[hub].node;
    if (!vec_reserve(b, keep, n)) return false;
    memset(keep->at, 0, n);
    keep->at[root] = 1;
    for (u32 i = root + 1; i < n; i++) /* parents come before their children */
        keep->at[i] = keep->at[parent[i]] && (parent[i] != root || set_has(&s->first, trie->byte.at[i]));
    for (u32 i = n; i-- > root + 1;) { /* 1: below the hub; 2: also in the rest, and so is what is above */
        if (!keep->at[i]) continue;
        u32 token = keep->at[i] == 2 ? NONE : tt_token(trie, i);
        if (token != NONE && !(bits[token >> 5] >> (token & 31) & 1)) keep->at[i] = 2;
        if (keep->at[i] == 2) keep->at[parent[i]] = 2;
    }
    keep->at[0] = keep->at[root] = 2;
    return true;
}

static bool build_rest(const ge_vocab *v, budget *b, vb_own *s, u32 hub) {
    const tt_trie *from = &v->trie;
    const u32 *bits = s->parts[hub].bits.at;
    tt_trie *to = &s->parts[hub].rest;
    u32 root = v->hubs[hub].node;
    byte_vec keep = {0};
    id_vec old = {0}; /* by new node */
    bool ok = find_rest(v, b, s, hub, &keep) && vec_push(b, &old, 0) && vec_push(b, &to->byte, 0) && vec_push(b, &to->parent, 0);
    for (u32 i = 0; ok && i < old.n; i++) {
        u32 at = old.at[i], n;
        const u32 *tokens = tt_tokens(from, at, at + 1, &n);
        bool is_left = at != 0 && at != root && n && !(bits[*tokens >> 5] >> (*tokens & 31) & 1);
        ok = vec_push(b, &to->token_from, to->tokens.n) && vec_push(b, &to->first, old.n);
        for (u32 k = 0; ok && is_left && k < n; k++) ok = vec_push(b, &to->tokens, tokens[k]);
        for (u32 k = from->first.at[at]; ok && k < from->first.at[at + 1]; k++)
            if (keep.at[k] == 2) ok = vec_push(b, &old, k) && vec_push(b, &to->byte, from->byte.at[k]) && vec_push(b, &to->parent, i);
    }
    ok = ok && vec_push(b, &to->first, old.n) && vec_push(b, &to->token_from, to->tokens.n) && vec_push(b, &to->tokens, 0);
    ok = ok && vec_fit(b, &to->byte) && vec_fit(b, &to->first) && vec_fit(b, &to->parent) && vec_fit(b, &to->token_from) &&
         vec_fit(b, &to->tokens);
    vec_drop(b, &keep);
    vec_drop(b, &old);
    return ok;
}

/* The tokens below a hub that the automaton reads. */
static bool build_bits(const ge_vocab *v, budget *b, vb_own *s, u32 hub) {
    const tt_trie *trie = &v->trie;
    vb_own_part *part = &s->parts[hub];
    u32 from = v->hubs[hub].node, to = from + 1;
    VEC(u16) at = {0};
    bool ok = vec_reserve(b, &part->bits, v->n_words) && vec_reserve(b, &at, trie->byte.n);
    if (ok) {
        memset(part->bits.at, 0, v->n_words * sizeof(u32));
        part->bits.n = v->n_words;
        at.at[from] = VB_OWN_START;
    }
    while (ok && tt_below(trie, &from, &to))
        for (u32 i = from; i < to; i++) {
            u32 state = at.at[i] = s->next.at[at.at[trie->parent.at[i]] * s->n_classes + s->class_of[trie->byte.at[i]]], n;
            const u32 *tokens = tt_tokens(trie, i, i + 1, &n);
            if (state == VB_OWN_DEAD) continue;
            for (u32 k = 0; k < n; k++) part->bits.at[tokens[k] >> 5] |= (u32)1 << (tokens[k] & 31);
            part->n_tokens += n;
        }
    vec_drop(b, &at);
    return ok;
}

bool vb_own_build(const ge_vocab *v, budget *b, vb_own *s) {
    for (u32 byte = 0; byte < 256; byte++)
        if (s->next.at[VB_OWN_START * s->n_classes + s->class_of[byte]]) set_add(&s->first, byte);
    for (u32 h = 0; h < v->n_hubs; h++)
        if (!build_bits(v, b, s, h) || !build_rest(v, b, s, h)) return false;
    return true;
}
