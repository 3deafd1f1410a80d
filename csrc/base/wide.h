/* wide: rows of words, cleared at the pace of the processor, and made of bytes.
 *
 * A mask of few tokens is zeros, 6 to 25 kB, and to write them is most of what serving it takes. A processor stores 64 bytes a cycle into a near cache,
 * as two registers of AVX2 (or one of AVX-512, which is no faster), if they do not cross a line. The libraries' memset hands rows of this size to an
 * instruction for strings, which comes to 40; a loop over whole lines comes to 60.
 *
 * (To copy rows so is faster only where source and target are both in the nearest cache, and else takes up to twice as long as memcpy.) */
#ifndef GE_WIDE_H
#define GE_WIDE_H

#include "base.h"

void wide_clear(u32 *to, size_t n);

/* Bit i: is at[i] at most so much? Of 32 bytes. */
u32 wide_at_most(const u8 *at, u8 most);

#endif
