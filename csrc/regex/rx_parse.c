/* Regular expression text -> expression. Stage 3 of 6.
 *
 * Idea. One pass from left to right, shift and reduce, no recursion and no syntax tree. `values` holds what is not yet put together:
 *
 *     a(b|cd|e   ->   values  a | "b" "cd" | e
 *                             ^ ^          ^
 *        branch of frame 0 ---+ +- first   +- branch of frame 1      (frame 0: the whole pattern; frame 1: the open group)
 *
 * From `first` on come the finished branches of the innermost open group, from `branch` on the operands of the branch at hand. "|"
 * reduces the branch to one value, ")" reduces the branches to one value, which becomes an operand of the group around it. A quantifier
 * replaces the topmost operand. A branch is put together from the right, so that sequences come out in normal form at linear cost;
 * branches that are plain literals become one trie.
 *
 * Dialects. ECMA-262 with the u flag, but tolerant where other dialects are in wide use and nothing else can be meant: identity escapes
 * of punctuation (\- \_ \@), ] { } as literals, [\w-.], (?i) at the start, (?P<name>...), (?#...), \pL, script names alone. Python: `re`
 * of 3.11 for str patterns. What cannot be a derivative (look-around, back-references, atomic groups) is refused by name and offset.
 *
 * Captures are not recorded, and lazy means the same as greedy: only the language counts.
 *
 * \B: matches in the empty text, as in ECMA-262 and Python 3.14 (in older ones it does not).
 *
 * Cost: linear in the pattern plus the ranges of its classes. Limits: max_regex_nesting groups in each other, counts below 2**32 - 1. */
#include "rx_parse.h"

#include "utf8.h"

enum { END = 256 }; /* what peek() says at the end of the pattern */

typedef enum value_kind {
    V_CHAR,  /* code point */
    V_PLAIN, /* expression without conditions */
    V_WAYS,  /* index into `ways` */
    V_BYTES  /* a finished branch that is a literal: offset and length in `bytes` */
} value_kind;

typedef enum value_role {
    R_ATOM,
    R_ASSERTION, /* ^ $ \b ...: cannot be repeated as such */
    R_REPEATED   /* has a quantifier */
} value_role;

typedef struct rx_value {
    u8 kind, role;
    u32 id, n;
} rx_value;

typedef struct frame {
    u32 open;   /* offset of the "(" */
    u32 flags;  /* to be restored at the ")" */
    u32 first;  /* values: the finished branches begin */
    u32 branch; /* values: the branch at hand begins */
    u32 bytes;  /* bytes: the literals of this group begin */
} frame;

typedef struct parser {
    rx_arena *x;
    budget *b; /* of x */
    ge_err *err;
    const u8 *text;
    size_t n, at;
    u32 dialect, flags;
    rx_context context;
    VEC(rx_value) values;
    VEC(frame) frames;
    VEC(u8) bytes;
    VEC(rx_ways) ways;
    rx_ranges set;         /* the class at hand ... */
    rx_ranges fixed;       /* ... and what is to be added after case folding */
    intern_table sources;  /* flags and texts of classes met so far ... */
    VEC(rx_id) source_ids; /* ... and what they became */
    VEC(u32) source;       /* one of them, or a name */
    intern_table names;    /* of groups */
    u32 word_flags;        /* those that \b was first used with; NONE before */
} parser;

/* --- errors ----------------------------------------------------------------------------------------------------------- */

/* before + name (made printable) + after */
static bool fail_name(parser *p, ge_status status, size_t offset, const char *before, const u8 *name, size_t n, const char *after) {
    if (p->b->status != GE_OK) return false;
    char *to = p->err->text, *end = p->err->text + sizeof p->err->text - 1;
    for (; *before && to < end; before++) *to++ = *before;
    for (size_t i = 0; i < n && i < 60 && to < end; i++) *to++ = name[i] >= 0x20 && name[i] < 0x7f ? (char)name[i] : '?';
    for (; *after && to < end; after++) *to++ = *after;
    *to = 0;
    p->err->offset = (u32)offset;
    return budget_fail(p->b, status);
}

static bool fail(parser *p, ge_status status, size_t offset, const char *text) {
    return fail_name(p, status, offset, text, NULL, 0, "");
}

static bool malformed(parser *p, size_t offset, const char *text) { return fail(p, GE_E_SYNTAX, offset, text); }
static bool refused(parser *p, size_t offset, const char *text) { return fail(p, GE_E_UNSUPPORTED, offset, text); }

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static u32 peek(const parser *p, size_t ahead) { return p->at + ahead < p->n ? p->text[p->at + ahead] : END; }

static bool take(parser *p, u32 byte) {
    if (peek(p, 0) != byte) return false;
    p->at++;
    return true;
}

static bool starts_with(const parser *p, const char *s) {
    for (size_t i = 0; s[i]; i++)
        if (peek(p, i) != (u8)s[i]) return false;
    return true;
}

