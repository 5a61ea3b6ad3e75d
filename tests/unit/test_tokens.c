#include "testing.h"

#include "agent/tokens.h"
#include "base/alloc.h"

/* tokens_take_out on a text, and what is left of it. */
static int take(const char *path, const char *in, struct buf *text, struct tokens *t)
{
	*text = (struct buf)BUF_INIT(1 << 20);
	*t = (struct tokens){ 0 };
	buf_addstr(text, in);
	return tokens_take_out(path, text, t);
}

/* J7: a refresh token in any of the shapes that the five agents have, and wherever it is */
static void test_every_shape(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ ".claude/.credentials.json",
			"{\"claudeAiOauth\":{\"accessToken\":\"keep\",\"refreshToken\":\"SECRET\",\"expiresAt\":1}}" },
		{ ".codex/auth.json",
			"{\"tokens\":{\"id_token\":\"keep\",\"access_token\":\"keep\",\"refresh_token\":\"SECRET\"}}" },
		{ ".gemini/oauth_creds.json", "{\"access_token\":\"keep\",\"refresh_token\":\"SECRET\"}" },
		{ "auth.json",
			"{\"anthropic\":{\"type\":\"oauth\",\"refresh\":\"SECRET\",\"access\":\"keep\"}}" },
		{ "x.json", "{\"keep\":[[{\"REFRESH-TOKEN\":\"SECRET\"}]]}" },
		{ "x.json",
			"{\"keep\":1,\"oauth_refresh_token\":\"SECRET\",\"refresh\":{\"value\":\"SECRET\"}}" },
		{ "x.json", "{\"keep\":\"{\\\"refresh_token\\\":\\\"SECRET\\\"}\"}" },
		{ "x.json", "{\"keep\":[\" {\\\"refresh_token\\\":\\\"SECRET\\\"}\"]}" },
		{ "x.json", "{\"keep\":1,\"token_refresh\":\"SECRET\",\"OAuthRefresh\":\"SECRET\"}" },
		{ "x.jsonc", "// refresh\n{\"keep\": 1, /* \" */ \"refresh_token\": \"SECRET\",}" },
		{ "no-extension", "{\"keep\":1,\"refresh_token\":\"SECRET\"}" },
		{ ".config/goose/secrets.yaml", "OPENAI_API_KEY: keep\nX_REFRESH_TOKEN: SECRET\n" },
		{ "secrets.yml",
			"keep: {creds: '{\"refresh_token\": \"SECRET\"}'}\nl: [{refresh: SECRET}]\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf text = { 0 };
		auto_tokens t = { 0 };

		if (take(rows[i].path, rows[i].text, &text, &t) < 0)
			fail_msg("cannot be read: %s", rows[i].text);
		if (strstr(buf_str(&text), "SECRET"))
			fail_msg("is still there: %s", buf_str(&text));
		if (!strstr(buf_str(&text), "keep"))
			fail_msg("too much is gone: %s", buf_str(&text));
	}
}

/* Codex and OpenCode refuse a file without the key. */
static void test_the_key_stays(void **state)
{
	auto_buf text = { 0 };
	auto_tokens t = { 0 };

	(void)state;
	assert_int_equal(take("a.json", "{\"refresh_token\":\"SECRET\"}", &text, &t), 0);
	assert_string_equal(buf_str(&text), "{\n  \"refresh_token\": \"\"\n}");
	assert_int_equal(t.taken.n, 1);
	assert_string_equal(t.taken.v[0], "SECRET");
}

static void test_what_has_none_stays(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "a.json", " {\"x\" : 1.10, \"refreshInterval\": 5, \"refresh\": true} " },
		{ "a.jsonc", "{ // mine\n \"x\": \"http://a//b\", \"y\": [1,],\n}" },
		{ "a.json", "" },
		{ "a.yaml", "# mine\nx: &anchor 1\ny: *anchor\n" },
		{ "config.toml", "model = \"x\" # refresh\n" },
		{ "installation_id", "0000-1111" },
		/* one token under both names is not used up by a refresh */
		{ "a.json", "{\"github-copilot\":{\"access\":\"T\",\"refresh\":\"T\"}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf text = { 0 };
		auto_tokens t = { 0 };

		assert_int_equal(take(rows[i].path, rows[i].text, &text, &t), 0);
		assert_string_equal(buf_str(&text), rows[i].text);
		assert_int_equal(t.taken.n, 0);
	}
}

static void test_what_cannot_be_read(void **state)
{
	auto_buf deep = BUF_INIT(1 << 20);
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "gemini-credentials.json", "00ff:00ff:00ff" },
		{ "a.json", "{\"refresh_token\":\"SECRET\"" },
		{ "a.json", "{\"refresh_token\":\"SECRET\",\"refresh_token\":\"\"}" },
		{ "a.yaml", "x: &a 1\nrefresh_token: SECRET\n" },
		{ "config.toml", "[a]\nRefresh_Token = \"SECRET\"\n" },
		{ ".env", "X_REFRESHTOKEN=SECRET\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf text = { 0 };
		auto_tokens t = { 0 };

		if (!take(rows[i].path, rows[i].text, &text, &t))
			fail_msg("was taken for harmless: %s", rows[i].text);
	}
	for (int i = 0; i < 1000; i++)
		buf_addch(&deep, '[');
	buf_addstr(&deep, "{\"refresh_token\":\"SECRET\"}");
	for (int i = 0; i < 1000; i++)
		buf_addch(&deep, ']');
	auto_buf text = { 0 };
	auto_tokens t = { 0 };
	assert_int_equal(take("a.json", buf_str(&deep), &text, &t), -1);
}

static void assert_end(const char *in, const char *name, int64_t at)
{
	auto_buf text = { 0 };
	auto_tokens t = { 0 };

	assert_int_equal(take("a.json", in, &text, &t), 0);
	assert_int_equal(t.nends, at ? 1 : 0);
	assert_int_equal(tokens_last_end(&t), at);
	if (at)
		assert_string_equal(t.ends[0].name, name);
}

static void test_ends(void **state)
{
	(void)state;
	assert_end("{\"claudeAiOauth\":{\"accessToken\":\"x\",\"expiresAt\":1900000000123}}", "claudeAiOauth",
		1900000000);
	assert_end("{\"access_token\":\"x\",\"expiry_date\":1900000000000}", "", 1900000000);
	assert_end("{\"p\":{\"access\":\"x\",\"expires\":1900000000000}}", "p", 1900000000);
	/* {"exp":1900000000} */
	assert_end("{\"tokens\":{\"access_token\":\"aGk.eyJleHAiOjE5MDAwMDAwMDB9.c2ln\"}}", "tokens",
		1900000000);
	assert_end("{\"tokens\":{\"access_token\":\"aGk.%%%.c2ln\"}}", "", 0);
	assert_end("{\"p\":{\"access\":\"\",\"expires\":5}}", "", 0);
	assert_end("{\"p\":{\"access\":\"gho_x\",\"expires\":0}}", "", 0);
	assert_end("{\"mcpOAuth\":{\"s\":{\"accessToken\":\"x\",\"expiresAt\":5}}}", "", 0);
	assert_end("{\"cache\":{\"expires\":5}}", "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shape),
		cmocka_unit_test(test_the_key_stays),
		cmocka_unit_test(test_what_has_none_stays),
		cmocka_unit_test(test_what_cannot_be_read),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
