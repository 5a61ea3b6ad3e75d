#include "cli/diff_sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

/* "index OLD..NEW[ MODE]": adds both ids, one on each line. */
static void take_names(const char *line, struct buf *names)
{
	static const char hex[] = "0123456789abcdef";
	const char *old = line + strlen("index ");
	size_t n = strspn(old, hex), m;

	if (strncmp(old + n, "..", 2))
		return;
	m = strspn(old + n + 2, hex);
	buf_reset(names);
	buf_printf(names, "%.*s\n%.*s\n", (int)n, old, (int)m, old + n + 2);
}

/* Parses one answer: a size, or "missing" if the file does not exist on that side. */
static const char *put_size(const char *answer, char out[32])
{
	unsigned long long n = strtoull(answer, NULL, 10);

	if (answer[strcspn(answer, " \n")] == ' ')
		snprintf(out, 32, "nothing");
	else if (n < 10000)
		snprintf(out, 32, "%llu bytes", n);
	else
		snprintf(out, 32, "%llu kB", n / 1000);
	answer = strchr(answer, '\n');
	return answer ? answer + 1 : "";
}

/* The diff is read twice: first to collect the ids of binary files, then to write it with their sizes. Lines
 * of a file's content begin with a blank, a plus or a minus, so they cannot be taken for git's own lines. */
struct pass {
	struct buf names;   /* ids of the current file */
	struct buf all;     /* first pass: ids of all binary files */
	const char *answer; /* second pass: their sizes */
	FILE *out;          /* NULL in the first pass */
};

static void put_line(struct pass *p, const char *line, size_t n, bool binary)
{
	char old[32], new[32];

	fwrite(line, 1, binary ? n - 1 : n, p->out);
	if (!binary)
		return;
	if (*p->answer && p->names.len) {
		p->answer = put_size(put_size(p->answer, old), new);
		fprintf(p->out, ": %s -> %s", old, new);
	}
	fputc('\n', p->out);
}

static void go_through(FILE *in, struct pass *p)
{
	auto_str line = NULL;
	size_t room = 0;
	ssize_t n;

	rewind(in);
	buf_reset(&p->names);
	while ((n = getline(&line, &room, in)) > 0) {
		bool binary = !strncmp(line, "Binary files ", 13) && line[n - 1] == '\n';

		if (!strncmp(line, "diff --git ", 11))
			buf_reset(&p->names);
		else if (!strncmp(line, "index ", 6))
			take_names(line, &p->names);
		if (p->out)
			put_line(p, line, (size_t)n, binary);
		else if (binary)
			buf_add(&p->all, buf_str(&p->names), p->names.len);
	}
}

/* Runs one git for all ids. If there are too many, sizes are left out. */
static int copy(const struct git *g, FILE *in, FILE *out)
{
	auto_buf answer = BUF_INIT(16 << 20);
	auto_strvec args = STRVEC_INIT;
	struct pass p = { .names = BUF_SMALL, .all = BUF_INIT(16 << 20), .answer = "" };
	struct err ignored = ERR_INIT;

	go_through(in, &p);
	if (!p.all.len)
		return buf_release(&p.names), buf_release(&p.all), 1;
	strvec_pushl(&args, "cat-file", "--batch-check=%(objectsize)", NULL);
	if (!p.all.overflow && !git_run(g, &args, &p.all, &answer, &ignored))
		p.answer = buf_str(&answer);
	p.out = out;
	go_through(in, &p);
	buf_release(&p.names);
	buf_release(&p.all);
	return 0;
}

int diff_sizes(const struct git *g, int in, int out, struct err *e)
{
	int from = dup(in), to = dup(out);
	FILE *r = from < 0 ? NULL : fdopen(from, "r"), *w = to < 0 ? NULL : fdopen(to, "w");
	int rc = r && w ? 0 : err_sys(e, "cannot make a buffer");

	if (!rc)
		rc = copy(g, r, w);
	if (r)
		fclose(r);
	if (w && fclose(w) && rc >= 0)
		rc = err_sys(e, "cannot write the diff");
	return rc;
}
