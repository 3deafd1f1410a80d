/* t_dfa: minimisation and folds against their definitions; the store of folds; token automata against matchers, and made with and without
 * the short cut where each byte is a token; every allocation failing in turn; files: what is read back is what was written, and no file,
 * whatever it holds, leads out of its tables. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "../base/file.h"
#include "../dfa/td.h"
#include "harness.h"

/* --- minimisation ------------------------------------------------------------------------------------------------------------- */

enum { MAX_STATES = 14, MAX_LABELS = 4 };

typedef struct small {
    u32 n_states, n_labels, n;
    bool accepts[MAX_STATES];
    u32 next[MAX_STATES][MAX_LABELS]; /* or NONE */
    mn_transition all[MAX_STATES * MAX_LABELS];
} small;

static void make_small(small *a, u64 *seed) {
    u32 density = random_below(seed, 4);
    *a = (small){.n_states = random_below(seed, MAX_STATES) + 1, .n_labels = random_below(seed, MAX_LABELS) + 1};
    u32 targets = random_below(seed, a->n_states) + 1; /* few: many states are alike */
    for (u32 s = 0; s < a->n_states; s++) {
        a->accepts[s] = random_below(seed, 3) == 0;
        for (u32 k = 0; k < a->n_labels; k++) {
            a->next[s][k] = random_below(seed, 4) > density ? NONE : random_below(seed, targets);
            if (a->next[s][k] != NONE) a->all[a->n++] = (mn_transition){s, k, a->next[s][k]};
        }
    }
    for (u32 i = a->n; i > 1; i--) { /* in any order */
        u32 k = random_below(seed, i);
        mn_transition swap = a->all[k];
        a->all[k] = a->all[i - 1];
        a->all[i - 1] = swap;
    }
}

/* differ[s][t]: some string is read from one of the states and not from the other, or to a sentence from one of them only. */
static void tell_apart(const small *a, bool differ[MAX_STATES][MAX_STATES]) {
    bool more = true;
    for (u32 s = 0; s < a->n_states; s++)
        for (u32 t = 0; t < a->n_states; t++) differ[s][t] = a->accepts[s] != a->accepts[t];
    while (more) {
        more = false;
        for (u32 s = 0; s < a->n_states; s++)
            for (u32 t = 0; t < a->n_states; t++)
                for (u32 k = 0; !differ[s][t] && k < a->n_labels; k++) {
                    u32 p = a->next[s][k], q = a->next[t][k];
                    if (p == q || (p != NONE && q != NONE && !differ[p][q])) continue;
                    differ[s][t] = more = true;
                }
    }
}

static void test_minimise(void) {
    u64 seed = 11;
    for (u32 round = 0; round < 3000; round++) {
        small a;
        bool differ[MAX_STATES][MAX_STATES];
        u32 block[MAX_STATES], n_blocks = 0;
        ge_limits limits = wide_limits();
        budget b;
        make_small(&a, &seed);
        tell_apart(&a, differ);
        budget_init(&b, &limits);
        CHECK(mn_minimise(&b, a.all, a.n, a.n_labels, a.accepts, a.n_states, block, &n_blocks));
        bool seen[MAX_STATES] = {false};
        u32 n_seen = 0;
        for (u32 s = 0; s < a.n_states; s++) {
            for (u32 t = 0; t < a.n_states; t++) CHECK((block[s] == block[t]) == !differ[s][t]);
            CHECK(block[s] < n_blocks);
            if (!seen[block[s]]) seen[block[s]] = true, n_seen++;
        }
        CHECK(n_seen == n_blocks && b.bytes == 0);
        for (u32 k = 1; round < 50; k++) { /* allocation k fails */
            budget_init(&b, &limits);
            b.fail_after = k;
            bool ok = mn_minimise(&b, a.all, a.n, a.n_labels, a.accepts, a.n_states, block, &n_blocks);
            CHECK(b.bytes == 0 && ok == (b.status == GE_OK));
            if (ok) break;
        }
    }
}

/* --- folds ---------------------------------------------------------------------------------------------------------------------- */

enum { MAX_TOKENS = 400, MAX_BYTES = 8 };

typedef struct words {
    u32 n;
    u8 text[MAX_TOKENS * MAX_BYTES];
    u32 offsets[MAX_TOKENS + 1];
} words;

static void make_words(words *w, u64 *seed, u32 n, const char *letters) {
    u32 end = 0, n_letters = (u32)strlen(letters);
    w->n = n;
    for (u32 i = 0; i < n; i++) {
        w->offsets[i] = end;
        u32 length = i < n_letters ? 1 : random_below(seed, MAX_BYTES);
        for (u32 k = 0; k < length; k++) w->text[end++] = (u8)letters[i < n_letters ? i : random_below(seed, n_letters)];
    }
    w->offsets[n] = end;
}

