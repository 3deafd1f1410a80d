/* Where two expressions differ: bytes after any other of which they are the same language. By structure, never a derivative.
 *
 * It errs towards more, as rx_first does, on which it rests: no string begins with a byte outside of what that gives, so there an operand
 * of a union adds nothing, a complement takes nothing away, and whatever else is there decides for both. "Any string" and "any string but
 * those that begin with key" differ at k, and go on differing only along key: walks that compare the two look at nothing else. */
#include "rx.h"

static bool add_first(rx_arena *x, rx_id id, byte_set *out) {
    byte_set first;
    if (!rx_first(x, id, &first)) return false;
    set_unite(out, &first);
    return true;
}

static bool add_differ(rx_arena *x, rx_id a, rx_id b, byte_set *out);

/* The operands of a union or an intersection, in ascending order; anything else is its own only one. */
typedef struct rx_operands {
    const rx_id *at;
    u32 n;
} rx_operands;

static rx_operands operand_list(const rx_arena *x, const rx_id *id, rx_kind kind) {
    if (rx_kind_of(x, *id) != kind) return (rx_operands){id, 1};
    return (rx_operands){intern_words(&x->nodes, *id) + 1, intern_length(&x->nodes, *id) - 1};
}

/* Two unions or intersections: by the operands that only one of them has. */
static bool add_by_operands(rx_arena *x, rx_kind kind, rx_id a, rx_id b, byte_set *out) {
    rx_operands p = operand_list(x, &a, kind), q = operand_list(x, &b, kind);
    rx_id own[2] = {NONE, NONE};
    u32 n[2] = {0, 0};
    byte_set found = {{0}};
    for (u32 i = 0, k = 0; i < p.n || k < q.n;) {
        bool in_a = k == q.n || (i < p.n && p.at[i] <= q.at[k]), in_b = i == p.n || (k < q.n && q.at[k] <= p.at[i]);
        rx_id id = in_a ? p.at[i] : q.at[k];
        i += in_a;
        k += in_b;
        if (in_a && in_b) continue;
        own[in_b] = id;
        n[in_b]++;
        bool excludes = rx_kind_of(x, id) == RX_NOT; /* "any string" adds no condition */
        if (kind == RX_AND && !excludes && id != RX_ID_ALL) memset(&found, 0xff, sizeof found);
        else if (kind == RX_OR || excludes) {
            if (!add_first(x, kind == RX_OR ? id : intern_words(&x->nodes, id)[1], &found)) return false;
        }
    }
    if (n[0] == 1 && n[1] == 1 && (own[0] != a || own[1] != b)) return add_differ(x, own[0], own[1], out);
    byte_set first = {{0}};
    if (!add_first(x, a, &first) || !add_first(x, b, &first)) return false;
    for (u32 i = 0; i < 8; i++) out->w[i] |= found.w[i] & first.w[i];
    return true;
}

/* d(h t, c) = d(h, c) t, and d(t, c) beside it if h is nullable. */
static bool add_concat(rx_arena *x, rx_id a, rx_id b, byte_set *out) {
    for (;;) {
        rx_id head = intern_words(&x->nodes, a)[1], tail = intern_words(&x->nodes, a)[2];
        rx_id head_b = intern_words(&x->nodes, b)[1], tail_b = intern_words(&x->nodes, b)[2];
        bool nullable = rx_nullable(x, head), nullable_b = rx_nullable(x, head_b);
        if (tail == tail_b) return add_differ(x, head, head_b, out) && (nullable == nullable_b || add_first(x, tail, out));
        if (head != head_b) return add_first(x, a, out) && add_first(x, b, out);
        if (!add_first(x, head, out) || !nullable) return x->b->status == GE_OK;
        if (rx_kind_of(x, tail) != RX_CONCAT || rx_kind_of(x, tail_b) != RX_CONCAT) return add_differ(x, tail, tail_b, out);
        a = tail;
        b = tail_b;
    }
}

/* JSON spellings, between characters. */
static bool add_quote(rx_arena *x, rx_id a, rx_id b, byte_set *out) {
    byte_set of_part = {{0}}, spelt;
    if (!add_differ(x, intern_words(&x->nodes, a)[1], intern_words(&x->nodes, b)[1], &of_part)) return false;
    rx_quote_first(intern_words(&x->nodes, a), &of_part, &spelt);
    set_unite(out, &spelt);
    return true;
}

/* Adds where they differ. Recursion goes as deep as nodes nest, which is bounded (rx.h). */
static bool add_differ(rx_arena *x, rx_id a, rx_id b, byte_set *out) {
    if (a == b) return true;
    rx_kind kind = rx_kind_of(x, a), other = rx_kind_of(x, b);
    const u32 *node = intern_words(&x->nodes, a), *node_b = intern_words(&x->nodes, b);
    if (kind == RX_NOT && other == RX_NOT) return add_differ(x, node[1], node_b[1], out);
    if (kind == RX_OR || other == RX_OR) return add_by_operands(x, RX_OR, a, b, out);
    if (kind == RX_AND || other == RX_AND || kind == RX_NOT || other == RX_NOT) return add_by_operands(x, RX_AND, a, b, out);
    if (kind == RX_CONCAT && other == RX_CONCAT) return add_concat(x, a, b, out);
    bool raw = kind == RX_QUOTE && other == RX_QUOTE && node[2] == node_b[2] && node[3] == 0 && node_b[3] == 0;
    if (raw) return add_quote(x, a, b, out);
    return add_first(x, a, out) && add_first(x, b, out);
}

bool rx_differ(rx_arena *x, rx_id a, rx_id b, byte_set *out) {
    memset(out, 0, sizeof *out);
    return add_differ(x, a, b, out);
}
