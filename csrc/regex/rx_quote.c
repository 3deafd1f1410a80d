/* JSON string quoting as an operator: QUOTE(L) = the JSON spellings (RFC 8259, without the quotes) of the strings of L.
 *
 * Idea. QUOTE is computed by derivatives like everything else: reading a raw byte c of the spelling derives L by c; reading an escape
 * is remembered in the node (phase, accumulator) and derives L by the UTF-8 bytes of the character when it is complete. So patterns,
 * lengths and complements are combined on *values* and quoted last, and a key that is excluded is excluded in every spelling.
 *
 *     phase 0   raw                     1  after a backslash
 *     phase 2-5 0..3 hex digits read    6  after a high surrogate    7  and its backslash    8-11  0..3 hex digits of the low one
 *
 * ESCAPES_MINIMAL gives each character one spelling (but for the case of hex digits); ESCAPES_ALL all that RFC 8259 allows.
 *
 * A spelling ends before the first bare quotation mark and stands for one value. So what must not be there is taken out of the values:
 *
 *     QUOTE(A) t & ~(QUOTE(B) s)  =  QUOTE(A & ~B) t      where t begins with a quotation mark, and s is t, or one and anything
 *
 * Otherwise escapes under way would be a product of both, and there are 10^5 of them for each character. */
#include "rx.h"
#include "utf8.h"

enum { ESCAPES_MINIMAL, ESCAPES_ALL };
enum { RAW, BACKSLASH, HEX, HIGH_DONE = 6, LOW_BACKSLASH, LOW_HEX };
/* what the characters of a kind cost at most: raw, or by a short escape (rx_least.c) */
enum { COST_SHORT = 2, COST_CONTROL = 6, COST_OF_BMP = 3, COST_OTHER = 4 };

static rx_id quote_node(rx_arena *x, rx_id part, u32 escapes, u32 phase, u32 accumulator) {
    if (part == NONE) return NONE;
    if (part == RX_ID_NEVER) return RX_ID_NEVER;
    if (part == RX_ID_EMPTY) return phase == RAW ? RX_ID_EMPTY : RX_ID_NEVER; /* an escape adds a character */
    rx_meta meta = x->meta.at[part];
    u32 flags = meta.flags & (RX_TEXT | RX_FINITE);
    if (phase == RAW) flags |= meta.flags & (RX_NULLABLE | RX_INHABITED); /* every byte string has a spelling */
    return rx_intern(x, (u32[]){RX_QUOTE, part, escapes, phase, accumulator}, 5, flags, meta.depth + 1u);
}

rx_id rx_quote(rx_arena *x, rx_id part, u32 escapes) {
    x->has_quote = true;
    return quote_node(x, part, escapes, RAW, 0);
}

rx_id rx_quote_again(rx_arena *x, rx_id part, const u32 *node) { return quote_node(x, part, node[2], node[3], node[4]); }

void rx_quote_first(const u32 *node, const byte_set *of_part, byte_set *out) {
    if (node[3] != RAW) {
        const char *bytes = "0123456789abcdefABCDEF";
        if (node[3] == BACKSLASH) bytes = "\"\\/bfnrtu";
        else if (node[3] == HIGH_DONE) bytes = "\\";
        else if (node[3] == LOW_BACKSLASH) bytes = "u";
        memset(out, 0, sizeof *out);
        for (; *bytes; bytes++) set_add(out, (u8)*bytes);
        return;
    }
    bool any = false, must = of_part->w[0] || set_has(of_part, '"') || set_has(of_part, '\\');
    for (u32 i = 0; i < 8; i++) any |= of_part->w[i] != 0;
    *out = *of_part;
    out->w[0] = 0; /* control characters */
    out->w['"' >> 5] &= ~((u32)1 << ('"' & 31));
    out->w['\\' >> 5] &= ~((u32)1 << ('\\' & 31));
    if (must || (any && node[2] == ESCAPES_ALL)) set_add(out, '\\');
}

/* What is missing of the escape, and the strings without a character:
 * raw, or by a short escape, it takes at most so much of what they take. */
