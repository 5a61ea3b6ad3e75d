#include "merge/overview_git.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "git/neutral.h"

#define ANSWER_MAX (64u << 20)
/* So many diffs are made by one git. */
#define DIFFS_AT_ONCE 64
/* A single diff that takes longer is not tried again. */
#define DIFF_SECONDS 2

static unsigned seconds_left(const struct deadline *by)
{
	return (unsigned)deadline_left(by) / 1000 + 1;
}

static int ask(const struct git *from, const struct deadline *by, const struct strvec *args,
	const struct buf *in, struct buf *out, struct err *e)
{
	struct git g = *from;

	if (!deadline_left(by))
		return err_set(e, ERR_BUSY, "there is no time left");
	g.seconds = seconds_left(by);
	if (git_run(&g, args, in, out, e) < 0)
		return -1;
	return out->overflow ? err_set(e, ERR_FAILED, "git's answer is too long") : 0;
}

static struct git in_git_dir(const struct repo *r)
{
	return (struct git){ .dir = r->git_dir, .cwd = r->git_dir };
}

/* Cuts the next line off; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	*at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

static int by_oid(const void *a, const void *b)
{
	return strcmp((*(struct overview_tip *const *)a)->oid, (*(struct overview_tip *const *)b)->oid);
}

/* Pointers to the tips, sorted by id; several may have the same one. */
static struct overview_tip **sorted(struct overview_tip *v, size_t n)
{
	struct overview_tip **s = xcalloc(n + 1, sizeof(*s));

	for (size_t i = 0; i < n; i++)
		s[i] = &v[i];
	qsort(s, n, sizeof(*s), by_oid);
	return s;
}

/* The first tip with this id; those with the same one follow. The list ends in NULL. */
static struct overview_tip **find_tips(struct overview_tip **s, size_t n, const char *oid)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(s[mid]->oid, oid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return s + low;
}

static void take_subjects(const struct repo *r, struct overview_tip **s, size_t n, char *text)
{
	for (char *line; (line = next_line(&text));) {
		char oid[OID_SIZE];

		if (!oid_take(line, r->hash_len, oid))
			continue;
		line += strlen(oid);
		for (struct overview_tip **t = find_tips(s, n, oid); *t && !strcmp((*t)->oid, oid); t++) {
			(*t)->exists = true;
			if (!(*t)->subject)
				(*t)->subject = xstrdup(line + (*line == ' '));
		}
	}
}

int overview_subjects(
	const struct repo *r, struct overview_tip *v, size_t n, const struct deadline *by, struct err *e)
{
	struct overview_tip **s = sorted(v, n);
	struct git g = in_git_dir(r);
	auto_buf in = BUF_INIT(ANSWER_MAX), out = BUF_INIT(ANSWER_MAX);
	auto_strvec args = STRVEC_INIT;
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_printf(&in, "%s\n", v[i].oid);
	strvec_pushl(&args, "rev-list", "--no-walk=unsorted", "--ignore-missing", "--no-commit-header",
		"--format=%H %s", "--stdin", NULL);
	rc = ask(&g, by, &args, &in, &out, e);
	if (!rc && out.len)
		take_subjects(r, s, n, out.data);
	free(s);
	return rc;
}

/* The commits that the tips have and the target does not, with their parents. */
struct commit {
	const char *oid;
	char *parents; /* ids, each followed by a space or the end */
	size_t mark;   /* the last tip from which it was reached, from 1 */
};

struct graph {
	struct commit *v;
	size_t n;
	size_t *stack;
};

static int by_commit(const void *a, const void *b)
{
	return strcmp(((const struct commit *)a)->oid, ((const struct commit *)b)->oid);
}

static struct commit *find_commit(const struct graph *g, const char *oid)
{
	struct commit key = { .oid = oid };

	return g->n ? bsearch(&key, g->v, g->n, sizeof(key), by_commit) : NULL;
}

static void graph_read(struct graph *g, char *text)
{
	size_t cap = 0;

	for (char *line; (line = next_line(&text));) {
		char *space = strchr(line, ' ');

		if (g->n == cap) {
			cap = cap ? cap * 2 : 64;
			g->v = xrealloc(g->v, cap, sizeof(*g->v));
		}
		if (space)
			*space = '\0';
		g->v[g->n++] =
			(struct commit){ .oid = line, .parents = space ? space + 1 : line + strlen(line) };
	}
	g->stack = xcalloc(g->n + 1, sizeof(*g->stack));
	if (g->n)
		qsort(g->v, g->n, sizeof(*g->v), by_commit);
}

/* Looks at the parents of one commit: those in the graph go on the stack, others are where it leaves the
 * target. Returns how many different ones were found so far; only the first is kept. */
static size_t take_parents(
	struct graph *g, size_t at, size_t mark, size_t *top, char fork[OID_SIZE], size_t forks)
{
	for (const char *p = g->v[at].parents; *p;) {
		size_t len = strcspn(p, " ");
		char oid[OID_SIZE];
		struct commit *c;

		snprintf(oid, sizeof(oid), "%.*s", (int)len, p);
		p += len + (p[len] == ' ');
		c = find_commit(g, oid);
		if (!c) {
			forks += !forks || strcmp(fork, oid) != 0;
			if (forks == 1)
				snprintf(fork, OID_SIZE, "%s", oid);
		} else if (c->mark != mark) {
			c->mark = mark;
			g->stack[(*top)++] = (size_t)(c - g->v);
		}
	}
	return forks;
}

