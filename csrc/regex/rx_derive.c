/* Derivatives, byte classes, and exact emptiness. */
#include "names/rx_unbound.h"
#include "rx_frontier.h"

enum {
    DERIVATIVE_WORK = 2, /* it takes longer than an item of a row */
    MET_HEADS = 32       /* of a sequence, that are known again */
};

static rx_id derive_parts(rx_arena *x, rx_id id, u32 byte, bool is_and);

/* The heads that a sequence was seen to have, as far as they are few. */
typedef struct met_heads {
    rx_id at[MET_HEADS];
    u32 n;
} met_heads;

static bool meet_head(met_heads *met, rx_id head) {
    for (u32 i = 0; i < met->n; i++)
        if (met->at[i] == head) return true;
    if (met->n < MET_HEADS) met->at[met->n++] = head;
    return false;
}

/* Is what is left of a head that may be empty, after some byte, a part of it? Told of p{0,n}, of which less is left. */
static bool is_part_of_head(const rx_arena *x, rx_id left, rx_id head) {
    const u32 *l = intern_words(&x->nodes, left), *h = intern_words(&x->nodes, head);
    if (left == RX_ID_EMPTY || left == head) return true;
    if (h[0] != RX_REPEAT) return false;
    if (l[0] == RX_REPEAT) return l[1] == h[1] && l[3] <= h[3];
    return l[0] == RX_OR && intern_length(&x->nodes, left) == 3 && l[1] == RX_ID_EMPTY && l[2] == h[1];
}

/* d(h t, c) = d(h, c) t  |  d(t, c) if h is nullable: along the spine, so that a?b?c?... takes a loop and no recursion. Where a head comes
 * again, all between may be empty, and what is behind it is a part of what is behind the first: of a?b?a?b?... there are two arms. And
 * where nothing need be left of a head, all that may be behind it may come at once, and what is left of a later head if that is a part. */
static rx_id derive_concat(rx_arena *x, rx_id id, u32 byte) {
    id_vec arms = {0};
    met_heads met = {.n = 0};
    rx_id only = RX_ID_NEVER, result = NONE; /* mostly there is one arm, and no list of them */
    bool last = false, is_open = false; /* some arm may go on with its tail */
    while (!last) {
        bool is_sequence = rx_kind_of(x, id) == RX_CONCAT;
        rx_id head = is_sequence ? intern_words(&x->nodes, id)[1] : id, tail = is_sequence ? intern_words(&x->nodes, id)[2] : RX_ID_EMPTY;
        last = !is_sequence || !rx_nullable(x, head);
        id = tail;
        if (meet_head(&met, head)) continue;
        rx_id left = rx_derive(x, head, byte), derived;
        if (left == NONE) goto done;
        if (left == RX_ID_NEVER || (is_open && !last && is_part_of_head(x, left, head))) continue;
        is_open |= rx_nullable(x, left);
        derived = rx_concat(x, left, tail);
        if (derived == NONE) goto done;
        if (only == RX_ID_NEVER) only = derived;
        else if ((arms.n == 0 && !vec_push(x->b, &arms, only)) || !vec_push(x->b, &arms, derived)) goto done;
    }
    result = arms.n == 0 ? only : rx_or(x, arms.at, arms.n);
done:
    vec_drop(x->b, &arms);
    return result;
}

static rx_id derive_parts(rx_arena *x, rx_id id, u32 byte, bool is_and) {
    u32 n = intern_length(&x->nodes, id) - 1;
    rx_id few[8], result = NONE; /* mostly enough: then nothing is allocated */
    id_vec parts = {.at = few, .cap = sizeof few / sizeof *few};
    if (n > parts.cap) {
        parts = (id_vec){0};
        if (!vec_reserve(x->b, &parts, n)) return NONE;
    }
    for (u32 i = 0; i < n; i++) {
        rx_id part = rx_derive(x, intern_words(&x->nodes, id)[1 + i], byte);
        if (part == NONE) goto done;
        if (is_and && part == RX_ID_NEVER) {
            result = RX_ID_NEVER;
            goto done;
        }
        if (is_and || part != RX_ID_NEVER) parts.at[parts.n++] = part;
    }
    if (is_and) result = rx_and(x, parts.at, parts.n);
    else result = parts.n == 0 ? RX_ID_NEVER : parts.n == 1 ? parts.at[0] : rx_or(x, parts.at, parts.n);
done:
    if (parts.at != few) vec_drop(x->b, &parts);
    return result;
}

