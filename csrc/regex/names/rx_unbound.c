/* Expressions with names of any length: what stands for those with bounds where these do no harm.
 *
 * What was read of a label is part of a bounded NAME (rx_name.c), so such expressions do not recur. Let E' be E with each NAME without its
 * bounds, but none inside a complement: then E is a subset of E', which recurs. A text of E' is one of E if each name that it may go on
 * with or begin fits:
 *
 *     it goes on with a name         the characters of labels with which it begins, behind what was read, and the labels behind them
 *     it begins a name somewhere     any run of characters of labels in it, if few enough to fit whatever they are, and there are few runs
 *
 * So E is empty if E' is; and it is not, mostly, since a short string of E' fits. Such strings are *endings* (rx_ending.c); whether
 * names fit is told by rx_fit.c.
 *
 * Of names inside a complement, rx_barred.c asks.
 *
 * E' is also without the most characters that a schema allows, so that texts of all lengths share their states. Where its ending is too
 * long for that, the same is asked of E'', which has names of any length but keeps that bound: it has more states, yet they recur, too. And
 * an intersection is empty if a part of it needs more characters than another one allows; that is known by structure, and keeps searches
 * near the bound short. */
#include "rx_unbound.h"

/* Without the most. Beside it are texts, in strings of so many characters at least; NONE: that is not known. */
static rx_id unbound_length(rx_arena *x, rx_id id, u32 least, u32 beside) {
    rx_id heads[4]; /* of the rest of a character */
    u32 n = 0;
    for (; rx_kind_of(x, id) == RX_CONCAT; id = intern_words(&x->nodes, id)[2]) heads[n++] = intern_words(&x->nodes, id)[1];
    if (beside != NONE && (least == 0 || (n == 0 && least <= beside))) return RX_ID_ALL;
    id = rx_repeat(x, intern_words(&x->nodes, id)[1], least, NONE);
    while (n && id != NONE) id = rx_concat(x, heads[--n], id);
    return id;
}

static rx_id change_parts(rx_arena *x, rx_id id, rx_kind kind, name_change change) {
    id_vec parts = {0};
    bool ok = true;
    rx_id name = rx_name_part(x, id);
    u32 beside = name == NONE ? NONE : !rx_nullable(x, name);
    for (u32 i = 1, least, most; ok && i < intern_length(&x->nodes, id); i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        bool drop = kind == RX_AND && change == NAMES_UNBOUND && rx_is_length(x, part, &least, &most);
        part = drop ? unbound_length(x, part, least, beside) : rx_change_names(x, part, change);
        ok = part != NONE && vec_push(x->b, &parts, part);
    }
    rx_id result = !ok ? NONE : kind == RX_AND ? rx_and(x, parts.at, parts.n) : rx_or(x, parts.at, parts.n);
    vec_drop(x->b, &parts);
    return result;
}

static bool has_such(const rx_arena *x, rx_id id, name_change change) {
    return x->meta.at[id].flags & (change < BARRED_UNBOUND ? RX_NAMED : RX_BARRED);
}

static rx_id change_concat(rx_arena *x, rx_id id, name_change change) {
    id_vec heads = {0};
    bool ok = true;
    for (; ok && rx_kind_of(x, id) == RX_CONCAT && has_such(x, id, change); id = intern_words(&x->nodes, id)[2])
        ok = vec_push(x->b, &heads, intern_words(&x->nodes, id)[1]);
    rx_id result = ok ? rx_change_names(x, id, change) : NONE;
    while (heads.n && result != NONE) result = rx_concat(x, rx_change_names(x, heads.at[--heads.n], change), result);
    vec_drop(x->b, &heads);
    return result;
}

rx_id rx_change_names(rx_arena *x, rx_id id, name_change change) {
    u32 node[5];
    if (id == NONE || !has_such(x, id, change)) return id;
    u64 key = (u64)id << 3 | change;
    rx_id result = map_get(&x->unbound, key);
    if (result != NONE) return result;
    rx_copy_node(x, id, node);
    if (!budget_work(x->b, 1)) return NONE;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: result = change_concat(x, id, change); break;
    case RX_QUOTE: result = rx_quote_again(x, rx_change_names(x, node[1], change), node); break;
    case RX_REPEAT: result = rx_repeat(x, rx_change_names(x, node[1], change), node[2], node[3]); break;
    case RX_TAG: result = rx_tag(x, rx_change_names(x, node[1], change), node[2]); break;
    case RX_FORK:
        result = rx_change_names(x, node[1], change);
        if (result != NONE) result = rx_fork(x, result, rx_change_names(x, node[2], change));
        break;
    case RX_NOT: result = rx_not(x, rx_change_names(x, node[1], change == BARRED_NONE ? NAMES_NONE : NAMES_UNBOUND_IN_LENGTHS)); break;
    case RX_NAME:
        result = change == NAMES_NONE ? RX_ID_NEVER : change == NAMES_LATE ? rx_name_late(x, id) : rx_name_unbound(x, id);
        break;
    default: result = change_parts(x, id, node[0], change); break; /* RX_OR, RX_AND */
    }
    return result == NONE || !map_put(x->b, &x->unbound, key, result) ? NONE : result;
}

rx_id rx_unbound(rx_arena *x, rx_id id) { return rx_change_names(x, id, NAMES_UNBOUND); }

/* --- names ----------------------------------------------------------------------------------------------------------------- */

