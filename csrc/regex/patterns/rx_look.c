/* Look-around: read, and worked into what it sees where that is in the same branch of the pattern. Stage 3 of 7.
 *
 * Idea. No derivative looks ahead or back. But sets of texts have intersection and complement, so what a look-around says of a sequence
 * that stands beside it is no more than a part of that sequence. With `text` for all texts, and P for operands of the same branch:
 *
 *     (?=X)P  =  P & X text        (?!X)P  =  P & ~(X text)        if no string of P is shorter than any string of X
 *     P(?<=X) =  P & text X        P(?<!X) =  P & ~(text X)        ... or P begins where the text does
 *
 * in characters: then what P is followed by (what stands before it) is not seen. Where anything may stand before a pattern, that is part of
 * P: a search for (?<!X)P is one for ^(text & ~(text X))P, and a look-behind is a search for its body that ends here.
 *
 * A repeat of "not X, and then one character C" up to what is itself an X, as in <!--(?:(?!-->).)*-->, sees no further either, if all
 * strings of X are of one length. With Y for operands behind it, all of whose strings are some of X:
 *
 *     ((?!X)C){m,n}Y  =  C{m,n}Y & ~(text X C'),   C' for one character or more
 *
 * since where an X begins before that Y it ends before the Y does; and what does so begins before the Y.
 *
 * All these are plain expressions, and may stand anywhere, in repeats too. Other look-aheads are kept as parts of the pattern until all
 * that follows them is known (rx_ahead.c); other look-behinds are refused.
 *
 * Cost: linear in the operands of the branch, besides the intersections. */
#include "rx_look.h"


/* --- parts ------------------------------------------------------------------------------------------------------------ */

rx_look rx_read_look(rx_reader *r) {
    static const char *const prefixes[] = {[RX_AHEAD] = "=", [RX_NOT_AHEAD] = "!", [RX_BEHIND] = "<=", [RX_NOT_BEHIND] = "<!"};
    for (u32 look = RX_AHEAD; look <= RX_NOT_BEHIND; look++)
        if (rx_starts_with(r, prefixes[look])) return r->at += strlen(prefixes[look]), (rx_look)look;
    return RX_NO_LOOK;
}

static bool push_part(rx_parser *p, rx_part part, rx_value_role role) {
    for (u32 i = 0; i < part.n; i++) {
        rx_value v = p->members.at[part.first + i];
        if (v.kind == V_PART) part.depth = max_u32(part.depth, p->parts.at[v.id].depth + 1);
    }
    if (part.depth > RX_DEPTH_CEILING) return budget_ceiling(p->b, LIMIT(max_regex_nesting), RX_DEPTH_CEILING);
    return vec_push(p->b, &p->parts, part) && rx_push(p, V_PART, role, p->parts.n - 1);
}

/* Of the first of the members from `first` on that has look-around. */
static u32 first_offset(const rx_parser *p, u32 first) {
    while (p->members.at[first].kind != V_PART) first++;
    return p->parts.at[p->members.at[first].id].offset;
}

bool rx_push_part(rx_parser *p, rx_part_kind kind, u32 first) {
    rx_part part = {.kind = (u8)kind, .first = first, .n = p->members.n - first, .offset = first_offset(p, first)};
    return push_part(p, part, R_ATOM);
}

bool rx_push_look(rx_parser *p, rx_look look, u32 offset) {
    rx_part part = {.kind = P_LOOK, .look = (u8)look, .first = p->members.n, .n = 1, .offset = offset};
    if (!vec_push(p->b, &p->members, p->values.at[--p->values.n])) return false;
    bool is_repeatable = rx_is_python(&p->in) || look == RX_AHEAD || look == RX_NOT_AHEAD; /* (?=a)* */
    return push_part(p, part, is_repeatable ? R_ATOM : R_ASSERTION);
}

bool rx_push_repeated(rx_parser *p, rx_value v, u32 low, u32 high) {
    rx_part part = p->parts.at[v.id];
    if (high == 0 || (part.kind == P_LOOK && low == 0)) return rx_push(p, V_PLAIN, R_REPEATED, RX_ID_EMPTY);
    if (high == 1 && low == 1) return rx_push(p, V_PART, R_REPEATED, v.id);
    if (part.kind == P_LOOK) return rx_push(p, V_PART, R_REPEATED, v.id); /* to ask again changes nothing */
    part = (rx_part){.kind = P_REPEAT, .first = p->members.n, .n = 1, .low = low, .high = high, .offset = part.offset};
    return vec_push(p->b, &p->members, v) && push_part(p, part, R_REPEATED);
}

