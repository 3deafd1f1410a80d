/* t_label: how many octets labels have, against the encoder of RFC 3492 as it is written there;
 * and the table of labels that fit for sure, by going through all that the encoder can do. */
#include "../regex/names/punycode.h"
#include "../regex/names/rx_grow.h"
#include "../regex/names/rx_unbound.h"
#include "../regex/utf8.h"
#include "harness.h"

static u64 seed = 1;

static u32 below(u32 n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (u32)(seed >> 33) % n;
}

/* RFC 3492, section 6.3: the number of octets. */
static u32 octets_by_rfc(const u32 *code, u32 n) {
    u32 least = 0x80, delta = 0, bias = 72, n_plain = 0, done, octets;
    for (u32 i = 0; i < n; i++) n_plain += code[i] < 0x80;
    octets = n_plain + (n_plain > 0);
    for (done = n_plain; done < n; delta++, least++) {
        u32 next = UINT32_MAX;
        for (u32 i = 0; i < n; i++)
            if (code[i] >= least && code[i] < next) next = code[i];
        delta += (next - least) * (done + 1);
        least = next;
        for (u32 i = 0; i < n; i++) {
            if (code[i] < least) delta++;
            if (code[i] != least) continue;
            u32 q = delta, k = 36;
            for (;; k += 36, octets++) {
                u32 t = k <= bias + 1 ? 1 : k >= bias + 26 ? 26 : k - bias;
                if (q < t) break;
                q = (q - t) / (36 - t);
            }
            octets++;
            delta = done == n_plain ? delta / 700 : delta / 2;
            delta += delta / (done + 1);
            for (k = 0; delta > 455; k += 36) delta /= 35;
            bias = k + 36 * delta / (delta + 38);
            delta = 0;
            done++;
        }
    }
    return octets;
}

/* Characters of one or two alphabets, many of them again, and some of ASCII. */
static u32 random_text(u32 *code, u32 most) {
    static const u32 alphabets[] = {0xdf, 0x3b1, 0x430, 0x5d0, 0x4e00, 0xac00, 0x10d0, 0x20000};
    u32 n = 1 + below(most), plain = below(10), first = below(8), second = below(8), width = 1 + below(40);
    for (u32 i = 0; i < n; i++) {
        u32 from = alphabets[below(3) ? first : second];
        code[i] = below(10) < plain ? 'a' + below(26) : i && below(8) == 0 ? code[below(i)] : from + below(width) * (1 + below(9));
    }
    return n;
}

static void octets(void) {
    for (u32 round = 0; round < 200000; round++) {
        u32 code[LABEL_LONGEST], n = random_text(code, LABEL_LONGEST);
        label_text text = {0};
        for (u32 i = 0; i < n; i++) label_append(&text, code[i]);
        u32 right = octets_by_rfc(code, n);
        CHECK(label_octets(&text) == right && label_fits(&text, LABEL_LONGEST) == (right <= LABEL_LONGEST));
    }
}

/* A range is not given up if a character of it fits in just so much room; often it is if all of it takes more. */
static void outlooks(void) {
    u32 n_told = 0, n_rounds = 0;
    for (u32 round = 0; round < 50000; round++) {
        u32 code[LABEL_LONGEST + 1], n = random_text(code, LABEL_LONGEST - 1), more = code[below(n)];
        label_text text = {0};
        label_outlook outlook;
        for (u32 i = 0; i < n; i++) label_append(&text, code[i]);
        code[n] = max_u32(more + below(6), FIRST_FAR + 3) - 3;
        u32 right = octets_by_rfc(code, n + 1);
        if (right > LABEL_LONGEST) continue;
        label_look(&text, &outlook);
        CHECK(label_may_fit_with(&outlook, code[n] - below(3), code[n] + below(9), right));
        n_told += !label_may_fit_with(&outlook, code[n], code[n], right - 1);
        n_rounds++;
    }
    CHECK(n_rounds > 1000 && n_told > n_rounds / 3);
}

/* --- longer labels -------------------------------------------------------------------------------------------------------- */

typedef struct beginning {
    u32 code[LABEL_LONGEST + 1], n;
    label_text text;
    ulabel_state state;
} beginning;

