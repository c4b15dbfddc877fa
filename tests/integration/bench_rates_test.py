"""bench as a client that knows itself, and its --sweep and --slo, on fake servers. $HYPERLOOM is the binary."""
import json
import re
import signal
import time
import unittest

from commands_test import Commands, Fake


class BadRates(Commands):
    def test_flags(self):
        url = ("bench", "--url", "http://127.0.0.1:9")
        self.refused(*url, "--sweep", "cliens", names=["--sweep `cliens`", "did you mean `clients`"])
        self.refused(*url, "--sweep", "clients:1,4,2", names=["2 does not rise"])
        self.refused(*url, "--sweep", "clients:1,900000000", names=["900000000"])
        self.refused(*url, "--slo", names=["--slo has no limits"])
        self.refused(*url, "--slo", "ttft:p99<soon", names=["--slo `ttft:p99<soon`", "`soon` is no time"])
        self.refused(*url, "--slo", "ttft:p99<1s", "--limit", "e2e:p50:9", names=["--slo and --limit"])
        self.refused(*url, "--slo", "ttft:p99<1s", "--duration", 5, names=["--duration"])
        self.refused(*url, "--slo", "ttft:p99<1s", "--save-result", "r.json", names=["--save-result"])
        self.refused(*url, "--sweep", "--save-result", "r.json", names=["--save-result"])


class ForThoseWhoKnowVllm(Commands):
    def test_the_names_they_know_are_taken(self):
        with Fake() as fake:
            out, _ = self.run_it("bench", "--base-url", fake.url, "--num-prompts", 10, "--max-concurrency", 2, "--num-warmups", 2, "--random-input-len", 8,
                                 "--random-output-len", 4, "--seed", 3, "--header", "X-Key=a", "--goodput", "ttft:60000", "e2el:60000", "--result-filename", "r.json")
        self.assertIn("limit ttft p99 <= 60000 ms", out)
        self.assertIn("limit e2e p99 <= 60000 ms", out)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertGreater(result["request_goodput"], 0)
        self.assertEqual(result["max_concurrency"], 2)

    def test_help_leads_them_over(self):
        out, _ = self.run_it("bench", "--help")
        for words in ("Coming from `vllm bench serve`", "--backend openai-chat", "--save-detailed", "Examples"):
            self.assertIn(words, out)
        same = re.search(r"The same here: (.*?)\. The rest", out, re.DOTALL).group(1)
        for name in re.findall(r"--[a-z-]+", same):
            self.assertGreaterEqual(out.count(name), 2, f"{name} is said to be taken, but is no option")
        self.assertLessEqual(max(len(line) for line in out[out.index("Examples"):].splitlines()), 130)

    def test_all_at_once_is_a_closed_loop(self):
        self.refused("bench", "--url", "http://127.0.0.1:9", "--request-rate", "inf", names=["--rate inf", "--clients N"])


class HonestClient(Commands):
    def test_more_clients_than_files_is_refused_before_anything_is_sent(self):
        with Fake("--log", str(self.folder / "log")) as fake:
            process = self.start("bench", "--url", fake.url, "--clients", 10000, through=["sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"])
            out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 2, err)
        self.assertEqual(out, "")
        self.assertIn("--clients 10000 needs as many connections, but this process may open only 256 files", err)
        self.assertIn("ulimit -n 10256", err)
        self.assertFalse((self.folder / "log").exists() and (self.folder / "log").read_text())

    def test_a_client_that_stood_still_says_so(self):
        """As if the machine had been suspended, or its clock had jumped: the time is seen, and blamed on us."""
        with Fake("--tokens-per-second", "50") as fake:
            process = self.start("bench", "--url", fake.url, "--clients", 2, "--requests", 24, "--prompt-tokens", 8, "--output-tokens", 10)
            self.assertIn(fake.url, process.stderr.readline())
            time.sleep(1)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(out, r"client was the bottleneck: its own timers were up to 1[3-9]\d\d ms late")

    def test_a_name_that_does_not_resolve(self):
        self.refused("bench", "--url", "http://" + 70 * "a" + ".invalid:80", names=["cannot be reached", "resolve"])

    def test_a_server_that_dies_is_failed_not_fast(self):
        with Fake("--tokens-per-second", "100", "--die-after", "40") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--clients", 4, "--requests", 200, "--prompt-tokens", 8, "--output-tokens", 10,
                                 "--json", "--save-requests", "q.jsonl")
        load = json.loads(out)["load"]
        answered = [r for r in map(json.loads, (self.folder / "q.jsonl").read_text().splitlines()) if r["state"] == "completed"]
        self.assertGreater(load["failed"], 0)
        self.assertLessEqual(load["e2e_ms"]["count"], len(answered))      # none of what failed
        self.assertGreaterEqual(load["e2e_ms"]["p50"], 90)
        self.assertLess(load["requests_s"], 41)                           # 4 clients, 10 tokens each at 100 a second


