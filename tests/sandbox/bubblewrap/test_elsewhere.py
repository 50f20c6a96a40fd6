"""Bubblewrap where we are not root, and where there are no control groups."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.bubblewrap.conftest import UIDS
from tests.sandbox.bubblewrap.plain_agent import SIZE
from tests.services import require

pytestmark = [pytest.mark.service("bwrap"), pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another")]
USER = 1_799_999_999


def elsewhere(state: Path, *before: str, uid: int = 0) -> dict[str, Any]:
    state.mkdir()
    os.chown(state, uid, uid)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["src", "."])}
    argv = [*before, sys.executable, "-m", "tests.sandbox.bubblewrap.elsewhere", str(uid), str(state)]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without_groups() -> tuple[str, ...]:
    """What runs a command on a machine without control groups, as far as it can see."""
    script = 'umount --recursive --lazy /sys/fs/cgroup && exec "$@"'
    return (require("unshare"), "--mount", "sh", "-c", script, "sh")


def check(answer: dict[str, Any], owner: int | None = None) -> None:
    assert answer["who"] == "1000\n/workspace\n"
    # Each is limited for itself, however much the other takes.
    assert all(20 <= forks <= SIZE.pids for forks in answer["forks"])
    assert answer["memory"] in ([], ["MemoryError"])
    assert answer["left"] == []
    assert answer["owner"] == owner if owner else answer["owner"] in UIDS


def test_a_user_who_is_not_root_has_sandboxes_with_limits(state: Path) -> None:
    check(elsewhere(state, uid=USER), owner=USER)


def test_root_has_sandboxes_with_limits_where_there_are_no_control_groups(state: Path) -> None:
    answer = elsewhere(state, *without_groups())
    assert answer["owner"] >= 1_800_000_000
    check(answer | {"owner": UIDS.start})


def test_root_who_can_become_nobody_else_is_refused(state: Path) -> None:
    bound = ("setpriv", "--bounding-set", "-setuid", "--inh-caps", "-setuid")
    answer = elsewhere(state, *without_groups(), *bound)
    assert "needs" in answer["unavailable"]
    assert "CAP_SETUID" in answer["unavailable"]
