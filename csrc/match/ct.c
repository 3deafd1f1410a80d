/* ct: closings of few tokens, whatever they say.
 *
 * The closing of cl.c is the shortest text. Another one may be longer and take fewer tokens: of "ab" and "xyzw" the second, if xyzw is a
 * token and ab is none. This finds one that takes no more than are left, where the shortest text takes more.
 *
 * Idea. A search over configurations, a token at a time; what one token leads to is found by a walk of the vocabulary's trie. Equal
 * configurations have equal futures, so one is looked at again only where it is reached by fewer tokens. Left out is what cannot end in
 * time. Of the rest, the one goes first of which the tokens so far and those to come are likely to be the fewest (A*: Hart, Nilsson,
 * Raphael 1968). So where a way is found it is not always the shortest, and where the search comes to its end without one, there is none.
 *
 * What cannot end in time is told twice. A first search asks only whether the bytes that must come (cl_least_behind) fit into the tokens
 * that are left: that is enough for most grammars and costs nothing. Where it does not soon come to its end, a second one asks ct_least,
 * whose bound is mostly the truth or one less. That takes a table: some tenths of a second at most for nearly all grammars, once for an
 * engine.
 *
 * Cost: a walk for each configuration that is looked at: in strings, of the tokens that may leave them (ct_lexeme.c). The limit is a share
 * of max_step_work, CT_NODES nodes being a unit of it and a configuration CT_PLACE: so a search in vain takes two seconds or so. */
#include "en.h"

enum {
    CT_SHARE = 4,            /* of max_step_work, one in so many */
    CT_PLACE = 16,           /* units of work for a place that is noted */
    CT_FIRST_NODES = 4,      /* of the first search: of the work it may take, a node or a place for so many units */
    CT_FIRST_PLACES = 2048,
    CT_BYTES = 3             /* that a token of a closing may have, for the order of the search */
};

typedef struct ct_place { /* a configuration, and how it was reached */
    u32 config, before, token, depth;
    u32 cost;
} ct_place;

typedef struct ct_search {
    VEC(ct_place) places;
    id_vec heap;        /* of places: the one of the least cost is on top; of equal ones the first */
    word_map depths;    /* configuration -> the least so far */
    word_map loops;     /* configuration -> plain text leads nowhere but back: 0 or 1 */
    VEC(mk_place) walk; /* nodes that are still to be visited */
    u32 most;           /* tokens */
    u32 longest;        /* bytes of a token */
    bool costs;         /* the second search, with ct_least */
    u64 visited;        /* nodes */
} ct_search;

static u32 longest_token(const ge_vocab *v) {
    u32 longest = 1;
    for (u32 i = 0; i < v->n_tokens; i++) longest = max_u32(longest, v->offsets[i + 1] - v->offsets[i]);
    return longest;
}

/* --- places, the most promising first ------------------------------------------------------------------------------------ */

static bool goes_before(const ct_search *s, u32 a, u32 b) {
    ct_place p = s->places.at[a], q = s->places.at[b];
    if (p.cost != q.cost) return p.cost < q.cost;
    return p.depth != q.depth ? p.depth > q.depth : a < b;
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
    u32 tokens = s->costs ? ct_least(e, config) : 0, bytes = tokens == NONE ? 0 : cl_least_behind(e, config);
    if (e->b.status != GE_OK) return false;
    if (tokens == NONE || tokens > s->most - depth || bytes > (u64)(s->most - depth) * s->longest) return true;
    u32 cost = depth * CT_BYTES + max_u32(tokens * CT_BYTES, bytes);
    return push_place(e, s, (ct_place){config, before, token, depth, cost});
}

/* --- the search ---------------------------------------------------------------------------------------------------------- */

static u32 step(ge_engine *e, u32 config, u32 byte) { return cf_step(e, config, e->lx.x.class_of[byte]); }

