#include "credentials/head.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define CHUNK_DIGITS 7 /* 256 MB */

void head_release(struct head *h)
{
	free(h->target);
	strvec_release(&h->names);
	strvec_release(&h->values);
	*h = (struct head){ 0 };
}

static int refuse(struct head *h, int status, const char *why)
{
	h->status = status;
	h->why = why;
	return -1;
}

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t token_len(const char *p, size_t max)
{
	size_t n = 0;

	while (n < max && is_token(p[n]))
		n++;
	return n;
}

/* The length of the first line without its CR LF; -1: it is not complete; -2: it ends in something else. */
static ssize_t line_len(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n' || p[i] == '\0')
			return -2;
		if (p[i] != '\r')
			continue;
		if (i + 1 == len)
			return -1;
		return p[i + 1] == '\n' ? (ssize_t)i : -2;
	}
	return -1;
}

static int parse_start(const char *line, size_t len, struct head *h)
{
	size_t m = token_len(line, len), t;
	const char *target = line + m + 1;

	if (!m || m >= sizeof(h->method) || m == len || line[m] != ' ')
		return refuse(h, 400, "the request line is malformed");
	memcpy(h->method, line, m);
	for (t = 0; m + 1 + t < len && target[t] > ' ' && target[t] < 127;)
		t++;
	if (len != m + 1 + t + 9 || memcmp(target + t, " HTTP/1.", 8))
		return refuse(h, 400, "the request line is malformed");
	if (target[t + 8] != '1')
		return refuse(h, 505, "only HTTP/1.1 is spoken here");
	/* an absolute URL would name another host */
	if (*target != '/')
		return refuse(h, 400, "the target is not a path");
	h->target = xstrndup(target, t);
	return 0;
}

static int parse_length(const char *value, struct head *h)
{
	size_t n = strlen(value);

	if (h->length >= 0)
		return refuse(h, 400, "there are two Content-Length fields");
	if (!n || n > 15 || strspn(value, "0123456789") != n)
		return refuse(h, 400, "the Content-Length is not a number");
	h->length = strtoll(value, NULL, 10);
	return 0;
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (*list) {
		size_t len;

		list += strspn(list, ", \t");
		len = strcspn(list, ", \t");
		if (len == n && !strncasecmp(list, word, n))
			return true;
		list += len;
	}
	return false;
}

static int note_field(const char *name, const char *value, struct head *h)
{
	if (!strcmp(name, "content-length"))
		return parse_length(value, h);
	if (!strcmp(name, "transfer-encoding")) {
		if (h->chunked || strcasecmp(value, "chunked"))
			return refuse(h, 400, "the Transfer-Encoding is not understood");
		h->chunked = true;
	} else if (!strcmp(name, "connection")) {
		h->close |= has_word(value, "close");
	} else if (!strcmp(name, "expect")) {
		if (strcasecmp(value, "100-continue"))
			return refuse(h, 417, "only 100-continue can be expected");
		h->expects = true;
	} else if (!strcmp(name, "upgrade")) {
		h->upgrade = true;
	}
	return 0;
}

static int parse_field(const char *line, size_t len, struct head *h)
{
	size_t n = token_len(line, len), end = len;
	auto_str name = xstrndup(line, n), value = NULL;

	/* a line that begins with a blank has an empty name */
	if (!n || n == len || line[n] != ':')
		return refuse(h, 400, "a header field is malformed");
	if (h->names.n == HEAD_FIELDS)
		return refuse(h, 431, "there are too many header fields");
	for (size_t i = n + 1; i < len; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 127)
			return refuse(h, 400, "a header field contains a control character");
	n++;
	while (n < end && (line[n] == ' ' || line[n] == '\t'))
		n++;
	while (end > n && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		end--;
	value = xstrndup(line + n, end - n);
	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	strvec_push(&h->names, name);
	strvec_push(&h->values, value);
	return note_field(name, value, h);
}

static int check_whole(struct head *h)
{
	if (h->chunked && h->length >= 0)
		return refuse(h, 400, "there are both Content-Length and Transfer-Encoding");
	if (!head_value(h, "host"))
		return refuse(h, 400, "there is no Host field");
	return 1;
}

int head_parse(const char *data, size_t len, struct head *ret)
{
	const char *p = data;
	size_t left = len;
	bool first = true;

	*ret = (struct head){ .length = -1 };
	for (;;) {
		ssize_t n = line_len(p, left < HEAD_MAX ? left : HEAD_MAX);

		if (n == -2)
			return refuse(ret, 400, "a line does not end in CR LF");
		if (n < 0 || (size_t)(p - data) + (size_t)n > HEAD_MAX)
			return len >= HEAD_MAX ? refuse(ret, 431, "the head is too long") : 0;
		if (first ? parse_start(p, (size_t)n, ret) < 0 : n && parse_field(p, (size_t)n, ret) < 0)
			return -1;
		p += n + 2;
		left -= (size_t)n + 2;
		if (!first && !n) {
			ret->used = (size_t)(p - data);
			return check_whole(ret);
		}
		first = false;
	}
}

const char *head_value(const struct head *h, const char *name)
{
	for (size_t i = 0; i < h->names.n; i++)
		if (!strcmp(h->names.v[i], name))
			return h->values.v[i];
	return NULL;
}

void body_begin(struct body *b, const struct head *h)
{
	*b = (struct body){ .left = h->length > 0 ? h->length : 0, .state = CHUNK_SIZE };
	b->done = !h->chunked && !b->left;
}

/* Moves as many bytes of the body as there are. */
static size_t take_bytes(struct body *b, const char *data, size_t len, struct buf *out)
{
	size_t n = (int64_t)len < b->left ? len : (size_t)b->left;

	buf_add(out, data, n);
	b->left -= (int64_t)n;
	return n;
}

/* The line with a chunk's size: digits and nothing else. */
static ssize_t take_size(struct body *b, const char *data, size_t len)
{
	ssize_t n = line_len(data, len);
	char digits[CHUNK_DIGITS + 1] = "";

	if (n == -1)
		return len > CHUNK_DIGITS + 1 ? -1 : 0;
	if (n <= 0 || n > CHUNK_DIGITS)
		return -1;
	memcpy(digits, data, (size_t)n);
	if (strspn(digits, "0123456789abcdefABCDEF") != (size_t)n)
		return -1;
	b->left = strtoll(digits, NULL, 16);
	b->state = b->left ? CHUNK_DATA : CHUNK_LAST;
	return n + 2;
}

/* The empty line after a chunk, or after the last one: trailers are refused. */
static ssize_t take_end(struct body *b, const char *data, size_t len)
{
	if (len < 2)
		return len && *data != '\r' ? -1 : 0;
	if (memcmp(data, "\r\n", 2))
		return -1;
	b->done = b->state == CHUNK_LAST;
	b->state = CHUNK_SIZE;
	return 2;
}

ssize_t body_take(struct body *b, const struct head *h, const char *data, size_t len, struct buf *out)
{
	size_t used = 0;

	while (!b->done) {
		const char *p = data + used;
		size_t left = len - used;
		ssize_t n;

		if (!h->chunked || b->state == CHUNK_DATA)
			n = (ssize_t)take_bytes(b, p, left, out);
		else
			n = b->state == CHUNK_SIZE ? take_size(b, p, left) : take_end(b, p, left);
		if (n < 0 || out->overflow)
			return -1;
		used += (size_t)n;
		if (!h->chunked)
			b->done = !b->left;
		else if (b->state == CHUNK_DATA && !b->left)
			b->state = CHUNK_END;
		if (!n)
			break;
	}
	return (ssize_t)used;
}
