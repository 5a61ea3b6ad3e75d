#include "git/user_settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"

#define VALUE_MAX 4096

/* Keys in lower case, as git lists them. A key that ends in a dot means all names of that section, but not
 * those of its subsections ("diff.word.command"). merge.ff is missing on purpose: with `only`, a task could
 * not be synced. */
static const char *const copied[] = {
	"advice.",
	"apply.ignorewhitespace",
	"apply.whitespace",
	"blame.coloring",
	"blame.date",
	"blame.showemail",
	"blame.showroot",
	"branch.autosetupmerge",
	"branch.autosetuprebase",
	"branch.sort",
	"checkout.guess",
	"color.",
	"column.",
	"commit.cleanup",
	"commit.status",
	"commit.verbose",
	"core.abbrev",
	"core.commentchar",
	"core.filemode",
	"core.ignorecase",
	"core.quotepath",
	"core.whitespace",
	"diff.",
	"fetch.prune",
	"fetch.prunetags",
	"format.pretty",
	"grep.column",
	"grep.extendedregexp",
	"grep.fullname",
	"grep.linenumber",
	"grep.patterntype",
	"i18n.commitencoding",
	"i18n.logoutputencoding",
	"init.defaultbranch",
	"interactive.singlekey",
	"log.",
	"merge.autostash",
	"merge.conflictstyle",
	"merge.directoryrenames",
	"merge.log",
	"merge.renamelimit",
	"merge.renames",
	"merge.stat",
	"pretty.",
	"pull.ff",
	"pull.rebase",
	"push.autosetupremote",
	"push.default",
	"rebase.",
	"rerere.autoupdate",
	"rerere.enabled",
	"stash.showincludeuntracked",
	"stash.showpatch",
	"stash.showstat",
	"status.",
	"tag.sort",
	"user.email",
	"user.name",
	"versionsort.suffix",
};

/* Exceptions in the sections above: names of programs or files, and settings that run a program. */
static const char *const left_out[] = {
	"diff.external",
	"diff.guitool",
	"diff.orderfile",
	"diff.tool",
	"log.showsignature",
};

/* Sections whose subsections hold plain values too. */
static const char *const open_sections[] = { "color." };

static bool is_one_of(const char *key, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);

		if (!strcmp(key, list[i]) || (list[i][len - 1] == '.' && !strncmp(key, list[i], len)))
			return true;
	}
	return false;
}

static bool is_text(const char *value)
{
	const char *p = value;

	while ((unsigned char)*p >= ' ' || *p == '\t')
		p++;
	return !*p && p - value <= VALUE_MAX;
}

/* Whether a word of an alias makes the git command start a program. */
static bool starts_program(const char *word, size_t len)
{
	static const char *const options[] = { "-c", "-x", "-O", "--exec", "--ext-diff", "--extcmd",
		"--open-files-in-pager", "--receive-pack", "--textconv", "--tool", "--upload-pack" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t n = strlen(options[i]);

		/* "--exec=make", "-Oless" */
		if (len >= n && !strncmp(word, options[i], n) && (len == n || n == 2 || word[n] == '='))
			return true;
	}
	return false;
}

/* A git command and its arguments ("log --oneline -20"), without anything for a shell. */
static bool is_plain_alias(const char *value)
{
	size_t first = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (!first || value[0] == '-' || (value[first] && value[first] != ' ') || strpbrk(value, "!$`;|&\\"))
		return false;
	for (const char *p = value + first; *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (starts_program(p, strcspn(p, " ")))
			return false;
	}
	return true;
}

bool settings_is_copied(const char *key, const char *value)
{
	const char *dot = strchr(key, '.');
	bool sub = dot && strchr(dot + 1, '.');

	if (!is_text(key) || !is_text(value) || !dot)
		return false;
	if (!strncmp(key, "alias.", 6))
		return !sub && is_plain_alias(value);
	if (sub && !is_one_of(key, open_sections, ARRAY_SIZE(open_sections)))
		return false;
	return is_one_of(key, copied, ARRAY_SIZE(copied)) && !is_one_of(key, left_out, ARRAY_SIZE(left_out));
}

/* Writes a value in git's configuration syntax. */
static void quote(struct buf *out, const char *value)
{
	buf_addch(out, '"');
	for (; *value; value++) {
		if (*value == '\n')
			buf_addstr(out, "\\n");
		else if (*value == '\t')
			buf_addstr(out, "\\t");
		else if (*value == '"' || *value == '\\')
			buf_printf(out, "\\%c", *value);
		else
			buf_addch(out, *value);
	}
	buf_addch(out, '"');
}

void settings_put(struct buf *out, const char *key, const char *value)
{
	const char *dot = strchr(key, '.'), *last = strrchr(key, '.');

	buf_printf(out, "[%.*s", (int)(dot - key), key);
	if (last != dot) {
		auto_str sub = xstrndup(dot + 1, (size_t)(last - dot - 1));

		buf_addch(out, ' ');
		quote(out, sub);
	}
	buf_printf(out, "]\n\t%s = ", last + 1);
	quote(out, value);
	buf_addch(out, '\n');
}

void settings_copy(const struct repo *r, struct buf *out)
{
	for (size_t i = 0; i < r->config.n; i++) {
		const char *line = r->config.v[i], *end = strchr(line, '\n');
		auto_str key = xstrndup(line, end ? (size_t)(end - line) : strlen(line));
		const char *value = end ? end + 1 : "true";

		if (settings_is_copied(key, value) && out->len + strlen(line) < SETTINGS_MAX)
			settings_put(out, key, value);
	}
}

/* Expands "~/". */
static char *expand(const char *path)
{
	const char *home = getenv("HOME");

	if (path[0] == '/')
		return xstrdup(path);
	return !strncmp(path, "~/", 2) && home && home[0] == '/' ? path_join(home, path + 2) : NULL;
}

static char *default_place(void)
{
	const char *config = getenv("XDG_CONFIG_HOME");

	return config && config[0] == '/' ? path_join(config, "git/ignore") : expand("~/.config/git/ignore");
}

char *settings_ignore_file(const struct repo *r)
{
	auto_str path = NULL;
	struct stat st;

	/* the configuration was not read */
	if (!r->config.n)
		return NULL;
	path = r->user_ignores ? expand(r->user_ignores) : default_place();
	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size ||
		(uint64_t)st.st_size >= SETTINGS_IGNORES_MAX || access(path, R_OK) < 0)
		return NULL;
	return steal_ptr(path);
}

char *settings_editor(void)
{
	static const char *const scopes[] = { "--global", "--system" };
	struct git g = { .shows_config = true };

	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		auto_buf text = BUF_SMALL;
		struct err ignored = ERR_INIT;

		if (git_do(&g, &text, &ignored, "config", scopes[i], "--includes", "--get", "core.editor",
			    NULL) < 0)
			continue;
		text.data[strcspn(buf_str(&text), "\n")] = '\0';
		if (*text.data)
			return xstrdup(text.data);
	}
	return NULL;
}
