/* A-labels of internationalised host names: PUNYCODE(S) = what follows `xn--` in the A-labels of a set S of U-labels (RFC 3492, RFC 5890).
 *
 *     bcher-kva    the characters of ASCII, a hyphen, then numbers: 745 = (0xFC - 0x80) * 6 + 1, so `ü` goes to index 1
 *
 * A number says how many places of insertion are passed over. Places are ordered by code point and then by index, so code points only grow,
 * and no two texts stand for one label. Its digits are 0 ... 35 (`a` ... `z`, `0` ... `9`); one below a threshold is the last. After some
 * digits, the numbers that can still come are value + weight * steps, steps = 0, 1, 2, ..., and more steps never take fewer digits.
 *
 * Idea. A node is the text that was read: different texts have different futures but for dead ones, so there is nothing to merge. Which
 * hyphen is the last is not known before the end: a text is some characters and some digits of numbers, or only characters so far.
 *
 * Every node that is made is inhabited. That is decided by looking for a way to finish within what is left of 63 octets:
 *
 *     1. A few steps of the number at hand: mostly one of them makes a label.
 *     2. Is there any way to make a label by insertions, however long (ulabel_complete)? If not, the text is dead. If there is, and it
 *        fits: alive.
 *     3. All steps that there is room for, and what can follow each of them.
 *
 * The third is exhaustive. It is charged to the budget, and met only where few octets are left, for otherwise the text is alive as
 * characters: a hyphen and the number of U+00E0 follow, which is (0xE0 - 0x80) * n + index, between 36 and 31885, and so has 3 digits, as
 * few as a first number can have. Characters of ASCII break the rules for labels by hyphens only: a first one, a last one, two in third and
 * fourth place. U+00E0 in front mends the first, and the third unless there are three hyphens in front; then it comes again between them,
 * by a number of 1 digit. It mends a last one by coming last, if nothing else is to be mended; or one more character comes before the
 * numbers. Fewer octets will not do, since each insertion has a number, and mends one thing. In names with labels from right to left a
 * first digit is to be mended like a first hyphen.
 *
 * Beside other conditions the search for emptiness would go through texts without end, since nearly each of them is alive. So the way to
 * finish is followed first, and what is left is asked behind it, where nothing is to be decoded (by_one_way). Only if that is nothing, the
 * texts are searched.
 *
 * Case. A-labels are compared without regard to case (RFC 5890, section 2.3.2.4) and decoded in lower case (RFC 5891, section 5.3). */
#include "rx_name.h"
#include "punycode.h"

enum { QUICK_TRIES = 48, LEAST_NUMBER = 3 /* digits of a first number: no character below U+00B7 is valid */ };

typedef struct puny_decoder {
    ulabel label;
    u32 code, index; /* the place of insertion that comes next */
    u32 bias, n_inserted;
    u32 n_digits;      /* of the number at hand, that were read */
    u32 n_after;       /* so many characters at least have to follow that of the number at hand; 0 if not known */
    u64 value, weight; /* the places that it can still mean: value + weight * steps, counted from code point `code`, index 0 */
} puny_decoder;

/* --- decoding ------------------------------------------------------------------------------------------------------------- */

static void begin_number(puny_decoder *d) {
    d->n_digits = d->n_after = 0;
    d->value = d->index;
    d->weight = 1;
}

/* The number at hand is complete. False: it makes no character of a label. */
static bool insert_at(puny_decoder *d, u64 value) {
    u64 n_places = d->label.n + 1u, code = d->code + value / n_places;
    if (code > ULABEL_LAST_CODE || !ulabel_insert(&d->label, (u32)(value % n_places), (u32)code)) return false;
    d->bias = puny_adapted_bias((u32)(value - d->index), d->label.n, d->n_inserted == 0);
    d->code = (u32)code;
    d->index = (u32)(value % n_places) + 1;
    d->n_inserted++;
    begin_number(d);
    return true;
}

static int digit_of(u8 c) { return c >= 'a' && c <= 'z' ? c - 'a' : c >= '0' && c <= '9' ? c - '0' + 26 : -1; }

static u8 digit_char(u32 digit) { return (u8)(digit < 26 ? 'a' + digit : '0' + digit - 26); }

static bool read_digit(puny_decoder *d, u8 c) {
    int digit = digit_of(c);
    u32 least = puny_threshold(d->n_digits, d->bias);
    if (digit < 0) return false;
    d->value += d->weight * (u32)digit;
    if ((u32)digit < least) return insert_at(d, d->value);
    d->weight *= PUNY_BASE - least;
    d->n_digits++;
    return d->code + d->value / (d->label.n + 1u) <= ULABEL_LAST_CODE;
}

