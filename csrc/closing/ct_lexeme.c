/* Costs of expressions, in tokens: see ct.h.
 *
 * From each expression that a token may begin in, one walk of the vocabulary's trie tells where it may end: behind the expression, at some
 * seam, or within, which leaves a derivative. Over these the costs are found breadth first: one token, two tokens, ... That there are few
 * derivatives, repeats that are too long for tokens to fill are taken as endless (rx_clamp), and A-labels as any text (rx_widen). Walks are
 * kept, for all seams and expressions.
 *
 * An expression that has too many derivatives still is asked of a looser one, in which texts are any texts, and which knows all seams; what
 * was found until then is the least that others take (ct_cost_expression).
 *
 * Plain text in a string mostly leads nowhere: the derivative is the one before. What is below a node without tokens that are not plain is
 * then not looked at; in a string, that is nearly all of a vocabulary. */
#include "cl.h"

enum {
    CT_CLAMP = 32,            /* bytes: shorter repeats are counted */
    CT_LOOP = 64,             /* nodes that could be visited instead of all characters being tried */
    CT_FEW = 8,               /* children that are all tried */
    CT_LOOSEN = 6,            /* expressions in each other that are looked into */
    CT_COVER = 4096,          /* nodes that are compared to find that one node covers another */
    CT_EXACT = 224,           /* seams from which on any suffix will do below which there is the same and more */
    CT_KEPT = 1 << 13,        /* derivatives that are kept at hand: in rx.h they are, too, but far away */
    CT_NEXTS = 4,             /* derivatives that a token leads to, for a node */
    CT_LEXEME = 96,           /* of the work of a search, one in so many, for an expression behind a seam, */
    CT_LEXEME_LARGE = 24,     /* and of a large table */
    CT_EXPRESSION = 24,       /* the same, derivatives included */
    CT_TABLE_SHARE = 2        /* the same: from there on the table is off */
};

bool ct_spend(ge_engine *e, ct_table *t, u64 nodes) {
    u64 before = t->spent;
    t->spent += nodes;
    return budget_work(&e->b, t->spent / CT_NODES - before / CT_NODES);
}

bool ct_charge(ge_engine *e, ct_table *t, u64 nodes) {
    t->work += nodes;
    if (t->work / CT_NODES > t->limit / CT_TABLE_SHARE) t->off = true;
    return !t->off && ct_spend(e, t, nodes);
}

/* --- nodes of the trie --------------------------------------------------------------------------------------------------- */

bool ct_is_special(const ct_table *t, u32 node) { return t->special.at[node >> 5] >> (node & 31) & 1; }

static bool find_special(ge_engine *e, ct_table *t) {
    const tt_trie *trie = &e->v->trie;
    const u32 *plain = e->v->slices[VB_PLAIN].bits;
    u32 n = trie->byte.n, words = n / 32 + 1;
    if (!vec_reserve(&e->b, &t->special, words)) return false;
    memset(t->special.at, 0, words * sizeof *t->special.at);
    t->special.n = words;
    for (u32 node = n; node-- > 1;) { /* children before parents */
        u32 token = tt_token(trie, node), parent = trie->parent.at[node];
        if (token != NONE && !(plain[token >> 5] >> (token & 31) & 1)) t->special.at[node >> 5] |= (u32)1 << (node & 31);
        if (ct_is_special(t, node)) t->special.at[parent >> 5] |= (u32)1 << (parent & 31);
    }
    return true;
}

bool ct_begin(ge_engine *e, ct_table *t) {
    if (t->known) return !t->off;
    for (u32 i = 0; i < e->g->n_lexemes; i++) {
        byte_set set;
        if (e->lx.lexemes.at[i].expr == RX_ID_NEVER) continue;
        if (!rx_first(&e->lx.x, e->lx.lexemes.at[i].expr, &set)) return false;
        set_unite(&t->first, &set);
    }
    if (!find_special(e, t) || !vec_reserve(&e->b, &t->derived, CT_KEPT)) return false;
    memset(t->derived.at, 0xff, CT_KEPT * sizeof *t->derived.at);
    t->seams.n = 0;
    t->limit = e->b.limits.max_step_work; /* parts of which have less */
    return t->known = vec_push(&e->b, &t->seams, 0) && map_put(&e->b, &t->seam_of, 0, 0);
}

static bool has_child(const tt_trie *trie, u32 node) { return trie->first.at[node] < trie->first.at[node + 1]; }