static bool append(beginning *l, u32 code) {
    if (l->n == LABEL_LONGEST || !ulabel_step(&l->state, code)) return false;
    l->code[l->n++] = code;
    label_append(&l->text, code < FIRST_FAR ? PLAIN : code);
    return true;
}

static beginning random_beginning(u32 least) {
    beginning l;
    do {
        u32 code[LABEL_LONGEST], n = random_text(code, LABEL_LONGEST - 2);
        memset(&l, 0, sizeof l);
        l.state = ulabel_start(ULABEL_ANY);
        for (u32 i = 0; i < n; i++) append(&l, code[i]);
    } while (l.n < least || l.text.n_far == 0);
    return l;
}

static bool is_label(const beginning *l, u32 room) { return ulabel_end(l->state, ULABEL_ANY) && octets_by_rfc(l->code, l->n) <= room; }

static bool can_grow(budget *b, const beginning *l, u32 low, u32 high, u32 room, u32 *first) {
    return label_can_grow(b, &(grow_question){&l->text, l->state, ULABEL_ANY, low, high, room}, first);
}

/* What is found leads to a label. */
static void check_found(budget *b, beginning l, u32 room, u32 first) {
    u32 last = l.n + room;
    CHECK(label_may_grow(&l.text, room));
    for (; append(&l, first) && l.n <= last && !is_label(&l, room);)
        if (!can_grow(b, &l, 0, ULABEL_LAST_CODE, room, &first)) break;
    CHECK(is_label(&l, room));
}

/* What is not found is not there: no character, and none of many texts. */
static void check_not_found(budget *b, const beginning *l, u32 room, bool all) {
    u32 first;
    for (u32 code = '-'; all && code <= ULABEL_LAST_CODE; code++) {
        beginning longer = *l;
        if (append(&longer, code)) CHECK(!is_label(&longer, room));
    }
    for (u32 round = 0; round < 100; round++) {
        beginning longer = *l;
        for (u32 i = 1 + below(4); i; i--) {
            u32 like = l->code[below(l->n)];
            append(&longer, below(3) == 0 || like < FIRST_FAR ? 'a' + below(26) : like + below(9) - 4);
        }
        CHECK(longer.n == l->n || !is_label(&longer, room));
    }
    CHECK(!can_grow(b, l, 0x80, ULABEL_LAST_CODE, room, &first));
}

/* Beginnings that take an octet too many, or just fit, for rooms of any size: near the least that a longer label takes, both answers
 * come. */
static void growth(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    u32 n_found = 0, n_saved = 0, n_none = 0;
    for (u32 round = 0; round < 12000; round++) {
        beginning l = random_beginning(3);
        u32 octets = octets_by_rfc(l.code, l.n), room = octets + below(4) - 2, first;
        if (room > LABEL_LONGEST) continue;
        if (can_grow(&b, &l, 0, ULABEL_LAST_CODE, room, &first)) {
            n_found++;
            n_saved += room < octets;
            check_found(&b, l, room, first);
        } else {
            check_not_found(&b, &l, room, n_none % 400 == 0);
            n_none++;
        }
        if (!can_grow(&b, &l, 0x3b1, 0x3ff, room, &first)) continue;
        CHECK(first >= 0x3b1 && first <= 0x3ff);
        check_found(&b, l, room, first);
    }
    CHECK(n_found > 1000 && n_saved > 0 && n_none > 1000 && b.status == GE_OK);
}

static u64 most_at(u32 digits, u32 bias) {
    u64 value = 0;
    for (u64 step = (u64)1 << 40; step; step /= 2)
        if (puny_digits(value + step, 0, bias) <= digits) value += step;
    return value;
}