static bool begin_decoder(puny_decoder *d, const u8 *chars, u32 n) {
    *d = (puny_decoder){.code = ULABEL_FIRST_CODE, .bias = PUNY_FIRST_BIAS};
    for (u32 i = 0; i < n; i++)
        if (!ulabel_insert(&d->label, i, chars[i])) return false;
    begin_number(d);
    return true;
}

static bool is_label(const puny_decoder *d, ulabel_set set) { return d->n_inserted && d->n_digits == 0 && ulabel_is_in(&d->label, set); }

/* How many more digits the number at hand takes. */
static u32 digits_for(const puny_decoder *d, u64 steps) { return puny_digits(steps, d->n_digits, d->bias); }

/* --- ways to finish --------------------------------------------------------------------------------------------------------- */

static void append_digits(puny_text *s, u64 steps, u32 n_before, u32 bias) {
    for (u32 least; steps >= (least = puny_threshold(n_before, bias)); n_before++) {
        u64 rest = steps - least;
        s->at[s->n++] = digit_char(least + (u32)(rest % (PUNY_BASE - least)));
        steps = rest / (PUNY_BASE - least);
    }
    s->at[s->n++] = digit_char((u32)steps);
}

/* In front of what follows it. */
static void prepend_digits(puny_text *way, u64 steps, u32 n_before, u32 bias) {
    puny_text number = {.n = 0};
    append_digits(&number, steps, n_before, bias);
    memmove(way->at + number.n, way->at, way->n);
    memcpy(way->at, number.at, number.n);
    way->n += number.n;
}

/* How much is tried: labels only; what is found without going through places; all there is. */
typedef enum puny_effort { LABELS, WITNESSES, EVERYTHING } puny_effort;

static bool finish_label(rx_arena *x, const puny_decoder *d, ulabel_set set, u32 room, puny_effort effort, u32 *length, puny_text *way);

/* From a place that the number at hand can mean on, the first of a character that is in some label. False: there is none. */
static bool next_place(const puny_decoder *d, u64 *value) {
    u64 n_places = d->label.n + 1u, from = *value / n_places + d->code;
    for (u32 code; from <= ULABEL_LAST_CODE && (code = ulabel_next_code((u32)from)) != NONE; from = *value / n_places + d->code) {
        if (code == from) return true;
        u64 first = (code - d->code) * n_places; /* with that character */
        *value += (first - *value + d->weight - 1) / d->weight * d->weight;
    }
    return false;
}

/* Is there, within the first `tries` of the places that the number at hand may mean, one that makes a label, or with more effort one that
 * can be finished? Those of characters that are in no label do not count. */
static bool try_places(rx_arena *x, const puny_decoder *d, ulabel_set set, u32 room, u32 tries, puny_effort effort, u32 *length,
                       puny_text *way) {
    u64 n_places = d->label.n + 1u;
    byte_set dead[ULABEL_LONGEST + 1] = {{{0}}}; /* by index: classes of characters that will not do there, whatever their code points */
    for (u64 value = d->value; tries-- && next_place(d, &value); value += d->weight) {
        u32 n_digits = digits_for(d, (value - d->value) / d->weight), rest = 0;
        if (n_digits + d->n_after > room || !budget_work(x->b, tries % 8 == 0)) return false;
        u32 class = ulabel_class_of(d->code + (u32)(value / n_places));
        byte_set *dead_here = &dead[value % n_places];
        puny_decoder after = *d;
        if (set_has(dead_here, class) || !insert_at(&after, value)) continue;
        bool ends = is_label(&after, set);
        if (ends && way) way->n = 0;
        if (ends || (effort != LABELS && finish_label(x, &after, set, room - n_digits, effort, &rest, way))) {
            if (way) prepend_digits(way, (value - d->value) / d->weight, d->n_digits, d->bias);
            return *length = n_digits + rest, true;
        }
        if (effort == LABELS || rest == NONE) set_add(dead_here, class);
    }
    return false;
}

/* What Punycode says of the characters that are fresh, in the order of their places; *length: so
 * many digits, *way: they themselves, if there is room for them. The number at hand has not begun. */
