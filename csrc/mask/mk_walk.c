/* Walks of the vocabulary's trie with the configuration automaton.
 *
 * Breadth first: a queue of (nodes side by side, configuration). The children of such a run lie side by side, too. They are tried one after
 * the other; those that the automaton can read go to the queue, together where they lead to the same place. Wide states are left and come
 * to again by most bytes, so that in a long walk a run is long: its tokens stand side by side, its bytes are looked at 32 at a time
 * (base/wide.h), and nothing is done for a node by itself. No step waits for the one before it, and memory is read in ascending order. Of
 * the first bytes only those are asked for that the configuration may read at all (regex/rx_first.c). What stays inside a lexeme below a
 * node is taken as a whole (mk_loops.c), and so is what begins a string, and white space (mk_open.c).
 *
 * A *difference* walk has two configurations side by side, and the mask of one of them. Only bytes are tried after which they may differ
 * (regex/rx_differ.c); where both come to the same configuration, all that follows is alike, and the subtree is skipped, as is what both
 * read as a whole; where one of them reads nothing, the other is walked alone. So the cost is that of the parts of the vocabulary in which
 * they differ. A key that must not be one of those named differs from any string only along these names. */
#include "../base/wide.h"
#include "mk.h"

enum {
    MK_LISTED = 512,  /* tokens that are listed at most */
    CHOOSE = 8,       /* children, from which on they are not tried one by one at once */
    MARK = '"',       /* the last byte that may be an opening */
    /* runs. Up to there much is below each node, and whether all of it stays inside a lexeme is asked of each with many children */
    SHORT_WALK = 256,
    /* first bytes: so many, and one for every 8 children, are looked for among the children; of more each child is looked up */
    FEW_FIRST = 8,
    NEAR = 8,         /* nodes: where a span goes on for longer, its bytes are compared as a set */
    /* sets of such bytes kept at a time: what leads out of a configuration leads to few places, and a walk clears them all */
    SPANS = 8,
    /* nodes, at a time compared with a set (base/wide.h): of fewer each is looked up. From 8 on gained 4 % in strings, else nothing */
    LONG = 32,
    MANY_BEHIND = 64, /* nodes behind blanks: of fewer an outline takes no time */
    MANY = 16         /* nodes: to take the tokens of more out of a list takes longer than to make bits of it */
};
static_assert(NEAR <= LONG, "so many nodes of a long span are looked up without a look at its end");

void mk_begin(ge_engine *e, mk_found *found, bool listed) {
    mk_release_base(e, found);
    found->list.n = 0;
    found->listed = listed;
    if (!listed) memset(found->bits, 0, e->v->n_words * sizeof *found->bits);
}

void mk_make_bits(ge_engine *e, mk_found *found) {
    if (!found->listed) return;
    found->listed = false;
    mk_note_copy(e);
    mk_write_listed(e, found->base, found->list.at, found->list.n, found->bits);
    mk_release_base(e, found);
}

void mk_release_base(ge_engine *e, mk_found *found) {
    if (found->base) vb_release(e->v, found->base);
    found->base = NULL;
}

void mk_add_bits(ge_engine *e, mk_found *found, const u32 *bits) {
    mk_make_bits(e, found);
    mk_note_copy(e);
    wide_or(found->bits, bits, e->v->n_words);
}

void mk_add_inner(ge_engine *e, mk_found *found, const vb_inner *inner) {
    if (found->listed && !found->base && !(e->switches & GE_NO_SHARED_INNER)) {
        vb_hold(e->v, inner);
        found->base = inner;
        return;
    }
    mk_add_bits(e, found, inner->bits);
}

static bool add_token(ge_engine *e, mk_found *found, u32 token) {
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
        else if (!add_token(e, found, tokens[i])) return false;
    }
    return true;
}

void mk_clear_token(ge_engine *e, mk_found *found, u32 token) {
    if (found->base && found->base->bits[token >> 5] >> (token & 31) & 1) mk_make_bits(e, found);
    if (!found->listed) found->bits[token >> 5] &= ~((u32)1 << (token & 31));
    for (u32 i = 0; found->listed && i < found->list.n; i++)
        if (found->list.at[i] == token) found->list.at[i--] = found->list.at[--found->list.n];
}

