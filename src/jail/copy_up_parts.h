/* Internal to copy_up*.c: the tree and its copy. Never follows symbolic links and never crosses into another
 * mount. All functions return 0, or -1 and errno. */
#ifndef JAIL_COPY_UP_PARTS_H
#define JAIL_COPY_UP_PARTS_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define LINKED_BUCKETS 4096

struct tree_copy {
	int root; /* of the copy */
	bool (*goes_on)(void *arg);
	void *arg;
	/* Files of lower layers that have several names: linking one of the names makes it a separate file. */
	struct linked *linked[LINKED_BUCKETS];
	char path[PATH_MAX]; /* of the current directory beneath the root */
	size_t len;
	unsigned depth;
};

void tree_copy_release(struct tree_copy *t);

/* Fills the empty directory `to` with the directories of `from` and links to its files. */
int tree_link(struct tree_copy *t, int from, int to);
/* Removes from `from` what the copy has. What the copy lacks is added to it first. */
int tree_empty(struct tree_copy *t, int from, int copy);
/* Links what `to` lacks from the copy, and sets modes and times again. */
int tree_restore(int copy, int to);

/* Attributes, mode and times of a directory. The owner may write to it if `writable`. */
int tree_copy_meta(int from, int to, const struct stat *st, bool writable);
void tree_make_writable(int dir);
/* A subdirectory, in the same mount. */
int tree_open(int dir, const char *name);

#endif
