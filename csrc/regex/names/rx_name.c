/* NAME(options): internationalised host names. A native expression that reads labels of three forms:
 *
 *     www                letters, digits, hyphens (RFC 1123, section 2.1)
 *     xn--bcher-kva      A-labels, decoded while they are read (rx_punycode.c)
 *     bücher             U-labels: a state of the automaton and what normalisation has to remember (rx_ulabel.c)
 *
 * and what holds of a whole name: it has at most 253 octets as A-labels, 63 each; and if it has characters that are written from right to
 * left, RFC 5893 asks something of all labels. What kind of labels may still come is the set of a node. The domains of addresses
 * (RX_OF_MAIL) are simpler: what is in ASCII is not decoded, and each label stands alone.
 *
 * A node is *bounded* or not. In a bounded one octets are counted: it knows the text of its label, so such nodes do not recur. Without the
 * bounds they are a few hundred, and stand for the others where the bounds do no harm (rx_unbound.c).
 *
 * Inside a complement a bounded node is *late* (RX_LATE): whether more characters make a name of it is
 * not asked, since of what is no name yet nothing is left out. Octets are counted where a label ends.
 *
 * In any form (RX_ANY_FORM) a label is one of which normalisation form C makes a U-label. Then a state of the automaton is that of the
 * characters that are decided, and those that more may be composed with are kept open (ulabel_open).
 *
 * Every node that is made is inhabited, but for late ones. Without bounds any label that is not dead can be finished (ULABEL_MORE). With
 * them a beginning of a U-label is *alive* if it, or what it is composed to with one more character, fits and is a label, or fits with the
 * fewest characters that make one of it; or else if any longer label fits, which is rare (rx_name_label.c). What is alive has a next
 * character behind which it is alive, or is a label; and what is not has no future. In any form that holds of texts in form C: their
 * beginnings are in form C, and what is open of them stays as it is. A few others are left out, whose beginning takes too many octets until
 * more characters are composed with it. */
#include "rx_name.h"
#include "rx_name_label.h"
#include "../utf8.h"

enum { NAME_HEAD = offsetof(rx_name, open.code) / sizeof(u32), XN = 4 };

static bool is_bounded(const rx_name *s) { return s->options & RX_BOUNDED; }
static bool is_of_mail(const rx_name *s) { return s->options & RX_OF_MAIL; }
static bool is_late(const rx_name *s) { return s->options & RX_LATE; }
static u32 pack(ulabel_state s) { return s.at ? s.at | (u32)s.first << 8 | (u32)s.order << 16 : 0; }
/* In any form what is decided is normal, so that nothing of it matters but where the automaton is. */
static u32 pack_of(const rx_name *s, ulabel_state state) { return pack(s->options & RX_ANY_FORM ? (ulabel_state){.at = state.at} : state); }
static ulabel_state unpack(u32 s) { return (ulabel_state){(u8)s, (u8)(s >> 8), (u8)(s >> 16)}; }

static bool is_dot(const rx_name *s, u32 code) {
    return code == '.' || (s->options & RX_ALL_DOTS && (code == 0x3002 || code == 0xff0e || code == 0xff61));
}

/* --- labels ---------------------------------------------------------------------------------------------------------------- */

static u32 text_length(const rx_arena *x, u32 text) {
    u32 length = 0;
    for (const u32 *words = intern_words(&x->labels, text); words[0] != NONE; words = intern_words(&x->labels, words[0])) length++;
    return length;
}

static void text_codes(const rx_arena *x, u32 text, u32 *code, u32 *n) {
    u32 length = *n = text_length(x, text);
    for (const u32 *words = intern_words(&x->labels, text); words[0] != NONE; words = intern_words(&x->labels, words[0]))
        code[--length] = words[1];
}

static void load_label(const rx_arena *x, const rx_name *s, name_label *l) {
    u32 code[LABEL_OCTETS + 1], n;
    text_codes(x, s->text, code, &n);
    memset(&l->text, 0, sizeof l->text);
    for (u32 i = 0; i < n; i++) label_append(&l->text, code[i]);
    l->state = unpack(s->state);
    l->set = (ulabel_set)s->set;
    l->any_form = s->options & RX_ANY_FORM;
    l->open = s->open;
}

