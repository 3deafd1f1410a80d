/* wide: many words or bytes at a time: rows cleared and copied at the pace of the processor, hashes, comparisons, spans of bytes.
 *
 * A mask of few tokens is zeros, 6 to 25 kB, and to write them is most of what serving it takes. But most of them are there already: the
 * row that is written to held a mask, of few tokens as a rule. So a block of 512 bytes is read first, which takes half as long as writing
 * it (a processor reads two registers a cycle from a near cache, and writes one), and the quarters that are not clear are written. 16 kB by
 * AVX-512: 55 ns, where stores alone take 95; by AVX2 on Zen 3 95, where stores take 170 and memset 195.
 *
 * Rows are copied by registers as well. memcpy takes `rep movsb` for rows of such sizes, and on Zen 3 that crawls where the source lies a
 * few bytes before the target modulo 4096, which is chance: 5.8 us for 16 kB, where registers take 0.18 wherever both lie.
 *
 * (To read the target first is faster for copies only where source and
 * target are both in the nearest cache, and else takes up to twice as long.) */
#ifndef GE_WIDE_H
#define GE_WIDE_H

#include "base.h"

void wide_clear(u32 *to, size_t n);
void wide_copy(u32 *to, const u32 *from, size_t n); /* they do not overlap */

void wide_or(u32 *to, const u32 *from, size_t n);   /* to |= from; nor do these */
bool wide_is_full(const u32 *at, size_t n);         /* are all of the first n bits set? */
/* Lists the bits in which n words differ, ascending, until they are more
 * than `most`, and says how many are listed. There is room for most + 512. */
u32 wide_list_differing(const u32 *a, const u32 *b, size_t n, u32 most, u32 *out);

/* Only finds candidates: content is compared. Never UINT64_MAX. */
u64 wide_hash(const u32 *at, size_t n);

/* Bit i: is at[i] at most so much? Of 32 bytes. */
u32 wide_at_most(const u8 *at, u8 most);

/* A set of bytes for byte shuffles: bit h & 7 of low[l] for the byte 16 * h + l below 0x80, of high[l] for the others. */
typedef struct wide_set {
    u8 low[16], high[16];
} wide_set;

static inline void wide_add(wide_set *s, u8 byte) { (byte < 0x80 ? s->low : s->high)[byte & 15] |= (u8)(1 << (byte >> 4 & 7)); }
static inline bool wide_has(const wide_set *s, u8 byte) { return (byte < 0x80 ? s->low : s->high)[byte & 15] >> (byte >> 4 & 7) & 1; }

/* How many of n bytes are in the set before the first that is not. */
size_t wide_span(const wide_set *s, const u8 *at, size_t n);

#endif
