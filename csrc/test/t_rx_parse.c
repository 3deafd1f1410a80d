/* t_rx_parse: patterns of all dialects against texts, errors with their offsets, size, failing allocations.
 *
 * Comparison with Python's re on random patterns is in tests/regex/. */
#include "../regex/patterns/rx_parse.h"
#include "harness.h"

enum { I = RX_IGNORE_CASE, M = RX_MULTI_LINE, S = RX_DOT_ALL, X = RX_VERBOSE, A = RX_ASCII };
enum { ECMA = RX_ECMA_SEARCH, PYTHON = RX_PYTHON_FULL, FULL = RX_ECMA_FULL };

static ge_limits limits_for_tests(void) {
    ge_limits limits = wide_limits();
    limits.max_regex_nesting = 250;
    return limits;
}

static bool contains(rx_arena *x, rx_id id, const char *text, size_t n) {
    for (size_t i = 0; i < n && id != NONE; i++) id = rx_derive(x, id, (u8)text[i]);
    return id != NONE && rx_nullable(x, id);
}

/* 1: the text matches, 0: it does not, negative: status of rx_parse */
static int match(u32 dialect, u32 flags, const char *pattern, const char *text) {
    ge_limits limits = limits_for_tests();
    budget b;
    rx_arena x;
    ge_err err = {0};
    budget_init(&b, &limits);
    CHECK(rx_init(&x, &b));
    rx_id id = rx_parse(&x, (const u8 *)pattern, strlen(pattern), dialect, flags, &err);
    CHECK((id == NONE) == (b.status != GE_OK));
    int result = id == NONE ? (int)b.status : contains(&x, id, text, strlen(text));
    rx_drop(&x);
    CHECK(b.bytes == 0);
    return result;
}

typedef struct example {
    u32 dialect, flags;
    const char *pattern, *matches, *refuses; /* texts, separated by "|" */
} example;

