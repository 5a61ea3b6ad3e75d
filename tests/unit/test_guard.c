/* A2: which calls of tools the guard refuses, and which it lets pass. {W} is the workspace, {H} the task home, {G} the Garth
 * home, {P} the user's checkout if the workspace is elsewhere. */
#include "scratch.h"

#include "base/alloc.h"
#include "guard/guard.h"

enum { PASS, REFUSE };

struct world {
	struct facts facts;
	struct guard guard;
	char dir[256];
};

static void copy(char *to, size_t size, const char *format, const char *path)
{
	char text[4096];
	size_t n = strcspn(format, "*");

	snprintf(text, sizeof(text), "%.*s%s%s", (int)n, format, path, format[n] ? format + n + 1 : "");
	snprintf(to, size, "%s", text);
}

/* The workspace is at the project's path, or elsewhere with the project beside it. */
static struct world *make_world(struct scratch *s, bool elsewhere)
{
	static struct world w;
	const char *const dirs[] = { "home", "home/src", "home/src/app", "home/src/app/sub",
		"home/src/app/sub/deep", "home/src/app/.git", "home/.cache", "home/notes", "home/.garth",
		"home/.garth/worktrees", "home/.garth/worktrees/t-1", "home/.garth/worktrees/t-1/sub",
		"run" };

	memset(&w, 0, sizeof(w));
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		mkdirat(s->fd, dirs[i], 0700);
	put(s->fd, "home/notes/x", "x");
	symlinkat("../../other", s->fd, "home/src/app/out");
	symlinkat("sub", s->fd, "home/src/app/in");
	symlinkat("/usr/lib", s->fd, "home/src/app/lib");
	copy(w.facts.home, sizeof(w.facts.home), "*/home", s->path);
	copy(w.facts.garth_home, sizeof(w.facts.garth_home), "*/home/.garth", s->path);
	copy(w.facts.workspace, sizeof(w.facts.workspace),
		elsewhere ? "*/home/.garth/worktrees/t-1" : "*/home/src/app", s->path);
	if (elsewhere)
		copy(w.facts.project, sizeof(w.facts.project), "*/home/src/app", s->path);
	copy(w.dir, sizeof(w.dir), "*/run", s->path);
	copy(w.facts.tmp, sizeof(w.facts.tmp), "/tmp", "");
	copy(w.facts.branch, sizeof(w.facts.branch), "refs/heads/garth/t-1", "");
	copy(w.facts.target, sizeof(w.facts.target), "refs/heads/main", "");
	copy(w.facts.network, sizeof(w.facts.network), "none", "");
	w.guard = (struct guard){ .facts = &w.facts, .dir = w.dir, .operations = "" };
	return &w;
}

/* Fills in {W} and the others. */
static char *fill(const struct world *w, const char *text)
{
	const struct {
		const char *name, *value;
	} words[] = { { "{W}", w->facts.workspace }, { "{H}", w->facts.home }, { "{G}", w->facts.garth_home },
		{ "{P}", w->facts.project }, { "{R}", w->dir } };
	auto_buf out = BUF_INIT(1 << 20);

	while (*text) {
		size_t i = 0;

		while (i < ARRAY_SIZE(words) && strncmp(text, words[i].name, 3) != 0)
			i++;
		if (i < ARRAY_SIZE(words))
			buf_addstr(&out, words[i].value);
		else
			buf_addch(&out, *text);
		text += i < ARRAY_SIZE(words) ? 3 : 1;
	}
	return buf_steal(&out);
}

static enum decision decide(const struct world *w, const char *json)
{
	struct refusal r;
	auto_str text = fill(w, json);
	enum decision d = guard_decide(&w->guard, text, strlen(text), &r);

	if (d == DECISION_REFUSE) {
		assert_true(*r.reason);
		assert_true(*r.tried);
		assert_true(*r.instead);
	}
	return d;
}

static enum decision run(const struct world *w, const char *command)
{
	auto_buf json = BUF_INIT(1 << 20);

