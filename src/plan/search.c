#include "plan/search.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "plan/check_judge.h"
#include "sys/worker.h"

#define MEMORY_MAX (2ul << 30)

struct search {
	const struct plan_regex *pattern;
	const char *data;
	size_t len;
	unsigned seconds;
};

static void limit(int what, rlim_t value)
{
	setrlimit(what, &(struct rlimit){ value, value });
}

/* Runs in the child. Its exit status is the kind of the error. */
static int look(void *arg, struct err *e)
{
	const struct search *s = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, s->seconds);
#ifndef __SANITIZE_ADDRESS__
	/* a sanitized process maps terabytes */
	limit(RLIMIT_DATA, MEMORY_MAX);
#endif
	return check_has_line(s->pattern, s->data, s->len) ? 0 : err_set(e, ERR_NOTFOUND, "no line matches");
}

int search_lines(const struct plan_regex *pattern, const char *data, size_t len, unsigned seconds, bool *ret,
	struct err *e)
{
	struct search s = { pattern, data, len, seconds };
	auto_worker child = WORKER_INIT;

	*ret = false;
	if (worker_start(&child, look, &s, e) < 0)
		return -1;
	if (!worker_wait(&child, e)) {
		*ret = true;
		return 0;
	}
	return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
}
