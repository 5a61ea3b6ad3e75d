/* Facts 20: git mv of a directory in a lower layer works. */
#include <sched.h>
#include <sys/mount.h>

#include "shim_world.h"

static void copying_up_changes_nothing(void **state)
{
	struct world *w = *state;

	assert_int_equal(
		shell(w->s,
			"cd ws && mkdir -p d/e/f && ln -s nowhere d/link && echo x >d/e/x && chmod 751 d/e/x && "
			"chmod 500 d/e/f && touch -d @1000 d/e/x d/e && mkfifo d/p && "
			"find d -printf '%p %m %y %l %T@ %s\\n' | sort | grep -v '^d ' >../before"),
		0);
	int ws = openat(w->s->fd, "ws", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(move_copy_up(ws, "d/", -1), 0);
	assert_int_equal(move_copy_up(ws, "./d/e", -1), 0);
	assert_int_equal(move_copy_up(ws, "d/link", -1), -1);
	assert_int_equal(move_copy_up(ws, "nothing", -1), -1);
	assert_int_equal(move_copy_up(ws, ".", -1), -1);
	assert_int_equal(
		shell(w->s,
			"cd ws && find d -printf '%p %m %y %l %T@ %s\\n' | sort | grep -v '^d ' | diff ../before - && "
			"test \"$(ls)\" = 'a\nd' && test -s d/f"),
		0);
	close(ws);
}

static int tell_kernel(const char *path, const char *text)
{
	auto_fd fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : write_full(fd, text, strlen(text));
}

/* The right to mount: root has it, others make a user namespace. */
static int own_mounts(void)
{
	auto_str uids = xasprintf("%d %d 1", (int)geteuid(), (int)geteuid());
	auto_str gids = xasprintf("%d %d 1", (int)getegid(), (int)getegid());
	bool root = !geteuid();

	if (unshare(root ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	if (!root && (tell_kernel("/proc/self/uid_map", uids) < 0 ||
			     tell_kernel("/proc/self/setgroups", "deny") < 0 ||
			     tell_kernel("/proc/self/gid_map", gids) < 0))
		return -1;
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* In an overlay, as the jail has it, with all of it in the lower layer. */
static int move_in_overlay(struct world *w)
{
	struct scratch *s = w->s;
	auto_str options = xasprintf(
		"lowerdir=%s/ws,upperdir=%s/up,workdir=%s/work,userxattr", s->path, s->path, s->path);
	auto_str where = xasprintf("%s/over", s->path);

	if (own_mounts() < 0 || mount("overlay", where, "overlay", 0, options) < 0)
		return 77;
	setenv("GARTH_WORKSPACE", where, 1);
	/* the control: it is needed here */
	if (!shell(s, "cd over && git mv d moved 2>/dev/null"))
		return 1;
	if (git(w, "mv|d|moved") ||
		shell(s, "cd over && test \"$(git status --porcelain)\" = 'R  d/f -> moved/f' && "
			 "test \"$(ls)\" = 'a\ne\nh\nmoved' && test ! -s ../err"))
		return 2;
	/* two at once, one of them a file: git would leave the first half moved */
	if (git(w, "mv|a|e|moved") || shell(s, "cd over && test -f moved/a -a -f moved/e/g -a ! -e e"))
		return 3;
	/* errors stay errors, and are printed once */
	if (git(w, "mv|nothing|x") != 128 || git(w, "mv|moved|moved/below") != 128 ||
		shell(s, "cd over && test $(wc -l <../err) = 1 && test \"$(ls)\" = 'h\nmoved'"))
		return 4;
	return 0;
}

/* A mount point in the way: removing fails half way, and what was removed is restored. */
static int put_back_in_overlay(struct world *w)
{
	auto_str busy = xasprintf("%s/over/h/m", w->s->path);

	if (move_in_overlay(w))
		return 1;
	if (shell(w->s,
		    "cd over && mkdir h/m && chmod 500 h/x/y && touch -d @1000 h/x && find h -printf '%p %m %y %l %T@\\n' "
		    "| sort >../before") ||
		mount("none", busy, "tmpfs", 0, NULL) < 0 || git(w, "mv|h|moved") == 0 || umount(busy) < 0)
		return 2;
	/* the mount point itself was covered */
	return shell(w->s,
		       "cd over && find h -printf '%p %m %y %l %T@\\n' | sort | grep -v '^h/m ' >../after && "
		       "grep -v '^h/m ' ../before | diff - ../after && test \"$(ls)\" = 'h\nmoved' && "
		       "grep -q 'as it was' ../err")
		       ? 3
		       : 0;
}

static void directories_move_in_an_overlay(void **state)
{
	struct world *w = *state;
	pid_t pid;
	int code;

	assert_int_equal(
		shell(w->s, "mkdir up work over && cd ws && mkdir -p e/s h/x/y h/z && echo g >e/g && "
			    "echo g >e/s/g && for f in h/x h/x/y h/z; do echo $f >$f/f; done && git add . && "
			    "GARTH_GATEWAY=1 git commit -qm e"),
		0);
	pid = fork();
	if (!pid)
		_exit(put_back_in_overlay(w));
	code = wait_code(pid);
	assert_int_equal(code, 0);
}

/* Killed at any step: everything exists, in one place. */
static void nothing_is_lost_half_way(void **state)
{
	static const char *const steps[] = { "mv-copied", "mv-removed" };
	struct world *w = *state;

	assert_int_equal(shell(w->s, "cd ws && mkdir d/e && echo g >d/e/g && cp -a d ../before"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		pid_t pid = fork();

		if (!pid) {
			setenv("GARTH_FAULT", steps[i], 1);
			_exit(fchdir(w->s->fd) < 0 ? 99 : move_copy_up(AT_FDCWD, "ws/d", -1));
		}
#ifdef GARTH_FAULT_INJECTION
		assert_int_equal(wait_code(pid), 128 + SIGKILL);
		assert_int_equal(shell(w->s, "cd ws && diff -r ../before d.garth-* >/dev/null"), 0);
#else
		/* without it the word has no meaning */
		assert_int_equal(wait_code(pid), 0);
		assert_int_equal(shell(w->s, "cd ws && diff -r ../before d >/dev/null"), 0);
#endif
		assert_int_equal(shell(w->s, "cd ws && rm -rf d d.garth-* && cp -a ../before d"), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		world_test(copying_up_changes_nothing),
		world_test(nothing_is_lost_half_way),
		world_test(directories_move_in_an_overlay),
	};
	int code;

	if (world_begin(argc, argv, &code))
		return code;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
