/* ep_make: what the rules of a grammar say by a template is made here, when a text comes to it (gr.h, "Lists" and "Bags").
 *
 * A state of a bag is interned by content: how often each slot has been raised, the rank of the last member, and which values the
 * distinct members had. Its tail is one node, so that texts which have used up the same slots are in the same row, in whatever order.
 *
 * A key of a bag is followed by a *hole*: the state after it is made by the scan that reads the key (ep_fill), not when the key is
 * offered, and states are made for those that are taken. Where many ways may come once each (the keys that are left), they are one lexeme,
 * a *group* (lexer/lx_union.c), with one hole that is parted by what has been read (ep_part_hole). So a state costs a few nodes, however
 * many ways it offers.
 *
 * Distinct ways. The lexeme that is offered is the way's lexeme without the values so far; the scan tells which value it has read.
 * VALUE_UNKNOWN stands for some value that is not known: masks are computed with it (mask/mk.c). The lexemes of such a state may then
 * still have that value, and are marked so (LX_TAINTED).
 *
 * Cost. A state: a bit for each key, 32 at a time, and its other slots and ways; with conditions, a search for each way (gr_bag.h). A
 * member: one or two states' worth of nodes, once. */
#include "../grammar/gr_bag.h"
#include "ep_parts.h"

enum { EP_GROUP = 16 }; /* ways; fewer have lexemes of their own: each may have a mask of its own, too (mask/mk_unit.c) */

static bool may_be_empty(const ep_parser *p, u32 symbol) { return symbol & 1 && p->nonterminals.at[symbol >> 1].nullable; }

/* The node `symbol next`. Room has been reserved. */
static u32 add_node(ep_parser *p, u32 symbol, u32 next, u32 owner, bool may_step) {
    p->nodes.at[p->nodes.n] = (gr_node){symbol, next, owner, gr_suffix_flags(p->nodes.at, next, may_step)};
    return p->nodes.n++;
}

static bool reserve_nodes(ep_parser *p, u64 n) {
    if (p->nodes.n + n > p->b->limits.max_rules + 1) return budget_limit(p->b, LIMIT(max_rules));
    return vec_reserve(p->b, &p->nodes, n) && ep_fit(p, &p->node_stamp, p->nodes.n + (u32)n);
}

static bool reserve_nonterminal(ep_parser *p) {
    u32 all = p->nonterminals.n + 1;
    return vec_reserve(p->b, &p->nonterminals, 1) && ep_fit(p, &p->nonterminal_stamp, all) && ep_fit(p, &p->call_of, all);
}

/* --- lists --------------------------------------------------------------------------------------------------------------- */

/* The suffix that consists of tail(count) of a list; NONE on failure. */
static u32 list_tail(ep_parser *p, u32 list, u32 count) {
    gr_list l = p->g->lists.at[list];
    if (l.maximum == NONE)
        count = min_u32(count, max_u32(l.minimum, 1));
    else if (count == l.maximum)
        return GR_END;
    u64 key = (u64)list << 32 | count;
    u32 x = map_get(&p->tails, key);
    if (x != NONE) return p->nonterminals.at[x].tail;
    x = p->nonterminals.n;
    if (!reserve_nodes(p, 1) || !reserve_nonterminal(p) || !map_put(p->b, &p->tails, key, x)) return NONE;
    gr_nonterminal nt = {
        .first = NONE, .kind = GR_LIST, .template = list, .state = count, .owner = l.owner, .nullable = count >= l.minimum};
    nt.tail = add_node(p, x * 2 + 1, GR_END, l.owner, nt.nullable);
    p->nonterminals.at[p->nonterminals.n++] = nt;
    return nt.tail;
}

static bool expand_list(ep_parser *p, u32 x) {
    u32 list = p->nonterminals.at[x].template, count = p->nonterminals.at[x].state;
    gr_list l = p->g->lists.at[list];
    u32 node = list_tail(p, list, count + 1);
    if (node == NONE || !reserve_nodes(p, 2) || !vec_reserve(p->b, &p->alternatives, 1)) return false;
    u32 symbol = l.loose && count ? l.unit : l.item;
    node = add_node(p, symbol, node, l.owner, may_be_empty(p, symbol) && !(l.loose && symbol == l.unit));
    if (count && l.separator != NONE) node = add_node(p, l.separator, node, l.owner, may_be_empty(p, l.separator));
    p->nonterminals.at[x].first = p->alternatives.n;
    p->nonterminals.at[x].n = 1;
    p->alternatives.at[p->alternatives.n++] = node;
    return true;
}

