/* td_pack: the tables of a token automaton.
 *
 * Transitions lie one after the other, by state and class: no place is empty, and the few hundred of a state are found by halves. (Rows
 * laid over each other would be found in two loads, but rows of many classes leave two gaps for each entry.)
 *
 * Masks by content. States with the same classes have the same mask, so only distinct sets of classes are spelt out. Most masks of many
 * tokens are like another one but for a few, such as the end of text, or the tokens that would close what is open: they share its row, and
 * list the difference. */
#include "../base/wide.h"
#include "td.h"

enum {
    MAX_LISTED = 256,  /* tokens of a mask that is a list */
    MAX_APART = 64,    /* tokens in which a mask may differ from its row: each takes as long as 64 bytes of the row */
    MAX_BEYOND = 32,   /* tokens of a mask beyond the end of its own row */
    ROWS_TRIED = 32,   /* the last ones, for each mask */
    LARGE_CLASS = 512  /* tokens: the bits of such a class are set once, and then copied */
};

static void *new_block(ge_dfa *t, size_t n, size_t element) { return mem_resize(&t->b, NULL, 0, n ? n * element : 1); }

/* A copy of n elements. */
static void *copy_block(ge_dfa *t, const void *from, size_t n, size_t element) {
    void *table = new_block(t, n, element);
    return table && n ? memcpy(table, from, n * element) : table;
}
#define COPY(t, from, n) copy_block((t), (from), (n), sizeof *(from))

/* The width of numbers up to `most`. */
static u32 width_of(u32 most) { return most < UINT8_MAX ? sizeof(u8) : most < UINT16_MAX ? sizeof(u16) : sizeof(u32); }

/* A table of numbers up to `most`, and NONE. */
static bool pack_ids(ge_dfa *t, td_ids *ids, const u32 *from, size_t n, u32 most) {
    ids->bytes = width_of(most);
    ids->at = new_block(t, n, ids->bytes);
    if (!ids->at) return false;
    u8 *narrow = ids->at;
    u16 *middle = ids->at;
    if (ids->bytes == sizeof(u8))
        for (size_t i = 0; i < n; i++) narrow[i] = (u8)from[i]; /* NONE is all ones in each */
    else if (ids->bytes == sizeof(u16))
        for (size_t i = 0; i < n; i++) middle[i] = (u16)from[i];
    else
        memcpy(ids->at, from, n * sizeof *from);
    return true;
}

/* --- transitions -------------------------------------------------------------------------------------------------------------- */

/* The transitions are sorted by state and class. */
static bool pack_rows(ge_dfa *t, td_rows *rows, u32 n_states, u32 n_classes, const mn_transition *all, u32 n) {
    id_vec at = {0}, classes = {0}, to = {0};
    bool ok = vec_reserve(&t->b, &at, n_states + 1) && vec_reserve(&t->b, &classes, n) && vec_reserve(&t->b, &to, n);
    if (ok) {
        for (u32 i = 0; i < n; i++) {
            while (at.n <= all[i].from) at.at[at.n++] = i;
            classes.at[classes.n++] = all[i].label;
            to.at[to.n++] = all[i].to;
        }
        while (at.n <= n_states) at.at[at.n++] = n;
        rows->n = n;
        ok = pack_ids(t, &rows->at, at.at, at.n, n) && pack_ids(t, &rows->class, classes.at, n, n_classes) &&
             pack_ids(t, &rows->to, to.at, n, n_states);
    }
    vec_drop(&t->b, &at);
    vec_drop(&t->b, &classes);
    vec_drop(&t->b, &to);
    return ok;
}

/* --- tokens --------------------------------------------------------------------------------------------------------------------- */

static bool pack_dense(td_draft *d, ge_dfa *t) {
    id_vec class_of = {0};
    bool ok = vec_reserve(d->b, &class_of, t->n_tokens);
    if (ok) {
        memset(class_of.at, 0xff, t->n_tokens * sizeof *class_of.at);
        for (u32 i = 0; i < d->tokens.n; i++) class_of.at[d->tokens.at[i]] = d->class_of.at[i];
        ok = pack_ids(t, &t->class_of, class_of.at, t->n_tokens, t->n_classes);
    }
    vec_drop(d->b, &class_of);
    return ok;
}

