/* The text of a pattern -> code points, and sets of them.
 *
 * What an escape means depends on the dialect, and within a class on that: tables of what each has, in the order in which they are asked.
 * What other dialects have is refused by name, so that the message can say what to write instead. Nothing here knows what a pattern is made
 * of: that is rx_parse.c. The cursor moves forward only, but for escapes that turn out to be none. */
#include "rx_read.h"

/* --- errors ----------------------------------------------------------------------------------------------------------- */

bool rx_fail_at(rx_reader *r, ge_status status, size_t offset, const char *before, const u8 *name, size_t n, const char *after) {
    if (r->b->status != GE_OK) return false;
    char *to = r->err->text, *end = r->err->text + sizeof r->err->text - 1;
    for (; *before && to < end; before++) *to++ = *before;
    for (size_t i = 0; i < n && i < 60 && to < end; i++) *to++ = name[i] >= 0x20 && name[i] < 0x7f ? (char)name[i] : '?';
    for (; *after && to < end; after++) *to++ = *after;
    *to = 0;
    r->err->offset = (u32)offset;
    return budget_fail(r->b, status);
}

static bool fail(rx_reader *r, ge_status status, size_t offset, const char *text) {
    return rx_fail_at(r, status, offset, text, NULL, 0, "");
}

bool rx_malformed(rx_reader *r, size_t offset, const char *text) { return fail(r, GE_E_SYNTAX, offset, text); }
bool rx_refused(rx_reader *r, size_t offset, const char *text) { return fail(r, GE_E_UNSUPPORTED, offset, text); }

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static bool is_octal(u32 c) { return c >= '0' && c <= '7'; }

static u32 hex_value(u32 c) {
    if (rx_is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : NONE;
}

u32 rx_next_code(rx_reader *r) {
    u32 c = r->text[r->at++];
    if (c < 0x80) return c;
    u32 more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    c &= 0x3fu >> more;
    while (more--) c = c << 6 | (r->text[r->at++] & 0x3fu);
    return c;
}

bool rx_check_utf8(rx_reader *r) {
    for (size_t i = 0, length; i < r->n; i += length) {
        const u8 *s = r->text + i;
        length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
        bool ok = length > 0 && i + length <= r->n;
        for (size_t k = 1; ok && k < length; k++) ok = (s[k] & 0xc0) == 0x80;
        if (ok && length == 3) ok = !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] > 0x9f);
        if (ok && length == 4) ok = !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] > 0x8f);
        if (!ok) return rx_malformed(r, i, "the pattern is not valid UTF-8");
    }
    return true;
}

/* Exactly n hexadecimal digits, or NONE with the cursor unmoved. */
static u32 read_hex(rx_reader *r, u32 n) {
    u32 code = 0;
    for (u32 i = 0; i < n; i++) {
        u32 digit = hex_value(rx_peek(r, i));
        if (digit == NONE) return NONE;
        code = code << 4 | digit;
    }
    r->at += n;
    return code;
}

bool rx_read_number(rx_reader *r, u64 *number) {
    if (!rx_is_digit(rx_peek(r, 0))) return false;
    *number = 0;
    for (; rx_is_digit(rx_peek(r, 0)); r->at++) *number = *number > UINT64_MAX / 20 ? UINT64_MAX : *number * 10 + (rx_peek(r, 0) - '0');
    return true;
}

/* --- escapes ---------------------------------------------------------------------------------------------------------- */

static rx_escape bad_escape(rx_reader *r, size_t offset) {
    size_t end = r->at < r->n ? r->at + 1 : r->n;
    rx_fail_at(r, GE_E_SYNTAX, offset, "bad escape ", r->text + offset, end - offset, "");
    return RX_E_FAILED;
}

static rx_escape refused_escape(rx_reader *r, size_t offset, const char *text) {
    rx_refused(r, offset, text);
    return RX_E_FAILED;
}

