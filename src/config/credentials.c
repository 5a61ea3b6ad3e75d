#include "config/credentials.h"

#include <stddef.h>
#include <string.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * The paths are what agents need to speak with their model, and to show what is left of a plan. Not on the lists is what
 * makes other credentials, changes the account, or sends telemetry: with a Claude log-in,
 * /api/oauth/claude_cli/create_api_key would give a task a key of its own.
 *
 * With a log-in, Claude Code sends nothing to an address that it is told; with a key it does. Gemini CLI asks Google
 * whether its token is good before it uses it.
 */
/* clang-format off */
#define CLAUDE_RENEWS LIST("access_token=claudeAiOauth.accessToken", "refresh_token=claudeAiOauth.refreshToken", \
	"until=claudeAiOauth.expiresAt", "scope=claudeAiOauth.scopes", "lock=.lock")

const struct default_service default_services[] = {
	{ "anthropic", "https://api.anthropic.com", LIST("x-api-key", "authorization"),
		LIST("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models", "GET /v1/models/"),
		LIST(NULL) },
	{ "claude-login", "https://api.anthropic.com", LIST("authorization"),
		LIST("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models", "GET /v1/models/",
			"GET /api/oauth/profile", "GET /api/oauth/usage", "GET /api/oauth/claude_cli/roles",
			"GET /api/claude_cli/bootstrap", "GET /api/claude_code/settings",
			"GET /api/claude_code/policy_limits"),
		LIST(NULL), true },
	{ "claude-token", "https://platform.claude.com/v1/oauth/token", LIST(NULL), LIST("POST "), CLAUDE_RENEWS, true },
	/* until 2025 */
	{ "claude-console", "https://console.anthropic.com/v1/oauth/token", LIST(NULL), LIST("POST "), CLAUDE_RENEWS,
		true },
	{ "openai", "https://api.openai.com/v1", LIST("authorization"),
		LIST("POST /responses", "POST /responses/compact", "POST /chat/completions", "POST /completions",
			"POST /embeddings", "GET /models", "GET /models/"),
		LIST(NULL) },
	/* the same for agents that add the version to the address */
	{ "openai-host", "https://api.openai.com", LIST("authorization"),
		LIST("POST /v1/responses", "POST /v1/chat/completions", "POST /v1/embeddings", "GET /v1/models",
			"GET /v1/models/"),
		LIST(NULL) },
	{ "chatgpt-codex", "https://chatgpt.com/backend-api/codex", LIST("authorization"),
		LIST("POST /responses", "POST /responses/compact", "GET /models"), LIST(NULL) },
	{ "chatgpt", "https://chatgpt.com/backend-api", LIST("authorization"),
		LIST("GET /wham/usage", "GET /codex/models"), LIST(NULL) },
	{ "openai-auth", "https://auth.openai.com/oauth/token", LIST(NULL), LIST("POST "),
		LIST("access_token=tokens.access_token", "refresh_token=tokens.refresh_token",
			"id_token=tokens.id_token", "now=last_refresh") },
	/* the same for OpenCode, which has its addresses fixed */
	{ "opencode-chatgpt", "https://chatgpt.com/backend-api/codex", LIST("authorization"),
		LIST("POST /responses", "POST /responses/compact", "GET /models"), LIST(NULL), true },
	{ "opencode-token", "https://auth.openai.com/oauth/token", LIST(NULL), LIST("POST "),
		LIST("access_token=openai.access", "refresh_token=openai.refresh", "until=openai.expires"), true },
	/* OpenCode sends what it calls a refresh token to the model itself; the token does not expire */
	{ "copilot", "https://api.githubcopilot.com", LIST("authorization"),
		LIST("POST /chat/completions", "POST /responses", "POST /v1/messages", "GET /models"), LIST(NULL), true },
	{ "gemini", "https://generativelanguage.googleapis.com", LIST("x-goog-api-key"),
		LIST("POST /v1beta/models/", "POST /v1/models/", "GET /v1beta/models", "GET /v1beta/models/"),
		LIST(NULL) },
	{ "code-assist", "https://cloudcode-pa.googleapis.com", LIST("authorization"),
		LIST("POST /v1internal:generateContent", "POST /v1internal:streamGenerateContent",
			"POST /v1internal:countTokens", "POST /v1internal:loadCodeAssist",
			"POST /v1internal:onboardUser", "POST /v1internal:fetchAdminControls",
			"POST /v1internal:listExperiments", "POST /v1internal:retrieveUserQuota",
			"GET /v1internal:getCodeAssistGlobalUserSetting", "GET /v1internal/operations/"),
		LIST(NULL) },
	{ "google", "https://oauth2.googleapis.com", LIST("authorization"), LIST("POST /tokeninfo", "GET /tokeninfo"),
		LIST(NULL), true },
	{ "google-token", "https://oauth2.googleapis.com/token", LIST(NULL), LIST("POST "),
		LIST("access_token=access_token", "refresh_token=refresh_token", "id_token=id_token",
			"until=expiry_date", "scope=scope"),
		true },
	{ "openrouter", "https://openrouter.ai/api/v1", LIST("authorization"),
		LIST("POST /chat/completions", "POST /responses", "GET /models", "GET /models/"), LIST(NULL) },
	{ "openrouter-host", "https://openrouter.ai", LIST("authorization"),
		LIST("POST /api/v1/chat/completions", "POST /api/v1/responses", "GET /api/v1/models", "GET /api/v1/models/"),
		LIST(NULL) },
	/* agents have these addresses fixed, or each in another way */
	{ "groq", "https://api.groq.com", LIST("authorization"),
		LIST("POST /openai/v1/chat/completions", "POST /openai/v1/responses", "GET /openai/v1/models",
			"GET /openai/v1/models/"),
		LIST(NULL), true },
	{ "mistral", "https://api.mistral.ai", LIST("authorization"),
		LIST("POST /v1/chat/completions", "GET /v1/models", "GET /v1/models/"), LIST(NULL), true },
	{ "deepseek", "https://api.deepseek.com", LIST("authorization"),
		LIST("POST /chat/completions", "POST /v1/chat/completions", "GET /models", "GET /v1/models"),
		LIST(NULL), true },
	{ "xai", "https://api.x.ai", LIST("authorization"),
		LIST("POST /v1/chat/completions", "POST /v1/responses", "GET /v1/models", "GET /v1/models/"),
		LIST(NULL), true },
	{ "xai-host", "https://api.x.ai/v1", LIST("authorization"),
		LIST("POST /chat/completions", "POST /responses", "GET /models", "GET /models/"), LIST(NULL) },
	{ 0 },
};