	buf_addstr(&json, "{\"cwd\":\"{W}\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":");
	jread_quote(&json, command);
	buf_addstr(&json, "}}");
	return decide(w, buf_str(&json));
}

struct row {
	int want;
	const char *text;
};

static void check(const struct world *w, const struct row *rows, size_t n,
	enum decision (*fn)(const struct world *, const char *))
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		if ((fn(w, rows[i].text) == DECISION_REFUSE) != rows[i].want) {
			print_error("%s should be %s\n", rows[i].text, rows[i].want ? "refused" : "let pass");
			wrong++;
		}
	assert_int_equal(wrong, 0);
}

static void git_elsewhere(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "git -C ../.. status" },
		{ REFUSE, "git -C .. log" },
		{ REFUSE, "git -C ../../other status" },
		{ REFUSE, "git -C {H}/src/other log" },
		{ REFUSE, "git -C sub -C ../.. status" },
		{ REFUSE, "git --git-dir=../../.git log" },
		{ REFUSE, "git --git-dir ../../.git log" },
		{ REFUSE, "git --work-tree=../.. status" },
		{ REFUSE, "git --work-tree ../.. status" },
		{ REFUSE, "git --no-pager -C '../..' status" },
		{ REFUSE, "GIT_DIR=../../.git git log" },
		{ REFUSE, "GIT_WORK_TREE=/data git status" },
		{ REFUSE, "export GIT_DIR=../../.git; git log" },
		{ REFUSE, "env GIT_DIR=../../.git git log" },
		{ REFUSE, "A=1 B=2 GIT_DIR=../x git log" },
		{ REFUSE, "/usr/bin/git -C ../.. status" },
		{ REFUSE, "timeout 5 git -C ../.. status" },
		{ REFUSE, "git worktree add ../wt" },
		{ REFUSE, "git clone . ../copy" },
		{ PASS, "git -C sub status" },
		{ PASS, "git -C {W} log" },
		{ PASS, "git -C /tmp/x init" },
		{ PASS, "git --git-dir=.git log" },
		{ PASS, "git -C \"$DIR\" log" },
		{ PASS, "git commit -m 'do not use git -C ../..'" },
		{ PASS, "git log --grep=../../x" },
		{ PASS, "git -c core.pager=cat log" },
		{ PASS, "git worktree add /tmp/wt" },
		{ PASS, "git show main:../../x" },
	};

	check(make_world(*state, false), rows, ARRAY_SIZE(rows), run);
}

static void git_verbs(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "git push" },
		{ REFUSE, "git push origin HEAD:main" },
		{ REFUSE, "make && git push" },
		{ REFUSE, "git fetch" },
		{ REFUSE, "git pull" },
		{ REFUSE, "git stash" },
		{ REFUSE, "git rebase main" },
		{ REFUSE, "git switch -c x" },
		{ PASS, "git fetch mine" },
		{ PASS, "cd /tmp/x && git push" },
		{ PASS, "git -C /tmp/x push" },
		{ PASS, "cd $X; git push" },
		{ PASS, "git push --help" },
		{ PASS, "git commit -qam x" },
		{ PASS, "git checkout a.txt" },
		{ PASS, "echo git push" },
	};
	struct world *w = make_world(*state, false);

	check(w, rows, ARRAY_SIZE(rows), run);
	copy(w->facts.push, sizeof(w->facts.push), "yes", "");
	copy(w->facts.fetch, sizeof(w->facts.fetch), "yes", "");
	w->guard.operations = "stash local\n";
	assert_int_equal(run(w, "git push"), DECISION_PASS);
	assert_int_equal(run(w, "git fetch"), DECISION_PASS);
	assert_int_equal(run(w, "git stash"), DECISION_PASS);
	/* a repository of the agent's own in the workspace */
	mkdirat(((struct scratch *)*state)->fd, "home/src/app/sub/.git", 0700);
	copy(w->facts.push, sizeof(w->facts.push), "", "");
	assert_int_equal(run(w, "cd sub/deep && git push"), DECISION_PASS);
	assert_int_equal(run(w, "git push"), DECISION_REFUSE);
}

