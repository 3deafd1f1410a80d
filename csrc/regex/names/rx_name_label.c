/* The U-label under way in a name. See rx_name_label.h.
 *
 * A beginning can be finished if it fits and is a label, or is one with the fewest characters that make one of it. These are looked for
 * among all characters there are, in ranges of which most are seen to take too many octets: each that is tried is charged to the budget. */
#include "rx_name_label.h"
#include "rx_grow.h"

/* Appends characters that are decided. */
static bool append_closed(name_label *l, const u32 *code, u32 n) {
    if (l->text.n + n > LABEL_LONGEST) return false;
    for (u32 i = 0; i < n; i++) {
        if (!ulabel_step(&l->state, code[i])) return false;
        label_append(&l->text, code[i]);
    }
    return true;
}

bool name_label_close(name_label *l) {
    u32 closed[ULABEL_OPEN], n = ulabel_close(&l->open, closed);
    l->open.n = 0;
    return append_closed(l, closed, n);
}

bool name_label_append(name_label *l, u32 code) {
    u32 decided[ULABEL_OPEN], n = 1;
    decided[0] = code;
    if (l->any_form && !ulabel_normalise(&l->open, code, decided, &n)) return false;
    return append_closed(l, decided, n);
}

/* --- can it be finished? ---------------------------------------------------------------------------------------------------- */

/* Can it with one of these as its next character? Behind them the states are the same. */
static bool finish_with_alike(budget *b, const name_label *l, const label_outlook *o, u32 low, u32 high, u32 room) {
    if (!label_may_fit_with(o, low, high, room)) return false;
    if (high - low >= 8) {
        u32 middle = low + (high - low) / 2;
        return finish_with_alike(b, l, o, low, middle, room) || finish_with_alike(b, l, o, middle + 1, high, room);
    }
    for (u32 code = low; code <= high; code++) {
        name_label longer = *l;
        if (!budget_work(b, 1)) return false;
        if (append_closed(&longer, &code, 1) && name_label_can_finish(b, &longer, room)) return true;
    }
    return false;
}

/* Can it with one of these, behind which so many characters are missing? Nothing is open, and nothing is composed with what comes. */
static bool finish_between(budget *b, const name_label *l, const label_outlook *o, u32 low, u32 high, u32 room, u32 n_missing) {
    ulabel_state after = l->state;
    u32 last;
    u8 class = ulabel_class_until(low, &last);
    if (last < high) {
        u32 middle = max_u32(last, low + (high - low) / 2);
        if (!label_may_fit_with(o, low, high, room)) return false;
        return finish_between(b, l, o, low, last, room, n_missing) ||
               (last < middle && finish_between(b, l, o, last + 1, middle, room, n_missing)) ||
               finish_between(b, l, o, middle + 1, high, room, n_missing);
    }
    if (!class || (l->any_form && !ulabel_is_starter_class(class)) || !ulabel_step(&after, low)) return false;
    return ulabel_n_missing(after, l->set) == n_missing && finish_with_alike(b, l, o, low, high, room);
}

static bool finish_with_one(budget *b, const name_label *l, u32 code, u32 room) {
    name_label longer = *l;
    return budget_work(b, 1) && name_label_append(&longer, code) && name_label_can_finish(b, &longer, room);
}

bool name_label_can_finish_with(budget *b, const name_label *l, u32 low, u32 high, u32 room) {
    name_label closed = *l;
    label_outlook o;
    bool closes = name_label_close(&closed);
    if (closes) {
        label_look(&closed.text, &o);
        for (u32 n_missing = 0; n_missing <= ULABEL_MORE; n_missing++)
            if (finish_between(b, &closed, &o, low, high, room, n_missing)) return true;
    }
    if (!l->any_form) return false;
    for (u32 code = low; (code = closes ? ulabel_next_unstable(code) : code) <= high; code++)
        if (finish_with_one(b, l, code, room)) return true;
    return false;
}

/* Can it with a character that is composed with what is open? Then that is no more characters than it was. */
static bool finish_by_composing(budget *b, const name_label *l, u32 room) {
    u32 closed[ULABEL_OPEN], n_closed = ulabel_close(&l->open, closed);
    if (!l->any_form || l->text.n + 1 > room || label_octets(&l->text) + 1 > room) return false;
    for (u32 code = 0; (code = ulabel_next_second(&l->open, code)) != NONE;) {
        name_label longer = *l;
        if (!budget_work(b, 1)) return false;
        if (!name_label_append(&longer, code) || longer.text.n != l->text.n || ulabel_close(&longer.open, closed) > n_closed) continue;
        if (name_label_can_finish(b, &longer, room)) return true;
    }
    return false;
}

bool name_label_can_finish(budget *b, const name_label *l, u32 room) {
    name_label closed = *l;
    if (!name_label_close(&closed) || !label_fits(&closed.text, room)) return finish_by_composing(b, l, room);
    u32 n_missing = ulabel_n_missing(closed.state, closed.set);
    if (n_missing == 0 || (room >= LABEL_LONGEST && label_is_sure(closed.text.n - closed.text.n_far, closed.text.n_far + ULABEL_MORE, 2)))
        return true;
    label_outlook o;
    label_look(&closed.text, &o);
    for (u32 n_after = 0; n_after < n_missing; n_after++) /* what is open is not composed: that would not mend anything */
        if (finish_between(b, &closed, &o, '-', ULABEL_LAST_CODE, room, n_after)) return true;
    return false;
}

/* More characters may take fewer octets (rx_grow.c). Nothing is composed with what is open, as in
 * form C nothing would be. What is found is found again behind each of its beginnings. */
bool name_label_can_grow(budget *b, const name_label *l, u32 low, u32 high, u32 room, u32 *first) {
    name_label closed = *l;
    if (!name_label_close(&closed)) return false;
    return label_can_grow(b, &(grow_question){&closed.text, closed.state, closed.set, low, high, room}, first);
}

/* --- what comes next -------------------------------------------------------------------------------------------------------- */

u32 name_label_first(const name_label *l, u32 low, u32 high) {
    name_label closed = *l;
    bool closes = name_label_close(&closed);
    for (u32 code = low, last; code <= high; code = last + 1) {
        u8 class = ulabel_class_until(code, &last);
        ulabel_state after = closed.state;
        last = min_u32(last, high);
        if (!l->any_form || ulabel_are_closed(code, last)) {
            if (closes && class && ulabel_step(&after, code)) return code;
            continue;
        }
        for (u32 one = code; one <= last; one++) {
            name_label longer = *l, whole;
            if (!name_label_append(&longer, one)) continue;
            whole = longer;
            if (name_label_close(&whole) || ulabel_is_syllable_begun(&longer.open, longer.state)) return one;
        }
    }
    return NONE;
}

u32 name_label_likely(const name_label *l) {
    name_label closed = *l;
    if (!name_label_close(&closed)) return ulabel_next_second(&l->open, 0);
    return ulabel_following(closed.state) ? ulabel_following(closed.state) : 'a';
}
