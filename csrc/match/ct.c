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
 * that are left: that is enough for most grammars and costs nothing. Where it does not soon come to its end, the others ask ct_least,
 * whose bound is mostly the truth. That takes a table: some tenths of a second at most for nearly all grammars, once for an engine.
 *
 * Then come two narrow searches: of all that a number of tokens leads to, only the four most promising places are gone on from, first by the bytes of their
 * shortest closings (cl_most), then by those that must come and by ct_least. (Beam search: Lowerre 1976.) They may miss what is there, but what they find is a
 * closing, and where the last search would take minutes they may find one within a second.
 *
 * The last search is exact again. With such a bound it may hurry: tokens that are still to come count for more than those that were written, so it is first led
 * to some end, and of those to which equally few lead by the fewest bytes (cl_most). What is left out never hangs on the order.
 *
 * Texts that differ in values of distinct members alone are mostly left out, too (ct_values.c).
 *
 * Cost: a walk for each configuration that is looked at: in strings, of the tokens that may leave them (ct_lexeme.c). All of it counts
 * as work, the derivatives that others make for it too: so a search in vain takes some two seconds. Narrow searches take up to five eighths of that beside it: theirs
 * does not count, for what the last one decides is not to hang on them. */
#include "ct_search.h"

enum {
    CT_PLACE = 48,           /* units of work for a place that is noted */
    CT_STEPS = 5,            /* nodes that are visited for a unit */
    CT_TWIN = 4,             /* nodes that are visited by a twin, for a node */
    CT_FIRST_NODES = 48,     /* of the first search: of the work it may take, a node or a place for so many units */
    CT_FIRST_PLACES = 24576,
    CT_BYTES = 3,            /* that a token of a closing may have, for the order of the first search */
    CT_HURRY = 4,            /* of the last: a token that is still to come counts as so many */
    CT_WIDTH = 4,            /* of the narrow searches: places that are gone on from, for each number of tokens */
    CT_SHORTEST = 2,         /* of the work that a search may take: as much beside it, one part in so many, is for the first of them, */
    CT_LEAST = 8             /* and for the second */
};

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

/* Of a place, with so many tokens and bytes that must come. */
static u64 cost_of(ge_engine *e, const ct_search *s, u32 config, u32 depth, u32 tokens, u32 bytes) {
    if (s->order == CT_BY_BYTES) return (u64)(depth * CT_BYTES + bytes) << 32;
    u32 all = cl_most(e, config);
    if (all == NONE) all = bytes;
    switch (s->order) {
    case CT_BY_LEAST: return (u64)bytes << 32 | min_u32(tokens, CT_NEVER) << 16 | min_u32(all, CT_NEVER);
    case CT_BY_SHORTEST: return (u64)all << 32 | bytes;
    default: return (u64)(depth + CT_HURRY * tokens) << 32 | all;
    }
}

/* Notes where tokens have led, if no fewer have led there and the end may be reached in time. */
static bool note_place(ge_engine *e, ct_search *s, ct_way way, u32 before, u32 token, u32 depth) {
    u32 known = map_get(&s->depths, way.config);
    if (known != NONE && known <= depth) return true;
    if (!map_put(&e->b, &s->depths, way.config, depth)) return false;
    if (ct_is_reread(e, s, way, depth) || ct_is_spare(e, s, way, depth, false)) return e->b.status == GE_OK;
    u32 tokens = s->order == CT_BY_TOKENS || s->order == CT_BY_LEAST ? ct_least(e, way.config) : 0, bytes = tokens == NONE ? 0 : cl_least_behind(e, way.config);
    if (e->b.status != GE_OK) return false;
    if (tokens == NONE || tokens > s->most - depth || bytes > (u64)(s->most - depth) * s->longest) return true;
    if (ct_is_spare(e, s, way, depth, true)) return e->b.status == GE_OK;
    u64 cost = cost_of(e, s, way.config, depth, tokens, bytes);
    return e->b.status == GE_OK && push_place(e, s, (ct_place){way, before, token, depth, cost});
}

