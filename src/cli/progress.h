/* A line on the terminal while something takes long: shown after 300 ms and not before, gone when it is over.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* Nothing is shown with --json, or if stderr is no terminal. */
void progress_begin(const char *what);
void progress_end(void);
/* Another line is about to be written: this one goes. */
void progress_clear(void);

#endif
