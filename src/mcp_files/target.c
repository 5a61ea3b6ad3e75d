#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "mcp/message.h"
#include "mcp_files/files.h"
#include "sys/digest.h"
#include "sys/fd.h"

#define LINKS_MAX 16

int beneath(const struct files *f, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY)),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	unsigned tries = 0;
	long fd;

	/* EAGAIN: a rename disturbed the lookup, or a process holds a lease on the file */
	do
		fd = syscall(SYS_openat2, f->root, *path ? path : ".", &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 64)));
	return (int)fd;
}

void target_release(struct target *p)
{
	fd_closep(&p->dir);
	free(p->path);
}

/* Where the link at p leads, as a path beneath the workspace. NULL with *ret_refused, or NULL if it is not a link. */
static char *follow_link(struct mcp_call *c, const struct target *p, bool *ret_refused)
{
	char to[4096];
	ssize_t n = readlinkat(p->dir, p->name, to, sizeof(to) - 1);
	const struct files *f = c->ctx;
	auto_str whole = NULL, at = NULL, ret = NULL;

	*ret_refused = false;
	if (n < 0)
		return NULL;
	to[n] = '\0';
	at = path_shown(f, p->path);
	*strrchr(at, '/') = '\0';
	whole = *to == '/' ? xstrdup(to) : path_join(*at ? at : "/", to);
	ret = path_beneath(c, whole);
	*ret_refused = !ret;
	return steal_ptr(ret);
}

static int find_once(struct mcp_call *c, const char *path, struct target *ret)
{
	auto_str parent = xstrdup(path);
	char *slash = strrchr(parent, '/');

	if (!*path)
		return tool_refuse(c, "is_workspace", ((struct files *)c->ctx)->path,
			"the workspace itself can be listed, not removed, moved or replaced");
	ret->path = xstrdup(path);
	ret->name = path_base(ret->path);
	if (slash)
		*slash = '\0';
	ret->dir = beneath(c->ctx, slash ? parent : "", O_PATH | O_DIRECTORY, 0);
	return ret->dir < 0 ? tool_refuse_errno(c, path, "open its directory") : 0;
}

int target_find(struct mcp_call *c, const char *path, bool follow, struct target *ret)
{
	auto_str next = xstrdup(path);
	bool refused = false;

	for (unsigned i = 0; i < LINKS_MAX; i++) {
		auto_target p = TARGET_INIT;
		auto_str to = NULL;

		if (find_once(c, next, &p) < 0)
			return -1;
		if (follow)
			to = follow_link(c, &p, &refused);
		if (refused)
			return -1;
		if (!to) {
			*ret = p;
			p = (struct target)TARGET_INIT;
			return 0;
		}
		free(next);
		next = steal_ptr(to);
	}
	errno = ELOOP;
	return tool_refuse_errno(c, path, "follow its links");
}

int open_file(struct mcp_call *c, const char *path, struct stat *st)
{
	auto_fd fd = beneath(c->ctx, path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0 || fstat(fd, st) < 0)
		return tool_refuse_errno(c, path, "open it");
	if (S_ISREG(st->st_mode))
		return fd_steal(&fd);
	errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
	return tool_refuse_errno(c, path, "read it");
}

int open_directory(struct mcp_call *c, const char *path)
{
	int fd = beneath(c->ctx, path, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? tool_refuse_errno(
				c, *path ? path : ((struct files *)c->ctx)->path, "open the directory")
		      : fd;
}

int read_whole(struct mcp_call *c, const char *path, struct buf *out, struct stat *st)
{
	auto_fd fd = open_file(c, path, st);
	struct err e = ERR_INIT;

	if (fd < 0)
		return -1;
	if (st->st_size > FILES_TEXT_MAX)
		return tool_refuse(c, "too_large", path,
			"the file has %lld bytes, and at most %u are read at once: use offset and limit, or "
			"byte_offset and byte_length, of read_text_file",
			(long long)st->st_size, FILES_TEXT_MAX);
	out->max = FILES_TEXT_MAX;
	if (read_rest(fd, out, "the file", &e) < 0)
		return tool_refuse(c, e.sys ? "failed" : "too_large", path, "%s", e.msg);
	return 0;
}

int check_utf8(struct mcp_call *c, const char *path, const char *text, size_t len)
{
	size_t good = utf8_valid(text, len);

	if (good == len)
		return 0;
	return tool_refuse(c, "not_utf8", path,
		"byte %zu is not UTF-8: the file is not text in UTF-8; read_media_file reads it as base64",
		good);
}

void hash_text(const char *data, size_t len, char out[65])
{
	unsigned char d[DIGEST_MAX];

	digest_of(DIGEST_SHA256_LEN, data, len, d);
	for (int i = 0; i < DIGEST_SHA256_LEN; i++)
		snprintf(out + 2 * i, 3, "%02x", d[i]);
}

int check_hash(struct mcp_call *c, const char *path, const char *data, size_t len)
{
	const char *want = arg_text(c, "expected_hash");
	char have[65];

	if (!want)
		return 0;
	hash_text(data, len, have);
	if (!strcasecmp(want, have))
		return 0;
	return tool_refuse(c, "changed", path,
		"the file is not the expected one: its SHA-256 is %s; read it again", have);
}

static int make_temporary(const struct target *p, char name[40])
{
	uint64_t random = 0;
	int fd, tries = 0;

	do {
		(void)!getrandom(&random, sizeof(random), 0);
		snprintf(name, 40, ".garth-mcp-%016llx", (unsigned long long)random);
		fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST && ++tries < 8);
	return fd;
}

int replace_file(struct mcp_call *c, const struct target *p, const char *data, size_t len, mode_t mode)
{
	char name[40];
	auto_fd fd = make_temporary(p, name);

	if (fd < 0)
		return tool_refuse_errno(c, p->path, "write it");
	if (write_full(fd, data, len) < 0 || (mode && fchmod(fd, mode & 0777) < 0) ||
		renameat(p->dir, name, p->dir, p->name) < 0) {
		int error = errno;

		unlinkat(p->dir, name, 0);
		errno = error;
		return tool_refuse_errno(c, p->path, "write it");
	}
	return 0;
}
