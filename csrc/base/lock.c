#include "lock.h"

static pthread_mutex_t locks_lock = PTHREAD_MUTEX_INITIALIZER;
static ge_lock *locks_of[LOCK_RANKS]; /* all that there are */
static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;

static void take_all(void) {
    (void)pthread_mutex_lock(&locks_lock);
    for (int rank = 0; rank < LOCK_RANKS; rank++)
        for (ge_lock *lock = locks_of[rank]; lock; lock = lock->next) lock_take(lock);
}

static void release_all(void) {
    for (int rank = 0; rank < LOCK_RANKS; rank++)
        for (ge_lock *lock = locks_of[rank]; lock; lock = lock->next) lock_release(lock);
    (void)pthread_mutex_unlock(&locks_lock);
}

static void watch_forks(void) { (void)pthread_atfork(take_all, release_all, release_all); }

int lock_init(ge_lock *lock, lock_rank rank) {
    (void)pthread_once(&forks_are_watched, watch_forks);
    int error = pthread_mutex_init(&lock->mutex, NULL);
    if (error) return error;
    (void)pthread_mutex_lock(&locks_lock);
    lock->next = locks_of[rank];
    lock->link = &locks_of[rank];
    if (lock->next) lock->next->link = &lock->next;
    locks_of[rank] = lock;
    (void)pthread_mutex_unlock(&locks_lock);
    return 0;
}

void lock_drop(ge_lock *lock) {
    (void)pthread_mutex_lock(&locks_lock);
    *lock->link = lock->next;
    if (lock->next) lock->next->link = lock->link;
    (void)pthread_mutex_unlock(&locks_lock);
    (void)pthread_mutex_destroy(&lock->mutex);
}
