/* What the files of the parser need of each other. */
#ifndef GE_EP_PARTS_H
#define GE_EP_PARTS_H

#include "ep.h"

enum { EP_END_POINT = 0 }; /* the end of the sentence: its set has no items, and accepts */

#define EP_LOCAL 0x80000000u /* a source: plus a call of the row that is being made; an item: plus a member of its component */

static inline u32 ep_item_point(ep_item item) { return (u32)(item >> 32); }
static inline u32 ep_item_node(ep_item item) { return (u32)item; }
static inline ep_item ep_item_make(u32 point, u32 node) { return (ep_item)point << 32 | node; }

/* A set as interned: [ accepts | point node | point node | ... ] */
static inline u32 ep_set_size(const ep_parser *p, u32 set) { return (intern_length(&p->sets, set) - 1) / 2; }
static inline bool ep_set_accepts(const ep_parser *p, u32 set) { return intern_words(&p->sets, set)[0] != 0; }
static inline ep_item ep_set_item(const ep_parser *p, u32 set, u32 i) {
    const u32 *words = intern_words(&p->sets, set) + 1 + 2 * (size_t)i;
    return ep_item_make(words[0], words[1]);
}

/* A value that no stamp array holds yet. ep_start and ep_goto see to it that it does not wrap around. */
static inline u32 ep_next_stamp(ep_parser *p) { return ++p->stamp; }

enum { EP_PER_WORK = 2 }; /* items, or lexemes of a set, that are copied and sorted for one step of work */

static inline bool ep_work(ep_parser *p, u64 n) { return budget_work(p->b, 1 + n / EP_PER_WORK); }

/* Lengthens a stamp array to n words, with zeros. */
#define ep_fit(p, v, count) \
    ((count) <= (v)->n || (vec_reserve((p)->b, (v), (count) - (v)->n) && \
                           (memset((v)->at + (v)->n, 0, ((count) - (v)->n) * sizeof *(v)->at), (v)->n = (count), true)))

/* --- ep.c: limits ----------------------------------------------------------------------------------------------------------- */

/* The limit is reached in rules of a nonterminal of the IR, or of none (NONE); returns false. */
bool ep_limit(ep_parser *p, u32 limit, u32 owner);
/* May there be n return points more? */
static inline bool ep_may_add_points(const ep_parser *p, u32 n) {
    return (p->for_cut || (u64)p->points.n - p->n_cut_points + n <= p->b->limits.max_rows) && (u64)p->points.n + n < EP_LOCAL;
}
/* the first nonterminal of the IR in whose rules the items of a set are; NONE: there is none */
u32 ep_set_owner(const ep_parser *p, u32 set);

/* p->following = the items after a lexeme that is allowed in the row, with the hole of one way each. False on failure. */
bool ep_follow(ep_parser *p, u32 row, u32 lexeme);

/* --- ep_complete.c: sets ------------------------------------------------------------------------------------------------- */

/* p->items and p->accepts become the closure of what is added between begin and end: see ep_complete.c. */
void ep_collect_begin(ep_parser *p);
bool ep_collect(ep_parser *p, u32 point, u32 node);
bool ep_collect_end(ep_parser *p, u32 flat); /* sets of more than `flat` items are referred to, not copied */

bool ep_sort(ep_parser *p, ep_item *items, u32 *n); /* sorts, drops duplicates */
u32 ep_set_of_items(ep_parser *p);                  /* interns p->items and p->accepts; NONE on failure */
u32 ep_set_of_words(ep_parser *p);                  /* the same for p->words */
u32 ep_point_of_set(ep_parser *p, u32 set);         /* a return point with this content; NONE on failure */

/* --- ep_make.c: rules made on demand ---------------------------------------------------------------------------------------- */

bool ep_expand(ep_parser *p, u32 nonterminal);     /* makes its alternatives; it has none yet */
u32 ep_fill(ep_parser *p, u32 hole, u32 value);    /* what follows a key of a bag; NONE on failure */
bool ep_part_hole(ep_parser *p, u32 hole, u32 lexeme); /* p->offers = holes: those of the ways of a group that begin with a lexeme */

/* A state of a bag as interned: [ bag | rank | values | tainted | counts ... ] */
enum { EP_STATE_BAG, EP_STATE_RANK, EP_STATE_VALUES, EP_STATE_TAINTED, EP_STATE_COUNTS };

/* --- ep_cut.c ---------------------------------------------------------------------------------------------------------------- */

enum { EP_STUBS = 16 }; /* of each depth */
#define EP_NO_STUBS (NONE - EP_CUTS * EP_STUBS) /* as the first stub: there are none yet */

bool ep_is_stub(const ep_parser *p, u32 point);
u32 ep_make_cut(ep_parser *p, u32 row, u32 depth); /* as ep_cut, anew */
bool ep_collect_resumed(ep_parser *p, u32 row, u32 base, u32 depth); /* what ep_resume is to make a row of */

/* --- ep_least.c, ep_least_bag.c: RX_NO_LENGTH also on failure ---------------------------------------------------------------- */

u32 ep_least_symbol(ep_parser *p, u32 symbol);
u32 ep_least_of_new_bag(ep_parser *p, u32 bag);
u32 ep_least_of_state(ep_parser *p, u32 state, bool separated); /* a tail, whose members have separators before them; or a rest */
u32 ep_least_after_key(ep_parser *p, u32 state, u32 way);
u32 ep_least_after_key_bound(ep_parser *p, u32 state, u32 way); /* no more than that */
/* The least length of keys beside `keys` (bits) that meet the choices of a bag, in *least; prices by place. False on failure. */
bool ep_least_choice(ep_parser *p, const gr_bag *bag, const u32 *keys, const u32 *prices, u32 *least);
bool ep_asks_for_values(ep_parser *p, u32 state, u32 way); /* after a member of the way, members that may be distinct; true on failure */
/* ep_least_slots.c: *least = that of a tail, or of what must come after a member of
 * a way, without what is left of that. False: that is no sum over slots, or failure. */
bool ep_least_by_slots(ep_parser *p, u32 state, u32 *least);
bool ep_least_by_slots_after(ep_parser *p, u32 state, u32 way, u32 *least);

/* --- ep_predict.c -------------------------------------------------------------------------------------------------------- */

bool ep_predict(ep_parser *p, u32 row); /* what comes after each of its lexemes */

/* --- ep_first.c ---------------------------------------------------------------------------------------------------------- */

u32 ep_row_of_set(ep_parser *p, u32 set); /* NONE on failure */

#endif
