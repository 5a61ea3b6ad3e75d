#include "jail/jail.h"

#include "base/alloc.h"
#include "base/path.h"
#include "jail/pack.h"

#define MAGIC "garth-jail-3"
/* overlayfs refuses more lower layers. */
#define MAX_LOWERS   500
#define MAX_HOSTNAME 64

void jail_init(struct jail *j)
{
	*j = (struct jail){ .net = JAIL_NET_NONE };
}

void jail_release(struct jail *j)
{
	for (size_t i = 0; i < j->nrows; i++) {
		free(j->rows[i].source);
		free(j->rows[i].target);
		free(j->rows[i].layer);
		strvec_release(&j->rows[i].lowers);
	}
	free(j->rows);
	free(j->hostname);
	free(j->upper);
	free(j->work);
	free(j->caches);
	free(j->shared);
	free(j->ruled);
	strvec_release(&j->git_dirs);
	rules_release(&j->rules);
	free(j->gives);
	strvec_release(&j->lowers);
	strvec_release(&j->sockets);
	jail_init(j);
}

static struct jail_row *new_row(struct jail *j)
{
	/* the capacity is a power of two */
	if (!(j->nrows & (j->nrows - 1)))
		j->rows = xrealloc(j->rows, j->nrows ? j->nrows * 2 : 1, sizeof(*j->rows));
	j->rows[j->nrows] = (struct jail_row){ 0 };
	return &j->rows[j->nrows++];
}

void jail_add(struct jail *j, enum jail_kind kind, unsigned flags, const char *source, const char *target)
{
	*new_row(j) = (struct jail_row){ .kind = kind,
		.flags = flags,
		.source = source ? xstrdup(source) : NULL,
		.target = xstrdup(target) };
}

void jail_add_cache(struct jail *j, const char *source, const char *target, const char *layer,
	const struct strvec *lowers)
{
	struct jail_row *r;

	jail_add(j, JAIL_CACHE, JAIL_WRITE | JAIL_OPTIONAL | JAIL_PLAIN, source, target);
	r = &j->rows[j->nrows - 1];
	r->layer = xstrdup(layer);
	if (lowers)
		strvec_pushv(&r->lowers, (const char *const *)lowers->v);
}

static const struct {
	const char *name;
	bool host_path;  /* source is an absolute path */
	bool needs_text; /* source must not be NULL */
	unsigned flags;  /* the flags that are allowed */
} kinds[JAIL_KINDS] = {
	[JAIL_BIND] = { "bind", true, true, JAIL_WRITE | JAIL_OPTIONAL | JAIL_NOEXEC | JAIL_PLAIN },
	[JAIL_COPY] = { "copy", true, true, JAIL_OPTIONAL },
	[JAIL_DATA] = { "data", false, true, JAIL_OPTIONAL },
	[JAIL_LINK] = { "link", false, true, JAIL_OPTIONAL },
	[JAIL_DIR] = { "dir", false, false, JAIL_OPTIONAL },
	[JAIL_TMPFS] = { "tmpfs", false, true, JAIL_WRITE | JAIL_OPTIONAL | JAIL_NOEXEC },
	[JAIL_PROC] = { "proc", false, false, 0 },
	[JAIL_DEV] = { "dev", false, false, JAIL_WRITE },
	[JAIL_OVERLAY] = { "overlay", false, false, JAIL_WRITE | JAIL_NOEXEC },
	[JAIL_CACHE] = { "cache", true, false, JAIL_WRITE | JAIL_OPTIONAL | JAIL_NOEXEC | JAIL_PLAIN },
};

const char *jail_kind_name(enum jail_kind kind)
{
	return (unsigned)kind < JAIL_KINDS ? kinds[kind].name : "unknown";
}

/* A plain name in a clean directory. */
static bool is_layer(const struct jail *j, const char *name)
{
	return j->caches && path_is_clean(j->caches) && *name && strcmp(name, ".") && strcmp(name, "..") &&
	       !strchr(name, '/') && strlen(name) <= 255;
}

static int check_cache(const struct jail *j, const struct jail_row *r, struct err *e)
{
	if ((r->kind == JAIL_CACHE) != (r->layer != NULL) || (r->layer && !is_layer(j, r->layer)))
		return err_set(e, ERR_START, "'%s' has no layer, or one that it should not have", r->target);
	if ((r->kind != JAIL_CACHE && r->lowers.n) || r->lowers.n > JAIL_CACHE_LOWERS_MAX ||
		(r->lowers.n && (!j->shared || !path_is_clean(j->shared))) ||
		(r->kind == JAIL_CACHE && !r->source && !r->lowers.n))
		return err_set(e, ERR_START, "'%s' has too many layers, or none", r->target);
	for (size_t i = 0; i < r->lowers.n; i++) {
		auto_str path = path_join("/", r->lowers.v[i]);

		if (!*r->lowers.v[i] || *r->lowers.v[i] == '/' || !path_is_clean(path))
			return err_set(
				e, ERR_START, "layer '%s' is not a clean relative path", r->lowers.v[i]);
	}
	return 0;
}

