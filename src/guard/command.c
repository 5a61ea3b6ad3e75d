#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "guard/guard.h"

/* Which words of a program are paths. */
enum args {
	ARGS_NONE,    /* none */
	ARGS_READ,    /* all but options */
	ARGS_WRITE,   /* the same, and it writes there */
	ARGS_PATTERN, /* the first is a pattern or a script, unless an option has it */
	ARGS_MODE,    /* the first is a mode or an owner; it writes the rest */
	ARGS_COPY,    /* it reads all but the last, and writes there */
	ARGS_MOVE,    /* it writes all */
	ARGS_LINK,    /* only the last: the target of a link is not relative to the current directory */
	ARGS_FIND,    /* up to the first option */
	ARGS_SCRIPT,  /* the first, unless an option has the program's text */
	ARGS_SHELL,   /* the same, and the text is for a shell */
};

/* Programs, and their short options that take the next word. For other programs, only words that are plainly paths elsewhere
 * are refused: their words may be anything. */
static const struct row {
	const char *name;
	enum args args;
	const char *valued;
} rows[] = {
	{ "cat", ARGS_READ, "" },
	{ "tac", ARGS_READ, "" },
	{ "bat", ARGS_READ, "" },
	{ "nl", ARGS_READ, "" },
	{ "less", ARGS_READ, "" },
	{ "more", ARGS_READ, "" },
	{ "head", ARGS_READ, "nc" },
	{ "tail", ARGS_READ, "nc" },
	{ "ls", ARGS_READ, "I" },
	{ "dir", ARGS_READ, "I" },
	{ "tree", ARGS_READ, "LIPo" },
	{ "du", ARGS_READ, "d" },
	{ "stat", ARGS_READ, "cf" },
	{ "file", ARGS_READ, "m" },
	{ "wc", ARGS_READ, "" },
	{ "od", ARGS_READ, "jNtAw" },
	{ "xxd", ARGS_READ, "lsc" },
	{ "hexdump", ARGS_READ, "nse" },
	{ "strings", ARGS_READ, "n" },
	{ "md5sum", ARGS_READ, "" },
	{ "sha1sum", ARGS_READ, "" },
	{ "sha256sum", ARGS_READ, "" },
	{ "sort", ARGS_READ, "ktoST" },
	{ "uniq", ARGS_READ, "fsw" },
	{ "cut", ARGS_READ, "dfbc" },
	{ "diff", ARGS_READ, "UCIx" },
	{ "cmp", ARGS_READ, "in" },
	{ "comm", ARGS_READ, "" },
	{ "source", ARGS_SCRIPT, "" },
	{ ".", ARGS_SCRIPT, "" },
	{ "vi", ARGS_READ, "" },
	{ "vim", ARGS_READ, "" },
	{ "nano", ARGS_READ, "" },
	{ "emacs", ARGS_READ, "" },
	{ "grep", ARGS_PATTERN, "ABCmdD" },
	{ "egrep", ARGS_PATTERN, "ABCmdD" },
	{ "fgrep", ARGS_PATTERN, "ABCmdD" },
	{ "rg", ARGS_PATTERN, "ABCmgtTjMdE" },
	{ "ag", ARGS_PATTERN, "ABCmG" },
	{ "sed", ARGS_PATTERN, "l" },
	{ "awk", ARGS_PATTERN, "Fv" },
	{ "gawk", ARGS_PATTERN, "Fv" },
	{ "jq", ARGS_PATTERN, "" },
	{ "rm", ARGS_WRITE, "" },
	{ "rmdir", ARGS_WRITE, "" },
	{ "unlink", ARGS_WRITE, "" },
	{ "mkdir", ARGS_WRITE, "m" },
	{ "touch", ARGS_WRITE, "dtr" },
	{ "truncate", ARGS_WRITE, "sr" },
	{ "tee", ARGS_WRITE, "" },
	{ "mkfifo", ARGS_WRITE, "m" },
	{ "shred", ARGS_WRITE, "ns" },
	{ "chmod", ARGS_MODE, "" },
	{ "chown", ARGS_MODE, "" },
	{ "chgrp", ARGS_MODE, "" },
	{ "cp", ARGS_COPY, "S" },
	{ "install", ARGS_COPY, "mogS" },
	{ "rsync", ARGS_COPY, "ef" },
	{ "mv", ARGS_MOVE, "S" },
	{ "ln", ARGS_LINK, "S" },
	{ "find", ARGS_FIND, "" },
	{ "sh", ARGS_SHELL, "oO" },
	{ "bash", ARGS_SHELL, "oO" },
	{ "dash", ARGS_SHELL, "oO" },
	{ "zsh", ARGS_SHELL, "oO" },
	{ "ksh", ARGS_SHELL, "oO" },
	{ "python", ARGS_SCRIPT, "WX" },
	{ "python3", ARGS_SCRIPT, "WX" },
	{ "node", ARGS_SCRIPT, "r" },
	{ "ruby", ARGS_SCRIPT, "rI" },
	{ "perl", ARGS_SCRIPT, "IM" },
	{ "php", ARGS_SCRIPT, "d" },
	{ "bun", ARGS_NONE, "" },
	{ "deno", ARGS_NONE, "" },
	{ "echo", ARGS_NONE, "" },
	{ "printf", ARGS_NONE, "" },
	{ "test", ARGS_NONE, "" },
	{ "[", ARGS_NONE, "" },
	{ "[[", ARGS_NONE, "" },
	{ ":", ARGS_NONE, "" },
	{ "true", ARGS_NONE, "" },
	{ "false", ARGS_NONE, "" },
	{ "basename", ARGS_NONE, "" },
	{ "dirname", ARGS_NONE, "" },
	{ "realpath", ARGS_NONE, "" },
	{ "readlink", ARGS_NONE, "" },
	{ "which", ARGS_NONE, "" },
	{ "type", ARGS_NONE, "" },
	{ "alias", ARGS_NONE, "" },
	{ "export", ARGS_NONE, "" },
	{ "expr", ARGS_NONE, "" },
	{ "seq", ARGS_NONE, "" },
	{ "return", ARGS_NONE, "" },
	{ "exit", ARGS_NONE, "" },
	{ "garth", ARGS_NONE, "" },
	{ "gh", ARGS_NONE, "" },
};

