/* t_threads: many threads over one grammar, one vocabulary and few engines, all cold at first. Each
 * mask must be the one that a single thread computes. `make tsan` runs it under ThreadSanitizer.
 *
 * What runs at once: accepting and masks of cold and of warm states; turns of a decoding loop; batches with threads of their own; eviction
 * (a store of three masks); lexeme-internal masks that go from engine to engine through the vocabulary, whose ceiling changes meanwhile;
 * forks; engines that are made and freed by one thread while others use theirs; statistics; token automata that are given to an engine, or
 * made by it, while others read masks. */
#include <pthread.h>

#include "../dfa/td.h"
#include "../engine/en.h"
#include "harness.h"

enum { N_TOKENS = 400, EOS = 399, WORDS = 13, N_THREADS = 6, N_TEXTS = 6, LENGTH = 24, ROUNDS = 20, N_ENGINES = 5 };

static u8 token_bytes[N_TOKENS * 8];
static u32 token_offsets[N_TOKENS + 1];

/* All bytes, then some words, most of them plain. */
static ge_vocab *make_vocab(void) {
    static const char *const words[] = {"ab",   "a\"",    "\",", "\":", "[\"", "\"]",   "]]", "aaaa", "a,a",
                                        "the ", "x\",\"", "b]",  "\\n", "\\",  "\"a\"", "12", "],["};
    u64 seed = 7;
    u32 n = 0;
    for (u32 i = 0; i < N_TOKENS; i++) {
        token_offsets[i] = n;
        if (i < 256) token_bytes[n++] = (u8)i;
        else if (i != EOS && i < 256 + sizeof words / sizeof *words)
            for (const char *c = words[i - 256]; *c; c++) token_bytes[n++] = (u8)*c;
        else if (i != EOS)
            for (u32 k = random_below(&seed, 6) + 1; k; k--) token_bytes[n++] = (u8)('a' + random_below(&seed, 6));
    }
    token_offsets[N_TOKENS] = n;
    ge_vocab *v = NULL;
    ge_err err = {0};
    CHECK(ge_vocab_new(token_bytes, token_offsets, N_TOKENS, N_TOKENS + 5, (u32[]){EOS}, 1, &v, &err) == GE_OK);
    return v;
}

/* value: string | number | "[" list of values "]". Strings take nearly every token, which is
 * what lexeme-internal masks are for. Flat: a list of strings and numbers, which is regular. */
static ge_grammar *make_grammar(const ge_limits *limits, bool flat) {
    static const u8 data[] = "[],\"(?:[^\"\\\\\\x00-\\x1f]|\\\\[nt\"])*\"[0-9]{1,4}";
    enum { STRING_AT = 3, NUMBER = 10 };
    u32 n_data = sizeof data - 1, string_length = n_data - STRING_AT - NUMBER;
    const u32 words[] = {
        2, 2, 0, 1, 2, 2, 1, 1, 2, 2, 2, 1,               /* 0 "["   1 "]"   2 "," */
        10, 4, 1, 0, STRING_AT, string_length,            /* 3: string */
        10, 4, 1, 0, STRING_AT + string_length, NUMBER,   /* 4: number */
    };
    static const u32 lexemes[] = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0};
    enum { OPEN = 0, CLOSE = 2, COMMA = 4, STRING = 6, DIGITS = 8, VALUE = 1, LIST = 3, ITEM = 5 };
    static const u32 rules[] = {0, 3, OPEN, LIST, CLOSE, 0, 1, STRING, 0, 1, DIGITS};
    static const u32 flat_rules[] = {0, 3, OPEN, LIST, CLOSE, 2, 1, STRING, 2, 1, DIGITS};
    const u32 lists[] = {1, flat ? ITEM : VALUE, COMMA, 0, 5};
    ge_ir *ir = NULL;
    ge_grammar *g = NULL;
    ge_err err = {0};
    size_t n_done;
    CHECK(ge_ir_new(limits, &ir, &err) == GE_OK);
    ge_rules r = {lexemes, 5, flat ? 3 : 2, flat ? flat_rules : rules, sizeof rules / sizeof *rules, lists, 1, NULL, 0, VALUE, 0};
    CHECK(ge_ir_add(ir, words, sizeof words / sizeof *words, data, n_data, &n_done, &err) == GE_OK);
    CHECK(ge_grammar_new(ir, &r, &g, &err) == GE_OK);
    ge_ir_free(ir);
    return g;
}