/* The first child of a node, and behind the last one that of the next. */
static u32 first_of(const fd_fold *f, u32 node) {
    u32 child = 1;
    for (u32 i = 0; i < node; i++) child += fd_n_children(f, i);
    return child;
}

/* Follows the classes of a token; NONE: it holds a byte without one, or nothing. */
static u32 node_of(const fd_fold *f, const words *w, u32 token) {
    u32 node = 0;
    for (u32 i = w->offsets[token]; i < w->offsets[token + 1]; i++) {
        u32 k = f->class_of[w->text[i]], child = first_of(f, node), end = child + fd_n_children(f, node);
        while (child < end && f->class.at[child] != k) child++;
        if (k == FD_NO_CLASS) return NONE;
        CHECK(child < end);
        if (child == end) return NONE;
        node = child;
    }
    return node ? node : NONE;
}

/* However the children of the root are cut into groups, each level of a group begins where that of the group before it ends. */
static void check_levels(const fd_fold *f) {
    u32 n = fd_n_children(f, 0);
    for (u32 cut = 0; cut <= n; cut++) {
        fd_level left = fd_first_level(f, 0, cut), right = fd_first_level(f, cut, n);
        while (left.begin < left.end) {
            CHECK(left.begin == right.begin && left.end == right.end && left.from == left.begin && left.to == right.from &&
                  right.to == right.end);
            CHECK(left.from == left.to || fd_next_level(f, left).from == first_of(f, left.from));
            left = fd_next_level(f, left);
            right = fd_next_level(f, right);
        }
        CHECK(left.end == f->class.n);
    }
}

static void check_fold(const fd_fold *f, const words *w) {
    u32 n_ends = 0;
    fd_cursor at = {0};
    static bool ends[MAX_TOKENS * MAX_BYTES];
    memset(ends, 0, sizeof ends);
    for (u32 token = 0; token < w->n; token++) {
        u32 node = node_of(f, w, token);
        if (node == NONE) continue;
        CHECK(fd_next_token(f, &at) == token && at.node == node && fd_ends(f, node));
        n_ends += !ends[node];
        ends[node] = true;
    }
    CHECK(fd_next_token(f, &at) == NONE && f->n_tokens == at.n_tokens); /* so there are no others */
    for (u32 node = 0, from = 1; node < f->class.n; node++) {
        u32 to = from + fd_n_children(f, node);
        CHECK(from > node && from <= to && to <= f->class.n);
        for (u32 child = from + 1; child < to; child++)
            for (u32 other = from; other < child; other++) CHECK(f->class.at[other] != f->class.at[child]);
        n_ends -= fd_ends(f, node);
        from = to;
    }
    CHECK(n_ends == 0);
    check_levels(f);
}

static void test_fold(void) {
    static words w;
    static tt_item items[MAX_TOKENS];
    char many[256];
    u64 seed = 12;
    u32 n_many = 0; /* folds whose root has more children than a byte can tell */
    for (u32 i = 0; i < 255; i++) many[i] = (char)(i + 1);
    many[255] = 0;
    for (u32 round = 0; round < 200; round++) {
        bool is_wide = round % 4 == 0; /* nearly each byte has a class of its own */
        u16 class_of[256];
        ge_limits limits = wide_limits();
        budget b;
        tt_trie trie;
        u32 n_classes = random_below(&seed, 4) + 1;
        make_words(&w, &seed, random_below(&seed, MAX_TOKENS - 8) + 8, is_wide ? many : "abcdefgh");
        for (u32 i = 0; i < w.n; i++) items[i] = (tt_item){w.text + w.offsets[i], w.offsets[i + 1] - w.offsets[i], i};
        for (u32 byte = 0; byte < 256; byte++)
            class_of[byte] = random_below(&seed, 6) ? (u16)(is_wide ? byte : random_below(&seed, n_classes)) : FD_NO_CLASS;
        budget_init(&b, &limits);
        CHECK(tt_build(&trie, &b, items, w.n));
        size_t held = b.bytes;
        for (u32 k = round < 20 ? 1 : 0;; k++) { /* allocation k fails */
            fd_fold f;
            budget_begin(&b);
            b.fail_after = k;
            bool ok = fd_build(&f, &b, &trie, w.n, class_of);
            CHECK(ok == (b.status == GE_OK));
            n_many += ok && f.many.n;
            if (ok) check_fold(&f, &w), fd_drop(&f, &b);
            CHECK(b.bytes == held);
            if (ok) break;
        }
        b.fail_after = 0;
        tt_drop(&trie, &b);
    }
    CHECK(n_many > 10);
}

