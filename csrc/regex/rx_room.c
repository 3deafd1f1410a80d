/* Room: how many more characters a string in quotes may have, apart from what else is asked of it.
 *
 *     QUOTE(p{0,90} & L) "   =   the strings of QUOTE(text & L) " of at most 90 characters
 *
 * Where L is not simple, each number of characters is an expression of its own, and so are all that follow from it. Without that bound they
 * recur. Whether a text t can be completed within it is then a matter of numbers: of the characters that begin in t, and of those that must
 * still begin in what is left of the expression after t. A character begins with its first byte, in an escape with the backslash of it (or
 * of the first half of two), so where it ends does not matter. */
#include "rx.h"

enum { LENGTHS = 4 }; /* how many numbers of characters are tried, from the least that structure allows */

/* A repeat, perhaps behind the rest of a character, with this upper bound. */
static rx_id with_most(rx_arena *x, rx_id id, u32 most) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] == RX_REPEAT) return rx_repeat(x, node[1], node[2], most);
    rx_id head = node[1], tail = with_most(x, node[2], most); /* depth: 3 */
    return rx_concat(x, head, tail);
}

/* Is it the rest of a string in quotes, QUOTE(...) and then a quotation mark, and
 * perhaps what skips some bytes? Or less of that: then *quote is RX_ID_EMPTY. */
static bool is_quoted(const rx_arena *x, rx_id id, rx_id *quote) {
    const u32 *node = intern_words(&x->nodes, id);
    *quote = RX_ID_EMPTY;
    if (node[0] == RX_CONCAT && rx_kind_of(x, node[1]) == RX_QUOTE) {
        *quote = node[1];
        id = node[2];
        node = intern_words(&x->nodes, id);
        if (!rx_begins_with_mark(x, id)) return false;
    }
    if (node[0] == RX_CONCAT && rx_begins_with_mark(x, id)) id = node[2], node = intern_words(&x->nodes, id);
    if (node[0] == RX_REPEAT) return rx_kind_of(x, node[1]) == RX_SET;
    return node[0] == RX_SET || node[0] == RX_EMPTY;
}

/* The upper bound of a length; NONE: it is none, or has none. */
static u32 upper_bound(const rx_arena *x, rx_id id) {
    u32 least, most;
    return rx_is_length(x, id, &least, &most) ? most : NONE;
}

/* The least bound of the lengths in the intersection that is quoted: a format has one, and the schema another. NONE: there is none. */
static u32 find_room(const rx_arena *x, rx_id id, rx_id *quote) {
    if (!is_quoted(x, id, quote) || *quote == RX_ID_EMPTY) return NONE;
    const u32 *node = intern_words(&x->nodes, *quote), *parts = intern_words(&x->nodes, node[1]);
    u32 room = NONE;
    if (node[3] || parts[0] != RX_AND) return NONE;
    for (u32 i = 1; i < intern_length(&x->nodes, node[1]); i++) room = min_u32(room, upper_bound(x, parts[i]));
    return room;
}

u32 rx_room(const rx_arena *x, rx_id id) {
    rx_id quote;
    return find_room(x, id, &quote);
}

u32 rx_only_room(rx_arena *x, rx_id id) {
    rx_id quote;
    u32 room = find_room(x, id, &quote);
    if (room == NONE) return NONE;
    const u32 *parts = intern_words(&x->nodes, intern_words(&x->nodes, quote)[1]); /* no node is made below, so it stays */
    for (u32 i = 1; i < intern_length(&x->nodes, intern_words(&x->nodes, quote)[1]); i++)
        if (upper_bound(x, parts[i]) == NONE && rx_count_chars(x, parts[i]).most != RX_NO_LENGTH) return NONE;
    return room;
}

rx_id rx_without_room(rx_arena *x, rx_id id) {
    rx_id quote;
    u32 node[5];
    id_vec parts = {0};
    if (find_room(x, id, &quote) == NONE) return id;
    memcpy(node, intern_words(&x->nodes, quote), sizeof node);
    bool ok = true;
    for (u32 i = 1; ok && i < intern_length(&x->nodes, node[1]); i++) {
        rx_id part = intern_words(&x->nodes, node[1])[i];
        if (upper_bound(x, part) != NONE) part = with_most(x, part, NONE);
        ok = part != NONE && vec_push(x->b, &parts, part);
    }
    rx_id all = ok ? rx_and(x, parts.at, parts.n) : NONE;
    vec_drop(x->b, &parts);
    return all == NONE ? NONE : rx_concat(x, rx_quote_again(x, all, node), intern_words(&x->nodes, id)[2]);
}

