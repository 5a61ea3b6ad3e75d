#include "runtime/setup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/path.h"
#include "git/ref.h"
#include "runtime/run.h"
#include "runtime/setup_key.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/layers.h"
#include "task/life.h"
#include "task/refused.h"
#include "task/remove.h"
#include "workspace/include.h"
#include "workspace/layer.h"

#define SETUP_SECONDS (4 * 3600)
#define LOG_NAME      "log"
#define LAST_LINE_MAX 200
#define HOSTS_NAMED   3
/* After its last command has ended, a keeper leaves. */
#define LEAVE_MS 30000

void setup_result_release(struct setup_result *r)
{
	free(r->name);
	lock_drop(&r->lock);
	strvec_release(&r->changed);
	strvec_release(&r->left_out);
	strvec_release(&r->not_ignored);
	strvec_release(&r->cached.left_out);
	free(r->not_cached);
	*r = (struct setup_result){ .lock = -1 };
}

char *setup_log(const struct context *c, int64_t project, const char *name, bool failed)
{
	return home_path(
		&c->home, "layers/%lld/%s%s", (long long)project, name, failed ? ".failed" : "/" LOG_NAME);
}

/* A set-up that runs. */
struct attempt {
	struct context *c;
	const struct repo *repo;
	const struct task *like;
	const char *layer;
	unsigned how;
	struct task task; /* the task in which it runs */
	struct buf log;   /* the first part of its output */
	bool cut;         /* there was more */
	char last[LAST_LINE_MAX + 1];
	setup_fn *tell;
	void *tell_arg;
};

static void tell(const struct attempt *a, enum setup_event what)
{
	if (a->tell)
		a->tell(what, "", 0, a->tell_arg);
}

/* Keeps the last line that is not empty, for the message. */
static void keep_last(struct attempt *a, const char *data, size_t len)
{
	while (len && strchr("\n\r \t", data[len - 1]))
		len--;
	for (size_t from = len; len; from--)
		if (!from || data[from - 1] == '\n') {
			snprintf(a->last, sizeof(a->last), "%.*s",
				(int)(len - from > LAST_LINE_MAX ? LAST_LINE_MAX : len - from), data + from);
			return;
		}
}

static void take_output(int fd, const char *data, size_t len, void *arg)
{
	struct attempt *a = arg;

	(void)fd;
	if (len)
		keep_last(a, data, len);
	if (!a->cut && !buf_add(&a->log, data, len))
		a->cut = true;
	if (a->tell)
		a->tell(SETUP_PRINTS, data, len, a->tell_arg);
}

/* One shell for each command, so that none can disturb the next; each is printed before it runs. Both streams are one, so
 * that the last line that is read was the last that was written. */
static void write_script(const struct config *cfg, struct buf *out)
{
	buf_addstr(out, "exec 2>&1\n");
	for (size_t i = 0; i < cfg->setup.n; i++) {
		auto_buf quoted = BUF_INIT(1u << 20);

		for (const char *s = cfg->setup.v[i]; *s; s++) {
			if (*s == '\'')
				buf_addstr(&quoted, "'\\''");
			else
				buf_addch(&quoted, *s);
		}
		buf_printf(out, "printf '%%s\\n' '$ %s'\nsh -c '%s' || exit $?\n", buf_str(&quoted),
			buf_str(&quoted));
	}
}

/* The hosts that the commands may reach. */
static const struct strvec *hosts_of(const struct attempt *a)
{
	static const struct strvec none = STRVEC_INIT;

	if (a->how & SETUP_OFFLINE && !ref_is_users(a->repo, a->repo->commit))
		return &none;
	return &a->c->config.setup_network;
}

