/* Constructors: the algebraic laws that keep derivatives few. See rx.h for the normal form that they establish. */
#include "rx.h"

enum { NODES_PER_WORK = 2 }; /* of a sequence that is copied in front of another one */

static u32 depth_of(const rx_arena *x, rx_id id) { return x->meta.at[id].depth; }
static u32 flags_of(const rx_arena *x, rx_id id) { return x->meta.at[id].flags; }
static u32 operand(const rx_arena *x, rx_id id, u32 i) { return intern_words(&x->nodes, id)[1 + i]; }
static bool is_kind(const rx_arena *x, rx_id id, rx_kind kind) { return rx_kind_of(x, id) == kind; }

rx_id rx_set(rx_arena *x, const byte_set *set) {
    if (set_count(set) == 0) return RX_ID_NEVER;
    u32 id = intern(x->b, &x->sets, set->w, 8, NULL);
    if (id == NONE) return NONE;
    bool ascii = !(set->w[4] | set->w[5] | set->w[6] | set->w[7]);
    return rx_intern(x, (u32[]){RX_SET, id}, 2, RX_INHABITED | RX_FINITE | (ascii ? RX_TEXT : 0u), 0);
}

rx_id rx_byte(rx_arena *x, u32 byte) {
    if (x->of_byte[byte] != RX_ID_NEVER) return x->of_byte[byte];
    byte_set set = {{0}};
    set_add(&set, byte);
    rx_id id = rx_set(x, &set);
    if (id != NONE) x->of_byte[byte] = id;
    return id;
}

rx_id rx_bytes(rx_arena *x, const u8 *bytes, size_t n) {
    rx_id id = RX_ID_EMPTY;
    while (n-- && id != NONE) id = rx_concat(x, rx_byte(x, bytes[n]), id);
    return id;
}

/* --- concatenation and repetition ------------------------------------------------------------------------------------- */

/* id as part{low, high}: true for a repetition, and for anything as a repetition of itself. */
static rx_id as_repeat(const rx_arena *x, rx_id id, u32 *low, u32 *high) {
    *low = *high = 1;
    if (!is_kind(x, id, RX_REPEAT)) return id;
    *low = operand(x, id, 1);
    *high = operand(x, id, 2);
    return operand(x, id, 0);
}

/* Whether id is part? */
static bool is_optional(const rx_arena *x, rx_id id, rx_id part) {
    if (!is_kind(x, id, RX_OR) || operand(x, id, 0) != RX_ID_EMPTY) return false;
    u32 n = intern_length(&x->nodes, id) - 2; /* operands but for "" */
    if (n == 1) return operand(x, id, 1) == part;
    return is_kind(x, part, RX_OR) && intern_length(&x->nodes, part) == n + 1 &&
           memcmp(intern_words(&x->nodes, id) + 2, intern_words(&x->nodes, part) + 1, n * sizeof(u32)) == 0;
}

/* id as part{low, high}, as `as_repeat` has it; and p?, which is a union,
 * as p{0,1} where its neighbour is a repetition of p, or p? as well. */
static rx_id as_counted(const rx_arena *x, rx_id id, rx_id other, u32 *low, u32 *high) {
    rx_id part = as_repeat(x, id, low, high);
    if (!is_kind(x, id, RX_OR) || operand(x, id, 0) != RX_ID_EMPTY) return part;
    u32 a, b;
    rx_id counted = as_repeat(x, other, &a, &b);
    if (id != other && !is_optional(x, id, counted)) return part;
    *low = 0;
    return counted;
}

/* Sum of two bounds; NONE is "unbounded". False where it cannot be represented. */
static bool add_bounds(u32 a, u32 b, u32 *sum) {
    *sum = a == NONE || b == NONE ? NONE : a + b;
    return a == NONE || b == NONE || (u64)a + b < NONE;
}

