/* What a token, or a text, does to a step of a matcher: it goes from configuration to configuration, byte by byte.
 *
 * In counted text far from its bound the configuration is a clamped one, and the step has what there is to spare (engine/cf_clamp.c). A
 * plain token leaves it there, and takes its characters from that. Of others the bytes tell: they stay in the string, then the
 * configuration that they lead to is clamped again, and what it had less room takes that away; or they leave it, whatever there was to
 * spare. Where neither is seen, or the bound is near, the configuration itself is made, and reads them.
 *
 * Invariant. A clamped configuration with `spare` stands for the one with room for e->room + spare characters. No token, nor a text of at
 * most e->room bytes, tells the two apart but by what is left of the count. */
#include "mt_read.h"

#include "../mask/mk.h"

/* The configuration after as many of the bytes as known transitions reach, or CF_DEAD; *n_read = their number. */
static u32 read_known(const ge_engine *e, u32 config, const u8 *bytes, size_t n, size_t *n_read) {
    const u8 *class_of = e->lx.x.class_of;
    size_t i = 0;
    for (; i < n; i++) {
        u32 to = cf_warm(e, config, class_of[bytes[i]]);
        if (to == NONE) break;
        config = to;
        if (to == CF_DEAD) break;
    }
    *n_read = i;
    return config;
}

/* The configuration after `n` bytes, or CF_DEAD (*n_read tells after how many). NONE: failure, err is filled. Takes the lock at
 * the first transition that is not known, and keeps it to the end; warm_only: NONE instead, and GE_OK. */
GE_HOT static u32 read_bytes(ge_engine *e, u32 config, const u8 *bytes, size_t n, size_t *n_read, bool warm_only, ge_err *err) {
    config = read_known(e, config, bytes, n, n_read);
    if (*n_read == n || config == CF_DEAD) return config;
    if (warm_only) return NONE;
    en_begin(e);
    for (; *n_read < n; ++*n_read) {
        e->b.work = 0; /* the limit is on each byte: a long text is no misuse */
        config = cf_step(e, config, e->lx.x.class_of[bytes[*n_read]]);
        if (config == NONE || config == CF_DEAD) break;
    }
    en_end(e, err);
    return config;
}

u32 mt_unclamped(ge_engine *e, mt_step at, ge_err *err) {
    if (!at.spare) return at.config;
    en_begin(e);
    u32 config = cf_with_room(e, at.config, e->room + at.spare);
    return en_end(e, err) == GE_OK ? config : NONE;
}

/* The configuration that stands for a counted one. NONE: failure, or not known. */
static u32 clamped(ge_engine *e, u32 config, bool warm_only, ge_err *err) {
    u32 to = atomic_load_explicit(&cf_at(e, config)->clamped, memory_order_acquire);
    if (to != NONE || warm_only) return to;
    en_begin(e);
    to = cf_clamped(e, config);
    return en_end(e, err) == GE_OK ? to : NONE;
}

/* Where there is more room than a clamped configuration has: that one. False as `clamped`. Not where characters are missing: a text comes
 * to few of these, and their masks may be known by the way to them (mask/mk_lexeme.c). A token automaton tells all numbers of characters
 * apart. */
static bool clamp(ge_engine *e, mt_step *at, bool warm_only, ge_err *err) {
    const cf_record *record = cf_at(e, at->config);
    if (record->counted == RX_OWES_CHARS || record->room <= e->room || (record->room - e->room) >> 31) return true;
    if (atomic_load_explicit(&e->table, memory_order_acquire)) return true;
    at->spare = (record->room - e->room) & 0x7fffffff;
    at->config = clamped(e, at->config, warm_only, err);
    return at->config != NONE;
}

typedef enum mt_way { STAYS, LEAVES, UNSEEN } mt_way;

/* What has a text done that was read from a counted configuration? A quotation mark that comes where a character may begin ends the
 * string. */
