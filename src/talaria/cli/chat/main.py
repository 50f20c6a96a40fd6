"""`talaria chat`: connects to a server, its own if need be, and talks to it at a terminal or through pipes."""

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack

from talaria.cli.chat.client import Client
from talaria.cli.chat.conversation import Conversation
from talaria.cli.chat.own_server import own_server
from talaria.cli.chat.pipe import pipe
from talaria.cli.chat.prompts import is_terminal
from talaria.cli.chat.repl import Repl
from talaria.cli.chat.screen import Screen


def chat(options: argparse.Namespace) -> int:
    """Chat until the person leaves, or for one turn where there is no terminal; return the exit code.

    Raises:
        ConfigurationError: the configuration of its own server is wrong.
        ChatError: the server refused, or cannot be reached.
    """
    query = None if is_terminal() else sys.stdin.read()
    return 0 if asyncio.run(_chat(options, query)) else 1


async def _chat(options: argparse.Namespace, query: str | None) -> bool:
    conversation = Conversation(options.agent, options.model, options.session)
    async with AsyncExitStack() as stack:
        url = options.url or await stack.enter_async_context(own_server(options.config))
        client = await stack.enter_async_context(Client(url, options.key))
        if query is not None:
            return await pipe(client, conversation, query)
        await Repl(Screen(sys.stdout), client, conversation).run()
    return True
