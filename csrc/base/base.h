/* base: budgets, vectors, bit tricks. Everything below is built on these.
 *
 * Idea. All memory of one grammar or engine is counted in one *budget*, which also counts the work of the call at hand and remembers
 * the first failure. A failure is *sticky*: after it every allocation is refused until the owner clears it at the start of the next
 * operation, so code checks once, where it would publish a result.
 *
 * Invariant: bytes == sum of the sizes of all live blocks that were resized through this budget.
 *
 * Ids are uint32_t; NONE (all ones) is never a valid id. */
#ifndef GE_BASE_H
#define GE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../ge.h"

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "big-endian machines are not supported"
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define NONE UINT32_MAX

/* Index of a field of ge_limits, as reported in ge_err.limit. */
#define LIMIT(field) ((u32)(offsetof(ge_limits, field) / sizeof(u64)))

typedef struct budget {
    ge_limits limits;
    size_t bytes;     /* held now */
    u64 work;         /* spent by the operation at hand */
    u64 fail_after;   /* tests: the allocation with this number fails; 0 = none */
    ge_status status; /* first failure of the operation at hand */
    u32 limit;        /* GE_E_LIMIT: which */
    u32 symbol;       /* of the IR, that is worked on, for the report; NONE: none in particular */
    u32 ceiling;      /* GE_E_LIMIT: what was reached is this, which is fixed; 0: the limit itself */
} budget;

void budget_init(budget *b, const ge_limits *limits);
void budget_init_unlimited(budget *b); /* to count, where another budget bounds */
void budget_begin(budget *b);                /* a new operation: clears status and work */
bool budget_fail(budget *b, ge_status s);    /* records the first failure; returns false */
bool budget_limit(budget *b, u32 limit);     /* the limit with this index is reached; returns false */
bool budget_ceiling(budget *b, u32 limit, u32 ceiling); /* the same of what is fixed, however high that limit is */
bool budget_work(budget *b, u64 amount);     /* false when the operation has used up max_step_work */
/* A part of the operation that is given up after so much work. At its end, true: it was, and nothing has failed. */
typedef struct budget_part {
    u64 most, enough;
} budget_part;
budget_part budget_begin_part(budget *b, u64 amount);
bool budget_end_part(budget *b, budget_part part);
ge_status budget_report(const budget *b, ge_err *err); /* fills err; returns the status */
ge_status err_set(ge_err *err, ge_status status, const char *text); /* an error that is none of the budget; returns status */
/* Appends bytes to err->text in hexadecimal, as many as fit between `at` and `end`; returns where they end. No NUL is put there. */
size_t err_add_hex(ge_err *err, size_t at, size_t end, const u8 *bytes, size_t n);

/* realloc with both sizes; new_size 0 frees. NULL on failure (sticky), the old block is then untouched. The block is one of
 * malloc. */
void *mem_resize(budget *b, void *block, size_t old_size, size_t new_size);
/* The same for blocks that grow: a large one is not copied where the system can move its pages. Only for this function, never for free. */
void *mem_move(budget *b, void *block, size_t old_size, size_t new_size);

/* Growable array. Elements may move: hold ids, not pointers. */
#define VEC(type)  \
    struct {       \
        type *at;  \
        u32 n;     \
        u32 cap;   \
    }

bool vec_grow(budget *b, void **at, u32 *cap, u64 need, size_t element);
bool vec_shrink(budget *b, void **at, u32 *cap, u32 n, size_t element);

#define vec_reserve(b, v, extra) \
    ((u64)(v)->n + (extra) <= (v)->cap || vec_grow((b), (void **)&(v)->at, &(v)->cap, (u64)(v)->n + (extra), sizeof *(v)->at))
#define vec_push(b, v, x) (vec_reserve((b), (v), 1) && ((v)->at[(v)->n++] = (x), true))
/* So that element i exists: all bits of those that are new are set. */
#define vec_reach(b, v, i)                                                                            \
    ((v)->n > (i) || (vec_reserve((b), (v), (i) + 1 - (v)->n) &&                                      \
                      (memset((v)->at + (v)->n, 0xff, ((i) + 1 - (v)->n) * sizeof *(v)->at), (v)->n = (i) + 1, true)))
#define vec_drop(b, v) \
    ((void)mem_move((b), (v)->at, (v)->cap * sizeof *(v)->at, 0), (v)->at = NULL, (v)->n = 0, (v)->cap = 0)
/* Gives back the room behind the last element; a vector of none keeps its room. */
#define vec_fit(b, v) ((v)->n == 0 || vec_shrink((b), (void **)&(v)->at, &(v)->cap, (v)->n, sizeof *(v)->at))
#define vec_bytes(v) ((v)->cap * sizeof *(v)->at)

/* Deep copy of a vector into an empty one, which may grow by half before it is moved. */
#define vec_copy(b, to, from)                                                                         \
    (vec_reserve((b), (to), (u64)(from)->n + (from)->n / 2) &&                                        \
     ((from)->n ? (void)memcpy((to)->at, (from)->at, (from)->n * sizeof *(from)->at) : (void)0,       \
      (to)->n = (from)->n, true))

typedef VEC(u32) id_vec;
typedef VEC(u8) byte_vec;

static inline u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }
static inline u32 max_u32(u32 a, u32 b) { return a > b ? a : b; }
static inline u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }
static inline int compare_u32(const void *a, const void *b) { /* for qsort, bsearch */
    u32 p = *(const u32 *)a, q = *(const u32 *)b;
    return p < q ? -1 : p > q;
}

/* --- sets of bytes (256 bits in 8 words) ------------------------------------------------------------------------------- */

typedef struct byte_set {
    u32 w[8];
} byte_set;

static inline bool set_has(const byte_set *s, u32 byte) { return s->w[byte >> 5] >> (byte & 31) & 1; }
static inline void set_add(byte_set *s, u32 byte) { s->w[byte >> 5] |= (u32)1 << (byte & 31); }
static inline void set_unite(byte_set *s, const byte_set *more) {
    for (u32 i = 0; i < 8; i++) s->w[i] |= more->w[i];
}
static inline void set_remove(byte_set *s, const byte_set *less) {
    for (u32 i = 0; i < 8; i++) s->w[i] &= ~less->w[i];
}
static inline bool set_is_empty(const byte_set *s) {
    u32 all = 0;
    for (u32 i = 0; i < 8; i++) all |= s->w[i];
    return all == 0;
}
static inline bool set_meets(const byte_set *s, const byte_set *other) {
    u32 both = 0;
    for (u32 i = 0; i < 8; i++) both |= s->w[i] & other->w[i];
    return both != 0;
}
/* Without a call, which the compiler makes where it may not assume an instruction for it. (Warren, Hacker's Delight, 5-1.) */
static inline u32 count_bits(u64 w) {
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    return (u32)(((w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}
void set_add_range(byte_set *s, u32 low, u32 high);
u32 set_count(const byte_set *s);

static inline u64 mix_u64(u64 x) { /* finaliser of splitmix64 (Steele, Lea, Flood 2014) */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