static mt_way way_through(const ge_engine *e, u32 config, const u8 *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const cf_record *from = cf_at(e, config);
        assert(from->counted != RX_UNCOUNTED);
        if (bytes[i] == '"' && from->counted >= RX_AT_CHAR) return LEAVES;
        config = cf_warm(e, config, e->lx.x.class_of[bytes[i]]);
        if (config == NONE || config == CF_DEAD) return UNSEEN;
        const cf_record *to = cf_at(e, config);
        if (to->counted == RX_UNCOUNTED) return UNSEEN;
        assert(to->room <= from->room);
    }
    return STAYS;
}

/* The step of at most e->room bytes, as mt_read_token. */
GE_HOT static bool read_counted(ge_engine *e, mt_step from, const u8 *bytes, size_t n, mt_step *to, size_t *n_read, bool warm_only,
                                ge_err *err) {
    u32 config = read_bytes(e, from.config, bytes, n, n_read, warm_only, err);
    to->config = config;
    if (config == NONE || config == CF_DEAD) return false;
    mt_way way = way_through(e, from.config, bytes, n);
    u32 used = way == STAYS ? e->room - cf_at(e, config)->room : 0;
    if (way == STAYS && used <= from.spare) {
        to->config = clamped(e, config, warm_only, err);
        to->spare = (from.spare - used) & 0x7fffffff;
        return to->config != NONE;
    }
    if (way != LEAVES) {
        to->config = warm_only ? NONE : mt_unclamped(e, from, err);
        if (to->config != NONE) to->config = read_bytes(e, to->config, bytes, n, n_read, false, err);
        if (to->config == NONE || to->config == CF_DEAD) return false;
    }
    return clamp(e, to, warm_only, err);
}

GE_HOT bool mt_read_token(ge_engine *e, mt_ends ends, mt_step from, int64_t token, mt_step *to, bool warm_only, ge_err *err) {
    ge_vocab *v = e->v;
    *to = (mt_step){.config = CF_DEAD};
    if (token < 0 || token >= (int64_t)v->n_tokens) return false;
    bool is_end = mt_is_end(ends, (u64)token);
    *to = (mt_step){.config = from.config, .ended = true, .token = token};
    if (from.ended || (is_end && cf_is_complete(e, from.config))) return is_end;
    u32 begin = v->offsets[token], n = v->offsets[token + 1] - begin;
    size_t n_read;
    *to = (mt_step){.config = CF_DEAD, .token = token};
    if (n == 0) return false;
    if (from.spare) {
        bool stays = cf_at(e, from.config)->counted == RX_AT_ANY_CHAR && vb_is_plain(v, (u64)token) && v->chars[token] <= from.spare;
        if (!stays) return read_counted(e, from, v->text + begin, n, to, &n_read, warm_only, err);
        to->config = from.config;
        to->spare = (from.spare - v->chars[token]) & 0x7fffffff;
        return true;
    }
    to->config = read_bytes(e, from.config, v->text + begin, n, &n_read, warm_only, err);
    if (to->config == NONE || to->config == CF_DEAD) return false;
    mk_follow_table(e, from.config, (u64)token, to->config);
    return clamp(e, to, warm_only, err);
}

bool mt_read_text(ge_engine *e, mt_step from, const u8 *bytes, size_t n, mt_step *to, size_t *n_read, ge_err *err) {
    *to = from;
    for (*n_read = 0; *n_read < n;) {
        mt_step at = *to;
        size_t part = e->room && n - *n_read > e->room ? e->room : n - *n_read, done;
        bool ok = true;
        to->spare = 0;
        if (at.spare) {
            ok = read_counted(e, at, bytes + *n_read, part, to, &done, false, err);
        } else {
            to->config = read_bytes(e, at.config, bytes + *n_read, part, &done, false, err);
            ok = to->config != NONE && to->config != CF_DEAD;
            ok = ok && clamp(e, to, false, err);
        }
        *n_read += done;
        if (!ok) return false;
    }
    to->token = -1 - (int64_t)n;
    return true;
}