static u32 text_token[N_TEXTS][LENGTH];
static u32 text_length[N_TEXTS];
static u32 reference[N_TEXTS][LENGTH + 1][WORDS];

/* Random texts that begin with some brackets, and their masks by one thread without caches. */
static void make_reference(ge_grammar *g, ge_vocab *v, u32 n_open) {
    ge_engine *e = NULL;
    ge_err err = {0};
    u64 seed = 11;
    CHECK(ge_engine_new(g, v, GE_NO_MASK_CACHE | GE_NO_INNER_MASKS | GE_NO_SHARED_INNER | GE_NO_SLICES, &e, &err) == GE_OK);
    for (u32 t = 0; t < N_TEXTS; t++) {
        ge_matcher *m = NULL;
        CHECK(ge_matcher_new(e, &m, &err) == GE_OK);
        for (u32 i = 0;; i++) {
            CHECK(ge_matcher_fill_mask(m, reference[t][i], 0, WORDS, &err) >= 0);
            if (i == LENGTH) break;
            u32 token = i < n_open               ? '['
                        : random_below(&seed, 3) ? (u8) "\"\",,[]0"[random_below(&seed, 7)]
                                                 : random_below(&seed, N_TOKENS);
            while (!(reference[t][i][token >> 5] >> (token & 31) & 1)) token = (token + 1) % N_TOKENS;
            CHECK(ge_matcher_accept_token(m, token, &err) == 1);
            text_token[t][text_length[t]++] = token;
        }
        ge_matcher_free(m);
    }
    ge_engine_free(e);
}

/* All texts in all engines side by side, step by step in one batch; some
 * matchers get a token that is none, or none at all. Returns what was wrong. */
static u32 walk_together(ge_engine *const *engines, u32 n_threads) {
    enum { N = N_ENGINES * N_TEXTS };
    static u32 masks[N][WORDS], before[N][WORDS];
    ge_matcher *matchers[N];
    int64_t tokens[N];
    u32 rows[N], wrong = 0;
    bool accepted[N], needed[N], changed[N], failed[N];
    ge_err err = {0};
    ge_batch batch = {matchers, NULL, rows, N, masks[0], WORDS, n_threads, accepted, needed, changed, failed};
    for (u32 i = 0; i < N; i++) {
        CHECK(ge_matcher_new(engines[i % N_ENGINES], &matchers[i], &err) == GE_OK);
        rows[i] = N - 1 - i;
    }
    for (u32 step = 0; step <= LENGTH; step++) {
        for (u32 i = 0; step && i < N; i++)
            tokens[i] = i % 7 == 6 ? INT64_MIN : i % 7 == 5 ? -1 : (int64_t)text_token[i / N_ENGINES][step - 1];
        batch.tokens = step ? tokens : NULL;
        memcpy(before, masks, sizeof before);
        wrong += ge_batch_run(&batch) != 0;
        for (u32 i = 0; i < N; i++) {
            bool moves = step && i % 7 < 5;
            wrong += accepted[i] != moves || !needed[i] || (changed[i] && step && !moves);
            wrong += !changed[i] && memcmp(masks[rows[i]], before[rows[i]], sizeof masks[0]) != 0;
            wrong += memcmp(masks[rows[i]], reference[i / N_ENGINES][i % 7 < 5 ? step : 0], sizeof masks[0]) != 0;
        }
    }
    for (u32 i = 0; i < N; i++) ge_matcher_free(matchers[i]);
    return wrong;
}

typedef struct job {
    ge_grammar *g;
    ge_vocab *v;
    ge_engine *shared;
    ge_dfa *table; /* or NULL */
    u32 number;
    u32 wrong;
} job;

