/*
 * Writes a plan as YAML in one fixed form, by the rows that read it: in JSON's syntax, without values that are not given. A
 * plan that is read back gives the same text, and two files that say the same have the same digest.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plan/finish.h"
#include "plan/rows.h"
#include "sys/digest.h"

struct writer {
	struct buf *out;
	bool digest; /* only what the file says */
	bool stage;  /* plan_stage_text */
	bool done;
};

/* A quoted scalar. YAML folds line breaks in it and refuses some characters, so these are escaped. */
static void add_text(struct buf *out, const char *text)
{
	buf_addch(out, '"');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_printf(out, "\\%c", *p);
		else if (*p < ' ' || *p == 0x7f)
			buf_printf(out, "\\x%02x", *p);
		else if (*p == 0xc2 && p[1] < 0xa0)
			buf_printf(out, "\\x%02x", *++p);
		else if (*p == 0xe2 && p[1] == 0x80 && (p[2] & 0xfe) == 0xa8)
			buf_printf(out, "\\u%04x", 0x2000u + p[2] - 0x80), p += 2;
		else if (*p == 0xef && (p[1] == 0xbb || p[1] == 0xbf) && p[2] >= 0xbe)
			buf_printf(out, "\\u%04x", 0xf000u + (unsigned)(p[1] - 0x80) * 64 + p[2] - 0x80),
				p += 2;
		else
			buf_addch(out, (char)*p);
	}
	buf_addch(out, '"');
}

static void add_texts(struct buf *out, const struct strvec *v)
{
	buf_addch(out, '[');
	for (size_t i = 0; i < v->n; i++) {
		buf_addstr(out, i ? ", " : "");
		add_text(out, v->v[i]);
	}
	buf_addch(out, ']');
}

static void add_map(const struct writer *w, const struct plan_key *rows, const void *base);

static void add_checks(const struct writer *w, const struct plan_checks *c)
{
	buf_addch(w->out, '[');
	for (size_t i = 0; i < c->n; i++) {
		buf_addstr(w->out, i ? ",\n  " : "\n  ");
		add_map(w, plan_frozen_check_rows, &c->v[i]);
	}
	buf_addch(w->out, ']');
}

static void add_patterns(const struct writer *w, const struct plan_patterns *p)
{
	buf_addch(w->out, '[');
	for (size_t i = 0; i < p->n; i++) {
		buf_addstr(w->out, i ? ", " : "");
		add_map(w, plan_frozen_pattern_rows, &p->v[i]);
	}
	buf_addch(w->out, ']');
}

static bool is_default(const struct plan_key *row, const void *at)
{
	switch (row->type) {
	case PLAN_TIME:
		return !*(const uint64_t *)at;
	case PLAN_COUNT:
		/* of retries, 0 is a value that can be given */
		return !*(const uint64_t *)at && row->min;
	case PLAN_BOOL:
		return !*(const bool *)at;
	case PLAN_CODE:
		return !*(const int *)at;
	case PLAN_CHOICE:
		return !*(const unsigned *)at && !row->required;
	case PLAN_AT:
		return !((const struct plan_place *)at)->line;
	case PLAN_TEXTS:
	case PLAN_HOSTS:
	case PLAN_PATHS:
		return !((const struct strvec *)at)->n;
	case PLAN_RULES:
		return !((const struct plan_rules *)at)->globs.n;
	case PLAN_NEEDS:
		return !((const struct plan_needs *)at)->ids.n;
	case PLAN_CHECKS:
		return !((const struct plan_checks *)at)->n || !row->frozen;
	case PLAN_PATTERNS:
		return !((const struct plan_patterns *)at)->n;
	case PLAN_MAP:
		return false;
	case PLAN_STAGES:
	case PLAN_IGNORED:
		return true;
	default:
		return !*(char *const *)at;
	}
}

