#include "ba.h"

#include "mn.h"

/* Where no byte has a class there is one word, which nobody reads. */
static size_t ba_next_bytes(const ba_automaton *a) { return ((size_t)a->n_states * a->n_classes + !a->n_classes) * sizeof *a->next; }

/* All configurations that can be reached, and their transitions by classes of the lexer. */
typedef struct closure {
    id_vec configs;
    id_vec number_of; /* configuration -> index in configs, or NONE */
    id_vec next;      /* by index and class: index, or NONE */
    VEC(bool) accepts;
    u32 n_followed; /* of configs: how many have their transitions */
} closure;

/* There are too many configurations, the last of them near this one. */
static bool too_many(budget *b, const ge_engine *e, u32 config) {
    if (b->status == GE_OK) b->symbol = cf_symbol(e, config);
    return budget_limit(b, LIMIT(max_configurations));
}

static bool add_config(closure *c, budget *b, ge_engine *e, u32 config, u32 max_states, u32 *number) {
    if (!vec_reach(b, &c->number_of, config)) return false;
    *number = c->number_of.at[config];
    if (*number != NONE) return true;
    if (c->configs.n == max_states) return too_many(b, e, config);
    *number = c->number_of.at[config] = c->configs.n;
    return vec_push(b, &c->configs, config) && vec_push(b, &c->accepts, cf_at(e, config)->complete);
}

/* The engine's failure is that of the whole. */
static bool fail_with(budget *b, const ge_engine *e) {
    if (e->b.status != GE_E_LIMIT) return budget_fail(b, e->b.status);
    if (b->status == GE_OK) b->symbol = e->b.symbol;
    return budget_ceiling(b, e->b.limit, e->b.ceiling);
}

/* Work that each byte may take at any rate: a dozen is usual. What takes more is held against the limit of one step, for all bytes
 * together, since an expression may have some thousand alternatives in each of as many states. */
enum { BYTE_WORK = 64 };

static void forgive(budget *b) { b->work -= b->work < BYTE_WORK ? b->work : BYTE_WORK; }

static bool close_configs(closure *c, budget *b, ge_engine *e, ba_bounds bounds) {
    const rx_arena *x = &e->lx.x;
    u32 number;
    if (!add_config(c, b, e, CF_START, bounds.states, &number)) return false;
    for (; c->n_followed < c->configs.n; c->n_followed++) {
        u32 config = c->configs.at[c->n_followed];
        byte_set first;
        forgive(&e->b);
        if (!cf_first(e, config, &first)) return fail_with(b, e);
        if (!vec_reserve(b, &c->next, x->n_classes)) return false;
        for (u32 k = 0; k < x->n_classes; k++) {
            u32 to = set_has(&first, x->class_byte[k]) ? cf_warm(e, config, k) : CF_DEAD;
            if (to == NONE) {
                forgive(&e->b);
                if (bounds.steps-- == 0) return too_many(b, e, config);
                if ((to = cf_step(e, config, k)) == NONE) return fail_with(b, e);
            }
            number = NONE;
            if (to != CF_DEAD && !add_config(c, b, e, to, bounds.states, &number)) return false;
            c->next.at[c->next.n++] = number;
        }
    }
    return true;
}

static void drop_closure(closure *c, budget *b) {
    vec_drop(b, &c->configs);
    vec_drop(b, &c->number_of);
    vec_drop(b, &c->next);
    vec_drop(b, &c->accepts);
}

/* block[i] = the block of the configuration number i among those that cannot be told apart. */
static bool minimise(closure *c, budget *b, u32 n_classes, u32 *block, u32 *n_blocks) {
    VEC(mn_transition) all = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < c->next.n; i++)
        if (c->next.at[i] != NONE) ok = vec_push(b, &all, ((mn_transition){i / n_classes, i % n_classes, c->next.at[i]}));
    ok = ok && mn_minimise(b, all.at, all.n, n_classes, c->accepts.at, c->configs.n, block, n_blocks);
    vec_drop(b, &all);
    return ok;
}

/* column[i] = a lexer class, by their smallest bytes; class_of = the index of each byte's. */
static void order_classes(ba_automaton *a, const rx_arena *x, u32 *column) {
    u32 index_of[256];
    memset(index_of, 0xff, sizeof index_of);
    for (u32 byte = 0; byte < 256; byte++) {
        u32 *index = &index_of[x->class_of[byte]];
        if (*index == NONE) column[*index = a->n_classes++] = x->class_of[byte];
        a->class_of[byte] = (u16)*index;
    }
}

