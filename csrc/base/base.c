#include "base.h"

void budget_init(budget *b, const ge_limits *limits) {
    u64 limit[sizeof *limits / sizeof(u64)];
    memset(b, 0, sizeof *b);
    memcpy(limit, limits, sizeof limit);
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) /* so that sums and small multiples do not overflow */
        if (limit[i] > (u64)1 << 60) limit[i] = (u64)1 << 60;
    memcpy(&b->limits, limit, sizeof limit);
}

void budget_begin(budget *b) {
    b->status = GE_OK;
    b->work = 0;
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

bool budget_work(budget *b, u64 amount) {
    b->work += amount;
    if (b->work > b->limits.max_step_work) return budget_limit(b, LIMIT(max_step_work));
    return b->status == GE_OK;
}

ge_status budget_report(const budget *b, ge_err *err) {
    err->status = b->status;
    if (b->status == GE_E_LIMIT) {
        err->limit = b->limit;
        memcpy(&err->value, (const char *)&b->limits + b->limit * sizeof(u64), sizeof err->value);
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

void *mem_resize(budget *b, void *block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        free(block);
        b->bytes -= old_size;
        return NULL;
    }
    if (b->status != GE_OK) return NULL;
    if (b->fail_after && --b->fail_after == 0) return budget_fail(b, GE_E_MEMORY), NULL;
    if (new_size > old_size && b->bytes + (new_size - old_size) > b->limits.max_memory_bytes)
        return budget_limit(b, LIMIT(max_memory_bytes)), NULL;
    void *moved = realloc(block, new_size);
    if (!moved) return budget_fail(b, GE_E_MEMORY), NULL;
    b->bytes = b->bytes - old_size + new_size;
    return moved;
}

bool vec_grow(budget *b, void **at, u32 *cap, u32 need, size_t element) {
    u64 wanted = *cap + (u64)*cap / 2 + 8;
    if (wanted < need) wanted = need;
    if (wanted >= NONE) return budget_limit(b, LIMIT(max_memory_bytes));
    void *moved = mem_resize(b, *at, *cap * element, (size_t)wanted * element);
    if (!moved) return false;
    *at = moved;
    *cap = (u32)wanted;
    return true;
}

void set_add_range(byte_set *s, u32 low, u32 high) {
    for (u32 byte = low; byte <= high; byte++) set_add(s, byte);
}

u32 set_count(const byte_set *s) {
    u32 n = 0;
    for (int i = 0; i < 8; i++)
        for (u32 w = s->w[i]; w; w &= w - 1) n++;
    return n;
}
