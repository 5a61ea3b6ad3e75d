/* What a task is shown, and was shown before. */
#include "scratch.h"

#include <sys/stat.h>

#include "sys/fd.h"
#include "task/shown.h"

static void add(struct context *c, const char *lines)
{
	auto_shown now = SHOWN_INIT;
	struct err e = ERR_INIT;

	buf_addstr(&now.lines, lines);
	shown_find_tags(&now);
	assert_int_equal(shown_write(c, 7, &now, &e), 0);
}

static void assert_shown(struct context *c, const char *want)
{
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	assert_int_equal(shown_read(c, 7, &text, &e), 0);
	assert_string_equal(buf_str(&text), want);
}

static void what_was_shown_is_not_forgotten(void **state)
{
	struct scratch *s = *state;
	struct context c = { .home = { s->path, s->fd } };
	auto_strvec now = STRVEC_INIT, before = STRVEC_INIT, ids = STRVEC_INIT;
	auto_buf text = BUF_SMALL;
	struct err e = ERR_INIT;

	mkdirat(s->fd, "tasks", 0700);
	mkdirat(s->fd, "tasks/7", 0700);
	assert_shown(&c, "");
	add(&c, "a1 refs/heads/main\nb1 refs/tags/v1\nb2 refs/tags/v2\n");
	assert_shown(&c, "a1 refs/heads/main\nb1 refs/tags/v1\nb2 refs/tags/v2\n");
	add(&c, "a2 refs/heads/main\nb2 refs/tags/v2\nb3 refs/tags/v3\n");
	assert_shown(&c,
		"a2 refs/heads/main\nb2 refs/tags/v2\nb3 refs/tags/v3\na1 ~refs/heads/main\nb1 ~refs/tags/v1\n");
	/* moving back and forth leaves each value once */
	add(&c, "a1 refs/heads/main\n");
	add(&c, "a2 refs/heads/main\n");
	add(&c, "a1 refs/heads/main\n");
	shown_read(&c, 7, &text, &e);
	shown_branches(&text, &now, &before);
	shown_ids(&text, &ids);
	assert_int_equal(now.n, 1);
	assert_string_equal(now.v[0], "a1");
	assert_true(strvec_has(&before, "a2"));
	assert_true(strvec_has(&ids, "b1") && strvec_has(&ids, "b2") && strvec_has(&ids, "b3"));
	assert_int_equal(ids.n, 6);
}

/* More than SHOWN_LONG bytes of tags, the last of which has this value. */
static void add_many(struct buf *out, const char *last)
{
	buf_addstr(out, "a1 refs/heads/main\n");
	for (int i = 0; i < 4000; i++)
		buf_printf(out, "b%d refs/tags/v%06d\n", i, i);
	buf_printf(out, "%s refs/tags/w\n", last);
}

static void write_lines(struct context *c, int64_t task, const struct buf *lines, char name[35])
{
	auto_shown now = SHOWN_INIT;
	struct err e = ERR_INIT;

	buf_add(&now.lines, buf_str(lines), lines->len);
	shown_find_tags(&now);
	shown_name(&now, name);
	assert_int_equal(shown_write(c, task, &now, &e), 0);
}

static void a_long_list_of_tags_is_shared(void **state)
{
	struct scratch *s = *state;
	struct context c = { .home = { s->path, s->fd } };
	auto_buf first = BUF_INIT(SHOWN_MAX), second = BUF_INIT(SHOWN_MAX), text = BUF_INIT(SHOWN_MAX);
	auto_buf short_one = BUF_SMALL;
	struct err e = ERR_INIT;
	struct stat seven, eight;
	auto_shown kept = SHOWN_INIT;
	char one[35], two[35], digest[80];

	mkdirat(s->fd, "tasks", 0700);
	mkdirat(s->fd, "tasks/7", 0700);
	mkdirat(s->fd, "tasks/8", 0700);
	mkdirat(s->fd, "cache", 0700);
	add_many(&first, "c1");
	add_many(&second, "c2");
	buf_add(&kept.lines, first.data, first.len);
	shown_find_tags(&kept);
	assert_int_equal(kept.tags, strlen("a1 refs/heads/main\n"));
	snprintf(digest, sizeof(digest), SHOWN_LIST "%s", kept.digest);
	assert_int_equal(
		write_file(s->fd, digest, first.data + kept.tags, first.len - kept.tags, 0600, &e), 0);
	write_lines(&c, 7, &first, one);
	write_lines(&c, 8, &first, two);
	assert_string_equal(one, two);
	assert_int_equal(fstatat(s->fd, "tasks/7/shown-tags", &seven, 0), 0);
	assert_int_equal(fstatat(s->fd, "tasks/8/shown-tags", &eight, 0), 0);
	assert_int_equal(seven.st_ino, eight.st_ino);
	assert_int_equal(shown_read(&c, 7, &text, &e), 0);
	assert_string_equal(buf_str(&text), buf_str(&first));
	/* the same again, then another list, which nobody has kept: the other task's does not change */
	write_lines(&c, 7, &first, one);
	assert_int_equal(faccessat(s->fd, "tasks/7/shown-tags.new", F_OK, 0), -1);
	write_lines(&c, 7, &second, one);
	assert_string_not_equal(one, two);
	buf_reset(&text);
	assert_int_equal(shown_read(&c, 7, &text, &e), 0);
	buf_addstr(&second, "c1 ~refs/tags/w\n");
	assert_string_equal(buf_str(&text), buf_str(&second));
	buf_reset(&text);
	assert_int_equal(shown_read(&c, 8, &text, &e), 0);
	assert_string_equal(buf_str(&text), buf_str(&first));
	/* branches alone are read without it */
	buf_reset(&text);
	assert_int_equal(shown_read_branches(&c, 7, &text, &e), 0);
	assert_string_equal(buf_str(&text), "a1 refs/heads/main\nc1 ~refs/tags/w\n");
	/* a short list again */
	buf_addstr(&short_one, "a1 refs/heads/main\nb1 refs/tags/v000001\n");
	write_lines(&c, 8, &short_one, one);
	assert_int_equal(faccessat(s->fd, "tasks/8/shown-tags", F_OK, 0), -1);
	buf_reset(&text);
	assert_int_equal(shown_read(&c, 8, &text, &e), 0);
	assert_memory_equal(buf_str(&text), buf_str(&short_one), short_one.len);
	assert_non_null(strstr(buf_str(&text), "\nc1 ~refs/tags/w\n"));
}

static void a_name_tells_the_form(void **state)
{
	struct task old = { .shown = (char *)"0123456789abcdef0123456789abcdef" }, new_one;
	auto_shown none = SHOWN_INIT;
	char name[35];

	(void)state;
	shown_name(&none, name);
	new_one.shown = name;
	assert_int_equal(strlen(name), 34);
	assert_true(shown_is_known(&new_one));
	assert_false(shown_is_known(&old));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(what_was_shown_is_not_forgotten),
		scratch_test(a_long_list_of_tags_is_shared),
		scratch_test(a_name_tells_the_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
