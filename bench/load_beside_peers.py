#!/usr/bin/env python3
"""`hyperloom bench` beside vllm bench serve, aiperf, guidellm and a bare epoll client, on the stamping server.

usage: bench/load_beside_peers.py [--repetitions 3] [--minutes M] [--settings 8,128,...] [--clients bare,hyperloom,...]
       bench/load_beside_peers.py --summary          writes load.json and load.md from what has been measured

Build first (cmake --preset release -B build/release; ninja -C build/release hyperloom bench_stamp_server bench_bare_client), then
bench/install_peers.sh. Each measurement is one client from start to end against a fresh server; the clients take turns within
a repetition, each time in another order. A measurement beside which other processes used more than --max-foreign cores is void.
What has been measured is in RAW, one JSON line each, and is not measured again: stop and go on as you like (--minutes stops by
itself). To begin anew, remove RAW (bench/results/load.raw.jsonl)."""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass

import load_clients
import load_summary

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 300
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Setting:
    """One server and one traffic. `rate` in tokens/s over all streams, 0 = as fast as the sockets take them."""
    name: str
    streams: int
    requests: int
    tokens: int
    rate: int
    who: tuple = ("bare", "hyperloom", "vllm bench serve", "aiperf", "guidellm")
    repetitions: int = 99
    model: str = "stamp"

    def server_flags(self):
        return ["--unpaced"] if self.rate == 0 else ["--ttft-ms", "20", "--rate", str(self.rate), "--streams", str(self.streams)]


SETTINGS = [
    Setting("8", 8, 800, 125, 8000),              # 100,000 tokens
    Setting("128", 128, 800, 125, 20000),         # 100,000 tokens
    Setting("1000", 1000, 5000, 50, 20000),
    Setting("unpaced", 8, 200, 1000, 0),          # the most events a second
    Setting("million", 32, 1_000_000, 2, 0, ("hyperloom",), 1),
]


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def process_cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_busy_s():
    """Seconds of all cores that were not idle, and those that the hypervisor took."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
    return sum(ticks[:8]) - ticks[3] - ticks[4], ticks[7]


def own_children():
    return [int(pid) for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def reap_left_behind(server_pid):
    """Processes that the client started and did not wait for are ours now: their time counts too. We end what does not end."""
    until = time.monotonic() + 10
    while any(pid != server_pid for pid in own_children()):
        for pid in own_children():
            if pid == server_pid:
                continue
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


class Server:
    def __init__(self, build, setting):
        self.process = subprocess.Popen([build / "bench/bench_stamp_server", *setting.server_flags()], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])

    def cpu_s(self):
        return process_cpu_s(self.process.pid)

    def end(self):
        """What it did: the JSON line of stamp_server.cc."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=60)[0]
        return json.loads(said.strip().split("\n")[-1])


def measure(client, setting, build):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="load-"))
    server = Server(build, setting)
    try:
        words = [str(word) for word in client.command(f"http://127.0.0.1:{server.port}", setting, folder)]
        with open(folder / "out", "w") as out, open(folder / "err", "w") as err:
            busy, steal = machine_busy_s()
            cpu, server_cpu, began = children_cpu_s(), server.cpu_s(), time.monotonic()
            process = subprocess.Popen(words, stdout=out, stderr=err, cwd=folder, env=load_clients.environment_of(client))
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - began > TIMEOUT_S:
                    process.kill()
                time.sleep(0.002)
            process.returncode = os.waitstatus_to_exitcode(status)
            ended = time.monotonic()
            reap_left_behind(server.process.pid)
            cpu, server_cpu = children_cpu_s() - cpu, server.cpu_s() - server_cpu
            busy_after, steal_after = machine_busy_s()
        truth = server.end()
        if process.returncode != 0 or truth["requests"] < setting.requests:
            tail = (folder / "err").read_text()[-1500:] + (folder / "out").read_text()[-500:]
            return {"failed": f"exit code {process.returncode}, {truth['requests']} of {setting.requests} requests seen: {tail}"}
        took = time.monotonic() - began
        return {"cpu_s": round(cpu, 4), "wall_s": round(ended - began, 4), "peak_rss_mb": round(usage.ru_maxrss / 1024, 1),
                "first_request_ms": round((truth["first_request_s"] - began) * 1e3, 2),
                "first_post_ms": round((truth["first_post_s"] - began) * 1e3, 2),
                "foreign_cores": round(max(0, busy_after - busy - cpu - server_cpu) / took, 3),
                "stolen_cores": round((steal_after - steal) / took, 3),
                "reported": client.report((folder / "out").read_text(), folder), "server": truth}
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def source_version():
    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, stdout=subprocess.PIPE, text=True, check=False).stdout.strip() or "unknown"


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    return f"{cpu}, {os.cpu_count()} cores, Linux {platform.release()}"


