#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "credentials/server.h"
#include "sys/fd.h"

#define CA_MAX          (16u << 20)
#define CONNECT_SECONDS 30
#define SILENT_SECONDS  1200L
/* Six digits are enough: OUT_MAX has no room for a longer chunk. */
#define CHUNK_HEAD   "000000\r\n"
#define CHUNK_FORMAT "%06zx\r\n"
#define DEFAULT_CA   "/etc/ssl/certs/ca-certificates.crt"

/* Whether it is the field's name, which is in lower case. Many servers make "accept_encoding" and "accept-encoding" one. */
static bool is_named(const char *name, const char *field)
{
	for (; *name && *field; name++, field++)
		if (*field != (*name == '_' ? '-' : tolower((unsigned char)*name)))
			return false;
	return !*name && !*field;
}

/* Fields that belong to one connection, and those that are set here. */
static bool is_ours(const char *name)
{
	static const char *const names[] = { "host", "connection", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "content-length", "expect", "accept-encoding", "alt-svc",
		"strict-transport-security" };

	if (!strncasecmp(name, "proxy-", 6) || !strncasecmp(name, "proxy_", 6))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(name, names[i]))
			return true;
	return false;
}

static void add_field(struct conn *c, const char *name, const char *before, const char *value)
{
	auto_str line =
		*before || *value ? xasprintf("%s: %s%s", name, before, value) : xasprintf("%s;", name);
	struct curl_slist *more = curl_slist_append(c->up.fields, line);

	explicit_bzero(line, strlen(line));
	if (more)
		c->up.fields = more;
}

/* The only place where a secret enters a request. */
static void add_clients_field(struct conn *c, const char *name, const char *value)
{
	const struct service *s = conn_service(c);
	size_t scheme = !strncasecmp(value, "bearer ", 7) ? 7 : 0;
	auto_str before = xstrndup(value, scheme);
	const struct secret *secret = NULL;

	if (s && strvec_has(&s->headers, name))
		secret = vault_secret(&c->server->table, s, value + scheme, strlen(value + scheme));
	add_field(c, name, secret ? before : "", secret ? secret->real : value);
}

/* With the first of these fields a server answers with a part of a resource or in another encoding, in which a secret could
 * not be found. With the others it takes another method or path, which may not be on the list. */
static bool changes_meaning(const char *name)
{
	static const char *const names[] = { "range", "if-range", "a-im", "accept-charset",
		"x-goog-encode-response-if-executable", "x-http-method-override", "x-http-method",
		"x-method-override", "x-original-method", "x-original-url", "x-original-uri",
		"x-rewrite-url" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(name, names[i]))
			return true;
	return false;
}

static void add_fields(struct conn *c)
{
	static const char *const none[] = { "Expect:", "Accept:", "User-Agent:", "Content-Type:" };
	const struct head *h = &c->head;

	/* curl adds these by itself unless it is told not to; the client's own field comes later */
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		auto_str name = xstrndup(none[i], strlen(none[i]) - 1);

		for (char *p = name; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		if (i == 0 || !head_value(h, name))
			c->up.fields = curl_slist_append(c->up.fields, none[i]);
	}
	/* a compressed answer cannot be searched for secrets */
	c->up.fields = curl_slist_append(c->up.fields, "Accept-Encoding: identity");
	for (size_t i = 0; i < h->names.n; i++)
		if (!is_ours(h->names.v[i]) && !(conn_service(c) && changes_meaning(h->names.v[i])))
			add_clients_field(c, h->names.v[i], h->values.v[i]);
}

static size_t on_read(char *to, size_t size, size_t n, void *arg)
{
	struct conn *c = arg;
	size_t left = c->body.len - c->up.body_sent, want = size * n;

	if (!left && !c->framing.done) {
		c->up.read_paused = true;
		return CURL_READFUNC_PAUSE;
	}
	if (want > left)
		want = left;
	memcpy(to, c->body.data + c->up.body_sent, want);
	c->up.body_sent += want;
	return want;
}

