/* Longer labels that take fewer octets: is there one behind a beginning that takes too many?
 *
 * How Punycode writes a number depends on the bias, and that on the number before. So a character more may change what others take: mostly for the worse,
 * but sometimes it saves an octet.
 *
 * Idea. Punycode inserts characters by their code points, and what is appended to a text stands behind all of it. So the places of the text's own
 * characters among each other stay, and the number of the k-th of them only grows, by gap[k] for each character that came before it, where gap[k] is its
 * distance from the code point before. The search goes through the characters of the text in the order of insertion. What matters of all before is: how
 * many were appended so far, and the bias. Of one that is appended we choose the code point and the *rank*, how many of those appended before it stand
 * in front of it; any ranks are some order of them. With h characters there, `here` of them of the text, and the next index at `next`, the number is
 *
 *     (code - code before) * (h + 1) + here + rank - next
 *
 * Between two characters of the text the digits of each number are chosen first; then code points are ranges, which shrink by what takes so many digits, and
 * are halved as long as it is not the same behind all of a range. A bias from which the rest was found to take too much is not tried again.
 *
 * So far nothing is asked of labels: of many thousand beginnings that take an octet too many, one comes through. Then the automaton of U-labels is asked, with
 * one character of each class that is in the ranges.
 *
 * Bounds (find_rest). Between a and b, the numbers of what comes there and that of b make together no less than the number of b alone. And how great a
 * number of so many digits can be hangs on the bias, and so on how many digits the number before has: so a few digits go a short way only (grow_any).
 * Where nothing was inserted in front of a character nor of the one before, its bias is known, but for how many were appended before. */
#include "rx_grow.h"
#include "punycode.h"

enum { FIRST_VALID = 0xb7, N_BIASES = 200, MOST_TRIED = 500, NEVER_FITS = 1000, MEMO_BITS = 8, GROW_LONGEST = LABEL_OCTETS + 1 };

typedef struct span {
    u32 low, high;
} span;

static bool meets(span a, span b) { return a.low <= b.high && b.low <= a.high; }
static u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }

/* --- digits ---------------------------------------------------------------------------------------------------------------- */

static u64 most_at(u32 digits, u32 bias) {
    u64 weight = 1, most = 0;
    for (u32 i = 0; i + 1 < digits; i++) {
        most += weight * (PUNY_BASE - 1);
        weight *= PUNY_BASE - puny_threshold(i, bias);
    }
    return most + weight * (puny_threshold(digits - 1, bias) - 1);
}

/* The greatest number of so many digits, at the best of some biases. That is where the last threshold is the highest and the others are the lowest; the
 * farther from there, the less. */
static u64 most_number(u32 digits, span bias) {
    u32 best = digits == 1 ? 0 : PUNY_BASE * (digits - 1) - PUNY_T_MIN;
    return most_at(digits, min_u32(max_u32(best, bias.low), bias.high));
}

static u64 least_number(u32 digits, span bias) {
    return digits == 1 ? 0 : min_u64(most_at(digits - 1, bias.low), most_at(digits - 1, bias.high)) + 1;
}

static u32 best_digits(u64 number, span bias) {
    u32 n = 1;
    while (most_number(n, bias) < number) n++;
    return n;
}

/* ... at the best of all. */
static u32 fewest_digits(u64 number) { return number <= 25 ? 1 : number <= 910 ? 2 : number <= 31885 ? 3 : number <= 1116010 ? 4 : 5; }

/* --- numbers of so many digits, one behind the other ------------------------------------------------------------------------- */

static u32 before_of(u32 digits) { return min_u32(digits, GROW_MANY); }

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

/* The digits of some numbers that make at least that sum, the last of which has `last` digits. */
static u32 least_after(u32 before, u64 sum, u32 last) {
    u32 n = last;
    while (n <= GROW_MOST_IN_ALL && sum >= grow_any[before][last][n]) n++;
    return n;
}

