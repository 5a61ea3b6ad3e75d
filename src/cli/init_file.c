#include "cli/init_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"

#define DIRS_MAX 200

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NPM       LIST("registry.npmjs.org")
#define PYPI      LIST("pypi.org", "files.pythonhosted.org")
#define MAVEN     LIST("repo.maven.apache.org", "repo1.maven.org")
#define GRADLE    LIST("repo.maven.apache.org", "plugins.gradle.org", "services.gradle.org")
#define PACKAGIST LIST("repo.packagist.org", "api.github.com", "codeload.github.com")

/* Of the rows of one language only the first that fits counts. */
struct kind {
	const char *language, *with; /* "Node", "pnpm"; with: NULL if there is only one */
	const char *marker;          /* a file that must be there */
	const char *beside;          /* another one; NULL for none */
	const char *setup;           /* NULL: nothing needs to be set up */
	const char *const *inputs, *const *hosts;
};

/* clang-format off */
static const struct kind kinds[] = {
	{ "Node", "pnpm", "pnpm-lock.yaml", NULL, "pnpm install --frozen-lockfile", LIST("package.json", "pnpm-lock.yaml"), NPM },
	{ "Node", "yarn", "yarn.lock", ".yarnrc.yml", "yarn install --immutable", LIST("package.json", "yarn.lock", ".yarnrc.yml"), LIST("registry.yarnpkg.com", "repo.yarnpkg.com") },
	{ "Node", "yarn", "yarn.lock", NULL, "yarn install --frozen-lockfile", LIST("package.json", "yarn.lock"), LIST("registry.yarnpkg.com") },
	{ "Node", "bun", "bun.lock", NULL, "bun install --frozen-lockfile", LIST("package.json", "bun.lock"), NPM },
	{ "Node", "bun", "bun.lockb", NULL, "bun install --frozen-lockfile", LIST("package.json", "bun.lockb"), NPM },
	{ "Node", "npm", "package-lock.json", NULL, "npm ci", LIST("package.json", "package-lock.json"), NPM },
	{ "Node", "npm", "npm-shrinkwrap.json", NULL, "npm ci", LIST("package.json", "npm-shrinkwrap.json"), NPM },
	{ "Node", "npm", "package.json", NULL, "npm install --no-package-lock", LIST("package.json"), NPM },
	{ "Python", "uv", "uv.lock", NULL, "uv sync --frozen", LIST("pyproject.toml", "uv.lock"), PYPI },
	{ "Python", "poetry", "poetry.lock", NULL, "poetry install --no-interaction", LIST("pyproject.toml", "poetry.lock"), PYPI },
	{ "Python", "pipenv", "Pipfile.lock", NULL, "pipenv sync", LIST("Pipfile", "Pipfile.lock"), PYPI },
	{ "Python", "venv", "requirements.txt", NULL, "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", LIST("requirements.txt"), PYPI },
	{ "Python", "venv", "pyproject.toml", NULL, "python3 -m venv .venv && .venv/bin/pip install -e .", LIST("pyproject.toml"), PYPI },
	{ "Python", "venv", "setup.py", NULL, "python3 -m venv .venv && .venv/bin/pip install -e .", LIST("setup.py"), PYPI },
	{ "Rust", NULL, "Cargo.toml", "Cargo.lock", "cargo fetch --locked", LIST("Cargo.toml", "Cargo.lock"), LIST("index.crates.io", "static.crates.io") },
	{ "Rust", NULL, "Cargo.toml", NULL, "cargo fetch", LIST("Cargo.toml"), LIST("index.crates.io", "static.crates.io") },
	{ "Go", NULL, "go.mod", "go.sum", "go mod download", LIST("go.mod", "go.sum"), LIST("proxy.golang.org", "sum.golang.org") },
	{ "Go", NULL, "go.mod", NULL, "go mod download", LIST("go.mod"), LIST("proxy.golang.org", "sum.golang.org") },
	{ "C or C++", "meson", "meson.build", NULL, "meson setup build", LIST("meson.build"), NULL },
	{ "C or C++", "cmake", "CMakeLists.txt", NULL, "cmake -S . -B build", LIST("CMakeLists.txt"), NULL },
	{ "C or C++", "autotools", "configure.ac", NULL, "autoreconf -i && ./configure", LIST("configure.ac"), NULL },
	{ "C or C++", "configure", "configure", NULL, "./configure", LIST("configure"), NULL },
	{ "Java", "maven", "pom.xml", "mvnw", "./mvnw -q -B dependency:go-offline", LIST("pom.xml"), MAVEN },
	{ "Java", "maven", "pom.xml", NULL, "mvn -q -B dependency:go-offline", LIST("pom.xml"), MAVEN },
	{ "Java", "gradle", "build.gradle.kts", "gradlew", "./gradlew -q dependencies", LIST("build.gradle.kts"), GRADLE },
	{ "Java", "gradle", "build.gradle", "gradlew", "./gradlew -q dependencies", LIST("build.gradle"), GRADLE },
	{ "Java", "gradle", "build.gradle.kts", NULL, "gradle -q dependencies", LIST("build.gradle.kts"), GRADLE },
	{ "Java", "gradle", "build.gradle", NULL, "gradle -q dependencies", LIST("build.gradle"), GRADLE },
	{ "Ruby", "bundler", "Gemfile", "Gemfile.lock", "bundle install", LIST("Gemfile", "Gemfile.lock"), LIST("rubygems.org", "index.rubygems.org") },
	{ "Ruby", "bundler", "Gemfile", NULL, "bundle install", LIST("Gemfile"), LIST("rubygems.org", "index.rubygems.org") },
	{ "PHP", "composer", "composer.json", "composer.lock", "composer install --no-interaction", LIST("composer.json", "composer.lock"), PACKAGIST },
	{ "PHP", "composer", "composer.json", NULL, "composer install --no-interaction", LIST("composer.json"), PACKAGIST },
	/* a makefile alone; beside another kind of build it is only a shortcut */
	{ "make", NULL, "Makefile", NULL, NULL, LIST("Makefile"), NULL },
	{ "make", NULL, "GNUmakefile", NULL, NULL, LIST("GNUmakefile"), NULL },
};

