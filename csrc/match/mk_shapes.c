/* The analysis of a unit by shapes (vocab/vb_shapes.c): `Hello` and `World` are both `Aaaaa`, and most patterns do not tell them apart.
 *
 * The trie of shapes is gone through level by level, as that of the tokens is in mk_analyse.c; it is a twentieth of it. Where a state takes
 * all bytes of a kind to the same state, so it does with the shape. Where it tells them apart (it is inside a literal, say), the nodes of the
 * tokens that have the shape are walked from there on.
 *
 * Cost: 10 ns a shape, 1 ns for each token that stays inside, and 6 ns for each node that is walked by itself. */
#include "mk_analysis.h"

enum { TOLD_APART = UINT16_MAX - 1 };

typedef struct shape_walk {
    analysis *a;
    const vb_shapes *shapes;
    u32 max_depth;
    u32 *above;      /* by shape that was walked: its parent */
    an_places p;     /* of shapes */
    an_places nodes; /* of the tokens' trie; n = 0: there is no room yet */
    u8 classes[256]; /* byte classes of the engine, those of one kind side by side */
    u32 from[257];   /* by kind: where they begin */
    u32 n_kinds;
    VEC(u16) next; /* by number and kind: number, UNKNOWN, or TOLD_APART */
} shape_walk;

/* Lists the classes of each kind: a kind is a run of bytes. */
static void list_classes(shape_walk *w) {
    const u8 *class_of = w->a->e->lx.x.class_of, *kind_of = w->shapes->kind_of;
    byte_set seen = {{0}};
    u32 n = 0;
    for (u32 byte = 0; byte < 256; byte++) {
        if (byte == 0 || kind_of[byte] != kind_of[byte - 1]) {
            memset(&seen, 0, sizeof seen);
            w->from[w->n_kinds++] = n;
        }
        if (set_has(&seen, class_of[byte])) continue;
        set_add(&seen, class_of[byte]);
        w->classes[n++] = class_of[byte];
    }
    w->from[w->n_kinds] = n;
}

/* Where all bytes of a kind lead. NONE: failure, or given up. */
static u32 step_kind(shape_walk *w, u32 from, u32 kind) {
    analysis *a = w->a;
    while (w->next.n < (from + 1) * w->n_kinds)
        if (!vec_push(&a->e->b, &w->next, UNKNOWN)) return NONE;
    u32 at = from * w->n_kinds + kind, to = w->next.at[at];
    if (to != UNKNOWN) return to;
    for (u32 i = w->from[kind]; i < w->from[kind + 1]; i++) {
        u32 other = an_step(a, from, w->classes[i]);
        if (other == NONE) return NONE;
        if (i > w->from[kind] && other != to) return w->next.at[at] = TOLD_APART;
        to = other;
    }
    return w->next.at[at] = (u16)to;
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

/* Walks the nodes that have a shape of this depth, and what is below them. What is known above them is what is known above the shape. */
static bool walk_members(shape_walk *w, u32 shape, u32 depth) {
    analysis *a = w->a;
    const tt_trie *trie = &a->e->v->trie;
    an_places *p = &w->nodes;
    if (!p->n && !an_begin(a, p, trie->byte.n)) return false;
    for (u32 i = w->shapes->member_from.at[shape]; i < w->shapes->member_from.at[shape + 1]; i++) {
        u32 node = w->shapes->members.at[i];
        for (u32 above = w->above[shape], at = trie->parent.at[node];; above = w->above[above], at = trie->parent.at[at]) {
            p->at[at] = w->p.at[above];
            p->end[at] = w->p.end[above];
            if (!p->end[at]) break; /* nobody looks further up */
        }
        if (!an_walk(a, p, trie, node, node + 1, depth, w->max_depth)) return false;
    }
    return true;
}

/* The tokens of a shape stay inside. */
static void add_inside(shape_walk *w, u32 shape) {
    const u32 *tokens = w->shapes->tokens.at, *from = w->shapes->token_from.at + shape;
    u32 *bits = w->a->inner->bits;
    for (u32 i = from[0], end = from[1]; i < end; i++) {
        u32 token = tokens[i];
        bits[token >> 5] |= (u32)1 << (token & 31);
    }
}

/* The children of [*from, *to); then *from and *to are those between which some are alive. */
static bool walk_children(shape_walk *w, u32 *from, u32 *to, u32 depth) {
    analysis *a = w->a;
    const vb_shapes *s = w->shapes;
    an_places *p = &w->p;
    u32 live_from = NONE, live_to = 0;
    for (u32 above = *from; above < *to; above++)
        for (u32 i = s->first.at[above]; i < s->first.at[above + 1]; i++) {
            u32 state = p->at[above] == DEAD ? DEAD : step_kind(w, p->at[above], s->kind.at[i]);
            if (state == NONE) return false;
            bool apart = state == TOLD_APART;
            w->above[i] = above;
            p->at[i] = (u16)(apart ? DEAD : state);
            p->end[i] = 0;
            if (apart) {
                if (!walk_members(w, i, depth)) return false;
            } else if (state != DEAD) {
                live_from = min_u32(live_from, i);
                live_to = i + 1;
                p->end[i] = (u8)((p->end[above] & ON_PATH) | a->ends.at[state]);
                add_inside(w, i);
            } else if (p->at[above] != DEAD && p->end[above] && !leave_all(w, i, depth)) {
                return false;
            }
        }
    *from = min_u32(live_from, live_to);
    *to = live_to;
    return true;
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
    if (hub) { /* a child of the root */
        from = s->first.at[0];
        while (s->kind.at[from] != s->kind_of[a->e->v->hubs[hub].byte]) from++;
        w.above[from] = 0;
        depth = 2;
    }
    u32 to = from + 1;
    if (ok) {
        w.p.at[from] = START;
        w.p.end[from] = 0;
    }
    for (; ok && depth <= max_depth && from < to; depth++) {
        a->e->stats.trie_nodes += s->first.at[to] - s->first.at[from];
        ok = walk_children(&w, &from, &to, depth);
    }
    an_end(a, &w.p);
    an_end(a, &w.nodes);
    if (w.above) mem_resize(a->b, w.above, n * sizeof *w.above, 0);
    vec_drop(&a->e->b, &w.next);
    return ok;
}
