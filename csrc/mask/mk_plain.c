/* The analysis of a unit that most plain text leaves alive: by the tokens that it does not read.
 *
 * Of keys beside patterns that are not anchored, say all but those with `net_` in them, nearly any token is the beginning. But letters are
 * told apart wherever a token may be, so shapes (mk_shapes.c) decide nothing. Here all plain tokens are taken to stay inside, and only
 * those are followed that may not: where what is below a node of the trie is too short to kill the state, or lacks what would
 * (regex/rx_survive.c), nothing is looked at there. What is not plain is walked as ever.
 *
 * Cost: 5 ns for each child of the nodes that are followed: a few hundred where a mark must come, every tenth where 7 letters must. */
#include "mk_analysis.h"

enum { LASTING = 4 }; /* bytes: to outlive fewer is not worth while */

typedef struct plain_place {
    u32 node;
    u16 state;
    u8 phase;
} plain_place;

typedef struct plain_walk {
    analysis *a;
    const tt_trie *trie;
    VEC(plain_place) places;
    VEC(rx_perils) perils; /* by number; n == NONE: not asked for yet */
    bool leaves;           /* a plain token may leave a lexeme */
} plain_walk;

/* NULL: failure. */
static const rx_perils *perils_of(plain_walk *w, u32 number) {
    budget *b = &w->a->e->b;
    while (w->perils.n <= number)
        if (!vec_push(b, &w->perils, ((rx_perils){.n = NONE}))) return NULL;
    rx_perils *p = &w->perils.at[number];
    if (p->n == NONE && !mk_find_perils(w->a->e, w->a->states.at[number], p)) return NULL;
    return p;
}

/* Is the unit one that some plain text kills, but do most first bytes lead to states that are not
 * easy to kill, by a few small letters and blanks, say? (Within a character it is not asked.) */
static bool is_promising(plain_walk *w, bool *answer) {
    ge_engine *e = w->a->e;
    const rx_perils *perils = perils_of(w, AN_START);
    u64 common = (u64)1 << e->v->shapes.kind_of['a'] | (u64)1 << e->v->shapes.kind_of[' '];
    u32 total = 0, lasting = 0;
    if (!perils || !perils->n) return *answer = false, perils != NULL;
    for (u32 byte = 0; byte < 256; byte++) {
        u32 weight = vb_weight(e->v, 0, byte), phase = mk_plain_step(UTF8_START, byte);
        if (!weight || phase == UTF8_DEAD) continue;
        u32 to = an_step(w->a, AN_START, e->lx.x.class_of[byte]);
        if (to == NONE || (phase == UTF8_START && !(perils = perils_of(w, to)))) return false;
        total += weight;
        lasting += to != AN_DEAD && (phase != UTF8_START || mk_outlives(perils, LASTING, common)) ? weight : 0;
    }
    *answer = 2 * lasting > total;
    return true;
}

/* The plain tokens at a node and below die. */
static void clear_dying(plain_walk *w, u32 node) {
    u32 from = node, to = node + 1, n;
    do {
        const u32 *tokens = tt_tokens(w->trie, from, to, &n);
        for (u32 i = 0; i < n; i++) w->a->inner->bits[tokens[i] >> 5] &= ~((u32)1 << (tokens[i] & 31));
    } while (tt_below(w->trie, &from, &to));
}

/* Reads the byte of a child, after which a character is in this phase. */
static bool read_child(plain_walk *w, plain_place at, u32 child, u32 phase) {
    analysis *a = w->a;
    const vb_shapes *s = &a->e->v->shapes;
    u32 to = an_step(a, at.state, a->e->lx.x.class_of[w->trie->byte.at[child]]);
    if (to == NONE) return false;
    w->leaves |= a->ends.at[to] != 0;
    if (to == AN_DEAD) return clear_dying(w, child), true;
    if (s->height.at[child] == 0) return true;
    const rx_perils *perils = phase == UTF8_START ? perils_of(w, to) : NULL;
    if (phase == UTF8_START && !perils) return false;
    if (perils && mk_outlives(perils, s->height.at[child], s->below.at[child])) return true;
    return vec_push(&a->e->b, &w->places, ((plain_place){child, (u16)to, (u8)phase}));
}

/* Follows the children of a place. */
static bool visit_place(plain_walk *w, plain_place at) {
    const vb_shapes *s = &w->a->e->v->shapes;
    const u8 *bytes = w->trie->byte.at;
    u32 begin = w->trie->first.at[at.node], end = w->trie->first.at[at.node + 1];
    rx_perils perils = {1, {{0, 0}}}; /* a copy: others are found below */
    if (at.phase == UTF8_START) {
        const rx_perils *found = perils_of(w, at.state);
        if (!found) return false;
        perils = *found;
    }
    w->a->e->stats.trie_nodes += end - begin;
    for (u32 i = begin; i < end; i++) {
        u32 phase = mk_plain_step(at.phase, bytes[i]);
        if (phase == UTF8_DEAD || mk_outlives(&perils, s->height.at[i] + 1u, s->below.at[i] | (u64)1 << s->kind_of[bytes[i]])) continue;
        if (!read_child(w, at, i, phase)) return false;
    }
    return true;
}

bool an_walk_plain(analysis *a, bool *done) {
    const ge_vocab *v = a->e->v;
    plain_walk w = {.a = a, .trie = &v->trie};
    bool ok = is_promising(&w, done);
    if (ok && *done) {
        memcpy(a->inner->bits, v->slices[VB_PLAIN].bits, v->n_words * sizeof(u32));
        ok = vec_push(&a->e->b, &w.places, ((plain_place){0, AN_START, UTF8_START}));
    }
    for (u32 head = 0; ok && !w.leaves && head < w.places.n; head++) ok = visit_place(&w, w.places.at[head]);
    if (w.leaves) memset(a->inner->bits, 0, v->n_words * sizeof(u32));
    *done &= !w.leaves;
    vec_drop(&a->e->b, &w.places);
    vec_drop(&a->e->b, &w.perils);
    return ok;
}
