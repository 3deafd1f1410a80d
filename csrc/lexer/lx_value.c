/* lx_value: the values of JSON scalars, and lexemes without some of them. For the distinct members of bags (grammar/gr.h).
 *
 * A text of a distinct lexeme is a JSON string, number or literal, and perhaps more (white space, a colon) that does not matter. Its
 * *value* is interned in canonical form, so that equal values have equal ids in whatever spelling:
 *
 *     "..."    a quote, and the characters in UTF-8, escapes undone
 *     number   sign, digits without zeros at either end, 'e', exponent of the first digit; zero is 0
 *     literal  its letters
 *
 * The lexeme without a set of values is its expression minus *all spellings* of each. For strings these are all escapes of RFC 8259; for
 * numbers plain digits, and one digit before the point with an exponent, each with any zeros that change nothing. Numbers in other
 * spellings (12e3) are the front end's to leave out: all spellings of a number are no regular language.
 *
 * A text after which the spelling of a string, number or literal has ended may go on with anything: `ALL` in what is taken out. */
#include "../regex/utf8.h"
#include "lx.h"

enum { MOST_EXPONENT_DIGITS = 17 }; /* longer ones are compared as they are written */

/* --- canonical form ------------------------------------------------------------------------------------------------------ */

static int code_unit(const u8 *at) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        u32 c = at[i] | 0x20;
        value = value * 16 + (int)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return value;
}

static bool push_char(budget *b, byte_vec *out, u32 c) {
    u8 bytes[4];
    u32 n = utf8_encode(c, bytes);
    for (u32 i = 0; i < n; i++)
        if (!vec_push(b, out, bytes[i])) return false;
    return true;
}

/* The text is well-formed: it is one of a lexeme. */
static bool canonical_string(budget *b, const u8 *text, u32 n, byte_vec *out) {
    bool ok = vec_push(b, out, '"');
    for (u32 i = 1; ok && i < n && text[i] != '"'; i++) {
        if (text[i] != '\\') {
            ok = vec_push(b, out, text[i]);
            continue;
        }
        u32 c = text[++i];
        switch (c) {
        case 'b': c = 8; break;
        case 't': c = 9; break;
        case 'n': c = 10; break;
        case 'f': c = 12; break;
        case 'r': c = 13; break;
        case 'u':
            c = (u32)code_unit(text + i + 1);
            i += 4;
            if (c >= 0xd800 && c < 0xdc00) {
                c = 0x10000 + ((c - 0xd800) << 10) + ((u32)code_unit(text + i + 3) - 0xdc00);
                i += 6;
            }
            break;
        default: break;
        }
        ok = push_char(b, out, c);
    }
    return ok;
}

static bool is_decimal(u8 c) { return c >= '0' && c <= '9'; }

static bool push_decimal(budget *b, byte_vec *out, int64_t number) {
    u8 digits[24];
    u32 n = 0;
    u64 rest = number < 0 ? (u64)0 - (u64)number : (u64)number;
    do digits[n++] = (u8)('0' + rest % 10);
    while (rest /= 10);
    bool ok = number >= 0 || vec_push(b, out, '-');
    while (ok && n) ok = vec_push(b, out, digits[--n]);
    return ok;
}

static bool canonical_number(budget *b, const u8 *text, u32 n, byte_vec *out) {
    u32 i = text[0] == '-', start = 0, kept = 0;
    int64_t exponent = -1; /* of the first digit that counts */
    bool ok = (i == 0 || vec_push(b, out, '-')), fraction = false;
    start = out->n;
    for (; ok && i < n && (is_decimal(text[i]) || text[i] == '.'); i++) {
        if (text[i] == '.') fraction = true;
        else if (text[i] == '0' && out->n == start) exponent -= fraction; /* a leading zero */
        else {
            exponent += !fraction;
            ok = vec_push(b, out, text[i]);
            if (text[i] != '0') kept = out->n;
        }
    }
    if (!ok) return false;
    if (out->n == start) { /* zero, of any sign and exponent */
        out->n = 0;
        return vec_push(b, out, '0');
    }
    out->n = kept;
    ok = vec_push(b, out, 'e');
    u32 digits = 0;
    bool minus = false;
    int64_t written = 0;
    if (i < n && (text[i] | 0x20) == 'e') {
        i++;
        if (text[i] == '+' || text[i] == '-') minus = text[i++] == '-';
        while (i + 1 < n && text[i] == '0' && is_decimal(text[i + 1])) i++;
        while (i + digits < n && is_decimal(text[i + digits])) digits++;
        if (digits > MOST_EXPONENT_DIGITS) {
            ok = ok && (!minus || vec_push(b, out, '-'));
            for (u32 k = 0; ok && k < digits; k++) ok = vec_push(b, out, text[i + k]);
            return ok;
        }
        for (u32 k = 0; k < digits; k++) written = written * 10 + (text[i + k] - '0');
    }
    return ok && push_decimal(b, out, exponent + (minus ? -written : written));
}

