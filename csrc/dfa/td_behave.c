/* td_behave: classes of tokens by what they do.
 *
 * The behaviour of a string of bytes is the map from the states from which it can be read to the states that it leads to. That of a string
 * and one more byte follows from that of the string, so one walk of the fold, with a table (behaviour, byte class) -> behaviour that is
 * filled as it is used, gives all tokens theirs. There are few: 50 for the body of a JSON string and 131,072 tokens.
 *
 *     states      | block 0      | block 1      | ...        behaviours are made block by block, which bounds their size;
 *     fold        group 0 1 2    group 0                     where there is one block, parts of the trie below its root are apart
 *     token       (b0, b1, ...)  -> class
 *
 * A task is a block and a group; tasks share nothing that is written. Classes are then refined block by block in a fixed order, and
 * numbered by their smallest token: so the result does not depend on the number of threads. */
#include "../base/threads.h"
#include "td.h"

enum {
    BLOCK_STATES = 256,
    LEAST_NODES = 4096, /* of a fold, for a thread: it is begun in the time of some hundred */
    STACK_BYTES = 1 << 20,
    MAP_DEAD = 0,    /* the behaviour of what no state can read */
    MAP_OF_NOTHING = 1, /* that of the empty string */
};

typedef struct task {
    const ba_automaton *a;
    const fd_fold *f;
    u32 from, to;           /* states */
    u32 child_from, child_to; /* children of the root, by number */
    u32 *behaviour;         /* by node of the fold */
    budget b;
    intern_table maps;      /* (state, state) ... */
    id_vec step;            /* by map and class: map, or NONE */
    id_vec pairs;           /* scratch */
} task;

static u32 add_map(task *t, const u32 *words, u32 n) {
    bool fresh;
    u32 id = intern(&t->b, &t->maps, words, n, &fresh);
    if (id == NONE || !fresh) return id;
    if (!vec_reserve(&t->b, &t->step, t->a->n_classes)) return NONE;
    /* there is no table where there are none */
    if (t->a->n_classes) memset(t->step.at + t->step.n, 0xff, t->a->n_classes * sizeof *t->step.at);
    t->step.n += t->a->n_classes;
    return id;
}

static u32 make_longer(task *t, u32 map, u32 k) {
    u32 n_classes = t->a->n_classes;
    u32 n = intern_length(&t->maps, map), m = 0;
    if (!vec_reserve(&t->b, &t->pairs, n)) return NONE;
    const u32 *from = intern_words(&t->maps, map);
    u32 *pairs = t->pairs.at;
    for (u32 i = 0; i < n; i += 2) {
        u32 to = t->a->next[(size_t)from[i + 1] * n_classes + k];
        pairs[m] = from[i];
        pairs[m + 1] = to;
        m += to == NONE ? 0 : 2;
    }
    u32 id = add_map(t, pairs, m);
    if (id != NONE) t->step.at[(size_t)map * n_classes + k] = id;
    return id;
}

/* The behaviour of a string and a byte of class k. NONE: failure. */
static inline u32 longer(task *t, u32 map, u32 k) {
    u32 known = t->step.at[(size_t)map * t->a->n_classes + k];
    return known != NONE ? known : make_longer(t, map, k);
}

static void *run_task(void *arg) {
    task *t = arg;
    const fd_fold *f = t->f;
    bool ok = vec_reserve(&t->b, &t->pairs, 2 * (t->to - t->from)) && add_map(t, t->pairs.at, 0) == MAP_DEAD;
    for (u32 s = t->from; ok && s < t->to; s++) t->pairs.at[2 * (s - t->from)] = t->pairs.at[2 * (s - t->from) + 1] = s;
    ok = ok && add_map(t, t->pairs.at, 2 * (t->to - t->from)) == MAP_OF_NOTHING;
    fd_level level = fd_first_level(f, t->child_from, t->child_to);
    for (u32 node = level.from; ok && node < level.to; node++)
        ok = (t->behaviour[node] = longer(t, MAP_OF_NOTHING, f->class.at[node])) != NONE;
    while (ok && level.from < level.to) {
        fd_level next = fd_next_level(f, level);
        u32 child = next.from;
        for (u32 node = level.from; ok && node < level.to; node++) {
            u32 map = t->behaviour[node];
            for (u32 end = child + fd_n_children(f, node); ok && child < end; child++)
                ok = (t->behaviour[child] = map == MAP_DEAD ? MAP_DEAD : longer(t, map, f->class.at[child])) != NONE;
        }
        level = next;
    }
    return NULL;
}