/* The tables hold for all biases that a number can leave which has so many digits at some bias. */
static void numbers(void) {
    u64 least_number[GROW_N_BEFORE], most_number[GROW_N_BEFORE],
        one[GROW_N_BEFORE][GROW_MOST_IN_ALL + 1] = {{0}}, any[GROW_N_BEFORE][GROW_N_BEFORE][GROW_MOST_IN_ALL + 1] = {{{0}}};
    for (u32 n = 1; n < GROW_N_BEFORE; n++) {
        least_number[n] = UINT64_MAX, most_number[n] = 0;
        for (u32 bias = 0; bias < 200; bias++) {
            u64 least = n == 1 ? 0 : most_at(n - 1, bias) + 1, most = n == GROW_MANY ? UINT32_MAX / 2 : most_at(n, bias);
            if (least < least_number[n]) least_number[n] = least;
            if (most > most_number[n]) most_number[n] = most;
        }
        u32 low = puny_adapted_bias((u32)least_number[n], ULABEL_LONGEST, false),
            high = n == GROW_MANY ? 199 : puny_adapted_bias((u32)most_number[n], 2, false);
        for (u32 digits = 1; digits <= GROW_MOST_IN_ALL; digits++)
            for (u32 bias = low; bias <= high; bias++)
                if (most_at(digits, bias) + 1 > one[n][digits]) one[n][digits] = most_at(digits, bias) + 1;
        for (u32 digits = 1; digits <= GROW_MOST_DIGITS; digits++) CHECK(grow_one[n][digits] == one[n][digits]);
    }
    for (u32 all = 1; all <= GROW_MOST_IN_ALL; all++)
        for (u32 before = 1; before < GROW_N_BEFORE; before++)
            for (u32 last = 1; last < GROW_N_BEFORE; last++) {
                u64 several = 0;
                for (u32 n = 1; n < all; n++) {
                    u64 behind = any[n < GROW_MANY ? n : GROW_MANY][last][all - n];
                    if (behind && one[before][n] - 1 + behind > several) several = one[before][n] - 1 + behind;
                }
                u64 alone = last == (all < GROW_MANY ? all : GROW_MANY) ? one[before][all] : 0, both = alone > several ? alone : several;
                any[before][last][all] = both;
                CHECK(grow_several[before][last][all] == (several < UINT32_MAX ? several : UINT32_MAX));
                CHECK(grow_any[before][last][all] == (both < UINT32_MAX ? both : UINT32_MAX));
            }
}

/* --- the table ------------------------------------------------------------------------------------------------------------ */

enum { BIASES = 200, OCTETS = LABEL_LONGEST + 2 }; /* the last for all that is too long */

typedef struct ways { /* by bias and octets: the least that the code points can have grown together; UINT32_MAX: there is no way */
    u32 grown[BIASES][OCTETS];
} ways;

typedef struct number_kind {
    u32 digits, bias; /* it takes so many, and leads to that */
} number_kind;

static number_kind kind_of(u64 number, u32 n, bool is_first, u32 bias) {
    return (number_kind){puny_digits(number, 0, bias), puny_adapted_bias((u32)number, n + 1, is_first)};
}

static bool is_kind(number_kind kind, u64 number, u32 n, bool is_first, u32 bias) {
    number_kind other = kind_of(number, n, is_first, bias);
    return number <= (u64)0x10ffff * (n + 1) + n && other.digits == kind.digits && other.bias == kind.bias;
}

/* All numbers that may come n-th, in ranges that take as many digits and lead to the same bias. */
static void add_number(const ways *before, ways *after, u32 n, bool is_first) {
    u64 most = (u64)0x10ffff * (n + 1) + n;
    for (u32 bias = 0; bias < BIASES; bias++) {
        const u32 *from = before->grown[bias];
        bool any = false;
        for (u32 i = 0; i < OCTETS; i++) any |= from[i] != UINT32_MAX;
        for (u64 low = 0, high; any && low <= most; low = high) {
            number_kind kind = kind_of(low, n, is_first, bias);
            u64 step = 1;
            for (high = low + 1; is_kind(kind, high + step - 1, n, is_first, bias); step *= 2) high += step; /* the end of the range */
            for (; step; step /= 2)
                while (is_kind(kind, high + step - 1, n, is_first, bias)) high += step;
            u32 grows = (u32)(low / (n + 1)); /* the least for which grows * (n + 1) + n reaches the number */
            CHECK(kind.bias < BIASES);
            for (u32 i = 0; i < OCTETS; i++) {
                u32 to = i + kind.digits < OCTETS ? i + kind.digits : OCTETS - 1;
                if (from[i] != UINT32_MAX && from[i] + grows < after->grown[kind.bias][to]) after->grown[kind.bias][to] = from[i] + grows;
            }
        }
    }
}