static const example examples[] = {
    /* search and whole match */
    {ECMA, 0, "b", "b|abc|ab", "|a"},
    {FULL, 0, "b", "b", "abc|"},
    {PYTHON, 0, "b|", "b|", "bb"},
    {ECMA, 0, "", "|a", "\xff"},
    /* classes and escapes */
    {FULL, 0, "[a-c\\]-]+", "abc]-", "d|"},
    {FULL, 0, "[^a-c]", "d|\xc3\xa9|\xf0\x9f\x98\x80", "a|\xc3|dd"},
    {FULL, 0, "[]a", "", "a|]a"},
    {PYTHON, 0, "[]a]", "a|]", "b"},
    {FULL, 0, "[^]", "a|\n", ""},
    {FULL, 0, "[\\w-.]+", "a-.", " "},
    {FULL, 0, "[a-\\d]+", "a-1", "b"},
    {FULL, 0, "\\x41\\u0042\\u{43}\\u{1f600}\\uD83D\\uDE00", "ABC\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "ABC"},
    {FULL, 0, "\\cJ\\t[\\b]", "\n\t\b", "cJ"},
    {FULL, 0, "\\-\\_\\@\\/\\\"]{}a{b", "-_@/\"]{}a{b", ""},
    {PYTHON, 0, "\\101\\x41\\u0041\\U00000041\\-", "AAAA-", ""},
    {ECMA, 0, "^\\ud83d$", "", "a|\xf0\x9f\x98\x80"},
    /* \d \w \s . */
    {FULL, 0, "\\d\\w\\s", "1a |1_\xc2\xa0|1_\xef\xbb\xbf", "\xd9\xa1" "a |1\xc3\xa9 "},
    {PYTHON, 0, "\\d\\w\\s", "1a |\xd9\xa1\xc3\xa9 |1a\x1c", "aa |1a\xef\xbb\xbf"},
    {PYTHON, A, "\\d\\w\\s", "1a ", "\xd9\xa1" "a |1\xc3\xa9 |1a\x1c"},
    /* what `re` does not have */
    {PYTHON, 0, "\\p{L}[\\P{Lu}_]\\pN\\u{2d}(?<n>[\\u{61}-c])", "aa1-b|\xc3\xa9_1-a", "aA1-b|1a1-b|aa1-d"},
    {PYTHON, I, "\\p{Lu}\\P{Ll}[^\\p{Lu}]", "a11|A--", "aa1|1A1|111|a1a"},
    {PYTHON, I, "\\p{Lt}[\\P{sc=Greek}]k", "\xc7\x86" "aK", "aak|\xc7\x86\xc2\xb5k"},
    {FULL, 0, ".", "a|\xc2\x85", "\n|\r|\xe2\x80\xa8"},
    {PYTHON, 0, ".", "a|\r|\xe2\x80\xa8", "\n"},
    {FULL, S, ".", "\n|\r", "aa"},
    /* properties */
    {FULL, 0, "\\p{L}\\p{Lu}\\P{Lu}\\pN", "aAa1", "1Aa1|aaa1|aAA1"},
    {FULL, 0, "\\p{Script=Greek}\\p{sc=Cyrl}\\p{scx=Deva}", "\xce\xb1\xd0\x96\xe0\xa5\xa4", "a\xd0\x96\xe0\xa5\xa4"},
    {FULL, 0, "[\\p{Emoji_Presentation}\\p{White_Space}]+", "\xf0\x9f\x98\x80 ", "a"},
    {FULL, 0, "\\p{Any}\\p{ASCII}\\p{Assigned}\\p{gc=Decimal_Number}", "\xc3\xa9" "aa1", "\xc3\xa9\xc3\xa9" "a1"},
    {FULL, 0, "\\p{Han}\\p{Old_Italic}", "\xe6\xbc\xa2\xf0\x90\x8c\x80", ""},
    /* case */
    {FULL, I, "k", "k|K|\xe2\x84\xaa", "x"},
    {FULL, I, "[^k]", "x", "k|K|\xe2\x84\xaa"},
    {FULL, I, "\\w", "\xc5\xbf|\xe2\x84\xaa|S", "\xc3\xa9"},
    {FULL, I, "i", "i|I", "\xc4\xb0|\xc4\xb1"},
    {PYTHON, I, "i", "i|I|\xc4\xb0|\xc4\xb1", "j"},
    {PYTHON, I | A, "[k-l]", "k|K|L", "\xe2\x84\xaa"},
    {PYTHON, I, "\\w", "a", "\xcd\x85"},
    {FULL, 0, "(?i:a)b", "ab|Ab", "aB"},
    {PYTHON, I, "(?-i:a)b", "ab|aB", "Ab"},
    {ECMA, 0, "(?i)ab", "AB|xaBx", "a"},
    {FULL, 0, "a(?i)b(?-i)c", "abc|aBc", "Abc|abC"},
    {FULL, 0, "(?:a(?i)b|c)d", "abd|aBd|Cd", "Abd|cD|CD"},
    {FULL, 0, "(?!(?i)aws).+(?s).", "a1|AWx\n", "AwS1|a\n1"},
    {FULL, 0, "(?!\\.)+[.a]{2}(?=a)*a?", "a.|a.a", ".a|.aa"},
    {FULL, 0, "a(?=b){2}b|(?=x){0,3}c", "ab|c", "a|xc"},
    /* quantifiers, groups */
    {FULL, 0, "a{2}b{1,}c{0,2}?d*?e+?", "aabe|aabbccddee", "abe|aabccce"},
    {PYTHON, 0, "a{,2}b{,}c{}", "aac{}|bbbc{}|c{}", "aaac{}|c"},
    {FULL, 0, "(a|(?:b|cd)*)(?<n>e)", "e|ae|bcdbe", "abe"},
    {PYTHON, 0, "(?P<n>a)(?#comment)+", "a|aaa", ""},
    {PYTHON, X, " a b # c\n [ ] \\ +", "ab  |ab   ", "ab"},
    {PYTHON, 0, "(?x: a b )( c)", "ab c", "abc"},
    {FULL, 0, "x{4294967294}|y{3,4294967294}", "yyy|yyyy", "x|yy"},
    /* anchors */
    {ECMA, 0, "^a|b$", "a|ax|b|xb", "xa|bx"},
    {ECMA, 0, "^abc$", "abc", "abcd|xabc"},
    {ECMA, 0, "a^b|c$d", "", "ab|cd|a|b"},
    {ECMA, 0, "(^|,)x(,|$)", "x|,x,|a,x,a|x,|a,x", "ax|xa"},
    {ECMA, 0, "(?:^a|b){2}c", "abc|bbc|xbbc", "aac|xabc"},
    {ECMA, 0, "(?:^)*a(?:$)*", "a|xax", ""},
    {ECMA, 0, "^(?:a$|b)+$", "a|b|bba", "ab|aa"},
    {ECMA, 0, "(?:^|$|x){3}", "|x|ax|xxx", ""},
    {ECMA, M, "^a$", "a|x\na\ny|x\ra", "xa|ax"},
    {FULL, M, "a$\n^b", "a\nb", "ab"},
    {PYTHON, 0, "a$\n?", "a|a\n", "a\n\n"},
    {PYTHON, 0, "a$\n\n|(b$|\n)+", "b|b\n|\n\n", "a\n\n|b\nb"},
    {PYTHON, 0, "a\\Z\n?", "a", "a\n"},
    {PYTHON, M, "(?:^a$\n?)+", "a\na|a\n", "aa"},
    {ECMA, 0, "\\bfoo\\b", "foo|a foo.|foo-", "afoo|foob|_foo"},
    {FULL, 0, "(?:\\b\\w+\\b ?)+", "a|ab cd|ab cd ", " a|a  b|"},
    {FULL, 0, "a\\Bb|\\B| \\B ", "ab|  |", "a"},
    /* look-around */
    {ECMA, 0, "a(?=b)|c(?!d)", "ab|xabx|c|ac|ce", "ad|cd"},
    {ECMA, 0, "^(?!.*--)(?=.{2,3}$)[a-]", "a-|a-b", "a|a--|abcd"},
    {FULL, 0, "(?:(?!ab).)*", "|ba|bba", "ab|aab|xaba|\n"},
    {FULL, 0, "<(?:(?!ab).)*abc", "<abc|<aabc|<xabc", "<abab|<ababc|abc"},
    {FULL, 0, "(?:(?!-)[a-]{1,2}(?<!-)-)+", "a-|aa-a-", "--|a--|-"},
    {FULL, 0, "(?:[ab]+(?!--)-)*", "|a-|ab-b-", "ab|a--"},
    {FULL, 0, "((?!a).(?!b)){1,300}", "b|cd|bc", "a|cb|ca|"},
    {FULL, 0, "(?:(?!^a|\\bb).)*", "|ca|cb|c a", "a|b|c b"},
    {ECMA, 0, "(?<![^ ])a(?<=a)(?<!b)", "a|b a|ca a|aca", "ba|b|cca"},
    {PYTHON, 0, "(?=a)?(?!b)*[ab](?<=^b|aa)", "b", "a"},
    {PYTHON, M, "(?!^b)(?:.|\n(?!^b))*", "a|a\nab", "b|a\nb"},
    {FULL, I, "(?!k)\\w", "j", "k|K|\xe2\x84\xaa"},
    {PYTHON, 0, "\xc3\xa9\\b|(?:\xc3\xa9|\xc3\xa8x)\\b-", "\xc3\xa9|\xc3\xa9-|\xc3\xa8x-", "-"},
};

static void test_examples(void) {
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        for (int expected = 1; expected >= 0; expected--) {
            const char *at = expected ? e->matches : e->refuses;
            if (expected == 0 && !*at) continue; /* no text at all; for `matches` "" is the text "" only if the pattern has it */
            for (bool more = *at != 0; more;) {
                char text[100] = {0};
                size_t n = strcspn(at, "|");
                memcpy(text, at, n);
                int found = match(e->dialect, e->flags, e->pattern, text);
                if (found != expected) fprintf(stderr, "%s on \"%s\": %d\n", e->pattern, text, found);
                CHECK(found == expected);
                more = at[n] == '|';
                at += n + more;
            }
        }
    }
}

