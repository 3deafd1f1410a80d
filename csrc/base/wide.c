#include "wide.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

enum { LINE = 64, BLOCK = 4 * LINE, LEAST = 2 * LINE }; /* bytes */

/* The first line and the last one wherever they lie, and whole lines in between: some bytes twice. n >= LEAST. */
__attribute__((target("avx512f"))) static void clear_lines(u8 *to, size_t n) {
    size_t i = LINE - (uintptr_t)to % LINE, end = n - LINE;
    __m512i zero = _mm512_setzero_si512();
    _mm512_storeu_si512(to, zero);
    for (; i + BLOCK <= end; i += BLOCK) {
        _mm512_storeu_si512(to + i, zero);
        _mm512_storeu_si512(to + i + LINE, zero);
        _mm512_storeu_si512(to + i + 2 * LINE, zero);
        _mm512_storeu_si512(to + i + 3 * LINE, zero);
    }
    for (; i < end; i += LINE) _mm512_storeu_si512(to + i, zero);
    _mm512_storeu_si512(to + end, zero);
}

void wide_clear(u32 *to, size_t n) {
    size_t size = n * sizeof *to;
    if (size >= LEAST && __builtin_cpu_supports("avx512f")) clear_lines((u8 *)to, size);
    else if (n) memset(to, 0, size);
}

#else

void wide_clear(u32 *to, size_t n) {
    if (n) memset(to, 0, n * sizeof *to);
}

#endif