static bool encode_fresh(puny_decoder *d, const ulabel *whole, const bool *fresh, u32 room, u32 *length, puny_text *way) {
    bool present[ULABEL_LONGEST + 1];
    for (u32 i = 0; i < whole->n; i++) present[i] = !fresh[i];
    for (*length = 0;;) {
        u32 least = NONE, index = 0;
        for (u32 i = 0; i < whole->n; i++)
            if (!present[i] && (least == NONE || whole->code[i] < whole->code[least])) least = i;
        if (least == NONE) return true;
        for (u32 i = 0; i < least; i++) index += present[i];
        u64 value = (u64)(whole->code[least] - d->code) * (d->label.n + 1u) + index;
        *length += digits_for(d, value - d->index);
        if (way && *length <= room) append_digits(way, value - d->index, 0, d->bias);
        present[least] = true;
        if (!insert_at(d, value)) return false;
    }
}

/* Some insertions that make a label, of which Punycode takes at most `room` more octets. *fits: they do; else *length is their number, and
 * where they may be any, there are no fewer. False: there are none, whatever their length. */
static bool complete(rx_arena *x, const puny_decoder *d, ulabel_set set, ulabel_room where, u32 room, bool *fits, u32 *length,
                     puny_text *way) {
    ulabel whole;
    bool fresh[ULABEL_LONGEST + 1];
    puny_decoder other = *d;
    *fits = false;
    if (!ulabel_complete(x->b, &d->label, set, where, &whole, fresh)) return false;
    u32 n_fresh = whole.n - d->label.n;
    if (way) way->n = 0;
    if (d->n_digits || !encode_fresh(&other, &whole, fresh, room, length, way)) return *length = n_fresh, true;
    *fits = *length <= room && is_label(&other, set);
    if (!*fits) *length = n_fresh;
    return true;
}

/* Is there a way to a label of the set with at most `room` more octets? *length: of one; NONE: there is none, and there would be none with
 * less room, or with higher code points of the same classes. *way: its digits; NULL: not asked for. With all effort exact, unless the
 * budget fails. */
static bool finish_label(rx_arena *x, const puny_decoder *d, ulabel_set set, u32 room, puny_effort effort, u32 *length, puny_text *way) {
    if (way) way->n = 0;
    if (is_label(d, set)) return *length = 0, true;
    u32 of_first = d->n_inserted || d->n_digits >= LEAST_NUMBER ? 1 : LEAST_NUMBER - d->n_digits; /* digits that the next character takes */
    if (room < of_first || !ulabel_may_be_in(&d->label, set)) return *length = NONE, false;
    if (try_places(x, d, set, room, QUICK_TRIES, LABELS, length, way)) return true;
    u64 n_places = d->label.n + 1u;
    ulabel_room where = {.code = d->code + (u32)(d->value / n_places), .index = (u32)(d->value % n_places), .most = room - of_first + 1};
    bool fits, one_is_enough;
    ulabel_room plain = where, one = where;
    plain.plain = true;
    one.most = 1;
    if (d->n_digits == 0 && complete(x, d, set, plain, room, &fits, length, way) && fits) return true;
    if (!complete(x, d, set, where, room, &fits, length, way)) return *length = NONE, false;
    puny_decoder next = *d;
    next.n_after = *length - 1;
    if (fits) return true;
    if (effort != EVERYTHING) return *length = 0, false;
    one_is_enough = complete(x, d, set, one, room, &fits, length, way);
    if (try_places(x, &next, set, room, QUICK_TRIES, WITNESSES, length, way)) return true;
    if (one_is_enough && try_places(x, &next, set, room, NONE, LABELS, length, way)) return true;
    if (try_places(x, &next, set, room, NONE, WITNESSES, length, way) || try_places(x, &next, set, room, NONE, EVERYTHING, length, way))
        return true;
    return *length = 0, false;
}

/* The digits that some characters of ASCII take at least behind a hyphen, or NONE for more than 4. See the head of this file. */
static u32 least_digits(const u8 *chars, u32 n, ulabel_set set) {
    bool at_end = n && chars[n - 1] == '-', in_third = n > 3 && chars[2] == '-' && chars[3] == '-';
    bool in_front = n && (chars[0] == '-' || (set == ULABEL_MIXED && chars[0] <= '9'));
    if (n > 2 && in_front && chars[1] == '-' && chars[2] == '-') return at_end ? NONE : 4;
    return at_end && (in_front || in_third) ? NONE : 3;
}

/* The octets that a text takes at least of which all is to be characters: perhaps a letter, a hyphen, and numbers. */
static u32 least_for_characters(const puny_text *s) {
    puny_text longer = *s;
    u32 as_it_is = s->n ? least_digits(s->at, s->n, s->set) : NONE;
    longer.at[longer.n++] = 'a';
    return 1 + min_u32(as_it_is, 1 + least_digits(longer.at, longer.n, s->set));
}

