#include "gateway/bring.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* From the pack's end to the end of who made it. */
#define END_SECONDS 20

/* The running pack-objects, and what it says. */
struct sender {
	uint32_t id;
	int pack, words;
};

static void sender_close(struct sender *s)
{
	fd_closep(&s->pack);
	fd_closep(&s->words);
}
#define auto_sender __attribute__((cleanup(sender_close))) struct sender

static int start(struct gate *g, const char *tip, const struct strvec *known, size_t nknown, struct sender *s,
	struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_strvec args = STRVEC_INIT;
	auto_buf revs = BUF_SMALL;
	auto_fd in = -1, pack = -1, words = -1;
	int pair[2];

	buf_printf(&revs, "%s\n", tip);
	for (size_t i = 0; i < nknown; i++)
		buf_printf(&revs, "^%s\n", known->v[i]);
	in = fd_of_bytes("revisions", revs.data, revs.len);
	if (in < 0 || pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	s->pack = pair[0];
	pack = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return err_sys(e, "cannot make a pipe");
	s->words = pair[0];
	words = pair[1];
	strvec_pushl(&args, "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q", NULL);
	gate_git_command(g, &args, &cmd);
	return cell_start(&g->inside, &cmd, (int[3]){ in, pack, words }, &s->id, e);
}

/* What it says about its failure: a claim, for the message. */
static int explain(struct gate *g, struct sender *s, const char *tip, struct refusal *no, struct err *e)
{
	struct err ignored = ERR_INIT;
	char text[300] = "";
	ssize_t n = -1;
	int code;

	if (!cell_wait(&g->inside, s->id, END_SECONDS, &code, &ignored) && !fd_nonblock(s->words))
		n = read(s->words, text, sizeof(text) - 1);
	if (n >= 0)
		text[strcspn(text, "\n")] = '\0';
	refuse(no, e, "cannot_pack", "", "git inside sends nothing for %s: %s", tip,
		n > 0 ? text : *ignored.msg ? ignored.msg : "without a word");
	return refusal_say(no, "publish a commit that git inside cannot read",
		"see what is wrong with the private repository: git fsck");
}

static int refuse_pack(uint64_t max, struct refusal *no, struct err *e)
{
	bool large = strstr(e->msg, "maximum allowed size");

	if (large) {
		refuse(no, e, "too_large", "", "what is new is larger than %llu bytes", (unsigned long long)max);
		snprintf(no->boundary, sizeof(no->boundary), "%llu", (unsigned long long)max);
		return refusal_say(no, "publish more than the task may add",
			"leave large files out of the commits");
	}
	refuse(no, e, "bad_objects", "", "git refuses the objects: %s", e->msg);
	return refusal_say(no, "publish objects that are broken or must not be", "make the commit anew with git");
}

/* 1 where nothing was sent. */
static int try(struct gate *g, struct verifier *v, const char *tip, const struct strvec *known, size_t nknown,
	struct oidset *fresh, struct refusal *no, struct err *e)
{
	uint64_t max = g->context.config.policy.max_size;
	auto_sender s = { .pack = -1, .words = -1 };
	int code = 0;

	if (start(g, tip, known, nknown, &s, e) < 0)
		return -1;
	if (verifier_take(v, s.pack, max, fresh, e) < 0) {
		if (e->kind == ERR_NOTFOUND)
			return explain(g, &s, tip, no, e), 1;
		cell_kill(&g->inside, s.id);
		return e->kind == ERR_REFUSED ? refuse_pack(max, no, e) : -1;
	}
	if (!cell_wait(&g->inside, s.id, END_SECONDS, &code, e) && !code)
		return 0;
	return refuse(no, e, "cannot_pack", "", "git inside did not end well after it sent %s", tip);
}

int bring(struct gate *g, struct verifier *v, const char *tip, const struct strvec *known, struct oidset *fresh,
	struct refusal *no, struct err *e)
{
	int rc = try(g, v, tip, known, known->n, fresh, no, e);

	/* A task with objects of its own may have lost an old tip. */
	if (rc > 0 && known->n > 1 && workspace_own_packs(&g->at.ws)) {
		*no = (struct refusal){ 0 };
		rc = try(g, v, tip, known, 1, fresh, no, e);
	}
	return rc ? -1 : 0;
}
