/* td_file: token automata as files (base/file.h). They are small, so all indices in the tables are
 * looked at when a file is loaded: not even a file that was made on purpose leads out of them. */
#include "../base/file.h"
#include "td.h"

static const file_kind AUTOMATON = {"ge-tokdf", 4, "it is no saved token automaton"};

/* A width is looked at where it is read, since it is used at once. */
static void visit_ids(file_walk *w, td_ids *ids, size_t n) {
    FILE_NUMBER(w, ids->bytes);
    if (ids->bytes != sizeof(u8) && ids->bytes != sizeof(u16) && ids->bytes != sizeof(u32)) w->ok = false;
    file_table(w, &ids->at, n * ids->bytes);
}

static void visit_rows(file_walk *w, td_rows *rows, u32 n_states) {
    FILE_NUMBER(w, rows->n);
    visit_ids(w, &rows->at, n_states + (size_t)1);
    visit_ids(w, &rows->class, rows->n);
    visit_ids(w, &rows->to, rows->n);
}

static void visit_automaton(file_walk *w, ge_dfa *t) {
    FILE_NUMBER(w, t->n_states);
    FILE_NUMBER(w, t->n_classes);
    FILE_NUMBER(w, t->n_tokens);
    FILE_NUMBER(w, t->width);
    FILE_NUMBER(w, t->n_words);
    FILE_NUMBER(w, t->n_eos);
    FILE_NUMBER(w, t->n_live);
    FILE_NUMBER(w, t->by_rank);
    FILE_NUMBER(w, t->n_masks);
    FILE_NUMBER(w, t->n_rows);
    FILE_NUMBER(w, t->n_mask_words);
    FILE_NUMBER(w, t->n_mask_gaps);
    FILE_NUMBER(w, t->exact);
    FILE_NUMBER(w, t->has_bytes);
    FILE_NUMBER(w, t->n_byte_states);
    FILE_NUMBER(w, t->n_byte_classes);
    FILE_NUMBER(w, t->n_note);
    FILE_TABLE(w, t->eos, t->n_eos);
    if (t->n_live && t->by_rank) {
        FILE_TABLE(w, t->live_bits, td_n_rank_words(t));
        visit_ids(w, &t->rank, td_n_rank_words(t));
    } else if (t->n_live) {
        visit_ids(w, &t->live, t->n_live);
    }
    visit_ids(w, &t->class_of, t->n_live ? t->n_live : t->n_tokens);
    visit_rows(w, &t->rows, t->n_states);
    visit_ids(w, &t->mask_of, t->n_states);
    FILE_TABLE(w, t->mask, t->n_masks);
    visit_ids(w, &t->row_of, t->n_masks);
    FILE_TABLE(w, t->row, t->n_rows);
    FILE_TABLE(w, t->mask_words, t->n_mask_words);
    FILE_TABLE(w, t->mask_gaps, t->n_mask_gaps);
    FILE_TABLE(w, t->accepts, t->n_states);
    visit_ids(w, &t->byte_class_of, 256);
    if (!t->has_bytes) {
        visit_rows(w, &t->byte_rows, t->n_byte_states);
        FILE_TABLE(w, t->byte_accepts, t->n_byte_states);
    }
    FILE_TABLE(w, t->note, t->n_note);
}

static bool all_below(const u32 *words, size_t n, u32 bound) {
    for (size_t i = 0; i < n; i++)
        if (words[i] >= bound) return false;
    return true;
}

/* Does a list hold tokens below n_tokens, each once? */
static bool are_sound_gaps(const u16 *gaps, u32 n, u32 n_tokens) {
    u64 token = 0;
    for (u32 i = 0; i < n; token += gaps[i++])
        if (i && gaps[i] == 0 && gaps[i - 1] != TD_GAP) return false;
    return token < n_tokens || n == 0;
}

static bool ids_below(td_ids ids, size_t n, u32 bound, bool or_none) {
    for (size_t i = 0; i < n; i++) {
        u32 id = td_id(ids, i);
        if (id >= bound && !(or_none && id == NONE)) return false;
    }
    return true;
}

static bool are_flags(const bool *flags, u32 n) { /* what the compiler takes a bool to be */
    const u8 *bytes = (const u8 *)flags;
    for (u32 i = 0; i < n; i++)
        if (bytes[i] > 1) return false;
    return true;
}

static bool is_within(u32 at, u32 n, u32 end) { return at <= end && n <= end - at; }

