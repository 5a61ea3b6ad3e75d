#include "base/alloc.h"
#include "shim/shim.h"

/* A command line that is checked against one row. */
struct look {
	int argc, first; /* the verb's arguments are argv[first] up to argc */
	char *const *argv;
	const char *branch, *target; /* short names */
	const char *message, *instead;
};

typedef enum rule look_fn(struct look *l, struct verdict *v);
static look_fn look_checkout, look_switch, look_merge, look_remote, look_reading, look_submodule;

struct row {
	const char *verb;
	enum rule rule;
	bool moves;
	const char *route;
	look_fn *look; /* if the arguments decide */
	const char *message, *instead;
};

#define NOT_HERE "{verb} is not available in a task"
#define STAY     "a task stays on its own branch, {branch}"
#define STAY_DO                                                                                              \
	"continue on {branch}; git show REV:FILE and git diff REV show what another has, git worktree add "  \
	"--detach DIR REV checks it out beside"

/* Verbs that are not listed go to the real git: they read, or change only files, the
 * index and private refs. */
static const struct row rows[] = {
	{ "commit", RULE_ROUTED, true, NULL, NULL, NOT_HERE, "" },
	{ "reset", RULE_ROUTED, true, "reset", NULL, NOT_HERE, "" },
	{ "merge", RULE_ROUTED, true, "merge", look_merge, "merging {target} into a task is the user's to do",
		"continue on {branch}; the user brings {target} in with garth sync" },
	{ "checkout", RULE_ROUTED, false, "checkout", look_checkout, STAY, STAY_DO },
	{ "switch", RULE_ROUTED, false, "checkout", look_switch, STAY, STAY_DO },
	{ "cherry-pick", RULE_ROUTED, true, NULL, NULL, NOT_HERE, "" },
	{ "revert", RULE_ROUTED, true, NULL, NULL, NOT_HERE, "" },
	{ "am", RULE_ROUTED, true, NULL, NULL, NOT_HERE, "" },
	{ "push", RULE_GATEWAY, false, "push", NULL, NOT_HERE, "commit on {branch}: that publishes it" },
	{ "fetch", RULE_GATEWAY, false, "fetch", look_reading, NOT_HERE, "" },
	{ "pull", RULE_GATEWAY, true, "fetch", look_reading, NOT_HERE, "" },
	{ "ls-remote", RULE_GATEWAY, false, "fetch", look_reading, NOT_HERE, "" },
	{ "remote", RULE_GATEWAY, false, "fetch", look_remote, NOT_HERE, "" },
	{ "rebase", RULE_BLOCKED, true, NULL, NULL, NOT_HERE,
		"commit on {branch} as it is; the user rebases when merging (garth sync brings {target} in)" },
	{ "stash", RULE_BLOCKED, false, NULL, NULL, NOT_HERE,
		"commit on {branch} what is to be kept, and take the rest back with git restore" },
	{ "submodule", RULE_BLOCKED, false, NULL, look_submodule, NOT_HERE,
		"work without it, or ask the user to give the task the submodule" },
};

/* git accepts an abbreviation of a long option that is unique: "--det" for "--detach". */
static bool is_long(const char *arg, const char *name, size_t least)
{
	size_t n = strcspn(arg, "=");

	return n >= least && n <= strlen(name) && !strncmp(arg, name, n);
}

struct switching {
	bool another; /* creates a branch, or detaches HEAD */
	bool files;
	int word, words; /* the first argument that is not an option, and how many there are */
	bool dashes;     /* there is a "--" after the revisions */
	int behind;      /* number of words after it */
};

static void long_option(const char *arg, int *i, struct switching *s)
{
	if (is_long(arg, "--detach", 4) || is_long(arg, "--orphan", 4) || is_long(arg, "--track", 4) ||
		is_long(arg, "--create", 4) || is_long(arg, "--force-create", 8))
		s->another = true;
	else if (is_long(arg, "--patch", 6) || is_long(arg, "--ours", 4) || is_long(arg, "--theirs", 4) ||
		 is_long(arg, "--pathspec-from-file", 7))
		s->files = true;
	else if (is_long(arg, "--conflict", 5) && !strchr(arg, '='))
		++*i;
}

/* `making` and `files` are the option letters that create a branch, and those that mean files. */
static void read_switching(const struct look *l, const char *making, const char *files, struct switching *s)
{
	for (int i = l->first; i < l->argc; i++) {
		const char *arg = l->argv[i];

		if (!strcmp(arg, "--")) {
			s->dashes = true;
			s->behind = l->argc - i - 1;
			return;
		}
		if (!strncmp(arg, "--", 2)) {
			long_option(arg, &i, s);
		} else if (arg[0] == '-' && arg[1]) {
			s->another |= strpbrk(arg + 1, making) != NULL;
			s->files |= strpbrk(arg + 1, files) != NULL;
		} else if (!s->words++) {
			s->word = i;
		}
	}
}

