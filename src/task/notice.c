/* What the program of a notification is told: its arguments and its environment. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "task/notify.h"

static const char *const names[] = { "GARTH_TASK", "GARTH_PROJECT", "GARTH_STATE", "GARTH_QUESTION",
	"GARTH_NOTE", "GARTH_MESSAGE" };

/* The text on one line, without control characters, cut at a character's end; on the heap. */
static char *one_line(const char *text)
{
	auto_buf out = BUF_SMALL;
	size_t n = strnlen(text, NOTIFY_TEXT_MAX * 4);

	clean_text(&out, text, n, false);
	for (size_t i = 0; i < out.len; i++)
		if (out.data[i] == '\n' || out.data[i] == '\t')
			out.data[i] = ' ';
	n = out.len;
	if (n > NOTIFY_TEXT_MAX) {
		n = NOTIFY_TEXT_MAX;
		while (n && ((unsigned char)out.data[n] & 0xc0) == 0x80)
			n--;
	}
	return xstrndup(buf_str(&out), n);
}

/* "task 'login' (app) is blocked: Which database?" It begins with one of Garth's words, so that no program takes
 * it for an option. */
static char *message_of(const struct notice *n)
{
	const char *state = strcmp(n->state, "limit") ? n->state : "near or over a limit";
	const char *more = *n->question ? n->question : n->note;
	auto_str of = *n->project ? xasprintf(" (%s)", n->project) : xstrdup("");
	auto_str text = xasprintf("task '%s'%s is %s%s%s", n->task, of, state, *more ? ": " : "", more);

	return one_line(text);
}

static void fill_in(const char *word, const char *message, struct strvec *ret)
{
	static const char place[] = "{message}";
	auto_buf out = BUF_SMALL;
	const char *at;

	while ((at = strstr(word, place))) {
		buf_add(&out, word, (size_t)(at - word));
		buf_addstr(&out, message);
		word = at + sizeof(place) - 1;
	}
	buf_addstr(&out, word);
	strvec_push(ret, buf_str(&out));
}

void notice_words(const struct notice *n, const struct strvec *command, struct strvec *ret)
{
	auto_str message = message_of(n);

	for (size_t i = 0; i < command->n; i++)
		fill_in(command->v[i], message, ret);
}

static bool is_ours(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(variable, names[i], len) && variable[len] == '=')
			return true;
	}
	return false;
}

void notice_env(const struct notice *n, char *const *own, struct strvec *ret)
{
	auto_str message = message_of(n);
	const char *const values[] = { n->task, n->path, n->state, n->question, n->note, message };

	for (; *own; own++)
		if (!is_ours(*own))
			strvec_push(ret, *own);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* a path is passed as it is: it is the user's, and the program may open it */
		auto_str value = i == 1 ? xstrdup(values[i]) : one_line(values[i]);

		strvec_pushf(ret, "%s=%s", names[i], value);
	}
}
