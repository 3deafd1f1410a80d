/* vb_tails: what is left of the tokens that leave a lexeme, as tries that are made when they are asked for.
 *
 * 17,500 tails leave an identifier (Tekken). Nine in ten of them begin with a letter or beyond ASCII, since each split counts (`oo(` after `f`), and what comes
 * after an identifier mostly begins with neither. So tails are parted by how they begin into *sorts*, and a sort is sorted into a trie
 * when a row may read one of its bytes for the first time. Few tails are of one sort, whatever they begin with.
 *
 *     VB_MARKS, VB_WORDS, VB_BEYOND    begin with a mark; a letter, a digit, or `_`; a byte beyond ASCII
 *     VB_MIXED                         begin with letters, digits or `_`, and then such a byte: all of which that is known. Few grammars read
 *                                      any (match/mk_tails.c)
 *
 * A trie is made without the lock and published under it; it is never changed. */
#include "vb.h"

enum { FEW_TAILS = 500 }; /* they are one sort */

u32 vb_sort(u32 byte) {
    bool is_word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
    return byte >= 0x80 ? VB_BEYOND : is_word ? VB_WORDS : VB_MARKS;
}

bool vb_add_tails(budget *b, vb_exit *exit, u32 sort, u32 first, const u32 *tokens, u32 n) {
    if (!vec_reserve(b, &exit->tails[sort], n)) return false;
    vb_tail *to = exit->tails[sort].at + exit->tails[sort].n;
    for (u32 i = 0; i < n; i++) to[i] = (vb_tail){tokens[i], first};
    exit->tails[sort].n += n;
    return true;
}

bool vb_finish_tails(const ge_vocab *v, budget *b, vb_exit *exit) {
    u32 n = 0;
    for (u32 i = 0; i < VB_SORTS; i++) n += exit->tails[i].n;
    for (u32 byte = 0; byte < 256; byte++)
        if (exit->kinds >> v->shapes.kind_of[byte] & 1) {
            u32 sort = n > FEW_TAILS ? vb_sort(byte) : 0;
            if (sort != VB_WORDS || exit->tails[VB_WORDS].n) set_add(&exit->begins[sort], byte);
            if (sort == VB_WORDS && exit->tails[VB_MIXED].n) set_add(&exit->begins[VB_MIXED], byte);
        }
    for (u32 i = 1; i < VB_SORTS && n <= FEW_TAILS; i++) {
        for (u32 k = 0; k < exit->tails[i].n; k++)
            if (!vec_push(b, &exit->tails[0], exit->tails[i].at[k])) return false;
        vec_drop(b, &exit->tails[i]);
    }
    return true;
}

static void free_trie(budget *b, tt_trie *trie) {
    tt_drop(trie, b);
    mem_resize(b, trie, sizeof *trie, 0);
}

static tt_trie *make_trie(const ge_vocab *v, budget *b, const vb_exit *exit, u32 sort) {
    VEC(tt_item) items = {0};
    u32 n = exit->tails[sort].n;
    tt_trie *trie = mem_resize(b, NULL, 0, sizeof *trie);
    bool ok = trie && vec_reserve(b, &items, n);
    for (u32 i = 0; ok && i < n; i++) {
        vb_tail tail = exit->tails[sort].at[i];
        u32 from = v->offsets[tail.token] + tail.first;
        items.at[i] = (tt_item){v->text + from, v->offsets[tail.token + 1] - from, tail.token};
    }
    ok = ok && tt_build(trie, b, items.at, n);
    vec_drop(b, &items);
    if (ok) return trie;
    if (trie) mem_resize(b, trie, sizeof *trie, 0);
    return NULL;
}

const tt_trie *vb_tails(ge_vocab *v, const vb_inner *entry, u32 exit, u32 sort) {
    vb_inner *of = (vb_inner *)(uintptr_t)entry;
    vb_exit *from = &of->exits.at[exit];
    tt_trie *known = atomic_load_explicit(&from->tries[sort], memory_order_acquire);
    if (known) return known;

    budget b; /* of what is made without the lock */
    budget_init(&b, &v->b.limits);
    tt_trie *made = make_trie(v, &b, from, sort);
    if (!made) return NULL;
    lock_take(&v->lock);
    known = atomic_load_explicit(&from->tries[sort], memory_order_relaxed);
    if (!known) {
        atomic_store_explicit(&from->tries[sort], made, memory_order_release);
        of->bytes += b.bytes;
        if (of->kept) {
            v->b.bytes += b.bytes;
            v->store.bytes += b.bytes;
            vb_trim(v);
        }
    }
    lock_release(&v->lock);
    if (!known) return made;
    free_trie(&b, made); /* another thread was faster */
    return known;
}

void vb_drop_tails(budget *b, vb_exit *exit) {
    for (u32 i = 0; i < VB_SORTS; i++) {
        tt_trie *trie = atomic_load_explicit(&exit->tries[i], memory_order_relaxed);
        if (trie) free_trie(b, trie);
        vec_drop(b, &exit->tails[i]);
    }
}
