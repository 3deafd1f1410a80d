/* What members that may come in any order cost in tokens: see ct.h, ct_rows.h and ct_members.c.
 *
 * How many tokens n needed members take depends on their order, since a token may end one and begin the next. Costs of each set of members
 * that are left would be exact, and 2^n of them. But members differ little in what they do to seams: mostly in a number of tokens, which
 * counts in any order, the *extra* of a member. Those that differ in no more are a *kind*, and of members of a kind it matters only how
 * many are left. So costs are rows of *places*, a place being the number of members left of each kind (dynamic programming over multisets).
 * A bag has one *plan*, all its states share these rows, and they are made from the end: a row of a place refers to those with a member
 * less.
 *
 * Where kinds make too many places, members are told apart only by what they do before others, since but one is the last; and where there
 * are still too many, the kinds that differ least are merged. What a kind costs is the least of what its members do beyond their extras.
 * Whatever the kinds and extras, that is a lower bound (state space relaxation: Christofides, Mingozzi, Toth 1981), so they may also be
 * made while rows are not final yet. Members that need not come may come at any place, any number of times; where the total of the bag asks
 * for more than must come otherwise, a place counts them, too. */
#include "../grammar/gr_bag.h"
#include "ct_rows.h"

enum {
    CT_PLACES = 2048, /* of a plan */
    CT_ENTRIES = 16,  /* seams at which members may begin: by more of them they are not told apart */
    CT_DOES = CT_ENTRIES * (CT_ENTRIES + CT_SEAMS),
    CT_LEVEL = 64,    /* tokens; what a member takes above what it takes behind other seams is not more */
    CT_APART = 4      /* two costs differ by so much, or more, or only one of them is there */
};

/* --- members ------------------------------------------------------------------------------------------------------------- */

static const u32 *symbols_of(const ge_engine *e, u32 way, u32 *n) {
    gr_way w = e->ep.g->ways.at[way];
    *n = w.n_symbols;
    return e->ep.g->bag_words.at + w.symbols;
}

void ct_follow_way(ge_engine *e, u32 way, ct_costs *c) {
    u32 n;
    const u32 *symbols = symbols_of(e, way, &n);
    if (n == 1) ct_follow(e, CT_OF_SYMBOL, symbols[0], c);
    else ct_follow(e, CT_OF_WAY, way, c);
}

void ct_follow_symbols_of_way(ge_engine *e, u32 way, ct_costs *c) {
    u32 n;
    const u32 *symbols = symbols_of(e, way, &n);
    ct_follow_symbols(e, symbols, n, c);
}

static ct_member *member_at(const ct_table *t, const ct_plan *p, u32 i) { return &t->members.at[p->first_member + i]; }

static u32 own_slot_of(const ge_engine *e, u32 way) { return e->ep.g->bag_words.at[e->ep.g->ways.at[way].slots]; }

bool ct_is_filled_by(const ge_engine *e, const gr_bag *bag, u32 slot, u32 from, u32 to) {
    const gr_slot *s = &e->ep.g->slots.at[bag->slots + slot];
    bool alone = s->place != NONE && s->last_rank != NONE;
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways && alone; way++)
        alone = (way >= from && way < to) || own_slot_of(e, way) != slot || e->ep.g->ways.at[way].flags & GR_DEAD;
    return alone;
}

/* Takes the extra off, but for CT_LEVEL: behind some seam a member may cost less than that. */
static void take_extra(ct_table *t, ct_costs *c, u32 extra) {
    for (u32 i = 0; i < CT_SEAMS; i++) {
        if (c->at[i] == CT_NEVER) continue;
        if ((u32)c->at[i] + CT_LEVEL < extra) t->off = true;
        c->at[i] = (u16)min_u32((u32)c->at[i] + CT_LEVEL - extra, CT_MANY);
    }
}

