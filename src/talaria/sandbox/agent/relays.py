"""Connections between a host and what listens or connects inside."""

import errno
import socket
from collections.abc import Callable

from talaria.sandbox.agent.loop import READ, WRITE, Loop
from talaria.sandbox.agent.session import Channel, Output, Session
from talaria.sandbox.frames import EGRESS, LARGEST, OPEN, READY

_MOST = 64
"""Connections to the proxy at once."""
_FLUSH_SECONDS = 5.0
"""How long the other side may take to read what was sent before the host closed."""


class Relay(Channel):
    """A connection, both ways; whoever reads slowly holds up only this one."""

    def __init__(self, session: Session, number: int, loop: Loop, sock: socket.socket) -> None:
        super().__init__(session, number)
        self._loop = loop
        self._sock = sock
        self._open = True
        self._readable = True
        self._ending = False
        self._closing = False
        self._out = Output(sock.fileno(), self._written)

    def start(self) -> None:
        """Begin to pass on what comes."""
        self._watch()

    def _watch(self) -> None:
        if not self._open:
            return
        events = READ if self._readable and self.room() else 0
        if self._out.size:
            events |= WRITE
        self._loop.watch(self._sock.fileno(), events, self._event)

    def _event(self, events: int) -> None:
        if events & WRITE and self._out.size:
            self._out.flush()
        if self._open and self._readable and self.room() and events & ~WRITE:
            self._read()
        elif self._open and not self._readable and events & ~(READ | WRITE):
            self.drop()
        self._watch()

    def _read(self) -> None:
        try:
            data = self._sock.recv(min(self.room(), LARGEST))
        except BlockingIOError:
            return
        except OSError:
            self.drop()
            return
        if data:
            self.send(data)
            return
        self._readable = False
        self.send_end()
        self._check()

    def _written(self, count: int) -> None:
        if count < 0 or (self._closing and not self._out.size):
            self.drop()
            return
        self.taken(count)
        self._check()
        self._watch()

    def _check(self) -> None:
        if self._open and self._ending and not self._out.size:
            try:
                self._sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            if not self._readable:
                self.drop()

    def data(self, payload: bytes) -> None:
        if self._open and not self._ending:
            self._out.write(payload)

    def end(self) -> None:
        self._ending = True
        self._check()

    def pump(self) -> None:
        self._watch()

    def close(self) -> None:
        if self._open and self._out.size and not self._closing and not self.session.over:
            self._closing = True
            self._readable = False
            self._loop.after(_FLUSH_SECONDS, self.drop)
        elif not self._closing or not self._out.size:
            self.drop()

    def drop(self) -> None:
        """End it now, whatever is still to be written."""
        if self._open:
            self._open = False
            self._loop.forget(self._sock.fileno())
            self._sock.close()
        self.done(b"ok")


class Dial(Channel):
    """A connection that a host asks for: to a port on 127.0.0.1, else on ::1."""

    def __init__(self, session: Session, number: int, loop: Loop, port: int) -> None:
        super().__init__(session, number)
        self._loop = loop
        self._port = port
        self._left = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
        self._sock: socket.socket | None = None
        self._next()

    def _next(self) -> None:
        if not self._left:
            self.fail("not_found", f"Nothing listens on port {self._port}.")
            return
        family, address = self._left.pop(0)
        try:
            self._sock = socket.socket(family, socket.SOCK_STREAM)
            self._sock.setblocking(False)
            number = self._sock.connect_ex((address, self._port))
        except OSError:
            self._drop()
            self._next()
            return
        if number in (0, errno.EINPROGRESS):
            self._loop.watch(self._sock.fileno(), WRITE, self._connected)
        else:
            self._drop()
            self._next()

    def _connected(self, _events: int) -> None:
        assert self._sock is not None
        if self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self._drop()
            self._next()
            return
        sock, self._sock = self._sock, None
        self._loop.forget(sock.fileno())
        self.session.send(READY, self.number)
        Relay(self.session, self.number, self._loop, sock).start()

    def _drop(self) -> None:
        if self._sock is not None:
            self._loop.forget(self._sock.fileno())
            self._sock.close()
            self._sock = None

    def close(self) -> None:
        self._drop()
        self.done(b"ok")


class Egress:
    """The proxy that commands see: every connection to it becomes one to the host."""

    def __init__(self, loop: Loop, port: int, session: "Callable[[], Session | None]") -> None:
        self._loop = loop
        self._session = session
        self._count = 0
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", port))
        self._listener.listen(_MOST)
        self._listener.setblocking(False)
        loop.watch(self._listener.fileno(), READ, self._accept)

    def _accept(self, _events: int) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        session = self._session()
        if session is None or sum(number >= EGRESS for number in session.channels) >= _MOST:
            sock.close()
            return
        sock.setblocking(False)
        self._count = (self._count + 1) % EGRESS
        number = EGRESS + self._count
        session.send(OPEN, number, b"egress")
        Relay(session, number, self._loop, sock).start()
