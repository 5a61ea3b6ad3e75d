"""tls_model.py DIR: a model and a token service over TLS, for tests. Makes a certificate authority in DIR, writes its port
to DIR/port, and each request's path, credentials and body to DIR/requests.

/v1/messages answers with all headers of the request; with "stream" in the body, three events, each when DIR/go-N exists;
with "many", a thousand chunks
at once; with "large", 24 MB; with "packed", the answer compressed unasked; with "elsewhere", a redirect to another host; with "Range: bytes=N-M" those bytes of the answer. /oauth/token takes each refresh token once: rt-N gives rt-(N+1); /token, as
Google's does, takes it again and again; a member "attackers" gives an account of the agent's, and so does one in the query. While DIR/hold exists it does not answer. With "odd" in the body the answer has a number that some parsers refuse,
with "form" it is a form; a refusal has the token with
escapes, with "escape" in the body those of JSON, with "percent" those of forms.

At the port in DIR/proxy it is an HTTPS proxy that answers for the agents' hosts itself; their names begin the paths then.
"""
import gzip, http.server, json, os, re, ssl, subprocess, sys, threading, time, urllib.parse

top = sys.argv[1]
HOSTS = ["localhost", "api.anthropic.com", "platform.claude.com", "console.anthropic.com", "oauth2.googleapis.com",
         "cloudcode-pa.googleapis.com", "auth.openai.com", "chatgpt.com", "api.githubcopilot.com", "api.groq.com"]
lock = threading.Lock()


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificates():
    with open(f"{top}/ext", "w") as f:
        f.write("subjectAltName=" + ",".join("DNS:" + h for h in HOSTS) + "\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", f"{top}/ca.key", "-out", f"{top}/ca.pem", "-days", "3", "-subj", "/CN=CA")
    openssl("req", *key, "-keyout", f"{top}/s.key", "-out", f"{top}/s.csr", "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", f"{top}/s.csr", "-CA", f"{top}/ca.pem", "-CAkey", f"{top}/ca.key", "-CAcreateserial",
            "-days", "3", "-extfile", f"{top}/ext", "-out", f"{top}/s.crt")


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    spent = set()
    host = ""

    def log_message(self, *args):
        pass

    def answer(self, status, value, **fields):
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if "Content-Encoding" in fields:
            data = gzip.compress(data)
        if part and status == 200:
            status, data = 206, data[int(part[1]):int(part[2]) + 1]
        self.send_response(status)
        for name, text in fields.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(3):
            while not os.path.exists(f"{top}/go-{i}"):
                time.sleep(0.01)
            self.wfile.write(b"8\r\ndata: %d\n\r\n" % i)
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def chunks(self, size, n, at_once):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b"%x\r\n%s\r\n" % (size, b"x" * size)
        for _ in range(n // at_once):
            self.wfile.write(piece * at_once)
        self.wfile.write(b"0\r\n\r\n")

    def renew(self, body):
        path, _, query = self.path.partition("?")
        google = path == "/token"
        asked = dict(urllib.parse.parse_qsl(body)) if google else json.loads(body)
        asked |= dict(urllib.parse.parse_qsl(query))
        token = asked["refresh_token"]
        if "attackers" in (token, asked.get("code")):
            return self.answer(200, {"access_token": "attackers-access", "refresh_token": "attackers-refresh", "expires_in": 3600})
        with lock:
            good = token.startswith("rt-") and token not in self.spent
            if not google:
                self.spent.add(token)
        if not good and "escape" in body:
            return self.answer(401, json.dumps({"token": token}).replace("-", "\\u002d"))
        if not good and "percent" in body:
            return self.answer(401, "token=" + token.replace("-", "%2D"))
        if not good:
            return self.answer(401, {"error": "refresh_token_reused", "token": token})
        n = int(token.split("-")[1]) + 1
        while os.path.exists(f"{top}/hold"):
            time.sleep(0.01)
        time.sleep(0.2)
        reply = {"access_token": f"access-{n}-secret-secret-secret", "id_token": f"id-{n}-secret-secret-secret",
                 "expires_in": 3600, "other": "unknown-secret", "scope": "all of-it"}
        if not google:
            reply["refresh_token"] = f"rt-{n}-secret-secret-secret"
        if "odd" in body:
            reply["scope"] = 1e999
        packed = {"Content-Encoding": "gzip"} if "packed" in body else {}
        self.answer(200, urllib.parse.urlencode(reply) if "form" in body else reply, **packed)

    def do_CONNECT(self):
        self.host = self.path.rsplit(":", 1)[0]
        self.send_response(200)
        self.end_headers()
        try:
            self.connection = context.wrap_socket(self.connection, server_side=True)
        except (OSError, ssl.SSLError):
            self.close_connection = True
            return
        self.rfile, self.wfile = self.connection.makefile("rb", -1), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with lock, open(f"{top}/requests", "a") as f:
            print(self.host + self.path, self.headers.get("x-api-key"), self.headers.get("authorization"), body, file=f)
        if self.path.startswith("/oauth/token") or self.path.partition("?")[0] in ("/v1/oauth/token", "/token"):
            self.renew(body)
        elif "stream" in body:
            self.stream()
        elif "many" in body:
            self.chunks(8, 1000, 1000)
        elif "large" in body:
            self.chunks(12345, 2000, 1)
        elif "elsewhere" in body:
            self.answer(307, {}, Location="https://other.example/steal")
        elif "packed" in body:
            self.answer(200, {"headers": dict(self.headers.items())}, **{"Content-Encoding": "gzip"})
        else:
            self.answer(200, {"headers": dict(self.headers.items())}, **{"X-Echo": self.headers.get("x-api-key") or "-"})

    do_GET = do_POST


make_certificates()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{top}/s.crt", f"{top}/s.key")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
proxy.daemon_threads = True
threading.Thread(target=proxy.serve_forever, daemon=True).start()
with open(f"{top}/proxy", "w") as f:
    f.write(str(proxy.server_address[1]))
with open(f"{top}/port.new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(f"{top}/port.new", f"{top}/port")
server.serve_forever()
