"""Bytes to text: which encoding a body is in, by what it says and by what it holds."""

import codecs
import re

_META = re.compile(rb"""<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w-]{1,40})""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TAKEN = re.compile(r"utf-?8|utf-?16(-?[lb]e)?|gb18030|big5.*|euc.*|shift_?jis.*|iso2022.*|koi8.*|cp\d+|iso8859.*")
_LARGER = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "euc_kr": "cp949"}
"""What browsers read where another one is named: it is the larger one."""
_LOOKED_AT = 4096


def decoded(data: bytes, said: str = "") -> str:
    """Return a body as text: by its mark, what the header says, what the page says, else UTF-8, else GB 18030.

    What does not fit becomes U+FFFD.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    found = _META.search(data[:_LOOKED_AT])
    for name in (said, found[1].decode("ascii", "replace") if found else ""):
        if known := _known(name):
            return data.decode(known, "replace")
    for name in ("utf-8", "gb18030"):
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def _known(name: str) -> str:
    """The codec of a name; "" for none, and for those that are no encoding of pages."""
    try:
        codec = codecs.lookup(name.strip().strip("\"'")).name if name else ""
    except (LookupError, ValueError):
        return ""
    codec = _LARGER.get(codec, codec)
    return codec if _TAKEN.fullmatch(codec) else ""