static bool config_loops(ge_engine *e, ct_search *s, u32 config) {
    u32 known = map_get(&s->loops, config);
    if (known == NONE) {
        known = ct_is_plain_loop(e, step, config);
        map_put(&e->b, &s->loops, config, known);
    }
    return known;
}

/* The first token at or below a node. */
static u32 token_below(const tt_trie *trie, u32 node) {
    u32 more;
    while (trie->token.at[node] == NONE) node = trie->first.at[node];
    return tt_token(trie, node, &more);
}

/* A token has come to a node. */
static bool visit_node(ge_engine *e, ct_search *s, u32 from, u32 node, u32 config) {
    const tt_trie *trie = &e->v->trie;
    u32 depth = s->places.at[from].depth + 1, twin;
    if (s->costs && e->fewest.known && config_loops(e, s, config) && !ct_is_special(&e->fewest, node)) /* all below it leads to the same */
        return note_place(e, s, config, from, token_below(trie, node), depth);
    u32 token = tt_token(trie, node, &twin);
    if (token != NONE && !note_place(e, s, config, from, token, depth)) return false;
    return vec_push(&e->b, &s->walk, ((mk_place){node, config}));
}

/* Notes what one token more leads to. */
static bool note_next(ge_engine *e, ct_search *s, u32 from) {
    const tt_trie *trie = &e->v->trie;
    s->walk.n = 0;
    if (!vec_push(&e->b, &s->walk, ((mk_place){0, s->places.at[from].config}))) return false;
    for (u32 head = 0; head < s->walk.n; head++) {
        mk_place place = s->walk.at[head];
        u32 child = trie->first.at[place.node], end = trie->first.at[place.node + 1];
        u64 before = s->visited;
        s->visited += end - child;
        if (!budget_work(&e->b, s->visited / CT_NODES - before / CT_NODES)) return false;
        for (; child < end; child++) {
            u32 config = step(e, place.config, trie->byte.at[child]);
            if (config == NONE) return false;
            if (config != CF_DEAD && !visit_node(e, s, from, child, config)) return false;
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

/* Has the first search had its share? */
static bool is_tired(const ge_engine *e, const ct_search *s) {
    u64 limit = e->b.limits.max_step_work;
    return !s->costs && (s->visited > limit / CT_FIRST_NODES || s->places.n > limit / CT_FIRST_PLACES);
}

static bool run_search(ge_engine *e, ct_search *s, u32 config, id_vec *out, bool *found, bool *over) {
    bool ok = note_place(e, s, config, NONE, NONE, 0);
    while (ok && s->heap.n && !*found) {
        if (is_tired(e, s)) return true;
        u32 at = pop_place(s);
        ct_place place = s->places.at[at];
        *found = cf_at(e, place.config)->complete;
        if (*found) ok = spell_way(e, s, at, out);
        else if (place.depth < s->most && place.depth == map_get(&s->depths, place.config)) ok = note_next(e, s, at);
    }
    *over = true;
    return ok;
}

bool ct_search_once(ge_engine *e, u32 config, u32 most, bool costs, id_vec *out, bool *found, bool *over) {
    ct_search s = {.most = most, .longest = longest_token(e->v), .costs = costs};
    *found = *over = false;
    bool ok = run_search(e, &s, config, out, found, over);
    vec_drop(&e->b, &s.places);
    vec_drop(&e->b, &s.heap);
    vec_drop(&e->b, &s.walk);
    map_drop(&e->b, &s.depths);
    map_drop(&e->b, &s.loops);
    return ok;
}

bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found) {
    u64 limit = e->b.limits.max_step_work;
    bool over;
    e->b.limits.max_step_work = limit / CT_SHARE; /* all counts, the derivatives that others make for the search too */
    bool ok = ct_search_once(e, config, most, false, out, found, &over);
    if (ok && !over) ok = ct_search_once(e, config, most, true, out, found, &over);
    e->b.limits.max_step_work = limit;
    return ok;
}
