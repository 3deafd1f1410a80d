/* vb_file: vocabularies as files (base/file.h).
 *
 * Trust. The checksum vouches for the indices in the tables, which nobody looks at again: who means to can make a file that leads the core
 * astray. */
#include "../base/file.h"
#include "vb.h"

static const file_kind VOCABULARY = {"ge-vocab", 11, "it is no saved vocabulary"};

typedef struct vb_note {
    u8 *at;
    u32 n;
} vb_note;

static void visit_trie(file_walk *w, tt_trie *t) {
    static_assert(sizeof *t == 5 * sizeof t->byte, "all vectors of a trie are listed here; with another one the format changes");
    FILE_VECTOR(w, t->byte);
    FILE_VECTOR(w, t->first);
    FILE_VECTOR(w, t->parent);
    FILE_VECTOR(w, t->token_from);
    FILE_VECTOR(w, t->tokens);
}

static void visit_all(file_walk *w, ge_vocab *v, vb_note *note) {
    FILE_NUMBER(w, v->n_tokens);
    FILE_NUMBER(w, v->width);
    FILE_NUMBER(w, v->n_words);
    FILE_NUMBER(w, v->n_eos);
    FILE_NUMBER(w, v->n_text);
    FILE_NUMBER(w, note->n);
    FILE_NUMBER(w, v->n_hubs);
    FILE_NUMBER(w, v->hubs);
    FILE_TABLE(w, v->eos, v->n_eos);
    FILE_TABLE(w, v->offsets, v->n_tokens + (size_t)1);
    FILE_TABLE(w, v->text, v->n_text);
    FILE_TABLE(w, v->beyond, v->n_tokens);
    FILE_TABLE(w, v->chars, 32 * (size_t)v->n_words);
    FILE_TABLE(w, v->plain_nodes, v->n_tokens);
    FILE_TABLE(w, note->at, note->n);
    visit_trie(w, &v->trie);
    for (u32 i = 0; i < VB_N_SLICES; i++) {
        FILE_NUMBER(w, v->slices[i].max_chars);
        FILE_TABLE(w, v->slices[i].bits, v->n_words);
        visit_trie(w, &v->slices[i].rest);
    }
    for (u32 n = 0; n < VB_SHORT; n++) FILE_TABLE(w, v->up_to[n], v->n_words);
    for (u32 k = 1; k < v->n_hubs; k++) FILE_TABLE(w, v->hub_bits[k], v->n_words);
    for (u32 k = 0; k < VB_TIERS; k++) {
        FILE_NUMBER(w, v->tiers[k].bytes);
        visit_trie(w, &v->tiers[k].longer);
    }
    FILE_NUMBER(w, v->shapes.kind_of);
    FILE_VECTOR(w, v->shapes.kind);
    FILE_VECTOR(w, v->shapes.first);
    FILE_VECTOR(w, v->shapes.token_from);
    FILE_VECTOR(w, v->shapes.tokens);
    FILE_VECTOR(w, v->shapes.member_from);
    FILE_VECTOR(w, v->shapes.members);
    FILE_VECTOR(w, v->shapes.below);
    FILE_VECTOR(w, v->shapes.under);
    FILE_VECTOR(w, v->shapes.height);
}

size_t ge_vocab_save(const ge_vocab *vocab, const uint8_t *text, uint32_t n_text, uint8_t *out) {
    file_walk w = file_begin(out);
    vb_note note = {(u8 *)(uintptr_t)text, n_text};
    visit_all(&w, (ge_vocab *)(uintptr_t)vocab, &note); /* only read */
    return file_finish(&w, &VOCABULARY);
}

ge_status ge_vocab_load(int32_t fd, ge_vocab **out, ge_err *err) {
    ge_vocab *v = vb_new();
    file_walk w;
    vb_note note = {0};
    if (!v) return err->status = GE_E_MEMORY;
    const char *fault = file_map(fd, &v->map, &v->map_size);
    if (!fault) fault = file_open(&w, v->map, v->map_size, &VOCABULARY);
    if (!fault) {
        visit_all(&w, v, &note);
        v->note = note.at;
        v->n_note = note.n;
        fault = file_close(&w);
    }
    if (fault) return ge_vocab_free(v), err_set(err, GE_E_ARGUMENT, fault);
    if (!vb_make_openings(v)) return ge_vocab_free(v), err->status = GE_E_MEMORY;
    *out = v;
    return GE_OK;
}

void vb_unmap(ge_vocab *v) { file_unmap(v->map, v->map_size); }
