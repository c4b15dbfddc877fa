"""The real program on every kind of bad input, on servers that are fakes, and on nothing. $HYPERLOOM is the binary."""
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("HYPERLOOM_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("HYPERLOOM", "")
FAKE = [sys.executable, str(SOURCE / "tests" / "fakes" / "fake_openai.py")]


class Fake:
    """A server on a free port that goes with the `with` block."""

    def __init__(self, *options):
        self.process = subprocess.Popen([*FAKE, *options], stdout=subprocess.PIPE, text=True)
        self.url = "http://127.0.0.1:" + self.process.stdout.readline().split()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@unittest.skipUnless(BINARY, "HYPERLOOM is not set")
class Commands(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = dict(os.environ, HYPERLOOM_CACHE=str(self.folder / "cache"), HYPERLOOM_DATA=str(self.folder / "data"),
                                HYPERLOOM_ENGINES=str(SOURCE / "engines"), CI="1")

    def start(self, *arguments, through=()):
        return subprocess.Popen([*through, BINARY, *map(str, arguments)], env=self.environment, cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_it(self, *arguments, code=0):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, code if isinstance(code, tuple) else (code,), f"{arguments}\n{out}\n{err}")
        return out, err

    def refused(self, *arguments, names=()):
        """Exit code 2; the message names what is wrong and says how to mend it; nothing on stdout."""
        out, err = self.run_it(*arguments, code=2)
        for name in names:
            self.assertIn(name, err)
        self.assertIn("mend:", err)
        self.assertNotIn("internal", err)
        self.assertEqual(out, "")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def workload(self, **changes):
        fields = {"schema": "1", "model": "{path: model.gguf}", "traffic": "{kind: closed, clients: 2, prompt_tokens: {mean: 8}, output_tokens: {mean: 4}}",
                  "budget": "{time_s: 600}", **changes}
        self.write("model.gguf", "GGUF")
        return self.write("workload.yaml", "".join(f"{key}: {value}\n" for key, value in fields.items()))


class Help(Commands):
    def test_version(self):
        out, _ = self.run_it("--version")
        self.assertRegex(out, r"\d+\.\d+\.\d+")

    def test_help_names_every_command(self):
        out, _ = self.run_it("--help")
        for command in "demo run resume status stop report init recipes bench compare doctor".split():
            self.assertRegex(out, rf"(?m)^ +{command}\b")

    def test_each_command_has_help(self):
        for command in "demo run resume status stop report init recipes bench compare doctor".split():
            out, _ = self.run_it(command, "--help")
            self.assertIn("--help", out)

    def test_unknown_words_are_refused(self):
        for words in ((), ("nonsense",), ("bench", "--nonsense"), ("bench", "--clients", "many"), ("compare", "a")):
            out, err = self.run_it(*words, code=2)
            self.assertNotEqual(out + err, "")


class Nothing(Commands):
    def test_commands_on_no_session(self):
        for command in ("status", "report", "resume", "stop"):
            self.refused(command, names=["no session yet"])
            self.refused(command, "20260101-x", names=["no session `20260101-x`"])

    def test_no_recipes(self):
        self.run_it("recipes", "list")

    def test_what_only_reading_the_recipes_shows_is_told(self):
        (self.folder / "data").mkdir()
        columns = ("model hardware framework model_type architecture framework_version build_hash precision workload_class model_name "
                   "session").split()
        with sqlite3.connect(self.folder / "data" / "recipes.db") as db:
            db.execute(f"CREATE TABLE recipes (key_id TEXT PRIMARY KEY, {', '.join(c + ' TEXT' for c in columns)}, speedup REAL, low REAL, "
                       "high REAL, sha256 TEXT)")
            db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, key_id TEXT, content TEXT, sha256 TEXT)")
            db.execute(f"INSERT INTO recipes VALUES ('abcdabcdabcd', {', '.join('?' * len(columns))}, 9, 8, 10, 'x')", columns)
            db.execute(f"PRAGMA application_id = {0x484c5231}")
            db.execute("PRAGMA user_version = 1")
        db.close()
        out, err = self.run_it("recipes", "list")
        self.assertIn("no recipes yet", out)
        self.assertIn("note: recipe abcdabcdabcd was edited by another hand", err)

    def test_doctor_looks(self):
        process = self.start("doctor")
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 1), err)
        self.assertEqual(process.returncode == 1, "MISSING" in out)
        for line in ("CPU", "memory", "C++ compiler", "cmake", "perf", "cache", "recipes", "packs"):
            self.assertRegex(out, rf"(?m)^(ok|missing|MISSING) +{re.escape(line)} ")
        self.assertFalse((self.folder / "data").exists(), "doctor only looks")

    def test_doctor_without_packs(self):
        self.environment["HYPERLOOM_ENGINES"] = str(self.folder)
        out, _ = self.run_it("doctor", code=1)
        self.assertRegex(out, r"(?m)^MISSING +packs ")
        self.assertIn("HYPERLOOM_ENGINES", out)