/* Is whatever may follow a node also below another one? */
static bool node_covers(ge_engine *e, ct_table *t, u32 other, u32 node) {
    const tt_trie *trie = &e->v->trie;
    VEC(mk_place) todo = {0};
    bool yes = vec_push(&e->b, &todo, ((mk_place){node, other}));
    for (u32 head = 0; yes && head < todo.n; head++) {
        mk_place at = todo.at[head];
        for (u32 child = trie->first.at[at.node]; yes && child < trie->first.at[at.node + 1]; child++) {
            u32 byte = trie->byte.at[child];
            if (head == 0 && !set_has(&t->first, byte)) continue;
            u32 twin = vb_child(trie, at.config, byte);
            yes = twin != NONE && (!tt_has_token(trie, child) || tt_has_token(trie, twin)) && todo.n < CT_COVER;
            if (yes && has_child(trie, child)) yes = vec_push(&e->b, &todo, ((mk_place){child, twin}));
        }
    }
    if (!ct_charge(e, t, todo.n + 1)) yes = false;
    vec_drop(&e->b, &todo);
    return yes;
}

static bool may_go_on(const ge_engine *e, const ct_table *t, u32 node) {
    const tt_trie *trie = &e->v->trie;
    for (u32 child = trie->first.at[node]; child < trie->first.at[node + 1]; child++)
        if (set_has(&t->first, trie->byte.at[child])) return true;
    return false;
}

/* The node of the shortest suffix that a node may count as (see ct.h): at last itself. */
static u32 shortest_like(ge_engine *e, ct_table *t, u32 node) {
    const tt_trie *trie = &e->v->trie;
    byte_vec text = {0};
    u32 found = node;
    bool exact = trie->byte.at[node] > ' ' && t->seams.n < CT_EXACT, ok = true;
    for (u32 at = node; ok && at; at = trie->parent.at[at]) ok = vec_push(&e->b, &text, trie->byte.at[at]); /* backwards */
    for (u32 n = 1; ok && n < text.n; n++) {
        u32 suffix = 0;
        for (u32 i = n; suffix != NONE && i-- > 0;) suffix = vb_child(trie, suffix, text.at[i]);
        if (suffix == NONE || !node_covers(e, t, suffix, node) || (exact && !node_covers(e, t, node, suffix))) continue;
        found = suffix;
        break;
    }
    vec_drop(&e->b, &text);
    return found;
}

/* Which seams a new one covers, and which cover it. */
static void compare_seams(ge_engine *e, ct_table *t, u32 seam) {
    for (u32 other = 0; other < seam; other++) {
        if (other && node_covers(e, t, t->seams.at[seam], t->seams.at[other])) t->covers[seam][other >> 6] |= (u64)1 << (other & 63);
        if (node_covers(e, t, t->seams.at[other], t->seams.at[seam])) t->covers[other][seam >> 6] |= (u64)1 << (seam & 63);
    }
}

/* The seam of a token that has come to a node and goes on behind a lexeme; CT_SEAMS: it can not. */
static u32 seam_of(ge_engine *e, ct_table *t, u32 node) {
    u32 known = map_get(&t->seam_of, node);
    if (known != NONE) return known;
    u32 seam = CT_SEAMS;
    if (may_go_on(e, t, node)) {
        u32 like = shortest_like(e, t, node);
        seam = like == node ? NONE : map_get(&t->seam_of, like);
        if (seam == NONE) {
            seam = t->seams.n;
            if (seam == CT_SEAMS) return t->off = true, CT_SEAMS;
            if (!vec_push(&e->b, &t->seams, like) || !map_put(&e->b, &t->seam_of, like, seam)) return CT_SEAMS;
            compare_seams(e, t, seam);
        }
    }
    if (map_get(&t->seam_of, node) == NONE) map_put(&e->b, &t->seam_of, node, seam);
    return seam;
}

/* --- walks --------------------------------------------------------------------------------------------------------------- */

/* Do all bytes of the first range, and after each those of the n others, lead to `to`? */
static bool all_lead(ge_engine *e, ct_step *step, u32 from, u32 to, const u8 (*bytes)[2], u32 n) {
    for (u32 byte = bytes[0][0], last = NONE; byte <= bytes[0][1]; byte++) {
        if (last != NONE && e->lx.x.class_of[byte] == e->lx.x.class_of[byte - 1]) continue;
        u32 next = step(e, from, byte);
        if (next == NONE || next == 0) return false; /* dead: RX_ID_NEVER, CF_DEAD */
        if (next == last) continue;
        last = next;
        if (n ? !all_lead(e, step, next, to, bytes + 1, n - 1) : next != to) return false;
    }
    return true;
}

