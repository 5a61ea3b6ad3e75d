/* The process that renews a log-in (renew.h). */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/path.h"
#include "credentials/member.h"
#include "credentials/renew.h"
#include "sys/fd.h"

#define FILE_MAX (10u << 20)

struct job {
	const char *url, *file, *member, *token, *type, *agent, *body;
	json_t *renews, *had;
};

/* The log-in file, whose directory is locked. */
struct place {
	char path[PATH_MAX];
	int dir;
	const char *name;
	struct buf text;
	char *agents_lock; /* the agent's own, which we have; NULL: none */
};

static void place_release(struct place *p)
{
	if (p->agents_lock)
		rmdir(p->agents_lock);
	free(p->agents_lock);
	fd_closep(&p->dir);
	if (p->text.data)
		explicit_bzero(p->text.data, p->text.len);
	buf_release(&p->text);
}
#define auto_place __attribute__((cleanup(place_release))) struct place

/* The right side of the row "NAME=…"; NULL if there is none. */
static const char *row_of(const struct job *j, const char *name)
{
	size_t n = strlen(name), i;
	json_t *row;

	json_array_foreach(j->renews, i, row)
	{
		const char *text = json_string_value(row);

		if (text && !strncmp(text, name, n) && text[n] == '=')
			return text + n + 1;
	}
	return NULL;
}

static bool is_stale(const char *path)
{
	struct stat st;

	return !stat(path, &st) && time(NULL) - st.st_mtime > RENEW_STALE_SECONDS;
}

/* Takes the lock that the agent itself uses while it renews, so that the user's agent outside does not renew at the same
 * time. If the lock cannot be made at all, the agent cannot use one there either. */
static int lock_agent(const struct job *j, struct place *p, struct deadline *d, struct err *e)
{
	const char *suffix = row_of(j, RENEW_LOCK);
	auto_str above = xstrndup(j->file, (size_t)(path_base(j->file) - j->file)), dir = NULL, path = NULL;

	dir = suffix ? realpath(above, NULL) : NULL;
	if (!dir)
		return 0;
	path = xasprintf("%s%s", dir, suffix);
	while (mkdir(path, 0700) < 0) {
		if (errno != EEXIST)
			return 0;
		if (is_stale(path) && !rmdir(path))
			continue;
		if (!deadline_sleep(d, 50))
			return err_set(e, ERR_BUSY, "the agent is renewing the log-in itself");
	}
	p->agents_lock = steal_ptr(path);
	return 0;
}

/* Locks the directory: that needs no file there, and all Garth homes of a user share the lock. */
static int lock_place(const struct job *j, struct place *p, struct err *e)
{
	struct deadline d = deadline_in(RENEW_LOCK_MS);
	auto_str dir = NULL;

	/* a user may keep the file elsewhere, and a link to it here */
	if (!realpath(j->file, p->path))
		return err_sys(e, "cannot find '%s'", j->file);
	p->name = path_base(p->path);
	dir = xstrndup(p->path, (size_t)(p->name - p->path));
	p->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return err_sys(e, "cannot open '%s'", dir);
	while (flock(p->dir, LOCK_EX | LOCK_NB) < 0)
		if (!deadline_sleep(&d, 20))
			return err_set(e, ERR_BUSY, "the log-in is being renewed by somebody else");
	return lock_agent(j, p, &d, e) < 0 ? -1 : read_file(p->dir, p->name, &p->text, e);
}

/* Keeps the lock fresh: an agent considers a lock that does not change as left behind. */
static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct place *p = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	if (p->agents_lock)
		utimensat(AT_FDCWD, p->agents_lock, NULL, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
	return buf_add(arg, data, size * n) ? size * n : 0;
}

static int ask(const struct job *j, struct place *p, struct buf *ret, long *status, struct err *e)
{
	auto_str type = xasprintf("Content-Type: %s", j->type), agent = xasprintf("User-Agent: %s", j->agent);
	struct curl_slist *fields = curl_slist_append(curl_slist_append(NULL, type), agent);
	struct trust trust;
	CURL *easy = curl_easy_init();
	CURLcode rc;

	upstream_trust(&trust);
	upstream_options(easy, &trust);
	curl_easy_setopt(easy, CURLOPT_URL, j->url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
	curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, j->body);
	/* a compressed answer has the new tokens, too */
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, RENEW_SECONDS);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, ret);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, p);
	rc = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
	curl_easy_cleanup(easy);
	curl_slist_free_all(fields);
	return rc == CURLE_OK ? 0 : err_set(e, ERR_FAILED, "%s", curl_easy_strerror(rc));
}

