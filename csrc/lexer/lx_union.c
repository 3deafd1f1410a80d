/* lx_union: unions over sets of ids that grow and shrink one by one while a text is read: of the keys that an object still has room for,
 * of the values that an array must not have again.
 *
 * A set is [block, mask | block, mask | ...], a bit for each of 32 ids, blocks ascending. Its union is a tree of FORKs (regex/rx_fork.c)
 * that parts by the bits of the ids, highest first, so that equal parts of two sets are one subtree, derivatives included. The trees of
 * blocks, and of rows of blocks, are kept. So a set that differs in one id costs a look at its blocks, and log n new nodes here and for
 * each byte that is read.
 *
 * A *group* is a lexeme that is any of some lexemes of the grammar, each under its number as a TAG: a row that allows a thousand keys has
 * one entry for them, and so has a lexer state. What a state has matched is told by the tags. */
#include "lx.h"

enum { KEPT = 32 }; /* blocks */

static rx_id leaf(lx_lexer *l, lx_union kind, u32 id) {
    if (kind == LX_TAGGED) return rx_tag(&l->x, l->lexemes.at[id].expr, id);
    return lx_value_part(l, id, kind == LX_STRINGS);
}

/* Of the ids from `first` on whose bits are set in the mask, of which there is at least one. */
static rx_id union_of_mask(lx_lexer *l, lx_union kind, u32 first, u32 mask, u32 width) {
    if ((mask & (mask - 1)) == 0) return leaf(l, kind, first + (u32)__builtin_ctz(mask));
    for (;;) {
        u32 half = width /= 2, low = mask & (((u32)1 << half) - 1), high = mask >> half;
        if (low && high) {
            rx_id left = union_of_mask(l, kind, first, low, half);
            return left == NONE ? NONE : rx_fork(&l->x, left, union_of_mask(l, kind, first + half, high, half));
        }
        if (high) first += half;
        mask = low | high;
    }
}

static rx_id union_of_blocks(lx_lexer *l, lx_union kind, const u32 *set, u32 n);

/* Of n blocks, at least two: those with the highest bit in which they differ, and those without. */
static rx_id part_blocks(lx_lexer *l, lx_union kind, const u32 *set, u32 n) {
    u32 top = (u32)1 << (31 - __builtin_clz(set[0] ^ set[2 * n - 2])), low = 0, high = n;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (set[2 * middle] & top) high = middle;
        else low = middle + 1;
    }
    rx_id left = union_of_blocks(l, kind, set, low);
    return left == NONE ? NONE : rx_fork(&l->x, left, union_of_blocks(l, kind, set + 2 * low, n - low));
}

/* Of n blocks, at least one. That of one is kept, and that of a row of KEPT of which most are there. */
static rx_id union_of_blocks(lx_lexer *l, lx_union kind, const u32 *set, u32 n) {
    bool fresh, keep = n == 1 || (n > KEPT / 2 && set[0] / KEPT == set[2 * n - 2] / KEPT);
    if (!keep) return part_blocks(l, kind, set, n);
    u32 key[1 + 2 * KEPT];
    key[0] = kind;
    memcpy(key + 1, set, 2 * n * sizeof *set);
    if (!vec_reserve(l->b, &l->block_union, 1)) return NONE;
    u32 id = intern(l->b, &l->blocks, key, 1 + 2 * n, &fresh);
    if (id == NONE) return NONE;
    if (fresh) l->block_union.at[l->block_union.n++] = NONE;
    if (l->block_union.at[id] != NONE) return l->block_union.at[id];
    rx_id made = n == 1 ? union_of_mask(l, kind, 32 * set[0], set[1], 32) : part_blocks(l, kind, set, n);
    return l->block_union.at[id] = made;
}

rx_id lx_union_of(lx_lexer *l, lx_union kind, const u32 *set, u32 n_words) {
    if (n_words == 0) return RX_ID_NEVER;
    return budget_work(l->b, n_words / 2) ? union_of_blocks(l, kind, set, n_words / 2) : NONE;
}

/* --- groups -------------------------------------------------------------------------------------------------------------- */

u32 lx_group(lx_lexer *l, const u32 *lexemes, u32 n) {
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n) || !vec_reserve(l->b, &l->lexemes, 1)) return NONE;
    u32 *set = l->scratch.at, k = 0;
    for (u32 i = 0; i < n; i++) {
        if (k == 0 || set[2 * k - 2] != lexemes[i] / 32) set[2 * k] = lexemes[i] / 32, set[2 * k + 1] = 0, k++;
        set[2 * k - 1] |= (u32)1 << lexemes[i] % 32;
    }
    rx_id expr = lx_union_of(l, LX_TAGGED, set, 2 * k);
    if (expr == NONE) return NONE;
    u32 lexeme = map_get(&l->group_of, expr);
    if (lexeme != NONE) return lexeme;
    lexeme = l->lexemes.n;
    if (!map_put(l->b, &l->group_of, expr, lexeme)) return NONE;
    l->lexemes.at[l->lexemes.n++] = (lx_lexeme){expr, LX_GROUP, NONE};
    return lexeme;
}

bool lx_pairs(const lx_lexer *l, u32 state, u32 i, id_vec *out) {
    const u32 *pair = intern_words(&l->states, state) + 2 * i;
    if (l->lexemes.at[pair[0]].flags & LX_GROUP) return rx_tags(&l->x, pair[1], false, out);
    return vec_push(l->b, out, pair[0]) && vec_push(l->b, out, pair[1]);
}