static bool is_python(const parser *p) { return p->dialect == RX_PYTHON_FULL; }
static bool is_digit(u32 c) { return c >= '0' && c <= '9'; }
static bool is_octal(u32 c) { return c >= '0' && c <= '7'; }
static bool is_letter(u32 c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

static u32 hex_value(u32 c) {
    if (is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : NONE;
}

/* One code point at the cursor; the pattern is known to be valid UTF-8 and not to end here. */
static u32 next_code(parser *p) {
    u32 c = p->text[p->at++];
    if (c < 0x80) return c;
    u32 more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    c &= 0x3fu >> more;
    while (more--) c = c << 6 | (p->text[p->at++] & 0x3fu);
    return c;
}

static bool check_utf8(parser *p) {
    for (size_t i = 0, length; i < p->n; i += length) {
        const u8 *s = p->text + i;
        length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
        bool ok = length > 0 && i + length <= p->n;
        for (size_t k = 1; ok && k < length; k++) ok = (s[k] & 0xc0) == 0x80;
        if (ok && length == 3) ok = !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] > 0x9f);
        if (ok && length == 4) ok = !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] > 0x8f);
        if (!ok) return malformed(p, i, "the pattern is not valid UTF-8");
    }
    return true;
}

/* Exactly n hexadecimal digits, or NONE with the cursor unmoved. */
static u32 read_hex(parser *p, u32 n) {
    u32 code = 0;
    for (u32 i = 0; i < n; i++) {
        u32 digit = hex_value(peek(p, i));
        if (digit == NONE) return NONE;
        code = code << 4 | digit;
    }
    p->at += n;
    return code;
}

/* Decimal digits at the cursor; false if there are none. A number that is too large becomes UINT64_MAX. */
static bool read_number(parser *p, u64 *number) {
    if (!is_digit(peek(p, 0))) return false;
    *number = 0;
    for (; is_digit(peek(p, 0)); p->at++) *number = *number > UINT64_MAX / 20 ? UINT64_MAX : *number * 10 + (peek(p, 0) - '0');
    return true;
}

/* --- operands --------------------------------------------------------------------------------------------------------- */

static bool push(parser *p, value_kind kind, value_role role, u32 id) {
    rx_value v = {.kind = (u8)kind, .role = (u8)role, .id = id};
    return id != NONE && vec_push(p->b, &p->values, v);
}

static bool push_ways(parser *p, const rx_ways *w, value_role role) {
    return vec_push(p->b, &p->ways, *w) && push(p, V_WAYS, role, p->ways.n - 1);
}

/* An assertion: "" where a holds before and b after, or where c holds before and d after. */
static bool push_assertion(parser *p, u32 a, u32 b, u32 c, u32 d) {
    rx_ways w;
    rx_ways_clear(&w);
    return rx_ways_add(&p->context, &w, a, b, RX_ID_EMPTY) && rx_ways_add(&p->context, &w, c, d, RX_ID_EMPTY) &&
           push_ways(p, &w, R_ASSERTION);
}

/* The expression of the sorted ranges in p->set. */
static rx_id class_id(parser *p) { return rx_chars(p->x, p->set.at, p->set.n); }

static void begin_class(parser *p) { p->set.n = p->fixed.n = 0; }

/* The class in p->set and p->fixed becomes an operand. */
static bool push_class(parser *p, bool negated) {
    if (!rx_ranges_fold(p->b, &p->set, p->dialect, p->flags)) return false;
    for (u32 i = 0; i < p->fixed.n; i++)
        if (!rx_ranges_add(p->b, &p->set, p->fixed.at[i].low, p->fixed.at[i].high)) return false;
    rx_ranges_sort(&p->set);
    if (negated && !rx_ranges_invert(p->b, &p->set)) return false;
    return push(p, V_PLAIN, R_ATOM, class_id(p));
}

static bool push_code(parser *p, u32 code) {
    if (code >= 0xd800 && code < 0xe000) return push(p, V_PLAIN, R_ATOM, RX_ID_NEVER); /* no text has a lone surrogate */
    if (!(p->flags & RX_IGNORE_CASE)) return push(p, V_CHAR, R_ATOM, code);
    p->set.n = 0;
    if (!rx_ranges_add(p->b, &p->set, code, code) || !rx_ranges_fold(p->b, &p->set, p->dialect, p->flags)) return false;
    if (p->set.n == 1 && p->set.at[0].low == p->set.at[0].high) return push(p, V_CHAR, R_ATOM, code);
    return push(p, V_PLAIN, R_ATOM, class_id(p));
}

static bool push_dot(parser *p) {
    p->set.n = 0;
    if (!(p->flags & RX_DOT_ALL) && !rx_ranges_line_ends(p->b, &p->set, p->dialect)) return false;
    return rx_ranges_invert(p->b, &p->set) && push(p, V_PLAIN, R_ATOM, class_id(p));
}

/* p->set and its complement as expressions. */
static bool pair_of_classes(parser *p, rx_id *one, rx_id *other) {
    rx_ranges_sort(&p->set);
    *one = class_id(p);
    if (!rx_ranges_invert(p->b, &p->set)) return false;
    *other = class_id(p);
    return *one != NONE && *other != NONE;
}

static bool push_line_anchor(parser *p, bool start) {
    if (p->flags & RX_MULTI_LINE) {
        if (p->context.line == RX_ID_NEVER) {
            p->set.n = 0;
            if (!rx_ranges_line_ends(p->b, &p->set, p->dialect)) return false;
            if (!pair_of_classes(p, &p->context.line, &p->context.no_line)) return false;
        }
        return start ? push_assertion(p, RX_LINE, RX_ANY, NONE, NONE) : push_assertion(p, RX_ANY, RX_LINE, NONE, NONE);
    }
    if (start) return push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    return push_assertion(p, RX_ANY, is_python(p) ? RX_FINAL : RX_EDGE, NONE, NONE);
}

