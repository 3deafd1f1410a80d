/* The analysis of a unit: its lexeme-internal mask, from a walk of the vocabulary with the lexer alone (mk_inner.c says what it is for).
 *
 * The trie is gone through level by level, a state of the lexer for each node. A token that ends where the state is alive stays inside.
 * Where the lexer dies, each token at the node and below leaves at the places above where a lexeme ends: what is left of it after each of
 * them is a *tail*.
 *
 * Nearly always shapes go first (mk_shapes.c), and this walks what they do not decide, or what a slice leaves.
 *
 * Cost: 4 to 5 ns a node until a lexeme has ended, then about 6, once for a
 * vocabulary; for all of 131,072 tokens, 266,000 nodes, 1 to 2 ms with all tails. */
#include "mk_analysis.h"

enum {
    MAX_TAILS = 30000, /* a unit from which more tokens leave is better walked */
    SPLIT = 4,         /* one in so many nodes is much */
    FEW_LEFT = 1024    /* nodes that a slice leaves: then they are walked even where shapes decide */
};

/* The exit for what matches in `state`, where so many characters have begun. NONE on failure. */
static u32 exit_of(analysis *a, u32 state, u32 begun) {
    const lx_lexer *l = &a->e->lx;
    lx_state info = l->info.at[state];
    for (u32 i = 0; i < a->matched.n; i++) {
        lx_state other = l->info.at[a->matched.at[i]];
        if (other.accepts == info.accepts && other.skips == info.skips && a->inner->exits.at[i].room == begun) return i;
    }
    vb_exit exit = {.room = begun};
    bool ok = true;
    for (u32 i = 0, k = 0, n = lx_count(l, a->start); ok && i < n && info.accepts != NONE; i++) {
        if (k >= intern_length(&l->accepts, info.accepts)) break;
        if (lx_lexeme_at(l, a->start, i) != intern_words(&l->accepts, info.accepts)[k]) continue;
        ok = vec_push(a->b, &exit.places, i);
        k++;
    }
    if (ok && info.skips) ok = vec_push(a->b, &exit.places, NONE);
    ok = ok && vec_push(&a->e->b, &a->matched, state) && vec_push(a->b, &a->inner->exits, exit);
    if (!ok) vec_drop(a->b, &exit.places);
    return ok ? a->matched.n - 1 : NONE;
}

bool an_leave(analysis *a, const an_places *p, const u32 *tokens, u32 n, u32 node, u32 depth) {
    u32 words = VB_WORDS; /* the sort of those that go on as what is further down begins */
    for (u32 above = p->parent[node]; p->end[above]; node = above, above = p->parent[above], depth--) {
        u32 kind = p->kind_of ? p->kind_of[p->label[node]] : p->label[node], sort = a->sort_of[kind];
        if (sort == VB_WORDS) sort = words;
        else words = sort == VB_BEYOND ? VB_MIXED : VB_WORDS;
        if (!(p->end[above] & AN_HERE)) continue;
        u32 exit = exit_of(a, a->states.at[p->at[above]], p->begun ? p->begun[above] : 0);
        if (exit == NONE) return false;
        vb_exit *to = &a->inner->exits.at[exit];
        to->kinds |= (u64)1 << kind;
        if (!vb_add_tails(a->b, to, sort, depth - 1, tokens, n)) return false;
        if ((a->n_tails += n) > MAX_TAILS) return a->given_up = true, false;
        if (a->e->g->longest) break;
    }
    return true;
}

/* ... and so do all of those at a node and below. */
static bool leave_below(analysis *a, const an_places *p, const tt_trie *trie, u32 node, u32 depth) {
    u32 from = node, to = node + 1, n;
    do {
        const u32 *tokens = tt_tokens(trie, from, to, &n);
        if (n && !an_leave(a, p, tokens, n, node, depth)) return false;
    } while (tt_below(trie, &from, &to));
    return true;
}

static bool finish_tails(analysis *a) {
    for (u32 i = 0; i < a->inner->exits.n; i++)
        if (!vb_finish_tails(a->e->v, a->b, &a->inner->exits.at[i])) return false;
    return vec_fit(a->b, &a->inner->exits);
}

