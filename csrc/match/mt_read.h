/* What a step of a matcher is, and what comes after it: see mt_read.c. */
#ifndef GE_MT_READ_H
#define GE_MT_READ_H

#include "../engine/en.h"

typedef struct mt_step {
    int64_t token;  /* or -1 - n: n bytes of text */
    u32 config;     /* after it */
    u32 ended : 1;  /* a token that ends a text was accepted */
    u32 spare : 31; /* characters that may come beyond those for which `config` has room (engine/cf_clamp.c) */
} mt_step;

typedef struct mt_ends { /* the tokens that end a text, where it is a sentence; elsewhere they are what they spell */
    const u32 *at;
    u32 n;
} mt_ends;

static inline bool mt_is_end(mt_ends ends, u64 token) {
    for (u32 i = 0; i < ends.n; i++)
        if (ends.at[i] == token) return true;
    return false;
}

/* The step of one more token. False: refused, or failed (then err->status is set), or with warm_only not known (to->config is NONE). */
bool mt_read_token(ge_engine *e, mt_ends ends, mt_step from, int64_t token, mt_step *to, bool warm_only, ge_err *err);

/* The step of `n` bytes of text; *n_read of them are read. False: refused, or failed (then err->status is set). */
bool mt_read_text(ge_engine *e, mt_step from, const u8 *bytes, size_t n, mt_step *to, size_t *n_read, ge_err *err);

/* The configuration itself, where a clamped one stands for it. NONE: failure, err is filled. */
u32 mt_unclamped(ge_engine *e, mt_step at, ge_err *err);

#endif
