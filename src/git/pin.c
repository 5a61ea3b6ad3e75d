#include "git/pin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "sys/digest.h"

/* Limit for the output of a walk. */
#define WALK_MAX ((size_t)256 << 20)

static const char author[] = "Garth <garth@localhost>";

void pin_release(struct pin *p)
{
	strvec_release(&p->commits);
	buf_release(&p->found);
}

static void add_lines(struct buf *out, const char *sign, const struct strvec *commits)
{
	for (size_t i = 0; i < commits->n; i++)
		buf_printf(out, "%s%s\n", sign, commits->v[i]);
}

static int look_up(
	const struct repo *r, const struct strvec *a, const struct strvec *b, struct buf *out, struct err *e)
{
	auto_buf names = BUF_INIT(16 << 20);
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);

	add_lines(&names, "", a);
	add_lines(&names, "", b);
	if (!names.len)
		return 0;
	if (names.overflow)
		return err_set(e, ERR_FAILED, "there are too many commits to keep");
	strvec_pushl(&args, "rev-list", "--no-walk=unsorted", "--ignore-missing", "--no-commit-header",
		"--format=%H %T %ct", "--stdin", NULL);
	return git_run(&g, &args, &names, out, e);
}

/* The line that begins with this id; NULL if there is none. */
static const char *find_line(const struct buf *lines, const char *oid)
{
	for (const char *at = buf_str(lines); (at = strstr(at, oid)); at++)
		if (at == lines->data || at[-1] == '\n')
			return at;
	return NULL;
}

/* Writes lines "OID PARENT…". If an object is missing, the walk fails, and then no commit is left out. */
static void walk(const struct repo *r, const struct strvec *tips, const struct strvec *held, struct buf *out,
	bool *ret_failed)
{
	auto_buf input = BUF_INIT(16 << 20);
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);
	struct err ignored = ERR_INIT;

	add_lines(&input, "", tips);
	add_lines(&input, "^", held);
	strvec_pushl(&args, "rev-list", "--parents", "--stdin", NULL);
	*ret_failed = tips->n && git_run(&g, &args, &input, out, &ignored) < 0;
}

static void take_present(const struct strvec *commits, const struct buf *found, struct strvec *ret)
{
	for (size_t i = 0; i < commits->n; i++)
		if (!strvec_has(ret, commits->v[i]) && find_line(found, commits->v[i]))
			strvec_push(ret, commits->v[i]);
}

int pin_choose(const struct repo *r, const struct strvec *tips, const struct strvec *held, struct pin *ret,
	struct err *e)
{
	auto_strvec new_ones = STRVEC_INIT, old_ones = STRVEC_INIT;
	auto_buf walked = BUF_INIT(WALK_MAX);
	bool failed;

	if (look_up(r, tips, held, &ret->found, e) < 0)
		return -1;
	take_present(tips, &ret->found, &new_ones);
	take_present(held, &ret->found, &old_ones);
	walk(r, &new_ones, &old_ones, &walked, &failed);
	for (size_t i = 0; i < new_ones.n; i++) {
		auto_str parent = xasprintf(" %s", new_ones.v[i]);

		if (failed || (find_line(&walked, new_ones.v[i]) && !strstr(buf_str(&walked), parent)))
			strvec_push(&ret->commits, new_ones.v[i]);
	}
	for (size_t i = 0; i < old_ones.n; i++) {
		auto_str parent = xasprintf(" %s", old_ones.v[i]);

		if ((failed || !strstr(buf_str(&walked), parent)) &&
			!strvec_has(&ret->commits, old_ones.v[i]))
			strvec_push(&ret->commits, old_ones.v[i]);
	}
	strvec_sort(&ret->commits);
	return 0;
}

/* The tree is that of one of the parents, so it shows no change. The time is that of the newest parent,
 * because git's walks expect a commit to be no older than its parents. */
