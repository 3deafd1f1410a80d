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
 * Then come two narrow searches: of all that a number of tokens leads to, only the four most promising places are gone on from, first by
 * the bytes of their shortest closings (cl_foretold), then by those that must come and by ct_least. (Beam search: Lowerre 1976.) They may
 * miss what is there, but what they find is a closing, and where the last search would take minutes they may find one within a second. In a
 * string with several conditions, a third one goes by what these take together (ct_conditions_of), from sixteen places each of which has
 * met others.
 *
 * The last search is exact again. With such a bound it may hurry: tokens that are still to come count for more than those that were
 * written, so it is first led to some end, and of those to which equally few lead by the fewest bytes (cl_most). What is left out never
 * depends on the order.
 *
 * Texts that differ in values of distinct members alone are mostly left out, too (ct_values.c).
 *
 * What the table may take is shared out among expressions, sparingly, since some would take all of it. Where all searches were in vain they
 * are made again, with a *large* table, of larger shares. Not the other way round: some large tables take too much. One that does not is
 * kept for the searches that follow, and made anew where these are in vain.
 *
 * Cost: a walk for each configuration that is looked at (ct_next.c): in strings, of the tokens that may leave them (ct_lexeme.c). All of it
 * counts as work, the derivatives that others make for it too: so the last search takes some two seconds in vain, the narrow ones nine
 * eighths of that, and the table a half. What one takes does not count for the others: what the last one decides is not to depend on them.
 * As much again with a large table, and the last search twice as much; and, before both, all of it with a large table that was kept. */
#include "ct_search.h"

enum {
    CT_PLACE = 48,           /* units of work for a place that is noted */
    CT_FIRST_NODES = 48,     /* of the first search: of the work it may take, a node or a place for so many units */
    CT_FIRST_PLACES = 24576,
    CT_BYTES = 3,            /* that a token of a closing may have, for the order of the first search */
    CT_HURRY = 4,            /* of the last: a token that is still to come counts as so many */
    CT_WIDTH = 4,            /* of the narrow searches: places that are gone on from, for each number of tokens, */
    CT_WIDER = 16,           /* and of that which goes by conditions, */
    CT_MANY_CONDITIONS = 3,  /* if some string has so many */
    /* of the work that the last search may take: one part in so many is for the table, and for each narrow search, */
    CT_PART = 2,
    CT_CHEAP_PART = 8,       /* but the second, which asks for nothing expensive */
    CT_LARGE_LAST = 2         /* the last search, with a large table, may take so many times as much */
};
static_assert(CT_WIDTH <= CT_WIDER, "there is room for so many places of either kind");

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

static bool goes_narrow(enum ct_order order) { return order == CT_BY_LEAST || order == CT_BY_SHORTEST || order == CT_BY_CONDITIONS; }

/* Of a place, with so many tokens and bytes that must come. */
static u64 cost_of(ge_engine *e, const ct_search *s, u32 config, u32 depth, u32 tokens, u32 bytes) {
    if (s->order == CT_BY_BYTES) return (u64)(depth * CT_BYTES + bytes) << 32;
    bool is_narrow = goes_narrow(s->order); /* what is foretold may take work, which the last search is to have */
    u32 all = is_narrow ? cl_foretold(e, config) : cl_most(e, config);
    if (all == NONE) all = bytes;
    switch (s->order) {
    case CT_BY_LEAST: return (u64)bytes << 32 | min_u32(tokens, CT_NEVER) << 16 | min_u32(all, CT_NEVER);
    case CT_BY_SHORTEST: return (u64)all << 32 | bytes;
    case CT_BY_CONDITIONS: return (u64)ct_conditions_of(e, config).together << 32 | all;
    default: return (u64)(depth + CT_HURRY * tokens) << 32 | all;
    }
}

