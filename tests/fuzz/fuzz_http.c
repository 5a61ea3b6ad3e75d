/* Any bytes as what somebody says to the gateway: to its server, over a socket; and, from the second line on,
 * as the body of a request whose method and path the first line has. Each is answered, the answers are JSON,
 * the branch stays where it is, and after each the next request works. There is no inside: what would need
 * one fails at once. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "publish/publisher.h"
#include "gateway/routes.h"
#include "gateway/server.h"
#include "git/repo.h"
#include "sys/fd.h"
#include "sys/sock.h"
#include "sys/tree.h"
#include "task/task.h"

#define ROUNDS_PER_LOG 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	char path[64];
	int dir, agent, user;
	struct gateway gateway;
	char base[65];
	pthread_t server;
	unsigned rounds;
} the;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void clean_up(void)
{
	auto_fd root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err ignored = ERR_INIT;

	tree_remove(root, the.path + 1, &ignored);
}

static void *run_server(void *arg)
{
	struct err e = ERR_INIT;

	(void)arg;
	serve(&the.gateway, the.agent, the.user, 1000000, &e);
	return NULL;
}

static void make_repository(const char *top)
{
	struct git git = { .cwd = the.path }, in = { .cwd = top };
	struct err e = ERR_INIT;

	check(!git_do(&git, NULL, &e, "init", "-q", "-b", "main", top, NULL) &&
			!git_do(&in, NULL, &e, "-c", "user.name=T", "-c", "user.email=t@example.com",
				"commit", "-q", "--allow-empty", "-m", "first", NULL),
		e.msg);
}

static int64_t make_task(const char *top)
{
	struct task_spec spec = { .dir = top, .name = "fix", .backend = "worktree" };
	auto_context c = { .home.fd = -1 };
	auto_task t = { 0 };
	struct err e = ERR_INIT;

	check(!context_open(&c, &e) && !task_create(&c, &spec, &t, &e), e.msg);
	snprintf(the.base, sizeof(the.base), "%s", t.base);
	return t.id;
}

static void begin(void)
{
	struct err e = ERR_INIT;
	int64_t id;

	snprintf(the.path, sizeof(the.path), "%s/garth-fuzz.XXXXXX",
		access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	check(mkdtemp(the.path), "no scratch directory");
	atexit(clean_up);
	auto_str home = xasprintf("%s/home", the.path), top = xasprintf("%s/repo", the.path);
	the.dir = open(the.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(!mkdirat(the.dir, "home", 0755), "no home");
	setenv("HOME", home, 1);
	unsetenv("GARTH_HOME");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GARTH_CONFIG");
	make_repository(top);
	id = make_task(top);
	the.gateway.pub = (struct publisher)PUBLISHER_INIT(&the.gateway.in);
	check(!inside_open(&the.gateway.in, id, -1, &e), e.msg);
	/* nothing is read or written in a workspace */
	fd_closep(&the.gateway.in.at.ws.dir);
	the.gateway.in.at.ws.dir = -1;
	check(!sock_listen(the.dir, "agent", &the.agent, &e) && !sock_listen(the.dir, "user", &the.user, &e),
		e.msg);
	check(!pthread_create(&the.server, NULL, run_server, NULL), "no thread");
}

/* All that comes back until the other side closes. */
static void hear(int fd, struct buf *ret)
{
	struct pollfd p = { fd, POLLIN, 0 };
	char chunk[4096];
	ssize_t n;

	do {
		int ready = poll(&p, 1, 60000);

		check(ready == 1 || errno == EINTR, "no answer");
		n = read(fd, chunk, sizeof(chunk));
		if (n > 0)
			buf_add(ret, chunk, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
}

/* What cannot be sent because the other side has heard enough is not sent. */
static void say(int fd, const void *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = send(fd, (const char *)data + at, size - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	shutdown(fd, SHUT_WR);
}

static void over_the_socket(const void *data, size_t size, struct buf *ret)
{
	struct err e = ERR_INIT;
	auto_fd fd = -1;

	check(!sock_connect(the.dir, "user", &fd, &e), e.msg);
	say(fd, data, size);
	hear(fd, ret);
}

static void check_answer(int status, json_t *answer)
{
	json_t *error = json_object_get(answer, "error");

	check(json_is_object(answer), "the answer is no object");
	check(status == 200 || (status >= 400 && status < 600), "an odd status");
	check((status == 200) == !error, "an error that is none");
	check(!error || (*json_string_value(json_object_get(error, "code")) &&
				json_string_value(json_object_get(error, "message"))),
		"an error without its code");
	json_decref(answer);
}

/* "POST /path", a line break, the body. */
static void through_the_table(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	auto_str line = xstrndup((const char *)data, end ? (size_t)(end - data) : size);
	char *space = strchr(line, ' ');
	json_t *answer;

	if (!space || !end)
		return;
	*space = '\0';
	for (int user = 0; user < 2; user++) {
		const struct route_ask ask = { .user = user,
			.method = line,
			.path = space + 1,
			.session = user ? NULL : "11111111-2222-3333-4444-555555555555",
			.body = (const char *)end + 1,
			.len = size - (size_t)(end + 1 - data) };
		int status = route(&the.gateway, &ask, &answer);

		check_answer(status, answer);
	}
}

static void check_nothing_happened(void)
{
	struct err e = ERR_INIT;
	char now[65];

	check(!ref_read(&the.gateway.in.at.repo, the.gateway.in.task.branch, now, &e) &&
			!strcmp(now, the.base),
		"the branch moved");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "GET /api/v1/task HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	auto_buf answer = BUF_INIT(64u << 20);

	if (!the.server)
		begin();
	/* a log that is empty begins anew */
	if (++the.rounds % ROUNDS_PER_LOG == 0)
		unlinkat(the.gateway.in.context.home.fd, "audit.jsonl", 0);
	over_the_socket(data, size, &answer);
	buf_cut(&answer, 0);
	over_the_socket(good, sizeof(good) - 1, &answer);
	check(!strncmp(buf_str(&answer), "HTTP/1.1 200 ", 13), "the next request does not work");
	through_the_table(data, size);
	check_nothing_happened();
	return 0;
}
