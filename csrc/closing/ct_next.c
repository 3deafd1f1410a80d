/* What one token leads to: a walk of the vocabulary's trie from a place of a search. See ct.c.
 *
 * Idea. Many tokens lead to one configuration, so a walk notes each but once, by the first of them. Where plain text leads nowhere but
 * back, all plain tokens below a node are one. And a last token, where a string is under way, has a quotation mark.
 *
 * Where values of distinct members are read, texts that lead to one configuration may differ in them. There each node has a way of its own,
 * but for what goes on within a string: that is followed by its twin, since most texts that differ in their value are spare (ct_values.c).
 *
 * Cost: 13 ns for a node, and 25 where values are read. */
#include "ct_search.h"

enum {
    CT_STEPS = 20,     /* nodes that are visited for a unit of work, */
    CT_WAYS = 5,       /* by ways of their own, */
    CT_TWIN = 4        /* and by a twin so many times as many */
};

/* What is visited counts as work. */
static bool charge_visits(ge_engine *e, ct_search *s, u32 nodes, u32 for_a_unit) {
    u64 before = s->visited;
    s->visited += nodes;
    return budget_work(&e->b, s->visited / for_a_unit - before / for_a_unit);
}

static u32 step(ge_engine *e, u32 config, u32 byte) {
    u32 byte_class = e->lx.x.class_of[byte], to = cf_warm(e, config, byte_class);
    return to == NONE ? cf_step(e, config, byte_class) : to;
}

static bool config_loops(ge_engine *e, ct_search *s, u32 config) {
    if (config < s->loops.n && s->loops.at[config] != NONE) return s->loops.at[config];
    if (!vec_reach(&e->b, &s->loops, config)) return false;
    s->loops.at[config] = ct_is_plain_loop(e, step, config);
    return s->loops.at[config];
}

/* The first token at or below a node. */
static u32 token_below(const tt_trie *trie, u32 node) {
    while (!tt_has_token(trie, node)) node = trie->first.at[node];
    return tt_token(trie, node);
}

/* Is it known which nodes are special? */
static bool has_marks(const ge_engine *e, const ct_search *s) { return s->order != CT_BY_BYTES && e->cl.fewest.known; }

/* --- without values ------------------------------------------------------------------------------------------------------ */

/* Notes where a token at or below a node leads, if the walk has not noted it yet. */
static bool note_config(ge_engine *e, ct_search *s, u32 from, u32 node, u32 config) {
    if (!vec_reach(&e->b, &s->noted, config)) return false;
    if (s->noted.at[config] == s->n_walks) return true;
    s->noted.at[config] = s->n_walks;
    return ct_note_place(e, s, (ct_way){config, NONE, NONE}, from, token_below(&e->v->trie, node), s->places.at[from].depth + 1);
}

static bool note_configs(ge_engine *e, ct_search *s, u32 from) {
    const tt_trie *trie = &e->v->trie;
    ct_place place = s->places.at[from];
    bool knows = has_marks(e, s), is_last = knows && place.depth + 1 == s->most && ct_ends_by_mark(e, place.way.config);
    s->n_walks++;
    s->walk.n = 0;
    if (!vec_push(&e->b, &s->walk, ((mk_place){0, place.way.config}))) return false;
    for (u32 head = 0; head < s->walk.n && !ct_is_tired(e, s); head++) {
        mk_place at = s->walk.at[head];
        u32 child = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        if (!charge_visits(e, s, is_last ? (end - child) / CT_TWIN : end - child, CT_STEPS)) return false;
        for (; child < end; child++) {
            bool special = !knows || ct_is_special(&e->cl.fewest, child);
            if (is_last && !special) continue;
            u32 to = step(e, at.config, trie->byte.at[child]);
            if (to == CF_DEAD) continue;
            if (to == NONE) return false;
            bool is_one = !special && config_loops(e, s, to);
            if ((is_one || tt_has_token(trie, child)) && !note_config(e, s, from, child, to)) return false;
            if (!is_one && trie->first.at[child] < trie->first.at[child + 1] && !vec_push(&e->b, &s->walk, ((mk_place){child, to})))
                return false;
        }
    }
    return e->b.status == GE_OK;
}

/* --- with values --------------------------------------------------------------------------------------------------------- */

