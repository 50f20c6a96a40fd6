"""Sandboxes in a process of other rights than the tests': `elsewhere.py UID STATE`; says what came of them.

It becomes UID (0: stays root) after all imports, as the interpreter may lie where that user cannot look.
"""

import asyncio
import concurrent.futures.thread
import ctypes
import json
import os
import sys
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap import Bubblewrap
from tests.sandbox.bubblewrap.conftest import UIDS, left_over
from tests.sandbox.bubblewrap.plain_agent import SIZE, SOURCE, python, sandbox, shell

_DUMPABLE = 4
_FORKS = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(2); os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""


_LATER = concurrent.futures.thread
"""What is otherwise imported when it is needed first."""


def become(uid: int) -> None:
    """Be this user, without the marks of one who was root."""
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)


async def tried(state: Path) -> dict[str, object]:
    """What two sandboxes at once came to, and what they left."""
    launcher = Bubblewrap(state, agent=lambda: SOURCE, uids=UIDS)
    try:
        await launcher.check()
    except SandboxUnavailable as error:
        return {"unavailable": error.message}
    first, second = [await launcher.launch(sandbox(name)) for name in ("one", "two")]
    forks = await asyncio.gather(python(first, _FORKS), python(second, _FORKS))
    memory = await python(first, f"x = b'x' * {SIZE.memory * 2}; print('had it')")
    answer: dict[str, object] = {
        "who": (await shell(first, "id -u; mkdir -p closed/in; chmod 0 closed/in closed; pwd")).output,
        "forks": [int(each.output) for each in forks],
        "memory": memory.output.splitlines()[-1:],
        "owner": (state / "one/workspace").stat().st_uid,
    }
    for link, name in ((first, "one"), (second, "two")):
        await link.close()
        await launcher.remove(name, workspace=True)
    await launcher.close()
    return answer | {"left": left_over(state)}


if __name__ == "__main__":
    become(int(sys.argv[1]))
    sys.stdout.write(json.dumps(asyncio.run(tried(Path(sys.argv[2])))))
