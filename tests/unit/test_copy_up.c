/* Facts 20: a directory in a lower layer becomes movable, and nothing of it is lost on the way. */
#include <sched.h>
#include <sys/mount.h>

#include "scratch.h"
#include "shim_run.h"

#include "jail/copy_up.h"
#include "jail/copy_up_parts.h"

/* Everything about the tree that programs see, except inode numbers. */
#define LIST "find d ! -type d -printf '%p %m %y %l %T@ %s %n\\n' -o -printf '%p %m %T@\\n' | sort"
/* The same after giving up: names of one file in a lower layer may have become separate files. */
#define LIST_FILES "find d ! -type d -printf '%p %m %y %l %T@ %s\\n' -o -printf '%p %m\\n' | sort"

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

/* An overlay at `over` as the jail has it, with a tree in its lower layer and changes in its upper one. */
static int mount_tree(const struct scratch *s)
{
	auto_str options = xasprintf(
		"lowerdir=%s/low,upperdir=%s/up,workdir=%s/work,userxattr", s->path, s->path, s->path);
	auto_str where = xasprintf("%s/over", s->path);

	if (shell(s,
		    "mkdir -p low/d/e/f low/d/g up work over && cd low/d && echo 1 >one && echo 2 >e/two && "
		    "echo 3 >e/f/three && echo 4 >g/four && ln g/four same && ln -s one link && mkfifo pipe && "
		    "chmod 000 e/two && chmod 751 one && touch -d @1000 one e/f g") ||
		own_mounts() < 0 || mount("overlay", where, "overlay", 0, options) < 0)
		return 77;
	/* the descriptor is of the old mount */
	if (dup2(open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), s->fd) < 0)
		return 77;
	return shell(s,
		"cd over/d && echo 5 >g/five && ln g/five five && rm -f e/f/gone && mkdir new && echo 6 >new/six && "
		"chmod 555 e/f && touch -d @2000 e g .");
}

static bool always(void *arg)
{
	(void)arg;
	return true;
}

static bool few(void *arg)
{
	int *n = arg;

	return ++*n < 4;
}

