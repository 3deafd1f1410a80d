/* Constructors: the algebraic laws that keep derivatives few. See rx.h for the normal form that they establish. */
#include "rx.h"

/* Nesting that derivatives may add to what the source had. */
#define DEPTH_FACTOR 4
#define DEPTH_SLACK 50

bool rx_init(rx_arena *x, budget *b) {
    memset(x, 0, sizeof *x);
    x->b = b;
    x->text = x->local_escape = NONE;
    x->n_classes = 1;
    rx_id never = rx_intern(x, (u32[]){RX_NEVER}, 1, RX_TEXT | RX_FINITE, 0);
    rx_id empty = rx_intern(x, (u32[]){RX_EMPTY}, 1, RX_NULLABLE | RX_INHABITED | RX_TEXT | RX_FINITE, 0);
    rx_id all = rx_intern(x, (u32[]){RX_ALL}, 1, RX_NULLABLE | RX_INHABITED, 0);
    return never == RX_ID_NEVER && empty == RX_ID_EMPTY && all == RX_ID_ALL;
}

bool rx_copy(rx_arena *x, budget *b, const rx_arena *from) {
    *x = *from;
    x->b = b;
    memset(&x->nodes, 0, sizeof x->nodes);
    memset(&x->meta, 0, sizeof x->meta);
    memset(&x->sets, 0, sizeof x->sets);
    memset(&x->memo, 0, sizeof x->memo);
    memset(&x->bounds, 0, sizeof x->bounds);
    memset(&x->first, 0, sizeof x->first); /* not copied: what each node looks up at its front is found again */
    memset(&x->local_of, 0, sizeof x->local_of);
    memset(&x->local, 0, sizeof x->local);
    memset(&x->same_of, 0, sizeof x->same_of);
    memset(&x->same, 0, sizeof x->same);
    x->local_escape = NONE;
    memset(&x->must_of, 0, sizeof x->must_of);
    memset(&x->must, 0, sizeof x->must);
    memset(&x->clamped, 0, sizeof x->clamped);
    memset(&x->widened, 0, sizeof x->widened);
    memset(&x->finish, 0, sizeof x->finish);
    memset(&x->least, 0, sizeof x->least);
    memset(&x->labels, 0, sizeof x->labels);
    memset(&x->cells, 0, sizeof x->cells);
    memset(&x->id_start, 0, sizeof x->id_start);
    memset(&x->id_continue, 0, sizeof x->id_continue);
    memset(&x->beyond, 0, sizeof x->beyond);
    memset(&x->apart, 0, sizeof x->apart);
    memset(&x->among, 0, sizeof x->among);
    memset(&x->unbound, 0, sizeof x->unbound);
    memset(&x->chars, 0, sizeof x->chars);
    memset(&x->ending_of, 0, sizeof x->ending_of);
    memset(&x->endings, 0, sizeof x->endings);
    return intern_copy(b, &x->nodes, &from->nodes) && vec_copy(b, &x->meta, &from->meta) && intern_copy(b, &x->sets, &from->sets) &&
           map_copy(b, &x->memo, &from->memo) && vec_copy(b, &x->bounds, &from->bounds) && intern_copy(b, &x->labels, &from->labels) &&
           intern_copy(b, &x->cells, &from->cells) && vec_copy(b, &x->id_start, &from->id_start) && vec_copy(b, &x->id_continue, &from->id_continue) &&
           vec_reach(b, &x->first, from->meta.n) && vec_reach(b, &x->local_of, from->meta.n);
}

void rx_drop(rx_arena *x) {
    if (!x->b) return;
    intern_drop(x->b, &x->nodes);
    vec_drop(x->b, &x->meta);
    intern_drop(x->b, &x->sets);
    map_drop(x->b, &x->memo);
    vec_drop(x->b, &x->bounds);
    vec_drop(x->b, &x->first);
    vec_drop(x->b, &x->local_of);
    intern_drop(x->b, &x->local);
    map_drop(x->b, &x->same_of);
    vec_drop(x->b, &x->same);
    vec_drop(x->b, &x->must_of);
    intern_drop(x->b, &x->must);
    map_drop(x->b, &x->clamped);
    map_drop(x->b, &x->widened);
    map_drop(x->b, &x->finish);
    map_drop(x->b, &x->least);
    intern_drop(x->b, &x->labels);
    intern_drop(x->b, &x->cells);
    vec_drop(x->b, &x->id_start);
    vec_drop(x->b, &x->id_continue);
    map_drop(x->b, &x->beyond);
    map_drop(x->b, &x->apart);
    map_drop(x->b, &x->among);
    map_drop(x->b, &x->unbound);
    vec_drop(x->b, &x->chars);
    map_drop(x->b, &x->ending_of);
    vec_drop(x->b, &x->endings);
}

