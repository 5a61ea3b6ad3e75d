#include "task/command_words.h"

#include <string.h>

#include "base/buf.h"

/* Replaces {session} and {answer}; replaced text is not searched again. */
static void fill_in(const char *word, const char *session, const char *answer, struct strvec *ret)
{
	static const char of_session[] = "{session}", of_answer[] = "{answer}";
	auto_buf out = BUF_INIT(TASK_COMMAND_MAX);

	while (*word) {
		if (!strncmp(word, of_session, sizeof(of_session) - 1)) {
			buf_addstr(&out, session);
			word += sizeof(of_session) - 1;
		} else if (answer && !strncmp(word, of_answer, sizeof(of_answer) - 1)) {
			buf_addstr(&out, answer);
			word += sizeof(of_answer) - 1;
		} else {
			buf_addch(&out, *word++);
		}
	}
	strvec_push(ret, buf_str(&out));
}

/* How many words from here on belong to this option; 0 if it is another one. */
static size_t option_words(const struct strvec *argv, size_t at, const char *option)
{
	size_t n = strcspn(option, "="), words;
	const char *word = argv->v[at];

	if (strncmp(word, option, n))
		return 0;
	if (!option[n])
		return !word[n];
	if (word[n] || at + 1 == argv->n)
		return word[n] == '=';
	words = 2;
	while (option[n + 1] == '+' && at + words < argv->n && argv->v[at + words][0] != '-')
		words++;
	return words;
}

static void keep_options(const struct strvec *argv, const struct strvec *options, struct strvec *ret)
{
	for (size_t i = 1; i < argv->n && strcmp(argv->v[i], "--"); i++) {
		size_t n = 0;

		for (size_t j = 0; j < options->n && !n; j++)
			n = option_words(argv, i, options->v[j]);
		for (size_t k = 0; k < n; k++)
			strvec_push(ret, argv->v[i + k]);
		i += n ? n - 1 : 0;
	}
}

static const struct strvec *words_of(
	const struct task_command *cmd, const struct config_agent *agent, bool terminal)
{
	if (cmd->resume.n)
		return &cmd->resume;
	if (agent && terminal && agent->resume_terminal.n)
		return &agent->resume_terminal;
	return agent && agent->resume.n ? &agent->resume : &cmd->argv;
}

bool command_words_take_answer(const struct task_command *cmd, const struct config_agent *agent)
{
	const struct strvec *words = words_of(cmd, agent, false);

	for (size_t i = 0; words != &cmd->argv && i < words->n; i++)
		if (strstr(words->v[i], "{answer}"))
			return true;
	return false;
}

void command_words_resume(const struct task_command *cmd, const struct resume_how *how, struct strvec *ret)
{
	const struct strvec *words = words_of(cmd, how->agent, how->terminal);
	bool first = words == &cmd->argv;

	for (size_t i = 0; i < words->n; i++)
		if (how->agent && !first && !strcmp(words->v[i], "{options}"))
			keep_options(&cmd->argv, &how->agent->options, ret);
		else if (first && cmd->literal)
			strvec_push(ret, words->v[i]);
		else if (first || how->answer || !strstr(words->v[i], "{answer}"))
			fill_in(words->v[i], how->session, first ? NULL : how->answer, ret);
}

void command_words_use_kept(struct task_command *cmd, char *const *environ_now)
{
	for (size_t i = 0; i < cmd->kept.n; i++) {
		size_t len = strcspn(cmd->kept.v[i], "=") + 1;
		bool has = false;

		for (char *const *p = environ_now; p && *p && !has; p++)
			has = !strncmp(*p, cmd->kept.v[i], len);
		for (size_t k = 0; k < cmd->env.n && !has; k++)
			has = !strncmp(cmd->env.v[k], cmd->kept.v[i], len);
		if (!has)
			strvec_push(&cmd->env, cmd->kept.v[i]);
	}
}

void command_words_first(const struct strvec *argv, const char *session, struct strvec *ret)
{
	for (size_t i = 0; i < argv->n; i++)
		fill_in(argv->v[i], session, NULL, ret);
}