static void paths_that_leave(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "cat ../../x" },
		{ REFUSE, "cat ../x" },
		{ REFUSE, "cat sub/../../x" },
		{ REFUSE, "cat ./sub/deep/../../../x" },
		{ REFUSE, "ls .." },
		{ REFUSE, "ls -la ../.." },
		{ REFUSE, "cat {H}/src/other/x" },
		{ REFUSE, "cat {H}/src/app-2/x" },
		{ REFUSE, "cat {W}0/x" },
		{ REFUSE, "cat ~/src/other/x" },
		{ REFUSE, "cat $HOME/src/other/x" },
		{ REFUSE, "cat \"${HOME}/src/other/x\"" },
		{ REFUSE, "cat $GARTH_WORKSPACE/../x" },
		{ REFUSE, "cat /data/x" },
		{ REFUSE, "cat /home/somebody/x" },
		{ REFUSE, "head -n 5 /workspace/a.txt" },
		{ REFUSE, "grep -rn pattern /data" },
		{ REFUSE, "grep -e x -A 3 ../../y" },
		{ REFUSE, "sed -n 1,5p ../../x" },
		{ REFUSE, "find ../.. -name x" },
		{ REFUSE, "find /data -name x" },
		{ REFUSE, "cp ../../x ." },
		{ REFUSE, "cp a.txt ../.." },
		{ REFUSE, "mv a.txt ../x" },
		{ REFUSE, "rm -rf ../other" },
		{ REFUSE, "mkdir -p {H}/other/x" },
		{ REFUSE, "mkdir {H}/src/other" },
		{ REFUSE, "touch ../x" },
		{ REFUSE, "tee ../x" },
		{ REFUSE, "chmod 644 ../x" },
		{ REFUSE, "echo x > ../x" },
		{ REFUSE, "echo x >> ../../x" },
		{ REFUSE, "echo x >../x" },
		{ REFUSE, "make 2> ../log" },
		{ REFUSE, "make &> ../log" },
		{ REFUSE, "wc -l < ../x" },
		{ REFUSE, "make -C ../.." },
		{ REFUSE, "npm --prefix=../../x test" },
		{ REFUSE, "cargo build --target-dir ../target" },
		{ REFUSE, "../../build.sh" },
		{ REFUSE, "bash ../../build.sh" },
		{ REFUSE, "python3 ../tool.py" },
		{ REFUSE, ". ../env.sh" },
		{ REFUSE, "cat out/x" },
		{ REFUSE, "cat ../../*.c" },
		{ REFUSE, "cat '../../x'" },
		{ REFUSE, "cat \"../../x\"" },
		{ REFUSE, "cat ..'/'../x" },
		{ REFUSE, "cat .\\./x" },
		{ REFUSE, "cat a.txt ../x" },
		{ REFUSE, "ln -s x ../link" },
		{ PASS, "cat a.txt" },
		{ PASS, "cat sub/../a.txt" },
		{ PASS, "cat {W}/a.txt" },
		{ PASS, "cat {W}/sub/../a.txt" },
		{ PASS, "cat in/deep/x" },
		{ PASS, "ls lib" },
		{ PASS, "ls /usr/include /etc /proc/self" },
		{ PASS, "cat /usr/not/there" },
		{ PASS, "cat /tmp/x" },
		{ PASS, "echo x > /tmp/x" },
		{ PASS, "make > /dev/null 2>&1" },
		{ PASS, "cat ~/.cache/x ~/.config/y" },
		{ PASS, "cat {H}/notes/x" },
		{ PASS, "mkdir -p ~/.config/tool" },
		{ PASS, "echo x > ~/scratch.txt" },
		{ PASS, "grep -rn '../../x' sub" },
		{ PASS, "grep -rn /api/v1 sub" },
		{ PASS, "rg \"from '../../lib'\" sub" },
		{ PASS, "sed -i 's#../../a#../b#' a.txt" },
		{ PASS, "awk '/data/ {print}' a.txt" },
		{ PASS, "echo ../../x /data" },
		{ PASS, "printf '%s\\n' ../../x" },
		{ PASS, "ln -s ../../lib/x sub/link" },
		{ PASS, "npm test -- --grep /api/users" },
		{ PASS, "node -e \"require('../../x')\"" },
		{ PASS, "python3 -c \"open('../../x')\"" },
		{ PASS, "test -f ../../x || echo none" },
		{ PASS, "[ -f ../../x ] && echo y" },
		{ PASS, "realpath ../.." },
		{ PASS, "git commit -m \"remove ../../x\"" },
		{ PASS, "find . -path ../x -o -name y" },
		{ PASS, "rsync host:/data/x ." },
	};

	check(make_world(*state, false), rows, ARRAY_SIZE(rows), run);
}