/* Exact but for intersections, complements and quoting: there, what each part asks for is taken to be asked for in turn. */
static u32 guess_distance(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u64 sum = 0;
    if (flags & RX_NULLABLE) return 0;
    switch ((rx_kind)words[0]) {
    case RX_CONCAT: sum = (u64)x->meta.at[words[1]].distance + x->meta.at[words[2]].distance; break;
    case RX_OR: case RX_FORK:
        sum = UINT16_MAX;
        for (u32 i = 1; i < n; i++) sum = min_u32((u32)sum, x->meta.at[words[i]].distance);
        break;
    case RX_AND:
        for (u32 i = 1; i < n; i++) sum += x->meta.at[words[i]].distance;
        break;
    case RX_REPEAT: sum = (u64)x->meta.at[words[1]].distance * words[2]; break;
    case RX_QUOTE: case RX_TAG: sum = x->meta.at[words[1]].distance; break;
    case RX_REST: sum = x->meta.at[words[1]].distance - min_u32(words[2], x->meta.at[words[1]].distance); break;
    case RX_MULTIPLE: sum = words[1]; break;
    default: sum = 1; break;
    }
    return sum < UINT16_MAX ? (u32)sum : UINT16_MAX;
}

/* A lower bound on the lengths of strings. No character is shorter in quotes; what an escape under way stands for has at most 4 bytes. */
static u8 bound_length(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u64 least = 0;
    if (flags & RX_NULLABLE) return 0;
    switch ((rx_kind)words[0]) {
    case RX_SET: return 1;
    case RX_CONCAT: least = (u64)x->meta.at[words[1]].least + x->meta.at[words[2]].least; break;
    case RX_OR:
        least = UINT8_MAX;
        for (u32 i = 1; i < n && least; i++) least = min_u32((u32)least, x->meta.at[words[i]].least);
        break;
    case RX_AND:
        for (u32 i = 1; i < n; i++) least = max_u32((u32)least, x->meta.at[words[i]].least);
        break;
    case RX_REPEAT: least = (u64)x->meta.at[words[1]].least * words[2]; break;
    case RX_QUOTE:
        least = x->meta.at[words[1]].least;
        if (words[3]) least = least > 4 ? least - 3 : 1;
        break;
    default: break;
    }
    return (u8)(least < UINT8_MAX ? least : UINT8_MAX);
}

static u32 counted(const rx_arena *x, const u32 *words, u32 n) {
    u32 last = 1; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_CONCAT: last = 3; break;
    case RX_OR: case RX_AND: last = n; break;
    case RX_REPEAT:
        if (words[3] != NONE && words[3] > 1) return RX_COUNTED;
        last = 2;
        break;
    case RX_QUOTE: last = 2; break;
    default: break;
    }
    for (u32 i = 1; i < last; i++)
        if (x->meta.at[words[i]].flags & RX_COUNTED) return RX_COUNTED;
    return 0;
}

static u32 named(const rx_arena *x, const u32 *words, u32 n) {
    u32 last = 1, flags = 0; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_NOT: return x->meta.at[words[1]].flags & RX_NAMED ? RX_BARRED : 0;
    case RX_NAME: return words[1] & RX_BOUNDED ? RX_NAMED : 0;
    case RX_CONCAT: last = 3; break;
    case RX_OR: case RX_AND: case RX_FORK: last = n; break;
    case RX_REPEAT: case RX_QUOTE: case RX_TAG: last = 2; break;
    default: break;
    }
    for (u32 i = 1; i < last; i++) flags |= x->meta.at[words[i]].flags;
    return flags & (RX_NAMED | RX_BARRED);
}

static u32 first_exact(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u32 last = n; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_NEVER: case RX_EMPTY: case RX_ALL: case RX_SET: return RX_FIRST_EXACT;
    case RX_CONCAT:
        if (!(flags & RX_INHABITED)) return 0;
        last = x->meta.at[words[1]].flags & RX_NULLABLE ? 3 : 2;
        break;
    case RX_OR: case RX_FORK: break;
    case RX_REPEAT: case RX_TAG: last = 2; break;
    default: return 0;
    }
    for (u32 i = 1; i < last; i++)
        if (!(x->meta.at[words[i]].flags & RX_FIRST_EXACT)) return 0;
    return RX_FIRST_EXACT;
}

