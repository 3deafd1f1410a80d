#include "gr_bag.h"

enum { WORK_OF_A_LOOK = 16 }; /* slots or ways that are looked at for one unit of work */

static const gr_slot *slot_of(const gr_grammar *g, const gr_bag *bag, u32 slot) { return &g->slots.at[bag->slots + slot]; }
static const gr_way *way_of(const gr_grammar *g, u32 way) { return &g->ways.at[way]; }
static const u32 *slots_of(const gr_grammar *g, const gr_way *way) { return g->bag_words.at + way->slots; }

static u32 count_of(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    if (slot->place == NONE) return 0;
    return slot->maximum == 1 ? counts[slot->place >> 5] >> (slot->place & 31) & 1 : counts[bag->n_bit_words + slot->place];
}

static u32 missing(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    u32 count = count_of(bag, slot, counts);
    return count < slot->minimum ? slot->minimum - count : 0;
}

static u32 room(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    return slot->maximum == NONE ? NONE : slot->maximum - count_of(bag, slot, counts);
}

bool gr_bag_is_finished(const gr_grammar *g, const gr_bag *bag, const u32 *counts) {
    for (u32 i = 0; i < bag->n_slots; i++)
        if (missing(bag, slot_of(g, bag, i), counts)) return false;
    return true;
}

bool gr_bag_admits(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, u32 way) {
    const gr_way *w = way_of(g, way);
    if (w->flags & GR_DEAD || (bag->ranked && w->rank < rank)) return false;
    for (u32 i = 0; i < w->n_slots; i++)
        if (room(bag, slot_of(g, bag, slots_of(g, w)[i]), counts) == 0) return false;
    return true;
}

/* Raises the slots of a way, none of which has a maximum, so often that `slot` is no longer missing. */
static void raise_enough(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way, u32 slot) {
    const gr_way *w = way_of(g, way);
    u32 times = missing(bag, slot_of(g, bag, slot), counts);
    for (u32 i = 0; i < w->n_slots; i++) {
        const gr_slot *raised = slot_of(g, bag, slots_of(g, w)[i]);
        if (raised->place != NONE) counts[bag->n_bit_words + raised->place] += min_u32(times, missing(bag, raised, counts));
    }
}

static bool is_unbounded(const gr_grammar *g, const gr_bag *bag, u32 way) {
    const gr_way *w = way_of(g, way);
    for (u32 i = 0; i < w->n_slots; i++)
        if (slot_of(g, bag, slots_of(g, w)[i])->maximum != NONE) return false;
    return true;
}

void gr_bag_raise(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way) {
    const gr_way *w = way_of(g, way);
    for (u32 i = 0; i < w->n_slots; i++) {
        const gr_slot *slot = slot_of(g, bag, slots_of(g, w)[i]);
        if (slot->place == NONE) continue;
        if (slot->maximum == 1) counts[slot->place >> 5] |= (u32)1 << (slot->place & 31);
        else if (slot->maximum != NONE || missing(bag, slot, counts)) counts[bag->n_bit_words + slot->place]++;
    }
}

void gr_bag_forget(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 rank) {
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = slot_of(g, bag, i);
        if (slot->place == NONE || slot->last_rank == NONE || slot->last_rank >= rank) continue;
        if (slot->maximum == 1) counts[slot->place >> 5] |= (u32)1 << (slot->place & 31);
        else counts[bag->n_bit_words + slot->place] = slot->minimum;
    }
}

/* --- without conditions -------------------------------------------------------------------------------------------------- */

/* What the own slots and the total say of a state, and of the states after it. */
typedef struct outlook {
    u64 missing;  /* members that have to come */
    u64 room;     /* members that may come; NONE or more: without end */
    u32 deadline; /* the first rank behind which some missing one lies; NONE: none */
    bool hopeless; /* something is missing that can not come any more */
    u32 done, minimum, maximum; /* of the total */
} outlook;

static outlook look(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank) {
    outlook o = {.deadline = NONE, .maximum = NONE};
    for (u32 i = 0; i < bag->n_slots; i++) {
        const gr_slot *slot = slot_of(g, bag, i);
        if (i == bag->total) {
            o.done = count_of(bag, slot, counts);
            o.minimum = slot->minimum;
            o.maximum = slot->maximum;
        } else if (slot->last_rank != NONE || bag->conditions == 0) { /* some way's own, or of no way at all */
            u32 lacks = missing(bag, slot, counts);
            bool gone = slot->last_rank == NONE || (bag->ranked && slot->last_rank < rank);
            o.missing += lacks;
            o.hopeless |= lacks && gone;
            if (lacks) o.deadline = min_u32(o.deadline, slot->last_rank);
            if (!gone) o.room += room(bag, slot, counts);
        }
    }
    o.hopeless |= o.missing > o.maximum - (u64)o.done || o.done + o.room < o.minimum;
    return o;
}

/* Whether the state after an admitted way is alive, if there are no conditions. */
static bool leads_on(const gr_grammar *g, const gr_bag *bag, const u32 *counts, const outlook *o, u32 way) {
    const gr_way *w = way_of(g, way);
    const gr_slot *own = slot_of(g, bag, slots_of(g, w)[0]);
    u64 lacks = o->missing - (missing(bag, own, counts) != 0);
    if (bag->ranked && w->rank > o->deadline) return false;
    if (o->maximum != NONE && o->done + 1 + lacks > o->maximum) return false;
    if (o->done + 1 >= o->minimum) return true;
    u64 may_come = own->maximum == NONE ? NONE : o->room - 1;
    if (bag->ranked && own->maximum != NONE) may_come = look(g, bag, counts, w->rank).room - 1;
    return o->done + 1 + may_come >= o->minimum;
}

