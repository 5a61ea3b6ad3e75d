#include "plan/stage_words.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define WORD_MAX (1u << 20)

int stage_words_template(const struct config_agent *a, const struct strvec **ret, struct err *e)
{
	*ret = a->run.n ? &a->run : a->headless.n ? &a->headless : &a->prompt;
	return (*ret)->n
		       ? 0
		       : err_set(e, ERR_CONFIG,
				 "agents.%s.run in the configuration is missing: how the agent runs a stage",
				 a->name);
}

static int fill_in(const char *word, const struct stage_words *w, struct strvec *ret, struct err *e)
{
	const struct {
		const char *name, *value;
	} places[] = { { "{prompt_file}", w->prompt_file }, { "{prompt}", w->prompt },
		{ "{session}", w->session }, { "{model}", w->model }, { "{effort}", w->effort } };
	auto_buf out = BUF_INIT(WORD_MAX);

	while (*word) {
		size_t i = 0, len = 1;

		while (i < ARRAY_SIZE(places) &&
			!(places[i].value && !strncmp(word, places[i].name, strlen(places[i].name))))
			i++;
		if (i < ARRAY_SIZE(places))
			len = strlen(places[i].name), buf_addstr(&out, places[i].value);
		else
			buf_addch(&out, *word);
		word += len;
	}
	if (out.overflow)
		return err_set(e, ERR_CONFIG, "a word of the agent's command is too long");
	strvec_push(ret, buf_str(&out));
	return 0;
}

static int add(const struct strvec *words, size_t from, size_t to, const struct stage_words *w,
	struct strvec *ret, struct err *e)
{
	for (size_t i = from; i < to; i++)
		if (fill_in(words->v[i], w, ret, e) < 0)
			return -1;
	return 0;
}

int stage_words_make(
	const struct config_agent *a, const struct stage_words *w, struct strvec *ret, struct err *e)
{
	const struct strvec *words;
	size_t first = 1;

	if (stage_words_template(a, &words, e) < 0)
		return -1;
	while (first < words->n && words->v[first][0] != '-' && !strchr(words->v[first], '{'))
		first++;
	if (add(words, 0, first, w, ret, e) < 0 ||
		(w->model && add(&a->model, 0, a->model.n, w, ret, e) < 0) ||
		(w->effort && add(&a->effort, 0, a->effort.n, w, ret, e) < 0))
		return -1;
	return add(words, first, words->n, w, ret, e);
}