static int open_over(const struct scratch *s)
{
	return openat(s->fd, "over", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int movable_and_unchanged(const struct scratch *s)
{
	int top;

	if (mount_tree(s))
		return 77;
	top = open_over(s);
	/* the control: the kernel refuses it */
	if (!renameat(top, "d", top, "moved") || errno != EXDEV)
		return 1;
	if (!copy_up_needed(top, "d") || copy_up_needed(top, "nothing") ||
		shell(s, "cd over && " LIST " >../before"))
		return 2;
	if (copy_up_dir(top, "d", always, NULL) < 0 || copy_up_needed(top, "d") ||
		shell(s, "cd over && " LIST " | diff ../before - && test \"$(ls -A)\" = d"))
		return 4;
	/* names of one file still are */
	if (shell(s,
		    "cd over/d && echo more >>same && grep -q more g/four && echo more >>five && grep -q more g/five"))
		return 5;
	if (renameat(top, "d", top, "moved") < 0)
		return 6;
	if (shell(s, "cd over && test \"$(ls -A)\" = moved && test \"$(cat moved/e/f/three)\" = 3"))
		return 7;
	return copy_up_dir(top, "nothing", always, NULL) < 0 && errno == ENOENT ? 0 : 8;
}

static int given_up(const struct scratch *s)
{
	int n = 0, top;

	if (mount_tree(s))
		return 77;
	top = open_over(s);
	if (shell(s, "cd over && " LIST_FILES " >../before"))
		return 1;
	if (!copy_up_dir(top, "d", few, &n) || errno != ECANCELED)
		return 2;
	return shell(s, "cd over && " LIST_FILES " | diff ../before - && test \"$(ls -A)\" = d") ? 3 : 0;
}

/* The attack: what is mounted over a part of the tree would be left behind, and the part uncovered. */
static int stops_at_a_mount(const struct scratch *s)
{
	auto_str dir = xasprintf("%s/over/d/e/f", s->path), file = xasprintf("%s/over/d/one", s->path);
	int top;

	if (mount_tree(s))
		return 77;
	top = open_over(s);
	for (int i = 0; i < 2; i++) {
		const char *at = i ? file : dir;

		if (i ? mount("/dev/null", at, NULL, MS_BIND, NULL) : mount("none", at, "tmpfs", 0, NULL))
			return 1;
		if (shell(s, "cd over && " LIST_FILES " >../before"))
			return 2;
		if (!copy_up_dir(top, "d", always, NULL) || errno != EXDEV)
			return 3;
		if (shell(s, "cd over && " LIST_FILES " | diff ../before - && test \"$(ls -A)\" = d") ||
			umount(at) < 0)
			return 4;
	}
	return 0;
}

/* Emptied, and then it cannot be replaced: everything comes back. */
static int put_back(const struct scratch *s)
{
	struct tree_copy *t = calloc(1, sizeof(*t));
	int top, from, to;

	if (mount_tree(s) || !t)
		return 77;
	top = open_over(s);
	if (mkdirat(top, "copy", 0700) < 0 || shell(s, "cd over && " LIST " >../before"))
		return 1;
	from = tree_open(top, "d");
	to = t->root = tree_open(top, "copy");
	if (from < 0 || to < 0 || tree_link(t, from, to) < 0 || tree_empty(t, from, to) < 0)
		return 2;
	if (shell(s, "cd over && test -z \"$(ls -A d)\" && touch -d @2000 copy && chmod 755 copy"))
		return 3;
	if (tree_restore(to, from) < 0 ||
		shell(s, "cd over && find copy -type d -exec chmod u+w {} + && rm -rf copy && " LIST
			 " | diff ../before -"))
		return 4;
	tree_copy_release(t);
	free(t);
	return 0;
}

/* Killed at any step: the next start finds everything, and leaves nothing else. */
static int nothing_is_lost(const struct scratch *s)
{
	static const char *const steps[] = { "rename-linking", "rename-copied", "rename-emptying",
		"rename-emptied" };
	auto_str where = xasprintf("%s/over", s->path);

	if (mount_tree(s) || shell(s, "cd over && " LIST_FILES " >../before"))
		return 77;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int top = open_over(s);
		pid_t pid = fork();

		if (!pid) {
			setenv("GARTH_FAULT", steps[i], 1);
			_exit(copy_up_dir(top, "d", always, NULL) < 0 ? 1 : 0);
		}
		close(top);
#ifdef GARTH_FAULT_INJECTION
		if (wait_code(pid) != 128 + SIGKILL || shell(s, "cd over && test \"$(ls -A | wc -l)\" = 2"))
			return 10 + (int)i;
#else
		/* without it the word has no meaning */
		if (wait_code(pid))
			return 10 + (int)i;
#endif
		copy_up_recover(where);
		if (shell(s, "cd over && " LIST_FILES " | diff ../before - && test \"$(ls -A)\" = d"))
			return 20 + (int)i;
	}
	return 0;
}

/* A directory that looks like one of ours, and is none, names a directory in another mount. */
static int forged(const struct scratch *s)
{
	auto_str where = xasprintf("%s/over", s->path);

	if (mount_tree(s) ||
		shell(s,
			"mkdir -m 755 victim && echo v >victim/v && cd over && mkdir -p .garth-rename-0123456789abcdef/tree && "
			"mkdir .garth-rename-x && ln -s \"$PWD/../victim\" .garth-rename-0123456789abcdef/from"))
		return 77;
	copy_up_recover(where);
	return shell(
		s, "test \"$(stat -c %a victim)\" = 755 && test -s victim/v && test -d over/.garth-rename-x");
}

static void in_child(void **state, int (*fn)(const struct scratch *s))
{
	const struct scratch *s = *state;
	pid_t pid = fork();
	int code;

	if (!pid)
		_exit(fn(s));
	code = wait_code(pid);
	/* overlays cannot be mounted here */
	if (code == 77)
		skip();
	assert_int_equal(code, 0);
}

static void a_directory_becomes_movable_and_does_not_change(void **state)
{
	in_child(state, movable_and_unchanged);
}

static void giving_up_leaves_nothing(void **state)
{
	in_child(state, given_up);
}

static void a_mount_point_in_it_stops_everything(void **state)
{
	in_child(state, stops_at_a_mount);
}

static void what_was_removed_is_put_back(void **state)
{
	in_child(state, put_back);
}

static void nothing_is_lost_half_way(void **state)
{
	in_child(state, nothing_is_lost);
}

static void forged_leftovers_reach_no_other_mount(void **state)
{
	in_child(state, forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_directory_becomes_movable_and_does_not_change, setup, teardown),
		cmocka_unit_test_setup_teardown(giving_up_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mount_point_in_it_stops_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_removed_is_put_back, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_lost_half_way, setup, teardown),
		cmocka_unit_test_setup_teardown(forged_leftovers_reach_no_other_mount, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
