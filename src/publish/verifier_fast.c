/* garth-fast-unpack in the verifier (fast_unpack/fast_unpack.h): unpacks small packs without starting a git for each. */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "publish/verifier_parts.h"

/* The largest pack that it takes: fast_unpack/fast_unpack.h. */
#define PACK_MAX (1u << 20)
#define SECONDS  20

void verifier_start_fast(struct verifier *v)
{
	struct err ignored = ERR_INIT;
	auto_order_cmd git = { 0 }, cmd = { .cwd = xstrdup("/") };
	auto_strvec none = STRVEC_INIT;

	runner_drop_piped(&v->runner, &v->fast);
	verifier_command(v, QUARANTINE_MEMORY, &none, &git);
	strvec_pushl(&cmd.argv, v->fast_path, v->tmp, NULL);
	strvec_pushf(&cmd.argv, "%u", v->repo->hash_len);
	strvec_push(&cmd.argv, "--");
	strvec_pushv(&cmd.argv, (const char *const *)git.argv.v);
	strvec_pushv(&cmd.env, (const char *const *)git.env.v);
	runner_start_piped(&v->runner, &cmd, -1, true, false, &v->fast, &ignored);
}

/* Length and pack, as garth-fast-unpack reads them. False if the pack is not for it. */
static bool load(int pack_fd, uint64_t max, struct buf *ret)
{
	uint32_t head;
	struct stat st;
	size_t len;

	if (fstat(pack_fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > PACK_MAX ||
		(max && (uint64_t)st.st_size > max))
		return false;
	len = (size_t)st.st_size;
	head = htobe32((uint32_t)len);
	if (!buf_add(ret, (const char *)&head, sizeof(head)) || !buf_reserve(ret, len) ||
		pread(pack_fd, ret->data + ret->len, len, 0) != (ssize_t)len)
		return false;
	ret->len += len;
	return true;
}

/* Sends the pack and waits for a one-letter answer; '\0' if none comes. */
static char ask(struct verifier *v, const struct buf *text)
{
	struct deadline d = deadline_in(SECONDS * 1000);
	size_t sent = 0;
	char answer = '\0';

	for (;;) {
		int left = deadline_left(&d);
		struct pollfd p[] = { { v->fast.out, POLLIN, 0 },
			{ sent < text->len ? v->fast.in : -1, POLLOUT, 0 }, { v->runner.caller, 0, 0 } };
		ssize_t n;

		if (!left || (poll(p, ARRAY_SIZE(p), left) < 0 && errno != EINTR))
			return '\0';
		if (p[0].revents && (n = read(v->fast.out, &answer, 1)) >= 0)
			return n && sent == text->len ? answer : '\0';
		if (p[1].revents && (n = write(v->fast.in, text->data + sent, text->len - sent)) >= 0)
			sent += (size_t)n;
		else if (p[1].revents && errno != EAGAIN && errno != EINTR)
			return '\0';
		if (p[2].revents && runner_is_unwanted(&v->runner))
			return '\0';
	}
}

int verifier_take_fast(struct verifier *v, int pack_fd, uint64_t max, bool *ret, struct err *e)
{
	auto_buf text = BUF_INIT(PACK_MAX + sizeof(uint32_t));
	char answer;

	*ret = false;
	if (!v->fast.id)
		return 0;
	v->spoiled = !runner_is_waiting(&v->runner, &v->fast);
	if (!v->spoiled && !load(pack_fd, max, &text))
		return 0;
	answer = v->spoiled ? '\0' : ask(v, &text);
	v->left_to_git = answer != 'p';
	*ret = answer == 'p';
	if (answer == 'p' || answer == 'g')
		return 0;
	v->spoiled = true;
	return err_set(e, ERR_FAILED, "what takes small packs apart did not end its work");
}
