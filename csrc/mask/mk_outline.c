/* Outlines: walks of the vocabulary that are made once for all rows in which the same lexemes may come.
 *
 * Idea. In grammars of programming languages texts come to a new row at nearly each token, and hardly ever to new lexemes. Where a walk
 * goes depends on the row only by these until a lexeme ends. So it is made with an *open* row, which stands for all rows with that lexer
 * state, and what is found is kept, the *outline*:
 *
 *     tokens   that are read before the walk needs to know more
 *     exits    a set of lexemes, and the places of the trie at which it has matched and something is below
 *     hubs     the configurations in which it has come to hubs (vocab/vb.h), or to white space behind which something reads much
 *
 *     what a row reads from some places on  =  tokens  +  for each exit: what the row after these lexemes reads from its places on
 *
 * So a mask for a row that is new takes look-ups, and an Earley step for
 * each exit. A skip leads back to the row, and so does not end the outline.
 *
 * The rows after exits are cut where they can be (parser/ep_cut.c): what may come after an operator is known from the first one on, and
 * nothing is predicted anew. Hubs are met from the root on, or behind another hub: in rows that are not cut.
 *
 * Exactness. An alternative in a row reads what the same alternative in an open row reads, but for what comes after its exits: cf.c makes
 * both by the same steps. With every split alternatives do not depend on each other. (Not with `longest`, where they do.)
 *
 * Not with bags: distinct lexemes lead to rows that depend on the text, and the states of a bag each have lexemes of their own, so that
 * hardly any outline is asked for twice: but for those of single states within a lexeme, which the vocabulary keeps (mk_share.c) and any
 * grammar may use.
 *
 * Not where a text is one lexeme: there is one row.
 *
 * Cost. An outline: as the walk. Where tokens can be cut in many ways that do not lead to the same rows, or nearly anywhere (characters one
 * by one, names with nothing between them), walks with all ways joined are cheaper: a grammar in which that was met has no outlines from
 * then on. */
#include "mk.h"

enum {
    MAX_TASKS = 1000,   /* of one walk */
    MAX_NEW_ROWS = 400, /* that one walk makes, cut ones included */
    MAX_ENDS = 16384,   /* places in one outline at which a lexeme has ended */
    MAX_PLACES = 8192,  /* of outlines that one walk makes, together: of operators, names and numbers there are some hundred */
    MAX_ROUND = 128,    /* places from which a ring is walked one by one: there are up to 40 of operators */
    OUTLINES_PART = 4,  /* of max_step_work, no more than one in so many for them; what is left is for a walk */
    TASK_SLOTS = 2048,
    FEW_PLACES = 4,  /* below so few, with so many children, there may be what reads much: ... */
    MUCH_BELOW = 48  /* ... then it is asked for apart */
};

/* To be found: what a row can read in a lexer state from some places on. `begin`: the state in which
 * the row begins. `bases`: the rows that were cut, by depth (parser/ep_cut.c); NONE: none was. */
typedef struct mk_task {
    u32 row, begin, state, places;
    u32 bases[EP_CUTS];
} mk_task;

/* The tasks of one walk, each once: what was found and what is still to be done. A slot holds the index of a task,
 * plus 1. */
typedef struct agenda {
    mk_task tasks[MAX_TASKS];
    u16 slots[TASK_SLOTS];
    u32 n;
    bool is_full;
} agenda;

enum {
    RECENT_STEPS = 2048,
    RECENT_OUTLINES = 1024,
    FEW_OUTLINES = 64 /* their map is small, and most grammars have no more: then these 48 KB are not spent */
};

typedef struct recent_step {
    u64 key; /* (row, accept set) */
    u32 row, begin;
} recent_step;

/* Steps of rows and outlines that were asked for lately, each in the one place to which its key leads; those of a row lie side by side. A
 * mask asks for some hundred of each, nearly all of them the same as the masks before, and maps of all that there are do not fit into the
 * caches that are near. */
struct mk_recent {
    recent_step steps[RECENT_STEPS];
    struct {
        u64 key; /* as in outline_of */
        u32 index;
    } outlines[RECENT_OUTLINES];
};

static bool make_recent(ge_engine *e) {
    if (e->mk.recent || e->mk.outlines.n <= FEW_OUTLINES) return true;
    if (!(e->mk.recent = mem_resize(&e->b, NULL, 0, sizeof *e->mk.recent))) return false;
    memset(e->mk.recent, 0xff, sizeof *e->mk.recent); /* no row and no lexer state is NONE */
    return true;
}

