/* mt: a matcher, one text that is being written. Its whole state is a list of configurations, one per step (mt_read.c); so a rollback drops
 * the last of them, a fork copies them, and a refused token leaves no trace.
 *
 * Which tokens end the text, each matcher knows: those of its vocabulary, or others (ge_matcher_end_with). They are allowed where the text
 * is a sentence. When one is accepted there the text is ended: from then on they, and only they, are accepted. Elsewhere they are what they
 * spell, if anything.
 *
 * A matcher also knows which mask it wrote last, and where to, so that it can tell that a call has written the same there again. */
#include "mt.h"

#include "../mask/mk.h"
#include "mt_read.h"

typedef struct mt_written { /* by the last call that wrote a mask */
    const u32 *mask; /* where to; NULL: nothing */
    u32 config;      /* whose mask; CF_DEAD: of an ended text */
    bool complete;   /* with the tokens that end a text */
    u64 kept;        /* cf_record.mask: equal references are equal masks */
} mt_written;

struct ge_matcher {
    ge_engine *e;
    id_vec ends;       /* where has_ends: the tokens that end the text; else those of the vocabulary do */
    bool has_ends;
    VEC(mt_step) steps;
    mt_written written;
    bool same; /* the call before had written that there as well */
    atomic_flag busy;
    VEC(u8) text; /* what the steps that are no tokens have added */
    budget b;     /* of the history only: its failures are this matcher's */
};

ge_engine *mt_engine(const ge_matcher *m) { return m->e; }

mt_ends mt_ends_of(const ge_matcher *m) {
    return m->has_ends ? (mt_ends){m->ends.at, m->ends.n} : (mt_ends){m->e->v->eos, m->e->v->n_eos};
}

/* Every call that reads steps, or changes them, runs between these two: misuse by several threads is an error, never a corruption. (Not
 * ge_matcher_length, which reads one number.) */
static bool enter(ge_matcher *m, ge_err *err) {
    if (!atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire)) return true;
    err_set(err, GE_E_BUSY, "");
    return false;
}

static int32_t leave(ge_matcher *m, int32_t result) {
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
    return result;
}

static mt_step state_of(const ge_matcher *m) {
    return m->steps.n ? m->steps.at[m->steps.n - 1] : (mt_step){.config = CF_START};
}

static ge_status new_matcher(ge_engine *engine, ge_matcher **out, ge_err *err) {
    ge_matcher *m = calloc(1, sizeof *m);
    if (!m) return err_set(err, GE_E_MEMORY, "");
    m->e = engine;
    share_take(&engine->shares);
    budget_init(&m->b, &engine->g->b.limits); /* those of the engine change while it works */
    atomic_flag_clear(&m->busy);
    *out = m;
    return GE_OK;
}

ge_status ge_matcher_new(ge_engine *engine, ge_matcher **out, ge_err *err) {
    mk_go_ahead(engine);
    mk_try_table(engine);
    return new_matcher(engine, out, err);
}

static ge_status do_end_with(ge_matcher *m, const uint32_t *ends, size_t n, ge_err *err) {
    id_vec copy = {0};
    for (size_t i = 0; i < n; i++)
        if (ends[i] >= m->e->v->n_tokens) return err_set(err, GE_E_ARGUMENT, "a token that ends the text is out of range");
    /* so nobody looks at others */
    if (m->steps.n || m->has_ends) return err_set(err, GE_E_ARGUMENT, "the text has begun, or its ends are known");
    budget_begin(&m->b);
    if (n >= NONE || !vec_reserve(&m->b, &copy, n)) return budget_report(&m->b, err);
    if (n) memcpy(copy.at, ends, n * sizeof *ends);
    copy.n = (u32)n;
    m->ends = copy;
    m->has_ends = true;
    return GE_OK;
}