/* The text as a label, and as far as it is one a number that has begun. False: it is none whatever follows, but perhaps all characters. */
static bool read_text(puny_decoder *d, const puny_text *s, u32 *n_chars) {
    u32 i = s->n; /* behind the last hyphen; a first one is a character: where there are none, there is no hyphen behind them */
    while (i > 0 && s->at[i - 1] != '-') i--;
    *n_chars = i ? i - 1 : 0;
    bool ok = i != 1 && begin_decoder(d, s->at, *n_chars);
    while (ok && i < s->n) ok = read_digit(d, s->at[i++]);
    return ok;
}

ulabel_verdict puny_end(const puny_text *s) {
    puny_decoder d;
    u32 n_chars;
    return read_text(&d, s, &n_chars) && d.n_inserted && d.n_digits == 0 ? ulabel_is_in(&d.label, s->set) : ULABEL_NONE;
}

bool puny_finish(rx_arena *x, const puny_text *s, u32 room, u32 *length) {
    puny_decoder d;
    u32 n_chars, least = s->n < ULABEL_LONGEST ? least_for_characters(s) : NONE;
    bool ok = read_text(&d, s, &n_chars);
    if (least > room) return ok && finish_label(x, &d, s->set, room, EVERYTHING, length, NULL);
    *length = NONE;
    if (ok && is_label(&d, s->set)) *length = 0;
    else if (ok && d.n_inserted == 0 && d.n_digits == 0) *length = least_digits(s->at, n_chars, s->set);
    else if (ok) try_places(x, &d, s->set, room, QUICK_TRIES, LABELS, length, NULL);
    *length = min_u32(*length, least);
    return x->b->status == GE_OK;
}

bool puny_append_way(rx_arena *x, puny_text *s, u32 room) {
    static const char *const before[] = {"", "-", "a-"}; /* the numbers */
    bool is_rare = s->n == ULABEL_LONGEST || least_for_characters(s) > room; /* then all of it has been characters */
    for (u32 i = 0; i < (is_rare ? 1 : 3); i++) {
        puny_text longer = *s, way = {.n = 0};
        puny_decoder d;
        u32 n = (u32)strlen(before[i]), n_chars, length;
        if (n > room) return false;
        memcpy(longer.at + longer.n, before[i], n);
        longer.n += n;
        if (!read_text(&d, &longer, &n_chars) || !finish_label(x, &d, s->set, room - n, is_rare ? EVERYTHING : WITNESSES, &length, &way))
            continue;
        memcpy(longer.at + longer.n, way.at, way.n);
        longer.n += way.n;
        *s = longer;
        return true;
    }
    return false;
}

u8 puny_char(u32 byte) {
    if (byte >= 'A' && byte <= 'Z') byte |= 0x20;
    return byte < 0x80 && (byte == '-' || digit_of((u8)byte) >= 0) ? (u8)byte : 0;
}

/* --- nodes ---------------------------------------------------------------------------------------------------------------- */

enum { PUNY_HEAD = 2 }; /* words before the characters */

/* [ RX_PUNYCODE | number of characters | 4 of them | 4 of them | ... ] */
static rx_id punycode_node(rx_arena *x, const puny_text *s) {
    u32 words[PUNY_HEAD + (ULABEL_LONGEST + 3) / 4] = {RX_PUNYCODE, s->n}, length;
    memcpy(words + PUNY_HEAD, s->at, s->n);
    bool alive = puny_finish(x, s, ULABEL_LONGEST - s->n, &length);
    if (x->b->status != GE_OK) return NONE;
    if (!alive) return RX_ID_NEVER;
    rx_id id = rx_intern(x, words, PUNY_HEAD + (s->n + 3) / 4, RX_TEXT | RX_FINITE | RX_INHABITED | (length ? 0u : RX_NULLABLE), 0);
    if (id != NONE) x->meta.at[id].distance = (u16)length;
    return id;
}

static puny_text text_of(const u32 *node) {
    puny_text s = {.set = ULABEL_ANY, .n = node[1]};
    memcpy(s.at, node + PUNY_HEAD, s.n);
    return s;
}

rx_id rx_punycode(rx_arena *x) {
    x->has_punycode = true;
    return punycode_node(x, &(puny_text){.set = ULABEL_ANY});
}

rx_id rx_punycode_step(rx_arena *x, const u32 *node, u32 byte) {
    puny_text s = text_of(node);
    u8 c = puny_char(byte);
    if (s.n == ULABEL_LONGEST || !c) return RX_ID_NEVER;
    s.at[s.n++] = c;
    return punycode_node(x, &s);
}

