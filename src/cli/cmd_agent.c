/* garth agent: what garth knows of each agent, and whether it runs inside. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/path.h"
#include "base/table.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "runtime/try.h"
#include "task/also.h"
#include "task/program.h"

#define TEST_SECONDS 60
#define OUTPUT_MAX   (16u << 10)

/* One agent, as it is on this machine. */
struct found {
	const struct config_agent *agent;
	char *path;              /* its program; NULL: not installed */
	struct err refused;      /* why a task cannot be shown it, if it is installed */
	struct also also;        /* what a task is shown for it */
	struct strvec login;     /* its log-in files that the user has, with "~/" */
	struct strvec variables; /* its variables that the user has: names */
};

static void found_release(struct found *f)
{
	free(f->path);
	also_release(&f->also);
	strvec_release(&f->login);
	strvec_release(&f->variables);
}
#define auto_found __attribute__((cleanup(found_release))) struct found

static void find_login(const struct context *c, struct found *f)
{
	const struct agent_env env = { .users = environ };

	for (size_t i = 0; i < f->agent->login.n; i++) {
		auto_str own = agent_users_path(f->agent, &env, f->agent->login.v[i]);
		auto_str path = *own == '/' ? xstrdup(own) : path_join(c->user_home, own);

		if (access(path, R_OK))
			continue;
		if (*own == '/')
			strvec_push(&f->login, own);
		else
			strvec_pushf(&f->login, "~/%s", own);
	}
}

static void find(struct context *c, const struct config_agent *a, struct found *ret)
{
	const struct agent_env env = { .users = environ };

	ret->agent = a;
	for (size_t i = 0; i < a->programs.n && !ret->path; i++)
		ret->path = program_find(a->programs.v[i]);
	find_login(c, ret);
	for (char *const *p = environ; *p; p++)
		if (config_env_matches(&a->env, *p, strcspn(*p, "=")))
			strvec_pushn(&ret->variables, *p, strcspn(*p, "="));
	if (ret->path && !also_program(c, NULL, ret->path, &ret->also, &ret->refused))
		also_settings(c, NULL, a, &env, &ret->also);
}

static bool runs(const struct found *f)
{
	return f->path && f->refused.kind == ERR_NONE;
}

/* "log-in": where it would come from; "none" is not an error, since an agent may need none. */
static const char *login_text(const struct found *f)
{
	return f->login.n ? f->login.v[0] : f->variables.n ? f->variables.v[0] : "none";
}

static json_t *shown_json(const struct also *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(list, json_text(a->v[i].path));
	return list;
}

static json_t *words_json(const struct config_agent *a)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "prompt", json_list(&a->prompt), "headless",
		json_list(&a->headless), "resume", json_list(&a->resume), "resume_terminal",
		json_list(&a->resume_terminal));
}

static json_t *as_json(const struct found *f)
{
	return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "agent",
		json_text(f->agent->name), "programs", json_list(&f->agent->programs), "program",
		f->path ? json_text(f->path) : json_null(), "can_run", runs(f), "why",
		json_text(f->refused.kind ? f->refused.msg : ""), "shown_paths", shown_json(&f->also),
		"login_files", json_list(&f->login), "variables", json_list(&f->variables), "hosts",
		json_list(&f->agent->hosts), "quiet_hosts", json_list(&f->agent->quiet_hosts), "commands",
		words_json(f->agent));
}

static int list(struct context *c, bool json)
{
	static const struct table_column columns[] = { { "AGENT", 0, false, false },
		{ "PROGRAM", 20, false, false }, { "LOG-IN", 0, false, false } };
	struct table t = { columns, ARRAY_SIZE(columns), 0, false, NULL, NULL, NULL, 0 };
	auto_strvec lines = STRVEC_INIT;
	json_t *agents = json_array();

	for (size_t i = 0; i < c->config.nagents; i++) {
		auto_found f = { 0 };

		find(c, &c->config.agents[i], &f);
		json_array_append_new(agents, as_json(&f));
		table_add(&t,
			(const char *[]){ f.agent->name,
				!f.path          ? "not installed"
				: f.refused.kind ? "cannot be shown"
						 : f.path,
				login_text(&f) },
			(const char *[]){ NULL, NULL, NULL });
	}
	if (json)
		return table_release(&t), json_print(json_pack("{s:o}", "agents", agents));
	json_decref(agents);
	table_lines(&t, &lines);
	table_release(&t);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.v[i]);
	return 0;
}

static void print_list(const char *title, const struct strvec *v)
{
	auto_buf clean = BUF_INIT(1 << 16);

	for (size_t i = 0; i < v->n; i++) {
		printf("%-10s %s\n", i ? "" : title, say_one_line(&clean, v->v[i]));
		buf_reset(&clean);
	}
}

