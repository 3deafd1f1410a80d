/* Walks of the vocabulary's trie with the configuration automaton.
 *
 * Breadth first: a queue of (node, configuration). The children of a node are tried one after the other; those that the automaton can read
 * go to the queue. No step waits for the one before it, and memory is read in ascending order. Of the first bytes only those are asked for
 * that the configuration may read at all (regex/rx_first.c). What stays inside a lexeme below a node is taken as a whole (mk_loops.c), and so is what
 * begins a string, and white space (mk_open.c).
 *
 * A *difference* walk has two configurations side by side, and the mask of one of them. Only bytes are tried after which they may differ
 * (regex/rx_differ.c); where both come to the same configuration, all that follows is alike, and the subtree is skipped. So the cost is that
 * of the parts of the vocabulary in which they differ. A key that must not be one of those named differs from any string only along these names. */
#include "mk.h"

enum {
    MK_LISTED = 512,  /* tokens that are listed at most */
    CHOOSE = 8,       /* children, from which on they are not tried one by one at once */
    SHORT_WALK = 256, /* places; it is not worth while to ask at each whether all below it stays inside a lexeme */
    FEW_FIRST = 8,    /* first bytes: so many, and one for every 8 children, are looked for among the children; of more each child is looked up */
    MANY = 16         /* nodes: to take the tokens of more out of a list takes longer than to make bits of it */
};

void mk_begin(ge_engine *e, mk_found *found, bool listed) {
    mk_release_base(e, found);
    found->list.n = 0;
    found->listed = listed;
    if (!listed) memset(found->bits, 0, e->v->n_words * sizeof *found->bits);
}

void mk_make_bits(ge_engine *e, mk_found *found) {
    if (!found->listed) return;
    found->listed = false;
    mk_write_listed(e, found->base, found->list.at, found->list.n, found->bits);
    mk_release_base(e, found);
}

void mk_release_base(ge_engine *e, mk_found *found) {
    if (found->base) vb_release(e->v, found->base);
    found->base = NULL;
}

void mk_add_bits(ge_engine *e, mk_found *found, const u32 *bits) {
    mk_make_bits(e, found);
    u32 *to = found->bits, n = e->v->n_words;
    for (u32 i = 0; i < n; i++) to[i] |= bits[i];
}

void mk_add_inner(ge_engine *e, mk_found *found, const vb_inner *inner) {
    if (found->listed && !found->base && !(e->switches & GE_NO_SHARED_INNER)) {
        vb_hold(e->v, inner);
        found->base = inner;
        return;
    }
    mk_add_bits(e, found, inner->bits);
}

bool mk_add_token(ge_engine *e, mk_found *found, u32 token) {
    if (found->base && found->base->bits[token >> 5] >> (token & 31) & 1) return true;
    if (found->listed && found->list.n == MK_LISTED) mk_make_bits(e, found);
    if (found->listed) return vec_push(&e->b, &found->list, token);
    found->bits[token >> 5] |= (u32)1 << (token & 31);
    return true;
}

bool mk_add_listed(ge_engine *e, mk_found *found, const u32 *tokens, u32 n) {
    if (found->listed && !found->base && found->list.n + n <= MK_LISTED) {
        if (!vec_reserve(&e->b, &found->list, n)) return false;
        if (n) memcpy(found->list.at + found->list.n, tokens, n * sizeof *tokens);
        found->list.n += n;
        return true;
    }
    for (u32 i = 0; i < n; i++) {
        if (!found->listed) found->bits[tokens[i] >> 5] |= (u32)1 << (tokens[i] & 31);
        else if (!mk_add_token(e, found, tokens[i])) return false;
    }
    return true;
}

void mk_clear_token(ge_engine *e, mk_found *found, u32 token) {
    if (found->base && found->base->bits[token >> 5] >> (token & 31) & 1) mk_make_bits(e, found);
    if (!found->listed) found->bits[token >> 5] &= ~((u32)1 << (token & 31));
    for (u32 i = 0; found->listed && i < found->list.n; i++)
        if (found->list.at[i] == token) found->list.at[i--] = found->list.at[--found->list.n];
}

