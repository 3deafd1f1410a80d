/* Outlines that are kept with the vocabulary: of UUIDs, and of numbers and dates where all numbers of up to three digits are tokens.
 *
 * Idea. Lexemes that read little have no lexeme-internal mask (mk_inner.c): mostly a walk of some tens of nodes costs less than to look one up. But
 * some of these walks are dear: a UUID is some 1,500 nodes at each place, a digit a thousand tokens. What such a walk finds until the lexeme ends is an
 * outline (mk_outline.c), and depends on the state alone. So it is kept with the vocabulary, by the structure of the expression (mk_key.c).
 *
 *     outline    [ tokens | exits ], in words:
 *     tokens     n, and the tokens; where they are many, bits
 *     exit       n, the places of the lexemes in the list of the state, n, and the nodes of the trie at which they have matched
 *
 * Which lexemes. One under whose state a walk was dear is *signed* in the vocabulary's store, by the structure of its expression. Its masks go by
 * outlines from the second grammar on that has it, and the third finds them: the first pays a hash, and what comes once costs nothing else. Where few
 * bytes may come, or little of the vocabulary is below them, it is not even asked for a mark before a walk was dear.
 *
 * Not of states in which a lexeme begins: white space and hubs come with these. Not where a text is one lexeme (mk_ahead.c). An engine holds so many
 * of them at most, so that what it keeps from being dropped is bounded.
 *
 * Exactness. A walk in an open row depends on the expressions of the state, which lexemes are skips or lazy, and the vocabulary; all but the last are
 * in the key, and that is compared in full. A mark decides only which way is taken. */
#include "mk.h"

enum {
    MOST_HELD = 256, /* that an engine holds */
    MANY_FIRST = 8   /* bytes with which a state must be able to go on, for its lexeme to be looked up */
};

enum { NOT_ASKED, IS_CHEAP, IS_MARKED, IS_DEAR }; /* of a lexeme: the first that has it in this vocabulary has marked it; others find the mark */

bool mk_may_share(const ge_engine *e) {
    bool is_off = e->switches & (GE_NO_SHARED_INNER | GE_NO_INNER_MASKS);
    return !is_off && !e->g->longest && !e->g->g.has_distinct && !e->is_one_lexeme;
}

u64 mk_cost(const ge_engine *e, const mk_found *found) {
    return e->stats.trie_nodes + (!found ? 0 : found->listed ? found->list.n : MK_DEAR);
}

/* Looks for the mark of a lexeme; *sign = 0: it can have none. */
static bool ask_mark(ge_engine *e, u32 lexeme, u64 *sign) {
    if (!mk_hash_small(e, e->lx.lexemes.at[lexeme].expr, sign)) return false;
    const vb_inner *found = *sign ? vb_find(e->v, *sign) : NULL;
    if (found) vb_release(e->v, found);
    e->dear.at[lexeme] = found ? IS_DEAR : IS_CHEAP;
    return true;
}

/* May many tokens begin with the first bytes of a state? */
static bool may_be_dear(ge_engine *e, u32 state, bool *answer) {
    const byte_set *first = lx_first(&e->lx, state);
    u32 weight = 0, n = 0;
    *answer = false;
    if (!first) return false;
    for (u32 k = 0; k < 8; k++)
        for (u32 bits = first->w[k]; bits && !*answer; bits &= bits - 1) {
            weight += e->v->hubs[0].weight[32 * k + (u32)__builtin_ctz(bits)];
            *answer = ++n >= MANY_FIRST && weight >= MK_DEAR;
        }
    return true;
}

bool mk_is_dear(ge_engine *e, cf_alternative a, bool *answer) {
    u32 state = a.state >> 1, lexeme = lx_count(&e->lx, state) == 1 ? lx_lexeme_at(&e->lx, state, 0) : NONE;
    *answer = false;
    if (lexeme == NONE) return true;
    while (e->dear.n <= lexeme)
        if (!vec_push(&e->b, &e->dear, NOT_ASKED)) return false;
    u32 known = e->dear.at[lexeme];
    if (known == IS_CHEAP || known == IS_MARKED) return true;
    u32 begin = cf_is_open(a.row) ? LX_IDLE : cf_begin(e, a.row);
    if (begin == NONE) return false;
    if (begin == state || e->lx.info.at[state].has_skip) return true;
    if (known == NOT_ASKED) {
        bool may;
        u64 sign;
        e->dear.at[lexeme] = IS_CHEAP;
        if (!may_be_dear(e, state, &may) || (may && !ask_mark(e, lexeme, &sign))) return false;
    }
    *answer = e->dear.at[lexeme] == IS_DEAR && e->n_shared < MOST_HELD;
    return true;
}