/* The most characters that any intersection in `id` allows: wherever it begins, that holds if the text has no more. */
static u32 most_chars(const rx_arena *x, rx_id id) {
    u32 most = NONE, one, least;
    for (bool last = false; !last && x->meta.at[id].flags & RX_NAMED;) {
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = node[0] == RX_NAME ? 1 : node[0] == RX_OR || node[0] == RX_AND || node[0] == RX_FORK ? intern_length(&x->nodes, id) : 2;
        for (u32 i = 1; i < n; i++)
            most = min_u32(most, node[0] == RX_AND && rx_is_length(x, node[i], &least, &one) ? one : most_chars(x, node[i]));
        last = node[0] != RX_CONCAT;
        id = node[2];
    }
    return most;
}

static bool add_names(rx_arena *x, rx_id id, u32 most, rx_names *out) {
    for (bool last = false; !last && x->meta.at[id].flags & RX_NAMED;) {
        const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
        u32 n = node[0] == RX_OR || node[0] == RX_AND || node[0] == RX_FORK ? intern_length(&x->nodes, id) : 2, least, one;
        name_state name;
        if (node[0] == RX_NAME) {
            if (!rx_name_read(x, id, &name)) return true; /* it begins: see rx_keeps_names */
            name.most = most;
            return vec_push(x->b, &out->at, name);
        }
        if (node[0] == RX_QUOTE && node[3]) out->raw = false;
        for (u32 i = 1; node[0] == RX_AND && i < n; i++)
            if (rx_is_length(x, node[i], &least, &one)) most = min_u32(most, one);
        for (u32 i = 1; i < n; i++)
            if (!add_names(x, node[i], most, out)) return false;
        last = node[0] != RX_CONCAT || !rx_nullable(x, node[1]); /* of a sequence the first, and those that may be skipped */
        if (!last) id = node[2];
    }
    return true;
}

bool rx_add_names(rx_arena *x, rx_id id, rx_names *out) {
    out->most = min_u32(out->most, most_chars(x, id));
    return add_names(x, id, NONE, out);
}

bool rx_begins_with_punycode(const rx_arena *x, rx_id id) {
    for (bool last = false; !last;) {
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = intern_length(&x->nodes, id);
        last = true;
        switch ((rx_kind)node[0]) {
        case RX_PUNYCODE: return true;
        case RX_NAME: return rx_name_of(x, id).form == NAME_ENCODED;
        case RX_OR: case RX_AND: case RX_FORK:
            for (u32 i = 1; i < n; i++)
                if (rx_begins_with_punycode(x, node[i])) return true;
            break;
        case RX_NOT: case RX_REPEAT: case RX_QUOTE: case RX_TAG: id = node[1], last = false; break;
        case RX_CONCAT: /* the first, and those that may be skipped */
            if (rx_begins_with_punycode(x, node[1])) return true;
            if (rx_nullable(x, node[1])) id = node[2], last = false;
            break;
        default: break;
        }
    }
    return false;
}

bool rx_goes_on_with_name(const rx_arena *x, rx_id id) {
    name_state name;
    for (bool in_quotes = false;;) {
        const u32 *node = intern_words(&x->nodes, id);
        switch ((rx_kind)node[0]) {
        case RX_NAME: return in_quotes && rx_name_of(x, id).form != NAME_ENCODED && rx_name_read(x, id, &name);
        case RX_QUOTE: in_quotes = !node[3]; id = node[1]; break;
        case RX_CONCAT: case RX_TAG: id = node[1]; break;
        case RX_AND: {
            u32 i = 1, n = intern_length(&x->nodes, id);
            while (i < n && !(x->meta.at[node[i]].flags & RX_NAMED)) i++;
            if (i == n) return false;
            id = node[i];
            break;
        }
        default: return false;
        }
    }
}

/* Does the text belong to `id`? */
static bool is_read(rx_arena *x, rx_id id, const u8 *text, u32 n) {
    for (u32 i = 0; i < n && id != NONE && id != RX_ID_NEVER; i++) id = rx_derive(x, id, x->class_byte[x->class_of[text[i]]]);
    return id != NONE && rx_nullable(x, id);
}

/* Does an ending of `any`, which has all strings of `id`, belong to `id`? */
static bool has_ending_of(rx_arena *x, rx_id id, rx_id any) {
    byte_vec ending = {0};
    rx_names names = rx_no_names();
    bool found;
    bool ok = rx_ending_text(x, any, &ending, &found) && found && rx_add_names(x, id, &names);
    bool keeps = ok && (rx_keeps_names(&names, ending.at, ending.n) || is_read(x, id, ending.at, ending.n));
    rx_drop_names(x, &names);
    vec_drop(x->b, &ending);
    return keeps;
}

/* Does a part of an intersection need more characters than another one allows? */
static bool is_too_short(rx_arena *x, rx_id id) {
    rx_n_chars chars = rx_count_chars(x, id);
    return chars.least > chars.most;
}

/* Names of any length come first, then also the most characters. What has no bounds is searched by who asks. */
rx_verdict rx_name_verdict(rx_arena *x, rx_id id) {
    if (is_too_short(x, id)) return RX_IS_EMPTY;
    if (!(x->meta.at[id].flags & RX_NAMED))
        return rx_name_part(x, id) != NONE && rx_follow_likely(x, id) && rx_has_ending(x, id) ? RX_IS_INHABITED : RX_UNKNOWN;
    for (name_change change = NAMES_UNBOUND; change <= NAMES_UNBOUND_IN_LENGTHS; change++) {
        rx_id any = rx_change_names(x, id, change);
        if (rx_is_empty(x, any)) return x->b->status == GE_OK ? RX_IS_EMPTY : RX_UNKNOWN;
        if (x->b->status != GE_OK) break;
        if (has_ending_of(x, id, any)) return RX_IS_INHABITED;
    }
    return RX_UNKNOWN;
}
