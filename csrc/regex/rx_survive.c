/* Which plain text may kill an expression, if not all leaves it alive: by how long it must be, and what it must have.
 *
 *     all keys but those with `net_` in them            ~(.* net_ .*)               4 bytes, among them a small letter and `_`
 *     ... after `n`                                     ~(.* net_ .* | et_ .*)      3 bytes, the same
 *     those with `ab` in them, but none of `net_`       .* ab .* & ~(.* net_ .*)    4 bytes, the same
 *     all keys but `name`, or `id` and a number         ~(name | id[0-9]+)          none does
 *
 * Idea. Let z be a character that patterns hardly ever read, the *stranger*. After a text u, which strings end with z and then some string
 * y that was a string from the beginning? Of E = .* t all, since y is one of E. Of X, for which E & ~X has to be asked, none, unless u is
 * long enough: before a string of X has z it has some bytes, by its structure. One of X = .* x may also begin behind z, but then y is one
 * of X, too. So E & ~X is alive after u. y is any string of the parts that begin with .*, and the same for all u: it is asked once whether
 * there is one.
 *
 * The verdict errs towards more peril. Cost: a look at each node of X, up to
 * FUEL of them in all; and of .* t & ~(.* x) one question whether it is empty. */
#include "rx.h"

enum {
    STRANGER = 0x7f, /* DEL, which JSON strings hold raw */
    FUEL = 2000,
    PER_WORK = 16, /* looks, which are charged as one step of work */
    FAR = 255,   /* bytes: more are not told apart */
    MAX_ARMS = 8 /* of a union that are looked at */
};

typedef struct before_stranger {
    u32 n_bytes;      /* before the first stranger in a string, at least; NONE: no string has one */
    u64 kinds, all;   /* of bytes that stand before it; of bytes that each string has */
} before_stranger;

/* The kind of all bytes of a set, if they have one. */
static u64 kind_of_set(const byte_set *set, const u8 *kind_of) {
    u64 kinds = 0;
    for (u32 k = 0; k < 8; k++)
        for (u32 left = set->w[k]; left; left &= left - 1) {
            kinds |= (u64)1 << kind_of[32 * k + (u32)__builtin_ctz(left)];
            if (kinds & (kinds - 1)) return 0;
        }
    return kinds;
}

static before_stranger find_stranger(const rx_arena *x, rx_id id, const u8 *kind_of, u32 *fuel);

static bool is_any_text(const rx_arena *x, rx_id id) {
    return x->text != NONE && (id == x->text || id == intern_words(&x->nodes, x->text)[1]);
}

static before_stranger of_union(const rx_arena *x, rx_id id, const u8 *kind_of, u32 *fuel) {
    before_stranger sum = {NONE, UINT64_MAX, UINT64_MAX};
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++) {
        before_stranger part = find_stranger(x, intern_words(&x->nodes, id)[i], kind_of, fuel);
        sum.n_bytes = min_u32(sum.n_bytes, part.n_bytes);
        sum.kinds &= part.n_bytes == NONE ? UINT64_MAX : part.kinds;
        sum.all &= part.all;
    }
    return sum;
}

static before_stranger of_other(const rx_arena *x, rx_id id, const u8 *kind_of, u32 *fuel) {
    const u32 *node = intern_words(&x->nodes, id);
    before_stranger part;
    if (is_any_text(x, id)) return (before_stranger){0, 0, 0}; /* which needs no look */
    switch ((rx_kind)node[0]) {
    case RX_NEVER: case RX_EMPTY: return (before_stranger){NONE, 0, 0};
    case RX_SET:
        part.n_bytes = set_has(rx_set_of(x, node[1]), STRANGER) ? 0 : NONE;
        part.kinds = 0;
        part.all = kind_of_set(rx_set_of(x, node[1]), kind_of);
        return part;
    case RX_TAG: return find_stranger(x, node[1], kind_of, fuel);
    case RX_REPEAT:
        part = find_stranger(x, node[1], kind_of, fuel);
        if (node[2] == 0) part.all = 0;
        return part;
    case RX_OR: case RX_FORK: return of_union(x, id, kind_of, fuel);
    default: return (before_stranger){0, 0, 0};
    }
}

