/* qs: what is asked of a configuration: its mask where that is not kept, the bytes that must come, how the text can be closed, what is
 * expected. Each is an operation of the engine (en_begin, en_end), and asks nothing of the text before. What was told once is kept with the
 * configuration (cf_record.forced, most, closes), and then told without the lock. */
#include "qs.h"

#include "../mask/mk.h"

/* --- masks ----------------------------------------------------------------------------------------------------------------- */

/* The bytes that the configuration can read. */
static bool live_bytes(ge_engine *e, u32 config, byte_set *live) {
    memset(live, 0, sizeof *live);
    for (u32 byte = 0; byte < 256; byte++) {
        u32 to = cf_step(e, config, e->lx.x.class_of[byte]);
        if (to == NONE) return false;
        if (to != CF_DEAD) set_add(live, byte);
    }
    return true;
}

/* err->text = the bytes in hexadecimal, as many as fit. */
static ge_status report_spelling(const byte_set *live, ge_err *err) {
    u8 bytes[256];
    size_t n = 0;
    for (u32 byte = 0; byte < 256; byte++)
        if (set_has(live, byte)) bytes[n++] = (u8)byte;
    err->text[err_add_hex(err, 0, sizeof err->text, bytes, n)] = 0;
    return err->status = GE_E_SPELLING;
}

/* The mask of a configuration whose mask is not kept. */
ge_status qs_mask(ge_engine *e, u32 config, u32 *mask, ge_err *err) {
    en_begin(e);
    bool ok = mk_warm(e, config, mask) || mk_cold(e, config, mask), stuck = false;
    byte_set live;
    if (ok && !cf_is_complete(e, config)) { /* some token must go on */
        u32 any = 0;
        for (u32 i = 0; i < e->v->n_words && !any; i++) any |= mask[i];
        stuck = !any && live_bytes(e, config, &live);
    }
    ge_status status = en_end(e, err);
    return status == GE_OK && stuck ? report_spelling(&live, err) : status;
}

/* --- forced text ----------------------------------------------------------------------------------------------------------- */

/* Where the only byte that may come next leads, *byte = it; CF_DEAD: several may come. NONE on failure. */
static u32 forced_step(ge_engine *e, u32 config, u8 *byte) {
    byte_set first;
    u32 only = CF_DEAD;
    if (!cf_first(e, config, &first)) return NONE;
    for (u32 k = 0; k < 8; k++) {
        for (u32 left = first.w[k]; left; left &= left - 1) {
            u32 next_byte = 32 * k + (u32)__builtin_ctz(left), next = cf_step(e, config, e->lx.x.class_of[next_byte]);
            if (next == CF_DEAD) continue;
            if (next == NONE || only != CF_DEAD) return next == NONE ? NONE : CF_DEAD;
            only = next;
            *byte = (u8)next_byte;
        }
    }
    return only;
}

/* Where the configuration must go on to, as far as that was asked before: as forced_step, but NONE: not known. No lock. */
static u32 forced_known(const ge_engine *e, u32 config, u8 *byte) {
    u32 forced = atomic_load_explicit(&cf_at(e, config)->forced, memory_order_relaxed);
    if (forced == CF_UNTOLD || forced == CF_UNFORCED) return forced == CF_UNTOLD ? NONE : CF_DEAD;
    *byte = (u8)(forced - 1);
    return cf_warm(e, config, e->lx.x.class_of[*byte]);
}

static void note_forced(ge_engine *e, u32 config, u32 next, u8 byte) {
    if (next == NONE || e->switches & GE_NO_STATE_CACHE) return;
    atomic_store_explicit(&cf_at(e, config)->forced, (u16)(next == CF_DEAD ? CF_UNFORCED : byte + 1), memory_order_relaxed);
}

GE_HOT int32_t qs_forced_bytes(ge_engine *e, u32 config, u8 *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err) {
    u32 next = NONE;
    size_t n = 0;
    for (; n < capacity && !cf_is_complete(e, config); n++, config = next) {
        next = forced_known(e, config, &out[n]);
        if (next == NONE || next == CF_DEAD) break;
    }
    bool known = n == capacity || cf_is_complete(e, config) || next == CF_DEAD;
    *n_out = n;
    if (!known && warm_only) return EN_COLD;
    if (known) return GE_OK;
    en_begin(e);
    for (; *n_out < capacity && !cf_is_complete(e, config); ++*n_out, config = next) {
        next = forced_step(e, config, &out[*n_out]);
        note_forced(e, config, next, out[*n_out]);
        if (next == NONE || next == CF_DEAD) break;
    }
    return en_end(e, err);
}

/* --- closings -------------------------------------------------------------------------------------------------------------- */