/* The flags that change what a class matches. Python's classes do not depend on case, but ranges in them do. */
static u32 class_flags(const parser *p) { return p->flags & (RX_IGNORE_CASE | RX_ASCII); }

static bool push_word_boundary(parser *p, size_t offset, bool negated) {
    u32 flags = is_python(p) ? p->flags & RX_ASCII : p->flags & RX_IGNORE_CASE;
    if (p->word_flags == NONE) {
        p->word_flags = flags;
        p->set.n = 0;
        if (!rx_ranges_escape(p->b, &p->set, 'w', p->dialect, p->flags)) return false;
        if (!pair_of_classes(p, &p->context.word, &p->context.other)) return false;
    }
    if (p->word_flags != flags) return refused(p, offset, "word boundary: \\w changes its meaning within the pattern");
    return negated ? push_assertion(p, RX_WORD, RX_WORD, RX_OTHER, RX_OTHER) : push_assertion(p, RX_WORD, RX_OTHER, RX_OTHER, RX_WORD);
}

/* --- reductions ------------------------------------------------------------------------------------------------------- */

/* head tail */
static rx_id prepend(parser *p, rx_value head, rx_id tail) {
    if (head.kind != V_CHAR) return rx_concat(p->x, head.id, tail);
    u8 bytes[4];
    for (u32 n = utf8_encode(head.id, bytes); n > 0; n--) tail = rx_concat(p->x, rx_byte(p->x, bytes[n - 1]), tail);
    return tail;
}

static rx_id plain_id(parser *p, rx_value v) {
    if (v.kind == V_BYTES && v.n == 0) return RX_ID_EMPTY;
    if (v.kind == V_BYTES) return rx_bytes(p->x, p->bytes.at + v.id, v.n);
    return prepend(p, v, RX_ID_EMPTY);
}

static bool ways_of(parser *p, rx_value v, rx_ways *out) {
    if (v.kind == V_WAYS) {
        *out = p->ways.at[v.id];
        return true;
    }
    rx_ways_clear(out);
    rx_id id = plain_id(p, v);
    return id != NONE && rx_ways_add(&p->context, out, RX_ANY, RX_ANY, id);
}

/* The operands of the branch at hand -> one value in their place. */
static bool reduce_branch(parser *p) {
    u32 from = p->frames.at[p->frames.n - 1].branch, i = p->values.n;
    rx_value branch = {.kind = V_BYTES, .id = p->bytes.n};
    u32 n_chars = 0;
    while (from + n_chars < i && p->values.at[from + n_chars].kind == V_CHAR) n_chars++;
    if (n_chars == i - from) {
        u8 bytes[4];
        for (u32 k = from; k < i; k++) {
            u32 n = utf8_encode(p->values.at[k].id, bytes);
            if (!vec_reserve(p->b, &p->bytes, n)) return false;
            memcpy(p->bytes.at + p->bytes.n, bytes, n);
            p->bytes.n += n;
        }
        branch.n = p->bytes.n - branch.id;
        p->values.n = from;
        return vec_push(p->b, &p->values, branch);
    }
    rx_ways right, left; /* what stands to the right of values[i], if `conditions` */
    bool conditions = false;
    rx_id run = RX_ID_EMPTY;
    while (i > from) {
        run = RX_ID_EMPTY;
        for (; i > from && p->values.at[i - 1].kind != V_WAYS && run != NONE; i--) run = prepend(p, p->values.at[i - 1], run);
        if (run == NONE) return false;
        if (i == from && !conditions) break;
        if (run != RX_ID_EMPTY) {
            rx_ways_clear(&left);
            left.at[RX_ANY][RX_ANY] = run;
            if (!conditions) right = left;
            else if (!rx_ways_concat(&p->context, &left, &right, &right)) return false;
            conditions = true;
        }
        if (i == from) break;
        left = p->ways.at[p->values.at[--i].id];
        if (!conditions) right = left;
        else if (!rx_ways_concat(&p->context, &left, &right, &right)) return false;
        conditions = true;
    }
    p->values.n = from;
    return conditions ? push_ways(p, &right, R_ATOM) : push(p, V_PLAIN, R_ATOM, run);
}

static int compare_literals(const void *a, const void *b) {
    const literal *p = a, *q = b;
    int order = memcmp(p->at, q->at, min_u32(p->n, q->n));
    return order ? order : p->n < q->n ? -1 : p->n > q->n;
}

/* All literal branches among values[from ..) as one expression; NEVER if there are none. */
static rx_id join_literals(parser *p, u32 from) {
    static const u8 nothing = 0;
    VEC(literal) literals = {0};
    rx_id id = NONE;
    for (u32 i = from; i < p->values.n; i++) {
        rx_value v = p->values.at[i];
        if (v.kind != V_BYTES) continue;
        literal l = {v.n ? p->bytes.at + v.id : &nothing, v.n};
        if (!vec_push(p->b, &literals, l)) goto done;
    }
    if (literals.n == 0) {
        id = RX_ID_NEVER;
        goto done;
    }
    qsort(literals.at, literals.n, sizeof *literals.at, compare_literals);
    u32 n = 0;
    for (u32 i = 0; i < literals.n; i++)
        if (n == 0 || compare_literals(&literals.at[n - 1], &literals.at[i]) != 0) literals.at[n++] = literals.at[i];
    id = n == 1 ? rx_bytes(p->x, literals.at[0].at, literals.at[0].n) : rx_literals(p->x, literals.at, n);
done:
    vec_drop(p->b, &literals);
    return id;
}

