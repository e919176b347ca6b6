#!/usr/bin/env bash
# Runs every test: the suite on TensorFlow, then layers and models again on JAX. test.sh WORKERS
set -euo pipefail
workers=$1
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-2}

.venv/bin/python -m pytest -n "$workers" --dist loadfile
echo "Layers and models on the JAX backend:"
KERAS_BACKEND=jax .venv-jax/bin/python -m pytest tests/layers tests/models -p no:cacheprovider -n "$workers" --dist loadfile
