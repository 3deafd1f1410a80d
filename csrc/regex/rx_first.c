/* First bytes: a set outside of which no string of an expression begins. By structure, each node once, never a derivative.
 *
 * It errs towards more (complements, intersections, within escapes): where it matters, the derivative decides. Walks of the vocabulary
 * begin with it: before a key or a comma a handful of bytes is possible, and what the others would lead to is not even asked.
 *
 * Where an expression is known to contain something, so are all parts of a sequence, and what is quoted. So by structure it is often seen
 * that some string does begin with a byte, though another alternative is an intersection, or one is to come later. */
#include "rx.h"

enum { SURE_NODES = 32 /* that are looked at to see that strings begin with a byte */ };

static void add_bytes(byte_set *set, const char *bytes) {
    for (; *bytes; bytes++) set_add(set, (u8)*bytes);
}

bool rx_first(rx_arena *x, rx_id id, byte_set *out) {
    memset(out, 0, sizeof *out);
    if (!vec_reach(x->b, &x->first, id)) return false;
    if (x->first.at[id] != NONE) return *out = *rx_set_of(x, x->first.at[id]), true;
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    u32 n = intern_length(&x->nodes, id), whole = id, set = NONE; /* set: known, since the parts have the same */
    byte_set part;
    bool ok = true;
    switch ((rx_kind)node[0]) {
    case RX_NEVER: case RX_EMPTY: break;
    case RX_ALL: case RX_NOT: memset(out, 0xff, sizeof *out); break;
    case RX_SET: *out = *rx_set_of(x, set = node[1]); break;
    case RX_CONCAT:
        for (bool nullable = true; ok && nullable;) { /* the heads that may be skipped, and the first that may not */
            node = intern_words(&x->nodes, id);
            bool last = node[0] != RX_CONCAT;
            rx_id head = last ? id : node[1];
            ok = rx_first(x, head, &part);
            set_unite(out, &part);
            nullable = !last && rx_nullable(x, head);
            if (ok && !nullable && id == whole) set = x->first.at[head];
            if (!last) id = node[2];
        }
        break;
    case RX_OR: case RX_FORK:
        for (u32 i = 1; ok && i < n; i++) {
            ok = rx_first(x, node[i], &part);
            set_unite(out, &part);
            if (ok) set = i == 1 || set == x->first.at[node[i]] ? x->first.at[node[i]] : NONE;
        }
        break;
    case RX_AND:
        memset(out, 0xff, sizeof *out);
        for (u32 i = 1; ok && i < n; i++) {
            ok = rx_first(x, node[i], &part);
            for (u32 k = 0; k < 8; k++) out->w[k] &= part.w[k];
        }
        break;
    case RX_REPEAT: case RX_TAG:
        ok = rx_first(x, node[1], out);
        if (ok) set = x->first.at[node[1]];
        break;
    case RX_REST: *out = *rx_set_of(x, set = rx_shared(x, id)); break;
    case RX_QUOTE:
        ok = rx_first(x, node[1], &part);
        rx_quote_first(node, &part, out);
        break;
    case RX_MULTIPLE: add_bytes(out, "+-.0123456789eE"); break;
    case RX_NAME: rx_name_first(x, id, out); break;
    case RX_SYNTAX: ok = rx_syntax_first(x, node, out); break;
    case RX_PUNYCODE: add_bytes(out, "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"); break;
    }
    if (ok && set == NONE) set = intern(x->b, &x->sets, out->w, 8, NULL);
    if (!ok || set == NONE) return false;
    x->first.at[whole] = set;
    return true;
}

/* Is a part that is looked at known to be no empty set? */
static bool is_inhabited(const rx_arena *x, rx_id id) {
    return x->meta.at[id].flags & RX_INHABITED || x->meta.at[id].verdict == RX_IS_INHABITED;
}

static bool has_first(const rx_arena *x, rx_id id, u32 byte, u32 *fuel) {
    while ((*fuel)-- > 0) {
        u32 first = id < x->first.n ? x->first.at[id] : NONE;
        if (first == NONE || !set_has(rx_set_of(x, first), byte)) return false;
        if (x->meta.at[id].flags & RX_FIRST_EXACT) return true;
        const u32 *node = intern_words(&x->nodes, id);
        switch ((rx_kind)node[0]) {
        case RX_CONCAT:
            if (has_first(x, node[1], byte, fuel)) return true;
            if (!rx_nullable(x, node[1])) return false;
            id = node[2];
            continue;
        case RX_OR:
            for (u32 i = 1; *fuel && i < intern_length(&x->nodes, id); i++)
                if (is_inhabited(x, node[i]) && has_first(x, node[i], byte, fuel)) return true;
            return false;
        case RX_QUOTE:
            if (node[3] || byte < 0x20 || byte == '"' || byte == '\\') return false;
            id = node[1];
            continue;
        default: return false;
        }
    }
    *fuel = 0;
    return false;
}

bool rx_surely_begins(const rx_arena *x, rx_id id, u32 byte) {
    u32 fuel = SURE_NODES;
    return has_first(x, id, byte, &fuel);
}