/* head is no CONCAT. */
static rx_id concat_one(rx_arena *x, rx_id head, rx_id tail) {
    if (head == RX_ID_EMPTY) return tail;
    if (tail == RX_ID_EMPTY) return head;
    if (head == RX_ID_ALL && tail == RX_ID_ALL) return RX_ID_ALL;
    rx_id next = is_kind(x, tail, RX_CONCAT) ? operand(x, tail, 0) : tail;
    if (next == x->text && (flags_of(x, head) & (RX_TEXT | RX_NULLABLE)) == (RX_TEXT | RX_NULLABLE)) return tail; /* T? text = text */
    /* p{a,b} p{c,d} = p{a+c,b+d}: counts of two intervals add up to an interval. At least one must be a repetition already, so that
     * plain "aa" stays a literal, or both p?. */
    if (is_kind(x, head, RX_REPEAT) || is_kind(x, next, RX_REPEAT) || (head == next && is_kind(x, head, RX_OR))) {
        u32 a, b, c, d, low, high;
        rx_id part = as_counted(x, head, next, &a, &b);
        if (part == as_counted(x, next, head, &c, &d) && (a != 1 || b != 1 || c != 1 || d != 1) && add_bounds(a, c, &low) && low != NONE &&
            add_bounds(b, d, &high)) {
            rx_id rest = next == tail ? RX_ID_EMPTY : operand(x, tail, 1);
            rx_id merged = rx_repeat(x, part, low, high);
            return merged == NONE || rest == RX_ID_EMPTY ? merged : concat_one(x, merged, rest);
        }
    }
    u32 flags = flags_of(x, head) & flags_of(x, tail); /* each flag holds of a sequence if it holds of both parts */
    return rx_intern(x, (u32[]){RX_CONCAT, head, tail}, 3, flags, max_u32(depth_of(x, head) + 1, depth_of(x, tail)));
}

rx_id rx_concat(rx_arena *x, rx_id head, rx_id tail) {
    if (head == NONE || tail == NONE) return NONE;
    if (head == RX_ID_NEVER || tail == RX_ID_NEVER) return RX_ID_NEVER;
    if (tail == RX_ID_EMPTY) return head;
    if (!is_kind(x, head, RX_CONCAT)) return concat_one(x, head, tail);
    id_vec heads = {0};
    bool ok = true;
    for (; is_kind(x, head, RX_CONCAT) && ok; head = operand(x, head, 1)) ok = vec_push(x->b, &heads, operand(x, head, 0));
    rx_id id = ok && budget_work(x->b, heads.n / NODES_PER_WORK) ? concat_one(x, head, tail) : NONE;
    while (heads.n && id != NONE) id = concat_one(x, heads.at[--heads.n], id);
    vec_drop(x->b, &heads);
    return id;
}

rx_id rx_repeat(rx_arena *x, rx_id part, u32 low, u32 high) {
    if (part == NONE) return NONE;
    if (low > high) return RX_ID_NEVER;
    if (high == 0 || part == RX_ID_EMPTY) return RX_ID_EMPTY;
    if (part == RX_ID_NEVER) return low == 0 ? RX_ID_EMPTY : RX_ID_NEVER;
    if (part == RX_ID_ALL) return RX_ID_ALL;
    if (rx_nullable(x, part)) low = 0; /* missing repetitions can be "" */
    if (low == 0 && is_kind(x, part, RX_OR)) { /* (a?){0,n} = a{0,n} */
        u32 n = intern_length(&x->nodes, part) - 1;
        if (operand(x, part, 0) == RX_ID_EMPTY) {
            id_vec rest = {0};
            bool ok = vec_reserve(x->b, &rest, n);
            if (ok) memcpy(rest.at, intern_words(&x->nodes, part) + 2, (n - 1) * sizeof *rest.at);
            part = ok ? rx_or(x, rest.at, n - 1) : NONE;
            vec_drop(x->b, &rest);
            return rx_repeat(x, part, 0, high);
        }
    }
    if (low == 1 && high == 1) return part;
    if (low == 0 && high == 1) return rx_or2(x, RX_ID_EMPTY, part);
    /* (p{a,b}){c,d} = p{ca,db} where the intervals [ka,kb], k = c..d, leave no gap: kb + 1 >= (k+1)a, hardest at the smallest k. */
    if (is_kind(x, part, RX_REPEAT)) {
        u64 a = operand(x, part, 1), b = operand(x, part, 2);
        bool no_gap = low == high || (low == 0 ? a <= 1 : b == NONE || low * b + 1 >= (low + 1) * a);
        u64 from = low * a, to = b == NONE || high == NONE ? NONE : high * b;
        if (no_gap && from < NONE && (to < NONE || b == NONE || high == NONE))
            return rx_repeat(x, operand(x, part, 0), (u32)from, (u32)to);
    }
    u32 flags = flags_of(x, part) & (high == NONE ? RX_TEXT : RX_TEXT | RX_FINITE);
    if (low == 0) flags |= RX_NULLABLE;
    else flags |= flags_of(x, part) & RX_INHABITED;
    return rx_intern(x, (u32[]){RX_REPEAT, part, low, high}, 4, flags, depth_of(x, part) + 1);
}

/* --- union ------------------------------------------------------------------------------------------------------------ */

