/* J1: modes, times and owners in a jail without namespaces: the task's own files can be changed, the user's
 * other files cannot, whichever way they are named. Each attack works without the filter. */
#include "supervisor_yard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

#include "base/alloc.h"
#include "sys/clock.h"

#define NR_FCHMODAT2 452
#define ROUNDS       4000
#define HELD         200 /* the number of one of the supervisor's descriptors */

static int chmod_own_fd(const char *prefix, int fd, const char *rest, mode_t mode)
{
	char path[64];

	snprintf(path, sizeof(path), "%s%d%s", prefix, fd, rest);
	return chmod(path, mode);
}

/* What is the task's own */

static int modes_inside(const struct yard *y)
{
	int dir = open(y->in, O_PATH | O_DIRECTORY | O_CLOEXEC), file = open_file(y, true, O_RDONLY);

	STEP(!chmod(y->in_file, 0601) && has_mode(y->in_file, 0601));
	STEP(!chdir(y->in) && !chmod("file", 0602) && has_mode(y->in_file, 0602));
	STEP(!chmod("../in/./file", 0603) && has_mode(y->in_file, 0603));
	STEP(!fchmodat(dir, "file", 0604, 0) && has_mode(y->in_file, 0604));
	STEP(!chmod_own_fd("/proc/self/fd/", file, "", 0605) && has_mode(y->in_file, 0605));
	STEP(!chmod_own_fd("/proc/thread-self/fd/", file, "", 0606) && has_mode(y->in_file, 0606));
	STEP(!chmod_own_fd("/dev/fd/", file, "", 0607) && has_mode(y->in_file, 0607));
	STEP(!chmod_own_fd("/proc/self/fd/", dir, "//file", 0610) && has_mode(y->in_file, 0610));
	STEP(!chmod("stays", 0611) && has_mode(y->in_file, 0611));
	STEP(!fchmod(file, 0612) && has_mode(y->in_file, 0612));
	STEP(!syscall(NR_FCHMODAT2, file, "", 0613, AT_EMPTY_PATH) && has_mode(y->in_file, 0613));
	STEP(!syscall(NR_FCHMODAT2, dir, "file", 0614, AT_SYMLINK_NOFOLLOW) && has_mode(y->in_file, 0614));
	STEP(!chmod(y->in, 0710) && has_mode(y->in, 0710));
	return 0;
}

static int modes_that_fail(const struct yard *y)
{
	int dir = open(y->in, O_PATH | O_DIRECTORY | O_CLOEXEC), file = open_file(y, true, O_PATH);

	STEP(chmod(y->in_file, 04700) < 0 && errno == EPERM);
	STEP(fchmod(file, 0700) < 0 && errno == EBADF);
	STEP(fchmod(199, 0700) < 0 && errno == EBADF);
	STEP(chmod("", 0700) < 0 && errno == ENOENT);
	STEP(fchmodat(199, "file", 0700, 0) < 0 && errno == EBADF);
	STEP(fchmodat(-5, "file", 0700, 0) < 0 && errno == EBADF);
	STEP(fchmodat(file, "file", 0700, 0) < 0 && errno == ENOTDIR);
	STEP(fchmodat(dir, "nothing", 0700, 0) < 0 && errno == ENOENT);
	STEP(chmod_own_fd("/proc/self/fd/", file, "/", 0700) < 0 && errno == ENOTDIR);
	STEP(syscall(NR_FCHMODAT2, dir, "stays", 0700, AT_SYMLINK_NOFOLLOW) < 0 && errno == EOPNOTSUPP);
	STEP(syscall(NR_FCHMODAT2, dir, "file", 0700, 1 << 30) < 0 && errno == EINVAL);
	return 0;
}

