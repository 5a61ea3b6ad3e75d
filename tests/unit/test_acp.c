#include "scratch.h"

#include <string.h>
#include <unistd.h>

#include "acp/capabilities.h"
#include "acp/lines.h"
#include "acp/paths.h"
#include "acp/pending.h"
#include "acp/rewrite.h"
#include "acp/rpc.h"
#include "acp/shown.h"
#include "base/alloc.h"
#include "base/buf.h"

/* JSON with ' for ". */
static json_t *json(const char *text)
{
	auto_str copy = xstrdup(text);
	json_t *ret;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	ret = json_loads(copy, JSON_DECODE_ANY, NULL);
	if (!ret)
		fail_msg("no JSON: %s", copy);
	return ret;
}

static void assert_json(json_t *got, const char *want)
{
	auto_str text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);
	json_t *expected = json(want);
	bool same = json_equal(got, expected);

	json_decref(expected);
	if (!same)
		fail_msg("%s\nis not\n%s", text, want);
}

static void assert_becomes(json_t *got, const char *want)
{
	assert_json(got, want);
	json_decref(got);
}

struct seen {
	struct buf all;
	size_t too_long;
};

static void see(char *line, size_t len, void *arg)
{
	struct seen *s = arg;

	s->too_long += !line;
	if (line)
		buf_printf(&s->all, "[%.*s]", (int)len, line);
}

static void lines_come_in_any_pieces(void **state)
{
	static const char text[] = "one\ntwo \r\n\n \nthree\nhalf";

	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		struct line_splitter l = LINES_INIT;
		struct seen s = { .all = BUF_SMALL };

		for (size_t at = 0; at < sizeof(text) - 1; at += step) {
			size_t left = sizeof(text) - 1 - at;

			lines_feed(&l, text + at, left < step ? left : step, see, &s);
		}
		assert_string_equal(buf_str(&s.all), "[one][two][three]");
		buf_release(&s.all);
		lines_release(&l);
	}
}

static void a_line_without_end_is_skipped(void **state)
{
	struct line_splitter l = LINES_INIT;
	struct seen s = { .all = BUF_SMALL };
	static char piece[1 << 20];

	(void)state;
	memset(piece, 'x', sizeof(piece));
	for (size_t i = 0; i < 2 * LINE_MAX_BYTES / sizeof(piece); i++)
		lines_feed(&l, piece, sizeof(piece), see, &s);
	assert_true(l.buf.cap <= LINE_MAX_BYTES * 2);
	lines_feed(&l, "y\nnext\n", 7, see, &s);
	assert_int_equal(s.too_long, 1);
	assert_string_equal(buf_str(&s.all), "[next]");
	buf_release(&s.all);
	lines_release(&l);
}

/* The text comes from the heap, so that a sanitizer sees a read beyond its end. */
static int read_line(const char *text, size_t len, struct rpc *m, char why[RPC_WHY_MAX])
{
	auto_str copy = xstrndup(text, len);

	return rpc_read(copy, len, m, why);
}

static void assert_kind(const char *text, int kind)
{
	char why[RPC_WHY_MAX] = "";
	auto_rpc m = { 0 };
	int rc = read_line(text, strlen(text), &m, why);

	if (kind < 0)
		assert_int_equal(rc, -1);
	else
		assert_int_equal(rc < 0 ? -1 : (int)m.kind, kind);
}