/* The costs behind a member of a kind, CT_LEVEL more and its extra less; the last kind is that of those that need not come. */
void ct_follow_kind(ge_engine *e, u32 id, ct_costs *c) {
    ct_table *t = &e->cl.fewest;
    ct_plan p = t->plans.at[t->kind_plan.at[id]];
    u32 kind = id - p.first_kind;
    ct_costs before = *c;
    *c = ct_never();
    for (u32 i = 0; i < p.to - p.from; i++) {
        ct_member m = *member_at(t, &p, i);
        bool counts = kind < p.n_kinds;
        if (m.dead || (counts ? member_at(t, &p, m.first)->kind != kind : !m.optional)) continue;
        ct_costs behind = before;
        ct_follow_way(e, p.from + i, &behind);
        if (counts) take_extra(t, &behind, member_at(t, &p, m.first)->extra);
        ct_improve(c, &behind);
    }
}

/* --- places -------------------------------------------------------------------------------------------------------------- */

static void follow_separator(ge_engine *e, const ct_plan *p, ct_costs *c) {
    if (p->separator != NONE) ct_follow(e, CT_OF_SYMBOL, p->separator, c);
}

/* Any number of members that need not come. */
static void follow_optional(ge_engine *e, const ct_plan *p, ct_costs *c) {
    for (bool again = p->has_optional; again;) {
        ct_costs before = *c, more = *c;
        follow_separator(e, p, &more);
        ct_follow(e, CT_OF_KIND, p->first_kind + p->n_kinds, &more);
        ct_improve(c, &more);
        ct_prune(&e->cl.fewest, c);
        again = memcmp(&before, c, sizeof before) != 0;
    }
}

/* A member of each kind in turn, where *c is what it begins with, then what is left. The last kind makes up the total. */
static void follow_first(ge_engine *e, const ct_plan *p, u32 place, ct_costs *c) {
    ct_costs sum = ct_never();
    for (u32 kind = 0, weight = 1; kind <= p->n_kinds; weight *= p->sizes[kind++]) {
        if (place / weight % p->sizes[kind] == 0) continue;
        ct_costs behind = *c;
        ct_follow(e, CT_OF_KIND, p->first_kind + kind, &behind);
        ct_follow(e, CT_OF_PLACE, p->first_place + place - weight, &behind);
        ct_improve(&sum, &behind);
    }
    *c = sum;
}

void ct_follow_place(ge_engine *e, u32 id, ct_costs *c) {
    u32 i = e->cl.fewest.plans.n;
    while (e->cl.fewest.plans.at[i - 1].first_place > id) i--;
    ct_plan p = e->cl.fewest.plans.at[i - 1];
    follow_optional(e, &p, c);
    if (id == p.first_place) return;
    follow_separator(e, &p, c);
    follow_first(e, &p, id - p.first_place, c);
}

/* --- plans --------------------------------------------------------------------------------------------------------------- */

typedef struct planning { /* slots go by their first way in the plan */
    ct_plan plan;
    u32 n_entries, entries[CT_ENTRIES]; /* seams at which members may begin; those that are alike for all of them are one */
    byte_vec entry_of;                  /* seam -> one of these; CT_ENTRIES: none */
    /* by way, of slots: what a member takes from each entry, to entries (behind a separator), to seams */
    VEC(u16) does;
    u32 slots[CT_KINDS];                /* by kind: a slot of it */
} planning;

/* What a member of a slot costs, whichever way. */
static ct_costs costs_of_slot(ge_engine *e, const ct_plan *p, u32 slot, u32 seam) {
    ct_costs sum = ct_never();
    for (u32 i = slot; i < p->to - p->from; i++) {
        const ct_member *m = member_at(&e->cl.fewest, p, i);
        ct_costs c = ct_never();
        c.at[seam] = 0;
        if (m->first != slot || m->dead) continue;
        ct_follow_way(e, p->from + i, &c);
        ct_improve(&sum, &c);
    }
    return sum;
}

/* Do all slots cost the same behind two seams? *any: something. */
static bool seams_are_alike(ge_engine *e, const ct_plan *p, u32 a, u32 b, bool *any) {
    bool alike = true;
    *any = false;
    for (u32 i = 0; i < p->to - p->from && alike; i++) {
        const ct_member *m = member_at(&e->cl.fewest, p, i);
        if (m->first != i) continue; /* if it is dead, another way of its slot need not be */
        ct_costs x = costs_of_slot(e, p, i, a), y = costs_of_slot(e, p, i, b);
        alike = memcmp(&x, &y, sizeof x) == 0;
        *any |= !ct_is_never(&x);
    }
    return alike;
}

