#!/usr/bin/env python3
"""Plants faults in a real llama.cpp server and shows which the exam (docs/measurement-quality.md) catches; stock must pass
every time, on a fresh boot each. Resumable: what the result file holds is not run again.

usage: quality_faults.py --exam build/dev/bench_exam --server PATH/llama-server --model FILE.gguf [--stock 100] [--minutes M]
Writes bench/results/quality-faults.json and .md (--out FOLDER).
"""
import argparse
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

SEED = "1"
ITEMS = 96
ZEROED_LAYER = 15
# name: (server flags, proxy, what a session would call the change)
FAULTS = {
    "rope base 100000 -> 10000": (["--rope-freq-base", "10000"], None),
    f"layer {ZEROED_LAYER} of 30 zeroed": ("zeroed", None),
    "layer 0 of 30 zeroed": ("zeroed0", None),
    "KV cache in 4 bits": (["-ctk", "q4_0", "-ctv", "q4_0", "-fa", "on"], None),
    "sampler settings ignored": (["-n", "64"], "strip"),
    "end-of-text suppressed": ([], "no_end"),
    "half of the answers stale": ([], "stale"),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Booted:
    """One server of ours, proven ready, and gone afterwards."""

    def __init__(self, args, model, flags):
        self.port = free_port()
        argv = [args.server, "-m", str(model), "--port", str(self.port), *flags]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(argv, stdout=self.log, stderr=self.log)

    def __enter__(self):
        url = f"http://127.0.0.1:{self.port}"
        for _ in range(600):
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with {self.process.returncode}")
            try:
                if urllib.request.urlopen(url + "/health", timeout=2).status == 200:
                    return url
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the server never became ready")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def exam(args, *words):
    done = subprocess.run([args.exam, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def sit(args, work, name, model, flags=(), proxy=None, stock=None):
    """The path of the sheet of one fresh boot."""
    sheet = work / (name.replace(" ", "-").replace(">", "") + ".json")
    with Booted(args, model, flags) as url:
        server = faulty_proxy.serve(url, proxy) if proxy else None
        target = f"http://127.0.0.1:{server.server_address[1]}" if server else url
        sheet.write_text(exam(args, "sit", target, SEED, *([stock] if stock else [])))
        if server:
            server.shutdown()
    return sheet


def machine():
    name = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{os.cpu_count()} cores, {name}"


def write(out, result):
    (out / "quality-faults.json").write_text(json.dumps(result, indent=1) + "\n")
    passed = sum(s["held"] for s in result["stock"])
    lines = [f"# Planted faults, {result['date']}", "", f"Machine: {result['machine']}. Engine: llama.cpp. Model: {result['model']}. `bench/quality_faults.py`, seed {SEED}.", "",
             f"Stock, a fresh boot each time: passed {passed} of {len(result['stock'])}.", "",
             "| fault | as a numeric change | as an exact change | right (stock) | same words (stock again) | items | seconds |", "|---|---|---|---|---|---|---|"]
    word = lambda held: "**not caught**" if held else "caught"
    for name, f in result["faults"].items():
        n, e = f["numeric"], f["exact"]
        lines.append(f"| {name} | {word(n['held'])} | {word(e['held'])} | {n['right']:.2f} ({n['stock_right']:.2f}) | "
                     f"{n['agreement']:.2f} ({n['stock_agreement']:.2f}) | {n['items']} | {f['seconds']:.0f} |")
    lines += ["", "What was said first:", ""]
    lines += [f"- {name}: {(f['exact']['failures'] or ['nothing'])[0]}" for name, f in result["faults"].items()]
    (out / "quality-faults.md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--exam", "--server", "--model"):
        parser.add_argument(name, required=True)
    parser.add_argument("--stock", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/quality-faults"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    until = time.time() + 60 * args.minutes
    file = args.out / "quality-faults.json"
    result = json.loads(file.read_text()) if file.exists() else {"machine": machine(), "model": pathlib.Path(args.model).name, "faults": {}, "stock": []}
    result["date"] = datetime.date.today().isoformat()
    stock, again = args.work / "stock.json", args.work / "stock-again.json"
    for sheet in (stock, again):
        if not sheet.exists():
            sit(args, args.work, sheet.stem, args.model)
        if len(json.loads(sheet.read_text())["answers"]) < ITEMS:
            sheet.unlink()
            raise SystemExit("stock's own sitting was cut short: every verdict would be `not proven`; quiet the machine and run again")

    def judged(sheet, *exact):
        return json.loads(exam(args, "judge", SEED, stock, again, sheet, *exact))

    for name, (flags, proxy) in FAULTS.items():
        if name in result["faults"] or time.time() > until:
            continue
        model = args.model
        if isinstance(flags, str):
            layer = 0 if flags == "zeroed0" else ZEROED_LAYER
            model, flags = args.work / f"{flags}.gguf", []
            if zero_layer.zero_layer(args.model, model, layer) == 0:
                raise SystemExit("the model has no such layer")
        sheet = sit(args, args.work, name, model, flags, proxy, stock)
        result["faults"][name] = {"numeric": judged(sheet), "exact": judged(sheet, "exact"), "seconds": json.loads(sheet.read_text())["seconds"]}
        write(args.out, result)
        print(name, "held" if result["faults"][name]["exact"]["held"] else "caught", flush=True)
    while len(result["stock"]) < args.stock and time.time() < until:
        verdict = judged(sit(args, args.work, "stock-fresh", args.model, stock=stock), "exact")
        result["stock"].append({key: verdict[key] for key in ("held", "failures", "items", "right", "agreement")})
        write(args.out, result)
        print("stock", len(result["stock"]), "held" if verdict["held"] else verdict["failures"], flush=True)


main()