/* The tokens of the nodes [from, to). */
static inline bool add_nodes(ge_engine *e, const tt_trie *trie, u32 from, u32 to, mk_found *found) {
    u32 n, *bits = found->bits;
    const u32 *tokens = tt_tokens(trie, from, to, &n);
    if (!found->listed) {
        for (u32 i = 0; i < n; i++) bits[tokens[i] >> 5] |= (u32)1 << (tokens[i] & 31);
        return true;
    }
    if (found->base || found->list.n + n > min_u32(found->list.cap, MK_LISTED)) return mk_add_listed(e, found, tokens, n);
    for (u32 i = 0; i < n; i++) found->list.at[found->list.n + i] = tokens[i];
    found->list.n += n;
    return true;
}

/* Notes the tokens of a node (see mk.c). */
static bool push_suspects(ge_engine *e, const tt_trie *trie, u32 node) {
    u32 n;
    const u32 *tokens = tt_tokens(trie, node, node + 1, &n);
    for (u32 i = 0; i < n; i++)
        if (!vec_push(&e->b, &e->mk.suspects, tokens[i])) return false;
    return true;
}

/* What will be read when the children of the node are tried. The vocabulary is larger than the caches that are near, and a walk that reads
 * little jumps about in it. */
static inline void fetch_children(const tt_trie *trie, u32 node) {
    u32 i = trie->first.at[node];
    __builtin_prefetch(&trie->byte.at[i]);
    __builtin_prefetch(&trie->token_from.at[i]);
    __builtin_prefetch(&trie->first.at[i]);
}

/* Is a child of the root a hub? Then the place is noted, if there is anything to read. (Not with
 * distinct lexemes: what stays inside a lexeme below a hub would not be looked at for suspects.) */
static bool stop_at_hub(ge_engine *e, u32 node, u32 config, bool *stopped) {
    *stopped = false;
    for (u32 h = 1; h < e->v->n_hubs && !*stopped && !e->g->g.has_distinct; h++) {
        *stopped = e->v->hubs[h].node == node;
        if (*stopped && config != CF_DEAD && !vec_push(&e->b, &e->mk.at_hubs, ((mk_place){h, config}))) return false;
    }
    return true;
}

/* The bytes by which a configuration is known to lead to another one. */
typedef struct mk_span {
    u32 config, to;
    wide_set bytes;
} mk_span;

/* What is being visited. Mostly several runs one after the other have the same configuration. */
typedef struct mk_visit {
    const tt_trie *trie;
    u32 config;
    bool is_main, is_root; /* the trie of the vocabulary; ... and its root */
    bool may_stay;         /* is it to be asked what stays inside a lexeme? */
    bool one_by_one;       /* are all children to be tried by themselves? */
    int marks;             /* up to this byte a child may be an opening; -1: none may */
    bool ends;             /* of the configuration: some alternative has ended */
    u32 _Atomic *next;     /* its transitions */
    byte_set first;        /* its first bytes */
    u32 n_first;           /* NONE: not asked for yet */
    byte_set ascii;        /* of the first bytes of the root, those that are left to be tried */
    mk_span spans[SPANS];  /* those asked for lately, each in the place to which its configurations lead */
} mk_visit;

/* To the queue: the nodes [from, to) that the automaton comes to in a
 * configuration, if anything is below them. `head`: the run that is visited. */
static inline bool push_run(ge_engine *e, const mk_visit *at, u32 head, u32 from, u32 to, u32 config) {
    if (at->trie->first.at[from] == at->trie->first.at[to]) return true;
    mk_run *last = e->mk.runs.at + e->mk.runs.n - 1;
    if (e->mk.runs.n - 1 > head && last->to == from && last->config == config) {
        last->to = to;
        return true;
    }
    fetch_children(at->trie, from);
    return vec_push(&e->b, &e->mk.runs, ((mk_run){from, to, config}));
}