/* Does plain text lead nowhere but back, whichever values are known? */
static bool way_loops(ge_engine *e, ct_search *s, ct_way way) {
    return config_loops(e, s, way.config) && (way.loose == NONE || way.loose == CF_DEAD || config_loops(e, s, way.loose));
}

/* A node is to be gone on from. */
static bool push_visit(ge_engine *e, ct_search *s, u32 node, ct_way way, u32 depth) {
    ct_visit at = {node, false, way};
    if (depth <= s->most && ct_is_within_string(e, s, way.config)) {
        at.way.config = cf_twin(e, way.config);
        at.is_twin = true;
    }
    return e->b.status == GE_OK && vec_push(&e->b, &s->visits, at);
}

/* A token has come to a node. */
static bool visit_node(ge_engine *e, ct_search *s, u32 from, u32 node, ct_way way) {
    const tt_trie *trie = &e->v->trie;
    u32 depth = s->places.at[from].depth + 1;
    if (has_marks(e, s) && !ct_is_special(&e->cl.fewest, node) && way_loops(e, s, way))
        return ct_note_place(e, s, way, from, token_below(trie, node), depth);
    u32 token = tt_token(trie, node);
    if (token != NONE && !ct_note_place(e, s, way, from, token, depth)) return false;
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

/* The same by the twin: within a string all that goes on within it is mostly spare, and known to be so by the twin; what leaves it is
 * looked at from the place on. *all_spare = false if something is not. */
static bool visit_twin(ge_engine *e, ct_search *s, u32 from, u32 node, ct_visit at, bool *all_spare) {
    const tt_trie *trie = &e->v->trie;
    u32 byte = trie->byte.at[node], depth = s->places.at[from].depth + 1;
    ct_way way;
    if (byte == '"') return step_to_node(e, s, from, node, &way) && (way.config == CF_DEAD || visit_node(e, s, from, node, way));
    at.node = node;
    at.way.config = step(e, at.way.config, byte);
    if (at.way.config == NONE) return false;
    if (at.way.config == CF_DEAD) return true;
    if (tt_has_token(trie, node) && !ct_is_spare_twin(e, s, at.way.config, depth)) {
        *all_spare = false;
        u32 token = tt_token(trie, node);
        if (!step_to_node(e, s, from, node, &way) || (way.config != CF_DEAD && !ct_note_place(e, s, way, from, token, depth))) return false;
    }
    if (e->cl.fewest.known && !ct_is_special(&e->cl.fewest, node) && ct_is_spare_twin(e, s, at.way.config, depth) &&
        config_loops(e, s, at.way.config))
        return true; /* and so is all below it */
    return vec_push(&e->b, &s->visits, at);
}

static bool note_ways(ge_engine *e, ct_search *s, u32 from) {
    const tt_trie *trie = &e->v->trie;
    u32 depth = s->places.at[from].depth + 1;
    s->visits.n = 0;
    if (!push_visit(e, s, 0, s->places.at[from].way, depth)) return false;
    ct_visit root = s->visits.at[0];
    u32 spare_from = root.is_twin ? map_get(&s->all_spare, root.way.config) : NONE;
    bool all_spare = true, only_special = e->cl.fewest.known && spare_from <= depth;
    bool is_last = e->cl.fewest.known && depth == s->most && ct_ends_by_mark(e, root.way.config);
    for (u32 head = 0; head < s->visits.n && !ct_is_tired(e, s); head++) {
        ct_visit at = s->visits.at[head];
        u32 child = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        if (!charge_visits(e, s, at.is_twin || is_last ? (end - child) / CT_TWIN : end - child, CT_WAYS)) return false;
        for (; child < end; child++) {
            ct_way way = at.way;
            if (at.is_twin) {
                if (only_special && !ct_is_special(&e->cl.fewest, child)) continue;
                if (!visit_twin(e, s, from, child, at, &all_spare)) return false;
                continue;
            }
            if (is_last && !ct_is_special(&e->cl.fewest, child)) continue;
            if (!ct_step_way(e, s, &way, trie->byte.at[child])) return false;
            if (way.config != CF_DEAD && !visit_node(e, s, from, child, way)) return false;
        }
    }
    return !root.is_twin || !all_spare || only_special || map_put(&e->b, &s->all_spare, root.way.config, depth);
}

bool ct_note_next(ge_engine *e, ct_search *s, u32 from) { return s->has_values ? note_ways(e, s, from) : note_configs(e, s, from); }
