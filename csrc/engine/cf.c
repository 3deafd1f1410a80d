/* Configurations: the transitions of sets of alternatives. See en.h for the idea.
 *
 * Every split counts. When a byte completes lexemes, the step adds the alternative "they end here" beside "they go on": all ways of
 * cutting the text are followed at once. Those that end here are joined: one row of all that may come in any of them.
 *
 * lexing="longest" keeps them in order instead: an alternative that began at a shorter match is nested (depth + 1) under the one that
 * still looks for a longer, and dropped when that one finds it. The sequence is the preorder of that forest. */
#include "../mask/mk.h"

u32 cf_begin(ge_engine *e, u32 row) {
    if (row < e->row_begin.n && e->row_begin.at[row] != NONE) return e->row_begin.at[row];
    if (cf_is_ended(row)) return LX_DEAD;
    if (cf_is_ring(row)) return mk_ring_begin(e, row);
    if (cf_is_open(row)) return row - CF_OPEN_ROW;
    if (!vec_reach(&e->b, &e->row_begin, row)) return NONE;
    u32 n;
    const u32 *lexemes = ep_row_lexemes(&e->ep, row, &n);
    if (e->skips.n == 0) return e->row_begin.at[row] = lx_begin(&e->lx, lexemes, n);
    e->row_lexemes.n = 0;
    if (!vec_reserve(&e->b, &e->row_lexemes, n + e->skips.n)) return NONE;
    for (u32 i = 0, k = 0; i < n || k < e->skips.n;) /* merge two ascending lists */
        e->row_lexemes.at[e->row_lexemes.n++] = k == e->skips.n || (i < n && lexemes[i] < e->skips.at[k]) ? lexemes[i++] : e->skips.at[k++];
    return e->row_begin.at[row] = lx_begin(&e->lx, e->row_lexemes.at, e->row_lexemes.n);
}

static bool accepts_flag(const ge_engine *e, u32 accepts, u32 flag) {
    for (u32 i = 0; accepts != NONE && i < intern_length(&e->lx.accepts, accepts); i++)
        if (e->lx.lexemes.at[intern_words(&e->lx.accepts, accepts)[i]].flags & flag) return true;
    return false;
}

static u32 goto_row(ge_engine *e, u32 row, u32 accepts, u32 value) {
    return ep_goto(&e->ep, row, intern_words(&e->lx.accepts, accepts), intern_length(&e->lx.accepts, accepts), value);
}

/* The row after distinct lexemes with a value. */
static u32 go_with_value(ge_engine *e, u32 row, u32 accepts, u32 value) {
    if (e->switches & GE_NO_GOTO_CACHE) return goto_row(e, row, accepts, value);
    bool fresh;
    u32 key[3] = {row, accepts, value};
    u32 id = intern(&e->b, &e->go_value, key, 3, &fresh);
    if (id == NONE || !fresh) return id == NONE ? NONE : e->go_value_row.at[id];
    u32 to = goto_row(e, row, accepts, value);
    if (to != NONE && vec_push(&e->b, &e->go_value_row, to)) return to;
    intern_undo(&e->go_value);
    return NONE;
}

u32 cf_go(ge_engine *e, u32 row, u32 accepts) {
    if (cf_is_ring(row)) return mk_go_round(e, row, accepts);
    if (cf_is_open(row)) return CF_ENDED_ROW + accepts;
    u64 key = (u64)row << 32 | accepts;
    u32 to = e->switches & GE_NO_GOTO_CACHE ? NONE : map_get(&e->go, key);
    if (to != NONE) return to;
    to = goto_row(e, row, accepts, VALUE_UNKNOWN);
    return to == NONE || !map_put(&e->b, &e->go, key, to) ? NONE : to;
}

/* Longest match: is the alternative equal to one that it would be nested under? That one ends no later, so nothing is lost without it. */
static bool is_covered(const ge_engine *e, u32 row, u32 state, u32 depth) {
    for (u32 i = e->alts.n; e->g->longest && i-- > 0 && depth > 0;) {
        cf_alternative above = e->alts.at[i];
        if (above.depth >= depth) continue;
        if (above.row == row && above.state == state) return true;
        depth = above.depth;
    }
    return false;
}

