#include "gr_bag.h"

enum { WORK_OF_A_LOOK = 16 }; /* slots or ways that are looked at for one unit of work */

static const gr_slot *slot_of(const gr_grammar *g, const gr_bag *bag, u32 slot) { return &g->slots.at[bag->slots + slot]; }
static const gr_way *way_of(const gr_grammar *g, u32 way) { return &g->ways.at[way]; }
static const u32 *slots_of(const gr_grammar *g, const gr_way *way) { return g->bag_words.at + way->slots; }

static const u32 *words_at(const gr_grammar *g, u32 at) { return g->bag_words.at + at; }

u32 gr_bag_count(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    if (slot->place == NONE) return 0;
    return slot->place < bag->n_bits ? counts[slot->place >> 5] >> (slot->place & 31) & 1
                                     : counts[bag->n_mark_words + slot->place - bag->n_bits];
}

static bool has_asking_keys(const gr_bag *bag) { return bag->n_mark_words > bag->n_bit_words; }

u32 gr_bag_missing(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    u32 count = gr_bag_count(bag, slot, counts);
    if (has_asking_keys(bag) && slot->place < bag->n_bits && counts[bag->n_bit_words + (slot->place >> 5)] >> (slot->place & 31) & 1)
        return 1;
    return count < slot->minimum ? slot->minimum - count : 0;
}

/* The keys of a word that have to come. */
static u32 missing_keys(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 word) {
    return (words_at(g, bag->required)[word] & ~counts[word]) | (has_asking_keys(bag) ? counts[bag->n_bit_words + word] : 0);
}

static u32 room(const gr_bag *bag, const gr_slot *slot, const u32 *counts) {
    return slot->maximum == NONE ? NONE : slot->maximum - gr_bag_count(bag, slot, counts);
}

static void raise_slot(const gr_bag *bag, const gr_slot *slot, u32 *counts, u32 times) {
    u32 word = slot->place >> 5, bit = (u32)1 << (slot->place & 31);
    if (slot->place < bag->n_bits) {
        counts[word] |= bit;
        if (has_asking_keys(bag)) counts[bag->n_bit_words + word] &= ~bit;
    } else if (slot->place != NONE) {
        counts[bag->n_mark_words + slot->place - bag->n_bits] += times;
    }
}

static u32 n_counted(const gr_bag *bag) { return bag->n_slots - bag->n_bits; } /* slots that are no keys */
static u32 work_of_a_look(const gr_bag *bag) { return (bag->n_words + n_counted(bag) + bag->n_set_words) / WORK_OF_A_LOOK + 1; }

static const gr_choice *choice_of(const gr_grammar *g, const gr_bag *bag, u32 i) { return &g->choices.at[bag->choices + i]; }

bool gr_bag_has_set(const gr_grammar *g, const gr_choice *choice, const u32 *keys) {
    bool has = false;
    const u32 *set = words_at(g, choice->sets);
    for (u32 k = 0; k < choice->n_sets && !has; k++, set += 1 + *set) {
        has = true;
        for (u32 i = 1; i <= *set && has; i++) has = keys && gr_has_key(keys, set[i]);
    }
    return has;
}

bool gr_bag_must_choose(const gr_grammar *g, const gr_choice *choice, const u32 *keys) {
    return (choice->place == NONE || gr_has_key(keys, choice->place)) && !gr_bag_has_set(g, choice, keys);
}

/* Does it ask for one, also by a key that has not come, but has to? */
static bool must_choose(const gr_grammar *g, const gr_bag *bag, const gr_choice *choice, const u32 *counts) {
    u32 word = choice->place >> 5, bit = (u32)1 << (choice->place & 31);
    bool is_asked = choice->place == NONE || (counts[word] | missing_keys(g, bag, counts, word)) & bit;
    return is_asked && !gr_bag_has_set(g, choice, counts);
}

/* May a key ask for others, or leave a choice? */
static bool may_ask(const gr_bag *bag) { return has_asking_keys(bag) || bag->n_choices; }

