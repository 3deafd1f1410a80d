/* t_vocab: the trie against a list of strings, the tables of a vocabulary against their definitions; rows of the store, equal ones once;
 * and files: what is read back is what was written; every damaged byte and every cut is found. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "../regex/names/rx_unbound.h"
#include "../vocab/vb.h"
#include "harness.h"

enum { MAX_TOKENS = 600, MAX_BYTES = 40 };

/* Random strings over a few bytes: many share beginnings, and many are equal. The first and the last one are empty. */
typedef struct words {
    u32 n;
    u8 text[MAX_TOKENS * MAX_BYTES];
    u32 offsets[MAX_TOKENS + 1];
} words;

static void make_words(words *w, u64 *seed, u32 n) {
    static const u8 letters[] = {'a', 'b', 0x00, 0xff, '"', 0xc3, 0xa9, ' ', '\n'};
    u32 n_letters = random_below(seed, sizeof letters) + 1, end = 0;
    w->n = n;
    for (u32 i = 0; i < n; i++) {
        w->offsets[i] = end;
        u32 length = random_below(seed, 8) ? random_below(seed, 6) : random_below(seed, MAX_BYTES);
        while (i && i + 1 < n && length--) w->text[end++] = letters[random_below(seed, n_letters)];
    }
    w->offsets[n] = end;
}

static u32 length_of(const words *w, u32 token) { return w->offsets[token + 1] - w->offsets[token]; }

/* Reads a trie back: each node's tokens must be those that spell its path, in ascending order. Returns the number of tokens found. */
static u32 check_trie(const tt_trie *t, const words *w) {
    u8 path[MAX_BYTES];
    u32 node[MAX_BYTES + 1] = {0}, child[MAX_BYTES + 1] = {t->first.at[0]}, depth = 0, found = 0, visited = 1;
    CHECK(t->first.n == t->byte.n + 1 && t->token_from.n == t->byte.n + 1 && t->token_from.at[0] == 0 && !tt_has_token(t, 0));
    for (;;) {
        u32 at = node[depth], i = child[depth]++;
        if (i >= t->first.at[at + 1]) {
            if (depth-- == 0) break;
            continue;
        }
        CHECK(i == t->first.at[at] || t->byte.at[i - 1] < t->byte.at[i]);
        path[depth++] = t->byte.at[i];
        node[depth] = i;
        child[depth] = t->first.at[i];
        visited++;
        u32 before = 0;
        for (u32 k = t->token_from.at[i]; k < t->token_from.at[i + 1]; k++) {
            u32 token = t->tokens.at[k];
            CHECK(length_of(w, token) == depth && memcmp(w->text + w->offsets[token], path, depth) == 0);
            CHECK(before <= token);
            before = token + 1;
            found++;
        }
    }
    CHECK(visited == t->byte.n && tt_size(t, 0) == visited && t->tokens.n == found + 1);
    return found;
}

static void test_trie(void) {
    static words w;
    static tt_item items[MAX_TOKENS];
    u64 seed = 5;
    for (u32 round = 0; round < 300; round++) {
        make_words(&w, &seed, random_below(&seed, round % 2 ? MAX_TOKENS : 30));
        ge_limits limits = wide_limits();
        budget b;
        u32 with_bytes = 0;
        for (u32 i = 0; i < w.n; i++) {
            items[i] = (tt_item){w.text + w.offsets[i], length_of(&w, i), i};
            with_bytes += items[i].n != 0;
        }
        for (u32 k = 1; k == 1 || b.status != GE_OK; k += 1 + k / 8) { /* allocation k fails */
            tt_trie t;
            budget_init(&b, &limits);
            b.fail_after = round < 20 ? k : 0;
            bool ok = tt_build(&t, &b, items, w.n);
            CHECK(ok == (b.status == GE_OK));
            if (ok) {
                CHECK(check_trie(&t, &w) == with_bytes);
                for (u32 i = 1; i < w.n; i++) {
                    u32 shorter = min_u32(items[i - 1].n, items[i].n);
                    int order = shorter ? memcmp(items[i - 1].at, items[i].at, shorter) : 0;
                    CHECK(order < 0 || (order == 0 && items[i - 1].n <= items[i].n));
                }
                tt_drop(&t, &b);
            }
            CHECK(b.bytes == 0);
        }
    }
}

