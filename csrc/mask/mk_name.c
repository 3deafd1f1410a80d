/* Masks where names have bounds (regex/names/rx_name.c): from the mask of what has names of any length.
 *
 * What was read of a label tells configurations apart, so nearly each token that goes on with one would lead to a configuration of its own.
 * So the vocabulary is walked from a configuration in which names have any length: the same for all texts that the grammar does not tell
 * apart but for that. It allows all that may be allowed. A token of it stays if it can be gone on with so that names fit
 * (regex/names/rx_fit.c): mostly the token and a short ending of the lexeme do. Others are read from the configuration itself.
 *
 * Below a node where all that tokens may add to names fits, whatever it is (vocab/vb_reach.c), no token is looked at. That it fits is
 * enough where names stand by themselves, in sequences and unions: what was begun can be finished by a few characters, and all other names
 * may be short. Beside a pattern or a length they may have to be long.
 *
 * Not within A-labels: each text there is a configuration of its own anyway, of which the ending would have to be found. */
#include "../regex/names/rx_unbound.h"
#include "mk.h"

enum { LONGEST_TEXT = 256 }; /* of a token and an ending; what is longer is read */

/* May an expression of the configuration go on within an A-label? */
static bool is_encoded(const ge_engine *e, u32 config) {
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state); k++)
            if (rx_begins_with_punycode(&e->lx.x, lx_rest_at(&e->lx, state, k))) return true;
    }
    return false;
}

bool mk_unbound(ge_engine *e, u32 config, u32 *unbound) {
    *unbound = config;
    if (!e->lx.x.has_name || e->g->longest || e->switches & GE_NO_CLAMPING || is_encoded(e, config)) return true;
    return mk_change(e, config, rx_unbound, unbound);
}

static bool names_of(ge_engine *e, u32 config, rx_names *names) {
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state); k++)
            if (!rx_add_names(&e->lx.x, lx_rest_at(&e->lx, state, k), names)) return false;
    }
    return true;
}

/* The end of a lexeme that is under way in a configuration. Endings are kept, by configuration. */
static bool ending_of(ge_engine *e, u32 config, mk_ending *ending) {
    if (!vec_reach(&e->b, &e->mk.ending_of, config)) return false;
    u32 index = e->mk.ending_of.at[config];
    if (index == NONE) {
        mk_ending made = {.at = e->mk.ending_bytes.n, .known = true};
        u32 state = cf_alternative_at(e, config, 0).state >> 1;
        if (lx_count(&e->lx, state)) {
            rx_id expr = rx_unbound(&e->lx.x, lx_rest_at(&e->lx, state, 0));
            if (expr == NONE || !rx_ending_text(&e->lx.x, expr, &e->mk.ending_bytes, &made.known)) return false;
            if (lx_count(&e->lx, state) == 1 && cf_count(e, config) == 1) made.least = rx_least_in_quotes(&e->lx.x, expr);
        }
        made.n = e->mk.ending_bytes.n - made.at;
        index = e->mk.endings.n;
        if (!vec_push(&e->b, &e->mk.endings, made)) return false;
        e->mk.ending_of.at[config] = index;
    }
    *ending = e->mk.endings.at[index];
    return true;
}

/* *reads: whether a lexeme can go on with the token; *ends: one may end within it, or there, so that more than that is to be asked. No
 * state on the way is looked at: nearly all of them would be those of one token. */
