"""`talaria chat`: its options. What it draws with is imported only when it is asked for."""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--url", metavar="URL", help="a running server; default: one of its own, in this process")
    parser.add_argument("--key", metavar="KEY", help="the key with which the server knows you")
    parser.add_argument("--config", metavar="FILE", help="of its own server; default: ./talaria.yaml if there is one")
    parser.add_argument("--agent", metavar="NAME", help="the agent to talk to; default: the server's")
    parser.add_argument("--model", metavar="NAME", help="the model to ask; default: the agent's")
    parser.add_argument("--session", metavar="ID", help="go on with this session, or begin one of this id")
    parser.set_defaults(act=_act)


def _act(options: argparse.Namespace) -> int:
    from talaria.cli.chat.main import chat  # noqa: PLC0415 - rich and prompt_toolkit are for this command only

    return chat(options)
