#include "publish/receive.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "inside/inside.h"
#include "sys/fd.h"

/* How long the packer may take to exit after the end of the pack. */
#define END_SECONDS 20
/* Every pipe holds at least this much. */
#define PIPE_MIN 4096

static void packer_args(const struct publisher *pub, struct strvec *ret)
{
	/* threads are slower here: there is little to compare */
	strvec_pushl(ret, "-c", "pack.threads=1", "pack-objects", "--revs", "--sparse", "--stdout",
		"--delta-base-offset", "-q", pub->in->task.strict ? NULL : "--thin", NULL);
}

/* Its stderr is thrown away: nobody reads it, and a packer that fills a pipe would block. */
static int start_packer(struct publisher *pub, struct runner_piped *ret, struct err *e)
{
	auto_order_cmd cmd = { 0 };
	auto_strvec args = STRVEC_INIT;

	packer_args(pub, &args);
	inside_command(pub->in, &args, &cmd);
	return runner_start_piped(pub->in->runner, &cmd, -1, true, false, ret, e);
}

void receive_prepare(struct publisher *pub)
{
	struct err ignored = ERR_INIT;

	if (runner_is_waiting(pub->in->runner, &pub->in->packer))
		return;
	runner_drop_piped(pub->in->runner, &pub->in->packer);
	start_packer(pub, &pub->in->packer, &ignored);
}

static void list_revisions(const char *tip, const struct strvec *known, size_t nknown, struct buf *ret)
{
	buf_printf(ret, "%s\n", tip);
	for (size_t i = 0; i < nknown; i++)
		buf_printf(ret, "^%s\n", known->v[i]);
}

/* Writes the revisions. They fit into the pipe, so this does not block. */
static int tell_packer(const struct runner_piped *p, const char *tip, const struct strvec *known,
	size_t nknown, struct err *e)
{
	auto_buf revs = BUF_INIT(PIPE_MIN);

	list_revisions(tip, known, nknown, &revs);
	if (revs.overflow)
		return err_set(e, ERR_FAILED, "there are too many commits to begin with");
	/* if it has died, the missing pack shows it */
	(void)!write(p->in, revs.data, revs.len);
	return 0;
}

/* Runs the packer once more to read its error message, which is a claim. */
static int explain(struct publisher *pub, const char *tip, const struct strvec *known, size_t nknown,
	struct refusal *no, struct err *e)
{
	auto_buf revs = BUF_INIT(PIPE_MIN), words = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	struct err failed = ERR_INIT;
	const char *why = "without a word";
	int code;

	packer_args(pub, &args);
	list_revisions(tip, known, nknown, &revs);
	if (inside_git(pub->in, &args, &revs, NULL, &words, END_SECONDS, &code, &failed) < 0)
		why = failed.msg;
	else if (words.len)
		words.data[strcspn(words.data, "\n")] = '\0', why = words.data;
	refuse(no, e, "cannot_pack", "", "git inside sends nothing for %s: %.200s", tip, why);
	return refusal_say(no, "publish a commit that git inside cannot read",
		"see what is wrong with the private repository: git fsck");
}

static int refuse_pack(uint64_t max, struct refusal *no, struct err *e)
{
	if (e->sys == EFBIG) {
		refuse(no, e, "too_large", "", "what is new is larger than %llu bytes",
			(unsigned long long)max);
		snprintf(no->boundary, sizeof(no->boundary), "%llu", (unsigned long long)max);
		return refusal_say(
			no, "publish more than the task may add", "leave large files out of the commits");
	}
	refuse(no, e, "bad_objects", "", "git refuses the objects: %s", e->msg);
	return refusal_say(
		no, "publish objects that are broken or must not be", "make the commit anew with git");
}

/* 1: nothing was sent. The packer cannot be used again. */
static int try(struct publisher *pub, struct verifier *v, struct runner_piped *p, const char *tip,
	const struct strvec *known, size_t nknown, struct oidset *fresh, struct refusal *no, struct err *e)
{
	uint64_t max = pub->in->context.config.policy.max_size;
	int code = 0, rc = tell_packer(p, tip, known, nknown, e);

	fd_closep(&p->in);
	p->in = -1;
	if (!rc)
		rc = verifier_take(v, p->out, false, max, fresh, e);
	if (rc < 0) {
		runner_drop_piped(pub->in->runner, p);
		if (e->kind == ERR_NOTFOUND)
			return explain(pub, tip, known, nknown, no, e), 1;
		return e->kind == ERR_REFUSED ? refuse_pack(max, no, e) : -1;
	}
	if (!runner_attend(pub->in->runner, p, -1, NULL, NULL, END_SECONDS, &code, e) && !code)
		return 0;
	return refuse(no, e, "cannot_pack", "", "git inside did not end well after it sent %s", tip);
}

/* Uses the packer that was started before, if it still waits. 1 also if the inside has changed meanwhile, so
 * that it fails. */
static int try_ahead(struct publisher *pub, struct verifier *v, const char *tip, const struct strvec *known,
	struct oidset *fresh, struct refusal *no, struct err *e)
{
	struct runner_piped p = pub->in->packer;

	if (!runner_is_waiting(pub->in->runner, &p))
		return 1;
	pub->in->packer = (struct runner_piped)RUNNER_PIPED_INIT;
	return try(pub, v, &p, tip, known, known->n, fresh, no, e);
}

static int try_new(struct publisher *pub, struct verifier *v, const char *tip, const struct strvec *known,
	size_t nknown, struct oidset *fresh, struct refusal *no, struct err *e)
{
	struct runner_piped p = RUNNER_PIPED_INIT;

	*no = (struct refusal){ 0 };
	if (start_packer(pub, &p, e) < 0)
		return -1;
	return try(pub, v, &p, tip, known, nknown, fresh, no, e);
}

int receive(struct publisher *pub, struct verifier *v, const char *tip, const struct strvec *known,
	struct oidset *fresh, struct refusal *no, struct err *e)
{
	int rc = try_ahead(pub, v, tip, known, fresh, no, e);

	if (rc > 0)
		rc = try_new(pub, v, tip, known, known->n, fresh, no, e);
	/* a task with its own object store may have lost an old tip */
	if (rc > 0 && known->n > 1 && !workspace_borrows(&pub->in->at.ws))
		rc = try_new(pub, v, tip, known, 1, fresh, no, e);
	return rc ? -1 : 0;
}

int receive_offer(struct publisher *pub, struct verifier *v, const char *tip, int pack, struct oidset *fresh,
	struct err *e)
{
	if (verifier_take(v, pack, true, pub->in->context.config.policy.max_size, fresh, e) < 0)
		return e->kind == ERR_REFUSED || e->kind == ERR_NOTFOUND ? 1 : -1;
	return oidset_has(fresh, tip) ? 0 : 1;
}
