/* Reads a text for a shell as far as that is possible without running it. What only a running shell knows (most variables,
 * the output of commands) makes a word, or the current directory, unknown. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "guard/shell_parts.h"

#define WORDS_MAX    512
#define COMMANDS_MAX 2000

/* The command that is being read. */
struct command {
	struct word words[WORDS_MAX];
	size_t n;
	bool is_skipped; /* more words than can be judged */
};

static void command_clear(struct command *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->words[i].text);
	c->n = 0;
	c->is_skipped = false;
}

static void read_list(struct shell *s, char stop);

void shell_read_apart(struct shell *s, char stop)
{
	char cwd[GUARD_PATH_MAX];
	size_t nvars = s->nvars;

	if (s->depth >= DEPTH_MAX) {
		shell_give_up(s);
		return;
	}
	memcpy(cwd, s->cwd, sizeof(cwd));
	s->depth++;
	read_list(s, stop);
	s->depth--;
	memcpy(s->cwd, cwd, sizeof(cwd));
	while (s->nvars > nvars)
		free(s->vars[--s->nvars].value);
}

void shell_read_copy(struct shell *s, const char *text, size_t len)
{
	const char *p = s->p, *end = s->end;
	unsigned in_case = s->in_case;

	s->p = text;
	s->end = text + len;
	s->in_case = 0;
	shell_read_apart(s, '\0');
	s->in_case = in_case;
	s->p = s->given_up || s->refused ? end : p;
	s->end = end;
}

static void skip_heredocs(struct shell *s)
{
	for (size_t i = 0; i < s->nheredocs; i++) {
		const struct heredoc *h = &s->heredocs[i];
		bool ended = false;

		while (s->p < s->end && !ended) {
			const char *line = s->p, *stop = memchr(line, '\n', (size_t)(s->end - line));

			if (!stop)
				stop = s->end;
			while (h->tabs && line < stop && *line == '\t')
				line++;
			ended = (size_t)(stop - line) == strlen(h->end) &&
				!memcmp(line, h->end, strlen(h->end));
			s->p = stop + (stop < s->end);
		}
		free(h->end);
	}
	s->nheredocs = 0;
}

static void read_heredoc(struct shell *s, bool tabs)
{
	struct word w;
	bool quoted;

	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
	if (s->nheredocs == HEREDOCS_MAX || !shell_read_word(s, &w, &quoted)) {
		shell_give_up(s);
		return;
	}
	s->heredocs[s->nheredocs++] = (struct heredoc){ w.text, tabs };
}

static void note_tried(struct shell *s, const char *verb, const char *what)
{
	snprintf(s->ret->tried, sizeof(s->ret->tried), "%s %.900s", verb, what);
	s->refused = true;
	s->p = s->end;
}

/* Begins at the first < or >. */
static void read_redirection(struct shell *s)
{
	struct setting set = { .g = s->g, .cwd = s->cwd, .ret = s->ret };
	bool out = *s->p == '>', same = false, quoted;
	struct word w;

	if (shell_at(s, "<<<")) {
		s->p += 3;
		same = true;
	} else if (shell_at(s, "<<")) {
		bool tabs = shell_at(s, "<<-");

		s->p += tabs ? 3 : 2;
		read_heredoc(s, tabs);
		return;
	} else if (shell_at(s, "<(") || shell_at(s, ">(")) {
		s->p += 2;
		shell_read_apart(s, ')');
		return;
	} else {
		out |= shell_at(s, "<>");
		while (s->p < s->end && strchr("<>&|", *s->p) && *s->p) {
			same |= *s->p == '&';
			s->p++;
		}
	}
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
	if (s->given_up || !shell_read_word(s, &w, &quoted))
		return;
	/* 2>&1, >&-, <<< TEXT */
	if (!(same && (!out || strspn(w.text, "0123456789-") == strlen(w.text))) && !s->in_case &&
		word_refused(&set, &w, out ? WANT_WRITE : WANT_READ, true))
		note_tried(s, out ? "write to" : "read", w.text);
	free(w.text);
}

