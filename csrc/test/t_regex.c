/* t_regex: constructors, derivatives and emptiness against languages written out; multiples against arithmetic.
 *
 * The oracle of an expression is its language cut off at strings of MAX_LENGTH over {a, b, c}: a bit per string. Every operator is
 * computed on these bits by its definition, beside the expression; then all strings are read by derivatives. */
#include "../regex/names/rx_punycode.h"
#include "harness.h"

enum { LETTERS = 3, MAX_LENGTH = 4, N_STRINGS = 1 + 3 + 9 + 27 + 81, POOL = 60 };

typedef struct language {
    u8 has[N_STRINGS];
} language;

typedef struct pair {
    rx_id id;
    language l;
} pair;

static u32 utf8(u32 c, u8 out[4]) {
    static const u8 lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (c < 0x80) return out[0] = (u8)c, 1;
    u32 n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (u32 i = n; i > 1; i--, c >>= 6) out[i - 1] = (u8)(0x80 | (c & 63));
    return out[0] = (u8)(lead[n] | c), n;
}

static u64 seed = 1;
/* Strings by number: 0 is "", then those of length 1, ... */
static u32 first_of_length(u32 n) {
    u32 first = 0, count = 1;
    for (; n; n--) first += count, count *= LETTERS;
    return first;
}

static u32 spell(u32 string, u8 out[MAX_LENGTH]) {
    u32 n = 0;
    while (n < MAX_LENGTH && string >= first_of_length(n + 1)) n++;
    u32 rest = string - first_of_length(n);
    for (u32 i = n; i > 0; i--, rest /= LETTERS) out[i - 1] = (u8)('a' + rest % LETTERS);
    return n;
}

static u32 number(const u8 *text, u32 n) {
    u32 value = 0;
    for (u32 i = 0; i < n; i++) value = value * LETTERS + (text[i] - 'a');
    return first_of_length(n) + value;
}

static language concat(const language *p, const language *q) {
    language r = {{0}};
    for (u32 s = 0; s < N_STRINGS; s++) {
        u8 text[MAX_LENGTH];
        u32 n = spell(s, text);
        for (u32 cut = 0; cut <= n; cut++) r.has[s] |= p->has[number(text, cut)] & q->has[number(text + cut, n - cut)];
    }
    return r;
}

static language repeat(const language *p, u32 low, u32 high) { /* beyond MAX_LENGTH + low rounds nothing new comes */
    language result = {{0}}, power = {{1}};
    for (u32 i = 0; i <= high && i <= low + MAX_LENGTH; i++) {
        if (i >= low)
            for (u32 s = 0; s < N_STRINGS; s++) result.has[s] |= power.has[s];
        power = concat(&power, p);
    }
    return result;
}

static void check_language(rx_arena *x, const pair *p) {
    bool some = false;
    for (u32 s = 0; s < N_STRINGS; s++) {
        u8 text[MAX_LENGTH];
        u32 n = spell(s, text);
        rx_id id = p->id;
        for (u32 i = 0; i < n; i++) {
            id = rx_derive(x, id, text[i]);
            /* emptiness is exact: an expression that still contains something is never called empty */
            if (rx_is_empty(x, id)) CHECK(!p->l.has[s]);
        }
        CHECK(rx_nullable(x, id) == p->l.has[s]);
        some |= p->l.has[s];
    }
    if (some) CHECK(!rx_is_empty(x, p->id));
    if (x->meta.at[p->id].flags & RX_INHABITED) CHECK(!rx_is_empty(x, p->id));
}

static pair random_operation(rx_arena *x, const pair *pool, u32 n) {
    const pair *p = &pool[random_below(&seed, n)], *q = &pool[random_below(&seed, n)];
    pair r = {0};
    switch (random_below(&seed, 6)) {
    case 0:
        r.id = rx_concat(x, p->id, q->id);
        r.l = concat(&p->l, &q->l);
        break;
    case 1:
        r.id = rx_or2(x, p->id, q->id);
        for (u32 s = 0; s < N_STRINGS; s++) r.l.has[s] = p->l.has[s] | q->l.has[s];
        break;
    case 2:
        r.id = rx_and(x, (rx_id[]){p->id, q->id}, 2);
        for (u32 s = 0; s < N_STRINGS; s++) r.l.has[s] = p->l.has[s] & q->l.has[s];
        break;
    case 3:
        r.id = rx_not(x, p->id);
        for (u32 s = 0; s < N_STRINGS; s++) r.l.has[s] = !p->l.has[s];
        break;
    default: {
        u32 low = random_below(&seed, 3), high = random_below(&seed, 3) ? low + random_below(&seed, 4) : NONE;
        r.id = rx_repeat(x, p->id, low, high);
        r.l = repeat(&p->l, low, high);
        break;
    }
    }
    return r;
}

/* The least text is in the expression; it is no longer than the shortest string of the language, and as long if it has no other letters. */
static void check_least(rx_arena *x, const pair *p) {
    u32 first = 0, length = 0, other = 0;
    while (first < N_STRINGS && !p->l.has[first]) first++;
    while (length <= MAX_LENGTH && first >= first_of_length(length + 1)) length++;
    u32 least = rx_least(x, p->id);
    CHECK(x->b->status == GE_OK && (least <= length || first == N_STRINGS));
    CHECK(rx_length_bound(x, p->id) <= least);
    CHECK((least == RX_NO_LENGTH) == rx_is_empty(x, p->id));
    if (least == RX_NO_LENGTH) return;
    byte_vec text = {0};
    rx_id id = p->id;
    CHECK(rx_least_text(x, p->id, &text) && text.n == least);
    for (u32 i = 0; i < text.n; i++) {
        other |= text.at[i] < 'a' || text.at[i] >= 'a' + LETTERS;
        id = rx_derive(x, id, text.at[i]);
    }
    CHECK(rx_nullable(x, id) && (other || least == length || (first == N_STRINGS && least > MAX_LENGTH)));
    vec_drop(x->b, &text);
}

/* First bytes leave none out, and are exact where that is known, bytes of one local
 * class have one derivative, and a clamped expression has the same short strings. */
static void check_front(rx_arena *x, rx_id id) {
    byte_set first;
    u8 same[256], next[256];
    CHECK(rx_first(x, id, &first));
    u32 local = rx_local(x, id), ring = 0;
    CHECK(local != NONE);
    rx_refresh_classes(x);
    rx_local_classes(x, local, same, next);
    for (u32 c = 0; c < x->n_classes; c++) {
        rx_id derived = rx_derive(x, id, x->class_byte[c]);
        CHECK(derived == rx_derive(x, id, x->class_byte[same[c]]));
        CHECK(same[next[c]] == same[c]);
        ring += next[c];
        CHECK(!rx_surely_begins(x, id, x->class_byte[c]) || rx_is_empty(x, id) || !rx_is_empty(x, derived));
        if (!rx_is_empty(x, derived)) CHECK(set_has(&first, x->class_byte[c]));
        else if (x->meta.at[id].flags & RX_FIRST_EXACT) CHECK(!set_has(&first, x->class_byte[c]));
    }
    CHECK(ring == x->n_classes * (x->n_classes - 1) / 2); /* each class is the next of one */
}

