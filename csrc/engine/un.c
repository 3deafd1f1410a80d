/* Tracks: what a text has so far of arrays whose items are compared. See un.h.
 *
 * A value is 2 * that of the lexer if it is a scalar, else 2 * that in `composites` + 1. What is in an array or object under way is a list
 * of cells, the newest first. Members stand in the order of their keys and values as long as the object is held, so that their order in the
 * text does not matter; of one that can equal nothing they are sorted at its end.
 *
 * Grammars from bytes may have any rules around such lexemes. What is no JSON is passed over, and its tracks mean nothing. */
#include "un.h"

#include "../regex/utf8.h"

enum { CUT = 0xff /* no byte of UTF-8 */ };
enum { MOST_EXPONENT = 1 << 20, FAR_ZEROS = 64 }; /* front ends spell listed numbers with some ten zeros more than they need */
/* Of an escape in a string: [ what comes next:4 | is there a lead:1 | lead - 0xd800:10 | digits so far:16 ] */
enum { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_DIGITS, ESCAPE_SHIFT = 27, ESCAPE_LEAD = 1 << 26, LEAD_SHIFT = 16 };

static u32 track_of(un_state *u, un_track t) {
    return intern(u->b, &u->tracks, (u32[]){t.up, t.kind, t.values, t.equal, t.content, t.n, t.key}, UN_TRACK_WORDS, NULL);
}

bool un_init(un_state *u, budget *b, lx_lexer *lx, u32 reach) {
    *u = (un_state){.b = b, .lx = lx, .reach = reach};
    bool ok = intern(b, &u->tracks, (u32[]){NONE}, 1, NULL) == UN_BARE;
    ok = ok && intern(b, &u->tracks, (u32[]){NONE, NONE}, 2, NULL) == UN_OUTSIDE && intern(b, &u->sets, NULL, 0, NULL) == 0;
    return ok && intern(b, &u->texts, (u32[]){NONE}, 1, NULL) == 0 && intern(b, &u->cells, (u32[]){NONE}, 1, NULL) == 0;
}

