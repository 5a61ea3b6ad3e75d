#include "testing.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "task/notify.h"

static const struct notice plain = { .task = "login",
	.project = "app",
	.path = "/home/u/app",
	.state = "blocked",
	.question = "Which database?",
	.note = "" };

static void words_are_filled_in(void **state)
{
	auto_strvec command = STRVEC_INIT, words = STRVEC_INIT;

	(void)state;
	strvec_pushl(&command, "notify-send", "{message}", "a {message} b{message}", "{other}", NULL);
	notice_words(&plain, &command, &words);
	assert_int_equal(words.n, 4);
	assert_string_equal(words.v[0], "notify-send");
	assert_string_equal(words.v[1], "task 'login' (app) is blocked: Which database?");
	assert_string_equal(words.v[2],
		"a task 'login' (app) is blocked: Which database? btask 'login' (app) is blocked: Which database?");
	assert_string_equal(words.v[3], "{other}");
}

static void every_state_has_its_sentence(void **state)
{
	static const struct {
		struct notice n;
		const char *want;
	} t[] = {
		{ { "a", "", "", "done", "", "" }, "task 'a' is done" },
		{ { "a", "p", "/p", "failed", "", "uncommitted: x" },
			"task 'a' (p) is failed: uncommitted: x" },
		{ { "a", "p", "/p", "limit", "", "it holds 2 MB" },
			"task 'a' (p) is near or over a limit: it holds 2 MB" },
		{ { "a", "p", "/p", "blocked", "-rf {message}", "" },
			"task 'a' (p) is blocked: -rf {message}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		auto_strvec command = STRVEC_INIT, words = STRVEC_INIT;

		strvec_push(&command, "{message}");
		notice_words(&t[i].n, &command, &words);
		assert_string_equal(words.v[0], t[i].want);
	}
}

static const char *value_of(const struct strvec *env, const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (!strncmp(env->v[i], name, len) && env->v[i][len] == '=') {
			assert_null(found); /* a variable that is there twice has two values */
			found = env->v[i] + len + 1;
		}
	return found;
}

static void variables_replace_the_users(void **state)
{
	char *own[] = { "HOME=/home/u", "GARTH_TASK=other", "GARTH_NOTE=old", "GARTH_TASKS=kept", NULL };
	auto_strvec env = STRVEC_INIT;

	(void)state;
	notice_env(&plain, own, &env);
	assert_string_equal(value_of(&env, "HOME"), "/home/u");
	assert_string_equal(value_of(&env, "GARTH_TASKS"), "kept");
	assert_string_equal(value_of(&env, "GARTH_TASK"), "login");
	assert_string_equal(value_of(&env, "GARTH_PROJECT"), "/home/u/app");
	assert_string_equal(value_of(&env, "GARTH_STATE"), "blocked");
	assert_string_equal(value_of(&env, "GARTH_QUESTION"), "Which database?");
	assert_string_equal(value_of(&env, "GARTH_NOTE"), "");
	assert_non_null(value_of(&env, "GARTH_MESSAGE"));
}

/* ESCAPES 38: control characters, lines and length of an agent's text */
static void texts_are_clean_and_short(void **state)
{
	char *own[] = { NULL };
	auto_buf question = BUF_INIT(1 << 20);
	auto_strvec env = STRVEC_INIT;
	struct notice n = plain;
	const char *got;

	(void)state;
	buf_addstr(&question, "a\nb\tc\x1b]0;x\x07\r\xff");
	for (int i = 0; i < 100000; i++)
		buf_addstr(&question, "\xe2\x82\xac");
	n.question = buf_str(&question);
	notice_env(&n, own, &env);
	for (size_t i = 0; i < env.n; i++)
		for (const char *c = env.v[i]; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				fail_msg("a control character in '%.40s'", env.v[i]);
	got = value_of(&env, "GARTH_QUESTION");
	assert_int_equal(strncmp(got, "a b c", 5), 0);
	assert_true(strlen(got) <= NOTIFY_TEXT_MAX);
	assert_true(strlen(got) > NOTIFY_TEXT_MAX - 4);
	/* the last character is whole */
	assert_string_equal(got + strlen(got) - 3, "\xe2\x82\xac");
	assert_true(strlen(value_of(&env, "GARTH_MESSAGE")) <= NOTIFY_TEXT_MAX);
}

static void programs_are_found(void **state)
{
	static const struct {
		const char *name, *path;
	} t[] = { { "sh", "/bin/sh" }, { "/bin/sh", "/bin/sh" }, { "~/sh", "/bin/sh" },
		{ "garth-no-such", NULL }, { "/bin", NULL }, { "/etc/passwd", NULL } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct config c = { .home = "/bin" };
		const char *missing;
		auto_str path = NULL;

		strvec_push(&c.notify.command, t[i].name);
		path = notify_program(&c, &missing);
		if (t[i].path && (!path || missing))
			fail_msg("'%s' is not found", t[i].name);
		if (!t[i].path && (path || strcmp(missing, t[i].name) != 0))
			fail_msg("'%s' is found", t[i].name);
		strvec_release(&c.notify.command);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_filled_in),
		cmocka_unit_test(every_state_has_its_sentence),
		cmocka_unit_test(variables_replace_the_users),
		cmocka_unit_test(texts_are_clean_and_short),
		cmocka_unit_test(programs_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