static int descriptors_for_writing(const struct yard *y)
{
	int file = memfd_create("m", MFD_CLOEXEC),
	    nameless = open(y->in, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	STEP(!fchmod(file, 0640) && !futimens(file, NULL));
	STEP(!fchmod(nameless, 0640) && !fchown(nameless, (uid_t)-1, getgid()));
	/* a path does not say whose descriptor it was */
	STEP(chmod_own_fd("/proc/self/fd/", nameless, "", 0600) < 0 && errno == EPERM);
	return 0;
}

static bool has_times(const char *path, time_t atime, time_t mtime, long nsec)
{
	struct stat st;

	return !lstat(path, &st) && st.st_atime == atime && st.st_mtime == mtime &&
	       st.st_mtim.tv_nsec == nsec;
}

static int times_inside(const struct yard *y)
{
	const struct timespec spec[2] = { { 11, 1 }, { 12, 34 } }, omit[2] = { { 0, UTIME_OMIT }, { 77, 0 } },
			      wrong[2] = { { 1, -1 }, { 1, 0 } };
	const struct timeval val[2] = { { 21, 1 }, { 22, 5 } }, bad[2] = { { 1, 0 }, { 1, 1000000 } };
	const struct utimbuf buf = { 31, 32 };
	int dir = open(y->in, O_PATH | O_DIRECTORY | O_CLOEXEC), file = open_file(y, true, O_RDONLY);
	struct stat st;

	STEP(!utimensat(dir, "file", spec, 0) && has_times(y->in_file, 11, 12, 34));
	STEP(!utimensat(dir, "file", omit, 0) && has_times(y->in_file, 11, 77, 0));
	STEP(utimensat(dir, "file", wrong, 0) < 0 && errno == EINVAL);
	STEP(!syscall(SYS_utimes, y->in_file, val) && has_times(y->in_file, 21, 22, 5000));
	STEP(syscall(SYS_utimes, y->in_file, bad) < 0 && errno == EINVAL);
	STEP(!syscall(SYS_utime, y->in_file, &buf) && has_times(y->in_file, 31, 32, 0));
	STEP(!syscall(SYS_futimesat, dir, "stays", val) && has_times(y->in_file, 21, 22, 5000));
	STEP(!syscall(SYS_futimesat, file, NULL, NULL) && !stat(y->in_file, &st) && st.st_mtime > 1000);
	STEP(!futimens(file, spec) && has_times(y->in_file, 11, 12, 34));
	STEP(!utimensat(AT_FDCWD, y->in_file, NULL, 0) && !stat(y->in_file, &st) && st.st_mtime > 1000);
	STEP(!utimensat(file, "", spec, AT_EMPTY_PATH) && has_times(y->in_file, 11, 12, 34));
	/* the link's own times, although it leads outside */
	STEP(!chdir(y->in) && !utimensat(AT_FDCWD, "leaves", spec, AT_SYMLINK_NOFOLLOW));
	STEP(has_times("leaves", 11, 12, 34));
	return 0;
}

static void own_files_can_be_changed(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	assert_int_equal(jailed(&y, modes_inside), 0);
	assert_int_equal(jailed(&y, modes_that_fail), 0);
	assert_int_equal(jailed(&y, descriptors_for_writing), 0);
	assert_int_equal(jailed(&y, times_inside), 0);
	assert_false(touched(y.ex_file));
}

/* What is not */

static int by_path(const struct yard *y)
{
	return error_of(chmod(y->ex_file, 0666));
}

static int by_dots(const struct yard *y)
{
	return chdir(y->in) ? 254 : error_of(chmod("../ex/file", 0666));
}

static int by_link(const struct yard *y)
{
	return chdir(y->in) ? 254 : error_of(chmod("leaves", 0666));
}

static int by_cwd(const struct yard *y)
{
	return chdir(y->ex) ? 254 : error_of(chmod("file", 0666));
}

static int by_directory(const struct yard *y)
{
	return error_of(fchmodat(open(y->ex, O_PATH | O_CLOEXEC), "file", 0666, 0));
}

static int by_own_fd(const struct yard *y)
{
	return error_of(chmod_own_fd("/proc/self/fd/", open_file(y, false, O_PATH), "", 0666));
}

static int by_dev_fd(const struct yard *y)
{
	return error_of(chmod_own_fd("/dev/fd/", open_file(y, false, O_PATH), "", 0666));
}

static int by_own_directory(const struct yard *y)
{
	return error_of(chmod_own_fd("/proc/self/fd/", open(y->ex, O_PATH | O_CLOEXEC), "/file", 0666));
}

/* It cannot be recognised as the caller's, and must not be taken for the supervisor's descriptor of that
 * number. */
static int by_dotted_own_fd(const struct yard *y)
{
	(void)y;
	return error_of(chmod_own_fd("/proc/./self/fd/", HELD, "", 0666));
}

/* The supervisor's root. */
static int by_its_root(const struct yard *y)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/%d/root%s", getppid(), y->ex_file);
	return error_of(chmod(path, 0666));
}

