/* The sessions that the store knows. Garth lists them itself: an agent in a new task knows none. */
#include "acp/parts.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "task/directory.h"

#define TITLE_MAX 80

static json_t *describe(const struct acp_session *s)
{
	time_t when = (time_t)s->updated;
	char date[32] = "";
	struct tm tm;
	json_t *ret;

	if (gmtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	/* NULL: a path that is not UTF-8 */
	ret = json_pack("{s:s, s:s, s:s}", "sessionId", s->id, "cwd", s->cwd, "updatedAt", date);
	if (ret && *s->title)
		json_object_set_new(ret, "title", json_string(s->title));
	return ret;
}

void list_sessions(struct acp *a, const struct rpc *m)
{
	const char *asked = rpc_text(m->params, "cwd");
	auto_str cwd = asked && *asked == '/' ? directory_clean(asked) : NULL;
	const json_t *cursor = json_object_get(m->params, "cursor");
	auto_acp_session_list all = { 0 };
	json_t *list;
	struct err e = ERR_INIT;

	if (cursor && !json_is_null(cursor)) {
		acp_say(a, rpc_error(m->id, RPC_BAD_PARAMS, "garth: there is only one page", NULL));
		return;
	}
	if (context_store(&a->context, &e) < 0 ||
		store_acp_session_list(a->context.store, a->program, cwd, &all, &e) < 0) {
		acp_say(a, rpc_error_of(m->id, RPC_INTERNAL, &e));
		return;
	}
	list = json_array();
	for (size_t i = 0; i < all.n; i++) {
		json_t *one = describe(&all.v[i]);

		if (one)
			json_array_append_new(list, one);
	}
	acp_say(a, rpc_result(m->id, json_pack("{s:o}", "sessions", list)));
}

void list_note(struct session *s, const char *title)
{
	struct context *c = &s->agent->acp->context;
	struct err ignored = ERR_INIT;
	auto_buf clean = BUF_SMALL;
	size_t n = 0;

	if (title) {
		auto_str short_title = xstrndup(title, 4 * TITLE_MAX);

		clean_line(&clean, short_title);
		/* not in the middle of a character */
		n = clean.len < TITLE_MAX ? clean.len : TITLE_MAX;
		while (n < clean.len && n && (clean.data[n] & 0xc0) == 0x80)
			n--;
		buf_cut(&clean, n);
	}
	/* a full disk must not end the conversation */
	if (!context_store(c, &ignored))
		store_acp_session_used(c->store, s->id, clean.len ? clean.data : NULL, &ignored);
}
