/* The arena of expressions: each node once, with what is known of it from its operands alone.
 *
 * Invariant. `meta` has an entry for each node of `nodes`, made with it: so a question about operands is a look, and none of these
 * recurs. */
#include "rx.h"

/* Nesting that derivatives may add to what the source had. */
#define DEPTH_FACTOR 4
#define DEPTH_SLACK 50

bool rx_init(rx_arena *x, budget *b) {
    memset(x, 0, sizeof *x);
    x->b = b;
    x->text = x->local_escape = NONE;
    x->n_classes = 1;
    rx_id never = rx_intern(x, (u32[]){RX_NEVER}, 1, RX_TEXT | RX_FINITE, 0);
    rx_id empty = rx_intern(x, (u32[]){RX_EMPTY}, 1, RX_NULLABLE | RX_INHABITED | RX_TEXT | RX_FINITE, 0);
    rx_id all = rx_intern(x, (u32[]){RX_ALL}, 1, RX_NULLABLE | RX_INHABITED, 0);
    return never == RX_ID_NEVER && empty == RX_ID_EMPTY && all == RX_ID_ALL;
}

bool rx_copy(rx_arena *x, budget *b, const rx_arena *from) {
    *x = *from;
    memset(x, 0, offsetof(rx_arena, b));
    x->b = b;
    x->local_escape = NONE;
    /* Not copied: what is looked up at the front of each node (first, local_of), and what is found again. */
    return intern_copy(b, &x->nodes, &from->nodes) && vec_copy(b, &x->meta, &from->meta) && intern_copy(b, &x->sets, &from->sets) &&
           map_copy(b, &x->memo, &from->memo) && vec_copy(b, &x->bounds, &from->bounds) && intern_copy(b, &x->labels, &from->labels) &&
           intern_copy(b, &x->cells, &from->cells) && vec_copy(b, &x->id_start, &from->id_start) &&
           vec_copy(b, &x->id_continue, &from->id_continue) && vec_reach(b, &x->first, from->meta.n) &&
           vec_reach(b, &x->local_of, from->meta.n);
}

void rx_drop(rx_arena *x) {
    if (!x->b) return;
    intern_drop(x->b, &x->nodes);
    vec_drop(x->b, &x->meta);
    intern_drop(x->b, &x->sets);
    map_drop(x->b, &x->memo);
    vec_drop(x->b, &x->bounds);
    vec_drop(x->b, &x->first);
    vec_drop(x->b, &x->local_of);
    intern_drop(x->b, &x->local);
    map_drop(x->b, &x->same_of);
    vec_drop(x->b, &x->same);
    vec_drop(x->b, &x->must_of);
    intern_drop(x->b, &x->must);
    map_drop(x->b, &x->clamped);
    map_drop(x->b, &x->widened);
    map_drop(x->b, &x->finish);
    map_drop(x->b, &x->least);
    intern_drop(x->b, &x->labels);
    intern_drop(x->b, &x->cells);
    vec_drop(x->b, &x->id_start);
    vec_drop(x->b, &x->id_continue);
    map_drop(x->b, &x->beyond);
    map_drop(x->b, &x->apart);
    map_drop(x->b, &x->among);
    map_drop(x->b, &x->unbound);
    vec_drop(x->b, &x->chars);
    map_drop(x->b, &x->ending_of);
    vec_drop(x->b, &x->endings);
}

/* Exact but for intersections, complements and quoting: there, what each part asks for is taken to be asked for in turn. */
static u32 guess_distance(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u64 sum = 0;
    if (flags & RX_NULLABLE) return 0;
    switch ((rx_kind)words[0]) {
    case RX_CONCAT: sum = (u64)x->meta.at[words[1]].distance + x->meta.at[words[2]].distance; break;
    case RX_OR: case RX_FORK:
        sum = UINT16_MAX;
        for (u32 i = 1; i < n; i++) sum = min_u32((u32)sum, x->meta.at[words[i]].distance);
        break;
    case RX_AND:
        for (u32 i = 1; i < n; i++) sum += x->meta.at[words[i]].distance;
        break;
    case RX_REPEAT: sum = (u64)x->meta.at[words[1]].distance * words[2]; break;
    case RX_QUOTE: case RX_TAG: sum = x->meta.at[words[1]].distance; break;
    case RX_REST: sum = x->meta.at[words[1]].distance - min_u32(words[2], x->meta.at[words[1]].distance); break;
    case RX_MULTIPLE: sum = words[1]; break;
    default: sum = 1; break;
    }
    return sum < UINT16_MAX ? (u32)sum : UINT16_MAX;
}

