/* Keys of units: by what a lexeme-internal mask (mk_inner.c), or the
 * automaton of a lexeme (mk_lexeme.c), is found again, in whatever grammar.
 *
 * Key. The regexes of the unit as a directed acyclic graph, numbered in post-order, with flags of
 * the lexemes, the discipline, whether there are exits, and the view: the tokens that are decided.
 *
 * Hash. It says the same, but is made up from those of the operands, which are kept: each expression is hashed once, and most units that
 * are looked up differ in a few nodes from others. Most are not in the store, so keys are spelt out only where it has something with that
 * hash, or is to get it. */
#include "../regex/names/rx_name.h"
#include "mk.h"

/* Larger units are taken to be particular to one grammar, but for a text that is one lexeme, whose states
 * differ in a count: `(\w+\W+){3,50}` has 1,600 nodes. Larger lexemes have no automaton. */
enum { MAX_KEY_NODES = 1000, TEXT_KEY_NODES = 2000, LEXEME_KEY_NODES = 128 };
enum { NOT_HASHED, PARTICULAR, HASHED }; /* hashes with a meaning, and the least without */

/* *last: operands [1, *last) are nodes. False: what the expression is, is not in its nodes, or particular to one grammar. */
static bool has_structure(const u32 *node, u32 n, u32 *last) {
    *last = 1;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: *last = 3; return true;
    case RX_OR: case RX_AND: case RX_FORK: *last = n; return n <= MAX_KEY_NODES;
    case RX_NOT: case RX_REPEAT: case RX_QUOTE: case RX_REST: *last = 2; return true;
    case RX_MULTIPLE: return false; /* its bounds are not in the node */
    case RX_TAG: return false;      /* a lexeme of one grammar */
    case RX_PUNYCODE: return !node[1]; /* with a text it is one of many */
    case RX_NAME: return !(node[1] & RX_BOUNDED) && node[4] != NAME_ENCODED; /* others change by nearly each token */
    case RX_SYNTAX: return rx_syntax_is_structure(node);
    default: return true;
    }
}

static u64 mix_words(u64 hash, const u32 *words, u32 n) {
    for (u32 i = 0; i < n; i++) hash = mix_u64(hash ^ words[i]);
    return hash;
}

/* The hash of a node whose operands are hashed; NOT_HASHED: some are not, and go to `todo`. */
static u64 hash_node(ge_engine *e, rx_id id, id_vec *todo) {
    const rx_arena *x = &e->lx.x;
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id), last;
    if (!has_structure(node, n, &last)) return PARTICULAR;
    u32 n_todo = todo->n;
    for (u32 i = 1; i < last; i++) {
        u64 part = e->mk.structure.at[node[i]];
        if (part == PARTICULAR) return PARTICULAR;
        if (part == NOT_HASHED && !vec_push(&e->b, todo, node[i])) return NOT_HASHED;
    }
    if (todo->n > n_todo) return NOT_HASHED;
    u64 hash = mix_u64(node[0] << 16 | n);
    for (u32 i = 1; i < last; i++) hash = mix_u64(hash ^ e->mk.structure.at[node[i]]);
    hash = node[0] == RX_SET ? mix_words(hash, rx_set_of(x, node[1])->w, 8) : mix_words(hash, node + last, n - last);
    return hash < HASHED ? HASHED : hash;
}

/* *hash = that of an expression; PARTICULAR: it has none, or more than so many of its nodes were not hashed before. False: failure. */
static bool hash_structure(ge_engine *e, rx_id root, u32 most, u64 *hash) {
    id_vec todo = {0};
    u32 n_nodes = intern_count(&e->lx.x.nodes), n_done = 0, n_new = n_nodes - e->mk.structure.n;
    bool ok = vec_reserve(&e->b, &e->mk.structure, n_new) && vec_push(&e->b, &todo, root);
    if (ok && n_new) memset(e->mk.structure.at + e->mk.structure.n, 0, n_new * sizeof *e->mk.structure.at);
    if (ok) e->mk.structure.n = n_nodes;
    while (ok && todo.n && n_done < most) {
        rx_id id = todo.at[todo.n - 1];
        u64 *known = &e->mk.structure.at[id];
        if (*known == NOT_HASHED) *known = hash_node(e, id, &todo);
        ok = e->b.status == GE_OK;
        if (*known == NOT_HASHED) continue;
        todo.n--;
        n_done++;
    }
    *hash = ok && todo.n == 0 ? e->mk.structure.at[root] : PARTICULAR;
    vec_drop(&e->b, &todo);
    return ok;
}

static u32 unit_flags(const ge_engine *e, u32 state, u32 i) {
    return e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, i)].flags & (LX_LAZY | LX_SKIP);
}

