/* Punycode: the numbers of RFC 3492, section 5. A digit below a threshold is the last of its number; thresholds grow with the place of the
 * digit and sink with the bias, which is adapted to each number for the next. */
#ifndef GE_PUNYCODE_H
#define GE_PUNYCODE_H

#include "../../base/base.h"

enum { PUNY_BASE = 36, PUNY_T_MIN = 1, PUNY_T_MAX = 26, PUNY_SKEW = 38, PUNY_DAMP = 700, PUNY_FIRST_BIAS = 72 };

static inline u32 puny_threshold(u32 n_digits, u32 bias) {
    u32 k = PUNY_BASE * (n_digits + 1);
    return k <= bias + PUNY_T_MIN ? PUNY_T_MIN : k >= bias + PUNY_T_MAX ? PUNY_T_MAX : k - bias;
}

static inline u32 puny_adapted_bias(u32 delta, u32 n_chars, bool is_first) {
    u32 k = 0;
    delta = is_first ? delta / PUNY_DAMP : delta / 2;
    for (delta += delta / n_chars; delta > (PUNY_BASE - PUNY_T_MIN) * PUNY_T_MAX / 2; k += PUNY_BASE) delta /= PUNY_BASE - PUNY_T_MIN;
    return k + (PUNY_BASE - PUNY_T_MIN + 1) * delta / (delta + PUNY_SKEW);
}

/* How many digits a number takes, behind n_before of it. */
static inline u32 puny_digits(u64 value, u32 n_before, u32 bias) {
    u32 n = 1, least;
    for (; value >= (least = puny_threshold(n_before + n - 1, bias)); n++) value = (value - least) / (PUNY_BASE - least);
    return n;
}

/* ... from the first on, at the best of all biases; of more than five, five. */
static inline u32 puny_fewest_digits(u64 value) {
    return value <= 25 ? 1 : value <= 910 ? 2 : value <= 31885 ? 3 : value <= 1116010 ? 4 : 5;
}

#endif
