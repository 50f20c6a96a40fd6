"""Paths inside a workspace, as a type of parameters."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?", re.IGNORECASE)


def _workspace_path(text: str) -> str:
    if not text or any(ord(each) < 32 for each in text):
        raise ValueError("is empty or holds a control character")
    if text.startswith(("/", "\\", "~")) or re.match(r"[A-Za-z]:", text):
        raise ValueError("is absolute; give a path relative to the workspace")
    if "\\" in text:
        raise ValueError("holds a backslash; separate folders by '/'")
    parts = text.split("/")
    if ".." in (each.strip() for each in parts):
        raise ValueError("leads out by '..'; give a path inside the workspace")
    for each in parts:
        if _DEVICES.fullmatch(each) or ":" in each:
            raise ValueError(f"'{each}' is the name of a device, or may be one; take another name")
    return text


WorkspacePath = Annotated[
    str,
    AfterValidator(_workspace_path),
    Field(description="A path relative to the workspace, with '/' between folders.", min_length=1, max_length=1024),
]
"""A relative path inside a workspace: not absolute, no '..', no control characters, no names of devices."""
