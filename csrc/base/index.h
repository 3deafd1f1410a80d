/* index: ids by hash. No insertion waits for a large table to be rehashed.
 *
 * Idea (extendible hashing: Fagin, Nievergelt, Pippenger, Strong 1979). An index is a directory of small tables, its segments. The highest
 * bits of a hash choose the segment, the lowest the slot in it (open addressing, linear probing). A small index is one segment, which
 * grows. A full segment of INDEX_SLOTS is split in two by one more bit of the hash; where the directory has no such bit, it doubles.
 *
 *     directory, depth 2       00    01    10    11
 *                               |     |      \   /
 *     segments                  2     2        1        bits that all hashes in it share: their depth
 *
 * Hashes are kept beside the ids: nobody looks at what the ids stand for to move them.
 *
 * Invariants. A segment of depth d has 2^(depth - d) neighbouring entries in the directory, and at most half of its slots in use.
 * Cost. An insertion: at worst a split (INDEX_SLOTS), and rarely a copy of the directory: 8 bytes for some hundred ids. Only where a
 * thousand hashes agree in INDEX_DEPTH bits, which does not happen by chance, does a segment grow on. */
#ifndef GE_INDEX_H
#define GE_INDEX_H

#include "base.h"

enum { INDEX_FIRST_SLOTS = 32, INDEX_GROWTH = 4, INDEX_SLOTS = 2048, INDEX_DEPTH = 20 };

typedef struct index_slot {
    u32 hash, id; /* id NONE: free */
} index_slot;

typedef struct index_segment {
    u32 depth, n, mask; /* ids in it; slots - 1 */
    index_slot slot[];
} index_segment;

typedef struct hash_index {
    union {
        index_segment *only; /* depth 0; NULL: no ids yet */
        index_segment **at;  /* 2^depth */
    } of;
    u32 depth;
} hash_index;

static inline index_segment *index_segment_of(const hash_index *x, u32 hash) {
    return x->depth ? x->of.at[hash >> (32 - x->depth)] : x->of.only;
}

/* The ids with this hash one by one, then NONE. *at begins with the hash. */
static inline u32 index_next(const hash_index *x, u32 hash, u32 *at) {
    const index_segment *s = index_segment_of(x, hash);
    if (!s) return NONE;
    for (;;) {
        const index_slot *slot = &s->slot[(*at)++ & s->mask];
        if (slot->hash == hash || slot->id == NONE) return slot->id;
    }
}

bool index_reserve(budget *b, hash_index *x, u32 hash); /* room for one more id with this hash */
void index_add(hash_index *x, u32 hash, u32 id);        /* after index_reserve */
void index_remove(hash_index *x, u32 hash, u32 id);
bool index_copy(budget *b, hash_index *to, const hash_index *from);
void index_drop(budget *b, hash_index *x);

#endif
