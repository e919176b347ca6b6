#!/usr/bin/env bash
# Branch coverage of the tests that are not `repeated`, in this process's environment: coverage.sh UV WORKERS
# It leaves build/coverage/report.txt, and build/coverage/lines.json: the files of tests that reach each line.
set -euo pipefail
uv=$1 workers=$2
tools=$PWD/.tools/coverage
[ -d "$tools/coverage" ] || "$uv" pip install --quiet --python "${VENV:-.venv}/bin/python" --target "$tools" coverage==7.16.2
rm -rf build/coverage && mkdir -p build/coverage
export PYTHONPATH="$tools:$PWD"
scripts/test.sh "$workers" "not repeated" -p scripts.coverage_by_file --coverage-data build/coverage/data
"${VENV:-.venv}/bin/python" -m scripts.coverage_by_file build/coverage