ge_status qs_closing(ge_engine *e, u32 config, u8 *out, size_t capacity, size_t *n_out, ge_err *err) {
    byte_vec text = {0};
    bool found;
    en_begin(e);
    if (cl_close(e, config, false, &text, &found)) {
        *n_out = text.n;
        if (text.n && text.n <= capacity) memcpy(out, text.at, text.n);
    }
    vec_drop(&e->b, &text);
    return en_end(e, err);
}

/* The bytes of a text that no token has; where each is in some token, all of its bytes. */
static byte_set missing_bytes(const ge_vocab *v, const byte_vec *text) {
    byte_set in_tokens = {{0}}, missing = {{0}}, all = {{0}};
    for (u32 i = 0; i < v->trie.byte.n; i++)
        if (i) set_add(&in_tokens, v->trie.byte.at[i]);
    for (u32 i = 0; i < text->n; i++) {
        set_add(&all, text->at[i]);
        if (!set_has(&in_tokens, text->at[i])) set_add(&missing, text->at[i]);
    }
    return set_count(&missing) ? missing : all;
}

ge_status qs_closing_tokens(ge_engine *e, u32 config, u32 *out, size_t capacity, size_t *n_out, ge_err *err) {
    byte_vec text = {0}, other = {0};
    id_vec tokens = {0};
    byte_set missing = {{0}};
    bool found, spelt = false;
    en_begin(e);
    bool ok = cl_close(e, config, false, &text, &found) && vb_spell(e->v, &e->b, text.at, text.n, &tokens, &spelt);
    if (ok && !spelt) {
        ok = cl_close(e, config, true, &other, &found);
        if (ok && found) ok = vb_spell(e->v, &e->b, other.at, other.n, &tokens, &spelt);
        if (ok && !spelt) missing = missing_bytes(e->v, &text);
    }
    if (ok) {
        *n_out = tokens.n;
        if (tokens.n && tokens.n <= capacity) memcpy(out, tokens.at, tokens.n * sizeof *out);
    }
    vec_drop(&e->b, &text);
    vec_drop(&e->b, &other);
    vec_drop(&e->b, &tokens);
    ge_status status = en_end(e, err);
    return status == GE_OK && !spelt ? report_spelling(&missing, err) : status;
}

/* Is it a failure to find something within the limit? Then it counts as not there. */
static bool gave_up(ge_status status, const ge_err *err) { return status == GE_E_LIMIT && err->limit == LIMIT(max_step_work); }

/* *most = tokens that complete the text, see cl_most; NONE: it tells nothing. */
GE_HOT static int32_t closing_most(ge_engine *e, u32 config, u32 *most, bool warm_only, ge_err *err) {
    u32 _Atomic *known = &cf_at(e, config)->most;
    u32 told = atomic_load_explicit(known, memory_order_relaxed);
    if (told == CF_UNTOLD) {
        if (warm_only) return EN_COLD;
        en_begin(e);
        told = 1 + min_u32(cl_most(e, config), RX_LONG);
        ge_status status = en_end(e, err);
        if (gave_up(status, err)) told = RX_LONG + 1;
        else if (status != GE_OK) return status;
        if (!(e->switches & GE_NO_STATE_CACHE)) atomic_store_explicit(known, told, memory_order_relaxed);
    }
    *most = told > RX_LONG ? NONE : told - 1;
    return GE_OK;
}

/* *count = tokens that spell the closing; NONE: none is known. It is kept with the configuration. */
static int32_t count_anew(ge_engine *e, u32 config, u32 *count, ge_err *err) {
    en_begin(e);
    (void)cl_count(e, config, count);
    ge_status status = en_end(e, err);
    if (status == GE_OK && *count != NONE) return status;
    if (status == GE_OK) {
        size_t n = 0;
        status = qs_closing_tokens(e, config, NULL, 0, &n, err);
        *count = (u32)n;
    }
    if (status == GE_E_SPELLING || gave_up(status, err)) {
        status = GE_OK;
        *count = NONE;
    }
    if (status != GE_OK || e->switches & GE_NO_STATE_CACHE || (*count != NONE && *count >= CF_DETOUR - 2)) return status;
    u32 closes = *count == NONE ? (u32)CF_NO_CLOSING : CF_DETOUR | (*count + 1);
    atomic_store_explicit(&cf_at(e, config)->closes, (u16)closes, memory_order_relaxed);
    return GE_OK;
}

/* The same, without the lock where it was asked before. */
GE_HOT static int32_t closing_count(ge_engine *e, u32 config, u32 *count, bool warm_only, ge_err *err) {
    u32 closes = atomic_load_explicit(&cf_at(e, config)->closes, memory_order_relaxed);
    if (closes == CF_UNTOLD) return warm_only ? EN_COLD : count_anew(e, config, count, err);
    *count = closes == CF_NO_CLOSING ? NONE : (closes & ~(u32)CF_DETOUR) - 1;
    return GE_OK;
}

