/* vb_file: vocabularies as files. A file is mapped into memory, and the tables are used where they lie: nothing is sorted or copied, and
 * all processes that load it share its pages.
 *
 *     magic | byte order | format | length of the file       8 bytes each
 *     numbers and tables, in the order of visit_all          each padded to 8 bytes
 *     checksum of all before                                 8 bytes
 *
 * Writing, reading and measuring are one walk over the parts of a vocabulary, so that they cannot disagree.
 *
 * Trust. The checksum is verified whenever a file is loaded, and vouches for the indices in the tables, which nobody looks at again. It
 * finds every change within one 64-bit word, and others but for one in 2^64. It is no signature: who means to can make a file with a
 * right checksum that leads the core astray.
 *
 * Invariant: FORMAT changes whenever the same tokens would give other tables. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "vb.h"

enum { FORMAT = 1, BYTE_ORDER_MARK = 0x01020304, N_HEAD = 4, HEAD_BYTES = 32, SUM_BYTES = 8 };

static const u8 MAGIC[8] = "ge-vocab"; /* without its NUL */

/* A walk over the parts of a vocabulary, and the note. */
typedef struct visitor {
    enum { MEASURE, WRITE, READ } job;
    u8 *file;
    size_t at, end; /* of the part that comes next; READ: of the last one */
    bool ok;        /* READ: no part reached beyond the end */
    u8 *note;
    u32 n_note;
} visitor;

/* The place of the next part. NULL: it has none. */
static u8 *next_part(visitor *w, size_t size) {
    size_t begin = w->at, padded = (size + 7) & ~(size_t)7;
    if (w->job == READ && (!w->ok || padded < size || padded > w->end - begin)) return w->ok = false, NULL;
    w->at += padded;
    if (w->job == WRITE) memset(w->file + begin, 0, padded);
    return w->job == MEASURE ? NULL : w->file + begin;
}

static void visit_number(visitor *w, void *number, size_t size) {
    u8 *place = next_part(w, size);
    if (place && w->job == READ) memcpy(number, place, size);
    if (place && w->job == WRITE) memcpy(place, number, size);
}

static void visit_table(visitor *w, void **table, size_t size) {
    u8 *place = next_part(w, size);
    if (w->job == READ) *table = place;
    if (place && w->job == WRITE && size) memcpy(place, *table, size);
}

#define NUMBER(w, x) visit_number((w), &(x), sizeof(x))
#define TABLE(w, pointer, n) visit_table((w), (void **)&(pointer), (size_t)(n) * sizeof *(pointer))
#define VECTOR(w, v) (NUMBER((w), (v).n), TABLE((w), (v).at, (v).n))

static void visit_trie(visitor *w, tt_trie *t) {
    static_assert(sizeof *t == 5 * sizeof t->byte, "all vectors of a trie are listed here; with another one FORMAT changes");
    VECTOR(w, t->byte);
    VECTOR(w, t->first);
    VECTOR(w, t->parent);
    VECTOR(w, t->token);
    VECTOR(w, t->twins);
}

static void visit_all(visitor *w, ge_vocab *v) {
    NUMBER(w, v->n_tokens);
    NUMBER(w, v->width);
    NUMBER(w, v->n_words);
    NUMBER(w, v->n_eos);
    NUMBER(w, v->n_text);
    NUMBER(w, w->n_note);
    NUMBER(w, v->n_hubs);
    NUMBER(w, v->hubs);
    TABLE(w, v->eos, v->n_eos);
    TABLE(w, v->offsets, v->n_tokens + (size_t)1);
    TABLE(w, v->text, v->n_text);
    TABLE(w, w->note, w->n_note);
    visit_trie(w, &v->trie);
    for (u32 i = 0; i < VB_N_SLICES; i++) {
        NUMBER(w, v->slices[i].max_chars);
        TABLE(w, v->slices[i].bits, v->n_words);
        visit_trie(w, &v->slices[i].rest);
    }
    for (u32 n = 0; n < VB_SHORT; n++) TABLE(w, v->up_to[n], v->n_words);
    for (u32 k = 0; k < VB_TIERS; k++) {
        NUMBER(w, v->tiers[k].bytes);
        visit_trie(w, &v->tiers[k].longer);
    }
}

