/*
 * What is shown of /etc: settings of programs, by name.
 *
 * The list is of what is shown, not of what is hidden. Files with passwords that everybody can read are common in
 * /etc: tokens in npmrc and pip.conf, proxies with passwords in environment and wgetrc, files of default and units
 * with secrets in variables, my.cnf, fstab, k3s.yaml. No list of exceptions would have all of them. The user can
 * show such a file with jail.allow_read.
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "task/walls_parts.h"

/* For login shells see walls_login.c. */
/* clang-format off */
const char *const walls_etc_names[] = {
	/* the C library and the linker */
	"gai.conf", "host.conf", "hosts", "ld-musl-*", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias",
	"locale.conf", "locale.gen", "localtime", "netconfig", "networks", "nsswitch.conf", "protocols", "rpc",
	"services", "ethertypes", "timezone", "xattr.conf",
	/* which system it is */
	"debian_version", "os-release", "lsb-release", "alpine-release", "arch-release", "centos-release",
	"fedora-release", "redhat-release", "system-release", "dpkg",
	/* certificates and cryptography */
	"ca-certificates", "ca-certificates.conf", "crypto-policies", "pki", "ssl/certs", "ssl/openssl.cnf",
	/* shells, terminals, editors, pages */
	"alternatives", "bash.bashrc", "bash_completion.d", "DIR_COLORS", "emacs", "inputrc", "nanorc", "screenrc",
	"shells", "terminfo", "tmux.conf", "vim", "groff", "man_db.conf", "manpath.config", "papersize", "login.defs",
	/* kinds of files */
	"magic", "magic.mime", "mailcap", "mime.types", "mke2fs.conf", "sgml", "xml",
	/* languages */
	"fpc.cfg", "fpc-*", "gdb", "gnucobol", "gprofng.rc", "java*", "maven", "mono", "octave*", "perl", "php*",
	"python3*", "R", "texmf",
	/* fonts, pictures, graphics */
	"dictionaries-common", "drirc", "fonts", "ghostscript", "glvnd", "gtk-2.0", "gtk-3.0", "ImageMagick-*",
	"OpenCL", "vulkan",
	NULL,
};
/* clang-format on */

/* Where links in /etc may lead: distributions keep their settings there. */
static const char *const homes[] = { "/etc", "/usr", "/nix/store", "/gnu/store" };

bool walls_etc_has(const char *path)
{
	for (size_t i = 0; walls_etc_names[i]; i++) {
		size_t n = strcspn(walls_etc_names[i], "*");

		if (!strncmp(path, "/etc/", 5) && !strncmp(path + 5, walls_etc_names[i], n) &&
			(walls_etc_names[i][n] || !path[5 + n] || path[5 + n] == '/'))
			return true;
	}
	return false;
}

/* Whether a real path is in /etc under a name of the list, or in another of the homes. */
static bool is_home(const char *real)
{
	for (size_t i = 1; i < ARRAY_SIZE(homes); i++)
		if (path_within(real, homes[i]))
			return true;
	return walls_etc_has(real);
}

static void offer(const char *name, void (*show)(const char *, bool, void *), void *arg)
{
	auto_str path = path_join("/etc", name), real = NULL;
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		real = canonicalize_file_name(path);
		if (!real || !is_home(real) || stat(real, &st) < 0)
			return;
	}
	if (S_ISREG(st.st_mode) && st.st_mode & S_IROTH)
		show(path, false, arg);
	else if (S_ISDIR(st.st_mode) && (st.st_mode & 05) == 05)
		show(path, true, arg);
}

/* The names with a star: one look into the directory for all of them. */
static void offer_many(void (*show)(const char *, bool, void *), void *arg)
{
	DIR *d = opendir("/etc");
	struct dirent *ent;

	while (d && (ent = readdir(d)))
		for (size_t i = 0; walls_etc_names[i]; i++) {
			size_t n = strcspn(walls_etc_names[i], "*");

			if (walls_etc_names[i][n] && !strncmp(ent->d_name, walls_etc_names[i], n)) {
				offer(ent->d_name, show, arg);
				break;
			}
		}
	if (d)
		closedir(d);
}

void walls_etc(void (*show)(const char *path, bool is_dir, void *arg), void *arg)
{
	for (size_t i = 0; walls_etc_names[i]; i++)
		if (!strchr(walls_etc_names[i], '*'))
			offer(walls_etc_names[i], show, arg);
	offer_many(show, arg);
}
