/* Units: into what an alternative that can read much is taken apart, so that the masks of its parts are found with the vocabulary.
 *
 * With every split, what a row can read in a lexer state is what it can read by one lexeme of the state or by another: a text goes one way.
 * So each lexeme that reads much is a unit by itself, and has its lexeme-internal mask (mk_inner.c) whatever else the grammar allows at
 * that place; the others, which read little, are walked together. lexing="longest" drops matches of one lexeme for longer ones of another,
 * so there lexemes that may begin alike are one unit, of which only the *core* is analysed, those that read much: key words beside a name
 * make a difference (mk.c). (Distinct lexemes ask for the values of their neighbours: there the state is one unit.)
 *
 * Outlines (mk_outline.c) of states with several lexemes are taken apart, too. Rows differ in which key words and operators may come, but
 * the same few lexemes read most of what there is, names behind white space and strings. So each lexeme whose outline is expensive has one
 * by itself, which all rows share.
 *
 * Clamping (regex/rx_clamp.c). No token is longer than some number of bytes, so the units along a counted text are one: bounds that a token
 * and a short end cannot reach are dropped. What the clamped unit can read is what the unit can read, if the bytes of a token and those
 * that are needed to finish the state to which it leads (mk_inner.c finds out) do not reach the bounds. Near them that holds of short
 * tokens only: a *tier* is a length of tokens; the clamped unit decides those up to it, and the longer ones, which are few, are walked. */
#include "mk.h"

enum {
    WIDE = 16,       /* a lexeme is taken to read much if one in so many nodes of the vocabulary is below its first bytes ... */
    SECOND_ALL = 64, /* ... and so many bytes may follow each; where they are fewer, they count for less */
    LARGE = 256,     /* nodes that the outline of a lexeme visits: it is asked for apart from others */
    LITTLE = 24,     /* bytes that a state may begin with: hexadecimal digits, and not letters */
    HEAVY = 4        /* bytes, of which those first bytes have so much of the vocabulary, come first: mostly they decide */
};

/* Adds to *sum what is below the first bytes with so many nodes, [from, to), as far as their second bytes allow; until it is enough. */
static bool weigh(ge_engine *e, rx_id expr, const byte_set *first, const u32 *weight, u32 from, u32 to, u32 enough, u32 *sum) {
    rx_arena *x = &e->lx.x;
    u32 last = NONE, n_second = 0; /* of the class before: mostly the next byte is of the same */
    for (u32 byte = 0; byte < 256 && *sum < enough; byte++) {
        if (!set_has(first, byte) || weight[byte] < from || weight[byte] >= to) continue;
        if (x->class_of[byte] != last) {
            byte_set second;
            last = x->class_of[byte];
            rx_id after = rx_derive(x, expr, x->class_byte[last]);
            if (after == NONE || !rx_first(x, after, &second)) return false;
            n_second = min_u32(set_count(&second), SECOND_ALL);
        }
        *sum += (u32)((u64)weight[byte] * n_second / SECOND_ALL);
    }
    return true;
}

/* Words and the digits of all scripts begin with bytes below which most is dead. So where these would make a lexeme wide, and a text is no
 * other, the second bytes are asked for, too. (Elsewhere a lexeme comes again in other rows, which its analysis serves.) */
static bool is_wide(ge_engine *e, rx_id expr, u32 hub, bool *wide) {
    const u32 *weight = e->v->hubs[hub].weight;
    u32 sum = 0, enough = e->v->trie.byte.n / WIDE, heavy = enough / HEAVY;
    byte_set first;
    if (!rx_first(&e->lx.x, expr, &first)) return false;
    for (u32 k = 0; k < 8; k++)
        for (u32 bits = first.w[k]; bits && sum < enough; bits &= bits - 1) sum += weight[32 * k + (u32)__builtin_ctz(bits)];
    *wide = sum >= enough || (hub == 0 && rx_escapes_any_text(&e->lx.x, expr)); /* it comes with each string of each grammar */
    if (!*wide || !e->is_one_lexeme || !(e->lx.x.meta.at[expr].flags & RX_FIRST_EXACT)) return true;
    bool knows_beyond = false;
    if (hub == 0 && !mk_knows_beyond(e, expr, &knows_beyond)) return false;
    if (knows_beyond) memset(first.w + 4, 0, 4 * sizeof *first.w);
    sum = 0;
    if (!weigh(e, expr, &first, weight, heavy, NONE, enough, &sum) || !weigh(e, expr, &first, weight, 1, heavy, enough, &sum)) return false;
    *wide = sum >= enough;
    return true;
}