static void messages_are_of_three_kinds_or_refused(void **state)
{
	(void)state;
	assert_kind("{\"id\":1,\"method\":\"a\"}", RPC_REQUEST);
	assert_kind("{\"id\":\"x\",\"method\":\"a\",\"params\":{}}", RPC_REQUEST);
	assert_kind("{\"method\":\"a\",\"params\":null}", RPC_NOTIFICATION);
	assert_kind("{\"id\":1,\"result\":null}", RPC_ANSWER);
	assert_kind("{\"id\":1,\"result\":{},\"error\":null}", RPC_ANSWER);
	assert_kind("{\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}", RPC_ANSWER);
	assert_kind("{\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"m\"}}", -1);
	assert_kind("{\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"m\"}}", -1);
	assert_kind("{\"id\":1,\"error\":\"m\"}", -1);
	assert_kind("{\"id\":1}", -1);
	assert_kind("{\"id\":null,\"method\":\"a\"}", -1);
	assert_kind("{\"id\":1.5,\"method\":\"a\"}", -1);
	assert_kind("{\"id\":{},\"method\":\"a\"}", -1);
	assert_kind("{\"id\":1,\"method\":\"a\",\"params\":[]}", -1);
	assert_kind("{\"id\":1,\"method\":\"\"}", -1);
	assert_kind("{\"id\":1,\"method\":\"a\\u0000b\"}", -1);
	assert_kind("{\"id\":1,\"method\":\"a\",\"method\":\"b\"}", -1);
	assert_kind("[{\"id\":1,\"method\":\"a\"}]", -1);
	assert_kind("{\"id\":1,\"method\":\"a\"", -1);
	assert_kind("", -1);
}

static void bombs_are_refused_before_they_are_parsed(void **state)
{
	auto_buf deep = BUF_INIT(1 << 20), wide = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < 200; i++)
		buf_addch(&deep, '[');
	assert_kind(deep.data, -1);
	buf_addstr(&wide, "{\"method\":\"a\",\"params\":{\"a\":[");
	for (size_t i = 0; i < 150000; i++)
		buf_addstr(&wide, "1,");
	buf_addstr(&wide, "1]}}");
	assert_kind(wide.data, -1);
}

static void assert_mended(const char *text, const char *want)
{
	auto_str copy = xstrdup(text);

	rpc_mend_surrogates(copy, strlen(copy));
	assert_string_equal(copy, want);
}

static void half_characters_are_mended(void **state)
{
	(void)state;
	assert_mended("\\ud83c\\udf33", "\\ud83c\\udf33");
	assert_mended("\\uD83C\\uDF33", "\\uD83C\\uDF33");
	assert_mended("\\ud83c", "\\ufffd");
	assert_mended("\\ud83cx", "\\ufffdx");
	assert_mended("\\udf33", "\\ufffd");
	assert_mended("\\ud83c\\ud83c\\udf33", "\\ufffd\\ud83c\\udf33");
	assert_mended("\\\\ud83c", "\\\\ud83c");
	assert_mended("\\ud83", "\\ud83");
	assert_mended("\\u00e4\\u0041", "\\u00e4\\u0041");
	assert_kind("{\"method\":\"cut \\ud83c\"}", RPC_NOTIFICATION);
}

static void answers_are_written_anew(void **state)
{
	char why[RPC_WHY_MAX];
	json_t *id = json_integer(7);
	auto_rpc m = { 0 };
	static const char text[] =
		"{\"id\":1,\"evil\":1,\"error\":{\"code\":-1,\"message\":\"m\",\"data\":{},\"evil\":1}}";

	(void)state;
	assert_int_equal(read_line(text, sizeof(text) - 1, &m, why), 0);
	assert_becomes(rpc_answer_again(id, &m),
		"{'jsonrpc':'2.0','id':7,'error':{'code':-1,'message':'m','data':{}}}");
	json_decref(id);
}

static void a_request_is_asked_once(void **state)
{
	json_t *one = json_integer(1), *text = json_string("1"), *more;
	struct pendings l = { 0 };

	(void)state;
	assert_true(pending_add(&l, &(struct pending){ .id = one, .theirs = text }));
	assert_false(pending_add(&l, &(struct pending){ .id = one }));
	/* the text is another id than the number */
	assert_null(pending_find(&l, text));
	assert_non_null(pending_find(&l, one));
	assert_non_null(pending_find_theirs(&l, NULL, text));
	for (int i = 2; i <= PENDING_MAX; i++) {
		more = json_integer(i);
		assert_true(pending_add(&l, &(struct pending){ .id = more }));
		json_decref(more);
	}
	assert_false(pending_add(&l, &(struct pending){ .id = text }));
	pending_drop(&l, pending_find(&l, one));
	assert_null(pending_find(&l, one));
	assert_int_equal(l.n, PENDING_MAX - 1);
	pending_release(&l);
	json_decref(one);
	json_decref(text);
}