static void run_all(task *tasks, u32 n, u32 n_threads) {
    thread_team others = {.n = 0};
    if (n_threads > 1 && n > 1) team_begin(&others, n - 1, STACK_BYTES, run_task, tasks + 1, sizeof *tasks);
    run_task(tasks);
    for (u32 i = 1 + others.n; i < n; i++) run_task(tasks + i);
    team_join(&others);
}

static void drop_task(task *t) {
    intern_drop(&t->b, &t->maps);
    vec_drop(&t->b, &t->step);
    vec_drop(&t->b, &t->pairs);
    assert(t->b.bytes == 0);
}

/* --- classes ---------------------------------------------------------------------------------------------------------------- */

/* A block whose tasks are done: what makes classes finer. */
typedef struct refinement {
    intern_table maps; /* of all groups */
    VEC(u64) parts;    /* new class - 1 -> [ class before : map ] */
} refinement;

typedef struct classing {
    td_draft *d;
    const fd_fold *f;
    u32 *class_of_node; /* 0: no state so far can read it */
    VEC(refinement) blocks;
} classing;

/* Maps of a task get the numbers of their block. */
static bool number_maps(classing *w, refinement *r, task *t) {
    budget *b = w->d->b;
    u32 n = intern_count(&t->maps);
    u32 *number = mem_resize(b, NULL, 0, n * sizeof *number);
    bool ok = number != NULL;
    for (u32 i = 0; ok && i < n; i++)
        ok = (number[i] = intern(b, &r->maps, intern_words(&t->maps, i), intern_length(&t->maps, i), NULL)) != NONE;
    fd_level level = fd_first_level(t->f, t->child_from, t->child_to);
    for (; ok && level.from < level.to; level = fd_next_level(t->f, level))
        for (u32 node = level.from; node < level.to; node++) t->behaviour[node] = number[t->behaviour[node]];
    if (number) mem_resize(b, number, n * sizeof *number, 0);
    return ok;
}

/* The maps of a block: those of its tasks, each once. Those of an only task are taken as they are. */
static bool join_maps(classing *w, refinement *r, task *tasks, u32 n_tasks) {
    if (n_tasks == 1) {
        vec_drop(&tasks->b, &tasks->step);
        vec_drop(&tasks->b, &tasks->pairs);
        r->maps = tasks->maps;
        tasks->maps = (intern_table){0};
        w->d->b->bytes += tasks->b.bytes;
        tasks->b.bytes = 0;
        return true;
    }
    bool ok = intern(w->d->b, &r->maps, NULL, 0, NULL) == MAP_DEAD;
    for (u32 i = 0; ok && i < n_tasks; i++) ok = number_maps(w, r, &tasks[i]);
    return ok;
}

static bool refine(classing *w, task *tasks, u32 n_tasks) {
    budget *b = w->d->b;
    const fd_fold *f = w->f;
    const u32 *behaviour = tasks->behaviour;
    word_map class_of_pair = {0};
    id_vec class_of_map = {0}; /* of what no block before could read: the most, and in the first block all */
    if (!vec_push(b, &w->blocks, (refinement){0})) return false;
    refinement *r = &w->blocks.at[w->blocks.n - 1];
    bool ok = join_maps(w, r, tasks, n_tasks) && vec_reach(b, &class_of_map, intern_count(&r->maps));
    if (ok) class_of_map.at[MAP_DEAD] = 0;
    for (u32 node = 1; ok && node < f->class.n; node++) {
        u32 *class = &w->class_of_node[node], map = behaviour[node];
        if (!fd_ends(f, node)) continue;
        u64 pair = (u64)*class << 32 | map;
        u32 found = *class ? map_get(&class_of_pair, pair) : class_of_map.at[map];
        if (found == NONE) {
            found = r->parts.n + 1;
            ok = vec_push(b, &r->parts, pair) && (*class == 0 || map_put(b, &class_of_pair, pair, found));
            if (*class == 0) class_of_map.at[map] = found;
        }
        *class = found;
    }
    map_drop(b, &class_of_pair);
    vec_drop(b, &class_of_map);
    return ok;
}

