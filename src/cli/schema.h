/* A JSON schema of task files, for editors. It is made from the same rows that parse them. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

#include <jansson.h>

json_t *schema_of_taskfile(void);

#endif