/* What is in the table fits, whatever the characters are and wherever they stand: n_plain of ASCII and up to n_far others. */
static void table_is_sure(void) {
    static const u32 last_code[3] = {0x7ff, 0xffff, 0x10ffff};
    static ways now, next;
    for (u32 n_plain = 0; n_plain <= LABEL_LONGEST; n_plain++) {
        memset(&now, 0xff, sizeof now);
        if (n_plain + (n_plain > 0) < OCTETS) now.grown[72][n_plain + (n_plain > 0)] = 0;
        for (u32 n_far = 0; n_far < LABEL_SURE && label_is_sure(n_plain, n_far, 0); n_far++) {
            if (n_far) {
                memset(&next, 0xff, sizeof next);
                add_number(&now, &next, n_plain + n_far - 1, n_far == 1);
                now = next;
            }
            for (u32 sort = 0; sort < 3; sort++)
                for (u32 bias = 0; bias < BIASES && label_is_sure(n_plain, n_far, sort); bias++)
                    CHECK(now.grown[bias][OCTETS - 1] > last_code[sort] - 0x80);
        }
    }
    for (u32 sort = 0; sort < 3; sort++) /* parts of what fits for sure do, and so do lower characters */
        for (u32 n_far = 1; n_far < LABEL_SURE; n_far++) {
            CHECK(label_most_plain[sort][n_far] <= label_most_plain[sort][n_far - 1]);
            CHECK(sort == 0 || label_most_plain[sort][n_far] <= label_most_plain[sort - 1][n_far]);
        }
}

/* --- expressions ---------------------------------------------------------------------------------------------------------- */

static u32 spell(const u32 *code, u32 n, u8 *out) {
    u32 at = 0;
    for (u32 i = 0; i < n; i++) at += utf8_encode(code[i], out + at);
    return at;
}

static rx_id after(rx_arena *x, rx_id id, const u8 *bytes, u32 n) {
    for (u32 i = 0; i < n; i++) id = rx_derive(x, id, bytes[i]);
    return id;
}

/* What a text adds to names. It begins where a character does. */
static name_reach reach_of(const u8 *bytes, u32 n) {
    name_reach r = {0, 0, 0};
    u32 begun = 0, low = 0, high = 0, at = 0;
    while (at < n && (bytes[n - 1 - at] & 0xc0) == 0x80) at++;
    if (at < n && bytes[n - 1 - at] >= 0xc0 && at < (bytes[n - 1 - at] < 0xe0 ? 1u : bytes[n - 1 - at] < 0xf0 ? 2u : 3u)) rx_reach_part(&r);
    for (u32 i = 0, first = 0; i < n; i++) {
        begun = begun << 8 | bytes[i];
        CHECK(utf8_range(begun, &low, &high));
        if (low < high) continue;
        rx_reach_char(&r, low, first ? bytes[first - 1] : NONE);
        begun = 0;
        first = i + 1;
    }
    return r;
}

