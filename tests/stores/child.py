"""Programs that tests run as processes of their own: `python child.py <name> <database>`. They speak in lines."""

import asyncio
import os
import resource
import sys
from collections.abc import Awaitable, Callable

from talaria.core.errors import StaleOwner, TalariaError
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, Put
from talaria.stores.sqlite.store import SqliteStore

SESSIONS = 20


def say(line: str) -> None:
    """One line, gone to the kernel when this returns."""
    os.write(1, f"{line}\n".encode())


async def append_until_killed(path: str) -> None:
    """Append to many sessions at once; a line `session seq` says that the append returned."""
    store = await SqliteStore.open(path)

    async def one(session: str) -> None:
        epoch = await store.leases.acquire(session)
        assert epoch is not None
        seq = len(await store.journal.read(session))
        while True:
            key = f"{session}-{seq}"
            await store.inbox.put(Letter(session, key, "turn", key, seq, b"{}"))
            row = Put("seq", session, session, "t/u", seq + 3, b"")
            entries = (b"a" * 100, b"b" * (seq % 5_000), b"c")
            seq = await store.journal.append(
                Batch(session, epoch, seq, entries, (row,), (key,), ((f"blob{seq + 3}", b"x" * 100),))
            )
            say(f"{session} {seq}")

    await asyncio.gather(*(one(f"s{n}") for n in range(SESSIONS)))


async def hold(path: str) -> None:
    """Own the file until killed."""
    await SqliteStore.open(path)
    say("open")
    await asyncio.Event().wait()


async def visit(path: str) -> None:
    """Open the owner's file, try what only the owner may, put a letter."""
    store = await SqliteStore.open(path, owner=False)
    say(f"lease {await store.leases.acquire('s')}")
    try:
        await store.journal.append(Batch("s", 1 << 60, 0, (b"x",)))
    except StaleOwner:
        say("stale")
    letter = await store.inbox.put(Letter("s", "approve", "decision", "r", 1, b"APPROVE"))
    say(f"put {letter.body.decode()}")
    await store.close()


async def follow(path: str) -> None:
    """Read along in the owner's file until killed."""
    store = await SqliteStore.open(path, owner=False)
    say("open")
    async for record in store.journal.tail("s"):
        say(record.data.decode())


async def fill(path: str) -> None:
    """Append until the file may not grow any more; say what the appends and the rest of the store say then."""
    store = await SqliteStore.open(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    seq = 0
    try:
        while True:
            seq = await store.journal.append(Batch("s", 1, seq, (b"x" * 10_000,)))
            say(f"s {seq}")
    except TalariaError as error:
        say(type(error).__name__)
    say(f"readable {len(await store.journal.read('s')) >= seq}")
    await store.close()


PROGRAMS: dict[str, Callable[[str], Awaitable[None]]] = {
    program.__name__: program for program in (append_until_killed, hold, visit, follow, fill)
}


async def main(name: str, path: str) -> None:
    """Run one of the programs."""
    await PROGRAMS[name](path)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