/* Notes how far a state is from an end. */
static bool note_finish(analysis *a, u32 state) {
    ge_engine *e = a->e;
    for (u32 i = 0, n = lx_count(&e->lx, state); i < n; i++) {
        u32 bytes = rx_finish(&e->lx.x, lx_rest_at(&e->lx, state, i), MK_FINISH);
        if (bytes == NONE) return false;
        if (bytes > MK_FINISH) return a->given_up = true, false;
        a->inner->finish = max_u32(a->inner->finish, bytes);
    }
    return true;
}

/* The number of a lexer state. NONE: failure, or given up. */
static u32 number_of(analysis *a, u32 state) {
    budget *b = &a->e->b;
    u32 n = a->states.n, n_classes = a->e->lx.x.n_classes;
    while (a->numbers.n <= state)
        if (!vec_push(b, &a->numbers, AN_DEAD)) return NONE;
    if (state == LX_DEAD && n) return AN_DEAD;
    if (a->numbers.at[state] != AN_DEAD) return a->numbers.at[state];
    if (n == AN_MAX_STATES) return a->given_up = true, NONE;
    if (n > AN_DEAD && mk_tier_of(a->view) != NONE && !note_finish(a, state)) return NONE;
    lx_state info = a->e->lx.info.at[state];
    bool ends = n > AN_START && !a->e->is_one_lexeme && (info.accepts != NONE || info.skips); /* not where nothing has been read yet */
    a->has_ended |= ends;
    if (!vec_push(b, &a->states, state) || !vec_push(b, &a->ends, ends ? AN_ON_PATH | AN_HERE : 0) || !vec_reserve(b, &a->next, n_classes))
        return NONE;
    memset(a->next.at + a->next.n, n == AN_DEAD ? 0 : 0xff, n_classes * sizeof *a->next.at);
    a->next.n += n_classes;
    if (a->inner->needs && !an_number_room(a, state)) return NONE;
    if (n > AN_START) a->numbers.at[state] = (u16)n; /* the start has no number: to come back to it is to have read something */
    return n;
}

u32 an_step(analysis *a, u32 from, u32 c) {
    if (an_known(a, from, c) != AN_UNKNOWN) return an_known(a, from, c);
    u32 state = lx_step(&a->e->lx, a->states.at[from], c), to = state == NONE ? NONE : number_of(a, state);
    if (to == NONE) return NONE;
    return a->next.at[from * a->e->lx.x.n_classes + c] = (u16)to;
}

/* The tokens of a node of an open unit need what has begun there and what must still begin, if the state there is alive. */
static inline bool put_needs(analysis *a, const tt_trie *trie, u32 node, u32 state, u32 begun) {
    u32 from = trie->token_from.at[node], n = trie->token_from.at[node + 1] - from;
    return state == AN_DEAD || an_note_needs(a, trie->tokens.at + from, n, state, begun);
}

/* The tokens of a node stay inside, if the state there is alive. No branch
 * depends on that, or on whether the node is a token: both come in no order. */
static inline void put_tokens(const tt_trie *trie, u32 node, u32 state, u32 *bits) {
    u32 from = trie->token_from.at[node], n = trie->token_from.at[node + 1] - from, token = trie->tokens.at[from];
    bits[token >> 5] |= (u32)(n != 0 && state != AN_DEAD) << (token & 31);
    for (u32 i = 1; i < n && state != AN_DEAD; i++) bits[trie->tokens.at[from + i] >> 5] |= (u32)1 << (trie->tokens.at[from + i] & 31);
}

/* Nodes of one depth as long as no lexeme has ended anywhere, as it is until the quotation mark of a string: of each node only the state is
 * of interest. False: failure, or given up; else *from is where it was so no longer. */
static bool walk_inside(analysis *a, an_places *p, const tt_trie *trie, u32 *from, u32 to) {
    const u32 *parent = trie->parent.at, n_classes = a->e->lx.x.n_classes;
    const u8 *class_of = a->e->lx.x.class_of, *bytes = trie->byte.at;
    const u16 *next = a->next.at;
    u32 *bits = a->inner->bits, i = *from;
    u16 *at = p->at;
    u8 *end = p->end;
    for (; i < to && !a->has_ended; i++) {
        u32 above = at[parent[i]], c = class_of[bytes[i]], state = next[above * n_classes + c];
        if (state == AN_UNKNOWN) {
            if ((state = an_step(a, above, c)) == NONE) return false;
            next = a->next.at;
            if (a->has_ended) break;
        }
        at[i] = (u16)state;
        end[i] = 0;
        put_tokens(trie, i, state, bits);
    }
    *from = i;
    return true;
}

