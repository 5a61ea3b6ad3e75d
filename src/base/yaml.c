#include "base/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <strings.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/nearest.h"

/* The message may quote the file, so it is made safe for a terminal and reduced to one line. */
static int place_error(
	unsigned line, unsigned column, const char *file, struct err *e, const char *fmt, va_list ap)
{
	auto_buf clean = BUF_SMALL;
	char msg[sizeof(e->msg)];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	clean_text(&clean, msg, strlen(msg), false);
	for (size_t i = 0; i < clean.len; i++)
		if (clean.data[i] == '\n' || clean.data[i] == '\t')
			clean.data[i] = ' ';
	if (!file)
		return err_set(e, ERR_CONFIG, "%s", buf_str(&clean));
	return err_set(e, ERR_CONFIG, "%s:%u:%u: %s", file, line, column, buf_str(&clean));
}

int yaml_error(const struct yaml *y, const char *file, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	place_error(y->line, y->column, file, e, fmt, ap);
	va_end(ap);
	return -1;
}

int yaml_key_error(const struct yaml *map, size_t i, const char *file, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	place_error(map->keys[i].line, map->keys[i].column, file, e, fmt, ap);
	va_end(ap);
	return -1;
}

void yaml_tree_free(struct yaml *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < y->n; i++) {
		if (y->keys)
			free(y->keys[i].name);
		yaml_tree_free(y->items[i]);
	}
	free(y->keys);
	free(y->items);
	free(y->scalar);
	free(y);
}

void yaml_freep(struct yaml **y)
{
	yaml_tree_free(*y);
}

struct reader {
	yaml_parser_t parser;
	const char *text, *file;
	size_t len;
	unsigned nodes, max_nodes;
	unsigned line; /* of the text's beginning */
};

static int error_at(const struct reader *r, yaml_mark_t at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int error_at(const struct reader *r, yaml_mark_t at, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	place_error((unsigned)at.line + r->line, (unsigned)at.column + 1, r->file, e, fmt, ap);
	va_end(ap);
	return -1;
}

static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
	yaml_mark_t m = { .index = offset };

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			m.line++;
			m.column = 0;
		} else if ((text[i] & 0xc0) != 0x80) {
			m.column++;
		}
	}
	return m;
}

/* The mark counts characters, but the text is bytes. */
static bool is_tab_at(const struct reader *r, yaml_mark_t at)
{
	const char *p = r->text, *end = r->text + r->len;

	for (size_t line = 0; line < at.line; line++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	for (size_t column = 0; p < end && column < at.column; column++)
		do
			p++;
		while (p < end && (*p & 0xc0) == 0x80);
	return p < end && *p == '\t';
}

static int parser_error(const struct reader *r, struct err *e)
{
	const yaml_parser_t *p = &r->parser;

	/* Bytes that are not UTF-8 have an offset and no mark. */
	if (p->error == YAML_READER_ERROR)
		return error_at(r,
			mark_of_offset(r->text, p->problem_offset < r->len ? p->problem_offset : r->len), e,
			"%s", p->problem);
	if (p->error == YAML_SCANNER_ERROR && is_tab_at(r, p->problem_mark))
		return error_at(r, p->problem_mark, e, "a tab where only spaces are allowed");
	return error_at(r, p->problem_mark, e, "%s", p->problem ? p->problem : "not YAML");
}

static int next_event(struct reader *r, yaml_event_t *ev, struct err *e)
{
	return yaml_parser_parse(&r->parser, ev) ? 0 : parser_error(r, e);
}

static int check_plain_event(const struct reader *r, const yaml_event_t *ev, struct err *e)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (ev->type) {
	case YAML_ALIAS_EVENT:
		return error_at(r, ev->start_mark, e, "aliases are not allowed");
	case YAML_SCALAR_EVENT:
		anchor = ev->data.scalar.anchor;
		tag = ev->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = ev->data.sequence_start.anchor;
		tag = ev->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = ev->data.mapping_start.anchor;
		tag = ev->data.mapping_start.tag;
		break;
	default:
		break;
	}
	if (anchor)
		return error_at(r, ev->start_mark, e, "anchors are not allowed");
	if (tag)
		return error_at(r, ev->start_mark, e, "tags are not allowed");
	if (ev->type == YAML_SCALAR_EVENT && memchr(ev->data.scalar.value, '\0', ev->data.scalar.length))
		return error_at(r, ev->start_mark, e, "a value with a NUL in it");
	return 0;
}

static int node_of_event(
	struct reader *r, const yaml_event_t *ev, unsigned depth, struct yaml **ret, struct err *e);

static struct yaml **add_item(struct yaml *y)
{
	/* the capacity is a power of two */
	if (!(y->n & (y->n - 1))) {
		size_t cap = y->n ? y->n * 2 : 1;

		y->items = xrealloc(y->items, cap, sizeof(*y->items));
		if (y->kind == YAML_MAP)
			y->keys = xrealloc(y->keys, cap, sizeof(*y->keys));
	}
	y->items[y->n] = NULL;
	if (y->kind == YAML_MAP)
		y->keys[y->n] = (struct yaml_key){ 0 };
	return &y->items[y->n++];
}

