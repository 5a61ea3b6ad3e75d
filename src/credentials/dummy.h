/*
 * Dummies: values that a task has in place of the user's secrets. A dummy has the length and the form of its secret,
 * because clients check those (sk-ant-…, three parts of a JSON web token), but none of its random part.
 *
 * A JSON web token keeps header and claims, which clients read, and gets another signature. Other secrets keep
 * the prefix that names their kind. A short secret gets a longer dummy: each has 128 random bits.
 *
 * Each dummy contains a mark, so a dummy that is left in a task's file is not mistaken for the agent's own log-in.
 */
#ifndef CREDENTIALS_DUMMY_H
#define CREDENTIALS_DUMMY_H

#include <stdbool.h>
#include <stddef.h>

#define DUMMY_KEY_LEN 32
#define DUMMY_MARK    "GarthDummy"

/* The dummy for a secret; the caller frees it. The same key and secret give the same dummy, so that a resumed task
 * finds the dummies that it had before. The key stays outside. */
char *dummy_of(const unsigned char key[DUMMY_KEY_LEN], const char *secret);
/* Whether a text has a dummy in it. */
bool dummy_in(const char *text, size_t len);

#endif
