"""load.json and load.md from the raw measurements of load_beside_peers.py: medians over repetitions, ratios within a repetition."""
import json
import statistics

PEERS = ["vllm bench serve", "aiperf", "guidellm"]


def read(raw):
    if not raw.exists():
        return []
    return [json.loads(line) for line in raw.read_text().splitlines() if line.strip()]


class Measured:
    """By (setting, client): the repetitions that count."""

    def __init__(self, entries):
        self.by = {}
        for e in entries:
            if not e["void"] and "failed" not in e:
                self.by.setdefault((e["setting"]["name"], e["client"]), {})[e["repetition"]] = e

    def median(self, setting, client, value):
        found = [value(e) for e in self.by.get((setting, client), {}).values()]
        found = [x for x in found if x is not None]
        return statistics.median(found) if found else None

    def within(self, setting, ours, theirs, combine, value):
        """Median over repetitions of combine(our value, their value), both of the same repetition."""
        a, b = self.by.get((setting, ours), {}), self.by.get((setting, theirs), {})
        both = [combine(value(a[r]), value(b[r])) for r in sorted(set(a) & set(b))]
        return statistics.median(both) if both else None

    def repetitions(self, setting, client):
        return len(self.by.get((setting, client), {}))

    def clients(self):
        known = {client for _, client in self.by}
        return [c for c in ["hyperloom", "bare", *PEERS] if c in known]


def cpu(e):
    return e["cpu_s"]


def reported(name):
    return lambda e: e["reported"].get(name)


def rounded(value, digits=4):
    return None if value is None else round(value, digits)


def best_peer(m, setting):
    found = {p: m.median(setting, p, cpu) for p in PEERS}
    found = {p: c for p, c in found.items() if c is not None}
    return min(found, key=found.get) if found else None


def figures(m, client):
    out = {}
    for setting in ("8", "128"):
        out[f"cpu_s_100k_tokens_{setting}"] = rounded(m.median(setting, client, cpu), 3)
    for setting in ("128", "1000"):
        out[f"kept_share_{setting}"] = rounded(m.median(setting, client, lambda e: e["server"].get("kept_share")))
        for p in ("p50", "p99"):
            out[f"ttft_{p}_ms_{setting}"] = rounded(m.median(setting, client, reported(f"ttft_{p}_ms")), 2)
            out[f"ttft_{p}_ms_{setting}_sent"] = rounded(m.median(setting, client, lambda e: e["server"]["ttft_ms"][p]), 2)
    out["first_request_ms"] = rounded(m.median("128", client, lambda e: e["first_post_ms"]), 1)
    out["unpaced_tok_s"] = rounded(m.median("unpaced", client, unpaced_rate), 0)
    out["peak_rss_mb_128"] = rounded(m.median("128", client, lambda e: e["peak_rss_mb"]), 1)
    return out


def unpaced_rate(e):
    return e["server"]["tokens"] / (e["server"]["last_send_s"] - e["server"]["first_post_s"])


def ratio(a, b):
    return a / b


def difference(a, b):
    return a - b


def result(entries):
    m = Measured(entries)
    best8, best128 = best_peer(m, "8"), best_peer(m, "128")
    last = entries[-1]
    return {
        "date": last["date"][:10], "machine": last["machine"], "source": last["source"],
        "directions": "client_cpu_ratio_*: CPU seconds of hyperloom divided by the other's, lower is better for us, medians of ratios within "
                      "one repetition. ttft_error_ms_*: what hyperloom reports minus what the bare client reports in the same repetition, 128 streams. "
                      "*_sent: what the server did, by its own stamps, while that client ran.",
        "client_cpu_ratio_best_peer_8": rounded(m.within("8", "hyperloom", best8, ratio, cpu)), "best_peer_8": best8,
        "client_cpu_ratio_best_peer_128": rounded(m.within("128", "hyperloom", best128, ratio, cpu)), "best_peer_128": best128,
        "client_cpu_ratio_bare_8": rounded(m.within("8", "hyperloom", "bare", ratio, cpu), 2),
        "client_cpu_ratio_bare_128": rounded(m.within("128", "hyperloom", "bare", ratio, cpu), 2),
        "ttft_error_ms_p50": rounded(m.within("128", "hyperloom", "bare", difference, reported("ttft_p50_ms")), 3),
        "ttft_error_ms_p99": rounded(m.within("128", "hyperloom", "bare", difference, reported("ttft_p99_ms")), 3),
        "kept_share_128": rounded(m.median("128", "hyperloom", lambda e: e["server"].get("kept_share"))),
        "kept_share_1000": rounded(m.median("1000", "hyperloom", lambda e: e["server"].get("kept_share"))),
        "first_request_ms": rounded(m.median("128", "hyperloom", lambda e: e["first_post_ms"]), 1),
        "million_requests_rss_mb": m.median("million", "hyperloom", lambda e: e["peak_rss_mb"]),
        "million_requests_s": m.median("million", "hyperloom", lambda e: e["wall_s"]),
        "repetitions": {s: m.repetitions(s, "hyperloom") for s in ("8", "128", "1000", "unpaced", "million")},
        "void_measurements": sum(e["void"] for e in entries), "failed_measurements": sum("failed" in e for e in entries),
        "versions": {e["client"]: e["client_version"] for e in entries},
        "clients": {c: figures(m, c) for c in m.clients()},
    }