/* The nodes of one depth in some runs, all of whose parents have been visited; then
 * each run is between those that are alive. A dead state is a state like others. */
static bool walk_level(analysis *a, an_places *p, const tt_trie *trie, an_run *runs, u32 n_runs, u32 depth) {
    const u32 *parent = trie->parent.at, n_classes = a->e->lx.x.n_classes;
    const u8 *class_of = a->e->lx.x.class_of, *bytes = trie->byte.at, *ends = a->ends.at;
    const u16 *next = a->next.at;
    u32 *bits = a->inner->bits;
    u16 *at = p->at;
    u8 *end = p->end, *begun = p->begun;
    for (an_run *run = runs; run < runs + n_runs; run++) {
        u32 from = run->from, to = run->to, i = from;
        a->e->stats.trie_nodes += to - from;
        if (!begun && !a->has_ended) {
            if (!walk_inside(a, p, trie, &i, to)) return false;
            next = a->next.at;
            ends = a->ends.at;
        }
        for (; i < to; i++) {
            u32 above = parent[i], c = class_of[bytes[i]], state = next[at[above] * n_classes + c];
            if (state == AN_UNKNOWN) {
                if ((state = an_step(a, at[above], c)) == NONE) return false;
                next = a->next.at;
                ends = a->ends.at;
            }
            at[i] = (u16)state;
            end[i] = (u8)((end[above] & AN_ON_PATH) | ends[state]);
            if (!begun) {
                put_tokens(trie, i, state, bits);
            } else {
                begun[i] = an_begun(a, p, above, c);
                if (!put_needs(a, trie, i, state, begun[i])) return false;
            }
            if (end[above] && state == AN_DEAD) {
                end[i] = 0;
                if (at[above] != AN_DEAD && !leave_below(a, p, trie, i, depth)) return false;
            }
        }
        while (from < to && at[from] == AN_DEAD) from++;
        while (from < to && at[to - 1] == AN_DEAD) to--;
        *run = (an_run){from, to};
        if (n_runs > 1) __builtin_prefetch(trie->first.at + from);
    }
    return true;
}

bool an_begin(analysis *a, an_places *p, u32 n) {
    p->n = n;
    p->at = mem_resize(a->b, NULL, 0, n * sizeof *p->at);
    p->end = mem_resize(a->b, NULL, 0, n);
    if (a->inner->needs) p->begun = mem_resize(a->b, NULL, 0, n);
    return p->at && p->end && (p->begun || !a->inner->needs);
}

void an_end(analysis *a, an_places *p) {
    if (p->at) mem_resize(a->b, p->at, p->n * sizeof *p->at, 0);
    if (p->end) mem_resize(a->b, p->end, p->n, 0);
    if (p->begun) mem_resize(a->b, p->begun, p->n, 0);
}

/* Walks the nodes [from, to) of one depth, whose parents have been visited, and what is below them, up to max_depth. */
static bool walk_levels(analysis *a, an_places *p, const tt_trie *trie, u32 from, u32 to, u32 depth, u32 max_depth) {
    an_run run = {from, to};
    bool more = from < to;
    for (; more && depth <= max_depth; depth++) {
        if (!walk_level(a, p, trie, &run, 1, depth)) return false;
        more = run.from < run.to && tt_below(trie, &run.from, &run.to);
    }
    return true;
}

/* Memory for a run, before it is read. */
static void await_run(const an_places *p, const tt_trie *trie, u32 node) {
    __builtin_prefetch(trie->parent.at + node);
    __builtin_prefetch(trie->token_from.at + node);
    __builtin_prefetch(trie->byte.at + node);
    __builtin_prefetch(p->at + node, 1);
    __builtin_prefetch(p->end + node, 1);
}

bool an_put_run(analysis *a, const an_places *p, const tt_trie *trie, an_runs *runs, an_run run) {
    if (runs->n && runs->at[runs->n - 1].to == run.from) return runs->at[runs->n - 1].to = run.to, true;
    await_run(p, trie, run.from);
    return vec_push(&a->e->b, runs, run);
}

/* What is below runs of one depth; those that are side by side become one. */
static void go_below(const an_places *p, const tt_trie *trie, an_runs *runs) {
    u32 n = runs->n;
    runs->n = 0;
    for (u32 i = 0; i < n; i++) {
        an_run run = runs->at[i];
        if (run.from == run.to || !tt_below(trie, &run.from, &run.to)) continue;
        if (runs->n && runs->at[runs->n - 1].to == run.from) {
            runs->at[runs->n - 1].to = run.to;
        } else {
            await_run(p, trie, run.from);
            runs->at[runs->n++] = run;
        }
    }
}

