/* Clamping: bounds of repeats that a short text cannot reach are dropped, so that the expressions along a counted text become one.
 *
 *     p{0,950} and p{0,949} have the same strings of at most 940 bytes, and so has p*
 *
 * Let E' be E with the bound dropped of each repeat that n bytes cannot fill, but none inside a complement. Then E is a subset of E', and
 * both have the same strings of at most n bytes: each part of such a string is no longer than the whole. So what E can read of a token E'
 * can, too; and what E' can read of it, E can if from there E' has a string so short that all together is no longer than n. That is what
 * rx_finish is asked, for each state that a token may lead to (mask/mk_inner.c).
 *
 * The other way round a bound may be made smaller, and what is left is a subset. What lies between
 * two expressions that cannot be told apart, neither can be told from them (mask/mk_room.c). */
#include "rx_frontier.h"

enum { MAX_SPINE = 64, FINISH_NODES = 100, FEW_TIMES = 2 };

#define TO_FEW NONE /* in place of a number of bytes: bounds become FEW_TIMES */

static rx_id clamp_concat(rx_arena *x, rx_id id, u32 n_bytes) {
    rx_id heads[MAX_SPINE];
    u32 n = 0;
    for (; n < MAX_SPINE && rx_kind_of(x, id) == RX_CONCAT; id = intern_words(&x->nodes, id)[2])
        heads[n++] = intern_words(&x->nodes, id)[1];
    rx_id result = rx_kind_of(x, id) == RX_CONCAT ? id : rx_clamp(x, id, n_bytes); /* what is that far behind stays as it is */
    while (n && result != NONE) result = rx_concat(x, rx_clamp(x, heads[--n], n_bytes), result);
    return result;
}

rx_id rx_clamp(rx_arena *x, rx_id id, u32 n_bytes) {
    u32 node[5];
    if (id == NONE || !(x->meta.at[id].flags & RX_COUNTED)) return id;
    rx_copy_node(x, id, node);
    u64 key = (u64)id << 32 | n_bytes;
    rx_id result = map_get(&x->clamped, key);
    if (result != NONE) return result;
    if (!budget_work(x->b, 1)) return NONE;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: result = clamp_concat(x, id, n_bytes); break;
    case RX_OR: case RX_AND: result = rx_change_parts(x, id, rx_clamp, n_bytes); break;
    case RX_QUOTE: result = rx_quote_again(x, rx_clamp(x, node[1], n_bytes), node); break;
    default: { /* RX_REPEAT */
        if (n_bytes == TO_FEW) {
            bool many = node[3] != NONE && node[3] > FEW_TIMES && node[2] <= FEW_TIMES;
            result = rx_repeat(x, rx_clamp(x, node[1], TO_FEW), node[2], many ? FEW_TIMES : node[3]);
            break;
        }
        u32 least = max_u32(rx_length_bound(x, node[1]), 1);
        bool beyond = node[3] != NONE && (u64)node[3] * least >= n_bytes && node[2] < node[3];
        result = rx_repeat(x, rx_clamp(x, node[1], n_bytes), node[2], beyond ? NONE : node[3]);
    }
    }
    return result == NONE || !map_put(x->b, &x->clamped, key, result) ? NONE : result;
}

rx_id rx_few(rx_arena *x, rx_id id) { return rx_clamp(x, id, TO_FEW); }

bool rx_is_within(const rx_arena *x, rx_id a, rx_id b) {
    while (a != b) {
        const u32 *one = intern_words(&x->nodes, a), *other = intern_words(&x->nodes, b);
        u32 n = intern_length(&x->nodes, a);
        if (one[0] != other[0] || n != intern_length(&x->nodes, b)) return false;
        switch ((rx_kind)one[0]) {
        case RX_CONCAT:
            if (!rx_is_within(x, one[1], other[1])) return false;
            a = one[2];
            b = other[2];
            continue;
        case RX_OR: case RX_AND:
            for (u32 i = 1; i < n; i++)
                if (!rx_is_within(x, one[i], other[i])) return false;
            return true;
        case RX_QUOTE:
            if (memcmp(one + 2, other + 2, 3 * sizeof *one) != 0) return false;
            a = one[1];
            b = other[1];
            continue;
        case RX_REPEAT:
            if (one[2] < other[2] || one[3] > other[3]) return false; /* NONE is above all bounds */
            a = one[1];
            b = other[1];
            continue;
        default: return false;
        }
    }
    return true;
}

/* The length of a string of `id`, if it begins with a label in Punycode or a regular
 * expression, whose nodes know that of their shortest way to an end. Else NONE. */
