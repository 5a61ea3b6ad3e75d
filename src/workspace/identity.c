#include "workspace/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/digest.h"
#include "sys/fd.h"

#define ID_LEN      32
#define LEGACY_LINE 4096

struct identity {
	char id[ID_LEN + 1];
	char *path;
};

static void hex(const unsigned char *bytes, char out[ID_LEN + 1])
{
	for (size_t i = 0; i < ID_LEN / 2; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* A home without an identity is recognized by the first line of its audit log, which a copy has too. */
static bool legacy_id(int dir, char out[ID_LEN + 1])
{
	auto_fd log = open_regular_beneath(dir, "audit.jsonl");
	unsigned char sum[DIGEST_MAX];
	char line[LEGACY_LINE];
	ssize_t n = log < 0 ? -1 : read_full(log, line, sizeof(line));
	const char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;

	if (n <= 0)
		return false;
	digest_of(DIGEST_SHA256_LEN, line, end ? (size_t)(end - line) : (size_t)n, sum);
	hex(sum, out);
	return true;
}

/* Returns 1 if the file is there and well-formed, 0 if there is none, -1 if it cannot be read. */
static int read_identity(int dir, struct identity *ret)
{
	auto_fd fd = open_regular_beneath(dir, IDENTITY_FILE);
	auto_buf text = BUF_INIT(8192);
	struct err ignored = ERR_INIT;
	const char *path;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (read_rest(fd, &text, IDENTITY_FILE, &ignored) < 0)
		return -1;
	path = buf_str(&text) + ID_LEN + 1;
	if (text.len < ID_LEN + 3 || strspn(text.data, "0123456789abcdef") != ID_LEN ||
		text.data[ID_LEN] != '\n' || *path != '/' || !strchr(path, '\n'))
		return 0;
	memcpy(ret->id, text.data, ID_LEN);
	ret->id[ID_LEN] = '\0';
	ret->path = xstrndup(path, strcspn(path, "\n"));
	return 1;
}

static void write_identity(const struct home *h, const char *id, const char *path)
{
	auto_str text = xasprintf("%s\n%s\n", id, path);
	struct err ignored = ERR_INIT;

	write_file(h->fd, IDENTITY_FILE, text, strlen(text), 0600, &ignored);
}

/* Whether both directories are the same one, perhaps mounted twice: a file made in one appears in the
 * other. */
static bool is_same(int ours, int theirs)
{
	auto_str name = xasprintf("scratch/.same-%lld", (long long)getpid());
	struct stat a, b;
	bool same;

	if (fstat(ours, &a) < 0 || fstat(theirs, &b) < 0)
		return false;
	if (a.st_ino != b.st_ino)
		return false;
	if (a.st_dev == b.st_dev)
		return true;
	/* device numbers do not help: a network file system has another one at each mount point */
	auto_fd made = openat(ours, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	same = made >= 0 && !faccessat(theirs, name, F_OK, AT_SYMLINK_NOFOLLOW);
	unlinkat(ours, name, 0);
	return same;
}

/* Whether there is another home with this id at the path. If the path cannot be read, assume that there
 * is. */
static bool is_at(const struct home *h, const char *id, const char *path)
{
	auto_fd there = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct identity i = { 0 };
	char legacy[ID_LEN + 1];
	int got;

	if (there < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (is_same(h->fd, there))
		return false;
	got = read_identity(there, &i);
	free(i.path);
	if (got)
		return got < 0 || !strcmp(i.id, id);
	return legacy_id(there, legacy) && !strcmp(legacy, id);
}

static void make_id(char out[ID_LEN + 1])
{
	unsigned char raw[ID_LEN / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		abort();
	hex(raw, out);
}

void identity_look(struct home *h)
{
	struct identity i = { 0 };
	char id[ID_LEN + 1];
	int got = read_identity(h->fd, &i);

	if (got > 0 && strcmp(i.path, h->path) != 0) {
		if (is_at(h, i.id, i.path))
			h->copy_of = steal_ptr(i.path);
		else
			write_identity(h, i.id, h->path);
	} else if (!got) {
		h->unnamed = !faccessat(h->fd, "garth.db", F_OK, AT_SYMLINK_NOFOLLOW);
		if (!h->unnamed) {
			make_id(id);
			write_identity(h, id, h->path);
		}
	}
	free(i.path);
}

int identity_refuse_copy(const struct home *h, struct err *e)
{
	if (!h->copy_of)
		return 0;
	err_set(e, ERR_REFUSED,
		"the Garth home '%s' is a copy of '%s': its tasks belong to the original, and are only shown here",
		h->path, h->copy_of);
	return err_hint(e, "garth doctor");
}

void identity_settle(struct home *h, const char *made_at)
{
	char id[ID_LEN + 1];

	if (!h->unnamed)
		return;
	h->unnamed = false;
	if (!legacy_id(h->fd, id))
		make_id(id);
	if (made_at && strcmp(made_at, h->path) && is_at(h, id, made_at))
		h->copy_of = xstrdup(made_at);
	write_identity(h, id, h->copy_of ? h->copy_of : h->path);
}
