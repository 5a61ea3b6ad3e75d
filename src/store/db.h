/* A thin wrapper around SQLite. Only the files of store/ include it. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct store {
	sqlite3 *db;
	bool in_batch;
	int64_t batch; /* the running batch's number; 0 until it has a deed */
};

void stmt_finish(sqlite3_stmt **st);
#define auto_stmt __attribute__((cleanup(stmt_finish))) sqlite3_stmt *

/* Fills in e from SQLite's last error (busy, disk full, not a database) and returns -1. */
int db_error(struct store *s, struct err *e, const char *what);
int db_exec(struct store *s, const char *sql, struct err *e);
/* Prepares a statement and binds its arguments. Each character of `types` takes one argument: 's' const char
 * *, 'i' int64_t. The caller finalizes *ret (auto_stmt). */
int db_prepare(struct store *s, sqlite3_stmt **ret, struct err *e, const char *sql, const char *types, ...);
/* Prepares, binds and runs a statement that gives no rows. */
int db_run(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Returns 1 for a row, 0 after the last one, -1 on failure. */
int db_step(struct store *s, sqlite3_stmt *st, struct err *e);
/* The text of a column, on the heap; "" for NULL. */
char *db_text(sqlite3_stmt *st, int column);
int64_t db_now(void);

#endif
