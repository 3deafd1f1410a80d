/* Decimal multiples in a range: unsigned numbers in the plain notation of JSON, `digits` or `digits.digits`, whose value is a multiple of
 * divisor / 10^scale and lies between two bounds. With scale 0 there is no point; beyond `scale` fraction digits there are only zeros.
 *
 * Idea. Count in units of 10^-scale: then the value N and both bounds are integers, and N is to be a multiple of the divisor D. Behind
 * digits that make P, k more digits make each number from P 10^k to P 10^k + 10^k - 1. Of those in range let a be the least and b the
 * greatest, both with the multiples of D up to a taken off: a multiple is among them iff a = 0 or b >= D. Such a *window* from a to b is
 * made digit by digit, from a = b = P mod D, and numbers stay as small as D: once b >= D, no digits that follow can exclude that multiple,
 * so no more are looked at. So emptiness is arithmetic, and every node that is made is inhabited. How many digits are needed where they may
 * be any is found in one pass, since one more never hurts.
 *
 * A node says what may follow. At least `least` and at most `most` integer digits; if exactly `least`,
 * they and the fraction are at least the digits `low`; if exactly `most`, at most the digits `high`.
 *
 *     from 250 to 13000    nothing read    least 3  low "250"    most 5  high "13000"
 *                          "2"             least 2  low "50"     most 3  (20000 is too much)
 *                          "27"            least 1               most 2
 *                          "1"             least 3  (199 is too little)   most 4  high "3000"
 *
 * A bound that holds whatever follows is dropped, so states are few: the remainders, times the lengths of what may follow, and a few
 * along each bound.
 *
 * Arithmetic. D has any number of digits up to RX_MAX_DIVISOR, so numbers are arrays of limbs, base 2^32 and the lowest first, as many as D
 * has. D and all numbers modulo D are held times 2^shift, so that the highest bit of D is set: then the highest limbs tell how often D goes
 * into a number, or one to three times less (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D). Nine digits are taken at a
 * time.
 *
 * Cost: a step reads the digits of the bounds once, and as many as D has, or nine more; each nine take time in proportion to the limbs. */
#include "rx.h"

enum { NOTHING, INTEGER, POINT, FRACTION }; /* what was read last; FRACTION: at least one digit behind the point */

