/* J8: files that are removed and held open count, also if those who hold them come and go all the time. */
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "scratch.h"
#include "sys/unlinked_files.h"

#define HELD    (1 << 20)
#define SECONDS 30
#define LOOKS   40

/* An unlinked file of HELD bytes. */
static int removed_file(const char *path)
{
	static const char zeros[HELD];
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, zeros, sizeof(zeros)), HELD);
	assert_int_equal(unlink(path), 0);
	return fd;
}

/* Each process hands the file on to a child and ends. */
static void run_chain(time_t until)
{
	while (time(NULL) < until)
		if (fork())
			_exit(0);
	_exit(0);
}

/* A child with grandchildren that are counted, as a task's first process has them. It leads a group. The first
 * grandchild is there on return. */
static pid_t start(int fd, bool chain)
{
	time_t until = time(NULL) + SECONDS;
	int there[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(there), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		setpgid(pid, pid);
		assert_int_equal(read(there[0], &byte, 1), 1);
		close(there[0]);
		close(there[1]);
		return pid;
	}
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_IGN);
	if (!fork()) {
		if (write(there[1], "", 1) != 1)
			_exit(1);
		if (chain)
			run_chain(until);
		sleep(SECONDS);
		_exit(0);
	}
	close(fd);
	sleep(SECONDS);
	_exit(0);
}

static void end(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void look(const char *dir, struct unlinked_files *ret)
{
	struct stat st;

	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(unlinked_files_count(getpid(), false, st.st_dev, ret), 0);
}

static void test_a_removed_file_counts(void **state)
{
	struct scratch *s = *state;
	auto_str path = xasprintf("%s/gone", s->path);
	int fd = removed_file(path);
	pid_t pid = start(fd, false);
	struct unlinked_files found;

	close(fd);
	look(s->path, &found);
	end(pid);
	assert_true(found.bytes >= HELD);
	assert_int_equal(found.inodes, 1);
}

static void test_nobody_who_ends_hides_it(void **state)
{
	struct scratch *s = *state;
	auto_str path = xasprintf("%s/gone", s->path);
	int fd = removed_file(path), unseen = 0;
	pid_t pid = start(fd, true);

	close(fd);
	for (int i = 0; i < LOOKS; i++) {
		struct unlinked_files found = { 0 };

		look(s->path, &found);
		unseen += found.bytes < HELD && !found.unsure;
	}
	end(pid);
	assert_int_equal(unseen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_removed_file_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_who_ends_hides_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