static bool push_alternative(ge_engine *e, u32 row, u32 state, u32 depth, u32 text) {
    cf_alternative a = {.row = row, .state = state, .depth = depth, .text = text};
    return vec_push(&e->b, &e->alts, a);
}

/* The text and one byte; NONE on failure. */
static u32 longer_text(ge_engine *e, u32 text, u32 byte) {
    u32 key[2] = {text, byte};
    return intern(&e->b, &e->texts, key, 2, NULL);
}

static u32 value_of(ge_engine *e, u32 text) {
    e->text.n = 0;
    for (u32 at = text; at != CF_EMPTY_TEXT; at = intern_words(&e->texts, at)[0])
        if (!vec_push(&e->b, &e->text, (u8)intern_words(&e->texts, at)[1])) return NONE;
    for (u32 i = 0, k = e->text.n; i + 1 < k; i++) {
        u8 swap = e->text.at[i];
        e->text.at[i] = e->text.at[--k];
        e->text.at[k] = swap;
    }
    return budget_work(&e->b, e->text.n) ? lx_value(&e->lx, e->text.at, e->text.n) : NONE;
}

/* Lexemes have matched in row: those of the set `accepts` (or NONE), and perhaps a skip. The rows after that go to e->ended. `text` is
 * what they have matched, if one of them is distinct, or abstract. */
static bool add_ended(ge_engine *e, u32 row, u32 accepts, bool skips, u32 text) {
    bool suspect = text == CF_SUSPECT || (text == CF_ABSTRACT && accepts_flag(e, accepts, LX_TAINTED));
    if (accepts != NONE) {
        u32 to;
        if (text != CF_NO_TEXT && !cf_is_abstract(text) && accepts_flag(e, accepts, LX_DISTINCT)) {
            u32 value = value_of(e, text);
            to = value == NONE || !vec_push(&e->b, &e->values_read, value) ? NONE : go_with_value(e, row, accepts, value);
        } else {
            to = cf_go(e, row, accepts);
        }
        if (to == NONE || !(suspect ? vec_push(&e->b, &e->ended_suspect, to) : vec_push(&e->b, &e->ended, to))) return false;
    }
    if (!skips) return true;
    return suspect ? vec_push(&e->b, &e->ended_suspect, row) : vec_push(&e->b, &e->ended, row);
}

/* The one row of all that may come in the rows of e->ended, of which there is at least one. */
static u32 join_ended(ge_engine *e) {
    if (e->ended.n > 1) qsort(e->ended.at, e->ended.n, sizeof *e->ended.at, compare_u32);
    u32 n = 0;
    for (u32 i = 0; i < e->ended.n; i++)
        if (n == 0 || e->ended.at[n - 1] != e->ended.at[i]) e->ended.at[n++] = e->ended.at[i];
    if (n == 1) return e->ended.at[0];
    bool fresh;
    u32 id = intern(&e->b, &e->joins, e->ended.at, n, &fresh);
    if (id == NONE || !fresh) return id == NONE ? NONE : e->joined.at[id];
    u32 row = ep_join(&e->ep, e->ended.at, n);
    if (row != NONE && vec_push(&e->b, &e->joined, row)) return row;
    intern_undo(&e->joins);
    return NONE;
}

/* "No lexeme is under way in row". `text`: abstract or not. */
static bool push_fresh(ge_engine *e, u32 row, u32 depth, u32 text) {
    u32 begin = row == NONE ? NONE : cf_begin(e, row);
    if (begin == NONE) return false;
    u32 state = begin * 2 + (!cf_is_open(row) && ep_row_accepts(&e->ep, row));
    if (!cf_is_abstract(text)) text = e->lx.info.at[begin].distinct ? CF_EMPTY_TEXT : CF_NO_TEXT;
    return is_covered(e, row, state, depth) || push_alternative(e, row, state, depth, text);
}

static bool push_ended(ge_engine *e, u32 depth, u32 text) {
    if (e->ended.n && cf_is_open(e->ended.at[0])) {
        for (u32 i = 0; i < e->ended.n; i++)
            if (!push_fresh(e, e->ended.at[i], depth, text)) return false;
        return true;
    }
    if (e->ended.n && !push_fresh(e, join_ended(e), depth, text == CF_SUSPECT ? CF_ABSTRACT : text)) return false;
    if (e->ended_suspect.n == 0) return true;
    e->ended.n = 0;
    for (u32 i = 0; i < e->ended_suspect.n; i++)
        if (!vec_push(&e->b, &e->ended, e->ended_suspect.at[i])) return false;
    return push_fresh(e, join_ended(e), depth, CF_SUSPECT);
}

