"""`talaria doctor`: every configured model is asked and a sandbox is started for real; it is shown how each did."""

import argparse
import asyncio
from collections.abc import Sequence

from talaria.cli.recorded import settings_of
from talaria.core.text import printable
from talaria.models.trial import Trial
from talaria.runtime.sandbox_trial import try_sandbox
from talaria.runtime.trials import try_models

HEAD = ("route", "model", "auth", "stream", "tool call", "thinking", "first token")
FAILED = 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command without a run."""
    parser.add_argument("--model", metavar="NAME", action="append", default=[], help="try this model; may be repeated")


def check_routes(options: argparse.Namespace) -> int:
    """Try the models and the sandbox, and print how they did; return 1 if anything failed."""
    settings = settings_of(options)
    trials = asyncio.run(try_models(settings, options.model))
    print("\n".join(_table([HEAD, *map(_row, trials)])))
    for trial in trials:
        for note in dict.fromkeys(trial.notes):
            print(f"- {trial.model if trial.model != '?' else repr(trial.route)}: {printable(note)}")
    sandbox = asyncio.run(try_sandbox(settings))
    print(f"\nsandbox: {printable(sandbox.words)}")
    is_wanted = settings.sandbox.kind != "auto"
    has_failed = any(trial.has_failed for trial in trials) or (sandbox.has_failed and is_wanted)
    print("\nSomething failed; see above." if has_failed else "\nAll is well.")
    return FAILED if has_failed else 0


def _row(trial: Trial) -> tuple[str, ...]:
    waited = "-" if trial.first_token_ms is None else f"{trial.first_token_ms} ms"
    return (trial.route or "(any)", trial.model, trial.auth, trial.stream, trial.tool_call, trial.thinking, waited)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
