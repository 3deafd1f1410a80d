#include <stdio.h>

#include "../base/wide.h"
#include "td.h"

/* --- plans ---------------------------------------------------------------------------------------------------------------------- */

struct ge_plan {
    budget b;
    ge_vocab *v;
    ba_automaton a;
    td_runs runs; /* if they were asked for */
};

/* Why so many states, if it is these, and how far away their end is: few of those found were followed where each leads to several more. */
static void explain_limit(ge_err *err, const budget *b, const ba_automaton *failed, const ge_grammar *g, bool is_one_lexeme) {
    bool has_values = g->g.has_distinct || g->has_unique;
    const char *in_a_state = is_one_lexeme || has_values
                                 ? "in a state of the automaton"
                                 : "in a state of the automaton; a grammar that is not regular has ever larger ones";
    const char *why = b->limit != LIMIT(max_configurations) ? in_a_state
                      : has_values ? "values that must differ (uniqueItems) are part of the state"
                      : is_one_lexeme ? "the expression has more states"
                                      : "the grammar is not regular, or has more states";
    snprintf(err->text, sizeof err->text, "%s: of those found %u were followed", why, failed->n_states);
}

ge_status ge_plan_new(ge_grammar *grammar, ge_vocab *vocab, uint32_t max_states, int32_t find_runs, ge_plan **out, ge_err *err) {
    ge_engine *e;
    ge_status status = ge_engine_new(grammar, vocab, 0, &e, err);
    if (status != GE_OK) return status;
    ge_plan *p = calloc(1, sizeof *p);
    if (!p) return ge_engine_free(e), err_set(err, GE_E_MEMORY, "");
    e->b.limits.max_configurations = (u64)max_states + CF_START; /* CF_DEAD is none of them */
    budget_init(&p->b, &e->b.limits);
    share_take(&vocab->shares);
    p->v = vocab;
    en_begin(e);
    bool ok = ba_build(&p->a, &p->b, e, (ba_bounds){max_states, UINT64_MAX}, NULL) && (!find_runs || td_find_runs(&p->runs, &p->b, &p->a));
    bool is_one_lexeme = e->is_one_lexeme;
    (void)en_end(e, err);
    ge_engine_free(e);
    if (!ok) {
        status = budget_report(&p->b, err);
        if (status == GE_E_LIMIT) explain_limit(err, &p->b, &p->a, grammar, is_one_lexeme);
        ge_plan_free(p);
        return status;
    }
    *out = p;
    return GE_OK;
}

void ge_plan_free(ge_plan *p) {
    if (!p) return;
    ba_drop(&p->a, &p->b);
    td_drop_runs(&p->runs, &p->b);
    ge_vocab_free(p->v);
    free(p);
}

void ge_plan_free_at(ge_plan **at) {
    ge_plan_free(*at);
    *at = NULL;
}

void ge_plan_read(const ge_plan *p, ge_plan_content *out) {
    *out = (ge_plan_content){p->a.n_states, p->a.n_classes, p->runs.at.n ? p->runs.at.n - 1 : 0, p->runs.text.at, p->runs.at.at};
}

/* --- automata ------------------------------------------------------------------------------------------------------------------ */

ge_dfa *td_new(const ge_limits *limits) {
    ge_dfa *t = calloc(1, sizeof *t);
    if (t && limits) budget_init(&t->b, limits);
    return t;
}

/* err->text = the bytes that a byte state asks for, and a shortest text that leads to it (its last bytes, where it is long): "hex|hex". */
static ge_status report_stuck(budget *b, const ba_automaton *a, u32 stuck, ge_err *err) {
    enum { MISSING_END = 100 };
    id_vec before = {0}; /* [state] = 256 * state before + byte; NONE: not met */
    id_vec walk = {0};
    VEC(u8) text = {0};
    u8 missing[256];
    u32 n_missing = 0;
    bool ok = vec_push(b, &walk, 0);
    for (u32 s = 0; ok && s < a->n_states; s++) ok = vec_push(b, &before, NONE);
    for (u32 i = 0; ok && i < walk.n && before.at[stuck] == NONE; i++)
        for (u32 byte = 0; ok && byte < 256; byte++) {
            u32 s = walk.at[i], k = a->class_of[byte], to = k == BA_NO_CLASS ? NONE : a->next[(size_t)s * a->n_classes + k];
            if (to == NONE || to == 0 || before.at[to] != NONE) continue;
            before.at[to] = 256 * s + byte;
            ok = vec_push(b, &walk, to);
        }
    for (u32 s = stuck; ok && s != 0 && before.at[s] != NONE; s = before.at[s] / 256) ok = vec_push(b, &text, (u8)(before.at[s] % 256));
    for (u32 byte = 0; ok && byte < 256; byte++)
        if (a->class_of[byte] != BA_NO_CLASS && a->next[(size_t)stuck * a->n_classes + a->class_of[byte]] != NONE)
            missing[n_missing++] = (u8)byte;
    if (ok) {
        size_t at = err_add_hex(err, 0, MISSING_END, missing, n_missing);
        err->text[at++] = '|';
        u32 shown = min_u32(text.n, (u32)(sizeof err->text - at - 3) / 2);
        for (u32 i = 0; i < shown / 2; i++) { /* it was collected from its end */
            u8 swap = text.at[i];
            text.at[i] = text.at[shown - 1 - i];
            text.at[shown - 1 - i] = swap;
        }
        at = err_add_hex(err, at, sizeof err->text, text.at, shown);
        err->text[at] = 0;
        err->status = GE_E_SPELLING;
    }
    vec_drop(b, &before);
    vec_drop(b, &walk);
    vec_drop(b, &text);
    return ok ? GE_E_SPELLING : budget_report(b, err);
}