u32 rx_quote_least(const u32 *node, u32 of_part) {
    u32 phase = node[3], missing = LOW_HEX + 4 - phase, most = COST_OTHER;
    if (phase == BACKSLASH) return min_u32(1 + of_part - min_u32(of_part, COST_SHORT), 5 + of_part - min_u32(of_part, COST_CONTROL));
    if (phase < HIGH_DONE) { /* or a high surrogate, behind which six bytes more are to come */
        missing = HIGH_DONE - phase;
        most = node[4] << 4 * missing < 0x20 ? COST_CONTROL : COST_OF_BMP;
    }
    return missing + of_part - min_u32(of_part, most);
}

bool rx_begins_with_mark(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] == RX_CONCAT) node = intern_words(&x->nodes, node[1]);
    byte_set mark = {{0}};
    set_add(&mark, '"');
    return node[0] == RX_SET && memcmp(rx_set_of(x, node[1]), &mark, sizeof mark) == 0;
}

static bool is_mark_and_all(const rx_arena *x, rx_id id) {
    return rx_kind_of(x, id) == RX_CONCAT && rx_begins_with_mark(x, id) && intern_words(&x->nodes, id)[2] == RX_ID_ALL;
}

bool rx_quote_minus(rx_arena *x, rx_id from, rx_id taken, rx_id *out) {
    if (rx_kind_of(x, from) != RX_CONCAT) return false;
    rx_id head = intern_words(&x->nodes, from)[1], tail = intern_words(&x->nodes, from)[2], part = NONE;
    if (rx_kind_of(x, head) != RX_QUOTE || !rx_begins_with_mark(x, tail)) return false;
    u32 node[5];
    memcpy(node, intern_words(&x->nodes, head), sizeof node);
    if (taken == tail || is_mark_and_all(x, taken)) {
        if (node[3] == RAW) part = RX_ID_EMPTY;
    } else if (rx_kind_of(x, taken) == RX_CONCAT && rx_kind_of(x, intern_words(&x->nodes, taken)[1]) == RX_QUOTE) {
        const u32 *other = intern_words(&x->nodes, intern_words(&x->nodes, taken)[1]);
        rx_id behind = intern_words(&x->nodes, taken)[2];
        bool alike = (other[2] == node[2] || other[2] == ESCAPES_ALL) && other[3] == node[3] && other[4] == node[4];
        if (alike && (behind == tail || is_mark_and_all(x, behind))) part = other[1];
    }
    if (part == NONE) return false;
    rx_id not = rx_not(x, part), rest = not == NONE ? NONE : rx_and(x, (rx_id[]){node[1], not}, 2);
    *out = rest == NONE ? NONE : rx_concat(x, rx_quote_again(x, rest, node), tail);
    return true;
}

/* The character that \c stands for, or -1. */
static int short_escape(u32 c, u32 escapes) {
    switch (c) {
    case '"': case '\\': return (int)c;
    case '/': return escapes == ESCAPES_ALL ? '/' : -1;
    case 'b': return 8;
    case 't': return 9;
    case 'n': return 10;
    case 'f': return 12;
    case 'r': return 13;
    default: return -1;
    }
}

/* May `value`, of which `digits` hex digits have been read, become a character that is spelt \uXXXX? */
static bool hex_allowed(u32 value, u32 digits, u32 escapes) {
    if (escapes == ESCAPES_ALL) return true;
    if (digits < 4) return value == 0 || (digits == 3 && value == 1);
    return value < 0x20 && !(value >= 8 && value <= 13 && value != 11);
}

static rx_id after_char(rx_arena *x, rx_id part, u32 escapes, u32 c) {
    u8 bytes[4];
    u32 n = utf8_encode(c, bytes);
    for (u32 i = 0; i < n && part != NONE && part != RX_ID_NEVER; i++) part = rx_derive(x, part, bytes[i]);
    return quote_node(x, part, escapes, RAW, 0);
}

