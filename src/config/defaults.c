#include "config/defaults.h"

#include <stddef.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * Variables about terminal and language. Never one that may hold a secret (proxy URLs have passwords), the
 * path of a socket (SSH_AUTH_SOCK, DBUS_*, TMUX, XDG_RUNTIME_DIR) or code that programs load (LD_*, BASH_ENV,
 * PYTHONPATH, NODE_OPTIONS, LESSOPEN), and no GIT_*.
 */
/* clang-format off */
const char *const default_notify_on[] = { "blocked", "failed", "done", "limit", NULL };

const char *const default_env[] = {
	"TERM", "COLORTERM", "COLORFGBG", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION",
	"LANG", "LANGUAGE", "LC_*", "TZ",
	"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LS_COLORS",
	"EDITOR", "VISUAL", "PAGER", "LESS", "LESSCHARSET",
	NULL,
};
/* clang-format on */

/*
 * Directories under a home where programs are installed. If a directory also holds log-ins, only its harmless
 * parts are listed: .cargo/credentials.toml, tokens in .cargo/config.toml, .local/share/uv/credentials,
 * .dotnet/corefx (private keys), .foundry/keystores, .composer/auth.json, .pub-cache/credentials.json,
 * .julia/servers, .luarocks/upload_config.lua, .gem/credentials, .npm-global/etc/npmrc and .hex (beside .mix)
 * are not shown.
 */
/* clang-format off */
const char *const default_tools[] = {
	/* version managers and package managers for any language */
	".asdf", ".local/share/mise", ".proto/bin", ".proto/shims", ".proto/tools",
	".pixi/bin", ".pixi/envs", ".linuxbrew",
	/* agents */
	".claude/local", ".local/share/claude", ".opencode/bin",
	/* Rust */
	".cargo/bin", ".cargo/env", ".rustup",
	/* JavaScript */
	".nvm", ".nodenv", ".fnm", ".local/share/fnm", ".volta", ".npm-global/bin", ".npm-global/lib",
	".yarn/bin", ".config/yarn/global", ".deno/bin", ".bun/bin", ".bun/install/global",
	/* Python */
	".pyenv", ".local/pipx", ".local/share/pipx", ".local/share/uv/python", ".local/share/uv/tools",
	".local/share/virtualenvs",
	/* Go */
	"go/bin", ".go", ".goenv", ".gvm",
	/* Ruby, PHP, Perl, Lua */
	".rbenv", ".rvm", ".composer/vendor", ".config/composer/vendor",
	"perl5", ".plenv", ".luarocks/bin", ".luarocks/lib", ".luarocks/share",
	/* the JVM */
	".sdkman", ".jenv", ".local/share/coursier/bin",
	/* .NET, Dart, Swift, Zig */
	".dotnet/dotnet", ".dotnet/host", ".dotnet/packs", ".dotnet/sdk", ".dotnet/shared", ".dotnet/tools",
	".pub-cache/bin", ".swiftly", ".zvm",
	/* Haskell, OCaml, Lean, Julia, Elixir */
	".ghcup", ".cabal/bin", ".stack/programs", ".opam", ".elan", ".juliaup/bin", ".julia/juliaup", ".mix/archives",
	".mix/elixir",
	/* Ethereum, Kubernetes */
	".foundry/bin", ".krew/bin",
	NULL,
};
/* clang-format on */

/*
 * Directories under a home to which package managers and compilers write. A task has a writable layer over
 * each (task/walls_home.c). If a directory also holds log-ins or settings, only its harmless parts are listed:
 * not .m2/settings.xml, .gradle/gradle.properties and .gradle/init.d, .gem/credentials, .npm/_logs,
 * .cache/huggingface/token. Not listed either: .cache/pre-commit (it keeps patches of uncommitted changes of
 * all projects), .cache/ms-playwright (it may have browser profiles), and .cache itself (browsers).
 */
