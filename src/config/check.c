#include "config/check.h"

#include "base/alloc.h"
#include "base/hosts.h"
#include "base/name.h"
#include "base/path.h"

/* Directories with secrets, relative to the home, with a leading slash. */
static const char *const secret_dirs[] = {
	"/.ssh",
	"/.gnupg",
	"/.pki",
	"/.aws",
	"/.azure",
	"/.oci",
	"/.config/gcloud",
	"/.config/doctl",
	"/.kube",
	"/.docker",
	"/.config/containers",
	"/.config/gh",
	"/.config/glab-cli",
	"/.config/hub",
	"/.password-store",
	"/.local/share/keyrings",
	"/.config/op",
	"/.config/sops",
	"/.config/age",
	"/.terraform.d",
	"/.hex",
	"/.local/share/uv/credentials",
	"/.dotnet/corefx",
	"/.foundry/keystores",
	"/.julia/servers",
	"/.mozilla",
	"/.thunderbird",
	"/.config/google-chrome",
	"/.config/chromium",
	"/.cache/mozilla",
	"/.cache/thunderbird",
	"/.cache/google-chrome",
	"/.cache/chromium",
	"/.cache/huggingface/stored_tokens",
	"/.garth",
};
static const char *const secret_files[] = {
	"/.netrc",
	"/.git-credentials",
	"/.config/git/credentials",
	"/.vault-token",
	"/.npmrc",
	"/.pypirc",
	"/.cargo/credentials",
	"/.cargo/credentials.toml",
	"/.gem/credentials",
	"/.composer/auth.json",
	"/.config/composer/auth.json",
	"/.m2/settings.xml",
	"/.m2/settings-security.xml",
	"/.gradle/gradle.properties",
	"/.ivy2/.credentials",
	"/.sbt/.credentials",
	"/.cache/huggingface/token",
	"/.bash_history",
	"/.zsh_history",
};

/* Devices, the kernel's files, and sockets: a read-only mount does not prevent connect(). */
static const char *const never[] = { "/proc", "/sys", "/dev", "/run", "/var/run" };

/* Not as a whole; paths below them are allowed. */
static const char *const too_much[] = { "/home", "/root", "/etc", "/tmp", "/var/tmp", "/var/lib" };

static const char *relative(const char *path, char **ret_absolute)
{
	auto_str absolute = xasprintf("/%s", path);

	if (!*path || *path == '/' || *path == '~')
		return "is not a path relative to the home";
	if (!path_is_clean(absolute))
		return "is not a plain path: no '.', no '..', no empty part, no slash at the end";
	*ret_absolute = steal_ptr(absolute);
	return NULL;
}

/* Whether `path` is one of the paths or above one. */
static bool holds_one(const char *path, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_within(paths[i], path))
			return true;
	return false;
}

/* Whether `path` is one of the paths or below one. */
static bool is_in_one(const char *path, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_within(path, paths[i]))
			return true;
	return false;
}

static bool touches_secrets(const char *path)
{
	return holds_one(path, secret_dirs, ARRAY_SIZE(secret_dirs)) ||
	       holds_one(path, secret_files, ARRAY_SIZE(secret_files)) ||
	       is_in_one(path, secret_dirs, ARRAY_SIZE(secret_dirs));
}

void check_secret_places(const char *home, struct strvec *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(secret_dirs); i++)
		strvec_pushf(ret, "%s%s", home, secret_dirs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(secret_files); i++)
		strvec_pushf(ret, "%s%s", home, secret_files[i]);
}

bool check_names_secret(const char *path)
{
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		if (is_in_one(p, secret_dirs, ARRAY_SIZE(secret_dirs)) ||
			is_in_one(p, secret_files, ARRAY_SIZE(secret_files)))
			return true;
	return false;
}

const char *check_tool(const char *path)
{
	auto_str absolute = NULL;
	const char *wrong = relative(path, &absolute);

	if (wrong)
		return wrong;
	return touches_secrets(absolute) ? "holds keys or log-ins" : NULL;
}

const char *check_cache(const char *path)
{
	if (strncmp(path, "~/", 2) != 0)
		return "is not a directory under the home, as in ~/.cache/pip";
	/* its layer has its name, in which some bytes take three */
	return strlen(path) > 80 ? "is too long" : check_tool(path + 2);
}

const char *check_login(const char *path)
{
	auto_str absolute = NULL;
	const char *wrong = relative(path, &absolute);

	if (wrong)
		return wrong;
	/* naming one file with secrets is a decision; naming a directory that happens to have some is an
	 * accident */
	if (is_in_one(absolute, secret_files, ARRAY_SIZE(secret_files)))
		return NULL;
	return holds_one(absolute, secret_dirs, ARRAY_SIZE(secret_dirs)) ||
			       holds_one(absolute, secret_files, ARRAY_SIZE(secret_files))
		       ? "holds keys and log-ins of other programs"
		       : NULL;
}

/* The path without the home, in the form of the lists above; NULL if it is not below the home. */
static const char *beneath_home(const char *path, const char *home)
{
	size_t n = strlen(home);

	while (n > 1 && home[n - 1] == '/')
		n--;
	return n > 1 && path_within(path, home) ? path + n : NULL;
}