/* *begin = the lexer state in which a row begins; LX_IDLE where it leaves. */
static bool find_begin(ge_engine *e, u32 row, u32 *begin) {
    *begin = ep_row_leaves(&e->ep, row) ? LX_IDLE : cf_begin(e, row);
    return *begin != NONE;
}

bool mk_go(ge_engine *e, u32 row, u32 accepts, u32 *to, u32 *begin) {
    u64 key = (u64)row << 32 | accepts;
    recent_step *step = e->mk.recent ? &e->mk.recent->steps[(row * 64 + accepts) % RECENT_STEPS] : NULL;
    if (step && step->key == key && !(e->switches & GE_NO_GOTO_CACHE)) {
        *to = step->row;
        *begin = step->begin;
        return true;
    }
    *to = cf_go(e, row, accepts);
    if (*to == NONE || !find_begin(e, *to, begin)) return false;
    if (step) *step = (recent_step){key, *to, *begin};
    return true;
}

static bool is_same(const mk_task *a, const mk_task *b) {
    bool same = a->row == b->row && a->begin == b->begin && a->state == b->state && a->places == b->places;
    for (u32 i = 0; i < EP_CUTS; i++) same &= a->bases[i] == b->bases[i];
    return same;
}

/* Adds a task, if it is not there. */
static void plan(agenda *a, mk_task task) {
    u32 slot = (u32)mix_u64((u64)task.row << 32 | task.places);
    for (; a->slots[slot % TASK_SLOTS]; slot++)
        if (is_same(&a->tasks[a->slots[slot % TASK_SLOTS] - 1], &task)) return;
    if (a->n == MAX_TASKS) {
        a->is_full = true;
        return;
    }
    a->tasks[a->n++] = task;
    a->slots[slot % TASK_SLOTS] = (u16)a->n;
}

/* The index of a trie; NONE: failure. `inner`: of which it is one of the tails, else NULL. */
static u32 index_of(ge_engine *e, const tt_trie *trie, const vb_inner *inner) {
    u64 address = (u64)(uintptr_t)trie;
    u32 index = map_get(&e->mk.trie_of, address);
    if (index != NONE) return index;
    if (!vec_reserve(&e->b, &e->mk.tries, 1) || !vec_reserve(&e->b, &e->mk.trie_inner, 1)) return NONE;
    if (!map_put(&e->b, &e->mk.trie_of, address, e->mk.tries.n)) return NONE;
    if (inner) vb_hold(e->v, inner);
    e->mk.trie_inner.at[e->mk.trie_inner.n++] = inner;
    e->mk.tries.at[e->mk.tries.n] = trie;
    return e->mk.tries.n++;
}

u32 mk_trie_index(ge_engine *e, const tt_trie *trie) { return index_of(e, trie, NULL); }

/* The tokens are in e->mk.outline, what hubs were come to is in e->mk.at_hubs from `hubs` on. */
static bool keep_outline(ge_engine *e, u32 hubs, mk_outline *to) {
    mk_found *found = &e->mk.outline;
    id_vec *words = &e->mk.outline_words;
    to->tokens = words->n;
    if (!found->listed) {
        if (!(to->bits = mem_resize(&e->b, NULL, 0, e->v->n_words * sizeof *to->bits))) return false;
        memcpy(to->bits, found->bits, e->v->n_words * sizeof *to->bits);
    } else if (found->list.n) {
        if (!vec_reserve(&e->b, words, found->list.n)) return false;
        memcpy(words->at + words->n, found->list.at, found->list.n * sizeof *words->at);
        words->n += to->n_tokens = found->list.n;
    }
    to->hubs = words->n;
    for (u32 i = hubs; i < e->mk.at_hubs.n; i++, to->n_hubs++)
        if (!vec_push(&e->b, words, e->mk.at_hubs.at[i].node) || !vec_push(&e->b, words, e->mk.at_hubs.at[i].config)) return false;
    return mk_add_exits(e, to);
}

/* Walks from some places on. With a ring one by one: the runs of signs that are still to
 * come mostly begin within others, where the first row of the ring has been come to again. */
