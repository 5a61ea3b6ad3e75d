/* The patterns of a sparse checkout in cone mode, as git writes them. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "merge/sparse.h"

static bool parse(const char *text, struct cone *ret)
{
	char *copy = strdup(text);
	bool ok = cone_parse(copy, ret);

	free(copy);
	return ok;
}

static void takes_directories(void **state)
{
	struct cone c;

	(void)state;
	assert_true(parse("/*\n!/*/\n/a/\n!/a/*/\n/a/b/\n/odd\\*/\n", &c));
	assert_true(cone_has(&c, "top"));
	assert_true(cone_has(&c, "a/file"));
	assert_false(cone_has(&c, "a/c/file"));
	assert_true(cone_has(&c, "a/b/file"));
	assert_true(cone_has(&c, "a/b/c/d/file"));
	assert_false(cone_has(&c, "a/bc/file"));
	assert_false(cone_has(&c, "other/file"));
	assert_true(cone_has(&c, "odd*/x/file"));
	cone_release(&c);
	assert_true(parse("/*\n!/*/\n", &c));
	assert_true(cone_has(&c, "top"));
	assert_false(cone_has(&c, "a/file"));
	cone_release(&c);
}

static void leaves_other_patterns(void **state)
{
	static const char *const texts[] = { "", "/*\n", "/dir/\n", "/*\n!/*/\n*.c\n", "/*\n!/*/\n!/a/*/\n",
		"/*\n!/*/\n/a/\n!/b/*/\n", "!/*/\n/*\n", "/*\n!/*/\n/a*/\n", "/*\n!/*/\n//\n" };
	struct cone c;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(parse(texts[i], &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(takes_directories),
		cmocka_unit_test(leaves_other_patterns) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
