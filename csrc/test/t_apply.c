/* Masks applied to scores, and what they allow gathered: every kind, against a definition that looks at each bit by itself. Rows lie in
 * blocks of their exact size, so that sanitizers see what is read or written beside them. */
#include "harness.h"

enum { MAX_WIDTH = 420, MAX_WORDS = 14, ROUNDS = 4000 };

static const struct {
    ge_float kind;
    u32 size;
    u64 infinity;
} kinds[] = {{GE_FLOAT16, 2, 0xfc00}, {GE_BFLOAT16, 2, 0xff80}, {GE_FLOAT32, 4, 0xff800000}, {GE_FLOAT64, 8, 0xfff0000000000000}};

static u32 random_word(u64 *seed) {
    u32 kind = random_below(seed, 8), one = (u32)1 << random_below(seed, 32);
    return kind < 3 ? UINT32_MAX : kind < 5 ? 0 : kind == 5 ? one : kind == 6 ? ~one : (u32)random_u64(seed);
}

static u64 score_at(const u8 *row, size_t t, u32 size) {
    u16 two;
    u32 four;
    u64 eight;
    switch (size) {
    case 2: memcpy(&two, row + 2 * t, 2); return two;
    case 4: memcpy(&four, row + 4 * t, 4); return four;
    default: memcpy(&eight, row + 8 * t, 8); return eight;
    }
}

static bool row_is_right(const u8 *before, const u8 *after, size_t width, u32 size, u64 infinity, const u32 *mask, size_t n_words) {
    for (size_t t = 0; t < width; t++) {
        bool allowed = t / 32 < n_words && (mask[t / 32] >> t % 32 & 1) != 0;
        if (score_at(after, t, size) != (allowed ? score_at(before, t, size) : infinity)) return false;
    }
    return true;
}

/* Four rows in a block with gaps, from the first to the last or the other way; two masks for two of them, or four for all. */
static void test_random(u64 *seed) {
    u32 k = random_below(seed, 4), size = kinds[k].size;
    size_t width = 1 + random_below(seed, MAX_WIDTH), n_words = random_below(seed, MAX_WORDS);
    size_t pitch = (width + random_below(seed, 5)) * size, n_bytes = 3 * pitch + width * size;
    bool backwards = random_below(seed, 2) != 0, named = random_below(seed, 2) != 0;
    u32 names[2] = {random_below(seed, 2), 2 + random_below(seed, 2)}, n = named ? 2 : 4;
    u8 *before = malloc(n_bytes), *after = malloc(n_bytes);
    u32 *masks = malloc(n * n_words * sizeof *masks + 1);
    for (size_t i = 0; i < n_bytes; i++) before[i] = after[i] = (u8)random_u64(seed);
    for (size_t i = 0; i < n * n_words; i++) masks[i] = random_word(seed);
    ge_scores scores = {backwards ? after + 3 * pitch : after, backwards ? -(int64_t)pitch : (int64_t)pitch, width, kinds[k].kind};
    ge_scores_apply(&scores, masks, n_words, named ? names : NULL, n);
    for (u32 i = 0; i < n; i++) {
        size_t at = pitch * (backwards ? 3 - (named ? names[i] : i) : named ? names[i] : i);
        CHECK(row_is_right(before + at, after + at, width, size, kinds[k].infinity, masks + i * n_words, n_words));
        memcpy(after + at, before + at, width * size);
    }
    CHECK(memcmp(before, after, n_bytes) == 0); /* other rows, and the gaps */
    free(before);
    free(after);
    free(masks);
}

/* What is allowed of a row, gathered into blocks of their exact size; more than fits is told. */
static void test_gather(u64 *seed) {
    size_t width = 1 + random_below(seed, MAX_WIDTH), n_words = random_below(seed, MAX_WORDS), capacity = random_below(seed, MAX_WIDTH),
           n = 0;
    float *row = malloc(width * sizeof *row);
    u32 *mask = malloc(n_words * sizeof *mask + 1);
    float *out = malloc(capacity * sizeof *out + 1);
    int32_t *tokens = malloc(capacity * sizeof *tokens + 1);
    bool right = true;
    for (size_t i = 0; i < width; i++) row[i] = (float)random_below(seed, 1000) - 500;
    for (size_t i = 0; i < n_words; i++) mask[i] = random_below(seed, 4) ? random_word(seed) : 0;
    size_t n_out = ge_row_gather(row, width, &(ge_gathered){mask, n_words, out, tokens, capacity});
    for (size_t t = 0; t < width; t++) {
        if (t / 32 >= n_words || !(mask[t / 32] >> t % 32 & 1)) continue;
        if (n < capacity && n < n_out) right = right && tokens[n] == (int32_t)t && out[n] == row[t];
        n++;
    }
    CHECK(right && n_out == (n > capacity ? capacity + 1 : n));
    free(row);
    free(mask);
    free(out);
    free(tokens);
}

int main(void) {
    u64 seed = 1;
    for (u32 i = 0; i < ROUNDS; i++) test_random(&seed);
    for (u32 i = 0; i < ROUNDS; i++) test_gather(&seed);
    return harness_result("apply");
}
