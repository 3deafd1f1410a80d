/* harness: what every C unit test includes. CHECK reports and goes on; the exit status tells. Tests may print and keep globals. */
#ifndef GE_HARNESS_H
#define GE_HARNESS_H

#include <stdio.h>

#include "../base/base.h"

static unsigned long n_checks, n_failures;

#define CHECK(condition)                                                                                \
    ((void)(n_checks++, (condition) ? 0 : check_failed(__FILE__, __LINE__, #condition)))

static inline int check_failed(const char *file, int line, const char *condition) {
    if (n_failures++ < 20) fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
    return 0;
}

static inline int harness_result(const char *name) {
    printf("%s: %lu checks, %lu failures\n", name, n_checks, n_failures);
    return n_failures != 0;
}

/* Limits so wide that no test meets them by chance. */
static inline ge_limits wide_limits(void) {
    ge_limits limits;
    u64 *field = (u64 *)&limits;
    for (size_t i = 0; i < sizeof limits / sizeof *field; i++) field[i] = (u64)1 << 31;
    limits.max_step_work = (u64)1 << 60;
    limits.max_memory_bytes = (u64)1 << 40;
    return limits;
}

static inline u64 random_u64(u64 *seed) { return mix_u64(*seed += 0x9e3779b97f4a7c15u); }
static inline u32 random_below(u64 *seed, u32 n) { return (u32)(random_u64(seed) % n); }

#endif
