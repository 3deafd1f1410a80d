/* cl: closings, the shortest ways from a configuration to the end of a sentence.
 *
 * Idea. The least length of what may still come is known of each lexeme under way (rx_least.c) and of each row after it (ep_least.c).
 * Together they foretell, for each byte, how long the way is that begins with it; so the closing is followed byte by byte, and of the
 * bytes that keep to the least length the smallest is taken.
 *
 * Where the forecast is only a lower bound (lexing="longest"; a distinct member under way, if others must follow it; items that are
 * compared, un.h; bytes that no token has; a lexeme of which the shortest text takes a long search) the same walk becomes a search:
 * depth-first, no longer than foretold, and if that fails again with what it has learned, a length more (IDA* with a table; Korf 1985,
 * Reinefeld and Marsland 1994). A configuration that has failed keeps its better bound, one on a way that was found keeps its next byte,
 * for all later calls: a closing that goes on from the middle of an earlier one is read off.
 *
 * A next byte leads to a place from which the way that is known is shorter: so no way comes back to itself.
 *
 * With lexing="longest" all may be far longer than foretold, and perhaps no sentence goes on at all. So after 2, 4, 8 ... walks in vain
 * what can be reached is looked at, the nearest first, as far as that is in proportion to the walks; where it is all, and no end, it is
 * ruled out.
 *
 * Where items are compared, rows foretell as if all might be equal, which is far from the truth if several must follow. A closing that is
 * more than CL_SLACK bytes longer than foretold is not searched, nor one whose search takes long: it is what comes by always going on with
 * the byte behind which the least is foretold, as far as items differ, or until two are equal. It may be longer than need be.
 *
 * What is found otherwise is the first in the order of bytes among the shortest. So it depends on nothing but the text, and what is left
 * of it after some of its bytes is the closing from there: a shorter or smaller one would have made the whole shorter or smaller.
 *
 * Spelt closings are those that some sequence of tokens spells. A *place* is then a configuration and a set of nodes of the vocabulary's
 * trie, where a token under way may be; the root is in it where one may end. Only vocabularies without some bytes need that.
 *
 * Where the forecast is exact and each byte is a token, it also tells without a walk how many tokens are enough (cl_most).
 *
 * The fewest tokens that spell a closing (cl_count) are kept with each configuration on the way: there they tell of what is left of it. So
 * the count of a closing that joins one that was counted takes the bytes before, and behind them as many as a token has. Where the value of
 * a distinct member under way does not matter to the shortest texts, it is kept for all configurations that differ in that value: with
 * their twin.
 *
 * Every byte is read by the engine itself, and the last configuration is complete: a
 * forecast that were wrong could make a closing longer than need be, but never no sentence.
 *
 * Cost: known: a look-up per byte. New: for each byte the derivatives of the lexemes under way that may
 * be on the way, by each byte class up to the one that is taken, and one step of the configuration. */
#include "cl.h"

enum {
    CL_ANYWHERE = 0,
    CL_DETOUR = 64, /* bytes that a spelt closing may be longer */
    CL_SLACK = 4,   /* bytes that one may be longer than foretold, where items are compared, to be searched for; */
    CL_CHOICE = 1000, /* else units of work for the choice of each byte */
    CL_FEW = 8,     /* lexemes, of which the length of what comes behind is asked at once */
    CL_PART = 64,   /* of the work of an operation, the part that may be spent on what is mostly told at once */
    CL_WORK = 1024  /* what a byte of a closing may take, amply: where a closing is said to be there, it is to be found later */
};

typedef struct cl_pair { /* what may end a place: a lexeme under way, then the row behind it */
    rx_id expr;
    u32 after;
    u32 floor; /* no way by this pair is shorter */
} cl_pair;

typedef struct cl_frame {
    u32 config, in_tokens; /* the place */
    u32 known;             /* index in closings */
    u32 rest;              /* bytes that are left to go */
    u32 bound;             /* of the ways that were left out so far, the least */
    u32 byte;              /* to be tried next */
    u32 pairs;             /* first of its pairs */
} cl_frame;

typedef struct cl_walk {
    VEC(cl_frame) frames;
    VEC(cl_pair) pairs;
    id_vec nodes; /* scratch: of the trie */
} cl_walk;

typedef struct cl_way { /* from a place to the end, or to where its tokens are known */
    byte_vec text;
    id_vec configs, fewest; /* before each byte, and behind the last one; the tokens from there on, NONE: not told */
} cl_way;

