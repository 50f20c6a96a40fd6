"""The sandbox of a call, and how paths in it are said."""

import posixpath

from talaria.core.errors import InvalidRequest, NotFound
from talaria.ports.sandbox import WORKSPACE, Sandbox
from talaria.tools.context import ToolContext
from talaria.tools.nearest import hint


def sandbox_of(ctx: ToolContext) -> Sandbox:
    """Return the sandbox that the call works in.

    Raises:
        InvalidRequest: there is none.
    """
    if ctx.sandbox is None:
        raise InvalidRequest("there is no sandbox here; a deployment has one with sandbox.kind other than none")
    return ctx.sandbox


def full(path: str) -> str:
    """Return a path as it is said to the model: absolute, without detours."""
    return posixpath.normpath(posixpath.join(WORKSPACE, path))


async def read_at_most(sandbox: Sandbox, path: str, most: int) -> bytes:
    """Return the first `most` bytes of a file.

    Raises:
        NotFound: there is no such file; the message names one of a similar name in the same folder.
    """
    try:
        return await sandbox.read(path, 0, most)
    except NotFound as error:
        folder, name = posixpath.split(full(path))
        try:
            there = [posixpath.basename(each.path) for each in await sandbox.list(folder)]
        except (NotFound, InvalidRequest):
            raise error from None
        raise NotFound(f"{error.message}{hint(name, there)}") from None


async def size_of(sandbox: Sandbox, path: str) -> int | None:
    """Return how many bytes a file has, or None if that cannot be told."""
    folder, name = posixpath.split(full(path))
    for each in await sandbox.list(folder):
        if posixpath.basename(each.path) == name:
            return each.size
    return None