static bool walk_places(ge_engine *e, u32 places, u32 row, u32 config) {
    const u32 *words = intern_words(&e->mk.places, places);
    const tt_trie *trie = e->mk.tries.at[words[0]];
    u32 n = intern_length(&e->mk.places, places);
    if (!cf_is_ring(row)) return mk_walk_places(e, trie, words + 1, n - 1, config, &e->mk.outline);
    if (!vec_reach(&e->b, &e->mk.no_round, trie->byte.n / 32)) return false;
    e->mk.rounds_in = trie;
    bool ok = true;
    for (u32 i = 1; ok && i < n; i++)
        if (e->mk.no_round.at[words[i] / 32] >> words[i] % 32 & 1) ok = mk_walk(e, trie, words[i], config, &e->mk.outline);
    for (u32 i = 0; i < e->mk.rounds.n; i++) e->mk.no_round.at[e->mk.rounds.at[i] / 32] = UINT32_MAX;
    e->mk.rounds.n = 0;
    return ok;
}

/* Notes a node at which the ring has come to its first row again. */
static bool note_round(ge_engine *e, u32 node) {
    u32 *word = &e->mk.no_round.at[node / 32], bit = (u32)1 << node % 32;
    if (!(*word & bit)) return true;
    if (!vec_push(&e->b, &e->mk.rounds, node)) return false;
    *word &= ~bit;
    return true;
}

/* Makes the outline of a lexer state from some places on, in an open row, to which skips lead. */
static bool make_outline(ge_engine *e, u32 row, u32 state, u32 places, mk_outline *made) {
    u32 hubs = e->mk.at_hubs.n, config = cf_single(e, (cf_alternative){.row = row, .state = 2 * state, .text = CF_NO_TEXT});
    if (config == NONE) return false;
    if (!e->mk.outline.bits && !(e->mk.outline.bits = mem_resize(&e->b, NULL, 0, e->v->n_words * sizeof *e->mk.outline.bits))) return false;
    e->mk.ends.n = 0;
    mk_begin(e, &e->mk.outline, true);
    e->mk.leaves_openings = true;
    bool ok = walk_places(e, places, row, config) && keep_outline(e, hubs, made);
    e->mk.leaves_openings = false;
    e->mk.at_hubs.n = hubs;
    return ok;
}

bool mk_note_ends(ge_engine *e, const tt_trie *trie, mk_place at) {
    for (u32 i = 0, n = cf_count(e, at.config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, at.config, i);
        if (cf_is_ended(a.row)) {
            if (e->mk.ends.n == MAX_ENDS && e->mk.limits_ends) return false; /* see add_tasks */
            if (!vec_push(&e->b, &e->mk.ends, ((mk_end){trie, at.node, a.row - CF_ENDED_ROW}))) return false;
        } else if (trie == e->mk.rounds_in && cf_is_ring(a.row) && !(a.row & 1) && a.state >> 1 == mk_ring_begin(e, a.row)) {
            if (!note_round(e, at.node)) return false;
        }
    }
    return true;
}

/* Is it from the root of the vocabulary's trie on, and depends on nothing but the lexer state? */
static bool is_of_state(const ge_engine *e, u32 row, u32 places) {
    const u32 *words = intern_words(&e->mk.places, places);
    return row == CF_OPEN_ROW + LX_IDLE && intern_length(&e->mk.places, places) == 2 && words[1] == 0 &&
           e->mk.tries.at[words[0]] == &e->v->trie;
}

/* As make_outline, but from the vocabulary if it has it. */
static bool find_or_make(ge_engine *e, u32 row, u32 state, u32 places, mk_outline *made) {
    bool found = false;
    if (is_of_state(e, row, places) && !mk_take_shared(e, state, made, &found)) return false;
    return found || make_outline(e, row, state, places, made);
}

static void drop_outline(ge_engine *e, mk_outline *o) {
    if (o->bits) mem_resize(&e->b, o->bits, e->v->n_words * sizeof *o->bits, 0);
    if (o->inner) vb_release(e->v, o->inner);
}

/* Makes an outline; `row`, `state` as in make_outline. Its index; NONE: failure. */
static u32 new_outline(ge_engine *e, u32 row, u32 state, u32 places, u64 key) {
    mk_outline made = {0};
    u32 index = e->mk.outlines.n;
    if (find_or_make(e, row, state, places, &made) && vec_reserve(&e->b, &e->mk.outlines, 1) &&
        map_put(&e->b, &e->mk.outline_of, key, index)) {
        e->stats.outlines++;
        e->mk.outlines.at[e->mk.outlines.n++] = made;
        return index;
    }
    drop_outline(e, &made);
    return NONE;
}

