#include "runtime/add_layers.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "config/check.h"
#include "runtime/setup.h"
#include "sys/lock.h"

#define NAMES_SHOWN 5

void add_layers_release(struct add_layers *b)
{
	include_report_release(&b->included);
	strvec_release(&b->warnings);
}

/* The commit's own patterns. A commit does not change, so git is asked once. */
static int find_patterns(struct context *c, const struct repo *r, struct strvec *ret, struct err *e)
{
	auto_buf text = BUF_INIT(1u << 20);
	auto_str known = NULL;

	if (context_store(c, e) < 0)
		return -1;
	if (!store_compared(c->store, "include", r->commit, "", &known, e)) {
		for (const char *p = known; *p; p += strcspn(p, "\n"), p += *p == '\n')
			strvec_pushn(ret, p, strcspn(p, "\n"));
		return 0;
	}
	if (e->kind != ERR_NOTFOUND || include_patterns(r, ret, e) < 0)
		return -1;
	for (size_t i = 0; i < ret->n; i++)
		buf_printf(&text, "%s\n", ret->v[i]);
	return store_set_compared(c->store, "include", r->commit, "", buf_str(&text), e);
}

void add_layers_never(const struct context *c, struct strvec *ret)
{
	strvec_push(ret, c->home.path);
	check_secret_places(c->user_home, ret);
}

static int include(struct context *c, const struct repo *r, const struct task *t, struct add_layers *b,
	struct task_layers *ret, struct err *e)
{
	auto_strvec patterns = STRVEC_INIT, never = STRVEC_INIT;
	struct include_spec spec = { &patterns, &never, b->with_changes };
	auto_str name = NULL;
	auto_lock lock = -1;

	if (find_patterns(c, r, &patterns, e) < 0)
		return -1;
	strvec_pushv(&patterns, (const char *const *)c->config.include.v);
	add_layers_never(c, &never);
	if (patterns.n && include_layer(&c->home, t->project_id, r, &spec, &name, &lock, &b->included, e) < 0)
		return -1;
	if (!name)
		return 0;
	strvec_push(&ret->names, name);
	ret->locks[ret->nlocks++] = lock;
	lock = -1;
	return 0;
}

static void warn(struct add_layers *b, const struct strvec *names, const char *what)
{
	auto_buf text = BUF_SMALL;

	if (!names->n)
		return;
	buf_printf(&text, "%s: ", what);
	for (size_t i = 0; i < names->n && i < NAMES_SHOWN; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", names->v[i]);
	if (names->n > NAMES_SHOWN)
		buf_addstr(&text, " …");
	strvec_push(&b->warnings, buf_str(&text));
}

void add_layers_warn_setup(struct add_layers *b, const struct setup_result *s)
{
	warn(b, &s->changed, "the set-up changed tracked files, which tasks do not see");
	warn(b, &s->left_out, "the set-up left what cannot be shared");
	warn(b, &s->cached.left_out, "the set-up left in caches what cannot be shared");
	if (s->not_cached)
		strvec_pushf(&b->warnings, "what the set-up wrote to caches is not kept: %s", s->not_cached);
	warn(b, &s->not_ignored, "the set-up left files that git does not ignore, so tasks can commit them");
}

static int set_up(struct context *c, const struct repo *r, const struct task *t, struct add_layers *b,
	struct task_layers *ret, struct err *e)
{
	auto_setup_result s = { .lock = -1 };

	if (runtime_setup(c, r, t, b->offline ? SETUP_OFFLINE : 0, b->tell, b->tell_arg, &s, e) < 0)
		return e->kind == ERR_START
			       ? err_hint(e, "garth warm --verbose   # --no-setup starts without it")
			       : -1;
	if (!s.name)
		return 0;
	add_layers_warn_setup(b, &s);
	strvec_push(&ret->names, s.name);
	ret->locks[ret->nlocks++] = s.lock;
	s.lock = -1;
	return 0;
}

int runtime_add_layers(struct context *c, const struct repo *r, const struct task *t, struct task_layers *ret,
	void *arg, struct err *e)
{
	struct add_layers *b = arg;

	if (include(c, r, t, b, ret, e) < 0)
		return -1;
	return b->no_setup ? 0 : set_up(c, r, t, b, ret, e);
}