static puny_text encoded_text(const rx_arena *x, const rx_name *s) {
    puny_text text = {.set = ULABEL_ANY};
    u32 code[LABEL_OCTETS + 1];
    text_codes(x, s->text, code, &text.n);
    for (u32 i = 0; i < text.n; i++) text.at[i] = (u8)code[i];
    return text;
}

/* What the label at hand is as a whole, and how many octets it takes. */
static ulabel_verdict end_of_label(const rx_arena *x, const rx_name *s, u32 *octets) {
    name_label label;
    *octets = s->n;
    if (s->form == NAME_XN || s->form == NAME_ASCII) return s->n && !s->is_hyphen ? ULABEL_IS_EITHER : ULABEL_NONE;
    if (s->form == NAME_ENCODED) {
        puny_text text = encoded_text(x, s);
        return puny_end(&text) ? ULABEL_IS_EITHER : ULABEL_NONE;
    }
    load_label(x, s, &label);
    if (!name_label_close(&label)) return ULABEL_NONE;
    if (is_bounded(s)) *octets = LABEL_PREFIX + label_octets(&label.text);
    return ulabel_end(label.state, label.set);
}

static u32 room_of(const rx_name *s) { return is_bounded(s) ? min_u32(LABEL_OCTETS, name_octets(s->options) - s->used) : LABEL_OCTETS; }

static bool is_whole(const rx_arena *x, const rx_name *s) {
    u32 octets;
    return !s->begun && end_of_label(x, s, &octets) && (!is_bounded(s) || octets <= room_of(s));
}

/* Can the label be finished? *least: the bytes that takes at least; of an A-label, those of one way. */
static bool is_alive(rx_arena *x, const rx_name *s, u32 *least) {
    u32 room = room_of(s);
    *least = s->n == 0 || s->is_hyphen;
    if (s->form == NAME_XN || s->form == NAME_ASCII) return !is_bounded(s) || s->n + *least <= room;
    if (s->form == NAME_ENCODED) {
        puny_text text = encoded_text(x, s);
        return s->n <= room && puny_finish(x, &text, room - s->n, least);
    }
    name_label label, closed;
    u32 first;
    u8 bytes[4];
    if (is_late(s) && text_length(x, s->text) > LABEL_LONGEST) return false; /* what is decided stays */
    load_label(x, s, &label);
    closed = label;
    bool closes = name_label_close(&closed);
    if (!closes || !ulabel_end(closed.state, closed.set)) *least = utf8_encode(name_label_likely(&label), bytes);
    if (is_bounded(s) && !is_late(s)) {
        room -= min_u32(room, LABEL_PREFIX);
        return name_label_can_finish(x->b, &label, room) || name_label_can_grow(x->b, &label, 0, ULABEL_LAST_CODE, room, &first);
    }
    return closes || ulabel_is_syllable_begun(&label.open, label.state);
}

/* --- nodes ----------------------------------------------------------------------------------------------------------------- */

/* So many bytes of a character that has begun. */
static u32 n_missing(u32 begun) {
    u32 n = begun > 0xffff ? 3 : begun > 0xff ? 2 : 1, first = begun >> 8 * (n - 1);
    return begun < 4 ? begun : (first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4) - n;
}

static rx_id name_node(rx_arena *x, rx_name *s, bool is_known) {
    u32 least = n_missing(s->begun),
        flags = (is_late(s) ? 0u : RX_INHABITED) | (s->begun ? 0u : RX_TEXT) | (is_bounded(s) ? RX_FINITE : 0u);
    if (s->state == 0 && s->form == NAME_UNICODE) return RX_ID_NEVER;
    if (!is_known && !is_alive(x, s, &least)) return x->b->status == GE_OK ? RX_ID_NEVER : NONE;
    if (is_whole(x, s)) flags |= RX_NULLABLE;
    if (x->b->status != GE_OK) return NONE;
    u32 before = intern_count(&x->nodes);
    rx_id id = rx_intern(x, (const u32 *)s, NAME_HEAD + s->open.n, flags, 0);
    if (id != NONE && id >= before && !(flags & RX_NULLABLE)) x->meta.at[id].distance = (u16)max_u32(least, 1);
    return id;
}

rx_name rx_name_of(const rx_arena *x, rx_id id) {
    rx_name s;
    memset(&s, 0, sizeof s);
    memcpy(&s, intern_words(&x->nodes, id), intern_length(&x->nodes, id) * sizeof(u32));
    return s;
}

