"""The credentials proxy's rows: a request whose key is added outside, with an answer of 1 MB, against the same client and the
same TLS server without a task between them. The answer comes at once, as fast as the server can, or over time, as a model's
does: a piece each millisecond, which is still a hundred times faster than a model."""
import json
import os
import subprocess
import sys

from measure import CannotMeasure, alternate, median, say

ROUNDS, REQUESTS, STREAMS = 5, 30, 3
LATER = 0.002

TABLE = [
    ("credentials", "a request through the credentials proxy, 1 MB at once", "direct, same TLS server", "s", ("at most", 1.3)),
    ("credentials-first", "at once, to its first byte", "direct, and 2 ms", "s", ("at most", 1.0)),
    ("credentials-tls", "at once, if the proxy answers TLS", "direct, same TLS server", "s", ("at most", 1.3)),
    ("credentials-tls-first", "at once, if the proxy answers TLS, to its first byte", "direct, and 2 ms", "s", ("at most", 1.0)),
    ("credentials-stream", "the same, 1 MB streamed: 8 KB each millisecond", "direct, same TLS server", "s", ("at most", 1.3)),
    ("credentials-stream-first", "streamed, to its first byte", "direct, and 2 ms", "s", ("at most", 1.0)),
    ("credentials-stream-tls", "streamed, if the proxy answers TLS", "direct, same TLS server", "s", ("at most", 1.3)),
    ("credentials-stream-tls-first", "streamed, if the proxy answers TLS, to its first byte", "direct, and 2 ms", "s", ("at most", 1.0)),
]

# The client, inside and outside: first byte and whole answer of each request, on one connection.
INNER = r"""
import http.client, json, os, ssl, sys, time, urllib.parse
n, url, key = int(sys.argv[1]), urllib.parse.urlsplit(sys.argv[2] or os.environ["ANTHROPIC_BASE_URL"]), sys.argv[3]
if url.scheme == "https":
    context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    proxy = urllib.parse.urlsplit(os.environ.get("https_proxy", "")) if sys.argv[4] else None
    c = http.client.HTTPSConnection(proxy.hostname if proxy else url.hostname, proxy.port if proxy else url.port, context=context)
    if proxy:
        c.set_tunnel(url.hostname, 443)
else:
    c = http.client.HTTPConnection(url.hostname, url.port)
times = []
for i in range(n + 3):
    body = sys.argv[5].encode() if i >= 3 else b"at once"
    begin = time.perf_counter()
    c.request("POST", url.path + "/v1/messages", body, {"Authorization": "Bearer " + key, "x-api-key": key})
    r = c.getresponse()
    r.read(1)
    first = time.perf_counter() - begin
    size = 1
    while (more := r.read1(1 << 16)):
        size += len(more)
    assert r.status == 200 and size == 1 << 20, (r.status, size)
    times.append((first, time.perf_counter() - begin))
print(json.dumps(times[3:]))
"""

# The model: a megabyte in 64 pieces, or in 128 over time. At the second port it is an HTTPS proxy that answers for every host itself.
SERVER = r"""
import http.server, os, ssl, sys, threading, time
top = sys.argv[1]
def piece(size):
    return b"%x\r\ndata: %s\n\n\r\n" % (size, b"x" * (size - 8))
large, small = piece(16384), piece(8192)
class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def log_message(self, *args): pass
    def do_CONNECT(self):
        self.send_response(200); self.end_headers()
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb", -1), self.connection.makefile("wb", 0)
        self.close_connection = False
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        real = "real" in (self.headers.get("Authorization") or "") + (self.headers.get("x-api-key") or "")
        self.wfile.write(b"HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n" % (200 if real else 401))
        for _ in range(128 if body == b"stream" else 64):
            self.wfile.write(small if body == b"stream" else large)
            if body == b"stream":
                time.sleep(0.001)
        self.wfile.write(b"0\r\n\r\n")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(top + "/s.crt", top + "/s.key")
class Tls(http.server.ThreadingHTTPServer):
    def finish_request(self, request, address):
        super().finish_request(context.wrap_socket(request, server_side=True), address)
servers = [Tls(("127.0.0.1", 0), Model), http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)]
for s in servers:
    s.daemon_threads = True
    threading.Thread(target=s.serve_forever, daemon=True).start()
print(*(s.server_address[1] for s in servers), flush=True)
sys.stdin.read()
"""