/* Reads the byte of a child. */
static bool try_child(ge_engine *e, const mk_visit *at, u32 head, u32 i, mk_found *found) {
    const tt_trie *trie = at->trie;
    const u32 *first = trie->first.at;
    u32 c = e->lx.x.class_of[trie->byte.at[i]];
    u32 to = atomic_load_explicit(&at->next[c], memory_order_relaxed); /* common case: one look-up, dead or alive */
    if (to >= CF_READS && first[i] == first[i + 1] && !e->g->g.has_distinct) { /* where it leads to does not matter */
        bool is_read = to == CF_READS;
        if (!is_read && !cf_reads(e, at->config, c, &is_read)) return false;
        if (!is_read) return true;
    } else if (to >= CF_READS && (to = cf_step(e, at->config, c)) == NONE) {
        return false;
    }
    if (to == CF_DEAD) return true;
    if (!add_nodes(e, trie, i, i + 1, found)) return false;
    if (e->g->g.has_distinct && cf_at(e, to)->unsure && !push_suspects(e, trie, i)) return false;
    if (first[i] == first[i + 1]) return true;
    if (at->is_main && (at->is_root || trie->byte.at[i] <= MARK)) {
        bool stopped = false;
        if (at->is_root && !stop_at_hub(e, i, to, &stopped)) return false;
        if (!stopped && trie->byte.at[i] <= MARK && !mk_stop_at_opening(e, i, to, &stopped)) return false;
        if (stopped) return true;
    }
    return push_run(e, at, head, i, i + 1, to);
}

/* The first bytes of the configuration; NULL: failure. */
static const byte_set *first_bytes(ge_engine *e, mk_visit *at) {
    if (at->n_first == NONE) {
        if (!cf_first(e, at->config, &at->first)) return NULL;
        at->n_first = set_count(&at->first);
    }
    return &at->first;
}

/* Does the byte of the node lead to `to`, and may it not be an opening? */
static inline bool leads_to(const ge_engine *e, const mk_visit *at, u32 node, u32 to) {
    u8 byte = at->trie->byte.at[node];
    return byte > at->marks && atomic_load_explicit(&at->next[e->lx.x.class_of[byte]], memory_order_relaxed) == to;
}

/* The first of the nodes [i, end) that does not lead to `to` as the one before it does,
 * or may be an opening. In a long span bytes that were met are compared as a set. */
static inline u32 end_of_span(const ge_engine *e, mk_visit *at, u32 i, u32 end, u32 to) {
    if (end - i >= LONG) {
        mk_span *known = &at->spans[(at->config + to) % SPANS];
        bool is_known = known->config == at->config && known->to == to;
        for (u32 near = i + (is_known ? 0 : NEAR); i < near; i++)
            if (!leads_to(e, at, i, to)) return i;
        if (!is_known) *known = (mk_span){.config = at->config, .to = to};
        while ((i += (u32)wide_span(&known->bytes, at->trie->byte.at + i, end - i)) < end && leads_to(e, at, i, to))
            wide_add(&known->bytes, at->trie->byte.at[i++]);
        return i;
    }
    while (i < end && leads_to(e, at, i, to)) i++;
    return i;
}

/* Tries the children [begin, end) that begin with one of the bytes `first`, which those that
 * can be read do (NULL: it is not known which do): those that lead to the same place together. */
static bool try_all(ge_engine *e, mk_visit *at, u32 head, u32 begin, u32 end, const byte_set *first, mk_found *found) {
    const u8 *bytes = at->trie->byte.at, *class_of = e->lx.x.class_of;
    u32 _Atomic *next = at->next;
    e->stats.trie_nodes += end - begin;
    for (u32 i = begin; i < end;) {
        u32 to = atomic_load_explicit(&next[class_of[bytes[i]]], memory_order_relaxed), from = i++;
        if (to == CF_DEAD) continue;
        if (to >= CF_READS || bytes[from] <= at->marks || at->one_by_one) {
            if (!first && end - begin >= CHOOSE && !(first = first_bytes(e, at))) return false;
            if (first && !set_has(first, bytes[from])) continue;
            if (!try_child(e, at, head, from, found)) return false;
            continue;
        }
        i = end_of_span(e, at, i, end, to);
        if (!add_nodes(e, at->trie, from, i, found) || !push_run(e, at, head, from, i, to)) return false;
    }
    return true;
}