typedef struct mistake {
    u32 dialect;
    const char *pattern;
    ge_status status;
    u32 offset;
    const char *text; /* how the message begins */
} mistake;

#define BAD GE_E_SYNTAX
#define NOT_SUPPORTED GE_E_UNSUPPORTED

static const mistake mistakes[] = {
    {ECMA, "a(b", BAD, 1, "( without )"},
    {ECMA, "ab)", BAD, 2, ") without ("},
    {ECMA, "(?:a", BAD, 0, "( without )"},
    {ECMA, "*a", BAD, 0, "nothing to repeat"},
    {ECMA, "a|+", BAD, 2, "nothing to repeat"},
    {ECMA, "(?:*)", BAD, 3, "nothing to repeat"},
    {ECMA, "a**", BAD, 2, "nothing to repeat"},
    {PYTHON, "a**", BAD, 2, "multiple repeat"},
    {ECMA, "^*", BAD, 1, "nothing to repeat"},
    {ECMA, "a(?<=a)*", BAD, 7, "nothing to repeat"},
    {ECMA, "a(?i)*", BAD, 5, "nothing to repeat"},
    {PYTHON, "(?-i)a", BAD, 4, ": is missing"},
    {PYTHON, "(a(?i)b)", BAD, 2, "global flags"},
    {ECMA, "{2}", BAD, 0, "nothing to repeat"},
    {ECMA, "a{3,2}", BAD, 1, "the minimum"},
    {ECMA, "a{,5}", BAD, 1, "{,m}"},
    {ECMA, "[b-a]", BAD, 1, "the range b-a"},
    {PYTHON, "[\\w-a]", BAD, 1, "bad range \\w-a"},
    {ECMA, "x[a", BAD, 1, "[ without ]"},
    {PYTHON, "[]", BAD, 0, "[ without ]"},
    {ECMA, "a\\", BAD, 1, "the pattern ends"},
    {ECMA, "a\\q", BAD, 1, "bad escape \\q"},
    {PYTHON, "\\q", BAD, 0, "bad escape \\q"},
    {PYTHON, "a\\p{Foo}", BAD, 1, "unknown Unicode property \"Foo\""},
    {PYTHON, "(?a:\\p{L})", NOT_SUPPORTED, 4, "Unicode property: "},
    {PYTHON, "[\\p{L}-z]", BAD, 1, "bad range \\p{L}-z"},
    {PYTHON, "\\u{110000}", BAD, 0, "bad escape"},
    {PYTHON, "\\u{}", BAD, 0, "bad escape"},
    {PYTHON, "(?<n>a)(?P<n>b)", BAD, 11, "this group name is taken"},
    {ECMA, "\\x4g", BAD, 0, "bad escape"},
    {ECMA, "\\u{110000}", BAD, 0, "bad escape"},
    {ECMA, "\\u12", BAD, 0, "bad escape"},
    {ECMA, "\\p{Foo}", BAD, 0, "unknown Unicode property \"Foo\""},
    {ECMA, "\\p{sc=Lu}", BAD, 0, "unknown Unicode property"},
    {ECMA, "\\p{L", BAD, 0, "\\p{ without }"},
    {ECMA, "(?<1a>b)", BAD, 3, "bad character in a group name"},
    {ECMA, "(?<>b)", BAD, 3, "a group name is missing"},
    {PYTHON, "(?P<n>a)(?P<n>b)", BAD, 12, "this group name is taken"},
    {ECMA, "(?", BAD, 0, "( without )"},
    {ECMA, "(?;a)", BAD, 0, "unknown extension"},
    {PYTHON, "a(?i)", BAD, 1, "global flags"},
    {ECMA, "a\xff", BAD, 1, "the pattern is not valid UTF-8"},
    {ECMA, "\xed\xa0\x80", BAD, 0, "the pattern is not valid UTF-8"},
    {ECMA, "\xe2\x80", BAD, 0, "the pattern is not valid UTF-8"},
    {ECMA, "a(c(?!b)|cb)*d", NOT_SUPPORTED, 3, "look-ahead: in a repeat"},
    {ECMA, "a((?<=b)|c)", NOT_SUPPORTED, 2, "look-behind: it may"},
    {PYTHON, "a(?<!b\\b)", NOT_SUPPORTED, 1, "look-behind: with"},
    {ECMA, "(a)\\1", NOT_SUPPORTED, 3, "back-reference: "},
    {ECMA, "\\k<a>", NOT_SUPPORTED, 0, "back-reference: "},
    {PYTHON, "(?P=a)", NOT_SUPPORTED, 0, "back-reference: "},
    {PYTHON, "(?(1)a)", NOT_SUPPORTED, 0, "conditional: "},
    {PYTHON, "(?>a)", NOT_SUPPORTED, 0, "atomic group: "},
    {PYTHON, "a*+", NOT_SUPPORTED, 1, "possessive quantifier: "},
    {ECMA, "a++", NOT_SUPPORTED, 1, "possessive quantifier: "},
    {ECMA, "(?R)", NOT_SUPPORTED, 0, "recursion: "},
    {ECMA, "(?1)", NOT_SUPPORTED, 0, "recursion: "},
    {ECMA, "[[:alpha:]]", NOT_SUPPORTED, 1, "POSIX class: "},
    {ECMA, "a\\Z", NOT_SUPPORTED, 1, "\\Z: "},
    {ECMA, "\\A", NOT_SUPPORTED, 0, "\\A: "},
    {ECMA, "(?x)b", NOT_SUPPORTED, 2, "inline flag: "},
    {PYTHON, "\\N{BULLET}", NOT_SUPPORTED, 0, "named character: "},
    {ECMA, "a{4294967295}", NOT_SUPPORTED, 1, "repetition count: "},
    {ECMA, "(?:\\ba){101}", NOT_SUPPORTED, 7, "counted assertion: "},
    {PYTHON, "\\b(?a:\\b)", NOT_SUPPORTED, 6, "word boundary: "},
};