/* clang-format off */
const char *const default_caches[] = {
	/* what `pip install --user` and the like install */
	".local/bin", ".local/lib",
	/* Rust, Go */
	".cargo/registry", ".cargo/git", "go/pkg", ".cache/go-build", ".cache/golangci-lint",
	/* JavaScript */
	".npm/_cacache", ".npm/_npx", ".local/share/pnpm", ".cache/pnpm", ".cache/yarn", ".yarn/berry/cache",
	".bun/install/cache", ".cache/deno", ".cache/node", ".cache/node-gyp", ".cache/electron", ".cache/Cypress",
	".cache/puppeteer",
	/* Python */
	".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/pdm", ".cache/pipenv", ".local/share/virtualenvs",
	".cache/huggingface/hub", ".cache/torch",
	/* the JVM */
	".gradle/caches", ".gradle/wrapper", ".gradle/native", ".gradle/jdks", ".m2/repository", ".m2/wrapper",
	".ivy2/cache", ".sbt/boot", ".cache/coursier",
	/* Ruby, PHP */
	".gem/ruby", ".local/share/gem/ruby", ".bundle/cache", ".cache/composer", ".composer/cache",
	/* .NET, Dart, Haskell, Zig, C */
	".nuget/packages", ".pub-cache/hosted", ".cabal/packages", ".cabal/store", ".cache/zig", ".cache/ccache",
	".ccache", ".cache/sccache", ".cache/bazelisk",
	NULL,
};
/* clang-format on */

/*
 * Paths that need the user's consent: what a server runs, what decides who reviews, what makes git run
 * filters or fetch other repositories, and what agents, editors and shells run when the user opens the
 * checkout. The last group is protected in every directory, as each may be opened on its own.
 */
/* clang-format off */
/* Files that decide what a package manager installs. A glob without a slash matches at any depth. */
const char *const default_setup_inputs[] = { "package.json", "package-lock.json", "npm-shrinkwrap.json",
	"yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc.yml",
	"Cargo.lock", "Cargo.toml", "rust-toolchain", "rust-toolchain.toml", "go.mod", "go.sum", "go.work",
	"pyproject.toml", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "requirements*.txt", "setup.py",
	"setup.cfg", "environment.yml", "Gemfile", "Gemfile.lock", "composer.json", "composer.lock", "mix.exs",
	"mix.lock", "Package.swift", "Package.resolved", "pom.xml", "build.gradle", "build.gradle.kts",
	"gradle.lockfile", "flake.lock", ".tool-versions", ".nvmrc", ".node-version", ".python-version",
	".ruby-version", NULL };

const char *const default_protected[] = {
	/* servers: what they run, and who reviews */
	".github/workflows/**", ".github/actions/**", ".gitlab-ci.yml", ".gitlab/ci/**", ".gitea/**", ".forgejo/**",
	"Jenkinsfile", ".jenkins/**", ".circleci/**", ".travis.yml", "azure-pipelines.yml", ".azure-pipelines/**",
	"bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/**",
	".buildkite/**", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", "cloudbuild.yml", ".teamcity/**",
	".tekton/**", "buildspec.yml", "buildspec.yaml", ".semaphore/**", ".cirrus.yml", ".cirrus.star",
	"codemagic.yaml", ".build.yml", ".builds/**", ".zuul.yaml", ".zuul.d/**", "zuul.d/**", ".harness/**",
	"bitrise.yml", "CODEOWNERS",
	/* git */
	".gitattributes", ".lfsconfig", ".gitmodules", ".mailmap",
	/* agents */
	"**/.claude/settings.json", "**/.claude/settings.local.json", "**/.claude/hooks/**", ".mcp.json",
	"**/.codex/**", "**/.gemini/settings.json", "opencode.json", "**/.opencode/**", ".aider.conf.yml",
	"**/.roo/mcp.json", "**/.kilocode/mcp.json", "**/.amazonq/mcp.json", "**/.kiro/settings/**", "**/.kiro/hooks/**",
	"**/.github/hooks/**",
	/* editors */
	"**/.cursor/mcp.json", "**/.cursor/hooks.json", "**/.cursor/hooks/**", "**/.zed/settings.json", "**/.zed/tasks.json",
	"**/.zed/debug.json", "*.code-workspace", ".exrc", ".nvim.lua", ".nvimrc", "**/.vscode/tasks.json", "**/.vscode/settings.json", "**/.vscode/launch.json",
	"**/.vscode/mcp.json", "**/.vscode/extensions.json", "**/.idea/runConfigurations/**",
	/* shells, containers, hooks, Garth itself */
	".envrc", "**/.devcontainer/**", "**/.husky/**", ".pre-commit-config.yaml",
	"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook/**", ".garth.yaml", ".worktreeinclude",
	NULL,
};
/* clang-format on */

/* API keys of model providers, for agents that support several of them. */
#define PROVIDER_KEYS                                                                                        \
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY",     \
		"GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"

/* The hosts that accept those keys. */
#define PROVIDER_HOSTS                                                                                       \
	"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai",         \
		"api.groq.com", "api.mistral.ai", "api.deepseek.com", "api.x.ai"