/* --- operands --------------------------------------------------------------------------------------------------------- */

static bool is_plain_value(rx_value v) { return v.kind == V_CHAR || v.kind == V_PLAIN; }

static rx_n_chars chars_of_value(rx_parser *p, rx_value v) {
    return v.kind == V_CHAR ? (rx_n_chars){1, 1} : rx_count_chars(p->x, v.id);
}

static bool is_one_char(rx_n_chars c) { return c.least == 1 && c.most == 1; }

/* v as look-around, if it is that and `look` says of which kind, or the other one with RX_NOT_...; else NULL. */
static const rx_part *look_of(const rx_parser *p, rx_value v, rx_look look) {
    const rx_part *part = v.kind == V_PART ? &p->parts.at[v.id] : NULL;
    return part && part->kind == P_LOOK && (part->look == look || part->look == look + 1) ? part : NULL;
}

/* The operands values[from .. to) in sequence; they are plain. */
static rx_id sequence(rx_parser *p, u32 from, u32 to) {
    rx_id id = RX_ID_EMPTY;
    while (to > from && id != NONE) id = rx_prepend(p, p->values.at[--to], id);
    return id;
}

/* `of` without the strings of `taken`, or (`keep`) only those. */
static rx_id restrict_to(rx_parser *p, rx_id of, rx_id taken, bool keep) {
    return rx_and(p->x, (rx_id[]){of, keep ? taken : rx_not(p->x, taken)}, 2);
}

/* --- look-behind ------------------------------------------------------------------------------------------------------ */

/* What ends a text if a look-behind holds: anywhere, or where the whole text is that. */
typedef struct rx_suffix {
    rx_id anywhere, whole;
} rx_suffix;

static bool read_suffix(const rx_parser *p, const rx_part *look, rx_suffix *out) {
    rx_value body = p->members.at[look->first];
    *out = (rx_suffix){body.id, RX_ID_NEVER};
    if (body.kind == V_PLAIN) return true;
    if (body.kind != V_WAYS) return false;
    const rx_ways *w = &p->ways.at[body.id];
    for (u32 a = 0; a < RX_N_CONDITIONS; a++)
        for (u32 b = 0; b < RX_N_CONDITIONS; b++)
            if (w->at[a][b] != RX_ID_NEVER && (b != RX_ANY || (a != RX_ANY && a != RX_EDGE))) return false;
    *out = (rx_suffix){w->at[RX_ANY][RX_ANY], w->at[RX_EDGE][RX_ANY]};
    return true;
}

/* Is v a sequence at the beginning of the text, and nothing else? */
static bool begins_text(const rx_parser *p, rx_value v) {
    if (v.kind != V_WAYS) return false;
    const rx_ways *w = &p->ways.at[v.id];
    for (u32 a = 0; a < RX_N_CONDITIONS; a++)
        for (u32 b = 0; b < RX_N_CONDITIONS; b++)
            if (w->at[a][b] != RX_ID_NEVER && (a != RX_EDGE || b != RX_ANY)) return false;
    return w->at[RX_EDGE][RX_ANY] != RX_ID_NEVER;
}

/* Is v a condition on the text around, and no string? (But for ^, which tells what is before.) */
static bool takes_no_room(const rx_parser *p, rx_value v) {
    if (v.kind != V_WAYS) return look_of(p, v, RX_AHEAD) != NULL;
    const rx_ways *w = &p->ways.at[v.id];
    for (u32 a = 0; a < RX_N_CONDITIONS; a++)
        for (u32 b = 0; b < RX_N_CONDITIONS; b++)
            if (w->at[a][b] != RX_ID_NEVER && w->at[a][b] != RX_ID_EMPTY) return false;
    return !begins_text(p, v);
}

/* What a look-behind sees: the operands values[at .. end). */
typedef struct rx_sight {
    rx_id part;    /* these, as one expression */
    u32 at, end;
    bool enough;   /* it sees no further, as none of their strings is shorter than any of its own */
    bool anchored; /* they begin where the text does */
} rx_sight;