/* What other dialects have, so that the message can say what to do. */
static const char *foreign_escape(u32 c) {
    switch (c) {
    case 'A': return "\\A: an anchor of other dialects; in ECMA-262 it is ^";
    case 'Z': return "\\Z: an anchor of other dialects; in ECMA-262 it is $";
    case 'z': return "\\z: an anchor of other dialects; in ECMA-262 it is $";
    case 'G': return "\\G: an anchor of other dialects";
    case 'K': return "\\K: a reset of the match start";
    case 'Q':
    case 'E': return "\\Q...\\E: quoting of other dialects";
    case 'h': return "\\h: a class of other dialects; write [\\t\\p{Zs}]";
    case 'H': return "\\H: a class of other dialects; write [^\\t\\p{Zs}]";
    case 'R': return "\\R: line ends of other dialects; write (?:\\r\\n|[\\n-\\r\\u0085\\u2028\\u2029])";
    case 'X': return "\\X: a cluster of characters, of other dialects";
    default: return NULL;
    }
}

/* \p{...}. ECMA-262 complements \P before case folding; Python's `re` has neither, and here they are
 * a set that lists the characters, and one that lists them behind ^. */
static rx_escape read_property(rx_reader *r, size_t offset, bool negated) {
    rx_ranges *to = rx_is_python(r) ? &r->fixed : &r->set;
    const u8 *name = r->text + r->at;
    size_t n = 1;
    if (rx_take(r, '{')) {
        name++;
        size_t from = r->at;
        while (rx_peek(r, 0) != '}' && rx_peek(r, 0) != RX_PATTERN_END) r->at++;
        n = r->at - from;
        if (!rx_take(r, '}')) return rx_malformed(r, offset, "\\p{ without }"), RX_E_FAILED;
    } else {
        if (!rx_is_letter(rx_peek(r, 0))) return rx_malformed(r, offset, "\\p without a property name in braces"), RX_E_FAILED;
        r->at++;
    }
    if (rx_is_python(r) && r->flags & RX_ASCII)
        return refused_escape(r, offset, "Unicode property: \\p{...} with the flag a, by which sets are of ASCII; write its characters");
    rx_ranges set = {0};
    bool known = false, ok = rx_ranges_property(r->b, &set, name, n, &known);
    if (ok && !known) ok = rx_fail_at(r, GE_E_SYNTAX, offset, "unknown Unicode property \"", name, n, "\"");
    if (ok && rx_is_python(r)) ok = rx_ranges_fold(r->b, &set, r->dialect, r->flags);
    if (ok && negated) ok = rx_ranges_invert(r->b, &set);
    for (u32 i = 0; ok && i < set.n; i++) ok = rx_ranges_add(r->b, to, set.at[i].low, set.at[i].high);
    vec_drop(r->b, &set);
    return ok ? RX_E_CLASS : RX_E_FAILED;
}

/* \u{H...} behind its brace */
static rx_escape read_code_in_braces(rx_reader *r, size_t offset, u32 *code) {
    u32 digits = 0, digit;
    for (*code = 0; (digit = hex_value(rx_peek(r, 0))) != NONE; r->at++, digits++)
        if (*code <= 0x10ffff) *code = *code << 4 | digit;
    return digits && *code <= 0x10ffff && rx_take(r, '}') ? RX_E_CODE : bad_escape(r, offset);
}

/* \u of ECMA-262: \uHHHH, two of them that are a surrogate pair, \u{H...} */
static rx_escape read_unicode(rx_reader *r, size_t offset, u32 *code) {
    if (rx_take(r, '{')) return read_code_in_braces(r, offset, code);
    *code = read_hex(r, 4);
    if (*code == NONE) return bad_escape(r, offset);
    if (*code >= 0xd800 && *code < 0xdc00 && rx_starts_with(r, "\\u")) {
        size_t here = r->at;
        r->at += 2;
        u32 low = read_hex(r, 4);
        if (low != NONE && low >= 0xdc00 && low < 0xe000) *code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
        else r->at = here;
    }
    return RX_E_CODE;
}

