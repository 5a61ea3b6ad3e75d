#include "task/network.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "credentials/control.h"
#include "base/nearest.h"
#include "sys/fd.h"
#include "sys/lock.h"

#define OWN_NAME      "network"
#define NOW_NAME      "network.now"
#define LOCK_NAME     "network.lock"
#define FILE_MAX_SIZE (1u << 20)
#define TEXT2(x)      #x
#define TEXT(x)       TEXT2(x)
#define PROXY         "127.0.0.1:" TEXT(NETWORK_PROXY_PORT)

void network_release(struct network *n)
{
	free(n->mode);
	n->mode = NULL;
	strvec_release(&n->allow);
}

static int check_mode(const char *mode, struct err *e)
{
	static const char *const modes[] = { NETWORK_NONE, NETWORK_ALLOW, NETWORK_HOST, NULL };
	char meant[NEAREST_TEXT_MAX];

	for (size_t i = 0; modes[i]; i++)
		if (!strcmp(mode, modes[i]))
			return 0;
	return err_set(e, ERR_USAGE, "there is no network '%s'%s; the networks are none, allow and host",
		mode, nearest_of(mode, modes, meant));
}

int network_check_forwards(const struct network *n, struct err *e)
{
	uint16_t ports[NETWORK_FORWARDS_MAX];
	size_t k = hosts_loopback_ports(&n->allow, ports, NETWORK_FORWARDS_MAX);

	if (k > NETWORK_FORWARDS_MAX)
		return err_set(e, ERR_USAGE, "a task reaches at most %d ports of localhost, not %zu",
			NETWORK_FORWARDS_MAX, k);
	for (size_t i = 0; i < k; i++)
		if (ports[i] == CREDENTIALS_PORT || ports[i] == NETWORK_PROXY_PORT)
			return err_set(
				e, ERR_USAGE, "port %d of localhost is the proxy's own inside", ports[i]);
	return 0;
}

int network_choose(const struct config *c, const struct config_agent *a, const char *mode,
	const struct strvec *hosts, struct network *ret, struct err *e)
{
	bool named = hosts && hosts->n;

	*ret = (struct network){ 0 };
	if (mode && check_mode(mode, e) < 0)
		return -1;
	if (named && mode && strcmp(mode, NETWORK_ALLOW) != 0)
		return err_set(e, ERR_USAGE, "--allow goes with --net allow, not with %s", mode);
	for (size_t i = 0; named && i < hosts->n; i++)
		if (hosts_check(hosts->v[i], e) < 0)
			return -1;
	ret->mode = xstrdup(mode ? mode : named ? NETWORK_ALLOW : c->net);
	if (strcmp(ret->mode, NETWORK_ALLOW) != 0)
		return 0;
	strvec_pushv(&ret->allow, (const char *const *)c->net_allow.v);
	if (a)
		strvec_pushv(&ret->allow, (const char *const *)a->hosts.v);
	if (named)
		strvec_pushv(&ret->allow, (const char *const *)hosts->v);
	if (network_check_forwards(ret, e) < 0) {
		network_release(ret);
		return -1;
	}
	return 0;
}

static int parse(struct buf *text, struct network *ret, struct err *e)
{
	char *save = NULL;

	for (char *l = text->len ? strtok_r(text->data, "\n", &save) : NULL; l;
		l = strtok_r(NULL, "\n", &save)) {
		if (ret->mode)
			strvec_push(&ret->allow, l);
		else
			ret->mode = xstrdup(l);
	}
	if (ret->mode && !check_mode(ret->mode, e))
		return 0;
	network_release(ret);
	return err_set(e, ERR_FAILED, "the task's network cannot be read");
}

int network_load(int task_dir, bool now, struct network *ret, struct err *e)
{
	auto_buf text = BUF_INIT(FILE_MAX_SIZE);
	struct err none = ERR_INIT;

	*ret = (struct network){ 0 };
	if ((!now || read_file(task_dir, NOW_NAME, &text, &none) < 0) &&
		read_file(task_dir, OWN_NAME, &text, e) < 0)
		return -1;
	return parse(&text, ret, e);
}

static int print(const struct network *n, struct buf *text, struct err *e)
{
	buf_printf(text, "%s\n", n->mode);
	for (size_t i = 0; i < n->allow.n; i++)
		buf_printf(text, "%s\n", n->allow.v[i]);
	return text->overflow ? err_set(e, ERR_USAGE, "the list of hosts is too long") : 0;
}