/* Tries those of many children of a node that the first bytes choose. *first: these; NULL: those of the configuration. If they are too
 * many, *done = false: all children are to be tried, and *first tells which can be read. */
static bool try_chosen(ge_engine *e, mk_visit *at, u32 head, u32 begin, u32 end, const byte_set **first, mk_found *found, bool *done) {
    const u8 *bytes = at->trie->byte.at;
    u32 n_first = *first ? set_count(*first) : 0;
    *done = false;
    if (!*first) {
        if (!(*first = first_bytes(e, at))) return false;
        n_first = at->n_first;
    }
    if (at->is_root && e->is_one_lexeme) {
        bool beyond;
        if (!mk_add_beyond(e, at->config, found, &beyond)) return false;
        if (beyond) {
            at->ascii = **first;
            memset(at->ascii.w + 4, 0, 4 * sizeof *at->ascii.w);
            *first = &at->ascii;
            n_first = set_count(*first);
        }
    }
    if (n_first > FEW_FIRST + (end - begin) / 8) return true;
    *done = true;
    e->stats.trie_nodes += n_first;
    for (u32 k = 0; k < 8; k++)
        for (u32 left = (*first)->w[k]; left; left &= left - 1) {
            u32 byte = 32 * k + (u32)__builtin_ctz(left);
            const u8 *child = end - begin == 256 /* all bytes */ ? bytes + begin + byte : memchr(bytes + begin, (int)byte, end - begin);
            if (child && !try_child(e, at, head, (u32)(child - bytes), found)) return false;
        }
    return true;
}

/* All tokens below a run. */
static bool add_below(ge_engine *e, const tt_trie *trie, mk_run run, mk_found *found) {
    while (tt_below(trie, &run.from, &run.to))
        if (!add_nodes(e, trie, run.from, run.to, found)) return false;
    return true;
}

static bool note_ends(ge_engine *e, const mk_visit *at, mk_run run) {
    const u32 *first = at->trie->first.at;
    for (u32 i = run.from; i < run.to; i++)
        if (first[i] != first[i + 1] && !mk_note_ends(e, at->trie, (mk_place){i, run.config})) return false;
    return true;
}

/* What is below a run: tokens that stay inside a lexeme as a whole, what else is below by its children. `ask`: is it worth while to ask? */
static bool visit_run(ge_engine *e, mk_visit *at, u32 head, mk_run run, bool ask, mk_found *found) {
    const u32 *next = at->trie->first.at;
    const byte_set *first = at->is_root ? e->mk.begins : NULL;
    u32 begin = next[run.from], end = next[run.to], i = run.to;
    if (!first) {
        if (ask && mk_stays_below(e, run)) return add_below(e, at->trie, run, found);
        if (at->ends && !note_ends(e, at, run)) return false;
    }
    if (first || (run.to - run.from == 1 && end - begin >= CHOOSE)) {
        bool done;
        if (!try_chosen(e, at, head, begin, end, &first, found, &done)) return false;
        if (done) return true;
    } else if (ask && head < SHORT_WALK && run.to - run.from > 1) {
        i = run.from;
    }
    for (;; begin = next[++i]) { /* node i: the next one below which all stays */
        while (i < run.to && (next[i + 1] - next[i] < CHOOSE || !mk_stays_below(e, (mk_run){i, i + 1, run.config}))) i++;
        if (!try_all(e, at, head, begin, i < run.to ? next[i] : end, first, found)) return false;
        if (i == run.to) return true;
        if (!add_below(e, at->trie, (mk_run){i, i + 1, run.config}, found)) return false;
    }
}

