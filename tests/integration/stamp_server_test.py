"""The parts of bench/load_beside_peers.py: the stamping server says what it did, the bare client and ours count what it sent."""
import json
import os
import pathlib
import signal
import subprocess
import unittest
import urllib.request

HYPERLOOM = pathlib.Path(os.environ["HYPERLOOM"])
BENCH = HYPERLOOM.parent / "bench"


class StampServer:
    def __init__(self, *flags):
        self.process = subprocess.Popen([BENCH / "bench_stamp_server", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=30)[0].strip().split("\n")[-1])

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).read().decode()


def events(answer):
    return [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: {")]


class StampServerTest(unittest.TestCase):
    def test_streams_what_was_asked_for(self):
        with StampServer("--ttft-ms", "1", "--interval-ms", "0.1") as server:
            answer = server.post("/v1/chat/completions", {"stream": True, "max_tokens": 7, "messages": []})
            self.assertTrue(answer.endswith("data: [DONE]\n\n"))
            seen = events(answer)
            self.assertEqual([bool(e["choices"]) for e in seen], [True] * 7 + [False])
            self.assertEqual([e["choices"][0]["finish_reason"] for e in seen[:-1]], [None] * 6 + ["length"])
            self.assertEqual(seen[-1]["usage"]["completion_tokens"], 7)
            seen = events(server.post("/v1/completions", {"stream": True, "max_tokens": 3, "prompt": "x"}))
            self.assertEqual([e["choices"][0]["text"] for e in seen[:-1]], [" the", " of", " a"])
            whole = json.loads(server.post("/v1/chat/completions", {"max_completion_tokens": 4, "messages": []}))
            self.assertEqual(whole["choices"][0]["message"]["content"], " the of a in")
            self.assertEqual(json.loads(server.post("/v1/completions", {"max_tokens": 2}))["choices"][0]["text"], " the of")
            said = server.end()
            self.assertEqual((said["requests"], said["tokens"]), (4, 16))

    def test_never_sends_before_its_schedule_and_stamps_every_token(self):
        stamps = HYPERLOOM.parent / "stamps_test.jsonl"
        with StampServer("--ttft-ms", "5", "--interval-ms", "2", "--stamps", stamps) as server:
            server.post("/v1/completions", {"stream": True, "max_tokens": 6})
            self.assertGreaterEqual(server.end()["ttft_ms"]["p50"], 5)
        sent_us = json.loads(stamps.read_text())["sent_us"]
        stamps.unlink()
        self.assertEqual(len(sent_us), 6)
        for token, at in enumerate(sent_us):
            self.assertGreaterEqual(at, 5000 + 2000 * token - 1)

    def test_the_bare_client_counts_every_event(self):
        for flags in (["--ttft-ms", "1", "--interval-ms", "0.05", "--streams", "3"], ["--unpaced"]):
            with StampServer(*flags) as server:
                said = json.loads(subprocess.run([BENCH / "bench_bare_client", str(server.port), "3", "20", "300"], check=True, timeout=60,
                                                 stdout=subprocess.PIPE).stdout)
                self.assertEqual((said["requests"], said["events"]), (20, 20 * (300 + 2)))    # usage and [DONE]
                self.assertEqual(server.end()["tokens"], 20 * 300)

    def test_ours_counts_every_token(self):
        with StampServer("--unpaced") as server:
            said = json.loads(subprocess.run([HYPERLOOM, "bench", "--url", server.url, "--clients", "3", "--requests", "20", "--warmup", "0",
                                              "--output-tokens", "300", "--json"], check=True, timeout=60, stdout=subprocess.PIPE).stdout)["load"]
            self.assertEqual((said["completed"], said["mean_output_tokens"]), (20, 300))
            self.assertEqual(server.end()["requests"] >= 20, True)


if __name__ == "__main__":
    unittest.main()