static int run_commands(struct attempt *a, int *ret_code, struct err *e)
{
	const struct strvec *hosts = hosts_of(a);
	auto_strvec env = STRVEC_INIT, words = STRVEC_INIT;
	auto_buf script = BUF_INIT(4u << 20);
	struct run_opts o = { .env = &env, .quiet = true, .timeout = SETUP_SECONDS };
	int rc;

	o.net.mode = xstrdup(hosts->n ? NETWORK_ALLOW : NETWORK_NONE);
	if (hosts->n)
		strvec_pushv(&o.net.allow, (const char *const *)hosts->v);
	strvec_push(&env, "GARTH_SETUP=1");
	write_script(&a->c->config, &script);
	strvec_pushl(&words, "/bin/sh", "-c", buf_str(&script), NULL);
	rc = runtime_wait_output(a->c, &a->task, &o, words.v, take_output, a, ret_code, e);
	network_release(&o.net);
	return rc;
}

/* Removes the task of a set-up, with everything in it. */
static void drop_task(struct context *c, struct task *t)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	auto_lock lock = -1;

	if (context_store(c, &ignored) < 0 || home_task_dir(&c->home, t->id, &dir, &ignored) < 0 ||
		lock_take(dir, "lock", false, &lock, &ignored) < 0)
		return;
	remove_for_good(c, t, &ignored);
}

/* A command that was killed may have left a task of this name. The layer's lock is held, so nobody works with
 * it any more, but its keeper may need a moment to see that. */
