#include "fd.h"

static int compare_fold_tokens(const void *left, const void *right) {
    u32 p = *(const u32 *)left, q = *(const u32 *)right;
    return p < q ? -1 : p > q;
}

/* Appends the tokens of some nodes of the trie. */
static bool fold_tokens(fd_fold *f, budget *b, const tt_trie *trie, const u32 *nodes, u32 n) {
    u32 from = f->tokens.n;
    for (u32 i = 0; i < n; i++)
        for (u32 next, token = tt_token(trie, nodes[i], &next); token != NONE; token = tt_more(trie, &next))
            if (!vec_push(b, &f->tokens, token)) return false;
    if (f->tokens.n - from > 1) qsort(f->tokens.at + from, f->tokens.n - from, sizeof *f->tokens.at, compare_fold_tokens);
    return vec_push(b, &f->token_from, f->tokens.n);
}

typedef struct folding {
    id_vec members;     /* nodes of the trie, those of one node of the fold side by side */
    id_vec member_from; /* node of the fold -> its first; one entry more than there are nodes */
    u32 count[256];     /* by class: of the node at hand; 0 in between */
} folding;

/* The children of a node of the fold: those of its members, by class. */
static bool fold_children(fd_fold *f, budget *b, folding *w, const tt_trie *trie, u32 node) {
    u32 from = w->member_from.at[node], to = w->member_from.at[node + 1], place[256], n = 0;
    byte_set present = {0};
    for (u32 i = from; i < to; i++) {
        u32 member = w->members.at[i];
        for (u32 child = trie->first.at[member]; child < trie->first.at[member + 1]; child++) {
            u32 k = f->class_of[trie->byte.at[child]];
            if (k == FD_NO_CLASS) continue;
            n++;
            w->count[k]++;
            set_add(&present, k);
        }
    }
    if (n == 0) return true;
    u32 at = w->members.n;
    if (!vec_reserve(b, &w->members, n)) return false;
    w->members.n += n;
    for (u32 word = 0; word < 8; word++)
        for (u32 left = present.w[word]; left; left &= left - 1) {
            u32 k = 32 * word + (u32)__builtin_ctz(left);
            place[k] = at;
            at += w->count[k];
            w->count[k] = 0;
            if (!vec_push(b, &f->class, (u8)k) || !vec_push(b, &w->member_from, at)) return false;
        }
    for (u32 i = from; i < to; i++) {
        u32 member = w->members.at[i];
        for (u32 child = trie->first.at[member]; child < trie->first.at[member + 1]; child++) {
            u32 k = f->class_of[trie->byte.at[child]];
            if (k != FD_NO_CLASS) w->members.at[place[k]++] = child;
        }
    }
    return true;
}

bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, const u16 class_of[256]) {
    folding w = {0};
    *f = (fd_fold){0};
    memcpy(f->class_of, class_of, sizeof f->class_of);
    bool ok = vec_push(b, &w.members, 0) && vec_push(b, &w.member_from, 0) && vec_push(b, &w.member_from, 1) && /* the root */
              vec_push(b, &f->class, 0) && vec_push(b, &f->token_from, 0);
    for (u32 node = 0; ok && node < f->class.n; node++) {
        u32 from = w.member_from.at[node];
        ok = vec_push(b, &f->first, f->class.n) && fold_tokens(f, b, trie, w.members.at + from, w.member_from.at[node + 1] - from) &&
             fold_children(f, b, &w, trie, node);
    }
    ok = ok && vec_push(b, &f->first, f->class.n);
    vec_drop(b, &w.members);
    vec_drop(b, &w.member_from);
    if (!ok) fd_drop(f, b);
    f->bytes = vec_bytes(&f->class) + vec_bytes(&f->first) + vec_bytes(&f->token_from) + vec_bytes(&f->tokens);
    return ok;
}

void fd_drop(fd_fold *f, budget *b) {
    vec_drop(b, &f->class);
    vec_drop(b, &f->first);
    vec_drop(b, &f->token_from);
    vec_drop(b, &f->tokens);
}