/* Programs that run the rest of their words, and their options that take the next word. */
static const struct {
	const char *name, *valued;
	bool duration; /* the first word is a time */
} wrappers[] = {
	{ "sudo", "ugpCh", false },
	{ "doas", "uC", false },
	{ "env", "uCS", false },
	{ "nice", "n", false },
	{ "ionice", "cnp", false },
	{ "nohup", "", false },
	{ "command", "", false },
	{ "builtin", "", false },
	{ "exec", "a", false },
	{ "time", "fo", false },
	{ "timeout", "ks", true },
	{ "stdbuf", "ioe", false },
	{ "setsid", "", false },
	{ "xargs", "IinLPdEsa", false },
	{ "busybox", "", false },
};

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* A command's words without its options. */
struct operands {
	const struct word *words[512];
	size_t n;
	const struct word *text; /* the value of -c or -e */
	const char *letters;     /* of short options, each word of them */
	char seen[128];          /* all letters of short options */
};

static bool is_option(const struct word *w)
{
	return w->known > 1 && w->text[0] == '-';
}

static void note_letters(struct operands *o, const char *word)
{
	size_t len = strlen(o->seen);

	for (word++; *word && len + 1 < sizeof(o->seen); word++)
		o->seen[len++] = *word;
	o->seen[len] = '\0';
}

/* `texts`: letters of options that have a program's text. */
static void find_operands(
	const struct word *words, size_t n, const char *valued, const char *texts, struct operands *o)
{
	bool dashes = false;

	memset(o, 0, sizeof(*o));
	for (size_t i = 1; i < n; i++) {
		const char *word = words[i].text;
		char last = word[0] ? word[strlen(word) - 1] : '\0';

		if (dashes || !is_option(&words[i])) {
			if (o->n < ARRAY_SIZE(o->words))
				o->words[o->n++] = &words[i];
			continue;
		}
		dashes = !strcmp(word, "--");
		if (word[1] == '-')
			continue;
		note_letters(o, word);
		if (last && strchr(texts, last) && i + 1 < n && !o->text)
			o->text = &words[++i];
		else if (last && strchr(valued, last) && !word[2])
			i++;
	}
}

