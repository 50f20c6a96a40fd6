"""The protocol between a host and the agent in a sandbox: frames on one stream, for many channels.

A frame is a kind (1 byte), a channel (4), a length (4, big-endian, at most 64 KiB) and so many bytes. PAD alone is one
byte, nothing else: 64 KiB of it complete whatever frame a dead host left half written, so that the next byte begins a
new one. Fields are joined by NUL, in UTF-8 as file names and arguments have it.

    PAD                     nothing
    HELLO   host   token    I am the host now; all channels of the one before me are over. The agent answers with
            agent  token    the same, and before it may come what was meant for the one before: the host drops it
    MORE    host   bytes    a piece of a request that OPEN completes
    OPEN    host   fields   a request, on a new channel; the first field says which
            agent  fields   a connection from inside, on a channel from EGRESS on
    READY   agent           the connection that was asked for stands
    DATA    both   bytes    within the window: WINDOW bytes at first, then as many more as CREDIT says
    CREDIT  both   4 bytes  so many bytes were taken
    END     both            no more DATA from this side
    CLOSE   host            give up
    DONE    agent  fields   the last on every channel: "ok" and results, or "error", which and words
    PING    both   bytes    the host asks, the agent sends the same back
    BYE     host            end, and all that runs

Requests: `exec` cwd, timeout in s or "", head, tail, "stdin" or "", how many of the environment, NAME=VALUE…, argv… →
DATA: what it wrote, without what was dropped → ok exit code, reason, dropped, length of the tail. `read` path, offset,
limit → DATA → ok. `write` path; DATA, END → ok. `list` path, depth, limit → DATA: kind, size, modified, path for each,
every field with a NUL after it → ok. `dial` port → READY, DATA in both directions → ok. `egress` is the agent's.

This module is part of the agent, too: Python 3.9, the standard library only.
"""

import struct

PAD, HELLO, MORE, OPEN, READY, DATA, CREDIT, END, CLOSE, DONE, PING, BYE = range(12)
HEADER = struct.Struct(">BII")
COUNT = struct.Struct(">I")
LARGEST = 64 * 1024
WINDOW = 256 * 1024
REQUEST = 4 * 1024 * 1024
EGRESS = 0x8000_0000
"""The first channel that the agent opens."""
PADDING = bytes(LARGEST + HEADER.size)


class BadFrame(Exception):
    """The other side does not keep to the protocol."""


def frame(kind: int, channel: int = 0, payload: bytes = b"") -> bytes:
    """Return a frame."""
    return HEADER.pack(kind, channel, len(payload)) + payload


class Decoder:
    """Turns a stream, in pieces of any size, into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> "list[tuple[int, int, bytes]]":
        """Return the frames that are complete now: kind, channel, payload.

        Raises:
            BadFrame: what came cannot be one.
        """
        buffer = self._buffer
        buffer += data
        frames: list[tuple[int, int, bytes]] = []
        at = 0
        while at < len(buffer):
            if buffer[at] == PAD:
                at += 1
                continue
            if len(buffer) - at < HEADER.size:
                break
            kind, channel, length = HEADER.unpack_from(buffer, at)
            if kind > BYE or length > LARGEST:
                raise BadFrame(f"a frame of kind {kind} with {length} bytes")
            end = at + HEADER.size + length
            if len(buffer) < end:
                break
            frames.append((kind, channel, bytes(buffer[at + HEADER.size : end])))
            at = end
        del buffer[:at]
        return frames