/* The pattern of this frame is all of the text, or something may stand before it that a look-behind may see. */
static bool is_whole_text(const rx_parser *p) { return p->frames.n == 1 && p->in.dialect != RX_ECMA_SEARCH; }
static bool is_open_before(const rx_parser *p) {
    const rx_frame *f = &p->frames.at[p->frames.n - 1];
    return f->look == RX_BEHIND || f->look == RX_NOT_BEHIND || (p->frames.n == 1 && !is_whole_text(p));
}

/* As many of the operands values[from .. n) as a look-behind for the suffix has to see, from the last one backwards; at most all. */
static rx_sight look_back(rx_parser *p, u32 from, u32 n, const rx_suffix *suffix) {
    rx_n_chars need = rx_count_chars(p->x, suffix->anywhere);
    bool has_bound = need.most < RX_LONG && suffix->whole == RX_ID_NEVER;
    rx_sight s = {.end = n, .enough = need.most == 0 && has_bound};
    while (s.end > from && takes_no_room(p, p->values.at[s.end - 1])) s.end--; /* conditions of the same place may as well come after */
    s.at = s.end;
    for (u32 least = 0; !s.enough && s.at > from && is_plain_value(p->values.at[s.at - 1]); s.enough = has_bound && least >= need.most)
        least = rx_add_lengths(least, chars_of_value(p, p->values.at[--s.at]).least);
    s.part = sequence(p, s.at, s.end);
    if (!s.enough && s.at > from && begins_text(p, p->values.at[s.at - 1])) {
        s.part = rx_concat(p->x, p->ways.at[p->values.at[--s.at].id].at[RX_EDGE][RX_ANY], s.part);
        s.anchored = true;
    } else if (!s.enough && s.at == from && is_open_before(p)) {
        s.part = rx_concat(p->x, rx_text(p->x), s.part);
        s.anchored = true;
    }
    return s;
}

/* Does values[at] stand where the text begins, if all of the branch from values[from] on comes before it? */
static bool is_first_of_text(const rx_parser *p, u32 from, u32 at) {
    while (at > from && takes_no_room(p, p->values.at[at - 1])) at--;
    if (at == from) return is_whole_text(p);
    rx_value v = p->values.at[at - 1];
    return begins_text(p, v) && p->ways.at[v.id].at[RX_EDGE][RX_ANY] == RX_ID_EMPTY;
}

/* The operands values[from .. *n) and then `look`, a look-behind -> the same without it, and *n of them. */
static bool look_behind(rx_parser *p, u32 from, u32 *n, const rx_part *look) {
    rx_arena *x = p->x;
    rx_suffix suffix;
    if (!read_suffix(p, look, &suffix)) return rx_refused(&p->in, look->offset, "look-behind: with $, \\b or more look-around in it");
    rx_sight s = look_back(p, from, *n, &suffix);
    if (!s.enough && !s.anchored && !is_first_of_text(p, from, s.at))
        return rx_refused(&p->in, look->offset, "look-behind: it may see what stands before its branch of the pattern");
    rx_id ending = rx_concat(x, rx_text(x), suffix.anywhere);
    if (suffix.whole != RX_ID_NEVER) ending = rx_or2(x, ending, suffix.whole);
    rx_id part = restrict_to(p, s.part, ending, look->look == RX_BEHIND);
    if (part == NONE) return false;
    rx_value v = {.kind = V_PLAIN, .role = R_ATOM, .id = part};
    if (s.anchored) {
        rx_ways w;
        rx_ways_clear(&w);
        w.at[RX_EDGE][RX_ANY] = part;
        if (!vec_push(p->b, &p->ways, w)) return false;
        v = (rx_value){.kind = V_WAYS, .role = R_ATOM, .id = p->ways.n - 1};
    }
    memmove(p->values.at + s.at + 1, p->values.at + s.end, (*n - s.end) * sizeof v); /* there is room: that of the look-around */
    p->values.at[s.at] = v;
    *n = s.at + 1 + *n - s.end;
    return true;
}

/* --- look-ahead ------------------------------------------------------------------------------------------------------- */

