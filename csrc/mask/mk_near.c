/* Masks of counted text near its bound, from that of the clamped configuration (engine/cf_clamp.c), which is one for all bounds.
 *
 *     QUOTE(p{3,40}) "   reads what   QUOTE(p{3,room}) "   reads, but for tokens of more than 40 bytes
 *
 * Near its bound each place of a counted text is a configuration of its own. But of the tokens that are no longer than the room each finds
 * as many characters as it takes, and longer ones are few: of 131,072 of Tekken 1,222 have more than 16 bytes, and 56 more than 32. Of
 * these plain ones are told by their characters, as they stay in the string, and others are read.
 *
 * Cost: a copy of the mask, and a look at the tokens that are longer. With less room than the shortest tier has bytes, too many are: such
 * states are analysed one by one (mk_inner.c). Where the lexeme has an automaton (mk_lexeme.c), nothing is to be saved. */
#include "mk.h"

/* The tokens that are longer than some tier, which is no longer than the room. NULL: there is no such tier. */
static const tt_trie *longer_ones(const ge_vocab *v, u32 room) {
    for (u32 k = 0; k < VB_TIERS; k++)
        if (v->tiers[k].bytes <= room) return &v->tiers[k].longer;
    return NULL;
}

bool mk_roomier(ge_engine *e, u32 config, u32 *roomier) {
    const cf_record *record = cf_at(e, config);
    bool has_automaton = false;
    *roomier = config;
    if (record->counted == RX_UNCOUNTED || record->room >= e->room || !longer_ones(e->v, record->room)) return true;
    if (mk_may_share(e) && !mk_has_automaton(e, cf_alternative_at(e, config, 0).state >> 1, &has_automaton)) return false;
    if (!has_automaton) *roomier = cf_clamped(e, config);
    return *roomier != NONE;
}

bool mk_keep_near(ge_engine *e, u32 config, bool *all) {
    const ge_vocab *v = e->v;
    u32 room = cf_at(e, config)->room, counted = cf_at(e, config)->counted;
    const tt_trie *longer = longer_ones(v, room);
    *all = true;
    for (u32 i = longer->token_from.at[longer->byte.n]; i-- > 0;) { /* breadth first: the longest come last */
        u32 token = longer->tokens.at[i], n_bytes = v->offsets[token + 1] - v->offsets[token];
        bool reads;
        if (n_bytes <= room) break;
        if (!(e->mk.found.bits[token >> 5] >> (token & 31) & 1)) continue;
        if (counted != RX_IN_CHAR && vb_is_plain(v, token)) reads = v->chars[token] <= room;
        else if (!mk_reads(e, config, v->text + v->offsets[token], n_bytes, &reads)) return false;
        if (reads) continue;
        e->mk.found.bits[token >> 5] &= ~((u32)1 << (token & 31));
        *all = false;
    }
    return true;
}