static bool find_entries(ge_engine *e, planning *p, const ct_costs *before) {
    if (!vec_reserve(&e->b, &p->entry_of, CT_SEAMS)) return false;
    memset(p->entry_of.at, CT_ENTRIES, CT_SEAMS);
    for (u32 seam = 0; seam < e->cl.fewest.seams.n; seam++) {
        u32 i = 0;
        bool any;
        if (before->at[seam] == CT_NEVER) continue;
        seams_are_alike(e, &p->plan, seam, seam, &any);
        while (any && i < p->n_entries && !seams_are_alike(e, &p->plan, p->entries[i], seam, &any)) i++;
        if (!any || i == CT_ENTRIES) continue;
        if (i == p->n_entries) p->entries[p->n_entries++] = seam;
        p->entry_of.at[seam] = (u8)i;
    }
    return e->b.status == GE_OK;
}

static u16 *does_of(const planning *p, u32 slot) { return p->does.at + (size_t)slot * CT_DOES; }

/* Notes what a slot does, beyond what it takes at least; returns that. */
static u32 note_slot(ge_engine *e, planning *p, u32 slot) {
    u32 least = CT_NEVER;
    u16 *does = does_of(p, slot);
    memset(does, 0xff, CT_DOES * sizeof *does);
    for (u32 i = 0; i < p->n_entries; i++, does += CT_ENTRIES + CT_SEAMS) {
        ct_costs c = costs_of_slot(e, &p->plan, slot, p->entries[i]);
        memcpy(does + CT_ENTRIES, c.at, sizeof c.at);
        follow_separator(e, &p->plan, &c);
        for (u32 seam = 0; seam < e->cl.fewest.seams.n; seam++) {
            u32 to = p->entry_of.at[seam];
            if (to < CT_ENTRIES) does[to] = (u16)min_u32(does[to], c.at[seam]);
        }
    }
    does = does_of(p, slot);
    for (u32 i = 0; i < CT_DOES; i++) least = min_u32(least, does[i]);
    if (least == CT_NEVER) return 0;
    for (u32 i = 0; i < CT_DOES; i++) does[i] = does[i] == CT_NEVER ? CT_NEVER : (u16)(does[i] - least);
    return least;
}

/* How far two slots are from doing the same, before another member or, with `last`, before the end, too. */
static u32 distance(const planning *p, u32 a, u32 b, bool last) {
    const u16 *of_a = does_of(p, a), *of_b = does_of(p, b);
    u32 sum = 0;
    for (u32 i = 0; i < p->n_entries * (CT_ENTRIES + CT_SEAMS); i++) {
        u32 apart = min_u32(of_a[i] > of_b[i] ? of_a[i] - of_b[i] : of_b[i] - of_a[i], CT_APART);
        if (last || i % (CT_ENTRIES + CT_SEAMS) < CT_ENTRIES) sum += apart;
    }
    return sum;
}

static u64 count_places(const ct_plan *p) { /* without those that make up the total */
    u64 n = 1;
    for (u32 i = 0; i < p->n_kinds; i++) n *= p->sizes[i];
    return n;
}

static void set_kinds(const ct_table *t, const ct_plan *p, u32 from, u32 to) {
    for (u32 i = 0; i < p->to - p->from; i++)
        if (member_at(t, p, i)->kind == from) member_at(t, p, i)->kind = (u16)to;
}

/* The two kinds that differ least become one. */
static void merge_kinds(ge_engine *e, planning *p) {
    u32 a = 0, b = 1, least = NONE, last = --p->plan.n_kinds;
    for (u32 i = 0; i <= last; i++)
        for (u32 j = i + 1; j <= last; j++) {
            u32 apart = distance(p, p->slots[i], p->slots[j], false);
            if (apart < least) a = i, b = j, least = apart;
        }
    p->plan.sizes[a] += p->plan.sizes[b] - 1;
    p->plan.sizes[b] = p->plan.sizes[last];
    p->slots[b] = p->slots[last];
    set_kinds(&e->cl.fewest, &p->plan, b, a);
    set_kinds(&e->cl.fewest, &p->plan, last, b);
}

