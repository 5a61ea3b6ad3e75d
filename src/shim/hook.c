#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/oid.h"
#include "base/path.h"
#include "shim/shim.h"
#include "sys/fd.h"

struct move {
	char line[2048]; /* the other fields point into it */
	const char *from, *to;
};

/* The repository of this hook: argv[0] is REPOSITORY/hooks/reference-transaction. */
static int open_repository(const char *hook)
{
	size_t n = (size_t)(path_base(hook) - hook);
	auto_str dir = xasprintf("%.*s..", (int)n, hook);

	return n ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static FILE *open_text(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static bool has_line(int dir, const char *path, const char *words)
{
	FILE *f = open_text(dir, path);
	char line[2048];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, words);
	}
	if (f)
		fclose(f);
	return found;
}

/* `git pack-refs`, and so `git gc`, calls the hook for a ref as if it were created, and then for its file as
 * if the ref were removed. Nothing moves: the ref is already at NEW, or packed at OLD. A git that really
 * removes a ref holds packed-refs.lock while the hook runs. */
static bool is_pack_refs(const char *hook, const char *branch, const struct move *m)
{
	auto_fd repository = open_repository(hook);
	auto_str packed = xasprintf("%s %s", m->from, branch);

	if (repository < 0 || oid_is_none(m->from) == oid_is_none(m->to))
		return false;
	if (oid_is_none(m->from))
		return has_line(repository, branch, m->to);
	return faccessat(repository, "packed-refs.lock", F_OK, 0) < 0 &&
	       has_line(repository, "packed-refs", packed);
}

/* Whether the line "OLD NEW REF" is about the branch and moves it. */
static bool line_moves(struct move *m, const char *branch)
{
	char *to = strchr(m->line, ' '), *ref = to ? strchr(to + 1, ' ') : NULL;

	if (!ref || strcmp(ref + 1, branch) != 0)
		return false;
	*to++ = '\0';
	*ref = '\0';
	m->from = m->line;
	m->to = to;
	/* forced removal is "0000 0000 REF" */
	return strcmp(m->from, m->to) != 0 || oid_is_none(m->to);
}

static bool find_move(const char *branch, struct move *m)
{
	while (fgets(m->line, sizeof(m->line), stdin)) {
		size_t n = strcspn(m->line, "\n");
		int ch = m->line[n];

		m->line[n] = '\0';
		/* too long to be the branch's */
		if (!ch) {
			while ((ch = getchar()) != EOF && ch != '\n')
				;
		} else if (line_moves(m, branch)) {
			return true;
		}
	}
	return false;
}

/* Tells the shim. A program in between may have closed the descriptor and used its number again, so it writes
 * only if the inode is that of the pipe. */
static void tell(void)
{
	const char *text = getenv("GARTH_TOLD");
	unsigned long long inode;
	struct stat st;
	int fd;

	if (text && sscanf(text, "%d:%llu", &fd, &inode) == 2 && !fstat(fd, &st) && S_ISFIFO(st.st_mode) &&
		st.st_ino == inode && write(fd, "!", 1) < 0)
		return; /* the pipe is full, so the shim has been told */
}

static void add_offer(struct buf *json, const char *hook, const struct move *m)
{
	auto_fd repository = open_repository(hook);
	auto_buf pack = BUF_INIT(OFFER_MAX);

	/* objects in another directory, which the environment names, are not in the repository */
	if (repository >= 0 && !getenv("GIT_OBJECT_DIRECTORY") &&
		offer_pack(repository, m->from, m->to, &pack))
		buf_printf(json, ",\"pack\":\"%s\"", buf_str(&pack));
}

/* In a submodule's repository, a file has the number by which the gateway knows it. */
static void add_submodule(struct buf *json, const char *hook)
{
	auto_fd repository = open_repository(hook);
	FILE *f = repository < 0 ? NULL : open_text(repository, "garth-submodule");
	unsigned n;

	if (f && fscanf(f, "%4u", &n) == 1)
		buf_printf(json, ",\"submodule\":%u", n);
	if (f)
		fclose(f);
}

static int publish_tip(const struct shim *s, const char *branch, const char *hook, const struct move *m)
{
	auto_buf json = BUF_INIT(OFFER_MAX + 4096), tried = BUF_SMALL;
	const char *tip = m->to;
	auto_http_answer a = ANSWER_INIT;

	buf_addstr(&json, "{\"tip\":");
	ask_quote(&json, tip);
	add_submodule(&json, hook);
	add_offer(&json, hook, m);
	buf_addch(&json, '}');
	ask(s->socket, "/api/v1/git/publish", buf_str(&json), &a);
	tell();
	if (a.status == 200)
		return 0;
	if (!a.status) {
		say_draft();
		return 0;
	}
	buf_printf(&tried, "move %s to %.7s", facts_short(branch), tip);
	print_blocked(&a, buf_str(&tried));
	return 1;
}

static int refuse_removal(const char *branch)
{
	auto_buf message = BUF_SMALL, tried = BUF_SMALL;

	buf_printf(&message, "%s is the task's branch and stays for as long as the task does",
		facts_short(branch));
	buf_printf(&tried, "remove or rename %s", facts_short(branch));
	print_refusal(buf_str(&message), buf_str(&tried),
		"leave it as it is; other branches made in the task can be removed");
	return 1;
}

int shim_hook(const struct shim *s, int argc, char **argv)
{
	struct move m = { 0 };
	struct facts f;

	if (argc < 2 || strcmp(argv[1], "prepared") != 0 || getenv("GARTH_GATEWAY"))
		return 0;
	facts_read(s->task, &f);
	if (!*f.branch)
		return 0;
	if (!find_move(f.branch, &m) || is_pack_refs(argv[0], f.branch, &m))
		return 0;
	if (oid_is_none(m.to))
		return refuse_removal(f.branch);
	return publish_tip(s, f.branch, argv[0], &m);
}
