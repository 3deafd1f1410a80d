/* Languages with conditions on the text around them: exact ^ $ \A \Z \b \B anywhere in a pattern. Stage 3 of 7.
 *
 * Idea. A derivative sees the text from left to right and knows nothing of what was before, so an anchor is no expression. But what an
 * anchor asks for is a *condition* on the text before or after it, and there are few of them (RX_ANY ... RX_EDGE). A part of a pattern
 * is therefore a family of languages, one for each pair of conditions:
 *
 *     at[a][b] = strings that the part matches if a holds of all text before them and b of all text after them
 *
 *     "x"       at[ANY][ANY]    = x
 *     ^         at[EDGE][ANY]   = ""
 *     $ (ECMA)  at[ANY][EDGE]   = ""        $ (Python)  at[ANY][FINAL] = ""
 *     \b        at[WORD][OTHER] = at[OTHER][WORD] = ""
 *
 * In a sequence st the text before t ends with s, so the condition a on the text before t becomes one on s, if s is not empty, or one
 * on what is before s, if it is. The same for the condition on the text after s. Parts without anchors have at[ANY][ANY] only and are
 * plain expressions; the parser calls this file for the others.
 *
 * Such a condition on s is worked into the expression: s is restricted to what ends with a word character, say, by going down its last
 * parts (restrict_end). No intersection with "ends with a word character" is left, which would cost the states of two automata.
 *
 * Invariant: every language here is a set of valid UTF-8 texts.
 *
 * Limits. Any number of ^ and $ (not in MULTI_LINE) can be repeated with any bounds; other conditions are counted up to MAX_COPIES. */
#include "rx_parse.h"

#define MAX_COPIES 100

void rx_ways_clear(rx_ways *w) {
    for (u32 a = 0; a < RX_N_CONDITIONS; a++)
        for (u32 b = 0; b < RX_N_CONDITIONS; b++) w->at[a][b] = RX_ID_NEVER;
}

bool rx_ways_add(rx_context *c, rx_ways *w, u32 a, u32 b, rx_id id) {
    if (a == NONE || b == NONE || id == RX_ID_NEVER) return true;
    if (w->at[a][b] == RX_ID_NEVER) w->at[a][b] = id;
    else w->at[a][b] = rx_or2(c->x, w->at[a][b], id);
    return w->at[a][b] != NONE;
}

u32 rx_meet(u32 a, u32 b) {
    if (a == b || b == RX_ANY) return a;
    if (a == RX_ANY) return b;
    u32 low = min_u32(a, b), high = max_u32(a, b);
    if (high == RX_MARK) return low == RX_OTHER ? high : NONE;
    if (high == RX_LINE_END) return low == RX_OTHER || low == RX_LINE ? high : NONE;
    return low == RX_WORD ? NONE : high;
}

/* What must hold of the text after y if b holds of y and the text after it, and own of the text after y; y is not empty and begins as b
 * asks for. FINAL leaves nothing after "\n". */
static u32 beyond(u32 b, u32 own) { return b == RX_FINAL ? rx_meet(own, RX_EDGE) : own; }

static u32 less(u32 bound, u32 by) { return bound == NONE ? NONE : bound > by ? bound - by : 0; }

/* --- restriction by the first or the last character -------------------------------------------------------------------- */

/* A language of texts as a sequence of parts [ e1 | e2 | ... | ek ]: walked along the tails of CONCAT. A part is a byte set, or any
 * other expression; a character of several bytes is several parts, of which only the first begins a character. */
static rx_id head_of(const rx_arena *x, rx_id id) { return rx_kind_of(x, id) == RX_CONCAT ? intern_words(&x->nodes, id)[1] : id; }
static rx_id tail_of(const rx_arena *x, rx_id id) { return rx_kind_of(x, id) == RX_CONCAT ? intern_words(&x->nodes, id)[2] : RX_ID_EMPTY; }