static bool pack_ranks(const td_draft *d, ge_dfa *t) {
    u32 n_words = td_n_rank_words(t);
    id_vec rank = {0};
    t->live_bits = new_block(t, n_words, sizeof *t->live_bits);
    bool ok = t->live_bits && vec_reserve(d->b, &rank, n_words);
    if (ok) {
        memset(t->live_bits, 0, n_words * sizeof *t->live_bits);
        for (u32 i = 0; i < d->tokens.n; i++) t->live_bits[d->tokens.at[i] / 64] |= (u64)1 << d->tokens.at[i] % 64;
        for (u32 i = 0, n = 0; i < n_words; n += count_bits(t->live_bits[i++])) rank.at[rank.n++] = n;
        ok = pack_ids(t, &t->rank, rank.at, n_words, t->n_live);
    }
    vec_drop(d->b, &rank);
    return ok;
}

static bool pack_tokens(td_draft *d, ge_dfa *t) {
    if (d->tokens.n == 0) { /* only the empty text is a sentence: one token is listed, and no state can read it */
        const u32 first = 0, none = NONE;
        t->n_live = 1;
        return pack_ids(t, &t->live, &first, 1, 0) && pack_ids(t, &t->class_of, &none, 1, 0);
    }
    u32 n = d->tokens.n, most = d->tokens.at[n - 1], width = width_of(t->n_classes);
    u64 dense = (u64)t->n_tokens * width, listed = (u64)n * (width_of(most) + width);
    u64 ranked = (u64)n * width + (u64)td_n_rank_words(t) * (sizeof *t->live_bits + width_of(n));
    if (dense <= listed && dense <= ranked) return pack_dense(d, t);
    t->n_live = n;
    t->by_rank = ranked <= listed;
    return (t->by_rank ? pack_ranks(d, t) : pack_ids(t, &t->live, d->tokens.at, n, most)) &&
           pack_ids(t, &t->class_of, d->class_of.at, n, t->n_classes);
}

/* --- masks ---------------------------------------------------------------------------------------------------------------------- */

enum { TD_LISTED, TD_BITS };

typedef struct masking {
    td_draft *d;
    id_vec token_from, tokens; /* of each class */
    intern_table rows;         /* [accepts, classes ...] */
    id_vec mask_of_row;
    intern_table masks;        /* [TD_LISTED, tokens ...] or [TD_BITS, words ...] */
    VEC(u32 *) bits;           /* by class: n_words, of a large one, once they were needed */
    VEC(td_row) packed;        /* rows of the table ... */
    id_vec mask_of_packed;     /* ... and the masks that they are made of */
    id_vec row_of;             /* mask -> its row, or NONE */
    id_vec words;              /* scratch */
} masking;

static bool index_tokens(masking *m) {
    td_draft *d = m->d;
    if (!vec_reserve(d->b, &m->token_from, d->n_classes + 1) || !vec_reserve(d->b, &m->tokens, d->tokens.n)) return false;
    u32 *from = m->token_from.at;
    memset(from, 0, (d->n_classes + 1) * sizeof *from);
    for (u32 k = 0; k < d->n_classes; k++)
        if (!vec_push(d->b, &m->bits, NULL)) return false;
    for (u32 i = 0; i < d->class_of.n; i++) from[d->class_of.at[i]]++;
    for (u32 k = 0, sum = 0; k <= d->n_classes; k++) {
        u32 count = k < d->n_classes ? from[k] : 0;
        sum += count;
        from[k] = sum;
    }
    for (u32 i = d->class_of.n; i-- > 0;) m->tokens.at[--from[d->class_of.at[i]]] = d->tokens.at[i];
    return true;
}

static void set_bits(const masking *m, u32 class, u32 *bits) {
    for (u32 k = m->token_from.at[class]; k < m->token_from.at[class + 1]; k++)
        bits[m->tokens.at[k] >> 5] |= (u32)1 << (m->tokens.at[k] & 31);
}

static bool add_class(masking *m, u32 class, u32 *bits) {
    u32 n_words = m->d->v->n_words, **large = &m->bits.at[class];
    if (m->token_from.at[class + 1] - m->token_from.at[class] < LARGE_CLASS) return set_bits(m, class, bits), true;
    if (!*large) {
        *large = mem_resize(m->d->b, NULL, 0, n_words * sizeof **large);
        if (!*large) return false;
        memset(*large, 0, n_words * sizeof **large);
        set_bits(m, class, *large);
    }
    wide_or(bits, *large, n_words);
    return true;
}