void un_drop(un_state *u) {
    if (!u->b) return;
    intern_drop(u->b, &u->tracks);
    intern_drop(u->b, &u->composites);
    intern_drop(u->b, &u->sets);
    intern_drop(u->b, &u->texts);
    intern_drop(u->b, &u->cells);
    map_drop(u->b, &u->steps);
    map_drop(u->b, &u->alive);
    vec_drop(u->b, &u->crossing);
    vec_drop(u->b, &u->text);
    vec_drop(u->b, &u->found);
    vec_drop(u->b, &u->members);
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static bool is_composite(u32 value) { return value & 1; }
static un_kind kind_of(const un_state *u, u32 value) { return (un_kind)intern_words(&u->composites, value >> 1)[0]; }
static u32 parts_of(const un_state *u, u32 value) { return intern_length(&u->composites, value >> 1) - 1; }
static u32 part_at(const un_state *u, u32 value, u32 i) { return intern_words(&u->composites, value >> 1)[1 + i]; }

/* The canonical form of a scalar (lexer/lx_value.c). */
static const u8 *scalar_text(const un_state *u, u32 value, u32 *n) {
    const u32 *words = intern_words(&u->lx->values, value >> 1);
    *n = words[0];
    return (const u8 *)(words + 1);
}

static bool set_contains(const un_state *u, u32 set, u32 value) {
    u32 n = intern_length(&u->sets, set);
    return n && bsearch(&value, intern_words(&u->sets, set), n, sizeof value, compare_u32);
}

/* The set of what is in u->found. NONE: failure. */
static u32 found_set(un_state *u) {
    id_vec *f = &u->found;
    u32 n = 0;
    if (!budget_work(u->b, f->n / 8)) return NONE;
    bool in_order = true;
    for (u32 i = 1; i < f->n && in_order; i++) in_order = f->at[i - 1] < f->at[i];
    if (!in_order) qsort(f->at, f->n, sizeof *f->at, compare_u32);
    for (u32 i = 0; i < f->n; i++)
        if (n == 0 || f->at[n - 1] != f->at[i]) f->at[n++] = f->at[i];
    return intern(u->b, &u->sets, f->at, n, NULL);
}

static u32 set_with(un_state *u, u32 set, u32 value) {
    u->found.n = 0;
    for (u32 i = 0, n = intern_length(&u->sets, set); i < n; i++)
        if (!vec_push(u->b, &u->found, intern_words(&u->sets, set)[i])) return NONE;
    return vec_push(u->b, &u->found, value) ? found_set(u) : NONE;
}

/* The values of a set that pass. NONE: failure. */
typedef bool (*un_passes)(const un_state *u, u32 value, const un_track *t, u32 part);

static u32 set_where(un_state *u, u32 set, un_passes passes, const un_track *t, u32 part) {
    if (set == 0) return 0;
    u64 looked_at = 0;
    u->found.n = 0;
    for (u32 i = 0, n = intern_length(&u->sets, set); i < n; i++) {
        u32 value = intern_words(&u->sets, set)[i];
        looked_at += is_composite(value) ? 1 + parts_of(u, value) : 1;
        if (passes(u, value, t, part) && !vec_push(u->b, &u->found, value)) return NONE;
    }
    return budget_work(u->b, looked_at / 16) ? found_set(u) : NONE;
}

/* Has an object under way the key already? */
static bool has_key_already(const un_state *u, const un_track *t, u32 key) {
    for (u32 cell = t->content; cell; cell = intern_words(&u->cells, cell)[0])
        if (intern_words(&u->cells, cell)[1] == key) return true;
    return false;
}

static bool has_item(const un_state *u, u32 value, const un_track *t, u32 item) {
    return parts_of(u, value) > t->n && part_at(u, value, t->n) == item;
}

static bool has_member(const un_state *u, u32 value, const un_track *t, u32 of_key) {
    for (u32 i = 0, n = parts_of(u, value); i + 1 < n; i += 2)
        if (part_at(u, value, i) == t->key) return part_at(u, value, i + 1) == of_key;
    return false;
}

static bool has_key(const un_state *u, u32 value, const un_track *t, u32 key) {
    (void)t;
    for (u32 i = 0, n = parts_of(u, value); i + 1 < n; i += 2)
        if (part_at(u, value, i) == key) return true;
    return false;
}

static bool is_compared(const un_track *t) { return t->kind == UN_UNIQUE || t->kind == UN_REPEATED; }

/* What a value may be that begins in something open: of the earlier items, and of the parts of what that may equal. What a key must not be,
 * the keys before it, counts as what it may become, too. */
static u32 values_at(un_state *u, const un_track *t, bool is_key) {
    if (is_compared(t) && t->equal == 0) return t->values;
    u->found.n = 0;
    for (u32 cell = is_key ? t->content : 0; cell; cell = intern_words(&u->cells, cell)[0])
        if (!vec_push(u->b, &u->found, intern_words(&u->cells, cell)[1])) return NONE;
    for (u32 i = 0, n = is_compared(t) ? intern_length(&u->sets, t->values) : 0; i < n; i++)
        if (!vec_push(u->b, &u->found, intern_words(&u->sets, t->values)[i])) return NONE;
    for (u32 i = 0, n = intern_length(&u->sets, t->equal); i < n; i++) {
        u32 value = intern_words(&u->sets, t->equal)[i], m = parts_of(u, value);
        if (t->kind != UN_OBJECT) {
            if (t->n < m && !vec_push(u->b, &u->found, part_at(u, value, t->n))) return NONE;
            continue;
        }
        for (u32 k = 0; k + 1 < m; k += 2) {
            u32 part = part_at(u, value, is_key ? k : k + 1);
            if ((is_key || part_at(u, value, k) == t->key) && !vec_push(u->b, &u->found, part)) return NONE;
        }
    }
    return found_set(u);
}

/* --- the text of scalars ------------------------------------------------------------------------------------------------- */

static bool spell_scalar(un_state *u, u32 text) {
    u->text.n = 0;
    for (u32 at = text; at; at = intern_words(&u->texts, at)[0])
        if (!vec_push(u->b, &u->text, (u8)intern_words(&u->texts, at)[1])) return false;
    for (u32 i = 0, k = u->text.n; i + 1 < k; i++) {
        u8 swap = u->text.at[i];
        u->text.at[i] = u->text.at[--k];
        u->text.at[k] = swap;
    }
    return true;
}

static bool is_scalar(const un_state *u, u32 value, const un_track *t, u32 first) {
    (void)t;
    u32 n;
    return !is_composite(value) && (scalar_text(u, value, &n)[0] == '"') == (first == '"');
}

static bool is_of_kind(const un_state *u, u32 value, const un_track *t, u32 kind) {
    (void)t;
    return is_composite(value) && kind_of(u, value) == (un_kind)kind;
}

static bool has_byte(const un_state *u, u32 value, const un_track *t, u32 byte) {
    u32 n;
    const u8 *text = scalar_text(u, value, &n);
    return t->n + 1 < n && text[t->n + 1] == byte; /* behind the mark */
}

static bool is_decimal_digit(u8 c) { return c >= '0' && c <= '9'; }

/* May a text (u->text) become a spelling of a number in canonical form: [-] digits e exponent? By its sign and its digits. */
static bool may_spell_number(const un_state *u, const u8 *number, u32 n) {
    const u8 *text = u->text.at, *e_at = memchr(number, 'e', n);
    u32 i = text[0] == '-', m = u->text.n, at = number[0] == '-';
    u32 end = e_at ? (u32)(e_at - number) : 0; /* zero has no digits, and any sign */
    if (e_at && at != i) return false;
    bool begun = false;
    for (; i < m && (is_decimal_digit(text[i]) || text[i] == '.'); i++) {
        begun = begun || (text[i] != '0' && text[i] != '.');
        if (!begun || text[i] == '.') continue;
        if (text[i] != (at < end ? number[at] : '0')) return false;
        at += at < end;
    }
    return i == m || at == end; /* the exponent has begun: there are no more digits */
}

static bool may_spell(const un_state *u, u32 value, const un_track *t, u32 ignored) {
    (void)t, (void)ignored;
    u32 n;
    const u8 *text = scalar_text(u, value, &n), first = u->text.at[0];
    if (text[0] == '-' || is_decimal_digit(text[0])) return (first == '-' || is_decimal_digit(first)) && may_spell_number(u, text, n);
    return u->text.n <= n && memcmp(text, u->text.at, u->text.n) == 0;
}

static bool is_word_byte(u32 byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte == 'E' || byte == '.' || byte == '+' || byte == '-';
}

/* Are as many digits enough for each of the numbers of a set? Then more zeros behind the point say nothing. */
static bool have_as_many_digits(const un_state *u, u32 set, u32 n_digits) {
    u32 n;
    for (u32 i = 0; i < intern_length(&u->sets, set); i++) {
        const u8 *number = scalar_text(u, intern_words(&u->sets, set)[i], &n), *e_at = memchr(number, 'e', n);
        if (e_at && (u32)(e_at - number) - (number[0] == '-') > n_digits) return false;
    }
    return true;
}

/* So many zeros in a row no lexeme of few numbers has, of which these are some. */
static u32 most_zeros(const un_state *u, u32 set) {
    u32 most = 0, n;
    for (u32 i = 0; i < intern_length(&u->sets, set); i++) {
        const u8 *number = scalar_text(u, intern_words(&u->sets, set)[i], &n), *at = memchr(number, 'e', n);
        u32 exponent = 0;
        for (; at && ++at < number + n && exponent < MOST_EXPONENT;) exponent = is_decimal_digit(*at) ? exponent * 10 + (*at - '0') : 0;
        most = max_u32(most, exponent);
    }
    return most + FAR_ZEROS;
}

/* Of a number under way (u->text): without zeros behind the point that say nothing, those before an exponent's digits, and all of zero but
 * that it has an exponent; and of more zeros in a row than any spelling has, some. */
static void reduce_number(un_state *u, u32 set) {
    u8 *text = u->text.at;
    u32 n = u->text.n, n_digits = 0, mark_at = 0, to;
    for (; mark_at < n && text[mark_at] != 'e' && text[mark_at] != 'E'; mark_at++)
        n_digits += is_decimal_digit(text[mark_at]) && (n_digits || text[mark_at] != '0');
    const u8 *point = memchr(text, '.', mark_at);
    for (to = mark_at; point && have_as_many_digits(u, set, n_digits) && text + to - 1 > point && text[to - 1] == '0';) to--;
    u32 zeros = 0, most = most_zeros(u, set);
    while (zeros < to && text[to - 1 - zeros] == '0') zeros++;
    if (zeros > most) to -= zeros - most;
    if (n_digits == 0 && mark_at < n) text[0] = '0', to = 1;
    for (u32 i = mark_at; i < n; i++) {
        u8 c = text[i] == 'E' ? 'e' : text[i];
        bool is_empty = c == '+' || (c == '0' && (text[to - 1] == 'e' || text[to - 1] == '-')) || (n_digits == 0 && i > mark_at);
        if (!is_empty) text[to++] = c;
    }
    u->text.n = to;
}

u32 un_reduced(un_state *u, u32 track) {
    un_track t = un_at(u, track);
    if (t.kind != UN_WORD || t.equal == 0 || !spell_scalar(u, t.content)) return track;
    if (u->text.at[0] != '-' && !is_decimal_digit(u->text.at[0])) return track;
    reduce_number(u, t.equal);
    t.content = 0;
    for (u32 i = 0; i < u->text.n && t.content != NONE; i++)
        t.content = intern(u->b, &u->texts, (u32[]){t.content, u->text.at[i]}, 2, NULL);
    return t.content == NONE ? NONE : track_of(u, t);
}

u32 un_shortened(un_state *u, u32 track) {
    if (track <= UN_OUTSIDE) return track;
    un_track t = un_at(u, track);
    if ((t.kind != UN_STRING && t.kind != UN_KEY) || t.values <= u->reach || t.content == t.values - u->reach) return track;
    t.content = intern(u->b, &u->texts, (u32[]){t.values - u->reach, CUT}, 2, NULL);
    return t.content == NONE ? NONE : track_of(u, t);
}

bool un_is_at_cut(const un_state *u, u32 track) {
    un_track t = un_at(u, track);
    for (u32 i = 0, n; (t.kind == UN_STRING || t.kind == UN_KEY) && i < intern_length(&u->sets, t.equal); i++) {
        const u8 *text = scalar_text(u, intern_words(&u->sets, t.equal)[i], &n);
        if (t.n + 1 < n && text[t.n + 1] == CUT) return true;
    }
    return false;
}

/* --- steps --------------------------------------------------------------------------------------------------------------- */

/* The cells of an object and one member more, in order. */
static u32 insert_member(un_state *u, u32 cell, u32 key, u32 value) {
    id_vec *later = &u->members;
    for (later->n = 0; cell;) {
        u32 w[3];
        memcpy(w, intern_words(&u->cells, cell), sizeof w);
        if (w[1] < key || (w[1] == key && w[2] <= value)) break;
        if (!vec_push(u->b, later, w[1]) || !vec_push(u->b, later, w[2])) return NONE;
        cell = w[0];
    }
    cell = intern(u->b, &u->cells, (u32[]){cell, key, value}, 3, NULL);
    if (!budget_work(u->b, later->n / 4)) return NONE;
    for (; later->n && cell != NONE; later->n -= 2)
        cell = intern(u->b, &u->cells, (u32[]){cell, later->at[later->n - 2], later->at[later->n - 1]}, 3, NULL);
    return cell;
}

/* What is open, after a value in it. UN_HIT; NONE: failure. */
static u32 add_value(un_state *u, u32 track, u32 value) {
    un_track t = un_at(u, track);
    bool is_object = t.kind == UN_OBJECT;
    if (is_compared(&t)) {
        bool is_known = set_contains(u, t.values, value);
        if (is_known && t.kind == UN_UNIQUE) return UN_HIT;
        if (is_known && t.up == UN_OUTSIDE) return UN_OUTSIDE; /* of which nothing is asked any more */
        t.values = is_known ? 0 : set_with(u, t.values, value);
        if (is_known) t.kind = UN_ARRAY;
        if (t.values == NONE) return NONE;
        if (t.up == UN_OUTSIDE) return track_of(u, t); /* of which nothing is asked but its values */
    }
    t.equal = set_where(u, t.equal, is_object ? has_member : has_item, &t, value);
    if (t.equal == NONE) return NONE;
    u32 key = is_object ? t.key : NONE;
    t.content = is_object && t.equal ? insert_member(u, t.content, key, value)
                                     : intern(u->b, &u->cells, (u32[]){t.content, key, value}, 3, NULL);
    t.n++;
    t.key = NONE;
    return t.content == NONE ? NONE : track_of(u, t);
}

static int compare_members(const void *a, const void *b) {
    int by_key = compare_u32(a, b);
    return by_key ? by_key : compare_u32((const u32 *)a + 1, (const u32 *)b + 1);
}

/* An array or object ends. */
static u32 end_composite(un_state *u, const un_track *t) {
    bool is_object = t->kind == UN_OBJECT;
    u32 width = is_object ? 2 : 1, n = t->n * width;
    u->members.n = 0;
    if (!budget_work(u->b, t->n / 8) || !vec_reserve(u->b, &u->members, n + 1)) return NONE;
    u->members.at[0] = is_object ? UN_OBJECT : UN_ARRAY;
    u->members.n = n + 1;
    for (u32 cell = t->content, i = n + 1; cell; cell = intern_words(&u->cells, cell)[0]) {
        u->members.at[--i] = intern_words(&u->cells, cell)[2];
        if (is_object) u->members.at[--i] = intern_words(&u->cells, cell)[1];
    }
    if (is_object && t->n > 1) qsort(u->members.at + 1, t->n, 2 * sizeof(u32), compare_members);
    u32 id = intern(u->b, &u->composites, u->members.at, u->members.n, NULL);
    return id == NONE ? NONE : add_value(u, t->up, 2 * id + 1);
}

/* The value of a scalar or key that ends: that one of those it may equal which ends here, too, or else as it is spelt. */
static u32 ended_value(un_state *u, const un_track *t) {
    if (t->kind == UN_WORD) return spell_scalar(u, t->content) ? lx_value(u->lx, u->text.at, u->text.n) : NONE;
    u32 n, n_values = intern_length(&u->sets, t->equal);
    if (!budget_work(u->b, n_values / 16)) return NONE;
    for (u32 i = 0; i < n_values; i++) {
        u32 value = intern_words(&u->sets, t->equal)[i];
        (void)scalar_text(u, value, &n);
        if (n == t->n + 1) return value >> 1; /* with the mark */
    }
    return spell_scalar(u, t->content) ? lx_value_of_string(u->lx, u->text.at, u->text.n) : NONE;
}

/* A scalar or key ends. */
static u32 end_scalar(un_state *u, const un_track *t) {
    u32 value = ended_value(u, t);
    if (value == NONE) return NONE;
    if (t->kind != UN_KEY) return add_value(u, t->up, 2 * value);
    un_track object = un_at(u, t->up);
    if (!budget_work(u->b, object.n / 16)) return NONE;
    if (has_key_already(u, &object, 2 * value)) return UN_HIT;
    object.key = 2 * value;
    object.equal = set_where(u, object.equal, has_key, &object, object.key);
    return object.equal == NONE ? NONE : track_of(u, object);
}

bool un_held_bytes(const un_state *u, u32 track, byte_set *bytes) {
    un_track t = un_at(u, track);
    u32 n, n_values = intern_length(&u->sets, t.equal);
    if ((t.kind != UN_STRING && t.kind != UN_KEY) || t.key || !budget_work(u->b, n_values / 16)) return false;
    for (u32 i = 0; i < n_values; i++) {
        const u8 *text = scalar_text(u, intern_words(&u->sets, t.equal)[i], &n);
        if (t.n + 1 < n) set_add(bytes, text[t.n + 1]); /* behind the mark */
    }
    set_add(bytes, '"');
    if (n_values) set_add(bytes, '\\');
    return true;
}

static bool push_text(un_state *u, un_track *t, u32 byte) {
    t->equal = set_where(u, t->equal, has_byte, t, byte);
    t->content = intern(u->b, &u->texts, (u32[]){t->content, byte}, 2, NULL);
    t->n = t->equal ? t->n + 1 : 0;
    if (t->values < u->reach && ++t->values == u->reach) t->values += t->content;
    return t->equal != NONE && t->content != NONE;
}

static bool push_char_of(un_state *u, un_track *t, u32 c) {
    u8 bytes[4];
    for (u32 i = 0, n = utf8_encode(c, bytes); i < n; i++)
        if (!push_text(u, t, bytes[i])) return false;
    return true;
}

/* What a letter behind a backslash stands for. */
static u32 escaped(u32 byte) {
    switch (byte) {
    case 'b': return 8;
    case 't': return 9;
    case 'n': return 10;
    case 'f': return 12;
    case 'r': return 13;
    default: return byte;
    }
}

static u32 step_string(un_state *u, un_track t, u32 byte) {
    u32 stage = t.key >> ESCAPE_SHIFT, lead = t.key & (ESCAPE_LEAD | 0x3ff << LEAD_SHIFT), unit = t.key & 0xffff;
    bool ok = true;
    if (stage == ESCAPE_NONE && byte == '"') return end_scalar(u, &t);
    if (stage == ESCAPE_NONE && byte == '\\') {
        t.key = ESCAPE_BEGUN << ESCAPE_SHIFT | lead;
    } else if (stage == ESCAPE_NONE) {
        t.key = 0;
        ok = push_text(u, &t, byte);
    } else if (stage == ESCAPE_BEGUN && byte == 'u') {
        t.key = ESCAPE_DIGITS << ESCAPE_SHIFT | lead;
    } else if (stage == ESCAPE_BEGUN) {
        t.key = 0;
        ok = push_text(u, &t, escaped(byte));
    } else {
        unit = (unit << 4 | ((u32)hex_digit(byte) & 15)) & 0xffff;
        if (stage < ESCAPE_DIGITS + 3) {
            t.key = (stage + 1) << ESCAPE_SHIFT | lead | unit;
        } else if (is_lead(unit)) {
            t.key = ESCAPE_LEAD | (unit - 0xd800) << LEAD_SHIFT;
        } else {
            t.key = 0;
            ok = push_char_of(u, &t, lead && is_trail(unit) ? combined(0xd800 + (lead >> LEAD_SHIFT & 0x3ff), unit) : unit);
        }
    }
    return ok ? track_of(u, t) : NONE;
}

static u32 step_word(un_state *u, un_track t, u32 byte) {
    t.content = intern(u->b, &u->texts, (u32[]){t.content, byte}, 2, NULL);
    if (t.content == NONE || (t.equal && !spell_scalar(u, t.content))) return NONE;
    t.equal = set_where(u, t.equal, may_spell, &t, 0);
    return t.equal == NONE ? NONE : track_of(u, t);
}

/* A scalar, array or object begins in what is on top. */
static u32 begin_value(un_state *u, u32 track, u32 byte) {
    un_track of = un_at(u, track), t = {.up = track, .key = byte == '{' || byte == '[' ? NONE : 0};
    bool is_key = byte == '"' && of.kind == UN_OBJECT && of.key == NONE;
    t.kind = byte == '{' ? UN_OBJECT : byte == '[' ? UN_ARRAY : byte != '"' ? UN_WORD : is_key ? UN_KEY : UN_STRING;
    t.equal = values_at(u, &of, is_key);
    if (t.equal == NONE) return NONE;
    t.equal = set_where(u, t.equal, t.kind <= UN_OBJECT ? is_of_kind : is_scalar, &t, t.kind <= UN_OBJECT ? t.kind : byte);
    if (t.equal == NONE) return NONE;
    return t.kind == UN_WORD ? step_word(u, t, byte) : track_of(u, t);
}

u32 un_begin(un_state *u, u32 track, un_kind kind) {
    if (track == UN_OUTSIDE) return track_of(u, (un_track){.up = UN_OUTSIDE, .kind = kind, .key = NONE});
    un_track t = un_at(u, track);
    if (t.kind != UN_ARRAY || t.content) return track;
    t.kind = kind;
    return track_of(u, t);
}

static u32 step_track(un_state *u, u32 track, u32 byte) {
    un_track t = un_at(u, track);
    if (t.kind == UN_STRING || t.kind == UN_KEY) return step_string(u, t, byte);
    if (t.kind == UN_WORD) {
        if (is_word_byte(byte)) return step_word(u, t, byte);
        track = end_scalar(u, &t);
        if (track == NONE || track == UN_HIT || track == UN_OUTSIDE) return track;
        t = un_at(u, track);
    }
    if (byte == '"' || byte == '{' || byte == '[' || is_word_byte(byte)) return begin_value(u, track, byte);
    if (byte != '}' && byte != ']') return track;
    if (byte == ']' && t.kind == UN_REPEATED) return UN_HIT;
    return t.up == UN_OUTSIDE ? UN_OUTSIDE : end_composite(u, &t);
}

u32 un_step(un_state *u, u32 track, u32 byte) {
    if (track <= UN_OUTSIDE) return track;
    u64 key = (u64)track << 8 | byte;
    u32 to = map_get(&u->steps, key);
    if (to != NONE) return to;
    to = step_track(u, track, byte);
    return to != NONE && map_put(u->b, &u->steps, key, to) ? to : NONE;
}
