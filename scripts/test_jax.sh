#!/usr/bin/env bash
# Runs the tests of layers, models and methods on Keras's JAX backend: test_jax.sh WORKERS [all|few]
# `few` are all layers and losses, and a model of each backbone.
set -euo pipefail
# Tests compile much and compute little, so XLA leaves out the passes that take long, and what one worker or an
# earlier run has compiled is kept.
export XLA_FLAGS="--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true ${XLA_FLAGS:-}"
export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-$PWD/build/jax-cache}
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1
case "${2:-all}" in
  all) tests=(tests/layers tests/models tests/tuning/tuning_backends_test.py tests/language_model/model_features_test.py) ;;
  few)
    tests=(tests/layers/layers_checklist_test.py tests/layers/*losses*_test.py
           tests/models/models_checklist_test.py tests/language_model/model_features_test.py
           -k "layers or language_model or (test_predictions or test_compiled or test_every_weight) and not (span_masking or replaced)")
    ;;
  *) echo "test_jax.sh: ${2} is neither all nor few" >&2; exit 2 ;;
esac
echo "Layers, models and methods on the JAX backend (${2:-all}):"
KERAS_BACKEND=jax "${VENV_JAX:-.venv-jax}/bin/python" -m pytest "${tests[@]}" -p no:cacheprovider -n "$1" --dist loadfile
