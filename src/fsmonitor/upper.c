#include "fsmonitor/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct walk {
	struct buf *out;
	struct buf path; /* of the directory, with a slash at its end, or empty */
	unsigned names;
};

static bool is_opaque(int dir)
{
	char value[2];

	return fgetxattr(dir, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

static void add_name(struct walk *w, const char *name)
{
	buf_add(w->out, w->path.data, w->path.len);
	buf_add(w->out, name, strlen(name) + 1);
}

/* git may know the name as a file, or as a directory that stood there before. */
static void add_changed(struct walk *w, const char *name)
{
	add_name(w, name);
	add_name(w, name);
	if (!w->out->overflow) {
		w->out->data[w->out->len - 1] = '/';
		buf_addch(w->out, '\0');
	}
}

static int list(struct walk *w, int dir, bool covered, unsigned depth, struct err *e);

/* An opaque directory hides all that lower layers have there: reported whole, its files need no mention. */
static int enter(struct walk *w, int parent, const char *name, bool covered, unsigned depth, struct err *e)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	size_t len = w->path.len;

	if (dir < 0)
		return err_sys(e, "cannot open '%s%s'", buf_str(&w->path), name);
	if (!covered && is_opaque(dir)) {
		add_changed(w, name);
		covered = true;
	}
	buf_addstr(&w->path, name);
	buf_addch(&w->path, '/');
	if (list(w, dir, covered, depth + 1, e) < 0)
		return -1;
	buf_cut(&w->path, len);
	return 0;
}

static bool is_directory(int dir, const struct dirent *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int take(struct walk *w, int dir, const struct dirent *d, bool covered, unsigned depth, struct err *e)
{
	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return 0;
	if (depth == 0 && strcmp(d->d_name, ".git") == 0)
		return 0;
	if (++w->names > REPORT_MAX_NAMES || w->out->overflow || w->path.overflow)
		return err_set(e, ERR_FAILED, "the workspace has too many changes to list");
	if (is_directory(dir, d))
		return enter(w, dir, d->d_name, covered, depth, e);
	if (!covered)
		add_changed(w, d->d_name);
	return 0;
}

/* Closes dir. */
static int list(struct walk *w, int dir, bool covered, unsigned depth, struct err *e)
{
	DIR *d = depth < REPORT_MAX_DEPTH ? fdopendir(dir) : NULL;
	int ret = 0;

	if (!d) {
		close(dir);
		return err_set(e, ERR_FAILED, "cannot list '%s'", buf_str(&w->path));
	}
	add_name(w, REPORT_DUMMY);
	while (ret == 0) {
		struct dirent *entry;

		errno = 0;
		entry = readdir(d);
		if (!entry) {
			if (errno)
				ret = err_sys(e, "cannot list '%s'", buf_str(&w->path));
			break;
		}
		ret = take(w, dir, entry, covered, depth, e);
	}
	closedir(d);
	return ret;
}

int report_upper(int dir, struct buf *out, struct err *e)
{
	struct walk w = { .out = out, .path = BUF_SMALL };
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	if (own < 0)
		return err_sys(e, "cannot open the upper directory");
	ret = list(&w, own, false, 0, e);
	if (ret == 0 && (out->overflow || w.path.overflow))
		ret = err_set(e, ERR_FAILED, "the workspace has too many changes to list");
	buf_release(&w.path);
	return ret;
}
