/* tn: a turn of a decoding loop in one call. A token that was drawn is appended if the text can still be completed in time, and the mask of
 * the next one is written.
 *
 * Each of this is a public call of its own. After a forward pass everything is out of the caches, and what a loop written in Python spends on
 * the grammar is mostly the way from call to call.
 *
 * The text can be completed in time if its closing has so few bytes that a token for each would do (cl_most), which is told without a search;
 * or if the closing that the caller holds is still accepted. Else nobody knows without a search, and that is not made here.
 *
 * Where the grammar leaves no choice, a turn of its own appends what must come. */
#include "mt.h"

enum { TN_FORCED = 1024 }; /* bytes of forced text that one turn takes; the next one takes more */

/* Whether two tokens of a mask begin with different bytes; those that end the text count as one more byte. */
static bool is_choice(const ge_vocab *v, const u32 *mask) {
    u32 first = NONE;
    for (u32 i = 0; i < v->n_words; i++) {
        for (u32 word = mask[i]; word; word &= word - 1) {
            u32 token = 32 * i + (u32)__builtin_ctz(word);
            u32 begin = vb_is_eos(v, token) || token >= v->n_tokens ? 256 : v->text[v->offsets[token]];
            if (first != NONE && first != begin) return true;
            first = begin;
        }
    }
    return false;
}

/* Do the tokens lead to the end of a sentence? */
static bool completes(ge_matcher *m, const int64_t *tokens, size_t n, ge_err *err) {
    size_t n_done = 0;
    bool ok = ge_matcher_accept(m, tokens, n, true, &n_done, err) == GE_OK && n_done == n && ge_matcher_flags(m, err) & (1 | 2);
    return ge_matcher_rollback(m, n_done, err) == GE_OK && ok;
}

static bool closes_in_time(ge_matcher *m, const ge_turn *t, ge_err *err) {
    if (t->left == SIZE_MAX || ge_matcher_flags(m, err) & 2) return true;
    u32 most = mt_closing_most(m);
    if (most != NONE && most <= t->left) return true;
    const int64_t *closing = t->closing;
    size_t n = t->n_closing;
    if (n >= t->n_tokens && t->n_tokens && !memcmp(closing, t->tokens, t->n_tokens * sizeof *closing)) {
        closing += t->n_tokens;
        n -= t->n_tokens;
    }
    return n && n <= t->left && completes(m, closing, n, err);
}

int32_t ge_matcher_turn(ge_matcher *m, const ge_turn *turn, ge_err *err) {
    const ge_vocab *v = mt_engine(m)->v;
    size_t n_done = 0;
    bool ok = ge_matcher_accept(m, turn->tokens, turn->n_tokens, true, &n_done, err) == GE_OK && n_done == turn->n_tokens;
    ok = ok && closes_in_time(m, turn, err) && ge_matcher_fill_mask(m, turn->mask, 0, v->n_words, err) >= 0;
    if (ok) return is_choice(v, turn->mask) ? GE_TURN_CHOICE : GE_TURN_ALONE;
    (void)ge_matcher_rollback(m, n_done, err);
    return GE_TURN_NONE;
}

/* The only token of a mask, or one that ends the text if nothing else may come; NONE if there are several. */
static u32 only_token(const ge_vocab *v, const u32 *mask) {
    u32 only = NONE;
    for (u32 i = 0; i < v->n_words; i++) {
        for (u32 word = mask[i]; word; word &= word - 1) {
            u32 token = 32 * i + (u32)__builtin_ctz(word);
            if (vb_is_eos(v, token)) token = v->eos[0];
            if (only != NONE && only != token) return NONE;
            only = token;
        }
    }
    return only;
}

int32_t ge_matcher_turn_alone(ge_matcher *m, const ge_turn *turn, int64_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    const ge_vocab *v = mt_engine(m)->v;
    u8 text[TN_FORCED];
    u32 tokens[TN_FORCED];
    size_t n_text, n_read, n = 0;
    *n_out = 0;
    if (ge_matcher_forced_bytes(m, text, sizeof text, &n_text, err) != GE_OK) return GE_TURN_NONE;
    if (n_text && ge_vocab_encode(v, text, n_text, true, tokens, &n, &n_read, err) != GE_OK) return GE_TURN_NONE;
    if (!n && (tokens[0] = only_token(v, turn->mask)) != NONE) n = 1;
    for (; *n_out < n && *n_out < capacity; ++*n_out) out[*n_out] = tokens[*n_out];
    if (!*n_out) return GE_TURN_NONE;
    ge_turn next = *turn;
    next.tokens = out;
    next.n_tokens = *n_out;
    if (turn->left != SIZE_MAX) next.left -= *n_out;
    return ge_matcher_turn(m, &next, err);
}
