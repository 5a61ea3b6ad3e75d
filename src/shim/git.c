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

/* One run of the shim as git. */
struct call {
	const struct shim *shim;
	struct run run;
	struct words words;
	struct facts facts;
	struct verdict verdict;
	struct which_repo place;
};

#define NO_ANSWER      128 /* git's exit status if a remote does not answer */
#define REFUSED        1
#define TOO_SOON       429
#define RETRY_MS       30000
#define ARGS_MAX       1000 /* the gateway's limit */
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

/* {"args":[…]} with the verb's arguments. False if they do not all fit: then the list ends after the last
 * that does. */
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
	struct deadline until = deadline_in(RETRY_MS);
	char path[128];
	bool whole = quote_args(c, &json);
	int n = snprintf(path, sizeof(path), "/api/v1/git/%s", c->verdict.route);

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	/* git reset's list of files may be cut; a command that the gateway carries out may not */
	if (!whole && c->verdict.rule == RULE_GATEWAY)
		return false;
	/* 429: the gateway is rate limited, so try again */
	while (ask(c->shim->socket, path, buf_str(&json), ret) == TOO_SOON && deadline_sleep(&until, 500))
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

/* 0 if the gateway allows the command, else the exit status. */
static int ask_before(const struct call *c)
{
	auto_http_answer a = ANSWER_INIT;

	if (!c->verdict.route)
		return 0;
	if (!post(c, &a))
		return blocked(c, "the command line is too long", "", REFUSED);
	return a.status == 200 ? 0 : refused(c, &a, REFUSED);
}

/* git checkout WORD: refuses another branch, and checks out a file. --no-guess, so that git does not create a
 * branch from a name that only a remote has. */
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

/* Whether the word is a remote that the agent made in its private repository, or an existing repository or
 * bundle. The user's remotes are not known inside. */
static bool is_own_remote(const struct call *c)
{
	const char *word = c->run.argv[c->verdict.doubt];
	auto_str key = xasprintf("remote.%s.url", word);
	char url[8192];

	return run_ask(&c->run, url, sizeof(url), "config", "--get", key, NULL) ||
	       !faccessat(c->place.dir, word, F_OK, 0);
}

/* The command line with the trailer of the task's commits. */
static void with_trailer(const struct call *c, struct strvec *out)
{
	run_prefix(&c->run, out);
	/* amending must not add it again */
	strvec_pushl(
		out, "-c", "trailer.ifexists=addIfDifferent", "commit", "--trailer", c->facts.trailer, NULL);
	for (int i = c->words.verb + 1; i < c->run.argc; i++)
		strvec_push(out, c->run.argv[i]);
}

/* A pipe with which the hook tells that it has asked the gateway. Without the pipe, it
 * counts as not asked. */
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
	/* inherited, and above the numbers that scripts use */
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

/* Whether git runs our hook: core.hooksPath may name another directory, or the agent may have removed it. */
static bool hook_in_place(const struct call *c)
{
	struct stat theirs, ours;
	char path[PATH_MAX];

	return run_ask(&c->run, path, sizeof(path), "rev-parse", "--git-path", "hooks/reference-transaction",
		       NULL) &&
	       !fstatat(c->place.dir, path, &theirs, 0) && !stat(c->shim->hook, &ours) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* The size of HEAD's reflog, which grows with a commit. */
static off_t head_log(const struct call *c)
{
	struct stat st;

	return c->place.git_dir >= 0 && !fstatat(c->place.git_dir, "logs/HEAD", &st, 0) ? st.st_size : 0;
}

/* Does what a failing hook would have done: HEAD as before, the changes staged. */
static bool undo_commit(const struct call *c)
{
	auto_strvec argv = STRVEC_INIT;
	struct run_how how = { .quiet = true, .aside = true };
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
	if (committed && !undo_commit(c))
		fputs("garth: the commit could not be taken back and stays a draft\n", stderr);
	return code;
}

/* Runs git and makes sure that what it moved is published, even if the hook did not run. */
static int run_and_publish(const struct call *c)
{
	auto_strvec argv = STRVEC_INIT;
	struct run_how how = { 0 };
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
		return run_and_publish(c);
	return run_become(&c->run);
}

int shim_git(const struct shim *s, int argc, char **argv)
{
	struct call c = { .shim = s, .place = WHICH_REPO_INIT };
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
	git_rules_look(argc, argv, &c.words, operations, c.facts.branch, c.facts.target, &c.verdict);
	if (c.verdict.rule == RULE_LOCAL && !c.verdict.moves)
		return run_become(&c.run);
	workspace = *c.facts.workspace ? c.facts.workspace : getenv("GARTH_WORKSPACE");
	which_repo_find(argc, argv, &c.words, workspace ? workspace : "", &c.place);
	code = c.place.elsewhere ? run_become(&c.run) : route(&c);
	which_repo_release(&c.place);
	return code;
}
