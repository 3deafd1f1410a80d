/* t_parser: gr and ep against a textbook Earley recogniser on random grammars; counts of rows; failing allocations; limits.
 *
 *     t_parser [grammars [seed]]
 *
 * The oracle shares nothing with the parser: it drops unproductive rules by naive iteration, writes lists out as plain rules (so random
 * lists are short) and lets sets refer to positions. */
#include "rows.h"

/* --- the oracle ---------------------------------------------------------------------------------------------------------- */

enum { MAX_RULES = 96, MAX_LENGTH = 12, MAX_NT = 32, MAX_TEXT = 12 };

typedef struct oracle_rule {
    u32 left, n, symbols[MAX_LENGTH];
} oracle_rule;

typedef struct oracle {
    oracle_rule rules[MAX_RULES];
    u32 n_rules, n_nt;
    bool productive[MAX_NT], nullable[MAX_NT];
    u32 items[MAX_TEXT + 1][MAX_RULES * MAX_LENGTH * (MAX_TEXT + 1)], n_items[MAX_TEXT + 1]; /* (rule * MAX_LENGTH + dot) * .. + origin */
    bool has[MAX_TEXT + 1][MAX_RULES * MAX_LENGTH * (MAX_TEXT + 1)];
} oracle;

static u32 oracle_symbol(const ir *g, u32 symbol) { /* lexeme i that may be "": nonterminal n_nonterminals + i */
    bool nullable = !(symbol & 1) && g->flags[symbol >> 1] & GR_LEXEME_NULLABLE;
    return nullable ? (g->rules.n_nonterminals + (symbol >> 1)) * 2 + 1 : symbol;
}

static oracle_rule *oracle_rule_new(oracle *o, u32 left) {
    oracle_rule *r = &o->rules[o->n_rules++];
    r->left = left;
    r->n = 0;
    return r;
}

static void oracle_init(oracle *o, const ir *g) {
    u32 n_nt = g->rules.n_nonterminals;
    o->n_rules = 0;
    oracle_rule *r = oracle_rule_new(o, MAX_NT - 1);
    r->symbols[r->n++] = oracle_symbol(g, g->rules.start);
    for (u32 i = 0; i < g->n_words; i += 2 + g->words[i + 1]) {
        r = oracle_rule_new(o, g->words[i]);
        for (u32 k = 0; k < g->words[i + 1]; k++) r->symbols[r->n++] = oracle_symbol(g, g->words[i + 2 + k]);
    }
    for (u32 i = 0; i < g->rules.n_lexemes; i++)
        if (g->flags[i] & GR_LEXEME_NULLABLE) {
            oracle_rule_new(o, n_nt + i);
            r = oracle_rule_new(o, n_nt + i);
            r->symbols[r->n++] = i * 2;
        }
    u32 more = n_nt + g->rules.n_lexemes;
    for (u32 i = 0; i < g->rules.n_lists; i++) {
        const u32 *l = g->lists + 5 * i;
        u32 item = oracle_symbol(g, l[1]), separator = l[2] == NONE ? NONE : oracle_symbol(g, l[2]);
        bool unbounded = l[4] == NONE;
        for (u32 count = l[3]; count <= (unbounded ? max_u32(l[3], 1) : l[4]); count++) {
            r = oracle_rule_new(o, l[0]);
            for (u32 k = 0; k < count; k++) {
                if (k && separator != NONE) r->symbols[r->n++] = separator;
                r->symbols[r->n++] = item;
            }
            if (unbounded && count) r->symbols[r->n++] = more * 2 + 1;
        }
        if (!unbounded) continue;
        oracle_rule_new(o, more);
        r = oracle_rule_new(o, more);
        if (separator != NONE) r->symbols[r->n++] = separator;
        r->symbols[r->n++] = item;
        r->symbols[r->n++] = more * 2 + 1;
        more++;
    }
    memset(o->productive, 0, sizeof o->productive);
    memset(o->nullable, 0, sizeof o->nullable);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < o->n_rules; i++) {
            bool productive = true, nullable = true;
            for (u32 k = 0; k < o->rules[i].n; k++) {
                u32 s = o->rules[i].symbols[k];
                productive &= s & 1 ? o->productive[s >> 1] : !(g->flags[s >> 1] & GR_LEXEME_EMPTY);
                nullable &= s & 1 && o->nullable[s >> 1];
            }
            u32 left = o->rules[i].left;
            changed |= (productive && !o->productive[left]) || (nullable && !o->nullable[left]);
            o->productive[left] |= productive;
            o->nullable[left] |= nullable;
        }
    }
    u32 kept = 0;
    for (u32 i = 0; i < o->n_rules; i++) {
        bool productive = true;
        for (u32 k = 0; k < o->rules[i].n; k++) {
            u32 s = o->rules[i].symbols[k];
            productive &= s & 1 ? o->productive[s >> 1] : !(g->flags[s >> 1] & GR_LEXEME_EMPTY);
        }
        if (productive) o->rules[kept++] = o->rules[i];
    }
    o->n_rules = kept;
}