/* The tokens of a node. */
static bool add_tokens(ge_engine *e, const tt_trie *trie, u32 node, mk_found *found) {
    for (u32 next, token = tt_token(trie, node, &next); token != NONE; token = tt_more(trie, &next))
        if (!mk_add_token(e, found, token)) return false;
    return true;
}

/* Notes the tokens of a node (see mk.c). */
static bool push_suspects(ge_engine *e, const tt_trie *trie, u32 node) {
    for (u32 next, token = tt_token(trie, node, &next); token != NONE; token = tt_more(trie, &next))
        if (!vec_push(&e->b, &e->suspects, token)) return false;
    return true;
}

/* What will be read when the children of the node are tried. The vocabulary is larger than the caches that are near, and a walk that reads
 * little jumps about in it. */
static inline void fetch_children(const tt_trie *trie, u32 node) {
    u32 i = trie->first.at[node];
    __builtin_prefetch(&trie->byte.at[i]);
    __builtin_prefetch(&trie->token.at[i]);
    __builtin_prefetch(&trie->first.at[i]);
}

/* Is a child of the root a hub? Then the place is noted, if there is anything to read. (Not with distinct lexemes: what stays inside a lexeme
 * below a hub would not be looked at for suspects.) */
static bool stop_at_hub(ge_engine *e, u32 node, u32 config, bool *stopped) {
    *stopped = false;
    for (u32 h = 1; h < e->v->n_hubs && !*stopped && !e->g->g.has_distinct; h++) {
        *stopped = e->v->hubs[h].node == node;
        if (*stopped && config != CF_DEAD && !vec_push(&e->b, &e->at_hubs, ((mk_place){h, config}))) return false;
    }
    return true;
}

/* What is being visited. Mostly several places in a row have the same configuration. */
typedef struct mk_visit {
    u32 node, config;
    u32 _Atomic *next; /* of the configuration */
    byte_set first;    /* its first bytes */
    u32 n_first;       /* NONE: not asked for yet */
} mk_visit;

/* The common case of mk_add_token by itself: a walk finds some hundred. */
static inline bool add_token(ge_engine *e, mk_found *found, u32 token) {
    u32 n = found->list.n;
    if (!found->listed) {
        found->bits[token >> 5] |= (u32)1 << (token & 31);
        return true;
    }
    if (found->base || n == found->list.cap || n == MK_LISTED) return mk_add_token(e, found, token);
    found->list.at[n] = token;
    found->list.n = n + 1;
    return true;
}

/* Reads the byte of a child. The queue has room for it. */
static inline bool try_child(ge_engine *e, const tt_trie *trie, const mk_visit *at, u32 i, mk_found *found) {
    const u32 *first = trie->first.at;
    u32 c = e->lx.x.class_of[trie->byte.at[i]], token = trie->token.at[i];
    u32 to = atomic_load_explicit(&at->next[c], memory_order_relaxed); /* common case: one look-up, dead or alive */
    if (to >= CF_READS && first[i] == first[i + 1] && !e->g->g.has_distinct) { /* where it leads to does not matter */
        bool is_read = to == CF_READS;
        if (!is_read && !cf_reads(e, at->config, c, &is_read)) return false;
        if (!is_read) return true;
    } else if (to >= CF_READS && (to = cf_step(e, at->config, c)) == NONE) {
        return false;
    }
    if (to == CF_DEAD) return true;
    if (token != NONE) {
        if (token & TT_MANY ? !add_tokens(e, trie, i, found) : !add_token(e, found, token)) return false;
        if (e->g->g.has_distinct && cf_at(e, to)->unsure && !push_suspects(e, trie, i)) return false;
    }
    if (first[i] == first[i + 1]) return true;
    if (trie == &e->v->trie && (at->node == 0 || trie->byte.at[i] <= '"')) {
        bool stopped = false;
        if (at->node == 0 && !stop_at_hub(e, i, to, &stopped)) return false;
        if (!stopped && trie->byte.at[i] <= '"' && !mk_stop_at_opening(e, i, to, &stopped)) return false; /* a mark, or a blank */
        if (stopped) return true;
    }
    e->walk.at[e->walk.n++] = (mk_place){i, to};
    fetch_children(trie, i);
    return true;
}

