/* What a task is shown, and was shown before. */
#include "scratch.h"

#include "task/shown.h"

static void add(struct context *c, const char *lines)
{
	auto_buf now = BUF_SMALL;
	struct err e = ERR_INIT;

	buf_addstr(&now, lines);
	assert_int_equal(shown_write(c, 7, &now, &e), 0);
}

static void assert_shown(struct context *c, const char *want)
{
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(shown_read(c, 7, &text, &e), 0);
	assert_string_equal(buf_str(&text), want);
}

static void what_was_shown_is_not_forgotten(void **state)
{
	struct scratch *s = *state;
	struct context c = { .home = { s->path, s->fd } };
	auto_strvec now = STRVEC_INIT, before = STRVEC_INIT, ids = STRVEC_INIT;
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	mkdirat(s->fd, "tasks", 0700);
	mkdirat(s->fd, "tasks/7", 0700);
	assert_shown(&c, "");
	add(&c, "a1 refs/heads/main\nb1 refs/tags/v1\nb2 refs/tags/v2\n");
	assert_shown(&c, "a1 refs/heads/main\nb1 refs/tags/v1\nb2 refs/tags/v2\n");
	add(&c, "a2 refs/heads/main\nb2 refs/tags/v2\nb3 refs/tags/v3\n");
	assert_shown(&c,
		"a2 refs/heads/main\nb2 refs/tags/v2\nb3 refs/tags/v3\na1 ~refs/heads/main\nb1 ~refs/tags/v1\n");
	/* moving back and forth leaves each value once */
	add(&c, "a1 refs/heads/main\n");
	add(&c, "a2 refs/heads/main\n");
	add(&c, "a1 refs/heads/main\n");
	shown_read(&c, 7, &text, &e);
	shown_branches(&text, &now, &before);
	shown_ids(&text, &ids);
	assert_int_equal(now.n, 1);
	assert_string_equal(now.v[0], "a1");
	assert_true(strvec_has(&before, "a2"));
	assert_true(strvec_has(&ids, "b1") && strvec_has(&ids, "b2") && strvec_has(&ids, "b3"));
	assert_int_equal(ids.n, 6);
}

static void a_name_tells_the_form(void **state)
{
	struct task old = { .shown = (char *)"0123456789abcdef0123456789abcdef" }, new_one;
	auto_buf none = BUF_SMALL;
	char name[35];

	(void)state;
	shown_name(&none, name);
	new_one.shown = name;
	assert_int_equal(strlen(name), 34);
	assert_true(shown_is_known(&new_one));
	assert_false(shown_is_known(&old));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(what_was_shown_is_not_forgotten),
		scratch_test(a_name_tells_the_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
