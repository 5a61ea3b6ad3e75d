#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/yaml.h"

static int file_error(const char *path, struct err *e)
{
	err_sys(e, "cannot read the configuration '%s'", path);
	e->kind = ERR_CONFIG;
	return -1;
}

/* Returns 1 if there is no file. Opening a FIFO does not block; it is refused. /dev/null is an empty file. */
static int open_file(const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (fd < 0)
		return file_error(path, e);
	if (fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))) {
		close(fd);
		return err_set(e, ERR_CONFIG, "the configuration '%s' is not a file", path);
	}
	*ret_fd = fd;
	return 0;
}

static int read_text(int fd, const char *path, struct buf *out, struct err *e)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(path, e);
		if (!buf_add(out, chunk, (size_t)n))
			return err_set(e, ERR_CONFIG, "the configuration '%s' is larger than %u bytes", path,
				YAML_MAX_BYTES);
	}
	return 0;
}

static int load_file(struct config *c, const char *path, bool must_exist, struct err *e)
{
	auto_buf text = BUF_INIT(YAML_MAX_BYTES);
	int fd = -1;
	int rc = open_file(path, &fd, e);

	if (rc > 0)
		return must_exist ? err_set(e, ERR_CONFIG, "the configuration '%s' is not there", path) : 0;
	if (rc < 0)
		return -1;
	rc = read_text(fd, path, &text, e);
	close(fd);
	if (rc < 0 || config_apply(c, buf_str(&text), text.len, path, e) < 0)
		return -1;
	c->file = xstrdup(path);
	return 0;
}

int config_load(const char *home, const char *xdg_config, const char *explicit_file, struct config *ret,
	struct err *e)
{
	bool named = explicit_file && *explicit_file;
	auto_str path = NULL;
	auto_config c = { 0 };

	config_defaults(&c);
	if (home && *home == '/')
		c.home = xstrdup(home);
	if (named)
		path = xstrdup(explicit_file);
	else if (xdg_config && *xdg_config == '/')
		path = xasprintf("%s/garth/config.yaml", xdg_config);
	else if (c.home)
		path = xasprintf("%s/.config/garth/config.yaml", c.home);
	c.path = path ? xstrdup(path) : NULL;
	if (path && load_file(&c, path, named, e) < 0)
		return -1;
	*ret = c;
	c = (struct config){ 0 };
	return 0;
}
