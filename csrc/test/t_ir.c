/* t_ir: records of expressions: fragments, those that are none, and copies of what was read. */
#include "../grammar/ir.h"
#include "harness.h"

enum { BYTES = 2, SET = 3, CONCAT = 5, INTERSECT = 7, NOT = 8, REPEAT = 9, PATTERN = 10, FRAGMENT = 17 };

/* "ab" c* as a fragment: its data are "abc". */
#define OWN BYTES, 2, 0, 2, BYTES, 2, 2, 1, REPEAT, 3, 1, 0, 0xffffffff, CONCAT, 2, 0, 2
#define OPERANDS 3, 0x00636261, OWN
enum { N_OPERANDS = 19 };

static ge_ir *read(const u32 *words, size_t n, const char *data, ge_status *status) {
    ge_limits limits = wide_limits();
    ge_ir *ir = NULL;
    ge_err err = {0};
    size_t n_done;
    CHECK(ge_ir_new(&limits, &ir, &err) == GE_OK);
    *status = ge_ir_add(ir, words, n, (const u8 *)data, strlen(data), &n_done, &err);
    return ir;
}

static bool matches(ge_ir *ir, u32 expr, const char *text) {
    int32_t answer = -1;
    ge_err err = {0};
    CHECK(ge_ir_matches(ir, expr, (const u8 *)text, strlen(text), &answer, &err) == GE_OK);
    return answer == 1;
}

/* Expression `expr` is "ab" c*. */
static void check_language(ge_ir *ir, u32 expr) {
    CHECK(matches(ir, expr, "ab") && matches(ir, expr, "abc") && matches(ir, expr, "abccc"));
    CHECK(!matches(ir, expr, "") && !matches(ir, expr, "a") && !matches(ir, expr, "abb") && !matches(ir, expr, "xabc"));
}

static const u32 words[] = {
    BYTES, 2, 0, 1, /* 0: "x" */
    FRAGMENT, N_OPERANDS, OPERANDS, /* 1 */
    CONCAT, 2, 0, 1, /* 2: "x" and that */
    FRAGMENT, N_OPERANDS, OPERANDS, /* 3: the same again */
    NOT, 1, 3, /* 4 */
    INTERSECT, 2, 1, 4, /* 5: nothing */
};
enum { N_WORDS = sizeof words / sizeof *words };

static void fragments_are_read(void) {
    ge_status status;
    ge_ir *ir = read(words, N_WORDS, "x", &status);
    ge_err err = {0};
    int32_t empty = 0;
    CHECK(status == GE_OK);
    check_language(ir, 1);
    check_language(ir, 3);
    CHECK(ir->exprs.at[1] == ir->exprs.at[3] && ir->fragment_nodes.n == 1);
    CHECK(matches(ir, 2, "xabc") && !matches(ir, 2, "abc"));
    CHECK(ge_ir_is_empty(ir, 5, &empty, &err) == GE_OK && empty);
    empty = 0;
    CHECK(ge_ir_is_surely_empty(ir, 5, &empty, &err) == GE_OK && empty);
    CHECK(ge_ir_is_surely_empty(ir, 1, &empty, &err) == GE_OK && !empty);
    CHECK(ge_ir_is_surely_empty(ir, 1000, &empty, &err) == GE_E_ARGUMENT);
    ge_ir_free(ir);
}

/* Each is refused, stands for nothing, and does not keep what follows from being read. */
static void forged_fragments(void) {
    static const struct {
        u32 n, operands[24];
    } forged[] = {
        {0, {0}},
        {1, {0}},                                                    /* no records */
        {1, {1}},                                                    /* fewer words than bytes */
        {2, {0xffffffff, 0}},
        {3, {0, BYTES, 0}},                                          /* a record without operands */
        {3, {0, BYTES, 7}},                                          /* one that is cut off */
        {2, {0, BYTES}},
        {6, {3, 0x00636261, BYTES, 2, 2, 2}},                        /* data beyond its own */
        {5, {0, BYTES, 2, 0, 1}},
        {4, {0, NOT, 1, 0}},                                         /* ids of others */
        {8, {3, 0x00636261, BYTES, 2, 0, 1, NOT, 1}},                /* cut off behind a record */
        {9, {3, 0x00636261, BYTES, 2, 0, 1, NOT, 1, 1}},             /* its own id */
        {8, {0, FRAGMENT, 5, 1, 0x61, BYTES, 2, 0}},                 /* cut off, and a fragment */
        {9, {0, FRAGMENT, 6, 1, 0x61, BYTES, 2, 0, 1}},              /* a fragment in a fragment */
        {3, {0, 18, 0}},                                             /* no operator */
    };
    for (u32 i = 0; i < sizeof forged / sizeof *forged; i++) {
        u32 record[32] = {FRAGMENT, forged[i].n}, n_done = 2 + forged[i].n;
        memcpy(record + 2, forged[i].operands, forged[i].n * sizeof *record);
        ge_status status;
        ge_ir *ir = read(record, n_done, "", &status);
        ge_err err = {0};
        size_t done;
        int32_t empty = 0;
        CHECK(status == GE_E_IR);
        CHECK(ir->fragment_nodes.n == 0 && intern_count(&ir->fragments) == 0);
        CHECK(ge_ir_add(ir, words, N_WORDS, (const u8 *)"x", 1, &done, &err) == GE_OK && done == N_WORDS);
        CHECK(ge_ir_is_empty(ir, 0, &empty, &err) == GE_OK && empty);
        check_language(ir, 2); /* ids go up by one */
        ge_ir_free(ir);
    }
}

