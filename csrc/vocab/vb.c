#include "../regex/rx.h"
#include "vb.h"

/* Number of characters of a plain token, 0 if it is not plain. */
static u32 plain_chars(const u8 *at, u32 n) {
    u32 chars = 0;
    for (u32 i = 0; i < n; chars++) {
        u8 c = at[i++];
        if (c < 0x20 || c == '"' || c == '\\' || (c >= 0x80 && c < 0xc2) || c > 0xf4) return 0;
        u32 more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        u8 low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf; /* of the second byte */
        if (more > n - i) return 0;
        for (; more; more--, low = 0x80, high = 0xbf, i++)
            if (at[i] < low || at[i] > high) return 0;
    }
    return chars;
}

static vb_beyond first_beyond(const u8 *at, u32 n) {
    u32 i = 0;
    while (i < n && i < VB_NOWHERE && at[i] < 0x80) i++;
    return i < n && i < VB_NOWHERE ? (vb_beyond){(u8)i, at[i]} : (vb_beyond){VB_NOWHERE, 0};
}

/* What the tables are made from. */
typedef struct source {
    tt_item *sorted; /* all tokens by their bytes: tries of some of them are then made without sorting */
    tt_item *some;   /* room for as many */
    u8 *chars;       /* by token: characters if it is plain, VB_SHORT + 1 for more; 0 if it is not plain */
} source;

/* Room for one bit per id of the logits, all clear. */
static u32 *new_bits(ge_vocab *v) {
    u32 *bits = mem_resize(&v->b, NULL, 0, v->n_words * sizeof *bits);
    if (bits) memset(bits, 0, v->n_words * sizeof *bits);
    return bits;
}

static void set_bit(u32 *bits, u32 i) { bits[i >> 5] |= (u32)1 << (i & 31); }

static bool build_slice(ge_vocab *v, u32 which, u32 max_chars, const source *from) {
    vb_slice *slice = &v->slices[which];
    u32 n = 0;
    slice->max_chars = max_chars;
    slice->bits = new_bits(v);
    if (!slice->bits) return false;
    for (u32 i = 0; i < v->n_tokens; i++) {
        tt_item item = from->sorted[i];
        u32 chars = from->chars[item.token];
        if (chars && chars <= max_chars) set_bit(slice->bits, item.token);
        else from->some[n++] = item;
    }
    return tt_build(&slice->rest, &v->b, from->some, n);
}

static bool build_counts(ge_vocab *v, const source *from) {
    for (u32 n = 0; n < VB_SHORT; n++)
        if (!(v->up_to[n] = new_bits(v))) return false;
    for (u32 i = 0; i < v->n_tokens; i++)
        if (from->chars[i] && from->chars[i] < VB_SHORT) set_bit(v->up_to[from->chars[i]], i);
    for (u32 n = 1; n < VB_SHORT; n++)
        for (u32 i = 0; i < v->n_words; i++) v->up_to[n][i] |= v->up_to[n - 1][i];
    return true;
}

/* The root, and its children below which lies a sixteenth of all nodes. */
static void find_hubs(ge_vocab *v) {
    const tt_trie *trie = &v->trie;
    v->n_hubs = 1;
    for (u32 i = 1; i < trie->first.at[1] && v->n_hubs < VB_HUBS; i++)
        if (tt_size(trie, i) >= trie->byte.n / 16 && trie->byte.n >= 4096)
            v->hubs[v->n_hubs++] = (vb_hub){.node = i, .byte = trie->byte.at[i]};
    for (u32 k = 0; k < v->n_hubs; k++) {
        vb_hub *hub = &v->hubs[k];
        for (u32 i = trie->first.at[hub->node]; i < trie->first.at[hub->node + 1]; i++) hub->weight[trie->byte.at[i]] = tt_size(trie, i);
        for (u32 h = 1; k == 0 && h < v->n_hubs; h++) hub->weight[v->hubs[h].byte] = 0;
    }
}

