#!/usr/bin/env bash
# Sees to it that a Docker engine answers: starts dockerd where none does, as root, and leaves it running.
# DOCKER_HOST set: that one is used. Where there is no systemd: without iptables and network for containers, with cgroups of either version.
set -euo pipefail

LOG=${DOCKERD_LOG:-/var/log/talaria-dockerd.log}
socket=unix:///var/run/docker.sock
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

answers() {
  python3 -c 'import socket, sys
engine = socket.socket(socket.AF_UNIX)
engine.settimeout(10)
engine.connect(sys.argv[1])
engine.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
sys.exit(b" 200 " not in engine.recv(100))' "${socket#unix://}" 2>/dev/null
}

[ -n "${DOCKER_HOST:-}" ] && exit 0
answers && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v dockerd >/dev/null; then
  echo "no Docker engine answers here. Start one, or run scripts/dockerd.sh as root where docker.io is installed" >&2
  exit 1
fi

if [ -d /run/systemd/system ]; then
  systemctl start docker && exit 0
fi

# cgroup v1 controllers that nobody has mounted: limits need them. In version 2 processes in the topmost group are in the way.
prepare_cgroups() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    grep -qw memory /sys/fs/cgroup/cgroup.subtree_control && return
    mkdir -p /sys/fs/cgroup/init
    xargs -rn1 </sys/fs/cgroup/cgroup.procs >/sys/fs/cgroup/init/cgroup.procs || true
    sed -e 's/ / +/g' -e 's/^/+/' </sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
    return
  fi
  mountpoint -q /sys/fs/cgroup || mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
  local name
  for name in $(awk '!/^#/ && $4 == 1 {print $1}' /proc/cgroups); do
    grep -qE "^cgroup .*[ ,]$name[ ,]" /proc/mounts && continue
    mkdir -p "/sys/fs/cgroup/$name"
    mount -t cgroup -o "$name" cgroup "/sys/fs/cgroup/$name" || rmdir "/sys/fs/cgroup/$name"
  done
}

prepare_cgroups
echo "starting dockerd, log: $LOG"
setsid dockerd --host "$socket" --iptables=false --ip6tables=false --bridge=none >>"$LOG" 2>&1 </dev/null &
pid=$!
for _ in $(seq 150); do
  answers && exit 0
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.2
done
echo "dockerd does not answer; the end of its log:" >&2
tail -n 20 "$LOG" >&2
exit 1
