/* Verifies the audit log's chain; there is no repair. */
#include "audit/audit.h"
#include "doctor/parts.h"

int audit_chain_look(struct survey *s, struct findings *out, struct err *e)
{
	uint64_t lines;
	struct finding *f;

	if (!audit_verify(s->c->home.fd, s->c->store, &lines, e))
		return 0;
	if (e->kind != ERR_CONFLICT)
		return -1;
	f = finding_add(out, "audit-broken", "audit.jsonl", "%s", e->msg);
	finding_hint(f, "%s", e->hint[0] ? e->hint : "garth audit --verify");
	return 0;
}
