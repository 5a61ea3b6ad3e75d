#include "sys/fifo_wait.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "sys/fd.h"

/* The kernel's function for it, fs/pipe.c. */
#define WAITS "wait_for_partner"

static ssize_t read_of(pid_t pid, const char *name, char *ret, size_t size)
{
	auto_str path = xasprintf("/proc/%d/%s", (int)pid, name);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	ret[n < 0 ? 0 : n] = '\0';
	return n;
}

/* The name is in the process's memory, up to the end of a page at least. */
static void add_name(pid_t pid, unsigned long long at, struct buf *path)
{
	char name[PATH_MAX];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = page - (size_t)(at % page);
	struct iovec here = { name, n < sizeof(name) ? n : sizeof(name) };
	/* the address is the other process's */
	struct iovec there = { (void *)(uintptr_t)at, here.iov_len }; /* NOLINT */
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (got > 0 && memchr(name, '\0', (size_t)got))
		clean_line(path, name);
}

bool fifo_wait_find(pid_t pid, struct buf *path)
{
	char text[256];
	unsigned long long call, first, second;

	if (read_of(pid, "wchan", text, sizeof(text)) < 0 || strcmp(text, WAITS) != 0)
		return false;
	if (read_of(pid, "syscall", text, sizeof(text)) > 0 &&
		sscanf(text, "%llu 0x%llx 0x%llx", &call, &first, &second) == 3 &&
		(call == SYS_openat || call == SYS_openat2))
		add_name(pid, second, path);
	return true;
}
