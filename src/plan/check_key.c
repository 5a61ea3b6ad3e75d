#include "plan/check_key.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/digest.h"

#define KEY_MAX (16u << 20)

static void add(struct buf *out, const char *text)
{
	buf_addstr(out, text ? text : "");
	buf_addch(out, '\0');
}

static void add_list(struct buf *out, const struct strvec *v)
{
	buf_printf(out, "%zu:", v->n);
	for (size_t i = 0; i < v->n; i++)
		add(out, v->v[i]);
}

static void add_check(struct buf *out, const struct plan_check *k)
{
	buf_printf(out, "%d %d %d ", k->kind, k->expect.exit_code, k->expect.stderr_empty);
	add(out, k->command);
	add(out, k->glob);
	add(out, k->path);
	add(out, k->pattern);
	add_list(out, &k->expect.stdout_contains);
	add_list(out, &k->expect.stdout_not_contains);
	add_list(out, &k->expect.stderr_contains);
	add_list(out, &k->must_contain);
	add_list(out, &k->fail_patterns);
	add_list(out, &k->ignore_patterns);
}

bool check_names_stage(const struct plan_stage *s, const struct plan_check *k)
{
	bool names = k->command && strstr(k->command, "STAGE_ID");

	for (size_t i = 0; i < s->nchecks; i++)
		names |= s->checks[i].kind == PLAN_CHECK_SETUP && strstr(s->checks[i].command, "STAGE_ID");
	return names;
}

static void add_stage(struct buf *out, const struct plan_stage *s, const struct plan_check *k)
{
	add(out, check_names_stage(s, k) ? s->id : "");
	add(out, s->working_dir);
	buf_printf(out, "%llu ", (unsigned long long)s->check_timeout);
	for (size_t i = 0; i < s->nchecks; i++)
		if (s->checks[i].kind == PLAN_CHECK_SETUP)
			add_check(out, &s->checks[i]);
}

static char *hex_digest(const struct buf *text)
{
	unsigned char sum[DIGEST_MAX];
	auto_buf hex = BUF_SMALL;

	digest_of(DIGEST_SHA256_LEN, buf_str(text), text->len, sum);
	for (size_t i = 0; i < DIGEST_SHA256_LEN; i++)
		buf_printf(&hex, "%02x", sum[i]);
	return buf_steal(&hex);
}

/* What is shown of the host, and what may be written. */
static void add_shown(struct buf *out, const struct config *c)
{
	const struct rules *r = &c->policy.rules;

	add_list(out, &c->tools);
	add_list(out, &c->allow_read);
	add_list(out, &c->allow_write);
	for (size_t i = 0; i < c->ncaches; i++) {
		add(out, c->caches[i].path);
		add(out, c->caches[i].mode);
	}
	for (size_t i = 0; i < r->n; i++) {
		buf_printf(out, "%d ", r->v[i].kind);
		add(out, r->v[i].glob);
	}
}

static void add_limits(struct buf *out, const struct config *c)
{
	const uint64_t limits[] = { c->max_processes, c->max_memory, c->max_cpu, c->max_core, c->max_disk,
		c->max_disk_cap, c->max_open_files, c->max_inodes };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		buf_printf(out, "%llu ", (unsigned long long)limits[i]);
}

/* The variables that checks get of this process. */
static void add_environment(struct buf *out, const struct config *c)
{
	auto_strvec none = STRVEC_INIT, env = STRVEC_INIT;
	struct err ignored = ERR_INIT;

	if (!agent_environment(c, NULL, environ, &none, &none, &env, &ignored))
		add_list(out, &env);
	add(out, getenv("PATH"));
}

char *check_walls(const struct config *c, const struct strvec *layers)
{
	const struct strvec *const lists[] = { &c->net_allow, &c->setup, &c->setup_inputs, &c->setup_network,
		&c->include, &c->submodules, layers };
	auto_buf text = BUF_INIT(KEY_MAX);

	add(&text, c->net);
	add(&text, c->backend);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		add_list(&text, lists[i]);
	add_shown(&text, c);
	add_limits(&text, c);
	add_environment(&text, c);
	return hex_digest(&text);
}

static void add_walls(struct buf *out, const struct stage_job *j)
{
	const struct plan_stage *s = j->stage;

	add(out, j->walls);
	add(out, s->network.mode);
	add_list(out, &s->network.allow);
	add_list(out, &s->submodules);
	add_list(out, &s->sandbox.deny_read);
	add_list(out, &s->sandbox.deny_write);
	add_list(out, &s->sandbox.allow_write);
}

char *check_key(
	const struct stage_job *j, const char *tree, const struct plan_check *k, const struct plan_stage *s)
{
	auto_buf text = BUF_INIT(KEY_MAX);

	/* 1: a command of the same round could have changed the copy */
	add(&text, "2");
	add(&text, tree);
	add_check(&text, k);
	/* the plan's own checks are the same for all stages */
	if (s)
		add_stage(&text, s, k);
	add_walls(&text, j);
	return hex_digest(&text);
}
