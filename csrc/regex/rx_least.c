/* The length of the shortest string of an expression, exact.
 *
 * By structure where that tells: the sum of a sequence, the least of a union, arithmetic for repeats and integral multiples. For
 * intersections, complements and other multiples by a search through the derivatives (A*, Hart, Nilsson, Raphael 1968): `bound_of` gives a
 * lower bound, and the search ends at the first node for which it is known to be exact. What is found holds for all nodes on the way, so
 * that a shortest text can be followed from any of them without a further search.
 *
 * Quoting. A string costs what its spelling in JSON does: a raw byte 1, a short escape 2, another control character 6. No character is
 * shorter in any other spelling. So QUOTE(L) asks the same questions of L under these weights; within an escape, of what is left of L
 * behind each character that it may still become (rx_quote.c).
 *
 * Recursion goes as deep as nodes nest; along sequences it is a loop. Cost: kept per node; a search is charged by its derivatives. */
#include "names/rx_unbound.h"

enum {
    PARTS_PER_WORK = 8, /* of a union */
    MANY_BOUNDS = 64,   /* unions and intersections that are looked at for one bound: from there on */
    BOUNDS_PER_WORK = 8 /* they count as work, and what is told of them is kept */
};

typedef struct least_bound {
    u32 length; /* no string is shorter */
    bool exact;
} least_bound;

u32 rx_add_lengths(u32 a, u32 b) { return a == RX_NO_LENGTH || b == RX_NO_LENGTH ? RX_NO_LENGTH : min_u32(a + b, RX_LONG); }

u32 rx_times_length(u32 n, u32 length) {
    if (n == 0) return 0;
    return length == RX_NO_LENGTH ? RX_NO_LENGTH : (u64)n * length < RX_LONG ? n * length : RX_LONG;
}

static u64 length_key(rx_id id, bool quoted) { return (u64)id << 1 | quoted; }

static u32 weight(u32 byte, bool quoted) {
    if (!quoted) return 1;
    if (byte == '"' || byte == '\\' || (byte >= 8 && byte <= 13 && byte != 11)) return 2;
    return byte < 0x20 ? 6 : 1;
}

static u32 least_weight(const byte_set *set, bool quoted) {
    u32 least = RX_NO_LENGTH;
    for (u32 byte = 0; byte < 256 && least > 1; byte++)
        if (set_has(set, byte)) least = min_u32(least, weight(byte, quoted));
    return least;
}

static bool keep_length(rx_arena *x, rx_id id, bool quoted, u32 length) {
    return length == RX_NO_LENGTH || map_put(x->b, &x->least, length_key(id, quoted), length);
}

static least_bound part_bound(rx_arena *x, rx_id id, bool quoted);

/* A number of bytes, or of characters. */
static bool is_n_of_any(const rx_arena *x, const u32 *node, bool *of_chars) {
    if (node[0] != RX_REPEAT) return false;
    *of_chars = x->text != NONE && node[1] == intern_words(&x->nodes, x->text)[1];
    if (*of_chars || rx_kind_of(x, node[1]) != RX_SET) return *of_chars;
    const byte_set *set = rx_set_of(x, intern_words(&x->nodes, node[1])[1]);
    bool any = true;
    for (u32 i = 0; i < 8; i++) any &= set->w[i] == UINT32_MAX;
    return any;
}

/* That of the strictest operand. It is exact if the others are numbers of bytes or characters, and the shortest string of that one has as
 * many: no more characters than bytes, no more bytes than it costs, and no fewer than any of its strings. */
static least_bound bound_of_and(rx_arena *x, rx_id id, bool quoted) {
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    least_bound all = {1, false}, other = {0, false};
    u32 n_others = 0, low = 0, high = NONE, place = 0;
    bool by_chars = false, of_chars;
    for (u32 i = 1, n = intern_length(&x->nodes, id); i < n; i++) {
        const u32 *part = intern_words(&x->nodes, node[i]);
        least_bound b = part_bound(x, node[i], quoted);
        all.length = max_u32(all.length, b.length);
        if (is_n_of_any(x, part, &of_chars)) {
            by_chars |= of_chars;
            low = max_u32(low, part[2]);
            high = min_u32(high, part[3]);
        } else {
            n_others++;
            other = b;
            place = i;
        }
    }
    if (n_others != 1 || !other.exact || other.length != all.length || other.length > high) return all;
    if (by_chars && !(x->meta.at[node[place]].flags & RX_TEXT)) return all;
    all.exact = low <= 1 || low <= rx_count_chars(x, node[place]).least;
    return all;
}

