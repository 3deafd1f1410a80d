#include "wide.h"

/* The widest instructions that are used where the processor has them: 0 those of any processor, 1 of any x86-64, 2 AVX2, 3 AVX-512. `make
 * narrow` tests what a processor that has all of them would never run. */
#ifndef GE_WIDE_MOST
#define GE_WIDE_MOST 3
#endif

/* Four lanes side by side: a mask of 131,072 bits takes about a microsecond. */
u64 wide_hash(const u32 *at, size_t n) {
    u64 lane[4] = {n, 1, 2, 3}, word[4];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(word, at + i, sizeof word);
        for (int k = 0; k < 4; k++) lane[k] = (lane[k] ^ word[k]) * 0x9ddfea08eb382d69u, lane[k] ^= lane[k] >> 32;
    }
    for (; i < n; i++) lane[0] = mix_u64(lane[0] ^ at[i]);
    u64 h = mix_u64(lane[0] ^ mix_u64(lane[1] ^ mix_u64(lane[2] ^ mix_u64(lane[3]))));
    return h == UINT64_MAX ? 0 : h;
}

/* Appends the numbers of the bits of a word, the first of which has the number `begin`. */
static inline u32 list_word(u32 word, u32 begin, u32 *out, u32 n) {
    for (; word; word &= word - 1) out[n++] = begin + (u32)__builtin_ctz(word);
    return n;
}

bool wide_is_full(const u32 *at, size_t n) {
    enum { TOGETHER = 64 };
    size_t i = 0;
    for (; i + TOGETHER <= n / 32; i += TOGETHER) {
        u32 all = UINT32_MAX;
        for (u32 k = 0; k < TOGETHER; k++) all &= at[i + k];
        if (all != UINT32_MAX) return false;
    }
    for (; i < n / 32; i++)
        if (at[i] != UINT32_MAX) return false;
    u32 rest = ((u32)1 << n % 32) - 1;
    return !rest || (at[i] & rest) == rest;
}

#if defined __x86_64__ && defined __GNUC__ && GE_WIDE_MOST > 0

#include <immintrin.h>

enum { LINE = 64, PART = 2 * LINE, BLOCK = 4 * PART }; /* bytes */

static inline bool has_avx2(void) { return GE_WIDE_MOST > 1 && __builtin_cpu_supports("avx2"); }
static inline bool has_avx512(void) { return GE_WIDE_MOST > 2 && __builtin_cpu_supports("avx512f"); }

#define WITH_AVX2 static inline __attribute__((target("avx2"), always_inline))
#define WITH_AVX512 static inline __attribute__((target("avx2,avx512f"), always_inline))

WITH_AVX2 void clear_line(u8 *to) {
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_setzero_si256());
    _mm256_storeu_si256((__m256i *)(void *)(to + LINE / 2), _mm256_setzero_si256());
}

WITH_AVX2 __m256i line_32(const u8 *at) { /* 0 where the line has no bits */
    return _mm256_or_si256(_mm256_load_si256((const __m256i *)(const void *)at),
                           _mm256_load_si256((const __m256i *)(const void *)(at + LINE / 2)));
}
WITH_AVX2 __m256i part_32(const u8 *at) { return _mm256_or_si256(line_32(at), line_32(at + LINE)); }
WITH_AVX2 __m256i either_32(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }
WITH_AVX2 bool has_bits_32(__m256i a) { return !_mm256_testz_si256(a, a); }

WITH_AVX512 __m512i part_64(const u8 *at) { return _mm512_or_si512(_mm512_load_si512(at), _mm512_load_si512(at + LINE)); }
WITH_AVX512 __m512i either_64(__m512i a, __m512i b) { return _mm512_or_si512(a, b); }
WITH_AVX512 bool has_bits_64(__m512i a) { return _mm512_test_epi64_mask(a, a) != 0; }

WITH_AVX2 void clear_part(u8 *to) {
    clear_line(to);
    clear_line(to + LINE);
}

