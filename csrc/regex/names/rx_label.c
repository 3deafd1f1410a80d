/* How many octets Punycode takes for a U-label. See rx_label.h. */
#include "rx_label.h"
#include "punycode.h"

const signed char label_most_plain[3][LABEL_SURE] = {
    {58, 54, 49, 46, 42, 39, 35, 32, 29, 26, 23, 20, 17, 14, 12, 9, 7, 5, 3, 1, 0},
    {58, 53, 47, 42, 37, 33, 29, 25, 21, 17, 14, 10, 7, 4, 1, -1, -1, -1, -1, -1, -1},
    {58, 51, 45, 40, 34, 29, 24, 20, 15, 11, 7, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1},
};

void label_append(label_text *t, u32 code) {
    u32 at = t->n++, k = t->n_far;
    if (code < FIRST_FAR) {
        t->plain |= (u64)1 << at;
        return;
    }
    t->code[at] = code;
    for (; k && t->code[t->order[k - 1]] > code; k--) t->order[k] = t->order[k - 1];
    t->order[k] = (u8)at;
    t->n_far++;
    t->sort = max_u32(t->sort, label_sort(code));
}

static label_encoder begin_encoder(const label_text *t) {
    u32 n = t->n - t->n_far;
    return (label_encoder){.present = t->plain, .n = n, .octets = n + (n > 0), .code = FIRST_FAR, .bias = PUNY_FIRST_BIAS};
}

static u64 number_of_step(const label_encoder *e, u32 at, u32 code) {
    return (u64)(code - e->code) * (e->n + 1) + (u32)__builtin_popcountll(e->present & (((u64)1 << at) - 1)) - e->index;
}

static void insert_next(label_encoder *e, const label_text *t, u32 k) {
    u32 at = t->order[k], code = t->code[at];
    u64 number = number_of_step(e, at, code);
    e->octets += puny_digits(number, 0, e->bias);
    e->index += (u32)(number - (u64)(code - e->code) * (e->n + 1)) + 1;
    e->code = code;
    e->present |= (u64)1 << at;
    e->bias = puny_adapted_bias((u32)number, ++e->n, k == 0);
}

u32 label_octets(const label_text *t) {
    label_encoder e = begin_encoder(t);
    for (u32 k = 0; k < t->n_far; k++) insert_next(&e, t, k);
    return e.octets;
}

bool label_fits(const label_text *t, u32 room) {
    if (room >= LABEL_LONGEST && label_is_sure(t->n - t->n_far, t->n_far, t->sort)) return true;
    return t->n <= room && label_octets(t) <= room;
}

void label_look(const label_text *t, label_outlook *out) {
    u32 least[LABEL_OCTETS + 1], cost[LABEL_OCTETS + 1]; /* with one more character, behind all: of any bias; of its own */
    label_encoder more = begin_encoder(t);
    out->text = t;
    out->before[0] = more;
    more.n++;
    for (u32 k = 0; k < t->n_far; k++) {
        u32 octets = more.octets;
        out->before[k + 1] = out->before[k];
        insert_next(&out->before[k + 1], t, k);
        least[k] = puny_fewest_digits(number_of_step(&more, t->order[k], t->code[t->order[k]]));
        insert_next(&more, t, k);
        cost[k] = more.octets - octets;
    }
    out->behind[t->n_far] = out->behind[t->n_far + 1] = 0;
    for (u32 k = t->n_far, sum = 0; k-- > 0; sum += cost[k]) out->behind[k] = least[k] + sum;
}

/* The number of a character at a place, where one was just appended whose code point is so much lower.
 * Behind that, counting goes on at the end of the text, so it is less than the distance times the places. */
static u64 number_behind(const label_encoder *before, u32 at, u32 distance) {
    return distance ? number_of_step(&(label_encoder){.present = before->present, .n = before->n + 1, .index = before->n + 1}, at, distance)
                    : 0;
}

/* False => the text does not fit with one more character from a range. The characters before it in the order of insertion cost what they
 * did. It costs no less than the lowest of the range there, and the next one no less than if the highest had come. What the one after that
 * takes depends on the bias; of the others all is known: there is one more character, behind them. */
bool label_may_fit_with(const label_outlook *o, u32 low, u32 high, u32 room) {
    const label_text *t = o->text;
    if (t->n >= room) return false;
    if (low < FIRST_FAR || (room >= LABEL_LONGEST && label_is_sure(t->n - t->n_far, t->n_far + 1, 2))) return true;
    u32 first = 0, end = t->n_far; /* the first that is above the lowest of the range */
    while (first < end) {
        u32 middle = (first + end) / 2;
        if (t->code[t->order[middle]] <= low) first = middle + 1;
        else end = middle;
    }
    for (u32 k = first; k <= t->n_far; k++) {
        const label_encoder *at = &o->before[k];
        u32 code = max_u32(low, at->code), next = k < t->n_far ? t->code[t->order[k]] : NONE, octets = at->octets;
        if (code > high) break;
        if (code == next) continue;
        octets += puny_digits(number_of_step(at, t->n, code), 0, at->bias);
        if (k < t->n_far) octets += puny_fewest_digits(number_behind(at, t->order[k], next - min_u32(high, next))) + o->behind[k + 1];
        if (octets <= room) return true;
    }
    return false;
}