class BadWorkloads(Commands):
    def test_missing_file(self):
        self.refused("run", "nowhere.yaml", names=["nowhere.yaml"])
        self.refused("bench", "--workload", "nowhere.yaml", names=["nowhere.yaml"])
        self.refused("doctor", "--noise", "--workload", "nowhere.yaml", names=["nowhere.yaml"])

    def test_unknown_key(self):
        self.refused("run", self.workload(modle="{path: x}"), names=["workload.yaml:", "modle", "did you mean `model`"])

    def test_zero_budget(self):
        self.refused("run", self.workload(budget="{time_s: 0}"), names=["workload.yaml:", "time_s"])
        for minutes in ("0", "-1", "inf", "nan"):
            self.refused("demo", f"--minutes={minutes}", names=[f"--minutes {minutes} is no budget"])

    def test_zero_clients(self):
        self.refused("run", self.workload(traffic="{kind: closed, clients: 0, prompt_tokens: {mean: 8}, output_tokens: {mean: 4}}"), names=["clients"])

    def test_unknown_pack(self):
        workload = self.workload(engine="{pack: custon}")
        self.refused("bench", "--workload", workload, names=["custon", "did you mean `custom`"])
        self.refused("run", workload, "--session", "s", names=["custon", "did you mean `custom`"])
        self.assertFalse((self.folder / "s").exists(), "no empty session")

    def test_what_a_build_would_find_too_late(self):
        """Within seconds, by every command that takes a workload, and before there is a session or a cache."""
        self.write("cut.jsonl", '{"prompt": "a"}\n{"prompt": "b')
        dataset = "{kind: closed, clients: 2, dataset: cut.jsonl, output_tokens: {mean: 4}}"
        for changes, says in (({"traffic": dataset}, "cut.jsonl:2 (byte 16): this last line is cut short"),
                              ({"engine": "{argv: [--port, 8080]}"}, "workload.yaml: engine.argv: --port 8080")):
            for command in (["run"], ["bench", "--workload"], ["doctor", "--noise", "--workload"]):
                self.refused(*command, self.workload(**changes), names=[says])
        self.assertFalse((self.folder / "data").exists() or (self.folder / "cache").exists())

    def test_a_session_folder_with_a_slash_has_a_name(self):
        self.run_it("run", self.workload(), "--session", "out/", code=2)     # that model is none
        out, _ = self.run_it("status", "out/", "--json")
        self.assertEqual(json.loads(out)["session"], "out")

    def test_broken_yaml(self):
        self.refused("run", self.write("broken.yaml", "schema: 1\nmodel: {path: [\n"), names=["broken.yaml"])

    def test_model_that_is_none(self):
        self.refused("init", "--model", self.write("text.gguf", "this is no model"), "--out", "w.yaml", names=["text.gguf"])
        self.refused("init", "--model", "nowhere.gguf", "--out", "w.yaml", names=["nowhere.gguf"])
        self.assertFalse((self.folder / "w.yaml").exists())

    def test_init_overwrites_nothing(self):
        self.refused("init", "--out", self.write("mine.yaml", "dear to me"), names=["mine.yaml"])
        self.assertEqual((self.folder / "mine.yaml").read_text(), "dear to me")


