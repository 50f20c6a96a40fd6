"""`talaria demo`: an agent writes yesterday's operations report while you watch, and the report is checked."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

from aiohttp import ClientError

from talaria.demo.checks import Check, check_all
from talaria.demo.client import AskError, Watcher
from talaria.demo.code.main import main as code_demo
from talaria.demo.data import make_world
from talaria.demo.options import Options, read_options
from talaria.demo.play import Addresses, Played, play
from talaria.demo.processes import StartError
from talaria.demo.screen import Screen, wants_style
from talaria.demo.show import Show
from talaria.demo.workspace import Workspace, configuration, workspace

RIGHT, WRONG, INTERRUPTED = 0, 1, 130
_FAILURES = (StartError, AskError, ClientError, OSError)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return 0 only if everything about the report and its stream is right."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["chart"], ["snake"]):
        return code_demo(given[0], given[1:])
    options = read_options(given)
    screen = Screen(sys.stdout, styled=wants_style(sys.stdout))
    _greet(screen, options)
    with workspace(configuration(options)) as place:
        return _run(screen, options, place)


def _run(screen: Screen, options: Options, place: Workspace) -> int:
    began = monotonic()
    try:
        played = asyncio.run(_interruptible(options, place, screen))
        checks = _judge(screen, options, played)
        screen.title(_verdict(checks, monotonic() - began))
        screen.note(f"the report: {options.out}")
        return RIGHT if all(check.passed for check in checks) else WRONG
    except TimeoutError:
        screen.event(f"the demo failed: it took longer than {options.limit:g} s")
    except _FAILURES as error:
        screen.event(f"the demo failed: {type(error).__name__}: {error}")
    except asyncio.CancelledError:
        screen.event("interrupted; everything that was started has ended")
        return INTERRUPTED
    screen.note(f"what the processes said last:\n{place.last_words()}")
    return WRONG


def _greet(screen: Screen, options: Options) -> None:
    screen.title("Talaria demo: the daily operations report")
    if options.model.is_scripted:
        screen.note("no OPENAI_API_KEY: the model is Talaria's scripted model server (python -m")
        screen.note("talaria.testing.model_server). It speaks the real wire on loopback, and writes the report")
        screen.note("from nothing but the tool results that it is sent; but it is a script, not an LLM.")
    else:
        screen.note(f"the model is {options.model.name} at {options.model.base_url}")


async def _interruptible(options: Options, place: Workspace, screen: Screen) -> Played:
    """Play; any signal to end, not just Ctrl-C, cancels it, so that no process is left behind."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for kind in _SIGNALS:
        loop.add_signal_handler(kind, task.cancel)
    show = Show(screen)

    def started(addresses: Addresses) -> None:
        screen.note(f"alerts {addresses.alerts} · logs {addresses.logs} · talaria serve {addresses.server}")
        screen.title(f"You: {options.query}")

    return await play(options, place, Watcher(show.event, show.connection), started)


def _judge(screen: Screen, options: Options, played: Played) -> list[Check]:
    """Write the report, if there is one, and show the check list."""
    day = played.today - timedelta(days=1)
    truth = make_world(options.seed, played.today, options.zone).truths[day]
    if answer := played.evidence.streamed.answer.strip():
        options.out.write_text(f"{answer}\n", "utf-8")
    screen.title(f"Checks: {day} in {options.zone}, seed {options.seed}")
    checks = check_all(played.evidence, truth)
    for check in checks:
        screen.check(check.name, check.detail, passed=check.passed)
    return checks


def _verdict(checks: list[Check], seconds: float) -> str:
    failed = sum(not check.passed for check in checks)
    verdict = f"{failed} of {len(checks)} checks failed" if failed else f"all {len(checks)} checks passed"
    return f"{verdict}, {seconds:.1f} s"
