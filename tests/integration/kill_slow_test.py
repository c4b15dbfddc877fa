#!/usr/bin/env python3
"""kill -9 at random moments of a short real session, resumed each time, until it closes with a valid report.

Usage: HYPERLOOM=path/to/hyperloom kill_slow_test.py [--kills N] [--seconds BUDGET] [--seed S]
The script itself resumes: what was there before a kill must be there after it, and nothing may be left running.
"""
import argparse, json, os, pathlib, random, re, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--seconds", type=int, default=240)
parser.add_argument("--seed", type=int, default=int(time.time()))
options = parser.parse_args()
BINARY = os.path.abspath(os.environ.get("HYPERLOOM", "build/release/hyperloom"))
home = pathlib.Path(tempfile.mkdtemp(prefix="hyperloom-kill-"))
env = dict(os.environ, HYPERLOOM_DATA=str(home / "data"), CI="true")
session = home / "session"
journal = session / "journal.hlj"
rng = random.Random(options.seed)
print(f"seed {options.seed}, session {session}", flush=True)


def fail(message):
    print("FAIL " + message)
    print("0 passed, 1 failed")
    sys.exit(1)


def entries():
    """Type and body of each whole entry."""
    out = []
    for line in journal.read_bytes().split(b"\n")[:-1]:
        entry = json.loads(line[18:])
        out.append((entry["type"], entry["id"], entry["body"]))
    return out


def left_over():
    """Servers whose environment names our cache: looked at, never signalled."""
    found = []
    for p in pathlib.Path("/proc").iterdir():
        if p.name.isdigit():
            try:
                if str(home).encode() in (p / "environ").read_bytes() and int(p.name) != os.getpid():
                    found.append(p.name + " " + (p / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
            except OSError:
                pass
    return found


workload = home / "workload.yaml"
if subprocess.run([BINARY, "init", "--out", str(workload)], env=env, stdout=subprocess.DEVNULL).returncode != 0:
    fail("init")
model = re.search(r"path: *\"?([^\"\n]+\.gguf)", workload.read_text()).group(1)
workload.write_text(f"""schema: 1
model: {{path: {model}}}
engine: {{pack: llama.cpp}}
traffic: {{kind: closed, clients: 8, prompt_tokens: {{mean: 16}}, output_tokens: {{mean: 16}}, ignore_eos: true, api: chat}}
budget: {{time_s: {options.seconds}}}
touch: {{precision: false, build: false, env: false, kernels: false}}
""")

before = []
command = [BINARY, "run", str(workload), "--session", str(session)]
kills = 0
while True:
    child = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    # The build comes first and may take long; kills fall into what comes after it, until all are spent.
    while child.poll() is None and (not journal.exists() or b'"build.done"' not in journal.read_bytes()):
        time.sleep(0.2)
    if kills < options.kills:
        deadline = time.monotonic() + rng.uniform(0.05, options.seconds / options.kills)
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
    child.wait()
    now = entries()
    if now[:len(before)] != before:
        fail(f"after kill {kills} the journal lost or changed an entry")
    before = now
    print(f"kill {kills}: {len(now)} entries, exit {child.returncode}", flush=True)
    if child.returncode >= 0:
        break
    command = [BINARY, "resume", str(session)]

if child.returncode != 0:
    fail(f"the session ended with exit code {child.returncode}")
pairs = [(e[2]["comparison"], e[2]["pair"]) for e in before if e[0] == "pair.done"]
if len(pairs) != len(set(pairs)):
    fail("a completed pair was repeated")
if before[-1][0] != "closed":
    fail("the journal does not end with closed")
summary = json.loads((session / "summary.json").read_text())
if summary["provisional"] or summary["result"] not in ("improved", "no_gain"):
    fail("summary: " + str(summary["result"]))
time.sleep(1)
if left_over():
    fail("left running: " + "; ".join(left_over()))
print(f"{kills} kills, {len(before)} entries, {len(pairs)} pairs, result {summary['result']}")
print("1 passed, 0 failed")
