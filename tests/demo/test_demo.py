"""`talaria demo` as people run it: processes, sockets, a broken connection, a check list, an exit code."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.polling import wait_until

SECONDS = 55
PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")


def command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "talaria", "demo", "--scripted", *arguments)


def environ(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TALARIA_", "OPENAI_"))}
    return {**kept, "TMPDIR": str(folder), "PYTHONUTF8": "1"}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    temporary = folder / "tmp"
    temporary.mkdir()
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environ(temporary),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@contextmanager
def started(folder: Path) -> Generator[tuple[subprocess.Popen[bytes], list[int]]]:
    """The demo in the middle of its work, and the ports on which its processes listen."""
    output = folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(command(), cwd=folder, env=environ(folder), stdout=file, stderr=file)
    try:
        wait_until(lambda: "(reasoning)" in output.read_text("utf-8"), "a model at work", 20)
        yield process, [int(port) for port in PORT.findall(output.read_text("utf-8"))]
    finally:
        process.kill()
        process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_the_demo_writes_a_right_report_through_a_broken_connection(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no OPENAI_API_KEY: the model is Talaria's scripted model server" in done.stdout
    assert "── connected again with Last-Event-ID run_" in done.stdout
    assert "✗" not in done.stdout
    assert "\x1b" not in done.stdout
    report = (tmp_path / "report.md").read_text("utf-8")
    assert report.startswith("# Operations report 2")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.slow
def test_the_demo_fails_when_the_services_lose_a_page(tmp_path: Path) -> None:
    done = run(tmp_path, "--lose-page", "2", "--out", "lost.md")
    assert done.returncode == 1
    assert "✗ report: alerts in total" in done.stdout
    assert "✓ the joined text has no gap and no duplicate" in done.stdout
    assert (tmp_path / "lost.md").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_demo_leaves_no_process_and_no_folder(kind: signal.Signals, tmp_path: Path) -> None:
    with started(tmp_path) as (process, ports):
        assert len(ports) == 3
        process.send_signal(kind)
        assert process.wait(SECONDS) == 130
        assert [port for port in ports if is_open(port)] == []
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_killed_demo_takes_its_processes_along(tmp_path: Path) -> None:
    with started(tmp_path) as (process, ports):
        process.kill()
        process.wait()
        wait_until(lambda: not any(is_open(port) for port in ports), "the end of its processes")
