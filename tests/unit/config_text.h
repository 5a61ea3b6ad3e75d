/* For tests of the configuration: apply() reads a text on top of the defaults; assert_refused() compares the beginning
 * of the message. */
#ifndef TESTS_CONFIG_TEXT_H
#define TESTS_CONFIG_TEXT_H

#include "scratch.h"

#include "base/alloc.h"
#include "config/config.h"

static inline int apply(struct config *c, const char *text, struct err *e)
{
	config_defaults(c);
	c->home = xstrdup("/home/u");
	return config_apply(c, text, strlen(text), "c.yaml", e);
}

static inline void assert_refused(const char *text, const char *want)
{
	auto_config c = { 0 };
	struct err e = ERR_INIT;

	assert_int_equal(apply(&c, text, &e), -1);
	assert_int_equal(e.kind, ERR_CONFIG);
	if (strncmp(e.msg, want, strlen(want)))
		fail_msg("'%s' is not '%s…'", e.msg, want);
}

#endif