static rx_escape read_python_digits(rx_reader *r, size_t offset, bool in_class, u32 *code) {
    u32 c = rx_peek(r, 0), n = 0;
    bool octal = c == '0' || in_class || (is_octal(c) && is_octal(rx_peek(r, 1)) && is_octal(rx_peek(r, 2)));
    if (!octal) return refused_escape(r, offset, "back-reference: what a group matched cannot be matched again");
    *code = 0;
    for (; n < 3 && is_octal(rx_peek(r, 0)); n++, r->at++) *code = *code * 8 + (rx_peek(r, 0) - '0');
    if (n == 0 || *code > 255) return bad_escape(r, offset);
    return RX_E_CODE;
}

/* Those that both dialects have. */
static rx_escape read_common_escape(rx_reader *r, u32 c, size_t offset, bool in_class, u32 *code) {
    switch (c) {
    case 't': return *code = '\t', RX_E_CODE;
    case 'n': return *code = '\n', RX_E_CODE;
    case 'v': return *code = '\v', RX_E_CODE;
    case 'f': return *code = '\f', RX_E_CODE;
    case 'r': return *code = '\r', RX_E_CODE;
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 's':
    case 'S': return rx_ranges_escape(r->b, rx_is_python(r) ? &r->fixed : &r->set, c, r->dialect, r->flags) ? RX_E_CLASS : RX_E_FAILED;
    case 'b':
        if (!in_class) return RX_E_WORD_BOUNDARY;
        return *code = '\b', RX_E_CODE;
    case 'B': return in_class ? RX_E_OTHER : RX_E_NO_WORD_BOUNDARY;
    case 'x': return (*code = read_hex(r, 2)) != NONE ? RX_E_CODE : RX_E_OTHER;
    case 'u':
        if (!rx_is_python(r)) return read_unicode(r, offset, code);
        if (rx_take(r, '{')) return read_code_in_braces(r, offset, code); /* not in `re` */
        return (*code = read_hex(r, 4)) != NONE ? RX_E_CODE : RX_E_OTHER;
    default: return RX_E_OTHER;
    }
}

static rx_escape read_python_escape(rx_reader *r, u32 c, size_t offset, bool in_class, u32 *code) {
    switch (c) {
    case 'a': return *code = '\a', RX_E_CODE;
    case 'U': return (*code = read_hex(r, 8)) <= 0x10ffff ? RX_E_CODE : RX_E_OTHER;
    case 'p':
    case 'P': return read_property(r, offset, c == 'P');
    case 'N': return refused_escape(r, offset, "named character: \\N{...}; write the character itself");
    case 'A': return in_class ? RX_E_OTHER : RX_E_START;
    case 'Z':
    case 'z': /* Python 3.14 */
        return in_class ? RX_E_OTHER : RX_E_END;
    default: return RX_E_OTHER;
    }
}

static rx_escape read_ecma_escape(rx_reader *r, u32 c, size_t offset, bool in_class, u32 *code) {
    if (c == '0' && !rx_is_digit(rx_peek(r, 0))) return *code = 0, RX_E_CODE;
    if (c == 'c' && rx_is_letter(rx_peek(r, 0))) return *code = r->text[r->at++] & 31u, RX_E_CODE;
    if (c == 'p' || c == 'P') return read_property(r, offset, c == 'P');
    if (c == 'k' || (c >= '1' && c <= '9' && !in_class))
        return refused_escape(r, offset, "back-reference: what a group matched cannot be matched again");
    return foreign_escape(c) ? refused_escape(r, offset, foreign_escape(c)) : RX_E_OTHER;
}

rx_escape rx_read_escape(rx_reader *r, bool in_class, u32 *code) {
    size_t offset = r->at - 1;
    u32 c = rx_peek(r, 0);
    bool python = rx_is_python(r);
    if (c == RX_PATTERN_END) return rx_malformed(r, offset, "the pattern ends in a backslash"), RX_E_FAILED;
    if (c >= 0x80) return *code = rx_next_code(r), RX_E_CODE;
    if (python && rx_is_digit(c)) return read_python_digits(r, offset, in_class, code);
    r->at++;
    rx_escape found = read_common_escape(r, c, offset, in_class, code);
    if (found == RX_E_OTHER) found = (python ? read_python_escape : read_ecma_escape)(r, c, offset, in_class, code);
    if (found != RX_E_OTHER) return found;
    if (rx_is_letter(c) || rx_is_digit(c)) return r->at = offset + 1, bad_escape(r, offset);
    *code = c;
    return RX_E_CODE;
}

