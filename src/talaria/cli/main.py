"""`talaria`: serve, chat, doctor, record, sandbox, demo, --version."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version

from talaria.cli import doctor, record, sandbox
from talaria.cli.chat.options import add_options as add_chat
from talaria.cli.serve import serve
from talaria.core.errors import ConfigurationError, TalariaError

FAILED = 1
BAD_CONFIGURATION = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0, 1 if it failed, 2 for a command line or configuration that is wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["demo"]:
        return _demo(given[1:])
    options = _parser().parse_args(given)
    try:
        return options.act(options)
    except TalariaError as error:
        print(f"talaria: {error.message}", file=sys.stderr)
        return BAD_CONFIGURATION if isinstance(error, ConfigurationError) else FAILED


def _serve(options: argparse.Namespace) -> int:
    return serve(options.config, options.host, options.port)


def _demo(arguments: list[str]) -> int:
    """The demo is a sibling that this package does not know: it is looked up when it is asked for."""
    code: int | None = importlib.import_module("talaria.demo.main").main(arguments)
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="talaria", description="The place where LLM agents run in production.")
    parser.add_argument("--version", action="version", version=f"talaria {version('talaria-agent')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    server = commands.add_parser("serve", help="run the server", description="Run the server until SIGTERM or SIGINT.")
    server.add_argument("--config", metavar="FILE", help="default: ./talaria.yaml if there is one, else defaults")
    server.add_argument("--host", metavar="H", help="instead of server.host")
    server.add_argument("--port", metavar="P", type=_port, help="instead of server.port; 0 takes any free one")
    server.set_defaults(act=_serve)
    text = "Talk to an agent. Without a terminal, all of standard input is one message and the answer standard output."
    add_chat(commands.add_parser("chat", help="talk to an agent in a terminal", description=text))
    text = "Ask every configured model for real. With --run: explain what a run did; a server may go on on its store."
    doctor.add_options(commands.add_parser("doctor", help="try the models, or explain a run", description=text))
    text = "Write a test that plays a run again: the model is scripted, the tools of the plugins really run."
    record.add_options(commands.add_parser("record", help="turn a run into a test", description=text))
    sandbox.add_options(commands.add_parser("sandbox", help="make the system that code runs in"))
    commands.add_parser("demo", help="run a server with a scripted model; no key is needed")
    return parser


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; take one from 0 to 65535")
    return number