bool rx_begins_char(u32 byte) { return byte != '"' && (byte < 0x80 || byte >= 0xc0); }

bool rx_sees_room(const rx_arena *x, rx_id id, bool *raw) {
    rx_id quote;
    if (!is_quoted(x, id, &quote)) return false;
    *raw = quote != RX_ID_EMPTY && intern_words(&x->nodes, quote)[3] == 0;
    return true;
}

/* The rest of a character, and as many as `n` more. */
static rx_id chars_up_to(rx_arena *x, u32 n) {
    byte_set go_on = {{0}};
    for (u32 byte = 0x80; byte < 0xc0; byte++) set_add(&go_on, byte);
    rx_id rest = rx_repeat(x, rx_set(x, &go_on), 0, 3);
    return rx_concat(x, rest, rx_repeat(x, intern_words(&x->nodes, x->text)[1], 0, n));
}

/* In an escape one character has begun, and is still the first of the operand. */
bool rx_least_to_begin(rx_arena *x, rx_id id, u32 *least) {
    rx_id quote;
    *least = NONE;
    if (!is_quoted(x, id, &quote)) return true;
    if (quote == RX_ID_EMPTY || rx_nullable(x, quote)) return *least = 0, true;
    u32 node[5];
    memcpy(node, intern_words(&x->nodes, quote), sizeof node);
    u32 begun = node[3] != 0, from = max_u32(begun, rx_count_chars(x, node[1]).least);
    for (u32 n = from; *least == NONE && n < from + LENGTHS; n++) {
        rx_id length = chars_up_to(x, n), rest = length == NONE ? NONE : rx_and(x, (rx_id[]){node[1], length}, 2);
        rx_id again = rest == NONE ? NONE : rx_quote_again(x, rest, node);
        if (again == NONE) return false;
        if (!rx_is_empty(x, again)) *least = n - begun;
    }
    return x->b->status == GE_OK;
}

/* The characters behind what is left of one, in counted text. NONE: it is none. */
static rx_id counted_part(rx_arena *x, rx_id id) {
    for (u32 depth = 0; depth <= 3; depth++) {
        const u32 *node = intern_words(&x->nodes, id);
        if (node[0] == RX_REPEAT) return node[3] != NONE ? id : NONE;
        if (node[0] != RX_CONCAT || rx_count_chars(x, node[1]).most != 0) break;
        id = intern_words(&x->nodes, id)[2];
    }
    return NONE;
}

rx_counted rx_counts_chars(rx_arena *x, rx_id id, u32 *least, u32 *room) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] != RX_CONCAT || rx_kind_of(x, node[1]) != RX_QUOTE) return RX_UNCOUNTED; /* that is soon seen */
    rx_id tail = node[2], part = intern_words(&x->nodes, node[1])[1];
    bool raw = intern_words(&x->nodes, node[1])[3] == 0;
    rx_id counted = counted_part(x, part);
    if (counted == NONE || !rx_begins_with_mark(x, tail) || !(x->meta.at[tail].flags & RX_INHABITED)) return RX_UNCOUNTED;
    rx_id one = intern_words(&x->nodes, counted)[1];
    *least = intern_words(&x->nodes, counted)[2];
    *room = intern_words(&x->nodes, counted)[3];
    bool any = x->text != NONE && intern_words(&x->nodes, x->text)[1] == one;
    rx_n_chars n = rx_count_chars(x, one);
    if ((!any && (n.least != 1 || n.most != 1)) || (!raw && counted != part)) return RX_UNCOUNTED;
    if (!raw || counted != part) return RX_IN_CHAR;
    return *least ? RX_OWES_CHARS : any ? RX_AT_ANY_CHAR : RX_AT_CHAR;
}

rx_id rx_with_room(rx_arena *x, rx_id id, u32 room) {
    u32 tail = intern_words(&x->nodes, id)[2], quote[5];
    memcpy(quote, intern_words(&x->nodes, intern_words(&x->nodes, id)[1]), sizeof quote);
    rx_id part = with_most(x, quote[1], room), again = part == NONE ? NONE : rx_quote_again(x, part, quote);
    return again == NONE ? NONE : rx_concat(x, again, tail);
}
