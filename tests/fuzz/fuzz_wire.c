/* Any bytes on the control socket: frames that are well-formed, or an error; and the terminal modes in OUT.
 */
#include <stdint.h>

#include "keeper/modes.h"
#include "keeper/wire.h"
#include "sys/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_modes(struct modes *m, const struct buf *body)
{
	auto_buf out = BUF_SMALL;

	modes_feed(m, body->data, body->len);
	modes_set(m, &out);
	modes_unset(m, &out);
	for (size_t i = 0; i < out.len; i++)
		if (!strchr("\x1b[?<>0123456789hlum", out.data[i]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_fd fd = fd_of_bytes("frames", data, size);
	auto_buf body = BUF_INIT(WIRE_FRAME_MAX);
	struct modes m = { 0 };
	enum wire_type type;

	while (fd >= 0 && wire_recv(fd, &type, &body) > 0) {
		struct wire_head h = { type, (uint32_t)body.len };

		if (!wire_head_ok(&h))
			abort();
		if (type == WIRE_OUT)
			check_modes(&m, &body);
	}
	return 0;
}