TARGETS = [
    ("client_cpu_ratio_best_peer_8", "CPU for 100,000 tokens, 8 clients: ours / best peer's", lambda x: x <= 1 / 15, "<= 0.0667"),
    ("client_cpu_ratio_best_peer_128", "CPU for 100,000 tokens, 128 clients: ours / best peer's", lambda x: x <= 1 / 15, "<= 0.0667"),
    ("client_cpu_ratio_bare_128", "CPU, 128 clients: ours / bare client's", lambda x: x <= 6, "<= 6"),
    ("kept_share_128", "20,000 tokens/s over 128 streams: share kept up with", lambda x: x >= 0.99, ">= 0.99"),
    ("kept_share_1000", "20,000 tokens/s over 1,000 streams: share kept up with", lambda x: x >= 0.99, ">= 0.99"),
    ("ttft_error_ms_p50", "TTFT p50, 128 streams: ours - bare client's, ms", lambda x: abs(x) <= 1, "within 1"),
    ("ttft_error_ms_p99", "TTFT p99, 128 streams: ours - bare client's, ms", lambda x: abs(x) <= 1, "within 1"),
    ("first_request_ms", "start to first request, ms", lambda x: x <= 50, "<= 50"),
    ("million_requests_rss_mb", "peak memory over a million requests, MB", lambda x: x < 200, "< 200"),
]

ROWS = [
    ("cpu_s_100k_tokens_8", "CPU s for 100,000 tokens, 8 clients, 8,000 tok/s"),
    ("cpu_s_100k_tokens_128", "CPU s for 100,000 tokens, 128 clients, 20,000 tok/s"),
    ("kept_share_128", "share of 20,000 tok/s kept up with, 128 streams"),
    ("kept_share_1000", "the same, 1,000 streams"),
    ("ttft_p50_ms_128", "TTFT p50 reported, 128 streams, ms"),
    ("ttft_p50_ms_128_sent", "  as the server sent it"),
    ("ttft_p99_ms_128", "TTFT p99 reported, 128 streams, ms"),
    ("ttft_p99_ms_128_sent", "  as the server sent it"),
    ("ttft_p50_ms_1000", "TTFT p50 reported, 1,000 streams, ms"),
    ("ttft_p50_ms_1000_sent", "  as the server sent it"),
    ("ttft_p99_ms_1000", "TTFT p99 reported, 1,000 streams, ms"),
    ("ttft_p99_ms_1000_sent", "  as the server sent it"),
    ("first_request_ms", "start to first request, ms"),
    ("unpaced_tok_s", "most tokens/s, 8 clients, unpaced"),
    ("peak_rss_mb_128", "peak memory of the first process, 128 clients, MB"),
]


def shown(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def markdown(r):
    lines = [f"# `hyperloom bench` beside its peers, {r['date']} (`bench/load_beside_peers.py`)",
             f"{r['machine']}; source {r['source']}. Server: `bench/stamp_server.cc`, true time to first token 20 ms, on the same machine.",
             "Medians over interleaved repetitions (" + ", ".join(f"{n} of `{s}`" for s, n in r["repetitions"].items()) +
             f"); {r['void_measurements']} measurements void because of other load, {r['failed_measurements']} failed.", "",
             "| target | here | wanted | |", "|---|---|---|---|"]
    for key, label, met, wanted in TARGETS:
        value = r[key]
        lines.append(f"| {label} | {shown(value)} | {wanted} | {'not measured' if value is None else 'met' if met(value) else '**missed**'} |")
    names = list(r["clients"])
    lines += ["", "| | " + " | ".join(f"{n} {r['versions'][n]}".replace(" -", "") for n in names) + " |", "|---" * (len(names) + 1) + "|"]
    for key, label in ROWS:
        lines.append(f"| {label} | " + " | ".join(shown(r["clients"][n].get(key)) for n in names) + " |")
    lines += ["",
              "CPU is user and system time of the client and of all processes it started, from start to end, start-up included. Kept up with: tokens",
              "that the server sent from the moment all streams were busy to the last request, over what it would have sent to clients that lose no time.",
              "Memory is the client's first process only (aiperf has more). TTFT runs from before the connection is made. Raw: `load.raw.jsonl`.",
              "", "Again: `bench/install_peers.sh`, then the commands at the head of `bench/load_beside_peers.py`; `--summary` writes this page.", ""]
    return "\n".join(lines)


def write(raw, folder):
    entries = read(raw)
    if not entries:
        raise SystemExit(f"load_summary: nothing measured yet: {raw} has no line; run bench/load_beside_peers.py")
    r = result(entries)
    (folder / "load.json").write_text(json.dumps(r, indent=1) + "\n")
    (folder / "load.md").write_text(markdown(r))
    print((folder / "load.md").read_text())
    return 0