/* Notes where tokens have led, if no fewer have led there and the end may be reached in time. */
bool ct_note_place(ge_engine *e, ct_search *s, ct_way way, u32 before, u32 token, u32 depth) {
    u32 known = map_get(&s->depths, way.config);
    if (known != NONE && known <= depth) return true;
    if (!map_put(&e->b, &s->depths, way.config, depth)) return false;
    if (ct_is_reread(e, s, way, depth) || ct_is_spare(e, s, way, depth, false)) return e->b.status == GE_OK;
    u32 tokens = s->order == CT_BY_TOKENS || s->order == CT_BY_LEAST ? ct_least(e, way.config) : 0,
        bytes = tokens == NONE ? 0 : cl_least_behind(e, way.config);
    if (e->b.status != GE_OK) return false;
    if (tokens == NONE || tokens > s->most - depth || bytes > (u64)(s->most - depth) * s->longest) return true;
    if (ct_is_spare(e, s, way, depth, true)) return e->b.status == GE_OK;
    u64 cost = cost_of(e, s, way.config, depth, tokens, bytes);
    return e->b.status == GE_OK && push_place(e, s, (ct_place){way, before, token, depth, cost});
}

/* --- the search ---------------------------------------------------------------------------------------------------------- */

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
    u64 limit = e->b.limits.max_step_work;
    s->enough_nodes = s->order == CT_BY_BYTES ? limit / CT_FIRST_NODES : UINT64_MAX;
    s->enough_places = s->order == CT_BY_BYTES ? limit / CT_FIRST_PLACES : UINT64_MAX;
    ct_way start = {config, NONE, NONE};
    return ct_begin_values(e, s, &start) && ct_note_place(e, s, start, NONE, NONE, 0);
}

static bool run_search(ge_engine *e, ct_search *s, u32 config, id_vec *out, bool *found, bool *over) {
    bool ok = begin_search(e, s, config);
    for (u32 at; ok && s->heap.n && !*found;) {
        ok = take_place(e, s, &at, out, found);
        ct_place place = s->places.at[at];
        if (!*found && place.depth < s->most && place.depth == map_get(&s->depths, place.way.config)) ok = ct_note_next(e, s, at);
        if (!*found && ct_is_tired(e, s)) return ok;
    }
    *over = ok;
    return ok;
}

typedef struct ct_taken { /* places that are gone on from, by what their conditions are */
    u64 which[CT_WIDER];
    u32 n;
} ct_taken;

/* May the end be reached in time? And by conditions: are they other ones than those of the places before? */
static bool is_worth_while(ge_engine *e, const ct_search *s, u32 config, u32 left, ct_taken *t) {
    ct_conditions c = {0};
    if (s->order == CT_BY_CONDITIONS) c = ct_conditions_of(e, config);
    if (!c.n && cl_most(e, config) > left && ct_least(e, config) > left) return false; /* where cl_most tells, each byte is a token */
    if (s->order != CT_BY_CONDITIONS) return true;
    if (c.highest > left) return false;
    for (u32 i = 0; i < t->n; i++)
        if (t->which[i] == c.which) return false;
    t->which[t->n++] = c.which;
    return true;
}

/* The most promising places that are worth while; or the end, if it is among them. */
static bool take_few(ge_engine *e, ct_search *s, u32 depth, u32 *few, u32 *n, id_vec *out, bool *found) {
    ct_taken taken = {0};
    for (*n = 0; s->heap.n && *n < (s->order == CT_BY_CONDITIONS ? CT_WIDER : CT_WIDTH);) {
        if (!take_place(e, s, &few[*n], out, found)) return false;
        if (*found) break;
        *n += is_worth_while(e, s, s->places.at[few[*n]].way.config, s->most - depth, &taken);
        if (e->b.status != GE_OK) return false;
    }
    for (; s->heap.n && !*found; s->heap.n--) /* the others may be looked at again behind another token */
        if (!map_put(&e->b, &s->depths, s->places.at[s->heap.at[s->heap.n - 1]].way.config, s->most + 1)) return false;
    return true;
}

