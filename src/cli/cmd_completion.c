#include <stdio.h>

#include "cli/cmd.h"
#include "cli/say.h"

static void names(const char *separator)
{
	for (const struct cmd *c = commands; c->name; c++)
		printf("%s%s", c == commands ? "" : separator, c->name);
}

static void bash(void)
{
	puts("_garth() {\n"
	     "	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]}\n"
	     "	if ((COMP_CWORD == 1)); then");
	printf("		COMPREPLY=($(compgen -W '");
	names(" ");
	puts("' -- \"$cur\"))\n"
	     "	elif [[ $cur == -* ]]; then\n"
	     "		COMPREPLY=($(compgen -W \"$(garth \"$cmd\" --help 2>/dev/null | grep -oE -e '--[a-z-]+')\" -- \"$cur\"))\n"
	     "	else\n"
	     "		COMPREPLY=($(compgen -W \"$(garth ls 2>/dev/null | awk 'NR > 1 { print $1 }')\" -- \"$cur\"))\n"
	     "	fi\n"
	     "}\n"
	     "complete -o default -F _garth garth");
}

static void zsh(void)
{
	puts("#compdef garth\n_garth() {\n	if ((CURRENT == 2)); then");
	printf("		compadd ");
	names(" ");
	puts("\n	else\n"
	     "		compadd $(garth ls 2>/dev/null | awk 'NR > 1 { print $1 }')\n"
	     "		compadd -- $(garth $words[2] --help 2>/dev/null | grep -oE -e '--[a-z-]+')\n"
	     "		_files\n	fi\n}\ncompdef _garth garth");
}

static void fish(void)
{
	for (const struct cmd *c = commands; c->name; c++)
		printf("complete -c garth -n __fish_use_subcommand -a %s -d '%s'\n", c->name, c->brief);
	puts("complete -c garth -n 'not __fish_use_subcommand' -a \"(garth ls 2>/dev/null | awk 'NR > 1 { print \\$1 }')\"");
}

int cmd_completion(int argc, char **argv)
{
	const struct opt opts[] = { OPT_END };
	struct cmd_line l = { "completion", opts, 1, 1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (!strcmp(argv[0], "bash"))
		bash();
	else if (!strcmp(argv[0], "zsh"))
		zsh();
	else if (!strcmp(argv[0], "fish"))
		fish();
	else
		return err_set(&e, ERR_USAGE, "completions exist for bash, zsh and fish, not for '%s'",
			       argv[0]),
		       say_error(&e);
	return 0;
}
