"""Puts a skill's files where code in the sandbox finds them."""

import asyncio
from functools import cache
from importlib.resources import files

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.ports.sandbox import WORKSPACE, Command, Sandbox
from talaria.skills.files import Entries

SECONDS = 60.0


def place_of(name: str) -> str:
    """Return the folder of a skill inside."""
    return f"{WORKSPACE}/.skills/{name}"


async def place(sandbox: Sandbox, name: str, entries: Entries) -> str:
    """Put the files there, whatever was there before, and return what the model must be told of the sandbox.

    The files and their folders are read-only, so that nothing is changed by mistake. What runs as the sandbox's user
    can still change them on purpose; that changes this copy only, until the skill is loaded again.

    Raises:
        InvalidRequest: they cannot be put there; the message says why.
    """
    source, sent = await asyncio.to_thread(lambda: (_source(), _sent(name, entries)))
    exited = await sandbox.exec(Command(argv=["python3", "-I", "-S", "-c", source], stdin=sent, timeout=SECONDS))
    if exited.exit_code or exited.reason != "exited":
        said = (exited.head + exited.tail).decode("utf-8", "replace").strip().splitlines()[-1:]
        why = {"timeout": "it takes too long", "disk": "/workspace is full", "memory": "there is too little memory"}
        reason = why.get(exited.reason) or " ".join(said)[:200]
        raise InvalidRequest(f"the skill's files cannot be put into {place_of(name)}: {reason}")
    return exited.note


def _sent(name: str, entries: Entries) -> bytes:
    each = sorted(entries.items())
    listed = [[path, len(entry.data), entry.is_program] for path, entry in each]
    head = msgspec.json.encode({"name": name, "files": listed})
    return b"\n".join((head, b"".join(entry.data for _, entry in each)))


@cache
def _source() -> str:
    return (files("talaria.skills") / "inside.py").read_text(encoding="utf-8")
