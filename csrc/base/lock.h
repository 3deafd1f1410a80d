/* A mutex. POSIX threads; the only place that knows. */
#ifndef GE_LOCK_H
#define GE_LOCK_H

#include <pthread.h>

typedef pthread_mutex_t ge_lock;

static inline int lock_init(ge_lock *lock) { return pthread_mutex_init(lock, NULL); }
static inline void lock_drop(ge_lock *lock) { (void)pthread_mutex_destroy(lock); }
static inline void lock_take(ge_lock *lock) { (void)pthread_mutex_lock(lock); }
static inline void lock_release(ge_lock *lock) { (void)pthread_mutex_unlock(lock); }

#endif