u32 vb_weight(const ge_vocab *v, u32 hub, u32 byte) {
    u32 weight = v->hubs[hub].weight[byte];
    for (u32 h = 1; hub == 0 && h < v->n_hubs; h++)
        for (u32 next = 0; next < 256 && v->hubs[h].byte == byte; next++) weight += v->hubs[h].weight[next];
    return weight;
}

static bool build_hub_bits(ge_vocab *v) {
    for (u32 k = 1; k < v->n_hubs; k++) {
        if (!(v->hub_bits[k] = new_bits(v))) return false;
        for (u32 i = 0; i < v->n_tokens; i++)
            if (v->offsets[i] < v->offsets[i + 1] && v->text[v->offsets[i]] == v->hubs[k].byte) set_bit(v->hub_bits[k], i);
    }
    return true;
}

/* Tiers of 16, 24 and 32 bytes, and of the longest token. Of shorter ones too many
 * tokens would be longer: states that near their bounds are analysed one by one. */
static bool build_tiers(ge_vocab *v, const source *from) {
    u32 most = 0;
    bool ok = true;
    for (u32 i = 0; i < v->n_tokens; i++) most = max_u32(most, from->sorted[i].n);
    for (u32 k = 0; ok && k < VB_TIERS; k++) {
        vb_tier *tier = &v->tiers[k];
        u32 n = 0;
        tier->bytes = k == 0 ? most : min_u32(most, 8 * (VB_TIERS + 1 - k));
        for (u32 i = 0; i < v->n_tokens; i++)
            if (from->sorted[i].n > tier->bytes) from->some[n++] = from->sorted[i];
        ok = tt_build(&tier->longer, &v->b, from->some, n);
    }
    return ok;
}

/* Counts the bytes of each token with which a character may begin. */
static bool build_chars(ge_vocab *v) {
    size_t n = 32 * (size_t)v->n_words;
    if (!(v->chars = mem_resize(&v->b, NULL, 0, n))) return false;
    memset(v->chars, VB_DEAD, n);
    for (u32 i = 0; i < v->n_tokens; i++) {
        u32 chars = 0;
        for (u32 at = v->offsets[i]; at < v->offsets[i + 1]; at++) chars += rx_begins_char(v->text[at]);
        if (v->offsets[i] < v->offsets[i + 1]) v->chars[i] = (u8)min_u32(chars, VB_MOST_NEED);
    }
    return true;
}

static bool build_plain_nodes(ge_vocab *v) {
    const tt_trie *trie = &v->trie, *rest = &v->slices[VB_PLAIN].rest;
    u32 n = trie->byte.n, n_others, at = 0;
    const u32 *tokens = trie->tokens.at, *others = tt_tokens(rest, 0, rest->byte.n, &n_others);
    if (!(v->plain_nodes = mem_resize(&v->b, NULL, 0, v->n_tokens * sizeof(u32)))) return false;
    for (u32 i = 0; i < v->n_tokens; i++) v->plain_nodes[i] = n;
    for (u32 node = 0; node < n; node++)
        for (; at < trie->token_from.at[node + 1]; at++) v->plain_nodes[tokens[at]] = node;
    for (u32 i = 0; i < n_others; i++) v->plain_nodes[others[i]] = n;
    return true;
}

