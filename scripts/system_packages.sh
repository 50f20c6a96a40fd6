#!/usr/bin/env bash
# Installs Debian packages that are missing: scripts/system_packages.sh nginx …
# As root through apt, without starting their services; otherwise it names them and ends with 1.
set -euo pipefail

installed() {
  local program=$1
  case $1 in
    python3-venv) python3 -c 'import ensurepip, venv' >/dev/null 2>&1; return ;;
    docker.io) program=dockerd ;;
    bubblewrap) program=bwrap ;;
    postgresql) compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null && return; program=postgres ;;
    mariadb-server) program=mariadbd ;;
  esac
  PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v "$program" >/dev/null
}

missing=()
for package in "$@"; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "missing on this machine: ${missing[*]}. Install with: sudo apt-get install ${missing[*]}" >&2
  exit 1
fi

# A package that starts a server would take its port: say no to service starts while apt runs.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi

echo "installing with apt: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
quiet=(-qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
apt-get "${quiet[@]}" update
apt-get "${quiet[@]}" install --yes --no-install-recommends "${missing[@]}" >/dev/null

for package in "${missing[@]}"; do
  installed "$package" || { echo "$package is still missing after apt" >&2; exit 1; }
done