static int check_row(const struct jail *j, size_t n, struct err *e)
{
	const struct jail_row *r = &j->rows[n];

	if ((unsigned)r->kind >= JAIL_KINDS)
		return err_set(e, ERR_START, "unknown kind of row %d", (int)r->kind);
	if (!r->target || !path_is_clean(r->target) || !strcmp(r->target, "/") || strlen(r->target) >= 4096)
		return err_set(e, ERR_START, "'%s' is not a clean absolute path", r->target ? r->target : "");
	if (r->flags & ~kinds[r->kind].flags)
		return err_set(e, ERR_START, "%s '%s' cannot have flags %#x", kinds[r->kind].name, r->target,
			r->flags);
	if (kinds[r->kind].needs_text && !r->source)
		return err_set(e, ERR_START, "%s '%s' has no source", kinds[r->kind].name, r->target);
	if (kinds[r->kind].host_path && r->source && r->source[0] != '/')
		return err_set(e, ERR_START, "source '%s' is not absolute", r->source);
	if (r->kind == JAIL_TMPFS && (!*r->source || strspn(r->source, "0123456789") != strlen(r->source)))
		return err_set(e, ERR_START, "'%s' is not a size", r->source);
	if (check_cache(j, r, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(j->rows[i].target, r->target))
			return err_set(e, ERR_START, "'%s' is described twice", r->target);
		if (path_within(j->rows[i].target, r->target))
			return err_set(e, ERR_START, "'%s' would cover '%s'", r->target, j->rows[i].target);
	}
	return 0;
}

/* overlayfs wants both on one mount, so they are opened through their common directory. */
static bool are_siblings(const char *a, const char *b)
{
	const char *ea = path_base(a), *eb = path_base(b);

	return ea - a == eb - b && !memcmp(a, b, (size_t)(ea - a)) && *ea && *eb && strcmp(ea, eb) != 0;
}

static int check_overlay(const struct jail *j, struct err *e)
{
	size_t rows = 0;

	for (size_t i = 0; i < j->nrows; i++)
		rows += j->rows[i].kind == JAIL_OVERLAY;
	if (!rows && !j->lowers.n && !j->upper && !j->work)
		return 0;
	if (rows != 1)
		return err_set(e, ERR_START, "%zu overlays are described, not one", rows);
	if (!j->lowers.n || j->lowers.n > MAX_LOWERS)
		return err_set(e, ERR_START, "an overlay cannot have %zu lower layers", j->lowers.n);
	for (size_t i = 0; i < j->lowers.n; i++)
		if (!path_is_clean(j->lowers.v[i]))
			return err_set(
				e, ERR_START, "layer '%s' is not a clean absolute path", j->lowers.v[i]);
	if (!j->upper || !j->work || !path_is_clean(j->upper) || !path_is_clean(j->work) ||
		!are_siblings(j->upper, j->work))
		return err_set(e, ERR_START, "upper and work directory are not two in one directory");
	return 0;
}

static int check_landlock_only(const struct jail *j, struct err *e)
{
	if (j->from_root || j->listens)
		return err_set(e, ERR_START, "Landlock alone cannot hold root, and has no proxy");
	for (size_t i = 0; i < j->nrows; i++) {
		const struct jail_row *r = &j->rows[i];

		if (r->kind != JAIL_PROC && r->kind != JAIL_DEV &&
			(r->kind != JAIL_BIND || strcmp(r->source, r->target) != 0))
			return err_set(e, ERR_START, "Landlock alone cannot put %s '%s' in its place",
				kinds[r->kind].name, r->target);
	}
	return 0;
}

static int check_rules(const struct jail *j, struct err *e)
{
	if (j->rules.n &&
		(j->landlock_only || !j->ruled || !path_is_clean(j->ruled) || !strcmp(j->ruled, "/")))
		return err_set(e, ERR_START, "the rules have no place, or cannot be enforced");
	if (j->git_dirs.n % 2 || (j->git_dirs.n && j->hash_len != 20 && j->hash_len != 32))
		return err_set(e, ERR_START, "the git directories are not in pairs");
	for (size_t i = 0; i < j->git_dirs.n; i += 2)
		if (*j->git_dirs.v[i] == '/' || !path_is_clean(j->git_dirs.v[i + 1]))
			return err_set(e, ERR_START, "'%s' is not a git directory", j->git_dirs.v[i + 1]);
	for (size_t i = 0; i < j->rules.n; i++)
		if (!*j->rules.v[i].glob || *j->rules.v[i].glob == '/')
			return err_set(e, ERR_START, "'%s' is not a relative rule", j->rules.v[i].glob);
	return 0;
}

int jail_check(const struct jail *j, struct err *e)
{
	if (!j->uid || !j->gid || j->uid == (uid_t)-1 || j->gid == (gid_t)-1)
		return err_set(e, ERR_START, "nobody may be root inside");
	if (j->net != JAIL_NET_NONE && j->net != JAIL_NET_HOST)
		return err_set(e, ERR_START, "unknown network %d", (int)j->net);
	if (j->hostname && (!*j->hostname || strlen(j->hostname) > MAX_HOSTNAME))
		return err_set(e, ERR_START, "'%s' is not a host name", j->hostname);
	for (size_t i = 0; i < j->nrows; i++)
		if (check_row(j, i, e) < 0)
			return -1;
	if (j->landlock_only && check_landlock_only(j, e) < 0)
		return -1;
	return check_rules(j, e) < 0 ? -1 : check_overlay(j, e);
}

