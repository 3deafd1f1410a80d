/* Endings: a short string of an expression.
 *
 * Where names are under way, a way to an end is mostly plain to see: a dot behind a label that may end, a letter, what a pattern still asks
 * for. Such a way is followed first; only then is one searched for, among the derivatives. What was found is kept as links: for each
 * expression on the way the byte and the expression that come next, so each is followed once. */
#include "names/rx_unbound.h"
#include "rx_frontier.h"

enum { ENDING_NODES = 4000 };

rx_id rx_name_part(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    for (u32 i = 1; node[0] == RX_AND && i < intern_length(&x->nodes, id); i++)
        if (rx_kind_of(x, node[i]) == RX_NAME) return node[i];
    return NONE;
}

/* Does the byte bring a part of an intersection nearer to its end, or all of what is none, and may it come next? */
static bool is_nearer(rx_arena *x, rx_id id, rx_id part, u32 byte) {
    rx_id next = rx_derive(x, part, byte);
    if (next == NONE || next == RX_ID_NEVER || !budget_work(x->b, 1) || x->meta.at[next].distance >= x->meta.at[part].distance)
        return false;
    rx_id whole = rx_derive(x, id, byte);
    if (whole == NONE || whole == RX_ID_NEVER) return false;
    /* no dot that asks for one more */
    return id == part || (byte & 0xc0) == 0x80 || rx_count_chars(x, whole).least < rx_count_chars(x, id).least;
}

/* Beside names a dot, if it may be, since short labels fit anywhere; or a letter,
 * since anything may come behind it; else any byte. NONE: there is none, or failure. */
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
        if ((is_and || same[c] == c) && set_has(&first, x->class_byte[c]) && is_nearer(x, id, part, x->class_byte[c]))
            return x->class_byte[c];
    return NONE;
}

/* Is the label at hand to become one before anything else? An A-label, since
 * nearly all bytes lead astray; and beside lengths, which any name can have. */
static bool is_label_first(const rx_arena *x, rx_id name, rx_id other) {
    u32 least, most;
    return !rx_nullable(x, name) && (rx_begins_with_punycode(x, name) || (other != RX_ID_NEVER && rx_is_length(x, other, &least, &most)));
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
            u32 byte = is_label_first(x, named, far) ? NONE : nearer_byte(x, id, far);
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

bool rx_has_ending(const rx_arena *x, rx_id id) {
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

enum { ASTRAY = 128 }; /* more bytes than it takes at least: then they lead nowhere */

/* Follows likely bytes as long as some are known, and lead to what was not there before. Once for each expression on the way. */
bool rx_follow_likely(rx_arena *x, rx_id start) {
    rx_id way[RX_ENDING + 1] = {start};
    u8 bytes[RX_ENDING];
    u32 n = 0, most = min_u32(RX_ENDING, x->meta.at[start].distance + ASTRAY), byte;
    rx_refresh_classes(x);
    while (n < most && !rx_nullable(x, way[n]) && map_get(&x->ending_of, way[n]) == NONE && (byte = likely_byte(x, way[n])) != NONE) {
        rx_id next = rx_derive(x, way[n], byte);
        if (next == NONE || !budget_work(x->b, 1)) return false;
        if (next == RX_ID_NEVER || is_on(way, n + 1, next)) break;
        bytes[n++] = (u8)byte;
        way[n] = next;
    }
    bool found = rx_has_ending(x, way[n]);
    if (!found && map_get(&x->ending_of, way[n]) == NONE && !keep_ending(x, way[n], (rx_ending){NONE, NOT_LIKELY})) return false;
    while (n-- > 0) {
        if (found) x->meta.at[way[n]].verdict = RX_IS_INHABITED;
        if (!keep_ending(x, way[n], found ? (rx_ending){way[n + 1], bytes[n]} : (rx_ending){NONE, NOT_LIKELY})) return false;
    }
    return x->b->status == GE_OK;
}

/* The class that is tried as the i-th: a likely one, then all. */
static u32 class_at(const rx_arena *x, u32 likely, u32 i) {
    if (i) return i - 1;
    return likely == NONE ? 0 : x->class_of[likely];
}

static bool search_ending(rx_arena *x, rx_id start) {
    frontier f;
    u32 at, found = NONE;
    bool ok = frontier_open(x, &f, start);
    while (ok && found == NONE && f.nodes.n < ENDING_NODES && (at = frontier_next(&f)) != NONE) {
        rx_id from = f.nodes.at[at].id;
        u8 same[256];
        byte_set first;
        bool is_near = false;
        u32 likely = likely_byte(x, from), length = f.nodes.at[at].length;
        ok = x->b->status == GE_OK && rx_told_apart(x, from, same) && rx_first(x, from, &first);
        for (u32 i = f.nodes.at[at].tried; ok && found == NONE && !is_near && length < RX_ENDING && i <= x->n_classes; i++) {
            u32 c = class_at(x, likely, i), byte = x->class_byte[c];
            if (same[c] != c || !set_has(&first, byte)) continue;
            rx_id id = rx_derive(x, from, byte);
            ok = id != NONE && budget_work(x->b, 1);
            if (!ok || id == RX_ID_NEVER || x->meta.at[id].verdict == RX_IS_EMPTY || has_no_ending(x, id) || frontier_has(&f, id)) continue;
            ok = frontier_reach(x, &f, id, at, byte, i + 1, &is_near);
            if (ok && rx_has_ending(x, id)) found = f.nodes.n - 1;
        }
    }
    if (ok && found == NONE) ok = keep_ending(x, start, (rx_ending){NONE, SEARCHED});
    for (u32 i = found; ok && i != NONE && f.nodes.at[i].parent != NONE; i = f.nodes.at[i].parent) {
        rx_id before = f.nodes.at[f.nodes.at[i].parent].id;
        x->meta.at[before].verdict = RX_IS_INHABITED;
        ok = keep_ending(x, before, (rx_ending){f.nodes.at[i].id, f.nodes.at[i].byte});
    }
    frontier_drop(x, &f);
    return ok;
}

bool rx_ending_text(rx_arena *x, rx_id id, byte_vec *out, bool *found) {
    u32 n = 0;
    *found = true;
    bool is_new = !rx_has_ending(x, id) && !has_no_ending(x, id);
    if (is_new && (!rx_follow_likely(x, id) || (!rx_has_ending(x, id) && !search_ending(x, id)))) return false;
    for (*found = rx_has_ending(x, id); *found && !rx_nullable(x, id); n++) {
        rx_ending link = x->endings.at[map_get(&x->ending_of, id)];
        *found = n < RX_ENDING;
        if (*found && !vec_push(x->b, out, (u8)link.byte)) return false;
        id = link.next;
    }
    return true;
}
