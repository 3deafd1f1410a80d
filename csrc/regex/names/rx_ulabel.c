/* U-labels: membership, and what insertions can make one of some characters. See rx_ulabel.h. */
#include "rx_ulabel.h"
#include "rx_ulabel_tables.h"

_Static_assert((int)ULABEL_N_MORE <= (int)ULABEL_MORE, "a label may take more characters to be finished");
_Static_assert((int)ULABEL_MOST_PARTS <= (int)ULABEL_MOST, "more characters may come of one");

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

u8 ulabel_class_until(u32 code, u32 *last) {
    u32 range = range_of(code);
    *last = range < ULABEL_N_RANGES ? (ulabel_ranges[range] >> 11) - 1 : ULABEL_LAST_CODE;
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

/* Are they others in normalisation form C, if nothing between them blocks that: one, or a composed letter with its marks in another
 * order? */
static bool are_changed(ulabel_class first, ulabel_class second) {
    return ulabel_changing[first.first][second.second >> 5] >> (second.second & 31) & 1;
}

/* UAX #15: where, of the characters from `first` on, one comes that normalisation would move or compose with one of these. l->n: nowhere.
 * No character is blocked by one of a lower combining class, unless that is 0. */
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

static ulabel_verdict verdict_at(u32 state, ulabel_set set) {
    ulabel_verdict verdict = (ulabel_verdict)ulabel_verdicts[state];
    return set == ULABEL_MIXED && verdict == ULABEL_IS_LEFT ? ULABEL_NONE : verdict;
}

ulabel_verdict ulabel_end(ulabel_state s, ulabel_set set) { return verdict_at(s.at, set); }

u32 ulabel_following(ulabel_state s) { return ulabel_followings[s.at]; }

u32 ulabel_n_missing(ulabel_state s, ulabel_set set) {
    if (ulabel_end(s, set)) return 0;
    u32 next = ulabel_next[s.at][ulabel_classes[ulabel_class_of(ulabel_followings[s.at])].kind];
    return verdict_at(next, set) ? 1 : 2;
}

bool ulabel_keeps_ends(u32 code) {
    u8 class = ulabel_class_of(code);
    return class && ulabel_keeping[ulabel_classes[class].kind];
}

/* As first_abnormal, for one character behind others. */
bool ulabel_step(ulabel_state *s, u32 code) {
    u8 class = ulabel_class_of(code);
    ulabel_class c = ulabel_classes[class];
    if (!class || (c.order && c.order < s->order)) return false;
    if ((s->order == 0 || c.order > s->order) && ulabel_changing[s->first][c.second >> 5] >> (c.second & 31) & 1) return false;
    s->at = ulabel_next[s->at][c.kind];
    if (c.order == 0) s->first = c.first;
    else if (c.order >= ulabel_last_second[s->first]) s->first = 0;
    s->order = c.order;
    return s->at != 0;
}

ulabel_verdict ulabel_is_in(const ulabel *l, ulabel_set set) {
    u32 state = set;
    for (u32 i = 0; i < l->n; i++) state = ulabel_next[state][ulabel_classes[l->class[i]].kind];
    ulabel_verdict verdict = verdict_at(state, set);
    return verdict && first_abnormal(l, 0, 0) == l->n ? verdict : ULABEL_NONE;
}

bool ulabel_may_be_in(const ulabel *l, ulabel_set set) {
    u32 directions = set == ULABEL_LEFT ? 1 : 3;
    for (u32 i = 0; i < l->n; i++) directions &= ulabel_directions[ulabel_classes[l->class[i]].kind];
    return directions != 0;
}

/* --- insertions ----------------------------------------------------------------------------------------------------------- */

/* A node is (characters of the label that were read, state, rank, has anything been inserted). Breadth-first by the number of
 * insertions: reading costs nothing, so its nodes go to the list that is being worked on.
 *
 * Normalisation: some characters may only be read if there was an insertion not before a
 * certain index. The rank is the number of these indices that the last insertion has reached. */
typedef struct ulabel_node {
    u32 parent;  /* NONE: not reached yet */
    u8 cost;     /* insertions */
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
    u32 cost = s->nodes.at[from].cost + (inserted ? 1u : 0u);
    ulabel_node *node = &s->nodes.at[to];
    if (node->parent != NONE && node->cost <= cost) return true;
    *node = (ulabel_node){from, (u8)cost, (u8)inserted, false};
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
    for (u32 kind = 0; kind < ULABEL_N_KINDS; kind++)
        s.last[kind] = is_plain_only(&s.room, kind) ? ulabel_last_plain[kind] : ulabel_last[kind];
    find_ranks(&s);
    u32 count = node_number(&s, l->n + 1, 0, 0, false), start = node_number(&s, 0, set, 0, false), found = NONE;
    bool ok = budget_work(b, 4) && vec_reserve(b, &s.nodes, count) && vec_push(b, &s.now, start);
    for (u32 i = 0; ok && i < count; i++) s.nodes.at[i] = (ulabel_node){.parent = NONE};
    if (ok) s.nodes.at[start].parent = start;
    while (ok && s.now.n && found == NONE) {
        for (u32 i = 0; ok && i < s.now.n && found == NONE; i++) {
            u32 at = s.now.at[i];
            if (s.nodes.at[at].is_done) continue;
            s.nodes.at[at].is_done = true;
            bool is_end = at & 1 && at / 2 / s.n_ranks / ULABEL_N_STATES == l->n;
            if (is_end && verdict_at(at / 2 / s.n_ranks % ULABEL_N_STATES, set)) found = at;
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

/* --- other forms ---------------------------------------------------------------------------------------------------------- */

/* The Unicode Standard, 3.12 */
enum { JAMO_L = 0x1100, JAMO_V = 0x1161, JAMO_T = 0x11a7, N_JAMO_L = 19, N_JAMO_V = 21, N_JAMO_T = 28, SYLLABLE = 0xac00 };

static bool is_jamo_l(u32 code) { return code - JAMO_L < N_JAMO_L; }
static bool is_open_syllable(u32 code) { return code - SYLLABLE < N_JAMO_L * N_JAMO_V * N_JAMO_T && (code - SYLLABLE) % N_JAMO_T == 0; }

/* What the two are composed to, or 0. */
static u32 composed(u32 first, u32 second) {
    if (is_jamo_l(first) && second - JAMO_V < N_JAMO_V) return SYLLABLE + ((first - JAMO_L) * N_JAMO_V + second - JAMO_V) * N_JAMO_T;
    if (is_open_syllable(first) && second - JAMO_T - 1 < N_JAMO_T - 1) return first + second - JAMO_T;
    u32 low = 0, high = ULABEL_N_PAIRS;
    while (low < high) {
        u32 middle = (low + high) / 2;
        const u32 *pair = ulabel_pairs[middle];
        if (pair[0] == first && pair[1] == second) return pair[2];
        if (pair[0] < first || (pair[0] == first && pair[1] < second)) low = middle + 1;
        else high = middle;
    }
    return 0;
}

static u32 parts_from(u32 code) { /* index of the first that is decomposed */
    u32 low = 0, high = ULABEL_N_PARTS;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (ulabel_parts[middle][0] < code) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool is_never_composed(u32 code) {
    return !is_jamo_l(code) && !is_open_syllable(code) && ulabel_classes[ulabel_class_of(code)].first == 0;
}

u32 ulabel_close(const ulabel_open *open, u32 *out) {
    u32 n = 0, order = 0; /* of the last in `out` */
    for (u32 i = 0; i < open->n; i++) {
        u32 code = open->code[i], of_code = ulabel_classes[ulabel_class_of(code)].order, whole = 0;
        if (n && ulabel_classes[ulabel_class_of(out[0])].order == 0 && (n == 1 || (of_code > order && order)))
            whole = composed(out[0], code);
        if (whole) out[0] = whole;
        else out[n++] = code, order = of_code;
    }
    return n;
}

static bool normalise_part(ulabel_open *open, u32 code, u32 *out, u32 *n_out) {
    u32 order = ulabel_classes[ulabel_class_of(code)].order, at = open->n, closed[ULABEL_OPEN];
    if (order == 0) {
        u32 n = ulabel_close(open, closed);
        if (n != 1 || !composed(closed[0], code)) {
            if (*n_out + n + 1 > ULABEL_OPEN) return false;
            memcpy(out + *n_out, closed, n * sizeof *out);
            *n_out += n;
            at = open->n = 0;
            if (is_never_composed(code)) return out[(*n_out)++] = code, true;
        }
    }
    if (open->n == ULABEL_OPEN) return false;
    for (; order && at && ulabel_classes[ulabel_class_of(open->code[at - 1])].order > order; at--) open->code[at] = open->code[at - 1];
    open->code[at] = code;
    open->n++;
    return true;
}

bool ulabel_normalise(ulabel_open *open, u32 code, u32 *out, u32 *n_out) {
    u32 index = parts_from(code);
    *n_out = 0;
    if (index == ULABEL_N_PARTS || ulabel_parts[index][0] != code) return normalise_part(open, code, out, n_out);
    for (u32 i = 1; i <= ULABEL_MOST_PARTS && ulabel_parts[index][i]; i++)
        if (!normalise_part(open, ulabel_parts[index][i], out, n_out)) return false;
    return true;
}

u32 ulabel_next_second(const ulabel_open *open, u32 code) {
    u32 closed[ULABEL_OPEN], n = ulabel_close(open, closed);
    if (n == 0) return NONE;
    code++;
    if (is_jamo_l(closed[0])) return code < JAMO_V ? JAMO_V : code < JAMO_V + N_JAMO_V ? code : NONE;
    if (is_open_syllable(closed[0])) return code <= JAMO_T ? JAMO_T + 1 : code < JAMO_T + N_JAMO_T ? code : NONE;
    const u32 *changing = ulabel_changing[ulabel_classes[ulabel_class_of(closed[0])].first];
    for (u32 i = 0; i < ULABEL_N_SECONDS; i++)
        if (ulabel_seconds[i] >= code && changing[(i + 1) >> 5] >> ((i + 1) & 31) & 1) return ulabel_seconds[i];
    return NONE;
}

u32 ulabel_n_parts(u32 code, u32 *highest) {
    u32 index = parts_from(code), n = 0;
    *highest = code;
    if (index == ULABEL_N_PARTS || ulabel_parts[index][0] != code) return 1;
    for (*highest = 0; n < ULABEL_MOST_PARTS && ulabel_parts[index][n + 1]; n++) *highest = max_u32(*highest, ulabel_parts[index][n + 1]);
    return n;
}

bool ulabel_is_second(u32 code) { return ulabel_classes[ulabel_class_of(code)].second != 0; }

bool ulabel_is_syllable_begun(const ulabel_open *open, ulabel_state s) {
    return open->n == 1 && is_jamo_l(open->code[0]) && ulabel_step(&s, SYLLABLE);
}

void ulabel_simplify(ulabel_open *open) {
    if (open->n == 0) return;
    if (is_jamo_l(open->code[0])) open->code[0] = JAMO_L;
    if (is_open_syllable(open->code[0])) open->code[0] = SYLLABLE;
}

bool ulabel_are_closed(u32 low, u32 high) {
    for (u32 code = low, last; code <= high; code = last + 1) {
        ulabel_class c = ulabel_classes[ulabel_class_until(code, &last)];
        if (c.order || c.first || c.second) return false;
    }
    u32 index = parts_from(low);
    bool hangul = low < SYLLABLE + N_JAMO_L * N_JAMO_V * N_JAMO_T && high >= SYLLABLE, jamo = low < JAMO_T + N_JAMO_T && high >= JAMO_L;
    return !hangul && !jamo && (index == ULABEL_N_PARTS || ulabel_parts[index][0] > high);
}

bool ulabel_is_starter_class(u8 class) { return ulabel_classes[class].order == 0 && !ulabel_classes[class].second; }

static bool is_starter(u32 code) { return ulabel_is_starter_class(ulabel_class_of(code)); }

bool ulabel_are_starters(u32 low, u32 high) {
    if (low < JAMO_T + N_JAMO_T && high >= JAMO_V) return false;
    for (u32 code = low, last; code <= high; code = last + 1) {
        ulabel_class_until(code, &last);
        if (!is_starter(code)) return false;
    }
    for (u32 i = parts_from(low); i < ULABEL_N_PARTS && ulabel_parts[i][0] <= high; i++)
        if (!is_starter(ulabel_parts[i][1])) return false;
    return true;
}

u32 ulabel_next_unstable(u32 code) {
    u32 other = parts_from(code), first = NONE, last;
    while (other < ULABEL_N_PARTS && ulabel_class_of(ulabel_parts[other][0])) other++; /* composed again */
    if (other < ULABEL_N_PARTS) first = ulabel_parts[other][0];
    if (code < JAMO_T + N_JAMO_T) first = min_u32(first, code < JAMO_L + N_JAMO_L ? max_u32(code, JAMO_L) : max_u32(code, JAMO_V));
    for (; code < min_u32(first, ULABEL_LAST_CODE); code = last + 1)
        if (!ulabel_is_starter_class(ulabel_class_until(code, &last))) return code;
    return first;
}
