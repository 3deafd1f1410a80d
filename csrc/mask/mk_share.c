/* Outlines that are kept with the vocabulary: of the states of the automata of lexemes (mk_lexeme.c).
 *
 *     outline    [ n | tokens | places ], in words; bits where the tokens are many; no words: it cannot be kept
 *     tokens     that are read before the lexeme ends
 *     places     the nodes of the trie at which it has matched, and something is below that has not been found
 *
 * Idea. A walk in an open row (mk_outline.c) depends on the state alone, so it is made once for a vocabulary, by the grammar that asks
 * first. It is found by the automaton, whose serial number no other entry of the store has, and the place in it: no expression is hashed.
 * What a row reads is then the tokens, and what the row after the lexeme reads from these places on; where there are many tokens, they are
 * the base of the mask, as a lexeme-internal mask is.
 *
 *     after `12`    1 2 3 . e ...  the outline      , } blanks  a walk with all that the configuration is, by these bytes only
 *
 * A token begins with one byte. So beside the outline the vocabulary is walked only by bytes with which something else may begin, too: what
 * comes after the number, white space. Blanks and hubs are left to that walk also where the lexeme reads them, which knows them from tables
 * of the vocabulary (mk_open.c).
 *
 * Not of skips, which lead back to the row. Not with `longest`, where
 * alternatives depend on each other, nor where a text is one lexeme (mk_ahead.c).
 *
 * Exactness. What an alternative reads by some first bytes is added whole, and all other bytes by which anything may begin are walked. */
#include "mk.h"

enum {
    MOST_BITS = 256,       /* outlines with bits that an engine holds, so that what it keeps from being dropped is bounded */
    MOST_ALTERNATIVES = 8, /* of more all are walked */
    SHARED_KEY = 3         /* words: the serial number, and the place */
};

/* Bytes by which a walk from the root comes to hubs and openings of blanks. */
static byte_set apart_bytes(const ge_engine *e) {
    byte_set bytes = {{0}};
    for (u32 k = 0; k < VB_BLANKS; k++) set_add(&bytes, vb_blanks[k]);
    for (u32 h = 1; h < e->v->n_hubs; h++) set_add(&bytes, e->v->hubs[h].byte);
    return bytes;
}

bool mk_may_share(const ge_engine *e) {
    bool is_off = e->switches & (GE_NO_SHARED_INNER | GE_NO_INNER_MASKS);
    return !is_off && !e->g->longest && !e->is_one_lexeme;
}

/* The only set of lexemes that matches in a state of one lexeme, and the nodes
 * of the vocabulary's trie at which it does. False: it is not like that. */
static bool only_exit(const ge_engine *e, const mk_outline *o, const u32 **nodes, u32 *n) {
    *n = 0;
    if (o->n_hubs || o->n_exits > 1) return false;
    if (!o->n_exits) return true;
    const u32 *exit = e->mk.outline_words.at + o->exits, *places = intern_words(&e->mk.places, exit[1]);
    *nodes = places + 1;
    *n = intern_length(&e->mk.places, exit[1]) - 1;
    return e->mk.tries.at[places[0]] == &e->v->trie;
}

static bool copy_outline(const ge_engine *e, const mk_outline *o, vb_inner *made, budget *b) {
    const u32 *nodes = NULL;
    u32 n;
    if (!only_exit(e, o, &nodes, &n)) return true;
    if (!vec_reserve(b, &made->outline, 1 + o->n_tokens + n)) return false;
    u32 *to = made->outline.at;
    *to++ = o->n_tokens;
    if (o->n_tokens) memcpy(to, e->mk.outline_words.at + o->tokens, o->n_tokens * sizeof *to);
    if (n) memcpy(to + o->n_tokens, nodes, n * sizeof *to);
    made->outline.n = 1 + o->n_tokens + n;
    if (!o->bits) return true;
    made->n_words = e->v->n_words;
    made->bits = mem_resize(b, NULL, 0, made->n_words * sizeof *made->bits);
    if (made->bits) memcpy(made->bits, o->bits, made->n_words * sizeof *made->bits);
    return made->bits != NULL;
}