bool mk_note_dear(ge_engine *e, u32 config) {
    u32 under_way = NONE, n_under_way = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        u32 state = a.state >> 1, begin = cf_begin(e, a.row);
        if (begin == NONE) return false;
        if (state != begin && !e->lx.info.at[state].has_skip) under_way = state, n_under_way++;
    }
    if (n_under_way != 1 || lx_count(&e->lx, under_way) != 1) return true;
    u32 lexeme = lx_lexeme_at(&e->lx, under_way, 0);
    u64 sign;
    if (lexeme >= e->dear.n || e->dear.at[lexeme] != IS_CHEAP) return true;
    if (!ask_mark(e, lexeme, &sign)) return false;
    if (e->dear.at[lexeme] == IS_DEAR) return true;
    e->dear.at[lexeme] = IS_MARKED;
    budget own;
    ge_limits limits;
    memset(&limits, 0xff, sizeof limits);
    budget_init(&own, &limits);
    vb_inner *made = sign ? mem_resize(&own, NULL, 0, sizeof *made) : NULL;
    if (!made) return true; /* not to mark it costs only time */
    memset(made, 0, sizeof *made);
    made->hash = sign;
    made->bytes = own.bytes;
    const vb_inner *kept = vb_add(e->v, made);
    if (kept) vb_release(e->v, kept);
    return true;
}

/* The key of a state, if it may have an outline in the store; NULL: it has none, or failure. */
static mk_key *key_of(ge_engine *e, u32 state) {
    mk_key *key = mk_key_of(e, state, MK_OUTLINE);
    return key && !key->refused ? key : NULL;
}

/* Reads [ n | words ... ] */
static const u32 *next_list(const u32 **at, u32 *n) {
    const u32 *list = *at + 1;
    *n = **at;
    *at = list + *n;
    return list;
}

/* Appends the exits of an outline, with the engine's names of lexemes. */
static bool take_exits(ge_engine *e, u32 state, const u32 *at, const u32 *end, mk_outline *to) {
    id_vec words = {0};
    bool ok = true;
    to->exits = e->outline_words.n;
    for (; ok && at < end; to->n_exits++) {
        u32 n, accepts = NONE, places = NONE, trie = mk_trie_index(e, &e->v->trie);
        const u32 *lexemes = next_list(&at, &n);
        words.n = 0;
        for (u32 i = 0; ok && i < n; i++) ok = vec_push(&e->b, &words, lx_lexeme_at(&e->lx, state, lexemes[i]));
        ok = ok && trie != NONE && (accepts = intern(&e->b, &e->lx.accepts, words.at, words.n, NULL)) != NONE;
        const u32 *nodes = next_list(&at, &n);
        words.n = 0;
        ok = ok && vec_push(&e->b, &words, trie) && vec_reserve(&e->b, &words, n);
        if (ok) memcpy(words.at + 1, nodes, n * sizeof *nodes);
        ok = ok && (places = intern(&e->b, &e->places, words.at, 1 + n, NULL)) != NONE;
        ok = ok && vec_push(&e->b, &e->outline_words, accepts) && vec_push(&e->b, &e->outline_words, places);
    }
    vec_drop(&e->b, &words);
    return ok;
}

bool mk_take_shared(ge_engine *e, u32 state, mk_outline *to, bool *found) {
    *found = false;
    mk_key *key = key_of(e, state);
    const vb_inner *inner = key ? vb_find(e->v, key->hash) : NULL;
    if (!inner) return e->b.status == GE_OK;
    bool ok = mk_spell_key(e, state, MK_OUTLINE, key), same = ok && mk_has_key(e, inner, key);
    if (same) {
        u32 n;
        const u32 *at = inner->outline.at, *tokens = next_list(&at, &n);
        to->tokens = e->outline_words.n;
        ok = vec_reserve(&e->b, &e->outline_words, n);
        if (ok && n) memcpy(e->outline_words.at + to->tokens, tokens, n * sizeof *tokens);
        if (ok) e->outline_words.n += to->n_tokens = n;
        ok = ok && take_exits(e, state, at, inner->outline.at + inner->outline.n, to);
        if (ok) to->inner = inner; /* held by the outline from now on */
        e->n_shared += ok;
        e->stats.inner_hits++;
    }
    *found = same && ok;
    if (!*found) vb_release(e->v, inner);
    return ok;
}

