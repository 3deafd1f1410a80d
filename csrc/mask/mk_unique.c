/* Masks in grammars with arrays whose items are compared: that of the bare configuration, without tokens after which an item is equal to an
 * earlier one, or can become nothing else, or that end an array without two equal items. See engine/un.h.
 *
 * Which tokens that may be is told in two ways.
 *   - As long as what is under way is held, or where something may begin or end, the trie is walked: below the bytes by which it stays so.
 *     These are spellings of earlier items, few.
 *   - Beyond, in text that can equal nothing, a token matters only if it holds the end of an item and more than the beginning of the next:
 *     a comma with something behind it, and if the text is a string, a quotation mark before; outside such arrays, a bracket. Or, where
 *     some array has to have two equal items, the end of an array. There are some hundred in a vocabulary, which are looked for once, and
 *     those of them that are in the mask are read.
 *
 * So what is left is exact: each token that is taken out, or might have to be, was read by the configuration itself. */
#include "mk_make.h"

enum { CROSSES = 1, CROSSES_STRING = 2, CROSSES_BRACKET = 4, ENDS = 8, ENDS_STRING = 16, ENDS_BRACKET = 32 };

static bool is_space(u8 c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* How a token may end an item and go into the next, or end an array. */
static u8 crossing_of(const u8 *text, u32 n) {
    bool quote = false, bracket = false;
    u8 found = 0;
    for (u32 i = 0; i < n; i++) {
        u32 behind = i + 1;
        while (behind < n && is_space(text[behind])) behind++;
        if (text[i] == ',' && behind < n) found |= (u8)(CROSSES | (quote ? CROSSES_STRING : 0) | (bracket ? CROSSES_BRACKET : 0));
        if (text[i] == ']') found |= (u8)(ENDS | (quote ? ENDS_STRING : 0) | (bracket ? ENDS_BRACKET : 0));
        quote |= text[i] == '"';
        bracket |= text[i] == '[';
    }
    return found;
}

/* Adds those that have a byte, and not another one (if that is none, any). */
static bool add_crossing(ge_engine *e, u8 byte, u8 other) {
    const ge_vocab *v = e->v;
    const u8 *end = v->text + v->offsets[v->n_tokens];
    for (const u8 *at = v->text; at < end && (at = memchr(at, byte, (size_t)(end - at)));) {
        u32 token = vb_token_at(v, (size_t)(at - v->text)), n = v->offsets[token + 1] - v->offsets[token];
        const u8 *text = v->text + v->offsets[token];
        u8 found = other && memchr(text, other, n) ? 0 : crossing_of(text, n);
        if (found && !vec_push(&e->b, &e->un.crossing, ((un_crossing){text, n, token, found}))) return false;
        at = text + n;
    }
    return true;
}

static int compare_texts(const void *a, const void *b) {
    const un_crossing *p = a, *q = b;
    int by_text = memcmp(p->text, q->text, min_u32(p->n, q->n));
    return by_text ? by_text : p->n != q->n ? (p->n < q->n ? -1 : 1) : p->token < q->token ? -1 : 1;
}

/* Looks for these tokens, once. */
static bool find_crossing(ge_engine *e) {
    if (e->un.has_crossing) return true;
    e->un.crossing.n = 0;
    if (!add_crossing(e, ',', 0) || (e->g->has_repeated && !add_crossing(e, ']', ','))) return false;
    if (e->un.crossing.n) qsort(e->un.crossing.at, e->un.crossing.n, sizeof *e->un.crossing.at, compare_texts);
    return e->un.has_crossing = true;
}

static bool is_text(const un_track *t) { return t->kind == UN_STRING || t->kind == UN_KEY; }

/* Is the trie to be walked from here, for some alternative? */
static bool is_walked(const ge_engine *e, u32 config) {
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 track = cf_alternative_at(e, config, i).track;
        if (track <= UN_OUTSIDE) continue;
        un_track t = un_at(&e->un, track);
        if (t.kind < UN_STRING || un_is_held(&e->un, track)) return true;
    }
    return false;
}

/* What a crossing token needs to have here, for some alternative. */
static u8 crossing_here(const ge_engine *e, u32 config) {
    u8 needs = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 track = cf_alternative_at(e, config, i).track;
        un_track t = track == UN_OUTSIDE ? (un_track){.kind = UN_ARRAY} : un_at(&e->un, track);
        needs |= track == UN_OUTSIDE ? CROSSES_BRACKET | ENDS_BRACKET : is_text(&t) ? CROSSES_STRING | ENDS_STRING : CROSSES | ENDS;
    }
    return e->g->has_repeated ? needs : needs & (CROSSES | CROSSES_STRING | CROSSES_BRACKET);
}

