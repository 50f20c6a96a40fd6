"""An agent for tests of the launcher alone: it runs one command at a time and says what came of it."""

import json
from dataclasses import dataclass

from talaria.sandbox.launcher import Launch, Link, Size

SOURCE = """
import json, os, socket, subprocess, sys

if any(word.startswith("orphan=") for word in sys.argv):
    sys.exit()
listener = socket.socket(fileno=int(dict(word.split("=") for word in sys.argv[1:])["fd"]))
listener.set_inheritable(False)
while True:
    connection = listener.accept()[0]
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            done = subprocess.run(json.loads(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            answer = {"code": done.returncode, "output": done.stdout.decode("utf-8", "replace")}
            connection.sendall(json.dumps(answer).encode() + b"\\n")
"""
SIZE = Size(memory=128 * 1024 * 1024, cpus=1, pids=32, disk=8 * 1024 * 1024)


@dataclass(frozen=True)
class Answer:
    code: int
    output: str


def sandbox(name: str = "one", **labels: str) -> Launch:
    return Launch(name=name, size=SIZE, labels=labels, options={})


async def run(link: Link, *argv: str) -> Answer:
    """Run a command; an agent that is gone answers with code -1."""
    link.write(json.dumps(argv).encode() + b"\n")
    answer = b""
    while not answer.endswith(b"\n"):
        new = await link.read()
        if not new:
            return Answer(-1, "the agent is gone")
        answer += new
    return Answer(**json.loads(answer))


async def shell(link: Link, script: str) -> Answer:
    return await run(link, "sh", "-c", script)


async def python(link: Link, script: str) -> Answer:
    return await run(link, "python3", "-I", "-c", script)
