/* file: tables as files. A file is mapped into memory and its tables are used where
 * they lie: nothing is copied, and all processes that load it share its pages.
 *
 *     magic | byte order | format | length of the file       8 bytes each
 *     numbers and tables, one after the other                each padded to 8 bytes
 *     checksum of all before                                 8 bytes
 *
 * Writing, reading and measuring are one walk over the parts of an object (file_number, file_table), so that they cannot disagree.
 *
 * Trust. The checksum is verified whenever a file is loaded. It finds every change within one 64-bit word, and others but for one in 2^64.
 * It is no signature: who means to can make a file with a right checksum. */
#ifndef GE_FILE_H
#define GE_FILE_H

#include "base.h"

typedef struct file_kind {
    const char *magic; /* 8 characters */
    u32 format;        /* changes whenever the same object would give another file */
    const char *name;  /* for messages: "it is no `name`" */
} file_kind;

typedef struct file_walk {
    enum { FILE_MEASURE, FILE_WRITE, FILE_READ } job;
    u8 *file;
    size_t at, end; /* of the part that comes next; FILE_READ: of the last one */
    bool ok;        /* FILE_READ: no part reached beyond the end */
} file_walk;

/* To write: begin with the buffer, or NULL to measure; visit the parts; finish, which returns the size of the file. */
file_walk file_begin(u8 *out);
size_t file_finish(file_walk *w, const file_kind *kind);

/* To read: map a file (*map and *size are to be unmapped whatever the rest says), check it, visit the parts, see that they fill it.
 * The functions return what is wrong, or NULL. */
const char *file_map(int32_t fd, void **map, size_t *size);
const char *file_open(file_walk *w, void *map, size_t size, const file_kind *kind);
const char *file_close(const file_walk *w);
void file_unmap(void *map, size_t size);

void file_number(file_walk *w, void *number, size_t size);
void file_table(file_walk *w, void **table, size_t size);

#define FILE_NUMBER(w, x) file_number((w), &(x), sizeof(x))
#define FILE_TABLE(w, pointer, n) file_table((w), (void **)&(pointer), (size_t)(n) * sizeof *(pointer))
#define FILE_VECTOR(w, v) (FILE_NUMBER((w), (v).n), FILE_TABLE((w), (v).at, (v).n))

#endif
