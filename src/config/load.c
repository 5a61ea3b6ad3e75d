#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

static int load_file(struct config *c, const char *path, bool must_exist, char **ret_file, struct err *e)
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
	*ret_file = xstrdup(path);
	return 0;
}

struct config_places config_places(const char *home)
{
	return (struct config_places){ home, getenv("XDG_CONFIG_HOME"), getenv("GARTH_CONFIG"),
		getenv("GARTH_SYSTEM_CONFIG") };
}

/* The user's file, on the heap; NULL if there is no home. */
static char *user_file(const struct config_places *p, const char *home)
{
	if (p->user_file && *p->user_file)
		return xstrdup(p->user_file);
	if (p->xdg_config && *p->xdg_config == '/')
		return xasprintf("%s/garth/config.yaml", p->xdg_config);
	return home ? xasprintf("%s/.config/garth/config.yaml", home) : NULL;
}

int config_load(const struct config_places *p, struct config *ret, struct err *e)
{
	bool user_named = p->user_file && *p->user_file, system_named = p->system_file && *p->system_file;
	auto_config c = { 0 };
	auto_str path = NULL;

	config_defaults(&c);
	if (p->home && *p->home == '/')
		c.home = xstrdup(p->home);
	if (load_file(&c, system_named ? p->system_file : CONFIG_SYSTEM_FILE, system_named, &c.system_file,
		    e) < 0)
		return -1;
	path = user_file(p, c.home);
	c.path = path ? xstrdup(path) : NULL;
	if (path && load_file(&c, path, user_named, &c.file, e) < 0)
		return -1;
	*ret = c;
	c = (struct config){ 0 };
	return 0;
}
