#include "acp/parts.h"

#include <sys/stat.h>

#include "base/alloc.h"
#include "mcp/message.h"
#include "sys/digest.h"
#include "task/program.h"

#define ANSWER_MAX (256u << 10)

/* False if a later version of the program could not be told apart from this one. */
static bool add_program(const struct acp *a, struct buf *out)
{
	auto_str path = program_find(a->o->argv[0]), real = path ? canonicalize_file_name(path) : NULL;
	struct stat st;

	if (!real || stat(real, &st) < 0)
		return false;
	buf_printf(out, "%s %llu %llu %lld %lld.%09ld\n", real, (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec);
	return true;
}

/* The key of an answer: this version of Garth, the program, its arguments, and the question. */
static bool find_key(const struct acp *a, char out[2 * DIGEST_SHA256_LEN + 1])
{
	auto_buf text = BUF_INIT(1u << 20);
	unsigned char digest[DIGEST_MAX];

	buf_printf(&text, "%s\n", GARTH_VERSION);
	if (!add_program(a, &text))
		return false;
	for (char *const *word = a->o->argv; *word; word++)
		buf_add(&text, *word, strlen(*word) + 1);
	for (size_t i = 0; i < a->o->env->n; i++)
		buf_add(&text, a->o->env->v[i], strlen(a->o->env->v[i]) + 1);
	buf_printf(&text, "\n%s\n", a->o->agent ? a->o->agent : "");
	message_write(&text, a->hello);
	if (text.overflow)
		return false;
	digest_of(DIGEST_SHA256_LEN, text.data, text.len, digest);
	for (size_t i = 0; i < DIGEST_SHA256_LEN; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return true;
}

char *known_answer(struct acp *a)
{
	char key[2 * DIGEST_SHA256_LEN + 1];
	struct err ignored = ERR_INIT;
	auto_str text = NULL;

	if (!find_key(a, key) || context_store(&a->context, &ignored) < 0 ||
		store_acp_answer(a->context.store, key, &text, &ignored) < 0 || !*text)
		return NULL;
	return steal_ptr(text);
}

void known_keep(struct acp *a, const json_t *result)
{
	auto_buf text = BUF_INIT(ANSWER_MAX);
	auto_str old = known_answer(a);
	char key[2 * DIGEST_SHA256_LEN + 1];
	struct err ignored = ERR_INIT;

	message_write(&text, result);
	/* a NUL cannot be in it: they are written as escapes */
	if (text.overflow || (old && !strcmp(old, text.data)) || !find_key(a, key) ||
		context_store(&a->context, &ignored) < 0)
		return;
	store_acp_answer_set(a->context.store, key, text.data, &ignored);
}
