#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/deadline.h"
#include "shim/shim.h"
#include "sys/fd.h"

/* One call of git, for the time that it takes. */
struct call {
	const struct shim *shim;
	struct run run;
	struct words words;
	struct facts facts;
	struct verdict verdict;
	struct place place;
};

#define NO_ANSWER      128 /* as git has it where a remote does not answer */
#define REFUSED        1
#define TOO_SOON       429
#define PATIENCE_MS    30000
#define ARGS_MAX       1000 /* what the gateway takes */
#define ARGS_MAX_BYTES (ANSWER_BODY_MAX - 4096)

static bool verb_is(const struct call *c, const char *verb)
{
	return c->words.verb && !strcmp(c->run.argv[c->words.verb], verb);
}

static int blocked(const struct call *c, const char *message, const char *instead, int code)
{
	auto_buf tried = BUF_SMALL;

	say_command(&tried, c->run.argc, c->run.argv);
	print_refusal(message, buf_str(&tried), instead);
	return code;
}

static int refused(const struct call *c, const struct http_answer *a, int code)
{
	auto_buf tried = BUF_SMALL;

	if (!a->status)
		return blocked(c, "the gateway does not answer",
			"try again; what only reads, git add and git commit go on working", NO_ANSWER);
	say_command(&tried, c->run.argc, c->run.argv);
	print_blocked(a, buf_str(&tried));
	return code;
}

/* {"args":[…]} of what stands behind the verb. False where it does not all fit: then it is cut between two
 * words. */
static bool quote_args(const struct call *c, struct buf *out)
{
	int first = c->words.verb + 1;
	bool whole = true;

	if (verb_is(c, "remote"))
		while (first < c->run.argc && strcmp(c->run.argv[first - 1], "update") != 0)
			first++;
	buf_addstr(out, "{\"args\":[");
	for (int i = first; whole && i < c->run.argc; i++) {
		size_t before = out->len;

		if (i > first)
			buf_addch(out, ',');
		ask_quote(out, c->run.argv[i]);
		if (out->overflow || out->len > ARGS_MAX_BYTES || i - first >= ARGS_MAX) {
			out->overflow = false;
			buf_cut(out, before);
			whole = false;
		}
	}
	buf_addstr(out, "]}");
	return whole;
}

static bool post(const struct call *c, struct http_answer *ret)
{
	auto_buf json = BUF_INIT(ANSWER_BODY_MAX);
	struct deadline patience = deadline_in(PATIENCE_MS);
	char path[128];
	bool whole = quote_args(c, &json);
	int n = snprintf(path, sizeof(path), "/api/v1/git/%s", c->verdict.door);

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	/* a long list of files behind git reset is cut; what the gateway carries out itself is not */
	if (!whole && c->verdict.rule == RULE_GATEWAY)
		return false;
	/* who was asked a moment ago wants to be left alone for another */
	while (ask(c->shim->socket, path, buf_str(&json), ret) == TOO_SOON && deadline_sleep(&patience, 500))
		;
	return true;
}

static int by_gateway(const struct call *c)
{
	auto_http_answer a = ANSWER_INIT;
	auto_buf output = BUF_INIT(ANSWER_BODY_MAX), clean = BUF_INIT(4 * ANSWER_BODY_MAX);
	bool list = verb_is(c, "ls-remote");

	if (!post(c, &a))
		return blocked(c, "the command line is too long", "", NO_ANSWER);
	if (a.status != 200)
		return refused(c, &a, verb_is(c, "push") ? REFUSED : NO_ANSWER);
	if (answer_member(&a, list ? "refs" : "output", &output))
		clean_text(&clean, buf_str(&output), output.len, false);
	write_full(list ? STDOUT_FILENO : STDERR_FILENO, buf_str(&clean), clean.len);
	buf_reset(&output);
	buf_reset(&clean);
	if (verb_is(c, "pull") && answer_member(&a, "ref", &output)) {
		clean_text(&clean, buf_str(&output), output.len, false);
		fprintf(stderr, "garth: fetched, and not merged: git merge %s\n", buf_str(&clean));
	}
	return 0;
}