static void print_words(const char *title, const struct strvec *v)
{
	if (!v->n)
		return;
	printf("%-10s", title);
	for (size_t i = 0; i < v->n; i++)
		printf(" %s", v->v[i]);
	printf("\n");
}

static void print(const struct found *f)
{
	auto_strvec shown = STRVEC_INIT;

	printf("%-10s %s\n", "agent", f->agent->name);
	print_list("programs", &f->agent->programs);
	printf("%-10s %s\n", "installed", f->path ? f->path : "no");
	for (size_t i = 0; i < f->also.n; i++)
		strvec_push(&shown, f->also.v[i].path);
	print_list("shown", &shown);
	print_list("log-in", &f->login);
	print_list("variables", &f->variables);
	print_list("hosts", &f->agent->hosts);
	print_list("not told", &f->agent->quiet_hosts);
	print_words("prompt", &f->agent->prompt);
	print_words("headless", &f->agent->headless);
	print_words("resume", &f->agent->resume);
	print_words("on a tty", &f->agent->resume_terminal);
	if (f->refused.kind) {
		auto_buf clean = BUF_SMALL;

		say_warning("%s", say_one_line(&clean, f->refused.msg));
		if (*f->refused.hint)
			say_hint("%s", f->refused.hint);
	}
}

static void take(int fd, const char *data, size_t len, void *arg)
{
	(void)fd;
	buf_add(arg, data, len);
}

static int refuse(const struct found *f, struct err *e)
{
	if (f->refused.kind)
		return *e = f->refused, -1;
	return err_set(e, ERR_PROGRAM, "agent '%s' is not installed: there is no program '%s'",
		f->agent->name, f->agent->programs.n ? f->agent->programs.v[0] : f->agent->name);
}

/* Starts `PROGRAM --version` inside. */
static int test(struct context *c, const struct found *f, bool json, struct err *e)
{
	char *argv[] = { f->path, "--version", NULL };
	auto_buf out = BUF_INIT(OUTPUT_MAX), line = BUF_INIT(OUTPUT_MAX);
	const struct try_spec spec = { f->agent, argv, TEST_SECONDS, take, &out };
	json_t *answer;
	int code = 0, rc;

	if (!runs(f))
		return refuse(f, e), say_error(e);
	progress_begin("starting it inside");
	rc = runtime_try(c, &spec, &code, e);
	progress_end();
	if (rc < 0)
		return err_wrap(e, "agent '%s'", f->agent->name), say_error(e);
	while (out.len && strchr(" \t\r\n", out.data[out.len - 1]))
		buf_cut(&out, out.len - 1);
	say_one_line(&line, buf_str(&out) + strspn(buf_str(&out), " \t\r\n"));
	if (code) {
		err_set(e, ERR_FAILED, "'%s --version' fails inside with exit code %d: %.300s", f->path, code,
			buf_str(&line));
		return say_error(e);
	}
	if (json) {
		answer = as_json(f);
		json_object_set_new(answer, "agent_version", json_text(buf_str(&line)));
		return json_print(answer);
	}
	say_done("%s runs inside: %s", f->agent->name, buf_str(&line));
	if (!f->login.n && !f->variables.n)
		say_warning(
			"there is no log-in of %s: none of its files, none of its variables", f->agent->name);
	return 0;
}

int cmd_agent(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = { { 0, "json", OPT_FLAG, &json, NULL, "print JSON" }, OPT_END };
	struct cmd_line l = { "agent", opts, 1, 2, false, 0, 0 };
	const struct config_agent *a = NULL;
	auto_context c = { .home.fd = -1 };
	auto_found f = { 0 };
	struct err e = ERR_INIT;
	bool tests, shows, lists;

	CMD_PARSE(&l, argc, argv);
	tests = !strcmp(argv[0], "test");
	shows = !strcmp(argv[0], "show");
	lists = !strcmp(argv[0], "ls");
	if (!tests && !shows && !lists)
		return err_set(&e, ERR_USAGE, "'%s' is neither ls, show nor test", argv[0]), say_error(&e);
	if ((l.words == 1) != lists)
		return err_set(&e, ERR_USAGE, lists ? "ls takes no name" : "which agent is meant?"),
		       err_hint(&e, lists ? "garth agent ls" : "garth agent %s claude", argv[0]),
		       say_error(&e);
	if ((tests ? context_open : context_open_to_look)(&c, &e) < 0)
		return say_error(&e);
	if (lists)
		return list(&c, json);
	if (config_agent_find(&c.config, argv[1], &a, &e) < 0)
		return say_error(&e);
	find(&c, a, &f);
	if (tests)
		return test(&c, &f, json, &e);
	if (json)
		return json_print(as_json(&f));
	print(&f);
	return 0;
}