static void place_one(struct graph *g, struct overview_tip *t, size_t mark)
{
	struct commit *c = find_commit(g, t->oid);
	size_t top = 0, forks = 0;

	t->ahead = 0;
	if (!c) {
		/* the target has it */
		snprintf(t->fork, sizeof(t->fork), "%s", t->oid);
		t->placed = true;
		return;
	}
	c->mark = mark;
	g->stack[top++] = (size_t)(c - g->v);
	while (top) {
		size_t at = g->stack[--top];

		t->ahead++;
		forks = take_parents(g, at, mark, &top, t->fork, forks);
	}
	t->placed = forks == 1;
}

int overview_place(const struct repo *r, const char *target, struct overview_tip *v, size_t n,
	const struct deadline *by, struct err *e)
{
	auto_buf in = BUF_INIT(ANSWER_MAX), out = BUF_INIT(ANSWER_MAX);
	struct git g = in_git_dir(r);
	auto_strvec args = STRVEC_INIT;
	struct graph graph = { 0 };

	buf_printf(&in, "^%s\n", target);
	for (size_t i = 0; i < n; i++)
		if (v[i].exists)
			buf_printf(&in, "%s\n", v[i].oid);
	strvec_pushl(&args, "rev-list", "--parents", "--stdin", NULL);
	if (ask(&g, by, &args, &in, &out, e) < 0)
		return -1;
	graph_read(&graph, out.data);
	for (size_t i = 0; i < n && deadline_left(by); i++)
		if (v[i].exists)
			place_one(&graph, &v[i], i + 1);
	free(graph.v);
	free(graph.stack);
	return 0;
}

/* " 3 files changed, 12 insertions(+), 3 deletions(-)", of which parts may be missing. */
static void take_stat(const char *line, struct overview_diff *d)
{
	for (char *end; *line; line = *end ? end + 1 : end) {
		size_t n = strtoul(line, &end, 10);

		if (!strncmp(end, " file", 5))
			d->files = n;
		else if (!strncmp(end, " ins", 4))
			d->insertions = n;
		else if (!strncmp(end, " del", 4))
			d->deletions = n;
		end += strcspn(end, ",");
	}
}

/* Each diff begins with a line that has the tip's id. A diff without changes has no lines at all. */
static int measure(
	const struct git *g, struct overview_tip *const *v, size_t n, unsigned seconds, struct err *e)
{
	auto_buf in = BUF_INIT(ANSWER_MAX), out = BUF_INIT(ANSWER_MAX);
	auto_strvec args = STRVEC_INIT;
	struct git limited = *g;
	size_t at = 0;
	char *text;

	limited.seconds = seconds;
	for (size_t i = 0; i < n; i++)
		buf_printf(&in, "%s %s\n", v[i]->oid, v[i]->fork);
	strvec_pushl(&args, "diff-tree", "--stdin", "-r", "-M", "--shortstat", "--no-color", "--no-ext-diff",
		"--no-textconv", "--ignore-submodules=none", NULL);
	if (git_run(&limited, &args, &in, &out, e) < 0)
		return -1;
	text = out.data;
	for (char *line; (line = next_line(&text));) {
		if (*line == ' ' && at) {
			take_stat(line, &v[at - 1]->diff);
			continue;
		}
		while (at < n && strcmp(v[at++]->oid, line) != 0)
			;
	}
	for (size_t i = 0; i < n; i++)
		v[i]->measured = true;
	return 0;
}

static int measure_each(const struct git *g, struct overview_tip *const *v, size_t n,
	const struct deadline *by, struct err *e)
{
	for (size_t i = 0; i < n && deadline_left(by); i++) {
		*e = (struct err)ERR_INIT;
		if (measure(g, v + i, 1, DIFF_SECONDS, e) < 0) {
			v[i]->diff = (struct overview_diff){ .files = SIZE_MAX };
			v[i]->measured = true;
		}
	}
	return 0;
}

int overview_measure(
	const struct repo *r, struct overview_tip *v, size_t n, const struct deadline *by, struct err *e)
{
	struct overview_tip *some[DIFFS_AT_ONCE];
	auto_neutral p = NEUTRAL_INIT;
	size_t next = 0;

	if (neutral_open(r, r->git_dir, &p, e) < 0)
		return -1;
	while (next < n) {
		size_t m = 0;

		for (; next < n && m < DIFFS_AT_ONCE; next++)
			if (v[next].placed && !v[next].measured)
				some[m++] = &v[next];
		if (!m)
			break;
		if (!deadline_left(by))
			return err_set(e, ERR_BUSY, "there is no time left");
		/* half of the time, so that one long diff leaves some for the others */
		if (measure(&p.git, some, m, (unsigned)deadline_left(by) / 2000 + 1, e) < 0)
			measure_each(&p.git, some, m, by, e);
	}
	return 0;
}