static u32 empty_text(rx_arena *x) { return intern(x->b, &x->labels, (u32[]){NONE, 0}, 2, NULL); }

static bool begin_label(rx_arena *x, rx_name *s, u32 used, u32 set) {
    *s = (rx_name){.kind = RX_NAME,
                   .options = s->options,
                   .used = used,
                   .set = set,
                   .form = is_of_mail(s) ? NAME_ASCII : NAME_XN,
                   .text = empty_text(x)};
    s->state = pack(ulabel_start((ulabel_set)set));
    return s->text != NONE;
}

rx_id rx_host_name(rx_arena *x, u32 options) {
    rx_name s = {.options = options};
    for (u32 i = 0; i < RX_NAME_SETS; i++) { /* tell the dot and all bytes outside of ASCII apart */
        byte_set set = rx_name_bytes(i);
        if (intern(x->b, &x->sets, set.w, 8, NULL) == NONE) return NONE;
    }
    x->has_name = x->has_punycode = true;
    return begin_label(x, &s, 0, ULABEL_ANY) ? name_node(x, &s, false) : NONE;
}

/* The bytes outside of ASCII in which a bit is set; and the dot. */
byte_set rx_name_bytes(u32 index) {
    byte_set set = {{0}};
    if (index == RX_NAME_SETS - 1) set_add(&set, '.');
    for (u32 byte = 0x80; byte < 0x100; byte++)
        if (byte >> index & 1) set_add(&set, byte);
    return set;
}

/* The next label, behind a dot. False: the one at hand is none, or no other may follow. */
static bool pass_dot(rx_arena *x, rx_name *s) {
    u32 octets;
    ulabel_verdict verdict = end_of_label(x, s, &octets);
    if (!verdict || (is_bounded(s) && (octets > room_of(s) || s->used + octets + 2 > name_octets(s->options)))) return false;
    return begin_label(x, s, is_bounded(s) ? s->used + octets + 1 : 0,
                       is_of_mail(s) ? ULABEL_ANY : ulabel_beside((ulabel_set)s->set, verdict));
}

static bool append_text(rx_arena *x, rx_name *s, u32 code) {
    if (s->form == NAME_ENCODED || is_bounded(s)) s->text = intern(x->b, &x->labels, (u32[]){s->text, code}, 2, NULL);
    return s->text != NONE;
}

/* One more character of a U-label. */
static bool read_far(rx_arena *x, rx_name *s, u32 code) {
    u32 decided[ULABEL_OPEN], n = 1;
    ulabel_state state = unpack(s->state);
    decided[0] = code;
    if (s->options & RX_ANY_FORM && !ulabel_normalise(&s->open, code, decided, &n)) return false;
    for (u32 i = 0; i < n; i++)
        if (!ulabel_step(&state, decided[i]) || !append_text(x, s, decided[i] < FIRST_FAR ? PLAIN : decided[i])) return false;
    s->state = pack_of(s, state);
    return true;
}

static bool is_alnum(u32 code) { return code - '0' < 10 || (code | 0x20) - 'a' < 26; }

static bool is_no_u_label(rx_arena *x, rx_name *s) {
    s->state = s->open.n = 0;
    s->text = empty_text(x);
    return s->text != NONE && x->b->status == GE_OK;
}

/* One more character of a label that was all in ASCII. */
static bool read_ascii(rx_arena *x, rx_name *s, u32 code) {
    u32 lower = code | 0x20;
    if (!is_alnum(code) && (code != '-' || s->n == 0)) return false;
    if (s->n == 0 && code <= '9') { /* RFC 5893 asks for a letter */
        if (s->set == ULABEL_MIXED) return false;
        s->set = ULABEL_LEFT;
        s->state = pack(ulabel_start(ULABEL_LEFT));
    }
    if (s->n == XN - 1 && s->is_hyphen && code == '-' && !is_of_mail(s)) {
        if (s->form != NAME_XN) return false;
        s->form = NAME_ENCODED;
        s->n = XN;
        s->is_hyphen = 0;
        return is_no_u_label(x, s);
    }
    if (s->n >= XN || (code == '-' ? '-' : lower) != (u32)"xn--"[s->n]) s->form = NAME_ASCII;
    s->is_hyphen = code == '-';
    s->n++;
    if (!is_bounded(s)) s->n = min_u32(s->n, XN);
    if (!s->state || ((code < 'A' || code > 'Z') && read_far(x, s, code))) return true;
    return is_no_u_label(x, s);
}

