/* rows: what the tests of the parser share: grammars, and checks of its tables. */
#ifndef GE_TEST_ROWS_H
#define GE_TEST_ROWS_H

#include "../grammar/gr.h"
#include "../parser/ep_parts.h"
#include "harness.h"

/* --- grammars as IR ------------------------------------------------------------------------------------------------------ */

typedef struct ir {
    ge_rules rules;
    u32 words[4000], n_words;
    u32 lists[8 * 5];
    u32 lexemes[64];
    u8 flags[32];
} ir;

static inline void ir_rule(ir *g, u32 left, const u32 *symbols, u32 n) {
    g->words[g->n_words++] = left;
    g->words[g->n_words++] = n;
    for (u32 i = 0; i < n; i++) g->words[g->n_words++] = symbols[i];
}

static inline void ir_list(ir *g, u32 left, u32 item, u32 separator, u32 minimum, u32 maximum) {
    u32 *r = g->lists + 5 * g->rules.n_lists++;
    r[0] = left, r[1] = item, r[2] = separator, r[3] = minimum, r[4] = maximum;
}

static inline void ir_finish(ir *g) {
    g->rules.lexemes = g->lexemes;
    g->rules.rules = g->words;
    g->rules.n_rule_words = g->n_words;
    g->rules.lists = g->lists;
}

static inline u32 letter_symbol(char c) { return c <= 'Z' ? (u32)(c - 'A') * 2 + 1 : (u32)(c - 'a') * 2; }

/* "S:aSb| T:x": upper case nonterminals, lower case lexemes; the first left-hand side is the start. */
static inline void ir_text(ir *g, const char *text) {
    memset(g, 0, sizeof *g);
    g->rules.n_lexemes = g->rules.n_nonterminals = 26;
    g->rules.start = letter_symbol(text[0]);
    for (u32 left = 0; *text;) {
        u32 symbols[32], n = 0;
        if (text[1] == ':') left = letter_symbol(*text) >> 1, text += 2;
        for (; *text && *text != '|' && *text != ' '; text++) symbols[n++] = letter_symbol(*text);
        ir_rule(g, left, symbols, n);
        bool alternative = *text == '|';
        if (*text) text++;
        if (alternative && !*text) ir_rule(g, left, symbols, 0);
    }
    ir_finish(g);
}

static inline u32 random_symbol(const ir *g, u64 *seed) {
    return random_below(seed, 2) ? random_below(seed, g->rules.n_nonterminals) * 2 + 1 : random_below(seed, g->rules.n_lexemes) * 2;
}

static inline void ir_random(ir *g, u64 *seed) {
    memset(g, 0, sizeof *g);
    u32 plain = 1 + random_below(seed, 5), n_lists = random_below(seed, 3);
    g->rules.n_lexemes = 1 + random_below(seed, 4);
    g->rules.n_nonterminals = plain + n_lists;
    bool odd = random_below(seed, 2); /* with lexemes that are empty or nullable */
    for (u32 i = 0; i < g->rules.n_lexemes; i++) {
        if (odd && random_below(seed, 8) == 0) g->flags[i] |= GR_LEXEME_EMPTY;
        if (odd && random_below(seed, 4) == 0) g->flags[i] |= GR_LEXEME_NULLABLE;
    }
    for (u32 left = 0; left < plain; left++)
        for (u32 k = odd ? random_below(seed, 4) : 1 + random_below(seed, 3); k > 0; k--) {
            u32 symbols[4], n = random_below(seed, 5);
            for (u32 i = 0; i < n; i++) symbols[i] = random_symbol(g, seed);
            ir_rule(g, left, symbols, n);
        }
    for (u32 i = 0; i < n_lists; i++) {
        u32 minimum = random_below(seed, 4), maximum = random_below(seed, 2) ? NONE : minimum + random_below(seed, 3);
        u32 separator = random_below(seed, 2) ? NONE : random_symbol(g, seed);
        ir_list(g, plain + i, random_symbol(g, seed), separator, minimum, maximum);
    }
    g->rules.start = random_below(seed, 5) ? random_below(seed, g->rules.n_nonterminals) * 2 + 1 : random_symbol(g, seed);
    ir_finish(g);
}

/* --- checks of the parser ------------------------------------------------------------------------------------------------ */

