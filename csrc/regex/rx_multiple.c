/* Decimal multiples in a range: unsigned numbers in the plain notation of JSON, `digits` or `digits.digits`, whose value is a multiple of
 * divisor / 10^scale and lies between two bounds. With scale 0 there is no point; beyond `scale` fraction digits there are only zeros.
 *
 * Idea. Count in units of 10^-scale: then the value N and both bounds are integers, and N is to be a multiple of the divisor D. Behind
 * digits that make P, k more digits make each number from P 10^k to P 10^k + 10^k - 1. Of those in range let a be the least and b the
 * greatest; a multiple is among them iff -a mod D <= b - a. That takes one pass over k digits and no large numbers: a mod D is made digit
 * by digit, and b - a need not be followed beyond D. So emptiness is arithmetic, and every node that is made is inhabited.
 *
 * A node says what may follow. At least `least` and at most `most` integer digits; if exactly `least`, they and the fraction are at least
 * the digits `low`; if exactly `most`, at most the digits `high`.
 *
 *     from 250 to 13000    nothing read    least 3  low "250"    most 5  high "13000"
 *                          "2"             least 2  low "50"     most 3  (20000 is too much)
 *                          "27"            least 1               most 2
 *                          "1"             least 3  (199 is too little)   most 4  high "3000"
 *
 * A bound that holds whatever follows is dropped, so states are few: the remainders, times the lengths of what may follow, and a few
 * along each bound.
 *
 * Cost: a step reads the digits of the bounds once, and up to 18 times what is left of the fraction. */
#include "rx.h"

enum { NOTHING, INTEGER, POINT, FRACTION }; /* what was read last; FRACTION: at least one digit behind the point */

typedef struct multiple {
    u64 divisor, remainder;
    u32 phase;
    u32 places;      /* of the fraction that are still to come */
    u32 least, most; /* integer digits to come; most may be NONE: any number */
    u32 low, high;   /* offsets in x->bounds: least + places digits and most + places digits; NONE: no such bound */
} multiple;

static multiple unpack(const u32 *node) {
    return (multiple){node[1] | (u64)node[2] << 32, node[3] | (u64)node[4] << 32, node[5], node[6], node[7], node[8], node[9], node[10]};
}

static const u8 *digits_at(const rx_arena *x, u32 offset) { return offset == NONE ? NULL : x->bounds.at + offset; }

/* Do n more digits, from `low` to `high` where these are given, make a multiple? */
static bool make_multiple(const multiple *m, const u8 *low, const u8 *high, u32 n) {
    u64 first = m->remainder, span = 0; /* of the numbers made: the least one mod D, and the greatest minus the least */
    for (u32 i = 0; i < n; i++) {
        u32 from = low ? low[i] - (u32)'0' : 0, to = high ? high[i] - (u32)'0' : 9;
        first = (first * 10 + from) % m->divisor;
        span = span * 10 + to - from;
        if (span >= m->divisor) return true;
    }
    return (m->divisor - first) % m->divisor <= span;
}

/* The least number of integer digits with which a multiple in range can be made; NONE: there is no way. */
static u32 integer_digits(const rx_arena *x, const multiple *m) {
    for (u32 n = m->least; n <= m->most; n++) { /* ends: enough digits that may be any make every remainder */
        const u8 *low = n == m->least ? digits_at(x, m->low) : NULL, *high = n == m->most ? digits_at(x, m->high) : NULL;
        if (make_multiple(m, low, high, n + m->places)) return n;
    }
    return NONE;
}

static bool are_all(const rx_arena *x, u32 offset, u32 n, u8 digit) {
    for (u32 i = 0; i < n; i++)
        if (x->bounds.at[offset + i] != digit) return false;
    return true;
}