/* Does the part begin with the first byte of a character? All its strings do, or none, as the whole is valid UTF-8. */
static bool begins_character(const rx_arena *x, rx_id id) {
    for (;;) {
        const u32 *node = intern_words(&x->nodes, id);
        switch ((rx_kind)node[0]) {
        case RX_SET: {
            const byte_set *set = rx_set_of(x, node[1]);
            return (set->w[4] | set->w[5]) == 0; /* 0x80 .. 0xbf */
        }
        case RX_CONCAT:
        case RX_REPEAT: id = node[1]; break;
        case RX_OR: id = node[1] == RX_ID_EMPTY ? node[2] : node[1]; break;
        default: return true; /* an AND is of texts */
        }
    }
}

/* The character class that a condition is about, and its complement. */
static void classes_of(const rx_context *c, u32 condition, rx_id *wanted, rx_id *unwanted) {
    *wanted = condition == RX_MARK ? c->mark : condition == RX_WORD ? c->word : condition == RX_OTHER ? c->other : c->line;
    *unwanted = condition == RX_MARK ? c->no_mark : condition == RX_WORD ? c->other : condition == RX_OTHER ? c->word : c->no_line;
}

/* Those of `one`, a set of single characters, that the condition wants; `one` itself if all. */
static rx_id characters_in(rx_context *c, rx_id one, u32 condition) {
    rx_arena *x = c->x;
    rx_id wanted, unwanted;
    classes_of(c, condition, &wanted, &unwanted);
    rx_id some = rx_and(x, (rx_id[]){one, wanted}, 2), others = rx_and(x, (rx_id[]){one, unwanted}, 2);
    if (some == NONE || others == NONE) return NONE;
    bool none = rx_is_empty(x, some), all = !none && rx_is_empty(x, others); /* at most four bytes deep */
    if (x->b->status != GE_OK) return NONE;
    return none ? RX_ID_NEVER : all ? one : some;
}

static bool in_bytes(const rx_arena *x, rx_id id, u32 first, u32 last) { /* a set of bytes from 32 * first up to 32 * last + 31 */
    if (rx_kind_of(x, id) != RX_SET) return false;
    const byte_set *set = rx_set_of(x, intern_words(&x->nodes, id)[1]);
    for (u32 w = 0; w < 8; w++)
        if ((w < first || w > last) && set->w[w]) return false;
    return true;
}

/* Is each string of id one character (`rest`: what follows the first byte of one)? False: not seen to be. At most 4 levels deep, but for
 * OR below OR, which there is not. */
static bool is_character(rx_arena *x, rx_id id, bool rest) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id);
    switch ((rx_kind)node[0]) {
    case RX_SET: return rest ? in_bytes(x, id, 4, 5) : in_bytes(x, id, 0, 3);
    case RX_OR:
        for (u32 i = 1; i < n; i++)
            if (!is_character(x, node[i], rest)) return false;
        return true;
    case RX_CONCAT: return (rest ? in_bytes(x, node[1], 4, 5) : in_bytes(x, node[1], 6, 7)) && is_character(x, node[2], true);
    case RX_AND: return !rest && rx_count_chars(x, id).least == 1 && rx_count_chars(x, id).most == 1;
    default: return false;
    }
}

static rx_id restrict_part(rx_context *c, rx_id id, u32 condition, bool at_end);

/* Of several parts of which only the first begins a character. If that is not one character, a trie of literals with a common first
 * byte is among them, b (p | q) r, and b p r | b q r is looked at instead. */
static rx_id restrict_bytes(rx_context *c, const rx_id *parts, u32 n, u32 condition, bool at_end) {
    rx_arena *x = c->x;
    rx_id one = RX_ID_EMPTY, result = RX_ID_NEVER;
    u32 split = 0;
    for (u32 i = n; i > 0 && one != NONE; i--) {
        one = rx_concat(x, parts[i - 1], one);
        if (rx_kind_of(x, parts[i - 1]) == RX_OR) split = i - 1;
    }
    if (one == NONE) return NONE;
    if (is_character(x, one, false) || split == 0) return characters_in(c, one, condition);
    u32 n_arms = intern_length(&x->nodes, parts[split]) - 1;
    for (u32 k = 0; k < n_arms; k++) {
        rx_id arm = intern_words(&x->nodes, parts[split])[1 + k];
        for (u32 i = split + 1; i < n && arm != NONE; i++) arm = rx_concat(x, arm, parts[i]);
        for (u32 i = split; i > 0 && arm != NONE; i--) arm = rx_concat(x, parts[i - 1], arm);
        if (arm == NONE || (arm = restrict_part(c, arm, condition, at_end)) == NONE) return NONE;
        if ((result = rx_or2(x, result, arm)) == NONE) return NONE;
    }
    return result;
}

