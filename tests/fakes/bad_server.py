#!/usr/bin/env python3
"""Stand-in inference servers that misbehave in one way each: bad_server.py MODE --port N [--np N]. Stdlib only.

good          serves; GET /props tells total_slots; --np N is obeyed
ignores-np    serves, but total_slots stays 4
sigill        dies of an illegal instruction while loading
no-library    the dynamic linker's words, exit code 127
oom           out-of-memory words, exit code 1
port-in-use   says that the address is taken, exit code 1
silent        never listens
loading       health 200, completions 503 for ever
empty         completions answer 200 without any text
models-first  models 200, health 503, then health 200 with completions 503, then ready (case c04); writes each step
refuses       completions always 400
hang-term     serves and ignores SIGTERM
grandchild    serves; a grandchild in its own session ignores SIGTERM (its pid goes to the log)
dies-serving  serves its first completion, dies of SIGSEGV on the second
wrapper       serves from a child process, as engines with workers do
"""
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


MODE = sys.argv[1]
PORT = int(option("--port", "0"))
SLOTS = 4 if MODE == "ignores-np" else int(option("--np", "4"))
completions = 0
requests = 0


def die(signal_number):
    os.kill(os.getpid(), signal_number)
    time.sleep(60)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        global requests
        requests += 1
        if self.path == "/health":
            loading = MODE == "models-first" and requests < 6
            return self.answer(503 if loading else 200, {"status": "loading model" if loading else "ok"})
        if self.path == "/v1/models":
            return self.answer(200, {"object": "list", "data": [{"id": "bad-model"}]})
        if self.path == "/props":
            return self.answer(200, {"total_slots": SLOTS})
        if self.path == "/metrics":
            return self.answer(200, b'fake_tokens_total{a="x"} 7\nfake_tokens_total{a="y"} 5\nfake_ratio NaN\n')
        return self.answer(404, {"error": "no such path"})

    def do_POST(self):
        global completions
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        completions += 1
        if MODE == "loading" or (MODE == "models-first" and completions < 4):
            return self.answer(503, {"error": {"message": "model is not loaded"}})
        if MODE == "refuses":
            return self.answer(400, {"error": {"message": "no chat here"}})
        if MODE == "dies-serving" and completions > 1:
            die(signal.SIGSEGV)
        text = "" if MODE == "empty" else "Paris."
        print("ready after %d completions" % completions, flush=True)
        self.answer(200, {"choices": [{"index": 0, "text": text, "message": {"role": "assistant", "content": text}}],
                          "usage": {"prompt_tokens": 5, "completion_tokens": 2}})

    def log_message(self, *args):
        pass


def main():
    print("INFO bad_server %s loading" % MODE, flush=True)
    if MODE == "sigill":
        die(signal.SIGILL)
    if MODE == "no-library":
        print("bad-server: error while loading shared libraries: libdemo.so.1: cannot open shared object file: "
              "No such file or directory", flush=True)
        sys.exit(127)
    if MODE == "oom":
        print("ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", flush=True)
        sys.exit(1)
    if MODE == "port-in-use":
        print("[Errno 98] error while attempting to bind on address ('127.0.0.1', %d): address already in use" % PORT,
              flush=True)
        sys.exit(1)
    if MODE == "silent":
        time.sleep(600)
    if MODE == "hang-term":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "grandchild":
        child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, "
                                  "signal.SIG_IGN); print('up', flush=True); time.sleep(600)"],
                                 start_new_session=True, stdout=subprocess.PIPE)
        child.stdout.readline()
        print("grandchild %d" % child.pid, flush=True)
    if MODE == "wrapper":
        sys.exit(subprocess.call([sys.executable, sys.argv[0], "good"] + sys.argv[2:]))
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()


main()
