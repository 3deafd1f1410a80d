/* vb_rows: the bits and needs of what is kept with a vocabulary, equal ones once.
 *
 * Idea. Grammars spell the lexemes around a text in many ways, all keys but these, say, or a text of at most so many characters; what
 * tokens stay inside is mostly the same. Of 2,030 rows of bits that the schemas of MaskBench leave, 585 differ, and they are most of what a
 * store holds. So a row is looked up by its content when its entry comes to the store, and goes with the last entry that has it.
 *
 * Invariants. No two rows have the same content. A row is counted once, in
 * the bytes of the store; an entry counts the rest. All under the lock. */
#include "../base/wide.h"
#include "vb.h"

static size_t row_bytes(const vb_row *row) { return row->size + sizeof *row; }

static vb_row *find_row(const vb_store *s, const void *content, size_t size, u32 hash) {
    for (u32 at = hash, id; (id = index_next(&s->row_index, hash, &at)) != NONE;)
        if (s->rows.at[id]->size == size && memcmp(s->rows.at[id]->at, content, size) == 0) return s->rows.at[id];
    return NULL;
}

static vb_row *add_row(ge_vocab *v, void *content, size_t size, u32 hash) {
    vb_store *s = &v->store;
    vb_row *row =
        vec_reserve(&v->b, &s->rows, 1) && index_reserve(&v->b, &s->row_index, hash) ? mem_resize(&v->b, NULL, 0, sizeof *row) : NULL;
    if (!row) return NULL;
    *row = (vb_row){.at = content, .size = size, .hash = hash, .id = s->rows.n};
    index_add(&s->row_index, hash, s->rows.n);
    s->rows.at[s->rows.n++] = row;
    s->bytes += row_bytes(row);
    return row;
}

vb_row *vb_take_row(ge_vocab *v, void *content, size_t size) {
    u32 hash = (u32)wide_hash(content, size / sizeof(u32));
    vb_row *row = find_row(&v->store, content, size, hash);
    if (row) mem_resize(&v->b, content, size, 0);
    else row = add_row(v, content, size, hash);
    if (row) row->users++;
    return row;
}

void vb_release_row(ge_vocab *v, vb_row *row) {
    vb_store *s = &v->store;
    if (--row->users) return;
    vb_row *last = s->rows.at[--s->rows.n];
    index_remove(&s->row_index, row->hash, row->id);
    if (last != row) { /* it moves into the gap */
        index_remove(&s->row_index, last->hash, last->id);
        last->id = row->id;
        s->rows.at[last->id] = last;
        index_add(&s->row_index, last->hash, last->id);
    }
    s->bytes -= row_bytes(row);
    mem_resize(&v->b, row->at, row->size, 0);
    mem_resize(&v->b, row, sizeof *row, 0);
}

void vb_drop_rows(ge_vocab *v) {
    assert(v->store.rows.n == 0);
    vec_drop(&v->b, &v->store.rows);
    index_drop(&v->b, &v->store.row_index);
}
