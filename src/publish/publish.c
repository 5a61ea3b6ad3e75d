#include "publish/publish.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "publish/receive.h"
#include "inside/inside.h"
#include "publish/job.h"
#include "publish/walk_parse.h"
#include "push/fetch.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/moved.h"
#include "task/refused_path.h"

static void job_release(struct job *j)
{
	strvec_release(&j->known);
	oidset_release(&j->fresh);
	walk_release(&j->walk);
	published_links_release(&j->links);
}
#define auto_job __attribute__((cleanup(job_release))) struct job

int refuse_moved(const struct job *j, const char *now, struct refusal *no, struct err *e)
{
	const struct task *t = &j->pub->in->task;
	auto_str instead = NULL;

	if (!*now) {
		refuse(no, e, "moved_outside", "", "the branch %s was removed outside", t->branch);
		return refusal_say(no, "publish to a branch that is not there any more",
			"stop, and say that the user removed the branch");
	}
	instead = xasprintf("git merge %s, which brings in what was done outside, and commit again", now);
	refuse(no, e, "moved_outside", "", "the branch %s was moved outside, to %s", t->branch, now);
	return refusal_say(no, "publish over what somebody else did to the branch", instead);
}

/* The repository of a submodule has a branch with the task's name that the task did not make. */
static int refuse_taken(const struct job *j, struct refusal *no, struct err *e)
{
	const struct inside *in = j->pub->in;

	refuse(no, e, "branch_taken", in->within,
		"the repository of submodule '%s' has a branch %s that is not this task's", in->within,
		ref_short(in->task.branch));
	return refusal_say(no, "publish to one of the user's branches",
		"stop, and ask the user to rename that branch of the submodule");
}

static void add_known(struct job *j, const char *commit)
{
	if (*commit && !strvec_has(&j->known, commit))
		strvec_push(&j->known, commit);
}

/* The values of the target, here and at the remote. A submodule has none: what its task was shown is in->named. */
static int look_at_target(struct job *j, struct err *e)
{
	struct inside *in = j->pub->in;
	auto_str fetched = NULL;

	if (*in->within)
		return 0;
	if (*in->task.target && ref_read(&in->at.repo, in->task.target, j->target, e) < 0)
		return -1;
	fetched = fetch_shown(&in->context, in->at.ws.dir);
	return fetched ? ref_read(&in->at.repo, fetched, j->fetched, e) : 0;
}

static int look_around(struct job *j, struct refusal *no, struct err *e)
{
	struct inside *in = j->pub->in;
	const struct task *t = &in->task;

	if (ref_read(&in->at.repo, t->branch, j->old, e) < 0)
		return -1;
	/* the first publish from a submodule makes its branch */
	j->creates = *in->within && !*t->published;
	if (j->creates && *j->old)
		return refuse_taken(j, no, e);
	if (j->creates)
		snprintf(j->old, sizeof(j->old), "%s", t->base);
	if (!*j->old)
		return refuse_moved(j, "", no, e);
	j->moved = strcmp(j->old, *t->published ? t->published : t->base) ||
		   moved_by_hand(in->at.ws.dir, j->old);
	if (look_at_target(j, e) < 0)
		return -1;
	add_known(j, t->base);
	add_known(j, j->old);
	add_known(j, j->target);
	add_known(j, j->fetched);
	for (size_t i = 0; i < in->named.n; i++)
		add_known(j, in->named.v[i]);
	return 0;
}

/* Finds the tip's type. Known commits that are missing, because somebody pruned them, are dropped from the
 * list, so they are published again. */
static int ask_for_all(struct job *j, enum object_type *ret, struct err *e)
{
	enum object_type types[PUBLISH_KNOWN_MAX + 1];
	uint64_t sizes[PUBLISH_KNOWN_MAX + 1];
	auto_strvec oids = STRVEC_INIT;
	size_t kept = 0;

	strvec_push(&oids, j->tip);
	strvec_pushv(&oids, (const char *const *)j->known.v);
	if (objects_info_many(&j->v->objects, oids.v, oids.n, types, sizes, e) < 0)
		return -1;
	*ret = types[0];
	for (size_t i = 0; i < j->known.n; i++) {
		char *oid = j->known.v[i];

		j->known.v[i] = NULL;
		j->lost |= types[i + 1] != OBJECT_COMMIT && !strcmp(oid, j->old);
		if (types[i + 1] == OBJECT_COMMIT)
			j->known.v[kept++] = oid;
		else
			free(oid);
	}
	j->known.n = kept;
	return 0;
}