static ge_status do_fork(ge_matcher *from, ge_matcher **out, ge_err *err) {
    ge_status status = new_matcher(from->e, out, err);
    if (status != GE_OK) return status;
    (*out)->has_ends = from->has_ends;
    if (!vec_copy(&(*out)->b, &(*out)->steps, &from->steps) || !vec_copy(&(*out)->b, &(*out)->text, &from->text) ||
        !vec_copy(&(*out)->b, &(*out)->ends, &from->ends)) {
        status = budget_report(&(*out)->b, err);
        ge_matcher_free(*out);
        *out = NULL;
    }
    return status;
}

void ge_matcher_free(ge_matcher *m) {
    if (!m) return;
    vec_drop(&m->b, &m->steps);
    vec_drop(&m->b, &m->text);
    vec_drop(&m->b, &m->ends);
    ge_engine_free(m->e);
    free(m);
}

void ge_matcher_free_at(ge_matcher **at) {
    ge_matcher_free(*at);
    *at = NULL;
}

GE_HOT static int32_t do_accept(ge_matcher *m, const int64_t *tokens, size_t n, bool commit, size_t *n_done, bool warm_only, ge_err *err) {
    mt_step state = state_of(m);
    mt_ends ends = mt_ends_of(m);
    err->status = GE_OK;
    budget_begin(&m->b);
    for (*n_done = 0; *n_done < n; ++*n_done) {
        mt_step next;
        if (!mt_read_token(m->e, ends, state, tokens[*n_done], &next, warm_only, err))
            return warm_only && next.config == NONE ? EN_COLD : err->status;
        if (commit && !vec_push(&m->b, &m->steps, next)) return budget_report(&m->b, err);
        state = next;
    }
    return GE_OK;
}

GE_HOT static int32_t do_accept_token(ge_matcher *m, int64_t token, bool warm_only, ge_err *err) {
    mt_step next;
    err->status = GE_OK;
    if (!mt_read_token(m->e, mt_ends_of(m), state_of(m), token, &next, warm_only, err))
        return warm_only && next.config == NONE ? EN_COLD : err->status;
    if (m->steps.n == m->steps.cap) budget_begin(&m->b);
    return vec_push(&m->b, &m->steps, next) ? 1 : (int32_t)budget_report(&m->b, err);
}

static ge_status do_accept_bytes(ge_matcher *m, const uint8_t *text, size_t n, int32_t commit, size_t *n_done, ge_err *err) {
    mt_step state = state_of(m), next;
    err->status = GE_OK;
    *n_done = 0;
    if (state.ended && n) return GE_OK;
    if (!mt_read_text(m->e, state, text, n, &next, n_done, err)) return (ge_status)err->status;
    if (!commit) return GE_OK;
    budget_begin(&m->b);
    if (n >= NONE || !vec_reserve(&m->b, &m->text, n) || !vec_push(&m->b, &m->steps, next)) return budget_report(&m->b, err);
    if (n) memcpy(m->text.at + m->text.n, text, n);
    m->text.n += (u32)n;
    return GE_OK;
}

static ge_status do_move(ge_matcher *m, ge_engine *engine, ge_err *err) {
    VEC(mt_step) steps = {0};
    mt_step state = {.config = CF_START};
    size_t at = 0;
    err->status = GE_OK;
    budget_begin(&m->b);
    mk_pass_table(m->e, engine);
    bool ok = vec_reserve(&m->b, &steps, m->steps.n) || budget_report(&m->b, err) == GE_OK;
    for (u32 i = 0; ok && i < m->steps.n; i++) {
        mt_step next = m->steps.at[i];
        if (next.token >= 0) {
            ok = mt_read_token(engine, mt_ends_of(m), state, next.token, &next, false, err);
        } else {
            size_t n = (size_t)(-1 - next.token), n_read;
            ok = mt_read_text(engine, state, m->text.at + at, n, &next, &n_read, err);
            at += n;
        }
        if (ok) state = steps.at[steps.n++] = next;
    }
    if (ok) {
        vec_drop(&m->b, &m->steps);
        m->steps.at = steps.at;
        m->steps.n = steps.n;
        m->steps.cap = steps.cap;
        share_take(&engine->shares);
        ge_engine_free(m->e);
        m->e = engine;
        m->written.mask = NULL; /* its configuration was one of the other engine */
        return GE_OK;
    }
    vec_drop(&m->b, &steps);
    return err->status != GE_OK ? (ge_status)err->status : err_set(err, GE_E_ARGUMENT, "not an engine of the same grammar and vocabulary");
}