/* A class for each letter, but that two of them are one: which, a number below 2 * n_letters - 4 tells. */
static void join_two(u16 class_of[256], u32 n_letters, u32 pair) {
    u32 gone = n_letters - 1 - pair % 2, kept = pair / 2;
    for (u32 byte = 0; byte < 256; byte++) class_of[byte] = FD_NO_CLASS;
    for (u32 i = 0; i < n_letters; i++) class_of['A' + i] = (u16)(i == gone ? kept : i - (i > gone));
}

static bool is_kept(const ge_vocab *v, const u16 class_of[256]) {
    for (u32 i = 0; i < v->folds.n; i++)
        if (memcmp(v->folds.at[i]->class_of, class_of, sizeof v->folds.at[i]->class_of) == 0) return true;
    return false;
}

/* The folds of a vocabulary stay below their ceiling: the least recently used go, but none that somebody reads. */
static void test_kept_folds(void) {
    enum { LETTERS = 48, LENGTH = 3, N = LETTERS * LETTERS * LETTERS, N_FOLDS = 90 };
    static u8 text[N * LENGTH];
    static u32 offsets[N + 1];
    static const fd_fold *held[N_FOLDS];
    u16 class_of[256];
    ge_vocab *v = NULL;
    ge_err err = {0};
    for (u32 i = 0; i < N; i++) {
        for (u32 k = 0, rest = i; k < LENGTH; k++, rest /= LETTERS) text[LENGTH * i + k] = (u8)('A' + rest % LETTERS);
        offsets[i + 1] = LENGTH * (i + 1);
    }
    CHECK(ge_vocab_new(text, offsets, N, N, NULL, 0, &v, &err) == GE_OK);
    size_t held_before = v->b.bytes;
    join_two(class_of, LETTERS, 0);
    held[0] = vb_fold(v, class_of);
    for (u32 i = 1; i < N_FOLDS; i++) {
        join_two(class_of, LETTERS, i);
        const fd_fold *f = vb_fold(v, class_of);
        CHECK(f && f->n_tokens == N && v->fold_bytes <= VB_FOLD_BYTES);
        vb_fold_release(v, f);
    }
    CHECK(v->folds.n > 2 && v->folds.n < N_FOLDS);
    CHECK(is_kept(v, class_of)); /* the last one */
    join_two(class_of, LETTERS, 1);
    CHECK(!is_kept(v, class_of));
    join_two(class_of, LETTERS, 0);
    CHECK(vb_fold(v, class_of) == held[0] && held[0]->n_tokens == N);
    vb_fold_release(v, held[0]);
    for (u32 i = 1; i < N_FOLDS; i++) {
        join_two(class_of, LETTERS, i);
        held[i] = vb_fold(v, class_of);
    }
    CHECK(v->folds.n == N_FOLDS && v->fold_bytes > VB_FOLD_BYTES); /* all are read */
    for (u32 i = 0; i < N_FOLDS; i++) vb_fold_release(v, held[i]);
    CHECK(v->fold_bytes <= VB_FOLD_BYTES && v->folds.n > 2);
    size_t sum = 0;
    for (u32 i = 0; i < v->folds.n; i++) sum += v->folds.at[i]->bytes;
    CHECK(sum == v->fold_bytes);
    vb_drop_folds(v);
    CHECK(v->b.bytes == held_before);
    ge_vocab_free(v);
}

/* --- automata ------------------------------------------------------------------------------------------------------------------- */

enum { EOS = 59, N_TOKENS = 60, WIDTH = 101, N_WORDS = 4 };

/* The last token is the end of text. */
static ge_vocab *make_vocab(u64 seed, u32 n, const char *letters) {
    static words w;
    ge_vocab *v = NULL;
    ge_err err = {0};
    make_words(&w, &seed, n, letters);
    w.offsets[n] = w.offsets[n - 1]; /* it has no bytes */
    CHECK(ge_vocab_new(w.text, w.offsets, n, n + WIDTH - N_TOKENS, (u32[]){n - 1}, 1, &v, &err) == GE_OK);
    return v;
}

