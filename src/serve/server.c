#include "serve/server.h"

#include <event2/event.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "http/loop.h"
#include "serve/api.h"
#include "serve/child.h"
#include "sys/fd.h"
#include "sys/lock.h"

#define PLACE_FILE "serve.json"

/* Seconds: between two tries to become the leader; at most between two checks of the clock, which jumps after
 * a suspend; after a round, and after one that failed; the limit for a round. */
#define LEAD_SECONDS  3
#define LOOK_SECONDS  300
#define ROUND_PAUSE   60
#define FAILED_PAUSE  300
#define ROUND_SECONDS 3600

struct server {
	const struct server_spec *spec;
	struct event_base *base;
	struct api *api;
	unsigned port;
	int lead;  /* serve.lock, or -1 */
	bool told; /* it was said that another server is the leader */
	int64_t started;
	bool looked; /* in the first hour: what would be removed was reported */
	struct event *tick;
	struct child *round;
};

static void tick_in(struct server *s, int64_t seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	evtimer_add(s->tick, &tv);
}

static void write_place(struct server *s)
{
	auto_str text =
		xasprintf("{\"version\": 2, \"pid\": %lld, \"port\": %u}\n", (long long)getpid(), s->port);
	struct err e = ERR_INIT;

	if (write_file(s->spec->context->home.fd, PLACE_FILE, text, strlen(text), 0600, &e) < 0)
		s->spec->tell(s->spec->arg, true, e.msg);
}

/* Whether this server is the leader, after trying to become it. */
static bool lead(struct server *s)
{
	struct err e = ERR_INIT;

	if (s->lead >= 0)
		return true;
	if (lock_take(s->spec->context->home.fd, "serve.lock", false, &s->lead, &e) < 0) {
		if (!s->told)
			s->spec->tell(s->spec->arg, false,
				e.kind == ERR_BUSY
					? "another garth serve does the timers; this one only answers"
					: e.msg);
		s->told = true;
		return false;
	}
	write_place(s);
	if (s->told)
		s->spec->tell(
			s->spec->arg, false, "the other garth serve is gone; this one does the timers now");
	return true;
}

static void on_round_end(void *arg, int code, const struct buf *out)
{
	struct server *s = arg;

	(void)out;
	s->round = NULL;
	if (code == CHILD_LATE)
		s->spec->tell(s->spec->arg, true, "a round of the timers took too long, and was ended");
	else if (code)
		s->spec->tell(s->spec->arg, true, "a round of the timers failed");
	tick_in(s, code ? FAILED_PAUSE : ROUND_PAUSE);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec;
}

static int start_round(struct server *s, struct err *e)
{
	auto_strvec args = STRVEC_INIT;
	const struct child_spec spec = {
		.args = &args, .seconds = ROUND_SECONDS, .heard = true, .fn = on_round_end, .arg = s
	};

	strvec_pushl(&args, "serve", "--once", NULL);
	if (timers_first_left(s->started, now())) {
		strvec_push(&args, "--dry-run");
		s->looked = true;
	}
	return child_start(s->base, &spec, &s->round, e);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	struct context *c = s->spec->context;
	struct err e = ERR_INIT;
	int64_t left = 0, first = timers_first_left(s->started, now());
	int rc;

	(void)fd;
	(void)what;
	if (!lead(s)) {
		tick_in(s, LEAD_SECONDS);
		return;
	}
	rc = timers_wait(c, &left, &e);
	/* the store must not stay open between rounds */
	context_close_store(c);
	/* what would be removed was reported: nothing more to do in the first hour */
	if (!rc && s->looked && left < first)
		left = first;
	if (!rc && !left)
		rc = start_round(s, &e);
	if (rc < 0) {
		s->spec->tell(s->spec->arg, true, e.msg);
		left = FAILED_PAUSE;
	}
	if (!s->round)
		tick_in(s, left < LOOK_SECONDS ? left : LOOK_SECONDS);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopexit(((struct server *)arg)->base, NULL);
}

static int open_all(struct server *s, struct event *signals[3], struct err *e)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	const struct server_spec *spec = s->spec;
	struct access access = { 0 };
	auto_fd fd = -1;

	if (token_load(spec->context->home.fd, &access.token, e) < 0 ||
		api_listen(spec->port, &fd, &access.port, e) < 0)
		return -1;
	s->port = access.port;
	s->base = loop_new(NULL);
	for (size_t i = 0; s->base && i < ARRAY_SIZE(numbers); i++) {
		signals[i] = evsignal_new(s->base, numbers[i], on_over, s);
		if (!signals[i] || event_add(signals[i], NULL))
			return err_set(e, ERR_FAILED, "cannot start the server");
	}
	s->tick = s->base ? evtimer_new(s->base, on_tick, s) : NULL;
	if (!s->tick)
		return err_set(e, ERR_FAILED, "cannot start the server");
	return api_open(s->base, fd_steal(&fd), &access, &s->api, e);
}

static void close_all(struct server *s, struct event *signals[3])
{
	child_end(s->round, true);
	api_close(s->api);
	/* before another server can become the leader and write its own */
	if (s->lead >= 0)
		unlinkat(s->spec->context->home.fd, PLACE_FILE, 0);
	lock_drop(&s->lead);
	for (size_t i = 0; i < 3; i++)
		if (signals[i])
			event_free(signals[i]);
	if (s->tick)
		event_free(s->tick);
	if (s->base)
		event_base_free(s->base);
}

int server_run(const struct server_spec *spec, struct err *e)
{
	struct server s = { .spec = spec, .lead = -1, .started = now() };
	struct event *signals[3] = { 0 };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = open_all(&s, signals, e);
	if (!rc) {
		/* serve.json must exist when somebody reads that the server is ready */
		lead(&s);
		spec->ready(spec->arg, s.port);
		tick_in(&s, 0);
		event_base_dispatch(s.base);
	}
	close_all(&s, signals);
	return rc;
}
