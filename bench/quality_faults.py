#!/usr/bin/env python3
"""Plants faults in a real llama.cpp server and shows which check (docs/measurement-quality.md) catches which: the exam, and where
weights, cache or attention changed, the divergence. Stock must pass every time, on a fresh boot each. Resumable: what the
result file holds is not run again.

usage: quality_faults.py --exam build/release/bench/bench_exam --tools BUILD_FOLDER_OF_THE_ENGINE --model FILE.gguf [--stock 100] [--minutes M]
Writes bench/results/quality-faults.json and .md (--out FOLDER).
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.request

import faulty_proxy
import zero_layer

ROOT = pathlib.Path(__file__).resolve().parents[1]
SEED = "1"
CLIENTS = "8"
Fault = collections.namedtuple("Fault", "flags zeroed proxy kl weights exact", defaults=([], None, None, False, None, False))
FAULTS = {
    "rope base 100000 -> 10000": Fault(["--rope-freq-base", "10000"], kl=True),
    "layer 15 of 30 zeroed": Fault(zeroed=15, kl=True),
    "layer 0 of 30 zeroed": Fault(zeroed=0, kl=True),
    "KV cache in 4 bits": Fault(["-ctk", "q4_0", "-ctv", "q4_0", "-fa", "on"], kl=True),
    "sampler settings ignored": Fault(["-n", "64"], proxy="strip"),
    "end-of-text suppressed": Fault(["--ignore-eos"]),
    "half of the answers stale": Fault(proxy="stale"),
    "another's answer, in company": Fault(proxy="mixed"),
    "last word wrong, in company": Fault(proxy="slip"),
    "middle of long prompts lost": Fault(proxy="window"),
}
# What a session does keep: none of these may be caught. exact: it claims stock's own answers.
HARMLESS = {
    "-np 8": Fault(["-np", "8"], exact=True),
    "-np 8 -b 256 -ub 128": Fault(["-np", "8", "-b", "256", "-ub", "128"]),
    "-fa off": Fault(["-fa", "off"], kl=True),
    "one thread": Fault(["-t", "1"], exact=True),
    "KV cache in 8 bits": Fault(["-ctk", "q8_0", "-ctv", "q8_0", "-fa", "on"], kl=True),
    "weights Q8_0": Fault(weights="Q8_0", kl=True),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Booted:
    """One server of ours, proven ready, and gone afterwards."""

    def __init__(self, args, model, flags):
        self.port = free_port()
        argv = [str(args.tools / "bin/llama-server"), "-m", str(model), "--port", str(self.port), *flags]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log)

    def __enter__(self):
        url = f"http://127.0.0.1:{self.port}"
        until = time.time() + 120
        while time.time() < until:
            if self.process.poll() is not None:
                self.log.seek(0)
                raise SystemExit(f"the server ended with {self.process.returncode}:\n{self.log.read()[-2000:].decode(errors='replace')}")
            try:
                if urllib.request.urlopen(url + "/health", timeout=2).status == 200:
                    return url
            except OSError:
                time.sleep(0.2)
        self.__exit__()
        raise SystemExit("the server never became ready")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def ours(args, *words):
    done = subprocess.run([args.exam, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def sit(args, name, model, fault=Fault(), stock=None):
    """The path of the sheet of one fresh boot."""
    sheet = args.work / (name.replace(" ", "-").replace(">", "") + ".json")
    with Booted(args, model, fault.flags) as url:
        server = faulty_proxy.serve(url, fault.proxy) if fault.proxy else None
        target = f"http://127.0.0.1:{server.server_address[1]}" if server else url
        sheet.write_text(ours(args, "sit", target, SEED, CLIENTS, *([stock] if stock else [])))
        if server:
            server.shutdown()
    return sheet


def machine():
    name = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{os.cpu_count()} cores, {name}"


def seen_by(fault):
    """What caught it: names of checks."""
    names = [c["name"] for c in fault["exam"]["checks"] if c["verdict"] in ("worse", "unproven")]
    names += ["sampler settings" for f in fault["exam"]["failures"] if f.startswith("exam, sampler settings")][:1]
    return names


def divergence(fault):
    kl = fault.get("kl")
    if kl is None:
        return "not affected"
    if not kl["ok"]:
        return "no result: " + kl["error"]
    return ("**caught**" if kl["failures"] else "held") + f" (KL {kl['mean_kl']:.3g}, perplexity x {kl['ppl_ratio']:.3f}, same top token {100 * kl['top1']:.1f} %)"


def write(out, result):
    (out / "quality-faults.json").write_text(json.dumps(result, indent=1) + "\n")
    passed = sum(s["held"] for s in result["stock"])
    seconds = sorted(s["seconds"] for s in result["stock"]) or [0]
    lines = [f"# Planted faults, {result['date']}", "",
             f"Machine: {result['machine']}. Engine: llama.cpp. Model: {result['model']}. {CLIENTS} clients. `bench/quality_faults.py`, seed {SEED}.", "",
             f"Stock, a fresh boot each time, judged as an exact change: passed {passed} of {len(result['stock'])}; a sitting took {seconds[len(seconds) // 2]:.0f} s (median), {seconds[-1]:.0f} s at most.", "",
             "| fault | exam | seen by | dies after | right (stock) | own words of stock (stock again) | divergence |", "|---|---|---|---|---|---|---|"]
    for name, f in result["faults"].items():
        e = f["exam"]
        lines.append(f"| {name} | {'held' if e['held'] else '**caught**'} | {', '.join(seen_by(f)) or '-'} | "
                     f"{str(e['dead_after']) + ' items' if e['dead_after'] else '-'} | {e['share_right']:.2f} ({e['stock_right']:.2f}) | "
                     f"{e['agreement']:.2f} ({e['stock_agreement']:.2f}) | {divergence(f)} |")
    missed = [name for name, f in result["faults"].items() if f["exam"]["held"] and not (f.get("kl") or {}).get("failures")]
    lines += ["", "## Harmless changes", "", "| change | exam | right (stock) | own words of stock (stock again) | divergence |", "|---|---|---|---|---|"]
    for name, f in result["harmless"].items():
        e = f["exact"] if HARMLESS[name].exact else f["exam"]
        lines.append(f"| {name}{', as an exact change' if HARMLESS[name].exact else ''} | {'held' if e['held'] else '**caught**: ' + e['failures'][0]} | "
                     f"{e['share_right']:.2f} ({e['stock_right']:.2f}) | {e['agreement']:.2f} ({e['stock_agreement']:.2f}) | {divergence(f)} |")
    lines += ["", "## In sum", "", "Caught by neither: " + (", ".join(missed) or "none") + "."]
    exact = [name for name, f in result["faults"].items() if f["exam"]["held"] and not f["exact"]["held"]]
    if exact:
        lines += ["", "Caught by the exam only where the change claims stock's own answers (exact numerics): " + ", ".join(exact) + "."]
    (out / "quality-faults.md").write_text("\n".join(lines) + "\n")


def plant(args, name, fault, stock, again):
    model = args.model
    if fault.zeroed is not None:
        model = args.work / f"zeroed-{fault.zeroed}.gguf"
        if zero_layer.zero_layer(args.model, model, fault.zeroed) == 0:
            raise SystemExit("the model has no such layer")
    if fault.weights:
        model = args.work / f"{fault.weights}.gguf"
        if not model.exists():
            subprocess.run([args.tools / "bin/llama-quantize", "--allow-requantize", args.model, model, fault.weights, str(os.cpu_count())],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sheet = sit(args, name, model, fault)   # to its end: to see which checks see it
    found = {"exam": json.loads(ours(args, "judge", stock, again, sheet)), "exact": json.loads(ours(args, "judge", stock, again, sheet, "exact"))}
    if fault.kl:
        found["kl"] = json.loads(ours(args, "kl", ROOT / "engines/llama.cpp", args.tools, args.work / "kl", args.model, model, *fault.flags))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exam", required=True)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--stock", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/quality-faults")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    until = time.time() + 60 * args.minutes
    file = args.out / "quality-faults.json"
    result = json.loads(file.read_text()) if file.exists() else {"machine": machine(), "model": pathlib.Path(args.model).name, "faults": {}, "harmless": {}, "stock": []}
    result["date"] = datetime.date.today().isoformat()
    stock, again = args.work / "stock.json", args.work / "stock-again.json"
    for sheet in (stock, again):
        if not sheet.exists():
            sit(args, sheet.stem, args.model)
        content = json.loads(sheet.read_text())
        if len(content["answers"]) < content["asked"]:
            sheet.unlink()
            raise SystemExit("stock's own sitting was cut short: every verdict would be `not proven`; quiet the machine and run again")
    for kind, changes in (("faults", FAULTS), ("harmless", HARMLESS)):
        for name, fault in changes.items():
            if name in result[kind] or time.time() > until:
                continue
            result[kind][name] = plant(args, name, fault, stock, again)
            write(args.out, result)
            print(kind, name, seen_by(result[kind][name]), flush=True)
    while len(result["stock"]) < args.stock and time.time() < until:
        verdict = json.loads(ours(args, "judge", stock, again, sit(args, "stock-fresh", args.model, stock=stock), "exact"))
        result["stock"].append({key: verdict[key] for key in ("held", "failures", "compared", "share_right", "agreement", "seconds")})
        write(args.out, result)
        print("stock", len(result["stock"]), "held" if verdict["held"] else verdict["failures"], flush=True)
    write(args.out, result)


if __name__ == "__main__":
    main()
