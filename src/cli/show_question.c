#include "cli/show_question.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/json.h"
#include "cli/say.h"
#include "sys/fd.h"
#include "task/life.h"
#include "task/question.h"
#include "task/tickets.h"

static bool load(struct context *c, const struct task *t, struct question *ret)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	return !strcmp(t->state, STATE_BLOCKED) && !home_task_dir(&c->home, t->id, &dir, &ignored) &&
	       !question_load(dir, ret, &ignored);
}

/* A question is cut to this length in lists, between two characters. */
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

static void tell_committed(struct context *c, const struct task *t)
{
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;
	auto_task now = { 0 };

	if (context_store(c, &ignored) < 0 || store_task_by_id(c->store, t->id, &now, &ignored) < 0 ||
		task_open(c, &now, &at, &ignored) < 0 || !question_is_committed(&at))
		return;
	say_warning(QUESTION_FILE " is committed on its branch: it is not merged until it is removed there");
}

void question_tell(struct context *c, const struct task *t, bool brief)
{
	auto_question q = { 0 };
	auto_buf line = BUF_SMALL;

	if (!load(c, t, &q))
		return;
	if (tickets_waits(c, t)) {
		say_state("task '%s' waits for its tickets, and then goes on", t->name);
		say_hint("garth wait %s", t->name);
		return;
	}
	say_one_line(&line, q.text);
	if (brief)
		shorten(&line);
	say_question("task '%s' asks: %s", t->name, buf_str(&line));
	for (size_t i = 0; i < q.options.n; i++) {
		auto_buf option = BUF_SMALL;

		say_question("  %zu. %s", i + 1, say_one_line(&option, q.options.v[i]));
	}
	if (!brief)
		tell_committed(c, t);
	say_hint(q.options.n ? "garth answer %s 1" : "garth answer %s \"...\"", t->name);
}

void question_options(struct context *c, const struct task *t, struct strvec *ret)
{
	auto_question q = { 0 };

	if (!load(c, t, &q))
		return;
	for (size_t i = 0; i < q.options.n; i++) {
		auto_buf option = BUF_SMALL;

		strvec_pushf(ret, "%zu. %s", i + 1, say_one_line(&option, q.options.v[i]));
	}
}

int question_choose(struct context *c, const struct task *t, const char *answer, char **ret, struct err *e)
{
	bool number = *answer && !answer[strspn(answer, "0123456789")];
	auto_question q = { 0 };
	unsigned long n;

	/* an option whose text is this number comes before the option with this number */
	if (!number || !load(c, t, &q) || !q.options.n || strvec_has(&q.options, answer)) {
		*ret = xstrdup(answer);
		return 0;
	}
	n = strlen(answer) < 6 ? strtoul(answer, NULL, 10) : 0;
	if (!n || n > q.options.n) {
		err_set(e, ERR_USAGE, "there is no option %s: the question has %zu of them", answer,
			q.options.n);
		return err_hint(e, "garth answer --text %s %s", t->name, answer);
	}
	*ret = xstrdup(q.options.v[n - 1]);
	return 0;
}

json_t *question_json(struct context *c, const struct task *t)
{
	auto_question q = { 0 };

	if (!load(c, t, &q))
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "text", json_text(q.text), "options", json_list(&q.options),
		"asked", json_time(q.asked));
}

char *question_line(struct context *c, const struct task *t)
{
	auto_question q = { 0 };
	auto_buf line = BUF_SMALL;

	return load(c, t, &q) ? xstrdup(say_one_line(&line, q.text)) : NULL;
}