/* That of any operand. It is exact if that of the least one is. */
static least_bound bound_of_or(rx_arena *x, rx_id id, bool quoted) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id);
    least_bound any = {RX_NO_LENGTH, true};
    for (u32 i = 1; i < n; i++) {
        least_bound part = part_bound(x, node[i], quoted);
        if (part.length < any.length || (part.length == any.length && part.exact)) any = part;
    }
    budget_work(x->b, n / PARTS_PER_WORK);
    if (any.exact) keep_length(x, id, quoted, any.length);
    return any;
}

/* Of a union or an intersection. They share operands, so there may be 2^n ways down to them: from the MANY_BOUNDS-th visit on bounds are
 * kept, until that of the whole is told; by then some could be better. */
static least_bound bound_of_many(rx_arena *x, rx_id id, bool quoted) {
    bool many = ++x->n_bounds > MANY_BOUNDS;
    u32 known = many ? map_get(&x->bounds_of, length_key(id, quoted)) : NONE;
    if (known != NONE) return (least_bound){known >> 1 > RX_LONG ? RX_NO_LENGTH : known >> 1, known & 1};
    if (many && x->n_bounds % BOUNDS_PER_WORK == 0 && !budget_work(x->b, 1)) return (least_bound){1, false};
    least_bound b = rx_kind_of(x, id) == RX_AND ? bound_of_and(x, id, quoted) : bound_of_or(x, id, quoted);
    if (many) map_put(x->b, &x->bounds_of, length_key(id, quoted), min_u32(b.length, RX_LONG + 1) << 1 | b.exact);
    return b;
}

/* What the structure tells, and what is known by now. That of a union, which may be a large class of characters, is kept. */
static least_bound part_bound(rx_arena *x, rx_id id, bool quoted) {
    least_bound sum = {0, true};
    for (;;) {
        u32 known = rx_nullable(x, id) ? 0 : map_get(&x->least, length_key(id, quoted));
        const u32 *node = intern_words(&x->nodes, id);
        least_bound b = {1, false};
        if (known != NONE) return sum.length = rx_add_lengths(sum.length, known), sum;
        switch ((rx_kind)node[0]) {
        case RX_NEVER: return (least_bound){RX_NO_LENGTH, true};
        case RX_SET: b = (least_bound){least_weight(rx_set_of(x, node[1]), quoted), true}; break;
        case RX_CONCAT: b = part_bound(x, node[1], quoted); break;
        case RX_REPEAT:
            b = part_bound(x, node[1], quoted);
            b.length = rx_times_length(node[2], b.length);
            break;
        case RX_TAG: b = part_bound(x, node[1], quoted); break;
        case RX_REST:
            if (quoted) break;
            b = part_bound(x, node[1], false);
            if (b.length < RX_LONG) b.length = b.length > node[2] ? b.length - node[2] : 1;
            break;
        case RX_OR: case RX_FORK: case RX_AND: b = bound_of_many(x, id, quoted); break;
        case RX_NAME: b.length = rx_name_least(x, id); break;
        case RX_MULTIPLE: b.length = rx_multiple_least(node, &b.exact); break;
        case RX_SYNTAX: b.length = rx_syntax_least(x, node, &b.exact); break;
        case RX_QUOTE:
            if (quoted) break; /* spellings of spellings: at least a byte */
            b = part_bound(x, node[1], true);
            if (node[3] == 0) break;
            b = (least_bound){b.length == RX_NO_LENGTH ? RX_NO_LENGTH : rx_quote_least(node, b.length), false};
            break;
        default: break;
        }
        sum = (least_bound){rx_add_lengths(sum.length, b.length), sum.exact && b.exact};
        if (node[0] != RX_CONCAT) return sum;
        id = node[2];
    }
}

static least_bound bound_of(rx_arena *x, rx_id id, bool quoted) {
    x->n_bounds = 0;
    least_bound b = part_bound(x, id, quoted);
    if (x->n_bounds > MANY_BOUNDS) map_drop(x->b, &x->bounds_of);
    return b;
}

