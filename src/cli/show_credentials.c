#include "cli/show_credentials.h"

#include <stdio.h>

#include "base/buf.h"
#include "task/credentials.h"

static void add_list(struct buf *out, const struct strvec *names, const char *what)
{
	for (size_t i = 0; i < names->n; i++)
		buf_printf(out, "%s%s", i ? ", " : out->len ? "; " : "", names->v[i]);
	if (names->n)
		buf_printf(out, " %s", what);
}

void show_credentials(const struct task_at *at)
{
	struct credentials_note n;
	auto_buf text = BUF_SMALL;

	if (credentials_load(at->ws.dir, &n)) {
		add_list(&text, &n.kept, "outside, added by the proxy");
		add_list(&text, &n.entered, "in the task");
		printf("%-10s %s of %s%s%s\n", "log-in", n.how, n.agent, text.len ? ": " : "",
			buf_str(&text));
	}
	credentials_release(&n);
}

static json_t *list(const struct strvec *names)
{
	json_t *a = json_array();

	for (size_t i = 0; i < names->n; i++)
		json_array_append_new(a, json_string(names->v[i]));
	return a;
}

json_t *show_credentials_json(const struct task_at *at)
{
	struct credentials_note n;
	json_t *ret = credentials_load(at->ws.dir, &n)
			      ? json_pack("{s:s, s:s, s:o, s:o}", "agent", n.agent, "how", n.how,
					"kept_outside", list(&n.kept), "entered", list(&n.entered))
			      : json_null();

	credentials_release(&n);
	return ret;
}
