"""`talaria doctor`: tries the configured models; with `--run ID`, what a run did, and what about it was odd."""

import argparse
import asyncio

from talaria.cli import doctor_routes
from talaria.cli.recorded import add_source, settings_of, stored_run
from talaria.core.errors import ConfigurationError
from talaria.core.text import printable
from talaria.diagnosis.report import report
from talaria.journal.recorded import RecordedRun
from talaria.runtime.catalog import load_catalog
from talaria.runtime.settings import Settings
from talaria.tools.declaration import Tool


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--run", metavar="ID", help="explain this run instead, as X-Run-Id and the log name it")
    doctor_routes.add_options(parser)
    add_source(parser)
    parser.set_defaults(act=_act)


def _act(options: argparse.Namespace) -> int:
    return doctor_routes.check_routes(options) if options.run is None else explain(options)


def explain(options: argparse.Namespace) -> int:
    """Print the report on a run."""
    settings = settings_of(options)
    run: RecordedRun = asyncio.run(stored_run(settings, options.run))
    print(printable(report(run, _registered(settings))))
    return 0


def _registered(settings: Settings) -> "tuple[Tool[..., object], ...]":
    """The tools of the plugins; what cannot be loaded here does not keep a run from being explained."""
    try:
        return load_catalog(settings, (), ()).registry.tools
    except ConfigurationError as error:
        print(f"The tools of this deployment could not be loaded, so only what was offered is known: {error.message}\n")
        return ()
