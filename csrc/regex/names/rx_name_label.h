/* A U-label as far as it was read: its text, where the automaton of labels is, and what normalisation keeps open. See rx_name_label.c. */
#ifndef GE_RX_NAME_LABEL_H
#define GE_RX_NAME_LABEL_H

#include "rx_label.h"
#include "rx_ulabel.h"

typedef struct name_label {
    label_text text; /* what is decided */
    ulabel_state state;
    ulabel_set set;
    bool any_form; /* normalisation form C makes a label of it */
    ulabel_open open;
} name_label;

/* Reads a character; decides what is open. False: then it is no beginning of a label, whatever its length. */
bool name_label_append(name_label *l, u32 code);
bool name_label_close(name_label *l);

/* Within `room` octets, is it a label, or one with the fewest characters that
 * make one of it? ... if one of these comes next? Exact, unless the budget fails. */
bool name_label_can_finish(budget *b, const name_label *l, u32 room);
bool name_label_can_finish_with(budget *b, const name_label *l, u32 low, u32 high, u32 room);

/* Within `room` octets, is there any label that goes on with one of these? *first: with which. */
bool name_label_can_grow(budget *b, const name_label *l, u32 low, u32 high, u32 room, u32 *first);

/* of these the first with which it can go on, whatever its length; NONE: none */
u32 name_label_first(const name_label *l, u32 low, u32 high);
u32 name_label_likely(const name_label *l); /* a character on a short way to its end, whatever its length */

#endif