/* The guard (guard/guard.h) as a hook of each client: before a tool it may refuse the call, after one it may add a line to
 * the result. Codex runs a command of requirements.toml without asking; Gemini and Goose look in the home. Goose
 * gives its model nothing of a hook after a tool: its shell is ours, which adds the line to the command's output. */
/* clang-format off */
#define GUARD "/run/garth/bin/garth-guard --client "
#define HOOK(event, tools, command) "\"" event "\":[{\"matcher\":\"" tools "\",\"hooks\":[{\"type\":\"command\",\"command\":\"" GUARD command "\"}]}]"
#define GUARD_CLAUDE                                                                                         \
	"/etc/claude-code/managed-settings.d/20-garth-guard.json={\"hooks\":{"                               \
	HOOK("PreToolUse", "Bash|Read|Edit|Write|MultiEdit|NotebookEdit|Glob|Grep|LS", "claude") ","          \
	HOOK("PostToolUse", "Bash", "claude --after") ","                                                     \
	HOOK("PostToolUseFailure", "Bash|Read|Edit|Write", "claude --after") "}}\n"
#define GUARD_CODEX                                                                                          \
	"/etc/codex/requirements.toml=[features]\nhooks = true\n\n[hooks]\nmanaged_dir = \"/run/garth/bin\"\n\n"      \
	"[[hooks.PreToolUse]]\nmatcher = \"Bash|apply_patch\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n"    \
	"command = \"" GUARD "codex\"\n\n[[hooks.PostToolUse]]\nmatcher = \"Bash\"\n\n"                     \
	"[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"" GUARD "codex --after\"\n"
#define GUARD_GEMINI                                                                                         \
	"~/.gemini/extensions/garth-guard/gemini-extension.json={\"name\":\"garth-guard\",\"version\":\"1.0.0\"}\n",     \
		"~/.gemini/extensions/garth-guard/hooks/hooks.json={\"hooks\":{"                            \
		HOOK("BeforeTool", "run_shell_command|read_file|write_file|replace|list_directory|glob|grep_search|search_file_content", "gemini") "," \
		HOOK("AfterTool", "run_shell_command|read_file|list_directory", "gemini --after") "}}\n"
#define GUARD_OPENCODE                                                                                       \
	"/etc/opencode/garth-guard.js="                                                                      \
	"import { spawnSync } from \"node:child_process\"\n"                                                 \
	"const guard = (more, input) => spawnSync(\"/run/garth/bin/garth-guard\", [\"--client\", \"opencode\", ...more],\n" \
	"  { input: JSON.stringify(input), encoding: \"utf8\" })\n"                                           \
	"export const GarthGuard = async ({ directory }) => ({\n"                                             \
	"  \"tool.execute.before\": async (input, output) => {\n"                                              \
	"    const said = guard([], { cwd: directory, tool_name: input.tool, tool_input: output.args ?? {} })\n"    \
	"    if (said.status === 2) throw new Error(said.stderr.trim())\n"                                     \
	"  },\n"                                                                                              \
	"  \"tool.execute.after\": async (input, output) => {\n"                                               \
	"    const said = guard([\"--after\"], { cwd: directory, tool_name: input.tool, tool_response: output.output ?? \"\" })\n" \
	"    if (said.stdout) output.output += \"\\n\" + said.stdout.trim()\n"                                   \
	"  },\n"                                                                                              \
	"})\n"
#define GUARD_GOOSE                                                                                          \
	"~/.agents/plugins/garth-guard/plugin.json={\"name\":\"garth-guard\",\"version\":\"1.0.0\"}\n",                \
		"~/.agents/plugins/garth-guard/hooks/hooks.json={\"hooks\":{" HOOK("PreToolUse", ".*", "goose") "}}\n"
/* clang-format on */

/* OpenCode's screen takes a prompt only for a new session. So an answer is given first, without the screen: it is the last
 * argument, which a turn of all arguments makes the first. */
/* clang-format off */
#define OPENCODE_RESUME                                                                                      \
	"n=$#; while [ $n -gt 1 ]; do set -- \"$@\" \"$1\"; shift; n=$((n-1)); done\n"                           \
	"case $1 in --prompt=*) a=${1#--prompt=}; shift; opencode run \"$@\" --continue -- \"$a\" || exit;;\n" \
	"?*) set -- \"$@\" \"$1\"; shift;; esac\n"                                                            \
	"exec opencode \"$@\" --continue"
