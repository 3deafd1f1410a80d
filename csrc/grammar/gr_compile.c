/* gr_compile: ge_rules -> gr_grammar.
 *
 * Steps. (1) Check every index. (2) Copy the rules; a lexeme that may be "" becomes a nonterminal with two rules, and lists and bags get
 * rules that show what they can derive (list_rules, bag_rules), for analysis only. (3) Three least fixed points over nonterminals, each
 * linear in the size of the rules (a rule is looked at once per symbol in it):
 *
 *     PRODUCTIVE   derives some text          a rule all of whose symbols are
 *     NULLABLE     derives ""                 a rule all of whose symbols are
 *     SOLID        derives some text but ""   a rule all of whose symbols are productive and one is solid
 *
 * What a bag can derive also hinges on counts: it is productive if ways that are productive finish it.
 * (4) What the start symbol can reach over productive rules. (5) Suffixes of the productive rules of those, without symbols that are
 * not solid (they can only be ""), and without the rule A -> A, which says nothing. */
#include "gr_bag.h"

#include "../base/intern.h"

enum { PRODUCTIVE = 1, NULLABLE = 2, SOLID = 4, REACHED = 8 };

enum { IMPOSSIBLE = 1 << 30 /* missing symbols of a rule that is ruled out */ };

enum { MAX_SYMBOLS = 1 << 29 };

typedef struct compiler {
    budget *b;
    gr_grammar *g;
    const ge_rules *in;
    const u8 *lexeme_flags;
    VEC(u32) words;       /* rules: left, length, symbols */
    VEC(u32) at;          /* per rule: its offset in words */
    u32 n_nonterminals;   /* of the IR, and of lexemes that may be "": those after them are for analysis only */
    VEC(u32) facts;       /* per nonterminal */
    VEC(u32) lexeme_nt;   /* per lexeme: the nonterminal that stands for it, if it may be "" */
    VEC(u32) list_of;     /* per nonterminal: its list, or NONE */
    VEC(u32) bag_of;      /* per nonterminal: its bag, or NONE */
    VEC(u32) ruled_out;   /* per bag: 1 unless it is known that it can be finished */
    VEC(u32) left_start, left_rules;  /* per nonterminal: its rules */
    VEC(u32) occur_start, occur_rules; /* per nonterminal: rules that contain it, as often as they do */
    VEC(u32) missing;     /* per rule, during a fixed point */
    VEC(u32) todo;
    VEC(u32) seen;        /* per node: the last nonterminal that has it as an alternative */
    intern_table suffixes; /* (symbol, next, owner) -> node - 1 */
} compiler;

#define vec_fill(b, v, count, value) /* appends words whose bytes are `value`; v.at is not NULL afterwards */ \
    (vec_reserve((b), (v), (u64)(count) + 1) && (memset((v)->at + (v)->n, (value), (count) * sizeof *(v)->at), (v)->n += (count), true))

/* --- reading ------------------------------------------------------------------------------------------------------------ */

static bool symbol_ok(const compiler *c, u32 symbol) {
    return symbol != NONE && symbol >> 1 < (symbol & 1 ? c->in->n_nonterminals : c->in->n_lexemes);
}

/* The symbol that stands for it in rules: a lexeme that may be "" is a nonterminal. */
static u32 rule_symbol(const compiler *c, u32 symbol) {
    return !(symbol & 1) && c->lexeme_nt.at[symbol >> 1] != NONE ? c->lexeme_nt.at[symbol >> 1] * 2 + 1 : symbol;
}

/* Tells errors which nonterminal is being made, if it is one of the IR. */
static void work_on(compiler *c, u32 nonterminal) {
    if (nonterminal < c->in->n_nonterminals) c->b->symbol = nonterminal * 2 + 1;
}

static bool add_rule(compiler *c, u32 left, const u32 *symbols, u32 n) {
    work_on(c, left);
    if (!vec_push(c->b, &c->at, c->words.n) || !vec_reserve(c->b, &c->words, (u64)n + 2)) return false;
    if ((u64)c->words.n + 2 + n > c->b->limits.max_rules + 2 * (u64)c->at.n) return budget_limit(c->b, LIMIT(max_rules));
    c->words.at[c->words.n++] = left;
    c->words.at[c->words.n++] = n;
    for (u32 i = 0; i < n; i++) c->words.at[c->words.n++] = rule_symbol(c, symbols[i]);
    return true;
}

