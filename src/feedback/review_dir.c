#include "feedback/review_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feedback/comments.h"
#include "sys/fd.h"
#include "sys/lock.h"

#define DIR_NAME  "review"
#define FILE_NAME "review.diff"
#define SHOWN     DIR_NAME "/shown"

static int make_dir(int task_dir, struct err *e)
{
	return mkdirat(task_dir, DIR_NAME, 0700) < 0 && errno != EEXIST
		       ? err_sys(e, "cannot make the directory '" DIR_NAME "'")
		       : 0;
}

int review_dir_open(int task_dir, struct review_dir *ret, struct err *e)
{
	auto_review_dir k = REVIEW_DIR_INIT;

	if (make_dir(task_dir, e) < 0)
		return -1;
	k.dir = open_beneath(task_dir, DIR_NAME, O_RDONLY | O_DIRECTORY, 0);
	if (k.dir < 0)
		return err_sys(e, "cannot open the directory '" DIR_NAME "'");
	if (lock_take(k.dir, "lock", false, &k.lock, e) < 0)
		return -1;
	*ret = k;
	k = (struct review_dir)REVIEW_DIR_INIT;
	return 0;
}

void review_dir_close(struct review_dir *k)
{
	lock_drop(&k->lock);
	fd_closep(&k->dir);
}

int review_dir_read(const struct review_dir *k, struct buf *out, struct err *e)
{
	return read_file(k->dir, FILE_NAME, out, e);
}

int review_dir_write(const struct review_dir *k, const struct buf *text, struct err *e)
{
	return write_file(k->dir, FILE_NAME, buf_str(text), text->len, 0600, e);
}

void review_dir_remove(const struct review_dir *k)
{
	unlinkat(k->dir, FILE_NAME, 0);
}

bool review_dir_has_comments(int task_dir)
{
	auto_buf text = BUF_INIT(KEPT_MAX);
	struct err ignored = ERR_INIT;

	return !read_file(task_dir, REVIEW_FILE, &text, &ignored) && comments_any(buf_str(&text), text.len);
}

void review_dir_shown(int task_dir, char out[OID_SIZE])
{
	auto_buf text = BUF_SMALL;
	struct err ignored = ERR_INIT;

	*out = '\0';
	if (!read_file(task_dir, SHOWN, &text, &ignored) && text.len < OID_SIZE &&
		hex_is(buf_str(&text), text.len))
		memcpy(out, buf_str(&text), text.len + 1);
}

int review_dir_set_shown(int task_dir, const char *tip, struct err *e)
{
	return make_dir(task_dir, e) < 0 ? -1 : write_file(task_dir, SHOWN, tip, strlen(tip), 0600, e);
}