class BadBench(Commands):
    def test_flags(self):
        url = ("bench", "--url", "http://127.0.0.1:9")
        self.refused("bench", names=["bench needs a server"])
        self.refused(*url, "--workload", self.workload(), names=["--workload"])
        self.refused("bench", "--url", "127.0.0.1:9", names=["127.0.0.1:9"])
        self.refused(*url, "--clients", 0, names=["--clients 0"])
        self.refused(*url, "--requests", 0, names=["--requests 0"])
        self.refused(*url, "--prompt-tokens", 0, names=["--prompt-tokens"])
        self.refused(*url, "--api", "chats", names=["did you mean `chat`"])
        self.refused(*url, "--limit", "ttft:95:500", names=["ttft:95:500"])
        self.refused(*url, "--header", "no-colon", names=["no-colon"])
        self.refused(*url, "--save-result", "no/such/folder.json", names=["no/such"])
        _, err = self.run_it(*url, "--rate", 2, "--trace", "t.jsonl", code=2)
        self.assertIn("excludes", err)

    def test_nobody_listens(self):
        with Fake() as fake:
            url = fake.url
        self.refused("bench", "--url", url, "--save-result", "r.json", names=["cannot be reached"])
        self.assertFalse((self.folder / "r.json").exists(), "no half result")

    def test_a_server_that_refuses(self):
        with Fake("--status", "404") as fake:
            self.refused("bench", "--url", fake.url, names=["does not answer", "404"])
        with Fake("--error-after", "2") as fake:
            self.refused("bench", "--url", fake.url, names=["does not answer"])

    def test_datasets(self):
        url = ("bench", "--url", "http://127.0.0.1:9", "--dataset")
        self.refused(*url, "nowhere.txt", names=["--dataset", "nowhere.txt", "No such file"])
        self.refused(*url, self.write("empty.txt", "\n\n"), names=["empty.txt"])
        self.refused(*url, self.write("broken.jsonl", '{"prompt": "a"}\n{"prompt": \n'), names=["broken.jsonl"])
        self.refused(*url, self.write("cut.json", '[{"conversations": [{"from": "human", "va'), names=["cut.json"])
        folder = self.folder / "folder"
        folder.mkdir()
        self.refused(*url, folder, names=["folder"])


class BadCompare(Commands):
    def test_flags(self):
        both = ("compare", "a {port}", "b {port}")
        self.refused("compare", "http://127.0.0.1:9", "b {port}", names=["A is a URL and B a command"])
        self.refused("compare", "server --port 8080", "b {port}", names=["A has no {port}"])
        self.refused("compare", "a 'open {port}", "b {port}", names=["open '"])
        self.refused(*both, "--max-pairs", 17, names=["--max-pairs 17"])
        self.refused(*both, "--alpha", 0, names=["--alpha"])
        self.refused(*both, "--least-gain", 1, names=["--least-gain"])
        self.refused(*both, "--clients", 0, names=["--clients 0"])

    def test_a_program_that_is_not_there_or_no_server(self):
        self.refused("compare", "no-such-program-x {port}", "true {port}", names=["A does not run", "no-such-program-x"])
        self.refused("compare", "false {port}", "true {port}", names=["A does not run", "exit code 1"])

    def test_nobody_listens(self):
        with Fake() as fake:
            url = fake.url
        self.refused("compare", url, url, names=["cannot be reached"])


BRIEF = ("--clients", 2, "--prompt-tokens", 16, "--output-tokens", 16)


