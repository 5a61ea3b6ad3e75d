/* The lists of what every task is shown of the host, and what is hidden in it. */
#include "base/path.h"
#include "task/walls_parts.h"

/* Programs and libraries, read-only. Links stay links. */
const char *const walls_system_paths[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/opt", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew", NULL };

/* Of /etc, what programs need and what says nothing about the user: directories are bound, … Login shells
 * have walls_login.c. */
const char *const walls_etc_dirs[] = { "alternatives", "ca-certificates", "crypto-policies", "fonts", "java",
	"java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "ld.so.conf.d", "maven", "perl", "pki",
	"python3", "python3.11", "python3.12", "python3.13", "ssl/certs", "terminfo", "vim", NULL };

/* … small files are copied, because the host replaces them by renaming, which would drop a mount. */
const char *const walls_etc_files[] = { "bash.bashrc", "ca-certificates.conf", "debian_version", "gai.conf",
	"host.conf", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "locale.alias", "localtime", "magic",
	"mime.types", "nsswitch.conf", "os-release", "protocols", "redhat-release", "services", "shells",
	"ssl/openssl.cnf", "timezone", NULL };

bool hidden_beneath(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(h->paths[i], path))
			return true;
	return false;
}

bool is_hidden(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++)
		if (path_within(path, h->paths[i]))
			return true;
	return false;
}