/* A lower bound on the lengths of strings. No character is shorter in quotes; what an escape under way stands for has at most 4 bytes. */
static u8 bound_length(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u64 least = 0;
    if (flags & RX_NULLABLE) return 0;
    switch ((rx_kind)words[0]) {
    case RX_SET: return 1;
    case RX_CONCAT: least = (u64)x->meta.at[words[1]].least + x->meta.at[words[2]].least; break;
    case RX_OR:
        least = UINT8_MAX;
        for (u32 i = 1; i < n && least; i++) least = min_u32((u32)least, x->meta.at[words[i]].least);
        break;
    case RX_AND:
        for (u32 i = 1; i < n; i++) least = max_u32((u32)least, x->meta.at[words[i]].least);
        break;
    case RX_REPEAT: least = (u64)x->meta.at[words[1]].least * words[2]; break;
    case RX_QUOTE:
        least = x->meta.at[words[1]].least;
        if (words[3]) least = least > 4 ? least - 3 : 1;
        break;
    default: break;
    }
    return (u8)(least < UINT8_MAX ? least : UINT8_MAX);
}

static u32 counted(const rx_arena *x, const u32 *words, u32 n) {
    u32 last = 1; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_CONCAT: last = 3; break;
    case RX_OR: case RX_AND: last = n; break;
    case RX_REPEAT:
        if (words[3] != NONE && words[3] > 1) return RX_COUNTED;
        last = 2;
        break;
    case RX_QUOTE: last = 2; break;
    default: break;
    }
    for (u32 i = 1; i < last; i++)
        if (x->meta.at[words[i]].flags & RX_COUNTED) return RX_COUNTED;
    return 0;
}

static u32 named(const rx_arena *x, const u32 *words, u32 n) {
    u32 last = 1, flags = 0; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_NOT: return x->meta.at[words[1]].flags & RX_NAMED ? RX_BARRED : 0;
    case RX_NAME: return words[1] & RX_BOUNDED ? RX_NAMED : 0;
    case RX_CONCAT: last = 3; break;
    case RX_OR: case RX_AND: case RX_FORK: last = n; break;
    case RX_REPEAT: case RX_QUOTE: case RX_TAG: last = 2; break;
    default: break;
    }
    for (u32 i = 1; i < last; i++) flags |= x->meta.at[words[i]].flags;
    return flags & (RX_NAMED | RX_BARRED);
}

static u32 first_exact(const rx_arena *x, const u32 *words, u32 n, u32 flags) {
    u32 last = n; /* operands: [1, last) */
    switch ((rx_kind)words[0]) {
    case RX_NEVER: case RX_EMPTY: case RX_ALL: case RX_SET: return RX_FIRST_EXACT;
    case RX_CONCAT:
        if (!(flags & RX_INHABITED)) return 0;
        last = x->meta.at[words[1]].flags & RX_NULLABLE ? 3 : 2;
        break;
    case RX_OR: case RX_FORK: break;
    case RX_REPEAT: case RX_TAG: last = 2; break;
    default: return 0;
    }
    for (u32 i = 1; i < last; i++)
        if (!(x->meta.at[words[i]].flags & RX_FIRST_EXACT)) return 0;
    return RX_FIRST_EXACT;
}

void rx_note_mixed(rx_arena *x, u32 kind, u32 flags) {
    x->has_mixed_name |= (kind == RX_AND || kind == RX_NOT) && flags & (RX_NAMED | RX_BARRED);
}

rx_id rx_intern(rx_arena *x, const u32 *words, u32 n, u32 flags, u32 depth) {
    bool fresh;
    rx_id id = intern(x->b, &x->nodes, words, n, &fresh);
    if (id == NONE || !fresh) return id;
    words = intern_words(&x->nodes, id);
    flags |= counted(x, words, n) | first_exact(x, words, n, flags);
    if (x->has_name) flags |= named(x, words, n);
    rx_note_mixed(x, words[0], flags);
    rx_meta meta = {.flags = (u8)(flags & RX_NULLABLE ? flags | RX_INHABITED : flags), .depth = (u16)min_u32(depth, UINT16_MAX),
                    .distance = (u16)guess_distance(x, words, n, flags), .shared = RX_NOT_COUNTED,
                    .least = bound_length(x, words, n, flags)};
    u64 most =
        x->b->limits.max_regex_nesting < RX_DEPTH_CEILING ? x->b->limits.max_regex_nesting * DEPTH_FACTOR + DEPTH_SLACK : RX_DEPTH_CEILING;
    bool ok = depth <= most && depth <= RX_DEPTH_CEILING;
    if (!ok && most < RX_DEPTH_CEILING) budget_limit(x->b, LIMIT(max_regex_nesting));
    else if (!ok) budget_ceiling(x->b, LIMIT(max_regex_nesting), RX_DEPTH_CEILING);
    if (ok && id >= x->b->limits.max_expressions) ok = budget_limit(x->b, LIMIT(max_expressions));
    if (ok && vec_push(x->b, &x->meta, meta)) return id;
    intern_undo(&x->nodes);
    return NONE;
}