static int compare_alternatives(const void *a, const void *b) {
    const cf_alternative *p = a, *q = b;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    if (p->state >> 1 != q->state >> 1) return p->state > q->state ? -1 : 1;
    if (p->track != q->track) return p->track < q->track ? -1 : 1;
    /* abstract before suspect */
    if (p->text != q->text && !(cf_is_abstract(p->text) && p->state != q->state)) return p->text > q->text ? -1 : 1;
    return p->state > q->state ? -1 : p->state < q->state; /* fresh before the same state without */
}

/* Does the alternative p, which sorts before q, allow all that q does? */
static bool covers(const cf_alternative *p, const cf_alternative *q) {
    bool text = p->text == q->text || (p->text == CF_ABSTRACT && q->text == CF_SUSPECT);
    return p->row == q->row && p->track == q->track && p->state >> 1 == q->state >> 1 && p->state >= q->state && text;
}

/* Is something of the state alive whatever value is not known? */
static bool is_sure(ge_engine *e, cf_alternative a) {
    return a.text != CF_SUSPECT && lx_is_sure(&e->lx, a.state >> 1);
}

/* A table of transitions, none of which is known. */
static u32 _Atomic *new_table(ge_engine *e) { return stable_push_filled(&e->b, &e->tables, 0xff); }

/* A symbol of the IR that an alternative is in: a lexeme that is under way by itself, else what its row is in; or NONE. */
static u32 symbol_of(const ge_engine *e, cf_alternative a) {
    u32 state = a.state >> 1, owner = NONE, origin = NONE;
    bool begins = a.row < e->row_begin.n && e->row_begin.at[a.row] == state;
    if (!begins && state != LX_DEAD && lx_count(&e->lx, state) == 1) origin = e->lx.lexemes.at[lx_lexeme_at(&e->lx, state, 0)].origin;
    if (origin != NONE) return 2 * origin;
    if (!cf_is_open(a.row)) owner = ep_row_owner(&e->ep, a.row);
    return owner == NONE ? NONE : 2 * owner + 1;
}

u32 cf_symbol(const ge_engine *e, u32 config) {
    return intern_length(&e->configs, config) ? symbol_of(e, cf_alternative_at(e, config, 0)) : NONE;
}

static bool limit_here(ge_engine *e, u32 limit) {
    if (e->b.status == GE_OK) e->b.symbol = symbol_of(e, e->alts.at[0]);
    return budget_limit(&e->b, limit);
}

/* Interns the alternatives in e->alts. */
static u32 intern_config(ge_engine *e) {
    if (e->alts.n == 0) return CF_DEAD;
    if (!e->g->longest && e->alts.n > 1) {
        qsort(e->alts.at, e->alts.n, sizeof *e->alts.at, compare_alternatives);
        u32 n = 0;
        for (u32 i = 0; i < e->alts.n; i++) { /* equal, or the same state without fresh: the one before covers it */
            cf_alternative a = e->alts.at[i];
            if (n && covers(&e->alts.at[n - 1], &a)) continue;
            e->alts.at[n++] = a;
        }
        e->alts.n = n;
    }
    if (e->alts.n > e->b.limits.max_alternatives) return limit_here(e, LIMIT(max_alternatives)), NONE;
    bool fresh;
    u32 id = intern(&e->b, &e->configs, (const u32 *)(const void *)e->alts.at, CF_ALTERNATIVE_WORDS * e->alts.n, &fresh);
    if (id == NONE || !fresh) return id;
    bool has_text = false, sure = false, complete = false, ends = false;
    u32 room;
    rx_counted counted = cf_find_count(e, &room);
    for (u32 i = 0; i < e->alts.n; i++) {
        cf_alternative a = e->alts.at[i];
        complete |= a.state & 1;
        ends |= cf_is_ended(a.row) || (cf_is_ring(a.row) && a.state >> 1 == mk_ring_begin(e, a.row));
        has_text |= (a.text != CF_NO_TEXT && !cf_is_abstract(a.text)) || (e->g->has_unique && a.track > UN_OUTSIDE);
        sure = sure || !cf_is_abstract(a.text) || is_sure(e, a);
    }
    bool ok = (e->b.status == GE_OK && id < e->b.limits.max_configurations) || limit_here(e, LIMIT(max_configurations));
    u32 _Atomic *next = !ok ? NULL : has_text ? e->no_next : new_table(e);
    cf_record *record = next ? stable_push(&e->b, &e->records) : NULL;
    if (!record) {
        if (next && !has_text) e->tables.n--;
        intern_undo(&e->configs);
        return NONE;
    }
    record->next = next;
    record->twin = NONE;
    record->complete = complete;
    record->unsure = !sure;
    record->ends = ends;
    record->counted = (u8)counted;
    record->room = room;
    record->clamped = counted != RX_UNCOUNTED && room == e->room ? id : NONE;
    e->has_clamped |= counted != RX_UNCOUNTED && room > e->room;
    e->max_alternatives = max_u32(e->max_alternatives, e->alts.n);
    return id;
}