/* Rules with the same three facts as the list: as many items as are needed, up to two. */
static bool list_rules(compiler *c, const u32 *record) {
    u32 left = record[0], minimum = record[3], maximum = record[4];
    u32 pair[2] = {record[1], record[2]};
    if (minimum == 0 && !add_rule(c, left, NULL, 0)) return false;
    if (minimum <= 1 && maximum >= 1 && !add_rule(c, left, pair, 1)) return false;
    return maximum < 2 || add_rule(c, left, pair, pair[1] == NONE ? 1 : 2);
}

/* A nonterminal for analysis only; its id, or NONE. */
static u32 add_nonterminal(compiler *c) {
    bool ok = vec_push(c->b, &c->facts, 0) && vec_push(c->b, &c->list_of, NONE) && vec_push(c->b, &c->bag_of, NONE);
    return ok ? c->facts.n - 1 : NONE;
}

/* Must some member come by a choice? */
static bool begins_with_a_choice(const gr_grammar *g, const gr_bag *bag) {
    for (u32 i = bag->choices; i < bag->choices + bag->n_choices; i++)
        if (g->choices.at[i].place == NONE && !gr_bag_has_set(g, &g->choices.at[i], NULL)) return true;
    return false;
}

/* bag -> N_1 ... N_k A, with N_j for each slot that must be raised: any way that raises it; A: any way, or nothing, if nothing has to be
 * chosen. */
static bool bag_rules(compiler *c, u32 left, const gr_bag *bag) {
    gr_grammar *g = c->g;
    id_vec part_of = {0}, parts = {0}; /* per slot: N_j, or NONE; all of the symbols on the right */
    u32 any = add_nonterminal(c);
    bool ok = any != NONE && vec_fill(c->b, &part_of, bag->n_slots + 1, 0xff);
    if (!begins_with_a_choice(g, bag)) ok = ok && add_rule(c, any, NULL, 0);
    for (u32 slot = 0; ok && slot < bag->n_slots; slot++) {
        if (g->slots.at[bag->slots + slot].minimum == 0) continue;
        part_of.at[slot] = add_nonterminal(c);
        ok = part_of.at[slot] != NONE && vec_push(c->b, &parts, part_of.at[slot] * 2 + 1);
    }
    for (u32 way = bag->ways; ok && way < bag->ways + bag->n_ways; way++) {
        gr_way w = g->ways.at[way];
        const u32 *symbols = g->bag_words.at + w.symbols, *raised = g->bag_words.at + w.slots;
        ok = add_rule(c, any, symbols, w.n_symbols);
        for (u32 i = 0; ok && i < w.n_slots; i++)
            if (part_of.at[raised[i]] != NONE) ok = add_rule(c, part_of.at[raised[i]], symbols, w.n_symbols);
    }
    ok = ok && vec_push(c->b, &parts, any * 2 + 1) && add_rule(c, left, parts.at, parts.n);
    vec_drop(c->b, &part_of);
    vec_drop(c->b, &parts);
    return ok;
}

/* The slots of a bag: minimum, maximum, number of slots that it asks for, those. *at: where they are in the record, then what is behind. */
static bool read_slots(compiler *c, const gr_bag *bag, const u32 *record, u32 n, u32 *at) {
    gr_grammar *g = c->g;
    for (u32 i = 0; i < bag->n_slots; i++) {
        if (n - *at < 3 || n - *at - 3 < record[*at + 2]) return budget_fail(c->b, GE_E_IR);
        gr_slot slot = {.minimum = record[*at],
                        .maximum = record[*at + 1],
                        .last_rank = NONE,
                        .place = NONE,
                        .asks = g->bag_words.n,
                        .n_asks = record[*at + 2]};
        if (slot.minimum > slot.maximum || slot.maximum == 0) return budget_fail(c->b, GE_E_IR);
        if (!vec_push(c->b, &g->slots, slot)) return false;
        for (*at += 3; slot.n_asks; slot.n_asks--, ++*at) {
            if (record[*at] >= bag->n_slots) return budget_fail(c->b, GE_E_IR);
            if (!vec_push(c->b, &g->bag_words, record[*at])) return false;
        }
    }
    return true;
}