/* The entry of an outline; NULL: there is no memory, which costs only time. */
static vb_inner *outline_entry(const ge_engine *e, const mk_outline *o, const u32 *key, u64 hash) {
    budget own;
    vb_inner *made = mk_new_entry(&own);
    if (!made) return NULL;
    bool ok = vec_reserve(&own, &made->key, SHARED_KEY);
    if (ok) memcpy(made->key.at, key, SHARED_KEY * sizeof *key);
    if (ok) made->key.n = SHARED_KEY;
    ok = ok && copy_outline(e, o, made, &own);
    made->hash = hash;
    made->bytes = own.bytes;
    if (ok) return made;
    vb_inner_free(&own, made);
    return NULL;
}

/* Makes the outline of a state, and keeps it with the vocabulary. */
static bool make_shared(ge_engine *e, u32 state, const u32 *key, u64 hash, const vb_inner **kept) {
    mk_outline o = {0};
    u32 n_words = e->mk.outline_words.n;
    const byte_set *first = lx_first(&e->lx, state), apart = apart_bytes(e);
    if (!first) return false;
    byte_set bytes = *first;
    set_remove(&bytes, &apart);
    bool ok = mk_make_outline(e, state, &bytes, &o);
    vb_inner *made = ok ? outline_entry(e, &o, key, hash) : NULL;
    e->mk.outline_words.n = n_words;
    if (o.bits) mem_resize(&e->b, o.bits, e->v->n_words * sizeof *o.bits, 0);
    e->stats.outlines += ok;
    *kept = made ? vb_add(e->v, made) : NULL;
    return ok;
}

/* The outline of a state within a lexeme that has an automaton; it is given back by vb_release. *outline = NULL: it has none. */
static bool obtain_outline(ge_engine *e, u32 state, const vb_inner **outline) {
    const vb_inner *automaton;
    u32 place;
    *outline = NULL;
    if (!mk_place_of(e, state, &automaton, &place)) return false;
    if (place == NONE) return true;
    u32 key[SHARED_KEY] = {(u32)automaton->serial, (u32)(automaton->serial >> 32), place};
    u64 hash = mix_u64(mix_u64(automaton->serial) ^ place) >> 1;
    const vb_inner *inner = vb_find(e->v, hash);
    bool is_known = inner != NULL;
    if (!is_known && !make_shared(e, state, key, hash, &inner)) return false;
    if (!inner) return true;
    bool is_same = inner->key.n == SHARED_KEY && memcmp(inner->key.at, key, sizeof key) == 0;
    if (is_same && inner->outline.n) *outline = inner;
    else vb_release(e->v, inner);
    e->stats.inner_hits += is_known && *outline;
    return true;
}

/* What comes after the lexeme of the only pair of a state. */
static u32 accepts_of(ge_engine *e, u32 state) {
    return intern(&e->b, &e->lx.accepts, (u32[]){lx_lexeme_at(&e->lx, state, 0)}, 1, NULL);
}

/* Appends the exit of an outline to those of *to. */
static bool take_places(ge_engine *e, u32 state, const u32 *nodes, u32 n, mk_outline *to) {
    id_vec places = {0};
    u32 trie = mk_trie_index(e, &e->v->trie), accepts = accepts_of(e, state), id = NONE;
    bool ok = trie != NONE && accepts != NONE && vec_reserve(&e->b, &places, 1 + n);
    if (ok) places.at[0] = trie, memcpy(places.at + 1, nodes, n * sizeof *nodes);
    ok = ok && (id = intern(&e->b, &e->mk.places, places.at, 1 + n, NULL)) != NONE;
    vec_drop(&e->b, &places);
    ok = ok && vec_push(&e->b, &e->mk.outline_words, accepts) && vec_push(&e->b, &e->mk.outline_words, id);
    to->n_exits = ok;
    return ok;
}

