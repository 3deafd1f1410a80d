/* Unions in which one part is a loop that contains others, which add nothing and are left out.
 *
 *     p{a,} t | h p{a,} t  =  p{a,} t      if each string of h is some strings of p, one after the other
 *     p{0,} t | h t        =  p{0,} t
 *
 * Of `[a-z.]+\.[a-z]{2,6}[\w/.-]*` as much is left behind `a.bc` as of the loop alone, whatever else might still be read as a host: one
 * state, and one mask, where each text had its own. The question is answered by structure, at a few nodes, and errs towards keeping a
 * part. */
#include "rx.h"

enum {
    LOOPS = 2,        /* of a union, that are looked at */
    LOOP_STEPS = 8,   /* parts of a sequence in front of a loop */
    LOOP_NESTED = 4,  /* in one of these parts; and bytes of a character */
    LOOP_PAIRS = 16384 /* sets that are compared for one answer */
};

/* An operand of a union as a set of bytes, and what follows. */
typedef struct loop_arm {
    const byte_set *first; /* NULL: it begins otherwise */
    rx_id tail;
} loop_arm;

static loop_arm loop_arm_of(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    rx_id head = node[0] == RX_CONCAT ? node[1] : id, tail = node[0] == RX_CONCAT ? node[2] : RX_ID_EMPTY;
    return (loop_arm){rx_kind_of(x, head) == RX_SET ? rx_set_of(x, intern_words(&x->nodes, head)[1]) : NULL, tail};
}

/* Takes the bytes of `taken` out; true if none is left. */
static bool take_bytes(byte_set *from, const byte_set *taken) {
    u32 left = 0;
    for (u32 i = 0; i < 8; i++) left |= from->w[i] &= ~taken->w[i];
    return left == 0;
}

/* True => each string of `id`, but "" at the top, is one of `other`, where both
 * are characters: tries of sets of bytes. *left: pairs that may still be compared. */
static bool are_among(const rx_arena *x, rx_id id, rx_id other, u32 nested, u32 *left) {
    u32 n, n_other;
    const rx_id *at = rx_choices(x, &id, &n), *at_other = rx_choices(x, &other, &n_other);
    if (id == other) return true;
    if (nested == LOOP_NESTED) return false;
    for (u32 i = 0; i < n; i++) {
        loop_arm arm = loop_arm_of(x, at[i]);
        if (at[i] == RX_ID_EMPTY && (nested == 0 || rx_nullable(x, other))) continue;
        if (!arm.first) return false;
        byte_set rest = *arm.first;
        bool done = false;
        for (u32 k = 0; k < n_other && !done && *left; k++, --*left) {
            loop_arm among = loop_arm_of(x, at_other[k]);
            if (!among.first || !set_meets(&rest, among.first)) continue;
            if (are_among(x, arm.tail, among.tail, nested + 1, left)) done = take_bytes(&rest, among.first);
            if (!*left) return false;
        }
        if (!done) return false;
    }
    return true;
}

/* The same, kept: the characters of a language are some hundred sets. */
static bool are_known_among(rx_arena *x, rx_id id, rx_id other) {
    u64 key = (u64)id << 32 | other;
    u32 known = map_get(&x->among, key);
    if (known != NONE) return known;
    u32 left = LOOP_PAIRS;
    bool answer = are_among(x, id, other, 0, &left);
    if (!budget_work(x->b, 1 + (LOOP_PAIRS - left) / 64)) return false;
    return map_put(x->b, &x->among, key, answer) && answer;
}

/* True => each string of `id` is some strings of `part`, one after the other. */
static bool is_repeated(rx_arena *x, rx_id id, rx_id part, u32 nested) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 left = LOOP_PAIRS;
    if (id == part || id == RX_ID_EMPTY) return true;
    if (nested == LOOP_NESTED) return false;
    switch ((rx_kind)node[0]) {
    case RX_SET: return are_among(x, id, part, 0, &left);
    case RX_OR: return are_known_among(x, id, part);
    case RX_REPEAT: return is_repeated(x, node[1], part, nested + 1);
    default: return false;
    }
}

typedef struct loop_parts {
    rx_id id, part, tail; /* tail NONE: something of the part must come before it */
} loop_parts;

static bool is_loop(const rx_arena *x, rx_id id, loop_parts *out) {
    const u32 *node = intern_words(&x->nodes, id), *head = node;
    rx_id tail = RX_ID_EMPTY;
    if (node[0] == RX_CONCAT) {
        head = intern_words(&x->nodes, node[1]);
        tail = node[2];
    }
    if (head[0] != RX_REPEAT || head[3] != NONE) return false;
    *out = (loop_parts){id, head[1], head[2] ? NONE : tail};
    return true;
}

/* It is asked first whether there is a way to the loop, or past it, which most parts have not. */
static bool loop_contains(rx_arena *x, const loop_parts *l, rx_id id) {
    rx_id before[LOOP_STEPS + 1];
    u32 n = 0;
    for (bool last = false; !last; n++) {
        if (n > LOOP_STEPS) return false;
        if (id == l->id || id == l->tail) break;
        const u32 *node = intern_words(&x->nodes, id);
        last = node[0] != RX_CONCAT;
        if (last && l->tail != RX_ID_EMPTY) return false;
        before[n] = last ? id : node[1];
        id = last ? id : node[2];
    }
    for (u32 i = 0; i < n; i++)
        if (!is_repeated(x, before[i], l->part, 0)) return false;
    return true;
}

void rx_drop_contained(rx_arena *x, id_vec *parts) {
    loop_parts of;
    for (u32 i = 0, loops = 0; i < parts->n && loops < LOOPS; i++) {
        if (!is_loop(x, parts->at[i], &of)) continue;
        u32 kept = 0, at = i;
        for (u32 k = 0; k < parts->n; k++) {
            if (k == at) i = kept;
            if (k == at || !loop_contains(x, &of, parts->at[k])) parts->at[kept++] = parts->at[k];
        }
        parts->n = kept;
        loops++;
    }
}