static bool are_equal(rx_arena *x, rx_id a, rx_id b) {
    return rx_is_empty(x, rx_and(x, (rx_id[]){a, rx_not(x, b)}, 2)) && rx_is_empty(x, rx_and(x, (rx_id[]){b, rx_not(x, a)}, 2));
}

/* After bytes at which they do not differ, two expressions are one language. */
static void check_differ(rx_arena *x, rx_id a, rx_id b) {
    byte_set differ, back;
    CHECK(rx_differ(x, a, b, &differ) && rx_differ(x, b, a, &back));
    CHECK(memcmp(&differ, &back, sizeof differ) == 0 && (a != b || set_count(&differ) == 0));
    rx_refresh_classes(x);
    for (u32 c = 0; c < x->n_classes; c++) {
        u32 byte = x->class_byte[c];
        if (!set_has(&differ, byte)) CHECK(are_equal(x, rx_derive(x, a, byte), rx_derive(x, b, byte)));
    }
    CHECK(x->b->status == GE_OK);
}

static bool reads_all(rx_arena *x, rx_id id, u32 string) {
    u8 text[MAX_LENGTH];
    u32 n = spell(string, text);
    for (u32 i = 0; i < n; i++) id = rx_derive(x, id, text[i]);
    return rx_nullable(x, id);
}

static bool has_length(rx_arena *x, rx_id id, u32 n) {
    if (n == 0) return rx_nullable(x, id);
    for (u32 c = 0; c < x->n_classes; c++)
        if (has_length(x, rx_derive(x, id, x->class_byte[c]), n - 1)) return true;
    return false;
}

static void check_clamped(rx_arena *x, const pair *p) {
    for (u32 n_bytes = 1; n_bytes <= MAX_LENGTH; n_bytes++) {
        rx_id clamped = rx_clamp(x, p->id, n_bytes);
        for (u32 s = 0; s < N_STRINGS; s++)
            if (s < first_of_length(n_bytes + 1)) CHECK(reads_all(x, clamped, s) == p->l.has[s]);
            else if (p->l.has[s]) CHECK(reads_all(x, clamped, s)); /* never less */
        check_front(x, clamped);
    }
    u32 finish = rx_finish(x, p->id, MAX_LENGTH);
    CHECK(finish > MAX_LENGTH || has_length(x, p->id, finish));
}

static void random_expressions(u32 rounds) {
    for (u32 round = 0; round < rounds; round++) {
        budget b;
        ge_limits limits = wide_limits();
        budget_init(&b, &limits);
        rx_arena x;
        CHECK(rx_init(&x, &b));
        static pair pool[POOL];
        u32 n = 0;
        pool[n++] = (pair){RX_ID_EMPTY, {{1}}};
        pool[n++] = (pair){RX_ID_NEVER, {{0}}};
        for (u32 letters = 1; letters < 8; letters++) {
            byte_set set = {{0}};
            pair p = {0};
            for (u32 k = 0; k < LETTERS; k++)
                if (letters >> k & 1) set_add(&set, 'a' + k), p.l.has[1 + k] = 1;
            p.id = rx_set(&x, &set);
            pool[n++] = p;
        }
        while (n < POOL) {
            pair p = random_operation(&x, pool, n);
            if (p.id == NONE) break; /* nested too deep */
            check_language(&x, &p);
            check_front(&x, p.id);
            check_clamped(&x, &p);
            check_least(&x, &p);
            const pair *q = &pool[random_below(&seed, n)], *r = &pool[random_below(&seed, n)];
            rx_id quoted = rx_quote(&x, p.id, round & 1);
            switch (random_below(&seed, 16)) {
            case 0: check_differ(&x, p.id, q->id); break;
            case 1: check_differ(&x, quoted, rx_quote(&x, q->id, round & 1)); break;
            case 2: check_differ(&x, rx_concat(&x, p.id, r->id), rx_concat(&x, q->id, r->id)); break;
            case 3: check_differ(&x, rx_concat(&x, r->id, p.id), rx_concat(&x, r->id, q->id)); break;
            default: break;
            }
            for (const char *c = "\\u00"; quoted != NONE; c++) { /* raw, and inside an escape */
                check_front(&x, quoted);
                if (!*c) break;
                quoted = rx_derive(&x, quoted, (u8)*c);
            }
            pool[n++] = p;
        }
        budget_begin(&b);
        rx_drop(&x);
        CHECK(b.bytes == 0);
    }
}

/* Strings but for a few differ from all strings where those begin;
 * spellings do, and in escapes if one of those has to be or may be escaped. */
