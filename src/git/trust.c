#include "git/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/shell_word.h"
#include "git/blocking_files.h"
#include "git/config_list.h"
#include "git/discover.h"

/* "section.…key", in lower case as git prints them. If there is a value, the setting matches only if its
 * value begins with it; "\n" matches a value with a line break, because in a list of URLs nobody can tell
 * where such a URL ends. */
static const struct {
	const char *section, *key, *value;
} risky[] = {
	/* settings that name programs */
	{ "core.", "sshcommand", NULL },
	{ "core.", "gitproxy", NULL },
	{ "core.", "askpass", NULL },
	{ "core.", "alternaterefscommand", NULL },
	{ "credential.", "helper", NULL },
	{ "gpg.", "program", NULL },
	{ "gpg.", "defaultkeycommand", NULL },
	{ "hook.", "command", NULL },
	{ "remote.", "uploadpack", NULL },
	{ "remote.", "receivepack", NULL },
	{ "remote.", "vcs", NULL },
	/* the protocol ext:: runs a program, and "protocol." can allow it */
	{ "protocol.", "allow", NULL },
	{ "remote.", "url", "ext::" },
	{ "remote.", "pushurl", "ext::" },
	{ "remote.", "url", "\n" },
	{ "remote.", "pushurl", "\n" },
	{ "url.ext::", "insteadof", NULL },
	{ "url.ext::", "pushinsteadof", NULL },
	/* settings that let others read the traffic, also passwords */
	{ "http.", "proxy", NULL },
	{ "remote.", "proxy", NULL },
	{ "http.", "sslverify", NULL },
	{ "http.", "sslcainfo", NULL },
	{ "http.", "sslcapath", NULL },
	{ "http.", "curloptresolve", NULL },
	{ "http.", "delegation", NULL },
	{ "http.", "emptyauth", NULL },
	{ "http.", "proxysslcainfo", NULL },
	/* settings that write passwords down, or let a server put lines into what helpers are told */
	{ "credential.", "trace", NULL },
	{ "credential.", "tracesecrets", NULL },
	{ "credential.", "tracemsauth", NULL },
	{ "credential.", "credentialstore", NULL },
	{ "credential.", "plaintextstorepath", NULL },
	{ "credential.", "gpgpassstorepath", NULL },
	{ "credential.", "protectprotocol", NULL },
	{ "credential.", "sanitizeprompt", NULL },
	/* settings that send the user's files, or overwrite them with the server's data */
	{ "http.", "cookiefile", NULL },
	{ "http.", "savecookies", NULL },
	{ "http.", "sslcert", NULL },
	{ "http.", "sslkey", NULL },
	{ "http.", "proxysslcert", NULL },
	{ "http.", "proxysslkey", NULL },
};

static bool is_risky(const char *key, size_t n, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(risky); i++) {
		size_t section = strlen(risky[i].section), last = strlen(risky[i].key);

		if (n < section + last || strncmp(key, risky[i].section, section) ||
			strncmp(key + n - last, risky[i].key, last) || key[n - last - 1] != '.')
			continue;
		if (!risky[i].value || !strncmp(value, risky[i].value, strlen(risky[i].value)) ||
			(risky[i].value[0] == '\n' && strchr(value, '\n')))
			return true;
	}
	return false;
}

static bool is_trusted(const struct buf *list, const char *place)
{
	static const char word[] = "garth.trust\n";
	const char *scope, *key, *value;
	size_t at = 0, n;

	while (config_next(list, &at, &scope, &key, &n, &value))
		if ((!strcmp(scope, "global") || !strcmp(scope, "system")) &&
			!strncmp(key, word, strlen(word)) && (!strcmp(value, place) || !strcmp(value, "*")))
			return true;
	return false;
}

static int hint_trust(const char *place, struct err *e)
{
	auto_str word = shell_quoted(place);

	return err_hint(e, "git config --global --add garth.trust %s", word);
}

int trust_check_list(const struct buf *list, const char *place, struct err *e)
{
	const char *scope, *key, *value;
	size_t at = 0, n;

	while (config_next(list, &at, &scope, &key, &n, &value)) {
		if (!config_is_own(scope) || !is_risky(key, n, value) || is_trusted(list, place))
			continue;
		err_set(e, ERR_REFUSED,
			"the configuration of '%s' itself sets %.*s, which is used only if the repository is trusted",
			place, (int)(n < 200 ? n : 200), key);
		return hint_trust(place, e);
	}
	return 0;
}

