#include "base/name.h"

#include <ctype.h>

#include "base/alloc.h"

static bool is_task_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

int name_check_task(const char *name, struct err *e)
{
	size_t len = strlen(name);

	if (!len || len > NAME_MAX_LEN)
		return err_set(e, ERR_USAGE, "a task's name has 1 to %d characters", NAME_MAX_LEN);
	for (const char *p = name; *p; p++)
		if (!is_task_char(*p))
			return err_set(e, ERR_USAGE, "a task's name has only a-z, 0-9, '.', '_' and '-'");
	if (!isalnum((unsigned char)name[0]))
		return err_set(e, ERR_USAGE, "a task's name begins with a letter or a digit");
	/* git's rules for the last part of a branch name */
	if (strstr(name, "..") || name[len - 1] == '.')
		return err_set(e, ERR_USAGE, "a task's name has no '..' and no '.' at its end");
	if (len >= 5 && !strcmp(name + len - 5, ".lock"))
		return err_set(e, ERR_USAGE, "a task's name does not end in '.lock'");
	return 0;
}

bool name_is_variable(const char *name, unsigned long len)
{
	if (!len || !(isalpha((unsigned char)name[0]) || name[0] == '_'))
		return false;
	for (unsigned long i = 1; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

void name_suggest(const char *text, char out[NAME_MAX_LEN + 1])
{
	const char *slash = strrchr(text, '/');
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : text; *p && n < NAME_MAX_LEN - 16; p++) {
		char c = (char)tolower((unsigned char)*p);

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			out[n++] = c;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
	if (!n)
		memcpy(out, "task", sizeof("task"));
}

void name_of_words(const char *text, char out[NAME_MAX_LEN + 1])
{
	size_t n = 0;

	for (unsigned words = 0; words < 5; words++) {
		char word[NAME_MAX_LEN + 1];
		size_t len = 0;

		while (*text && !isalnum((unsigned char)*text))
			text++;
		/* "don't" is one word */
		for (; isalnum((unsigned char)*text) || (*text == '\'' && len); text++)
			if (*text != '\'' && len < 32)
				word[len++] = (char)tolower((unsigned char)*text);
		if (!len || n + len > 40)
			break;
		if (n)
			out[n++] = '-';
		memcpy(out + n, word, len);
		n += len;
	}
	out[n] = '\0';
	if (!n)
		memcpy(out, "task", sizeof("task"));
}

bool name_is_branch(const char *name)
{
	static const char *const words[] = { "HEAD", "@" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name, words[i]))
			return false;
	if (!n || strchr("-+/.", *name) || strchr("/.", name[n - 1]) || strstr(name, "..") ||
		strstr(name, "//") || strstr(name, "/.") || strstr(name, "@{") || strstr(name, ".lock/") ||
		(n >= 5 && !strcmp(name + n - 5, ".lock")))
		return false;
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || strchr("~^:?*[\\", *name))
			return false;
	return true;
}

bool name_split_person(const char *person, char **ret_name, char **ret_mail)
{
	const char *open = strchr(person, '<'), *close = open ? strchr(open, '>') : NULL;
	size_t n, mail;

	if (!open || !close || close[1] || strchr(person, '\n') || strlen(person) > 300)
		return false;
	n = (size_t)(open - person);
	while (n && person[n - 1] == ' ')
		n--;
	mail = (size_t)(close - open - 1);
	if (!n || !mail || memchr(open + 1, '<', mail))
		return false;
	*ret_name = xstrndup(person, n);
	*ret_mail = xstrndup(open + 1, mail);
	return true;
}
