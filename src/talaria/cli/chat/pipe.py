"""The chat without a terminal: all of standard input is one message, the answer is standard output."""

import sys

from talaria.cli.chat import words
from talaria.cli.chat.blocks import Block, Ended, Noticed, Said
from talaria.cli.chat.client import Client
from talaria.cli.chat.conversation import Conversation
from talaria.cli.chat.turn import Turn


async def pipe(client: Client, conversation: Conversation, query: str) -> bool:
    """Run one turn; text is written once it is certain, the rest goes to standard error. Return whether it went well.

    Calls that need a person's consent are declined: there is nobody to ask.

    Raises:
        ChatError: the server refused, or was away for too long.
    """
    turn = Turn()
    async for event in client.turn(conversation.request(query)):
        turn.take(event)
        for block in turn.settle():
            _write(block)
        for question in list(turn.questions.values()):
            name = question.call.name if question.call is not None else "a question"
            _say(f"declined {name}: nobody is at a terminal to ask")
            body = {"requestId": question.id, "decision": "DECLINE", "comment": "nobody is at a terminal to ask"}
            del turn.questions[question.id]
            await client.post("/chat/approval", body)
    return turn.end is not None and not turn.end.error and turn.end.reason == "stop"


def _write(block: Block) -> None:
    match block:
        case Said():
            text = block.text
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()
        case Noticed():
            _say(block.text)
        case Ended() if block.error:
            _say(block.error)
        case Ended() if said := words.reason(block.reason):
            _say(said)
        case _:
            pass


def _say(text: str) -> None:
    print(f"talaria: {words.one_line(text)}", file=sys.stderr)