/* --- the search ---------------------------------------------------------------------------------------------------------- */

typedef struct least_node {
    rx_id id;
    u32 parent, length, next; /* index; of the way to it; what else is in its bucket */
    least_bound rest;         /* of the way on */
} least_node;

typedef struct least_search {
    VEC(least_node) nodes;
    VEC(u32) bucket; /* by expected length beyond the first: a node */
    word_map best;   /* node -> length of the shortest way to it so far */
    u32 first, lowest; /* length of bucket 0; no bucket before this one has a node */
} least_search;

enum { MOST_BUCKETS = 1 << 22 };

static bool reach_least(rx_arena *x, least_search *s, rx_id id, u32 parent, u32 length, bool quoted) {
    u32 before = map_get(&s->best, id);
    if (before != NONE && before <= length) return true;
    least_bound rest = bound_of(x, id, quoted);
    u32 expected = rx_add_lengths(length, rest.length);
    if (expected == RX_NO_LENGTH) return true;
    u32 to = expected > s->first ? expected - s->first : 0;
    if (to >= MOST_BUCKETS) return budget_limit(x->b, LIMIT(max_step_work));
    while (s->bucket.n <= to)
        if (!vec_push(x->b, &s->bucket, NONE)) return false;
    if (!map_put(x->b, &s->best, id, length) || !vec_push(x->b, &s->nodes, ((least_node){id, parent, length, s->bucket.at[to], rest})))
        return false;
    s->bucket.at[to] = s->nodes.n - 1;
    s->lowest = min_u32(s->lowest, to); /* a bound may be lower than that of the node before */
    return true;
}

/* Classes that the expression does not tell apart are tried once, at the least of their weights. */
static bool expand_least(rx_arena *x, least_search *s, u32 index, const u8 *weights, bool quoted) {
    least_node at = s->nodes.at[index];
    u8 same[256], next[256];
    u32 local = rx_local(x, at.id);
    if (local == NONE) return false;
    rx_local_classes(x, local, same, next);
    for (u32 c = 0; c < x->n_classes; c++) {
        if (same[c] != c || (x->has_syntax && rx_syntax_is_outdone(x, at.id, x->class_byte[c]))) continue;
        u32 least = weights[c];
        for (u32 other = next[c]; other != c; other = next[other]) least = min_u32(least, weights[other]);
        rx_id id = rx_derive(x, at.id, x->class_byte[c]);
        if (id == NONE || !budget_work(x->b, 1)) return false;
        if (id == RX_ID_NEVER || x->meta.at[id].verdict == RX_IS_EMPTY) continue;
        if (!reach_least(x, s, id, index, at.length + least, quoted)) return false;
    }
    return true;
}

static u32 search_least(rx_arena *x, rx_id start, bool quoted) {
    least_search s = {.first = bound_of(x, start, quoted).length};
    u8 weights[256];
    u32 total = RX_NO_LENGTH;
    rx_refresh_classes(x);
    if (rx_is_empty(x, start) || x->b->status != GE_OK) return RX_NO_LENGTH;
    memset(weights, 0xff, sizeof weights);
    for (u32 byte = 0; byte < 256; byte++) {
        u8 *of_class = &weights[x->class_of[byte]];
        *of_class = (u8)min_u32(*of_class, weight(byte, quoted));
    }
    bool ok = reach_least(x, &s, start, NONE, 0, quoted);
    while (ok) {
        while (s.lowest < s.bucket.n && s.bucket.at[s.lowest] == NONE) s.lowest++;
        if (s.lowest == s.bucket.n) break;
        u32 index = s.bucket.at[s.lowest];
        least_node at = s.nodes.at[index];
        s.bucket.at[s.lowest] = at.next;
        if (map_get(&s.best, at.id) < at.length) continue; /* a shorter way to it was found since */
        if (at.rest.exact) {
            total = rx_add_lengths(at.length, at.rest.length);
            for (u32 i = index; ok && i != NONE; i = s.nodes.at[i].parent)
                ok = map_put(x->b, &x->least, length_key(s.nodes.at[i].id, quoted), total - s.nodes.at[i].length);
            break;
        }
        ok = expand_least(x, &s, index, weights, quoted);
    }
    vec_drop(x->b, &s.nodes);
    vec_drop(x->b, &s.bucket);
    map_drop(x->b, &s.best);
    return total;
}