/* A pattern in a fragment that is none is told as anywhere. */
static void patterns_in_fragments(void) {
    static const u32 good[] = {FRAGMENT, 8, 2, 0x2b61 /* a+ */, PATTERN, 4, 1, 0, 0, 2},
                     bad[] = {FRAGMENT, 8, 2, 0x2b2b, PATTERN, 4, 1, 0, 0, 2};
    ge_status status;
    ge_ir *ir = read(good, 10, "", &status);
    CHECK(status == GE_OK && matches(ir, 0, "aaa") && !matches(ir, 0, "ab"));
    ge_ir_free(ir);
    ir = read(bad, 10, "", &status);
    CHECK(status == GE_E_SYNTAX && ir->exprs.n == 1 && !matches(ir, 0, "a"));
    ge_ir_free(ir);
}

static void copies(void) {
    ge_status status;
    ge_ir *from = read(words, N_WORDS, "x", &status), *copy = NULL, *none = NULL;
    ge_err err = {0};
    size_t n_done;
    u32 n_nodes = intern_count(&from->x.nodes);
    CHECK(ge_ir_copy(from, 1, &copy, &err) == GE_OK);
    CHECK(copy->exprs.n == 1 && copy->fragment_nodes.n == 1);
    CHECK(ge_ir_add(copy, words + 4, 2 + N_OPERANDS, NULL, 0, &n_done, &err) == GE_OK);
    CHECK(copy->exprs.n == 2 && copy->exprs.at[1] == from->exprs.at[1] && intern_count(&copy->x.nodes) == n_nodes); /* it was known */
    check_language(copy, 1);
    CHECK(ge_ir_add(copy, (u32[]){REPEAT, 3, 1, 2, 9}, 5, NULL, 0, &n_done, &err) == GE_OK);
    CHECK(matches(copy, 2, "abcab") && from->exprs.n == 6 && intern_count(&from->x.nodes) == n_nodes);
    CHECK(ge_ir_copy(from, 7, &none, &err) == GE_E_ARGUMENT && !none);
    ge_ir_free(copy);
    check_language(from, 1);
    ge_rules rules = {(u32[]){1, 0}, 1, 0, NULL, 0, NULL, 0, NULL, 0, 0, 0};
    ge_grammar *g = NULL;
    CHECK(ge_grammar_new(from, &rules, &g, &err) == GE_OK);
    CHECK(ge_ir_copy(from, 1, &none, &err) == GE_E_ARGUMENT && !none); /* the grammar has taken them */
    ge_ir_free(from);
    ge_grammar_free(g);
}

/* A copy that would take more than it may is told, and leaves nothing. */
static void copies_without_room(void) {
    ge_status status;
    ge_ir *from = read(words, N_WORDS, "x", &status), *copy = NULL;
    u32 n_failed = 0;
    for (u64 most = 0; !copy; most += 64) {
        ge_err err = {0};
        from->b.limits.max_memory_bytes = most;
        status = ge_ir_copy(from, 1, &copy, &err);
        CHECK(status == (copy ? GE_OK : GE_E_LIMIT));
        n_failed += status != GE_OK;
    }
    CHECK(n_failed > 20);
    from->b.limits = wide_limits();
    check_language(from, 1);
    ge_ir_free(copy);
    ge_ir_free(from);
}

/* The k-th allocation fails: the fragment is not known then, and is read again. */
static void failing_allocations(void) {
    u64 n_failed = 0;
    for (u64 k = 1;; k++) {
        ge_status status;
        ge_ir *ir = read(words, 4, "x", &status);
        ge_err err = {0};
        size_t n_done;
        ir->b.fail_after = k;
        status = ge_ir_add(ir, words + 4, 2 + N_OPERANDS, NULL, 0, &n_done, &err);
        bool ended = ir->b.fail_after != 0;
        ir->b.fail_after = 0;
        CHECK(status == (ended ? GE_OK : GE_E_MEMORY));
        n_failed += !ended;
        if (!ended) CHECK(ge_ir_add(ir, words + 4, 2 + N_OPERANDS, NULL, 0, &n_done, &err) == GE_OK);
        check_language(ir, ir->exprs.n - 1);
        CHECK(ir->fragment_nodes.n == 1 && intern_count(&ir->fragments) == 1);
        ge_ir_free(ir);
        if (ended) break;
    }
    CHECK(n_failed >= 4);
}

int main(void) {
    fragments_are_read();
    forged_fragments();
    patterns_in_fragments();
    copies();
    copies_without_room();
    failing_allocations();
    return harness_result("t_ir");
}