static void shell_text(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "cd .. && ls" },
		{ REFUSE, "cd sub && cat ../../x" },
		{ REFUSE, "cd sub; cd ..; cat ../x" },
		{ REFUSE, "cd sub/deep && cd ../../.. && ls" },
		{ REFUSE, "(cd sub); cat ../x" },
		{ REFUSE, "(cd sub && cat ../../x)" },
		{ REFUSE, "pushd ../.. && ls" },
		{ REFUSE, "cd {H}/src/other" },
		{ REFUSE, "true && cat ../x || true" },
		{ REFUSE, "make | tee ../log" },
		{ REFUSE, "make\ncat ../x" },
		{ REFUSE, "make & cat ../x" },
		{ REFUSE, "if true; then cat ../x; fi" },
		{ REFUSE, "for i in 1 2; do cat ../x; done" },
		{ REFUSE, "while read l; do echo $l; done < ../x" },
		{ REFUSE, "{ cat ../x; }" },
		{ REFUSE, "! cat ../x" },
		{ REFUSE, "echo $(cat ../x)" },
		{ REFUSE, "echo \"$(cat ../x)\"" },
		{ REFUSE, "echo `cat ../x`" },
		{ REFUSE, "diff <(cat ../x) a.txt" },
		{ REFUSE, "bash -c 'cat ../x'" },
		{ REFUSE, "bash -lc \"cd .. && ls\"" },
		{ REFUSE, "eval 'cat ../x'" },
		{ REFUSE, "sudo -u me cat ../x" },
		{ REFUSE, "env A=1 cat ../x" },
		{ REFUSE, "nice -n 5 cat ../x" },
		{ REFUSE, "xargs cat ../x" },
		{ REFUSE, "X=../..; cat $X/y" },
		{ REFUSE, "X=..\ncat ${X}/y" },
		{ REFUSE, "export D=../other; ls \"$D\"" },
		{ REFUSE, "cat <<EOF > ../x\ntext\nEOF" },
		{ REFUSE, "cat <<EOF\ntext\nEOF\ncat ../x" },
		{ REFUSE, "cat <<-'E F'\n\ttext\n\tE F\ncat ../x" },
		{ REFUSE, "x=1 # comment\ncat ../x" },
		{ REFUSE, "cat \\\n../x" },
		{ REFUSE, "[[ -f a && -f b ]] && cat ../x" },
		{ REFUSE, "((i++)); cat ../x" },
		{ REFUSE, "case a in a) ls;; esac; cat ../x" },
		{ PASS, "cd sub && cat ../a.txt" },
		{ PASS, "cd sub/deep && cat ../../a.txt" },
		{ PASS, "cd /tmp && cat ../tmp/x" },
		{ PASS, "cd \"$X\" && cat ../x" },
		{ PASS, "cd $(mktemp -d) && cat ../x" },
		{ PASS, "cd sub || cd deep; cat ../x/y" },
		{ PASS, "if x; then cd sub; fi; cat ../a.txt" },
		{ PASS, "cat $X/../../y" },
		{ PASS, "cat ~other/x" },
		{ PASS, "X=$(pwd)/..; cat $X" },
		{ PASS, "# cat ../x" },
		{ PASS, "cat <<'EOF' > a.txt\ncat ../x\n/data/x\nEOF" },
		{ PASS, "cat <<EOF\n$(x)\ncat ../x\nEOF" },
		{ PASS, "case $x in /data/*) ls;; ../*) true;; esac" },
		{ PASS, "[[ -f ../x && /data < /x ]]" },
		{ PASS, "f() { cat ../x; }" },
		{ PASS, "echo $((../..))" },
		{ PASS, "echo \"quoted $(echo ../x) text\"" },
		{ PASS, "echo '" },
		{ PASS, "echo \"" },
		{ PASS, "echo $(" },
		{ PASS, "" },
		{ PASS, ")))" },
		{ PASS, "<" },
	};

	check(make_world(*state, false), rows, ARRAY_SIZE(rows), run);
}

