/* Token automata of lexemes that many grammars share, numbers, dates, UUIDs, kept with the vocabulary.
 *
 * Idea. Lexemes that read little have no lexeme-internal mask (mk_inner.c): mostly a walk of some tens of nodes costs less than to hash
 * what is left of the expression at each place, and to look that up. But what is left of a lexeme follows from the lexeme and the bytes
 * that were read. So a lexeme is looked up once, by the structure of its expression (mk_key.c), and found is its automaton over bytes; a
 * state of the lexer, which remembers by which byte it was first come to from which other one, is a state of that, its *place*, by
 * following these bytes.
 *
 *     automaton   [ number of states | class of each byte | state by state and class ]       one for a lexeme
 *     outline     the tokens that may come in a state, and where it ends in them             one for a state that is asked for (mk_share.c)
 *
 * Which lexemes. One within which a text comes to a place that more than a few bytes may follow, as digits do, or only bytes beyond ASCII,
 * each of which begins many characters: key words, names of properties and strings of an enum are spelt by each grammar in its own way.
 * What comes once costs a hash and a *mark* in the store; the second grammar makes the automaton, if it has few states, and the outlines
 * that it asks for; the third finds them. (A date with time has thousands of states, since a leap second may come in each zone at another
 * minute, and 1,200 nodes: to hash these takes as long as what would be saved.) Not a distinct lexeme, which a text has made, nor a string
 * of any text, which may have 10^5 places within escapes, nor one of counted characters of which nothing else is asked, if these are many,
 * or more than a few and nearly any: there each count is some states, and none is needed (mk_near.c).
 *
 * Exactness. The key is compared in full, so both have the same expression, and where bytes lead
 * from there, and what can be read then, depends on nothing else. Two places may well be alike.
 *
 * Limits. To make an automaton costs states and derivatives, which nobody has asked
 * for: it takes a part of what limits leave, and what they refuse is not made. */
#include "mk.h"

enum {
    MOST_PLACES = 1000, /* of an automaton; fewer than VB_NO_PLACE */
    MOST_WAY = 256,     /* bytes from a place that is known */
    MOST_WORK = 5000,   /* derivatives to make it, a millisecond: an IPv6 address takes 3,100 to 4,500, by the classes of bytes */
    MOST_HELD = 256,    /* automata that an engine holds */
    FEW_CHARS = 12,     /* of counted text in which nearly any may come: so many states are made */
    MANY_CHARS = 32,    /* of counted text */
    MOST_BYTES = 128,   /* that go on, or more: nearly any character may come */
    COUNTS_DEPTH = 2,   /* white space behind a string or null */
    ONE_IN = 8          /* of what each limit leaves, no more than one in so many is taken */
};

#define NO_PLACE (NONE - 1)

static u64 mark_of(const mk_key *key) { return mix_u64(key->hash ^ MK_VIEWS) >> 1; }

/* Puts an entry into the store that was counted in a budget of its own.
 * NULL: it is there already, or there is no memory, which costs only time. */
static const vb_inner *add_entry(ge_engine *e, vb_inner *made, const budget *own, u64 hash) {
    made->hash = hash;
    made->bytes = own->bytes;
    return vb_add(e->v, made);
}

vb_inner *mk_new_entry(budget *own) {
    budget_init_unlimited(own);
    vb_inner *made = mem_resize(own, NULL, 0, sizeof *made);
    if (made) memset(made, 0, sizeof *made);
    return made;
}

static void mark_lexeme(ge_engine *e, const mk_key *key) {
    budget own;
    vb_inner *made = mk_new_entry(&own);
    const vb_inner *kept = made ? add_entry(e, made, &own, mark_of(key)) : NULL;
    if (kept) vb_release(e->v, kept);
}

/* How the characters of a string are counted, which is perhaps one of several scalars, and has white space behind it. */
typedef struct counted_chars {
    bool is_plain;  /* nothing else is asked of them, and they are many, or may be nearly any: each number of them is some states */
    bool is_beside; /* something else is asked */
} counted_chars;

