/* What an agent leaves and asks: notes and values for later stages, its stage's checks, questions. */
#include <string.h>

#include "gateway/routes_parts.h"
#include "task/question.h"
#include "task/stage_ask.h"
#include "task/stage_files.h"

static int refuse_stage(struct request *q, const char *tried, const char *instead, struct err *e)
{
	if (e->kind != ERR_REFUSED)
		return e->kind == ERR_USAGE ? request_bad(q, e, e->msg) : -1;
	refuse(&q->no, e, "no_stage", "", "%s", e->msg);
	return refusal_say(&q->no, tried, instead);
}

/* A note for the stages after this one. */
int route_note(struct request *q, struct err *e)
{
	const char *text = json_string_value(json_object_get(q->in, "text"));
	struct gateway *g = q->gateway;

	if (!text)
		return request_bad(q, e, "a note must be {\"text\": …}");
	if (audit_add(g->in.audit, "note", &g->in.task, json_pack("{s:o}", "text", audit_text(text)), e) < 0)
		return -1;
	if (stage_notes_add(g->in.at.ws.dir, text, e) < 0)
		return refuse_stage(q, "leave a note", "write it into your last message", e);
	q->out = json_object();
	return 0;
}

/* A value for the stages after this one. */
int route_output(struct request *q, struct err *e)
{
	const char *name = json_string_value(json_object_get(q->in, "name"));
	const char *value = json_string_value(json_object_get(q->in, "value"));
	struct gateway *g = q->gateway;

	if (!name || !value)
		return request_bad(q, e, "an output must be {\"name\": …, \"value\": …}");
	if (audit_add(g->in.audit, "output", &g->in.task,
		    json_pack("{s:o, s:o}", "name", audit_text(name), "value", audit_text(value)), e) < 0)
		return -1;
	if (stage_outputs_set(g->in.at.ws.dir, name, value, e) < 0)
		return refuse_stage(q, "leave an output", "write it into your last message", e);
	q->out = json_object();
	return 0;
}

/* A client asks repeatedly: known results are the answer, and the runner is asked once for each commit. */
int route_complete(struct request *q, struct err *e)
{
	struct gateway *g = q->gateway;
	const struct task *t = &g->in.task;
	const char *tip = *t->published ? t->published : t->base;
	auto_buf text = BUF_INIT(STAGE_ANSWER_MAX);
	bool passed = false, is_new = false, runner = false;

	if (stage_ask_answered(g->in.at.ws.dir, tip, &passed, &text)) {
		q->out = json_pack("{s:s, s:s, s:o}", "tip", tip, "state", passed ? "passed" : "failed",
			"text", audit_text(buf_str(&text)));
		return 0;
	}
	if (stage_ask_put(&g->in.context, t, g->in.at.ws.dir, tip, &is_new, &runner, e) < 0)
		return refuse_stage(q, "ask for the checks", "commit all of your work, and end", e);
	if (is_new && audit_add(g->in.audit, "stage-complete", t, json_pack("{s:s}", "tip", tip), e) < 0)
		return -1;
	q->out = json_pack(
		"{s:s, s:s, s:s}", "tip", tip, "state", runner ? "queued" : "no_runner", "text", "");
	return 0;
}

int route_question(struct request *q, struct err *e)
{
	struct gateway *g = q->gateway;
	json_t *details;

	if (question_put(g->in.at.ws.dir, q->in, e) < 0)
		return e->kind == ERR_USAGE ? request_bad(q, e, e->msg) : -1;
	details = json_pack(
		"{s:o}", "question", audit_text(json_string_value(json_object_get(q->in, "question"))));
	if (audit_add(g->in.audit, "question", &g->in.task, details, e) < 0)
		return -1;
	q->out = json_pack("{s:s, s:s}", "state", "asked", "next",
		"end now: the task is blocked until the user answers, and is then resumed");
	return 0;
}