/* Where first bytes are known, they tell of most that there is nothing. */
static bool cannot_begin(const rx_arena *x, rx_id id, u32 byte) {
    u32 begins = id < x->first.n ? x->first.at[id] : NONE;
    return begins != NONE && !set_has(rx_set_of(x, begins), byte);
}

/* The part of a tree of FORKs that alone can begin with the byte, as far as is known: its derivative is that of the tree. */
static rx_id only_part(const rx_arena *x, rx_id id, u32 byte) {
    for (const u32 *node; (node = intern_words(&x->nodes, id))[0] == RX_FORK;) {
        if (cannot_begin(x, node[1], byte)) id = node[2];
        else if (cannot_begin(x, node[2], byte)) id = node[1];
        else break;
    }
    return id;
}

rx_id rx_derive(rx_arena *x, rx_id id, u32 byte) {
    if (id == NONE) return NONE;
    u32 node[5];
    rx_copy_node(x, id, node);
    switch ((rx_kind)node[0]) {
    case RX_NEVER: case RX_EMPTY: return RX_ID_NEVER;
    case RX_ALL: return RX_ID_ALL;
    case RX_SET: return set_has(rx_set_of(x, node[1]), byte) ? RX_ID_EMPTY : RX_ID_NEVER;
    case RX_CONCAT: /* the step along a literal needs no table, nor does it where it is tagged */
        if (intern_words(&x->nodes, node[1])[0] == RX_SET)
            return set_has(rx_set_of(x, intern_words(&x->nodes, node[1])[1]), byte) ? node[2] : RX_ID_NEVER;
        break;
    case RX_TAG: {
        const u32 *part = intern_words(&x->nodes, node[1]);
        if (part[0] != RX_CONCAT || rx_kind_of(x, part[1]) != RX_SET) break;
        if (!budget_work(x->b, 1)) return NONE;
        x->derivatives++;
        return set_has(rx_set_of(x, intern_words(&x->nodes, part[1])[1]), byte) ? rx_tag(x, part[2], node[2]) : RX_ID_NEVER;
    }
    default: break;
    }
    if (cannot_begin(x, id, byte)) return RX_ID_NEVER;
    if (node[0] == RX_FORK) { /* nothing is kept of the way there: to go it costs less */
        rx_id part = only_part(x, id, byte);
        if (part != id) return rx_derive(x, part, byte);
    }
    u64 key = (u64)id << 8 | byte;
    rx_id result = map_get(&x->memo, key);
    if (result != NONE) return result;
    if (!budget_work(x->b, DERIVATIVE_WORK)) return NONE;
    x->derivatives++;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: result = derive_concat(x, id, byte); break;
    case RX_OR: result = derive_parts(x, id, byte, false); break;
    case RX_AND: result = derive_parts(x, id, byte, true); break;
    case RX_NOT: result = rx_not(x, rx_derive(x, node[1], byte)); break;
    case RX_REPEAT: { /* d(p{a,b}, c) = d(p, c) p{a-1,b-1}; for nullable p the minimum is 0 */
        rx_id first = rx_derive(x, node[1], byte);
        u32 low = node[2] ? node[2] - 1 : 0, high = node[3] == NONE ? NONE : node[3] - 1;
        result = first == RX_ID_NEVER || first == NONE ? first : rx_concat(x, first, rx_repeat(x, node[1], low, high));
        break;
    }
    case RX_QUOTE: result = rx_quote_step(x, node, byte); break;
    case RX_MULTIPLE: result = rx_multiple_step(x, intern_words(&x->nodes, id), byte); break;
    case RX_PUNYCODE: result = rx_punycode_step(x, intern_words(&x->nodes, id), byte); break;
    case RX_NAME: result = rx_name_step(x, id, byte); break;
    case RX_SYNTAX: result = rx_syntax_step(x, intern_words(&x->nodes, id), byte); break;
    case RX_FORK: case RX_REST: {
        u32 shared = rx_shared(x, id); /* a REST has one */
        if (shared != NONE) {
            result = set_has(rx_set_of(x, shared), byte) ? rx_rest(x, id, 1) : RX_ID_NEVER;
            break;
        }
        rx_id left = rx_derive(x, node[1], byte);
        result = left == NONE ? NONE : rx_fork(x, left, rx_derive(x, node[2], byte));
        break;
    }
    case RX_TAG: result = rx_tag(x, rx_derive(x, node[1], byte), node[2]); break;
    default: break;
    }
    if (result == NONE || !map_put(x->b, &x->memo, key, result)) return NONE;
    return result;
}