class Rates(Commands):
    def test_a_sweep_finds_the_knee_and_stops_where_nothing_is_gained(self):
        with Fake("--tokens-per-second", "200", "--slots", "2") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--sweep", "--requests", 16, "--prompt-tokens", 16, "--output-tokens", 16,
                                 "--markdown", "sweep.md", "--json")
        result = json.loads(out)
        self.assertEqual(result["knee"]["clients"], 2)
        self.assertIn(result["saturated"]["clients"], (3, 4))      # 3: halfway to the neighbour, measured afterwards
        clients = [point["clients"] for point in result["points"]]
        self.assertEqual(clients, sorted(clients))
        self.assertLess(clients[-1], 32)
        self.assertRegex((self.folder / "sweep.md").read_text(), r"(?m)^\| 2 \|.*\| knee \|$")

    def test_a_sweep_by_rate_of_a_server_that_fails(self):
        with Fake("--die-after", "30") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--sweep", "rate:20,40,80,160", "--requests", 12, "--prompt-tokens", 8, "--output-tokens", 2)
        self.assertRegex(out, r"saturated from [248]0\.?0? requests/s: .*failed")
        self.assertNotIn("     160 ", out)

    def test_the_highest_rate_within_limits(self):
        """Two slots of 100 requests a second each; the limit is so wide that only a queue can miss it."""
        with Fake("--first-token-ms", "10", "--slots", "2") as fake:
            out, err = self.run_it("bench", "--url", fake.url, "--slo", "ttft:p50<150ms", "--requests", 16, "--prompt-tokens", 8, "--output-tokens", 2,
                                   "--markdown", "slo.md", "--json", code=(0, 5))
        result = json.loads(out)
        self.assertEqual(result["limits"], [{"metric": "ttft", "percentile": 50, "max_ms": 150}])
        self.assertEqual(result["runs"][0]["rate_rps"], 0)
        self.assertTrue(result["runs"][0]["met"])
        answer = result["answer"]
        if answer["end"] == "found":      # else a busy machine: it says so
            self.assertLess(answer["meets_rps"], answer["misses_rps"])
        self.assertIn(answer["why"], (self.folder / "slo.md").read_text())
        self.assertIn("one request at a time: met", err)

    def test_limits_that_no_rate_meets(self):
        with Fake("--first-token-ms", "40") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--slo", "ttft:p50<2ms,e2e:p50<60s", "--requests", 4, "--prompt-tokens", 8, "--output-tokens", 2)
        self.assertRegex(out, r"no rate meets ttft p50 <= 2 ms, e2e p50 <= 60000 ms: .*the nearest was ttft p50 [\d.]+ ms of 2, e2e p50")
        self.assertRegex(out, r"(?m)^ +alone +0/8 ")

    def test_a_search_whose_server_dies(self):
        with Fake("--die-after", "60") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--slo", "ttft:p50<30s", "--requests", 16, "--prompt-tokens", 8, "--output-tokens", 2, code=5)
        self.assertIn("the server answers no more", out)


if __name__ == "__main__":
    unittest.main()
