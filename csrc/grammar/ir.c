#include "ir.h"
#include "../regex/names/rx_unbound.h"

enum {
    WORK_PARTS = 4, /* of what a step may compute: one for the whole of compiling, half a second */
    SURE_PARTS = 32 /* of that: one for a question that need not be answered */
};

/* Operators: the same order as in ir.py. */
enum {
    OP_NEVER, OP_EMPTY, OP_BYTES, OP_BYTE_SET, OP_CHARS, OP_CONCAT, OP_UNION, OP_INTERSECT, OP_COMPLEMENT, OP_REPEAT,
    OP_PATTERN, OP_JSON, OP_LITERALS, OP_MULTIPLE, OP_PUNYCODE, OP_HOST_NAME, OP_SYNTAX, OP_FRAGMENT, N_OPS
};

#define MAX_BOUND_DIGITS 10000 /* of OP_MULTIPLE; a step takes time in proportion */

typedef struct ir_input {
    const u8 *data;
    size_t n_data;
} ir_input;

static bool span_ok(const ir_input *in, u32 offset, u32 length) { return (u64)offset + length <= in->n_data; }

/* Nodes of operand expressions, checked. */
static bool read_parts(ge_ir *ir, const u32 *operands, u32 n, id_vec *parts) {
    for (u32 i = 0; i < n; i++)
        if (operands[i] >= ir->exprs.n || !vec_push(&ir->b, parts, ir->exprs.at[operands[i]])) return budget_fail(&ir->b, GE_E_IR);
    return true;
}

static rx_id read_chars(ge_ir *ir, const u32 *o, u32 n) {
    VEC(char_range) ranges = {0};
    bool ok = n % 2 == 0;
    for (u32 i = 0; ok && i + 1 < n; i += 2) {
        ok = o[i] <= o[i + 1] && o[i + 1] <= 0x10ffff && (i == 0 || o[i] > o[i - 1]);
        ok = ok && vec_push(&ir->b, &ranges, ((char_range){o[i], o[i + 1]}));
    }
    rx_id id = NONE;
    if (ok) id = rx_chars(&ir->x, ranges.at, ranges.n);
    else budget_fail(&ir->b, GE_E_IR);
    vec_drop(&ir->b, &ranges);
    return id;
}

static rx_id read_literals(ge_ir *ir, const u32 *o, u32 n, const ir_input *in) {
    VEC(literal) literals = {0};
    bool ok = n % 2 == 0 && vec_reserve(&ir->b, &literals, n / 2);
    for (u32 i = 0; ok && i < n; i += 2) {
        ok = span_ok(in, o[i], o[i + 1]);
        if (ok) literals.at[literals.n++] = (literal){in->data + o[i], o[i + 1]};
    }
    rx_id id = NONE;
    if (ok) id = rx_literals(&ir->x, literals.at, literals.n);
    else budget_fail(&ir->b, GE_E_IR);
    vec_drop(&ir->b, &literals);
    return id;
}

static bool is_number(const ir_input *in, u32 offset, u32 length) {
    for (u32 i = 0; i < length; i++)
        if (in->data[offset + i] < '0' || in->data[offset + i] > '9') return false;
    return true;
}

static rx_id read_multiple(ge_ir *ir, const u32 *o, const ir_input *in) {
    u32 scale = o[0], n_divisor = o[2], n_low = o[4], n_high = o[6];
    bool ok = n_divisor > 0 && n_divisor <= RX_MAX_DIVISOR && n_low > scale && (n_high > scale || n_high == 0);
    ok = ok && max_u32(n_low, n_high) <= MAX_BOUND_DIGITS;
    for (u32 i = 1; ok && i < 7; i += 2) ok = span_ok(in, o[i], o[i + 1]) && is_number(in, o[i], o[i + 1]);
    ok = ok && in->data[o[1]] != '0';
    ok = ok && (in->data[o[3]] != '0' || n_low == scale + 1) && (n_high <= scale + 1 || in->data[o[5]] != '0');
    if (!ok) return budget_fail(&ir->b, GE_E_IR), NONE;
    literal divisor = {in->data + o[1], n_divisor}, low = {in->data + o[3], n_low}, high = {in->data + o[5], n_high};
    return rx_multiple(&ir->x, divisor, scale, low, high);
}