/* One of the supervisor's descriptors. */
static int by_its_fd(const struct yard *y)
{
	char path[64];

	(void)y;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), HELD);
	return error_of(chmod(path, 0666));
}

static int by_empty_path(const struct yard *y)
{
	return error_of(syscall(NR_FCHMODAT2, open_file(y, false, O_PATH), "", 0666, AT_EMPTY_PATH));
}

static int by_reading(const struct yard *y)
{
	return error_of(fchmod(open_file(y, false, O_RDONLY), 0666));
}

/* Landlock allows this open: it is neither for reading nor for writing. */
static int by_access_mode_3(const struct yard *y)
{
	return error_of(fchmod(open_file(y, false, O_ACCMODE), 0666));
}

static int touch_path(const struct yard *y)
{
	return error_of(utimensat(AT_FDCWD, y->ex_file, NULL, 0));
}

static int touch_link(const struct yard *y)
{
	return chdir(y->in) ? 254 : error_of(utimensat(AT_FDCWD, "leaves", NULL, 0));
}

static int touch_fd(const struct yard *y)
{
	return error_of(futimens(open_file(y, false, O_RDONLY), NULL));
}

static int touch_empty_path(const struct yard *y)
{
	return error_of(utimensat(open_file(y, false, O_PATH), "", NULL, AT_EMPTY_PATH));
}

static int touch_utimes(const struct yard *y)
{
	return error_of(syscall(SYS_utimes, y->ex_file, NULL));
}

static int touch_utime(const struct yard *y)
{
	return error_of(syscall(SYS_utime, y->ex_file, NULL));
}

static int touch_futimesat(const struct yard *y)
{
	return error_of(syscall(SYS_futimesat, open(y->ex, O_PATH | O_CLOEXEC), "file", NULL));
}

static const struct {
	attempt_fn *fn;
	int error;
} changes[] = {
	{ by_path, EPERM },
	{ by_dots, EPERM },
	{ by_link, EPERM },
	{ by_cwd, EPERM },
	{ by_directory, EPERM },
	{ by_own_fd, EPERM },
	{ by_dev_fd, EPERM },
	{ by_own_directory, EPERM },
	{ by_dotted_own_fd, ELOOP },
	{ by_its_root, ELOOP },
	{ by_its_fd, ELOOP },
	{ by_empty_path, EPERM },
	{ by_reading, EPERM },
	{ by_access_mode_3, EBADF },
	{ touch_path, EPERM },
	{ touch_link, EPERM },
	{ touch_fd, EPERM },
	{ touch_empty_path, EPERM },
	{ touch_utimes, EPERM },
	{ touch_utime, EPERM },
	{ touch_futimesat, EPERM },
};

static void others_files_cannot(void **state)
{
	struct yard y;
	int held;

	yard_init(&y, *state);
	held = open(y.ex_file, O_RDONLY | O_CLOEXEC);
	assert_int_equal(dup3(held, HELD, O_CLOEXEC), HELD);
	close(held);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		print_message("change %zu\n", i);
		assert_int_equal(bare(&y, changes[i].fn), 0);
		assert_true(touched(y.ex_file));
		yard_reset(&y);
		assert_int_equal(jailed(&y, changes[i].fn), changes[i].error);
		assert_false(touched(y.ex_file));
	}
	close(HELD);
}

/* A descriptor's number is the caller's, even if the supervisor has one of that number. */
static int number_of_another(const struct yard *y)
{
	(void)y;
	close(HELD);
	STEP(chmod_own_fd("/proc/self/fd/", HELD, "", 0666) < 0 && errno == EBADF);
	STEP(fchmod(HELD, 0666) < 0 && errno == EBADF);
	return 0;
}

