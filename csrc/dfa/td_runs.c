/* td_runs: literals that may be spelt in one way only. An option: with it a mask is *less* than exact.
 *
 *     https?://[a-z]+        state 0 -h-> 1 -t-> 2 -t-> 3 -p-> 4 -s-> 5 ...
 *                                               \---- run "http" ---/     4 has two ways on, so the run ends there
 *
 * A literal run is read off the minimal automaton, not off the pattern: letters, digits and underscores, each the only byte from its state
 * to the next, through states with one way in and one way on that are no sentences. So a run ends where determinism ends (optional parts,
 * alternatives, loops, classes that contain its bytes), however the pattern is written, and nothing has to be put into it in place of the
 * literal.
 *
 * To coalesce a run, its bytes are taken out of the automaton and the tokens of its spelling put in. All other tokens that would touch it,
 * those that reach over its ends too, are then read from nowhere near it. Where each byte is a token, every text of the language stays
 * possible, as the spelling is a way to write the run. */
#include "td.h"

enum { SHORTEST = 2 }; /* bytes: one byte has one spelling */

static bool is_alphanumeric(u32 c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

typedef struct edges_of_states {
    const ba_automaton *a;
    u32 n_bytes[256]; /* of each class */
    u32 byte_of[256]; /* the last byte of each class */
    u32 *in;          /* bytes that lead to a state; one more for the start */
} edges_of_states;

/* The byte by which state s leads to where class k leads, if it is the only one and alphanumeric; else NONE. */
static u32 literal_byte(const edges_of_states *w, u32 s, u32 k) {
    const u32 *row = w->a->next + (size_t)s * w->a->n_classes;
    if (row[k] == NONE || w->n_bytes[k] != 1 || !is_alphanumeric(w->byte_of[k])) return NONE;
    for (u32 j = 0; j < w->a->n_classes; j++)
        if (j != k && row[j] == row[k]) return NONE;
    return w->byte_of[k];
}

/* The class of the only byte that leads on from s, if that is literal and nothing else can happen in s; else NONE. */
static u32 only_way(const edges_of_states *w, u32 s) {
    const u32 *row = w->a->next + (size_t)s * w->a->n_classes;
    u32 way = NONE;
    if (w->a->accepts[s] || w->in[s] != 1) return NONE;
    for (u32 k = 0; k < w->a->n_classes; k++) {
        if (row[k] == NONE) continue;
        if (way != NONE) return NONE;
        way = k;
    }
    return way != NONE && literal_byte(w, s, way) != NONE ? way : NONE;
}

static bool add_run(td_runs *runs, budget *b, const edges_of_states *w, u32 s, u32 k) {
    u32 text = runs->text.n, states = runs->states.n;
    if (!vec_push(b, &runs->states, s)) return false;
    while (k != NONE) {
        if (!vec_push(b, &runs->text, (u8)w->byte_of[k])) return false;
        s = w->a->next[(size_t)s * w->a->n_classes + k];
        if (!vec_push(b, &runs->states, s)) return false;
        k = only_way(w, s);
    }
    if (runs->text.n - text >= SHORTEST) return vec_push(b, &runs->at, runs->text.n);
    runs->text.n = text;
    runs->states.n = states;
    return true;
}

bool td_find_runs(td_runs *runs, budget *b, const ba_automaton *a) {
    edges_of_states w = {.a = a, .in = mem_resize(b, NULL, 0, a->n_states * sizeof *w.in)};
    id_vec inside = {0}; /* 1: the state is entered by a literal byte and has an only way on, so a run goes through it */
    bool ok = w.in && vec_push(b, &runs->at, 0) && vec_reserve(b, &inside, a->n_states);
    for (u32 byte = 0; byte < 256; byte++)
        if (a->class_of[byte] != BA_NO_CLASS) {
            w.n_bytes[a->class_of[byte]]++;
            w.byte_of[a->class_of[byte]] = byte;
        }
    if (ok) {
        memset(w.in, 0, a->n_states * sizeof *w.in);
        memset(inside.at, 0, a->n_states * sizeof *inside.at);
        w.in[0] = 1;
    }
    for (size_t i = 0; ok && i < (size_t)a->n_states * a->n_classes; i++)
        if (a->next[i] != NONE) w.in[a->next[i]] += w.n_bytes[i % a->n_classes];
    for (u32 s = 0; ok && s < a->n_states; s++)
        for (u32 k = 0; k < a->n_classes; k++)
            if (literal_byte(&w, s, k) != NONE) inside.at[a->next[(size_t)s * a->n_classes + k]] = 1;
    for (u32 s = 0; ok && s < a->n_states; s++) {
        if (s && inside.at[s] && only_way(&w, s) != NONE) continue;
        for (u32 k = 0; ok && k < a->n_classes; k++)
            if (literal_byte(&w, s, k) != NONE) ok = add_run(runs, b, &w, s, k);
    }
    vec_drop(b, &inside);
    if (w.in) mem_resize(b, w.in, a->n_states * sizeof *w.in, 0);
    return ok;
}

void td_drop_runs(td_runs *runs, budget *b) {
    vec_drop(b, &runs->text);
    vec_drop(b, &runs->at);
    vec_drop(b, &runs->states);
}

static int compare_edges(const void *left, const void *right) {
    const td_edge *p = left, *q = right;
    if (p->token != q->token) return p->token < q->token ? -1 : 1;
    return p->from < q->from ? -1 : p->from > q->from;
}

bool td_mute_runs(const td_runs *runs, budget *b, ba_automaton *a, const ge_vocab *v, const u32 *spelling, const u32 *spelling_at,
                  td_edges *edges, u32 *wrong) {
    *wrong = NONE;
    for (u32 r = 0; r + 1 < runs->at.n; r++) {
        if (spelling_at[r] == spelling_at[r + 1]) continue;
        const u8 *text = runs->text.at + runs->at.at[r];
        const u32 *states = runs->states.at + runs->at.at[r] + r;
        u32 n = runs->at.at[r + 1] - runs->at.at[r], at = 0;
        for (u32 i = spelling_at[r]; i < spelling_at[r + 1]; i++) {
            u32 token = spelling[i], from = token < v->n_tokens ? v->offsets[token] : 0;
            u32 length = token < v->n_tokens ? v->offsets[token + 1] - from : 0;
            if (length == 0 || length > n - at || memcmp(v->text + from, text + at, length) != 0) return *wrong = r, true;
            if (!vec_push(b, edges, ((td_edge){token, states[at], states[at + length]}))) return false;
            at += length;
        }
        if (at != n) return *wrong = r, true;
        for (u32 i = 0; i < n; i++) a->next[(size_t)states[i] * a->n_classes + a->class_of[text[i]]] = NONE;
    }
    if (edges->n) qsort(edges->at, edges->n, sizeof *edges->at, compare_edges);
    return ba_join_classes(a, b);
}
