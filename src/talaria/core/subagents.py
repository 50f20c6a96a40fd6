"""What a subagent is."""

import re

import msgspec

from talaria.core.errors import InvalidRequest

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?", re.ASCII)


class Subagent(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An agent that other agents give tasks to: with a context of its own, and no more tools than they have.

    `description` says what it is for, to the model that chooses; `instructions` are its system prompt. `tools`: names
    of tools and groups; None: all that the agent has which calls it, less `disallowed`. `skills` are names, too.
    `model`: empty: the run's. `max_turns`: how often it asks its model at most.
    """

    name: str
    description: str
    instructions: str = ""
    tools: tuple[str, ...] | None = None
    disallowed: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    model: str = ""
    max_turns: int | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InvalidRequest(f"subagent '{self.name[:80]}': a name has 1 to 64 letters, digits, '.', '_' and '-'")
        if not self.description.strip():
            raise InvalidRequest(f"subagent '{self.name}': say what it is for, in `description`")
        if self.max_turns is not None and self.max_turns < 1:
            raise InvalidRequest(f"subagent '{self.name}': maxTurns is 1 or more")
