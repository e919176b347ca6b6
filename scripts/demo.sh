#!/usr/bin/env bash
# The main job on real text: trains the recipe `demo`, then asks the served model.
set -euo pipefail
root=${FIRTH_ROOT:-firth-runs}
firth=${VENV:-.venv}/bin/firth

$firth run demo --root "$root"
echo
$firth predict demo --root "$root" fill-mask "Returns a new [MASK] with the given shape." "If [MASK], return a copy."
echo
$firth predict demo --root "$root" embed "The mean of the array along an axis."
echo
echo "The report: $($firth report demo --root "$root")"
