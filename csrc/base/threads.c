#include "threads.h"

void team_begin(thread_team *team, u32 n, size_t stack_bytes, void *(*run)(void *), void *argument, size_t size) {
    pthread_attr_t attributes;
    u32 most = min_u32(n, THREADS_MOST - 1 - team->n);
    if (pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    for (u32 i = 0; i < most && pthread_create(&team->at[team->n], &attributes, run, (char *)argument + i * size) == 0; i++) team->n++;
    (void)pthread_attr_destroy(&attributes);
}

void team_join(thread_team *team) {
    for (; team->n; team->n--) (void)pthread_join(team->at[team->n - 1], NULL);
}
