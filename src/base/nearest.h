/*
 * Finds the word that was probably meant by a mistyped one, for messages. Nothing is ever done by guess.
 *
 *	struct nearest near = { .typed = "bsae" };
 *	nearest_try(&near, "base", 4);
 *	nearest_try(&near, "backend", 7);
 *	err_set(e, ERR_USAGE, "unknown option '--bsae'%s", nearest_text(&near, meant));
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_TEXT_MAX 128

struct nearest {
	const char *typed;
	/* set by nearest_try: the nearest word so far, or NULL; its length and distance */
	const char *word;
	size_t len, distance;
};

/* Changes from one word to the other: a letter more, less, different, or two letters exchanged. SIZE_MAX if
 * one of them is long. */
size_t nearest_distance(const char *a, size_t na, const char *b, size_t nb);

/* Takes a known word if it is near: one change away, for words of six letters and more two. So is a word that
 * begins with what was typed, if that is three letters or more. The first of equally near ones stays. The
 * word must live as long as the struct. */
void nearest_try(struct nearest *n, const char *word, size_t len);

/* " (is 'base' meant?)", or "" if no word is near. Returns out. */
const char *nearest_text(const struct nearest *n, char out[NEAREST_TEXT_MAX]);
/* The same for a list of words that ends with NULL. */
const char *nearest_of(const char *typed, const char *const *words, char out[NEAREST_TEXT_MAX]);

#endif