/* --- places -------------------------------------------------------------------------------------------------------------- */

static u32 in_tokens_of(ge_engine *e, const id_vec *nodes) {
    if (intern_count(&e->cl.in_tokens) == 0 && intern(&e->b, &e->cl.in_tokens, (u32[]){NONE}, 1, NULL) == NONE) return NONE;
    return intern(&e->b, &e->cl.in_tokens, nodes->at, nodes->n, NULL);
}

/* Where tokens may be one byte later: CL_ANYWHERE stays; *dead: nowhere. NONE on failure. */
static u32 step_in_tokens(ge_engine *e, cl_walk *w, u32 set, u32 byte, bool *dead) {
    *dead = false;
    if (set == CL_ANYWHERE) return set;
    bool ends = false, ok = true;
    w->nodes.n = 0;
    ok = vec_push(&e->b, &w->nodes, 0);
    for (u32 i = 0; ok && i < intern_length(&e->cl.in_tokens, set); i++) {
        u32 node = vb_child(&e->v->trie, intern_words(&e->cl.in_tokens, set)[i], byte), at = w->nodes.n;
        if (node == NONE) continue;
        ends |= tt_has_token(&e->v->trie, node);
        ok = vec_push(&e->b, &w->nodes, node);
        for (; ok && at > 1 && w->nodes.at[at - 1] > node; at--) w->nodes.at[at] = w->nodes.at[at - 1];
        if (ok) w->nodes.at[at] = node;
    }
    *dead = w->nodes.n == 1;
    if (!ends && !*dead) { /* without the root */
        memmove(w->nodes.at, w->nodes.at + 1, --w->nodes.n * sizeof *w->nodes.at);
    }
    return ok ? in_tokens_of(e, &w->nodes) : NONE;
}

static bool is_end(const ge_engine *e, u32 config, u32 in_tokens) {
    return cf_at(e, config)->complete && (in_tokens == CL_ANYWHERE || intern_words(&e->cl.in_tokens, in_tokens)[0] == 0);
}

/* Index of what is known of a place; NONE on failure. */
static u32 known_of(ge_engine *e, u32 config, u32 in_tokens) {
    u64 key = (u64)config << 32 | in_tokens;
    u32 index = map_get(&e->cl.closing_of, key);
    if (index != NONE) return index;
    cl_known known = {0, is_end(e, config, in_tokens) ? CL_END : NONE};
    index = e->cl.closings.n;
    return vec_push(&e->b, &e->cl.closings, known) && map_put(&e->b, &e->cl.closing_of, key, index) ? index : NONE;
}

/* --- forecasts ----------------------------------------------------------------------------------------------------------- */

/* The least length of what comes behind a lexeme that is under way in an alternative. */
static u32 least_behind(ge_engine *e, const cf_alternative *a, u32 lexeme) {
    return e->lx.lexemes.at[lexeme].flags & LX_SKIP ? ep_least_row(&e->ep, a->row) : ep_least_after(&e->ep, a->row, lexeme);
}

/* Is what comes behind it so long that it does not matter? Of many values, each of which may come once, the exact length is asked of
 * few. */
static bool is_too_long(ge_engine *e, const cf_alternative *a, u32 lexeme, u32 least, u32 rest, u32 bound) {
    if (e->lx.lexemes.at[lexeme].flags & LX_SKIP) return false;
    u32 length = rx_add_lengths(least, ep_least_after_bound(&e->ep, a->row, lexeme));
    return length > rest && length >= bound;
}

u32 cl_least_behind(ge_engine *e, u32 config) {
    u32 least = cf_at(e, config)->complete ? 0 : RX_NO_LENGTH;
    if (!ep_least_begin(&e->ep)) return least;
    for (u32 i = 0, n = cf_count(e, config); i < n && least; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1) && least; k++) {
            id_vec pairs = {0};
            if (!lx_pairs(&e->lx, a.state >> 1, k, &pairs)) least = 0;
            for (u32 j = 0; j < pairs.n && least; j += 2) least = min_u32(least, least_behind(e, &a, pairs.at[j]));
            vec_drop(&e->b, &pairs);
        }
    }
    return least;
}