/* Adds the transitions of a class: `label` is its number in the draft. */
static bool add_transitions(classing *w, u32 class, u32 label) {
    td_draft *d = w->d;
    for (u32 i = w->blocks.n; i-- > 0 && class;) {
        refinement *r = &w->blocks.at[i];
        u64 pair = r->parts.at[class - 1];
        u32 map = (u32)pair;
        const u32 *words = intern_words(&r->maps, map);
        for (u32 k = 0; k < intern_length(&r->maps, map); k += 2)
            if (!vec_push(d->b, &d->all, ((mn_transition){words[k], label, words[k + 1]}))) return false;
        class = (u32)(pair >> 32);
    }
    return true;
}

/* The number of the class of a token that has edges besides: those with equal behaviour and edges are one class. */
static u32 number_with_edges(classing *w, intern_table *keys, u32 class, const td_edge *edges, u32 n, bool *fresh) {
    id_vec key = {0};
    bool ok = vec_push(w->d->b, &key, class);
    for (u32 i = 0; ok && i < n; i++) ok = vec_push(w->d->b, &key, edges[i].from) && vec_push(w->d->b, &key, edges[i].to);
    u32 id = ok ? intern(w->d->b, keys, key.at, key.n, fresh) : NONE;
    vec_drop(w->d->b, &key);
    return id;
}

/* Lists the tokens that some state can read, and numbers their classes in the order of their smallest tokens. */
static bool number_classes(classing *w, const td_edges *edges) {
    td_draft *d = w->d;
    const fd_fold *f = w->f;
    intern_table keys = {0}; /* [class, edges], of tokens with edges */
    id_vec number_of_key = {0}, number_of = {0}; /* [class], of tokens without */
    u32 n_found = w->blocks.n ? w->blocks.at[w->blocks.n - 1].parts.n + 1 : 1, n_most = f->n_tokens + edges->n;
    bool ok = vec_reserve(d->b, &number_of, n_found) && vec_reserve(d->b, &d->tokens, n_most) && vec_reserve(d->b, &d->class_of, n_most);
    if (ok) memset(number_of.at, 0xff, n_found * sizeof *number_of.at);
    d->n_classes = 0;
    fd_cursor cursor = {0};
    u32 folded = fd_next_token(f, &cursor); /* the next one, or NONE */
    for (u32 at = 0; ok && (folded != NONE || at < edges->n);) {
        u32 token = at < edges->n ? min_u32(folded, edges->at[at].token) : folded, class = 0, from = at;
        if (token == folded) {
            class = w->class_of_node[cursor.node];
            folded = fd_next_token(f, &cursor);
        }
        u32 *number = &number_of.at[class];
        while (at < edges->n && edges->at[at].token == token) at++;
        if (class == 0 && from == at) continue;
        if (from < at) {
            bool fresh;
            u32 key = number_with_edges(w, &keys, class, edges->at + from, at - from, &fresh);
            if (!(ok = key != NONE && (!fresh || vec_push(d->b, &number_of_key, NONE)))) break;
            number = &number_of_key.at[key];
        }
        if (*number == NONE) {
            *number = d->n_classes++;
            ok = add_transitions(w, class, *number);
            for (u32 k = from; ok && k < at; k++)
                ok = vec_push(d->b, &d->all, ((mn_transition){edges->at[k].from, *number, edges->at[k].to}));
        }
        d->tokens.at[d->tokens.n++] = token;
        d->class_of.at[d->class_of.n++] = *number;
    }
    intern_drop(d->b, &keys);
    vec_drop(d->b, &number_of_key);
    vec_drop(d->b, &number_of);
    return ok;
}