/* --- bags ---------------------------------------------------------------------------------------------------------------- */

static const gr_bag *bag_of(const ep_parser *p, u32 state) { return &p->g->bags.at[intern_words(&p->states, state)[EP_STATE_BAG]]; }

/* As gr_bag.h asks about it; until a state is interned. */
static gr_bag_state bag_state_of(const ep_parser *p, u32 state) {
    const u32 *words = intern_words(&p->states, state);
    return (gr_bag_state){p->g, &p->g->bags.at[words[EP_STATE_BAG]], words + EP_STATE_COUNTS, words[EP_STATE_RANK]};
}

/* Interns p->words as a state; NONE on failure. */
static u32 state_of_words(ep_parser *p) {
    if (!vec_reserve(p->b, &p->state_tail, 1)) return NONE;
    bool fresh;
    u32 state = intern(p->b, &p->states, p->words.at, p->words.n, &fresh);
    if (state != NONE && fresh) p->state_tail.at[p->state_tail.n++] = NONE;
    return state;
}

static u32 first_state(ep_parser *p, u32 bag) {
    u32 n = EP_STATE_COUNTS + p->g->bags.at[bag].n_words;
    p->words.n = 0;
    if (!vec_reserve(p->b, &p->words, n)) return NONE;
    memset(p->words.at, 0, n * sizeof *p->words.at);
    p->words.at[EP_STATE_BAG] = bag;
    p->words.n = n;
    return state_of_words(p);
}

/* The state after a member; NONE on failure. */
static u32 next_state(ep_parser *p, u32 state, u32 way, u32 value) {
    const gr_way *w = &p->g->ways.at[way];
    u32 n = intern_length(&p->states, state);
    p->words.n = 0;
    if (!vec_reserve(p->b, &p->words, n)) return NONE;
    memcpy(p->words.at, intern_words(&p->states, state), n * sizeof *p->words.at);
    p->words.n = n;
    const gr_bag *bag = bag_of(p, state);
    gr_bag_raise(p->g, bag, p->words.at + EP_STATE_COUNTS, way);
    if (bag->ranked) {
        p->words.at[EP_STATE_RANK] = w->rank;
        gr_bag_forget(p->g, bag, p->words.at + EP_STATE_COUNTS, w->rank);
    }
    if (w->flags & GR_DISTINCT) {
        if (value == VALUE_UNKNOWN) p->words.at[EP_STATE_TAINTED] = 1;
        else p->words.at[EP_STATE_VALUES] = lx_values_with(p->lx, p->words.at[EP_STATE_VALUES], value);
        if (p->words.at[EP_STATE_VALUES] == NONE) return NONE;
    }
    return state_of_words(p);
}

/* The suffix that consists of what may come after a member that led to the state; NONE on failure. */
static u32 bag_tail(ep_parser *p, u32 state) {
    if (state == NONE) return NONE;
    if (p->state_tail.at[state] != NONE) return p->state_tail.at[state];
    gr_bag_state s = bag_state_of(p, state);
    u32 owner = s.bag->owner;
    bool finished = gr_bag_is_finished(p->g, s.bag, s.counts), goes_on;
    if (!gr_bag_has_offers(p->b, &s, &goes_on)) return NONE;
    if (!goes_on) return p->state_tail.at[state] = GR_END;
    if (!reserve_nodes(p, 1) || !reserve_nonterminal(p)) return NONE;
    gr_nonterminal nt = {.first = NONE, .kind = GR_BAG_TAIL, .state = state, .owner = owner, .nullable = finished};
    u32 node = add_node(p, p->nonterminals.n * 2 + 1, GR_END, owner, finished);
    p->nonterminals.at[p->nonterminals.n++] = nt;
    return p->state_tail.at[state] = node;
}

