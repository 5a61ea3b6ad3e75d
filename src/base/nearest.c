#include "base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t nearest_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];

	if (na > WORD_MAX || nb > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		above[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *reused = before;

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] =
				min(min(above[j] + 1, row[j - 1] + 1), above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = reused;
	}
	return above[nb];
}

void nearest_try(struct nearest *n, const char *word, size_t len)
{
	size_t typed = strlen(n->typed);
	size_t limit = typed >= 6 || len >= 6 ? 2 : 1;
	size_t d = nearest_distance(n->typed, typed, word, len);
	bool begins = typed >= 3 && typed < len && !strncmp(n->typed, word, typed);

	if (begins)
		d = min(d, limit);
	/* words that have nothing in common are as far apart as they are long */
	if (d > limit || d >= len || d >= typed + begins)
		return;
	if (n->word && n->distance <= d)
		return;
	n->word = word;
	n->len = len;
	n->distance = d;
}

const char *nearest_text(const struct nearest *n, char out[NEAREST_TEXT_MAX])
{
	*out = '\0';
	if (n->word)
		snprintf(out, NEAREST_TEXT_MAX, " (is '%.*s' meant?)", (int)n->len, n->word);
	return out;
}

const char *nearest_of(const char *typed, const char *const *words, char out[NEAREST_TEXT_MAX])
{
	struct nearest n = { .typed = typed };

	for (; *words; words++)
		nearest_try(&n, *words, strlen(*words));
	return nearest_text(&n, out);
}
