/* Local classes: bytes by which the derivatives of one expression are the same node.
 *
 * The byte classes of an arena are as fine as the whole grammar needs; the body of a JSON string tells a dozen of a hundred apart. An
 * expression is derived by looking its bytes up in a few sets, those at its front. Bytes that lie in the same of them have the same
 * derivative: it is taken once. The sets are collected by structure, each node once:
 *
 *     SET: it    h t: those of h, and of t if h is nullable    OR, AND, FORK, NOT, REPEAT, TAG: of the operands
 *     MULTIPLE: digits that stand on the same side of those of its bounds and leave the same remainder, the point
 *     REST: the set that all its parts begin with
 *     PUNYCODE, NAME: all classes are told apart
 *     SYNTAX: the characters with a meaning at the place in a term, and bytes outside of ASCII by what they may be in UTF-8; within names
 *         all bytes
 *     QUOTE(L): those of L, control characters, quote, backslash; inside an escape, each byte that may follow by itself
 *
 * Many expressions have the sets of one operand. Then they have its id, and nothing is
 * collected. Once the classes of the arena are fixed, what sets tell apart is kept, too. */
#include "rx.h"

enum { MAX_SETS = 64 }; /* more: all classes are told apart */
#define ONE_BYTE (NONE - 256) /* from here on: not the id of a set, but the set of one byte */

static bool add_set(rx_arena *x, id_vec *sets, const byte_set *set) {
    u32 id = intern(x->b, &x->sets, set->w, 8, NULL);
    return id != NONE && vec_push(x->b, sets, id);
}

/* Bytes that are classes by themselves. */
static bool add_bytes_apart(rx_arena *x, id_vec *sets, const char *bytes) {
    for (; *bytes; bytes++)
        if (!vec_push(x->b, sets, ONE_BYTE + (u8)*bytes)) return false;
    return true;
}

static bool add_control(rx_arena *x, id_vec *sets) {
    byte_set control = {{UINT32_MAX}};
    return add_set(x, sets, &control);
}

/* The digits by what they do to a multiple, and the point. */
static bool add_digits_apart(rx_arena *x, id_vec *sets, const u32 *node) {
    u32 sort[10];
    for (u32 i = 0; i < 10; i++) sort[i] = rx_multiple_sort(x, node, '0' + i);
    for (u32 i = 0; i < 10; i++) {
        byte_set alike = {{0}};
        u32 first = 0;
        while (sort[first] != sort[i]) first++;
        for (u32 k = i; k < 10; k++)
            if (sort[k] == sort[i]) set_add(&alike, '0' + k);
        if (first == i && !add_set(x, sets, &alike)) return false;
    }
    return add_bytes_apart(x, sets, ".");
}

/* Bytes outside of ASCII by what they may be in UTF-8. */
static bool add_utf8_apart(rx_arena *x, id_vec *sets) {
    static const u8 first[] = {0x80, 0x90, 0xa0, 0xc0, 0xc2, 0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5};
    for (u32 i = 0, n = sizeof first; i < n; i++) {
        byte_set set = {{0}};
        set_add_range(&set, first[i], i + 1 < n ? first[i + 1] - 1u : 0xff);
        if (!add_set(x, sets, &set)) return false;
    }
    return true;
}

static bool add_syntax_apart(rx_arena *x, id_vec *sets, const u32 *node) {
    bool far;
    const char *apart = rx_syntax_apart(node, &far);
    return apart ? add_bytes_apart(x, sets, apart) && (!far || add_utf8_apart(x, sets)) : vec_push(x->b, sets, NONE);
}

/* The id of a set of sets: ascending, or [NONE] for "all classes apart". */
u32 rx_intern_local(rx_arena *x, id_vec *sets) {
    u32 n = 0;
    for (u32 i = 0; i < sets->n && n <= MAX_SETS; i++) { /* insertion: there are few, and most are sorted */
        u32 set = sets->at[i], k = n;
        while (k && sets->at[k - 1] > set) k--;
        if (k && sets->at[k - 1] == set) continue;
        for (u32 m = n++; m > k; m--) sets->at[m] = sets->at[m - 1];
        sets->at[k] = set;
    }
    if (n > MAX_SETS || (n && sets->at[n - 1] == NONE)) sets->at[0] = NONE, n = 1;
    return intern(x->b, &x->local, sets->at, n, NULL);
}

bool rx_add_local(rx_arena *x, rx_id id, id_vec *sets) {
    u32 local = rx_local(x, id);
    for (u32 i = 0; local != NONE && i < intern_length(&x->local, local); i++)
        if (!vec_push(x->b, sets, intern_words(&x->local, local)[i])) return false;
    return local != NONE;
}

/* The operand whose sets are those of a node, since no others come in. NONE: there is none, or on failure. */
static rx_id one_operand(rx_arena *x, const u32 *node) {
    if (node[0] == RX_NOT || node[0] == RX_REPEAT || node[0] == RX_TAG) return node[1];
    if (node[0] == RX_CONCAT) return rx_nullable(x, node[1]) ? NONE : node[1];
    if (node[0] != RX_FORK) return NONE;
    u32 left = rx_local(x, node[1]);
    return left != NONE && left == rx_local(x, node[2]) ? node[1] : NONE;
}