static bool is_json_blank(u32 byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

/* A text without the blanks behind its value, of a lexeme of which `rest` is left. They
 * might as well not be there, if any number of them may: those of a separator may be needed. */
static u32 without_blanks(ge_engine *e, u32 text, rx_id rest) {
    u32 at = text, before, n_escapes = 0, last = text == CF_EMPTY_TEXT ? 0 : intern_words(&e->texts, text)[1];
    if (!is_json_blank(last) || rx_derive(&e->lx.x, rest, last) != rest) return text;
    while (at != CF_EMPTY_TEXT && is_json_blank(intern_words(&e->texts, at)[1])) at = intern_words(&e->texts, at)[0];
    if (at == CF_EMPTY_TEXT || intern_words(&e->texts, at)[1] != '"') return rx_nullable(&e->lx.x, rest) ? at : text;
    before = intern_words(&e->texts, at)[0];
    if (before == CF_EMPTY_TEXT) return text; /* the mark opens a string */
    for (; before != CF_EMPTY_TEXT && intern_words(&e->texts, before)[1] == '\\'; n_escapes++) before = intern_words(&e->texts, before)[0];
    return n_escapes % 2 ? text : at;
}

/* A distinct member under way: what it takes with all that comes behind is at least what the row takes in which it began, but for the bytes
 * that were read. So if one value is short and all others are long, and more of them must follow, it is known that one of those is to
 * come. */
static u32 floor_of(ge_engine *e, const cf_alternative *a, u32 lexeme, rx_id rest) {
    if (!(e->lx.lexemes.at[lexeme].flags & LX_DISTINCT) || a->text == CF_NO_TEXT || cf_is_abstract(a->text)) return 0;
    u32 least = ep_least_row(&e->ep, a->row);
    if (least >= RX_LONG) return 0;
    for (u32 at = without_blanks(e, a->text, rest); least && at != CF_EMPTY_TEXT; least--) at = intern_words(&e->texts, at)[0];
    return least;
}

/* Appends those of the k-th pair of the state of an alternative, as add_pairs. */
static bool add_pairs_of(ge_engine *e, cl_walk *w, cf_alternative a, u32 k, u32 rest, u32 *bound) {
    id_vec pairs = {0};
    bool ok = lx_pairs(&e->lx, a.state >> 1, k, &pairs);
    for (u32 i = 0; ok && i < pairs.n; i += 2) {
        u32 least = rx_least(&e->lx.x, pairs.at[i + 1]);
        if (least > rest && least >= *bound) continue;
        if (lx_count(&e->lx, a.state >> 1) + pairs.n / 2 > CL_FEW && is_too_long(e, &a, pairs.at[i], least, rest, *bound)) continue;
        cl_pair pair = {pairs.at[i + 1], least_behind(e, &a, pairs.at[i]), floor_of(e, &a, pairs.at[i], pairs.at[i + 1])};
        u32 length = max_u32(rx_add_lengths(least, pair.after), pair.floor);
        ok = e->b.status == GE_OK;
        if (length > rest) *bound = min_u32(*bound, length);
        else ok = ok && vec_push(&e->b, &w->pairs, pair);
    }
    vec_drop(&e->b, &pairs);
    return ok && e->b.status == GE_OK; /* what is passed over as too long may be a failure */
}

/* Appends the pairs of a configuration that are no longer than `rest`; *bound = the least of the others. */
static bool add_pairs(ge_engine *e, cl_walk *w, u32 config, u32 rest, u32 *bound) {
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1); k++) {
            u32 least = rx_least(&e->lx.x, lx_rest_at(&e->lx, a.state >> 1, k));
            bool is_needed = least <= rest || least < *bound; /* of many keys that may come, hardly one */
            if (e->b.status != GE_OK || (is_needed && !add_pairs_of(e, w, a, k, rest, bound))) return false;
        }
    }
    return true;
}

/* The least length of a way that begins with a byte, as far as can be foretold; where it is more than `most`, mostly less than that. */
static u32 foretell(ge_engine *e, const cl_walk *w, u32 first, u32 byte, u32 most) {
    u32 least = RX_NO_LENGTH;
    for (u32 i = first; i < w->pairs.n && e->b.status == GE_OK; i++) {
        rx_id rest = rx_derive(&e->lx.x, w->pairs.at[i].expr, byte);
        if (rest == NONE || rest == RX_ID_NEVER) continue;
        u32 others = rx_add_lengths(w->pairs.at[i].after, 1), length = rx_add_lengths(rx_least_bound(&e->lx.x, rest), others);
        if (length <= most) length = rx_add_lengths(rx_least(&e->lx.x, rest), others);
        least = min_u32(least, max_u32(length, w->pairs.at[i].floor));
    }
    return least;
}

