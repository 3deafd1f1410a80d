/* Masks: which tokens a configuration can read, and the cache of them.
 *
 * Cold: the trie of the vocabulary is walked with the configuration automaton (mk_walk). An alternative that can read much is shortened:
 * its lexeme-internal mask is copied and only the tails of the tokens that leave the lexeme are walked (mk_inner.c); where none is known
 * yet, a slice of the vocabulary that it absorbs is copied and only the other tokens are walked.
 *
 * Texts. A configuration with texts (en.h) has the mask of its twin, where texts are unknown, but for *suspects*: tokens that end one
 * distinct member and are then, within the next, at a place where the value that was just written might be all that is left. The walk
 * finds them (cf_record.unsure), and each is read from the configuration itself. There are few: a token has to hold the end of one member
 * and the beginning of the next, and leave no choice.
 *
 * Kept masks are interned by content and belong to configurations by a reference [stamp | index + 1]. Who evicts a mask changes its
 * stamp *before* looking whether anybody reads it; who reads announces that *before* comparing the stamp. Both are sequentially
 * consistent, so at least one of them sees the other: a mask that is being copied is never freed (it waits for the next eviction), and
 * a mask that was replaced is never copied. */
#include "en.h"

enum {
    WIDE = 40,         /* live bytes from which on a state is taken to read much */
    ANALYSE_AFTER = 1, /* cold masks of a wide state before its lexeme-internal mask is worth the analysis */
    NEVER = 255        /* as a number of visits: the analysis does not pay */
};

/* Four lanes side by side: a mask of 131,072 bits takes about a microsecond. Only finds candidates; content is compared. */
static u64 hash_bits(const u32 *bits, u32 n) {
    u64 lane[4] = {n, 1, 2, 3}, word[4];
    u32 i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(word, bits + i, sizeof word);
        for (int k = 0; k < 4; k++) lane[k] = (lane[k] ^ word[k]) * 0x9ddfea08eb382d69u, lane[k] ^= lane[k] >> 32;
    }
    for (; i < n; i++) lane[0] = mix_u64(lane[0] ^ bits[i]);
    u64 h = mix_u64(lane[0] ^ mix_u64(lane[1] ^ mix_u64(lane[2] ^ mix_u64(lane[3]))));
    return h == UINT64_MAX ? 0 : h;
}

/* Notes the tokens at a node. */
static bool push_suspects(ge_engine *e, const tt_trie *trie, u32 token) {
    if (!(token & TT_MANY)) return vec_push(&e->b, &e->suspects, token);
    for (u32 twin = token & ~TT_MANY; twin != NONE; twin = trie->twins.at[twin].next)
        if (!vec_push(&e->b, &e->suspects, trie->twins.at[twin].token)) return false;
    return true;
}

bool mk_walk(ge_engine *e, const tt_trie *trie, u32 config, u32 *mask) {
    e->walk_next.n = 0;
    if (!vec_reserve(&e->b, &e->walk_next, trie->max_depth + 1)) return false;
    u32 _Atomic **stack = e->walk_next.at; /* transition table of the configuration at each depth */
    VEC(u32) configs = {0};                /* and its id: only for transitions that are not known yet */
    if (!vec_reserve(&e->b, &configs, trie->max_depth + 1)) return false;
    const tt_node *nodes = trie->nodes.at;
    const u8 *class_of = e->lx.x.class_of;
    u32 n = trie->nodes.n, visited = 0;
    bool ok = true, watch = e->g->g.has_distinct;
    stack[0] = cf_at(e, config)->next;
    configs.at[0] = config;
    for (u32 i = 0; i < n;) { /* common case: one look-up, dead or alive */
        const tt_node *node = &nodes[i];
        u32 c = class_of[node->byte];
        u32 to = atomic_load_explicit(&stack[node->depth - 1][c], memory_order_relaxed);
        visited++;
        if (to == NONE) {
            to = cf_step(e, configs.at[node->depth - 1], c);
            if (to == NONE) {
                ok = false;
                break;
            }
        }
        if (to == CF_DEAD) {
            i = node->end;
            continue;
        }
        stack[node->depth] = cf_at(e, to)->next;
        configs.at[node->depth] = to;
        if (node->token != NONE) {
            tt_set_bits(trie, node->token, mask);
            if (watch && cf_at(e, to)->unsure && !(ok = push_suspects(e, trie, node->token))) break;
        }
        i++;
    }
    e->stats.trie_nodes += visited;
    vec_drop(&e->b, &configs);
    return ok;
}