/* The mask of a row: interned, NONE on failure. */
static u32 make_mask(masking *m, const u32 *row, u32 n) {
    td_draft *d = m->d;
    const ge_vocab *v = d->v;
    u32 n_tokens = row[0] ? v->n_eos : 0;
    for (u32 i = 1; i < n; i++) n_tokens += m->token_from.at[row[i] + 1] - m->token_from.at[row[i]];
    u32 size = 1 + (n_tokens <= MAX_LISTED ? n_tokens : v->n_words);
    m->words.n = 0;
    if (!vec_reserve(d->b, &m->words, size)) return NONE;
    u32 *words = m->words.at;
    if (n_tokens <= MAX_LISTED) {
        u32 at = 0, kept = 0;
        words[at++] = TD_LISTED;
        for (u32 i = 0; row[0] && i < v->n_eos; i++) words[at++] = v->eos[i];
        for (u32 i = 1; i < n; i++)
            for (u32 k = m->token_from.at[row[i]]; k < m->token_from.at[row[i] + 1]; k++) words[at++] = m->tokens.at[k];
        qsort(words + 1, at - 1, sizeof *words, compare_u32);
        for (u32 i = 1; i < at; i++) /* an end-of-text token may be text, too */
            if (i == 1 || words[i] != words[kept]) words[++kept] = words[i];
        size = 1 + kept;
    } else {
        memset(words, 0, size * sizeof *words);
        words[0] = TD_BITS;
        for (u32 i = 0; row[0] && i < v->n_eos; i++) words[1 + (v->eos[i] >> 5)] |= (u32)1 << (v->eos[i] & 31);
        for (u32 i = 1; i < n; i++)
            if (!add_class(m, row[i], words + 1)) return NONE;
    }
    return intern(d->b, &m->masks, words, size, NULL);
}

/* mask_of = the mask of each state. */
static bool make_masks(masking *m, id_vec *mask_of) {
    td_draft *d = m->d;
    id_vec row = {0};
    bool ok = index_tokens(m);
    for (u32 s = 0, i = 0; ok && s < d->n_states; s++) {
        row.n = 0;
        ok = vec_push(d->b, &row, d->accepts.at[s]);
        for (; ok && i < d->all.n && d->all.at[i].from == s; i++) ok = vec_push(d->b, &row, d->all.at[i].label);
        bool fresh;
        u32 id = ok ? intern(d->b, &m->rows, row.at, row.n, &fresh) : NONE;
        ok = id != NONE;
        if (ok && fresh) {
            u32 mask = make_mask(m, row.at, row.n);
            ok = mask != NONE && vec_push(d->b, &m->mask_of_row, mask);
        }
        ok = ok && vec_push(d->b, mask_of, m->mask_of_row.at[id]);
    }
    vec_drop(d->b, &row);
    return ok;
}

/* Writes the gaps of a list, or counts them where out is NULL. */
static u32 write_gaps(const u32 *tokens, u32 n, u16 *out) {
    u32 at = 0, before = 0;
    for (u32 i = 0; i < n; i++) {
        for (; tokens[i] - before >= TD_GAP; before += TD_GAP, at++)
            if (out) out[at] = TD_GAP;
        if (out) out[at] = (u16)(tokens[i] - before);
        before = tokens[i];
        at++;
    }
    return at;
}

/* The word that a row has at i, before it is packed. */
static u32 row_word(const masking *m, u32 row, u32 i) {
    return i < m->packed.at[row].n ? intern_words(&m->masks, m->mask_of_packed.at[row])[1 + i] : 0;
}

/* In how many tokens some bits differ from a row; anything above `most` if those are more. */
static u32 count_apart(const masking *m, const u32 *bits, u32 row, u32 most) {
    const u32 *other = intern_words(&m->masks, m->mask_of_packed.at[row]) + 1;
    u32 n = m->packed.at[row].n, n_words = m->d->v->n_words, apart = 0;
    for (u32 i = 0; apart <= most && i < n; i++) apart += count_bits(bits[i] ^ other[i]);
    for (u32 i = n; apart <= most && i < n_words; i++) apart += count_bits(bits[i]);
    return apart;
}

/* How many words a row of its own should have for a mask: not those of a long end with few tokens. */
static u32 row_length(const masking *m, const u32 *bits) {
    u32 n_words = m->d->v->n_words, n = n_words;
    for (u32 beyond = 0; n > 0; n--)
        if ((beyond += count_bits(bits[n - 1])) > MAX_BEYOND) break;
    return n <= n_words - n_words / 4 ? n : n_words;
}

