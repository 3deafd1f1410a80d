/* One row of scores of one size. ap.c includes this once per size, with
 * SCORE = the unsigned integer of that size, and names of the functions.
 *
 * A word of the mask is looked at as two halves of 16 bits. A half is
 * copied to all lanes of a vector, and each lane looks at a bit of its own:
 *
 *     here & (1 << k, 2 << k, 4 << k, ...) != 0     all ones where the score stays
 *
 * Vectors are of 16 bytes, which x86-64 and arm64 always have. With AVX2 a row of float32 that is in the cache takes half the
 * time; 64 rows, which do not fit there, take the same. */

/* The 32 scores of a word. One refused token is common in free text, none allowed in structure. */
static inline void APPLY_WORD(SCORE *scores, u32 word, SCORE infinity) {
    typedef SCORE vector __attribute__((vector_size(16)));
    enum { LANES = sizeof(vector) / sizeof(SCORE) };
    static const SCORE bits[] = {1, 2, 4, 8, 16, 32, 64, 128};
    vector bit, none = (vector){0} + infinity;
    u32 refused = ~word;
    if (!(refused & (refused - 1))) {
        if (refused) scores[__builtin_ctz(refused)] = infinity;
        return;
    }
    if (!word) {
        for (u32 k = 0; k < 32; k += LANES) memcpy(scores + k, &none, sizeof none);
        return;
    }
    memcpy(&bit, bits, sizeof bit);
    for (u32 half = 0; half < 32; half += 16) {
        vector here = (vector){0} + (SCORE)(word >> half & 0xffff);
        for (u32 k = 0; k < 16; k += LANES) {
            vector score, keep = (vector)((here & (bit << k)) != 0);
            memcpy(&score, scores + half + k, sizeof score);
            score = (score & keep) | (none & ~keep);
            memcpy(scores + half + k, &score, sizeof score);
        }
    }
}

static void APPLY_ROW(SCORE *scores, size_t width, const u32 *mask, size_t n_words, SCORE infinity) {
    size_t i = 0, n_whole = width / 32 < n_words ? width / 32 : n_words;
    while (i < n_whole) {
        if (n_whole - i >= 4 && (mask[i] & mask[i + 1] & mask[i + 2] & mask[i + 3]) == UINT32_MAX) {
            i += 4;
            continue;
        }
        APPLY_WORD(scores + 32 * i, mask[i], infinity);
        i++;
    }
    for (size_t t = 32 * n_whole; t < width; t++) /* fewer than 32, and what is beyond the mask */
        if (t / 32 >= n_words || !(mask[t / 32] >> t % 32 & 1)) scores[t] = infinity;
}

#undef SCORE
#undef APPLY_WORD
#undef APPLY_ROW
