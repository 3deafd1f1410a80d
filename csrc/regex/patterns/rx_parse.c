/* Regular expression text -> expression. Stage 3 of 7.
 *
 * Idea. One pass from left to right: what is read is shifted as operands (rx_operand.c), "|" and ")" reduce them.
 *
 * Dialects. ECMA-262 with the u flag, but tolerant where other dialects are in wide use and nothing else can be meant: identity escapes of
 * punctuation (\- \_ \@), ] { } as literals, [\w-.], (?i), (?!a)+, (?P<name>...), (?#...), \pL, script names alone. Python: `re` of
 * 3.11 for str patterns, and of what that refuses \p{...}, \u{...} and (?<name>...). What cannot be a derivative (back-references, atomic
 * groups) is refused by name and offset, and so is look-around that rx_look.c and rx_ahead.c have no expression for.
 *
 * Captures are not recorded, and lazy means the same as greedy: only the language counts.
 *
 * \B: matches in the empty text, as in ECMA-262 and Python 3.14 (in older ones it does not).
 *
 * Cost: linear in the pattern plus the ranges of its classes. Limits: max_regex_nesting groups in each other, counts below 2**32 - 1. */
#include "rx_look.h"

/* --- escapes and classes ---------------------------------------------------------------------------------------------- */

static bool parse_escape(rx_parser *p) {
    size_t offset = p->in.at++;
    u32 code = 0;
    rx_begin_class(&p->in);
    switch (rx_read_escape(&p->in, false, &code)) {
    case RX_E_CODE: return rx_push_code(p, code);
    case RX_E_CLASS: return rx_push_class(p, false);
    case RX_E_WORD_BOUNDARY: return rx_push_word_boundary(p, offset, false);
    case RX_E_NO_WORD_BOUNDARY: return rx_push_word_boundary(p, offset, true);
    case RX_E_START: return rx_push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    case RX_E_END: return rx_push_assertion(p, RX_ANY, RX_EDGE, NONE, NONE);
    default: return false;
    }
}

static bool parse_class(rx_parser *p) {
    bool negated;
    return rx_read_class(&p->in, &negated) && rx_push_class(p, negated);
}

/* --- quantifiers ------------------------------------------------------------------------------------------------------ */

