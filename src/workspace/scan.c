#include "workspace/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/gitlinks.h"
#include "sys/fd.h"
#include "sys/tree.h"

void changes_release(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	fd_closep(&c->root);
	for (size_t i = 0; i < c->nlayers; i++)
		fd_closep(&c->layers[i]);
	strvec_release(&c->base_ignores);
	strvec_release(&c->base_attributes);
	free(c->cannot_tell);
	*c = (struct changes){ .root = -1 };
}

void tracked_release(struct tracked *t)
{
	buf_release(&t->names);
	free(t->v);
	*t = (struct tracked){ 0 };
}

int tracked_load(const char *index, unsigned hash_len, struct tracked *ret, struct err *e)
{
	auto_buf data = BUF_INIT(1u << 30);
	auto_tracked t = { .names = BUF_INIT(1u << 30) };
	struct index_reader r;
	struct index_entry ent;
	int got;

	if (read_file(AT_FDCWD, index, &data, e) < 0 || index_open(&r, data.data, data.len, hash_len, e) < 0)
		return -1;
	t.v = xcalloc(r.entries, sizeof(*t.v));
	buf_reserve(&t.names, data.len / 2);
	while ((got = index_next(&r, &ent, e)) > 0) {
		t.v[t.n++] = (struct tracked_entry){ .name = t.names.len,
			.ctime_s = ent.ctime_s,
			.ctime_ns = ent.ctime_ns,
			.mtime_s = ent.mtime_s,
			.mtime_ns = ent.mtime_ns,
			.ino = ent.ino,
			.size = ent.size,
			.gitlink = (ent.mode & S_IFMT) == GITLINK_MODE };
		buf_add(&t.names, ent.path, ent.path_len + 1);
	}
	index_close(&r);
	if (got < 0)
		return -1;
	*ret = t;
	t = (struct tracked){ 0 };
	return 0;
}

int tracked_of_commit(const struct repo *r, const char *commit, struct tracked *ret, struct err *e)
{
	struct git g = repo_git_commits(r);
	auto_tracked t = { .names = BUF_INIT(1u << 30) };
	size_t cap = 0;

	if (git_do(&g, &t.names, e, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, NULL) < 0)
		return -1;
	for (size_t at = 0; at < t.names.len; at += strlen(t.names.data + at) + 1) {
		if (t.n == cap)
			t.v = xrealloc(t.v, cap = cap ? 2 * cap : 256, sizeof(*t.v));
		t.v[t.n++] = (struct tracked_entry){ .name = at };
	}
	*ret = t;
	t = (struct tracked){ 0 };
	return 0;
}

static const char *name_of(const struct tracked *t, size_t i)
{
	return t->names.data + t->v[i].name;
}

/* The first entry between lo and hi whose name is not less than `path`. The entries and `path` have the first
 * `same` bytes in common. */
static size_t lower_bound(const struct tracked *t, size_t lo, size_t hi, const char *path, size_t same)
{
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(name_of(t, mid) + same, path + same) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The entries below a directory (a path that ends in "/"); they are adjacent. */
static struct tracked_range range_of(const struct tracked *t, const char *dir, size_t len)
{
	auto_str first = xstrndup(dir, len), after = xstrndup(dir, len);
	struct tracked_range r = { .hi = t->n, .len = len };

	if (!len)
		return r;
	after[len - 1] = '/' + 1;
	r.lo = lower_bound(t, 0, t->n, first, 0);
	r.hi = lower_bound(t, r.lo, t->n, after, 0);
	return r;
}

struct tracked_entry *tracked_find(const struct tracked *t, const char *path, struct tracked_range *near)
{
	size_t len = (size_t)(path_base(path) - path), i;

	/* if the range is empty, the next path may be in another directory of the same length */
	if (len != near->len || near->lo == near->hi || strncmp(name_of(t, near->lo), path, len) != 0)
		*near = range_of(t, path, len);
	i = lower_bound(t, near->lo, near->hi, path, len);
	return i < near->hi && !strcmp(name_of(t, i) + len, path + len) ? &t->v[i] : NULL;
}

bool tracked_has_dir(const struct tracked *t, const char *dir)
{
	auto_str prefix = xasprintf("%s/", dir);
	size_t i = lower_bound(t, 0, t->n, prefix, 0);

	return i < t->n && !strncmp(name_of(t, i), prefix, strlen(prefix));
}

bool tracked_has_at(const struct tracked *t, const char *path)
{
	struct tracked_range near = { 0 };
	auto_str up = xstrdup(path);

	if (tracked_find(t, path, &near) || tracked_has_dir(t, path))
		return true;
	for (char *slash; (slash = strrchr(up, '/'));) {
		near = (struct tracked_range){ 0 };
		*slash = '\0';
		if (tracked_find(t, up, &near))
			return true;
	}
	return false;
}

static struct change *add(struct changes *c, const char *path, enum change_kind kind)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->v = xrealloc(c->v, c->cap, sizeof(*c->v));
	}
	c->v[c->n] = (struct change){ .path = xstrdup(path), .kind = kind };
	return &c->v[c->n++];
}

