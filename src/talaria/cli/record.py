"""`talaria record RUN_ID`: a run that happened, as a test."""

import argparse
import asyncio
import importlib
from pathlib import Path
from typing import Any

from talaria.cli.recorded import add_source, settings_of, stored_run
from talaria.core.errors import ConfigurationError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("run", metavar="RUN_ID", help="the run, as X-Run-Id and the log name it")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: the standard output")
    parser.add_argument("--fake-tools", action="store_true", help="give the recorded results again, and run no tool")
    add_source(parser)
    parser.set_defaults(act=record)


def record(options: argparse.Namespace) -> int:
    """Write the test. The recorder is no part of what runs in production: it is looked up when it is asked for."""
    recorder: Any = importlib.import_module("talaria.testing.recorder")
    settings = settings_of(options)
    run = asyncio.run(stored_run(settings, options.run))
    source: str = recorder.source_of(run, settings, fake_tools=options.fake_tools)
    if options.output is None:
        print(source, end="")
    else:
        _write(Path(options.output), source)
    return 0


def _write(path: Path, source: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"--output: cannot write {path}: {error.strerror}") from error