static void sort_distinct(id_vec *v) {
    bool sorted = true;
    for (u32 i = 1; i < v->n && sorted; i++) sorted = v->at[i - 1] < v->at[i];
    if (sorted) return;
    qsort(v->at, v->n, sizeof *v->at, compare_u32);
    u32 n = 0;
    for (u32 i = 0; i < v->n; i++)
        if (n == 0 || v->at[n - 1] != v->at[i]) v->at[n++] = v->at[i];
    v->n = n;
}

static bool holds(const id_vec *v, rx_id id) { return v->n && bsearch(&id, v->at, v->n, sizeof id, compare_u32) != NULL; }

/* Operands of all parts that have the given kind are put in their place. Fails on NONE. */
static bool flatten(rx_arena *x, rx_kind kind, const rx_id *parts, u32 n, id_vec *v) {
    for (u32 i = 0; i < n; i++) {
        if (parts[i] == NONE) return false;
        if (!is_kind(x, parts[i], kind)) {
            if (!vec_push(x->b, v, parts[i])) return false;
            continue;
        }
        u32 k = intern_length(&x->nodes, parts[i]) - 1;
        if (!vec_reserve(x->b, v, k)) return false;
        memcpy(v->at + v->n, intern_words(&x->nodes, parts[i]) + 1, k * sizeof *v->at);
        v->n += k;
    }
    return true;
}

/* Wide nodes count as work, beside the derivatives that make them. */
static bool spend(rx_arena *x, u32 n) { return n <= 8 || budget_work(x->b, n); }

/* An operand of a union seen as `part{low,high} tail`, or as `set tail` (part == NONE). */
typedef struct union_arm {
    u32 tail, part, low, high, id;
} union_arm;