/* --- the search ---------------------------------------------------------------------------------------------------------- */

static u32 step(ge_engine *e, u32 config, u32 byte) { return cf_step(e, config, e->lx.x.class_of[byte]); }

static bool config_loops(ge_engine *e, ct_search *s, u32 config) {
    if (!vec_reach(&e->b, &s->loops, config)) return false;
    if (s->loops.at[config] == NONE) s->loops.at[config] = ct_is_plain_loop(e, step, config);
    return s->loops.at[config];
}

/* Does plain text lead nowhere but back, whichever values are known? */
static bool way_loops(ge_engine *e, ct_search *s, ct_way way) {
    return config_loops(e, s, way.config) && (way.loose == NONE || way.loose == CF_DEAD || config_loops(e, s, way.loose));
}

/* The first token at or below a node. */
static u32 token_below(const tt_trie *trie, u32 node) {
    u32 more;
    while (trie->token.at[node] == NONE) node = trie->first.at[node];
    return tt_token(trie, node, &more);
}

static bool push_walk(ge_engine *e, ct_search *s, ct_visit at) {
    ct_beside beside = {at.way.loose, at.way.values, at.is_twin};
    return vec_push(&e->b, &s->walk, ((mk_place){at.node, at.way.config})) && (!s->has_values || vec_push(&e->b, &s->beside, beside));
}

static ct_visit visit_at(const ct_search *s, u32 i) {
    mk_place place = s->walk.at[i];
    ct_beside beside = s->has_values ? s->beside.at[i] : (ct_beside){NONE, NONE, false};
    return (ct_visit){place.node, beside.is_twin, {place.config, beside.loose, beside.values}};
}

/* A node is to be gone on from: within a string by the twin, since most texts that differ in their value are spare. */
static bool push_visit(ge_engine *e, ct_search *s, u32 node, ct_way way, u32 depth) {
    ct_visit at = {node, false, way};
    if (s->has_values && depth <= s->most && ct_is_within_string(e, s, way.config)) {
        at.way.config = cf_twin(e, way.config);
        at.is_twin = true;
    }
    return e->b.status == GE_OK && push_walk(e, s, at);
}

/* A token has come to a node. */
static bool visit_node(ge_engine *e, ct_search *s, u32 from, u32 node, ct_way way) {
    const tt_trie *trie = &e->v->trie;
    u32 depth = s->places.at[from].depth + 1, twin;
    if (s->order != CT_BY_BYTES && e->fewest.known && !ct_is_special(&e->fewest, node) && way_loops(e, s, way)) /* all below it leads to the same */
        return note_place(e, s, way, from, token_below(trie, node), depth);
    u32 token = tt_token(trie, node, &twin);
    if (token != NONE && !note_place(e, s, way, from, token, depth)) return false;
    return push_visit(e, s, node, way, depth);
}

/* Where the bytes of a node lead to from a place. */
static bool step_to_node(ge_engine *e, ct_search *s, u32 from, u32 node, ct_way *way) {
    const tt_trie *trie = &e->v->trie;
    s->bytes.n = 0;
    for (; node; node = trie->parent.at[node])
        if (!vec_push(&e->b, &s->bytes, trie->byte.at[node])) return false;
    *way = s->places.at[from].way;
    while (s->bytes.n && way->config != CF_DEAD)
        if (!ct_step_way(e, s, way, s->bytes.at[--s->bytes.n])) return false;
    return true;
}

/* The same by the twin: within a string all that goes on within it is mostly spare, and known to be so by the twin; what leaves it is looked at from the place
 * on. *all_spare = false if something is not. */