/* The operands values[*at .. end) behind `look`, a look-ahead: worked into them, if it sees no further. False on failure. */
static bool look_ahead(rx_parser *p, u32 *at, u32 end, const rx_part *look, bool *done) {
    rx_value body = p->members.at[look->first];
    *done = false;
    if (body.kind != V_PLAIN) return true;
    rx_n_chars need = rx_count_chars(p->x, body.id);
    u32 to = *at, least = 0;
    while (least < need.most && to < end && is_plain_value(p->values.at[to]))
        least = rx_add_lengths(least, chars_of_value(p, p->values.at[to++]).least);
    if (least < need.most || need.most >= RX_LONG) return true;
    rx_id part = restrict_to(p, sequence(p, *at, to), rx_concat(p->x, body.id, rx_text(p->x)), look->look == RX_AHEAD);
    *at = to - 1; /* there is room: that of the look-around */
    p->values.at[to - 1] = (rx_value){.kind = V_PLAIN, .role = R_ATOM, .id = part};
    return *done = true, part != NONE;
}

/* The operands values[*at .. end) behind `v`, if that is a repeat up to what it must not
 * meet: the repeat and so many of them as have its length become one. False on failure. */
static bool up_to(rx_parser *p, u32 *at, u32 end, rx_value v, bool *done) {
    rx_arena *x = p->x;
    *done = false;
    const rx_part *repeat = &p->parts.at[v.id];
    if (repeat->kind != P_REPEAT || p->members.at[repeat->first].kind != V_PART) return true;
    const rx_part *body = &p->parts.at[p->members.at[repeat->first].id];
    if (body->kind != P_SEQUENCE || body->n != 2) return true;
    const rx_part *look = look_of(p, p->members.at[body->first], RX_AHEAD);
    rx_value one = p->members.at[body->first + 1];
    if (!look || look->look != RX_NOT_AHEAD || p->members.at[look->first].kind != V_PLAIN || !is_plain_value(one) ||
        !is_one_char(chars_of_value(p, one)))
        return true;
    rx_id never = p->members.at[look->first].id;
    rx_n_chars length = rx_count_chars(x, never);
    u32 to = *at, n = 0;
    bool same = length.least == length.most && length.most < RX_LONG;
    while (same && n < length.most && to < end && is_plain_value(p->values.at[to])) {
        rx_n_chars c = chars_of_value(p, p->values.at[to++]);
        same = c.least == c.most && c.most < RX_LONG;
        n += c.most;
    }
    if (!same || n != length.most || n == 0) return true;
    rx_id last = sequence(p, *at, to), other = restrict_to(p, last, never, false);
    if (other == NONE) return false;
    bool is_last = rx_is_empty(x, other);
    if (p->b->status != GE_OK) return false;
    if (!is_last) return true;
    rx_id text = rx_text(x), more = rx_concat(x, rx_chars(x, &(char_range){0, 0x10ffff}, 1), text);
    rx_id all = rx_concat(x, rx_repeat(x, rx_plain_id(p, one), repeat->low, repeat->high), last);
    all = restrict_to(p, all, rx_concat(x, text, rx_concat(x, never, more)), false);
    *at = to - 1;
    p->values.at[to - 1] = (rx_value){.kind = V_PLAIN, .role = R_ATOM, .id = all};
    return *done = true, all != NONE;
}

/* --- the branch ------------------------------------------------------------------------------------------------------- */

bool rx_reduce_looks(rx_parser *p) {
    u32 from = p->frames.at[p->frames.n - 1].branch, n = from, end = p->values.n;
    for (u32 i = from; i < end; i++) {
        const rx_part *look = look_of(p, p->values.at[i], RX_BEHIND);
        if (!look) p->values.at[n++] = p->values.at[i];
        else if (!look_behind(p, from, &n, look)) return false;
    }
    u32 at = n; /* values[at .. n) are done */
    for (u32 i = n; i > from; i--) {
        rx_value v = p->values.at[i - 1];
        const rx_part *look = look_of(p, v, RX_AHEAD);
        bool done = false;
        if (v.kind == V_PART && !(look ? look_ahead(p, &at, n, look, &done) : up_to(p, &at, n, v, &done))) return false;
        if (!done) p->values.at[--at] = v;
    }
    memmove(p->values.at + from, p->values.at + at, (n - at) * sizeof *p->values.at);
    p->values.n = from + n - at;
    if (p->values.n - from == 1 || !rx_has_parts(p, from)) return true;
    u32 first = p->members.n;
    for (u32 i = from; i < p->values.n; i++)
        if (!vec_push(p->b, &p->members, p->values.at[i])) return false;
    p->values.n = from;
    return rx_push_part(p, P_SEQUENCE, first);
}
