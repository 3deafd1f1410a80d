/* Bytes beyond ASCII behind words: which tails of tokens no row of a grammar can read.
 *
 * Tokens like ` naïve` leave an identifier of ASCII at the `ï`, and each split before it counts: of 10,500 tails that begin with a letter
 * (Tekken) all but a dozen go on so. Hardly any grammar reads them, since what has such characters, a string or a comment, begins with a
 * mark. So it is seen from the lexemes of a grammar which bytes beyond ASCII can be read behind letters and digits, or at the beginning of
 * a lexeme. Mostly that is none, and these tails are not looked at. If it is a few, the vocabulary has a trie of the tails that have no
 * others (vb_tails.c): where case does not count, the long s and the sign of the kelvin are letters.
 *
 * Exactness. A tail is read from where a lexeme begins, so the lexeme in which the first byte beyond ASCII is read has begun with a letter,
 * a digit, or this byte. In the first case it is one that may be in what follows those (rx_may errs towards more), in the other all of the
 * lexeme counts. The same for the bytes after it, up to the next one of ASCII.
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
    if (e->mk.n_behind_words != NONE) return true;
    for (u32 i = 0; is_known && i < e->lx.lexemes.n; i++)
        if (!add_lexeme(e, e->lx.lexemes.at[i].expr, &all)) return false;
    e->mk.behind_words = all;
    e->mk.n_behind_words = is_known ? set_count(&all) : FEW_BYTES + 1;
    return true;
}

bool mk_tails(ge_engine *e, const vb_inner *inner, u32 exit, u32 sort, const tt_trie **tails) {
    bool may_leave_out = (sort == VB_MIXED || sort == VB_BEYOND) && !(e->switches & (GE_NO_SLICES | GE_NO_SHARED_INNER));
    *tails = NULL;
    if (may_leave_out && !find_bytes(e)) return false;
    if (may_leave_out && e->mk.n_behind_words == 0) return true;
    if (may_leave_out && e->mk.n_behind_words <= FEW_BYTES)
        return vb_tails_within(e->v, inner, exit, sort, &e->mk.behind_words, tails) || budget_fail(&e->b, GE_E_MEMORY);
    *tails = vb_tails(e->v, inner, exit, sort);
    return *tails || budget_fail(&e->b, GE_E_MEMORY);
}
