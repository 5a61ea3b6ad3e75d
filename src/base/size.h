/* Sizes as text, in the units of the configuration: 1 KB is 1024 bytes. Counts as text. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdint.h>

#define SIZE_TEXT_MAX  32
#define COUNT_TEXT_MAX 32

/* "17 bytes", "1.5 KB", "20.0 GB". Returns out. */
const char *size_text(uint64_t bytes, char out[SIZE_TEXT_MAX]);
/* The size, rounded up, in the form that the configuration accepts: "17", "2MB", "20GB". Returns out. */
const char *size_option(uint64_t bytes, char out[SIZE_TEXT_MAX]);
/* "1,489". Returns out. */
const char *count_text(uint64_t n, char out[COUNT_TEXT_MAX]);

#endif
