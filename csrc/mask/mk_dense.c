/* The analysis of a unit in which plain text tells letters apart nearly everywhere: by all plain tokens at once.
 *
 * Text without `admin` in it, or with `foo` at its end, has few states, but wherever a token may be another letter leads to another state.
 * So shapes (mk_shapes.c) decide nothing, and node by node two thirds of the trie are walked. Here each node of it gets the number of its
 * state, a byte, from that of its parent by a table, in the order in which they lie in memory; what is dead is a state like others. Then
 * each plain token looks up the state of its node. What is not plain is walked as ever.
 *
 * Only where no lexeme ends within plain text, so that no plain token leaves one.
 *
 * Cost: some 14 instructions for each node of the trie and 5 to 9 for each token; of 131,072 tokens, 266,000 nodes, 5 million in all. */
#include "mk_analysis.h"

enum {
    MOST = 250,      /* states */
    TO_ASK = 255,    /* in the table: not asked for yet */
    MOSTLY = 4       /* one in so many nodes behind a first byte is much */
};

typedef struct dense_walk {
    analysis *a;
    u8 *at;            /* by node: the number of its state; and AN_DEAD for what has none */
    u32 class_of[256]; /* byte classes of the engine, and one more for what is not plain */
    u32 n_classes;     /* with that */
    byte_vec to;       /* by number and class */
} dense_walk;

static bool reads_plain(u32 byte) { return byte >= 0x20 && byte != '"' && byte != '\\'; }

/* *answer: do bytes of one kind lead elsewhere than others of it, or any from
 * `first` to `last`, which begin and end a kind, and is half of them read? */
static bool splits_kind(analysis *a, u32 from, u32 first, u32 last, bool *answer) {
    const u8 *class_of = a->e->lx.x.class_of, *kind_of = a->e->v->shapes.kind_of;
    u32 to = NONE, n_read = 0;
    bool splits = false;
    for (u32 byte = first; byte <= last; byte++) {
        u32 other = an_step(a, from, class_of[byte]);
        if (other == NONE) return false;
        splits |= byte > first && kind_of[byte] == kind_of[byte - 1] && other != to;
        n_read += other != AN_DEAD;
        to = other;
    }
    return *answer = splits && 2 * n_read > last - first, true;
}

/* The same in a state behind a byte: letters of ASCII, or of two bytes, or bytes that end a character. */
static bool splits_next_kind(analysis *a, u32 state, u32 byte, bool *answer) {
    if (byte >= 0x80) return splits_kind(a, state, 0x80, 0xbf, answer);
    if (!splits_kind(a, state, 'a', 'z', answer)) return false;
    for (u32 lead = 0xc3; lead <= 0xd0 && !*answer; lead += 0xd0 - 0xc3) {
        u32 begun = an_step(a, state, a->e->lx.x.class_of[lead]);
        if (begun == NONE || !splits_kind(a, begun, 0x80, 0xbf, answer)) return false;
    }
    return true;
}

/* *answer: is much of the vocabulary behind first bytes that are told from others
 * of their kind, or behind which letters are, or bytes that end a character? */
static bool is_dense(analysis *a, bool *answer) {
    const ge_engine *e = a->e;
    const u8 *kind_of = e->v->shapes.kind_of;
    u64 apart = 0, total = 0;
    u32 last = NONE; /* the state of which that was asked last */
    bool splits = false, splits_next = false;
    for (u32 begin = 0x20, end; begin < 256; begin = end) {
        for (end = begin + 1; end < 256 && kind_of[end] == kind_of[begin];) end++;
        if (!reads_plain(begin)) continue;
        if (!splits_kind(a, AN_START, begin, end - 1, &splits)) return false;
        for (u32 byte = begin; byte < end; byte++) {
            u32 weight = vb_weight(e->v, 0, byte), to = weight ? an_step(a, AN_START, e->lx.x.class_of[byte]) : AN_DEAD;
            if (to == NONE) return false;
            total += weight;
            if (to == AN_DEAD) continue;
            if (to != last && !splits_next_kind(a, to, byte, &splits_next)) return false;
            last = to;
            apart += splits || splits_next ? weight : 0;
        }
    }
    return *answer = MOSTLY * apart >= total, true;
}

