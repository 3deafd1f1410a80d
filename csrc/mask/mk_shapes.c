/* The analysis of a unit by shapes (vocab/vb_shapes.c): `Hello` and `World` are both `Aaaaa`, and most patterns do not tell them apart.
 *
 * The trie of shapes is gone through level by level, as that of the tokens is in mk_analyse.c; it is a twentieth of it. Where a state takes
 * all bytes of a kind to the same state, so it does with the shape. Where it tells them apart (it is inside a literal, say), the nodes of
 * the tokens that have the shape are walked from there on, together with those of all other such shapes of that level.
 *
 * Strings in other quotes than those of JSON take all plain text but a few marks. There the analysis begins with the slice of plain tokens;
 * shapes are gone through down to where no mark is below and all is plain, and tokens behind a mark are taken back and looked at.
 *
 * Where most tokens stay inside, all are taken to, and those of the others are taken back.
 *
 * Cost: 10 ns a shape, 1 to 3 ns for each token that stays inside (or is taken back), and 6 ns for each node that is walked by itself. */
#include "mk_analysis.h"

enum {
    TOLD_APART = UINT16_MAX - 1,
    AHEAD = 8,    /* members: so far ahead memory is asked for */
    FEW_MARKS = 8 /* kinds, which plain text is to be without if a slice is to be of use */
};

typedef struct shape_walk {
    analysis *a;
    const vb_shapes *shapes;
    u32 max_depth;
    u32 *above;      /* by shape that was walked: its parent */
    an_places p;     /* of shapes */
    an_places nodes; /* of the tokens' trie; n = 0: there is no room yet */
    an_runs runs;    /* ... that are to be walked, all of one depth */
    u8 classes[256]; /* byte classes of the engine, those of one kind side by side */
    u32 from[257];   /* by kind: where they begin */
    u32 n_kinds;
    VEC(u16) next; /* by number and kind: number, AN_UNKNOWN, or TOLD_APART */
    VEC(u64) loops; /* by number: kinds of which it is known that they lead back to it */
    u64 begins;    /* kinds with which characters begin */
    /* of an open unit, by shape that was walked: such kinds on the way to it; what tokens need is in part known by that (vb.h) */
    u8 *chars;
    bool lasting;  /* did the bits begin with all tokens? */
    u64 marks;     /* if the bits began with the plain tokens: kinds of bytes without which these stay inside, and VB_NOT_PLAIN; else 0 */
    u8 *whole;     /* ... by shape that was walked: does that begin without marks, and is something below it for which it is walked? */
} shape_walk;

/* Lists the classes of each kind: a kind is a run of bytes. */
static void list_classes(shape_walk *w) {
    const u8 *class_of = w->a->e->lx.x.class_of, *kind_of = w->shapes->kind_of;
    byte_set seen = {{0}};
    u32 n = 0;
    for (u32 byte = 0; byte < 256; byte++) {
        if (byte == 0 || kind_of[byte] != kind_of[byte - 1]) {
            memset(&seen, 0, sizeof seen);
            w->begins |= (u64)rx_begins_char(byte) << w->n_kinds;
            w->from[w->n_kinds++] = n;
        }
        if (set_has(&seen, class_of[byte])) continue;
        set_add(&seen, class_of[byte]);
        w->classes[n++] = class_of[byte];
    }
    w->from[w->n_kinds] = n;
}

/* Room for what follows by each kind. */
static bool put_row(shape_walk *w, u32 number) {
    budget *b = &w->a->e->b;
    while (w->loops.n <= number)
        if (!vec_push(b, &w->loops, 0)) return false;
    while (w->next.n < w->loops.n * w->n_kinds)
        if (!vec_push(b, &w->next, AN_UNKNOWN)) return false;
    return true;
}

/* Where all bytes of a kind lead, if that is not known yet. NONE: failure, or given up. */
static u32 find_step(shape_walk *w, u32 from, u32 kind) {
    u32 to = AN_UNKNOWN;
    for (u32 i = w->from[kind]; i < w->from[kind + 1] && to != TOLD_APART; i++) {
        u32 other = an_step(w->a, from, w->classes[i]);
        if (other == NONE) return NONE;
        to = i > w->from[kind] && other != to ? TOLD_APART : other;
    }
    if (to != TOLD_APART && !put_row(w, to)) return NONE;
    if (to == from) w->loops.at[from] |= (u64)1 << kind;
    return w->next.at[from * w->n_kinds + kind] = (u16)to;
}