static bool read_char(rx_arena *x, rx_name *s, u32 code) {
    s->begun = 0;
    if (is_dot(s, code)) return pass_dot(x, s);
    if (s->form == NAME_ENCODED) {
        u8 c = code < FIRST_FAR ? puny_char(code) : 0;
        s->n++;
        return c && append_text(x, s, c);
    }
    if (code < FIRST_FAR && s->form != NAME_UNICODE) return read_ascii(x, s, code);
    if (!s->state || (code < FIRST_FAR && !is_alnum(code) && code != '-') || (code >= 'A' && code <= 'Z')) return false;
    if (s->form != NAME_UNICODE) s->form = NAME_UNICODE, s->n = s->is_hyphen = 0;
    return read_far(x, s, code);
}

/* The characters whose spelling begins with some bytes. False: there are none. */
static bool chars_of(u32 bytes, u32 *low, u32 *high) {
    u32 n = bytes > 0xffffff ? 4 : bytes > 0xffff ? 3 : bytes > 0xff ? 2 : 1, first = bytes >> 8 * (n - 1);
    if (!utf8_range(bytes, low, high)) return false;
    *low = max_u32(*low, first < 0x80   ? 0
                         : first < 0xe0 ? 0x80
                         : first < 0xf0 ? 0x800
                                        : 0x10000); /* no spelling longer than it has to be */
    *high = min_u32(*high, ULABEL_LAST_CODE);
    return *low <= *high;
}

/* A character of which some bytes came, from a range. Without bounds, where
 * all of it leads to the same, only how many bytes are missing is kept. */
static rx_id begin_char(rx_arena *x, rx_name *s, u32 begun, u32 low, u32 high) {
    bool has_dot = false, any_form = s->options & RX_ANY_FORM;
    static const u32 dots[] = {0x3002, 0xff0e, 0xff61};
    for (u32 i = 0; i < 3; i++) {
        rx_name other = *s;
        if (dots[i] >= low && dots[i] <= high && is_dot(s, dots[i])) has_dot |= pass_dot(x, &other);
    }
    s->begun = begun;
    if (x->b->status != GE_OK) return NONE;
    if (has_dot) return name_node(x, s, true);
    if (s->form == NAME_ENCODED || !s->state) return RX_ID_NEVER;
    name_label label;
    u32 last, room = room_of(s), n_open = s->open.n + ULABEL_MORE + 3; /* what one more character may be decomposed to */
    load_label(x, s, &label);
    if (name_label_first(&label, low, high) == NONE) return RX_ID_NEVER;
    if (is_bounded(s) && !is_late(s) &&
        (room < LABEL_OCTETS || !label_is_sure(label.text.n - label.text.n_far + n_open, label.text.n_far + n_open, 2))) {
        bool alive = room > LABEL_PREFIX;
        room -= min_u32(room, LABEL_PREFIX);
        alive = alive &&
                (name_label_can_finish_with(x->b, &label, low, high, room) || name_label_can_grow(x->b, &label, low, high, room, &last));
        if (!alive) return x->b->status == GE_OK ? RX_ID_NEVER : NONE;
    }
    if (!is_bounded(s) && (!any_form || ulabel_are_starters(low, high))) { /* they decide on what is open */
        name_label_close(&label);
        s->form = NAME_UNICODE;
        s->open.n = s->n = s->is_hyphen = 0;
        if (ulabel_class_until(low, &last) && last >= high && (!any_form || ulabel_are_closed(low, high))) {
            name_label_append(&label, low);
            s->begun = high - low < 64 ? 1 : high - low < 4096 ? 2 : 3;
        }
        s->state = pack_of(s, label.state);
    }
    return name_node(x, s, true);
}

rx_id rx_name_step(rx_arena *x, rx_id id, u32 byte) {
    rx_name s = rx_name_of(x, id);
    u32 begun = s.begun << 8 | byte, low, high;
    if (s.begun && s.begun < 4) {
        s.begun--;
        return byte >= 0x80 && byte < 0xc0 ? name_node(x, &s, true) : RX_ID_NEVER;
    }
    if (!chars_of(begun, &low, &high)) return RX_ID_NEVER;
    if (low < high) return begin_char(x, &s, begun, low, high);
    if (!read_char(x, &s, low)) return x->b->status == GE_OK ? RX_ID_NEVER : NONE;
    if (!is_bounded(&s)) ulabel_simplify(&s.open);
    return name_node(x, &s, false);
}

