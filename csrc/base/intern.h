/* intern: hash-consing of short sequences of words. Equal content <=> equal id, so equality is one comparison everywhere above.
 *
 *     pool    [ content of id 0 | content of id 1 | ... ]       start[id] .. start[id + 1]
 *     index   hash -> ids                                        index.h
 *
 * Full content is compared on every hit: the hash only finds candidates. Content never changes; ids are dense from 0. */
#ifndef GE_INTERN_H
#define GE_INTERN_H

#include "index.h"

typedef struct intern_table {
    VEC(u32) pool;
    VEC(u32) start; /* n + 1 offsets once something is in */
    hash_index index;
} intern_table;

/* Id of the sequence, new or known (*fresh tells; may be NULL). NONE on failure. `words` must not point into the pool. */
u32 intern(budget *b, intern_table *t, const u32 *words, u32 n, bool *fresh);

static inline u32 intern_count(const intern_table *t) { return t->start.n ? t->start.n - 1 : 0; }
static inline u32 intern_length(const intern_table *t, u32 id) { return t->start.at[id + 1] - t->start.at[id]; }
static inline const u32 *intern_words(const intern_table *t, u32 id) { return t->pool.at + t->start.at[id]; } /* until the next intern */

/* Forgets the newest id (its owner could not be completed). */
void intern_undo(intern_table *t);

bool intern_copy(budget *b, intern_table *to, const intern_table *from);
void intern_drop(budget *b, intern_table *t);

/* Map from 64-bit keys to words: memo tables. */
typedef struct map_entry {
    u64 key;
    u32 value;
} map_entry;

typedef struct word_map { /* a VEC of entries, and their index */
    map_entry *at;
    u32 n, cap;
    hash_index index;
} word_map;

u32 map_get(const word_map *m, u64 key); /* NONE if absent */
bool map_put(budget *b, word_map *m, u64 key, u32 value);
bool map_copy(budget *b, word_map *to, const word_map *from);
void map_drop(budget *b, word_map *m);

#endif
