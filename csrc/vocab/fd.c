#include "fd.h"

/* The fold is made breadth first too: all nodes of the trie that have come to one node of the fold are looked at together, and their children
 * are dealt out by class, in the order in which the classes are met. Until its turn comes `first` of a node is the head of the list of those
 * nodes. */
typedef struct folding {
    fd_fold *f;
    const tt_trie *trie;
    u32 *next;          /* node of the trie -> the next one that came to the same node of the fold and has children, or NONE */
    u32 child_of[256];  /* class -> the child that was made for it last: of the node at hand, or of one before */
    u32 *node_of_token; /* where is_folded */
    u64 *is_folded;     /* a bit for each token */
    u32 n_words;        /* ... in so many words */
} folding;

/* Room for all children of one node. */
static inline bool reserve_fold_nodes(fd_fold *f, budget *b) {
    return vec_reserve(b, &f->class, 256) && vec_reserve(b, &f->ends, 256) && vec_reserve(b, &f->first, 256);
}

static u32 add_fold_node(fd_fold *f, u32 class) {
    f->class.at[f->class.n++] = (u8)class;
    f->ends.at[f->ends.n++] = false;
    f->first.at[f->first.n++] = NONE;
    return f->class.n - 1;
}

/* A node of the trie comes to a node of the fold. */
static inline void fold_member(folding *w, u32 node, u32 member) {
    const tt_trie *trie = w->trie;
    u32 *list = &w->f->first.at[node];
    for (u32 next, token = tt_token(trie, member, &next); token != NONE; token = tt_more(trie, &next)) {
        w->node_of_token[token] = node;
        w->is_folded[token / 64] |= (u64)1 << token % 64;
        w->f->ends.at[node] = true;
    }
    w->next[member] = *list;
    *list = trie->first.at[member] == trie->first.at[member + 1] ? *list : member;
}

static void fold_children(folding *w, u32 node) {
    const tt_trie *trie = w->trie;
    u32 begin = w->f->class.n, member = w->f->first.at[node];
    w->f->first.at[node] = begin;
    for (; member != NONE; member = w->next[member])
        for (u32 child = trie->first.at[member], end = trie->first.at[member + 1]; child < end; child++) {
            u32 k = w->f->class_of[trie->byte.at[child]];
            if (k == FD_NO_CLASS) continue;
            if (w->child_of[k] < begin) w->child_of[k] = add_fold_node(w->f, k);
            fold_member(w, w->child_of[k], child);
        }
}

static bool list_tokens(folding *w, budget *b) {
    enum { GAP_BYTES = 5 }; /* at most */
    fd_fold *f = w->f;
    u32 n = 0, before = 0;
    for (u32 word = 0; word < w->n_words; word++) n += (u32)__builtin_popcountll(w->is_folded[word]);
    if (!vec_reserve(b, &f->node_of, n)) return false;
    for (u32 word = 0; word < w->n_words; word++)
        for (u64 left = w->is_folded[word]; left; left &= left - 1) {
            u32 token = 64 * word + (u32)__builtin_ctzll(left), gap = token - before;
            if (!vec_reserve(b, &f->gaps, GAP_BYTES)) return false;
            for (; gap > 127; gap >>= 7) f->gaps.at[f->gaps.n++] = (u8)(gap | 128);
            f->gaps.at[f->gaps.n++] = (u8)gap;
            f->node_of.at[f->node_of.n++] = w->node_of_token[token];
            before = token;
        }
    return vec_fit(b, &f->gaps);
}

bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]) {
    folding w = {.f = f, .trie = trie, .n_words = n_tokens / 64 + 1};
    size_t next_size = trie->byte.n * sizeof *w.next, tokens_size = (n_tokens + (size_t)1) * sizeof *w.node_of_token;
    size_t folded_size = w.n_words * sizeof *w.is_folded;
    *f = (fd_fold){0};
    memcpy(f->class_of, class_of, sizeof f->class_of);
    w.next = mem_resize(b, NULL, 0, next_size);
    w.node_of_token = mem_resize(b, NULL, 0, tokens_size);
    w.is_folded = mem_resize(b, NULL, 0, folded_size);
    bool ok = w.next && w.node_of_token && w.is_folded && reserve_fold_nodes(f, b);
    if (ok) {
        memset(w.is_folded, 0, folded_size);
        fold_member(&w, add_fold_node(f, 0), 0); /* the root, which spells no token */
    }
    for (u32 node = 0; ok && node < f->class.n; node++)
        if ((ok = reserve_fold_nodes(f, b))) fold_children(&w, node);
    ok = ok && list_tokens(&w, b) && vec_push(b, &f->first, f->class.n) && vec_fit(b, &f->class) && vec_fit(b, &f->ends) && vec_fit(b, &f->first);
    if (w.next) mem_resize(b, w.next, next_size, 0);
    if (w.node_of_token) mem_resize(b, w.node_of_token, tokens_size, 0);
    if (w.is_folded) mem_resize(b, w.is_folded, folded_size, 0);
    if (!ok) fd_drop(f, b);
    f->bytes = vec_bytes(&f->class) + vec_bytes(&f->first) + vec_bytes(&f->ends) + vec_bytes(&f->gaps) + vec_bytes(&f->node_of);
    return ok;
}

void fd_drop(fd_fold *f, budget *b) {
    vec_drop(b, &f->class);
    vec_drop(b, &f->first);
    vec_drop(b, &f->ends);
    vec_drop(b, &f->gaps);
    vec_drop(b, &f->node_of);
}