/* The configuration {row, nothing under way}. */
static u32 fresh_config(ge_engine *e, u32 row) {
    e->alts.n = 0;
    return push_fresh(e, row, e->g->has_unique ? UN_OUTSIDE : 0, CF_NO_TEXT) ? intern_config(e) : NONE;
}

u32 cf_single(ge_engine *e, cf_alternative a) {
    e->alts.n = 0;
    return push_alternative(e, a.row, a.state, 0, a.text) ? intern_config(e) : NONE;
}

u32 cf_tracked(ge_engine *e, cf_alternative a) {
    e->alts.n = 0;
    return push_alternative(e, a.row, a.state, a.track, a.text) ? intern_config(e) : NONE;
}

static u32 with_tracks(ge_engine *e, u32 config, u32 (*change)(un_state *u, u32 track)) {
    e->alts.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        u32 track = a.track <= UN_OUTSIDE ? a.track : change(&e->un, a.track);
        if (track == NONE || !push_alternative(e, a.row, a.state, track, a.text)) return NONE;
    }
    return intern_config(e);
}

u32 cf_reduced(ge_engine *e, u32 config) { return with_tracks(e, config, un_reduced); }
u32 cf_shortened(ge_engine *e, u32 config) { return with_tracks(e, config, un_shortened); }

/* The longest token that has a quotation mark. */
static u32 longest_with_quote(const ge_vocab *v) {
    u32 longest = 0;
    const u8 *end = v->text + v->offsets[v->n_tokens];
    for (const u8 *at = v->text; at < end && (at = memchr(at, '"', (size_t)(end - at)));) {
        u32 token = vb_token_at(v, (size_t)(at - v->text));
        longest = max_u32(longest, v->offsets[token + 1] - v->offsets[token]);
        at = v->text + v->offsets[token + 1];
    }
    return longest;
}

u32 cf_with_states(ge_engine *e, u32 config, const u32 *states) {
    e->alts.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        if (!push_alternative(e, a.row, 2 * states[i] + (a.state & 1), a.depth, a.text)) return NONE;
    }
    return intern_config(e);
}

u32 cf_after(ge_engine *e, cf_alternative a, const u32 *lexemes, u32 n, bool skip) {
    u32 accepts = n ? intern(&e->b, &e->lx.accepts, lexemes, n, NULL) : NONE;
    if (n && accepts == NONE) return NONE;
    e->alts.n = e->ended.n = e->ended_suspect.n = 0;
    return add_ended(e, a.row, accepts, skip, a.text) && push_ended(e, 0, a.text) ? intern_config(e) : NONE;
}

u32 cf_row_after(ge_engine *e, u32 row, const u32 *lexemes, u32 n, bool skip) {
    u32 accepts = n ? intern(&e->b, &e->lx.accepts, lexemes, n, NULL) : NONE;
    if (n && accepts == NONE) return NONE;
    e->ended.n = 0;
    return add_ended(e, row, accepts, skip, CF_NO_TEXT) ? join_ended(e) : NONE;
}

