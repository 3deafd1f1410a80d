/* vb_open: slices below the quotation marks with which a string begins.
 *
 *     "name  "é  "\n  "",  "]        below the root's mark: plain  name é      rest  \n  ",  ]
 *
 * A token that goes on after such a mark is in no slice, since the mark is not plain. But after the mark there is a string, and any plain text
 * leaves most strings alive: then all tokens are allowed whose *rest*, what they have behind the mark, is plain text or the beginning of one.
 * Only the others are walked, by their rests.
 *
 * These are a few hundred tokens, so the tables are not in files, but made anew when one is loaded. */
#include "../regex/utf8.h"
#include "vb.h"

/* The characters in a text that plain text begins with, the last perhaps not whole. NONE: there is no such plain text. */
static u32 count_plain(const u8 *at, u32 n) {
    u32 chars = 0, phase = UTF8_START;
    for (u32 i = 0; i < n; i++) {
        chars += phase == UTF8_START;
        phase = at[i] < 0x20 || at[i] == '"' || at[i] == '\\' ? UTF8_DEAD : utf8_step(phase, at[i]);
        if (phase == UTF8_DEAD) return NONE;
    }
    return chars;
}

/* `depth`: of the node. */
static bool make_opening(ge_vocab *v, vb_opening *opening, u32 node, u32 depth) {
    const tt_trie *trie = &v->trie;
    VEC(tt_item) rests = {0};
    bool ok = true;
    opening->node = node;
    for (u32 from = node, to = node + 1; ok && tt_below(trie, &from, &to);)
        for (u32 i = from; i < to; i++)
            for (u32 next, token = tt_token(trie, i, &next); ok && token != NONE; token = tt_more(trie, &next)) {
                u32 begin = v->offsets[token] + depth;
                tt_item rest = {.at = v->text + begin, .n = v->offsets[token + 1] - begin, .token = token};
                u32 chars = count_plain(rest.at, rest.n);
                if (chars != NONE) opening->chars = max_u32(opening->chars, chars);
                ok = chars == NONE ? vec_push(&v->b, &rests, rest) : vec_push(&v->b, &opening->plain, token);
            }
    ok = ok && tt_build(&opening->rest, &v->b, rests.at, rests.n);
    vec_drop(&v->b, &rests);
    return ok;
}

bool vb_make_openings(ge_vocab *v) {
    for (u32 k = 0; k < v->n_hubs; k++) {
        u32 node = vb_child(&v->trie, v->hubs[k].node, '"');
        if (node != NONE && !make_opening(v, &v->openings[v->n_openings++], node, k ? 2 : 1)) return false;
    }
    return true;
}

void vb_drop_openings(ge_vocab *v) {
    for (u32 k = 0; k < v->n_openings; k++) {
        vec_drop(&v->b, &v->openings[k].plain);
        tt_drop(&v->openings[k].rest, &v->b);
    }
}