/* --- byte classes ----------------------------------------------------------------------------------------------------- */

static const byte_set CONTROL = {{UINT32_MAX}}; /* control characters */

/* The classes as sets of bytes, while they are split. */
typedef struct byte_partition {
    byte_set part[256];
    u32 n;
    byte_set alone; /* bytes that are told from all others: each is a class, whatever part has it */
} byte_partition;

static void open_classes(const rx_arena *x, byte_partition *p) {
    p->n = x->n_classes;
    p->alone = (byte_set){{0}};
    memset(p->part, 0, p->n * sizeof *p->part);
    for (u32 byte = 0; byte < 256; byte++) set_add(&p->part[x->class_of[byte]], byte);
}

/* The byte of a set of one, or NONE. */
static u32 only_byte(const byte_set *set) {
    u32 found = NONE;
    for (u32 w = 0; w < 8; w++) {
        if (!set->w[w]) continue;
        if (found != NONE || set->w[w] & (set->w[w] - 1)) return NONE;
        found = 32 * w + (u32)__builtin_ctz(set->w[w]);
    }
    return found;
}

/* Splits every part by membership in `set`. Most sets are of one byte. */
static void split_parts(byte_partition *p, const byte_set *set) {
    u32 only = only_byte(set);
    if (only != NONE) {
        set_add(&p->alone, only);
        return;
    }
    for (u32 i = 0, n = p->n; i < n; i++) {
        byte_set inside, outside;
        u32 in = 0, out = 0;
        for (u32 w = 0; w < 8; w++) {
            in |= inside.w[w] = p->part[i].w[w] & set->w[w];
            out |= outside.w[w] = p->part[i].w[w] & ~set->w[w];
        }
        if (!in || !out) continue;
        p->part[i] = outside;
        p->part[p->n++] = inside;
    }
}

/* Classes are numbered by their first bytes, so equal partitions are numbered alike. */
static void close_classes(rx_arena *x, const byte_partition *p) {
    u8 part_of[256];
    u16 number[256];
    for (u32 i = 0; i < p->n; i++) {
        number[i] = UINT16_MAX;
        for (u32 w = 0; w < 8; w++)
            for (u32 left = p->part[i].w[w]; left; left &= left - 1) part_of[32 * w + (u32)__builtin_ctz(left)] = (u8)i;
    }
    x->n_classes = 0;
    for (u32 byte = 0; byte < 256; byte++) {
        u16 own = UINT16_MAX, *class = set_has(&p->alone, byte) ? &own : &number[part_of[byte]];
        if (*class == UINT16_MAX) {
            x->class_byte[x->n_classes] = (u8)byte;
            *class = (u16)x->n_classes++;
        }
        x->class_of[byte] = (u8)*class;
    }
}

/* Tells each of some bytes from all others. */
static void split_each(rx_arena *x, const char *bytes) {
    byte_set set = {{0}};
    u16 others[256], n = 0; /* new class of the other bytes, by old class */
    for (; *bytes; bytes++) set_add(&set, (u8)*bytes);
    memset(others, 0xff, sizeof others);
    for (u32 byte = 0; byte < 256; byte++) {
        u16 own = UINT16_MAX, *slot = set_has(&set, byte) ? &own : others + x->class_of[byte];
        if (*slot == UINT16_MAX) {
            x->class_byte[n] = (u8)byte;
            *slot = n++;
        }
        x->class_of[byte] = (u8)*slot;
    }
    x->n_classes = n;
}