/* Of an OR, a REPEAT, an AND or a set of single characters. Recursion is as deep as expressions are nested, which rx.h bounds. */
static rx_id restrict_one(rx_context *c, rx_id id, u32 condition, bool at_end) {
    rx_arena *x = c->x;
    const u32 *node = intern_words(&x->nodes, id);
    if (node[0] == RX_OR && !is_character(x, id, false)) {
        VEC(rx_id) parts = {0};
        u32 n = intern_length(&x->nodes, id) - 1;
        bool ok = true;
        for (u32 i = 0; ok && i < n; i++) {
            rx_id part = restrict_part(c, intern_words(&x->nodes, id)[1 + i], condition, at_end);
            ok = part != NONE && vec_push(x->b, &parts, part);
        }
        rx_id all = ok ? rx_or(x, parts.at, parts.n) : NONE;
        vec_drop(x->b, &parts);
        return all;
    }
    if (node[0] == RX_AND && !is_character(x, id, false)) { /* of a look-around */
        rx_id wanted, unwanted;
        classes_of(c, condition, &wanted, &unwanted);
        rx_id text = rx_text(x);
        return rx_and(x, (rx_id[]){id, at_end ? rx_concat(x, text, wanted) : rx_concat(x, wanted, text)}, 2);
    }
    if (node[0] != RX_REPEAT) return characters_in(c, id, condition);
    /* The first (last) repetition that is not "" decides; if there can be "" among them, any number of those may be left out. */
    rx_id part = node[1];
    u32 low = rx_nullable(x, part) ? 0 : less(node[2], 1), high = less(node[3], 1);
    rx_id chosen = restrict_part(c, part, condition, at_end), others = rx_repeat(x, part, low, high);
    return at_end ? rx_concat(x, others, chosen) : rx_concat(x, chosen, others);
}

/* What begins as wanted: its first part does, or the next where that is "", and so on. */
static rx_id restrict_begin(rx_context *c, rx_id id, u32 condition) {
    rx_arena *x = c->x;
    VEC(rx_id) arms = {0};
    bool ok = true;
    while (ok && id != RX_ID_EMPTY && id != RX_ID_NEVER) {
        rx_id rest = tail_of(x, id), first = head_of(x, id), one;
        u32 n = 1;
        rx_id bytes[4] = {first};
        while (rest != RX_ID_EMPTY && n < 4 && !begins_character(x, head_of(x, rest))) {
            bytes[n++] = head_of(x, rest);
            rest = tail_of(x, rest);
        }
        one = n > 1 ? restrict_bytes(c, bytes, n, condition, false) : restrict_one(c, first, condition, false);
        one = rx_concat(x, one, rest);
        ok = one != NONE && vec_push(x->b, &arms, one);
        if (!rx_nullable(x, first)) break;
        id = rest;
    }
    rx_id result = ok ? rx_or(x, arms.at, arms.n) : NONE;
    vec_drop(x->b, &arms);
    return result;
}

/* What ends as wanted, from the right: end(p t) = p end(t), and also end(p) if t has "". */
static rx_id restrict_end(rx_context *c, rx_id id, u32 condition) {
    rx_arena *x = c->x;
    VEC(rx_id) parts = {0};
    rx_id result = NONE;
    for (; id != RX_ID_EMPTY && id != RX_ID_NEVER; id = tail_of(x, id))
        if (!vec_push(x->b, &parts, head_of(x, id))) goto done;
    result = RX_ID_NEVER;
    bool at_end = true; /* all that was seen has "" */
    for (u32 end = parts.n, from; end > 0 && result != NONE; end = from) {
        from = end - 1;
        while (from > 0 && !begins_character(x, parts.at[from])) from--;
        rx_id one = RX_ID_NEVER;
        if (at_end && end - from > 1) one = restrict_bytes(c, parts.at + from, end - from, condition, true);
        else if (at_end) one = restrict_one(c, parts.at[from], condition, true);
        at_end = at_end && end - from == 1 && rx_nullable(x, parts.at[from]);
        for (u32 i = end; i > from && result != NONE; i--) result = rx_concat(x, parts.at[i - 1], result);
        if (one != RX_ID_NEVER && result != NONE) result = one == NONE ? NONE : rx_or2(x, result, one);
    }
done:
    vec_drop(x->b, &parts);
    return result;
}

