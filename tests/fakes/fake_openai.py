#!/usr/bin/env python3
"""A small OpenAI-compatible server that can misbehave. Standard library only.

Prints "ready PORT" on standard output once it listens. Answers are a function of the prompt alone, so the same request
gets the same text. Routes: /health, /v1/models, /props, /metrics, /tokenize, /v1/completions, /v1/chat/completions.
"""
import argparse
import contextlib
import json
import random
import socket
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = ("river stone early bright under carry seven window gentle north apple quiet machine paper "
         "morning travel copper listen forest number").split()


class State:
    """Counters that all request threads share."""

    def __init__(self, slots):
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(slots) if slots else contextlib.nullcontext()
        self.requests = self.active = self.most_active = self.health_checks = 0
        self.prompt_tokens = self.output_tokens = 0


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=0, help="0 = any free port")
    p.add_argument("--model", default="fake-model")
    p.add_argument("--tokens-per-second", type=float, default=0, help="of one request; 0 = at once")
    p.add_argument("--boot-spread", type=float, default=0, help="each boot is up to this share faster or slower")
    p.add_argument("--first-token-ms", type=float, default=0)
    p.add_argument("--cold-requests", type=int, default=0, help="the first N answers take --cold-ms longer")
    p.add_argument("--cold-ms", type=float, default=0)
    p.add_argument("--tokens-per-chunk", type=int, default=1)
    p.add_argument("--chunk-usage", action="store_true", help="cumulative usage in every event")
    p.add_argument("--no-usage", action="store_true")
    p.add_argument("--no-stream", action="store_true", help="one plain JSON body even when asked to stream")
    p.add_argument("--no-done", action="store_true", help="leave out [DONE]")
    p.add_argument("--reasoning", type=int, default=0, help="the first N tokens are reasoning_content")
    p.add_argument("--text", default="", help="say this word for ever")
    p.add_argument("--stop-after", type=int, default=0, help="natural end after N tokens unless ignore_eos")
    p.add_argument("--ignore-eos-ignored", action="store_true", help="as a server that does not know ignore_eos")
    p.add_argument("--error-after", type=int, default=-1, help="error event after N tokens")
    p.add_argument("--drop-after", type=int, default=-1, help="reset the connection after N tokens")
    p.add_argument("--cut-after", type=int, default=-1, help="clean end without finish after N tokens")
    p.add_argument("--stall-after", type=int, default=-1, help="fall silent after N tokens")
    p.add_argument("--slots", type=int, default=0, help="so many answers at a time, the rest wait; 0 = all at once")
    p.add_argument("--hang", action="store_true", help="take requests and never answer")
    p.add_argument("--status", type=int, default=200, help="answer completions with this HTTP status")
    p.add_argument("--fail-first", type=int, default=0, help="HTTP 500 for the first N completions")
    p.add_argument("--die-after", type=int, default=0, help="exit with code 1 at the Nth completion")
    p.add_argument("--loading-checks", type=int, default=0, help="/health is 503 the first N times")
    p.add_argument("--log", default="", help="append one JSON line per completion request")
    arguments = p.parse_args()
    arguments.tokens_per_second *= random.uniform(1 - arguments.boot_spread, 1 + arguments.boot_spread)
    return arguments


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # ---- plumbing
    def send_json(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_bytes(data, "application/json", status)

    def send_bytes(self, data, content_type, status=200):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def start_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def send_event(self, body):
        self.send_chunk(b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n")

    def reset_connection(self):
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"   # on, 0 s: close sends RST
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    # ---- routes
    def do_GET(self):
        a, s = self.server.options, self.server.state
        if self.path == "/health":
            with s.lock:
                s.health_checks += 1
                loading = s.health_checks <= a.loading_checks
            if loading:
                return self.send_json({"error": {"message": "Loading model", "code": 503}}, 503)
            return self.send_json({"status": "ok"})
        if self.path in ("/v1/models", "/models"):
            return self.send_json({"object": "list", "data": [{"id": a.model, "object": "model"}]})
        if self.path == "/props":
            return self.send_json({"model_path": a.model, "total_slots": 8,
                                   "default_generation_settings": {"n_ctx": 4096}})
        if self.path == "/metrics":
            text = ("# TYPE llamacpp:prompt_tokens_total counter\n"
                    f"llamacpp:prompt_tokens_total {s.prompt_tokens}\n"
                    "# TYPE llamacpp:tokens_predicted_total counter\n"
                    f"llamacpp:tokens_predicted_total {s.output_tokens}\n"
                    "# TYPE llamacpp:requests_processing gauge\n"
                    f"llamacpp:requests_processing {s.active}\n"
                    "# TYPE fake:most_active gauge\n"
                    f"fake:most_active {s.most_active}\n")
            return self.send_bytes(text.encode(), "text/plain; version=0.0.4")
        return self.send_json({"error": {"message": "not found", "code": 404}}, 404)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return self.send_json({"error": {"message": "body is no JSON", "code": 400}}, 400)
        if self.path == "/tokenize":
            return self.send_json({"tokens": [zlib.crc32(w.encode()) & 0xffff for w in body.get("content", "").split()]})
        if self.path in ("/v1/chat/completions", "/v1/completions"):
            return self.complete(body, self.path.endswith("chat/completions"))
        return self.send_json({"error": {"message": "not found", "code": 404}}, 404)

    def complete(self, body, chat):
        a, s = self.server.options, self.server.state
        with s.lock:
            s.requests += 1
            number = s.requests
            s.active += 1
            s.most_active = max(s.most_active, s.active)
            if a.log:
                with open(a.log, "a") as f:
                    f.write(json.dumps({"n": number, "path": self.path, "active": s.active,
                                        "authorization": self.headers.get("Authorization", ""), "body": body}) + "\n")
        try:
            with s.slots:
                self.answer(body, chat, number)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with s.lock:
                s.active -= 1

    def answer(self, body, chat, number):
        a, s = self.server.options, self.server.state
        if a.die_after and number >= a.die_after:
            print("fake: dying as told", file=sys.stderr, flush=True)
            import os
            os._exit(1)
        if a.status != 200 or number <= a.fail_first:
            return self.send_json({"error": {"message": "told to fail", "type": "fake"}},
                                  a.status if a.status != 200 else 500)
        if a.hang:
            self.server.never.wait()
            return None
        prompt = "\n".join(str(m.get("content", "")) for m in body.get("messages", [])) if chat else str(
            body.get("prompt", ""))
        prompt_tokens = len(prompt.split())
        total = int(body.get("max_tokens", 16))
        finish = "length"
        if a.stop_after and a.stop_after < total and (a.ignore_eos_ignored or not body.get("ignore_eos")):
            total, finish = a.stop_after, "stop"
        start = zlib.crc32(prompt.encode())
        word = (lambda i: " " + a.text) if a.text else (lambda i: " " + WORDS[(start + i * i + i // 7) % len(WORDS)])
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": total, "total_tokens": prompt_tokens + total}
        wait = a.first_token_ms / 1e3 + (a.cold_ms / 1e3 if number <= a.cold_requests else 0)
        if wait > 0:
            time.sleep(wait)
        if a.no_stream or not body.get("stream"):
            text = "".join(word(i) for i in range(total))
            choice = {"index": 0, "finish_reason": finish}
            choice.update({"message": {"role": "assistant", "content": text}} if chat else {"text": text})
            answer = {"id": f"r-{number}", "model": a.model, "choices": [choice]}
            if not a.no_usage:
                answer["usage"] = usage
            self.count(prompt_tokens, total)
            return self.send_json(answer)
        return self.stream(chat, number, word, total, finish, prompt_tokens,
                           usage if body.get("stream_options", {}).get("include_usage") and not a.no_usage else None)

    def count(self, prompt_tokens, output_tokens):
        with self.server.state.lock:
            self.server.state.prompt_tokens += prompt_tokens
            self.server.state.output_tokens += output_tokens

    def stream(self, chat, number, word, total, finish, prompt_tokens, usage):
        a = self.server.options
        head = {"id": f"r-{number}", "object": "chat.completion.chunk" if chat else "text_completion",
                "model": a.model}

        def event(text, reason=None, said=None):
            if not chat:
                choice = {"index": 0, "text": text, "finish_reason": reason}
            else:
                delta = {} if reason else {"content": text}
                if said is not None and said < a.reasoning:
                    delta = {"content": None, "reasoning_content": text}
                choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return dict(head, choices=[choice])

        self.start_stream()
        if chat:
            self.send_event(dict(head, choices=[{"index": 0, "finish_reason": None,
                                                 "delta": {"role": "assistant", "content": ""}}]))
        began = time.monotonic()
        said = 0
        while True:
            if 0 <= a.error_after <= said:
                self.send_event({"error": {"message": "worker lost", "type": "InternalServerError", "code": 500}})
                break
            if 0 <= a.drop_after <= said:
                return self.reset_connection()
            if 0 <= a.cut_after <= said:
                return self.send_chunk(b"")
            if 0 <= a.stall_after <= said:
                self.server.never.wait()
            if said >= total:
                self.send_event(event("", finish))
                if usage:
                    self.send_event(dict(head, choices=[], usage=usage))
                break
            count = min(max(1, a.tokens_per_chunk), total - said)
            body = event("".join(word(i) for i in range(said, said + count)), None, said)
            said += count
            if a.chunk_usage and usage:
                body["usage"] = dict(usage, completion_tokens=said, total_tokens=prompt_tokens + said)
            if a.tokens_per_second > 0:
                time.sleep(max(0.0, began + said / a.tokens_per_second - time.monotonic()))
            self.send_event(body)
        self.count(prompt_tokens, said)
        if not a.no_done:
            self.send_event(b"[DONE]")
        return self.send_chunk(b"")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass   # a client that goes away is part of the game


def main():
    options = parse_arguments()
    server = Server((options.host, options.port), Handler)
    server.options, server.state, server.never = options, State(options.slots), threading.Event()
    print("ready", server.server_address[1], flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
