/* Expressions with names of any length: what stands for those with bounds where these do no harm.
 *
 * What was read of a label is part of a bounded NAME (rx_name.c), so such expressions do not recur. Let E' be E with each NAME without its bounds, but
 * none inside a complement: then E is a subset of E', which recurs. A text of E' is one of E if each name that it may go on with or begin fits:
 *
 *     it goes on with a name         the characters of labels with which it begins, behind what was read, and the labels behind them
 *     it begins a name somewhere     any run of characters of labels in it, if few enough to fit whatever they are, and there are few runs
 *
 * So E is empty if E' is; and it is not, mostly, since a short string of E' fits. Such strings, *endings*, are found by a search as in rx_finish, and
 * kept as links: for each node on the way, the byte and the node that come next.
 *
 * E' is also without the most characters that a schema allows, so that texts of all lengths share their states. Where its ending is too long for that,
 * the same is asked of E'', which has names of any length but keeps that bound: it has more states, yet they recur, too. And an intersection is empty
 * if a part of it needs more characters than another one allows; that is known by structure, and keeps searches near the bound short. */
#include "rx_unbound.h"
#include "utf8.h"

enum { ENDING_NODES = 4000, ENDING_BUCKETS = 256 };

/* --- lengths --------------------------------------------------------------------------------------------------------------- */

/* Is it a number of characters, perhaps behind the rest of one? *least, *most: so many of them. */
static bool is_length(const rx_arena *x, rx_id id, u32 *least, u32 *most) {
    const u32 *node = intern_words(&x->nodes, id);
    for (; node[0] == RX_CONCAT; node = intern_words(&x->nodes, node[2])) {
        if (rx_kind_of(x, node[1]) != RX_SET) return false;
        const byte_set *set = rx_set_of(x, intern_words(&x->nodes, node[1])[1]);
        for (u32 i = 0; i < 8; i++)
            if (set->w[i] && i / 2 != 2) return false; /* 80 to BF */
    }
    *least = node[2];
    *most = node[3];
    return node[0] == RX_REPEAT && x->text != NONE && node[1] == intern_words(&x->nodes, x->text)[1];
}

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

/* How many characters the strings of an expression have, by its structure: no fewer, no more than that (RX_NO_LENGTH: any number). */
static rx_n_chars count_chars(rx_arena *x, rx_id id);

static rx_n_chars count_chars_of_set(const byte_set *set) { /* 80 to BF go on with a character */
    u32 rest = set->w[4] | set->w[5], others = set->w[0] | set->w[1] | set->w[2] | set->w[3] | set->w[6] | set->w[7];
    return (rx_n_chars){rest == 0, others != 0};
}

/* Of a union the fewest and the most of any operand; of an intersection the strictest. */
static rx_n_chars count_chars_of_operands(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
    rx_n_chars c = count_chars(x, node[1]);
    for (u32 i = 2; i < intern_length(&x->nodes, id); i++) {
        rx_n_chars part = count_chars(x, node[i]);
        c.least = node[0] == RX_AND ? max_u32(c.least, part.least) : min_u32(c.least, part.least);
        c.most = node[0] == RX_AND ? min_u32(c.most, part.most) : max_u32(c.most, part.most);
    }
    return c;
}

static rx_n_chars count_chars_of_part(rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    rx_n_chars part;
    switch ((rx_kind)node[0]) {
    case RX_EMPTY: return (rx_n_chars){0, 0};
    case RX_SET: return count_chars_of_set(rx_set_of(x, node[1]));
    case RX_REPEAT:
        part = count_chars(x, node[1]);
        return (rx_n_chars){rx_times_length(node[2], part.least), node[3] == NONE ? RX_NO_LENGTH : rx_times_length(node[3], part.most)};
    case RX_TAG: return count_chars(x, node[1]);
    case RX_QUOTE: return (rx_n_chars){node[3] ? 0 : count_chars(x, node[1]).least, RX_NO_LENGTH};
    case RX_NAME: return (rx_n_chars){!rx_nullable(x, id) && !rx_name_of(x, id).begun, RX_NO_LENGTH};
    case RX_OR: case RX_FORK: case RX_AND: return count_chars_of_operands(x, id);
    default: return (rx_n_chars){0, RX_NO_LENGTH};
    }
}