static rx_id restrict_part(rx_context *c, rx_id id, u32 condition, bool at_end) {
    u64 key = (u64)id << 8 | condition << 1 | (at_end ? 1 : 0);
    rx_id known = map_get(&c->restricted, key);
    if (known != NONE) return known;
    rx_id result = at_end ? restrict_end(c, id, condition) : restrict_begin(c, id, condition);
    return result != NONE && map_put(c->x->b, &c->restricted, key, result) ? result : NONE;
}

/* y restricted so that b holds of what comes before it: all of y if b is ANY, else strings that are not "". */
static rx_id begins(rx_context *c, rx_id y, u32 b) {
    if (b == RX_ANY) return y;
    if (b == RX_EDGE) return RX_ID_NEVER;
    if (b != RX_FINAL) return restrict_part(c, y, b, false);
    rx_id rest = rx_derive(c->x, y, '\n');
    return rest == NONE ? NONE : rx_nullable(c->x, rest) ? rx_byte(c->x, '\n') : RX_ID_NEVER;
}

rx_id rx_ends(rx_context *c, rx_id s, u32 a) {
    if (a == RX_ANY) return s;
    return a == RX_EDGE ? RX_ID_NEVER : restrict_part(c, s, a, true);
}

/* --- sequences -------------------------------------------------------------------------------------------------------- */

/* Adds the sequences of an s in at[a1][b1] and a t in at[a2][b2]. By cases on which of them is "":
 *
 *     s = ""  t = ""    a1 & a2 hold before, b1 & b2 after
 *     s = ""  t != ""   a1 & a2 hold before; t begins as b1 asks for; b2 holds after
 *     s != "" t = ""    a1 holds before; s ends as a2 asks for; b1 & b2 hold after
 *     s != "" t != ""   a1 holds before; s ends as a2 asks for, t begins as b1 asks for; b2 holds after
 *
 * Where a2 (or b1) is ANY it asks for nothing, and the cases for s (for t) are one. */
static bool add_pair(rx_context *c, rx_ways *out, u32 a1, u32 b1, rx_id s, u32 a2, u32 b2, rx_id t) {
    rx_arena *x = c->x;
    if (a2 == RX_ANY && b1 == RX_ANY) return rx_ways_add(c, out, a1, b2, rx_concat(x, s, t));
    rx_id s_end = rx_ends(c, s, a2), t_begin = begins(c, t, b1);
    if (s_end == NONE || t_begin == NONE) return false;
    bool ok = rx_ways_add(c, out, a1, beyond(b1, b2), rx_concat(x, s_end, t_begin));
    if (ok && a2 != RX_ANY && rx_nullable(x, s)) ok = rx_ways_add(c, out, rx_meet(a1, a2), beyond(b1, b2), t_begin);
    if (ok && b1 != RX_ANY && rx_nullable(x, t)) ok = rx_ways_add(c, out, a1, rx_meet(b1, b2), s_end);
    if (ok && a2 != RX_ANY && b1 != RX_ANY && rx_nullable(x, s) && rx_nullable(x, t))
        ok = rx_ways_add(c, out, rx_meet(a1, a2), rx_meet(b1, b2), RX_ID_EMPTY);
    return ok;
}

/* The loops below visit 36 or 36 * 36 cells, nearly all of them NEVER. */
#define FOR_CELLS(a, b)                          \
    for (u32 a = 0; a < RX_N_CONDITIONS; a++)    \
        for (u32 b = 0; b < RX_N_CONDITIONS; b++)