/* Many short runs lie far apart in the trie. So all of a depth are walked before the next, and memory is asked for before it is read. */
bool an_walk_runs(analysis *a, an_places *p, const tt_trie *trie, an_runs *runs, u32 depth, u32 max_depth) {
    for (; runs->n && depth <= max_depth; depth++) {
        if (!walk_level(a, p, trie, runs->at, runs->n, depth)) return false;
        go_below(p, trie, runs);
    }
    runs->n = 0;
    return true;
}

/* What is below a hub, which is this node, or below the root. */
static bool walk_trie(analysis *a, const tt_trie *trie, u32 node, u32 max_depth) {
    an_places p = {.parent = trie->parent.at, .label = trie->byte.at, .kind_of = a->e->v->shapes.kind_of};
    bool ok = an_begin(a, &p, trie->byte.n);
    if (ok) {
        p.at[node] = AN_START;
        p.end[node] = 0;
        if (p.begun) p.begun[node] = 0;
        ok = walk_levels(a, &p, trie, trie->first.at[node], trie->first.at[node + 1], node ? 2 : 1, max_depth);
    }
    an_end(a, &p);
    return ok;
}

/* Is much behind first bytes of kinds of which some lead elsewhere than others? Then shapes decide little. */
static bool splits_kinds(analysis *a, u32 hub, bool *answer) {
    const ge_engine *e = a->e;
    const u8 *class_of = e->lx.x.class_of, *kind_of = e->v->shapes.kind_of;
    u32 split = 0, total = 0;
    for (u32 begin = 0, end; begin < 256; begin = end) {
        u32 weight = 0, to = an_step(a, AN_START, class_of[begin]);
        bool is_split = false;
        for (end = begin; end < 256 && kind_of[end] == kind_of[begin]; end++) {
            u32 other = an_step(a, AN_START, class_of[end]);
            if (to == NONE || other == NONE) return false;
            is_split |= other != to;
            weight += other == AN_DEAD ? 0 : e->v->hubs[hub].weight[end];
        }
        total += weight;
        split += is_split ? weight : 0;
    }
    return *answer = SPLIT * (u64)split >= total, true;
}

/* What begins as a slice does that the user lists, and is not in it; then what begins otherwise. */
static bool walk_own(analysis *a, const vb_own *own, u32 hub) {
    const tt_trie *trie = &a->e->v->trie;
    const byte_set *first = lx_first(&a->e->lx, a->start);
    u32 root = a->e->v->hubs[hub].node;
    an_places p = {.parent = trie->parent.at, .label = trie->byte.at, .kind_of = a->e->v->shapes.kind_of};
    byte_set beside = first ? *first : own->first;
    memcpy(a->inner->bits, own->parts[hub].bits.at, a->e->v->n_words * sizeof(u32));
    a->e->stats.slice_hits++;
    bool ok = first && walk_trie(a, &own->parts[hub].rest, hub ? 1 : 0, NONE);
    for (u32 i = trie->first.at[root]; ok && i < trie->first.at[root + 1]; i++) {
        if (!set_has(&beside, trie->byte.at[i]) || set_has(&own->first, trie->byte.at[i])) continue;
        if (!p.n && !(ok = an_begin(a, &p, trie->byte.n))) break;
        p.at[root] = AN_START;
        p.end[root] = 0;
        ok = walk_levels(a, &p, trie, i, i + 1, hub ? 2 : 1, NONE);
    }
    an_end(a, &p);
    return ok;
}

