/* tn: a turn of a decoding loop in one call. A token that was drawn is appended if
 * the text can still be completed in time, and the mask of the next one is written.
 *
 * Each of this is a public call of its own. After a forward pass everything is out of the caches,
 * and what a loop written in Python spends on the grammar is mostly the way from call to call.
 *
 * The text can be completed in time if its closing has so few bytes that a token for each would do (cl_most), which is told without a
 * search; or if it takes so few tokens (cl_count), which is kept with the configuration; or if the closing that the caller holds is still
 * accepted, which may be a longer text of fewer tokens. What no search finds within its limit counts as no: if there is a way, nobody knows
 * it.
 *
 * Where the grammar leaves no choice, a turn of its own appends what must come. */
#include "tn.h"

#include "mt.h"

enum { TN_FORCED = 1024 }; /* bytes of forced text that one turn takes; the next one takes more */

/* The tokens that end the text where it is now: none unless it is a sentence. GE_OK or a failure. */
static int32_t ends_now(ge_matcher *m, mt_ends *ends, ge_err *err) {
    int32_t flags = ge_matcher_flags(m, err);
    *ends = mt_ends_of(m);
    if (!(flags & (GE_COMPLETE | GE_ENDED))) ends->n = 0;
    return flags < 0 ? flags : GE_OK;
}

/* Whether two tokens of a mask begin with different bytes; those that end the text count as one more byte. */
GE_HOT static bool is_choice(const ge_vocab *v, mt_ends ends, const u32 *mask) {
    u32 first = NONE;
    for (u32 i = 0; i < v->n_words; i++) {
        for (u32 word = mask[i]; word; word &= word - 1) {
            u32 token = 32 * i + (u32)__builtin_ctz(word);
            u32 begin = mt_is_end(ends, token) || token >= v->n_tokens ? 256 : v->text[v->offsets[token]];
            if (first != NONE && first != begin) return true;
            first = begin;
        }
    }
    return false;
}

/* *yes: whether the tokens end the text. GE_OK or a failure. */
static int32_t completes(ge_matcher *m, const int64_t *tokens, size_t n, bool *yes, ge_err *err) {
    size_t n_done = 0;
    int32_t status = mt_accept(m, tokens, n, true, &n_done, false, err);
    int32_t flags = status == GE_OK ? ge_matcher_flags(m, err) : status;
    if (flags < 0) status = flags;
    *yes = status == GE_OK && n_done == n && flags & GE_ENDED; /* the last token may be one that the grammar names there */
    ge_err other; /* the first failure is told */
    int32_t undone = ge_matcher_rollback(m, n_done, status == GE_OK ? err : &other);
    return status == GE_OK ? undone : status;
}

/* Whether the closing begins with these tokens, which are then no longer part of it. */
static bool follows_closing(const ge_turn *t, const int64_t *tokens, size_t n) {
    return n && n <= t->n_closing && !memcmp(t->closing, tokens, n * sizeof *tokens);
}

/* After `n` tokens, of which there are `left`: GE_OK and *in_time, EN_COLD, or a failure. */
GE_HOT static int32_t closes_in_time(ge_matcher *m, const ge_turn *t, const int64_t *tokens, size_t n, bool *in_time, bool warm_only,
                                     ge_err *err) {
    size_t left = t->left - n, written = follows_closing(t, tokens, n) ? n : 0, n_rest = t->n_closing - written;
    int32_t flags = ge_matcher_flags(m, err);
    if (flags < 0) return flags;
    *in_time = !t->must_close || flags & GE_ENDED;
    if (*in_time) return GE_OK;
    int32_t status = mt_closes_within(m, left, in_time, warm_only, err);
    if (status != GE_OK || *in_time || !n_rest || n_rest > left) return status;
    if (warm_only) return EN_COLD;
    return completes(m, t->closing + written, n_rest, in_time, err);
}

GE_HOT int32_t tn_write(ge_matcher *m, ge_turn *t, const int64_t *tokens, size_t n, bool warm_only, ge_err *err) {
    const ge_vocab *v = mt_engine(m)->v;
    mt_ends ends = {0};
    if (n > t->left || t->steps != ge_matcher_length(m)) return GE_TURN_NONE;
    size_t n_done = 0;
    bool in_time = false;
    int32_t status = mt_accept(m, tokens, n, true, &n_done, warm_only, err);
    if (status == GE_OK && n_done == n) status = closes_in_time(m, t, tokens, n, &in_time, warm_only, err);
    if (status == GE_OK && in_time) status = mt_fill_mask(m, t->mask, 0, v->n_words, warm_only, err);
    if (status >= 0 && status != EN_COLD && in_time) status = ends_now(m, &ends, err);
    if (status < 0 || status == EN_COLD || !in_time) {
        (void)ge_matcher_rollback(m, n_done, err);
        return status == EN_COLD ? EN_COLD : status == GE_OK && n_done == n ? GE_TURN_REFUSED : GE_TURN_NONE;
    }
    size_t written = follows_closing(t, tokens, n) ? n : 0;
    t->closing += written;
    t->n_closing -= written;
    t->left -= n;
    t->steps = ge_matcher_length(m);
    return t->next = is_choice(v, ends, t->mask) ? GE_TURN_CHOICE : GE_TURN_ALONE;
}

int32_t ge_matcher_turn(ge_matcher *m, ge_turn *turn, const int64_t *tokens, size_t n, ge_err *err) {
    return tn_write(m, turn, tokens, n, false, err);
}

/* The only token of a mask, or one that ends the text if nothing else may come; NONE if there are several. */
static u32 only_token(const ge_vocab *v, mt_ends ends, const u32 *mask) {
    u32 only = NONE;
    for (u32 i = 0; i < v->n_words; i++) {
        for (u32 word = mask[i]; word; word &= word - 1) {
            u32 token = 32 * i + (u32)__builtin_ctz(word);
            if (mt_is_end(ends, token)) token = ends.at[0];
            if (only != NONE && only != token) return NONE;
            only = token;
        }
    }
    return only;
}

GE_HOT int32_t tn_write_alone(ge_matcher *m, ge_turn *t, int64_t *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err) {
    const ge_vocab *v = mt_engine(m)->v;
    u8 text[TN_FORCED];
    u32 tokens[TN_FORCED];
    mt_ends ends = {0};
    size_t n_text, n = 0;
    *n_out = 0;
    int32_t status = mt_forced_bytes(m, text, sizeof text, &n_text, warm_only, err);
    if (status != GE_OK) return status == EN_COLD ? EN_COLD : GE_TURN_NONE;
    if (n_text) n = ge_vocab_encode(v, text, n_text, tokens);
    if (!n && ends_now(m, &ends, err) != GE_OK) return GE_TURN_NONE;
    if (!n && (tokens[0] = only_token(v, ends, t->mask)) != NONE) n = 1;
    for (; *n_out < n && *n_out < capacity && *n_out < t->left; ++*n_out) out[*n_out] = tokens[*n_out];
    return *n_out ? tn_write(m, t, out, *n_out, warm_only, err) : GE_TURN_NONE;
}

int32_t ge_matcher_turn_alone(ge_matcher *m, ge_turn *turn, int64_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    return tn_write_alone(m, turn, out, capacity, n_out, false, err);
}
