/* A progress line on the terminal for something that takes long: shown after 300 ms, removed at the end. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* Shows nothing with --json or --quiet, or if stderr is no terminal. */
void progress_begin(const char *what);
void progress_end(void);
/* Removes the line, because another one is about to be printed. */
void progress_clear(void);

#endif
