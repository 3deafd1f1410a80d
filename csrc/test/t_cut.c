/* t_cut: cut rows (parser/ep_cut.c): which rows share one, what comes after them, and what is left when making them fails.
 *
 * A *view* (rows.h) reads a text over cut rows, beside a parser that reads it over the rows themselves. (t_parser.c has random
 * grammars.) */
#include "rows.h"

/* The grammars, in the manner of programming languages, and sentences of each. */
typedef struct sample {
    const char *rules, *texts[4];
} sample;

static const sample samples[] = {
    {"E:EpT|T T:TmF|F F:oEc|uF|n", {"npnmn", "onpoonmuuncpncc", "uuoonccpoonpncmnc", "ooooncccc"}},
    {"E:EpE|oEc|n", {"npnpn", "onponpncpnc", "oooncpncpnc", "onc"}},
    {"S:E|xEy E:nA|uE A:|pE|oLc L:E|EkL", {"xnonknpncy", "nounknouncc", "xnouunknpnonccy", "xuuny"}}, /* tails that may be empty */
    {"S:StU|U U:EyS|E E:EpE|uE|oLc|n L:EkL|E|", {"npnynpoctn", "uoonkncknc", "oocknctunyn", "onknkocc"}},
    {"S:Cx|nCy C:nD D:nD|c", {"nnncx", "nncy", "nncx", "nnnncy"}}, /* one stub for two points */
    {"S:aAzB|bBzA A:EpA|E B:EmB|E E:oAc|sBd|n", {"anpnznmn", "bosnmndcznpn", "aosnmndpncznmsnd", "bsoncdzonpnc"}},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

typedef struct fixture {
    ir g;
    ge_limits limits;
    budget b;
    gr_grammar gr;
    ep_parser p;
} fixture;

static void set_up_rules(fixture *f, const char *rules, const ge_limits *limits) {
    f->limits = *limits;
    ir_text(&f->g, rules);
    budget_init(&f->b, &f->limits);
    CHECK(gr_compile(&f->gr, &f->b, &f->g.rules, f->g.flags) && ep_init(&f->p, &f->b, &f->gr, NULL));
}

static void tear_down(fixture *f) {
    check_valid(&f->p);
    ep_drop(&f->p);
    gr_drop(&f->gr, &f->b);
    CHECK(f->b.bytes == 0);
}

static u32 bit_of(char c) { return 1u << (c - 'a'); }

static u32 row_after(fixture *f, const char *text) {
    u32 row = ep_start(&f->p);
    for (; *text && row != NONE; text++) row = row_mask(&f->p, row) & bit_of(*text) ? goto_mask(&f->p, row, bit_of(*text)) : NONE;
    CHECK(row != NONE);
    return row;
}

/* Rows share a cut one if they differ only in their return points. */
static void test_shared(void) {
    static const struct {
        const char *rules, *one, *other;
        bool shared;
    } cases[] = {
        {"E:EpT|T T:TmF|F F:oEc|uF|n", "o", "onpo", true},
        {"E:EpT|T T:TmF|F F:oEc|uF|n", "np", "onp", true},
        {"E:EpT|T T:TmF|F F:oEc|uF|n", "np", "nm", false}, /* behind p a product, behind m a factor */
        {"S:aEx|bEy E:n|oEc", "a", "b", false},            /* behind the expression comes x, or y */
        {"S:aEx|bEy E:n|oEc", "ao", "bo", true},
        {"S:aEx|bEy E:nPc P:p", "an", "bn", true},
    };
    ge_limits limits = wide_limits();
    for (u32 i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = malloc(sizeof *f);
        set_up_rules(f, cases[i].rules, &limits);
        u32 one = row_after(f, cases[i].one), other = row_after(f, cases[i].other), cut = ep_cut(&f->p, one, 0);
        CHECK(one != other && cut != one && cut != other);
        CHECK((cut == ep_cut(&f->p, other, 0)) == cases[i].shared);
        CHECK(ep_cut(&f->p, one, 0) == cut && ep_cut(&f->p, one, 1) != cut);
        CHECK(row_mask(&f->p, cut) == row_mask(&f->p, one) && !ep_row_accepts(&f->p, cut) && !ep_row_leaves(&f->p, cut));
        tear_down(f);
        free(f);
    }
}

/* Where something may return at once, or nothing may come, a row is its own
 * cut row; and where more stubs would have to be told apart than there are. */
static void test_not_cut(void) {
    static const char *const cases[][2] = {{"S:aEx E:nA A:pE|", "an"}, {"S:ab", "ab"}};
    ge_limits limits = wide_limits();
    fixture *f = malloc(sizeof *f);
    for (u32 i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_up_rules(f, cases[i][0], &limits);
        u32 row = row_after(f, cases[i][1]);
        CHECK(ep_cut(&f->p, row, 0) == row && f->p.n_cut_rows == 0);
        tear_down(f);
    }
    for (u32 n = EP_STUBS; n <= EP_STUBS + 1; n++) { /* S:aAb|aBc|...  A:yz  B:yz  ... : behind a y as many points */
        char rules[400], *end = rules + sprintf(rules, "Z:");
        for (u32 i = 0; i < n; i++) end += sprintf(end, "a%c%c%s", 'A' + i, 'b' + i, i + 1 < n ? "|" : "");
        for (u32 i = 0; i < n; i++) end += sprintf(end, " %c:yz", 'A' + i);
        set_up_rules(f, rules, &limits);
        u32 row = row_after(f, "ay");
        CHECK((ep_cut(&f->p, row, 0) != row) == (n == EP_STUBS));
        tear_down(f);
    }
    free(f);
}

/* As long as nothing returns, what comes after a cut row is what comes after the row, but for return points. */
static void test_steps(void) {
    ge_limits limits = wide_limits();
    u32 compared = 0;
    fixture *f = malloc(sizeof *f);
    for (u32 i = 0; i < 4 * N_SAMPLES; i++) {
        const char *text = samples[i / 4].texts[i % 4];
        set_up_rules(f, samples[i / 4].rules, &limits);
        u32 row = ep_start(&f->p);
        for (; *text; text++) {
            u32 cut = ep_cut(&f->p, row, 0), to = goto_mask(&f->p, row, bit_of(*text));
            if (cut != row) {
                u32 after = goto_mask(&f->p, cut, bit_of(*text)), both = ep_cut(&f->p, to, 1);
                CHECK(after != NONE && !ep_row_accepts(&f->p, after));
                if (!ep_row_leaves(&f->p, after) && both != to) CHECK(ep_cut(&f->p, after, 1) == both && ++compared);
            }
            row = to;
        }
        CHECK(ep_row_accepts(&f->p, row));
        tear_down(f);
    }
    free(f);
    CHECK(compared >= 100);
    printf("rows after cut rows: %u compared\n", compared);
}

/* What each row of a text allows, as lexemes, and in bit 31 whether it accepts. */
static void read_whole(const sample *of, const char *text, u32 *masks) {
    ge_limits limits = wide_limits();
    fixture *f = malloc(sizeof *f);
    set_up_rules(f, of->rules, &limits);
    u32 row = ep_start(&f->p);
    for (u32 i = 0;; i++) {
        masks[i] = row_mask(&f->p, row) | (u32)ep_row_accepts(&f->p, row) << 31;
        if (!text[i]) break;
        row = goto_mask(&f->p, row, bit_of(text[i]));
    }
    tear_down(f);
    free(f);
}

/* Does a step of the view, which may fail; then the parser is as it should be, and goes on without failures. */
#define TRY(f, step)                                   \
    do {                                               \
        if (step) break;                               \
        CHECK((f)->b.status != GE_OK), failed++;       \
        check_valid(&(f)->p);                          \
        (f)->b.limits.max_step_work = (u64)1 << 60;    \
        (f)->b.fail_after = 0;                         \
        budget_begin(&(f)->b);                         \
        CHECK(step);                                   \
    } while (0)

/* Reads a text by a view, cut wherever it may be from `from` on: everywhere
 * the same may come as in the rows. Returns how many steps failed. */
static u32 read_view(fixture *f, const char *text, u32 from, const u32 *masks) {
    u32 failed = 0, cuts = 0;
    cut_view v = {NONE, {NONE, NONE}};
    TRY(f, (v.row = ep_start(&f->p)) != NONE);
    for (u32 i = 0;; i++) {
        CHECK(row_mask(&f->p, v.row) == (masks[i] & ~(1u << 31)) && !ep_row_leaves(&f->p, v.row));
        if (v.bases[0] == NONE || !text[i]) CHECK(ep_row_accepts(&f->p, v.row) == masks[i] >> 31);
        if (!text[i]) break;
        if (i >= from) TRY(f, view_cut(&f->p, &v));
        if (i == from) cuts = v.bases[0] != NONE;
        TRY(f, view_step(&f->p, &v, bit_of(text[i])));
    }
    CHECK(!cuts || (v.bases[0] != NONE && f->p.n_cut_rows));
    return failed;
}

/* From each place on; by one parser, whose cut rows are of all places. */
static void test_resumed(void) {
    ge_limits limits = wide_limits();
    u32 masks[64];
    fixture *f = malloc(sizeof *f);
    for (u32 i = 0; i < N_SAMPLES; i++) {
        set_up_rules(f, samples[i].rules, &limits);
        for (u32 round = 0; round < 2 * 4; round++) {
            const char *text = samples[i].texts[round % 4];
            read_whole(&samples[i], text, masks);
            for (u32 from = 0; text[from]; from++) CHECK(read_view(f, text, from, masks) == 0);
        }
        CHECK(f->p.n_cut_rows > 0 && f->p.resumed.n > 0);
        tear_down(f);
    }
    free(f);
}

/* Each allocation fails in turn, and each amount of work is too much. */
static void test_failing(void) {
    ge_limits limits = wide_limits();
    u32 masks[64], failures = 0;
    fixture *f = malloc(sizeof *f);
    for (u32 i = 0; i < 4 * N_SAMPLES; i++) {
        const sample *of = &samples[i / 4];
        const char *text = of->texts[i % 4];
        read_whole(of, text, masks);
        for (u32 kind = 0; kind < 2; kind++) {
            u32 failed = 1;
            for (u32 k = 1; failed; k++) {
                set_up_rules(f, of->rules, &limits);
                CHECK(ep_start(&f->p) != NONE);
                budget_begin(&f->b);
                if (kind == 0) f->b.fail_after = k;
                else f->b.limits.max_step_work = k;
                failed = read_view(f, text, 0, masks);
                failures += failed;
                f->b.fail_after = 0;
                f->b.limits = limits;
                CHECK(read_view(f, text, 1, masks) == 0);
                tear_down(f);
            }
        }
    }
    free(f);
    CHECK(failures > 1000);
    printf("failing steps over cut rows: %u\n", failures);
}

/* Reads a text under a limit of rows, by rows and, if `cuts`, beside them by views from each place on. */
static bool read_within(fixture *f, const sample *of, const char *text, u64 max_rows, bool cuts, const u32 *masks) {
    ge_limits limits = wide_limits();
    limits.max_rows = max_rows;
    set_up_rules(f, of->rules, &limits);
    u32 row = ep_start(&f->p);
    for (u32 i = 0; row != NONE && text[i]; i++) {
        if (cuts) CHECK(read_view(f, text, i, masks) == 0);
        row = goto_mask(&f->p, row, bit_of(text[i]));
    }
    bool done = row != NONE;
    CHECK(done || (f->b.status == GE_E_LIMIT && f->b.limit == LIMIT(max_rows)));
    CHECK(f->p.n_cut_rows <= max_rows + strlen(text) * EP_CUTS);
    tear_down(f);
    return done;
}

/* Cut rows never make a text fail that has few enough rows. */
static void test_max_rows(void) {
    u32 masks[64];
    fixture *f = malloc(sizeof *f);
    for (u32 i = 0; i < 4 * N_SAMPLES; i++) {
        const sample *of = &samples[i / 4];
        const char *text = of->texts[i % 4];
        u64 least = 1;
        read_whole(of, text, masks);
        while (!read_within(f, of, text, least, false, masks)) least++;
        CHECK(least >= 3 && read_within(f, of, text, least, true, masks));
    }
    free(f);
}

int main(void) {
    test_shared();
    test_not_cut();
    test_steps();
    test_resumed();
    test_failing();
    test_max_rows();
    return harness_result("t_cut");
}
