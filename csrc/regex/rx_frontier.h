/* What a search among derivatives has reached and not yet followed, by the expected length of a way through it (A*, Hart, Nilsson, Raphael
 * 1968): the length of the way there and a guess at the rest, the `distance` of an expression. The guess may be too high, since any way
 * will do.
 *
 *     while ((at = frontier_next(&f)) != NONE)
 *         for (c = f.nodes.at[at].tried; c < number of classes; c++)
 *             if (the derivative by c has not been seen)
 *                 if (frontier_reach(x, &f, derivative, at, byte, c + 1, &is_near) && is_near) break;
 *
 * A derivative that is as near as the node itself is followed at once: the node is put back behind it, with the classes that have been
 * tried. Invariant: each expression is reached once, and no bucket below `lowest` has a node. */
#ifndef GE_RX_FRONTIER_H
#define GE_RX_FRONTIER_H
#include "rx.h"

enum { FRONTIER_BUCKETS = 512 };

typedef struct frontier_node {
    rx_id id;
    u32 parent, byte, length; /* index; the last byte, and how many there are of the way to it */
    u32 next;                 /* index: what else is in its bucket */
    u32 tried;                /* classes of bytes */
} frontier_node;

typedef struct frontier {
    VEC(frontier_node) nodes;
    word_map seen;
    struct {
        u32 first, last; /* nodes: indices; of an empty bucket the first is NONE */
    } bucket[FRONTIER_BUCKETS]; /* by expected length; the last one has all that are longer */
    u32 lowest;
} frontier;

bool frontier_open(rx_arena *x, frontier *f, rx_id start);
void frontier_drop(rx_arena *x, frontier *f);

static inline bool frontier_has(const frontier *f, rx_id id) { return map_get(&f->seen, id) != NONE; }

/* The index of a nearest node, which is taken out, or NONE. */
u32 frontier_next(frontier *f);

/* Adds an expression that has not been seen. `tried`: from which class its parent goes on, if that is put back; 0: it is not to be. */
bool frontier_reach(rx_arena *x, frontier *f, rx_id id, u32 parent, u32 byte, u32 tried, bool *is_near);
#endif
