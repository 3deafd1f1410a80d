/* Threads that are begun within a call and have ended when it returns. The core keeps none between calls.
 *
 * One that the system does not give is done without: the caller sees how many there are, and does the work of the others itself. */
#ifndef GE_THREADS_H
#define GE_THREADS_H

#include <pthread.h>

#include "base.h"

enum { THREADS_MOST = 64 }; /* at once, the calling thread counted */

typedef struct thread_team {
    pthread_t at[THREADS_MOST - 1];
    u32 n; /* begun */
} thread_team;

/* Begins up to n threads more, all with the same argument, or each with that behind the one before it, `size` bytes apart. */
void team_begin(thread_team *team, u32 n, size_t stack_bytes, void *(*run)(void *), void *argument, size_t size);
void team_join(thread_team *team);

#endif
