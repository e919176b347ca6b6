#!/usr/bin/env bash
# Makes one virtual environment from one lock: make_env.sh UV FOLDER LOCK VERSION
set -euo pipefail
uv=$1 folder=$2 lock=$3 version=$4

if ! said=$("$uv" venv --quiet --clear --python "$version" "$folder" 2>&1); then
  echo "$said" >&2
  echo "make: no Python $version was found and none could be fetched; install one (for example" \
       "'pyenv install $version', or your distribution's python$version package) and run make again." >&2
  exit 1
fi
echo "Installing $(grep -c '==' "$lock") pinned packages into $folder ..."
# Compiled here, once, and not by each process that imports them where Python may not write what it compiles.
# A file takes longer than uv's minute where the disk is slow.
UV_COMPILE_BYTECODE_TIMEOUT=${UV_COMPILE_BYTECODE_TIMEOUT:-900} "$uv" pip sync --quiet --compile-bytecode --python "$folder/bin/python" "$lock"
