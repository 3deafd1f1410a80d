/* Bytes beyond ASCII behind words: which tails of tokens no row of a grammar can read.
 *
 * Tokens like ` naïve` leave an identifier of ASCII at the `ï`, and each split before it counts: of 10,500 tails that begin with a letter (Tekken) all
 * but a dozen go on so. Hardly any grammar reads them, since what has such characters, a string or a comment, begins with a mark. So it is seen
 * from the lexemes of a grammar which bytes beyond ASCII can be read behind letters and digits, or at the beginning of a lexeme. Mostly that
 * is none, and these tails are not looked at. If it is a few, a trie is made of the tails that have no others: where case does not count, the
 * long s and the sign of the kelvin are letters.
 *
 * Exactness. A tail is read from where a lexeme begins, so the lexeme in which the first byte beyond ASCII is read has begun with a letter, a digit,
 * or this byte. In the first case it is one that may be in what follows those (rx_may errs towards more), in the other all of the lexeme counts.
 * The same for the bytes after it, up to the next one of ASCII.
 *
 * Not with bags and distinct members, whose lexemes are made while texts are read. */
#include "mk.h"

enum { FEW_BYTES = 16 };

/* Adds the bytes beyond ASCII that a lexeme can read which begins with such a byte, or with a letter or digit. */
static bool add_lexeme(ge_engine *e, rx_id expr, byte_set *to) {
    rx_arena *x = &e->lx.x;
    byte_set first, may, seen = {{0}};
    if (!rx_may(x, expr, &may)) return false;
    for (u32 k = 0; k < 4; k++) may.w[k] = 0;
    if (set_count(&may) == 0) return true;
    if (!rx_first(x, expr, &first)) return false;
    if (set_meets(&first, &may)) return set_unite(to, &may), true;
    for (u32 byte = 0; byte < 0x80; byte++) {
        if (!set_has(&first, byte) || vb_sort(byte) != VB_WORDS || set_has(&seen, x->class_of[byte])) continue;
        set_add(&seen, x->class_of[byte]);
        rx_id rest = rx_derive(x, expr, byte);
        if (rest == NONE || !rx_may(x, rest, &may)) return false;
        for (u32 k = 4; k < 8; k++) to->w[k] |= may.w[k];
    }
    return true;
}

/* Notes which bytes beyond ASCII can be read. */
static bool find_bytes(ge_engine *e) {
    byte_set all = {{0}};
    bool is_known = !e->g->g.has_distinct && e->g->g.bags.n == 0;
    if (e->n_behind_words != NONE) return true;
    for (u32 i = 0; is_known && i < e->lx.lexemes.n; i++)
        if (!add_lexeme(e, e->lx.lexemes.at[i].expr, &all)) return false;
    e->behind_words = all;
    e->n_behind_words = is_known ? set_count(&all) : FEW_BYTES + 1;
    return true;
}

/* Are the bytes beyond ASCII that come first in a tail all among those? */
static bool is_readable(const ge_engine *e, vb_tail tail) {
    vb_beyond known = e->v->beyond[tail.token]; /* mostly this decides, and the text lies elsewhere */
    if (known.at != VB_NOWHERE && tail.first <= known.at && !set_has(&e->behind_words, known.byte)) return false;
    const u8 *at = e->v->text + e->v->offsets[tail.token] + tail.first, *end = e->v->text + e->v->offsets[tail.token + 1];
    while (at < end && *at < 0x80) at++;
    while (at < end && *at >= 0x80 && set_has(&e->behind_words, *at)) at++;
    return at == end || *at < 0x80;
}

/* *made = the trie of the tails of a sort that can be read; NULL: there are none. */
static bool make_readable(ge_engine *e, const vb_exit *exit, u32 sort, tt_trie **made) {
    VEC(tt_item) items = {0};
    bool ok = true;
    *made = NULL;
    for (u32 i = 0; ok && i < exit->tails[sort].n; i++) {
        vb_tail tail = exit->tails[sort].at[i];
        u32 from = e->v->offsets[tail.token] + tail.first;
        if (is_readable(e, tail)) ok = vec_push(&e->b, &items, ((tt_item){e->v->text + from, e->v->offsets[tail.token + 1] - from, tail.token}));
    }
    if (ok && items.n) {
        *made = mem_resize(&e->b, NULL, 0, sizeof **made);
        ok = *made && tt_build(*made, &e->b, items.at, items.n);
        if (!ok && *made) mem_resize(&e->b, *made, sizeof **made, 0);
    }
    vec_drop(&e->b, &items);
    return ok;
}

/* The same, made once. */
static bool find_readable(ge_engine *e, const vb_inner *inner, u32 exit, u32 sort, const tt_trie **tails) {
    for (u32 i = 0; i < e->readable.n; i++) {
        mk_readable known = e->readable.at[i];
        if (known.inner == inner && known.exit == exit && known.sort == sort) return *tails = known.tails, true;
    }
    mk_readable made = {inner, exit, sort, NULL};
    if (!vec_reserve(&e->b, &e->readable, 1) || !make_readable(e, &inner->exits.at[exit], sort, &made.tails)) return false;
    vb_hold(e->v, inner);
    e->readable.at[e->readable.n++] = made;
    return *tails = made.tails, true;
}

bool mk_tails(ge_engine *e, const vb_inner *inner, u32 exit, u32 sort, const tt_trie **tails) {
    bool may_leave_out = (sort == VB_MIXED || sort == VB_BEYOND) && !(e->switches & (GE_NO_SLICES | GE_NO_SHARED_INNER));
    *tails = NULL;
    if (may_leave_out && !find_bytes(e)) return false;
    if (may_leave_out && e->n_behind_words == 0) return true;
    if (may_leave_out && e->n_behind_words <= FEW_BYTES) return find_readable(e, inner, exit, sort, tails);
    *tails = vb_tails(e->v, inner, exit, sort);
    return *tails || budget_fail(&e->b, GE_E_MEMORY);
}

void mk_drop_tails(ge_engine *e) {
    for (u32 i = 0; i < e->readable.n; i++) {
        mk_readable each = e->readable.at[i];
        vb_release(e->v, each.inner);
        if (!each.tails) continue;
        tt_drop(each.tails, &e->b);
        mem_resize(&e->b, each.tails, sizeof *each.tails, 0);
    }
    vec_drop(&e->b, &e->readable);
}