/* *ret: the shared repository has the tip and the task may build on it, as after a reset to an older commit.
 * If it has the tip and the task was not shown it (a gateway died before it moved the branch), the tip is
 * received again. */
static int is_here(struct job *j, bool *ret, struct refusal *no, struct err *e)
{
	auto_strvec tip = STRVEC_INIT;
	enum object_type type;

	*ret = false;
	if (ask_for_all(j, &type, e) < 0)
		return -1;
	if (type == OBJECT_MISSING)
		return 0;
	if (type != OBJECT_COMMIT)
		return refuse(no, e, "bad_tip", "", "%s is not a commit", j->tip);
	strvec_push(&tip, j->tip);
	return publish_are_known(j, &tip, ret, e);
}

static int take_packed(struct job *j, struct refusal *no, struct err *e)
{
	auto_strvec left_out = STRVEC_INIT;

	publish_left_out(j, &left_out);
	return receive(j->pub, j->v, j->tip, &left_out, &j->fresh, no, e);
}

static int take(struct job *j, struct refusal *no, struct err *e)
{
	bool here;
	int rc = 0;

	j->fresh.hash_len = j->pub->in->at.repo.hash_len;
	if (publisher_verifier(j->pub, &j->v, e) < 0 || is_here(j, &here, no, e) < 0)
		return -1;
	if (!here)
		rc = j->offer >= 0 ? receive_offer(j->pub, j->v, j->tip, j->offer, &j->fresh, e)
				   : take_packed(j, no, e);
	if (rc)
		return -1;
	/* start git for the next publish while this one is checked: a task that publishes once often does it
	 * again */
	verifier_prepare(j->v, j->pub->in->context.config.policy.max_size);
	fault("publish-taken");
	return 0;
}

/* "Name <mail>" that commits must have, or NULL. */
static int forced_author(struct publisher *pub, char **ret, struct err *e)
{
	const struct config_policy *p = &pub->in->context.config.policy;
	struct git git = repo_git(&pub->in->at.repo);
	auto_buf out = BUF_SMALL;
	char *end;

	*ret = NULL;
	if (strcmp(p->identity, "forced"))
		return 0;
	if (p->author) {
		*ret = xstrdup(p->author);
		return 0;
	}
	git.user_config = true;
	if (git_do(&git, &out, e, "var", "GIT_AUTHOR_IDENT", NULL) < 0)
		return err_wrap(e, "the user's own identity is to be used");
	end = strrchr(buf_str(&out), '>');
	if (!end)
		return err_set(e, ERR_CONFIG, "the user has no name and mail address in git's configuration");
	*ret = xstrndup(out.data, (size_t)(end + 1 - out.data));
	return 0;
}

/* Whether the tip has one parent, the old tip. */
static bool is_one_step(struct job *j)
{
	auto_buf data = BUF_INIT(1 << 20);
	auto_commit c = { 0 };
	struct err ignored = ERR_INIT;

	return !objects_read(&j->v->objects, j->tip, OBJECT_COMMIT, &data, &ignored) &&
	       !commit_parse(&c, &data, j->pub->in->at.repo.hash_len) && c.nparents == 1 &&
	       !strcmp(c.parents[0], j->old);
}

/* If the task was shown the target's newer value at the remote and the tip branches off there, that is the
 * fork. */
static int find_later_fork(struct job *j, struct err *e)
{
	auto_strvec fork = STRVEC_INIT, later = STRVEC_INIT;
	char there[OID_SIZE];
	bool younger = false;

	if (!*j->fetched || !strcmp(j->fetched, j->target))
		return 0;
	if (verifier_merge_base(j->v, j->tip, j->fetched, there, e) < 0)
		return -1;
	if (!*there || !strcmp(there, j->fork))
		return 0;
	strvec_push(&fork, j->fork);
	strvec_push(&later, there);
	if (verifier_reached(j->v, &fork, &later, &younger, e) < 0)
		return -1;
	if (younger)
		snprintf(j->fork, sizeof(j->fork), "%s", there);
	return 0;
}

/* Finds the fork: the newest commit that the tip and the target have in common. A merge applies the
 * difference from there. Compared only with the base, a task that merges the target and then restores a
 * protected file to the base's version would look unchanged, and its merge would undo the user's change. */