static bool find_counts(ge_engine *e, rx_id expr, u32 depth, counted_chars *found) {
    rx_arena *x = &e->lx.x;
    const u32 *node = intern_words(&x->nodes, expr); /* no node is made below, so it stays */
    bool is_many = node[0] == RX_OR, is_part = node[0] == RX_CONCAT && rx_kind_of(x, node[1]) == RX_OR;
    bool ok = !is_part || depth == 0 || find_counts(e, node[1], depth - 1, found);
    for (u32 i = 1; ok && is_many && depth && i < intern_length(&x->nodes, expr); i++) ok = find_counts(e, node[i], depth - 1, found);
    if (!ok || node[0] != RX_CONCAT || rx_kind_of(x, node[1]) != RX_SET) return ok;
    u32 room;
    byte_set first = {{0}};
    bool is_counted = cf_count_of(e, node[2], &room) != RX_UNCOUNTED;
    if (is_counted && !rx_first(x, node[2], &first)) return false;
    found->is_plain |= is_counted && (room >= MANY_CHARS || (room > FEW_CHARS && set_count(&first) >= MOST_BYTES));
    found->is_beside |= !is_counted && rx_only_room(x, node[2]) != NONE;
    return true;
}

/* The states of the lexer within a lexeme, from the start on, and by state and class of bytes where they lead. */
typedef struct found_states {
    id_vec states;
    id_vec next; /* number of the state, or VB_NO_PLACE */
    word_map number;
} found_states;

static bool number_state(ge_engine *e, found_states *f, u32 state, u32 *number) {
    *number = map_get(&f->number, state);
    if (*number != NONE) return true;
    *number = f->states.n;
    return vec_push(&e->b, &f->states, state) && map_put(&e->b, &f->number, state, *number);
}

/* *all = false: they are too many, or take too long. Where characters are counted that is likely: certain if nearly any may come. */
static bool find_states(ge_engine *e, u32 start, bool is_counted, found_states *f, bool *all) {
    const rx_arena *x = &e->lx.x;
    u64 before = x->derivatives, most_work = is_counted ? MOST_WORK / 4 : MOST_WORK;
    u32 number;
    *all = true;
    if (!number_state(e, f, start, &number)) return false;
    for (u32 i = 0; i < f->states.n && *all; i++) {
        u32 state = f->states.at[i];
        const byte_set *of = lx_first(&e->lx, state);
        if (!of) return false;
        byte_set first = *of;
        if (is_counted && set_count(&first) >= MOST_BYTES) return *all = false, true;
        if (!vec_reserve(&e->b, &f->next, x->n_classes)) return false;
        for (u32 c = 0; c < x->n_classes; c++) {
            u32 to = set_has(&first, x->class_byte[c]) ? lx_step(&e->lx, state, c) : LX_DEAD;
            number = VB_NO_PLACE;
            if (to == NONE || (to != LX_DEAD && !number_state(e, f, to, &number))) return false;
            f->next.at[f->next.n++] = number;
        }
        *all = f->states.n <= MOST_PLACES && x->derivatives - before <= most_work;
    }
    return true;
}

/* The classes of bytes that the automaton tells apart: columns of its table. */
static u32 join_classes(const rx_arena *x, const found_states *f, u8 column_of[256], u8 class_at[256]) {
    u32 n = 0;
    for (u32 c = 0, k; c < x->n_classes; c++) {
        for (k = 0; k < n; k++) {
            u32 i = 0;
            while (i < f->states.n && f->next.at[i * x->n_classes + c] == f->next.at[i * x->n_classes + class_at[k]]) i++;
            if (i == f->states.n) break;
        }
        if (k == n) class_at[n++] = (u8)c;
        column_of[c] = (u8)k;
    }
    return n;
}

static vb_lexeme *lay_automaton(const rx_arena *x, const found_states *f, budget *b) {
    u8 column_of[256], class_at[256];
    u32 n = join_classes(x, f, column_of, class_at);
    vb_lexeme *made = mem_resize(b, NULL, 0, vb_lexeme_bytes(f->states.n, n));
    if (!made) return NULL;
    made->n_states = f->states.n;
    made->n_classes = n;
    for (u32 byte = 0; byte < 256; byte++) made->class_of[byte] = column_of[x->class_of[byte]];
    for (u32 i = 0; i < f->states.n; i++)
        for (u32 k = 0; k < n; k++) made->next[i * n + k] = (u16)f->next.at[i * x->n_classes + class_at[k]];
    return made;
}

