/* UTF-8: code points as bytes, and ranges of code points as ranges of bytes. */
#ifndef GE_UTF8_H
#define GE_UTF8_H

#include "../base/base.h"

/* What \uXXXX is made of: digits (-1: it is none), and surrogates, two of which are a character. */
static inline int hex_digit(u32 byte) {
    if (byte >= '0' && byte <= '9') return (int)(byte - '0');
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? (int)(byte - 'a' + 10) : -1;
}
static inline bool is_lead(u32 unit) { return unit >= 0xd800 && unit <= 0xdbff; }
static inline bool is_trail(u32 unit) { return unit >= 0xdc00 && unit <= 0xdfff; }
static inline u32 combined(u32 lead, u32 trail) { return 0x10000 + ((lead - 0xd800) << 10) + (trail - 0xdc00); }

/* Byte ranges of a run of code points of equal encoded length: every combination of bytes is in the run, and no other. */
typedef struct byte_run {
    u8 n, low[4], high[4];
} byte_run;

static inline u32 utf8_encode(u32 c, u8 out[4]) {
    if (c < 0x80) return out[0] = (u8)c, 1;
    u32 n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (u32 i = n - 1; i > 0; i--, c >>= 6) out[i] = (u8)(0x80 | (c & 0x3f));
    out[0] = (u8)((0xf0 << (4 - n) & 0xff) | c);
    return n;
}

/* The code points whose encoding begins with some bytes, the last of which is the lowest of the word. False: there are none. */
static inline bool utf8_range(u32 bytes, u32 *low, u32 *high) {
    u32 n = bytes > 0xffffff ? 4 : bytes > 0xffff ? 3 : bytes > 0xff ? 2 : 1, first = bytes >> 8 * (n - 1);
    u32 length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length < n || (n > 1 && (bytes & 0xc0) != 0x80)) return false; /* of the bytes before, that was asked before */
    *low = length == 1 ? first : first & (0x7f >> length);
    for (u32 i = n - 1; i-- > 0;) *low = *low << 6 | (bytes >> 8 * i & 0x3f);
    *low <<= 6 * (length - n);
    *high = *low | (((u32)1 << 6 * (length - n)) - 1);
    return true;
}

/* The first run of [low, high]: it begins at low and ends where trailing bytes would not be full ranges. Returns its last code point.
 * Runs of one encoded length are at most 2 * length - 1. */
static inline u32 next_run(u32 low, u32 high, byte_run *run) {
    static const u32 last_of_length[] = {0x7f, 0x7ff, 0xffff};
    u32 end = high;
    for (u32 i = 0; i < 3; i++)
        if (low <= last_of_length[i] && end > last_of_length[i]) end = last_of_length[i];
    high = end;
    for (u32 shift = 6; shift <= 18; shift += 6) { /* the largest aligned block that starts at low and fits */
        u32 mask = ((u32)1 << shift) - 1;
        if (low >> shift == high >> shift) break;
        if (low & mask) {
            end = low | mask;
            break;
        }
        if ((high & mask) != mask) end = (high & ~mask) - 1;
    }
    memset(run, 0, sizeof *run);
    run->n = (u8)utf8_encode(low, run->low);
    utf8_encode(end, run->high);
    return end;
}

/* What is left of a character after some of its bytes: the first says how many come, and sometimes what the second may be. */
enum { UTF8_START, UTF8_1, UTF8_2, UTF8_3, UTF8_E0, UTF8_ED, UTF8_F0, UTF8_F4, UTF8_DEAD };

static inline u32 utf8_step(u32 phase, u32 byte) {
    bool more = byte >= 0x80 && byte <= 0xbf;
    switch (phase) {
    case UTF8_START:
        if (byte < 0x80) return UTF8_START;
        if (byte < 0xc2 || byte > 0xf4) return UTF8_DEAD;
        if (byte < 0xe0) return UTF8_1;
        if (byte < 0xf0) return byte == 0xe0 ? UTF8_E0 : byte == 0xed ? UTF8_ED : UTF8_2;
        return byte == 0xf0 ? UTF8_F0 : byte == 0xf4 ? UTF8_F4 : UTF8_3;
    case UTF8_E0: return more && byte >= 0xa0 ? UTF8_1 : UTF8_DEAD;
    case UTF8_ED: return more && byte <= 0x9f ? UTF8_1 : UTF8_DEAD;
    case UTF8_F0: return more && byte >= 0x90 ? UTF8_2 : UTF8_DEAD;
    case UTF8_F4: return more && byte <= 0x8f ? UTF8_2 : UTF8_DEAD;
    default: return more ? phase - 1 : UTF8_DEAD;
    }
}

#endif
