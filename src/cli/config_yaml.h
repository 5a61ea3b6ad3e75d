/* Prints the values of a configuration as YAML that garth can read, each with its origin in a comment. */
#ifndef CLI_CONFIG_YAML_H
#define CLI_CONFIG_YAML_H

#include <jansson.h>

/* values is from config_values. Files below `home` are shown with "~"; home may be NULL. */
void config_yaml(const json_t *values, const char *home);

#endif