static enum change_kind kind_of(mode_t mode)
{
	return S_ISREG(mode) ? CHANGE_FILE : S_ISLNK(mode) ? CHANGE_LINK : CHANGE_ODD;
}

/* Totals of all threads of a scan. */
struct listed {
	size_t paths, bytes;
};

/* The size of a directory with a few files. */
#define DIR_BLOCK 4096

struct scan {
	struct changes *out;
	struct listed *all;
	struct tracked *tracked;
	const struct strvec *apart; /* of scan_upper */
	struct tracked_range near;
	const struct tracked *brought;
	struct tracked_range near_brought;
};

/* Whether a directory is a repository that the agent made; git does not look inside either. Not if the base
 * has files there: a planted .git must not hide changes. */
static bool is_nested_repo(const struct tree_entry *t, const struct tracked *tracked)
{
	auto_str dot_git = NULL;
	struct stat st;

	if (!S_ISDIR(t->st.st_mode) || tracked_has_dir(tracked, t->path))
		return false;
	dot_git = xasprintf("%s/.git", t->name);
	return !lstat_beneath(t->dir, dot_git, &st);
}

/* The agent chooses the names: a few thousand long ones could use up the memory. */
static int check_room(const struct listed *l, struct err *e)
{
	if (__atomic_load_n(&l->paths, __ATOMIC_RELAXED) >= CHANGES_MAX)
		return err_set(e, ERR_FAILED, "more than %d paths changed", CHANGES_MAX);
	if (__atomic_load_n(&l->bytes, __ATOMIC_RELAXED) >= CHANGES_BYTES_MAX)
		return err_set(e, ERR_FAILED, "the names of its changed paths have more than %u MB",
			CHANGES_BYTES_MAX >> 20);
	return 0;
}

static struct change *list(struct scan *s, const struct tree_entry *t, enum change_kind kind)
{
	__atomic_add_fetch(&s->all->paths, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&s->all->bytes, strlen(t->path) + 1, __ATOMIC_RELAXED);
	return add(s->out, t->path, kind);
}

static struct change *list_entry(struct scan *s, const struct tree_entry *t, bool tracked)
{
	struct change *n = list(s, t, kind_of(t->st.st_mode));

	n->executable = (t->st.st_mode & 0100) != 0;
	n->size = (uint64_t)t->st.st_size;
	n->tracked = tracked;
	return n;
}

/* Whether the entry needs no comparison: it is handled here, skipped, or ends the walk. */
static bool settled(struct scan *s, const struct tree_entry *t, enum tree_next *next, struct err *e)
{
	if (check_room(s->all, e) < 0) {
		*next = TREE_STOP;
		return true;
	}
	if (t->closed) {
		list(s, t, CHANGE_CLOSED);
		*next = TREE_SKIP;
		return true;
	}
	/* the workspace's own .git is skipped; any other is work that git does not look into */
	if (!strcasecmp(t->name, ".git")) {
		if (strcmp(t->path, ".git"))
			list(s, t, CHANGE_REPO);
		*next = TREE_SKIP;
		return true;
	}
	if (is_nested_repo(t, s->tracked)) {
		list(s, t, CHANGE_REPO);
		*next = TREE_SKIP;
		return true;
	}
	return false;
}

static bool is_opaque(const struct tree_entry *t)
{
	auto_fd fd = open_beneath(t->dir, t->name, O_RDONLY | O_DIRECTORY, 0);
	char value[4];

	return fd >= 0 && fgetxattr(fd, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

static enum tree_next upper_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct scan *s = arg;
	enum tree_next next;

	if (s->apart && S_ISDIR(t->st.st_mode) && strvec_has(s->apart, t->path))
		return TREE_SKIP;
	if (settled(s, t, &next, e))
		return next;
	if (S_ISDIR(t->st.st_mode)) {
		if (is_opaque(t) && tracked_has_dir(s->tracked, t->path))
			list(s, t, CHANGE_OPAQUE);
		return TREE_ON;
	}
	if (S_ISCHR(t->st.st_mode) && t->st.st_rdev == 0) {
		/* else it hides something of a layer, which is nobody's work */
		if (tracked_find(s->tracked, t->path, &s->near) || tracked_has_dir(s->tracked, t->path))
			list(s, t, CHANGE_GONE)->tracked = true;
	} else
		list_entry(s, t, tracked_find(s->tracked, t->path, &s->near) != NULL);
	return TREE_ON;
}

static void note_rules(const struct tracked *t, struct changes *c)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *name = path_base(name_of(t, i));

		if (strncmp(name, ".git", 4))
			continue;
		if (!strcmp(name, ".gitignore"))
			strvec_push(&c->base_ignores, name_of(t, i));
		if (!strcmp(name, ".gitattributes"))
			strvec_push(&c->base_attributes, name_of(t, i));
	}
}

