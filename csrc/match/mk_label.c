/* Masks where labels have a bound (regex/rx_label.c): from the mask of what has labels of any length.
 *
 * What was read of a label tells configurations apart, so nearly each token that goes on with one would lead to a configuration of its own. So the
 * vocabulary is walked from a configuration in which labels have any length: the same for all texts that the grammar does not tell apart but for
 * that. It allows all that may be allowed. A token of it stays if it can be gone on with so that labels fit (regex/rx_unbound.c): mostly the token and
 * a short ending of the lexeme do. Others are read from the configuration itself.
 *
 * Not within A-labels: each text there is a configuration of its own anyway, of which the ending would have to be found. */
#include "../regex/rx_unbound.h"
#include "mk.h"

enum { LONGEST_TEXT = 256 }; /* of a token and an ending; what is longer is read */

bool mk_unbound(ge_engine *e, u32 config, u32 *unbound) {
    id_vec pairs = {0}, states = {0};
    bool ok = true, changed = false, decodes = false;
    *unbound = config;
    if (!e->lx.x.has_label || e->g->longest || e->switches & GE_NO_CLAMPING) return true;
    for (u32 i = 0, n = cf_count(e, config); ok && i < n; i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        pairs.n = 0;
        for (u32 k = 0; ok && k < lx_count(&e->lx, state); k++) {
            rx_id expr = intern_words(&e->lx.states, state)[2 * k + 1], other = rx_unbound(&e->lx.x, expr);
            changed |= other != expr;
            decodes |= rx_begins_with_punycode(&e->lx.x, expr);
            ok = other != NONE && vec_push(&e->b, &pairs, lx_lexeme_at(&e->lx, state, k)) && vec_push(&e->b, &pairs, other);
        }
        u32 to = !ok ? NONE : pairs.n ? lx_state_of(&e->lx, pairs.at, pairs.n / 2) : state;
        ok = to != NONE && vec_push(&e->b, &states, to);
    }
    if (ok && changed && !decodes) ok = (*unbound = cf_with_states(e, config, states.at)) != NONE;
    vec_drop(&e->b, &pairs);
    vec_drop(&e->b, &states);
    return ok;
}

static bool labels_of(ge_engine *e, u32 config, rx_labels *labels, bool *raw) {
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state); k++)
            if (!rx_add_labels(&e->lx.x, intern_words(&e->lx.states, state)[2 * k + 1], labels, raw)) return false;
    }
    return true;
}

/* The end of a lexeme that is under way in a configuration. Endings are kept, by configuration. *ending = NULL: none is known. */
static bool ending_of(ge_engine *e, u32 config, const mk_ending **ending) {
    if (!vec_reach(&e->b, &e->ending_of, config)) return false;
    u32 index = e->ending_of.at[config];
    if (index == NONE) {
        mk_ending made = {.at = e->ending_bytes.n, .known = true};
        u32 state = cf_alternative_at(e, config, 0).state >> 1;
        if (lx_count(&e->lx, state)) {
            rx_id expr = rx_unbound(&e->lx.x, intern_words(&e->lx.states, state)[1]);
            if (expr == NONE || !rx_ending_text(&e->lx.x, expr, &e->ending_bytes, &made.known)) return false;
        }
        made.n = e->ending_bytes.n - made.at;
        index = e->endings.n;
        if (!vec_push(&e->b, &e->endings, made)) return false;
        e->ending_of.at[config] = index;
    }
    *ending = e->endings.at[index].known ? &e->endings.at[index] : NULL;
    return true;
}

/* *reads: whether a lexeme can go on with the token; *ends: one may end within it, or there, so that more than that is to be asked. No state on the
 * way is looked at: nearly all of them would be those of one token. */
static bool lexemes_read(ge_engine *e, u32 config, const u8 *token, u32 n, bool *reads, bool *ends) {
    rx_arena *x = &e->lx.x;
    *reads = *ends = false;
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state) && !*ends; k++) {
            rx_id expr = intern_words(&e->lx.states, state)[2 * k + 1];
            for (u32 at = 0; at < n && expr != RX_ID_NEVER && !*ends; at++) {
                if ((expr = rx_derive(x, expr, x->class_byte[x->class_of[token[at]]])) == NONE) return false;
                *ends = rx_nullable(x, expr);
            }
            if (!*ends && !*reads) *reads = !rx_is_empty(x, expr);
        }
    }
    return e->b.status == GE_OK;
}

bool mk_reads(ge_engine *e, u32 config, const u8 *token, u32 n, bool *reads) {
    bool ends;
    if (!budget_work(&e->b, 1) || !lexemes_read(e, config, token, n, reads, &ends)) return false;
    if (!ends) return true;
    for (u32 i = 0; i < n && config != CF_DEAD && config != NONE; i++) config = cf_step(e, config, e->lx.x.class_of[token[i]]);
    *reads = config != CF_DEAD;
    return config != NONE;
}

typedef struct label_filter {
    u32 config;
    rx_labels labels; /* of it */
    bool raw;         /* no escape is under way */
    u32 sure;         /* bytes: where no more than so many come, all labels fit */
} label_filter;

/* Whether the configuration can read a token that leads the one without bounds to `to`. */
static bool reads_token(ge_engine *e, const label_filter *f, u32 token, u32 to, bool *reads) {
    u8 text[LONGEST_TEXT];
    const mk_ending *ending;
    const u8 *at = e->v->text + e->v->offsets[token];
    u32 n = e->v->offsets[token + 1] - e->v->offsets[token];
    if (!ending_of(e, to, &ending)) return false;
    *reads = false;
    if (ending && f->raw && n + ending->n <= LONGEST_TEXT) {
        if (n + ending->n <= f->sure) return *reads = true;
        memcpy(text, at, n);
        memcpy(text + n, e->ending_bytes.at + ending->at, ending->n);
        *reads = rx_keeps_labels(&f->labels, text, n + ending->n);
    }
    return *reads || mk_reads(e, f->config, at, n, reads);
}

bool mk_keep_labels(ge_engine *e, u32 config, u32 unbound, bool *all) {
    const tt_trie *trie = &e->v->trie;
    label_filter f = {.config = config, .raw = true};
    bool ok = labels_of(e, config, &f.labels, &f.raw), reads;
    f.sure = rx_sure_bytes(&f.labels);
    e->walk.n = 0;
    ok = ok && vec_push(&e->b, &e->walk, ((mk_place){0, unbound}));
    *all = true;
    for (u32 i = 0; ok && i < e->walk.n; i++) {
        mk_place at = e->walk.at[i];
        ok = budget_work(&e->b, 1);
        for (u32 child = trie->first.at[at.node]; ok && child < trie->first.at[at.node + 1]; child++) {
            u32 byte_class = e->lx.x.class_of[trie->byte.at[child]], to = cf_warm(e, at.config, byte_class), next;
            if (to == NONE) to = cf_step(e, at.config, byte_class);
            if (to == CF_DEAD) continue;
            ok = to != NONE;
            for (u32 token = ok ? tt_token(trie, child, &next) : NONE; ok && token != NONE; token = tt_more(trie, &next)) {
                ok = reads_token(e, &f, token, to, &reads);
                if (!ok || reads) continue;
                e->found.bits[token >> 5] &= ~((u32)1 << (token & 31));
                *all = false;
            }
            if (ok && trie->first.at[child] < trie->first.at[child + 1]) ok = vec_push(&e->b, &e->walk, ((mk_place){child, to}));
        }
    }
    vec_drop(&e->b, &f.labels);
    return ok;
}