static void state_and_neighbours(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "echo x > .git/config" },
		{ REFUSE, "rm -rf .git" },
		{ REFUSE, "rm .git/refs/heads/x" },
		{ REFUSE, "cp x .git/hooks/pre-commit" },
		{ REFUSE, "mv .git git" },
		{ REFUSE, "sed -i s/a/b/ {W}/.git/HEAD" },
		{ REFUSE, "echo x > {R}/task" },
		{ REFUSE, "ls {G}" },
		{ REFUSE, "cat {G}/worktrees/t-10/a.txt" },
		{ REFUSE, "sqlite3 {G}/garth.db" },
		{ REFUSE, "cp a.txt {G}/worktrees/t-2" },
		{ REFUSE, "curl https://example.com/x" },
		{ REFUSE, "wget -q http://example.com" },
		{ PASS, "cat .git/config" },
		{ PASS, "rm -f .git/index.lock" },
		{ PASS, "echo x >> .git/info/exclude" },
		{ PASS, "git commit -F .git/COMMIT_EDITMSG" },
		{ PASS, "cat {R}/task" },
		{ PASS, "curl http://localhost:8080/x" },
		{ PASS, "curl -s http://127.0.0.1:3000" },
		{ PASS, "echo x > .gitignore" },
		{ PASS, "rm -rf .github" },
	};
	struct world *w = make_world(*state, false);

	check(w, rows, ARRAY_SIZE(rows), run);
	/* whether a host is on the list, the proxy knows */
	copy(w->facts.network, sizeof(w->facts.network), "allow", "");
	assert_int_equal(run(w, "curl https://example.com/x"), DECISION_PASS);
}

/* A workspace that is not at the project's path: t-10 is another task, and the checkout is the user's. */
static void worktrees(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "cat ../t-10/a.txt" },
		{ REFUSE, "cat {G}/worktrees/t-10/a.txt" },
		{ REFUSE, "ls {G}/worktrees" },
		{ REFUSE, "ls {P}" },
		{ REFUSE, "cat {P}/a.txt" },
		{ REFUSE, "make -C {P}" },
		{ REFUSE, "git -C {P} log" },
		{ REFUSE, "cd {P} && git status" },
		{ REFUSE, "echo x > {P}/x" },
		{ REFUSE, "code {P}/a.txt" },
		{ REFUSE, "cat ~/src/app/a.txt" },
		{ PASS, "cat {W}/a.txt" },
		{ PASS, "cd {W}/sub && cat ../a.txt" },
		{ PASS, "echo {P}" },
		{ PASS, "git log {P}/a.txt" },
	};

	check(make_world(*state, true), rows, ARRAY_SIZE(rows), run);
}

