/* Any command line and any table of the user's: read within its bounds, and judged like nothing or like a
 * verb that stands there. Input: overrides, branch, target and then the words, each ended by a NUL. */
#include <stdint.h>

#include "base/alloc.h"
#include "shim/shim.h"

#define WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In an allocation of its own each, so that a read beyond a word's end is seen. */
static int split(const char *text, size_t size, char **words, int max)
{
	int n = 0;

	while (size && n < max) {
		const char *end = memchr(text, '\0', size);
		size_t len = end ? (size_t)(end - text) : size;

		words[n++] = xstrndup(text, len);
		text += len + (end != NULL);
		size -= len + (end != NULL);
	}
	return n;
}

static void check(int argc, char **argv, const char *overrides, const char *branch, const char *target)
{
	struct verdict v;
	struct words w;
	const char *value;

	words_parse(argc, argv, &w);
	if (w.verb < 0 || w.verb >= argc || (w.verb && argv[w.verb][0] == '-'))
		abort();
	for (int i = 1, n; (n = words_option(argc, argv, i, &value)); i += n)
		if (i + n > argc || (w.verb && i >= w.verb))
			abort();
	git_rules_look(argc, argv, &w, overrides, branch, target, &v);
	if ((!w.verb && v.rule != RULE_LOCAL) || (v.rule == RULE_BLOCKED) != (v.message[0] != '\0'))
		abort();
	if (v.doubt && (v.rule != RULE_BLOCKED || v.doubt <= w.verb || v.doubt >= argc))
		abort();
	if (v.rule == RULE_GATEWAY && (!v.route || strpbrk(v.route, "/ \r\n.?")))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS + 4] = { 0 }, *argv[WORDS + 2] = { (char *)"git" };
	int n = split((const char *)data, size, words, WORDS + 3);

	for (int i = 3; i < n; i++)
		argv[i - 2] = words[i];
	check(n > 3 ? n - 2 : 1, argv, n > 0 ? words[0] : "", n > 1 ? words[1] : "", n > 2 ? words[2] : "");
	for (int i = 0; i < n; i++)
		free(words[i]);
	return 0;
}
