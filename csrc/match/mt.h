/* mt: what batches (bt.c), turns (tn.c) and calls that hold the GIL ask of a matcher beyond the public calls. */
#ifndef GE_MT_H
#define GE_MT_H

#include "mt_read.h"
#include "qs.h"

/* As the public calls. warm_only: EN_COLD instead of taking the lock. */
int32_t mt_accept(ge_matcher *m, const int64_t *tokens, size_t n, bool commit, size_t *n_done, bool warm_only, ge_err *err);
int32_t mt_accept_token(ge_matcher *m, int64_t token, bool warm_only, ge_err *err);
int32_t mt_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, bool warm_only, ge_err *err);

ge_engine *mt_engine(const ge_matcher *m);
mt_ends mt_ends_of(const ge_matcher *m);
int32_t mt_closes_within(ge_matcher *m, size_t left, bool *closes, bool warm_only, ge_err *err);
int32_t mt_forced_bytes(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err);

#endif