static bool visit_twin(ge_engine *e, ct_search *s, u32 from, u32 node, ct_visit at, bool *all_spare) {
    const tt_trie *trie = &e->v->trie;
    u32 byte = trie->byte.at[node], depth = s->places.at[from].depth + 1;
    ct_way way;
    if (byte == '"') return step_to_node(e, s, from, node, &way) && (way.config == CF_DEAD || visit_node(e, s, from, node, way));
    at.node = node;
    at.way.config = step(e, at.way.config, byte);
    if (at.way.config == NONE) return false;
    if (at.way.config == CF_DEAD) return true;
    if (trie->token.at[node] != NONE && !ct_is_spare_twin(e, s, at.way.config, depth)) {
        *all_spare = false;
        u32 twin, token = tt_token(trie, node, &twin);
        if (!step_to_node(e, s, from, node, &way) || (way.config != CF_DEAD && !note_place(e, s, way, from, token, depth))) return false;
    }
    if (e->fewest.known && !ct_is_special(&e->fewest, node) && ct_is_spare_twin(e, s, at.way.config, depth) && config_loops(e, s, at.way.config))
        return true; /* and so is all below it */
    return push_walk(e, s, at);
}

/* Has the first search had its share? */
static bool is_tired(const ge_engine *e, const ct_search *s) {
    u64 limit = e->b.limits.max_step_work;
    return s->order == CT_BY_BYTES && (s->visited > limit / CT_FIRST_NODES || s->places.n > limit / CT_FIRST_PLACES);
}

/* Notes what one token more leads to, or part of it where that is of no more use. */
static bool note_next(ge_engine *e, ct_search *s, u32 from) {
    const tt_trie *trie = &e->v->trie;
    u32 depth = s->places.at[from].depth + 1;
    s->walk.n = s->beside.n = 0;
    if (!push_visit(e, s, 0, s->places.at[from].way, depth)) return false;
    ct_visit root = visit_at(s, 0);
    u32 spare_from = root.is_twin ? map_get(&s->all_spare, root.way.config) : NONE;
    bool all_spare = true, only_special = e->fewest.known && spare_from <= depth;
    bool is_last = s->order != CT_BY_BYTES && e->fewest.known && depth == s->most && ct_ends_by_mark(e, root.way.config);
    for (u32 head = 0; head < s->walk.n && !is_tired(e, s); head++) {
        ct_visit at = visit_at(s, head);
        u32 child = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        u64 before = s->visited;
        s->visited += at.is_twin || is_last ? (end - child) / CT_TWIN : end - child;
        if (!budget_work(&e->b, s->visited / CT_STEPS - before / CT_STEPS)) return false;
        for (; child < end; child++) {
            ct_way way = at.way;
            if (at.is_twin) {
                if (only_special && !ct_is_special(&e->fewest, child)) continue;
                if (!visit_twin(e, s, from, child, at, &all_spare)) return false;
                continue;
            }
            if (is_last && !ct_is_special(&e->fewest, child)) continue;
            if (!ct_step_way(e, s, &way, trie->byte.at[child])) return false;
            if (way.config != CF_DEAD && !visit_node(e, s, from, child, way)) return false;
        }
    }
    return !root.is_twin || !all_spare || only_special || map_put(&e->b, &s->all_spare, root.way.config, depth);
}

/* The tokens that led to a place. */
static bool spell_way(ge_engine *e, const ct_search *s, u32 at, id_vec *out) {
    u32 n = s->places.at[at].depth;
    if (!vec_reserve(&e->b, out, n)) return false;
    for (out->n = n; n; at = s->places.at[at].before) out->at[--n] = s->places.at[at].token;
    return true;
}

/* Takes the most promising place: *found, and its tokens in `out`, if the text may end there. */
static bool take_place(ge_engine *e, ct_search *s, u32 *at, id_vec *out, bool *found) {
    *at = pop_place(s);
    *found = cf_at(e, s->places.at[*at].way.config)->complete;
    return !*found || spell_way(e, s, *at, out);
}

static bool begin_search(ge_engine *e, ct_search *s, u32 config) {
    ct_way start = {config, NONE, NONE};
    return ct_begin_values(e, s, &start) && note_place(e, s, start, NONE, NONE, 0);
}

