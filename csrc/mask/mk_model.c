/* Masks that are kept as another one, their *model*, but for a few tokens.
 *
 * Idea. Bits of 131,072 tokens are four pages of memory, and to touch these for the first time takes longer than to compare them. In
 * grammars of programming languages nine in ten wide masks differ in a few hundred tokens from one of those before: in which operators may
 * follow a name, say.
 *
 *     model   [ bits ]              the first ones that have none
 *     mask    [ model | tokens ]    in which the two differ
 *
 * Invariants. A model stays as long as the engine, so what refers to it is never left without;
 * there are few. It is taken by the order in which models were made, so equal masks are kept alike.
 *
 * Cost: a comparison with the model that is near, and before that of a
 * *sample* of the mask with those of the models. These lie side by side. */
#include "mk.h"

enum {
    MODELS = 8,
    LEAST_WORDS = 64, /* of masks: where they are shorter, there is little to save */
    NEAR_PART = 8,    /* of the words of a mask: in so many tokens it may differ from its model */
    FOR_MODELS = 4,   /* the part of max_mask_bytes that they may take */
    AT_ONCE = 16,     /* words of a run */
    SAMPLED = 16      /* of so many runs one tells whether masks are far from each other */
};
static_assert(32 * AT_ONCE >= 512, "a list of what differs has so much room, as wide_list_differing asks for");

static mk_mask *mask_at(const ge_engine *e, u32 index) { return stable_at(&e->masks, index); }

static u32 sample_length(const ge_engine *e) { return (e->v->n_words + AT_ONCE * (SAMPLED - 1)) / (AT_ONCE * SAMPLED) * AT_ONCE; }

/* Appends the sample of a mask to those of models. */
static bool push_sample(ge_engine *e, const u32 *bits) {
    u32 n = sample_length(e);
    if (!vec_reserve(&e->b, &e->mk.samples, n)) return false;
    for (u32 i = 0; i < n; i += AT_ONCE) memcpy(e->mk.samples.at + e->mk.samples.n + i, bits + SAMPLED * i, AT_ONCE * sizeof *bits);
    e->mk.samples.n += n;
    return true;
}

/* Do a mask and a model differ in far more tokens, by their samples? */
static bool seem_far(const ge_engine *e, const u32 *sample, const u32 *other) {
    u32 differing = 0;
    for (u32 i = 0, n = sample_length(e); i < n; i++) differing += sample[i] != other[i];
    return differing > 2 * (e->v->n_words / NEAR_PART) / SAMPLED;
}

/* Do the masks differ in so few tokens? `tokens`, which has room for them and for a line of words more, gets these. */
static bool are_near(const u32 *bits, const u32 *other, u32 n, id_vec *tokens) {
    u32 most = n / NEAR_PART;
    tokens->n = wide_list_differing(bits, other, n, most, tokens->at);
    return tokens->n <= most;
}

bool mk_find_model(ge_engine *e, mk_mask *mask) {
    u32 n = e->v->n_words;
    u32 n_sample = sample_length(e), own = e->mk.samples.n;
    e->mk.differing.n = 0;
    if (!e->mk.models.n) return true;
    if (!vec_reserve(&e->b, &e->mk.differing, n / NEAR_PART + 32 * AT_ONCE) || !push_sample(e, mask->words)) return false;
    e->mk.samples.n = own;
    for (u32 i = 0; i < e->mk.models.n; i++) {
        const u32 *other = mask_at(e, e->mk.models.at[i])->words;
        if (seem_far(e, e->mk.samples.at + own, e->mk.samples.at + i * n_sample) || !are_near(mask->words, other, n, &e->mk.differing))
            continue;
        mask->model = e->mk.models.at[i];
        mask->words = e->mk.differing.at;
        mask->n_words = e->mk.differing.n;
        return true;
    }
    return true;
}

void mk_try_model(ge_engine *e, u32 index) {
    u64 bytes = (e->mk.models.n + 1) * (u64)e->v->n_words * sizeof(u32);
    if (e->v->n_words < LEAST_WORDS || e->mk.models.n == MODELS || FOR_MODELS * bytes > e->b.limits.max_mask_bytes) return;
    if (vec_reserve(&e->b, &e->mk.models, 1) && push_sample(e, mask_at(e, index)->words)) {
        e->mk.models.at[e->mk.models.n++] = index;
        mask_at(e, index)->model = index;
    }
}

GE_HOT void mk_write_by_model(const ge_engine *e, const mk_mask *kept, u32 *out) {
    const mk_mask *model = kept->model == NONE ? kept : mask_at(e, kept->model);
    wide_copy(out, model->words, e->v->n_words);
    for (u32 i = 0; model != kept && i < kept->n_words; i++) out[kept->words[i] >> 5] ^= (u32)1 << (kept->words[i] & 31);
}