static void exclusions_differ_where_they_begin(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    literal literals[] = {{(const u8 *)"key", 3}, {(const u8 *)"kind", 4}, {(const u8 *)"\\x", 2}};
    for (u32 n = 2; n <= 3; n++) {
        rx_id text = rx_text(&x), others = rx_and(&x, (rx_id[]){text, rx_not(&x, rx_literals(&x, literals, n))}, 2);
        byte_set differ;
        CHECK(rx_differ(&x, text, others, &differ));
        CHECK(set_has(&differ, 'k') && set_has(&differ, '\\') == (n == 3) && set_count(&differ) == n - 1);
        for (u32 escapes = 0; escapes < 2; escapes++) {
            CHECK(rx_differ(&x, rx_quote(&x, text, escapes), rx_quote(&x, others, escapes), &differ));
            CHECK(set_has(&differ, 'k') && set_has(&differ, '\\') == (n == 3 || escapes) && set_count(&differ) <= 2);
        }
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* A part of a union that a loop in it contains is left out; one that it does not is kept. */
static void loops_contain(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    static const char_range digits[] = {{'0', '9'}, {0x660, 0x669}, {0xff10, 0xff19}};
    static const char_range words[] = {{'.', '9'}, {'a', 'z'}, {0x100, 0xffff}, {0x10000, 0x10ffff}},
                            letters[] = {{'a', 'z'}, {0x660, 0x668}};
    rx_id digit = rx_chars(&x, digits, 3), word = rx_chars(&x, words, 4), letter = rx_chars(&x, letters, 2);
    rx_id mark = rx_byte(&x, '-'), dot = rx_byte(&x, '.'), three = rx_repeat(&x, digit, 1, 3);
    for (u32 low = 0; low < 3; low++) {
        rx_id loop = rx_concat(&x, rx_repeat(&x, word, low, NONE), mark);
        rx_id within = rx_concat(&x, three, rx_concat(&x, dot, loop)), to_tail = rx_concat(&x, three, mark);
        CHECK(rx_or2(&x, loop, within) == loop);
        CHECK(rx_or2(&x, loop, rx_concat(&x, rx_or2(&x, RX_ID_EMPTY, digit), loop)) == loop);
        CHECK((rx_or2(&x, loop, to_tail) == loop) == (low == 0));
        CHECK(rx_or2(&x, loop, rx_concat(&x, mark, loop)) != loop);
        CHECK(rx_or2(&x, loop, three) != loop);
    }
    CHECK(rx_or2(&x, rx_repeat(&x, word, 0, NONE), three) == rx_repeat(&x, word, 0, NONE));
    CHECK(rx_or2(&x, rx_repeat(&x, letter, 0, NONE), three) != rx_repeat(&x, letter, 0, NONE)); /* 9, in three scripts */
    CHECK(rx_or2(&x, rx_repeat(&x, word, 0, NONE), rx_byte(&x, 0xe1)) != rx_repeat(&x, word, 0, NONE)); /* a part of a character */
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* A part of a union that is another one with more conditions is left out. */
static void conditions_contain(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    static const char_range letters[] = {{'a', 'c'}, {'b', 'd'}, {'c', 'e'}};
    rx_id text = rx_text(&x), mark = rx_byte(&x, '"'), of[3], line = rx_concat(&x, RX_ID_ALL, rx_byte(&x, 10));
    for (u32 i = 0; i < 3; i++) of[i] = rx_repeat(&x, rx_chars(&x, letters + i, 1), 1, 3);
    rx_id p = of[0], q = of[1], r = of[2];
    rx_id pq = rx_and(&x, (rx_id[]){p, q}, 2), qr = rx_and(&x, (rx_id[]){q, r}, 2), pqr = rx_and(&x, (rx_id[]){p, q, r}, 3);
    CHECK(rx_or2(&x, p, pq) == p && rx_or2(&x, pq, q) == q && rx_or2(&x, pq, pqr) == pq);
    CHECK(rx_or(&x, (rx_id[]){pqr, qr, p}, 3) == rx_or2(&x, p, qr));
    CHECK(rx_or2(&x, line, rx_and(&x, (rx_id[]){line, p}, 2)) == line);
    CHECK(rx_or2(&x, p, qr) != p && rx_or2(&x, pq, qr) != pq);
    CHECK(rx_or2(&x, rx_concat(&x, p, mark), rx_concat(&x, pq, mark)) == rx_concat(&x, p, mark));
    CHECK(rx_or2(&x, rx_concat(&x, p, mark), pq) != rx_concat(&x, p, mark)); /* behind it comes something else */
    rx_id not_q = rx_not(&x, q), p_alone = rx_and(&x, (rx_id[]){p, not_q}, 2);
    CHECK(rx_and(&x, (rx_id[]){p, q, rx_not(&x, pq)}, 3) == RX_ID_NEVER && rx_and(&x, (rx_id[]){pqr, rx_not(&x, pq)}, 2) == RX_ID_NEVER);
    CHECK(rx_and(&x, (rx_id[]){p_alone, rx_not(&x, p_alone)}, 2) == RX_ID_NEVER &&
          rx_and(&x, (rx_id[]){p, rx_not(&x, pq)}, 2) != RX_ID_NEVER);
    CHECK(rx_and(&x, (rx_id[]){p, not_q, rx_not(&x, rx_or2(&x, r, p_alone))}, 3) == RX_ID_NEVER);
    CHECK(rx_and(&x, (rx_id[]){pq, rx_not(&x, p_alone)}, 2) != RX_ID_NEVER && rx_and(&x, (rx_id[]){pq, rx_not(&x, pqr)}, 2) != RX_ID_NEVER);
    for (u32 escapes = 0; escapes < 2; escapes++) {
        rx_id one = rx_concat(&x, rx_quote(&x, p, escapes), mark), both = rx_concat(&x, rx_quote(&x, pq, escapes), mark);
        CHECK(rx_or2(&x, one, both) == one);
        CHECK(rx_or2(&x, one, rx_concat(&x, pq, mark)) != one); /* spelt otherwise */
        CHECK(rx_or2(&x, one, rx_concat(&x, rx_quote(&x, pq, !escapes), mark)) != one);
        CHECK(rx_or2(&x, rx_derive(&x, one, '\\'), both) != rx_derive(&x, one, '\\')); /* within an escape */
        rx_id all = rx_quote(&x, text, escapes), some = rx_quote(&x, rx_and(&x, (rx_id[]){text, p, rx_not(&x, q)}, 3), escapes);
        CHECK(rx_or2(&x, all, some) == all && rx_or2(&x, all, rx_quote(&x, RX_ID_ALL, escapes)) != all);
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

static void literals_are_a_trie(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    enum { N = 10000 };
    static char text[N][8];
    static literal literals[N];
    for (u32 i = 0; i < N; i++) literals[i] = (literal){(const u8 *)text[i], (u32)sprintf(text[i], "k%05u", i)};
    rx_id id = rx_literals(&x, literals, N);
    CHECK(id != NONE);
    CHECK(intern_count(&x.nodes) < 200); /* ends are shared: ten digits, five places */
    for (u32 i = 0; i < N; i += 37) {
        rx_id at = id;
        for (u32 k = 0; k < literals[i].n; k++) at = rx_derive(&x, at, literals[i].at[k]);
        CHECK(at == RX_ID_EMPTY);
    }
    rx_id none = rx_derive(&x, rx_derive(&x, id, 'k'), 'x');
    CHECK(none == RX_ID_NEVER);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* Every code point, in its own class and in its complement. */
static void code_points(void) {
    static const char_range ranges[] = {{0x41, 0x5a},     {0x7f, 0x85},      {0x7fe, 0x802},
                                        {0xd000, 0xe010}, {0xfffe, 0x10001}, {0x10fff0, 0x10ffff}};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id some = rx_chars(&x, ranges, 6), text = rx_text(&x);
    rx_id others = rx_and(&x, (rx_id[]){text, rx_not(&x, some)}, 2);
    for (u32 c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 7) {
        u8 bytes[4];
        u32 n = utf8(c, bytes);
        bool surrogate = c >= 0xd800 && c < 0xe000, in = false;
        for (u32 i = 0; i < 6; i++) in |= c >= ranges[i].low && c <= ranges[i].high;
        rx_id p = some, q = others, t = text;
        for (u32 i = 0; i < n; i++) p = rx_derive(&x, p, bytes[i]), q = rx_derive(&x, q, bytes[i]), t = rx_derive(&x, t, bytes[i]);
        CHECK(rx_nullable(&x, p) == (in && !surrogate));
        CHECK(rx_nullable(&x, q) == (!in && !surrogate));
        CHECK(rx_nullable(&x, t) == !surrogate);
        CHECK(rx_is_empty(&x, t) == surrogate);
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* Of each character beyond ASCII: does some string of `id` begin with it, and is it one of rx_beyond? */
static void check_beyond(rx_arena *x, rx_id id, bool is_seen) {
    rx_id chars = rx_beyond(x, id);
    CHECK(x->b->status == GE_OK && (chars != RX_ANY_BEYOND) == is_seen);
    for (u32 c = 0x80; is_seen && c <= 0x10ffff; c += c < 0x900 ? 1 : 13) {
        u8 bytes[4];
        u32 n = utf8(c, bytes);
        rx_id p = id, q = chars;
        for (u32 i = 0; i < n; i++) p = rx_derive(x, p, bytes[i]), q = rx_derive(x, q, bytes[i]);
        CHECK(rx_is_empty(x, p) == (q == RX_ID_NEVER) && (q == RX_ID_NEVER || q == RX_ID_EMPTY));
    }
}

static void characters_beyond_ascii(void) {
    static const char_range digits[] = {{'0', '9'}, {0x660, 0x669}, {0x966, 0x96f}, {0xff10, 0xff19}, {0x1d7ce, 0x1d7ff}};
    static const char_range spaces[] = {{' ', ' '}, {0x85, 0x85}, {0xa0, 0xa0}, {0x3000, 0x3000}}, letters[] = {{0x430, 0x44f}};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id d = rx_chars(&x, digits, 5), s = rx_chars(&x, spaces, 4), l = rx_chars(&x, letters, 1), dot = rx_byte(&x, '.');
    rx_id dotted = rx_concat(&x, d, dot), maybe = rx_repeat(&x, s, 0, 3), word = rx_concat(&x, l, rx_concat(&x, l, dotted));
    rx_id tail = rx_derive(&x, word, 0xd0), raw = rx_byte(&x, 0xc3);
    check_beyond(&x, dot, true);
    CHECK(rx_beyond(&x, dot) == RX_ID_NEVER && rx_beyond(&x, dotted) == rx_beyond(&x, d) && rx_beyond(&x, word) == l);
    check_beyond(&x, rx_concat(&x, maybe, dotted), true); /* spaces or digits */
    check_beyond(&x, rx_or2(&x, word, rx_concat(&x, maybe, word)), true);
    check_beyond(&x, rx_concat(&x, rx_repeat(&x, d, 1, NONE), rx_or2(&x, word, RX_ID_EMPTY)), true);
    check_beyond(&x, rx_or2(&x, rx_tag(&x, word, 7), dot), true);
    check_beyond(&x, tail, false); /* within a character */
    check_beyond(&x, rx_or2(&x, raw, d), false); /* no UTF-8 */
    check_beyond(&x, rx_concat(&x, raw, dot), false);
    check_beyond(&x, rx_and(&x, (rx_id[]){rx_text(&x), rx_not(&x, d)}, 2), false);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

static void large_counters(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id a = rx_byte(&x, 'a');
    CHECK(rx_repeat(&x, rx_repeat(&x, a, 1, 1000), 1, 1000) == rx_repeat(&x, a, 1, 1000000)); /* (a{1,1000}){1,1000} */
    for (u32 wide = 0; wide < 2; wide++) { /* p? p? = p{0,2}, and so on, where p is one expression or a union */
        rx_id p = wide ? rx_chars(&x, (char_range[]){{'a', 'z'}, {0xe0, 0xff}, {0x4e00, 0x9fff}}, 3) : a;
        rx_id optional = rx_repeat(&x, p, 0, 1), other = rx_repeat(&x, rx_byte(&x, '-'), 0, 1), run = optional;
        for (u32 i = 2; i <= 40; i++) {
            run = i % 2 ? rx_concat(&x, run, optional) : rx_concat(&x, optional, run);
            CHECK(run == rx_repeat(&x, p, 0, i));
        }
        CHECK(rx_concat(&x, optional, rx_concat(&x, rx_repeat(&x, p, 2, 5), other)) == rx_concat(&x, rx_repeat(&x, p, 2, 6), other));
        CHECK(rx_kind_of(&x, rx_concat(&x, optional, other)) == RX_CONCAT &&
              rx_concat(&x, optional, other) != rx_concat(&x, other, optional));
    }
    CHECK(rx_repeat(&x, rx_repeat(&x, a, 0, 1), 0, NONE) == rx_repeat(&x, a, 0, NONE));
    CHECK(rx_repeat(&x, rx_repeat(&x, a, 2, 2), 0, NONE) != rx_repeat(&x, a, 0, NONE)); /* even numbers leave gaps */
    rx_id million = rx_repeat(&x, a, 1000000, 1000000);
    u32 before = intern_count(&x.nodes);
    CHECK(!rx_is_empty(&x, million) && intern_count(&x.nodes) == before);
    CHECK(rx_derive(&x, million, 'a') == rx_repeat(&x, a, 999999, 999999));
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* Counted by what is behind, or, where that takes long, by length: the same, and no further than the limit. */
static void counts(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id a = rx_byte(&x, 'a'), ab = rx_chars(&x, (char_range[]){{'a', 'b'}}, 1), any = rx_text(&x);
    rx_id c = rx_chars(&x, (char_range[]){{0, 0x10ffff}}, 1);
    const struct {
        rx_id id;
        u64 limit, count;
    } known[] = {
        {RX_ID_NEVER, 9, 0},
        {RX_ID_EMPTY, 9, 1},
        {rx_repeat(&x, a, 2, 9), 9, 8},
        {rx_repeat(&x, ab, 1, 3), 99, 14},
        {rx_repeat(&x, ab, 1, 3), 14, 14},
        {rx_repeat(&x, ab, 1, 3), 13, 13},
        {rx_repeat(&x, a, 0, 20000), 1 << 30, 20001},
        {rx_concat(&x, rx_repeat(&x, a, 0, 20000), rx_repeat(&x, ab, 0, 1)), 1 << 30, 40003},
        {rx_repeat(&x, a, 0, NONE), 1 << 30, 1 << 30},
        {rx_repeat(&x, rx_repeat(&x, a, 1000, 1000), 0, NONE), 1 << 30, 1 << 30},
        {rx_repeat(&x, rx_repeat(&x, ab, 1, 1), 0, 4000000000), (u64)1 << 31, (u64)1 << 31}, /* only its shorter ones are looked at */
        {rx_and(&x, (rx_id[]){any, rx_repeat(&x, c, 1, 10000000)}, 2), (u64)1 << 31, (u64)1 << 31},
    };
    for (u32 i = 0; i < sizeof known / sizeof *known; i++) {
        u64 count, before = b.work;
        CHECK(rx_count(&x, known[i].id, known[i].limit, &count) && count == known[i].count);
        CHECK(b.work - before < 1000000);
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

static literal decimal(u64 value, u32 scale, char out[24]) {
    return (literal){(const u8 *)out, (u32)sprintf(out, "%0*llu", (int)scale + 1, (unsigned long long)value)};
}

/* Digits of one sort have the same derivative. */
static void check_sorts(rx_arena *x, rx_id id) {
    rx_id to[10];
    u32 sort[10];
    for (u32 i = 0; i < 10; i++) {
        to[i] = rx_multiple_step(x, intern_words(&x->nodes, id), '0' + i);
        sort[i] = rx_multiple_sort(x, intern_words(&x->nodes, id), '0' + i);
        for (u32 k = 0; k < i; k++) CHECK(sort[i] != sort[k] || to[i] == to[k]);
    }
}

/* A node is NEVER if and only if no multiple in range begins with what was read, and tells
 * how many digits are missing: counted out, for each beginning of up to four digits. */
static void check_beginnings(rx_arena *x, rx_id id, u64 divisor, u64 low, u64 high) {
    u32 least = RX_NO_LENGTH;
    for (u64 value = low; value <= high && least == RX_NO_LENGTH; value++) {
        char text[24];
        if (value % divisor == 0) least = decimal(value, 0, text).n;
    }
    CHECK(rx_least(x, id) == least);
    for (u32 begin = 1; begin < 2500; begin++) {
        char text[24];
        literal digits = decimal(begin, 0, text);
        rx_id at = id;
        for (u32 i = 0; i < digits.n; i++) at = rx_derive(x, at, digits.at[i]);
        u32 n_digits = 0;
        bool alive = false;
        for (u64 first = begin, last = begin; first <= high && !alive; first *= 10, last = last * 10 + 9, n_digits++)
            for (u64 value = first; value <= last && value <= high && !alive; value++) alive = value >= low && value % divisor == 0;
        CHECK((at == RX_ID_NEVER) == !alive);
        if (intern_words(&x->nodes, at)[0] == RX_MULTIPLE) check_sorts(x, at);
        CHECK(rx_least(x, at) == (alive ? n_digits - 1 : RX_NO_LENGTH));
        CHECK(rx_nullable(x, at) == (begin >= low && begin <= high && begin % divisor == 0));
    }
}

static literal digits_of(const char *text) { return (literal){(const u8 *)text, (u32)strlen(text)}; }

static rx_id multiples_of(rx_arena *x, u64 divisor, u32 scale, literal low, literal high) {
    char text[24];
    return rx_multiple(x, decimal(divisor, 0, text), scale, low, high);
}

static void multiples(void) {
    static const u64 divisors[] = {1, 7, 25, 64, 999, 4321};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    char from[24], to[24];
    for (u32 round = 0; round < 24; round++) {
        u64 divisor = divisors[round % 6], low = random_below(&seed, 3000), high = low + random_below(&seed, round % 2 ? 100 : 20000);
        check_beginnings(&x, multiples_of(&x, divisor, 0, decimal(low, 0, from), decimal(high, 0, to)), divisor, low, high);
    }
    /* from 1.25 to 1.50 in steps of 0.25; a point needs digits behind it, and zeros may follow */
    rx_id id = multiples_of(&x, 25, 2, decimal(125, 2, from), decimal(150, 2, to));
    CHECK(!rx_nullable(&x, id) && rx_derive(&x, id, '0') == RX_ID_NEVER && rx_derive(&x, id, '2') == RX_ID_NEVER);
    id = rx_derive(&x, rx_derive(&x, id, '1'), '.');
    CHECK(!rx_nullable(&x, id) && rx_derive(&x, id, '0') == RX_ID_NEVER && rx_derive(&x, id, '4') == RX_ID_NEVER);
    CHECK(rx_nullable(&x, rx_derive(&x, id, '5')) && !rx_nullable(&x, rx_derive(&x, id, '2')));
    id = rx_derive(&x, rx_derive(&x, id, '5'), '0');
    CHECK(rx_nullable(&x, id) && rx_derive(&x, id, '0') == id && rx_derive(&x, id, '1') == RX_ID_NEVER);
    CHECK(multiples_of(&x, 7, 0, decimal(15, 0, from), decimal(20, 0, to)) == RX_ID_NEVER);
    CHECK(multiples_of(&x, 7, 0, decimal(20, 0, from), decimal(15, 0, to)) == RX_ID_NEVER);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

static rx_id after(rx_arena *x, rx_id id, const char *text) {
    for (; *text; text++) id = rx_derive(x, id, (u8)*text);
    return id;
}

/* Divisors of several limbs: 9999 and its square 99980001, of as many digits as that. With failing allocations, too. */
static void long_divisors(void) {
    static const u32 lengths[] = {9, 10, 19, 20, 29, 40, 310, RX_MAX_DIVISOR};
    char divisor[RX_MAX_DIVISOR + 1], square[2 * RX_MAX_DIVISOR + 1];
    for (u32 i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        u32 n = lengths[i];
        memset(divisor, '9', n);
        memset(square, '9', n - 1);
        memset(square + n, '0', n - 1);
        square[n - 1] = '8', square[2 * n - 1] = '1', divisor[n] = square[2 * n] = 0;
        for (u64 fail_after = 0; fail_after < 12; fail_after++) {
            budget b;
            ge_limits limits = wide_limits();
            budget_init(&b, &limits);
            rx_arena x;
            CHECK(rx_init(&x, &b));
            b.fail_after = fail_after;
            rx_id any = rx_multiple(&x, digits_of(divisor), 0, digits_of("1"), (literal){NULL, 0});
            rx_id few = rx_multiple(&x, digits_of(divisor), n, digits_of(square), digits_of(square));
            if (fail_after == 0) {
                CHECK(rx_least(&x, any) == n && rx_nullable(&x, after(&x, any, divisor)) && rx_nullable(&x, after(&x, any, square)));
                square[n / 2]--;
                CHECK(!rx_nullable(&x, after(&x, any, square)));
                square[n / 2]++;
                for (u32 k = 0; k < n; k++) few = rx_derive(&x, few, (u8)square[k]);
                few = after(&x, rx_derive(&x, few, '.'), square + n);
                CHECK(rx_nullable(&x, few) && rx_derive(&x, few, '0') == few && rx_derive(&x, few, '1') == RX_ID_NEVER);
            } else {
                after(&x, any, square);
                CHECK(b.status == GE_OK || b.status == GE_E_MEMORY);
            }
            rx_drop(&x);
            CHECK(b.bytes == 0);
        }
    }
}

static void punycode(void) {
    static const char *const labels[] = {"tda", "bcher-kva", "BCHER-KVA", "ll-0ea", "4dbc5h", "wva3je", "ngba5hb2804a", "9n2bp8q", "p1ai"};
    static const char *const others[] = {"", "a", "al-0ea", "wva3j", "0ca24w", "-9uc", "example-", "hello-txk", "aa---o47jg78q", "7a"};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b) && rx_text(&x) != NONE);
    rx_id any = rx_punycode(&x);
    for (u32 i = 0; i < sizeof labels / sizeof *labels; i++) CHECK(rx_nullable(&x, after(&x, any, labels[i])));
    for (u32 i = 0; i < sizeof others / sizeof *others; i++) CHECK(!rx_nullable(&x, after(&x, any, others[i])));
    CHECK(after(&x, any, "_") == RX_ID_NEVER && after(&x, any, "a.") == RX_ID_NEVER);
    char long_text[64];
    memset(long_text, 'a', sizeof long_text);
    long_text[55] = 0; /* a hyphen and three digits fit */
    CHECK(rx_nullable(&x, after(&x, after(&x, any, long_text), "-9le")));
    long_text[55] = 'a', long_text[56] = 0;
    CHECK(after(&x, any, long_text) == RX_ID_NEVER);
    /* no label has fewer than three octets behind `xn--` */
    for (u32 n = 1; n < 6; n++) {
        rx_id limited = rx_and(&x, (rx_id[]){any, rx_repeat(&x, intern_words(&x.nodes, x.text)[1], 0, n)}, 2);
        CHECK(rx_is_empty(&x, limited) == (n < 3));
        CHECK(rx_least(&x, limited) == (n < 3 ? RX_NO_LENGTH : 3));
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* What is appended to beginnings of labels in Punycode makes labels of them, also where there is hardly any room. */
static void ways_to_labels(void) {
    static const char chars[] = "-a0z9";
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id any = rx_punycode(&x);
    for (u32 i = 0, random = 1; i < 400; i++) {
        puny_text s = {.set = ULABEL_ANY};
        u32 n = i % 60;
        rx_id id = any;
        for (; s.n < n && id != RX_ID_NEVER; id = rx_derive(&x, id, s.at[s.n - 1])) {
            random = random * 1103515245 + 12345;
            s.at[s.n++] = (u8)chars[i % 3 == 0 ? 0 : (random >> 16) % 5];
        }
        u32 begin = s.n;
        bool found = id != RX_ID_NEVER && puny_append_way(&x, &s, ULABEL_LONGEST - s.n);
        CHECK(found == (id != RX_ID_NEVER) && s.n <= ULABEL_LONGEST);
        for (u32 k = begin; found && k < s.n; k++) id = rx_derive(&x, id, s.at[k]);
        CHECK(!found || rx_nullable(&x, id));
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* What is seen by structure: any text behind what may be missing is any text;
 * and where one stands in front, there are as many characters as one likes. */
static void texts_and_lengths(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b));
    rx_id text = rx_text(&x), one = intern_words(&x.nodes, text)[1], a = rx_byte(&x, 'a');
    CHECK(rx_concat(&x, rx_repeat(&x, a, 0, 8), text) == text && rx_concat(&x, rx_repeat(&x, a, 1, 8), text) != text);
    CHECK(rx_concat(&x, rx_or2(&x, RX_ID_EMPTY, rx_byte(&x, 0xff)), text) != text);
    rx_id ends = rx_concat(&x, text, rx_concat(&x, a, rx_repeat(&x, one, 25, 25))), odd = rx_concat(&x, text, rx_byte(&x, 0xff));
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){ends, rx_repeat(&x, one, 3000, NONE)}, 2)) == RX_IS_INHABITED);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){ends, rx_repeat(&x, one, 0, 20)}, 2)) == RX_UNKNOWN);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){ends, rx_repeat(&x, one, 0, 26)}, 2)) == RX_IS_INHABITED);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){odd, rx_repeat(&x, one, 3, NONE)}, 2)) == RX_UNKNOWN);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){odd, rx_repeat(&x, one, 0, 3)}, 2)) == RX_UNKNOWN);
    byte_set all;
    memset(&all, 0xff, sizeof all);
    rx_id any = rx_set(&x, &all), letters = rx_or2(&x, a, rx_byte(&x, 'b')), end = rx_concat(&x, rx_byte(&x, '@'), a);
    rx_id mail = rx_concat(&x, rx_and(&x, (rx_id[]){rx_repeat(&x, letters, 1, NONE), rx_repeat(&x, any, 0, 5)}, 2), end);
    CHECK(rx_least_seen(&x, mail) == 3 && rx_least(&x, mail) == 3);
    CHECK(rx_least_seen(&x, rx_and(&x, (rx_id[]){rx_repeat(&x, letters, 4, NONE), rx_repeat(&x, any, 0, 3)}, 2)) == RX_NO_LENGTH);
    CHECK(rx_least_seen(&x, rx_and(&x, (rx_id[]){rx_repeat(&x, letters, 1, NONE), rx_repeat(&x, any, 2, 5)}, 2)) == RX_NO_LENGTH);
    CHECK(rx_least_seen(&x, rx_and(&x, (rx_id[]){rx_byte(&x, 0xff), rx_repeat(&x, one, 0, 5)}, 2)) == RX_NO_LENGTH);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){mail, rx_repeat(&x, one, 3, 3)}, 2)) == RX_IS_INHABITED);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){mail, rx_repeat(&x, one, 0, 2)}, 2)) == RX_UNKNOWN);
    CHECK(rx_length_verdict(&x, rx_and(&x, (rx_id[]){mail, rx_repeat(&x, one, 4, 9)}, 2)) == RX_UNKNOWN);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* One of the forms that keys beside patterns are made of: a word, or not, any text before and behind it. */
