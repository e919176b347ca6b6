#!/usr/bin/env bash
# Draws mutants and runs the tests of each one's folder: mutants.sh UV. Where `make coverage` has run, only the files of
# tests that reach a mutant's line run. A second start continues. COUNT (120) and SEED (36) change the draw.
set -euo pipefail
uv=$1
mkdir -p build/mutants
unset PYTHONDONTWRITEBYTECODE
export TF_CPP_MIN_LOG_LEVEL=2
# cosmic-ray's newest versions need a Python that the tests' environment may not have.
[ -e build/mutants/mutants.json ] || "$uv" run --quiet --no-project --python 3.11 --with cosmic-ray==8.7.0 \
  python scripts/mutants/sample.py . build/mutants/mutants.json "${COUNT:-120}" "${SEED:-36}"
reached=()
[ ! -e build/coverage/lines.json ] || reached=(--coverage build/coverage/lines.json)
for part in 0 1; do
  "${VENV:-.venv}/bin/python" -m scripts.mutants.run build/mutants/mutants.json build/mutants/results.jsonl \
    --part "$part/2" "${reached[@]}" &
done
wait
"${VENV:-.venv}/bin/python" -m scripts.mutants.run build/mutants/mutants.json build/mutants/results.jsonl --summary