/* The nearest row for a mask of bits; a new one, if none is near. NONE: out of memory. */
static u32 choose_row(masking *m, u32 mask) {
    const u32 *bits = intern_words(&m->masks, mask) + 1;
    u32 nearest = NONE, most = MAX_APART;
    for (u32 row = m->packed.n, tried = 0; row-- > 0 && tried < ROWS_TRIED; tried++) {
        u32 apart = count_apart(m, bits, row, most);
        if (apart > most) continue;
        nearest = row;
        if (apart == 0) break;
        most = apart - 1;
    }
    if (nearest != NONE) return nearest;
    bool ok = vec_push(m->d->b, &m->packed, ((td_row){0, row_length(m, bits)})) && vec_push(m->d->b, &m->mask_of_packed, mask);
    return ok ? m->packed.n - 1 : NONE;
}

/* m->words = the tokens in which a mask differs from its row, or all of them. */
static bool list_tokens_apart(masking *m, u32 mask) {
    const u32 *words = intern_words(&m->masks, mask) + 1;
    u32 row = m->row_of.at[mask], n = intern_length(&m->masks, mask) - 1;
    m->words.n = 0;
    if (!vec_reserve(m->d->b, &m->words, row == NONE ? n : MAX_APART)) return false;
    if (row == NONE) {
        if (n) memcpy(m->words.at, words, n * sizeof *words);
        m->words.n = n;
        return true;
    }
    for (u32 i = 0; i < n; i++)
        for (u32 left = words[i] ^ row_word(m, row, i); left; left &= left - 1)
            m->words.at[m->words.n++] = 32 * i + (u32)__builtin_ctz(left);
    return true;
}

/* Rows for all masks, and how large the tables are. */
static bool lay_out(masking *m, ge_dfa *t) {
    for (u32 i = 0; i < t->n_masks; i++) {
        const u32 *words = intern_words(&m->masks, i);
        bool is_list = words[0] == TD_LISTED;
        u32 row = is_list ? NONE : choose_row(m, i);
        if ((row == NONE && !is_list) || !vec_push(m->d->b, &m->row_of, row) || !list_tokens_apart(m, i)) return false;
        bool all = is_list ? m->words.n == m->d->v->width : wide_is_full(words + 1, m->d->v->width);
        u32 n_gaps = write_gaps(m->words.at, m->words.n, NULL); /* as many as tokens, and one more for each TD_GAP ids */
        t->mask[i] = (td_mask){t->n_mask_gaps, (u16)n_gaps, all};
        t->n_mask_gaps += n_gaps;
    }
    t->n_rows = m->packed.n;
    for (u32 row = 0; row < t->n_rows; row++) {
        m->packed.at[row].at = t->n_mask_words;
        t->n_mask_words += m->packed.at[row].n;
    }
    return true;
}

static bool pack_contents(masking *m, ge_dfa *t) {
    t->n_masks = intern_count(&m->masks);
    t->mask = new_block(t, t->n_masks, sizeof *t->mask);
    if (!t->mask || !lay_out(m, t) || !pack_ids(t, &t->row_of, m->row_of.at, t->n_masks, t->n_rows)) return false;
    t->row = COPY(t, m->packed.at, t->n_rows);
    t->mask_words = new_block(t, t->n_mask_words, sizeof *t->mask_words);
    t->mask_gaps = new_block(t, t->n_mask_gaps, sizeof *t->mask_gaps);
    if (!t->row || !t->mask_words || !t->mask_gaps) return false;
    for (u32 row = 0; row < t->n_rows; row++) {
        const u32 *words = intern_words(&m->masks, m->mask_of_packed.at[row]) + 1;
        if (t->row[row].n) memcpy(t->mask_words + t->row[row].at, words, t->row[row].n * sizeof *words);
    }
    for (u32 i = 0; i < t->n_masks; i++) {
        if (!list_tokens_apart(m, i)) return false;
        write_gaps(m->words.at, m->words.n, t->mask_gaps + t->mask[i].at);
    }
    return true;
}

