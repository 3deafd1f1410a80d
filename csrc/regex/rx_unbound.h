/* Expressions without the bounds of labels, and whether a text keeps them. See rx_unbound.c. */
#ifndef GE_RX_UNBOUND_H
#define GE_RX_UNBOUND_H

#include "rx_label.h"

enum { RX_ENDING = 128 }; /* bytes of one at most */

typedef struct label_state { /* a label that an expression goes on with */
    u32 text, begun;         /* as in its node */
    u32 most_plain;          /* it fits with so many more characters of ASCII, and no more */
    label_text read;
} label_state;

typedef VEC(label_state) rx_labels;

/* `id` with labels of any length. NONE on failure. */
rx_id rx_unbound(rx_arena *x, rx_id id);

/* May a string of `id` begin within an A-label, behind `xn--`? */
bool rx_begins_with_punycode(const rx_arena *x, rx_id id);

/* Appends a short string of `id`, *found: if there is one. False on failure. */
bool rx_ending_text(rx_arena *x, rx_id id, byte_vec *out, bool *found);

/* Adds the labels of `id`; *raw = false: it is within an escape. False on failure. */
bool rx_add_labels(rx_arena *x, rx_id id, rx_labels *out, bool *raw);

/* True => if the text belongs to what rx_unbound makes of an expression that has these labels, so does it to the expression. */
bool rx_keeps_labels(const rx_labels *labels, const u8 *text, u32 n);

/* So that rx_keeps_labels is true of any text, or of what a text of JSON spells, of at most so many bytes. */
u32 rx_sure_bytes(const rx_labels *labels);

#endif