static ge_status do_rollback(ge_matcher *m, size_t n, ge_err *err) {
    if (n > m->steps.n) return err_set(err, GE_E_ARGUMENT, "rollback past the start");
    for (; n; n--) {
        int64_t token = m->steps.at[--m->steps.n].token;
        if (token < 0) m->text.n -= (u32)(-1 - token);
    }
    return GE_OK;
}

ge_status ge_matcher_reset(ge_matcher *m, ge_err *err) {
    if (!enter(m, err)) return GE_E_BUSY;
    m->steps.n = m->text.n = 0;
    return leave(m, GE_OK);
}

size_t ge_matcher_length(const ge_matcher *m) { return m->steps.n; }

ge_status ge_matcher_history(ge_matcher *m, int64_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    if (!enter(m, err)) return GE_E_BUSY;
    for (*n_out = 0; *n_out < m->steps.n && *n_out < capacity; ++*n_out)
        out[*n_out] = m->steps.at[*n_out].token < 0 ? -1 : m->steps.at[*n_out].token;
    return leave(m, GE_OK);
}

GE_HOT int32_t ge_matcher_flags(ge_matcher *m, ge_err *err) {
    if (!enter(m, err)) return GE_E_BUSY;
    mt_step state = state_of(m);
    return leave(m, (cf_is_complete(m->e, state.config) ? GE_COMPLETE : 0) | (state.ended ? GE_ENDED : 0) | (m->same ? GE_SAME : 0));
}

/* --- masks ----------------------------------------------------------------------------------------------------------------- */

/* Notes what was written. That the configuration's mask may since have been evicted, or kept once more, does no harm: a reference is that
 * of one content for ever. */
GE_HOT static int32_t flags_of_written(ge_matcher *m, const u32 *mask, u32 config, bool complete) {
    mt_written before = m->written;
    bool all = wide_is_full(mask, m->e->v->width);
    m->written = (mt_written){mask, config, complete, atomic_load(&cf_at(m->e, config)->mask)};
    bool same_text = before.kept && before.kept == m->written.kept;
    m->same = before.mask == mask && (before.config == config || (same_text && before.complete == complete));
    return (all ? GE_MASK_ALL : 0) | (m->same ? GE_MASK_SAME : 0);
}

GE_HOT static int32_t do_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, bool warm_only, ge_err *err) {
    ge_engine *e = m->e;
    ge_vocab *v = e->v;
    u32 *mask = masks + row * n_words;
    mt_step state = state_of(m);
    mt_ends ends = mt_ends_of(m);
    if (n_words != v->n_words) return err_set(err, GE_E_ARGUMENT, "the mask has the wrong width");
    if ((uintptr_t)masks % sizeof *masks) return err_set(err, GE_E_ARGUMENT, "the mask buffer is not aligned to 4 bytes");
    if (state.ended) {
        state.config = CF_DEAD;
        wide_clear(mask, n_words);
    } else if (!mk_warm(e, state.config, mask)) {
        if (warm_only) return EN_COLD;
        ge_status status = qs_mask(e, state.config, mask, err);
        if (status != GE_OK) {
            m->written.mask = NULL;
            m->same = false;
            return status;
        }
    }
    bool complete = state.ended || cf_is_complete(e, state.config);
    for (u32 i = 0; complete && i < ends.n; i++) mask[ends.at[i] >> 5] |= (u32)1 << (ends.at[i] & 31);
    return flags_of_written(m, mask, state.config, complete);
}

/* --- questions ------------------------------------------------------------------------------------------------------------- */