/* --- the walk ------------------------------------------------------------------------------------------------------------ */

static bool push_frame(ge_engine *e, cl_walk *w, u32 config, u32 in_tokens, u32 rest) {
    cl_frame f = {.config = config, .in_tokens = in_tokens, .rest = rest, .bound = RX_NO_LENGTH, .pairs = w->pairs.n};
    f.known = known_of(e, config, in_tokens);
    return f.known != NONE && vec_push(&e->b, &w->frames, f);
}

/* Tries the next byte of the last frame: pushes the place that it leads to, or notes that the byte is no way. */
static bool try_byte(ge_engine *e, cl_walk *w) {
    cl_frame *f = &w->frames.at[w->frames.n - 1];
    u32 byte = f->byte++, byte_class = e->lx.x.class_of[byte];
    if (f->in_tokens == CL_ANYWHERE && e->lx.x.class_byte[byte_class] != byte) return true; /* the first of its class stands for it */
    u32 length = foretell(e, w, f->pairs, byte, f->rest);
    if (!budget_work(&e->b, 1)) return false;
    if (length > f->rest) return f->bound = min_u32(f->bound, length), true;
    u32 config = cf_step(e, f->config, byte_class);
    bool dead;
    u32 in_tokens = step_in_tokens(e, w, f->in_tokens, byte, &dead);
    if (config == NONE || in_tokens == NONE) return false;
    if (config == CF_DEAD || dead) return true;
    return push_frame(e, w, config, in_tokens, f->rest - 1);
}

/* Looks for a way of at most `rest` bytes from a place. What is learned is in closings. */
static bool walk_closing(ge_engine *e, cl_walk *w, u32 config, u32 in_tokens, u32 rest) {
    w->frames.n = w->pairs.n = 0;
    if (!push_frame(e, w, config, in_tokens, rest)) return false;
    while (w->frames.n) {
        cl_frame *f = &w->frames.at[w->frames.n - 1];
        cl_known *known = &e->cl.closings.at[f->known];
        if (known->byte != NONE && known->least <= f->rest) { /* the end, or a way that is known: it is that of all frames */
            u32 length = known->least;
            for (u32 i = w->frames.n - 1; i-- > 0; length = known->least) {
                cl_frame at = w->frames.at[i];
                known = &e->cl.closings.at[at.known];
                if (known->byte == NONE || known->least > length + 1) *known = (cl_known){length + 1, at.byte - 1};
            }
            return true;
        }
        if (f->byte == 0 && known->least <= f->rest && !add_pairs(e, w, f->config, f->rest, &f->bound)) return false;
        u32 n = w->frames.n;
        while (known->least <= f->rest && f->byte < 256 && w->frames.n == n) {
            if (!try_byte(e, w)) return false;
            f = &w->frames.at[n - 1];
            known = &e->cl.closings.at[f->known];
        }
        if (w->frames.n > n) continue;
        if (known->least <= f->rest) known->least = max_u32(known->least, f->bound);
        u32 bound = rx_add_lengths(known->least, 1);
        w->pairs.n = f->pairs;
        if (--w->frames.n) f[-1].bound = min_u32(f[-1].bound, bound);
    }
    return true;
}

/* The way that is known, from its first place on. */
static bool follow_closing(ge_engine *e, cl_walk *w, u32 config, u32 in_tokens, byte_vec *out) {
    for (;;) {
        u32 index = known_of(e, config, in_tokens);
        if (index == NONE) return false;
        u32 byte = e->cl.closings.at[index].byte;
        bool dead;
        if (byte == CL_END) return true;
        if (!vec_push(&e->b, out, (u8)byte)) return false;
        config = cf_step(e, config, e->lx.x.class_of[byte]);
        in_tokens = step_in_tokens(e, w, in_tokens, byte, &dead);
        if (config == NONE || in_tokens == NONE) return false;
    }
}

/* Learns how long the ways from a configuration are at least, if it was not asked before. */
static bool foretell_all(ge_engine *e, cl_walk *w, u32 config, u32 index) {
    cl_known known = e->cl.closings.at[index];
    if (known.byte != NONE || known.least) return true;
    known.least = RX_NO_LENGTH;
    if (!add_pairs(e, w, config, 0, &known.least)) return false;
    if (w->pairs.n) known.least = 1;
    e->cl.closings.at[index] = known;
    return true;
}

