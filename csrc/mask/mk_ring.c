/* Rings: rows that come back to themselves, as open rows of an outline (mk_outline.c).
 *
 * Idea. Vocabularies have tokens like `--------`, of up to a hundred bytes: one lexeme after the other, and each is an exit. In a grammar
 * with a sign in front of operands, the row after `-` is mostly the same row again; with `--` as well there are two rows, and either sign
 * leads to one of them. Taken one by one, such exits are most of what there is to do for a mask. But where the rows and the sets of lexemes
 * between them are known, the walk can go on where one has ended:
 *
 *     ring     [ begin, begin | set, to, to | set, to, to ... ]
 *
 * are the lexer states in which the rows begin, and for each set of lexemes the row (0, 1) to which it leads from the first and from the
 * second; NONE: it ends there.
 *
 * A ring says nothing else of its rows, so an outline with it serves all rows between which these steps are the same.
 *
 * Exactness. What is in a ring was found by the steps of the rows themselves, for each row anew.
 *
 * Cost. For a task: the steps of its exits, which are asked for anyway. A ring is looked for only from a row that leads to itself. */
#include "mk.h"

u32 mk_ring_begin(const ge_engine *e, u32 row) { return intern_words(&e->mk.rings, (row - CF_RING_ROW) / 2)[row & 1]; }

u32 mk_go_round(const ge_engine *e, u32 row, u32 accepts) {
    u32 ring = (row - CF_RING_ROW) / 2, which = row & 1, n = intern_length(&e->mk.rings, ring);
    const u32 *words = intern_words(&e->mk.rings, ring);
    for (u32 i = 2; i < n; i += 3)
        if (words[i] == accepts && words[i + 1 + which] != NONE) return row - which + words[i + 1 + which];
    return CF_ENDED_ROW + which * CF_SECOND + accepts;
}

/* The set of lexemes of the i-th exit. */
static u32 exit_at(const ge_engine *e, const mk_outline *outline, u32 i) { return e->mk.outline_words.at[outline->exits + 2 * i]; }

/* *own = a set of lexemes by which the row leads to itself; NONE: it does not. */
static bool find_own(ge_engine *e, const mk_outline *outline, u32 row, u32 *own) {
    u32 to, begin;
    *own = NONE;
    for (u32 i = 0; i < outline->n_exits && *own == NONE; i++) {
        if (!mk_go(e, row, exit_at(e, outline, i), &to, &begin)) return false;
        if (to == row) *own = exit_at(e, outline, i);
    }
    return true;
}

/* May all lexemes of a set come in a row? */
static bool allows(const ge_engine *e, u32 row, u32 accepts) {
    const u32 *set = intern_words(&e->lx.accepts, accepts);
    u32 n, found = 0, n_set = intern_length(&e->lx.accepts, accepts);
    const u32 *lexemes = ep_row_lexemes(&e->ep, row, &n);
    for (u32 i = 0; i < n && found < n_set && lexemes[i] <= set[found]; i++) found += lexemes[i] == set[found]; /* both ascend */
    return found == n_set;
}

/* rows[1] = a row to which rows[0] leads, and which leads back by the own set of that, and where it begins; NONE: there is none. */
static bool find_other(ge_engine *e, const mk_outline *outline, u32 own, u32 *rows, u32 *begin) {
    u32 other, back, cut, ignored;
    rows[1] = *begin = NONE;
    for (u32 i = 0; i < outline->n_exits && rows[1] == NONE; i++) {
        if (!mk_go(e, rows[0], exit_at(e, outline, i), &other, begin)) return false;
        if (other == rows[0] || ep_row_leaves(&e->ep, other) || !allows(e, other, own)) continue;
        if ((cut = ep_cut(&e->ep, other, EP_CUTS - 1)) == NONE || !mk_go(e, cut, own, &back, &ignored)) return false;
        /* the first row is mostly one that may return at once: this one is not it */
        if (cut != other && !ep_row_leaves(&e->ep, back)) continue;
        if (cut != other && !mk_go(e, other, own, &back, &ignored)) return false;
        if (back == rows[0]) rows[1] = other;
    }
    return true;
}

/* *which = the one of the rows to which a row leads; NONE: none of them. */
static bool go_within(ge_engine *e, const u32 *rows, u32 row, u32 accepts, u32 *which) {
    u32 to = NONE, ignored;
    *which = NONE;
    if (row == NONE || !allows(e, row, accepts)) return true;
    if (!mk_go(e, row, accepts, &to, &ignored)) return false;
    if (to == rows[0] || to == rows[1]) *which = to != rows[0];
    return true;
}

bool mk_find_ring(ge_engine *e, u32 begin, const mk_outline *outline, u32 *rows, u32 *ring) {
    u32 own, other_begin, to[2];
    rows[1] = *ring = NONE;
    if (!find_own(e, outline, rows[0], &own)) return false;
    if (own == NONE) return true;
    if (!find_other(e, outline, own, rows, &other_begin)) return false;
    e->mk.ring.n = 0;
    if (!vec_push(&e->b, &e->mk.ring, begin) || !vec_push(&e->b, &e->mk.ring, rows[1] == NONE ? NONE : other_begin)) return false;
    for (u32 i = 0; i < outline->n_exits; i++) {
        u32 accepts = exit_at(e, outline, i);
        if (!go_within(e, rows, rows[0], accepts, &to[0]) || !go_within(e, rows, rows[1], accepts, &to[1])) return false;
        if (to[0] == NONE && to[1] == NONE) continue;
        if (!vec_push(&e->b, &e->mk.ring, accepts) || !vec_push(&e->b, &e->mk.ring, to[0]) || !vec_push(&e->b, &e->mk.ring, to[1]))
            return false;
    }
    return (*ring = intern(&e->b, &e->mk.rings, e->mk.ring.at, e->mk.ring.n, NULL)) != NONE;
}
