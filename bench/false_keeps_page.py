#!/usr/bin/env python3
"""The page of bench_false_keeps. Usage: bench/false_keeps_page.py bench/results/false-keeps.json [bench/results/aa-real.json]
Adds the real comparisons of stock with itself (aa-real.json, from bench/aa_real.sh) to the JSON file, writes the .md beside it."""
import json
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
results = json.loads(path.read_text())
runs = json.loads(pathlib.Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else []
results["real_aa"] = {"comparisons": sum(r["comparisons"] for r in runs), "kept": sum(r["kept"] for r in runs), "runs": runs}
path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")

others = [key for key in results if key.startswith("others: ")]
rules = [key for key in results if key.startswith("power: ")]
percent = lambda share, digits=1: f"{100 * share:.{digits}f} %"
span = lambda e: f"{percent(e['rate'])} [{percent(e['low'])}, {percent(e['high'])}]"


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head)] + [f"| {' | '.join(row)} |" for row in rows] + [""]


ours, cover = results["false_keep_rate"], results["interval_coverage"]
sessions = min(e["sessions"] for e in ours.values())
lines = [
    "# How often a change that changes nothing is kept", "",
    f"{results['date']}, {results['machine']}. At least {sessions:,} sessions a row of {results['comparisons']} comparisons and {results['stock_legs']} stock legs, "
    f"promised: at most {percent(results['alpha'], 0)} of sessions keep anything. hyperloom's column runs the code that real sessions run; brackets are Wilson's 95 % interval.", "",
    "The others: *one leg* keeps a candidate whose single leg beats the best leg so far by the bar; *five pairs, plain t* keeps at p <= 0.05 one-sided, whatever the number of candidates.",
    "The last column: share of sessions in which the interval of five fresh pairs holds the truth (95 % is stated).", ""]
lines += table(
    ["noise", "hyperloom, sessions with a false keep", *(k.removeprefix("others: ") for k in others), "legs a session", "interval holds the truth"],
    [[f"{name}: {e['what']}", span(e), *(percent(results[k][name]["rate"], 0) for k in others), f"{e['legs_per_session']:.0f}",
      percent(cover[name]["rate"])] for name, e in ours.items()])
lines += ["## How soon a real gain is found", "",
          "Gain in standard deviations of a pair (at a pair noise of 1 %, in percent), a pool of 8 null pairs: share kept, mean pairs spent.",
          f"A gain of 3 takes a median of {results['median_pairs_3pct']:.0f} pairs; no gain costs {results['null_pairs_mean']:.2f} pairs on average.", ""]
effects = list(results[rules[0]])
lines += table(["rule", *effects], [[k.removeprefix("power: "), *(f"{percent(results[k][e]['kept'], 0)}, {results[k][e]['mean_pairs']:.1f}" for e in effects)] for k in rules])
if runs:
    lines += ["## Real comparisons of stock with itself", "",
              "llama.cpp, SmolLM2-135M-Instruct Q4_1, 8 clients, 128 tokens in and 64 out, legs of about 10 s (`bench/aa_real.sh`); each pair used in one comparison only.", ""]
    lines += table(["neighbour", "machine", "date", "pairs", "pair noise", "void legs", "comparisons", "kept"],
                   [[r["neighbour"], r["machine"], r["date"], str(r["pairs"]), r["pair_noise"], str(r["void_legs"]), str(r["comparisons"]), str(r["kept"])] for r in runs])
path.with_suffix(".md").write_text("\n".join(lines))
