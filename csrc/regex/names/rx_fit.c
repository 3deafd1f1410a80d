/* Do names fit? A text byte by byte, behind what was read of names.
 *
 * Exactly, as far as a label can be told to fit without a search: by how many characters it has, else by asking Punycode. And roughly, for
 * names that may begin anywhere in a text: the most that any run of characters of labels takes. */
#include "rx_unbound.h"
#include "rx_grow.h"
#include "../utf8.h"

static bool is_of_label(u32 code) {
    if (code == 0x3002 || code == 0xff0e || code == 0xff61) return false;
    return code >= 0x80 || code == '-' || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

/* The label with the characters that are open, as they are. False: there are too many. */
static bool close_label(label_text *label, const ulabel_open *open) {
    u32 closed[ULABEL_OPEN], n = ulabel_close(open, closed);
    if (label->n + n > LABEL_OCTETS) return false;
    for (u32 i = 0; i < n; i++) label_append(label, closed[i] < FIRST_FAR ? PLAIN : closed[i]);
    return true;
}

static u32 room_left(const name_state *s) { return s->used > s->limit ? 0 : min_u32(LABEL_OCTETS, s->limit - s->used); }

/* The octets of the label at hand, as it is; more than LABEL_OCTETS: too many. */
static u32 octets_of(name_state *s) {
    if (s->octets) return s->octets;
    if (s->open.n == 0) return s->octets = s->read.n_far ? LABEL_PREFIX + label_octets(&s->read) : s->read.n;
    label_text label = s->read;
    if (!close_label(&label, &s->open)) return s->octets = LABEL_OCTETS + 1;
    return s->octets = label.n_far ? LABEL_PREFIX + label_octets(&label) : label.n;
}

/* False => it takes more octets, whatever follows that is not composed with it. */
static bool may_grow(const name_state *s, u32 room) {
    label_text label = s->read;
    return close_label(&label, &s->open) && label_may_grow(&label, room - min_u32(room, LABEL_PREFIX));
}

/* Whether the label at hand can be finished (rx_name.c): it fits, and is a label as it is, or any few characters more fit. */
static name_fit fit_of_beginning(name_state *s) {
    u32 n_plain = s->read.n - s->read.n_far, n_far = s->read.n_far + s->open.n, room = room_left(s);
    if (n_far == 0) return n_plain <= room ? NAME_FITS : NAME_BREAKS;
    if (room == LABEL_OCTETS && label_is_sure(n_plain, n_far + s->n_more, s->n_more || s->open.n ? 2 : s->read.sort)) return NAME_FITS;
    if (s->n_more) return NAME_UNKNOWN;
    if (octets_of(s) <= room) return NAME_FITS;
    return ulabel_next_second(&s->open, 0) == NONE && !may_grow(s, room) ? NAME_BREAKS : NAME_UNKNOWN;
}

/* At a dot, behind which a character has to come, or where the name ends. */
static name_fit end_label(name_state *s, bool is_dot) {
    u32 octets = octets_of(s);
    if (octets > LABEL_OCTETS || s->used + octets + (is_dot ? 2 : 0) > s->limit) return NAME_BREAKS;
    s->used += octets + 1;
    s->n_more = 0;
    s->octets = s->open.n = 0;
    s->ended = !is_dot;
    memset(&s->read, 0, sizeof s->read);
    return NAME_FITS;
}

name_fit rx_name_byte(name_state *s, u32 byte) {
    u32 code = byte, high = byte, decided[ULABEL_OPEN], n = 1;
    if (s->ended) return NAME_FITS;
    if ((byte & 0xc0) != 0x80 && byte != '"' && s->most != NONE && s->most-- == 0) return NAME_BREAKS;
    s->begun = s->begun << 8 | byte;
    if (s->begun >= FIRST_FAR && !utf8_range(s->begun, &code, &high)) return NAME_BREAKS;
    if (code < high) return NAME_FITS;
    s->begun = 0;
    if (code == '\\') return NAME_UNKNOWN;
    if (!is_of_label(code)) return end_label(s, code == '.' || code >= FIRST_FAR);
    decided[0] = code;
    if (s->any_form && !ulabel_normalise(&s->open, code, decided, &n)) return NAME_BREAKS;
    if (s->read.n + n > LABEL_OCTETS) return NAME_BREAKS;
    s->octets = 0;
    for (u32 i = 0; i < n; i++) label_append(&s->read, decided[i] < FIRST_FAR ? PLAIN : decided[i]);
    if (!ulabel_keeps_ends(code)) s->n_more = ULABEL_MORE;
    return fit_of_beginning(s);
}

/* --- bounds ---------------------------------------------------------------------------------------------------------------- */

name_bound rx_bound_of(const rx_names *names) {
    name_bound b = {.n_left = names->most, .is_known = names->raw};
    for (u32 i = 0; i < names->at.n; i++) {
        const name_state *name = &names->at.at[i];
        if (i && name->begun != b.begun) b.is_known = false;
        b.begun = name->begun;
        b.used = (u16)max_u32(b.used, name->used);
        b.n_plain = (u8)max_u32(b.n_plain, name->read.n - name->read.n_far);
        b.n_far = (u8)max_u32(b.n_far, name->read.n_far + name->open.n);
        b.n_more = (u8)max_u32(b.n_more, name->n_more);
        b.sort = (u8)max_u32(b.sort, name->read.sort);
        for (u32 k = 0; k < name->open.n; k++)
            b.sort = (u8)max_u32(b.sort, ulabel_is_second(name->open.code[k]) ? 2 : label_sort(name->open.code[k]));
    }
    return b;
}

static u32 most_octets(const name_bound *b) { return b->n_far ? LABEL_OCTETS : b->n_plain; }

bool rx_bound_holds(const name_bound *b) {
    u32 n_more = b->n_far ? b->n_more : 0;
    return b->is_known && !b->begun && label_is_sure(b->n_plain, b->n_far + n_more, n_more ? 2 : b->sort) &&
           b->used + most_octets(b) <= NAME_OCTETS;
}

static void bound_char(name_bound *b, u32 code) {
    u32 highest;
    if (!is_of_label(code)) {
        b->is_known &= code != '\\' && rx_bound_holds(b);
        b->used = (u16)(b->used + most_octets(b) + 1);
        b->n_plain = b->n_far = b->sort = b->n_more = 0;
    } else if (code < FIRST_FAR) {
        b->n_plain++;
        if (code == '-') b->n_more = ULABEL_MORE;
    } else {
        b->n_far = (u8)(b->n_far + ulabel_n_parts(code, &highest));
        b->sort = (u8)max_u32(b->sort, max_u32(ulabel_is_second(code) ? 2 : 0, label_sort(highest)));
        if (!ulabel_keeps_ends(code)) b->n_more = ULABEL_MORE;
    }
    b->is_known &= b->n_plain + b->n_far <= LABEL_OCTETS;
}

void rx_bound_byte(name_bound *b, u32 byte) {
    u32 low = byte, high = byte;
    if ((byte & 0xc0) != 0x80 && b->n_left != NONE) {
        b->is_known &= b->n_left > 0;
        b->n_left -= b->n_left > 0;
    }
    b->begun = b->begun << 8 | byte;
    if (b->begun >= FIRST_FAR && !utf8_range(b->begun, &low, &high)) b->is_known = false;
    else if (low < high) return;
    b->begun = 0;
    if (b->is_known) bound_char(b, low);
}

static u8 add_up_to_any(u8 n, u32 more) { return (u8)min_u32(n + more, NAME_ANY); }

void rx_reach_char(name_reach *r, u32 code, u32 before) {
    u32 highest;
    if (code == '\\' || (code == '-' && (before == '-' || before == NONE))) r->n_others = NAME_ANY; /* xn-- may come of it */
    else if (!is_of_label(code)) r->n_others = add_up_to_any(r->n_others, 1);
    else if (code < FIRST_FAR) r->n_plain = add_up_to_any(r->n_plain, 1);
    else r->n_far = add_up_to_any(r->n_far, ulabel_n_parts(code, &highest));
}

void rx_reach_part(name_reach *r) {
    r->n_far = (u8)max_u32(r->n_far, ULABEL_MOST);
    r->n_others = (u8)max_u32(r->n_others, 1);
}

bool rx_bound_lasts(const name_bound *b, const name_reach *r) {
    u32 n_plain = b->n_plain + r->n_plain, n_far = b->n_far + r->n_far, n_more = n_far ? ULABEL_MORE : 0;
    if (!b->is_known || b->n_left != NONE || r->n_others == NAME_ANY) return false;
    u32 octets = n_far ? LABEL_OCTETS : n_plain + ULABEL_MORE;
    return label_is_sure(n_plain, n_far + n_more, n_far ? 2 : 0) && b->used + (r->n_others + 1) * (octets + 1) <= NAME_OCTETS;
}

static u32 n_chars_begun(const u8 *text, u32 n) {
    u32 chars = 0;
    for (u32 i = 0; i < n; i++) chars += (text[i] & 0xc0) != 0x80;
    return chars;
}

/* Where the text ends, the name does. */
static bool keeps_name(name_state name, const u8 *text, u32 n) {
    for (u32 i = 0; i < n; i++)
        if (rx_name_byte(&name, text[i]) != NAME_FITS) return false;
    return !name.begun && end_label(&name, false) == NAME_FITS;
}

bool rx_keeps_names(const rx_names *names, const u8 *text, u32 n) {
    name_bound fresh = rx_fresh_bound(); /* a name may begin anywhere in the text, and then a label has any part of a run of characters */
    if (!names->raw || n_chars_begun(text, n) > names->most) return false;
    for (u32 i = 0; i < names->at.n; i++) {
        const name_state *name = &names->at.at[i];
        if (fresh.begun && name->begun && name->begun != fresh.begun) return false;
        fresh.begun |= name->begun;
        if (!keeps_name(*name, text, n)) return false;
    }
    for (u32 i = 0; i < n; i++) rx_bound_byte(&fresh, text[i]);
    return rx_bound_holds(&fresh);
}