static void tools(void **state)
{
	static const struct row rows[] = {
		{ REFUSE, "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"{H}/src/other/x\"}}" },
		{ REFUSE, "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"{W}/../x\"}}" },
		{ REFUSE, "{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"{W}/.git/config\"}}" },
		{ REFUSE, "{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"{G}/worktrees/t-2/x\"}}" },
		{ REFUSE, "{\"tool_name\":\"NotebookEdit\",\"tool_input\":{\"notebook_path\":\"/data/x\"}}" },
		{ REFUSE, "{\"tool_name\":\"Grep\",\"tool_input\":{\"pattern\":\"x\",\"path\":\"../..\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":[\"bash\",\"-lc\",\"cat ../x\"]}}" },
		{ REFUSE, "{\"tool_name\":\"shell\",\"tool_input\":{\"command\":[\"cat\",\"../x\"]}}" },
		{ REFUSE, "{\"tool_name\":\"exec_command\",\"tool_input\":{\"cmd\":\"cat ../x\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"exec_command\",\"tool_input\":{\"cmd\":\"ls\",\"workdir\":\"../..\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"apply_patch\",\"tool_input\":{\"command\":\"*** Begin Patch\\n*** Add File: ../x\\n+y\\n\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"apply_patch <<E\\n*** Begin Patch\\n*** Add File: ../x\\n+y\\nE\"}}" },
		{ REFUSE, "{\"tool_name\":\"run_shell_command\",\"tool_input\":{\"command\":\"cat ../x\"}}" },
		{ REFUSE, "{\"tool_name\":\"read_file\",\"tool_input\":{\"absolute_path\":\"/data/x\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"write_file\",\"tool_input\":{\"file_path\":\"../x\",\"content\":\"\"}}" },
		{ REFUSE, "{\"tool_name\":\"bash\",\"tool_input\":{\"command\":\"cat ../x\"}}" },
		{ REFUSE, "{\"tool_name\":\"edit\",\"tool_input\":{\"filePath\":\"/data/x\"}}" },
		{ REFUSE, "{\"tool_name\":\"developer__shell\",\"tool_input\":{\"command\":\"cat ../x\"}}" },
		{ REFUSE,
			"{\"tool_name\":\"developer__text_editor\",\"tool_input\":{\"command\":\"write\",\"path\":\"../x\"}}" },
		/* the last of two members is what a client takes */
		{ REFUSE,
			"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\",\"command\":\"cat ../x\"}}" },
		{ PASS, "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"{W}/a.txt\"}}" },
		{ PASS, "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/usr/include/x.h\"}}" },
		{ PASS, "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"/tmp/question.json\"}}" },
		{ PASS, "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"{H}/.claude/plans/x.md\"}}" },
		{ PASS, "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"~/.claude/x\"}}" },
		{ PASS, "{\"tool_name\":\"Grep\",\"tool_input\":{\"pattern\":\"../../x\"}}" },
		{ PASS, "{\"tool_name\":\"Glob\",\"tool_input\":{\"pattern\":\"*\",\"path\":null}}" },
		{ PASS, "{\"tool_name\":\"mcp__x__y\",\"tool_input\":{\"path\":\"/data\"}}" },
		{ PASS, "{\"tool_name\":\"Task\",\"tool_input\":{}}" },
		{ PASS, "{\"cwd\":\"/tmp\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"cat ../tmp/x\"}}" },
		{ PASS, "{\"tool_name\":\"developer__text_editor\",\"tool_input\":{\"command\":\"view\",\"path\":\"a.txt\"}}" },
	};

	check(make_world(*state, false), rows, ARRAY_SIZE(rows), decide);
}

/* ESCAPES 62 */
static void malformed(void **state)
{
	static const char *const texts[] = { "", "x", "{", "[]", "null", "{}", "{\"tool_name\":\"Bash\"}",
		"{\"tool_input\":{}}", "{\"tool_name\":1,\"tool_input\":{}}",
		"{\"tool_name\":\"Bash\",\"tool_input\":\"ls\"}",
		"{\"tool_name\":\"Bash\",\"tool_input\":{}}",
		"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":7}}",
		"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":[7]}}",
		"{\"tool_name\":\"Write\",\"tool_input\":{\"path\":\"x\"}}",
		"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}} x",
		"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},}",
		"{\"a\":01,\"tool_name\":\"x\",\"tool_input\":{}}",
		"{\"a\":tru,\"tool_name\":\"x\",\"tool_input\":{}}",
		"{\"a\":\"\\x\",\"tool_name\":\"x\",\"tool_input\":{}}" };
	struct world *w = make_world(*state, false);
	auto_buf deep = BUF_INIT(1 << 20);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(decide(w, texts[i]), DECISION_MALFORMED);
	for (int i = 0; i < 100000; i++)
		buf_addch(&deep, '[');
	assert_int_equal(decide(w, buf_str(&deep)), DECISION_MALFORMED);
}