/* Of n bytes, a multiple of 8. Four lanes, which a processor works on at once; a step is a bijection of the lane, and of the word. */
static u64 checksum(const u8 *at, size_t n) {
    u64 lane[4] = {1, 2, 3, 4}, word, sum = n;
    for (size_t i = 0; i < n / 8; i++) {
        memcpy(&word, at + 8 * i, sizeof word);
        u64 mixed = (lane[i & 3] ^ word) * 0x9e3779b97f4a7c15u;
        lane[i & 3] = mixed ^ mixed >> 32;
    }
    for (u32 k = 0; k < 4; k++) sum = mix_u64(sum ^ lane[k]);
    return sum;
}

size_t ge_vocab_save(const ge_vocab *vocab, const uint8_t *note, uint32_t n_note, uint8_t *out) {
    visitor w = {.job = out ? WRITE : MEASURE, .file = out, .at = HEAD_BYTES, .note = (u8 *)(uintptr_t)note, .n_note = n_note};
    visit_all(&w, (ge_vocab *)(uintptr_t)vocab); /* only read */
    if (out) {
        u64 head[N_HEAD] = {0, BYTE_ORDER_MARK, FORMAT, w.at + SUM_BYTES};
        memcpy(head, MAGIC, sizeof MAGIC);
        memcpy(out, head, sizeof head);
        u64 sum = checksum(out, w.at);
        memcpy(out + w.at, &sum, sizeof sum);
    }
    return w.at + SUM_BYTES;
}

/* What is wrong with a file. NULL: nothing. */
static const char *find_fault(const u8 *file, size_t size) {
    u64 head[N_HEAD], sum;
    if (size < sizeof MAGIC || memcmp(file, MAGIC, sizeof MAGIC) != 0) return "it is no saved vocabulary";
    if (size < HEAD_BYTES + SUM_BYTES) return "it is cut off";
    memcpy(head, file, sizeof head);
    if (head[1] != BYTE_ORDER_MARK) return "it was saved on a machine of another byte order";
    if (head[2] != FORMAT) return "it was saved by another version, in a format that this one does not read";
    if (size < head[3]) return "it is cut off";
    if (size > head[3]) return "it goes on after its end";
    memcpy(&sum, file + size - SUM_BYTES, sizeof sum);
    return size % 8 || checksum(file, size - SUM_BYTES) != sum ? "it is damaged: the checksum is wrong" : NULL;
}

ge_status ge_vocab_load(int32_t fd, ge_vocab **out, ge_err *err) {
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return err_set(err, GE_E_ARGUMENT, "it is no file");
    if (file.st_size == 0) return err_set(err, GE_E_ARGUMENT, "it is empty"); /* there is no mapping of 0 bytes */
    ge_vocab *v = vb_new();
    if (!v) return err->status = GE_E_MEMORY;
    size_t size = (size_t)file.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return ge_vocab_free(v), err->status = GE_E_MEMORY;
    v->map = map;
    v->map_size = size;
    const char *fault = find_fault(map, size);
    if (!fault) {
        visitor w = {.job = READ, .file = map, .at = HEAD_BYTES, .end = size - SUM_BYTES, .ok = true};
        visit_all(&w, v);
        v->note = w.note;
        v->n_note = w.n_note;
        if (!w.ok || w.at != w.end) fault = "its parts do not fill it";
    }
    if (fault) return ge_vocab_free(v), err_set(err, GE_E_ARGUMENT, fault);
    *out = v;
    return GE_OK;
}

void vb_unmap(ge_vocab *v) { (void)munmap(v->map, v->map_size); }