bool ct_is_plain_loop(ge_engine *e, ct_step *step, u32 from) {
    static const u8 chars[][4][2] = {{{0x20, 0x21}},
                                     {{0x23, 0x5b}},
                                     {{0x5d, 0x7f}},
                                     {{0xc2, 0xdf}, {0x80, 0xbf}},
                                     {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}},
                                     {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}},
                                     {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}},
                                     {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}},
                                     {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}},
                                     {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}},
                                     {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}};
    static const u8 more[] = {0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3};
    if (!ct_spend(e, &e->cl.fewest, CT_LOOP)) return false;
    for (u32 i = 0; i < sizeof more; i++)
        if (!all_lead(e, step, from, from, chars[i], more[i])) return false;
    return true;
}

static u32 derive(ge_engine *e, u32 id, u32 byte) { return rx_derive(&e->lx.x, id, byte); }

enum { CT_LOOPS_NOT = 1, CT_LOOPS };

/* Makes room for what is noted by expression. */
static bool reach_expression(ge_engine *e, ct_table *t, rx_id id) {
    if (id < t->loops.n) return true;
    u32 n = id + 1 - t->loops.n;
    if (!vec_reserve(&e->b, &t->loops, n) || !vec_reserve(&e->b, &t->walked, n)) return false;
    memset(t->loops.at + t->loops.n, 0, n);
    memset(t->walked.at + t->walked.n, 0, n * sizeof *t->walked.at);
    t->loops.n = t->walked.n += n;
    return true;
}

static bool text_loops(ge_engine *e, ct_table *t, rx_id id) {
    if (!reach_expression(e, t, id)) return false;
    if (!t->loops.at[id]) {
        bool loops = !rx_nullable(&e->lx.x, id) && ct_is_plain_loop(e, derive, id);
        t->loops.at[id] = loops ? CT_LOOPS : CT_LOOPS_NOT;
    }
    return t->loops.at[id] == CT_LOOPS;
}

typedef struct walk_place {
    u32 node;
    rx_id id;
} walk_place;

typedef struct walk_state {
    rx_id id; /* where it begins */
    ct_walk walk; /* its nexts are moved to the table at last: other walks come before */
    id_vec nexts;
    u32 number;   /* of the walk: expressions that it has come to last are in nexts */
    VEC(walk_place) todo;
} walk_state;

static void add_end(walk_state *w, u32 seam) { w->walk.ends[seam >> 6] |= (u64)1 << (seam & 63); }

/* What another walk, on the way, has come to may be added again: it does no harm. */
static bool add_next(ge_engine *e, ct_table *t, walk_state *w, rx_id id) {
    if (!reach_expression(e, t, id)) return false;
    if (t->walked.at[id] == w->number) return true;
    t->walked.at[id] = w->number;
    return vec_push(&e->b, &w->nexts, id);
}

static u32 walk_of(ge_engine *e, ct_table *t, rx_id id, u32 node);

/* What is found from an expression at a node is found from here, too. */
static bool join_walk(ge_engine *e, ct_table *t, walk_state *w, rx_id id, u32 node) {
    u32 index = walk_of(e, t, id, node);
    if (index == NONE) return false;
    ct_walk walk = t->walks.at[index];
    for (u32 i = 0; i < CT_SEAMS / 64; i++) w->walk.ends[i] |= walk.ends[i];
    for (u32 i = 0; i < walk.n_next; i++)
        if (!add_next(e, t, w, t->nexts.at[walk.next + i])) return false;
    return true;
}

typedef struct walk_rest { /* what is left of the expression */
    rx_id id;
    bool loops, nullable;
} walk_rest;

static bool look_at_rest(ge_engine *e, ct_table *t, rx_id id, walk_rest *out) {
    *out = (walk_rest){id, text_loops(e, t, id), rx_nullable(&e->lx.x, id)};
    return e->b.status == GE_OK;
}

/* A token has come to a node, with that left. */
static bool come_to(ge_engine *e, ct_table *t, walk_state *w, u32 node, const walk_rest *rest) {
    const tt_trie *trie = &e->v->trie;
    bool ends = tt_has_token(trie, node);
    if (rest->loops && !ct_is_special(t, node)) return add_next(e, t, w, rest->id); /* and all below it does the same */
    if (rest->nullable) {
        if (ends) add_end(w, 0);
        u32 seam = has_child(trie, node) ? seam_of(e, t, node) : CT_SEAMS;
        if (t->off || e->b.status != GE_OK) return false;
        if (seam < CT_SEAMS) add_end(w, seam);
    }
    if (rest->id == RX_ID_EMPTY) return true;
    if (ends && !add_next(e, t, w, rest->id)) return false;
    if (!has_child(trie, node)) return true;
    return rest->loops && rest->id != w->id ? join_walk(e, t, w, rest->id, node)
                                            : vec_push(&e->b, &w->todo, ((walk_place){node, rest->id}));
}