static u32 most_nodes(const ge_engine *e) { return e->is_one_lexeme ? TEXT_KEY_NODES : MAX_KEY_NODES; }

static bool hash_unit(ge_engine *e, u32 state, u32 view, mk_key *key) {
    u32 most = view == MK_LEXEME ? LEXEME_KEY_NODES : most_nodes(e), n = lx_count(&e->lx, state),
        head[] = {e->g->longest, e->is_one_lexeme, view, n};
    key->hash = mix_words(0, head, 4);
    for (u32 i = 0; i < n && !key->refused; i++) {
        u64 hash;
        if (!hash_structure(e, lx_rest_at(&e->lx, state, i), most, &hash)) return false;
        key->refused = hash == PARTICULAR;
        key->hash = mix_u64(mix_u64(key->hash ^ hash) ^ unit_flags(e, state, i));
    }
    if (key->hash == UINT64_MAX) key->hash = 0;
    return true;
}

mk_key *mk_key_of(ge_engine *e, u32 state, u32 view) {
    u64 name = (u64)state * MK_VIEWS + view;
    u32 index = map_get(&e->mk.key_of, name);
    if (index != NONE) return &e->mk.keys.at[index];
    mk_key made = {.at = NONE};
    if (!hash_unit(e, state, view, &made) || !vec_push(&e->b, &e->mk.keys, made) || !map_put(&e->b, &e->mk.key_of, name, e->mk.keys.n - 1))
        return NULL;
    return &e->mk.keys.at[e->mk.keys.n - 1];
}

/* Appends the nodes below `root` that are not numbered yet, and numbers
 * them by their place in `numbered`; false: there are too many, or failure. */
static bool add_structure(ge_engine *e, rx_id root, id_vec *numbered, id_vec *todo) {
    const rx_arena *x = &e->lx.x;
    id_vec *key = &e->mk.key_words;
    budget *b = &e->b;
    if (!vec_push(b, todo, root)) return false;
    while (todo->n) {
        rx_id id = todo->at[todo->n - 1];
        const u32 *node = intern_words(&x->nodes, id), *number = e->mk.number.at;
        u32 n = intern_length(&x->nodes, id), n_todo = todo->n, last;
        if (number[id] != NONE) {
            todo->n--;
            continue;
        }
        (void)has_structure(node, n, &last); /* it has: it was hashed */
        for (u32 i = 1; i < last; i++)
            if (number[node[i]] == NONE && !vec_push(b, todo, node[i])) return false;
        if (todo->n > n_todo) continue; /* those first */
        const u32 *rest = node[0] == RX_SET ? rx_set_of(x, node[1])->w : node + last;
        u32 n_rest = node[0] == RX_SET ? 8 : n - last;
        if (numbered->n == most_nodes(e) || !vec_reserve(b, key, n + 8)) return false;
        key->at[key->n++] = node[0] << 16 | n;
        for (u32 i = 1; i < last; i++) key->at[key->n++] = number[node[i]];
        for (u32 i = 0; i < n_rest; i++) key->at[key->n++] = rest[i];
        if (!vec_push(b, numbered, id)) return false;
        e->mk.number.at[id] = numbered->n - 1;
        todo->n--;
    }
    return true;
}

bool mk_spell_key(ge_engine *e, u32 state, u32 view, mk_key *key) {
    if (key->at != NONE || key->refused) return true;
    id_vec numbered = {0}, todo = {0}, *words = &e->mk.key_words;
    u32 n = lx_count(&e->lx, state), begin = words->n;
    bool ok = vec_reach(&e->b, &e->mk.number, intern_count(&e->lx.x.nodes) - 1);
    ok = ok && vec_push(&e->b, words, e->g->longest | (u32)e->is_one_lexeme << 1) && vec_push(&e->b, words, view) &&
         vec_push(&e->b, words, n);
    for (u32 i = 0; ok && i < n; i++) {
        rx_id expr = lx_rest_at(&e->lx, state, i);
        ok = add_structure(e, expr, &numbered, &todo) && vec_push(&e->b, words, e->mk.number.at[expr]) &&
             vec_push(&e->b, words, unit_flags(e, state, i));
    }
    for (u32 i = 0; i < numbered.n; i++) e->mk.number.at[numbered.at[i]] = NONE;
    key->refused = !ok && e->b.status == GE_OK;
    if (!ok) words->n = begin;
    if (ok) key->at = begin;
    key->n = words->n - begin;
    vec_drop(&e->b, &numbered);
    vec_drop(&e->b, &todo);
    return ok || key->refused;
}

bool mk_has_key(const ge_engine *e, const vb_inner *inner, const mk_key *key) {
    if (key->refused || inner->key.n != key->n) return false;
    return memcmp(inner->key.at, e->mk.key_words.at + key->at, key->n * sizeof(u32)) == 0;
}
