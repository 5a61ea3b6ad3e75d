#include "git/ref.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "git/packed_refs.h"
#include "sys/fd.h"
#include "sys/hold_signals.h"

#define LINKS_MAX 5

static int list(const struct repo *r, const struct strvec *patterns, struct buf *out, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);

	strvec_pushl(&args, "for-each-ref", "--format=%(objectname) %(refname)", NULL);
	for (size_t i = 0; i < patterns->n; i++)
		strvec_push(&args, patterns->v[i]);
	return git_run(&g, &args, NULL, out, e);
}

/* Whether there is no such directory, or nothing in it. */
static bool is_empty(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	bool empty = d != NULL;

	if (fd < 0)
		return errno == ENOENT;
	while (d && empty && (ent = readdir(d)))
		empty = !strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..");
	if (d)
		closedir(d);
	else
		close(fd);
	return empty;
}

bool ref_none_loose(const struct repo *r, const char *prefix)
{
	auto_fd dir = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir >= 0 && prefix[strlen(prefix) - 1] == '/' && faccessat(dir, "reftable", F_OK, 0) < 0 &&
	       is_empty(dir, prefix);
}

/* Whether the files alone show that no ref is beneath a prefix that ends in "/". Loose refs are checked
 * first: if one is packed meanwhile, packed-refs has it by then. */
static bool none_beneath(const struct repo *r, const char *prefix)
{
	auto_fd dir = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_str name = xasprintf(" %s", prefix);
	auto_buf packed = BUF_INIT(PACKED_REFS_MAX);
	struct err ignored = ERR_INIT;

	if (dir < 0 || !ref_none_loose(r, prefix))
		return false;
	if (packed_refs_near(dir, prefix, &packed, &ignored) < 0)
		return ignored.kind == ERR_NOTFOUND;
	return !memmem(buf_str(&packed), packed.len, name, strlen(name));
}

/* Adds one ref, if it exists. */
static int add_one(const struct repo *r, const char *name, struct buf *out, struct err *e)
{
	char oid[OID_SIZE];

	if (ref_read(r, name, oid, e) < 0)
		return -1;
	if (*oid)
		buf_printf(out, "%s %s\n", oid, name);
	return 0;
}

int ref_shown(const struct repo *r, const char *target, const char *also, struct buf *out, struct err *e)
{
	auto_strvec patterns = STRVEC_INIT;

	/* most repositories of small projects have no tag, and then no git has to be started */
	if (!also && none_beneath(r, "refs/tags/"))
		return *target ? add_one(r, target, out, e) : 0;
	if (*target)
		strvec_push(&patterns, target);
	if (also)
		strvec_push(&patterns, also);
	strvec_push(&patterns, "refs/tags/");
	return list(r, &patterns, out, e);
}

int ref_list(const struct repo *r, const char *prefix, struct buf *out, struct err *e)
{
	auto_strvec patterns = STRVEC_INIT;

	if (none_beneath(r, prefix))
		return 0;
	strvec_push(&patterns, prefix);
	return list(r, &patterns, out, e);
}

/* What git is told to leave out; a star matches across slashes. */
#define NOT_GARTHS  "--exclude=refs/garth/*", "--exclude=refs/heads/garth/*"
#define NOT_REMOTES "--exclude=refs/remotes/*"

/* Whether one of the refs that the options select reaches the commit. `for-each-ref --contains` looks through the history
 * for each ref on its own: with a thousand tags that takes ten seconds, and this a few milliseconds. If dates of commits
 * are wrong, the answer can be "no" although a ref does: an agent can bring that about. */
static bool reach(const struct repo *r, const char *oid, const char *const refs[])
{
	auto_buf out = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	strvec_pushl(&args, "rev-list", "--max-count=1", oid, "--not", NULL);
	for (size_t i = 0; refs[i]; i++)
		strvec_push(&args, refs[i]);
	return !git_run(&g, &args, NULL, &out, &ignored) && !out.len;
}

/* The same for Garth's own refs, which are few. No date has a say in it. */
static bool garths_reach(const struct repo *r, const char *oid)
{
	auto_buf out = BUF_INIT(64 << 20);
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	return git_do(&g, &out, &ignored, "for-each-ref", "--format=%(refname)", "--contains", oid,
		       "refs/garth/", "refs/heads/garth/", NULL) < 0 ||
	       out.len;
}

bool ref_is_reached(const struct repo *r, const char *oid)
{
	static const char *const others[] = { NOT_GARTHS, "--glob=refs/*", NULL };

	return reach(r, oid, others);
}

bool ref_is_users(const struct repo *r, const char *oid)
{
	static const char *const users[] = { NOT_GARTHS, NOT_REMOTES, "--glob=refs/*", NULL };
	static const char *const remotes[] = { "--glob=refs/remotes/*", NULL };

	return reach(r, oid, users) || (reach(r, oid, remotes) && !garths_reach(r, oid));
}

bool ref_can_name(const struct repo *r, const char *oid)
{
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	return !git_do(&g, NULL, &ignored, "cat-file", "-e", oid, NULL);
}

void ref_release(struct ref_txn *t)
{
	buf_release(&t->text);
	for (size_t i = 0; i < t->held.n; i++)
		unlink(t->held.v[i]);
	strvec_release(&t->held);
	if (t->whole)
		signals_let_go();
	t->whole = false;
}

