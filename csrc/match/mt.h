/* mt: what batches (bt.c) ask of a matcher beyond the public calls. */
#ifndef GE_MT_H
#define GE_MT_H

#include "en.h"

enum { MT_COLD = 1 << 8 }; /* besides what the public calls return: nothing was done, since it takes the engine's lock */

/* As the public calls. warm_only: MT_COLD instead of taking the lock. */
int32_t mt_accept_token(ge_matcher *m, int64_t token, bool warm_only, ge_err *err);
int32_t mt_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, bool warm_only, ge_err *err);

ge_engine *mt_engine(const ge_matcher *m);
u32 mt_closing_most(ge_matcher *m); /* tokens that complete the text, the end of text included; see cl_most */

#endif
