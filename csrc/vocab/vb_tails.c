/* vb_tails: what is left of the tokens that leave a lexeme, as tries that are made when they are asked for.
 *
 * 17,500 tails leave an identifier (Tekken). Nine in ten of them begin with a letter or beyond ASCII, since each split counts (`oo(` after
 * `f`), and what comes after an identifier mostly begins with neither. So tails are parted by how they begin into *sorts*, and a sort is
 * sorted into a trie when a row may read one of its bytes for the first time. Few tails are of one sort, whatever they begin with.
 *
 *     VB_MARKS, VB_WORDS, VB_BEYOND    begin with a mark; a letter, a digit, or `_`; a byte beyond ASCII
 *     VB_MIXED                         begin with letters, digits or `_`, and then such a byte: all of which that is known. Few grammars
 *                                      read any (mask/mk_tails.c)
 *
 * A grammar that reads few bytes beyond ASCII has a trie of the tails that have
 * no others; what it is depends on these bytes alone, so that is kept, too.
 *
 * A trie is made without the lock and published under it; it is never changed. */
#include "vb.h"

enum {
    FEW_TAILS = 500, /* they are one sort */
    MOST_PARTS = 16  /* of an exit; whoever asks for one more gets all tails */
};

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
    for (u32 i = 0; i < VB_SORTS; i++)
        if (!vec_fit(b, &exit->tails[i])) return false;
    return true;
}

static void free_trie(budget *b, tt_trie *trie) {
    tt_drop(trie, b);
    mem_resize(b, trie, sizeof *trie, 0);
}

/* Are the bytes beyond ASCII that come first in a tail all among those? */
static bool is_of_part(const ge_vocab *v, const byte_set *beyond, vb_tail tail) {
    vb_beyond known = v->beyond[tail.token]; /* mostly this decides, and the text lies elsewhere */
    if (known.at != VB_NOWHERE && tail.first <= known.at && !set_has(beyond, known.byte)) return false;
    const u8 *at = v->text + v->offsets[tail.token] + tail.first, *end = v->text + v->offsets[tail.token + 1];
    while (at < end && *at < 0x80) at++;
    while (at < end && *at >= 0x80 && set_has(beyond, *at)) at++;
    return at == end || *at < 0x80;
}

/* The tails of a sort, within `beyond` unless that is NULL. *made = NULL: there are none within. */
static bool make_trie(const ge_vocab *v, budget *b, const vb_exit *exit, u32 sort, const byte_set *beyond, tt_trie **made) {
    VEC(tt_item) items = {0};
    u32 n = exit->tails[sort].n;
    bool ok = vec_reserve(b, &items, beyond ? 0 : n);
    *made = NULL;
    for (u32 i = 0; ok && i < n; i++) {
        vb_tail tail = exit->tails[sort].at[i];
        if (beyond && !is_of_part(v, beyond, tail)) continue;
        u32 from = v->offsets[tail.token] + tail.first;
        ok = vec_push(b, &items, ((tt_item){v->text + from, v->offsets[tail.token + 1] - from, tail.token}));
    }
    if (ok && (items.n || !beyond)) {
        tt_trie *trie = mem_resize(b, NULL, 0, sizeof *trie);
        ok = trie && tt_build(trie, b, items.at, items.n);
        if (ok) *made = trie;
        else if (trie) mem_resize(b, trie, sizeof *trie, 0);
    }
    vec_drop(b, &items);
    return ok;
}

/* So many bytes more belong to an entry; under the lock. */
static void count_bytes(ge_vocab *v, vb_inner *of, size_t bytes) {
    of->bytes += bytes;
    if (!of->kept) return;
    v->b.bytes += bytes;
    v->store.bytes += bytes;
    vb_trim(v);
}

const tt_trie *vb_tails(ge_vocab *v, const vb_inner *entry, u32 exit, u32 sort) {
    vb_inner *of = (vb_inner *)(uintptr_t)entry;
    vb_exit *from = &of->exits.at[exit];
    tt_trie *known = atomic_load_explicit(&from->tries[sort], memory_order_acquire), *made;
    if (known) return known;

    budget b; /* of what is made without the lock */
    budget_init(&b, &v->b.limits);
    if (!make_trie(v, &b, from, sort, NULL, &made)) return NULL;
    lock_take(&v->lock);
    known = atomic_load_explicit(&from->tries[sort], memory_order_relaxed);
    if (!known) {
        atomic_store_explicit(&from->tries[sort], made, memory_order_release);
        count_bytes(v, of, b.bytes);
    }
    lock_release(&v->lock);
    if (!known) return made;
    free_trie(&b, made); /* another thread was faster */
    return known;
}

static void free_part(budget *b, vb_part *part) {
    if (part->tails) free_trie(b, part->tails);
    mem_resize(b, part, sizeof *part, 0);
}

static vb_part *find_part(vb_part *part, u32 sort, const byte_set *beyond, u32 *n) {
    for (*n = 0; part && !(part->sort == sort && memcmp(&part->beyond, beyond, sizeof *beyond) == 0); part = part->next) ++*n;
    return part;
}

bool vb_tails_within(ge_vocab *v, const vb_inner *entry, u32 exit, u32 sort, const byte_set *beyond, const tt_trie **tails) {
    vb_inner *of = (vb_inner *)(uintptr_t)entry;
    vb_exit *from = &of->exits.at[exit];
    u32 n;
    vb_part *known = find_part(atomic_load_explicit(&from->parts, memory_order_acquire), sort, beyond, &n);
    if (known) return *tails = known->tails, true;
    if (n >= MOST_PARTS) return (*tails = vb_tails(v, entry, exit, sort)) != NULL;

    budget b;
    budget_init(&b, &v->b.limits);
    vb_part *made = mem_resize(&b, NULL, 0, sizeof *made);
    if (!made) return false;
    *made = (vb_part){.beyond = *beyond, .sort = sort};
    if (!make_trie(v, &b, from, sort, beyond, &made->tails)) return mem_resize(&b, made, sizeof *made, 0), false;
    lock_take(&v->lock);
    made->next = atomic_load_explicit(&from->parts, memory_order_relaxed);
    known = find_part(made->next, sort, beyond, &n);
    if (!known) {
        atomic_store_explicit(&from->parts, made, memory_order_release);
        count_bytes(v, of, b.bytes);
    }
    lock_release(&v->lock);
    *tails = known ? known->tails : made->tails;
    if (known) free_part(&b, made);
    return true;
}

void vb_drop_tails(budget *b, vb_exit *exit) {
    for (u32 i = 0; i < VB_SORTS; i++) {
        tt_trie *trie = atomic_load_explicit(&exit->tries[i], memory_order_relaxed);
        if (trie) free_trie(b, trie);
        vec_drop(b, &exit->tails[i]);
    }
    for (vb_part *part = atomic_load_explicit(&exit->parts, memory_order_relaxed), *next; part; part = next) {
        next = part->next;
        free_part(b, part);
    }
}