static rx_id random_arm(rx_arena *x) {
    rx_id arm = RX_ID_EMPTY, text = rx_text(x), ab = rx_or2(x, rx_byte(x, 'a'), rx_byte(x, 'b'));
    if (random_below(&seed, 3) == 0) arm = text;
    if (random_below(&seed, 4) == 0) arm = rx_concat(x, arm, rx_repeat(x, ab, random_below(&seed, 2), random_below(&seed, 2) ? NONE : 2));
    for (u32 n = random_below(&seed, 4); n; n--)
        arm = rx_concat(x, arm, random_below(&seed, 5) ? rx_byte(x, 'a' + random_below(&seed, 3)) : ab);
    if (random_below(&seed, 5) == 0) arm = rx_concat(x, arm, rx_or2(x, rx_byte(x, 0x7f), rx_byte(x, 'c')));
    return random_below(&seed, 3) ? rx_concat(x, arm, text) : arm;
}

/* Each text that kills an expression is one of those that its perils tell of. */
static void perils(void) {
    budget b;
    ge_limits limits = wide_limits();
    u32 n_killed = 0, n_safe = 0;
    u8 kind_of[256] = {['a'] = 1, ['b'] = 2, ['c'] = 2};
    budget_init(&b, &limits);
    for (u32 round = 0; round < 200; round++) {
        rx_arena x;
        rx_id parts[4], arms[4];
        u32 n_arms = 1 + random_below(&seed, 3), n_parts = 0;
        CHECK(rx_init(&x, &b));
        if (random_below(&seed, 2)) parts[n_parts++] = rx_text(&x);
        if (random_below(&seed, 2)) parts[n_parts++] = rx_or2(&x, random_arm(&x), random_arm(&x));
        for (u32 i = 0; i < n_arms; i++) arms[i] = random_arm(&x);
        parts[n_parts++] = rx_not(&x, rx_or(&x, arms, n_arms));
        rx_id id = rx_and(&x, parts, n_parts);
        if (random_below(&seed, 3) == 0)
            id = rx_or2(&x, rx_concat(&x, id, rx_byte(&x, '"')), rx_concat(&x, rx_not(&x, random_arm(&x)), rx_byte(&x, '"')));
        for (u32 s = 0; s < N_STRINGS; s++) {
            u8 text[MAX_LENGTH];
            u32 length = spell(s, text);
            for (u32 from = 0; from <= length; from++) { /* of what is left after the first bytes */
                rx_id at = id;
                rx_perils found;
                u64 kinds = 0;
                for (u32 i = 0; i < from; i++) at = rx_derive(&x, at, text[i]);
                bool told = false, dead = rx_is_empty(&x, at);
                CHECK(rx_find_perils(&x, at, kind_of, &found) && found.n <= RX_PERILS);
                for (u32 i = from; i < length; i++) at = rx_derive(&x, at, text[i]), kinds |= (u64)1 << kind_of[text[i]];
                for (u32 i = 0; i < found.n; i++) told |= found.of[i].n_bytes < length - from && !(found.of[i].kinds & ~kinds);
                n_safe += !told;
                n_killed += !dead && rx_is_empty(&x, at);
                CHECK(dead || told || !rx_is_empty(&x, at));
            }
        }
        rx_drop(&x);
    }
    CHECK(b.bytes == 0 && n_killed > 1000 && n_safe > 10000);
}

