#include "cli/ask.h"

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/say.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/question.h"

static bool load(struct context *c, const struct task *t, struct question *ret)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	return !strcmp(t->state, STATE_BLOCKED) && !home_task_dir(&c->home, t->id, &dir, &ignored) &&
	       !question_load(dir, ret, &ignored);
}

/* As much of a question as belongs into a list, and not half a character. */
#define BRIEF 300

static void shorten(struct buf *line)
{
	size_t n = BRIEF;

	if (line->len <= BRIEF)
		return;
	while (n && ((unsigned char)line->data[n] & 0xc0) == 0x80)
		n--;
	buf_cut(line, n);
	buf_addstr(line, " …");
}

void ask_tell(struct context *c, const struct task *t, bool brief)
{
	auto_question q = { 0 };
	auto_buf line = BUF_SMALL;

	if (!load(c, t, &q))
		return;
	say_one_line(&line, q.text);
	if (brief)
		shorten(&line);
	say_state("task '%s' asks: %s", t->name, buf_str(&line));
	for (size_t i = 0; i < q.options.n; i++) {
		auto_buf option = BUF_SMALL;

		say_state("  %zu. %s", i + 1, say_one_line(&option, q.options.v[i]));
	}
	say_hint("garth answer %s \"...\"", t->name);
}

json_t *ask_json(struct context *c, const struct task *t)
{
	auto_question q = { 0 };

	if (!load(c, t, &q))
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "text", json_text(q.text), "options", json_list(&q.options),
		"asked", json_time(q.asked));
}

char *ask_line(struct context *c, const struct task *t)
{
	auto_question q = { 0 };
	auto_buf line = BUF_SMALL;

	return load(c, t, &q) ? xstrdup(say_one_line(&line, q.text)) : NULL;
}