/* One lexeme: abx (a|b|-)* 1{0,3} aab, where x and 1 stand for themselves. */
static ge_grammar *make_grammar(void) {
    static const u8 data[] = "abx-1aab";
    static const u32 code[] = {
        2, 2, 0, 3, /* 0: "abx" */
        2, 2, 0, 1, /* 1: "a" */
        2, 2, 1, 1, /* 2: "b" */
        2, 2, 3, 1, /* 3: "-" */
        6, 3, 1, 2, 3, /* 4: a|b|- */
        9, 3, 4, 0, 0xffffffff, /* 5: (a|b|-)* */
        2, 2, 4, 1, /* 6: "1" */
        9, 3, 6, 0, 3, /* 7: 1{0,3} */
        2, 2, 5, 3, /* 8: "aab" */
        5, 4, 0, 5, 7, 8, /* 9 */
    };
    static const u32 lexemes[] = {9, 0}, rules[] = {0, 1, 0};
    ge_rules r = {lexemes, 1, 1, rules, 3, NULL, 0, NULL, 0, 1, false};
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_ir *ir = NULL;
    ge_grammar *g = NULL;
    size_t n_done;
    CHECK(ge_ir_new(&limits, &ir, &err) == GE_OK);
    CHECK(ge_ir_add(ir, code, sizeof code / sizeof *code, data, 8, &n_done, &err) == GE_OK);
    CHECK(ge_grammar_new(ir, &r, &g, &err) == GE_OK);
    ge_ir_free(ir);
    return g;
}

/* Only the empty text is a sentence. */
static ge_grammar *make_empty_grammar(void) {
    static const u32 rules[] = {0, 0};
    ge_rules r = {NULL, 0, 1, rules, 2, NULL, 0, NULL, 0, 1, false};
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_ir *ir = NULL;
    ge_grammar *g = NULL;
    CHECK(ge_ir_new(&limits, &ir, &err) == GE_OK && ge_grammar_new(ir, &r, &g, &err) == GE_OK);
    ge_ir_free(ir);
    return g;
}

static ge_dfa *make_dfa(ge_grammar *g, ge_vocab *v, u32 n_threads) {
    ge_plan *p = NULL;
    ge_dfa *t = NULL;
    ge_err err = {0};
    CHECK(ge_plan_new(g, v, 1000, false, &p, &err) == GE_OK);
    CHECK(ge_dfa_new(p, NULL, NULL, n_threads, &t, &err) == GE_OK);
    ge_plan_free(p);
    return t;
}

/* Random walks: masks and transitions are those of a matcher. */
static void test_against_matchers(ge_grammar *g, ge_vocab *v) {
    ge_dfa *t = make_dfa(g, v, 2);
    ge_engine *e = NULL;
    ge_err err = {0};
    u64 seed = 13;
    u32 n_steps = 0;
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
    for (u32 round = 0; round < 200; round++) {
        ge_matcher *m = NULL;
        CHECK(ge_matcher_new(e, &m, &err) == GE_OK);
        u32 state = 0;
        for (u32 step = 0; step < 30; step++, n_steps++) {
            u32 mask[N_WORDS], theirs[N_WORDS], listed[N_TOKENS], ways = 0;
            CHECK(ge_dfa_fill_mask(t, state, mask) == 0 && ge_matcher_fill_mask(m, theirs, 0, N_WORDS, &err) >= 0);
            CHECK(memcmp(mask, theirs, sizeof mask) == 0);
            for (u32 token = 0; token < N_TOKENS; token++) {
                bool allowed = mask[token >> 5] >> (token & 31) & 1;
                CHECK((ge_dfa_next(t, state, token) >= 0) == allowed);
                if (allowed && token != EOS) listed[ways++] = token;
            }
            if (!ways) break;
            int64_t token = listed[random_below(&seed, ways)];
            size_t done;
            state = (u32)ge_dfa_next(t, state, token);
            CHECK(ge_matcher_accept(m, &token, 1, 1, &done, &err) == GE_OK && done == 1);
        }
        ge_matcher_free(m);
    }
    CHECK(n_steps > 500);
    CHECK(ge_dfa_next(t, 0, -1) == -1 && ge_dfa_next(t, 0, (int64_t)1 << 33) == -1 && ge_dfa_next(t, t->n_states + 1, 0) == -1);
    CHECK(ge_dfa_fill_mask(t, t->n_states + 1, (u32[N_WORDS]){0}) == GE_E_ARGUMENT && !ge_dfa_accepts(t, t->n_states + 1));
    ge_engine_free(e);
    ge_dfa_free(t);
}

