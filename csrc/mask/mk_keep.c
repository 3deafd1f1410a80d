/* Kept masks: interned by content, found from a configuration by a reference [stamp | index + 1], bounded in bytes.
 *
 * Who evicts a mask changes its stamp *before* looking whether anybody reads it; who reads announces that *before* comparing the stamp.
 * Both are sequentially consistent, so at least one of them sees the other: a mask that is being copied is never freed (it waits for the
 * next eviction), and a mask that was replaced is never copied.
 *
 * A mask of few tokens is kept as their list: a hundredth of the memory, and faster to write into a row than bits are to copy. One that is
 * a lexeme-internal mask and few tokens more is kept as these, and holds that: the strings of all grammars are copied from the same few
 * kilobytes, which stay in a near cache. It counts as if the bits were its own, so what is held in the vocabulary's store is bounded, too.
 *
 * Which one goes: a hand passes over the slots in turn and takes the first that was not read since it last came by (the *clock* of Corbató,
 * 1968), or the next one where it has seen MAX_LOOKS that were. So a full store costs no more than an empty one, and readers write nothing
 * that they share, but for one flag. */
#include "mk.h"

/* Copies a kept mask if the reference still holds. */
static bool copy_kept(ge_engine *e, u64 reference, u32 *out) {
    mk_mask *kept = stable_at(&e->masks, (u32)reference - 1);
    atomic_fetch_add(&kept->readers, 1);
    bool valid = atomic_load(&kept->stamp) == (u32)(reference >> 32);
    if (valid) {
        if (kept->listed) mk_write_listed(e, kept->base, kept->words, kept->n_words, out);
        else mk_write_by_model(e, kept, out);
        if (!atomic_load_explicit(&kept->recent, memory_order_relaxed)) atomic_store_explicit(&kept->recent, true, memory_order_relaxed);
    }
    atomic_fetch_sub(&kept->readers, 1);
    return valid;
}

GE_HOT bool mk_warm(ge_engine *e, u32 config, u32 *out) {
    u64 reference = atomic_load(&cf_at(e, config)->mask);
    return (reference && copy_kept(e, reference, out)) || mk_by_table(e, config, out);
}

/* Under the engine's lock, so nothing is evicted meanwhile. */
bool mk_load(ge_engine *e, u32 config, mk_found *found) {
    u64 reference = atomic_load(&cf_at(e, config)->mask);
    mk_mask *kept = reference ? stable_at(&e->masks, (u32)reference - 1) : NULL;
    bool is_there = kept && atomic_load(&kept->stamp) == (u32)(reference >> 32);
    mk_release_base(e, found);
    found->listed = is_there && kept->listed;
    if (!found->listed) return mk_warm(e, config, found->bits);
    found->list.n = 0;
    if (!vec_reserve(&e->b, &found->list, kept->n_words)) return found->listed = false;
    if (kept->n_words) memcpy(found->list.at, kept->words, kept->n_words * sizeof(u32));
    found->list.n = kept->n_words;
    if (kept->base) vb_hold(e->v, kept->base);
    found->base = kept->base;
    return true;
}

static size_t counted_bytes(const ge_engine *e, u32 n_words, const vb_inner *base) {
    return (n_words + (base ? e->v->n_words : 0)) * sizeof(u32);
}

static void release_kept(ge_engine *e, mk_mask *kept) {
    if (!kept->words) return;
    free(kept->words);
    kept->words = NULL;
    e->mk.mask_bytes -= counted_bytes(e, kept->n_words, kept->base);
    if (kept->base) vb_release(e->v, kept->base);
    kept->base = NULL;
}

static void release_slot(ge_engine *e, u32 index) {
    mk_mask *slot = stable_at(&e->masks, index);
    release_kept(e, slot);
    slot->n_words = e->mk.free_mask;
    e->mk.free_mask = index;
}

enum { MAX_LOOKS = 256 };

/* Makes room for one more mask; false if nothing can go. A slot whose stamp is odd is not in use; its words are gone when it is free. */
static bool evict_one(ge_engine *e) {
    for (u32 looks = 0, n = e->masks.n; n && looks < n + MAX_LOOKS; looks++) {
        u32 index = e->mk.mask_hand = e->mk.mask_hand + 1 < n ? e->mk.mask_hand + 1 : 0;
        mk_mask *kept = stable_at(&e->masks, index);
        bool in_use = !(atomic_load(&kept->stamp) & 1);
        if (!kept->words || kept->model == index) continue;
        if (in_use && atomic_load(&kept->recent) && looks < MAX_LOOKS) {
            atomic_store(&kept->recent, false);
            continue;
        }
        if (in_use) {
            atomic_fetch_add(&kept->stamp, 1);
            e->stats.mask_evictions++;
            e->stats.masks--;
        }
        if (atomic_load(&kept->readers)) continue; /* the hand comes by again */
        release_slot(e, index);
        return true;
    }
    return false;
}

