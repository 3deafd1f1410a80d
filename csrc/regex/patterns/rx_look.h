/* Look-around. See rx_look.c and rx_ahead.c. */
#ifndef GE_RX_LOOK_H
#define GE_RX_LOOK_H

#include "rx_operand.h"

/* What the "(?" at the cursor opens; the cursor is then behind it. RX_NO_LOOK: something else, and the cursor stays. */
rx_look rx_read_look(rx_reader *r);

/* What is on top of the values is the body of a look-around, whose "(" is at `offset`: -> the look-around. */
bool rx_push_look(rx_parser *p, rx_look look, u32 offset);

/* v{low,high}, where v is a part with look-around. */
bool rx_push_repeated(rx_parser *p, rx_value v, u32 low, u32 high);

/* The members from `first` on -> a part of the pattern, as an operand. */
bool rx_push_part(rx_parser *p, rx_part_kind kind, u32 first);

/* The branch at hand, which has look-around -> other operands: look-around that sees no further than the branch is worked into what it
 * sees, and if there is other look-around, the branch is one operand. */
bool rx_reduce_looks(rx_parser *p);

/* The texts that a pattern matches whose value is a part. NONE on failure. */
rx_id rx_part_id(rx_parser *p, rx_value v);

static inline bool rx_has_parts(const rx_parser *p, u32 from) {
    for (u32 i = from; i < p->values.n; i++)
        if (p->values.at[i].kind == V_PART) return true;
    return false;
}

#endif