rx_id rx_quote_step(rx_arena *x, const u32 *node, u32 byte) {
    u32 part = node[1], escapes = node[2], phase = node[3], accumulator = node[4];
    int digit = hex_digit(byte);
    switch (phase) {
    case RAW:
        if (byte == '\\') return quote_node(x, part, escapes, BACKSLASH, 0);
        if (byte < 0x20 || byte == '"') return RX_ID_NEVER;
        return quote_node(x, rx_derive(x, part, byte), escapes, RAW, 0);
    case BACKSLASH: {
        if (byte == 'u') return quote_node(x, part, escapes, HEX, 0);
        int c = short_escape(byte, escapes);
        return c < 0 ? RX_ID_NEVER : after_char(x, part, escapes, (u32)c);
    }
    case HIGH_DONE:
        return byte == '\\' ? quote_node(x, part, escapes, LOW_BACKSLASH, accumulator) : RX_ID_NEVER;
    case LOW_BACKSLASH:
        return byte == 'u' ? quote_node(x, part, escapes, LOW_HEX, accumulator << 16) : RX_ID_NEVER;
    default: break;
    }
    if (digit < 0) return RX_ID_NEVER;
    bool low = phase >= LOW_HEX;
    u32 digits = phase - (low ? LOW_HEX : HEX) + 1, value = (accumulator & 0xffff) << 4 | (u32)digit, high = accumulator >> 16;
    if (!low && !hex_allowed(value, digits, escapes)) return RX_ID_NEVER;
    if (low && (digits == 1 ? value != 0xd : digits == 2 && value >> 2 != 0x37)) return RX_ID_NEVER;
    if (!low && digits == 2 && value >> 2 == 0x37) return RX_ID_NEVER; /* a lone low surrogate is no character */
    if (digits < 4) return quote_node(x, part, escapes, phase + 1, high << 16 | value);
    if (low) return after_char(x, part, escapes, 0x10000 + (high << 10) + (value & 0x3ff));
    if (value >> 10 == 0x36) return quote_node(x, part, escapes, HIGH_DONE, value & 0x3ff);
    return after_char(x, part, escapes, value);
}

/* Is L empty after each character in [low, high]? Bytes of one class are tried once. Depth: 4. */
static bool empty_after_run(rx_arena *x, rx_id part, const u8 *low, const u8 *high, u32 n) {
    if (part == NONE || part == RX_ID_NEVER) return true;
    if (n == 0) return rx_is_empty(x, part);
    byte_set tried = {{0}}; /* classes */
    for (u32 byte = low[0]; byte <= high[0]; byte++) {
        u32 c = x->class_of[byte];
        if (set_has(&tried, c)) continue;
        set_add(&tried, c);
        if (!empty_after_run(x, rx_derive(x, part, byte), low + 1, high + 1, n - 1)) return false;
        if (x->b->status != GE_OK) return true;
    }
    return true;
}

static bool empty_after_chars(rx_arena *x, rx_id part, u32 low, u32 high) {
    while (low <= high) {
        byte_run run;
        low = next_run(low, high, &run) + 1;
        if (!empty_after_run(x, part, run.low, run.high, run.n)) return false;
    }
    return true;
}

/* The same for the characters that \uXXXX can still become, of which `digits` hex digits with this value have been read. */
static bool empty_after_hex(rx_arena *x, rx_id part, u32 escapes, u32 value, u32 digits) {
    u32 shift = 4 * (4 - digits), low = value << shift, high = low | (((u32)1 << shift) - 1);
    if (escapes == ESCAPES_MINIMAL) {
        for (u32 c = low; c <= min_u32(high, 0x1f); c++)
            if (hex_allowed(c, 4, escapes) && !empty_after_chars(x, part, c, c)) return false;
        return true;
    }
    if (low < 0xd800 && !empty_after_chars(x, part, low, min_u32(high, 0xd7ff))) return false;
    if (high > 0xdfff && !empty_after_chars(x, part, max_u32(low, 0xe000), high)) return false;
    u32 first = max_u32(low, 0xd800), last = min_u32(high, 0xdbff); /* high surrogates */
    return first > last || empty_after_chars(x, part, 0x10000 + ((first - 0xd800) << 10), 0x10000 + ((last - 0xd800) << 10) + 0x3ff);
}

/* Behind a high surrogate: it, and the low ones that may still come. */
static void low_surrogates(const u32 *node, u32 *high, u32 *low, u32 *last) {
    u32 phase = node[3], accumulator = node[4], digits = phase < LOW_HEX ? 0 : phase - LOW_HEX, shift = 4 * (4 - digits);
    *high = phase < LOW_HEX ? accumulator : accumulator >> 16;
    *low = digits ? (accumulator & 0xffff) << shift : 0;
    *last = min_u32(*low | (((u32)1 << shift) - 1), 0xdfff);
    *low = max_u32(*low, 0xdc00);
}

static u32 character_of(u32 high, u32 low) { return 0x10000 + (high << 10) + (low - 0xdc00); }