u32 cf_close(ge_engine *e, u32 config, const u32 *rows) {
    e->alts.n = e->ended.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        u32 row = rows[cf_is_ended(a.row)  ? (a.row - CF_ENDED_ROW) / CF_SECOND
                       : cf_is_ring(a.row) ? a.row & 1
                                           : 0],
            begin = cf_begin(e, row);
        if (begin == NONE) return NONE;
        if (cf_is_ended(a.row) ? !add_ended(e, row, a.row % CF_SECOND, false, CF_NO_TEXT)
            : a.state >> 1 == begin ? !vec_push(&e->b, &e->ended, row)
                                    : !push_alternative(e, row, a.state, 0, CF_NO_TEXT))
            return NONE;
    }
    return push_ended(e, 0, CF_NO_TEXT) ? intern_config(e) : NONE;
}

u32 cf_twin(ge_engine *e, u32 config) {
    if (!cf_has_values(e) || config == CF_DEAD) return config;
    cf_record *record = cf_at(e, config);
    if (record->twin != NONE) return record->twin;
    e->alts.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        if (e->g->g.has_distinct && !cf_is_abstract(a.text)) a.text = CF_ABSTRACT;
        if (!push_alternative(e, a.row, a.state, UN_BARE, a.text)) return NONE;
    }
    return record->twin = intern_config(e);
}

u32 cf_nested(ge_engine *e, u32 config) {
    e->alts.n = 0;
    for (u32 i = 1, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        if (a.depth == 0) return CF_DEAD;
        if (!push_alternative(e, a.row, a.state, a.depth - 1, a.text)) return NONE;
    }
    return intern_config(e);
}

/* The row for what is under way in a lexer state. An open row is only come
 * back to by a skip: where none is under way, all open rows are the same. */
static u32 under_way(u32 row, lx_state info) {
    return cf_is_open(row) && !cf_is_ring(row) && !info.has_skip ? CF_OPEN_ROW + LX_IDLE : row;
}

/* Every split: the alternatives are independent of each other. */
static bool step_every(ge_engine *e, u32 config, u32 byte_class) {
    u32 mode = CF_NO_TEXT;
    e->ended.n = e->ended_suspect.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        if (cf_is_abstract(a.text)) mode = a.text; /* then all are */
        u32 state = lx_step(&e->lx, a.state >> 1, byte_class);
        if (state == NONE) return false;
        if (state == LX_DEAD) continue;
        lx_state info = e->lx.info.at[state];
        if (a.text != CF_NO_TEXT && !cf_is_abstract(a.text)) {
            a.text = info.distinct ? longer_text(e, a.text, e->lx.x.class_byte[byte_class]) : CF_NO_TEXT;
            if (info.distinct && a.text == NONE) return false;
        }
        if (info.live && !push_alternative(e, under_way(a.row, info), state * 2, 0, a.text)) return false;
        if (!add_ended(e, a.row, info.accepts, info.skips, a.text)) return false;
    }
    return push_ended(e, 0, mode);
}

/* Longest match: a match drops what is nested under it. removed[d] = how many of the d ancestors of the alternative at hand are gone. */
static bool step_longest(ge_engine *e, u32 config, u32 byte_class) {
    u32 n = cf_count(e, config), skip_below = NONE; /* NONE, or: alternatives deeper than this are dropped */
    e->removed.n = 0;
    if (!vec_reserve(&e->b, &e->removed, n + 2)) return false;
    e->removed.at[0] = 0;
    for (u32 i = 0; i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        if (skip_below != NONE && a.depth > skip_below) continue;
        skip_below = NONE;
        u32 state = lx_step(&e->lx, a.state >> 1, byte_class);
        if (state == NONE) return false;
        lx_state info = e->lx.info.at[state];
        u32 depth = a.depth - e->removed.at[a.depth];
        bool lives = state != LX_DEAD && info.live && !is_covered(e, a.row, state * 2, depth);
        e->removed.at[a.depth + 1] = e->removed.at[a.depth] + !lives;
        if (lives && !push_alternative(e, a.row, state * 2, depth, CF_NO_TEXT)) return false;
        if (state == LX_DEAD || (info.accepts == NONE && !info.skips)) continue;
        e->ended.n = e->ended_suspect.n = 0;
        if (!add_ended(e, a.row, info.accepts, info.skips, CF_NO_TEXT) || !push_ended(e, depth + lives, CF_NO_TEXT)) return false;
        skip_below = a.depth;
    }
    return true;
}

