/* The parts of `garth serve` that need no server: checks of requests, paths, token, timers, children. */
#include "scratch.h"

#include <event2/event.h>

#include "base/alloc.h"
#include "serve/child.h"
#include "serve/access.h"
#include "serve/routes.h"
#include "serve/timers.h"

static struct access a_door(void)
{
	struct access d = { .port = 7817 };

	memset(d.token.hex, 'a', TOKEN_LEN);
	return d;
}

static int status_of(const struct caller *c)
{
	struct access d = a_door();
	struct denial why = { 0 };

	return access_check(&d, c, &why) < 0 ? why.status : 0;
}

#define RIGHT "Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* O1 */
static void test_door(void **state)
{
	static const struct {
		struct caller caller;
		int status;
	} rows[] = {
		{ { "GET", "127.0.0.1:7817", NULL, RIGHT }, 0 },
		{ { "GET", "LocalHost:7817", "http://127.0.0.1:7817", RIGHT }, 0 },
		{ { "GET", NULL, NULL, RIGHT }, 403 },
		{ { "GET", "", NULL, RIGHT }, 403 },
		{ { "GET", "127.0.0.1", NULL, RIGHT }, 403 },
		{ { "GET", "127.0.0.1:78170", NULL, RIGHT }, 403 },
		{ { "GET", "evil.example:7817", NULL, RIGHT }, 403 },
		{ { "GET", "127.0.0.1:7817", "", RIGHT }, 403 },
		{ { "GET", "127.0.0.1:7817", "null", RIGHT }, 403 },
		{ { "GET", "127.0.0.1:7817", "127.0.0.1:7817", RIGHT }, 403 },
		{ { "GET", "127.0.0.1:7817", NULL, NULL }, 401 },
		{ { "GET", "127.0.0.1:7817", NULL, "" }, 401 },
		{ { "GET", "127.0.0.1:7817", NULL, "Bearer " }, 401 },
		{ { "GET", "127.0.0.1:7817", NULL, RIGHT "a" }, 401 },
		{ { "GET", "127.0.0.1:7817", NULL, &RIGHT[1] }, 401 },
		{ { "POST", "127.0.0.1:7817", NULL, "Bearer x" }, 401 },
		{ { "POST", "127.0.0.1:7817", NULL, RIGHT }, 405 },
		{ { "get", "127.0.0.1:7817", NULL, RIGHT }, 405 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (status_of(&rows[i].caller) != rows[i].status)
			fail_msg("row %zu: %d", i, status_of(&rows[i].caller));
	/* every character of the token counts */
	for (size_t i = 0; i < TOKEN_LEN; i++) {
		char header[] = RIGHT;

		header[strlen("Bearer ") + i] = 'b';
		assert_int_equal(status_of(&(struct caller){ "GET", "127.0.0.1:7817", NULL, header }), 401);
	}
}

/* O1: requests that two programs may understand differently */
static void test_form(void **state)
{
	struct denial why = { 0 };

	(void)state;
	assert_int_equal(access_form("/api/v1/tasks", NULL, &why), 0);
	assert_int_equal(access_form("/api/v1/tasks", "Host", &why), -1);
	assert_int_equal(why.status, 400);
	assert_int_equal(access_form("http://127.0.0.1:7817/api/v1/tasks", NULL, &why), -1);
	assert_int_equal(access_form("//127.0.0.1:7817/api/v1/tasks", NULL, &why), -1);
	assert_int_equal(access_form("*", NULL, &why), -1);
	assert_int_equal(access_form(NULL, NULL, &why), -1);
	assert_int_equal(access_name("Host", &why), 0);
	assert_int_equal(access_name("X-Some_thing.1", &why), 0);
	assert_int_equal(access_name("Host ", &why), -1);
	assert_int_equal(access_name("Host\t", &why), -1);
	assert_int_equal(access_name(" Host", &why), -1);
	assert_int_equal(access_name("Ho(st", &why), -1);
	assert_int_equal(access_name("", &why), -1);
}

static void assert_route(const char *path, const char *query, int status, const char *want)
{
	auto_strvec args = STRVEC_INIT;
	struct denial why = { 0 };
	auto_buf line = BUF_SMALL;
	int got = routes_find(path, query, &args, &why) < 0 ? why.status : 200;

	for (size_t i = 0; i < args.n; i++)
		buf_printf(&line, "%s%s", i ? " " : "", args.v[i]);
	if (got != status || (got == 200 && strcmp(buf_str(&line), want)))
		fail_msg("%s?%s: %d %s", path, query ? query : "", got, buf_str(&line));
}

/* O1 */
static void test_routes(void **state)
{
	(void)state;
	assert_route("/api/v1/tasks", NULL, 200, "ls --json --all-projects");
	assert_route("/api/v1/tasks", "", 200, "ls --json --all-projects");
	assert_route("/api/v1/tasks/fix", NULL, 200, "show --json -- fix");
	assert_route("/api/v1/tasks/fix/diff", NULL, 200, "diff --json -- fix");
	assert_route("/api/v1/audit", NULL, 200, "audit --json -n 1000");
	assert_route("/api/v1/audit", "task=fix", 200, "audit --json -n 1000 -- fix");
	assert_route("/api/v1/audit", "lines=7&task=fix", 200, "audit --json -n 7 -- fix");
	assert_route("/api/v1/audit", "lines=10000", 200, "audit --json -n 10000");
	assert_route("/api/v1/tasks/fix", "project=app", 200, "show --json -- app/fix");
	assert_route("/api/v1/tasks/fix/diff", "project=/home/u/a%20b%2Fapp", 200,
		"diff --json -- /home/u/a b/app/fix");
	assert_route("/api/v1/audit", "task=fix&project=app", 200, "audit --json -n 1000 -- app/fix");
	assert_route("/api/v1/audit", "project=app", 400, NULL);
	assert_route("/api/v1/tasks", "project=app", 400, NULL);
	assert_route("/api/v1/tasks/fix", "task=fix", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=a&project=b", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=a%", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=a%2", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=a%0a", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=a%00", 400, NULL);
	assert_route("/api/v1/tasks/fix", "project=%zz", 400, NULL);
	assert_route("", NULL, 404, NULL);
	assert_route("/api/v1/tasks/fix/diff/x", NULL, 404, NULL);
	assert_route("/api/v1/auditx", NULL, 404, NULL);
	assert_route("/api/v1/tasks/", NULL, 400, NULL);
	assert_route("/api/v1/tasks/--help", NULL, 400, NULL);
	assert_route("/api/v1/tasks/%66ix", NULL, 400, NULL);
	assert_route("/api/v1/tasks/..", NULL, 400, NULL);
	assert_route("/api/v1/tasks", "all", 400, NULL);
	assert_route("/api/v1/audit", "task", 400, NULL);
	assert_route("/api/v1/audit", "task=--verify", 400, NULL);
	assert_route("/api/v1/audit", "task=a&task=b", 400, NULL);
	assert_route("/api/v1/audit", "lines=0", 400, NULL);
	assert_route("/api/v1/audit", "lines=10001", 400, NULL);
	assert_route("/api/v1/audit", "lines=99999999999", 400, NULL);
	assert_route("/api/v1/audit", "&", 400, NULL);
}

/* O1: made once, kept, and readable only by the user */
static void test_token(void **state)
{
	static const char *const bad[] = { "", "short\n",
		"gggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggggg\n" };
	struct scratch *s = *state;
	struct token one = { 0 }, two = { 0 };
	struct err e = ERR_INIT;
	struct stat st;

	assert_int_equal(token_load(s->fd, &one, &e), 0);
	assert_int_equal(strspn(one.hex, "0123456789abcdef"), TOKEN_LEN);
	assert_int_equal(fstatat(s->fd, TOKEN_FILE, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(token_load(s->fd, &two, &e), 0);
	assert_string_equal(one.hex, two.hex);
	assert_int_equal(fchmodat(s->fd, TOKEN_FILE, 0640, 0), 0);
	assert_int_equal(token_load(s->fd, &two, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(unlinkat(s->fd, TOKEN_FILE, 0), 0);
		put(s->fd, TOKEN_FILE, bad[i]);
		assert_int_equal(token_load(s->fd, &two, &e), -1);
		assert_int_equal(e.kind, ERR_CONFIG);
	}
	assert_int_equal(unlinkat(s->fd, TOKEN_FILE, 0), 0);
	assert_int_equal(token_load(s->fd, &two, &e), 0);
	assert_string_not_equal(one.hex, two.hex);
}

/* Many servers that start at once get the same token. */
static void test_token_race(void **state)
{
	struct scratch *s = *state;
	struct token kept = { 0 };
	struct err e = ERR_INIT;
	pid_t pids[8];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			struct token t = { 0 }, again = { 0 };

			_exit(token_load(s->fd, &t, &e) || token_load(s->fd, &again, &e) ||
				strcmp(t.hex, again.hex));
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(token_load(s->fd, &kept, &e), 0);
}

/* T6 */
static void test_first_hour(void **state)
{
	(void)state;
	assert_int_equal(timers_first_left(100, 100), 3600);
	assert_int_equal(timers_first_left(100, 3699), 1);
	assert_int_equal(timers_first_left(100, 3700), 0);
	assert_int_equal(timers_first_left(100, 999999), 0);
}

static void test_timers_left(void **state)
{
	(void)state;
	assert_int_equal(timers_left(0, 3600, 1000000), 0);
	assert_int_equal(timers_left(1000000, 3600, 1000000), 3600);
	assert_int_equal(timers_left(1000000 - 3599, 3600, 1000000), 1);
	assert_int_equal(timers_left(1000000 - 3600, 3600, 1000000), 0);
	assert_int_equal(timers_left(1000000 - 90000, 3600, 1000000), 0);
	assert_int_equal(timers_left(1000001, 3600, 1000000), 0);
}

/* The child is this program: main gets its arguments. */
struct heard {
	struct event_base *base;
	int code;
	size_t len;
	char text[32];
};

static void on_end(void *arg, int code, const struct buf *out)
{
	struct heard *h = arg;

	h->code = code;
	h->len = out->len;
	snprintf(h->text, sizeof(h->text), "%.30s", buf_str(out));
	event_base_loopexit(h->base, NULL);
}

static struct heard run_child(const char *word, size_t out_max, unsigned seconds)
{
	struct heard h = { .base = event_base_new() };
	auto_strvec args = STRVEC_INIT;
	struct child *c = NULL;
	struct err e = ERR_INIT;

	strvec_pushl(&args, "child", word, NULL);
	assert_int_equal(child_start(h.base,
				 &(struct child_spec){ .args = &args,
					 .out_max = out_max,
					 .seconds = seconds,
					 .fn = on_end,
					 .arg = &h },
				 &c, &e),
		0);
	event_base_dispatch(h.base);
	event_base_free(h.base);
	return h;
}

static void test_child(void **state)
{
	struct heard h;

	(void)state;
	h = run_child("hello", 1000, 20);
	assert_int_equal(h.code, 3);
	assert_string_equal(h.text, "hello");
	h = run_child("hello", 0, 20);
	assert_int_equal(h.code, 3);
	assert_int_equal(h.len, 0);
	h = run_child("much", 1 << 20, 20);
	assert_int_equal(h.code, CHILD_LONG);
	h = run_child("much-and-end", 300000, 20);
	assert_int_equal(h.code, 0);
	assert_int_equal(h.len, 300000);
	h = run_child("sleep", 1000, 1);
	assert_int_equal(h.code, CHILD_LATE);
	h = run_child("die", 1000, 20);
	assert_int_equal(h.code, 128 + 9);
}

/* Ended early, with what it has started, which would keep the other end of the pipe open. */
static void test_child_end(void **state)
{
	struct event_base *base = event_base_new();
	auto_strvec args = STRVEC_INIT;
	struct child *c = NULL;
	struct err e = ERR_INIT;
	char byte;
	int p[2];

	(void)state;
	for (int patience = 0; patience < 2; patience++) {
		assert_int_equal(pipe(p), 0);
		/* stderr is passed on, so it shows all of its processes */
		int saved = dup(2);
		dup2(p[1], 2);
		strvec_release(&args);
		args = (struct strvec)STRVEC_INIT;
		strvec_pushl(&args, "child", "family", NULL);
		assert_int_equal(
			child_start(base, &(struct child_spec){ .args = &args, .seconds = 60, .heard = true },
				&c, &e),
			0);
		dup2(saved, 2);
		close(saved);
		close(p[1]);
		assert_int_equal(read_full(p[0], &byte, 1), 1);
		child_end(c, patience);
		assert_int_equal(read_full(p[0], &byte, 1), 0);
		close(p[0]);
	}
	child_end(NULL, false);
	event_base_free(base);
}

static int be_child(const char *word)
{
	static char much[100000];

	if (!strcmp(word, "hello"))
		return write_full(1, "hello", 5) < 0 ? 1 : 3;
	if (!strcmp(word, "much-and-end"))
		return write_full(1, much, sizeof(much)) || write_full(1, much, sizeof(much)) ||
		       write_full(1, much, sizeof(much));
	while (!strcmp(word, "much"))
		write_full(1, much, sizeof(much));
	if (!strcmp(word, "die"))
		kill(getpid(), SIGKILL);
	if (!strcmp(word, "family") && fork() > 0)
		write_full(2, "x", 1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_door),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_routes),
		scratch_test(test_token),
		scratch_test(test_token_race),
		cmocka_unit_test(test_timers_left),
		cmocka_unit_test(test_first_hour),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_child_end),
	};

	if (argc == 3 && !strcmp(argv[1], "child"))
		return be_child(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
