/* t_engine: the whole path in C: masks against trying every token, and every allocation failing in turn. */
#include "../closing/cl.h"
#include "harness.h"

enum { N_TOKENS = 300, EOS = 299 };

typedef enum sample {
    EVERY_SPLIT, LONGEST_MATCH, BAG, WIDE_BAG, COUNTED_BAG, UNIQUE_ITEMS, REPEATED_ITEMS, NUMBERS, STRINGS, N_SAMPLES
} sample;

static const char *const texts[] = {
    [EVERY_SPLIT] = "[[a,aab,[]],ababab,a]",
    [LONGEST_MATCH] = "[[a,aab,[]],ababab,a]",
    [BAG] = "[\"a\",x,\"\",\"b\"]",
    [WIDE_BAG] = "[cc,aa,x,ab,b,tt]",
    [COUNTED_BAG] = "[c,a,b,e,f,d,h]",
    [UNIQUE_ITEMS] = "[[a],[a,[a]],[],[b]]",
    [REPEATED_ITEMS] = "[[a,a],b,[a,a]]",
    [NUMBERS] = "[12.5,3,45.67]",
    [STRINGS] = "[\"aabb\",\"abaab\"]",
};

static u8 token_bytes[N_TOKENS * 8];
static u32 token_offsets[N_TOKENS + 1];

/* All single bytes, some pairs over the alphabet of the grammar, duplicates, a token without bytes, EOS. */
static ge_vocab *make_vocab(void) {
    static const char *const more[] = {"ab",  "a,",          ",a",          "[a",       "a]", "]]", "aaa", "a,a",   "[[",     "ab",
                                       "]]]", ",,",          "b]",          "[a,b]",    "x]", "",   "bb",  "\",\"", "\",\"a", "\"]",
                                       "a\"", "\"a\",\"a\"", "\"a\",\"b\"", "\",\"\",", "12", "3,", ".5]", "45",    "7,8", "[a]"};
    u32 n = 0;
    for (u32 i = 0; i < N_TOKENS; i++) {
        token_offsets[i] = n;
        const char *text = i >= 256 && i < 256 + sizeof more / sizeof *more ? more[i - 256] : "";
        if (i < 256) token_bytes[n++] = (u8)i;
        while (*text) token_bytes[n++] = (u8)*text++;
    }
    token_offsets[N_TOKENS] = n;
    ge_vocab *v = NULL;
    ge_err err = {0};
    /* that one is text */
    CHECK(ge_vocab_new(token_bytes, token_offsets, N_TOKENS, N_TOKENS + 13, (u32[]){EOS, 'a'}, 2, &v, &err) == GE_E_ARGUMENT);
    CHECK(ge_vocab_new(token_bytes, token_offsets, N_TOKENS, N_TOKENS + 13, (u32[]){EOS}, 1, &v, &err) == GE_OK);
    return v;
}

static ge_grammar *compile(const ge_limits *limits, const u32 *words, size_t n_words, const u8 *data, size_t n_data, const ge_rules *r,
                           ge_err *err) {
    ge_ir *ir = NULL;
    ge_grammar *g = NULL;
    size_t n_done;
    if (ge_ir_new(limits, &ir, err) != GE_OK) return NULL;
    if (ge_ir_add(ir, words, n_words, data, n_data, &n_done, err) == GE_OK) ge_grammar_new(ir, r, &g, err);
    ge_ir_free(ir);
    return g;
}

/* "[" members "]": strings over a and b, no two alike, and at most one x, which there has to be; 2 to 4 members. */
static ge_grammar *make_bag(const ge_limits *limits, ge_err *err) {
    static const u8 data[] = "[],ab\"x";
    static const u32 words[] = {
        2, 2, 0, 1, /* 0: "[" */
        2, 2, 1, 1, /* 1: "]" */
        2, 2, 2, 1, /* 2: "," */
        2, 2, 3, 1, /* 3: "a" */
        2, 2, 4, 1, /* 4: "b" */
        2, 2, 5, 1, /* 5: a quote */
        2, 2, 6, 1, /* 6: "x" */
        6, 2, 3, 4, /* 7: a|b */
        9, 3, 7, 0, 0xffffffff, /* 8: (a|b)* */
        5, 3, 5, 8, 5, /* 9: in quotes */
    };
    static const u32 lexemes[] = {0, 0, 1, 0, 2, 0, 9, 0, 6, 0};
    enum { OPEN = 0, CLOSE = 2, COMMA = 4, STRING = 6, X = 8, VALUE = 1, MEMBERS = 3 };
    static const u32 rules[] = {0, 3, OPEN, MEMBERS, CLOSE};
    /* slots: own, own, total, condition */
    static const u32 bags[] = {1, COMMA, 0, 4, 2, 0, 0, 0xffffffff, 0, 0, 1, 0, 2, 4, 0, 1, 0xffffffff, 0,
                               1, 0, 1, 2, STRING, 0, 2, 0, 0, 1, 3, X, 1, 2, 3};
    ge_rules r = {lexemes, 5, 2, rules, sizeof rules / sizeof *rules, NULL, 0, bags, sizeof bags / sizeof *bags, VALUE, false};
    return compile(limits, words, sizeof words / sizeof *words, data, 7, &r, err);
}

