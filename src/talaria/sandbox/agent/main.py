"""The agent itself: takes requests of hosts until it is told to end."""

import os
import signal
import socket
import sys
import time

from talaria.sandbox.agent.commands import Commands
from talaria.sandbox.agent.environment import environment
from talaria.sandbox.agent.file_work import List, Read, Write
from talaria.sandbox.agent.kernel import adopt, hide
from talaria.sandbox.agent.loop import READ, WRITE, Loop
from talaria.sandbox.agent.paths import Paths, Refused
from talaria.sandbox.agent.relays import Dial, Egress
from talaria.sandbox.agent.session import Channel, Output, Session
from talaria.sandbox.frames import (
    BYE,
    CLOSE,
    COUNT,
    CREDIT,
    DATA,
    END,
    HELLO,
    LARGEST,
    MORE,
    OPEN,
    PING,
    REQUEST,
    BadFrame,
    Decoder,
)

_ENOUGH = 1024 * 1024
"""Bytes on the way to the host after which nobody adds to them."""
_LAST_SECONDS = 10.0
_DEFAULTS = {"workspace": "/workspace", "disk": "0", "orphan": "0", "egress": "0", "fd": "-1", "oom": "-1"}


class Agent:
    """The connection to the host, and what it asks for."""

    def __init__(self, options: "dict[str, str]") -> None:
        self._loop = Loop()
        self._paths = Paths(options["workspace"])
        self._commands = Commands(self._loop, self._paths, int(options["disk"]), int(options["oom"]))
        egress = int(options["egress"])
        self._commands.environment = environment(options["workspace"], egress)
        self._orphan = float(options["orphan"])
        self._heard = time.monotonic()
        self._running = True
        self._session: Session | None = None
        self._connection: socket.socket | None = None
        self._listener: socket.socket | None = None
        self._decoder = Decoder()
        self._source = self._target = -1
        self._out = Output(-1, self._sent)
        self._listen(int(options["fd"]))
        if egress:
            Egress(self._loop, egress, lambda: self._session)
        if self._orphan:
            self._check_orphan()
        self._wake, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake)
        self._loop.watch(self._wake, READ, self._children)

    def _listen(self, fd: int) -> None:
        if fd < 0:
            self._connect(0, 1)
            return
        self._listener = socket.socket(fileno=fd)
        self._listener.setblocking(False)
        self._loop.watch(fd, READ, self._accept)

    def run(self) -> None:
        """Work until the end."""
        while self._running:
            self._loop.once()
        self._disconnect()
        end = time.monotonic() + _LAST_SECONDS
        while os.getpid() != 1 and self._commands.busy and time.monotonic() < end:
            self._loop.once()

    def _children(self, _events: int) -> None:
        try:
            os.read(self._wake, 4096)
        except BlockingIOError:
            pass
        self._commands.processes.reap()

    def _check_orphan(self) -> None:
        left = self._heard + self._orphan - time.monotonic()
        if left <= 0:
            self._running = False
        else:
            self._loop.after(left, self._check_orphan)

    def _accept(self, _events: int) -> None:
        assert self._listener is not None
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        self._disconnect()
        sock.setblocking(False)
        self._connection = sock
        self._connect(sock.fileno(), sock.fileno())

    def _connect(self, source: int, target: int) -> None:
        os.set_blocking(source, False)
        os.set_blocking(target, False)
        self._decoder = Decoder()
        self._source = source
        self._target = target
        self._out = Output(target, self._sent)
        self._watch()

    def _watch(self) -> None:
        if self._source < 0:
            return
        waiting = WRITE if self._out.size else 0
        if self._source == self._target:
            self._loop.watch(self._source, READ | waiting, self._event)
        else:
            self._loop.watch(self._source, READ, self._event)
            self._loop.watch(self._target, waiting, self._event)

    def _event(self, events: int) -> None:
        out = self._out
        if events & WRITE:
            out.flush()
        if events & ~WRITE and out is self._out:
            self._read()

    def _read(self) -> None:
        try:
            data = os.read(self._source, LARGEST)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._disconnect()
            self._running = self._listener is not None
            return
        self._heard = time.monotonic()
        try:
            for kind, channel, payload in self._decoder.feed(data):
                self._frame(kind, channel, payload)
        except BadFrame:
            self._decoder = Decoder()

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.end()
        if self._connection is not None:
            self._loop.forget(self._connection.fileno())
            self._connection.close()
            self._connection = None
            self._source = self._target = -1

    def _send(self, data: bytes) -> None:
        self._out.write(data)
        if self._out.size > _ENOUGH and self._session is not None:
            self._session.room = False
        self._watch()

    def _sent(self, count: int) -> None:
        if count < 0:
            return
        session = self._session
        if session is not None and not session.room and self._out.size < _ENOUGH // 2:
            session.more_room()
        self._watch()

    def _frame(self, kind: int, number: int, payload: bytes) -> None:
        session = self._session
        if kind == HELLO:
            self._hello(payload)
        elif kind == BYE:
            self._running = False
        elif session is None:
            return
        elif kind == PING:
            session.send(PING, 0, payload)
        elif kind in (MORE, OPEN):
            self._request(session, kind, number, payload)
        elif number in session.channels:
            _tell(session.channels[number], kind, payload)

    def _hello(self, token: bytes) -> None:
        if self._session is not None:
            self._session.end()
        self._out.clear()
        self._session = Session(self._send)
        self._session.send(HELLO, 0, token)

    def _request(self, session: Session, kind: int, number: int, payload: bytes) -> None:
        text = session.requests.pop(number, b"") + payload
        if len(text) > REQUEST:
            raise BadFrame("a request is too long")
        if kind == MORE:
            session.requests[number] = text
            return
        if number in session.channels:
            return
        try:
            self._open(session, number, text.split(b"\0"))
        except Refused as refused:
            _fail(session, number, refused.which, refused.words)
        except (ValueError, IndexError):
            _fail(session, number, "invalid", "The request is not understood.")
        except OSError as error:
            _fail(session, number, "invalid", f"It could not be done: {os.strerror(error.errno or 0)}.")

    def _open(self, session: Session, number: int, fields: "list[bytes]") -> None:
        which = fields[0]
        if which == b"exec":
            self._commands.start(session, number, fields[1:])
        elif which == b"read":
            path, offset, limit = fields[1:]
            Read(session, number, self._paths, os.fsdecode(path), (int(offset), int(limit)))
        elif which == b"write":
            Write(session, number, self._paths, os.fsdecode(fields[1]), self._commands.usage)
        elif which == b"list":
            path, depth, limit = fields[1:]
            name = os.fsdecode(path)
            folder = self._paths.open_folder(name)
            steps = List(session, number, int(limit)).walk(folder, self._paths.relative(name), int(depth))
            self._loop.job(steps)
        elif which == b"dial":
            Dial(session, number, self._loop, int(fields[1]))
        else:
            raise Refused("invalid", "There is no such request.")


def _wake(_number: int, _frame: object) -> None:
    """Do nothing: the loop is woken by a byte."""


def _tell(channel: Channel, kind: int, payload: bytes) -> None:
    if kind == DATA:
        channel.data(payload)
    elif kind == CREDIT and len(payload) == COUNT.size:
        channel.credit(COUNT.unpack(payload)[0])
    elif kind == END:
        channel.end()
    elif kind == CLOSE:
        channel.close()


def _fail(session: Session, number: int, which: str, words: str) -> None:
    channel = session.channels.get(number) or Channel(session, number)
    channel.fail(which, words)


def _keep_files() -> None:
    """See to it that 0, 1 and 2 are taken, and that commands get no other file."""
    while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < 3:
        pass
    for name in os.listdir("/proc/self/fd"):
        try:
            os.set_inheritable(int(name), False)
        except OSError:
            pass


def main() -> None:
    """Run the agent with the options on the command line."""
    hide()
    _keep_files()
    if os.getpid() != 1:
        adopt()
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
    Agent({**_DEFAULTS, **dict(word.split("=", 1) for word in sys.argv[1:])}).run()
    sys.stdout.flush()
    os._exit(0)