static const char FIVES[] = "5555555555555555555555555555555555555555555555555555555555555555";

/* Texts, and the length of the shortest regular expression that begins so; NONE: there is none. */
static void regular_expressions(void) {
    static const struct {
        const char *text;
        u32 length;
    } cases[] = {{"", 0},
                 {"a*?", 3},
                 {"a**", NONE},
                 {"(", 2},
                 {"(?", 4},
                 {"(?<", 5},
                 {"(?<a", 6},
                 {"(?<a>", 6},
                 {"(?<a>)(?<a", 13},
                 {"(?<a>)(?<a>", NONE},
                 {"(?<a>)|(?<a>)", 13},
                 {"\\k<ab>(?<", 13},
                 {"\\k", 11},
                 {"(?<ab>)\\k", 13},
                 {"\\k<ab", 13},
                 {"\\3(", 8},
                 {"\\3(?<a", 12},
                 {"\\10", 23},
                 {"\\0", 2},
                 {"\\00", NONE},
                 {"a{12,3", 8},
                 {"a{12,1", 8},
                 {"a{12,11}", NONE},
                 {"a{9,10}", 7},
                 {"[z-", 4},
                 {"[z-a", NONE},
                 {"[z-\\", 6},
                 {"[\\uD83D-\\uDE00", 15},
                 {"[\\uD83D\\uDE00-\\uDE00", NONE},
                 {"[\\d-", 5},
                 {"[\\d-a", NONE},
                 {"\\u{11000", 9},
                 {"\\u{110000", NONE},
                 {"\\p{sc=", 9},
                 {"\\p{Xy", NONE},
                 {"(?i-m", 7},
                 {"(?-", 6},
                 {"(?ii", NONE},
                 {"\xc3", 2},
                 {"[\xc3\xa9-\xc3", 7},
                 {"\xed\xa0", NONE},
                 {"(?<\xe2\x82", 8},
                 {")", NONE},
                 {"(?=)*", NONE},
                 {"(?:)*", 5}};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b) && rx_text(&x) != NONE);
    rx_id any = rx_syntax(&x), one = intern_words(&x.nodes, x.text)[1];
    for (u32 i = 0; i < sizeof cases / sizeof *cases; i++) {
        u32 n = (u32)strlen(cases[i].text), length = cases[i].length;
        rx_id id = after(&x, any, cases[i].text);
        CHECK((id == RX_ID_NEVER) == (length == NONE));
        if (length == NONE) continue;
        CHECK(rx_least(&x, id) == length - n && rx_nullable(&x, id) == (length == n));
        /* in characters: of the first byte of one there is none yet */
        for (u32 room = length - 2; room < length + 2 && length > 2; room++) {
            rx_id limited = after(&x, rx_and(&x, (rx_id[]){any, rx_repeat(&x, one, 0, room)}, 2), cases[i].text);
            bool is_ascii = true;
            for (u32 k = 0; k < n; k++) is_ascii &= (u8)cases[i].text[k] < 0x80;
            if (is_ascii) CHECK(rx_is_empty(&x, limited) == (room < length));
        }
    }
    rx_drop(&x);
    CHECK(b.bytes == 0);
    for (u32 n = 1; n < 64; n++) { /* digits of two numbers of which the last one differs */
        char text[256];
        snprintf(text, sizeof text, "(?<ab>a{%.*s,%.*s%d}|[a-z])\\k<c>(?<c>", (int)n, FIVES, (int)n - 1, FIVES, n % 2 ? 6 : 4);
        bool failed = true;
        for (u64 fail = 1; failed; fail++) { /* what is half done when memory fails is given back */
            budget_init(&b, &limits);
            b.fail_after = fail;
            if (rx_init(&x, &b)) {
                rx_id id = rx_syntax(&x);
                for (const char *at = text; *at && id != NONE; at++) id = rx_derive(&x, id, (u8)*at);
            }
            failed = b.status != GE_OK;
            rx_drop(&x);
            CHECK(b.bytes == 0 && fail < 1000);
        }
    }
}

