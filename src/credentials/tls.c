#include "credentials/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"

#define AT_ONCE (256u << 10)
#define RAW_MAX (1u << 20)
/* How much of a client's input is read before its answers are written. */
#define FILL_MAX (256u << 10)

struct tls {
	SSL *ssl;
	BIO *in;        /* encrypted bytes from the client; the SSL owns it */
	struct buf raw; /* encrypted bytes for it */
	size_t sent;    /* of raw */
};

/* OpenSSL writes directly to t->raw: a BIO in memory would copy the bytes once more. */
static int output_write(BIO *bio, const char *data, int len)
{
	struct tls *t = BIO_get_data(bio);

	if (t->sent == t->raw.len) {
		buf_reset(&t->raw);
		t->sent = 0;
	}
	return buf_add(&t->raw, data, (size_t)len) ? len : -1;
}

static long output_ctrl(BIO *bio, int what, long number, void *arg)
{
	(void)bio;
	(void)number;
	(void)arg;
	return what == BIO_CTRL_FLUSH || what == BIO_CTRL_PUSH || what == BIO_CTRL_POP;
}

static BIO *new_output(struct tls *t)
{
	static BIO_METHOD *method;
	BIO *bio;

	if (!method && (method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "output"))) {
		BIO_meth_set_write(method, output_write);
		BIO_meth_set_ctrl(method, output_ctrl);
	}
	bio = method ? BIO_new(method) : NULL;
	if (bio) {
		BIO_set_data(bio, t);
		BIO_set_init(bio, 1);
	}
	return bio;
}

struct tls *tls_new(SSL_CTX *ctx, const char *early, size_t len)
{
	struct tls *t = xcalloc(1, sizeof(*t));
	BIO *out;

	t->raw = (struct buf)BUF_INIT(RAW_MAX);
	t->ssl = SSL_new(ctx);
	t->in = BIO_new(BIO_s_mem());
	out = new_output(t);
	if (!t->ssl || !t->in || !out) {
		BIO_free(t->in);
		BIO_free(out);
		SSL_free(t->ssl);
		free(t);
		return NULL;
	}
	/* an empty one is not an end */
	BIO_set_mem_eof_return(t->in, -1);
	SSL_set_bio(t->ssl, t->in, out);
	SSL_set_accept_state(t->ssl);
	if (len)
		BIO_write(t->in, early, (int)len);
	return t;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	buf_release(&t->raw);
	free(t);
}

static int failed(int error)
{
	ERR_clear_error();
	errno = error;
	return -1;
}

/* Takes more bytes from the socket: like recv. */
static ssize_t fill(struct tls *t, int fd)
{
	char data[16384];
	ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

	if (n > 0 && BIO_write(t->in, data, (int)n) != (int)n)
		return failed(ENOMEM);
	return n;
}

ssize_t tls_read(struct tls *t, int fd, char *to, size_t room)
{
	size_t filled = 0;

	for (;;) {
		size_t n = 0;
		ssize_t got;
		int rc = SSL_read_ex(t->ssl, to, room, &n), why;

		if (rc == 1)
			return (ssize_t)n;
		why = SSL_get_error(t->ssl, rc);
		if (why == SSL_ERROR_ZERO_RETURN)
			return 0;
		if (why != SSL_ERROR_WANT_READ)
			return failed(EPROTO);
		if (filled > FILL_MAX)
			return failed(EAGAIN);
		got = fill(t, fd);
		if (got <= 0)
			return got;
		filled += (size_t)got;
	}
}

int tls_flush(struct tls *t, int fd)
{
	if (t->raw.overflow)
		return failed(ENOBUFS);
	while (t->sent < t->raw.len) {
		ssize_t n =
			send(fd, t->raw.data + t->sent, t->raw.len - t->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return -1;
		t->sent += (size_t)n;
	}
	return 0;
}

ssize_t tls_write(struct tls *t, int fd, const char *data, size_t len)
{
	size_t n = 0;
	int rc;

	/* one part at a time, so that a client that does not read cannot fill the memory */
	if (tls_flush(t, fd) < 0)
		return -1;
	rc = SSL_write_ex(t->ssl, data, len < AT_ONCE ? len : AT_ONCE, &n);
	if (rc != 1)
		return failed(SSL_get_error(t->ssl, rc) == SSL_ERROR_WANT_READ ? EAGAIN : EPROTO);
	if (tls_flush(t, fd) < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	return (ssize_t)n;
}

void tls_end(struct tls *t)
{
	SSL_shutdown(t->ssl);
	ERR_clear_error();
}

bool tls_wants_to_write(const struct tls *t)
{
	return t->sent < t->raw.len;
}

bool tls_has_more(const struct tls *t)
{
	return SSL_pending(t->ssl) > 0 || BIO_pending(t->in) > 0;
}
