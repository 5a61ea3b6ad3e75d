/* A JSON schema (draft 2020-12) of the files that people write for Garth, for editors. It is made from the same
 * rows that parse them. */
#ifndef CLI_FILE_SCHEMA_H
#define CLI_FILE_SCHEMA_H

#include <jansson.h>

/* The whole schema accepts a task file if the file names an agent's command, else a file of the system or the user.
 * Under "$defs" are "config", "repository" (.garth.yaml) and "task". */
json_t *schema_of_files(void);

#endif
