#include "intern.h"

static u32 hash_words(const u32 *words, u32 n) {
    u64 h = 0x9e3779b97f4a7c15u ^ n;
    u32 i = 0;
    for (; i + 2 <= n; i += 2) h = (h ^ words[i] ^ (u64)words[i + 1] << 32) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    if (i < n) h = (h ^ words[i]) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    return (u32)mix_u64(h);
}

u32 intern(budget *b, intern_table *t, const u32 *words, u32 n, bool *fresh) {
    u32 hash = hash_words(words, n);
    if (fresh) *fresh = false;
    for (u32 id, at = hash; (id = index_next(&t->index, hash, &at)) != NONE;)
        if (intern_length(t, id) == n && (n == 0 || memcmp(intern_words(t, id), words, n * sizeof *words) == 0)) return id;
    if (t->start.n == 0 && !vec_push(b, &t->start, 0)) return NONE;
    if (!vec_reserve(b, &t->pool, n) || !vec_reserve(b, &t->start, 1) || !index_reserve(b, &t->index, hash)) return NONE;
    if (n) memcpy(t->pool.at + t->pool.n, words, n * sizeof *words);
    t->pool.n += n;
    t->start.at[t->start.n++] = t->pool.n;
    index_add(&t->index, hash, intern_count(t) - 1);
    if (fresh) *fresh = true;
    return intern_count(t) - 1;
}

void intern_undo(intern_table *t) {
    u32 id = intern_count(t) - 1;
    index_remove(&t->index, hash_words(intern_words(t, id), intern_length(t, id)), id);
    t->start.n--;
    t->pool.n = t->start.at[t->start.n - 1];
}

bool intern_copy(budget *b, intern_table *to, const intern_table *from) {
    memset(to, 0, sizeof *to);
    return vec_copy(b, &to->pool, &from->pool) && vec_copy(b, &to->start, &from->start) && index_copy(b, &to->index, &from->index);
}

void intern_drop(budget *b, intern_table *t) {
    vec_drop(b, &t->pool);
    vec_drop(b, &t->start);
    index_drop(b, &t->index);
}

static u32 hash_key(u64 key) { return (u32)mix_u64(key); }

/* The entry with the key, or NONE. */
static u32 find_entry(const word_map *m, u64 key, u32 hash) {
    u32 i, at = hash;
    while ((i = index_next(&m->index, hash, &at)) != NONE && m->at[i].key != key) {}
    return i;
}

u32 map_get(const word_map *m, u64 key) {
    u32 i = find_entry(m, key, hash_key(key));
    return i == NONE ? NONE : m->at[i].value;
}

bool map_put(budget *b, word_map *m, u64 key, u32 value) {
    u32 hash = hash_key(key), i = find_entry(m, key, hash);
    if (i != NONE) return m->at[i].value = value, true;
    if (!index_reserve(b, &m->index, hash) || !vec_push(b, m, ((map_entry){key, value}))) return false;
    index_add(&m->index, hash, m->n - 1);
    return true;
}

bool map_copy(budget *b, word_map *to, const word_map *from) {
    memset(to, 0, sizeof *to);
    return vec_copy(b, to, from) && index_copy(b, &to->index, &from->index);
}

void map_drop(budget *b, word_map *m) {
    vec_drop(b, m);
    index_drop(b, &m->index);
}
