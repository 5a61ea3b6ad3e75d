# For tests of network `allow`: a server of the host on 127.0.0.1:$port that has the file `word` with $SECRET in it.

setup() {
  garth_setup
  SECRET=sentinel-$RANDOM$RANDOM
  mkdir "$T/www"; echo "$SECRET" >"$T/www/word"
  python3 -c '
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
open(sys.argv[2], "w").write(str(server.server_port)); server.serve_forever()' "$T/www" "$T/port" >/dev/null 2>&1 3>&- &
  server=$!
  eventually test -s "$T/port"
  port=$(<"$T/port")
}

teardown() {
  kill "$server"; wait "$server" 2>/dev/null || true
  garth_teardown
}

# get CURL-ARGUMENT…: inside task t, through the proxy, also for localhost. The answer, or curl's message.
get() { "$garth" exec t -- curl -sS -m 20 --noproxy '' "$@" 2>&1; }
code() { "$garth" exec t -- curl -s -m 20 --noproxy '' -o /dev/null -w '%{http_code} %{http_connect}' "$@" 2>/dev/null; }

# raw ADDRESS PORT: connects inside task t without any proxy, says GET, and prints the last line of the answer, or the error.
raw() {
  "$garth" exec t -- python3 -c '
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20); s.sendall(b"GET /word HTTP/1.0\r\n\r\n")
    data = b""
    while piece := s.recv(4096): data += piece
    print(data.decode().strip().split("\n")[-1])
except OSError as e: print(type(e).__name__)' "$1" "$2"
}