bool gr_bag_is_finished(const gr_grammar *g, const gr_bag *bag, const u32 *counts) {
    const u32 *counted = words_at(g, bag->counted);
    for (u32 i = 0; i < bag->n_choices; i++)
        if (must_choose(g, bag, choice_of(g, bag, i), counts)) return false;
    for (u32 i = 0; i < bag->n_bit_words; i++)
        if (missing_keys(g, bag, counts, i)) return false;
    for (u32 i = 0; i < n_counted(bag); i++)
        if (gr_bag_missing(bag, slot_of(g, bag, counted[i]), counts)) return false;
    return true;
}

bool gr_bag_admits(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 rank, u32 way) {
    const gr_way *w = way_of(g, way);
    if (w->flags & GR_DEAD || (bag->ranked && w->rank < rank)) return false;
    for (u32 i = 0; i < w->n_slots; i++)
        if (room(bag, slot_of(g, bag, slots_of(g, w)[i]), counts) == 0) return false;
    return true;
}

bool gr_bag_lacks(const gr_grammar *g, const gr_bag *bag, const u32 *counts, u32 way) {
    const gr_way *w = way_of(g, way);
    for (u32 i = 0; i < w->n_slots; i++)
        if (gr_bag_missing(bag, slot_of(g, bag, slots_of(g, w)[i]), counts)) return true;
    return false;
}

static const gr_slot *key_of_way(const gr_grammar *g, const gr_bag *bag, const gr_way *w) { return slot_of(g, bag, slots_of(g, w)[0]); }

/* The keys that that of a way asks for are missing, unless they have come. */
static void ask_for(const gr_grammar *g, const gr_bag *bag, u32 *counts, const gr_way *w) {
    const gr_slot *own = key_of_way(g, bag, w);
    for (u32 i = 0; i < own->n_asks; i++) {
        u32 place = slot_of(g, bag, words_at(g, own->asks)[i])->place, bit = (u32)1 << (place & 31);
        counts[bag->n_bit_words + (place >> 5)] |= bit & ~counts[place >> 5];
    }
}

/* Raises the slots of a way, none of which has a maximum, so often that `slot` is no longer missing. */
static void raise_enough(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way, u32 slot) {
    const gr_way *w = way_of(g, way);
    u32 times = gr_bag_missing(bag, slot_of(g, bag, slot), counts);
    for (u32 i = 0; i < w->n_slots; i++) {
        const gr_slot *raised = slot_of(g, bag, slots_of(g, w)[i]);
        raise_slot(bag, raised, counts, min_u32(times, gr_bag_missing(bag, raised, counts)));
    }
    ask_for(g, bag, counts, w);
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
        if (slot->maximum != NONE || gr_bag_missing(bag, slot, counts)) raise_slot(bag, slot, counts, 1);
    }
    ask_for(g, bag, counts, w);
}

void gr_bag_raise_needed(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 way) {
    const gr_way *w = way_of(g, way);
    if (bag->n_choices) {
        gr_bag_raise(g, bag, counts, way);
        return;
    }
    for (u32 i = 0; i < w->n_slots; i++) {
        const gr_slot *slot = slot_of(g, bag, slots_of(g, w)[i]);
        if (gr_bag_missing(bag, slot, counts)) raise_slot(bag, slot, counts, 1);
    }
}

/* --- keys ---------------------------------------------------------------------------------------------------------------- */

