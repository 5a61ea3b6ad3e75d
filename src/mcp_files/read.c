#include <ctype.h>
#include <errno.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "mcp_files/files.h"
#include "sys/fd.h"

#define STEP  (64u << 10)
#define FILES 1000

/* Which lines of a file are wanted, from 1 on; the last ones if `from` is negative. */
struct lines {
	int64_t from, count; /* count -1: all */
	bool numbered;
};

/* Where the last n pieces between line ends begin. -1 and errno. */
static off_t find_tail(int fd, off_t size, int64_t n)
{
	char piece[4096];

	for (off_t at = size; n > 0 && at > 0;) {
		size_t want = at > (off_t)sizeof(piece) ? sizeof(piece) : (size_t)at;
		ssize_t got = pread(fd, piece, want, at - (off_t)want);

		if (got != (ssize_t)want)
			return got < 0 ? -1 : 0;
		for (size_t i = want; i-- > 0;)
			if (piece[i] == '\n' && --n == 0)
				return at - (off_t)want + (off_t)i + 1;
		at -= (off_t)want;
	}
	return 0;
}

static bool ends_line(int fd, off_t size)
{
	char last = 0;

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last == '\n';
}

/* Collects the wanted lines, reading from here on. */
struct taker {
	struct buf *out;
	const struct lines *want;
	int64_t line;
	bool begun; /* of the current line something was taken */
};

/* False: no more is wanted, or no more fits. */
static bool take(struct taker *t, const char *data, size_t len)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) + 1 : len;

		if (t->want->count >= 0 && t->line >= t->want->from + t->want->count)
			return false;
		if (t->line >= t->want->from) {
			if (t->want->numbered && !t->begun)
				buf_printf(t->out, "%6lld\t", (long long)t->line);
			if (!buf_add(t->out, data, n))
				return false;
			t->begun = true;
		}
		if (end) {
			t->line++;
			t->begun = false;
		}
		data += n;
		len -= n;
	}
	return true;
}

static int64_t count_before(int fd, off_t end)
{
	char piece[STEP];
	int64_t n = 0;

	for (off_t at = 0; at < end;) {
		ssize_t got = pread(fd, piece, end - at > STEP ? STEP : (size_t)(end - at), at);

		if (got <= 0)
			break;
		for (ssize_t i = 0; i < got; i++)
			n += piece[i] == '\n';
		at += got;
	}
	return n;
}

static int read_lines(struct mcp_call *c, const char *path, int fd, const struct stat *st, struct lines *want,
	struct buf *out)
{
	struct taker t = { .out = out, .want = want, .line = 1 };
	struct deadline d = deadline_in(FILES_TOOL_MS);
	char piece[STEP];
	off_t at = 0;
	ssize_t n;

	if (want->from < 0) {
		at = find_tail(fd, st->st_size, -want->from + ends_line(fd, st->st_size));
		if (at < 0)
			return tool_refuse_errno(c, path, "read it");
		t.line = want->from = want->numbered ? count_before(fd, at) + 1 : 1;
	}
	while ((n = pread(fd, piece, sizeof(piece), at)) > 0 && take(&t, piece, (size_t)n)) {
		at += n;
		if (!deadline_left(&d))
			return tool_refuse(c, "too_slow", path, "reading took longer than %d seconds",
				FILES_TOOL_MS / 1000);
	}
	if (n < 0)
		return tool_refuse_errno(c, path, "read it");
	return out->overflow ? tool_refuse(c, "too_large", path, "these lines have more than %u bytes",
				       FILES_TEXT_MAX)
			     : 0;
}

