/* What the rest of a beginning takes at least, whatever is appended. See rx_grow.c.
 *
 * Between a and b, the numbers of what comes there and that of b make together no less than the number of b alone. And how great a number
 * of so many digits can be depends on the bias, and so on how many digits the number before has: so a few digits go a short way only
 * (grow_any). Where nothing was inserted in front of a character nor of the one before, its bias is known, but for how many were appended
 * before. */
#include "rx_growth.h"

void grow_read(growth *g, const label_text *t) {
    u64 present = t->plain;
    g->n = t->n_far;
    g->n_plain = t->n - t->n_far;
    g->code[0] = FIRST_FAR;
    g->index[0] = 0;
    for (u32 k = 0; k < g->n; k++) {
        u32 at = t->order[k];
        g->code[k + 1] = t->code[at];
        g->index[k + 1] = (u32)__builtin_popcountll(present & (((u64)1 << at) - 1)) + 1;
        g->number[k] = (u64)(g->code[k + 1] - g->code[k]) * (g->n_plain + k + 1) + g->index[k + 1] - 1 - g->index[k];
        present |= (u64)1 << at;
    }
}

u32 grow_bias(const growth *g, u32 k, u32 n_more) {
    return k == 0 ? PUNY_FIRST_BIAS : puny_adapted_bias((u32)grow_number(g, k - 1, n_more), g->n_plain + k + n_more, k == 1);
}

/* ... if so many were appended before: the greater the number and the fewer the characters, the greater is the bias. */
static span bias_with(const growth *g, u32 k, span n_more) {
    if (k == 0) return (span){PUNY_FIRST_BIAS, PUNY_FIRST_BIAS};
    u32 low = puny_adapted_bias((u32)grow_number(g, k - 1, n_more.low), g->n_plain + k + n_more.high, k == 1);
    return (span){low, puny_adapted_bias((u32)grow_number(g, k - 1, n_more.high), g->n_plain + k + n_more.low, k == 1)};
}

u32 grow_least_with_more(const growth *g, u32 k, u64 number, u32 before, const u32 *too_great_here, bool is_there) {
    span room = grow_room(g, k), some = {max_u32(room.low, g->asked.low), min_u32(room.high, g->asked.high)};
    bool may_come = some.low <= some.high && !is_there;
    u32 here = g->n_plain + k, least = GROW_NEVER_FITS;
    if (k < g->n && g->asked.low < FIRST_FAR) is_there = true, may_come = false;
    u64 up_to = may_come ? (u64)(some.low - g->code[k]) * (here + 1) + here - g->index[k] : 0;
    if (k == g->n) {
        for (u32 last = 1; last < GROW_N_BEFORE && may_come; last++)
            least = min_u32(least, grow_least_of_several(before, too_great_here, up_to, last));
        return may_come ? min_u32(least, grow_least_of_one(too_great_here, up_to)) : GROW_NEVER_FITS;
    }
    if (room.low > room.high) return least;
    u64 from_there = may_come ? (u64)(room.high - some.high) * (here + 2) + g->index[k + 1] : 0;
    for (u32 last = 1; last < GROW_N_BEFORE; last++) {
        u32 all = k ? grow_least_of_several(before, too_great_here, number, last)
                    : 1 + max_u32(last, puny_fewest_digits(number - min_u64(number, 25)));
        least = min_u32(least, all + g->rest[k + 1][last][is_there]);
        if (!may_come || all + g->rest[k + 1][last][true] >= least) continue;
        u32 parts = 0;
        if (k && (up_to > 25 || from_there > 25)) {
            parts = GROW_NEVER_FITS;
            for (u32 n = 1; n <= GROW_MOST_DIGITS && n < parts; n++) /* one number up to there, and others from there on */
                if (up_to < too_great_here[n]) parts = min_u32(parts, n + grow_least_after(grow_before_of(n), from_there, last));
            for (u32 n = 1; n < GROW_N_BEFORE; n++)
                parts = min_u32(parts, grow_least_of_several(before, too_great_here, up_to, n) + grow_least_after(n, from_there, last));
        }
        least = min_u32(least, max_u32(all, parts) + g->rest[k + 1][last][true]);
    }
    return least;
}