static rx_n_chars count_chars(rx_arena *x, rx_id id) {
    rx_n_chars sum = {0, 0};
    if (!vec_reach(x->b, &x->chars, id)) return (rx_n_chars){0, RX_NO_LENGTH};
    if (x->chars.at[id].least != NONE) return x->chars.at[id];
    for (rx_id at = id; at != NONE;) {
        const u32 *node = intern_words(&x->nodes, at);
        bool is_link = node[0] == RX_CONCAT;
        rx_n_chars part = is_link ? count_chars(x, node[1]) : count_chars_of_part(x, at);
        sum = (rx_n_chars){rx_add_lengths(sum.least, part.least), rx_add_lengths(sum.most, part.most)};
        at = is_link ? node[2] : NONE;
    }
    return x->chars.at[id] = sum;
}

/* --- expressions ----------------------------------------------------------------------------------------------------------- */

/* A part of an intersection that is a name. NONE: there is none. */
static rx_id name_part(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    for (u32 i = 1; node[0] == RX_AND && i < intern_length(&x->nodes, id); i++)
        if (rx_kind_of(x, node[i]) == RX_NAME) return node[i];
    return NONE;
}

/* `lengths`: the most characters of what names are in are kept. */
static rx_id unbound_of(rx_arena *x, rx_id id, bool lengths);

static rx_id unbound_parts(rx_arena *x, rx_id id, rx_kind kind, bool lengths) {
    id_vec parts = {0};
    bool ok = true;
    rx_id name = name_part(x, id);
    u32 beside = name == NONE ? NONE : !rx_nullable(x, name);
    for (u32 i = 1, least, most; ok && i < intern_length(&x->nodes, id); i++) {
        rx_id part = intern_words(&x->nodes, id)[i];
        bool drop = kind == RX_AND && !lengths && is_length(x, part, &least, &most);
        part = drop ? unbound_length(x, part, least, beside) : unbound_of(x, part, lengths);
        ok = part != NONE && vec_push(x->b, &parts, part);
    }
    rx_id result = !ok ? NONE : kind == RX_AND ? rx_and(x, parts.at, parts.n) : rx_or(x, parts.at, parts.n);
    vec_drop(x->b, &parts);
    return result;
}

static rx_id unbound_concat(rx_arena *x, rx_id id, bool lengths) {
    id_vec heads = {0};
    bool ok = true;
    for (; ok && rx_kind_of(x, id) == RX_CONCAT && x->meta.at[id].flags & RX_NAMED; id = intern_words(&x->nodes, id)[2])
        ok = vec_push(x->b, &heads, intern_words(&x->nodes, id)[1]);
    rx_id result = ok ? unbound_of(x, id, lengths) : NONE;
    while (heads.n && result != NONE) result = rx_concat(x, unbound_of(x, heads.at[--heads.n], lengths), result);
    vec_drop(x->b, &heads);
    return result;
}

static rx_id unbound_of(rx_arena *x, rx_id id, bool lengths) {
    u32 node[5] = {0}; /* a copy: the pool may move below */
    if (id == NONE || !(x->meta.at[id].flags & RX_NAMED)) return id;
    u64 key = (u64)id << 1 | lengths;
    rx_id result = map_get(&x->unbound, key);
    if (result != NONE) return result;
    memcpy(node, intern_words(&x->nodes, id), min_u32(intern_length(&x->nodes, id), 5) * sizeof *node);
    if (!budget_work(x->b, 1)) return NONE;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: result = unbound_concat(x, id, lengths); break;
    case RX_QUOTE: result = rx_quote_again(x, unbound_of(x, node[1], lengths), node); break;
    case RX_REPEAT: result = rx_repeat(x, unbound_of(x, node[1], lengths), node[2], node[3]); break;
    case RX_TAG: result = rx_tag(x, unbound_of(x, node[1], lengths), node[2]); break;
    case RX_FORK:
        result = unbound_of(x, node[1], lengths);
        if (result != NONE) result = rx_fork(x, result, unbound_of(x, node[2], lengths));
        break;
    case RX_NAME: result = rx_name_unbound(x, id); break;
    default: result = unbound_parts(x, id, node[0], lengths); break; /* RX_OR, RX_AND */
    }
    return result == NONE || !map_put(x->b, &x->unbound, key, result) ? NONE : result;
}