/* As head and tail of server-filesystem: pieces between line ends, joined. */
static int read_end(struct mcp_call *c, const char *path, bool head, int64_t n, struct buf *out)
{
	struct lines want = { .from = 1, .count = n };
	struct stat st;
	auto_fd fd = open_file(c, path, &st);
	off_t at;

	if (fd < 0)
		return -1;
	if (head) {
		if (read_lines(c, path, fd, &st, &want, out) < 0)
			return -1;
		if (out->len && out->data[out->len - 1] == '\n')
			buf_cut(out, out->len - 1);
		return 0;
	}
	at = find_tail(fd, st.st_size, n);
	if (at < 0 || lseek(fd, at, SEEK_SET) < 0)
		return tool_refuse_errno(c, path, "read it");
	if (st.st_size - at > (off_t)FILES_TEXT_MAX)
		return tool_refuse(
			c, "too_large", path, "these lines have more than %u bytes", FILES_TEXT_MAX);
	struct err e = ERR_INIT;
	return read_rest(fd, out, "the file", &e) < 0 ? tool_refuse(c, "failed", path, "%s", e.msg) : 0;
}

/* A range may begin and end within a character: such a part is left out. */
static void cut_characters(struct buf *b)
{
	size_t skip = 0, end = b->len;

	while (skip < b->len && skip < 3 && ((unsigned char)b->data[skip] & 0xc0) == 0x80)
		skip++;
	for (size_t i = 1; i <= 3 && i <= b->len - skip; i++) {
		unsigned char first = (unsigned char)b->data[b->len - i];

		if ((first & 0xc0) == 0x80)
			continue;
		if (first >= 0xc0 && i < (first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u))
			end = b->len - i;
		break;
	}
	memmove(b->data, b->data + skip, end - skip);
	buf_cut(b, end - skip);
}

static int read_bytes(struct mcp_call *c, const char *path, int64_t from, int64_t len, struct buf *out)
{
	struct stat st;
	auto_fd fd = open_file(c, path, &st);
	char *room;
	ssize_t n;

	if (fd < 0)
		return -1;
	if (len < 0 || len > st.st_size - from)
		len = from < st.st_size ? st.st_size - from : 0;
	if (len > FILES_TEXT_MAX)
		return tool_refuse(c, "too_large", path, "at most %u bytes are read at once", FILES_TEXT_MAX);
	if (!len)
		return 0;
	room = buf_reserve(out, (size_t)len);
	n = pread(fd, room, (size_t)len, from);
	if (n < 0)
		return tool_refuse_errno(c, path, "read it");
	out->len += (size_t)n;
	out->data[out->len] = '\0';
	cut_characters(out);
	return 0;
}

/* Reads what the arguments ask for. */
static int read_asked(struct mcp_call *c, const char *path, struct buf *out)
{
	int64_t head = 0, tail = 0, offset = 1, limit = -1, byte = 0, bytes = -1;
	bool from_line = arg_number(c, "offset", &offset), lines = arg_number(c, "limit", &limit);
	bool from_byte = arg_number(c, "byte_offset", &byte), n_bytes = arg_number(c, "byte_length", &bytes);
	bool by_line = from_line || lines || arg_flag(c, "line_numbers"), by_byte = from_byte || n_bytes;
	struct lines want = { offset ? offset : 1, limit, arg_flag(c, "line_numbers") };
	struct stat st;

	arg_number(c, "head", &head);
	arg_number(c, "tail", &tail);
	if ((head != 0) + (tail != 0) + by_line + by_byte > 1)
		return tool_refuse(c, "bad_arguments", NULL,
			"only one of head, tail, lines (offset, limit) and bytes can be asked for");
	if (head || tail)
		return read_end(c, path, head != 0, head ? head : tail, out);
	if (by_byte)
		return read_bytes(c, path, byte, bytes, out);
	if (!by_line)
		return read_whole(c, path, out, &st);
	auto_fd fd = open_file(c, path, &st);
	return fd < 0 ? -1 : read_lines(c, path, fd, &st, &want, out);
}

void tool_read_text(struct mcp_call *c)
{
	auto_buf text = BUF_INIT(FILES_TEXT_MAX);
	auto_str path = arg_path(c, "path");
	char hash[80] = "sha256: ";

	if (!path || read_asked(c, path, &text) < 0 || check_utf8(c, path, buf_str(&text), text.len) < 0)
		return;
	mcp_text(c, buf_str(&text), text.len);
	if (!arg_flag(c, "hash"))
		return;
	hash_text(buf_str(&text), text.len, hash + strlen(hash));
	mcp_text(c, hash, strlen(hash));
}