/* An expression whose strings begin as those of this one. Where a text is one lexeme no more is asked of it, so that it matters no more how
 * many characters must still come. (A lazy lexeme ends where it matches.) */
static rx_id beginnings(ge_engine *e, u32 lexeme, rx_id expr) {
    bool is_lazy = e->lx.lexemes.at[lexeme].flags & LX_LAZY;
    return is_lazy || e->switches & GE_NO_CLAMPING ? expr : rx_without_minimum(&e->lx.x, expr);
}

/* The state of the pairs (lexeme, expression) of a state with a chosen mark. NONE: failure; LX_DEAD: there are none. */
static u32 marked(ge_engine *e, u32 state, const u32 *marks, u32 chosen) {
    id_vec pairs = {0};
    bool ok = true;
    for (u32 i = 0, n = lx_count(&e->lx, state); ok && i < n; i++) {
        const u32 *pair = intern_words(&e->lx.states, state) + 2 * i;
        ok = marks[i] != chosen || (vec_push(&e->b, &pairs, pair[0]) && vec_push(&e->b, &pairs, pair[1]));
    }
    u32 part = !ok ? NONE : pairs.n ? lx_state_of(&e->lx, pairs.at, pairs.n / 2) : LX_DEAD;
    vec_drop(&e->b, &pairs);
    return part;
}

/* lexing="longest": a lexeme that reads much is a unit together with all that
 * may begin like it or like one of these. So no text begins in two parts. */
static bool split_longest(ge_engine *e, u32 state, u32 hub, mk_parts *parts) {
    u32 n = lx_count(&e->lx, state);
    VEC(byte_set) firsts = {0};
    id_vec marks = {0}; /* number of the unit, or MK_UNITS: none */
    bool ok = true, is = false;
    for (u32 i = 0; ok && i < n; i++) {
        byte_set first;
        ok = rx_first(&e->lx.x, lx_rest_at(&e->lx, state, i), &first) && vec_push(&e->b, &firsts, first);
        ok = ok && vec_push(&e->b, &marks, MK_UNITS);
    }
    for (u32 i = 0; ok && i < n && parts->n < MK_UNITS; i++) {
        if (marks.at[i] != MK_UNITS || !(ok = is_wide(e, lx_rest_at(&e->lx, state, i), hub, &is)) || !is) continue;
        byte_set all = firsts.at[i];
        marks.at[i] = parts->n;
        for (bool grown = true; grown;) {
            grown = false;
            for (u32 k = 0; k < n; k++) {
                if (marks.at[k] != MK_UNITS || !set_meets(&all, &firsts.at[k])) continue;
                marks.at[k] = parts->n;
                set_unite(&all, &firsts.at[k]);
                grown = true;
            }
        }
        parts->n++;
    }
    for (u32 k = 0; ok && k < parts->n; k++) ok = (parts->unit[k] = marked(e, state, marks.at, k)) != NONE;
    if (ok) ok = (parts->rest = marked(e, state, marks.at, MK_UNITS)) != NONE;
    vec_drop(&e->b, &firsts);
    vec_drop(&e->b, &marks);
    return ok;
}

static bool is_lexeme_of(const ge_engine *e, u32 state, u32 lexeme) {
    bool has = false;
    for (u32 i = 0, n = state == LX_DEAD ? 0 : lx_count(&e->lx, state); i < n && !has; i++) has = lx_lexeme_at(&e->lx, state, i) == lexeme;
    return has;
}

u32 mk_core(ge_engine *e, u32 state, u32 hub, u32 rest) {
    id_vec pairs = {0};
    bool ok = true, is;
    for (u32 i = 0, n = lx_count(&e->lx, state); ok && i < n; i++) {
        const u32 *pair = intern_words(&e->lx.states, state) + 2 * i;
        u32 lexeme = pair[0], expr = pair[1];
        if (!(is = is_lexeme_of(e, rest, lexeme))) ok = is_wide(e, expr, hub, &is);
        if (ok && is) ok = vec_push(&e->b, &pairs, lexeme) && vec_push(&e->b, &pairs, expr);
    }
    u32 core = ok ? lx_state_of(&e->lx, pairs.at, pairs.n / 2) : NONE;
    vec_drop(&e->b, &pairs);
    return core;
}

/* *wide = false: the state reads few bytes, digits say, and its lexeme has an
 * automaton. So even where the vocabulary is so small that these are much of it. */
