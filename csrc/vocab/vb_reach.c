/* vb_reach: what the tokens below a node may add to the labels of host names (regex/names/rx_unbound.h),
 * for masks within these (mask/mk_name.c): where all of it fits, the tokens need no look.
 *
 * Made when it is first asked for, and kept with the vocabulary: 3 bytes a node. */
#include "../regex/names/rx_unbound.h"
#include "../regex/utf8.h"
#include "vb.h"

#define MALFORMED UINT32_MAX

/* *bytes, those of the character of which the last was read: with one more. *code = that character, if it has ended. */
static void read_byte(u32 *bytes, u32 byte, u32 *code) {
    u32 low = byte, high = byte;
    *code = NONE;
    bool is_begun = *bytes || byte >= 0x80;
    if (*bytes != MALFORMED && is_begun && !utf8_range(*bytes = *bytes << 8 | byte, &low, &high)) *bytes = MALFORMED;
    if (*bytes == MALFORMED || low != high) return;
    *bytes = 0;
    *code = low;
}

/* `bytes`: for each node those of the character that is begun there. */
static void find_reach(const tt_trie *trie, u32 *bytes, name_reach *reach) {
    u32 n = trie->byte.n, code;
    memset(reach, 0, n * sizeof *reach);
    bytes[0] = 0;
    for (u32 i = 1; i < n; i++) {
        bytes[i] = bytes[trie->parent.at[i]];
        read_byte(&bytes[i], trie->byte.at[i], &code);
    }
    for (u32 i = n; i-- > 1;) { /* children come after their parents */
        u32 above = trie->parent.at[i], before = bytes[above];
        name_reach *r = reach + i, from = *r;
        if (bytes[i] == MALFORMED) from.n_others = NAME_ANY;
        else if (bytes[i] && tt_token(trie, i) != NONE) rx_reach_part(&from), *r = from;
        read_byte(&before, trie->byte.at[i], &code);
        if (code != NONE) rx_reach_char(&from, code, above ? trie->byte.at[above] : NONE);
        reach[above].n_plain = (u8)max_u32(reach[above].n_plain, from.n_plain);
        reach[above].n_far = (u8)max_u32(reach[above].n_far, from.n_far);
        reach[above].n_others = (u8)max_u32(reach[above].n_others, from.n_others);
    }
}

const name_reach *vb_reach(ge_vocab *v) {
    name_reach *known = atomic_load_explicit(&v->reach, memory_order_acquire);
    if (known) return known;
    u32 n = v->trie.byte.n;
    budget b; /* of what is made without the lock */
    budget_init(&b, &v->b.limits);
    name_reach *made = mem_resize(&b, NULL, 0, n * sizeof *made);
    u32 *bytes = mem_resize(&b, NULL, 0, n * sizeof *bytes);
    bool ok = made && bytes;
    if (ok) find_reach(&v->trie, bytes, made);
    if (bytes) mem_resize(&b, bytes, n * sizeof *bytes, 0);
    lock_take(&v->lock);
    known = atomic_load_explicit(&v->reach, memory_order_relaxed); /* another thread may have been faster */
    if (ok && !known) {
        atomic_store_explicit(&v->reach, known = made, memory_order_release);
        v->b.bytes += b.bytes;
    } else if (made) {
        mem_resize(&b, made, n * sizeof *made, 0);
    }
    lock_release(&v->lock);
    return known;
}

void vb_drop_reach(ge_vocab *v) {
    if (v->reach) mem_resize(&v->b, v->reach, v->trie.byte.n * sizeof *v->reach, 0);
}
