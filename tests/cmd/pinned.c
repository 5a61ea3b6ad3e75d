/*
 * pinned BYTES COUNT: starts COUNT processes. Each runs a copy of this program, with BYTES more behind it, that is removed
 * and that it has unmapped. Prints "pinned", and waits.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul

extern char __executable_start, _end;

/* Copied to a page without a file: unmaps the program, and waits for ever. */
static void stay(char *from, unsigned long size)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_munmap), "D"(from), "S"(size)
			 : "rcx", "r11", "memory");
	for (;;)
		__asm__ volatile("syscall" : "=a"(ret) : "a"(SYS_pause) : "rcx", "r11", "memory");
}

static void unmap(const char *name)
{
	char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long size = (unsigned long)(&_end - &__executable_start + PAGE - 1) & ~(PAGE - 1);

	memcpy(at, (void *)stay, 256);
	unlink(name);
	((void (*)(char *, unsigned long))at)(&__executable_start, size);
}

static void copy(const char *name, long more)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(name, O_WRONLY | O_CREAT, 0700);
	char *padding = calloc(1, (size_t)more);
	struct stat st;

	fstat(from, &st);
	if (sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size || lseek(to, 0, SEEK_END) < 0 ||
		write(to, padding, (size_t)more) != more)
		_exit(1);
	free(padding);
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		unmap(argv[1]);
	for (int i = 0; i < atoi(argv[2]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "pin%d", i);
		copy(name, atol(argv[1]));
		if (!fork()) {
			execl(name, name, name, NULL);
			_exit(1);
		}
	}
	puts("pinned");
	fflush(stdout);
	sleep(100);
	return 0;
}
