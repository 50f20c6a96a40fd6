"""`talaria demo chart` and `talaria demo snake` as people run them, with real sandboxes and a real browser."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from talaria.demo.code.picture import read_png
from tests.browser import Page, browser
from tests.services import require

SECONDS = 55
LINK = re.compile(r"http://127\.0\.0\.1:\d+/ai-api/(?:preview|download)/\S+")
SCORE = "document.getElementById('score').value"


def command(name: str, kind: str, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "talaria", "demo", name, "--sandbox", kind, *more)


def environ() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TALARIA_")}
    return {**kept, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}


def run(folder: Path, name: str, kind: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(name, kind), cwd=folder, env=environ(), capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.slow
def test_a_table_with_chinese_headings_becomes_a_line_chart(tmp_path: Path) -> None:
    require("docker")
    done = run(tmp_path, "chart", "docker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✗" not in done.stdout
    assert "✓ both lines run where the numbers say" in done.stdout
    assert "✓ every Chinese character has its own shape" in done.stdout
    picture = read_png((tmp_path / "chart.png").read_bytes())
    assert (picture.width, picture.height) == (1200, 660)


@asynccontextmanager
async def played(folder: Path, kind: str) -> AsyncGenerator[tuple[str, str]]:
    """The snake demo while it stays; give the links of its preview and its download. It ends well, and whole."""
    process = await asyncio.create_subprocess_exec(
        *command("snake", kind, "--stay"), cwd=folder, env=environ(), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    said = ""
    try:
        async with asyncio.timeout(SECONDS):
            while "Ctrl-C ends it" not in said:
                line = await process.stdout.readline()
                assert line, said
                said += line.decode()
        assert "✗" not in said, said
        preview, download = LINK.findall(said)
        yield preview, download
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(SECONDS):
            rest = await process.stdout.read()
            assert await process.wait() == 130, said + rest.decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def three_moves(page: Page) -> None:
    """The first food is two cells ahead and one above."""
    assert await page.value(SCORE) == "0"
    scores = list[str]()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        await page.press(key)
        scores.append(str(await page.value(SCORE)))
    assert scores == ["0", "0", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["docker", "bwrap"])
async def test_three_moves_in_the_previewed_game_bring_a_point(kind: str, tmp_path: Path) -> None:
    await asyncio.to_thread(require, kind)
    async with played(tmp_path, {"bwrap": "bubblewrap"}.get(kind, kind)) as (preview, download), browser() as page:
        await page.open(preview)
        await three_moves(page)
        await page.open(download)
        await three_moves(page)
        assert await page.value("self.origin") == "null"
    assert (tmp_path / "snake.html").read_bytes().startswith(b"<!doctype html>")


def test_where_there_is_no_sandbox_it_says_what_to_install(tmp_path: Path) -> None:
    done = run(tmp_path, "snake", "none")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "no sandbox can be had here" in done.stdout
    assert "apt install bubblewrap" in done.stdout
    assert list(tmp_path.iterdir()) == []
