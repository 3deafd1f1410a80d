/* vb_shapes: the vocabulary folded by kinds of bytes (fd.h). The *shape* of a token is its string of kinds:
 *
 *     Hello  World    Aaaaa        x_1  y_7    a_0        " the"  " you"    " aaa"
 *
 * Kinds are small letters, capitals, digits, runs of control characters, each other character of ASCII by itself, what UTF-8 tells apart,
 * and the bytes with which the characters begin that are white space: else a pattern with \s would tell all beyond ASCII apart. Few
 * automata tell letters apart everywhere: for a pattern of identifiers, words or numbers, the trie of shapes says what the trie of tokens
 * does, and is a twentieth of it (mask/mk_shapes.c). */
#include "vb.h"

/* Where a kind begins that is more than one byte: it goes on up to the next entry. In between, each byte is a kind by itself. */
static bool begins_kind(u32 byte) {
    if (byte == 0 || byte == '\t' || byte == '\n' || byte == 11 || byte == '\r' || byte == 14) return true;
    if (byte < 0x80) return byte >= 0x20 && !(byte > '0' && byte <= '9') && !(byte > 'A' && byte <= 'Z') && !(byte > 'a' && byte <= 'z');
    /* Unicode, table 3-7 */
    const u8 bytes[] = {0x80, 0x90, 0xa0, 0xc0, 0xc2, 0xc3, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5};
    return memchr(bytes, (int)byte, sizeof bytes) != NULL;
}

/* Some numbers, listed by the shape of each: those of shape i are list[from[i] .. from[i + 1]), in their order. */
static bool list_by_shape(budget *b, u32 n_shapes, const u32 *numbers, const u32 *shape_of, u32 n, id_vec *from, id_vec *list) {
    if (!vec_reserve(b, from, n_shapes + 2) || !vec_reserve(b, list, n)) return false;
    u32 *begin = from->at; /* one entry ahead at first: it is moved up as numbers are put in their places */
    memset(begin, 0, (n_shapes + 2) * sizeof *begin);
    for (u32 i = 0; i < n; i++) begin[shape_of[i] + 2]++;
    for (u32 i = 2; i < n_shapes + 2; i++) begin[i] += begin[i - 1];
    for (u32 i = 0; i < n; i++) list->at[begin[shape_of[i] + 1]++] = numbers ? numbers[i] : i;
    from->n = n_shapes + 1;
    list->n = n;
    return true;
}

static bool list_children(vb_shapes *s, budget *b, const fd_fold *f) {
    if (!vec_reserve(b, &s->first, f->class.n + 1)) return false;
    for (u32 node = 0, child = 1; node <= f->class.n; node++) {
        s->first.at[s->first.n++] = child;
        if (node < f->class.n) child += fd_n_children(f, node);
    }
    return true;
}

static bool list_tokens_by_shape(vb_shapes *s, budget *b, const fd_fold *f) {
    id_vec tokens = {0}, shape_of = {0};
    fd_cursor at = {0};
    bool ok = vec_reserve(b, &tokens, f->n_tokens) && vec_reserve(b, &shape_of, f->n_tokens);
    while (ok && tokens.n < f->n_tokens) {
        tokens.at[tokens.n++] = fd_next_token(f, &at);
        shape_of.at[shape_of.n++] = at.node;
    }
    ok = ok && list_by_shape(b, f->class.n, tokens.at, shape_of.at, tokens.n, &s->token_from, &s->tokens);
    vec_drop(b, &tokens);
    vec_drop(b, &shape_of);
    return ok;
}

static bool list_members(vb_shapes *s, budget *b, const tt_trie *trie) {
    id_vec shape_of = {0};
    u32 n = trie->byte.n;
    bool ok = vec_reserve(b, &shape_of, n);
    for (u32 i = 0; ok && i < n; i++) { /* parents come before their children */
        u32 shape = i ? s->first.at[shape_of.at[trie->parent.at[i]]] : 0;
        while (i && s->kind.at[shape] != s->kind_of[trie->byte.at[i]]) shape++;
        shape_of.at[shape_of.n++] = shape;
    }
    ok = ok && list_by_shape(b, s->kind.n, NULL, shape_of.at, n, &s->member_from, &s->members);
    vec_drop(b, &shape_of);
    return ok;
}

/* There are fewer than 64 kinds. `plain`: bits of the plain tokens. */
static bool note_below(vb_shapes *s, budget *b, const tt_trie *trie, const u32 *plain) {
    u32 n = trie->byte.n;
    if (!vec_reserve(b, &s->below, n) || !vec_reserve(b, &s->height, n)) return false;
    memset(s->below.at, 0, n * sizeof *s->below.at);
    memset(s->height.at, 0, n);
    s->below.n = s->height.n = n;
    for (u32 i = n; i-- > 1;) { /* children come after their parents */
        u32 above = trie->parent.at[i], height = min_u32(s->height.at[i] + 1u, 255), token = tt_token(trie, i);
        bool is_plain = token == NONE || plain[token >> 5] >> (token & 31) & 1;
        s->below.at[above] |= s->below.at[i] | (u64)1 << s->kind_of[trie->byte.at[i]] | (is_plain ? 0 : VB_NOT_PLAIN);
        s->height.at[above] = (u8)max_u32(s->height.at[above], height);
    }
    return true;
}

/* Whether a token is plain, its shape tells. */
static bool note_under(vb_shapes *s, budget *b, const u32 *plain) {
    u32 n = s->kind.n;
    if (!vec_reserve(b, &s->under, n)) return false;
    for (u32 i = n; i-- > 0;) {
        u32 first = s->token_from.at[i], token = s->tokens.at[first];
        bool any = first < s->token_from.at[i + 1];
        s->under.at[i] = any && !(plain[token >> 5] >> (token & 31) & 1) ? VB_NOT_PLAIN : 0;
        for (u32 k = s->first.at[i]; k < s->first.at[i + 1]; k++) s->under.at[i] |= s->under.at[k] | (u64)1 << s->kind.at[k];
    }
    s->under.n = n;
    return true;
}

bool vb_make_shapes(ge_vocab *v) {
    vb_shapes *s = &v->shapes;
    const u32 *plain = v->slices[VB_PLAIN].bits;
    fd_fold f;
    u16 kind_of[256], n = 0;
    for (u32 byte = 0; byte < 256; byte++) kind_of[byte] = begins_kind(byte) ? n++ : (u16)(n - 1);
    for (u32 byte = 0; byte < 256; byte++) s->kind_of[byte] = (u8)kind_of[byte];
    if (!fd_build(&f, &v->b, &v->trie, v->n_tokens, kind_of)) return false;
    bool ok = vec_copy(&v->b, &s->kind, &f.class) && list_children(s, &v->b, &f) && list_members(s, &v->b, &v->trie) &&
              note_below(s, &v->b, &v->trie, plain) && list_tokens_by_shape(s, &v->b, &f) && note_under(s, &v->b, plain);
    fd_drop(&f, &v->b);
    return ok;
}

void vb_drop_shapes(ge_vocab *v) {
    vec_drop(&v->b, &v->shapes.kind);
    vec_drop(&v->b, &v->shapes.first);
    vec_drop(&v->b, &v->shapes.token_from);
    vec_drop(&v->b, &v->shapes.tokens);
    vec_drop(&v->b, &v->shapes.member_from);
    vec_drop(&v->b, &v->shapes.members);
    vec_drop(&v->b, &v->shapes.below);
    vec_drop(&v->b, &v->shapes.under);
    vec_drop(&v->b, &v->shapes.height);
}