/* What a character is decomposed to may be of a higher sort: U+FA6C of three bytes is U+242EE in normalisation form C. */
static void bounds(void) {
    static const u8 text[] = {'a', 0xef, 0xa9, 0xac, '.', 'b'};
    name_bound b = rx_fresh_bound();
    for (u32 i = 0; i < 4; i++) rx_bound_byte(&b, text[i]);
    CHECK(b.sort == 2 && b.n_plain == 1 && b.n_far == 1 && rx_bound_holds(&b));
    for (u32 i = 4; i < 6; i++) rx_bound_byte(&b, text[i]);
    CHECK(b.used == LABEL_OCTETS + 1 && b.n_plain == 1 && b.n_far == 0 && rx_bound_holds(&b));
    rx_bound_byte(&b, 0xc3);
    CHECK(!rx_bound_holds(&b)); /* within a character */
    /* up to the last character that any label has room for, and to the last octet of a name */
    name_bound plain = rx_fresh_bound(), used = rx_fresh_bound();
    plain.n_plain = 50;
    used.used = NAME_OCTETS - 20;
    CHECK(rx_bound_lasts(&plain, &(name_reach){8, 0, 0}) && !rx_bound_lasts(&plain, &(name_reach){9, 0, 0}));
    CHECK(rx_bound_lasts(&used, &(name_reach){17, 0, 0}) && !rx_bound_lasts(&used, &(name_reach){18, 0, 0}));
    CHECK(!rx_bound_lasts(&used, &(name_reach){17, 0, 1}) && !rx_bound_lasts(&used, &(name_reach){0, 1, 0}));
    CHECK(rx_bound_lasts(&(name_bound){.n_left = NONE, .is_known = true, .n_far = 2}, &(name_reach){0, 3, 2}));
    CHECK(!rx_bound_lasts(&(name_bound){.n_left = NONE, .is_known = true, .n_far = 2}, &(name_reach){0, 3, 3}));
    CHECK(!rx_bound_lasts(&(name_bound){.n_left = 100, .is_known = true}, &(name_reach){1, 0, 0}));
    CHECK(!rx_bound_lasts(&(name_bound){.n_left = NONE}, &(name_reach){1, 0, 0}));
    CHECK(!rx_bound_lasts(&(name_bound){.n_left = NONE, .is_known = true}, &(name_reach){0, 0, NAME_ANY}));
    static const char *const doubtful[] = {"-", "--", "a--", "a\\", "xn--a"};
    for (u32 i = 0; i < sizeof doubtful / sizeof *doubtful; i++)
        CHECK(reach_of((const u8 *)doubtful[i], (u32)strlen(doubtful[i])).n_others == NAME_ANY);
    name_reach several = reach_of((const u8 *)"a-b.\xc3\xa9\xe3\x80\x82\xe4", 10);
    CHECK(several.n_plain == 3 && several.n_far == ULABEL_MOST + 2 && several.n_others == 3);
}

/* Names of random labels, and their beginnings, and what is known of them without the bounds. */
static void expressions(u32 options) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b) && rx_text(&x) != NONE);
    rx_id start = rx_host_name(&x, options | RX_BOUNDED), late = rx_host_name(&x, options | RX_BOUNDED | RX_LATE);
    CHECK(rx_is_empty(&x, rx_and(&x, (rx_id[]){start, rx_not(&x, late)}, 2)) && rx_change_names(&x, start, NAMES_LATE) == late);
    u32 n_kept = 0, n_bounded = 0, n_dead = 0, n_lasting = 0;
    for (u32 round = 0; round < 3000; round++) {
        u32 code[3 * LABEL_LONGEST], n = random_text(code, LABEL_LONGEST), cut = 1 + below(n);
        u8 bytes[8 * LABEL_LONGEST];
        bool fits = true, far = false;
        for (u32 i = 0; i < n; i++) far |= code[i] >= 0x80;
        fits = octets_by_rfc(code, n) <= LABEL_LONGEST;
        rx_id id = after(&x, start, bytes, spell(code, n, bytes)), any = after(&x, rx_unbound(&x, start), bytes, spell(code, n, bytes));
        bool is_label = any != RX_ID_NEVER && rx_nullable(&x, any);
        if (far && !(options & RX_ANY_FORM)) CHECK((id != RX_ID_NEVER && rx_nullable(&x, id)) == (is_label && fits));
        n_dead += far && is_label && !fits;
        if (far) CHECK(rx_nullable(&x, after(&x, late, bytes, spell(code, n, bytes))) == (is_label && fits) || options & RX_ANY_FORM);
        CHECK(id == RX_ID_NEVER || !rx_nullable(&x, id) || rx_nullable(&x, after(&x, late, bytes, spell(code, n, bytes))));
        if (below(2)) code[n++] = '.', n += random_text(code + n, 20);
        /* read up to a byte, perhaps within a character; then the rest */
        u32 n_bytes = spell(code, n, bytes), at = spell(code, cut, bytes) - below(3) % 2;
        spell(code, n, bytes);
        id = after(&x, start, bytes, at);
        if (id == RX_ID_NEVER) continue;
        rx_names names = rx_no_names();
        CHECK(rx_add_names(&x, id, &names) && names.raw);
        name_bound before = rx_bound_of(&names);
        if (!before.begun) { /* some of the rest, perhaps up to within a character: may it be read wherever it may be without the bounds? */
            u32 n_some = min_u32(below(16), n_bytes - at);
            name_reach reach = reach_of(bytes + at, n_some);
            any = after(&x, rx_unbound(&x, id), bytes + at, n_some);
            bool lasts = rx_bound_lasts(&before, &reach);
            CHECK(!lasts || any == RX_ID_NEVER || !rx_is_empty(&x, after(&x, id, bytes + at, n_some)));
            n_lasting += lasts && any != RX_ID_NEVER;
        }
        any = after(&x, rx_unbound(&x, id), bytes + at, n_bytes - at);
        if (!rx_nullable(&x, any)) {
            rx_drop_names(&x, &names);
            continue;
        }
        bool keeps = rx_keeps_names(&names, bytes + at, n_bytes - at);
        CHECK(!keeps || rx_nullable(&x, after(&x, id, bytes + at, n_bytes - at)));
        name_bound bound = rx_bound_of(&names);
        for (u32 i = at; i < n_bytes; i++) rx_bound_byte(&bound, bytes[i]);
        CHECK(keeps || !rx_bound_holds(&bound));
        n_bounded += rx_bound_holds(&bound);
        n_kept += keeps;
        rx_drop_names(&x, &names);
    }
    CHECK(n_kept > 300 && n_bounded > 100 && n_dead > 50 && n_lasting > 300 && b.status == GE_OK);
    /* a character that has begun, of which none fits */
    u32 many[54];
    u8 bytes[256];
    for (u32 i = 0; i < 54; i++) many[i] = 0x3b1;
    rx_id id = after(&x, start, bytes, spell(many, 54, bytes));
    CHECK(!rx_is_empty(&x, id) && rx_derive(&x, id, 0xe4) == RX_ID_NEVER && !rx_is_empty(&x, rx_derive(&x, id, 0xce)));
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