/* Cell (a, b) of the union of the branches values[from ..). */
static rx_id join_cell(parser *p, u32 from, u32 a, u32 b) {
    VEC(rx_id) ids = {0};
    rx_id id = NONE;
    bool plain = a == RX_ANY && b == RX_ANY;
    if (plain && !vec_push(p->b, &ids, join_literals(p, from))) goto done;
    for (u32 i = from; i < p->values.n; i++) {
        rx_value v = p->values.at[i];
        rx_id part = v.kind == V_WAYS ? p->ways.at[v.id].at[a][b] : v.kind == V_PLAIN && plain ? v.id : RX_ID_NEVER;
        if (part != RX_ID_NEVER && !vec_push(p->b, &ids, part)) goto done;
    }
    id = rx_or(p->x, ids.at, ids.n);
done:
    vec_drop(p->b, &ids);
    return id;
}

/* The branches of the innermost frame, the one at hand last, -> one value in their place. The frame stays. */
static bool reduce_group(parser *p) {
    frame f = p->frames.at[p->frames.n - 1];
    if (!reduce_branch(p)) return false;
    rx_value v = p->values.at[f.first];
    v.role = R_ATOM;
    if (p->values.n - f.first == 1) {
        if (v.kind == V_BYTES) {
            v.id = plain_id(p, v);
            v.kind = V_PLAIN;
        }
        p->values.n = f.first;
        p->bytes.n = f.bytes;
        return v.id != NONE && vec_push(p->b, &p->values, v);
    }
    bool conditions = false;
    for (u32 i = f.first; i < p->values.n; i++) conditions |= p->values.at[i].kind == V_WAYS;
    rx_ways w;
    rx_ways_clear(&w);
    for (u32 a = 0; a < (conditions ? RX_N_CONDITIONS : 1u); a++)
        for (u32 b = 0; b < (conditions ? RX_N_CONDITIONS : 1u); b++) {
            w.at[a][b] = join_cell(p, f.first, a, b);
            if (w.at[a][b] == NONE) return false;
        }
    p->values.n = f.first;
    p->bytes.n = f.bytes;
    return conditions ? push_ways(p, &w, R_ATOM) : push(p, V_PLAIN, R_ATOM, w.at[0][0]);
}

/* --- escapes ---------------------------------------------------------------------------------------------------------- */

typedef enum escape {
    E_FAILED,
    E_CODE,  /* a code point */
    E_CLASS, /* ranges were appended to p->set, or p->fixed if they are not to be folded */
    E_WORD_BOUNDARY,
    E_NO_WORD_BOUNDARY,
    E_START,
    E_END,
    E_OTHER /* none that is known */
} escape;

static escape bad_escape(parser *p, size_t offset) {
    size_t end = p->at < p->n ? p->at + 1 : p->n;
    fail_name(p, GE_E_SYNTAX, offset, "bad escape ", p->text + offset, end - offset, "");
    return E_FAILED;
}

static escape refused_escape(parser *p, size_t offset, const char *text) {
    refused(p, offset, text);
    return E_FAILED;
}

/* What other dialects have, so that the message can say what to do. */
static const char *foreign_escape(u32 c) {
    switch (c) {
    case 'A': return "\\A: an anchor of other dialects; in ECMA-262 it is ^";
    case 'Z':
    case 'z': return "\\Z: an anchor of other dialects; in ECMA-262 it is $";
    case 'G': return "\\G: an anchor of other dialects";
    case 'K': return "\\K: a reset of the match start";
    case 'Q':
    case 'E': return "\\Q...\\E: quoting of other dialects";
    case 'h':
    case 'H':
    case 'R':
    case 'X': return "\\h \\R \\X: classes of other dialects";
    default: return NULL;
    }
}

static escape read_property(parser *p, size_t offset, bool negated) {
    const u8 *name = p->text + p->at;
    size_t n = 1;
    if (take(p, '{')) {
        name++;
        size_t from = p->at;
        while (peek(p, 0) != '}' && peek(p, 0) != END) p->at++;
        n = p->at - from;
        if (!take(p, '}')) return malformed(p, offset, "\\p{ without }"), E_FAILED;
    } else {
        if (!is_letter(peek(p, 0))) return malformed(p, offset, "\\p without a property name in braces"), E_FAILED;
        p->at++;
    }
    rx_ranges set = {0};
    bool known = false, ok = rx_ranges_property(p->b, &set, name, n, &known);
    if (ok && !known) ok = fail_name(p, GE_E_SYNTAX, offset, "unknown Unicode property \"", name, n, "\"");
    if (ok && negated) ok = rx_ranges_invert(p->b, &set);
    for (u32 i = 0; ok && i < set.n; i++) ok = rx_ranges_add(p->b, &p->set, set.at[i].low, set.at[i].high);
    vec_drop(p->b, &set);
    return ok ? E_CLASS : E_FAILED;
}

