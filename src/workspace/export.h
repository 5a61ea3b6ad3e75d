/*
 * Copies the files of a workspace to a plain directory. Layers are merged as an overlay shows them. All is
 * read beneath descriptors; links are copied as links and never followed; special files and the agent's own
 * repositories are left out and counted.
 */
#ifndef WORKSPACE_EXPORT_H
#define WORKSPACE_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"

struct export_report {
	size_t files, links;
	uint64_t bytes;
	struct strvec left_out; /* paths, at most 100 */
	struct strvec leaving;  /* links that may lead out of the tree, at most 100 */
	size_t nleft_out, nleaving;
};

void export_report_release(struct export_report *r);
#define auto_export_report __attribute__((cleanup(export_report_release))) struct export_report

/* The upper directory, two of a base, and one for each submodule (SUBMODULES_MAX). */
#define EXPORT_LAYERS_MAX 208

/* Merges n layers (directories, topmost first) into the empty directory `out`. */
int export_layers(const int *layers, size_t n, int out, struct export_report *ret, struct err *e);

#endif
