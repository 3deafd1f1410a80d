/* Large vectors. To copy 40 MB that were never touched before takes 30 ms, most of it page faults: one call in a hundred thousand would
 * wait for that. mremap moves the pages of a block, in microseconds, and new pages are paid for one by one when they are first written.
 * (realloc does so too, but only above a size that it raises up to 32 MB while a program runs.) Which way a block was made follows from its
 * size. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif
#include "base.h"

/* bytes; below, a vector grows fourfold: of a new engine nearly all are small, and each move costs a call of malloc */
enum { SMALL_BLOCK = 1 << 10 };

#if defined __linux__ && !defined __SANITIZE_ADDRESS__ /* the sanitizer sees only blocks of malloc */
#include <sys/mman.h>
enum { LARGE_BLOCK = 128 << 10 }; /* bytes; below, a copy is cheap, and malloc uses pages again that were touched before */

static bool is_large(size_t size) { return size >= LARGE_BLOCK; }
static void *map_block(size_t size) {
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}
static void *move_block(void *block, size_t old_size, size_t new_size) {
    void *moved = mremap(block, old_size, new_size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}
static void unmap_block(void *block, size_t size) { (void)munmap(block, size); }
#else
static bool is_large(size_t size) { return (void)size, false; }
static void *map_block(size_t size) { return malloc(size); }
static void *move_block(void *block, size_t old_size, size_t new_size) { return (void)old_size, realloc(block, new_size); }
static void unmap_block(void *block, size_t size) { (void)size, free(block); }
#endif

static void free_block(void *block, size_t size) {
    if (is_large(size)) unmap_block(block, size);
    else free(block);
}

/* NULL on failure: the old block is then untouched. */
static void *resize_block(void *block, size_t old_size, size_t new_size) {
    if (is_large(old_size) && is_large(new_size)) return move_block(block, old_size, new_size);
    if (!is_large(old_size) && !is_large(new_size)) return realloc(block, new_size);
    void *moved = is_large(new_size) ? map_block(new_size) : malloc(new_size);
    if (!moved) return NULL;
    if (old_size) {
        memcpy(moved, block, old_size < new_size ? old_size : new_size);
        free_block(block, old_size);
    }
    return moved;
}

void budget_init(budget *b, const ge_limits *limits) {
    u64 limit[sizeof *limits / sizeof(u64)];
    memset(b, 0, sizeof *b);
    memcpy(limit, limits, sizeof limit);
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) /* so that sums and small multiples do not overflow */
        if (limit[i] > (u64)1 << 60) limit[i] = (u64)1 << 60;
    memcpy(&b->limits, limit, sizeof limit);
    b->symbol = NONE;
}

void budget_init_unlimited(budget *b) {
    ge_limits limits;
    memset(&limits, 0xff, sizeof limits);
    budget_init(b, &limits);
}

void budget_begin(budget *b) {
    b->status = GE_OK;
    b->work = 0;
    b->symbol = NONE;
    b->ceiling = 0;
}

bool budget_fail(budget *b, ge_status s) {
    if (b->status == GE_OK) b->status = s;
    return false;
}

bool budget_limit(budget *b, u32 limit) {
    if (b->status == GE_OK) {
        b->status = GE_E_LIMIT;
        b->limit = limit;
    }
    return false;
}

bool budget_ceiling(budget *b, u32 limit, u32 ceiling) {
    if (b->status == GE_OK) b->ceiling = ceiling;
    return budget_limit(b, limit);
}

bool budget_work(budget *b, u64 amount) {
    b->work += amount;
    if (b->work > b->limits.max_step_work) return budget_limit(b, LIMIT(max_step_work));
    return b->status == GE_OK;
}

budget_part budget_begin_part(budget *b, u64 amount) {
    budget_part part = {b->limits.max_step_work, b->work + amount};
    b->limits.max_step_work = part.enough < part.most ? part.enough : part.most;
    return part;
}

bool budget_end_part(budget *b, budget_part part) {
    b->limits.max_step_work = part.most;
    if (part.enough >= part.most || b->status != GE_E_LIMIT || b->limit != LIMIT(max_step_work)) return false;
    b->status = GE_OK;
    b->symbol = NONE;
    return true;
}

ge_status budget_report(const budget *b, ge_err *err) {
    err->status = b->status;
    if (b->status == GE_E_LIMIT) {
        err->limit = b->limit;
        err->symbol = b->symbol;
        memcpy(&err->value, (const char *)&b->limits + b->limit * sizeof(u64), sizeof err->value);
        err->ceiling = b->ceiling;
        err->text[0] = 0;
    }
    return b->status;
}

ge_status err_set(ge_err *err, ge_status status, const char *text) {
    size_t n = strlen(text);
    if (n >= sizeof err->text) n = sizeof err->text - 1;
    memcpy(err->text, text, n);
    err->text[n] = 0;
    return err->status = status;
}

size_t err_add_hex(ge_err *err, size_t at, size_t end, const u8 *bytes, size_t n) {
    for (size_t i = 0; i < n && at + 2 < end; i++) {
        err->text[at++] = "0123456789abcdef"[bytes[i] >> 4];
        err->text[at++] = "0123456789abcdef"[bytes[i] & 15];
    }
    return at;
}

/* May the block grow, and what is held with it? */
static bool admit(budget *b, size_t old_size, size_t new_size) {
    if (b->status != GE_OK) return false;
    if (b->fail_after && --b->fail_after == 0) return budget_fail(b, GE_E_MEMORY);
    if (new_size > old_size && b->bytes + (new_size - old_size) > b->limits.max_memory_bytes)
        return budget_limit(b, LIMIT(max_memory_bytes));
    return true;
}

static void *account(budget *b, void *moved, size_t old_size, size_t new_size) {
    if (!moved) return budget_fail(b, GE_E_MEMORY), NULL;
    b->bytes = b->bytes - old_size + new_size;
    return moved;
}

void *mem_resize(budget *b, void *block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        free(block);
        b->bytes -= old_size;
        return NULL;
    }
    return admit(b, old_size, new_size) ? account(b, realloc(block, new_size), old_size, new_size) : NULL;
}

void *mem_move(budget *b, void *block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        free_block(block, old_size);
        b->bytes -= old_size;
        return NULL;
    }
    return admit(b, old_size, new_size) ? account(b, resize_block(block, old_size, new_size), old_size, new_size) : NULL;
}

bool vec_grow(budget *b, void **at, u32 *cap, u64 need, size_t element) {
    u64 wanted = *cap * element < SMALL_BLOCK ? 4 * (u64)*cap + 16 : *cap + (u64)*cap / 2;
    if (wanted < need) wanted = need;
    if (wanted >= NONE) return budget_limit(b, LIMIT(max_memory_bytes));
    void *moved = mem_move(b, *at, *cap * element, (size_t)wanted * element);
    if (!moved) return false;
    *at = moved;
    *cap = (u32)wanted;
    return true;
}

bool vec_shrink(budget *b, void **at, u32 *cap, u32 n, size_t element) {
    void *moved = mem_move(b, *at, *cap * element, n * element);
    if (!moved) return false;
    *at = moved;
    *cap = n;
    return true;
}

void set_add_range(byte_set *s, u32 low, u32 high) {
    for (u32 byte = low; byte <= high; byte++) set_add(s, byte);
}

u32 set_count(const byte_set *s) {
    u32 n = 0;
    for (int i = 0; i < 8; i += 2) n += count_bits((u64)s->w[i] << 32 | s->w[i + 1]);
    return n;
}