/* Raises the bound of a configuration by a look at the first `most` that can be reached from it (or a few more), the nearest
 * first: to where an end is, or to how far that went; or if that is all and none is an end, all of them are ruled out. */
static bool raise_bound(ge_engine *e, u32 config, u32 most) {
    id_vec reached = {0};
    word_map distances = {0};
    u32 distance = 0;
    bool ok = vec_push(&e->b, &reached, config) && map_put(&e->b, &distances, config, 0), is_over = false;
    for (u32 i = 0; ok && !is_over && i < reached.n; i++) {
        u32 index = known_of(e, reached.at[i], CL_ANYWHERE);
        ok = index != NONE;
        if (!ok || e->cl.closings.at[index].least == RX_NO_LENGTH) continue;
        distance = map_get(&distances, reached.at[i]);
        is_over = e->cl.closings.at[index].byte == CL_END || reached.n > most;
        for (u32 c = 0; ok && !is_over && c < e->lx.x.n_classes; c++) {
            u32 next = cf_step(e, reached.at[i], c);
            ok = next != NONE && budget_work(&e->b, 1);
            if (!ok || next == CF_DEAD || map_get(&distances, next) != NONE) continue;
            ok = vec_push(&e->b, &reached, next) && map_put(&e->b, &distances, next, distance + 1);
        }
    }
    for (u32 i = 0, n = is_over ? 1 : reached.n; ok && i < n; i++) {
        u32 index = known_of(e, reached.at[i], CL_ANYWHERE);
        ok = index != NONE;
        if (ok) e->cl.closings.at[index].least = is_over ? max_u32(e->cl.closings.at[index].least, distance) : RX_NO_LENGTH;
    }
    vec_drop(&e->b, &reached);
    map_drop(&e->b, &distances);
    return ok;
}

/* --- items that are compared ------------------------------------------------------------------------------------------------ */

/* How long the ways from a configuration are at least, by what rows and lexemes foretell, whatever was learnt. False: failure. */
static bool foretell_anew(ge_engine *e, cl_walk *w, u32 config, u32 *least) {
    *least = cf_at(e, config)->complete ? 0 : RX_NO_LENGTH;
    w->pairs.n = 0;
    return *least == 0 || add_pairs(e, w, config, 0, least);
}

/* Is a number under way that is not equal to another item, in an array that has to have two such? More digits are foretold to be near the
 * end, and lead nowhere. False after a failure. */
static bool is_to_be_repeated(ge_engine *e, u32 config) {
    if (!e->g->has_repeated || cf_step(e, config, e->lx.x.class_of[']']) != CF_DEAD) return false;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        u32 track = cf_alternative_at(e, config, i).track;
        un_track t = track > UN_OUTSIDE ? un_at(&e->un, track) : (un_track){.kind = UN_ARRAY};
        if (t.kind == UN_WORD && un_at(&e->un, t.up).kind == UN_REPEATED) return true;
    }
    return false;
}

/* *next = where the byte leads behind which the least is foretold, but for where the text
 * would end in nothing, or has been (then it is noted there); CF_DEAD: there is none. */
static bool choose_byte(ge_engine *e, cl_walk *w, u32 config, word_map *been, u8 *byte, u32 *next) {
    u32 lengths[256], bound = RX_NO_LENGTH;
    w->pairs.n = 0;
    if (!budget_work(&e->b, CL_CHOICE) || !add_pairs(e, w, config, RX_LONG, &bound)) return false;
    for (u32 b = 0; b < 256; b++) lengths[b] = foretell(e, w, 0, b, RX_LONG);
    if (lengths[','] != RX_NO_LENGTH && is_to_be_repeated(e, config)) lengths[','] = 0;
    if (e->b.status != GE_OK) return false;
    for (*next = CF_DEAD; *next == CF_DEAD;) {
        u32 best = 0;
        for (u32 b = 1; b < 256; b++)
            if (lengths[b] < lengths[best]) best = b;
        if (lengths[best] == RX_NO_LENGTH) return e->b.status == GE_OK;
        lengths[best] = RX_NO_LENGTH;
        *byte = (u8)best;
        *next = cf_step(e, config, e->lx.x.class_of[best]);
        u32 reduced = *next == NONE || *next == CF_DEAD ? *next : cf_reduced(e, *next);
        if (reduced == NONE) return false;
        if (reduced == CF_DEAD || map_get(been, reduced) != NONE) *next = CF_DEAD;
        else if (!map_put(&e->b, been, reduced, 0)) return false;
    }
    return true;
}