def plan(settings, clients, repetitions):
    for repetition in range(1, repetitions + 1):
        for setting in settings:
            taking_part = [c for c in clients if c.name in setting.who]
            turn = (repetition - 1) % max(1, len(taking_part))
            for client in taking_part[turn:] + taking_part[:turn]:
                if repetition <= setting.repetitions:
                    yield repetition, setting, client


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=0, help="start no measurement after so many")
    parser.add_argument("--settings", default=",".join(s.name for s in SETTINGS))
    parser.add_argument("--clients", default="", help="default: all that are installed")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--peers", type=pathlib.Path, default=pathlib.Path.home() / ".cache/hyperloom/peers")
    parser.add_argument("--raw", type=pathlib.Path, default=ROOT / "bench/results/load.raw.jsonl")
    parser.add_argument("--max-foreign", type=float, default=0.1, help="cores")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.summary:
        return load_summary.write(options.raw, options.raw.parent)

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[1], files[1]))
    version = source_version()
    clients = load_clients.all_clients(options.build.resolve(), options.peers.resolve(), version)
    if options.clients:
        clients = [c for c in clients if c.name in options.clients.split(",")]
    for client in [c for c in clients if not c.program.exists()]:
        print(f"{client.name} is left out: {client.program} is not there (bench/install_peers.sh)", file=sys.stderr)
        clients.remove(client)
    settings = [s for s in SETTINGS if s.name in options.settings.split(",")]
    done = {(r["repetition"], r["setting"]["name"], r["client"]) for r in load_summary.read(options.raw) if not r["void"]}
    began = time.monotonic()
    for repetition, setting, client in plan(settings, clients, options.repetitions):
        if (repetition, setting.name, client.name) in done:
            continue
        if options.minutes and time.monotonic() - began > options.minutes * 60:
            print("time is up; start again to go on")
            return 0
        result = measure(client, setting, options.build)
        void = result.get("foreign_cores", 0) > options.max_foreign
        entry = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": machine(),
                 "source": version, "repetition": repetition, "setting": asdict(setting), "client": client.name,
                 "client_version": client.version, "void": void, **result}
        with open(options.raw, "a") as raw:
            raw.write(json.dumps(entry) + "\n")
        if "failed" in result:
            print(f"{repetition} {setting.name:8} {client.name:18} FAILED: {result['failed']}", flush=True)
            continue
        kept = result["server"].get("kept_share")
        print(f"{repetition} {setting.name:8} {client.name:18} cpu {result['cpu_s']:7.2f} s  first {result['first_post_ms']:8.1f} ms  ttft "
              f"{result['reported']['ttft_p50_ms']:.2f}/{result['reported']['ttft_p99_ms']:.2f} (sent {result['server']['ttft_ms']['p50']:.2f}/"
              f"{result['server']['ttft_ms']['p99']:.2f}) kept {kept} foreign {result['foreign_cores']}{' VOID' if void else ''}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
