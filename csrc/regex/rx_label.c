/* LABEL(L): the labels of a set L that fit into 63 octets as A-labels. See rx_label.h.
 *
 *     [ RX_LABEL | what may still come of L | what was read: an id in `labels` | bytes of a character that has begun ]
 *
 * What was read is a rope, (all but the last character, the last one), in which all characters of ASCII are one: where they stand matters, not which
 * they are. So a derivative costs what that of L does, and a look at Punycode where the number of characters does not decide.
 *
 * L has letters, digits and hyphens of ASCII, and any characters outside of it. */
#include "rx_label.h"
#include "punycode.h"
#include "utf8.h"

enum { PLAIN = 'a', FIRST_FAR = 0x80 }; /* stands for all of ASCII; the first code point that Punycode encodes */

const signed char label_most_plain[3][LABEL_SURE] = {
    {58, 54, 49, 46, 42, 39, 35, 32, 29, 26, 23, 20, 17, 14, 12, 9, 7, 5, 3, 1, 0},
    {58, 53, 47, 42, 37, 33, 29, 25, 21, 17, 14, 10, 7, 4, 1, -1, -1, -1, -1, -1, -1},
    {58, 51, 45, 40, 34, 29, 24, 20, 15, 11, 7, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1},
};

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

void label_append(label_text *t, u32 code) {
    u32 at = t->n++, k = t->n_far;
    if (code < FIRST_FAR) {
        t->plain |= (u64)1 << at;
        return;
    }
    t->code[at] = code;
    for (; k && t->code[t->order[k - 1]] > code; k--) t->order[k] = t->order[k - 1];
    t->order[k] = (u8)at;
    t->n_far++;
    t->sort = max_u32(t->sort, label_sort(code));
}

/* A text that is being encoded: the code points in their order, and of each its places. */
typedef struct label_encoder {
    u64 present; /* characters that are there by now */
    u32 n, octets;
    u32 code, index, bias; /* where the last one went */
} label_encoder;

static label_encoder begin_encoder(const label_text *t) {
    u32 n = t->n - t->n_far;
    return (label_encoder){.present = t->plain, .n = n, .octets = n + (n > 0), .code = FIRST_FAR, .bias = PUNY_FIRST_BIAS};
}

static u64 number_of_step(const label_encoder *e, u32 at, u32 code) {
    return (u64)(code - e->code) * (e->n + 1) + (u32)__builtin_popcountll(e->present & (((u64)1 << at) - 1)) - e->index;
}

static void insert_next(label_encoder *e, const label_text *t, u32 k) {
    u32 at = t->order[k], code = t->code[at];
    u64 number = number_of_step(e, at, code);
    e->octets += puny_digits(number, 0, e->bias);
    e->index += (u32)(number - (u64)(code - e->code) * (e->n + 1)) + 1;
    e->code = code;
    e->present |= (u64)1 << at;
    e->bias = puny_adapted_bias((u32)number, ++e->n, k == 0);
}

u32 label_octets(const label_text *t) {
    label_encoder e = begin_encoder(t);
    for (u32 k = 0; k < t->n_far; k++) insert_next(&e, t, k);
    return e.octets;
}

bool label_fits(const label_text *t) {
    if (label_is_sure(t->n - t->n_far, t->n_far, t->sort)) return true;
    return t->n <= LABEL_LONGEST && label_octets(t) <= LABEL_LONGEST;
}

/* A number takes no fewer digits, whatever the bias. */
static u32 least_digits_of(u64 number) { return number < 26 ? 1 : number < 911 ? 2 : number < 31886 ? 3 : 4; }

/* False => the text does not fit with one more character from a range. The characters before it in the order of insertion cost what they did; it
 * costs no less than the lowest of the range there; the one after it costs a digit or more, and the others step over no fewer places. */
