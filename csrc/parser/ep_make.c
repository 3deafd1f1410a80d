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
 * VALUE_UNKNOWN stands for some value that is not known: masks are computed with it (match/mk.c). The lexemes of such a state may then
 * still have that value, and are marked so (LX_TAINTED).
 *
 * Cost. A state: its slots and ways; with conditions, a search for each way (gr_bag.h). A member: one or two states' worth of nodes, once. */
#include "../grammar/gr_bag.h"
#include "ep_parts.h"

enum { EP_GROUP = 16 }; /* ways; fewer have lexemes of their own: each may have a mask of its own, too (match/mk_unit.c) */

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

static bool reserve_nonterminals(ep_parser *p, u32 n) {
    u32 all = p->nonterminals.n + n;
    return vec_reserve(p->b, &p->nonterminals, n) && ep_fit(p, &p->nonterminal_stamp, all) && ep_fit(p, &p->call_of, all);
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
    if (!reserve_nodes(p, 1) || !reserve_nonterminals(p, 1) || !map_put(p->b, &p->tails, key, x)) return NONE;
    gr_nonterminal nt = {.first = NONE, .kind = GR_LIST, .template = list, .state = count, .owner = l.owner, .nullable = count >= l.minimum};
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

/* p->offers = the ways that a state offers, at most `most`; those that begin with a symbol, or all if that is NONE. */
static bool find_offers(ep_parser *p, u32 state, u32 symbol, u32 most) {
    const u32 *words = intern_words(&p->states, state);
    p->offers.n = 0;
    return gr_bag_offers(p->b, p->g, bag_of(p, state), words + EP_STATE_COUNTS, words[EP_STATE_RANK], symbol, most, &p->offers);
}

/* The suffix that consists of what may come after a member that led to the state; NONE on failure. */
static u32 bag_tail(ep_parser *p, u32 state) {
    if (state == NONE) return NONE;
    if (p->state_tail.at[state] != NONE) return p->state_tail.at[state];
    const gr_bag *bag = bag_of(p, state);
    bool finished = gr_bag_is_finished(p->g, bag, intern_words(&p->states, state) + EP_STATE_COUNTS);
    if (!find_offers(p, state, NONE, 1)) return NONE;
    if (p->offers.n == 0) return p->state_tail.at[state] = GR_END;
    if (!reserve_nodes(p, 1) || !reserve_nonterminals(p, 1)) return NONE;
    gr_nonterminal nt = {.first = NONE, .kind = GR_BAG_TAIL, .state = state, .owner = bag->owner, .nullable = finished};
    u32 node = add_node(p, p->nonterminals.n * 2 + 1, GR_END, bag->owner, finished);
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

static int compare_lexemes(const void *a, const void *b) {
    u32 p = *(const u32 *)a, q = *(const u32 *)b;
    return p < q ? -1 : p > q;
}

/* Parts p->offers into those that go into a group, if they are enough, and `ways`. *node: the alternative of the group, or GR_END. */
static bool take_group(ep_parser *p, u32 state, id_vec *ways, u32 *node) {
    bool ascend = true;
    u32 n = p->offers.n;
    p->grouped.n = 0;
    *node = GR_END;
    if (n < EP_GROUP || !p->lx) return vec_copy(p->b, ways, &p->offers);
    if (!vec_reserve(p->b, &p->grouped, n) || !vec_reserve(p->b, ways, n)) return false;
    for (u32 i = 0; i < n; i++) {
        const gr_way *w = &p->g->ways.at[p->offers.at[i]];
        u32 lexeme = p->g->bag_words.at[w->symbols] >> 1;
        if (!(w->flags & GR_ONCE) || p->lx->lexemes.at[lexeme].flags) {
            ways->at[ways->n++] = p->offers.at[i];
            continue;
        }
        ascend = ascend && (p->grouped.n == 0 || p->grouped.at[p->grouped.n - 1] <= lexeme);
        p->grouped.at[p->grouped.n++] = lexeme;
    }
    if (p->grouped.n < EP_GROUP) {
        memcpy(ways->at, p->offers.at, n * sizeof *ways->at);
        ways->n = n;
        return true;
    }
    if (!ascend) qsort(p->grouped.at, p->grouped.n, sizeof *p->grouped.at, compare_lexemes);
    u32 lexeme = lx_group(p->lx, p->grouped.at, p->grouped.n);
    if (lexeme == NONE || !reserve_nodes(p, 2)) return false;
    *node = add_node(p, lexeme * 2, add_hole(p, NONE, state), bag_of(p, state)->owner, false);
    return true;
}

/* The alternatives of x: what the state offers. */
static bool expand_ways(ep_parser *p, u32 x, u32 state) {
    id_vec ways = {0}; /* a copy, since other states' offers take the place of these */
    u32 group;
    bool ok = find_offers(p, state, NONE, NONE) && take_group(p, state, &ways, &group);
    u32 n = ways.n, first = p->alternatives.n;
    ok = ok && vec_reserve(p->b, &p->alternatives, n + 1) && reserve_nodes(p, 2 * (u64)n);
    if (ok && group != GR_END) p->alternatives.at[p->alternatives.n++] = group;
    for (u32 i = 0; ok && i < n; i++) {
        u32 node = way_alternative(p, state, ways.at[i]);
        ok = node != NONE && vec_push(p->b, &p->alternatives, node);
    }
    vec_drop(p->b, &ways);
    if (!ok) return p->alternatives.n = first, false;
    p->nonterminals.at[x].n = p->alternatives.n - first;
    p->nonterminals.at[x].first = first;
    return true;
}

/* Makes what ep_part_hole finds: in p->parts, their number first. The index; NONE on failure. */
static u32 make_parts(ep_parser *p, u32 hole, u32 lexeme) {
    u32 state = p->nodes.at[hole].next, at = p->parts.n, n = 0;
    if (!find_offers(p, state, lexeme * 2, NONE)) return NONE;
    if (!reserve_nodes(p, p->offers.n) || !vec_reserve(p->b, &p->parts, p->offers.n + 1)) return NONE;
    for (u32 i = 0; i < p->offers.n; i++) /* other ways have alternatives of their own */
        if (p->g->ways.at[p->offers.at[i]].flags & GR_ONCE) p->parts.at[at + ++n] = add_hole(p, p->offers.at[i], state);
    p->parts.at[at] = n;
    p->parts.n += n + 1;
    return at;
}

bool ep_part_hole(ep_parser *p, u32 hole, u32 lexeme) {
    u64 key = (u64)hole << 32 | lexeme;
    u32 at = map_get(&p->filled, key);
    if (at == NONE) {
        at = make_parts(p, hole, lexeme);
        if (at == NONE || !map_put(p->b, &p->filled, key, at)) return false;
    }
    u32 n = p->parts.at[at];
    p->offers.n = 0;
    if (!vec_reserve(p->b, &p->offers, n)) return false;
    memcpy(p->offers.at, p->parts.at + at + 1, n * sizeof *p->offers.at);
    p->offers.n = n;
    return true;
}

/* tail(s) -> separator rest(s) */
static bool expand_tail(ep_parser *p, u32 x) {
    u32 state = p->nonterminals.at[x].state;
    const gr_bag *bag = bag_of(p, state);
    if (bag->separator == NONE) return expand_ways(p, x, state);
    if (!reserve_nodes(p, 2) || !reserve_nonterminals(p, 1) || !vec_reserve(p->b, &p->alternatives, 1)) return false;
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