/* `times` members of a slot. */
static void add_slot(ge_engine *e, planning *p, u32 slot, u32 times, bool last) {
    u32 nearest = 0, least = NONE;
    for (u32 i = 0; i < p->plan.n_kinds && least; i++) {
        u32 apart = distance(p, p->slots[i], slot, last);
        if (apart < least) nearest = i, least = apart;
    }
    if (least && p->plan.n_kinds < CT_KINDS) {
        nearest = p->plan.n_kinds++;
        p->plan.sizes[nearest] = 1;
        p->slots[nearest] = slot;
    }
    p->plan.sizes[nearest] += times;
    member_at(&e->cl.fewest, &p->plan, slot)->kind = (u16)nearest;
    while (!last && count_places(&p->plan) > CT_PLACES && p->plan.n_kinds > 1) merge_kinds(e, p);
}

/* What each member takes more than the cheapest of its kind. */
static void set_extras(const ct_table *t, const ct_plan *p) {
    u32 least[CT_KINDS];
    memset(least, 0xff, sizeof least);
    for (u32 i = 0; i < p->to - p->from; i++) {
        ct_member *m = member_at(t, p, i);
        if (m->kind != CT_NO_KIND) least[m->kind] = min_u32(least[m->kind], m->extra);
    }
    for (u32 i = 0; i < p->to - p->from; i++) {
        ct_member *m = member_at(t, p, i);
        if (m->kind != CT_NO_KIND) m->extra = (u16)(m->extra - least[m->kind]);
    }
}

/* The most that a condition asks for which only the members of one slot meet, by these counts; without counts: in any state. */
static u32 condition_on_slot(const ge_engine *e, const gr_bag *bag, const ct_plan *p, u32 slot, const u32 *counts) {
    const gr_grammar *g = e->ep.g;
    u32 most = 0;
    for (u32 s = 0; s < bag->n_slots && bag->conditions && bag->n_ways <= CT_TIMES; s++) {
        const gr_slot *condition = &g->slots.at[bag->slots + s];
        bool alone = s != bag->total && condition->last_rank == NONE;
        for (u32 way = bag->ways; way < bag->ways + bag->n_ways && alone; way++) {
            gr_way w = g->ways.at[way];
            for (u32 i = 1; i < w.n_slots && !(w.flags & GR_DEAD); i++)
                alone &= g->bag_words.at[w.slots + i] != s || (way >= p->from && way < p->to && own_slot_of(e, way) == slot);
        }
        if (alone) most = max_u32(most, counts ? gr_bag_missing(bag, condition, counts) : condition->minimum);
    }
    return most;
}

/* How many members of a slot may have to come, by the members of one plan alone. */
static u32 times_of_slot(const ge_engine *e, const gr_bag *bag, const ct_plan *p, u32 slot) {
    const gr_grammar *g = e->ep.g;
    u32 times = g->slots.at[bag->slots + slot].minimum, by_condition = condition_on_slot(e, bag, p, slot, NULL);
    for (u32 i = 0; i < bag->n_slots && !times; i++) {
        const gr_slot *asking = &g->slots.at[bag->slots + i];
        for (u32 k = 0; k < asking->n_asks; k++) times |= g->bag_words.at[asking->asks + k] == slot;
    }
    return min_u32(max_u32(ct_is_filled_by(e, bag, slot, p->from, p->to) ? times : 0, by_condition), CT_TIMES);
}

/* How many members of a slot must come, by the members of one plan alone. */
static u32 missing_of_slot(const ge_engine *e, const gr_bag *bag, const ct_plan *p, u32 slot, const u32 *counts) {
    u32 missing = ct_is_filled_by(e, bag, slot, p->from, p->to) ? gr_bag_missing(bag, &e->ep.g->slots.at[bag->slots + slot], counts) : 0;
    return max_u32(missing, condition_on_slot(e, bag, p, slot, counts));
}

/* The most members that may be counted to make up the total. */
static u32 most_more(const ge_engine *e, const gr_bag *bag, const ct_plan *p) {
    u32 most = bag->total == NONE || !p->has_optional ? 0 : min_u32(e->ep.g->slots.at[bag->slots + bag->total].minimum, CT_TIMES);
    return min_u32(most, (u32)(CT_PLACES / count_places(p)) - (count_places(p) <= CT_PLACES));
}

