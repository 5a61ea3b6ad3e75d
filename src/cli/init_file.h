/*
 * Makes a .garth.yaml that fits a repository. Only names of files at its top and in the directories there decide;
 * no file is read and nothing is run.
 */
#ifndef CLI_INIT_FILE_H
#define CLI_INIT_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"

/* top is a descriptor of the repository's top directory. `found` gets what was found, for people: "Rust",
 * "Node (npm) in web". */
int init_file(int top, struct buf *out, struct strvec *found, struct err *e);

#endif
