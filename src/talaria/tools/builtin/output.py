"""What commands write, as text: decoded piece by piece, without what is meant for terminals, or said to be binary."""

import codecs
import re
from collections.abc import Callable

from talaria.ports.sandbox import Exited

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, the cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\r\n])")
SAID_BINARY = "[binary output; write it to a file, and look at it with a program that knows its kind]\n"


class LiveOutput:
    """Hands on the output of a command as text while it comes, however its bytes are cut. Binary is not handed on."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._is_binary = False

    def __call__(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._is_binary:
            return
        if b"\0" in data:
            self._is_binary = True
            self._say(SAID_BINARY)
            return
        if text := self._decode(data):
            self._say(text)


def output_text(head: bytes, dropped: int = 0, tail: bytes = b"") -> str:
    """Return the kept output of a command as a model reads it."""
    if b"\0" in head or b"\0" in tail:
        return f"{len(head) + dropped + len(tail)} bytes: {SAID_BINARY}"
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    if not dropped:
        return plain(decode(head + tail, True))
    left_out = f"\n[… {dropped} bytes of output left out …]\n"
    return plain(decode(head)) + left_out + plain(_from_character(tail).decode("utf-8", "replace"))


def noted(exited: Exited) -> str:
    """Return what else is to be known of the sandbox: that it is a new one, and what was lost with the old."""
    return f"\n[{exited.note}]" if exited.note else ""


def plain(text: str) -> str:
    """Return text without escape sequences and control characters; of lines written over, what was written last."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return _CONTROLS.sub("", _OVERWRITTEN.sub("", text).replace("\r", ""))


def _from_character(data: bytes) -> bytes:
    """The bytes from the first whole character on."""
    at = 0
    while at < min(3, len(data)) and 0x80 <= data[at] < 0xC0:
        at += 1
    return data[at:]