/* May a bag with so many slots have this way? */
static bool way_ok(const compiler *c, gr_way way, const u32 *symbols, const u32 *slots, u32 n_slots) {
    bool ok = way.n_symbols && way.n_slots && way.rank != NONE;
    for (u32 i = 0; ok && i < way.n_symbols; i++) ok = symbol_ok(c, symbols[i]);
    for (u32 i = 0; ok && i < way.n_slots; i++) {
        ok = slots[i] < n_slots;
        for (u32 k = 0; ok && k < i; k++) ok = slots[k] != slots[i];
    }
    return ok && (symbols[0] & 1 ? !(way.flags & GR_DISTINCT) : !(c->lexeme_flags[symbols[0] >> 1] & GR_LEXEME_NULLABLE));
}

/* The ways of a bag: flags, rank, number of symbols, number of slots, symbols, slots. *at: as above. */
static bool read_ways(compiler *c, const gr_bag *bag, const u32 *record, u32 n, u32 *at) {
    gr_grammar *g = c->g;
    for (u32 i = 0; i < bag->n_ways; i++) {
        if (n - *at < 4 || n - *at - 4 < (u64)record[*at + 2] + record[*at + 3]) return budget_fail(c->b, GE_E_IR);
        gr_way way = {.flags = record[*at] & GR_DISTINCT, .rank = record[*at + 1], .n_symbols = record[*at + 2],
                      .n_slots = record[*at + 3], .symbols = g->bag_words.n, .slots = g->bag_words.n + record[*at + 2]};
        const u32 *symbols = record + *at + 4, *slots = symbols + way.n_symbols;
        if (!way_ok(c, way, symbols, slots, bag->n_slots)) return budget_fail(c->b, GE_E_IR);
        for (u32 k = 0; k < way.n_symbols; k++)
            if (!vec_push(c->b, &g->bag_words, rule_symbol(c, symbols[k]))) return false;
        for (u32 k = 0; k < way.n_slots; k++)
            if (!vec_push(c->b, &g->bag_words, slots[k])) return false;
        if (!vec_push(c->b, &g->ways, way)) return false;
        g->has_distinct |= (way.flags & GR_DISTINCT) != 0;
        *at += 4 + way.n_symbols + way.n_slots;
    }
    return true;
}

/* A set of keys: how many slots, those. *at: as above. */
static bool read_set(compiler *c, const gr_bag *bag, const u32 *record, u32 n, u32 *at) {
    gr_grammar *g = c->g;
    if (n - *at < 1 || n - *at - 1 < record[*at]) return budget_fail(c->b, GE_E_IR);
    if (!vec_push(c->b, &g->bag_words, record[*at])) return false;
    for (u32 left = record[(*at)++]; left; left--, ++*at) {
        u32 place = record[*at] < bag->n_slots ? g->slots.at[bag->slots + record[*at]].place : NONE;
        if (place >= bag->n_bits) return budget_fail(c->b, GE_E_IR);
        if (!vec_push(c->b, &g->bag_words, place)) return false;
        g->bag_words.at[bag->asked_until + place] = GR_ALWAYS;
    }
    return true;
}

/* Notes a choice by its key. */
static void link_choice(gr_grammar *g, const gr_bag *bag, gr_choice *choice) {
    u32 place = choice->place, *first = &g->bag_words.at[bag->choice_of + place];
    choice->next = *first;
    *first = g->choices.n;
    g->bag_words.at[bag->asking + place / 32] |= (u32)1 << place % 32;
    g->bag_words.at[bag->asked_until + place] = GR_ALWAYS;
}

/* The choices of a bag that is laid out: the slot of a key or NONE, number of sets, sets. *at: as above. */
static bool read_choices(compiler *c, gr_bag *bag, const u32 *record, u32 n, u32 *at) {
    gr_grammar *g = c->g;
    if (!bag->n_choices) return true;
    if (bag->conditions || bag->total != NONE) return budget_fail(c->b, GE_E_IR);
    bag->choice_of = g->bag_words.n;
    for (u32 i = 0; i < bag->n_bits; i++)
        if (!vec_push(c->b, &g->bag_words, NONE)) return false;
    u32 first = g->bag_words.n;
    for (u32 i = 0; i < bag->n_choices; i++) {
        if (n - *at < 2) return budget_fail(c->b, GE_E_IR);
        u32 slot = record[*at], place = slot < bag->n_slots ? g->slots.at[bag->slots + slot].place : NONE;
        if (slot != NONE && place >= bag->n_bits) return budget_fail(c->b, GE_E_IR);
        gr_choice choice = {slot == NONE ? NONE : place, NONE, g->bag_words.n, record[*at + 1]};
        *at += 2;
        for (u32 k = 0; k < choice.n_sets; k++)
            if (!read_set(c, bag, record, n, at)) return false;
        if (slot != NONE) link_choice(g, bag, &choice);
        if (!vec_push(c->b, &g->choices, choice)) return false;
    }
    bag->n_set_words = g->bag_words.n - first;
    return true;
}

