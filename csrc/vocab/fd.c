#include "fd.h"

/* The fold is made breadth first too, so that each list is written from its beginning to its end. */
typedef struct folding {
    fd_fold *f;
    budget *b;
    const tt_trie *trie;
    id_vec members;     /* nodes of the trie, those of one node of the fold side by side */
    id_vec member_from; /* node of the fold -> its first; one entry more than there are nodes */
    u32 count[256];     /* by class: of the node at hand; 0 in between */
    u32 *node_of_token; /* where is_folded */
    u64 *is_folded;     /* a bit for each token */
    u32 n_tokens;
} folding;

static size_t folded_words(const folding *w) { return w->n_tokens / 64 + 1; }

/* Notes the tokens of a member. */
static void fold_tokens(folding *w, u32 node, u32 member) {
    for (u32 next, token = tt_token(w->trie, member, &next); token != NONE; token = tt_more(w->trie, &next)) {
        w->node_of_token[token] = node;
        w->is_folded[token / 64] |= (u64)1 << token % 64;
        w->f->ends.at[node] = true;
    }
}

/* A new node, whose members end at `to`. There is room. */
static void add_fold_node(folding *w, u32 class, u32 to) {
    fd_fold *f = w->f;
    f->class.at[f->class.n++] = (u8)class;
    f->ends.at[f->ends.n++] = false;
    w->member_from.at[w->member_from.n++] = to;
}

static bool reserve_fold_nodes(folding *w, u32 n) {
    return vec_reserve(w->b, &w->f->class, n) && vec_reserve(w->b, &w->f->ends, n) && vec_reserve(w->b, &w->member_from, n);
}

/* The children of a node of the fold: those of its members, by class. */
static bool fold_children(folding *w, u32 node) {
    const tt_trie *trie = w->trie;
    const u16 *class_of = w->f->class_of;
    u32 from = w->member_from.at[node], to = w->member_from.at[node + 1], place[256], n = 0;
    u64 present[4] = {0};
    for (u32 i = from; i < to; i++) {
        u32 member = w->members.at[i];
        for (u32 child = trie->first.at[member]; child < trie->first.at[member + 1]; child++) {
            u32 k = class_of[trie->byte.at[child]];
            if (k == FD_NO_CLASS) continue;
            n++;
            w->count[k]++;
            present[k / 64] |= (u64)1 << k % 64;
        }
    }
    if (n == 0) return true;
    u32 at = w->members.n;
    if (!vec_reserve(w->b, &w->members, n) || !reserve_fold_nodes(w, min_u32(n, 256))) return false;
    w->members.n += n;
    for (u32 word = 0; word < 4; word++)
        for (u64 left = present[word]; left; left &= left - 1) {
            u32 k = 64 * word + (u32)__builtin_ctzll(left);
            place[k] = at;
            at += w->count[k];
            w->count[k] = 0;
            add_fold_node(w, k, at);
        }
    for (u32 i = from; i < to; i++) {
        u32 member = w->members.at[i];
        for (u32 child = trie->first.at[member]; child < trie->first.at[member + 1]; child++) {
            u32 k = class_of[trie->byte.at[child]];
            if (k != FD_NO_CLASS) w->members.at[place[k]++] = child;
        }
    }
    return true;
}

static bool list_tokens(folding *w) {
    u32 n = 0;
    for (size_t word = 0; word < folded_words(w); word++) n += (u32)__builtin_popcountll(w->is_folded[word]);
    if (!vec_reserve(w->b, &w->f->tokens, n) || !vec_reserve(w->b, &w->f->node_of, n)) return false;
    for (size_t word = 0; word < folded_words(w); word++)
        for (u64 left = w->is_folded[word]; left; left &= left - 1) {
            u32 token = 64 * (u32)word + (u32)__builtin_ctzll(left);
            w->f->tokens.at[w->f->tokens.n++] = token;
            w->f->node_of.at[w->f->node_of.n++] = w->node_of_token[token];
        }
    return true;
}

bool fd_build(fd_fold *f, budget *b, const tt_trie *trie, u32 n_tokens, const u16 class_of[256]) {
    folding w = {.f = f, .b = b, .trie = trie, .n_tokens = n_tokens};
    *f = (fd_fold){0};
    memcpy(f->class_of, class_of, sizeof f->class_of);
    w.node_of_token = mem_resize(b, NULL, 0, (n_tokens + (size_t)1) * sizeof *w.node_of_token);
    w.is_folded = mem_resize(b, NULL, 0, folded_words(&w) * sizeof *w.is_folded);
    bool ok = w.node_of_token && w.is_folded && vec_push(b, &w.members, 0) && vec_push(b, &w.member_from, 0) && reserve_fold_nodes(&w, 1);
    if (ok) {
        memset(w.is_folded, 0, folded_words(&w) * sizeof *w.is_folded);
        add_fold_node(&w, 0, 1); /* the root */
    }
    for (u32 node = 0; ok && node < f->class.n; node++) {
        for (u32 i = w.member_from.at[node]; i < w.member_from.at[node + 1]; i++) fold_tokens(&w, node, w.members.at[i]);
        ok = vec_push(b, &f->first, f->class.n) && fold_children(&w, node);
    }
    ok = ok && vec_push(b, &f->first, f->class.n) && list_tokens(&w);
    vec_drop(b, &w.members);
    vec_drop(b, &w.member_from);
    if (w.node_of_token) mem_resize(b, w.node_of_token, (n_tokens + (size_t)1) * sizeof *w.node_of_token, 0);
    if (w.is_folded) mem_resize(b, w.is_folded, folded_words(&w) * sizeof *w.is_folded, 0);
    if (!ok) fd_drop(f, b);
    f->bytes = vec_bytes(&f->class) + vec_bytes(&f->first) + vec_bytes(&f->ends) + vec_bytes(&f->tokens) + vec_bytes(&f->node_of);
    return ok;
}

void fd_drop(fd_fold *f, budget *b) {
    vec_drop(b, &f->class);
    vec_drop(b, &f->first);
    vec_drop(b, &f->ends);
    vec_drop(b, &f->tokens);
    vec_drop(b, &f->node_of);
}
