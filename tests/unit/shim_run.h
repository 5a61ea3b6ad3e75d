/* Running the real git, a shell line, and a gateway that says what a file says, for the tests of the shim. */
#ifndef TESTS_SHIM_RUN_H
#define TESTS_SHIM_RUN_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "scratch.h"

#include "base/alloc.h"

/* Nothing of the user's configuration, a name to commit with. */
static inline void git_environment(void)
{
	static const char *const unwanted[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"GARTH_WORKSPACE", "GARTH_GATEWAY", "GARTH_TOLD" };
	static const char *const wanted[][2] = { { "GIT_CONFIG_NOSYSTEM", "1" },
		{ "GIT_CONFIG_GLOBAL", "/dev/null" }, { "GIT_AUTHOR_NAME", "A" },
		{ "GIT_AUTHOR_EMAIL", "a@example.com" }, { "GIT_COMMITTER_NAME", "A" },
		{ "GIT_COMMITTER_EMAIL", "a@example.com" }, { "GIT_PAGER", "cat" },
		{ "GIT_EDITOR", "true" } };

	for (size_t i = 0; i < ARRAY_SIZE(unwanted); i++)
		unsetenv(unwanted[i]);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		setenv(wanted[i][0], wanted[i][1], 1);
}

static inline int wait_code(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In the scratch directory. */
static inline int shell(const struct scratch *s, const char *line)
{
	pid_t pid = fork();

	if (!pid) {
		if (fchdir(s->fd) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(99);
	}
	return wait_code(pid);
}

static inline int real_git(const struct scratch *s, char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (fchdir(s->fd) < 0)
			_exit(99);
		dup2(null, 1);
		dup2(null, 2);
		execvp("git", argv);
		_exit(99);
	}
	return wait_code(pid);
}

/* One request whole: the body is as long as the head says. */
static inline void read_request(int fd, struct buf *request)
{
	for (;;) {
		const char *end = strstr(buf_str(request), "\r\n\r\n");
		const char *length = strstr(buf_str(request), "Content-Length: ");
		char *at;
		ssize_t n;

		if (end && length &&
			strlen(end + 4) >= (size_t)strtoul(length + strlen("Content-Length: "), NULL, 10))
			return;
		at = buf_reserve(request, 65536);
		n = at ? read(fd, at, 65536) : 0;
		if (n <= 0)
			return;
		request->len += (size_t)n;
		request->data[request->len] = '\0';
	}
}

/* Notes "PATH BODY" in `asked` and sends what is in `reply`: a status, a space, a body. */
static inline void serve_one(int dir, int fd)
{
	auto_buf request = BUF_INIT(4 << 20), reply = BUF_INIT(4 << 20), text = BUF_INIT(4 << 20);
	auto_fd asked = openat(dir, "asked", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct err e = ERR_INIT;
	char *path, *body;

	read_request(fd, &request);
	path = strchr(buf_str(&request), ' ');
	body = strstr(buf_str(&request), "\r\n\r\n");
	if (!path || !body || read_file(dir, "reply", &reply, &e) < 0)
		return;
	path++;
	dprintf(asked, "%.*s %s\n", (int)strcspn(path, " "), path, body + 4);
	buf_printf(&text, "HTTP/1.1 %.3s X\r\nContent-Length: %zu\r\n\r\n%s", buf_str(&reply), reply.len - 4,
		buf_str(&reply) + 4);
	write_full(fd, buf_str(&text), text.len);
}

/* A process that listens at `gateway` until it is killed. */
static inline pid_t serve(const struct scratch *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/gateway", s->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 16), 0);
	pid = fork();
	if (!pid)
		for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) {
			int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

			if (one < 0)
				_exit(1);
			serve_one(s->fd, one);
			close(one);
		}
	close(fd);
	return pid;
}

#endif