/* One record: nonterminal, separator, ranked, number of slots, of ways and of choices, slots, ways, choices. *used = its length. */
static bool read_bag(compiler *c, const u32 *record, u32 n, u32 *used) {
    gr_grammar *g = c->g;
    if (n < 6) return budget_fail(c->b, GE_E_IR);
    gr_bag bag = {.ways = g->ways.n, .n_ways = record[4], .slots = g->slots.n, .n_slots = record[3],
                  .choices = g->choices.n, .n_choices = record[5],
                  .total = NONE, .ranked = record[2] != 0, .separator = record[1], .owner = record[0]};
    bool is_comma = record[1] == NONE || (!(record[1] & 1) && symbol_ok(c, record[1]) && c->lexeme_flags[record[1] >> 1] == 0);
    if (record[0] >= c->in->n_nonterminals || c->list_of.at[record[0]] != NONE || c->bag_of.at[record[0]] != NONE || !is_comma)
        return budget_fail(c->b, GE_E_IR);
    work_on(c, bag.owner);
    *used = 6;
    if (!read_slots(c, &bag, record, n, used) || !read_ways(c, &bag, record, n, used)) return false;
    if (!gr_bag_lay_out(g, c->b, &bag, c->lexeme_flags) || !read_choices(c, &bag, record, n, used)) return false;
    c->bag_of.at[record[0]] = g->bags.n;
    return vec_push(c->b, &g->bags, bag) && vec_push(c->b, &c->ruled_out, 1) && bag_rules(c, record[0], &bag);
}

static bool read_rules(compiler *c) {
    const ge_rules *in = c->in;
    if (in->n_lexemes > MAX_SYMBOLS || in->n_nonterminals > MAX_SYMBOLS || !symbol_ok(c, in->start)) return budget_fail(c->b, GE_E_IR);
    u32 n_nonterminals = in->n_nonterminals;
    if (!vec_fill(c->b, &c->lexeme_nt, in->n_lexemes, 0xff)) return false;
    for (u32 i = 0; i < in->n_lexemes; i++)
        if (c->lexeme_flags[i] & GR_LEXEME_NULLABLE) c->lexeme_nt.at[i] = n_nonterminals++;
    c->n_nonterminals = n_nonterminals;
    if (!vec_fill(c->b, &c->facts, n_nonterminals, 0) || !vec_fill(c->b, &c->list_of, n_nonterminals, 0xff)) return false;
    if (!vec_fill(c->b, &c->bag_of, n_nonterminals, 0xff)) return false;
    for (u32 i = 0; i < in->n_lists; i++) {
        const u32 *r = in->lists + (size_t)i * 5;
        bool ok = r[0] < in->n_nonterminals && symbol_ok(c, r[1]) && (r[2] == NONE || symbol_ok(c, r[2])) && r[3] <= r[4] && r[3] != NONE;
        if (!ok || c->list_of.at[r[0]] != NONE) return budget_fail(c->b, GE_E_IR);
        c->list_of.at[r[0]] = i;
        if (!list_rules(c, r)) return false;
    }
    for (u32 i = 0, used = 0; i < in->n_bag_words; i += used)
        if (!read_bag(c, in->bags + i, in->n_bag_words - i, &used)) return false;
    for (u32 i = 0; i < in->n_rule_words; i += 2 + in->rules[i + 1]) {
        const u32 *r = in->rules + i;
        u32 left = in->n_rule_words - i;
        if (left < 2 || r[1] > left - 2 || r[0] >= in->n_nonterminals) return budget_fail(c->b, GE_E_IR);
        if (c->list_of.at[r[0]] != NONE || c->bag_of.at[r[0]] != NONE) return budget_fail(c->b, GE_E_IR);
        for (u32 k = 0; k < r[1]; k++)
            if (!symbol_ok(c, r[2 + k])) return budget_fail(c->b, GE_E_IR);
        if (!add_rule(c, r[0], r + 2, r[1])) return false;
    }
    for (u32 i = 0; i < in->n_lexemes; i++) {
        if (c->lexeme_nt.at[i] == NONE) continue;
        if (!add_rule(c, c->lexeme_nt.at[i], NULL, 0)) return false;
        if (!vec_push(c->b, &c->at, c->words.n) || !vec_reserve(c->b, &c->words, 3)) return false;
        c->words.at[c->words.n++] = c->lexeme_nt.at[i];
        c->words.at[c->words.n++] = 1;
        c->words.at[c->words.n++] = i * 2; /* here the lexeme itself is meant: no rule_symbol */
    }
    return true;
}

