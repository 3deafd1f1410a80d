/* Can what has begun be completed, with another value than those before? For alternatives that are held (un.h).
 *
 * Idea. A text in which nothing is held can be completed: its row is alive, and an array never asks for an item where all values are used
 * up. So it is enough to find one way to such a text. The ways are searched byte by byte; first those on which few values are left that may
 * be met, and few bytes were read. Mostly the next byte is a way: another character of a string, another digit, the end of an object with
 * fewer members. Where there is none, what is held leads to few configurations, spellings of earlier items, and all of them are ruled out.
 *
 * Nothing is told by a shortened text that is met as far as its cut: behind that the search does not go. If all else is ruled out, too, it
 * is unsure, and the mask it is made for is made again from the whole text (mask/mk.c).
 *
 * Invariant. A verdict is kept for a configuration of one alternative; it does not depend on the order of questions. */
#include "../mask/mk.h"

enum { RULED_OUT, ALIVE, ASKED, NOT_KNOWN };
enum { PLACE = 400 /* units of work for a place that is gone on from */ };

typedef struct alive_place {
    u32 config, before; /* index of the place that led here */
    u32 depth;          /* bytes that were read */
    u64 cost;
} alive_place;

typedef struct alive_search {
    VEC(alive_place) places;
    id_vec heap; /* of places, the one with the least cost on top */
} alive_search;

static bool push_place_of(ge_engine *e, alive_search *s, u32 config, u32 before) {
    u32 depth = before == NONE ? 0 : s->places.at[before].depth + 1, at = s->heap.n, added = s->places.n;
    u64 held = intern_length(&e->un.sets, un_at(&e->un, cf_alternative_at(e, config, 0).track).equal);
    if (!vec_push(&e->b, &s->places, ((alive_place){config, before, depth, held + depth}))) return false;
    if (!map_put(&e->b, &e->un.alive, config, ASKED) || !vec_push(&e->b, &s->heap, added)) return false;
    u32 *heap = s->heap.at;
    for (u32 up; at && s->places.at[heap[up = (at - 1) / 2]].cost > held + depth; at = up) heap[at] = heap[up];
    heap[at] = added;
    return true;
}

static u32 pop_least(alive_search *s) {
    u32 *heap = s->heap.at, top = heap[0], last = heap[--s->heap.n], at = 0;
    for (u32 down; (down = 2 * at + 1) < s->heap.n; at = down) {
        if (down + 1 < s->heap.n && s->places.at[heap[down + 1]].cost < s->places.at[heap[down]].cost) down++;
        if (s->places.at[heap[down]].cost >= s->places.at[last].cost) break;
        heap[at] = heap[down];
    }
    heap[at] = last;
    return top;
}

/* Of one alternative: *found, a byte behind which nothing is held; else its other bytes, in `held`. */
static bool find_way(ge_engine *e, u32 config, byte_set *held, bool *found) {
    cf_alternative a = cf_alternative_at(e, config, 0);
    byte_set first;
    memset(held, 0, sizeof *held);
    *found = false;
    if (!cf_first(e, config, &first)) return false;
    for (u32 k = 0; k < 8; k++) {
        for (u32 left = first.w[k]; left && !*found; left &= left - 1) {
            u32 byte = 32 * k + (u32)__builtin_ctz(left), track = un_step(&e->un, a.track, byte);
            if (track == NONE || !budget_work(&e->b, 1)) return false;
            if (track == UN_HIT) continue;
            if (un_is_held(&e->un, track)) {
                set_add(held, byte);
                continue;
            }
            u32 state = lx_step(&e->lx, a.state >> 1, e->lx.x.class_of[byte]);
            if (state == NONE) return false;
            *found = state != LX_DEAD;
        }
    }
    return true;
}

/* Adds what one more byte leads to: *found, if something of that is not held, or known to be alive. */
static bool push_next(ge_engine *e, alive_search *s, u32 from, u32 byte, bool *found) {
    u32 next = cf_step_on(e, s->places.at[from].config, byte);
    if (next == NONE || !budget_work(&e->b, 1)) return false;
    for (u32 i = 0, n = cf_count(e, next); next != CF_DEAD && i < n && !*found; i++) {
        cf_alternative a = cf_alternative_at(e, next, i);
        if (!un_is_held(&e->un, a.track)) return *found = true;
        a.track = un_reduced(&e->un, a.track);
        u32 single = a.track == NONE ? NONE : cf_tracked(e, a), verdict = single == NONE ? NONE : map_get(&e->un.alive, single);
        if (single == NONE) return false;
        *found = verdict == ALIVE;
        if ((verdict == NONE || verdict == NOT_KNOWN) && !push_place_of(e, s, single, from)) return false;
    }
    return true;
}

/* Keeps what was found out, of `from` and all on the way to it. Of what is not there nothing was known. */
static void keep_verdicts(ge_engine *e, const alive_search *s, u32 from, bool is_over, bool answer) {
    for (u32 i = 0; i < s->places.n; i++)
        (void)map_put(&e->b, &e->un.alive, s->places.at[i].config, is_over && !answer ? RULED_OUT : NOT_KNOWN);
    for (; is_over && answer && from != NONE; from = s->places.at[from].before)
        (void)map_put(&e->b, &e->un.alive, s->places.at[from].config, ALIVE);
}

bool cf_is_alive(ge_engine *e, cf_alternative a, bool *answer) {
    *answer = true;
    if (!un_is_held(&e->un, a.track)) return true;
    a.track = un_reduced(&e->un, a.track);
    u32 config = a.track == NONE ? NONE : cf_tracked(e, a), verdict = config == NONE ? NONE : map_get(&e->un.alive, config), at = NONE;
    if (config == NONE) return false;
    *answer = verdict == ALIVE;
    if (verdict == ALIVE || verdict == RULED_OUT) return true;
    alive_search s = {0};
    bool ok = push_place_of(e, &s, config, NONE), is_unsure = false;
    while (ok && s.heap.n && !*answer) {
        byte_set held;
        at = pop_least(&s);
        ok = budget_work(&e->b, PLACE);
        if (ok && un_is_at_cut(&e->un, cf_alternative_at(e, s.places.at[at].config, 0).track)) {
            is_unsure = true;
            continue;
        }
        ok = ok && find_way(e, s.places.at[at].config, &held, answer);
        for (u32 byte = 0; ok && byte < 256 && !*answer; byte++)
            if (set_has(&held, byte)) ok = push_next(e, &s, at, byte, answer);
    }
    is_unsure = is_unsure && !*answer;
    e->un.is_unsure |= is_unsure;
    keep_verdicts(e, &s, at, ok && !is_unsure, *answer);
    vec_drop(&e->b, &s.places);
    vec_drop(&e->b, &s.heap);
    return ok;
}
