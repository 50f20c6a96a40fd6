#!/bin/sh
# Makes the system that is seen inside sandboxes: recipe.sh ROOT SUITE MIRROR APT CACHE PACKAGE…
# APT: a folder with sources.list, keyrings and apt.conf as they are used meanwhile. CACHE: packages that were fetched.
# Runs in mount and process namespaces of its own, so that nothing of it is left, however it ends.
set -eu
root=$1 suite=$2 mirror=$3 apt=$4 cache=$5
shift 5
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

say() { echo "$*"; }
quietly() { "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }; }
log=$apt/log

say "the base system of $suite from $mirror"
mkdir -p "$cache"
quietly debootstrap --variant=minbase --cache-dir="$cache" ${KEYRING:+--keyring="$KEYRING"} "$suite" "$root" "$mirror"

say "what it holds: $*"
mount -t proc proc "$root/proc"
rm -rf "$root"/etc/apt/sources.list*
cp -r "$apt/." "$root/etc/apt/"
if [ -e "$apt/certificates" ]; then mkdir -p "$root/etc/ssl/certs" && cp "$apt/certificates" "$root/etc/ssl/certs/ca-certificates.crt"; fi
printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
  'path-exclude=/usr/share/info/*' 'path-exclude=/usr/share/locale/*' >"$root/etc/dpkg/dpkg.cfg.d/small"
mkdir -p "$root/var/cache/apt/archives"
mount --bind "$cache" "$root/var/cache/apt/archives"
mkdir -p "$cache/partial"

inside() { chroot "$root" "$@"; }
get() { quietly inside apt-get -qq --yes --no-install-recommends -o APT::Sandbox::User=root "$@"; }

get update
get upgrade
get install "$@"

say "making it small"
# What only builds C++ comes along with scipy, which runs without.
heavy=$(inside dpkg-query -W -f '${Package}\n' | grep -E '^(libboost.*-dev|g\+\+.*|gcc(-[0-9]+)?|cpp.*|binutils.*|lib(std)?c(\+\+)?6?(-[0-9]+)?-dev|lib.*san[0-9]+|libgcc-[0-9]+-dev|linux-libc-dev|libopenblas.*-dev|python3-pythran|python3-sympy|unicode-data|libpython3.*-dev|python3.*-dev)$') || true
# shellcheck disable=SC2086
[ -z "$heavy" ] || quietly inside dpkg --purge --force-depends $heavy

say "settings"
inside useradd --uid 1000 --user-group --home-dir /workspace --no-create-home --shell /bin/bash sandbox
install -d -o 1000 -g 1000 "$root/workspace"
printf '%s\n' 'backend: Agg' 'font.family: DejaVu Sans, WenQuanYi Micro Hei' 'axes.unicode_minus: False' \
  >"$root/etc/matplotlibrc"
ln -s /usr/bin/python3 "$root/usr/local/bin/python"
ln -sf /usr/share/zoneinfo/UTC "$root/etc/localtime"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/resolv.conf"
quietly inside fc-cache -s
quietly inside python3 -c 'import numpy, pandas, matplotlib.pyplot, matplotlib.font_manager as fonts
assert "WenQuanYi Micro Hei" in fonts.fontManager.get_font_names()'
quietly inside node --version

umount "$root/var/cache/apt/archives" "$root/proc"
cd "$root"
find . -xdev -perm /6000 -type f -exec chmod ug-s {} +
find . -xdev -name __pycache__ -path '*/test*' -prune -exec rm -rf {} +
rm -rf dev/* tmp/* run/* var/tmp/* var/log/* var/lib/apt/lists/* var/cache/apt/* var/cache/debconf/*-old var/lib/dpkg/*-old \
  usr/share/doc usr/share/man usr/share/info usr/share/locale usr/share/unicode root/.cache \
  etc/apt/certificates etc/apt/apt.conf etc/apt/auth.conf etc/apt/sources.list etc/apt/keyrings etc/apt/log etc/dpkg/dpkg.cfg.d/small