static void add_value(const struct writer *w, const struct plan_key *row, const void *at)
{
	struct buf *out = w->out;

	switch (row->type) {
	case PLAN_COUNT:
	case PLAN_TIME:
		buf_printf(out, "%" PRIu64, *(const uint64_t *)at);
		return;
	case PLAN_BOOL:
		buf_addstr(out, "true");
		return;
	case PLAN_CODE:
		buf_printf(out, "%d", *(const int *)at);
		return;
	case PLAN_CHOICE:
		add_text(out, row->choices[*(const unsigned *)at]);
		return;
	case PLAN_AT:
		buf_printf(out, "\"%u:%u\"", ((const struct plan_place *)at)->line,
			((const struct plan_place *)at)->column);
		return;
	case PLAN_TEXTS:
	case PLAN_HOSTS:
	case PLAN_PATHS:
		add_texts(out, at);
		return;
	case PLAN_RULES:
		add_texts(out, &((const struct plan_rules *)at)->globs);
		return;
	case PLAN_NEEDS:
		add_texts(out, &((const struct plan_needs *)at)->ids);
		return;
	case PLAN_CHECKS:
		add_checks(w, at);
		return;
	case PLAN_PATTERNS:
		add_patterns(w, at);
		return;
	case PLAN_MAP:
		add_map(w, row->rows, at);
		return;
	default:
		add_text(out, *(char *const *)at);
	}
}

/* Keys that are not from the file. The digest is made before anything is decided. */
static bool is_added(const struct plan_key *row)
{
	return row->type == PLAN_AT || !strcmp(row->key, "file") || !strcmp(row->key, "task");
}

static bool is_for_the_run(const struct plan_key *row)
{
	static const char *const keys[] = { "agent", "model", "reasoning_effort", "approve", "timeout",
		"on_conflict", NULL };

	for (size_t i = 0; keys[i]; i++)
		if (!strcmp(row->key, keys[i]))
			return true;
	return false;
}

static bool is_left_out(const struct writer *w, const struct plan_key *rows, size_t i)
{
	if (w->digest && is_added(&rows[i]))
		return true;
	if (w->stage && rows == plan_frozen_pattern_rows)
		return strcmp(rows[i].key, "text") != 0;
	return w->done && rows == plan_stage_rows && is_for_the_run(&rows[i]);
}

static void add_map(const struct writer *w, const struct plan_key *rows, const void *base)
{
	bool first = true;

	buf_addch(w->out, '{');
	for (size_t i = 0; rows[i].key; i++) {
		const void *at = (const char *)base + rows[i].offset;

		if (is_default(&rows[i], at) || is_left_out(w, rows, i))
			continue;
		buf_printf(w->out, "%s%s: ", first ? "" : ", ", rows[i].key);
		add_value(w, &rows[i], at);
		first = false;
	}
	buf_addch(w->out, '}');
}

/* A stage in the form in which it is read: a view, which owns only the ids of its dependencies. */
static void add_stage(const struct writer *w, const struct plan *p, const struct plan_stage *s)
{
	struct plan_stage_draft view = {
		.stage = *s, .checks = { s->checks, s->nchecks }, .approve = s->approve
	};

	view.sandbox.deny_read.globs = s->sandbox.deny_read;
	view.sandbox.deny_write.globs = s->sandbox.deny_write;
	view.sandbox.allow_write.globs = s->sandbox.allow_write;
	for (size_t i = 0; i < s->nneeds; i++)
		strvec_push(&view.needs.ids, p->stages[s->needs[i]].id);
	add_map(w, plan_stage_rows, &view);
	strvec_release(&view.needs.ids);
}

static void write_plan(const struct writer *w, const struct plan *p)
{
	struct plan_draft view = { .plan = *p, .checks = { p->checks, p->nchecks }, .version = 1 };

	add_map(w, plan_rows, &view);
	buf_cut(w->out, w->out->len - (w->out->len > 0)); /* the closing brace */
	buf_addstr(w->out, ", stages: [");
	for (size_t i = 0; i < p->nstages; i++) {
		buf_addstr(w->out, i ? ",\n " : "\n ");
		add_stage(w, p, &p->stages[i]);
	}
	buf_addstr(w->out, "]}\n");
}

void plan_stage_text(const struct plan *p, const struct plan_stage *s, bool done, struct buf *out)
{
	add_stage(&(struct writer){ .out = out, .digest = true, .stage = true, .done = done }, p, s);
}

void plan_freeze(const struct plan *p, struct buf *out)
{
	write_plan(&(struct writer){ .out = out }, p);
}

char *plan_digest(const struct plan *p)
{
	auto_buf text = BUF_INIT(PLAN_FROZEN_MAX);
	unsigned char digest[DIGEST_MAX];
	auto_buf hex = BUF_SMALL;

	write_plan(&(struct writer){ .out = &text, .digest = true }, p);
	digest_of(DIGEST_SHA256_LEN, buf_str(&text), text.len, digest);
	for (size_t i = 0; i < DIGEST_SHA256_LEN; i++)
		buf_printf(&hex, "%02x", digest[i]);
	return buf_steal(&hex);
}