/* Fills `start` and `rules`: rules by left-hand side, or by nonterminals that occur. */
static bool index_rules(compiler *c, bool by_left) {
    u32 n = c->facts.n, total = 0;
    if (!(by_left ? vec_fill(c->b, &c->left_start, n + 2, 0) : vec_fill(c->b, &c->occur_start, n + 2, 0))) return false;
    u32 *start = by_left ? c->left_start.at : c->occur_start.at;
    for (int pass = 0; pass < 2; pass++) { /* 0 counts into start[x + 2]; 1 places, start[x + 1] moving from begin to end of x */
        u32 *rules = by_left ? c->left_rules.at : c->occur_rules.at;
        for (u32 rule = 0; rule < c->at.n; rule++) {
            const u32 *r = c->words.at + c->at.at[rule];
            u32 first = by_left ? 0 : 2, last = by_left ? 1 : 2 + r[1];
            for (u32 k = first; k < last; k++) {
                if (!by_left && !(r[k] & 1)) continue;
                u32 x = by_left ? r[k] : r[k] >> 1;
                if (pass == 0)
                    start[x + 2]++, total++;
                else
                    rules[start[x + 1]++] = rule;
            }
        }
        if (pass) break;
        for (u32 x = 0; x < n; x++) start[x + 2] += start[x + 1];
        if (!(by_left ? vec_fill(c->b, &c->left_rules, total, 0) : vec_fill(c->b, &c->occur_rules, total, 0))) return false;
    }
    return true;
}

/* --- analysis ------------------------------------------------------------------------------------------------------------ */

static bool symbol_is(const compiler *c, u32 symbol, u32 fact) {
    if (symbol & 1) return (c->facts.at[symbol >> 1] & fact) != 0;
    return fact != NULLABLE && !(c->lexeme_flags[symbol >> 1] & GR_LEXEME_EMPTY);
}

static bool is_ruled_out(const compiler *c, u32 left) { return c->bag_of.at[left] != NONE && c->ruled_out.at[c->bag_of.at[left]]; }

static bool is_productive(const compiler *c, u32 rule) {
    const u32 *r = c->words.at + c->at.at[rule];
    if (is_ruled_out(c, r[0])) return false;
    for (u32 k = 0; k < r[1]; k++)
        if (!symbol_is(c, r[2 + k], PRODUCTIVE)) return false;
    return true;
}

/* `todo` is reserved for every nonterminal: this can not fail. */
static void learn(compiler *c, u32 nonterminal, u32 fact) {
    if (c->facts.at[nonterminal] & fact) return;
    c->facts.at[nonterminal] |= fact;
    c->todo.at[c->todo.n++] = nonterminal;
}

/* Draws the conclusions from what is on todo. */
static void conclude(compiler *c, u32 fact) {
    while (c->todo.n) {
        u32 x = c->todo.at[--c->todo.n];
        for (u32 i = c->occur_start.at[x]; i < c->occur_start.at[x + 1]; i++) {
            u32 rule = c->occur_rules.at[i];
            if (fact != SOLID) c->missing.at[rule]--;
            if (c->missing.at[rule] == 0) learn(c, c->words.at[c->at.at[rule]], fact);
        }
    }
}

/* What a rule still lacks: symbols that have the fact; for SOLID one of them is enough, once all are productive. */
static u32 count_missing(const compiler *c, u32 rule, u32 fact) {
    const u32 *r = c->words.at + c->at.at[rule];
    if (fact == SOLID) return is_productive(c, rule) ? 0 : IMPOSSIBLE;
    u32 missing = is_ruled_out(c, r[0]) ? IMPOSSIBLE : 0;
    for (u32 k = 0; k < r[1]; k++)
        if (r[2 + k] & 1 || !symbol_is(c, r[2 + k], fact)) missing++;
    return missing;
}

