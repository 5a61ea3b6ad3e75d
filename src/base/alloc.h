/*
 * Allocation that never returns NULL: if there is no memory, the process aborts. Every allocation is small
 * and bounded by its caller, so a failure means that the machine is out of memory.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

typedef char *alloc_str; /* so that one declaration can hold several */
void free_charp(char **p);
#define auto_str __attribute__((cleanup(free_charp))) alloc_str

/* Returns the pointer and sets the variable to NULL, so that the scope does not free it. */
#define steal_ptr(p)                                                                                         \
	({                                                                                                   \
		__typeof__(p) steal_ptr_ = (p);                                                              \
		(p) = NULL;                                                                                  \
		steal_ptr_;                                                                                  \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
