#include "cli/show_network.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "cli/json.h"
#include "cli/say.h"
#include "sys/fd.h"
#include "task/network.h"
#include "task/refused.h"

/* How many refused hosts are named at the end of a run. */
#define REFUSED_MAX 3

/* If no network was chosen yet, shows the one that the next command would get. */
static void find(struct context *c, struct task_at *at, struct network *n, struct asked_list *asked)
{
	struct err ignored = ERR_INIT;

	if (network_load(at->ws.dir, task_is_busy(c, at->task), n, &ignored) < 0)
		network_choose(&c->config, NULL, NULL, NULL, n, &ignored);
	store_asked_list(c->store, at->task->id, asked, &ignored);
}

static bool is_allowed(const struct network *n, const struct asked *a)
{
	struct host h;

	return host_parse(a->host, strlen(a->host), (uint16_t)a->port, &h) && hosts_allow(&n->allow, &h);
}

enum fate { REACHED, UNREACHED, PRIVATE, REFUSED };

static enum fate fate_of(const struct network *n, const struct asked *a)
{
	if (a->open)
		return REACHED;
	switch (a->why) {
	case ASKED_NOT_LISTED:
		return REFUSED;
	case ASKED_PRIVATE:
		return PRIVATE;
	case ASKED_NO_NAME:
	case ASKED_NO_ANSWER:
		return UNREACHED;
	case ASKED_UNKNOWN:
		break;
	}
	/* the host is on the list, so it was not Garth that refused it */
	return is_allowed(n, a) ? UNREACHED : REFUSED;
}

/* Appends "; why: garth allow --host TASK ENTRY". */
static void add_reason(struct buf *out, const struct network *n, const struct asked *a, const char *task)
{
	auto_buf why = BUF_SMALL;
	auto_str entry = refused_explain(&n->allow, a, &why);

	if (entry)
		buf_printf(out, "; %s%sgarth allow --host %s %s", buf_str(&why), why.len ? ": " : "", task,
			entry);
}

static void print_hosts(const char *title, const char *task, const struct network *n,
	const struct asked_list *asked, enum fate fate)
{
	for (size_t i = 0; i < asked->n; i++) {
		const struct asked *a = &asked->v[i];
		auto_buf clean = BUF_SMALL, reason = BUF_SMALL;

		if (fate_of(n, a) != fate)
			continue;
		if (fate == REFUSED && is_allowed(n, a))
			buf_addstr(&reason, "; allowed since then");
		else if (fate == PRIVATE || fate == REFUSED)
			add_reason(&reason, n, a, task);
		else if (a->why == ASKED_NO_NAME)
			buf_addstr(&reason, "; there is no such name");
		printf("%-10s %s:%d, %lld time%s%s\n", title, say_one_line(&clean, a->host), a->port,
			(long long)a->times, a->times == 1 ? "" : "s", buf_str(&reason));
		title = "";
	}
}

static long long connections(const struct asked_list *asked, uint16_t port)
{
	for (size_t i = 0; i < asked->n; i++)
		if (asked->v[i].open && asked->v[i].port == port && !strcmp(asked->v[i].host, "localhost"))
			return asked->v[i].times;
	return 0;
}

/* Forwarded ports of the user's loopback. */
static void print_forwards(const struct network *n, const struct asked_list *asked)
{
	uint16_t ports[NETWORK_FORWARDS_MAX + 1];

	network_forwards(n, ports);
	for (size_t i = 0; ports[i]; i++) {
		long long times = connections(asked, ports[i]);

		printf("%-10s port %d of localhost is the host's, %lld connection%s\n", i ? "" : "forwarded",
			ports[i], times, times == 1 ? "" : "s");
	}
}

static json_t *forwards_json(const struct network *n, const struct asked_list *asked)
{
	uint16_t ports[NETWORK_FORWARDS_MAX + 1];
	json_t *list = json_array();

	network_forwards(n, ports);
	for (size_t i = 0; ports[i]; i++)
		json_array_append_new(list, json_pack("{s:i, s:I}", "port", ports[i], "times",
						    (json_int_t)connections(asked, ports[i])));
	return list;
}