static void oracle_add(oracle *o, u32 at, u32 rule, u32 dot, u32 origin) {
    u32 item = (rule * MAX_LENGTH + dot) * (MAX_TEXT + 1) + origin;
    if (o->has[at][item]) return;
    o->has[at][item] = true;
    o->items[at][o->n_items[at]++] = item;
}

/* Set `at`: the start, or what comes after any lexeme of `mask` was read in set at - 1. */
static void oracle_step(oracle *o, u32 at, u32 mask) {
    for (u32 i = 0; i < o->n_items[at]; i++) o->has[at][o->items[at][i]] = false;
    o->n_items[at] = 0;
    if (at == 0) {
        for (u32 i = 0; i < o->n_rules; i++)
            if (o->rules[i].left == MAX_NT - 1) oracle_add(o, 0, i, 0, 0);
    } else {
        for (u32 i = 0; i < o->n_items[at - 1]; i++) {
            u32 item = o->items[at - 1][i], origin = item % (MAX_TEXT + 1), rule = item / (MAX_TEXT + 1) / MAX_LENGTH;
            u32 dot = item / (MAX_TEXT + 1) % MAX_LENGTH, s = dot < o->rules[rule].n ? o->rules[rule].symbols[dot] : 1;
            if (!(s & 1) && mask >> (s >> 1) & 1) oracle_add(o, at, rule, dot + 1, origin);
        }
    }
    for (u32 i = 0; i < o->n_items[at]; i++) {
        u32 item = o->items[at][i], origin = item % (MAX_TEXT + 1), rule = item / (MAX_TEXT + 1) / MAX_LENGTH;
        u32 dot = item / (MAX_TEXT + 1) % MAX_LENGTH;
        const oracle_rule *r = &o->rules[rule];
        if (dot == r->n) {
            for (u32 k = 0; k < o->n_items[origin]; k++) {
                u32 waiting = o->items[origin][k], w_rule = waiting / (MAX_TEXT + 1) / MAX_LENGTH;
                u32 w_dot = waiting / (MAX_TEXT + 1) % MAX_LENGTH;
                if (w_dot < o->rules[w_rule].n && o->rules[w_rule].symbols[w_dot] == r->left * 2 + 1)
                    oracle_add(o, at, w_rule, w_dot + 1, waiting % (MAX_TEXT + 1));
            }
        } else if (r->symbols[dot] & 1) {
            for (u32 k = 0; k < o->n_rules; k++)
                if (o->rules[k].left * 2 + 1 == r->symbols[dot]) oracle_add(o, at, k, 0, at);
            if (o->nullable[r->symbols[dot] >> 1]) oracle_add(o, at, rule, dot + 1, origin);
        }
    }
}

static u32 oracle_allowed(const oracle *o, u32 at) {
    u32 mask = 0;
    for (u32 i = 0; i < o->n_items[at]; i++) {
        u32 item = o->items[at][i], rule = item / (MAX_TEXT + 1) / MAX_LENGTH, dot = item / (MAX_TEXT + 1) % MAX_LENGTH;
        if (dot < o->rules[rule].n && !(o->rules[rule].symbols[dot] & 1)) mask |= 1u << (o->rules[rule].symbols[dot] >> 1);
    }
    return mask;
}

static bool oracle_accepts(const oracle *o, u32 at) {
    for (u32 i = 0; i < o->n_rules; i++)
        if (o->rules[i].left == MAX_NT - 1) return o->has[at][(i * MAX_LENGTH + o->rules[i].n) * (MAX_TEXT + 1)];
    return false;
}

/* --- walks --------------------------------------------------------------------------------------------------------------- */

