#include "intern.h"

static u32 hash_words(const u32 *words, u32 n) {
    u64 h = 0x9e3779b97f4a7c15u ^ n;
    for (u32 i = 0; i < n; i++) h = (h ^ words[i]) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    return (u32)mix_u64(h);
}

/* Slot that holds the sequence, or the free slot where it belongs. */
static u32 find_slot(const intern_table *t, const u32 *words, u32 n) {
    u32 slot = hash_words(words, n) & (t->n_slots - 1);
    for (; t->slots[slot] != NONE; slot = (slot + 1) & (t->n_slots - 1)) {
        u32 id = t->slots[slot];
        if (intern_length(t, id) == n && memcmp(intern_words(t, id), words, n * sizeof *words) == 0) break;
    }
    return slot;
}

static bool grow_slots(budget *b, intern_table *t) {
    u32 n = t->n_slots ? t->n_slots * 2 : 64;
    u32 *slots = mem_resize(b, NULL, 0, n * sizeof *slots);
    if (!slots) return false;
    mem_resize(b, t->slots, t->n_slots * sizeof *slots, 0);
    memset(slots, 0xff, n * sizeof *slots);
    t->slots = slots;
    t->n_slots = n;
    for (u32 id = 0; id < intern_count(t); id++) t->slots[find_slot(t, intern_words(t, id), intern_length(t, id))] = id;
    return true;
}

u32 intern(budget *b, intern_table *t, const u32 *words, u32 n, bool *fresh) {
    if (fresh) *fresh = false;
    if (t->start.n == 0 && !vec_push(b, &t->start, 0)) return NONE;
    if ((intern_count(t) + 1) * 2 > t->n_slots && !grow_slots(b, t)) return NONE;
    u32 slot = find_slot(t, words, n);
    if (t->slots[slot] != NONE) return t->slots[slot];
    if (!vec_reserve(b, &t->pool, n) || !vec_reserve(b, &t->start, 1)) return NONE;
    if (n) memcpy(t->pool.at + t->pool.n, words, n * sizeof *words);
    t->pool.n += n;
    t->start.at[t->start.n++] = t->pool.n;
    if (fresh) *fresh = true;
    return t->slots[slot] = intern_count(t) - 1;
}

void intern_undo(intern_table *t) {
    u32 id = intern_count(t) - 1;
    u32 slot = find_slot(t, intern_words(t, id), intern_length(t, id));
    t->slots[slot] = NONE; /* the newest id is the last of its probe chain: nothing was put behind it */
    t->start.n--;
    t->pool.n = t->start.at[t->start.n - 1];
}

bool intern_copy(budget *b, intern_table *to, const intern_table *from) {
    memset(to, 0, sizeof *to);
    if (!vec_copy(b, &to->pool, &from->pool) || !vec_copy(b, &to->start, &from->start)) return false;
    if (from->n_slots) {
        to->slots = mem_resize(b, NULL, 0, from->n_slots * sizeof *to->slots);
        if (!to->slots) return false;
        memcpy(to->slots, from->slots, from->n_slots * sizeof *to->slots);
        to->n_slots = from->n_slots;
    }
    return true;
}

void intern_drop(budget *b, intern_table *t) {
    vec_drop(b, &t->pool);
    vec_drop(b, &t->start);
    mem_resize(b, t->slots, t->n_slots * sizeof *t->slots, 0);
    memset(t, 0, sizeof *t);
}

u32 map_get(const word_map *m, u64 key) {
    if (m->n_slots == 0) return NONE;
    for (u32 slot = (u32)mix_u64(key) & (m->n_slots - 1); m->keys[slot] != UINT64_MAX; slot = (slot + 1) & (m->n_slots - 1))
        if (m->keys[slot] == key) return m->values[slot];
    return NONE;
}

static void map_place(word_map *m, u64 key, u32 value) {
    u32 slot = (u32)mix_u64(key) & (m->n_slots - 1);
    while (m->keys[slot] != UINT64_MAX && m->keys[slot] != key) slot = (slot + 1) & (m->n_slots - 1);
    if (m->keys[slot] != key) m->n++;
    m->keys[slot] = key;
    m->values[slot] = value;
}

bool map_put(budget *b, word_map *m, u64 key, u32 value) {
    if ((m->n + 1) * 2 > m->n_slots) {
        word_map big = {.n = 0, .n_slots = m->n_slots ? m->n_slots * 2 : 64};
        big.keys = mem_resize(b, NULL, 0, big.n_slots * sizeof *big.keys);
        if (!big.keys) return false;
        big.values = mem_resize(b, NULL, 0, big.n_slots * sizeof *big.values);
        if (!big.values) return mem_resize(b, big.keys, big.n_slots * sizeof *big.keys, 0), false;
        memset(big.keys, 0xff, big.n_slots * sizeof *big.keys);
        for (u32 i = 0; i < m->n_slots; i++)
            if (m->keys[i] != UINT64_MAX) map_place(&big, m->keys[i], m->values[i]);
        map_drop(b, m);
        *m = big;
    }
    map_place(m, key, value);
    return true;
}

bool map_copy(budget *b, word_map *to, const word_map *from) {
    memset(to, 0, sizeof *to);
    if (from->n_slots == 0) return true;
    to->keys = mem_resize(b, NULL, 0, from->n_slots * sizeof *to->keys);
    if (!to->keys) return false;
    to->n_slots = from->n_slots; /* so that map_drop counts right */
    to->values = mem_resize(b, NULL, 0, from->n_slots * sizeof *to->values);
    if (!to->values) {
        mem_resize(b, to->keys, from->n_slots * sizeof *to->keys, 0);
        memset(to, 0, sizeof *to);
        return false;
    }
    to->n = from->n;
    memcpy(to->keys, from->keys, from->n_slots * sizeof *to->keys);
    memcpy(to->values, from->values, from->n_slots * sizeof *to->values);
    return true;
}

void map_drop(budget *b, word_map *m) {
    mem_resize(b, m->keys, m->n_slots * sizeof *m->keys, 0);
    mem_resize(b, m->values, m->n_slots * sizeof *m->values, 0);
    memset(m, 0, sizeof *m);
}
