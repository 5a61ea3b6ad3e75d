#include "credentials/authority.h"

#include <jansson.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

#define CIPHERS    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define DAY        (24L * 60 * 60)
#define DAYS       365
#define TEXT_MAX   (64u << 10)
#define SERIAL_MAX 19

struct authority {
	X509 *cert;
	EVP_PKEY *key, *leaf_key;
	struct {
		char *host;
		SSL_CTX *ctx;
	} known[AUTHORITY_HOSTS];
	size_t n;
};

/* On the heap. */
static char *constraints(const struct strvec *hosts)
{
	auto_buf text = BUF_INIT(TEXT_MAX);

	buf_addstr(&text, "critical");
	for (size_t i = 0; i < hosts->n; i++)
		buf_printf(&text, ",permitted;DNS:%s", hosts->v[i]);
	return buf_steal(&text);
}

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *x;
	bool ok;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = x && X509_add_ext(cert, x, -1);
	X509_EXTENSION_free(x);
	return ok;
}

static bool number(X509 *cert)
{
	unsigned char bytes[SERIAL_MAX];
	BIGNUM *n = RAND_bytes(bytes, sizeof(bytes)) == 1 ? BN_bin2bn(bytes, sizeof(bytes), NULL) : NULL;
	bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));

	BN_free(n);
	return ok;
}

/* A certificate without extensions and without a signature; NULL if there is no memory. */
static X509 *blank(EVP_PKEY *key, const char *name, const X509_NAME *issuer)
{
	X509 *cert = X509_new();
	X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;

	if (cert && X509_set_version(cert, X509_VERSION_3) && number(cert) &&
		X509_gmtime_adj(X509_getm_notBefore(cert), -DAY) &&
		X509_gmtime_adj(X509_getm_notAfter(cert), DAYS * DAY) && X509_set_pubkey(cert, key) &&
		X509_NAME_add_entry_by_txt(
			subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) &&
		X509_set_issuer_name(cert, issuer ? issuer : subject))
		return cert;
	X509_free(cert);
	return NULL;
}

static bool to_pem(X509 *cert, EVP_PKEY *key, struct buf *cert_text, struct buf *key_text)
{
	BIO *c = BIO_new(BIO_s_mem()), *k = BIO_new(BIO_s_secmem());
	bool ok = c && k && PEM_write_bio_X509(c, cert) &&
		  PEM_write_bio_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL);
	char *data;
	long n;

	if (ok && (n = BIO_get_mem_data(c, &data)) > 0)
		buf_add(cert_text, data, (size_t)n);
	if (ok && (n = BIO_get_mem_data(k, &data)) > 0)
		buf_add(key_text, data, (size_t)n);
	BIO_free(c);
	BIO_free(k);
	return ok && cert_text->len && key_text->len;
}

