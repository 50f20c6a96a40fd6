"""`talaria demo chart` and `talaria demo snake`: an agent writes code, runs it in a sandbox, and hands over a file."""

import asyncio
import signal
import sys
from collections.abc import Sequence

from aiohttp import ClientError

from talaria.demo.checks import Check
from talaria.demo.client import AskError
from talaria.demo.code import chart, snake
from talaria.demo.code.options import CodeOptions, read_code_options
from talaria.demo.code.play import NoSandbox, Visit, code_configuration, play_code
from talaria.demo.processes import StartError
from talaria.demo.screen import Screen, wants_style
from talaria.demo.workspace import Workspace, workspace

DEMOS: dict[str, Visit] = {"chart": chart.visit, "snake": snake.visit}
ABOUT = {"chart": chart.ABOUT, "snake": snake.ABOUT}
RIGHT, WRONG, NONE_HERE, INTERRUPTED = 0, 1, 3, 130
_FAILURES = (StartError, AskError, ClientError, OSError)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INSTALL = (
    "no sandbox can be had here, and code is never run on the bare machine: start Docker, or install bubblewrap "
    "(apt install bubblewrap); `talaria doctor` says what is missing"
)


def main(name: str, arguments: Sequence[str]) -> int:
    """Run a demo; return 0 only if everything about what came of it is right, 3 if there are no sandboxes here."""
    options = read_code_options(name, ABOUT[name], arguments)
    screen = Screen(sys.stdout, styled=wants_style(sys.stdout))
    screen.title(f"Talaria demo: {ABOUT[name]}")
    screen.note("the model is a script (talaria.testing.code_demos), not an LLM; the sandbox is a real one.")
    with workspace(code_configuration(options)) as place:
        place.folder.chmod(0o711)  # sandboxes run as another user, and their files are in it
        return _run(screen, options, place)


def _run(screen: Screen, options: CodeOptions, place: Workspace) -> int:
    try:
        checks = asyncio.run(_interruptible(options, place, screen))
        if all(check.passed for check in checks):
            return RIGHT
    except NoSandbox:
        screen.event(_INSTALL)
        screen.note(f"what the server said last:\n{place.last_words()}")
        return NONE_HERE
    except TimeoutError:
        screen.event(f"the demo failed: it took longer than {options.limit:g} s")
    except _FAILURES as error:
        screen.event(f"the demo failed: {type(error).__name__}: {error}")
    except asyncio.CancelledError:
        screen.event("interrupted; everything that was started has ended")
        return INTERRUPTED
    screen.note(f"what the processes said last:\n{place.last_words()}")
    return WRONG


async def _interruptible(options: CodeOptions, place: Workspace, screen: Screen) -> list[Check]:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for kind in _SIGNALS:
        loop.add_signal_handler(kind, task.cancel)
    return await play_code(options, place, screen, DEMOS[options.name])
