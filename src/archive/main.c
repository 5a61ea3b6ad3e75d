#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/archive.h"

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	int rc;

	/* names are bytes, but libarchive interprets them in the locale */
	setlocale(LC_CTYPE, "C.UTF-8");
	umask(0077);
	if (argc != 4 || (strcmp(argv[1], "pack") && strcmp(argv[1], "unpack"))) {
		fprintf(stderr, "usage: garth-archive pack DIR FILE | unpack FILE DIR\n");
		return 2;
	}
	rc = (strcmp(argv[1], "pack") ? archive_unpack : archive_pack)(argv[2], argv[3], &e);
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	return rc < 0 ? 1 : 0;
}