static rx_id read_parts_op(ge_ir *ir, u32 op, const u32 *o, u32 n) {
    id_vec parts = {0};
    rx_id id = NONE;
    if (read_parts(ir, o, n, &parts)) {
        if (op == OP_UNION) id = rx_or(&ir->x, parts.at, parts.n);
        else if (op == OP_INTERSECT) id = rx_and(&ir->x, parts.at, parts.n);
        else
            for (id = RX_ID_EMPTY; parts.n && id != NONE; parts.n--) id = rx_concat(&ir->x, parts.at[parts.n - 1], id);
    }
    vec_drop(&ir->b, &parts);
    return id;
}

static rx_id read_fragment(ge_ir *ir, const u32 *o, u32 n, ge_err *err);

static rx_id read_record(ge_ir *ir, u32 op, const u32 *o, u32 n, const ir_input *in, ge_err *err) {
    static const u8 arity[N_OPS] = {[OP_BYTES] = 2, [OP_BYTE_SET] = 8, [OP_COMPLEMENT] = 1, [OP_REPEAT] = 3,
                                    [OP_PATTERN] = 4, [OP_JSON] = 2, [OP_MULTIPLE] = 7, [OP_HOST_NAME] = 1};
    rx_arena *x = &ir->x;
    bool ok = op < N_OPS && (arity[op] == 0 || arity[op] == n);
    if (ok && (op == OP_COMPLEMENT || op == OP_REPEAT || op == OP_JSON)) ok = o[0] < ir->exprs.n;
    if (ok && op == OP_BYTES) ok = span_ok(in, o[0], o[1]);
    if (ok && op == OP_PATTERN) ok = o[0] <= 2 && span_ok(in, o[2], o[3]);
    if (ok && op == OP_JSON) ok = o[1] <= 1;
    if (ok && op == OP_PUNYCODE) ok = n == 0;
    if (ok && op == OP_HOST_NAME) ok = o[0] <= (RX_ALL_DOTS | RX_ANY_FORM | RX_BOUNDED | RX_LATE | RX_OF_MAIL);
    if (!ok) return budget_fail(&ir->b, GE_E_IR), NONE;
    switch (op) {
    case OP_NEVER: return RX_ID_NEVER;
    case OP_EMPTY: return RX_ID_EMPTY;
    case OP_BYTES: return rx_bytes(x, in->data + o[0], o[1]);
    case OP_BYTE_SET: {
        byte_set set;
        memcpy(set.w, o, sizeof set.w);
        return rx_set(x, &set);
    }
    case OP_CHARS: return read_chars(ir, o, n);
    case OP_COMPLEMENT: /* names in it are late: of the text so far it is only asked whether it is one */
        return rx_not(x, rx_change_names(x, ir->exprs.at[o[0]], NAMES_LATE));
    case OP_REPEAT: return rx_repeat(x, ir->exprs.at[o[0]], o[1], o[2]);
    case OP_PATTERN: return rx_parse(x, in->data + o[2], o[3], o[0], o[1], err);
    case OP_JSON: return rx_quote(x, ir->exprs.at[o[0]], o[1]);
    case OP_LITERALS: return read_literals(ir, o, n, in);
    case OP_MULTIPLE: return read_multiple(ir, o, in);
    case OP_PUNYCODE: return rx_punycode(x);
    case OP_HOST_NAME: return rx_host_name(x, o[0]);
    case OP_SYNTAX: return rx_syntax(x);
    case OP_FRAGMENT: return read_fragment(ir, o, n, err);
    default: return read_parts_op(ir, op, o, n);
    }
}

/* The last of some records, whose ids are their own. */
static rx_id read_apart(ge_ir *ir, const u32 *words, u32 n, const ir_input *in, ge_err *err) {
    id_vec others = ir->exprs;
    rx_id id = NONE;
    u32 i = 0;
    bool ok = true;
    ir->exprs = (id_vec){0};
    while (ok && i < n) {
        ok = n - i >= 2 && n - i - 2 >= words[i + 1] && words[i] != OP_FRAGMENT;
        if (!ok) budget_fail(&ir->b, GE_E_IR);
        id = ok ? read_record(ir, words[i], words + i + 2, words[i + 1], in, err) : NONE;
        ok = id != NONE && vec_push(&ir->b, &ir->exprs, id);
        i += ok ? 2 + words[i + 1] : 0;
    }
    if (n == 0) budget_fail(&ir->b, GE_E_IR);
    vec_drop(&ir->b, &ir->exprs);
    ir->exprs = others;
    return ok ? id : NONE;
}

