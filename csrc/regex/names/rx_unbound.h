/* Expressions without the bounds of names, and whether a text keeps them. See rx_unbound.c. */
#ifndef GE_RX_UNBOUND_H
#define GE_RX_UNBOUND_H

#include "rx_name.h"

enum { RX_ENDING = 256 }; /* bytes of one at most: a name has no more */

typedef struct rx_names { /* what an expression asks of a text that rx_unbound does not */
    VEC(name_state) at; /* names that it goes on with */
    u32 most;           /* characters that begin in it; NONE: any number */
    bool raw;           /* it is not within an escape */
} rx_names;

typedef enum name_change { /* what names become */
    NAMES_UNBOUND,            /* of any length, and without the most characters of what they are in */
    NAMES_UNBOUND_IN_LENGTHS, /* of any length */
    NAMES_LATE,               /* of the same length, which is asked for late (RX_LATE) */
    NAMES_NONE,               /* nothing */
    BARRED_UNBOUND,           /* of those inside a complement: of any length. What is left of it is smaller */
    BARRED_NONE               /* ... nothing. What is left of it is larger */
} name_change;

/* `id` with other names, all outside complements or all inside one. NONE on failure. */
rx_id rx_change_names(rx_arena *x, rx_id id, name_change change);

/* `id` with names of any length, and without the most characters of what names are in. NONE on failure. */
rx_id rx_unbound(rx_arena *x, rx_id id);

/* A part of an intersection that is a name. NONE: there is none. */
rx_id rx_name_part(const rx_arena *x, rx_id id);

/* May a string of `id` begin within an A-label, behind `xn--`? */
bool rx_begins_with_punycode(const rx_arena *x, rx_id id);

/* Are all strings of `id` the rest of a string in quotes that goes on with a name, of which something was read? */
bool rx_goes_on_with_name(const rx_arena *x, rx_id id);

/* Adds the names of `id` to what is asked by others. False on failure. */
bool rx_add_names(rx_arena *x, rx_id id, rx_names *out);
static inline rx_names rx_no_names(void) { return (rx_names){.most = NONE, .raw = true}; }
static inline void rx_drop_names(rx_arena *x, rx_names *names) { vec_drop(x->b, &names->at); }

/* --- lengths (rx_length.c) -------------------------------------------------------------------------------------------------- */

/* The rest of a string in quotes, if it goes on with a name, has no fewer characters. */
u32 rx_least_in_quotes(rx_arena *x, rx_id id);

/* --- endings (rx_ending.c) -------------------------------------------------------------------------------------------------- */

/* Appends a short string of `id`, *found: if there is one. False on failure. */
bool rx_ending_text(rx_arena *x, rx_id id, byte_vec *out, bool *found);

bool rx_has_ending(const rx_arena *x, rx_id id); /* one is known */
/* Follows likely bytes as long as some are known, and lead to what was not there before. False on failure. */
bool rx_follow_likely(rx_arena *x, rx_id id);

/* --- what fits (rx_fit.c) ------------------------------------------------------------------------------------------------------ */

/* True => if the text belongs to what rx_unbound makes of an expression that asks this, so does it to the expression. */
bool rx_keeps_names(const rx_names *names, const u8 *text, u32 n);

/* A name in quotes byte by byte, until it has ended: with a text that rx_unbound
 * allows it can go on, as far as it is concerned; it cannot; or that is not known. */
typedef enum name_fit { NAME_FITS, NAME_BREAKS, NAME_UNKNOWN } name_fit;
name_fit rx_name_byte(name_state *s, u32 byte);

/* What names have at most, read byte by byte: of the label at hand so many characters of ASCII and others, of a sort as in
 * label_most_plain. Any form is allowed for: a character counts as those that it is decomposed to. */
typedef struct name_bound {
    u32 begun;
    u32 n_left; /* so many more characters may begin; NONE: any number */
    u16 used;
    u8 n_plain, n_far, sort, n_more;
    /* no label before was in doubt, nor is this one by its characters alone, and no escape came; else the rest is of no use */
    bool is_known;
} name_bound;

name_bound rx_bound_of(const rx_names *names);
void rx_bound_byte(name_bound *b, u32 byte);
bool rx_bound_holds(const name_bound *b); /* true => rx_keeps_names is true of the bytes that were read, and of beginnings of them */

/* The most that some texts have, each by itself: characters of ASCII that labels have; others, as those that they are decomposed to; and
 * characters that no label has. NAME_ANY: any number, or there may be an A-label or an escape among them. */
typedef struct name_reach {
    u8 n_plain, n_far, n_others;
} name_reach;

enum { NAME_ANY = UINT8_MAX };

void rx_reach_char(name_reach *r, u32 code, u32 before); /* a character in front of the texts, and the byte before it */
void rx_reach_part(name_reach *r);                       /* it may be that there is only the beginning of a character beyond ASCII */

/* True => it holds behind any of these texts, and what names have begun there can be finished, if they may have any length. */
bool rx_bound_lasts(const name_bound *b, const name_reach *r);
/* of a name that begins in a text */
static inline name_bound rx_fresh_bound(void) { return (name_bound){.n_left = NONE, .is_known = true}; }

#endif