static int find_fork(struct job *j, struct err *e)
{
	const struct publisher *pub = j->pub;
	const char *known = !strcmp(pub->fork_tip, j->old)                                      ? pub->fork
			    : !strcmp(j->old, pub->in->task.base) && !strcmp(j->target, j->old) ? j->old
												: NULL;

	if (!*j->target)
		snprintf(j->fork, sizeof(j->fork), "%s", pub->in->task.base);
	else if (known && is_one_step(j))
		snprintf(j->fork, sizeof(j->fork), "%s", known);
	else if (verifier_merge_base(j->v, j->tip, j->target, j->fork, e) < 0)
		return -1;
	if (!*j->fork)
		snprintf(j->fork, sizeof(j->fork), "%s", pub->in->task.base);
	return find_later_fork(j, e);
}

/* The tip is compared with the fork if that is newer than the base, else with both. */
static int choose_bases(struct job *j, struct walk_spec *spec, struct strvec *compare, struct err *e)
{
	auto_strvec base = STRVEC_INIT, fork = STRVEC_INIT;
	bool younger = false;

	if (find_fork(j, e) < 0)
		return -1;
	if (!strcmp(j->fork, spec->base))
		return 0;
	strvec_push(&base, spec->base);
	strvec_push(&fork, j->fork);
	if (verifier_reached(j->v, &base, &fork, &younger, e) < 0)
		return -1;
	if (younger)
		spec->base = j->fork;
	else
		strvec_push(compare, j->fork);
	return 0;
}

/* Limits are the task's: what it published from its submodules counts, too. */
static int count_before(struct job *j, int64_t *ret_commits, uint64_t *ret_bytes, struct err *e)
{
	struct inside *in = j->pub->in;
	int64_t commits, bytes;

	if (store_submodule_sum(in->context.store, in->task.id, &commits, &bytes, e) < 0)
		return -1;
	commits += in->top->task.commits;
	bytes += in->top->task.bytes;
	/* everything is published again */
	if (j->lost) {
		commits -= in->task.commits;
		bytes -= in->task.bytes;
	}
	*ret_commits = commits;
	*ret_bytes = (uint64_t)bytes;
	return 0;
}

static int check_policy(struct job *j, struct refusal *no, struct err *e)
{
	struct publisher *pub = j->pub;
	auto_strvec allowed = STRVEC_INIT, compare = STRVEC_INIT;
	auto_str author = NULL;
	struct policy policy = { .rules = &pub->in->context.config.policy,
		.allowed = &allowed,
		.task = pub->in->task.name,
		.within = pub->in->within,
		.may_link = published_links_may_move,
		.may_link_arg = &j->links };
	struct walk_spec spec = { .objects = &j->v->objects,
		.hash_len = pub->in->at.repo.hash_len,
		.fresh = &j->fresh,
		.tip = j->tip,
		.base = pub->in->task.base,
		.start = pub->in->task.base,
		.compare = &compare,
		.policy = &policy };

	if (count_before(j, &spec.commits_before, &spec.bytes_before, e) < 0 ||
		forced_author(pub, &author, e) < 0 ||
		store_allowed(pub->in->context.store, pub->in->task.id, &allowed, e) < 0)
		return -1;
	policy.author = author;
	j->bytes_before = spec.bytes_before;
	if (choose_bases(j, &spec, &compare, e) < 0)
		return -1;
	for (size_t i = 1; i < pub->in->named.n; i++)
		strvec_push(&compare, pub->in->named.v[i]);
	return walk(&spec, &j->walk, no, e);
}

/* A task with its own object store must not get at other objects by naming them in a tree or commit. */
static int check_foreign(struct job *j, struct refusal *no, struct err *e)
{
	auto_strvec by = STRVEC_INIT;
	char foreign[OID_SIZE];

	if (!j->pub->in->task.strict || !j->fresh.n)
		return 0;
	if (verifier_foreign(j->v, j->tip, &j->known, &j->fresh, foreign, e) < 0)
		return -1;
	if (*foreign && (publish_list_known(j, &by, e) < 0 ||
				verifier_foreign(j->v, j->tip, &by, &j->fresh, foreign, e) < 0))
		return -1;
	if (!*foreign)
		return 0;
	refuse(no, e, "unknown_objects", "", "%s names the object %s, which this task was never shown",
		j->tip, foreign);
	return refusal_say(no, "publish what is not this task's", "commit files that are in the workspace");
}

/* New commits must be based on commits that the task was shown or has published. The shared repository has
 * many more, other tasks' work among them. */
