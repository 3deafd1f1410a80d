/* How great the numbers can be that Punycode writes in so many digits. See rx_grow.c.
 *
 * That depends on the bias, and so on the number before. What is known of that is mostly only how many digits it has; the tables have what
 * is the most over all biases that it may leave, for one number and for the sum of several that come one behind the other. */
#include "rx_growth.h"

/* --- digits ---------------------------------------------------------------------------------------------------------------- */

static u64 most_at(u32 digits, u32 bias) {
    u64 weight = 1, most = 0;
    for (u32 i = 0; i + 1 < digits; i++) {
        most += weight * (PUNY_BASE - 1);
        weight *= PUNY_BASE - puny_threshold(i, bias);
    }
    return most + weight * (puny_threshold(digits - 1, bias) - 1);
}

/* The greatest number of so many digits, at the best of some biases. That is where the last
 * threshold is the highest and the others are the lowest; the farther from there, the less. */
u64 grow_most_number(u32 digits, span bias) {
    u32 best = digits == 1 ? 0 : PUNY_BASE * (digits - 1) - PUNY_T_MIN;
    return most_at(digits, min_u32(max_u32(best, bias.low), bias.high));
}

u64 grow_least_number(u32 digits, span bias) {
    return digits == 1 ? 0 : min_u64(most_at(digits - 1, bias.low), most_at(digits - 1, bias.high)) + 1;
}

u32 grow_best_digits(u64 number, span bias) {
    u32 n = 1;
    while (grow_most_number(n, bias) < number) n++;
    return n;
}

/* --- numbers of so many digits, one behind the other ------------------------------------------------------------------------- */

/* Proved by going through all that Punycode can do (test/t_label.c). */
const u32 grow_one[GROW_N_BEFORE][GROW_MOST_DIGITS + 1] = {
    {0},
    {0, 26, 311, 3171, 31771, 317771, 3177771},
    {0, 26, 911, 11761, 120961, 1212961, 12132961},
    {0, 25, 911, 31886, 411636, 4233636, 42453636},
    {0, 1, 876, 31886, 1116011, 39060386, 1367113511},
};

const u32 grow_any[GROW_N_BEFORE][GROW_N_BEFORE][GROW_MOST_IN_ALL + 1] = {
    {{0}},
    {{0},
     {0, 26, 51, 336, 3195, 31771, 317771, 3177771, 31777771},
     {0, 0, 311, 336, 1221, 4081, 32646, 318646, 3178646},
     {0, 0, 0, 3171, 3196, 12071, 35056, 63656, 349656},
     {0, 0, 0, 0, 31771, 317771, 3177771, 31777771, 317777771}},
    {{0},
     {0, 26, 51, 936, 11785, 120961, 1212961, 12132961, 121332961},
     {0, 0, 911, 336, 1821, 12671, 121836, 1213836, 12133836},
     {0, 0, 0, 11761, 3196, 12671, 43646, 152846, 1244846},
     {0, 0, 0, 0, 120961, 1212961, 12132961, 121332961, 1213332961}},
    {{0},
     {0, 25, 50, 936, 31910, 411636, 4233636, 42453636, 424653636},
     {0, 0, 911, 335, 1821, 32796, 412511, 4234511, 42454511},
     {0, 0, 0, 31886, 3195, 12671, 63771, 443521, 4265521},
     {0, 0, 0, 0, 411636, 4233636, 42453636, 424653636, 4246653636}},
    {{0},
     {0, 1, 26, 901, 31910, 1116011, 39060386, 1367113511, UINT32_MAX},
     {0, 0, 876, 311, 1786, 32796, 1116886, 39061261, 1367114386},
     {0, 0, 0, 31886, 3171, 12636, 63771, 1147896, 39092271},
     {0, 0, 0, 0, 1116011, 39060386, 1367113511, UINT32_MAX, UINT32_MAX}},
};

const u32 grow_several[GROW_N_BEFORE][GROW_N_BEFORE][GROW_MOST_IN_ALL + 1] = {
    {{0}},
    {{0},
     {0, 0, 51, 336, 3195, 31771, 317771, 3177771, 31777771},
     {0, 0, 0, 336, 1221, 4081, 32646, 318646, 3178646},
     {0, 0, 0, 0, 3196, 12071, 35056, 63656, 349656},
     {0, 0, 0, 0, 0, 31796, 317796, 3177796, 31777796}},
    {{0},
     {0, 0, 51, 936, 11785, 120961, 1212961, 12132961, 121332961},
     {0, 0, 0, 336, 1821, 12671, 121836, 1213836, 12133836},
     {0, 0, 0, 0, 3196, 12671, 43646, 152846, 1244846},
     {0, 0, 0, 0, 0, 31796, 317796, 3177796, 31777796}},
    {{0},
     {0, 0, 50, 936, 31910, 411636, 4233636, 42453636, 424653636},
     {0, 0, 0, 335, 1821, 32796, 412511, 4234511, 42454511},
     {0, 0, 0, 0, 3195, 12671, 63771, 443521, 4265521},
     {0, 0, 0, 0, 0, 31795, 317795, 3177795, 31777795}},
    {{0},
     {0, 0, 26, 901, 31910, 1116011, 39060386, 1367113511, UINT32_MAX},
     {0, 0, 0, 311, 1786, 32796, 1116886, 39061261, 1367114386},
     {0, 0, 0, 0, 3171, 12636, 63771, 1147896, 39092271},
     {0, 0, 0, 0, 0, 31771, 317771, 3177771, 31777771}},
};

u32 grow_least_after(u32 before, u64 sum, u32 last) {
    u32 n = last;
    while (n <= GROW_MOST_IN_ALL && sum >= grow_any[before][last][n]) n++;
    return n;
}

u32 grow_least_of_several(u32 before, const u32 *too_great_here, u64 sum, u32 last) {
    u32 least = last + 1;
    if (before != GROW_KNOWN) {
        while (least <= GROW_MOST_IN_ALL && sum >= grow_several[before][last][least]) least++;
        return least;
    }
    least = GROW_NEVER_FITS;
    for (u32 n = 1; n <= GROW_MOST_DIGITS && n + last < least; n++)
        least = min_u32(least, n + grow_least_after(grow_before_of(n), sum - min_u64(sum, too_great_here[n] - 1), last));
    return least;
}

u32 grow_least_of_one(const u32 *too_great_here, u64 number) {
    u32 n = 1;
    while (n <= GROW_MOST_DIGITS && number >= too_great_here[n]) n++;
    return n;
}

void grow_find_too_great(span bias, u32 *out) {
    if (bias.low != bias.high) {
        for (u32 n = 1; n <= GROW_MOST_DIGITS; n++) out[n] = (u32)grow_most_number(n, bias) + 1;
        return;
    }
    u32 weight = 1, most = 0;
    for (u32 n = 1; n <= GROW_MOST_DIGITS; n++) { /* as most_at */
        u32 t = puny_threshold(n - 1, bias.low);
        out[n] = most + weight * (t - 1) + 1;
        most += weight * (PUNY_BASE - 1);
        weight *= PUNY_BASE - t;
    }
}
