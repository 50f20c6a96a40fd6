"""What a skill is, as far as a run must know it: its files are kept elsewhere, under their digest."""

import re

import msgspec

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 64


class Skill(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Instructions with files, for one kind of work. See https://agentskills.io/specification.

    `description` says what it does and when to use it, in one line. `digest` names its files. `allowed`: the tools that
    it says it uses, in its own words.
    """

    name: str
    description: str
    digest: str
    allowed: tuple[str, ...] = ()
    compatibility: str = ""


def is_name(text: str) -> bool:
    """Whether a text can be the name of a skill."""
    return len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None
