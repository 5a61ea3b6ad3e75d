/*
 * The command of a stage's first run, made from the agent's template. Each placeholder is replaced once; the text that
 * replaces it comes from the plan and is not searched for placeholders. Pure functions.
 */
#ifndef PLAN_STAGE_WORDS_H
#define PLAN_STAGE_WORDS_H

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

struct stage_words {
	const char *prompt, *prompt_file; /* {prompt}, {prompt_file} */
	const char *session;              /* {session} */
	const char *model,
		*effort; /* {model}, {effort} of the agent's options for them; NULL: they are left out */
};

/* The template. ERR_CONFIG if the agent has none. */
int stage_words_template(const struct config_agent *a, const struct strvec **ret, struct err *e);
/* The options for model and effort are put before the first word that is an option or has a placeholder, so that
 * subcommands stay in front of them. */
int stage_words_make(
	const struct config_agent *a, const struct stage_words *w, struct strvec *ret, struct err *e);

#endif
