/* gr_lay: lays out the counts of a bag, and the tables that gr_bag.c reads: which slots are keys, in which order their bits stand, which
 * ways they have. Cost: that of sorting the keys. */
#include "gr_bag.h"

/* Do two ways begin with the same lexeme, and have they the same rank? */
static bool is_alike(const gr_grammar *g, const gr_bag *bag, u32 a, u32 b) {
    const gr_way *v = &g->ways.at[a], *w = &g->ways.at[b];
    return g->bag_words.at[v->symbols] == g->bag_words.at[w->symbols] && (!bag->ranked || v->rank == w->rank);
}

/* Sorts the slots of a bag into own ones, the total and conditions. *keys = per slot: a way of it, if it is a key (gr_bag.h), else NONE. */
static bool sort_slots(gr_grammar *g, budget *b, gr_bag *bag, const u8 *lexeme_flags, id_vec *keys) {
    gr_slot *slots = g->slots.at + bag->slots;
    id_vec beside = {0}; /* per slot: ways that raise it beside their own */
    bool ok = vec_reserve(b, keys, bag->n_slots + 1) && vec_reserve(b, &beside, bag->n_slots + 1);
    if (!ok) return vec_drop(b, &beside), false;
    for (u32 i = 0; i < bag->n_slots; i++) keys->at[i] = NONE, beside.at[i] = 0;
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        const gr_way *w = &g->ways.at[way];
        const u32 *raised = g->bag_words.at + w->slots, symbol = g->bag_words.at[w->symbols];
        gr_slot *own = &slots[raised[0]];
        bool is_first = own->last_rank == NONE, is_key = own->maximum == 1 && !(symbol & 1) && !(w->flags & GR_DISTINCT);
        is_key = is_key && !(lexeme_flags[symbol >> 1] & GR_LEXEME_MARKED);
        if (is_key && !is_first) is_key = keys->at[raised[0]] != NONE && is_alike(g, bag, keys->at[raised[0]], way);
        keys->at[raised[0]] = is_key ? way : NONE;
        own->last_rank = is_first ? w->rank : max_u32(own->last_rank, w->rank);
        for (u32 i = 1; i < w->n_slots; i++) beside.at[raised[i]]++;
    }
    for (u32 i = 0; ok && i < bag->n_slots; i++) {
        if (slots[i].last_rank == NONE && beside.at[i]) {
            if (bag->total == NONE && beside.at[i] == bag->n_ways) bag->total = i;
            else bag->conditions = max_u32(bag->conditions, slots[i].maximum == NONE ? GR_OPEN_CONDITIONS : GR_BOUNDED_CONDITIONS);
        } else if (slots[i].last_rank != NONE && beside.at[i]) {
            ok = budget_fail(b, GE_E_IR);
        }
    }
    vec_drop(b, &beside);
    return ok;
}

typedef struct bag_key {
    u32 rank, lexeme, slot;
} bag_key;

static int compare_keys(const void *a, const void *b) {
    const bag_key *p = a, *q = b;
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    if (p->lexeme != q->lexeme) return p->lexeme < q->lexeme ? -1 : 1;
    return p->slot < q->slot ? -1 : p->slot > q->slot;
}