static rx_id read_fragment(ge_ir *ir, const u32 *o, u32 n, ge_err *err) {
    u32 n_packed = n ? o[0] / 4 + (o[0] % 4 != 0) : 0; /* words of data */
    if (n == 0 || n_packed > n - 1) return budget_fail(&ir->b, GE_E_IR), NONE;
    bool fresh;
    u32 known = intern(&ir->b, &ir->fragments, o, n, &fresh);
    if (known == NONE || !fresh) return known == NONE ? NONE : ir->fragment_nodes.at[known];
    byte_vec data = {0};
    bool ok = vec_reserve(&ir->b, &data, 4 * n_packed);
    for (u32 i = 0; ok && i < 4 * n_packed; i++) data.at[data.n++] = (u8)(o[1 + i / 4] >> 8 * (i % 4));
    rx_id id = ok ? read_apart(ir, o + 1 + n_packed, n - 1 - n_packed, &(ir_input){data.at, o[0]}, err) : NONE;
    vec_drop(&ir->b, &data);
    ok = id != NONE && vec_push(&ir->b, &ir->fragment_nodes, id);
    if (!ok) intern_undo(&ir->fragments);
    return ok ? id : NONE;
}

ge_status ge_ir_new(const ge_limits *limits, ge_ir **out, ge_err *err) {
    ge_ir *ir = calloc(1, sizeof *ir);
    if (!ir) return err_set(err, GE_E_MEMORY, "");
    budget_init(&ir->b, limits);
    if (!rx_init(&ir->x, &ir->b) || rx_text(&ir->x) == NONE) {
        ge_status status = budget_report(&ir->b, err);
        ge_ir_free(ir);
        return status;
    }
    ir->b.work = ir->b.limits.max_step_work - ir->b.limits.max_step_work / WORK_PARTS;
    *out = ir;
    return GE_OK;
}

ge_status ge_ir_copy(const ge_ir *from, size_t n_exprs, ge_ir **out, ge_err *err) {
    if (from->taken || n_exprs > from->exprs.n) return err_set(err, GE_E_ARGUMENT, "no expressions to copy");
    ge_ir *ir = calloc(1, sizeof *ir);
    if (!ir) return err_set(err, GE_E_MEMORY, "");
    budget_init(&ir->b, &from->b.limits);
    bool ok = rx_copy(&ir->x, &ir->b, &from->x) && vec_copy(&ir->b, &ir->exprs, &from->exprs) &&
              intern_copy(&ir->b, &ir->fragments, &from->fragments) && vec_copy(&ir->b, &ir->fragment_nodes, &from->fragment_nodes);
    if (!ok) {
        ge_status status = budget_report(&ir->b, err);
        ge_ir_free(ir);
        return status;
    }
    ir->exprs.n = (u32)n_exprs;
    ir->b.work = from->b.work;
    *out = ir;
    return GE_OK;
}

void ge_ir_free(ge_ir *ir) {
    if (!ir) return;
    if (!ir->taken) rx_drop(&ir->x);
    vec_drop(&ir->b, &ir->exprs);
    intern_drop(&ir->b, &ir->fragments);
    vec_drop(&ir->b, &ir->fragment_nodes);
    free(ir);
}

void ge_ir_free_at(ge_ir **at) {
    ge_ir_free(*at);
    *at = NULL;
}

/* A new operation. Work is counted over all of them. */
static void begin(ge_ir *ir) {
    u64 work = ir->b.work;
    budget_begin(&ir->b);
    ir->b.work = work;
}

ge_status ge_ir_add(ge_ir *ir, const uint32_t *words, size_t n_words, const uint8_t *data, size_t n_data, size_t *n_done, ge_err *err) {
    ir_input in = {data, n_data};
    size_t i = 0;
    *n_done = 0;
    if (ir->taken) return err_set(err, GE_E_ARGUMENT, "the expressions were taken by a grammar");
    begin(ir);
    while (i < n_words && ir->b.status == GE_OK) {
        if (n_words - i < 2 || n_words - i - 2 < words[i + 1]) return err_set(err, GE_E_IR, "truncated record");
        rx_id id = read_record(ir, words[i], words + i + 2, words[i + 1], &in, err);
        i += 2 + words[i + 1];
        err->expr = ir->exprs.n;
        ge_status status = budget_report(&ir->b, err);
        if (id == NONE) { /* the record stands for nothing, so that later ids stay right */
            begin(ir);
            id = RX_ID_NEVER;
        }
        if (!vec_push(&ir->b, &ir->exprs, id)) return budget_report(&ir->b, err);
        *n_done = i;
        if (status != GE_OK) return status;
    }
    return GE_OK;
}