/* Walks one text, forking now and then. Returns the number of wrong masks. */
static u32 walk(ge_engine *e, u32 t, u64 *seed) {
    ge_err err = {0};
    ge_matcher *m = NULL, *twin;
    u32 mask[2][WORDS], wrong = 0;
    size_t done;
    if (ge_matcher_new(e, &m, &err) != GE_OK) return 1;
    for (u32 i = 0; i <= text_length[t]; i++) {
        if (ge_matcher_fill_mask(m, mask[0], 0, WORDS, &err) < 0) wrong++;
        wrong += memcmp(mask[0], reference[t][i], sizeof mask[0]) != 0;
        if (i == text_length[t]) break;
        int64_t token = text_token[t][i];
        if (random_below(seed, 4) == 0 && ge_matcher_fork(m, &twin, &err) == GE_OK) {
            wrong += ge_matcher_accept(twin, &token, 1, 1, &done, &err) != GE_OK || !done;
            ge_matcher *both[2] = {twin, m};
            bool out[4][2];
            wrong += ge_batch_run(&(ge_batch){both, NULL, (u32[]){0, 1}, 2, mask[0], WORDS, 2, out[0], out[1], out[2], out[3]}) != 0;
            wrong += memcmp(mask[0], reference[t][i + 1], sizeof mask[0]) != 0 || memcmp(mask[1], reference[t][i], sizeof mask[0]) != 0;
            ge_matcher_free(twin);
        }
        wrong += ge_matcher_accept(m, &token, 1, 1, &done, &err) != GE_OK || !done;
        if (random_below(seed, 5) == 0) {
            wrong += ge_matcher_rollback(m, 1, &err) != GE_OK;
            wrong += ge_matcher_accept(m, &token, 1, 1, &done, &err) != GE_OK || !done;
            wrong += ge_matcher_flags(m, &err) < 0;
            u8 forced[16];
            wrong += ge_matcher_forced_bytes(m, forced, sizeof forced, &done, &err) != GE_OK;
        }
    }
    ge_matcher_free(m);
    return wrong;
}

/* The same text in turns, with the least that completes it asked for after each token. */
static u32 walk_in_turns(ge_engine *e, u32 t) {
    ge_err err = {0};
    ge_matcher *m = NULL;
    u32 mask[WORDS], wrong = 0;
    ge_turn turn = {.mask = mask, .left = 1000, .must_close = true};
    if (ge_matcher_new(e, &m, &err) != GE_OK) return 1;
    for (u32 i = 0; i < text_length[t]; i++) {
        int64_t token = text_token[t][i];
        wrong += ge_matcher_turn(m, &turn, &token, 1, &err) == GE_TURN_NONE;
        wrong += memcmp(mask, reference[t][i + 1], sizeof mask) != 0;
    }
    ge_matcher_free(m);
    return wrong;
}

static void *work(void *argument) {
    job *j = argument;
    u64 seed = j->number;
    ge_stats stats;
    for (u32 round = 0; round < ROUNDS; round++) {
        j->wrong += walk(j->shared, (j->number + round) % N_TEXTS, &seed);
        j->wrong += walk_in_turns(j->shared, (j->number + round) % N_TEXTS);
        if (j->number == 1) ge_vocab_bound(j->v, round % 2 ? (size_t)1 << 12 : (size_t)1 << 26);
        if (j->table && round == j->number) ge_engine_use(j->shared, j->table);
        ge_engine_stats(j->shared, &stats);
        (void)ge_engine_is_full(j->shared);
        (void)ge_vocab_bytes(j->v);
        if (j->number % 3 == 0) { /* an engine of its own, over the same vocabulary */
            ge_engine *e = NULL;
            ge_err err = {0};
            if (ge_engine_new(j->g, j->v, 0, &e, &err) == GE_OK) j->wrong += walk(e, round % N_TEXTS, &seed);
            else j->wrong++;
            ge_engine_free(e);
        }
    }
    return NULL;
}

