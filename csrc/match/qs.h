/* qs: what is asked of a configuration, under the engine's lock. See qs.c. */
#ifndef GE_QS_H
#define GE_QS_H

#include "../closing/cl.h"

ge_status qs_mask(ge_engine *e, u32 config, u32 *mask, ge_err *err);

/* GE_OK, EN_COLD (only with warm_only: it is not known without the lock) or a failure. */
int32_t qs_forced_bytes(ge_engine *e, u32 config, u8 *out, size_t capacity, size_t *n_out, bool warm_only, ge_err *err);
/* Whether the closing takes at most so many tokens. */
int32_t qs_closes_within(ge_engine *e, u32 config, size_t left, bool *closes, bool warm_only, ge_err *err);

/* As ge_matcher_closing and so on, of a text that has not ended, without the token that ends it. */
ge_status qs_closing(ge_engine *e, u32 config, u8 *out, size_t capacity, size_t *n_out, ge_err *err);
ge_status qs_closing_tokens(ge_engine *e, u32 config, u32 *out, size_t capacity, size_t *n_out, ge_err *err);
ge_status qs_closing_within(ge_engine *e, u32 config, u32 most, u32 *out, size_t *n_out, ge_err *err);

typedef struct qs_expectation { /* as ge_matcher_expected */
    u32 *live, *lexemes, *nonterminals;
    size_t capacity, n_lexemes, n_nonterminals;
} qs_expectation;

ge_status qs_expected(ge_engine *e, u32 config, qs_expectation *out, ge_err *err);

#endif
