#include "credentials/transfers.h"

#include <openssl/ssl.h>
#include <string.h>

#include "sys/clock.h"

/* How many encrypted bytes are read from the kernel at once. */
#define READ_AHEAD (128u << 10)
/* How many records of one descriptor are read before their content is passed on. */
#define ROUNDS 8

static struct watched *find(struct transfers *t, int fd)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->watched[i].fd == fd)
			return &t->watched[i];
	return NULL;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *unused)
{
	struct transfers *t = arg;
	struct watched *w = find(t, fd);

	(void)easy;
	(void)unused;
	if (what == CURL_POLL_REMOVE) {
		if (w)
			*w = t->watched[--t->n];
		return 0;
	}
	if (!w && t->n == TRANSFERS_FDS)
		return -1;
	if (!w) {
		w = &t->watched[t->n++];
		*w = (struct watched){ .fd = fd };
	}
	w->events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
	return 0;
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
	struct transfers *t = arg;

	(void)multi;
	t->due = ms < 0 ? -1 : clock_ms() + ms;
	return 0;
}

int transfers_open(struct transfers *t, struct err *e)
{
	*t = (struct transfers){ .due = -1 };
	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(t->curl = curl_multi_init()))
		return err_set(e, ERR_FAILED, "cannot start curl");
	curl_multi_setopt(t->curl, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(t->curl, CURLMOPT_SOCKETDATA, t);
	curl_multi_setopt(t->curl, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(t->curl, CURLMOPT_TIMERDATA, t);
	return 0;
}

static void on_record(int write, int version, int type, const void *data, size_t len, SSL *ssl, void *arg)
{
	struct transfers *t = arg;

	(void)version;
	(void)data;
	(void)len;
	(void)ssl;
	if (!write && type == SSL3_RT_HEADER)
		t->records++;
}

static CURLcode on_context(CURL *easy, void *context, void *arg)
{
	SSL_CTX *ctx = context;

	(void)easy;
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, READ_AHEAD);
	SSL_CTX_set_msg_callback(ctx, on_record);
	SSL_CTX_set_msg_callback_arg(ctx, arg);
	return CURLE_OK;
}

/* With another TLS library, curl passes something else to the callback. */
static bool uses_openssl(void)
{
	const char *name = curl_version_info(CURLVERSION_NOW)->ssl_version;

	return name && !strncmp(name, "OpenSSL/", 8);
}

void transfers_prepare(struct transfers *t, CURL *easy)
{
	if (!uses_openssl())
		return;
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, t);
}

static void mark_all(struct transfers *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->watched[i].again = true;
}

void transfers_resumed(struct transfers *t)
{
	mark_all(t);
}

size_t transfers_watch(const struct transfers *t, struct pollfd *fds)
{
	for (size_t i = 0; i < t->n; i++)
		fds[i] = (struct pollfd){ .fd = t->watched[i].fd, .events = t->watched[i].events };
	return t->n;
}

static bool has_more(const struct watched *w)
{
	return w->again && w->events & POLLIN;
}

int transfers_wait(const struct transfers *t, int ms)
{
	int64_t left = t->due < 0 ? ms : t->due - clock_ms();

	for (size_t i = 0; i < t->n; i++)
		if (has_more(&t->watched[i]))
			return 0;
	return left < 0 ? 0 : left < ms ? (int)left : ms;
}

static void serve(struct transfers *t, int fd, int bits)
{
	unsigned long before = t->records;
	struct watched *w;
	int running;

	curl_multi_socket_action(t->curl, fd, bits, &running);
	w = find(t, fd);
	if (w)
		w->again = t->records != before;
}

static void serve_timer(struct transfers *t)
{
	unsigned long before = t->records;
	int running;

	if (t->due < 0 || t->due > clock_ms())
		return;
	t->due = -1;
	curl_multi_socket_action(t->curl, CURL_SOCKET_TIMEOUT, 0, &running);
	/* it does not say which one it has read from */
	if (t->records != before)
		mark_all(t);
}

/* Serves the descriptors that may have more in OpenSSL's buffers. Returns false if there are none. */
static bool serve_again(struct transfers *t)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		if (!has_more(&t->watched[i]))
			continue;
		serve(t, t->watched[i].fd, CURL_CSELECT_IN);
		any = true;
	}
	return any;
}

void transfers_serve(struct transfers *t, const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int bits = (fds[i].revents & (POLLIN | POLLHUP | POLLERR) ? CURL_CSELECT_IN : 0) |
			   (fds[i].revents & (POLLOUT | POLLERR) ? CURL_CSELECT_OUT : 0) |
			   (fds[i].revents & POLLNVAL ? CURL_CSELECT_ERR : 0);

		if (bits && find(t, fds[i].fd))
			serve(t, fds[i].fd, bits);
	}
	serve_timer(t);
	for (int i = 0; i < ROUNDS && serve_again(t); i++)
		;
}
