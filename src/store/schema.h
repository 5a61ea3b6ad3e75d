/* The migrations of the database schema: row n upgrades a store from version n to n + 1. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

extern const char *const schema_steps[];
extern const int schema_version;

#endif
