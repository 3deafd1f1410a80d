/* Unions in which one part is another one with more conditions, which adds nothing and is left out.
 *
 *     A | A & B          =  A
 *     A t | (A & B) t    =  A t
 *     QUOTE(A) t | QUOTE(A & B) t  =  QUOTE(A) t      where both have read as much of an escape
 *
 * Of `(P & .*ab.*) | (P & .*cd.*) | ...` what is left behind "ab" is what is left of P, whatever of the others has been read: states for where a text is, and none
 * for each set of patterns that it has met. It is told from the operands, and errs towards keeping a part. */
#include "rx.h"

enum {
    NARROW_ARMS = 32, /* of a union, that are looked at */
    NARROW_PAIRS = 64 /* conditions that are compared for a unit of work */
};

/* A part of a union: the conditions on what stands before the tail. */
typedef struct narrow_arm {
    rx_id id, tail;
    const u32 *quote;  /* the node of which they are the operand; NULL: none */
    const rx_id *all;  /* sorted */
    u32 n;
} narrow_arm;

/* `id` has to stay where it is: it may be pointed to. */
static narrow_arm narrow_arm_of(const rx_arena *x, const rx_id *id) {
    narrow_arm arm = {.id = *id, .tail = RX_ID_EMPTY, .all = id, .n = 1};
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

static bool has_condition(const narrow_arm *arm, rx_id condition) {
    u32 i = 0;
    while (i < arm->n && arm->all[i] != condition) i++;
    return i < arm->n;
}

/* Is each condition of `wide` one of `narrow`, too? */
static bool is_narrower(const rx_arena *x, const narrow_arm *narrow, const narrow_arm *wide) {
    if (narrow->tail == RX_ID_EMPTY && !narrow->quote && has_condition(narrow, wide->id)) return true;
    if (narrow->tail != wide->tail || !narrow->quote != !wide->quote) return false;
    if (narrow->quote && memcmp(narrow->quote + 2, wide->quote + 2, 3 * sizeof(u32)) != 0) return false;
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
    narrow_arm arms[NARROW_ARMS];
    u32 n = min_u32(parts->n, NARROW_ARMS), kept = 0, width = 0;
    bool dropped[NARROW_ARMS] = {false}, any = false;
    for (u32 i = 0; i < n; i++) {
        arms[i] = narrow_arm_of(x, &parts->at[i]);
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
