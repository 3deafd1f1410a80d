/* Whether a condition leaves anything beside names that are barred, those of bounded length inside a complement: L & ~X.
 *
 *     L & ~X' for X' with names of any length      is a part of it: if there is something, it is not empty
 *     L & ~X' for X' without names                 has all of it: if there is nothing, it is empty
 *
 * Both recur, and mostly one of them tells. Else all strings of L are
 * names, or may be, and what is left of them are those that are too long:
 *
 *     L has strings with more characters than any name of X has       it is not empty
 *     all strings of L are so short that names fit, whatever they are    it is empty
 *
 * and what is between is searched for. */
#include "rx_unbound.h"

/* Octets that a character adds to a name at most: as a label of its own `xn--`, five digits and a dot; within another one eight digits. */
enum { OCTETS_OF_CHAR = 10 };

/* What is barred in an intersection: the operand of its complement, if no other part bars names. NONE: it is none of that kind. */
static rx_id barred_of(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    rx_id barred = NONE;
    for (u32 i = 1; node[0] == RX_AND && i < intern_length(&x->nodes, id); i++) {
        if (!(x->meta.at[node[i]].flags & RX_BARRED)) continue;
        if (barred != NONE || rx_kind_of(x, node[i]) != RX_NOT) return NONE;
        barred = intern_words(&x->nodes, node[i])[1];
    }
    return barred;
}

/* The operands of a union, or the expression itself. */
static u32 n_arms(const rx_arena *x, rx_id id) { return rx_kind_of(x, id) == RX_OR ? intern_length(&x->nodes, id) - 1 : 1; }
static rx_id arm_at(const rx_arena *x, rx_id id, u32 i) { return rx_kind_of(x, id) == RX_OR ? intern_words(&x->nodes, id)[1 + i] : id; }

/* Is some part of the intersection the same as an arm of what is barred? */
static bool is_barred_itself(rx_arena *x, rx_id id, rx_id barred) {
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        rx_id late = rx_change_names(x, intern_words(&x->nodes, id)[i], NAMES_LATE);
        for (u32 k = 0; k < n_arms(x, barred); k++)
            if (late == arm_at(x, barred, k)) return true;
    }
    return false;
}

/* The most characters of strings of the arms with names. */
static u32 most_chars_of_names(rx_arena *x, rx_id barred) {
    u32 most = 0;
    for (u32 i = 0; i < n_arms(x, barred); i++)
        if (x->meta.at[arm_at(x, barred, i)].flags & RX_NAMED) most = max_u32(most, rx_count_chars(x, arm_at(x, barred, i)).most);
    return most;
}

static bool has_longer(rx_arena *x, rx_id more, u32 n_chars) {
    if (n_chars >= RX_LONG) return false;
    rx_id longer = rx_repeat(x, intern_words(&x->nodes, x->text)[1], n_chars + 1, NONE);
    return longer != NONE && !rx_is_empty(x, rx_and(x, (rx_id[]){more, longer}, 2));
}

/* Does a name fit if so many characters of a sort come? A character that has begun may be of any. */
static bool fits_with(name_bound b, u32 n_chars, u32 sort) {
    u32 n_far = b.n_far + n_chars + b.n_more + (b.begun != 0);
    return b.is_known && label_is_sure(b.n_plain, n_far, b.begun ? 2 : max_u32(b.sort, sort)) &&
           b.used + LABEL_OCTETS + OCTETS_OF_CHAR * n_chars <= NAME_OCTETS;
}

/* Are all strings of the intersection so short that the names that are barred fit? Those of no more characters than octets are in form
 * C. */
static bool fit_all(rx_arena *x, rx_id id, rx_id barred, u32 most_of_names) {
    rx_names names = rx_no_names();
    bool any_form = most_of_names > NAME_OCTETS;
    u32 n = rx_count_chars(x, id).most;
    byte_set bytes;
    if (n > LABEL_SURE || !rx_may(x, id, &bytes)) return false;
    u32 sort = any_form || bytes.w[7] >> 16 ? 2 : bytes.w[7] != 0; /* of what begins with F0 and more, or with E0 to EF */
    if (any_form) n *= ULABEL_MOST;
    bool fit = rx_add_names(x, barred, &names) && fits_with(rx_bound_of(&names), n, sort) && fits_with(rx_fresh_bound(), n, sort);
    rx_drop_names(x, &names);
    return fit;
}

rx_verdict rx_barred_verdict(rx_arena *x, rx_id id) {
    if (!rx_is_empty(x, rx_change_names(x, id, BARRED_UNBOUND))) return x->b->status == GE_OK ? RX_IS_INHABITED : RX_UNKNOWN;
    rx_id more = rx_change_names(x, id, BARRED_NONE), barred = barred_of(x, id);
    if (rx_is_empty(x, more)) return RX_IS_EMPTY;
    if (x->b->status != GE_OK || barred == NONE) return RX_UNKNOWN;
    u32 most = most_chars_of_names(x, barred);
    if (is_barred_itself(x, id, barred) || fit_all(x, id, barred, most)) return RX_IS_EMPTY;
    return has_longer(x, more, most) ? RX_IS_INHABITED : RX_UNKNOWN;
}