/* 0 where the gateway has nothing against it, else the exit status. */
static int ask_before(const struct call *c)
{
	auto_http_answer a = ANSWER_INIT;

	if (!c->verdict.door)
		return 0;
	if (!post(c, &a))
		return blocked(c, "the command line is too long", "", REFUSED);
	return a.status == 200 ? 0 : refused(c, &a, REFUSED);
}

/* git checkout WORD: another branch is refused, a file is checked out, and git is not left to make a branch
 * of a name that only a remote has. */
static int in_doubt(const struct call *c)
{
	auto_str word = xasprintf("%s^{commit}", c->run.argv[c->verdict.doubt]);
	auto_strvec argv = STRVEC_INIT;
	char id[256];

	if (run_ask(&c->run, id, sizeof(id), "rev-parse", "-q", "--verify", word, NULL))
		return blocked(c, c->verdict.message, c->verdict.instead, REFUSED);
	for (int i = 0; i < c->run.argc; i++) {
		strvec_push(&argv, c->run.argv[i]);
		if (i == c->words.verb)
			strvec_push(&argv, "--no-guess");
	}

	struct run r = c->run;

	r.argv = strvec_argv(&argv);
	return run_become(&r);
}

/* A remote that the agent made in its private repository, or a repository or bundle that is there. The user's
 * own are not known inside. */
static bool is_own_remote(const struct call *c)
{
	const char *word = c->run.argv[c->verdict.doubt];
	auto_str key = xasprintf("remote.%s.url", word);
	char url[8192];

	return run_ask(&c->run, url, sizeof(url), "config", "--get", key, NULL) ||
	       !faccessat(c->place.dir, word, F_OK, 0);
}

/* The command line with the trailer that the task's commits carry. */
static void with_trailer(const struct call *c, struct strvec *out)
{
	run_prefix(&c->run, out);
	/* so that amending does not pile them up */
	strvec_pushl(
		out, "-c", "trailer.ifexists=addIfDifferent", "commit", "--trailer", c->facts.trailer, NULL);
	for (int i = c->words.verb + 1; i < c->run.argc; i++)
		strvec_push(out, c->run.argv[i]);
}

/* A pipe by which the hook says that it asked. Where there is none, it is as if the hook had not. */
struct told {
	int in, out;
};

static struct told told_open(void)
{
	struct told t = { -1, -1 };
	char text[64];
	struct stat st;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return t;
	t.in = fds[0];
	/* out of the way of the numbers that scripts choose for themselves; inherited */
	t.out = fcntl(fds[1], F_DUPFD, 64);
	close(fds[1]);
	if (t.out >= 0 && !fstat(t.out, &st)) {
		snprintf(text, sizeof(text), "%d:%llu", t.out, (unsigned long long)st.st_ino);
		setenv("GARTH_TOLD", text, 1);
	}
	return t;
}

static bool told_close(struct told *t)
{
	char byte;
	bool told = t->in >= 0 && read(t->in, &byte, 1) == 1;

	fd_closep(&t->in);
	fd_closep(&t->out);
	unsetenv("GARTH_TOLD");
	return told;
}

