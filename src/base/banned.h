/*
 * Makes unsafe functions fail to compile: unbounded copies, shell strings, temporary names that can be
 * guessed. The build includes this header before every file.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GARTH_ALLOW_BANNED
#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok tmpnam mktemp tempnam
#pragma GCC poison system popen
#endif

#endif
