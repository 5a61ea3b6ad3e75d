/* Packs that Garth marked with .keep until a ref names what is in them (git/pin.c), and whose maker was killed: git's
 * own clean-up never touches such a pack. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/parts.h"
#include "git/pin.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "workspace/base.h"

/* In seconds; making a pin takes much less. */
#define OLD 60

static bool is_ours(int dir, const char *name)
{
	size_t n = strlen(name), suffix = strlen(".keep");
	auto_buf text = BUF_INIT(64);
	struct err ignored = ERR_INIT;
	struct stat st;

	return n > suffix && !strcmp(name + n - suffix, ".keep") &&
	       !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       st.st_mtime < time(NULL) - OLD && !read_file(dir, name, &text, &ignored) &&
	       text.len == strlen(PIN_KEEP "\n") && !memcmp(text.data, PIN_KEEP "\n", text.len);
}

/* Under the lock that is held while pins are made: a process that finds the pack there relies on the mark. */
static int mend(struct context *c, struct finding *f, struct err *e)
{
	auto_lock lock = -1;

	if (base_try_lock(&c->home, f->project, &lock, e) < 0)
		return -1;
	return unlink(f->path) < 0 ? err_sys(e, "cannot remove '%s'", f->path) : 0;
}

static void look_at(const struct survey_project *p, const char *packs, const char *name, struct findings *out)
{
	struct finding *f = finding_add(out, "pack-kept", name,
		"a command was killed, and left this mark in '%s': git gc passes over the pack for ever",
		packs);

	f->path = path_join(packs, name);
	f->project = p->project.id;
	finding_mend(f, mend, "remove the mark; the pack stays until git gc");
}

int kept_packs_look(struct survey *s, struct findings *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < s->n; i++) {
		auto_str packs = s->v[i].open ? path_join(s->v[i].repo.git_dir, "objects/pack") : NULL;
		DIR *d = packs ? opendir(packs) : NULL;
		struct dirent *ent;

		/* a repository without packs may have no such directory */
		while (d && (ent = readdir(d)))
			if (is_ours(dirfd(d), ent->d_name))
				look_at(&s->v[i], packs, ent->d_name, out);
		if (d)
			closedir(d);
	}
	return 0;
}
