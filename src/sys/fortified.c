/*
 * The system's static libraries are built for glibc and call its checked variants of some functions. In
 * programs that are built with musl, these variants are the plain functions.
 */
#include <stdarg.h>
#include <stdio.h>

int __fprintf_chk(FILE *f, int flag, const char *format, ...);

int __fprintf_chk(FILE *f, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = vfprintf(f, format, args);
	va_end(args);
	return n;
}