/* *done: a node with one child, by whose byte it is known where the automaton goes, was visited. Half of the runs of short walks are
 * such. */
static inline bool visit_single(ge_engine *e, const mk_visit *at, u32 head, mk_run run, mk_found *found, bool *done) {
    const tt_trie *trie = at->trie;
    u32 child = trie->first.at[run.from];
    u8 byte = trie->byte.at[child];
    u32 to = atomic_load_explicit(&at->next[e->lx.x.class_of[byte]], memory_order_relaxed);
    *done = to < CF_READS && byte > at->marks;
    if (!*done) return true;
    e->stats.trie_nodes++;
    if (at->ends && !mk_note_ends(e, trie, (mk_place){run.from, run.config})) return false;
    return to == CF_DEAD || (add_nodes(e, trie, child, child + 1, found) && push_run(e, at, head, child, child + 1, to));
}

/* From the runs in e->mk.runs on. */
static bool walk_on(ge_engine *e, const tt_trie *trie, mk_found *found) {
    mk_visit at;
    at.trie = trie;
    at.is_main = trie == &e->v->trie;
    at.may_stay = at.is_main && mk_may_stay(e);
    at.marks = at.is_main ? MARK : -1;
    at.config = NONE;
    for (u32 i = 0; i < SPANS; i++) at.spans[i].config = NONE;
    for (u32 head = 0; head < e->mk.runs.n; head++) {
        mk_run run = e->mk.runs.at[head];
        if (run.config != at.config) {
            cf_record *record = cf_at(e, run.config);
            at.config = run.config;
            at.next = record->next;
            at.ends = record->ends;
            at.n_first = NONE;
        }
        at.is_root = at.is_main && run.from == 0;
        at.one_by_one = at.is_root || e->g->g.has_distinct;
        u32 n_children = trie->first.at[run.to] - trie->first.at[run.from];
        if (n_children == 1 && run.to - run.from == 1 && !at.one_by_one && head <= SHORT_WALK) {
            bool done;
            if (!visit_single(e, &at, head, run, found, &done)) return false;
            if (done) continue;
        }
        bool is_wide = n_children >= CHOOSE;
        if (!visit_run(e, &at, head, run, at.may_stay && (is_wide || head > SHORT_WALK), found)) return false;
    }
    return true;
}

void mk_clear_tokens(ge_engine *e, const tt_trie *trie, u32 from, u32 to, mk_found *found) {
    if (to - from > MANY) mk_make_bits(e, found);
    u32 n;
    const u32 *tokens = tt_tokens(trie, from, to, &n);
    for (u32 i = 0; i < n; i++) mk_clear_token(e, found, tokens[i]);
}

/* Is what is behind blanks left to the tasks of masks (mk_outline.c)? It
 * is, if it is more than a few tokens, and a lexeme reads much of it. */
static bool leave_opening(ge_engine *e, mk_place at, bool *is_left) {
    *is_left = false;
    if (!e->mk.leaves_openings || !e->v->openings[at.node].blank) return true;
    if (e->v->openings[at.node].rest.byte.n < MANY_BEHIND) return true;
    for (u32 i = 0, n = cf_count(e, at.config); i < n && !*is_left; i++)
        if (!mk_has_wide(e, cf_alternative_at(e, at.config, i).state >> 1, is_left)) return false;
    return !*is_left || vec_push(&e->b, &e->mk.at_hubs, ((mk_place){VB_HUBS + at.node, at.config}));
}

bool mk_walk_places(ge_engine *e, const tt_trie *trie, const u32 *nodes, u32 n, u32 config, mk_found *found) {
    e->mk.at_openings.n = e->mk.runs.n = 0;
    for (u32 i = 0; i < n; i++)
        if (!vec_push(&e->b, &e->mk.runs, ((mk_run){nodes[i], nodes[i] + 1, config}))) return false;
    bool ok = walk_on(e, trie, found);
    while (ok && e->mk.at_openings.n) {
        mk_place at = e->mk.at_openings.at[--e->mk.at_openings.n];
        const vb_opening *opening = &e->v->openings[at.node];
        bool is_left;
        e->mk.runs.n = 0;
        ok = mk_add_opening(e, opening, found) && leave_opening(e, at, &is_left);
        if (ok && !is_left) ok = vec_push(&e->b, &e->mk.runs, ((mk_run){0, 1, at.config})) && walk_on(e, &opening->rest, found);
    }
    return ok;
}

