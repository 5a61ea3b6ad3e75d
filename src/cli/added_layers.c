#include "cli/added_layers.h"

#include "base/clean.h"
#include "base/size.h"
#include "cli/progress.h"
#include "cli/say.h"

#define NAMES_SHOWN 3

void added_layers_begin(struct add_layers *b, struct task_spec *spec, bool quiet)
{
	b->tell = quiet ? NULL : added_layers_show;
	spec->add_layers = runtime_add_layers;
	spec->add_layers_arg = b;
}

void added_layers_show(enum setup_event what, const char *text, size_t len, void *arg)
{
	(void)text;
	(void)len;
	(void)arg;
	if (what == SETUP_PRINTS)
		return;
	progress_end();
	progress_begin(what == SETUP_WAITS    ? "waiting for the set-up that another command runs"
		       : what == SETUP_STARTS ? "running the set-up"
					      : "making the workspace");
}

void added_layers_show_all(enum setup_event what, const char *text, size_t len, void *arg)
{
	auto_buf clean = BUF_INIT(1u << 20);

	if (what != SETUP_PRINTS) {
		added_layers_show(what, text, len, arg);
		return;
	}
	progress_clear();
	clean_text(&clean, text, len, say_colours(2));
	fwrite(buf_str(&clean), 1, clean.len, stderr);
}

static void tell_files(const struct include_report *r)
{
	auto_buf names = BUF_SMALL, clean = BUF_SMALL;
	char count[COUNT_TEXT_MAX], size[SIZE_TEXT_MAX];

	for (size_t i = 0; i < r->names.n && i < NAMES_SHOWN; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", r->names.v[i]);
	if (r->files > NAMES_SHOWN)
		buf_printf(&names, " and %s more", count_text(r->files - NAMES_SHOWN, count));
	say_state("%s untracked file%s of the checkout %s in the task too: %s (%s)",
		count_text(r->files, count), r->files == 1 ? "" : "s", r->files == 1 ? "is" : "are",
		say_one_line(&clean, buf_str(&names)), size_text(r->bytes, size));
}

void added_layers_tell(const struct add_layers *b, bool quiet)
{
	const struct include_report *r = &b->included;

	say_warnings(&b->warnings);
	if (r->files && !quiet)
		tell_files(r);
	if (r->left_out.n)
		say_warning_list(&r->left_out,
			"not included: keys and log-ins, or neither files nor links that stay in the checkout");
	if (r->not_ignored.n)
		say_warning_list(&r->not_ignored,
			"included, but not ignored by git: the task can commit and publish %s",
			r->not_ignored.n == 1 ? "it" : "them");
}
