/* garth ticket: tasks that this task asks for, over the gateway's socket (/api/v1/tickets). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/json_read.h"
#include "shim/shim.h"
#include "sys/fd.h"

#define PATH      "/api/v1/tickets"
#define JSON_MAX  (1u << 20)
#define STDIN_MAX (64u << 10)

enum { DONE = 0, FAILED = 1, USAGE = 2, NOT_FOUND = 3, REFUSED = 4, CONFLICT = 5 };

/* A command line after `garth ticket`. */
struct line {
	const struct shim *shim;
	int n;
	char **words;
	bool json;
};

typedef int verb_fn(const struct line *l);

static const struct {
	int status, code;
} codes[] = { { 400, USAGE }, { 404, NOT_FOUND }, { 409, CONFLICT } };

/* Files of a refusal, one a line. */
static void print_files(const struct http_answer *a)
{
	struct jread_at at = jread_at(buf_str(&a->body), a->body.len);

	if (!jread_member(&at, "error") || !jread_member(&at, "files") || !jread_array(&at))
		return;
	while (jread_next(&at)) {
		auto_buf name = BUF_INIT(8192), clean = BUF_INIT(65536);

		if (!jread_string(&at, &name))
			return;
		clean_line(&clean, buf_str(&name));
		fprintf(stderr, "  %s\n", buf_str(&clean));
	}
}

static int fail(const struct http_answer *a, const char *tried)
{
	if (!a->status) {
		fputs("garth: the gateway does not answer\n", stderr);
		return FAILED;
	}
	print_blocked(a, tried);
	print_files(a);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].status == a->status)
			return codes[i].code;
	return REFUSED;
}

static void print_raw(const struct http_answer *a)
{
	auto_buf clean = BUF_INIT(4 * ANSWER_BODY_MAX);

	clean_text(&clean, buf_str(&a->body), a->body.len, false);
	fputs(buf_str(&clean), stdout);
}

static void print_text(struct jread_at at, const char *member, const char *before, const char *after)
{
	auto_buf text = BUF_INIT(ANSWER_BODY_MAX), clean = BUF_INIT(4 * ANSWER_BODY_MAX);

	if (!jread_member(&at, member) || !jread_string(&at, &text) || !text.len)
		return;
	clean_text(&clean, buf_str(&text), text.len, false);
	printf("%s%s%s", before, buf_str(&clean), after);
}

/* One line: id, state, branch, title, and what is said of it. */
static void print_ticket(struct jread_at at)
{
	print_text(at, "id", "", "");
	print_text(at, "state", "  ", "");
	print_text(at, "branch", "  ", "");
	print_text(at, "title", "  ", "");
	print_text(at, "note", "  (", ")");
	putchar('\n');
}

static void print_list(const struct http_answer *a)
{
	struct jread_at at = jread_at(buf_str(&a->body), a->body.len);

	if (!jread_member(&at, "tickets") || !jread_array(&at))
		return;
	while (jread_next(&at)) {
		print_ticket(at);
		if (!jread_skip(&at))
			return;
	}
}

static int send(const struct line *l, const char *path, const char *json, struct http_answer *ret)
{
	ask(l->shim->socket, path, json, ret);
	return ret->status >= 200 && ret->status < 300;
}

/* "/api/v1/tickets/ID/what"; NULL: the id is none. */
static char *path_of(const char *id, const char *what)
{
	if (!*id || strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(id) || strlen(id) > 32)
		return fprintf(stderr, "garth: a ticket's id is a word such as t1\n"), NULL;
	return xasprintf(PATH "/%s%s", id, what);
}

static void print_one(const struct line *l, const struct http_answer *a)
{
	if (l->json)
		print_raw(a);
	else
		print_ticket(jread_at(buf_str(&a->body), a->body.len));
}

/* The text of an option: "-" is stdin. */
static int take_text(const char *word, struct buf *out)
{
	struct err e = ERR_INIT;

	if (strcmp(word, "-") != 0)
		return buf_addstr(out, word) ? 0 : -1;
	return read_rest(0, out, "the text", &e) < 0 || out->overflow ? -1 : 0;
}

/* Options that are lists come one by one. */
struct list {
	const char *option, *key;
	struct buf items;
};

static struct list *find_list(struct list *lists, size_t n, const char *option)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(lists[i].option, option))
			return &lists[i];
	return NULL;
}

