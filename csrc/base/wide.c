#include "wide.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

enum { LINE = 64, BLOCK = 4 * LINE, LEAST = 2 * LINE }; /* bytes */

__attribute__((target("avx2"))) static inline void clear_line(u8 *to) {
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_setzero_si256());
    _mm256_storeu_si256((__m256i *)(void *)(to + LINE / 2), _mm256_setzero_si256());
}

/* The first line and the last one wherever they lie, and whole lines in between: some bytes twice. n >= LEAST. */
__attribute__((target("avx2"))) static void clear_lines(u8 *to, size_t n) {
    size_t i = LINE - (uintptr_t)to % LINE, end = n - LINE;
    clear_line(to);
    for (; i + BLOCK <= end; i += BLOCK) {
        clear_line(to + i);
        clear_line(to + i + LINE);
        clear_line(to + i + 2 * LINE);
        clear_line(to + i + 3 * LINE);
    }
    for (; i < end; i += LINE) clear_line(to + i);
    clear_line(to + end);
}

void wide_clear(u32 *to, size_t n) {
    size_t size = n * sizeof *to;
    if (size >= LEAST && __builtin_cpu_supports("avx2")) clear_lines((u8 *)to, size);
    else if (n) memset(to, 0, size);
}

u32 wide_at_most(const u8 *at, u8 most) {
    __m128i limit = _mm_set1_epi8((char)most), a = _mm_loadu_si128((const __m128i *)at), b = _mm_loadu_si128((const __m128i *)(at + 16));
    u32 low = (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(a, limit), a));
    return low | (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(b, limit), b)) << 16;
}

#else

void wide_clear(u32 *to, size_t n) {
    if (n) memset(to, 0, n * sizeof *to);
}

u32 wide_at_most(const u8 *at, u8 most) {
    u32 bits = 0;
    for (u32 i = 0; i < 32; i++) bits |= (u32)(at[i] <= most) << i;
    return bits;
}

#endif