/* The lexemes of a set that begin an array whose items are compared in one way, or (0) in none; NONE if there are none. False: failure. */
static bool part_accepts(ge_engine *e, u32 accepts, u32 how, u32 *part) {
    id_vec *some = &e->un.found;
    *part = NONE;
    if (accepts == NONE) return true;
    u32 n = intern_length(&e->lx.accepts, accepts);
    for (u32 i = some->n = 0; i < n; i++) {
        u32 lexeme = intern_words(&e->lx.accepts, accepts)[i];
        if ((e->lx.lexemes.at[lexeme].flags & (LX_UNIQUE | LX_REPEATED)) == how && !vec_push(&e->b, some, lexeme)) return false;
    }
    if (some->n) *part = some->n == n ? accepts : intern(&e->b, &e->lx.accepts, some->at, some->n, NULL);
    return some->n == 0 || *part != NONE;
}

/* Lexemes have matched, as add_ended, behind a track. */
static bool add_ends(ge_engine *e, const cf_alternative *a, u32 accepts, bool skips) {
    e->ended.n = 0;
    if (!add_ended(e, a->row, accepts, skips, a->text)) return false;
    for (u32 i = 0; i < e->ended.n; i++)
        if (!vec_push(&e->b, &e->ends, ((cf_end){a->track, e->ended.at[i]}))) return false;
    return true;
}

static int compare_ends(const void *a, const void *b) {
    const cf_end *p = a, *q = b;
    if (p->track != q->track) return p->track < q->track ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* What has ended with the same track is joined. */
static bool push_ends(ge_engine *e) {
    if (e->ends.n > 1) qsort(e->ends.at, e->ends.n, sizeof *e->ends.at, compare_ends);
    for (u32 i = 0; i < e->ends.n;) {
        u32 track = e->ends.at[i].track;
        for (e->ended.n = 0; i < e->ends.n && e->ends.at[i].track == track; i++)
            if (!vec_push(&e->b, &e->ended, e->ends.at[i].row)) return false;
        if (!push_ended(e, track, CF_NO_TEXT)) return false;
    }
    return true;
}

/* As step_every, where alternatives have tracks. */
static bool step_tracked(ge_engine *e, u32 config, u32 byte) {
    static const u32 ways[] = {0, LX_UNIQUE, LX_REPEATED};
    u32 byte_class = e->lx.x.class_of[byte];
    e->ends.n = e->ended_suspect.n = 0;
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        cf_alternative a = cf_alternative_at(e, config, i);
        u32 state = lx_step(&e->lx, a.state >> 1, byte_class);
        if (state == NONE) return false;
        if (state == LX_DEAD) continue;
        a.track = un_step(&e->un, a.track, byte);
        if (a.track == NONE) return false;
        if (a.track == UN_HIT) continue;
        lx_state info = e->lx.info.at[state];
        if (a.text != CF_NO_TEXT) a.text = info.distinct ? longer_text(e, a.text, byte) : CF_NO_TEXT;
        if (info.distinct && a.text == NONE) return false;
        if (info.live && !push_alternative(e, a.row, state * 2, a.track, a.text)) return false;
        for (u32 k = 0; k < 3; k++) {
            cf_alternative end = a;
            u32 part;
            if (!part_accepts(e, info.accepts, ways[k], &part)) return false;
            if (k && part == NONE) continue;
            if (k) end.track = un_begin(&e->un, a.track, ways[k] == LX_UNIQUE ? UN_UNIQUE : UN_REPEATED);
            if (end.track == NONE || !add_ends(e, &end, part, k == 0 && info.skips)) return false;
        }
    }
    return push_ends(e);
}

u32 cf_step_on(ge_engine *e, u32 config, u32 byte) {
    e->alts.n = e->values_read.n = 0;
    return step_tracked(e, config, byte) ? intern_config(e) : NONE;
}

/* The configuration without the alternatives that cannot be completed. */
static u32 drop_dead(ge_engine *e, u32 config) {
    u32 n = cf_count(e, config), n_dead = 0;
    id_vec alive = {0}; /* by alternative: 0 or 1 */
    bool ok = true, is_alive;
    for (u32 i = 0; ok && i < n; i++) {
        ok = cf_is_alive(e, cf_alternative_at(e, config, i), &is_alive) && vec_push(&e->b, &alive, is_alive);
        n_dead += ok && !is_alive;
    }
    if (ok && n_dead) {
        e->alts.n = 0;
        for (u32 i = 0; ok && i < n; i++) {
            cf_alternative a = cf_alternative_at(e, config, i);
            ok = !alive.at[i] || push_alternative(e, a.row, a.state, a.track, a.text);
        }
        config = ok ? intern_config(e) : NONE;
    }
    vec_drop(&e->b, &alive);
    return ok ? config : NONE;
}

