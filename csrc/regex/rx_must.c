/* Bytes that each string of an expression has (must), and bytes outside of which none has any (may).
 *
 * An intersection is empty if one of its operands must have a byte that another one may not have. That is told without a derivative, where
 * a search for a string of it would have to try all ways: the rest of a date-time after `t`, when a pattern asks for a `T`.
 *
 * By structure, each node once. Both err to the safe side: `must` towards fewer bytes, `may` towards more. */
#include "rx.h"

enum { LONGEST = 64 }; /* parts of a concatenation that are looked at: a long literal would be looked at again at each of its bytes */

typedef struct bytes_of {
    byte_set must, may;
} bytes_of;

static const bytes_of NOTHING_KNOWN = {{{0}},
                                       {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}}};

static bool find(rx_arena *x, rx_id id, bytes_of *out);

static bool find_concat(rx_arena *x, rx_id id, bytes_of *out) {
    bytes_of part;
    *out = (bytes_of){0};
    for (u32 n = 0;; n++) {
        bool last = rx_kind_of(x, id) != RX_CONCAT;
        if (n == LONGEST) return out->may = NOTHING_KNOWN.may, true;
        if (!find(x, last ? id : intern_words(&x->nodes, id)[1], &part)) return false;
        set_unite(&out->must, &part.must);
        set_unite(&out->may, &part.may);
        if (last) return true;
        id = intern_words(&x->nodes, id)[2];
    }
}

/* Of unions: what all operands must have. Of intersections: what all of them may have. */
static bool find_operands(rx_arena *x, rx_id id, bytes_of *out) {
    bool is_or = rx_kind_of(x, id) != RX_AND;
    bytes_of part;
    for (u32 i = 1, n = intern_length(&x->nodes, id); i < n; i++) {
        if (!find(x, intern_words(&x->nodes, id)[i], &part)) return false;
        for (u32 k = 0; k < 8; k++) {
            u32 must = part.must.w[k], may = part.may.w[k];
            out->must.w[k] = i == 1 ? must : is_or ? out->must.w[k] & must : out->must.w[k] | must;
            out->may.w[k] = i == 1 ? may : is_or ? out->may.w[k] | may : out->may.w[k] & may;
        }
    }
    return true;
}

static bool find(rx_arena *x, rx_id id, bytes_of *out) {
    if (!vec_reach(x->b, &x->must_of, id)) return false;
    if (x->must_of.at[id] != NONE) return memcpy(out, intern_words(&x->must, x->must_of.at[id]), sizeof *out), true;
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    bool ok = true;
    *out = NOTHING_KNOWN;
    switch ((rx_kind)node[0]) {
    case RX_NEVER: case RX_EMPTY: *out = (bytes_of){0}; break;
    case RX_ALL: case RX_NOT: case RX_QUOTE: case RX_TAG: case RX_REST: break;
    case RX_SYNTAX: rx_syntax_must(node, &out->must); break;
    case RX_SET:
        out->may = *rx_set_of(x, node[1]);
        if (set_count(&out->may) == 1) out->must = out->may;
        break;
    case RX_CONCAT: ok = find_concat(x, id, out); break;
    case RX_OR: case RX_AND: case RX_FORK: ok = find_operands(x, id, out); break;
    case RX_REPEAT:
        ok = find(x, node[1], out);
        if (node[2] == 0) memset(&out->must, 0, sizeof out->must);
        break;
    case RX_MULTIPLE:
        memset(&out->may, 0, sizeof out->may);
        for (const char *at = "+-.0123456789eE"; *at; at++) set_add(&out->may, (u8)*at);
        break;
    case RX_PUNYCODE: ok = rx_first(x, id, &out->may); break;
    case RX_NAME:
        memset(&out->may, 0, sizeof out->may);
        for (const char *at = "-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"; *at; at++) set_add(&out->may, (u8)*at);
        set_add_range(&out->may, 0x80, 0xff);
        break;
    }
    u32 known = ok ? intern(x->b, &x->must, (const u32 *)(const void *)out, sizeof *out / sizeof(u32), NULL) : NONE;
    return known != NONE && (x->must_of.at[id] = known, true);
}

bool rx_may(rx_arena *x, rx_id id, byte_set *out) {
    bytes_of bytes;
    if (!find(x, id, &bytes)) return false;
    *out = bytes.may;
    return true;
}

bool rx_is_contradiction(rx_arena *x, rx_id id, bool *answer) {
    bytes_of bytes;
    *answer = false;
    if (rx_kind_of(x, id) != RX_AND) return true;
    if (!find(x, id, &bytes)) return false;
    for (u32 k = 0; k < 8; k++) *answer |= (bytes.must.w[k] & ~bytes.may.w[k]) != 0;
    return true;
}
