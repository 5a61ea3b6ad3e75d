#include "runtime/authority.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "credentials/control.h"
#include "sys/fd.h"
#include "sys/proc.h"

#define BEGIN        "-----BEGIN CERTIFICATE-----"
#define END          "-----END CERTIFICATE-----"
#define ANSWER_MAX   (64u << 10)
#define ALL_MAX      (8u << 20)
#define MAKE_SECONDS 30

/* Where distributions have the system's trusted certificates. */
static const char *const places[] = { "/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem" };

static int ask(const struct strvec *hosts, struct buf *answer, struct err *e)
{
	auto_str program = NULL;
	auto_buf names = BUF_SMALL;
	char *argv[] = { NULL, (char *)CREDENTIALS_AUTHORITY, NULL };
	struct proc_spec p = { .argv = argv, .env = environ, .seconds = MAKE_SECONDS };
	int status = 0;

	if (proc_find_part(CREDENTIALS_PROGRAM, &program, e) < 0)
		return -1;
	argv[0] = program;
	for (size_t i = 0; i < hosts->n; i++)
		buf_printf(&names, "%s\n", hosts->v[i]);
	if (proc_run(&p, &names, answer, NULL, &status, e) < 0)
		return -1;
	return status ? err_set(e, ERR_FAILED, "cannot make a certificate authority for the task") : 0;
}

/* Adds only the certificates of a file: it may have a key, too. */
static void add_certificates(const char *path, struct buf *out)
{
	auto_buf text = BUF_INIT(ALL_MAX);
	struct err ignored = ERR_INIT;
	const char *p, *end;

	if (!path || !*path || read_file(AT_FDCWD, path, &text, &ignored) < 0)
		return;
	for (p = buf_str(&text); (p = strstr(p, BEGIN)) && (end = strstr(p, END)); p = end) {
		end += strlen(END);
		buf_printf(out, "%.*s\n", (int)(end - p), p);
	}
}

static void write_all(struct task_at *at, const char *own)
{
	auto_buf all = BUF_INIT(ALL_MAX);
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(places) && !all.len; i++)
		add_certificates(places[i], &all);
	buf_addstr(&all, own);
	/* on a full disk the task still starts: agents themselves use the other file */
	if (!all.overflow)
		write_file(at->ws.dir, AUTHORITY_CERTIFICATES, all.data, all.len, 0644, &ignored);
}

int authority_give(struct task_at *at, struct outside *out, char **ret, struct err *e)
{
	auto_buf answer = BUF_INIT(ANSWER_MAX), own = BUF_INIT(ALL_MAX);
	const char *cert, *key;
	json_t *j;

	*ret = NULL;
	if (!out->hosts.n) {
		unlinkat(at->ws.dir, AUTHORITY_CERTIFICATES, 0);
		return 0;
	}
	if (ask(&out->hosts, &answer, e) < 0)
		return -1;
	j = json_loadb(buf_str(&answer), answer.len, 0, NULL);
	cert = json_string_value(json_object_get(j, "cert"));
	key = json_string_value(json_object_get(j, "key"));
	if (cert && key) {
		out->table.cert = xstrdup(cert);
		out->table.cert_key = xstrdup(key);
		buf_addstr(&own, cert);
		/* certificates of a company, which the user's variable names */
		add_certificates(getenv("NODE_EXTRA_CA_CERTS"), &own);
		write_all(at, buf_str(&own));
		*ret = buf_steal(&own);
	}
	json_decref(j);
	explicit_bzero(answer.data, answer.len);
	return *ret ? 0 : err_set(e, ERR_FAILED, "cannot make a certificate authority for the task");
}
