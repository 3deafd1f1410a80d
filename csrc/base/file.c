#include "file.h"

#include <sys/mman.h>
#include <sys/stat.h>

enum { BYTE_ORDER_MARK = 0x01020304, N_HEAD = 4, HEAD_BYTES = 32, SUM_BYTES = 8, MAGIC_BYTES = 8 };

/* The place of the next part. NULL: it has none. */
static u8 *next_part(file_walk *w, size_t size) {
    size_t begin = w->at, padded = (size + 7) & ~(size_t)7;
    if (w->job == FILE_READ && (!w->ok || padded < size || padded > w->end - begin)) return w->ok = false, NULL;
    w->at += padded;
    if (w->job == FILE_WRITE) memset(w->file + begin, 0, padded);
    return w->job == FILE_MEASURE ? NULL : w->file + begin;
}

void file_number(file_walk *w, void *number, size_t size) {
    u8 *place = next_part(w, size);
    if (place && w->job == FILE_READ) memcpy(number, place, size);
    if (place && w->job == FILE_WRITE) memcpy(place, number, size);
}

void file_table(file_walk *w, void **table, size_t size) {
    u8 *place = next_part(w, size);
    if (w->job == FILE_READ) *table = place;
    if (place && w->job == FILE_WRITE && size) memcpy(place, *table, size);
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

file_walk file_begin(u8 *out) { return (file_walk){.job = out ? FILE_WRITE : FILE_MEASURE, .file = out, .at = HEAD_BYTES}; }

size_t file_finish(file_walk *w, const file_kind *kind) {
    if (w->job == FILE_WRITE) {
        u64 head[N_HEAD] = {0, BYTE_ORDER_MARK, kind->format, w->at + SUM_BYTES};
        memcpy(head, kind->magic, MAGIC_BYTES);
        memcpy(w->file, head, sizeof head);
        u64 sum = checksum(w->file, w->at);
        memcpy(w->file + w->at, &sum, sizeof sum);
    }
    return w->at + SUM_BYTES;
}

const char *file_map(int32_t fd, void **map, size_t *size) {
    struct stat file;
    *map = NULL;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return "it is no file";
    if (file.st_size == 0) return "it is empty"; /* there is no mapping of 0 bytes */
    *size = (size_t)file.st_size;
    *map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (*map != MAP_FAILED) return NULL;
    *map = NULL;
    return "it cannot be mapped into memory";
}

void file_unmap(void *map, size_t size) { (void)munmap(map, size); }

const char *file_open(file_walk *w, void *map, size_t size, const file_kind *kind) {
    u8 *file = map;
    u64 head[N_HEAD], sum;
    if (size < MAGIC_BYTES || memcmp(file, kind->magic, MAGIC_BYTES) != 0) return kind->name;
    if (size < HEAD_BYTES + SUM_BYTES) return "it is cut off";
    memcpy(head, file, sizeof head);
    if (head[1] != BYTE_ORDER_MARK) return "it was saved on a machine of another byte order";
    if (head[2] != kind->format) return "it was saved by another version, in a format that this one does not read";
    if (size < head[3]) return "it is cut off";
    if (size > head[3]) return "it goes on after its end";
    memcpy(&sum, file + size - SUM_BYTES, sizeof sum);
    if (size % 8 || checksum(file, size - SUM_BYTES) != sum) return "it is damaged: the checksum is wrong";
    *w = (file_walk){.job = FILE_READ, .file = file, .at = HEAD_BYTES, .end = size - SUM_BYTES, .ok = true};
    return NULL;
}

const char *file_close(const file_walk *w) { return w->ok && w->at == w->end ? NULL : "its parts do not fill it"; }