u32 lx_value(lx_lexer *l, const u8 *text, u32 n) {
    byte_vec value = {0};
    bool ok = true;
    if (text[0] == '"') ok = canonical_string(l->b, text, n, &value);
    else if (text[0] == '-' || is_decimal(text[0])) ok = canonical_number(l->b, text, n, &value);
    else
        for (u32 i = 0; ok && i < n && text[i] >= 'a' && text[i] <= 'z'; i++) ok = vec_push(l->b, &value, text[i]);
    l->scratch.n = 0; /* its length, then its bytes four to a word */
    ok = ok && vec_reserve(l->b, &l->scratch, 1 + (value.n + 3) / 4) && vec_reserve(l->b, &l->spellings, 1);
    u32 id = NONE;
    if (ok) {
        l->scratch.n = 1 + (value.n + 3) / 4;
        l->scratch.at[l->scratch.n - 1] = 0;
        l->scratch.at[0] = value.n;
        if (value.n) memcpy(l->scratch.at + 1, value.at, value.n);
        bool fresh;
        id = intern(l->b, &l->values, l->scratch.at, l->scratch.n, &fresh);
        if (id != NONE && fresh) l->spellings.at[l->spellings.n++] = NONE;
    }
    vec_drop(l->b, &value);
    return id;
}

/* --- spellings ----------------------------------------------------------------------------------------------------------- */

/* Parts in sequence; builds from the end. */
static rx_id before(rx_arena *x, rx_id head, rx_id tail) { return rx_concat(x, head, tail); }

static rx_id text_before(rx_arena *x, const char *text, rx_id tail) { return before(x, rx_bytes(x, (const u8 *)text, strlen(text)), tail); }

static rx_id zeros(rx_arena *x, u32 minimum, u32 maximum) { return rx_repeat(x, rx_byte(x, '0'), minimum, maximum); }

static rx_id either(rx_arena *x, u32 a, u32 b) { return rx_or2(x, rx_byte(x, a), rx_byte(x, b)); }

static rx_id optional(rx_arena *x, rx_id part) { return rx_or2(x, RX_ID_EMPTY, part); }

/* The end of a number or literal: nothing, or a byte that neither has and whatever follows. */
static rx_id word_end(rx_arena *x) {
    byte_set others = {{0}};
    for (u32 byte = 0; byte < 256; byte++) {
        bool inside = is_decimal((u8)byte) || (byte >= 'a' && byte <= 'z') || byte == 'E' || byte == '.' || byte == '+' || byte == '-';
        if (!inside) set_add(&others, byte);
    }
    return optional(x, before(x, rx_set(x, &others), RX_ID_ALL));
}

/* [eE], sign, zeros, digits of the exponent (a decimal number as text), then `end`. */
static rx_id exponent_before(rx_arena *x, const u8 *at, u32 n, rx_id end) {
    bool minus = at[0] == '-', zero = n == 1 && at[0] == '0';
    rx_id digits = before(x, rx_bytes(x, at + minus, n - minus), end);
    rx_id sign = minus ? rx_byte(x, '-') : zero ? optional(x, either(x, '+', '-')) : optional(x, rx_byte(x, '+'));
    return before(x, either(x, 'e', 'E'), before(x, sign, before(x, zeros(x, 0, NONE), digits)));
}

/* '.' and at least one zero, or nothing, then `end`. */
static rx_id no_fraction(rx_arena *x, rx_id end) {
    return before(x, optional(x, text_before(x, ".", zeros(x, 1, NONE))), end);
}