rx_id rx_intern(rx_arena *x, const u32 *words, u32 n, u32 flags, u32 depth) {
    bool fresh;
    rx_id id = intern(x->b, &x->nodes, words, n, &fresh);
    if (id == NONE || !fresh) return id;
    words = intern_words(&x->nodes, id);
    flags |= counted(x, words, n) | first_exact(x, words, n, flags);
    if (x->has_name) flags |= named(x, words, n);
    rx_meta meta = {.flags = (u8)(flags & RX_NULLABLE ? flags | RX_INHABITED : flags), .depth = (u16)min_u32(depth, UINT16_MAX),
                    .distance = (u16)guess_distance(x, words, n, flags), .shared = RX_NOT_COUNTED,
                    .least = bound_length(x, words, n, flags)};
    u64 most = x->b->limits.max_regex_nesting < RX_DEPTH_CEILING ? x->b->limits.max_regex_nesting * DEPTH_FACTOR + DEPTH_SLACK : RX_DEPTH_CEILING;
    bool ok = depth <= most && depth <= RX_DEPTH_CEILING;
    if (!ok && most < RX_DEPTH_CEILING) budget_limit(x->b, LIMIT(max_regex_nesting));
    else if (!ok) budget_ceiling(x->b, LIMIT(max_regex_nesting), RX_DEPTH_CEILING);
    if (ok && id >= x->b->limits.max_expressions) ok = budget_limit(x->b, LIMIT(max_expressions));
    if (ok && vec_push(x->b, &x->meta, meta)) return id;
    intern_undo(&x->nodes);
    return NONE;
}

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
     * plain "aa" stays a literal. */
    if (is_kind(x, head, RX_REPEAT) || is_kind(x, next, RX_REPEAT)) {
        u32 a, b, c, d, low, high;
        rx_id part = as_repeat(x, head, &a, &b);
        if (part == as_repeat(x, next, &c, &d) && add_bounds(a, c, &low) && low != NONE && add_bounds(b, d, &high)) {
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
    rx_id id = ok ? concat_one(x, head, tail) : NONE;
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

static int compare_ids(const void *a, const void *b) {
    u32 p = *(const u32 *)a, q = *(const u32 *)b;
    return p < q ? -1 : p > q;
}

static void sort_distinct(id_vec *v) {
    bool sorted = true;
    for (u32 i = 1; i < v->n && sorted; i++) sorted = v->at[i - 1] < v->at[i];
    if (sorted) return;
    qsort(v->at, v->n, sizeof *v->at, compare_ids);
    u32 n = 0;
    for (u32 i = 0; i < v->n; i++)
        if (n == 0 || v->at[n - 1] != v->at[i]) v->at[n++] = v->at[i];
    v->n = n;
}

static bool holds(const id_vec *v, rx_id id) { return v->n && bsearch(&id, v->at, v->n, sizeof id, compare_ids) != NULL; }

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

rx_id rx_or(rx_arena *x, const rx_id *parts, u32 n) {
    id_vec v = {0};
    rx_id result = NONE;
    if (!flatten(x, RX_OR, parts, n, &v) || !spend(x, v.n)) goto done;
    sort_distinct(&v);
    if (v.n > 1 && !merge_arms(x, &v)) goto done;
    if (v.n > 1) rx_drop_contained(x, &v);
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
    if (kept < 2) {
        result = kept ? v.at[0] : RX_ID_NEVER;
        goto done;
    }
    v.n = kept;
    if (!vec_push(x->b, &v, 0)) goto done;
    memmove(v.at + 1, v.at, kept * sizeof *v.at);
    v.at[0] = RX_OR;
    result = rx_intern(x, v.at, v.n, flags, depth + 1);
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

rx_id rx_and(rx_arena *x, const rx_id *parts, u32 n) {
    id_vec v = {0};
    rx_id result = NONE;
    if (!flatten(x, RX_AND, parts, n, &v) || !spend(x, v.n) || !meet_like_operands(x, &v) || !meet_quotes(x, &v)) goto done;
    sort_distinct(&v);
    bool never = false, nullable = true, has_text = false;
    for (u32 i = 0; i < v.n; i++) {
        rx_id id = v.at[i];
        never |= id == RX_ID_NEVER || (is_kind(x, id, RX_NOT) && holds(&v, operand(x, id, 0)));
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
    if (kept < 2) {
        result = kept ? v.at[0] : RX_ID_ALL;
        goto done;
    }
    v.n = kept;
    if (!vec_push(x->b, &v, 0)) goto done;
    memmove(v.at + 1, v.at, kept * sizeof *v.at);
    v.at[0] = RX_AND;
    result = rx_intern(x, v.at, v.n, flags, depth + 1);
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
