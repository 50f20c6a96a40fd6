"""Asks a person about a call or for an answer, and tells the server what was decided."""

import json
from typing import Any, cast

from rich.padding import Padding
from rich.text import Text

from talaria.cli.chat import words
from talaria.cli.chat.blocks import Called, Question
from talaria.cli.chat.cards import whole
from talaria.cli.chat.client import ChatError, Client
from talaria.cli.chat.prompts import Prompts
from talaria.cli.chat.screen import Screen

_CHOICE = "Run it? [y]es · [n]o · [e]dit its arguments · yes for this [s]ession "
_UNKNOWN = "A restart hid how this call ended. Run it again? [y]es · [n]o · [e]dit · yes for this [s]ession "


class Asker:
    """Asks at one terminal, on behalf of one server."""

    def __init__(self, screen: Screen, prompts: Prompts, client: Client) -> None:
        self._screen = screen
        self._prompts = prompts
        self._client = client

    async def ask(self, question: Question) -> None:
        """Ask until there is an answer that the server takes. What is in force comes as an event of the turn.

        Raises:
            Interrupted: Ctrl-C.
        """
        body = None
        while body is None:
            try:
                body = await (
                    self._answer(question) if question.call is None else self._decide(question.call, question)
                )
                if body is not None:
                    await self._client.post("/chat/approval", {"requestId": question.id} | body)
            except ChatError as error:
                self._screen.say(f"✗ {error.message}", "red")
                if error.status != 422:
                    return
                body = None

    async def _decide(self, call: Called, question: Question) -> dict[str, Any] | None:
        who = f"{words.one_line(question.who)} wants" if question.who else "The agent wants"
        self._screen.show(Text.assemble((f"{who} to run ", "yellow"), (words.one_line(call.name), "bold yellow")))
        self._screen.show(Padding(whole(call), (0, 0, 0, 2)))
        match await self._prompts.key(_UNKNOWN if question.why == "outcome_unknown" else _CHOICE, "ynes"):
            case "y":
                return {"decision": "APPROVE"}
            case "s":
                return {"decision": "APPROVE", "remember": "session"}
            case "n":
                why = await self._prompts.text("Why not? The model is told (Enter: no reason) ")
                return {"decision": "DECLINE"} | ({"comment": why.strip()} if why.strip() else {})
            case _:
                return await self._edit(call)

    async def _edit(self, call: Called) -> dict[str, Any] | None:
        text = await self._prompts.edited(words.pretty(call.arguments))
        try:
            given = json.loads(text)
        except ValueError as error:
            self._screen.say(f"✗ that is no JSON: {error}", "red")
            return None
        if not isinstance(given, dict):
            self._screen.say("✗ arguments are a JSON object", "red")
            return None
        return {"decision": "APPROVE", "arguments": cast("dict[str, Any]", given)}

    async def _answer(self, question: Question) -> dict[str, Any]:
        self._screen.say(f"? {words.clean(question.text)}", "bold yellow")
        for number, choice in enumerate(question.choices, 1):
            self._screen.say(f"  {number}  {words.clean(choice)}", "default")
        label = "A number, or your own words" if question.choices else "Your answer"
        given = (await self._prompts.text(f"{label} (Enter: no answer) ")).strip()
        if not given:
            return {"decision": "DECLINE"}
        if given.isdecimal() and 1 <= int(given) <= len(question.choices):
            given = question.choices[int(given) - 1]
        return {"decision": "APPROVE", "answer": given}