/* --- exact lengths -------------------------------------------------------------------------------------------------------- */

static u32 exact_least(rx_arena *x, rx_id id, bool quoted);

/* From the end, so that each tail is known. */
static u32 least_of_sequence(rx_arena *x, rx_id id, bool quoted) {
    id_vec spine = {0};
    bool ok = true;
    while (ok && rx_kind_of(x, id) == RX_CONCAT && map_get(&x->least, length_key(id, quoted)) == NONE) {
        ok = vec_push(x->b, &spine, id);
        id = intern_words(&x->nodes, id)[2];
    }
    u32 sum = ok ? exact_least(x, id, quoted) : RX_NO_LENGTH;
    while (ok && spine.n) {
        rx_id whole = spine.at[--spine.n];
        sum = rx_add_lengths(exact_least(x, intern_words(&x->nodes, whole)[1], quoted), sum);
        ok = x->b->status == GE_OK && map_put(x->b, &x->least, length_key(whole, quoted), sum);
    }
    vec_drop(x->b, &spine);
    return sum;
}

static u32 exact_least(rx_arena *x, rx_id id, bool quoted) {
    u32 node[5], n = intern_length(&x->nodes, id), least = map_get(&x->least, length_key(id, quoted));
    if (least != NONE) return least;
    rx_copy_node(x, id, node);
    if (node[0] == RX_CONCAT && !rx_nullable(x, id)) return least_of_sequence(x, id, quoted);
    if (node[0] == RX_FORK) { /* kept at each, so that a tree that shares most with another one costs what is new */
        u32 left = exact_least(x, node[1], quoted);
        least = min_u32(left, exact_least(x, node[2], quoted));
        if (x->b->status == GE_OK) keep_length(x, id, quoted, least);
        return least;
    }
    if (node[0] == RX_REST && !quoted) {
        least = exact_least(x, node[1], false);
        return least < RX_LONG ? least - node[2] : least;
    }
    least_bound b = bound_of(x, id, quoted);
    if (b.exact) return b.length;
    switch ((rx_kind)node[0]) {
    case RX_TAG: return exact_least(x, node[1], quoted);
    case RX_OR:
        least = RX_NO_LENGTH;
        for (u32 i = 1; i < n; i++) {
            rx_id part = intern_words(&x->nodes, id)[i];
            if (bound_of(x, part, quoted).length < least) least = min_u32(least, exact_least(x, part, quoted));
        }
        break;
    case RX_REPEAT: least = rx_times_length(node[2], exact_least(x, node[1], quoted)); break;
    case RX_QUOTE:
        if (quoted) return search_least(x, id, quoted);
        least = node[3] == 0 ? exact_least(x, node[1], true) : rx_quote_rest(x, node);
        break;
    default: return search_least(x, id, quoted);
    }
    if (x->b->status == GE_OK) keep_length(x, id, quoted, least);
    return least;
}

u32 rx_least(rx_arena *x, rx_id id) { return id == NONE ? RX_NO_LENGTH : exact_least(x, id, false); }

u32 rx_least_bound(rx_arena *x, rx_id id) { return bound_of(x, id, false).length; }

u32 rx_least_quoted(rx_arena *x, rx_id id) { return exact_least(x, id, true); }

u32 rx_bound_quoted(rx_arena *x, rx_id id) { return bound_of(x, id, true).length; }

u32 rx_least_seen(rx_arena *x, rx_id id) {
    least_bound bound = bound_of(x, id, false);
    return bound.exact ? bound.length : RX_NO_LENGTH;
}

bool rx_least_text(rx_arena *x, rx_id id, byte_vec *out) {
    rx_refresh_classes(x);
    for (u32 left = rx_least(x, id); left; left--) {
        u32 byte = 0;
        rx_id next = RX_ID_NEVER;
        for (; byte < 256; byte++) {
            if (x->class_byte[x->class_of[byte]] != byte) continue; /* the first of its class */
            next = rx_derive(x, id, byte);
            if (next == NONE) return false;
            if (next != RX_ID_NEVER && bound_of(x, next, false).length < left && rx_least(x, next) == left - 1) break;
            if (x->b->status != GE_OK) return false;
        }
        if (byte == 256 || !vec_push(x->b, out, (u8)byte)) return false;
        id = next;
    }
    return x->b->status == GE_OK;
}
