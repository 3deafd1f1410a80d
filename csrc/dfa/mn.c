#include "mn.h"

/* A partition of 0 .. n - 1 into sets; each is a stretch of `element`, its marked elements first. */
typedef struct partition {
    u32 *element, *place; /* place[element[i]] = i */
    u32 *set_of;
    u32 *first, *past, *marked; /* by set */
    u32 *touched;               /* sets that have marked elements */
    u32 n, n_sets, n_touched;
} partition;

enum { N_TABLES = 7 };

static bool new_partition(budget *b, partition *p, u32 n) {
    size_t words = max_u32(n, 1);
    u32 *block = mem_resize(b, NULL, 0, N_TABLES * words * sizeof *block);
    *p = (partition){.n = n, .n_sets = n > 0};
    if (!block) return false;
    u32 **tables[N_TABLES] = {&p->element, &p->place, &p->set_of, &p->first, &p->past, &p->marked, &p->touched};
    for (u32 k = 0; k < N_TABLES; k++) *tables[k] = block + k * words;
    for (u32 i = 0; i < n; i++) p->element[i] = p->place[i] = i;
    memset(p->set_of, 0, words * sizeof *block);
    memset(p->marked, 0, words * sizeof *block);
    p->first[0] = 0;
    p->past[0] = n;
    return true;
}

static void drop_partition(budget *b, partition *p) {
    if (p->element) mem_resize(b, p->element, N_TABLES * (size_t)max_u32(p->n, 1) * sizeof *p->element, 0);
}

static void mark_element(partition *p, u32 e) { /* not marked before */
    u32 set = p->set_of[e], from = p->place[e], to = p->first[set] + p->marked[set];
    p->element[from] = p->element[to];
    p->place[p->element[from]] = from;
    p->element[to] = e;
    p->place[e] = to;
    if (p->marked[set]++ == 0) p->touched[p->n_touched++] = set;
}

/* Parts each set into its marked elements and the others. */
static void split_marked(partition *p) {
    while (p->n_touched) {
        u32 set = p->touched[--p->n_touched], middle = p->first[set] + p->marked[set], fresh = p->n_sets;
        u32 n_marked = p->marked[set];
        p->marked[set] = 0;
        if (middle == p->past[set]) continue;
        if (n_marked <= p->past[set] - middle) {
            p->first[fresh] = p->first[set];
            p->past[fresh] = p->first[set] = middle;
        } else {
            p->past[fresh] = p->past[set];
            p->first[fresh] = p->past[set] = middle;
        }
        p->marked[fresh] = 0;
        for (u32 i = p->first[fresh]; i < p->past[fresh]; i++) p->set_of[p->element[i]] = fresh;
        p->n_sets++;
    }
}

static u32 sort_key(const mn_transition *t, int field) { return field == MN_BY_FROM ? t->from : t->label; }

bool mn_sort(budget *b, mn_transition *all, u32 n, int field, u32 n_keys) {
    u32 *place = mem_resize(b, NULL, 0, ((size_t)n_keys + 1) * sizeof *place);
    mn_transition *sorted = mem_resize(b, NULL, 0, ((size_t)n + 1) * sizeof *sorted);
    bool ok = place && sorted;
    if (ok) {
        memset(place, 0, ((size_t)n_keys + 1) * sizeof *place);
        for (u32 i = 0; i < n; i++) place[sort_key(&all[i], field) + 1]++;
        for (u32 k = 0; k < n_keys; k++) place[k + 1] += place[k];
        for (u32 i = 0; i < n; i++) sorted[place[sort_key(&all[i], field)]++] = all[i];
        if (n) memcpy(all, sorted, n * sizeof *all);
    }
    if (place) mem_resize(b, place, ((size_t)n_keys + 1) * sizeof *place, 0);
    if (sorted) mem_resize(b, sorted, ((size_t)n + 1) * sizeof *sorted, 0);
    return ok;
}

/* entering[at[s] .. at[s + 1]) = the transitions to s. */
static void sort_by_target(const mn_transition *all, u32 n, u32 n_states, u32 *at, u32 *entering) {
    memset(at, 0, ((size_t)n_states + 1) * sizeof *at);
    for (u32 i = 0; i < n; i++) at[all[i].to]++;
    for (u32 s = 0, sum = 0; s <= n_states; s++) {
        u32 count = s < n_states ? at[s] : 0;
        sum += count;
        at[s] = sum;
    }
    for (u32 i = n; i-- > 0;) entering[--at[all[i].to]] = i;
}

bool mn_minimise(budget *b, mn_transition *all, u32 n, u32 n_labels, const bool *accepts, u32 n_states, u32 *block, u32 *n_blocks) {
    partition states, cords = {0};
    size_t n_words = (size_t)n_states + 1 + n;
    u32 *at = mem_resize(b, NULL, 0, n_words * sizeof *at);
    bool ok = new_partition(b, &states, n_states) && new_partition(b, &cords, n) && at && mn_sort(b, all, n, MN_BY_LABEL, n_labels);
    if (ok) {
        sort_by_target(all, n, n_states, at, at + n_states + 1);
        for (u32 s = 0; s < n_states; s++)
            if (accepts[s]) mark_element(&states, s);
        split_marked(&states);
        for (u32 i = 0, label = 0; i < n; i++) { /* a cord for each label */
            if (i && all[i].label != all[i - 1].label) {
                cords.past[label] = i;
                cords.first[++label] = i;
                cords.past[label] = n;
                cords.marked[label] = 0;
                cords.n_sets++;
            }
            cords.set_of[i] = label;
        }
        for (u32 c = 0, k = 1; c < cords.n_sets; c++) { /* the blocks up to k and the cords up to c have split what they can */
            for (u32 i = cords.first[c]; i < cords.past[c]; i++) mark_element(&states, all[cords.element[i]].from);
            split_marked(&states);
            for (; k < states.n_sets; k++) {
                for (u32 i = states.first[k]; i < states.past[k]; i++) {
                    u32 s = states.element[i];
                    for (u32 t = at[s]; t < at[s + 1]; t++) mark_element(&cords, at[n_states + 1 + t]);
                }
                split_marked(&cords);
            }
        }
        memcpy(block, states.set_of, n_states * sizeof *block);
        *n_blocks = states.n_sets;
    }
    if (at) mem_resize(b, at, n_words * sizeof *at, 0);
    drop_partition(b, &states);
    drop_partition(b, &cords);
    return ok;
}
