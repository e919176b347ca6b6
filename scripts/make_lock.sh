#!/usr/bin/env bash
# Resolves the requirements anew and writes the locks, without hosts or annotations: make_lock.sh UV
set -euo pipefail
uv=$1

# lock VERSION PLATFORM EXTRA...: the two locks of one Python version.
lock() {
  local version=$1 platform=$2 digits=${1/./}
  shift 2
  local options=(--quiet --python-version "$version" --python-platform "$platform"
    --no-header --no-annotate --no-emit-index-url)
  "$uv" pip compile "${options[@]}" setup.py --extra test --extra bench "$@" --output-file "requirements/py$digits.txt"
  "$uv" pip compile "${options[@]}" requirements/jax.in --output-file "requirements/jax-py$digits.txt"
}

# One lock for all Python versions: the site needs nothing of what the stacks differ in.
"$uv" pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate --no-emit-index-url \
  requirements/docs.in --output-file requirements/docs.txt

lock 3.10 x86_64-manylinux_2_28 --extra modelgarden --constraint requirements/constraints.txt
for version in 3.11 3.12 3.13; do
  lock "$version" x86_64-manylinux_2_40
done