static int check_history(struct job *j, struct refusal *no, struct err *e)
{
	bool known;

	if (publish_are_known(j, &j->walk.stops, &known, e) < 0)
		return -1;
	if (known)
		return 0;
	refuse(no, e, "unknown_history", "",
		"%s stands on commits that are neither this task's nor shown to it", j->tip);
	return refusal_say(no, "publish commits that stand on somebody else's",
		"begin at the task's own branch or at a branch that is shown: git branch -a");
}

static int check_forward(struct job *j, struct refusal *no, struct err *e)
{
	auto_strvec old = STRVEC_INIT, tip = STRVEC_INIT;

	j->forward = strvec_has(&j->walk.stops, j->old);
	strvec_push(&old, j->old);
	strvec_push(&tip, j->tip);
	if (!j->forward && verifier_reached(j->v, &old, &tip, &j->forward, e) < 0)
		return -1;
	if (j->forward)
		return 0;
	if (j->moved)
		return refuse_moved(j, j->old, no, e);
	/* the user asked for a sync, which may rewrite */
	if (strcmp(j->pub->in->context.config.policy.rewrite, "refuse") || !strcmp(j->by, "sync"))
		return 0;
	refuse(no, e, "rewrite", "", "the published commit %s would be gone from the branch", j->old);
	snprintf(no->boundary, sizeof(no->boundary), "policy.rewrite: refuse");
	return refusal_say(
		no, "rewrite commits that are published", "add a commit on top: git revert, or a new change");
}

/* Loose objects that the tip does not reach are not added. A pack is added as a whole, so it must have no
 * others. */
static int check_extras(struct job *j, struct refusal *no, struct err *e)
{
	if (!j->v->at.packs.n || j->walk.reached.n >= j->fresh.n)
		return 0;
	refuse(no, e, "extra_objects", "", "%zu objects came along that %s does not reach",
		j->fresh.n - j->walk.reached.n, j->tip);
	return refusal_say(no, "publish objects that belong to no commit", "publish again: git commit");
}

static int check(struct job *j, struct refusal *no, struct err *e)
{
	if (check_policy(j, no, e) < 0 || check_history(j, no, e) < 0 || check_foreign(j, no, e) < 0)
		return -1;
	if (j->walk.doubt && verifier_connected(j->v, j->tip, e) < 0) {
		if (e->kind != ERR_REFUSED)
			return -1;
		refuse(no, e, "incomplete", "", "something is missing beneath %s: %s", j->tip, e->msg);
		return refusal_say(no, "publish a commit whose files or parents are not there",
			"see what is missing: git fsck");
	}
	if (check_forward(j, no, e) < 0 || check_extras(j, no, e) < 0 || publish_check_rate(j, no, e) < 0 ||
		publish_lfs(j, no, e) < 0)
		return -1;
	fault("publish-checked");
	return 0;
}

/* Records a refusal. After any other failure, the verifier is not used again. */
static int give_up(struct job *j, struct refusal *no, struct err *e)
{
	struct err ignored = ERR_INIT, failed = ERR_INIT;
	json_t *details;

	if (j->v && (!*no->code || verifier_reject(j->v, &ignored) < 0))
		publisher_drop_verifier(j->pub);
	if (!*no->code)
		return -1;
	e->kind = ERR_REFUSED;
	refused_path_note(j->pub->in->at.ws.dir, no->code, no->path);
	details = json_pack("{s:s, s:o, s:o, s:o, s:o}", "code", no->code, "message", audit_text(no->message),
		"path", audit_text(no->path), "by", audit_text(j->by), "tip", audit_text(j->tip));
	no->recorded = !audit_add(j->pub->in->audit, "refused", &j->pub->in->task, details, &failed);
	if (!no->recorded) {
		*no = (struct refusal){ 0 };
		*e = failed;
	}
	return -1;
}

void publish_tidy(struct publisher *pub)
{
	struct err ignored = ERR_INIT;

	if (!pub->untidy)
		return;
	pub->untidy = false;
	if (!pub->has_verifier)
		return;
	if (verifier_drop(&pub->verifier, &ignored) < 0)
		publisher_drop_verifier(pub);
	else if (!pub->offered)
		receive_prepare(pub);
}

bool publish_is_large(const struct publisher *pub)
{
	return pub->untidy && !pub->offered;
}

/* The offered pack was not good: git inside makes another. */
static void forget_offer(struct job *j, struct refusal *no, struct err *e)
{
	struct err ignored = ERR_INIT;

	j->offer = -1;
	if (j->v && verifier_reject(j->v, &ignored) < 0)
		publisher_drop_verifier(j->pub);
	j->v = NULL;
	oidset_release(&j->fresh);
	j->fresh = (struct oidset){ 0 };
	walk_release(&j->walk);
	*no = (struct refusal){ 0 };
	*e = (struct err)ERR_INIT;
}

