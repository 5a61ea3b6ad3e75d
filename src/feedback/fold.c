#include "feedback/fold.h"

#include "base/alloc.h"
#include "base/glob.h"

/* clang-format off */
static const struct {
	const char *glob, *why;
} rows[] = {
	{ "package-lock.json",   "lock file" },
	{ "npm-shrinkwrap.json", "lock file" },
	{ "yarn.lock",           "lock file" },
	{ "pnpm-lock.yaml",      "lock file" },
	{ "bun.lock",            "lock file" },
	{ "deno.lock",           "lock file" },
	{ "Cargo.lock",          "lock file" },
	{ "go.sum",              "lock file" },
	{ "go.work.sum",         "lock file" },
	{ "poetry.lock",         "lock file" },
	{ "uv.lock",             "lock file" },
	{ "pdm.lock",            "lock file" },
	{ "Pipfile.lock",        "lock file" },
	{ "Gemfile.lock",        "lock file" },
	{ "composer.lock",       "lock file" },
	{ "mix.lock",            "lock file" },
	{ "pubspec.lock",        "lock file" },
	{ "Package.resolved",    "lock file" },
	{ "Podfile.lock",        "lock file" },
	{ "flake.lock",          "lock file" },
	{ "gradle.lockfile",     "lock file" },
	{ "packages.lock.json",  "lock file" },
	{ ".terraform.lock.hcl", "lock file" },
	{ "*.min.js",            "generated" },
	{ "*.min.css",           "generated" },
	{ "*.js.map",            "generated" },
	{ "*.css.map",           "generated" },
};
/* clang-format on */

const char *fold_why(const struct patch_file *f, size_t *shown)
{
	if (f->binary)
		return "binary";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (glob_matches(rows[i].glob, f->path))
			return rows[i].why;
	if (f->lines > FOLD_FILE_LINES || *shown + f->lines > FOLD_ALL_LINES)
		return "long";
	*shown += f->lines;
	return NULL;
}