static bool may_fit_with(const label_text *t, u32 low, u32 high) {
    u32 behind[LABEL_LONGEST + 2] = {0}; /* by index: what those from there on take at least */
    label_encoder at = begin_encoder(t);
    if (t->n >= LABEL_LONGEST) return false;
    if (label_is_sure(t->n - t->n_far, t->n_far + 1, 2)) return true;
    for (u32 k = 0; k < t->n_far; k++) {
        behind[k] = least_digits_of(number_of_step(&at, t->order[k], t->code[t->order[k]]));
        insert_next(&at, t, k);
    }
    for (u32 k = t->n_far; k-- > 0;) behind[k] += behind[k + 1];
    at = begin_encoder(t);
    for (u32 k = 0; max_u32(low, at.code) <= high; k++) {
        u32 code = max_u32(low, at.code), rest = k < t->n_far ? 1 + behind[k + 1] : 0;
        bool here = k == t->n_far || code < t->code[t->order[k]]; /* some of the range come before the next one */
        if (here && at.octets + puny_digits(number_of_step(&at, t->n, code), 0, at.bias) + rest <= LABEL_LONGEST) return true;
        if (k == t->n_far) break;
        insert_next(&at, t, k);
    }
    return false;
}

bool label_fits_with_one(const label_text *t, u32 low, u32 high) {
    for (u32 code = low; code <= high; code++) {
        label_text longer = *t;
        label_append(&longer, code);
        if (label_fits(&longer)) return true;
    }
    return false;
}

/* --- nodes ---------------------------------------------------------------------------------------------------------------- */

void rx_label_text(const rx_arena *x, u32 label, label_text *out) {
    u32 code[LABEL_LONGEST + 1], n = 0;
    for (const u32 *words; (words = intern_words(&x->labels, label))[0] != NONE; label = words[0]) code[n++] = words[1];
    *out = (label_text){0};
    while (n) label_append(out, code[--n]);
}

static rx_id label_node(rx_arena *x, rx_id part, u32 label, u32 begun) {
    if (part == NONE || label == NONE) return NONE;
    if (part == RX_ID_NEVER || (part == RX_ID_EMPTY && begun)) return RX_ID_NEVER;
    if (part == RX_ID_EMPTY) return RX_ID_EMPTY;
    u32 flags = (x->meta.at[part].flags & RX_TEXT) | RX_FINITE | (rx_nullable(x, part) && !begun ? RX_NULLABLE : 0u);
    return rx_intern(x, (u32[]){RX_LABEL, part, label, begun}, 4, flags, x->meta.at[part].depth + 1u);
}

/* The bytes outside of ASCII in which a bit is set. */
byte_set rx_label_bytes(u32 bit) {
    byte_set set = {{0}};
    for (u32 byte = 0x80; byte < 0x100; byte++)
        if (byte >> bit & 1) set_add(&set, byte);
    return set;
}

rx_id rx_label(rx_arena *x, rx_id part) {
    for (u32 bit = 0; bit < 7; bit++) { /* tell all bytes outside of ASCII apart */
        byte_set set = rx_label_bytes(bit);
        if (intern(x->b, &x->sets, set.w, 8, NULL) == NONE) return NONE;
    }
    x->has_label = true;
    return label_node(x, part, intern(x->b, &x->labels, (u32[]){NONE, 0}, 2, NULL), 0);
}

rx_id rx_label_step(rx_arena *x, const u32 *node, u32 byte) {
    u32 label = node[2], begun = node[3] << 8 | byte, low = PLAIN, high = PLAIN;
    rx_id part = rx_derive(x, node[1], byte);
    if (part == NONE || part == RX_ID_NEVER) return part;
    if (begun >= FIRST_FAR && !utf8_range(begun, &low, &high)) return RX_ID_NEVER;
    label_text text;
    rx_label_text(x, label, &text);
    if (low < high) return may_fit_with(&text, low, high) ? label_node(x, part, label, begun) : RX_ID_NEVER;
    label_append(&text, low);
    return label_fits(&text) ? label_node(x, part, intern(x->b, &x->labels, (u32[]){label, low}, 2, NULL), 0) : RX_ID_NEVER;
}