static bool is_own(const char *word, const char *branch)
{
	if (!strncmp(word, "refs/", 5))
		word += 5;
	if (!strncmp(word, "heads/", 6))
		word += 6;
	return *branch && !strcmp(word, branch);
}

static enum rule look_checkout(struct look *l, struct verdict *v)
{
	struct switching s = { 0 };

	read_switching(l, "bBdt", "p23", &s);
	if (s.another)
		return RULE_BLOCKED;
	if (!s.words || s.words > 1 || s.files || s.behind)
		return RULE_LOCAL;
	if (is_own(l->argv[s.word], l->branch))
		return RULE_ROUTED;
	if (!strcmp(l->argv[s.word], "HEAD") || !strcmp(l->argv[s.word], "@"))
		return RULE_LOCAL;
	if (!s.dashes && strcmp(l->argv[s.word], "-") != 0)
		v->doubt = s.word;
	return RULE_BLOCKED;
}

static enum rule look_switch(struct look *l, struct verdict *v)
{
	struct switching s = { 0 };

	(void)v;
	read_switching(l, "cCdt", "", &s);
	if (s.another)
		return RULE_BLOCKED;
	if (!s.words)
		return RULE_LOCAL;
	return is_own(l->argv[s.word], l->branch) ? RULE_ROUTED : RULE_BLOCKED;
}

/* The target's names: "main", "origin/main", "refs/remotes/x/main", "main^0". */
static bool is_target(const char *word, const char *target)
{
	size_t n = strcspn(word, "^~"), len = strlen(target);
	const char *at = strstr(word, "@{");
	bool remote = false;

	if (at && (size_t)(at - word) < n)
		n = (size_t)(at - word);
	if (n > 5 && !strncmp(word, "refs/", 5))
		word += 5, n -= 5;
	if (n > 6 && !strncmp(word, "heads/", 6)) {
		word += 6, n -= 6;
	} else if (n > 8 && !strncmp(word, "remotes/", 8)) {
		word += 8, n -= 8;
		remote = true;
	}
	if (remote || !strncmp(word, "origin/", 7) || !strncmp(word, "upstream/", 9) ||
		!strncmp(word, "local/", 6)) {
		const char *slash = memchr(word, '/', n);

		n = slash ? n - (size_t)(slash + 1 - word) : 0;
		word = slash ? slash + 1 : word;
	}
	return len && n == len && !memcmp(word, target, n);
}

/* Whether the option's value is the next word. */
static bool merge_takes_next(const char *arg)
{
	const char *letter;

	if (arg[1] != '-') {
		letter = strpbrk(arg + 1, "mFsXS");
		return letter && *letter != 'S' && !letter[1];
	}
	return !strchr(arg, '=') &&
	       (is_long(arg, "--message", 5) || is_long(arg, "--file", 5) || is_long(arg, "--strategy", 6) ||
		       is_long(arg, "--strategy-option", 11) || is_long(arg, "--into-name", 4) ||
		       is_long(arg, "--cleanup", 4));
}

static enum rule look_merge(struct look *l, struct verdict *v)
{
	bool dashes = false;

	(void)v;
	for (int i = l->first; i < l->argc; i++) {
		const char *arg = l->argv[i];

		if (!dashes && !strcmp(arg, "--"))
			dashes = true;
		else if (!dashes && arg[0] == '-' && arg[1])
			i += merge_takes_next(arg);
		else if (is_target(arg, l->target))
			return RULE_BLOCKED;
	}
	return RULE_ROUTED;
}

/* Those that only look, or run the caller's own command. */
static enum rule look_submodule(struct look *l, struct verdict *v)
{
	static const char *const local[] = { "status", "summary", "foreach" };
	int i = l->first;

	(void)v;
	while (i < l->argc && l->argv[i][0] == '-')
		i++;
	if (i == l->argc)
		return RULE_LOCAL;
	for (size_t k = 0; k < ARRAY_SIZE(local); k++)
		if (!strcmp(l->argv[i], local[k]))
			return RULE_LOCAL;
	return RULE_BLOCKED;
}

static enum rule look_remote(struct look *l, struct verdict *v)
{
	(void)v;
	for (int i = l->first; i < l->argc; i++)
		if (l->argv[i][0] != '-')
			return strcmp(l->argv[i], "update") ? RULE_LOCAL : RULE_GATEWAY;
	return RULE_LOCAL;
}