static int32_t do_forced_bytes(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err) {
    mt_step state = state_of(m);
    *n_out = 0;
    return state.ended ? (int32_t)GE_OK : qs_forced_bytes(m->e, state.config, out, capacity, n_out, warm_only, err);
}

static ge_status do_closing(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    mt_step state = state_of(m);
    *n_out = 0;
    return state.ended ? GE_OK : qs_closing(m->e, state.config, out, capacity, n_out, err);
}

/* Behind the tokens that close a text the one that ends it is put, if there is one
 * and room for it. (None of them ends it before: at a sentence a closing is over.) */
static void put_end(const ge_matcher *m, u32 *out, size_t capacity, size_t *n_out) {
    mt_ends ends = mt_ends_of(m);
    if (ends.n && *n_out < capacity) out[*n_out] = ends.at[0];
    *n_out += ends.n > 0;
}

static ge_status do_closing_tokens(ge_matcher *m, uint32_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    mt_step state = state_of(m);
    *n_out = 0;
    if (state.ended) return GE_OK;
    u32 config = mt_unclamped(m->e, state, err);
    if (config == NONE) return (ge_status)err->status;
    ge_status status = qs_closing_tokens(m->e, config, out, capacity, n_out, err);
    if (status == GE_OK) put_end(m, out, capacity, n_out);
    return status;
}

static ge_status do_closing_within(ge_matcher *m, uint32_t most, uint32_t *out, size_t *n_out, ge_err *err) {
    mt_step state = state_of(m);
    *n_out = 0;
    if (state.ended) return GE_OK;
    u32 config = mt_unclamped(m->e, state, err), n_ends = mt_ends_of(m).n > 0;
    if (config == NONE) return (ge_status)err->status;
    *n_out = SIZE_MAX;
    if (most < n_ends) return GE_OK;
    ge_status status = qs_closing_within(m->e, config, most - n_ends, out, n_out, err);
    if (status == GE_OK && *n_out != SIZE_MAX) put_end(m, out, most, n_out);
    return status;
}

/* What ends the text where there is just so much room ends it where there is more. */
GE_HOT static int32_t do_closes_within(ge_matcher *m, size_t left, bool *closes, bool warm_only, ge_err *err) {
    mt_step state = state_of(m);
    *closes = false;
    if (mt_ends_of(m).n && !left--) return GE_OK;
    int32_t status = qs_closes_within(m->e, state.config, left, closes, warm_only, err);
    if (status != GE_OK || *closes || !state.spare) return status;
    if (warm_only) return EN_COLD;
    u32 config = mt_unclamped(m->e, state, err);
    return config == NONE ? err->status : qs_closes_within(m->e, config, left, closes, false, err);
}

static ge_status do_expected(ge_matcher *m, const uint8_t *text, size_t n_text, qs_expectation *out, ge_err *err) {
    mt_step state = state_of(m);
    size_t n_read;
    err->status = GE_OK;
    if (state.ended) return err_set(err, GE_E_ARGUMENT, "the text has ended");
    if (!mt_read_text(m->e, state, text, n_text, &state, &n_read, err))
        return err->status != GE_OK ? (ge_status)err->status : err_set(err, GE_E_ARGUMENT, "the text is refused");
    u32 config = mt_unclamped(m->e, state, err);
    if (config == NONE) return (ge_status)err->status;
    return qs_expected(m->e, config, out, err);
}

/* --- the public calls ---------------------------------------------------------------------------------------------------- */

ge_status ge_matcher_end_with(ge_matcher *m, const uint32_t *ends, size_t n, ge_err *err) {
    return enter(m, err) ? leave(m, do_end_with(m, ends, n, err)) : GE_E_BUSY;
}

ge_status ge_matcher_fork(ge_matcher *m, ge_matcher **out, ge_err *err) {
    return enter(m, err) ? leave(m, do_fork(m, out, err)) : GE_E_BUSY;
}