/* Within a part of what limits leave: *enough = false, it was not, and that is no failure. */
static bool find_within_limits(ge_engine *e, u32 start, bool is_counted, found_states *f, bool *all, bool *enough) {
    ge_limits limits = e->b.limits, *part = &e->b.limits;
    u64 states = intern_count(&e->lx.states), expressions = intern_count(&e->lx.x.nodes);
    part->max_lexer_states = states + (limits.max_lexer_states - states) / ONE_IN;
    part->max_expressions = expressions + (limits.max_expressions - expressions) / ONE_IN;
    part->max_memory_bytes = e->b.bytes + (limits.max_memory_bytes - e->b.bytes) / ONE_IN;
    part->max_step_work = e->b.work + (limits.max_step_work - e->b.work) / ONE_IN;
    bool ok = find_states(e, start, is_counted, f, all);
    e->b.limits = limits;
    *enough = ok || e->b.status != GE_E_LIMIT;
    if (*enough) return ok;
    e->b.status = GE_OK;
    e->b.symbol = NONE;
    return true;
}

/* An entry with the automaton, or without, if it has too many states; its key is spelt out.
 * NULL: the limits of this grammar do not suffice, which says nothing of others. False: failure. */
static bool make_automaton(ge_engine *e, u32 start, bool is_counted, const mk_key *key, const vb_inner **kept) {
    found_states f = {0};
    bool all, enough;
    *kept = NULL;
    bool ok = find_within_limits(e, start, is_counted, &f, &all, &enough);
    budget own;
    vb_inner *made = ok && enough ? mk_new_entry(&own) : NULL;
    if (made) {
        bool whole = vec_reserve(&own, &made->key, key->n);
        if (whole) memcpy(made->key.at, e->mk.key_words.at + key->at, key->n * sizeof *made->key.at);
        if (whole) made->key.n = key->n;
        if (whole && all) whole = (made->lexeme = lay_automaton(&e->lx.x, &f, &own)) != NULL;
        if (whole) *kept = add_entry(e, made, &own, key->hash);
        else vb_inner_free(&own, made);
    }
    for (u32 i = 0; ok && *kept && all && i < f.states.n; i++) {
        ok = vec_reach(&e->b, &e->mk.place_of, f.states.at[i]);
        if (ok) e->mk.place_of.at[f.states.at[i]] = i;
    }
    vec_drop(&e->b, &f.states);
    vec_drop(&e->b, &f.next);
    map_drop(&e->b, &f.number);
    return ok;
}

/* Looks for the automaton of a lexeme, or makes it if another grammar has had the lexeme. */
static bool look_up(ge_engine *e, u32 lexeme, mk_use *use) {
    const lx_lexeme *of = &e->lx.lexemes.at[lexeme];
    use->asked = true;
    if (of->flags & (LX_SKIP | LX_GROUP | LX_DISTINCT) || e->mk.n_held == MOST_HELD) return true;
    const u32 *node = intern_words(&e->lx.x.nodes, of->expr);
    if (node[0] == RX_CONCAT && rx_is_any_text(&e->lx.x, node[2])) return true;
    counted_chars counted = {0};
    if (e->room && !find_counts(e, of->expr, COUNTS_DEPTH, &counted)) return false;
    if (counted.is_plain) return true;
    u32 start = lx_state_of(&e->lx, (u32[]){lexeme, of->expr}, 1);
    mk_key *key = start == NONE ? NULL : mk_key_of(e, start, MK_LEXEME);
    if (!key || key->refused) return key != NULL;
    const vb_inner *inner = vb_find(e->v, key->hash), *met = inner ? NULL : vb_find(e->v, mark_of(key));
    bool ok = true;
    if (!inner && !met) return mark_lexeme(e, key), true;
    if (met) vb_release(e->v, met);
    ok = mk_spell_key(e, start, MK_LEXEME, key);
    if (ok && !inner && !key->refused) ok = make_automaton(e, start, counted.is_beside, key, &inner);
    if (inner && ok && inner->lexeme && mk_has_key(e, inner, key)) {
        use->automaton = inner;
        e->mk.n_held++;
    } else if (inner) {
        vb_release(e->v, inner);
    }
    return ok;
}

