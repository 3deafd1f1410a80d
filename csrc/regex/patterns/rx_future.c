/* All that may follow from a place of a pattern on, to the end of the text. Stage 3 of 7.
 *
 * Idea. A look-ahead speaks of all that follows. Where that is known, it is an intersection or a difference (rx_ahead.c), so a pattern is
 * put together from the right, and what is known is a *future*: for each condition on the text before the place, the texts that may follow
 * it.
 *
 *     at the end of a pattern   at[ANY] = ""         (of a search: any text)
 *     `a$` before that          at[ANY] = a
 *     `^a$`                     at[EDGE] = a
 *
 * Nothing comes after a future, so a condition that a part has on the text after it is one on the future, and an intersection too: the
 * texts of the future that it holds of. What is left are conditions on the text before. A future is a union, of those whose condition
 * holds.
 *
 * Complement. A text is in none of the languages whose conditions hold of what was before it. So for each of them it is not in the
 * language, or the condition does not hold: and that is a union of conditions again, of those of WORD, EDGE, LINE_END and MARK that it
 * excludes. */
#include "rx_parse.h"

rx_future rx_future_of(rx_id id) {
    rx_future f;
    for (u32 a = 0; a < RX_N_BEFORE; a++) f.at[a] = RX_ID_NEVER;
    f.at[RX_ANY] = id;
    return f;
}

bool rx_future_is(const rx_future *f, const rx_future *g) { return memcmp(f, g, sizeof *f) == 0; }

static bool add(rx_context *c, rx_future *f, u32 a, rx_id id) {
    if (a == NONE || id == RX_ID_NEVER) return true;
    if (f->at[RX_ANY] == c->x->text) return id != NONE; /* any text may follow already */
    f->at[a] = f->at[a] == RX_ID_NEVER ? id : rx_or2(c->x, f->at[a], id);
    if (f->at[RX_ANY] == c->x->text) *f = rx_future_of(c->x->text);
    return id != NONE && f->at[a] != NONE;
}

/* The texts of t that the condition holds of, where t reaches to the end. */
static rx_id that_begin(rx_context *c, rx_id t, u32 condition) {
    rx_arena *x = c->x;
    rx_id empty = rx_nullable(x, t) ? RX_ID_EMPTY : RX_ID_NEVER;
    if (condition == RX_ANY || t == RX_ID_NEVER) return t;
    if (condition == RX_EDGE) return empty;
    if (condition != RX_FINAL) return rx_and(x, (rx_id[]){t, rx_around(c, condition, false)}, 2);
    rx_id rest = rx_derive(x, t, '\n');
    if (rest == NONE) return NONE;
    return rx_nullable(x, rest) ? rx_or2(x, empty, rx_byte(x, '\n')) : empty;
}

bool rx_future_onto(rx_context *c, const rx_ways *w, const rx_future *after, rx_future *out) {
    rx_future result = rx_future_of(RX_ID_NEVER); /* out may be `after` */
    for (u32 a1 = 0; a1 < RX_N_CONDITIONS; a1++)
        for (u32 b1 = 0; b1 < RX_N_CONDITIONS; b1++) {
            rx_id s = w->at[a1][b1];
            for (u32 a2 = 0; s != RX_ID_NEVER && a2 < RX_N_BEFORE; a2++) {
                rx_id t = that_begin(c, after->at[a2], b1);
                if (t == NONE) return false;
                if (t == RX_ID_NEVER) continue;
                if (!add(c, &result, a1, rx_concat(c->x, rx_ends(c, s, a2), t))) return false;
                if (a2 != RX_ANY && rx_nullable(c->x, s) && !add(c, &result, rx_meet(a1, a2), t)) return false;
            }
        }
    *out = result;
    return true;
}

bool rx_future_or(rx_context *c, const rx_future *parts, u32 n, rx_future *out) {
    rx_future result = rx_future_of(RX_ID_NEVER); /* out may be one of the parts */
    id_vec ids = {0};
    bool ok = true;
    for (u32 a = 0; ok && a < RX_N_BEFORE; a++) {
        ids.n = 0;
        for (u32 i = 0; ok && i < n; i++) ok = vec_push(c->x->b, &ids, parts[i].at[a]);
        ok = ok && add(c, &result, a, rx_or(c->x, ids.at, ids.n));
    }
    vec_drop(c->x->b, &ids);
    *out = result;
    return ok;
}

bool rx_future_and(rx_context *c, const rx_future *f, const rx_future *g, rx_future *out) {
    rx_future result = rx_future_of(RX_ID_NEVER);
    for (u32 a = 0; a < RX_N_BEFORE; a++)
        for (u32 b = 0; f->at[a] != RX_ID_NEVER && b < RX_N_BEFORE; b++)
            if (g->at[b] != RX_ID_NEVER && !add(c, &result, rx_meet(a, b), rx_and(c->x, (rx_id[]){f->at[a], g->at[b]}, 2))) return false;
    *out = result;
    return true;
}

/* Characters of MARK: those that no class has that a condition of this pattern is about. */
static bool find_mark(rx_context *c) {
    rx_arena *x = c->x;
    if (c->mark != RX_ID_NEVER) return true;
    rx_id any = rx_chars(x, &(char_range){0, 0x10ffff}, 1);
    rx_id parts[] = {c->word == RX_ID_NEVER ? any : c->other, c->line == RX_ID_NEVER ? any : c->no_line};
    c->no_mark = rx_or2(x, c->word, c->line);
    c->mark = parts[0] == parts[1] ? any : rx_and(x, parts, 2);
    return any != NONE && c->mark != NONE && c->no_mark != NONE;
}

bool rx_future_not(rx_context *c, const rx_future *f, rx_future *out) {
    rx_arena *x = c->x;
    rx_id text = rx_text(x);
    rx_future result = rx_future_of(text);
    for (u32 a = 0; a < RX_N_BEFORE; a++) {
        if (f->at[a] == RX_ID_NEVER) continue;
        if (a != RX_ANY && !find_mark(c)) return false;
        const u32 kinds[] = {RX_EDGE, RX_MARK, c->word == RX_ID_NEVER ? NONE : RX_WORD, c->line == RX_ID_NEVER ? NONE : RX_LINE_END};
        rx_future rest = rx_future_of(rx_and(x, (rx_id[]){text, rx_not(x, f->at[a])}, 2));
        for (u32 i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i] != NONE && rx_meet(a, kinds[i]) == NONE) rest.at[kinds[i]] = text;
        if (rest.at[RX_ANY] == NONE || !rx_future_and(c, &result, &rest, &result)) return false;
    }
    *out = result;
    return text != NONE;
}

rx_id rx_future_full(rx_context *c, const rx_future *f) {
    rx_id parts[] = {f->at[RX_ANY], f->at[RX_OTHER], f->at[RX_LINE], f->at[RX_EDGE]}; /* what holds of "" */
    return rx_or(c->x, parts, sizeof parts / sizeof *parts);
}

rx_id rx_future_search(rx_context *c, const rx_future *f) {
    rx_id parts[RX_N_BEFORE];
    for (u32 a = 0; a < RX_N_BEFORE; a++) {
        rx_id id = parts[a] = f->at[a];
        if (id == RX_ID_NEVER) continue;
        parts[a] = a == RX_ANY && rx_nullable(c->x, id) ? rx_text(c->x) : rx_concat(c->x, rx_around(c, a, true), id);
    }
    return rx_or(c->x, parts, RX_N_BEFORE);
}
