"""Files in a folder."""

import os
from pathlib import Path

import pytest

from talaria.core.errors import Overloaded
from talaria.ports.artifacts import Bytes
from talaria.runtime.artifacts import open_bytes
from talaria.testing.bytes_contract import BytesContract, pieces


class TestFolder(BytesContract):
    async def open_bytes(self, folder: Path) -> Bytes:
        return open_bytes(f"file:{folder}/kept", "dep_1")


async def test_nothing_is_made_before_something_is_kept(tmp_path: Path) -> None:
    kept = open_bytes(f"file:{tmp_path}/kept", "dep_1")
    await kept.check()
    assert await kept.sweep(0, _never) == 0
    assert os.listdir(tmp_path) == []  # noqa: PTH208


async def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    await open_bytes(f"file:{tmp_path}/kept", "dep_1").put("art_1", pieces(b"a"))
    file = tmp_path / "kept/dep_1/_1/art_1"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_what_a_killed_process_left_unfinished_is_swept(tmp_path: Path) -> None:
    kept = open_bytes(f"file:{tmp_path}/kept", "dep_1")
    await kept.put("art_1", pieces(b"a"))
    draft = tmp_path / "kept/dep_1/drafts/art_2"
    draft.write_bytes(b"half")
    os.utime(draft, (0, 0))
    assert await kept.sweep(3600, _always) == 1
    assert not draft.exists()


async def test_a_deployment_leaves_anothers_bytes_alone(tmp_path: Path) -> None:
    mine, theirs = (open_bytes(f"file:{tmp_path}/kept", name) for name in ("dep_1", "dep_2"))
    await theirs.put("art_1", pieces(b"a"))
    assert await mine.sweep(-60, _never) == 0


async def test_a_place_that_is_no_folder_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    kept = open_bytes(f"file:{tmp_path}/kept", "dep_1")
    with pytest.raises(Overloaded, match="cannot be written to"):
        await kept.check()
    with pytest.raises(Overloaded, match=r"artifacts: .*kept"):
        await kept.put("art_1", pieces(b"a"))


async def _never(_: str) -> bool:
    return False


async def _always(_: str) -> bool:
    return True
