#include "base/alloc.h"
#include "shim/shim.h"

/* git's global options, as git's own git.c reads them. No verb follows an option that is not listed, or that
 * makes git print something and exit (--version, --html-path, --exec-path without a value). */
enum form { ALONE, NEXT /* -C DIR */, BOTH /* --git-dir DIR, --git-dir=DIR */, JOINED /* --exec-path=DIR */ };
static const struct {
	const char *name;
	enum form form;
} options[] = {
	{ "-C", NEXT },
	{ "-c", NEXT },
	{ "-p", ALONE },
	{ "-P", ALONE },
	{ "--paginate", ALONE },
	{ "--no-pager", ALONE },
	{ "--git-dir", BOTH },
	{ "--work-tree", BOTH },
	{ "--namespace", BOTH },
	{ "--super-prefix", BOTH },
	{ "--config-env", BOTH },
	{ "--attr-source", BOTH },
	{ "--exec-path", JOINED },
	{ "--shallow-file", NEXT },
	{ "--bare", ALONE },
	{ "--no-replace-objects", ALONE },
	{ "--no-lazy-fetch", ALONE },
	{ "--no-optional-locks", ALONE },
	{ "--no-advice", ALONE },
	{ "--literal-pathspecs", ALONE },
	{ "--no-literal-pathspecs", ALONE },
	{ "--glob-pathspecs", ALONE },
	{ "--noglob-pathspecs", ALONE },
	{ "--icase-pathspecs", ALONE },
};

int words_option(int argc, char *const *argv, int i, const char **ret_value)
{
	*ret_value = NULL;
	for (size_t k = 0; i < argc && k < ARRAY_SIZE(options); k++) {
		size_t n = strlen(options[k].name);
		enum form form = options[k].form;

		if (strncmp(argv[i], options[k].name, n) != 0)
			continue;
		if (argv[i][n] == '=' && (form == BOTH || form == JOINED)) {
			*ret_value = argv[i] + n + 1;
			return 1;
		}
		if (argv[i][n])
			continue;
		if (form == ALONE)
			return 1;
		if (form == JOINED || i + 1 >= argc)
			return 0;
		*ret_value = argv[i + 1];
		return 2;
	}
	return 0;
}

static bool is_option(const char *word, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(word, name, n) && (!word[n] || word[n] == '=');
}

void words_parse(int argc, char *const *argv, struct words *ret)
{
	int i = 1, n;
	const char *value;

	memset(ret, 0, sizeof(*ret));
	while ((n = words_option(argc, argv, i, &value))) {
		if (is_option(argv[i], "--git-dir"))
			ret->git_dir = value;
		else if (is_option(argv[i], "--work-tree"))
			ret->work_tree = value;
		else if (!strcmp(argv[i], "--bare"))
			ret->bare = true;
		i += n;
	}
	if (i < argc && argv[i][0] != '-')
		ret->verb = i;
}
