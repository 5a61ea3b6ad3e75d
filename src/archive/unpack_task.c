#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include "archive/archive.h"
#include "sys/fd.h"

/* Nothing is written outside the directory, whatever the archive contains. */
#define HOW                                                                                                  \
	(ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_XATTR |                               \
		ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |                          \
		ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS)

static int failed(struct archive *a, const char *path, struct err *e)
{
	const char *why = archive_error_string(a);

	return err_set(
		e, ERR_FAILED, "cannot unpack '%s': %s", path ? path : "", why ? why : "it is damaged");
}

static int copy_content(struct archive *in, struct archive *out, const char *path, struct err *e)
{
	const void *block;
	size_t len;
	la_int64_t at;
	int rc;

	while ((rc = archive_read_data_block(in, &block, &len, &at)) == ARCHIVE_OK)
		if (archive_write_data_block(out, block, len, at) < ARCHIVE_WARN)
			return failed(out, path, e);
	return rc == ARCHIVE_EOF ? 0 : failed(in, path, e);
}

static int unpack_all(struct archive *in, struct archive *out, struct err *e)
{
	struct archive_entry *ent;
	int rc;

	while ((rc = archive_read_next_header(in, &ent)) == ARCHIVE_OK) {
		const char *path = archive_entry_pathname(ent);

		if (archive_write_header(out, ent) < ARCHIVE_WARN)
			return failed(out, path, e);
		if (archive_entry_size(ent) > 0 && copy_content(in, out, path, e) < 0)
			return -1;
		if (archive_write_finish_entry(out) < ARCHIVE_WARN)
			return failed(out, path, e);
	}
	if (rc != ARCHIVE_EOF)
		return failed(in, "the archive", e);
	/* this sets the modes of directories */
	return archive_write_close(out) ? failed(out, "the archive", e) : 0;
}

/* Syncs to disk: the archive is removed after the task is restored. */
static int settle(const char *dir, struct err *e)
{
	auto_fd fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || syncfs(fd) < 0 ? err_sys(e, "cannot write '%s' to the disk", dir) : 0;
}

int archive_unpack(const char *file, const char *dir, struct err *e)
{
	auto_fd fd = open(file, O_RDONLY | O_CLOEXEC);
	struct archive *in = archive_read_new(), *out = archive_write_disk_new();
	int rc = -1;

	if (fd < 0 || chdir(dir) < 0)
		err_sys(e, "cannot open '%s'", fd < 0 ? file : dir);
	else if (!in || !out || archive_read_support_filter_gzip(in) || archive_read_support_format_tar(in) ||
		 archive_write_disk_set_options(out, HOW | (geteuid() ? 0 : ARCHIVE_EXTRACT_OWNER)) ||
		 archive_read_open_fd(in, fd, 1 << 16))
		failed(in, file, e);
	else
		rc = unpack_all(in, out, e) < 0 ? -1 : settle(dir, e);
	archive_read_free(in);
	archive_write_free(out);
	return rc;
}