/* The lexeme of a state, if it is the only one; else NONE. */
static u32 only_lexeme(const ge_engine *e, u32 state) {
    return state != LX_DEAD && lx_count(&e->lx, state) == 1 ? lx_lexeme_at(&e->lx, state, 0) : NONE;
}

bool mk_has_automaton(ge_engine *e, u32 state, bool *answer) {
    u32 lexeme = only_lexeme(e, state);
    *answer = false;
    if (lexeme == NONE) return true;
    while (e->mk.uses.n <= lexeme)
        if (!vec_push(&e->b, &e->mk.uses, ((mk_use){0}))) return false;
    if (!e->mk.uses.at[lexeme].asked) {
        const byte_set *first = lx_first(&e->lx, state);
        if (!first) return false;
        if (e->lx.info.at[state].narrow && (first->w[0] | first->w[1] | first->w[2] | first->w[3])) return true;
        mk_use use = {0};
        bool ok = look_up(e, lexeme, &use);
        e->mk.uses.at[lexeme] = use;
        if (!ok) return false;
    }
    *answer = e->mk.uses.at[lexeme].automaton != NULL;
    return true;
}

/* What is left of a lexeme in a state; RX_ID_NEVER: it is not in it. */
static rx_id rest_of(const ge_engine *e, u32 state, u32 lexeme) {
    const u32 *pairs = intern_words(&e->lx.states, state);
    for (u32 i = 0, n = lx_count(&e->lx, state); i < n; i++)
        if (pairs[2 * i] == lexeme) return pairs[2 * i + 1];
    return RX_ID_NEVER;
}

/* Follows the bytes by which a state was come to, from the start of the lexeme, or a state whose place is known. */
static u32 find_place(const ge_engine *e, u32 state, u32 lexeme, const vb_lexeme *automaton) {
    u8 way[MOST_WAY];
    u32 n = 0, place = NONE;
    for (u32 at = state; place == NONE; at = e->lx.info.at[at].from) {
        if (rest_of(e, at, lexeme) == e->lx.lexemes.at[lexeme].expr) place = 0;
        else if (at != state && at < e->mk.place_of.n && only_lexeme(e, at) != NONE) place = e->mk.place_of.at[at];
        if (place != NONE) break;
        if (e->lx.info.at[at].from == NONE || n == MOST_WAY) return NO_PLACE;
        way[n++] = e->lx.info.at[at].by;
    }
    while (n-- > 0 && place < VB_NO_PLACE) place = automaton->next[place * automaton->n_classes + automaton->class_of[way[n]]];
    return place < VB_NO_PLACE ? place : NO_PLACE;
}

bool mk_place_of(ge_engine *e, u32 state, const vb_inner **automaton, u32 *place) {
    u32 lexeme = lx_lexeme_at(&e->lx, state, 0);
    *automaton = e->mk.uses.at[lexeme].automaton;
    if (!vec_reach(&e->b, &e->mk.place_of, state)) return false;
    if (e->mk.place_of.at[state] == NONE) e->mk.place_of.at[state] = find_place(e, state, lexeme, (*automaton)->lexeme);
    *place = e->mk.place_of.at[state] == NO_PLACE ? NONE : e->mk.place_of.at[state];
    return true;
}

void mk_drop_lexemes(ge_engine *e) {
    for (u32 i = 0; i < e->mk.uses.n; i++)
        if (e->mk.uses.at[i].automaton) vb_release(e->v, e->mk.uses.at[i].automaton);
    vec_drop(&e->b, &e->mk.uses);
    vec_drop(&e->b, &e->mk.place_of);
}