vb_cut mk_cut(const ge_engine *e, u32 state) {
    const ge_vocab *v = e->v;
    const rx_arena *x = &e->lx.x;
    const u32 *pairs = intern_words(&e->lx.states, state);
    u32 n = lx_count(&e->lx, state), chars;
    if (e->switches & GE_NO_SLICES) return (vb_cut){NULL, &v->trie};
    for (u32 k = 0; k < n; k++)
        if (e->lx.lexemes.at[pairs[2 * k]].flags & LX_LAZY) return (vb_cut){NULL, &v->trie}; /* dies at its first match: not as its regex does */
    for (u32 i = 0; i < VB_N_SLICES; i++) /* the largest slice first */
        for (u32 k = 0; k < n; k++)
            if (rx_absorbs_plain(x, pairs[2 * k + 1], v->slices[i].max_chars)) return (vb_cut){v->slices[i].bits, &v->slices[i].rest};
    if (n == 1 && rx_counts_plain(x, pairs[1], &chars) && chars < VB_SHORT) return (vb_cut){v->up_to[chars], &v->slices[VB_PLAIN].rest};
    return (vb_cut){NULL, &v->trie};
}

/* Number of bytes that the state can read; NONE on failure. */
static u32 live_count(ge_engine *e, u32 state) {
    u32 live = 0;
    for (u32 byte = 0; byte < 256; byte++) {
        u32 to = lx_step(&e->lx, state, e->lx.x.class_of[byte]);
        if (to == NONE) return NONE;
        live += to != LX_DEAD;
    }
    return live;
}

/* The tokens that one alternative can read, where these are many. */
static bool compute_wide(ge_engine *e, u32 config, cf_alternative a, u32 *mask) {
    u32 state = a.state >> 1;
    while (e->state_visits.n <= state)
        if (!vec_push(&e->b, &e->state_visits, 0)) return false;
    u8 *visits = &e->state_visits.at[state];
    if (!(e->switches & GE_NO_INNER_MASKS) && *visits != NEVER) {
        bool done, analyse = *visits >= ANALYSE_AFTER;
        if (!mk_by_inner(e, a, analyse, mask, &done)) return false;
        if (done) return true;
        *visits = analyse ? NEVER : (u8)(*visits + 1);
    }
    vb_cut cut = mk_cut(e, state);
    if (cut.bits) {
        e->stats.slice_hits++;
        for (u32 i = 0; i < e->v->n_words; i++) mask[i] |= cut.bits[i];
    }
    return mk_walk(e, cut.rest, config, mask);
}

static bool compute(ge_engine *e, u32 config, u32 *mask) {
    memset(mask, 0, e->v->n_words * sizeof *mask);
    u32 n = cf_count(e, config), n_wide = 0;
    VEC(bool) wide = {0};
    bool ok = true;
    if (n == 1 || !e->g->longest) /* else the alternatives depend on each other */
        for (u32 i = 0; ok && i < n; i++) {
            u32 live = live_count(e, cf_alternative_at(e, config, i).state >> 1);
            ok = live != NONE && vec_push(&e->b, &wide, live >= WIDE);
            n_wide += live >= WIDE;
        }
    if (ok && n_wide == 0) ok = mk_walk(e, &e->v->trie, config, mask);
    else
        for (u32 i = 0; ok && i < n; i++) {
            cf_alternative a = cf_alternative_at(e, config, i);
            u32 single = n == 1 ? config : cf_single(e, a);
            ok = single != NONE && (wide.at[i] ? compute_wide(e, single, a, mask) : mk_walk(e, &e->v->trie, single, mask));
        }
    vec_drop(&e->b, &wide);
    return ok;
}