/* Directories in which other things than sources are. */
static const char *const skipped[] = { "node_modules", "vendor", "target", "build", "dist", "out", "venv",
	"third_party", "testdata", "examples", "docs" };
/* Directories whose content acts on machines. */
static const char *const acting[] = { "deploy", "deployment", "infra", "terraform", "ansible", "k8s", "helm", "charts",
	"migrations" };
/* clang-format on */

struct plan {
	struct strvec setup, inputs, hosts, protect, *found;
	struct strvec top; /* languages of the top directory */
};

static bool is_in(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool has(int dir, const char *name)
{
	return name && !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* `in` is the directory's name, or "" for the top. */
static void take(struct plan *p, const struct kind *k, int dir, const char *in)
{
	strvec_pushf(p->found, "%s%s%s%s%s%s", k->language, k->with ? " (" : "", k->with ? k->with : "",
		k->with ? ")" : "", *in ? " in " : "", in);
	if (!k->setup)
		return;
	strvec_pushf(&p->setup, "%s%s%s%s", *in ? "cd " : "", in, *in ? " && " : "", k->setup);
	for (const char *const *i = k->inputs; *i; i++)
		if (has(dir, *i))
			strvec_pushf(&p->inputs, "%s%s%s", in, *in ? "/" : "", *i);
	for (const char *const *h = k->hosts; h && *h; h++)
		if (!strvec_has(&p->hosts, *h))
			strvec_push(&p->hosts, *h);
}

static bool is_lock(const char *name)
{
	return name && (strstr(name, "lock") || strstr(name, "shrinkwrap") || !strcmp(name, "go.sum"));
}

/* In a directory: without a lock file it belongs to the project at the top, if that is of the same language. */
static bool belongs_to_top(const struct plan *p, const struct kind *k)
{
	return strvec_has(&p->top, k->language) && !is_lock(k->marker) && !is_lock(k->beside);
}

static void look(struct plan *p, int dir, const char *in)
{
	const char *last = NULL;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];

		if ((last && !strcmp(last, k->language)) || !has(dir, k->marker) ||
			(k->beside && !has(dir, k->beside)) || (any && !k->setup) ||
			(*in && belongs_to_top(p, k)))
			continue;
		take(p, k, dir, in);
		if (!*in)
			strvec_push(&p->top, k->language);
		last = k->language;
		any = true;
	}
}

/* Names that mean the same in YAML, in a shell and in a pattern. */
static bool is_plain(const char *name)
{
	return *name != '.' && *name != '-' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       strlen(name);
}

