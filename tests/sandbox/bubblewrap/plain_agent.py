"""An agent for tests of the launcher alone: it runs one command line at a time and says what came of it."""

SOURCE = """
import json, os, socket, subprocess, sys

listener = socket.socket(fileno=json.loads(sys.argv[1])["listen"])
listener.set_inheritable(False)
while True:
    with listener.accept()[0] as connection, connection.makefile("rb") as lines:
        for line in lines:
            done = subprocess.run(json.loads(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            answer = {"code": done.returncode, "output": done.stdout.decode("utf-8", "replace")}
            connection.sendall(json.dumps(answer).encode() + b"\\n")
"""