/* Whether an option of fetch, pull or ls-remote takes the next word as its value. */
static bool reading_takes_next(const char *arg)
{
	static const char *const these[] = { "--depth", "--deepen", "--shallow-since", "--shallow-exclude",
		"--upload-pack", "--exec", "--refmap", "--jobs", "-j", "--server-option", "-o",
		"--negotiation-tip", "--filter", "--submodule-prefix", "--bundle-uri", "--strategy", "-s",
		"--strategy-option", "-X", "--cleanup", "--sort" };

	for (size_t i = 0; i < ARRAY_SIZE(these); i++)
		if (!strcmp(arg, these[i]))
			return true;
	return false;
}

/* Reading from a URL or a path, as `git clone` does, is local: the network's list decides. A plain name may
 * be a remote that the agent made, which only git knows. Without a name, or with --all, the user's remote is
 * meant. */
static enum rule look_reading(struct look *l, struct verdict *v)
{
	bool dashes = false;

	for (int i = l->first; i < l->argc; i++) {
		const char *arg = l->argv[i];

		if (!dashes && !strcmp(arg, "--")) {
			dashes = true;
		} else if (!dashes && (!strcmp(arg, "--all") || !strcmp(arg, "--multiple"))) {
			return RULE_GATEWAY;
		} else if (!dashes && arg[0] == '-' && arg[1]) {
			i += reading_takes_next(arg);
		} else if (strpbrk(arg, ":/") || arg[0] == '.') {
			return RULE_LOCAL;
		} else {
			v->doubt = i;
			return RULE_GATEWAY;
		}
	}
	return RULE_GATEWAY;
}

static const struct row *find_row(const char *verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].verb, verb))
			return &rows[i];
	return NULL;
}

static bool word_is(const char **p, const char *end, const char *want)
{
	size_t n;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	for (n = 0; *p + n < end && !strchr(" \t\r", (*p)[n]); n++)
		;
	if (n != strlen(want) || strncmp(*p, want, n) != 0)
		return false;
	*p += n;
	return true;
}

/* The last line for the verb applies. */
static bool find_override(const char *overrides, const char *verb, enum rule *ret)
{
	static const char *const names[] = { "local", "routed", "gateway", "blocked" };
	bool found = false;

	for (const char *line = overrides; *line;) {
		const char *end = line + strcspn(line, "\n"), *p = line;

		if (word_is(&p, end, verb))
			for (size_t i = 0; i < ARRAY_SIZE(names); i++)
				if (word_is(&p, end, names[i])) {
					*ret = (enum rule)i;
					found = true;
				}
		line = *end ? end + 1 : end;
	}
	return found;
}

/* Fills in {verb}, {branch} and {target}. */
static void fill(char *out, size_t size, const char *text, const char *verb, const struct look *l)
{
	size_t len = 0;

	while (*text && len + 1 < size) {
		const char *put = NULL;

		if (!strncmp(text, "{verb}", 6))
			put = verb;
		else if (!strncmp(text, "{branch}", 8))
			put = l->branch;
		else if (!strncmp(text, "{target}", 8))
			put = *l->target ? l->target : "the target";
		if (put) {
			int n = snprintf(out + len, size - len, "%s", put);

			len += n < 0 ? 0 : (size_t)n < size - len ? (size_t)n : size - len - 1;
			text = strchr(text, '}') + 1;
		} else {
			out[len++] = *text++;
		}
	}
	out[len] = '\0';
}

static bool is_plain(const char *verb)
{
	return verb[strspn(verb, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

void git_rules_look(int argc, char *const *argv, const struct words *w, const char *overrides,
	const char *branch, const char *target, struct verdict *ret)
{
	const char *verb = w->verb ? argv[w->verb] : "";
	const struct row *row = find_row(verb);
	struct look l = {
		.argc = argc,
		.first = w->verb + 1,
		.argv = argv,
		.branch = facts_short(branch),
		.target = facts_short(target),
	};
	enum rule rule;

	memset(ret, 0, sizeof(*ret));
	/* the same as git help */
	if (!*verb || (l.first < argc && (!strcmp(argv[l.first], "--help") || !strcmp(argv[l.first], "-h"))))
		return;
	if (row) {
		ret->rule = row->rule;
		ret->moves = row->moves;
		ret->route = row->route;
	}
	if (find_override(overrides, verb, &rule))
		ret->rule = rule;
	else if (row && row->look)
		ret->rule = row->look(&l, ret);
	if (ret->rule == RULE_GATEWAY && !ret->route) {
		ret->route = verb;
		if (!is_plain(verb))
			ret->rule = RULE_BLOCKED;
	}
	if (ret->rule != RULE_BLOCKED)
		return;
	fill(ret->message, sizeof(ret->message), row ? row->message : NOT_HERE, verb, &l);
	fill(ret->instead, sizeof(ret->instead), row ? row->instead : "", verb, &l);
}
