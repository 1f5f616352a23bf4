#!/usr/bin/env bash
# The main job, end to end, in a store of its own (.demo): grow a graph, search it, print faster code.
# Called by `make demo`, which puts .venv/bin on PATH.
set -euo pipefail
export REGRAPH_DATA_DIR=.demo
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say regraph ingest corpus/trajectories/*.jsonl
say regraph graph stats
say regraph optimize matmul --target openmp --model recorded --budget 24 --seed 1 --output .demo/matmul.cpp
cat <<'END'

Look around (the demo's graph is in .demo):
  export REGRAPH_DATA_DIR=.demo PATH="$PWD/.venv/bin:$PATH"
  regraph techniques list
  regraph optimize --help
END
