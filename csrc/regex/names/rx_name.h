/* Internationalised host names: their labels one by one, by RFC 5890 to 5893, and how many octets they take. See rx_name.c. */
#ifndef GE_RX_NAME_H
#define GE_RX_NAME_H

#include "rx_label.h"
#include "rx_punycode.h"
#include "rx_ulabel.h"

enum { NAME_OCTETS = 253 }; /* RFC 1034, section 3.1: 255 with the length of the first label and that of the root */
enum { DOMAIN_OCTETS = 255 }; /* RFC 5321, section 4.5.3.1.2 */

static inline u32 name_octets(u32 options) { return options & RX_OF_MAIL ? DOMAIN_OCTETS : NAME_OCTETS; }

typedef enum name_form { /* of the label at hand, as far as it was read */
    NAME_XN,      /* ASCII, and a beginning of `xn--` */
    NAME_ASCII,
    NAME_UNICODE, /* a U-label */
    NAME_ENCODED  /* an A-label: what is behind `xn--` */
} name_form;

typedef struct rx_name { /* a node, word by word */
    u32 kind;
    u32 options;
    u32 used;  /* octets of the labels before, and their dots */
    u32 set;   /* of labels that may come, a ulabel_set */
    u32 form;
    u32 n;     /* characters of the label, unless it is a U-label */
    u32 is_hyphen; /* the last one */
    u32 state; /* of the label as a U-label, packed; 0: it is none */
    u32 text;  /* of the U-label or behind `xn--`: an id in `labels` */
    u32 begun; /* bytes of a character */
    ulabel_open open; /* only as many words as there are */
} rx_name;

rx_name rx_name_of(const rx_arena *x, rx_id id); /* that a node is */

typedef struct name_state { /* what matters of a name for the octets that it will have */
    u32 used, begun; /* as in its node */
    u32 limit;       /* octets of a whole name */
    u32 most;        /* so many characters may begin; NONE: any number */
    u32 octets;      /* of the label at hand, if it was asked for; else 0 */
    u8 n_more;       /* so many that are not known may have to follow to make a label of it */
    bool any_form, ended;
    label_text read; /* of the label at hand; if it is no U-label, so many characters of ASCII */
    ulabel_open open;
} name_state;

/* A byte that leads to the end of a label, where few do; else NONE. */
u32 rx_name_likely_byte(rx_arena *x, rx_id id);

/* The text of the A-label under way; *room: for so many octets more. False: there is none. */
bool rx_name_encoded(const rx_arena *x, rx_id id, puny_text *text, u32 *room);

bool rx_name_read(const rx_arena *x, rx_id id, name_state *out); /* false: nothing was read of it */

#endif
