#!/usr/bin/env bash
# Runs what needs a GPU on a host that reaches no package index: carry this repository and one archive.
#
#   benchmarks/gpu_host.sh pack PYTHON FILE          here: the dependencies for that Python (3.12), as FILE (23 MB)
#   benchmarks/gpu_host.sh unpack FILE FOLDER        there: makes FOLDER/env.sh, to be sourced
#   benchmarks/gpu_host.sh lane NAME GPU CORES SCRIPT..    there: each SCRIPT line in turn, on one GPU ("-": none)
#                                                    and these cores (0-15); FOLDER/out has what each prints
#   .. | benchmarks/gpu_host.sh each CORES 'COMMAND' there: COMMAND for each line (its words are $1 ..), one at a
#                                                    time on every GPU, each with so many cores
#
# Not packed: the embedded store.
set -euo pipefail
TESTS="hypothesis jsonschema landlockpy mcp pytest pytest-rerunfailures pytest-timeout pytest-xdist pyyaml"
here=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
pack)
  site=$(mktemp -d)
  trap 'rm -rf "$site"' EXIT
  export="uv export --quiet --project $here --no-hashes --no-emit-project --no-annotate"
  $export | grep -v '^arcadedb' >"$site/base.txt"
  $export --extra dev >"$site/versions.txt"
  uv pip install --quiet --target "$site/packages" --python-version "$2" --only-binary :all: \
    --python-platform x86_64-manylinux_2_28 -r "$site/base.txt" -c "$site/versions.txt" $TESTS
  tar cf - -C "$site/packages" --exclude=bin . | xz -3 -T0 >"$3"
  ;;
unpack)
  mkdir -p "$3/site" "$3/bin" "$3/out"
  tar xJf "$2" -C "$3/site"
  about=$3/site/regraph_kg-0.dist-info # entry points and version are asked for
  mkdir -p "$about"
  version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/pyproject.toml")
  printf 'Metadata-Version: 2.1\nName: regraph-kg\nVersion: %s\n' "$version" >"$about/METADATA"
  printf '[console_scripts]\nregraph = regraph_kg.cli:main\n' >"$about/entry_points.txt"
  printf '#!/bin/sh\nexec python3 -c "import sys; sys.argv[0] = %s; from regraph_kg.cli import main; main()" "$@"\n' \
    "'regraph'" >"$3/bin/regraph"
  chmod +x "$3/bin/regraph"
  printf 'export GPU_HOST=%s PYTHONPATH=%s/site:%s PATH=%s/bin:$PATH\n' "$3" "$3" "$here" "$3" >"$3/env.sh"
  ;;
lane)
  name=$2 gpu=$3 cores=$4
  shift 4
  [ "$gpu" = - ] || export CUDA_VISIBLE_DEVICES=$gpu
  export TMPDIR=$GPU_HOST/tmp-${SLOT:-$name} XDG_CACHE_HOME=$GPU_HOST/cache-${SLOT:-$name}
  mkdir -p "$TMPDIR" "$XDG_CACHE_HOME"
  number=0
  for script in "$@"; do
    number=$((number + 1))
    start=$(date +%s)
    taskset -c "$cores" bash -c "$script" >"$GPU_HOST/out/$name-$number.out" 2>"$GPU_HOST/out/$name-$number.err" && ended=0 || ended=$?
    echo "$name $number: $ended, $(($(date +%s) - start)) s: $script" >>"$GPU_HOST/out/log"
  done
  ;;
each)
  export EACH_CORES=$2 EACH_COMMAND=$3 EACH_SELF=$here/benchmarks/gpu_host.sh
  xargs -P "$(nvidia-smi -L | wc -l)" --process-slot-var=SLOT -I{} bash -c '
    first=$((SLOT * EACH_CORES))
    set -f -- {}
    name=$(printf "%s-" "$@")
    "$EACH_SELF" lane "${name%-}" "$SLOT" "$first-$((first + EACH_CORES - 1))" "set -f -- {}; set +f; $EACH_COMMAND"'
  ;;
*)
  sed -n '2,11s/^# \{0,1\}//p' "$0"
  exit 2
  ;;
esac
