#include "cli/json.h"

#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "workspace/workspace.h"

json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	auto_buf b = BUF_INIT(16 << 20);

	if (j)
		return j;
	for (; *s; s++) {
		if ((unsigned char)*s < 0x80)
			buf_addch(&b, *s);
		else
			buf_addstr(&b, "\xef\xbf\xbd");
	}
	return json_string(buf_str(&b));
}

/* RFC 3339, UTC; null for "not". */
json_t *json_time(int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32];

	if (!seconds)
		return json_null();
	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* Where it was pushed to last; null for nowhere. */
static json_t *json_pushed(const struct task *t)
{
	if (!t->pushed_tip || !*t->pushed_tip)
		return json_null();
	return json_pack("{s:o, s:o, s:s}", "remote", json_text(t->pushed_remote), "branch",
		json_text(t->pushed_branch), "tip", t->pushed_tip);
}

json_t *json_task(const struct task *t)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer(t->id));
	json_object_set_new(o, "name", json_text(t->name));
	json_object_set_new(o, "project", json_text(t->project));
	json_object_set_new(o, "state", json_text(t->state));
	json_object_set_new(o, "branch", workspace_is_empty(t) ? json_null() : json_text(t->branch));
	json_object_set_new(o, "base", json_text(t->base));
	json_object_set_new(o, "target", json_text(t->target));
	json_object_set_new(
		o, "published", t->published && *t->published ? json_text(t->published) : json_null());
	json_object_set_new(o, "commits", json_integer(t->commits));
	json_object_set_new(o, "pushed", json_pushed(t));
	json_object_set_new(o, "note", t->note && *t->note ? json_text(t->note) : json_null());
	json_object_set_new(o, "on_dirty", t->on_dirty ? json_text(t->on_dirty) : json_null());
	json_object_set_new(o, "backend", json_text(t->backend));
	json_object_set_new(o, "workspace", json_text(t->workspace));
	json_object_set_new(o, "strict", json_boolean(t->strict));
	json_object_set_new(o, "created", json_time(t->created));
	json_object_set_new(o, "removed", json_time(t->removed));
	json_object_set_new(o, "command", t->command && *t->command ? json_text(t->command) : json_null());
	json_object_set_new(o, "session", t->session && *t->session ? json_text(t->session) : json_null());
	json_object_set_new(o, "started", json_time(t->started));
	json_object_set_new(o, "ended", json_time(t->ended));
	json_object_set_new(o, "exit_code", t->ended ? json_integer(t->exit_code) : json_null());
	return o;
}

json_t *json_list(const struct strvec *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(a, json_text(v->v[i]));
	return a;
}

int json_print(json_t *o)
{
	json_object_set_new(o, "version", json_integer(1));
	/* on a terminal nothing that cannot be seen: the same text, spelled in ASCII */
	json_dumpf(o, stdout, JSON_INDENT(2) | (isatty(1) ? JSON_ENSURE_ASCII : 0));
	putchar('\n');
	json_decref(o);
	return 0;
}
