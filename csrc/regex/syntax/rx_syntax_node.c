/* SYNTAX as a kind of expression: nodes, derivatives, lengths, and what stands for a node where the pattern as a whole does not matter.
 *
 * Least length. A pattern is completed by the rest of the term at hand, a `)` for each open group, `(?<x>)` for each name x that is wanted,
 * and `()` for each group that is needed beyond those. Nothing else is shorter, except that a group under way may be one of those. Where a
 * name is being read, which one it is best made is left to a search (rx_least.c): there this is a lower bound.
 *
 * Any pattern may be followed by an `a`. So among lengths from some number on there is one for
 * each, and an intersection with lengths is decided where that number is exact, else searched. */
#include "rx_syntax.h"
#include "../patterns/rx_parse.h"
#include "../utf8.h"

static syntax syntax_of(const u32 *node) {
    syntax s;
    memcpy(&s, node, sizeof s);
    return s;
}

/* --- lengths -------------------------------------------------------------------------------------------------------------- */

static u32 utf8_length(u32 code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

/* The digits that are missing for {n,m}: m is to be no less than n. */
static u32 rest_of_count(const rx_arena *x, const syntax *s) {
    u32 missing = s->text == NONE ? 0 : syntax_length(x, s->text) - syntax_length(x, s->low), begin = s->text;
    if (s->text == NONE) return 0;
    for (u32 i = 0; i < missing; i++) begin = syntax_cell(x, begin)[0];
    return missing + (syntax_compare(x, s->low, begin) == 1); /* what begins with less takes one more */
}

/* The fewest bytes behind which a character that has begun can be complete. */
static u32 rest_of_char(const syntax *s) {
    static const u8 rest[] = {[UTF8_1] = 1, [UTF8_2] = 2, [UTF8_3] = 3, [UTF8_E0] = 2, [UTF8_ED] = 2, [UTF8_F0] = 3, [UTF8_F4] = 3};
    if (s->begun) return rest[syntax_utf8_phase(s)];
    switch ((syntax_phase)s->phase) {
    case SYNTAX_ESCAPE: return 5;
    case SYNTAX_UNICODE: return 4;
    case SYNTAX_BRACE: return 3;
    case SYNTAX_BRACED: return 1;
    case SYNTAX_HEX: return s->left;
    default: return 6; /* the other half of a pair */
    }
}

/* What completes an atom that is to be no less than `low`, behind the dash of a range. */
static u32 rest_of_range(const syntax *s, bool *exact) {
    bool is_paired = s->lead && s->low > s->lead; /* so it must be */
    u32 low = s->lead && !is_paired ? 0 : s->low, digits = s->phase == SYNTAX_BRACE, from = s->value, to = s->value;
    switch ((syntax_phase)s->phase) {
    case SYNTAX_ESCAPE: return is_paired ? 5 : low <= '}' ? 1 : low <= 0xff ? 3 : low <= 0xffff ? 5 : low <= 0xfffff ? 8 : 9;
    case SYNTAX_UNICODE: return is_paired ? 4 : low <= 0xf ? 3 : low <= 0xffff ? 4 : low <= 0xfffff ? 7 : 8;
    case SYNTAX_HEX:
        if (is_paired || ((s->value + 1) << 4 * s->left) > low) return s->left;
        *exact = false;
        return s->left + 6; /* half of a pair */
    case SYNTAX_BRACE: case SYNTAX_BRACED:
        for (to = from << 4 * digits | ((1u << 4 * digits) - 1); to < low; to = to << 4 | 15) digits++;
        return digits + 1;
    case SYNTAX_CONTROL: return 1;
    default:
        if (is_paired) *exact = false;
        return is_paired ? 6 : 0;
    }
}

/* What completes the term at hand. *exact = false: that is a lower bound. */
static u32 rest_of_term(const syntax *s, bool *exact) {
    u32 close = s->place == SYNTAX_IN_CLASS;
    if (s->begun) return close + rest_of_char(s);
    if (s->place == SYNTAX_IN_CLASS && s->range == SYNTAX_DASH) return close + rest_of_range(s, exact);
    switch ((syntax_phase)s->phase) {
    case SYNTAX_ESCAPE: case SYNTAX_CONTROL: return close + 1;
    case SYNTAX_HEX: return close + s->left;
    case SYNTAX_UNICODE: return close + 3;
    case SYNTAX_BRACE: return close + 2;
    case SYNTAX_BRACED: return close + 1;
    case SYNTAX_PROPERTY: return close + 1 + syntax_name_rest(0, 0);
    case SYNTAX_PROPERTY_NAME: return close + syntax_name_rest(s->value, s->left);
    case SYNTAX_COUNT: return 2;
    case SYNTAX_LOW: case SYNTAX_COMMA: case SYNTAX_HIGH: return 1;
    case SYNTAX_FLAGS: return s->flags == 8 ? 3 : 2;
    default: return close;
    }
}

/* --- ... of names ---------------------------------------------------------------------------------------------------------- */

typedef struct name_search {
    const rx_arena *x;
    const syntax *s;
    bool in_chars, is_partial; /* what is counted; a character has begun */
} name_search;

static u32 char_length(const name_search *n, u32 code) { return n->in_chars ? 1 : utf8_length(code); }

static u32 name_length(const name_search *n, u32 name) {
    u32 length = 0;
    for (; name != NONE; name = syntax_cell(n->x, name)[0]) length += char_length(n, syntax_cell(n->x, name)[1]);
    return length;
}

/* Can it become that one? */
static bool can_become(const syntax *s, u32 code) {
    u32 low, high, unit = code, is_pair = code > 0xffff;
    if (s->begun) return utf8_range(s->begun, &low, &high) && low <= code && code <= high;
    if (s->lead && (!is_pair || s->lead != 0xd800 + ((code - 0x10000) >> 10))) return false;
    if (s->phase == SYNTAX_BRACED) {
        for (; unit > s->value; unit >>= 4) {}
        return unit == s->value;
    }
    if (s->phase != SYNTAX_HEX) return true;
    if (is_pair) unit = s->lead ? 0xdc00 + (code & 0x3ff) : 0xd800 + ((code - 0x10000) >> 10);
    return unit >> 4 * s->left == s->value;
}

/* Can the name that is being read become `name`? *rest = what is missing of it, behind the character that has begun if there is one. */
static bool can_be_name(const name_search *n, u32 name, u32 *rest) {
    u32 read = syntax_length(n->x, n->s->text), code = 0, at = name;
    *rest = 0;
    if (syntax_length(n->x, name) < read + n->is_partial) return false;
    for (u32 length = syntax_length(n->x, name); length > read; length--, at = syntax_cell(n->x, at)[0]) {
        code = syntax_cell(n->x, at)[1]; /* the last of them is the one that comes next */
        *rest += char_length(n, code);
    }
    if (at != n->s->text || (n->is_partial && !can_become(n->s, code))) return false;
    if (n->is_partial) *rest -= char_length(n, code);
    return true;
}

/* The fewest characters behind which the name that is being read is none of those that are active. In bytes: some names may be taken. */
static u32 rest_of_new_name(const name_search *n) {
    u32 read = syntax_length(n->x, n->s->text), rest = n->s->range == SYNTAX_NO_RANGE;
    if (n->s->loose) return rest; /* its characters are not known, nor are names */
    for (u64 free_names = read ? 1 : 54;; rest++, free_names *= 64) {
        u64 taken = 0;
        for (u32 at = n->s->names; at != NONE; at = syntax_cell(n->x, at)[0]) {
            u32 name = syntax_cell(n->x, at)[1], missing;
            bool counts = syntax_cell(n->x, at)[2] & SYNTAX_ACTIVE && syntax_length(n->x, name) == read + rest;
            taken += counts && can_be_name(n, name, &missing) && missing == rest;
        }
        if (taken < free_names || (n->in_chars && rest)) return rest;
    }
}

/* With the name that is being read complete, and the group that it is of. `rest`: without that. */
static u64 rest_with_name(const name_search *n, u64 rest, bool needs, bool defines) {
    u32 missing, begun = n->is_partial && !(n->in_chars && n->s->begun) ? rest_of_char(n->s) : 0;
    u64 of_new = begun + rest - 2 * needs, least;
    if (defines) least = of_new + 2 + (n->is_partial ? 0 : rest_of_new_name(n));
    else {
        u32 added = n->s->range == SYNTAX_NO_RANGE && !n->is_partial; /* it has no characters so far */
        least = of_new + 1 + added;
        if (!n->s->loose) least += 5 + name_length(n, n->s->text) + added + n->is_partial;
    }
    for (u32 at = n->s->wanted; at != NONE; at = syntax_cell(n->x, at)[0]) {
        u32 name = syntax_cell(n->x, at)[1];
        if (!can_be_name(n, name, &missing)) continue;
        u64 found = begun + missing + rest + (defines ? 2 : 1) - (defines ? 5 + name_length(n, name) : 0);
        if (found < least) least = found;
    }
    for (u32 at = defines ? NONE : n->s->names; at != NONE; at = syntax_cell(n->x, at)[0])
        if (can_be_name(n, syntax_cell(n->x, at)[1], &missing) && begun + missing + 1 + rest < least) least = begun + missing + 1 + rest;
    return least;
}

/* With a group that has begun, or the name of a reference. */
static u64 rest_with_group(const name_search *n, u64 rest, bool needs, bool *exact) {
    bool wants = n->s->wanted != NONE;
    u64 least;
    switch ((syntax_phase)n->s->phase) {
    case SYNTAX_PAREN: return needs || wants ? rest - 1 : rest + 1;
    case SYNTAX_QUESTION: return wants ? rest - 2 : rest + 2;
    case SYNTAX_LESS:
        least = rest_with_name(n, rest, needs, true);
        return least < rest + 2 ? least : rest + 2;
    case SYNTAX_NAMED: return 1 + rest_with_name(n, rest, needs, false);
    default:
        *exact = !n->is_partial;
        return rest_with_name(n, rest, needs, n->s->place == SYNTAX_IN_GROUP_NAME);
    }
}

/* The length of the shortest string of a node, in bytes or in characters; of these, one that has begun does not count. */
static u32 least_length(const rx_arena *x, const syntax *s, bool in_chars, bool *exact) {
    bool is_name = s->place > SYNTAX_IN_CLASS,
         is_group = is_name || s->phase == SYNTAX_NAMED || (s->phase >= SYNTAX_PAREN && s->phase <= SYNTAX_LESS);
    name_search n = {x, s, in_chars, is_name && (s->begun || s->lead || s->phase != SYNTAX_NAME)};
    u64 rest = s->depth, n_wanted = 0;
    *exact = true;
    for (u32 at = s->wanted; at != NONE; at = syntax_cell(x, at)[0], n_wanted++) rest += 5 + name_length(&n, syntax_cell(x, at)[1]);
    bool needs = s->needed > n_wanted;
    if (needs) rest += 2 * (s->needed - n_wanted);
    if (is_group) rest = rest_with_group(&n, rest, needs, exact);
    else rest += rest_of_term(s, exact) - (in_chars && s->begun ? rest_of_char(s) : 0);
    if (s->phase == SYNTAX_HIGH) rest += rest_of_count(x, s);
    return rest < RX_LONG ? (u32)rest : RX_LONG;
}

/* What the pattern has to make good, and what the name that is being read may add to that. */
static u32 debt(const rx_arena *x, const syntax *s) {
    u64 sum = 16 + 2 * (u64)syntax_length(x, s->text) + 2 * (u64)s->needed;
    for (u32 at = s->wanted; at != NONE; at = syntax_cell(x, at)[0]) sum += 5 + syntax_length(x, syntax_cell(x, at)[1]);
    return sum < RX_LONG ? (u32)sum : RX_LONG;
}

/* No more than that is missing to the least length where it is not exact: half of a pair, another character than that of an active name,
 * and what is lost if the name turns out to be none of those that are known. */
static u32 spare_length(const rx_arena *x, const syntax *s) {
    u32 of_char = s->begun ? 2 : 8;
    return s->wanted == NONE && s->names == NONE ? of_char : of_char + debt(x, s);
}

u32 rx_syntax_least(const rx_arena *x, const u32 *node, bool *exact) {
    syntax s = syntax_of(node);
    return least_length(x, &s, false, exact);
}

/* Lengths as an operand of an intersection, behind n_bytes that complete a character: *low and *high get no wider. False: it is none. */
static bool meet_lengths(const rx_arena *x, rx_id id, u32 n_bytes, u32 *low, u32 *high) {
    rx_id any = x->text == NONE ? NONE : intern_words(&x->nodes, x->text)[1];
    const u32 *node = intern_words(&x->nodes, id);
    for (; n_bytes && node[0] == RX_CONCAT && rx_kind_of(x, node[1]) == RX_SET; n_bytes--) node = intern_words(&x->nodes, id = node[2]);
    if (n_bytes == 1 && node[0] == RX_SET) n_bytes = 0, id = RX_ID_EMPTY;
    bool is_repeat = node[0] == RX_REPEAT && node[1] == any;
    if (n_bytes || (!is_repeat && id != RX_ID_EMPTY && id != any)) return false;
    *low = max_u32(*low, is_repeat ? node[2] : id == any);
    *high = min_u32(*high, is_repeat ? node[3] : id == any);
    return true;
}

/* The regular expression in an intersection of one, or of its complement, and lengths in characters; NONE: it is something else. */
static rx_id beside_lengths(const rx_arena *x, rx_id id, u32 *low, u32 *high, bool *is_excluded) {
    rx_id found = NONE, whole = NONE;
    u32 n = intern_length(&x->nodes, id);
    *low = 0;
    *high = NONE;
    for (u32 i = 1; i < n && found == NONE; i++) {
        const u32 *part = intern_words(&x->nodes, whole = intern_words(&x->nodes, id)[i]);
        *is_excluded = part[0] == RX_NOT;
        if (rx_kind_of(x, *is_excluded ? part[1] : whole) == RX_SYNTAX) found = *is_excluded ? part[1] : whole;
    }
    if (found == NONE) return NONE;
    syntax s = syntax_of(intern_words(&x->nodes, found));
    for (u32 i = 1; i < n; i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        if (part != whole && !meet_lengths(x, part, s.begun ? rest_of_char(&s) : 0, low, high)) return NONE;
    }
    return found;
}

rx_verdict rx_syntax_verdict(const rx_arena *x, rx_id id) {
    u32 low, high;
    bool exact, is_excluded;
    rx_id pattern = beside_lengths(x, id, &low, &high, &is_excluded);
    if (pattern == NONE || is_excluded || low > high) return RX_UNKNOWN;
    syntax s = syntax_of(intern_words(&x->nodes, pattern));
    u32 least = least_length(x, &s, true, &exact);
    if (least > high) return RX_IS_EMPTY;
    return exact || least + spare_length(x, &s) <= high ? RX_IS_INHABITED : RX_UNKNOWN;
}

/* --- nodes ---------------------------------------------------------------------------------------------------------------- */

static rx_id syntax_node(rx_arena *x, const syntax *s) {
    u32 words[SYNTAX_WORDS];
    bool exact;
    if (x->b->status != GE_OK) return NONE;
    memcpy(words, s, sizeof words);
    rx_id id = rx_intern(x, words, SYNTAX_WORDS, RX_TEXT | RX_INHABITED | (syntax_may_end(s) ? RX_NULLABLE : 0u), 0);
    if (id != NONE) x->meta.at[id].distance = (u16)min_u32(least_length(x, s, false, &exact), UINT16_MAX);
    return id;
}

/* Sorted ranges of a property. */
static bool make_ranges(rx_arena *x, const char *name, rx_ranges *out) {
    bool known;
    out->n = 0;
    if (!rx_ranges_property(x->b, out, (const u8 *)name, strlen(name), &known)) return false;
    rx_ranges_sort(out);
    return true;
}

rx_id rx_syntax(rx_arena *x) {
    if (!x->has_syntax && (!make_ranges(x, "ID_Start", &x->id_start) || !make_ranges(x, "ID_Continue", &x->id_continue))) return NONE;
    x->has_syntax = true;
    return syntax_node(x, &(syntax){.kind = RX_SYNTAX, .phase = SYNTAX_TERM, .below = NONE, .names = NONE, .wanted = NONE, .text = NONE});
}

rx_id rx_syntax_step(rx_arena *x, const u32 *node, u32 byte) {
    syntax s = syntax_of(node);
    bool alive = syntax_step(x, &s, byte);
    if (x->b->status != GE_OK) return NONE;
    return alive ? syntax_node(x, &s) : RX_ID_NEVER;
}

bool rx_syntax_first(rx_arena *x, const u32 *node, byte_set *out) {
    syntax at = syntax_of(node);
    for (u32 byte = 0; byte < 256; byte++) {
        syntax s = at;
        if (syntax_step(x, &s, byte)) set_add(out, byte);
    }
    return x->b->status == GE_OK;
}

const char *rx_syntax_apart(const u32 *node, bool *far) {
    syntax s = syntax_of(node);
    bool outside = s.place == SYNTAX_OUTSIDE;
    *far = s.phase <= SYNTAX_CLASS || s.phase == SYNTAX_PAREN;
    switch ((syntax_phase)s.phase) {
    case SYNTAX_TERM: case SYNTAX_ATOM: case SYNTAX_QUANTIFIED: case SYNTAX_PAREN: return outside ? "^$\\*+?()[]{}|" : NULL;
    case SYNTAX_REFERENCE: case SYNTAX_ZERO: return outside ? "0123456789^$\\*+?()[]{}|" : NULL;
    case SYNTAX_OPENED: case SYNTAX_CLASS: return s.loose && s.range != SYNTAX_DASH ? "^\\]-" : NULL;
    case SYNTAX_COUNT: case SYNTAX_LOW: case SYNTAX_COMMA: case SYNTAX_HIGH: return "0123456789,}";
    case SYNTAX_QUESTION: case SYNTAX_FLAGS: return ":=!<ims-";
    case SYNTAX_ESCAPE: return "dDsSwWbBckpPxufnrtv0123456789^$\\.*+?()[]{}|/-";
    case SYNTAX_HEX: case SYNTAX_UNICODE: case SYNTAX_BRACE: case SYNTAX_BRACED: return "0123456789abcdefABCDEF{}";
    case SYNTAX_PROPERTY: return "{";
    case SYNTAX_NAMED: return "<";
    default: return NULL;
    }
}

/* A RX_SYNTAX node, or that in an intersection; NONE: there is none. */
static rx_id syntax_part(const rx_arena *x, rx_id id) {
    rx_id part = id;
    for (u32 i = 1; rx_kind_of(x, id) == RX_AND && i < intern_length(&x->nodes, id); i++)
        if (rx_kind_of(x, intern_words(&x->nodes, id)[i]) == RX_SYNTAX) part = intern_words(&x->nodes, id)[i];
    return rx_kind_of(x, part) == RX_SYNTAX ? part : NONE;
}

u32 rx_syntax_way_out(const rx_arena *x, rx_id id) {
    rx_id part = syntax_part(x, id);
    if (part == NONE) return 0;
    syntax s = syntax_of(intern_words(&x->nodes, part));
    return s.phase >= SYNTAX_LOW && s.phase <= SYNTAX_HIGH ? '}' : 0;
}

/* By two bytes the other parts of an intersection have the same derivatives. */
static bool are_alike_beside(rx_arena *x, rx_id id, rx_id part, u32 a, u32 b) {
    bool alike = true;
    for (u32 i = 1; alike && id != part && i < intern_length(&x->nodes, id); i++) {
        rx_id other = intern_words(&x->nodes, id)[i];
        alike = other == part || rx_derive(x, other, a) == rx_derive(x, other, b);
    }
    return alike;
}

bool rx_syntax_is_outdone(rx_arena *x, rx_id id, u32 byte) {
    rx_id part = byte >= '1' && byte <= '9' ? syntax_part(x, id) : NONE;
    if (part == NONE) return false;
    syntax s = syntax_of(intern_words(&x->nodes, part));
    bool is_first = s.phase == SYNTAX_ESCAPE && s.place == SYNTAX_OUTSIDE; /* \0 is something else */
    if (!is_first && s.phase != SYNTAX_COUNT && s.phase != SYNTAX_LOW && s.phase != SYNTAX_REFERENCE) return false;
    for (u32 less = is_first ? '1' : '0'; less < byte; less++)
        if (are_alike_beside(x, id, part, x->class_byte[x->class_of[less]], byte)) return true;
    return false;
}

void rx_syntax_must(const u32 *node, byte_set *out) {
    syntax s = syntax_of(node);
    bool is_group = s.place == SYNTAX_IN_GROUP_NAME || (s.phase >= SYNTAX_PAREN && s.phase <= SYNTAX_FLAGS);
    if (s.place == SYNTAX_IN_CLASS) set_add(out, ']');
    if (s.place > SYNTAX_IN_CLASS) set_add(out, '>');
    if (s.phase >= SYNTAX_COUNT && s.phase <= SYNTAX_HIGH) set_add(out, '}');
    if (s.depth || is_group || s.needed || s.wanted != NONE) set_add(out, ')');
    if (!is_group && (s.needed || s.wanted != NONE)) set_add(out, '(');
}

bool rx_syntax_is_structure(const u32 *node) {
    syntax s = syntax_of(node);
    return s.below == NONE && s.names == NONE && s.wanted == NONE && s.text == NONE && s.phase != SYNTAX_HIGH;
}

/* --- loose nodes ---------------------------------------------------------------------------------------------------------- */

static rx_id loosen_node(rx_arena *x, rx_id id) {
    syntax s = syntax_of(intern_words(&x->nodes, id));
    if (s.loose) return id;
    bool keeps_text = s.phase == SYNTAX_LOW || s.phase == SYNTAX_COMMA || s.phase == SYNTAX_HIGH;
    s.loose = 1;
    s.n_groups = s.needed = 0;
    s.names = s.wanted = NONE;
    if (!keeps_text) s.text = NONE;
    if (s.place == SYNTAX_IN_CLASS && s.range == SYNTAX_FIRST) {
        if (s.begun) return id; /* its bytes are told apart */
        s.low = s.lead = 0;
    }
    if (s.place == SYNTAX_IN_CLASS && s.range == SYNTAX_NO_RANGE && s.begun) return id;
    return syntax_node(x, &s);
}

/* What a text is under way to be, spelt in JSON. */
typedef struct spelt_syntax {
    rx_id quote, syntax; /* its nodes; syntax NONE: it is something else */
    u32 high;            /* so many characters may come */
    bool is_excluded;    /* it is to be none */
} spelt_syntax;

static spelt_syntax spelt_of(const rx_arena *x, rx_id id) {
    spelt_syntax found = {.syntax = NONE, .high = NONE};
    u32 low;
    if (!x->has_syntax || rx_kind_of(x, id) != RX_CONCAT) return found;
    const u32 *node = intern_words(&x->nodes, found.quote = intern_words(&x->nodes, id)[1]);
    if (node[0] != RX_QUOTE || node[3] || !rx_begins_with_mark(x, intern_words(&x->nodes, id)[2])) return found; /* or within an escape */
    if (rx_kind_of(x, node[1]) == RX_SYNTAX) found.syntax = node[1];
    else if (rx_kind_of(x, node[1]) == RX_AND) found.syntax = beside_lengths(x, node[1], &low, &found.high, &found.is_excluded);
    return found;
}

enum { LONG_TOKEN = 16, ROOM = 96 };

/* What follows is more than any token of LONG_TOKEN bytes and the shortest way to an end of the pattern take. */
static bool has_room(const rx_arena *x, const spelt_syntax *at, const syntax *s) {
    return at->high == NONE || (!s->begun && at->high >= (u64)debt(x, s) + s->depth + ROOM);
}

/* Does only what is read from now on tell how long the pattern must be? And neither names nor references to them are under way. */
static bool owes_nothing(const syntax *s) {
    bool is_group = s->place == SYNTAX_IN_GROUP_NAME || (s->phase >= SYNTAX_PAREN && s->phase <= SYNTAX_LESS);
    if (s->needed || s->wanted != NONE || s->begun || (is_group && s->names != NONE)) return false;
    return s->place != SYNTAX_IN_REFERENCE_NAME && s->phase != SYNTAX_NAMED;
}

/* An intersection with another operand in place of one. */
static rx_id exchange(rx_arena *x, rx_id whole, rx_id part, rx_id other) {
    id_vec parts = {0};
    bool ok = other != NONE;
    for (u32 i = 1; ok && i < intern_length(&x->nodes, whole); i++) {
        rx_id operand = intern_words(&x->nodes, whole)[i];
        ok = vec_push(x->b, &parts, operand == part ? other : operand);
    }
    rx_id result = ok ? rx_and(x, parts.at, parts.n) : NONE;
    vec_drop(x->b, &parts);
    return result;
}

rx_id rx_loosen(rx_arena *x, rx_id id) {
    u32 node[5];
    spelt_syntax at = spelt_of(x, id);
    if (at.syntax == NONE) return id;
    syntax s = syntax_of(intern_words(&x->nodes, at.syntax));
    bool room = has_room(x, &at, &s);
    if (at.is_excluded ? !room || s.begun : !room && !owes_nothing(&s)) return id;
    memcpy(node, intern_words(&x->nodes, at.quote), sizeof node);
    rx_id loose = at.is_excluded ? x->text : loosen_node(x, at.syntax), tail = intern_words(&x->nodes, id)[2];
    if (!room) loose = exchange(x, node[1], at.syntax, loose);
    return loose == NONE ? NONE : rx_concat(x, rx_quote_again(x, loose, node), tail);
}

rx_loose rx_loose_of(const rx_arena *x, rx_id id) {
    spelt_syntax at = spelt_of(x, id);
    syntax s = syntax_of(intern_words(&x->nodes, at.syntax));
    bool is_group = s.place > SYNTAX_IN_CLASS || (s.phase >= SYNTAX_PAREN && s.phase <= SYNTAX_LESS) || s.phase == SYNTAX_NAMED;
    bool room = has_room(x, &at, &s), is_escape = s.phase == SYNTAX_ESCAPE || s.phase == SYNTAX_REFERENCE;
    return (rx_loose){s.place == SYNTAX_IN_CLASS, is_group, is_escape, .has_length = at.high != NONE, .is_far = at.high != NONE && room};
}

/* The bytes that rx_loose_differs asks for: of most tokens it only looks for these. */
static const bool loose_tells[0x80] = {['"'] = 1, ['\\'] = 1, ['u'] = 1, ['k'] = 1, ['<'] = 1, ['>'] = 1, ['['] = 1, ['-'] = 1, ['0'] = 1,
                                       ['1'] = 1, ['2'] = 1,  ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1};

bool rx_loose_differs(rx_loose at, const u8 *token, u32 n) {
    if (at.is_far && n > LONG_TOKEN) return true;
    for (u32 i = 0; i < n; i++) {
        u8 byte = token[i];
        if (byte >= 0x80 || !loose_tells[byte]) continue;
        if (byte == '"' || (byte == 'u' && i && token[i - 1] == '\\')) return true;
        if ((byte == '>' && at.in_group) || (byte == '-' && at.in_class && i + 1 < n)) return true;
        /* they may owe something */
        if (at.has_length && ((at.in_escape && ((byte >= '0' && byte <= '9') || byte == 'k')) || byte == '<')) return true;
        at.in_class |= byte == '[';
        at.in_group |= byte == '<';
        at.in_escape |= byte == '\\';
    }
    return false;
}