static int read_list(struct reader *r, struct yaml *list, unsigned depth, struct err *e)
{
	for (;;) {
		yaml_event_t ev;
		int rc;

		if (next_event(r, &ev, e) < 0)
			return -1;
		if (ev.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&ev);
			return 0;
		}
		rc = node_of_event(r, &ev, depth, add_item(list), e);
		yaml_event_delete(&ev);
		if (rc < 0)
			return -1;
	}
}

static int check_key(const struct reader *r, const yaml_event_t *ev, const struct yaml *map, struct err *e)
{
	const char *name = (const char *)ev->data.scalar.value;

	if (ev->type != YAML_SCALAR_EVENT && ev->type != YAML_ALIAS_EVENT)
		return error_at(r, ev->start_mark, e, "a key that is not a plain word");
	if (check_plain_event(r, ev, e) < 0)
		return -1;
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->keys[i].name, name))
			return error_at(r, ev->start_mark, e, "key '%s' appears twice, first in line %u",
				name, map->keys[i].line);
	return 0;
}

static int read_map(struct reader *r, struct yaml *map, unsigned depth, struct err *e)
{
	for (;;) {
		yaml_event_t ev;
		int rc;

		if (next_event(r, &ev, e) < 0)
			return -1;
		if (ev.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&ev);
			return 0;
		}
		rc = check_key(r, &ev, map, e);
		if (!rc) {
			add_item(map);
			map->keys[map->n - 1] =
				(struct yaml_key){ xstrdup((const char *)ev.data.scalar.value),
					(unsigned)ev.start_mark.line + r->line,
					(unsigned)ev.start_mark.column + 1 };
		}
		yaml_event_delete(&ev);
		if (rc < 0 || next_event(r, &ev, e) < 0)
			return -1;
		rc = node_of_event(r, &ev, depth, &map->items[map->n - 1], e);
		yaml_event_delete(&ev);
		if (rc < 0)
			return -1;
	}
}

/* Links the node into the tree first, so that after an error it is freed with the tree. */
static int node_of_event(
	struct reader *r, const yaml_event_t *ev, unsigned depth, struct yaml **ret, struct err *e)
{
	struct yaml *y;

	if (check_plain_event(r, ev, e) < 0)
		return -1;
	if (++r->nodes > r->max_nodes)
		return error_at(r, ev->start_mark, e, "more than %u values in one file", r->max_nodes);
	y = *ret = xcalloc(1, sizeof(*y));
	y->line = (unsigned)ev->start_mark.line + r->line;
	y->column = (unsigned)ev->start_mark.column + 1;
	if (ev->type == YAML_SCALAR_EVENT) {
		y->kind = YAML_SCALAR;
		y->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		y->scalar = xstrdup((const char *)ev->data.scalar.value);
		return 0;
	}
	y->kind = ev->type == YAML_MAPPING_START_EVENT ? YAML_MAP : YAML_LIST;
	if (++depth > YAML_MAX_DEPTH)
		return error_at(r, ev->start_mark, e, "nested more than %d levels deep", YAML_MAX_DEPTH);
	return y->kind == YAML_MAP ? read_map(r, y, depth, e) : read_list(r, y, depth, e);
}

static struct yaml *empty_map(void)
{
	struct yaml *y = xcalloc(1, sizeof(*y));

	y->kind = YAML_MAP;
	y->line = y->column = 1;
	return y;
}

/* Reads all events. *ret stays NULL if there is no document. */
static int read_stream(struct reader *r, struct yaml **ret, struct err *e)
{
	for (;;) {
		yaml_event_t ev;
		int rc = 0;
		bool end;

		if (next_event(r, &ev, e) < 0)
			return -1;
		end = ev.type == YAML_STREAM_END_EVENT;
		if (ev.type == YAML_DOCUMENT_START_EVENT && *ret)
			rc = error_at(r, ev.start_mark, e, "more than one document in one file");
		else if (ev.type == YAML_SCALAR_EVENT || ev.type == YAML_ALIAS_EVENT ||
			 ev.type == YAML_SEQUENCE_START_EVENT || ev.type == YAML_MAPPING_START_EVENT)
			rc = node_of_event(r, &ev, 0, ret, e);
		yaml_event_delete(&ev);
		if (rc < 0 || end)
			return rc;
	}
}

int yaml_parse_source(
	const struct yaml_source *s, const char *text, size_t len, struct yaml **ret, struct err *e)
{
	struct reader r = {
		.text = text, .file = s->file, .len = len, .max_nodes = s->max_nodes, .line = s->line
	};
	const char *nul = len ? memchr(text, '\0', len) : NULL;
	auto_yaml y = NULL;
	int rc;

	if (len > s->max_bytes)
		return err_set(e, ERR_CONFIG, "%s:1:1: larger than %zu bytes", s->file, s->max_bytes);
	if (nul)
		return error_at(&r, mark_of_offset(text, (size_t)(nul - text)), e, "a NUL byte in the file");
	if (!yaml_parser_initialize(&r.parser))
		abort();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)(len ? text : ""), len);
	rc = read_stream(&r, &y, e);
	yaml_parser_delete(&r.parser);
	if (rc < 0)
		return -1;
	if (y && yaml_is_null(y)) {
		yaml_tree_free(y);
		y = NULL;
	}
	*ret = y ? steal_ptr(y) : empty_map();
	return 0;
}

