#include "lx.h"

enum {
    NARROW = 9, /* bytes: where no more are possible, as behind a backslash, the transition by each is computed by itself */
    SINGLY = 2  /* ... and so are the first transitions: of most states no more are asked for, and classes cost as much as ten of them */
};

/* Adds a lexeme to l->matched, or of a group all that have matched: ascending, each once. */
static bool add_matched(lx_lexer *l, u32 lexeme, rx_id expr) {
    if (!(l->lexemes.at[lexeme].flags & LX_GROUP)) return vec_push(l->b, &l->matched, lexeme);
    id_vec tags = {0};
    bool ok = rx_tags(&l->x, expr, true, &tags) && vec_reserve(l->b, &l->matched, tags.n / 2);
    for (u32 i = 0; ok && i < tags.n; i += 2) {
        u32 k = l->matched.n++;
        for (; k && l->matched.at[k - 1] > tags.at[i]; k--) l->matched.at[k] = l->matched.at[k - 1];
        l->matched.at[k] = tags.at[i];
        if (k == 0 || l->matched.at[k - 1] != tags.at[i]) continue;
        memmove(l->matched.at + k, l->matched.at + k + 1, (--l->matched.n - k) * sizeof *l->matched.at);
    }
    vec_drop(l->b, &tags);
    return ok;
}

/* Interns the (lexeme, regex) pairs in scratch. */
static u32 intern_state(lx_lexer *l) {
    bool fresh;
    u32 id = intern(l->b, &l->states, l->scratch.at, l->scratch.n, &fresh);
    if (id == NONE || !fresh) return id;
    lx_state info = {.accepts = NONE, .first = NONE, .same = NONE, .from = NONE};
    u32 n = l->scratch.n / 2;
    l->matched.n = 0;
    bool ok = id < l->b->limits.max_lexer_states || budget_limit(l->b, LIMIT(max_lexer_states));
    for (u32 i = 0; ok && i < n; i++) {
        u32 lexeme = l->scratch.at[2 * i], expr = l->scratch.at[2 * i + 1];
        info.live |= expr != RX_ID_EMPTY;
        info.distinct |= (l->lexemes.at[lexeme].flags & LX_DISTINCT) != 0;
        info.has_skip |= (l->lexemes.at[lexeme].flags & LX_SKIP) != 0;
        if (!rx_nullable(&l->x, expr)) continue;
        if (l->lexemes.at[lexeme].flags & LX_SKIP) info.skips = true;
        else ok = add_matched(l, lexeme, expr);
    }
    if (ok && l->matched.n) ok = (info.accepts = intern(l->b, &l->accepts, l->matched.at, l->matched.n, NULL)) != NONE;
    ok = ok && vec_reserve(l->b, &l->info, 1);
    if (!ok || !stable_push_filled(l->b, &l->next, 0xff)) {
        intern_undo(&l->states);
        return NONE;
    }
    l->info.at[l->info.n++] = info;
    return id;
}

bool lx_init(lx_lexer *l, budget *b, const rx_arena *x, const lx_lexeme *lexemes, u32 n) {
    memset(l, 0, sizeof *l);
    l->b = b;
    l->next.element = x->n_classes * (u32)sizeof(u32);
    if (!rx_copy(&l->x, b, x) || !vec_reserve(b, &l->lexemes, n + 1u)) return false;
    for (u32 i = 0; i < n; i++) l->lexemes.at[l->lexemes.n++] = lexemes[i];
    l->any_group = n;
    l->lexemes.at[l->lexemes.n++] = (lx_lexeme){RX_ID_NEVER, LX_GROUP, NONE};
    if (intern(b, &l->value_sets, l->scratch.at, 0, NULL) != 0) return false;
    /* LX_DEAD needs content that no other state has; LX_IDLE is the empty list. */
    if (!vec_push(b, &l->scratch, 0) || !vec_push(b, &l->scratch, RX_ID_NEVER)) return false;
    if (intern_state(l) != LX_DEAD) return false;
    l->info.at[LX_DEAD] = (lx_state){.accepts = NONE, .first = NONE, .same = NONE, .from = NONE};
    l->scratch.n = 0;
    return intern_state(l) == LX_IDLE;
}

