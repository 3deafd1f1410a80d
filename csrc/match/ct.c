/* ct: closings of few tokens, whatever they say.
 *
 * The closing of cl.c is the shortest text. Another one may be longer and take fewer tokens: of "ab" and "xyzw" the second, if xyzw is a
 * token and ab is none. This finds one that takes no more than are left, where the shortest text takes more.
 *
 * Idea. A search over configurations, a token at a time; what one token leads to is found by a walk of the vocabulary's trie. Equal
 * configurations have equal futures, so one is looked at again only where it is reached by fewer tokens. Left out is what cannot end in
 * time: more bytes must come (cl_least_behind) than the tokens that are left can have. Of the rest, the one goes first of which the tokens so far
 * and the bytes to come are likely to make the shortest way (weighted A*). So where a way is found it is not always the shortest, and where
 * the search comes to its end without one, there is none.
 *
 * Cost: a walk for each configuration that is looked at, of which masks tell nothing: milliseconds each in free text. The limit is a share
 * of max_step_work, CT_NODES nodes being a unit of it and a configuration CT_PLACE: so a search in vain takes about a second, and no large
 * part of the engine's memory. */
#include "en.h"

enum {
    CT_SHARE = 8, /* of max_step_work, one in so many */
    CT_NODES = 64,
    CT_PLACE = 128,
    CT_BYTES = 3 /* that a token of a closing may have, for the order of the search */
};

typedef struct ct_place { /* a configuration, and how it was reached */
    u32 config, before, token, depth;
    u32 cost;
} ct_place;

typedef struct ct_search {
    VEC(ct_place) places;
    id_vec heap;        /* of places: the one of the least cost is on top; of equal ones the first */
    word_map depths;    /* configuration -> the least so far */
    VEC(mk_place) walk; /* nodes that are still to be visited */
    u32 most;           /* tokens */
    u32 longest;        /* bytes of a token */
} ct_search;

static u32 longest_token(const ge_vocab *v) {
    u32 longest = 1;
    for (u32 i = 0; i < v->n_tokens; i++) longest = max_u32(longest, v->offsets[i + 1] - v->offsets[i]);
    return longest;
}

/* --- places, the most promising first ------------------------------------------------------------------------------------ */

static bool goes_before(const ct_search *s, u32 a, u32 b) {
    u32 cost_a = s->places.at[a].cost, cost_b = s->places.at[b].cost;
    return cost_a != cost_b ? cost_a < cost_b : a < b;
}

static bool push_place(ge_engine *e, ct_search *s, ct_place place) {
    u32 at = s->heap.n, added = s->places.n;
    if (!budget_work(&e->b, CT_PLACE) || !vec_push(&e->b, &s->places, place) || !vec_push(&e->b, &s->heap, added)) return false;
    for (u32 up; at && goes_before(s, added, s->heap.at[up = (at - 1) / 2]); at = up) s->heap.at[at] = s->heap.at[up];
    s->heap.at[at] = added;
    return true;
}

static u32 pop_place(ct_search *s) {
    u32 *heap = s->heap.at, top = heap[0], last = heap[--s->heap.n], at = 0;
    for (u32 down; (down = 2 * at + 1) < s->heap.n; at = down) {
        if (down + 1 < s->heap.n && goes_before(s, heap[down + 1], heap[down])) down++;
        if (!goes_before(s, heap[down], last)) break;
        heap[at] = heap[down];
    }
    heap[at] = last;
    return top;
}

/* Notes where tokens have led, if no fewer have led there and the end may be reached in time. */
static bool note_place(ge_engine *e, ct_search *s, u32 config, u32 before, u32 token, u32 depth) {
    u32 known = map_get(&s->depths, config);
    if (known != NONE && known <= depth) return true;
    if (!map_put(&e->b, &s->depths, config, depth)) return false;
    u32 least = cl_least_behind(e, config);
    if (e->b.status != GE_OK) return false;
    if (least > (u64)(s->most - depth) * s->longest) return true;
    return push_place(e, s, (ct_place){config, before, token, depth, depth * CT_BYTES + least});
}

/* --- the search ---------------------------------------------------------------------------------------------------------- */

/* Notes what one token more leads to. */
static bool note_next(ge_engine *e, ct_search *s, u32 from) {
    const tt_trie *trie = &e->v->trie;
    ct_place at = s->places.at[from];
    s->walk.n = 0;
    if (!vec_push(&e->b, &s->walk, ((mk_place){0, at.config}))) return false;
    for (u32 head = 0, visited = 0; head < s->walk.n; head++) {
        mk_place place = s->walk.at[head];
        u32 child = trie->first.at[place.node], end = trie->first.at[place.node + 1];
        visited += end - child;
        if (!budget_work(&e->b, visited / CT_NODES)) return false;
        visited %= CT_NODES;
        for (; child < end; child++) {
            u32 config = cf_step(e, place.config, e->lx.x.class_of[trie->byte.at[child]]), twin;
            if (config == NONE) return false;
            if (config == CF_DEAD) continue;
            u32 token = tt_token(trie, child, &twin);
            if (token != NONE && !note_place(e, s, config, from, token, at.depth + 1)) return false;
            if (!vec_push(&e->b, &s->walk, ((mk_place){child, config}))) return false;
        }
    }
    return true;
}

/* The tokens that led to a place. */
static bool spell_way(ge_engine *e, const ct_search *s, u32 at, id_vec *out) {
    u32 n = s->places.at[at].depth;
    if (!vec_reserve(&e->b, out, n)) return false;
    for (out->n = n; n; at = s->places.at[at].before) out->at[--n] = s->places.at[at].token;
    return true;
}

bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found) {
    ct_search s = {.most = most, .longest = longest_token(e->v)};
    u64 limit = e->b.limits.max_step_work;
    e->b.limits.max_step_work = limit / CT_SHARE; /* all counts, the derivatives that others make for the search too */
    bool ok = note_place(e, &s, config, NONE, NONE, 0);
    *found = false;
    while (ok && s.heap.n && !*found) {
        u32 at = pop_place(&s);
        ct_place place = s.places.at[at];
        *found = cf_at(e, place.config)->complete;
        if (*found) ok = spell_way(e, &s, at, out);
        else if (place.depth < most && place.depth == map_get(&s.depths, place.config)) ok = note_next(e, &s, at);
    }
    e->b.limits.max_step_work = limit;
    vec_drop(&e->b, &s.places);
    vec_drop(&e->b, &s.heap);
    vec_drop(&e->b, &s.walk);
    map_drop(&e->b, &s.depths);
    return ok;
}