rx_id rx_unbound(rx_arena *x, rx_id id) { return unbound_of(x, id, false); }

/* --- endings --------------------------------------------------------------------------------------------------------------- */

typedef struct ending_node {
    rx_id id;
    u32 parent, byte, length, next; /* index; the last byte, and how many there are of the way to it; what else is in its bucket */
    u32 n_tried;                    /* classes, and one of them before the others */
} ending_node;

/* Does the byte bring a part of an intersection nearer to its end, or all of what is none, and may it come next? */
static bool is_nearer(rx_arena *x, rx_id id, rx_id part, u32 byte) {
    rx_id next = rx_derive(x, part, byte);
    if (next == NONE || next == RX_ID_NEVER || !budget_work(x->b, 1) || x->meta.at[next].distance >= x->meta.at[part].distance) return false;
    rx_id whole = rx_derive(x, id, byte);
    if (whole == NONE || whole == RX_ID_NEVER) return false;
    return id == part || (byte & 0xc0) == 0x80 || count_chars(x, whole).least < count_chars(x, id).least; /* no dot that asks for one more */
}

/* Beside names a dot, if it may be, since short labels fit anywhere; or a letter, since anything may come behind it; else any byte. NONE: there is
 * none, or failure. */
static u32 nearer_byte(rx_arena *x, rx_id id, rx_id part) {
    u8 same[256];
    byte_set first;
    bool is_and = id != part;
    if (!rx_told_apart(x, part, same) || !rx_first(x, part, &first)) return NONE;
    for (const char *byte = ".a"; is_and && *byte; byte++) {
        u32 chosen = x->class_byte[x->class_of[(u8)*byte]];
        if (set_has(&first, chosen) && is_nearer(x, id, part, chosen)) return chosen;
    }
    for (u32 c = 0; c < x->n_classes && x->b->status == GE_OK; c++)
        if ((is_and || same[c] == c) && set_has(&first, x->class_byte[c]) && is_nearer(x, id, part, x->class_byte[c])) return x->class_byte[c];
    return NONE;
}

/* A byte on the way to an end, as names tell it, and in an intersection what else is farthest from its end. NONE: none is known. */
static u32 likely_byte(rx_arena *x, rx_id id) {
    for (;;) {
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = intern_length(&x->nodes, id), far = RX_ID_NEVER, named = NONE;
        switch ((rx_kind)node[0]) {
        case RX_NAME: return rx_name_likely_byte(x, id);
        case RX_QUOTE:
            if (node[3]) return NONE;
            id = node[1];
            break;
        case RX_TAG: id = node[1]; break;
        case RX_CONCAT: id = rx_nullable(x, node[1]) ? node[2] : node[1]; break;
        case RX_SET: return nearer_byte(x, id, id);
        case RX_AND: {
            for (u32 i = 1; i < n; i++) {
                if (rx_kind_of(x, node[i]) == RX_NAME) named = node[i];
                else if (far == RX_ID_NEVER || x->meta.at[node[i]].distance > x->meta.at[far].distance) far = node[i];
            }
            if (named == NONE) return NONE;
            u32 byte = nearer_byte(x, id, far);
            if (byte == NONE) byte = rx_name_likely_byte(x, named);
            return byte == NONE ? x->class_byte[x->class_of['.']] : byte; /* the next label may have what is asked for */
        }
        case RX_OR: case RX_FORK:
            for (u32 i = 1; i < n; i++) {
                u32 byte = likely_byte(x, intern_words(&x->nodes, id)[i]);
                if (byte != NONE) return byte;
            }
            return NONE;
        default: return NONE;
        }
    }
}