/* The index of an outline, as above; `origin`: what it is found by beside the places. */
static u32 find_outline(ge_engine *e, u32 origin, u32 row, u32 state, u32 places) {
    u64 key = (u64)origin << 32 | places;
    u32 at = (origin * 64 + places) % RECENT_OUTLINES;
    if (e->mk.recent && e->mk.recent->outlines[at].key == key) return e->stats.outline_hits++, e->mk.recent->outlines[at].index;
    u32 index = map_get(&e->mk.outline_of, key);
    if (index != NONE) e->stats.outline_hits++;
    else if ((index = new_outline(e, row, state, places, key)) == NONE) return NONE;
    if (e->mk.recent) {
        e->mk.recent->outlines[at].key = key;
        e->mk.recent->outlines[at].index = index;
    }
    return index;
}

/* The index of the outline that a task asks for; NONE: failure. */
static u32 outline_of(ge_engine *e, const mk_task *task) {
    u32 begin = e->lx.info.at[task->state].has_skip ? task->begin : LX_IDLE, origin = task->state;
    if (begin != task->state && begin != LX_IDLE) { /* under way */
        origin = intern(&e->b, &e->mk.origins, (u32[]){task->state, begin}, 2, NULL);
        if (origin == NONE) return NONE;
        origin += CF_OPEN_ROW;
    }
    return find_outline(e, origin, CF_OPEN_ROW + begin, task->state, task->places);
}

static bool add_outlined(ge_engine *e, const mk_outline *o, mk_found *found) {
    const u32 *tokens = e->mk.outline_words.at + o->tokens;
    if (o->bits) mk_add_bits(e, found, o->bits);
    if (o->inner && o->inner->bits) mk_add_inner(e, found, o->inner);
    if (found->listed) return mk_add_listed(e, found, tokens, o->n_tokens);
    for (u32 i = 0; i < o->n_tokens; i++) found->bits[tokens[i] >> 5] |= (u32)1 << (tokens[i] & 31);
    return true;
}

/* Adds a task in parts: what reads more than a few tokens by itself. */
static bool plan_apart(ge_engine *e, agenda *open, mk_task task) {
    const u32 *states;
    u32 n;
    if (!mk_apart(e, task.state, &states, &n)) return false;
    for (u32 i = 0; i < n; i++) {
        task.state = states[i];
        plan(open, task);
    }
    return true;
}

/* Puts a cut row in the place of that of a task, if it may be cut once more. False: failure. */
static bool cut_row(ge_engine *e, mk_task *task) {
    u32 depth = 0;
    while (depth < EP_CUTS && task->bases[depth] != NONE) depth++;
    if (depth == EP_CUTS) return true;
    u32 cut = ep_cut(&e->ep, task->row, depth);
    if (cut != task->row) task->bases[depth] = task->row;
    task->row = cut;
    return cut != NONE;
}

/* Adds what is to be read in a row itself, in parts. */
static bool plan_whole(ge_engine *e, agenda *open, u32 row, u32 begin, u32 state, u32 places) {
    return plan_apart(e, open, (mk_task){row, begin, state, places, {NONE, NONE}});
}

/* Adds what a configuration reads behind an opening of blanks. */
static bool plan_opening(ge_engine *e, agenda *open, const vb_opening *opening, u32 config) {
    u32 index = index_of(e, &opening->rest, NULL), places = index == NONE ? NONE : intern(&e->b, &e->mk.places, (u32[]){index, 0}, 2, NULL);
    if (places == NONE) return false;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        u32 begin = cf_begin(e, a.row);
        if (begin == NONE || !plan_whole(e, open, a.row, begin, a.state >> 1, places)) return false;
    }
    return true;
}

/* Are there few places, and much below them? */
static bool has_much_below(const ge_engine *e, u32 places) {
    const u32 *words = intern_words(&e->mk.places, places), *first = e->mk.tries.at[words[0]]->first.at;
    u32 n = intern_length(&e->mk.places, places) - 1, n_children = 0;
    for (u32 i = 1; i <= n && n <= FEW_PLACES; i++) n_children += first[words[i] + 1] - first[words[i]];
    return n_children >= MUCH_BELOW;
}