/* Walks all tokens below a hub: those that are not in a slice that stays inside, or all by their shapes. */
static bool walk_lexer(analysis *a) {
    ge_engine *e = a->e;
    u32 hub = mk_hub_of(a->view), tier = mk_tier_of(a->view);
    bool is_clamped = tier != NONE;
    u32 max_depth = is_clamped ? e->v->tiers[tier].bytes : NONE;
    if (a->view == MK_OPEN && !an_begin_room(a)) return false;
    if (number_of(a, LX_DEAD) == NONE || number_of(a, a->start) == NONE) return false;
    bool by_plain = false, may_plain = !hub && !(e->switches & GE_NO_SLICES);
    const tt_trie *others = &e->v->slices[VB_PLAIN].rest;
    if (a->view == MK_OPEN) {
        if (may_plain && !an_walk_dense(a, NONE, &by_plain)) return false;
        if (by_plain) return walk_trie(a, others, 0, NONE);
        return e->switches & GE_NO_SHAPES ? walk_trie(a, &e->v->trie, 0, NONE) : an_walk_shapes(a, 0, NONE);
    }
    if (may_plain && !is_clamped && !an_walk_plain(a, &by_plain)) return false;
    if (by_plain) return walk_trie(a, others, 0, NONE);
    vb_cut cut;
    id_vec reached = {0}; /* by the tokens of a slice, which are not walked: a clamped unit has to be finished from there, too */
    bool ok = mk_cut(e, a->start, hub, &cut, is_clamped ? &reached : NULL);
    for (u32 i = 0; ok && cut.bits && i < reached.n; i++) ok = note_finish(a, reached.at[i]);
    vec_drop(&e->b, &reached);
    const vb_own *own = NULL;
    if (ok && !cut.bits && !is_clamped && e->v->n_own) {
        bool split;
        ok = splits_kinds(a, hub, &split) && mk_find_own(e, a->start, hub, split ? NONE : FEW_LEFT, &own);
    }
    if (!ok) return false;
    if (own) return walk_own(a, own, hub);
    if (!cut.bits && may_plain && !an_walk_dense(a, max_depth, &by_plain)) return false;
    if (by_plain) return walk_trie(a, others, 0, max_depth);
    if (cut.bits) memcpy(a->inner->bits, cut.bits, e->v->n_words * sizeof(u32));
    bool by_shapes = !cut.bits && !(e->switches & GE_NO_SHAPES) && (hub == 0 || vb_is_kind(e->v, e->v->hubs[hub].byte));
    return by_shapes ? an_walk_shapes(a, hub, max_depth) : walk_trie(a, cut.rest, e->v->hubs[hub].node, max_depth);
}

/* Takes back what a slice has decided of tokens beyond the tier. */
static void clear_longer(const tt_trie *longer, u32 *bits) {
    u32 n;
    const u32 *tokens = tt_tokens(longer, 0, longer->byte.n, &n);
    for (u32 i = 0; i < n; i++) bits[tokens[i] >> 5] &= ~((u32)1 << (tokens[i] & 31));
}

vb_inner *mk_analyse(ge_engine *e, u32 state, u32 view, mk_key key, budget *b, bool *leaves_much) {
    analysis a = {.e = e, .b = b, .start = state, .view = view};
    a.inner = mem_resize(b, NULL, 0, sizeof *a.inner);
    if (!a.inner) return budget_fail(&e->b, b->status), NULL;
    memset(a.inner, 0, sizeof *a.inner);
    a.inner->n_words = e->v->n_words;
    a.inner->bits = mem_resize(b, NULL, 0, e->v->n_words * sizeof(u32));
    bool ok = a.inner->bits != NULL && vec_reserve(b, &a.inner->key, key.n);
    for (u32 byte = 0; byte < 256; byte++) a.sort_of[e->v->shapes.kind_of[byte]] = (u8)vb_sort(byte);
    if (ok) memset(a.inner->bits, 0, e->v->n_words * sizeof(u32));
    if (ok) memcpy(a.inner->key.at, e->mk.key_words.at + key.at, key.n * sizeof(u32));
    if (ok) a.inner->key.n = key.n;
    ok = ok && walk_lexer(&a) && finish_tails(&a);
    if (ok && view == MK_OPEN) an_end_room(&a);
    if (ok && mk_tier_of(view) != NONE) clear_longer(&e->v->tiers[mk_tier_of(view)].longer, a.inner->bits);
    vec_drop(&e->b, &a.matched);
    vec_drop(&e->b, &a.states);
    vec_drop(&e->b, &a.next);
    vec_drop(&e->b, &a.ends);
    vec_drop(&e->b, &a.numbers);
    vec_drop(&e->b, &a.least);
    vec_drop(&e->b, &a.raw);
    e->stats.inner_builds++;
    *leaves_much = a.n_tails > MAX_TAILS;
    if (ok) {
        a.inner->hash = key.hash;
        a.inner->bytes = b->bytes;
        return a.inner;
    }
    vb_inner_free(b, a.inner);
    if (!a.given_up && e->b.status == GE_OK) budget_fail(&e->b, b->status);
    return NULL;
}