static bool has_lexeme(const compiler *c, u32 rule) {
    const u32 *r = c->words.at + c->at.at[rule];
    for (u32 k = 0; k < r[1]; k++)
        if (!(r[2 + k] & 1)) return true;
    return false;
}

static void fixed_point(compiler *c, u32 fact) {
    c->todo.n = 0;
    for (u32 rule = 0; rule < c->at.n; rule++) c->missing.at[rule] = count_missing(c, rule, fact); /* all, before anything is learnt */
    for (u32 rule = 0; rule < c->at.n; rule++)
        if (c->missing.at[rule] == 0 && (fact != SOLID || has_lexeme(c, rule))) learn(c, c->words.at[c->at.at[rule]], fact);
    conclude(c, fact);
}

/* Marks the ways of a bag that are not known to derive a text. */
static void mark_ways(compiler *c, const gr_bag *bag) {
    gr_grammar *g = c->g;
    u32 *open = g->bag_words.at + bag->open;
    for (u32 k = 0; k < bag->n_slots; k++) g->slots.at[bag->slots + k].last_rank = NONE;
    memset(open, 0, bag->n_bit_words * sizeof *open);
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        gr_way *w = &g->ways.at[way];
        w->flags &= ~(u32)GR_DEAD;
        for (u32 k = 0; k < w->n_symbols; k++)
            if (!symbol_is(c, g->bag_words.at[w->symbols + k], PRODUCTIVE)) w->flags |= GR_DEAD;
        if (w->flags & GR_DEAD) continue;
        gr_slot *own = &g->slots.at[bag->slots + g->bag_words.at[w->slots]];
        own->last_rank = own->last_rank == NONE ? w->rank : max_u32(own->last_rank, w->rank);
        if (own->place < bag->n_bits) open[own->place / 32] |= (u32)1 << own->place % 32;
    }
}

/* Admits a bag if the ways that are known to derive a text finish it; *admitted tells. */
static bool admit_bag(compiler *c, u32 i, bool *admitted) {
    gr_grammar *g = c->g;
    const gr_bag *bag = &g->bags.at[i];
    VEC(u32) counts = {0};
    work_on(c, bag->owner);
    mark_ways(c, bag);
    bool ok = vec_fill(c->b, &counts, bag->n_words, 0) && gr_bag_is_alive(c->b, &(gr_bag_state){g, bag, counts.at, 0}, admitted);
    vec_drop(c->b, &counts);
    if (!ok || !*admitted) return ok;
    c->ruled_out.at[i] = 0;
    for (u32 k = c->left_start.at[bag->owner]; k < c->left_start.at[bag->owner + 1]; k++) {
        u32 rule = c->left_rules.at[k];
        c->missing.at[rule] -= IMPOSSIBLE;
        if (c->missing.at[rule] == 0) learn(c, bag->owner, PRODUCTIVE);
    }
    conclude(c, PRODUCTIVE);
    return true;
}

/* The three facts, of every nonterminal. A bag is ruled out until ways that are known to derive a text finish it, so these are least
 * fixed points, too. Front ends tend to make what is inside later: so backwards, few rounds do. */
static bool learn_facts(compiler *c) {
    fixed_point(c, PRODUCTIVE);
    for (bool again = true; again;) {
        again = false;
        for (u32 i = c->g->bags.n; i-- > 0;) {
            bool admitted = false;
            if (c->ruled_out.at[i] && !admit_bag(c, i, &admitted)) return false;
            again |= admitted;
        }
    }
    for (u32 i = 0; i < c->g->bags.n; i++) mark_ways(c, &c->g->bags.at[i]);
    fixed_point(c, NULLABLE);
    fixed_point(c, SOLID);
    return true;
}

static void reach(compiler *c, u32 start) {
    c->todo.n = 0;
    if (start & 1) learn(c, start >> 1, REACHED);
    while (c->todo.n) {
        u32 x = c->todo.at[--c->todo.n];
        for (u32 i = c->left_start.at[x]; i < c->left_start.at[x + 1]; i++) {
            u32 rule = c->left_rules.at[i];
            if (!is_productive(c, rule)) continue;
            const u32 *r = c->words.at + c->at.at[rule];
            for (u32 k = 0; k < r[1]; k++)
                if (r[2 + k] & 1) learn(c, r[2 + k] >> 1, REACHED);
        }
    }
}

