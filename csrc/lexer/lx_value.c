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
 * Texts of forged lexemes (grammars from bytes) need not be like that. They have some value then, and nothing is read that is not theirs.
 *
 * A text after which the spelling of a string, number or literal has ended may go on with anything: `ALL` in what is taken out. */
#include "../regex/utf8.h"
#include "lx.h"

enum { MOST_EXPONENT_DIGITS = 17 }; /* longer ones are compared as they are written */

/* --- canonical form ------------------------------------------------------------------------------------------------------ */

/* Where the text has ended: 0. */
static u32 byte_at(const u8 *text, u32 n, u32 i) { return i < n ? text[i] : 0; }

static u32 code_unit(const u8 *text, u32 n, u32 at) {
    u32 value = 0;
    for (u32 i = at; i < at + 4; i++) value = value * 16 + ((u32)hex_digit(byte_at(text, n, i)) & 15);
    return value;
}

static bool push_char(budget *b, byte_vec *out, u32 c) {
    u8 bytes[4];
    u32 n = utf8_encode(c, bytes);
    for (u32 i = 0; i < n; i++)
        if (!vec_push(b, out, bytes[i])) return false;
    return true;
}

static bool canonical_string(budget *b, const u8 *text, u32 n, byte_vec *out) {
    bool ok = vec_push(b, out, '"');
    for (u32 i = 1; ok && i < n && text[i] != '"'; i++) {
        if (text[i] != '\\') {
            ok = vec_push(b, out, text[i]);
            continue;
        }
        u32 c = byte_at(text, n, ++i);
        switch (c) {
        case 'b': c = 8; break;
        case 't': c = 9; break;
        case 'n': c = 10; break;
        case 'f': c = 12; break;
        case 'r': c = 13; break;
        case 'u':
            c = code_unit(text, n, i + 1);
            i += 4;
            if (is_lead(c)) {
                c = combined(c, 0xdc00 | (code_unit(text, n, i + 3) & 0x3ff));
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
        if (byte_at(text, n, i) == '+' || byte_at(text, n, i) == '-') minus = text[i++] == '-';
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

/* The id of a canonical form. */
static u32 value_id(lx_lexer *l, const byte_vec *value) {
    l->scratch.n = 0; /* its length, then its bytes four to a word, and one more: there is a first one to look at */
    if (!vec_reserve(l->b, &l->scratch, 2 + value->n / 4)) return NONE;
    l->scratch.n = 2 + value->n / 4;
    l->scratch.at[l->scratch.n - 1] = 0;
    l->scratch.at[0] = value->n;
    if (value->n) memcpy(l->scratch.at + 1, value->at, value->n);
    return intern(l->b, &l->values, l->scratch.at, l->scratch.n, NULL);
}

u32 lx_value(lx_lexer *l, const u8 *text, u32 n) {
    byte_vec value = {0};
    bool ok = true;
    u8 first = (u8)byte_at(text, n, 0);
    if (first == '"') ok = canonical_string(l->b, text, n, &value);
    else if (first == '-' || is_decimal(first)) ok = canonical_number(l->b, text, n, &value);
    else
        for (u32 i = 0; ok && i < n && text[i] >= 'a' && text[i] <= 'z'; i++) ok = vec_push(l->b, &value, text[i]);
    u32 id = ok ? value_id(l, &value) : NONE;
    vec_drop(l->b, &value);
    return id;
}

u32 lx_value_of_string(lx_lexer *l, const u8 *chars, u32 n) {
    byte_vec value = {0};
    bool ok = vec_push(l->b, &value, '"') && vec_reserve(l->b, &value, n);
    if (ok && n) memcpy(value.at + 1, chars, n);
    value.n += ok ? n : 0;
    u32 id = ok ? value_id(l, &value) : NONE;
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
    if (exponent >= (int64_t)n - 1)
        return before(x, all, before(x, zeros(x, (u32)(exponent - n + 1), (u32)(exponent - n + 1)), no_fraction(x, end)));
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
        rx_id exponent =
            before(x, either(x, 'e', 'E'), before(x, optional(x, either(x, '+', '-')), rx_repeat(x, rx_set(x, &digits), 1, NONE)));
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

static bool is_string(const lx_lexer *l, u32 value) { return ((const u8 *)(intern_words(&l->values, value) + 1))[0] == '"'; }

/* All spellings of a value that is no string, each with whatever may follow; NONE on failure. */
static rx_id spelling(lx_lexer *l, u32 value) {
    const u32 *words = intern_words(&l->values, value);
    const u8 *bytes = (const u8 *)(words + 1);
    if (bytes[0] == '-' || is_decimal(bytes[0])) return number_spelling(&l->x, bytes, words[0]);
    return before(&l->x, rx_bytes(&l->x, bytes, words[0]), word_end(&l->x));
}

rx_id lx_value_part(lx_lexer *l, u32 value, bool of_strings) {
    if (is_string(l, value) != of_strings) return RX_ID_NEVER;
    if (!of_strings) return spelling(l, value);
    const u32 *words = intern_words(&l->values, value);
    return rx_bytes(&l->x, (const u8 *)(words + 1) + 1, words[0] - 1);
}

/* --- sets, lexemes ------------------------------------------------------------------------------------------------------- */

/* The index of the first block of a set of n that is not before `block`. */
static u32 find_block(const u32 *set, u32 n, u32 block) {
    u32 low = 0;
    while (low < n) {
        u32 middle = low + (n - low) / 2;
        if (set[2 * middle] < block) low = middle + 1;
        else n = middle;
    }
    return low;
}

bool lx_values_have(const lx_lexer *l, u32 set, u32 value) {
    const u32 *words = intern_words(&l->value_sets, set);
    u32 n = intern_length(&l->value_sets, set) / 2, at = find_block(words, n, value / 32);
    return at < n && words[2 * at] == value / 32 && words[2 * at + 1] >> value % 32 & 1;
}

u32 lx_values_with(lx_lexer *l, u32 set, u32 value) {
    if (lx_values_have(l, set, value)) return set;
    u32 n = intern_length(&l->value_sets, set) / 2;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n + 2)) return NONE;
    const u32 *old = intern_words(&l->value_sets, set);
    u32 at = find_block(old, n, value / 32), *words = l->scratch.at;
    bool is_new = at == n || old[2 * at] != value / 32;
    if (at) memcpy(words, old, 2 * at * sizeof *old);
    words[2 * at] = value / 32;
    words[2 * at + 1] = (is_new ? 0 : old[2 * at + 1]) | (u32)1 << value % 32;
    u32 behind = n - at - !is_new;
    if (behind) memcpy(words + 2 * at + 2, old + 2 * (n - behind), 2 * behind * sizeof *old);
    l->scratch.n = 2 * (n + is_new);
    return budget_work(l->b, n) ? intern(l->b, &l->value_sets, words, l->scratch.n, NULL) : NONE;
}

/* All spellings of all values of a set, each with whatever may follow; NONE on failure. */
static rx_id spellings(lx_lexer *l, u32 set) {
    rx_arena *x = &l->x;
    const u32 *words = intern_words(&l->value_sets, set);
    u32 n = intern_length(&l->value_sets, set);
    rx_id strings = rx_quote(x, lx_union_of(l, LX_STRINGS, words, n), 1), others = lx_union_of(l, LX_OTHERS, words, n);
    return others == NONE ? NONE : rx_or2(x, text_before(x, "\"", before(x, strings, text_before(x, "\"", RX_ID_ALL))), others);
}

u32 lx_distinct(lx_lexer *l, u32 lexeme, u32 set, bool tainted) {
    bool fresh;
    u32 key[3] = {lexeme, set, tainted};
    if (!vec_reserve(l->b, &l->lexemes, 1) || !vec_reserve(l->b, &l->distinct_lexeme, 1)) return NONE;
    u32 id = intern(l->b, &l->distinct, key, 3, &fresh);
    if (id == NONE) return NONE;
    if (!fresh) return l->distinct_lexeme.at[id];
    rx_id taken = spellings(l, set);
    rx_id expr = taken == NONE ? NONE : rx_and(&l->x, (rx_id[]){l->lexemes.at[lexeme].expr, rx_not(&l->x, taken)}, 2);
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

/* *found = how many of such bytes an expression may go on with; at most two. False on failure. */
static bool count_choices(lx_lexer *l, rx_id expr, u32 *found) {
    *found = 0;
    for (u32 byte = 0; byte < 256 && *found < 2; byte++) {
        if (!tells_apart(byte)) continue;
        rx_id rest = rx_derive(&l->x, expr, byte);
        bool empty = rest == NONE || rx_is_empty(&l->x, rest);
        if (l->b->status != GE_OK) return false;
        *found += !empty;
    }
    return true;
}

/* Has what is left of a tainted lexeme another value than the one that is not known? Told by the next byte, or the first of a string. */
static bool has_choice(lx_lexer *l, rx_id expr, bool *has) {
    u32 found;
    if (!count_choices(l, expr, &found)) return false;
    if (found < 2) {
        rx_id rest = rx_derive(&l->x, expr, '"');
        if (rest == NONE || (rest != RX_ID_NEVER && !count_choices(l, rest, &found))) return false;
    }
    *has = found == 2;
    return true;
}

bool lx_is_sure(lx_lexer *l, u32 state) {
    if (l->info.at[state].sure) return l->info.at[state].sure == 2;
    bool sure = false;
    for (u32 i = 0, n = lx_count(l, state); i < n && !sure; i++) {
        rx_id expr = intern_words(&l->states, state)[2 * i + 1];
        bool is_tainted = (l->lexemes.at[lx_lexeme_at(l, state, i)].flags & LX_TAINTED) != 0, has = true;
        if (is_tainted && !has_choice(l, expr, &has)) return false;
        sure = expr != RX_ID_EMPTY && has;
    }
    l->info.at[state].sure = sure ? 2 : 1;
    return sure;
}