const char *check_allow_read(const char *path, const char *home)
{
	const char *in_home = home ? beneath_home(path, home) : NULL;

	if (!path_is_clean(path))
		return "is not a plain absolute path: no '.', no '..', no empty part, no slash at the end";
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (path_within(path, never[i]) || path_within(never[i], path))
			return "has devices, sockets or files of the kernel in it";
	for (size_t i = 0; i < ARRAY_SIZE(too_much); i++)
		if (path_within(too_much[i], path))
			return "shows too much; name what is needed in it";
	if (home && *home == '/' && path_within(home, path))
		return "shows the whole home; name what is needed in it";
	if (in_home && touches_secrets(in_home))
		return "holds keys or log-ins";
	return NULL;
}

const char *check_deny(const char *glob)
{
	auto_str path = xstrdup(glob);
	size_t n = strlen(path);

	if (n > 3 && !strcmp(path + n - 3, "/**"))
		path[n - 3] = '\0';
	if (!path_is_clean(path))
		return "is not a plain absolute path: no '.', no '..', no empty part, no slash at the end";
	return strcspn(path, "*?[\\") < (size_t)(path_base(path) - path)
		       ? "has a wildcard before its last part, which is for paths in the workspace only"
		       : NULL;
}

const char *check_variable(const char *name)
{
	size_t n = strlen(name);

	if (n && name[n - 1] == '*')
		n--;
	return name_is_variable(name, n) ? NULL : "is not the name of a variable";
}

const char *check_program(const char *name)
{
	return *name && !strchr(name, '/') ? NULL : "is not the name of a program, without directories";
}

const char *check_command(const char *program)
{
	const char *path = strncmp(program, "~/", 2) ? program : program + 1;

	if (!*program || (*path != '/' && (strchr(path, '/') || *path == '-')))
		return "is neither the name of a program nor an absolute path";
	return *path == '/' && !path_is_clean(path)
		       ? "is not a plain path: no '.', no '..', no empty part, no slash at the end"
		       : NULL;
}

const char *check_glob(const char *glob)
{
	/* a leading slash ties the glob to the root, a final one means "directory": neither is an empty
	 * component */
	auto_str absolute = xasprintf("/%s", *glob == '/' ? glob + 1 : glob);
	size_t n = strlen(absolute);

	if (n > 2 && absolute[n - 1] == '/')
		absolute[n - 1] = '\0';
	if (!absolute[1] || !path_is_clean(absolute))
		return "is not a glob over paths in the repository: no '.', no '..', no empty part";
	for (const char *c = glob; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "has a control character in it";
	return n > 1024 ? "is too long" : NULL;
}

const char *check_input(const char *path)
{
	auto_str absolute = xasprintf("/%s", path);

	if (!*path || *path == '/' || !path_is_clean(absolute))
		return "is not a path in the repository: no '.', no '..', no empty part, no slash at the end";
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "has a control character in it";
	return strlen(path) > 1024 ? "is too long" : NULL;
}

const char *check_pattern(const char *pattern)
{
	if (!*pattern)
		return "is empty";
	if (strchr(pattern, '\n'))
		return "has a line break";
	for (const char *part = pattern + (*pattern == '!'); part; part = strchr(part, '/')) {
		part += *part == '/';
		if (part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/'))
			return "leads out of the repository";
	}
	return *pattern == '#' ? "is a comment in the syntax of .gitignore" : NULL;
}

const char *check_person(const char *person)
{
	static const char wrong[] = "is not of the form 'Name <mail>'";
	const char *open = strchr(person, '<'), *close = strchr(person, '>');

	if (!open || open < person + 2 || open[-1] != ' ' || *person == ' ' || open[-2] == ' ')
		return wrong;
	if (!close || close < open + 2 || close[1] || strchr(open + 1, '<') || strpbrk(open, " \t"))
		return wrong;
	return person[strcspn(person, "\n\r")] ? wrong : NULL;
}

const char *check_verb(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name) && *name != '-'
		       ? NULL
		       : "is not the name of a git command";
}

const char *check_host(const char *entry)
{
	struct err e = ERR_INIT;

	return hosts_check(entry, &e) < 0
		       ? "is not a host: name, *.name or address is meant, perhaps with :port"
		       : NULL;
}

const char *check_setting(const char *pair)
{
	size_t n = strcspn(pair, "=");

	return pair[n] && name_is_variable(pair, n) ? NULL : "is not a variable and its value, NAME=VALUE";
}

const char *check_file(const char *entry)
{
	static const char etc[] = "/etc/";
	size_t n = strcspn(entry, "=");
	auto_str path = xstrndup(entry, n);
	const char *name = path + strlen(etc);

	if (!entry[n])
		return "is not a path and a text, /etc/DIR/NAME=TEXT or ~/NAME=TEXT";
	if (!strncmp(path, "~/", 2))
		return check_tool(path + 2);
	if (strncmp(path, etc, strlen(etc)) != 0 || !strchr(name, '/'))
		return "is neither in a directory below /etc nor below ~";
	return path_is_clean(path) ? NULL : "is not a plain path";
}

const char *check_shown(const char *path)
{
	size_t n = strlen(path);
	auto_str dir = xstrndup(path, n > 1 && path[n - 1] == '/' ? n - 1 : n);

	return check_tool(dir);
}

const char *check_dir(const char *entry)
{
	size_t n = strcspn(entry, "="), name = strcspn(entry, "/=");
	auto_str sub = NULL, absolute = NULL;
	const char *wrong;

	if (!entry[n] || !name_is_variable(entry, name))
		return "is not a variable and a path, VARIABLE=PATH";
	sub = xstrndup(entry + name + (entry[name] == '/'), n - name - (entry[name] == '/'));
	if (entry[name] == '/') {
		wrong = relative(sub, &absolute);
		if (wrong)
			return wrong;
		free(steal_ptr(absolute));
	}
	return relative(entry + n + 1, &absolute);
}