/* A guide and a list of its states, with rings that fill up and grow. */
static void test_guides(ge_grammar *g, ge_vocab *v) {
    ge_dfa *t = make_dfa(g, v, 1);
    u64 seed = 29;
    u32 n_refused = 0, n_full = 0, n_lost = 0;
    for (u32 round = 0; round < 300; round++) {
        u32 most = random_below(&seed, 6), capacity = min_u32(most, random_below(&seed, 3)), kept = 0, n = 0, states[41] = {0};
        u64 *guide = calloc(ge_guide_words(t, capacity), sizeof *guide);
        ge_guide_init(guide, t, capacity, most, NULL);
        for (u32 step = 0; step < 40; step++) {
            CHECK(ge_guide_state(guide) == states[n] && ge_guide_before(guide) == kept);
            u32 mask[N_WORDS], expected[N_WORDS], back = random_below(&seed, kept + 2);
            if (random_below(&seed, 4) == 0) {
                CHECK(ge_guide_rollback(guide, back) == (back > kept ? GE_GUIDE_REFUSED : 0));
                if (back <= kept) n -= back, kept -= back;
                continue;
            }
            int64_t token = (int64_t)random_below(&seed, N_TOKENS + 1) - 1, to = ge_dfa_next(t, states[n], token);
            memset(mask, 0x55, sizeof mask);
            memset(expected, 0x55, sizeof expected);
            int32_t failed = ge_guide_advance(guide, token, mask);
            if (failed == GE_GUIDE_FULL) {
                CHECK(kept == capacity && capacity < most);
                u64 *more = calloc(ge_guide_words(t, ++capacity), sizeof *more);
                ge_guide_init(more, t, capacity, most, guide);
                free(guide);
                guide = more;
                n_full++;
                failed = ge_guide_advance(guide, token, mask);
            }
            CHECK(failed == (to < 0 ? GE_GUIDE_REFUSED : 0));
            if (to >= 0) {
                CHECK(ge_dfa_fill_mask(t, (u32)to, expected) >= 0);
                states[++n] = (u32)to;
                n_lost += kept == most;
                kept = min_u32(kept + 1, most);
            }
            n_refused += to < 0;
            CHECK(memcmp(mask, expected, sizeof mask) == 0);
        }
        free(guide);
    }
    CHECK(n_refused > 5000 && n_full > 100 && n_lost > 100);
    ge_dfa_free(t);
}

#define EQUAL(p, q) ((p).n == (q).n && memcmp((p).at, (q).at, (p).n * sizeof *(p).at) == 0)

/* Where each byte is a token nothing is to be joined: to try it changes nothing. */
static void test_reduction(ge_grammar *g, ge_vocab *v) {
    ge_limits limits = wide_limits();
    budget b;
    ba_automaton a;
    ge_engine *e = NULL;
    ge_err err = {0};
    budget_init(&b, &limits);
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK && ba_build(&a, &b, e, (ba_bounds){1000, UINT64_MAX}, NULL));
    td_draft d[2] = {{.b = &b, .a = &a, .v = v}, {.b = &b, .a = &a, .v = v}};
    for (u32 i = 0; i < 2; i++) {
        u32 stuck;
        CHECK(td_behave(&d[i], &(td_edges){0}, 1) && d[i].has_bytes);
        d[i].has_bytes = i == 0;
        CHECK(td_reduce(&d[i], &stuck) && stuck == NONE);
    }
    CHECK(d[0].n_states == a.n_states && d[0].n_states == d[1].n_states && d[0].n_classes == d[1].n_classes);
    CHECK(EQUAL(d[0].tokens, d[1].tokens) && EQUAL(d[0].class_of, d[1].class_of) && EQUAL(d[0].accepts, d[1].accepts));
    CHECK(EQUAL(d[0].all, d[1].all) && EQUAL(d[0].state_of, d[1].state_of));
    for (u32 i = 0; i < 2; i++) td_drop_draft(&d[i]);
    ba_drop(&a, &b);
    ge_engine_free(e);
    CHECK(b.bytes == 0);
}

/* No byte has a class, so there are tables without columns. */
static void test_empty_text(ge_vocab *v) {
    ge_grammar *g = make_empty_grammar();
    for (u32 n_threads = 1; g && n_threads < 4; n_threads++) {
        ge_dfa *t = make_dfa(g, v, n_threads);
        u32 mask[N_WORDS];
        CHECK(t && t->n_states == 1 && t->n_classes == 0 && t->n_byte_classes == 0 && t->rows.n == 0);
        CHECK(t && ge_dfa_fill_mask(t, 0, mask) == 0 && mask[EOS >> 5] == (u32)1 << (EOS & 31) && mask[0] == 0);
        CHECK(t && ge_dfa_next(t, 0, 0) == -1 && ge_dfa_next(t, 0, EOS) == 1);
        CHECK(t && t->n_live == 1 && td_id(t->class_of, 0) == NONE); /* and nothing for each token */
        ge_dfa_free(t);
    }
    ge_grammar_free(g);
}

