/* ep_least_bag: the least length of the members that a bag still asks for.
 *
 * Greedy. A slot takes the cheapest of its ways, again and again: first until nothing is missing, then, over all slots that have room,
 * until the total is reached. Costs never fall (ep_costs.h), so greedy is exact. With conditions it is a lower bound, from which a search
 * begins (ep_least_search.c). */
#include "ep_costs.h"

static u32 price_of_slot(const ep_bag_costs *c, u32 slot) {
    return c->best.at[slot] == NONE ? RX_NO_LENGTH : c->ways.at[c->best.at[slot]].length;
}

/* Adds what choices cost beside keys that are there, if there are any. */
static bool add_choices(ep_parser *p, const ep_bag_costs *c, const u32 *keys, u32 *sum) {
    id_vec prices = {0};
    u32 least = 0;
    if (!c->bag->n_choices || *sum >= RX_LONG) return true;
    bool ok = vec_reserve(p->b, &prices, 32 * c->bag->n_bit_words + 1);
    for (u32 i = 0; ok && i < c->bag->n_slots; i++)
        if (ep_slot_at(p, c, i)->place < c->bag->n_bits) prices.at[ep_slot_at(p, c, i)->place] = price_of_slot(c, i);
    ok = ok && ep_least_choice(p, c->bag, keys, prices.at, &least);
    *sum = rx_add_lengths(*sum, least);
    vec_drop(p->b, &prices);
    return ok;
}

/* One member and the keys that it asks for, and the choices that it leaves, where nothing is missing. `keys`: scratch. False on failure. */
static bool least_of_one(ep_parser *p, const ep_bag_costs *c, const u32 *counts, u32 *keys, u32 *least) {
    bool ok = true;
    *least = RX_NO_LENGTH;
    for (u32 way = 0; ok && way < c->bag->n_ways; way++) {
        u32 own = ep_own_slot(p, c, way), sum = c->ways.at[way].open ? c->ways.at[way].length : RX_NO_LENGTH;
        const gr_slot *slot = ep_slot_at(p, c, own);
        memcpy(keys, counts, c->bag->n_bit_words * sizeof *keys);
        if (slot->place < c->bag->n_bits) keys[slot->place / 32] |= (u32)1 << slot->place % 32;
        for (u32 i = 0; i < slot->n_asks; i++) {
            u32 other = p->g->bag_words.at[slot->asks + i], place = ep_slot_at(p, c, other)->place, bit = (u32)1 << place % 32;
            if (!(keys[place / 32] & bit)) sum = rx_add_lengths(sum, price_of_slot(c, other));
            keys[place / 32] |= bit;
        }
        ok = sum >= *least || add_choices(p, c, keys, &sum);
        *least = min_u32(*least, sum);
    }
    return ok;
}

/* With the choices, where `sum` is what is missing beside them; with `one`, nothing is, and a member must come. */
static u32 with_choices(ep_parser *p, const ep_bag_costs *c, const u32 *counts, u32 sum, bool one) {
    id_vec keys = {0};
    u32 n = c->bag->n_bit_words, beside = sum;
    bool ok = vec_reserve(p->b, &keys, n + 1);
    if (ok) memcpy(keys.at, counts, n * sizeof *counts);
    for (u32 i = 0; ok && i < c->bag->n_slots; i++) {
        const gr_slot *slot = ep_slot_at(p, c, i);
        if (slot->place < c->bag->n_bits && gr_bag_missing(c->bag, slot, counts)) keys.at[slot->place / 32] |= (u32)1 << slot->place % 32;
    }
    ok = ok && add_choices(p, c, keys.at, &sum);
    if (ok && one && sum == beside) ok = least_of_one(p, c, counts, keys.at, &sum);
    vec_drop(p->b, &keys);
    return ok ? sum : RX_NO_LENGTH;
}

/* The least length of `wanted` members, or more, that meet a condition: so many raise its slot, all cost what the cheapest do. 0: it is
 * met. To be asked before members are taken, as those of distinct ways then cost more. */
static u32 least_for_condition(const ep_parser *p, const ep_bag_costs *c, const u32 *counts, u32 slot, u32 wanted) {
    u32 need = gr_bag_missing(c->bag, &p->g->slots.at[c->bag->slots + slot], counts), raising = RX_NO_LENGTH, any = RX_NO_LENGTH;
    if (!need) return 0;
    for (u32 way = 0; way < c->bag->n_ways; way++) {
        gr_way w = p->g->ways.at[c->bag->ways + way];
        if (!c->ways.at[way].open) continue;
        any = min_u32(any, c->ways.at[way].length);
        for (u32 i = 0; i < w.n_slots; i++)
            if (p->g->bag_words.at[w.slots + i] == slot) raising = min_u32(raising, c->ways.at[way].length);
    }
    return rx_add_lengths(rx_times_length(need, raising), rx_times_length(wanted - min_u32(wanted, need), any));
}

