#include "../closing/cl.h"
#include "../mask/mk.h"

const char *ge_version(void) { return "0.1.0"; }

#ifdef NDEBUG
#define ASSERTIONS "assertions off"
#else
#define ASSERTIONS "assertions on"
#endif

#ifdef __clang__
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *ge_build(void) { return COMPILER ", C11, " ASSERTIONS; }

void en_begin(ge_engine *e) {
    lock_take(&e->lock);
    budget_begin(&e->b);
}

ge_status en_end(ge_engine *e, ge_err *err) {
    static const u32 ceilings[] = {LIMIT(max_expressions), LIMIT(max_lexer_states),  LIMIT(max_rules),
                                   LIMIT(max_rows),        LIMIT(max_configurations), LIMIT(max_memory_bytes)};
    ge_status status = budget_report(&e->b, err);
    for (u32 i = 0; status == GE_E_LIMIT && i < sizeof ceilings / sizeof *ceilings; i++) e->full |= e->b.limit == ceilings[i];
    lock_release(&e->lock);
    return status;
}

static bool init_parts(ge_engine *e) {
    const ge_grammar *g = e->g;
    e->lx.no_cache = (e->switches & GE_NO_STATE_CACHE) != 0;
    if (!lx_init(&e->lx, &e->b, &g->x, g->lexemes, g->n_lexemes) || !ep_init(&e->ep, &e->b, &g->g, &e->lx)) return false;
    for (u32 i = 0; i < g->n_lexemes; i++)
        if (g->lexemes[i].flags & LX_SKIP && g->lexemes[i].expr != RX_ID_NEVER && !vec_push(&e->b, &e->skips, i)) return false;
    e->is_one_lexeme = e->skips.n == 0 && g->g.lists.n == 0 && g->g.bags.n == 0;
    for (u32 node = 0; node < g->g.nodes.n; node++) e->is_one_lexeme &= g->g.nodes.at[node].next == GR_END;
    for (u32 byte = 0; byte < 256; byte++) e->mk.class_weight[e->lx.x.class_of[byte]] += e->v->hubs[0].weight[byte];
    u32 plain[256] = {0};
    for (u32 byte = 0x20; byte < 0x80; byte++) plain[e->lx.x.class_of[byte]]++;
    for (u32 c = 0; c < e->lx.x.n_classes; c++)
        if (plain[c] > plain[e->mk.plain_class]) e->mk.plain_class = c;
    bool may_clamp = !(e->switches & GE_NO_CLAMPING) && !g->longest && !cf_has_values(e) && e->v->tiers[0].bytes < VB_MOST_NEED;
    e->room = may_clamp ? e->v->tiers[0].bytes + MK_FINISH : 0; /* so the unit of the clamped state is that of unbounded text */
    return cf_init(e);
}

ge_status ge_engine_new(ge_grammar *grammar, ge_vocab *vocab, uint32_t switches, ge_engine **out, ge_err *err) {
    ge_engine *e = calloc(1, sizeof *e);
    if (!e || lock_init(&e->lock, LOCK_ENGINE)) return free(e), err_set(err, GE_E_MEMORY, "");
    budget_init(&e->b, &grammar->b.limits);
    e->g = grammar;
    e->v = vocab;
    share_take(&grammar->shares);
    share_take(&vocab->shares);
    e->switches = switches;
    e->masks.element = sizeof(mk_mask);
    e->mk.free_mask = e->mk.n_behind_words = NONE;
    if (!init_parts(e)) {
        ge_status status = budget_report(&e->b, err);
        ge_engine_free(e);
        return status;
    }
    *out = e;
    return GE_OK;
}

void ge_engine_free(ge_engine *e) {
    if (!e || !share_drop(&e->shares)) return;
    mk_drop(e);
    ge_dfa_free(e->table);
    cl_drop(e);
    cf_drop(e);
    if (e->ep.b) ep_drop(&e->ep);
    lx_drop(&e->lx);
    lock_drop(&e->lock);
    assert(e->b.bytes == 0);
    ge_grammar_free(e->g);
    ge_vocab_free(e->v);
    free(e);
}

void ge_engine_free_at(ge_engine **at) {
    ge_engine_free(*at);
    *at = NULL;
}

void ge_engine_stats(ge_engine *e, ge_stats *out) {
    lock_take(&e->lock);
    *out = e->stats;
    out->bytes = e->b.bytes + e->table_bytes;
    out->mask_bytes = e->mk.mask_bytes;
    out->expressions = intern_count(&e->lx.x.nodes);
    out->derivatives = e->lx.x.derivatives;
    out->lexer_states = intern_count(&e->lx.states);
    out->rows = e->ep.n_rows;
    out->cut_rows = e->ep.n_cut_rows;
    out->return_points = e->ep.n_points;
    out->rules = e->ep.n_rule_symbols;
    out->configurations = intern_count(&e->configs);
    out->max_row_items = e->ep.max_items;
    out->max_alternatives = e->max_alternatives;
    lock_release(&e->lock);
}

int32_t ge_engine_is_full(ge_engine *e) {
    lock_take(&e->lock);
    bool full = e->full || e->b.bytes + e->table_bytes >= e->b.limits.max_generation_bytes;
    lock_release(&e->lock);
    return full;
}