def certificates(top):
    """A certificate authority and a server's certificate of it."""
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, cwd=top, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    with open(f"{top}/ext", "w", encoding="ascii") as f:
        f.write("subjectAltName=DNS:localhost,DNS:api.anthropic.com\n")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "3", "-subj", "/CN=CA")
    openssl("req", *key, "-keyout", "s.key", "-out", "s.csr", "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", "s.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "3",
            "-extfile", "ext", "-out", "s.crt")


def requests(run, prefix, cwd, url, key, tls="", body="at once"):
    n = STREAMS if body == "stream" else REQUESTS
    return json.loads(run.run([*prefix, "/usr/bin/python3", "-SEc", INNER, str(n), url, key, tls, body], cwd))


def log_in(home, token):
    os.makedirs(f"{home}/.claude")
    with open(f"{home}/.claude/.credentials.json", "w", encoding="ascii") as f:
        json.dump({"claudeAiOauth": {"accessToken": token, "refreshToken": "refresh-" + token, "expiresAt": 99999999999999}}, f)


def asking(b):
    few, top = b.few(), b.path(b.name("model"))
    os.makedirs(top)
    certificates(top)
    server = subprocess.Popen([sys.executable, "-c", SERVER, top], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    port, proxy = server.stdout.readline().split()
    url, key = f"https://localhost:{int(port)}", "sk-ant-api03-real-secret-real-secret-real-secret"
    home = b.path(b.name("user"))
    log_in(home, "token-real-secret-real-secret-real-secret")
    trust = {"SSL_CERT_FILE": f"{top}/ca.pem", "CURL_CA_BUNDLE": f"{top}/ca.pem", "GARTH_HOME": b.path(b.name("home"))}
    by_key = b.run.with_env(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY=key, **trust)
    by_tls = b.run.with_env(HOME=home, HTTPS_PROXY=f"http://127.0.0.1:{int(proxy)}", **trust)
    read = 'import os,re; print(re.search(\'accessToken": *"([^"]*)\', open(os.path.expanduser("~/.claude/.credentials.json")).read())[1])'
    tasks = []
    say("the credentials proxy")
    try:
        for run in (by_key, by_tls):
            task = b.name("spends")
            run.run([b.garth, "run", "-q", "-d", "--task", task, "--agent", "claude", "--", "sleep", "3600"], few)
            tasks.append((run, task))
        prefix = [[b.garth, "exec", "--agent", "claude", task, "--"] for _, task in tasks]
        dummies = [by_key.run([*prefix[0], "/bin/sh", "-c", "echo $ANTHROPIC_API_KEY"], few).strip(),
                   by_tls.run([*prefix[1], "/usr/bin/python3", "-c", read], few).strip()]
        if key in dummies or "GarthDummy" not in dummies[0] + dummies[1]:
            raise CannotMeasure("the key is in the task")
        at_once, streamed = [alternate(
            ROUNDS, lambda: requests(by_key, prefix[0], few, "", dummies[0], body=body),
            lambda: requests(by_tls, prefix[1], few, "https://api.anthropic.com", dummies[1], "proxy", body),
            lambda: requests(by_key, [], few, url, key, body=body)) for body in ("at once", "stream")]
    finally:
        for run, task in tasks:
            run.run([b.garth, "cancel", task], few, ok=(0, 1, 3, 4))
        server.kill()
        server.wait()
    for name, (mine, tls, direct) in (("credentials", at_once), ("credentials-stream", streamed)):
        whole = [median([t[1] for t in side]) for side in (mine, tls, direct)]
        first = [median([t[0] for t in side]) for side in (mine, tls, direct)]
        later = [f"{(f - first[2]) * 1e3:.2f} ms later to the first byte" for f in first]
        yield name, whole[0], whole[2], later[0]
        yield f"{name}-first", first[0], first[2] + LATER, None
        yield f"{name}-tls", whole[1], whole[2], later[1]
        yield f"{name}-tls-first", first[1], first[2] + LATER, None


GROUPS = [(tuple(row[0] for row in TABLE), asking)]
