#!/usr/bin/env bash
# The benches behind docs/results/, on a host with two GPUs and 32 cores: the model has the first GPU
# and four cores, the judge the second and 12, or 16 for OpenMP. A bench beside others needs a GPU
# and CORES of its own (GPU=2 CORES=16-27), or they disturb each other's times; a second model needs
# a PORT and SERVER_CORES of its own.
#
#   bash benchmarks/small_model.sh MODEL.gguf NAME SUITE-TARGET ARM,ARM.. [PAREVAL]
#
# SUITE-TARGET is shipped-cuda, shipped-openmp, held-out-cuda (benchmarks/held_out/, without transfers),
# unseen-cuda (benchmarks/unseen/, likewise), held-out-openmp, unseen-openmp or pareval-openmp; ONLY names some
# problems of a folder; leave out of the graph what computes the same. CALLS are those of a search (24, or 5
# of ParEval), FINAL the grade of its last measurement. A bench goes on from docs/results/KEPT.json (another name where the product
# is another one: else old searches count as done) and ends after MINUTES (all of it, if not set). Needs
# regraph, torch, gguf and tokenizers on PATH.
set -euo pipefail
weights=$(realpath "$1") name=$2 bench=$3 arms=$4 checkout=$(realpath "${5:-.}")
folder=$(realpath "$(dirname "$0")")
kept=${KEPT:-$bench-${name%-instruct*}} file=${folder%/*}/docs/results
work=${TMPDIR:-/tmp}/regraph-small-model into=$kept file=$file/$kept.json
port=${PORT:-8080}
export REGRAPH_OPENAI_URL=http://127.0.0.1:$port/v1 REGRAPH_MODEL_MAX_TOKENS=2048

umask 077
mkdir -p "$work/$into"
cd "$work"
server=gpu_model_server.py log=$work/server-$name.log
if ! pgrep -f "$server $weights" > /dev/null; then
  pkill -f "$server .* --port $port" && sleep 2 || true
  CUDA_VISIBLE_DEVICES=0 setsid nohup taskset -c "${SERVER_CORES:-0-3}" python3 "$folder/$server" \
    "$weights" "$name" --port "$port" --slots 48 > "$log" 2>&1 < /dev/null &
fi

cores=${CORES:-4-15} gpu=${GPU:-1} options=(--target "${bench##*-}" --budget "${CALLS:-24}" --final "${FINAL:-full}")
case $bench in
  held-out-* | unseen-*)
    suite=${bench%-*} problems=$into/problems
    rm -rf "$problems" && mkdir "$problems"
    for one in ${ONLY:-$(ls "$folder/${suite/-/_}")}; do
      test ! -d "$folder/${suite/-/_}/$one" || cp -r "$folder/${suite/-/_}/$one" "$problems"
    done
    test "${bench##*-}" = openmp || sed -i 's/metric = "call"/metric = "device"/' "$problems"/*/problem.toml
    options+=("$problems") ;;&
  *-openmp) cores=${CORES:-16-31} gpu='' ;;&
  pareval-openmp) options=(--suite pareval --checkout "$checkout" --budget "${CALLS:-5}") ;;
esac
export REGRAPH_DATA_DIR=$work/data-$cores TMPDIR=$work/tmp-$cores # judges with one TMPDIR take turns
mkdir -p "$TMPDIR"
judge() { CUDA_VISIBLE_DEVICES=$gpu taskset -c "$cores" "$@"; }
for arm in ${arms//,/ }; do options+=(--arm "$arm"); done

test -d "$REGRAPH_DATA_DIR" || regraph ingest --starter
test -e "doctor-$cores.log" || judge regraph doctor > "doctor-$cores.log" 2>&1 || true # the roof
test -e "$into/results.json" || ! test -e "$file" || cp "$file" "$into/results.json"
for _ in $(seq 120); do grep -q serving "$log" && break; sleep 1; done
judge timeout --foreground --signal INT "${MINUTES:-0}m" \
  python -m benchmarks.bench --model "openai:$name" --parallel "${PARALLEL:-24}" "${options[@]}" --into "$into" || test $? -ge 4
cd "$folder" && python3 keep.py "$work/$into/results.json" "$file"