/* --- classes ---------------------------------------------------------------------------------------------------------- */

/* "[:alpha:]" at the cursor */
static bool at_posix_class(const rx_reader *r) {
    size_t i = 2;
    if (!rx_starts_with(r, "[:")) return false;
    if (rx_peek(r, i) == '^') i++;
    while (rx_is_letter(rx_peek(r, i))) i++;
    return rx_peek(r, i) == ':' && rx_peek(r, i + 1) == ']';
}

static bool refused_posix_class(rx_reader *r) {
    return rx_refused(r, r->at, "POSIX class: [:name:] is of other dialects; write \\p{...} or a range");
}

static rx_escape read_class_atom(rx_reader *r, u32 *code) {
    if (rx_take(r, '\\')) return rx_read_escape(r, true, code);
    return *code = rx_next_code(r), RX_E_CODE;
}

bool rx_read_class(rx_reader *r, bool *negated) {
    size_t open = r->at++;
    *negated = rx_take(r, '^');
    rx_begin_class(r);
    for (size_t first = r->at;;) {
        size_t offset = r->at;
        u32 low = 0, high = 0;
        if (rx_peek(r, 0) == RX_PATTERN_END) return rx_malformed(r, open, "[ without ]");
        if (rx_peek(r, 0) == ']' && !(rx_is_python(r) && offset == first)) break;
        if (at_posix_class(r)) return refused_posix_class(r);
        rx_escape left = read_class_atom(r, &low);
        if (left == RX_E_FAILED) return false;
        if (rx_peek(r, 0) != '-' || rx_peek(r, 1) == ']' || rx_peek(r, 1) == RX_PATTERN_END) {
            if (left == RX_E_CODE && !rx_ranges_add(r->b, &r->set, low, low)) return false;
            continue;
        }
        r->at++;
        if (at_posix_class(r)) return refused_posix_class(r);
        rx_escape right = read_class_atom(r, &high);
        if (right == RX_E_FAILED) return false;
        if (left == RX_E_CODE && right == RX_E_CODE) {
            if (low > high) return rx_fail_at(r, GE_E_SYNTAX, offset, "the range ", r->text + offset, r->at - offset, " is out of order");
            if (!rx_ranges_add(r->b, &r->set, low, high)) return false;
            continue;
        }
        if (rx_is_python(r)) return rx_fail_at(r, GE_E_SYNTAX, offset, "bad range ", r->text + offset, r->at - offset, "");
        bool ok = rx_ranges_add(r->b, &r->set, '-', '-'); /* [\w-.]: "-" can only mean itself */
        if (ok && left == RX_E_CODE) ok = rx_ranges_add(r->b, &r->set, low, low);
        if (ok && right == RX_E_CODE) ok = rx_ranges_add(r->b, &r->set, high, high);
        if (!ok) return false;
    }
    r->at++;
    return true;
}

size_t rx_class_end(const rx_reader *r) {
    size_t i = 1;
    u32 c = rx_peek(r, 1);
    if (rx_peek(r, 0) == '\\') {
        if (c < 128 && strchr("dDwWsS", (int)c) && c) return r->at + 2;
        if ((c != 'p' && c != 'P') || rx_peek(r, 2) != '{') return 0;
        while (rx_peek(r, i) != '}' && rx_peek(r, i) != RX_PATTERN_END) i++;
        return r->at + i + 1;
    }
    if (rx_peek(r, 0) != '[') return 0;
    if (c == '^') i++;
    if (rx_is_python(r) && rx_peek(r, i) == ']') i++;
    for (; rx_peek(r, i) != ']'; i++) {
        if (rx_peek(r, i) == '\\') i++;
        if (rx_peek(r, i) == RX_PATTERN_END) return 0;
    }
    return r->at + i + 1;
}