static bool said(struct setting *s, const struct word *w, enum want want, const char *program)
{
	if (!word_refused(s, w, want, true))
		return false;
	snprintf(s->ret->tried, sizeof(s->ret->tried), "%s '%.800s' (%.40s)",
		want == WANT_READ ? "read" : "change", w->text, program);
	return true;
}

static bool any_refused(struct setting *s, const struct operands *o, size_t from, size_t to, enum want want,
	const char *program)
{
	for (size_t i = from; i < to && i < o->n; i++)
		if (said(s, o->words[i], want, program))
			return true;
	return false;
}

static bool is_remote(const struct word *w)
{
	const char *colon = strchr(w->text, ':'), *slash = strchr(w->text, '/');

	return colon && (!slash || colon < slash);
}

static bool copy_refused(struct setting *s, const struct operands *o, enum want from, const char *program)
{
	for (size_t i = 0; i < o->n; i++) {
		bool last = i + 1 == o->n && !strchr(o->seen, 't');

		if (!is_remote(o->words[i]) && said(s, o->words[i], last ? WANT_WRITE : from, program))
			return true;
	}
	return false;
}

static bool find_refused(struct setting *s, const struct word *words, size_t n)
{
	for (size_t i = 1; i < n && words[i].text[0] != '-' && !strchr("(!", words[i].text[0]); i++)
		if (said(s, &words[i], WANT_READ, "find"))
			return true;
	return false;
}

static bool script_refused(struct setting *s, const struct operands *o, bool shell, const char *program)
{
	if (o->text)
		return shell && s->more && word_is_known(o->text) && s->more(s->shell, o->text->text);
	/* python -m MODULE */
	if (strchr(o->seen, 'm') || strchr(o->seen, 's'))
		return false;
	return any_refused(s, o, 0, 1, WANT_READ, program);
}

static bool row_refused(struct setting *s, const struct row *row, const struct word *words, size_t n)
{
	const char *texts = row->args == ARGS_SHELL     ? "c"
			    : row->args == ARGS_SCRIPT  ? "ceE"
			    : row->args == ARGS_PATTERN ? "ef"
							: "";
	struct operands o;

	find_operands(words, n, row->valued, texts, &o);
	switch (row->args) {
	case ARGS_NONE:
		return false;
	case ARGS_READ:
		return any_refused(s, &o, 0, o.n, WANT_READ, row->name);
	case ARGS_WRITE:
		return any_refused(s, &o, 0, o.n, WANT_WRITE, row->name);
	case ARGS_PATTERN:
		return any_refused(s, &o, !o.text, o.n,
			!strcmp(row->name, "sed") && strchr(o.seen, 'i') ? WANT_WRITE : WANT_READ, row->name);
	case ARGS_MODE:
		return any_refused(s, &o, 1, o.n, WANT_WRITE, row->name);
	case ARGS_COPY:
		return copy_refused(s, &o, WANT_READ, row->name);
	case ARGS_MOVE:
		return copy_refused(s, &o, WANT_WRITE, row->name);
	case ARGS_LINK:
		return any_refused(s, &o, o.n > 1 ? o.n - 1 : o.n, o.n, WANT_WRITE, row->name);
	case ARGS_FIND:
		return find_refused(s, words, n);
	case ARGS_SCRIPT:
	case ARGS_SHELL:
		return script_refused(s, &o, row->args == ARGS_SHELL, row->name);
	}
	return false;
}

/* For an unknown program: words that plainly lead elsewhere, alone or as --option=PATH. */
static bool others_refused(struct setting *s, const struct word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const char *equals = words[i].text[0] == '-' ? strchr(words[i].text, '=') : NULL;
		size_t skip = equals ? (size_t)(equals + 1 - words[i].text) : 0;
		struct word value = { words[i].text + skip, words[i].known - skip, words[i].wildcard };

		if (skip > words[i].known ||
			(*value.text != '/' && strncmp(value.text, "../", 3) && strcmp(value.text, "..")))
			continue;
		/* code and sentences are not paths */
		if (value.text[strcspn(value.text, " \t\n'\"(){}<>;|$`")])
			continue;
		if (word_refused(s, &value, WANT_READ, false))
			return true;
	}
	return false;
}