/* digits * 10^(exponent - n + 1) in plain digits, then `end`. */
static rx_id plain(rx_arena *x, const u8 *digits, u32 n, int64_t exponent, rx_id end) {
    rx_id all = rx_bytes(x, digits, n);
    if (exponent >= (int64_t)n - 1) return before(x, all, before(x, zeros(x, (u32)(exponent - n + 1), (u32)(exponent - n + 1)), no_fraction(x, end)));
    rx_id tail = before(x, zeros(x, 0, NONE), end);
    if (exponent < 0) return text_before(x, "0.", before(x, zeros(x, (u32)(-exponent - 1), (u32)(-exponent - 1)), before(x, all, tail)));
    u32 whole = (u32)exponent + 1;
    return before(x, rx_bytes(x, digits, whole), text_before(x, ".", before(x, rx_bytes(x, digits + whole, n - whole), tail)));
}

static rx_id number_spelling(rx_arena *x, const u8 *value, u32 n) {
    rx_id end = word_end(x);
    bool minus = value[0] == '-';
    if (value[0] == '0') {
        byte_set digits = {{0}};
        set_add_range(&digits, '0', '9');
        rx_id exponent = before(x, either(x, 'e', 'E'), before(x, optional(x, either(x, '+', '-')), rx_repeat(x, rx_set(x, &digits), 1, NONE)));
        return before(x, optional(x, rx_byte(x, '-')), text_before(x, "0", no_fraction(x, before(x, optional(x, exponent), end))));
    }
    const u8 *digits = value + minus, *mark = memchr(value, 'e', n);
    u32 n_digits = (u32)(mark - digits), n_exponent = (u32)(value + n - mark - 1);
    rx_id fraction = n_digits == 1 ? no_fraction(x, RX_ID_EMPTY)
                                   : text_before(x, ".", before(x, rx_bytes(x, digits + 1, n_digits - 1), zeros(x, 0, NONE)));
    rx_id all = before(x, rx_bytes(x, digits, 1), before(x, fraction, exponent_before(x, mark + 1, n_exponent, end)));
    if (n_exponent <= 9) { /* else plain digits would be some 100 MB */
        int64_t exponent = 0;
        for (u32 i = mark[1] == '-'; i < n_exponent; i++) exponent = exponent * 10 + (mark[1 + i] - '0');
        all = rx_or2(x, all, plain(x, digits, n_digits, mark[1] == '-' ? -exponent : exponent, end));
    }
    return minus ? text_before(x, "-", all) : all;
}

/* All spellings of a value that is no string, each with whatever may follow; NONE on failure. */
static rx_id spelling(lx_lexer *l, u32 value) {
    if (l->spellings.at[value] != NONE) return l->spellings.at[value];
    rx_arena *x = &l->x;
    const u32 *words = intern_words(&l->values, value);
    const u8 *bytes = (const u8 *)(words + 1);
    u32 n = words[0];
    rx_id id;
    if (bytes[0] == '-' || is_decimal(bytes[0])) {
        id = number_spelling(x, bytes, n);
    } else {
        id = before(x, rx_bytes(x, bytes, n), word_end(x));
    }
    return l->spellings.at[value] = id;
}

/* --- sets, lexemes ------------------------------------------------------------------------------------------------------- */

u32 lx_values_with(lx_lexer *l, u32 set, u32 value) {
    u32 n = intern_length(&l->value_sets, set), k = 0;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, n + 1u)) return NONE;
    const u32 *old = intern_words(&l->value_sets, set);
    while (k < n && old[k] < value) k++;
    if (k < n && old[k] == value) return set;
    if (k) memcpy(l->scratch.at, old, k * sizeof *old);
    l->scratch.at[k] = value;
    if (k < n) memcpy(l->scratch.at + k + 1, old + k, (n - k) * sizeof *old);
    l->scratch.n = n + 1;
    return budget_work(l->b, n) ? intern(l->b, &l->value_sets, l->scratch.at, n + 1, NULL) : NONE;
}

static bool is_string(const lx_lexer *l, u32 value) { return ((const u8 *)(intern_words(&l->values, value) + 1))[0] == '"'; }

static int compare_strings(const void *p, const void *q) {
    const literal *a = p, *b = q;
    int order = memcmp(a->at, b->at, min_u32(a->n, b->n));
    return order ? order : a->n < b->n ? -1 : a->n > b->n;
}

