#include "store/db.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "base/path.h"
#include "store/schema.h"

#define BUSY_MS       10000
#define MAKE_PAUSE_MS 10

void stmt_finish(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}

int64_t db_now(void)
{
	return (int64_t)time(NULL);
}

int db_error(struct store *s, struct err *e, const char *what)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;

	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return err_set(e, ERR_BUSY, "the store is in use by another process: %s", what);
	return err_set(e, ERR_FAILED, "store: %s: %s", what, s->db ? sqlite3_errmsg(s->db) : "out of memory");
}

int db_exec(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_error(s, e, "cannot write");
}

static int bind_all(sqlite3_stmt *st, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 1; *types && rc == SQLITE_OK; types++, i++) {
		if (*types == 's')
			rc = sqlite3_bind_text(st, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
		else
			rc = sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
	}
	return rc;
}

static int prepare(
	struct store *s, sqlite3_stmt **ret, struct err *e, const char *sql, const char *types, va_list ap)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) != SQLITE_OK ||
		bind_all(*ret, types, ap) != SQLITE_OK)
		return db_error(s, e, "cannot read");
	return 0;
}

int db_prepare(struct store *s, sqlite3_stmt **ret, struct err *e, const char *sql, const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = prepare(s, ret, e, sql, types, ap);
	va_end(ap);
	return rc;
}

int db_run(struct store *s, struct err *e, const char *sql, const char *types, ...)
{
	auto_stmt st = NULL;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = prepare(s, &st, e, sql, types, ap);
	va_end(ap);
	if (rc < 0)
		return -1;
	return db_step(s, st, e) < 0 ? -1 : 0;
}

int db_step(struct store *s, sqlite3_stmt *st, struct err *e)
{
	switch (sqlite3_step(st)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return db_error(s, e, "cannot read or write");
	}
}

char *db_text(sqlite3_stmt *st, int column)
{
	const char *t = (const char *)sqlite3_column_text(st, column);

	return xstrdup(t ? t : "");
}

static int version(struct store *s, int *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "PRAGMA user_version", "") < 0 || db_step(s, st, e) < 0)
		return -1;
	*ret = sqlite3_column_int(st, 0);
	return 0;
}

static int migrate_from(struct store *s, int have, struct err *e)
{
	auto_str set = xasprintf("PRAGMA user_version = %d", schema_version);

	if (have >= schema_version)
		return 0;
	for (; have < schema_version; have++)
		if (db_exec(s, schema_steps[have], e) < 0)
			return -1;
	return db_exec(s, set, e);
}

static int migrate(struct store *s, struct err *e)
{
	int have;

	if (store_begin(s, e) < 0)
		return -1;
	/* read the version again under the lock: another process may have migrated meanwhile */
	if (version(s, &have, e) < 0 || migrate_from(s, have, e) < 0 || store_commit(s, e) < 0) {
		store_rollback(s);
		return -1;
	}
	return 0;
}

/* The journal mode is stored in the file, so it is set once, together with the schema. While several
 * processes do this to a new file, SQLite returns BUSY at once and ignores the busy timeout: hence the
 * loop. */
static int make(struct store *s, struct err *e)
{
	struct deadline d = deadline_in(BUSY_MS);

	while (db_exec(s, "PRAGMA journal_mode = WAL", e) < 0 || migrate(s, e) < 0) {
		if (e->kind != ERR_BUSY || !deadline_sleep(&d, MAKE_PAUSE_MS))
			return -1;
		*e = (struct err)ERR_INIT;
	}
	return 0;
}

int store_open(const char *home, struct store **ret, struct err *e)
{
	auto_store s = xcalloc(1, sizeof(*s));
	auto_str path = path_join(home, "garth.db");
	mode_t old = umask(0077);
	int rc = sqlite3_open_v2(
		path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	int have;

	umask(old);
	if (rc != SQLITE_OK)
		return db_error(s, e, path);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	/* commands are short: the last one to close must not spend time on a checkpoint and a sync */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if (version(s, &have, e) < 0)
		return err_wrap(e, "cannot open '%s'", path);
	if (have > schema_version)
		return err_set(e, ERR_FAILED,
			"'%s' was written by a newer garth (version %d, this one knows %d)", path, have,
			schema_version);
	if (have < schema_version && make(s, e) < 0)
		return -1;
	if (db_exec(s,
		    "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 200",
		    e) < 0)
		return -1;
	*ret = steal_ptr(s);
	return 0;
}

void store_close(struct store *s)
{
	if (s)
		sqlite3_close(s->db);
	free(s);
}

void store_closep(struct store **s)
{
	store_close(*s);
}

int store_begin(struct store *s, struct err *e)
{
	return db_exec(s, "BEGIN IMMEDIATE", e);
}

int store_commit(struct store *s, struct err *e)
{
	return db_exec(s, "COMMIT", e);
}

void store_rollback(struct store *s)
{
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_version_seen(struct store *s, int64_t *ret, struct err *e)
{
	auto_stmt st = NULL;

	if (db_prepare(s, &st, e, "PRAGMA data_version", "") < 0 || db_step(s, st, e) < 0)
		return -1;
	*ret = sqlite3_column_int64(st, 0);
	return 0;
}
