#include "fd.h"

/* The fold is made breadth first too: all nodes of the trie that have come to one node of the fold are looked at together, and their
 * children are dealt out by class, in the order in which the classes are met. */
typedef struct folding {
    fd_fold *f;
    const tt_trie *trie;
    id_vec head;        /* node of the fold -> the first of the nodes that came to it and have children, or NONE */
    u32 *next;          /* node of the trie -> the next one of those, or NONE */
    u32 child_of[256];  /* class -> the child that was made for it last: of the node at hand, or of one before */
    u32 *node_of_token; /* where is_folded */
    u64 *is_folded;     /* a bit for each token */
    u32 n_words;        /* ... in so many words */
} folding;

/* Room for all children of one node. */
static inline bool reserve_fold_nodes(folding *w, budget *b) {
    return vec_reserve(b, &w->f->class, 256) && vec_reserve(b, &w->f->below, 256) && vec_reserve(b, &w->head, 256);
}

static u32 add_fold_node(folding *w, u32 class) {
    fd_fold *f = w->f;
    f->class.at[f->class.n++] = (u8)class;
    f->below.at[f->below.n++] = 0;
    w->head.at[w->head.n++] = NONE;
    return f->class.n - 1;
}

/* A node of the trie comes to a node of the fold. */
static inline void fold_member(folding *w, u32 node, u32 member) {
    const tt_trie *trie = w->trie;
    u32 *list = &w->head.at[node];
    u32 n;
    const u32 *tokens = tt_tokens(trie, member, member + 1, &n);
    for (u32 i = 0; i < n; i++) {
        w->node_of_token[tokens[i]] = node;
        w->is_folded[tokens[i] / 64] |= (u64)1 << tokens[i] % 64;
        w->f->below.at[node] |= 1;
    }
    w->next[member] = *list;
    *list = trie->first.at[member] == trie->first.at[member + 1] ? *list : member;
}

static bool fold_children(folding *w, budget *b, u32 node) {
    const tt_trie *trie = w->trie;
    u32 begin = w->f->class.n;
    for (u32 member = w->head.at[node]; member != NONE; member = w->next[member])
        for (u32 child = trie->first.at[member], end = trie->first.at[member + 1]; child < end; child++) {
            u32 k = w->f->class_of[trie->byte.at[child]];
            if (k == FD_NO_CLASS) continue;
            if (w->child_of[k] < begin) w->child_of[k] = add_fold_node(w, k);
            fold_member(w, w->child_of[k], child);
        }
    u32 below = (w->f->class.n - begin) << 1 | w->f->below.at[node];
    w->f->below.at[node] = below < FD_MANY ? (u8)below : FD_MANY;
    return below < FD_MANY || vec_push(b, &w->f->many, ((fd_many){node, below}));
}

static void add_number(byte_vec *to, u32 number) {
    for (; number > 127; number >>= 7) to->at[to->n++] = (u8)(number | 128);
    to->at[to->n++] = (u8)number;
}

/* Appends a run of tokens from `token` on, the one before it ended at `end`. */
static bool add_token_run(fd_fold *f, budget *b, u32 end, u32 token, u32 n) {
    enum { MOST_BYTES = 2 * 5 };
    if (!vec_reserve(b, &f->runs, MOST_BYTES)) return false;
    add_number(&f->runs, (token - end) << 1 | (n > 1)); /* a vocabulary has less than 2^31 tokens */
    if (n > 1) add_number(&f->runs, n - 1);
    return true;
}

static bool list_runs(folding *w, budget *b) {
    u32 end = 0, token = 0, n = 0; /* of the run before; of the one that is met */
    for (u32 word = 0; word < w->n_words; word++)
        for (u64 left = w->is_folded[word]; left; left &= left - 1) {
            u32 next = 64 * word + (u32)__builtin_ctzll(left);
            w->f->n_tokens++;
            if (n && next != token + n) {
                if (!add_token_run(w->f, b, end, token, n)) return false;
                end = token + n;
                n = 0;
            }
            if (n++ == 0) token = next;
        }
    return n == 0 || add_token_run(w->f, b, end, token, n);
}

static bool list_nodes(folding *w, budget *b) {
    fd_fold *f = w->f;
    for (f->node_bits = 1; (f->class.n - 1) >> f->node_bits; f->node_bits++) {}
    u64 bit = 0;
    u32 n_words = (u32)((u64)f->n_tokens * f->node_bits / 32) + 2; /* a vocabulary has less than 2^31 tokens */
    if (!vec_reserve(b, &f->node_of, n_words)) return false;
    memset(f->node_of.at, 0, n_words * sizeof *f->node_of.at);
    f->node_of.n = n_words;
    for (u32 word = 0; word < w->n_words; word++)
        for (u64 left = w->is_folded[word]; left; left &= left - 1, bit += f->node_bits) {
            u64 node = (u64)w->node_of_token[64 * word + (u32)__builtin_ctzll(left)] << bit % 32;
            f->node_of.at[bit / 32] |= (u32)node;
            f->node_of.at[bit / 32 + 1] |= (u32)(node >> 32);
        }
    return true;
}

static bool list_tokens(folding *w, budget *b) {
    return list_runs(w, b) && list_nodes(w, b) && vec_fit(b, &w->f->runs) && vec_fit(b, &w->f->node_of);
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
    bool ok = w.next && w.node_of_token && w.is_folded && reserve_fold_nodes(&w, b);
    if (ok) {
        memset(w.is_folded, 0, folded_size);
        fold_member(&w, add_fold_node(&w, 0), 0); /* the root, which spells no token */
    }
    for (u32 node = 0; ok && node < f->class.n; node++)
        ok = reserve_fold_nodes(&w, b) && fold_children(&w, b, node);
    vec_drop(b, &w.head);
    ok = ok && list_tokens(&w, b) && vec_fit(b, &f->class) && vec_fit(b, &f->below) && vec_fit(b, &f->many);
    if (w.next) mem_resize(b, w.next, next_size, 0);
    if (w.node_of_token) mem_resize(b, w.node_of_token, tokens_size, 0);
    if (w.is_folded) mem_resize(b, w.is_folded, folded_size, 0);
    if (!ok) fd_drop(f, b);
    f->bytes = vec_bytes(&f->class) + vec_bytes(&f->below) + vec_bytes(&f->many) + vec_bytes(&f->runs) + vec_bytes(&f->node_of);
    return ok;
}

u32 fd_below_many(const fd_fold *f, u32 node) {
    u32 from = 0;
    for (u32 n = f->many.n; n > 1;) { /* the last one that is not greater */
        u32 half = n / 2;
        if (f->many.at[from + half].node <= node) from += half;
        n -= half;
    }
    return f->many.at[from].below;
}

static u32 count_children(const fd_fold *f, u32 from, u32 to) {
    u32 n = 0;
    for (u32 node = from; node < to; node++) n += fd_n_children(f, node);
    return n;
}

fd_level fd_next_level(const fd_fold *f, fd_level level) {
    u32 from = level.end + count_children(f, level.begin, level.from), to = from + count_children(f, level.from, level.to);
    return (fd_level){level.end, to + count_children(f, level.to, level.end), from, to};
}

void fd_drop(fd_fold *f, budget *b) {
    vec_drop(b, &f->class);
    vec_drop(b, &f->below);
    vec_drop(b, &f->many);
    vec_drop(b, &f->runs);
    vec_drop(b, &f->node_of);
}
