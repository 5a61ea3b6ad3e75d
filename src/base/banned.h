/*
 * Calls that have no place in this code base. Included before every file by the build, so that using one
 * fails to compile: unbounded copies, shell strings, paths resolved behind our back.
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