static void add_member(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", key);
	ask_quote(out, value);
}

static const struct {
	const char *option, *key;
} texts[] = { { "--prompt", "prompt" }, { "--agent", "agent" }, { "--timeout", "timeout" } };

/* 0: it is none. */
static int take_single(const char *option, const char *value, struct buf *json)
{
	auto_buf text = BUF_INIT(STDIN_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].option, option) != 0)
			continue;
		if (take_text(value, &text) < 0)
			return fputs("garth: the text is too long\n", stderr), -1;
		add_member(json, texts[i].key, buf_str(&text));
		return 1;
	}
	return 0;
}

static int take_options(const struct line *l, struct list *lists, size_t n, struct buf *json)
{
	const char *title = NULL;

	for (int i = 0; i < l->n; i++) {
		struct list *list = find_list(lists, n, l->words[i]);
		const char *value = i + 1 < l->n ? l->words[i + 1] : NULL;
		int took = value ? take_single(l->words[i], value, json) : 0;

		if (took < 0)
			return -1;
		if (list && value) {
			buf_addstr(&list->items, list->items.len ? "," : "");
			ask_quote(&list->items, value);
		} else if (!took && (title || l->words[i][0] == '-')) {
			return fprintf(stderr, "garth: '%s' is not expected here; see: garth ticket help\n",
				       l->words[i]),
			       -1;
		} else if (!took) {
			title = l->words[i];
			continue;
		}
		i++;
	}
	if (!title)
		return fputs("garth: a ticket needs a title: garth ticket new TITLE [--prompt TEXT]\n",
			       stderr),
		       -1;
	add_member(json, "title", title);
	return 0;
}

static int do_new(const struct line *l)
{
	struct list lists[] = { { "--files", "files", BUF_INIT(JSON_MAX) },
		{ "--accept", "acceptance", BUF_INIT(JSON_MAX) },
		{ "--after", "depends", BUF_INIT(JSON_MAX) },
		{ "--submodule", "submodules", BUF_INIT(JSON_MAX) } };
	auto_http_answer a = ANSWER_INIT;
	auto_buf json = BUF_INIT(JSON_MAX);
	int rc;

	buf_addch(&json, '{');
	rc = take_options(l, lists, ARRAY_SIZE(lists), &json);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (lists[i].items.len)
			buf_printf(&json, ",\"%s\":[%s]", lists[i].key, buf_str(&lists[i].items));
		buf_release(&lists[i].items);
	}
	buf_addch(&json, '}');
	if (rc < 0 || json.overflow)
		return USAGE;
	if (!send(l, PATH, buf_str(&json), &a))
		return fail(&a, "make a ticket");
	print_one(l, &a);
	return DONE;
}

static int do_ls(const struct line *l)
{
	auto_http_answer a = ANSWER_INIT;

	if (!send(l, PATH, NULL, &a))
		return fail(&a, "list the tickets");
	if (l->json)
		print_raw(&a);
	else
		print_list(&a);
	return DONE;
}

static int get(const struct line *l, const char *what, const char *member)
{
	auto_http_answer a = ANSWER_INIT;
	auto_str path = l->n == 1 ? path_of(l->words[0], what) : NULL;

	if (!path)
		return USAGE;
	if (!send(l, path, NULL, &a))
		return fail(&a, "look at a ticket");
	if (l->json || !member)
		print_raw(&a);
	else
		print_text(jread_at(buf_str(&a.body), a.body.len), member, "", "");
	return DONE;
}

static int do_show(const struct line *l)
{
	return get(l, "", NULL);
}

static int do_diff(const struct line *l)
{
	return get(l, "/diff", "diff");
}

static int do_log(const struct line *l)
{
	return get(l, "/log", "log");
}

/* Changes a ticket; the words after its id are one text. */
static int change(const struct line *l, const char *what, const char *member, bool needed)
{
	auto_buf json = BUF_INIT(JSON_MAX), text = BUF_INIT(STDIN_MAX);
	auto_http_answer a = ANSWER_INIT;
	auto_str path = l->n ? path_of(l->words[0], what) : NULL;

	if (!path || (l->n > 1 && !member) || (l->n < 2 && needed))
		return fprintf(stderr, "garth: see: garth ticket help\n"), USAGE;
	for (int i = 1; i < l->n; i++)
		if ((i > 1 && !buf_addch(&text, ' ')) || take_text(l->words[i], &text) < 0)
			return fputs("garth: the text is too long\n", stderr), USAGE;
	buf_addch(&json, '{');
	if (text.len)
		add_member(&json, member, buf_str(&text));
	buf_addch(&json, '}');
	if (!send(l, path, buf_str(&json), &a))
		return fail(&a, "change a ticket");
	print_one(l, &a);
	return DONE;
}