/* The first line and the last one wherever they lie, and whole lines in between: some bytes twice. n >= PART. */
#define CLEAR(vector, part, either, has_bits)                                                                       \
    size_t i = LINE - (uintptr_t)to % LINE, end = n - LINE;                                                         \
    clear_line(to);                                                                                                 \
    for (; i + BLOCK <= end; i += BLOCK) {                                                                          \
        vector a = part(to + i), b = part(to + i + PART), c = part(to + i + 2 * PART), d = part(to + i + 3 * PART); \
        if (!has_bits(either(either(a, b), either(c, d)))) continue;                                                \
        if (has_bits(a)) clear_part(to + i);                                                                        \
        if (has_bits(b)) clear_part(to + i + PART);                                                                 \
        if (has_bits(c)) clear_part(to + i + 2 * PART);                                                             \
        if (has_bits(d)) clear_part(to + i + 3 * PART);                                                             \
    }                                                                                                               \
    for (; i < end; i += LINE) clear_line(to + i);                                                                  \
    clear_line(to + end);

__attribute__((target("avx2"))) static void clear_by_32(u8 *to, size_t n) { CLEAR(__m256i, part_32, either_32, has_bits_32) }
__attribute__((target("avx2,avx512f"))) static void clear_by_64(u8 *to, size_t n) { CLEAR(__m512i, part_64, either_64, has_bits_64) }

void wide_clear(u32 *to, size_t n) {
    size_t size = n * sizeof *to;
    if (n == 0) return;
    if (size < PART || !has_avx2()) memset(to, 0, size);
    else if (has_avx512()) clear_by_64((u8 *)to, size);
    else clear_by_32((u8 *)to, size);
}

WITH_AVX2 void copy_part_32(u8 *to, const u8 *from) {
    __m256i at[4];
    for (u32 k = 0; k < 4; k++) at[k] = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32 * k));
    for (u32 k = 0; k < 4; k++) _mm256_storeu_si256((__m256i *)(void *)(to + 32 * k), at[k]);
}
WITH_AVX512 void copy_part_64(u8 *to, const u8 *from) {
    __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + LINE);
    _mm512_storeu_si512(to, a);
    _mm512_storeu_si512(to + LINE, b);
}

/* Like CLEAR, in parts. n >= PART. */
#define COPY_PARTS(copy_part)                               \
    size_t i = LINE - (uintptr_t)to % LINE, end = n - PART; \
    copy_part(to, from);                                    \
    for (; i < end; i += PART) copy_part(to + i, from + i); \
    copy_part(to + end, from + end);

__attribute__((target("avx2"))) static void copy_by_32(u8 *to, const u8 *from, size_t n) { COPY_PARTS(copy_part_32) }
__attribute__((target("avx2,avx512f"))) static void copy_by_64(u8 *to, const u8 *from, size_t n) { COPY_PARTS(copy_part_64) }

void wide_copy(u32 *to, const u32 *from, size_t n) {
    size_t size = n * sizeof *to;
    if (n == 0) return;
    if (size < PART || !has_avx2()) memcpy(to, from, size);
    else if (has_avx512()) copy_by_64((u8 *)to, (const u8 *)from, size);
    else copy_by_32((u8 *)to, (const u8 *)from, size);
}

/* Line by line from word `at` on, to the words that are less than a line. */
#define OR_LINES(or_line) \
    for (; at + LINE / 4 <= n; at += LINE / 4) or_line(to + at, from + at);
/* The same; `differing`: the words of a line that differ, as bits. */
#define LIST_LINES(differing)                                                        \
    for (; at + LINE / 4 <= n && *n_out <= most; at += LINE / 4)                     \
        for (u32 words = differing(a + at, b + at); words; words &= words - 1) {     \
            size_t word = at + (u32)__builtin_ctz(words);                            \
            *n_out = list_word(a[word] ^ b[word], (u32)(32 * word), out, *n_out);    \
        }

WITH_AVX2 __m256i half_line(const u32 *at) { return _mm256_loadu_si256((const __m256i *)(const void *)at); }
WITH_AVX2 void or_line_32(u32 *to, const u32 *from) {
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_or_si256(half_line(to), half_line(from)));
    _mm256_storeu_si256((__m256i *)(void *)(to + 8), _mm256_or_si256(half_line(to + 8), half_line(from + 8)));
}
WITH_AVX512 void or_line_64(u32 *to, const u32 *from) {
    _mm512_storeu_si512(to, _mm512_or_si512(_mm512_loadu_si512(to), _mm512_loadu_si512(from)));
}
WITH_AVX2 u32 equal_half(const u32 *a, const u32 *b) {
    return (u32)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(half_line(a), half_line(b))));
}
WITH_AVX2 u32 differing_32(const u32 *a, const u32 *b) { return 0xffff & ~(equal_half(a, b) | equal_half(a + 8, b + 8) << 8); }
WITH_AVX512 u32 differing_64(const u32 *a, const u32 *b) { return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)); }