static int list_dirs(int top, struct strvec *ret, struct err *e)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	if (!d) {
		fd_closep(&fd);
		return err_sys(e, "cannot read the repository's top directory");
	}
	while (ret->n < DIRS_MAX && (ent = readdir(d)))
		if (is_plain(ent->d_name) && !is_in(ent->d_name, skipped, ARRAY_SIZE(skipped)))
			strvec_push(ret, ent->d_name);
	closedir(d);
	strvec_sort(ret);
	return 0;
}

static void write_list(struct buf *out, const char *name, const struct strvec *v, const char *quotes)
{
	buf_printf(out, "  %s:\n", name);
	for (size_t i = 0; i < v->n; i++)
		buf_printf(out, "    - %s%s%s\n", quotes, v->v[i], quotes);
}

static void write_setup(struct buf *out, const struct plan *p)
{
	buf_addstr(out,
		"\nworkspace:\n"
		"  # Commands that make a new workspace ready. They run inside the jail; a text is run by sh.\n");
	if (p->setup.n)
		write_list(out, "setup", &p->setup, "");
	else
		buf_addstr(out, "  # setup: [make deps]\n");
	buf_addstr(out, "  # Files that decide whether the commands must run again.\n");
	if (p->inputs.n)
		write_list(out, "setup_inputs", &p->inputs, "");
	else
		buf_addstr(out, "  # setup_inputs: [deps.lock]\n");
	buf_addstr(out, "  # Hosts that the commands can reach. Tasks themselves cannot because of this.\n");
	if (p->hosts.n)
		write_list(out, "setup_network", &p->hosts, "");
	else
		buf_addstr(out, "  # setup_network: [example.com]\n");
	buf_addstr(out,
		"  # Ignored files of the checkout that a task gets a copy of, in the syntax of .gitignore.\n"
		"  # An agent can read whatever is in them.\n"
		"  # include: [.env.test]\n");
}

static void write_rules(struct buf *out, const struct plan *p)
{
	buf_addstr(out,
		"\npolicy:\n"
		"  # Paths that a task may publish only after the user allowed it, beside the built-in ones.\n");
	if (p->protect.n)
		write_list(out, "protected", &p->protect, "\"");
	else
		buf_addstr(out, "  # protected: [\"deploy/**\"]\n");
	buf_addstr(out, "  # What a task has published may not be rewritten.\n"
			"  # rewrite: refuse\n"
			"\n# Limits can only be lower than the user's own.\n"
			"# limits:\n"
			"#   max_files: 500\n"
			"\n# none: tasks of this repository have no network at all.\n"
			"# network:\n"
			"#   mode: none\n"
			"\n# What `garth run` starts if no command is given.\n"
			"# agents:\n"
			"#   default: claude\n");
}

static int look_around(int top, struct plan *p, struct err *e)
{
	auto_strvec dirs = STRVEC_INIT;

	if (list_dirs(top, &dirs, e) < 0)
		return -1;
	look(p, top, "");
	for (size_t i = 0; i < dirs.n; i++) {
		auto_fd dir = openat(top, dirs.v[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (dir < 0)
			continue;
		if (is_in(dirs.v[i], acting, ARRAY_SIZE(acting)))
			strvec_pushf(&p->protect, "/%s/**", dirs.v[i]);
		look(p, dir, dirs.v[i]);
	}
	return 0;
}

int init_file(int top, struct buf *out, struct strvec *found, struct err *e)
{
	struct plan p = { .found = found };
	int rc = look_around(top, &p, e);

	buf_addstr(out,
		"# Settings of Garth for this repository. They are read from the commit that a task starts from,\n"
		"# so they count once they are committed. They can only make the rules of a user stricter; what\n"
		"# they run or take along is approved by the user once (garth trust).\n"
		"# Every key: man garth-config. What is in force, and from where: garth config\n");
	if (found->n) {
		buf_addstr(out, "#\n# Found here: ");
		for (size_t i = 0; i < found->n; i++)
			buf_printf(out, "%s%s", i ? ", " : "", found->v[i]);
		buf_addstr(out, "\n");
	}
	write_setup(out, &p);
	write_rules(out, &p);
	strvec_release(&p.setup);
	strvec_release(&p.inputs);
	strvec_release(&p.hosts);
	strvec_release(&p.protect);
	strvec_release(&p.top);
	return rc;
}