/* Recursion along operands, a loop along sequences. */
static before_stranger find_stranger(const rx_arena *x, rx_id id, const u8 *kind_of, u32 *fuel) {
    before_stranger sum = {NONE, UINT64_MAX, 0};
    for (u32 n_bytes = 0; *fuel; id = intern_words(&x->nodes, id)[2]) {
        --*fuel;
        bool last = rx_kind_of(x, id) != RX_CONCAT;
        rx_id head = last ? id : intern_words(&x->nodes, id)[1];
        before_stranger part = last ? of_other(x, id, kind_of, fuel) : find_stranger(x, head, kind_of, fuel);
        if (part.n_bytes != NONE) {
            sum.n_bytes = min_u32(sum.n_bytes, n_bytes + part.n_bytes);
            sum.kinds &= sum.all | part.kinds;
        }
        sum.all |= part.all;
        if (last) return sum.n_bytes = sum.n_bytes == NONE ? NONE : min_u32(sum.n_bytes, FAR), sum;
        n_bytes += rx_length_bound(x, head);
        if (n_bytes >= FAR) break;
    }
    return *fuel ? (before_stranger){min_u32(sum.n_bytes, FAR), 0, 0} : (before_stranger){0, 0, 0};
}

static bool is_implied(rx_peril by, rx_peril p) { return by.n_bytes <= p.n_bytes && (by.kinds & ~p.kinds) == 0; }

static void add_peril(rx_perils *to, rx_peril p) {
    for (u32 i = 0; i < to->n; i++) {
        if (is_implied(to->of[i], p)) return;
        if (is_implied(p, to->of[i])) to->of[i--] = to->of[--to->n];
    }
    if (to->n < RX_PERILS) {
        to->of[to->n++] = p;
        return;
    }
    rx_peril *last = &to->of[RX_PERILS - 1];
    *last = (rx_peril){min_u32(last->n_bytes, p.n_bytes), last->kinds & p.kinds};
}

static void give_up(rx_perils *to) {
    to->n = 0;
    add_peril(to, (rx_peril){0, 0});
}

/* Any text and then something. *least: characters of the text. */
static bool is_open(const rx_arena *x, rx_id id, u32 *least) {
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] == RX_CONCAT) node = intern_words(&x->nodes, node[1]);
    *least = node[0] == RX_REPEAT ? node[2] : 0;
    return node[0] == RX_REPEAT && x->text != NONE && intern_words(&x->nodes, x->text)[1] == node[1] && node[3] == NONE;
}

/* The operands of a union, or the expression itself. */
static bool list_arms(rx_arena *x, rx_id id, id_vec *arms) {
    u32 kind = rx_kind_of(x, id);
    if (kind != RX_OR && kind != RX_FORK) return vec_push(x->b, arms, id);
    for (u32 i = 1; i < intern_length(&x->nodes, id); i++)
        if (!list_arms(x, intern_words(&x->nodes, id)[i], arms)) return false;
    return true;
}

/* Of a part E of an intersection its open arms: they go to `parts`, unless all text is a string of them. */
static bool add_wanted(rx_arena *x, rx_id id, id_vec *parts, rx_perils *out) {
    id_vec arms = {0};
    u32 least, n = 0;
    bool ok = list_arms(x, id, &arms);
    for (u32 i = 0; ok && i < arms.n; i++)
        if (is_open(x, arms.at[i], &least)) arms.at[n++] = arms.at[i];
    if (ok && n == 0) give_up(out);
    if (ok && n && arms.at[0] != x->text) {
        rx_id part = rx_or(x, arms.at, n);
        ok = part != NONE && vec_push(x->b, parts, part);
    }
    vec_drop(x->b, &arms);
    return ok;
}

/* Of a part ~X the perils; and the complements of the open arms of X go to `parts`. */
static bool add_unwanted(rx_arena *x, rx_id id, const u8 *kind_of, u32 *fuel, id_vec *parts, rx_perils *out) {
    id_vec arms = {0};
    u32 least;
    bool ok = list_arms(x, id, &arms);
    for (u32 i = 0; ok && i < arms.n; i++) {
        rx_id arm = arms.at[i];
        bool is_of_open = is_open(x, arm, &least) && rx_kind_of(x, arm) == RX_CONCAT;
        rx_id rest = is_of_open ? intern_words(&x->nodes, arm)[2] : arm;
        before_stranger before = find_stranger(x, rest, kind_of, fuel);
        if (before.n_bytes == 0 || (is_of_open && (least || rx_nullable(x, rest)))) give_up(out);
        else if (before.n_bytes != NONE) add_peril(out, (rx_peril){before.n_bytes - 1, before.kinds});
        if (is_of_open) ok = (arm = rx_not(x, arm)) != NONE && vec_push(x->b, parts, arm);
    }
    vec_drop(x->b, &arms);
    return ok;
}