static int compare_arms(const void *a, const void *b) {
    const union_arm *p = a, *q = b;
    if (p->tail != q->tail) return p->tail < q->tail ? -1 : 1;
    if (p->part != q->part) return p->part < q->part ? -1 : 1;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

static union_arm arm_of(const rx_arena *x, rx_id id) {
    union_arm a = {.tail = RX_ID_EMPTY, .part = NONE, .id = id};
    rx_id head = id;
    if (is_kind(x, id, RX_CONCAT)) {
        head = operand(x, id, 0);
        a.tail = operand(x, id, 1);
    }
    if (is_kind(x, head, RX_SET)) a.low = operand(x, head, 0);
    else a.part = as_repeat(x, head, &a.low, &a.high);
    return a;
}

/* [a]t | [b]t = [ab]t, and p{a,b}t | p{c,d}t = p{a,d}t where the counts leave no gap. Keeps unions of counters and of literals small. */
static bool merge_arms(rx_arena *x, id_vec *v) {
    VEC(union_arm) arms = {0};
    bool ok = vec_reserve(x->b, &arms, v->n), changed = false;
    for (u32 i = 0; ok && i < v->n; i++) arms.at[arms.n++] = arm_of(x, v->at[i]);
    if (ok) qsort(arms.at, arms.n, sizeof *arms.at, compare_arms);
    v->n = 0; /* room for as many as there were */
    for (u32 i = 0, j; ok && i < arms.n; i = j) {
        union_arm first = arms.at[i];
        rx_id merged = first.id;
        j = i + 1;
        if (first.part == NONE) {
            byte_set set = *rx_set_of(x, first.low);
            for (; j < arms.n && arms.at[j].tail == first.tail && arms.at[j].part == NONE; j++)
                set_unite(&set, rx_set_of(x, arms.at[j].low));
            if (j > i + 1) merged = rx_concat(x, rx_set(x, &set), first.tail);
        } else {
            u32 high = first.high;
            for (; j < arms.n && arms.at[j].tail == first.tail && arms.at[j].part == first.part; j++) {
                if (high != NONE && arms.at[j].low > high + 1) break;
                high = max_u32(high, arms.at[j].high);
            }
            if (j > i + 1) merged = rx_concat(x, rx_repeat(x, first.part, first.low, high), first.tail);
        }
        changed |= j > i + 1;
        ok = merged != NONE;
        if (ok) v->at[v->n++] = merged;
    }
    vec_drop(x->b, &arms);
    if (ok && changed) { /* a merged arm may be a union again: x{0,1} */
        id_vec flat = {0};
        ok = flatten(x, RX_OR, v->at, v->n, &flat);
        vec_drop(x->b, v);
        *v = flat;
    }
    if (ok) sort_distinct(v);
    return ok;
}

/* A node of several operands, of which the deepest has this depth. Changes v. */
static rx_id intern_operands(rx_arena *x, rx_kind kind, id_vec *v, u32 flags, u32 depth) {
    u32 n = v->n;
    if (!vec_push(x->b, v, 0)) return NONE;
    memmove(v->at + 1, v->at, n * sizeof *v->at);
    v->at[0] = kind;
    return rx_intern(x, v->at, v->n, flags, depth + 1);
}

rx_id rx_or(rx_arena *x, const rx_id *parts, u32 n) {
    id_vec v = {0};
    rx_id result = NONE;
    if (!flatten(x, RX_OR, parts, n, &v) || !spend(x, v.n)) goto done;
    sort_distinct(&v);
    if (v.n > 1 && !merge_arms(x, &v)) goto done;
    if (v.n > 1) rx_drop_contained(x, &v);
    if (v.n > 1 && !rx_drop_narrower(x, &v)) goto done;
    bool nullable_besides_empty = false, all = false, text = x->text != NONE && holds(&v, x->text);
    for (u32 i = 0; i < v.n; i++) {
        nullable_besides_empty |= v.at[i] != RX_ID_EMPTY && rx_nullable(x, v.at[i]);
        all |= v.at[i] == RX_ID_ALL || (is_kind(x, v.at[i], RX_NOT) && holds(&v, operand(x, v.at[i], 0)));
    }
    if (all) {
        result = RX_ID_ALL;
        goto done;
    }
    u32 kept = 0, flags = RX_TEXT | RX_FINITE, depth = 0;
    bool optional = holds(&v, RX_ID_EMPTY) && !nullable_besides_empty;
    for (u32 i = 0; i < v.n; i++) {
        rx_id id = v.at[i];
        if (id == RX_ID_NEVER || (id == RX_ID_EMPTY && !optional)) continue;
        if (text && id != x->text && flags_of(x, id) & RX_TEXT) continue; /* contained in `text` */
        if (optional && is_kind(x, id, RX_REPEAT) && operand(x, id, 1) == 1) { /* "" | p{1,n} = p{0,n} */
            rx_id wider = rx_repeat(x, operand(x, id, 0), 0, operand(x, id, 2));
            v.at[i] = wider;
            result = wider == NONE ? NONE : rx_or(x, v.at + 1, v.n - 1); /* at[0] is EMPTY */
            goto done;
        }
        v.at[kept++] = id;
        flags = (flags & flags_of(x, id) & (RX_TEXT | RX_FINITE)) | ((flags | flags_of(x, id)) & (RX_NULLABLE | RX_INHABITED));
        depth = max_u32(depth, depth_of(x, id));
    }
    v.n = kept;
    result = kept == 0 ? RX_ID_NEVER : kept == 1 ? v.at[0] : intern_operands(x, RX_OR, &v, flags, depth);
done:
    vec_drop(x->b, &v);
    return result;
}

rx_id rx_or2(rx_arena *x, rx_id a, rx_id b) { return rx_or(x, (rx_id[]){a, b}, 2); }

/* --- intersection and complement -------------------------------------------------------------------------------------- */

/* ~a & ~b = ~(a | b), and sets meet: leaves at most one NOT and one SET in v. */
static bool meet_like_operands(rx_arena *x, id_vec *v) {
    byte_set set;
    memset(&set, 0xff, sizeof set);
    id_vec negated = {0};
    u32 kept = 0, n_sets = 0;
    bool ok = true;
    for (u32 i = 0; ok && i < v->n; i++) {
        rx_id id = v->at[i];
        if (is_kind(x, id, RX_NOT)) {
            ok = vec_push(x->b, &negated, operand(x, id, 0));
        } else if (is_kind(x, id, RX_SET)) {
            const byte_set *other = rx_set_of(x, operand(x, id, 0));
            for (int w = 0; w < 8; w++) set.w[w] &= other->w[w];
            n_sets++;
        } else {
            v->at[kept++] = id;
        }
    }
    v->n = kept;
    if (ok && n_sets) ok = vec_push(x->b, v, rx_set(x, &set));
    if (ok && negated.n) ok = vec_push(x->b, v, rx_not(x, rx_or(x, negated.at, negated.n)));
    for (u32 i = kept; ok && i < v->n; i++) ok = v->at[i] != NONE;
    vec_drop(x->b, &negated);
    return ok;
}

/* What is taken out of spellings is taken out of their values (rx_quote.c). */
static bool meet_quotes(rx_arena *x, id_vec *v) {
    id_vec taken = {0};
    bool ok = true, found = false;
    u32 at = 0;
    while (at < v->n && !is_kind(x, v->at[at], RX_NOT)) at++;
    if (at == v->n || v->n < 2 || !x->has_quote) return true;
    rx_id negated = operand(x, v->at[at], 0);
    ok = flatten(x, RX_OR, &negated, 1, &taken);
    for (u32 i = 0; ok && i < v->n; i++)
        for (u32 k = 0; ok && k < taken.n && i != at; k++) {
            if (!rx_quote_minus(x, v->at[i], taken.at[k], &v->at[i])) continue;
            taken.at[k--] = taken.at[--taken.n];
            found = true;
            ok = v->at[i] != NONE;
        }
    if (ok && found) v->at[at] = rx_not(x, rx_or(x, taken.at, taken.n));
    vec_drop(x->b, &taken);
    return ok && v->at[at] != NONE;
}

enum { FEW_OPERANDS = 8 };

/* Is it an operand or the intersection of some, or a union with such a part? `taken`: the expression whose complement is an operand. Wide
 * unions and intersections are not looked through. */
static bool all_imply(const rx_arena *x, const id_vec *v, rx_id id, rx_id taken) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id);
    if (holds(v, id)) return true;
    if (node[0] == RX_NOT) { /* ~(a | b) is a part of ~a */
        const u32 *whole = intern_words(&x->nodes, taken);
        bool found = node[1] == taken;
        for (u32 i = 1; whole[0] == RX_OR && i < intern_length(&x->nodes, taken) && !found; i++) found = whole[i] == node[1];
        return found;
    }
    if ((node[0] != RX_AND && node[0] != RX_OR) || n > FEW_OPERANDS + 1) return false;
    for (u32 i = 1; i < n; i++)
        if (all_imply(x, v, node[i], taken) == (node[0] == RX_OR)) return node[0] == RX_OR;
    return node[0] == RX_AND;
}

