/* vb_open: slices below the places where a string begins, or white space.
 *
 *     "name  "é  "\n  "",  "]        below the root's quotation mark: plain  name é      rest  \n  ",  ]
 *     \n\t  \n\n  \n\tif  \n}        below the root's line feed:      plain  \t \n       rest  if  }
 *
 * A token that goes on after such a mark is in no slice, since the mark is not plain. But after the mark there is a string, and any plain
 * text leaves most strings alive: then all tokens are allowed whose *rest*, what they have behind the mark, is plain text or the beginning
 * of one. Only the others are walked, by their rests. Where white space does not change what may come, the same holds of blanks: they are
 * most of the tokens between the values of a JSON text. A rest is then what comes after all blanks.
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

typedef VEC(tt_item) rest_vec;

static bool is_blank(u8 byte) { return memchr(vb_blanks, byte, VB_BLANKS) != NULL; }

/* Adds a token with this rest. */
static bool add_rest(ge_vocab *v, vb_opening *opening, tt_item rest, rest_vec *rests) {
    u32 chars = opening->blank ? NONE : count_plain(rest.at, rest.n);
    while (opening->blank && rest.n && is_blank(*rest.at)) rest.at++, rest.n--;
    if (chars != NONE) opening->chars = max_u32(opening->chars, chars);
    return chars != NONE || rest.n == 0 ? vec_push(&v->b, &opening->plain, rest.token) : vec_push(&v->b, rests, rest);
}

/* Makes one for the child of a hub by a byte, if there is such a child and it is not a hub itself. */
static bool make_opening(ge_vocab *v, u32 hub, u8 byte) {
    const tt_trie *trie = &v->trie;
    u32 node = vb_child(trie, v->hubs[hub].node, byte), depth = hub ? 2 : 1;
    for (u32 h = 1; h < v->n_hubs; h++)
        if (v->hubs[h].node == node) node = NONE;
    if (node == NONE) return true;
    vb_opening *opening = &v->openings[v->n_openings++];
    rest_vec rests = {0};
    bool ok = true;
    opening->node = node;
    opening->blank = is_blank(byte);
    for (u32 from = node, to = node + 1, n; ok && tt_below(trie, &from, &to);) {
        const u32 *tokens = tt_tokens(trie, from, to, &n);
        for (u32 k = 0; ok && k < n; k++) {
            u32 begin = v->offsets[tokens[k]] + depth;
            ok = add_rest(v, opening, (tt_item){v->text + begin, v->offsets[tokens[k] + 1] - begin, tokens[k]}, &rests);
        }
    }
    ok = ok && tt_build(&opening->rest, &v->b, rests.at, rests.n);
    vec_drop(&v->b, &rests);
    return ok;
}

bool vb_make_openings(ge_vocab *v) {
    for (u32 hub = 0; hub < v->n_hubs; hub++) {
        if (!make_opening(v, hub, '"')) return false;
        for (u32 k = 0; k < VB_BLANKS; k++)
            if (!make_opening(v, hub, vb_blanks[k])) return false;
    }
    return true;
}

void vb_drop_openings(ge_vocab *v) {
    for (u32 k = 0; k < v->n_openings; k++) {
        vec_drop(&v->b, &v->openings[k].plain);
        tt_drop(&v->openings[k].rest, &v->b);
    }
}