static int clear_left(struct context *c, const struct task *like, const char *name, struct err *e)
{
	struct deadline d = deadline_in(LEAVE_MS);
	auto_task left = { 0 };
	auto_fd dir = -1;
	bool gone;

	if (store_task_by_name(c->store, like->project_id, name, &left, e) < 0 ||
		task_settle(c, &left, &gone, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (gone)
		return 0;
	if (home_task_dir(&c->home, left.id, &dir, e) < 0)
		return -1;
	if (faccessat(dir, SETUP_MARK, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && strcmp(left.state, STATE_CREATING))
		return err_set(e, ERR_EXISTS, "the name of task '%s' is needed for the set-up", name);
	while (lock_is_held(dir, "lock") && deadline_sleep(&d, 10))
		;
	drop_task(c, &left);
	return 0;
}

static int make_task(struct attempt *a, struct err *e)
{
	auto_str name = xstrndup(a->layer, strlen(LAYER_SETUP) + 8);
	struct task_spec spec = { .name = name,
		.dir = a->repo->top,
		.rev = a->repo->commit,
		.backend = a->like->backend,
		.on_dirty = "keep",
		.weaker = backend_of(a->like)->landlock_only };
	auto_fd dir = -1;

	if (!spec.weaker && !backend_named(backend_by_default())->on_host)
		spec.backend = backend_by_default();
	if (spec.weaker)
		spec.backend = NULL;
	if (context_store(a->c, e) < 0 || clear_left(a->c, a->like, name, e) < 0 ||
		task_create(a->c, &spec, &a->task, e) < 0)
		return -1;
	return home_task_dir(&a->c->home, a->task.id, &dir, e) < 0
		       ? -1
		       : write_file(dir, SETUP_MARK, a->layer, strlen(a->layer), 0600, e);
}

/* Waits until nothing runs in the task any more: then its files do not change. */
static int wait_for_end(struct attempt *a, int dir, int *ret_lock, struct err *e)
{
	struct deadline d = deadline_in(LEAVE_MS);

	(void)a;
	while (lock_take(dir, "lock", false, ret_lock, e) < 0)
		if (e->kind != ERR_BUSY || !deadline_sleep(&d, 5))
			return err_wrap(e, "the set-up's processes do not end");
	return 0;
}

static int write_log(int dir, const char *name, const struct attempt *a, struct err *e)
{
	auto_buf text = BUF_INIT(a->log.max + 100);

	buf_add(&text, buf_str(&a->log), a->log.len);
	if (a->cut)
		buf_addstr(&text, "\n[more was printed]\n");
	return write_file(dir, name, buf_str(&text), text.len, 0600, e);
}

/* Whether a directory of the layer says itself that git ignores all of it, as those of meson and husky do. */
static bool ignores_all(int tree, const char *dir)
{
	auto_str path = path_join(dir, ".gitignore");
	auto_fd fd = open_regular_beneath(tree, path);
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;
	bool all = false;

	if (fd < 0 || read_rest(fd, &text, path, &ignored) < 0)
		return false;
	for (const char *l = buf_str(&text); *l; l += strcspn(l, "\n"), l += *l == '\n') {
		if (*l == '!')
			return false;
		all |= *l == '*' && (l[1] == '\n' || !l[1]);
	}
	return all;
}

/* What the layer's places are called by git, which does not ignore them by their own rules: a directory ends in "/". */
static void name_roots(const struct layer *l, struct strvec *ret)
{
	auto_fd tree = open(l->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (size_t i = 0; tree >= 0 && i < l->roots.n && i < LAYER_NAMES_MAX; i++) {
		struct stat st;
		bool dir = !lstat_beneath(tree, l->roots.v[i], &st) && S_ISDIR(st.st_mode);

		if (!dir || !ignores_all(tree, l->roots.v[i]))
			strvec_pushf(ret, "%s%s", l->roots.v[i], dir ? "/" : "");
	}
}

/* What the commands wrote to caches: it belongs to the layer, unless the cache is the project's. The set-up does not
 * depend on it. */
static void add_caches(struct attempt *a, int task_dir, struct layer_part *part, struct setup_result *ret)
{
	struct err failed = ERR_INIT;

	if (project_cache_fill_setup(a->c, &a->task, task_dir, part, &ret->cached.left_out, &failed) < 0)
		ret->not_cached = xstrdup(failed.msg);
	fault("setup-caches");
}

/* What the commands wrote to caches, if the project has one of its own. What an agent's commit runs decides nothing for
 * other tasks. */
static void keep_caches(struct attempt *a, int task_dir, struct setup_result *ret)
{
	struct err failed = ERR_INIT;

	if (ret->not_cached || !project_cache_is_on(a->c, &a->task) ||
		!ref_is_users(a->repo, a->repo->commit))
		return;
	if (project_cache_add(a->c, &a->task, task_dir, true, &ret->cached, &failed) < 0)
		ret->not_cached = xstrdup(failed.msg);
}

static int harvest(struct attempt *a, struct setup_result *ret, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_layer_part part = LAYER_PART_INIT;
	auto_fd files = -1;
	auto_tracked tracked = { 0 };
	auto_str about = NULL;
	auto_lock lock = -1;

	if (context_store(a->c, e) < 0 || task_open(a->c, &a->task, &at, e) < 0 ||
		wait_for_end(a, at.ws.dir, &lock, e) < 0 ||
		tracked_of_commit(a->repo, a->repo->commit, &tracked, e) < 0)
		return -1;
	files = workspace_files(&at.ws);
	if (files < 0)
		return err_sys(e, "cannot open what the set-up left");
	if (layer_begin(&a->c->home, a->like->project_id, a->layer, &part, e) < 0 ||
		layer_move(&part, files, &tracked, at.ws.backend->on_host ? NULL : &ret->changed,
			&ret->left_out, e) < 0 ||
		write_log(part.dir, LOG_NAME, a, e) < 0)
		return -1;
	fault("setup-moved");
	add_caches(a, at.ws.dir, &part, ret);
	ret->files = part.files;
	ret->bytes = part.bytes;
	about = xasprintf("%s%s", a->c->config.setup.v[0], a->c->config.setup.n > 1 ? " …" : "");
	if (layer_finish(&part, &tracked, about, e) < 0)
		return -1;
	keep_caches(a, at.ws.dir, ret);
	return 0;
}

/* The hosts that the commands asked for in vain: what they print of it is rarely more than "403". */
static void add_refused(struct attempt *a, struct buf *out)
{
	auto_asked_list asked = { 0 };
	struct err ignored = ERR_INIT;
	size_t named = 0;

	if (context_store(a->c, &ignored) < 0 ||
		store_asked_list(a->c->store, a->task.id, &asked, &ignored) < 0)
		return;
	for (size_t i = 0; i < asked.n && named < HOSTS_NAMED; i++) {
		const struct asked *h = &asked.v[i];
		auto_buf why = BUF_SMALL;
		auto_str entry = NULL;

		if (h->open || (h->why != ASKED_NOT_LISTED && h->why != ASKED_PRIVATE))
			continue;
		entry = refused_explain(&a->c->config.setup_network, h, &why);
		if (!entry)
			continue;
		if (h->why == ASKED_PRIVATE)
			buf_printf(out, "%s:%d %s: workspace.setup_network must have %s too; ", h->host,
				h->port, buf_str(&why), entry);
		else
			buf_printf(out, "%s:%d is not in workspace.setup_network; ", h->host, h->port);
		named++;
	}
}

static int failed(struct attempt *a, int code, struct err *e)
{
	auto_buf refused = BUF_SMALL;
	auto_str log = setup_log(a->c, a->like->project_id, a->layer, true);
	auto_str name = xstrdup(path_base(log));
	struct err ignored = ERR_INIT;
	auto_fd place = -1;

	if (!layer_place(&a->c->home, a->like->project_id, &place, &ignored))
		write_log(place, name, a, &ignored);
	if (hosts_of(a)->n)
		add_refused(a, &refused);
	else if (a->c->config.setup_network.n)
		buf_addstr(&refused, "it had no network, because its task has none; ");
	else
		buf_addstr(&refused, "it had no network (workspace.setup_network); ");
	err_set(e, ERR_START, "the set-up failed with exit code %d%s%s%s; %sits output is in %s", code,
		*a->last ? " (" : "", a->last, *a->last ? ")" : "", buf_str(&refused), log);
	return err_hint(e, "garth warm --verbose");
}

/* Runs the commands and makes the layer. The layer's lock is held. */
static int make(struct attempt *a, struct setup_result *ret, struct err *e)
{
	int code = 0, rc;

	tell(a, SETUP_STARTS);
	rc = make_task(a, e);
	if (!rc) {
		fault("setup-task");
		rc = run_commands(a, &code, e);
		fault("setup-ran");
		if (!rc)
			rc = code ? failed(a, code, e) : harvest(a, ret, e);
	}
	if (a->task.id)
		drop_task(a->c, &a->task);
	tell(a, SETUP_ENDED);
	if (rc < 0)
		return e->kind == ERR_START ? -1 : err_wrap(e, "the set-up");
	ret->made = true;
	return 0;
}

/* Whether another process has tried, and failed, since this one began to wait for it. */
static bool has_failed_since(struct context *c, const struct task *like, const char *layer,
	const struct timespec *since, struct err *e)
{
	auto_str log = setup_log(c, like->project_id, layer, true);
	struct stat st;

	if (stat(log, &st) < 0 || st.st_mtim.tv_sec < since->tv_sec ||
		(st.st_mtim.tv_sec == since->tv_sec && st.st_mtim.tv_nsec < since->tv_nsec))
		return false;
	err_set(e, ERR_START, "the set-up, which another command ran, failed; its output is in %s", log);
	err_hint(e, "garth warm --verbose");
	return true;
}

static int take_lock(const struct attempt *a, bool *ret_waited, int *ret_lock, struct err *e)
{
	*ret_waited = false;
	if (!layer_lock(&a->c->home, a->like->project_id, a->layer, false, ret_lock, e))
		return 0;
	if (e->kind != ERR_BUSY)
		return -1;
	*ret_waited = true;
	tell(a, SETUP_WAITS);
	return layer_lock(&a->c->home, a->like->project_id, a->layer, true, ret_lock, e);
}

/* A layer that tasks use must not change beneath them. */
static int check_unused(const struct attempt *a, struct err *e)
{
	auto_strvec users = STRVEC_INIT;
	size_t trashed = 0, n;

	if (layers_used(a->c, a->layer, &users, e) < 0)
		return -1;
	for (size_t i = 0; i < users.n; i++)
		trashed += !strncmp(users.v[i], "trash/", strlen("trash/"));
	n = users.n - trashed;
	if (n)
		return err_set(e, ERR_REFUSED, "%zu task%s the set-up's files: discard %s first", n,
			n == 1 ? " uses" : "s use", n == 1 ? "it" : "them");
	if (!trashed)
		return 0;
	err_set(e, ERR_REFUSED, "%zu task%s in the trash: an undo would need the set-up's files", trashed,
		trashed == 1 ? " is" : "s are");
	return err_hint(e, "garth gc --empty-trash");
}

/* Whether the layer would be other commits' layer too, although only tasks have this one: a file that is no input may
 * be an agent's, and decide what is in it. */
static bool is_only_tasks(const struct attempt *a, bool own)
{
	return !own && !ref_is_users(a->repo, a->repo->commit);
}

/* *ret_not_shared: there is such a layer, but this commit tracks one of its paths; or it may not make one for others. */
static int find_or_make(
	struct attempt *a, bool own, struct setup_result *ret, bool *ret_not_shared, struct err *e)
{
	bool again = a->how & SETUP_AGAIN;
	auto_layer l = { 0 };
	auto_strvec roots = STRVEC_INIT;
	auto_str log = setup_log(a->c, a->like->project_id, a->layer, true);
	struct timespec since;
	bool waited, fits;

	*ret_not_shared = false;
	clock_gettime(CLOCK_REALTIME_COARSE, &since);
	if (take_lock(a, &waited, &ret->lock, e) < 0)
		return -1;
	if (waited && has_failed_since(a->c, a->like, a->layer, &since, e))
		return -1;
	if (!again && !layer_open(&a->c->home, a->like->project_id, a->layer, &l, e)) {
		if (setup_fits(a->c, a->repo, &l, &fits, e) < 0)
			return -1;
		*ret_not_shared = !fits;
		layer_touch(&a->c->home, a->like->project_id, a->layer);
		return 0;
	}
	*e = (struct err)ERR_INIT;
	if (is_only_tasks(a, own))
		return *ret_not_shared = true, 0;
	if ((again && check_unused(a, e) < 0) || make(a, ret, e) < 0 ||
		layer_open(&a->c->home, a->like->project_id, a->layer, &l, e) < 0)
		return -1;
	unlink(log);
	name_roots(&l, &roots);
	return include_not_ignored(&a->c->home, a->repo, &roots, &ret->not_ignored, e);
}

int runtime_setup(struct context *c, const struct repo *r, const struct task *like, unsigned how,
	setup_fn *tell_fn, void *tell_arg, struct setup_result *ret, struct err *e)
{
	auto_setup_result res = { .lock = -1 };

	if (!c->config.setup.n)
		return 0;
	for (int own = 0; own < 2; own++) {
		struct attempt a = { .c = c,
			.repo = r,
			.like = like,
			.how = how,
			.log = BUF_INIT(c->config.log_size),
			.tell = tell_fn,
			.tell_arg = tell_arg };
		bool not_shared = false;
		int rc;

		setup_result_release(&res);
		if (setup_key(c, r, own, &res.name, e) < 0)
			return -1;
		a.layer = res.name;
		rc = find_or_make(&a, own, &res, &not_shared, e);
		buf_release(&a.log);
		task_release(&a.task);
		if (rc < 0)
			return -1;
		if (!not_shared)
			break;
	}
	*ret = res;
	res = (struct setup_result){ .lock = -1 };
	return 0;
}