/* \u of ECMA-262: \uHHHH, two of them that are a surrogate pair, \u{H...} */
static escape read_unicode(parser *p, size_t offset, u32 *code) {
    if (take(p, '{')) {
        u32 digits = 0, digit;
        for (*code = 0; (digit = hex_value(peek(p, 0))) != NONE; p->at++, digits++)
            if (*code <= 0x10ffff) *code = *code << 4 | digit;
        return digits && *code <= 0x10ffff && take(p, '}') ? E_CODE : bad_escape(p, offset);
    }
    *code = read_hex(p, 4);
    if (*code == NONE) return bad_escape(p, offset);
    if (*code >= 0xd800 && *code < 0xdc00 && starts_with(p, "\\u")) {
        size_t here = p->at;
        p->at += 2;
        u32 low = read_hex(p, 4);
        if (low != NONE && low >= 0xdc00 && low < 0xe000) *code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
        else p->at = here;
    }
    return E_CODE;
}

static escape read_python_digits(parser *p, size_t offset, bool in_class, u32 *code) {
    u32 c = peek(p, 0), n = 0;
    bool octal = c == '0' || in_class || (is_octal(c) && is_octal(peek(p, 1)) && is_octal(peek(p, 2)));
    if (!octal) return refused_escape(p, offset, "back-reference: what a group matched cannot be matched again");
    *code = 0;
    for (; n < 3 && is_octal(peek(p, 0)); n++, p->at++) *code = *code * 8 + (peek(p, 0) - '0');
    if (n == 0 || *code > 255) return bad_escape(p, offset);
    return E_CODE;
}

/* Those that both dialects have. */
static escape read_common_escape(parser *p, u32 c, size_t offset, bool in_class, u32 *code) {
    switch (c) {
    case 't': return *code = '\t', E_CODE;
    case 'n': return *code = '\n', E_CODE;
    case 'v': return *code = '\v', E_CODE;
    case 'f': return *code = '\f', E_CODE;
    case 'r': return *code = '\r', E_CODE;
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 's':
    case 'S': return rx_ranges_escape(p->b, is_python(p) ? &p->fixed : &p->set, c, p->dialect, p->flags) ? E_CLASS : E_FAILED;
    case 'b':
        if (!in_class) return E_WORD_BOUNDARY;
        return *code = '\b', E_CODE;
    case 'B': return in_class ? E_OTHER : E_NO_WORD_BOUNDARY;
    case 'x': return (*code = read_hex(p, 2)) != NONE ? E_CODE : E_OTHER;
    case 'u':
        if (!is_python(p)) return read_unicode(p, offset, code);
        return (*code = read_hex(p, 4)) != NONE ? E_CODE : E_OTHER;
    default: return E_OTHER;
    }
}

static escape read_python_escape(parser *p, u32 c, size_t offset, bool in_class, u32 *code) {
    switch (c) {
    case 'a': return *code = '\a', E_CODE;
    case 'U': return (*code = read_hex(p, 8)) <= 0x10ffff ? E_CODE : E_OTHER;
    case 'N': return refused_escape(p, offset, "named character: \\N{...}; write the character itself");
    case 'A': return in_class ? E_OTHER : E_START;
    case 'Z':
    case 'z': /* Python 3.14 */
        return in_class ? E_OTHER : E_END;
    default: return E_OTHER;
    }
}

static escape read_ecma_escape(parser *p, u32 c, size_t offset, bool in_class, u32 *code) {
    if (c == '0' && !is_digit(peek(p, 0))) return *code = 0, E_CODE;
    if (c == 'c' && is_letter(peek(p, 0))) return *code = p->text[p->at++] & 31u, E_CODE;
    if (c == 'p' || c == 'P') return read_property(p, offset, c == 'P');
    if (c == 'k' || (c >= '1' && c <= '9' && !in_class))
        return refused_escape(p, offset, "back-reference: what a group matched cannot be matched again");
    return foreign_escape(c) ? refused_escape(p, offset, foreign_escape(c)) : E_OTHER;
}

/* The cursor is behind the "\" at `offset`. */
static escape read_escape(parser *p, bool in_class, u32 *code) {
    size_t offset = p->at - 1;
    u32 c = peek(p, 0);
    bool python = is_python(p);
    if (c == END) return malformed(p, offset, "the pattern ends in a backslash"), E_FAILED;
    if (c >= 0x80) return *code = next_code(p), E_CODE;
    if (python && is_digit(c)) return read_python_digits(p, offset, in_class, code);
    p->at++;
    escape found = read_common_escape(p, c, offset, in_class, code);
    if (found == E_OTHER) found = (python ? read_python_escape : read_ecma_escape)(p, c, offset, in_class, code);
    if (found != E_OTHER) return found;
    if (is_letter(c) || is_digit(c)) return p->at = offset + 1, bad_escape(p, offset);
    *code = c;
    return E_CODE;
}

static bool parse_escape(parser *p) {
    size_t offset = p->at++;
    u32 code = 0;
    begin_class(p);
    switch (read_escape(p, false, &code)) {
    case E_CODE: return push_code(p, code);
    case E_CLASS: return push_class(p, false);
    case E_WORD_BOUNDARY: return push_word_boundary(p, offset, false);
    case E_NO_WORD_BOUNDARY: return push_word_boundary(p, offset, true);
    case E_START: return push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    case E_END: return push_assertion(p, RX_ANY, RX_EDGE, NONE, NONE);
    default: return false;
    }
}

/* --- classes ---------------------------------------------------------------------------------------------------------- */

/* "[:alpha:]" at the cursor */
static bool at_posix_class(const parser *p) {
    size_t i = 2;
    if (!starts_with(p, "[:")) return false;
    if (peek(p, i) == '^') i++;
    while (is_letter(peek(p, i))) i++;
    return peek(p, i) == ':' && peek(p, i + 1) == ']';
}

