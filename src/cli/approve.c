#include "cli/approve.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "task/approval.h"

#define SHOWN_MAX (8u << 20)

static const struct {
	const char *key, *heading;
} parts[] = {
	{ "workspace.setup", "commands that run in a new workspace, inside the jail:" },
	{ "workspace.setup_network", "hosts that these commands can reach:" },
	{ "workspace.include", "ignored files of the checkout that tasks get a copy of:" },
};

/* A command can have several lines; each one is marked, so that none can look like something else. */
static void show_text(FILE *out, const char *text)
{
	auto_buf clean = BUF_INIT(SHOWN_MAX);

	clean_text(&clean, text, strlen(text), false);
	for (const char *l = buf_str(&clean); *l; l += strcspn(l, "\n"), l += *l == '\n')
		fprintf(out, "  %c %.*s\n", l == buf_str(&clean) ? ' ' : '|', (int)strcspn(l, "\n"), l);
}

void approve_show(FILE *out, const struct config *config)
{
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
		bool begun = false;

		for (size_t i = 0; i < config->nasks; i++) {
			if (strcmp(config->asks[i].key, parts[p].key) != 0)
				continue;
			if (!begun)
				fprintf(out, "%s\n", parts[p].heading);
			begun = true;
			show_text(out, config->asks[i].text);
		}
	}
}

int approve_on_terminal(struct context *c, int64_t project, const struct config *config, struct err *e)
{
	char answer[16] = "";

	/* the error is that of approval_check */
	if (!isatty(0) || !say_is_heard() || say_is_json())
		return -1;
	progress_end();
	say_state("the repository's .garth.yaml asks for this:");
	approve_show(stderr, config);
	fprintf(stderr, "approve it for this repository? [y/N] ");
	if (!fgets(answer, sizeof(answer), stdin))
		fputc('\n', stderr);
	if (strcmp(answer, "y\n") && strcmp(answer, "Y\n") && strcmp(answer, "yes\n"))
		return err_set(e, ERR_REFUSED, "it is not approved, and nothing was done"), -1;
	return approval_give(c, project, config, e);
}