static bool more(void *arg, const char *text)
{
	struct shell *s = arg;

	shell_read_copy(s, text, strlen(text));
	return s->refused;
}

static bool is_assignment(const struct word *w, size_t *ret_len)
{
	size_t n = shell_name_length(w->text, w->text + strlen(w->text));

	*ret_len = n;
	return n && w->known > n && w->text[n] == '=';
}

static struct word value_of(const struct word *w, size_t len)
{
	return (struct word){ w->text + len + 1, w->known - len - 1, w->wildcard };
}

static void set_variable(struct shell *s, const struct word *w, size_t len)
{
	struct word value = value_of(w, len);

	shell_set(s, w->text, len, word_is_known(&value) ? value.text : NULL);
}

/* Words of the shell's own in front of a command. */
static bool is_reserved(const char *word)
{
	static const char *const all[] = { "then", "do", "else", "elif", "if", "while", "until", "!", "{",
		"}", "time", "fi", "done", "coproc" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(word, all[i]))
			return true;
	return false;
}

/* A command whose words are assignments. */
static bool is_declaration(const char *word)
{
	return !strcmp(word, "export") || !strcmp(word, "local") || !strcmp(word, "readonly") ||
	       !strcmp(word, "declare");
}

/* After a block, it is not known whether a cd in it was executed. */
static void count_block(struct shell *s, const char *word)
{
	if (!strcmp(word, "if") || !strcmp(word, "while") || !strcmp(word, "until") || !strcmp(word, "for")) {
		s->blocks++;
	} else if (!strcmp(word, "fi") || !strcmp(word, "done")) {
		s->blocks -= s->blocks > 0;
		if (!s->blocks && s->moved_in_block) {
			s->cwd[0] = '\0';
			s->moved_in_block = false;
		}
	}
}

static void quote_command(const struct command *c, size_t from, struct refusal *ret)
{
	auto_buf line = BUF_SMALL;

	for (size_t i = from; i < c->n && line.len < 600; i++)
		buf_printf(&line, "%s%.300s", i > from ? " " : "", c->words[i].text);
	snprintf(ret->tried, sizeof(ret->tried), "%s", buf_str(&line));
}

static void judge_words(struct shell *s, const struct command *c, size_t i)
{
	char before[GUARD_PATH_MAX];
	struct setting set = { .g = s->g, .cwd = s->cwd, .ret = s->ret, .shell = s, .more = more };

	memcpy(before, s->cwd, sizeof(before));
	s->ret->tried[0] = '\0';
	if (command_refused(&set, c->words + i, c->n - i)) {
		if (!*s->ret->tried)
			quote_command(c, i, s->ret);
		s->refused = true;
		s->p = s->end;
		return;
	}
	if (!strcmp(before, s->cwd))
		return;
	s->moved_in_block |= s->blocks > 0;
	if (s->after_or)
		s->cwd[0] = '\0';
}

/* The command has been read: variables are set, and the rest is judged. */
static void end_command(struct shell *s, struct command *c)
{
	struct setting set = { .g = s->g, .cwd = s->cwd, .ret = s->ret };
	size_t i = 0, len, first;

	if (!c->n || s->refused || s->in_case || c->is_skipped)
		goto out;
	if (++s->commands > COMMANDS_MAX) {
		shell_give_up(s);
		goto out;
	}
	while (i < c->n && is_reserved(c->words[i].text))
		count_block(s, c->words[i++].text);
	if (i < c->n && (!strcmp(c->words[i].text, "for") || !strcmp(c->words[i].text, "select"))) {
		count_block(s, "for");
		if (i + 1 < c->n)
			shell_set(s, c->words[i + 1].text, strlen(c->words[i + 1].text), NULL);
		goto out;
	}
	i += i < c->n && is_declaration(c->words[i].text);
	for (first = i; i < c->n && is_assignment(&c->words[i], &len); i++) {
		struct word value = value_of(&c->words[i], len);

		if (git_variable_refused(&set, c->words[i].text, len, &value)) {
			quote_command(c, first, s->ret);
			s->refused = true;
			s->p = s->end;
			goto out;
		}
	}
	for (size_t k = first; i == c->n && k < c->n; k++)
		if (is_assignment(&c->words[k], &len))
			set_variable(s, &c->words[k], len);
	if (i < c->n)
		judge_words(s, c, i);
out:
	command_clear(c);
}