static bool has_ending(const rx_arena *x, rx_id id) {
    u32 index = map_get(&x->ending_of, id);
    return rx_nullable(x, id) || (index != NONE && x->endings.at[index].next != NONE);
}

enum { SEARCHED, NOT_LIKELY }; /* how none was found: instead of a byte */

static bool has_no_ending(const rx_arena *x, rx_id id) {
    u32 index = map_get(&x->ending_of, id);
    return index != NONE && x->endings.at[index].next == NONE && x->endings.at[index].byte == SEARCHED;
}

static bool keep_ending(rx_arena *x, rx_id id, rx_ending link) {
    return map_put(x->b, &x->ending_of, id, x->endings.n) && vec_push(x->b, &x->endings, link);
}

static bool is_on(const rx_id *way, u32 n, rx_id id) {
    while (n && way[n - 1] != id) n--;
    return n != 0;
}

/* Follows likely bytes as long as some are known, and lead to what was not there before. Once for each expression on the way. */
static bool follow_likely(rx_arena *x, rx_id start) {
    rx_id way[RX_ENDING + 1] = {start};
    u8 bytes[RX_ENDING];
    u32 n = 0, byte;
    rx_refresh_classes(x);
    while (n < RX_ENDING && !rx_nullable(x, way[n]) && map_get(&x->ending_of, way[n]) == NONE && (byte = likely_byte(x, way[n])) != NONE) {
        rx_id next = rx_derive(x, way[n], byte);
        if (next == NONE || !budget_work(x->b, 1)) return false;
        if (next == RX_ID_NEVER || is_on(way, n + 1, next)) break;
        bytes[n++] = (u8)byte;
        way[n] = next;
    }
    bool found = has_ending(x, way[n]);
    if (!found && map_get(&x->ending_of, way[n]) == NONE && !keep_ending(x, way[n], (rx_ending){NONE, NOT_LIKELY})) return false;
    while (n-- > 0) {
        if (found) x->meta.at[way[n]].known_empty = 2;
        if (!keep_ending(x, way[n], found ? (rx_ending){way[n + 1], bytes[n]} : (rx_ending){NONE, NOT_LIKELY})) return false;
    }
    return x->b->status == GE_OK;
}

/* Follows first those derivatives for which the way there and a guess at the rest are shortest; where one is as good as the expression itself, before
 * others of that are looked at. */
static bool search_ending(rx_arena *x, rx_id start) {
    VEC(ending_node) nodes = {0};
    u32 bucket[ENDING_BUCKETS], lowest = min_u32(x->meta.at[start].distance, ENDING_BUCKETS - 1), found = NONE;
    word_map seen = {0};
    rx_refresh_classes(x);
    memset(bucket, 0xff, sizeof bucket);
    bucket[lowest] = 0;
    bool ok = vec_push(x->b, &nodes, ((ending_node){start, NONE, 0, 0, NONE, 0})) && map_put(x->b, &seen, start, 0);
    while (ok && found == NONE && nodes.n < ENDING_NODES) {
        while (lowest < ENDING_BUCKETS && bucket[lowest] == NONE) lowest++;
        if (lowest == ENDING_BUCKETS) break;
        u32 index = bucket[lowest], here = lowest;
        ending_node at = nodes.at[index];
        bucket[lowest] = at.next;
        u8 same[256];
        byte_set first;
        bool better = false;
        u32 likely = likely_byte(x, at.id);
        ok = x->b->status == GE_OK && rx_told_apart(x, at.id, same) && rx_first(x, at.id, &first);
        for (u32 i = at.n_tried; ok && found == NONE && !better && at.length < RX_ENDING && i <= x->n_classes; i++) {
            u32 c = i ? i - 1 : likely == NONE ? 0 : x->class_of[likely];
            nodes.at[index].n_tried = i + 1;
            if (same[c] != c || !set_has(&first, x->class_byte[c])) continue;
            rx_id id = rx_derive(x, at.id, x->class_byte[c]);
            ok = id != NONE && budget_work(x->b, 1);
            if (!ok || id == RX_ID_NEVER || x->meta.at[id].known_empty == 1 || has_no_ending(x, id) || map_get(&seen, id) != NONE) continue;
            u32 length = at.length + 1, to = min_u32(length + x->meta.at[id].distance, ENDING_BUCKETS - 1);
            ok = map_put(x->b, &seen, id, 0) && vec_push(x->b, &nodes, ((ending_node){id, index, x->class_byte[c], length, bucket[to], 0}));
            if (!ok) break;
            bucket[to] = nodes.n - 1;
            lowest = min_u32(lowest, to);
            better = to <= here;
            if (has_ending(x, id)) found = nodes.n - 1;
        }
        if (ok && found == NONE && better) { /* behind what is better */
            u32 *last = &bucket[here];
            while (*last != NONE) last = &nodes.at[*last].next;
            nodes.at[index].next = NONE;
            *last = index;
        }
    }
    if (ok && found == NONE) ok = keep_ending(x, start, (rx_ending){NONE, SEARCHED});
    for (u32 i = found; ok && i != NONE && nodes.at[i].parent != NONE; i = nodes.at[i].parent) {
        x->meta.at[nodes.at[nodes.at[i].parent].id].known_empty = 2;
        ok = keep_ending(x, nodes.at[nodes.at[i].parent].id, (rx_ending){nodes.at[i].id, nodes.at[i].byte});
    }
    vec_drop(x->b, &nodes);
    map_drop(x->b, &seen);
    return ok;
}