/* Token by token, and of the places to which one more leads only few are gone on from. */
static bool run_narrow(ge_engine *e, ct_search *s, u32 config, id_vec *out, bool *found) {
    if (s->order == CT_BY_CONDITIONS && ct_most_conditions(e) < CT_MANY_CONDITIONS) return e->b.status == GE_OK;
    bool ok = begin_search(e, s, config);
    for (u32 depth = 0; ok && s->heap.n && !*found; depth++) {
        u32 few[CT_WIDER], n;
        ok = take_few(e, s, depth, few, &n, out, found);
        for (u32 i = 0; ok && i < n && !*found && depth < s->most; i++) ok = ct_note_next(e, s, few[i]);
    }
    return ok;
}

bool ct_search_once(ge_engine *e, u32 config, u32 most, enum ct_order order, id_vec *out, bool *found, bool *over) {
    ct_search s = {.most = most, .longest = longest_token(e->v), .order = order};
    *found = *over = false;
    bool ok = goes_narrow(order) ? run_narrow(e, &s, config, out, found) : run_search(e, &s, config, out, found, over);
    vec_drop(&e->b, &s.places);
    vec_drop(&e->b, &s.heap);
    vec_drop(&e->b, &s.noted);
    vec_drop(&e->b, &s.walk);
    vec_drop(&e->b, &s.visits);
    vec_drop(&e->b, &s.bytes);
    ct_end_values(e, &s);
    map_drop(&e->b, &s.depths);
    vec_drop(&e->b, &s.loops);
    return ok;
}

/* The table that all but the first search ask. False: it takes too much, and what is missing is made when it is asked for; or on
 * failure. */
static bool make_costs(ge_engine *e, u32 config) {
    e->b.work = 0;
    if (!ct_begin(e, &e->cl.fewest)) return false;
    budget_part part = budget_begin_part(&e->b, e->b.limits.max_step_work / CT_PART);
    ct_least(e, config);
    return !budget_end_part(&e->b, part) && !e->cl.fewest.off && e->b.status == GE_OK;
}

/* One search, with so much work of its own, which may be more than the limit. In vain where it has taken that. */
static bool search_apart(ge_engine *e, u64 work, u32 config, u32 most, enum ct_order order, id_vec *out, bool *found, bool *over) {
    u64 limit = e->b.limits.max_step_work;
    e->b.limits.max_step_work = work + 1;
    e->b.work = 0;
    budget_part part = budget_begin_part(&e->b, work);
    bool ok = ct_search_once(e, config, most, order, out, found, over);
    if (budget_end_part(&e->b, part)) ok = true, *found = *over = false;
    e->b.limits.max_step_work = limit;
    return ok;
}

/* All searches but the first. *over: the last one has come to its end. */
static bool close_by_table(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found, bool *over) {
    u64 limit = e->b.limits.max_step_work;
    const struct {
        enum ct_order order;
        u64 work;
    } searches[] = {{CT_BY_SHORTEST, limit / CT_PART},
                    {CT_BY_LEAST, limit / CT_CHEAP_PART},
                    {CT_BY_CONDITIONS, limit / CT_PART},
                    {CT_BY_TOKENS, e->cl.fewest.is_large ? CT_LARGE_LAST * limit : limit}};
    bool ok = true;
    *found = *over = false;
    for (u32 i = 0; i < sizeof searches / sizeof *searches && ok && !*found; i++)
        ok = search_apart(e, searches[i].work, config, most, searches[i].order, out, found, over);
    return ok;
}

bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found) {
    ct_table *t = &e->cl.fewest;
    bool ok, over, is_made, was_known = t->known; /* then much of its work may have been for what was asked before, and it is made anew */
    for (;;) {
        *found = over = false;
        is_made = make_costs(e, config);
        ok = e->b.status == GE_OK && ((t->is_large && !is_made) || close_by_table(e, config, most, out, found, &over));
        if (!ok || *found || over || (!was_known && (t->is_large || t->off))) break;
        ct_begin_anew(e, !t->off && (is_made || !t->is_large));
        was_known = false;
    }
    if (t->is_large && (!is_made || t->off)) ct_begin_anew(e, false);
    return ok && (*found || over || budget_limit(&e->b, LIMIT(max_step_work)));
}
