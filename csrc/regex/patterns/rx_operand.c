/* The operands of a pattern under way, and what they become. Stage 3 of 7.
 *
 * Idea. Shift and reduce, no recursion and no syntax tree. `values` holds what is not yet put together:
 *
 *     a(b|cd|e   ->   values  a | "b" "cd" | e
 *                             ^ ^          ^
 *        branch of frame 0 ---+ +- first   +- branch of frame 1      (frame 0: the whole pattern; frame 1: the open group)
 *
 * From `first` on come the finished branches of the innermost open group, from `branch` on the operands of the branch at hand. "|" reduces
 * the branch to one value, ")" reduces the branches to one value, which becomes an operand of the group around it. A quantifier replaces
 * the topmost operand. A branch is put together from the right, so that sequences come out in normal form at linear cost; branches that are
 * plain literals become one trie. What has look-around in it that cannot be told from the branch alone is kept as a part (rx_look.c).
 *
 * Cost: linear in the operands, times RX_N_CONDITIONS squared where one of them has conditions. */
#include "rx_look.h"
#include "../utf8.h"

/* --- operands --------------------------------------------------------------------------------------------------------- */

bool rx_push(rx_parser *p, rx_value_kind kind, rx_value_role role, u32 id) {
    rx_value v = {.kind = (u8)kind, .role = (u8)role, .id = id};
    return id != NONE && vec_push(p->b, &p->values, v);
}

bool rx_push_ways(rx_parser *p, const rx_ways *w, rx_value_role role) {
    return vec_push(p->b, &p->ways, *w) && rx_push(p, V_WAYS, role, p->ways.n - 1);
}

bool rx_push_assertion(rx_parser *p, u32 a, u32 b, u32 c, u32 d) {
    rx_ways w;
    rx_ways_clear(&w);
    return rx_ways_add(&p->context, &w, a, b, RX_ID_EMPTY) && rx_ways_add(&p->context, &w, c, d, RX_ID_EMPTY) &&
           rx_push_ways(p, &w, R_ASSERTION);
}

/* The expression of the sorted ranges in p->in.set. */
static rx_id class_id(rx_parser *p) { return rx_chars(p->x, p->in.set.at, p->in.set.n); }

bool rx_push_class(rx_parser *p, bool negated) {
    if (!rx_ranges_fold(p->b, &p->in.set, p->in.dialect, p->in.flags)) return false;
    for (u32 i = 0; i < p->in.fixed.n; i++)
        if (!rx_ranges_add(p->b, &p->in.set, p->in.fixed.at[i].low, p->in.fixed.at[i].high)) return false;
    rx_ranges_sort(&p->in.set);
    if (negated && !rx_ranges_invert(p->b, &p->in.set)) return false;
    return rx_push(p, V_PLAIN, R_ATOM, class_id(p));
}

bool rx_push_code(rx_parser *p, u32 code) {
    if (code >= 0xd800 && code < 0xe000) return rx_push(p, V_PLAIN, R_ATOM, RX_ID_NEVER); /* no text has a lone surrogate */
    if (!(p->in.flags & RX_IGNORE_CASE)) return rx_push(p, V_CHAR, R_ATOM, code);
    p->in.set.n = 0;
    if (!rx_ranges_add(p->b, &p->in.set, code, code) || !rx_ranges_fold(p->b, &p->in.set, p->in.dialect, p->in.flags)) return false;
    if (p->in.set.n == 1 && p->in.set.at[0].low == p->in.set.at[0].high) return rx_push(p, V_CHAR, R_ATOM, code);
    return rx_push(p, V_PLAIN, R_ATOM, class_id(p));
}

bool rx_push_dot(rx_parser *p) {
    p->in.set.n = 0;
    if (!(p->in.flags & RX_DOT_ALL) && !rx_ranges_line_ends(p->b, &p->in.set, p->in.dialect)) return false;
    return rx_ranges_invert(p->b, &p->in.set) && rx_push(p, V_PLAIN, R_ATOM, class_id(p));
}

/* p->in.set and its complement as expressions. */
static bool pair_of_classes(rx_parser *p, rx_id *one, rx_id *other) {
    rx_ranges_sort(&p->in.set);
    *one = class_id(p);
    if (!rx_ranges_invert(p->b, &p->in.set)) return false;
    *other = class_id(p);
    return *one != NONE && *other != NONE;
}

bool rx_push_line_anchor(rx_parser *p, bool start) {
    if (p->in.flags & RX_MULTI_LINE) {
        if (p->context.line == RX_ID_NEVER) {
            p->in.set.n = 0;
            if (!rx_ranges_line_ends(p->b, &p->in.set, p->in.dialect)) return false;
            if (!pair_of_classes(p, &p->context.line, &p->context.no_line)) return false;
        }
        return start ? rx_push_assertion(p, RX_LINE, RX_ANY, NONE, NONE) : rx_push_assertion(p, RX_ANY, RX_LINE, NONE, NONE);
    }
    if (start) return rx_push_assertion(p, RX_EDGE, RX_ANY, NONE, NONE);
    return rx_push_assertion(p, RX_ANY, rx_is_python(&p->in) ? RX_FINAL : RX_EDGE, NONE, NONE);
}