static rx_id multiple_node(rx_arena *x, multiple m) {
    u32 longest = (m.most == NONE ? m.least : max_u32(m.least, m.most)) + m.places;
    if (!budget_work(x->b, longest / 16)) return NONE;
    if (m.low != NONE && are_all(x, m.low, m.least + m.places, '0')) m.low = NONE;
    if (m.high != NONE && are_all(x, m.high, m.most + m.places, '9')) m.high = NONE;
    u32 digits = integer_digits(x, &m);
    if (digits == NONE) return RX_ID_NEVER;
    if (m.places == 0 && m.phase == FRACTION) return rx_repeat(x, rx_byte(x, '0'), 0, NONE);
    if (m.places == 0 && m.most == 0) return RX_ID_EMPTY;
    u64 rest = m.remainder; /* if all that is not written is zero */
    for (u32 i = 0; i < m.places && rest; i++) rest = rest * 10 % m.divisor;
    bool ends = (m.phase == INTEGER || m.phase == FRACTION) && m.least == 0;
    u32 flags = RX_TEXT | RX_INHABITED | (ends && rest == 0 && m.low == NONE ? RX_NULLABLE : 0u);
    u32 point = m.phase < POINT && m.places ? 1 : 0;
    u32 words[] = {RX_MULTIPLE, (u32)m.divisor, (u32)(m.divisor >> 32), (u32)m.remainder, (u32)(m.remainder >> 32), m.phase, m.places,
                   m.least, m.most, m.low, m.high, digits + point + m.places};
    return rx_intern(x, words, sizeof words / sizeof *words, flags, 0);
}

/* Appends a bound to x->bounds and tells where. */
static bool keep_digits(rx_arena *x, literal digits, u32 *offset) {
    *offset = x->bounds.n;
    if (!vec_reserve(x->b, &x->bounds, digits.n)) return false;
    memcpy(x->bounds.at + x->bounds.n, digits.at, digits.n);
    x->bounds.n += digits.n;
    return true;
}

rx_id rx_multiple(rx_arena *x, u64 divisor, u32 scale, literal low, literal high) {
    x->has_multiple = true;
    if (high.n && (high.n < low.n || (high.n == low.n && memcmp(high.at, low.at, low.n) < 0))) return RX_ID_NEVER;
    multiple m = {.divisor = divisor, .phase = NOTHING, .places = scale, .least = low.n - scale, .most = NONE, .high = NONE};
    if (!keep_digits(x, low, &m.low)) return NONE;
    if (high.n) m.most = high.n - scale;
    if (high.n && !keep_digits(x, high, &m.high)) return NONE;
    return multiple_node(x, m);
}

/* A bound behind one more digit: the rest of it if the digit is its own, else none. */
static u32 after_digit(const rx_arena *x, u32 bound, u32 digit) {
    return bound != NONE && x->bounds.at[bound] == digit ? bound + 1 : NONE;
}

static rx_id integer_step(rx_arena *x, multiple m, u32 digit) {
    bool is_below = m.low != NONE && m.least && digit < x->bounds.at[m.low]; /* then it takes a digit more to reach the bound */
    bool is_above = m.high != NONE && m.most && digit > x->bounds.at[m.high]; /* then a digit less, to stay below */
    if (m.most < 1u + is_above) return RX_ID_NEVER;
    m.low = m.least ? after_digit(x, m.low, digit) : NONE;
    m.high = after_digit(x, m.high, digit);
    if (m.least && !is_below) m.least--;
    if (m.most != NONE) m.most -= 1u + is_above;
    if (m.phase == NOTHING && digit == '0') { /* no digit follows a leading zero */
        if (m.least) return RX_ID_NEVER;
        if (m.most) m.high = NONE;
        m.most = 0;
    }
    m.phase = INTEGER;
    return multiple_node(x, m);
}

static rx_id fraction_step(rx_arena *x, multiple m, u32 digit) {
    if (m.low != NONE && digit < x->bounds.at[m.low]) return RX_ID_NEVER;
    if (m.high != NONE && digit > x->bounds.at[m.high]) return RX_ID_NEVER;
    m.low = after_digit(x, m.low, digit);
    m.high = after_digit(x, m.high, digit);
    m.places--;
    m.phase = FRACTION;
    return multiple_node(x, m);
}

rx_id rx_multiple_step(rx_arena *x, const u32 *node, u32 byte) {
    multiple m = unpack(node);
    if (byte == '.') {
        if (m.phase != INTEGER || m.least || !m.places) return RX_ID_NEVER;
        if (m.most) m.high = NONE;
        m.most = 0;
        m.phase = POINT;
        return multiple_node(x, m);
    }
    if (byte < '0' || byte > '9') return RX_ID_NEVER;
    m.remainder = (m.remainder * 10 + (byte - '0')) % m.divisor;
    return m.phase < POINT ? integer_step(x, m, byte) : fraction_step(x, m, byte);
}
