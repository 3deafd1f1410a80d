/* cl_state: what an engine has learnt of the ways to the end. A part of the engine (engine/en.h), grown under its lock. */
#ifndef GE_CL_STATE_H
#define GE_CL_STATE_H

#include "ct.h"

enum { CL_END = 256 };

typedef struct cl_known { /* of the way from a configuration to the end; see cl.c */
    u32 least; /* no way is shorter */
    u32 byte;  /* the first one of the shortest way, of that length; NONE: none is known; CL_END: it has no bytes */
} cl_known;

typedef struct cl_state {
    VEC(cl_known) closings;
    word_map closing_of;    /* (configuration, set of places in tokens) -> index in closings */
    intern_table in_tokens; /* sets of nodes of the vocabulary's trie; the first stands for "anywhere" */
    enum { CL_NOT_ASKED, CL_SPELLS_ANY, CL_SPELLS_SOME } spells; /* whether each byte that a closing may have is a token */

    ct_table fewest; /* tokens that may still come */
} cl_state;

#endif