const struct default_login default_logins[] = {
	{ "claude",
		LIST("ANTHROPIC_API_KEY=anthropic", "ANTHROPIC_AUTH_TOKEN=anthropic", "CLAUDE_CODE_OAUTH_TOKEN=anthropic",
			".claude/.credentials.json:claudeAiOauth.accessToken=claude-login",
			".claude/.credentials.json:claudeAiOauth.refreshToken=claude-token",
			".claude/.credentials.json:claudeAiOauth.refreshToken=claude-console", ".claude.json:primaryApiKey=anthropic",
			".claude/settings.json:env.ANTHROPIC_API_KEY=anthropic",
			".claude/settings.json:env.ANTHROPIC_AUTH_TOKEN=anthropic",
			"ANTHROPIC_CUSTOM_HEADERS=-", "AWS_BEARER_TOKEN_BEDROCK=-"),
		LIST("ANTHROPIC_BASE_URL=anthropic"), LIST(NULL) },
	{ "codex",
		LIST("OPENAI_API_KEY=openai", "CODEX_API_KEY=openai", "CODEX_ACCESS_TOKEN=-",
			".codex/auth.json:OPENAI_API_KEY=openai", ".codex/auth.json:tokens.access_token=chatgpt-codex",
			".codex/auth.json:tokens.access_token=chatgpt", ".codex/auth.json:tokens.id_token=chatgpt-codex",
			".codex/auth.json:tokens.refresh_token=openai-auth"),
		LIST("OPENAI_BASE_URL=openai", "CODEX_REFRESH_TOKEN_URL_OVERRIDE=openai-auth"),
		LIST("/etc/codex/config.toml=openai_base_url = \"{chatgpt-codex}\"\n"
			"openai_base_url = \"{openai}\"\n"
			"chatgpt_base_url = \"{chatgpt}\"\n") },
	{ "gemini",
		LIST("GEMINI_API_KEY=gemini", "GOOGLE_API_KEY=-", ".gemini/.env:GEMINI_API_KEY=gemini", ".gemini/oauth_creds.json:access_token=code-assist",
			".gemini/oauth_creds.json:access_token=google", ".gemini/oauth_creds.json:refresh_token=google-token",
			".gemini/oauth_creds.json:id_token=google-token"),
		LIST("GOOGLE_GEMINI_BASE_URL=gemini", "CODE_ASSIST_ENDPOINT=code-assist"),
		/* without this it takes the proxy for a company's gateway, and refuses that without a terminal */
		LIST("~/.gemini/settings.json={\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}} // {gemini}\n") },
	{ "opencode",
		LIST("ANTHROPIC_API_KEY=anthropic", "OPENAI_API_KEY=openai", "GEMINI_API_KEY=gemini",
			"OPENROUTER_API_KEY=openrouter", "OPENCODE_API_KEY=-", "GOOGLE_API_KEY=gemini", "GOOGLE_GENERATIVE_AI_API_KEY=gemini", "GROQ_API_KEY=groq",
			"MISTRAL_API_KEY=mistral", "DEEPSEEK_API_KEY=deepseek", "XAI_API_KEY=xai",
			"OPENCODE_CONFIG_CONTENT=-",
			".local/share/opencode/auth.json:anthropic.key=anthropic",
			".local/share/opencode/auth.json:openai.key=openai",
			".local/share/opencode/auth.json:openai.access=opencode-chatgpt",
			".local/share/opencode/auth.json:openai.refresh=opencode-token",
			".local/share/opencode/auth.json:github-copilot.refresh=copilot",
			".local/share/opencode/auth.json:github-copilot.access=copilot",
			".local/share/opencode/auth.json:google.key=gemini",
			".local/share/opencode/auth.json:openrouter.key=openrouter",
			".local/share/opencode/auth.json:groq.key=groq", ".local/share/opencode/auth.json:mistral.key=mistral",
			".local/share/opencode/auth.json:deepseek.key=deepseek", ".local/share/opencode/auth.json:xai.key=xai"),
		LIST(NULL),
		LIST("/etc/opencode/opencode.json={\"provider\":{\n"
			"\"anthropic\":{\"options\":{\"baseURL\":\"{anthropic}/v1\"}},\n"
			"\"openai\":{\"options\":{\"baseURL\":\"{openai}\"}},\n"
			"\"google\":{\"options\":{\"baseURL\":\"{gemini}/v1beta\"}},\n"
			"\"openrouter\":{\"options\":{\"baseURL\":\"{openrouter}\"}},\n"
			"}}\n") },
	{ "goose",
		LIST("ANTHROPIC_API_KEY=anthropic", "OPENAI_API_KEY=openai-host", "GOOGLE_API_KEY=gemini", "GEMINI_API_KEY=-",
			"OPENROUTER_API_KEY=openrouter-host", "GROQ_API_KEY=groq", "MISTRAL_API_KEY=mistral",
			"DEEPSEEK_API_KEY=deepseek", "XAI_API_KEY=xai-host", "DATABRICKS_TOKEN=-",
			".config/goose/secrets.yaml:ANTHROPIC_API_KEY=anthropic",
			".config/goose/secrets.yaml:OPENAI_API_KEY=openai-host", ".config/goose/secrets.yaml:GOOGLE_API_KEY=gemini",
			".config/goose/secrets.yaml:OPENROUTER_API_KEY=openrouter-host",
			".config/goose/secrets.yaml:GROQ_API_KEY=groq", ".config/goose/secrets.yaml:MISTRAL_API_KEY=mistral",
			".config/goose/secrets.yaml:DEEPSEEK_API_KEY=deepseek", ".config/goose/secrets.yaml:XAI_API_KEY=xai-host"),
		LIST("ANTHROPIC_HOST=anthropic", "OPENAI_HOST=openai-host", "GOOGLE_HOST=gemini",
			"OPENROUTER_HOST=openrouter-host", "XAI_HOST=xai-host"), LIST(NULL) },
	{ 0 },
};
/* clang-format on */

const struct default_service *config_service(const char *name)
{
	for (const struct default_service *s = default_services; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

const struct default_login *config_login(const char *agent)
{
	for (const struct default_login *l = default_logins; l->agent; l++)
		if (!strcmp(l->agent, agent))
			return l;
	return NULL;
}