/* "[" members "]": each of 24 texts at most once, in any order: "aa" to "tt", "ab", "ac", "b", "x"; "aa" or both "bb" and "cc"; beside "ab"
 * also "x" or "tt". */
static ge_grammar *make_wide_bag(const ge_limits *limits, ge_err *err) {
    enum { KEYS = 24, OPEN = 0, CLOSE = 2, COMMA = 4, VALUE = 1, MEMBERS = 3 };
    static const char *const more[] = {"ab", "ac", "b", "x"};
    static const u32 rules[] = {0, 3, OPEN, MEMBERS, CLOSE};
    static const u32 choices[] = {0xffffffff, 2, 1, 0, 2, 1, 2, 20, 2, 1, 23, 1, 19};
    enum { N_CHOICES = sizeof choices / sizeof *choices };
    u8 data[3 + 2 * KEYS] = "[],";
    u32 words[4 * (3 + KEYS)], lexemes[2 * (3 + KEYS)], bags[6 + 3 * KEYS + 6 * KEYS + N_CHOICES] = {1, COMMA, 0, KEYS, KEYS, 2}, n = 3;
    memcpy(bags + 6 + 9 * KEYS, choices, sizeof choices);
    for (u32 i = 0; i < 3 + KEYS; i++) {
        char doubled[3] = {(char)('a' + i - 3), (char)('a' + i - 3), 0};
        const char *key = i < 23 ? doubled : more[i - 23];
        u32 length = i < 3 ? 1 : (u32)strlen(key), begin = i < 3 ? i : n;
        if (i >= 3) memcpy(data + begin, key, length), n += length;
        memcpy(words + 4 * i, (u32[]){2, 2, begin, length}, 4 * sizeof *words);
        memcpy(lexemes + 2 * i, (u32[]){i, 0}, 2 * sizeof *lexemes);
        if (i < 3) continue;
        memcpy(bags + 6 + 3 * (i - 3), (u32[]){0, 1, 0}, 3 * sizeof *bags);
        memcpy(bags + 6 + 3 * KEYS + 6 * (i - 3), (u32[]){0, 0, 1, 1, 2 * i, i - 3}, 6 * sizeof *bags);
    }
    ge_rules r = {lexemes, 3 + KEYS, 2, rules, sizeof rules / sizeof *rules, NULL, 0, bags, sizeof bags / sizeof *bags, VALUE, false};
    return compile(limits, words, sizeof words / sizeof *words, data, n, &r, err);
}

/* "[" members "]": each letter from a to h at most once, in any order, a or b, and at least six but for a: the search for members that
 * finish it takes as many steps. */
static ge_grammar *make_counted_bag(const ge_limits *limits, ge_err *err) {
    enum { KEYS = 8, OPEN = 0, CLOSE = 2, COMMA = 4, VALUE = 1, MEMBERS = 3, FIRST_TWO = KEYS, BUT_THE_FIRST = KEYS + 1 };
    static const u32 rules[] = {0, 3, OPEN, MEMBERS, CLOSE};
    static const u8 data[] = "[],abcdefgh";
    u32 words[4 * (3 + KEYS)], lexemes[2 * (3 + KEYS)], bags[6 + 3 * (KEYS + 2) + 8 * KEYS] = {1, COMMA, 0, KEYS + 2, KEYS, 0}, n = 6;
    for (u32 i = 0; i < 3 + KEYS; i++) {
        memcpy(words + 4 * i, (u32[]){2, 2, i, 1}, 4 * sizeof *words);
        memcpy(lexemes + 2 * i, (u32[]){i, 0}, 2 * sizeof *lexemes);
    }
    for (u32 i = 0; i < KEYS; i++, n += 3) memcpy(bags + n, (u32[]){0, 1, 0}, 3 * sizeof *bags);
    memcpy(bags + n, (u32[]){1, NONE, 0, 6, NONE, 0}, 6 * sizeof *bags);
    n += 6;
    for (u32 i = 0; i < KEYS; i++) {
        u32 way[] = {0, 0, 1, 1, 2 * (3 + i), i, 0, 0}, size = 6;
        if (i < 2) way[size++] = FIRST_TWO;
        if (i > 0) way[size++] = BUT_THE_FIRST;
        way[3] = size - 5;
        memcpy(bags + n, way, size * sizeof *bags);
        n += size;
    }
    ge_rules r = {lexemes, 3 + KEYS, 2, rules, sizeof rules / sizeof *rules, NULL, 0, bags, n, VALUE, false};
    return compile(limits, words, sizeof words / sizeof *words, data, 3 + KEYS, &r, err);
}

