"""What `hyperloom bench` sends, seen from the server: arrivals, replays. $HYPERLOOM is the binary."""
import json
import os
import unittest

from commands_test import Commands, Fake

BRIEF = ("--prompt-tokens", 8, "--output-tokens", 4)


class Traffic(Commands):
    def bench(self, fake, *arguments):
        out, _ = self.run_it("bench", "--url", fake.url, *arguments, "--json", "--save-requests", "q.jsonl")
        records = [json.loads(line) for line in (self.folder / "q.jsonl").read_text().splitlines()]
        return json.loads(out), records

    def sent(self):
        """Bodies of the measured requests, without the one that only asks whether anybody answers."""
        return [json.loads(line)["body"] for line in (self.folder / "log").read_text().splitlines()][1:]

    def fake(self, *options):
        return Fake("--log", str(self.folder / "log"), *options)

    def test_even_arrivals(self):
        with self.fake() as fake:
            result, records = self.bench(fake, "--rate", 50, "--arrival", "constant", "--requests", 6, *BRIEF)
        gaps = [b["intended_s"] - a["intended_s"] for a, b in zip(records, records[1:])]
        for gap in gaps:
            self.assertAlmostEqual(gap, 0.02, places=6)
        self.assertEqual(result["arrival"], "50 requests/s, evenly spaced")

    def test_a_ramp_under_a_bound(self):
        with self.fake() as fake:
            result, records = self.bench(fake, "--ramp-up-strategy", "linear", "--ramp-up-start-rps", 10, "--ramp-up-end-rps", 100, "--arrival", "constant",
                                         "--max-concurrency", 2, "--requests", 11, *BRIEF)
        self.assertEqual(result["load"]["completed"], 11)
        gaps = [b["intended_s"] - a["intended_s"] for a, b in zip(records, records[1:])]
        for i, gap in enumerate(gaps):
            self.assertAlmostEqual(gap, 1 / (10 + 9 * (i + 1)), places=6)
        self.assertLessEqual(max(json.loads(line)["active"] for line in (self.folder / "log").read_text().splitlines()), 2)

    def test_a_replay(self):
        trace = self.write("t.jsonl", '{"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [1, 2]}\n'
                                      '{"timestamp": 200, "input_length": 520, "output_length": 5, "hash_ids": [1, 3]}\n'
                                      '{"timestamp": 200, "input_length": 30, "output_length": 7}\n')
        with self.fake() as fake:
            result, records = self.bench(fake, "--trace", trace, "--speed", 4)
        self.assertEqual(result["load"]["completed"], 3)
        self.assertAlmostEqual(records[1]["intended_s"] - records[0]["intended_s"], 0.05, places=6)
        self.assertEqual(records[1]["intended_s"], records[2]["intended_s"])
        bodies = {body["max_tokens"]: body["messages"][0]["content"] for body in self.sent()}
        self.assertEqual(sorted(bodies), [3, 5, 7])
        words = {tokens: len(text.split()) for tokens, text in bodies.items()}
        for tokens, wanted in ((3, 600), (5, 520), (7, 30)):
            self.assertAlmostEqual(words[tokens], wanted, delta=2)     # by the server's own count: a token a word
        self.assertGreater(len(os.path.commonprefix([bodies[3], bodies[5]]).split()), 500)
        self.assertAlmostEqual(result["load"]["shared_prompt_share"], 512 / 1150, delta=0.01)
        self.assertEqual(result["replay"]["speed"], 4)

    def test_conversations_carry_the_servers_own_answers(self):
        with self.fake() as fake:
            result, records = self.bench(fake, "--turns", 3, "--think-time", 0.05, "--clients", 2, "--warmup", 0, "--requests", 6, *BRIEF)
        self.assertEqual([record["turn"] for record in records], [1, 2, 3, 1, 2, 3])
        said = {record["id"]: record["text"] for record in records}
        longest = sorted((body["messages"] for body in self.sent()), key=len)[-2:]
        self.assertEqual([[message["role"] for message in messages] for messages in longest], [["user", "assistant"] * 2 + ["user"]] * 2)
        self.assertEqual(sorted(messages[1]["content"] for messages in longest), sorted((said[0], said[3])))
        self.assertAlmostEqual(records[1]["intended_s"] - records[0]["end_s"], 0.05, places=6)
        self.assertIn("conversations of 3 turns", result["arrival"])
        self.assertGreater(result["load"]["shared_prompt_share"], 0.4)

    def test_a_cut_dataset_is_noticed(self):
        cut = self.write("cut.json", '[{"conversations": [{"from": "human", "value": "first"}, {"from": "gpt", "value": "a"}]}, {"conversations": [{"from": "hu')
        with self.fake() as fake:
            result, _ = self.bench(fake, "--dataset", cut, "--requests", 2, "--clients", 1)
        self.assertTrue([w for w in result["load"]["warnings"] if "ends too early, at byte 121" in w and "fetch the file again" in w], result["load"]["warnings"])

    def test_what_a_trace_gets_wrong_is_said_before_anything_is_sent(self):
        url = ("bench", "--url", "http://127.0.0.1:9", "--trace")
        self.refused(*url, "none.csv", names=["--trace", "none.csv", "No such file"])
        self.refused(*url, self.write("bad.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n2,x,3\n"), names=["bad.csv:3 (byte 46)", "ContextTokens"])
        self.refused(*url, self.write("cut.jsonl", '{"timestamp": 0, "input_length": 5, "output_length": 5}\n{"timest'), names=["cut.jsonl:2 (byte 56)", "fetch the file again"])
        good = self.write("t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,3\n")
        self.refused(*url, good, "--speed", 0, names=["--speed 0"])
        self.refused(*url, good, "--warmup", 1, names=["--warmup 1 of a trace of 1"])


if __name__ == "__main__":
    unittest.main()
