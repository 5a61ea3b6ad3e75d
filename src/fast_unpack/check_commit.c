#include <string.h>

#include "fast_unpack/fast_unpack.h"

/* An ordinary commit has one parent or two, an octopus merge some more. */
#define PARENTS_MAX 16
/* Enough until the year 2286. */
#define DATE_DIGITS_MAX 10

struct text {
	const char *at, *end;
};

static bool take(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

/* Takes all characters for which `is` is true; returns how many. */
static size_t span(struct text *t, bool (*is)(unsigned char))
{
	const char *start = t->at;

	while (t->at < t->end && is((unsigned char)*t->at))
		t->at++;
	return (size_t)(t->at - start);
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_of_name(unsigned char c)
{
	return c >= ' ' && c != 0x7f && c != '<' && c != '>';
}

static bool is_zero(unsigned char c)
{
	return c == '0';
}

/* "KEY <id>\n", where the id is not all zeros */
static bool take_id(struct text *t, const char *key, size_t hash_len)
{
	size_t zeros;

	if (!take(t, key))
		return false;
	zeros = span(t, is_zero);
	return zeros < 2 * hash_len && zeros + span(t, is_hex) == 2 * hash_len && take(t, "\n");
}

/* "1700000000 +0100\n", without leading zeros */
static bool take_date(struct text *t)
{
	const char *start = t->at;
	size_t digits = span(t, is_digit);

	if (!digits || digits > DATE_DIGITS_MAX || (*start == '0' && digits > 1))
		return false;
	return (take(t, " +") || take(t, " -")) && span(t, is_digit) == 4 && take(t, "\n");
}

/* "KEY Name <mail> DATE\n" */
static bool take_person(struct text *t, const char *key)
{
	if (!take(t, key) || span(t, is_of_name) < 2 || t->at[-1] != ' ' || t->at[-2] == ' ' || !take(t, "<"))
		return false;
	span(t, is_of_name);
	return take(t, "> ") && take_date(t);
}

bool plain_commit(const char *data, size_t len, size_t hash_len)
{
	struct text t = { data, data + len };

	if (memchr(data, 0, len) || !take_id(&t, "tree ", hash_len))
		return false;
	for (int i = 0; i < PARENTS_MAX && take_id(&t, "parent ", hash_len); i++)
		;
	return take_person(&t, "author ") && take_person(&t, "committer ") && take(&t, "\n");
}
