/* Guard, standard types and visibility around the public header. */
#ifndef GE_H
#define GE_H

#include <stddef.h>
#include <stdint.h>

#include "include/ge_api.h"

#endif