static void test_mistakes(void) {
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const mistake *m = &mistakes[i];
        ge_limits limits = limits_for_tests();
        budget b;
        rx_arena x;
        ge_err err = {0};
        budget_init(&b, &limits);
        CHECK(rx_init(&x, &b));
        CHECK(rx_parse(&x, (const u8 *)m->pattern, strlen(m->pattern), m->dialect, 0, &err) == NONE);
        bool as_expected = b.status == m->status && err.offset == m->offset && strncmp(err.text, m->text, strlen(m->text)) == 0;
        if (!as_expected) fprintf(stderr, "%s: status %d, offset %u, %s\n", m->pattern, (int)b.status, err.offset, err.text);
        CHECK(as_expected);
        rx_drop(&x);
        CHECK(b.bytes == 0);
    }
}

/* A NUL is a character like any other. */
static void test_nul(void) {
    ge_limits limits = limits_for_tests();
    budget b;
    rx_arena x;
    ge_err err = {0};
    budget_init(&b, &limits);
    CHECK(rx_init(&x, &b));
    rx_id id = rx_parse(&x, (const u8 *)"a\0[\0-\1]", 7, FULL, 0, &err);
    CHECK(contains(&x, id, "a\0\1", 3) && !contains(&x, id, "a", 1));
    rx_drop(&x);
}