/* Appends the places of the lexemes of a set in the list of a state. *ok = false: some are not in it. */
static bool push_places(ge_engine *e, budget *b, u32 state, u32 accepts, vb_inner *made) {
    const u32 *lexemes = intern_words(&e->lx.accepts, accepts);
    u32 n = intern_length(&e->lx.accepts, accepts), place = 0;
    if (!vec_push(b, &made->outline, n)) return false;
    for (u32 i = 0; i < n; i++, place++) {
        while (place < lx_count(&e->lx, state) && lx_lexeme_at(&e->lx, state, place) != lexemes[i]) place++;
        if (place >= lx_count(&e->lx, state) || !vec_push(b, &made->outline, place)) return false;
    }
    return true;
}

static bool push_list(budget *b, vb_inner *made, const u32 *words, u32 n) {
    if (!vec_push(b, &made->outline, n) || !vec_reserve(b, &made->outline, n)) return false;
    if (n) memcpy(made->outline.at + made->outline.n, words, n * sizeof *words);
    made->outline.n += n;
    return true;
}

static vb_inner *copy_outline(ge_engine *e, u32 state, const mk_outline *from, const mk_key *key, budget *b) {
    vb_inner *made = mem_resize(b, NULL, 0, sizeof *made);
    if (!made) return NULL;
    memset(made, 0, sizeof *made);
    made->hash = key->hash;
    bool ok = vec_reserve(b, &made->key, key->n) && push_list(b, made, e->outline_words.at + from->tokens, from->n_tokens);
    if (ok) memcpy(made->key.at, e->key_words.at + key->at, key->n * sizeof *made->key.at);
    if (ok) made->key.n = key->n;
    if (ok && from->bits) {
        made->n_words = e->v->n_words;
        ok = (made->bits = mem_resize(b, NULL, 0, made->n_words * sizeof *made->bits)) != NULL;
        if (ok) memcpy(made->bits, from->bits, made->n_words * sizeof *made->bits);
    }
    u32 trie = mk_trie_index(e, &e->v->trie);
    for (u32 i = 0; ok && i < from->n_exits; i++) {
        const u32 *exit = e->outline_words.at + from->exits + 2 * i, *places = intern_words(&e->places, exit[1]);
        ok = places[0] == trie && exit[0] < CF_SECOND && push_places(e, b, state, exit[0], made) &&
             push_list(b, made, places + 1, intern_length(&e->places, exit[1]) - 1);
    }
    made->bytes = b->bytes;
    if (ok) return made;
    vb_inner_free(b, made);
    return NULL;
}

bool mk_share(ge_engine *e, u32 state, u64 cost, mk_outline *outline) {
    if (cost < MK_DEAR || outline->n_hubs) return true;
    mk_key *key = key_of(e, state);
    if (!key || !mk_spell_key(e, state, MK_OUTLINE, key)) return e->b.status == GE_OK;
    if (key->refused) return true;
    budget own;
    ge_limits limits;
    memset(&limits, 0xff, sizeof limits);
    budget_init(&own, &limits);
    vb_inner *made = copy_outline(e, state, outline, key, &own);
    const vb_inner *inner = made ? vb_add(e->v, made) : NULL;
    if (!inner) return e->b.status == GE_OK;
    if (outline->bits) mem_resize(&e->b, outline->bits, e->v->n_words * sizeof *outline->bits, 0);
    outline->bits = NULL;
    outline->inner = inner;
    e->n_shared++;
    return true;
}

bool mk_add_shared(ge_engine *e, cf_alternative a, mk_found *found, bool *done) {
    bool dear;
    *done = false;
    if (!mk_may_share(e)) return true;
    if (!mk_is_dear(e, a, &dear)) return false;
    if (!dear) return true;
    u32 index = mk_outline_of_state(e, a.state >> 1);
    if (index == NONE) return false;
    mk_outline o = e->outlines.at[index];
    if (o.n_hubs) return true;
    *done = true;
    if (!mk_add_outlined(e, &o, found)) return false;
    for (u32 i = 0; i < o.n_exits; i++) {
        u32 accepts = e->outline_words.at[o.exits + 2 * i], places = e->outline_words.at[o.exits + 2 * i + 1];
        u32 row = cf_go(e, a.row, accepts), config = row == NONE ? NONE : cf_fresh(e, row);
        if (config == NONE) return false;
        if (config != CF_DEAD && !mk_walk_from(e, places, config, found)) return false;
    }
    return true;
}