/* Goes on to the end by the bytes behind which the least is foretold, back where none is left, and keeps that way. */
static bool close_greedily(ge_engine *e, cl_walk *w, u32 config) {
    word_map been = {0};
    id_vec configs = {0};
    byte_vec bytes = {0};
    bool ok = true;
    while (ok && !cf_at(e, config)->complete) {
        u8 byte;
        u32 next;
        ok = choose_byte(e, w, config, &been, &byte, &next);
        if (ok && next != CF_DEAD) {
            ok = vec_push(&e->b, &configs, config) && vec_push(&e->b, &bytes, byte);
            config = next;
        } else if (ok) {
            ok = configs.n || budget_limit(&e->b, LIMIT(max_step_work));
            if (ok) config = configs.at[--configs.n], bytes.n--;
        }
    }
    u32 end = ok ? known_of(e, config, CL_ANYWHERE) : NONE, length = 0;
    ok = end != NONE;
    for (u32 i = configs.n; ok && i-- > 0;) { /* from the end on: each is longer than what it leads to, also where that was known before */
        u32 index = known_of(e, configs.at[i], CL_ANYWHERE);
        ok = index != NONE;
        if (!ok) break;
        cl_known *known = &e->cl.closings.at[index];
        if (known->byte == NONE || known->least > length + 1) *known = (cl_known){length + 1, bytes.at[i]};
        length = known->least;
    }
    map_drop(&e->b, &been);
    vec_drop(&e->b, &configs);
    vec_drop(&e->b, &bytes);
    return ok;
}

/* --- the search for a way ----------------------------------------------------------------------------------------------------- */

/* *found: from here on a way is known. *in_tokens = the place's. With `spelt`: after the closing without. */
static bool seek_closing(ge_engine *e, cl_walk *w, u32 config, bool spelt, u32 *in_tokens, bool *found) {
    u32 index = known_of(e, config, CL_ANYWHERE), most = RX_LONG, walks = 0;
    *in_tokens = CL_ANYWHERE;
    if (index == NONE) return false;
    if (spelt) {
        most = e->cl.closings.at[index].least + CL_DETOUR;
        w->nodes.n = 0;
        *in_tokens = vec_push(&e->b, &w->nodes, 0) ? in_tokens_of(e, &w->nodes) : NONE;
        index = *in_tokens == NONE ? NONE : known_of(e, config, *in_tokens);
        if (index == NONE) return false;
    }
    for (;;) {
        cl_known known = e->cl.closings.at[index];
        *found = known.byte != NONE;
        if (*found) return true;
        if (!ep_least_begin(&e->ep) || !foretell_all(e, w, config, index)) return false;
        known = e->cl.closings.at[index];
        if (known.least == RX_NO_LENGTH || (spelt && known.least > most)) return true;
        bool may_be_longer = e->g->has_unique && !spelt;
        if (may_be_longer) {
            u32 least;
            if (!foretell_anew(e, w, config, &least)) return false;
            if (known.least > rx_add_lengths(least, CL_SLACK)) return close_greedily(e, w, config) && (*found = true);
        }
        if (known.least > e->b.limits.max_step_work || known.least >= RX_LONG) return budget_limit(&e->b, LIMIT(max_step_work));
        budget_part part = budget_begin_part(&e->b, e->b.limits.max_step_work / (may_be_longer ? CL_PART : 1));
        bool ok = walk_closing(e, w, config, *in_tokens, known.least);
        if (budget_end_part(&e->b, part)) return close_greedily(e, w, config) && (*found = true);
        if (!ok) return false;
        if (!e->g->longest || spelt || e->cl.closings.at[index].byte != NONE || ++walks < 2 || walks & (walks - 1)) continue;
        if (!raise_bound(e, config, min_u32(walks, UINT16_MAX) * min_u32(walks, UINT16_MAX))) return false;
    }
}