/* Parses `unit` n times over between `open` and `close`; returns the status and whether `text` (if any) matches. */
static ge_status parse_long(const char *open, const char *unit, size_t n, const char *close, bool numbered) {
    ge_limits limits = limits_for_tests();
    budget b;
    rx_arena x;
    ge_err err = {0};
    budget_init(&b, &limits);
    CHECK(rx_init(&x, &b));
    size_t room = strlen(open) + strlen(close) + n * (strlen(unit) + 12) + 1, used;
    char *pattern = malloc(room);
    if (!pattern) return GE_E_MEMORY;
    used = (size_t)sprintf(pattern, "%s", open);
    for (size_t i = 0; i < n; i++)
        used += (size_t)(numbered ? sprintf(pattern + used, "%s%zu", unit, i * 7919 % n) : sprintf(pattern + used, "%s", unit));
    used += (size_t)sprintf(pattern + used, "%s", close);
    rx_id id = rx_parse(&x, (const u8 *)pattern, used, ECMA, 0, &err);
    CHECK((id == NONE) == (b.status != GE_OK));
    free(pattern);
    ge_status status = b.status;
    rx_drop(&x);
    CHECK(b.bytes == 0);
    return status;
}

static void test_size(void) {
    CHECK(parse_long("", "(", 100000, "", false) == GE_E_LIMIT);
    CHECK(parse_long("", "(?:", 200, "", false) == GE_E_SYNTAX);
    CHECK(parse_long("", "a", 100000, "", false) == GE_OK);
    CHECK(parse_long("", "[ab]", 100000, "$", false) == GE_OK);
    CHECK(parse_long("^(", "\\p{L}?", 3000, ")$", false) == GE_OK);
    CHECK(parse_long("^(x", "|word", 10000, ")$", true) == GE_OK);
    CHECK(parse_long("x", "$|^word", 10000, "$", true) == GE_OK);
    CHECK(parse_long("", "\\b", 10000, "", false) == GE_OK);
    CHECK(parse_long("[", "a-z", 100000, "]", false) == GE_OK);
    CHECK(parse_long("", "(?!b)a(?<!b)", 10000, "", false) == GE_OK);
    CHECK(parse_long("^", "(?!b|.*c)", 10000, "$", false) == GE_OK);
    CHECK(parse_long("(?:a", "|(?!.*c)x", 1000, ")$", true) == GE_OK);
    CHECK(parse_long("", "(?!b.*c).", 2000, "", false) == GE_E_LIMIT);
    CHECK(parse_long("", "(?!(?=", 100, "", false) == GE_E_SYNTAX);
}