static inline u32 step_kind(shape_walk *w, u32 from, u32 kind) {
    u32 to = w->next.at[from * w->n_kinds + kind];
    return to != AN_UNKNOWN ? to : find_step(w, from, kind);
}

/* The lexer died on the way to a shape of this depth. */
static bool leave_all(shape_walk *w, u32 shape, u32 depth) {
    const vb_shapes *s = w->shapes;
    for (u32 from = shape, to = shape + 1; from < to; from = s->first.at[from], to = s->first.at[to]) {
        u32 begin = s->token_from.at[from], end = s->token_from.at[to];
        if (begin < end && !an_leave(w->a, &w->p, s->tokens.at + begin, end - begin, shape, depth)) return false;
    }
    return true;
}

/* Puts down that the nodes that have a shape of this level are to be walked, and
 * what is below them. What is known above them is what is known above the shape. */
static bool put_members(shape_walk *w, u32 shape) {
    analysis *a = w->a;
    const tt_trie *trie = &a->e->v->trie;
    an_places *p = &w->nodes;
    if (!p->n && !an_begin(a, p, trie->byte.n)) return false;
    const u32 *members = w->shapes->members.at, n = w->shapes->members.n;
    for (u32 i = w->shapes->member_from.at[shape]; i < w->shapes->member_from.at[shape + 1]; i++) {
        u32 node = members[i];
        if (i + 2 * AHEAD < n) { /* most such shapes have few members, and those of their neighbours come next */
            __builtin_prefetch(trie->parent.at + members[i + 2 * AHEAD]);
            __builtin_prefetch(p->at + trie->parent.at[members[i + AHEAD]], 1);
            __builtin_prefetch(p->end + trie->parent.at[members[i + AHEAD]], 1);
        }
        for (u32 above = w->above[shape], at = trie->parent.at[node];; above = w->above[above], at = trie->parent.at[at]) {
            p->at[at] = w->p.at[above];
            p->end[at] = w->p.end[above];
            if (p->begun) p->begun[at] = w->p.begun[above];
            if (!p->end[at]) break; /* nobody looks further up */
        }
        if (!an_put_run(a, p, trie, &w->runs, (an_run){node, node + 1})) return false;
    }
    return true;
}

/* The tokens of a shape stay inside. */
static bool add_inside(shape_walk *w, u32 shape, u32 state, u32 begun) {
    const u32 *tokens = w->shapes->tokens.at, *from = w->shapes->token_from.at + shape;
    u32 *bits = w->a->inner->bits;
    if (w->p.begun) {
        bool begins_so = w->lasting && begun == w->chars[shape] && w->a->least.at[state] == 0;
        return begins_so || an_note_needs(w->a, tokens + from[0], from[1] - from[0], state, begun);
    }
    if (w->lasting) return true;
    for (u32 i = from[0], end = from[1]; i < end; i++) {
        u32 token = tokens[i];
        bits[token >> 5] |= (u32)1 << (token & 31);
    }
    return true;
}

/* The tokens at a shape and below. */
static void take_back(shape_walk *w, u32 shape) {
    const vb_shapes *s = w->shapes;
    u32 *bits = w->a->inner->bits;
    u8 *needs = w->a->inner->needs;
    for (u32 from = shape, to = shape + 1; from < to; from = s->first.at[from], to = s->first.at[to]) {
        const u32 *token = s->tokens.at + s->token_from.at[from], *end = s->tokens.at + s->token_from.at[to];
        for (; needs && token < end; token++) needs[*token] = VB_DEAD;
        for (; token < end; token++) bits[*token >> 5] &= ~((u32)1 << (*token & 31));
    }
}

/* Where all of a shape's kinds lead back to a state, do its tokens stay inside as was taken for granted? */
static bool stays(const shape_walk *w, u32 shape, u32 state, u32 begun) {
    if (!w->lasting) return false;
    return !w->p.begun || (begun == w->chars[shape] && w->a->raw.at[state] && w->a->least.at[state] == 0);
}

/* Is all known of a shape and what is below it? Else what was taken for granted is taken back behind a mark. */
static bool is_settled(shape_walk *w, u32 shape) {
    bool whole = w->whole[w->above[shape]], is_mark = w->marks >> w->shapes->kind.at[shape] & 1;
    if (whole && is_mark) take_back(w, shape);
    w->whole[shape] = whole && !is_mark && (w->shapes->under.at[shape] & w->marks);
    return whole && !is_mark && !w->whole[shape];
}

