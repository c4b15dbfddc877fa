#!/usr/bin/env bash
# What hyperloom itself costs: start, memory, size, build. Usage: bench/self_cost.sh [SESSION_PID]
# With the pid of a running session its resident memory is read; the peer beside us is python3 starting and stopping.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=build/release/hyperloom
[ -x "$program" ] || { echo "self_cost: build first: scripts/build" >&2; exit 2; }

median_ms() {    # of 21 starts
  for _ in $(seq 21); do
    local from to; from=$(date +%s%N); "$@" >/dev/null; to=$(date +%s%N)
    echo $(((to - from) / 1000))
  done | sort -n | sed -n 11p | awk '{printf "%.1f", $1 / 1000}'
}
stripped=$(mktemp); trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
ours=$(median_ms "$program" --version); peer=$(median_ms python3 -c pass)
echo "date              $(date -u +%F), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(nproc) cores"
echo "start             $ours ms (python3 -c pass: $peer ms)"
echo "binary, stripped  $(awk -v b="$(stat -c %s "$stripped")" 'BEGIN {printf "%.1f MB", b / 1e6}')"
echo "source            $(cat src/*/*.cc src/*/*.h | wc -l) lines with tests, $(ls src/*/*.cc src/*/*.h | grep -v _test | xargs cat | wc -l) without"
if [ -n "${1:-}" ]; then echo "session, resident $(awk '/VmHWM/ {printf "%.1f MB at its peak", $2 / 1000}' "/proc/$1/status")"; fi
