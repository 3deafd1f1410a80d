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
#include "rx_read.h"

#include "utf8.h"

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
    rx_reader in;
    rx_context context;
    VEC(rx_value) values;
    VEC(frame) frames;
    VEC(u8) bytes;
    VEC(rx_ways) ways;
    intern_table sources;  /* flags and texts of classes met so far ... */
    VEC(rx_id) source_ids; /* ... and what they became */
    VEC(u32) source;       /* one of them, or a name */
    intern_table names;    /* of groups */
    u32 word_flags;        /* those that \b was first used with; NONE before */
} parser;

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

/* The expression of the sorted ranges in p->in.set. */
static rx_id class_id(parser *p) { return rx_chars(p->x, p->in.set.at, p->in.set.n); }

/* The class in p->in.set and p->in.fixed becomes an operand. */
static bool push_class(parser *p, bool negated) {
    if (!rx_ranges_fold(p->b, &p->in.set, p->in.dialect, p->in.flags)) return false;
    for (u32 i = 0; i < p->in.fixed.n; i++)
        if (!rx_ranges_add(p->b, &p->in.set, p->in.fixed.at[i].low, p->in.fixed.at[i].high)) return false;
    rx_ranges_sort(&p->in.set);
    if (negated && !rx_ranges_invert(p->b, &p->in.set)) return false;
    return push(p, V_PLAIN, R_ATOM, class_id(p));
}

static bool push_code(parser *p, u32 code) {
    if (code >= 0xd800 && code < 0xe000) return push(p, V_PLAIN, R_ATOM, RX_ID_NEVER); /* no text has a lone surrogate */
    if (!(p->in.flags & RX_IGNORE_CASE)) return push(p, V_CHAR, R_ATOM, code);
    p->in.set.n = 0;
    if (!rx_ranges_add(p->b, &p->in.set, code, code) || !rx_ranges_fold(p->b, &p->in.set, p->in.dialect, p->in.flags)) return false;
    if (p->in.set.n == 1 && p->in.set.at[0].low == p->in.set.at[0].high) return push(p, V_CHAR, R_ATOM, code);
    return push(p, V_PLAIN, R_ATOM, class_id(p));
}

static bool push_dot(parser *p) {
    p->in.set.n = 0;
    if (!(p->in.flags & RX_DOT_ALL) && !rx_ranges_line_ends(p->b, &p->in.set, p->in.dialect)) return false;
    return rx_ranges_invert(p->b, &p->in.set) && push(p, V_PLAIN, R_ATOM, class_id(p));
}

/* p->in.set and its complement as expressions. */
static bool pair_of_classes(parser *p, rx_id *one, rx_id *other) {
    rx_ranges_sort(&p->in.set);
    *one = class_id(p);
    if (!rx_ranges_invert(p->b, &p->in.set)) return false;
    *other = class_id(p);
    return *one != NONE && *other != NONE;
}

static bool push_line_anchor(parser *p, bool start) {
    if (p->in.flags & RX_MULTI_LINE) {
        if (p->context.line == RX_ID_NEVER) {
            p->in.set.n = 0;
            if (!rx_ranges_line_ends(p->b, &p->in.set, p->in.dialect)) return false;
            if (!pair_of_classes(p, &p->context.line, &p->context.no_line)) return false;
        }
        return start ? push_assertion(p, RX_LINE, RX_ANY, NONE, NONE) : push_assertion(p, RX_ANY, RX_LINE, NONE, NONE);
    }
    if (start) return push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    return push_assertion(p, RX_ANY, rx_is_python(&p->in) ? RX_FINAL : RX_EDGE, NONE, NONE);
}

/* The flags that change what a class matches. Python's classes do not depend on case, but ranges in them do. */
static u32 class_flags(const parser *p) { return p->in.flags & (RX_IGNORE_CASE | RX_ASCII); }