/* Every allocation fails once (of later ones a sample): no leak, the status says so, and without failure the result is there. */
static void test_memory(void) {
    static const char *const patterns[] = {"^(?:a|[^b\\p{Lu}]+x{2,5}|foo|bar)*$|\\bq", "(?:^a\\b|c$){0,3}(?i:straSSe)|[\\d\\W]",
                                           "(?:(?!^a|\\bb)[^-]|-(?!x)-)*-x(?:(?!yy)[y-]){2,}yy(?<!xy)(a|(?!c)b?|(?=.$).)"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (u64 k = 1;; k += 1 + k / 40) {
            ge_limits limits = limits_for_tests();
            budget b;
            rx_arena x;
            ge_err err = {0};
            budget_init(&b, &limits);
            CHECK(rx_init(&x, &b));
            b.fail_after = k;
            rx_id id = rx_parse(&x, (const u8 *)patterns[i], strlen(patterns[i]), i ? PYTHON : ECMA, 0, &err);
            bool failed = b.fail_after == 0;
            CHECK((id == NONE) == failed && (b.status == GE_E_MEMORY) == failed);
            rx_drop(&x);
            CHECK(b.bytes == 0);
            if (!failed) break;
        }
}

int main(void) {
    test_examples();
    test_mistakes();
    test_nul();
    test_size();
    test_memory();
    return harness_result("t_rx_parse");
}