enum { CHUNK = 9 }; /* digits that are taken at a time: 10^9 < 2^32 */
static const u32 TEN_TO[CHUNK + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

#define MOST_LIMBS (RX_MAX_DIVISOR * 10 / 96 + 1) /* a limb has more than 9.6 digits */

typedef struct multiple { /* a node, word by word */
    u32 kind;
    u32 distance;
    u32 phase;
    u32 places;      /* of the fraction that are still to come */
    u32 least, most; /* integer digits to come; most may be NONE: any number */
    u32 low, high;   /* offsets in x->bounds: least + places digits and most + places digits; NONE: no such bound */
    u32 shift;
    u32 n; /* limbs of a number */
    u32 limbs[2 * MOST_LIMBS]; /* the divisor, and the remainder of what was read */
} multiple;

static u32 n_words(const multiple *m) { return (u32)(offsetof(multiple, limbs) / sizeof(u32)) + 2 * m->n; }

/* --- numbers ---------------------------------------------------------------------------------------------------------- */

typedef struct window { /* see above: from a to b */
    u32 a[MOST_LIMBS], b[MOST_LIMBS];
} window;

static void start_window(window *w, const multiple *m) {
    for (u32 i = 0; i < m->n; i++) w->a[i] = w->b[i] = m->limbs[m->n + i];
}

/* number = number * factor + term; returns what is beyond the limbs. */
static u32 multiply(u32 *number, u32 n, u32 factor, u64 term) {
    for (u32 i = 0; i < n; i++) {
        term += (u64)number[i] * factor;
        number[i] = (u32)term;
        term >>= 32;
    }
    return (u32)term;
}

/* number -= times * other; returns what is to be taken off beyond the limbs. */
static u32 subtract(u32 *number, const u32 *other, u32 n, u32 times) {
    u64 taken = 0;
    for (u32 i = 0; i < n; i++) {
        taken += (u64)other[i] * times;
        u32 low = (u32)taken;
        taken = (taken >> 32) + (number[i] < low);
        number[i] -= low;
    }
    return (u32)taken;
}

static bool is_at_least(const u32 *number, const u32 *other, u32 n) {
    while (--n && number[n] == other[n]) {}
    return number[n] >= other[n];
}

static bool is_zero(const u32 *number, u32 n) {
    for (u32 i = 0; i < n; i++)
        if (number[i]) return false;
    return true;
}

/* a = a factor + from, b = b factor + to, and the multiples of D up to
 * a taken off. Returns whether b >= D then; if so, b is of no more use. */
static bool feed(window *w, const multiple *m, u32 factor, u32 from, u32 to) {
    const u32 *divisor = m->limbs;
    u64 more_a = (u64)from << m->shift, more_b = (u64)to << m->shift;
    u32 n = m->n;
    if (n == 1) { /* the same for most steps: numbers fit a word */
        u64 a = (u64)w->a[0] * factor + more_a, b = (u64)w->b[0] * factor + more_b;
        b -= a - a % *divisor;
        w->a[0] = (u32)(a % *divisor);
        w->b[0] = (u32)b;
        return b >= *divisor;
    }
    u32 above_a = multiply(w->a, n, factor, more_a), above_b = multiply(w->b, n, factor, more_b);
    while (above_a || is_at_least(w->a, divisor, n)) {
        u32 times = (u32)(((u64)above_a << 32 | w->a[n - 1]) / ((u64)divisor[n - 1] + 1));
        times = max_u32(times, 1);
        above_a -= subtract(w->a, divisor, n, times);
        above_b -= subtract(w->b, divisor, n, times);
    }
    return above_b || is_at_least(w->b, divisor, n);
}

/* Appends some digits, at most CHUNK: those of `from` to a, of `to` to b. */
static bool append(window *w, const multiple *m, u32 n_digits, u32 from, u32 to) { return feed(w, m, TEN_TO[n_digits], from, to); }

/* The value of some digits; where there is no bound, of as many `other` ones. */
static u32 digits_value(const u8 *bound, u32 n_digits, u32 other) {
    u32 value = 0;
    for (u32 i = 0; i < n_digits; i++) value = value * 10 + (bound ? bound[i] - (u32)'0' : other);
    return value;
}

/* Do n more digits, from `low` to `high` where these are bounds, make a multiple? Without `low`, a first digit is no zero. */
static bool make_multiple(const rx_arena *x, const multiple *m, u32 low, u32 high, u32 n) {
    window w;
    start_window(&w, m);
    for (u32 at = 0, n_digits; at < n; at += n_digits) {
        n_digits = min_u32(n - at, CHUNK);
        u32 from = digits_value(low == NONE ? NULL : x->bounds.at + low + at, n_digits, 0);
        u32 to = digits_value(high == NONE ? NULL : x->bounds.at + high + at, n_digits, 9);
        if (low == NONE && m->phase == NOTHING && at == 0) from = TEN_TO[n_digits - 1];
        if (append(&w, m, n_digits, from, to)) return true;
    }
    return is_zero(w.a, m->n);
}

/* Appends to a window digits that may be any, from `from` on. Does it contain a multiple then? */
static bool append_any(window *w, const multiple *m, u32 n_digits, u32 from) {
    return append(w, m, n_digits, from, TEN_TO[n_digits] - 1) || is_zero(w->a, m->n);
}

/* How many more digits are needed to make a multiple, if they may be any, but for a zero as the first one of all. */
static u32 digits_needed(const multiple *m) {
    window w, next;
    u32 n = m->phase == NOTHING;
    start_window(&w, m);
    if (n ? append_any(&w, m, 1, 1) : is_zero(w.a, m->n)) return n;
    if (m->n > 1)
        for (next = w; !append_any(&next, m, CHUNK, 0); w = next) n += CHUNK;
    do n++;
    while (!append_any(&w, m, 1, 0));
    return n;
}

/* Is what was read a multiple, if all that is not written is zero? */
static bool is_multiple(const multiple *m) {
    window w;
    start_window(&w, m);
    u32 left = min_u32(m->places, 32 * m->n); /* more powers of ten do not help: those of 2 and 5 in D are fewer than its bits */
    for (u32 n_digits; left && !is_zero(w.a, m->n); left -= n_digits) {
        n_digits = min_u32(left, CHUNK);
        append(&w, m, n_digits, 0, 0);
    }
    return is_zero(w.a, m->n);
}

/* --- nodes ------------------------------------------------------------------------------------------------------------ */

/* The least number of integer digits with which a multiple in range can be made; NONE: there is no way. */
static u32 integer_digits(const rx_arena *x, const multiple *m) {
    u32 n = m->least;
    if (m->phase == NOTHING && m->low == NONE) return n; /* zero */
    if (m->low != NONE && n <= m->most) {
        if (make_multiple(x, m, m->low, n == m->most ? m->high : NONE, n + m->places)) return n;
        n++;
    }
    u32 needed = digits_needed(m);
    n = max_u32(n, needed > m->places ? needed - m->places : 0);
    if (n > m->most) return NONE;
    if (n < m->most || m->high == NONE) return n;
    return make_multiple(x, m, NONE, m->high, n + m->places) ? n : NONE;
}

static bool are_all(const rx_arena *x, u32 offset, u32 n, u8 digit) {
    for (u32 i = 0; i < n; i++)
        if (x->bounds.at[offset + i] != digit) return false;
    return true;
}

/* The node, or what it is equal to. Writes to m what follows from the rest. */
static rx_id multiple_node(rx_arena *x, multiple *m) {
    u32 longest = (m->most == NONE ? m->least : max_u32(m->least, m->most)) + m->places;
    if (!budget_work(x->b, ((u64)longest + 10 * m->n) * (m->n + 2) / 256)) return NONE;
    if (m->low != NONE && are_all(x, m->low, m->least + m->places, '0')) m->low = NONE;
    if (m->high != NONE && are_all(x, m->high, m->most + m->places, '9')) m->high = NONE;
    u32 digits = integer_digits(x, m);
    if (digits == NONE) return RX_ID_NEVER;
    if (m->places == 0 && m->phase == FRACTION) return rx_repeat(x, rx_byte(x, '0'), 0, NONE);
    if (m->places == 0 && m->most == 0) return RX_ID_EMPTY;
    bool ends = (m->phase == INTEGER || m->phase == FRACTION) && m->least == 0 && m->low == NONE && is_multiple(m);
    m->distance = digits + (m->phase < POINT && m->places) + m->places;
    return rx_intern(x, (const u32 *)(const void *)m, n_words(m), RX_TEXT | RX_INHABITED | (ends ? RX_NULLABLE : 0u), 0);
}

u32 rx_multiple_least(const u32 *node, bool *exact) {
    const multiple *m = (const multiple *)(const void *)node;
    *exact = m->places == 0;
    u32 fraction = m->places + (m->phase < POINT && m->places); /* zeros at its end need not be written */
    return max_u32(m->distance - fraction, 1);
}

/* Appends a bound to x->bounds and tells where. */
static bool keep_digits(rx_arena *x, literal digits, u32 *offset) {
    *offset = x->bounds.n;
    if (!vec_reserve(x->b, &x->bounds, digits.n)) return false;
    memcpy(x->bounds.at + x->bounds.n, digits.at, digits.n);
    x->bounds.n += digits.n;
    return true;
}

rx_id rx_multiple(rx_arena *x, literal divisor, u32 scale, literal low, literal high) {
    x->has_multiple = true;
    if (high.n && (high.n < low.n || (high.n == low.n && memcmp(high.at, low.at, low.n) < 0))) return RX_ID_NEVER;
    multiple m = {.kind = RX_MULTIPLE, .phase = NOTHING, .places = scale, .least = low.n - scale, .most = NONE, .high = NONE};
    if (!keep_digits(x, low, &m.low)) return NONE;
    if (high.n) m.most = high.n - scale;
    if (high.n && !keep_digits(x, high, &m.high)) return NONE;
    for (u32 i = 0; i < divisor.n; i++) {
        u32 above = multiply(m.limbs, m.n, 10, divisor.at[i] - (u32)'0');
        if (above) m.limbs[m.n++] = above;
    }
    while (m.limbs[m.n - 1] << m.shift >> 31 == 0) m.shift++;
    multiply(m.limbs, m.n, (u32)1 << m.shift, 0);
    return multiple_node(x, &m);
}

/* A bound behind one more digit: the rest of it if the digit is its own, else none. */
static u32 after_digit(const rx_arena *x, u32 bound, u32 digit) {
    return bound != NONE && x->bounds.at[bound] == digit ? bound + 1 : NONE;
}

static rx_id integer_step(rx_arena *x, multiple *m, u32 digit) {
    bool is_below = m->low != NONE && m->least && digit < x->bounds.at[m->low]; /* then it takes a digit more to reach the bound */
    bool is_above = m->high != NONE && m->most && digit > x->bounds.at[m->high]; /* then a digit less, to stay below */
    if (m->most < 1u + is_above) return RX_ID_NEVER;
    m->low = m->least ? after_digit(x, m->low, digit) : NONE;
    m->high = after_digit(x, m->high, digit);
    if (m->least && !is_below) m->least--;
    if (m->most != NONE) m->most -= 1u + is_above;
    if (m->phase == NOTHING && digit == '0') { /* no digit follows a leading zero */
        if (m->least) return RX_ID_NEVER;
        if (m->most) m->high = NONE;
        m->most = 0;
    }
    m->phase = INTEGER;
    return multiple_node(x, m);
}

static rx_id fraction_step(rx_arena *x, multiple *m, u32 digit) {
    if (m->low != NONE && digit < x->bounds.at[m->low]) return RX_ID_NEVER;
    if (m->high != NONE && digit > x->bounds.at[m->high]) return RX_ID_NEVER;
    m->low = after_digit(x, m->low, digit);
    m->high = after_digit(x, m->high, digit);
    m->places--;
    m->phase = FRACTION;
    return multiple_node(x, m);
}

rx_id rx_multiple_step(rx_arena *x, const u32 *node, u32 byte) {
    multiple m;
    memcpy(&m, node, n_words((const multiple *)(const void *)node) * sizeof(u32));
    if (byte == '.') {
        if (m.phase != INTEGER || m.least || !m.places) return RX_ID_NEVER;
        if (m.most) m.high = NONE;
        m.most = 0;
        m.phase = POINT;
        return multiple_node(x, &m);
    }
    if (byte < '0' || byte > '9') return RX_ID_NEVER;
    window w;
    start_window(&w, &m);
    append(&w, &m, 1, byte - '0', byte - '0');
    memcpy(m.limbs + m.n, w.a, m.n * sizeof(u32));
    return m.phase < POINT ? integer_step(x, &m, byte) : fraction_step(x, &m, byte);
}

/* Where a digit stands to one of a bound: 0 if there is none, else 1 to 3. */
static u32 side_of(const rx_arena *x, u32 bound, u32 digit) {
    u32 own = bound == NONE ? 0 : x->bounds.at[bound];
    return bound == NONE ? 0 : digit < own ? 1 : digit == own ? 2 : 3;
}

u32 rx_multiple_sort(const rx_arena *x, const u32 *node, u32 digit) {
    const multiple *m = (const multiple *)(const void *)node;
    u32 divisor = m->n == 1 ? min_u32(m->limbs[0] >> m->shift, 10) : 10;
    u32 remainder = (digit - '0') % divisor, leads = m->phase == NOTHING && digit == '0';
    return ((remainder * 4 + side_of(x, m->low, digit)) * 4 + side_of(x, m->high, digit)) * 2 + leads;
}

/* --- multiples of one number and of none of others -------------------------------------------------------------------------
 *
 * Digits that make multiples of D make D j + c, for each j of a row of numbers, as many as the digits that may follow have room for. Such a
 * number is a multiple of E for all j of one class modulo q = E / gcd(D, E), or for none. So if q > 1, E takes at most J / q + 1 of J of
 * them; where all such E together take less than J, one is left. What this does not tell, near an upper bound or for many small q, is
 * searched. */

enum { ALL_TAKEN = 1 << 20 }; /* the share of the numbers that are excluded is counted in parts of so many */

/* q, or what is known to be no more than q, for a D that is followed by `zeros`. */
static u32 class_size(const multiple *excluded, const multiple *base, u32 zeros) {
    window w = {{0}, {0}};
    for (u32 bits = 32 * base->n - base->shift, step; bits; bits -= step) { /* D, the highest bits first */
        u32 high = bits + base->shift, limb = (high - 1) / 32;
        step = min_u32(min_u32(bits, (high - 1) % 32 + 1), 16);
        u32 next = (u32)(base->limbs[limb] >> (high - step) % 32) & (((u32)1 << step) - 1);
        feed(&w, excluded, (u32)1 << step, next, next);
    }
    for (u32 n_digits; zeros; zeros -= n_digits) {
        n_digits = min_u32(zeros, CHUNK);
        append(&w, excluded, n_digits, 0, 0);
    }
    if (is_zero(w.a, excluded->n)) return 1;
    if (excluded->n > 1) return 2;
    u32 a = excluded->limbs[0], b = w.a[0];
    while (b) {
        u32 rest = a % b;
        a = b;
        b = rest;
    }
    return excluded->limbs[0] / a;
}

/* The multiples that an expression begins with: *m, and whether *tail can follow. */
static bool begins_with_multiples(const rx_arena *x, rx_id id, multiple *m, rx_id *tail) {
    const u32 *node = intern_words(&x->nodes, id);
    *tail = node[0] == RX_CONCAT ? node[2] : RX_ID_EMPTY;
    if (node[0] == RX_CONCAT) node = intern_words(&x->nodes, node[1]);
    if (node[0] != RX_MULTIPLE) return false;
    memcpy(m, node, n_words((const multiple *)(const void *)node) * sizeof(u32));
    return m->phase == NOTHING || m->phase == INTEGER;
}

/* The share that an excluded expression takes of multiples of the base; ALL_TAKEN if that is not known. */
static u32 share_of(rx_arena *x, rx_id id, const multiple *base) {
    multiple m;
    rx_id tail;
    byte_set first, digits = {{0}};
    set_add_range(&digits, '0', '9');
    if (!begins_with_multiples(x, id, &m, &tail) || m.places < base->places || (base->places && tail != RX_ID_EMPTY)) return ALL_TAKEN;
    if (!budget_work(x->b, (u64)(base->n + m.places / 32 + 1) * (m.n + 2) / 16) || !rx_first(x, tail, &first)) return ALL_TAKEN;
    for (u32 i = 0; i < 8; i++)
        if (first.w[i] & digits.w[i]) return ALL_TAKEN; /* it is not known which digits are those of the multiple */
    u32 size = class_size(&m, base, m.places - base->places);
    return size == 1 ? ALL_TAKEN : (ALL_TAKEN - 1) / size + 1;
}

rx_verdict rx_multiple_verdict(rx_arena *x, rx_id id) {
    u32 n = intern_length(&x->nodes, id), n_bases = 0, n_excluded = 0;
    multiple base;
    rx_id tail;
    u64 taken = 0;
    for (u32 i = 1; i < n; i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        if (rx_kind_of(x, part) == RX_NOT) continue;
        if (n_bases++ || !begins_with_multiples(x, part, &base, &tail) || base.phase != INTEGER || !rx_nullable(x, tail)) return RX_UNKNOWN;
    }
    if (!n_bases) return RX_UNKNOWN;
    for (u32 i = 1; i < n; i++) {
        rx_id part = intern_words(&x->nodes, id)[i], not = intern_words(&x->nodes, part)[1];
        if (rx_kind_of(x, part) != RX_NOT) continue;
        bool many = rx_kind_of(x, not) == RX_OR;
        for (u32 k = 1; k < (many ? intern_length(&x->nodes, not) : 2) && taken < ALL_TAKEN; k++, n_excluded++)
            taken += share_of(x, many ? intern_words(&x->nodes, not)[k] : not, &base);
    }
    if (taken >= ALL_TAKEN) return RX_UNKNOWN;
    if (base.most == NONE) return RX_IS_INHABITED;
    u64 needed = n_excluded * (u64)ALL_TAKEN / (ALL_TAKEN - taken) + 1; /* J */
    u32 bits = 32 * base.n - base.shift + 64 - (u32)__builtin_clzll(needed);
    u64 digits = (u64)base.most - 1 + base.places; /* k: one less than there may be, so that no bound is near */
    bool room = base.most && base.least < base.most - 1 && digits * 33 / 10 >= bits; /* 10^k > 2^(3.3 k) >= J D */
    return room ? RX_IS_INHABITED : RX_UNKNOWN;
}