bool rx_ways_concat(rx_context *c, const rx_ways *left, const rx_ways *right, rx_ways *out) {
    rx_ways result; /* out may be one of the operands */
    rx_ways_clear(&result);
    FOR_CELLS(a1, b1) {
        if (left->at[a1][b1] == RX_ID_NEVER) continue;
        FOR_CELLS(a2, b2) {
            if (right->at[a2][b2] == RX_ID_NEVER) continue;
            if (!add_pair(c, &result, a1, b1, left->at[a1][b1], a2, b2, right->at[a2][b2])) return false;
        }
    }
    *out = result;
    return true;
}

/* --- repetition ------------------------------------------------------------------------------------------------------- */

/* w{low,high}, high >= 1, where all conditions are ANY or EDGE. With L = at[ANY][ANY], S = at[EDGE][ANY], E = at[ANY][EDGE],
 * B = at[EDGE][EDGE], each iteration is one of the four:
 *
 *   - Only L: L{low,high}.
 *   - Some S, no E, no B. Let the last S be iteration p: all before it is "" (each from L or S), after it come L. With p = 1 that is
 *     S L{low-1,high-1}. If "" is in L or S, p may be anything, and the union of S L{low-p,high-p} over p is S L{0,high-1}: the
 *     intervals move by one, so they leave no gap.
 *   - Some E: the mirror image, L{.,high-1} E.
 *   - S before E: S L{low-2,high-2} E, and the lower bound is 0 if an iteration that is "" can be put in: from L anywhere, from S
 *     before, from E after. (An E before an S means that all text is "": contained in the next case if anything is.)
 *   - B: all other iterations are "". Those from S stand before it, from E after it, from L anywhere: then B is the result whatever
 *     low is. If only B itself has "", the others force all text to be "": the result is "" (B if low <= 1).
 * All iterations "" with an S and an E among them: "" is in S L{0,high-2} E, as high >= 2 then. */
static bool repeat_edges(rx_context *c, const rx_ways *w, u32 low, u32 high, rx_ways *out) {
    rx_arena *x = c->x;
    rx_id L = w->at[RX_ANY][RX_ANY], S = w->at[RX_EDGE][RX_ANY], E = w->at[RX_ANY][RX_EDGE], B = w->at[RX_EDGE][RX_EDGE];
    bool pad_start = rx_nullable(x, L) || rx_nullable(x, S), pad_end = rx_nullable(x, L) || rx_nullable(x, E);
    bool pad = pad_start || pad_end;
    rx_ways result;
    rx_ways_clear(&result);
    bool ok = rx_ways_add(c, &result, RX_ANY, RX_ANY, rx_repeat(x, L, low, high));
    rx_id after = rx_repeat(x, L, pad_start ? 0 : less(low, 1), less(high, 1));
    rx_id before = rx_repeat(x, L, pad_end ? 0 : less(low, 1), less(high, 1));
    ok = ok && rx_ways_add(c, &result, RX_EDGE, RX_ANY, rx_concat(x, S, after));
    ok = ok && rx_ways_add(c, &result, RX_ANY, RX_EDGE, rx_concat(x, before, E));
    if (high > 1) {
        rx_id middle = rx_repeat(x, L, pad ? 0 : less(low, 2), less(high, 2));
        ok = ok && rx_ways_add(c, &result, RX_EDGE, RX_EDGE, rx_concat(x, S, rx_concat(x, middle, E)));
    }
    if (low <= 1 || pad) ok = ok && rx_ways_add(c, &result, RX_EDGE, RX_EDGE, B);
    else if (rx_nullable(x, B)) ok = ok && rx_ways_add(c, &result, RX_EDGE, RX_EDGE, RX_ID_EMPTY);
    *out = result;
    return ok;
}

/* A junction is the point between two iterations: b is asked for by the one before it, a by the one after it. */
#define N_JUNCTIONS (RX_N_CONDITIONS * RX_N_CONDITIONS)

static u32 junction(u32 b, u32 a) { return b * RX_N_CONDITIONS + a; }

static bool add_id(rx_arena *x, rx_id *to, rx_id id) {
    *to = *to == RX_ID_NEVER ? id : id == RX_ID_NEVER ? *to : rx_or2(x, *to, id);
    return *to != NONE;
}

