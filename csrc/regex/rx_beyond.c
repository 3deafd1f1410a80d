/* First characters beyond ASCII: of an expression, the set of those with which its strings begin.
 *
 * Digits of all scripts, or white space, begin with many bytes, and each is followed by a state of its own wherever such a class stands.
 * But what comes after the character does not matter until it is complete. So these characters are an expression by themselves, equal for
 * all expressions that begin with the class, and what is known of it serves them all (mask/mk_beyond.c).
 *
 * By structure: unions, sequences and repeats of characters. It must be
 * seen that each byte from 0x80 on belongs to a whole character of UTF-8. */
#include "rx.h"

/* How many bytes from 0x80 to 0xBF each string has, if it is these and they are as many; else NONE. */
static u32 n_tails(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id), sum;
    switch ((rx_kind)node[0]) {
    case RX_EMPTY: return 0;
    case RX_SET: {
        const u32 *w = rx_set_of(x, node[1])->w;
        return w[0] | w[1] | w[2] | w[3] | w[6] | w[7] ? NONE : 1;
    }
    case RX_CONCAT:
        sum = n_tails(x, node[1]);
        n = sum == NONE ? NONE : n_tails(x, node[2]);
        return n == NONE ? NONE : sum + n;
    case RX_OR:
        sum = n_tails(x, node[1]);
        for (u32 i = 2; i < n && sum != NONE; i++)
            if (n_tails(x, node[i]) != sum) return NONE;
        return sum;
    default: return NONE;
    }
}

/* How many bytes come after each of a set of lead bytes, if they are as many; else NONE. 0: they are ASCII. */
static u32 n_after(const byte_set *set) {
    const u32 *w = set->w;
    bool ascii = w[0] | w[1] | w[2] | w[3], two = w[6], three = w[7] & 0xffff, four = w[7] >> 16;
    if (w[4] | w[5] | (w[6] & 3) | (w[7] & 0xffe00000) || ascii + two + three + four > 1) return NONE;
    return two ? 1 : three ? 2 : four ? 3 : 0;
}

/* Of a sequence that begins with a set of bytes. */
static rx_id of_sequence(rx_arena *x, rx_id head, rx_id tail) {
    u32 n = n_after(rx_set_of(x, intern_words(&x->nodes, head)[1]));
    if (n == 0) return RX_ID_NEVER;
    if (n == NONE) return RX_ANY_BEYOND;
    rx_id parts[4] = {head};
    u32 n_parts = 1;
    while (n) {
        bool last = rx_kind_of(x, tail) != RX_CONCAT;
        rx_id part = last ? tail : intern_words(&x->nodes, tail)[1];
        u32 taken = n_tails(x, part);
        if (taken == 0 || taken > n || (last && taken != n)) return RX_ANY_BEYOND;
        parts[n_parts++] = part;
        n -= taken;
        if (!last) tail = intern_words(&x->nodes, tail)[2];
    }
    rx_id id = parts[--n_parts];
    while (n_parts) id = rx_concat(x, parts[--n_parts], id);
    return id;
}

/* Of a union, or of the parts of a sequence of which all but the last may be skipped: operands [1, to) of a node. */
static rx_id of_any(rx_arena *x, rx_id id, u32 to) {
    id_vec parts = {0};
    rx_id found = RX_ID_NEVER;
    for (u32 i = 1; i < to && found != NONE && found != RX_ANY_BEYOND; i++) {
        rx_id part = rx_beyond(x, intern_words(&x->nodes, id)[i]);
        if (part == NONE || part == RX_ANY_BEYOND || (part != RX_ID_NEVER && !vec_push(x->b, &parts, part))) found = part;
    }
    if (found == RX_ID_NEVER) found = rx_or(x, parts.at, parts.n);
    vec_drop(x->b, &parts);
    return x->b->status == GE_OK ? found : NONE;
}

rx_id rx_beyond(rx_arena *x, rx_id id) {
    rx_id found = map_get(&x->beyond, id);
    if (found != NONE) return found;
    u32 n = intern_length(&x->nodes, id), head;
    switch (rx_kind_of(x, id)) {
    case RX_NEVER: case RX_EMPTY: found = RX_ID_NEVER; break;
    case RX_SET: found = n_after(rx_set_of(x, intern_words(&x->nodes, id)[1])) == 0 ? RX_ID_NEVER : RX_ANY_BEYOND; break;
    case RX_OR: case RX_FORK: found = of_any(x, id, n); break;
    case RX_REPEAT: case RX_TAG: found = of_any(x, id, 2); break;
    case RX_CONCAT:
        head = intern_words(&x->nodes, id)[1];
        if (rx_kind_of(x, head) == RX_SET) found = of_sequence(x, head, intern_words(&x->nodes, id)[2]);
        else found = of_any(x, id, rx_nullable(x, head) ? 3 : 2);
        break;
    default: found = RX_ANY_BEYOND;
    }
    return found == NONE || !map_put(x->b, &x->beyond, id, found) ? NONE : found;
}