static const char *type_of(const char *path)
{
	static const char *const types[][2] = { { ".png", "image/png" }, { ".jpg", "image/jpeg" },
		{ ".jpeg", "image/jpeg" }, { ".gif", "image/gif" }, { ".webp", "image/webp" },
		{ ".bmp", "image/bmp" }, { ".svg", "image/svg+xml" }, { ".mp3", "audio/mpeg" },
		{ ".wav", "audio/wav" }, { ".ogg", "audio/ogg" }, { ".flac", "audio/flac" } };
	const char *base = path_base(path), *dot = strrchr(base, '.');

	for (size_t i = 0; dot && dot != base && i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(dot, types[i][0]))
			return types[i][1];
	return "application/octet-stream";
}

static void add_url(struct buf *out, const char *path)
{
	buf_addstr(out, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < 0x80 && (isalnum(c) || strchr("/-_.!~*'();:@&=+$,", c)))
			buf_addch(out, *path);
		else
			buf_printf(out, "%%%02X", c);
	}
}

static json_t *media_block(const struct files *f, const char *path, const char *base64, size_t len)
{
	const char *type = type_of(path);
	auto_str shown = path_shown(f, path);
	auto_buf url = BUF_INIT(128 << 10);
	json_t *data = json_stringn_nocheck(base64, len);

	if (!strncmp(type, "image/", 6) || !strncmp(type, "audio/", 6))
		return json_pack("{s:s, s:o, s:s}", "type", *type == 'i' ? "image" : "audio", "data", data,
			"mimeType", type);
	add_url(&url, shown);
	return json_pack("{s:s, s:{s:s, s:s, s:o}}", "type", "resource", "resource", "uri", buf_str(&url),
		"mimeType", type, "blob", data);
}

void tool_read_media(struct mcp_call *c)
{
	auto_buf data = BUF_INIT(FILES_TEXT_MAX);
	auto_str path = arg_path(c, "path"), text = NULL;
	struct base64_encode_ctx ctx;
	struct stat st;
	json_t *block;
	size_t len;

	if (!path || read_whole(c, path, &data, &st) < 0)
		return;
	text = xcalloc(1, BASE64_ENCODE_LENGTH(data.len) + BASE64_ENCODE_FINAL_LENGTH + 1);
	base64_encode_init(&ctx);
	len = base64_encode_update(&ctx, text, data.len, (const uint8_t *)buf_str(&data));
	len += base64_encode_final(&ctx, text + len);
	block = media_block(c->ctx, path, text, len);
	json_array_append(c->content, block);
	c->structured = json_pack("{s:[o]}", "content", block);
}

/* One file of several: its error, if there is one, is printed in its place. */
static void add_file(struct mcp_call *c, const char *given, struct buf *out)
{
	struct mcp_call one = { .ctx = c->ctx, .args = c->args, .content = json_array() };
	auto_buf text = BUF_INIT(FILES_TEXT_MAX);
	auto_str path = path_beneath(&one, given);
	struct stat st;

	if (path && !read_whole(&one, path, &text, &st) && !check_utf8(&one, path, buf_str(&text), text.len))
		buf_printf(out, "%s:\n", given), buf_add(out, buf_str(&text), text.len), buf_addch(out, '\n');
	else
		buf_printf(out, "%s: Error - %s", given,
			json_string_value(json_object_get(json_array_get(one.content, 0), "text")));
	json_decref(one.content);
}

void tool_read_many(struct mcp_call *c)
{
	json_t *paths = json_object_get(c->args, "paths"), *v;
	auto_buf out = BUF_INIT(2 * FILES_TEXT_MAX);
	size_t i;

	if (!json_array_size(paths) || json_array_size(paths) > FILES) {
		tool_refuse(c, "bad_arguments", NULL, "between 1 and %d paths are read at once", FILES);
		return;
	}
	json_array_foreach(paths, i, v)
	{
		if (i)
			buf_addstr(&out, "\n---\n");
		add_file(c, json_string_value(v), &out);
	}
	if (out.overflow)
		tool_refuse(c, "too_large", NULL, "these files have more than %u bytes", 2 * FILES_TEXT_MAX);
	else
		mcp_text(c, out.data, out.len);
}
