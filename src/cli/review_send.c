#include "cli/review_send.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/session.h"
#include "feedback/comments.h"
#include "feedback/prompt.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/tip.h"

/* So much of a comment that cannot be placed is repeated. */
#define WORDS_SHOWN 60

static json_t *to_json(const struct comment *c)
{
	static const char *const sides[] = {
		[PATCH_WHOLE] = "file", [PATCH_NEW] = "new", [PATCH_OLD] = "old"
	};
	json_t *o = json_object();

	if (c->path)
		json_object_set_new(o, "path", json_text(c->path));
	json_object_set_new(o, "line", c->line ? json_integer((json_int_t)c->line) : json_null());
	json_object_set_new(o, "side", c->path ? json_string(sides[c->side]) : json_null());
	json_object_set_new(o, "code_line", json_text(c->code));
	json_object_set_new(o, "text", json_text(c->text));
	return o;
}

static int print_json(const struct reviewing *r, const struct comment_list *l)
{
	json_t *comments = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(comments, to_json(&l->v[i]));
	return json_print(json_pack("{s:o, s:s, s:b, s:o}", "task", json_text(r->t->name), "tip", r->p.tip,
		"sent", l->n > 0, "comments", comments));
}

int review_fail_kept(const struct reviewing *r, const char *path, struct err *e)
{
	struct err why = *e;

	err_set(e, why.kind, "%.300s; the comments are kept (%.150s)", why.msg, path);
	*why.hint ? err_hint(e, "%s", why.hint) : err_hint(e, "garth review %s", r->t->name);
	return say_error(e);
}

static int fail_lost(const struct reviewing *r, const struct comment_list *l, const char *path)
{
	auto_strvec rows = STRVEC_INIT;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].placed)
			strvec_pushf(&rows, "line %zu: %.*s", l->v[i].row,
				(int)strcspn(l->v[i].text, "\n") < WORDS_SHOWN
					? (int)strcspn(l->v[i].text, "\n")
					: WORDS_SHOWN,
				l->v[i].text);
	err_set(&e, ERR_USAGE,
		"%zu comment%s no place, because lines around %s were changed; nothing is sent, the file is kept (%.150s)",
		l->lost, l->lost == 1 ? " has" : "s have", l->lost == 1 ? "it" : "them", path);
	err_hint(&e, "garth review %s", r->t->name);
	err_paths(&e, &rows);
	return say_error(&e);
}

static int send_nothing(struct reviewing *r, const struct comment_list *l)
{
	review_dir_remove(&r->kept);
	if (r->json)
		return print_json(r, l);
	if (r->run.quiet)
		return 0;
	say_state("no comments: nothing is sent to task '%s'", r->t->name);
	say_hint("garth review --approve %s", r->t->name);
	return 0;
}

/* Before the comments are sent. */
static int record(struct reviewing *r, const struct comment_list *l, const char *prompt, struct err *e)
{
	json_t *details = json_pack(
		"{s:s, s:I, s:o}", "tip", r->p.tip, "comments", (json_int_t)l->n, "text", audit_text(prompt));
	auto_audit log = NULL;

	if (context_store(r->c, e) < 0 || audit_open(r->c->home.fd, r->c->store, &log, e) < 0)
		return json_decref(details), -1;
	return audit_add(log, "review", r->t, details, e);
}

static int resume(struct reviewing *r, const struct comment_list *l, const char *prompt, const char *path)
{
	struct terminal_result result = { .end = TERMINAL_EXIT };
	struct err e = ERR_INIT;

	r->run.tip = r->p.tip;
	r->run.consumes = REVIEW_FILE;
	/* the task outlives this lock */
	review_dir_close(&r->kept);
	if (session_resume(r->c, r->t, &r->run, prompt, &result, &e) < 0)
		return faccessat(r->dir, REVIEW_FILE, F_OK, 0) ? say_error(&e)
							       : review_fail_kept(r, path, &e);
	if (r->run.detach && !r->json)
		printf("%s\n", r->t->name);
	session_report(r->c, r->t, &result, r->run.quiet || r->json);
	if (r->json && print_json(r, l))
		return 1;
	return result.end == TERMINAL_DETACHED ? 0 : result.exit_code;
}

int review_send(struct reviewing *r, const struct buf *edited, const char *path)
{
	auto_buf prompt = BUF_INIT(2 * PROMPT_MAX);
	auto_comment_list l = { 0 };
	struct err e = ERR_INIT;

	comments_read(&r->p.lines, &r->p.patch, buf_str(edited), edited->len, &l);
	if (l.lost)
		return fail_lost(r, &l, path);
	if (!l.n)
		return send_nothing(r, &l);
	/* again under the task's lock (run_opts.tip); here nothing is recorded yet */
	if (prompt_write(&l, r->p.tip, &prompt, &e) < 0 || tip_check(&r->at.repo, r->t, r->p.tip, &e) < 0 ||
		record(r, &l, buf_str(&prompt), &e) < 0)
		return review_fail_kept(r, path, &e);
	fault("review-recorded");
	if (!r->run.quiet)
		say_done("%zu comment%s to task '%s'", l.n, l.n == 1 ? " goes" : "s go", r->t->name);
	return resume(r, &l, buf_str(&prompt), path);
}
