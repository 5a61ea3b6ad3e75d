#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>

#include "audit/audit.h"
#include "audit/flood.h"
#include "audit/line.h"
#include "base/alloc.h"
#include "base/strvec.h"

#define LOG "audit.jsonl"

static struct store *store_of(struct scratch *s)
{
	struct err e = ERR_INIT;
	struct store *st = NULL;

	if (store_open(s->path, &st, &e) < 0)
		fail_msg("%s", e.msg);
	return st;
}

static void add(struct scratch *s, struct store *st, int n)
{
	struct task t = { .id = 3, .name = "fix" };
	struct err e = ERR_INIT;
	auto_audit a = NULL;

	assert_int_equal(audit_open(s->fd, st, &a, &e), 0);
	for (int i = 0; i < n; i++)
		if (audit_add(a, "publish", &t, json_pack("{s:i}", "n", i), &e) < 0)
			fail_msg("%s", e.msg);
}

static int try_add(struct scratch *s, struct store *st, json_t *details, struct err *e)
{
	auto_audit a = NULL;

	*e = (struct err)ERR_INIT;
	assert_int_equal(audit_open(s->fd, st, &a, e), 0);
	return audit_add(a, "publish", NULL, details, e);
}

static void assert_whole(struct scratch *s, struct store *st, uint64_t lines)
{
	struct err e = ERR_INIT;
	uint64_t n;

	if (audit_verify(s->fd, st, &n, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(n, lines);
}

static void assert_broken(struct scratch *s, struct store *st, uint64_t lines, const char *msg)
{
	struct err e = ERR_INIT;
	uint64_t n;

	assert_int_equal(audit_verify(s->fd, st, &n, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_string_equal(e.msg, msg);
	assert_int_equal(n, lines);
}

/* Adding is refused and changes nothing, and the message names the command that explains it. */
static void assert_refused(struct scratch *s, struct store *st)
{
	auto_buf before = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	assert_int_equal(read_file(s->fd, LOG, &before, &e), 0);
	assert_int_equal(try_add(s, st, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_string_equal(e.hint, "garth audit --verify");
	assert_content(s->fd, LOG, buf_str(&before));
}

/* The log's text, and its lines as strings. */
static void load(struct scratch *s, struct strvec *ret)
{
	auto_buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;

	assert_int_equal(read_file(s->fd, LOG, &b, &e), 0);
	for (char *p = b.data, *nl; (nl = strchr(p, '\n')); p = nl + 1)
		strvec_pushn(ret, p, (size_t)(nl - p));
}

static void save(struct scratch *s, const struct strvec *lines)
{
	auto_buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "%s\n", lines->v[i]);
	put(s->fd, LOG, buf_str(&b));
}

static void drop(struct strvec *v, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		free(v->v[i]);
	memmove(v->v + from, v->v + from + n, (v->n - from - n) * sizeof(*v->v));
	v->n -= n;
}

/* Changes a line and recomputes its hash, as a skilled attacker would. */
static void forge(struct strvec *v, size_t i)
{
	char *at = strstr(v->v[i], "publish"), hex[LINE_HASH_LEN + 1];
	size_t len = strlen(v->v[i]);

	assert_non_null(at);
	memcpy(at, "PUBLISH", 7);
	line_hash(v->v[i], len - LINE_TAIL_LEN, hex);
	memcpy(v->v[i] + len - 2 - LINE_HASH_LEN, hex, LINE_HASH_LEN);
}

static void test_form(void **state)
{
	struct scratch *s = *state;
	struct task t = { .id = 3, .name = "fix" };
	auto_store st = store_of(s);
	auto_strvec v = STRVEC_INIT;
	struct err e = ERR_INIT;
	auto_str fact = NULL, known = NULL;
	auto_audit a = NULL;
	struct line l;
	struct stat info;

	assert_int_equal(audit_open(s->fd, st, &a, &e), 0);
	assert_int_equal(audit_add(a, "created", NULL, NULL, &e), 0);
	assert_int_equal(
		audit_add(a, "publish", &t,
			json_pack("{s:o, s:i}", "tip", audit_text("\xff\xc3\xbc\n\x1b"), "n", 2), &e),
		0);
	load(s, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(strncmp(v.v[0], "{\"v\":1,\"seq\":1,\"time\":\"20", 24), 0);
	assert_non_null(strstr(v.v[0],
		"Z\",\"event\":\"created\",\"task\":null,\"task_id\":null,\"prev\":\"\",\"hash\":\""));
	assert_non_null(strstr(v.v[1],
		"\"event\":\"publish\",\"task\":\"fix\",\"task_id\":3,\"tip\":\"\\uFFFD\\u00FC\\n\\u001B\",\"n\":2,\"prev\":\""));
	assert_true(line_parse(v.v[1], strlen(v.v[1]), &l));
	assert_int_equal(l.seq, 2);
	known = xasprintf("2 %s", l.hash);
	assert_int_equal(store_fact(st, "audit_head", &fact, &e), 0);
	assert_string_equal(fact, known);
	assert_int_equal(fstatat(s->fd, LOG, &info, 0), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_whole(s, st, 2);
}

static void test_details_are_checked(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	struct err e;
	auto_str big = xcalloc(1, LINE_MAX_LEN + 1);

	add(s, st, 1);
	memset(big, 'x', LINE_MAX_LEN);
	assert_int_equal(try_add(s, st, json_pack("{s:s}", "hash", "x"), &e), -1);
	assert_int_equal(try_add(s, st, json_pack("{s:i}", "seq", 1), &e), -1);
	assert_int_equal(try_add(s, st, json_array(), &e), -1);
	assert_int_equal(try_add(s, st, json_pack("{s:s}", "big", big), &e), -1);
	assert_non_null(strstr(e.msg, "too long"));
	big[LINE_MAX_LEN - 400] = '\0';
	assert_int_equal(try_add(s, st, json_pack("{s:s}", "big", big), &e), 0);
	assert_int_equal(try_add(s, st, NULL, &e), 0);
	assert_whole(s, st, 3);
}

/* Long or odd names chosen by an agent do not prevent recording. */
static void test_text_is_cut(void **state)
{
	static const char *const odd[] = { "\x01", "\xff", "x", "\xc3\xbc", "\xf0\x9f\x98\x80", "\xe2\x82" };
	/* whether the text is cut or changed */
	static const bool other[] = { true, true, false, false, false, true };
	struct scratch *s = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		auto_buf b = BUF_INIT(1 << 20);
		json_t *text, *exact;

		while (b.len < 100000)
			buf_addstr(&b, odd[i]);
		text = audit_text(b.data);
		assert_true(json_string_length(text) <= 3 * AUDIT_TEXT_MAX + 3);
		assert_string_equal(json_string_value(text) + json_string_length(text) - 3, "\xe2\x80\xa6");
		auto_str escaped = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		assert_true(strlen(escaped) <= AUDIT_ESCAPED_MAX + 8);
		assert_int_equal(try_add(s, NULL, json_pack("{s:O, s:o}", "a", text, "b", text), &e), 0);
		buf_cut(&b, AUDIT_TEXT_MAX / strlen(odd[i]) * strlen(odd[i]));
		exact = audit_text(b.data);
		if (!other[i])
			assert_string_equal(json_string_value(exact), b.data);
		json_decref(exact);
	}
	assert_whole(s, NULL, ARRAY_SIZE(odd));
}

static struct task make_task(struct store *st)
{
	struct task t = { .name = "fix",
		.branch = "refs/heads/garth/fix",
		.base = "b",
		.layer = "b",
		.backend = "overlay",
		.workspace = "/w",
		.state = "running",
		.target = "",
		.shown = "",
		.command = "",
		.session = "",
		.published = "",
		.note = "",
		.on_dirty = "fail" };
	auto_project p = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(store_project(st, "/p", "/p/.git", &p, &e), 0);
	t.project_id = p.id;
	if (store_task_insert(st, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

/* How many events of that name the log reports, and in how many lines. */
static long count_events(struct scratch *s, const char *event, size_t *lines)
{
	auto_strvec v = STRVEC_INIT;
	long n = 0;

	*lines = 0;
	load(s, &v);
	for (size_t i = 0; i < v.n; i++) {
		json_t *o = json_loads(v.v[i], 0, NULL), *times = json_object_get(o, "repeated");

		if (!strcmp(json_string_value(json_object_get(o, "event")), event)) {
			n += times ? (long)json_integer_value(times) : 1;
			++*lines;
		}
		json_decref(o);
	}
	return n;
}

static void add_event(struct audit *a, const struct task *t, const char *event, json_t *details)
{
	struct err e = ERR_INIT;

	if (audit_add(a, event, t, details, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Repeated events are counted in one line. Other events keep all their lines. */
static void test_repeats_are_collapsed(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	struct task t = make_task(st);
	struct err e = ERR_INIT;
	auto_audit a = NULL;
	size_t lines;

	assert_int_equal(audit_open(s->fd, st, &a, &e), 0);
	for (int i = 0; i < 300; i++)
		add_event(a, &t, "refused", json_pack("{s:s}", "code", "x"));
	add_event(a, &t, "refused", json_pack("{s:s}", "code", "y"));
	count_events(s, "refused", &lines);
	assert_int_equal(lines, FLOOD_PLAIN + 1);
	for (int i = 0; i < 20; i++)
		add_event(a, &t, "publish", json_pack("{s:s}", "tip", "x"));
	assert_int_equal(count_events(s, "refused", &lines), 301);
	assert_int_equal(lines, FLOOD_PLAIN + 2);
	assert_int_equal(count_events(s, "publish", &lines), 20);
	assert_int_equal(lines, 20);
	assert_whole(s, st, FLOOD_PLAIN + 2 + 20);
}

/* Different, long events: limited by a budget of bytes. */
static void test_budget_of_bytes(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	struct task t = make_task(st);
	struct err e = ERR_INIT;
	auto_audit a = NULL;
	char big[3000];
	struct stat now;
	size_t lines;

	memset(big, '\x01', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(audit_open(s->fd, st, &a, &e), 0);
	for (int i = 0; i < 400; i++) {
		add_event(a, &t, "asked", json_pack("{s:i, s:o}", "n", i, "args", audit_text(big)));
		add_event(a, &t, "refused", json_pack("{s:i}", "n", i));
	}
	add_event(a, &t, "failed", NULL);
	assert_int_equal(count_events(s, "asked", &lines), 400);
	assert_true(lines < 40);
	assert_int_equal(count_events(s, "refused", &lines), 400);
	assert_int_equal(count_events(s, "failed", &lines), 1);
	assert_int_equal(fstatat(s->fd, LOG, &now, 0), 0);
	assert_true(now.st_size < FLOOD_BURST + 32 * 1024);
}

static void test_changed_byte(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_strvec v = STRVEC_INIT;

	add(s, st, 5);
	load(s, &v);
	/* every byte of a line matters */
	for (size_t i = 0; v.v[2][i]; i++) {
		struct err e = ERR_INIT;
		uint64_t n = 9;

		v.v[2][i] ^= 1;
		save(s, &v);
		v.v[2][i] ^= 1;
		assert_int_equal(audit_verify(s->fd, st, &n, &e), -1);
		assert_int_equal(e.kind, ERR_CONFLICT);
		assert_int_equal(n, 2);
		assert_non_null(strstr(e.msg, "line 3 "));
	}
	strstr(v.v[2], "fix")[0] = 'F';
	save(s, &v);
	assert_broken(s, st, 2, "line 3 (seq 3) was changed");
	forge(&v, 2);
	save(s, &v);
	assert_broken(s, st, 2, "line 3 (seq 3) was changed and its hash made anew");
	drop(&v, 0, v.n);
	/* no line follows the last one: the store has its hash */
	put(s->fd, LOG, "");
	add(s, NULL, 5);
	load(s, &v);
	assert_broken(s, st, 4, "line 5 (seq 5) was changed: the store knows another hash of it");
	assert_refused(s, st);
}

static void test_removed_lines(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_strvec v = STRVEC_INIT;

	add(s, st, 8);
	load(s, &v);
	drop(&v, 3, 1);
	save(s, &v);
	assert_broken(s, st, 3, "after line 3: seq 4 is missing");
	drop(&v, 3, 2);
	save(s, &v);
	assert_broken(s, st, 3, "after line 3: seq 4 to 6 are missing");
	drop(&v, 0, 3);
	save(s, &v);
	assert_broken(s, st, 2, "the log begins at seq 7: what was before is missing");
}

static void test_moved_lines(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_strvec v = STRVEC_INIT;
	char *swap;

	add(s, st, 6);
	load(s, &v);
	swap = v.v[2];
	v.v[2] = v.v[3];
	v.v[3] = swap;
	save(s, &v);
	assert_broken(s, st, 2, "line 3 (seq 4) is not in its place: seq 3 comes at line 4");
	strvec_push(&v, v.v[0]);
	v.v[3] = v.v[2];
	v.v[2] = swap;
	save(s, &v);
	assert_broken(s, st, 6, "line 7 (seq 1) is not in its place");
}

/* A cut-off end is found, and nothing is appended that would hide it. */
static void test_cut_off_end(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_strvec v = STRVEC_INIT;

	add(s, st, 6);
	load(s, &v);
	drop(&v, 4, 2);
	save(s, &v);
	assert_broken(s, st, 4, "the log ends at seq 4, the store knows of 6");
	assert_refused(s, st);
	/* half of an acknowledged line is damage, not a torn line */
	put(s->fd, LOG, v.v[0]);
	assert_refused(s, st);
}

/* Somebody moved the log away: the next line's number shows what is missing. */
static void test_moved_away(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	struct err e = ERR_INIT;
	auto_audit a = NULL;
	uint64_t n;

	assert_int_equal(audit_open(s->fd, st, &a, &e), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(audit_add(a, "e", NULL, NULL, &e), 0);
	assert_int_equal(renameat(s->fd, LOG, s->fd, "old"), 0);
	assert_int_equal(audit_verify(s->fd, st, &n, &e), -1);
	assert_string_equal(e.msg, "the log ends at seq 0, the store knows of 4");
	/* written by a process that has the old log open */
	assert_int_equal(audit_add(a, "e", NULL, NULL, &e), 0);
	assert_broken(s, st, 1, "the log begins at seq 5: what was before is missing");
}

static void append_text(struct scratch *s, const char *text, size_t len)
{
	auto_fd fd = openat(s->fd, LOG, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write_full(fd, text, len), 0);
}

static void test_torn_line_is_healed(void **state)
{
	static const char *const torn[] = { "{\"v\":1,\"seq\":4,\"ti", "{", "{\"v\":1,\"seq\":4}\n", "\n",
		"garbage\n", "x" };
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_str zeros = xcalloc(1, 20000);
	auto_audit open_before = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(audit_open(s->fd, st, &open_before, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(torn); i++) {
		add(s, st, 1);
		append_text(s, torn[i], strlen(torn[i]));
	}
	assert_int_equal(audit_add(open_before, "e", NULL, NULL, &e), 0);
	append_text(s, zeros, 20000);
	assert_int_equal(audit_add(open_before, "e", NULL, NULL, &e), 0);
	assert_whole(s, st, ARRAY_SIZE(torn) + 2);
	/* readers ignore a torn line, and it is no damage */
	append_text(s, "{\"v\":1", 6);
	assert_whole(s, st, ARRAY_SIZE(torn) + 2);
	/* the first line of all */
	put(s->fd, LOG, "{\"v\":1,");
	add(s, NULL, 1);
	assert_whole(s, NULL, 1);
}

static void test_more_than_torn_is_not_healed(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	auto_str much = xcalloc(1, 5 * LINE_MAX_LEN);

	add(s, st, 2);
	append_text(s, "one\ntwo\n", 8);
	assert_refused(s, st);
	put(s->fd, LOG, "");
	add(s, NULL, 2);
	append_text(s, "one\ntwo", 7);
	assert_refused(s, NULL);
	put(s->fd, LOG, "");
	add(s, NULL, 2);
	append_text(s, much, 5 * LINE_MAX_LEN);
	assert_refused(s, NULL);
}

/* Killed between the line and the store: the store is behind, and that is no error. */
static void test_store_that_lags(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);

	add(s, st, 3);
	add(s, NULL, 2);
	assert_whole(s, st, 5);
	add(s, st, 1);
	assert_whole(s, st, 6);
}

#ifdef GARTH_FAULT_INJECTION
static void test_killed_before_the_store_knows(void **state)
{
	struct scratch *s = *state;
	auto_str fact = NULL;
	struct err e = ERR_INIT;
	int status;
	pid_t pid;

	store_close(store_of(s));
	pid = fork();
	if (!pid) {
		auto_store child = store_of(s);

		add(s, child, 2);
		setenv("GARTH_FAULT", "audit-written", 1);
		add(s, child, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	auto_store st = store_of(s);
	assert_int_equal(store_fact(st, "audit_head", &fact, &e), 0);
	assert_int_equal(strncmp(fact, "2 ", 2), 0);
	assert_whole(s, st, 3);
	add(s, st, 1);
	assert_whole(s, st, 4);
}
#endif

static void writer(struct scratch *s, int go)
{
	struct err e = ERR_INIT;
	struct store *st = NULL;
	struct audit *a = NULL;
	char c;

	if (store_open(s->path, &st, &e) < 0 || audit_open(s->fd, st, &a, &e) < 0 || read(go, &c, 1) != 0)
		_exit(1);
	for (int i = 0; i < 500; i++)
		if (audit_add(a, "e", NULL, json_pack("{s:i, s:i}", "pid", getpid(), "i", i), &e) < 0) {
			fprintf(stderr, "%s\n", e.msg);
			_exit(2);
		}
	audit_close(a);
	store_close(st);
	_exit(0);
}

static void test_two_at_once(void **state)
{
	struct scratch *s = *state;
	int go[2], status;
	pid_t pids[2];

	store_close(store_of(s));
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(go[1]);
			writer(s, go[0]);
		}
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	auto_store st = store_of(s);
	assert_whole(s, st, 1000);
}

/* In a child, because the limit cannot be removed again. */
static int no_room(struct scratch *s)
{
	struct err e = ERR_INIT;
	auto_audit a = NULL;
	struct stat before, after;
	struct rlimit full;

	signal(SIGXFSZ, SIG_IGN);
	if (audit_open(s->fd, NULL, &a, &e) < 0 || audit_add(a, "e", NULL, NULL, &e) < 0 ||
		fstatat(s->fd, LOG, &before, 0) < 0)
		return 1;
	full = (struct rlimit){ (rlim_t)before.st_size + 50, RLIM_INFINITY };
	setrlimit(RLIMIT_FSIZE, &full);
	if (!audit_add(a, "e", NULL, NULL, &e) || e.sys != EFBIG)
		return 2;
	if (fstatat(s->fd, LOG, &after, 0) < 0 || after.st_size != before.st_size)
		return 3;
	full.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &full);
	return audit_add(a, "e", NULL, NULL, &e) < 0 ? 4 : 0;
}

static void test_full_disk(void **state)
{
	struct scratch *s = *state;
	int status;
	pid_t pid;

	add(s, NULL, 3);
	pid = fork();
	if (!pid)
		_exit(no_room(s));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_whole(s, NULL, 5);
}

static void test_links_are_refused(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	struct audit *a = NULL;
	uint64_t n;

	assert_int_equal(symlinkat("target", s->fd, LOG), 0);
	assert_int_equal(audit_open(s->fd, NULL, &a, &e), -1);
	assert_false(there(s->fd, "target"));
	assert_int_equal(audit_verify(s->fd, NULL, &n, &e), -1);
	assert_int_equal(unlinkat(s->fd, LOG, 0), 0);
	assert_int_equal(mkfifoat(s->fd, LOG, 0600), 0);
	assert_int_equal(audit_open(s->fd, NULL, &a, &e), -1);
	assert_int_equal(audit_verify(s->fd, NULL, &n, &e), -1);
}

static int count(const char *line, size_t len, void *arg, struct err *e)
{
	int *n = arg;

	(void)e;
	assert_int_equal(line[0], '{');
	assert_int_equal(line[len - 1], '}');
	return ++*n == 3 ? 7 : 0;
}

static void test_reading(void **state)
{
	struct scratch *s = *state;
	struct err e = ERR_INIT;
	uint64_t offset = 0;
	int n = 0;

	assert_int_equal(audit_read(s->fd, &offset, count, &n, &e), 0);
	assert_int_equal(n, 0);
	add(s, NULL, 5);
	append_text(s, "{\"v\":", 5);
	assert_int_equal(audit_read(s->fd, &offset, count, &n, &e), 7);
	assert_int_equal(audit_read(s->fd, &offset, count, &n, &e), 0);
	assert_int_equal(n, 5);
	add(s, NULL, 1);
	assert_int_equal(audit_read(s->fd, &offset, count, &n, &e), 0);
	assert_int_equal(n, 6);
	/* another log at its place */
	put(s->fd, LOG, "");
	add(s, NULL, 2);
	assert_int_equal(audit_read(s->fd, &offset, count, &n, &e), 0);
	assert_int_equal(n, 8);
}

static void test_damaged_head(void **state)
{
	struct scratch *s = *state;
	auto_store st = store_of(s);
	struct err e = ERR_INIT;

	add(s, st, 2);
	assert_int_equal(store_set_fact(st, "audit_head", "2 nonsense", &e), 0);
	assert_broken(s, st, 0, "what the store knows of the audit log was changed");
	assert_refused(s, st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_form),
		scratch_test(test_details_are_checked),
		scratch_test(test_text_is_cut),
		scratch_test(test_repeats_are_collapsed),
		scratch_test(test_budget_of_bytes),
		scratch_test(test_changed_byte),
		scratch_test(test_removed_lines),
		scratch_test(test_moved_lines),
		scratch_test(test_cut_off_end),
		scratch_test(test_moved_away),
		scratch_test(test_torn_line_is_healed),
		scratch_test(test_more_than_torn_is_not_healed),
		scratch_test(test_store_that_lags),
#ifdef GARTH_FAULT_INJECTION
		scratch_test(test_killed_before_the_store_knows),
#endif
		scratch_test(test_two_at_once),
		scratch_test(test_full_disk),
		scratch_test(test_links_are_refused),
		scratch_test(test_reading),
		scratch_test(test_damaged_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