/* A connection that was kept open may turn out to be closed; then the request is sent again. */
static int on_seek(void *arg, curl_off_t offset, int origin)
{
	struct conn *c = arg;

	if (origin != SEEK_SET || offset < 0 || (size_t)offset > c->body.len)
		return CURL_SEEKFUNC_FAIL;
	c->up.body_sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Whether curl has decoded the body: a server may compress it unasked. */
static bool is_decoded(const struct conn *c)
{
	return conn_service(c) && strcasestr(c->up.head.data, "\ncontent-encoding:");
}

/* Passes on the head of the answer: status line and fields, which are in up.head line by line. */
static void pass_head(struct conn *c)
{
	struct buf *head = &c->up.head;
	bool length = false, decoded = is_decoded(c);
	long status = 0;
	char *save = NULL;

	curl_easy_getinfo(c->up.easy, CURLINFO_RESPONSE_CODE, &status);
	scrub_text(&c->server->table, head->data, head->len);
	c->up.no_body = status == 204 || status == 304 || !strcmp(c->head.method, "HEAD");
	for (char *line = strtok_r(head->data, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		const char *reason = strchr(line, ' ');
		auto_str name = xstrndup(line, strcspn(line, ": "));

		if (!strncmp(line, "HTTP/", 5)) {
			reason = reason ? strchr(reason + 1, ' ') : NULL;
			buf_printf(&c->out, "HTTP/1.1 %03ld%s\r\n", status, reason ? reason : " ");
			continue;
		}
		if (decoded && (!strcasecmp(name, "content-length") || !strcasecmp(name, "content-encoding")))
			continue;
		length |= !strcasecmp(name, "content-length");
		if (!is_ours(name) || !strcasecmp(name, "content-length"))
			buf_printf(&c->out, "%s\r\n", line);
	}
	c->up.chunked = !length && !c->up.no_body;
	if (c->up.chunked)
		buf_addstr(&c->out, "Transfer-Encoding: chunked\r\n");
	if (c->head.close)
		buf_addstr(&c->out, "Connection: close\r\n");
	buf_addstr(&c->out, "\r\n");
	c->up.head_done = true;
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
	struct conn *c = arg;
	size_t len = size * n;
	long status = 0;

	if (c->up.head_done)
		return len; /* trailers */
	if (len >= 5 && !memcmp(data, "HTTP/", 5))
		buf_reset(&c->up.head);
	if (len > 2) {
		buf_add(&c->up.head, data, len);
		return c->up.head.overflow ? 0 : len;
	}
	curl_easy_getinfo(c->up.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && *buf_str(&c->up.head))
		pass_head(c);
	return len;
}

/* Pieces that arrive together are one chunk: its size is filled in at the end. */
static void pass_body(struct conn *c, const char *data, size_t len, bool last)
{
	const char *clean;
	size_t n = scrub_next(&c->up.scrub, &c->server->table, data, len, last, &clean);

	if (!n || c->up.no_body)
		return;
	if (c->up.chunked && !c->up.chunk && buf_add(&c->out, CHUNK_HEAD, sizeof(CHUNK_HEAD) - 1))
		c->up.chunk = c->out.len;
	buf_add(&c->out, clean, n);
}

void upstream_end_chunk(struct conn *c)
{
	char head[sizeof(CHUNK_HEAD)];

	if (!c->up.chunk)
		return;
	snprintf(head, sizeof(head), CHUNK_FORMAT, c->out.len - c->up.chunk);
	memcpy(c->out.data + c->up.chunk - strlen(head), head, strlen(head));
	buf_addstr(&c->out, "\r\n");
	c->up.chunk = 0;
}

static size_t on_write(char *data, size_t size, size_t n, void *arg)
{
	struct conn *c = arg;

	if (c->out.len - c->sent > OUT_HIGH) {
		c->up.write_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	pass_body(c, data, size * n, false);
	/* while curl decrypts the next part, the client works on this one */
	if (c->out.overflow || (c->out.len - c->sent >= OUT_SOON && !conn_write(c)))
		return 0;
	return size * n;
}

void upstream_trust(struct trust *ret)
{
	const char *bundle = getenv("CURL_CA_BUNDLE"), *file = getenv("SSL_CERT_FILE");
	const char *extra = getenv("NODE_EXTRA_CA_CERTS");
	auto_buf all = BUF_INIT(CA_MAX), more = BUF_INIT(CA_MAX);
	struct err ignored = ERR_INIT;

	*ret = (struct trust){ .file = bundle && *bundle ? bundle : file && *file ? file : DEFAULT_CA };
	/* curl caches certificates for all connections only if they come from a file */
	if (!extra || !*extra || !strcmp(extra, ret->file) || read_file(AT_FDCWD, extra, &more, &ignored) < 0)
		return;
	read_file(AT_FDCWD, ret->file, &all, &ignored);
	buf_printf(&all, "\n%s", buf_str(&more));
	ret->all = (struct curl_blob){ .len = all.len, .flags = CURL_BLOB_NOCOPY };
	ret->all.data = buf_steal(&all);
}

void upstream_options(CURL *easy, struct trust *trust)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_CAINFO, trust->file);
	if (trust->all.data)
		curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &trust->all);
}

