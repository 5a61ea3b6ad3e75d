/* Finds full disks: the Garth home's, and those of the repositories that tasks publish to. */
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/alloc.h"
#include "doctor/parts.h"

/* Warn well above the 16 MB below which no task is made (workspace/space.c). */
#define FEW_BYTES ((uint64_t)64 << 20)
#define FEW_FILES 1000

static void look(const char *path, struct findings *out)
{
	struct statvfs fs;
	uint64_t bytes;
	struct finding *f;

	if (statvfs(path, &fs) < 0)
		return;
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (bytes < FEW_BYTES)
		f = finding_add(out, "disk-full", path,
			"the disk is nearly full: %" PRIu64 " bytes (%.1f MB) are free", bytes,
			(double)bytes / 1e6);
	else if (fs.f_files && fs.f_favail < FEW_FILES)
		f = finding_add(out, "disk-full", path,
			"the disk is nearly full: room for %" PRIu64 " more files", (uint64_t)fs.f_favail);
	else
		return;
	finding_hint(f, "garth cleanup --older-than 1d && garth gc --empty-trash");
}

static dev_t device_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_dev;
}

static bool is_in_use(const struct survey *s, int64_t project)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.v[i].project_id == project && !s->tasks.v[i].removed)
			return true;
	return false;
}

int full_disks_look(struct survey *s, struct findings *out, struct err *e)
{
	dev_t seen[64] = { device_of(s->c->home.path) };
	size_t n = 1;

	(void)e;
	look(s->c->home.path, out);
	for (size_t i = 0; i < s->n && n < ARRAY_SIZE(seen); i++) {
		dev_t dev = s->v[i].open ? device_of(s->v[i].repo.git_dir) : 0;
		bool known = !dev || !is_in_use(s, s->v[i].project.id);

		for (size_t j = 0; j < n; j++)
			known |= seen[j] == dev;
		if (known)
			continue;
		seen[n++] = dev;
		look(s->v[i].repo.git_dir, out);
	}
	return 0;
}
