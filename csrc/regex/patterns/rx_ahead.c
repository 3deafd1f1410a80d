/* Look-aheads that see further than their branch: put together from the right. Stage 3 of 7.
 *
 * Idea. Let K be all that may follow a part of the pattern, to the end of the text (a future, see rx_future.c). What may follow the place
 * before the part is then known, and of the whole pattern it is known what it matches:
 *
 *     ahead(s, K)        =  s K                                   s without look-around
 *     ahead(ab, K)       =  ahead(a, ahead(b, K))
 *     ahead(a|b, K)      =  ahead(a, K) | ahead(b, K)
 *     ahead((?=a), K)    =  K & ahead(a, text)
 *     ahead((?!a), K)    =  K & ~ahead(a, text)
 *     ahead(a{0,n}, K)   =  K | ahead(a, K | ahead(a, ...)),    n levels deep, or fewer if one is what the last one was
 *
 * A repeat without bound would be the least X = K | ahead(a, X), for which there is no expression in general. But there is one where it is
 * plain how a text is taken apart: the strings of a repetition, whatever it looks at, are of a set C none of which is the beginning of
 * another one, single characters above all; and no text of K begins with one. Then the repetitions are just all the strings of C that there
 * are one after the other, and from each of them on the text has to be one that begins with a repetition:
 *
 *     ahead(a{m,n}, K)   =  C{m,n} K  &  ~(C* (C text & ~ahead(a, text)))
 *
 * So ((?!x).)*$ is .* & ~(.* (. text & x text)). What is inside the complement begins with a string of C behind others, which is a
 * repetition; and each repetition is one behind others. If K is all texts or the like, K | ahead(a, K) is K, and so is X. Other repeats
 * without bound are refused.
 *
 * Cost: a visit for each part, and for what is written out as many as it
 * takes, at most MOST_VISITS. Recursion is as deep as parts are nested. */
#include "rx_look.h"


enum {
    MOST_VISITS = 10000, /* besides one for each part */
    FEW_WRITTEN_OUT = 8, /* so many repetitions are written out, unless they are characters */
};

static bool ahead(rx_parser *p, rx_value v, const rx_future *after, rx_future *out);

static rx_future anything(rx_parser *p) { return rx_future_of(rx_text(p->x)); }

/* `id` and then `after`. */
static bool ahead_of_plain(rx_parser *p, rx_id id, const rx_future *after, rx_future *out) {
    rx_ways w;
    rx_ways_clear(&w);
    w.at[RX_ANY][RX_ANY] = id;
    return id != NONE && rx_future_onto(&p->context, &w, after, out);
}

static rx_id any_without_conditions(rx_parser *p, const rx_value *values, u32 n);

/* A superset of what v itself matches: that without conditions on the text around. */
static rx_id without_conditions(rx_parser *p, rx_value v) {
    rx_arena *x = p->x;
    if (v.kind == V_WAYS) return rx_or(x, &p->ways.at[v.id].at[0][0], RX_N_CONDITIONS * RX_N_CONDITIONS);
    if (v.kind != V_PART) return rx_plain_id(p, v);
    const rx_part *part = &p->parts.at[v.id];
    const rx_value *members = p->members.at + part->first;
    rx_id id = RX_ID_EMPTY;
    switch ((rx_part_kind)part->kind) {
    case P_LOOK: return RX_ID_EMPTY;
    case P_REPEAT: return rx_repeat(x, without_conditions(p, members[0]), part->low, part->high);
    case P_SEQUENCE:
        for (u32 i = part->n; i > 0; i--) id = rx_concat(x, without_conditions(p, members[i - 1]), id);
        return id;
    default: return any_without_conditions(p, members, part->n);
    }
}

static rx_id any_without_conditions(rx_parser *p, const rx_value *values, u32 n) {
    id_vec ids = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < n; i++) ok = vec_push(p->b, &ids, without_conditions(p, values[i]));
    rx_id id = ok ? rx_or(p->x, ids.at, ids.n) : NONE;
    vec_drop(p->b, &ids);
    return id;
}

/* --- repeats ---------------------------------------------------------------------------------------------------------- */

/* *answer: no string of `one` begins with another, nor does a text of `after`. False on failure. */
static bool is_told_apart(rx_parser *p, rx_id one, const rx_future *after, bool *answer) {
    rx_arena *x = p->x;
    rx_id text = rx_text(x), more = rx_concat(x, rx_chars(x, &(char_range){0, 0x10ffff}, 1), text);
    rx_id longer = rx_and(x, (rx_id[]){one, rx_concat(x, one, more)}, 2), begun = rx_concat(x, one, text);
    *answer = longer != NONE && rx_is_empty(x, longer);
    for (u32 a = 0; a < RX_N_BEFORE && *answer; a++) {
        rx_id both = rx_and(x, (rx_id[]){after->at[a], begun}, 2);
        *answer = both != NONE && rx_is_empty(x, both);
    }
    return p->b->status == GE_OK;
}

/* Of the texts that begin with a string of v, whatever it looks at, those that do not begin with v; and perhaps other texts. */
static bool fails(rx_parser *p, rx_value v, rx_future *out) {
    rx_future any = anything(p), part;
    const rx_part *sequence = &p->parts.at[v.id];
    const rx_value *members = p->members.at + sequence->first;
    bool simple = sequence->kind == P_SEQUENCE && members[sequence->n - 1].kind != V_PART && members[sequence->n - 1].kind != V_WAYS;
    for (u32 i = 0; simple && i + 1 < sequence->n; i++) simple = members[i].kind == V_PART && p->parts.at[members[i].id].kind == P_LOOK;
    if (!simple) return ahead(p, v, &any, out) && rx_future_not(&p->context, out, out);
    *out = rx_future_of(RX_ID_NEVER); /* look-aheads and then a string: one of those fails */
    for (u32 i = 0; i + 1 < sequence->n; i++) {
        const rx_part *look = &p->parts.at[members[i].id];
        if (!ahead(p, p->members.at[look->first], &any, &part)) return false;
        if (look->look == RX_AHEAD && !rx_future_not(&p->context, &part, &part)) return false;
        if (!rx_future_or(&p->context, (rx_future[]){*out, part}, 2, out)) return false;
    }
    return true;
}