/* Are all bits of a row those of tokens? */
static bool is_sound_row(const ge_dfa *t, td_row row) {
    if (row.n > t->n_words || !is_within(row.at, row.n, t->n_mask_words)) return false;
    const u32 *words = t->mask_words + row.at;
    bool ok = true;
    for (u32 i = t->n_tokens / 32; ok && i < row.n; i++) ok = words[i] >> (i == t->n_tokens / 32 ? t->n_tokens % 32 : 0) == 0;
    return ok;
}

/* Masks hold tokens only, none twice: so there is room for them wherever there is room for all tokens. */
static bool are_sound_masks(const ge_dfa *t) {
    bool ok = ids_below(t->row_of, t->n_masks, t->n_rows, true);
    for (u32 i = 0; ok && i < t->n_rows; i++) ok = is_sound_row(t, t->row[i]);
    for (u32 i = 0; ok && i < t->n_masks; i++) {
        td_mask m = t->mask[i];
        ok = is_within(m.at, m.n, t->n_mask_gaps) && are_sound_gaps(t->mask_gaps + m.at, m.n, t->n_tokens);
    }
    return ok;
}

/* Does each live token find an entry? */
static bool are_sound_ranks(const ge_dfa *t) {
    bool ok = true;
    for (u32 i = 0; ok && i < td_n_rank_words(t); i++) ok = (u64)td_id(t->rank, i) + count_bits(t->live_bits[i]) <= t->n_live;
    return ok;
}

static bool are_sound_rows(const td_rows *rows, u32 n_states) {
    bool ok = ids_below(rows->to, rows->n, n_states, false) && td_id(rows->at, n_states) == rows->n;
    for (u32 s = 0; ok && s < n_states; s++) ok = td_id(rows->at, s) <= td_id(rows->at, s + 1);
    return ok;
}

/* Are all indices within their tables? */
static bool is_sound(const ge_dfa *t) {
    if (t->n_states == 0 || t->n_states == NONE || t->n_tokens == 0 || t->width < t->n_tokens) return false;
    if (t->n_words != ((u64)t->width + 31) / 32) return false;
    if (t->n_live > t->n_tokens || t->n_byte_states == 0 || t->n_byte_classes > 256) return false;
    u32 n_classed = t->n_live ? t->n_live : t->n_tokens;
    bool ok = all_below(t->eos, t->n_eos, t->n_tokens);
    if (t->n_live) ok = ok && (t->by_rank ? are_sound_ranks(t) : ids_below(t->live, t->n_live, t->n_tokens, false));
    ok = ok && ids_below(t->class_of, n_classed, t->n_classes, true) && ids_below(t->mask_of, t->n_states, t->n_masks, false);
    ok = ok && are_flags(t->accepts, t->n_states) && are_sound_rows(&t->rows, t->n_states);
    ok = ok && ids_below(t->byte_class_of, 256, t->has_bytes ? t->n_classes : t->n_byte_classes, true);
    if (t->has_bytes) ok = ok && t->n_byte_states == t->n_states;
    else ok = ok && are_flags(t->byte_accepts, t->n_byte_states) && are_sound_rows(&t->byte_rows, t->n_byte_states);
    return ok && are_sound_masks(t);
}

size_t ge_dfa_save(const ge_dfa *dfa, const uint8_t *note, uint32_t n_note, uint8_t *out) {
    file_walk w = file_begin(out);
    ge_dfa t = *dfa;
    t.note = note;
    t.n_note = n_note;
    visit_automaton(&w, &t); /* only read */
    return file_finish(&w, &AUTOMATON);
}

ge_status ge_dfa_load(int32_t fd, ge_dfa **out, ge_err *err) {
    ge_dfa *t = td_new(NULL);
    file_walk w;
    if (!t) return err->status = GE_E_MEMORY;
    const char *fault = file_map(fd, &t->map, &t->map_size);
    if (!fault) fault = file_open(&w, t->map, t->map_size, &AUTOMATON);
    if (!fault) {
        visit_automaton(&w, t);
        fault = file_close(&w);
    }
    if (!fault && !is_sound(t)) fault = "its tables are not those of an automaton";
    if (fault) return ge_dfa_free(t), err_set(err, GE_E_ARGUMENT, fault);
    *out = t;
    return GE_OK;
}

void td_unmap(ge_dfa *t) { file_unmap(t->map, t->map_size); }
