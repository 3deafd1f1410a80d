/* Texts that differ in nothing but the values of distinct members: few of them are searched. See ct.c.
 *
 * Such texts are in configurations of their own, as many as there are values. What completes one of them completes another, too, unless a
 * value that is still to come is one that the other has. At most p values are to come, by the tokens that are left, and each is in the way
 * of one text at most where no two have a value in common. So of texts that are *alike* and have no value in common any p + 1 are enough:
 * whatever else is alike, and was not reached by fewer tokens, is spare (representative families: Monien 1985).
 *
 *   - Texts with a distinct lexeme under way are alike if their configurations have the same twin: then all but the value under way is
 *     the same. Values before it are in the way of none: the lexeme is without them (parser/ep_make.c), and what is left of it is the same
 *     for all.
 *     A text is kept if that value is a string without escapes, up to its closing quote: whatever comes next, the others are then others.
 *   - Other texts are alike if they lead to the same configuration where no value is known. That is followed from the beginning of
 *     a sentence on, and a text is kept if it has read no value twice: then none of its members is refused by another.
 *
 * What cannot end in time by its twin is spare as well: what ct_least says depends on no text.
 *
 * A string that was read may be under way still, with white space behind it.
 * Texts with the same value there, and the same twin, are equal to what follows.
 *
 * The values that a step reads are noted by cf.c, in whatever alternative. So a text has those, or fewer. */
#include "ct_search.h"

enum { CT_COMPARED = 16 /* pairs of values that are compared for a unit of work */ };

/* Does each value of a distinct member begin with a quote, and does something stand between any two? */
static bool are_strings(ge_engine *e) {
    const gr_grammar *g = e->ep.g;
    bool strings = true;
    for (u32 i = 0; i < g->bags.n && strings; i++) {
        const gr_bag *bag = &g->bags.at[i];
        bool apart = bag->separator != NONE && !(bag->separator & 1) && !rx_nullable(&e->lx.x, e->lx.lexemes.at[bag->separator >> 1].expr);
        for (u32 way = bag->ways; way < bag->ways + bag->n_ways && strings; way++) {
            gr_way w = g->ways.at[way];
            byte_set first;
            if (!(w.flags & GR_DISTINCT) || w.flags & GR_DEAD) continue;
            strings = apart && rx_first(&e->lx.x, e->lx.lexemes.at[g->bag_words.at[w.symbols] >> 1].expr, &first) &&
                      set_count(&first) == 1 && set_has(&first, '"');
        }
    }
    return strings;
}

/* Strings that a token may end, at most: quotes begin and end them in turn, and of quotes side by side but one ends a string. */
static u32 most_strings(const ge_vocab *v) {
    u32 most = 0;
    for (u32 i = 0; i < v->n_tokens; i++) {
        u32 quotes = 0, runs = 0;
        for (u32 at = v->offsets[i]; at < v->offsets[i + 1]; at++) {
            if (v->text[at] != '"') continue;
            quotes++;
            runs += at == v->offsets[i] || v->text[at - 1] != '"';
        }
        most = max_u32(most, min_u32(runs, (quotes + 1) / 2));
    }
    return most;
}

bool ct_begin_values(ge_engine *e, ct_search *s, ct_way *start) {
    /* in the first search it would cost more than it saves */
    s->has_values = s->order != CT_BY_BYTES && e->g->g.has_distinct && !e->g->longest;
    if (!s->has_values) return true;
    s->strings = are_strings(e);
    s->in_token = s->strings ? most_strings(e->v) : s->longest;
    if (start->config == CF_START) start->loose = cf_twin(e, CF_START);
    return e->b.status == GE_OK;
}

void ct_end_values(ge_engine *e, ct_search *s) {
    vec_drop(&e->b, &s->read);
    vec_drop(&e->b, &s->text);
    map_drop(&e->b, &s->closed);
    map_drop(&e->b, &s->alike);
    vec_drop(&e->b, &s->kept);
    map_drop(&e->b, &s->all_spare);
    vec_drop(&e->b, &s->spare_from);
}

bool ct_step_way(ge_engine *e, ct_search *s, ct_way *way, u32 byte) {
    u32 byte_class = e->lx.x.class_of[byte];
    e->values_read.n = 0;
    way->config = cf_step(e, way->config, byte_class);
    if (way->config == NONE) return false;
    if (!s->has_values || way->config == CF_DEAD) return true;
    bool is_one = true;
    for (u32 i = 1; i < e->values_read.n; i++) is_one = is_one && e->values_read.at[i] == e->values_read.at[0];
    for (u32 i = 0; i < e->values_read.n; i++) {
        if (i && e->values_read.at[i] == e->values_read.at[0]) continue; /* by another alternative */
        if (!vec_push(&e->b, &s->read, ((ct_read){e->values_read.at[i], way->values, is_one ? way->config : NONE}))) return false;
        way->values = s->read.n - 1;
    }
    if (way->loose == NONE) return true;
    way->loose = cf_step(e, way->loose, byte_class);
    return way->loose != NONE;
}

/* The text of the distinct lexeme that is under way, if there is one: CF_NO_TEXT if none, CF_SUSPECT if several or in part another. */
static u32 text_under_way(ge_engine *e, u32 config) {
    u32 text = CF_NO_TEXT;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 of = cf_alternative_at(e, config, i).text;
        if (of == CF_NO_TEXT || of == CF_EMPTY_TEXT) continue;
        if (text != CF_NO_TEXT) return CF_SUSPECT;
        text = of;
    }
    return text;
}