#define WORKSPACE "/g/worktrees/t"

static struct paths places(void)
{
	return (struct paths){ "/home/u/app", "/home/u/main", WORKSPACE };
}

static void assert_inside(const char *path, const char *want)
{
	const struct paths p = places();
	auto_str got = paths_inside(&p, path);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void assert_uri(const char *uri, const char *want)
{
	const struct paths p = places();
	auto_str got = paths_uri_inside(&p, uri);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void paths_of_the_checkout_are_the_workspaces(void **state)
{
	(void)state;
	assert_inside("/home/u/app", "/g/worktrees/t");
	assert_inside("/home/u/app/", "/g/worktrees/t");
	assert_inside("/home/u/app/a/../b", "/g/worktrees/t/b");
	assert_inside("/home/u/main/b", "/g/worktrees/t/b");
	assert_inside("/g/worktrees/t/b", "/g/worktrees/t/b");
	assert_inside("/home/u/app/../x", NULL);
	assert_inside("/home/u/app-2", NULL);
	assert_inside("/g/worktrees/t-1/b", NULL);
	assert_inside("/home/u", NULL);
	assert_inside("/", NULL);
	assert_inside("home/u/app", NULL);
	assert_inside("", NULL);
}

static void links_to_files_are_decoded(void **state)
{
	(void)state;
	assert_uri("file:///home/u/app/a.c", "file:///g/worktrees/t/a.c");
	assert_uri("FILE://localhost/home/u/app/a.c", "file:///g/worktrees/t/a.c");
	assert_uri("file:/home/u/app/a.c", "file:///g/worktrees/t/a.c");
	assert_uri("/home/u/app/a.c", "file:///g/worktrees/t/a.c");
	assert_uri("file:///home/u/app/a%20b%C3%A4.c#L1:2", "file:///g/worktrees/t/a%20b%C3%A4.c#L1:2");
	assert_uri("file:///home/u/app/x?q=/home/u/app", "file:///g/worktrees/t/x?q=/home/u/app");
	assert_uri("file:///home/u/app/%2e%2e/x", NULL);
	assert_uri("file:///home/u/app%2f..%2fx", NULL);
	assert_uri("file:///home/u/app/a%00b", NULL);
	assert_uri("file:///home/u/app/a%0", NULL);
	assert_uri("file:///home/u/app/a%zz", NULL);
	assert_uri("file://host/home/u/app/a", NULL);
	assert_uri("file:home/u/app/a", NULL);
	assert_uri("file:///etc/passwd", NULL);
	assert_uri("https://home/u/app", NULL);
	assert_true(paths_uri_is_file("File:x"));
	assert_true(paths_uri_is_file("/x"));
	assert_false(paths_uri_is_file("http://x"));
	assert_false(paths_uri_is_file("zed:///agent"));
}

static void the_agent_follows_only_the_workspace(void **state)
{
	const struct paths p = places();

	(void)state;
	assert_true(paths_is_inside(&p, "/g/worktrees/t/a"));
	assert_true(paths_is_inside(&p, "/g/worktrees/t"));
	assert_false(paths_is_inside(&p, "/g/worktrees/t/../u"));
	assert_false(paths_is_inside(&p, "/home/u/app/a"));
	assert_false(paths_is_inside(&p, "a"));
}

static void editors_promise_nothing_that_runs_outside(void **state)
{
	json_t *all = json(
		"{'protocolVersion':1,'clientCapabilities':{'fs':{'readTextFile':true},'terminal':true,"
		"'auth':{'terminal':true,'_meta':{'gateway':true}},'elicitation':{'form':{},'url':{}},"
		"'session':{'notices':{},'new':{}},'mcp':{},'nes':{},'_meta':{'terminal-auth':true,'terminal_output':true}},"
		"'clientInfo':{'name':'e'},'_meta':{'x':1}}");
	json_t *two = json(
		"{'protocolVersion':9,'clientCapabilities':{'fs':{}},'capabilities':{'auth':{'terminal':{}},"
		"'elicitation':{'url':{}}},'info':{'name':'e'},'clientInfo':5}");

	(void)state;
	assert_true(capabilities_has_notices(all, 1));
	assert_false(capabilities_has_notices(two, 1));
	assert_true(capabilities_has_notices(two, 2));
	assert_becomes(capabilities_of_client(all),
		"{'protocolVersion':1,'clientCapabilities':{'session':{'notices':{}},'elicitation':{'form':{}},"
		"'_meta':{'terminal_output':true}},'clientInfo':{'name':'e'}}");
	assert_becomes(capabilities_of_client(two),
		"{'protocolVersion':2,'clientCapabilities':{},'capabilities':{},'info':{'name':'e'}}");
	assert_becomes(capabilities_of_client(NULL), "{'protocolVersion':1}");
	json_decref(all);
	json_decref(two);
}

static void agents_offer_nothing_that_runs_outside(void **state)
{
	auto_strvec passed = STRVEC_INIT;
	json_t *one = json(
		"{'protocolVersion':1,'agentCapabilities':{'loadSession':true,'mcpCapabilities':{'http':true,'acp':true},"
		"'sessionCapabilities':{'fork':{},'resume':{},'delete':{}},'auth':{'logout':{}},'providers':{},'nes':{}},"
		"'authMethods':[{'id':'a','name':'A','_meta':{'terminal-auth':{'command':'/bin/sh'}}},"
		"{'id':'b','type':'terminal','args':['x']},{'id':'c','type':'env_var','vars':[{'name':'MY_KEY'}],'link':'x'},"
		"{'id':'d','type':'env_var','vars':[{'name':'MY_KEY'},{'name':'LD_PRELOAD'}]},{'id':'e','type':5},7]}");
	json_t *two = json(
		"{'protocolVersion':2,'capabilities':{'session':{'mcp':{'stdio':{},'acp':{}},'prompt':{},'fork':{}},"
		"'auth':{}},'info':{'name':'x'},'authMethods':[]}");
	json_t *none = json("{'protocolVersion':3}");
	char why[160] = "";

	(void)state;
	strvec_push(&passed, "MY_*");
	assert_false(capabilities_can_close(one));
	assert_true(capabilities_can_close(two));
	assert_becomes(capabilities_of_agent(one, &passed, why),
		"{'protocolVersion':1,'agentCapabilities':{'loadSession':true,'mcpCapabilities':{'http':true},"
		"'sessionCapabilities':{'resume':{},'close':{},'list':{}}},"
		"'authMethods':[{'id':'a','name':'A'},{'id':'c','type':'env_var','vars':[{'name':'MY_KEY'}]}]}");
	assert_becomes(capabilities_of_agent(two, NULL, why),
		"{'protocolVersion':2,'capabilities':{'session':{'prompt':{},'mcp':{'stdio':{}}}},'info':{'name':'x'},'authMethods':[]}");
	assert_null(capabilities_of_agent(none, NULL, why));
	assert_null(capabilities_of_agent(NULL, NULL, why));
	assert_non_null(strstr(why, "version"));
	json_decref(one);
	json_decref(two);
	json_decref(none);
}

static bool is_shown(const char *path, void *arg)
{
	return !strcmp(path, arg);
}

static void sessions_begin_in_the_workspace(void **state)
{
	const struct paths p = places();
	auto_strvec secrets = STRVEC_INIT, notes = STRVEC_INIT;
	const struct rewrite r = { &p, &secrets, is_shown, "/srv/shown", &notes };
	struct err e = ERR_INIT;
	json_t *ask = json(
		"{'cwd':'/home/u/app/sub','additionalDirectories':['/home/u/app/x','/srv/shown'],'mcpServers':["
		"{'name':'a','command':'/home/u/app/bin/s','args':['--root','/home/u/app','/etc'],'env':[{'name':'K','value':'s'}]},"
		"{'name':'b','type':'http','url':'https://x','headers':[{'name':'Authorization','value':'s'}]},"
		"{'name':'c','type':'acp','serverId':'1'}]}");
	json_t *other = json("{'additionalDirectories':['/srv/other']}");

	(void)state;
	strvec_push(&secrets, "b");
	assert_int_equal(rewrite_open(&r, "/g/worktrees/t/sub", ask, &e), 0);
	assert_becomes(ask,
		"{'cwd':'/g/worktrees/t/sub','additionalDirectories':['/g/worktrees/t/x','/srv/shown'],'mcpServers':["
		"{'name':'a','command':'/g/worktrees/t/bin/s','args':['--root','/g/worktrees/t','/etc'],'env':[]},"
		"{'name':'b','type':'http','url':'https://x','headers':[{'name':'Authorization','value':'s'}]}]}");
	assert_int_equal(notes.n, 2);
	assert_non_null(strstr(notes.v[0], "'c'"));
	assert_non_null(strstr(notes.v[1], "--mcp-secrets a"));
	assert_int_equal(rewrite_open(&r, "/g/worktrees/t", other, &e), -1);
	assert_non_null(strstr(e.msg, "/srv/other"));
	json_decref(other);
}

static void prompts_lead_into_the_workspace(void **state)
{
	const struct paths p = places();
	auto_strvec notes = STRVEC_INIT;
	const struct rewrite r = { .paths = &p, .notes = &notes };
	struct err e = ERR_INIT;
	json_t *ask = json(
		"[{'type':'text','text':'/home/u/app/a'},{'type':'resource_link','uri':'file:///home/u/app/a'},"
		"{'type':'resource_link','uri':'https://x'},"
		"{'type':'resource','resource':{'uri':'file:///home/u/app/b','text':'t'}},"
		"{'type':'resource','resource':{'uri':'file:///etc/x','text':'t'}},7,{}]");
	json_t *bad = json("[{'type':'resource_link','uri':'file:///home/u/app/../secret'}]");
	json_t *none = json("[{'type':'resource_link'}]");

	(void)state;
	assert_int_equal(rewrite_prompt(&r, ask, &e), 0);
	assert_becomes(ask,
		"[{'type':'text','text':'/home/u/app/a'},{'type':'resource_link','uri':'file:///g/worktrees/t/a'},"
		"{'type':'resource_link','uri':'https://x'},"
		"{'type':'resource','resource':{'uri':'file:///g/worktrees/t/b','text':'t'}},"
		"{'type':'resource','resource':{'uri':'file:///etc/x','text':'t'}},7,{}]");
	assert_int_equal(rewrite_prompt(&r, bad, &e), -1);
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_int_equal(rewrite_prompt(&r, none, &e), -1);
	assert_int_equal(rewrite_prompt(&r, NULL, &e), 0);
	json_decref(bad);
	json_decref(none);
}

static void assert_shown(const char *text, const char *want)
{
	const struct paths p = places();
	json_t *params = json(text);

	shown_clean(&p, params);
	assert_becomes(params, want);
}

static void editors_open_only_the_workspace(void **state)
{
	(void)state;
	assert_shown(
		"{'update':{'locations':[{'path':'/g/worktrees/t/a'},{'path':'/home/u/app/a'},{'path':5},{},7]}}",
		"{'update':{'locations':[{'path':'/g/worktrees/t/a'}]}}");
	assert_shown("{'update':{'content':[{'type':'diff','path':'/g/worktrees/t/a','newText':'x'}]}}",
		"{'update':{'content':[{'type':'diff','path':'/g/worktrees/t/a','newText':'x'}]}}");
	assert_shown("{'toolCall':{'content':[{'type':'diff','path':'/home/u/.bashrc','newText':'x'}]}}",
		"{'toolCall':{'content':[{'type':'content','content':{'type':'text',"
		"'text':'(a change of /home/u/.bashrc, which is not in the workspace)'}}]}}");
	assert_shown("{'subject':{'toolCall':{'content':[{'type':'diff','newText':'x'}]}}}",
		"{'subject':{'toolCall':{'content':[{'type':'content','content':{'type':'text',"
		"'text':'(a change of a file, which is not in the workspace)'}}]}}}");
	assert_shown(
		"{'update':{'content':{'type':'diff','changes':[{'path':'/g/worktrees/t/a','oldPath':'/etc/x'}]}}}",
		"{'update':{'content':{'type':'content','content':{'type':'text',"
		"'text':'(a change of /etc/x, which is not in the workspace)'}}}}");
	assert_shown(
		"{'update':{'content':{'type':'resource_link','uri':'https://x','icons':[{'src':'https://y'}]}}}",
		"{'update':{'content':{'type':'resource_link','uri':'https://x'}}}");
	assert_shown(
		"{'update':{'content':[{'type':'content','content':{'type':'resource_link','icons':[]}}]}}",
		"{'update':{'content':[{'type':'content','content':{'type':'resource_link'}}]}}");
	assert_shown("{'update':7}", "{'update':7}");
}

static void lists_of_places_are_cut(void **state)
{
	const struct paths p = places();
	json_t *list = json_array(), *params = json_pack("{s:{s:o}}", "update", "locations", list);

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_array_append_new(list, json_pack("{s:s}", "path", i % 2 ? "/x" : WORKSPACE "/y"));
	shown_clean(&p, params);
	assert_int_equal(json_array_size(list), 500);
	json_decref(params);
}

static void assert_located(const struct paths *p, const char *name, bool is)
{
	json_t *params = json_pack(
		"{s:{s:[{s:o}]}}", "update", "locations", "path", json_sprintf("%s/%s", p->workspace, name));

	shown_clean(p, params);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(params, "update"), "locations")), is);
	json_decref(params);
}