void lx_drop(lx_lexer *l) {
    if (!l->b) return;
    rx_drop(&l->x);
    intern_drop(l->b, &l->states);
    vec_drop(l->b, &l->info);
    stable_drop(l->b, &l->next);
    intern_drop(l->b, &l->accepts);
    vec_drop(l->b, &l->scratch);
    vec_drop(l->b, &l->matched);
    vec_drop(l->b, &l->lexemes);
    intern_drop(l->b, &l->values);
    intern_drop(l->b, &l->value_sets);
    intern_drop(l->b, &l->distinct);
    vec_drop(l->b, &l->distinct_lexeme);
    intern_drop(l->b, &l->blocks);
    vec_drop(l->b, &l->block_union);
    map_drop(l->b, &l->group_of);
    map_drop(l->b, &l->cheap_of);
    vec_drop(l->b, &l->cheap);
}

/* What the groups among some lexemes begin with. By halves: a row goes on by thousands of groups where so many kinds of objects may come,
 * and one FORK inside the other would be nested as deep. */
static rx_id union_of_groups(lx_lexer *l, const u32 *lexemes, u32 n) {
    if (n == 0) return RX_ID_NEVER;
    if (n == 1) return l->lexemes.at[*lexemes].flags & LX_GROUP ? l->lexemes.at[*lexemes].expr : RX_ID_NEVER;
    rx_id left = union_of_groups(l, lexemes, n / 2);
    return left == NONE ? NONE : rx_fork(&l->x, left, union_of_groups(l, lexemes + n / 2, n - n / 2));
}

u32 lx_begin(lx_lexer *l, const u32 *lexemes, u32 n) {
    u32 n_made = 0;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    while (n_made < n && lexemes[n - 1 - n_made] > l->any_group) n_made++;
    rx_id groups = union_of_groups(l, lexemes + n - n_made, n_made);
    if (groups == NONE) return NONE;
    for (u32 i = 0; i <= n; i++) {
        if (groups != RX_ID_NEVER && (i == n || lexemes[i] > l->any_group)) { /* in the place of its number */
            l->scratch.at[l->scratch.n++] = l->any_group;
            l->scratch.at[l->scratch.n++] = groups;
            groups = RX_ID_NEVER;
        }
        if (i == n || l->lexemes.at[lexemes[i]].flags & LX_GROUP) continue;
        l->scratch.at[l->scratch.n++] = lexemes[i];
        l->scratch.at[l->scratch.n++] = l->lexemes.at[lexemes[i]].expr;
    }
    return intern_state(l);
}

u32 lx_state_of(lx_lexer *l, const u32 *pairs, u32 n) {
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    memcpy(l->scratch.at, pairs, 2 * n * sizeof *pairs);
    l->scratch.n = 2 * n;
    return intern_state(l);
}

u32 lx_step(lx_lexer *l, u32 state, u32 byte_class) {
    u32 *next = stable_at(&l->next, state);
    if (next[byte_class] != NONE) return next[byte_class];
    u32 n = lx_count(l, state), byte = l->x.class_byte[byte_class], to = LX_DEAD, n_states = l->info.n;
    if (!budget_work(l->b, n)) return NONE;
    l->scratch.n = 0;
    if (!vec_reserve(l->b, &l->scratch, 2 * n)) return NONE;
    for (u32 i = 0; i < n; i++) {
        u32 lexeme = lx_lexeme_at(l, state, i);
        rx_id expr = intern_words(&l->states, state)[2 * i + 1];
        u32 origin = l->lexemes.at[lexeme].origin;
        bool begins;
        l->b->symbol = origin == NONE ? NONE : 2 * origin;
        if (!rx_may_begin(&l->x, expr, byte, &begins)) return NONE;
        if (!begins) continue; /* most lexemes of a row go on with another byte: no derivative for them */
        expr = rx_derive(&l->x, expr, byte);
        if (expr == NONE) return NONE;
        bool empty = rx_is_empty(&l->x, expr);
        if (l->b->status != GE_OK) return NONE;
        if (empty) continue;
        if (l->lexemes.at[lexeme].flags & LX_LAZY && rx_nullable(&l->x, expr)) expr = RX_ID_EMPTY;
        l->scratch.at[l->scratch.n++] = lexeme;
        l->scratch.at[l->scratch.n++] = expr;
    }
    if (n > 1) l->b->symbol = NONE; /* one alone is to blame for its states, too */
    if (l->scratch.n) to = intern_state(l);
    if (to == NONE) return NONE;
    if (to == n_states) l->info.at[to].from = state, l->info.at[to].by = (u8)byte;
    l->b->symbol = NONE;
    if (l->no_cache) return to;
    bool narrow;
    lx_classes alike;
    if (!lx_is_narrow(l, state, &narrow)) return NONE;
    if (narrow) {
        if (l->info.at[state].asked < SINGLY) l->info.at[state].asked++;
        return next[byte_class] = to;
    }
    if (!lx_same(l, state, &alike)) return NONE;
    u32 c = byte_class;
    do next[c] = to;
    while ((c = alike.next[c]) != byte_class);
    return to;
}