/* Whether git runs our hook: it is not there where core.hooksPath leads elsewhere, or somebody removed it. */
static bool hook_in_place(const struct call *c)
{
	struct stat theirs, ours;
	char path[PATH_MAX];

	return run_ask(&c->run, path, sizeof(path), "rev-parse", "--git-path", "hooks/reference-transaction",
		       NULL) &&
	       !fstatat(c->place.dir, path, &theirs, 0) && !stat(c->shim->hook, &ours) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* How long HEAD's history is. */
static off_t head_log(const struct call *c)
{
	struct stat st;

	return c->place.git_dir >= 0 && !fstatat(c->place.git_dir, "logs/HEAD", &st, 0) ? st.st_size : 0;
}

/* What the hook would have done: HEAD as it was, the changes staged. */
static bool take_back(const struct call *c)
{
	auto_strvec argv = STRVEC_INIT;
	struct run_how how = { .stderr_fd = -1, .quiet = true, .aside = true };
	char old[128], head[1024];

	if (!run_ask(&c->run, head, sizeof(head), "symbolic-ref", "-q", "HEAD", NULL) ||
		strcmp(head, c->facts.branch) != 0 ||
		!run_ask(&c->run, old, sizeof(old), "rev-parse", "-q", "--verify", "HEAD@{1}", NULL))
		return false;
	run_prefix(&c->run, &argv);
	strvec_pushl(&argv, "reset", "--soft", old, NULL);
	how.argv = strvec_argv(&argv);
	return run_child(&c->run, &how) == 0;
}

static int publish_after(const struct call *c, bool committed)
{
	auto_http_answer a = ANSWER_INIT;
	int code;

	ask(c->shim->socket, "/api/v1/git/publish", "{}", &a);
	if (a.status == 200)
		return 0;
	if (!a.status) {
		say_draft();
		return 0;
	}
	code = refused(c, &a, REFUSED);
	if (committed && !take_back(c))
		fputs("garth: the commit could not be taken back and stays a draft\n", stderr);
	return code;
}

/* Runs git and sees to it that what it moved is published, whatever became of the hook. */
static int look_after(const struct call *c)
{
	auto_strvec argv = STRVEC_INIT;
	struct run_how how = { .stderr_fd = -1 };
	bool commit = verb_is(c, "commit"), told;
	off_t before = commit ? head_log(c) : 0;
	struct told pipe = told_open();
	int status;

	if (commit && *c->facts.trailer) {
		with_trailer(c, &argv);
		how.argv = strvec_argv(&argv);
	}
	status = run_child(&c->run, &how);
	told = told_close(&pipe);
	if (status || told || hook_in_place(c))
		return run_end(status);
	return publish_after(c, commit && head_log(c) > before);
}

static void read_operations(const char *file, char *out, size_t size)
{
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read_full(fd, out, size - 1);

	out[n < 0 ? 0 : n] = '\0';
}

static int route(struct call *c)
{
	int code;

	move_recover(c->place.git_dir);
	switch (c->verdict.rule) {
	case RULE_BLOCKED:
		if (c->verdict.doubt)
			return in_doubt(c);
		return blocked(c, c->verdict.message, c->verdict.instead, REFUSED);
	case RULE_GATEWAY:
		if (!c->verdict.doubt || !is_own_remote(c))
			return by_gateway(c);
		break;
	case RULE_ROUTED:
		code = ask_before(c);
		if (code)
			return code;
		break;
	case RULE_LOCAL:
		break;
	}
	if (c->verdict.moves)
		return look_after(c);
	if (verb_is(c, "mv") && move_wanted(&c->run, &c->place))
		return move_run(&c->run, &c->place);
	return run_become(&c->run);
}

int shim_git(const struct shim *s, int argc, char **argv)
{
	struct call c = { .shim = s, .place = PLACE_INIT };
	char git[PATH_MAX], operations[65536];
	const char *workspace;
	int code;

	if (argc < 1)
		return 2;
	argv[0] = (char *)"git";
	run_find(s->bin, git, sizeof(git));
	words_parse(argc, argv, &c.words);
	c.run = (struct run){ .git = git, .argc = argc, .argv = argv, .w = &c.words };
	facts_read(s->task, &c.facts);
	if (!*c.facts.branch)
		return run_become(&c.run);
	read_operations(s->operations, operations, sizeof(operations));
	table_look(argc, argv, &c.words, operations, c.facts.branch, c.facts.target, &c.verdict);
	if (c.verdict.rule == RULE_LOCAL && !c.verdict.moves && !verb_is(&c, "mv"))
		return run_become(&c.run);
	workspace = *c.facts.workspace ? c.facts.workspace : getenv("GARTH_WORKSPACE");
	place_find(argc, argv, &c.words, workspace ? workspace : "", &c.place);
	code = c.place.elsewhere ? run_become(&c.run) : route(&c);
	place_release(&c.place);
	return code;
}