static bool push_word_boundary(parser *p, size_t offset, bool negated) {
    u32 flags = rx_is_python(&p->in) ? p->in.flags & RX_ASCII : p->in.flags & RX_IGNORE_CASE;
    if (p->word_flags == NONE) {
        p->word_flags = flags;
        p->in.set.n = 0;
        if (!rx_ranges_escape(p->b, &p->in.set, 'w', p->in.dialect, p->in.flags)) return false;
        if (!pair_of_classes(p, &p->context.word, &p->context.other)) return false;
    }
    if (p->word_flags != flags) return rx_refused(&p->in, offset, "word boundary: \\w changes its meaning within the pattern");
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

static bool parse_escape(parser *p) {
    size_t offset = p->in.at++;
    u32 code = 0;
    rx_begin_class(&p->in);
    switch (rx_read_escape(&p->in, false, &code)) {
    case RX_E_CODE: return push_code(p, code);
    case RX_E_CLASS: return push_class(p, false);
    case RX_E_WORD_BOUNDARY: return push_word_boundary(p, offset, false);
    case RX_E_NO_WORD_BOUNDARY: return push_word_boundary(p, offset, true);
    case RX_E_START: return push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    case RX_E_END: return push_assertion(p, RX_ANY, RX_EDGE, NONE, NONE);
    default: return false;
    }
}

static bool parse_class(parser *p) {
    bool negated;
    return rx_read_class(&p->in, &negated) && push_class(p, negated);
}

/* --- quantifiers ------------------------------------------------------------------------------------------------------ */

/* {n} {n,} {n,m} {,m}: reads it and returns true, or leaves the cursor where it was. */
static bool read_braces(parser *p, u64 *low, u64 *high) {
    size_t open = p->in.at++;
    bool has_low = rx_read_number(&p->in, low), comma = rx_take(&p->in, ','), has_high = comma && rx_read_number(&p->in, high);
    if (!has_low) *low = 0;
    if (!comma) *high = *low;
    else if (!has_high) *high = NONE;
    if (!rx_take(&p->in, '}') || (!has_low && !comma) || (!has_low && !rx_is_python(&p->in))) {
        bool ambiguous = !has_low && has_high && p->in.text[p->in.at - 1] == '}';
        p->in.at = open;
        if (ambiguous) rx_malformed(&p->in, open, "{,m} is no quantifier in ECMA-262; write {0,m} (or \\{ for a brace)");
        return false;
    }
    if (has_high && *high >= NONE) *high = UINT64_MAX;
    return true;
}

static bool parse_quantifier(parser *p, size_t offset, u64 low, u64 high) {
    bool lazy = rx_take(&p->in, '?'); /* the same language */
    if (p->values.n == p->frames.at[p->frames.n - 1].branch) return rx_malformed(&p->in, offset, "nothing to repeat");
    rx_value v = p->values.at[p->values.n - 1];
    if (v.role == R_ASSERTION) return rx_malformed(&p->in, offset, "nothing to repeat: an assertion cannot be repeated");
    if (v.role == R_REPEATED) return rx_malformed(&p->in, offset, rx_is_python(&p->in) ? "multiple repeat" : "nothing to repeat: this has a quantifier");
    if (!lazy && rx_peek(&p->in, 0) == '+') return rx_refused(&p->in, offset, "possessive quantifier: it would not backtrack");
    if (low > high) return rx_malformed(&p->in, offset, "the minimum of a repetition is above its maximum");
    if (low >= NONE || high == UINT64_MAX) return rx_refused(&p->in, offset, "repetition count: above 4294967294");
    p->values.n--;
    if (v.kind != V_WAYS) return push(p, V_PLAIN, R_REPEATED, rx_repeat(p->x, plain_id(p, v), (u32)low, (u32)high));
    rx_ways w;
    bool too_hard;
    if (!rx_ways_repeat(&p->context, &p->ways.at[v.id], (u32)low, (u32)high, &w, &too_hard))
        return too_hard && rx_refused(&p->in, offset, "counted assertion: \\b, $ or a line anchor in a part that is counted beyond 100");
    return push_ways(p, &w, R_REPEATED);
}

static bool parse_brace(parser *p) {
    size_t offset = p->in.at;
    u64 low = 0, high = 0;
    if (read_braces(p, &low, &high)) return parse_quantifier(p, offset, low, high);
    p->in.at++;
    return p->b->status == GE_OK && push_code(p, '{');
}

/* --- groups ----------------------------------------------------------------------------------------------------------- */

static bool open_frame(parser *p, size_t offset, u32 flags) {
    if (p->frames.n > p->b->limits.max_regex_nesting) return budget_limit(p->b, LIMIT(max_regex_nesting));
    frame f = {.open = (u32)offset, .flags = p->in.flags, .first = p->values.n, .branch = p->values.n, .bytes = p->bytes.n};
    p->in.flags = flags;
    return vec_push(p->b, &p->frames, f);
}

static bool read_name(parser *p, size_t offset) { /* behind "<" */
    size_t from = p->in.at;
    for (u32 c; (c = rx_peek(&p->in, 0)) != '>' && c != RX_PATTERN_END; p->in.at++) {
        bool ok = rx_is_letter(c) || c == '_' || c >= 0x80 || (c == '$' && !rx_is_python(&p->in)) || (rx_is_digit(c) && p->in.at > from);
        if (!ok) return rx_malformed(&p->in, p->in.at, "bad character in a group name");
    }
    if (rx_peek(&p->in, 0) == RX_PATTERN_END) return rx_malformed(&p->in, offset, "a group name without >");
    if (p->in.at == from) return rx_malformed(&p->in, p->in.at, "a group name is missing");
    bool fresh = true;
    p->source.n = 0;
    for (size_t i = from; i < p->in.at; i++)
        if (!vec_push(p->b, &p->source, p->in.text[i])) return false;
    if (intern(p->b, &p->names, p->source.at, p->source.n, &fresh) == NONE) return false;
    /* ECMA-262 allows it in different branches; as nothing refers to a name, it does no harm there */
    if (!fresh && rx_is_python(&p->in)) return rx_malformed(&p->in, from, "this group name is taken");
    p->in.at++;
    return true;
}

static u32 flag_of(const parser *p, u32 letter) {
    switch (letter) {
    case 'i': return RX_IGNORE_CASE;
    case 'm': return RX_MULTI_LINE;
    case 's': return RX_DOT_ALL;
    case 'x': return rx_is_python(&p->in) ? RX_VERBOSE : 0;
    case 'a': return rx_is_python(&p->in) ? RX_ASCII : 0;
    default: return 0;
    }
}

/* Behind "(?", at the first flag or "-": (?i) (?i:...) (?i-s:...) */
static bool parse_flags(parser *p, size_t offset) {
    u32 on = 0, off = 0;
    bool minus = false, unicode = false;
    for (u32 c; (c = rx_peek(&p->in, 0)) != ')' && c != ':'; p->in.at++) {
        if (c == RX_PATTERN_END) return rx_malformed(&p->in, offset, "( without )");
        if (c == '-' && !minus) {
            minus = true;
            continue;
        }
        u32 flag = flag_of(p, c);
        if (rx_is_python(&p->in) && c == 'u' && !minus) unicode = true;
        else if (flag == 0 && rx_is_letter(c)) return rx_fail_at(&p->in, GE_E_UNSUPPORTED, p->in.at, "inline flag: ", p->in.text + p->in.at, 1, " is not known here");
        else if (flag == 0) return rx_malformed(&p->in, p->in.at, "unknown extension of (?");
        else if (minus && flag == RX_ASCII) return rx_malformed(&p->in, p->in.at, "the flag a cannot be turned off");
        *(minus ? &off : &on) |= flag;
    }
    if (on & off) return rx_malformed(&p->in, offset, "a flag is turned on and off");
    if (unicode && (on & RX_ASCII)) return rx_malformed(&p->in, offset, "the flags a and u are incompatible");
    if (minus && off == 0) return rx_malformed(&p->in, p->in.at, "a flag is missing");
    if (rx_take(&p->in, ':')) return open_frame(p, offset, ((p->in.flags & ~(unicode ? (u32)RX_ASCII : 0)) | on) & ~off);
    if (minus) return rx_malformed(&p->in, p->in.at, ": is missing");
    if (p->frames.n > 1 || p->values.n > 0) {
        if (rx_is_python(&p->in)) return rx_malformed(&p->in, offset, "global flags not at the start of the pattern");
        return rx_refused(&p->in, offset, "inline flags: only at the start of the pattern, or as (?i:...)");
    }
    if (unicode && p->in.flags & RX_ASCII) return rx_malformed(&p->in, offset, "the flags a and u are incompatible");
    p->in.at++;
    p->in.flags |= on;
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
    size_t offset = p->in.at++;
    if (!rx_take(&p->in, '?')) return open_frame(p, offset, p->in.flags);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (rx_starts_with(&p->in, refusals[i].prefix)) return rx_refused(&p->in, offset, refusals[i].name);
    if (rx_is_digit(rx_peek(&p->in, 0)) || ((rx_peek(&p->in, 0) == '+' || rx_peek(&p->in, 0) == '-') && rx_is_digit(rx_peek(&p->in, 1))))
        return rx_refused(&p->in, offset, "recursion: a pattern cannot contain itself");
    if (rx_take(&p->in, '#')) {
        while (rx_peek(&p->in, 0) != ')' && rx_peek(&p->in, 0) != RX_PATTERN_END) p->in.at++;
        return rx_take(&p->in, ')') || rx_malformed(&p->in, offset, "a comment without )");
    }
    if (rx_take(&p->in, ':')) return open_frame(p, offset, p->in.flags);
    bool named = rx_starts_with(&p->in, "P<") || (rx_peek(&p->in, 0) == '<' && !rx_is_python(&p->in));
    if (named) {
        p->in.at += rx_peek(&p->in, 0) == 'P' ? 2 : 1;
        return read_name(p, offset) && open_frame(p, offset, p->in.flags);
    }
    if (rx_is_letter(rx_peek(&p->in, 0)) || rx_peek(&p->in, 0) == '-') return parse_flags(p, offset);
    if (rx_peek(&p->in, 0) == RX_PATTERN_END) return rx_malformed(&p->in, offset, "( without )");
    if (rx_peek(&p->in, 0) == '<') return rx_malformed(&p->in, offset, "unknown extension of (?; a named group is (?P<name>...)");
    return rx_malformed(&p->in, offset, "unknown extension of (?");
}

static bool parse_close(parser *p) {
    if (p->frames.n == 1) return rx_malformed(&p->in, p->in.at, ") without (");
    if (!reduce_group(p)) return false;
    p->in.flags = p->frames.at[--p->frames.n].flags;
    p->in.at++;
    return true;
}

static bool parse_bar(parser *p) {
    if (!reduce_branch(p)) return false;
    p->frames.at[p->frames.n - 1].branch = p->values.n;
    p->in.at++;
    return true;
}

/* --- the pattern ------------------------------------------------------------------------------------------------------ */

static bool skip_verbose(parser *p) {
    u32 c = rx_peek(&p->in, 0);
    if (!(p->in.flags & RX_VERBOSE)) return false;
    if (c == '#') {
        while (rx_peek(&p->in, 0) != '\n' && rx_peek(&p->in, 0) != RX_PATTERN_END) p->in.at++;
        return true;
    }
    if (c != ' ' && !(c >= '\t' && c <= '\r')) return false;
    p->in.at++;
    return true;
}

static bool parse_one(parser *p) {
    size_t offset = p->in.at;
    switch (p->in.text[offset]) {
    case '\\': return parse_escape(p);
    case '[': return parse_class(p);
    case '(': return parse_open(p);
    case ')': return parse_close(p);
    case '|': return parse_bar(p);
    case '{': return parse_brace(p);
    case '.': return p->in.at++, push_dot(p);
    case '^': return p->in.at++, push_line_anchor(p, true);
    case '$': return p->in.at++, push_line_anchor(p, false);
    case '*': return p->in.at++, parse_quantifier(p, offset, 0, NONE);
    case '+': return p->in.at++, parse_quantifier(p, offset, 1, NONE);
    case '?': return p->in.at++, parse_quantifier(p, offset, 0, 1);
    default: return push_code(p, rx_next_code(&p->in));
    }
}

/* The operand at the cursor; a class (\w \w \w) is worked out once, as a large one is costly to build. */
static bool parse_operand(parser *p) {
    size_t end = rx_class_end(&p->in);
    bool fresh;
    if (end == 0 || end > p->in.n) return parse_one(p);
    p->source.n = 0;
    if (!vec_push(p->b, &p->source, class_flags(p))) return false;
    for (size_t i = p->in.at; i < end; i++)
        if (!vec_push(p->b, &p->source, p->in.text[i])) return false;
    u32 k = intern(p->b, &p->sources, p->source.at, p->source.n, &fresh);
    if (k == NONE) return false;
    if (fresh) return parse_one(p) && vec_push(p->b, &p->source_ids, p->values.at[p->values.n - 1].id);
    p->in.at = end;
    return push(p, V_PLAIN, R_ATOM, p->source_ids.at[k]);
}

static rx_id parse_all(parser *p) {
    if (!rx_check_utf8(&p->in) || !open_frame(p, 0, p->in.flags)) return NONE;
    while (p->in.at < p->in.n)
        if (!skip_verbose(p) && !parse_operand(p)) return NONE;
    if (p->frames.n > 1) {
        rx_malformed(&p->in, p->frames.at[p->frames.n - 1].open, "( without )");
        return NONE;
    }
    if (!reduce_group(p)) return NONE;
    rx_value v = p->values.at[0];
    if (v.kind != V_WAYS && p->in.dialect != RX_ECMA_SEARCH) return plain_id(p, v);
    rx_ways w;
    if (!ways_of(p, v, &w)) return NONE;
    return p->in.dialect == RX_ECMA_SEARCH ? rx_ways_search(&p->context, &w) : rx_ways_full(&p->context, &w);
}

rx_id rx_parse(rx_arena *x, const u8 *pattern, size_t n, u32 dialect, u32 flags, ge_err *err) {
    rx_reader in = {.text = pattern, .n = n, .dialect = dialect, .flags = flags, .b = x->b, .err = err};
    parser p = {.x = x, .b = x->b, .in = in, .word_flags = NONE};
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
    vec_drop(x->b, &p.in.set);
    vec_drop(x->b, &p.in.fixed);
    intern_drop(x->b, &p.sources);
    intern_drop(x->b, &p.names);
    vec_drop(x->b, &p.source_ids);
    vec_drop(x->b, &p.source);
    map_drop(x->b, &p.context.restricted);
    return x->b->status == GE_OK ? id : NONE;
}