/* All that is computed from the tokens. */
static bool build_tables(ge_vocab *v) {
    u32 n = v->n_tokens;
    source from = {.sorted = mem_resize(&v->b, NULL, 0, n * sizeof(tt_item)), .some = mem_resize(&v->b, NULL, 0, n * sizeof(tt_item))};
    from.chars = mem_resize(&v->b, NULL, 0, n);
    v->beyond = mem_resize(&v->b, NULL, 0, n * sizeof *v->beyond);
    bool ok = from.sorted && from.some && from.chars && v->beyond;
    for (u32 i = 0; ok && i < n; i++) {
        tt_item item = {.at = v->text + v->offsets[i], .n = v->offsets[i + 1] - v->offsets[i], .token = i};
        from.sorted[i] = item;
        v->beyond[i] = first_beyond(item.at, item.n);
        from.chars[i] = (u8)min_u32(plain_chars(item.at, item.n), VB_SHORT + 1);
    }
    ok = ok && tt_build(&v->trie, &v->b, from.sorted, n);
    if (ok) find_hubs(v);
    ok = ok && build_hub_bits(v) && build_slice(v, VB_PLAIN, NONE, &from) && build_slice(v, VB_PLAIN_SHORT, VB_SHORT, &from);
    ok = ok && build_plain_nodes(v) && build_chars(v) && build_counts(v, &from) && build_tiers(v, &from) && vb_make_shapes(v);
    if (from.sorted) mem_resize(&v->b, from.sorted, n * sizeof *from.sorted, 0);
    if (from.some) mem_resize(&v->b, from.some, n * sizeof *from.some, 0);
    if (from.chars) mem_resize(&v->b, from.chars, n, 0);
    return ok;
}

ge_vocab *vb_new(void) {
    ge_vocab *v = calloc(1, sizeof *v);
    if (!v || lock_init(&v->lock, LOCK_VOCAB)) return free(v), NULL;
    budget_init_unlimited(&v->b); /* the caller's memory is the limit here; the store has its own ceiling */
    v->store.unread = (vb_lru){&v->store.unread, &v->store.unread};
    v->store.max_bytes = VB_STORE_BYTES;
    return v;
}

ge_status ge_vocab_new(const uint8_t *bytes, const uint32_t *offsets, uint32_t n_tokens, uint32_t width, const uint32_t *eos,
                       uint32_t n_eos, ge_vocab **out, ge_err *err) {
    if (n_tokens == 0 || n_tokens > INT32_MAX) return err_set(err, GE_E_ARGUMENT, "the number of tokens is out of range");
    if (width > INT32_MAX) return err_set(err, GE_E_ARGUMENT, "width is out of range");
    if (width < n_tokens) return err_set(err, GE_E_ARGUMENT, "width is smaller than the number of tokens");
    for (u32 i = 0; i < n_eos; i++)
        if (eos[i] >= n_tokens || offsets[eos[i]] != offsets[eos[i] + 1])
            return err_set(err, GE_E_ARGUMENT, "an EOS id is out of range, or is text");
    for (u32 i = 0; i < n_tokens; i++)
        if (offsets[i + 1] < offsets[i] || offsets[i + 1] - offsets[i] > TT_MAX_BYTES)
            return err_set(err, GE_E_ARGUMENT, "a token is too long");

    ge_vocab *v = vb_new();
    if (!v) return err->status = GE_E_MEMORY;
    v->n_tokens = n_tokens;
    v->width = width;
    v->n_words = (width + 31) / 32;
    v->n_eos = n_eos;
    v->n_text = offsets[n_tokens];
    v->eos = mem_resize(&v->b, NULL, 0, (n_eos + 1) * sizeof *v->eos);
    v->offsets = mem_resize(&v->b, NULL, 0, (n_tokens + 1u) * sizeof *v->offsets);
    v->text = mem_resize(&v->b, NULL, 0, (size_t)v->n_text + 1);
    if (v->eos && v->offsets && v->text) {
        memcpy(v->offsets, offsets, (n_tokens + 1u) * sizeof *offsets);
        if (v->n_text) memcpy(v->text, bytes, v->n_text);
        if (n_eos) memcpy(v->eos, eos, n_eos * sizeof *eos);
        (void)(build_tables(v) && vb_make_openings(v));
    }
    if (v->b.status != GE_OK) {
        ge_status status = budget_report(&v->b, err);
        ge_vocab_free(v);
        return status;
    }
    *out = v;
    return GE_OK;
}