void grow_find_rest(growth *g, u32 most) {
    for (u32 k = g->n + 1; k-- > 0;) {
        u32 known[2][GROW_MOST_DIGITS + 1];
        for (u32 i = 0; i < 2; i++) { /* none was appended, or perhaps some */
            bool is_none = !i && g->asked.low < FIRST_FAR;
            grow_find_too_great(bias_with(g, k, (span){i && g->asked.low < FIRST_FAR, is_none ? 0 : most}), known[i]);
        }
        for (u32 before = 0; before < GROW_N_BEFORE; before++)
            for (u32 is_there = before != GROW_KNOWN && g->asked.low < FIRST_FAR; is_there < 2; is_there++) {
                const u32 *here = before == GROW_KNOWN ? known[is_there] : grow_one[before];
                u64 number = k < g->n ? g->number[k] : 0;
                u32 *rest = &g->rest[k][before][is_there];
                *rest = grow_least_with_more(g, k, number, before, here, is_there);
                if (k == g->n && is_there) *rest = 0;
                if (k < g->n) *rest = min_u32(*rest, grow_least_of_one(here, number) + g->rest[k + 1][GROW_KNOWN][is_there]);
            }
    }
}

/* Less than that, but soon told: behind what was inserted the bias is the best. */
u32 grow_roughly_least(const growth *g, u32 most) {
    u32 rest[2][2] = {{0, 0}, {0, 0}}; /* is the bias known, is one of those asked for there */
    for (u32 k = g->n + 1; k-- > 0;) {
        span room = grow_room(g, k), some = {max_u32(room.low, g->asked.low), min_u32(room.high, g->asked.high)};
        u32 here = g->n_plain + k, with_asked = GROW_NEVER_FITS, with = GROW_NEVER_FITS, alone[2] = {0, 0};
        if (some.low <= some.high) with_asked = puny_fewest_digits((u64)(some.low - g->code[k]) * (here + 1) + here - g->index[k]);
        if (k == g->n) {
            rest[false][false] = rest[true][false] = with_asked;
            continue;
        }
        if (with_asked < GROW_NEVER_FITS) with_asked += puny_fewest_digits((u64)(room.high - some.high) * (here + 2) + g->index[k + 1]);
        if (grow_gap(g, k)) with = 1 + puny_fewest_digits(g->number[k] - min_u64(g->number[k], 25));
        span bias = bias_with(g, k, (span){0, most});
        alone[false] = puny_fewest_digits(g->number[k]);
        alone[true] = grow_best_digits(g->number[k], bias);
        u32 next[2] = {rest[false][false], rest[false][true]}, known[2] = {rest[true][false], rest[true][true]};
        for (u32 i = 0; i < 2; i++) {
            rest[i][true] = min_u32(alone[i] + known[true], with + next[true]);
            rest[i][false] = min_u32(min_u32(alone[i] + known[false], with + next[false]), max_u32(with, with_asked) + next[true]);
        }
    }
    return rest[true][false];
}

u32 grow_rest_from(const growth *g, u32 k, u32 n_more, span bias, bool is_there) {
    u32 here[GROW_MOST_DIGITS + 1];
    if (k == g->n) return g->rest[k][GROW_KNOWN][is_there];
    u64 number = grow_number(g, k, n_more);
    u32 alone = grow_best_digits(number, bias) + g->rest[k + 1][GROW_KNOWN][is_there];
    if (!grow_gap(g, k)) return alone;
    grow_find_too_great(bias, here);
    return min_u32(alone, grow_least_with_more(g, k, number, GROW_KNOWN, here, is_there));
}