/* ... of two or more, where the numbers too great for the first are known: those behind so many digits, unless it is GROW_KNOWN. */
static u32 least_of_several(u32 before, const u32 *too_great_here, u64 sum, u32 last) {
    u32 least = last + 1;
    if (before != GROW_KNOWN) {
        while (least <= GROW_MOST_IN_ALL && sum >= grow_several[before][last][least]) least++;
        return least;
    }
    least = NEVER_FITS;
    for (u32 n = 1; n <= GROW_MOST_DIGITS && n + last < least; n++)
        least = min_u32(least, n + least_after(before_of(n), sum - min_u64(sum, too_great_here[n] - 1), last));
    return least;
}

static u32 least_of_one(const u32 *too_great_here, u64 number) {
    u32 n = 1;
    while (n <= GROW_MOST_DIGITS && number >= too_great_here[n]) n++;
    return n;
}

static void find_too_great(span bias, u32 *out) {
    if (bias.low != bias.high) {
        for (u32 n = 1; n <= GROW_MOST_DIGITS; n++) out[n] = (u32)most_number(n, bias) + 1;
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

/* --- the text -------------------------------------------------------------------------------------------------------------- */

typedef struct insertion { /* any of these characters at any of these ranks */
    span code, rank;
} insertion;

typedef struct growth {
    budget *b;                     /* NULL: it is only asked for texts, labels or not */
    u32 n_tried;
    ulabel_state state;
    ulabel_set set;
    span asked;                    /* the first character that is appended is one of these */
    u32 first;
    u32 n, n_plain;                /* characters of the text outside ASCII; others */
    u32 code[GROW_LONGEST + 1];         /* in the order of insertion, behind the one before the first */
    u32 index[GROW_LONGEST + 1];        /* behind them */
    u64 number[GROW_LONGEST + 1];       /* as they are if nothing is appended */
    u32 rest[GROW_LONGEST + 1][GROW_N_BEFORE][2]; /* what it and those behind it take at least; is one of those asked for there? */
    u32 n_ascii, n_inserted;       /* appended so far */
    insertion inserted[GROW_LONGEST];
    u32 n_found;                   /* texts, of which perhaps none is a label */
    struct memo {
        u32 key, left;             /* with no more octets left it came to no text */
    } memo[1 << MEMO_BITS];
} growth;

static void read_beginning(growth *g, const label_text *t) {
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

static u32 gap_to(const growth *g, u32 k) { return g->code[k + 1] - g->code[k]; }
static u64 number_with(const growth *g, u32 k, u32 n_more) { return g->number[k] + (u64)gap_to(g, k) * n_more; }

/* Before the k-th, if nothing was inserted between the two before it. */
static u32 bias_before(const growth *g, u32 k, u32 n_more) {
    return k == 0 ? PUNY_FIRST_BIAS : puny_adapted_bias((u32)number_with(g, k - 1, n_more), g->n_plain + k + n_more, k == 1);
}

/* ... if so many were appended before: the greater the number and the fewer the characters, the greater is the bias. */
static span bias_with(const growth *g, u32 k, span n_more) {
    if (k == 0) return (span){PUNY_FIRST_BIAS, PUNY_FIRST_BIAS};
    u32 low = puny_adapted_bias((u32)number_with(g, k - 1, n_more.low), g->n_plain + k + n_more.high, k == 1);
    return (span){low, puny_adapted_bias((u32)number_with(g, k - 1, n_more.high), g->n_plain + k + n_more.low, k == 1)};
}

/* The code points that may come between two characters of the text, or behind the last. */
static span room_before(const growth *g, u32 k) { return (span){max_u32(FIRST_VALID, g->code[k]), k < g->n ? g->code[k + 1] - 1 : ULABEL_LAST_CODE}; }

/* What those from the k-th on take at least, and others before it, of which perhaps one is asked for. */
static u32 least_with_more(const growth *g, u32 k, u64 number, u32 before, const u32 *too_great_here, bool is_there) {
    span room = room_before(g, k), some = {max_u32(room.low, g->asked.low), min_u32(room.high, g->asked.high)};
    bool may_come = some.low <= some.high && !is_there;
    u32 here = g->n_plain + k, least = NEVER_FITS;
    if (k < g->n && g->asked.low < FIRST_FAR) is_there = true, may_come = false;
    u64 up_to = may_come ? (u64)(some.low - g->code[k]) * (here + 1) + here - g->index[k] : 0;
    if (k == g->n) {
        for (u32 last = 1; last < GROW_N_BEFORE && may_come; last++) least = min_u32(least, least_of_several(before, too_great_here, up_to, last));
        return may_come ? min_u32(least, least_of_one(too_great_here, up_to)) : NEVER_FITS;
    }
    if (room.low > room.high) return least;
    u64 from_there = may_come ? (u64)(room.high - some.high) * (here + 2) + g->index[k + 1] : 0;
    for (u32 last = 1; last < GROW_N_BEFORE; last++) {
        u32 all = k ? least_of_several(before, too_great_here, number, last) : 1 + max_u32(last, fewest_digits(number - min_u64(number, 25)));
        least = min_u32(least, all + g->rest[k + 1][last][is_there]);
        if (!may_come || all + g->rest[k + 1][last][true] >= least) continue;
        u32 parts = 0;
        if (k && (up_to > 25 || from_there > 25)) {
            parts = NEVER_FITS;
            for (u32 n = 1; n <= GROW_MOST_DIGITS && n < parts; n++) /* one number up to there, and others from there on */
                if (up_to < too_great_here[n]) parts = min_u32(parts, n + least_after(before_of(n), from_there, last));
            for (u32 n = 1; n < GROW_N_BEFORE; n++)
                parts = min_u32(parts, least_of_several(before, too_great_here, up_to, n) + least_after(n, from_there, last));
        }
        least = min_u32(least, max_u32(all, parts) + g->rest[k + 1][last][true]);
    }
    return least;
}

static void find_rest(growth *g, u32 most) {
    for (u32 k = g->n + 1; k-- > 0;) {
        u32 known[2][GROW_MOST_DIGITS + 1];
        for (u32 i = 0; i < 2; i++) { /* none was appended, or perhaps some */
            bool is_none = !i && g->asked.low < FIRST_FAR;
            find_too_great(bias_with(g, k, (span){i && g->asked.low < FIRST_FAR, is_none ? 0 : most}), known[i]);
        }
        for (u32 before = 0; before < GROW_N_BEFORE; before++)
            for (u32 is_there = before != GROW_KNOWN && g->asked.low < FIRST_FAR; is_there < 2; is_there++) {
                const u32 *here = before == GROW_KNOWN ? known[is_there] : grow_one[before];
                u64 number = k < g->n ? g->number[k] : 0;
                u32 *rest = &g->rest[k][before][is_there];
                *rest = least_with_more(g, k, number, before, here, is_there);
                if (k == g->n && is_there) *rest = 0;
                if (k < g->n) *rest = min_u32(*rest, least_of_one(here, number) + g->rest[k + 1][GROW_KNOWN][is_there]);
            }
    }
}

/* Less than that, but soon told: behind what was inserted the bias is the best. */
static u32 roughly_least(const growth *g, u32 most) {
    u32 rest[2][2] = {{0, 0}, {0, 0}}; /* is the bias known, is one of those asked for there */
    for (u32 k = g->n + 1; k-- > 0;) {
        span room = room_before(g, k), some = {max_u32(room.low, g->asked.low), min_u32(room.high, g->asked.high)};
        u32 here = g->n_plain + k, with_asked = NEVER_FITS, with = NEVER_FITS, alone[2] = {0, 0};
        if (some.low <= some.high) with_asked = fewest_digits((u64)(some.low - g->code[k]) * (here + 1) + here - g->index[k]);
        if (k == g->n) {
            rest[false][false] = rest[true][false] = with_asked;
            continue;
        }
        if (with_asked < NEVER_FITS) with_asked += fewest_digits((u64)(room.high - some.high) * (here + 2) + g->index[k + 1]);
        if (gap_to(g, k)) with = 1 + fewest_digits(g->number[k] - min_u64(g->number[k], 25));
        span bias = bias_with(g, k, (span){0, most});
        alone[false] = fewest_digits(g->number[k]);
        alone[true] = best_digits(g->number[k], bias);
        u32 next[2] = {rest[false][false], rest[false][true]}, known[2] = {rest[true][false], rest[true][true]};
        for (u32 i = 0; i < 2; i++) {
            rest[i][true] = min_u32(alone[i] + known[true], with + next[true]);
            rest[i][false] = min_u32(min_u32(alone[i] + known[false], with + next[false]), max_u32(with, with_asked) + next[true]);
        }
    }
    return rest[true][false];
}

/* The same from the k-th on, at some biases. */
static u32 rest_from(const growth *g, u32 k, u32 n_more, span bias, bool is_there) {
    u32 here[GROW_MOST_DIGITS + 1];
    if (k == g->n) return g->rest[k][GROW_KNOWN][is_there];
    u64 number = number_with(g, k, n_more);
    u32 alone = best_digits(number, bias) + g->rest[k + 1][GROW_KNOWN][is_there];
    if (!gap_to(g, k)) return alone;
    find_too_great(bias, here);
    return min_u32(alone, least_with_more(g, k, number, GROW_KNOWN, here, is_there));
}

/* --- labels ---------------------------------------------------------------------------------------------------------------- */

enum { ASCII_CHAR = GROW_LONGEST };

/* Is it a label, from a place among the characters that are appended on? */
static bool is_some_label_from(growth *g, const u8 *order, u32 at, u32 n, ulabel_state state) {
    static const span ascii = {'-', 'z'};
    byte_set seen = {{0}};
    if (at == n) return ulabel_end(state, g->set);
    span codes = order[at] == ASCII_CHAR ? ascii : g->inserted[order[at]].code;
    if (at == 0) codes = (span){max_u32(codes.low, g->asked.low), min_u32(codes.high, g->asked.high)};
    for (u32 code = codes.low, last; code <= codes.high; code = last + 1) {
        u8 class = ulabel_class_until(code, &last);
        ulabel_state after = state;
        if (!class || set_has(&seen, class)) continue;
        set_add(&seen, class);
        if (!budget_work(g->b, 1)) return false;
        if (!ulabel_step(&after, code) || !is_some_label_from(g, order, at + 1, n, after)) continue;
        if (at == 0) g->first = code;
        return true;
    }
    return false;
}

/* In the order of the ranks, as far as it is known from the characters before the i-th that was inserted. */
static bool is_some_label(growth *g, const u8 *order, u32 i) {
    u8 longer[GROW_LONGEST];
    u32 n = g->n_ascii + i;
    if (i == g->n_inserted) return is_some_label_from(g, order, 0, n, g->state);
    for (u32 rank = g->inserted[i].rank.low; rank <= g->inserted[i].rank.high; rank++) {
        memcpy(longer, order, rank);
        longer[rank] = (u8)i;
        memcpy(longer + rank + 1, order + rank, n - rank);
        if (is_some_label(g, longer, i + 1)) return true;
    }
    return false;
}

static bool try_label(growth *g) {
    u8 order[GROW_LONGEST];
    g->n_found++;
    if (!g->b) return true;
    memset(order, ASCII_CHAR, sizeof order);
    return is_some_label(g, order, 0);
}

static bool may_work(growth *g) {
    g->n_tried++;
    return g->b ? budget_work(g->b, g->n_tried % 4 == 0) : g->n_tried < MOST_TRIED;
}

/* --- the search ------------------------------------------------------------------------------------------------------------ */

/* Before the k-th come n characters, in the last places of `inserted`, whose numbers and that of the k-th have so many digits. */
typedef struct gap_search {
    u32 k, n_more, bias, n;
    bool is_there, begun;
    u8 digits[GROW_LONGEST + 1];
    u8 failed[2][N_BIASES]; /* by bias behind it, and whether one that is asked for is there: so many octets left, plus 1, came to no text */
} gap_search;

static bool search_from(growth *g, u32 k, u32 n_more, u32 bias, bool is_there, u32 left);

static int64_t div_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static int64_t div_up(int64_t a, int64_t b) { return -div_down(-a, b); }

/* Takes away code points with which some number has other digits. *behind: the biases behind them; *sure: all that are left have these digits. False: nothing
 * is left. */
static bool narrow(growth *g, const gap_search *s, span *behind, bool *sure) {
    insertion *ins = &g->inserted[g->n_inserted - s->n];
    span before = {g->code[s->k], g->code[s->k]}, end = {0, 0}, *last = &before;
    if (s->k < g->n) end = (span){g->code[s->k + 1], g->code[s->k + 1]};
    u32 here = g->n_plain + s->k, n_chars = here + s->n_more + 1, next_low = g->index[s->k], next_high = next_low;
    *behind = (span){s->bias, s->bias};
    *sure = true;
    for (u32 i = 0; i < s->n + (s->k < g->n); i++, n_chars++) {
        bool is_end = i == s->n;
        span *code = is_end ? &end : &ins[i].code;
        u32 index_low = is_end ? g->index[s->k + 1] - 1 : here + ins[i].rank.low, index_high = is_end ? index_low : here + ins[i].rank.high;
        int64_t turn_low = (int64_t)index_low - next_high, turn_high = (int64_t)index_high - next_low;
        int64_t low = ((int64_t)code->low - last->high) * n_chars + turn_low, high = ((int64_t)code->high - last->low) * n_chars + turn_high;
        int64_t least = (int64_t)least_number(s->digits[i], *behind), most = (int64_t)most_number(s->digits[i], *behind);
        if (high < least || low > most) return false;
        if (behind->low != behind->high) *sure = false;
        if (low < least || high > most) {
            *sure = false;
            low = low < least ? least : low;
            high = high > most ? most : high;
            int64_t most_steps = div_down(high - turn_low, n_chars), least_steps = div_up(low - turn_high, n_chars);
            if (most_steps < 0) return false;
            u32 far = (u32)most_steps, near = least_steps < 0 ? 0 : (u32)least_steps;
            code->low = max_u32(code->low, last->low + near);
            code->high = min_u32(code->high, last->high + far);
            last->low = max_u32(last->low, code->low - min_u32(code->low, far));
            last->high = min_u32(last->high, code->high - min_u32(code->high, near));
            if (code->low > code->high || last->low > last->high) return false;
        }
        bool is_first = n_chars == g->n_plain + g->n_ascii + 1;
        *behind = (span){puny_adapted_bias((u32)low, n_chars, is_first), puny_adapted_bias((u32)high, n_chars, is_first)};
        last = code;
        next_low = index_low + 1;
        next_high = index_high + 1;
    }
    return true;
}

static bool skip_invalid(insertion *ins, u32 n) {
    for (u32 i = 0; i < n; i++) {
        ins[i].code.low = ulabel_next_code(ins[i].code.low);
        if (ins[i].code.low > ins[i].code.high) return false;
    }
    return true;
}

static bool may_fit_behind(const growth *g, const gap_search *s, span behind, bool is_there, u32 left) {
    if (s->k == g->n) return is_there;
    if (rest_from(g, s->k + 1, s->n_more + s->n, behind, is_there) > left) return false;
    for (u32 bias = behind.low; bias <= behind.high; bias++)
        if (s->failed[is_there][bias] <= left) return true;
    return false;
}

/* Behind them, where the bias is known. */
static bool search_behind(growth *g, gap_search *s, u32 bias, bool is_there, u32 left) {
    u32 n_found = g->n_found;
    if (s->k == g->n) return try_label(g);
    if (search_from(g, s->k + 1, s->n_more + s->n, bias, is_there, left)) return true;
    if (g->n_found == n_found) s->failed[is_there][bias] = (u8)(left + 1);
    return false;
}

static span *widest(insertion *ins, u32 n) {
    span *wide = NULL;
    for (u32 i = 0; i < n; i++)
        if (ins[i].code.low < ins[i].code.high && (!wide || ins[i].code.high - ins[i].code.low > wide->high - wide->low)) wide = &ins[i].code;
    for (u32 i = 0; i < n && !wide; i++)
        if (ins[i].rank.low < ins[i].rank.high) wide = &ins[i].rank;
    return wide;
}

static bool search_codes(growth *g, gap_search *s, u32 left) {
    insertion *ins = &g->inserted[g->n_inserted - s->n], saved[GROW_LONGEST];
    bool sure, is_there = s->is_there;
    span behind;
    if (!may_work(g) || !narrow(g, s, &behind, &sure)) return false;
    for (u32 i = 0; i < s->n; i++) is_there |= meets(ins[i].code, g->asked);
    if (!may_fit_behind(g, s, behind, is_there, left) || !skip_invalid(ins, s->n)) return false;
    span *wide = widest(ins, s->n);
    if (!wide && !narrow(g, s, &behind, &sure)) return false;
    if (sure && (behind.low == behind.high || s->k == g->n)) return search_behind(g, s, behind.low, is_there, left);
    if (!wide) return false;
    u32 middle = wide->low + (wide->high - wide->low) / 2;
    memcpy(saved, ins, s->n * sizeof *ins);
    wide->high = middle;
    if (search_codes(g, s, left)) return true;
    memcpy(ins, saved, s->n * sizeof *ins);
    wide->low = middle + 1;
    return search_codes(g, s, left);
}

/* The digits of the i-th number and those behind it are still to be chosen, which make at least that sum. */
static bool search_digits(growth *g, gap_search *s, u32 i, u64 sum, u32 left) {
    u32 all = s->n + (s->k < g->n), here[GROW_MOST_DIGITS + 1];
    if (i == all) {
        for (i = 0; i < s->n; i++) g->inserted[g->n_inserted + i] = (insertion){room_before(g, s->k), {0, s->n_more + i}};
        g->n_inserted += s->n;
        if (!s->begun) memset(s->failed, 0, sizeof s->failed);
        s->begun = true;
        bool is_found = search_codes(g, s, left);
        g->n_inserted -= s->n;
        return is_found;
    }
    if (i == 0) find_too_great((span){s->bias, s->bias}, here);
    for (u32 n = 1; n + (all - i - 1) <= left && n <= GROW_MOST_DIGITS; n++) {
        u32 rest = NEVER_FITS, most = (i == 0 ? here : grow_one[before_of(s->digits[i - 1])])[n] - 1;
        if (s->k == 0 && i) most = UINT32_MAX;
        u64 more = sum - min_u64(sum, most);
        if (s->k == g->n) rest = all - i - 1;
        else if (i + 1 == all) rest = more ? NEVER_FITS : g->rest[s->k + 1][before_of(n)][true];
        else for (u32 last = 1; last < GROW_N_BEFORE; last++)
            rest = min_u32(rest, max_u32(all - i - 1, s->k ? least_after(before_of(n), more, last) : 1) + g->rest[s->k + 1][last][true]);
        s->digits[i] = (u8)n;
        if (n + rest <= left && search_digits(g, s, i + 1, more, left - n)) return true;
    }
    return false;
}

/* Is there a label, where all before the k-th are there, others that were appended, too, and so many octets are left? */
static bool search_from(growth *g, u32 k, u32 n_more, u32 bias, bool is_there, u32 left) {
    u32 key = (k << 17 | n_more << 9 | bias << 1 | is_there) + 1, n_found = g->n_found;
    struct memo *memo = &g->memo[key * 2654435761u >> (32 - MEMO_BITS)];
    if (memo->key == key && memo->left >= left) return false;
    if (k == g->n && is_there && try_label(g)) return true;
    u64 number = k < g->n ? number_with(g, k, n_more) : 0;
    u32 digits = puny_digits(number, 0, bias), here[GROW_MOST_DIGITS + 1];
    if (k < g->n && digits + g->rest[k + 1][GROW_KNOWN][is_there] <= left &&
        search_from(g, k + 1, n_more, bias_before(g, k + 1, n_more), is_there, left - digits)) return true;
    find_too_great((span){bias, bias}, here);
    if (left && (k == g->n || least_with_more(g, k, number, GROW_KNOWN, here, is_there) <= left) && room_before(g, k).low <= room_before(g, k).high)
        for (u32 n = 1; n + (k < g->n) <= left; n++) {
            gap_search s;
            s.k = k, s.n_more = n_more, s.bias = bias, s.n = n, s.is_there = is_there, s.begun = false;
            if (search_digits(g, &s, 0, number, left)) return true;
        }
    if (g->n_found == n_found && (g->b ? g->b->status == GE_OK : g->n_tried < MOST_TRIED)) *memo = (struct memo){key, left};
    return false;
}

/* --- what is asked --------------------------------------------------------------------------------------------------------- */

static u32 octets_of_ascii(u32 n) { return n + (n > 0); }

static bool begin_growth(growth *g, const label_text *t, span asked, u32 room) {
    if (t->n >= room) return false;
    read_beginning(g, t);
    g->asked = asked;
    /* So many may be appended: y of them before a character add y octets, but for one at most that this one saves; and that costs nothing only where y is 1. */
    u32 least = octets_of_ascii(g->n_plain), n_free = 0, most;
    for (u32 k = 0; k < g->n; k++) {
        least += fewest_digits(g->number[k]);
        n_free += fewest_digits(g->number[k] - min_u64(g->number[k], 25)) < fewest_digits(g->number[k]);
    }
    most = least > room ? 0 : 2 * (room - least) + n_free;
    if (most == 0) return false;
    if (octets_of_ascii(g->n_plain) + roughly_least(g, most) > room) return false;
    find_rest(g, most);
    if (asked.low < FIRST_FAR && octets_of_ascii(g->n_plain + 1) + g->rest[0][GROW_KNOWN][true] <= room) return true;
    return octets_of_ascii(g->n_plain) + g->rest[0][GROW_KNOWN][false] <= room;
}

static bool search_texts(growth *g, bool any_ascii, u32 room) {
    bool is_found = false;
    g->n_found = g->n_inserted = g->n_tried = 0;
    memset(g->memo, 0, sizeof g->memo);
    for (g->n_ascii = 0; !is_found && octets_of_ascii(g->n_plain + g->n_ascii) <= room; g->n_ascii++)
        is_found = search_from(g, 0, g->n_ascii, PUNY_FIRST_BIAS, any_ascii && g->n_ascii, room - octets_of_ascii(g->n_plain + g->n_ascii));
    return is_found;
}

bool label_may_grow(const label_text *t, u32 room) {
    growth g;
    g.b = NULL;
    return begin_growth(&g, t, (span){0, ULABEL_LAST_CODE}, room) && (search_texts(&g, true, room) || g.n_tried >= MOST_TRIED);
}

bool label_can_grow(budget *b, const grow_question *q, u32 *first) {
    growth g;
    if (!budget_work(b, 1) || !begin_growth(&g, q->text, (span){q->low, q->high}, q->room)) return false;
    g.b = b;
    g.state = q->state;
    g.set = q->set;
    g.first = NONE;
    bool is_found = search_texts(&g, q->low < FIRST_FAR, q->room);
    *first = g.first;
    return is_found;
}