/* Tells the bytes apart that quotes and multiples look at. */
static void split_special(rx_arena *x) {
    if (x->has_quote && !x->split_quote) {
        x->split_quote = true;
        split_each(x, "\"\\/bfnrtu0123456789abcdefABCDEF");
    }
    if (x->has_multiple && !x->split_multiple) {
        x->split_multiple = true;
        split_each(x, "0123456789.");
    }
    if (x->has_punycode && !x->split_punycode) {
        x->split_punycode = true;
        split_each(x, "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    }
    if (x->has_syntax && !x->split_syntax) {
        x->split_syntax = true;
        for (u32 byte = 0; byte < 256; byte++) x->class_of[byte] = x->class_byte[byte] = (u8)byte;
        x->n_classes = 256;
    }
}

void rx_refresh_classes(rx_arena *x) {
    u32 n = intern_count(&x->sets);
    if (x->frozen) return;
    if (x->class_sets < n || x->has_quote != x->split_quote) {
        byte_partition p;
        open_classes(x, &p);
        for (; x->class_sets < n; x->class_sets++) split_parts(&p, rx_set_of(x, x->class_sets));
        if (x->has_quote) split_parts(&p, &CONTROL);
        close_classes(x, &p);
    }
    split_special(x);
}

/* Sound for good: constructors make new sets only as unions and intersections of those that are there. */
bool rx_freeze_classes(rx_arena *x, const rx_id *roots, u32 n) {
    id_vec todo = {0};
    u8 *seen = mem_resize(x->b, NULL, 0, intern_count(&x->nodes));
    bool ok = seen != NULL;
    byte_partition p;
    memset(x->class_of, 0, sizeof x->class_of);
    x->n_classes = 1;
    open_classes(x, &p);
    x->has_name = x->has_mixed_name = x->has_quote = x->has_multiple = x->has_punycode = x->has_syntax = false;
    x->split_quote = x->split_multiple = x->split_punycode = x->split_syntax = false;
    if (ok) memset(seen, 0, intern_count(&x->nodes));
    for (u32 i = 0; ok && i < n; i++) ok = vec_push(x->b, &todo, roots[i]);
    while (ok && todo.n) {
        for (rx_id id = todo.at[--todo.n], next; ok && !seen[id]; id = next) {
            seen[id] = 1;
            next = id; /* which ends this, but for what is concatenated: on along its spine */
            const u32 *node = intern_words(&x->nodes, id);
            u32 first = 1, last = 1; /* operands that are nodes: [first, last) */
            rx_note_mixed(x, node[0], x->meta.at[id].flags);
            switch ((rx_kind)node[0]) {
            case RX_SET: split_parts(&p, rx_set_of(x, node[1])); break;
            case RX_CONCAT: last = 2, next = node[2]; break;
            case RX_OR: case RX_AND: case RX_FORK: last = intern_length(&x->nodes, id); break;
            case RX_NOT: case RX_REPEAT: case RX_TAG: case RX_REST: last = 2; break;
            case RX_QUOTE: last = 2, x->has_quote = true; break;
            case RX_MULTIPLE: x->has_multiple = true; break;
            case RX_PUNYCODE: x->has_punycode = true; break;
            case RX_NAME: x->has_name = x->has_punycode = true; break;
            case RX_SYNTAX: x->has_syntax = true; break;
            default: break;
            }
            for (; ok && first < last; first++)
                if (!seen[node[first]]) ok = vec_push(x->b, &todo, node[first]);
        }
    }
    if (x->has_quote) split_parts(&p, &CONTROL);
    for (u32 i = 0; x->has_name && i < RX_NAME_SETS; i++) {
        byte_set set = rx_name_bytes(i);
        split_parts(&p, &set);
    }
    close_classes(x, &p);
    split_special(x);
    x->frozen = true;
    vec_drop(x->b, &todo);
    if (seen) mem_resize(x->b, seen, intern_count(&x->nodes), 0);
    return ok;
}

/* --- emptiness -------------------------------------------------------------------------------------------------------- */

/* As rx_is_contradiction, and what else is known at once of an intersection: also that it is inhabited, which is kept. */
static bool is_contradiction(rx_arena *x, rx_id id, bool *answer) {
    bool is_and = rx_kind_of(x, id) == RX_AND;
    rx_verdict verdict = is_and ? rx_length_verdict(x, id) : RX_UNKNOWN;
    if (verdict == RX_UNKNOWN && x->has_punycode && is_and) verdict = rx_punycode_verdict(x, id);
    if (verdict == RX_UNKNOWN && x->has_multiple && is_and) verdict = rx_multiple_verdict(x, id);
    if (verdict == RX_UNKNOWN && x->has_syntax && is_and) verdict = rx_syntax_verdict(x, id);
    if (verdict == RX_UNKNOWN && x->meta.at[id].flags & RX_BARRED) verdict = rx_barred_verdict(x, id);
    if (verdict == RX_UNKNOWN && x->has_name && (is_and || x->meta.at[id].flags & RX_NAMED)) verdict = rx_name_verdict(x, id);
    if (x->b->status != GE_OK) return false;
    if (verdict == RX_UNKNOWN) {
        if (!rx_is_contradiction(x, id, answer)) return false;
        *answer |= is_and && rx_is_too_long(x, id);
        return true;
    }
    *answer = verdict == RX_IS_EMPTY;
    if (!*answer) x->meta.at[id].verdict = RX_IS_INHABITED;
    return true;
}

/* Is it a spelling and what comes behind? Then its values tell, and of the states of an escape, 10^5 for each character, none is
 * visited. */
static bool is_spelling(const rx_arena *x, rx_id id) {
    return rx_kind_of(x, id) == RX_CONCAT && rx_kind_of(x, intern_words(&x->nodes, id)[1]) == RX_QUOTE;
}

u32 rx_near_byte(const rx_arena *x, rx_id id) {
    for (;;) {
        const u32 *node = intern_words(&x->nodes, id);
        rx_id next = node[1];
        switch ((rx_kind)node[0]) {
        case RX_CONCAT: next = node[1 + (x->meta.at[node[1]].flags & RX_NULLABLE ? 1 : 0)]; break;
        case RX_AND: case RX_OR: case RX_FORK:
            for (u32 i = 2; i < intern_length(&x->nodes, id); i++) {
                u32 least = x->meta.at[next].distance, other = x->meta.at[node[i]].distance;
                if (node[0] == RX_AND ? other > least : other < least) next = node[i];
            }
            break;
        case RX_QUOTE:
            if (node[3]) return 0; /* in an escape */
            break;
        case RX_REPEAT: case RX_TAG: case RX_REST: break;
        case RX_SET:
            for (u32 k = 0; k < 8; k++)
                if (rx_set_of(x, node[1])->w[k]) return 32 * k + (u32)__builtin_ctz(rx_set_of(x, node[1])->w[k]);
            return 0;
        default: return 0;
        }
        id = next;
    }
}

/* The class of bytes that is tried first. (Names have ways of their own, and hardly any byte brings them nearer.) */
static u32 first_class(const rx_arena *x, rx_id id) {
    if (x->has_name && !x->has_syntax) return 0;
    return x->class_of[x->has_syntax ? rx_syntax_way_out(x, id) : rx_near_byte(x, id)];
}

enum { MANY_REACHED = 64 }; /* then a superset is asked */

/* Is it empty even without A-labels and bounds, which are what makes many derivatives? */
static bool is_empty_widened(rx_arena *x, rx_id id) {
    rx_id wide = rx_clamp(x, rx_widen(x, id), 0);
    return wide != id && rx_is_empty(x, wide);
}

/* Searches the derivatives for one that contains "". Found: it and all on the way to it are inhabited. Exhausted, or a superset of the
 * start is empty: so are all that were visited. Verdicts are kept, so the total over all calls is one visit per node. */
static bool search(rx_arena *x, rx_id start) {
    frontier f;
    u32 at, found = NONE;
    bool ok = frontier_open(x, &f, start), asked = false;
    while (ok && found == NONE && (at = frontier_next(&f)) != NONE) {
        rx_id from = f.nodes.at[at].id;
        u8 same[256];
        if (!asked && f.nodes.n >= MANY_REACHED) {
            asked = true;
            if (is_empty_widened(x, start)) break;
        }
        ok = x->b->status == GE_OK && rx_told_apart(x, from, same);
        bool is_near = false;
        for (u32 i = f.nodes.at[at].tried, first = first_class(x, from); ok && found == NONE && !is_near && i < x->n_classes; i++) {
            u32 c = (first + i) % x->n_classes, byte = x->class_byte[c];
            if (same[c] != c || (x->has_syntax && rx_syntax_is_outdone(x, from, byte))) continue;
            rx_id id = rx_derive(x, from, byte);
            ok = id != NONE && budget_work(x->b, 1);
            if (!ok || id == RX_ID_NEVER || x->meta.at[id].verdict == RX_IS_EMPTY || frontier_has(&f, id)) continue;
            bool hopeless;
            ok = is_contradiction(x, id, &hopeless);
            if (ok && hopeless) x->meta.at[id].verdict = RX_IS_EMPTY;
            if (ok && !hopeless && is_spelling(x, id)) hopeless = rx_is_empty(x, id), ok = x->b->status == GE_OK;
            if (!ok || hopeless) continue;
            ok = frontier_reach(x, &f, id, at, byte, x->has_name ? 0 : i + 1, &is_near);
            if (ok && (x->meta.at[id].flags & RX_INHABITED || x->meta.at[id].verdict == RX_IS_INHABITED)) found = f.nodes.n - 1;
        }
    }
    for (u32 i = 0; ok && found == NONE && i < f.nodes.n; i++) x->meta.at[f.nodes.at[i].id].verdict = RX_IS_EMPTY;
    for (u32 i = found; ok && i != NONE; i = f.nodes.at[i].parent) x->meta.at[f.nodes.at[i].id].verdict = RX_IS_INHABITED;
    frontier_drop(x, &f);
    return ok && found == NONE;
}

/* Does it begin with a name beside a condition? Such may have more states than can be gone through, so of a union others are asked
 * first. */
static bool is_name_beside(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    while (node[0] == RX_CONCAT || node[0] == RX_QUOTE || node[0] == RX_TAG) node = intern_words(&x->nodes, id = node[1]);
    return x->has_name && rx_name_part(x, id) != NONE;
}

/* By structure where the structure tells; only intersections and complements need the search. Recursion goes as deep as
 * nodes nest, which is bounded (rx.h). */
bool rx_is_empty(rx_arena *x, rx_id id) {
    if (id == NONE) return false;
    if (id == RX_ID_NEVER) return true;
    if (x->meta.at[id].flags & RX_INHABITED) return false;
    if (x->meta.at[id].verdict != RX_UNKNOWN) return x->meta.at[id].verdict == RX_IS_EMPTY;
    u32 node[5], n = intern_length(&x->nodes, id);
    rx_copy_node(x, id, node);
    bool empty;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: { /* if any part is */
        rx_id tail = id;
        for (empty = false; !empty && rx_kind_of(x, tail) == RX_CONCAT; tail = intern_words(&x->nodes, tail)[2])
            empty = rx_is_empty(x, intern_words(&x->nodes, tail)[1]);
        empty = empty || rx_is_empty(x, tail);
        break;
    }
    case RX_OR: case RX_FORK:
        empty = true;
        for (u32 is_name = 0; empty && is_name <= x->has_name; is_name++)
            for (u32 i = 1; empty && i < n; i++) {
                rx_id part = intern_words(&x->nodes, id)[i];
                if (is_name == is_name_beside(x, part)) empty = rx_is_empty(x, part);
            }
        break;
    case RX_TAG: case RX_REST: empty = rx_is_empty(x, node[1]); break;
    case RX_REPEAT: empty = rx_is_empty(x, node[1]); break; /* its minimum is at least 1, else it were inhabited */
    case RX_QUOTE: empty = rx_quote_is_empty(x, node); break;
    default:
        if (!is_contradiction(x, id, &empty)) return false;
        if (!empty && x->meta.at[id].verdict == RX_UNKNOWN) return search(x, id);
    }
    if (x->b->status == GE_OK) x->meta.at[id].verdict = empty ? RX_IS_EMPTY : RX_IS_INHABITED;
    return empty;
}
