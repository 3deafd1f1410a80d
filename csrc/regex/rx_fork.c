/* Unions that share their parts, and unions that tell which of their parts has matched.
 *
 * An OR is one list of operands: to leave one out is to write all others again. FORK(a, b) is the same union as a node of a tree, so a union
 * of n parts that differs from another one in some has all but their ancestors in common with it, and so have the derivatives: what is
 * new is in proportion to log n. Neither looks for laws among its parts. They are for unions that are made while texts are read, of
 * the keys that are left or of the values that were there before.
 *
 * TAG(L, tag) is L. Below FORKs, rx_tags tells the tags of those parts that contain "". */
#include "rx.h"

rx_id rx_fork(rx_arena *x, rx_id a, rx_id b) {
    if (a == NONE || b == NONE) return NONE;
    if (a == RX_ID_NEVER || a == b) return b;
    if (b == RX_ID_NEVER) return a;
    rx_meta p = x->meta.at[a], q = x->meta.at[b];
    u32 flags = (p.flags & q.flags & (RX_TEXT | RX_FINITE)) | ((p.flags | q.flags) & (RX_NULLABLE | RX_INHABITED));
    return rx_intern(x, (u32[]){RX_FORK, a, b}, 3, flags, max_u32(p.depth, q.depth) + 1u);
}

rx_id rx_tag(rx_arena *x, rx_id part, u32 tag) {
    if (part == NONE || part == RX_ID_NEVER) return part;
    rx_meta of = x->meta.at[part];
    return rx_intern(x, (u32[]){RX_TAG, part, tag}, 3, of.flags & (RX_TEXT | RX_FINITE | RX_NULLABLE | RX_INHABITED), of.depth + 1u);
}

bool rx_tags(const rx_arena *x, rx_id id, bool nullable, id_vec *out) {
    const u32 *node = intern_words(&x->nodes, id);
    if (nullable && !rx_nullable(x, id)) return true;
    if (node[0] == RX_FORK) return rx_tags(x, node[1], nullable, out) && rx_tags(x, node[2], nullable, out);
    return node[0] != RX_TAG || (vec_push(x->b, out, node[2]) && vec_push(x->b, out, node[1]));
}