/* The invariants of ep.c and gr.h. */
static inline void check_valid(const ep_parser *p) {
    u32 n_sets = intern_count(&p->sets);
    CHECK(p->set_point.n == n_sets && p->set_row.n == n_sets);
    CHECK(p->cycle_point.n == intern_count(&p->cycles));
    CHECK(p->node_stamp.n >= p->nodes.n && p->nonterminal_stamp.n >= p->nonterminals.n && p->point_stamp.n >= p->points.n);
    for (u32 set = 0; set < n_sets; set++) {
        bool is_row = p->set_row.at[set] != NONE, is_point = p->set_point.at[set] != NONE;
        CHECK(!is_row || (p->set_row.at[set] < p->rows.n && p->rows.at[p->set_row.at[set]].set == set));
        CHECK(!is_point || (p->set_point.at[set] < p->points.n && p->points.at[p->set_point.at[set]] == set));
        CHECK(intern_length(&p->sets, set) % 2 == 1 && (intern_words(&p->sets, set)[0] < 2 || ep_is_stub(p, p->set_point.at[set])));
        for (u32 i = 0; i < ep_set_size(p, set); i++) {
            ep_item item = ep_set_item(p, set, i);
            CHECK(ep_item_point(item) < p->points.n && ep_item_node(item) < p->nodes.n);
            CHECK(i == 0 || ep_set_item(p, set, i - 1) < item);
            CHECK(!is_row || ep_item_node(item) != GR_END || ep_is_stub(p, ep_item_point(item)));
        }
    }
    u32 n_cut = 0;
    for (u32 row = 0; row < p->rows.n; row++) {
        const ep_row *r = &p->rows.at[row];
        n_cut += r->is_cut;
        CHECK(p->lexemes.at[r->first + r->n_lexemes] == NONE && r->n_lexemes + r->accepts + r->leaves > 0);
        for (u32 i = 0; i < r->n_lexemes; i++) {
            CHECK(p->lexemes.at[r->first + i] < p->lexemes.at[r->first + i + 1]);
            if (r->starts == NONE) continue;
            const u32 *start = p->starts.at + r->starts + i;
            CHECK(start[0] < start[1] && start[1] <= p->scans.n);
            for (u32 k = start[0]; k < start[1]; k++) CHECK(ep_item_point(p->scans.at[k]) < p->points.n);
        }
    }
    CHECK(n_cut == p->n_cut_rows && p->n_cut_points < p->points.n);
    for (u32 node = 1; node < p->nodes.n; node++) {
        const gr_node *n = &p->nodes.at[node];
        CHECK(n->next < node && n->symbol >> 1 < (n->symbol & 1 ? p->nonterminals.n : p->g->n_lexemes));
        CHECK(!(n->flags & GR_STEP) || (n->symbol & 1 && p->nonterminals.at[n->symbol >> 1].nullable));
        CHECK(!(n->symbol & 1) || p->nonterminals.at[n->symbol >> 1].first == NONE || p->nonterminals.at[n->symbol >> 1].n > 0);
    }
}

static inline u32 row_mask(const ep_parser *p, u32 row) {
    u32 n, mask = 0;
    const u32 *lexemes = ep_row_lexemes(p, row, &n);
    for (u32 i = 0; i < n; i++) mask |= 1u << lexemes[i];
    return mask;
}

static inline u32 goto_mask(ep_parser *p, u32 row, u32 mask) {
    u32 lexemes[32], n = 0;
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1) lexemes[n++] = i;
    return ep_goto(p, row, lexemes, n, VALUE_UNKNOWN);
}

static inline void dump(const ir *g) {
    for (u32 i = 0; i < g->n_words; i += 2 + g->words[i + 1]) {
        fprintf(stderr, "  %u ->", g->words[i]);
        for (u32 k = 0; k < g->words[i + 1]; k++) fprintf(stderr, " %c%u", g->words[i + 2 + k] & 1 ? 'N' : 'l', g->words[i + 2 + k] >> 1);
        fprintf(stderr, "\n");
    }
    for (u32 i = 0; i < g->rules.n_lists; i++) {
        const u32 *l = g->lists + 5 * i;
        fprintf(stderr, "  %u = list(item %u, separator %d, %u, %d)\n", l[0], l[1], (int)l[2], l[3], (int)l[4]);
    }
    for (u32 i = 0; i < g->rules.n_lexemes; i++) fprintf(stderr, "  lexeme %u: flags %u\n", i, (unsigned)g->flags[i]);
    fprintf(stderr, "  start %u\n", g->rules.start);
}

/* A row, or a cut one in its place, with what was cut (ep_cut.c). */
typedef struct cut_view {
    u32 row, bases[EP_CUTS];
} cut_view;

/* Cuts the row once more, if it may be. False: failure; the view is as it was. */
static inline bool view_cut(ep_parser *p, cut_view *v) {
    u32 depth = 0;
    while (depth < EP_CUTS && v->bases[depth] != NONE) depth++;
    u32 cut = depth == EP_CUTS ? v->row : ep_cut(p, v->row, depth);
    if (cut == NONE) return false;
    if (cut != v->row) v->bases[depth] = v->row;
    v->row = cut;
    return true;
}

/* To the row after lexemes. False: failure; the view is as it was. */
static inline bool view_step(ep_parser *p, cut_view *v, u32 mask) {
    u32 row = goto_mask(p, v->row, mask);
    for (u32 depth = EP_CUTS; row != NONE && depth-- > 0;)
        if (ep_row_leaves(p, row) && v->bases[depth] != NONE) row = ep_resume(p, row, v->bases[depth], depth);
    if (row == NONE) return false;
    v->row = row;
    return true;
}

#endif
