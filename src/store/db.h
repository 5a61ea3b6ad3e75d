/* SQLite, wrapped once: for the files of this room alone. */
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
	int64_t batch; /* 0 before its first deed */
};

void stmt_finish(sqlite3_stmt **st);
#define auto_stmt __attribute__((cleanup(stmt_finish))) sqlite3_stmt *

/* Turns SQLite's last error into ours: busy, full disk, not a database. */
int db_error(struct store *s, struct err *e, const char *what);
int db_exec(struct store *s, const char *sql, struct err *e);
/* Prepares and binds: each character of `types` takes one argument: 's' const char *, 'i' int64_t. */
int db_prepare(struct store *s, sqlite3_stmt **ret, struct err *e, const char *sql, const char *types, ...);
/* Prepares, binds and runs a statement that gives no rows. */
int db_run(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* 1 for a row, 0 at the end, -1. */
int db_step(struct store *s, sqlite3_stmt *st, struct err *e);
/* A text column on the heap; "" for NULL. */
char *db_text(sqlite3_stmt *st, int column);
int64_t db_now(void);

#endif
