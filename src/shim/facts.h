/*
 * What the programs inside know about their task: the file `task` beside them. Garth writes it (task/walls.c), and an
 * agent cannot change it. Lines "name=fix", "branch=refs/heads/garth/fix" …; missing files and lines are "".
 */
#ifndef SHIM_FACTS_H
#define SHIM_FACTS_H

/* Where the files are, except in a Landlock-only jail. */
#define SHIM_DIR "/run/garth"

struct facts {
	char name[80], branch[512], target[512];
	char trailer[512];      /* "Garth-Task: fix", if commits must have one */
	char workspace[4096];   /* else $GARTH_WORKSPACE is used */
	char home[4096];        /* the task home */
	char tmp[4096];         /* its temporary directory */
	char project[4096];     /* the user's checkout, if it is not the workspace's path */
	char garth_home[4096];  /* where other tasks are */
	char network[16];       /* none, allow, host */
	char guard[16];         /* agents.guard: block, warn, off */
	char fetch[8], push[8]; /* "yes": an agent's git fetch, or push, may reach the remote */
};
void facts_read(const char *file, struct facts *ret);
/* "refs/heads/garth/fix" without "refs/heads/". */
const char *facts_short(const char *ref);

#endif
