#!/usr/bin/env python3
"""Writes tests/cases/stats/looks.json: a second, independent implementation of the comparison
(docs/measurement.md), so that an error in src/stats cannot hide in its own tests.

Student tails come from the finite trigonometric sums for whole degrees of freedom, quantiles from bisection;
nothing is shared with the C++ code. Log ratios. Deterministic: run it again and the file does not change.

usage: make_stats_looks.py [output file]
"""
import json
import math
import os
import random
import sys


def t_tail(t, nu):
    """P(T > t) for a whole nu."""
    angle = math.atan(abs(t) / math.sqrt(nu))
    c, s = math.cos(angle), math.sin(angle)
    terms, term = [], 1.0
    if nu % 2:
        term = c
        for k in range(1, (nu - 1) // 2 + 1):
            terms.append(term)
            term *= c * c * (2 * k) / (2 * k + 1)
        inside = 2 / math.pi * (angle + s * math.fsum(terms))
    else:
        for k in range(1, nu // 2 + 1):
            terms.append(term)
            term *= c * c * (2 * k - 1) / (2 * k)
        inside = s * math.fsum(terms)
    return (1 - inside) / 2 if t >= 0 else (1 + inside) / 2


def t_upper(p, nu):
    low, high = 0.0, 1.0
    while t_tail(high, nu) > p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if t_tail(middle, nu) > p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def middle_of(values):
    ordered, k = sorted(values), len(values)
    return ordered[k // 2] if k % 2 else (ordered[k // 2 - 1] + ordered[k // 2]) / 2


def variance(values):
    centre = math.fsum(values) / len(values)
    return math.fsum((v - centre) ** 2 for v in values) / (len(values) - 1)


def pool_of(case):
    values, df = [], 0
    legs = case["stock_legs"]
    if len(legs) > 1:
        centre = math.fsum(legs) / len(legs)
        values += [(x - centre) * math.sqrt(2 * len(legs) / (len(legs) - 1)) for x in legs]
        df += len(legs) - 1
    values += case["null_pairs"]
    df += len(case["null_pairs"])
    for d in case["comparisons"]:
        if len(d) > 1:
            centre = math.fsum(d) / len(d)
            values += [(x - centre) * math.sqrt(len(d) / (len(d) - 1)) for x in d]
            df += len(d) - 1
    return values, df


def kappa(df):
    for least, value in ((8, 1.5), (5, 0.85), (3, 0.5)):
        if df >= least:
            return value
    return 0.0


def statistic(pool, d):
    values, df = pool
    limit = max(3 * middle_of([abs(v) for v in values]) / 0.6745, 0.0015)
    cut = lambda v: math.copysign(min(abs(v), limit), v)
    y = [cut(v) for v in d]
    v0 = math.fsum(cut(v) ** 2 for v in values) / len(values)
    n, nu0, kap = len(y), min(df, 8), kappa(df)
    own = math.sqrt(variance(y)) / max(math.sqrt(v0), 0.0005) if n > 1 else 0.0
    if n >= 4 and own > 2 and kap > 0:
        nu0, kap = 0, 1.5
    nu = nu0 + n - 1
    rest = variance(y) * (n - 1) if n > 1 else 0.0
    s = max(math.sqrt((nu0 * v0 + rest) / nu), 0.0005)
    m = math.fsum(y) / n
    return dict(limit=limit, m=m, s=s, nu0=nu0, nu=nu, kap=kap, own=own, p=t_tail(m * math.sqrt(n) / s, nu))


def look(pool, d, plan):
    n, cap = len(d), plan["max_pairs"]
    q = statistic(pool, d)
    spend = lambda k: q["kap"] * plan["alpha_k"] * (k - 1) * 2 / (cap * (cap - 1))
    raw = math.fsum(d) / n
    upper = raw + t_upper(0.05, q["nu"]) * q["s"] / math.sqrt(n)
    chance = 0.0
    if n < cap and q["kap"] > 0:
        b = t_upper(spend(cap), q["nu0"] + cap - 1)
        z = (q["m"] - b * q["s"] / math.sqrt(cap)) / (q["s"] * math.sqrt(1 / n - 1 / cap))
        chance = math.erfc(-z / math.sqrt(2)) / 2
    if n >= plan["min_pairs"] and q["p"] <= spend(n) and raw >= plan["useful_gain"]:
        verdict = "faster"
    elif n == cap or chance < 0.05:
        verdict = "not_useful" if upper < plan["useful_gain"] else "unresolvable"
    else:
        verdict = "continue"
    return dict(n=n, clip_limit=q["limit"], s=q["s"], nu=q["nu"], mean=q["m"], raw=raw, p=q["p"], bound=spend(n),
                chance=chance, upper=upper, s_own_over_pool=q["own"], verdict=verdict)


def guard(pool, worse, margin, cap):
    q = statistic(pool, [margin - w for w in worse])
    bound = q["kap"] * 0.05 * (len(worse) - 1) * 2 / (cap * (cap - 1))
    return dict(mean=math.fsum(worse) / len(worse), p=q["p"], bound=bound, passes=q["p"] <= bound)


def claim(d, level):
    n, m, sd = len(d), math.fsum(d) / len(d), math.sqrt(variance(d))
    half = t_upper((1 - level) / 2, n - 1) * sd / math.sqrt(n)
    return dict(mean=m, low=m - half, high=m + half, sd=sd, n=n)


def short(value):
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [short(item) for item in value]
    return float("%.12g" % value) if isinstance(value, float) else value


def main():
    rng = random.Random(20261201)
    digits = lambda v: float("%.7g" % v)
    cases = []
    for _ in range(60):
        sd = rng.choice([0.0002, 0.004, 0.01, 0.01, 0.03])
        draw = lambda k, scale: [digits(rng.gauss(0, scale)) for _ in range(k)]
        case = dict(stock_legs=draw(rng.choice([2, 3, 4, 5, 6, 6, 9]), sd / math.sqrt(2)),
                    null_pairs=draw(rng.choice([0, 0, 0, 1, 4]), sd),
                    comparisons=[draw(rng.randint(1, 6), sd) for _ in range(rng.choice([0, 0, 1, 3]))])
        if rng.random() < 0.15:  # a burst hits the pool; the clamp must hold it
            case["stock_legs"][0] = digits(case["stock_legs"][0] - 12 * sd)
        plan = dict(alpha_k=rng.choice([0.0025, 0.0025, 0.05, 0.01]), max_pairs=rng.choice([10, 10, 6, 16]),
                    min_pairs=3, useful_gain=rng.choice([0.005, 0.0, 0.02]))
        theta, noisier = rng.choice([-1, 0, 0, 1, 2, 2, 3, 5]) * sd, rng.choice([1, 1, 1, 4])
        d = [digits(rng.gauss(theta, sd * noisier)) for _ in range(plan["max_pairs"])]
        if rng.random() < 0.15:
            d[rng.randrange(4)] = digits(20 * sd)
        pool = pool_of(case)
        case.update(plan=plan, differences=d, df=pool[1],
                    looks=[look(pool, d[:n], plan) for n in range(1, len(d) + 1)],
                    margin=digits(rng.choice([1, 1.5, 2, 3]) * sd),
                    claim=dict(level=0.95, expect=claim(d, 0.95)))
        case["guards"] = [guard(pool, d[:n], case["margin"], plan["max_pairs"]) for n in range(1, len(d) + 1)]
        cases.append(case)
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "cases", "stats", "looks.json")
    with open(target, "w") as out:
        out.write('{"schema": 1, "made_by": "tests/tools/make_stats_looks.py", "cases": [\n')
        out.write(",\n".join(json.dumps(short(case)) for case in cases))
        out.write("\n]}\n")
    verdicts = [x["verdict"] for case in cases for x in case["looks"]]
    own = sum(1 for case in cases for x in case["looks"] if x["n"] >= 4 and x["s_own_over_pool"] > 2)
    print(len(verdicts), "looks:", {v: verdicts.count(v) for v in sorted(set(verdicts))}, "own t:", own)


if __name__ == "__main__":
    main()