/* Characters of a plain token by the definition, 0 if it is not plain. Of the letters above: a, b, space, and C3 A9 (é). */
static u32 slow_plain(const u8 *at, u32 n) {
    u32 chars = 0;
    for (u32 i = 0; i < n; i++, chars++) {
        if (at[i] == 0xc3 && i + 1 < n && at[i + 1] == 0xa9) i++;
        else if (at[i] != 'a' && at[i] != 'b' && at[i] != ' ') return 0;
    }
    return chars;
}

static bool has_bit(const u32 *bits, u32 i) { return bits[i >> 5] >> (i & 31) & 1; }

static ge_vocab *make_vocab(const words *w, u32 extra) {
    ge_vocab *v = NULL;
    ge_err err = {0};
    u32 ends[] = {0, w->n - 1}, n_ends = length_of(w, 0) || length_of(w, w->n - 1) ? 0 : 2;
    CHECK(ge_vocab_new(w->text, w->offsets, w->n, w->n + extra, ends, n_ends, &v, &err) == GE_OK);
    return v;
}

/* What is left of a token behind so many bytes, where a character may have begun before; of the letters above. */
static name_reach slow_reach(const u8 *at, u32 n, u32 from) {
    name_reach r = {0, 0, 0};
    bool begun = false, broken = false;
    for (u32 i = 0; i < n; i++) {
        bool is_second = begun && at[i] == 0xa9, is_part = at[i] == 0xc3 && i + 1 == n;
        broken |= begun ? !is_second : at[i] == 0xa9 || at[i] == 0xff;
        begun = at[i] == 0xc3;
        if (i < from) continue;
        if (broken) r.n_others = NAME_ANY;
        if (broken) break;
        r.n_plain += at[i] == 'a' || at[i] == 'b';
        r.n_far += is_second ? 2 : is_part ? ULABEL_MOST : 0;
        r.n_others += is_part || (at[i] < 0x80 && at[i] != 'a' && at[i] != 'b');
    }
    return r;
}

/* The most of all tokens below each node. */
static void check_reach(ge_vocab *v, const words *w) {
    u32 n = v->trie.byte.n;
    name_reach *most = calloc(n, sizeof *most);
    const name_reach *found = vb_reach(v);
    CHECK(most && found && vb_reach(v) == found);
    for (u32 node = 1; most && node < n; node++) {
        u32 token = tt_token(&v->trie, node);
        if (token == NONE) continue;
        for (u32 above = node, depth = length_of(w, token), last = depth - 1; depth-- > 0;) {
            bool is_part = depth == last && w->text[w->offsets[token] + last] == 0xc3; /* of the node itself, too */
            if (is_part && slow_reach(w->text + w->offsets[token], last + 1, last).n_others == 1) rx_reach_part(&most[node]);
            above = v->trie.parent.at[above];
            name_reach r = slow_reach(w->text + w->offsets[token], length_of(w, token), depth);
            most[above].n_plain = (u8)max_u32(most[above].n_plain, r.n_plain);
            most[above].n_far = (u8)max_u32(most[above].n_far, r.n_far);
            most[above].n_others = (u8)max_u32(most[above].n_others, r.n_others);
        }
    }
    for (u32 i = 0; most && found && i < n; i++)
        CHECK(found[i].n_others == NAME_ANY ? most[i].n_others == NAME_ANY : memcmp(&found[i], &most[i], sizeof *most) == 0);
    free(most);
}

static u64 not_plain_at(const ge_vocab *v, u32 node) {
    u32 token = tt_token(&v->trie, node);
    return token == NONE || has_bit(v->slices[VB_PLAIN].bits, token) ? 0 : VB_NOT_PLAIN;
}