/* Bytes that local classes do not tell apart have the same derivative. */
static void classes_of_regular_expressions(void) {
    static const char parts[] = "aZ09_/^$\\\\\\.*+?(?((:=!<>)[[]-^{{,}|kpPxucsLu\xc3\xa9\xe2\xf0\x9f";
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b) && rx_text(&x) != NONE);
    rx_id start = rx_syntax(&x);
    u32 phases = 0;
    rx_refresh_classes(&x);
    for (u32 turn = 0; turn < 3000; turn++) {
        rx_id id = start;
        for (u32 n = random_below(&seed, 12); n; n--) {
            u8 byte = random_below(&seed, 9) ? (u8)parts[random_below(&seed, sizeof parts - 1)] : (u8)random_below(&seed, 256);
            rx_id next = rx_derive(&x, id, byte);
            if (next != RX_ID_NEVER) id = next;
        }
        u8 same[256];
        rx_id to[256];
        CHECK(rx_told_apart(&x, id, same));
        u32 node[32], n = intern_length(&x.nodes, id); /* a copy: the pool may move */
        memcpy(node, intern_words(&x.nodes, id), n * sizeof *node);
        phases |= (u32)1 << (node[1] & 31);
        for (u32 byte = 0; byte < 256; byte++) to[byte] = rx_syntax_step(&x, node, byte);
        for (u32 byte = 0; byte < 256; byte++) CHECK(to[byte] == to[x.class_byte[same[x.class_of[byte]]]]);
    }
    CHECK(__builtin_popcount(phases) >= 20);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* --- unions as trees -------------------------------------------------------------------------------------------------- */