/* All spellings of all strings of a set, each with whatever may follow: one trie, so that a derivative looks at one branch. NONE on failure. */
static rx_id string_spellings(lx_lexer *l, u32 set) {
    VEC(literal) strings = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < intern_length(&l->value_sets, set); i++) {
        u32 value = intern_words(&l->value_sets, set)[i];
        const u32 *words = intern_words(&l->values, value);
        if (is_string(l, value)) ok = vec_push(l->b, &strings, ((literal){(const u8 *)(words + 1) + 1, words[0] - 1}));
    }
    if (strings.n) qsort(strings.at, strings.n, sizeof *strings.at, compare_strings);
    rx_arena *x = &l->x;
    rx_id any = ok ? rx_quote(x, rx_literals(x, strings.at, strings.n), 1) : NONE;
    vec_drop(l->b, &strings);
    return any == NONE ? NONE : text_before(x, "\"", before(x, any, text_before(x, "\"", RX_ID_ALL)));
}

u32 lx_distinct(lx_lexer *l, u32 lexeme, u32 set, bool tainted) {
    bool fresh;
    u32 key[3] = {lexeme, set, tainted}, n = intern_length(&l->value_sets, set);
    if (!vec_reserve(l->b, &l->lexemes, 1) || !vec_reserve(l->b, &l->distinct_lexeme, 1)) return NONE;
    u32 id = intern(l->b, &l->distinct, key, 3, &fresh);
    if (id == NONE) return NONE;
    if (!fresh) return l->distinct_lexeme.at[id];
    id_vec parts = {0};
    bool ok = vec_reserve(l->b, &parts, n + 2u) && budget_work(l->b, n);
    if (ok) parts.at[parts.n++] = l->lexemes.at[lexeme].expr;
    rx_id texts = ok ? string_spellings(l, set) : NONE;
    if (texts != NONE) parts.at[parts.n++] = rx_not(&l->x, texts);
    for (u32 i = 0; ok && i < n; i++) {
        u32 value = intern_words(&l->value_sets, set)[i];
        if (is_string(l, value)) continue;
        rx_id part = spelling(l, value);
        ok = part != NONE;
        if (ok) parts.at[parts.n++] = rx_not(&l->x, part);
    }
    rx_id expr = ok && l->b->status == GE_OK ? rx_and(&l->x, parts.at, parts.n) : NONE;
    vec_drop(l->b, &parts);
    if (expr == NONE) {
        intern_undo(&l->distinct);
        return NONE;
    }
    lx_lexeme made = l->lexemes.at[lexeme];
    made.expr = expr;
    made.flags |= LX_DISTINCT | (tainted ? LX_TAINTED : 0);
    l->distinct_lexeme.at[l->distinct_lexeme.n++] = l->lexemes.n;
    l->lexemes.at[l->lexemes.n++] = made;
    return l->lexemes.n - 1;
}

/* Two texts that first differ in two of these bytes have different values, if they have the same prefix: they are different characters
 * of a string, raw or in an escape, or different digits of a number. (Not the letters of exponents and \u; not both cases of a hex digit.)
 * That holds inside the scalar; behind it only white space and punctuation may come, and zero has no exponent (ir.py, `Way`). */
static bool tells_apart(u32 byte) {
    return byte >= 0x80 || (byte >= '1' && byte <= '9') || (byte >= 'a' && byte <= 'z' && byte != 'e' && byte != 'u');
}

bool lx_is_sure(lx_lexer *l, u32 state) {
    if (l->info.at[state].sure) return l->info.at[state].sure == 2;
    bool sure = false;
    for (u32 i = 0, n = lx_count(l, state); i < n && !sure; i++) {
        u32 lexeme = lx_lexeme_at(l, state, i), found = 0;
        rx_id expr = intern_words(&l->states, state)[2 * i + 1];
        bool is_tainted = (l->lexemes.at[lexeme].flags & LX_TAINTED) != 0;
        for (u32 byte = 0; byte < 256 && found < 2 && is_tainted; byte++) {
            if (!tells_apart(byte)) continue;
            rx_id rest = rx_derive(&l->x, expr, byte);
            if (rest == NONE) return false;
            bool empty = rx_is_empty(&l->x, rest);
            if (l->b->status != GE_OK) return false;
            found += !empty;
        }
        sure = expr != RX_ID_EMPTY && (!is_tainted || found == 2);
    }
    l->info.at[state].sure = sure ? 2 : 1;
    return sure;
}