static void drop_tables(ge_vocab *v) {
    for (u32 k = 0; k < VB_TIERS; k++) tt_drop(&v->tiers[k].longer, &v->b);
    tt_drop(&v->trie, &v->b);
    for (u32 i = 0; i < VB_N_SLICES; i++) {
        tt_drop(&v->slices[i].rest, &v->b);
        free(v->slices[i].bits);
    }
    for (u32 n = 0; n < VB_SHORT; n++) free(v->up_to[n]);
    for (u32 k = 1; k < VB_HUBS; k++) free(v->hub_bits[k]);
    vb_drop_shapes(v);
    free(v->eos);
    free(v->offsets);
    free(v->text);
    free(v->beyond);
    free(v->chars);
    free(v->plain_nodes);
}

void ge_vocab_free(ge_vocab *v) {
    if (!v || !share_drop(&v->shares)) return;
    vb_drop_store(v);
    vb_drop_folds(v);
    vb_drop_openings(v);
    for (u32 i = 0; i < v->n_own; i++) vb_own_drop(&v->own[i], &v->b);
    free(v->own);
    vb_drop_reach(v);
    if (v->map) vb_unmap(v);
    else drop_tables(v);
    lock_drop(&v->lock);
    free(v);
}

void ge_vocab_free_at(ge_vocab **at) {
    ge_vocab_free(*at);
    *at = NULL;
}

void ge_vocab_read(const ge_vocab *v, ge_vocab_content *out) {
    *out = (ge_vocab_content){v->text, v->offsets, v->eos, v->note, v->n_tokens, v->width, v->n_eos, v->n_note};
}

size_t ge_vocab_bytes(ge_vocab *v) {
    lock_take(&v->lock);
    size_t bytes = v->b.bytes;
    lock_release(&v->lock);
    return bytes;
}

/* The same where the longest tokens lead to where none fits, as in a vocabulary that lacks bytes: from the end, the longest one at each
 * position after which the rest can be spelt, or all but what is open. */
static size_t encode_from_end(const tt_trie *trie, const ge_vocab *v, const u8 *text, size_t n_text, u32 *out) {
    const u32 is_open = NONE - 1; /* no token is taken, but some will do */
    for (size_t at = n_text; at-- > 0;) {
        u32 node = 0;
        size_t p = at;
        out[at] = NONE;
        for (; p < n_text; p++) {
            u32 child = vb_child(trie, node, text[p]);
            if (child == NONE) break;
            node = child;
            if (tt_has_token(trie, node) && (p + 1 == n_text || out[p + 1] != NONE)) out[at] = tt_token(trie, node);
        }
        if (p == n_text && trie->first.at[node] != trie->first.at[node + 1]) out[at] = is_open;
    }
    size_t n = 0;
    for (size_t at = 0; at < n_text && out[at] < is_open;) {
        u32 token = out[n++] = out[at]; /* n <= at: what is written over was read */
        at += v->offsets[token + 1] - v->offsets[token];
    }
    return n;
}

size_t ge_vocab_encode(const ge_vocab *v, const uint8_t *text, size_t n_text, uint32_t *out) {
    const tt_trie *trie = &v->trie;
    size_t at = 0, n = 0;
    while (at < n_text) {
        u32 node = 0, best = NONE;
        size_t best_end = at, p = at;
        for (; p < n_text; p++) { /* one level down per byte */
            u32 i = trie->first.at[node], end = trie->first.at[node + 1];
            while (i < end && trie->byte.at[i] != text[p]) i++;
            if (i == end) break;
            node = i;
            if (!tt_has_token(trie, node)) continue;
            best = tt_token(trie, node);
            best_end = p + 1;
        }
        bool open = p == n_text && trie->first.at[node] != trie->first.at[node + 1]; /* a longer token could begin here */
        if (best == NONE && !open) return encode_from_end(trie, v, text, n_text, out);
        if (open) break;
        out[n++] = best;
        at = best_end;
    }
    return n;
}