static bool lexemes_read(ge_engine *e, u32 config, const u8 *token, u32 n, bool *reads, bool *ends) {
    rx_arena *x = &e->lx.x;
    *reads = *ends = false;
    for (u32 i = 0; i < cf_count(e, config); i++) {
        u32 state = cf_alternative_at(e, config, i).state >> 1;
        for (u32 k = 0; k < lx_count(&e->lx, state) && !*ends; k++) {
            rx_id expr = lx_rest_at(&e->lx, state, k);
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

typedef struct name_place { /* of the walk: what is known of names behind the bytes on the way to it */
    name_bound bound;
    u32 depth;         /* so many bytes */
    u32 state, n_read; /* index in `states`: behind so many of them */
    bool dead;         /* no token from there on can be read */
    bool may_encode;   /* an A-label may have begun on the way, which may need more to be finished than what fits */
} name_place;

typedef struct name_filter {
    u32 config;
    rx_names names;         /* of it */
    bool is_one;            /* it can only go on with one name */
    VEC(name_state) states; /* of that */
    const name_reach *reach; /* by node; NULL: it does not tell */
    VEC(name_place) places;
} name_filter;

/* Can nothing but a name in quotes go on? */
static bool is_one_name(ge_engine *e, u32 config, const rx_names *names) {
    u32 state = cf_alternative_at(e, config, 0).state >> 1;
    if (!names->raw || names->at.n != 1 || cf_count(e, config) != 1 || lx_count(&e->lx, state) != 1) return false;
    return rx_goes_on_with_name(&e->lx.x, lx_rest_at(&e->lx, state, 0));
}

static bool fits_anywhere(const u8 *text, u32 n) {
    name_bound fresh = rx_fresh_bound();
    for (u32 i = 0; i < n; i++) rx_bound_byte(&fresh, text[i]);
    return rx_bound_holds(&fresh);
}

/* With a token of so many bytes, a beginning of the text, from what is known at a place, where it is left what is known behind it. The rest
 * of the text is an ending. Such that only names ask for more: NAME_UNKNOWN. */
static bool fit_of_name(ge_engine *e, name_filter *f, const u8 *text, u32 n_token, const mk_ending *ending, name_place *place,
                        name_fit *fit) {
    name_state name = f->states.at[place->state];
    u32 n = n_token + ending->n;
    *fit = NAME_FITS;
    for (u32 i = place->n_read; i < n_token && *fit == NAME_FITS; i++) *fit = rx_name_byte(&name, text[i]);
    if (*fit == NAME_FITS && !name.ended && name.most != NONE && ending->least > name.most) *fit = NAME_BREAKS;
    if (*fit != NAME_FITS) return true;
    place->state = f->states.n;
    place->n_read = n_token;
    if (!vec_push(&e->b, &f->states, name)) return false;
    bool ended = name.ended;
    for (u32 i = n_token; i < n && *fit == NAME_FITS; i++) *fit = rx_name_byte(&name, text[i]);
    if (*fit == NAME_BREAKS || !name.ended || (ended && !fits_anywhere(text, n))) *fit = NAME_UNKNOWN;
    return true;
}

/* Whether the configuration can read a token that leads the one without bounds to `to`. Mostly that is known without a look at its text. */
static bool reads_token(ge_engine *e, name_filter *f, u32 token, u32 to, name_place *place, bool *reads) {
    u8 text[LONGEST_TEXT];
    mk_ending ending;
    u32 n = place->depth;
    name_bound bound = place->bound;
    name_fit fit = NAME_UNKNOWN;
    *reads = false;
    if (place->dead) return true;
    if (!ending_of(e, to, &ending)) return false;
    if (ending.known && n + ending.n <= LONGEST_TEXT) {
        for (u32 i = 0; i < ending.n; i++) rx_bound_byte(&bound, e->mk.ending_bytes.at[ending.at + i]);
        if (rx_bound_holds(&bound)) return *reads = true;
        memcpy(text, e->v->text + e->v->offsets[token], n);
        if (ending.n) memcpy(text + n, e->mk.ending_bytes.at + ending.at, ending.n);
        if (f->is_one && !fit_of_name(e, f, text, n, &ending, place, &fit)) return false;
        if (!f->is_one && rx_keeps_names(&f->names, text, n + ending.n)) fit = NAME_FITS;
    }
    *reads = fit == NAME_FITS;
    place->dead = fit == NAME_BREAKS;
    return fit != NAME_UNKNOWN || mk_reads(e, f->config, e->v->text + e->v->offsets[token], n, reads);
}

/* The child of a place of the walk, where the configuration without bounds is in `above`, and the tokens there. */
static bool keep_child(ge_engine *e, name_filter *f, u32 child, u32 above, name_place place, bool *all) {
    const tt_trie *trie = &e->v->trie;
    u32 n, byte = trie->byte.at[child], byte_class = e->lx.x.class_of[byte];
    const u32 *tokens = tt_tokens(trie, child, child + 1, &n);
    bool reads;
    rx_bound_byte(&place.bound, byte);
    place.depth++;
    u32 parent = trie->parent.at[child];
    place.may_encode |= byte == '-' && (parent == 0 || trie->byte.at[parent] == '-');
    if (f->reach && !place.may_encode && rx_bound_lasts(&place.bound, f->reach + child)) return true;
    u32 to = cf_warm(e, above, byte_class);
    if (to == NONE) to = cf_step(e, above, byte_class);
    if (to == NONE || to == CF_DEAD) return to == CF_DEAD;
    for (u32 i = 0; i < n; i++) {
        if (!reads_token(e, f, tokens[i], to, &place, &reads)) return false;
        if (reads) continue;
        e->mk.found.bits[tokens[i] >> 5] &= ~((u32)1 << (tokens[i] & 31));
        *all = false;
    }
    if (trie->first.at[child] == trie->first.at[child + 1]) return true;
    return vec_push(&e->b, &e->mk.walk, ((mk_place){child, to})) && vec_push(&e->b, &f->places, place);
}

bool mk_keep_names(ge_engine *e, u32 config, u32 unbound, bool *all) {
    const tt_trie *trie = &e->v->trie;
    name_filter f = {.config = config, .names = rx_no_names()};
    bool ok = names_of(e, config, &f.names);
    f.is_one = ok && is_one_name(e, config, &f.names);
    if (f.is_one) ok = vec_push(&e->b, &f.states, f.names.at.at[0]);
    name_bound bound = rx_bound_of(&f.names);
    if (ok && !bound.begun && !e->lx.x.has_mixed_name && !e->g->g.has_distinct) f.reach = vb_reach(e->v);
    e->mk.walk.n = 0;
    ok = ok && vec_push(&e->b, &e->mk.walk, ((mk_place){0, unbound})) && vec_push(&e->b, &f.places, ((name_place){.bound = bound}));
    *all = true;
    for (u32 i = 0; ok && i < e->mk.walk.n; i++) {
        mk_place at = e->mk.walk.at[i];
        ok = budget_work(&e->b, 1);
        for (u32 child = trie->first.at[at.node]; ok && child < trie->first.at[at.node + 1]; child++)
            ok = keep_child(e, &f, child, at.config, f.places.at[i], all);
    }
    vec_drop(&e->b, &f.places);
    vec_drop(&e->b, &f.states);
    rx_drop_names(&e->lx.x, &f.names);
    return ok;
}

void mk_drop_names(ge_engine *e) {
    vec_drop(&e->b, &e->mk.endings);
    vec_drop(&e->b, &e->mk.ending_of);
    vec_drop(&e->b, &e->mk.ending_bytes);
    vec_drop(&e->b, &e->mk.marked);
}
