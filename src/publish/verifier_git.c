/* The git commands that run in the verifier. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "publish/verifier_parts.h"
#include "git/ref.h"
#include "sys/fd.h"

#define HEADER_LEN     12
#define HEADER_SECONDS 60
/* Packs with fewer objects are unpacked to loose objects, so that not every commit leaves a pack. git's
 * default for receive.unpackLimit. */
#define UNPACK_LIMIT 100
/* Objects of a larger pack are not read ahead. */
#define AHEAD_MAX (128 << 10)

/* git's first error message, on one line. */
static void reason(const struct buf *text, struct buf *out)
{
	const char *line = buf_str(text);

	for (const char *p = line; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (!strncmp(p, "fatal: ", 7) || !strncmp(p, "error: ", 7)) {
			line = p + 7;
			break;
		}
	clean_text(out, line, strcspn(line, "\n"), false);
	if (out->len > 300)
		buf_cut(out, 300);
}

/* The error for a git that failed on an agent's objects. */
static int refused(int code, const struct buf *errtext, struct err *e)
{
	/* errors of the system, not of the objects */
	static const int ours[] = { ENOSPC, EDQUOT, EROFS, EACCES, EIO, ENOENT };
	auto_buf why = BUF_SMALL;

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strstr(buf_str(errtext), strerror(ours[i]))) {
			errno = ours[i];
			return err_sys(e, "cannot write to the quarantine");
		}
	if (code > 128 && code != 129)
		return err_set(
			e, ERR_REFUSED, "git needed too much for it and was stopped (signal %d)", code - 128);
	reason(errtext, &why);
	err_set(e, ERR_REFUSED, "%s", why.len ? why.data : "git refuses it without a word");
	if (strstr(buf_str(&why), "maximum allowed size"))
		e->sys = EFBIG;
	return -1;
}

/* Reads the 12 bytes with a time limit. */
static int read_header(
	const struct runner *c, int fd, unsigned char head[HEADER_LEN], uint32_t *ret_count, struct err *e)
{
	uint32_t version;
	size_t got = 0;

	while (got < HEADER_LEN) {
		struct pollfd p[] = { { fd, POLLIN, 0 }, { c->caller, 0, 0 } };
		int ready = poll(p, ARRAY_SIZE(p), HEADER_SECONDS * 1000);
		ssize_t n = ready > 0 && p[0].revents ? read(fd, head + got, HEADER_LEN - got) : -1;

		if (ready > 0 && !p[0].revents) {
			if (runner_is_unwanted(c))
				return err_set(e, ERR_FAILED, "the client that asked for it has gone");
			continue;
		}
		if (!ready)
			return err_set(e, ERR_REFUSED, "no pack came for %d seconds", HEADER_SECONDS);
		if ((ready < 0 || n < 0) && errno != EINTR && errno != EAGAIN)
			return err_sys(e, "cannot read the pack");
		if (ready > 0 && !n)
			return got ? err_set(e, ERR_REFUSED, "the pack ends in its header")
				   : err_set(e, ERR_NOTFOUND, "no pack was sent");
		got += n > 0 ? (size_t)n : 0;
	}
	memcpy(&version, head + 4, 4);
	memcpy(ret_count, head + 8, 4);
	*ret_count = be32toh(*ret_count);
	if (memcmp(head, "PACK", 4) || be32toh(version) != 2)
		return err_set(e, ERR_REFUSED, "what was sent is not a pack of version 2");
	return 0;
}

/* Starts the git that unpacks; it waits for its input. */
static int start_taker(struct verifier *v, enum quarantine_area area, bool loose, uint64_t max,
	struct runner_piped *ret, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };

	if (loose)
		strvec_pushl(&args, "unpack-objects", "-q", "--strict", NULL);
	else
		strvec_pushl(&args, "index-pack", "--stdin", v->whole ? "--strict" : "--fix-thin", "--strict",
			NULL);
	if (max)
		strvec_pushf(&args, "--max-input-size=%llu", (unsigned long long)max);
	verifier_command(v, area, &args, &cmd);
	return runner_start_piped(&v->runner, &cmd, -1, false, true, ret, e);
}

void verifier_prepare(struct verifier *v, uint64_t max)
{
	struct err ignored = ERR_INIT;

	if (v->whole)
		return;
	if (!v->fast.id)
		verifier_start_fast(v);
	if (!v->left_to_git || (max == v->next_max && runner_is_waiting(&v->runner, &v->next)))
		return;
	runner_drop_piped(&v->runner, &v->next);
	v->next_max = max;
	start_taker(v, QUARANTINE_MEMORY, true, max, &v->next, &ignored);
}

static int get_taker(struct verifier *v, bool loose, uint64_t max, struct runner_piped *ret, struct err *e)
{
	if (v->at.area != QUARANTINE_MEMORY || max != v->next_max || !runner_is_waiting(&v->runner, &v->next))
		return start_taker(v, v->at.area, loose, max, ret, e);
	*ret = v->next;
	v->next = (struct runner_piped)RUNNER_PIPED_INIT;
	return 0;
}

