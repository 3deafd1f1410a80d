/* Unions in which one part is another one with more conditions, which adds nothing and is left out.
 *
 *     A | A & B          =  A
 *     A t | (A & B) t    =  A t
 *     QUOTE(A) t | QUOTE(A & B) t  =  QUOTE(A) t      where both have read as much of an escape
 *
 * Of `(P & .*ab.*) | (P & .*cd.*) | ...` what is left behind "ab" is what is left of P, whatever of the others has been read: states for
 * where a text is, and none for each set of patterns that it has met. It is told from the operands, and errs towards keeping a part. */
#include "rx.h"

enum {
    NARROW_ARMS = 32, /* of a union, that are looked at */
    NARROW_PAIRS = 64 /* conditions that are compared for a unit of work */
};

rx_arm rx_arm_of(const rx_arena *x, const rx_id *id) {
    rx_arm arm = {.id = *id, .tail = RX_ID_EMPTY, .all = id, .n = 1};
    if (rx_kind_of(x, *arm.all) == RX_CONCAT) {
        arm.tail = intern_words(&x->nodes, *id)[2];
        arm.all = intern_words(&x->nodes, *id) + 1;
    }
    if (rx_kind_of(x, *arm.all) == RX_QUOTE) {
        arm.quote = intern_words(&x->nodes, *arm.all);
        arm.all = arm.quote + 1;
    }
    if (rx_kind_of(x, *arm.all) == RX_AND) {
        arm.n = intern_length(&x->nodes, *arm.all) - 1;
        arm.all = intern_words(&x->nodes, *arm.all) + 1;
    }
    return arm;
}

static bool arm_has(const rx_arm *arm, rx_id condition) {
    u32 i = 0;
    while (i < arm->n && arm->all[i] != condition) i++;
    return i < arm->n;
}

/* The same tail, and both in quotes of which as much was read, or in none? */
static bool arms_are_akin(const rx_arm *a, const rx_arm *b) {
    if (a->tail != b->tail || !a->quote != !b->quote) return false;
    return !a->quote || memcmp(a->quote + 2, b->quote + 2, 3 * sizeof(u32)) == 0;
}

/* Is each condition of `wide` one of `narrow`, too? */
static bool is_narrower(const rx_arena *x, const rx_arm *narrow, const rx_arm *wide) {
    if (narrow->tail == RX_ID_EMPTY && !narrow->quote && arm_has(narrow, wide->id)) return true;
    if (!arms_are_akin(narrow, wide)) return false;
    u32 met = 0;
    if (wide->n == 1 && wide->all[0] == x->text && narrow->all[0] != x->text) { /* which is known of each condition apart */
        for (u32 i = 0; i < narrow->n; i++)
            if (x->meta.at[narrow->all[i]].flags & RX_TEXT) return true;
        return false;
    }
    for (u32 i = 0; i < narrow->n && met < wide->n; i++) met += narrow->all[i] == wide->all[met];
    return met == wide->n && narrow->n > wide->n;
}

bool rx_drop_narrower(rx_arena *x, id_vec *parts) {
    rx_arm arms[NARROW_ARMS];
    u32 n = min_u32(parts->n, NARROW_ARMS), kept = 0, width = 0;
    bool dropped[NARROW_ARMS] = {false}, any = false;
    for (u32 i = 0; i < n; i++) {
        arms[i] = rx_arm_of(x, &parts->at[i]);
        any |= arms[i].n > 1 || arms[i].quote;
        width += arms[i].n;
    }
    if (!any) return true;
    if (!budget_work(x->b, n * width / NARROW_PAIRS)) return false;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < n && !dropped[i]; k++) dropped[i] = k != i && !dropped[k] && is_narrower(x, &arms[i], &arms[k]);
    for (u32 i = 0; i < parts->n; i++)
        if (i >= n || !dropped[i]) parts->at[kept++] = parts->at[i];
    parts->n = kept;
    return true;
}