static void editors_do_not_open_links_and_pipes(void **state)
{
	struct scratch *s = *state;
	auto_str real = realpath(s->path, NULL), ws = xasprintf("%s/ws", real);
	const struct paths p = { "/nowhere", "/nowhere", ws };

	assert_int_equal(mkdirat(s->fd, "ws", 0755) | mkdirat(s->fd, "ws/dir", 0755), 0);
	assert_int_equal(symlinkat("/etc/passwd", s->fd, "ws/out") | symlinkat("dir", s->fd, "ws/in"), 0);
	assert_int_equal(mkfifoat(s->fd, "ws/pipe", 0600), 0);
	assert_located(&p, "dir", true);
	assert_located(&p, "in", true);
	assert_located(&p, "new", true);
	assert_located(&p, "out", false);
	assert_located(&p, "pipe", false);
	/* ESCAPES 2, 41: the editor would make it where a link leads, also one to nothing */
	assert_int_equal(symlinkat(real, s->fd, "ws/up") | symlinkat("../none", s->fd, "ws/nothing"), 0);
	assert_located(&p, "dir/a/new", true);
	assert_located(&p, "in/new", true);
	assert_located(&p, "up/new", false);
	assert_located(&p, "up/a/new", false);
	assert_located(&p, "nothing", false);
	assert_located(&p, "nothing/", false);
	assert_located(&p, "up/../new", false);
	assert_located(&p, "in/../new", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_any_pieces),
		cmocka_unit_test(a_line_without_end_is_skipped),
		cmocka_unit_test(messages_are_of_three_kinds_or_refused),
		cmocka_unit_test(bombs_are_refused_before_they_are_parsed),
		cmocka_unit_test(half_characters_are_mended),
		cmocka_unit_test(answers_are_written_anew),
		cmocka_unit_test(a_request_is_asked_once),
		cmocka_unit_test(paths_of_the_checkout_are_the_workspaces),
		cmocka_unit_test(links_to_files_are_decoded),
		cmocka_unit_test(the_agent_follows_only_the_workspace),
		cmocka_unit_test(editors_promise_nothing_that_runs_outside),
		cmocka_unit_test(agents_offer_nothing_that_runs_outside),
		cmocka_unit_test(sessions_begin_in_the_workspace),
		cmocka_unit_test(prompts_lead_into_the_workspace),
		cmocka_unit_test(editors_open_only_the_workspace),
		cmocka_unit_test(lists_of_places_are_cut),
		cmocka_unit_test_setup_teardown(editors_do_not_open_links_and_pipes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
