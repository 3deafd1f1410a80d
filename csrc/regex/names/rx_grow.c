/* Longer labels that take fewer octets: is there one behind a beginning that takes too many?
 *
 * How Punycode writes a number depends on the bias, and that on the number before. So a character
 * more may change what others take: mostly for the worse, but sometimes it saves an octet.
 *
 * Idea. Punycode inserts characters by their code points, and what is appended to a text stands behind all of it. So the places of the
 * text's own characters among each other stay, and the number of the k-th of them only grows, by gap[k] for each character that came before
 * it, where gap[k] is its distance from the code point before. The search goes through the characters of the text in the order of
 * insertion. What matters of all before is: how many were appended so far, and the bias. Of one that is appended we choose the code point
 * and the *rank*, how many of those appended before it stand in front of it; any ranks are some order of them. With h characters there,
 * `here` of them of the text, and the next index at `next`, the number is
 *
 *     (code - code before) * (h + 1) + here + rank - next
 *
 * Between two characters of the text the digits of each number are chosen first; then code points are ranges, which shrink by what takes so
 * many digits, and are halved as long as it is not the same behind all of a range. A bias from which the rest was found to take too much is
 * not tried again.
 *
 * So far nothing is asked of labels: of many thousand beginnings that take an octet too many, one comes through. Then the automaton of
 * U-labels is asked, with one character of each class that is in the ranges.
 *
 * What the rest takes at least is known before (rx_grow_rest.c), which ends nearly all searches before they begin. */
#include "rx_growth.h"

enum { N_BIASES = 200, MOST_TRIED = 500 };

static bool meets(span a, span b) { return a.low <= b.high && b.low <= a.high; }

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
    /* by bias behind it, and whether one that is asked for is there: so many octets left, plus 1, came to no text */
    u8 failed[2][N_BIASES];
} gap_search;

static bool search_from(growth *g, u32 k, u32 n_more, u32 bias, bool is_there, u32 left);

static int64_t div_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static int64_t div_up(int64_t a, int64_t b) { return -div_down(-a, b); }

/* Takes away code points with which some number has other digits. *behind: the biases
 * behind them; *sure: all that are left have these digits. False: nothing is left. */
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
        int64_t low = ((int64_t)code->low - last->high) * n_chars + turn_low,
                high = ((int64_t)code->high - last->low) * n_chars + turn_high;
        int64_t least = (int64_t)grow_least_number(s->digits[i], *behind), most = (int64_t)grow_most_number(s->digits[i], *behind);
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
    if (grow_rest_from(g, s->k + 1, s->n_more + s->n, behind, is_there) > left) return false;
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
        if (ins[i].code.low < ins[i].code.high && (!wide || ins[i].code.high - ins[i].code.low > wide->high - wide->low))
            wide = &ins[i].code;
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
        for (i = 0; i < s->n; i++) g->inserted[g->n_inserted + i] = (insertion){grow_room(g, s->k), {0, s->n_more + i}};
        g->n_inserted += s->n;
        if (!s->begun) memset(s->failed, 0, sizeof s->failed);
        s->begun = true;
        bool is_found = search_codes(g, s, left);
        g->n_inserted -= s->n;
        return is_found;
    }
    if (i == 0) grow_find_too_great((span){s->bias, s->bias}, here);
    for (u32 n = 1; n + (all - i - 1) <= left && n <= GROW_MOST_DIGITS; n++) {
        u32 rest = GROW_NEVER_FITS, most = (i == 0 ? here : grow_one[grow_before_of(s->digits[i - 1])])[n] - 1;
        if (s->k == 0 && i) most = UINT32_MAX;
        u64 more = sum - min_u64(sum, most);
        if (s->k == g->n) {
            rest = all - i - 1;
        } else if (i + 1 == all) {
            rest = more ? GROW_NEVER_FITS : g->rest[s->k + 1][grow_before_of(n)][true];
        } else {
            for (u32 last = 1; last < GROW_N_BEFORE; last++) {
                u32 least = s->k ? grow_least_after(grow_before_of(n), more, last) : 1;
                rest = min_u32(rest, max_u32(all - i - 1, least) + g->rest[s->k + 1][last][true]);
            }
        }
        s->digits[i] = (u8)n;
        if (n + rest <= left && search_digits(g, s, i + 1, more, left - n)) return true;
    }
    return false;
}

/* Is there a label, where all before the k-th are there, others that were appended, too, and so many octets are left? */
static bool search_from(growth *g, u32 k, u32 n_more, u32 bias, bool is_there, u32 left) {
    u32 key = (k << 17 | n_more << 9 | bias << 1 | is_there) + 1, n_found = g->n_found;
    struct memo *memo = &g->memo[key * 2654435761u >> (32 - GROW_MEMO_BITS)];
    if (memo->key == key && memo->left >= left) return false;
    if (k == g->n && is_there && try_label(g)) return true;
    u64 number = k < g->n ? grow_number(g, k, n_more) : 0;
    u32 digits = puny_digits(number, 0, bias), here[GROW_MOST_DIGITS + 1];
    if (k < g->n && digits + g->rest[k + 1][GROW_KNOWN][is_there] <= left &&
        search_from(g, k + 1, n_more, grow_bias(g, k + 1, n_more), is_there, left - digits)) return true;
    grow_find_too_great((span){bias, bias}, here);
    if (left && (k == g->n || grow_least_with_more(g, k, number, GROW_KNOWN, here, is_there) <= left) &&
        grow_room(g, k).low <= grow_room(g, k).high)
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
    grow_read(g, t);
    g->asked = asked;
    /* So many may be appended: y of them before a character add y octets, but for
     * one at most that this one saves; and that costs nothing only where y is 1. */
    u32 least = octets_of_ascii(g->n_plain), n_free = 0, most;
    for (u32 k = 0; k < g->n; k++) {
        least += puny_fewest_digits(g->number[k]);
        n_free += puny_fewest_digits(g->number[k] - min_u64(g->number[k], 25)) < puny_fewest_digits(g->number[k]);
    }
    most = least > room ? 0 : 2 * (room - least) + n_free;
    if (most == 0) return false;
    if (octets_of_ascii(g->n_plain) + grow_roughly_least(g, most) > room) return false;
    grow_find_rest(g, most);
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