/* A shape is not gone through further down: the state is dead, or tells its bytes apart, which are walked instead. */
static bool end_shape(shape_walk *w, u32 i, u32 state, u32 end, u32 depth) {
    w->p.at[i] = AN_DEAD;
    w->p.end[i] = 0;
    if (w->lasting || (state == TOLD_APART && w->marks && w->whole[i])) take_back(w, i);
    if (state == TOLD_APART) return put_members(w, i);
    return !end || leave_all(w, i, depth);
}

/* The children of [*from, *to); then *from and *to are those between which some are alive. */
static bool walk_children(shape_walk *w, u32 *from, u32 *to, u32 depth) {
    analysis *a = w->a;
    const vb_shapes *s = w->shapes;
    const u32 *first = s->first.at;
    const u8 *kinds = s->kind.at;
    an_places *p = &w->p;
    u32 live_from = NONE, live_to = 0;
    for (u32 above = *from; above < *to; above++) {
        u32 number = p->at[above], end = p->end[above];
        if (number == AN_DEAD) continue;
        u32 raw = p->begun ? a->raw.at[number] : 0;
        for (u32 i = first[above]; i < first[above + 1]; i++) {
            w->above[i] = above;
            if (w->chars) w->chars[i] = (u8)(w->chars[above] + (w->begins >> kinds[i] & 1));
            if (w->marks && is_settled(w, i)) continue;
            u32 state = step_kind(w, number, kinds[i]);
            if (state == NONE) return false;
            if (state == AN_DEAD || state == TOLD_APART) {
                if (!end_shape(w, i, state, end, depth)) return false;
                continue;
            }
            u32 begun = p->begun ? p->begun[above] + (raw & w->begins >> kinds[i] & 1) : 0;
            if (!add_inside(w, i, state, begun)) return false;
            u64 settled = VB_NOT_PLAIN | (stays(w, i, state, begun) ? w->loops.at[state] : 0);
            if (!(s->under.at[i] & ~settled)) continue; /* nothing is below, or all of that stays inside */
            live_from = min_u32(live_from, i);
            live_to = i + 1;
            p->at[i] = (u16)state;
            p->end[i] = (u8)((end & AN_ON_PATH) | a->ends.at[state]);
            if (p->begun) p->begun[i] = (u8)begun;
        }
    }
    *from = min_u32(live_from, live_to);
    *to = live_to;
    return !w->runs.n || an_walk_runs(a, &w->nodes, &a->e->v->trie, &w->runs, depth, w->max_depth);
}

/* Are most tokens behind a first byte that leaves the state alive, also with a letter behind it, and of a kind that is not told apart? Then
 * the bits begin with all that there are below the hub, and needs with the characters that tokens have. */
static bool begin_with_all(shape_walk *w, u32 hub) {
    const ge_vocab *v = w->a->e->v;
    const u8 *kind_of = w->shapes->kind_of;
    u32 total = 0, lasting = 0, *bits = w->a->inner->bits;
    for (u32 byte = 0; byte < 256; byte++) {
        u32 weight = vb_weight(v, hub, byte), state = weight ? step_kind(w, AN_START, kind_of[byte]) : AN_DEAD;
        if (state != NONE && state != AN_DEAD && state != TOLD_APART && byte < 0x80) state = step_kind(w, state, kind_of['a']);
        if (state == NONE) return false;
        total += weight;
        lasting += state != AN_DEAD && state != TOLD_APART ? weight : 0;
    }
    w->lasting = 2 * (u64)lasting > total;
    if (!w->lasting) return true;
    if (w->a->inner->needs) return memcpy(w->a->inner->needs, v->chars, 32 * (size_t)v->n_words), true;
    const tt_trie *others = hub ? &v->trie : &v->slices[VB_PLAIN].rest;
    memcpy(bits, hub ? v->hub_bits[hub] : v->slices[VB_PLAIN].bits, v->n_words * sizeof *bits);
    u32 node = v->hubs[hub].node, n;
    const u32 *tokens = hub ? tt_tokens(others, node, node + 1, &n) : tt_tokens(others, 0, others->byte.n, &n);
    for (u32 i = 0; i < n; i++) bits[tokens[i] >> 5] ^= (u32)1 << (tokens[i] & 31);
    return true;
}

/* The kinds of the characters of ASCII that do not lead to where most do,
 * and stay there. *few: perhaps plain text without these stays inside. */
