#include "cli/opt.h"

#include "base/alloc.h"
#include "base/nearest.h"

static const struct opt *by_name(const struct opt *o, const char *name, size_t len)
{
	for (; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct opt *by_letter(const struct opt *o, char letter)
{
	for (; o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static void set(const struct opt *o, const char *value)
{
	if (o->type == OPT_FLAG)
		*(bool *)o->value = true;
	else if (o->type == OPT_STR)
		*(const char **)o->value = value;
	else
		strvec_push(o->value, value);
}

static int unknown_option(const struct opt *opts, const char *word, size_t len, struct err *e)
{
	auto_str typed = xstrndup(word, len);
	struct nearest near = { .typed = typed };
	auto_str meant = NULL;

	nearest_try(&near, "help", strlen("help"));
	for (; opts->name; opts++)
		nearest_try(&near, opts->name, strlen(opts->name));
	meant = near.word ? xasprintf(" (is '--%s' meant?)", near.word) : xstrdup("");
	return err_set(e, ERR_USAGE, "unknown option '--%s'%s", typed, meant);
}

static int long_option(const struct opt *opts, int argc, char **argv, int *i, struct err *e)
{
	const char *word = argv[*i] + 2;
	size_t len = strcspn(word, "=");
	const struct opt *o = by_name(opts, word, len);

	if (!o)
		return unknown_option(opts, word, len, e);
	if (o->type == OPT_FLAG) {
		if (word[len])
			return err_set(e, ERR_USAGE, "option '--%s' takes no value", o->name);
		set(o, NULL);
	} else if (word[len]) {
		set(o, word + len + 1);
	} else if (*i + 1 < argc) {
		set(o, argv[++*i]);
	} else {
		return err_set(e, ERR_USAGE, "option '--%s' wants %s", o->name, o->arg);
	}
	return 0;
}

static int short_options(const struct opt *opts, int argc, char **argv, int *i, struct err *e)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = by_letter(opts, *p);

		if (!o)
			return err_set(e, ERR_USAGE, "unknown option '-%c'", *p);
		if (o->type == OPT_FLAG) {
			set(o, NULL);
			continue;
		}
		if (p[1])
			set(o, p + 1);
		else if (*i + 1 < argc)
			set(o, argv[++*i]);
		else
			return err_set(e, ERR_USAGE, "option '-%c' wants %s", o->letter, o->arg);
		break;
	}
	return 0;
}

int opt_parse(const struct opt *opts, int argc, char **argv, bool stop_at_word, int *ret_words, int *ret_rest,
	struct err *e)
{
	int words = 0, i = 0;

	for (; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (stop_at_word)
				break;
			argv[words++] = argv[i];
			continue;
		}
		if ((argv[i][1] == '-' ? long_option(opts, argc, argv, &i, e)
				       : short_options(opts, argc, argv, &i, e)) < 0)
			return -1;
	}
	*ret_words = words;
	*ret_rest = i;
	return 0;
}
