"""Text as it stands in files: which encoding it is in, and back to the same bytes."""

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MOSTLY = 0.9
_FOUND_BY = 8192
"""Bytes in which a binary file has a zero, if it is one."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file, the codec that it is in, and the mark before it."""

    text: str
    codec: str = "utf-8"
    mark: bytes = b""

    @property
    def note(self) -> str:
        """What a model should know of the encoding; empty where it is the usual one."""
        if self.codec == "utf-8":
            return ""
        return f"in {self.codec.upper()}" if self.mark else f"not in UTF-8; read as {self.codec.upper()}"

    def with_text(self, text: str) -> bytes:
        """Return another text as the bytes of this file.

        Raises:
            UnicodeEncodeError: the encoding has no such character.
        """
        return self.mark + text.encode(self.codec)


def read_text(data: bytes, *, is_whole: bool = True) -> FileText | None:
    """Return the text in a file's bytes, or None if it is binary. A character cut off at the end is left out.

    A byte order mark says which encoding it is, else it is UTF-8 if it can be. Else it is GB18030 (which GBK and GB2312
    are part of) if that makes Chinese of it, else Latin-1.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            text = _decoded(data[len(mark) :], codec, is_whole=is_whole)
            return None if text is None else FileText(text, codec, mark)
    if b"\0" in data[:_FOUND_BY]:
        return None
    text = _decoded(data, "utf-8", is_whole=is_whole)
    if text is not None:
        return FileText(text)
    text = _decoded(data, "gb18030", is_whole=is_whole)
    if text is not None and _is_chinese(text):
        return FileText(text, "gb18030")
    return FileText(data.decode("latin-1"), "latin-1") if _is_western(data) else None


def _decoded(data: bytes, codec: str, *, is_whole: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(codec)("strict").decode(data, is_whole)
    except UnicodeDecodeError:
        return None


def _is_chinese(text: str) -> bool:
    foreign = [each for each in text if each >= "\x80"]
    chinese = sum(
        "\u4e00" <= each <= "\u9fff"
        or "\u3000" <= each <= "\u303f"
        or "\uff00" <= each <= "\uffef"
        or each in "‘’“”…—·"
        for each in foreign
    )
    return chinese >= _MOSTLY * len(foreign)


def _is_western(data: bytes) -> bool:
    """Whether it is likely text: few bytes that no text has."""
    odd = sum(data.count(each) for each in (*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0)))
    return odd <= len(data) // 20