/* Walks of random steps (each any lexeme of a set), compared after every step; beside them, from some step on, one over cut rows. */
static u64 compare(const ir *g, oracle *o, u64 *seed) {
    ge_limits limits = wide_limits();
    budget b;
    gr_grammar gr;
    ep_parser p;
    u64 steps = 0;
    unsigned long failures = n_failures;
    budget_init(&b, &limits);
    oracle_init(o, g);
    bool any = o->productive[MAX_NT - 1], ok = gr_compile(&gr, &b, &g->rules, g->flags);
    CHECK(ok == any && b.status == (any ? GE_OK : GE_E_NOTHING));
    if (!ok) {
        CHECK(b.bytes == 0);
        return 0;
    }
    CHECK(ep_init(&p, &b, &gr, NULL));
    for (u32 i = 0; i < 30 && n_failures == failures; i++) {
        u32 row = ep_start(&p), begin = random_below(seed, 4);
        cut_view view = {NONE, {NONE, NONE}};
        bool single = random_below(seed, 2);
        oracle_step(o, 0, 0);
        for (u32 at = 0;; at++) {
            u32 allowed = oracle_allowed(o, at), mask;
            CHECK(row != NONE);
            if (row == NONE) break;
            CHECK(row_mask(&p, row) == allowed);
            CHECK(ep_row_accepts(&p, row) == oracle_accepts(o, at));
            if (at == begin) view.row = row;
            if (at >= begin) CHECK(!ep_row_leaves(&p, view.row) && row_mask(&p, view.row) == allowed);
            if (at >= begin && random_below(seed, 4)) CHECK(view_cut(&p, &view));
            steps++;
            if (n_failures != failures || !allowed || at == MAX_TEXT - 1) break;
            do
                mask = single ? 1u << random_below(seed, g->rules.n_lexemes) : random_below(seed, 16);
            while (!(mask & allowed));
            mask &= allowed;
            if (random_below(seed, 4) == 0) { /* fails at some point within, and must leave no trace */
                b.limits.max_step_work = random_below(seed, 24);
                u32 n_rows = p.n_rows, tried = goto_mask(&p, row, mask);
                CHECK((tried == NONE) == (b.status != GE_OK) && (tried != NONE || p.n_rows == n_rows));
                if (tried == NONE) check_valid(&p);
                b.limits = limits;
            }
            budget_begin(&b);
            row = goto_mask(&p, row, mask);
            if (at >= begin) CHECK(view_step(&p, &view, mask));
            oracle_step(o, at + 1, mask);
        }
    }
    check_valid(&p);
    if (n_failures != failures) dump(g);
    ep_drop(&p);
    gr_drop(&gr, &b);
    CHECK(b.bytes == 0);
    return steps;
}

static void test_random(u32 grammars, u64 seed) {
    oracle *o = calloc(1, sizeof *o);
    ir *g = malloc(sizeof *g);
    u64 steps = 0;
    for (u32 i = 0; o && g && i < grammars && n_failures < 3; i++) {
        ir_random(g, &seed);
        steps += compare(g, o, &seed);
    }
    printf("random: %u grammars, %llu rows compared\n", grammars, (unsigned long long)steps);
    free(o);
    free(g);
}

/* --- counts of rows ------------------------------------------------------------------------------------------------------ */

typedef struct counts {
    u32 rows, points, items;
    bool ok; /* every lexeme was allowed, and the text is a sentence */
} counts;

/* Reads head, n times middle, tail. */
static counts read_text(const ir *g, const char *head, const char *middle, u32 n, const char *tail) {
    ge_limits limits = wide_limits();
    budget b;
    gr_grammar gr;
    ep_parser p;
    budget_init(&b, &limits);
    CHECK(gr_compile(&gr, &b, &g->rules, g->flags));
    CHECK(ep_init(&p, &b, &gr, NULL));
    u32 row = ep_start(&p);
    bool ok = true;
    for (u32 i = 0; i < n + 2; i++)
        for (const char *c = i == 0 ? head : i <= n ? middle : tail; *c && ok; c++) {
            ok = row_mask(&p, row) >> (*c - 'a') & 1;
            if (ok) row = goto_mask(&p, row, 1u << (*c - 'a'));
            ok = ok && row != NONE;
        }
    if (b.bytes < 1000000) check_valid(&p);
    counts c = {p.n_rows, p.n_points, p.max_items, ok && ep_row_accepts(&p, row)};
    ep_drop(&p);
    gr_drop(&gr, &b);
    CHECK(b.bytes == 0);
    return c;
}