/* One cold engine, N_THREADS threads. Returns what the engine has done. */
static ge_stats race(ge_grammar *g, ge_vocab *v, u32 switches, ge_dfa *table) {
    job jobs[N_THREADS];
    pthread_t threads[N_THREADS];
    ge_engine *e = NULL;
    ge_err err = {0};
    ge_stats stats;
    CHECK(ge_engine_new(g, v, switches, &e, &err) == GE_OK);
    for (u32 i = 0; i < N_THREADS; i++) {
        jobs[i] = (job){.g = g, .v = v, .shared = e, .table = table, .number = i};
        CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
    }
    for (u32 i = 0; i < N_THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(jobs[i].wrong == 0);
    }
    ge_engine_stats(e, &stats);
    CHECK(stats.mask_bytes == stats.masks * WORDS * sizeof(u32) || stats.mask_evictions > 0);
    ge_engine_free(e);
    return stats;
}

/* Masks from token automata: one that all threads give to the engine, and one that it makes by itself when many matchers have been made. */
static void race_of_tables(ge_grammar *g, ge_vocab *v) {
    enum { SLOW = GE_NO_INNER_MASKS | GE_NO_SLICES | GE_NO_HEIRS | GE_NO_OUTLINES };
    ge_plan *plan = NULL;
    ge_dfa *table = NULL;
    ge_err err = {0};
    CHECK(ge_plan_new(g, v, 1000, false, &plan, &err) == GE_OK && ge_dfa_new(plan, NULL, NULL, 2, &table, &err) == GE_OK);
    for (u32 i = 0; i < 4; i++) {
        CHECK(race(g, v, GE_NO_TABLE, table).tables == 0);
        CHECK(race(g, v, 0, NULL).tables == 1 && race(g, v, SLOW, NULL).tables == 1);
        (void)race(g, v, SLOW, table);
    }
    ge_dfa_free(table);
    ge_plan_free(plan);
}

/* Cold engines, and batches of several threads. */
static void race_of_batches(ge_grammar *g, ge_vocab *v, u32 switches) {
    ge_engine *engines[N_ENGINES];
    ge_err err = {0};
    for (u32 n_threads = 0; n_threads < 8; n_threads += n_threads + 1) {
        for (u32 i = 0; i < N_ENGINES; i++) CHECK(ge_engine_new(g, v, switches, &engines[i], &err) == GE_OK);
        CHECK(walk_together(engines, n_threads) == 0); /* cold, then warm */
        CHECK(walk_together(engines, n_threads) == 0);
        for (u32 i = 0; i < N_ENGINES; i++) ge_engine_free(engines[i]);
    }
}

int main(void) {
    u32 total = 0;
    for (u32 tight = 0; tight < 2; tight++) {
        ge_limits limits = wide_limits();
        if (tight) limits.max_mask_bytes = 3 * WORDS * sizeof(u32); /* eviction at every step */
        ge_vocab *v = make_vocab();
        ge_grammar *g = make_grammar(&limits, false), *flat = make_grammar(&limits, true);
        memset(text_length, 0, sizeof text_length);
        make_reference(g, v, 2);
        for (u32 t = 0; t < N_TEXTS; t++) total += text_length[t];
        for (u32 i = 0; i < 4; i++) race(g, v, 0, NULL);
        race(g, v, GE_NO_MASK_CACHE, NULL);
        race(g, v, GE_NO_SHARED_INNER | GE_NO_SLICES, NULL);
        race(g, v, GE_NO_GOTO_CACHE | GE_NO_STATE_CACHE, NULL);
        race_of_batches(g, v, 0);
        race_of_batches(g, v, GE_NO_SHARED_INNER | GE_NO_SLICES);
        memset(text_length, 0, sizeof text_length);
        make_reference(flat, v, 1);
        race_of_tables(flat, v);
        ge_grammar_free(flat);
        ge_grammar_free(g);
        ge_vocab_free(v);
    }
    CHECK(total == 2 * N_TEXTS * LENGTH);
    return harness_result("t_threads");
}
