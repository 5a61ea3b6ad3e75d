#include "cli/help.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/alias.h"
#include "cli/say.h"

#define COLUMNS 79
#define LEFT    27 /* column of an option's text */

/* One row for each group of commands, with a command to copy. */
static const struct {
	const char *title, *example;
} groups[] = {
	[CMD_START] = { "Start a task", "garth run --task fix -- claude" },
	[CMD_WORK] = { "Work in a task", "garth shell fix" },
	[CMD_CONTROL] = { "Control a task", "garth answer fix \"use the old API\"" },
	[CMD_LOOK] = { "See what tasks do", "garth diff fix" },
	[CMD_TAKE] = { "Take the result", "garth merge fix" },
	[CMD_BACK] = { "Go back", "garth undo" },
	[CMD_CLEAN] = { "Clean up", "garth cleanup --merged" },
	[CMD_CARE] = { "Look after Garth", "garth doctor" },
};

/* Prints the text from column `at` on; further lines begin in the same column. */
static void print_wrapped(const char *text, int at)
{
	int column = at;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > at && column + 1 + len > COLUMNS) {
			printf("\n%*s", at, "");
			column = at;
		}
		column += printf("%s%.*s", column > at ? " " : "", len, text);
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_option(char letter, const char *name, const char *arg, const char *help)
{
	char left[64], dash[5] = "    ";

	if (letter)
		snprintf(dash, sizeof(dash), "-%c, ", letter);
	snprintf(left, sizeof(left), "  %s--%s%s%s", dash, name, arg ? " " : "", arg ? arg : "");
	printf("%-*s", LEFT, left);
	if (strlen(left) >= LEFT)
		printf("\n%*s", LEFT, "");
	print_wrapped(help, LEFT);
}

static void print_parts(const struct cmd *c)
{
	for (const struct cmd_part *p = c->parts; p && p->name; p++) {
		auto_str use = xasprintf("%s %s", p->name, p->words);

		printf("%s  %-28s%s\n", p == c->parts ? "\n" : "", use, p->brief);
	}
}

void help_command(const struct cmd *c, const struct cmd_line *l)
{
	struct opt *all = cmd_options(l->opts);
	auto_str also = alias_text(c);

	printf("garth %s%s%s\n\n%c%s%s.\n\n", c->name, *c->usage ? " " : "", c->usage, toupper(c->brief[0]),
		c->brief + 1, also);
	for (const struct opt *o = all; o->name; o++)
		print_option(o->letter, o->name, o->arg, o->help);
	print_option('h', "help", NULL, "print this text");
	free(all);
	print_parts(c);
	printf("\nExample:      garth %s\nThe manual:   man garth-%s\n", c->example, c->name);
}

static void print_command(const struct cmd *c)
{
	auto_str also = alias_text(c);

	printf("  %-12s%s%s\n", c->name, c->brief, also);
}

static void print_overview(void)
{
	puts("Run coding agents in walled git workspaces.\n\nusage: garth COMMAND [OPTIONS] [ARGUMENTS]");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		printf("\n%s, for example: %s\n", groups[g].title, groups[g].example);
		for (const struct cmd *c = commands; c->name; c++)
			if (c->group == g)
				print_command(c);
	}
	puts("\nMore on a command: garth help COMMAND, or man garth-COMMAND.\nThe overview: man garth.");
}

static json_t *alias_names(const struct cmd *c)
{
	json_t *names = json_array();

	for (const struct alias *a = aliases; a->name; a++)
		if (!strcmp(a->command, c->name))
			json_array_append_new(names, json_string(a->name));
	return names;
}

static void add_options(const struct cmd *c, const struct cmd_line *l, void *data)
{
	struct opt *all = cmd_options(l->opts);
	json_t *options = json_array();

	for (const struct opt *o = all; o->name; o++)
		json_array_append_new(
			options, json_pack("{s:s%, s:s, s:s?, s:s, s:b, s:b}", "letter", &o->letter,
					 o->letter ? 1 : 0, "name", o->name, "arg", o->arg, "help", o->help,
					 "many", o->type == OPT_LIST, "has_word", o->word != WORD_NONE));
	free(all);
	json_object_set_new(data, c->name,
		json_pack("{s:s, s:s, s:s, s:o, s:s, s:o}", "usage", c->usage, "brief", c->brief, "group",
			groups[c->group].title, "options", options, "example", c->example, "aliases",
			alias_names(c)));
}

/* For tools/make-man: every command with its options, in the order of their rows. */
static void print_tables(void)
{
	json_t *o = json_object();

	for (const struct cmd *c = commands; c->name; c++)
		cmd_look(c, add_options, o);
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

int cmd_help(int argc, char **argv)
{
	const struct opt opts[] = { OPT_END };
	struct cmd_line l = { "help", opts, 0, 1, false, 0, 0 };
	struct err e = ERR_INIT;
	const struct cmd *c;

	if (argc == 1 && !strcmp(argv[0], "--tables"))
		return print_tables(), 0;
	CMD_PARSE(&l, argc, argv);
	if (!l.words)
		return print_overview(), 0;
	c = cmd_find(argv[0]);
	if (!c)
		c = alias_find(argv[0], 0, NULL);
	if (!c)
		return cmd_refuse_unknown(argv[0], &e), say_error(&e);
	return c->run(1, (char *[]){ "--help", NULL });
}
