/* ep_costs: what the next member of each way of a bag costs, while the cheapest members are taken from it.
 *
 * A way always costs the same, but for distinct ones, whose values cost more and more (lx_cheapest). Distinct ways with one lexeme are a
 * *group*, which takes from one list of values; those of several slots only if these have no other ways, else it would matter which slot
 * takes which. Groups that have values in common, as positions of an array may, are priced as if they had not, but for the first value of
 * each, which all but one have to do without: then all lengths are lower bounds (`least_is_bound`). */
#ifndef GE_EP_COSTS_H
#define GE_EP_COSTS_H

#include "../grammar/gr_bag.h"
#include "ep_parts.h"

typedef struct ep_bag_way {
    u32 length;  /* of the next member of this way, its separator included */
    u32 rest;    /* ... without the distinct value */
    u32 group;   /* the first way of its group */
    u32 used;    /* values of that lexeme that are taken or passed over; of the group's way */
    u32 value;   /* the next one; of the group's way */
    /* the one that was the next at first, and the length of a member with it; NONE: it has not been taken. Of the group's way */
    u32 first, first_length;
    u32 before;  /* in a search: the slot of one that does the same, may come once, and costs no more: it goes first. NONE: there is none */
    bool open;   /* no bound forbids it now */
} ep_bag_way;

typedef struct ep_bag_costs {
    const gr_bag *bag;
    u32 values; /* set of those that are taken */
    u32 rank;
    VEC(ep_bag_way) ways;
    VEC(u32) best; /* by slot: the cheapest way that has it as its own, or NONE */
    VEC(u32) left; /* by slot: members that it has room for */
} ep_bag_costs;

static inline bool ep_is_distinct(const ep_parser *p, const ep_bag_costs *c, u32 way) {
    return p->g->ways.at[c->bag->ways + way].flags & GR_DISTINCT;
}
static inline u32 ep_way_lexeme(const ep_parser *p, const ep_bag_costs *c, u32 way) {
    return p->g->bag_words.at[p->g->ways.at[c->bag->ways + way].symbols] >> 1;
}
static inline u32 ep_own_slot(const ep_parser *p, const ep_bag_costs *c, u32 way) {
    return p->g->bag_words.at[p->g->ways.at[c->bag->ways + way].slots];
}
static inline const gr_slot *ep_slot_at(const ep_parser *p, const ep_bag_costs *c, u32 slot) {
    return &p->g->slots.at[c->bag->slots + slot];
}

bool ep_begin_costs(ep_parser *p, ep_bag_costs *c); /* of c->bag, with c->values and c->rank; false on failure. ep_end_costs in any case */
void ep_end_costs(ep_parser *p, ep_bag_costs *c);

/* The lengths of all ways of a group, whose first value that is not taken is looked for from `used` on. False on failure. */
bool ep_price_group(ep_parser *p, ep_bag_costs *c, u32 group);
void ep_find_best(const ep_parser *p, ep_bag_costs *c, u32 slot); /* c->best of a slot; NONE: of all slots */
/* Takes at most n members of the cheapest way of a slot; as many as cost the same at once. False on failure. */
bool ep_take_member(ep_parser *p, ep_bag_costs *c, u32 slot, u32 n, u32 *sum, u32 *taken);
/* What all groups have to pay more since a value that is the first of several is taken once. */
u32 ep_price_of_common_values(const ep_parser *p, const ep_bag_costs *c);

/* What is missing, where the `used` of groups are already taken; with `one`, at least one member. RX_NO_LENGTH: hopeless, or failure.
 * With conditions a lower bound (ep_least_bag.c). */
u32 ep_greedy_length(ep_parser *p, ep_bag_costs *c, const u32 *counts, bool one);
u32 ep_search_members(ep_parser *p, ep_bag_costs *c, const u32 *counts, bool one); /* ... exact with conditions (ep_least_search.c) */

#endif