rx_id rx_name_unbound(rx_arena *x, rx_id id) {
    rx_name s = rx_name_of(x, id);
    s.options &= ~(u32)(RX_BOUNDED | RX_LATE);
    s.used = 0;
    if (s.form != NAME_ENCODED) s.text = empty_text(x), s.n = min_u32(s.n, XN);
    ulabel_simplify(&s.open);
    if (s.text == NONE) return NONE;
    u32 begun = s.begun, low, high;
    s.begun = 0;
    return begun && chars_of(begun, &low, &high) ? begin_char(x, &s, begun, low, high) : name_node(x, &s, true);
}

rx_id rx_name_late(rx_arena *x, rx_id id) {
    rx_name s = rx_name_of(x, id);
    s.options |= RX_LATE;
    return name_node(x, &s, true);
}

/* --- questions ------------------------------------------------------------------------------------------------------------- */

u32 rx_name_least(const rx_arena *x, rx_id id) {
    rx_name s = rx_name_of(x, id);
    return rx_nullable(x, id) ? 0 : s.form == NAME_ENCODED && !s.begun ? 1 : x->meta.at[id].distance;
}

void rx_name_first(const rx_arena *x, rx_id id, byte_set *out) {
    rx_name s = rx_name_of(x, id);
    bool far = (s.state && s.form != NAME_ENCODED) || s.options & RX_ALL_DOTS;
    memset(out, 0, sizeof *out);
    if (s.begun) {
        set_add_range(out, 0x80, 0xbf);
        return;
    }
    for (u32 byte = 0; byte < 0x80; byte++)
        if (is_alnum(byte) || byte == '-' || byte == '.') set_add(out, byte);
    if (far) set_add_range(out, 0xc2, 0xf4);
}

static u32 likely_digit(rx_arena *x, const rx_name *s) {
    puny_text text = encoded_text(x, s);
    u32 n = text.n;
    return !s->begun && puny_append_way(x, &text, room_of(s) - min_u32(s->n, room_of(s))) && text.n > n ? text.at[n] : NONE;
}

u32 rx_name_likely_byte(rx_arena *x, rx_id id) {
    rx_name s = rx_name_of(x, id);
    name_label label;
    u32 low, high;
    u8 bytes[4];
    if (s.begun && s.begun < 4) return 0x80;
    if (rx_nullable(x, id)) return NONE;
    if (s.form == NAME_ENCODED) return likely_digit(x, &s);
    if (!s.begun && s.form != NAME_UNICODE) return PLAIN;
    load_label(x, &s, &label);
    if (s.begun && !chars_of(s.begun, &low, &high)) return NONE;
    u32 code = s.begun ? name_label_first(&label, low, high) : name_label_likely(&label), n = code == NONE ? 0 : utf8_encode(code, bytes);
    return code == NONE ? NONE : bytes[n - (s.begun ? n_missing(s.begun) : n)];
}

bool rx_name_encoded(const rx_arena *x, rx_id id, puny_text *text, u32 *room) {
    rx_name s = rx_name_of(x, id);
    if (s.form != NAME_ENCODED) return false;
    *text = encoded_text(x, &s);
    *room = room_of(&s) - min_u32(s.n, room_of(&s));
    return true;
}

bool rx_name_read(const rx_arena *x, rx_id id, name_state *out) {
    rx_name s = rx_name_of(x, id);
    name_label label;
    memset(out, 0, sizeof *out);
    *out =
        (name_state){.used = s.used, .begun = s.begun, .limit = name_octets(s.options), .most = NONE, .any_form = s.options & RX_ANY_FORM};
    if (s.form == NAME_UNICODE || (s.state && s.form != NAME_ENCODED)) {
        load_label(x, &s, &label);
        out->read = label.text;
        out->open = s.open;
        bool is_begun = label.text.n || s.open.n;
        if (is_begun && (!name_label_close(&label) || ulabel_n_missing(label.state, label.set))) out->n_more = ULABEL_MORE;
    } else
        for (u32 i = 0; i < s.n; i++) label_append(&out->read, PLAIN);
    return s.used || s.begun || out->read.n || out->open.n;
}