/* Tries those of many children that the first bytes choose. */
static bool try_chosen(ge_engine *e, const tt_trie *trie, mk_visit *at, mk_found *found) {
    const u8 *bytes = trie->byte.at;
    u32 begin = trie->first.at[at->node], end = trie->first.at[at->node + 1];
    if (at->n_first == NONE) {
        if (!cf_first(e, at->config, &at->first)) return false;
        at->n_first = set_count(&at->first);
    }
    const byte_set *first = &at->first;
    byte_set ascii;
    u32 n_first = at->n_first;
    if (at->node == 0 && trie == &e->v->trie && e->is_one_lexeme) {
        bool done;
        if (!mk_add_beyond(e, at->config, found, &done) || !vec_reserve(&e->b, &e->walk, end - begin)) return false;
        if (done) {
            ascii = *first;
            memset(ascii.w + 4, 0, 4 * sizeof *ascii.w);
            first = &ascii;
            n_first = set_count(first);
        }
    }
    if (n_first > FEW_FIRST + (end - begin) / 8) {
        e->stats.trie_nodes += end - begin;
        for (u32 i = begin; i < end; i++)
            if (set_has(first, bytes[i]) && !try_child(e, trie, at, i, found)) return false;
        return true;
    }
    e->stats.trie_nodes += n_first;
    for (u32 k = 0; k < 8; k++)
        for (u32 left = first->w[k]; left; left &= left - 1) {
            const u8 *child = memchr(bytes + begin, (int)(32 * k + (u32)__builtin_ctz(left)), end - begin);
            if (child && !try_child(e, trie, at, (u32)(child - bytes), found)) return false;
        }
    return true;
}

/* All tokens below a node. Which nodes have one is as good as random, so the bits are set without a branch. */
static bool add_below(ge_engine *e, const tt_trie *trie, u32 node, mk_found *found) {
    for (u32 from = node, to = node + 1; tt_below(trie, &from, &to);)
        for (u32 i = from; i < to; i++) {
            u32 token = trie->token.at[i], is_one = token < TT_MANY;
            if (found->listed || (!is_one && token != NONE)) {
                if (!add_tokens(e, trie, i, found)) return false;
            } else {
                found->bits[is_one ? token >> 5 : 0] |= is_one << (token & 31);
            }
        }
    return true;
}

/* From the places in e->walk on. */
static bool walk_on(ge_engine *e, const tt_trie *trie, mk_found *found) {
    mk_visit at = {.config = NONE};
    bool is_main = trie == &e->v->trie, ends = false;
    for (u32 head = 0; head < e->walk.n; head++) {
        at.node = e->walk.at[head].node;
        if (e->walk.at[head].config != at.config) {
            at.config = e->walk.at[head].config;
            at.next = cf_at(e, at.config)->next;
            at.n_first = NONE;
            ends = cf_at(e, at.config)->ends;
        }
        u32 begin = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        if (!vec_reserve(&e->b, &e->walk, end - begin)) return false;
        bool may_stay = is_main && (end - begin >= CHOOSE || head > SHORT_WALK);
        if (may_stay && mk_stays_below(e, at.config, at.node)) {
            if (!add_below(e, trie, at.node, found)) return false;
            continue;
        }
        if (ends && !mk_note_ends(e, trie, e->walk.at[head])) return false;
        if (end - begin < CHOOSE) {
            e->stats.trie_nodes += end - begin;
            for (u32 i = begin; i < end; i++)
                if (!try_child(e, trie, &at, i, found)) return false;
        } else if (!try_chosen(e, trie, &at, found)) {
            return false;
        }
    }
    return true;
}

void mk_clear_tokens(ge_engine *e, const tt_trie *trie, u32 from, u32 to, mk_found *found) {
    if (to - from > MANY) mk_make_bits(e, found);
    for (u32 i = from; i < to; i++)
        for (u32 next, token = tt_token(trie, i, &next); token != NONE; token = tt_more(trie, &next)) mk_clear_token(e, found, token);
}