bool mk_walk_bytes(ge_engine *e, u32 config, const byte_set *first, mk_found *found) {
    if (set_is_empty(first)) return true;
    e->mk.begins = first;
    bool ok = mk_walk(e, &e->v->trie, 0, config, found);
    e->mk.begins = NULL;
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
    if ((other == CF_DEAD || stopped) && !add_nodes(e, trie, i, i + 1, found)) return false;
    u32 n_children = trie->first.at[i + 1] - trie->first.at[i];
    if (stopped || n_children == 0) return true;
    if (other == CF_DEAD && n_children >= CHOOSE) return mk_walk(e, trie, i, to, found);
    e->mk.walk.at[e->mk.walk.n++] = (mk_place){i, to};
    e->mk.walk.at[e->mk.walk.n++] = (mk_place){i, other};
    fetch_children(trie, i);
    return true;
}

/* Do both configurations read all tokens below a node, as far as is known? */
static bool stay_both(ge_engine *e, mk_place at, mk_place beside) {
    return mk_stays_below(e, (mk_run){at.node, at.node + 1, at.config}) && mk_stays_below(e, (mk_run){at.node, at.node + 1, beside.config});
}

/* `most` = NONE: all of it. */
static bool walk_difference(ge_engine *e, const tt_trie *trie, u32 node, u32 config, u32 base, u32 most, mk_found *found, bool *far) {
    const u8 *bytes = trie->byte.at;
    u64 enough = most == NONE ? UINT64_MAX : e->stats.trie_nodes + most;
    bool may_stay = trie == &e->v->trie && mk_may_stay(e);
    *far = false;
    e->mk.walk.n = 0;
    if (!vec_push(&e->b, &e->mk.walk, ((mk_place){node, config})) || !vec_push(&e->b, &e->mk.walk, ((mk_place){node, base}))) return false;
    for (u32 head = 0; head < e->mk.walk.n; head += 2) {
        if (e->stats.trie_nodes > enough) return *far = true;
        mk_place at = e->mk.walk.at[head], beside = e->mk.walk.at[head + 1];
        u32 begin = trie->first.at[at.node], end = trie->first.at[at.node + 1];
        byte_set differ;
        if (may_stay && (end - begin >= CHOOSE || head > 2 * SHORT_WALK) && stay_both(e, at, beside)) continue;
        if (!vec_reserve(&e->b, &e->mk.walk, 2 * (end - begin)) || !cf_differ(e, at.config, beside.config, &differ)) return false;
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

bool mk_walk_difference(ge_engine *e, const tt_trie *trie, u32 node, u32 config, u32 base, mk_found *found) {
    bool far;
    return walk_difference(e, trie, node, config, base, NONE, found, &far);
}

bool mk_walk_near(ge_engine *e, u32 node, u32 config, u32 base, u32 most, mk_found *found, bool *far) {
    return walk_difference(e, &e->v->trie, node, config, base, most, found, far);
}

void mk_drop_walks(ge_engine *e) {
    vec_drop(&e->b, &e->mk.walk);
    vec_drop(&e->b, &e->mk.runs);
    vec_drop(&e->b, &e->mk.at_hubs);
    vec_drop(&e->b, &e->mk.at_openings);
    vec_drop(&e->b, &e->mk.perils_of);
    vec_drop(&e->b, &e->mk.perils);
    vec_drop(&e->b, &e->mk.looping);
    map_drop(&e->b, &e->mk.loops_of);
    vec_drop(&e->b, &e->mk.loops);
    map_drop(&e->b, &e->mk.beyond_of);
    vec_drop(&e->b, &e->mk.beyond);
    vec_drop(&e->b, &e->mk.beyond_words);
}
