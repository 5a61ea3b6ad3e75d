#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cmd.h"
#include "cli/complete.h"
#include "cli/say.h"

/*
 * Each shell's script runs `garth completion SHELL WORD...` and uses its output: a line for each word to
 * offer, and perhaps a last line such as ":files" for what the shell itself completes. No word begins with
 * ":".
 */

/* Bash splits words at "=", so "--net=ho" arrives as three words and is joined again. */
static const char bash_script[] =
	"_garth() {\n"
	"	local words=() w line front= glue=\n"
	"	for w in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
	"		if [[ $w == = && ${words[${#words[@]}-1]-} == --* ]]; then words[${#words[@]}-1]+==; glue=1\n"
	"		elif [[ $glue ]]; then words[${#words[@]}-1]+=$w; glue=\n"
	"		else words+=(\"$w\"); fi\n"
	"	done\n"
	"	local cur=${words[${#words[@]}-1]}\n"
	"	if [[ $cur == --*=* && $COMP_WORDBREAKS == *=* ]]; then front=${cur%%=*}=; fi\n"
	"	COMPREPLY=()\n"
	"	while IFS= read -r line; do\n"
	"		case $line in\n"
	"		:files) compopt -o filenames 2>/dev/null\n"
	"			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"${cur#\"$front\"}\") ;;\n"
	"		:directories) compopt -o filenames 2>/dev/null\n"
	"			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"${cur#\"$front\"}\") ;;\n"
	"		:programs) compopt -o filenames 2>/dev/null\n"
	"			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\") ;;\n"
	"		*=) compopt -o nospace 2>/dev/null; COMPREPLY+=(\"${line#\"$front\"}\") ;;\n"
	"		*) COMPREPLY+=(\"${line#\"$front\"}\") ;;\n"
	"		esac\n"
	"	done < <(garth completion bash \"${words[@]}\" 2>/dev/null)\n"
	"}\n"
	"complete -F _garth garth\n";

/* zsh either autoloads this file, which runs its text as the function, or sources it. */
static const char zsh_script[] =
	"#compdef garth\n"
	"_garth() {\n"
	"	local line shell=\n"
	"	local -a offered more\n"
	"	for line in \"${(@f)$(garth completion zsh \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
	"		case $line in\n"
	"		:*) shell=$line ;;\n"
	"		*=) more=(-S ''); offered+=(\"$line\") ;;\n"
	"		?*) offered+=(\"$line\") ;;\n"
	"		esac\n"
	"	done\n"
	"	(($#offered)) && _describe garth offered \"${more[@]}\"\n"
	"	case $shell in\n"
	"	:files) _files ;;\n"
	"	:directories) _files -/ ;;\n"
	"	:programs) _command_names -e; _files ;;\n"
	"	esac\n"
	"}\n"
	"if [[ $funcstack[1] == _garth ]]; then _garth \"$@\"; else compdef _garth garth; fi\n";

static const char fish_script[] =
	"function __garth_complete\n"
	"	set -l before (commandline -opc)\n"
	"	set -l current (commandline -ct)\n"
	"	for line in (garth completion fish $before[2..-1] \"$current\" 2>/dev/null)\n"
	"		switch $line\n"
	"			case :files\n"
	"				__fish_complete_path \"$current\"\n"
	"			case :directories\n"
	"				__fish_complete_directories \"$current\"\n"
	"			case :programs\n"
	"				__fish_complete_command\n"
	"				__fish_complete_path \"$current\"\n"
	"			case '*'\n"
	"				echo $line\n"
	"		end\n"
	"	end\n"
	"end\n"
	"complete -c garth -f -a '(__garth_complete)'\n";

/* Bash puts a word into the command as it is, and names of branches and remotes may come from a repository that somebody
 * downloaded: "x;rm -rf ~" would be two commands. The other shells quote by themselves. */
static void bash_word(const char *word, const char *note)
{
	static const char special[] = " \t!\"#$&'()*;<>?[\\]^`{|}~";

	(void)note;
	for (; *word; word++)
		printf("%s%c", strchr(special, *word) ? "\\" : "", *word);
	putchar('\n');
}

/* "WORD:NOTE", with a backslash before colons in the word. */
static void zsh_word(const char *word, const char *note)
{
	for (; *word; word++)
		printf("%s%c", *word == ':' ? "\\" : "", *word);
	printf("%s%s\n", *note ? ":" : "", note);
}

static void fish_word(const char *word, const char *note)
{
	printf("%s%s%s\n", word, *note ? "\t" : "", note);
}

static const struct shell {
	const char *name, *script;
	void (*print)(const char *word, const char *note);
} shells[] = {
	{ "bash", bash_script, bash_word },
	{ "zsh", zsh_script, zsh_word },
	{ "fish", fish_script, fish_word },
	{ 0 },
};

static void print_completion(const struct shell *s, char **words, int n)
{
	auto_completion c = { 0 };

	complete(words, n, &c);
	for (size_t i = 0; i < c.words.n; i++)
		s->print(c.words.v[i], c.notes.v[i]);
	if (c.shell)
		printf(":%s\n", c.shell);
}

int cmd_completion(int argc, char **argv)
{
	const struct opt opts[] = { OPT_END };
	struct cmd_line l = { "completion", opts, 1, -1, true, 0, 0 };
	const struct shell *s = shells;
	struct err e = ERR_INIT;
	char meant[NEAREST_TEXT_MAX];
	char **words;

	CMD_PARSE(&l, argc, argv);
	words = argv + l.rest;
	while (s->name && strcmp(s->name, words[0]) != 0)
		s++;
	if (!s->name)
		return err_set(&e, ERR_USAGE, "completions exist for bash, zsh and fish, not for '%s'%s",
			       words[0],
			       nearest_of(words[0], (const char *const[]){ "bash", "zsh", "fish", NULL },
				       meant)),
		       say_error(&e);
	if (words[1])
		print_completion(s, words + 1, argc - l.rest - 1);
	else
		fputs(s->script, stdout);
	return 0;
}
