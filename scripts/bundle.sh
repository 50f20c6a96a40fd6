#!/usr/bin/env bash
# Writes a folder with which Talaria is installed without a network: scripts/bundle.sh [FOLDER], else dist/bundle.
# It holds the wheel, those of all it needs as uv.lock has them, for this machine's Python and platform, and a README.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bundle=${1:-dist/bundle}
python=.venv/bin/python
uv=.tools/uv/bin/uv
[ -x "$uv" ] || uv=uv
if [ -s /etc/ssl/certs/ca-certificates.crt ]; then
  export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true} UV_NATIVE_TLS=${UV_NATIVE_TLS:-true}
fi

rm -rf "$bundle"
mkdir -p "$bundle/wheels"
"$uv" build --quiet --wheel --out-dir "$bundle/wheels"
rm -f "$bundle/wheels/.gitignore"
"$uv" export --quiet --frozen --no-dev --no-emit-project --format requirements.txt --output-file "$bundle/requirements.txt"
"$uv" tool run --quiet --python "$python" pip download --quiet --disable-pip-version-check --only-binary :all: \
  --require-hashes --requirement "$bundle/requirements.txt" --dest "$bundle/wheels"

target=$("$python" -c 'import platform, sys, sysconfig
print(f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]} on {sysconfig.get_platform()}")')
cat >"$bundle/README.md" <<END
# Talaria without a network

For $target. Copy this folder to the machine, and there:

    python3 -m venv .venv
    .venv/bin/python -m pip install --no-index --find-links wheels talaria-agent
    .venv/bin/talaria demo

requirements.txt has the versions and the hashes of all that it needs.
END
echo "$bundle: $(find "$bundle/wheels" -name '*.whl' | wc -l) wheels for $target, $(du -sh "$bundle" | cut -f1)"
