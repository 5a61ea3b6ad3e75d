/* Finds the programs of the user's that an agent's settings run: its hooks. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/settings.h"
#include "base/alloc.h"
#include "base/path.h"
#include "sys/fd.h"

#define FILE_BYTES  (1u << 20)
#define DEPTH_MAX   32
#define SCRIPTS_MAX 64

struct search {
	const char *home;
	struct strvec *ret;
};

/* Keys at the top of settings whose commands an agent runs by itself. Not those that print keys (apiKeyHelper). */
static bool is_of_hooks(const char *key)
{
	static const char *const names[] = { "hooks", "statusLine", "notify" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

static void add_path(const struct search *s, const char *word, size_t len)
{
	static const char *const homes[] = { "~/", "$HOME/", "${HOME}/" };
	auto_str text = xstrndup(word, len), path = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(homes) && !path; i++)
		if (!strncmp(text, homes[i], strlen(homes[i])))
			path = path_join(s->home, text + strlen(homes[i]));
	if (!path && *text == '/')
		path = steal_ptr(text);
	if (path && path_is_clean(path) && s->ret->n < SCRIPTS_MAX && !strvec_has(s->ret, path))
		strvec_push(s->ret, path);
}

/* Words of a shell's command line, as far as they are plain paths. */
static void in_command(const struct search *s, const char *text)
{
	static const char ends[] = " \t\r\n\"'`;|&()<>=,[]";

	while (*text) {
		size_t len;

		text += strspn(text, ends);
		len = strcspn(text, ends);
		if (len)
			add_path(s, text, len);
		text += len;
	}
}

static void in_tree(const struct search *s, const json_t *in, bool hooks, unsigned depth)
{
	const char *key;
	json_t *value;
	size_t i;

	if (depth > DEPTH_MAX)
		return;
	if (hooks && json_is_string(in))
		in_command(s, json_string_value(in));
	json_array_foreach(in, i, value) in_tree(s, value, hooks, depth + 1);
	json_object_foreach((json_t *)in, key, value)
		in_tree(s, value, hooks || (!depth && is_of_hooks(key)), depth + 1);
}

/* TOML: the lines of a table [hooks…], and `notify = […]`. */
static void in_lines(const struct search *s, char *text)
{
	char *save = NULL;
	bool hooks = false;

	for (char *l = strtok_r(text, "\r\n", &save); l; l = strtok_r(NULL, "\r\n", &save)) {
		l += strspn(l, " \t");
		if (*l == '[') {
			const char *name = l + strspn(l, "[ \t");

			hooks = !strncmp(name, "hooks", 5) && !isalnum((unsigned char)name[5]);
		} else if (*l != '#' && (hooks || !strncmp(l, "notify", 6))) {
			in_command(s, l);
		}
	}
}

static void in_file(const struct search *s, int user_home, const char *name, const char *path)
{
	auto_fd fd = openat(user_home, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	auto_buf text = BUF_INIT(FILE_BYTES);
	struct err ignored = ERR_INIT;
	json_t *tree;

	if (fd < 0 || read_rest(fd, &text, path, &ignored) < 0 || !text.len)
		return;
	tree = settings_parse(name, &text);
	if (tree)
		in_tree(s, tree, false, 0);
	else if (path_ends_in(name, ".toml"))
		in_lines(s, text.data);
	json_decref(tree);
}

void agent_scripts(const struct config_agent *a, const struct agent_env *env, int user_home, const char *home,
	struct strvec *ret)
{
	const struct search s = { home, ret };
	const struct strvec *lists[] = { &a->login, &a->settings };

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			const char *name = lists[k]->v[i];
			auto_str path = agent_users_path(a, env, name);

			if (path_ends_in(name, ".json") || path_ends_in(name, ".toml"))
				in_file(&s, user_home, name, path);
		}
}