static bool is_for_automaton(ge_engine *e, u32 state, bool *wide) {
    const byte_set *first = lx_first(&e->lx, state);
    bool has = false;
    if (!first) return false;
    bool beyond = first->w[4] | first->w[5] | first->w[6] | first->w[7]; /* as strings do */
    if (!beyond && set_count(first) <= LITTLE && mk_may_share(e) && !mk_has_automaton(e, state, &has)) return false;
    *wide = !has;
    return true;
}

/* A state of one lexeme is a unit, or the rest, as it is. */
static bool split_single(ge_engine *e, u32 state, u32 hub, mk_parts *parts) {
    bool wide;
    if (!is_wide(e, lx_rest_at(&e->lx, state, 0), hub, &wide) || (wide && hub == 0 && !is_for_automaton(e, state, &wide))) return false;
    if (wide) parts->unit[parts->n++] = state;
    else parts->rest = state;
    return true;
}

static bool split_state(ge_engine *e, u32 state, u32 hub, mk_parts *parts) {
    u32 n = lx_count(&e->lx, state);
    id_vec wide = {0}, narrow = {0}; /* pairs (lexeme, regex) */
    bool ok = true;
    parts->n = 0;
    parts->rest = LX_DEAD;
    if (e->g->longest) return split_longest(e, state, hub, parts);
    if (n == 1 && !e->is_one_lexeme) return split_single(e, state, hub, parts);
    for (u32 i = 0; ok && i < n; i++) {
        const u32 *pair = intern_words(&e->lx.states, state) + 2 * i;
        u32 lexeme = pair[0], expr = pair[1];
        bool is = false;
        ok = is_wide(e, expr, hub, &is);
        id_vec *to = is ? &wide : &narrow;
        if (ok && is && e->is_one_lexeme) ok = (expr = beginnings(e, lexeme, expr)) != NONE;
        ok = ok && vec_push(&e->b, to, lexeme) && vec_push(&e->b, to, expr);
    }
    bool whole = e->g->g.has_distinct || wide.n > 2 * MK_UNITS;
    if (ok && whole && wide.n) {
        parts->unit[parts->n++] = state;
    } else if (ok) {
        for (u32 i = 0; ok && i < wide.n; i += 2) ok = (parts->unit[parts->n++] = lx_state_of(&e->lx, wide.at + i, 1)) != NONE;
        if (ok && narrow.n) ok = (parts->rest = lx_state_of(&e->lx, narrow.at, narrow.n / 2)) != NONE;
    }
    vec_drop(&e->b, &wide);
    vec_drop(&e->b, &narrow);
    return ok;
}

/* Lexer states recur in other rows. Where a text is one lexeme, no state comes to a mask twice, and what is known of others changes. */
bool mk_split(ge_engine *e, u32 state, u32 hub, mk_parts *parts) {
    u64 key = (u64)state * VB_HUBS + hub;
    bool keeps = !e->is_one_lexeme && !(e->switches & GE_NO_STATE_CACHE);
    u32 known = keeps ? map_get(&e->mk.parts_of, key) : NONE;
    if (known != NONE) return *parts = e->mk.parts.at[known], true;
    if (!split_state(e, state, hub, parts)) return false;
    if (!keeps) return true;
    return vec_push(&e->b, &e->mk.parts, *parts) && map_put(&e->b, &e->mk.parts_of, key, e->mk.parts.n - 1);
}

enum { READS_UNKNOWN, READS_LITTLE, READS_MORE, READS_MUCH }; /* READS_UNKNOWN in e->mk.reads: it is not wide, or was not asked */

/* *reads = what is known of a lexeme from its first bytes. */
static bool ask_first(ge_engine *e, u32 lexeme, u8 *reads) {
    bool wide = false;
    while (e->mk.reads.n <= lexeme)
        if (!vec_push(&e->b, &e->mk.reads, READS_UNKNOWN)) return false;
    *reads = e->mk.reads.at[lexeme];
    if (*reads != READS_UNKNOWN) return true;
    bool skip = e->lx.lexemes.at[lexeme].flags & LX_SKIP; /* it leads back to the row: its outlines would not be those of other rows */
    if (!skip && !is_wide(e, e->lx.lexemes.at[lexeme].expr, 0, &wide)) return false;
    if (skip || wide) e->mk.reads.at[lexeme] = *reads = skip ? READS_LITTLE : READS_MUCH;
    return true;
}