bool rx_ending_text(rx_arena *x, rx_id id, byte_vec *out, bool *found) {
    u32 n = 0;
    *found = true;
    bool is_new = !has_ending(x, id) && !has_no_ending(x, id);
    if (is_new && (!follow_likely(x, id) || (!has_ending(x, id) && !search_ending(x, id)))) return false;
    for (*found = has_ending(x, id); *found && !rx_nullable(x, id); n++) {
        rx_ending link = x->endings.at[map_get(&x->ending_of, id)];
        *found = n < RX_ENDING;
        if (*found && !vec_push(x->b, out, (u8)link.byte)) return false;
        id = link.next;
    }
    return true;
}

/* --- names ----------------------------------------------------------------------------------------------------------------- */

/* The most characters that any intersection in `id` allows: wherever it begins, that holds if the text has no more. */
static u32 most_chars(const rx_arena *x, rx_id id) {
    u32 most = NONE, one, least;
    for (bool last = false; !last && x->meta.at[id].flags & RX_NAMED;) {
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = node[0] == RX_NAME ? 1 : node[0] == RX_OR || node[0] == RX_AND || node[0] == RX_FORK ? intern_length(&x->nodes, id) : 2;
        for (u32 i = 1; i < n; i++) most = min_u32(most, node[0] == RX_AND && is_length(x, node[i], &least, &one) ? one : most_chars(x, node[i]));
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
            if (is_length(x, node[i], &least, &one)) most = min_u32(most, one);
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

static bool is_of_label(u32 code) {
    if (code == 0x3002 || code == 0xff0e || code == 0xff61) return false;
    return code >= 0x80 || code == '-' || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
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

u32 rx_least_in_quotes(rx_arena *x, rx_id id) {
    while (rx_kind_of(x, id) == RX_CONCAT || rx_kind_of(x, id) == RX_TAG) id = intern_words(&x->nodes, id)[1];
    return rx_kind_of(x, id) == RX_QUOTE ? count_chars(x, id).least : 0;
}

/* The label with the characters that are open, as they are. False: there are too many. */
static bool close_label(label_text *label, const ulabel_open *open) {
    u32 closed[ULABEL_OPEN], n = ulabel_close(open, closed);
    if (label->n + n > LABEL_OCTETS) return false;
    for (u32 i = 0; i < n; i++) label_append(label, closed[i] < FIRST_FAR ? PLAIN : closed[i]);
    return true;
}

static u32 room_left(const name_state *s) { return s->used > NAME_OCTETS ? 0 : min_u32(LABEL_OCTETS, NAME_OCTETS - s->used); }

/* The octets of the label at hand, as it is; more than LABEL_OCTETS: too many. */
static u32 octets_of(name_state *s) {
    if (s->octets) return s->octets;
    if (s->open.n == 0) return s->octets = s->read.n_far ? LABEL_PREFIX + label_octets(&s->read) : s->read.n;
    label_text label = s->read;
    if (!close_label(&label, &s->open)) return s->octets = LABEL_OCTETS + 1;
    return s->octets = label.n_far ? LABEL_PREFIX + label_octets(&label) : label.n;
}

/* Whether the label at hand can be finished (rx_name.c): it fits, and is a label as it is, or any few characters more fit. */
static name_fit fit_of_beginning(name_state *s) {
    u32 n_plain = s->read.n - s->read.n_far, n_far = s->read.n_far + s->open.n, room = room_left(s);
    if (n_far == 0) return n_plain <= room ? NAME_FITS : NAME_BREAKS;
    if (room == LABEL_OCTETS && label_is_sure(n_plain, n_far + s->n_more, s->n_more || s->open.n ? 2 : s->read.sort)) return NAME_FITS;
    if (s->n_more) return NAME_UNKNOWN;
    return octets_of(s) <= room ? NAME_FITS : ulabel_next_second(&s->open, 0) == NONE ? NAME_BREAKS : NAME_UNKNOWN;
}

/* At a dot, behind which a character has to come, or where the name ends. */
static name_fit end_label(name_state *s, bool is_dot) {
    u32 octets = octets_of(s);
    if (octets > LABEL_OCTETS || s->used + octets + (is_dot ? 2 : 0) > NAME_OCTETS) return NAME_BREAKS;
    s->used += octets + 1;
    s->n_more = 0;
    s->octets = s->open.n = 0;
    s->ended = !is_dot;
    memset(&s->read, 0, sizeof s->read);
    return NAME_FITS;
}

name_fit rx_name_byte(name_state *s, u32 byte) {
    u32 code = byte, high = byte, decided[ULABEL_OPEN], n = 1;
    if (s->ended) return NAME_FITS;
    if ((byte & 0xc0) != 0x80 && byte != '"' && s->most != NONE && s->most-- == 0) return NAME_BREAKS;
    s->begun = s->begun << 8 | byte;
    if (s->begun >= FIRST_FAR && !utf8_range(s->begun, &code, &high)) return NAME_BREAKS;
    if (code < high) return NAME_FITS;
    s->begun = 0;
    if (code == '\\') return NAME_UNKNOWN;
    if (!is_of_label(code)) return end_label(s, code == '.' || code >= FIRST_FAR);
    decided[0] = code;
    if (s->any_form && !ulabel_normalise(&s->open, code, decided, &n)) return NAME_BREAKS;
    if (s->read.n + n > LABEL_OCTETS) return NAME_BREAKS;
    s->octets = 0;
    for (u32 i = 0; i < n; i++) label_append(&s->read, decided[i] < FIRST_FAR ? PLAIN : decided[i]);
    if (!ulabel_keeps_ends(code)) s->n_more = ULABEL_MORE;
    return fit_of_beginning(s);
}

/* --- bounds ---------------------------------------------------------------------------------------------------------------- */

name_bound rx_bound_of(const rx_names *names) {
    name_bound b = {.n_left = names->most, .is_known = names->raw};
    for (u32 i = 0; i < names->at.n; i++) {
        const name_state *name = &names->at.at[i];
        if (i && name->begun != b.begun) b.is_known = false;
        b.begun = name->begun;
        b.used = (u16)max_u32(b.used, name->used);
        b.n_plain = (u8)max_u32(b.n_plain, name->read.n - name->read.n_far);
        b.n_far = (u8)max_u32(b.n_far, name->read.n_far + name->open.n);
        b.n_more = (u8)max_u32(b.n_more, name->n_more);
        b.sort = (u8)max_u32(b.sort, name->read.sort);
        for (u32 k = 0; k < name->open.n; k++) b.sort = (u8)max_u32(b.sort, ulabel_is_second(name->open.code[k]) ? 2 : label_sort(name->open.code[k]));
    }
    return b;
}

static u32 most_octets(const name_bound *b) { return b->n_far ? LABEL_OCTETS : b->n_plain; }

bool rx_bound_holds(const name_bound *b) {
    u32 n_more = b->n_far ? b->n_more : 0;
    return b->is_known && !b->begun && label_is_sure(b->n_plain, b->n_far + n_more, n_more ? 2 : b->sort) && b->used + most_octets(b) <= NAME_OCTETS;
}

static void bound_char(name_bound *b, u32 code) {
    u32 highest;
    if (!is_of_label(code)) {
        b->is_known &= code != '\\' && rx_bound_holds(b);
        b->used = (u16)(b->used + most_octets(b) + 1);
        b->n_plain = b->n_far = b->sort = b->n_more = 0;
    } else if (code < FIRST_FAR) {
        b->n_plain++;
        if (code == '-') b->n_more = ULABEL_MORE;
    } else {
        b->n_far = (u8)(b->n_far + ulabel_n_parts(code, &highest));
        b->sort = (u8)max_u32(b->sort, max_u32(ulabel_is_second(code) ? 2 : 0, label_sort(highest)));
        if (!ulabel_keeps_ends(code)) b->n_more = ULABEL_MORE;
    }
    b->is_known &= b->n_plain + b->n_far <= LABEL_OCTETS;
}

void rx_bound_byte(name_bound *b, u32 byte) {
    u32 low = byte, high = byte;
    if ((byte & 0xc0) != 0x80 && b->n_left != NONE) {
        b->is_known &= b->n_left > 0;
        b->n_left -= b->n_left > 0;
    }
    b->begun = b->begun << 8 | byte;
    if (b->begun >= FIRST_FAR && !utf8_range(b->begun, &low, &high)) b->is_known = false;
    else if (low < high) return;
    b->begun = 0;
    if (b->is_known) bound_char(b, low);
}

static u32 n_chars_begun(const u8 *text, u32 n) {
    u32 chars = 0;
    for (u32 i = 0; i < n; i++) chars += (text[i] & 0xc0) != 0x80;
    return chars;
}

/* Where the text ends, the name does. */
static bool keeps_name(name_state name, const u8 *text, u32 n) {
    for (u32 i = 0; i < n; i++)
        if (rx_name_byte(&name, text[i]) != NAME_FITS) return false;
    return !name.begun && end_label(&name, false) == NAME_FITS;
}

bool rx_keeps_names(const rx_names *names, const u8 *text, u32 n) {
    name_bound fresh = rx_fresh_bound(); /* a name may begin anywhere in the text, and then a label has any part of a run of characters */
    if (!names->raw || n_chars_begun(text, n) > names->most) return false;
    for (u32 i = 0; i < names->at.n; i++) {
        const name_state *name = &names->at.at[i];
        if (fresh.begun && name->begun && name->begun != fresh.begun) return false;
        fresh.begun |= name->begun;
        if (!keeps_name(*name, text, n)) return false;
    }
    for (u32 i = 0; i < n; i++) rx_bound_byte(&fresh, text[i]);
    return rx_bound_holds(&fresh);
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
    rx_n_chars chars = count_chars(x, id);
    return chars.least > chars.most;
}

/* Names of any length come first, then also the most characters. What has no bounds is searched by who asks. */
rx_verdict rx_name_verdict(rx_arena *x, rx_id id) {
    if (is_too_short(x, id)) return RX_IS_EMPTY;
    if (!(x->meta.at[id].flags & RX_NAMED)) return name_part(x, id) != NONE && follow_likely(x, id) && has_ending(x, id) ? RX_IS_INHABITED : RX_UNKNOWN;
    for (u32 lengths = 0; lengths < 2; lengths++) {
        rx_id any = unbound_of(x, id, lengths);
        if (rx_is_empty(x, any)) return x->b->status == GE_OK ? RX_IS_EMPTY : RX_UNKNOWN;
        if (x->b->status != GE_OK) break;
        if (has_ending_of(x, id, any)) return RX_IS_INHABITED;
    }
    return RX_UNKNOWN;
}
