#include "audit/audit.h"
#include "serve/jobs.h"

int job_audit(struct context *c, struct outcome *o, struct err *e)
{
	uint64_t lines;

	if (audit_verify(c->home.fd, c->store, &lines, e) == 0)
		return 0;
	if (e->kind != ERR_CONFLICT)
		return -1;
	strvec_pushf(&o->warnings, "the audit log is not whole: %s", e->msg);
	return 0;
}