int yaml_parse(const char *text, size_t len, const char *file, struct yaml **ret, struct err *e)
{
	const struct yaml_source s = { file, 1, YAML_MAX_BYTES, YAML_MAX_NODES };

	return yaml_parse_source(&s, text, len, ret, e);
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	if (map->kind == YAML_MAP)
		for (size_t i = 0; i < map->n; i++)
			if (!strcmp(map->keys[i].name, key))
				return map->items[i];
	return NULL;
}

bool yaml_is_null(const struct yaml *y)
{
	return y->kind == YAML_SCALAR && !y->quoted &&
	       (!y->scalar[0] || !strcmp(y->scalar, "~") || !strcasecmp(y->scalar, "null"));
}

int yaml_string(const struct yaml *y, const char *file, const char *what, char **ret, struct err *e)
{
	if (yaml_is_null(y))
		return yaml_error(y, file, e, "'%s' has no value", what);
	if (y->kind != YAML_SCALAR)
		return yaml_error(y, file, e, "'%s' must be one value, not a %s", what,
			y->kind == YAML_LIST ? "list" : "mapping");
	*ret = xstrdup(y->scalar);
	return 0;
}

int yaml_bool(const struct yaml *y, const char *file, const char *what, bool *ret, struct err *e)
{
	bool yes = y->kind == YAML_SCALAR && !y->quoted && !strcasecmp(y->scalar, "true");
	bool no = y->kind == YAML_SCALAR && !y->quoted && !strcasecmp(y->scalar, "false");

	if (!yes && !no)
		return yaml_error(y, file, e, "'%s' must be true or false", what);
	*ret = yes;
	return 0;
}

int yaml_whole(const struct yaml *y, const char *file, const char *what, uint64_t *ret, struct err *e)
{
	unsigned long long n;

	if (y->kind != YAML_SCALAR || !*y->scalar || strspn(y->scalar, "0123456789") != strlen(y->scalar))
		return yaml_error(y, file, e, "'%s' must be a whole number", what);
	errno = 0;
	n = strtoull(y->scalar, NULL, 10);
	if (errno || n > INT64_MAX)
		return yaml_error(y, file, e, "'%s' is too large", what);
	*ret = n;
	return 0;
}

void yaml_add_choices(struct buf *out, const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++)
		buf_printf(out, "%s'%s'", !i ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

int yaml_choice(const struct yaml *y, const char *file, const char *what, const char *const *choices,
	unsigned *ret, struct err *e)
{
	auto_buf known = BUF_SMALL;
	auto_str value = NULL;
	char meant[NEAREST_TEXT_MAX];

	if (yaml_string(y, file, what, &value, e) < 0)
		return -1;
	for (unsigned i = 0; choices[i]; i++)
		if (!strcmp(choices[i], value))
			return *ret = i, 0;
	yaml_add_choices(&known, choices);
	return yaml_error(y, file, e, "'%s' must be %s, not '%s'%s", what, buf_str(&known), value,
		nearest_of(value, choices, meant));
}

int yaml_size(const struct yaml *y, const char *file, const char *what, uint64_t *ret, struct err *e)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = { { "", 0 }, { "B", 0 }, { "KB", 10 }, { "MB", 20 }, { "GB", 30 }, { "TB", 40 } };
	unsigned long long n;
	char *end;

	if (y->kind == YAML_SCALAR && y->scalar[0] >= '0' && y->scalar[0] <= '9') {
		errno = 0;
		n = strtoull(y->scalar, &end, 10);
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			if (strcasecmp(end, units[i].unit))
				continue;
			if (errno || n > UINT64_MAX >> units[i].shift)
				return yaml_error(y, file, e, "'%s' is too large", what);
			*ret = (uint64_t)n << units[i].shift;
			return 0;
		}
	}
	return yaml_error(y, file, e, "'%s' must be a size, such as 4096, 64KB, 10MB or 1GB", what);
}

int yaml_strings(const struct yaml *y, const char *file, const char *what, struct strvec *ret, struct err *e)
{
	if (y->kind == YAML_SCALAR && !yaml_is_null(y)) {
		strvec_push(ret, y->scalar);
		return 0;
	}
	if (y->kind != YAML_LIST)
		return yaml_error(y, file, e, "'%s' must be a list", what);
	for (size_t i = 0; i < y->n; i++)
		if (y->items[i]->kind != YAML_SCALAR || yaml_is_null(y->items[i]))
			return yaml_error(y->items[i], file, e, "'%s' must be a list of single values", what);
	for (size_t i = 0; i < y->n; i++)
		strvec_push(ret, y->items[i]->scalar);
	return 0;
}
