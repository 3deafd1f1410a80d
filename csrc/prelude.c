/* What the generated glue includes before everything else. */
#include "ge.h"
