/* Times as the configuration and options have them: 90, 90s, 15m, 2h, 1d. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_EXAMPLES "90s, 15m, 2h or 1d"

/* Sets *ret to the seconds. False if the text is no such time. */
bool duration_parse(const char *text, uint64_t *ret);

#endif