static int take_apart(struct verifier *v, const unsigned char head[HEADER_LEN], int pack_fd, bool loose,
	uint64_t max, struct err *e)
{
	struct runner_piped p = RUNNER_PIPED_INIT;
	auto_buf why = BUF_SMALL;
	bool taken = false;
	int code;

	if (v->at.area == QUARANTINE_MEMORY && verifier_take_fast(v, pack_fd, max, &taken, e) < 0)
		return -1;
	if (taken)
		return 0;
	if (get_taker(v, loose, max, &p, e) < 0)
		return -1;
	if (write_full(p.in, head, HEADER_LEN) < 0) {
		err_sys(e, "cannot pass the pack on");
		runner_drop_piped(&v->runner, &p);
		return -1;
	}
	if (runner_attend(&v->runner, &p, pack_fd, NULL, &why, VERIFIER_SECONDS, &code, e) < 0)
		return err_wrap(e, "cannot take the pack apart");
	return code ? refused(code, &why, e) : 0;
}

struct packed {
	unsigned long long offset;
	const char *oid;
};

static int by_offset(const void *a, const void *b)
{
	const struct packed *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Lines "OFFSET OID (CRC)". --fix-thin appended bases at the pack's end, which are not new: only the first
 * `count` objects by offset were sent. */
static int add_packed(struct buf *lines, uint32_t count, struct oidset *fresh, struct err *e)
{
	struct packed *all = xcalloc(lines->len / 40 + 1, sizeof(*all));
	size_t n = 0, hex = 2 * (size_t)fresh->hash_len;
	char *save = NULL;

	for (char *l = lines->len ? strtok_r(lines->data, "\n", &save) : NULL; l;
		l = strtok_r(NULL, "\n", &save)) {
		char *end;

		all[n].offset = strtoull(l, &end, 10);
		if (*end != ' ' || !oid_starts(end + 1, fresh->hash_len))
			break;
		all[n].oid = end + 1;
		end[1 + hex] = '\0';
		n++;
	}
	qsort(all, n, sizeof(*all), by_offset);
	for (size_t i = 0; i < n && i < count; i++)
		oidset_add(fresh, all[i].oid);
	free(all);
	return n < count ? err_set(e, ERR_REFUSED, "the pack has fewer objects than it says") : 0;
}

static int list_pack(
	struct verifier *v, const char *stem, uint32_t count, struct oidset *fresh, struct err *e)
{
	auto_str idx = xasprintf("%s.idx", stem), format = xasprintf("--object-format=%s", v->repo->format);
	/* times two: there may be as many bases as objects; a line has about 30 characters beside the id */
	auto_buf lines = BUF_INIT(((size_t)count * 2 + 16) * (2 * (size_t)v->repo->hash_len + 32)),
		 why = BUF_SMALL;
	auto_fd in = open_regular_beneath(v->at.areas[QUARANTINE_DISK], idx);
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	int code;

	if (in < 0)
		return err_sys(e, "cannot open '%s'", idx);
	strvec_pushl(&args, "show-index", format, NULL);
	verifier_command(v, QUARANTINE_DISK, &args, &cmd);
	if (runner_run_from(&v->runner, &cmd, in, &lines, &why, VERIFIER_SECONDS, &code, e) < 0)
		return -1;
	return code ? refused(code, &why, e) : add_packed(&lines, count, fresh, e);
}

static int list_fresh(struct verifier *v, bool loose, uint32_t count, struct oidset *fresh, struct err *e)
{
	const struct strvec *packs = &v->at.packs;

	if (quarantine_scan(&v->at, e) < 0)
		return -1;
	if (loose) {
		quarantine_loose(&v->at, fresh);
		return 0;
	}
	if (packs->n != 1)
		return err_set(e, ERR_FAILED, "%zu packs are in the quarantine, not one", packs->n);
	return list_pack(v, packs->v[0], count, fresh, e);
}

/* The walk would ask for them one after the other, waiting each time. */
static void read_ahead(struct verifier *v, int pack_fd)
{
	auto_strvec oids = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	struct stat st;

	if (fstat(pack_fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > AHEAD_MAX)
		return;
	for (size_t i = 0; i < v->at.loose.n; i++)
		strvec_pushf(&oids, "%.2s%s", v->at.loose.v[i], v->at.loose.v[i] + 3);
	objects_prefetch(&v->objects, &oids, &ignored);
}

int verifier_take(
	struct verifier *v, int pack_fd, bool small, uint64_t max, struct oidset *fresh, struct err *e)
{
	unsigned char head[HEADER_LEN];
	uint32_t count = 0;
	bool loose;

	fresh->hash_len = v->repo->hash_len;
	if (read_header(&v->runner, pack_fd, head, &count, e) < 0)
		return -1;
	if (!count)
		return 0;
	if (count > VERIFIER_OBJECTS_MAX)
		return err_set(
			e, ERR_REFUSED, "the pack has %u objects, more than %u", count, VERIFIER_OBJECTS_MAX);
	loose = count < UNPACK_LIMIT && !v->whole;
	v->at.area = small && loose ? QUARANTINE_MEMORY : QUARANTINE_DISK;
	if (take_apart(v, head, pack_fd, loose, max, e) < 0)
		return -1;
	if (list_fresh(v, loose, count, fresh, e) < 0)
		return -1;
	read_ahead(v, pack_fd);
	return 0;
}

/* Runs rev-list on the lines "OID" and "^OID" of input; prints at most one commit. */
static int rev_list(struct verifier *v, const struct buf *input, bool objects, struct buf *out,
	struct buf *errtext, int *ret_code, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };

	if (input->overflow)
		return err_set(e, ERR_FAILED, "there are too many refs");
	strvec_pushl(&args, "rev-list", "--stdin", NULL);
	if (objects)
		strvec_pushl(&args, "--objects", "--quiet", NULL);
	else
		strvec_push(&args, "--max-count=1");
	verifier_command(v, QUARANTINE_DISK, &args, &cmd);
	return runner_run(&v->runner, &cmd, input, out, errtext, VERIFIER_SECONDS, ret_code, e);
}

int verifier_connected(struct verifier *v, const char *tip, struct err *e)
{
	auto_buf refs = BUF_INIT(256 << 20), input = BUF_INIT(256 << 20), out = BUF_SMALL, why = BUF_SMALL;
	int code;

	if (ref_list(v->repo, "refs/", &refs, e) < 0)
		return -1;
	buf_printf(&input, "%s\n", tip);
	for (const char *l = buf_str(&refs); *l; l = strchr(l, '\n') + 1)
		buf_printf(&input, "^%.*s\n", (int)strcspn(l, " "), l);
	if (rev_list(v, &input, true, &out, &why, &code, e) < 0)
		return -1;
	return code ? refused(code, &why, e) : 0;
}

int verifier_reached(
	struct verifier *v, const struct strvec *commits, const struct strvec *by, bool *ret, struct err *e)
{
	auto_buf input = BUF_INIT(16 << 20), out = BUF_SMALL;
	int code;

	for (size_t i = 0; i < commits->n; i++)
		buf_printf(&input, "%s\n", commits->v[i]);
	for (size_t i = 0; i < by->n; i++)
		buf_printf(&input, "^%s\n", by->v[i]);
	if (rev_list(v, &input, false, &out, NULL, &code, e) < 0)
		return -1;
	/* a commit that does not exist is not reached either */
	*ret = !code && !out.len;
	return 0;
}

int verifier_foreign(struct verifier *v, const char *tip, const struct strvec *by, const struct oidset *fresh,
	char out[OID_SIZE], struct err *e)
{
	auto_buf input = BUF_INIT(16 << 20), text = BUF_INIT(128 << 20), why = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	char *save = NULL;
	int code;

	out[0] = '\0';
	buf_printf(&input, "%s\n", tip);
	for (size_t i = 0; i < by->n; i++)
		buf_printf(&input, "^%s\n", by->v[i]);
	strvec_pushl(&args, "rev-list", "--stdin", "--objects", "--no-object-names", NULL);
	verifier_command(v, QUARANTINE_DISK, &args, &cmd);
	if (runner_run(&v->runner, &cmd, &input, &text, &why, VERIFIER_SECONDS, &code, e) < 0)
		return -1;
	if (code)
		return refused(code, &why, e);
	for (char *l = text.len ? strtok_r(text.data, "\n", &save) : NULL; l && !*out;
		l = strtok_r(NULL, "\n", &save))
		if (!oidset_has(fresh, l))
			snprintf(out, OID_SIZE, "%.64s", l);
	return 0;
}

int verifier_merge_base(struct verifier *v, const char *a, const char *b, char out[OID_SIZE], struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	auto_order_cmd cmd = { 0 };
	auto_buf text = BUF_SMALL;
	int code;

	out[0] = '\0';
	strvec_pushl(&args, "merge-base", a, b, NULL);
	verifier_command(v, QUARANTINE_DISK, &args, &cmd);
	if (runner_run(&v->runner, &cmd, NULL, &text, NULL, VERIFIER_SECONDS, &code, e) < 0)
		return -1;
	if (!code)
		oid_take(buf_str(&text), v->repo->hash_len, out);
	return 0;
}

int verifier_keep(struct verifier *v, const struct oidset *wanted, struct err *e)
{
	return quarantine_keep(&v->at, wanted, e);
}

int verifier_drop(struct verifier *v, struct err *e)
{
	bool packs = v->at.packs.n > 0;

	objects_forget_told(&v->objects);
	if (quarantine_drop(&v->at, e) < 0)
		return -1;
	/* the reader still has the removed pack open */
	return packs ? verifier_renew_reader(v, e) : 0;
}

int verifier_reject(struct verifier *v, struct err *e)
{
	objects_forget(&v->objects);
	return verifier_drop(v, e);
}