static escape read_class_atom(parser *p, u32 *code) {
    if (take(p, '\\')) return read_escape(p, true, code);
    return *code = next_code(p), E_CODE;
}

static bool parse_class(parser *p) {
    size_t open = p->at++;
    bool negated = take(p, '^');
    begin_class(p);
    for (size_t first = p->at;;) {
        size_t offset = p->at;
        u32 low = 0, high = 0;
        if (peek(p, 0) == END) return malformed(p, open, "[ without ]");
        if (peek(p, 0) == ']' && !(is_python(p) && offset == first)) break;
        if (at_posix_class(p)) return refused(p, offset, "POSIX class: [:name:] is of other dialects; write \\p{...} or a range");
        escape left = read_class_atom(p, &low);
        if (left == E_FAILED) return false;
        if (peek(p, 0) != '-' || peek(p, 1) == ']' || peek(p, 1) == END) {
            if (left == E_CODE && !rx_ranges_add(p->b, &p->set, low, low)) return false;
            continue;
        }
        p->at++;
        if (at_posix_class(p)) return refused(p, p->at, "POSIX class: [:name:] is of other dialects; write \\p{...} or a range");
        escape right = read_class_atom(p, &high);
        if (right == E_FAILED) return false;
        if (left == E_CODE && right == E_CODE) {
            if (low > high) return fail_name(p, GE_E_SYNTAX, offset, "the range ", p->text + offset, p->at - offset, " is out of order");
            if (!rx_ranges_add(p->b, &p->set, low, high)) return false;
            continue;
        }
        if (is_python(p)) return fail_name(p, GE_E_SYNTAX, offset, "bad range ", p->text + offset, p->at - offset, "");
        bool ok = rx_ranges_add(p->b, &p->set, '-', '-'); /* [\w-.]: "-" can only mean itself */
        if (ok && left == E_CODE) ok = rx_ranges_add(p->b, &p->set, low, low);
        if (ok && right == E_CODE) ok = rx_ranges_add(p->b, &p->set, high, high);
        if (!ok) return false;
    }
    p->at++;
    return push_class(p, negated);
}

/* --- quantifiers ------------------------------------------------------------------------------------------------------ */

/* {n} {n,} {n,m} {,m}: reads it and returns true, or leaves the cursor where it was. */
static bool read_braces(parser *p, u64 *low, u64 *high) {
    size_t open = p->at++;
    bool has_low = read_number(p, low), comma = take(p, ','), has_high = comma && read_number(p, high);
    if (!has_low) *low = 0;
    if (!comma) *high = *low;
    else if (!has_high) *high = NONE;
    if (!take(p, '}') || (!has_low && !comma) || (!has_low && !is_python(p))) {
        bool ambiguous = !has_low && has_high && p->text[p->at - 1] == '}';
        p->at = open;
        if (ambiguous) malformed(p, open, "{,m} is no quantifier in ECMA-262; write {0,m} (or \\{ for a brace)");
        return false;
    }
    if (has_high && *high >= NONE) *high = UINT64_MAX;
    return true;
}

static bool parse_quantifier(parser *p, size_t offset, u64 low, u64 high) {
    bool lazy = take(p, '?'); /* the same language */
    if (p->values.n == p->frames.at[p->frames.n - 1].branch) return malformed(p, offset, "nothing to repeat");
    rx_value v = p->values.at[p->values.n - 1];
    if (v.role == R_ASSERTION) return malformed(p, offset, "nothing to repeat: an assertion cannot be repeated");
    if (v.role == R_REPEATED) return malformed(p, offset, is_python(p) ? "multiple repeat" : "nothing to repeat: this has a quantifier");
    if (!lazy && peek(p, 0) == '+') return refused(p, offset, "possessive quantifier: it would not backtrack");
    if (low > high) return malformed(p, offset, "the minimum of a repetition is above its maximum");
    if (low >= NONE || high == UINT64_MAX) return refused(p, offset, "repetition count: above 4294967294");
    p->values.n--;
    if (v.kind != V_WAYS) return push(p, V_PLAIN, R_REPEATED, rx_repeat(p->x, plain_id(p, v), (u32)low, (u32)high));
    rx_ways w;
    bool too_hard;
    if (!rx_ways_repeat(&p->context, &p->ways.at[v.id], (u32)low, (u32)high, &w, &too_hard))
        return too_hard && refused(p, offset, "counted assertion: \\b, $ or a line anchor in a part that is counted beyond 100");
    return push_ways(p, &w, R_REPEATED);
}

static bool parse_brace(parser *p) {
    size_t offset = p->at;
    u64 low = 0, high = 0;
    if (read_braces(p, &low, &high)) return parse_quantifier(p, offset, low, high);
    p->at++;
    return p->b->status == GE_OK && push_code(p, '{');
}

/* --- groups ----------------------------------------------------------------------------------------------------------- */

static bool open_frame(parser *p, size_t offset, u32 flags) {
    if (p->frames.n > p->b->limits.max_regex_nesting) return budget_limit(p->b, LIMIT(max_regex_nesting));
    frame f = {.open = (u32)offset, .flags = p->flags, .first = p->values.n, .branch = p->values.n, .bytes = p->bytes.n};
    p->flags = flags;
    return vec_push(p->b, &p->frames, f);
}