int trust_look(const struct repo *r, bool *ret_trusted, struct err *e)
{
	auto_buf list = BUF_INIT(4 << 20);

	if (config_list(r->git_dir, &list, e) < 0 || trust_check_list(&list, r->main_top, e) < 0)
		return -1;
	*ret_trusted = is_trusted(&list, r->main_top);
	return 0;
}

int trust_check(const struct repo *r, struct err *e)
{
	bool trusted;

	return trust_look(r, &trusted, e);
}

/* Whether there is a hook that git would run. The samples that git creates do not count. */
static bool has_hooks(const char *git_dir)
{
	auto_str hooks = path_join(git_dir, "hooks");
	DIR *d = opendir(hooks);
	struct dirent *ent;
	bool found = false;

	while (d && !found && (ent = readdir(d))) {
		size_t n = strlen(ent->d_name);

		found = ent->d_name[0] != '.' && (n < 7 || strcmp(ent->d_name + n - 7, ".sample") != 0) &&
			!faccessat(dirfd(d), ent->d_name, X_OK, 0);
	}
	if (d)
		closedir(d);
	return found;
}

/* "hook.NAME.command", a hook of newer gits that core.hooksPath does not switch off. */
static bool is_hook(const char *key, size_t n)
{
	static const char begin[] = "hook.", end[] = ".command";

	return n > strlen(begin) + strlen(end) && !strncmp(key, begin, strlen(begin)) &&
	       !strncmp(key + n - strlen(end), end, strlen(end));
}

/* Whether a repository has settings that run a program when somebody pushes to it. With updateInstead, git writes the
 * files of its checkout, and runs its filters. */
static bool names_program(const struct buf *list)
{
	static const char *const keys[] = { "core.hookspath\n", "core.alternaterefscommand\n",
		"core.fsmonitor\n", "uploadpack.packobjectshook\n",
		"receive.denycurrentbranch\nupdateinstead" };
	const char *scope, *key, *value;
	size_t at = 0, n;

	while (config_next(list, &at, &scope, &key, &n, &value)) {
		if (config_is_own(scope) && is_hook(key, n))
			return true;
		for (size_t i = 0; config_is_own(scope) && i < ARRAY_SIZE(keys); i++)
			if (!strncasecmp(key, keys[i], strlen(keys[i])))
				return true;
	}
	return false;
}

int trust_check_pushed(const struct repo *r, const char *place, bool *ret_trusted, struct err *e)
{
	auto_buf list = BUF_INIT(4 << 20);
	auto_discovered d = { 0 };

	*ret_trusted = false;
	if (!discover_at(place, &d))
		return 0;
	if (blocking_files_refuse(d.common, e) < 0 || blocking_files_refuse(d.git_dir, e) < 0 ||
		config_list(d.git_dir, &list, e) < 0)
		return -1;
	*ret_trusted = is_trusted(&list, place) || is_trusted(&list, r->main_top);
	if (*ret_trusted || (!has_hooks(d.common) && !names_program(&list)))
		return 0;
	err_set(e, ERR_REFUSED,
		"'%s', which would be pushed to, has hooks of its own: they run only if it is trusted",
		place);
	return hint_trust(place, e);
}

int trust_is_own(const struct repo *r, const char *wanted, bool *ret, struct err *e)
{
	auto_buf list = BUF_INIT(4 << 20);
	const char *scope, *key, *value;
	size_t at = 0, len, n = strlen(wanted);

	if (config_list(r->git_dir, &list, e) < 0)
		return -1;
	*ret = false;
	while (config_next(&list, &at, &scope, &key, &len, &value))
		if (!strncmp(key, wanted, n) && (key[n] == '\n' || !key[n]))
			*ret = config_is_own(scope);
	return 0;
}

int trust_check_outside(const struct repo *r, const char *what, struct err *e)
{
	auto_str top = NULL;
	auto_buf list = BUF_INIT(4 << 20);

	if (config_list(r->git_dir, &list, e) < 0)
		return -1;
	if (is_trusted(&list, r->main_top))
		return 0;
	err_set(e, ERR_REFUSED, "%s leads out of the repository, which is followed only if it is trusted",
		what);
	top = shell_quoted(r->main_top);
	return err_hint(e, "git config --global --add garth.trust %s", top);
}