/* {n} {n,} {n,m} {,m}: reads it and returns true, or leaves the cursor where it was. */
static bool read_braces(rx_parser *p, u64 *low, u64 *high) {
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

static bool parse_quantifier(rx_parser *p, size_t offset, u64 low, u64 high) {
    bool lazy = rx_take(&p->in, '?'); /* the same language */
    if (p->values.n == p->frames.at[p->frames.n - 1].branch || offset == p->flags_end)
        return rx_malformed(&p->in, offset, "nothing to repeat");
    rx_value v = p->values.at[p->values.n - 1];
    if (v.role == R_ASSERTION) return rx_malformed(&p->in, offset, "nothing to repeat: an assertion cannot be repeated");
    if (v.role == R_REPEATED)
        return rx_malformed(&p->in, offset, rx_is_python(&p->in) ? "multiple repeat" : "nothing to repeat: this has a quantifier");
    if (!lazy && rx_peek(&p->in, 0) == '+') return rx_refused(&p->in, offset, "possessive quantifier: it would not backtrack");
    if (low > high) return rx_malformed(&p->in, offset, "the minimum of a repetition is above its maximum");
    if (low >= NONE || high == UINT64_MAX) return rx_refused(&p->in, offset, "repetition count: above 4294967294");
    p->values.n--;
    if (v.kind == V_PART) return rx_push_repeated(p, v, (u32)low, (u32)high);
    if (v.kind != V_WAYS) return rx_push(p, V_PLAIN, R_REPEATED, rx_repeat(p->x, rx_plain_id(p, v), (u32)low, (u32)high));
    rx_ways w;
    bool too_hard;
    if (!rx_ways_repeat(&p->context, &p->ways.at[v.id], (u32)low, (u32)high, &w, &too_hard))
        return too_hard && rx_refused(&p->in, offset, "counted assertion: \\b, $ or a line anchor in a part that is counted beyond 100");
    return rx_push_ways(p, &w, R_REPEATED);
}

static bool parse_brace(rx_parser *p) {
    size_t offset = p->in.at;
    u64 low = 0, high = 0;
    if (read_braces(p, &low, &high)) return parse_quantifier(p, offset, low, high);
    p->in.at++;
    return p->b->status == GE_OK && rx_push_code(p, '{');
}

/* --- groups ----------------------------------------------------------------------------------------------------------- */

static bool open_frame(rx_parser *p, size_t offset, rx_look look, u32 flags) {
    if (p->frames.n > p->b->limits.max_regex_nesting) return budget_limit(p->b, LIMIT(max_regex_nesting));
    rx_frame f = {
        .open = (u32)offset, .look = look, .flags = p->in.flags, .first = p->values.n, .branch = p->values.n, .bytes = p->bytes.n};
    p->in.flags = flags;
    return vec_push(p->b, &p->frames, f);
}

static bool read_name(rx_parser *p, size_t offset) { /* behind "<" */
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

static u32 flag_of(const rx_parser *p, u32 letter) {
    switch (letter) {
    case 'i': return RX_IGNORE_CASE;
    case 'm': return RX_MULTI_LINE;
    case 's': return RX_DOT_ALL;
    case 'x': return rx_is_python(&p->in) ? RX_VERBOSE : 0;
    case 'a': return rx_is_python(&p->in) ? RX_ASCII : 0;
    default: return 0;
    }
}

/* Behind "(?", at the first flag or "-": (?i) (?i:...) (?i-s:...). Those without a part hold as far as the group goes that they are in,
 * in its branches behind them, too; in Python only at the start. */
static bool parse_flags(rx_parser *p, size_t offset) {
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
        else if (flag == 0 && rx_is_letter(c))
            return rx_fail_at(&p->in, GE_E_UNSUPPORTED, p->in.at, "inline flag: ", p->in.text + p->in.at, 1, " is not known here");
        else if (flag == 0) return rx_malformed(&p->in, p->in.at, "unknown extension of (?");
        else if (minus && flag == RX_ASCII) return rx_malformed(&p->in, p->in.at, "the flag a cannot be turned off");
        *(minus ? &off : &on) |= flag;
    }
    if (on & off) return rx_malformed(&p->in, offset, "a flag is turned on and off");
    if (unicode && (on & RX_ASCII)) return rx_malformed(&p->in, offset, "the flags a and u are incompatible");
    if (minus && off == 0) return rx_malformed(&p->in, p->in.at, "a flag is missing");
    if (rx_take(&p->in, ':')) return open_frame(p, offset, RX_NO_LOOK, ((p->in.flags & ~(unicode ? (u32)RX_ASCII : 0)) | on) & ~off);
    if (rx_is_python(&p->in)) {
        if (minus) return rx_malformed(&p->in, p->in.at, ": is missing");
        if (p->frames.n > 1 || p->values.n > 0) return rx_malformed(&p->in, offset, "global flags not at the start of the pattern");
        if (unicode && p->in.flags & RX_ASCII) return rx_malformed(&p->in, offset, "the flags a and u are incompatible");
    }
    p->flags_end = ++p->in.at;
    p->in.flags = (p->in.flags | on) & ~off;
    return true;
}

/* Up to what ends a comment. In `re` a backslash takes what comes next with it here, too: (?#\)) is one comment. */
static bool skip_comment(rx_parser *p, u32 end) {
    for (u32 c; (c = rx_peek(&p->in, 0)) != end && c != RX_PATTERN_END; p->in.at++)
        if (c == '\\' && rx_is_python(&p->in) && rx_peek(&p->in, 1) == RX_PATTERN_END)
            return rx_malformed(&p->in, p->in.at, "the pattern ends in a backslash");
        else if (c == '\\' && rx_is_python(&p->in)) p->in.at++;
    return true;
}

static bool parse_open(rx_parser *p) {
    static const struct {
        const char *prefix, *name;
    } refusals[] = {
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
    if (!rx_take(&p->in, '?')) return open_frame(p, offset, RX_NO_LOOK, p->in.flags);
    rx_look look = rx_read_look(&p->in);
    if (look != RX_NO_LOOK) return open_frame(p, offset, look, p->in.flags);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (rx_starts_with(&p->in, refusals[i].prefix)) return rx_refused(&p->in, offset, refusals[i].name);
    if (rx_is_digit(rx_peek(&p->in, 0)) || ((rx_peek(&p->in, 0) == '+' || rx_peek(&p->in, 0) == '-') && rx_is_digit(rx_peek(&p->in, 1))))
        return rx_refused(&p->in, offset, "recursion: a pattern cannot contain itself");
    if (rx_take(&p->in, '#')) return skip_comment(p, ')') && (rx_take(&p->in, ')') || rx_malformed(&p->in, offset, "a comment without )"));
    if (rx_take(&p->in, ':')) return open_frame(p, offset, RX_NO_LOOK, p->in.flags);
    if (rx_starts_with(&p->in, "P<") || rx_peek(&p->in, 0) == '<') {
        p->in.at += rx_peek(&p->in, 0) == 'P' ? 2 : 1;
        return read_name(p, offset) && open_frame(p, offset, RX_NO_LOOK, p->in.flags);
    }
    if (rx_is_letter(rx_peek(&p->in, 0)) || rx_peek(&p->in, 0) == '-') return parse_flags(p, offset);
    if (rx_peek(&p->in, 0) == RX_PATTERN_END) return rx_malformed(&p->in, offset, "( without )");
    return rx_malformed(&p->in, offset, "unknown extension of (?");
}

static bool parse_close(rx_parser *p) {
    if (p->frames.n == 1) return rx_malformed(&p->in, p->in.at, ") without (");
    if (!rx_reduce_group(p)) return false;
    rx_frame f = p->frames.at[--p->frames.n];
    p->in.flags = f.flags;
    p->in.at++;
    return f.look == RX_NO_LOOK || rx_push_look(p, (rx_look)f.look, f.open);
}

static bool parse_bar(rx_parser *p) {
    if (!rx_reduce_branch(p)) return false;
    p->frames.at[p->frames.n - 1].branch = p->values.n;
    p->in.at++;
    return true;
}

/* --- the pattern ------------------------------------------------------------------------------------------------------ */

/* Is the cursor at what the flag x leaves out? */
static bool at_verbose(const rx_parser *p) {
    u32 c = rx_peek(&p->in, 0);
    return p->in.flags & RX_VERBOSE && (c == '#' || c == ' ' || (c >= '\t' && c <= '\r'));
}

static bool skip_verbose(rx_parser *p) { return rx_take(&p->in, '#') ? skip_comment(p, '\n') : ++p->in.at; }

static bool parse_one(rx_parser *p) {
    size_t offset = p->in.at;
    switch (p->in.text[offset]) {
    case '\\': return parse_escape(p);
    case '[': return parse_class(p);
    case '(': return parse_open(p);
    case ')': return parse_close(p);
    case '|': return parse_bar(p);
    case '{': return parse_brace(p);
    case '.': return p->in.at++, rx_push_dot(p);
    case '^': return p->in.at++, rx_push_line_anchor(p, true);
    case '$': return p->in.at++, rx_push_line_anchor(p, false);
    case '*': return p->in.at++, parse_quantifier(p, offset, 0, NONE);
    case '+': return p->in.at++, parse_quantifier(p, offset, 1, NONE);
    case '?': return p->in.at++, parse_quantifier(p, offset, 0, 1);
    default: return rx_push_code(p, rx_next_code(&p->in));
    }
}

/* The flags that change what a class matches. Python's classes do not depend on case, but ranges in them do. */
static u32 class_flags(const rx_parser *p) { return p->in.flags & (RX_IGNORE_CASE | RX_ASCII); }

/* The operand at the cursor; a class (\w \w \w) is worked out once, as a large one is costly to build. */
static bool parse_operand(rx_parser *p) {
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
    return rx_push(p, V_PLAIN, R_ATOM, p->source_ids.at[k]);
}

static rx_id parse_all(rx_parser *p) {
    if (!rx_check_utf8(&p->in) || !open_frame(p, 0, RX_NO_LOOK, p->in.flags)) return NONE;
    while (p->in.at < p->in.n)
        if (!(at_verbose(p) ? skip_verbose(p) : parse_operand(p))) return NONE;
    if (p->frames.n > 1) {
        rx_malformed(&p->in, p->frames.at[p->frames.n - 1].open, "( without )");
        return NONE;
    }
    if (!rx_reduce_group(p)) return NONE;
    rx_value v = p->values.at[0];
    if (v.kind == V_PART) return rx_part_id(p, v);
    if (v.kind != V_WAYS && p->in.dialect != RX_ECMA_SEARCH) return rx_plain_id(p, v);
    rx_ways w;
    if (!rx_ways_of(p, v, &w)) return NONE;
    return p->in.dialect == RX_ECMA_SEARCH ? rx_ways_search(&p->context, &w) : rx_ways_full(&p->context, &w);
}

rx_id rx_parse(rx_arena *x, const u8 *pattern, size_t n, u32 dialect, u32 flags, ge_err *err) {
    rx_reader in = {.text = pattern, .n = n, .dialect = dialect, .flags = flags, .b = x->b, .err = err};
    rx_parser p = {.x = x, .b = x->b, .in = in, .word_flags = NONE};
    if (n >= NONE || dialect >= RX_N_DIALECTS) {
        budget_fail(x->b, GE_E_ARGUMENT);
        return NONE;
    }
    p.context = (rx_context){.x = x, .word = RX_ID_NEVER, .other = RX_ID_NEVER, .line = RX_ID_NEVER, .no_line = RX_ID_NEVER,
                             .mark = RX_ID_NEVER, .no_mark = RX_ID_NEVER};
    rx_id id = parse_all(&p);
    vec_drop(x->b, &p.values);
    vec_drop(x->b, &p.frames);
    vec_drop(x->b, &p.bytes);
    vec_drop(x->b, &p.ways);
    vec_drop(x->b, &p.parts);
    vec_drop(x->b, &p.members);
    vec_drop(x->b, &p.in.set);
    vec_drop(x->b, &p.in.fixed);
    intern_drop(x->b, &p.sources);
    intern_drop(x->b, &p.names);
    vec_drop(x->b, &p.source_ids);
    vec_drop(x->b, &p.source);
    map_drop(x->b, &p.context.restricted);
    return x->b->status == GE_OK ? id : NONE;
}
