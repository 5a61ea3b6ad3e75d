/* Directory streams that are closed at the end of their scope. */
#ifndef SYS_DIR_H
#define SYS_DIR_H

#include <dirent.h>
#include <stdbool.h>

static inline void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}
#define auto_dir __attribute__((cleanup(dir_closep))) DIR *

/* "." and "..". */
static inline bool dir_is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

#endif
