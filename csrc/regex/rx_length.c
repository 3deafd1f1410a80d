/* Lengths: how many characters the strings of an expression have, told by its structure. */
#include "names/rx_unbound.h"

enum { MOST_DECOMPOSED = 4 };

bool rx_is_length(const rx_arena *x, rx_id id, u32 *least, u32 *most) {
    const u32 *node = intern_words(&x->nodes, id);
    for (; node[0] == RX_CONCAT; node = intern_words(&x->nodes, node[2])) {
        if (rx_kind_of(x, node[1]) != RX_SET) return false;
        const byte_set *set = rx_set_of(x, intern_words(&x->nodes, node[1])[1]);
        for (u32 i = 0; i < 8; i++)
            if (set->w[i] && i / 2 != 2) return false; /* 80 to BF */
    }
    *least = node[2];
    *most = node[3];
    return node[0] == RX_REPEAT && x->text != NONE && node[1] == intern_words(&x->nodes, x->text)[1];
}

static rx_n_chars count_chars_of_set(const byte_set *set) { /* 80 to BF go on with a character */
    u32 rest = set->w[4] | set->w[5], others = set->w[0] | set->w[1] | set->w[2] | set->w[3] | set->w[6] | set->w[7];
    return (rx_n_chars){rest == 0, others != 0};
}

/* Of a union the fewest and the most of any operand; of an intersection the strictest. */
static rx_n_chars count_chars_of_operands(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    rx_n_chars c = rx_count_chars(x, node[1]);
    for (u32 i = 2; i < intern_length(&x->nodes, id); i++) {
        rx_n_chars part = rx_count_chars(x, node[i]);
        c.least = node[0] == RX_AND ? max_u32(c.least, part.least) : min_u32(c.least, part.least);
        c.most = node[0] == RX_AND ? min_u32(c.most, part.most) : max_u32(c.most, part.most);
    }
    return c;
}

/* A character takes an octet; in any form one is decomposed to so many at most. */
static u32 most_of_name(u32 options) {
    return !(options & RX_BOUNDED) ? RX_NO_LENGTH : options & RX_ANY_FORM ? MOST_DECOMPOSED * name_octets(options) : name_octets(options);
}

static rx_n_chars count_chars_of_part(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    rx_n_chars part;
    switch ((rx_kind)node[0]) {
    case RX_EMPTY: return (rx_n_chars){0, 0};
    case RX_SET: return count_chars_of_set(rx_set_of(x, node[1]));
    case RX_REPEAT:
        part = rx_count_chars(x, node[1]);
        return (rx_n_chars){rx_times_length(node[2], part.least), node[3] == NONE ? RX_NO_LENGTH : rx_times_length(node[3], part.most)};
    case RX_TAG: return rx_count_chars(x, node[1]);
    case RX_QUOTE: return (rx_n_chars){node[3] ? 0 : rx_count_chars(x, node[1]).least, RX_NO_LENGTH};
    case RX_NAME: return (rx_n_chars){!rx_nullable(x, id) && !rx_name_of(x, id).begun, most_of_name(node[1])};
    case RX_OR: case RX_FORK: case RX_AND: return count_chars_of_operands(x, id);
    default: return (rx_n_chars){0, RX_NO_LENGTH};
    }
}

rx_n_chars rx_count_chars(rx_arena *x, rx_id id) {
    rx_n_chars sum = {0, 0};
    if (!vec_reach(x->b, &x->chars, id)) return (rx_n_chars){0, RX_NO_LENGTH};
    if (x->chars.at[id].least != NONE) return x->chars.at[id];
    for (rx_id at = id; at != NONE;) {
        const u32 *node = intern_words(&x->nodes, at);
        bool is_link = node[0] == RX_CONCAT;
        rx_n_chars part = is_link ? rx_count_chars(x, node[1]) : count_chars_of_part(x, at);
        sum = (rx_n_chars){rx_add_lengths(sum.least, part.least), rx_add_lengths(sum.most, part.most)};
        at = is_link ? node[2] : NONE;
    }
    return x->chars.at[id] = sum;
}

bool rx_is_too_long(rx_arena *x, rx_id id) {
    rx_n_chars n = rx_count_chars(x, id);
    return n.least > n.most;
}

u32 rx_least_in_quotes(rx_arena *x, rx_id id) {
    while (rx_kind_of(x, id) == RX_CONCAT || rx_kind_of(x, id) == RX_TAG) id = intern_words(&x->nodes, id)[1];
    return rx_kind_of(x, id) == RX_QUOTE ? rx_count_chars(x, id).least : 0;
}

/* Has it strings of as many characters as one likes, since it, or an operand of it, begins with any text? */
static bool is_stretched(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id); /* not for long: is it empty? may make others */
    if (node[0] == RX_CONCAT) return node[1] == x->text && x->meta.at[node[2]].flags & RX_TEXT && !rx_is_empty(x, node[2]);
    if (node[0] != RX_OR) return false;
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++)
        if (is_stretched(x, intern_words(&x->nodes, id)[i])) return true;
    return false;
}

rx_verdict rx_length_verdict(rx_arena *x, rx_id id) {
    rx_id other = NONE;
    u32 least = 0, most = NONE;
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        const u32 *node = intern_words(&x->nodes, part);
        if (x->text != NONE && node[0] == RX_REPEAT && node[1] == intern_words(&x->nodes, x->text)[1]) {
            least = max_u32(least, node[2]);
            most = min_u32(most, node[3]);
            continue;
        }
        if (other != NONE) return RX_UNKNOWN;
        other = part;
    }
    if (other == NONE) return RX_UNKNOWN;
    if (most == NONE) return is_stretched(x, other) ? RX_IS_INHABITED : RX_UNKNOWN;
    if (!(x->meta.at[other].flags & RX_TEXT) || least > rx_count_chars(x, other).least) return RX_UNKNOWN;
    return rx_least_seen(x, other) <= most ? RX_IS_INHABITED : RX_UNKNOWN; /* characters are no more than bytes */
}