void show_network(struct context *c, struct task_at *at)
{
	auto_network n = { 0 };
	auto_asked_list asked = { 0 };

	find(c, at, &n, &asked);
	printf("%-10s %s\n", "network", n.mode);
	for (size_t i = 0; i < n.allow.n; i++)
		printf("%-10s %s\n", i ? "" : "hosts", n.allow.v[i]);
	print_forwards(&n, &asked);
	print_hosts("reached", at->task->name, &n, &asked, REACHED);
	print_hosts("no answer", at->task->name, &n, &asked, UNREACHED);
	print_hosts("private", at->task->name, &n, &asked, PRIVATE);
	print_hosts("refused", at->task->name, &n, &asked, REFUSED);
}

static void tell_private(const struct network *n, const struct asked_list *asked, const struct task *t)
{
	size_t told = 0;

	for (size_t i = 0; i < asked->n && told < REFUSED_MAX; i++) {
		const struct asked *a = &asked->v[i];
		auto_str text = NULL, entry = NULL;

		if (fate_of(n, a) == PRIVATE && a->last >= t->started)
			text = refused_sentence(&n->allow, a, t->name, &entry);
		if (text)
			say_warning("%s", text), told++;
	}
}

/* Whether the host was refused in the last run and is not allowed by now. */
static bool was_refused(const struct network *n, const struct asked *a, const struct task *t)
{
	return fate_of(n, a) == REFUSED && a->last >= t->started && !is_allowed(n, a);
}

void tell_refused(struct context *c, const struct task *t)
{
	auto_asked_list asked = { 0 };
	auto_network list = { 0 };
	auto_buf names = BUF_SMALL, entries = BUF_SMALL, why = BUF_SMALL;
	auto_strvec listed = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;
	size_t n = 0, odd = 0;

	if (context_store(c, &ignored) < 0 || store_asked_list(c->store, t->id, &asked, &ignored) < 0 ||
		home_task_dir(&c->home, t->id, &dir, &ignored) < 0)
		return;
	network_load(dir, false, &list, &ignored);
	tell_private(&list, &asked, t);
	for (size_t i = 0; i < asked.n; i++) {
		const struct asked *a = &asked.v[i];
		auto_str entry = NULL;

		if (!was_refused(&list, a, t) || refused_is_quiet(&c->config, dir, a))
			continue;
		entry = refused_explain(&list.allow, a, &why);
		odd += !entry;
		if (!entry || n++ >= REFUSED_MAX)
			continue;
		buf_printf(&names, "%s%s:%d", names.len ? ", " : "", a->host, a->port);
		if (!strvec_has(&listed, entry))
			buf_printf(&entries, " %s", entry);
		strvec_push(&listed, entry);
	}
	if (n > REFUSED_MAX)
		buf_printf(&names, " and %zu more", n - REFUSED_MAX);
	if (n)
		say_warning("task '%s' did not reach %s%s%s: garth allow --host %s%s", t->name,
			buf_str(&names), n == 1 && why.len ? "; " : "", n == 1 ? buf_str(&why) : "", t->name,
			buf_str(&entries));
	if (odd)
		say_warning("task '%s' asked for %zu thing%s that %s no host's name: garth show %s", t->name,
			odd, odd == 1 ? "" : "s", odd == 1 ? "is" : "are", t->name);
}

/* What `garth allow --host` needs to allow the host; null if it is no host's name. */
static json_t *allow_json(const struct network *n, const struct asked *a)
{
	auto_buf why = BUF_SMALL;
	auto_str entry = refused_explain(&n->allow, a, &why);

	return entry ? json_text(entry) : json_null();
}

static json_t *hosts_json(const struct network *n, const struct asked_list *asked, enum fate fate)
{
	json_t *list = json_array();

	for (size_t i = 0; i < asked->n; i++) {
		const struct asked *a = &asked->v[i];
		json_t *one;

		if (fate_of(n, a) != fate)
			continue;
		one = json_pack("{s:o, s:i, s:I}", "host", json_text(a->host), "port", a->port, "times",
			(json_int_t)a->times);
		if (fate == PRIVATE)
			json_object_set_new(one, "address", json_text(a->address));
		if (fate == PRIVATE || fate == REFUSED)
			json_object_set_new(one, "allow", allow_json(n, a));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *show_network_json(struct context *c, struct task_at *at)
{
	auto_network n = { 0 };
	auto_asked_list asked = { 0 };

	find(c, at, &n, &asked);
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "mode", n.mode, "hosts", json_list(&n.allow),
		"forwarded", forwards_json(&n, &asked), "reached", hosts_json(&n, &asked, REACHED),
		"unanswered", hosts_json(&n, &asked, UNREACHED), "private", hosts_json(&n, &asked, PRIVATE),
		"refused", hosts_json(&n, &asked, REFUSED));
}
