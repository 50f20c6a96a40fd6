#!/usr/bin/env bash
# Makes .venv from uv.lock with the machine's own Python. Brings uv into .tools/uv if the machine has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

fail() {
  echo "install: $*" >&2
  exit 1
}

# The first Python that is new enough, and not one of a virtual environment.
find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    "$name" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys._base_executable)' 2>/dev/null && return
  done
  return 1
}

works() {
  "$1" --version >/dev/null 2>&1
}

# Three ways, the next when one is not there: a venv, pip alone, a venv after apt has brought what Debian leaves out.
install_uv() {
  local python=$1
  rm -rf .tools/uv
  mkdir -p .tools
  echo "install: no uv on this machine, installing one into .tools/uv"
  if uv_in_venv "$python"; then return; fi
  rm -rf .tools/uv
  if "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m pip install --quiet --target .tools/uv uv && return
    fail "pip could not install uv; see its message above"
  fi
  scripts/system_packages.sh python3-venv && uv_in_venv "$python" && return
  fail "no way to install uv: $python has neither venv with ensurepip nor pip. Install python3-venv, or uv itself"
}

uv_in_venv() {
  "$1" -m venv .tools/uv >.tools/venv.log 2>&1 && .tools/uv/bin/python -m pip install --quiet uv
}

python=$(find_python) || fail "Python 3.11 or newer is needed; install python3"
if works .tools/uv/bin/uv; then
  uv=.tools/uv/bin/uv
elif works uv; then
  uv=uv
else
  install_uv "$python"
  uv=.tools/uv/bin/uv
fi
"$uv" sync --frozen --python "$python"