static bool is_tracked(const ge_engine *e, u32 config) {
    return e->g->has_unique && cf_count(e, config) && cf_alternative_at(e, config, 0).track != UN_BARE;
}

/* apart[c] |= may the lexer state tell the class c from this one? */
static bool tell_apart(ge_engine *e, u32 state, u32 byte_class, u8 *apart) {
    const rx_arena *x = &e->lx.x;
    lx_classes alike;
    bool narrow;
    if (!lx_is_narrow(&e->lx, state, &narrow)) return false;
    if (!narrow) {
        if (!lx_same(&e->lx, state, &alike)) return false;
        u8 own = alike.same[byte_class];
        for (u32 c = 0; c < x->n_classes; c++) apart[c] |= alike.same[c] != own;
        return true;
    }
    const byte_set *first = lx_first(&e->lx, state);
    if (!first) return false;
    if (set_has(first, x->class_byte[byte_class])) memset(apart, 1, x->n_classes);
    for (u32 k = 0; k < 8; k++)
        for (u32 left = first->w[k]; left; left &= left - 1) apart[x->class_of[32 * k + (u32)__builtin_ctz(left)]] = 1;
    return true;
}

/* Publishes a transition, and with it those by all classes that no alternative tells from this one. */
static bool publish(ge_engine *e, u32 config, u32 byte_class, u32 to) {
    u32 _Atomic *next = cf_at(e, config)->next;
    u32 n = cf_count(e, config), state = cf_alternative_at(e, config, 0).state >> 1, c = byte_class;
    bool narrow;
    lx_classes alike;
    u8 apart[256] = {0};
    atomic_store_explicit(&next[c], to, memory_order_release);
    if (!lx_is_narrow(&e->lx, state, &narrow)) return false;
    if (narrow) return true; /* few bytes are possible: they come one by one */
    for (u32 i = 1; i < n; i++)
        if (!tell_apart(e, cf_alternative_at(e, config, i).state >> 1, byte_class, apart)) return false;
    if (!lx_same(&e->lx, state, &alike)) return false;
    while ((c = alike.next[c]) != byte_class)
        if (!apart[c] && (to != CF_READS || next[c] == NONE)) atomic_store_explicit(&next[c], to, memory_order_release);
    return true;
}

bool cf_first(ge_engine *e, u32 config, byte_set *set) {
    memset(set, 0, sizeof *set);
    for (u32 i = 0, n = cf_count(e, config); i < n; i++) {
        const byte_set *first = lx_first(&e->lx, cf_alternative_at(e, config, i).state >> 1);
        if (!first) return false;
        set_unite(set, first);
    }
    return true;
}

bool cf_differ(ge_engine *e, u32 a, u32 b, byte_set *out) {
    u32 n = cf_count(e, a);
    if (a == CF_DEAD || b == CF_DEAD) return cf_first(e, a == CF_DEAD ? b : a, out);
    memset(out, a == b ? 0 : 0xff, sizeof *out);
    if (a == b || n != cf_count(e, b)) return true;
    byte_set all = {{0}};
    for (u32 i = 0; i < n; i++) {
        cf_alternative p = cf_alternative_at(e, a, i), q = cf_alternative_at(e, b, i);
        byte_set differ;
        if (p.row != q.row || p.depth != q.depth || p.text != q.text) return true;
        if (!lx_differ(&e->lx, p.state >> 1, q.state >> 1, &differ)) return false;
        set_unite(&all, &differ);
    }
    *out = all;
    return true;
}

static bool has_table(const ge_engine *e, u32 config) {
    return !(e->switches & GE_NO_STATE_CACHE) && cf_at(e, config)->next != e->no_next;
}

