/* T2: a task's command is stored with its options, and made into the words that resume it. */
#include "scratch.h"

#include "base/alloc.h"
#include "task/agent_name.h"
#include "task/command_words.h"
#include "task/push_owed.h"
#include "task/task_command.h"

static void save(const struct scratch *s, const char *first, const char *agent)
{
	auto_task_command cmd = { .agent = agent ? xstrdup(agent) : NULL, .timeout = 7, .weaker = true };
	struct err e = ERR_INIT;

	strvec_push(&cmd.argv, first);
	strvec_push(&cmd.argv, "\xff{session}");
	strvec_push(&cmd.ports, "8080");
	assert_int_equal(task_command_save(s->fd, &cmd, &e), 0);
}

static void test_saved_and_loaded(void **state)
{
	const struct scratch *s = *state;
	auto_task_command cmd = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(task_command_load(s->fd, &cmd, &e), -1);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	save(s, "make", "claude");
	assert_int_equal(task_command_load(s->fd, &cmd, &e), 0);
	assert_int_equal(cmd.argv.n, 2);
	assert_string_equal(cmd.argv.v[0], "make");
	assert_string_equal(cmd.argv.v[1], "\xff{session}");
	assert_string_equal(cmd.ports.v[0], "8080");
	assert_string_equal(cmd.agent, "claude");
	assert_string_equal(cmd.cwd, "");
	assert_int_equal(cmd.timeout, 7);
	assert_true(cmd.weaker);
	assert_null(cmd.push);
}

/* Tasks of earlier versions have the file under the name `again`. */
static void test_old_name(void **state)
{
	const struct scratch *s = *state;
	auto_task_command old = { 0 }, new = { 0 };
	struct err e = ERR_INIT;

	put(s->fd, "again",
		"{\"argv\":[\"make\",\"all\"],\"agent\":\"codex\",\"push\":\"main\",\"cwd\":\"src\"}");
	assert_int_equal(task_command_load(s->fd, &old, &e), 0);
	assert_string_equal(old.argv.v[1], "all");
	assert_string_equal(old.agent, "codex");
	assert_string_equal(old.push, "main");
	assert_string_equal(old.cwd, "src");
	save(s, "ninja", NULL);
	assert_false(there(s->fd, "again"));
	assert_int_equal(task_command_load(s->fd, &new, &e), 0);
	assert_string_equal(new.argv.v[0], "ninja");
}

/* A damaged file is an error; it does not make an older one count. */
static void test_damaged(void **state)
{
	const struct scratch *s = *state;
	auto_task_command cmd = { 0 };
	struct err e = ERR_INIT;

	put(s->fd, "again", "{\"argv\":[\"make\"]}");
	put(s->fd, "command", "{");
	assert_int_equal(task_command_load(s->fd, &cmd, &e), -1);
	assert_int_equal(e.kind, ERR_FAILED);
}

static void test_agent_name(void **state)
{
	const struct scratch *s = *state;
	auto_str created = NULL, ran = NULL;
	struct err e = ERR_INIT;

	assert_null(agent_name_load(s->fd));
	assert_int_equal(agent_name_save(s->fd, "codex", &e), 0);
	created = agent_name_load(s->fd);
	assert_string_equal(created, "codex");
	save(s, "claude", "claude");
	ran = agent_name_load(s->fd);
	assert_string_equal(ran, "claude");
}

static void test_push_owed(void **state)
{
	const struct scratch *s = *state;

	assert_false(push_owed(s->fd));
	push_owed_set(s->fd, true);
	assert_true(push_owed(s->fd));
	push_owed_set(s->fd, false);
	assert_false(push_owed(s->fd));
}

static void test_words(void **state)
{
	auto_task_command cmd = { 0 };
	auto_strvec first = STRVEC_INIT, resumed = STRVEC_INIT;

	(void)state;
	strvec_push(&cmd.argv, "agent");
	strvec_push(&cmd.argv, "--id={session}{answer}");
	command_words_first(&cmd.argv, "S", &first);
	assert_string_equal(first.v[1], "--id=S{answer}");
	assert_false(command_words_take_answer(&cmd, NULL));
	strvec_push(&cmd.resume, "{session}:{answer}");
	command_words_resume(&cmd, &(struct resume_how){ NULL, "S", "{session}", false }, &resumed);
	assert_int_equal(resumed.n, 1);
	assert_string_equal(resumed.v[0], "S:{session}");
	assert_true(command_words_take_answer(&cmd, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_saved_and_loaded),
		scratch_test(test_old_name),
		scratch_test(test_damaged),
		scratch_test(test_agent_name),
		scratch_test(test_push_owed),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
