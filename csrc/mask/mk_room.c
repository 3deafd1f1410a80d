/* Counted text wherever its end is: one lexeme-internal mask for all the numbers of characters that may still come.
 *
 * Near its bound each place of a counted text is a state of its own, "90 characters may come", and each character of a token leads to
 * another. But it matters only to tokens that need more than there is room for. So what is analysed is the *open* unit, which has no such
 * bound (regex/rx_room.c). Its states recur, and with each token that stays inside goes what it *needs*: the characters that begin in it,
 * and those that must still begin after it. It is allowed if there is room for as many. A token that leaves the lexeme may do so if there
 * was room until then: exits are parted by that.
 *
 * Exactness. A string of the open unit belongs to the unit if and only if no more characters begin in it than there is room for; and the
 * fewest that begin in a string that goes on after a token are asked for by an emptiness that is exact.
 *
 * Counts of other things, "at most 9 words", matter to few tokens, too: mostly none is more than a word. Open units that differ in bounds
 * of repeats lie one in the other. If the one with the most that came so far and the one with few have the same mask, so have all between.
 *
 * Most tokens need as many characters as they have, which the vocabulary
 * knows. Where most stay inside, needs begin with that (mk_shapes.c).
 *
 * For a place by itself the usual ways cost less, so this is done from the second place
 * on that a text comes to, and from the first, once it was done for the lexeme elsewhere.
 *
 * Cost: that of an analysis without counts, and for each mask a look at the needs of all tokens, 32 at a time. */
#include "../regex/names/rx_unbound.h"
#include "mk_analysis.h"

enum { LEAST_WORK = 1 << 12 }; /* of an analysis, to find the fewest characters that must still begin: it is a search, and may be hard */

static rx_id expr_of(const ge_engine *e, u32 state) {
    return lx_count(&e->lx, state) ? lx_rest_at(&e->lx, state, 0) : RX_ID_NEVER;
}

static bool may_open(const ge_engine *e, u32 unit) {
    const rx_arena *x = &e->lx.x;
    if (e->switches & GE_NO_CLAMPING || e->g->longest || e->g->g.has_distinct || lx_count(&e->lx, unit) != 1) return false;
    if (x->has_name || x->has_punycode || x->has_syntax || e->lx.lexemes.at[lx_lexeme_at(&e->lx, unit, 0)].flags & LX_LAZY) return false;
    return e->v->tiers[0].bytes + MK_FINISH < VB_MOST_NEED;
}

u32 mk_room(const ge_engine *e, u32 unit) { return may_open(e, unit) ? rx_room(&e->lx.x, expr_of(e, unit)) : NONE; }

bool mk_open_unit(ge_engine *e, u32 unit, u32 *open) {
    if (!vec_reach(&e->b, &e->mk.unit_open, unit)) return false;
    *open = e->mk.unit_open.at[unit];
    if (*open != NONE) return true;
    *open = unit;
    if (mk_room(e, unit) != NONE && rx_least_in_quotes(&e->lx.x, expr_of(e, unit)) <= MK_FINISH) {
        rx_id expr = rx_without_room(&e->lx.x, expr_of(e, unit));
        *open = expr == NONE ? NONE : lx_state_of(&e->lx, (u32[]){lx_lexeme_at(&e->lx, unit, 0), expr}, 1);
    }
    e->mk.unit_open.at[unit] = *open;
    return *open != NONE;
}

u32 mk_few(ge_engine *e, u32 open) {
    rx_id expr = rx_few(&e->lx.x, expr_of(e, open));
    if (expr != NONE && rx_is_empty(&e->lx.x, expr)) return e->b.status == GE_OK ? open : NONE;
    return expr == NONE ? NONE : lx_state_of(&e->lx, (u32[]){lx_lexeme_at(&e->lx, open, 0), expr}, 1);
}

bool mk_is_within(const ge_engine *e, u32 open, u32 other) { return rx_is_within(&e->lx.x, expr_of(e, open), expr_of(e, other)); }

bool mk_alike(const vb_inner *a, const vb_inner *b) {
    bool alike = memcmp(a->needs, b->needs, 32 * a->n_words) == 0 && a->exits.n == b->exits.n;
    for (u32 i = 0; alike && i < a->exits.n; i++) {
        const vb_exit *one = &a->exits.at[i], *other = &b->exits.at[i];
        alike = one->room == other->room && one->places.n == other->places.n;
        for (u32 k = 0; alike && k < one->places.n; k++) alike = one->places.at[k] == other->places.at[k];
        for (u32 sort = 0; alike && sort < VB_SORTS; sort++) {
            u32 n = one->tails[sort].n;
            alike = n == other->tails[sort].n && (!n || memcmp(one->tails[sort].at, other->tails[sort].at, n * sizeof(vb_tail)) == 0);
        }
    }
    return alike;
}

void mk_add_fitting(ge_engine *e, mk_found *found, const vb_inner *inner, u32 room) {
    if (room >= inner->most) {
        mk_add_inner(e, found, inner);
        return;
    }
    mk_make_bits(e, found);
    mk_note_copy(e);
    for (u32 i = 0; i < inner->n_words; i++) found->bits[i] |= wide_at_most(inner->needs + 32 * i, (u8)room);
}

bool an_begin_room(analysis *a) {
    const rx_arena *x = &a->e->lx.x;
    size_t n = 32 * (size_t)a->inner->n_words;
    for (u32 c = 0; c < x->n_classes; c++) a->begins[c] = rx_begins_char(x->class_byte[c]);
    a->inner->needs = mem_resize(a->b, NULL, 0, n);
    if (a->inner->needs) memset(a->inner->needs, VB_DEAD, n);
    return a->inner->needs != NULL;
}

bool an_number_room(analysis *a, u32 state) {
    bool raw = false;
    if (state != LX_DEAD && !rx_sees_room(&a->e->lx.x, expr_of(a->e, state), &raw)) return a->given_up = true, false;
    return vec_push(&a->e->b, &a->least, VB_DEAD) && vec_push(&a->e->b, &a->raw, raw);
}

bool an_find_least(analysis *a, u32 number) {
    u32 least;
    u64 before = a->e->b.work;
    budget_part part = budget_begin_part(&a->e->b, LEAST_WORK - min_u32(LEAST_WORK, a->least_work));
    bool ok = rx_least_to_begin(&a->e->lx.x, expr_of(a->e, a->states.at[number]), &least);
    if (budget_end_part(&a->e->b, part)) return a->given_up = true, false;
    if (!ok) return false;
    a->least_work += (u32)(a->e->b.work - before);
    if (least > MK_FINISH) return a->given_up = true, false; /* what is needed is to fit into a byte */
    a->least.at[number] = (u8)least;
    return true;
}

void an_end_room(analysis *a) {
    vb_inner *inner = a->inner;
    u8 above = 0; /* the most, and one; VB_DEAD becomes 0 */
    for (u32 i = 0; i < inner->n_words; i++) inner->bits[i] = wide_at_most(inner->needs + 32 * i, VB_MOST_NEED);
    for (u32 i = 0; i < 32 * inner->n_words; i++) {
        u8 next = (u8)(inner->needs[i] + 1);
        above = next > above ? next : above;
    }
    inner->most = above ? above - 1u : 0;
}
