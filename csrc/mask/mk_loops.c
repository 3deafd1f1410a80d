/* Slices that are learnt: what below a node of the vocabulary's trie is allowed as a whole.
 *
 * Many lexemes repeat a set of bytes: identifiers, digits, base64, comments, text up to a stop. Under way, such an expression is its own
 * derivative by each of these bytes. So where all bytes below a node are among them, all tokens below it stay inside the lexeme, whatever
 * else the configuration may read, and nothing of it has to be walked.
 *
 * Bytes are taken by their kinds, as in shapes (vocab/vb_shapes.c): of each node of the trie a word says which are below it, of each
 * expression one says by which it is not changed. That is found out kind by kind as walks ask for it, for one expression of each lexer
 * state.
 *
 * Within strings a character beyond ASCII is several states. Where all tokens below a node are plain, and it is no part of a character,
 * they stay inside what any plain text leaves alive, or what only other text than can be there kills (regex/rx_survive.c). */
#include "mk.h"

enum { MAX_DEPTH = 4 }; /* of the structure that is looked at */

/* May it be its own derivative? Only a guess. */
static bool may_loop(const rx_arena *x, rx_id id, u32 depth) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id);
    if (depth > MAX_DEPTH) return false;
    switch ((rx_kind)node[0]) {
    case RX_ALL: return true;
    case RX_REPEAT: return node[3] == NONE;
    case RX_CONCAT: case RX_QUOTE: return may_loop(x, node[1], depth + 1);
    case RX_AND: case RX_OR:
        for (u32 i = 1; i < n; i++)
            if (may_loop(x, node[i], depth + 1)) return true;
        return false;
    default: return false;
    }
}

/* An expression of a lexer state that may loop; RX_ID_NEVER: none. A lazy lexeme ends where it matches, not as its expression does. */
static rx_id looping_of(ge_engine *e, u32 state) {
    if (!vec_reach(&e->b, &e->mk.looping, state)) return RX_ID_NEVER;
    rx_id *found = &e->mk.looping.at[state];
    for (u32 i = 0; *found == NONE && i < lx_count(&e->lx, state); i++) {
        rx_id expr = lx_rest_at(&e->lx, state, i);
        bool lazy = e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, i)].flags & LX_LAZY;
        if (!lazy && may_loop(&e->lx.x, expr, 0)) *found = expr;
    }
    if (*found == NONE) *found = RX_ID_NEVER;
    return *found;
}

/* Is the expression its own derivative by all bytes of a kind? */
static bool loops_by(ge_engine *e, rx_id expr, u32 kind) {
    const u8 *kind_of = e->v->shapes.kind_of, *begin = memchr(kind_of, (int)kind, 256); /* a kind is a run of bytes */
    u32 last = NONE;
    for (u32 byte = (u32)(begin - kind_of); byte < 256 && kind_of[byte] == kind; byte++) {
        u32 byte_class = e->lx.x.class_of[byte];
        if (byte_class == last) continue;
        if (rx_derive(&e->lx.x, expr, byte) != expr) return false;
        last = byte_class;
    }
    return true;
}

/* Is it by all bytes of these kinds? */
static bool loops_by_all(ge_engine *e, rx_id expr, u64 kinds) {
    u32 index = map_get(&e->mk.loops_of, expr);
    if (index == NONE) {
        index = e->mk.loops.n;
        if (!vec_push(&e->b, &e->mk.loops, ((mk_loops){0, 0})) || !map_put(&e->b, &e->mk.loops_of, expr, index)) return false;
    }
    mk_loops *of = &e->mk.loops.at[index];
    for (u64 ask = kinds & ~of->known; ask && !(kinds & of->known & ~of->kinds); ask &= ask - 1) {
        u64 bit = ask & -ask;
        if (loops_by(e, expr, (u32)__builtin_ctzll(bit))) of->kinds |= bit;
        of->known |= bit;
    }
    return !(kinds & ~of->kinds);
}

bool mk_may_stay(const ge_engine *e) { return !e->g->longest && !e->g->g.has_distinct && !(e->switches & GE_NO_SLICES); }

bool mk_stays_below(ge_engine *e, mk_run run) {
    u64 below = 0;
    u8 bytes = 0, height = 0;
    for (u32 i = run.from; i < run.to; i++) {
        below |= e->v->shapes.below.at[i];
        bytes |= e->v->trie.byte.at[i];
        height = (u8)max_u32(height, e->v->shapes.height.at[i]);
    }
    u64 kinds = below & ~VB_NOT_PLAIN;
    bool is_plain = kinds == below && bytes < 0x80, survives;
    for (u32 i = 0, n = cf_count(e, run.config); i < n; i++) {
        u32 state = cf_alternative_at(e, run.config, i).state >> 1;
        rx_id expr = looping_of(e, state);
        if (expr != RX_ID_NEVER && loops_by_all(e, expr, kinds)) return true;
        if (is_plain && mk_survives_plain(e, state, height == UINT8_MAX ? NONE : height, kinds, &survives) && survives) return true;
    }
    return false;
}
