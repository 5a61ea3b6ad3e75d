/* Any text as the repository's file, over any text as the user's: the rules never get looser. The two are
 * separated by a line "%%". */
#include <stdint.h>

#include "base/alloc.h"
#include "config/config.h"
#include "config/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t rank(const char *const *choices, const char *value)
{
	size_t i = 0;

	while (choices[i] && strcmp(choices[i], value))
		i++;
	return i;
}

static bool is_looser(const struct value_row *row, const void *before, const void *after)
{
	uint64_t a = row->type == VALUE_BOOL || row->type == VALUE_CHOICE ? 0 : *(const uint64_t *)before,
		 b = row->type == VALUE_BOOL || row->type == VALUE_CHOICE ? 0 : *(const uint64_t *)after;

	switch (row->repository) {
	case REPOSITORY_LOWERS:
		return b > a;
	case REPOSITORY_LIMITS:
		return a ? !b || b > a : row->cap && b;
	case REPOSITORY_STRICTER:
		return rank(row->choices, *(char *const *)after) > rank(row->choices, *(char *const *)before);
	case REPOSITORY_TRUE:
		return *(const bool *)before && !*(const bool *)after;
	case REPOSITORY_FALSE:
		return !*(const bool *)before && *(const bool *)after;
	default:
		return false;
	}
}

/* What only the user's file has is the same afterwards. */
static void check(const struct config *user, const struct config *c)
{
	for (const struct value_row *row = config_value_rows; row->key; row++)
		if (row->repository != REPOSITORY_REFUSED &&
			is_looser(row, (const char *)user + row->offset, (const char *)c + row->offset))
			abort();
	if (c->tools.n != user->tools.n || c->env.n != user->env.n || c->allow_read.n != user->allow_read.n ||
		c->net_allow.n != user->net_allow.n || c->policy.allow.n != user->policy.allow.n ||
		c->nagents != user->nagents || c->notify.command.n != user->notify.command.n ||
		c->policy.protect.n < user->policy.protect.n || c->log_size != user->log_size)
		abort();
	for (size_t i = user->noperations; i < c->noperations; i++)
		if (strcmp(c->operations[i].rule, "blocked") != 0)
			abort();
	for (size_t i = 0; i < c->nasks; i++)
		if (!*c->asks[i].exact || strchr(c->asks[i].exact, '\n'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "%%\n";
	const char *text = (const char *)data, *split = memmem(text, size, mark, strlen(mark));
	const char *second = split ? split + strlen(mark) : text;
	size_t first_len = split ? (size_t)(split - text) : 0;
	auto_config user = { 0 }, c = { 0 };
	struct err e = ERR_INIT;

	config_defaults(&user);
	config_defaults(&c);
	if (config_apply(&user, text, first_len, "u", &e) < 0 ||
		config_apply(&c, text, first_len, "u", &e) < 0)
		return 0;
	if (!config_apply_repository(&c, second, size - (size_t)(second - text), "r", &e))
		check(&user, &c);
	else if (e.kind != ERR_CONFIG || strncmp(e.msg, "r:", 2) || strchr(e.msg, '\n'))
		abort();
	return 0;
}
