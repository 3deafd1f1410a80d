/* tn: what calls that hold the GIL ask of a turn beyond the public calls. */
#ifndef GE_TN_H
#define GE_TN_H

#include "../base/base.h"

/* As ge_matcher_turn and ge_matcher_turn_alone. warm_only: EN_COLD instead of taking the engine's lock, or going along a closing. */
int32_t tn_write(ge_matcher *m, ge_turn *t, const int64_t *tokens, size_t n, bool warm_only, ge_err *err);
int32_t tn_write_alone(ge_matcher *m, ge_turn *t, int64_t *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err);

#endif