/* [[ … ]], in which && and < mean something else. */
static void skip_test(struct shell *s)
{
	const char *found = s->p;

	while (found < s->end && !((size_t)(s->end - found) >= 2 && found[0] == ']' && found[1] == ']'))
		found++;
	s->p = found + ((size_t)(s->end - found) >= 2 ? 2 : (size_t)(s->end - found));
}

static void take_word(struct shell *s, struct command *c)
{
	struct word w;
	bool quoted, first = true;

	if (!shell_read_word(s, &w, &quoted)) {
		s->p++;
		return;
	}
	/* the descriptor of a redirection */
	if (s->p < s->end && (*s->p == '<' || *s->p == '>') && !quoted &&
		strspn(w.text, "0123456789") == strlen(w.text)) {
		free(w.text);
		return;
	}
	for (size_t i = 0; i < c->n; i++)
		first &= is_reserved(c->words[i].text);
	if (first && !quoted) {
		s->in_case += !strcmp(w.text, "case");
		s->in_case -= s->in_case && !strcmp(w.text, "esac");
		if (!strcmp(w.text, "[["))
			skip_test(s);
	}
	if (c->n == WORDS_MAX) {
		c->is_skipped = true;
		free(w.text);
		return;
	}
	c->words[c->n++] = w;
}

/* Brackets: a subshell, arithmetic, or a function's name. */
static void take_bracket(struct shell *s, struct command *c)
{
	s->p++;
	if (shell_at(s, "(") && !c->n) {
		shell_skip_brackets(s, '(', ')');
	} else if (c->n && !is_reserved(c->words[c->n - 1].text)) {
		shell_skip_brackets(s, '(', ')');
		/* a function's body runs later, and elsewhere */
		if (!s->in_case)
			s->cwd[0] = '\0';
		command_clear(c);
	} else {
		end_command(s, c);
		shell_read_apart(s, ')');
	}
}

static void take_operator(struct shell *s, struct command *c)
{
	char op = *s->p++;
	bool twice = s->p < s->end && *s->p == op && op != '\n';

	/* &> FILE */
	if (op == '&' && shell_at(s, ">")) {
		read_redirection(s);
		return;
	}
	s->p += twice;
	end_command(s, c);
	if (s->refused || s->given_up)
		return;
	s->after_or = op == '|' && twice;
	if (op == '\n')
		skip_heredocs(s);
}

static void read_list(struct shell *s, char stop)
{
	struct command *c = xcalloc(1, sizeof(*c));

	while (s->p < s->end) {
		char ch = *s->p;

		if (ch == ')' && stop == ')' && !s->in_case) {
			s->p++;
			break;
		}
		if (ch == ' ' || ch == '\t' || ch == '\r')
			s->p++;
		else if (ch == '#')
			while (s->p < s->end && *s->p != '\n')
				s->p++;
		else if (ch == '\n' || ch == ';' || ch == '&' || ch == '|')
			take_operator(s, c);
		else if (ch == '(')
			take_bracket(s, c);
		else if (ch == '<' || ch == '>')
			read_redirection(s);
		else
			take_word(s, c);
	}
	end_command(s, c);
	command_clear(c);
	free(c);
}

bool shell_refused(const struct guard *g, const char *text, size_t len, const char *cwd, struct refusal *ret)
{
	struct shell *s = xcalloc(1, sizeof(*s));
	bool refused;

	*s = (struct shell){ .g = g, .p = text, .end = text + len, .ret = ret };
	snprintf(s->cwd, sizeof(s->cwd), "%s", cwd);
	read_list(s, '\0');
	refused = s->refused;
	for (size_t i = 0; i < s->nheredocs; i++)
		free(s->heredocs[i].end);
	while (s->nvars)
		free(s->vars[--s->nvars].value);
	free(s);
	return refused;
}