rx_id rx_and(rx_arena *x, const rx_id *parts, u32 n) {
    id_vec v = {0};
    rx_id result = NONE;
    if (!flatten(x, RX_AND, parts, n, &v) || !spend(x, v.n) || !meet_like_operands(x, &v) || !meet_quotes(x, &v)) goto done;
    sort_distinct(&v);
    bool never = false, nullable = true, has_text = false;
    for (u32 i = 0; i < v.n; i++) {
        rx_id id = v.at[i];
        never |= id == RX_ID_NEVER || (is_kind(x, id, RX_NOT) && all_imply(x, &v, operand(x, id, 0), operand(x, id, 0)));
        nullable &= rx_nullable(x, id);
        has_text |= id != x->text && flags_of(x, id) & RX_TEXT;
    }
    for (u32 i = 0; has_text && i < v.n && !never; i++) /* T & ~text, where T is a part of text */
        never = is_kind(x, v.at[i], RX_NOT) && operand(x, v.at[i], 0) == x->text;
    if (never || holds(&v, RX_ID_EMPTY)) {
        result = !never && nullable ? RX_ID_EMPTY : RX_ID_NEVER;
        goto done;
    }
    u32 kept = 0, flags = nullable ? RX_NULLABLE : 0, depth = 0;
    for (u32 i = 0; i < v.n; i++) {
        rx_id id = v.at[i];
        if (id == RX_ID_ALL || (id == x->text && has_text)) continue;
        v.at[kept++] = id;
        flags |= flags_of(x, id) & (RX_TEXT | RX_FINITE);
        depth = max_u32(depth, depth_of(x, id));
    }
    v.n = kept;
    result = kept == 0 ? RX_ID_ALL : kept == 1 ? v.at[0] : intern_operands(x, RX_AND, &v, flags, depth);
done:
    vec_drop(x->b, &v);
    return result;
}

rx_id rx_not(rx_arena *x, rx_id part) {
    if (part == NONE) return NONE;
    if (part == RX_ID_NEVER) return RX_ID_ALL;
    if (part == RX_ID_ALL) return RX_ID_NEVER;
    if (is_kind(x, part, RX_NOT)) return operand(x, part, 0);
    return rx_intern(x, (u32[]){RX_NOT, part}, 2, rx_nullable(x, part) ? 0 : RX_NULLABLE, depth_of(x, part) + 1);
}

rx_id rx_change_parts(rx_arena *x, rx_id id, rx_id (*change)(rx_arena *x, rx_id part, u32 how), u32 how) {
    id_vec parts = {0};
    bool ok = true, all = is_kind(x, id, RX_AND);
    for (u32 i = 1; ok && i < intern_length(&x->nodes, id); i++) {
        rx_id part = change(x, intern_words(&x->nodes, id)[i], how);
        ok = part != NONE && vec_push(x->b, &parts, part);
    }
    rx_id result = !ok ? NONE : all ? rx_and(x, parts.at, parts.n) : rx_or(x, parts.at, parts.n);
    vec_drop(x->b, &parts);
    return result;
}