bool cl_close(ge_engine *e, u32 config, bool spelt, byte_vec *out, bool *found) {
    cl_walk w = {0};
    u32 in_tokens;
    bool ok = seek_closing(e, &w, config, spelt, &in_tokens, found) && (!*found || follow_closing(e, &w, config, in_tokens, out));
    vec_drop(&e->b, &w.frames);
    vec_drop(&e->b, &w.pairs);
    vec_drop(&e->b, &w.nodes);
    if (ok && !*found && !spelt) ok = budget_limit(&e->b, LIMIT(max_step_work)); /* lexing="longest": no sentence goes on from here */
    return ok;
}

/* --- with distinct members ------------------------------------------------------------------------------------------------- */

/* After the k-th pair of the state of an alternative: *least, the length of the shortest
 * text to which no value matters that is under way; and *bound, a lower bound of the others. */
static bool foretell_by(ge_engine *e, const cf_alternative *a, u32 k, u32 *least, u32 *bound) {
    id_vec pairs = {0};
    bool ok = lx_pairs(&e->lx, a->state >> 1, k, &pairs);
    for (u32 i = 0; ok && i < pairs.n; i += 2) {
        u32 lexeme = pairs.at[i], length = rx_least(&e->lx.x, pairs.at[i + 1]), others = RX_NO_LENGTH;
        bool is_distinct = e->lx.lexemes.at[lexeme].flags & LX_DISTINCT;
        u32 behind = is_distinct ? ep_least_without(&e->ep, a->row, lexeme, &others) : least_behind(e, a, lexeme);
        *least = min_u32(*least, rx_add_lengths(length, behind));
        *bound = min_u32(*bound, rx_add_lengths(length, others));
    }
    vec_drop(&e->b, &pairs);
    return ok && e->b.status == GE_OK;
}

/* With distinct members: the length of the shortest texts, if no value matters to them that is under
 * way. NONE: it does, or failure. All configurations with the same twin have these texts in common. */
static u32 foretell_surely(ge_engine *e, u32 config) {
    u32 least = RX_NO_LENGTH, bound = RX_NO_LENGTH;
    if (cf_at(e, config)->complete) return 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        for (u32 k = 0; k < lx_count(&e->lx, a.state >> 1); k++) {
            bool is_needed = rx_least(&e->lx.x, lx_rest_at(&e->lx, a.state >> 1, k)) <= least; /* of many keys that may come, hardly one */
            if (e->b.status != GE_OK || (is_needed && !foretell_by(e, &a, k, &least, &bound))) return NONE;
        }
    }
    return least < bound ? least : NONE;
}

/* The same, kept with the twin. Where it takes a long search, or lengths are lower bounds, it is not told: nothing depends on it. */
static u32 foretell_alike(ge_engine *e, u32 config) {
    u32 twin = cf_twin(e, config), least;
    if (twin == NONE || e->ep.least_is_bound || e->g->has_unique) return NONE; /* which items are equal, rows do not foretell */
    u32 _Atomic *most = &cf_at(e, twin)->most;
    u32 told = atomic_load_explicit(most, memory_order_relaxed);
    if (told != CF_UNTOLD && !(e->switches & GE_NO_STATE_CACHE)) return told > RX_LONG ? NONE : told - 1;
    budget_part part = budget_begin_part(&e->b, e->b.limits.max_step_work / CL_PART);
    least = foretell_surely(e, config);
    if (budget_end_part(&e->b, part) || e->ep.least_is_bound || least > RX_LONG - 1) least = NONE;
    if (e->b.status == GE_OK) atomic_store_explicit(most, least == NONE ? RX_LONG + 1 : 1 + least, memory_order_relaxed);
    return least;
}

/* --- how many tokens ----------------------------------------------------------------------------------------------------- */

/* The way that is known, to its end or as far as a token may reach from before the first place whose tokens are known, *known = that. */
static bool follow_counted(ge_engine *e, u32 config, cl_way *out, u32 *known) {
    u32 longest = e->v->shapes.height.at[0], reach = longest < UINT8_MAX ? longest : NONE; /* heights say no more than that */
    for (*known = NONE;;) {
        u32 index = known_of(e, config, CL_ANYWHERE), closes = atomic_load_explicit(&cf_at(e, config)->closes, memory_order_relaxed);
        if (index == NONE || !vec_push(&e->b, &out->configs, config)) return false;
        bool told = closes != CF_UNTOLD && closes < CF_DETOUR;
        u32 byte = e->cl.closings.at[index].byte, fewest = byte == CL_END ? 0 : told ? closes - 1 : NONE;
        if (!vec_push(&e->b, &out->fewest, fewest)) return false;
        if (fewest != NONE && *known == NONE) *known = out->text.n;
        if (byte == CL_END || (*known != NONE && out->text.n - *known >= reach)) return true;
        config = cf_step(e, config, e->lx.x.class_of[byte]);
        if (config == NONE || !vec_push(&e->b, &out->text, (u8)byte)) return false;
    }
}

