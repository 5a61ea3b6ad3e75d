/* cmocka with what it needs before it, and a scratch directory for tests that touch files. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