/* The bytes with which anything below some places goes on; NULL: failure. */
static const byte_set *bytes_below(ge_engine *e, u32 places) {
    static const byte_set unknown = {{NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};
    if (!vec_reach(&e->b, &e->mk.places_below, places)) return NULL;
    byte_set *below = &e->mk.places_below.at[places];
    if (memcmp(below, &unknown, sizeof unknown) != 0) return below;
    const u32 *words = intern_words(&e->mk.places, places);
    const tt_trie *trie = e->mk.tries.at[words[0]];
    memset(below, 0, sizeof *below);
    for (u32 i = 1; i < intern_length(&e->mk.places, places); i++)
        for (u32 child = trie->first.at[words[i]]; child < trie->first.at[words[i] + 1]; child++) set_add(below, trie->byte.at[child]);
    return below;
}

/* *answer: does a row that begins in a lexer state read nothing from some places on? Errs towards no. */
static bool reads_nothing(ge_engine *e, u32 begin, u32 places, bool *answer) {
    const byte_set *below = bytes_below(e, places), *first = below ? lx_first(&e->lx, begin) : NULL;
    *answer = first && !set_meets(first, below);
    return first != NULL;
}

/* Adds what comes from some places on after an exit, where the row of a task, or the other
 * one of its ring, leads by a set of lexemes. (Apart there are no rings, so not everywhere.) */
static bool plan_exit(ge_engine *e, agenda *open, const mk_task *from, u32 row, u32 accepts, u32 places) {
    mk_task task = *from;
    bool nothing, is_apart = false;
    if (!mk_go(e, row, accepts, &task.row, &task.begin)) return false;
    for (u32 depth = EP_CUTS; depth-- > 0 && ep_row_leaves(&e->ep, task.row);) {
        if (task.bases[depth] == NONE) continue;
        task.row = ep_resume(&e->ep, task.row, task.bases[depth], depth);
        if (task.row == NONE || !find_begin(e, task.row, &task.begin)) return false;
    }
    if (task.begin == LX_IDLE) return true;
    if (!reads_nothing(e, task.begin, places, &nothing)) return false;
    if (nothing) return true;
    task.state = task.begin;
    task.places = places;
    if (!cut_row(e, &task) || (has_much_below(e, places) && !mk_has_wide(e, task.begin, &is_apart))) return false;
    if (is_apart) return plan_apart(e, open, task);
    plan(open, task);
    return true;
}

static bool add_task(ge_engine *e, mk_task task, agenda *open, mk_found *found) {
    u32 index = outline_of(e, &task), rows[2] = {task.row, NONE}, ring = NONE;
    if (index == NONE) return false;
    mk_outline o = e->mk.outlines.at[index];
    if (task.state == task.begin && !mk_find_ring(e, task.begin, &o, rows, &ring)) return false;
    if (ring != NONE && intern_length(&e->mk.places, task.places) > MAX_ROUND) return open->is_full = true;
    if (ring != NONE) {
        index = find_outline(e, CF_RING_ROW + 2 * ring, CF_RING_ROW + 2 * ring, task.begin, task.places);
        if (index == NONE) return false;
        o = e->mk.outlines.at[index];
    }
    if (!add_outlined(e, &o, found)) return false;
    assert(o.n_hubs == 0 || task.bases[0] == NONE); /* a configuration has no rows that are cut */
    for (u32 i = 0; i < o.n_hubs; i++) {
        const u32 *hub = e->mk.outline_words.at + o.hubs + 2 * i;
        u32 config = cf_close(e, hub[1], rows);
        if (config == NONE) return false;
        bool is_opening = hub[0] >= VB_HUBS;
        if (is_opening ? !plan_opening(e, open, &e->v->openings[hub[0] - VB_HUBS], config)
                       : !vec_push(&e->b, &e->mk.at_hubs, ((mk_place){hub[0], config})))
            return false;
    }
    for (u32 i = 0; i < o.n_exits; i++) {
        const u32 *exit = e->mk.outline_words.at + o.exits + 2 * i;
        if (!plan_exit(e, open, &task, rows[exit[0] / CF_SECOND], exit[0] % CF_SECOND, exit[1])) return false;
    }
    return true;
}

bool mk_has_outlines(const ge_engine *e) {
    return !(e->switches & GE_NO_OUTLINES) && !e->g->longest && e->g->g.bags.n == 0 && !e->mk.cuts_much && !e->is_one_lexeme;
}

/* *done = false: it is too much. */
static bool add_tasks(ge_engine *e, const tt_trie *trie, u32 node, cf_alternative a, const vb_inner *inner, mk_found *found, bool *done) {
    agenda open;
    if (!make_recent(e)) return false;
    u32 index = index_of(e, trie, inner), places = index == NONE ? NONE : intern(&e->b, &e->mk.places, (u32[]){index, node}, 2, NULL);
    u32 begin = places == NONE ? NONE : cf_begin(e, a.row);
    if (begin == NONE) return false;
    memset(open.slots, 0, sizeof open.slots);
    open.n = 0;
    open.is_full = false;
    budget_part part = budget_begin_part(&e->b, e->b.limits.max_step_work / OUTLINES_PART);
    bool ok = plan_whole(e, &open, a.row, begin, a.state >> 1, places);
    e->mk.limits_ends = true;
    for (u32 i = 0, rows = e->ep.rows.n, known = e->mk.places.pool.n; ok && i < open.n && !open.is_full; i++) {
        ok = add_task(e, open.tasks[i], &open, found);
        open.is_full |= e->ep.rows.n - rows > MAX_NEW_ROWS || e->mk.places.pool.n - known > MAX_PLACES;
    }
    e->mk.limits_ends = false;
    budget_end_part(&e->b, part);
    if (e->b.status != GE_OK) return false;
    open.is_full |= !ok; /* too much work, or too many ends */
    *done = !open.is_full;
    e->mk.cuts_much |= open.is_full;
    return true;
}

/* The root of the vocabulary's trie, as places; NONE: failure. */
static u32 root_places(ge_engine *e) {
    u32 index = index_of(e, &e->v->trie, NULL);
    return index == NONE ? NONE : intern(&e->b, &e->mk.places, (u32[]){index, 0}, 2, NULL);
}

u32 mk_outline_of_state(ge_engine *e, u32 state) {
    u32 places = root_places(e);
    return places == NONE ? NONE : find_outline(e, state, CF_OPEN_ROW + LX_IDLE, state, places);
}

bool mk_make_outline(ge_engine *e, u32 state, const byte_set *first, mk_outline *made) {
    u32 places = root_places(e);
    e->mk.begins = first;
    bool ok = places != NONE && make_outline(e, CF_OPEN_ROW + LX_IDLE, state, places, made);
    e->mk.begins = NULL;
    return ok;
}

bool mk_add(ge_engine *e, const tt_trie *trie, u32 node, cf_alternative a, const vb_inner *inner, mk_found *found) {
    bool done = false, may_keep = mk_has_outlines(e) && !(inner && e->switches & GE_NO_SHARED_INNER);
    u32 hubs = e->mk.at_hubs.n, config;
    if (may_keep && !add_tasks(e, trie, node, a, inner, found, &done)) return false;
    if (done) return true;
    e->mk.at_hubs.n = hubs;
    if ((config = cf_single(e, a)) == NONE) return false;
    return !may_keep && node == 0 && trie == &e->v->trie ? mk_walk_shared(e, config, found) : mk_walk(e, trie, node, config, found);
}

void mk_drop_outlines(ge_engine *e) {
    for (u32 i = 0; i < e->mk.outlines.n; i++) drop_outline(e, &e->mk.outlines.at[i]);
    for (u32 i = 0; i < e->mk.trie_inner.n; i++)
        if (e->mk.trie_inner.at[i]) vb_release(e->v, e->mk.trie_inner.at[i]);
    if (e->mk.outline.bits) mem_resize(&e->b, e->mk.outline.bits, e->v->n_words * sizeof(u32), 0);
    if (e->mk.spread) mem_resize(&e->b, e->mk.spread, e->v->n_words * sizeof *e->mk.spread, 0);
    vec_drop(&e->b, &e->mk.outline.list);
    if (e->mk.recent) mem_resize(&e->b, e->mk.recent, sizeof *e->mk.recent, 0);
    intern_drop(&e->b, &e->mk.places);
    vec_drop(&e->b, &e->mk.places_below);
    vec_drop(&e->b, &e->mk.tries);
    vec_drop(&e->b, &e->mk.trie_inner);
    map_drop(&e->b, &e->mk.trie_of);
    intern_drop(&e->b, &e->mk.origins);
    intern_drop(&e->b, &e->mk.rings);
    vec_drop(&e->b, &e->mk.ring);
    vec_drop(&e->b, &e->mk.rounds);
    vec_drop(&e->b, &e->mk.no_round);
    map_drop(&e->b, &e->mk.outline_of);
    vec_drop(&e->b, &e->mk.outlines);
    vec_drop(&e->b, &e->mk.outline_words);
    vec_drop(&e->b, &e->mk.ends);
}
