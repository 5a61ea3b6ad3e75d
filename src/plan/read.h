/* Reads a plan's YAML into a draft, by the rows of rows.h. */
#ifndef PLAN_READ_H
#define PLAN_READ_H

#include "base/yaml.h"
#include "plan/rows.h"

/* The file that is being read. */
struct plan_reader {
	const char *file; /* NULL: a frozen plan, whose places are not those of a file */
	bool frozen;
	struct strvec *no_effect; /* sentences */
	struct strvec ignored;    /* the keys that are in no_effect already: each is named once */
	struct strvec *mistakes;  /* all of them (plan_mistake); NULL: the first one ends the reading */
};

/* The whole file. All of its keys may be below one key "loom". */
int plan_read_file(struct plan_reader *r, const struct yaml *y, struct plan_draft *d, struct err *e);
/* One value, which is not null. `what` names it in messages, `to` is where it goes. */
int plan_read_value(struct plan_reader *r, const struct yaml *y, const struct plan_key *row, const char *what,
	void *to, struct err *e);

/* Notes that a key or value of the file has no effect, and why. */
void plan_note(struct plan_reader *r, unsigned line, unsigned column, const char *what, const char *why);

/* Whether it is a stage's id: [A-Za-z0-9_-], at most PLAN_ID_MAX. */
bool plan_id_is_valid(const char *id);

#endif
