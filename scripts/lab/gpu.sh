#!/usr/bin/env bash
# What this project does with a GPU that is lent for minutes, on a machine with neither Node, nor pydantic, nor a network connection, but
# with Python 3.12, PyTorch and CUDA's libraries. docs/dev/gpu-lab.md has the calls of a lease.
#
#   scripts/lab/gpu.sh pack DIR      here: lays everything into DIR/1, DIR/2 …, each for one transfer (PART_MIB, 60 by default)
#   bash DIR/gpu.sh prove OUT        there: does the CUDA backend load, agree with the CPU, and search as fast as it evaluates?
#   bash DIR/gpu.sh train OUT        there: shards of all labels, then the runs of RUNS side by side; checkpoints every 100 s
#   bash DIR/gpu.sh label OUT        there: labels of new games by the packed engine, one process a core
#
# pack reads LABELS (files of labelled games, .jsonl.gz or .labels.xz, with the labels.py that unpacks them beside them), VALIDATION (such
# a file, held out) and RESUME (a folder with RUN/stable.pt or RUN/last.pt of an earlier lease). There, SECONDS_LEFT ends a step (prove 240,
# the others 480), and WORK is where pieces are unpacked. BACKEND=cpu SIZE=tiny, for pack and for every step, rehearses it all on a CPU.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
backend=${BACKEND:-cuda} size=${SIZE:-full} work=${WORK:-/tmp/sardonyx-gpu}
ort_version=1.30.0 stockfish_version=19.0.0 python_version=3.12
natives=program/node_modules/onnxruntime-node/bin/napi-v6/linux/x64

# The runs: name, configuration, weights to begin with, encoding, minibatch, AdamW's and Muon's rate.
list_runs() {
  cat <<'RUNS'
96x8 sardonyx-sight-96x8-sharp default.pt lc0-112 1024 0.001 0.01
96x12 sardonyx-sight-96x12 default-large.pt lc0-112 1024 0.0008 0.008
48x5 sardonyx-sight-48x5-light light-48x5.pt attacks-50 2048 0.0015 0.015
RUNS
}
[ "$size" = tiny ] && default_runs=48x5 || default_runs="96x8 96x12"
read -ra runs <<<"${RUNS:-$default_runs}"

fail() {
  echo "gpu.sh: $*" >&2
  exit 1
}

say() {
  echo "[$SECONDS s] $*" >&2
}

