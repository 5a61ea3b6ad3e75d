#include "serve/access.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

int deny(struct denial *d, int status, const char *code, const char *fmt, ...)
{
	va_list ap;

	d->status = status;
	d->code = code;
	va_start(ap, fmt);
	vsnprintf(d->message, sizeof(d->message), fmt, ap);
	va_end(ap);
	return -1;
}

/* Whether text is the prefix followed by one of this server's names and its port. */
static bool is_own(const struct access *d, const char *prefix, const char *text)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };

	for (size_t i = 0; text && i < ARRAY_SIZE(names); i++) {
		char own[64];

		snprintf(own, sizeof(own), "%s%s:%u", prefix, names[i], d->port);
		if (!strcasecmp(own, text))
			return true;
	}
	return false;
}

const char *const access_once[] = { "Host", "Origin", "Authorization", "Content-Length", "Transfer-Encoding",
	"Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", NULL };

int access_form(const char *target, const char *repeated, struct denial *why)
{
	/* "//name/path" names a host too */
	if (!target || target[0] != '/' || target[1] == '/')
		return deny(why, 400, "bad_target", "the request's target is not a path");
	if (repeated)
		return deny(why, 400, "repeated_header", "the header '%s' appears twice", repeated);
	return 0;
}

int access_name(const char *name, struct denial *why)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";

	if (*name && !name[strspn(name, allowed)])
		return 0;
	return deny(why, 400, "bad_header", "a header's name has characters that names do not have");
}

int access_check(const struct access *d, const struct caller *c, struct denial *why)
{
	if (!is_own(d, "", c->host))
		return deny(why, 403, "foreign_host", "the Host header is not 127.0.0.1:%u", d->port);
	if (c->origin && !is_own(d, "http://", c->origin))
		return deny(why, 403, "foreign_origin", "a page of another server's does not ask here");
	if (!token_opens(&d->token, c->authorization))
		return deny(why, 401, "no_token",
			"the header 'Authorization: Bearer TOKEN' with what $GARTH_HOME/" TOKEN_FILE
			" has is needed");
	if (strcmp(c->method, "GET") && !c->any_method)
		return deny(why, 405, "bad_method", "only GET is answered");
	return 0;
}