static counts show(const char *name, counts c) {
    printf("%-40s %6u rows %6u points %6u items at most\n", name, c.rows, c.points, c.items);
    CHECK(c.ok);
    return c;
}

static counts read_rules(const char *rules, const char *head, const char *middle, u32 n, const char *tail) {
    ir *g = malloc(sizeof *g);
    ir_text(g, rules);
    counts c = show(rules, read_text(g, head, middle, n, tail));
    free(g);
    return c;
}

static counts read_list(const char *name, const char *rules, const u32 *list, const char *head, const char *middle, u32 n,
                        const char *tail) {
    ir *g = malloc(sizeof *g);
    ir_text(g, rules);
    ir_list(g, list[0], list[1], list[2], list[3], list[4]);
    counts c = show(name, read_text(g, head, middle, n, tail));
    free(g);
    return c;
}

/* n times open, middle, n times close. */
static counts read_nested(const char *rules, const char *open, u32 n, const char *middle, const char *close) {
    char *text = calloc(2 * (size_t)n + 2, strlen(open) + strlen(middle) + strlen(close) + 1);
    for (u32 i = 0; text && i < n; i++) memcpy(text + i * strlen(open), open, strlen(open));
    strcat(text, middle);
    for (u32 i = 0, at = (u32)strlen(text); text && i < n; i++) memcpy(text + at + i * strlen(close), close, strlen(close));
    counts c = read_rules(rules, text, "", 0, "");
    free(text);
    return c;
}

static void test_counts(void) {
    CHECK(read_rules("L:ecL|e", "", "ec", 2000, "e").rows <= 3);
    CHECK(read_rules("L:Lce|e", "e", "ce", 2000, "").rows <= 4);
    CHECK(read_rules("V:n|oc|oMc M:MkP|P P:sdV", "osdn", "ksdn", 1000, "c").rows <= 7);
    CHECK(read_rules("S:SS|a", "", "a", 300, "").rows <= 4);
    CHECK(read_rules("S:SSS|SS|a", "", "a", 300, "").rows <= 8);
    CHECK(read_rules("E:EpE|EmE|oEc|n", "", "np", 2000, "n").rows <= 8);
    CHECK(read_rules("E:EpT|T T:TmF|F F:oEc|n", "", "npnm", 2000, "n").rows <= 8);
    CHECK(read_rules("A:xR|xRy R:eR|eQ|e Q:R", "x", "e", 500, "y").rows <= 6);
    CHECK(read_rules("A:aA|aB|b B:aB|bA|c", "", "a", 1000, "b").rows <= 8);
    CHECK(read_rules("A:Bx|a B:Ay|b", "a", "yx", 500, "").rows <= 6);
    counts c = read_nested("V:oVc|n", "o", 300, "n", "c");
    CHECK(c.rows <= 2 * 300 + 2 && c.points <= 301 && c.items <= 4);
    c = read_nested("E:EpT|T T:TmF|F F:oEc|n", "o", 200, "n", "c");
    CHECK(c.rows <= 3 * 200 + 4 && c.items <= 12);
    c = read_nested("V:n|ac|aIc I:IkV|V", "ankanka", 60, "n", "ccc");
    CHECK(c.rows <= 12 * 60 + 8 && c.items <= 8);
}

static void test_lists(void) {
    const u32 unbounded[] = {1, 1 * 2, 2 * 2, 0, NONE}, many[] = {1, 1 * 2, 2 * 2, 0, 1000000}, least[] = {1, 1 * 2, 2 * 2, 900000, NONE};
    const u32 loose[] = {1, 2 * 2 + 1, NONE, 500000, 1000000};
    CHECK(read_list("list b (c b)*", "A:aBd", unbounded, "ab", "cb", 2000, "d").rows <= 6);
    CHECK(read_list("the same, at most 1,000,000, 10 read", "A:aBd", many, "ab", "cb", 9, "d").rows <= 22);
    counts c = read_list("the same, at most 1,000,000, 2,000 read", "A:aBd", many, "ab", "cb", 2000, "d");
    CHECK(c.rows <= 4006 && c.items < 8);
    c = read_list("list of b|\"\", 500,000 to 1,000,000", "A:aBd C:b|", loose, "a", "b", 2000, "d");
    CHECK(c.rows <= 2006 && c.items < 12);
    ir *g = malloc(sizeof *g);
    ir_text(g, "A:aBd");
    ir_list(g, least[0], least[1], least[2], least[3], least[4]);
    c = read_text(g, "ab", "cb", 2000, "d"); /* too few */
    CHECK(!c.ok && c.rows <= 4006 && c.items < 8);
    free(g);
}