static u32 known_length(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 length = NONE;
    bool exact;
    switch ((rx_kind)node[0]) {
    case RX_PUNYCODE: return x->meta.at[id].distance;
    case RX_SYNTAX: length = rx_syntax_least(x, node, &exact); return exact ? length : NONE;
    case RX_QUOTE: return node[3] ? NONE : known_length(x, node[1]);
    case RX_OR:
        for (u32 i = 1; i < intern_length(&x->nodes, id); i++) length = min_u32(length, known_length(x, node[i]));
        return length;
    case RX_CONCAT:
        if ((length = known_length(x, node[1])) == NONE) return NONE;
        for (id = node[2]; !rx_nullable(x, id); id = node[2]) { /* what follows is a set or two */
            node = intern_words(&x->nodes, id);
            bool last = node[0] != RX_CONCAT;
            if (intern_words(&x->nodes, last ? id : node[1])[0] != RX_SET) return NONE;
            length++;
            if (last) break;
        }
        return length;
    case RX_AND: { /* with lengths */
        u32 low = 0, high = NONE;
        bool in_bytes = false; /* which are not fewer than characters */
        for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
            const u32 *part = intern_words(&x->nodes, node[i]);
            u32 known = known_length(x, node[i]);
            in_bytes |= part[0] == RX_SYNTAX;
            bool is_length = part[0] == RX_REPEAT && part[1] == intern_words(&x->nodes, x->text)[1];
            if (is_length) low = max_u32(low, part[2]), high = min_u32(high, part[3]);
            else if (length != NONE || known == NONE) return NONE;
            else length = known;
        }
        return low <= length && length <= high && !(in_bytes && low) ? length : NONE;
    }
    default: return NONE;
    }
}

/* What is found is noted for all on the way, and ends later searches that come there; that
 * nothing was found, for the start. n_bytes is to be the same in all calls over an arena. */
u32 rx_finish(rx_arena *x, rx_id start, u32 n_bytes) {
    frontier f;
    u32 at, found = NONE, rest = rx_nullable(x, start) ? 0 : map_get(&x->finish, start);
    if (rest == NONE && (x->has_punycode || x->has_syntax)) rest = known_length(x, start);
    if (rest != NONE) return rest;
    if (rx_length_bound(x, start) > n_bytes) return n_bytes + 1;
    bool ok = frontier_open(x, &f, start);
    while (ok && found == NONE && f.nodes.n < FINISH_NODES && (at = frontier_next(&f)) != NONE) {
        rx_id from = f.nodes.at[at].id;
        u32 length = f.nodes.at[at].length + 1, first = x->has_name ? 0 : x->class_of[rx_near_byte(x, from)];
        u8 same[256];
        ok = rx_told_apart(x, from, same);
        bool is_near = false;
        for (u32 i = f.nodes.at[at].tried; ok && found == NONE && !is_near && length <= n_bytes && i < x->n_classes; i++) {
            u32 c = (first + i) % x->n_classes;
            if (same[c] != c) continue;
            rx_id id = rx_derive(x, from, x->class_byte[c]);
            ok = id != NONE && budget_work(x->b, 1);
            if (!ok || id == RX_ID_NEVER || length + rx_length_bound(x, id) > n_bytes || frontier_has(&f, id)) continue;
            rest = rx_nullable(x, id) ? 0 : map_get(&x->finish, id);
            ok = frontier_reach(x, &f, id, at, x->class_byte[c], x->has_name ? 0 : i + 1, &is_near);
            if (ok && rest != NONE && length + rest <= n_bytes) found = f.nodes.n - 1;
        }
    }
    u32 length = found == NONE ? n_bytes + 1 : f.nodes.at[found].length + rest;
    if (ok && found == NONE) ok = map_put(x->b, &x->finish, start, length);
    for (u32 i = found; ok && i != NONE; i = f.nodes.at[i].parent)
        ok = map_put(x->b, &x->finish, f.nodes.at[i].id, length - f.nodes.at[i].length);
    frontier_drop(x, &f);
    return ok ? length : NONE;
}

/* p{3,9} and p{0,9} have strings with the same beginnings, since p has a string: what has begun with fewer can go on. */
rx_id rx_without_minimum(rx_arena *x, rx_id id) {
    rx_id heads[MAX_SPINE];
    u32 n = 0;
    for (; n < MAX_SPINE && rx_kind_of(x, id) == RX_CONCAT; id = intern_words(&x->nodes, id)[2])
        heads[n++] = intern_words(&x->nodes, id)[1];
    const u32 *node = intern_words(&x->nodes, id);
    rx_id result = node[0] == RX_REPEAT ? rx_repeat(x, node[1], 0, node[3]) : id;
    while (n && result != NONE) result = rx_concat(x, heads[--n], result);
    return result;
}