/* Host names with A-labels: widened, what is left of one behind any beginning of it is as before or more, and recurs. */
static void widened(void) {
    static const char *const names[] = {"xn--bcher-kva", "a.xn--bcher-kva.b", "XN--MNCHEN-3YA.de", "xn--nxasmq6b.xn--nxasmq6b"};
    static const char_range plain[] = {{'0', '9'}, {'a', 'z'}};
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    rx_arena x;
    CHECK(rx_init(&x, &b) && rx_text(&x) != NONE);
    rx_id hyphens = rx_bytes(&x, (const u8 *)"--", 2), x_or = rx_or2(&x, rx_byte(&x, 'x'), rx_byte(&x, 'X'));
    rx_id n_or = rx_or2(&x, rx_byte(&x, 'n'), rx_byte(&x, 'N'));
    rx_id ace = rx_concat(&x, x_or, rx_concat(&x, n_or, rx_concat(&x, hyphens, rx_punycode(&x))));
    rx_id label = rx_or2(&x, rx_repeat(&x, rx_chars(&x, plain, 2), 1, NONE), ace);
    rx_id start = rx_concat(&x, label, rx_repeat(&x, rx_concat(&x, rx_byte(&x, '.'), label), 0, NONE));
    rx_id wide = rx_widen(&x, start);
    CHECK(wide != start && rx_widen(&x, wide) == wide && rx_widen(&x, rx_not(&x, start)) == rx_not(&x, start));
    for (u32 i = 0; i < sizeof names / sizeof *names; i++) {
        const u8 *bytes = (const u8 *)names[i];
        u32 n = (u32)strlen(names[i]);
        for (u32 at = 0; at <= n; at++) {
            rx_id rest = after(&x, start, bytes, at);
            CHECK(rx_nullable(&x, after(&x, rest, bytes + at, n - at)));
            CHECK(rx_nullable(&x, after(&x, rx_widen(&x, rest), bytes + at, n - at)));
            CHECK(rx_nullable(&x, after(&x, after(&x, wide, bytes, at), bytes + at, n - at)));
        }
    }
    CHECK(after(&x, wide, (const u8 *)"xn--abc", 7) == after(&x, wide, (const u8 *)"xn--abcdef", 10) && b.status == GE_OK);
    rx_drop(&x);
    CHECK(b.bytes == 0);
}

int main(void) {
    octets();
    outlooks();
    growth();
    numbers();
    table_is_sure();
    bounds();
    expressions(RX_ALL_DOTS);
    expressions(RX_ANY_FORM);
    expressions(RX_ANY_FORM | RX_OF_MAIL);
    widened();
    return harness_result("t_label");
}
