/* Spelling a text with the fewest tokens: from its end, the fewest for each position are one more than the fewest after some token there.
 * Of the tokens that do, the longest is taken; of those with equal bytes, the first.
 *
 * Cost. Mostly the bytes from each position on that begin some token are read, which are few. Where they are many (a long token that a long
 * text nearly repeats) the tokens are found as Aho and Corasick (1975) do, by their ends: one visit of each node of the trie, of each byte,
 * and of each occurrence of a token. */
#include "vb.h"

/* The child of a node by a byte, or NONE. */
u32 vb_child(const tt_trie *t, u32 node, u32 byte) {
    u32 first = t->first.at[node], n = t->first.at[node + 1] - first;
    const u8 *at = n ? memchr(t->byte.at + first, (int)byte, n) : NULL;
    return at ? (u32)(at - t->byte.at) : NONE;
}

typedef struct text_walk {
    const tt_trie *t;
    budget *b;
    const u8 *text;
    u32 n, known; /* what is behind so many bytes is known */
    u32 *fewest;  /* position -> tokens from there to the end, or NONE */
    id_vec node;  /* ... and the first of them; not of what is known */
} text_walk;

enum { STEPS_OF_BYTE = 64 }; /* what a walk may take, beside one step for each node of the trie, before it is given up */

/* The tokens at each position. False: that would take long. */
static bool walk_from_each(text_walk *w) {
    u64 steps = (u64)STEPS_OF_BYTE * w->n + w->t->byte.n;
    for (u32 at = w->known; at-- > 0;)
        for (u32 p = at, node = 0; p < w->n && (node = vb_child(w->t, node, w->text[p])) != NONE; p++) {
            u32 after = w->fewest[p + 1];
            if (steps-- == 0) return false;
            if (!tt_has_token(w->t, node) || after == NONE || after + 1 > w->fewest[at]) continue;
            w->fewest[at] = after + 1;
            w->node.at[at] = node;
        }
    return true;
}

/* Node -> the one of its longest proper suffix in the trie; node -> the longest suffix that is a token, or 0; node -> bytes. */
typedef struct suffixes {
    id_vec link, token, depth;
} suffixes;

/* The node of the longest suffix of a node's bytes and one more. */
static u32 next_suffix(const tt_trie *t, const suffixes *s, u32 node, u32 byte) {
    for (;;) {
        u32 child = vb_child(t, node, byte);
        if (child != NONE) return child;
        if (node == 0) return 0;
        node = s->link.at[node];
    }
}

static bool find_suffixes(const tt_trie *t, budget *b, suffixes *s) {
    u32 n = t->byte.n;
    if (!vec_reserve(b, &s->link, n) || !vec_reserve(b, &s->token, n) || !vec_reserve(b, &s->depth, n)) return false;
    s->link.at[0] = s->token.at[0] = s->depth.at[0] = 0;
    for (u32 node = 1; node < n; node++) { /* breadth first: what is shorter comes before */
        u32 parent = t->parent.at[node], link = parent ? next_suffix(t, s, s->link.at[parent], t->byte.at[node]) : 0;
        s->link.at[node] = link;
        s->token.at[node] = tt_has_token(t, link) ? link : s->token.at[link];
        s->depth.at[node] = s->depth.at[parent] + 1;
    }
    return true;
}

/* The tokens by their ends. */
static bool walk_once(text_walk *w) {
    suffixes s = {0};
    id_vec longest = {0}; /* position -> the longest string of the trie that ends there */
    bool ok = find_suffixes(w->t, w->b, &s) && vec_reserve(w->b, &longest, w->n + 1u);
    for (u32 p = 0, node = 0; ok && p < w->n; p++) longest.at[p + 1] = node = next_suffix(w->t, &s, node, w->text[p]);
    for (u32 p = w->n; ok && p > 0; p--) {
        u32 after = w->fewest[p], node = longest.at[p];
        if (after == NONE) continue;
        for (node = tt_has_token(w->t, node) ? node : s.token.at[node]; node; node = s.token.at[node]) {
            u32 at = p - s.depth.at[node];
            if (at >= w->known || after + 1 >= w->fewest[at]) continue; /* a longer one does as well */
            w->fewest[at] = after + 1;
            w->node.at[at] = node;
        }
    }
    vec_drop(w->b, &s.link);
    vec_drop(w->b, &s.token);
    vec_drop(w->b, &s.depth);
    vec_drop(w->b, &longest);
    return ok;
}

static bool find_fewest(text_walk *w) {
    if (!vec_reserve(w->b, &w->node, w->known + 1u)) return false;
    memset(w->fewest, 0xff, w->known * sizeof *w->fewest);
    if (walk_from_each(w)) return true;
    memset(w->fewest, 0xff, w->known * sizeof *w->fewest);
    return walk_once(w);
}

bool vb_fewest(const ge_vocab *v, budget *b, const u8 *text, u32 n, u32 known, u32 *fewest) {
    text_walk w = {.t = &v->trie, .b = b, .text = text, .n = n, .known = known, .fewest = fewest};
    bool ok = find_fewest(&w);
    vec_drop(b, &w.node);
    return ok;
}

bool vb_spell(const ge_vocab *v, budget *b, const u8 *text, u32 n, id_vec *out, bool *spelt) {
    id_vec fewest = {0};
    text_walk w = {.t = &v->trie, .b = b, .text = text, .n = n, .known = n};
    bool ok = vec_reserve(b, &fewest, n + 1u);
    if (ok) (w.fewest = fewest.at)[n] = 0;
    ok = ok && find_fewest(&w);
    *spelt = ok && fewest.at[0] != NONE;
    for (u32 at = 0; ok && *spelt && at < n;) {
        u32 token = tt_token(&v->trie, w.node.at[at]);
        ok = vec_push(b, out, token);
        at += v->offsets[token + 1] - v->offsets[token];
    }
    vec_drop(b, &fewest);
    vec_drop(b, &w.node);
    return ok;
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
