/* Counted text far from its bound: one configuration for all the numbers of characters that may still come.
 *
 *     QUOTE(r p{3,10000}) "   is clamped to   QUOTE(r p{3,room}) "   with 10000 - room characters to spare
 *
 * In a string with a `maxLength`, or a pattern like [a-z]{0,10000}, each number of characters that may still come is a lexer state of its
 * own, and so a configuration. But no token has more characters than the longest has bytes. As long as there is room for that many, which
 * tokens and bytes may come next does not depend on how much more, nor does the shortest text to the end. So a matcher is in the
 * configuration with just that room, and counts by itself what there is to spare (match/mt_read.c). A token that stays in the string leads
 * to a configuration with less room, by as many characters as it has, and that is clamped in its turn. What is asked about several tokens
 * to come, as which are the fewest that end the text, is asked of the configuration itself: they may have more characters together than
 * there is room for.
 *
 * The room is that of the longest token, and of what ends a string behind
 * it (MK_FINISH): then masks are made as without a bound (mask/mk_inner.c).
 *
 * Invariants. Counted is only a configuration of one alternative in one lexeme, of which something was read, and to which few characters
 * are missing; the count, and what is left of a character or an escape, is all that it remembers. So a byte that leads from one to another
 * stays in the lexeme. Whether it is counted, and its room, is settled when a configuration is made: who finds it without the lock finds
 * that, too.
 *
 * Cost: to know that a configuration is no counted text a look at the kind of its expression. A text leads to as many configurations as one
 * without a bound, and to those with which its tokens end, until it comes near its own end. */
#include "../mask/mk.h"

enum { END_BYTES = 4 }; /* of a string to which no character is missing: the rest of an escape, and the quotation mark */

static rx_id only_expr(const ge_engine *e, cf_alternative a) { return lx_rest_at(&e->lx, a.state >> 1, 0); }

u32 cf_with_room(ge_engine *e, u32 config, u32 room) {
    cf_alternative a = cf_alternative_at(e, config, 0);
    u32 lexeme = lx_lexeme_at(&e->lx, a.state >> 1, 0);
    rx_id expr = rx_with_room(&e->lx.x, only_expr(e, a), room);
    u32 state = expr == NONE ? NONE : lx_state_of(&e->lx, (u32[]){lexeme, expr}, 1);
    a.state = 2 * state;
    return state == NONE ? NONE : cf_single(e, a);
}

static bool is_under_way(const ge_engine *e, cf_alternative a) {
    return !cf_is_open(a.row) && a.text == CF_NO_TEXT && lx_count(&e->lx, a.state >> 1) == 1 &&
           !(a.row < e->row_begin.n && e->row_begin.at[a.row] == a.state >> 1);
}

u32 cf_clamped(ge_engine *e, u32 config) {
    cf_record *record = cf_at(e, config);
    if (record->clamped == NONE) {
        u32 clamped = cf_with_room(e, config, e->room);
        atomic_store_explicit(&record->clamped, clamped, memory_order_release);
    }
    return record->clamped;
}

rx_counted cf_count_of(ge_engine *e, rx_id expr, u32 *room) {
    u32 least;
    rx_counted counted = rx_counts_chars(&e->lx.x, expr, &least, room);
    if (counted != RX_UNCOUNTED && least + END_BYTES <= MK_FINISH) return counted;
    *room = 0;
    return RX_UNCOUNTED;
}

rx_counted cf_find_count(ge_engine *e, u32 *room) {
    *room = 0;
    if (!e->room || e->alts.n != 1) return RX_UNCOUNTED;
    cf_alternative a = e->alts.at[0];
    if (!is_under_way(e, a) || e->lx.lexemes.at[lx_lexeme_at(&e->lx, a.state >> 1, 0)].flags & LX_LAZY) return RX_UNCOUNTED;
    return cf_count_of(e, only_expr(e, a), room);
}