/* Copies an outline to one of the engine, which holds it if it has bits. */
static bool take_outline(ge_engine *e, u32 state, const vb_inner *outline, mk_outline *to) {
    const u32 *words = outline->outline.at, n = *words++, n_places = outline->outline.n - 1 - n;
    to->tokens = e->mk.outline_words.n;
    if (!vec_reserve(&e->b, &e->mk.outline_words, n)) return false;
    if (n) memcpy(e->mk.outline_words.at + to->tokens, words, n * sizeof *words);
    to->n_tokens = n;
    to->exits = e->mk.outline_words.n += n;
    if (n_places && !take_places(e, state, words + n, n_places, to)) return false;
    if (!outline->bits) return true;
    vb_hold(e->v, outline);
    to->inner = outline;
    e->mk.n_shared++;
    return true;
}

bool mk_take_shared(ge_engine *e, u32 state, mk_outline *to, bool *found) {
    *found = false;
    if (!mk_may_share(e)) return true;
    const byte_set *first = lx_first(&e->lx, state), apart = apart_bytes(e);
    const vb_inner *outline = NULL;
    bool has;
    if (!first) return false;
    if (set_meets(first, &apart)) return true;
    if (!mk_has_automaton(e, state, &has) || (has && !obtain_outline(e, state, &outline))) return false;
    if (!outline) return true;
    *found = !outline->bits || e->mk.n_shared < MOST_BITS;
    bool ok = !*found || take_outline(e, state, outline, to);
    vb_release(e->v, outline);
    return ok;
}

/* Adds an outline of a state, and what the row reads behind the lexeme. */
static bool add_outline(ge_engine *e, cf_alternative a, const vb_inner *outline, mk_found *found) {
    const u32 *words = outline->outline.at, n = *words++, n_places = outline->outline.n - 1 - n;
    if (outline->bits) mk_add_inner(e, found, outline);
    if (!mk_add_listed(e, found, words, n) || !n_places) return e->b.status == GE_OK;
    u32 lexeme = lx_lexeme_at(&e->lx, a.state >> 1, 0), config = cf_after(e, a, &lexeme, 1, false);
    return config != NONE && (config == CF_DEAD || mk_walk_places(e, &e->v->trie, words + n, n_places, config, found));
}

/* Adds what an alternative can read, but for what begins with blanks and the bytes of hubs. *done = false: it has no outline. */
static bool add_known(ge_engine *e, cf_alternative a, mk_found *found, bool *done) {
    const vb_inner *outline;
    if (!obtain_outline(e, a.state >> 1, &outline)) return false;
    *done = outline != NULL;
    bool ok = !outline || add_outline(e, a, outline, found);
    if (outline) vb_release(e->v, outline);
    return ok;
}

/* Walks a configuration of which some alternatives, those that it `has`, are within lexemes that have automata. */
static bool walk_by_outlines(ge_engine *e, u32 config, const bool *has, mk_found *found) {
    byte_set first[MOST_ALTERNATIVES], left = {{0}};
    u32 n = cf_count(e, config);
    bool any = false, done;
    for (u32 i = 0; i < n; i++) {
        const byte_set *of = lx_first(&e->lx, cf_alternative_at(e, config, i).state >> 1);
        if (!of) return false;
        first[i] = *of;
        set_unite(&left, of);
    }
    for (u32 i = 0; i < n; i++) {
        if (!has[i]) continue;
        byte_set own = first[i], others = apart_bytes(e);
        for (u32 k = 0; k < n; k++)
            if (k != i) set_unite(&others, &first[k]);
        set_remove(&own, &others);
        if (set_is_empty(&own)) continue;
        if (!add_known(e, cf_alternative_at(e, config, i), found, &done)) return false;
        if (done) set_remove(&left, &own);
        any |= done;
    }
    return any ? mk_walk_bytes(e, config, &left, found) : mk_walk(e, &e->v->trie, 0, config, found);
}

bool mk_walk_shared(ge_engine *e, u32 config, mk_found *found) {
    bool has[MOST_ALTERNATIVES], any = false;
    u32 n = cf_count(e, config);
    for (u32 i = 0; i < n && n <= MOST_ALTERNATIVES && mk_may_share(e); i++) {
        if (!mk_has_automaton(e, cf_alternative_at(e, config, i).state >> 1, &has[i])) return false;
        any |= has[i];
    }
    return any ? walk_by_outlines(e, config, has, found) : mk_walk(e, &e->v->trie, 0, config, found);
}
