/* cl: ends of a text. See cl.c for the shortest, ct.c for those of few tokens. All of these are called with the engine's lock held. */
#ifndef GE_CL_H
#define GE_CL_H

#include "../engine/en.h"

/* Appends the first of the shortest texts from a configuration to the end of a sentence; with `spelt`, of those that tokens can spell: to
 * be asked after the first, *found: there is one that is not much longer. False: failure. */
bool cl_close(ge_engine *e, u32 config, bool spelt, byte_vec *out, bool *found);
/* The length of that text, as far as it is foretold: a lower bound. On failure any. */
u32 cl_foretold(ge_engine *e, u32 config);
/* The length of a text to the end, where one is foretold surely and any
 * text is spelt by tokens: mostly of that one. NONE: elsewhere, or failure. */
u32 cl_most(ge_engine *e, u32 config);
/* The fewest tokens that spell the text that cl_close finds, the end of
 * text not counted; NONE: none do, or it is not told so. False: failure. */
bool cl_count(ge_engine *e, u32 config, u32 *count);
/* The end is no nearer: the least length of what comes behind the lexemes that are under way. On failure any. */
u32 cl_least_behind(ge_engine *e, u32 config);
/* Appends at most `most` tokens that lead to the end of a sentence, *found: there
 * are any. False: failure. For where ct_search_once with CT_BY_BYTES gives up. */
bool ct_close(ge_engine *e, u32 config, u32 most, id_vec *out, bool *found);
void cl_drop(ge_engine *e);

#endif
