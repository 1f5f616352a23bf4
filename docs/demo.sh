#!/usr/bin/env bash
# The main job, end to end, in a store of its own: grow a graph, search it, print faster code.
# Called by `make demo`, which puts .venv/bin on PATH.
set -euo pipefail
export REGRAPH_DATA_DIR="${REGRAPH_DATA_DIR:-.demo}"
# The store lives for minutes only, in which a good compiler of Java costs more than it gains.
export ARCADEDB_JVM_ARGS="${ARCADEDB_JVM_ARGS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"
say() { printf '\n$ %s\n' "$*"; "$@"; }

say regraph ingest --starter
say regraph graph report
say regraph optimize reduction --target openmp --model recorded --fast --budget 3 --set run.seed=1 \
  --runs "$REGRAPH_DATA_DIR/runs" --output "$REGRAPH_DATA_DIR/reduction.cpp"
run="$(ls -t "$REGRAPH_DATA_DIR"/runs/*.jsonl | head -n 1)"
say regraph report "$run" --output "$REGRAPH_DATA_DIR/report.html"
cat <<END

The search as a page, its tree and every answer: open $REGRAPH_DATA_DIR/report.html in a browser.
What the model answered was recorded; graph, compiler, verification and clock are real. Look around:
  export REGRAPH_DATA_DIR=$REGRAPH_DATA_DIR PATH="\$PWD/.venv/bin:\$PATH"
  regraph techniques show loop-interchange --target openmp
  regraph optimize stencil
END