static bool run_search(ge_engine *e, ct_search *s, u32 config, id_vec *out, bool *found, bool *over) {
    bool ok = begin_search(e, s, config);
    for (u32 at; ok && s->heap.n && !*found;) {
        ok = take_place(e, s, &at, out, found);
        ct_place place = s->places.at[at];
        if (!*found && place.depth < s->most && place.depth == map_get(&s->depths, place.way.config)) ok = note_next(e, s, at);
        if (!*found && is_tired(e, s)) return ok;
    }
    *over = true;
    return ok;
}

/* The most promising places from which the end may be reached in time; or the end, if it is among them. */
static bool take_few(ge_engine *e, ct_search *s, u32 depth, u32 *few, u32 *n, id_vec *out, bool *found) {
    for (*n = 0; s->heap.n && *n < CT_WIDTH;) {
        if (!take_place(e, s, &few[*n], out, found)) return false;
        if (*found) break;
        u32 config = s->places.at[few[*n]].way.config, left = s->most - depth;
        *n += cl_most(e, config) <= left || ct_least(e, config) <= left; /* where cl_most tells, each byte is a token */
        if (e->b.status != GE_OK) return false;
    }
    for (; s->heap.n && !*found; s->heap.n--) /* the others may be looked at again behind another token */
        if (!map_put(&e->b, &s->depths, s->places.at[s->heap.at[s->heap.n - 1]].way.config, s->most + 1)) return false;
    return true;
}

/* Token by token, and of the places to which one more leads only few are gone on from. */
static bool run_narrow(ge_engine *e, ct_search *s, u32 config, id_vec *out, bool *found) {
    u64 limit = e->b.limits.max_step_work, enough = e->b.work + limit / (s->order == CT_BY_SHORTEST ? CT_SHORTEST : CT_LEAST);
    bool ok = begin_search(e, s, config);
    for (u32 depth = 0; ok && s->heap.n && !*found && e->b.work < enough; depth++) {
        u32 few[CT_WIDTH], n;
        ok = take_few(e, s, depth, few, &n, out, found);
        for (u32 i = 0; ok && i < n && !*found && depth < s->most && e->b.work < enough; i++) ok = note_next(e, s, few[i]);
    }
    return ok;
}

bool ct_search_once(ge_engine *e, u32 config, u32 most, enum ct_order order, id_vec *out, bool *found, bool *over) {
    ct_search s = {.most = most, .longest = longest_token(e->v), .order = order};
    *found = *over = false;
    bool is_narrow = order == CT_BY_LEAST || order == CT_BY_SHORTEST;
    bool ok = is_narrow ? run_narrow(e, &s, config, out, found) : run_search(e, &s, config, out, found, over);
    vec_drop(&e->b, &s.places);
    vec_drop(&e->b, &s.heap);
    vec_drop(&e->b, &s.walk);
    vec_drop(&e->b, &s.beside);
    vec_drop(&e->b, &s.bytes);
    ct_end_values(e, &s);
    map_drop(&e->b, &s.depths);
    vec_drop(&e->b, &s.loops);
    return ok;
}

bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found) {
    static const enum ct_order narrow[] = {CT_BY_SHORTEST, CT_BY_LEAST};
    bool over, ok = ct_search_once(e, config, most, CT_BY_BYTES, out, found, &over);
    if (!ok || over) return ok;
    ct_least(e, config); /* makes the table, which all need */
    u64 work = e->b.work;
    for (u32 i = 0; i < 2 && ok && !*found; i++) {
        e->b.work = 0;
        budget_part part = budget_begin_part(&e->b, e->b.limits.max_step_work - 1);
        ok = ct_search_once(e, config, most, narrow[i], out, found, &over);
        if (budget_end_part(&e->b, part)) ok = true, *found = false;
    }
    e->b.work = work; /* the last search decides what it would decide alone */
    return ok && !*found ? ct_search_once(e, config, most, CT_BY_TOKENS, out, found, &over) : ok;
}
