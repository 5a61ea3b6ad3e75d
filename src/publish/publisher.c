#include "publish/publisher.h"

#include "base/alloc.h"
#include "jail/userns.h"

void publisher_close(struct publisher *pub)
{
	publisher_drop_verifier(pub);
	ref_session_close(steal_ptr(pub->refs));
}

void publisher_drop_verifier(struct publisher *pub)
{
	if (pub->has_verifier)
		verifier_close(&pub->verifier);
	pub->has_verifier = false;
}

static bool is_landlock_only(const struct publisher *pub)
{
	return backend_of(&pub->in->task)->landlock_only && !userns_works();
}

int publisher_verifier(struct publisher *pub, struct verifier **ret, struct err *e)
{
	if (pub->has_verifier && !verifier_is_alive(&pub->verifier))
		publisher_drop_verifier(pub);
	if (!pub->has_verifier) {
		auto_str dir = is_landlock_only(pub) ? home_path(&pub->in->context.home, "tasks/%lld/verify",
							       (long long)pub->in->task.id)
						     : NULL;

		if (verifier_open(&pub->in->at.repo, pub->in->task.id, dir, &pub->verifier, e) < 0)
			return -1;
	}
	pub->has_verifier = true;
	pub->verifier.whole = pub->in->task.strict;
	pub->verifier.runner.caller = pub->in->runner->caller;
	*ret = &pub->verifier;
	return 0;
}

void publisher_set_caller(struct publisher *pub, int fd)
{
	pub->in->runner->caller = fd;
	if (pub->has_verifier)
		pub->verifier.runner.caller = fd;
}
