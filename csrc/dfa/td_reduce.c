/* td_reduce: the automaton that tokens see. From all transitions of td_behave: the states that a text of whole tokens can be in, those
 * among them with equal futures over tokens joined, and classes of tokens that do the same from all of them joined.
 *
 * Where each class of bytes has a token of one byte, as nearly all vocabularies have, tokens reach and tell apart all that bytes do. The
 * byte automaton is minimal, and so is then what td_behave has made of it: only the numbering is left to do.
 *
 * Numbers. Classes by their smallest token; states in the order in which a breadth-first walk
 * by ascending classes meets them. So they depend on the language and the vocabulary alone. */
#include "td.h"

/* Sorts the transitions, which are sorted by class, by state and class;
 * at[s] = the first of state s. The vector `at` gets n_states + 1 entries. */
static bool index_states(td_draft *d, id_vec *at) {
    at->n = 0;
    if (!mn_sort(d->b, d->all.at, d->all.n, MN_BY_FROM, d->n_states) || !vec_reserve(d->b, at, d->n_states + 1)) return false;
    for (u32 s = 0, i = 0; s <= d->n_states; s++) {
        while (i < d->all.n && d->all.at[i].from < s) i++;
        at->at[at->n++] = i;
    }
    return true;
}

/* Numbers the states that can be reached, in the order of a breadth-first walk; drops the others. */
static bool keep_reachable(td_draft *d) {
    id_vec at = {0}, walk = {0}, number = {0};
    VEC(bool) accepts = {0};
    bool ok = index_states(d, &at) && vec_reserve(d->b, &number, d->n_states) && vec_push(d->b, &walk, 0) &&
              vec_reserve(d->b, &accepts, d->n_states);
    if (ok) {
        memset(number.at, 0xff, d->n_states * sizeof *number.at);
        number.at[0] = 0;
    }
    for (u32 k = 0; ok && k < walk.n; k++) {
        u32 s = walk.at[k];
        accepts.at[accepts.n++] = d->accepts.at[s];
        for (u32 i = at.at[s]; ok && i < at.at[s + 1]; i++) {
            u32 to = d->all.at[i].to;
            if (number.at[to] != NONE) continue;
            number.at[to] = walk.n;
            ok = vec_push(d->b, &walk, to);
        }
    }
    if (ok) {
        u32 n = 0;
        for (u32 i = 0; i < d->all.n; i++) {
            mn_transition t = d->all.at[i];
            if (number.at[t.from] != NONE) d->all.at[n++] = (mn_transition){number.at[t.from], t.label, number.at[t.to]};
        }
        d->all.n = n;
        for (u32 i = 0; i < d->state_of.n; i++)
            if (d->state_of.at[i] != NONE) d->state_of.at[i] = number.at[d->state_of.at[i]];
        d->n_states = walk.n;
        memcpy(d->accepts.at, accepts.at, walk.n * sizeof *accepts.at);
        d->accepts.n = walk.n;
    }
    vec_drop(d->b, &at);
    vec_drop(d->b, &walk);
    vec_drop(d->b, &number);
    vec_drop(d->b, &accepts);
    return ok;
}

/* Joins states with equal futures. Of each block the state with the smallest number stays, and gives it its transitions. */
static bool join_states(td_draft *d) {
    u32 n_blocks = 0, n_states = d->n_states;
    size_t size = n_states * sizeof(u32);
    u32 *block = mem_resize(d->b, NULL, 0, size), *first = mem_resize(d->b, NULL, 0, size);
    bool ok = block && first && mn_minimise(d->b, d->all.at, d->all.n, d->n_classes, d->accepts.at, n_states, block, &n_blocks);
    if (ok) {
        memset(first, 0xff, size);
        for (u32 s = n_states; s-- > 0;) first[block[s]] = s;
        u32 n = 0;
        for (u32 i = 0; i < d->all.n; i++) {
            mn_transition t = d->all.at[i];
            if (first[block[t.from]] == t.from) d->all.at[n++] = (mn_transition){t.from, t.label, first[block[t.to]]};
        }
        d->all.n = n;
        for (u32 i = 0; i < d->state_of.n; i++)
            if (d->state_of.at[i] != NONE) d->state_of.at[i] = first[block[d->state_of.at[i]]];
    }
    if (block) mem_resize(d->b, block, size, 0);
    if (first) mem_resize(d->b, first, size, 0);
    return ok;
}

/* Tokens get the new numbers of their classes; those of classes without one can be read in no state that is left. */
static void renumber_tokens(td_draft *d, const u32 *number) {
    u32 n = 0;
    for (u32 i = 0; i < d->tokens.n; i++) {
        u32 class = number[d->class_of.at[i]];
        if (class == NONE) continue;
        d->tokens.at[n] = d->tokens.at[i];
        d->class_of.at[n++] = class;
    }
    d->tokens.n = d->class_of.n = n;
}

/* Joins classes with equal columns; a class without transitions is none. Classes keep their order. The transitions are sorted by class and
 * state, as mn_minimise leaves them. */
static bool join_classes_of_tokens(td_draft *d) {
    intern_table columns = {0};
    id_vec column = {0}, number = {0};
    bool ok = vec_reserve(d->b, &number, d->n_classes + 1);
    if (ok) memset(number.at, 0xff, (d->n_classes + 1) * sizeof *number.at);
    u32 n = 0;
    for (u32 i = 0, end; ok && i < d->all.n; i = end) {
        u32 class = d->all.at[i].label;
        column.n = 0;
        for (end = i; ok && end < d->all.n && d->all.at[end].label == class; end++)
            ok = vec_push(d->b, &column, d->all.at[end].from) && vec_push(d->b, &column, d->all.at[end].to);
        bool fresh;
        u32 id = ok ? intern(d->b, &columns, column.at, column.n, &fresh) : NONE;
        ok = id != NONE;
        if (!ok) break;
        number.at[class] = id;
        for (u32 k = i; fresh && k < end; k++) d->all.at[n++] = (mn_transition){d->all.at[k].from, id, d->all.at[k].to};
    }
    if (ok) {
        d->all.n = n;
        d->n_classes = intern_count(&columns);
        renumber_tokens(d, number.at);
    }
    intern_drop(d->b, &columns);
    vec_drop(d->b, &column);
    vec_drop(d->b, &number);
    return ok;
}

/* *stuck = a byte state whose texts are no sentences and that no token leads on from, or NONE. */
static bool find_stuck(td_draft *d, u32 *stuck) {
    id_vec at = {0};
    bool ok = index_states(d, &at);
    *stuck = NONE;
    for (u32 byte_state = 0; ok && byte_state < d->state_of.n && *stuck == NONE; byte_state++) {
        u32 s = d->state_of.at[byte_state];
        if (s != NONE && !d->accepts.at[s] && at.at[s] == at.at[s + 1]) *stuck = byte_state;
    }
    vec_drop(d->b, &at);
    return ok;
}

bool td_reduce(td_draft *d, u32 *stuck) {
    *stuck = NONE;
    for (u32 s = 0; s < d->a->n_states; s++)
        if (!vec_push(d->b, &d->state_of, s) || !vec_push(d->b, &d->accepts, d->a->accepts[s])) return false;
    if (d->has_bytes) return keep_reachable(d) && mn_sort(d->b, d->all.at, d->all.n, MN_BY_FROM, d->n_states);
    if (!keep_reachable(d) || !find_stuck(d, stuck)) return false;
    if (*stuck != NONE) return true;
    return join_states(d) && join_classes_of_tokens(d) && keep_reachable(d); /* the last one numbers what is left */
}