/* clang-format on */

/* Goose's `run` wants a prompt: without an answer, `session` is what continues on a terminal, and it knows other options. */
/* clang-format off */
#define GOOSE_RESUME                                                                                         \
	"for a; do case $a in --text=*) exec goose run \"$@\" --resume --interactive;; esac; done\n"             \
	"p=; for a; do case $p$a in --provider=*) export GOOSE_PROVIDER=\"${a#*=}\";;\n"                      \
	"--model=*) export GOOSE_MODEL=\"${a#*=}\";; esac\n"                                                  \
	"case $a in --provider|--model) p=$a=;; *) p=;; esac; done\n"                                          \
	"exec goose session --resume"
/* clang-format on */

/* Log-in files: only what an agent needs to be logged in with the user's settings; no histories, no
 * sessions. Prompts: nobody can be asked for permission without a terminal, so the last command has the agent's
 * own option for that; and Codex cannot make its sandbox inside. A prompt may begin with a dash. Variables and files switch
 * off what cannot work inside (updates, telemetry, a sandbox of its own), and tell the agent about its task. */
/* clang-format off */
const struct default_agent default_agents[] = {
	{ "claude", LIST("claude", "claude-agent-acp", "claude-code-acp"), LIST(".claude.json", ".claude/.credentials.json", ".claude/settings.json"),
		LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
			"ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_*",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_USE_BEDROCK",
			"AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "API_TIMEOUT_MS", "MAX_THINKING_TOKENS",
			"DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"),
		LIST("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
		LIST("claude", "{options}", "--continue", "-p", "{answer}"),
		LIST("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--permission-mode=",
			"--model=", "--fallback-model=", "--effort=", "--max-turns=", "--tools=+", "--allowedTools=+",
			"--allowed-tools=+", "--disallowedTools=+", "--disallowed-tools=+", "--output-format=", "--verbose",
			"--system-prompt=", "--append-system-prompt=", "--settings=", "--mcp-config=+",
			"--strict-mcp-config", "--agent=", "--agents="),
		LIST("claude", "--", "{prompt}"),
		LIST("claude", "--dangerously-skip-permissions", "-p", "--", "{prompt}"),
		LIST("DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1"),
		LIST("/etc/claude-code/CLAUDE.md={brief}",
			"/etc/claude-code/managed-settings.d/10-garth.json={\"permissions\":{\"defaultMode\":"
			"\"bypassPermissions\"},\"skipDangerousModePermissionPrompt\":true,"
			"\"sandbox\":{\"enabled\":false}}\n", GUARD_CLAUDE),
		.settings = LIST(".claude/CLAUDE.md", ".claude/commands", ".claude/skills", ".claude/agents",
			".claude/hooks", ".claude/rules", ".claude/output-styles", ".claude/keybindings.json",
			".claude/plugins/cache", ".claude/plugins/marketplaces", ".claude/plugins/repos",
			".claude/plugins/installed_plugins.json", ".claude/plugins/known_marketplaces.json"),
		.dirs = LIST("CLAUDE_CONFIG_DIR/.claude.json=.claude.json", "CLAUDE_CONFIG_DIR=.claude"),
		.resume_terminal = LIST("claude", "{options}", "--continue", "--", "{answer}"),
		.quiet_hosts = LIST("statsig.anthropic.com", "*.statsig.com", "*.sentry.io",
			"*.datadoghq.com", "storage.googleapis.com", "downloads.claude.ai",
			"mcp-proxy.anthropic.com"),
		.quota = LIST("usage limit reached", "hit your limit", "rate_limit_error"),
		.model = LIST("--model", "{model}"), .effort = LIST("--effort", "{effort}"),
		.mcp = LIST("~/.claude.json={\"mcpServers\":{\"garth\":{\"type\":\"stdio\",\"command\":\"garth\",\"args\":[\"mcp\"]}}}") },
	{ "codex", LIST("codex", "codex-acp"), LIST(".codex/auth.json", ".codex/config.toml"),
		LIST("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL",
			"OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
		LIST("api.openai.com", "auth.openai.com", "chatgpt.com"),
		LIST("codex", "exec", "{options}", "resume", "--last", "{answer}"),
		LIST("--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto", "--approve-for-me",
			"--skip-git-repo-check", "-m=", "--model=", "-c=", "--config=", "-p=", "--profile=", "-s=",
			"--sandbox=", "--enable=", "--disable=", "--oss", "--local-provider=", "--json"),
		LIST("codex", "--sandbox", "danger-full-access", "--", "{prompt}"),
		LIST("codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "--",
			"{prompt}"),
		LIST(NULL),
		LIST("/etc/codex/config.toml=sandbox_mode = \"danger-full-access\"\n"
			"check_for_update_on_startup = false\n"
			"developer_instructions = {brief_json}\n"
			"[analytics]\nenabled = false\n"
			/* with plugins, it fetches a list of them from GitHub whenever it starts */
			"[features]\nplugins = false\n",
			/* this one goes over the user's own, where Codex may be told to ask or to use its sandbox */
			"/etc/codex/managed_config.toml=approval_policy = \"never\"\n"
			"sandbox_mode = \"danger-full-access\"\n"
			"[projects.{workspace_json}]\ntrust_level = \"trusted\"\n", GUARD_CODEX),
		.settings = LIST(".codex/AGENTS.md", ".codex/AGENTS.override.md", ".codex/prompts",
			".codex/skills", ".codex/rules", ".codex/hooks.json", ".codex/hooks", ".agents/skills"),
		.dirs = LIST("CODEX_HOME=.codex"),
		.resume_terminal = LIST("codex", "{options}", "resume", "--last", "{answer}"),
		.quiet_hosts = LIST("ab.chatgpt.com", "api.github.com", "*.statsig.com",
			/* an announcement that nothing switches off */
			"raw.githubusercontent.com"),
		.quota = LIST("usage limit", "Rate limit reached", "insufficient_quota"),
		.model = LIST("-m", "{model}"), .effort = LIST("-c", "model_reasoning_effort={effort}"),
		.mcp = LIST("/etc/codex/config.toml=mcp_servers.garth = { command = \"garth\", args = [\"mcp\"] }\n") },
	{ "gemini", LIST("gemini"),
		LIST(".gemini/oauth_creds.json", ".gemini/gemini-credentials.json", ".gemini/google_accounts.json",
			".gemini/installation_id", ".gemini/settings.json", ".gemini/.env"),
		LIST("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT",
			"GOOGLE_CLOUD_LOCATION", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
			"GOOGLE_GENAI_USE_GCA"),
		LIST("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
			"accounts.google.com"),
		LIST("gemini", "{options}", "--resume", "latest", "-p", "{answer}"),
		LIST("-y", "--yolo", "--approval-mode=", "--skip-trust", "-m=", "--model=", "-o=",
			"--output-format=", "--policy=", "--allowed-tools="),
		LIST("gemini", "--prompt-interactive={prompt}"),
		LIST("gemini", "--yolo", "--skip-trust", "--prompt={prompt}"),
		/* it reads settings in /etc only if root owns them, and inside nothing belongs to root */
		LIST("GEMINI_TELEMETRY_ENABLED=false", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_SANDBOX=false"),
		LIST("~/.gemini/policies/garth.toml=[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\n"
			"priority = 1\nallowRedirection = true\n",
			"~/.gemini/extensions/garth/gemini-extension.json={\"name\":\"garth\","
			"\"version\":\"1.0.0\",\"contextFileName\":\"brief.md\"}\n",
			"~/.gemini/extensions/garth/brief.md={brief}",
			"~/.gemini/settings.json={\"general\":{\"enableAutoUpdate\":false,"
			"\"enableAutoUpdateNotification\":false}}\n", GUARD_GEMINI),
		.settings = LIST(".gemini/GEMINI.md", ".gemini/commands", ".gemini/skills", ".gemini/agents",
			".gemini/hooks", ".gemini/extensions/", ".gemini/policies/", ".agents/skills"),
		.dirs = LIST("GEMINI_CLI_HOME/.gemini=.gemini"),
		.resume_terminal = LIST("gemini", "{options}", "--resume", "latest",
			"--prompt-interactive={answer}"),
		.quiet_hosts = LIST("play.googleapis.com", "api.github.com"),
		.quota = LIST("RESOURCE_EXHAUSTED", "Quota exceeded"),
		.model = LIST("-m", "{model}"),
		.mcp = LIST("~/.gemini/extensions/garth/gemini-extension.json={\"mcpServers\":{\"garth\":"
			"{\"command\":\"garth\",\"args\":[\"mcp\"]}}}\n") },
	{ "opencode", LIST("opencode"),
		LIST(".local/share/opencode/auth.json", ".config/opencode/config.json",
			".config/opencode/opencode.json", ".config/opencode/opencode.jsonc",
			".config/opencode/tui.json"),
		LIST("OPENCODE_API_KEY", "OPENCODE_CONFIG_CONTENT", "GOOGLE_GENERATIVE_AI_API_KEY", PROVIDER_KEYS),
		LIST("opencode.ai", "models.opencode.ai", "models.dev", "chatgpt.com", "auth.openai.com", "api.githubcopilot.com",
			PROVIDER_HOSTS),
		LIST("opencode", "run", "{options}", "--continue", "{answer}"),
		LIST("--auto", "-m=", "--model=", "--agent=", "--variant=", "--format=", "--thinking", "--pure"),
		LIST("opencode", "--prompt={prompt}"),
		LIST("opencode", "run", "--auto", "--", "{prompt}"),
		LIST("OPENCODE_DISABLE_AUTOUPDATE=1"),
		LIST("/etc/opencode/opencode.json={\"autoupdate\":false,\"share\":\"disabled\","
			"\"permission\":{\"*\":\"allow\"},\"instructions\":[\"{brief_file}\"],"
			"\"plugin\":[\"file:///etc/opencode/garth-guard.js\"]}\n", GUARD_OPENCODE),
		.settings = LIST(".config/opencode/AGENTS.md", ".config/opencode/agent", ".config/opencode/agents",
			".config/opencode/command", ".config/opencode/commands", ".config/opencode/plugin",
			".config/opencode/plugins", ".config/opencode/skill", ".config/opencode/skills",
			".config/opencode/tool", ".config/opencode/tools", ".config/opencode/themes",
			/* what it installs for the user's tools and plugins; without them it would fetch them */
			".config/opencode/node_modules", ".config/opencode/package.json",
			".config/opencode/package-lock.json", ".agents/skills"),
		.dirs = LIST("XDG_CONFIG_HOME/opencode=.config/opencode", "OPENCODE_CONFIG_DIR=.config/opencode",
			"XDG_DATA_HOME/opencode=.local/share/opencode"),
		.resume_terminal = LIST("sh", "-c", OPENCODE_RESUME, "opencode", "{options}", "--prompt={answer}"),
		.quiet_hosts = LIST("api.github.com"),
		.quota = LIST("rate limit", "insufficient_quota", "usage limit"),
		.model = LIST("-m", "{model}"), .effort = LIST("--variant", "{effort}"),
		.mcp = LIST("/etc/opencode/opencode.json={\"mcp\":{\"garth\":{\"type\":\"local\","
			"\"command\":[\"garth\",\"mcp\"]}}}\n") },
	{ "goose", LIST("goose"), LIST(".config/goose/config.yaml", ".config/goose/secrets.yaml"),
		LIST("GOOSE_*", "OPENAI_HOST", "OPENAI_BASE_PATH", "ANTHROPIC_HOST", "GOOGLE_HOST", "OPENROUTER_HOST",
			"XAI_HOST", "OLLAMA_HOST", "DATABRICKS_HOST",
			"DATABRICKS_TOKEN", PROVIDER_KEYS),
		LIST(PROVIDER_HOSTS),
		LIST("goose", "run", "{options}", "--resume", "--text", "{answer}"),
		LIST("--provider=", "--model=", "--with-builtin=", "--with-extension=", "--max-turns=", "-q",
			"--quiet", "--no-profile"),
		LIST("goose", "run", "--interactive", "--text={prompt}"),
		LIST("goose", "run", "--text={prompt}"),
		LIST("GOOSE_MOIM_MESSAGE_FILE=/run/garth/brief.md", "GOOSE_MODE=auto",
			"GOOSE_TELEMETRY_ENABLED=false", "GOOSE_SHELL=/run/garth/bin/garth-shell"),
		LIST(GUARD_GOOSE),
		.settings = LIST(".config/goose/.goosehints", ".config/goose/recipes", ".config/goose/skills",
			".agents/skills"),
		.dirs = LIST("XDG_CONFIG_HOME/goose=.config/goose"),
		.resume_terminal = LIST("sh", "-c", GOOSE_RESUME, "goose", "{options}", "--text={answer}"),
		.quiet_hosts = LIST("us.i.posthog.com", "api.github.com"),
		.quota = LIST("Rate limit exceeded", "insufficient_quota"),
		.model = LIST("--model", "{model}"),
		.mcp = LIST("/etc/goose/config.yaml=extensions:\n  garth: {enabled: true, type: stdio, name: garth, "
			"cmd: garth, args: [mcp], timeout: 300}\n") },
	{ 0 },
};
/* clang-format on */