/* All stages. The automaton of the draft is without the runs that are coalesced. NULL: failure, or *stuck as td_reduce has it. */
static ge_dfa *make(td_draft *d, const ba_automaton *whole, const td_edges *edges, u32 n_threads, u32 *stuck) {
    ge_dfa *t = td_new(&d->b->limits);
    bool ok = (t || budget_fail(d->b, GE_E_MEMORY)) && td_behave(d, edges, n_threads) && td_reduce(d, stuck);
    if (ok && *stuck == NONE && td_pack(d, whole, t)) {
        t->exact = d->a == whole;
        return t;
    }
    ge_dfa_free(t);
    return NULL;
}

void td_drop_draft(td_draft *d) {
    vec_drop(d->b, &d->tokens);
    vec_drop(d->b, &d->class_of);
    vec_drop(d->b, &d->all);
    vec_drop(d->b, &d->accepts);
    vec_drop(d->b, &d->state_of);
}

ge_dfa *td_make(budget *b, const ba_automaton *a, ge_vocab *v, id_vec *state_of) {
    td_draft d = {.b = b, .a = a, .v = v};
    u32 stuck = NONE;
    ge_dfa *t = make(&d, a, &(td_edges){0}, 1, &stuck);
    if (t) {
        *state_of = d.state_of;
        d.state_of = (id_vec){0};
    }
    td_drop_draft(&d);
    return t;
}

ge_status ge_dfa_new(ge_plan *p, const uint32_t *spelling, const uint32_t *spelling_at, uint32_t n_threads, ge_dfa **out, ge_err *err) {
    ba_automaton muted = {0};
    td_edges edges = {0};
    td_draft d = {.b = &p->b, .a = spelling_at ? &muted : &p->a, .v = p->v};
    u32 wrong = NONE, stuck = NONE;
    ge_status status = GE_OK;
    budget_begin(&p->b);
    bool ok = !spelling_at || (ba_copy(&muted, &p->b, &p->a) &&
                               td_mute_runs(&p->runs, &p->b, &muted, p->v, spelling, spelling_at, &edges, &wrong));
    if (!ok) status = budget_report(&p->b, err);
    else if (wrong != NONE) status = err_set(err, GE_E_ARGUMENT, "the tokens given for a literal spell something else");
    else if (!(*out = make(&d, &p->a, &edges, n_threads, &stuck)))
        status = stuck != NONE ? report_stuck(&p->b, &p->a, stuck, err) : budget_report(&p->b, err);
    td_drop_draft(&d);
    ba_drop(&muted, &p->b);
    vec_drop(&p->b, &edges);
    return status;
}

static void free_rows(td_rows *rows) {
    free(rows->at.at);
    free(rows->class.at);
    free(rows->to.at);
}