void ref_begin_hold(struct ref_txn *t)
{
	if (!t->whole)
		signals_hold();
	t->whole = true;
}

void ref_hold(struct ref_txn *t, const char *path)
{
	strvec_push(&t->held, path);
}

/* Garth's own refs name commits. If such a name is a symbolic ref, it is replaced: git would write to the branch that
 * it leads to. */
static void begin(struct ref_txn *t, const char *name)
{
	if (!strncmp(name, "refs/heads/garth/", 17) || !strncmp(name, "refs/garth/", 11))
		buf_addstr(&t->text, "option no-deref\n");
}

void ref_create(struct ref_txn *t, const char *name, const char *oid)
{
	begin(t, name);
	buf_printf(&t->text, "create %s %s\n", name, oid);
}

void ref_set(struct ref_txn *t, const char *name, const char *oid)
{
	begin(t, name);
	buf_printf(&t->text, "update %s %s\n", name, oid);
}

void ref_move(struct ref_txn *t, const char *name, const char *new_oid, const char *old)
{
	begin(t, name);
	buf_printf(&t->text, "update %s %s %s\n", name, new_oid, old);
}

void ref_remove(struct ref_txn *t, const char *name, const char *old)
{
	begin(t, name);
	buf_printf(&t->text, "delete %s%s%s\n", name, old ? " " : "", old ? old : "");
}

int ref_commit(const struct repo *r, struct ref_txn *t, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf errtext = BUF_SMALL;
	struct git g = repo_git(r);
	int code;

	if (!t->text.len)
		return 0;
	if (t->text.overflow)
		return err_set(e, ERR_FAILED, "too many refs for one step");
	if (ref_check_places(r, t, e) < 0)
		return -1;
	strvec_pushl(&args, "update-ref", "--stdin", NULL);
	if (git_try(&g, &args, &t->text, NULL, &errtext, &code, e) < 0)
		return -1;
	if (!code)
		return 0;
	git_failed(&args, &errtext, e);
	if (strstr(buf_str(&errtext), "reference already exists"))
		e->kind = ERR_EXISTS;
	return -1;
}

static bool take_oid(const struct repo *r, const char *text, char out[OID_SIZE])
{
	size_t n = 2 * (size_t)r->hash_len;

	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	if (text[n] && !isspace((unsigned char)text[n]))
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

/* Reads the ref's file into text, which stays empty if there is none. */
static int read_loose(int dir, const char *name, struct buf *text, struct err *e)
{
	buf_reset(text);
	if (!read_file(dir, name, text, e))
		return 0;
	/* the ref's name is a directory: there are refs beneath it */
	return e->kind == ERR_NOTFOUND || e->sys == EISDIR ? 0 : -1;
}

/* Lines are "OID NAME". Lines that begin with '^' or '#' contain no ref's name. */
static int read_packed(const struct repo *r, int dir, const char *name, char out[OID_SIZE], struct err *e)
{
	auto_buf text = BUF_INIT(PACKED_REFS_MAX);
	auto_str line = xasprintf(" %s\n", name);
	size_t oid = 2 * (size_t)r->hash_len;
	const char *at;

	if (packed_refs_near(dir, name, &text, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	at = memmem(buf_str(&text), text.len, line, strlen(line));
	if (at && (size_t)(at - text.data) >= oid)
		take_oid(r, at - oid, out);
	return 0;
}

/* Asks git, for refs that are not stored in files. */
static int ask(const struct repo *r, const char *name, char out[OID_SIZE], struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_buf text = BUF_SMALL;
	struct git g = repo_git(r);
	int code;

	strvec_pushl(&args, "rev-parse", "-q", "--verify", "--end-of-options", name, NULL);
	if (git_try(&g, &args, NULL, &text, NULL, &code, e) < 0)
		return -1;
	if (!code && !take_oid(r, buf_str(&text), out))
		return err_set(e, ERR_FAILED, "cannot understand what git says of '%s'", name);
	return 0;
}

int ref_read(const struct repo *r, const char *name, char out[OID_SIZE], struct err *e)
{
	auto_fd dir = open(r->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_str at = xstrdup(name);
	auto_buf text = BUF_SMALL;

	out[0] = '\0';
	if (dir < 0)
		return err_sys(e, "cannot open '%s'", r->git_dir);
	if (!faccessat(dir, "reftable", F_OK, 0))
		return ask(r, name, out, e);
	for (int links = 0; links < LINKS_MAX; links++) {
		if (read_loose(dir, at, &text, e) < 0)
			return err_wrap(e, "cannot read '%s'", at);
		if (!text.len)
			return read_packed(r, dir, at, out, e);
		if (strncmp(text.data, "ref: ", 5))
			return take_oid(r, text.data, out) ? 0 : err_set(e, ERR_FAILED, "'%s' is broken", at);
		free(at);
		at = xstrndup(text.data + 5, strcspn(text.data + 5, "\n"));
	}
	return err_set(e, ERR_FAILED, "'%s' leads from one name to the next", name);
}

const char *ref_short(const char *ref)
{
	static const char heads[] = "refs/heads/";

	return strncmp(ref, heads, sizeof(heads) - 1) ? ref : ref + sizeof(heads) - 1;
}
