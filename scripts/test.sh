#!/usr/bin/env bash
# Runs the tests that have a marker, or have it not, on TensorFlow: test.sh WORKERS MARKERS [ARGUMENTS OF PYTEST...]
set -euo pipefail
# Many tests start processes, which then need not compile firth again.
unset PYTHONDONTWRITEBYTECODE
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-2}
exec "${VENV:-.venv}/bin/python" -m pytest -n "$1" --dist loadfile --no-loadscope-reorder -m "$2" "${@:3}"