static int look_at(struct job *j, struct refusal *no, struct err *e)
{
	return take(j, no, e) < 0 ? -1 : check(j, no, e);
}

static int examine(struct job *j, struct refusal *no, struct err *e)
{
	int rc = look_at(j, no, e);

	j->pub->offered = j->offer >= 0;
	if (rc < 0 && j->offer >= 0) {
		struct refusal first = *no;
		struct err why = *e;

		forget_offer(j, no, e);
		j->pub->offered = false;
		rc = look_at(j, no, e);
		/* if git inside has nothing to pack, report what was wrong with the offered pack */
		if (rc < 0 && !strcmp(no->code, "cannot_pack") && *first.code) {
			*no = first;
			*e = why;
		}
	}
	return rc;
}

/* Whether the published commit is missing. Checked only if the user asks to publish. */
static bool is_lost(struct job *j)
{
	struct git git = repo_git(&j->pub->in->at.repo);
	struct err ignored = ERR_INIT;

	return !strcmp(j->by, "user") && git_do(&git, NULL, &ignored, "cat-file", "-e", j->old, NULL) < 0;
}

static int go(struct job *j, struct publish_result *ret, struct refusal *no, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (!oid_is(j->tip, j->pub->in->at.repo.hash_len))
		return refuse(no, e, "bad_tip", "", "'%.80s' is not the full id of a commit", j->tip);
	if (look_around(j, no, e) < 0)
		return -1;
	*ret = (struct publish_result){ 0 };
	snprintf(ret->tip, sizeof(ret->tip), "%s", j->tip);
	snprintf(ret->old, sizeof(ret->old), "%s", j->old);
	if (!strcmp(j->tip, j->old) && !is_lost(j))
		return 0;
	if (examine(j, no, e) < 0 || publish_commit(j, no, e) < 0)
		return -1;
	if (j->fresh.n)
		wait_for_gc(j, true);
	j->pub->untidy = true;
	ret->commits = j->walk.commits;
	ret->rewrote = !j->forward;
	snprintf(j->pub->fork_tip, sizeof(j->pub->fork_tip), "%s", j->tip);
	snprintf(j->pub->fork, sizeof(j->pub->fork), "%s", j->fork);
	/* the commits are published; if a worktree on the host cannot be updated now, the next publish does
	 * it */
	workspace_published(&j->pub->in->at.ws, j->tip, &ignored);
	return 0;
}

int publish(struct publisher *pub, const char *tip, const char *by, struct publish_result *ret,
	struct refusal *no, struct err *e)
{
	return publish_offered(pub, tip, by, -1, ret, no, e);
}

int publish_offered(struct publisher *pub, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e)
{
	auto_job j = { .pub = pub, .tip = tip, .by = by, .offer = pack, .links = { .in = pub->in } };

	publish_tidy(pub);
	*no = (struct refusal){ 0 };
	if (go(&j, ret, no, e) < 0)
		return give_up(&j, no, e);
	if (strcmp(ret->tip, ret->old) != 0)
		refused_path_forget(pub->in->at.ws.dir);
	return 0;
}

bool publish_is_unmoved(const struct inside *in)
{
	const char *tip = *in->task.published ? in->task.published : in->task.base;
	auto_fd git = open_beneath(in->at.ws.dir, in->git_dir, O_RDONLY | O_DIRECTORY, 0);
	auto_fd file = git < 0 ? -1 : open_regular_beneath(git, in->task.branch);
	char text[OID_SIZE + 1];
	ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text), 0);

	return n == (ssize_t)strlen(tip) + 1 && !memcmp(text, tip, strlen(tip)) && text[n - 1] == '\n';
}

int publish_find_tip(struct inside *in, char out[OID_SIZE], struct err *e)
{
	auto_str name = xasprintf("%s^{commit}", in->task.branch);
	auto_buf text = BUF_INIT(4096);
	int code;

	out[0] = '\0';
	if (inside_ask(in, &text, &code, e, "rev-parse", "-q", "--verify", "--end-of-options", name, NULL) <
		0)
		return -1;
	if (code)
		return 0;
	if (text.len && text.data[text.len - 1] == '\n')
		buf_cut(&text, text.len - 1);
	if (!oid_is(buf_str(&text), in->at.repo.hash_len))
		return err_set(e, ERR_REFUSED, "git inside names something that is not a commit");
	memcpy(out, text.data, text.len + 1);
	return 0;
}