/* Those from a rank on begin with this place. */
static u32 first_place(const gr_grammar *g, const gr_bag *bag, u64 rank) {
    const u32 *ranks = words_at(g, bag->ranks);
    u32 low = 0, high = bag->n_bits;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (ranks[middle] < rank) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The places [from, to) among those of a word. */
static u32 places_of_word(u32 word, u32 from, u32 to) {
    u32 first = 32 * word;
    if (from >= first + 32 || to <= first) return 0;
    u32 low = from > first ? ~(u32)0 << (from - first) : ~(u32)0;
    return to < first + 32 ? low & (((u32)1 << (to - first)) - 1) : low;
}

void gr_bag_forget(const gr_grammar *g, const gr_bag *bag, u32 *counts, u32 rank) {
    const u32 *open = words_at(g, bag->open), *asked_until = words_at(g, bag->asked_until), *counted = words_at(g, bag->counted);
    u32 behind = first_place(g, bag, rank);
    for (u32 i = 0; 32 * i < behind; i++) {
        u32 forgotten = open[i] & places_of_word(i, 0, behind);
        for (u32 left = may_ask(bag) ? forgotten : 0; left; left &= left - 1) {
            u32 until = asked_until[32 * i + (u32)__builtin_ctz(left)];
            if (until != NONE && until >= rank) forgotten &= ~(left & -left);
        }
        counts[i] |= forgotten;
    }
    for (u32 i = 0; i < n_counted(bag); i++) {
        const gr_slot *slot = slot_of(g, bag, counted[i]);
        if (slot->place == NONE || slot->last_rank == NONE || slot->last_rank >= rank) continue;
        counts[bag->n_mark_words + slot->place - bag->n_bits] = slot->minimum;
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

/* Adds the keys. */
static void look_at_keys(const gr_bag_state *s, outlook *o) {
    const gr_grammar *g = s->g;
    const gr_bag *bag = s->bag;
    const u32 *open = words_at(g, bag->open);
    u32 from = first_place(g, bag, s->rank), lacks;
    for (u32 i = 0; i < bag->n_bit_words; i++) {
        u32 may_come = open[i] & places_of_word(i, from, bag->n_bits);
        o->room += (u32)__builtin_popcount(may_come & ~s->counts[i]);
        if ((lacks = missing_keys(g, bag, s->counts, i)) == 0) continue;
        o->missing += (u32)__builtin_popcount(lacks);
        o->hopeless |= (lacks & ~may_come) != 0;
        o->deadline = min_u32(o->deadline, words_at(g, bag->ranks)[32 * i + (u32)__builtin_ctz(lacks)]);
    }
}

/* The last rank that the next member may have, if one of the sets of a choice has to come after it. NONE: none can, where the first place
 * of what can is `from`. */
static u32 deadline_of_choice(const gr_bag_state *s, const gr_choice *choice, u32 from) {
    const u32 *set = words_at(s->g, choice->sets), *open = words_at(s->g, s->bag->open), *ranks = words_at(s->g, s->bag->ranks);
    u32 last = NONE;
    for (u32 k = 0; k < choice->n_sets; k++, set += 1 + *set) {
        u32 first = NONE;
        bool can_come = true;
        for (u32 i = 1; i <= *set && can_come; i++) {
            if (gr_has_key(s->counts, set[i])) continue;
            can_come = set[i] >= from && gr_has_key(open, set[i]);
            first = min_u32(first, ranks[set[i]]);
        }
        if (can_come && (last == NONE || first > last)) last = first;
    }
    return last;
}

/* Adds the choices. */
static void look_at_choices(const gr_bag_state *s, outlook *o) {
    u32 from = first_place(s->g, s->bag, s->rank);
    for (u32 i = 0; i < s->bag->n_choices; i++) {
        const gr_choice *choice = choice_of(s->g, s->bag, i);
        if (!must_choose(s->g, s->bag, choice, s->counts)) continue;
        u32 last = deadline_of_choice(s, choice, from);
        o->hopeless |= last == NONE;
        o->deadline = min_u32(o->deadline, last);
    }
}

static outlook look(const gr_bag_state *s) {
    const gr_bag *bag = s->bag;
    outlook o = {.deadline = NONE, .maximum = NONE};
    const u32 *counted = words_at(s->g, bag->counted);
    look_at_keys(s, &o);
    look_at_choices(s, &o);
    for (u32 i = 0; i < n_counted(bag); i++) {
        const gr_slot *slot = slot_of(s->g, bag, counted[i]);
        if (counted[i] == bag->total) {
            o.done = gr_bag_count(bag, slot, s->counts);
            o.minimum = slot->minimum;
            o.maximum = slot->maximum;
        } else if (slot->last_rank != NONE || !bag->conditions) { /* some way's own, or of no way at all */
            u32 lacks = gr_bag_missing(bag, slot, s->counts);
            bool gone = slot->last_rank == NONE || (bag->ranked && slot->last_rank < s->rank);
            o.missing += lacks;
            o.hopeless |= lacks && gone;
            if (lacks) o.deadline = min_u32(o.deadline, slot->last_rank);
            if (!gone) o.room += room(bag, slot, s->counts);
        }
    }
    o.hopeless |= o.missing > o.maximum - (u64)o.done || o.done + o.room < o.minimum;
    return o;
}

/* The last rank that the next member may have, if there are no conditions and the state is alive: what is missing must not be passed
 * over, nor so many that there is no room for as many as must come. */
static u32 last_rank(const gr_bag_state *s, const outlook *o) {
    if (!s->bag->ranked || (u64)o->done + 1 >= o->minimum) return s->bag->ranked ? o->deadline : NONE;
    gr_bag_state later = *s;
    u32 low = s->rank, high = o->deadline; /* from `low` on, there is room */
    while (low < high) {
        later.rank = high - (high - low) / 2;
        if (o->done + look(&later).room >= o->minimum) low = later.rank;
        else high = later.rank - 1;
    }
    return low;
}

/* The next member may be one that is not missing, if there are no conditions. */
static bool has_room_for_more(const outlook *o) { return o->maximum == NONE || o->done + 1 + o->missing <= o->maximum; }

/* --- with conditions ----------------------------------------------------------------------------------------------------- */

/* The slot to work on: a condition that is missing; where a condition has a maximum, then anything that is. NONE: nothing to search. */
static u32 wanted_slot(const gr_bag_state *s) {
    const gr_bag *bag = s->bag;
    u32 other = NONE;
    for (u32 i = bag->n_slots; i-- > 0;) {
        const gr_slot *slot = slot_of(s->g, bag, i);
        if (!gr_bag_missing(bag, slot, s->counts)) continue;
        if (i != bag->total && slot->last_rank == NONE) return i;
        if (other == NONE || i != bag->total) other = i; /* the total last: others raise it too */
    }
    return bag->conditions == GR_BOUNDED_CONDITIONS ? other : NONE;
}

static bool raises(const gr_grammar *g, u32 way, u32 slot) {
    const gr_way *w = way_of(g, way);
    for (u32 i = 0; i < w->n_slots; i++)
        if (slots_of(g, w)[i] == slot) return true;
    return false;
}

static bool admits(const gr_bag_state *s, u32 way) { return gr_bag_admits(s->g, s->bag, s->counts, s->rank, way); }

/* Only the total is missing, and some way raises nothing that has a maximum but the total. */
static bool can_fill_up(const gr_bag_state *s) {
    const gr_bag *bag = s->bag;
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        const gr_way *w = way_of(s->g, way);
        bool free = admits(s, way);
        for (u32 i = 0; i < w->n_slots && free; i++) {
            u32 slot = slots_of(s->g, w)[i];
            free = slot == bag->total || slot_of(s->g, bag, slot)->maximum == NONE;
        }
        if (free) return true;
    }
    return false;
}

typedef struct attempt {
    u32 slot, way; /* what is worked on, and the way that was tried last */
} attempt;

/* A depth-first search for members that finish a state. Attempt d starts from the counts at counts[d * n_words]; behind those of all
 * attempts are the counts that the last one came to. */
typedef struct finish_search {
    budget *b;
    const gr_bag_state *from;
    VEC(attempt) path;
    VEC(u32) counts;
} finish_search;

static gr_bag_state searched_state(const finish_search *s, u32 depth) {
    return (gr_bag_state){s->from->g, s->from->bag, s->counts.at + (size_t)depth * s->from->bag->n_words, s->from->rank};
}

/* Room for the counts behind one attempt more. */
static bool reserve_counts(finish_search *s) {
    u32 n = s->from->bag->n_words;
    if (!vec_reserve(s->b, &s->counts, n + 1u)) return false;
    s->counts.n += n;
    return true;
}

/* Asks of the state that the last attempt came to: is it finished, in *answer? An attempt begins there, unless it is hopeless. */
static bool go_on_from_here(finish_search *s, bool *answer) {
    gr_bag_state here = searched_state(s, s->path.n);
    if (look(&here).hopeless) return true;
    u32 slot = wanted_slot(&here);
    *answer = slot == NONE || (slot == here.bag->total && can_fill_up(&here));
    if (*answer) return true;
    const attempt *last = s->path.n ? &s->path.at[s->path.n - 1] : NULL;
    u32 first = last && last->slot == slot ? last->way : here.bag->ways; /* ways before it would only be tried in another order */
    return vec_push(s->b, &s->path, ((attempt){slot, first - 1})) && reserve_counts(s);
}

/* The last attempt comes to the counts behind its next way; false: it has none left, and is given up. */
static bool try_next_way(finish_search *s) {
    attempt *a = &s->path.at[s->path.n - 1];
    gr_bag_state before = searched_state(s, s->path.n - 1);
    const gr_bag *bag = before.bag;
    u32 *after = s->counts.at + (size_t)s->path.n * bag->n_words;
    u32 end = bag->ways + bag->n_ways;
    for (a->way++; a->way < end; a->way++)
        if (raises(before.g, a->way, a->slot) && admits(&before, a->way)) break;
    if (a->way == end) {
        s->path.n--;
        s->counts.n -= bag->n_words;
        return false;
    }
    memcpy(after, before.counts, bag->n_words * sizeof *after);
    if (is_unbounded(before.g, bag, a->way)) /* costs nothing, so more of it never hurts */
        raise_enough(before.g, bag, after, a->way, a->slot);
    else gr_bag_raise(before.g, bag, after, a->way);
    return true;
}

/* Can members come that finish the state, in *answer? Of a bag with conditions; false on failure of the budget. */
static bool find_finish(budget *b, const gr_bag_state *from, bool *answer) {
    const gr_bag *bag = from->bag;
    finish_search s = {.b = b, .from = from};
    bool ok = reserve_counts(&s);
    if (ok) memcpy(s.counts.at, from->counts, bag->n_words * sizeof *from->counts);
    *answer = false;
    for (bool is_new = true;; is_new = try_next_way(&s)) {
        ok = budget_work(b, (bag->n_slots + bag->n_ways) / WORK_OF_A_LOOK + 1) && (!is_new || go_on_from_here(&s, answer));
        if (!ok || *answer || !s.path.n) break; /* !ok: the last attempt may have no room for its counts */
    }
    vec_drop(b, &s.path);
    vec_drop(b, &s.counts);
    return ok;
}

/* --- questions ----------------------------------------------------------------------------------------------------------- */

bool gr_bag_is_alive(budget *b, const gr_bag_state *s, bool *answer) {
    if (s->bag->conditions) return find_finish(b, s, answer);
    *answer = !look(s).hopeless;
    return budget_work(b, work_of_a_look(s->bag));
}

/* A state whose ways are asked one by one. */
typedef struct asked {
    gr_bag_state of;
    u32 last_rank; /* that a member may have, see there; with conditions NONE */
    bool more;     /* has_room_for_more; with conditions true */
    u32 from, to;  /* places of keys with such a rank */
    u32 *after;    /* with conditions, or keys that may ask for others: scratch */
} asked;

static bool ask(budget *b, const gr_bag_state *s, asked *a) {
    const gr_bag *bag = s->bag;
    *a = (asked){*s, NONE, true, first_place(s->g, bag, s->rank), bag->n_bits, NULL};
    if (bag->conditions || may_ask(bag)) a->after = mem_resize(b, NULL, 0, (bag->n_words + 1u) * sizeof *a->after);
    if (b->status != GE_OK) return false;
    if (bag->conditions) return true;
    outlook o = look(s);
    a->last_rank = last_rank(s, &o);
    a->to = first_place(s->g, bag, (u64)a->last_rank + 1);
    a->more = has_room_for_more(&o);
    return budget_work(b, work_of_a_look(bag));
}

static void end_asking(budget *b, asked *a) {
    if (a->after) mem_resize(b, a->after, (a->of.bag->n_words + 1u) * sizeof *a->after, 0);
}

/* Can one of the sets come of each choice that a key leaves, if what can come begins at the place `from`? Counts what it looks at. */
static bool can_choose(const gr_bag_state *s, u32 place, u32 from, u32 *n_looked) {
    u32 first = s->bag->n_choices ? words_at(s->g, s->bag->choice_of)[place] : NONE;
    for (const gr_choice *choice; first != NONE; first = choice->next) {
        choice = &s->g->choices.at[first];
        *n_looked += choice->n_sets;
        if (!gr_bag_has_set(s->g, choice, s->counts) && deadline_of_choice(s, choice, from) == NONE) return false;
    }
    return true;
}

/* Can all come that a key asks for? Of a bag without conditions and total: then nothing else is in the way, but the deadline. */
static bool can_have_what_it_asks(budget *b, const gr_bag_state *s, const gr_way *w, const gr_slot *own, bool *answer) {
    const u32 *asks = words_at(s->g, own->asks), *open = words_at(s->g, s->bag->open);
    u32 from = first_place(s->g, s->bag, s->bag->ranked ? w->rank : 0), n_looked = own->n_asks;
    *answer = can_choose(s, own->place, from, &n_looked);
    for (u32 i = 0; i < own->n_asks && *answer; i++) {
        u32 place = slot_of(s->g, s->bag, asks[i])->place;
        if (place == own->place || gr_has_key(s->counts, place)) continue;
        *answer = place >= from && gr_has_key(open, place) && can_choose(s, place, from, &n_looked);
    }
    return budget_work(b, n_looked / WORK_OF_A_LOOK + 1);
}

/* Whether the state offers a way, in *answer; false on failure of the budget. */
static bool is_offered(budget *b, const asked *a, u32 way, bool *answer) {
    const gr_grammar *g = a->of.g;
    const gr_bag *bag = a->of.bag;
    const gr_way *w = way_of(g, way);
    *answer = admits(&a->of, way);
    if (!*answer) return true;
    if (!bag->conditions) {
        const gr_slot *own = key_of_way(g, bag, w);
        *answer = (!bag->ranked || w->rank <= a->last_rank) && (a->more || gr_bag_missing(bag, own, a->of.counts));
        if (!*answer || own->place >= bag->n_bits || !gr_has_key(words_at(g, bag->asking), own->place)) return true;
        if (bag->total == NONE) return can_have_what_it_asks(b, &a->of, w, own, answer);
    }
    memcpy(a->after, a->of.counts, bag->n_words * sizeof *a->after);
    gr_bag_raise(g, bag, a->after, way);
    return gr_bag_is_alive(b, &(gr_bag_state){g, bag, a->after, bag->ranked ? w->rank : 0}, answer);
}

/* Of the keys of a word: those that are offered; with conditions, or if they ask for others, those that may be. */
static u32 offered_keys(const asked *a, u32 word) {
    const gr_bag_state *s = &a->of;
    u32 keys = words_at(s->g, s->bag->open)[word] & ~s->counts[word] & places_of_word(word, a->from, a->to);
    return a->more ? keys : keys & missing_keys(s->g, s->bag, s->counts, word);
}

/* Appends those ways of by_place, [from, to), that are offered, at most `most`. */
static bool ask_ways(budget *b, const asked *a, u32 from, u32 to, u32 most, id_vec *ways) {
    bool ok = true, answer;
    for (u32 i = from, n = ways->n; ok && i < to && ways->n - n < most; i++) {
        u32 way = words_at(a->of.g, a->of.bag->by_place)[i];
        ok = is_offered(b, a, way, &answer) && (!answer || vec_push(b, ways, way));
    }
    return ok;
}

/* Takes those away of `keys`, or of them those of `some`, that have no way that is offered; appends the ways of the others. */
static bool ask_keys(budget *b, const asked *a, const u32 *some, u32 *keys, u32 *n_keys, id_vec *ways) {
    const u32 *first_way = words_at(a->of.g, a->of.bag->first_way);
    bool ok = true;
    for (u32 i = 0; ok && i < a->of.bag->n_bit_words; i++)
        for (u32 left = some ? keys[i] & some[i] : keys[i]; ok && left; left &= left - 1) {
            u32 bit = (u32)__builtin_ctz(left), place = 32 * i + bit, n = ways->n;
            ok = ask_ways(b, a, first_way[place], first_way[place + 1], NONE, ways);
            if (ways->n == n) keys[i] &= ~((u32)1 << bit), --*n_keys;
        }
    return ok;
}

bool gr_bag_has_offers(budget *b, const gr_bag_state *s, bool *answer) {
    const gr_bag *bag = s->bag;
    asked a;
    id_vec ways = {0};
    u32 keys = 0;
    bool ok = ask(b, s, &a);
    for (u32 i = 0; ok && i < bag->n_bit_words && !bag->conditions && !keys; i++)
        keys = offered_keys(&a, i) & ~words_at(s->g, bag->asking)[i];
    if (ok && !keys) ok = ask_ways(b, &a, a.after ? 0 : words_at(s->g, bag->first_way)[bag->n_bits], bag->n_ways, 1, &ways);
    *answer = keys || ways.n;
    vec_drop(b, &ways);
    end_asking(b, &a);
    return ok;
}

bool gr_bag_offers(budget *b, const gr_bag_state *s, u32 many, u32 *keys, u32 *n_keys, id_vec *ways) {
    const gr_bag *bag = s->bag;
    asked a;
    u32 before = ways->n;
    bool ok = ask(b, s, &a);
    *n_keys = 0;
    for (u32 i = 0; ok && i < bag->n_bit_words; i++) *n_keys += (u32)__builtin_popcount(keys[i] = offered_keys(&a, i));
    if (ok && may_ask(bag) && *n_keys >= many) {
        ok = ask_keys(b, &a, words_at(s->g, bag->asking), keys, n_keys, ways);
        ways->n = before;
    }
    if (ok && (bag->conditions || *n_keys < many)) ok = ask_keys(b, &a, NULL, keys, n_keys, ways);
    if (*n_keys >= many) ways->n = before;
    else *n_keys = 0;
    ok = ok && ask_ways(b, &a, words_at(s->g, bag->first_way)[bag->n_bits], bag->n_ways, NONE, ways);
    end_asking(b, &a);
    return ok;
}

/* The first place of a key that may begin with a lexeme. */
static u32 place_of_lexeme(const gr_grammar *g, const gr_bag *bag, u32 lexeme) {
    const u32 *lexemes = words_at(g, bag->lexemes);
    u32 place = 0, end = bag->n_bits;
    while (bag->lexemes_ascend && place < end) {
        u32 middle = place + (end - place) / 2;
        if (lexemes[middle] < lexeme) place = middle + 1;
        else end = middle;
    }
    return place;
}

bool gr_bag_may_begin(const gr_grammar *g, const gr_bag *bag, u32 lexeme) {
    u32 place = place_of_lexeme(g, bag, lexeme);
    return place < bag->n_bits && (!bag->lexemes_ascend || words_at(g, bag->lexemes)[place] == lexeme);
}

bool gr_bag_offers_by(budget *b, const gr_bag_state *s, u32 lexeme, id_vec *ways) {
    const gr_grammar *g = s->g;
    const gr_bag *bag = s->bag;
    asked a;
    const u32 *lexemes = words_at(g, bag->lexemes), *first_way = words_at(g, bag->first_way);
    bool ok = ask(b, s, &a);
    for (u32 place = place_of_lexeme(g, bag, lexeme); ok && place < bag->n_bits && (!bag->lexemes_ascend || lexemes[place] == lexeme);
         place++)
        if (lexemes[place] == lexeme) ok = ask_ways(b, &a, first_way[place], first_way[place + 1], NONE, ways);
    end_asking(b, &a);
    return ok;
}