bool rx_quote_is_empty(rx_arena *x, const u32 *node) {
    u32 part = node[1], escapes = node[2], phase = node[3], accumulator = node[4];
    rx_refresh_classes(x);
    if (phase == RAW) return rx_is_empty(x, part);
    if (phase == BACKSLASH) {
        for (u32 c = 0; c < 128; c++) {
            int character = short_escape(c, escapes);
            if (character >= 0 && !empty_after_chars(x, part, (u32)character, (u32)character)) return false;
        }
        return empty_after_hex(x, part, escapes, 0, 0);
    }
    if (phase < HIGH_DONE) return empty_after_hex(x, part, escapes, accumulator, phase - HEX);
    u32 high, low, last;
    low_surrogates(node, &high, &low, &last);
    return low > last || empty_after_chars(x, part, character_of(high, low), character_of(high, last));
}

/* The least that is spelt of the strings of L behind a character in a run; what is `best` or more is not looked for. */
static u32 least_after_run(rx_arena *x, rx_id part, const u8 *low, const u8 *high, u32 n, u32 best) {
    if (part == NONE || part == RX_ID_NEVER) return best;
    if (n == 0) return min_u32(best, rx_least_quoted(x, part));
    /* of the character, of which n bytes are left: more only if it is one byte */
    u32 bound = rx_bound_quoted(x, part), own = n == 1 ? COST_CONTROL : n;
    if (bound - min_u32(bound, own) >= best) return best;
    byte_set tried = {{0}}; /* classes */
    for (u32 byte = low[0]; byte <= high[0] && x->b->status == GE_OK; byte++) {
        u32 c = x->class_of[byte];
        if (set_has(&tried, c)) continue;
        set_add(&tried, c);
        budget_work(x->b, 1);
        best = least_after_run(x, rx_derive(x, part, byte), low + 1, high + 1, n - 1, best);
    }
    return best;
}

/* Behind a character in [low, high], of whose escape so many bytes are missing. */
static u32 least_after_chars(rx_arena *x, rx_id part, u32 low, u32 high, u32 missing, u32 best) {
    while (low <= high && best > missing) {
        byte_run run;
        low = next_run(low, high, &run) + 1;
        best = min_u32(best, rx_add_lengths(missing, least_after_run(x, part, run.low, run.high, run.n, best - missing)));
    }
    return best;
}

/* The same for the characters that \uXXXX can still become (see empty_after_hex). */
static u32 least_after_hex(rx_arena *x, rx_id part, u32 escapes, u32 value, u32 digits, u32 missing, u32 best) {
    u32 shift = 4 * (4 - digits), low = value << shift, high = low | (((u32)1 << shift) - 1);
    if (escapes == ESCAPES_MINIMAL) {
        for (u32 c = low; c <= min_u32(high, 0x1f); c++)
            if (hex_allowed(c, 4, escapes)) best = least_after_chars(x, part, c, c, missing, best);
        return best;
    }
    u32 first = max_u32(low, 0xd800), last = min_u32(high, 0xdbff); /* high surrogates, behind which six bytes more are to come */
    if (low < 0xd800) best = least_after_chars(x, part, low, min_u32(high, 0xd7ff), missing, best);
    if (high > 0xdfff) best = least_after_chars(x, part, max_u32(low, 0xe000), high, missing, best);
    if (first > last) return best;
    return least_after_chars(x, part, 0x10000 + ((first - 0xd800) << 10), 0x10000 + ((last - 0xd800) << 10) + 0x3ff, missing + 6, best);
}

u32 rx_quote_rest(rx_arena *x, const u32 *node) {
    u32 part = node[1], escapes = node[2], phase = node[3], accumulator = node[4], best = RX_NO_LENGTH;
    rx_refresh_classes(x);
    if (phase == BACKSLASH) {
        for (u32 c = 0; c < 128; c++) {
            int character = short_escape(c, escapes);
            if (character >= 0) best = least_after_chars(x, part, (u32)character, (u32)character, 1, best);
        }
        return least_after_hex(x, part, escapes, 0, 0, 5, best);
    }
    if (phase < HIGH_DONE) return least_after_hex(x, part, escapes, accumulator, phase - HEX, HIGH_DONE - phase, best);
    u32 high, low, last;
    low_surrogates(node, &high, &low, &last);
    return low > last ? best : least_after_chars(x, part, character_of(high, low), character_of(high, last), LOW_HEX + 4 - phase, best);
}
