/* Between threads: a mutex, and a count of owners. POSIX threads are known in base/ only: here, and in threads.h.
 *
 * A process that is forked has one thread, and what others were about to change would stay half changed there, under locks that nobody
 * releases. So a fork waits until all locks are free, and has them all until it is done: those of one rank in any order, as no thread has
 * two of them, and then those of the next. */
#ifndef GE_LOCK_H
#define GE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What may be taken while a lock of a rank is held: those of later ones. None is made or dropped then. */
typedef enum lock_rank { LOCK_ENGINE, LOCK_VOCAB, LOCK_RANKS } lock_rank;

typedef struct ge_lock {
    pthread_mutex_t mutex;
    struct ge_lock *next, **link; /* of those of the same rank: what points to this */
} ge_lock;

int lock_init(ge_lock *lock, lock_rank rank); /* 0, or an error */
void lock_drop(ge_lock *lock);
static inline void lock_take(ge_lock *lock) { (void)pthread_mutex_lock(&lock->mutex); }
static inline void lock_release(ge_lock *lock) { (void)pthread_mutex_unlock(&lock->mutex); }

/* An object that several others own: whoever gives up the last share frees it. A new object has count 0 and one owner. */
typedef unsigned _Atomic ge_shares;

static inline void share_take(ge_shares *others) { atomic_fetch_add(others, 1); }
static inline bool share_drop(ge_shares *others) { return atomic_fetch_sub(others, 1) == 0; } /* true: it was the last */

#endif