void jail_pack(const struct jail *j, struct buf *out)
{
	pack_str(out, MAGIC);
	pack_num(out, j->uid);
	pack_num(out, j->gid);
	pack_num(out, j->from_root);
	pack_num(out, j->net);
	pack_num(out, j->without);
	pack_str(out, j->hostname);
	pack_str(out, j->upper);
	pack_str(out, j->work);
	pack_str(out, j->caches);
	pack_str(out, j->shared);
	pack_str(out, j->ruled);
	pack_num(out, j->rules.n);
	for (size_t i = 0; i < j->rules.n; i++) {
		pack_num(out, j->rules.v[i].kind);
		pack_str(out, j->rules.v[i].glob);
	}
	pack_strvec(out, &j->git_dirs);
	pack_num(out, j->hash_len);
	pack_num(out, j->max_file_size);
	pack_num(out, j->max_open_files);
	pack_num(out, j->max_procs);
	pack_num(out, j->max_memory);
	pack_num(out, j->max_core);
	pack_str(out, j->gives);
	pack_num(out, j->listens);
	pack_num(out, j->landlock_only);
	pack_strvec(out, &j->sockets);
	pack_strvec(out, &j->lowers);
	pack_num(out, j->nrows);
	for (size_t i = 0; i < j->nrows; i++) {
		pack_num(out, j->rows[i].kind);
		pack_num(out, j->rows[i].flags);
		pack_str(out, j->rows[i].source);
		pack_str(out, j->rows[i].target);
		pack_str(out, j->rows[i].layer);
		pack_strvec(out, &j->rows[i].lowers);
	}
}

static void unpack_row(struct pack_reader *r, struct jail_row *row)
{
	row->kind = (enum jail_kind)pack_read_num(r, JAIL_KINDS - 1);
	row->flags = (unsigned)pack_read_num(r, UINT32_MAX);
	row->source = pack_read_str(r);
	row->target = pack_read_str(r);
	row->layer = pack_read_str(r);
	pack_read_strvec(r, &row->lowers);
	if (!row->target)
		r->bad = true;
}

static void unpack_rule(struct pack_reader *r, struct rules *to)
{
	enum rule_kind kind = (enum rule_kind)pack_read_num(r, RULE_KINDS - 1);
	auto_str glob = pack_read_str(r);

	if (glob)
		rules_add(to, kind, glob, "");
	else
		r->bad = true;
}

int jail_unpack(const char *data, size_t len, struct jail *ret, struct err *e)
{
	struct pack_reader r = { data, len, false };
	auto_str magic = pack_read_str(&r);
	auto_jail j;

	jail_init(&j);
	if (!magic || strcmp(magic, MAGIC) != 0)
		return err_set(e, ERR_START, "this is not the description of a jail of this version");
	j.uid = (uid_t)pack_read_num(&r, UINT32_MAX);
	j.gid = (gid_t)pack_read_num(&r, UINT32_MAX);
	j.from_root = pack_read_num(&r, 1);
	j.net = (enum jail_net)pack_read_num(&r, JAIL_NET_HOST);
	j.without = (unsigned)pack_read_num(&r, UINT32_MAX);
	j.hostname = pack_read_str(&r);
	j.upper = pack_read_str(&r);
	j.work = pack_read_str(&r);
	j.caches = pack_read_str(&r);
	j.shared = pack_read_str(&r);
	j.ruled = pack_read_str(&r);
	for (size_t n = pack_read_count(&r, 2 * sizeof(uint64_t)); n && !r.bad; n--)
		unpack_rule(&r, &j.rules);
	pack_read_strvec(&r, &j.git_dirs);
	j.hash_len = (unsigned)pack_read_num(&r, 32);
	j.max_file_size = pack_read_num(&r, UINT64_MAX);
	j.max_open_files = pack_read_num(&r, UINT64_MAX);
	j.max_procs = pack_read_num(&r, UINT64_MAX);
	j.max_memory = pack_read_num(&r, UINT64_MAX);
	j.max_core = pack_read_num(&r, UINT64_MAX);
	j.gives = pack_read_str(&r);
	j.listens = pack_read_num(&r, UINT16_MAX);
	j.landlock_only = pack_read_num(&r, 1);
	pack_read_strvec(&r, &j.sockets);
	pack_read_strvec(&r, &j.lowers);
	for (size_t n = pack_read_count(&r, 6 * sizeof(uint64_t)); n && !r.bad; n--)
		unpack_row(&r, new_row(&j));
	if (!pack_done(&r))
		return err_set(e, ERR_START, "the description of the jail is malformed");
	*ret = j;
	jail_init(&j);
	return 0;
}