/* "[" list "]": 0 to 4 numbers with commas. */
static ge_grammar *make_numbers(const ge_limits *limits, ge_err *err) {
    static const u8 data[] = "[],.";
    static const u32 words[] = {
        2, 2, 0, 1, /* 0: "[" */
        2, 2, 1, 1, /* 1: "]" */
        2, 2, 2, 1, /* 2: "," */
        2, 2, 3, 1, /* 3: "." */
        3, 8, 0, 0x03ff0000, 0, 0, 0, 0, 0, 0, /* 4: a digit */
        9, 3, 4, 1, 0xffffffff, /* 5: digits */
        5, 2, 3, 5, /* 6: "." digits */
        9, 3, 6, 0, 1, /* 7: ("." digits)? */
        5, 2, 5, 7, /* 8: a number */
    };
    static const u32 lexemes[] = {0, 0, 1, 0, 2, 0, 8, 0};
    enum { OPEN = 0, CLOSE = 2, COMMA = 4, NUMBER = 6, VALUE = 1, LIST = 3, ITEM = 5 };
    static const u32 rules[] = {0, 3, OPEN, LIST, CLOSE, 2, 1, NUMBER};
    static const u32 lists[] = {1, ITEM, COMMA, 0, 4};
    ge_rules r = {lexemes, 4, 3, rules, sizeof rules / sizeof *rules, lists, 1, NULL, 0, VALUE, false};
    return compile(limits, words, sizeof words / sizeof *words, data, 4, &r, err);
}

/* "[" list "]": 0 to 2 strings, each under several conditions, or under several others. */
static ge_grammar *make_strings(const ge_limits *limits, ge_err *err) {
    static const u8 data[] = "[],\"^[ab]{3,}$" "aab" "bb" "aba" "ba.*ab" "bbbb";
    static const u32 words[] = {
        2, 2, 0, 1, /* 0: "[" */
        2, 2, 1, 1, /* 1: "]" */
        2, 2, 2, 1, /* 2: "," */
        2, 2, 3, 1, /* 3: a quote */
        10, 4, 0, 0, 4, 10, /* 4: at least three letters */
        10, 4, 0, 0, 14, 3, /* 5: aab somewhere */
        10, 4, 0, 0, 17, 2, /* 6: bb somewhere */
        10, 4, 0, 0, 19, 3, /* 7: aba somewhere */
        10, 4, 0, 0, 22, 6, /* 8: ba, then ab */
        7, 2, 5, 6, /* 9: 5 and 6 */
        7, 2, 7, 8, /* 10: 7 and 8 */
        6, 2, 9, 10, /* 11: either */
        7, 2, 4, 11, /* 12: 4 and that */
        11, 2, 12, 0, /* 13: in JSON */
        5, 3, 3, 13, 3, /* 14: in quotes */
        10, 4, 0, 0, 28, 4, /* 15: bbbb somewhere */
        7, 2, 7, 15, /* 16: that and 7 */
        11, 2, 16, 0, /* 17: in JSON */
        5, 3, 3, 17, 3, /* 18: in quotes */
        6, 2, 14, 18, /* 19: 14 or 18 */
    };
    static const u32 lexemes[] = {0, 0, 1, 0, 2, 0, 19, 0};
    enum { OPEN = 0, CLOSE = 2, COMMA = 4, STRING = 6, VALUE = 1, LIST = 3, ITEM = 5 };
    static const u32 rules[] = {0, 3, OPEN, LIST, CLOSE, 2, 1, STRING};
    static const u32 lists[] = {1, ITEM, COMMA, 0, 2};
    ge_rules r = {lexemes, 4, 3, rules, sizeof rules / sizeof *rules, lists, 1, NULL, 0, VALUE, false};
    return compile(limits, words, sizeof words / sizeof *words, data, 32, &r, err);
}

/* value: "[" list "]", or the regex a+b?, or (ab)*; list: 0 to 4 values with commas. The last lexeme may be empty. */
static ge_grammar *make_grammar(const ge_limits *limits, sample which, ge_err *err) {
    if (which == BAG) return make_bag(limits, err);
    if (which == WIDE_BAG) return make_wide_bag(limits, err);
    if (which == COUNTED_BAG) return make_counted_bag(limits, err);
    if (which == NUMBERS) return make_numbers(limits, err);
    if (which == STRINGS) return make_strings(limits, err);
    static const u8 data[] = "[],ab";
    static const u32 words[] = {
        2, 2, 0, 1, /* 0: "[" */
        2, 2, 1, 1, /* 1: "]" */
        2, 2, 2, 1, /* 2: "," */
        2, 2, 3, 1, /* 3: "a" */
        2, 2, 4, 1, /* 4: "b" */
        9, 3, 3, 1, 0xffffffff, /* 5: a+ */
        9, 3, 4, 0, 1, /* 6: b? */
        5, 2, 5, 6, /* 7: a+b? */
        2, 2, 3, 2, /* 8: "ab" */
        9, 3, 8, 0, 0xffffffff, /* 9: (ab)* */
        6, 2, 3, 4, /* 10: a|b */
    };
    u32 compared = which == UNIQUE_ITEMS ? LX_UNIQUE : which == REPEATED_ITEMS ? LX_REPEATED : 0;
    u32 lexemes[] = {0, compared, 1, 0, 2, 0, compared ? 10 : 7, 0, 9, 0};
    enum { OPEN = 0, CLOSE = 2, COMMA = 4, NAME = 6, PAIRS = 8, VALUE = 1, LIST = 3 };
    static const u32 rules[] = {0, 3, OPEN, LIST, CLOSE, 0, 1, NAME, 0, 1, PAIRS};
    u32 lists[] = {1, VALUE, COMMA, 0, which == REPEATED_ITEMS ? NONE : 4};
    ge_rules r = {lexemes, 5, 2, rules, sizeof rules / sizeof *rules, lists, 1, NULL, 0, VALUE, which == LONGEST_MATCH};
    return compile(limits, words, sizeof words / sizeof *words, data, 5, &r, err);
}

