#!/usr/bin/env bash
# Prints the Python version whose lock in requirements/ fits this machine. TFX 1.21's wheels need glibc 2.39: with an
# older one it is 3.10 (the first stack), else the newest that is installed of 3.13, 3.12 and 3.11 (the second stack).
set -euo pipefail
# Elsewhere than on glibc there is no such version.
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | awk '{print $2}') || glibc=
if [ "$(printf '%s\n2.39\n' "${glibc:-0}" | sort -V | head -n1)" != 2.39 ]; then
  echo 3.10
  exit
fi
for version in 3.13 3.12 3.11; do
  if "python$version" -c '' 2>/dev/null; then
    echo "$version"
    exit
  fi
done
echo 3.13
