/* Finds mounts below the Garth home that the host sees. A task's mounts are inside its jail, so these belong
 * to nobody. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "jail/mount.h"
#include "sys/fd.h"

#define TABLE "/proc/self/mountinfo"

/* An overlay's files are elsewhere: unmounting loses nothing. */
static int unmount(struct context *c, struct finding *f, struct err *e)
{
	(void)c;
	return mount_drop(f->path) < 0 && errno != EINVAL && errno != ENOENT ? err_sys(e, "cannot unmount it")
									     : 0;
}

/* Decodes "\040" (a space) and the like. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] && s[2] && s[3]) {
			char octal[4] = { s[1], s[2], s[3], '\0' };

			*to++ = (char)strtoul(octal, NULL, 8);
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static void look_at(struct survey *s, const char *path, const char *type, struct findings *out)
{
	auto_str quoted = finding_quoted(path);
	struct finding *f;

	if (!path_within(path, s->c->home.path) || !strcmp(path, s->c->home.path))
		return;
	f = finding_add(out, "mount", path, "something is mounted there (%s)", type);
	f->path = xstrdup(path);
	if (!strcmp(type, "overlay"))
		finding_mend(f, unmount, "unmount it");
	else
		finding_hint(f, "umount %s", quoted);
}

/* A line is "36 35 98:0 /root /mount/point options … - type source options". The newest mount is last and is
 * unmounted first. */
int mounts_look(struct survey *s, struct findings *out, struct err *e)
{
	auto_buf table = BUF_INIT(64 << 20);
	auto_strvec lines = STRVEC_INIT;
	char *save = NULL;

	if (read_file(AT_FDCWD, TABLE, &table, e) < 0)
		return -1;
	for (char *l = table.len ? strtok_r(table.data, "\n", &save) : NULL; l;
		l = strtok_r(NULL, "\n", &save))
		strvec_push(&lines, l);
	for (size_t i = lines.n; i-- > 0;) {
		char *dash = strstr(lines.v[i], " - "), *field = lines.v[i];
		auto_str path = NULL, type = NULL;

		for (int n = 0; field && n < 4; n++)
			field = strchr(field + 1, ' ');
		if (!dash || !field)
			continue;
		path = xstrndup(field + 1, strcspn(field + 1, " "));
		type = xstrndup(dash + 3, strcspn(dash + 3, " "));
		unescape(path);
		look_at(s, path, type, out);
	}
	return 0;
}