/* The suffix: the symbols of a way from `first` on, then the tail of a state. NONE on failure. */
static u32 way_suffix(ep_parser *p, const gr_way *w, u32 first, u32 state) {
    u32 node = bag_tail(p, state), owner = node == NONE ? NONE : bag_of(p, state)->owner;
    if (node == NONE || !reserve_nodes(p, w->n_symbols)) return NONE;
    for (u32 k = w->n_symbols; k-- > first;) {
        u32 symbol = p->g->bag_words.at[w->symbols + k];
        node = add_node(p, symbol, node, owner, may_be_empty(p, symbol));
    }
    return node;
}

/* The lexeme that a distinct way offers in a state, as a symbol; NONE on failure. */
static u32 distinct_symbol(ep_parser *p, u32 state, u32 symbol) {
    const u32 *words = intern_words(&p->states, state);
    u32 lexeme = lx_distinct(p->lx, symbol >> 1, words[EP_STATE_VALUES], words[EP_STATE_TAINTED]);
    return lexeme == NONE ? NONE : lexeme * 2;
}

/* A hole, reserved before. */
static u32 add_hole(ep_parser *p, u32 way, u32 state) {
    p->nodes.at[p->nodes.n] = (gr_node){.symbol = way, .next = state, .owner = bag_of(p, state)->owner, .flags = GR_HOLE};
    return p->nodes.n++;
}

/* The alternative of a way that a state offers; NONE on failure. */
static u32 way_alternative(ep_parser *p, u32 state, u32 way) {
    const gr_way *w = &p->g->ways.at[way];
    u32 symbol = p->g->bag_words.at[w->symbols];
    if (symbol & 1) {
        u32 next = next_state(p, state, way, VALUE_UNKNOWN);
        return next == NONE ? NONE : way_suffix(p, w, 0, next);
    }
    if (w->flags & GR_DISTINCT) symbol = distinct_symbol(p, state, symbol);
    if (symbol == NONE || !reserve_nodes(p, 2)) return NONE;
    return add_node(p, symbol, add_hole(p, way, state), bag_of(p, state)->owner, false);
}

/* The alternative of a group: of n keys that a state offers, as bits. NONE on failure. */
static u32 group_alternative(ep_parser *p, u32 state, const u32 *keys, u32 n) {
    const gr_bag *bag = bag_of(p, state);
    const u32 *lexemes = p->g->bag_words.at + bag->lexemes;
    p->grouped.n = 0;
    if (!vec_reserve(p->b, &p->grouped, n)) return NONE;
    for (u32 i = 0; i < bag->n_bit_words; i++)
        for (u32 left = keys[i]; left; left &= left - 1) p->grouped.at[p->grouped.n++] = lexemes[32 * i + (u32)__builtin_ctz(left)];
    if (!bag->lexemes_ascend) qsort(p->grouped.at, n, sizeof *p->grouped.at, compare_u32);
    u32 lexeme = lx_group(p->lx, p->grouped.at, n);
    if (lexeme == NONE || !reserve_nodes(p, 2)) return NONE;
    return add_node(p, lexeme * 2, add_hole(p, NONE, state), bag->owner, false);
}

/* The alternatives of x: what the state offers. */
static bool expand_ways(ep_parser *p, u32 x, u32 state) {
    gr_bag_state s = bag_state_of(p, state);
    size_t size = (s.bag->n_bit_words + 1u) * sizeof(u32);
    id_vec ways = {0};
    u32 first = p->alternatives.n, n_keys, *keys = mem_resize(p->b, NULL, 0, size);
    bool ok = keys && gr_bag_offers(p->b, &s, p->lx ? EP_GROUP : NONE, keys, &n_keys, &ways);
    ok = ok && vec_reserve(p->b, &p->alternatives, ways.n + 1) && reserve_nodes(p, 2 * (u64)ways.n);
    for (u32 i = 0, node; ok && i < ways.n + (n_keys != 0); i++) {
        node = i < ways.n ? way_alternative(p, state, ways.at[i]) : group_alternative(p, state, keys, n_keys);
        ok = node != NONE && vec_push(p->b, &p->alternatives, node);
    }
    if (keys) mem_resize(p->b, keys, size, 0);
    vec_drop(p->b, &ways);
    if (!ok) return p->alternatives.n = first, false;
    p->nonterminals.at[x].n = p->alternatives.n - first;
    p->nonterminals.at[x].first = first;
    return true;
}

