"""What agents remember, for the person whom they remember it of: shown, and deleted."""

from typing import Any

from talaria.core.errors import NotFound
from talaria.core.principal import Principal
from talaria.journal.index import AuditRow
from talaria.journal.views import iso_time
from talaria.memory.commands import Done
from talaria.memory.files import Files, below, read_path, shown
from talaria.memory.memories import Memories, Whose
from talaria.ports.journal import Put
from talaria.runtime.listing import read_cursor, write_cursor

PAGE = 10
"""Memories in a page: each may be large."""


async def list_memories(memories: Memories, principal: Principal, cursor: str | None) -> dict[str, Any]:
    """A page of memories, the last changed one first: {memories: […], next?: cursor}.

    Raises:
        InvalidRequest: the cursor is not one that a page returned.
    """
    found = await memories.page(principal.scope(), read_cursor(cursor) if cursor else None, PAGE + 1)
    more = {"next": write_cursor(found[PAGE - 1][0])} if len(found) > PAGE else {}
    return {"memories": [_view(row, files) for row, files in found[:PAGE]]} | more


async def forget(memories: Memories, principal: Principal, assistant: str | None, path: str | None) -> None:
    """Delete what an assistant (None: none) remembers of a user: all of it, or a file or folder.

    Raises:
        NotFound: there is nothing.
        InvalidRequest: there can be no such path.
    """
    name = read_path(path) if path else ""

    def edit(files: Files, now: int) -> Done:
        del now
        gone = {name} if name in files else below(files, name).keys()
        if not gone:
            raise NotFound(f"nothing is remembered at {shown(name)}")
        return Done({each: file for each, file in files.items() if each not in gone}, "")

    audit = AuditRow("memory.delete", "done", shown(name), by=principal.user)
    await memories.change(Whose(principal.tenant, principal.user, assistant or "-"), edit, audit)


def _view(row: Put, files: Files) -> dict[str, Any]:
    whose = Whose.parse(row.key)
    named = {"assistantId": whose.assistant} if whose.assistant != "-" else {}
    return {
        "userId": whose.user,
        **named,
        "updatedAt": iso_time(row.at),
        "files": [
            {"path": shown(path), "text": file.text, "updatedAt": iso_time(file.at)}
            | ({"untrusted": True} if file.untrusted else {})
            for path, file in sorted(files.items())
        ],
    }
