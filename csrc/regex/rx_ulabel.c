/* U-labels: membership, and what insertions can make one of some characters. See rx_ulabel.h. */
#include "rx_ulabel.h"
#include "rx_ulabel_tables.h"


static u32 range_of(u32 code) { /* index of the first range that begins behind it */
    u32 low = 0, high = ULABEL_N_RANGES;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (ulabel_ranges[middle] >> 11 <= code) low = middle + 1;
        else high = middle;
    }
    return low;
}

u8 ulabel_class_of(u32 code) {
    u32 range = range_of(code);
    return range ? (u8)(ulabel_ranges[range - 1] & 0x7ff) : 0;
}

/* Is it a character that normalisation has nothing to do with, whatever its neighbours? */
static bool is_plain(ulabel_class c) { return c.order == 0 && !c.first && !c.second; }

/* The first from `code` on of the kind; of any kind for NONE. */
static u32 next_of_kind(u32 code, u32 kind, bool plain) {
    for (u32 range = range_of(code); range <= ULABEL_N_RANGES; range++) {
        u32 class = range ? ulabel_ranges[range - 1] & 0x7ff : 0;
        if (!class || (kind != NONE && ulabel_classes[class].kind != kind) || (plain && !is_plain(ulabel_classes[class]))) continue;
        return max_u32(code, ulabel_ranges[range - 1] >> 11);
    }
    return NONE;
}

u32 ulabel_next_code(u32 code) { return next_of_kind(code, NONE, false); }

bool ulabel_insert(ulabel *l, u32 at, u32 code) {
    u8 class = ulabel_class_of(code);
    if (!class) return false;
    memmove(l->code + at + 1, l->code + at, (l->n - at) * sizeof *l->code);
    memmove(l->class + at + 1, l->class + at, l->n - at);
    l->code[at] = code;
    l->class[at] = class;
    l->n++;
    return true;
}

/* Are they others in normalisation form C, if nothing between them blocks that: one, or a composed letter with its marks in another order? */
static bool are_changed(ulabel_class first, ulabel_class second) {
    return ulabel_changing[first.first][second.second >> 5] >> (second.second & 31) & 1;
}

/* UAX #15: where, of the characters from `first` on, one comes that normalisation would move or compose with one of these. l->n: nowhere. No
 * character is blocked by one of a lower combining class, unless that is 0. */
static u32 first_abnormal(const ulabel *l, u32 first, u32 from) {
    ulabel_class starter = ulabel_classes[0];
    u32 order = 0; /* of the character before; 0: the starter */
    for (u32 i = first; i < l->n; i++) {
        ulabel_class c = ulabel_classes[l->class[i]];
        if (i >= from && c.order && c.order < order) return i;
        if (i >= from && (order == 0 || c.order > order) && are_changed(starter, c)) return i;
        order = c.order;
        if (order == 0) starter = c;
    }
    return l->n;
}

bool ulabel_is_in(const ulabel *l, ulabel_set set) {
    u32 state = set;
    for (u32 i = 0; i < l->n; i++) state = ulabel_next[state][ulabel_classes[l->class[i]].kind];
    return ulabel_accepting[state] && first_abnormal(l, 0, 0) == l->n;
}

bool ulabel_may_be_in(const ulabel *l, ulabel_set set) {
    u32 directions = set == ULABEL_ANY ? 3 : 1;
    for (u32 i = 0; i < l->n; i++) directions &= ulabel_directions[ulabel_classes[l->class[i]].kind];
    return directions != 0;
}

/* --- insertions ----------------------------------------------------------------------------------------------------------- */

/* A node is (characters of the label that were read, state, rank, has anything been inserted). Breadth-first by the number of
 * insertions: reading costs nothing, so its nodes go to the list that is being worked on.
 *
 * Normalisation: some characters may only be read if there was an insertion not before a certain index. The rank is the number of these indices
 * that the last insertion has reached. */
typedef struct ulabel_node {
    u32 parent;  /* NONE: not reached yet */
    u32 cost;    /* insertions */
    u8 inserted; /* 0: a character of the label was read; else of which kind, plus 1 */
    bool is_done;
} ulabel_node;

typedef struct ulabel_search {
    budget *b;
    const ulabel *label;
    ulabel_room room;
    VEC(ulabel_node) nodes;
    id_vec now, next;
    u32 n_ranks;
    u8 rank_at[ULABEL_LONGEST + 1], least_rank[ULABEL_LONGEST + 1]; /* of an insertion there; to read that character */
    u32 last[ULABEL_N_KINDS]; /* code point that may be inserted */
} ulabel_search;

static void find_ranks(ulabel_search *s) {
    const ulabel *l = s->label;
    u8 least[ULABEL_LONGEST + 1] = {0}; /* by character: the index */
    bool is_some[ULABEL_LONGEST + 1] = {false};
    for (u32 first = 0; first < l->n; first++)
        for (u32 i = first; (i = first_abnormal(l, first, i)) < l->n; i++) least[i] = (u8)(first + 1);
    for (u32 i = 0; i < l->n; i++) is_some[least[i]] = true;
    for (u32 i = 0, rank = 0; i <= l->n; i++) s->rank_at[i] = (u8)(rank += i && is_some[i]);
    for (u32 i = 0; i < l->n; i++) s->least_rank[i] = s->rank_at[least[i]];
    s->n_ranks = s->rank_at[l->n] + 1u;
}

