#include "plan/command.h"

#include <string.h>

#include "base/alloc.h"
#include "base/name.h"

/* Words after which a command follows. */
static const char *const before_command[] = { "if", "then", "else", "elif", "do", "while", "until", "!", "{",
	"time", "exec", "command", "builtin", "eval", NULL };
/* Words that the shell knows. */
static const char *const builtins[] = { ":", ".", "[", "[[", "]]", "}", "fi", "done", "esac", "in", "for",
	"case", "select", "function", "alias", "bg", "break", "cd", "continue", "declare", "echo", "exit",
	"export", "false", "fg", "getopts", "hash", "jobs", "kill", "let", "local", "printf", "pwd", "read",
	"readonly", "return", "set", "shift", "source", "test", "times", "trap", "true", "type", "ulimit",
	"umask", "unalias", "unset", "wait", NULL };

static bool is_one_of(const char *word, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == len && !strncmp(*list, word, len))
			return true;
	return false;
}

/* The end of a word. Quotes, and characters after a backslash, belong to the word. */
static const char *end_of_word(const char *p)
{
	while (*p && !strchr(" \t\n;&|()<>", *p)) {
		if (*p == '\\' && p[1]) {
			p += 2;
		} else if (*p == '\'' || *p == '"') {
			char quote = *p++;

			while (*p && *p != quote)
				p += *p == '\\' && quote == '"' && p[1] ? 2 : 1;
			p += *p == quote;
		} else {
			p++;
		}
	}
	return p;
}

static bool is_assignment(const char *word, size_t len)
{
	const char *eq = memchr(word, '=', len);

	return eq && name_is_variable(word, (unsigned long)(eq - word));
}

static enum command_word kind_of(const char *word, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";

	if (is_one_of(word, len, builtins) || is_one_of(word, len, before_command))
		return COMMAND_BUILTIN;
	return strspn(word, plain) < len ? COMMAND_PATH : COMMAND_NAME;
}

/* Goes through the words of a line. */
struct scan {
	const char *line, *at;
	bool command; /* the next word begins a command */
};

/* Moves to the next word that begins a command. */
static const char *next_command(struct scan *s, size_t *ret_len)
{
	for (;;) {
		const char *word = s->at + strspn(s->at, " \t");
		bool after_open = word > s->line && word[-1] == '(';

		s->at = end_of_word(word);
		*ret_len = (size_t)(s->at - word);
		if (!*word)
			return NULL;
		if (!*ret_len) {
			/* after < and > comes a file's name; what follows << is not a command either */
			s->at = word + 1;
			if (*word == '<' && word[1] == '<')
				return NULL;
			if (*word == '<' || *word == '>')
				s->at = end_of_word(s->at + strspn(s->at, ">&| \t"));
			else
				/* what follows the pattern of a case is not searched */
				s->command = *word != ')' || after_open;
		} else if (*word == '#') {
			s->at += strcspn(s->at, "\n");
		} else if (s->command && !is_assignment(word, *ret_len)) {
			s->command = is_one_of(word, *ret_len, before_command);
			return word;
		}
	}
}

enum command_word command_first(const char *line, struct strvec *ret)
{
	struct scan s = { line, line, true };
	size_t len;
	const char *word = next_command(&s, &len);
	enum command_word kind = word ? kind_of(word, len) : COMMAND_NONE;

	if (kind == COMMAND_NAME)
		strvec_pushn(ret, word, len);
	return kind;
}

void command_names(const char *line, struct strvec *ret)
{
	struct scan s = { line, line, true };
	const char *word;
	size_t len;

	while ((word = next_command(&s, &len))) {
		auto_str name = xstrndup(word, len);

		/* "name()" defines a function */
		if (kind_of(word, len) == COMMAND_NAME && *s.at != '(' && !strvec_has(ret, name))
			strvec_push(ret, name);
	}
}

bool command_reads_as_sentence(const char *text)
{
	static const char *const words[] = { "a", "an", "the", "is", "are", "and", "or", "that", "to", "of",
		"must", "should", "does", "do", "has", "have", "can", "cannot", "no", "not", "when", "with",
		"all", "every", NULL };

	if (strpbrk(text, "|&;<>$`=\\\"{}[]") || strstr(text, " -"))
		return false;
	for (const char *p = text; *p; p += strspn(p, " \t\n,.")) {
		size_t n = strcspn(p, " \t\n,.");

		if (is_one_of(p, n, words))
			return true;
		p += n;
	}
	return *text >= 'A' && *text <= 'Z';
}