static bool read_name(parser *p, size_t offset) { /* behind "<" */
    size_t from = p->at;
    for (u32 c; (c = peek(p, 0)) != '>' && c != END; p->at++) {
        bool ok = is_letter(c) || c == '_' || c >= 0x80 || (c == '$' && !is_python(p)) || (is_digit(c) && p->at > from);
        if (!ok) return malformed(p, p->at, "bad character in a group name");
    }
    if (peek(p, 0) == END) return malformed(p, offset, "a group name without >");
    if (p->at == from) return malformed(p, p->at, "a group name is missing");
    bool fresh = true;
    p->source.n = 0;
    for (size_t i = from; i < p->at; i++)
        if (!vec_push(p->b, &p->source, p->text[i])) return false;
    if (intern(p->b, &p->names, p->source.at, p->source.n, &fresh) == NONE) return false;
    /* ECMA-262 allows it in different branches; as nothing refers to a name, it does no harm there */
    if (!fresh && is_python(p)) return malformed(p, from, "this group name is taken");
    p->at++;
    return true;
}

static u32 flag_of(const parser *p, u32 letter) {
    switch (letter) {
    case 'i': return RX_IGNORE_CASE;
    case 'm': return RX_MULTI_LINE;
    case 's': return RX_DOT_ALL;
    case 'x': return is_python(p) ? RX_VERBOSE : 0;
    case 'a': return is_python(p) ? RX_ASCII : 0;
    default: return 0;
    }
}

/* Behind "(?", at the first flag or "-": (?i) (?i:...) (?i-s:...) */
static bool parse_flags(parser *p, size_t offset) {
    u32 on = 0, off = 0;
    bool minus = false, unicode = false;
    for (u32 c; (c = peek(p, 0)) != ')' && c != ':'; p->at++) {
        if (c == END) return malformed(p, offset, "( without )");
        if (c == '-' && !minus) {
            minus = true;
            continue;
        }
        u32 flag = flag_of(p, c);
        if (is_python(p) && c == 'u' && !minus) unicode = true;
        else if (flag == 0 && is_letter(c)) return fail_name(p, GE_E_UNSUPPORTED, p->at, "inline flag: ", p->text + p->at, 1, " is not known here");
        else if (flag == 0) return malformed(p, p->at, "unknown extension of (?");
        else if (minus && flag == RX_ASCII) return malformed(p, p->at, "the flag a cannot be turned off");
        *(minus ? &off : &on) |= flag;
    }
    if (on & off) return malformed(p, offset, "a flag is turned on and off");
    if (unicode && (on & RX_ASCII)) return malformed(p, offset, "the flags a and u are incompatible");
    if (minus && off == 0) return malformed(p, p->at, "a flag is missing");
    if (take(p, ':')) return open_frame(p, offset, ((p->flags & ~(unicode ? (u32)RX_ASCII : 0)) | on) & ~off);
    if (minus) return malformed(p, p->at, ": is missing");
    if (p->frames.n > 1 || p->values.n > 0) {
        if (is_python(p)) return malformed(p, offset, "global flags not at the start of the pattern");
        return refused(p, offset, "inline flags: only at the start of the pattern, or as (?i:...)");
    }
    if (unicode && p->flags & RX_ASCII) return malformed(p, offset, "the flags a and u are incompatible");
    p->at++;
    p->flags |= on;
    return true;
}

static bool parse_open(parser *p) {
    static const struct {
        const char *prefix, *name;
    } refusals[] = {
        {"=", "look-ahead: (?=...) is not supported"},
        {"!", "look-ahead: (?!...) is not supported"},
        {"<=", "look-behind: (?<=...) is not supported"},
        {"<!", "look-behind: (?<!...) is not supported"},
        {">", "atomic group: (?>...) is not supported"},
        {"(", "conditional: (?(...)...) is not supported"},
        {"|", "branch reset: (?|...) is not supported"},
        {"P=", "back-reference: what a group matched cannot be matched again"},
        {"P>", "recursion: a pattern cannot contain itself"},
        {"&", "recursion: a pattern cannot contain itself"},
        {"R", "recursion: a pattern cannot contain itself"},
        {"C", "callout: (?C...) is not supported"},
    };
    size_t offset = p->at++;
    if (!take(p, '?')) return open_frame(p, offset, p->flags);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (starts_with(p, refusals[i].prefix)) return refused(p, offset, refusals[i].name);
    if (is_digit(peek(p, 0)) || ((peek(p, 0) == '+' || peek(p, 0) == '-') && is_digit(peek(p, 1))))
        return refused(p, offset, "recursion: a pattern cannot contain itself");
    if (take(p, '#')) {
        while (peek(p, 0) != ')' && peek(p, 0) != END) p->at++;
        return take(p, ')') || malformed(p, offset, "a comment without )");
    }
    if (take(p, ':')) return open_frame(p, offset, p->flags);
    bool named = starts_with(p, "P<") || (peek(p, 0) == '<' && !is_python(p));
    if (named) {
        p->at += peek(p, 0) == 'P' ? 2 : 1;
        return read_name(p, offset) && open_frame(p, offset, p->flags);
    }
    if (is_letter(peek(p, 0)) || peek(p, 0) == '-') return parse_flags(p, offset);
    if (peek(p, 0) == END) return malformed(p, offset, "( without )");
    return malformed(p, offset, "unknown extension of (?");
}