static bool count_closing(ge_engine *e, cl_walk *w, cl_way *way, u32 config, u32 *count) {
    u32 in_tokens, known;
    bool found;
    *count = NONE;
    if (!seek_closing(e, w, config, false, &in_tokens, &found)) return false;
    if (!found) return true;
    if (!follow_counted(e, config, way, &known)) return false;
    if (!vb_fewest(e->v, &e->b, way->text.at, way->text.n, known, way->fewest.at)) return false;
    for (u32 i = 0; i < known; i++) {
        u32 fewest = way->fewest.at[i];
        if (fewest < CF_DETOUR - 1) atomic_store_explicit(&cf_at(e, way->configs.at[i])->closes, (u16)(1 + fewest), memory_order_relaxed);
    }
    *count = way->fewest.at[0];
    return true;
}

/* Was it counted for another one with the same twin, and is it the same from both? */
static bool count_alike(ge_engine *e, u32 config, u32 *count) {
    if (!e->g->g.has_distinct || foretell_alike(e, config) == NONE) return false;
    u32 closes = atomic_load_explicit(&cf_at(e, cf_twin(e, config))->closes, memory_order_relaxed);
    if (closes == CF_UNTOLD) return false;
    *count = closes - 1;
    return true;
}

static void note_alike(ge_engine *e, u32 config, u32 count) {
    if (!e->g->g.has_distinct || count >= CF_DETOUR - 1 || foretell_alike(e, config) == NONE) return;
    atomic_store_explicit(&cf_at(e, cf_twin(e, config))->closes, (u16)(1 + count), memory_order_relaxed);
}

bool cl_count(ge_engine *e, u32 config, u32 *count) {
    cl_walk w = {0};
    cl_way way = {0};
    *count = NONE;
    bool is_off = e->switches & GE_NO_STATE_CACHE, is_known = !is_off && ep_least_begin(&e->ep) && count_alike(e, config, count);
    bool ok = is_off || is_known || count_closing(e, &w, &way, config, count);
    if (ok && !is_off && !is_known) note_alike(e, config, *count);
    vec_drop(&e->b, &w.frames);
    vec_drop(&e->b, &w.pairs);
    vec_drop(&e->b, &w.nodes);
    vec_drop(&e->b, &way.text);
    vec_drop(&e->b, &way.configs);
    vec_drop(&e->b, &way.fewest);
    return ok;
}

/* Classes of bytes are written by their first. */
static bool spells_any(ge_engine *e) {
    const tt_trie *t = &e->v->trie;
    for (u32 c = 0; c < e->lx.x.n_classes && e->cl.spells == CL_NOT_ASKED; c++) {
        u32 node = vb_child(t, 0, e->lx.x.class_byte[c]);
        if (node == NONE || !tt_has_token(t, node)) e->cl.spells = CL_SPELLS_SOME;
    }
    if (e->cl.spells == CL_NOT_ASKED) e->cl.spells = CL_SPELLS_ANY;
    return e->cl.spells == CL_SPELLS_ANY;
}

u32 cl_foretold(ge_engine *e, u32 config) {
    cl_walk w = {0};
    u32 index = known_of(e, config, CL_ANYWHERE), least = RX_NO_LENGTH;
    if (index != NONE && ep_least_begin(&e->ep) && foretell_all(e, &w, config, index)) least = e->cl.closings.at[index].least;
    vec_drop(&e->b, &w.pairs);
    return least;
}

u32 cl_most(ge_engine *e, u32 config) {
    if (e->g->longest || e->g->has_unique || !spells_any(e) || !ep_least_begin(&e->ep)) return NONE;
    u32 least = e->g->g.has_distinct ? foretell_alike(e, config) : cl_foretold(e, config);
    return !e->ep.least_is_bound && least <= e->b.limits.max_step_work / CL_WORK ? least : NONE;
}

void cl_drop(ge_engine *e) {
    vec_drop(&e->b, &e->cl.closings);
    map_drop(&e->b, &e->cl.closing_of);
    intern_drop(&e->b, &e->cl.in_tokens);
    ct_drop(e);
}