/* What is known of the text of a string that is under way. */
typedef struct string_text {
    bool is_open;  /* it has no closing quote yet */
    /* no escape but one that has only begun, and nothing behind the closing quote: other texts like this are other values whatever comes */
    bool is_plain;
} string_text;

static string_text read_string(ge_engine *e, ct_search *s, u32 text) {
    string_text of = {true, true};
    s->text.n = 0;
    for (u32 at = text; at != CF_EMPTY_TEXT; at = intern_words(&e->texts, at)[0])
        if (!vec_push(&e->b, &s->text, (u8)intern_words(&e->texts, at)[1])) return (string_text){false, false};
    u32 n = s->text.n, escaped = 0; /* what an escape has so far */
    for (u32 i = 1; i < n && of.is_open; i++) {
        u8 byte = s->text.at[n - 1 - i];
        if (escaped) {
            of.is_plain =
                of.is_plain && (escaped == 1 ? byte == 'u' : escaped < 5 && ((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f')));
            escaped = of.is_plain ? escaped + 1 : 0;
        } else if (byte == '\\') {
            escaped = 1;
        } else if (byte == '"') {
            of.is_open = false;
            of.is_plain = of.is_plain && i + 1 == n;
        }
    }
    if (n == 0 || s->text.at[n - 1] != '"') return (string_text){false, false};
    return of;
}

bool ct_is_reread(ge_engine *e, ct_search *s, ct_way way, u32 depth) {
    if (!s->has_values || !s->strings || way.values == NONE || s->read.at[way.values].config != way.config) return false;
    u32 text = text_under_way(e, way.config), twin = cf_twin(e, way.config);
    if (twin == NONE || text == CF_NO_TEXT || text == CF_SUSPECT || read_string(e, s, text).is_open) return false;
    u64 key = (u64)twin << 32 | s->read.at[way.values].value;
    u32 known = map_get(&s->closed, key);
    if (known != NONE && known <= depth) return true;
    return !map_put(&e->b, &s->closed, key, depth);
}

/* Have two lists of values none in common? Of one list: has it none twice? */
static bool are_apart(ge_engine *e, const ct_search *s, u32 a, u32 b) {
    u32 compared = 0;
    bool apart = true;
    for (u32 i = a; i != NONE && apart; i = s->read.at[i].before)
        for (u32 j = a == b ? s->read.at[i].before : b; j != NONE && apart; j = s->read.at[j].before, compared++)
            apart = s->read.at[i].value != s->read.at[j].value;
    return budget_work(&e->b, compared / CT_COMPARED) && apart;
}

static u64 enough_of(const ct_search *s, u32 depth) { return (u64)(s->most - depth) * s->in_token + 1; }
static u64 key_of_twin(u32 twin) { return (u64)1 << 32 | twin; }

bool ct_is_spare_twin(ge_engine *e, ct_search *s, u32 twin, u32 depth) {
    if (!vec_reach(&e->b, &s->spare_from, twin)) return false;
    if (s->spare_from.at[twin] <= depth) return true;
    u64 n = 0, enough = enough_of(s, depth);
    for (u32 at = map_get(&s->alike, key_of_twin(twin)); at != NONE && n < enough; at = s->kept.at[at].next)
        n += s->kept.at[at].depth <= depth;
    bool spare = n >= enough || ct_least(e, twin) > s->most - depth; /* what must come depends on no text */
    if (spare && e->b.status == GE_OK) s->spare_from.at[twin] = depth;
    return spare;
}

bool ct_is_within_string(ge_engine *e, ct_search *s, u32 config) {
    u32 text = s->strings ? text_under_way(e, config) : CF_NO_TEXT;
    return text != CF_NO_TEXT && text != CF_SUSPECT && read_string(e, s, text).is_open;
}

bool ct_is_spare(ge_engine *e, ct_search *s, ct_way way, u32 depth, bool keep) {
    if (!s->has_values || depth == 0) return false;
    u32 text = text_under_way(e, way.config);
    bool is_text = text != CF_NO_TEXT, is_other = true;
    if (text == CF_SUSPECT || (!is_text && (way.loose == NONE || way.loose == CF_DEAD || way.values == NONE))) return false;
    u64 key = is_text ? key_of_twin(cf_twin(e, way.config)) : way.loose;
    if (e->b.status != GE_OK) return false;
    u32 last = map_get(&s->alike, key), n = 0;
    u64 enough = enough_of(s, depth);
    for (u32 at = last; at != NONE && n < enough; at = s->kept.at[at].next) {
        const ct_kept *other = &s->kept.at[at];
        n += other->depth <= depth;
        if (keep && is_other) is_other = is_text ? other->text != text : are_apart(e, s, other->values, way.values);
    }
    if (n >= enough) return true;
    if (!keep || !is_other || !(is_text ? read_string(e, s, text).is_plain : are_apart(e, s, way.values, way.values))) return false;
    ct_kept kept = {depth, last, text, way.values};
    return !vec_push(&e->b, &s->kept, kept) || !map_put(&e->b, &s->alike, key, s->kept.n - 1);
}
