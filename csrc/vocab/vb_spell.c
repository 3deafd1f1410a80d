/* Spelling a text with the fewest tokens: from its end, the fewest for each position are one more than the fewest after some token there. Of
 * the tokens that do, the longest is taken; of those with equal bytes, the first.
 *
 * Cost: for each position, the bytes from there on that begin some token. */
#include "vb.h"

/* The child of a node by a byte, or NONE. */
u32 vb_child(const tt_trie *t, u32 node, u32 byte) {
    u32 first = t->first.at[node], n = t->first.at[node + 1] - first;
    const u8 *at = n ? memchr(t->byte.at + first, (int)byte, n) : NULL;
    return at ? (u32)(at - t->byte.at) : NONE;
}

bool vb_spell(const ge_vocab *v, budget *b, const u8 *text, u32 n, id_vec *out, bool *spelt) {
    id_vec fewest = {0}, token = {0};
    if (!vec_reserve(b, &fewest, n + 1u) || !vec_reserve(b, &token, n + 1u)) goto failed;
    fewest.at[n] = 0;
    for (u32 at = n; at-- > 0;) {
        fewest.at[at] = NONE;
        for (u32 p = at, node = 0; p < n && (node = vb_child(&v->trie, node, text[p])) != NONE; p++) {
            u32 more, after = fewest.at[p + 1];
            if (v->trie.token.at[node] == NONE || after == NONE || after + 1 > fewest.at[at]) continue;
            fewest.at[at] = after + 1;
            token.at[at] = tt_token(&v->trie, node, &more);
        }
    }
    *spelt = fewest.at[0] != NONE;
    for (u32 at = 0; *spelt && at < n; at += v->offsets[token.at[at] + 1] - v->offsets[token.at[at]])
        if (!vec_push(b, out, token.at[at])) goto failed;
    vec_drop(b, &fewest);
    vec_drop(b, &token);
    return true;
failed:
    vec_drop(b, &fewest);
    vec_drop(b, &token);
    return false;
}

ge_status ge_vocab_spell(const ge_vocab *v, const uint8_t *text, size_t n_text, uint32_t *out, size_t *n_out, ge_err *err) {
    id_vec tokens = {0};
    budget b;
    bool spelt = false;
    budget_init(&b, &v->b.limits);
    if (n_text >= NONE) return err_set(err, GE_E_ARGUMENT, "the text is too long");
    bool ok = vb_spell(v, &b, text, (u32)n_text, &tokens, &spelt);
    *n_out = ok && spelt ? tokens.n : 0;
    if (*n_out) memcpy(out, tokens.at, tokens.n * sizeof *out);
    vec_drop(&b, &tokens);
    return budget_report(&b, err);
}
