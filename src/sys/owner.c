#include "sys/owner.h"

#include <fcntl.h>
#include <unistd.h>

bool owner_is_other(void)
{
	return geteuid() == 0;
}

struct owner owner_inside(void)
{
	if (owner_is_other())
		return (struct owner){ GARTH_UID, GARTH_UID };
	return (struct owner){ geteuid(), getegid() };
}

int owner_give(int dir, const char *name)
{
	struct owner o = owner_inside();

	if (!owner_is_other())
		return 0;
	return fchownat(dir, name, o.uid, o.gid, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH));
}
