/* Decimal multiples: digit strings `digits` or `digits.digits` whose value is a multiple of divisor / 10^scale.
 *
 * Idea. With f fraction digits read, N = the digits read as one integer, the value is N / 10^f. It is a multiple of D / 10^s iff
 * N * 10^(s - f) is divisible by D when f <= s; beyond s fraction digits only zeros may follow. So N mod D and s - f are the state:
 * at most D * (s + 2) states, made as they are reached.
 *
 *     phase 0  nothing read    1  integer digits    2  just after the point    3  fraction digits */
#include "rx.h"

enum { NOTHING, INTEGER, POINT, FRACTION };

static rx_id multiple_node(rx_arena *x, u32 divisor, u32 remainder, u32 scale, u32 phase) {
    u64 r = remainder;
    for (u32 i = 0; i < scale && r; i++) r = r * 10 % divisor;
    bool nullable = (phase == INTEGER || phase == FRACTION) && r == 0;
    /* A zero more makes "" or "." a multiple of anything; digits can be continued unless fraction places have run out. */
    u32 flags = RX_TEXT | (nullable ? RX_NULLABLE : 0u) | (phase == NOTHING ? RX_INHABITED : 0u);
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