/* Each token is in the list of one shape, and each node of the trie is a member of the shape that its own bytes have. */
static void check_shapes(const ge_vocab *v, u32 n_spelt) {
    const vb_shapes *s = &v->shapes;
    u32 n = s->kind.n;
    CHECK(s->first.n == n + 1 && s->token_from.n == n + 1 && s->member_from.n == n + 1);
    CHECK(s->tokens.n == n_spelt && s->token_from.at[n] == n_spelt && s->member_from.at[n] == v->trie.byte.n);
    CHECK(s->member_from.at[1] == 1 && s->members.at[0] == 0 && s->token_from.at[1] == 0);
    for (u32 i = 0; i < n; i++) {
        u32 n_tokens = 0;
        for (u32 k = s->member_from.at[i]; k < s->member_from.at[i + 1]; k++) {
            u32 node = s->members.at[k];
            for (u32 t = v->trie.token_from.at[node]; t < v->trie.token_from.at[node + 1]; t++) {
                u32 token = v->trie.tokens.at[t];
                bool listed = false;
                for (u32 m = s->token_from.at[i]; m < s->token_from.at[i + 1]; m++) listed |= s->tokens.at[m] == token;
                CHECK(listed);
                n_tokens++;
            }
            for (u32 at = node, shape = i; at; at = v->trie.parent.at[at]) { /* up to the root, byte by byte */
                CHECK(s->kind.at[shape] == s->kind_of[v->trie.byte.at[at]]);
                u32 above = 0;
                while (s->first.at[above + 1] <= shape) above++;
                shape = above;
                CHECK((shape == 0) == (v->trie.parent.at[at] == 0));
            }
        }
        CHECK(n_tokens == s->token_from.at[i + 1] - s->token_from.at[i]);
    }
    for (u32 node = 0; node < v->trie.byte.n; node++) {
        u64 below = 0;
        for (u32 from = node, to = node + 1; tt_below(&v->trie, &from, &to);)
            for (u32 i = from; i < to; i++) below |= (u64)1 << s->kind_of[v->trie.byte.at[i]] | not_plain_at(v, i);
        CHECK(s->below.at[node] == below);
    }
    for (u32 i = 0; i < n; i++) {
        u64 under = 0;
        for (u32 k = s->member_from.at[i]; k < s->member_from.at[i + 1]; k++)
            under |= s->below.at[s->members.at[k]] | not_plain_at(v, s->members.at[k]);
        CHECK(s->under.at[i] == under);
    }
    for (u32 byte = 0; byte < 256; byte++) CHECK(s->kind_of[byte] < 63);
}

/* Characters of a plain text that begins so, or 0: a C3 at the end may be the beginning of C3 A9. */
static u32 slow_plain_begun(const u8 *at, u32 n) {
    u8 text[MAX_BYTES + 1];
    memcpy(text, at, n);
    text[n] = 0xa9;
    u32 chars = slow_plain(text, n);
    return chars ? chars : slow_plain(text, n + 1);
}