pack() {
  local target=$1 root part_bytes=$((${PART_MIB:-60} << 20)) preset=9 stockfish=stockfish-19-single
  root=$(cd "$here/../.." && pwd)
  [ -f "$root/build/test/support/lc0-random-network.js" ] || fail "run npm run build first"
  shopt -s nullglob
  local found=("$root"/../shared/data/[uv][0-9]_*.{jsonl.gz,labels.xz})
  shopt -u nullglob
  local labels=${LABELS:-${found[*]}} validation=${VALIDATION:-$root/../shared/data/test_0000.jsonl.gz}
  [ -n "$labels" ] || fail "there are no labels: name files of labelled games by LABELS"
  [ -f "$validation" ] || fail "there are no held-out labels ($validation): name a file by VALIDATION"
  mkdir -p "$target" "$root/build/gpu-cache"
  target=$(cd "$target" && pwd) cache=$root/build/gpu-cache
  rm -rf "$target"/[0-9]*
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  [ "$size" != tiny ] || preset=0 stockfish=stockfish-19-lite-single

  local node
  node=$(node --input-type=module -e "
    import { fetchNode } from '$root/scripts/package/tools.mjs'; import { targets } from '$root/scripts/package/targets.mjs';
    console.log(fetchNode('$root/build/package', targets['linux-x64'].node))")
  # Large files that stay the same are compressed once: it takes minutes.
  keep() { # item, version, command that writes it to stdout
    local item=$1 kept=$cache/$2-$preset-$1
    shift 2
    if [ ! -e "$kept" ]; then
      "$@" | xz -T0 --x86 --lzma2=preset=$preset >"$kept.part"
      mv "$kept.part" "$kept"
    fi
    cp "$kept" "$stage/$item"
  }
  stripped() { cp "$node" "$stage/node" && strip "$stage/node" && cat "$stage/node" && rm "$stage/node"; }
  keep node.xz "$(basename "$(dirname "$(dirname "$(dirname "$node")")")")" stripped
  keep onnxruntime.xz $ort_version cat "$root/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1"
  [ "$backend" = cpu ] || keep provider.tar.xz $ort_version provider "$node" "$root"
  keep engine.tar.xz "$stockfish" engine

  lay_program "$root" "$stage/program" | xz -T0 -$preset >"$stage/program.tar.xz"
  lay_training "$root" "$stage/training" "$labels" "$validation" >"$stage/training.tar"
  lay_pieces "$target" "$part_bytes" node.xz onnxruntime.xz program.tar.xz provider.tar.xz training.tar / engine.tar.xz
  cp "${BASH_SOURCE[0]}" "$target/gpu.sh"
  (cd "$stage" && sha256sum ./*.xz ./*.tar) >"$target/1/sums"
  du -b "$target"/[0-9]* >&2
}

provider() {
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version $python_version --platform manylinux_2_28_x86_64 \
    --dest "$stage/wheel" "onnxruntime-gpu==$ort_version" >&2
  (cd "$stage/wheel" && python3 -m zipfile -e ./*.whl . && cd onnxruntime/capi && mv libonnxruntime_providers_{cuda,shared}.so "$stage")
  "$1" "$2/scripts/lab/gpu/slim-provider.mjs" "$stage/libonnxruntime_providers_cuda.so" 90 >&2
  tar -C "$stage" -cf - --remove-files libonnxruntime_providers_{cuda,shared}.so
  rm -rf "$stage/wheel"
}

engine() {
  (cd "$stage" && npm pack --silent "stockfish@$stockfish_version" >&2 && tar -xzf stockfish-*.tgz && rm stockfish-*.tgz)
  tar -C "$stage/package/bin" -cf - --transform 's,.*\.,engine/stockfish.,' "$stockfish.js" "$stockfish.wasm" && rm -r "$stage/package"
}

# The built program with the packages that it needs, and what makes random networks.
lay_program() {
  local root=$1 to=$2 file
  mkdir -p "$to/node_modules" "$to/models" "$to/build/test/support" "$to/scripts/lab/models"
  cp -r "$root/dist" "$root/package.json" "$to/"
  cp "$root"/models/{bundled.json,default.onnx,default-large.onnx} "$to/models/"
  rm -rf "$to/dist/web"
  (cd "$root" && npm ls --omit=dev --all --parseable 2>/dev/null | tail -n +2) | while read -r folder; do
    local relative=${folder#"$root/"}
    mkdir -p "$to/$(dirname "$relative")"
    cp -r "$folder" "$to/$(dirname "$relative")/"
  done
  rm -rf "$to"/node_modules/{typescript,onnxruntime-node/bin}
  mkdir -p "$stage/$natives"
  cp "$root/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/onnxruntime_binding.node" "$stage/$natives/"
  for file in lc0-network-file lc0-random-network wire-writer random-network onnx-writer; do
    cp "$root/build/test/support/$file.js" "$to/build/test/support/"
  done
  cp "$root/scripts/lab/models/make-random.mjs" "$to/scripts/lab/models/"
  cp "$root"/scripts/lab/gpu/{prove,watch}.mjs "$to/"
  find "$to" \( -name '*.map' -o -name '*.d.ts' -o -name '*.min.js' -o -name '*.md' \) -delete
  tar -C "$stage" -cf - --remove-files program
}

# Labels, the package that trains, its weights and the wheels that it lacks there.
lay_training() {
  local root=$1 to=$2 labels=$3 validation=$4 version
  mkdir -p "$to"/{labels,validation,wheels,weights}
  for file in $labels; do
    case $file in
      *.jsonl.gz) compact "$file" "$to/labels" ;;
      *) cp "$file" "$to/labels/" && cp "$(dirname "$file")/labels.py" "$to/" ;;
    esac
  done
  cp "$validation" "$to/validation/"
  cp -r "$root"/scripts/train/{sardonyx_train,configs} "$to/"
  find "$to" -name __pycache__ -exec rm -r {} +
  cp "$root"/models/*.pt "$to/weights/"
  [ -z "${RESUME:-}" ] || cp -r "$RESUME" "$to/runs"
  # Of this machine's Python as well, so that the rehearsal has what the lent machine gets.
  for version in $python_version "$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"; do
    python3 -m pip download --quiet --only-binary=:all: --python-version "$version" --platform manylinux_2_17_x86_64 \
      --dest "$to/wheels" $(grep -oE '(pydantic|rich)==[0-9.]*' "$root/scripts/train/pyproject.toml") >&2
  done
  tar -C "$stage" -cf - --remove-files training
}

# Games of .jsonl.gz in half the room, if labels.py is beside them.
compact() {
  local file=$1 to=$2 packed
  packed=$cache/$(basename "$file" .jsonl.gz).labels.xz
  if [ ! -f "$(dirname "$file")/labels.py" ]; then
    cp "$file" "$to/"
  else
    [ "$packed" -nt "$file" ] || python3 "$(dirname "$file")/labels.py" pack "$file" --out "$cache" >&2
    cp "$packed" "$to/"
  fi
}

# Fills DIR/1, DIR/2 … with the items in order, cut where a folder is full; "/" begins a new folder.
lay_pieces() {
  local target=$1 room=$2 part_bytes=$2 folder=1 item
  shift 2
  mkdir -p "$target/1"
  for item; do
    if [ "$item" = / ]; then
      room=0
      continue
    fi
    [ -e "$stage/$item" ] || continue
    local at=0 end
    end=$(stat -c %s "$stage/$item")
    while [ $at -lt "$end" ]; do
      if [ $room -le 0 ]; then
        folder=$((folder + 1)) room=$part_bytes
        mkdir -p "$target/$folder"
      fi
      tail -c +$((at + 1)) "$stage/$item" | head -c $room >"$target/$folder/$item" || true
      local written
      written=$(stat -c %s "$target/$folder/$item")
      at=$((at + written)) room=$((room - written))
    done
  done
}

# Python and the standard library there do what tar and xz would do, which may be missing.
unpack() { # item, folder or file to write
  [ -e "$work/done/$1" ] && return
  local sum
  sum=$(cat "$here"/[0-9]*/"$1" 2>/dev/null | sha256sum | cut -d ' ' -f 1)
  grep -q "^$sum  ./$1$" "$here/1/sums" || fail "$1 is not all here: carry more of the folders $here/1, $here/2 …"
  mkdir -p "$(dirname "$2")" "$work/done"
  cat "$here"/[0-9]*/"$1" | python3 -W ignore -c '
import lzma, shutil, sys, tarfile
item, target = sys.argv[1:]
if ".tar" in item: tarfile.open(fileobj=sys.stdin.buffer, mode="r|*").extractall(target)
else: shutil.copyfileobj(lzma.open(sys.stdin.buffer), open(target, "wb"))' "$1" "$2"
  touch "$work/done/$1"
}

unpack_program() {
  mkdir -p "$work"
  unpack program.tar.xz "$work" &
  unpack node.xz "$work/node" &
  unpack onnxruntime.xz "$work/$natives/libonnxruntime.so.1" &
  if [ "$1" = prove ] && [ "$backend" != cpu ]; then unpack provider.tar.xz "$work/$natives" & fi
  wait_for_all
  chmod +x "$work/node"
  say "unpacked the program"
}

wait_for_all() {
  local job
  for job in $(jobs -p); do wait "$job" || exit 1; done
}

sardonyx() {
  "$work/node" "$work/program/dist/cli/main.js" "$@"
}

# CUDA's libraries as pip installs them beside torch and its likes; the system's own are found without help.
find_cuda_libraries() {
  python3 - <<'PYTHON'
import glob, os, site, sys
roots = site.getsitepackages() + [site.getusersitepackages()] + sys.path
folders = {os.path.dirname(path) for root in roots for path in glob.glob(os.path.join(root, "nvidia", "**", "lib", "*.so*"), recursive=True)}
print(":".join(sorted(folders)))
PYTHON
}

prove() {
  unpack_program prove
  LD_LIBRARY_PATH="$(find_cuda_libraries):${LD_LIBRARY_PATH:-}"
  export LD_LIBRARY_PATH
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | tee "$out/device.txt" || true
  "$work/node" "$work/program/prove.mjs" "$out" "$backend" "$size" $((${SECONDS_LEFT:-240} - SECONDS))
  tar -C "$work/program" -cf "$out/watched.tar" watched
}

train() {
  local deadline=${SECONDS_LEFT:-480} data=$work/training encodings name config weights encoding batch rate muon
  unpack_program train
  unpack training.tar "$work"
  python3 -m pip install --quiet --no-index --find-links "$data/wheels" --target "$data/site" pydantic rich 2>"$work/pip.log" || fail "$(cat "$work/pip.log")"
  export PYTHONPATH=$data:$data/site PYTHONUNBUFFERED=1
  # labels.py starts eight processes for eight files.
  find "$data/labels" -name '*.labels.xz' | xargs -r -n 8 -P $((($(nproc) + 7) / 8)) python3 "$data/labels.py" unpack --out "$data/labels" >"$work/labels.log"
  say "unpacked the labels"
  wanted() { list_runs | while read -r line; do case " ${runs[*]} " in *" ${line%% *} "*) echo "$line" ;; esac; done; }
  [ "$(wanted | wc -l)" = ${#runs[@]} ] || fail "RUNS: ${runs[*]}: there are $(list_runs | cut -d ' ' -f 1 | paste -sd ' ')"
  encodings=$(wanted | cut -d ' ' -f 4 | sort -u)
  for encoding in $encodings; do
    sardonyx shards "$data"/labels/*.jsonl.gz --out "$data/shards/$encoding" --encoding "$encoding" --split 100/0/0 --threads "$(nproc)" --json
    sardonyx shards "$data"/validation/* --out "$data/held-out/$encoding" --encoding "$encoding" --split 100/0/0 --threads "$(nproc)" --json
    say "made the shards of $encoding"
  done | tee "$out/shards.json"
  pids=()
  trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
  while read -r name config weights encoding batch rate muon; do
    start_run &
    pids+=($!)
  done < <(wanted)
  while sleep 2 && kill -0 "${pids[@]}" 2>/dev/null; do
    [ $((SECONDS - ${returned:=$SECONDS})) -lt 100 ] || { bring_back && returned=$SECONDS; }
  done
  local status=0 pid
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  bring_back
  for name in "${runs[@]}"; do tail -n 2 "$data/runs/$name/log" | cut -c 1-400; done
  say "trained"
  return $status
}

# One run to the end of the lease, by the package's own trainer: the last 35 seconds are for its start, last evaluation and the way back.
start_run() {
  local folder=$data/runs/$name resume=() before=0 checkpoint
  mkdir -p "$folder"
  for checkpoint in "$folder"/{stable,last}.pt; do
    [ -e "$checkpoint" ] || continue
    resume=(--resume "$checkpoint" --overwrite)
    before=$(python3 -c 'import sys, torch; print(torch.load(sys.argv[1], weights_only=True)["progress"]["minutes"])' "$checkpoint")
    break
  done
  local settings=(
    data.train="[$data/shards/$encoding]" data.validation="[$data/held-out/$encoding]" data.batch_size="$batch" data.workers=4
    data.short_mate_copies=3 targets.policy_temperature_cp=10 targets.policy_mate_step_cp=60 targets.result_weight=0 loss.value=2
    optimizer.learning_rate="$rate" optimizer.muon_learning_rate="$muon" schedule.kind=trapezoid schedule.decay_start=0.3
    schedule.max_minutes="$(python3 -c "print($before + max(0.1, ($deadline - $SECONDS - 35) / 60))")"
    run.start_from="$data/weights/$weights" run.out="$folder" run.precision=bf16 run.compile=true run.threads=0 run.tensorboard=false
    run.checkpoint_minutes=1.5 run.evaluate_minutes=1.5
  )
  [ "$size" != tiny ] || settings+=(data.batch_size=64 data.workers=1 run.compile=false schedule.max_steps="${STEPS:-2}" run.evaluate_positions=64)
  exec python3 -m sardonyx_train train --config "$data/configs/$config.yaml" "${settings[@]/#/--set=}" "${resume[@]}" >>"$folder/log" 2>&1
}

# All that a run needs to go on, in files of 15 MB; stable.pt as far as 58 MB allow.
bring_back() {
  local files=() total=0 file bytes
  for file in "$work"/training/runs/*/{history.jsonl,log,config.yaml,last.pt,stable.pt}; do
    [ -e "$file" ] || continue
    bytes=$(stat -c %s "$file")
    [ $((total + bytes)) -lt 58000000 ] || continue
    total=$((total + bytes))
    files+=("${file#"$work/training/"}")
  done
  return_files runs "$work/training" "${files[@]}"
}

return_files() { # name, folder, files in it
  local name=$1 folder=$2 part
  shift 2
  [ $# -gt 0 ] || return 0
  tar -C "$folder" -cf - "$@" | split -b 15000000 -d -a 1 - "$work/$name.tar."
  rm -f "$out/$name.tar."*
  for part in "$work/$name.tar."*; do mv "$part" "$out/"; done
  say "brought back $(du -cb "$out/$name.tar."* | tail -n 1 | cut -f 1) bytes of $name"
}

label() {
  local deadline=${SECONDS_LEFT:-480} folder=$work/new-labels limits=(--nodes 2000 --multipv 4)
  unpack_program label
  unpack engine.tar.xz "$work"
  [ "$size" != tiny ] || limits=(--nodes 100 --multipv 2 --games 2)
  sardonyx label --engine "cmd=$work/node args=$work/engine/stockfish.js" --out "$folder" --seed "${SEED:-1}" --concurrency "$(nproc)" \
    --book startpos:2:1-9 --book endgames:1 --wander 0.1-0.6 --blunder 0-0.08 --play-out 0.6 "${limits[@]}" --json >"$out/labels.json" &
  pids=($!)
  trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
  local returned=$SECONDS
  while sleep 2 && kill -0 "${pids[@]}" 2>/dev/null; do
    [ $((deadline - SECONDS)) -gt 15 ] || kill -INT "${pids[@]}"
    [ $((SECONDS - returned)) -lt 100 ] || { bring_labels_back && returned=$SECONDS; }
  done
  wait "${pids[@]}" || true
  bring_labels_back
}

bring_labels_back() {
  (cd "$work" && [ -d new-labels ]) && return_files labels "$work" new-labels
}

case ${1:-} in
  pack) [ $# -eq 2 ] || fail "pack needs a folder" && pack "$2" ;;
  prove | train | label)
    [ $# -eq 2 ] || fail "$1 needs a folder for its results"
    mkdir -p "$2"
    out=$(cd "$2" && pwd)
    "$1"
    say "$1 is done"
    ;;
  *) sed -n '2,15p' "${BASH_SOURCE[0]}" && exit 1 ;;
esac
