/* stable: an array that grows and never moves, so that readers need no lock.
 *
 *     chunk 0: 64 elements   chunk 1: 128   chunk 2: 256   ...
 *
 * A chunk is not touched when it is made: an element is filled when its turn comes, so no push costs more than the others.
 *
 * An element is published by storing its id somewhere with release order; who loads that id with acquire order sees the element. */
#ifndef GE_STABLE_H
#define GE_STABLE_H

#include <stdatomic.h>

#include "base.h"

#define STABLE_CHUNKS 26 /* 64 * 2^26 elements */
#define STABLE_FIRST 64

typedef struct stable_array {
    u32 element; /* size of one */
    u32 n;
    void *_Atomic chunk[STABLE_CHUNKS]; /* the first few, where most are, lie beside the size */
} stable_array;

static inline u32 stable_chunk(u32 i) { return 31u - (u32)__builtin_clz(i / STABLE_FIRST + 1); }
static inline u32 stable_chunk_begin(u32 k) { return (((u32)1 << k) - 1) * STABLE_FIRST; }

static inline void *stable_at(const stable_array *a, u32 i) {
    u32 k = stable_chunk(i);
    char *chunk = atomic_load_explicit(&((stable_array *)(uintptr_t)a)->chunk[k], memory_order_acquire);
    return chunk + (size_t)(i - stable_chunk_begin(k)) * a->element;
}

/* One more element, of which each byte is `fill`. Its address, or NULL on failure. */
static inline void *stable_push_filled(budget *b, stable_array *a, int fill) {
    u32 k = stable_chunk(a->n);
    if (k >= STABLE_CHUNKS) return budget_limit(b, LIMIT(max_memory_bytes)), NULL;
    if (a->n == stable_chunk_begin(k) && !atomic_load_explicit(&a->chunk[k], memory_order_relaxed)) {
        size_t size = ((size_t)STABLE_FIRST << k) * a->element;
        void *chunk = mem_resize(b, NULL, 0, size);
        if (!chunk) return NULL;
        atomic_store_explicit(&a->chunk[k], chunk, memory_order_release);
    }
    return memset(stable_at(a, a->n++), fill, a->element);
}

static inline void *stable_push(budget *b, stable_array *a) { return stable_push_filled(b, a, 0); }

static inline void stable_drop(budget *b, stable_array *a) {
    for (u32 k = 0; k < STABLE_CHUNKS; k++) {
        void *chunk = atomic_load_explicit(&a->chunk[k], memory_order_relaxed);
        if (chunk) mem_resize(b, chunk, ((size_t)STABLE_FIRST << k) * a->element, 0);
    }
}

#endif
