/* Decimal multiples: digit strings `digits` or `digits.digits` whose value is a multiple of divisor / 10^scale.
 *
 * Idea. With f fraction digits read, N = the digits read as one integer, the value is N / 10^f. It is a multiple of D / 10^s iff
 * N * 10^(s - f) is divisible by D when f <= s; beyond s fraction digits only zeros may follow. So N mod D and s - f are the state:
 * at most D * (s + 2) states, made as they are reached.
 *
 *     phase 0  nothing read    1  integer digits    2  just after the point    3  fraction digits
 *
 * From remainder r, k more digits can make any number from 0 to 10^k - 1, so they can make a multiple iff -r 10^k mod D < 10^k. That is
 * always so for some k up to the number of digits of D. It settles at once what is empty, and how near the next multiple is. */
#include "rx.h"

enum { NOTHING, INTEGER, POINT, FRACTION };

/* How many more digits make a multiple: at least so many, and at most `most`; NONE if there is no way. */
static u32 digits_to_multiple(u32 divisor, u32 remainder, u32 most) {
    u64 r = remainder, power = 1;
    for (u32 k = 0; k <= most; k++, r = r * 10 % divisor, power *= 10) {
        if ((divisor - r) % divisor < power) return k;
        if (power > divisor) break;
    }
    return NONE;
}

u32 rx_multiple_distance(const u32 *node) {
    u32 digits = digits_to_multiple(node[1], node[2], NONE - 1);
    return node[4] == NOTHING || node[4] == POINT ? max_u32(digits, 1) : digits;
}

static rx_id multiple_node(rx_arena *x, u32 divisor, u32 remainder, u32 scale, u32 phase) {
    u64 r = remainder;
    for (u32 i = 0; i < scale && r; i++) r = r * 10 % divisor;
    if (phase == POINT || phase == FRACTION) { /* places that are not written are zeros: all of them can be used */
        u64 power = 1;
        for (u32 i = 0; i < scale && power <= divisor; i++) power *= 10;
        if ((divisor - r) % divisor >= power) return RX_ID_NEVER;
    }
    bool nullable = (phase == INTEGER || phase == FRACTION) && r == 0;
    u32 flags = RX_TEXT | RX_INHABITED | (nullable ? RX_NULLABLE : 0u);
    return rx_intern(x, (u32[]){RX_MULTIPLE, divisor, remainder, scale, phase}, 5, flags, 0);
}

rx_id rx_multiple(rx_arena *x, u32 divisor, u32 scale) {
    x->has_multiple = true;
    return multiple_node(x, divisor, 0, scale, NOTHING);
}

rx_id rx_multiple_step(rx_arena *x, const u32 *node, u32 byte) {
    u32 divisor = node[1], remainder = node[2], scale = node[3], phase = node[4];
    if (byte == '.') return phase == INTEGER ? multiple_node(x, divisor, remainder, scale, POINT) : RX_ID_NEVER;
    if (byte < '0' || byte > '9') return RX_ID_NEVER;
    bool fraction = phase == POINT || phase == FRACTION;
    if (fraction && scale == 0) return byte == '0' && remainder == 0 ? multiple_node(x, divisor, 0, 0, FRACTION) : RX_ID_NEVER;
    u32 next = (u32)(((u64)remainder * 10 + (byte - '0')) % divisor);
    return multiple_node(x, divisor, next, fraction ? scale - 1 : scale, fraction ? FRACTION : INTEGER);
}
