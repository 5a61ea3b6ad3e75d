#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/memops.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/fd.h"

#define SCHEME "Bearer "

static int make(struct token *t, struct err *e)
{
	unsigned char raw[TOKEN_LEN / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return err_sys(e, "cannot make a token");
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(t->hex + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

/* Links the file under its name after it is complete and on disk, and never replaces one. 1: another process
 * was faster. */
static int keep(int home, const struct token *t, struct err *e)
{
	auto_fd fd = openat(home, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fd < 0 || fchmod(fd, 0600) < 0 || write_full(fd, t->hex, TOKEN_LEN) < 0 ||
		write_full(fd, "\n", 1) < 0 || fsync(fd) < 0)
		return err_sys(e, "cannot write '" TOKEN_FILE "'");
	if (!linkat(AT_FDCWD, name, home, TOKEN_FILE, AT_SYMLINK_FOLLOW))
		return 0;
	return errno == EEXIST ? 1 : err_sys(e, "cannot write '" TOKEN_FILE "'");
}

/* ERR_NOTFOUND if there is none. */
static int read_token(int home, struct token *ret, struct err *e)
{
	auto_fd fd = open_regular_beneath(home, TOKEN_FILE);
	auto_buf text = BUF_INIT(TOKEN_LEN + 1);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, "there is no token");
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "cannot read '" TOKEN_FILE "'");
	if (st.st_uid != geteuid() || (st.st_mode & 0077))
		return err_set(e, ERR_REFUSED, "others could have read '" TOKEN_FILE "' in the Garth home"),
		       err_hint(e, "rm \"${GARTH_HOME:-$HOME/.garth}/" TOKEN_FILE "\"");
	if (read_rest(fd, &text, TOKEN_FILE, e) < 0 || text.len != TOKEN_LEN + 1 ||
		text.data[TOKEN_LEN] != '\n' || strspn(text.data, "0123456789abcdef") != TOKEN_LEN)
		return err_set(e, ERR_CONFIG, "'" TOKEN_FILE "' in the Garth home is not a token");
	memcpy(ret->hex, text.data, TOKEN_LEN);
	ret->hex[TOKEN_LEN] = '\0';
	return 0;
}

int token_load(int home, struct token *ret, struct err *e)
{
	struct token t = { 0 };
	int rc;

	if (read_token(home, ret, e) == 0)
		return 0;
	if (e->kind != ERR_NOTFOUND)
		return -1;
	if (make(&t, e) < 0 || (rc = keep(home, &t, e)) < 0)
		return -1;
	if (rc)
		return read_token(home, ret, e);
	*ret = t;
	return 0;
}

bool token_opens(const struct token *t, const char *authorization)
{
	size_t n = strlen(SCHEME);

	if (!authorization || strncasecmp(authorization, SCHEME, n) || strlen(authorization + n) != TOKEN_LEN)
		return false;
	return memeql_sec(t->hex, authorization + n, TOKEN_LEN);
}