/* Makes what ep_part_hole finds: in p->parts, their number first. The index; NONE on failure. */
static u32 make_parts(ep_parser *p, u32 hole, u32 lexeme) {
    u32 state = p->nodes.at[hole].next, at = p->parts.n;
    gr_bag_state s = bag_state_of(p, state);
    p->offers.n = 0;
    if (!gr_bag_offers_by(p->b, &s, lexeme, &p->offers)) return NONE;
    u32 n = p->offers.n;
    if (!reserve_nodes(p, n) || !vec_reserve(p->b, &p->parts, n + 1)) return NONE;
    p->parts.at[p->parts.n++] = n;
    for (u32 i = 0; i < n; i++) p->parts.at[p->parts.n++] = add_hole(p, p->offers.at[i], state);
    return at;
}

/* Where a row goes on by many groups, as under `dependencies`, nearly none has a key with the lexeme at hand: that is not worth an
 * entry. */
bool ep_part_hole(ep_parser *p, u32 hole, u32 lexeme) {
    u64 key = (u64)hole << 32 | lexeme;
    p->offers.n = 0;
    if (!gr_bag_may_begin(p->g, bag_of(p, p->nodes.at[hole].next), lexeme)) return true;
    u32 at = map_get(&p->filled, key);
    if (at == NONE) {
        at = make_parts(p, hole, lexeme);
        if (at == NONE || !map_put(p->b, &p->filled, key, at)) return false;
    }
    u32 n = p->parts.at[at];
    p->offers.n = 0;
    if (!vec_reserve(p->b, &p->offers, n)) return false;
    if (n) memcpy(p->offers.at, p->parts.at + at + 1, n * sizeof *p->offers.at);
    p->offers.n = n;
    return true;
}

/* tail(s) -> separator rest(s) */
static bool expand_tail(ep_parser *p, u32 x) {
    u32 state = p->nonterminals.at[x].state;
    const gr_bag *bag = bag_of(p, state);
    if (bag->separator == NONE) return expand_ways(p, x, state);
    if (!reserve_nodes(p, 2) || !reserve_nonterminal(p) || !vec_reserve(p->b, &p->alternatives, 1)) return false;
    u32 rest = p->nonterminals.n++;
    p->nonterminals.at[rest] = (gr_nonterminal){.first = NONE, .kind = GR_BAG_REST, .state = state, .owner = bag->owner};
    u32 node = add_node(p, rest * 2 + 1, GR_END, bag->owner, false);
    p->nonterminals.at[x].first = p->alternatives.n;
    p->nonterminals.at[x].n = 1;
    p->alternatives.at[p->alternatives.n++] = add_node(p, bag->separator, node, bag->owner, false);
    return true;
}

u32 ep_fill(ep_parser *p, u32 hole, u32 value) {
    gr_node h = p->nodes.at[hole];
    const gr_way *w = &p->g->ways.at[h.symbol];
    if (!(w->flags & GR_DISTINCT)) value = VALUE_UNKNOWN;
    u64 key = (u64)hole << 32 | value;
    u32 node = map_get(&p->filled, key);
    if (node != NONE) return node;
    u32 state = next_state(p, h.next, h.symbol, value);
    node = state == NONE ? NONE : way_suffix(p, w, 1, state);
    return node == NONE || !map_put(p->b, &p->filled, key, node) ? NONE : node;
}

bool ep_expand(ep_parser *p, u32 x) {
    gr_nonterminal nt = p->nonterminals.at[x];
    switch ((gr_kind)nt.kind) {
    case GR_LIST: return expand_list(p, x);
    case GR_BAG_TAIL: return expand_tail(p, x);
    case GR_BAG_REST: return expand_ways(p, x, nt.state);
    case GR_BAG: {
        u32 state = first_state(p, nt.template);
        return state != NONE && expand_ways(p, x, state);
    }
    default: return false;
    }
}