/* The mask at each prefix of a text, by the engine; and by trying every token, where `by_hand`. */
static ge_status walk(ge_engine *e, const char *text, u32 *masks, bool by_hand) {
    ge_err err = {0};
    ge_matcher *m = NULL;
    ge_status status = ge_matcher_new(e, &m, &err);
    u32 words = e->v->n_words;
    for (u32 i = 0; status == GE_OK; i++) {
        u32 *mask = masks + i * words;
        status = ge_matcher_fill_mask(m, mask, 0, words, &err) < 0 ? (ge_status)err.status : GE_OK;
        if (status != GE_OK) break;
        for (u32 t = 0; by_hand && t < N_TOKENS; t++) {
            size_t done;
            int64_t token = t;
            CHECK(ge_matcher_accept(m, &token, 1, 0, &done, &err) == GE_OK);
            CHECK(done == (mask[t >> 5] >> (t & 31) & 1));
        }
        if (by_hand)
            for (u32 t = N_TOKENS; t < e->v->width; t++) CHECK(!(mask[t >> 5] >> (t & 31) & 1));
        if (!text[i]) break;
        size_t done;
        status = ge_matcher_accept_bytes(m, (const u8 *)text + i, 1, 1, &done, &err);
        if (status == GE_OK) CHECK(done == 1);
    }
    ge_matcher_free(m);
    return status;
}

enum { STEPS = 22, WORDS = 10 };

/* The second engine that has a lexeme makes its automaton (mask/mk_lexeme.c):
 * as each of its allocations fails, with and without other outlines. */
static void automata_with_failing_allocations(u32 switches) {
    const char *text = texts[NUMBERS];
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, NUMBERS, &err);
    CHECK(v && g);
    static u32 reference[STEPS * WORDS], again[STEPS * WORDS];
    u32 failures = 0;
    u64 nodes = 0; /* that the first of them visits */
    bool more = true;
    for (u64 k = 0; more; k++) {
        ge_vocab_bound(v, 0); /* all is forgotten */
        ge_vocab_bound(v, VB_STORE_BYTES);
        for (u32 turn = 0; turn < 3; turn++) {
            ge_engine *e = NULL;
            ge_stats stats;
            CHECK(ge_engine_new(g, v, switches, &e, &err) == GE_OK);
            e->b.fail_after = turn == 1 ? k : 0;
            bool failed = walk(e, text, k || turn ? again : reference, false) != GE_OK;
            if (turn == 1 && k) more = failed || e->b.fail_after == 0;
            failures += failed;
            CHECK(turn == 1 || !failed);
            if (!failed && (k || turn)) CHECK(memcmp(again, reference, (strlen(text) + 1) * WORDS * sizeof *again) == 0);
            ge_engine_stats(e, &stats);
            if (k == 0 && turn == 0) nodes = stats.trie_nodes;
            if (k == 0 && turn == 2) CHECK(stats.trie_nodes < nodes);
            ge_engine_free(e);
        }
    }
    printf("automata of lexemes: %u failing allocations\n", failures);
    CHECK(failures > 50);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

