/* vb_store: what is kept of lexemes with a vocabulary, masks, automata
 * and outlines, at most so many bytes of it, but for what is being read.
 *
 * Idea. An entry is in a chain of those whose hashes fall together, and in a ring of those that nobody reads, from the one that was given
 * back last to the one that was given back first, which is dropped first. So nothing here takes longer the more there is; only where the
 * chains double in number are all of them gone through.
 *
 * Invariant. An entry of the store is in the ring if and only if it has no users. All under the lock. */
#include "vb.h"

enum { FIRST_CHAINS = 256 };

void vb_inner_free(budget *b, vb_inner *e) {
    for (u32 i = 0; i < e->exits.n; i++) {
        vec_drop(b, &e->exits.at[i].places);
        vb_drop_tails(b, &e->exits.at[i]);
    }
    vec_drop(b, &e->exits);
    vec_drop(b, &e->key);
    vec_drop(b, &e->outline);
    if (e->lexeme) mem_resize(b, e->lexeme, vb_lexeme_bytes(e->lexeme->n_states, e->lexeme->n_classes), 0);
    if (e->bits) mem_resize(b, e->bits, e->n_words * sizeof *e->bits, 0);
    if (e->needs) mem_resize(b, e->needs, 32 * e->n_words, 0);
    mem_resize(b, e, sizeof *e, 0);
}

static void leave_ring(vb_inner *e) {
    e->lru.older->newer = e->lru.newer;
    e->lru.newer->older = e->lru.older;
}

static void enter_ring(vb_store *s, vb_inner *e) {
    e->lru = (vb_lru){.older = s->unread.older, .newer = &s->unread};
    e->lru.older->newer = e->lru.newer->older = &e->lru;
}

static vb_inner **chain_of(const vb_store *s, u64 hash) { return &s->chains.at[hash & (s->chains.n - 1)]; }

static bool double_chains(budget *b, vb_store *s) {
    vb_store wider = {.n = s->n};
    u32 n = s->chains.n ? s->chains.n * 2 : FIRST_CHAINS;
    if (!vec_reserve(b, &wider.chains, n)) return false;
    memset(wider.chains.at, 0, n * sizeof(vb_inner *));
    wider.chains.n = n;
    for (u32 i = 0; i < s->chains.n; i++)
        for (vb_inner *e = s->chains.at[i], *next; e; e = next) {
            vb_inner **to = chain_of(&wider, e->hash);
            next = e->next;
            e->next = *to;
            *to = e;
        }
    vec_drop(b, &s->chains);
    s->chains = wider.chains;
    return true;
}

/* Where the entry keeps bits (VB_BITS) and needs. */
static bool share_rows(ge_vocab *v, vb_inner *e) {
    const size_t sizes[VB_ROWS] = {e->n_words * sizeof *e->bits, 32 * (size_t)e->n_words};
    void *const own[VB_ROWS] = {e->bits, e->needs};
    for (u32 i = 0; i < VB_ROWS; i++) {
        if (!own[i]) continue;
        if (!(e->rows[i] = vb_take_row(v, own[i], sizes[i]))) return false;
        e->bytes -= sizes[i];
        if (i == VB_BITS) e->bits = e->rows[i]->at;
        else e->needs = e->rows[i]->at;
    }
    return true;
}

/* Frees an entry that may have rows. */
static void free_inner(ge_vocab *v, vb_inner *e) {
    if (e->rows[VB_BITS]) e->bits = NULL;
    if (e->rows[VB_NEEDS]) e->needs = NULL;
    for (u32 i = 0; i < VB_ROWS; i++)
        if (e->rows[i]) vb_release_row(v, e->rows[i]);
    vb_inner_free(&v->b, e);
}

static vb_inner *find_inner(const vb_store *s, u64 hash) {
    vb_inner *e = s->n ? *chain_of(s, hash) : NULL;
    while (e && e->hash != hash) e = e->next;
    return e;
}

/* An entry that nobody reads. */
static void drop_inner(ge_vocab *v, vb_inner *e) {
    vb_inner **at = chain_of(&v->store, e->hash);
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    leave_ring(e);
    v->store.n--;
    v->store.bytes -= e->bytes;
    free_inner(v, e);
}

void vb_trim(ge_vocab *v) {
    vb_lru *unread = &v->store.unread;
    while (v->store.bytes > v->store.max_bytes && unread->newer != unread) drop_inner(v, (vb_inner *)unread->newer);
}

void vb_drop_store(ge_vocab *v) {
    vb_store *s = &v->store;
    for (u32 i = 0; i < s->chains.n; i++)
        for (vb_inner *e = s->chains.at[i], *next; e; e = next) {
            next = e->next;
            free_inner(v, e);
        }
    vec_drop(&v->b, &s->chains);
    vb_drop_rows(v);
}

const vb_inner *vb_find(ge_vocab *v, u64 hash) {
    lock_take(&v->lock);
    vb_inner *e = find_inner(&v->store, hash);
    if (e && e->users++ == 0) leave_ring(e);
    lock_release(&v->lock);
    return e;
}

const vb_inner *vb_add(ge_vocab *v, vb_inner *entry) {
    vb_store *s = &v->store;
    lock_take(&v->lock);
    budget_begin(&v->b);
    v->b.bytes += entry->bytes;
    bool ok = !find_inner(s, entry->hash); /* else another thread was faster, or it is a collision: the first keeps its place */
    ok = ok && (s->n < s->chains.n || double_chains(&v->b, s)) && share_rows(v, entry);
    if (ok) {
        vb_inner **chain = chain_of(s, entry->hash);
        entry->users = 1;
        entry->kept = true;
        entry->serial = ++s->serial;
        entry->next = *chain;
        *chain = entry;
        s->n++;
        s->bytes += entry->bytes;
        vb_trim(v);
    } else {
        free_inner(v, entry);
    }
    lock_release(&v->lock);
    return ok ? entry : NULL;
}

void vb_hold(ge_vocab *v, const vb_inner *entry) {
    lock_take(&v->lock);
    ((vb_inner *)(uintptr_t)entry)->users++;
    lock_release(&v->lock);
}

void vb_release(ge_vocab *v, const vb_inner *entry) {
    vb_inner *e = (vb_inner *)(uintptr_t)entry;
    lock_take(&v->lock);
    if (--e->users == 0) {
        enter_ring(&v->store, e);
        vb_trim(v);
    }
    lock_release(&v->lock);
}

void ge_vocab_bound(ge_vocab *v, size_t max_bytes) {
    lock_take(&v->lock);
    v->store.max_bytes = max_bytes;
    vb_trim(v);
    lock_release(&v->lock);
}
