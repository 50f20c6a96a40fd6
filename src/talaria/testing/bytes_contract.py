"""What everything that keeps bytes of files must do, as tests. Subclass `BytesContract` and say how it is opened."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from talaria.core.errors import NotFound
from talaria.ports.artifacts import Bytes

MIB = 1024 * 1024
LARGE = 18 * MIB + 5
"""Bytes of what is more than two parts of an upload."""


class BytesContract:
    """The suite. Each test gets a place of its own."""

    pytestmark = pytest.mark.asyncio

    async def open_bytes(self, folder: Path) -> Bytes:
        """Open what is kept in this folder, or beside it under its name."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def kept(self, tmp_path: Path) -> AsyncIterator[Bytes]:
        """What is tested, closed after the test."""
        kept = await self.open_bytes(tmp_path)
        yield kept
        await kept.close()

    async def test_what_was_put_is_read(self, kept: Bytes) -> None:
        await kept.put("art_1", pieces(b"ab", b"", b"c"))
        assert await whole(kept, "art_1") == b"abc"

    async def test_nothing_is_something_too(self, kept: Bytes) -> None:
        await kept.put("art_1", pieces())
        assert await whole(kept, "art_1") == b""

    @pytest.mark.parametrize(
        ("start", "end", "part"),
        [(0, 4, b"0123"), (3, 4, b"3"), (8, None, b"89"), (9, 10, b"9"), (4, 4, b""), (0, None, b"0123456789")],
    )
    async def test_a_part_is_read(self, kept: Bytes, start: int, end: int | None, part: bytes) -> None:
        await kept.put("art_1", pieces(b"0123456789"))
        assert b"".join([piece async for piece in kept.read("art_1", start, end)]) == part

    async def test_what_is_large_comes_back_in_bounded_pieces(self, kept: Bytes) -> None:
        sent, got = hashlib.sha256(), hashlib.sha256()

        async def data() -> AsyncIterator[bytes]:
            for at in range(0, LARGE, MIB):
                piece = bytes([at // MIB]) * min(MIB, LARGE - at)
                sent.update(piece)
                yield piece

        await kept.put("art_1", data())
        size = 0
        async for piece in kept.read("art_1"):
            assert len(piece) <= MIB
            size += len(piece)
            got.update(piece)
        assert (size, got.digest()) == (LARGE, sent.digest())
        assert await whole(kept, "art_1", LARGE - 6) == b"\x11" + b"\x12" * 5

    async def test_an_unknown_key_is_not_found(self, kept: Bytes) -> None:
        with pytest.raises(NotFound):
            await whole(kept, "art_1")
        await kept.delete("art_1")

    async def test_what_was_deleted_is_gone(self, kept: Bytes) -> None:
        await kept.put("art_1", pieces(b"a"))
        await kept.put("art_2", pieces(b"b"))
        await kept.delete("art_1")
        with pytest.raises(NotFound):
            await whole(kept, "art_1")
        assert await whole(kept, "art_2") == b"b"

    @pytest.mark.parametrize("size", [0, 1, LARGE])
    async def test_a_put_whose_data_fails_leaves_nothing(self, kept: Bytes, size: int) -> None:
        async def data() -> AsyncIterator[bytes]:
            for at in range(0, size, MIB):
                yield bytes(min(MIB, size - at))
            raise ValueError("the client is gone")

        with pytest.raises(ValueError, match="the client is gone"):
            await kept.put("art_1", data())
        await self._nothing_is_left(kept)

    @pytest.mark.parametrize("size", [0, 1, LARGE])
    async def test_a_put_that_is_cancelled_leaves_nothing(self, kept: Bytes, size: int) -> None:
        is_waiting = asyncio.Event()

        async def data() -> AsyncIterator[bytes]:
            for at in range(0, size, MIB):
                yield bytes(min(MIB, size - at))
            is_waiting.set()
            await asyncio.Event().wait()

        putting = asyncio.create_task(kept.put("art_1", data()))
        await asyncio.wait_for(is_waiting.wait(), 20)
        with pytest.raises(NotFound):
            await whole(kept, "art_1")
        putting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await putting
        await self._nothing_is_left(kept)

    async def test_many_are_put_and_read_at_once(self, kept: Bytes) -> None:
        keys = [f"art_{at}" for at in range(20)]
        await asyncio.gather(*(kept.put(key, pieces(key.encode() * 1000)) for key in keys))
        assert await asyncio.gather(*(whole(kept, key) for key in keys)) == [key.encode() * 1000 for key in keys]

    async def test_who_reads_on_no_further_holds_nothing_up(self, kept: Bytes) -> None:
        await kept.put("art_1", pieces(bytes(4 * MIB)))
        async with aclosing(kept.read("art_1")) as reading:
            assert await anext(reading)
        await kept.delete("art_1")

    async def test_a_sweep_removes_what_is_old_and_unknown(self, kept: Bytes) -> None:
        for key in ("art_1", "art_2"):
            await kept.put(key, pieces(key.encode()))
        assert await kept.sweep(3600, _no) == 0
        assert await kept.sweep(-60, _is_first) == 1
        assert await whole(kept, "art_1") == b"art_1"
        with pytest.raises(NotFound):
            await whole(kept, "art_2")

    async def test_it_can_be_checked_and_closed_twice(self, kept: Bytes) -> None:
        await kept.check()
        await kept.close()
        await kept.close()

    async def _nothing_is_left(self, kept: Bytes) -> None:
        with pytest.raises(NotFound):
            await whole(kept, "art_1")
        assert await kept.sweep(-60, _no) == 0


async def pieces(*data: bytes) -> AsyncGenerator[bytes]:
    """Bytes in these pieces."""
    for piece in data:
        yield piece


async def whole(kept: Bytes, key: str, start: int = 0) -> bytes:
    """All bytes of a key, from `start` on."""
    return b"".join([piece async for piece in kept.read(key, start)])


async def _no(_: str) -> bool:
    return False


async def _is_first(key: str) -> bool:
    return key == "art_1"