/* Lays out the counts of a bag, and its tables in bag_words. Room for them has been reserved. */
static void lay_out_keys(gr_grammar *g, gr_bag *bag, const bag_key *keys, u32 n) {
    gr_slot *slots = g->slots.at + bag->slots;
    u32 *words = g->bag_words.at, at = g->bag_words.n, n_words = 0;
    bag->n_bits = n;
    bag->n_bit_words = (n + 31) / 32;
    bag->ranks = at, at += n;
    bag->lexemes = at, at += n;
    bag->first_way = at, at += n + 1;
    bag->required = at, at += bag->n_bit_words;
    bag->open = at, at += bag->n_bit_words;
    bag->asking = at, at += bag->n_bit_words;
    bag->asked_until = at, at += n;
    bag->by_place = at, at += bag->n_ways;
    bag->counted = at, at += bag->n_slots - n;
    memset(words + bag->required, 0, bag->n_bit_words * sizeof *words);
    memset(words + bag->asking, 0, bag->n_bit_words * sizeof *words);
    memset(words + bag->asked_until, 0xff, n * sizeof *words);
    bag->lexemes_ascend = true;
    for (u32 place = 0; place < n; place++) {
        slots[keys[place].slot].place = place;
        words[bag->ranks + place] = keys[place].rank;
        words[bag->lexemes + place] = keys[place].lexeme;
        if (slots[keys[place].slot].minimum) words[bag->required + place / 32] |= (u32)1 << place % 32;
        if (place) bag->lexemes_ascend &= keys[place - 1].lexeme <= keys[place].lexeme;
    }
    u32 *counted = words + bag->counted;
    for (u32 i = 0; i < bag->n_slots; i++) {
        if (slots[i].place < n) continue;
        *counted++ = i;
        if (slots[i].minimum || slots[i].maximum != NONE) slots[i].place = n + n_words++;
    }
    bag->n_words = n_words;
    g->bag_words.n = at;
}

/* What keys ask for. False: something else asks, or is asked for, or there is a total with a minimum. */
static bool lay_out_asks(gr_grammar *g, gr_bag *bag) {
    gr_slot *slots = g->slots.at + bag->slots;
    u32 *words = g->bag_words.at;
    bag->n_mark_words = bag->n_bit_words;
    for (u32 i = 0; i < bag->n_slots; i++) {
        if (slots[i].n_asks == 0) continue;
        if (slots[i].place >= bag->n_bits || (bag->total != NONE && slots[bag->total].minimum)) return false;
        words[bag->asking + slots[i].place / 32] |= (u32)1 << slots[i].place % 32;
        for (u32 k = 0; k < slots[i].n_asks; k++) {
            u32 place = slots[words[slots[i].asks + k]].place, *until = &words[bag->asked_until + place];
            if (place >= bag->n_bits) return false;
            *until = *until == NONE ? slots[i].last_rank : max_u32(*until, slots[i].last_rank);
        }
        bag->n_mark_words = 2 * bag->n_bit_words;
    }
    bag->n_words += bag->n_mark_words;
    return true;
}

/* first_way and by_place: a counting sort of the ways by the places of their own slots. */
static void order_ways(gr_grammar *g, const gr_bag *bag) {
    u32 n = bag->n_bits, *first = g->bag_words.at + bag->first_way, *by_place = g->bag_words.at + bag->by_place, others = 0;
    memset(first, 0, (n + 1u) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (u32 way = bag->ways + bag->n_ways; way-- > bag->ways;) {
            u32 place = g->slots.at[bag->slots + g->bag_words.at[g->ways.at[way].slots]].place, *count = &first[min_u32(place, n)];
            if (pass == 0) ++*count;
            else by_place[--*count] = way;
        }
        for (u32 place = 0; place <= n && pass == 0; place++) others = first[place] += others;
    }
}

bool gr_bag_lay_out(gr_grammar *g, budget *b, gr_bag *bag, const u8 *lexeme_flags) {
    id_vec key_of = {0};
    VEC(bag_key) keys = {0};
    bool ok = sort_slots(g, b, bag, lexeme_flags, &key_of) && vec_reserve(b, &keys, bag->n_slots) &&
              vec_reserve(b, &g->bag_words, 9 * (u64)bag->n_slots + bag->n_ways + 1);
    for (u32 i = 0; ok && i < bag->n_slots; i++) {
        if (key_of.at[i] == NONE) continue;
        const gr_way *w = &g->ways.at[key_of.at[i]];
        keys.at[keys.n++] = (bag_key){bag->ranked ? w->rank : 0, g->bag_words.at[w->symbols] >> 1, i};
    }
    if (ok) {
        if (keys.n) qsort(keys.at, keys.n, sizeof *keys.at, compare_keys);
        lay_out_keys(g, bag, keys.at, keys.n);
        if (lay_out_asks(g, bag)) order_ways(g, bag);
        else ok = budget_fail(b, GE_E_IR);
    }
    vec_drop(b, &key_of);
    vec_drop(b, &keys);
    return ok;
}
