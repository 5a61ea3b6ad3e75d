/* A JSON schema (draft 2020-12) of plan files, for editors, made from the rows that read them. For a Markdown plan it
 * describes the YAML between the markers. */
#ifndef PLAN_SCHEMA_H
#define PLAN_SCHEMA_H

#include <jansson.h>

json_t *plan_schema(void);

#endif