static bool is_blank(u8 byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/* Returns how many tokens are below openings. */
static u32 check_openings(const ge_vocab *v, const words *w) {
    u32 found = 0;
    for (u32 k = 0; k < v->n_openings; k++) {
        const vb_opening *o = &v->openings[k];
        u32 n_plain = 0, n_rest = 0, chars = 0, depth = 0;
        for (u32 at = o->node; at; at = v->trie.parent.at[at]) depth++;
        u8 byte = v->trie.byte.at[o->node];
        CHECK(o->blank == is_blank(byte) && (o->blank || byte == '"'));
        for (u32 i = 0; i < w->n; i++) {
            const u8 *text = w->text + w->offsets[i];
            u32 n = length_of(w, i), at = 0;
            for (u32 d = 0; d < depth && d < n && at != NONE; d++) at = vb_child(&v->trie, at, text[d]);
            if (n <= depth || at != o->node) continue;
            u32 listed = 0, node = 0, ends = 0, from = depth;
            while (o->blank && from < n && is_blank(text[from])) from++;
            u32 begun = o->blank ? from == n : slow_plain_begun(text + depth, n - depth);
            for (u32 p = 0; p < o->plain.n; p++) listed += o->plain.at[p] == i;
            for (u32 d = from; d < n && node != NONE; d++) node = vb_child(&o->rest, node, text[d]);
            for (u32 k = node == NONE ? NONE : o->rest.token_from.at[node]; node != NONE && k < o->rest.token_from.at[node + 1]; k++)
                ends += o->rest.tokens.at[k] == i;
            CHECK(listed == (begun != 0) && ends == (begun == 0));
            n_plain += listed;
            n_rest += ends;
            chars = !o->blank && chars < begun ? begun : chars;
        }
        u32 in_rest;
        tt_tokens(&o->rest, 0, o->rest.byte.n, &in_rest);
        CHECK(n_plain == o->plain.n && n_rest == in_rest && chars == o->chars);
        found += n_plain + n_rest;
    }
    return found;
}

static void test_tables(void) {
    static words w;
    u64 seed = 6;
    u32 below_openings = 0;
    for (u32 round = 0; round < 60; round++) {
        make_words(&w, &seed, random_below(&seed, MAX_TOKENS) + 1);
        ge_vocab *v = make_vocab(&w, round);
        u32 spelt = 0, longer[VB_TIERS] = {0}, not_plain[VB_N_SLICES] = {0};
        for (u32 i = 0; i < w.n; i++) {
            u32 n = length_of(&w, i), chars = slow_plain(w.text + w.offsets[i], n);
            spelt += n != 0;
            for (u32 k = 0; k < VB_TIERS; k++) longer[k] += n > v->tiers[k].bytes;
            for (u32 k = 0; k < VB_SHORT; k++) CHECK(has_bit(v->up_to[k], i) == (chars && chars <= k));
            CHECK(has_bit(v->slices[VB_PLAIN].bits, i) == (chars != 0));
            CHECK(has_bit(v->slices[VB_PLAIN_SHORT].bits, i) == (chars && chars <= VB_SHORT));
            for (u32 k = 0; k < VB_N_SLICES; k++) not_plain[k] += n && !has_bit(v->slices[k].bits, i);
        }
        CHECK(check_trie(&v->trie, &w) == spelt);
        for (u32 k = 0; k < VB_TIERS; k++) CHECK(check_trie(&v->tiers[k].longer, &w) == longer[k]);
        for (u32 k = 0; k < VB_N_SLICES; k++) CHECK(check_trie(&v->slices[k].rest, &w) == not_plain[k]);
        check_shapes(v, spelt);
        check_reach(v, &w);
        below_openings += check_openings(v, &w);
        CHECK(longer[0] == 0 && v->tiers[VB_TIERS - 1].bytes <= 16);
        ge_vocab_free(v);
    }
    CHECK(below_openings > 100);
}

/* A vocabulary most of whose nodes are below a space: the bits of that hub are the tokens that begin with one. */
static void test_hubs(void) {
    static words w;
    u64 seed = 11;
    make_words(&w, &seed, MAX_TOKENS);
    for (u32 i = 0; i < w.n; i++) {
        w.offsets[i] = 20 * i;
        for (u32 k = 0; k < 20; k++) w.text[20 * i + k] = k == 0 ? (i % 8 ? ' ' : 'x') : (u8)('a' + random_below(&seed, 26));
    }
    w.offsets[w.n] = 20 * w.n;
    ge_vocab *v = make_vocab(&w, 5);
    CHECK(v->n_hubs == 3 && v->hubs[1].byte == ' ' && v->hubs[2].byte == 'x');
    for (u32 i = 0; i < w.n; i++) {
        u32 n = length_of(&w, i), at = 0;
        while (at < n && w.text[w.offsets[i] + at] < 0x80) at++;
        CHECK(at < n && at < VB_NOWHERE ? v->beyond[i].at == at && v->beyond[i].byte == w.text[w.offsets[i] + at]
                                        : v->beyond[i].at == VB_NOWHERE);
    }
    for (u32 k = 1; k < v->n_hubs; k++)
        for (u32 i = 0; i < w.n; i++) CHECK(has_bit(v->hub_bits[k], i) == (w.text[w.offsets[i]] == v->hubs[k].byte));
    ge_vocab_free(v);
}

/* By its bytes: is the first run of bytes beyond ASCII of a tail in the set? */
static bool slow_within(const ge_vocab *v, vb_tail tail, const byte_set *beyond) {
    bool has_begun = false;
    for (u32 at = v->offsets[tail.token] + tail.first; at < v->offsets[tail.token + 1]; at++) {
        if (v->text[at] < 0x80 && has_begun) return true;
        has_begun |= v->text[at] >= 0x80;
        if (v->text[at] >= 0x80 && !set_has(beyond, v->text[at])) return false;
    }
    return true;
}

/* Of each sort the tails within some sets: each of them is in the trie, and no
 * other; what is asked for again is the same, and past the most, all tails. */
static void check_parts(ge_vocab *v, const vb_inner *entry) {
    u64 seed = 13;
    for (u32 round = 0; round < 20; round++) {
        byte_set beyond = {{0}};
        for (u32 byte = 0x80; byte < 0x100; byte++)
            if (random_below(&seed, 20) < round) set_add(&beyond, byte);
        u32 sort = round % VB_SORTS, n = 0, in_trie = 0;
        const tt_trie *tails, *again = NULL, *all = vb_tails(v, entry, 0, sort);
        CHECK(vb_tails_within(v, entry, 0, sort, &beyond, &tails) && vb_tails_within(v, entry, 0, sort, &beyond, &again));
        CHECK(tails == again && (round >= 16) == (tails == all));
        const vb_exit *exit = &entry->exits.at[0];
        for (u32 i = 0; i < exit->tails[sort].n; i++) n += slow_within(v, exit->tails[sort].at[i], &beyond);
        const u32 *tokens = tails ? tt_tokens(tails, 0, tails->byte.n, &in_trie) : NULL;
        for (u32 k = 0; k < in_trie; k++)
            for (u32 i = 0; i < exit->tails[sort].n && tails != all; i++)
                if (exit->tails[sort].at[i].token == tokens[k]) CHECK(slow_within(v, exit->tails[sort].at[i], &beyond));
        CHECK(tails == all ? in_trie == exit->tails[sort].n : in_trie == n);
    }
}

/* Tails of all tokens but the shortest, one each: the tries of all sorts together have each of them once, and begin as they are said to. */
static void test_tails(void) {
    static words w, rests;
    u64 seed = 12;
    for (u32 round = 0; round < 60; round++) {
        make_words(&w, &seed, round % 2 ? MAX_TOKENS : 100);
        ge_vocab *v = make_vocab(&w, 0);
        vb_inner entry = {0};
        vb_exit exit = {0};
        u32 n = 0, found = 0, end = 0, first = random_below(&seed, 3);
        rests.n = w.n;
        for (u32 i = 0; i < w.n; i++) {
            const u8 *text = w.text + w.offsets[i];
            rests.offsets[i] = end;
            if (length_of(&w, i) <= first) continue;
            exit.kinds |= (u64)1 << v->shapes.kind_of[text[first]];
            u32 sort = vb_sort(text[first]);
            if (sort == VB_WORDS && length_of(&w, i) % 2) sort = VB_MIXED; /* equal tails are of one sort */
            CHECK(vb_add_tails(&v->b, &exit, sort, first, &i, 1));
            memcpy(rests.text + end, text + first, length_of(&w, i) - first);
            end += length_of(&w, i) - first;
            n++;
        }
        rests.offsets[w.n] = end;
        CHECK(vb_finish_tails(v, &v->b, &exit));
        entry.exits.at = &exit;
        entry.exits.n = 1;
        for (u32 sort = 0; sort < VB_SORTS; sort++) {
            const tt_trie *tails = vb_tails(v, &entry, 0, sort);
            CHECK(tails && tails == vb_tails(v, &entry, 0, sort));
            found += check_trie(tails, &rests);
            for (u32 i = tails->first.at[0]; i < tails->first.at[1]; i++) {
                CHECK(set_has(&exit.begins[sort], tails->byte.at[i]));
                CHECK(n <= 500 ? sort == 0 : vb_sort(tails->byte.at[i]) == (sort == VB_MIXED ? VB_WORDS : sort));
            }
        }
        CHECK(found == n);
        check_parts(v, &entry);
        budget own = {.bytes = entry.bytes}; /* entry is not kept: its tries are not counted in v */
        for (u32 sort = 0; sort < VB_SORTS; sort++) {
            tt_drop(exit.tries[sort], &own);
            mem_resize(&own, exit.tries[sort], sizeof(tt_trie), 0);
            exit.tries[sort] = NULL;
        }
        for (vb_part *part = exit.parts, *next; part; part = next) {
            next = part->next;
            if (part->tails) tt_drop(part->tails, &own), mem_resize(&own, part->tails, sizeof(tt_trie), 0);
            mem_resize(&own, part, sizeof *part, 0);
        }
        exit.parts = NULL;
        CHECK(own.bytes == 0);
        vb_drop_tails(&v->b, &exit);
        ge_vocab_free(v);
    }
}

/* --- rows ------------------------------------------------------------------------------------------------------------------ */

enum { ENTRIES = 300, CONTENTS = 20 };

/* An entry whose bits, and needs if it has any, follow from two numbers. */
static vb_inner *make_entry(const ge_vocab *v, u64 hash, u32 bits, u32 needs) {
    ge_limits limits;
    budget own;
    memset(&limits, 0xff, sizeof limits);
    budget_init(&own, &limits);
    vb_inner *e = mem_resize(&own, NULL, 0, sizeof *e);
    memset(e, 0, sizeof *e);
    e->hash = hash;
    e->n_words = v->n_words;
    e->bits = mem_resize(&own, NULL, 0, e->n_words * sizeof *e->bits);
    for (u32 i = 0; i < e->n_words; i++) e->bits[i] = bits * (i + 1);
    if (needs) {
        e->needs = mem_resize(&own, NULL, 0, 32 * e->n_words);
        memset(e->needs, (int)needs, 32 * e->n_words);
    }
    e->bytes = own.bytes;
    return e;
}

static bool has_content(const vb_inner *e, u32 bits, u32 needs) {
    bool same = (needs != 0) == (e->needs != NULL);
    for (u32 i = 0; i < e->n_words; i++) same &= e->bits[i] == bits * (i + 1);
    for (u32 i = 0; same && needs && i < 32 * e->n_words; i++) same = e->needs[i] == needs;
    return same;
}

/* No two rows are alike, each has the users that it says, and bytes are those of entries and rows. */
static void check_rows(const ge_vocab *v) {
    const vb_store *s = &v->store;
    u32 users = 0, used = 0;
    size_t bytes = 0;
    for (u32 i = 0; i < s->rows.n; i++) {
        const vb_row *row = s->rows.at[i];
        CHECK(row->id == i && row->users);
        users += row->users;
        bytes += row->size + sizeof *row;
        for (u32 k = 0; k < i; k++) CHECK(row->size != s->rows.at[k]->size || memcmp(row->at, s->rows.at[k]->at, row->size) != 0);
    }
    for (u32 i = 0; i < s->chains.n; i++)
        for (const vb_inner *e = s->chains.at[i]; e; e = e->next) {
            CHECK(e->bits == e->rows[VB_BITS]->at && (e->needs ? e->needs == e->rows[VB_NEEDS]->at : !e->rows[VB_NEEDS]));
            used += 1 + (e->needs != NULL);
            bytes += e->bytes;
        }
    CHECK(users == used && bytes == s->bytes);
}

/* Entries with few different rows come and go; `fails`: by and by without memory, too. */
static void test_rows(bool fails) {
    static words w;
    u64 seed = 21;
    make_words(&w, &seed, 100);
    ge_vocab *v = make_vocab(&w, 0);
    size_t before = v->b.bytes;
    u32 lost = 0;
    for (u32 i = 0; i < ENTRIES; i++) {
        u32 bits = random_below(&seed, CONTENTS), needs = random_below(&seed, 3);
        vb_inner *made = make_entry(v, mix_u64(i) >> 1, bits, needs);
        v->b.fail_after = fails ? random_below(&seed, 6) : 0;
        const vb_inner *kept = vb_add(v, made);
        v->b.fail_after = 0;
        lost += kept == NULL;
        if (kept) CHECK(has_content(kept, bits, needs));
        check_rows(v);
        if (kept) vb_release(v, kept);
        if (i == ENTRIES / 2) CHECK(v->store.rows.n <= CONTENTS + 2);
        if (i >= ENTRIES / 2) ge_vocab_bound(v, random_below(&seed, (u32)v->store.bytes + 1));
        check_rows(v);
        CHECK(v->store.bytes <= v->store.max_bytes); /* nobody reads any */
    }
    CHECK((lost > 0) == fails);
    vb_drop_store(v);
    CHECK(v->b.bytes == before);
    v->store.chains.n = v->store.n = 0;
    ge_vocab_free(v);
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

/* The content of the file of v, which the caller frees. */
static u8 *save(const ge_vocab *v, size_t *size) {
    *size = ge_vocab_save(v, (const u8 *)"note", 4, NULL);
    u8 *content = malloc(*size);
    CHECK(content && ge_vocab_save(v, (const u8 *)"note", 4, content) == *size);
    return content;
}

/* Loads what a file with this content holds. NULL: refused, err tells why. */
static ge_vocab *load(FILE *file, const u8 *content, size_t size, ge_err *err) {
    ge_vocab *v = NULL;
    memset(err, 0, sizeof *err);
    CHECK(ftruncate(fileno(file), 0) == 0);
    CHECK(pwrite(fileno(file), content, size, 0) == (ssize_t)size);
    ge_status status = ge_vocab_load(fileno(file), &v, err);
    CHECK(status == (v ? GE_OK : GE_E_ARGUMENT) && status == err->status);
    return v;
}

static void check_refused(FILE *file, const u8 *content, size_t size, const char *why) {
    ge_err err;
    ge_vocab *v = load(file, content, size, &err);
    CHECK(!v && (why ? strcmp(err.text, why) == 0 : err.text[0] != 0));
    ge_vocab_free(v);
}

static void test_round_trip(FILE *file) {
    static words w;
    u64 seed = 8;
    for (u32 round = 0; round < 40; round++) {
        make_words(&w, &seed, random_below(&seed, MAX_TOKENS) + 1);
        ge_vocab *v = make_vocab(&w, round);
        ge_err err;
        size_t size, again;
        u8 *content = save(v, &size);
        ge_vocab *loaded = load(file, content, size, &err);
        CHECK(loaded);
        if (loaded) {
            ge_vocab_content c;
            u8 *twin = save(loaded, &again);
            CHECK(again == size && memcmp(twin, content, size) == 0);
            CHECK(memcmp(loaded->hubs, v->hubs, sizeof v->hubs) == 0 && loaded->n_hubs == v->n_hubs);
            for (u32 k = 0; k < VB_TIERS; k++) CHECK(check_trie(&loaded->tiers[k].longer, &w) == check_trie(&v->tiers[k].longer, &w));
            CHECK(check_openings(loaded, &w) == check_openings(v, &w));
            ge_vocab_read(loaded, &c);
            CHECK(c.n_tokens == w.n && c.width == w.n + round && c.n_eos == 2 && c.eos[1] == w.n - 1);
            CHECK(c.n_note == 4 && memcmp(c.note, "note", 4) == 0);
            CHECK(memcmp(c.offsets, w.offsets, (w.n + 1) * sizeof *w.offsets) == 0 && memcmp(c.bytes, w.text, w.offsets[w.n]) == 0);
            free(twin);
        }
        ge_vocab_free(loaded);
        ge_vocab_free(v);
        free(content);
    }
}

static void test_damage(FILE *file) {
    static words w;
    u64 seed = 9, other = 99;
    size_t size;
    make_words(&w, &seed, 20);
    ge_vocab *v = make_vocab(&w, 0);
    u8 *content = save(v, &size);
    for (size_t i = 0; i < size; i++) {
        u8 flip = (u8)(1u << random_below(&seed, 8));
        content[i] ^= flip;
        check_refused(file, content, size, NULL);
        content[i] ^= flip;
    }
    for (size_t n = 0; n < size; n++)
        check_refused(file, content, n, n == 0 ? "it is empty" : n < 8 ? "it is no saved vocabulary" : "it is cut off");
    u8 *extended = malloc(size + 8);
    CHECK(extended);
    memcpy(extended, content, size);
    memset(extended + size, 0, 8);
    check_refused(file, extended, size + 8, "it goes on after its end");
    check_refused(file, extended, size + 1, "it goes on after its end");
    free(extended);
    content[size - 1] ^= 1;
    check_refused(file, content, size, "it is damaged: the checksum is wrong");
    memcpy(content + 16, &other, sizeof other);
    check_refused(file, content, size, "it was saved by another version, in a format that this one does not read");
    for (u32 i = 0; i < 4; i++) {
        u8 byte = content[8 + i];
        content[8 + i] = content[15 - i];
        content[15 - i] = byte;
    }
    check_refused(file, content, size, "it was saved on a machine of another byte order");
    content[0] ^= 1;
    check_refused(file, content, size, "it is no saved vocabulary");
    ge_vocab_free(v);
    free(content);

    ge_err err = {0};
    int ends[2];
    CHECK(pipe(ends) == 0 && ge_vocab_load(ends[0], &v, &err) == GE_E_ARGUMENT && strcmp(err.text, "it is no file") == 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void) {
    FILE *file = tmpfile();
    CHECK(file);
    test_trie();
    test_tables();
    test_hubs();
    test_tails();
    test_rows(false);
    test_rows(true);
    if (file) {
        test_round_trip(file);
        test_damage(file);
        (void)fclose(file);
    }
    return harness_result("t_vocab");
}