/* More than can be judged passes; nothing is read without end. */
static void bounds(void **state)
{
	struct world *w = make_world(*state, false);
	auto_buf text = BUF_INIT(1 << 20);

	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, "$(");
	assert_int_equal(run(w, buf_str(&text)), DECISION_PASS);
	buf_reset(&text);
	for (int i = 0; i < 3000; i++)
		buf_addstr(&text, "true;");
	buf_addstr(&text, "cat ../x");
	assert_int_equal(run(w, buf_str(&text)), DECISION_PASS);
	buf_reset(&text);
	buf_addstr(&text, "cat ");
	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, "a ");
	assert_int_equal(run(w, buf_str(&text)), DECISION_PASS);
	buf_reset(&text);
	buf_addstr(&text, "cat ../");
	for (int i = 0; i < 10000; i++)
		buf_addch(&text, 'x');
	assert_int_equal(run(w, buf_str(&text)), DECISION_PASS);
}

static void links_are_followed(void **state)
{
	struct scratch *s = *state;
	struct world *w = make_world(s, false);
	char out[GUARD_PATH_MAX];
	bool exists;

	symlinkat("loop", s->fd, "home/src/app/loop");
	assert_false(place_resolve(w->facts.workspace, "loop/x", out, &exists));
	assert_int_equal(run(w, "cat loop/x"), DECISION_PASS);
	assert_true(place_resolve(w->facts.workspace, "in/../a", out, &exists));
	assert_string_equal(out + strlen(w->facts.workspace), "/a");
	assert_false(exists);
	assert_true(place_resolve("", "/..//./usr/", out, &exists));
	assert_string_equal(out, "/usr");
	assert_true(exists);
	assert_false(place_resolve("", "a", out, &exists));
}

static bool explains(const struct world *w, const char *json)
{
	auto_buf out = BUF_SMALL;
	auto_str text = fill(w, json);

	return after_explain(&w->guard, text, strlen(text), &out) &&
	       !strncmp(buf_str(&out), "This is a boundary", 18);
}

static void results(void **state)
{
	static const struct row rows[] = {
		{ REFUSE,
			"{\"tool_response\":{\"stdout\":\"\",\"stderr\":\"cat: /data/x: No such file or directory\"}}" },
		{ REFUSE,
			"{\"tool_response\":\"ls: cannot access '{H}/src/other': No such file or directory\"}" },
		{ REFUSE, "{\"error\":\"Exit code 1\\ncat: ../../x: No such file or directory\"}" },
		{ REFUSE,
			"{\"tool_response\":{\"a\":[{\"llmContent\":\"FileNotFoundError: [Errno 2] No such file or directory: '/data/x'\"}]}}" },
		{ REFUSE,
			"{\"tool_response\":\"Error: ENOENT: no such file or directory, open '/data/x'\"}" },
		{ REFUSE, "{\"tool_response\":\"open /data/x: no such file or directory\"}" },
		{ REFUSE, "{\"tool_response\":\"curl: (6) Could not resolve host: example.com\"}" },
		{ REFUSE, "{\"tool_response\":\"curl: (56) CONNECT tunnel failed, response 403\"}" },
		{ PASS, "{\"tool_response\":\"cat: a.txt: No such file or directory\"}" },
		{ PASS, "{\"tool_response\":\"cat: {W}/x: No such file or directory\"}" },
		{ PASS, "{\"tool_response\":\"cat: /usr/x: No such file or directory\"}" },
		{ PASS, "{\"tool_response\":\"/data/x is fine\"}" },
		{ PASS, "{\"tool_input\":\"cat: /data/x: No such file or directory\"}" },
		{ PASS, "{\"tool_response\":null}" },
		{ PASS, "{\"tool_response\":" },
		{ PASS, "" },
	};
	struct world *w = make_world(*state, false);
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (explains(w, rows[i].text) != rows[i].want) {
			print_error("%s\n", rows[i].text);
			wrong++;
		}
	assert_int_equal(wrong, 0);
	copy(w->facts.network, sizeof(w->facts.network), "host", "");
	assert_false(explains(w, "{\"tool_response\":\"curl: (6) Could not resolve host: example.com\"}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(git_elsewhere),
		scratch_test(git_verbs),
		scratch_test(paths_that_leave),
		scratch_test(shell_text),
		scratch_test(state_and_neighbours),
		scratch_test(worktrees),
		scratch_test(tools),
		scratch_test(malformed),
		scratch_test(bounds),
		scratch_test(links_are_followed),
		scratch_test(results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
