#!/usr/bin/env bash
# Runs a command on the second stack (Python 3.13, glibc 2.41) in Debian 13, on any Debian with root or with Docker.
#
#   scripts/second_stack.sh [COMMAND...]     (without one: make test-all)
#
# As root on Debian or Ubuntu it makes a root folder by mmdebstrap in $FIRTH_TRIXIE (once, some minutes) and runs the
# command there, in a mount namespace of its own. Delete the folder to be rid of it: nothing stays mounted in it.
# Elsewhere it takes Docker's debian:trixie. The checkout is /src/firth there, its ../shared (if any) /src/shared.
# The status is that of the command, or 75 if this machine lets nobody mount, or if the root must be made and Debian's
# mirror does not answer.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
root=${FIRTH_TRIXIE:-/var/cache/firth-trixie}
# g++: some packages come as sources only.
packages=ca-certificates,g++,git,libgomp1,make,python3-dev,python3-pip
inside=(HOME=/root LANG=C.UTF-8 PATH=/venv/bin:/usr/bin:/bin UV_CACHE_DIR=/var/cache/uv VENV=/venv VENV_JAX=/venv-jax
  JAX_COMPILATION_CACHE_DIR=/var/cache/firth-jax)
[ $# -gt 0 ] || set -- make test-all

run_in_docker() {
  local mounts=(--volume "$checkout:/src/firth" --volume firth-venv:/venv --volume firth-venv-jax:/venv-jax)
  [ ! -d "$checkout/../shared" ] || mounts+=(--volume "$checkout/../shared:/src/shared:ro")
  exec docker run --rm "${mounts[@]}" debian:trixie sh -c \
    "{ apt-get -qq update --error-on=any || exit 75; } && apt-get -qq install -y --no-install-recommends ${packages//,/ } >/dev/null &&
     cd /src/firth && exec env ${inside[*]} \"\$@\"" sh "$@"
}

mirror_answers() {
  local folder status=0
  folder=$(mktemp -d)
  # With the proxies and certificates that apt has.
  timeout 120 /usr/lib/apt/apt-helper -qq -o Acquire::Retries=2 download-file \
    "${mirror%/}/dists/trixie/InRelease" "$folder/InRelease" >/dev/null 2>&1 || status=$?
  rm -rf "$folder"
  return "$status"
}

# Ends with 75 if Debian's mirror does not answer, else with the status that is given.
fail_with() {
  mirror_answers && exit "$1"
  echo "$0: Debian's mirror $mirror does not answer." >&2
  exit 75
}

make_root() {
  mirror_answers || fail_with 1
  command -v mmdebstrap >/dev/null || {
    apt-get -qq update && apt-get -qq install -y --no-install-recommends mmdebstrap || fail_with $?
  }
  rm -rf --one-file-system "$root"
  mmdebstrap --quiet --variant=minbase --include="$packages" trixie "$root" "$mirror" || fail_with $?
  touch "$root/.complete"
}

mount_all() {
  # What the network here needs: names, and the certificates that $SSL_CERT_FILE and its kin point at.
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  # A mount point, so that a test may mount a disk of its own there: `unshare --mount` asks that of a root.
  mount --bind "$root" "$root"
  mkdir -p "$root/src/firth" "$root/src/shared"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --bind "$checkout" "$root/src/firth"
  [ ! -d "$checkout/../shared" ] || mount --bind "$checkout/../shared" "$root/src/shared"
}

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  command -v docker >/dev/null || { echo "$0: needs root on Debian or Ubuntu, or Docker." >&2; exit 1; }
  run_in_docker "$@"
fi
unshare --mount true 2>/dev/null || { echo "$0: this machine lets nobody mount." >&2; exit 75; }
# The mounts end with the namespace, and so with the command.
[ -n "${FIRTH_UNSHARED:-}" ] || FIRTH_UNSHARED=1 exec unshare --mount --propagation private "$0" "$@"
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
  grep -m1 '/debian/*$' || echo http://deb.debian.org/debian)}
[ -e "$root/.complete" ] || make_root
mount_all
exec chroot "$root" /usr/bin/env "${inside[@]}" sh -c 'cd /src/firth && exec "$@"' sh "$@"
