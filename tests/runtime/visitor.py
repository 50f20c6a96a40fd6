"""A second process on the file of a runtime: `python visitor.py DATABASE SESSION RUN QUESTION`.

It says `open`, waits for a line, decides twenty times at once, and says which decisions it found in force.
"""

import asyncio
import os
import sys

from talaria.journal.letters import DecisionBody, decision_letter, read_decision
from talaria.stores.sqlite.store import SqliteStore


async def decide(database: str, session: str, run: str, question: str) -> None:
    """Approve and decline at once."""
    store = await SqliteStore.open(database, owner=False)
    os.write(1, b"open\n")
    await asyncio.to_thread(sys.stdin.readline)
    bodies = [DecisionBody("approved" if at % 2 else "declined", "visitor") for at in range(20)]
    letters = [decision_letter(session, question, run, 1, body) for body in bodies]
    kept = await asyncio.gather(*(store.inbox.put(letter) for letter in letters))
    await store.close()
    os.write(1, "\n".join({f"{read_decision(letter).outcome} {read_decision(letter).by}" for letter in kept}).encode())


asyncio.run(decide(*sys.argv[1:]))
