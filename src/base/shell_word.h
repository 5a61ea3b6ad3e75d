/*
 * Text as one word of a command that the user may copy into a shell. Names of directories, branches and remotes may come
 * from a repository that somebody downloaded: "x'; rm -rf ~; '" is a name, too.
 *
 *	auto_str top = shell_quoted(r->top);
 *	err_hint(e, "git -C %s status", top);
 */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include "base/buf.h"

/* Appends the text, in quotes only if it needs them. */
void shell_add_word(struct buf *out, const char *text);
/* The same, on the heap. */
char *shell_word(const char *text);
/* Always in quotes, which nothing in the text can end; on the heap. */
char *shell_quoted(const char *text);

#endif
