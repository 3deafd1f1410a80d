/* ep_least_slots: the least length of what a bag still asks for, where that is a sum over its slots.
 *
 * Idea. Mostly each member fills its own slot, whenever it comes, and nothing else: keys that are required, in any order. Then what is
 * missing in a state costs so much for each slot, and after a member it is that much less. So a forecast for each of n keys that may come
 * next takes n subtractions, where asking the bag (ep_least_bag.c) takes n looks at n ways: a closing of 250 keys 0.03 seconds where it
 * took 0.36, of 1,000 keys 0.7 and not 27.
 *
 * Exactness. Without ranks, conditions, a total, distinct members that must come, keys that ask for others and choices, a slot of which
 * some are missing has room, so that each of its ways may come, always at the same price. */
#include "../grammar/gr_bag.h"
#include "ep_parts.h"

enum { NOT_A_SUM = 0, A_SUM = 1 }; /* of a bag, if it was asked */

static bool is_sum(const ep_parser *p, const gr_bag *bag) {
    bool is = !bag->ranked && !bag->conditions && bag->total == NONE && bag->n_mark_words == bag->n_bit_words && !bag->n_choices;
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways && is; way++) {
        gr_way w = p->g->ways.at[way];
        u32 least = p->g->slots.at[bag->slots + p->g->bag_words.at[w.slots]].minimum;
        is = w.n_slots == 1 && (!(w.flags & GR_DISTINCT) || least == 0);
    }
    return is;
}

/* The least length of a member of each slot, with a separator. */
static bool price_slots(ep_parser *p, const gr_bag *bag) {
    u32 separator = bag->separator == NONE ? 0 : ep_least_symbol(p, bag->separator);
    if (bag->n_slots && !vec_reach(p->b, &p->slot_price, bag->slots + bag->n_slots - 1)) return false;
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        gr_way w = p->g->ways.at[way];
        u32 length = separator, *price = &p->slot_price.at[bag->slots + p->g->bag_words.at[w.slots]];
        for (u32 k = 0; k < w.n_symbols; k++) length = rx_add_lengths(length, ep_least_symbol(p, p->g->bag_words.at[w.symbols + k]));
        if (!(w.flags & GR_DEAD)) *price = min_u32(*price, length);
    }
    return p->b->status == GE_OK;
}

/* Whether what is missing in the bag's states is known to be a sum. */
static bool has_prices(ep_parser *p, u32 index) {
    const gr_bag *bag = &p->g->bags.at[index];
    if (!p->knows_least || !vec_reach(p->b, &p->bag_sums, index)) return false;
    if (p->bag_sums.at[index] == UINT8_MAX) {
        bool is = is_sum(p, bag);
        if (is && !price_slots(p, bag)) return false;
        p->bag_sums.at[index] = is ? A_SUM : NOT_A_SUM;
    }
    return p->bag_sums.at[index] == A_SUM;
}

bool ep_least_by_slots(ep_parser *p, u32 state, u32 *least) {
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    if (!has_prices(p, words[EP_STATE_BAG]) || !vec_reach(p->b, &p->least_missing, state)) return false;
    u32 *known = &p->least_missing.at[state];
    if (*known == NONE) {
        u32 sum = 0;
        for (u32 i = bag->slots; i < bag->slots + bag->n_slots; i++)
            sum =
                rx_add_lengths(sum, rx_times_length(gr_bag_missing(bag, &p->g->slots.at[i], words + EP_STATE_COUNTS), p->slot_price.at[i]));
        *known = min_u32(sum, RX_LONG);
        if (!budget_work(p->b, 1)) return false;
    }
    *least = *known;
    return *least < RX_LONG;
}

bool ep_least_by_slots_after(ep_parser *p, u32 state, u32 way, u32 *least) {
    if (!ep_least_by_slots(p, state, least)) return false;
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    u32 own = bag->slots + p->g->bag_words.at[p->g->ways.at[way].slots];
    if (gr_bag_missing(bag, &p->g->slots.at[own], words + EP_STATE_COUNTS)) *least -= p->slot_price.at[own];
    return true;
}
