#include "rx_frontier.h"

static u32 bucket_of(const rx_arena *x, rx_id id, u32 length) { return min_u32(length + x->meta.at[id].distance, FRONTIER_BUCKETS - 1); }

static bool add_reached(rx_arena *x, frontier *f, frontier_node node) {
    u32 to = bucket_of(x, node.id, node.length);
    node.next = f->bucket[to].first;
    if (!map_put(x->b, &f->seen, node.id, 0) || !vec_push(x->b, &f->nodes, node)) return false;
    f->bucket[to].first = f->nodes.n - 1;
    if (node.next == NONE) f->bucket[to].last = f->nodes.n - 1;
    f->lowest = min_u32(f->lowest, to);
    return true;
}

bool frontier_open(rx_arena *x, frontier *f, rx_id start) {
    rx_refresh_classes(x);
    *f = (frontier){.lowest = FRONTIER_BUCKETS};
    memset(f->bucket, 0xff, sizeof f->bucket);
    return add_reached(x, f, (frontier_node){.id = start, .parent = NONE});
}

void frontier_drop(rx_arena *x, frontier *f) {
    vec_drop(x->b, &f->nodes);
    map_drop(x->b, &f->seen);
}

u32 frontier_next(frontier *f) {
    while (f->lowest < FRONTIER_BUCKETS && f->bucket[f->lowest].first == NONE) f->lowest++;
    if (f->lowest == FRONTIER_BUCKETS) return NONE;
    u32 index = f->bucket[f->lowest].first;
    f->bucket[f->lowest].first = f->nodes.at[index].next;
    return index;
}

/* Behind all that is as near. */
static void put_back(frontier *f, u32 index) {
    bool is_empty = f->bucket[f->lowest].first == NONE;
    *(is_empty ? &f->bucket[f->lowest].first : &f->nodes.at[f->bucket[f->lowest].last].next) = index;
    f->bucket[f->lowest].last = index;
    f->nodes.at[index].next = NONE;
}

bool frontier_reach(rx_arena *x, frontier *f, rx_id id, u32 parent, u32 byte, u32 tried, bool *is_near) {
    u32 length = f->nodes.at[parent].length + 1;
    *is_near = tried && bucket_of(x, id, length) <= f->lowest;
    if (*is_near) {
        f->nodes.at[parent].tried = tried;
        put_back(f, parent);
    }
    return add_reached(x, f, (frontier_node){.id = id, .parent = parent, .byte = byte, .length = length});
}
