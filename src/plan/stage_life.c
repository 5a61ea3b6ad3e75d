#include "plan/stage_life.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

#define NOTE_MAX 1000

#define ANY_REST STAGE_HELD, STAGE_SKIPPED, STAGE_CANCELLED

/* Each line: a state, and those that can follow it. */
static const char *const moves[][12] = {
	{ STAGE_WAITING, STAGE_APPROVAL, STAGE_READY, ANY_REST },
	{ STAGE_APPROVAL, STAGE_READY, STAGE_CHECKING, STAGE_QUEUED, STAGE_REWORK, ANY_REST },
	{ STAGE_READY, STAGE_RUNNING, STAGE_WAITING, STAGE_APPROVAL, STAGE_QUOTA, STAGE_FAILED, ANY_REST },
	{ STAGE_RUNNING, STAGE_CHECKING, STAGE_ASKING, STAGE_QUOTA, STAGE_REWORK, STAGE_CONFLICT,
		STAGE_FAILED, STAGE_CANCELLED, STAGE_SKIPPED },
	{ STAGE_CHECKING, STAGE_APPROVAL, STAGE_QUEUED, STAGE_REWORK, STAGE_RUNNING, STAGE_CONFLICT,
		STAGE_FAILED, STAGE_CANCELLED, STAGE_SKIPPED, STAGE_HELD },
	{ STAGE_QUEUED, STAGE_MERGING, STAGE_CHECKING, STAGE_RUNNING, STAGE_DONE, STAGE_REWORK, ANY_REST },
	/* it cannot be ended here: its commit may be about to be merged */
	{ STAGE_MERGING, STAGE_DONE, STAGE_REWORK, STAGE_CONFLICT, STAGE_ASKING, STAGE_QUEUED, STAGE_FAILED },
	{ STAGE_ASKING, STAGE_RUNNING, STAGE_CHECKING, STAGE_QUEUED, STAGE_REWORK, STAGE_CONFLICT,
		STAGE_FAILED, STAGE_CANCELLED, STAGE_SKIPPED },
	{ STAGE_QUOTA, STAGE_READY, STAGE_REWORK, STAGE_RUNNING, ANY_REST },
	{ STAGE_REWORK, STAGE_RUNNING, STAGE_QUOTA, STAGE_FAILED, STAGE_READY, ANY_REST },
	{ STAGE_CONFLICT, STAGE_DONE, STAGE_QUEUED, STAGE_RUNNING, STAGE_REWORK, STAGE_FAILED,
		STAGE_CANCELLED, STAGE_SKIPPED },
	{ STAGE_HELD, STAGE_WAITING, STAGE_APPROVAL, STAGE_READY, STAGE_CHECKING, STAGE_QUEUED, STAGE_QUOTA,
		STAGE_REWORK, STAGE_SKIPPED, STAGE_CANCELLED },
	{ STAGE_FAILED, STAGE_READY, STAGE_REWORK, STAGE_RUNNING, STAGE_CHECKING, STAGE_QUEUED, STAGE_SKIPPED,
		STAGE_CANCELLED },
	{ STAGE_SKIPPED, STAGE_WAITING, STAGE_CANCELLED },
	{ STAGE_CANCELLED, STAGE_WAITING, STAGE_READY, STAGE_REWORK, STAGE_RUNNING, STAGE_SKIPPED },
	{ STAGE_DONE },
};

bool stage_is(const struct stage_row *s, const char *state)
{
	return !strcmp(s->state, state);
}

bool stage_is_over(const struct stage_row *s)
{
	return stage_is(s, STAGE_DONE) || stage_is(s, STAGE_FAILED) || stage_is(s, STAGE_SKIPPED) ||
	       stage_is(s, STAGE_CANCELLED);
}

bool stage_satisfies(const struct stage_row *s)
{
	return stage_is(s, STAGE_DONE) || (stage_is(s, STAGE_SKIPPED) && s->satisfied);
}

bool stage_life_allows(const char *from, const char *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		if (strcmp(moves[i][0], from) != 0)
			continue;
		for (size_t j = 1; j < ARRAY_SIZE(moves[i]) && moves[i][j]; j++)
			if (!strcmp(moves[i][j], to))
				return true;
	}
	return false;
}

void stage_set(char **text, const char *value)
{
	char *old = *text;

	*text = xstrdup(value);
	free(old);
}

int stage_move(struct store *s, struct stage_row *r, const char *to, struct err *e, const char *note, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (!stage_life_allows(r->state, to))
		return err_set(e, ERR_REFUSED, "stage '%s' is %s", r->name, r->state);
	va_start(ap, note);
	vsnprintf(text, sizeof(text), note, ap);
	va_end(ap);
	stage_set(&r->note, text);
	stage_set(&r->state, to);
	r->slot &= !strcmp(to, STAGE_READY) || !strcmp(to, STAGE_RUNNING) || !strcmp(to, STAGE_CHECKING);
	if (!strcmp(to, STAGE_RUNNING) && !r->started)
		r->started = time(NULL);
	r->ended = stage_is_over(r) ? time(NULL) : 0;
	return store_stage_write(s, r, e);
}