static bool pack_masks(td_draft *d, ge_dfa *t) {
    masking m = {.d = d};
    id_vec mask_of = {0};
    bool ok = make_masks(&m, &mask_of) && pack_ids(t, &t->mask_of, mask_of.at, mask_of.n, d->n_states) && pack_contents(&m, t);
    vec_drop(d->b, &mask_of);
    vec_drop(d->b, &m.token_from);
    vec_drop(d->b, &m.tokens);
    intern_drop(d->b, &m.rows);
    vec_drop(d->b, &m.mask_of_row);
    intern_drop(d->b, &m.masks);
    vec_drop(d->b, &m.packed);
    vec_drop(d->b, &m.mask_of_packed);
    vec_drop(d->b, &m.row_of);
    vec_drop(d->b, &m.words);
    for (u32 k = 0; k < m.bits.n; k++)
        if (m.bits.at[k]) mem_resize(d->b, m.bits.at[k], d->v->n_words * sizeof *m.bits.at[k], 0);
    vec_drop(d->b, &m.bits);
    return ok;
}

/* --- bytes ---------------------------------------------------------------------------------------------------------------------- */

static u32 class_of_token(const td_draft *d, u32 token) {
    u32 from = 0, to = d->tokens.n;
    while (from < to) {
        u32 middle = from + (to - from) / 2;
        if (d->tokens.at[middle] < token) from = middle + 1;
        else to = middle;
    }
    return from < d->tokens.n && d->tokens.at[from] == token ? d->class_of.at[from] : NONE;
}

/* Classes of bytes as the classes of the tokens that are one byte. */
static bool pack_bytes(const td_draft *d, ge_dfa *t, const ba_automaton *a) {
    const tt_trie *trie = &d->v->trie;
    u32 class[256], class_of[256]; /* by class of bytes; by byte */
    memset(class, 0xff, sizeof class);
    for (u32 child = trie->first.at[0]; child < trie->first.at[1]; child++) {
        u32 k = a->class_of[trie->byte.at[child]], token = tt_token(trie, child);
        if (k != BA_NO_CLASS && token != NONE) class[k] = class_of_token(d, token);
    }
    for (u32 byte = 0; byte < 256; byte++) class_of[byte] = a->class_of[byte] == BA_NO_CLASS ? NONE : class[a->class_of[byte]];
    return pack_ids(t, &t->byte_class_of, class_of, 256, d->n_classes);
}

static bool pack_byte_automaton(ge_dfa *t, const ba_automaton *a) {
    VEC(mn_transition) all = {0};
    u32 class_of[256];
    bool ok = true;
    for (u32 s = 0, i = 0; ok && s < a->n_states; s++)
        for (u32 k = 0; ok && k < a->n_classes; k++, i++)
            if (a->next[i] != NONE) ok = vec_push(&t->b, &all, ((mn_transition){s, k, a->next[i]}));
    for (u32 byte = 0; byte < 256; byte++) class_of[byte] = a->class_of[byte] == BA_NO_CLASS ? NONE : a->class_of[byte];
    t->byte_accepts = COPY(t, a->accepts, a->n_states);
    ok = ok && t->byte_accepts && pack_ids(t, &t->byte_class_of, class_of, 256, a->n_classes) &&
         pack_rows(t, &t->byte_rows, a->n_states, a->n_classes, all.at, all.n);
    vec_drop(&t->b, &all);
    return ok;
}

bool td_pack(td_draft *d, const ba_automaton *whole, ge_dfa *t) {
    const ge_vocab *v = d->v;
    t->n_states = d->n_states;
    t->n_classes = d->n_classes;
    t->n_tokens = v->n_tokens;
    t->width = v->width;
    t->n_words = v->n_words;
    t->n_eos = v->n_eos;
    t->eos = COPY(t, v->eos, v->n_eos);
    t->accepts = COPY(t, d->accepts.at, d->n_states);
    bool ok = t->eos && t->accepts && pack_rows(t, &t->rows, d->n_states, d->n_classes, d->all.at, d->all.n);
    t->has_bytes = d->has_bytes;
    t->n_byte_states = whole->n_states;
    t->n_byte_classes = whole->n_classes;
    ok = ok && pack_tokens(d, t) && pack_masks(d, t) && (t->has_bytes ? pack_bytes(d, t, whole) : pack_byte_automaton(t, whole));
    if (!ok && t->b.status == GE_E_LIMIT) budget_limit(d->b, t->b.limit);
    if (!ok && t->b.status != GE_OK) budget_fail(d->b, t->b.status);
    return ok;
}
