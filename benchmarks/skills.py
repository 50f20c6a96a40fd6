"""What skills cost a turn: five of a request's, downloaded before, and five configured ones; against a turn without."""

import asyncio
import io
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.figures import Figure, plain
from benchmarks.machine import middle
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import AGENT, settings, sqlite
from talaria import Runtime

TITLE = "Skills, time of a turn"
COUNT = 5
NAMES = [f"skill-{number}" for number in range(COUNT)]
MOST = 30.0
"""Milliseconds that five of them may add."""


def _skill_md(name: str) -> str:
    return f"---\nname: {name}\ndescription: {'Does what it is for. ' * 20}\n---\n{'A line of instructions.' * 100}\n"


def _zip(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", _skill_md(name))
        for number in range(20):
            archive.writestr(f"references/{number}.md", "reference " * 1000)
    return made.getvalue()


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure in this process; the server of the skills is in it, too, and is asked once for each."""
    with tempfile.TemporaryDirectory() as folder:
        values = asyncio.run(_measure(Play().url(origin), size, folder))
    plainly, brought, configured = values["none"], values["brought"], values["configured"]
    return [
        plain("a turn without", "ms", plainly),
        plain(f"{COUNT} of the request, cached: added", "ms", _added(brought, plainly), MOST),
        plain(f"{COUNT} configured: added", "ms", _added(configured, plainly), MOST),
    ]


def _added(these: list[float], others: list[float]) -> list[float]:
    return [middle(these) - middle(others)]  # of both: what one turn takes varies by more than what is added


async def _measure(origin: str, size: Size, folder: str) -> dict[str, list[float]]:
    app = web.Application()
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.match_info["name"])
        return web.Response(body=_zip(asked[-1]))

    app.router.add_get("/{name}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    for name in NAMES:
        (Path(folder) / "skills" / name).mkdir(parents=True)
        (Path(folder) / "skills" / name / "SKILL.md").write_text(_skill_md(name))
    skills = [{"name": name, "url": f"http://127.0.0.1:{port}/{name}"} for name in NAMES]
    fetch = {"allowPrivate": True}
    bare = settings(origin, sqlite(folder, "bare"), fetch=fetch)
    held = settings(origin, sqlite(folder, "held"), skills={"paths": [str(Path(folder) / "skills")]})
    values: dict[str, list[float]] = {"none": [], "brought": [], "configured": []}
    runtimes = await asyncio.to_thread(lambda: (Runtime(bare), Runtime(held)))  # it reads files
    async with runtimes[0] as one, runtimes[1] as other:
        cases: dict[str, tuple[Runtime, dict[str, Any]]] = {
            "none": (one, {}),
            "brought": (one, {"skills": skills}),
            "configured": (other, {}),
        }
        for runtime, fields in cases.values():
            await runtime.run(AGENT, "warm", **fields)
        for _ in range(max(3, size.rounds) * 4):
            for name, (runtime, fields) in cases.items():
                began = time.perf_counter()
                await runtime.run(AGENT, "Go", **fields)
                values[name].append((time.perf_counter() - began) * 1000)
    await runner.cleanup()
    if sorted(asked) != NAMES:
        raise RuntimeError(f"asked for {asked}: that is no measure of what is cached")
    return values
