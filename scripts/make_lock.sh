#!/usr/bin/env bash
# Resolves the requirements anew and writes the locks, without hosts or annotations: make_lock.sh UV
set -euo pipefail
uv=$1
options=(--quiet --python-version "$(cat .python-version)" --no-header --no-annotate --no-emit-index-url)

"$uv" pip compile "${options[@]}" setup.py --extra modelgarden --extra test --extra bench \
  --constraint requirements/constraints.txt --output-file requirements/py310.txt
"$uv" pip compile "${options[@]}" requirements/jax.in --output-file requirements/jax.txt