/* Of an intersection, or a complement; if `sure` is false, as if there were some y. */
static bool of_intersection(rx_arena *x, rx_id id, const u8 *kind_of, bool sure, u32 *fuel, rx_perils *out) {
    id_vec wanted = {0}, unwanted = {0};
    u32 n = rx_kind_of(x, id) == RX_AND ? intern_length(&x->nodes, id) - 1 : 1;
    bool ok = true;
    for (u32 i = 1; ok && i <= n; i++) {
        rx_id part = rx_kind_of(x, id) == RX_AND ? intern_words(&x->nodes, id)[i] : id;
        if (rx_kind_of(x, part) != RX_NOT) ok = add_wanted(x, part, &wanted, out);
        else ok = add_unwanted(x, intern_words(&x->nodes, part)[1], kind_of, fuel, &unwanted, out);
    }
    if (ok && sure && wanted.n) { /* else "" is a string of all that are open */
        for (u32 i = 0; ok && i < unwanted.n; i++) ok = vec_push(x->b, &wanted, unwanted.at[i]);
        rx_id all = ok ? rx_and(x, wanted.at, wanted.n) : NONE;
        if (all == NONE || rx_is_empty(x, all)) give_up(out);
        ok = all != NONE && x->b->status == GE_OK;
    }
    vec_drop(x->b, &wanted);
    vec_drop(x->b, &unwanted);
    return ok;
}

/* The least length of a text that might kill. */
static u32 shortest(const rx_perils *perils) {
    u32 least = NONE;
    for (u32 i = 0; i < perils->n; i++) least = min_u32(least, perils->of[i].n_bytes);
    return least;
}

static bool find_perils(rx_arena *x, rx_id id, const u8 *kind_of, bool sure, u32 *fuel, rx_perils *out);

/* A union lives as long as any operand: the perils of one that is hard to kill. */
static bool of_operand(rx_arena *x, rx_id id, const u8 *kind_of, bool sure, u32 *fuel, rx_perils *out) {
    u32 best = 1;
    rx_perils of;
    give_up(out);
    for (u32 i = 1; i < intern_length(&x->nodes, id) && i <= MAX_ARMS; i++) {
        if (!find_perils(x, intern_words(&x->nodes, id)[i], kind_of, false, fuel, &of)) return false;
        if (shortest(&of) <= shortest(out)) continue;
        *out = of;
        best = i;
    }
    return !sure || find_perils(x, intern_words(&x->nodes, id)[best], kind_of, true, fuel, out);
}

static bool find_perils(rx_arena *x, rx_id id, const u8 *kind_of, bool sure, u32 *fuel, rx_perils *out) {
    out->n = 0;
    for (;;) {
        if (!*fuel) return give_up(out), true;
        --*fuel;
        const u32 *node = intern_words(&x->nodes, id);
        switch ((rx_kind)node[0]) {
        case RX_AND: case RX_NOT: return of_intersection(x, id, kind_of, sure, fuel, out);
        case RX_OR: case RX_FORK: return of_operand(x, id, kind_of, sure, fuel, out);
        case RX_CONCAT: case RX_QUOTE:
            if (node[0] == RX_CONCAT ? !(x->meta.at[node[2]].flags & RX_INHABITED) : node[3]) return give_up(out), true;
            id = node[1]; /* what follows may come later */
            break;
        default: return give_up(out), true;
        }
    }
}

bool rx_find_perils(rx_arena *x, rx_id id, const u8 *kind_of, rx_perils *out) {
    u32 fuel = FUEL;
    out->n = 0;
    if (rx_absorbs_plain(x, id, NONE)) return true;
    return find_perils(x, id, kind_of, true, &fuel, out) && budget_work(x->b, 1 + (FUEL - fuel) / PER_WORK);
}
