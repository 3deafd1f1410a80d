/* The values of a lexeme in the order of the length of their shortest texts: what the least distinct members of a bag cost.
 *
 * The next one is that of the shortest text of the lexeme without all values before it, so the order is made as far as it was asked for,
 * and once. Cost: a lexeme per value (lx_distinct). */
#include "lx.h"

enum { VALUES_PER_WORK = 16 }; /* that a set of values is copied with, for a unit of work */

bool lx_cheapest(lx_lexer *l, u32 lexeme, u32 n, lx_cheap *out) {
    lx_cheap at = {0};
    u32 i = n, known;
    while ((known = map_get(&l->cheap_of, (u64)lexeme << 32 | i)) == NONE && i > 0) i--; /* mostly the last one is */
    if (!budget_work(l->b, n - i + 1)) return false;
    if (known != NONE) at = l->cheap.at[known], i++;
    for (; i <= n && at.length != RX_NO_LENGTH; i++) {
        u32 rest = lx_distinct(l, lexeme, at.set, false);
        if (rest == NONE || !budget_work(l->b, 1 + i / VALUES_PER_WORK)) return false; /* sets of values are copied */
        rx_id expr = l->lexemes.at[rest].expr;
        at.length = rx_least(&l->x, expr);
        if (at.length != RX_NO_LENGTH) {
            byte_vec text = {0};
            bool ok = rx_least_text(&l->x, expr, &text);
            at.value = ok ? lx_value(l, text.at, text.n) : NONE;
            vec_drop(l->b, &text);
            at.set = at.value == NONE ? NONE : lx_values_with(l, at.set, at.value);
            if (at.set == NONE) return false;
        }
        if (l->b->status != GE_OK || !vec_push(l->b, &l->cheap, at)) return false;
        if (!map_put(l->b, &l->cheap_of, (u64)lexeme << 32 | i, l->cheap.n - 1)) return false;
    }
    *out = at;
    return true;
}