/* --- names of limited length ---------------------------------------------------------------------------------------------- */

/* Strings of `id` of so many characters: RX_UNKNOWN unless it begins with a label in Punycode. */
static rx_verdict of_length(rx_arena *x, rx_id id, u32 low, u32 high, rx_id any) {
    rx_id tail = RX_ID_EMPTY;
    if (rx_kind_of(x, id) == RX_OR) {
        rx_verdict all = RX_IS_EMPTY;
        for (u32 i = 1; i < intern_length(&x->nodes, id) && all != RX_IS_INHABITED; i++) {
            rx_verdict one = of_length(x, intern_words(&x->nodes, id)[i], low, high, any);
            if (one != RX_IS_EMPTY) all = one == RX_IS_INHABITED ? one : RX_UNKNOWN;
        }
        return all;
    }
    if (rx_kind_of(x, id) == RX_CONCAT) {
        tail = intern_words(&x->nodes, id)[2];
        id = intern_words(&x->nodes, id)[1];
    }
    if (rx_kind_of(x, id) != RX_PUNYCODE) return RX_UNKNOWN;
    u32 length = x->meta.at[id].distance;
    if (length > high) {
        puny_text s = text_of(intern_words(&x->nodes, id));
        if (!puny_finish(x, &s, min_u32(high, ULABEL_LONGEST - s.n), &length)) return RX_IS_EMPTY;
    }
    rx_id rest = rx_repeat(x, any, low > length ? low - length : 0, high == NONE ? NONE : high - length);
    return rx_is_empty(x, rx_and(x, (rx_id[]){tail, rest}, 2)) ? RX_UNKNOWN : RX_IS_INHABITED;
}

static rx_verdict of_lengths(rx_arena *x, rx_id id) {
    u32 low = 0, high = NONE;
    rx_id rest = NONE, any = x->text == NONE ? NONE : intern_words(&x->nodes, x->text)[1];
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        const u32 *node = intern_words(&x->nodes, part);
        if (node[0] == RX_REPEAT && node[1] == any) {
            low = max_u32(low, node[2]);
            high = min_u32(high, node[3]);
        } else if (rest != NONE) return RX_UNKNOWN;
        else rest = part;
    }
    return rest == NONE || low > high ? RX_UNKNOWN : of_length(x, rest, low, high, any);
}

/* --- labels beside what else is asked -------------------------------------------------------------------------------------- */

/* The label with which strings of `id` begin, its set and as far as it was read; *room: for so many octets more. */
static bool label_of(const rx_arena *x, rx_id id, puny_text *s, u32 *room) {
    const u32 *node = intern_words(&x->nodes, id);
    switch ((rx_kind)node[0]) {
    case RX_PUNYCODE: *s = text_of(node); *room = ULABEL_LONGEST - s->n; return true;
    case RX_NAME: return rx_name_encoded(x, id, s, room);
    case RX_CONCAT: return label_of(x, node[1], s, room);
    case RX_AND: case RX_OR: case RX_FORK: {
        bool found = false;
        for (u32 i = 1; i < intern_length(&x->nodes, id) && !found; i++) found = label_of(x, node[i], s, room);
        return found;
    }
    default: return false;
    }
}

/* Is something left at the end of a short way to finish the label, or behind a dot
 * there? Not asked again within the answer, which may come to the same expressions. */
static rx_verdict by_one_way(rx_arena *x, rx_id id) {
    puny_text s;
    u32 room;
    if (x->on_way || !label_of(x, id, &s, &room)) return RX_UNKNOWN;
    u32 begin = s.n;
    if (!puny_append_way(x, &s, room)) return RX_UNKNOWN;
    rx_refresh_classes(x);
    for (u32 i = begin; i < s.n && id != NONE && id != RX_ID_NEVER; i++) id = rx_derive(x, id, x->class_byte[x->class_of[s.at[i]]]);
    if (id == NONE || id == RX_ID_NEVER) return RX_UNKNOWN;
    if (rx_nullable(x, id)) return RX_IS_INHABITED;
    x->on_way = true;
    bool is_empty = rx_is_empty(x, rx_derive(x, id, x->class_byte[x->class_of['.']]));
    x->on_way = false;
    return is_empty ? RX_UNKNOWN : RX_IS_INHABITED;
}

rx_verdict rx_punycode_verdict(rx_arena *x, rx_id id) {
    rx_verdict verdict = of_lengths(x, id);
    return verdict == RX_UNKNOWN && x->b->status == GE_OK ? by_one_way(x, id) : verdict;
}
