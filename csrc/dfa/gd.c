/* gd: guides. One text under a token automaton: its state, and the states before it, as many as can be taken back.
 *
 *     [ automaton | state | n | next | capacity | most | ring: the last n states, as narrow as the states of the automaton ]
 *
 * A guide is a record in memory of the caller: it costs what it holds, and nothing has to be freed. A step is one call, for the transition,
 * the history and the mask. Where the ring is full and not yet `most` long, the step is not done: the caller moves the guide to more
 * memory.
 *
 * Invariants: n <= capacity <= most (two threads may leave n one larger); next < capacity,
 * or both are 0. Two threads at one guide can mix up its states, but not leave the ring. */
#include <stddef.h>

#include "../base/wide.h"
#include "td.h"

typedef struct gd_guide {
    const ge_dfa *dfa; /* borrowed */
    u32 state;
    u32 n;    /* states that can be taken back */
    u32 next; /* place in the ring of the state that is left next */
    u32 capacity, most;
    u8 ring[];
} gd_guide;

static gd_guide *as_guide(const uint64_t *words) { return (gd_guide *)(uintptr_t)words; }

static u32 ring_width(const ge_dfa *t) {
    return t->n_states < UINT8_MAX ? sizeof(u8) : t->n_states < UINT16_MAX ? sizeof(u16) : sizeof(u32);
}

static u32 ring_get(const gd_guide *g, u32 place) {
    return td_id((td_ids){(u8 *)(uintptr_t)g->ring, ring_width(g->dfa)}, place);
}

static void ring_put(gd_guide *g, u32 state) {
    u32 width = ring_width(g->dfa), place = g->next;
    if (g->capacity == 0) return;
    if (width == sizeof(u8)) g->ring[place] = (u8)state;
    else if (width == sizeof(u16)) ((u16 *)(void *)g->ring)[place] = (u16)state;
    else ((u32 *)(void *)g->ring)[place] = state;
    g->next = place + 1 == g->capacity ? 0 : place + 1;
    if (g->n < g->capacity) g->n++;
}

/* The place of the state of `back` steps ago; 1 <= back <= n. */
static u32 ring_place(const gd_guide *g, u32 back) { return g->next >= back ? g->next - back : g->next + g->capacity - back; }

size_t ge_guide_words(const ge_dfa *t, uint32_t capacity) { return (offsetof(gd_guide, ring) + (size_t)capacity * ring_width(t) + 7) / 8; }

void ge_guide_init(uint64_t *guide, const ge_dfa *t, uint32_t capacity, uint32_t most, const uint64_t *from) {
    gd_guide *g = as_guide(guide);
    const gd_guide *old = as_guide(from);
    g->dfa = t;
    g->state = old ? old->state : 0;
    g->n = g->next = 0;
    g->capacity = capacity;
    g->most = most;
    if (!old) return;
    for (u32 back = min_u32(old->n, min_u32(old->capacity, capacity)); back > 0; back--) ring_put(g, ring_get(old, ring_place(old, back)));
}

uint32_t ge_guide_state(const uint64_t *guide) { return as_guide(guide)->state; }
int32_t ge_guide_accepts(const uint64_t *guide) { return ge_dfa_accepts(as_guide(guide)->dfa, as_guide(guide)->state); }
uint32_t ge_guide_before(const uint64_t *guide) { return as_guide(guide)->n; }
uint32_t ge_guide_most(const uint64_t *guide) { return as_guide(guide)->most; }

int32_t ge_guide_advance(uint64_t *guide, int64_t token, uint32_t *mask) {
    gd_guide *g = as_guide(guide);
    bool all;
    if (g->n >= g->capacity && g->capacity < g->most) return GE_GUIDE_FULL;
    u32 to = token < 0 ? NONE : td_next(g->dfa, g->state, (u64)token);
    if (to == NONE) return GE_GUIDE_REFUSED;
    ring_put(g, g->state);
    g->state = to;
    if (mask) td_fill(g->dfa, to, mask, &all);
    return 0;
}

int32_t ge_guide_rollback(uint64_t *guide, uint32_t n) {
    gd_guide *g = as_guide(guide);
    if (n > g->n || n > g->capacity) return GE_GUIDE_REFUSED;
    if (n == 0) return 0;
    g->next = ring_place(g, n);
    g->state = ring_get(g, g->next);
    g->n -= n;
    return 0;
}

void ge_guide_fill_mask(const uint64_t *guide, uint32_t *mask) {
    const gd_guide *g = as_guide(guide);
    bool all;
    td_fill(g->dfa, g->state, mask, &all);
}

int32_t ge_guide_fill_mask_at(const uint64_t *guide, uintptr_t address, size_t n) {
    u32 n_words = as_guide(guide)->dfa->n_words, *mask = (u32 *)address;
    if (address == 0 || address % sizeof(u32) || n < n_words || n > (UINTPTR_MAX - address) / sizeof(u32)) return GE_GUIDE_REFUSED;
    ge_guide_fill_mask(guide, mask);
    wide_clear(mask + n_words, n - n_words);
    return 0;
}
