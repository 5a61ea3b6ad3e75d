#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "guard/guard.h"
#include "shim/shim.h"

#define WORDS_MAX 256

/* Variables and options that make git work on another repository or on other files. */
static const char *const leading[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES" };

static bool leads_out(struct setting *s, const struct word *w)
{
	if (!word_refused(s, w, WANT_READ, true))
		return false;
	snprintf(s->ret->instead, sizeof(s->ret->instead),
		"run git in the workspace, %.400s, without -C, --git-dir and --work-tree: it is the task's own repository",
		s->g->facts->workspace);
	return true;
}

bool git_variable_refused(struct setting *s, const char *name, size_t len, const struct word *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(leading); i++)
		if (strlen(leading[i]) == len && !memcmp(leading[i], name, len))
			return leads_out(s, value);
	return false;
}

/* Goes through the options in front of the verb; cwd follows each -C. *ret_elsewhere: they name another repository, or one
 * that only the shell knows. */
static bool options_refused(
	struct setting *s, const struct word *words, int argc, char *const *argv, bool *ret_elsewhere)
{
	const char *value;

	for (int i = 1, n; (n = words_option(argc, argv, i, &value)); i += n) {
		const struct word *from = &words[i + n - 1];
		size_t skip = value && n == 1 ? (size_t)(value - argv[i]) : 0;
		bool there = !strcmp(argv[i], "-C");
		char real[GUARD_PATH_MAX];
		struct word w = { from->text + skip, from->known - skip, from->wildcard };

		if (!value ||
			(!there && strncmp(argv[i], "--git-dir", 9) && strncmp(argv[i], "--work-tree", 11)))
			continue;
		*ret_elsewhere |= !there || from->known < skip || !word_is_known(&w);
		if (from->known >= skip && leads_out(s, &w))
			return true;
		if (there && (!word_is_known(&w) || !place_resolve(s->cwd, w.text, real, NULL)))
			s->cwd[0] = '\0';
		else if (there)
			memcpy(s->cwd, real, strlen(real) + 1);
	}
	return false;
}

static bool say(struct setting *s, const char *reason, const char *instead)
{
	snprintf(s->ret->reason, sizeof(s->ret->reason), "%s", reason);
	snprintf(s->ret->instead, sizeof(s->ret->instead), "%s", instead);
	return true;
}

/* What the shim or the gateway would refuse. */
static bool verb_refused(struct setting *s, int argc, char *const *argv, const struct words *w)
{
	const struct facts *f = s->g->facts;
	const char *verb = argv[w->verb];
	char text[1200];
	struct verdict v;

	git_rules_look(argc, argv, w, s->g->operations, f->branch, f->target, &v);
	if (v.rule == RULE_BLOCKED && !v.doubt)
		return say(s, v.message, v.instead);
	if (v.rule != RULE_GATEWAY || v.doubt)
		return false;
	if (!strcmp(verb, "push") && !*f->push) {
		snprintf(text, sizeof(text), "commit on %s: that publishes it, and the user pushes",
			facts_short(f->branch));
		return say(s, "a task does not push", text);
	}
	if (v.route && !strcmp(v.route, "fetch") && !*f->fetch) {
		snprintf(text, sizeof(text), "continue on %s; the user brings new commits in with garth sync",
			facts_short(f->branch));
		return say(s, "a task does not fetch from the user's remote", text);
	}
	return false;
}

/* Verbs whose words are directories to make or to read. */
static bool has_paths(const char *verb)
{
	static const char *const all[] = { "worktree", "clone", "init", "apply", "am", "archive", "bundle" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(verb, all[i]))
			return true;
	return false;
}

static bool paths_refused(struct setting *s, const struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((words[i].text[0] == '/' || !strncmp(words[i].text, "..", 2)) &&
			word_refused(s, &words[i], WANT_READ, false))
			return true;
	return false;
}

/* Whether git finds the task's repository from cwd, and not one that is in the workspace. */
static bool is_in_task(const struct setting *s)
{
	const char *top = s->g->facts->workspace;
	char dir[GUARD_PATH_MAX], file[GUARD_PATH_MAX + 8], *slash;

	memcpy(dir, s->cwd, sizeof(dir));
	if (!*dir || !path_within(dir, top))
		return false;
	while (strlen(dir) > strlen(top) && (slash = strrchr(dir, '/'))) {
		snprintf(file, sizeof(file), "%s/.git", dir);
		if (!access(file, F_OK))
			return false;
		*slash = '\0';
	}
	return true;
}

bool git_refused(struct setting *s, const struct word *words, size_t n)
{
	char *argv[WORDS_MAX + 1], before[GUARD_PATH_MAX];
	bool elsewhere = false, known = true, refused;
	struct words w;

	if (n > WORDS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		argv[i] = words[i].text;
		known &= word_is_known(&words[i]);
	}
	argv[n] = NULL;
	memcpy(before, s->cwd, sizeof(before));
	refused = options_refused(s, words, (int)n, argv, &elsewhere);
	words_parse((int)n, argv, &w);
	if (!refused && w.verb && has_paths(argv[w.verb]))
		refused = paths_refused(s, words + w.verb, n - (size_t)w.verb);
	if (!refused && w.verb && known && !elsewhere && !w.bare && *s->g->facts->branch && is_in_task(s))
		refused = verb_refused(s, (int)n, argv, &w);
	memcpy(s->cwd, before, sizeof(before));
	return refused;
}