/* Numbers the blocks as a breadth-first walk meets them, and writes the tables. state[block] = its number. */
static bool write_tables(ba_automaton *a, budget *b, const closure *c, const u32 *column, const u32 *block, u32 n_blocks, u32 *state) {
    u32 k = a->n_classes, n = 1;
    u32 *walk = mem_resize(b, NULL, 0, n_blocks * sizeof *walk); /* a configuration of each state, in their order */
    a->n_states = n_blocks;
    a->next = mem_resize(b, NULL, 0, (size_t)n_blocks * k * sizeof *a->next);
    a->accepts = mem_resize(b, NULL, 0, n_blocks * sizeof *a->accepts);
    if (walk && a->next && a->accepts) {
        memset(state, 0xff, n_blocks * sizeof *state);
        walk[0] = 0;
        state[block[0]] = 0;
        for (u32 s = 0; s < n_blocks; s++) {
            a->accepts[s] = c->accepts.at[walk[s]];
            for (u32 i = 0; i < k; i++) {
                u32 to = c->next.at[(size_t)walk[s] * k + column[i]];
                if (to != NONE && state[block[to]] == NONE) state[block[to]] = n, walk[n++] = to;
                a->next[(size_t)s * k + i] = to == NONE ? NONE : state[block[to]];
            }
        }
        assert(n == n_blocks);
    }
    if (walk) mem_resize(b, walk, n_blocks * sizeof *walk, 0);
    return b->status == GE_OK;
}

static bool equal_columns(const ba_automaton *a, u32 j, u32 k) {
    for (size_t row = 0; row < (size_t)a->n_states * a->n_classes; row += a->n_classes)
        if (a->next[row + j] != a->next[row + k]) return false;
    return true;
}

bool ba_join_classes(ba_automaton *a, budget *b) {
    u32 n = a->n_classes, m = 0, number[256], first[256];
    u64 hash[256] = {0}; /* of columns; 0: nothing leads on */
    size_t size = (size_t)a->n_states * n;
    for (size_t i = 0; i < size; i++)
        if (a->next[i] != NONE) hash[i % n] = mix_u64(hash[i % n] ^ ((u64)(i / n) << 32 | a->next[i])) | 1;
    for (u32 k = 0; k < n; k++) {
        number[k] = NONE;
        for (u32 j = 0; hash[k] && j < m && number[k] == NONE; j++)
            if (hash[first[j]] == hash[k] && equal_columns(a, first[j], k)) number[k] = j;
        if (hash[k] && number[k] == NONE) first[number[k] = m++] = k;
    }
    for (u32 byte = 0; byte < 256; byte++) {
        u32 k = a->class_of[byte] == BA_NO_CLASS ? NONE : number[a->class_of[byte]];
        a->class_of[byte] = k == NONE ? BA_NO_CLASS : (u16)k;
    }
    for (u32 s = 0; s < a->n_states; s++)
        for (u32 j = 0; j < m; j++) a->next[(size_t)s * m + j] = a->next[(size_t)s * n + first[j]]; /* not written before it is read */
    if (m == n) return true;
    u32 *next = mem_resize(b, a->next, size * sizeof *next, ((size_t)a->n_states * m + !m) * sizeof *next);
    if (!next) return false;
    a->next = next;
    a->n_classes = m;
    return true;
}

bool ba_build(ba_automaton *a, budget *b, ge_engine *e, ba_bounds bounds, id_vec *state_of) {
    closure c = {0};
    u32 column[256], n_blocks = 0;
    *a = (ba_automaton){0};
    bool ok = close_configs(&c, b, e, bounds);
    u32 n_configs = max_u32(c.configs.n, 1);
    u32 *block = mem_resize(b, NULL, 0, 2 * (size_t)n_configs * sizeof *block), *state = block ? block + n_configs : NULL;
    ok = ok && block && minimise(&c, b, e->lx.x.n_classes, block, &n_blocks);
    if (ok) {
        order_classes(a, &e->lx.x, column);
        ok = write_tables(a, b, &c, column, block, n_blocks, state) && ba_join_classes(a, b);
    }
    for (u32 i = 0; ok && state_of && i < c.number_of.n; i++)
        ok = vec_push(b, state_of, c.number_of.at[i] == NONE ? NONE : state[block[c.number_of.at[i]]]);
    if (block) mem_resize(b, block, 2 * (size_t)n_configs * sizeof *block, 0);
    drop_closure(&c, b);
    if (!ok) {
        ba_drop(a, b);
        a->n_states = c.n_followed;
    }
    return ok;
}

bool ba_copy(ba_automaton *to, budget *b, const ba_automaton *from) {
    size_t size = ba_next_bytes(from);
    *to = *from;
    to->next = mem_resize(b, NULL, 0, size);
    to->accepts = mem_resize(b, NULL, 0, from->n_states * sizeof *to->accepts);
    if (!to->next || !to->accepts) return ba_drop(to, b), false;
    memcpy(to->next, from->next, size);
    memcpy(to->accepts, from->accepts, from->n_states * sizeof *to->accepts);
    return true;
}

void ba_drop(ba_automaton *a, budget *b) {
    if (a->next) mem_resize(b, a->next, ba_next_bytes(a), 0);
    if (a->accepts) mem_resize(b, a->accepts, a->n_states * sizeof *a->accepts, 0);
    *a = (ba_automaton){0};
}
