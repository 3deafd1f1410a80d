/* Walks of what is spelt out, where a text is one lexeme.
 *
 * What is left of a choice of strings, or of digits that are counted out, is a trie of sets of bytes (regex/rx_chars.c). Both tries, that
 * one and the vocabulary's, are gone down side by side: no derivative is taken, and no state or configuration is made for what begins with
 * tokens that nobody will choose. That of 500 choices has a thousand states, and a mask of twenty tokens came to thirty that were new.
 *
 *     be | by-(a | b)        of the vocabulary b, be, by, by-, ...
 *
 * Exactness. A token is allowed where a string of the trie begins with it: nothing may come after the lexeme, and each part of the
 * expression has a string (RX_INHABITED). The sets of a union are disjoint, so a node of the vocabulary is met once. Where an expression
 * has anything else in it, or there is much to read, another way is taken. */
#include "mk.h"

enum { MAX_SPELT = 512 }; /* nodes with something below them; with more, as of letters, there are better ways */

/* An operand of a union: a set of bytes, and what follows. */
typedef struct spelt_part {
    const byte_set *first;
    rx_id tail;
} spelt_part;

static bool as_spelt(const rx_arena *x, rx_id id, spelt_part *out) {
    const u32 *node = intern_words(&x->nodes, id), *head = node;
    out->tail = RX_ID_EMPTY;
    if (node[0] == RX_CONCAT) {
        head = intern_words(&x->nodes, node[1]);
        out->tail = node[2];
    }
    if (head[0] != RX_SET) return false;
    out->first = rx_set_of(x, head[1]);
    return x->meta.at[out->tail].flags & RX_INHABITED;
}

/* The tokens at a child, and the place below it. */
static inline bool spell_child(ge_engine *e, u32 child, rx_id tail, mk_found *found) {
    const tt_trie *trie = &e->v->trie;
    u32 n;
    const u32 *tokens = tt_tokens(trie, child, child + 1, &n);
    if (!mk_add_listed(e, found, tokens, n)) return false;
    bool more = tail != RX_ID_EMPTY && trie->first.at[child] < trie->first.at[child + 1];
    return !more || vec_push(&e->b, &e->mk.walk, ((mk_place){child, tail}));
}

static bool spell_set(ge_engine *e, u32 node, const spelt_part *part, mk_found *found) {
    const tt_trie *trie = &e->v->trie;
    const u8 *bytes = trie->byte.at;
    const byte_set *set = part->first;
    u32 begin = trie->first.at[node], end = trie->first.at[node + 1], n = set_count(set);
    if (n > end - begin) {
        e->stats.trie_nodes += end - begin;
        for (u32 i = begin; i < end; i++)
            if (set_has(set, bytes[i]) && !spell_child(e, i, part->tail, found)) return false;
        return true;
    }
    e->stats.trie_nodes += n;
    for (u32 k = 0; k < 8; k++)
        for (u32 left = set->w[k]; left; left &= left - 1) {
            const u8 *child = memchr(bytes + begin, (int)(32 * k + (u32)__builtin_ctz(left)), end - begin);
            if (child && !spell_child(e, (u32)(child - bytes), part->tail, found)) return false;
        }
    return true;
}

/* Is an expression a union of disjoint sets of bytes, each with something behind it, or nothing? Here at the root, before any of it is
 * read; and without bytes beyond ASCII: what begins there is found once for many states (mk_beyond.c). */
static bool is_spelt(const rx_arena *x, rx_id id) {
    u32 n;
    const rx_id *parts = rx_choices(x, &id, &n);
    byte_set seen = {{0}};
    for (u32 i = 0; i < n; i++) {
        spelt_part part;
        if (parts[i] == RX_ID_EMPTY) continue;
        if (!as_spelt(x, parts[i], &part) || set_meets(&seen, part.first)) return false;
        set_unite(&seen, part.first);
    }
    return !(seen.w[4] | seen.w[5] | seen.w[6] | seen.w[7]);
}

/* What an expression reads of the children of a node. *spelt = false: it is not spelt, and what was read of it is not all. */
static bool spell(ge_engine *e, u32 node, rx_id id, mk_found *found, bool *spelt) {
    u32 n;
    const rx_id *parts = rx_choices(&e->lx.x, &id, &n);
    byte_set seen = {{0}};
    for (u32 i = 0; i < n; i++) {
        spelt_part part;
        if (parts[i] == RX_ID_EMPTY) continue;
        if (!as_spelt(&e->lx.x, parts[i], &part) || set_meets(&seen, part.first)) return *spelt = false, true;
        if (n > 1) set_unite(&seen, part.first);
        if (!spell_set(e, node, &part, found)) return false;
    }
    return true;
}

/* What is left of the lexeme, if the configuration is one of one lexeme
 * that ends at no match but the last; nothing behind it; else RX_ID_NEVER. */
static rx_id only_expression(const ge_engine *e, u32 config) {
    if (cf_count(e, config) != 1) return RX_ID_NEVER;
    u32 state = cf_alternative_at(e, config, 0).state >> 1;
    if (state == LX_IDLE) return RX_ID_EMPTY;
    if (lx_count(&e->lx, state) != 1 || e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, 0)].flags & LX_LAZY) return RX_ID_NEVER;
    return lx_rest_at(&e->lx, state, 0);
}

bool mk_by_literals(ge_engine *e, u32 config, mk_found *found, bool *done) {
    *done = false;
    if (!e->is_one_lexeme || e->switches & GE_NO_SLICES) return true;
    rx_id id = only_expression(e, config);
    bool was_listed = found->listed, spelt = true;
    e->mk.walk.n = 0;
    if (id == RX_ID_NEVER || !is_spelt(&e->lx.x, id)) return true;
    if (!spell(e, 0, id, found, &spelt)) return false;
    for (u32 head = 0; head < e->mk.walk.n; head++) {
        mk_place at = e->mk.walk.at[head];
        if (e->mk.walk.n > MAX_SPELT || found->listed != was_listed) return true;
        if (!spell(e, at.node, at.config, found, &spelt)) return false;
        if (!spelt) return true;
    }
    return *done = true;
}