enum { PARTS = 24, LONGEST = 320 };

typedef struct sequence { /* of letters, X standing for a or b */
    char at[LONGEST];
    u32 n;
} sequence;

static bool reads(char letter, u8 byte) { return letter == (char)byte || (letter == 'X' && (byte == 'a' || byte == 'b')); }

/* Beginnings that many share, some longer than what is counted of them, then up to three letters. */
static sequence random_sequence(void) {
    static const u32 lengths[] = {0, 1, 4, 30, 254, 300};
    u32 sort = random_below(&seed, 6), length = lengths[sort], tail = random_below(&seed, 4);
    sequence s = {.n = length + tail};
    for (u32 i = 0; i < length; i++) s.at[i] = "abXacbXc"[(i / 2 + i / 7) % 8];
    if (length > 9 && random_below(&seed, 4) == 0) s.at[random_below(&seed, length)] = 'c'; /* and one that parts from it early */
    for (u32 i = 0; i < tail; i++) s.at[length + i] = "abcX"[random_below(&seed, 4)];
    if (s.n == 0) s.at[s.n++] = 'a';
    return s;
}

static rx_id sequence_of(rx_arena *x, const sequence *s) {
    rx_id id = RX_ID_EMPTY;
    for (u32 i = s->n; i-- > 0;) {
        byte_set set = {{0}};
        for (u32 byte = 'a'; byte <= 'c'; byte++)
            if (reads(s->at[i], (u8)byte)) set_add(&set, byte);
        id = rx_concat(x, rx_set(x, &set), id);
    }
    return id;
}