/* Rows of the table, up to that of a state. *done = false: there are too many, or a lexeme ends in it. */
static bool add_rows(dense_walk *w, u32 number, bool *done) {
    u32 n = w->n_classes;
    *done = number < MOST && !w->a->ends.at[number];
    while (*done && w->to.n <= n * number) {
        if (!vec_reserve(&w->a->e->b, &w->to, n)) return false;
        memset(w->to.at + w->to.n, w->to.n ? TO_ASK : AN_DEAD, n);
        w->to.n += n;
        w->to.at[w->to.n - 1] = AN_DEAD;
    }
    return true;
}

/* The states of the nodes before `end`. */
static bool walk_nodes(dense_walk *w, u32 end, bool *done) {
    const tt_trie *trie = &w->a->e->v->trie;
    const u32 *parent = trie->parent.at, *class_of = w->class_of, n_classes = w->n_classes;
    const u8 *bytes = trie->byte.at, *to = w->to.at;
    u8 *at = w->at;
    at[0] = AN_START;
    for (u32 i = 1; i < end; i++) {
        u32 above = at[parent[i]], c = class_of[bytes[i]], state = to[n_classes * above + c];
        if (state == TO_ASK) {
            if ((state = an_step(w->a, above, c)) == NONE || !add_rows(w, state, done)) return false;
            if (!*done) return w->a->e->stats.trie_nodes += i, true;
            w->to.at[n_classes * above + c] = (u8)state;
            to = w->to.at;
        }
        at[i] = (u8)state;
    }
    return w->a->e->stats.trie_nodes += end, true;
}

static void put_all_bits(const dense_walk *w) {
    const u32 *nodes = w->a->e->v->plain_nodes;
    u32 *bits = w->a->inner->bits;
    for (u32 i = 0, n = w->a->e->v->n_tokens; i < n; i += 32) {
        u32 word = 0;
        for (u32 k = 0; k < min_u32(32, n - i); k++) word |= (u32)(w->at[nodes[i + k]] != AN_DEAD) << k;
        bits[i / 32] = word;
    }
}

/* What each needs, of an open unit: its characters, and what must still begin. */
static bool put_all_needs(dense_walk *w) {
    analysis *a = w->a;
    const u32 *nodes = a->e->v->plain_nodes;
    const u8 *chars = a->e->v->chars;
    for (u32 i = 0; i < a->e->v->n_tokens; i++) {
        u32 state = w->at[nodes[i]];
        if (state == AN_DEAD) continue;
        if (a->least.at[state] == VB_DEAD && !an_find_least(a, state)) return false;
        a->inner->needs[i] = (u8)(chars[i] + a->least.at[state]);
    }
    return true;
}

bool an_walk_dense(analysis *a, u32 max_depth, bool *done) {
    const tt_trie *trie = &a->e->v->trie;
    u32 n = trie->byte.n, from = 0, to = 1;
    if (!is_dense(a, done) || !*done) return a->e->b.status == GE_OK && !a->given_up;
    dense_walk w = {.a = a, .at = mem_resize(a->b, NULL, 0, n + 1), .n_classes = a->e->lx.x.n_classes + 1};
    for (u32 byte = 0; byte < 256; byte++) w.class_of[byte] = reads_plain(byte) ? a->e->lx.x.class_of[byte] : w.n_classes - 1;
    for (u32 depth = 0; depth < max_depth && tt_below(trie, &from, &to);) depth++;
    bool ok = w.at && add_rows(&w, AN_START, done);
    if (ok) memset(w.at + to, AN_DEAD, n + 1 - to);
    ok = ok && (!*done || walk_nodes(&w, to, done));
    if (ok && *done && !a->inner->needs) put_all_bits(&w);
    if (ok && *done && a->inner->needs) ok = put_all_needs(&w);
    if (w.at) mem_resize(a->b, w.at, n + 1, 0);
    vec_drop(&a->e->b, &w.to);
    return ok;
}
