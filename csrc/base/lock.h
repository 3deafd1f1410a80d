/* Between threads: a mutex, and a count of owners. POSIX threads are known in base/ only: here, and in threads.h. */
#ifndef GE_LOCK_H
#define GE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef pthread_mutex_t ge_lock;

static inline int lock_init(ge_lock *lock) { return pthread_mutex_init(lock, NULL); }
static inline void lock_drop(ge_lock *lock) { (void)pthread_mutex_destroy(lock); }
static inline void lock_take(ge_lock *lock) { (void)pthread_mutex_lock(lock); }
static inline void lock_release(ge_lock *lock) { (void)pthread_mutex_unlock(lock); }

/* An object that several others own: whoever gives up the last share frees it. A new object has count 0 and one owner. */
typedef unsigned _Atomic ge_shares;

static inline void share_take(ge_shares *others) { atomic_fetch_add(others, 1); }
static inline bool share_drop(ge_shares *others) { return atomic_fetch_sub(others, 1) == 0; } /* true: it was the last */

#endif