void ge_dfa_free(ge_dfa *t) {
    if (!t || !share_drop(&t->shares)) return;
    if (t->map) {
        td_unmap(t);
    } else {
        void *tables[] = {t->eos,  t->live.at,    t->live_bits, t->rank.at, t->class_of.at, t->mask_of.at,       t->mask,
                          t->row_of.at, t->row, t->mask_words, t->mask_gaps, t->accepts, t->byte_class_of.at, t->byte_accepts};
        for (u32 i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
        free_rows(&t->rows);
        free_rows(&t->byte_rows);
    }
    free(t);
}

void ge_dfa_free_at(ge_dfa **at) {
    ge_dfa_free(*at);
    *at = NULL;
}

size_t ge_dfa_bytes(const ge_dfa *t) { return sizeof *t + (t->map ? t->map_size : t->b.bytes); }

void ge_dfa_read(const ge_dfa *t, ge_dfa_content *out) {
    u32 n_listed = 0;
    for (u32 i = 0; i < t->n_masks; i++) n_listed += td_id(t->row_of, i) == NONE;
    *out = (ge_dfa_content){
        .n_states = t->n_states, .n_classes = t->n_classes, .n_transitions = t->rows.n, .n_masks = t->n_masks,
        .n_listed_masks = n_listed, .n_tokens = t->n_tokens, .width = t->width, .n_words = t->n_words, .exact = t->exact,
        .n_byte_states = t->n_byte_states, .n_byte_classes = t->n_byte_classes, .n_note = t->n_note,
        .byte_accepts = t->has_bytes ? t->accepts : t->byte_accepts, .note = t->note};
}

/* --- serving -------------------------------------------------------------------------------------------------------------------- */

static bool is_eos(const ge_dfa *t, u64 token) {
    for (u32 i = 0; i < t->n_eos; i++)
        if (t->eos[i] == token) return true;
    return false;
}

/* The state to which a class leads, or NONE. */
static u32 follow(const td_rows *rows, u32 state, u32 class) {
    u32 from = td_id(rows->at, state), to = td_id(rows->at, (size_t)state + 1);
    while (from < to) {
        u32 middle = from + (to - from) / 2, found = td_id(rows->class, middle);
        if (found == class) return td_id(rows->to, middle);
        if (found < class) from = middle + 1;
        else to = middle;
    }
    return NONE;
}

static u32 class_of(const ge_dfa *t, u32 token) {
    if (!t->n_live) return td_id(t->class_of, token);
    if (t->by_rank) {
        u64 word = t->live_bits[token / 64], bit = (u64)1 << token % 64;
        return word & bit ? td_id(t->class_of, td_id(t->rank, token / 64) + count_bits(word & (bit - 1))) : NONE;
    }
    u32 from = 0, n = t->n_live;
    while (n > 1) { /* the last one that is not greater */
        u32 half = n / 2;
        if (td_id(t->live, from + half) <= token) from += half;
        n -= half;
    }
    return td_id(t->live, from) == token ? td_id(t->class_of, from) : NONE;
}

u32 td_next(const ge_dfa *t, u32 state, u64 token) {
    if (state > t->n_states || token >= t->n_tokens) return NONE;
    if (state == t->n_states || t->accepts[state]) {
        if (is_eos(t, token)) return t->n_states;
        if (state == t->n_states) return NONE;
    }
    u32 class = class_of(t, (u32)token);
    return class == NONE ? NONE : follow(&t->rows, state, class);
}

static td_row row_of(const ge_dfa *t, u32 mask) {
    u32 row = td_id(t->row_of, mask);
    return row == NONE ? (td_row){0, 0} : t->row[row];
}

void td_fill(const ge_dfa *t, u32 state, u32 *out, bool *all) {
    *all = false;
    if (state == t->n_states) {
        wide_clear(out, t->n_words);
        for (u32 i = 0; i < t->n_eos; i++) out[t->eos[i] >> 5] |= (u32)1 << (t->eos[i] & 31);
        return;
    }
    u32 mask = td_id(t->mask_of, state);
    td_mask m = t->mask[mask];
    td_row row = row_of(t, mask);
    const u16 *gaps = t->mask_gaps + m.at;
    *all = m.all;
    wide_copy(out, t->mask_words + row.at, row.n);
    wide_clear(out + row.n, t->n_words - row.n);
    for (u32 i = 0, token = 0; i < m.n; i++) {
        token += gaps[i];
        if (gaps[i] != TD_GAP) out[token >> 5] ^= (u32)1 << (token & 31);
    }
}

uint32_t ge_dfa_byte_next(const ge_dfa *t, uint32_t state, uint8_t byte) {
    u32 class = td_id(t->byte_class_of, byte);
    return state >= t->n_byte_states || class == NONE ? NONE : follow(t->has_bytes ? &t->rows : &t->byte_rows, state, class);
}

int64_t ge_dfa_next(const ge_dfa *t, uint32_t state, int64_t token) {
    u32 to = token < 0 ? NONE : td_next(t, state, (u64)token);
    return to == NONE ? -1 : (int64_t)to;
}

int32_t ge_dfa_fill_mask(const ge_dfa *t, uint32_t state, uint32_t *mask) {
    bool all;
    if (state > t->n_states) return GE_E_ARGUMENT;
    td_fill(t, state, mask, &all);
    return all ? GE_MASK_ALL : 0;
}

int32_t ge_dfa_accepts(const ge_dfa *t, uint32_t state) { return state == t->n_states || (state < t->n_states && t->accepts[state]); }

size_t ge_dfa_tokens(const ge_dfa *t, uint32_t state, uint32_t *out) {
    size_t n = 0;
    if (state > t->n_states) return 0;
    if (state == t->n_states) {
        for (u32 token = 0; token < t->n_tokens; token++)
            if (is_eos(t, token)) out[n++] = token;
        return n;
    }
    u32 mask = td_id(t->mask_of, state);
    td_mask m = t->mask[mask];
    td_row row = row_of(t, mask);
    const u16 *gap = t->mask_gaps + m.at, *end = gap + m.n;
    u32 token = gap < end ? *gap : 0; /* where the next gap ends */
    for (u32 i = 0; i < t->n_words; i++) {
        u32 left = i < row.n ? t->mask_words[row.at + i] : 0;
        while (gap < end && token >> 5 == i) {
            if (*gap != TD_GAP) left ^= (u32)1 << (token & 31);
            if (++gap < end) token += *gap;
        }
        for (; left; left &= left - 1) out[n++] = 32 * i + (u32)__builtin_ctz(left);
    }
    return n;
}
