#!/usr/bin/env bash
# Lint and a smoke test on the second stack, in the Debian 13 of scripts/second_stack.sh: a pipeline from text to a
# SavedModel, the process that checks one, the layers, the tokenizers, and models and tokenizers of other libraries.
#
# Exits with 0 if all pass, with 75 if nothing could be run (Debian's mirror does not answer, or nobody may mount), and
# with 1 otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=(
  tests/pipelines/pretrain_test.py
  tests/serving/validation_test.py
  tests/layers/layers_checklist_test.py
  tests/tokenizers/graph
  tests/tokenizers/word_piece_test.py
  tests/tokenizers/byte_pair_test.py
  tests/corpus/filters/normalize_test.py
  tests/interop/hugging_face/importing_loading_test.py
  tests/interop/hugging_face/tokenizers/tokenizers_ids_test.py
  tests/interop/keras_hub/importing_test.py
  tests/cli/main_test.py
)
status=0
# In the root, 75 would be no answer of the mirror.
scripts/second_stack.sh bash -c 'make lint && scripts/test.sh "$@" || exit 1' bash \
  "${PYTEST_WORKERS:-2}" "not repeated" "${tests[@]}" || status=$?
case $status in
  0) echo "second stack: lint and the smoke test pass" ;;
  75) echo "NOT RUN: second stack (Debian's mirror does not answer, or this machine lets nobody mount)" ;;
  *) echo "second stack: failed" >&2; status=1 ;;
esac
exit "$status"