bool mk_walk_places(ge_engine *e, const tt_trie *trie, const u32 *nodes, u32 n, u32 config, mk_found *found) {
    e->at_openings.n = e->walk.n = 0;
    for (u32 i = 0; i < n; i++)
        if (!vec_push(&e->b, &e->walk, ((mk_place){nodes[i], config}))) return false;
    bool ok = walk_on(e, trie, found);
    while (ok && e->at_openings.n) {
        mk_place at = e->at_openings.at[--e->at_openings.n];
        const vb_opening *opening = &e->v->openings[at.node];
        e->walk.n = 0;
        ok = vec_push(&e->b, &e->walk, ((mk_place){0, at.config})) && mk_add_opening(e, opening, found) && walk_on(e, &opening->rest, found);
    }
    return ok;
}

bool mk_walk(ge_engine *e, const tt_trie *trie, u32 node, u32 config, mk_found *found) {
    return mk_walk_places(e, trie, &node, 1, config, found);
}

/* Clears all tokens at a node and below: at a hub, half of the vocabulary, as bits. */
static void clear_below(ge_engine *e, const tt_trie *trie, u32 node, mk_found *found) {
    const ge_vocab *v = e->v;
    for (u32 h = 1; trie == &v->trie && h < v->n_hubs; h++) {
        if (v->hubs[h].node != node) continue;
        mk_make_bits(e, found);
        for (u32 i = 0; i < v->n_words; i++) found->bits[i] &= ~v->hub_bits[h][i];
        return;
    }
    u32 from = node, to = node + 1;
    do mk_clear_tokens(e, trie, from, to, found);
    while (tt_below(trie, &from, &to));
}

/* Reads the byte of a child by both configurations. The queue has room for it. */
static inline bool try_both(ge_engine *e, const tt_trie *trie, u32 i, mk_place at, u32 base, mk_found *found) {
    u32 c = e->lx.x.class_of[trie->byte.at[i]], to = cf_step(e, at.config, c), other = cf_step(e, base, c);
    bool stopped = false;
    if (to == NONE || other == NONE) return false;
    if (to == other) return true;
    if (at.node == 0 && trie == &e->v->trie && !stop_at_hub(e, i, to, &stopped)) return false;
    if (to == CF_DEAD || stopped) clear_below(e, trie, i, found);
    if (to == CF_DEAD) return true;
    if ((other == CF_DEAD || stopped) && !add_tokens(e, trie, i, found)) return false;
    if (stopped || trie->first.at[i] == trie->first.at[i + 1]) return true;
    e->walk.at[e->walk.n++] = (mk_place){i, to};
    e->walk.at[e->walk.n++] = (mk_place){i, other};
    fetch_children(trie, i);
    return true;
}

bool mk_walk_difference(ge_engine *e, const tt_trie *trie, u32 node, u32 config, u32 base, mk_found *found) {
    const u8 *bytes = trie->byte.at;
    e->walk.n = 0;
    if (!vec_push(&e->b, &e->walk, ((mk_place){node, config})) || !vec_push(&e->b, &e->walk, ((mk_place){node, base}))) return false;
    for (u32 head = 0; head < e->walk.n; head += 2) {
        mk_place at = e->walk.at[head], beside = e->walk.at[head + 1];
        u32 begin = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        byte_set differ;
        if (!vec_reserve(&e->b, &e->walk, 2 * (end - begin)) || !cf_differ(e, at.config, beside.config, &differ)) return false;
        if (end - begin < CHOOSE || set_count(&differ) > FEW_FIRST) {
            e->stats.trie_nodes += end - begin;
            for (u32 i = begin; i < end; i++)
                if (set_has(&differ, bytes[i]) && !try_both(e, trie, i, at, beside.config, found)) return false;
            continue;
        }
        for (u32 byte = 0; byte < 256; byte++) {
            const u8 *child = set_has(&differ, byte) ? memchr(bytes + begin, (int)byte, end - begin) : NULL;
            e->stats.trie_nodes += child != NULL;
            if (child && !try_both(e, trie, (u32)(child - bytes), at, beside.config, found)) return false;
        }
    }
    return true;
}
