#!/usr/bin/env bash
# Runs the tests that have a marker, or have it not, on TensorFlow: test.sh WORKERS MARKERS [ARGUMENTS OF PYTEST...]
# With $FOLDER (firth/corpus, firth/corpus/dedup, ...) it runs that folder's tests and doctests alone.
set -euo pipefail
# Many tests start processes, which then need not compile firth again.
unset PYTHONDONTWRITEBYTECODE
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-2}
# Large pages of memory take 2% of the time less. C libraries other than glibc ignore it.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}
workers=$1 markers=$2
shift 2
exec "${VENV:-.venv}/bin/python" -m pytest -n "$workers" --dist loadfile --no-loadscope-reorder -m "$markers" \
  --folder="${FOLDER:-}" "$@"