/* As rx_derive; the same for all bytes of a class. */
static rx_id derive_by_class(ge_engine *e, ct_table *t, rx_id id, u32 byte) {
    u32 byte_class = e->lx.x.class_of[byte];
    ct_derived *kept = &t->derived.at[(id * 0x9e3779b1u >> 16 ^ id ^ byte_class * 37) % CT_KEPT];
    if (kept->id == id && kept->byte_class == byte_class) return kept->to;
    rx_id to = rx_derive(&e->lx.x, id, byte);
    if (to != NONE) *kept = (ct_derived){id, byte_class, to};
    return to;
}

static bool make_walk(ge_engine *e, ct_table *t, walk_state *w, rx_id id, u32 node) {
    const tt_trie *trie = &e->v->trie;
    if (!vec_push(&e->b, &w->todo, ((walk_place){node, id}))) return false;
    while (w->todo.n) {
        walk_place at = w->todo.at[--w->todo.n];
        u32 child = trie->first.at[at.node], end = trie->first.at[at.node + 1], last = NONE;
        walk_rest rest = {.id = RX_ID_NEVER};
        byte_set first;
        bool many = end - child > CT_FEW;
        if (!ct_charge(e, t, end - child) || (many && !rx_first(&e->lx.x, at.id, &first))) return false;
        for (; child < end; child++) {
            u32 byte = trie->byte.at[child], byte_class = e->lx.x.class_of[byte];
            if (many && !set_has(&first, byte)) continue;
            if (byte_class != last) {
                rx_id left = derive_by_class(e, t, at.id, byte);
                bool dead = left == RX_ID_NEVER || (left != NONE && e->lx.x.meta.at[left].verdict == RX_IS_EMPTY);
                if (left == NONE || (!dead && !look_at_rest(e, t, left, &rest))) return false;
                if (dead) rest.id = RX_ID_NEVER;
                last = byte_class;
            }
            if (rest.id != RX_ID_NEVER && !come_to(e, t, w, child, &rest)) return false;
        }
    }
    return true;
}

/* Index of the walk; NONE on failure. */
static u32 walk_of(ge_engine *e, ct_table *t, rx_id id, u32 node) {
    u64 key = (u64)id << 32 | node;
    u32 known = map_get(&t->walk_of, key);
    if (known != NONE) return known;
    walk_state w = {.id = id, .number = ++t->n_begun};
    bool ok = make_walk(e, t, &w, id, node) && vec_reserve(&e->b, &t->nexts, w.nexts.n);
    if (ok) {
        if (w.nexts.n) memcpy(t->nexts.at + t->nexts.n, w.nexts.at, w.nexts.n * sizeof *w.nexts.at);
        w.walk.next = t->nexts.n;
        w.walk.n_next = w.nexts.n;
        t->nexts.n += w.nexts.n;
        ok = vec_push(&e->b, &t->walks, w.walk) && map_put(&e->b, &t->walk_of, key, t->walks.n - 1);
    }
    vec_drop(&e->b, &w.nexts);
    vec_drop(&e->b, &w.todo);
    return ok ? t->walks.n - 1 : NONE;
}

/* --- costs --------------------------------------------------------------------------------------------------------------- */

/* Walks from an expression at a node, at a cost; what is left behind is appended to `todo` if it was not there before. */
static bool spread(ge_engine *e, ct_table *t, rx_id id, u32 node, u32 cost, ct_costs *out, word_map *seen, id_vec *todo) {
    u32 index = walk_of(e, t, id, node);
    if (index == NONE) return false;
    ct_walk walk = t->walks.at[index];
    for (u32 seam = 0; seam < t->seams.n; seam++)
        if (walk.ends[seam >> 6] >> (seam & 63) & 1) out->at[seam] = (u16)min_u32(out->at[seam], cost);
    for (u32 i = 0; i < walk.n_next; i++) {
        rx_id next = t->nexts.at[walk.next + i];
        if (map_get(seen, next) != NONE) continue;
        if (!map_put(&e->b, seen, next, 0) || !vec_push(&e->b, todo, next)) return false;
    }
    return ct_charge(e, t, walk.n_next / CT_NEXTS + 1);
}

/* The costs of an expression behind a seam, by `most` derivatives and about so
 * much work. *least: what is not known by then takes so much; CT_NEVER: all is. */
