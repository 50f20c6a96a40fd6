"""The Python face: `talaria.__all__` is what there is, and importing it is quick and brings no adapter along."""

import subprocess
import sys

import talaria

_ADAPTER_LIBRARIES = {"aiohttp", "sqlite3", "starlette", "uvicorn", "uvloop", "httptools"}


def run(code: str) -> str:
    """Run `code` in a fresh interpreter and return what it prints."""
    command = (sys.executable, "-c", code)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def seconds_of_cpu(code: str) -> float:
    """The least of five: what else this machine does is no matter."""
    return min(float(run(f"{code}; import time; print(time.process_time())")) for _ in range(5))


def test_public_names_are_sorted_and_few() -> None:
    assert talaria.__all__ == sorted(talaria.__all__)
    assert len(talaria.__all__) <= 30


def test_every_public_name_can_be_imported() -> None:
    missing = [name for name in talaria.__all__ if getattr(talaria, name, None) is None]
    assert missing == []


def test_importing_talaria_brings_no_adapter_library() -> None:
    loaded = run("import sys, talaria; print(*{name.partition('.')[0] for name in sys.modules})").split()
    assert _ADAPTER_LIBRARIES & set(loaded) == set()


def test_importing_talaria_takes_less_than_300_ms() -> None:
    assert seconds_of_cpu("import talaria") - seconds_of_cpu("pass") < 0.3
