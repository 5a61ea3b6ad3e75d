#include "task/own_limits.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/fd.h"

/* Copies all lines but the key's. */
static void copy_others(const struct buf *from, const char *key, struct buf *to)
{
	auto_str own = xasprintf("  %s: ", key);

	for (const char *l = buf_str(from); *l; l += strcspn(l, "\n") + 1)
		if (*l == ' ' && strncmp(l, own, strlen(own)) != 0)
			buf_printf(to, "%.*s\n", (int)strcspn(l, "\n"), l);
}

/* Splits "NAME=VALUE"; both are plain words, so that they can stand in a line of YAML. */
static int split_limit(const char *limit, char **ret_key, const char **ret_value, struct err *e)
{
	size_t n = strcspn(limit, "=");
	const char *value = limit[n] ? limit + n + 1 : "";

	if (!n || strspn(limit, "abcdefghijklmnopqrstuvwxyz_") != n || !*value ||
		value[strcspn(value, " \t\n:#{}[],&*!|>'\"%@`")])
		return err_set(e, ERR_USAGE, "a limit is given as NAME=VALUE, such as max_files=500");
	*ret_key = xstrndup(limit, n);
	*ret_value = value;
	return 0;
}

int own_limits_try(struct config *c, const struct strvec *limits, struct err *e)
{
	for (size_t i = 0; i < limits->n; i++) {
		auto_str key = NULL, text = NULL;
		const char *value;

		if (split_limit(limits->v[i], &key, &value, e) < 0)
			return -1;
		text = xasprintf("limits:\n  %s: %s\n", key, value);
		if (config_apply(c, text, strlen(text), NULL, e) < 0) {
			e->kind = ERR_USAGE;
			return err_wrap(e, "--limit %s", limits->v[i]), err_hint(e, "man garth-config");
		}
	}
	return 0;
}

/* Adds the limit to the lines of limits.yaml, or replaces its line. */
static int set_limit(const char *limit, struct buf *lines, struct err *e)
{
	auto_buf others = BUF_SMALL;
	auto_str key = NULL;
	const char *value;

	if (split_limit(limit, &key, &value, e) < 0)
		return -1;
	copy_others(lines, key, &others);
	buf_printf(&others, "  %s: %s\n", key, value);
	buf_cut(lines, 0);
	buf_addstr(lines, buf_str(&others));
	return 0;
}

int own_limits_set(int task_dir, const struct strvec *limits, struct err *e)
{
	auto_buf lines = BUF_SMALL, text = BUF_SMALL;
	auto_config tried = { 0 };
	struct err none = ERR_INIT;

	if (!limits->n)
		return 0;
	config_defaults(&tried);
	if (own_limits_try(&tried, limits, e) < 0)
		return -1;
	read_file(task_dir, OWN_LIMITS, &lines, &none);
	for (size_t i = 0; i < limits->n; i++)
		if (set_limit(limits->v[i], &lines, e) < 0)
			return -1;
	buf_printf(&text, "limits:\n%s", buf_str(&lines));
	return write_file(task_dir, OWN_LIMITS, buf_str(&text), text.len, 0600, e);
}