static bool cd_refused(struct setting *s, const struct word *words, size_t n)
{
	char real[GUARD_PATH_MAX];
	struct operands o;

	find_operands(words, n, "", "", &o);
	if (!o.n) {
		snprintf(s->cwd, GUARD_PATH_MAX, "%s", s->g->facts->home);
		return false;
	}
	if (word_refused(s, o.words[0], WANT_READ, true)) {
		snprintf(s->ret->tried, sizeof(s->ret->tried), "change to the directory '%.800s'",
			o.words[0]->text);
		return true;
	}
	if (!word_is_known(o.words[0]) || !strcmp(o.words[0]->text, "-") ||
		!place_resolve(s->cwd, o.words[0]->text, real, NULL))
		real[0] = '\0';
	memcpy(s->cwd, real, strlen(real) + 1);
	return false;
}

/* A task without network can reach only its own loopback. */
static bool is_outside_url(const char *word)
{
	static const char *const own[] = { "localhost", "127.", "[::1]", "0.0.0.0" };
	const char *host = strstr(word, "://");

	if (!host || (strncmp(word, "http", 4) != 0 && strncmp(word, "ftp", 3) != 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strncmp(host + 3, own[i], strlen(own[i])))
			return false;
	return true;
}

static bool download_refused(struct setting *s, const struct word *words, size_t n)
{
	for (size_t i = 1; i < n && !strcmp(s->g->facts->network, "none"); i++)
		if (word_is_known(&words[i]) && is_outside_url(words[i].text)) {
			snprintf(s->ret->reason, sizeof(s->ret->reason), "this task has no network");
			snprintf(s->ret->instead, sizeof(s->ret->instead),
				"work with what is in the workspace and on the system, or ask the user for the host: garth ask "
				"QUESTION");
			return true;
		}
	return others_refused(s, words, n);
}

static bool is_pair(const struct word *w)
{
	const char *equals = strchr(w->text, '=');

	return equals && w->text[0] != '-' && equals > w->text &&
	       !memchr(w->text, '/', (size_t)(equals - w->text));
}

/* How many words belong to a wrapper, with its options. */
static size_t wrapper_length(struct setting *s, const struct word *words, size_t n, bool *ret_refused)
{
	size_t i = 1, k = 0;

	while (k < ARRAY_SIZE(wrappers) && strcmp(wrappers[k].name, path_base(words[0].text)) != 0)
		k++;
	if (k == ARRAY_SIZE(wrappers))
		return 0;
	for (; i < n && (is_option(&words[i]) || (k == 2 && is_pair(&words[i]))); i++) {
		const char *word = words[i].text;
		size_t len = strcspn(word, "=");
		struct word value = { words[i].text + len + 1,
			words[i].known > len ? words[i].known - len - 1 : 0, words[i].wildcard };

		if (word[0] != '-' && words[i].known > len && git_variable_refused(s, word, len, &value)) {
			*ret_refused = true;
			return i;
		}
		if (word[0] == '-' && word[1] != '-' && word[1] && !word[2] &&
			strchr(wrappers[k].valued, word[1]))
			i++;
	}
	return i + wrappers[k].duration;
}

bool command_refused(struct setting *s, const struct word *words, size_t n)
{
	bool refused = false;
	const struct row *row;
	const char *name;
	size_t skip;

	for (unsigned i = 0; i < 8 && n && (skip = wrapper_length(s, words, n, &refused)); i++) {
		if (refused || skip >= n)
			return refused;
		words += skip;
		n -= skip;
	}
	if (!n || !word_is_known(&words[0]))
		return false;
	name = path_base(words[0].text);
	if (strchr(words[0].text, '/') && said(s, &words[0], WANT_READ, "run it"))
		return true;
	if (!strcmp(name, "cd") || !strcmp(name, "pushd"))
		return cd_refused(s, words, n);
	if (!strcmp(name, "popd")) {
		s->cwd[0] = '\0';
		return false;
	}
	if (!strcmp(name, "git"))
		return git_refused(s, words, n);
	if (!strcmp(name, "curl") || !strcmp(name, "wget"))
		return download_refused(s, words, n);
	if (!strcmp(name, "eval"))
		return n == 2 && s->more && word_is_known(&words[1]) && s->more(s->shell, words[1].text);
	row = find_row(name);
	return row ? row_refused(s, row, words, n) : others_refused(s, words, n);
}