GE_HOT int32_t qs_closes_within(ge_engine *e, u32 config, size_t left, bool *closes, bool warm_only, ge_err *err) {
    u32 most, count;
    int32_t status = closing_most(e, config, &most, warm_only, err);
    if (status != GE_OK) return status;
    *closes = most != NONE && most <= left;
    if (*closes) return GE_OK;
    status = closing_count(e, config, &count, warm_only, err);
    if (status == GE_OK) *closes = count != NONE && count <= left;
    return status;
}

/* `soon`: by a first search; *over = it came to its end. Else by the others. */
static ge_status search_closing(ge_engine *e, u32 config, u32 most, bool soon, u32 *out, size_t *n_out, bool *over, ge_err *err) {
    id_vec tokens = {0};
    bool found = false;
    en_begin(e);
    bool ok = soon ? ct_search_once(e, config, most, CT_BY_BYTES, &tokens, &found, over) : ct_close(e, config, most, &tokens, &found);
    if (ok && found) {
        *n_out = tokens.n;
        if (tokens.n) memcpy(out, tokens.at, tokens.n * sizeof *out);
    }
    vec_drop(&e->b, &tokens);
    return en_end(e, err);
}

/* *may = no more must come than so many tokens have bytes. */
static ge_status may_close_by(ge_engine *e, u32 config, u32 most, bool *may, ge_err *err) {
    u32 longest = e->v->shapes.height.at[0];
    en_begin(e);
    *may = longest == UINT8_MAX || cl_foretold(e, config) <= (u64)most * longest; /* heights say no more than that */
    return en_end(e, err);
}

ge_status qs_closing_within(ge_engine *e, u32 config, u32 most, u32 *out, size_t *n_out, ge_err *err) {
    u32 count = NONE;
    bool over = false, may;
    *n_out = SIZE_MAX;
    ge_status status = search_closing(e, config, most, true, out, n_out, &over, err);
    if (status != GE_OK || over) return status;
    status = may_close_by(e, config, most, &may, err);
    /* of the shortest: it may be had without a search, and where it can not be, another one may do */
    if (status == GE_OK && may) status = closing_count(e, config, &count, false, err);
    if (status == GE_OK && count != NONE && count <= most) return qs_closing_tokens(e, config, out, most, n_out, err);
    if (status != GE_OK && status != GE_E_LIMIT) return status;
    return search_closing(e, config, most, false, out, n_out, &over, err);
}

/* --- expectations ---------------------------------------------------------------------------------------------------------- */

static bool push_new(budget *b, id_vec *v, u32 id) {
    for (u32 i = 0; i < v->n; i++)
        if (v->at[i] == id) return true;
    return vec_push(b, v, id);
}

/* The lexemes of the grammar of the k-th pair of a lexer state. */
static bool push_lexemes(ge_engine *e, u32 state, u32 k, id_vec *lexemes) {
    id_vec pairs = {0};
    bool ok = lx_pairs(&e->lx, state, k, &pairs);
    for (u32 i = 0; ok && i < pairs.n; i += 2) ok = push_new(&e->b, lexemes, e->lx.lexemes.at[pairs.at[i]].origin);
    vec_drop(&e->b, &pairs);
    return ok;
}

static bool collect_expected(ge_engine *e, u32 config, id_vec *lexemes, id_vec *nonterminals) {
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1); k++)
            if (!push_lexemes(e, a.state >> 1, k, lexemes)) return false;
        if (!ep_row_nonterminals(&e->ep, a.row, nonterminals)) return false;
    }
    return true;
}

ge_status qs_expected(ge_engine *e, u32 config, qs_expectation *out, ge_err *err) {
    en_begin(e);
    byte_set bytes;
    id_vec lexemes = {0}, nonterminals = {0};
    if (live_bytes(e, config, &bytes) && collect_expected(e, config, &lexemes, &nonterminals)) {
        memcpy(out->live, bytes.w, sizeof bytes.w);
        out->n_lexemes = lexemes.n;
        out->n_nonterminals = nonterminals.n;
        for (u32 i = 0; i < lexemes.n && i < out->capacity; i++) out->lexemes[i] = lexemes.at[i];
        for (u32 i = 0; i < nonterminals.n && i < out->capacity; i++) out->nonterminals[i] = nonterminals.at[i];
    }
    vec_drop(&e->b, &lexemes);
    vec_drop(&e->b, &nonterminals);
    return en_end(e, err);
}