bool rx_push_word_boundary(rx_parser *p, size_t offset, bool negated) {
    u32 flags = rx_is_python(&p->in) ? p->in.flags & RX_ASCII : p->in.flags & RX_IGNORE_CASE;
    if (p->word_flags == NONE) {
        p->word_flags = flags;
        p->in.set.n = 0;
        if (!rx_ranges_escape(p->b, &p->in.set, 'w', p->in.dialect, p->in.flags)) return false;
        if (!pair_of_classes(p, &p->context.word, &p->context.other)) return false;
    }
    if (p->word_flags != flags) return rx_refused(&p->in, offset, "word boundary: \\w changes its meaning within the pattern");
    return negated ? rx_push_assertion(p, RX_WORD, RX_WORD, RX_OTHER, RX_OTHER)
                   : rx_push_assertion(p, RX_WORD, RX_OTHER, RX_OTHER, RX_WORD);
}

/* --- reductions ------------------------------------------------------------------------------------------------------- */

rx_id rx_prepend(rx_parser *p, rx_value head, rx_id tail) {
    if (head.kind != V_CHAR) return rx_concat(p->x, head.id, tail);
    u8 bytes[4];
    for (u32 n = utf8_encode(head.id, bytes); n > 0; n--) tail = rx_concat(p->x, rx_byte(p->x, bytes[n - 1]), tail);
    return tail;
}

rx_id rx_plain_id(rx_parser *p, rx_value v) {
    if (v.kind == V_BYTES && v.n == 0) return RX_ID_EMPTY;
    if (v.kind == V_BYTES) return rx_bytes(p->x, p->bytes.at + v.id, v.n);
    return rx_prepend(p, v, RX_ID_EMPTY);
}

bool rx_ways_of(rx_parser *p, rx_value v, rx_ways *out) {
    if (v.kind == V_WAYS) {
        *out = p->ways.at[v.id];
        return true;
    }
    rx_ways_clear(out);
    rx_id id = rx_plain_id(p, v);
    return id != NONE && rx_ways_add(&p->context, out, RX_ANY, RX_ANY, id);
}

bool rx_reduce_branch(rx_parser *p) {
    u32 from = p->frames.at[p->frames.n - 1].branch;
    if (rx_has_parts(p, from)) {
        if (!rx_reduce_looks(p)) return false;
        if (rx_has_parts(p, from)) return true; /* which is all of it */
    }
    u32 i = p->values.n;
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
        for (; i > from && p->values.at[i - 1].kind != V_WAYS && run != NONE; i--) run = rx_prepend(p, p->values.at[i - 1], run);
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
    return conditions ? rx_push_ways(p, &right, R_ATOM) : rx_push(p, V_PLAIN, R_ATOM, run);
}

static int compare_literals(const void *a, const void *b) {
    const literal *p = a, *q = b;
    int order = memcmp(p->at, q->at, min_u32(p->n, q->n));
    return order ? order : p->n < q->n ? -1 : p->n > q->n;
}

/* All literal branches among values[from ..) as one expression; NEVER if there are none. */
static rx_id join_literals(rx_parser *p, u32 from) {
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
static rx_id join_cell(rx_parser *p, u32 from, u32 a, u32 b) {
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

/* The branches values[f->first ..) -> one value in their place. */
static bool join_branches(rx_parser *p, const rx_frame *f) {
    bool conditions = false;
    for (u32 i = f->first; i < p->values.n; i++) conditions |= p->values.at[i].kind == V_WAYS;
    rx_ways w;
    rx_ways_clear(&w);
    for (u32 a = 0; a < (conditions ? RX_N_CONDITIONS : 1u); a++)
        for (u32 b = 0; b < (conditions ? RX_N_CONDITIONS : 1u); b++) {
            w.at[a][b] = join_cell(p, f->first, a, b);
            if (w.at[a][b] == NONE) return false;
        }
    p->values.n = f->first;
    p->bytes.n = f->bytes;
    return conditions ? rx_push_ways(p, &w, R_ATOM) : rx_push(p, V_PLAIN, R_ATOM, w.at[0][0]);
}

/* Those of the branches values[from ..) that have look-around go to the members. */
static bool move_parts(rx_parser *p, u32 from) {
    u32 n = from;
    for (u32 i = from; i < p->values.n; i++) {
        rx_value v = p->values.at[i];
        if (v.kind != V_PART) p->values.at[n++] = v;
        else if (!vec_push(p->b, &p->members, v)) return false;
    }
    p->values.n = n;
    return true;
}

bool rx_reduce_group(rx_parser *p) {
    rx_frame f = p->frames.at[p->frames.n - 1];
    if (!rx_reduce_branch(p)) return false;
    rx_value v = p->values.at[f.first];
    v.role = R_ATOM;
    if (p->values.n - f.first == 1) {
        if (v.kind == V_BYTES) {
            v.id = rx_plain_id(p, v);
            v.kind = V_PLAIN;
        }
        p->values.n = f.first;
        p->bytes.n = f.bytes;
        return v.id != NONE && vec_push(p->b, &p->values, v);
    }
    u32 first_part = p->members.n;
    if (!move_parts(p, f.first)) return false;
    u32 n_parts = p->members.n - first_part;
    if (p->values.n > f.first && !join_branches(p, &f)) return false;
    if (n_parts == 0) return true;
    if (p->values.n > f.first && !vec_push(p->b, &p->members, p->values.at[--p->values.n])) return false;
    p->bytes.n = f.bytes;
    return rx_push_part(p, P_CHOICE, first_part);
}