/* --- suffixes ------------------------------------------------------------------------------------------------------------ */

/* The node for `symbol next`; NONE on failure. */
static u32 suffix(compiler *c, u32 symbol, u32 next, u32 owner) {
    gr_grammar *g = c->g;
    u32 key[3] = {symbol, next, owner};
    bool fresh;
    u32 id = intern(c->b, &c->suffixes, key, 3, &fresh);
    if (id == NONE || !fresh) return id == NONE ? NONE : id + 1;
    if (g->nodes.n > c->b->limits.max_rules) return budget_limit(c->b, LIMIT(max_rules)), NONE;
    gr_node node = {symbol, next, owner, gr_suffix_flags(g->nodes.at, next, symbol_is(c, symbol, NULLABLE))};
    if (!vec_push(c->b, &g->nodes, node) || !vec_push(c->b, &c->seen, NONE)) return NONE;
    return id + 1;
}

/* Adds the alternative `symbols` to nonterminal x, the last one that alternatives were added to. */
static bool add_alternative(compiler *c, u32 x, const u32 *symbols, u32 n) {
    gr_nonterminal *nt = &c->g->nonterminals.at[x];
    u32 node = GR_END;
    for (u32 k = n; k-- > 0;) {
        if (!symbol_is(c, symbols[k], SOLID)) continue;
        node = suffix(c, symbols[k], node, nt->owner);
        if (node == NONE) return false;
    }
    const gr_node *at = &c->g->nodes.at[node];
    if (node == GR_END || (at->symbol == x * 2 + 1 && at->next == GR_END) || c->seen.at[node] == x) return true;
    c->seen.at[node] = x;
    nt->n++;
    return vec_push(c->b, &c->g->alternatives, node);
}

/* The list with what is impossible cut off (gr.h). It is productive and solid. */
static bool make_list(compiler *c, u32 x, const u32 *record) {
    gr_list list = {.item = rule_symbol(c, record[1]), .separator = record[2], .minimum = record[3], .maximum = record[4], .owner = x};
    if (list.separator != NONE) {
        list.separator = rule_symbol(c, list.separator);
        if (!symbol_is(c, list.separator, PRODUCTIVE)) list.maximum = min_u32(list.maximum, 1);
        if (list.maximum < 2 || !symbol_is(c, list.separator, SOLID)) list.separator = NONE; /* not needed, impossible, always "" */
    }
    if (!symbol_is(c, list.item, SOLID)) { /* always "": what remains is a list of separators */
        list.item = list.separator;
        list.separator = NONE;
        if (list.minimum) list.minimum--;
        if (list.maximum != NONE) list.maximum--;
    }
    list.unit = list.item;
    list.loose = symbol_is(c, list.item, NULLABLE) && (list.separator == NONE || symbol_is(c, list.separator, NULLABLE));
    if (list.loose) {
        list.minimum = 0;
        if (list.separator != NONE) {
            u32 unit = c->g->nonterminals.n, symbols[2] = {list.separator, list.item};
            gr_nonterminal nt = {.first = c->g->alternatives.n, .tail = NONE, .owner = x, .nullable = 1};
            if (!vec_push(c->b, &c->g->nonterminals, nt) || !add_alternative(c, unit, symbols, 2)) return false;
            list.unit = unit * 2 + 1;
            list.separator = NONE;
        }
    }
    gr_nonterminal *nt = &c->g->nonterminals.at[x];
    nt->first = NONE;
    nt->kind = GR_LIST;
    nt->template = c->g->lists.n;
    return vec_push(c->b, &c->g->lists, list);
}

/* Leaves out of the ways what is always "". */
static bool make_bag(compiler *c, u32 x) {
    gr_grammar *g = c->g;
    const gr_bag *bag = &g->bags.at[c->bag_of.at[x]];
    for (u32 way = bag->ways; way < bag->ways + bag->n_ways; way++) {
        gr_way *w = &g->ways.at[way];
        u32 *symbols = g->bag_words.at + w->symbols, n = 0;
        if (w->flags & GR_DEAD) continue;
        if (symbols[0] & 1 && symbol_is(c, symbols[0], NULLABLE)) return budget_fail(c->b, GE_E_IR);
        for (u32 k = 0; k < w->n_symbols; k++)
            if (symbol_is(c, symbols[k], SOLID)) symbols[n++] = symbols[k];
        w->n_symbols = n;
    }
    gr_nonterminal *nt = &g->nonterminals.at[x];
    nt->first = NONE;
    nt->kind = GR_BAG;
    nt->template = c->bag_of.at[x];
    return true;
}