static bool find_marks(shape_walk *w, bool *few) {
    analysis *a = w->a;
    const u8 *class_of = a->e->lx.x.class_of;
    u32 begin = a->start, stay = lx_step(&a->e->lx, begin, class_of['a']);
    const byte_set *first = lx_first(&a->e->lx, begin);
    w->marks = 0;
    if (!first || stay == NONE) return false;
    *few = stay != LX_DEAD && set_has(first, 0xc3) && set_has(first, 0xe4); /* mostly this is enough to see that it does not */
    for (u32 byte = 0x20; *few && byte < 0x80; byte++) {
        if (byte == '"' || byte == '\\') continue; /* not plain */
        u32 to = lx_step(&a->e->lx, begin, class_of[byte]), again = lx_step(&a->e->lx, stay, class_of[byte]);
        if (to == NONE || again == NONE) return false;
        if (to != stay || again != stay) w->marks |= (u64)1 << w->shapes->kind_of[byte];
        *few = __builtin_popcountll(w->marks) <= FEW_MARKS;
    }
    return true;
}

/* Begins with the plain tokens, if all but those with a few marks stay inside. */
static bool begin_with_slice(shape_walk *w, bool *begun) {
    ge_engine *e = w->a->e;
    byte_set but = {{0}};
    id_vec reached = {0};
    if (!find_marks(w, begun)) return false;
    for (u32 byte = 0; byte < 256; byte++)
        if (w->marks >> w->shapes->kind_of[byte] & 1) set_add(&but, byte);
    bool ok = !*begun || mk_absorbs(e, w->a->start, &but, &reached, begun);
    vec_drop(&e->b, &reached);
    if (ok && *begun) ok = (w->whole = mem_resize(w->a->b, NULL, 0, w->shapes->kind.n)) != NULL;
    w->marks = ok && *begun ? w->marks | VB_NOT_PLAIN : 0;
    if (w->marks) memcpy(w->a->inner->bits, e->v->slices[VB_PLAIN].bits, e->v->n_words * sizeof(u32));
    return ok;
}

bool an_walk_shapes(analysis *a, u32 hub, u32 max_depth) {
    const vb_shapes *s = &a->e->v->shapes;
    const tt_trie *trie = &a->e->v->trie;
    u32 n = s->kind.n, from = 0, depth = 1;
    shape_walk w = {.a = a, .shapes = s, .max_depth = max_depth, .above = mem_resize(a->b, NULL, 0, n * sizeof *w.above)};
    bool ok = w.above && an_begin(a, &w.p, n);
    w.p.parent = w.above;
    w.p.label = s->kind.at;
    w.nodes.parent = trie->parent.at;
    w.nodes.label = trie->byte.at;
    w.nodes.kind_of = s->kind_of;
    list_classes(&w);
    bool begun, may_begin = hub == 0 && max_depth == NONE && !a->inner->needs && !(a->e->switches & GE_NO_SLICES);
    ok = ok && put_row(&w, AN_START) && (!may_begin || begin_with_slice(&w, &begun));
    if (ok && a->inner->needs) ok = (w.chars = mem_resize(a->b, NULL, 0, n)) != NULL;
    ok = ok && (w.marks || begin_with_all(&w, hub));
    if (hub) { /* a child of the root */
        from = s->first.at[0];
        while (s->kind.at[from] != s->kind_of[a->e->v->hubs[hub].byte]) from++;
        w.above[from] = 0;
        depth = 2;
    }
    u32 to = from + 1;
    if (ok) {
        memset(w.p.at, 0, n * sizeof *w.p.at); /* AN_DEAD: what is below such shapes is not visited */
        w.p.at[from] = AN_START;
        w.p.end[from] = 0;
        if (w.p.begun) w.p.begun[from] = w.chars[from] = 0;
        if (w.whole) w.whole[from] = true;
    }
    for (; ok && depth <= max_depth && from < to; depth++) {
        a->e->stats.trie_nodes += s->first.at[to] - s->first.at[from];
        ok = walk_children(&w, &from, &to, depth);
    }
    an_end(a, &w.p);
    an_end(a, &w.nodes);
    if (w.above) mem_resize(a->b, w.above, n * sizeof *w.above, 0);
    if (w.whole) mem_resize(a->b, w.whole, n, 0);
    if (w.chars) mem_resize(a->b, w.chars, n, 0);
    vec_drop(&a->e->b, &w.next);
    vec_drop(&a->e->b, &w.loops);
    vec_drop(&a->e->b, &w.runs);
    return ok;
}