static rx_id tree_of(rx_arena *x, const sequence *parts, u32 from, u32 to) {
    if (to - from == 1) return rx_tag(x, sequence_of(x, &parts[from]), from);
    u32 middle = from + 1 + random_below(&seed, to - from - 1);
    rx_id left = tree_of(x, parts, from, middle);
    return rx_fork(x, left, tree_of(x, parts, middle, to));
}

/* What is known of a tree of which n bytes were read against what is known of its parts, those that are alive. */
static void check_tree(rx_arena *x, rx_id id, const sequence *parts, const bool *alive, u32 n) {
    id_vec tags = {0};
    byte_set first, expected = {{0}};
    u32 least = RX_NO_LENGTH, n_alive = 0;
    bool ends = false;
    for (u32 i = 0; i < PARTS; i++) {
        if (!alive[i]) continue;
        n_alive++;
        least = min_u32(least, parts[i].n - n);
        ends |= parts[i].n == n;
        for (u32 byte = 'a'; parts[i].n > n && byte <= 'c'; byte++)
            if (reads(parts[i].at[n], (u8)byte)) set_add(&expected, byte);
    }
    CHECK((id == RX_ID_NEVER) == (n_alive == 0));
    CHECK(rx_is_empty(x, id) == (n_alive == 0) && rx_least(x, id) == least && rx_nullable(x, id) == ends);
    CHECK(rx_first(x, id, &first) && memcmp(&first, &expected, sizeof first) == 0);
    check_front(x, id);
    CHECK(rx_tags(x, id, false, &tags) && tags.n == 2 * n_alive);
    for (u32 i = 0; i < tags.n; i += 2) CHECK(alive[tags.at[i]] && rx_least(x, tags.at[i + 1]) == parts[tags.at[i]].n - n);
    tags.n = 0;
    CHECK(rx_tags(x, id, true, &tags));
    for (u32 i = 0; i < PARTS; i++) {
        u32 k = 0;
        while (k < tags.n && tags.at[k] != i) k += 2;
        CHECK((k < tags.n) == (alive[i] && parts[i].n == n));
    }
    vec_drop(x->b, &tags);
}

static void read_tree(rx_arena *x, rx_id id, const sequence *parts) {
    bool alive[PARTS];
    memset(alive, true, sizeof alive);
    const sequence *goal = &parts[random_below(&seed, PARTS)];
    for (u32 n = 0;; n++) {
        rx_id to[3]; /* where first bytes may not be known yet; once they are it is the same */
        for (u32 i = 0; i < 3; i++) to[i] = rx_derive(x, id, 'a' + i);
        check_tree(x, id, parts, alive, n);
        if (id == RX_ID_NEVER) return;
        for (u32 i = 0; i < 3; i++) CHECK(to[i] != NONE && rx_derive(x, id, 'a' + i) == to[i]);
        u8 byte = (u8)('a' + random_below(&seed, 3));
        while (n < goal->n && !reads(goal->at[n], byte) && random_below(&seed, 200)) byte = (u8)('a' + random_below(&seed, 3));
        for (u32 i = 0; i < PARTS; i++) alive[i] &= n < parts[i].n && reads(parts[i].at[n], byte);
        id = rx_derive(x, id, byte);
    }
}

static void trees(void) {
    budget b;
    ge_limits limits = wide_limits();
    sequence parts[PARTS];
    for (u32 round = 0; round < 200; round++) {
        rx_arena x;
        budget_init(&b, &limits);
        CHECK(rx_init(&x, &b));
        for (u32 i = 0; i < PARTS; i++) parts[i] = random_sequence();
        rx_id tree = tree_of(&x, parts, 0, PARTS);
        rx_refresh_classes(&x);
        for (u32 k = 0; k < 5; k++) read_tree(&x, tree, parts);
        rx_drop(&x);
        CHECK(b.bytes == 0);
    }
    for (u64 fail = 1; fail < 300; fail++) { /* what is half done when memory fails is given back */
        rx_arena x;
        budget_init(&b, &limits);
        b.fail_after = fail;
        rx_id id = rx_init(&x, &b) ? tree_of(&x, parts, 0, PARTS) : NONE;
        for (u32 i = 0; id != NONE && i < parts[0].n; i++) id = rx_derive(&x, id, parts[0].at[i] == 'X' ? 'a' : (u32)parts[0].at[i]);
        rx_drop(&x);
        CHECK(b.bytes == 0);
    }
}

/* To read what all parts begin with touches none of them. */
static void shared_beginnings_are_read_once(void) {
    budget b;
    ge_limits limits = wide_limits();
    rx_arena x;
    budget_init(&b, &limits);
    CHECK(rx_init(&x, &b));
    enum { N = 1000, LENGTH = 200 };
    rx_id tree = RX_ID_NEVER;
    for (u32 i = 0; i < N; i++) {
        u8 text[LENGTH + 4];
        memset(text, 'k', LENGTH);
        for (u32 k = 0, rest = i; k < 4; k++, rest /= 10) text[LENGTH + 3 - k] = (u8)('0' + rest % 10);
        tree = rx_fork(&x, tree, rx_tag(&x, rx_bytes(&x, text, sizeof text), i));
    }
    for (u32 i = 0; i < LENGTH; i++) tree = rx_derive(&x, tree, 'k');
    CHECK(x.derivatives == LENGTH && rx_least(&x, tree) == 4);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* To read what few parts begin with touches none of the others, once it is known what those begin with. */
static void few_of_many_parts(void) {
    budget b;
    ge_limits limits = wide_limits();
    rx_arena x;
    byte_set first;
    budget_init(&b, &limits);
    CHECK(rx_init(&x, &b));
    enum { LETTERS = 26, EACH = 40 };
    rx_id tree = RX_ID_NEVER;
    for (u32 i = 0; i < LETTERS * EACH; i++) {
        u8 text[] = {(u8)('a' + i % LETTERS), 'k', (u8)i, (u8)(i >> 8)};
        tree = rx_fork(&x, tree, rx_tag(&x, rx_bytes(&x, text, sizeof text), i));
    }
    CHECK(rx_first(&x, tree, &first) && set_count(&first) == LETTERS);
    u64 before = x.derivatives;
    rx_id to = rx_derive(&x, tree, 'q');
    CHECK(x.derivatives - before < 2 * EACH && x.memo.n < EACH && rx_shared(&x, to) != NONE);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

int main(void) {
    random_expressions(150);
    multiples();
    long_divisors();
    punycode();
    ways_to_labels();
    texts_and_lengths();
    perils();
    regular_expressions();
    classes_of_regular_expressions();
    exclusions_differ_where_they_begin();
    loops_contain();
    conditions_contain();
    literals_are_a_trie();
    code_points();
    characters_beyond_ascii();
    large_counters();
    counts();
    trees();
    shared_beginnings_are_read_once();
    few_of_many_parts();
    return harness_result("t_regex");
}