/* Is it known that the configuration does not read the byte, since nothing begins with it? Then that is noted. */
static bool is_refused(ge_engine *e, u32 config, u32 byte_class, bool *refused) {
    *refused = true;
    for (u32 i = 0, n = cf_count(e, config); i < n && *refused; i++) {
        const byte_set *first = lx_first(&e->lx, cf_alternative_at(e, config, i).state >> 1);
        if (!first) return false;
        *refused = !set_has(first, e->lx.x.class_byte[byte_class]);
    }
    if (*refused && has_table(e, config)) atomic_store_explicit(&cf_at(e, config)->next[byte_class], CF_DEAD, memory_order_release);
    return true;
}

bool cf_reads(ge_engine *e, u32 config, u32 byte_class, bool *answer) {
    bool refused;
    if (!is_refused(e, config, byte_class, &refused)) return false;
    *answer = false;
    if (refused) return true;
    for (u32 i = 0, n = cf_count(e, config); i < n && !*answer; i++)
        *answer = lx_surely_reads(&e->lx, cf_alternative_at(e, config, i).state >> 1, e->lx.x.class_byte[byte_class]);
    for (u32 i = 0, n = cf_count(e, config); i < n && !*answer; i++) {
        u32 state = lx_step(&e->lx, cf_alternative_at(e, config, i).state >> 1, byte_class);
        if (state == NONE) return false;
        *answer = state != LX_DEAD;
    }
    return !has_table(e, config) || publish(e, config, byte_class, *answer ? CF_READS : CF_DEAD);
}

u32 cf_step(ge_engine *e, u32 config, u32 byte_class) {
    if (config == CF_DEAD) return CF_DEAD;
    u32 to = cf_warm(e, config, byte_class);
    if (to != NONE) return to;
    bool refused;
    if (!is_refused(e, config, byte_class, &refused)) return NONE;
    if (refused) return CF_DEAD;
    if (is_tracked(e, config)) {
        to = cf_step_on(e, config, e->lx.x.class_byte[byte_class]);
        if (to != NONE && to != CF_DEAD) to = drop_dead(e, to);
        return to != NONE && has_table(e, config) && !publish(e, config, byte_class, to) ? NONE : to;
    }
    e->alts.n = e->values_read.n = 0;
    if (!(e->g->longest ? step_longest(e, config, byte_class) : step_every(e, config, byte_class))) return NONE;
    to = intern_config(e);
    if (to == NONE || !has_table(e, config)) return to;
    return publish(e, config, byte_class, to) ? to : NONE;
}

bool cf_init(ge_engine *e) {
    e->records.element = sizeof(cf_record);
    e->tables.element = e->lx.x.n_classes * (u32)sizeof(u32 _Atomic);
    /* CF_DEAD: no alternatives. Its content is one word, which no other configuration has. */
    bool fresh;
    if (intern(&e->b, &e->configs, (u32[]){NONE}, 1, &fresh) != CF_DEAD || !stable_push(&e->b, &e->records)) return false;
    if (cf_has_values(e)) {
        if (intern(&e->b, &e->texts, (u32[]){NONE}, 1, &fresh) != CF_EMPTY_TEXT || !(e->no_next = new_table(e))) return false;
    }
    if (e->g->has_unique && !un_init(&e->un, &e->b, &e->lx, longest_with_quote(e->v))) return false;
    u32 row = ep_start(&e->ep);
    return row != NONE && fresh_config(e, row) == CF_START;
}

void cf_drop(ge_engine *e) {
    stable_drop(&e->b, &e->records);
    stable_drop(&e->b, &e->tables);
    intern_drop(&e->b, &e->configs);
    vec_drop(&e->b, &e->alts);
    vec_drop(&e->b, &e->ended);
    vec_drop(&e->b, &e->values_read);
    vec_drop(&e->b, &e->ended_suspect);
    vec_drop(&e->b, &e->ends);
    un_drop(&e->un);
    intern_drop(&e->b, &e->texts);
    vec_drop(&e->b, &e->text);
    intern_drop(&e->b, &e->go_value);
    vec_drop(&e->b, &e->go_value_row);
    vec_drop(&e->b, &e->removed);
    intern_drop(&e->b, &e->joins);
    vec_drop(&e->b, &e->joined);
    vec_drop(&e->b, &e->row_begin);
    vec_drop(&e->b, &e->row_lexemes);
    vec_drop(&e->b, &e->skips);
    map_drop(&e->b, &e->go);
}