static bool expr_ok(ge_ir *ir, u32 expr) {
    begin(ir);
    return (!ir->taken && expr < ir->exprs.n) || budget_fail(&ir->b, GE_E_ARGUMENT);
}

ge_status ge_ir_is_empty(ge_ir *ir, uint32_t expr, int32_t *answer, ge_err *err) {
    if (expr_ok(ir, expr)) *answer = rx_is_empty(&ir->x, ir->exprs.at[expr]);
    return budget_report(&ir->b, err);
}

ge_status ge_ir_is_surely_empty(ge_ir *ir, uint32_t expr, int32_t *answer, ge_err *err) {
    if (expr_ok(ir, expr)) {
        budget_part part = budget_begin_part(&ir->b, ir->b.limits.max_step_work / SURE_PARTS);
        bool empty = rx_is_empty(&ir->x, ir->exprs.at[expr]);
        *answer = !budget_end_part(&ir->b, part) && empty;
    }
    return budget_report(&ir->b, err);
}

ge_status ge_ir_count(ge_ir *ir, uint32_t expr, uint64_t limit, uint64_t *answer, ge_err *err) {
    if (expr_ok(ir, expr)) rx_count(&ir->x, ir->exprs.at[expr], limit, answer);
    return budget_report(&ir->b, err);
}

ge_status ge_ir_matches(ge_ir *ir, uint32_t expr, const uint8_t *text, size_t n_text, int32_t *answer, ge_err *err) {
    if (expr_ok(ir, expr)) {
        rx_id id = ir->exprs.at[expr];
        for (size_t i = 0; i < n_text && id != NONE; i++) id = rx_derive(&ir->x, id, text[i]);
        if (id != NONE) *answer = rx_nullable(&ir->x, id);
    }
    return budget_report(&ir->b, err);
}

ge_status ge_ir_lengths(ge_ir *ir, uint32_t expr, uint32_t bounds[2], ge_err *err) {
    if (expr_ok(ir, expr)) {
        rx_n_chars found = rx_count_chars(&ir->x, ir->exprs.at[expr]);
        bounds[0] = found.least;
        bounds[1] = found.most;
    }
    return budget_report(&ir->b, err);
}

/* Breadth-first over the pairs (what is left of match, what is left of whole). */
static bool continuations(rx_arena *x, rx_id match, rx_id whole, byte_set *bytes) {
    id_vec queue = {0};
    word_map seen = {0};
    rx_refresh_classes(x);
    bool ok = vec_push(x->b, &queue, match) && vec_push(x->b, &queue, whole);
    for (u32 i = 0; ok && i < queue.n; i += 2) {
        match = queue.at[i];
        whole = queue.at[i + 1];
        byte_set live = {{0}}; /* by class */
        for (u32 c = 0; ok && c < x->n_classes; c++) {
            rx_id rest = rx_derive(x, whole, x->class_byte[c]), left = rx_derive(x, match, x->class_byte[c]);
            bool dead = rest == NONE || rx_is_empty(x, rest);
            ok = x->b->status == GE_OK && budget_work(x->b, 1);
            if (!ok || dead) continue;
            set_add(&live, c);
            u64 key = (u64)left << 32 | rest;
            if (left == RX_ID_NEVER || map_get(&seen, key) != NONE) continue;
            ok = map_put(x->b, &seen, key, 0) && vec_push(x->b, &queue, left) && vec_push(x->b, &queue, rest);
        }
        for (u32 byte = 0; ok && rx_nullable(x, match) && byte < 256; byte++)
            if (set_has(&live, x->class_of[byte])) set_add(bytes, byte);
    }
    vec_drop(x->b, &queue);
    map_drop(x->b, &seen);
    return ok;
}

ge_status ge_ir_continuations(ge_ir *ir, uint32_t match, uint32_t whole, uint32_t bytes[8], ge_err *err) {
    byte_set found = {{0}};
    if (expr_ok(ir, match) && expr_ok(ir, whole) && continuations(&ir->x, ir->exprs.at[match], ir->exprs.at[whole], &found))
        memcpy(bytes, found.w, sizeof found.w);
    return budget_report(&ir->b, err);
}

/* --- grammars ------------------------------------------------------------------------------------------------------------- */

