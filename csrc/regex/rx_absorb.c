/* Which expressions any plain text leaves alive, or any of so many characters: what slices of the vocabulary rest on (vocab/vb.h).
 *
 * *Plain* are the characters that a JSON string holds raw: all but " \\ and control characters, in UTF-8. An expression *absorbs* n
 * plain characters if after every text of at most n of them something is still possible. The verdict is by structure, so it costs a
 * look at a few nodes and never a derivative; it errs towards false.
 *
 *     p{a,b}                 with p = one character: if b >= n
 *     p{a,} & ~F             with F finite: whatever was read can be continued to a string longer than all of F
 *     QUOTE(L)               if L does: plain characters are spelt as they are
 *     h t                    if h does and t is known to be inhabited: h need not end yet, and t can follow later
 *     L | M                  if one of them does
 *     L & ~(F " ...)         if L absorbs any number, and F is finite: a text longer than all of F, before its quote, is in no F " */
#include "rx.h"

/* One character and no less than all that is plain: what rx_text repeats. */
static bool is_any_char(const rx_arena *x, rx_id id) { return x->text != NONE && intern_words(&x->nodes, x->text)[1] == id; }

/* p{a,} without bound over any character. */
static bool is_endless(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    return node[0] == RX_REPEAT && is_any_char(x, node[1]) && node[3] == NONE;
}

static bool is_endless_but_finite_set(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    bool endless = false;
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        const u32 *part = intern_words(&x->nodes, node[i]);
        if (part[0] == RX_NOT && x->meta.at[part[1]].flags & RX_FINITE) continue;
        if (!is_endless(x, node[i])) return false;
        endless = true;
    }
    return endless;
}

/* Strings of a finite set, then a byte that is not plain, then anything. */
static bool is_finite_before_mark(const rx_arena *x, rx_id id) {
    for (const u32 *node = intern_words(&x->nodes, id); node[0] == RX_CONCAT; node = intern_words(&x->nodes, node[2])) {
        const u32 *head = intern_words(&x->nodes, node[1]);
        if (head[0] == RX_SET) {
            const byte_set *first = rx_set_of(x, head[1]);
            bool plain = false;
            for (u32 byte = 0x20; byte < 256 && !plain; byte++) plain = set_has(first, byte) && byte != '"' && byte != '\\';
            if (!plain) return true;
        }
        if (!(x->meta.at[node[1]].flags & RX_FINITE)) return false;
    }
    return false;
}

static bool is_absorbing_but_marked_sets(const rx_arena *x, rx_id id) {
    bool absorbs = false;
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        const u32 *node = intern_words(&x->nodes, part);
        if (node[0] == RX_NOT && is_finite_before_mark(x, node[1])) continue;
        if (absorbs || node[0] == RX_AND || !rx_absorbs_plain(x, part, NONE)) return false; /* one part: two may not agree */
        absorbs = true;
    }
    return absorbs;
}

bool rx_absorbs_plain(const rx_arena *x, rx_id id, u32 n_chars) {
    for (;;) {
        const u32 *node = intern_words(&x->nodes, id);
        switch ((rx_kind)node[0]) {
        case RX_ALL: return true;
        case RX_REPEAT: return is_any_char(x, node[1]) && (node[3] == NONE || node[3] >= n_chars);
        case RX_AND: return is_endless_but_finite_set(x, id) || is_absorbing_but_marked_sets(x, id);
        case RX_CONCAT:
            if (!(x->meta.at[node[2]].flags & RX_INHABITED)) return false;
            id = node[1];
            break;
        case RX_QUOTE:
            if (node[3] != 0) return false; /* inside an escape */
            id = node[1];
            break;
        case RX_OR:
            for (u32 i = 1; i < intern_length(&x->nodes, id); i++)
                if (rx_absorbs_plain(x, intern_words(&x->nodes, id)[i], n_chars)) return true; /* as deep as ORs nest: bounded */
            return false;
        default: return false;
        }
    }
}

/* QUOTE(p{a,}) t, in one of the phases from `least` to `most` (rx_quote.c). */
static bool quotes_any_text(const rx_arena *x, rx_id id, u32 least, u32 most) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] != RX_CONCAT || !(x->meta.at[node[2]].flags & RX_INHABITED)) return false;
    const u32 *head = intern_words(&x->nodes, node[1]);
    return head[0] == RX_QUOTE && head[3] >= least && head[3] <= most && is_endless(x, head[1]);
}

bool rx_is_any_text(const rx_arena *x, rx_id id) { return quotes_any_text(x, id, 0, 0); }
bool rx_escapes_any_text(const rx_arena *x, rx_id id) { return quotes_any_text(x, id, 1, 2); }

/* QUOTE(p{a,b}) t where t begins with a byte that is not plain: after b characters the closing quote must come. */
bool rx_counts_plain(const rx_arena *x, rx_id id, u32 *n_chars) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] != RX_CONCAT || !(x->meta.at[node[2]].flags & RX_INHABITED)) return false;
    const u32 *head = intern_words(&x->nodes, node[1]), *tail = intern_words(&x->nodes, node[2]);
    if (tail[0] == RX_CONCAT) tail = intern_words(&x->nodes, tail[1]);
    if (head[0] != RX_QUOTE || head[3] != 0 || tail[0] != RX_SET) return false;
    const byte_set *first = rx_set_of(x, tail[1]);
    for (u32 byte = 0x20; byte < 256; byte++)
        if (set_has(first, byte) && byte != '"' && byte != '\\') return false;
    const u32 *counted = intern_words(&x->nodes, head[1]);
    if (is_any_char(x, head[1])) return *n_chars = 1, true;
    if (counted[0] != RX_REPEAT || !is_any_char(x, counted[1]) || counted[3] == NONE) return false;
    *n_chars = counted[3];
    return true;
}