/* The sets that tell the transitions of a state apart, as rx_local. */
static u32 local_of(lx_lexer *l, u32 state) {
    u32 n = lx_count(l, state), local = NONE;
    if (n == 1) return rx_local(&l->x, intern_words(&l->states, state)[1]);
    id_vec sets = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < n; i++) ok = rx_add_local(&l->x, intern_words(&l->states, state)[2 * i + 1], &sets);
    if (ok) local = rx_intern_local(&l->x, &sets);
    vec_drop(l->b, &sets);
    return local;
}

bool lx_same(lx_lexer *l, u32 state, lx_classes *out) {
    u32 n = l->x.n_classes;
    if (l->info.at[state].same == NONE) {
        u32 local = local_of(l, state), at = local == NONE ? NONE : rx_classes_at(&l->x, local);
        if (at == NONE) return false;
        l->info.at[state].same = at;
    }
    out->same = l->x.same.at + l->info.at[state].same;
    out->next = out->same + n;
    return true;
}

static bool find_first(lx_lexer *l, u32 state) {
    u32 n = lx_count(l, state), id;
    byte_set all = {{0}}, first;
    for (u32 i = 0; i < n; i++) {
        if (!rx_first(&l->x, intern_words(&l->states, state)[2 * i + 1], &first)) return false;
        set_unite(&all, &first);
    }
    id = n == 1 ? l->x.first.at[intern_words(&l->states, state)[1]] : intern(l->b, &l->x.sets, all.w, 8, NULL);
    l->info.at[state].first = id;
    l->info.at[state].narrow = set_count(&all) <= NARROW;
    return id != NONE;
}

const byte_set *lx_first(lx_lexer *l, u32 state) {
    static const byte_set none;
    if (state == LX_DEAD) return &none;
    if (l->info.at[state].first == NONE && !find_first(l, state)) return NULL;
    return rx_set_of(&l->x, l->info.at[state].first);
}

bool lx_surely_reads(const lx_lexer *l, u32 state, u32 byte) {
    const u32 *pairs = intern_words(&l->states, state);
    for (u32 i = 0, n = lx_count(l, state); i < n; i++) /* no expression in a state is empty */
        if (rx_surely_begins(&l->x, pairs[2 * i + 1], byte)) return true;
    return false;
}

bool lx_is_narrow(lx_lexer *l, u32 state, bool *narrow) {
    if (!lx_first(l, state)) return false;
    *narrow = l->info.at[state].narrow || l->info.at[state].asked < SINGLY;
    return true;
}

bool lx_differ(lx_lexer *l, u32 a, u32 b, byte_set *out) {
    const u32 *p = intern_words(&l->states, a), *q = intern_words(&l->states, b); /* no state is made below */
    u32 n = a == LX_DEAD ? 0 : 2 * lx_count(l, a), n_other = b == LX_DEAD ? 0 : 2 * lx_count(l, b);
    memset(out, 0, sizeof *out);
    for (u32 i = 0, k = 0; i < n || k < n_other;) {
        bool in_a = k == n_other || (i < n && p[i] <= q[k]), in_b = i == n || (k < n_other && q[k] <= p[i]);
        byte_set differ;
        if (!(in_a && in_b ? rx_differ(&l->x, p[i + 1], q[k + 1], &differ) : rx_first(&l->x, in_a ? p[i + 1] : q[k + 1], &differ)))
            return false;
        set_unite(out, &differ);
        i += in_a ? 2 : 0;
        k += in_b ? 2 : 0;
    }
    return true;
}