/* Copies a kept mask if the reference still holds. */
static bool copy_kept(ge_engine *e, u64 reference, u32 *out, bool *all) {
    mk_mask *kept = stable_at(&e->masks, (u32)reference - 1);
    atomic_fetch_add(&kept->readers, 1);
    bool valid = atomic_load(&kept->stamp) == (u32)(reference >> 32);
    if (valid) {
        memcpy(out, kept->bits, e->v->n_words * sizeof *out);
        *all = kept->all;
        atomic_store_explicit(&kept->used, atomic_fetch_add_explicit(&e->clock, 1, memory_order_relaxed), memory_order_relaxed);
    }
    atomic_fetch_sub(&kept->readers, 1);
    return valid;
}

bool mk_warm(ge_engine *e, u32 config, u32 *out, bool *all) {
    u64 reference = atomic_load(&cf_at(e, config)->mask);
    return reference && copy_kept(e, reference, out, all);
}

static void release_bits(ge_engine *e, mk_mask *kept) {
    free(kept->bits);
    kept->bits = NULL;
    e->mask_bytes -= e->v->n_words * sizeof(u32);
}

/* Makes room for one more mask; false if nothing can go. A slot whose stamp is odd and whose bits are gone is free. */
static bool evict_one(ge_engine *e) {
    mk_mask *oldest = NULL;
    for (u32 i = 0; i < e->masks.n; i++) {
        mk_mask *kept = stable_at(&e->masks, i);
        if (!kept->bits) continue;
        if (atomic_load(&kept->stamp) & 1) { /* evicted while it was being read */
            if (atomic_load(&kept->readers)) continue;
            return release_bits(e, kept), true;
        }
        if (!oldest || atomic_load(&kept->used) < atomic_load(&oldest->used)) oldest = kept;
    }
    if (!oldest) return false;
    atomic_fetch_add(&oldest->stamp, 1);
    e->stats.mask_evictions++;
    e->stats.masks--;
    if (atomic_load(&oldest->readers)) return false;
    return release_bits(e, oldest), true;
}

/* Keeps the mask for the configuration, if there is room. Never fails: not to keep a mask costs only time. */
static void keep(ge_engine *e, u32 config, const u32 *mask, bool all) {
    u64 hash = hash_bits(mask, e->v->n_words);
    size_t size = e->v->n_words * sizeof *mask;
    u32 index = map_get(&e->mask_of_hash, hash);
    mk_mask *kept = index == NONE ? NULL : stable_at(&e->masks, index);
    if (kept && !(atomic_load(&kept->stamp) & 1) && kept->hash == hash) {
        if (memcmp(kept->bits, mask, size) != 0) return; /* a collision: the first keeps its place */
        e->stats.mask_hits++;
    } else {
        while (e->mask_bytes + size > e->b.limits.max_mask_bytes)
            if (!evict_one(e)) return;
        kept = NULL;
        if (e->stats.masks < e->masks.n) /* some slot is free */
            for (u32 i = 0; i < e->masks.n && !kept; i++) {
                mk_mask *slot = stable_at(&e->masks, i);
                if (!slot->bits) kept = slot, index = i;
            }
        if (!kept) {
            kept = stable_push(&e->b, &e->masks);
            if (!kept) return;
            index = e->masks.n - 1;
            atomic_store(&kept->stamp, 1);
        }
        kept->bits = malloc(size);
        if (!kept->bits) return;
        e->mask_bytes += size;
        memcpy(kept->bits, mask, size);
        kept->hash = hash;
        kept->all = all;
        atomic_store(&kept->used, atomic_fetch_add(&e->clock, 1));
        atomic_fetch_add(&kept->stamp, 1); /* even: in use */
        e->stats.masks++;
        if (!map_put(&e->b, &e->mask_of_hash, hash, index)) return;
    }
    atomic_store(&cf_at(e, config)->mask, (u64)atomic_load(&kept->stamp) << 32 | (index + 1));
}

/* Keeps the suspects that were found with the configuration. */
static bool keep_suspects(ge_engine *e, u32 config) {
    cf_record *record = cf_at(e, config);
    if (e->suspects.n == 0 || record->n_suspects) return true;
    if (!vec_reserve(&e->b, &e->all_suspects, e->suspects.n)) return false;
    record->suspects = e->all_suspects.n;
    record->n_suspects = e->suspects.n;
    memcpy(e->all_suspects.at + e->all_suspects.n, e->suspects.at, e->suspects.n * sizeof *e->suspects.at);
    e->all_suspects.n += e->suspects.n;
    return true;
}

