/* ap: masks applied to scores, in CPU memory.
 *
 * Scores are seen as integers of their size, so that one code serves all
 * kinds of floats, and what stays keeps its exact bits, those of NaN too.
 *
 * Where few tokens are allowed, their scores are gathered instead: a loop that draws one of them is spared the search for them in the row.
 *
 * Cost: one pass over the mask. Words of all ones are passed over, four at a time; for a
 * word with one refused token one score is written, for any other 32 are read and written. */
#include "../base/base.h"

#define SCORE u16
#define APPLY_WORD apply_word_16
#define APPLY_ROW apply_row_16
#include "ap_row.h"

#define SCORE u32
#define APPLY_WORD apply_word_32
#define APPLY_ROW apply_row_32
#include "ap_row.h"

#define SCORE u64
#define APPLY_WORD apply_word_64
#define APPLY_ROW apply_row_64
#include "ap_row.h"

void ge_scores_apply(const ge_scores *scores, const uint32_t *masks, size_t n_words, const uint32_t *rows, size_t n) {
    size_t width = scores->width;
    for (size_t i = 0; i < n; i++, masks += n_words) {
        void *row = (u8 *)scores->first + scores->stride * (int64_t)(rows ? rows[i] : i);
        switch (scores->kind) { /* with the bits of -inf */
        case GE_FLOAT16: apply_row_16(row, width, masks, n_words, 0xfc00); break;
        case GE_BFLOAT16: apply_row_16(row, width, masks, n_words, 0xff80); break;
        case GE_FLOAT32: apply_row_32(row, width, masks, n_words, 0xff800000); break;
        case GE_FLOAT64: apply_row_64(row, width, masks, n_words, 0xfff0000000000000); break;
        }
    }
}

void ge_row_apply(float *row, size_t width, const uint32_t *mask, size_t n_words) {
    ge_scores_apply(&(ge_scores){row, 0, width, GE_FLOAT32}, mask, n_words, NULL, 1);
}

GE_HOT size_t ge_row_gather(const float *row, size_t width, const ge_gathered *to) {
    size_t n = 0;
    for (size_t i = 0; i < to->n_words; i++) {
        if (to->mask[i] == ~(u32)0 && 32 * i + 32 <= width && n + 32 <= to->capacity) {
            memcpy(to->scores + n, row + 32 * i, 32 * sizeof *row);
            for (size_t k = 0; k < 32; k++) to->tokens[n++] = (int32_t)(32 * i + k);
            continue;
        }
        for (u32 word = to->mask[i]; word; word &= word - 1) {
            size_t token = 32 * i + (size_t)__builtin_ctz(word);
            if (token >= width) return n;
            if (n == to->capacity) return n + 1;
            to->scores[n] = row[token];
            to->tokens[n++] = (int32_t)token;
        }
    }
    return n;
}