/* The blocks from `from` on, as many as there are threads; or one block in as many groups. *to = the block after them. */
static bool behave_blocks(classing *w, u32 from, u32 n_blocks, u32 n_threads, u32 *to) {
    td_draft *d = w->d;
    const fd_fold *f = w->f;
    u32 n_children = fd_n_children(f, 0), n_nodes = f->class.n;
    u32 n_groups = n_blocks == 1 ? max_u32(1, min_u32(min_u32(n_threads, n_children), n_nodes / LEAST_NODES)) : 1;
    u32 n = n_blocks == 1 ? n_groups : min_u32(n_threads, n_blocks - from), n_tables = n / n_groups;
    size_t size = (size_t)n_tables * n_nodes * sizeof(u32);
    task tasks[THREADS_MOST];
    u32 *behaviour = mem_resize(d->b, NULL, 0, size);
    if (!behaviour) return false;
    for (u32 i = 0; i < n; i++) {
        u32 block = from + (n_groups == 1 ? i : 0), group = n_groups == 1 ? 0 : i;
        tasks[i] = (task){.a = d->a, .f = f, .behaviour = behaviour + (n_groups == 1 ? (size_t)i * n_nodes : 0)};
        tasks[i].from = block * BLOCK_STATES;
        tasks[i].to = min_u32(d->a->n_states, (block + 1) * BLOCK_STATES);
        tasks[i].child_from = (u32)((u64)n_children * group / n_groups);
        tasks[i].child_to = (u32)((u64)n_children * (group + 1) / n_groups);
        budget_init(&tasks[i].b, &d->b->limits);
    }
    run_all(tasks, n, n_threads);
    bool ok = true;
    for (u32 i = 0; i < n; i++)
        if (tasks[i].b.status == GE_E_LIMIT) ok = budget_limit(d->b, tasks[i].b.limit);
        else if (tasks[i].b.status != GE_OK) ok = budget_fail(d->b, tasks[i].b.status);
    for (u32 i = 0; ok && i < n_tables; i++) ok = refine(w, &tasks[i * n_groups], n_groups);
    for (u32 i = 0; i < n; i++) drop_task(&tasks[i]);
    mem_resize(d->b, behaviour, size, 0);
    *to = from + n_tables;
    return ok;
}

static bool has_each_byte(const fd_fold *f, u32 n_classes) {
    u32 n = 0;
    for (u32 node = 1; node <= fd_n_children(f, 0); node++) n += fd_ends(f, node);
    return n == n_classes;
}

bool td_behave(td_draft *d, const td_edges *edges, u32 n_threads) {
    const fd_fold *f = vb_fold(d->v, d->a->class_of);
    if (!f) return budget_fail(d->b, GE_E_MEMORY);
    u32 n_blocks = (d->a->n_states + BLOCK_STATES - 1) / BLOCK_STATES;
    size_t size = f->class.n * sizeof(u32);
    classing w = {.d = d, .f = f, .class_of_node = mem_resize(d->b, NULL, 0, size)};
    bool ok = w.class_of_node != NULL;
    if (ok) memset(w.class_of_node, 0, size);
    n_threads = max_u32(1, min_u32(n_threads, THREADS_MOST));
    for (u32 block = 0; ok && block < n_blocks;) ok = behave_blocks(&w, block, n_blocks, n_threads, &block);
    ok = ok && number_classes(&w, edges);
    for (u32 i = 0; i < w.blocks.n; i++) {
        intern_drop(d->b, &w.blocks.at[i].maps);
        vec_drop(d->b, &w.blocks.at[i].parts);
    }
    vec_drop(d->b, &w.blocks);
    if (w.class_of_node) mem_resize(d->b, w.class_of_node, size, 0);
    d->has_bytes = edges->n == 0 && has_each_byte(f, d->a->n_classes); /* what literals were taken out of need not be minimal */
    vb_fold_release(d->v, f);
    d->n_states = d->a->n_states;
    return ok;
}