static bool emit(compiler *c, u32 start) {
    gr_grammar *g = c->g;
    u32 n_ir = c->in->n_nonterminals;
    gr_node end = {NONE, GR_END, NONE, GR_REST_NULLABLE};
    if (!vec_push(c->b, &g->nodes, end) || !vec_push(c->b, &c->seen, NONE)) return false;
    for (u32 x = 0; x < c->n_nonterminals; x++) {
        gr_nonterminal nt = {.tail = NONE, .owner = x < n_ir ? x : NONE, .nullable = (c->facts.at[x] & NULLABLE) != 0};
        if (!vec_push(c->b, &g->nonterminals, nt)) return false;
    }
    for (u32 x = 0; x < c->n_nonterminals; x++) {
        if ((c->facts.at[x] & (REACHED | SOLID)) != (REACHED | SOLID)) continue;
        work_on(c, x);
        if (c->list_of.at[x] != NONE) {
            if (!make_list(c, x, c->in->lists + (size_t)c->list_of.at[x] * 5)) return false;
            continue;
        }
        if (c->bag_of.at[x] != NONE) {
            if (!make_bag(c, x)) return false;
            continue;
        }
        g->nonterminals.at[x].first = g->alternatives.n;
        for (u32 i = c->left_start.at[x]; i < c->left_start.at[x + 1]; i++) {
            const u32 *r = c->words.at + c->at.at[c->left_rules.at[i]];
            if (is_productive(c, c->left_rules.at[i]) && !add_alternative(c, x, r + 2, r[1])) return false;
        }
    }
    g->start = GR_END;
    if (symbol_is(c, start, SOLID)) g->start = suffix(c, start, GR_END, start & 1 && start >> 1 < n_ir ? start >> 1 : NONE);
    return g->start != NONE;
}

static bool compile(compiler *c) {
    if (!read_rules(c) || !index_rules(c, true) || !index_rules(c, false)) return false;
    if (!vec_fill(c->b, &c->missing, c->at.n, 0) || !vec_reserve(c->b, &c->todo, c->facts.n)) return false;
    if (!learn_facts(c)) return false;
    u32 start = rule_symbol(c, c->in->start);
    if (!symbol_is(c, start, PRODUCTIVE)) return budget_fail(c->b, GE_E_NOTHING);
    reach(c, start);
    return emit(c, start);
}

bool gr_compile(gr_grammar *g, budget *b, const ge_rules *rules, const u8 *lexeme_flags) {
    compiler c = {.b = b, .g = g, .in = rules, .lexeme_flags = lexeme_flags};
    memset(g, 0, sizeof *g);
    g->n_lexemes = rules->n_lexemes;
    bool ok = compile(&c);
    if (ok) b->symbol = NONE;
    vec_drop(b, &c.words);
    vec_drop(b, &c.at);
    vec_drop(b, &c.facts);
    vec_drop(b, &c.lexeme_nt);
    vec_drop(b, &c.list_of);
    vec_drop(b, &c.bag_of);
    vec_drop(b, &c.ruled_out);
    vec_drop(b, &c.left_start);
    vec_drop(b, &c.left_rules);
    vec_drop(b, &c.occur_start);
    vec_drop(b, &c.occur_rules);
    vec_drop(b, &c.missing);
    vec_drop(b, &c.todo);
    vec_drop(b, &c.seen);
    intern_drop(b, &c.suffixes);
    if (!ok) gr_drop(g, b);
    return ok;
}

void gr_drop(gr_grammar *g, budget *b) {
    vec_drop(b, &g->nodes);
    vec_drop(b, &g->nonterminals);
    vec_drop(b, &g->alternatives);
    vec_drop(b, &g->lists);
    vec_drop(b, &g->bags);
    vec_drop(b, &g->ways);
    vec_drop(b, &g->slots);
    vec_drop(b, &g->choices);
    vec_drop(b, &g->bag_words);
    memset(g, 0, sizeof *g);
}