/* --- with conditions ----------------------------------------------------------------------------------------------------- */

/* The slot to work on: a condition that is missing; where a condition has a maximum, then anything that is. NONE: nothing to search. */
static u32 wanted_slot(const gr_grammar *g, const gr_bag *bag, const u32 *counts) {
    u32 other = NONE;
    for (u32 i = bag->n_slots; i-- > 0;) {
        const gr_slot *slot = slot_of(g, bag, i);
        if (!missing(bag, slot, counts)) continue;
        if (i != bag->total && slot->last_rank == NONE) return i;
        if (other == NONE || i != bag->total) other = i; /* the total last: others raise it too */
    }
    return bag->conditions == 2 ? other : NONE;
}

static bool raises(const gr_grammar *g, u32 way, u32 slot) {
    const gr_way *w = way_of(g, way);
    for (u32 i = 0; i < w->n_slots; i++)
        if (slots_of(g, w)[i] == slot) return true;
    return false;
}

/* Only the total is missing, and some way raises nothing that has a maximum but the total. */
static bool can_fill_up(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank) {
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        const gr_way *w = way_of(g, way);
        bool free = gr_bag_admits(g, bag, counts, rank, way);
        for (u32 i = 0; i < w->n_slots && free; i++) {
            u32 slot = slots_of(g, w)[i];
            free = slot == bag->total || slot_of(g, bag, slot)->maximum == NONE;
        }
        if (free) return true;
    }
    return false;
}

typedef struct attempt {
    u32 slot, way; /* what is worked on, and the way that was tried last */
} attempt;

/* Depth-first over attempts; the counts of attempt d are at counts_at[d * n_words]. */
static bool find_finish(budget *b, const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, bool *answer) {
    VEC(attempt) path = {0};
    VEC(u32) all = {0};
    u32 n = bag->n_words;
    bool ok = vec_reserve(b, &all, n + 1u), down = true;
    if (ok) memcpy(all.at, counts, n * sizeof *counts), all.n = n;
    *answer = false;
    while (ok && !*answer) {
        const u32 *here = all.at + (size_t)path.n * n;
        ok = budget_work(b, (bag->n_slots + bag->n_ways) / WORK_OF_A_LOOK + 1);
        if (down && ok) {
            down = false;
            if (!look(g, bag, here, rank).hopeless) {
                u32 slot = wanted_slot(g, bag, here);
                *answer = slot == NONE || (slot == bag->total && can_fill_up(g, bag, here, rank));
                if (*answer) break;
                u32 first = path.n && path.at[path.n - 1].slot == slot ? path.at[path.n - 1].way : bag->ways;
                ok = vec_push(b, &path, ((attempt){slot, first - 1}));
                if (!ok) break;
                ok = vec_reserve(b, &all, n + 1u);
                if (!ok) break;
                all.n += n;
            } else if (path.n == 0) {
                break;
            }
        }
        if (!path.n) break;
        attempt *a = &path.at[path.n - 1];
        const u32 *base = all.at + (size_t)(path.n - 1) * n;
        u32 end = bag->ways + bag->n_ways;
        for (a->way++; a->way < end; a->way++)
            if (raises(g, a->way, a->slot) && gr_bag_admits(g, bag, base, rank, a->way)) break;
        if (a->way == end) { /* back to the attempt before */
            path.n--;
            all.n -= n;
            continue;
        }
        u32 *next = all.at + (size_t)path.n * n;
        memcpy(next, base, n * sizeof *next);
        if (is_unbounded(g, bag, a->way)) raise_enough(g, bag, next, a->way, a->slot); /* costs nothing, so more of it never hurts */
        else gr_bag_raise(g, bag, next, a->way);
        down = true;
    }
    vec_drop(b, &path);
    vec_drop(b, &all);
    return ok;
}

/* --- questions ----------------------------------------------------------------------------------------------------------- */

bool gr_bag_is_alive(budget *b, const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, bool *answer) {
    if (bag->conditions) return find_finish(b, g, bag, counts, rank, answer);
    *answer = !look(g, bag, counts, rank).hopeless;
    return budget_work(b, bag->n_slots);
}

bool gr_bag_offers(budget *b, const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, u32 symbol, u32 most, id_vec *out) {
    outlook o = look(g, bag, counts, rank);
    u32 *after = bag->conditions ? mem_resize(b, NULL, 0, (bag->n_words + 1u) * sizeof *after) : NULL;
    bool ok = budget_work(b, (bag->n_slots + bag->n_ways) / WORK_OF_A_LOOK + 1) && (after || !bag->conditions);
    for (u32 way = bag->ways; ok && way < bag->ways + bag->n_ways; way++) {
        if (symbol != NONE && g->bag_words.at[way_of(g, way)->symbols] != symbol) continue;
        if (!gr_bag_admits(g, bag, counts, rank, way)) continue;
        bool alive;
        if (bag->conditions) {
            memcpy(after, counts, bag->n_words * sizeof *counts);
            gr_bag_raise(g, bag, after, way);
            ok = find_finish(b, g, bag, after, bag->ranked ? way_of(g, way)->rank : 0, &alive);
        } else {
            alive = leads_on(g, bag, counts, &o, way);
        }
        ok = ok && (!alive || vec_push(b, out, way));
        if (out->n == most) break;
    }
    if (after) mem_resize(b, after, (bag->n_words + 1u) * sizeof *after, 0);
    return ok;
}