static void numbers_are_the_callers(void **state)
{
	struct yard y;
	int held;

	yard_init(&y, *state);
	held = open(y.in_file, O_RDWR | O_CLOEXEC);
	assert_int_equal(dup3(held, HELD, O_CLOEXEC), HELD);
	close(held);
	assert_int_equal(jailed(&y, number_of_another), 0);
	assert_false(touched(y.in_file));
	close(HELD);
}

/* Races: a second thread swaps what the call is about. */

struct race {
	const struct yard *y;
	char path[128];
	bool stop;
};

static bool going(struct race *r)
{
	return !__atomic_load_n(&r->stop, __ATOMIC_RELAXED);
}

static void *swap_string(void *arg)
{
	struct race *r = arg;
	size_t at = strlen(r->y->in) - 2;

	for (unsigned i = 0; going(r); i++)
		for (size_t k = 0; k < 2; k++)
			__atomic_store_n(&r->path[at + k], (i & 1 ? "ex" : "in")[k], __ATOMIC_RELAXED);
	return NULL;
}

static void *swap_link(void *arg)
{
	struct race *r = arg;

	for (unsigned i = 0; going(r); i++) {
		(void)!symlink(i & 1 ? "../ex/file" : "file", "new");
		rename("new", "swapped");
	}
	return NULL;
}

static void *swap_fd(void *arg)
{
	struct race *r = arg;
	int in = open_file(r->y, true, O_RDONLY), ex = open_file(r->y, false, O_RDONLY);

	for (unsigned i = 0; going(r); i++)
		dup3(i & 1 ? ex : in, 50, O_CLOEXEC);
	return NULL;
}

static int race(const struct yard *y, void *(*swap)(void *), int (*call)(struct race *r))
{
	struct race r = { .y = y };
	int64_t end = clock_ms() + 500;
	pthread_t thread;
	int done = 0;

	snprintf(r.path, sizeof(r.path), "%s", y->in_file);
	if (chdir(y->in) < 0 || pthread_create(&thread, NULL, swap, &r))
		return 254;
	/* long enough for the other thread to run on a busy machine */
	for (unsigned i = 0; i < ROUNDS || clock_ms() < end; i++)
		done += !call(&r);
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return done ? 0 : 253;
}

static int chmod_string(struct race *r)
{
	return chmod(r->path, 0666);
}

static int touch_string(struct race *r)
{
	return utimensat(AT_FDCWD, r->path, NULL, 0);
}

static int chmod_link(struct race *r)
{
	(void)r;
	return chmod("swapped", 0666);
}

static int chmod_fd(struct race *r)
{
	(void)r;
	return fchmod(50, 0666);
}

static int chmod_fd_path(struct race *r)
{
	(void)r;
	return chmod("/proc/self/fd/50", 0666);
}

static int race_string(const struct yard *y)
{
	return race(y, swap_string, chmod_string);
}

static int race_times(const struct yard *y)
{
	return race(y, swap_string, touch_string);
}

static int race_link(const struct yard *y)
{
	return race(y, swap_link, chmod_link);
}

static int race_fd(const struct yard *y)
{
	return race(y, swap_fd, chmod_fd);
}

static int race_fd_path(const struct yard *y)
{
	return race(y, swap_fd, chmod_fd_path);
}

static void races_are_lost(void **state)
{
	static attempt_fn *const races[] = { race_string, race_times, race_link, race_fd, race_fd_path };
	struct yard y;

	yard_init(&y, *state);
	for (size_t i = 0; i < ARRAY_SIZE(races); i++) {
		print_message("race %zu\n", i);
		/* the control: without walls the race is won, on a busy machine after a few tries */
		for (int k = 0; k < 20 && !touched(y.ex_file); k++)
			assert_int_equal(bare(&y, races[i]), 0);
		assert_true(touched(y.ex_file));
		yard_reset(&y);
		assert_int_equal(jailed(&y, races[i]), 0);
		assert_true(touched(y.in_file));
		assert_false(touched(y.ex_file));
		yard_reset(&y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(own_files_can_be_changed),
		scratch_test(others_files_cannot),
		scratch_test(numbers_are_the_callers),
		scratch_test(races_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
