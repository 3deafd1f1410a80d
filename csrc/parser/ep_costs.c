#include "ep_costs.h"

enum {
    COMMON_PART = 256, /* part of the work of an operation for the question whether two lexemes have values in common */
    MANY_GROUPS = 64   /* distinct lexemes of a bag: of more it is not asked */
};

enum { NOT_ASKED, APART, COMMON }; /* of a bag: have its distinct lexemes values in common? */

bool ep_price_group(ep_parser *p, ep_bag_costs *c, u32 group) {
    u32 lexeme = ep_way_lexeme(p, c, group);
    lx_cheap value;
    for (ep_bag_way *first = &c->ways.at[group];; first->used++) {
        if (!lx_cheapest(p->lx, lexeme, first->used, &value)) return false;
        if (value.length == RX_NO_LENGTH || !lx_values_have(p->lx, c->values, value.value)) break;
    }
    c->ways.at[group].value = value.value;
    for (u32 way = group; way < c->bag->n_ways; way++)
        if (c->ways.at[way].group == group) c->ways.at[way].length = rx_add_lengths(c->ways.at[way].rest, value.length);
    return true;
}

/* Has the slot of a distinct way another way, with another lexeme? */
static bool has_alternative(const ep_parser *p, const ep_bag_costs *c, u32 way) {
    for (u32 other = 0; other < c->bag->n_ways; other++) {
        bool is_same = ep_is_distinct(p, c, other) && ep_way_lexeme(p, c, other) == ep_way_lexeme(p, c, way);
        bool is_dead = p->g->ways.at[c->bag->ways + other].flags & GR_DEAD;
        if (!is_same && !is_dead && ep_own_slot(p, c, other) == ep_own_slot(p, c, way)) return true;
    }
    return false;
}

static bool take_from_one_list(const ep_parser *p, const ep_bag_costs *c, u32 way, u32 other) {
    if (!ep_is_distinct(p, c, way) || !ep_is_distinct(p, c, other) || ep_way_lexeme(p, c, way) != ep_way_lexeme(p, c, other)) return false;
    return ep_own_slot(p, c, way) == ep_own_slot(p, c, other) || (!has_alternative(p, c, way) && !has_alternative(p, c, other));
}

static bool is_first_of_group(const ep_parser *p, const ep_bag_costs *c, u32 way) {
    return ep_is_distinct(p, c, way) && c->ways.at[way].group == way && !(p->g->ways.at[c->bag->ways + way].flags & GR_DEAD);
}

/* Errs towards yes, if it takes long to tell. */
static bool have_values_in_common(ep_parser *p, u32 lexeme, u32 other) {
    rx_arena *x = &p->lx->x;
    budget_part part = budget_begin_part(p->b, p->b->limits.max_step_work / COMMON_PART);
    rx_id both = rx_and(x, (rx_id[]){p->lx->lexemes.at[lexeme].expr, p->lx->lexemes.at[other].expr}, 2);
    bool is_empty = both != NONE && rx_is_empty(x, both);
    return budget_end_part(p->b, part) || !is_empty;
}

/* Notes that lengths are lower bounds, if distinct ways of the bag with several lexemes have values in common. Asked once for each bag. */
static bool note_common_values(ep_parser *p, const ep_bag_costs *c) {
    u32 bag = (u32)(c->bag - p->g->bags.at), n_groups = 0;
    bool common = false;
    while (p->common.n <= bag)
        if (!vec_push(p->b, &p->common, NOT_ASKED)) return false;
    if (p->common.at[bag] != NOT_ASKED) return true;
    for (u32 a = 0; a < c->bag->n_ways && !common; a++) {
        if (!is_first_of_group(p, c, a)) continue;
        common = ++n_groups > MANY_GROUPS;
        for (u32 b = 0; b < a && !common; b++)
            common = is_first_of_group(p, c, b) && have_values_in_common(p, ep_way_lexeme(p, c, a), ep_way_lexeme(p, c, b));
    }
    if (p->b->status != GE_OK) return false;
    p->common.at[bag] = common ? COMMON : APART;
    p->least_is_bound |= common;
    return true;
}