static void stamp(char out[32])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* A value that can be written between quotes as it is. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

static void split(const char *row, char **name, const char **member)
{
	size_t len = strcspn(row, "=");

	*name = xstrndup(row, len);
	*member = row[len] ? row + len + 1 : "";
}

/* When an access token of this answer ends; 0 if it does not say. */
static int64_t end_of(const json_t *reply)
{
	double seconds = json_number_value(json_object_get(reply, RENEW_LASTS));

	return seconds > 0 && seconds < 1e9 ? ((int64_t)time(NULL) + (int64_t)seconds) * 1000 : 0;
}

/* Puts the service's answer into the text of the file. */
static void put_end(const json_t *reply, const char *member, struct buf *text)
{
	int64_t at = end_of(reply);
	auto_str number = xasprintf("%lld", (long long)at);

	if (at)
		member_set_raw(text, member, number);
}

/* Scopes stay if they are a list there. */
static bool keeps(const char *name, const char *member, const struct buf *text)
{
	auto_str now = member_string(buf_str(text), text->len, member);

	return !strcmp(name, RENEW_SCOPE) && !now;
}

static void put(const struct job *j, const json_t *reply, struct buf *text)
{
	json_t *row;
	size_t i;

	json_array_foreach(j->renews, i, row)
	{
		auto_str name = NULL;
		const char *member, *value;
		char now[32];

		split(json_string_value(row), &name, &member);
		value = json_string_value(json_object_get(reply, name));
		if (!strcmp(name, RENEW_NOW)) {
			stamp(now);
			value = now;
		}
		if (!strcmp(name, RENEW_UNTIL))
			put_end(reply, member, text);
		else if (value && *value && is_plain(value) && !keeps(name, member, text))
			member_set(text, member, value);
	}
}

/* The value of a member that is not a secret, in the form of a service's answer; NULL: none. */
static json_t *get_plain(const char *name, const char *member, const struct buf *text)
{
	size_t start, end, i;
	json_t *value, *item;
	auto_buf words = BUF_SMALL;
	int64_t left;

	if (!text->len || !member_find(text->data, text->len, member, &start, &end))
		return NULL;
	value = json_loadb(text->data + start, end - start, JSON_DECODE_ANY, NULL);
	left = (int64_t)(json_number_value(value) / 1000) - (int64_t)time(NULL);
	json_array_foreach(value, i, item) if (json_is_string(item))
		buf_printf(&words, "%s%s", words.len ? " " : "", json_string_value(item));
	if (json_is_string(value))
		buf_addstr(&words, json_string_value(value));
	json_decref(value);
	return !strcmp(name, RENEW_UNTIL) ? json_integer(left > 0 ? left : 0) : json_string(buf_str(&words));
}

/* Makes the file's content into the form of a service's answer. */
static json_t *get(const struct job *j, const struct buf *text)
{
	json_t *reply = json_object(), *row;
	size_t i;

	json_array_foreach(j->renews, i, row)
	{
		auto_str name = NULL, value = NULL;
		const char *member;

		split(json_string_value(row), &name, &member);
		if (!strcmp(name, RENEW_NOW) || !strcmp(name, RENEW_LOCK))
			continue;
		if (!strcmp(name, RENEW_UNTIL) || !strcmp(name, RENEW_SCOPE)) {
			json_t *plain = get_plain(name, member, text);

			if (plain)
				json_object_set_new(
					reply, strcmp(name, RENEW_UNTIL) ? name : RENEW_LASTS, plain);
			continue;
		}
		value = member_string(buf_str(text), text->len, member);
		if (value && *value)
			json_object_set_new(reply, name, json_string(value));
	}
	return reply;
}

/* Reads the service's answer. Its tokens must not be lost, even if something else in it is malformed, which an agent can
 * cause: then they are searched for one by one. NULL if there are none. */
static json_t *parse(const struct job *j, const struct buf *body)
{
	json_t *all = json_loadb(buf_str(body), body->len, 0, NULL), *found, *row;
	size_t i;

	if (json_is_object(all))
		return all;
	json_decref(all);
	found = json_object();
	json_array_foreach(j->renews, i, row)
	{
		auto_str name = NULL, value = NULL;
		const char *member;

		split(json_string_value(row), &name, &member);
		value = body->len ? member_string(body->data, body->len, name) : NULL;
		if (value && *value)
			json_object_set_new(found, name, json_string(value));
	}
	if (json_object_size(found))
		return found;
	json_decref(found);
	return NULL;
}