/* All stages with the budgets of the caller. Returns the automaton, or NULL; nothing else is left. */
static ge_dfa *build(ge_grammar *g, ge_vocab *v, const ge_limits *limits, budget *b, u64 fail_of_tables, bool mute) {
    static const u8 literal[] = {0, 1, 2}; /* tokens a, b, x */
    ba_automaton a = {0}, muted = {0};
    td_runs runs = {0};
    td_edges edges = {0};
    td_draft d = {.b = b, .v = v};
    ge_engine *e = NULL;
    ge_err err = {0};
    ge_dfa *t = td_new(limits);
    u32 stuck = NONE, wrong = NONE, spelling[3], spelling_at[64] = {0};
    CHECK(t && ge_engine_new(g, v, 0, &e, &err) == GE_OK);
    t->b.fail_after = fail_of_tables;
    bool ok = ba_build(&a, b, e, (ba_bounds){1000, UINT64_MAX}, NULL) && td_find_runs(&runs, b, &a);
    if (ok && mute) { /* the first run is abx */
        for (u32 i = 0; i < 3; i++) spelling[i] = literal[i];
        CHECK(runs.at.n > 1 && runs.at.n < 64 && runs.at.at[1] == 3);
        for (u32 r = 1; r < runs.at.n; r++) spelling_at[r] = 3;
        ok = ba_copy(&muted, b, &a) && td_mute_runs(&runs, b, &muted, v, spelling, spelling_at, &edges, &wrong);
        CHECK(!ok || wrong == NONE);
    }
    d.a = mute ? &muted : &a;
    ok = ok && td_behave(&d, &edges, 3) && td_reduce(&d, &stuck) && td_pack(&d, &a, t);
    CHECK(!ok || stuck == NONE);
    td_drop_draft(&d);
    vec_drop(b, &edges);
    td_drop_runs(&runs, b);
    ba_drop(&a, b);
    ba_drop(&muted, b);
    ge_engine_free(e);
    CHECK(b->bytes == 0);
    if (ok) return t;
    ge_dfa_free(t);
    return NULL;
}

static void test_failing_allocations(ge_grammar *g, ge_vocab *v) {
    ge_limits limits = wide_limits();
    for (u32 mute = 0; mute < 2; mute++)
        for (u32 which = 0; which < 2; which++) { /* of the stages, or of the tables */
            u32 failures = 0;
            for (u64 k = 1;; k++, failures++) {
                budget b;
                budget_init(&b, &limits);
                b.fail_after = which ? 0 : k;
                ge_dfa *t = build(g, v, &limits, &b, which ? k : 0, mute);
                CHECK((t == NULL) == (b.status == GE_E_MEMORY));
                ge_dfa_free(t);
                if (t) break;
            }
            CHECK(failures > 5);
        }
}

/* A ceiling on memory is met in every stage, by the threads too. */
static void test_memory_limit(ge_grammar *g, ge_vocab *v) {
    u32 failures = 0, successes = 0;
    for (u64 bytes = 64; bytes < 1 << 18; bytes += 64 + bytes / 64) {
        ge_limits limits = wide_limits();
        budget b;
        limits.max_memory_bytes = bytes;
        budget_init(&b, &limits);
        ge_dfa *t = build(g, v, &limits, &b, 0, false);
        CHECK(t || (b.status == GE_E_LIMIT && b.limit == LIMIT(max_memory_bytes)));
        successes += t != NULL;
        failures += t == NULL;
        ge_dfa_free(t);
    }
    CHECK(failures > 20 && successes > 1);
}

/* --- files ---------------------------------------------------------------------------------------------------------------------- */

static ge_dfa *load(FILE *file, const u8 *content, size_t size) {
    ge_dfa *t = NULL;
    ge_err err = {0};
    CHECK(ftruncate(fileno(file), 0) == 0 && pwrite(fileno(file), content, size, 0) == (ssize_t)size);
    ge_status status = ge_dfa_load(fileno(file), &t, &err);
    CHECK(status == (t ? GE_OK : GE_E_ARGUMENT) && (t || err.text[0]));
    return t;
}

static u8 *save(const ge_dfa *t, size_t *size) {
    *size = ge_dfa_save(t, (const u8 *)"note", 4, NULL);
    u8 *content = malloc(*size);
    CHECK(content && ge_dfa_save(t, (const u8 *)"note", 4, content) == *size);
    return content;
}