static void set_method(struct conn *c)
{
	CURL *easy = c->up.easy;

	if (!strcmp(c->head.method, "HEAD")) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (c->head.chunked || c->head.length >= 0) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)c->head.length);
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, c->head.method);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
		curl_easy_setopt(easy, CURLOPT_READDATA, c);
		curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
		curl_easy_setopt(easy, CURLOPT_SEEKDATA, c);
	} else {
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, c->head.method);
	}
}

bool upstream_start(struct conn *c)
{
	const struct service *s = conn_service(c);
	auto_str url = s ? xasprintf("%s%s", s->url, c->path) : xasprintf("https://%s%s", c->host, c->path);
	CURL *easy = c->up.easy = curl_easy_init();

	if (!easy)
		return false;
	c->up.head_done = c->up.chunked = c->up.no_body = false;
	c->up.body_sent = c->up.chunk = 0;
	c->up.read_paused = c->up.write_paused = false;
	buf_reset(&c->up.head);
	buf_reset(&c->up.scrub.work);
	c->up.scrub.passed = 0;
	add_fields(c);
	upstream_options(easy, &c->server->trust);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, c->up.fields);
	/* the field itself says "identity"; this decodes what comes all the same, or ends in an error */
	if (s)
		curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	/* for the server alone, not for a proxy on the way */
	curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, c);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, c);
	set_method(c);
	transfers_prepare(&c->server->transfers, easy);
	if (curl_multi_add_handle(c->server->transfers.curl, easy) != CURLM_OK) {
		curl_easy_cleanup(easy);
		c->up.easy = NULL;
		return false;
	}
	return true;
}

void upstream_more(struct conn *c)
{
	if (!c->up.easy || !c->up.read_paused || (c->up.body_sent == c->body.len && !c->framing.done))
		return;
	c->up.read_paused = false;
	curl_easy_pause(c->up.easy, c->up.write_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

void upstream_drained(struct conn *c)
{
	if (!c->up.easy || !c->up.write_paused)
		return;
	c->up.write_paused = false;
	curl_easy_pause(c->up.easy, c->up.read_paused ? CURLPAUSE_SEND : CURLPAUSE_CONT);
	transfers_resumed(&c->server->transfers);
}

void upstream_done(struct conn *c, CURLcode result)
{
	if (result == CURLE_OK && c->up.head_done) {
		pass_body(c, "", 0, true);
		upstream_end_chunk(c);
		if (c->up.chunked)
			buf_addstr(&c->out, "0\r\n\r\n");
		conn_answered(c);
		return;
	}
	upstream_release(c);
	if (!c->up.head_done) {
		conn_refuse(c, 502, curl_easy_strerror(result));
		return;
	}
	/* the client sees an answer that ends too early */
	c->head.close = true;
	conn_answered(c);
}

void upstream_release(struct conn *c)
{
	if (c->up.easy) {
		curl_multi_remove_handle(c->server->transfers.curl, c->up.easy);
		curl_easy_cleanup(c->up.easy);
		c->up.easy = NULL;
	}
	for (struct curl_slist *f = c->up.fields; f; f = f->next)
		explicit_bzero(f->data, strlen(f->data));
	curl_slist_free_all(c->up.fields);
	c->up.fields = NULL;
}