/* The same from its outline, which is made if it may be expensive by first and second bytes. */
static bool ask_outline(ge_engine *e, u32 lexeme, u8 *reads) {
    rx_id expr = e->lx.lexemes.at[lexeme].expr;
    u32 sum = 0;
    byte_set first;
    if (!ask_first(e, lexeme, reads)) return false;
    if (*reads != READS_UNKNOWN) return true;
    if (!rx_first(&e->lx.x, expr, &first) || !weigh(e, expr, &first, e->v->hubs[0].weight, 1, NONE, LARGE, &sum)) return false;
    *reads = READS_LITTLE;
    if (sum >= LARGE) {
        u64 before = e->stats.trie_nodes;
        u32 single = lx_state_of(&e->lx, (u32[]){lexeme, expr}, 1);
        if (single == NONE || mk_outline_of_state(e, single) == NONE) return false;
        if (e->stats.trie_nodes - before >= LARGE) *reads = READS_MORE;
    }
    e->mk.reads.at[lexeme] = *reads;
    return true;
}

/* The i-th lexeme of a state, if it begins there; else NONE. */
static u32 beginning_at(const ge_engine *e, u32 state, u32 i) {
    const u32 *pair = intern_words(&e->lx.states, state) + 2 * i;
    return pair[1] == e->lx.lexemes.at[pair[0]].expr ? pair[0] : NONE;
}

/* Appends [ n | states ... ] */
static bool take_apart(ge_engine *e, u32 state) {
    id_vec rest = {0};
    u32 at = e->mk.apart.n, n = lx_count(&e->lx, state);
    bool ok = vec_push(&e->b, &e->mk.apart, 0);
    for (u32 i = 0; ok && i < n; i++) {
        u32 lexeme = n > 1 ? beginning_at(e, state, i) : NONE, single = NONE;
        u8 reads = READS_LITTLE;
        ok = lexeme == NONE || ask_outline(e, lexeme, &reads);
        const u32 *pair = intern_words(&e->lx.states, state) + 2 * i, pushed[2] = {pair[0], pair[1]};
        if (ok && reads == READS_LITTLE) ok = vec_push(&e->b, &rest, pushed[0]) && vec_push(&e->b, &rest, pushed[1]);
        else if (ok) ok = (single = lx_state_of(&e->lx, pushed, 1)) != NONE && vec_push(&e->b, &e->mk.apart, single);
    }
    if (ok && rest.n) {
        u32 others = lx_state_of(&e->lx, rest.at, rest.n / 2);
        ok = others != NONE && vec_push(&e->b, &e->mk.apart, others);
    }
    if (ok) e->mk.apart.at[at] = e->mk.apart.n - at - 1;
    else e->mk.apart.n = at;
    vec_drop(&e->b, &rest);
    return ok;
}

bool mk_apart(ge_engine *e, u32 state, const u32 **states, u32 *n) {
    if (!vec_reach(&e->b, &e->mk.apart_at, state)) return false;
    u32 at = e->mk.apart_at.at[state];
    if (at == NONE) {
        at = e->mk.apart.n;
        if (!take_apart(e, state) || !vec_reach(&e->b, &e->mk.apart_at, state)) return false;
        e->mk.apart_at.at[state] = at;
    }
    *n = e->mk.apart.at[at];
    *states = e->mk.apart.at + at + 1;
    return true;
}

bool mk_has_wide(ge_engine *e, u32 state, bool *answer) {
    *answer = false;
    for (u32 i = 0, n = lx_count(&e->lx, state); i < n && n > 1 && !*answer; i++) {
        u32 lexeme = beginning_at(e, state, i);
        u8 reads;
        if (lexeme == NONE) continue;
        if (!ask_first(e, lexeme, &reads)) return false;
        *answer = reads == READS_MUCH;
    }
    return true;
}

u32 mk_clamp(ge_engine *e, u32 unit, u32 n_bytes) {
    id_vec pairs = {0};
    bool ok = true;
    for (u32 i = 0, n = lx_count(&e->lx, unit); ok && i < n; i++) {
        u32 lexeme = lx_lexeme_at(&e->lx, unit, i);
        rx_id expr = rx_clamp(&e->lx.x, lx_rest_at(&e->lx, unit, i), n_bytes);
        ok = expr != NONE && vec_push(&e->b, &pairs, lexeme) && vec_push(&e->b, &pairs, expr);
    }
    u32 clamped = ok ? lx_state_of(&e->lx, pairs.at, pairs.n / 2) : NONE;
    vec_drop(&e->b, &pairs);
    return clamped;
}

void mk_drop_parts(ge_engine *e) {
    map_drop(&e->b, &e->mk.parts_of);
    vec_drop(&e->b, &e->mk.parts);
    vec_drop(&e->b, &e->mk.apart_at);
    vec_drop(&e->b, &e->mk.apart);
    vec_drop(&e->b, &e->mk.reads);
}
