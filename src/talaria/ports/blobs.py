"""Blobs: payloads too large for an entry."""

from typing import Protocol


class Blobs(Protocol):
    """Bytes under references, written by `Journal.append` together with the entries that name them."""

    async def get(self, session: str, ref: str) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: the session has no such blob.
        """
        ...