bool ep_begin_costs(ep_parser *p, ep_bag_costs *c) {
    const gr_bag *bag = c->bag;
    u32 separator = bag->separator == NONE ? 0 : ep_least_symbol(p, bag->separator);
    if (!vec_reserve(p->b, &c->ways, bag->n_ways) || !vec_reserve(p->b, &c->best, bag->n_slots) ||
        !vec_reserve(p->b, &c->left, bag->n_slots))
        return false;
    for (u32 way = 0; way < bag->n_ways; way++) {
        gr_way w = p->g->ways.at[bag->ways + way];
        ep_bag_way made = {.rest = separator, .group = way, .first = NONE, .before = NONE};
        const u32 *symbols = p->g->bag_words.at + w.symbols;
        bool distinct = w.flags & GR_DISTINCT;
        if (w.flags & GR_DEAD) distinct = false, made.rest = RX_NO_LENGTH;
        for (u32 k = distinct; k < w.n_symbols; k++) made.rest = rx_add_lengths(made.rest, ep_least_symbol(p, symbols[k]));
        for (u32 other = 0; distinct && other < way && made.group == way; other++)
            if (c->ways.at[other].group == other && take_from_one_list(p, c, other, way)) made.group = other;
        made.length = made.rest;
        c->ways.at[c->ways.n++] = made;
    }
    return p->b->status == GE_OK && note_common_values(p, c);
}

void ep_end_costs(ep_parser *p, ep_bag_costs *c) {
    vec_drop(p->b, &c->ways);
    vec_drop(p->b, &c->best);
    vec_drop(p->b, &c->left);
}

/* Does another way have the lexeme of a distinct one, and another own slot? */
static bool spans_slots(const ep_parser *p, const ep_bag_costs *c, u32 group) {
    for (u32 way = group; way < c->bag->n_ways; way++)
        if (c->ways.at[way].group == group && ep_own_slot(p, c, way) != ep_own_slot(p, c, group)) return true;
    return false;
}

void ep_find_best(const ep_parser *p, ep_bag_costs *c, u32 slot) {
    for (u32 i = 0; i < c->bag->n_slots; i++)
        if (slot == NONE || slot == i) c->best.at[i] = NONE;
    for (u32 way = 0; way < c->bag->n_ways; way++) {
        u32 own = ep_own_slot(p, c, way);
        if (!c->ways.at[way].open || (slot != NONE && slot != own)) continue;
        u32 *best = &c->best.at[own];
        if (*best == NONE || c->ways.at[way].length < c->ways.at[*best].length) *best = way;
    }
}

bool ep_take_member(ep_parser *p, ep_bag_costs *c, u32 slot, u32 n, u32 *sum, u32 *taken) {
    u32 way = c->best.at[slot];
    bool distinct = ep_is_distinct(p, c, way);
    ep_bag_way *group = &c->ways.at[c->ways.at[way].group];
    if (distinct && group->first == NONE) group->first = group->value, group->first_length = c->ways.at[way].length;
    *taken = distinct ? 1 : n;
    *sum = rx_add_lengths(*sum, rx_times_length(*taken, c->ways.at[way].length));
    if (c->left.at[slot] != NONE) c->left.at[slot] -= *taken;
    if (!budget_work(p->b, 1)) return false;
    if (!distinct) return true;
    c->ways.at[c->ways.at[way].group].used++;
    if (!ep_price_group(p, c, c->ways.at[way].group)) return false;
    ep_find_best(p, c, spans_slots(p, c, c->ways.at[way].group) ? NONE : slot);
    return true;
}

/* What a group has to pay more if it does without its first value: it takes
 * one that costs no less than the cheapest way that is left to its slots. */
static u32 price_without_first(const ep_parser *p, const ep_bag_costs *c, u32 group) {
    u32 least = RX_NO_LENGTH;
    for (u32 way = group; way < c->bag->n_ways; way++) {
        u32 best = c->ways.at[way].group == group ? c->best.at[ep_own_slot(p, c, way)] : NONE;
        if (best != NONE) least = min_u32(least, c->ways.at[best].length);
    }
    return least == RX_NO_LENGTH ? least : least - min_u32(least, c->ways.at[group].first_length);
}

u32 ep_price_of_common_values(const ep_parser *p, const ep_bag_costs *c) {
    u32 sum = 0;
    if (p->common.at[c->bag - p->g->bags.at] != COMMON) return 0;
    for (u32 a = 0; a < c->bag->n_ways; a++) {
        u32 first = c->ways.at[a].first, all = 0, most = 0;
        bool is_first = first != NONE;
        for (u32 b = 0; b < c->bag->n_ways && is_first; b++) {
            if (c->ways.at[b].first != first) continue;
            is_first = b >= a; /* else it was counted there */
            u32 price = price_without_first(p, c, b);
            all = rx_add_lengths(all, price);
            most = max_u32(most, price);
        }
        if (is_first && all < RX_NO_LENGTH) sum = rx_add_lengths(sum, all - most);
    }
    return sum;
}