u32 ep_greedy_length(ep_parser *p, ep_bag_costs *c, const u32 *counts, bool one) {
    const gr_bag *bag = c->bag;
    u32 sum = 0, members = 0, taken, wanted = one, least = 0;
    for (u32 way = 0; way < bag->n_ways; way++) {
        c->ways.at[way].open = gr_bag_admits(p->g, bag, counts, c->rank, bag->ways + way);
        c->ways.at[way].first = NONE;
        if (c->ways.at[way].group == way && ep_is_distinct(p, c, way) && c->ways.at[way].rest != RX_NO_LENGTH && !ep_price_group(p, c, way))
            return RX_NO_LENGTH;
    }
    ep_find_best(p, c, NONE);
    if (bag->total != NONE) wanted = max_u32(wanted, gr_bag_missing(bag, &p->g->slots.at[bag->slots + bag->total], counts));
    for (u32 i = 0; bag->conditions && i < bag->n_slots; i++)
        if (p->g->slots.at[bag->slots + i].last_rank == NONE && i != bag->total)
            least = max_u32(least, least_for_condition(p, c, counts, i, wanted));
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = &p->g->slots.at[bag->slots + i];
        c->left.at[i] = slot->maximum == NONE ? NONE : slot->maximum - gr_bag_count(bag, slot, counts);
    }
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = &p->g->slots.at[bag->slots + i];
        u32 need = gr_bag_missing(bag, slot, counts);
        if (i == bag->total || (bag->conditions && slot->last_rank == NONE)) continue;
        for (; need; need -= taken, members += taken) {
            if (c->best.at[i] == NONE) return RX_NO_LENGTH;
            if (!ep_take_member(p, c, i, need, &sum, &taken)) return RX_NO_LENGTH;
        }
    }
    sum = rx_add_lengths(sum, ep_price_of_common_values(p, c));
    one = one && !members;
    if (bag->n_choices || (one && bag->n_mark_words > bag->n_bit_words)) return with_choices(p, c, counts, sum, one);
    for (; members < wanted; members += taken) {
        u32 slot = NONE, length = RX_NO_LENGTH;
        for (u32 i = 0; i < bag->n_slots; i++) {
            u32 way = c->best.at[i];
            if (c->left.at[i] && way != NONE && c->ways.at[way].length < length) slot = i, length = c->ways.at[way].length;
        }
        if (slot == NONE) return RX_NO_LENGTH;
        if (!ep_take_member(p, c, slot, min_u32(wanted - members, c->left.at[slot]), &sum, &taken)) return RX_NO_LENGTH;
    }
    return max_u32(sum, least);
}

/* --- questions ----------------------------------------------------------------------------------------------------------- */

/* Members with a separator before each, or before each but the first, of which there must then be one. */
static u32 least_of_members(ep_parser *p, const gr_bag *bag, const u32 *counts, u32 rank, u32 values, bool separated) {
    ep_bag_costs c = {.bag = bag, .values = values, .rank = rank};
    u32 least = RX_NO_LENGTH;
    if (ep_begin_costs(p, &c))
        least = bag->conditions ? ep_search_members(p, &c, counts, !separated) : ep_greedy_length(p, &c, counts, !separated);
    ep_end_costs(p, &c);
    if (least == RX_NO_LENGTH || separated || bag->separator == NONE) return least;
    return least >= RX_LONG ? least : least - ep_least_symbol(p, bag->separator);
}

u32 ep_least_of_new_bag(ep_parser *p, u32 bag) {
    const gr_bag *of = &p->g->bags.at[bag];
    id_vec counts = {0};
    u32 least = RX_NO_LENGTH;
    if (vec_reserve(p->b, &counts, of->n_words + 1u)) {
        memset(counts.at, 0, (of->n_words + 1u) * sizeof *counts.at);
        least = least_of_members(p, of, counts.at, 0, 0, false);
    }
    vec_drop(p->b, &counts);
    return least;
}

u32 ep_least_of_state(ep_parser *p, u32 state, bool separated) {
    u32 least;
    if (separated && ep_least_by_slots(p, state, &least)) return least;
    const u32 *words = intern_words(&p->states, state);
    return least_of_members(p, &p->g->bags.at[words[EP_STATE_BAG]], words + EP_STATE_COUNTS, words[EP_STATE_RANK], words[EP_STATE_VALUES],
                            separated);
}

