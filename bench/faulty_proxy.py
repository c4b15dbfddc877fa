"""A proxy in front of a completion server that breaks it in one way, for bench/quality_faults.py. Ports of the loopback only.

strip     drops the sampler settings and the length from each request
stale     answers every second request with the text of an earlier one
mixed     in company (another request in flight) every second answer is that of the request before
slip      in company each answer's last word is another
window    of a prompt beyond 2,000 characters only the ends are read
"""
import http.server
import json
import threading
import urllib.error
import urllib.request

SETTINGS = ("temperature", "seed", "stop", "max_tokens", "top_p", "top_k")
LONG, HEAD, TAIL = 2000, 400, 800


def windowed(text):
    return text if len(text) <= LONG else text[:HEAD] + text[-TAIL:]


def slipped(answer):
    for choice in answer["choices"]:
        place, key = (choice["message"], "content") if "message" in choice else (choice, "text")
        words = place[key].rstrip().rsplit(" ", 1)
        place[key] = words[0] + " indeed" if len(words) == 2 and words[0].strip() else place[key] + " indeed"
    return answer


def serve(upstream, fault):
    """Starts on a free port; the caller ends it with shutdown()."""
    lock = threading.Lock()
    state = {"count": 0, "flying": 0, "first": {}, "last": {}}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def ask(self, body):
            request = urllib.request.Request(upstream + self.path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=300) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()

        def broken(self, body):
            with lock:
                state["count"] += 1
                even, company = state["count"] % 2 == 0, state["flying"] > 1
                old = state["first"].get(self.path) if fault == "stale" else state["last"].get(self.path) if fault == "mixed" and company else None
            if even and old:
                return 200, old
            if fault == "strip":
                for name in SETTINGS:
                    body.pop(name, None)
            if fault == "window" and isinstance(body.get("prompt"), str):
                body["prompt"] = windowed(body["prompt"])
            status, data = self.ask(body)
            if status == 200:
                with lock:
                    company = company or state["flying"] > 1
                    state["first"].setdefault(self.path, data)
                    state["last"][self.path] = data
                if fault == "slip" and company:
                    data = json.dumps(slipped(json.loads(data))).encode()
            return status, data

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state["flying"] += 1
            try:
                status, data = self.broken(body)
            finally:
                with lock:
                    state["flying"] -= 1
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
