/* Counted text far from its bound: one configuration for all the numbers of characters that may still come.
 *
 *     QUOTE(p{0,10000}) "   is clamped to   QUOTE(p{0,room}) "   with 10000 - room characters to spare
 *
 * In a string with a `maxLength`, or a pattern like [a-z]{0,10000}, each number of characters that may still come is a lexer state of its own, and so a
 * configuration. But no token has more characters than the longest has bytes. As long as there is room for more than that, which tokens and bytes may come
 * next does not depend on how much more, nor does the shortest text to the end. So a matcher is in the configuration with just that room, and counts by
 * itself what there is to spare (match/mt.c). A plain token that may come leaves it where it is. What is asked about several tokens to come, as which are the
 * fewest that end the text, is asked of the configuration itself: they may have more characters together than there is room for.
 *
 * Invariants. Only a configuration of one alternative in one lexeme is clamped, where the count is all that it remembers; none that is fresh: a token that
 * stays where it is would leave it so. What stands for others is clamped to itself. Which is which is settled when a configuration is made: who finds it
 * without the lock finds that, too.
 *
 * Cost: to know that a configuration is none of these a look at the kind of its expression. A text of plain tokens leads to as many configurations as one
 * without a bound, until it comes near its end. At each other token, with an escape or a part of a character, the configuration itself is made. */
#include "../mask/mk.h"

static rx_id only_expr(const ge_engine *e, cf_alternative a) { return intern_words(&e->lx.states, a.state >> 1)[1]; }

static u32 with_room(ge_engine *e, cf_alternative a, u32 room) {
    u32 lexeme = lx_lexeme_at(&e->lx, a.state >> 1, 0);
    rx_id expr = rx_with_room(&e->lx.x, only_expr(e, a), room);
    u32 state = expr == NONE ? NONE : lx_state_of(&e->lx, (u32[]){lexeme, expr}, 1);
    a.state = 2 * state + (a.state & 1);
    return state == NONE ? NONE : cf_single(e, a);
}

bool cf_clamp(ge_engine *e, u32 config) {
    cf_record *record = cf_at(e, config);
    record->clamped = config;
    record->spare = 0;
    if (!e->room || cf_count(e, config) != 1) return true;
    cf_alternative a = cf_alternative_at(e, config, 0);
    u32 state = a.state >> 1;
    if (a.state & 1 || cf_is_open(a.row) || a.text != CF_NO_TEXT || lx_count(&e->lx, state) != 1) return true;
    u32 room;
    bool any;
    if (!rx_counts_chars(&e->lx.x, only_expr(e, a), &room, &any)) return e->b.status == GE_OK;
    cf_at(e, config)->any_char = any;
    if (room <= e->room || e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, 0)].flags & LX_LAZY) return true;
    u32 clamped = with_room(e, a, e->room);
    if (clamped == NONE) return false;
    record->clamped = clamped;
    record->spare = room - e->room;
    return e->has_clamped = true;
}

u32 cf_with_room(ge_engine *e, u32 config, u32 spare) { return with_room(e, cf_alternative_at(e, config, 0), e->room + spare); }
