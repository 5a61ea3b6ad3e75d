#include "base/json_read.h"
#include "shim/shim.h"

static bool take(struct jread_at *at, const char *name, struct buf *out)
{
	if (jread_member(at, name) && jread_string(at, out) && !out->overflow)
		return true;
	buf_reset(out);
	return false;
}

bool answer_member(const struct http_answer *a, const char *name, struct buf *out)
{
	struct jread_at at = jread_at(buf_str(&a->body), a->body.len);

	return take(&at, name, out);
}

bool answer_error(const struct http_answer *a, const char *name, struct buf *out)
{
	struct jread_at at = jread_at(buf_str(&a->body), a->body.len);

	return jread_member(&at, "error") && take(&at, name, out);
}