/* v{low,high}, where v is of `one`, which is told apart. */
static bool ahead_of_strings(rx_parser *p, rx_value v, rx_id one, u32 low, u32 high, const rx_future *after, rx_future *out) {
    rx_arena *x = p->x;
    rx_future bad, begun = rx_future_of(rx_concat(x, one, rx_text(x)));
    return fails(p, v, &bad) && rx_future_and(&p->context, &bad, &begun, &bad) &&
           ahead_of_plain(p, rx_repeat(x, one, 0, NONE), &bad, &bad) && rx_future_not(&p->context, &bad, &bad) &&
           ahead_of_plain(p, rx_repeat(x, one, low, high), after, out) && rx_future_and(&p->context, out, &bad, out);
}

static bool ahead_of_repeat(rx_parser *p, const rx_part *repeat, const rx_future *after, rx_future *out) {
    rx_value v = p->members.at[repeat->first];
    rx_id one = without_conditions(p, v);
    if (one == NONE) return false;
    rx_future now = *after, next;
    if (one == RX_ID_EMPTY) return repeat->low ? ahead(p, v, after, out) : (*out = *after, true); /* to ask again changes nothing */
    rx_n_chars length = rx_count_chars(p->x, one);
    bool apart = repeat->high > FEW_WRITTEN_OUT || (repeat->high > 1 && length.least == 1 && length.most == 1);
    if (apart && !is_told_apart(p, one, after, &apart)) return false;
    if (apart) return ahead_of_strings(p, v, one, repeat->low, repeat->high, after, out);
    for (u32 i = repeat->low; i < repeat->high; i++) {
        if (!ahead(p, v, &now, &next) || !rx_future_or(&p->context, (rx_future[]){next, *after}, 2, &next)) return false;
        if (rx_future_is(&next, &now)) break;
        if (repeat->high == NONE)
            return rx_refused(&p->in, repeat->offset,
                              "look-ahead: in a repeat without bound whose repetitions the text does not tell apart");
        now = next;
    }
    for (u32 i = 0; i < repeat->low; i++) {
        if (!ahead(p, v, &now, &next)) return false;
        if (rx_future_is(&next, &now)) break;
        now = next;
    }
    *out = now;
    return true;
}

/* --- parts ------------------------------------------------------------------------------------------------------------ */

/* From the right; what has no look-around is one expression, as far as it goes. */
static bool ahead_of_sequence(rx_parser *p, const rx_part *part, const rx_future *after, rx_future *out) {
    const rx_value *members = p->members.at + part->first;
    *out = *after;
    for (u32 i = part->n; i > 0;) {
        rx_id run = RX_ID_EMPTY;
        for (; i > 0 && (members[i - 1].kind == V_CHAR || members[i - 1].kind == V_PLAIN); i--) run = rx_prepend(p, members[i - 1], run);
        if (run != RX_ID_EMPTY && !ahead_of_plain(p, run, out, out)) return false;
        if (i > 0 && !ahead(p, members[--i], out, out)) return false;
    }
    return true;
}

static bool ahead_of_choice(rx_parser *p, const rx_part *choice, const rx_future *after, rx_future *out) {
    VEC(rx_future) parts = {0};
    bool ok = true;
    rx_future part;
    for (u32 i = 0; ok && i < choice->n; i++) ok = ahead(p, p->members.at[choice->first + i], after, &part) && vec_push(p->b, &parts, part);
    ok = ok && rx_future_or(&p->context, parts.at, parts.n, out);
    vec_drop(p->b, &parts);
    return ok;
}

static bool ahead_of_look(rx_parser *p, const rx_part *look, const rx_future *after, rx_future *out) {
    rx_future any = anything(p), seen;
    return ahead(p, p->members.at[look->first], &any, &seen) &&
           (look->look == RX_AHEAD || rx_future_not(&p->context, &seen, &seen)) && rx_future_and(&p->context, after, &seen, out);
}

/* *out = what may follow before v, if `after` may follow it; out may be `after`. */
static bool ahead(rx_parser *p, rx_value v, const rx_future *after, rx_future *out) {
    rx_ways w;
    if (v.kind != V_PART) return rx_ways_of(p, v, &w) && rx_future_onto(&p->context, &w, after, out);
    const rx_part *part = &p->parts.at[v.id];
    if (++p->n_visits > p->parts.n + MOST_VISITS)
        return rx_refused(&p->in, part->offset, "look-ahead: in parts that are counted too often");
    switch ((rx_part_kind)part->kind) {
    case P_LOOK: return ahead_of_look(p, part, after, out);
    case P_SEQUENCE: return ahead_of_sequence(p, part, after, out);
    case P_REPEAT: return ahead_of_repeat(p, part, after, out);
    default: return ahead_of_choice(p, part, after, out);
    }
}

rx_id rx_part_id(rx_parser *p, rx_value v) {
    bool search = p->in.dialect == RX_ECMA_SEARCH;
    rx_future all = search ? anything(p) : rx_future_of(RX_ID_EMPTY);
    if (!ahead(p, v, &all, &all)) return NONE;
    return search ? rx_future_search(&p->context, &all) : rx_future_full(&p->context, &all);
}
