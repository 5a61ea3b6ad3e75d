/* Any text as a name: what passes is a file's name and a ref's, and every suggestion passes. */
#include <stdint.h>

#include "base/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	char out[NAME_MAX_LEN + 1];
	struct err e = ERR_INIT;

	if (!text)
		return 0;
	if (!name_check_task(text, &e) &&
		(!*text || strlen(text) > NAME_MAX_LEN || text[0] == '.' || text[0] == '-' ||
			strstr(text, "..") || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-")]))
		abort();
	name_suggest(text, out);
	if (name_check_task(out, &e) < 0)
		abort();
	if (name_is_variable((const char *)data, size) && (memchr(data, '=', size) || memchr(data, 0, size)))
		abort();
	free(text);
	return 0;
}
