/* What the files that decide how a mask is made need of each other: mk.c, mk_parts.c, mk_heir.c, mk_longest.c. The mask is e->mk.found. */
#ifndef GE_MK_MAKE_H
#define GE_MK_MAKE_H

#include "mk.h"

enum { MK_OFTEN = 32 /* times that a unit is asked for: then its analysis pays, if there is an heir */ };

typedef VEC(mk_parts) mk_parts_vec; /* of the alternatives of a configuration */

/* --- mk.c */

/* The mask of another configuration: kept, or made now. */
bool mk_load_or_build(ge_engine *e, u32 config);
/* Adds what was noted to be below hubs, from the last one down to `from`. */
bool mk_add_hubs(ge_engine *e, u32 from);

/* --- mk_unique.c */

/* Takes out of the mask of `bare`, the twin, as bits, the tokens that make items equal; *changed: there are some. */
bool mk_keep_unique(ge_engine *e, u32 config, u32 bare, u32 *bits, bool *changed);

/* Whether the configuration can read a token, in *answer. */
bool mk_reads_token(ge_engine *e, u32 config, u32 token, bool *answer);

/* --- mk_parts.c */

/* Counts how often a unit is asked for, up to MK_OFTEN; *before = the count so far. */
bool mk_count_unit(ge_engine *e, u32 unit, u32 weight, u32 *before);
/* The parts of all alternatives; *wide: there are units. */
bool mk_split_all(ge_engine *e, u32 config, u32 hub, mk_parts_vec *parts, bool *wide);
/* *known: are the lexeme-internal masks of all units? Those that are not are made if `make` says so, and if they can be. */
bool mk_are_known(ge_engine *e, const mk_parts_vec *parts, bool make, bool *known);
/* The tokens below a hub that a configuration can read, by its parts. */
bool mk_add_split(ge_engine *e, u32 config, u32 hub, const mk_parts_vec *parts, bool wide);

/* --- mk_heir.c */

/* The mask by its difference from that of an heir, but for what is below hubs; *done = false: by its parts, rather. */
bool mk_by_heir(ge_engine *e, u32 config, const mk_parts_vec *parts, bool *done);
/* *answer: has one of the units been asked for only a few times, or turned
 * out to have no lexeme-internal mask? This time counts for `weight`. */
bool mk_are_new(ge_engine *e, const mk_parts_vec *parts, u32 weight, bool *answer);

/* --- mk_longest.c */

/* *core = the configuration without the lexemes of its first alternative that read little, but for those of `parts->rest`; or itself.
 * Key words that begin as names do make a unit of each place; its core is the name, and the two differ only along the key words. */
bool mk_find_core(ge_engine *e, u32 config, u32 hub, const mk_parts *parts, u32 *core);
/* From what the core reads below a hub to what the configuration does. False without a failure: they differ in much, which is noted. */
bool mk_differ_from_core(ge_engine *e, u32 config, u32 core, u32 hub);
/* *nested = what is nested under the first alternative, if that helps; or CF_DEAD. */
bool mk_find_nested(ge_engine *e, u32 config, u32 *nested);
/* A match of the first alternative drops those that are nested under it, so what they read, which has been found, counts for tokens in
 * which it finds none. It goes on top of that: by its lexeme-internal mask if it reads much, else by the difference that it makes. */
bool mk_put_on_top(ge_engine *e, u32 config, u32 nested, u32 hub);

#endif
