/* vb_fold: the folds of a vocabulary (fd.h) that are kept with it: at most
 * VB_FOLD_BYTES, but for those that are being read. The least recently used goes first. */
#include "vb.h"

static fd_fold *find_fold(const ge_vocab *v, const u16 class_of[256]) {
    for (u32 i = 0; i < v->folds.n; i++)
        if (memcmp(v->folds.at[i]->class_of, class_of, sizeof v->folds.at[i]->class_of) == 0) return v->folds.at[i];
    return NULL;
}

static void free_fold(ge_vocab *v, fd_fold *f) {
    fd_drop(f, &v->b);
    mem_resize(&v->b, f, sizeof *f, 0);
}

static bool drop_oldest_fold(ge_vocab *v) {
    u32 oldest = NONE;
    for (u32 i = 0; i < v->folds.n; i++)
        if (v->folds.at[i]->users == 0 && (oldest == NONE || v->folds.at[i]->used < v->folds.at[oldest]->used)) oldest = i;
    if (oldest == NONE) return false;
    v->fold_bytes -= v->folds.at[oldest]->bytes;
    free_fold(v, v->folds.at[oldest]);
    v->folds.at[oldest] = v->folds.at[--v->folds.n];
    return true;
}

static void trim_folds(ge_vocab *v) {
    while (v->fold_bytes > VB_FOLD_BYTES && drop_oldest_fold(v)) {}
}

static const fd_fold *use(ge_vocab *v, fd_fold *f) {
    f->users++;
    f->used = ++v->clock;
    return f;
}

const fd_fold *vb_fold(ge_vocab *v, const u16 class_of[256]) {
    lock_take(&v->lock);
    fd_fold *f = find_fold(v, class_of);
    if (f) use(v, f);
    lock_release(&v->lock);
    if (f) return f;

    budget b; /* of what is made without the lock */
    budget_init(&b, &v->b.limits);
    fd_fold *made = mem_resize(&b, NULL, 0, sizeof *made);
    bool ok = made && fd_build(made, &b, &v->trie, v->n_tokens, class_of);
    lock_take(&v->lock);
    budget_begin(&v->b);
    v->b.bytes += b.bytes;
    f = find_fold(v, class_of); /* another thread may have been faster */
    if (!f && ok && vec_push(&v->b, &v->folds, made)) {
        v->fold_bytes += made->bytes;
        f = made;
    } else if (made) {
        free_fold(v, made);
    }
    if (f) use(v, f);
    trim_folds(v);
    lock_release(&v->lock);
    return f;
}

void vb_fold_release(ge_vocab *v, const fd_fold *f) {
    lock_take(&v->lock);
    ((fd_fold *)(uintptr_t)f)->users--;
    trim_folds(v); /* what many read at once may be more */
    lock_release(&v->lock);
}

void vb_drop_folds(ge_vocab *v) {
    while (v->folds.n) free_fold(v, v->folds.at[--v->folds.n]);
    vec_drop(&v->b, &v->folds);
}