/* expr without "". */
static rx_id strip_empty(rx_arena *x, rx_id expr) {
    if (expr == NONE || !rx_nullable(x, expr)) return expr;
    const u32 *node = intern_words(&x->nodes, expr);
    if (node[0] == RX_EMPTY) return RX_ID_NEVER;
    if (node[0] == RX_REPEAT && !rx_nullable(x, node[1])) return rx_repeat(x, node[1], 1, node[3]);
    return rx_and(x, (rx_id[]){expr, rx_not(x, RX_ID_EMPTY)}, 2);
}

static bool read_lexemes(ge_grammar *g, const ge_ir *ir, const ge_rules *rules, u8 *flags, id_vec *roots) {
    bool ok = true;
    for (u32 i = 0; ok && i < rules->n_lexemes; i++) {
        u32 expr = rules->lexemes[2 * i];
        if (expr >= ir->exprs.n) return budget_fail(&g->b, GE_E_IR);
        g->b.symbol = 2 * i;
        rx_id id = ir->exprs.at[expr], stripped = strip_empty(&g->x, id);
        ok = stripped != NONE && vec_push(&g->b, roots, stripped);
        if (!ok) break;
        bool empty = rx_is_empty(&g->x, stripped);
        flags[i] = (u8)((empty ? GR_LEXEME_EMPTY : 0) | (rx_nullable(&g->x, id) ? GR_LEXEME_NULLABLE : 0));
        u32 marks = rules->lexemes[2 * i + 1] & (LX_LAZY | LX_SKIP | LX_UNIQUE | LX_REPEATED);
        if (marks) flags[i] |= GR_LEXEME_MARKED;
        g->has_unique |= (marks & (LX_UNIQUE | LX_REPEATED)) != 0;
        g->has_repeated |= (marks & LX_REPEATED) != 0;
        g->lexemes[i] = (lx_lexeme){empty ? RX_ID_NEVER : stripped, marks, i};
        ok = g->b.status == GE_OK;
    }
    if (ok) g->b.symbol = NONE;
    return ok;
}

/* Values that are compared may have any bytes: then no two are alike. */
static bool freeze_classes(ge_grammar *g, id_vec *roots) {
    for (u32 byte = 0; (g->g.has_distinct || g->has_unique) && byte < 256; byte++)
        if (!vec_push(&g->b, roots, rx_byte(&g->x, byte)) || roots->at[roots->n - 1] == NONE) return false;
    return rx_freeze_classes(&g->x, roots->at, roots->n);
}

ge_status ge_grammar_new(ge_ir *ir, const ge_rules *rules, ge_grammar **out, ge_err *err) {
    if (ir->taken) return err_set(err, GE_E_ARGUMENT, "the expressions were taken by a grammar");
    ge_grammar *g = calloc(1, sizeof *g);
    u8 *flags = calloc(rules->n_lexemes + 1u, 1);
    if (!g || !flags) return free(g), free(flags), err_set(err, GE_E_MEMORY, "");
    intern_drop(&ir->b, &ir->fragments);
    vec_drop(&ir->b, &ir->fragment_nodes);
    budget_init(&g->b, &ir->b.limits);
    g->b.work = ir->b.work;
    g->b.bytes = ir->b.bytes - vec_bytes(&ir->exprs);
    ir->b.bytes = vec_bytes(&ir->exprs);
    ir->taken = true;
    g->x = ir->x;
    g->x.b = &g->b;
    g->longest = rules->longest != 0;
    g->n_lexemes = rules->n_lexemes;
    g->lexemes = mem_resize(&g->b, NULL, 0, (rules->n_lexemes + 1u) * sizeof *g->lexemes);
    id_vec roots = {0};
    bool ok =
        g->lexemes && read_lexemes(g, ir, rules, flags, &roots) && gr_compile(&g->g, &g->b, rules, flags) && freeze_classes(g, &roots);
    /* nobody keeps the texts of lexemes there */
    if (ok && g->longest && (g->g.has_distinct || g->has_unique)) ok = budget_fail(&g->b, GE_E_IR);
    vec_drop(&g->b, &roots);
    free(flags);
    if (!ok) {
        ge_status status = budget_report(&g->b, err);
        ge_grammar_free(g);
        return status;
    }
    *out = g;
    return GE_OK;
}

void ge_grammar_free(ge_grammar *g) {
    if (!g || !share_drop(&g->shares)) return;
    rx_drop(&g->x);
    gr_drop(&g->g, &g->b);
    free(g->lexemes);
    free(g);
}

void ge_grammar_free_at(ge_grammar **at) {
    ge_grammar_free(*at);
    *at = NULL;
}

size_t ge_grammar_bytes(const ge_grammar *g) { return g->b.bytes; }