int authority_make(const struct strvec *hosts, struct buf *cert, struct buf *key, struct err *e)
{
	auto_str permitted = constraints(hosts);
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	X509 *x = pair ? blank(pair, "Garth, for one task", NULL) : NULL;
	bool ok = x && hosts->n && permitted &&
		  extend(x, x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
		  extend(x, x, NID_key_usage, "critical,keyCertSign") &&
		  extend(x, x, NID_subject_key_identifier, "hash") &&
		  extend(x, x, NID_name_constraints, permitted) && X509_sign(x, pair, EVP_sha256()) &&
		  to_pem(x, pair, cert, key);

	X509_free(x);
	EVP_PKEY_free(pair);
	return ok ? 0 : err_set(e, ERR_FAILED, "cannot make a certificate authority");
}

struct authority *authority_open(const char *cert, const char *key)
{
	struct authority *a = xcalloc(1, sizeof(*a));
	BIO *c = BIO_new_mem_buf(cert, -1), *k = BIO_new_mem_buf(key, -1);

	a->cert = c ? PEM_read_bio_X509(c, NULL, NULL, NULL) : NULL;
	a->key = k ? PEM_read_bio_PrivateKey(k, NULL, NULL, NULL) : NULL;
	a->leaf_key = EVP_EC_gen("P-256");
	BIO_free(c);
	BIO_free(k);
	if (a->cert && a->key && a->leaf_key)
		return a;
	X509_free(a->cert);
	EVP_PKEY_free(a->key);
	EVP_PKEY_free(a->leaf_key);
	free(a);
	return NULL;
}

static X509 *leaf(struct authority *a, const char *host)
{
	auto_str names = xasprintf("DNS:%s", host);
	X509 *x = blank(a->leaf_key, "Garth", X509_get_subject_name(a->cert));

	if (x && extend(x, a->cert, NID_basic_constraints, "critical,CA:FALSE") &&
		extend(x, a->cert, NID_key_usage, "critical,digitalSignature") &&
		extend(x, a->cert, NID_ext_key_usage, "serverAuth") &&
		extend(x, a->cert, NID_authority_key_identifier, "keyid") &&
		extend(x, a->cert, NID_subject_alt_name, names) && X509_sign(x, a->key, EVP_sha256()))
		return x;
	X509_free(x);
	return NULL;
}

/* Only HTTP/1.1 is spoken. A client that does not offer it will see that from the answer. */
static int choose(SSL *ssl, const unsigned char **out, unsigned char *outlen, const unsigned char *in,
	unsigned int inlen, void *arg)
{
	static const unsigned char ours[] = "\x08http/1.1";

	(void)ssl;
	(void)arg;
	return SSL_select_next_proto((unsigned char **)out, outlen, ours, sizeof(ours) - 1, in, inlen) ==
			       OPENSSL_NPN_NEGOTIATED
		       ? SSL_TLSEXT_ERR_OK
		       : SSL_TLSEXT_ERR_NOACK;
}

SSL_CTX *authority_context(struct authority *a, const char *host)
{
	SSL_CTX *ctx;
	X509 *cert;

	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->known[i].host, host))
			return a->known[i].ctx;
	if (a->n == AUTHORITY_HOSTS)
		return NULL;
	cert = leaf(a, host);
	ctx = cert ? SSL_CTX_new(TLS_server_method()) : NULL;
	if (ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) && SSL_CTX_use_certificate(ctx, cert) &&
		SSL_CTX_use_PrivateKey(ctx, a->leaf_key)) {
		SSL_CTX_set_alpn_select_cb(ctx, choose, NULL);
		/* the shorter key takes less time, and nobody listens between the task and this process; a client without
		 * AES instructions lists ChaCha20 first, and gets it */
		SSL_CTX_set_ciphersuites(ctx, CIPHERS);
		SSL_CTX_set_options(ctx,
			SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
		/* a client that connects again and again must not fill the memory */
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
		a->known[a->n].host = xstrdup(host);
		a->known[a->n++].ctx = ctx;
	} else {
		SSL_CTX_free(ctx);
		ctx = NULL;
	}
	X509_free(cert);
	return ctx;
}

static void split_lines(char *text, struct strvec *ret)
{
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l && ret->n < AUTHORITY_HOSTS;
		l = strtok_r(NULL, "\n", &save))
		strvec_push(ret, l);
}

int authority_main(struct err *e)
{
	auto_buf text = BUF_INIT(TEXT_MAX), cert = BUF_INIT(TEXT_MAX), key = BUF_INIT(TEXT_MAX);
	auto_strvec hosts = STRVEC_INIT;
	json_t *j;
	char *out;
	int rc;

	if (read_rest(STDIN_FILENO, &text, "the hosts", e) < 0)
		return -1;
	buf_str(&text);
	split_lines(text.data ? text.data : (char[]){ "" }, &hosts);
	if (authority_make(&hosts, &cert, &key, e) < 0)
		return -1;
	j = json_pack("{s:s, s:s}", "cert", buf_str(&cert), "key", buf_str(&key));
	out = j ? json_dumps(j, JSON_COMPACT) : NULL;
	rc = out && write_full(STDOUT_FILENO, out, strlen(out)) >= 0 ? 0 : -1;
	if (out)
		explicit_bzero(out, strlen(out));
	explicit_bzero(key.data, key.len);
	free(out);
	json_decref(j);
	return rc < 0 ? err_sys(e, "cannot answer") : 0;
}
