#include "store/schema.h"

const char *const schema_steps[] = {
	"CREATE TABLE project ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" path TEXT NOT NULL,"
	" git_dir TEXT NOT NULL UNIQUE,"
	" name TEXT NOT NULL,"
	" created INTEGER NOT NULL);"
	"CREATE TABLE task ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" project_id INTEGER NOT NULL REFERENCES project(id),"
	" name TEXT NOT NULL,"
	" branch TEXT NOT NULL,"
	" base TEXT NOT NULL,"
	" layer TEXT NOT NULL,"
	" target TEXT NOT NULL,"
	" backend TEXT NOT NULL,"
	" state TEXT NOT NULL,"
	" workspace TEXT NOT NULL,"
	" shown TEXT NOT NULL,"
	" strict INTEGER NOT NULL,"
	" disk INTEGER NOT NULL DEFAULT 0,"
	" created INTEGER NOT NULL,"
	" changed INTEGER NOT NULL,"
	" removed INTEGER NOT NULL DEFAULT 0);"
	"CREATE UNIQUE INDEX task_name ON task(name) WHERE removed = 0;"
	"CREATE INDEX task_layer ON task(project_id, layer) WHERE removed = 0;"
	"CREATE TABLE run ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" task_id INTEGER NOT NULL REFERENCES task(id),"
	" session TEXT NOT NULL,"
	" command TEXT NOT NULL,"
	" state TEXT NOT NULL,"
	" exit_code INTEGER NOT NULL DEFAULT 0,"
	" started INTEGER NOT NULL,"
	" ended INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX run_task ON run(task_id, id);",

	"ALTER TABLE task ADD COLUMN published TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE task ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE task ADD COLUMN note TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE task ADD COLUMN on_dirty TEXT NOT NULL DEFAULT 'fail';"
	"CREATE TABLE allowed ("
	" task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	" glob TEXT NOT NULL,"
	" UNIQUE (task_id, glob));"
	"CREATE TABLE fact ("
	" key TEXT PRIMARY KEY,"
	" value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE compared ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" kind TEXT NOT NULL,"
	" a TEXT NOT NULL,"
	" b TEXT NOT NULL,"
	" result TEXT NOT NULL,"
	" UNIQUE (kind, a, b));"
	"CREATE TABLE snapshot ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	" number INTEGER NOT NULL,"
	" tip TEXT NOT NULL,"
	" state TEXT NOT NULL,"
	" reason TEXT NOT NULL,"
	" message TEXT NOT NULL,"
	" commits INTEGER NOT NULL,"
	" created INTEGER NOT NULL,"
	" UNIQUE (task_id, number));"
	"CREATE TABLE deed ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	" task TEXT NOT NULL,"
	" kind TEXT NOT NULL,"
	" data TEXT NOT NULL,"
	" created INTEGER NOT NULL,"
	" undone INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX deed_open ON deed(id) WHERE undone = 0;",

	/* Task ids are part of ref names in the user's repository. Several Garth homes may use the same
	 * repository, so each home starts counting at a random id. */
	("INSERT INTO sqlite_sequence (name, seq) SELECT 'task', abs(random() % 1000000) * 10000"
	 " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'task');"),

	("CREATE TABLE asked ("
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " host TEXT NOT NULL,"
	 " port INTEGER NOT NULL,"
	 " open INTEGER NOT NULL,"
	 " times INTEGER NOT NULL,"
	 " last INTEGER NOT NULL,"
	 " UNIQUE (task_id, host, port, open));"),

	"ALTER TABLE task ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;",

	/* Until now a push set the state "merged". Tasks without a merge go back to "done" and are judged
	 * again. */
	("ALTER TABLE task ADD COLUMN pushed_remote TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE task ADD COLUMN pushed_branch TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE task ADD COLUMN pushed_tip TEXT NOT NULL DEFAULT '';"
	 "CREATE TABLE landed ("
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " tip TEXT NOT NULL,"
	 " result TEXT NOT NULL,"
	 " UNIQUE (task_id, tip, result));"
	 "UPDATE task SET state = 'done' WHERE state = 'merged' AND removed = 0"
	 " AND NOT EXISTS (SELECT 1 FROM deed WHERE task_id = task.id AND kind = 'merge' AND undone = 0)"
	 " AND NOT EXISTS (SELECT 1 FROM fact WHERE key LIKE 'solved/%' AND value LIKE task.id || ' %');"),

	/* For a clone, task.workspace is the path inside from here on. An older garth would take it for a
	 * path on the host, where the user's checkout is; it refuses a newer store. */
	"ALTER TABLE task ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;",

	"ALTER TABLE run ADD COLUMN argv TEXT NOT NULL DEFAULT '';",

	/* why a run failed and what it left behind, apart from the command's exit code */
	("ALTER TABLE run ADD COLUMN verdict TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE run ADD COLUMN leftover TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE run ADD COLUMN elsewhere TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE run ADD COLUMN drafts TEXT NOT NULL DEFAULT '';"),

	"ALTER TABLE task ADD COLUMN disk_max INTEGER NOT NULL DEFAULT 0;",

	/* Deeds of one command are undone together: batch is the id of the first. */
	"ALTER TABLE deed ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;",

	("ALTER TABLE asked ADD COLUMN why INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE asked ADD COLUMN address TEXT NOT NULL DEFAULT '';"),

	/* counters for audit/flood.h */
	("CREATE TABLE flood ("
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " key TEXT NOT NULL,"
	 " event TEXT NOT NULL,"
	 " details TEXT NOT NULL,"
	 " pending INTEGER NOT NULL,"
	 " lines INTEGER NOT NULL,"
	 " written INTEGER NOT NULL,"
	 " UNIQUE (task_id, key));"
	 "CREATE TABLE flood_budget ("
	 " task_id INTEGER PRIMARY KEY REFERENCES task(id) ON DELETE CASCADE,"
	 " bytes INTEGER NOT NULL,"
	 " at INTEGER NOT NULL);"),

	/* Names are per project; until now a task's name was also the name of its directory. The last two
	 * columns are for a rename that is not finished. */
	("ALTER TABLE task ADD COLUMN place TEXT NOT NULL DEFAULT '';"
	 "UPDATE task SET place = name WHERE backend NOT IN ('overlay', 'empty');"
	 "ALTER TABLE task ADD COLUMN ref_was TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE task ADD COLUMN inside_was TEXT NOT NULL DEFAULT '';"
	 "DROP INDEX task_name;"
	 "CREATE UNIQUE INDEX task_name ON task(project_id, name) WHERE removed = 0;"
	 "CREATE INDEX task_any_name ON task(name);"
	 "CREATE INDEX task_place ON task(place);"),

	/* What the user has looked at (task/seen.h). Whatever was there before counts as seen. */
	("ALTER TABLE task ADD COLUMN seen TEXT NOT NULL DEFAULT '';"
	 "UPDATE task SET seen = published || ' ' || coalesce((SELECT ended FROM run WHERE run.id ="
	 " (SELECT max(id) FROM run WHERE task_id = task.id)), 0);"),
	/* What a repository's file asks for and the user approved, by its content; see task/approval.h. */
	("CREATE TABLE approved ("
	 " project_id INTEGER NOT NULL REFERENCES project(id) ON DELETE CASCADE,"
	 " digest TEXT NOT NULL,"
	 " what TEXT NOT NULL,"
	 " created INTEGER NOT NULL,"
	 " UNIQUE (project_id, digest));"),
	/* What was published from a task's submodules. */
	("CREATE TABLE submodule ("
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " path TEXT NOT NULL,"
	 " published TEXT NOT NULL,"
	 " commits INTEGER NOT NULL,"
	 " bytes INTEGER NOT NULL,"
	 " UNIQUE (task_id, path));"
	 "CREATE TABLE snapshot_submodule ("
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " number INTEGER NOT NULL,"
	 " path TEXT NOT NULL,"
	 " tip TEXT NOT NULL,"
	 " UNIQUE (task_id, number, path));"),
	/* Sessions of editors (acp/acp.h): id is the one that the editor knows, theirs the agent's own. */
	("CREATE TABLE acp_session ("
	 " id TEXT PRIMARY KEY,"
	 " task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,"
	 " theirs TEXT NOT NULL,"
	 " agent TEXT NOT NULL,"
	 " cwd TEXT NOT NULL,"
	 " title TEXT NOT NULL,"
	 " updated INTEGER NOT NULL);"
	 "CREATE INDEX acp_session_task ON acp_session(task_id);"
	 /* what agents answered to an editor's initialize: acp/known.c */
	 "CREATE TABLE acp_answer ("
	 " key TEXT PRIMARY KEY,"
	 " answer TEXT NOT NULL,"
	 " updated INTEGER NOT NULL);"),
	/* Plans (store/plan.h). A plan's name is taken as long as it is not over. */
	("CREATE TABLE plan ("
	 " id INTEGER PRIMARY KEY AUTOINCREMENT,"
	 " project_id INTEGER NOT NULL REFERENCES project(id),"
	 " task_id INTEGER NOT NULL DEFAULT 0,"
	 " name TEXT NOT NULL,"
	 " file TEXT NOT NULL,"
	 " digest TEXT NOT NULL,"
	 " target TEXT NOT NULL,"
	 " state TEXT NOT NULL,"
	 " note TEXT NOT NULL DEFAULT '',"
	 " merged TEXT NOT NULL DEFAULT '',"
	 " frozen TEXT NOT NULL,"
	 " created INTEGER NOT NULL,"
	 " changed INTEGER NOT NULL,"
	 " ended INTEGER NOT NULL DEFAULT 0);"
	 "CREATE UNIQUE INDEX plan_name ON plan(project_id, name) WHERE ended = 0;"
	 "CREATE TABLE stage ("
	 " id INTEGER PRIMARY KEY AUTOINCREMENT,"
	 " plan_id INTEGER NOT NULL REFERENCES plan(id) ON DELETE CASCADE,"
	 " number INTEGER NOT NULL,"
	 " name TEXT NOT NULL,"
	 " task TEXT NOT NULL,"
	 " task_id INTEGER NOT NULL DEFAULT 0,"
	 " state TEXT NOT NULL,"
	 " back TEXT NOT NULL DEFAULT '',"
	 " note TEXT NOT NULL DEFAULT '',"
	 " gate TEXT NOT NULL DEFAULT '',"
	 " tip TEXT NOT NULL DEFAULT '',"
	 " failed_tip TEXT NOT NULL DEFAULT '',"
	 " failure TEXT NOT NULL DEFAULT '',"
	 " approved TEXT NOT NULL DEFAULT '',"
	 " prompt TEXT NOT NULL DEFAULT '',"
	 " merged TEXT NOT NULL DEFAULT '',"
	 " hold INTEGER NOT NULL DEFAULT 0,"
	 " satisfied INTEGER NOT NULL DEFAULT 0,"
	 " starting INTEGER NOT NULL DEFAULT 0,"
	 " slot INTEGER NOT NULL DEFAULT 0,"
	 " run INTEGER NOT NULL DEFAULT 0,"
	 " attempt INTEGER NOT NULL DEFAULT 0,"
	 " crashes INTEGER NOT NULL DEFAULT 0,"
	 " failures INTEGER NOT NULL DEFAULT 0,"
	 " conflicts INTEGER NOT NULL DEFAULT 0,"
	 " waits INTEGER NOT NULL DEFAULT 0,"
	 " queued INTEGER NOT NULL DEFAULT 0,"
	 " until INTEGER NOT NULL DEFAULT 0,"
	 " started INTEGER NOT NULL DEFAULT 0,"
	 " ended INTEGER NOT NULL DEFAULT 0,"
	 " changed INTEGER NOT NULL,"
	 " version INTEGER NOT NULL DEFAULT 0,"
	 " UNIQUE (plan_id, name));"
	 "CREATE INDEX stage_task ON stage(task_id);"
	 "CREATE TABLE plan_event ("
	 " id INTEGER PRIMARY KEY AUTOINCREMENT,"
	 " plan_id INTEGER NOT NULL REFERENCES plan(id) ON DELETE CASCADE,"
	 " stage_id INTEGER NOT NULL,"
	 " at INTEGER NOT NULL,"
	 " what TEXT NOT NULL,"
	 " text TEXT NOT NULL);"
	 "CREATE INDEX plan_event_plan ON plan_event(plan_id);"
	 "CREATE TABLE check_known ("
	 " id INTEGER PRIMARY KEY AUTOINCREMENT,"
	 " key TEXT NOT NULL UNIQUE,"
	 " title TEXT NOT NULL,"
	 " kind TEXT NOT NULL,"
	 " passed INTEGER NOT NULL,"
	 " code INTEGER NOT NULL,"
	 " ms INTEGER NOT NULL,"
	 " why TEXT NOT NULL,"
	 " output TEXT NOT NULL,"
	 " at INTEGER NOT NULL);"
	 "CREATE TABLE stage_check ("
	 " id INTEGER PRIMARY KEY AUTOINCREMENT,"
	 " stage_id INTEGER NOT NULL REFERENCES stage(id) ON DELETE CASCADE,"
	 " attempt INTEGER NOT NULL,"
	 " cached INTEGER NOT NULL,"
	 " key TEXT NOT NULL,"
	 " title TEXT NOT NULL,"
	 " kind TEXT NOT NULL,"
	 " passed INTEGER NOT NULL,"
	 " code INTEGER NOT NULL,"
	 " ms INTEGER NOT NULL,"
	 " why TEXT NOT NULL,"
	 " output TEXT NOT NULL,"
	 " at INTEGER NOT NULL,"
	 " UNIQUE (stage_id, attempt, key));"),
	/* Tickets (store/ticket.h): a plan without a file. */
	("ALTER TABLE plan ADD COLUMN tickets INTEGER NOT NULL DEFAULT 0;"
	 "ALTER TABLE plan ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;"
	 "CREATE INDEX plan_task ON plan(task_id);"
	 "ALTER TABLE stage ADD COLUMN asked TEXT NOT NULL DEFAULT '';"
	 "ALTER TABLE stage ADD COLUMN shown TEXT NOT NULL DEFAULT '';"),
	/* Conflicts of stages that are solved in a task for that (plan/resolution.h). */
	("ALTER TABLE stage ADD COLUMN own_id INTEGER NOT NULL DEFAULT 0;"
	 "CREATE INDEX stage_own ON stage(own_id);"),
	"ALTER TABLE stage ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;",
};

const int schema_version = sizeof(schema_steps) / sizeof(schema_steps[0]);
