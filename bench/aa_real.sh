#!/usr/bin/env bash
# Real comparisons of the stock engine against itself: how many would be kept? Usage: bench/aa_real.sh [--noisy] [PAIRS]
# --noisy starts a neighbour of its own, whose bursts lie partly below and partly above what makes a leg void.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
noisy=false
if [[ "${1:-}" == --noisy ]]; then noisy=true; shift; fi
folder=$(mktemp -d)
build/release/hyperloom init --out "$folder/workload.yaml" >/dev/null
# Legs of about 10 seconds, boot and drain included.
sed -i 's/time_s: 1500/time_s: 750/' "$folder/workload.yaml"
trap 'kill "${neighbour:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
if $noisy; then
  python3 -c '
import random, time
while True:
    until = time.monotonic() + (random.uniform(1, 4) if random.random() < 0.03 else random.uniform(0.02, 0.3))
    while time.monotonic() < until: pass
    time.sleep(random.uniform(0.5, 4))' &
  neighbour=$!
fi
build/release/hyperloom doctor --noise --workload "$folder/workload.yaml" --pairs "${1:-100}"
