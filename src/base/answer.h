/* The version number in every JSON answer, of commands and of `garth serve`. See docs/JSON.md. */
#ifndef BASE_ANSWER_H
#define BASE_ANSWER_H

#define ANSWER_VERSION 2

#endif