/* How repetitions of some ways may follow each other. */
typedef struct iterations {
    bool asked_before[RX_N_CONDITIONS], asked_after[RX_N_CONDITIONS]; /* by some way */
    rx_id between[N_JUNCTIONS][N_JUNCTIONS];                         /* what leads from one junction to another */
    bool used[N_JUNCTIONS];                                          /* some step begins or ends there */
} iterations;

/* One iteration: an s in at[a][b1] that begins as b asks for leads from (b, a) to (beyond(b, b1), a1) for each a1 such that s ends as a1
 * asks for. */
static bool find_steps(rx_context *c, const rx_ways *w, iterations *it) {
    memset(it, 0, sizeof *it);
    for (u32 i = 0; i < N_JUNCTIONS; i++)
        for (u32 j = 0; j < N_JUNCTIONS; j++) it->between[i][j] = RX_ID_NEVER;
    FOR_CELLS(a, b)
        if (w->at[a][b] != RX_ID_NEVER) it->asked_before[a] = it->asked_after[b] = true;
    FOR_CELLS(a, b) { /* nothing follows beyond FINAL, so that the EDGE it leads to needs no step */
        if (w->at[a][b] == RX_ID_NEVER) continue;
        for (u32 before = 0; before < RX_N_CONDITIONS; before++) {
            rx_id s = it->asked_after[before] ? begins(c, w->at[a][b], before) : RX_ID_NEVER;
            if (s == NONE) return false;
            u32 after = beyond(before, b);
            for (u32 next = 0; s != RX_ID_NEVER && after != NONE && next < RX_N_CONDITIONS; next++) {
                if (!it->asked_before[next]) continue;
                rx_id step = rx_ends(c, s, next);
                if (step == NONE || !add_id(c->x, &it->between[junction(before, a)][junction(after, next)], step)) return false;
                if (step != RX_ID_NEVER) it->used[junction(before, a)] = it->used[junction(after, next)] = true;
            }
        }
    }
    return true;
}

/* One iteration -> one or more (Kleene's construction). */
static bool close_steps(rx_arena *x, iterations *it) {
    for (u32 k = 0; k < N_JUNCTIONS; k++) {
        if (!it->used[k]) continue;
        rx_id loop = rx_repeat(x, it->between[k][k], 0, NONE);
        rx_id from[N_JUNCTIONS], to[N_JUNCTIONS];
        for (u32 i = 0; i < N_JUNCTIONS; i++) from[i] = it->between[i][k], to[i] = it->between[k][i];
        for (u32 i = 0; i < N_JUNCTIONS; i++)
            for (u32 j = 0; j < N_JUNCTIONS; j++) {
                if (from[i] == RX_ID_NEVER || to[j] == RX_ID_NEVER) continue;
                if (!add_id(x, &it->between[i][j], rx_concat(x, from[i], rx_concat(x, loop, to[j])))) return false;
            }
    }
    return true;
}

/* w*, for any conditions. Iterations walk through a finite automaton whose states are junctions; what leads from one to another is found,
 * and then a first iteration goes in front of it and a last one behind. Iterations that are "" need not be followed: they only add
 * conditions (and where nothing is asked for they do no harm). */
static bool star_any(rx_context *c, const rx_ways *w, rx_ways *out) {
    rx_arena *x = c->x;
    iterations it;
    rx_ways result = *w;
    if (!rx_ways_add(c, &result, RX_ANY, RX_ANY, RX_ID_EMPTY) || !find_steps(c, w, &it) || !close_steps(x, &it)) return false;
    /* First iteration in at[a][b], up to junction (b, n); then zero or more up to (d, m); then the last in at[m][e]. */
    FOR_CELLS(a, b) {
        if (w->at[a][b] == RX_ID_NEVER) continue;
        for (u32 n = 0; n < RX_N_CONDITIONS; n++) {
            rx_id first = it.asked_before[n] ? rx_ends(c, w->at[a][b], n) : RX_ID_NEVER;
            if (first == NONE) return false;
            if (first == RX_ID_NEVER) continue;
            FOR_CELLS(d, m) {
                if (!it.asked_after[d] && d != RX_EDGE) continue;
                rx_id way = it.between[junction(b, n)][junction(d, m)];
                if (junction(b, n) == junction(d, m) && !add_id(x, &way, RX_ID_EMPTY)) return false;
                if (way == RX_ID_NEVER) continue;
                way = rx_concat(x, first, way);
                for (u32 e = 0; e < RX_N_CONDITIONS; e++) {
                    rx_id last = begins(c, w->at[m][e], d);
                    if (last == NONE || !rx_ways_add(c, &result, a, beyond(d, e), rx_concat(x, way, last))) return false;
                }
            }
        }
    }
    *out = result;
    return true;
}

