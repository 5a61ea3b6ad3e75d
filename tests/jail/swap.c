/*
 * swap SECONDS A B [A B]…: exchanges the names of each pair, over and over. Who looks at A and then uses A
 * may get B: a directory of its own on the first look and a link that leads outside on the second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#define EXCHANGE 2u

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);
	unsigned long n = 0;

	if (argc < 4 || argc % 2)
		return 2;
	while (time(NULL) < end)
		for (int i = 2; i + 1 < argc; i += 2)
			n += !syscall(SYS_renameat2, AT_FDCWD, argv[i], AT_FDCWD, argv[i + 1], EXCHANGE);
	printf("%lu\n", n);
	return !n;
}