int scan_upper(
	int root, const struct tracked *t, const struct strvec *apart, struct changes *ret, struct err *e)
{
	struct changes c = { .root = root };
	struct listed all = { 0 };
	struct scan s = { .out = &c, .all = &all, .tracked = (struct tracked *)t, .apart = apart };

	if (tree_walk(root, upper_entry, &s, e) < 0) {
		changes_release(&c);
		return -1;
	}
	note_rules(t, &c);
	*ret = c;
	return 0;
}

/* The change time of an inode cannot be set back, so equal stat data means equal content. */
static bool is_unchanged(const struct tracked_entry *k, const struct stat *st)
{
	return k->ctime_s == (uint32_t)st->st_ctim.tv_sec && k->ctime_ns == (uint32_t)st->st_ctim.tv_nsec &&
	       k->mtime_s == (uint32_t)st->st_mtim.tv_sec && k->mtime_ns == (uint32_t)st->st_mtim.tv_nsec &&
	       k->ino == (uint32_t)st->st_ino && k->size == (uint32_t)st->st_size;
}

static enum tree_next whole_entry(const struct tree_entry *t, void *arg, struct err *e)
{
	struct scan *s = arg;
	struct tracked_entry *known, *brought = NULL;
	enum tree_next next;

	if (settled(s, t, &next, e))
		return next;
	known = tracked_find(s->tracked, t->path, &s->near);
	if (S_ISDIR(t->st.st_mode)) {
		if (known && known->gitlink)
			known->seen = true;
		s->out->dirs++;
		s->out->dir_bytes += (uint64_t)t->st.st_blocks * 512;
		return TREE_ON;
	}
	if (known)
		known->seen = true;
	if (!known && s->brought && s->brought->n)
		brought = tracked_find(s->brought, t->path, &s->near_brought);
	if (brought ? !is_unchanged(brought, &t->st) : !known || !is_unchanged(known, &t->st))
		list_entry(s, t, known != NULL)->brought = brought != NULL;
	return TREE_ON;
}

void scan_add_below(struct changes *c, const char *path, const struct stat *st, int layer)
{
	struct change *n = add(c, path, kind_of(st->st_mode));

	n->executable = (st->st_mode & 0100) != 0;
	n->size = (uint64_t)st->st_size;
	n->brought = true;
	n->layer = layer;
}

/* lstat spends all its time in the kernel, and scales with the number of processors. */
static unsigned thread_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > TREE_MAX_THREADS ? TREE_MAX_THREADS : (unsigned)n;
}

/* Moves the list of `from` to the end of `to`. */
static void append(struct changes *to, struct changes *from)
{
	if (!from->n)
		return;
	to->v = xrealloc(to->v, to->n + from->n, sizeof(*to->v));
	memcpy(to->v + to->n, from->v, from->n * sizeof(*to->v));
	to->n = to->cap = to->n + from->n;
	from->n = 0;
}

/* The names are sorted: a directory is new if the name before is not in it. */
static size_t count_dirs(const struct tracked *t)
{
	const char *before = "";
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const char *name = name_of(t, i), *at = name;

		while (*at && *at == before[at - name])
			at++;
		for (; *at; at++)
			n += *at == '/';
		before = name;
	}
	return n;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

int scan_whole(int root, struct tracked *t, const struct tracked *brought, struct changes *ret, struct err *e)
{
	struct changes c = { .root = root }, found[TREE_MAX_THREADS] = { 0 };
	struct listed all = { 0 };
	struct scan s[TREE_MAX_THREADS];
	void *args[TREE_MAX_THREADS];
	unsigned threads = thread_count();
	size_t gone, dirs = count_dirs(t);
	int rc;

	for (unsigned i = 0; i < threads; i++) {
		s[i] = (struct scan){ .out = &found[i], .all = &all, .tracked = t, .brought = brought };
		args[i] = &s[i];
		found[i].root = -1;
	}
	rc = tree_walk_many(root, whole_entry, args, threads, e);
	/* Removed paths come first: a directory may be where a file was. */
	for (size_t i = 0; !rc && i < t->n; i++)
		if (!t->v[i].seen)
			add(&c, name_of(t, i), CHANGE_GONE)->tracked = true;
	gone = c.n;
	for (unsigned i = 0; i < threads; i++) {
		c.dirs += found[i].dirs;
		c.dir_bytes += found[i].dir_bytes;
		append(&c, &found[i]);
		changes_release(&found[i]);
	}
	if (rc < 0) {
		changes_release(&c);
		return -1;
	}
	if (c.n > gone)
		qsort(c.v + gone, c.n - gone, sizeof(*c.v), by_path);
	c.dirs = c.dirs > dirs ? c.dirs - dirs : 0;
	c.dir_bytes = c.dir_bytes > dirs * DIR_BLOCK ? c.dir_bytes - dirs * DIR_BLOCK : 0;
	note_rules(t, &c);
	*ret = c;
	return 0;
}