__attribute__((target("avx2"))) static size_t or_by_32(u32 *to, const u32 *from, size_t n) {
    size_t at = 0;
    OR_LINES(or_line_32)
    return at;
}
__attribute__((target("avx2,avx512f"))) static size_t or_by_64(u32 *to, const u32 *from, size_t n) {
    size_t at = 0;
    OR_LINES(or_line_64)
    return at;
}
__attribute__((target("avx2"))) static size_t list_by_32(const u32 *a, const u32 *b, size_t n, u32 most, u32 *out, u32 *n_out) {
    size_t at = 0;
    LIST_LINES(differing_32)
    return at;
}
__attribute__((target("avx2,avx512f"))) static size_t list_by_64(const u32 *a, const u32 *b, size_t n, u32 most, u32 *out, u32 *n_out) {
    size_t at = 0;
    LIST_LINES(differing_64)
    return at;
}

void wide_or(u32 *to, const u32 *from, size_t n) {
    size_t at = 0;
    if (has_avx512()) at = or_by_64(to, from, n);
    else if (has_avx2()) at = or_by_32(to, from, n);
    for (; at < n; at++) to[at] |= from[at];
}

u32 wide_list_differing(const u32 *a, const u32 *b, size_t n, u32 most, u32 *out) {
    size_t at = 0;
    u32 n_out = 0;
    if (has_avx512()) at = list_by_64(a, b, n, most, out, &n_out);
    else if (has_avx2()) at = list_by_32(a, b, n, most, out, &n_out);
    for (; at < n && n_out <= most; at++) n_out = list_word(a[at] ^ b[at], (u32)(32 * at), out, n_out);
    return n_out;
}

u32 wide_at_most(const u8 *at, u8 most) {
    __m128i limit = _mm_set1_epi8((char)most), a = _mm_loadu_si128((const __m128i *)at), b = _mm_loadu_si128((const __m128i *)(at + 16));
    u32 low = (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(a, limit), a));
    return low | (u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(b, limit), b)) << 16;
}

/* 32 bytes at a time, the last 32 of them whatever was looked at before; n is at least 32. A shuffle takes the low half of a byte to an
 * entry of a table, and a byte from 0x80 on to 0: after Muła's and Lemire's searches. */
__attribute__((target("avx2"))) static size_t span_of_lines(const wide_set *s, const u8 *at, size_t n) {
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)s->low));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)s->high));
    const __m256i bit_of = _mm256_set1_epi64x((long long)0x8040201008040201u), top = _mm256_set1_epi8((char)0x80),
                  seven = _mm256_set1_epi8(7);
    for (size_t i = 0; i < n; i += LINE / 2) {
        size_t from = i + LINE / 2 <= n ? i : n - LINE / 2;
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + from));
        __m256i row = _mm256_or_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, _mm256_xor_si256(bytes, top)));
        __m256i bit = _mm256_shuffle_epi8(bit_of, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), seven));
        u32 in = (u32)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit));
        if (~in) return from + (u32)__builtin_ctz(~in);
    }
    return n;
}

size_t wide_span(const wide_set *s, const u8 *at, size_t n) {
    if (n >= LINE / 2 && has_avx2()) return span_of_lines(s, at, n);
    size_t i = 0;
    while (i < n && wide_has(s, at[i])) i++;
    return i;
}

#else

void wide_or(u32 *to, const u32 *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] |= from[i];
}

u32 wide_list_differing(const u32 *a, const u32 *b, size_t n, u32 most, u32 *out) {
    u32 n_out = 0;
    for (size_t at = 0; at < n && n_out <= most; at++) n_out = list_word(a[at] ^ b[at], (u32)(32 * at), out, n_out);
    return n_out;
}

void wide_clear(u32 *to, size_t n) {
    if (n) memset(to, 0, n * sizeof *to);
}

void wide_copy(u32 *to, const u32 *from, size_t n) {
    if (n) memcpy(to, from, n * sizeof *to);
}

u32 wide_at_most(const u8 *at, u8 most) {
    u32 bits = 0;
    for (u32 i = 0; i < 32; i++) bits |= (u32)(at[i] <= most) << i;
    return bits;
}

size_t wide_span(const wide_set *s, const u8 *at, size_t n) {
    size_t i = 0;
    while (i < n && wide_has(s, at[i])) i++;
    return i;
}

#endif
