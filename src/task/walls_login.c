/* Login shells set PATH again (/etc/profile). Files that Garth adds to /etc put the task's PATH in front of
 * it. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"
#include "task/walls_parts.h"

#define PROFILE_D      "/etc/profile.d"
#define PROFILE_D_MAX  256
#define PROFILE_BYTES  (1u << 20)
#define AFTER_PROFILES "zzz-garth.sh"

/* For all Bourne-like shells, zsh too. Idempotent: what the profiles added comes after it. GARTH_PATH is
 * the PATH of `garth exec`, which may differ from that of `garth run`; without it, the PATH in the file is
 * used. */
static const char sh_rest[] = "\n[ -z \"${GARTH_PATH-}\" ] || garth_path=$GARTH_PATH\n"
			      "garth_rest=${PATH-}:\n"
			      "while [ -n \"$garth_rest\" ]; do\n"
			      "\tgarth_dir=${garth_rest%%:*}\n"
			      "\tgarth_rest=${garth_rest#*:}\n"
			      "\tcase \":$garth_path:\" in\n"
			      "\t*\":$garth_dir:\"*) ;;\n"
			      "\t*) [ -z \"$garth_dir\" ] || garth_path=\"${garth_path}:${garth_dir}\" ;;\n"
			      "\tesac\n"
			      "done\n"
			      "PATH=$garth_path\n"
			      "export PATH\n"
			      "unset garth_path garth_rest garth_dir\n";

/* Every fish reads this file, but only a login shell has a new PATH. */
static const char fish_first[] = "if status --is-login\n\tset -l garth_path (string split : -- ";
static const char fish_rest[] = ")\n"
				"\tset -q GARTH_PATH; and set garth_path (string split : -- $GARTH_PATH)\n"
				"\tfor dir in $PATH\n"
				"\t\tcontains -- $dir $garth_path; or set -a garth_path $dir\n"
				"\tend\n"
				"\tset -gx PATH $garth_path\n"
				"end\n";

/* One word in single quotes. A quote in it is written '\'' for the shell and \' for fish. */
void login_quote(struct buf *out, const char *text, bool fish)
{
	buf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_addstr(out, fish ? "\\'" : "'\\''");
		else if (*text == '\\' && fish)
			buf_addstr(out, "\\\\");
		else
			buf_addch(out, *text);
	}
	buf_addch(out, '\'');
}

void login_script(const char *path, bool fish, struct buf *out)
{
	buf_addstr(out, fish ? fish_first : "garth_path=");
	login_quote(out, path, fish);
	buf_addstr(out, fish ? fish_rest : sh_rest);
}

static bool is_small_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size <= PROFILE_BYTES;
}

/* Copies the host's files: a file cannot be added to a directory that is mounted read-only. */
static void copy_profiles(struct jail *j)
{
	DIR *d = opendir(PROFILE_D);
	struct dirent *ent;

	for (size_t n = 0; d && n < PROFILE_D_MAX && (ent = readdir(d)); n++) {
		auto_str path = path_join(PROFILE_D, ent->d_name);

		if (strcmp(ent->d_name, AFTER_PROFILES) != 0 && is_small_file(path))
			jail_add(j, JAIL_COPY, JAIL_OPTIONAL, path, path);
	}
	if (d)
		closedir(d);
}

/* The host's /etc/profile as it is if it reads profile.d, else with a line added that does. */
static void add_profile(struct jail *j)
{
	static const char line[] = "\n. " PROFILE_D "/" AFTER_PROFILES "\n";
	auto_buf text = BUF_INIT(PROFILE_BYTES + sizeof(line));
	struct err ignored = ERR_INIT;

	if (is_small_file("/etc/profile"))
		read_file(AT_FDCWD, "/etc/profile", &text, &ignored);
	if (!strstr(buf_str(&text), PROFILE_D))
		buf_addstr(&text, line);
	jail_add(j, JAIL_DATA, 0, buf_str(&text), "/etc/profile");
}

void walls_login(struct jail *j, const char *path)
{
	/* Debian and Arch have zsh's files in /etc/zsh, others in /etc */
	static const char *const zsh[] = { "/etc/zsh/zprofile", "/etc/zprofile" };
	auto_buf sh = BUF_INIT(LOGIN_SCRIPT_MAX), fish = BUF_INIT(LOGIN_SCRIPT_MAX);

	login_script(path, false, &sh);
	login_script(path, true, &fish);
	add_profile(j);
	copy_profiles(j);
	jail_add(j, JAIL_DATA, 0, buf_str(&sh), PROFILE_D "/" AFTER_PROFILES);
	for (size_t i = 0; i < ARRAY_SIZE(zsh); i++)
		jail_add(j, JAIL_DATA, 0, buf_str(&sh), zsh[i]);
	jail_add(j, JAIL_DATA, 0, buf_str(&fish), "/etc/fish/conf.d/garth.fish");
}
