#!/usr/bin/env bash
# Makes one virtual environment from one lock: make_env.sh UV FOLDER LOCK
set -euo pipefail
uv=$1 folder=$2 lock=$3

if ! "$uv" venv --quiet --clear --python "$(cat .python-version)" "$folder" 2>/tmp/firth-venv.$$; then
  sed 's/^/  /' /tmp/firth-venv.$$ >&2; rm -f /tmp/firth-venv.$$
  echo "make: no Python $(cat .python-version) was found and none could be fetched; install one" \
       "(for example 'pyenv install 3.10', or your distribution's python3.10 package) and run make again." >&2
  exit 1
fi
rm -f /tmp/firth-venv.$$
echo "Installing $(grep -c '==' "$lock") pinned packages into $folder ..."
"$uv" pip sync --quiet --python "$folder/bin/python" "$lock"
