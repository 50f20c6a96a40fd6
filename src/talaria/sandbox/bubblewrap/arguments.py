"""The command line of a sandbox: joining its groups, its limits, its uid, and bubblewrap itself. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from talaria.ports.sandbox import WORKSPACE
from talaria.sandbox.launcher import Size

INSIDE = 1000
"""The uid and gid that programs see inside."""
_OPEN_FILES = 4096

# In groups and dispensable before anything of it runs: who ends talaria in between cannot end the limits with it.
_JOIN = """
for group in "$@"; do
  [ "$group" = -- ] && break
  echo 0 >"$group" || exit 1
  shift
done
shift
exec "$@"
"""

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": WORKSPACE,
    "LANG": "C.UTF-8",
    "USER": "sandbox",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a command line is made of.

    `files`: path inside → descriptor that holds the content. `uid`: the host's, None to stay what we are. `groups`:
    files to write 0 into; () where only rlimits hold. `show`: bwrap's arguments for the system. `info` and `status`:
    descriptors bwrap reports to. `agent`: what to run inside.
    """

    size: Size
    workspace: Path
    uid: int | None
    groups: Sequence[Path]
    show: Sequence[str]
    files: Mapping[str, int]
    seccomp: int
    info: int
    status: int
    agent: Sequence[str]


def command(plan: Plan) -> list[str]:
    """Return the command line."""
    return [
        *("sh", "-c", _JOIN, "sh"),
        *(str(group) for group in plan.groups),
        *("--", "prlimit", "--core=0", f"--nofile={_OPEN_FILES}", f"--fsize={plan.size.disk}"),
        # Not --as: programs such as node reserve far more addresses than they use.
        *([] if plan.groups else [f"--data={plan.size.memory}"]),
        *("--", "setpriv", "--no-new-privs", *_become(plan.uid), "--"),
        *_bubblewrap(plan),
        # In the new user namespace: from Linux 5.14 on only what runs in it counts.
        *([] if plan.groups else ["prlimit", f"--nproc={plan.size.pids}", "--"]),
        *plan.agent,
    ]


def _become(uid: int | None) -> list[str]:
    return [] if uid is None else [f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all"]


def _bubblewrap(plan: Plan) -> list[str]:
    environment = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
    files = [word for path, fd in plan.files.items() for word in ("--ro-bind-data", str(fd), path)]
    return [
        *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--as-pid-1", "--new-session"),
        *("--uid", str(INSIDE), "--gid", str(INSIDE), "--hostname", "sandbox"),
        *("--clearenv", *environment),
        *plan.show,
        *("--proc", "/proc", "--dev", "/dev"),
        *_private("/dev/shm", plan.size),  # noqa: S108
        *("--remount-ro", "/dev"),
        *_private("/tmp", plan.size),  # noqa: S108
        *("--dir", "/run"),
        *files,
        # Last, and nothing is ever made below it: what is in there is not ours, its links could lead anywhere.
        *("--bind", str(plan.workspace), WORKSPACE, "--chdir", WORKSPACE, "--remount-ro", "/"),
        *("--seccomp", str(plan.seccomp), "--info-fd", str(plan.info), "--json-status-fd", str(plan.status)),
        "--",
    ]


def _private(path: str, size: Size) -> list[str]:
    return ["--perms", "1777", "--size", str(size.memory // 4), "--tmpfs", path]
