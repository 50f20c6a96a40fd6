"""The agent's end of the stream: one session for each host, and the channels in it."""

import os
from collections import deque
from collections.abc import Callable

from talaria.sandbox.frames import COUNT, CREDIT, DATA, DONE, END, WINDOW, frame


class Session:
    """What one host has asked for. `write` sends to it."""

    def __init__(self, write: "Callable[[bytes], object]") -> None:
        self.channels: dict[int, Channel] = {}
        self.requests: dict[int, bytes] = {}
        self.over = False
        self.room = True
        self._write = write

    def send(self, kind: int, channel: int = 0, payload: bytes = b"") -> None:
        """Send a frame, if the host is still there."""
        if not self.over:
            self._write(frame(kind, channel, payload))

    def more_room(self) -> None:
        """Let all go on that waited for the host to read."""
        self.room = True
        for channel in list(self.channels.values()):
            channel.pump()

    def end(self) -> None:
        """Give up all channels: the host is gone."""
        self.over = True
        for channel in list(self.channels.values()):
            channel.close()


class Channel:
    """One request of a host, or one connection to it. Subclasses say what comes of what the host sends."""

    def __init__(self, session: Session, number: int) -> None:
        self.session = session
        self.number = number
        self.window = WINDOW
        session.channels[number] = self

    def room(self) -> int:
        """How many bytes may be sent now."""
        return self.window if self.session.room and not self.session.over else 0

    def send(self, data: "bytes | bytearray") -> None:
        """Send bytes, no more than there is room for."""
        self.window -= len(data)
        self.tell(DATA, bytes(data))

    def taken(self, count: int) -> None:
        """Let the host send more, as much as was taken."""
        if count:
            self.tell(CREDIT, COUNT.pack(count))

    def send_end(self) -> None:
        """Say that no more bytes follow."""
        self.tell(END)

    def tell(self, kind: int, payload: bytes = b"") -> None:
        """Send a frame, unless this is over."""
        if self.session.channels.get(self.number) is self:
            self.session.send(kind, self.number, payload)

    def credit(self, count: int) -> None:
        """The host has taken bytes."""
        self.window += count
        self.pump()

    def done(self, *fields: bytes) -> None:
        """The last word; the channel is over."""
        if self.session.channels.pop(self.number, None) is not None:
            self.session.send(DONE, self.number, b"\0".join(fields))

    def fail(self, which: str, words: str) -> None:
        """The last word, if it did not work."""
        self.done(b"error", which.encode(), os.fsencode(words)[:1000])

    def data(self, payload: bytes) -> None:
        """The host has sent bytes."""

    def end(self) -> None:
        """The host sends no more bytes."""

    def pump(self) -> None:
        """There may be room again."""

    def close(self) -> None:
        """The host has given up: clean up, then be done."""
        self.done(b"ok")


class Output:
    """Bytes on the way out of a file that may not take them yet."""

    def __init__(self, fd: int, written: "Callable[[int], object]") -> None:
        self._fd = fd
        self._written = written
        self._parts: deque[memoryview] = deque()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Write now what can be, the rest later. `written` is told how many bytes went, or -1: no more will."""
        self._parts.append(memoryview(data))
        self.size += len(data)
        if len(self._parts) == 1:
            self.flush()

    def clear(self) -> None:
        """Forget what is not written yet."""
        self._parts.clear()
        self.size = 0

    def flush(self) -> None:
        """Write what can be."""
        count = 0
        try:
            while self._parts:
                part = self._parts[0]
                sent = os.write(self._fd, part)
                count += sent
                if sent < len(part):
                    self._parts[0] = part[sent:]
                else:
                    self._parts.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self.clear()
            self._written(-1)
            return
        self.size -= count
        self._written(count)