class Measuring(Commands):
    def test_bench(self):
        with Fake("--tokens-per-second", "400") as fake:
            out, err = self.run_it("bench", "--url", fake.url, *BRIEF, "--requests", 12, "--limit", "e2e:p50:60000", "--save-result", "r.json",
                                   "--save-requests", "q.jsonl")
        self.assertRegex(out, r"\d+ completed, 0 failed")
        self.assertRegex(out, r"limit e2e p50 <= 60000 ms: [\d.]+ ms, met")
        self.assertIn("too few samples for e2e p99", out)
        self.assertIn("fake-model", err)          # the server's own name for its model was asked for and sent
        self.assertNotIn("\r", err)
        completed = json.loads((self.folder / "r.json").read_text())["completed"]     # those sent inside the window
        self.assertIn(completed, range(8, 14))
        lines = (self.folder / "q.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 13)
        self.assertEqual({json.loads(line)["state"] for line in lines}, {"completed"})

    def test_bench_json_of_an_open_loop(self):
        with Fake() as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--rate", 20, "--requests", 10, "--prompt-tokens", 8, "--output-tokens", 4, "--json")
        result = json.loads(out)
        self.assertEqual(result["load"]["completed"], 10)
        self.assertEqual(result["rate_rps"], 20)
        self.assertFalse(result["interrupted"])

    def test_the_prompt_length_asked_for_is_the_servers_own_count(self):
        with Fake() as fake:
            out, _ = self.run_it("bench", "--url", fake.url, "--clients", 1, "--requests", 4, "--prompt-tokens", 200, "--output-tokens", 2,
                                 "--save-requests", "q.jsonl", "--json")
        for line in (self.folder / "q.jsonl").read_text().splitlines():
            self.assertAlmostEqual(json.loads(line)["prompt_tokens"], 200, delta=20)

    def test_a_dataset(self):
        with Fake() as fake:
            self.run_it("bench", "--url", fake.url, "--clients", 1, "--requests", 3, "--output-tokens", 2, "--dataset", self.write("p.txt", "one\ntwo\nthree\n"))

    def test_bench_interrupted(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            with Fake("--tokens-per-second", "50") as fake:
                process = self.start("bench", "--url", fake.url, *BRIEF, "--requests", 5000)
                self.assertIn(fake.url, process.stderr.readline())     # "asking ..." or what runs: both come before the load
                time.sleep(1.5)
                process.send_signal(number)
                out, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 4, err)
            self.assertIn("stopped", err)

    def test_nohup_holds(self):
        with Fake("--tokens-per-second", "50") as fake:
            process = self.start("bench", "--url", fake.url, *BRIEF, "--requests", 5000, through=["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"])
            self.assertIn(fake.url, process.stderr.readline())
            process.send_signal(signal.SIGHUP)
            time.sleep(1)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        self.assertEqual(process.returncode, 4)

    def test_a_server_that_dies_half_way(self):
        with Fake("--die-after", "8") as fake:
            out, _ = self.run_it("bench", "--url", fake.url, *BRIEF, "--requests", 200)
        self.assertRegex(out, r"[1-9]\d* failed")
        self.assertIn("gave up early", out)

    def test_two_urls_are_only_estimated(self):
        with Fake("--tokens-per-second", "40") as a, Fake("--tokens-per-second", "400") as b:
            out, _ = self.run_it("compare", a.url, b.url, *BRIEF, "--requests", 6, "--max-pairs", 3)
        ratio = re.search(r"B/A ([\d.]+) \[", out)
        self.assertGreater(float(ratio.group(1)), 1.2)
        self.assertIn("no verdict", out)
        self.assertNotIn("faster", out)

    def command(self, *options):
        return " ".join(f"'{word}'" for word in FAKE) + " --port {port} " + " ".join(options)

    def test_two_commands_are_decided(self):
        """On a machine with other load the honest answer is that nothing can be said: then it must say what was seen."""
        process = self.start("compare", self.command("--tokens-per-second", "60"), self.command("--tokens-per-second", "300"), *BRIEF,
                             "--requests", 12, "--json")
        out, err = process.communicate(timeout=120)
        result = json.loads(out)
        if process.returncode == 5:
            self.assertEqual(result["verdict"], "unresolvable")
            self.assertIn("did not get quiet", result["why"], err)
            self.assertRegex(err, r"(?m)^void: ")
            return
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(result["verdict"], "faster")
        self.assertGreater(result["ratio"]["low"], 1.2)
        self.assertGreaterEqual(len(result["pairs"]), 3)

    def test_what_the_noise_hides_is_unresolvable(self):
        """Boots that differ by half, three pairs: B is A, and nothing smaller than that can be told. Exit code 5 says so to scripts."""
        same = self.command("--tokens-per-second", "200", "--boot-spread", "0.5")
        process = self.start("compare", same, same, *BRIEF, "--requests", 6, "--max-pairs", 3, "--json")
        out, err = process.communicate(timeout=120)
        result = json.loads(out)
        self.assertIn(result["verdict"], ("unresolvable", "not_useful"), err)    # the luck of three pairs may say "slower"
        self.assertEqual(process.returncode, 5 if result["verdict"] == "unresolvable" else 0, err)

    def test_b_that_does_not_run(self):
        out, _ = self.run_it("compare", self.command(), self.command("--no-such-flag"), *BRIEF, "--requests", 4)
        self.assertIn("B does not run", out)
        self.assertIn("--no-such-flag", out)
        out, _ = self.run_it("compare", self.command(), "no-such-program-x {port}", *BRIEF, "--requests", 4, "--json")
        self.assertEqual(json.loads(out)["verdict"], "b_does_not_run")


if __name__ == "__main__":
    unittest.main()