/* Appends the ways as members; *entries = where they may begin. */
static bool add_members(ge_engine *e, const gr_bag *bag, ct_plan *p, ct_costs *entries) {
    ct_table *t = &e->cl.fewest;
    ct_costs before = *entries;
    if (!vec_reserve(&e->b, &t->members, p->to - p->from)) return false;
    t->members.n += p->to - p->from;
    for (u32 i = 0; i < p->to - p->from; i++) {
        u32 slot = own_slot_of(e, p->from + i), first = 0;
        const gr_slot *s = &e->ep.g->slots.at[bag->slots + slot];
        while (own_slot_of(e, p->from + first) != slot) first++;
        ct_member m = {.first = first, .kind = CT_NO_KIND, .dead = e->ep.g->ways.at[p->from + i].flags & GR_DEAD};
        m.optional = !m.dead && (!ct_is_filled_by(e, bag, slot, p->from, p->to) || s->maximum != s->minimum || s->minimum > CT_TIMES ||
                                 !times_of_slot(e, bag, p, slot));
        p->has_optional |= m.optional;
        *member_at(t, p, i) = m;
    }
    for (u32 i = 0; i < p->to - p->from; i++) {
        ct_costs behind = before;
        if (member_at(t, p, i)->dead) continue;
        ct_follow_way(e, p->from + i, &behind);
        follow_separator(e, p, &behind);
        ct_improve(entries, &behind);
    }
    return e->b.status == GE_OK;
}

/* Sorts slots into kinds: by all that they do, or where that are too many places, by what they do before other members. */
static bool find_kinds(ge_engine *e, planning *p, const gr_bag *bag) {
    u32 n = p->plan.to - p->plan.from;
    bool last = true;
    if (!vec_reserve(&e->b, &p->does, (size_t)n * CT_DOES)) return false;
    for (u32 i = 0; i < n; i++) {
        ct_member *m = member_at(&e->cl.fewest, &p->plan, i);
        u32 times = m->first == i ? times_of_slot(e, bag, &p->plan, own_slot_of(e, p->plan.from + i)) : 0;
        if (!times || m->kind != CT_NO_KIND) continue;
        u32 least = note_slot(e, p, i);
        if (e->b.status != GE_OK) return false;
        member_at(&e->cl.fewest, &p->plan, i)->extra = (u16)least;
        add_slot(e, p, i, times, last);
        if (!last || (count_places(&p->plan) <= CT_PLACES && p->plan.n_kinds < CT_KINDS)) continue;
        for (u32 kind = 0; kind < p->plan.n_kinds; kind++) set_kinds(&e->cl.fewest, &p->plan, kind, CT_NO_KIND);
        last = false;
        p->plan.n_kinds = 0;
        i = NONE; /* anew */
    }
    set_extras(&e->cl.fewest, &p->plan);
    return e->b.status == GE_OK;
}

/* Index of the plan for the ways [from, to) of a bag, the first of which begins with some of these costs. NONE on failure; or if no member
 * can begin, as far as is known: within a member of a bag that may contain such bags, members have no costs yet by which they could be told
 * apart. */
static u32 make_plan(ge_engine *e, const gr_bag *bag, u32 from, u32 to, const ct_costs *before) {
    ct_table *t = &e->cl.fewest;
    planning p = {.plan = {.from = from, .to = to, .first_member = t->members.n, .separator = bag->separator}};
    ct_costs entries = *before;
    bool ok = add_members(e, bag, &p.plan, &entries) && find_entries(e, &p, &entries) && p.n_entries && find_kinds(e, &p, bag);
    vec_drop(&e->b, &p.entry_of);
    vec_drop(&e->b, &p.does);
    u32 index = map_get(&t->plan_of, from);
    if (!ok && t->members.n == p.plan.first_member + to - from) t->members.n = p.plan.first_member;
    if (!ok || index != NONE) return index; /* it may have been made meanwhile */
    index = t->plans.n;
    p.plan.first_place = t->n_places;
    p.plan.first_kind = t->kind_plan.n;
    p.plan.sizes[p.plan.n_kinds] = most_more(e, bag, &p.plan) + 1;
    t->n_places += (u32)count_places(&p.plan) * p.plan.sizes[p.plan.n_kinds];
    for (u32 i = 0; ok && i <= p.plan.n_kinds; i++) ok = vec_push(&e->b, &t->kind_plan, index);
    ok = ok && vec_push(&e->b, &t->plans, p.plan) && map_put(&e->b, &t->plan_of, from, index);
    return ok ? index : NONE;
}

