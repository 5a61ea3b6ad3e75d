/* A line on the terminal while something takes long: shown after 300 ms and not before, gone when it is over.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* `what` stays the caller's until progress_end. Nothing is shown where stderr is no terminal. */
void progress_begin(const char *what);
void progress_end(void);

#endif