static bool parse_close(parser *p) {
    if (p->frames.n == 1) return malformed(p, p->at, ") without (");
    if (!reduce_group(p)) return false;
    p->flags = p->frames.at[--p->frames.n].flags;
    p->at++;
    return true;
}

static bool parse_bar(parser *p) {
    if (!reduce_branch(p)) return false;
    p->frames.at[p->frames.n - 1].branch = p->values.n;
    p->at++;
    return true;
}

/* --- the pattern ------------------------------------------------------------------------------------------------------ */

static bool skip_verbose(parser *p) {
    u32 c = peek(p, 0);
    if (!(p->flags & RX_VERBOSE)) return false;
    if (c == '#') {
        while (peek(p, 0) != '\n' && peek(p, 0) != END) p->at++;
        return true;
    }
    if (c != ' ' && !(c >= '\t' && c <= '\r')) return false;
    p->at++;
    return true;
}

static bool parse_one(parser *p) {
    size_t offset = p->at;
    switch (p->text[offset]) {
    case '\\': return parse_escape(p);
    case '[': return parse_class(p);
    case '(': return parse_open(p);
    case ')': return parse_close(p);
    case '|': return parse_bar(p);
    case '{': return parse_brace(p);
    case '.': return p->at++, push_dot(p);
    case '^': return p->at++, push_line_anchor(p, true);
    case '$': return p->at++, push_line_anchor(p, false);
    case '*': return p->at++, parse_quantifier(p, offset, 0, NONE);
    case '+': return p->at++, parse_quantifier(p, offset, 1, NONE);
    case '?': return p->at++, parse_quantifier(p, offset, 0, 1);
    default: return push_code(p, next_code(p));
    }
}

/* Where the class ends that begins at the cursor, [...] or \d or \p{...}; 0 if there is none. Agrees with the parser on all classes that
 * it accepts. */
static size_t class_end(const parser *p) {
    size_t i = 1;
    u32 c = peek(p, 1);
    if (peek(p, 0) == '\\') {
        if (c < 128 && strchr("dDwWsS", (int)c) && c) return p->at + 2;
        if ((c != 'p' && c != 'P') || peek(p, 2) != '{') return 0;
        while (peek(p, i) != '}' && peek(p, i) != END) i++;
        return p->at + i + 1;
    }
    if (peek(p, 0) != '[') return 0;
    if (c == '^') i++;
    if (is_python(p) && peek(p, i) == ']') i++;
    for (; peek(p, i) != ']'; i++) {
        if (peek(p, i) == '\\') i++;
        if (peek(p, i) == END) return 0;
    }
    return p->at + i + 1;
}

/* The operand at the cursor; a class (\w \w \w) is worked out once, as a large one is costly to build. */
static bool parse_operand(parser *p) {
    size_t end = class_end(p);
    bool fresh;
    if (end == 0 || end > p->n) return parse_one(p);
    p->source.n = 0;
    if (!vec_push(p->b, &p->source, class_flags(p))) return false;
    for (size_t i = p->at; i < end; i++)
        if (!vec_push(p->b, &p->source, p->text[i])) return false;
    u32 k = intern(p->b, &p->sources, p->source.at, p->source.n, &fresh);
    if (k == NONE) return false;
    if (fresh) return parse_one(p) && vec_push(p->b, &p->source_ids, p->values.at[p->values.n - 1].id);
    p->at = end;
    return push(p, V_PLAIN, R_ATOM, p->source_ids.at[k]);
}

static rx_id parse_all(parser *p) {
    if (!check_utf8(p) || !open_frame(p, 0, p->flags)) return NONE;
    while (p->at < p->n)
        if (!skip_verbose(p) && !parse_operand(p)) return NONE;
    if (p->frames.n > 1) {
        malformed(p, p->frames.at[p->frames.n - 1].open, "( without )");
        return NONE;
    }
    if (!reduce_group(p)) return NONE;
    rx_value v = p->values.at[0];
    if (v.kind != V_WAYS && p->dialect != RX_ECMA_SEARCH) return plain_id(p, v);
    rx_ways w;
    if (!ways_of(p, v, &w)) return NONE;
    return p->dialect == RX_ECMA_SEARCH ? rx_ways_search(&p->context, &w) : rx_ways_full(&p->context, &w);
}

rx_id rx_parse(rx_arena *x, const u8 *pattern, size_t n, u32 dialect, u32 flags, ge_err *err) {
    parser p = {.x = x, .b = x->b, .err = err, .text = pattern, .n = n, .dialect = dialect, .flags = flags, .word_flags = NONE};
    if (n >= NONE || dialect >= RX_N_DIALECTS) {
        budget_fail(x->b, GE_E_ARGUMENT);
        return NONE;
    }
    p.context = (rx_context){.x = x, .word = RX_ID_NEVER, .other = RX_ID_NEVER, .line = RX_ID_NEVER, .no_line = RX_ID_NEVER};
    rx_id id = parse_all(&p);
    vec_drop(x->b, &p.values);
    vec_drop(x->b, &p.frames);
    vec_drop(x->b, &p.bytes);
    vec_drop(x->b, &p.ways);
    vec_drop(x->b, &p.set);
    vec_drop(x->b, &p.fixed);
    intern_drop(x->b, &p.sources);
    intern_drop(x->b, &p.names);
    vec_drop(x->b, &p.source_ids);
    vec_drop(x->b, &p.source);
    map_drop(x->b, &p.context.restricted);
    return x->b->status == GE_OK ? id : NONE;
}