/* --- the members of a rank, in a state ----------------------------------------------------------------------------------- */

/* The place in which a state is; *level = what its rows say too much; *more: so many members make up the total. */
static u32 place_of_state(const ge_engine *e, const ct_plan *p, const ct_members *of, int64_t *level, u32 *more) {
    const gr_bag *bag = of->bag;
    u32 left[CT_KINDS] = {0}, must_come = 0, needed = bag->total == NONE ? 0 : ct_needed(e, of, bag->total, p->from, p->to);
    *level = 0;
    for (u32 i = 0; i < p->to - p->from; i++) {
        const ct_member *m = member_at(&e->cl.fewest, p, i);
        if (m->kind == CT_NO_KIND) continue;
        u32 missing = min_u32(missing_of_slot(e, bag, p, own_slot_of(e, p->from + i), of->counts), CT_TIMES);
        must_come += missing;
        left[m->kind] += missing;
        *level += missing * ((int64_t)CT_LEVEL - m->extra);
    }
    *more = min_u32(needed > must_come ? needed - must_come : 0, p->sizes[p->n_kinds] - 1);
    u32 place = *more;
    for (u32 kind = p->n_kinds; kind-- > 0;) place = place * p->sizes[kind] + min_u32(left[kind], p->sizes[kind] - 1);
    return p->first_place + place;
}

static void take_level(ct_costs *c, int64_t level) {
    for (u32 i = 0; i < CT_SEAMS; i++) {
        int64_t left = c->at[i] - level;
        if (c->at[i] != CT_NEVER) c->at[i] = (u16)(left < 0 ? 0 : left > CT_MANY ? CT_MANY : left);
    }
}

/* Must more members come, which only these ways can be? */
static bool some_are_missing(const ge_engine *e, const gr_bag *bag, u32 from, u32 to, const u32 *counts) {
    for (u32 way = from; way < to; way++) {
        u32 slot = own_slot_of(e, way);
        if (ct_is_filled_by(e, bag, slot, from, to) && gr_bag_missing(bag, &e->ep.g->slots.at[bag->slots + slot], counts)) return true;
    }
    return false;
}

void ct_follow_any_order(ge_engine *e, ct_members *m, u32 from, u32 to) {
    ct_table *t = &e->cl.fewest;
    ct_costs before = m->some, first = m->none;
    u32 index = map_get(&t->plan_of, from), more;
    int64_t level;
    if (m->separated) ct_improve(&before, &m->none);
    if (index == NONE) {
        ct_costs begin = before;
        if (m->bag->separator != NONE) ct_follow(e, CT_OF_SYMBOL, m->bag->separator, &begin);
        if (!m->separated) ct_improve(&begin, &m->none);
        index = make_plan(e, m->bag, from, to, &begin);
    }
    if (index == NONE) {
        if (some_are_missing(e, m->bag, from, to, m->counts)) m->some = m->none = ct_never();
        return;
    }
    ct_plan p = t->plans.at[index];
    u32 place = place_of_state(e, &p, m, &level, &more);
    if (!m->separated && p.has_optional && !more) {
        ct_costs optional = first;
        ct_follow(e, CT_OF_KIND, p.first_kind + p.n_kinds, &optional);
        ct_improve(&before, &optional);
    }
    ct_follow(e, CT_OF_PLACE, place, &before);
    if (!m->separated && place != p.first_place) {
        follow_first(e, &p, place - p.first_place, &first);
        ct_improve(&before, &first);
    }
    ct_prune(t, &before);
    take_level(&before, level);
    m->some = before;
    if (place != p.first_place) m->none = ct_never();
}
