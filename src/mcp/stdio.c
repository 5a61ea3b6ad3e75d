#include "mcp/stdio.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "mcp/message.h"
#include "sys/fd.h"

#define STEP (64u << 10)

static json_t *answer_line(struct mcp_server *s, const char *line, size_t len)
{
	char why[160] = "";
	json_t *message = message_parse(line, len, why), *ret;
	auto_str text = NULL;
	int ignored;

	if (!message) {
		text = xasprintf("Parse error: %s", why);
		return mcp_error(NULL, MCP_PARSE, text, NULL);
	}
	ret = mcp_answer(s, message, false, &ignored);
	json_decref(message);
	return ret;
}

void mcp_line(struct mcp_server *s, const char *line, size_t len, struct buf *out)
{
	json_t *answer;

	while (len && strchr(" \t\r", line[len - 1]))
		len--;
	if (!len || !(answer = answer_line(s, line, len)))
		return;
	message_write(out, answer);
	if (out->overflow) {
		json_t *id = json_object_get(answer, "id"), *error;

		error = mcp_error(id, MCP_INVALID, "The answer is too long", NULL);
		buf_reset(out);
		message_write(out, error);
		json_decref(error);
	}
	buf_addch(out, '\n');
	json_decref(answer);
}

/* The input: lines, of which the last one may not be complete. */
struct input {
	struct buf buf;
	size_t seen; /* how many bytes were searched and have no line end */
	bool skip;   /* up to the next line end: the line is too long */
};

static int send_one(struct mcp_server *s, const char *line, size_t len, int out)
{
	auto_buf answer = BUF_INIT(MCP_ANSWER_MAX);

	mcp_line(s, line, len, &answer);
	return answer.len ? write_full(out, answer.data, answer.len) : 0;
}

static int refuse_long(int out)
{
	auto_buf answer = BUF_SMALL;
	json_t *error = mcp_error(NULL, MCP_INVALID, "The message is too long", NULL);

	message_write(&answer, error);
	buf_addch(&answer, '\n');
	json_decref(error);
	return write_full(out, answer.data, answer.len);
}

/* Answers all complete lines. */
static int take_lines(struct mcp_server *s, struct input *in, int out)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(in->buf.data + in->seen, '\n', in->buf.len - in->seen))) {
		size_t stop = (size_t)(end - in->buf.data);

		if (!in->skip && send_one(s, in->buf.data + at, stop - at, out) < 0)
			return -1;
		in->skip = false;
		at = in->seen = stop + 1;
	}
	if (at) {
		memmove(in->buf.data, in->buf.data + at, in->buf.len - at);
		buf_cut(&in->buf, in->buf.len - at);
	}
	in->seen = in->buf.len;
	if (in->skip || in->buf.len > MCP_MESSAGE_MAX) {
		if (!in->skip && refuse_long(out) < 0)
			return -1;
		in->skip = true;
		buf_cut(&in->buf, 0);
		in->seen = 0;
	}
	return 0;
}

int mcp_stdio(struct mcp_server *s, int in, int out)
{
	struct input input = { .buf = BUF_INIT(MCP_MESSAGE_MAX + 2 * STEP) };
	int rc = 0;

	while (!rc) {
		char *room = buf_reserve(&input.buf, STEP);
		ssize_t n = room ? read(in, room, STEP) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		input.buf.len += (size_t)n;
		input.buf.data[input.buf.len] = '\0';
		rc = take_lines(s, &input, out);
	}
	buf_release(&input.buf);
	return rc;
}
