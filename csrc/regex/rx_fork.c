/* Unions that share their parts, and unions that tell which of their parts has matched.
 *
 * An OR is one list of operands: to leave one out is to write all others again. FORK(a, b) is the same union as a node of a tree, so a
 * union of n parts that differs from another one in some has all but their ancestors in common with it, and so have the derivatives: what
 * is new is in proportion to log n. Neither looks for laws among its parts. They are for unions that are made while texts are read, of the
 * keys that are left or of the values that were there before.
 *
 * TAG(L, tag) is L. Below FORKs, rx_tags tells the tags of those parts that contain "".
 *
 * A thousand keys may begin with the same thirty bytes. So the sets with which all parts of a FORK begin are counted, when it is first
 * derived, and to read one of them touches no part: REST(f, n) is what may follow the first n in f. Invariant: there are more than n.
 * Behind the last of them the parts are taken apart, once for each FORK:
 *
 *     "file_a" | "file_b" | "file_c"     --f-->  REST(it, 1)  --i--> ... REST(it, 4)  --_-->  "a" | "b" | "c"
 * */
#include "rx.h"

enum { MOST_SHARED = RX_NOT_COUNTED - 1 };

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

/* What follows the first n sets of a sequence. */
static rx_id skip_sets(const rx_arena *x, rx_id id, u32 n) {
    for (; n; n--) id = rx_kind_of(x, id) == RX_CONCAT ? intern_words(&x->nodes, id)[2] : RX_ID_EMPTY;
    return id;
}

/* The SET with which a sequence begins; NONE: with none. */
static rx_id first_set(const rx_arena *x, rx_id id) {
    rx_id head = rx_kind_of(x, id) == RX_CONCAT ? intern_words(&x->nodes, id)[1] : id;
    return rx_kind_of(x, head) == RX_SET ? head : NONE;
}

/* The first part of a tree of FORKs, without its tag. */
static rx_id first_part(const rx_arena *x, rx_id id) {
    u32 skipped = 0;
    const u32 *node = intern_words(&x->nodes, id);
    for (; node[0] == RX_FORK || node[0] == RX_REST; node = intern_words(&x->nodes, id)) {
        if (node[0] == RX_REST) skipped += node[2];
        id = node[1];
    }
    return skip_sets(x, node[0] == RX_TAG ? node[1] : id, skipped);
}

/* With how many sets all parts of a FORK begin, each the same in all parts, up to MOST_SHARED; that of one part is for its FORK to
 * count. */
static u32 n_shared(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    if (node[0] == RX_REST) return n_shared(x, node[1]) - node[2];
    if (node[0] != RX_FORK) return MOST_SHARED;
    if (x->meta.at[id].shared != RX_NOT_COUNTED) return x->meta.at[id].shared;
    u32 most = x->meta.at[id].flags & (RX_NAMED | RX_BARRED) ? 0 : n_shared(x, node[1]), n = 0; /* names are looked for in FORKs */
    if (most) most = min_u32(most, n_shared(x, node[2]));
    rx_id a = most ? first_part(x, node[1]) : NONE, b = most ? first_part(x, node[2]) : NONE;
    for (rx_id set; n < most && (set = first_set(x, a)) != NONE && set == first_set(x, b); n++) {
        a = skip_sets(x, a, 1);
        b = skip_sets(x, b, 1);
    }
    return x->meta.at[id].shared = (u8)n;
}

u32 rx_shared(rx_arena *x, rx_id id) {
    return n_shared(x, id) ? intern_words(&x->nodes, first_set(x, first_part(x, id)))[1] : NONE;
}

rx_id rx_rest(rx_arena *x, rx_id id, u32 n) {
    if (id == NONE || n == 0) return id;
    u32 node[3] = {0}; /* a copy: the pool may move below */
    memcpy(node, intern_words(&x->nodes, id), min_u32(intern_length(&x->nodes, id), 3) * sizeof *node);
    if (node[0] == RX_REST) return rx_rest(x, node[1], node[2] + n);
    if (node[0] == RX_TAG) return rx_tag(x, skip_sets(x, node[1], n), node[2]);
    if (node[0] != RX_FORK) return skip_sets(x, id, n);
    rx_meta of = x->meta.at[id];
    if (n < of.shared) return rx_intern(x, (u32[]){RX_REST, id, n}, 3, of.flags & (RX_FINITE | RX_INHABITED), of.depth + 1u);
    rx_id apart = map_get(&x->apart, id); /* n is all that are shared: a question about the FORK alone */
    if (apart != NONE || !budget_work(x->b, 1)) return apart;
    apart = rx_rest(x, node[1], n);
    apart = apart == NONE ? NONE : rx_fork(x, apart, rx_rest(x, node[2], n));
    return apart == NONE || !map_put(x->b, &x->apart, id, apart) ? NONE : apart;
}

/* Of what follows n sets. */
static bool add_tags(const rx_arena *x, rx_id id, u32 n, bool nullable, id_vec *out) {
    const u32 *node = intern_words(&x->nodes, id);
    if (nullable && !rx_nullable(x, id)) return true; /* then n is 0 */
    if (node[0] == RX_FORK) return add_tags(x, node[1], n, nullable, out) && add_tags(x, node[2], n, nullable, out);
    if (node[0] == RX_REST) return add_tags(x, node[1], n + node[2], nullable, out);
    return node[0] != RX_TAG || (vec_push(x->b, out, node[2]) && vec_push(x->b, out, skip_sets(x, node[1], n)));
}

bool rx_tags(const rx_arena *x, rx_id id, bool nullable, id_vec *out) { return add_tags(x, id, 0, nullable, out); }