static void masks_by_trying(sample which) {
    const char *text = texts[which];
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    CHECK(v && g);
    static u32 reference[STEPS * WORDS], again[STEPS * WORDS];
    for (u32 switches = 0; switches < 64; switches++) {
        ge_engine *e = NULL;
        CHECK(ge_engine_new(g, v, switches, &e, &err) == GE_OK);
        CHECK(walk(e, text, switches ? again : reference, switches == 0) == GE_OK);
        size_t size = (strlen(text) + 1) * WORDS * sizeof *again;
        if (switches) CHECK(memcmp(again, reference, size) == 0);
        CHECK(walk(e, text, again, false) == GE_OK); /* warm */
        CHECK(memcmp(again, reference, size) == 0);
        ge_engine_free(e);
    }
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* The k-th allocation of the engine fails: the call says so, and the same call afterwards gives the right masks. */
static void failing_allocations(sample which) {
    const char *text = texts[which];
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    static u32 reference[STEPS * WORDS], again[STEPS * WORDS];
    u64 failures = 0;
    for (u64 k = 0;; k++) {
        ge_engine *e = NULL;
        CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
        e->b.fail_after = k;
        ge_status status = walk(e, text, k ? again : reference, false);
        bool failed = status != GE_OK;
        if (failed) CHECK(status == GE_E_MEMORY);
        if (k && !failed && e->b.fail_after) { /* k is beyond the last allocation */
            ge_engine_free(e);
            break;
        }
        failures += failed;
        CHECK(walk(e, text, again, false) == GE_OK);
        if (k) CHECK(memcmp(again, reference, (strlen(text) + 1) * WORDS * sizeof *again) == 0);
        ge_engine_free(e);
    }
    printf("failing allocations: %lu\n", (unsigned long)failures);
    CHECK(failures > 50);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* Slices of the user, whichever allocation fails before they are there, change no mask; what fails leaves none. */
static void slices_with_failing_allocations(sample which) {
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *plain = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    static u32 reference[STEPS * WORDS], again[STEPS * WORDS];
    ge_engine *e = NULL;
    CHECK(ge_engine_new(g, plain, 0, &e, &err) == GE_OK && walk(e, texts[which], reference, false) == GE_OK);
    ge_engine_free(e);
    u32 failures = 0;
    for (u64 k = 1, more = 2; more; k++) { /* first of the engine, then of the vocabulary */
        ge_vocab *v = make_vocab();
        u32 faulty, n = g->n_lexemes;
        CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
        budget *b = more == 2 ? &e->b : &v->b;
        b->fail_after = k;
        ge_status status = ge_vocab_slice(e, n, &faulty, &err);
        CHECK((status == GE_OK) == (v->n_own == n) && (status == GE_OK || (status == GE_E_MEMORY && v->n_own == 0)));
        if (status == GE_OK) status = ge_vocab_prepare(e, &err);
        if (status == GE_OK && b->fail_after) more--, k = 0; /* k is beyond the last allocation */
        failures += status != GE_OK;
        b->fail_after = 0;
        if (!v->n_own) CHECK(ge_vocab_slice(e, n, &faulty, &err) == GE_OK);
        CHECK(ge_vocab_slice(e, n, &faulty, &err) == GE_OK && v->n_own == n); /* once more: nothing to do */
        CHECK(ge_vocab_prepare(e, &err) == GE_OK);
        ge_engine_free(e);
        for (u32 switches = 0; switches < 64; switches += 2) {
            CHECK(ge_engine_new(g, v, switches, &e, &err) == GE_OK && walk(e, texts[which], again, false) == GE_OK);
            CHECK(memcmp(again, reference, (strlen(texts[which]) + 1) * WORDS * sizeof *again) == 0);
            ge_engine_free(e);
        }
        ge_vocab_free(v);
    }
    printf("slices: %u failing allocations\n", failures);
    CHECK(failures > 20);
    ge_grammar_free(g);
    ge_vocab_free(plain);
}

static bool has_bit(const u32 *mask, u32 token) { return mask[token >> 5] >> (token & 31) & 1; }

/* Matchers with ends of their own, beside one without any, in all but the
 * ends: they come where the text is a sentence, and nowhere else but as text. */
static void other_ends(sample which) {
    static const u32 ends[] = {'a', 270, ']', EOS, 257, ','};
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    ge_engine *e = NULL;
    CHECK(g && ge_engine_new(g, v, 0, &e, &err) == GE_OK);
    u32 n_ended = 0;
    for (u32 n = 0; n <= 6; n++) {
        ge_matcher *plain = NULL, *m = NULL, *twin = NULL;
        size_t n_done;
        CHECK(ge_matcher_new(e, &plain, &err) == GE_OK && ge_matcher_end_with(plain, NULL, 0, &err) == GE_OK);
        CHECK(ge_matcher_new(e, &m, &err) == GE_OK && ge_matcher_end_with(m, (u32[]){0, N_TOKENS}, 2, &err) == GE_E_ARGUMENT);
        CHECK(ge_matcher_end_with(m, ends, n, &err) == GE_OK && ge_matcher_end_with(m, ends, 2, &err) == GE_E_ARGUMENT); /* once */
        for (const char *text = texts[which];; text++) {
            u32 mask[WORDS], other[WORDS], tokens[64];
            int32_t flags = ge_matcher_flags(m, &err);
            CHECK(ge_matcher_fill_mask(m, mask, 0, WORDS, &err) >= 0 && ge_matcher_fill_mask(plain, other, 0, WORDS, &err) >= 0);
            for (u32 t = 0; t < 32 * WORDS; t++) {
                bool ended = false;
                for (u32 i = 0; i < n; i++) ended |= ends[i] == t && flags & GE_COMPLETE;
                CHECK(has_bit(mask, t) == (ended || has_bit(other, t)));
                CHECK(ge_matcher_accept_token(m, t, &err) == has_bit(mask, t));
                if (has_bit(mask, t)) {
                    CHECK(!(ge_matcher_flags(m, &err) & GE_ENDED) == !ended && ge_matcher_rollback(m, 1, &err) == GE_OK);
                    n_ended += ended;
                }
            }
            CHECK(ge_matcher_closing_tokens(m, tokens, 64, &n_done, &err) == GE_OK && ge_matcher_fork(m, &twin, &err) == GE_OK);
            for (size_t i = 0; i < n_done; i++) CHECK(ge_matcher_accept_token(twin, tokens[i], &err) == 1);
            CHECK(ge_matcher_flags(twin, &err) & (n ? GE_ENDED : GE_COMPLETE));
            ge_matcher_free(twin);
            if (!*text) break;
            CHECK(ge_matcher_accept_bytes(m, (const u8 *)text, 1, 1, &n_done, &err) == GE_OK && n_done == 1);
            CHECK(ge_matcher_accept_bytes(plain, (const u8 *)text, 1, 1, &n_done, &err) == GE_OK && n_done == 1);
        }
        CHECK(ge_matcher_new(e, &twin, &err) == GE_OK && ge_matcher_accept_token(twin, texts[which][0], &err) == 1);
        CHECK(ge_matcher_end_with(twin, ends, 1, &err) == GE_E_ARGUMENT); /* the text has begun */
        ge_matcher_free(twin);
        ge_matcher_free(plain);
        ge_matcher_free(m);
    }
    CHECK(n_ended >= 15);
    ge_engine_free(e);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* The lengths of the closings at each prefix of a text, in tokens (with EOS) and in bytes; each is read, and ends in a sentence. */
static ge_status close_all(ge_engine *e, const char *text, u32 *lengths) {
    ge_err err = {0};
    ge_matcher *m = NULL;
    ge_status status = ge_matcher_new(e, &m, &err);
    for (u32 i = 0; status == GE_OK; i++) {
        u8 closing[64];
        u32 tokens[64];
        size_t n = 0, n_tokens = 0, done = 0;
        status = ge_matcher_closing(m, closing, sizeof closing, &n, &err);
        if (status == GE_OK) status = ge_matcher_closing_tokens(m, tokens, 64, &n_tokens, &err);
        if (status == GE_OK) status = ge_matcher_accept_bytes(m, closing, n, 1, &done, &err);
        if (status != GE_OK) break;
        CHECK(done == n && ge_matcher_flags(m, &err) == GE_COMPLETE && n_tokens <= n + 1 && tokens[n_tokens - 1] == EOS);
        CHECK(ge_matcher_rollback(m, 1, &err) == GE_OK);
        *lengths++ = (u32)(n << 8 | n_tokens);
        if (!text[i]) break;
        status = ge_matcher_accept_bytes(m, (const u8 *)text + i, 1, 1, &done, &err);
    }
    ge_matcher_free(m);
    return status;
}

enum { MOST_TOKENS = 24 };

static u32 n_narrow[CT_BY_TOKENS]; /* by order: closings that narrow searches have found */

/* From now on a lexeme under way is told to take what its conditions take, each alone. */
static void tell_apart(ge_engine *e) {
    ct_least(e, CF_START);
    e->cl.fewest.late = (u64)1 << 60;
}

/* The fewest tokens (without EOS) that complete each prefix of a text, by a search without lower bounds or with them. */
static ge_status fewest_tokens(ge_engine *e, const char *text, bool costs, bool apart, u32 *fewest) {
    ge_err err;
    en_begin(e);
    if (apart) tell_apart(e);
    for (u32 config = CF_START;; text++) {
        bool found = false, over = true;
        for (*fewest = 0; *fewest < MOST_TOKENS && !found; ++*fewest) {
            id_vec tokens = {0};
            bool ok = ct_search_once(e, config, *fewest, costs ? CT_BY_TOKENS : CT_BY_BYTES, &tokens, &found, &over);
            CHECK(!ok || (over && (!found || tokens.n == *fewest)));
            for (u32 narrow = CT_BY_LEAST; ok && costs && narrow < CT_BY_TOKENS; narrow++) { /* what they find is there */
                bool any = false, never;
                id_vec some = {0};
                ok = ct_search_once(e, config, *fewest, narrow, &some, &any, &never);
                CHECK(!ok || (!never && (!any || (found && some.n == *fewest))));
                n_narrow[narrow] += any;
                vec_drop(&e->b, &some);
            }
            vec_drop(&e->b, &tokens);
            if (!ok) return en_end(e, &err);
        }
        fewest++;
        if (!*text) break;
        config = cf_step(e, config, e->lx.x.class_of[(u8)*text]);
        if (config == NONE) break;
    }
    return en_end(e, &err);
}

/* Lower bounds leave out no closing, whichever allocation failed before, and are not above the fewest tokens. */
static void lower_bounds(sample which, bool apart) {
    const char *text = texts[which];
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    ge_engine *e = NULL;
    u32 reference[STEPS], again[STEPS], n = (u32)strlen(text) + 1, config = CF_START, n_told = 0, n_close = 0, failures = 0;
    CHECK(n <= STEPS);
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK && fewest_tokens(e, text, false, false, reference) == GE_OK);
    en_begin(e);
    if (apart) tell_apart(e);
    for (u32 i = 0; i < n; i++) {
        u32 least = ct_least(e, config);
        CHECK(least < reference[i]); /* which is one more */
        n_told += least > 0;
        n_close += least + 1 == reference[i];
        if (i + 1 < n) config = cf_step(e, config, e->lx.x.class_of[(u8)text[i]]);
    }
    CHECK(en_end(e, &err) == GE_OK && n_told > 1);
    /* of members that are counted the bounds are less close, and of equal items rows foretell nothing */
    CHECK(n_close > n / 2 || which == COUNTED_BAG || which == REPEATED_ITEMS);
    ge_engine_free(e);
    for (u64 k = 1, more = 1; more; k += 1 + k / 16) {
        CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
        e->b.fail_after = k;
        ge_status status = fewest_tokens(e, text, true, apart, again);
        more = e->b.fail_after == 0 || status != GE_OK;
        failures += status != GE_OK;
        e->b.fail_after = 0;
        CHECK(fewest_tokens(e, text, true, apart, again) == GE_OK);
        CHECK(memcmp(again, reference, n * sizeof *again) == 0);
        ge_engine_free(e);
    }
    printf("lower bounds: %u of %u told, %u as they are, %u failing allocations\n", n_told, n, n_close, failures);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

static void closings_with_failing_allocations(sample which) {
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    u32 reference[STEPS], again[STEPS], failures = 0;
    bool more = true;
    for (u64 k = 0; more; k++) {
        ge_engine *e = NULL;
        CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
        e->b.fail_after = k;
        ge_status status = close_all(e, texts[which], k ? again : reference);
        if (status != GE_OK) CHECK(status == GE_E_MEMORY);
        failures += status != GE_OK;
        more = !k || status != GE_OK || !e->b.fail_after;
        e->b.fail_after = 0;
        CHECK(close_all(e, texts[which], again) == GE_OK);
        CHECK(memcmp(again, reference, (strlen(texts[which]) + 1) * sizeof *again) == 0);
        ge_engine_free(e);
    }
    CHECK(failures > 50);
    CHECK(again[strlen(texts[which])] == 1); /* EOS alone */
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* All searches but the first, from the beginning of a sentence. */
static ge_status close_within(ge_engine *e, u32 most, bool *found) {
    ge_err err;
    id_vec tokens = {0};
    en_begin(e);
    *found = false;
    if (!ct_close(e, CF_START, most, &tokens, found)) *found = false;
    CHECK(tokens.n <= most || !*found);
    vec_drop(&e->b, &tokens);
    return en_end(e, &err);
}

static u32 n_large, n_ended; /* of all samples: tables that were kept, searches */

/* With little work, some are made twice: whichever allocation failed before, they
 * find no more than there is, and miss nothing where they come to their end. */
static void searches_with_failing_allocations(sample which) {
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, which, &err);
    ge_engine *e = NULL;
    u32 fewest[STEPS];
    CHECK(strlen(texts[which]) < STEPS);
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK && fewest_tokens(e, texts[which], false, false, fewest) == GE_OK);
    ge_engine_free(e);
    for (u64 work = 50; work < 500000; work *= 2) {
        for (u64 k = 0, more = 1; more; k += 1 + k / 4) {
            CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
            e->b.limits.max_step_work = work;
            more = 0;
            for (u32 most = 0; most <= fewest[0]; most++) { /* fewest[0] is one more */
                bool found;
                e->b.fail_after = k;
                ge_status status = close_within(e, most, &found);
                CHECK(status == GE_OK || status == GE_E_LIMIT || (k && status == GE_E_MEMORY));
                CHECK(status != GE_OK || found == (most + 1 >= fewest[0]));
                more |= k && (status == GE_E_MEMORY || !e->b.fail_after);
                e->b.fail_after = 0;
                status = close_within(e, most, &found);
                CHECK(status == GE_OK ? found == (most + 1 >= fewest[0]) : status == GE_E_LIMIT && !found);
                n_ended += status == GE_OK;
            }
            n_large += e->cl.fewest.is_large;
            ge_engine_free(e);
            more |= !k;
        }
    }
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* Each limit, set low, is reported by name; the engine stays usable. */
static void limits_are_named(void) {
    static const struct {
        u32 limit;
        u64 value;
    } cases[] = {{LIMIT(max_lexer_states), 6}, {LIMIT(max_rows), 3}, {LIMIT(max_configurations), 5}, {LIMIT(max_step_work), 3}};
    for (u32 i = 0; i < sizeof cases / sizeof *cases; i++) {
        ge_limits limits = wide_limits();
        ge_err err = {0};
        ge_vocab *v = make_vocab();
        memcpy((char *)&limits + cases[i].limit * sizeof(u64), &cases[i].value, sizeof(u64));
        ge_grammar *g = make_grammar(&limits, EVERY_SPLIT, &err);
        if (g) {
            ge_engine *e = NULL;
            static u32 masks[STEPS * WORDS];
            if (ge_engine_new(g, v, 0, &e, &err) == GE_OK) {
                ge_matcher *m = NULL;
                size_t done;
                ge_matcher_new(e, &m, &err);
                ge_status status = ge_matcher_accept_bytes(m, (const u8 *)texts[EVERY_SPLIT], strlen(texts[EVERY_SPLIT]), 1, &done, &err);
                CHECK(status == GE_E_LIMIT);
                CHECK(ge_matcher_length(m) == 0); /* nothing has changed */
                ge_matcher_free(m);
                (void)walk(e, "", masks, false);
            }
            ge_engine_free(e);
        }
        CHECK(err.status == GE_E_LIMIT && err.limit == cases[i].limit && err.value == cases[i].value);
        ge_grammar_free(g);
        ge_vocab_free(v);
    }
}

/* Masks beyond the ceiling are dropped, and computed again. */
static void masks_are_evicted(void) {
    ge_limits limits = wide_limits();
    ge_err err = {0};
    limits.max_mask_bytes = 3 * WORDS * sizeof(u32);
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, EVERY_SPLIT, &err);
    ge_engine *e = NULL;
    const char *text = texts[EVERY_SPLIT];
    static u32 reference[STEPS * WORDS], again[STEPS * WORDS];
    CHECK(ge_engine_new(g, v, GE_NO_MASK_CACHE, &e, &err) == GE_OK);
    CHECK(walk(e, text, reference, false) == GE_OK);
    ge_engine_free(e);
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
    for (u32 i = 0; i < 5; i++) {
        CHECK(walk(e, text, again, false) == GE_OK);
        CHECK(memcmp(again, reference, sizeof again) == 0);
        ge_stats stats;
        ge_engine_stats(e, &stats);
        CHECK(stats.mask_bytes <= limits.max_mask_bytes);
        CHECK(stats.masks * WORDS * sizeof(u32) == stats.mask_bytes);
        CHECK(stats.mask_evictions > 0);
    }
    ge_engine_free(e);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

/* Of forged lexemes: nothing is read beyond a text, nor beyond its value. */
static void values_of_any_text(void) {
    static const char bytes[] = "\"\\\\u0dD8cbe+-.12tz{";
    ge_limits limits = wide_limits();
    ge_err err = {0};
    ge_vocab *v = make_vocab();
    ge_grammar *g = make_grammar(&limits, EVERY_SPLIT, &err);
    ge_engine *e = NULL;
    u32 seed = 1, n_values = 0;
    CHECK(ge_engine_new(g, v, 0, &e, &err) == GE_OK);
    for (u32 round = 0; round < 20000; round++) {
        u32 n = round % 9;
        u8 *text = malloc(n ? n : 1); /* no longer than that, for the sanitizer */
        if (!text) break;
        for (u32 i = 0; i < n; i++) text[i] = (u8)bytes[(seed = seed * 1664525 + 1013904223) / 65536 % (sizeof bytes - 1)];
        u32 value = lx_value(&e->lx, text, n);
        CHECK(value != NONE);
        rx_id string = lx_value_part(&e->lx, value, true), other = lx_value_part(&e->lx, value, false);
        CHECK(string != NONE && other != NONE && (string == RX_ID_NEVER) != (other == RX_ID_NEVER));
        n_values += value == n_values;
        free(text);
    }
    CHECK(n_values > 1000);
    ge_engine_free(e);
    ge_grammar_free(g);
    ge_vocab_free(v);
}

int main(void) {
    for (sample which = EVERY_SPLIT; which < N_SAMPLES; which++) {
        masks_by_trying(which);
        failing_allocations(which);
        other_ends(which);
        closings_with_failing_allocations(which);
        lower_bounds(which, false);
        searches_with_failing_allocations(which);
        if (which < BAG) slices_with_failing_allocations(which);
    }
    printf("searches: %u large tables kept, %u came to their end\n", n_large, n_ended);
    CHECK(n_large > 20 && n_ended > 1000);
    lower_bounds(STRINGS, true);
    CHECK(n_narrow[CT_BY_LEAST] > 0 && n_narrow[CT_BY_SHORTEST] > 0 && n_narrow[CT_BY_CONDITIONS] > 0);
    automata_with_failing_allocations(0);
    automata_with_failing_allocations(GE_NO_OUTLINES);
    limits_are_named();
    masks_are_evicted();
    values_of_any_text();
    return harness_result("t_engine");
}