/* A free slot, or NULL. */
static mk_mask *take_slot(ge_engine *e, u32 *index) {
    *index = e->mk.free_mask;
    if (*index != NONE) {
        mk_mask *slot = stable_at(&e->masks, *index);
        e->mk.free_mask = slot->n_words;
        return slot;
    }
    mk_mask *slot = stable_push(&e->b, &e->masks);
    if (!slot) return NULL;
    *index = e->masks.n - 1;
    atomic_store(&slot->stamp, 1);
    return slot;
}

/* Keeps what is kept nowhere yet; NULL: there is no room. */
static mk_mask *add_mask(ge_engine *e, const mk_mask *mask, size_t size, u32 *index) {
    size_t counted = counted_bytes(e, mask->n_words, mask->base);
    while (e->mk.mask_bytes + counted > e->b.limits.max_mask_bytes)
        if (!evict_one(e)) return NULL;
    u32 *copy = malloc(size ? size : 1);
    mk_mask *kept = copy ? take_slot(e, index) : NULL;
    if (!kept) return free(copy), NULL;
    if (size) memcpy(copy, mask->words, size);
    e->stats.bytes_copied += size;
    kept->words = copy;
    e->mk.mask_bytes += counted;
    if (mask->base) vb_hold(e->v, mask->base);
    kept->base = mask->base;
    kept->n_words = mask->n_words;
    kept->listed = mask->listed;
    kept->model = mask->model;
    kept->hash = mask->hash;
    atomic_store(&kept->recent, true);
    if (!mask->listed && mask->model == NONE) mk_try_model(e, *index);
    atomic_fetch_add(&kept->stamp, 1); /* even: in use */
    e->stats.masks++;
    return map_put(&e->b, &e->mk.mask_of_hash, mask->hash, *index) ? kept : NULL;
}

void mk_keep(ge_engine *e, u32 config, const mk_found *found) {
    mk_mask mask = {.base = found->base, .listed = found->listed, .model = NONE};
    mask.words = found->listed ? found->list.at : found->bits;
    mask.n_words = found->listed ? found->list.n : e->v->n_words;
    if (!found->listed && !mk_find_model(e, &mask)) return;
    size_t size = mask.n_words * sizeof *mask.words;
    mask.hash = wide_hash(mask.words, mask.n_words);
    if (mask.base) mask.hash = mix_u64(mask.hash ^ mask.base->hash) >> 1; /* not UINT64_MAX */
    if (mask.model != NONE) mask.hash = mix_u64(mask.hash ^ mask.model) >> 1;
    /* the model itself, or one that is like it in part */
    u32 index = mask.model != NONE && size == 0 ? mask.model : map_get(&e->mk.mask_of_hash, mask.hash);
    mk_mask *kept = index == NONE ? NULL : stable_at(&e->masks, index);
    if (size == 0 && index != NONE && index == mask.model) {
        e->stats.mask_hits++;
    } else if (kept && !(atomic_load(&kept->stamp) & 1) && kept->hash == mask.hash) {
        bool same = kept->n_words == mask.n_words && kept->listed == mask.listed && kept->base == mask.base && kept->model == mask.model;
        if (!same || (size && memcmp(kept->words, mask.words, size) != 0)) return; /* the first keeps its place */
        e->stats.mask_hits++;
    } else if (!(kept = add_mask(e, &mask, size, &index))) {
        return;
    }
    atomic_store(&cf_at(e, config)->mask, (u64)atomic_load(&kept->stamp) << 32 | (index + 1));
}

void mk_drop_kept(ge_engine *e) {
    for (u32 i = 0; i < e->masks.n; i++) release_kept(e, stable_at(&e->masks, i));
    stable_drop(&e->b, &e->masks);
    map_drop(&e->b, &e->mk.mask_of_hash);
    vec_drop(&e->b, &e->mk.models);
    vec_drop(&e->b, &e->mk.samples);
    vec_drop(&e->b, &e->mk.differing);
}
