#include "index.h"

static size_t segment_bytes(u32 n_slots) { return sizeof(index_segment) + n_slots * sizeof(index_slot); }

static index_segment *new_segment(budget *b, u32 n_slots, u32 depth) {
    index_segment *s = mem_resize(b, NULL, 0, segment_bytes(n_slots));
    if (!s) return NULL;
    *s = (index_segment){.depth = depth, .mask = n_slots - 1};
    memset(s->slot, 0xff, n_slots * sizeof *s->slot);
    return s;
}

static void drop_segment(budget *b, index_segment *s) {
    if (s) mem_resize(b, s, segment_bytes(s->mask + 1), 0);
}

static void place(index_segment *s, index_slot entry) {
    u32 at = entry.hash;
    while (s->slot[at & s->mask].id != NONE) at++;
    s->slot[at & s->mask] = entry;
    s->n++;
}

/* The pointer to the segment of a hash; the only one, if the segment is as deep as the index. */
static index_segment **pointer_to(hash_index *x, u32 hash) {
    return x->depth ? &x->of.at[hash >> (32 - x->depth)] : &x->of.only;
}

static bool grow_segment(budget *b, index_segment **at, u32 n_slots) {
    index_segment *old = *at, *s = new_segment(b, n_slots, old ? old->depth : 0);
    if (!s) return false;
    for (u32 i = 0; old && i <= old->mask; i++)
        if (old->slot[i].id != NONE) place(s, old->slot[i]);
    drop_segment(b, old);
    *at = s;
    return true;
}

static bool double_directory(budget *b, hash_index *x) {
    u32 n = (u32)1 << x->depth;
    index_segment **at = mem_resize(b, NULL, 0, 2 * n * sizeof *at);
    if (!at) return false;
    for (u32 i = 0; i < n; i++) at[2 * i] = at[2 * i + 1] = x->depth ? x->of.at[i] : x->of.only;
    if (x->depth) mem_resize(b, x->of.at, n * sizeof *at, 0);
    x->of.at = at;
    x->depth++;
    return true;
}

/* Splits the segment of a hash in two. */
static bool split_segment(budget *b, hash_index *x, u32 hash) {
    index_segment *old = index_segment_of(x, hash);
    u32 depth = old->depth + 1;
    if (old->depth == x->depth && !double_directory(b, x)) return false;
    index_segment *half[2] = {new_segment(b, INDEX_SLOTS, depth), new_segment(b, INDEX_SLOTS, depth)};
    if (!half[0] || !half[1]) return drop_segment(b, half[0]), drop_segment(b, half[1]), false;
    for (u32 i = 0; i <= old->mask; i++)
        if (old->slot[i].id != NONE) place(half[old->slot[i].hash >> (32 - depth) & 1], old->slot[i]);
    u32 width = (u32)1 << (x->depth - depth), begin = hash >> (32 - x->depth) & ~(2 * width - 1);
    for (u32 i = 0; i < 2 * width; i++) x->of.at[begin + i] = half[i >= width];
    drop_segment(b, old);
    return true;
}

bool index_reserve(budget *b, hash_index *x, u32 hash) {
    const index_segment *s = index_segment_of(x, hash);
    if (!s) return grow_segment(b, &x->of.only, INDEX_FIRST_SLOTS);
    while ((s->n + 1) * 2 > s->mask + 1) { /* mostly once: a split may leave all on one side */
        bool grows = s->mask + 1 < INDEX_SLOTS || s->depth == INDEX_DEPTH;
        if (grows ? !grow_segment(b, pointer_to(x, hash), (s->mask + 1) * INDEX_GROWTH) : !split_segment(b, x, hash)) return false;
        s = index_segment_of(x, hash);
    }
    return true;
}

void index_add(hash_index *x, u32 hash, u32 id) { place(index_segment_of(x, hash), (index_slot){hash, id}); }

/* What comes behind in the same run of slots moves up, where its hash lets it. */
void index_remove(hash_index *x, u32 hash, u32 id) {
    index_segment *s = index_segment_of(x, hash);
    u32 hole = hash;
    while (s->slot[hole & s->mask].id != id) hole++;
    for (u32 at = hole + 1; s->slot[at & s->mask].id != NONE; at++) {
        index_slot entry = s->slot[at & s->mask];
        if (((at - entry.hash) & s->mask) < at - hole) continue; /* it would be before its place */
        s->slot[hole & s->mask] = entry;
        hole = at;
    }
    s->slot[hole & s->mask].id = NONE;
    s->n--;
}

static index_segment *copy_segment(budget *b, const index_segment *from) {
    size_t size = segment_bytes(from->mask + 1);
    index_segment *s = mem_resize(b, NULL, 0, size);
    return s ? memcpy(s, from, size) : NULL;
}

/* On failure *to is an index of less. */
bool index_copy(budget *b, hash_index *to, const hash_index *from) {
    *to = (hash_index){0};
    if (from->depth == 0) return !from->of.only || (to->of.only = copy_segment(b, from->of.only));
    u32 n = (u32)1 << from->depth;
    if (!(to->of.at = mem_resize(b, NULL, 0, n * sizeof *to->of.at))) return false;
    memset(to->of.at, 0, n * sizeof *to->of.at);
    to->depth = from->depth;
    for (u32 i = 0; i < n; i++) {
        bool again = i && from->of.at[i] == from->of.at[i - 1];
        if (!(to->of.at[i] = again ? to->of.at[i - 1] : copy_segment(b, from->of.at[i]))) return false;
    }
    return true;
}

void index_drop(budget *b, hash_index *x) {
    u32 n = x->depth ? (u32)1 << x->depth : 0;
    for (u32 i = 0; i < n; i++)
        if (i + 1 == n || x->of.at[i] != x->of.at[i + 1]) drop_segment(b, x->of.at[i]);
    if (n) mem_resize(b, x->of.at, n * sizeof *x->of.at, 0);
    else drop_segment(b, x->of.only);
    *x = (hash_index){0};
}