bool rx_ways_repeat(rx_context *c, const rx_ways *w, u32 low, u32 high, rx_ways *out, bool *refused) {
    *refused = false;
    bool edges = true;
    FOR_CELLS(a, b)
        if (w->at[a][b] != RX_ID_NEVER) edges = edges && (a == RX_ANY || a == RX_EDGE) && (b == RX_ANY || b == RX_EDGE);
    rx_ways result, part = *w;
    rx_ways_clear(&result);
    if (high == 0) {
        result.at[RX_ANY][RX_ANY] = RX_ID_EMPTY;
        *out = result;
        return true;
    }
    if (edges) return repeat_edges(c, &part, low, high, out);
    if ((high == NONE ? low : high) > MAX_COPIES) {
        *refused = true;
        return false;
    }
    bool ok = true;
    if (high == NONE) ok = star_any(c, &part, &result);
    else result.at[RX_ANY][RX_ANY] = RX_ID_EMPTY;
    for (u32 i = low; ok && high != NONE && i < high; i++) /* (w (w ...)?)? */
        ok = rx_ways_concat(c, &part, &result, &result) && rx_ways_add(c, &result, RX_ANY, RX_ANY, RX_ID_EMPTY);
    for (u32 i = 0; ok && i < low; i++) ok = rx_ways_concat(c, &part, &result, &result);
    *out = result;
    return ok;
}

/* --- the whole pattern ------------------------------------------------------------------------------------------------ */

rx_id rx_ways_full(rx_context *c, const rx_ways *w) {
    rx_id parts[N_JUNCTIONS];
    u32 n = 0;
    FOR_CELLS(a, b)
        if (a != RX_WORD && b != RX_WORD && w->at[a][b] != RX_ID_NEVER) parts[n++] = w->at[a][b]; /* "" has every other condition */
    return rx_or(c->x, parts, n);
}

rx_id rx_around(rx_context *c, u32 condition, bool before) {
    rx_arena *x = c->x;
    rx_id text = rx_text(x), one = RX_ID_NEVER;
    switch (condition) {
    case RX_ANY: return text;
    case RX_WORD: return before ? rx_concat(x, text, c->word) : rx_concat(x, c->word, text);
    case RX_OTHER: one = c->other; break;
    case RX_LINE: one = c->line; break;
    case RX_LINE_END: return rx_concat(x, text, c->line);
    case RX_MARK: return rx_concat(x, text, c->mark);
    case RX_FINAL: return rx_or2(x, RX_ID_EMPTY, rx_byte(x, '\n'));
    default: return RX_ID_EMPTY;
    }
    return rx_or2(x, RX_ID_EMPTY, before ? rx_concat(x, text, one) : rx_concat(x, one, text));
}

rx_id rx_ways_search(rx_context *c, const rx_ways *w) {
    rx_arena *x = c->x;
    rx_id parts[N_JUNCTIONS];
    u32 n = 0;
    rx_id text = rx_text(x);
    if (text == NONE) return NONE;
    FOR_CELLS(a, b) {
        rx_id id = w->at[a][b];
        if (id == RX_ID_NEVER) continue;
        /* s text = text and text s = text if s has "", as all of s is text */
        id = b == RX_ANY && rx_nullable(x, id) ? text : rx_concat(x, id, rx_around(c, b, false));
        if (id == NONE) return NONE;
        id = a == RX_ANY && rx_nullable(x, id) ? text : rx_concat(x, rx_around(c, a, true), id);
        if (id == NONE) return NONE;
        parts[n++] = id;
    }
    return rx_or(x, parts, n);
}