static int do_answer(const struct line *l)
{
	return change(l, "/answer", "text", true);
}

static int do_retry(const struct line *l)
{
	return change(l, "/retry", "prompt", false);
}

static int do_cancel(const struct line *l)
{
	return change(l, "/cancel", NULL, false);
}

static int do_merge(const struct line *l)
{
	return change(l, "/merge", NULL, false);
}

static int do_discard(const struct line *l)
{
	return change(l, "/discard", NULL, false);
}

static bool is_over(const struct http_answer *a)
{
	struct jread_at at = jread_at(buf_str(&a->body), a->body.len);

	return jread_member(&at, "over") && jread_peek(&at) == 't';
}

/* Each request waits for a while; this asks again until all are over. */
static int do_wait(const struct line *l)
{
	auto_buf json = BUF_INIT(JSON_MAX);
	auto_http_answer a = ANSWER_INIT;
	bool block = false, any = false;

	buf_addstr(&json, "{\"ids\":[");
	for (int i = 0; i < l->n; i++) {
		if (!strcmp(l->words[i], "--block")) {
			block = true;
			continue;
		}
		buf_addstr(&json, any ? "," : "");
		ask_quote(&json, l->words[i]);
		any = true;
	}
	buf_printf(&json, "],\"block\":%s}", block ? "true" : "false");
	do {
		if (!send(l, PATH "/wait", buf_str(&json), &a))
			return fail(&a, "wait for tickets");
		if (answer_member(&a, "next", &(struct buf)BUF_SMALL))
			return puts("End now: this task is resumed with the results when its tickets are over."),
			       DONE;
	} while (!is_over(&a));
	if (l->json)
		print_raw(&a);
	else
		print_list(&a);
	return DONE;
}

static int do_help(const struct line *l);

static const struct {
	const char *name, *words, *what;
	verb_fn *fn;
} verbs[] = {
	{ "new", "TITLE [OPTIONS]",
		"ask for a task; --prompt TEXT|-, --agent NAME, --timeout TIME, and each any number of times: --files GLOB, --accept CMD, --after ID, --submodule PATH",
		do_new },
	{ "ls", "[--json]", "list this task's tickets", do_ls },
	{ "show", "ID", "print what is known about one, as JSON", do_show },
	{ "diff", "ID", "print what it has published", do_diff },
	{ "log", "ID", "print the end of its output", do_log },
	{ "wait", "[ID...] [--block]",
		"wait until they are over; --block: end this run, and be resumed with the results", do_wait },
	{ "answer", "ID TEXT|-", "answer its question", do_answer },
	{ "retry", "ID [PROMPT]", "let it try again after a failure", do_retry },
	{ "cancel", "ID", "stop it", do_cancel },
	{ "merge", "ID", "merge its result, as git merge garth/TASK.ID does", do_merge },
	{ "discard", "ID", "throw it away", do_discard },
	{ "help", "", "print this list", do_help },
};

static int do_help(const struct line *l)
{
	(void)l;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		auto_buf use = BUF_SMALL;

		buf_printf(&use, "garth ticket %s %s", verbs[i].name, verbs[i].words);
		printf("  %-36s %s\n", buf_str(&use), verbs[i].what);
	}
	return DONE;
}

/* Takes --json out of the words, if it stands before a "--". */
static bool take_json(int *n, char **words)
{
	for (int i = 0; i < *n; i++) {
		if (strcmp(words[i], "--json") != 0)
			continue;
		memmove(words + i, words + i + 1, (size_t)(*n - i - 1) * sizeof(*words));
		--*n;
		return true;
	}
	return false;
}

int shim_ticket(const struct shim *s, int argc, char **argv)
{
	const char *name = argc ? argv[0] : "help";
	struct line l = { .shim = s, .n = argc ? argc - 1 : 0, .words = argv + 1 };

	l.json = take_json(&l.n, l.words);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return verbs[i].fn(&l);
	fprintf(stderr, "garth: there is no 'garth ticket %.60s'; see: garth ticket help\n", name);
	return USAGE;
}