static u32 node_number(const ulabel_search *s, u32 n_read, u32 state, u32 rank, bool any) {
    return ((n_read * ULABEL_N_STATES + state) * s->n_ranks + rank) * 2 + any;
}

static bool reach_node(ulabel_search *s, u32 to, u32 from, u32 inserted) {
    u32 cost = s->nodes.at[from].cost + (inserted != 0);
    ulabel_node *node = &s->nodes.at[to];
    if (node->parent != NONE && node->cost <= cost) return true;
    *node = (ulabel_node){from, cost, (u8)inserted, false};
    return inserted ? vec_push(s->b, &s->next, to) : vec_push(s->b, &s->now, to);
}

/* The least code point outside ASCII that may be inserted before the character of that index. */
static u32 least_code(const ulabel_room *room, u32 index) { return room->code + (index < room->index); }

/* Kinds of which nothing is plain are marks that some contexts need. */
static bool is_plain_only(const ulabel_room *room, u32 kind) { return room->plain && ulabel_last_plain[kind]; }

static bool expand_node(ulabel_search *s, u32 at) {
    bool any = at & 1, ok = true;
    u32 rank = at / 2 % s->n_ranks, state = at / 2 / s->n_ranks % ULABEL_N_STATES, n_read = at / 2 / s->n_ranks / ULABEL_N_STATES;
    if (n_read < s->label->n && rank >= s->least_rank[n_read]) {
        u32 to = ulabel_next[state][ulabel_classes[s->label->class[n_read]].kind];
        if (to) ok = reach_node(s, node_number(s, n_read + 1, to, rank, any), at, 0);
    }
    rank = s->rank_at[n_read];
    for (u32 kind = 0; ok && kind < ULABEL_N_KINDS && s->nodes.at[at].cost < s->room.most; kind++) {
        u32 to = ulabel_next[state][kind];
        if (!to) continue;
        if (s->last[kind] >= least_code(&s->room, n_read)) ok = reach_node(s, node_number(s, n_read, to, rank, true), at, kind + 1);
    }
    return ok;
}

/* The way to a node, backwards. */
static void follow_back(const ulabel_search *s, u32 at, ulabel *out, bool *fresh) {
    u32 n_read = s->label->n;
    out->n = n_read + s->nodes.at[at].cost;
    for (u32 i = out->n; i-- > 0; at = s->nodes.at[at].parent) {
        u32 kind = s->nodes.at[at].inserted - 1u, least = least_code(&s->room, n_read);
        fresh[i] = s->nodes.at[at].inserted != 0;
        out->code[i] = fresh[i] ? next_of_kind(least, kind, is_plain_only(&s->room, kind)) : s->label->code[--n_read];
        out->class[i] = ulabel_class_of(out->code[i]);
    }
}

bool ulabel_complete(budget *b, const ulabel *l, ulabel_set set, ulabel_room room, ulabel *out, bool *fresh) {
    ulabel_search s = {.b = b, .label = l, .room = room};
    s.room.most = min_u32(room.most, ULABEL_LONGEST - l->n);
    for (u32 kind = 0; kind < ULABEL_N_KINDS; kind++) s.last[kind] = is_plain_only(&s.room, kind) ? ulabel_last_plain[kind] : ulabel_last[kind];
    find_ranks(&s);
    u32 count = node_number(&s, l->n + 1, 0, 0, false), start = node_number(&s, 0, set, 0, false), found = NONE;
    bool ok = budget_work(b, 4) && vec_reserve(b, &s.nodes, count) && vec_push(b, &s.now, start);
    for (u32 i = 0; ok && i < count; i++) s.nodes.at[s.nodes.n++] = (ulabel_node){.parent = NONE};
    if (ok) s.nodes.at[start].parent = start;
    while (ok && s.now.n && found == NONE) {
        for (u32 i = 0; ok && i < s.now.n && found == NONE; i++) {
            u32 at = s.now.at[i];
            if (s.nodes.at[at].is_done) continue;
            s.nodes.at[at].is_done = true;
            bool is_end = at & 1 && at / 2 / s.n_ranks / ULABEL_N_STATES == l->n;
            if (is_end && ulabel_accepting[at / 2 / s.n_ranks % ULABEL_N_STATES]) found = at;
            else ok = budget_work(b, 1) && expand_node(&s, at);
        }
        id_vec read = s.now;
        s.now = s.next;
        s.next = read;
        s.next.n = 0;
    }
    if (ok && found != NONE) follow_back(&s, found, out, fresh);
    vec_drop(b, &s.nodes);
    vec_drop(b, &s.now);
    vec_drop(b, &s.next);
    return ok && found != NONE;
}
