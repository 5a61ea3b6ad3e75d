/* A growing array of strings that it owns. It ends in NULL, so `v.v` can be an argv. */
#ifndef BASE_STRVEC_H
#define BASE_STRVEC_H

#include <stdbool.h>
#include <stddef.h>

struct strvec {
	char **v; /* never NULL after the first push; see strvec_argv */
	size_t n, cap;
};

#define STRVEC_INIT                                                                                          \
	{                                                                                                    \
		0                                                                                            \
	}

void strvec_release(struct strvec *v);
#define auto_strvec __attribute__((cleanup(strvec_release))) struct strvec

void strvec_push(struct strvec *v, const char *s);
void strvec_pushn(struct strvec *v, const char *s, size_t n);
void strvec_pushf(struct strvec *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All arguments up to a NULL. */
void strvec_pushl(struct strvec *v, ...) __attribute__((sentinel));
/* All strings of a NULL-terminated array, which may be NULL. */
void strvec_pushv(struct strvec *v, const char *const *strings);
bool strvec_has(const struct strvec *v, const char *s);
void strvec_sort(struct strvec *v);
/* The array itself, never NULL. */
char **strvec_argv(struct strvec *v);

#endif