static void take_out(u32 *bits, u32 token, bool *changed) {
    u32 bit = (u32)1 << (token & 31);
    *changed |= (bits[token >> 5] & bit) != 0;
    bits[token >> 5] &= ~bit;
}

/* Takes out the tokens at and below a node. */
static void take_out_below(const tt_trie *trie, u32 node, u32 *bits, bool *changed) {
    u32 from = node, to = node + 1, n;
    do {
        const u32 *tokens = tt_tokens(trie, from, to, &n);
        for (u32 i = 0; i < n; i++) take_out(bits, tokens[i], changed);
    } while (tt_below(trie, &from, &to));
}

/* The bytes by which a text under way may stay held, or end; outside of such arrays, none. By others that the rules allow it goes on, can
 * be completed as without tracks, and there is nothing to walk. Where that is not so, all bytes. False: failure. */
static bool held_bytes(const ge_engine *e, u32 config, u32 bare, byte_set *bytes) {
    u32 n = cf_count(e, config);
    bool is_told = n == cf_count(e, bare) && !(e->switches & GE_NO_SLICES);
    memset(bytes, 0, sizeof *bytes);
    for (u32 i = 0; i < n && is_told; i++) {
        cf_alternative a = cf_alternative_at(e, config, i), b = cf_alternative_at(e, bare, i);
        is_told = a.row == b.row && a.state == b.state && (a.track == UN_OUTSIDE || un_held_bytes(&e->un, a.track, bytes));
    }
    if (!is_told) memset(bytes, 0xff, sizeof *bytes);
    return e->b.status == GE_OK;
}

typedef struct held_place { /* of the walk: a node, and what is there with tracks and without */
    u32 node, config, bare;
} held_place;

static bool walk_held(ge_engine *e, u32 config, u32 bare, u32 *bits, bool *changed) {
    const tt_trie *trie = &e->v->trie;
    VEC(held_place) todo = {0};
    bool ok = vec_push(&e->b, &todo, ((held_place){0, config, bare}));
    while (ok && todo.n) {
        held_place at = todo.at[--todo.n];
        byte_set first, held;
        ok = cf_first(e, at.bare, &first) && held_bytes(e, at.config, at.bare, &held);
        for (u32 child = trie->first.at[at.node]; ok && child < trie->first.at[at.node + 1]; child++) {
            u32 byte = trie->byte.at[child];
            if (!set_has(&first, byte) || !set_has(&held, byte)) continue;
            u32 to = cf_step(e, at.config, e->lx.x.class_of[byte]), bare_to = cf_step(e, at.bare, e->lx.x.class_of[byte]);
            ok = to != NONE && bare_to != NONE && budget_work(&e->b, 1);
            e->stats.trie_nodes++;
            if (!ok || bare_to == CF_DEAD) continue;
            if (to == CF_DEAD) take_out_below(trie, child, bits, changed);
            else if (trie->first.at[child] < trie->first.at[child + 1] && is_walked(e, to))
                ok = vec_push(&e->b, &todo, ((held_place){child, to, bare_to}));
        }
    }
    vec_drop(&e->b, &todo);
    return ok;
}

/* Reads the tokens that may cross, and takes out those that cannot be read. What two of them begin with in common is read once. */
static bool read_crossing(ge_engine *e, u32 config, u32 *bits, bool *changed) {
    u8 needs = crossing_here(e, config);
    id_vec path = {0}; /* configurations behind the bytes of the last one that was read */
    const un_crossing *last = NULL;
    bool ok = vec_push(&e->b, &path, config);
    for (u32 i = 0; ok && i < e->un.crossing.n; i++) {
        const un_crossing *c = &e->un.crossing.at[i];
        u32 at = 0;
        if (!(c->how & needs) || !(bits[c->token >> 5] >> (c->token & 31) & 1)) continue;
        while (last && at + 1 < path.n && at < c->n && c->text[at] == last->text[at]) at++;
        u32 here = path.at[at];
        for (path.n = at + 1; ok && at < c->n && here != CF_DEAD; at++) {
            here = cf_step(e, here, e->lx.x.class_of[c->text[at]]);
            ok = here != NONE && vec_push(&e->b, &path, here);
        }
        if (ok && here == CF_DEAD) take_out(bits, c->token, changed);
        last = c;
    }
    vec_drop(&e->b, &path);
    return ok;
}

bool mk_keep_unique(ge_engine *e, u32 config, u32 bare, u32 *bits, bool *changed) {
    *changed = false;
    if (!find_crossing(e) || (is_walked(e, config) && !walk_held(e, config, bare, bits, changed))) return false;
    return read_crossing(e, config, bits, changed);
}