/* Two lists in JSON: the rows below an array are shared by its items. */
static void test_sharing(void) {
    ir *g = malloc(sizeof *g);
    ir_text(g, "V:n|aIc|oMd P:esV");
    ir_list(g, 8, 21 * 2 + 1, 'k' - 'a' + ('k' - 'a'), 0, NONE);
    ir_list(g, 12, 15 * 2 + 1, 'k' - 'a' + ('k' - 'a'), 0, NONE);
    counts one = show("JSON, one array of arrays", read_text(g, "a", "aankn", 1, "ccc"));
    counts two = show("JSON, the same twice in an array", read_text(g, "a", "", 0, "aanknccknc"));
    counts ten = show("JSON, 1,000 times", read_text(g, "an", "kaankncc", 1000, "c"));
    CHECK(ten.rows <= two.rows + 8 && one.ok);
    free(g);
}

/* --- failures ------------------------------------------------------------------------------------------------------------ */

static u32 walk_hash(ep_parser *p, u64 seed, u32 n) { /* a digest of what a random walk sees, NONE on failure */
    u32 row = ep_start(p), digest = 0;
    for (u32 i = 0; i < n && row != NONE; i++) {
        u32 allowed = row_mask(p, row), mask;
        digest = digest * 31 + allowed * 2 + ep_row_accepts(p, row);
        if (!allowed) return digest & 0x7fffffff;
        do
            mask = (u32)random_u64(&seed) & allowed;
        while (!mask);
        row = goto_mask(p, row, mask);
    }
    return row == NONE ? NONE : digest & 0x7fffffff;
}

/* Each allocation in turn fails; then the same parser goes on and must see the same. */
static void test_failing(u32 grammars, u64 seed) {
    ir *g = malloc(sizeof *g);
    u64 failures = 0;
    for (u32 i = 0; i < grammars; i++) {
        ir_random(g, &seed);
        ge_limits limits = wide_limits();
        u32 expected = NONE;
        for (u64 k = 0;; k++) { /* k = 0: none fails */
            budget b;
            gr_grammar gr;
            ep_parser p;
            budget_init(&b, &limits);
            b.fail_after = k;
            if (!gr_compile(&gr, &b, &g->rules, g->flags) || !ep_init(&p, &b, &gr, NULL)) {
                CHECK(b.status == GE_E_NOTHING || b.status == GE_E_MEMORY);
                bool nothing = b.status == GE_E_NOTHING;
                failures += !nothing;
                budget_begin(&b);
                gr_drop(&gr, &b);
                CHECK(b.bytes == 0);
                if (nothing) break;
                continue;
            }
            u32 seen = walk_hash(&p, i, 12);
            bool failed = seen == NONE;
            CHECK(failed == (b.status != GE_OK));
            if (failed) {
                failures++;
                check_valid(&p);
                budget_begin(&b);
                seen = walk_hash(&p, i, 12);
            }
            if (k == 0) expected = seen;
            CHECK(seen == expected && seen != NONE);
            check_valid(&p);
            ep_drop(&p);
            gr_drop(&gr, &b);
            CHECK(b.bytes == 0);
            if (k && !failed) break;
        }
    }
    free(g);
    printf("failing allocations: %llu\n", (unsigned long long)failures);
}