static void write_text(const struct pin *p, const char *about, struct buf *text)
{
	long long newest = 0;

	for (size_t i = 0; i < p->commits.n; i++) {
		const char *tree = find_line(&p->found, p->commits.v[i]) + strlen(p->commits.v[i]) + 1;
		long long seconds = strtoll(tree + strcspn(tree, " "), NULL, 10);

		if (!i)
			buf_printf(text, "tree %.*s\n", (int)strcspn(tree, " "), tree);
		newest = seconds > newest ? seconds : newest;
	}
	add_lines(text, "parent ", &p->commits);
	buf_printf(text, "author %s %lld +0000\ncommitter %s %lld +0000\n\n%s", author, newest, author,
		newest, about);
}

static void name_it(const struct repo *r, const struct buf *text, char oid[OID_SIZE])
{
	auto_buf all = BUF_INIT(SIZE_MAX / 2);
	unsigned char sum[DIGEST_MAX];

	buf_printf(&all, "commit %zu", text->len);
	buf_addch(&all, '\0');
	buf_add(&all, text->data, text->len);
	digest_of(r->hash_len, all.data, all.len, sum);
	oid_to_hex(sum, r->hash_len, oid);
}

static int text_of(const struct pin *p, const char *about, struct buf *text, struct err *e)
{
	write_text(p, about, text);
	return text->overflow ? err_set(e, ERR_FAILED, "there are too many commits to keep") : 0;
}

int pin_name(const struct repo *r, const struct pin *p, const char *about, char oid[OID_SIZE], struct err *e)
{
	auto_buf text = BUF_INIT(16 << 20);

	if (text_of(p, about, &text, e) < 0)
		return -1;
	name_it(r, &text, oid);
	return 0;
}

/* A pack of one commit: the header, the object's type and size, the data, and the checksum. */
static int make_pack(const struct repo *r, const struct buf *text, struct buf *out, struct err *e)
{
	static const char head[] = "PACK\0\0\0\2\0\0\0\1";
	uLongf len = compressBound(text->len);
	auto_str packed = xcalloc(1, len);
	unsigned char sum[DIGEST_MAX];
	size_t rest = text->len >> 4;

	buf_add(out, head, sizeof(head) - 1);
	buf_addch(out, (char)(1 << 4 | (text->len & 15) | (rest ? 0x80 : 0)));
	for (; rest; rest >>= 7)
		buf_addch(out, (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
	if (compress2((Bytef *)packed, &len, (const Bytef *)text->data, text->len, Z_BEST_SPEED) != Z_OK)
		return err_set(e, ERR_FAILED, "cannot compress a commit");
	buf_add(out, packed, len);
	digest_of(r->hash_len, out->data, out->len, sum);
	buf_add(out, (const char *)sum, r->hash_len);
	return 0;
}

int pin_write(
	const struct repo *r, const struct pin *p, const char *about, struct ref_txn *txn, struct err *e)
{
	auto_buf text = BUF_INIT(16 << 20), pack = BUF_INIT(32 << 20), said = BUF_SMALL;
	auto_strvec args = STRVEC_INIT;
	struct git g = repo_git(r);

	if (text_of(p, about, &text, e) < 0 || make_pack(r, &text, &pack, e) < 0)
		return -1;
	ref_begin_hold(txn);
	strvec_pushl(&args, "index-pack", "--stdin", "--keep=" PIN_KEEP, NULL);
	if (git_run(&g, &args, &pack, &said, e) < 0)
		return -1;
	/* "keep\tHASH\n"; or "pack…" if another process has written the same pack and protects it */
	if (!strncmp(buf_str(&said), "keep\t", 5)) {
		auto_str keep = xasprintf("%s/objects/pack/pack-%.*s.keep", r->git_dir,
			(int)strcspn(said.data + 5, "\n"), said.data + 5);

		ref_hold(txn, keep);
	}
	return 0;
}

int pin_read(const struct repo *r, const char *oid, struct strvec *ret, struct err *e)
{
	auto_buf line = BUF_INIT(16 << 20);
	struct git g = repo_git(r);
	char *save = NULL;

	if (git_do(&g, &line, e, "rev-list", "--no-walk", "--parents", oid, "--", NULL) < 0)
		return -1;
	if (!line.len)
		return 0;
	strtok_r(line.data, " \n", &save);
	for (char *p; (p = strtok_r(NULL, " \n", &save));)
		strvec_push(ret, p);
	return 0;
}