static bool cost_closure(ge_engine *e, ct_table *t, rx_id id, u32 seam, u32 most, u64 work, ct_costs *out, u32 *least) {
    word_map seen = {0};
    id_vec todo = {0};
    u32 head = 0, cost = 0;
    bool ok = true;
    memset(out, 0xff, sizeof *out);
    if (seam == 0) {
        if (rx_nullable(&e->lx.x, id)) out->at[0] = 0;
        ok = vec_push(&e->b, &todo, id) && map_put(&e->b, &seen, id, 0);
    } else {
        ok = spread(e, t, id, t->seams.at[seam], 0, out, &seen, &todo);
    }
    for (u64 enough = t->work + work; ok && head < todo.n && head < most && t->work < enough;) {
        cost++;
        for (u32 end = todo.n; ok && head < end && head < most && t->work < enough; head++)
            ok = spread(e, t, todo.at[head], 0, cost, out, &seen, &todo);
    }
    *least = ok && head == todo.n ? CT_NEVER : cost;
    map_drop(&e->b, &seen);
    vec_drop(&e->b, &todo);
    return ok;
}

static rx_id loosen(rx_arena *x, rx_id id, u32 depth);

/* What stands before the last quote is any text, but for a quote that it begins with; of what has no quote each part is loosened. */
static rx_id loosen_concat(rx_arena *x, rx_id id, u32 depth) {
    rx_id quote = rx_byte(x, '"');
    id_vec parts = {0};
    u32 last = NONE;
    bool ok = quote != NONE;
    for (bool more = true; ok && more;) {
        more = rx_kind_of(x, id) == RX_CONCAT;
        rx_id part = more ? intern_words(&x->nodes, id)[1] : id;
        if (part == quote) last = parts.n;
        ok = vec_push(x->b, &parts, part);
        if (more) id = intern_words(&x->nodes, id)[2];
    }
    u32 after = last == NONE ? 0 : last; /* the quote itself stays as it is */
    rx_id result = RX_ID_EMPTY;
    for (u32 i = parts.n; ok && i-- > after;) ok = (result = rx_concat(x, loosen(x, parts.at[i], depth), result)) != NONE;
    if (ok && after) ok = (result = rx_concat(x, RX_ID_ALL, result)) != NONE;
    if (ok && after && parts.at[0] == quote) result = rx_concat(x, quote, result);
    vec_drop(x->b, &parts);
    return ok ? result : NONE;
}

/* A superset that has few derivatives: texts are any texts. */
static rx_id loosen(rx_arena *x, rx_id id, u32 depth) {
    u32 node[5];
    if (id == NONE || depth == 0) return id;
    rx_copy_node(x, id, node);
    switch ((rx_kind)node[0]) {
    case RX_QUOTE: return rx_quote_again(x, RX_ID_ALL, node);
    case RX_CONCAT: return loosen_concat(x, id, depth - 1);
    case RX_AND: case RX_OR: case RX_FORK: return rx_change_parts(x, id, loosen, depth - 1);
    default: return id;
    }
}

rx_id ct_fine(ge_engine *e, rx_id id) { return rx_clamp(&e->lx.x, rx_widen(&e->lx.x, id), CT_CLAMP); }

bool ct_cost_expression(ge_engine *e, ct_table *t, rx_id id, u32 seam, u32 most, ct_costs *out, u32 *least) {
    u64 work = t->limit / (t->is_large ? CT_LEXEME_LARGE : CT_LEXEME) * CT_NODES;
    rx_id fine = ct_fine(e, id);
    if (fine == NONE) return false;
    budget_part part = budget_begin_part(&e->b, t->limit / CT_EXPRESSION); /* some have a state for each text */
    bool ok = cost_closure(e, t, fine, seam, most, work, out, least);
    ok |= budget_end_part(&e->b, part);
    if (!ok || *least == CT_NEVER) return ok;
    bool is_whole = most == CT_DERIVED;
    ct_costs loose; /* for what is missing in the others */
    u32 told = *least;
    rx_id coarse = loosen(&e->lx.x, rx_clamp(&e->lx.x, fine, 1), CT_LOOSEN);
    if (coarse == NONE || !cost_closure(e, t, coarse, seam, is_whole ? NONE : most, is_whole ? UINT64_MAX / 2 : work, &loose, least))
        return false;
    for (u32 i = 0; i < CT_SEAMS; i++) /* what was found by then is the truth; of the others both are lower bounds */
        if (out->at[i] > told) out->at[i] = (u16)max_u32(told, min_u32(loose.at[i], *least));
    return true;
}
