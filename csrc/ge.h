/* Guard, standard types and visibility around the public header. */
#ifndef GE_H
#define GE_H

#include <stddef.h>
#include <stdint.h>

#include "include/ge_api.h"

/* What a turn of a decoding loop runs through where all is known. The compiler puts these functions side
 * by side: after a forward pass they are in no cache, and in fewer pages there is less to be looked up. */
#define GE_HOT __attribute__((hot))

#endif