GE_HOT int32_t mt_accept(ge_matcher *m, const int64_t *tokens, size_t n, bool commit, size_t *n_done, bool warm_only, ge_err *err) {
    return enter(m, err) ? leave(m, do_accept(m, tokens, n, commit, n_done, warm_only, err)) : GE_E_BUSY;
}

ge_status ge_matcher_accept(ge_matcher *m, const int64_t *tokens, size_t n, int32_t commit, size_t *n_done, ge_err *err) {
    return (ge_status)mt_accept(m, tokens, n, commit, n_done, false, err);
}

GE_HOT int32_t mt_accept_token(ge_matcher *m, int64_t token, bool warm_only, ge_err *err) {
    return enter(m, err) ? leave(m, do_accept_token(m, token, warm_only, err)) : (int32_t)GE_E_BUSY;
}

int32_t ge_matcher_accept_token(ge_matcher *m, int64_t token, ge_err *err) { return mt_accept_token(m, token, false, err); }

ge_status ge_matcher_accept_bytes(ge_matcher *m, const uint8_t *text, size_t n, int32_t commit, size_t *n_done, ge_err *err) {
    return enter(m, err) ? leave(m, do_accept_bytes(m, text, n, commit, n_done, err)) : GE_E_BUSY;
}

ge_status ge_matcher_move(ge_matcher *m, ge_engine *engine, ge_err *err) {
    return enter(m, err) ? leave(m, do_move(m, engine, err)) : GE_E_BUSY;
}

ge_status ge_matcher_rollback(ge_matcher *m, size_t n, ge_err *err) {
    return enter(m, err) ? leave(m, do_rollback(m, n, err)) : GE_E_BUSY;
}

GE_HOT int32_t mt_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, bool warm_only, ge_err *err) {
    return enter(m, err) ? leave(m, do_fill_mask(m, masks, row, n_words, warm_only, err)) : (int32_t)GE_E_BUSY;
}

int32_t ge_matcher_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, ge_err *err) {
    return mt_fill_mask(m, masks, row, n_words, false, err);
}

int32_t mt_forced_bytes(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err) {
    return enter(m, err) ? leave(m, do_forced_bytes(m, out, capacity, n_out, warm_only, err)) : (int32_t)GE_E_BUSY;
}

ge_status ge_matcher_forced_bytes(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    return mt_forced_bytes(m, out, capacity, n_out, false, err);
}

GE_HOT int32_t mt_closes_within(ge_matcher *m, size_t left, bool *closes, bool warm_only, ge_err *err) {
    return enter(m, err) ? leave(m, do_closes_within(m, left, closes, warm_only, err)) : (int32_t)GE_E_BUSY;
}

ge_status ge_matcher_closing(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    return enter(m, err) ? leave(m, do_closing(m, out, capacity, n_out, err)) : GE_E_BUSY;
}

ge_status ge_matcher_closing_tokens(ge_matcher *m, uint32_t *out, size_t capacity, size_t *n_out, ge_err *err) {
    return enter(m, err) ? leave(m, do_closing_tokens(m, out, capacity, n_out, err)) : GE_E_BUSY;
}

ge_status ge_matcher_closing_within(ge_matcher *m, uint32_t most, uint32_t *out, size_t *n_out, ge_err *err) {
    return enter(m, err) ? leave(m, do_closing_within(m, most, out, n_out, err)) : GE_E_BUSY;
}

ge_status ge_matcher_expected(ge_matcher *m, const uint8_t *text, size_t n_text, uint32_t live[8], uint32_t *lexemes, size_t *n_lexemes,
                              uint32_t *nonterminals, size_t *n_nonterminals, size_t capacity, ge_err *err) {
    qs_expectation out = {.live = live, .lexemes = lexemes, .nonterminals = nonterminals, .capacity = capacity};
    if (!enter(m, err)) return GE_E_BUSY;
    ge_status status = leave(m, do_expected(m, text, n_text, &out, err));
    *n_lexemes = out.n_lexemes;
    *n_nonterminals = out.n_nonterminals;
    return status;
}
