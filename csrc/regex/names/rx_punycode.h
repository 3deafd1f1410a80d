/* What follows `xn--` in A-labels, as texts. See rx_punycode.c. */
#ifndef GE_RX_PUNYCODE_H
#define GE_RX_PUNYCODE_H

#include "../rx.h"
#include "rx_ulabel.h"

typedef struct puny_text { /* a text that was read, and of which set it is to be */
    ulabel_set set;
    u32 n;
    u8 at[ULABEL_LONGEST + 1];
} puny_text;

/* The byte in lower case; 0: it is in no such text. */
u8 puny_char(u32 byte);

/* Can it become an A-label of the set with at most `room` octets more? Exact, unless the budget fails. *length: so many will do. */
bool puny_finish(rx_arena *x, const puny_text *s, u32 room, u32 *length);
/* Appends what makes an A-label of the set of it, at most `room` octets. False: there is no such way, or none that comes to mind. */
bool puny_append_way(rx_arena *x, puny_text *s, u32 room);
ulabel_verdict puny_end(const puny_text *s);

#endif
