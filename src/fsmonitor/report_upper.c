#include "fsmonitor/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct walk {
	const struct known *known;
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

/* git may know the name as a file, or as a directory that was there before. */
static void add_changed(struct walk *w, const char *name)
{
	add_name(w, name);
	add_name(w, name);
	if (!w->out->overflow) {
		w->out->data[w->out->len - 1] = '/';
		buf_addch(w->out, '\0');
	}
}

/* The directory of w->path itself, and everything that git knows beneath it. */
static void add_whole(struct walk *w)
{
	buf_add(w->out, w->path.data, w->path.len - 1);
	buf_addch(w->out, '\0');
	buf_add(w->out, w->path.data, w->path.len + 1);
}

static int list(struct walk *w, int dir, bool covered, unsigned depth, struct err *e);

/*
 * If a directory hides the base's one, or the base has nothing there, it is reported as a whole and its files
 * need not be: report_index reports the index entries in it. Then only directories in the untracked cache
 * have to be entered.
 */
static int enter(struct walk *w, int parent, const char *name, bool covered, unsigned depth, struct err *e)
{
	bool fresh = covered || !known_in_base(w->known, buf_str(&w->path));
	bool needed = !fresh || known_in_cache(w->known, buf_str(&w->path));
	int dir = -1;

	if (needed) {
		dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (dir < 0)
			return err_sys(e, "cannot open '%s'", buf_str(&w->path));
		fresh = fresh || is_opaque(dir);
	}
	if (fresh && !covered)
		add_whole(w);
	return needed ? list(w, dir, fresh, depth + 1, e) : 0;
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
	size_t len = w->path.len;
	int ret;

	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return 0;
	if (depth == 0 && strcmp(d->d_name, ".git") == 0)
		return 0;
	if (++w->names > REPORT_MAX_NAMES || w->out->overflow || w->path.overflow)
		return err_set(e, ERR_FAILED, "the workspace has too many changes to list");
	if (!is_directory(dir, d)) {
		if (!covered)
			add_changed(w, d->d_name);
		return 0;
	}
	buf_addstr(&w->path, d->d_name);
	if (!buf_addch(&w->path, '/'))
		return err_set(e, ERR_FAILED, "'%s' is too deep", buf_str(&w->path));
	ret = enter(w, dir, d->d_name, covered, depth, e);
	buf_cut(&w->path, len);
	return ret;
}

/* Takes ownership of dir and closes it. */
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

int report_upper(int dir, const struct known *known, struct buf *out, struct err *e)
{
	struct walk w = { .known = known, .out = out, .path = BUF_SMALL };
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