/* Every call on every state: whatever the tables hold, nothing beyond them is touched. */
static void use_all(const ge_dfa *t) {
    if (t->n_tokens > 4 * MAX_TOKENS || t->n_words > MAX_TOKENS) return; /* counts that no table stands for */
    u32 *mask = malloc(t->n_words * sizeof *mask), *tokens = malloc(t->n_tokens * sizeof *tokens), last = t->n_states;
    for (u32 s = 0; s <= last && s < 200; s++) {
        (void)ge_dfa_fill_mask(t, s, mask);
        size_t n = ge_dfa_tokens(t, s, tokens);
        CHECK(n <= t->n_tokens);
        for (size_t i = 0; i < n; i++) CHECK(tokens[i] < t->n_tokens && (i == 0 || tokens[i - 1] < tokens[i]));
        (void)ge_dfa_accepts(t, s);
        for (u32 token = 0; token < t->n_tokens; token++) CHECK(ge_dfa_next(t, s, token) <= (int64_t)t->n_states);
    }
    for (u32 s = 0; s < t->n_byte_states; s++)
        for (u32 byte = 0; byte < 256; byte++) {
            u32 to = ge_dfa_byte_next(t, s, (u8)byte);
            CHECK(to == NONE || to < t->n_byte_states);
        }
    free(mask);
    free(tokens);
}

static void test_files(FILE *file, ge_grammar *g, ge_vocab *v) {
    size_t size, again;
    ge_dfa *t = make_dfa(g, v, 1);
    u8 *content = save(t, &size);
    for (u32 n_threads = 2; n_threads < 70; n_threads += 11) {
        ge_dfa *other = make_dfa(g, v, n_threads);
        u8 *same = save(other, &again);
        CHECK(again == size && memcmp(same, content, size) == 0);
        free(same);
        ge_dfa_free(other);
    }
    ge_dfa *loaded = load(file, content, size);
    CHECK(loaded);
    if (loaded) {
        u8 *same = save(loaded, &again);
        CHECK(again == size && memcmp(same, content, size) == 0);
        use_all(loaded);
        free(same);
        ge_dfa_free(loaded);
    }
    for (size_t i = 0; i < size; i++) {
        content[i] ^= 1u << (i % 8);
        CHECK(!load(file, content, size));
        content[i] ^= 1u << (i % 8);
    }
    for (size_t n = 0; n < size; n++) CHECK(!load(file, content, n));
    free(content);
    ge_dfa_free(t);
}

/* Files with a right checksum and anything else wrong: refused, or used without harm. */
static void test_hostile_files(FILE *file, ge_grammar *g, ge_vocab *v, size_t stride) {
    enum { SUM = 8, HEAD = 32, FORMAT_AT = 16 };
    static const u8 values[] = {0, 1, 2, 3, 4, 12, 16, 30, 59, 60, 64, 127, 128, 254, 255};
    size_t size;
    u32 n_loaded = 0, n_refused = 0;
    ge_dfa *t = make_dfa(g, v, 1);
    u8 *content = save(t, &size);
    file_kind kind = {"ge-tokdf", content[FORMAT_AT], ""};
    for (size_t i = HEAD; i < size - SUM; i += i < size / 2 ? stride : 1) /* the tables of masks lie behind */
        for (u32 k = 0; k < sizeof values; k++) {
            u8 before = content[i];
            content[i] = values[k];
            file_walk w = file_begin(content);
            w.at = size - SUM;
            CHECK(file_finish(&w, &kind) == size);
            ge_dfa *loaded = load(file, content, size);
            if (loaded) use_all(loaded);
            n_loaded += loaded != NULL;
            n_refused += loaded == NULL;
            ge_dfa_free(loaded);
            content[i] = before;
        }
    CHECK(n_loaded > 100 && n_refused > 100);
    free(content);
    ge_dfa_free(t);
}

static bool is_loaded(FILE *file, const ge_dfa *t) {
    size_t size;
    u8 *content = save(t, &size);
    ge_dfa *loaded = load(file, content, size);
    bool is = loaded != NULL;
    ge_dfa_free(loaded);
    free(content);
    return is;
}

