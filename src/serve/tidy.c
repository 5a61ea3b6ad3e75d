#include "serve/jobs.h"
#include "task/gc.h"

int job_tidy(struct context *c, struct outcome *o, struct err *e)
{
	struct gc_report r;

	if (o->look)
		return 0;
	if (gc(c, false, &r, e) < 0)
		return -1;
	if (r.trash || r.leftovers)
		strvec_pushf(&o->done,
			"%zu discarded task%s and %zu leftover%s removed for good, %.1f MB freed", r.trash,
			r.trash == 1 ? "" : "s", r.leftovers, r.leftovers == 1 ? "" : "s",
			(double)r.freed / 1e6);
	if (gc_total(&r.disk) > GC_WARN_BYTES)
		strvec_pushf(&o->warnings,
			"all tasks together take more than %llu GB: garth cleanup --older-than 7d",
			GC_WARN_BYTES >> 30);
	return 0;
}