int network_save(int task_dir, bool own, const struct network *n, struct err *e)
{
	auto_buf text = BUF_INIT(FILE_MAX_SIZE), before = BUF_INIT(FILE_MAX_SIZE);
	struct err none = ERR_INIT;

	if (print(n, &text, e) < 0)
		return -1;
	if (!read_file(task_dir, OWN_NAME, &before, &none) && !strcmp(buf_str(&before), buf_str(&text))) {
		unlinkat(task_dir, NOW_NAME, 0);
		return 0;
	}
	if (own) {
		unlinkat(task_dir, NOW_NAME, 0);
	} else {
		/* unchanged since the last run */
		buf_reset(&before);
		if (!read_file(task_dir, NOW_NAME, &before, &none) &&
			!strcmp(buf_str(&before), buf_str(&text)))
			return 0;
	}
	if (!write_file(task_dir, own ? OWN_NAME : NOW_NAME, buf_str(&text), text.len, 0600, e))
		return 0;
	/* the last run's network must not apply to this one */
	if (!own)
		unlinkat(task_dir, NOW_NAME, 0);
	return -1;
}

int network_with(
	int task_dir, bool now, const struct config *c, const char *host, struct network *ret, struct err *e)
{
	struct err none = ERR_INIT;
	auto_network n = { 0 };

	if (hosts_check(host, e) < 0)
		return -1;
	/* not chosen yet: use what its first command would get */
	if (network_load(task_dir, now, &n, &none) < 0 && network_choose(c, NULL, NULL, NULL, &n, e) < 0)
		return -1;
	if (strcmp(n.mode, NETWORK_ALLOW) != 0)
		return err_set(e, ERR_REFUSED, "its network is '%s', which has no list of hosts", n.mode);
	if (!strvec_has(&n.allow, host))
		strvec_push(&n.allow, host);
	if (network_check_forwards(&n, e) < 0)
		return -1;
	*ret = n;
	n = (struct network){ 0 };
	return 0;
}

/* One of the two files. */
static int add_to(int task_dir, bool now, const struct config *c, const char *host, struct err *e)
{
	auto_buf text = BUF_INIT(FILE_MAX_SIZE), before = BUF_INIT(FILE_MAX_SIZE);
	const char *name = now ? NOW_NAME : OWN_NAME;
	struct err none = ERR_INIT;
	auto_network n = { 0 };

	if (network_with(task_dir, now, c, host, &n, e) < 0 || print(&n, &text, e) < 0)
		return -1;
	if (!read_file(task_dir, name, &before, &none) && !strcmp(buf_str(&before), buf_str(&text)))
		return 0;
	return write_file(task_dir, name, buf_str(&text), text.len, 0600, e);
}

int network_add(int task_dir, bool own, const struct config *c, const char *host, struct err *e)
{
	bool now = !own || !faccessat(task_dir, NOW_NAME, F_OK, 0);
	auto_fd lock = -1;

	if (lock_take(task_dir, LOCK_NAME, true, &lock, e) < 0)
		return -1;
	if (now && add_to(task_dir, true, c, host, e) < 0)
		return -1;
	return own ? add_to(task_dir, false, c, host, e) : 0;
}

void network_forwards(const struct network *n, uint16_t ret[NETWORK_FORWARDS_MAX + 1])
{
	size_t k = 0;

	if (n->mode && !strcmp(n->mode, NETWORK_ALLOW))
		k = hosts_loopback_ports(&n->allow, ret, NETWORK_FORWARDS_MAX);
	ret[k < NETWORK_FORWARDS_MAX ? k : NETWORK_FORWARDS_MAX] = 0;
}

void network_env(const struct network *n, struct strvec *ret)
{
	static const char *const proxy[] = { "HTTP_PROXY=http://" PROXY, "HTTPS_PROXY=http://" PROXY,
		"http_proxy=http://" PROXY, "https_proxy=http://" PROXY, "ALL_PROXY=socks5h://" PROXY,
		"all_proxy=socks5h://" PROXY, "NO_PROXY=localhost,127.0.0.1,::1",
		"no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1", NULL };

	if (n->mode && !strcmp(n->mode, NETWORK_ALLOW))
		strvec_pushv(ret, proxy);
}