/* Each limit is reported under its name and leaves the parser as it was. */
static void test_limits(void) {
    ir *g = malloc(sizeof *g);
    ir_text(g, "V:n|oVc|oVVc");
    ir_list(g, 1, 21 * 2 + 1, NONE, 0, 100000);
    ir_rule(g, 21, (const u32[]){2, 3}, 2);
    g->rules.n_rule_words = g->n_words;
    const u32 field[] = {LIMIT(max_rows), LIMIT(max_row_items), LIMIT(max_rules), LIMIT(max_step_work), LIMIT(max_memory_bytes)};
    const u64 value[] = {20, 12, 30, 150, 20000};
    for (u32 i = 0; i < 5; i++) {
        ge_limits limits = wide_limits();
        memcpy((char *)&limits + field[i] * sizeof(u64), &value[i], sizeof value[i]);
        budget b;
        gr_grammar gr;
        ep_parser p;
        budget_init(&b, &limits);
        CHECK(gr_compile(&gr, &b, &g->rules, g->flags) && ep_init(&p, &b, &gr, NULL));
        u32 row = ep_start(&p), steps = 0;
        const u32 lexemes[2] = {1, 14};
        for (u32 last = row; row != NONE && steps < 1000; steps++) {
            u32 n_rows = p.n_rows, known;
            row = ep_goto(&p, last, lexemes, row_mask(&p, last) >> 14 & 1 ? 2 : 1, VALUE_UNKNOWN);
            if (row != NONE)
                last = row;
            else
                CHECK(p.n_rows == n_rows && ep_row_lexemes(&p, last, &known)[0] == 1);
        }
        CHECK(row == NONE && b.status == GE_E_LIMIT && b.limit == field[i]);
        check_valid(&p);
        ep_drop(&p);
        gr_drop(&gr, &b);
        CHECK(b.bytes == 0);
    }
    free(g);
}

static void test_malformed(void) {
    ge_limits limits = wide_limits();
    ir *g = malloc(sizeof *g);
    for (u32 i = 0; i < 10; i++) {
        ir_text(g, "A:aBc B:b");
        ir_list(g, 2, 0, NONE, 0, 3);
        if (i == 1) g->words[0] = 26;                 /* left-hand side out of range */
        if (i == 2) g->words[1] = 1000;               /* length past the end */
        if (i == 3) g->words[2] = 26 * 2;             /* lexeme out of range */
        if (i == 4) g->words[2] = 26 * 2 + 1;         /* nonterminal out of range */
        if (i == 5) g->rules.n_rule_words--;          /* cut */
        if (i == 6) g->rules.start = NONE;
        if (i == 7) g->lists[3] = 4;                  /* minimum over maximum */
        if (i == 8) g->lists[1] = NONE;               /* no item */
        if (i == 9) g->lists[0] = 1;                  /* has rules too */
        budget b;
        gr_grammar gr;
        budget_init(&b, &limits);
        CHECK(gr_compile(&gr, &b, &g->rules, g->flags) == (i == 0));
        CHECK(b.status == (i == 0 ? GE_OK : GE_E_IR));
        gr_drop(&gr, &b);
        CHECK(b.bytes == 0);
    }
    free(g);
}

static void test_nonterminals(void) {
    ge_limits limits = wide_limits();
    ir *g = malloc(sizeof *g);
    budget b;
    gr_grammar gr;
    ep_parser p;
    id_vec out = {0};
    ir_text(g, "A:aBz|aCz B:bbD C:bbDD");
    ir_list(g, 3, 2 * 3, NONE, 2, NONE);
    budget_init(&b, &limits);
    CHECK(gr_compile(&gr, &b, &g->rules, g->flags) && ep_init(&p, &b, &gr, NULL));
    u32 row = ep_start(&p);
    CHECK(ep_row_nonterminals(&p, row, &out) && out.n == 1 && out.at[0] == 0);
    out.n = 0;
    row = goto_mask(&p, goto_mask(&p, row, 1), 2);
    CHECK(ep_row_nonterminals(&p, row, &out) && out.n == 2 && out.at[0] + out.at[1] == 3);
    CHECK(ep_row_nonterminals(&p, row, &out) && out.n == 2);
    out.n = 0;
    row = goto_mask(&p, goto_mask(&p, row, 2), 8);
    CHECK(ep_row_nonterminals(&p, row, &out) && out.n == 1 && out.at[0] == 3); /* both wait for the rest of the list */
    vec_drop(&b, &out);
    ep_drop(&p);
    gr_drop(&gr, &b);
    CHECK(b.bytes == 0);
    free(g);
}

int main(int argc, char **argv) {
    u32 grammars = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 3000;
    u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    test_counts();
    test_lists();
    test_sharing();
    test_malformed();
    test_limits();
    test_nonterminals();
    test_failing(grammars / 20, seed);
    test_random(grammars, seed);
    return harness_result("t_parser");
}