static bool is_escape(const u32 *node) { return node[0] == RX_QUOTE && node[3] != 0; }

static bool collect(rx_arena *x, rx_id id, id_vec *sets) {
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    u32 n = intern_length(&x->nodes, id);
    bool ok = true;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT:
        for (rx_id at = id; ok && at != NONE;) { /* the heads that may be skipped, and the first that may not */
            const u32 *link = intern_words(&x->nodes, at);
            bool last = link[0] != RX_CONCAT;
            rx_id head = last ? at : link[1];
            ok = rx_add_local(x, head, sets);
            at = last || !rx_nullable(x, head) ? NONE : link[2];
        }
        return ok;
    case RX_OR: case RX_AND: case RX_FORK:
        for (u32 i = 1; ok && i < n && sets->n <= 4 * MAX_SETS; i++) ok = rx_add_local(x, node[i], sets);
        return ok && (sets->n <= 4 * MAX_SETS || vec_push(x->b, sets, NONE));
    case RX_QUOTE:
        if (is_escape(node)) return add_bytes_apart(x, sets, "\"\\/bfnrtu0123456789abcdefABCDEF");
        return rx_add_local(x, node[1], sets) && add_control(x, sets) && add_bytes_apart(x, sets, "\"\\");
    case RX_MULTIPLE: return add_digits_apart(x, sets, node);
    case RX_PUNYCODE: case RX_NAME: return vec_push(x->b, sets, NONE);
    case RX_SYNTAX: return add_syntax_apart(x, sets, node);
    case RX_REST: return vec_push(x->b, sets, rx_shared(x, id));
    case RX_NEVER: case RX_EMPTY: case RX_ALL: case RX_SET: case RX_NOT: case RX_REPEAT: case RX_TAG: return true; /* see one_operand */
    }
    return true;
}

u32 rx_local(rx_arena *x, rx_id id) {
    if (!vec_reach(x->b, &x->local_of, id)) return NONE;
    if (x->local_of.at[id] != NONE) return x->local_of.at[id];
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    bool escape = is_escape(node); /* all alike */
    rx_id one = one_operand(x, node);
    u32 local = escape              ? x->local_escape
                : one != NONE       ? rx_local(x, one)
                : node[0] == RX_SET ? intern(x->b, &x->local, node + 1, 1, NULL)
                                    : NONE;
    if (local == NONE && x->b->status == GE_OK) {
        id_vec sets = {0};
        local = collect(x, id, &sets) ? rx_intern_local(x, &sets) : NONE;
        vec_drop(x->b, &sets);
    }
    if (escape) x->local_escape = local;
    return local == NONE ? NONE : (x->local_of.at[id] = local);
}

void rx_local_classes(const rx_arena *x, u32 local, u8 *same, u8 *next) {
    const u32 *sets = intern_words(&x->local, local);
    u32 n = intern_length(&x->local, local), n_groups = 0, group = 0;
    u64 differs[256];       /* by class: sets in which it lies, while most bytes do not; or the other way round */
    u64 of_group[256];      /* by group: the same */
    u8 last[256];           /* by group: its last class so far */
    bool apart = n == 1 && sets[0] == NONE;
    memset(differs, 0, x->n_classes * sizeof *differs);
    for (u32 i = 0; i < n && !apart; i++) {
        if (sets[i] >= ONE_BYTE) {
            differs[x->class_of[sets[i] - ONE_BYTE]] |= (u64)1 << i;
            continue;
        }
        const byte_set *set = rx_set_of(x, sets[i]);
        u32 others = set_count(set) > 128 ? UINT32_MAX : 0;
        for (u32 k = 0; k < 8; k++)
            for (u32 few = set->w[k] ^ others; few; few &= few - 1) differs[x->class_of[32 * k + (u32)__builtin_ctz(few)]] |= (u64)1 << i;
    }
    for (u32 c = 0; c < x->n_classes; c++) {
        if (apart || group == n_groups || of_group[group] != differs[c]) /* mostly the same as that of the class before */
            for (group = apart ? n_groups : 0; group < n_groups && of_group[group] != differs[c];) group++;
        if (group == n_groups) {
            of_group[n_groups++] = differs[c];
            same[c] = next[c] = (u8)c;
        } else {
            same[c] = same[last[group]];
            next[c] = same[c];
            next[last[group]] = (u8)c;
        }
        last[group] = (u8)c;
    }
}

u32 rx_classes_at(rx_arena *x, u32 local) {
    u32 at = map_get(&x->same_of, local), n = x->n_classes;
    if (at != NONE) return at;
    at = x->same.n;
    if (!vec_reserve(x->b, &x->same, 2 * n) || !map_put(x->b, &x->same_of, local, at)) return NONE;
    rx_local_classes(x, local, x->same.at + at, x->same.at + at + n);
    x->same.n += 2 * n;
    return at;
}

bool rx_told_apart(rx_arena *x, rx_id id, u8 *same) {
    u8 next[256];
    u32 local = rx_local(x, id);
    if (local != NONE && !x->frozen) return rx_local_classes(x, local, same, next), true;
    u32 at = local == NONE ? NONE : rx_classes_at(x, local);
    if (at == NONE) return false;
    memcpy(same, x->same.at + at, x->n_classes);
    return true;
}