/* The counts after a member of a way. False on failure. */
static bool raise_counts(ep_parser *p, const u32 *words, u32 way, id_vec *counts) {
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    if (!vec_reserve(p->b, counts, bag->n_words + 1u)) return false;
    memcpy(counts->at, words + EP_STATE_COUNTS, bag->n_words * sizeof *counts->at);
    gr_bag_raise(p->g, bag, counts->at, way);
    return true;
}

/* What is left of a member after its key, and then so much. */
static u32 least_behind_key(ep_parser *p, u32 way, u32 least) {
    gr_way w = p->g->ways.at[way];
    for (u32 k = 1; k < w.n_symbols; k++) least = rx_add_lengths(least, ep_least_symbol(p, p->g->bag_words.at[w.symbols + k]));
    return least;
}

u32 ep_least_after_key_bound(ep_parser *p, u32 state, u32 way) {
    u32 least;
    if (ep_least_by_slots_after(p, state, way, &least)) return least_behind_key(p, way, least);
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    gr_way w = p->g->ways.at[way];
    u32 id = NONE, n = 3 + bag->n_words, head[] = {words[EP_STATE_BAG], bag->ranked ? w.rank : 0, words[EP_STATE_VALUES]};
    id_vec key = {0}; /* [ bag | rank | values | counts ... ] */
    bool fresh = false;
    least = 0;
    if (vec_reserve(p->b, &key, n) && vec_reserve(p->b, &p->least_taken, 1)) {
        memcpy(key.at, head, sizeof head);
        memcpy(key.at + 3, words + EP_STATE_COUNTS, bag->n_words * sizeof *key.at);
        gr_bag_raise_needed(p->g, bag, key.at + 3, way);
        id = intern(p->b, &p->taken, key.at, n, &fresh);
    }
    if (id != NONE && fresh) {
        p->least_taken.at[p->least_taken.n++] = 0; /* where it cannot be told, no bound */
        if (!gr_bag_is_finished(p->g, bag, key.at + 3)) least = least_of_members(p, bag, key.at + 3, head[1], head[2], true);
        if (p->b->status == GE_OK) p->least_taken.at[id] = least;
    } else if (id != NONE)
        least = p->least_taken.at[id];
    vec_drop(p->b, &key);
    return least_behind_key(p, way, least);
}

/* May a member of the slot be a distinct one? */
static bool takes_values(const ep_parser *p, const gr_bag *bag, u32 slot) {
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++)
        if (p->g->ways.at[way].flags & GR_DISTINCT && p->g->bag_words.at[p->g->ways.at[way].slots] == slot) return true;
    return false;
}

/* Where the counts ask for members by slot alone, those are all that the shortest texts have. */
static bool asks_for_values(const ep_parser *p, const gr_bag *bag, const u32 *counts) {
    u32 members = 0;
    if (bag->conditions) return !gr_bag_is_finished(p->g, bag, counts);
    for (u32 i = 0; i < bag->n_slots; i++) {
        u32 need = i == bag->total ? 0 : gr_bag_missing(bag, &p->g->slots.at[bag->slots + i], counts);
        if (need && takes_values(p, bag, i)) return true;
        members += need;
    }
    if (bag->total == NONE) return false;
    const gr_slot *total = &p->g->slots.at[bag->slots + bag->total];
    return gr_bag_count(bag, total, counts) + members < total->minimum;
}

bool ep_asks_for_values(ep_parser *p, u32 state, u32 way) {
    const u32 *words = intern_words(&p->states, state);
    id_vec counts = {0};
    bool asks = !raise_counts(p, words, way, &counts) || asks_for_values(p, &p->g->bags.at[words[EP_STATE_BAG]], counts.at);
    vec_drop(p->b, &counts);
    return asks;
}

u32 ep_least_after_key(ep_parser *p, u32 state, u32 way) {
    u32 least;
    if (ep_least_by_slots_after(p, state, way, &least)) return least_behind_key(p, way, least);
    const u32 *words = intern_words(&p->states, state);
    const gr_bag *bag = &p->g->bags.at[words[EP_STATE_BAG]];
    gr_way w = p->g->ways.at[way];
    id_vec counts = {0};
    least = RX_NO_LENGTH;
    if (raise_counts(p, words, way, &counts)) {
        least = 0;
        if (!gr_bag_is_finished(p->g, bag, counts.at))
            least = least_of_members(p, bag, counts.at, bag->ranked ? w.rank : 0, words[EP_STATE_VALUES], true);
        least = least_behind_key(p, way, least);
    }
    vec_drop(p->b, &counts);
    return least;
}
