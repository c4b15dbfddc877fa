"""A proxy in front of a completion server that breaks it in one way, for bench/quality_faults.py. Ports of the loopback only.

strip     drops the sampler settings and the length from each request
no_end    suppresses end-of-text (ignore_eos)
stale     answers every second request with the text of an earlier one
"""
import http.server
import json
import threading
import urllib.error
import urllib.request

SETTINGS = ("temperature", "seed", "stop", "max_tokens", "top_p", "top_k")


def serve(upstream, fault):
    """Starts on a free port; the caller ends it with shutdown()."""
    lock = threading.Lock()
    old, count = [], [0]

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                count[0] += 1
                stale = old[0] if fault == "stale" and old and count[0] % 2 == 0 else None
            if stale is None:
                if fault == "strip":
                    for name in SETTINGS:
                        body.pop(name, None)
                if fault == "no_end":
                    body["ignore_eos"] = True
                request = urllib.request.Request(upstream + self.path, json.dumps(body).encode(), {"Content-Type": "application/json"})
                try:
                    with urllib.request.urlopen(request, timeout=300) as answer:
                        status, data = answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    status, data = error.code, error.read()
                with lock:
                    if status == 200:
                        old.append(data)
            else:
                status, data = 200, stale
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