/* Whether the configuration can read a token, in *answer. */
static bool reads(ge_engine *e, u32 config, u32 token, bool *answer) {
    for (u32 at = e->v->offsets[token]; at < e->v->offsets[token + 1] && config != CF_DEAD && config != NONE; at++)
        config = cf_step(e, config, e->lx.x.class_of[e->v->text[at]]);
    *answer = config != CF_DEAD;
    return config != NONE;
}

/* The mask of a configuration that is not abstract, from that of its twin. */
static bool cold_from_twin(ge_engine *e, u32 config, u32 twin, u32 *out, bool *all) {
    if (!mk_warm(e, twin, out, all) && !mk_cold(e, twin, out, all)) return false;
    cf_record *record = cf_at(e, twin);
    bool same = true;
    for (u32 i = 0; i < record->n_suspects; i++) {
        bool is_read;
        u32 token = e->all_suspects.at[record->suspects + i];
        if (!reads(e, config, token, &is_read)) return false;
        if (is_read) continue;
        out[token >> 5] &= ~((u32)1 << (token & 31));
        same = *all = false;
    }
    u32 any = 0;
    for (u32 i = 0; i < e->v->n_words; i++) any |= out[i];
    if (!any || e->switches & GE_NO_MASK_CACHE) return true; /* an empty one is an error each time */
    if (same) atomic_store(&cf_at(e, config)->mask, atomic_load(&record->mask));
    else keep(e, config, out, *all);
    e->b.status = GE_OK; /* a mask that could not be kept is still right */
    return true;
}

bool mk_cold(ge_engine *e, u32 config, u32 *out, bool *all) {
    if (!e->scratch_mask) {
        e->scratch_mask = mem_resize(&e->b, NULL, 0, e->v->n_words * sizeof *e->scratch_mask);
        if (!e->scratch_mask) return false;
    }
    u32 *mask = e->scratch_mask, twin = cf_twin(e, config);
    if (twin == NONE) return false;
    if (twin != config) return cold_from_twin(e, config, twin, out, all);
    e->suspects.n = 0;
    if (!compute(e, config, mask) || !keep_suspects(e, config)) return false;
    e->stats.mask_builds++;
    if (cf_at(e, config)->complete)
        for (u32 i = 0; i < e->v->n_eos; i++) mask[e->v->eos[i] >> 5] |= (u32)1 << (e->v->eos[i] & 31);
    *all = true;
    for (u32 i = 0; i < e->v->n_words && *all; i++) {
        u32 rest = e->v->width - 32 * i;
        *all = mask[i] == (rest >= 32 ? UINT32_MAX : ((u32)1 << rest) - 1);
    }
    memcpy(out, mask, e->v->n_words * sizeof *out);
    u32 any = 0;
    for (u32 i = 0; i < e->v->n_words; i++) any |= mask[i];
    if (any && !(e->switches & GE_NO_MASK_CACHE)) { /* an empty one is an error each time */
        keep(e, config, mask, *all);
        e->b.status = GE_OK; /* a mask that could not be kept is still right */
    }
    return true;
}

void mk_drop(ge_engine *e) {
    for (u32 i = 0; i < e->masks.n; i++) free(((mk_mask *)stable_at(&e->masks, i))->bits);
    stable_drop(&e->b, &e->masks);
    map_drop(&e->b, &e->mask_of_hash);
    if (e->scratch_mask) mem_resize(&e->b, e->scratch_mask, e->v->n_words * sizeof *e->scratch_mask, 0);
    vec_drop(&e->b, &e->suspects);
    vec_drop(&e->b, &e->all_suspects);
    vec_drop(&e->b, &e->walk_next);
    vec_drop(&e->b, &e->walk_states);
    vec_drop(&e->b, &e->walk_exits);
    vec_drop(&e->b, &e->key);
    vec_drop(&e->b, &e->state_visits);
}
