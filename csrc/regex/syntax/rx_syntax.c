/* Regular expressions of ECMA-262 as texts: what may come after what, character by character. See rx_syntax.h. */
#include "rx_syntax.h"
#include "../patterns/rx_parse.h"
#include "rx_syntax_names.h"
#include "../utf8.h"

enum { LAST_CODE_POINT = 0x10ffff, SYNTAX_DASHED = 8 /* of the flags */ };

static bool is_digit_char(u32 c) { return c >= '0' && c <= '9'; }
static bool is_letter_char(u32 c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_char_of(u32 c, const char *chars) { return c && c < 0x80 && strchr(chars, (int)c) != NULL; }

/* --- cells ---------------------------------------------------------------------------------------------------------------- */

static u32 new_cell(rx_arena *x, u32 rest, u32 item, u32 more) { return intern(x->b, &x->cells, (u32[]){rest, item, more}, 3, NULL); }
static u32 append_item(rx_arena *x, u32 rope, u32 item) { return new_cell(x, rope, item, syntax_length(x, rope) + 1); }

static bool has_name(const rx_arena *x, u32 list, u32 name, bool active_only) {
    for (; list != NONE; list = syntax_cell(x, list)[0])
        if (syntax_cell(x, list)[1] == name && (!active_only || syntax_cell(x, list)[2] & SYNTAX_ACTIVE)) return true;
    return false;
}

u32 syntax_compare(const rx_arena *x, u32 a, u32 b) {
    u32 result = 0; /* by the last items that differ, from the end: the first */
    for (; a != b; a = syntax_cell(x, a)[0], b = syntax_cell(x, b)[0]) {
        u32 p = syntax_cell(x, a)[1], q = syntax_cell(x, b)[1];
        if (p != q) result = p < q ? 1 : 2;
    }
    return result;
}

/* --- groups and names ----------------------------------------------------------------------------------------------------- */

static void open_group(rx_arena *x, syntax *s, bool takes_quantifier) {
    if (s->depth && s->depth % 32 == 0) {
        s->below = new_cell(x, s->below, s->closers, 0);
        s->closers = 0;
    }
    s->closers = s->closers << 1 | takes_quantifier;
    s->depth++;
    s->phase = SYNTAX_TERM;
}

static void open_capturing(rx_arena *x, syntax *s) {
    if (s->needed) s->needed--;
    if (!s->loose) s->n_groups++;
    open_group(x, s, true);
}

/* Names of alternatives at that depth: *closes*, they go to the one around it; else they
 * are not being read any more. Of equal names at equal depth one is kept, the active one. */
static void move_names(rx_arena *x, syntax *s, bool closes) {
    id_vec moved = {0}; /* pairs (name, where) */
    bool ok = true;
    for (u32 at = s->names; ok && at != NONE; at = syntax_cell(x, at)[0]) {
        u32 name = syntax_cell(x, at)[1], where = syntax_cell(x, at)[2], k = 0;
        if (where >> 1 == s->depth) where = closes ? 2 * (s->depth - 1) + SYNTAX_ACTIVE : 2 * s->depth;
        while (k < moved.n && (moved.at[k] != name || moved.at[k + 1] >> 1 != where >> 1)) k += 2;
        if (k < moved.n) moved.at[k + 1] |= where & SYNTAX_ACTIVE;
        else ok = vec_push(x->b, &moved, name) && vec_push(x->b, &moved, where);
    }
    s->names = NONE;
    while (ok && moved.n && (s->names = new_cell(x, s->names, moved.at[moved.n - 2], moved.at[moved.n - 1])) != NONE) moved.n -= 2;
    vec_drop(x->b, &moved);
}

static bool close_group(rx_arena *x, syntax *s) {
    if (s->depth == 0) return false;
    if (s->names != NONE) move_names(x, s, true);
    s->phase = s->closers & 1 ? SYNTAX_ATOM : SYNTAX_TERM;
    s->closers >>= 1;
    s->depth--;
    if (s->depth && s->depth % 32 == 0) {
        s->closers = syntax_cell(x, s->below)[1];
        s->below = syntax_cell(x, s->below)[0];
    }
    return true;
}

static u32 without_name(rx_arena *x, u32 list, u32 name) {
    id_vec kept = {0};
    bool ok = true;
    for (; ok && list != NONE; list = syntax_cell(x, list)[0])
        if (syntax_cell(x, list)[1] != name) ok = vec_push(x->b, &kept, syntax_cell(x, list)[1]);
    for (list = NONE; ok && kept.n && (list = new_cell(x, list, kept.at[kept.n - 1], 0)) != NONE;) kept.n--;
    vec_drop(x->b, &kept);
    return list;
}

static bool end_name(rx_arena *x, syntax *s) {
    bool defines = s->place == SYNTAX_IN_GROUP_NAME;
    u32 name = s->text;
    s->place = SYNTAX_OUTSIDE;
    s->range = SYNTAX_NO_RANGE;
    s->text = NONE;
    s->phase = SYNTAX_ATOM;
    if (defines && !s->loose) {
        if (has_name(x, s->names, name, true)) return false;
        if (has_name(x, s->wanted, name, false)) s->wanted = without_name(x, s->wanted, name);
        s->names = new_cell(x, s->names, name, 2 * s->depth + SYNTAX_ACTIVE);
    } else if (!s->loose && !has_name(x, s->names, name, false) && !has_name(x, s->wanted, name, false)) {
        s->wanted = new_cell(x, s->wanted, name, 0);
    }
    if (defines) open_capturing(x, s);
    return true;
}

/* --- characters that are not just any ------------------------------------------------------------------------------------- */

/* Is one from `low` to `high` in a name, the first of it or another? */
static bool is_in_name(const rx_arena *x, bool first, u32 low, u32 high) {
    if (low <= '$' && high >= '$') return true;
    if (first && low <= '_' && high >= '_') return true; /* ID_Continue has it */
    u32 from = 0, n = first ? x->id_start.n : x->id_continue.n;
    const char_range *at = first ? x->id_start.at : x->id_continue.at;
    while (from < n) { /* the first range that ends at `low` or behind it */
        u32 middle = (from + n) / 2;
        if (at[middle].high < low) from = middle + 1;
        else n = middle;
    }
    n = first ? x->id_start.n : x->id_continue.n;
    return from < n && at[from].low <= high;
}

/* Can a code point from `low` to `high` come, an escape of four digits if `is_unit`? */
static bool can_come(const rx_arena *x, const syntax *s, u32 low, u32 high, bool is_unit) {
    bool leads = is_unit && low <= 0xdbff && high >= 0xd800, trails = is_unit && low <= 0xdfff && high >= 0xdc00;
    u32 first_lead = max_u32(low, 0xd800), last_lead = min_u32(high, 0xdbff), first = max_u32(low, 0xdc00), last = min_u32(high, 0xdfff);
    bool is_first = s->range == SYNTAX_NO_RANGE;
    switch ((syntax_place)s->place) {
    case SYNTAX_OUTSIDE: return true;
    case SYNTAX_IN_CLASS:
        if (s->range != SYNTAX_DASH) return true;
        if (s->low == SYNTAX_SET) return false;
        if (s->lead && trails && combined(s->lead, last) >= s->low) return true;
        if (s->lead) return s->low <= s->lead && (!is_unit || low < 0xdc00 || high > 0xdfff);
        return high >= s->low || (leads && combined(last_lead, 0xdfff) >= s->low);
    default:
        if (s->lead) return trails && is_in_name(x, is_first, combined(s->lead, first), combined(s->lead, last));
        if (leads && is_in_name(x, is_first, combined(first_lead, 0xdc00), combined(last_lead, 0xdfff))) return true;
        return is_in_name(x, is_first, low, high);
    }
}

/* An atom of a class. What begins a range may matter, but not where rx_loosen has said otherwise. */
static bool add_atom(syntax *s, u32 code) {
    s->phase = SYNTAX_CLASS;
    if (s->range == SYNTAX_DASH) {
        if (s->low == SYNTAX_SET || code == SYNTAX_SET || code < s->low) return false;
        s->range = SYNTAX_NO_RANGE;
        s->low = 0;
        return true;
    }
    s->range = SYNTAX_FIRST;
    s->low = s->loose ? 0 : code;
    return true;
}

/* The lead surrogate that was the last atom is one by itself. */
static bool settle_lead(syntax *s) {
    u32 lead = s->lead;
    s->lead = 0;
    return !lead || s->range != SYNTAX_DASH || add_atom(s, lead);
}

static bool add_to_name(rx_arena *x, syntax *s, u32 code) {
    if (s->lead || !is_in_name(x, s->range == SYNTAX_NO_RANGE, code, code)) return false;
    s->phase = SYNTAX_NAME;
    s->range = SYNTAX_FIRST;
    if (!s->loose) s->text = append_item(x, s->text, code);
    return true;
}

/* A character that an escape stands for. */
static bool add_code(rx_arena *x, syntax *s, u32 code) {
    s->value = 0;
    s->phase = SYNTAX_ATOM;
    if (s->place == SYNTAX_OUTSIDE) return true;
    return s->place == SYNTAX_IN_CLASS ? add_atom(s, code) : add_to_name(x, s, code);
}

/* \uXXXX: perhaps half of a pair. */
static bool add_code_unit(rx_arena *x, syntax *s, u32 unit) {
    if (s->place == SYNTAX_OUTSIDE) return add_code(x, s, unit);
    bool in_class = s->place == SYNTAX_IN_CLASS;
    if (s->lead && is_trail(unit)) {
        u32 code = combined(s->lead, unit);
        s->lead = 0;
        if (in_class && s->range == SYNTAX_FIRST) s->range = SYNTAX_NO_RANGE; /* the lead was taken for an atom */
        return add_code(x, s, code);
    }
    if (s->lead && (!in_class || !settle_lead(s))) return false;
    if (!is_lead(unit)) return add_code(x, s, unit);
    s->value = 0;
    s->phase = in_class ? SYNTAX_CLASS : SYNTAX_NAME;
    if (in_class && s->range == SYNTAX_DASH) return s->lead = (u16)unit, s->low != SYNTAX_SET; /* it is compared when more is known */
    if (in_class && !add_atom(s, unit)) return false;
    if (!in_class || !s->loose) s->lead = (u16)unit;
    return true;
}

/* Is there a number that begins with these hexadecimal digits? */
static bool can_come_braced(const rx_arena *x, const syntax *s, u32 value) {
    if (value == 0) return can_come(x, s, 0, LAST_CODE_POINT, false);
    for (u32 low = value, high = value; low <= LAST_CODE_POINT; low <<= 4, high = high << 4 | 15)
        if (can_come(x, s, low, min_u32(high, LAST_CODE_POINT), false)) return true;
    return false;
}

/* --- terms ---------------------------------------------------------------------------------------------------------------- */

static bool take_outside(rx_arena *x, syntax *s, u32 c) {
    u32 before = s->phase;
    s->phase = SYNTAX_ATOM;
    switch (c) {
    case '^': case '$': s->phase = SYNTAX_TERM; return true;
    case '\\': s->phase = SYNTAX_ESCAPE; return true;
    case '*': case '+': s->phase = SYNTAX_QUANTIFIED; return before == SYNTAX_ATOM;
    case '?':
        s->phase = before == SYNTAX_ATOM ? SYNTAX_QUANTIFIED : SYNTAX_TERM;
        return before == SYNTAX_ATOM || before == SYNTAX_QUANTIFIED;
    case '{': s->phase = SYNTAX_COUNT; return before == SYNTAX_ATOM;
    case '(': s->phase = SYNTAX_PAREN; return true;
    case ')': return close_group(x, s);
    case '[':
        s->phase = SYNTAX_OPENED;
        s->place = SYNTAX_IN_CLASS;
        return true;
    case ']': case '}': return false;
    case '|':
        s->phase = SYNTAX_TERM;
        if (s->names != NONE) move_names(x, s, false);
        return true;
    default: return true;
    }
}

static bool take_class(syntax *s, u32 c) {
    bool opened = s->phase == SYNTAX_OPENED;
    s->phase = SYNTAX_CLASS;
    if (c == '\\') {
        s->phase = SYNTAX_ESCAPE;
        return s->range != SYNTAX_DASH || s->low != SYNTAX_SET;
    }
    if (!settle_lead(s)) return false;
    if (c == ']') {
        s->phase = SYNTAX_ATOM;
        s->place = SYNTAX_OUTSIDE;
        s->range = SYNTAX_NO_RANGE;
        s->low = 0;
        return true;
    }
    if (opened && c == '^') return true;
    if (c != '-' || s->range != SYNTAX_FIRST) return add_atom(s, c);
    s->range = SYNTAX_DASH;
    return true;
}

static bool take_name(rx_arena *x, syntax *s, u32 c) {
    if (c == '\\') return s->phase = SYNTAX_ESCAPE, true;
    if (c == '>') return s->range == SYNTAX_FIRST && !s->lead && end_name(x, s);
    return add_to_name(x, s, c);
}

/* A flag of a group, or the dash before those that it takes away. */
static bool take_flag(syntax *s, u32 c) {
    u32 flag = c == 'i' ? 1 : c == 'm' ? 2 : c == 's' ? 4 : c == '-' ? SYNTAX_DASHED : 0;
    if (!flag || s->flags & flag) return false;
    s->flags = (u8)(s->flags | flag);
    s->phase = SYNTAX_FLAGS;
    return true;
}

/* What kind of group it is that has begun. */
static bool take_group(rx_arena *x, syntax *s, u32 c) {
    switch (s->phase) {
    case SYNTAX_PAREN:
        if (c == '?') return s->phase = SYNTAX_QUESTION, true;
        open_capturing(x, s);
        return take_outside(x, s, c);
    case SYNTAX_QUESTION:
        if (c == '<') return s->phase = SYNTAX_LESS, true;
        if (c != ':' && c != '=' && c != '!') return take_flag(s, c);
        return open_group(x, s, c == ':'), true; /* with the flag u no assertion takes a quantifier */
    case SYNTAX_LESS:
        if (c == '=' || c == '!') return open_group(x, s, false), true;
        s->phase = SYNTAX_NAME;
        s->place = SYNTAX_IN_GROUP_NAME;
        return take_name(x, s, c);
    default: /* SYNTAX_FLAGS */
        if (c != ':') return take_flag(s, c);
        if (s->flags == SYNTAX_DASHED) return false;
        s->flags = 0;
        return open_group(x, s, true), true;
    }
}

static u32 append_digit(rx_arena *x, u32 rope, u32 c) { return rope == NONE && c == '0' ? NONE : append_item(x, rope, c - '0'); }

/* The digits of m so far beside as many of n: 0 equal, 1 less, 2 greater. */
static u32 order_of(const rx_arena *x, u32 m, u32 n) {
    for (u32 i = syntax_length(x, n); i > syntax_length(x, m); i--) n = syntax_cell(x, n)[0];
    return syntax_compare(x, m, n);
}

/* One more digit of m in {n,m}. Where those so far are less or greater than as many of n, which ones they are does not matter: the least or
 * the greatest stand for all. Where m is enough whatever follows, n is forgotten. */
static bool take_digit_of_high(rx_arena *x, syntax *s, u32 c) {
    u32 length = syntax_length(x, s->low), n = syntax_length(x, s->text), before = order_of(x, s->low, s->text), order = before;
    if (length == n) {
        s->text = NONE;
        s->low = 0;
        return true;
    }
    s->low = append_digit(x, s->low, before == 1 ? '0' : before == 2 ? '9' : c);
    if (s->low == NONE) return x->b->status == GE_OK; /* zeros in front */
    if (!before) order = order_of(x, s->low, s->text);
    if (order && !before) {
        s->low = append_item(x, NONE, order == 1 ? 1 : 9);
        for (u32 i = 0; i < length && s->low != NONE; i++) s->low = append_item(x, s->low, order == 1 ? 0 : 9);
        if (s->low == NONE) return false;
    }
    if (length + 1 < n || order == 1) return true;
    s->text = NONE;
    s->low = 0;
    return true;
}

/* An n that is 0 is forgotten. */
static bool take_count(rx_arena *x, syntax *s, u32 c) {
    u8 before = s->phase;
    if (is_digit_char(c)) {
        s->phase = before == SYNTAX_COUNT ? SYNTAX_LOW : before == SYNTAX_COMMA ? SYNTAX_HIGH : before;
        if (s->phase == SYNTAX_LOW) return s->text = append_digit(x, s->text, c), true;
        if (s->text == NONE) return true;
        if (before == SYNTAX_COMMA) s->low = NONE;
        return take_digit_of_high(x, s, c);
    }
    if (c == ',' && before == SYNTAX_LOW) return s->phase = SYNTAX_COMMA, true;
    if (c != '}' || before == SYNTAX_COUNT) return false;
    if (before == SYNTAX_HIGH && s->text != NONE) return false;
    s->phase = SYNTAX_QUANTIFIED;
    s->text = NONE;
    s->low = 0;
    return true;
}

/* --- escapes -------------------------------------------------------------------------------------------------------------- */

static bool add_set_of_chars(syntax *s) {
    s->value = s->left = 0;
    s->phase = SYNTAX_ATOM;
    return s->place == SYNTAX_OUTSIDE || add_atom(s, SYNTAX_SET);
}

static const char *const *list_of_names(u32 list, u32 *n) {
    *n = list == 0 ? sizeof syntax_properties / sizeof *syntax_properties : list == 1 ? sizeof syntax_categories / sizeof *syntax_categories
                                                                                     : sizeof syntax_scripts / sizeof *syntax_scripts;
    return list == 0 ? syntax_properties : list == 1 ? syntax_categories : syntax_scripts;
}

/* The list of values behind a name and `=`. */
static u32 list_behind(const char *name) { return name[0] == 'G' || name[0] == 'g' ? 1 : 2; }

u32 syntax_name_rest(u32 value, u32 length) {
    u32 n, least = NONE, at = value & 0xffff;
    const char *const *names = list_of_names(value >> 16, &n);
    for (u32 i = at; i < n && strncmp(names[i], names[at], length) == 0; i++) {
        u32 rest = (u32)strlen(names[i]);
        if (names[i][rest - 1] == '=') rest += syntax_name_rest(list_behind(names[i]) << 16, 0);
        least = min_u32(least, rest - length);
    }
    return least;
}

static bool take_property(syntax *s, u32 c) {
    u32 n, length = s->left;
    const char *const *names = list_of_names(s->value >> 16, &n), *begins = names[s->value & 0xffff];
    for (u32 i = s->value & 0xffff; i < n && strncmp(names[i], begins, length) == 0; i++) {
        if ((u8)names[i][length] != c) continue;
        s->left = (u8)(length + 1);
        s->value = (s->value & ~0xffffu) | i;
        if (c == '}') return add_set_of_chars(s);
        if (c != '=') return true;
        s->left = 0;
        s->value = list_behind(names[i]) << 16;
        return true;
    }
    return false;
}

static void refer_to(syntax *s, u32 number) {
    s->phase = SYNTAX_REFERENCE;
    s->value = number;
    if (!s->loose && number > s->n_groups) s->needed = max_u32(s->needed, number - s->n_groups);
}

static bool take_escape(rx_arena *x, syntax *s, u32 c) {
    static const char from[] = "fnrtv", to[] = "\f\n\r\t\v";
    bool in_class = s->place == SYNTAX_IN_CLASS;
    if (c == 'u') return s->phase = SYNTAX_UNICODE, true;
    if (s->place > SYNTAX_IN_CLASS || !settle_lead(s)) return false;
    if (is_char_of(c, "dDsSwW")) return add_set_of_chars(s);
    if (is_char_of(c, from)) return add_code(x, s, (u8)to[strchr(from, (int)c) - from]);
    if (is_char_of(c, "^$\\.*+?()[]{}|/") || (in_class && c == '-')) return add_code(x, s, c);
    switch (c) {
    case 'b': s->phase = SYNTAX_TERM; return !in_class || add_atom(s, '\b');
    case 'B': s->phase = SYNTAX_TERM; return !in_class;
    case 'c': s->phase = SYNTAX_CONTROL; return can_come(x, s, 1, 26, false);
    case 'k': s->phase = SYNTAX_NAMED; return !in_class;
    case 'p': case 'P': s->phase = SYNTAX_PROPERTY; return s->range != SYNTAX_DASH;
    case 'x':
        s->phase = SYNTAX_HEX;
        s->left = 2;
        return can_come(x, s, 0, 0xff, false);
    case '0':
        if (in_class && !add_atom(s, 0)) return false;
        s->phase = SYNTAX_ZERO;
        return true;
    default:
        if (!is_digit_char(c) || in_class) return false;
        return refer_to(s, c - '0'), true;
    }
}

static bool take_hex(rx_arena *x, syntax *s, u32 c) {
    int digit = hex_digit(c);
    if (digit < 0) return false;
    s->value = s->value << 4 | (u32)digit;
    u32 low = s->value << 4 * --s->left, high = low | (((u32)1 << 4 * s->left) - 1);
    return can_come(x, s, low, high, true) && (s->left || add_code_unit(x, s, s->value));
}

/* Behind \u. */
static bool take_unicode(rx_arena *x, syntax *s, u32 c) {
    int digit = hex_digit(c);
    if (s->phase == SYNTAX_UNICODE && c == '{') {
        if (s->lead && (s->place != SYNTAX_IN_CLASS || !settle_lead(s))) return false;
        return s->phase = SYNTAX_BRACE, true;
    }
    if (s->phase == SYNTAX_UNICODE) {
        s->phase = SYNTAX_HEX;
        s->left = 4;
        return take_hex(x, s, c);
    }
    if (s->phase == SYNTAX_BRACED && c == '}') return can_come(x, s, s->value, s->value, false) && add_code(x, s, s->value);
    if (digit < 0) return false;
    s->phase = SYNTAX_BRACED;
    s->value = s->value << 4 | (u32)digit;
    return s->value <= LAST_CODE_POINT && can_come_braced(x, s, s->value);
}

/* --- steps ---------------------------------------------------------------------------------------------------------------- */

static bool take_char(rx_arena *x, syntax *s, u32 c) {
    switch ((syntax_phase)s->phase) {
    case SYNTAX_REFERENCE: {
        u64 number = (u64)s->value * 10 + (c - '0');
        if (is_digit_char(c)) return number <= SYNTAX_MOST_GROUPS && (refer_to(s, (u32)number), true);
        s->value = 0;
        s->phase = SYNTAX_ATOM;
        return take_outside(x, s, c);
    }
    case SYNTAX_ZERO:
        s->phase = s->place == SYNTAX_IN_CLASS ? SYNTAX_CLASS : SYNTAX_ATOM;
        return !is_digit_char(c) && take_char(x, s, c);
    case SYNTAX_TERM: case SYNTAX_ATOM: case SYNTAX_QUANTIFIED: return take_outside(x, s, c);
    case SYNTAX_OPENED: case SYNTAX_CLASS: return take_class(s, c);
    case SYNTAX_NAME: return take_name(x, s, c);
    case SYNTAX_PAREN: case SYNTAX_QUESTION: case SYNTAX_LESS: case SYNTAX_FLAGS: return take_group(x, s, c);
    case SYNTAX_COUNT: case SYNTAX_LOW: case SYNTAX_COMMA: case SYNTAX_HIGH: return take_count(x, s, c);
    case SYNTAX_ESCAPE: return take_escape(x, s, c);
    case SYNTAX_CONTROL: return is_letter_char(c) && add_code(x, s, c & 31);
    case SYNTAX_HEX: return take_hex(x, s, c);
    case SYNTAX_UNICODE: case SYNTAX_BRACE: case SYNTAX_BRACED: return take_unicode(x, s, c);
    case SYNTAX_PROPERTY: s->phase = SYNTAX_PROPERTY_NAME; return c == '{';
    case SYNTAX_PROPERTY_NAME: return take_property(s, c);
    default: /* SYNTAX_NAMED */
        s->phase = SYNTAX_NAME;
        s->place = SYNTAX_IN_REFERENCE_NAME;
        return c == '<';
    }
}

/* Does it not matter which character outside ASCII it is? */
static bool is_any_far(const syntax *s) {
    return s->place == SYNTAX_OUTSIDE || (s->place == SYNTAX_IN_CLASS && s->loose && s->range != SYNTAX_DASH);
}

u32 syntax_utf8_phase(const syntax *s) {
    u32 phase = UTF8_START, n = s->begun > 0xffff ? 3 : s->begun > 0xff ? 2 : s->begun > 0 ? 1 : 0;
    if (is_any_far(s)) return s->begun;
    while (n--) phase = utf8_step(phase, s->begun >> 8 * n & 0xff);
    return phase;
}

/* The characters that may begin so: the bytes were looked at one by one, but not what the first of them excludes of the next. */
static void range_of_bytes(u32 bytes, u32 *low, u32 *high) {
    utf8_range(bytes, low, high);
    if (bytes == 0xe0) *low = 0x800;
    if (bytes == 0xed) *high = 0xd7ff;
    if (bytes == 0xf0) *low = 0x10000;
    *high = min_u32(*high, LAST_CODE_POINT);
}

/* The state before a character outside ASCII, where one may come. */
static bool begin_far(rx_arena *x, syntax *s) {
    switch ((syntax_phase)s->phase) {
    case SYNTAX_PAREN:
        open_capturing(x, s);
        break;
    case SYNTAX_TERM: case SYNTAX_ATOM: case SYNTAX_QUANTIFIED: case SYNTAX_REFERENCE: break;
    case SYNTAX_ZERO: case SYNTAX_OPENED: case SYNTAX_CLASS:
        if (!settle_lead(s)) return false;
        break;
    case SYNTAX_NAME: return !s->lead;
    case SYNTAX_LESS:
        s->phase = SYNTAX_NAME;
        s->place = SYNTAX_IN_GROUP_NAME;
        return true;
    default: return false;
    }
    s->value = 0;
    s->phase = s->place == SYNTAX_IN_CLASS ? SYNTAX_CLASS : SYNTAX_ATOM; /* as behind it: where it may go on, no more is asked */
    return true;
}

bool syntax_step(rx_arena *x, syntax *s, u32 byte) {
    if (byte < 0x80) return !s->begun && take_char(x, s, byte);
    if (!s->begun && !begin_far(x, s)) return false;
    u32 phase = utf8_step(syntax_utf8_phase(s), byte), bytes = s->begun << 8 | byte, low = 0, high = 0;
    if (phase == UTF8_DEAD) return false;
    if (is_any_far(s)) {
        s->begun = phase;
        return phase != UTF8_START || s->place == SYNTAX_OUTSIDE || add_atom(s, 0x80);
    }
    range_of_bytes(bytes, &low, &high);
    if (!can_come(x, s, low, high, false)) return false;
    s->begun = phase == UTF8_START ? 0 : bytes;
    if (phase != UTF8_START) return true;
    return s->place == SYNTAX_IN_CLASS ? add_atom(s, low) : add_to_name(x, s, low);
}

bool syntax_may_end(const syntax *s) {
    return s->phase <= SYNTAX_ZERO && s->place == SYNTAX_OUTSIDE && !s->begun && !s->depth && !s->needed && s->wanted == NONE;
}