/* Masks with a token twice, or with one that the vocabulary has not, in files whose checksums are right. */
static void test_unsound_masks(FILE *file, ge_grammar *g, ge_vocab *v, u32 *n_lists, u32 *n_rows) {
    ge_dfa *t = make_dfa(g, v, 1);
    u16 *gaps = t->mask_gaps;
    u32 end = t->n_tokens / 32;
    CHECK(is_loaded(file, t));
    for (u32 i = 0; i < t->n_masks; i++) {
        td_mask m = t->mask[i];
        if (m.n < 2 || gaps[m.at] == TD_GAP) continue;
        u16 first = gaps[m.at], second = gaps[m.at + 1];
        gaps[m.at + 1] = 0;
        CHECK(!is_loaded(file, t));
        gaps[m.at + 1] = second;
        gaps[m.at] = (u16)min_u32(t->n_tokens, TD_GAP - 1);
        CHECK(!is_loaded(file, t));
        gaps[m.at] = first;
        ++*n_lists;
    }
    if (t->n_rows == 1 && end < MAX_TOKENS) { /* written out to the last word */
        u32 long_row[MAX_TOKENS] = {0}, *words = t->mask_words, n_words = t->n_mask_words;
        td_row row = t->row[0];
        memcpy(long_row, words, n_words * sizeof *words);
        t->mask_words = long_row;
        t->n_mask_words = t->row[0].n = end + 1;
        CHECK(is_loaded(file, t));
        long_row[end] |= (u32)1 << t->n_tokens % 32;
        CHECK(!is_loaded(file, t));
        t->mask_words = words;
        t->n_mask_words = n_words;
        t->row[0] = row;
        ++*n_rows;
    }
    CHECK(is_loaded(file, t));
    ge_dfa_free(t);
}

/* The classes of tokens are found by token, by rank, or in a list: as takes least where nearly all are live, many, or few. */
static void test_live_tokens(ge_grammar *g, ge_vocab *narrow, ge_vocab *wide, ge_vocab *few) {
    ge_dfa *t[] = {make_dfa(g, narrow, 1), make_dfa(g, wide, 1), make_dfa(g, few, 1)};
    CHECK(t[0]->n_live == 0 && t[1]->n_live && t[1]->by_rank && t[2]->n_live && !t[2]->by_rank);
    for (u32 i = 0; i < 3; i++) {
        for (u32 s = 0; s < t[i]->n_states; s++) {
            u32 mask[(MAX_TOKENS + WIDTH) / 32];
            CHECK(t[i]->n_words <= sizeof mask / sizeof *mask && ge_dfa_fill_mask(t[i], s, mask) >= 0);
            for (u32 token = 0; token < t[i]->n_tokens; token++)
                CHECK((ge_dfa_next(t[i], s, token) >= 0) == (mask[token >> 5] >> (token & 31) & 1));
        }
        ge_dfa_free(t[i]);
    }
}

int main(void) {
    FILE *file = tmpfile();
    ge_grammar *g = make_grammar();
    ge_vocab *v = make_vocab(3, N_TOKENS, "abx-1"), *wide = make_vocab(4, MAX_TOKENS, "abx-1aabb--aabb--"); /* with masks that are bits */
    ge_vocab *narrow = make_vocab(5, 8, "abx-1"); /* with fewer tokens than words in all masks */
    /* whose bytes are mostly not in the grammar */
    ge_vocab *few = make_vocab(7, MAX_TOKENS, "abx-1stuvwyzcdefghijklmnopqrABCDEFGHIJKLMNOPQRSTUVW");
    CHECK(file && g && v && wide && narrow && few);
    test_minimise();
    test_fold();
    test_kept_folds();
    test_against_matchers(g, v);
    test_guides(g, v);
    test_reduction(g, v);
    test_reduction(g, wide);
    test_live_tokens(g, narrow, wide, few);
    test_empty_text(v);
    test_failing_allocations(g, v);
    test_memory_limit(g, v);
    if (file) {
        test_files(file, g, v);
        test_hostile_files(file, g, v, 1);
        test_hostile_files(file, g, wide, 5);
        test_hostile_files(file, g, narrow, 1);
        test_hostile_files(file, g, few, 1);
        u32 n_lists = 0, n_rows = 0;
        ge_vocab *odd = make_vocab(4, MAX_TOKENS - 7, "abx-1aabb--aabb--"); /* whose last word has bits of no token */
        test_unsound_masks(file, g, v, &n_lists, &n_rows);
        test_unsound_masks(file, g, wide, &n_lists, &n_rows);
        test_unsound_masks(file, g, odd, &n_lists, &n_rows);
        CHECK(odd && n_lists > 10 && n_rows > 0);
        ge_vocab_free(odd);
        (void)fclose(file);
    }
    ge_grammar_free(g);
    ge_vocab_free(v);
    ge_vocab_free(wide);
    ge_vocab_free(narrow);
    ge_vocab_free(few);
    return harness_result("t_dfa");
}
