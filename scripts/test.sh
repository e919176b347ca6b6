#!/usr/bin/env bash
# Runs every test: the suite on TensorFlow, then layers and models again on JAX. test.sh WORKERS
set -euo pipefail
workers=$1
# Many tests start processes, which then need not compile firth again.
unset PYTHONDONTWRITEBYTECODE
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-2}

.venv/bin/python -m pytest -n "$workers" --dist loadfile
# Tests compile much and compute little, so XLA leaves out the passes that take long, and what one worker or an
# earlier run has compiled is kept.
export XLA_FLAGS="--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true ${XLA_FLAGS:-}"
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-$PWD/build/jax-cache}
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1
echo "Layers and models on the JAX backend:"
KERAS_BACKEND=jax .venv-jax/bin/python -m pytest tests/layers tests/models -p no:cacheprovider -n "$workers" --dist loadfile