/* Reads the file again. Whether the user has another token there by now: then it is the answer. */
static bool is_other(const struct job *j, struct place *p)
{
	struct err ignored = ERR_INIT;
	auto_str now = NULL;

	if (p->text.data)
		explicit_bzero(p->text.data, p->text.len);
	buf_reset(&p->text);
	if (read_file(p->dir, p->name, &p->text, &ignored) < 0)
		return false;
	now = member_string(buf_str(&p->text), p->text.len, j->member);
	return now && *now && strcmp(now, j->token) != 0;
}

/* The service has refused the token. If each can be used once, an agent outside may have used it. */
static bool was_used_outside(const struct job *j, struct place *p)
{
	struct deadline d = deadline_in(RENEW_OTHER_MS);

	if (!row_of(j, RENEW_TOKEN) || row_of(j, RENEW_LOCK))
		return is_other(j, p);
	while (!is_other(j, p))
		if (!deadline_sleep(&d, 50))
			return false;
	return true;
}

static json_t *answer_of_file(const struct job *j, const struct place *p)
{
	return json_pack("{s:i, s:o}", "status", 200, "reply", get(j, &p->text));
}

/* Whether the file has an access token that the task does not have yet, and that lasts: somebody has renewed the log-in, with
 * a refresh token that can be used again. */
static bool was_renewed(const struct job *j, const struct place *p)
{
	const char *member = row_of(j, RENEW_ACCESS), *until = row_of(j, RENEW_UNTIL);
	auto_str access = member ? member_string(buf_str(&p->text), p->text.len, member) : NULL;
	json_t *left = until ? get_plain(RENEW_UNTIL, until, &p->text) : NULL, *one;
	bool lasts = json_integer_value(left) > RENEW_LASTING;
	size_t i;

	json_decref(left);
	json_array_foreach(
		j->had, i, one) if (access && !strcmp(json_string_value(one), access)) return false;
	return lasts && access && *access;
}

static int renew(const struct job *j, json_t **ret, struct err *e)
{
	auto_place p = { .dir = -1, .text = BUF_INIT(FILE_MAX) };
	auto_buf body = BUF_INIT(RENEW_MAX);
	auto_str now = NULL;
	json_t *reply;
	long status = 0;

	if (lock_place(j, &p, e) < 0)
		return -1;
	now = member_string(buf_str(&p.text), p.text.len, j->member);
	if (!now || !*now)
		return err_set(e, ERR_NOTFOUND, "the user is not logged in any more");
	if (strcmp(now, j->token) != 0 || was_renewed(j, &p)) {
		*ret = answer_of_file(j, &p);
		return 0;
	}
	if (ask(j, &p, &body, &status, e) < 0)
		return -1;
	reply = status == 200 ? parse(j, &body) : NULL;
	/* nobody knows which part of it is a secret */
	if (!reply && status == 200)
		return err_set(e, ERR_FAILED, "the service's answer cannot be understood");
	if (!reply) {
		*ret = was_used_outside(j, &p)
			       ? answer_of_file(j, &p)
			       : json_pack("{s:i, s:s}", "status", (int)status, "body", buf_str(&body));
		return 0;
	}
	if (is_other(j, &p)) {
		json_decref(reply);
		*ret = answer_of_file(j, &p);
		return 0;
	}
	put(j, reply, &p.text);
	if (write_file(p.dir, p.name, p.text.data, p.text.len, 0600, e) < 0)
		return -1;
	*ret = json_pack("{s:i, s:o}", "status", 200, "reply", reply);
	return 0;
}

int renew_main(struct err *e)
{
	auto_buf text = BUF_INIT(RENEW_MAX);
	struct job j = { 0 };
	json_t *all, *answer = NULL;
	char *out;
	int rc;

	if (read_rest(STDIN_FILENO, &text, "the job", e) < 0)
		return -1;
	all = json_loadb(buf_str(&text), text.len, 0, NULL);
	if (!all || json_unpack(all, "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "url", &j.url, "file",
			    &j.file, "member", &j.member, "token", &j.token, "type", &j.type, "agent",
			    &j.agent, "body", &j.body, "renews", &j.renews, "had", &j.had) < 0)
		return err_set(e, ERR_FAILED, "the job is malformed");
	if (renew(&j, &answer, e) < 0)
		answer = json_pack("{s:i}", "status", 502);
	out = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	rc = out && write_full(STDOUT_FILENO, out, strlen(out)) >= 0 ? 0 : -1;
	free(out);
	json_decref(answer);
	json_decref(all);
	return rc < 0 && !e->kind ? err_sys(e, "cannot answer") : rc;
}
